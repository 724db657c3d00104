"""The whole path, page by page, without a browser."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import hedgerow as hr

TABLE = {"data": "people.csv", "schema": "clinic.yaml"}


def seen(page: Any) -> str:
    """The mark of the schema that a page shows."""
    found = page.text.partition('name="seen" value="')[2].partition('"')[0]
    assert found
    return str(found)


def signing(page: Any) -> dict[str, str]:
    """What a person sends who signs the schema that the page of the check shows."""
    shown = page.text.partition('name="fingerprint" value="')[2].partition('"')[0]
    sent = {"seen": seen(page), "fingerprint": str(shown)}
    return sent | {"public": "yes", "reviewer": "A. Steward"}


def test_the_first_page_lists_the_folder(browser: Any, told: Any) -> None:
    (browser.root / "notes.txt").write_text("x", encoding="utf-8")
    words = told(browser.get("/"))
    assert "people.csv" in words and "clinic.yaml" in words
    assert "notes.txt" not in words
    size = (browser.root / "people.csv").stat().st_size
    assert f"people.csv {size / 1000:.1f} kB 20" in words
    text = (browser.root / "clinic.yaml").read_text("utf-8")
    signed = f'{text}metadata:\n  reviewer: "A. <Steward>"\n'
    for name, content in (("a.yaml", f"draft: true\n{text}"), ("b.yaml", signed)):
        (browser.root / name).write_text(content, encoding="utf-8")
    words = told(browser.get("/"))
    assert "a.yaml draft " in words and "b.yaml signed by A. <Steward> " in words
    assert "clinic.yaml not signed " in words


def test_the_first_page_waits_for_nothing_that_it_does_not_need() -> None:
    code = """if True:
        import sys
        import hedgerow.studio.app
        from hedgerow.studio.app import find_view
        find_view("project:home")
        print(*sys.modules)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"numpy", "numba", "pyarrow", "pydantic"}
    assert "hedgerow.schema" not in done.stdout.split()


def test_columns_are_shown_and_values_only_if_asked(browser: Any, told: Any) -> None:
    page = browser.get("/data", params={"data": "people.csv"})
    words = told(page)
    assert "town categories" in words and "age numbers or dates" in words
    assert "hedgerow init people.csv" in words
    assert "Bramble" not in page.text and "p17" not in page.text
    raw = browser.post("/data/peek", {"data": "people.csv"})
    assert "Bramble" in raw.text and "RAW" in raw.text
    assert "?" not in str(raw.url)  # no value, and no name of a file, in the address


def test_schemas_that_fit_the_file_come_first(browser: Any, told: Any) -> None:
    text = (browser.root / "clinic.yaml").read_text("utf-8")
    (browser.root / "a-draft.yaml").write_text(f"draft: true\n{text}", encoding="utf-8")
    (browser.root / "a-shop.yaml").write_text(
        "name: shop\nunit: row\nitems: {universe: [a, b], max_items: 2}\n", encoding="utf-8"
    )
    (browser.root / "a-torn.yaml").write_text("attributes:\n  - [\n", encoding="utf-8")
    page = browser.get("/data", params={"data": "people.csv"})
    places = [page.text.index(f">{one}.yaml</a>") for one in ("clinic", "a-draft", "a-shop")]
    assert places == sorted(places)
    button = '<a class="button" href="/unit?data=people.csv&amp;schema='
    assert page.text.count(button) == 1 and f"{button}clinic.yaml" in page.text
    assert '<button class="quiet">Draft a schema' in page.text
    (browser.root / "shop.dat").write_text("a b\nb\na\n", encoding="utf-8")
    page = browser.get("/data", params={"data": "shop.dat"})
    assert page.text.index(">a-shop.yaml</a>") < page.text.index(">clinic.yaml</a>")


def test_the_slider_is_shown_by_the_script_alone(browser: Any) -> None:
    page = browser.get("/budget", params=TABLE)
    assert '<div hidden><label for="b-slider">' in page.text
    assert "slider.parentElement.hidden = false" in browser.get("/static/studio.js").text


