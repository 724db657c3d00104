"""Errors lead to the fields of forms, in the words of the forms."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pytest

import hedgerow as hr
from hedgerow.draft.guess import _TOO_MANY, _WRITTEN
from hedgerow.studio.leads import in_the_form, leads
from hedgerow.studio.steps import Way

TABLE = {"data": "people.csv", "schema": "clinic.yaml"}


def seen(page: Any) -> str:
    return str(page.text.partition('name="seen" value="')[2].partition('"')[0])


@pytest.fixture
def way(folder: Path) -> Way:
    return Way(root=folder, step="", chosen=TABLE)


@pytest.mark.parametrize(
    ("message", "hint", "titles", "page"),
    [
        ("s.yaml:6: attribute 'age': low is not below high", "Mend it.",
         ["age: Smallest", "age: Largest"], "/columns"),
        ("s.yaml:6: attribute 'age': the key 'low' is missing", "Give it.",
         ["age: Smallest"], "/columns"),
        ("x breaks the schema:\n  column 'town', line 3: not a value",
         "Write `outside: other`.", ["town: A value outside"], "/columns"),
        ("column 'age': odd", 'Declare `decimal: ","`.', ["age: Decimal sign"], "/columns"),
        ("attribute 'town': bad", "Add a taxonomy: too.", ["town: the tree"], "/taxonomies"),
        ("column 'town': something", "Look.", ["town: It is"], "/columns"),
        ("unit is 'x'", "Write `unit: row`.", ["Unit of protection"], "/unit"),
        ("no names", "Correct --header-row of `hedgerow init`.",
         ["Line of the column names"], "/data"),
        ("The schema is still a draft.", "Remove `draft: true`.",
         ["Sign the schema off"], "/check"),
        ("x breaks the schema:\n  column 'town', line 3: not a leaf, and it says outside: error\n"
         "  column 'age', line 4: no number, and it says missing: error",
         "Choose missing: other or outside: other. Dates in 'age' have slashes: write "
         '`format: "%d/%m/%Y"`.',
         ["town: A value outside", "age: A missing value", "age: How dates are written"],
         "/columns"),
        ("attribute 'nobody': low is not below high", "Mend it.", [], ""),
    ],
)  # fmt: skip
def test_an_error_leads_to_its_fields(
    way: Way, message: str, hint: str, titles: list[str], page: str
) -> None:
    found = leads(way, message, hint)
    assert [title for title, _ in found] == titles
    assert all(address.startswith(page + "?") and "#" in address for _, address in found)


def test_a_form_that_is_wrong_leads_to_the_field(browser: Any, told: Any) -> None:
    page = browser.get("/columns", params=TABLE)
    fields = {"kind-1": "numeric", "low-1": "70", "high-1": "60", "step-1": "1", "seen": seen(page)}
    page = browser.post("/columns", TABLE | fields)
    assert page.status_code == 400
    assert "#low-1" in page.text and 'id="low-1"' in page.text
    assert "Put the smallest value allowed first" in told(page)


def test_work_that_failed_leads_to_the_field_in_the_words_of_the_form(
    browser: Any, told: Any
) -> None:
    path = browser.root / "clinic.yaml"
    path.write_text(path.read_text("utf-8").replace(", Dale]", "]"), encoding="utf-8")
    page = browser.finish(browser.post("/check", TABLE))
    words = told(page)
    assert "town: A value outside" in words and "#c-2" in page.text, words
    assert "`" not in words.partition("breaks the schema")[2].partition("The command")[0]
    page = browser.get("/columns", params=TABLE)
    assert 'id="c-2"' in page.text


def test_how_a_column_is_written_can_be_entered(browser: Any, told: Any) -> None:
    page = browser.get("/columns", params=TABLE)
    fields = {
        "kind-1": "numeric", "low-1": "0", "high-1": "99", "step-1": "1", "outside-1": "clip",
        "decimal-1": ",", "thousands-1": "blank", "format-1": "", "kind-2": "categorical",
        "values-2": "Ashmoor\nBramble\nCask\nDale", "ignore-2": "case, spaces",
    }  # fmt: skip
    page = browser.post("/columns", TABLE | fields | {"seen": seen(page)})
    assert page.url.path == "/taxonomies", told(page)
    age, town, *_ = hr.Schema.load(browser.root / "clinic.yaml").attributes
    assert (age.decimal, age.thousands) == (",", " ")  # type: ignore[union-attr]
    assert town.reading.ignore == ("case", "spaces")  # type: ignore[union-attr]
    page = browser.get("/columns", params=TABLE)
    assert 'value="case, spaces"' in page.text and '<option value="blank" selected>' in page.text


def test_options_are_called_as_the_form_calls_them() -> None:
    told = in_the_form(
        "Name the right one: --sheet or --header-row of `hedgerow init`, `sheet:` or `header_row:` "
        "below `file:` in a schema. Tell it: --header-row 2 (in Python written=Layout(header_row=2"
        ")). Name it (--delimiter, delimiter=). Say so with --trust-header (trust_header=True in "
        "Python). Declare it: `hedgerow init --encoding cp1252`, or `encoding: cp1252` below "
        "`file:`."
    )
    assert told == (
        "Name the right one: “Sheet” or “Line of the column names”. Tell it: “Line of the column "
        "names”. Name it (“Between two values stands”). Say so with “That line does hold names”. "
        "Declare it: “Encoding”."
    )


def test_words_that_name_no_file_stay() -> None:
    words = "Numbers in age have a sign such as % or $: leave it out in the data."
    assert in_the_form(words) == words


@pytest.mark.parametrize("said", [*_WRITTEN.values(), _TOO_MANY])
def test_reasons_of_a_draft_name_no_keys_of_a_schema(said: str) -> None:
    told = in_the_form(said)
    assert not re.search(r"[{}`]|\bwrite\b|\w: ?\.\.\.|taxonomy", told), told
    assert "choose that it is" in told


def test_a_field_that_is_folded_up_is_what_the_link_leads_to(browser: Any, way: Way) -> None:
    ((_, address),) = leads(way, "column 'age': odd", 'Write `format: "%d/%m/%Y"`.')
    assert address.endswith("form=all#format-1")
    assert 'id="format-1"' in browser.get(address).text


def test_work_that_failed_is_confidential_and_keeps_the_path(browser: Any, told: Any) -> None:
    (browser.root / "people.csv").write_text("patient,age,town,ill\n1,2,Oz,yes\n", "utf-8")
    page = browser.finish(browser.post("/check", TABLE))
    assert "breaks the schema" in told(page) and "CONFIDENTIAL: for you alone." in told(page)
    assert 'aria-current="step">Check' in page.text and "/columns?data=people.csv" in page.text


def test_a_form_that_was_refused_leads_back_to_its_page(browser: Any, told: Any) -> None:
    page = browser.post("/publish", TABLE | {"out": "r", "epsilon": "0.5"})  # not confirmed
    assert page.status_code == 400 and "Back to the page Publish" in told(page)
    back = html.unescape(re.findall(r'class="button" href="(/publish[^"]*)"', page.text)[0])
    assert "epsilon 0.5" in told(browser.get(back))
    page = browser.get("/unit", params={"schema": "gone.yaml"})
    assert page.status_code == 404 and "Back to the page" not in told(page)
