"""Every change of a schema can be undone, and none is lost or overwritten unseen."""

from __future__ import annotations

import stat
from typing import Any

import hedgerow as hr
from hedgerow.studio.schema_text import FOLDER, versions

TABLE = {"data": "people.csv", "schema": "clinic.yaml"}
AGE = {"kind-1": "numeric", "low-1": "0", "step-1": "1"}


def seen(page: Any) -> str:
    return str(page.text.partition('name="seen" value="')[2].partition('"')[0])


def widen(browser: Any, high: int) -> None:
    mark = seen(browser.get("/columns", params=TABLE))
    page = browser.post("/columns", TABLE | AGE | {"high-1": str(high), "seen": mark})
    assert page.url.path == "/taxonomies"


def restore(browser: Any, number: int) -> Any:
    mark = seen(browser.get("/history", params=TABLE))
    return browser.post("/history", TABLE | {"version": str(number), "seen": mark})


def test_changes_are_undone_one_by_one_and_can_be_done_again(browser: Any, told: Any) -> None:
    path = browser.root / "clinic.yaml"
    first = path.read_text("utf-8")
    assert "Undo" not in told(browser.get("/columns", params=TABLE))
    widen(browser, 120)
    widen(browser, 130)
    assert [one.parent for one in versions(path)] == [0, 1, 2]
    page = browser.get("/history", params=TABLE)
    assert "age: high is 130, and was 120" in told(page)
    for text in ("high: 120", first):
        page = browser.get("/columns", params=TABLE)
        number = page.text.partition('name="version" value="')[2].partition('"')[0]
        undone = TABLE | {"version": number, "page": "columns", "seen": seen(page)}
        page = browser.post("/history", undone)
        assert page.url.path == "/columns" and text in path.read_text("utf-8")
    assert "Undo the last change" not in told(page)  # there is nothing before the first
    restore(browser, 3)
    assert "high: 130" in path.read_text("utf-8")
    restore(browser, 1)
    widen(browser, 140)  # from the first: what came between stays
    assert [one.parent for one in versions(path)] == [0, 1, 2, 1]
    assert restore(browser, 9).status_code == 400


def test_only_the_owner_can_read_versions_and_they_can_be_deleted(browser: Any) -> None:
    path = browser.root / "clinic.yaml"
    widen(browser, 120)
    for one in (browser.root / FOLDER, *(browser.root / FOLDER).rglob("*")):
        assert stat.S_IMODE(one.stat().st_mode) == (0o700 if one.is_dir() else 0o600)
    browser.post("/history/forget", TABLE)
    assert not versions(path) and path.exists()


def test_a_change_by_hand_is_kept_and_never_overwritten_unseen(browser: Any, told: Any) -> None:
    path = browser.root / "clinic.yaml"
    widen(browser, 120)
    mark = seen(browser.get("/columns", params=TABLE))
    path.write_text(path.read_text("utf-8").replace("Dale", "Elm"), encoding="utf-8")
    page = browser.post("/columns", TABLE | AGE | {"high-1": "77", "seen": mark})
    words = told(page)
    assert page.status_code == 409 and 'value="77"' in page.text, words
    assert "age: high is 77, and was 120" in words
    assert "high: 120" in path.read_text("utf-8")
    page = browser.post("/columns", TABLE | AGE | {"high-1": "77", "seen": seen(page)})
    assert page.url.path == "/taxonomies"
    text = path.read_text("utf-8")
    assert "Elm" in text and "high: 77" in text
    assert [one.page for one in versions(path)] == ["elsewhere", "columns", "elsewhere", "columns"]


def test_going_back_from_what_was_signed_makes_a_draft_and_forth_again_does_not(
    browser: Any,
) -> None:
    path = browser.root / "clinic.yaml"
    widen(browser, 120)
    page = browser.get("/check", params=TABLE)
    path.write_text("draft: true\n" + path.read_text("utf-8"), encoding="utf-8")
    page = browser.get("/check", params=TABLE)
    shown = page.text.partition('name="fingerprint" value="')[2].partition('"')[0]
    signature = {"seen": seen(page), "fingerprint": shown, "public": "yes", "reviewer": "A. S."}
    browser.post("/check/sign", TABLE | signature)
    signed = path.read_text("utf-8")
    assert not hr.Schema.load(path).is_draft
    restore(browser, 1)
    assert hr.Schema.load(path).is_draft and "reviewer" not in path.read_text("utf-8")
    number = next(one.number for one in versions(path) if one.text == signed)
    restore(browser, number)
    assert path.read_text("utf-8") == signed and not hr.Schema.load(path).is_draft