def test_names_that_look_like_a_record_are_not_shown(browser: Any) -> None:
    (browser.root / "bare.csv").write_text("41,Bramble\n42,Cask\n43,Bramble\n", encoding="utf-8")
    page = browser.get("/data", params={"data": "bare.csv"})
    assert page.status_code == 400
    assert "Bramble" not in page.text


@pytest.mark.slow
def test_from_data_to_a_verified_release(browser: Any, told: Any) -> None:
    root: Path = browser.root
    (root / "clinic.yaml").unlink()
    drafted = browser.finish(browser.post("/data/draft", {"data": "people.csv", "name": "clinic"}))
    assert drafted.url.path == "/unit", drafted.text
    assert "draft: true" in (root / "clinic.yaml").read_text(encoding="utf-8")

    answers = {"unit": "no", "class": "ill", "drop": "0", "missing": "each", "outside": "each"}
    page = browser.post("/unit", {**TABLE, **answers, "seen": seen(drafted)})
    assert page.url.path == "/columns", page.text
    assert "DRAFT" not in page.text and "read off real people" in told(page)
    # fmt: off
    fields = {"kind-1": "number", "low-1": "0", "high-1": "120",
              "step-1": "1", "missing-1": "other", "outside-1": "clip", "kind-2": "values",
              "values-2": "Ashmoor\nBramble\nCask\nDale\nElm", "missing-2": "error",
              "outside-2": "other", "values-3": "no\nyes", "missing-3": "error",
              "outside-3": "error"}
    # fmt: on
    page = browser.post("/columns", {**TABLE, "seen": seen(page), **fields})
    assert page.url.path == "/taxonomies", told(page)
    schema = hr.Schema.load(root / "clinic.yaml")
    assert schema.target is not None and schema.target.name == "ill"
    assert schema.attributes[0].edge(schema.attributes[0].grid) == 120

    group = {"column": "town", "node": ["1", "2"], "label": "North", "action": "group"}
    page = browser.post("/taxonomies", {**TABLE, **group, "seen": seen(page)})
    assert page.status_code == 200, told(page)
    assert "North" in page.text
    assert "hedgerow taxonomy clinic.yaml --attribute town" in told(page)

    chosen = TABLE | {"epsilon": "1", "delta": "0", "method": "diffmulti"}
    words = told(browser.get("/budget", params=chosen))
    assert "2.72" in words and "hedgerow plan --schema clinic.yaml --method diffmulti" in words

    assert "are not marked yet" in told(browser.get("/check", params=chosen))
    page = browser.finish(browser.post("/check", chosen))
    assert page.url.path == "/check", told(page)
    words = told(page)
    assert "Of 400 rows 400 are counted" in words and "are not marked yet" not in words
    refused = browser.finish(browser.post("/publish", chosen | {"out": "no", "confirmed": "yes"}))
    assert "draft" in told(refused) and not (root / "no").exists()
    before = (root / "clinic.yaml").read_text(encoding="utf-8")
    page = browser.post("/check/sign", chosen | signing(page))
    assert "Go on to publish" in told(page)
    schema = hr.Schema.load(root / "clinic.yaml")
    assert not schema.is_draft and schema.began_as_draft
    assert schema.metadata.reviewer == "A. Steward"
    text = (root / "clinic.yaml").read_text(encoding="utf-8")
    assert "DRAFT" in before and before.count("#") > text.count("#") == 2  # the reviewer's alone

    browser.post("/ledger", {"ledger": "clinic", "dataset": "clinic", "epsilon": "2"})
    page = browser.get("/publish", params=chosen)
    assert "epsilon 2 left of 2" in told(page)
    run = chosen | {"out": "release", "account": "clinic.ledger|clinic", "recipient": "--all"}
    assert browser.post("/publish", run).status_code == 400  # not confirmed
    page = browser.finish(browser.post("/publish", run | {"confirmed": "yes"}))
    assert page.url.path == "/release", told(page)
    assert "Verified" in told(page)
    assert hr.verify(root / "release").ok
    assert "spent" in told(browser.get("/")) and "release" in told(browser.get("/"))
    assert hr.BudgetLedger(root / "clinic.ledger").accounts()[0].entries[0].recipient == "--all"
    look_at_release(browser, told)


