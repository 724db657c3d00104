"""Errors lead to the fields of forms that they are about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hedgerow as hr
from hedgerow.studio.steps import Way

TABLE = {"data": "people.csv", "schema": "clinic.yaml"}


def seen(page: Any) -> str:
    return str(page.text.partition('name="seen" value="')[2].partition('"')[0])


@pytest.fixture
def way(folder: Path) -> Way:
    return Way(root=folder, step="", chosen=TABLE)


@pytest.mark.parametrize(
    ("place", "title", "address"),
    [
        (("attributes", "age", "low"), "age: Smallest", "/columns?{}#low-1"),
        (("attributes", "town", "outside"), "town: A value outside", "/columns?{}&form=all#c-2"),
        (("attributes", "age", "format"), "age: How dates are written",
         "/columns?{}&form=all#format-1"),
        (("attributes", "town", "values", "3"), "town: Values", "/columns?{}#c-2"),
        (("attributes", "town", "taxonomy"), "town: the tree", "/taxonomies?{}&column=town#t-tree"),
        (("attributes", "town", "bands"), "town: Type", "/columns?{}#c-2"),
        (("attributes", "town"), "town: Type", "/columns?{}#c-2"),
        (("items", "universe"), "All items there could be", "/columns?{}#i-universe"),
        (("unit",), "Unit of protection", "/unit?{}#u-row"),
        (("file", "header_row"), "Row of the column names", "/data?{}#d-row"),
        (("draft",), "Sign the schema off", "/check?{}#s-public"),
        (("epsilon",), "Epsilon", "/budget?{}#b-epsilon"),
    ],
)  # fmt: skip
def test_a_place_leads_to_its_field(
    way: Way, place: tuple[str, ...], title: str, address: str
) -> None:
    chosen = "data=people.csv&schema=clinic.yaml"
    assert way.fields([place, place]) == {title: address.format(chosen)}


def test_places_without_a_field_lead_nowhere(folder: Path) -> None:
    way = Way(root=folder, step="", chosen={"schema": "clinic.yaml"})
    nowhere = [("attributes", "nobody", "low"), ("attributes",), ("rules", "0"), ("metadata",),
               ("file", "sheet")]  # fmt: skip
    assert way.fields(nowhere) == {}  # the last one: no data was chosen
    gone = Way(root=folder, step="", chosen={"schema": "gone.yaml"})
    assert gone.fields([("attributes", "age", "low"), ("unit",)]) == {
        "Unit of protection": "/unit?schema=gone.yaml#u-row"
    }


def test_a_form_that_is_wrong_leads_to_the_field(browser: Any, told: Any) -> None:
    page = browser.get("/columns", params=TABLE)
    fields = {"kind-1": "numeric", "low-1": "70", "high-1": "60", "step-1": "1", "seen": seen(page)}
    page = browser.post("/columns", TABLE | fields)
    assert page.status_code == 400
    assert "#low-1" in page.text and 'id="low-1"' in page.text
    assert "Make low the smallest" in told(page) and "age: Smallest" in told(page)


def test_work_that_failed_leads_to_the_field(browser: Any, told: Any) -> None:
    path = browser.root / "clinic.yaml"
    path.write_text(path.read_text("utf-8").replace(", Dale]", "]"), encoding="utf-8")
    page = browser.finish(browser.post("/check", TABLE))
    words = told(page)
    assert "town: A value outside" in words and "#c-2" in page.text, words
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


def test_a_field_that_is_folded_up_is_what_the_link_leads_to(browser: Any, way: Way) -> None:
    (address,) = way.fields([("attributes", "age", "format")]).values()
    assert address.endswith("form=all#format-1")
    assert 'id="format-1"' in browser.get(address).text


def test_work_that_failed_is_confidential_and_keeps_the_path(browser: Any, told: Any) -> None:
    (browser.root / "people.csv").write_text("patient,age,town,ill\n1,2,Oz,yes\n", "utf-8")
    page = browser.finish(browser.post("/check", TABLE))
    assert "breaks the schema" in told(page) and "CONFIDENTIAL: for you alone." in told(page)
    assert 'aria-current="step">Check' in page.text and "/columns?data=people.csv" in page.text


def test_a_form_that_was_refused_is_shown_again_with_what_was_entered(
    browser: Any, told: Any
) -> None:
    page = browser.post("/publish", TABLE | {"out": "r-7", "epsilon": "0.5"})  # not confirmed
    assert page.status_code == 400 and "spending has to be confirmed" in told(page)
    assert "Spend epsilon 0.5" in told(page) and 'value="r-7"' in page.text
    page = browser.post("/unit", TABLE | {"unit": "person", "column": "no", "max_rows": "7"})
    assert page.status_code == 400 and 'value="7"' in page.text
    page = browser.get("/unit", params={"schema": "gone.yaml"})
    assert page.status_code == 404
