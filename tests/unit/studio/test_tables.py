"""What matters: named tables with their expected errors; and who publishes."""

from __future__ import annotations

from typing import Any

import pytest

import hedgerow as hr
from hedgerow.evaluation.expected import expected_errors

TABLE = {"data": "people.csv", "schema": "clinic.yaml"}


def send(browser: Any, page: str, **fields: str) -> Any:
    text = browser.get(page, params=TABLE).text
    mark = text.partition('name="seen" value="')[2].partition('"')[0]
    return browser.post(page, TABLE | {"seen": mark} | fields)


def test_tables_are_named_in_words_and_promised_what_the_plan_promises(
    browser: Any, told: Any
) -> None:
    path = browser.root / "clinic.yaml"
    send(browser, "/tables", action="add", words="Ill by town")
    page = send(browser, "/tables", action="add", words="town and age", weight="2")
    assert page.status_code == 200, told(page)
    schema = hr.Schema.load(path)
    assert [(len(one.places), one.weight) for one in schema.tables] == [(2, 1), (2, 2)]
    for epsilon in ("1", "0.5"):
        words = told(browser.get("/tables", params=TABLE | {"epsilon": epsilon, "rows": "400"}))
        for one in expected_errors(schema, hr.Marginals(), epsilon, 0, 400):
            assert f"{one.cells} {one.format_error()} " in words
        assert f"hedgerow plan --schema clinic.yaml --method marginals --epsilon={epsilon}" in words
    send(browser, "/tables", action="weights", **{"weight-0": "3", "weight-1": "1"})
    assert [one.weight for one in hr.Schema.load(path).tables] == [3, 1]
    send(browser, "/tables", remove="0")
    assert [one.places for one in hr.Schema.load(path).tables] == [(1, 0)]
    send(browser, "/tables", remove="0")
    assert "tables" not in path.read_text("utf-8")
    send(browser, "/tables", action="add", words="Ill by age, weight 2.5", weight="1")
    assert [one.weight for one in hr.Schema.load(path).tables] == [2.5]
    assert 'name="weight-0" value="2.5"' in browser.get("/tables", params=TABLE).text


@pytest.mark.parametrize("words", ["", "ill by rain", "ill by ill", "ill"])
def test_words_that_name_no_table_are_refused_and_kept(browser: Any, told: Any, words: str) -> None:
    before = (browser.root / "clinic.yaml").read_text("utf-8")
    page = send(browser, "/tables", action="add", words=words, weight="7")
    assert page.status_code == 400 and 'role="alert"' in page.text
    assert f'name="words" value="{words}"' in page.text and 'name="weight" value="7"' in page.text
    assert (browser.root / "clinic.yaml").read_text("utf-8") == before


def test_who_publishes_is_stated_and_a_sign_off_stays(browser: Any, told: Any) -> None:
    path = browser.root / "clinic.yaml"
    signed = "metadata: {reviewer: A. Steward, reviewed: 2026-01-31}\n"
    path.write_text(path.read_text("utf-8") + signed, encoding="utf-8")
    facts = {"institution": "St <Anne>", "contact": "data@example.org", "one": "stay"}
    page = send(browser, "/about", **facts)
    assert page.status_code == 400 and 'value="stay"' in page.text
    page = send(browser, "/about", **facts, many="stays")
    about = hr.Schema.load(path).metadata
    assert (about.institution, about.unit_name) == ("St <Anne>", ("stay", "stays"))
    assert about.reviewer == "A. Steward" and not hr.Schema.load(path).is_draft
    text = path.read_text("utf-8")
    path.write_text(text.replace("metadata:", "metadata: {unit_name: [stay]}\nolder:"), "utf-8")
    assert 'value="stay"' in browser.get("/about", params=TABLE).text  # one name alone is mended
    path.write_text(text, encoding="utf-8")
    assert 'value="St &lt;Anne&gt;"' in browser.get("/about", params=TABLE).text


def test_a_tree_is_replaced_after_saying_which_values_match(browser: Any, told: Any) -> None:
    (browser.root / "taxonomies").mkdir()
    towns = browser.root / "taxonomies" / "towns.yaml"
    towns.write_text("North: [Ashmoor, Bramble]\nSouth: [Cask, Elm]\n", encoding="utf-8")
    wanted = {"column": "town", "action": "import", "source": "taxonomies/towns.yaml"}
    page = send(browser, "/taxonomies", **wanted)
    words = told(page)
    assert "1 of 4 values are not among the 4 of taxonomies/towns.yaml" in words
    assert "Would be lost Dale" in words and "Match Ashmoor, Bramble, Cask" in words
    assert "towns.yaml" not in (browser.root / "clinic.yaml").read_text("utf-8")
    send(browser, "/taxonomies", **wanted, confirmed="yes")
    assert "towns.yaml" in (browser.root / "clinic.yaml").read_text("utf-8")
    assert "values of taxonomies/towns.yaml" in told(browser.get("/columns", params=TABLE))