def look_at_release(browser: Any, told: Any) -> None:
    """Every page about a release."""
    at = {"release": "release"}
    words = told(browser.get("/release/table", params=at))
    assert "estimate" in words
    page = browser.post("/release/table", at | {"first": "town", "second": "ill", "by": "share"})
    assert "hedgerow table release town ill --by share" in told(page)
    # what is mostly noise has no bar; of 400 people, both classes stand out
    page = browser.post("/release/table", at | {"first": "ill", "by": "count"})
    assert "<svg" in page.text
    page = browser.post("/release/query", at | {"query": "age < 50 and ill = yes"})
    assert "95% interval" in told(page)
    assert "?" not in str(page.url)
    page = browser.post("/release/query", at | {"query": "ages < 50"})
    assert page.status_code == 400 and "age" in told(page)
    assert "everyone" in told(browser.get("/release/tree", params=at))
    assert "describe nobody" in told(browser.get("/release/rows", params=at))
    assert "no other release" in told(browser.get("/release/compare", params=at))
    for page in ("/release/report", "/release/dossier"):
        shown = browser.get(page, params=at)
        assert shown.status_code == 200
        assert "script" not in shown.headers["content-security-policy"]
        assert "default-src 'none'" in shown.headers["content-security-policy"]
    assert "clinic.ledger" not in browser.get("/release/report", params=at).text
    begins = {"zip": b"PK", "report": b"<!DOCTYPE", "dossier": b"<!DOCTYPE", "rows": b'"age"'}
    for kind, start in begins.items():
        found = browser.get("/release/download", params=at | {"as": kind})
        assert found.content.startswith(start), kind
        assert "attachment" in found.headers["content-disposition"]
    assert browser.get("/release/download", params=at | {"as": "data"}).status_code == 400


@pytest.mark.slow
def test_tables_of_interest_find_their_epsilon(browser: Any, told: Any) -> None:
    wish = TABLE | {"table": ["town", "ill"], "within": "20", "rows": "500"}
    page = browser.finish(browser.post("/budget/simulate", wish))
    assert page.url.path == "/budget", told(page)
    assert "accurate enough" in told(page)
    assert page.text.count("<polyline") == 2
    assert browser.get(str(page.url).replace("simulated=", "simulated=x")).status_code == 404


def test_html_in_names_and_values_stays_text(browser: Any) -> None:
    evil = "<script>alert(1)</script>"
    (browser.root / "evil.csv").write_text(
        f'"<b>x</b>","a\'b""c"\n{evil},"&lt;"\n{evil},y\n', encoding="utf-8"
    )
    (browser.root / "<i>.yaml").write_text(
        'name: "<u>n</u>"\nunit: row\nattributes:\n  "<b>x</b>":\n    type: categorical\n'
        f'    values: ["{evil}", "\\" onfocus=\\"x"]\n',
        encoding="utf-8",
    )
    pages = [
        browser.get("/"),
        browser.get("/data", params={"data": "evil.csv"}),
        browser.post("/data/peek", {"data": "evil.csv"}),
        browser.get("/columns", params={"schema": "<i>.yaml"}),
        browser.get("/taxonomies", params={"schema": "<i>.yaml"}),
        browser.get("/budget", params={"schema": "<i>.yaml", "epsilon": '1"><b>'}),
        browser.get("/columns", params={"schema": "<svg onload=x>"}),
    ]
    for page in pages:
        for tag in ("<script>alert", "<b>", "<i>", "<u>", "<svg onload", '" onfocus='):
            assert tag not in page.text, (page.url, tag)
    assert "&lt;script&gt;alert(1)" in pages[2].text


