"""Unit and columns of a draft ask what the guided `hedgerow init` asks."""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import hedgerow as hr
from hedgerow.draft.draft import Sketch, sketch_table
from hedgerow.studio.views.guided import Guided, take_answers

AT = {"data": "ward.csv", "schema": "ward.yaml"}
DRUGS = [f"drug{n}" for n in range(24)]
COLUMNS = [
    "encounter_id", "patient_nbr", "sex", "age", "weight", "site", "stay", "seen", "day", "tests",
    *DRUGS, "a", "b", "c", "d", "e", "left",
]  # fmt: skip


@pytest.fixture
def ward(browser: Any) -> Any:
    """A messy file of 40 columns, and its draft."""
    doses, rows = ["No", "Steady", "Up", "Down"], []
    for n in range(300):
        row = [2_278_392 + 97 * n, 8_222_157 + 31 * (n // 2), "FfM"[n % 3], 20 + n % 70, ""]
        row += [f"S{n % 14:02}", n % 14, f"{n % 28 + 1:02}.{n % 12 + 1:02}.2024", n % 7 + 1, n % 60]
        row += [doses[(n * 7 + d) % 4] for d in range(24)]
        row += ["x", n % 5, "yes" if n % 3 else "no", n % 3, f"v{n % 4}", ["NO", "<30"][n % 2]]
        rows.append(row)
    with (browser.root / "ward.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
    page = browser.finish(browser.post("/data/draft", {"data": "ward.csv", "name": "ward"}))
    assert page.url.path == "/unit", page.text
    return page


def entered(page: Any) -> dict[str, Any]:
    """The form of a page as a person sends it who changes nothing."""
    import html

    form = re.search(r'<form method="post" action="/(unit|columns)">.*?</form>', page.text, re.S)
    assert form is not None
    found: dict[str, Any] = {}
    for tag in re.findall(r"<input [^>]*>", form[0]):
        at = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if at.get("type") in ("checkbox", "radio") and not re.search(r"\bchecked\b", tag):
            continue
        found.setdefault(at["name"], []).append(html.unescape(at.get("value", "")))
    for name, inside in re.findall(r'<select [^>]*name="([^"]+)"[^>]*>(.*?)</select>', form[0]):
        chosen = re.search(r'value="([^"]*)" selected', inside)
        first = re.search(r'value="([^"]*)"', inside)
        assert first is not None
        found[name] = html.unescape((chosen or first)[1])
    for name, inside in re.findall(r'<textarea [^>]*name="([^"]+)"[^>]*>(.*?)</textarea>', form[0],
                                   re.S):  # fmt: skip
        found[name] = html.unescape(inside).replace("\n", "\r\n")  # as browsers do
    del found["token"]
    return found


def test_forty_columns_are_done_by_three_forms(browser: Any, told: Any, ward: Any) -> None:
    words = told(ward)
    assert "k times less than epsilon says" in words  # the question's own explanation
    assert "Almost all of its values are missing" in words or "no values" in words
    form = entered(ward)
    assert "unit" not in form and form["person"] == "patient_nbr"  # nobody chose it yet
    page = browser.post("/unit", AT | form)
    assert page.status_code == 400 and "the unit was not chosen" in told(page)
    page = browser.post("/unit", AT | form | {"unit": "yes"})
    assert page.url.path == "/columns", told(page)
    assert page.text.count('class="column') <= 15
    assert "24 columns alike (drug0, drug1, drug2, drug3, ...)" in told(page)
    assert "<span>F, M</span>" in page.text and "F = F\n" in page.text  # the rule stands below
    form = entered(page) | {"high-3": "120", "values-2": "F = Female\nf = Female\nM = Male"}
    page = browser.post("/columns", AT | form | {"action": "save"})
    assert page.url.path == "/taxonomies", told(page)
    schema = hr.Schema.load(browser.root / "ward.yaml")
    assert schema.is_draft and schema.unit == "person"
    assert schema.person is not None and schema.person.column == "patient_nbr"
    found = {one.name: one for one in schema.attributes}
    assert found["drug0"].split == found["drug23"].split == "never"
    assert found["sex"].taxonomy.leaves == ("Female", "Male")  # type: ignore[union-attr]
    assert found["seen"].format == "%d.%m.%Y"  # type: ignore[union-attr]
    again = entered(browser.get("/columns", params=AT))
    assert again["values-2"].splitlines() == [
        "F = Female",
        "f = Female",
        "M = Male",
    ]  # what was answered stays
    words = told(browser.get("/check", params=AT))
    kept = words.partition("As they were read off the data")[2]
    assert "drug0" in kept and "sex" not in kept.partition("Who confirms")[0].split(", ")


def test_people_are_counted_by_the_column_that_is_named(browser: Any, told: Any) -> None:
    """What one person says in twelve rows is not proposed once it is known who that is."""
    lines = [f"{'abcdefghij'[n // 120]}{n // 12 % 10},{['cough', 'fever'][n % 2]},{n % 3}" for n in
             range(1200)]  # fmt: skip
    lines[12:24] = ["a1,my husband hits me,0"] * 12
    (browser.root / "visits.csv").write_text("who,why,n\n" + "\n".join(lines) + "\n", "utf-8")
    at = {"data": "visits.csv", "schema": "visits.yaml"}
    page = browser.finish(browser.post("/data/draft", {"data": "visits.csv", "name": "visits"}))
    form = entered(page) | {"unit": "yes", "person": "who", "class": "none"}
    page = browser.post("/unit", at | form)
    assert "unit: row or person?" in (browser.root / "visits.yaml").read_text("utf-8")
    page = browser.finish(page)
    assert page.url.path == "/columns" and "husband" not in page.text, told(page)
    page = browser.post(
        "/columns", at | entered(page) | {"values-1": "cough\nfever\nx\nmy husband hits me"}
    )
    assert page.url.path == "/taxonomies", told(page)
    text = (browser.root / "visits.yaml").read_text("utf-8")
    assert "unit: person" in text and '"x"' in text
    assert "my husband hits me rare: fewer than 10 have it" in told(
        browser.get("/check", params=at)
    )
    assert "are not marked yet" not in told(browser.get("/check", params=at))
    # nobody has to be named twice, and answers of one's own stay
    page = browser.get("/unit", params=at)
    page = browser.post("/unit", at | entered(page))
    assert page.url.path == "/columns" and "\r\nx\r\n" in entered(page)["values-1"], told(page)


def test_questions_that_follow_are_asked_before_one_goes_on(
    browser: Any, told: Any, ward: Any
) -> None:
    page = browser.post("/unit", AT | {"unit": "yes"} | entered(ward))
    page = browser.post("/columns", AT | entered(page) | {"kind-3": "values"})
    assert page.url.path == "/columns" and "Further questions follow" in told(page)
    follow = page.text.partition("Further questions follow")[2].partition("</p>")[0]
    assert re.findall('href="(#[^"]*)"', follow) == ["#c-3"] and 'id="c-3"' in page.text
    assert "values-3" in entered(page) and "low-3" not in entered(page)
    page = browser.post(
        "/columns", AT | entered(page) | {"split-10": "together", "values-3": "a, b"}
    )
    page = browser.post("/columns", AT | entered(page) | {"group-10": "medications"})
    assert page.url.path == "/taxonomies", told(page)
    assert "medications" in (browser.root / "ward.yaml").read_text("utf-8")
    page = browser.get("/columns", params=AT)
    apart = browser.post("/columns", AT | entered(page) | {f"together-{10}": "no"})
    assert "kind-11" in entered(apart) and "kind-33" in entered(apart)


def test_what_is_no_answer_is_told_at_its_field_and_nothing_is_lost(
    browser: Any, told: Any, ward: Any
) -> None:
    page = browser.post("/unit", AT | {"unit": "yes"} | entered(ward) | {"max_rows": "0"})
    assert (
        page.status_code == 400
        and "not a number of rows" in told(page)
        and 'role="alert"' in page.text
    )
    page = browser.post("/unit", AT | entered(page) | {"max_rows": "3"})
    wrong = {"low-3": "130", "high-3": "120", "values-2": "a\na", "high-9": "99"}
    page = browser.post("/columns", AT | entered(page) | wrong)
    assert page.status_code == 400, told(page)
    assert "Low is not below high" in told(page) and "'a' is there twice" in told(page)
    assert '<a href="#c-3">age</a>' in page.text
    form = entered(page)
    assert (form["low-3"], form["values-2"], form["high-9"]) == (["130"], "a\r\na", ["99"])
    page = browser.post("/columns", AT | form | {"low-3": "0", "values-2": "F\r\nM"})
    assert page.url.path == "/taxonomies", told(page)
    assert "\ufffd" not in (browser.root / "ward.yaml").read_text("utf-8")


def test_many_columns_are_dropped_at_once(browser: Any, told: Any, ward: Any) -> None:
    page = browser.post("/unit", AT | {"unit": "yes"} | entered(ward))
    shown = browser.post("/columns", AT | entered(page) | {"action": "filter", "filter": "DRUG1"})
    assert shown.text.count('class="column"') == 1 and 'class="column out"' in shown.text
    many = {"action": "bulk", "bulk": "kind=drop", "which": "shown", "filter": "drug1"}
    page = browser.post("/columns", AT | entered(page) | many)
    assert page.status_code == 200, told(page)
    assert {"drug0", "drug23"} <= set(hr.Schema.load(browser.root / "ward.yaml").identifiers)
    many = {"action": "bulk", "bulk": "kind=values", "which": "ticked", "filter": ""}
    page = browser.post("/columns", AT | entered(page) | many | {"pick": ["6", "9"]})
    assert "values-6" in entered(page) and "values-9" in entered(page)
    many["bulk"] = "kind=drop"
    assert browser.post("/columns", AT | entered(page) | many).status_code == 400  # none is ticked


def test_many_columns_of_a_schema_that_is_there(browser: Any, told: Any) -> None:
    lines = "".join(f"  n{n}: {{type: numeric, low: 0, high: 9}}\n" for n in range(3))
    path = browser.root / "many.yaml"
    path.write_text(f"name: many\nunit: row\nattributes:\n{lines}", encoding="utf-8")
    at = {"schema": "many.yaml"}
    page = browser.get("/columns", params=at)
    many = {"action": "bulk", "bulk": "missing=other", "which": "ticked", "pick": ["0", "2"]}
    page = browser.post("/columns", at | entered(page) | many)
    assert page.url.path == "/columns", told(page)
    assert [one.missing for one in hr.Schema.load(path).attributes] == ["other", "error", "other"]
    form = entered(page) | {"action": "filter", "filter": "n1", "high-0": "8"}
    page = browser.post("/columns", at | form)
    assert page.text.count('class="column out"') == 2 and entered(page)["high-0"] == ["8"]
    assert hr.Schema.load(path).attributes[0].high == 9  # looking saves nothing


def test_a_schema_that_was_changed_otherwise_is_not_overwritten_by_answers(
    browser: Any, ward: Any
) -> None:
    page = browser.post("/unit", AT | {"unit": "yes"} | entered(ward))
    path: Path = browser.root / "ward.yaml"
    path.write_text(path.read_text("utf-8") + "# mine\n", encoding="utf-8")
    answer = browser.post("/columns", AT | entered(page))
    assert answer.status_code == 409 and path.read_text("utf-8").endswith("# mine\n")
    assert "changed in the meantime" in answer.text
    before, after = entered(page), entered(answer)
    assert before.pop("seen") != after.pop("seen")
    assert before == after  # nothing that was entered is lost


def test_what_was_read_off_the_data_is_forgotten_at_the_sign_off(browser: Any, ward: Any) -> None:
    studio = browser.client.app.state.studio
    assert studio.guided
    browser.post("/unit", AT | {"unit": "yes"} | entered(ward))
    page = browser.get("/check", params=AT).text
    sent = dict(re.findall(r'name="(seen|fingerprint)" value="(\w+)"', page))
    browser.post("/check/sign", AT | sent | {"public": "yes", "reviewer": "A"})
    assert not studio.guided
    assert not any(job.result for job in studio.jobs._jobs.values())


def test_the_server_itself_opens_no_data(browser: Any) -> None:
    opened: list[str] = []

    def listen(event: str, given: tuple[Any, ...]) -> None:
        if listening and event == "open" and str(given[0]).endswith("people.csv"):
            opened.append(str(given[0]))

    listening = True
    sys.addaudithook(listen)
    try:
        page = browser.get("/data", params={"data": "people.csv"})
        assert page.status_code == 200
        assert "Bramble" in browser.post("/data/peek", {"data": "people.csv"}).text
    finally:
        listening = False
    assert not opened


def test_names_that_turn_the_direction_of_writing_are_answered() -> None:
    import pyarrow as pa

    odd = "a\u202eb"
    sketch = sketch_table(pa.table({odd: ["x\u202ey", "z", "w"] * 10, "age": [20, 30, 40] * 10}))
    assert isinstance(sketch, Sketch)

    class Form:
        form = {"values-0": [""], "class": [""]}

        def get(self, name: str) -> str:
            return self.form[name][0]

        def every(self, name: str) -> list[str]:
            return self.form.get(name, [])

    from hedgerow.store.html_text import visible

    form: Any = Form()
    form.form = {"values-0": ["\r\n".join(map(visible, ["w", "x\u202ey", "z"]))],
                 "class": [visible(odd)], "reviewer": ["Ann"]}  # fmt: skip
    guided, errors = take_answers(Guided(sketch=sketch), form)
    assert not errors
    assert guided.answers == {"class": odd, f"values of {odd}": "w, x\u202ey, z"}


def test_the_warning_about_rows_is_for_those_who_take_rows_for_people(
    browser: Any, ward: Any
) -> None:
    assert not re.search(r'name="unit" value="\w+" checked', ward.text)  # nobody chose yet
    assert '<div class="bad if-row" role="alert">' in ward.text
    style = browser.get("/static/studio.css").text
    assert "form:has(#u-person:checked) .if-row{display:none}" in style
