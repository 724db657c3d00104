"""The page that spends: what was spent before, the same form sent twice, and a first ledger."""

from __future__ import annotations

from typing import Any

import hedgerow as hr

AT = {"data": "people.csv", "schema": "clinic.yaml", "epsilon": "1"}


def field(page: Any, name: str) -> str:
    return str(page.text.partition(f'name="{name}" value="')[2].partition('"')[0])


def test_the_page_says_what_was_published_before(browser: Any, told: Any) -> None:
    page = browser.get("/publish", params=AT)
    assert "Published already" not in told(page)
    assert '<form method="post" action="/publish" autocomplete="off">' in page.text
    run = AT | {"out": "first", "confirmed": "yes", "once": field(page, "once")}
    assert browser.finish(browser.post("/publish", run)).url.path == "/release"
    page = browser.get("/publish", params=AT | {"epsilon": "0.5"})
    words = told(page)
    assert "Published already with the schema clinic" in words and "first : epsilon 1" in words
    assert "epsilon 1.5 together with what was published before" in words
    text = (browser.root / "clinic.yaml").read_text("utf-8")
    (browser.root / "other.yaml").write_text(text.replace("name: clinic", "name: other"), "utf-8")
    words = told(browser.get("/publish", params=AT | {"schema": "other.yaml"}))
    assert "Published already" not in words

    # the same form once more, for another folder: refused, and it leads to the release
    again = browser.post("/publish", run | {"out": "second"})
    assert again.status_code == 409 and "sent before" in told(again)
    assert 'href="/release?release=first"' in again.text
    assert not (browser.root / "second").exists()


def test_a_form_without_its_one_time_number_publishes_nothing(browser: Any, told: Any) -> None:
    page = browser.post("/publish", AT | {"out": "no", "confirmed": "yes", "once": ""})
    assert page.status_code == 409 and not (browser.root / "no").exists()


def test_a_refused_form_can_be_sent_again(browser: Any) -> None:
    run = AT | {"out": "release", "once": "a"}
    assert browser.post("/publish", run).status_code == 400  # not confirmed
    page = browser.post("/publish", run | {"confirmed": "yes"})
    again = browser.post("/publish", run | {"confirmed": "yes"})
    assert again.status_code == 409
    browser.post("/job/cancel", {"job": page.url.params["job"]})


def test_what_states_no_budget_is_left_out_of_the_sum(browser: Any, told: Any) -> None:
    manifest = (
        '{"guarantee": {"epsilon": "EPSILON", "delta": "0"}, "method": "m", '
        '"schema": {"name": "clinic"}}'
    )
    for epsilon in ("1e999999999", "2"):
        folder = browser.root / f"at-{epsilon}"
        folder.mkdir()
        text = manifest.replace("EPSILON", epsilon)
        (folder / "manifest.json").write_text(text, encoding="utf-8")
        page = browser.get("/publish", params=AT)
        assert page.status_code == 200
        assert ("epsilon 3 together with" in told(page)) == (epsilon == "2")
    (browser.root / "torn.ledger").write_text("no ledger", encoding="utf-8")
    page = browser.get("/publish", params=AT)
    assert page.status_code == 200 and "epsilon 3 together with" in told(page)


def test_a_first_ledger_is_opened_where_one_publishes(browser: Any, told: Any) -> None:
    page = browser.get("/publish", params=AT)
    assert "Open a ledger for these people" in told(page) and "For whom" not in told(page)
    run = AT | {"out": "release", "confirmed": "yes", "once": "a", "account": "+|clinic"}
    small = browser.post("/publish", run | {"total": "0.5"})
    assert small.status_code == 400 and "smaller than what this release spends" in told(small)
    assert not (browser.root / "budget.ledger").exists()
    page = browser.finish(browser.post("/publish", run | {"total": "3"}))
    assert page.url.path == "/release", told(page)
    (account,) = hr.BudgetLedger(browser.root / "budget.ledger").accounts()
    assert (account.name, account.spent[0], account.left[0]) == ("clinic", 1, 2)
    words = told(browser.get("/publish", params=AT))
    assert "Open a ledger" not in words and "For whom" in words
    assert "booked in budget.ledger: epsilon 1" in words
    assert "epsilon 2 together with what was published before" in words


def test_other_people_are_added_to_a_ledger_that_is_there(browser: Any, told: Any) -> None:
    ledger = hr.BudgetLedger(browser.root / "old.ledger")
    ledger.open("registry", 2)
    page = browser.get("/publish", params=AT)
    assert "These are other people: add them to old.ledger as clinic" in told(page)
    assert " checked" not in page.text  # nobody's budget is spent, and none is opened, unasked
    run = AT | {"out": "release", "confirmed": "yes", "account": "+old.ledger|clinic", "total": "4"}
    page = browser.finish(browser.post("/publish", run))
    assert page.url.path == "/release", told(page)
    assert {one.name: one.spent[0] for one in ledger.accounts()} == {"registry": 0, "clinic": 1}
    assert not (browser.root / "budget.ledger").exists()
    assert "These are other people" not in told(browser.get("/publish", params=AT))
    out = browser.post("/publish", run | {"out": "again", "account": "+../old.ledger|clinic"})
    assert out.status_code == 404 and not (browser.root / "again").exists()


def test_a_ledger_that_cannot_be_read_takes_no_further_people(browser: Any, told: Any) -> None:
    (browser.root / "torn.ledger").write_text("no ledger", encoding="utf-8")
    words = told(browser.get("/publish", params=AT))
    assert "other people" not in words and "Open a ledger" not in words


def test_a_large_epsilon_is_written_twice(browser: Any, told: Any) -> None:
    assert 'name="yes_epsilon"' not in browser.get("/publish", params=AT).text
    large = AT | {"epsilon": "50", "method": "diffmulti"}
    assert 'name="yes_epsilon"' in browser.get("/publish", params=large).text
    run = large | {"out": "release", "confirmed": "yes", "once": "a"}
    for again in ("", "5"):
        page = browser.post("/publish", run | {"yes_epsilon": again})
        assert page.status_code == 400 and "twice" in told(page)
    page = browser.finish(browser.post("/publish", run | {"yes_epsilon": "50"}))
    assert page.url.path == "/release", told(page)