def test_two_tabs_do_not_overwrite_each_other(browser: Any) -> None:
    mark = seen(browser.get("/columns", params=TABLE))
    fields = {"kind-1": "numeric", "low-1": "0", "high-1": "90", "step-1": "1", "seen": mark}
    assert browser.post("/columns", TABLE | fields).status_code == 200
    text = (browser.root / "clinic.yaml").read_text(encoding="utf-8")
    again = browser.post("/columns", TABLE | fields | {"high-1": "80"})
    assert again.status_code == 409
    assert 'href="/columns?data=people.csv&amp;schema=clinic.yaml"' in again.text
    assert (browser.root / "clinic.yaml").read_text(encoding="utf-8") == text


def test_what_is_wrong_is_shown_again_with_what_was_entered(browser: Any, told: Any) -> None:
    page = browser.get("/columns", params=TABLE)
    fields = {"kind-1": "numeric", "low-1": "70", "high-1": "60", "step-1": "1"}
    text = (browser.root / "clinic.yaml").read_text(encoding="utf-8")
    again = browser.post("/columns", TABLE | fields | {"seen": seen(page)})
    assert again.status_code == 400
    assert 'value="70"' in again.text and 'role="alert"' in again.text
    assert (browser.root / "clinic.yaml").read_text(encoding="utf-8") == text


def test_columns_that_are_alike_are_asked_about_once(browser: Any, told: Any) -> None:
    kind = "{type: categorical, values: [down, up], outside: other}"
    lines = "".join(f"  drug{n}: {kind}\n" for n in range(6))
    path = browser.root / "drugs.yaml"
    path.write_text(f"name: drugs\nunit: row\nattributes:\n{lines}", encoding="utf-8")
    at = {"schema": "drugs.yaml"}
    page = browser.get("/columns", params=at)
    assert "The same for 5 columns" in told(page)
    fields = {"missing-0": "other", "outside-0": "other", "values-0": "down\nsteady\nup",
              "alike-0": "yes", "values-4": "down\nup", "missing-4": "drop",
              "outside-4": "other"}  # fmt: skip
    fields |= {f"kind-{n}": "categorical" for n in range(6)}
    fields |= {f"outside-{n}": "other" for n in range(6)}
    page = browser.post("/columns", at | fields | {"seen": seen(page), "class": "5"})
    assert page.status_code == 200, told(page)
    schema = hr.Schema.load(path)
    sizes = {one.name: (one.missing, one.size) for one in schema.columns}
    assert sizes["drug0"] == ("other", 4)
    assert sizes["drug0"] == sizes["drug1"] == sizes["drug3"] == sizes["drug5"]
    assert sizes["drug4"][0] == "drop"
    assert schema.target is not None and schema.target.name == "drug5"


def test_a_person_with_several_rows(browser: Any) -> None:
    page = browser.get("/unit", params=TABLE)
    person = {"unit": "person", "column": "patient", "max_rows": "3", "seen": seen(page)}
    page = browser.post("/unit", TABLE | person)
    assert page.url.path == "/columns"
    schema = hr.Schema.load(browser.root / "clinic.yaml")
    assert schema.person is not None and schema.person.max_rows == 3
    page = browser.post("/unit", TABLE | {"unit": "row", "seen": seen(page)})
    assert hr.Schema.load(browser.root / "clinic.yaml").identifiers == ("patient",)


def test_a_run_that_is_cancelled_leaves_nothing_behind(browser: Any, told: Any) -> None:
    before = sorted(browser.root.rglob("*"))
    run = TABLE | {"out": "release", "confirmed": "yes", "epsilon": "1"}
    page = browser.post("/publish", run)
    name = page.url.params["job"]
    page = browser.post("/job/cancel", {"job": name})
    assert "Cancelled" in told(page)
    assert sorted(browser.root.rglob("*")) == before
    job = browser.client.app.state.studio.jobs.find(name)
    assert job.process.poll() is not None
    events = browser.get("/job/events", params={"job": name}).text
    assert "event: ended" in events


@pytest.mark.parametrize("action", ["move", "rename", "dissolve", "nothing"])
def test_a_tree_that_nothing_was_ticked_in_stays(browser: Any, action: str) -> None:
    page = browser.get("/taxonomies", params=TABLE)
    sent = {"column": "town", "action": action, "label": "x", "target": "0", "seen": seen(page)}
    assert browser.post("/taxonomies", TABLE | sent).status_code == 400


def test_warnings_beside_a_tree_name_the_file_and_no_folder(browser: Any, told: Any) -> None:
    column = "  kind: {type: categorical, missing: other, values: [a, other]}\n"
    schema = "name: s\nunit: row\nattributes:\n" + column
    (browser.root / "kind.yaml").write_text(schema, encoding="utf-8")
    page = told(browser.get("/taxonomies", params={"schema": "kind.yaml"}))
    assert "kind.yaml:4: attribute" in page and str(browser.root) not in page


def test_trees_are_changed_step_by_step(browser: Any) -> None:
    def tree() -> Any:
        text = (browser.root / "clinic.yaml").read_text(encoding="utf-8")
        return yaml.safe_load(text)["attributes"]["town"]

    def change(**fields: Any) -> None:
        page = browser.get("/taxonomies", params=TABLE | {"column": "town"})
        done = browser.post("/taxonomies", TABLE | {"column": "town", "seen": seen(page)} | fields)
        assert done.status_code == 200, done.text

    change(node=["1", "2"], label="North", action="group")
    change(node=["4", "5"], label="South", action="group")
    assert tree()["taxonomy"] == {"North": ["Ashmoor", "Bramble"], "South": ["Cask", "Dale"]}
    change(node=["2"], target="4", action="move")
    assert tree()["taxonomy"]["South"] == ["Cask", "Dale", "Ashmoor"]
    change(node=["1"], label="Far north", action="rename")
    change(node=["3"], action="dissolve")
    assert list(tree()["taxonomy"]) == ["Far north", "Cask", "Dale", "Ashmoor"]
    change(node=["2"], target="0", action="move")  # its group has no other member
    assert tree()["values"] == ["Cask", "Dale", "Ashmoor", "Bramble"]
    before = tree()
    change(source="us-states", action="import")
    assert tree() == before  # it asks first
    change(source="us-states", action="import", confirmed="yes")
    assert tree()["taxonomy"] == "us-states"


def test_items_of_transactions_are_grouped_in_the_tree(browser: Any, told: Any) -> None:
    path: Path = browser.root / "shop.yaml"
    path.write_text(
        "name: shop\nunit: row\nitems:\n  universe: [ale, bread, milk, tea]\n  fan_out: 2\n"
        "  empty: dummy\n  max_items: 3\n",
        encoding="utf-8",
    )
    at = {"schema": "shop.yaml"}

    def change(**fields: Any) -> Any:
        page = browser.get("/taxonomies", params=at)
        done = browser.post("/taxonomies", at | {"column": "items", "seen": seen(page)} | fields)
        assert done.status_code == 200, told(done)
        return yaml.safe_load(path.read_text("utf-8"))["items"]

    assert "ale .. bread" in told(browser.get("/taxonomies", params=at))
    found = change(node=["1"], label="Food", action="rename")
    rules = {"empty": "dummy", "max_items": 3}
    assert found == {
        "taxonomy": {"Food": ["ale", "bread"], "milk .. tea": ["milk", "tea"]},
        **rules,
    }
    change(node=["2"], target="4", action="move")
    found = change(node=["3"], label="Drinks", action="rename")
    assert found["taxonomy"] == {"Food": ["bread"], "Drinks": ["milk", "tea", "ale"]}
    items = hr.Schema.load(path).items
    assert items is not None and items.semantic and items.given == ("bread", "milk", "tea", "ale")
    shown = browser.get("/columns", params=at)
    assert "those of their taxonomy" in told(shown) and "bounds or values" not in told(shown)
    assert change(node=["1", "3"], action="dissolve") == {
        "universe": ["bread", "milk", "tea", "ale"], **rules
    }  # fmt: skip
    (browser.root / "taxonomies").mkdir()
    (browser.root / "taxonomies" / "goods.yaml").write_text(
        "Any: {Hot: [tea, mocha], Cold: [ale, milk]}\n"
    )
    found = change(source="taxonomies/goods.yaml", action="import", confirmed="yes")
    assert found == {"taxonomy": "taxonomies/goods.yaml", **rules}
    change(node=["1"], label="Warm", action="rename")
    assert hr.Schema.load(path).items is not None


SIGNED = (
    "began_as_draft: true\nmetadata:\n  contact: desk\n  reviewer: A. S.\n  reviewed: 2026-01-31\n"
)


@pytest.fixture
def signed(browser: Any) -> Path:
    """A schema that somebody has signed off."""
    path: Path = browser.root / "clinic.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("attributes:\n", f"{SIGNED}attributes:\n"), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("page", "fields"),
    [
        ("/unit", {"unit": "person", "column": "patient", "max_rows": "3"}),
        ("/columns", {"kind-1": "numeric", "low-1": "0", "high-1": "81", "step-1": "1"}),
        ("/taxonomies", {"column": "town", "node": ["1", "2"], "label": "N", "action": "group"}),
    ],
)
def test_a_change_withdraws_the_sign_off(
    browser: Any, told: Any, signed: Path, page: str, fields: dict[str, Any]
) -> None:
    done = browser.post(page, TABLE | fields | {"seen": seen(browser.get(page, params=TABLE))})
    assert done.status_code == 200 and "sign-off was withdrawn" in told(done)
    schema = hr.Schema.load(signed)
    assert schema.is_draft and schema.began_as_draft
    assert (schema.metadata.reviewer, schema.metadata.contact) == (None, "desk")
    assert "reviewed" not in signed.read_text(encoding="utf-8")
    assert "still a draft" in told(browser.get("/publish", params=TABLE))
    run = browser.finish(browser.post("/publish", TABLE | {"out": "no", "confirmed": "yes"}))
    assert "draft" in told(run) and not (browser.root / "no").exists()


def test_saving_what_was_signed_off_keeps_the_sign_off(browser: Any, signed: Path) -> None:
    page = browser.get("/unit", params=TABLE)
    page = browser.post("/unit", TABLE | {"unit": "row", "seen": seen(page)})
    fields = {"kind-1": "numeric", "low-1": "0", "high-1": "99", "step-1": "1", "outside-1": "clip"}
    browser.post("/columns", TABLE | fields | {"seen": seen(page)})
    schema = hr.Schema.load(signed)
    assert not schema.is_draft and schema.metadata.reviewer == "A. S."


def test_rows_of_people_that_repeat_are_taken_for_people_only_by_a_tick(
    browser: Any, told: Any
) -> None:
    rows = "".join(f"p{n // 3},{20 + n % 60}\n" for n in range(300))
    (browser.root / "visits.csv").write_text("patient,age\n" + rows, encoding="utf-8")
    at = {"data": "visits.csv", "schema": "visits.yaml"}
    page = browser.finish(browser.post("/data/draft", {"data": "visits.csv", "name": "visits"}))
    assert "people seem to have several rows" in told(page)
    fields = at | {"unit": "no", "seen": seen(page)}
    refused = browser.post("/unit", fields)
    assert refused.status_code == 400 and "patient" in told(refused)
    page = browser.post("/unit", fields | {"each_row": "yes"})
    assert page.url.path == "/columns", told(page)
    assert "role:" not in told(page)
    sign = signing(browser.get("/check", params=at))
    assert "Go on to publish" in told(browser.post("/check/sign", at | sign))
    assert "people seem to have several rows" in told(browser.get("/publish", params=at))
    run = at | {"out": "release", "confirmed": "yes"}
    assert browser.post("/publish", run).status_code == 400
    page = browser.finish(browser.post("/publish", run | {"each_row": "yes"}))
    assert page.url.path == "/release", told(page)
    page = browser.get("/unit", params=at)
    person = {"unit": "person", "column": "patient", "max_rows": "3", "seen": seen(page)}
    page = browser.post("/unit", at | person)
    assert page.url.path == "/columns" and "make the person the unit" in told(page)
    assert "people seem to have several rows" not in told(browser.get("/publish", params=at))


def test_data_is_not_offered_as_a_public_list(browser: Any) -> None:
    root: Path = browser.root
    (root / "taxonomies").mkdir()
    (root / "taxonomies" / "towns.csv").write_text("Ashmoor;North\n", encoding="utf-8")
    (root / "towns.yaml").write_text("North: [Ashmoor]\n", encoding="utf-8")
    (root / "other.csv").write_text("name\nJane Doe\n", encoding="utf-8")
    (root / "taxonomies" / "link.csv").symlink_to(root / "other.csv")
    deep = root / "a" / "b" / "c" / "d"  # deeper than the first page looks
    deep.mkdir(parents=True)
    (deep / "deep.csv").write_text("name\nJane Doe\n", encoding="utf-8")
    (deep / "deep.yaml").write_text((root / "clinic.yaml").read_text("utf-8"), encoding="utf-8")
    page = browser.get("/taxonomies", params={"schema": "clinic.yaml"})
    assert "<option>taxonomies/towns.csv" in page.text and "<option>towns.yaml" in page.text
    for name in ("people.csv", "other.csv", "link.csv", "clinic.yaml"):
        assert f"<option>{name}" not in page.text and f"/{name}</option>" not in page.text
    taken = {"schema": "clinic.yaml", "column": "town", "action": "import", "seen": seen(page)}
    for name in ("people.csv", "other.csv", "taxonomies/link.csv"):
        answer = browser.post("/taxonomies", taken | {"source": name})
        assert answer.status_code == 400 and "Jane Doe" not in answer.text
    page = browser.get("/taxonomies", params={"schema": "a/b/c/d/deep.yaml"})
    assert page.status_code == 200 and "deep.csv" not in page.text


def test_the_sign_off_lists_what_nobody_has_changed(browser: Any, told: Any) -> None:
    (browser.root / "clinic.yaml").unlink()
    page = browser.finish(browser.post("/data/draft", {"data": "people.csv", "name": "clinic"}))
    page = browser.post("/unit", TABLE | {"unit": "no", "seen": seen(page)})
    words = told(browser.get("/check", params=TABLE))
    assert "3 columns: bounds or values as they were read off the data" in words
    assert "age, town, ill" in words
    fields = {"kind-1": "number", "low-1": "0", "high-1": "111", "step-1": "1"}
    page = browser.post("/columns", TABLE | fields | {"seen": seen(page)})
    group = {"column": "town", "node": ["1", "2"], "label": "North", "action": "group"}
    browser.post("/taxonomies", TABLE | group | {"seen": seen(page)})
    words = told(browser.get("/check", params=TABLE))
    assert "2 columns: bounds or values" in words and "data town, ill" in words
    browser.client.app.state.studio.drafts.clear()  # after a new start nobody knows
    assert "3 columns: bounds or values" in told(browser.get("/check", params=TABLE))


@pytest.mark.parametrize("page", ["/unit", "/columns", "/taxonomies", "/budget"])
def test_an_unsigned_draft_is_called_confidential(browser: Any, told: Any, page: str) -> None:
    path = browser.root / "clinic.yaml"
    assert "Public." in told(browser.get(page, params=TABLE))
    path.write_text("draft: true\n" + path.read_text("utf-8"), encoding="utf-8")
    words = told(browser.get(page, params=TABLE))
    assert "Public" not in words
    assert "CONFIDENTIAL: exact values of real people. For you alone; do not pass it on." in words


def test_messages_name_files_as_seen_from_the_folder(browser: Any) -> None:
    (browser.root / "broken.yaml").write_text("attributes:\n  - [\n", encoding="utf-8")
    page = browser.get("/columns", params={"schema": "broken.yaml"})
    assert page.status_code == 400
    assert "broken.yaml" in page.text and str(browser.root) not in page.text


def test_a_warning_of_the_check_is_told_once(browser: Any, told: Any) -> None:
    rows = (browser.root / "people.csv").read_text("utf-8").replace("Dale", "Elm's")
    (browser.root / "people.csv").write_text(rows, encoding="utf-8")
    path = browser.root / "clinic.yaml"
    text = path.read_text("utf-8").replace("Cask, Dale]", "Cask, Dale]\n    outside: drop")
    path.write_text(text, encoding="utf-8")
    page = browser.finish(browser.post("/check", TABLE))
    job = browser.client.app.state.studio.jobs.find(page.url.params["checked"])
    lines = [one for one in job.result["warnings"] if not one.startswith("NOT PRIVATE")]
    assert lines
    for line in lines:
        assert told(page).count(line) == 1, line
    assert "Warnings do not stop you" in told(page) and "Foreign: a value that" in told(page)


def test_a_file_with_a_title_above_its_names(browser: Any, told: Any) -> None:
    rows = (browser.root / "people.csv").read_text("utf-8").replace(",", ";")
    rows = rows.replace("Dale", "Dälë")
    (browser.root / "titled.csv").write_bytes(f"Clinic, visits 2025\n\n{rows}".encode("cp1252"))
    at = {"data": "titled.csv"}
    page = browser.get("/data", params=at)
    assert page.status_code == 400 and "Row of the column names" in told(page)
    at |= {"header_row": "3", "delimiter": ";", "encoding": "cp1252"}
    page = browser.get("/data", params=at)
    assert page.status_code == 200 and "town categories" in told(page), told(page)
    assert "--header-row=3" in told(page)
    assert "Bramble" in browser.post("/data/peek", at).text
    page = browser.finish(browser.post("/data/draft", at | {"name": "titled"}))
    assert page.url.path == "/unit", told(page)
    text = (browser.root / "titled.yaml").read_text("utf-8")
    assert yaml.safe_load(text)["file"] == {"encoding": "cp1252", "header_row": 3}
    at |= {"schema": "titled.yaml"}
    browser.post("/unit", at | {"unit": "no", "seen": seen(page)})
    page = browser.finish(browser.post("/check", at))
    assert "Of 400 rows 400 are counted" in told(page), told(page)
    for fault in ({"header_row": "x"}, {"header_row": "0"}, {"encoding": "ebcdic"}):
        page = browser.get("/data", params=at | fault)
        assert page.status_code == 400 and "Row of the column names" in told(page)


def test_a_file_with_one_column_asks_whether_a_title_stands_above(browser: Any, told: Any) -> None:
    rows = (browser.root / "people.csv").read_text("utf-8")
    (browser.root / "titled.csv").write_text(f"Clinic\n{rows}", "utf-8")
    words = told(browser.get("/data", params={"data": "titled.csv"}))
    assert "1 column " in words and "If a title stands above the names" in words
    words = told(browser.get("/data", params={"data": "people.csv"}))
    assert "4 columns" in words and "If a title" not in words


def test_a_taxonomy_that_changed_after_it_was_shown_is_not_signed(browser: Any, told: Any) -> None:
    path, towns = browser.root / "clinic.yaml", browser.root / "towns.yaml"
    towns.write_text("Any: {North: [Ashmoor, Bramble], South: [Cask, Dale, Elm]}\n")
    text = path.read_text(encoding="utf-8")
    text = text.replace("values: [Ashmoor, Bramble, Cask, Dale]", "taxonomy: towns.yaml")
    path.write_text(f"draft: true\n{text}", encoding="utf-8")
    assert hr.Schema.load(path).attributes[1].size == 5
    before = path.read_text(encoding="utf-8")
    sent = signing(browser.get("/check", params=TABLE))
    towns.write_text("Any: {North: [Ashmoor], South: [Bramble, Cask, Dale, Elm]}\n")
    for fields in (sent, sent | {"fingerprint": ""}):
        refused = browser.post("/check/sign", TABLE | fields)
        assert refused.status_code == 409 and "changed in the meantime" in told(refused)
        assert path.read_text(encoding="utf-8") == before
    browser.post("/check/sign", TABLE | signing(browser.get("/check", params=TABLE)))
    schema = hr.Schema.load(path)
    assert not schema.is_draft and schema.metadata.signed == schema.fingerprint
