"""`hedgerow.publish` with a budget ledger: booked before anything is drawn."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from linecache import getline
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hedgerow
from hedgerow import sample
from hedgerow.errors import (
    BudgetError,
    DataError,
    LedgerWarning,
    ReleaseError,
    SchemaError,
    UsageError,
)
from hedgerow.ledger import ledger as budget_ledger
from hedgerow.ledger.ledger import BudgetLedger
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.schema import Items, Schema

SCHEMA = Schema.from_dict({"name": "survey", "unit": "row", "attributes": {
    "age": {"type": "numeric", "low": 0, "high": 99, "missing": "error"},
    "ill": {"type": "boolean", "role": "class"}}})  # fmt: skip
ROWS = pa.table({"age": [18, 40, 61, 62], "ill": ["no", "no", "yes", "yes"]})


@pytest.fixture
def book(tmp_path: Path) -> BudgetLedger:
    found = BudgetLedger(tmp_path / "b.ledger")
    found.open("survey", epsilon=2, delta="1e-6")
    return found


def publish(book: BudgetLedger, rows: Any = ROWS, **more: Any) -> hedgerow.Release:
    return hedgerow.publish(rows, SCHEMA, **{"epsilon": 1, "ledger": book.path} | more)


def states(book: BudgetLedger) -> list[str]:
    return [entry.state for account in book.accounts() for entry in account.entries]


@pytest.mark.parametrize("method", [hedgerow.DiffMulti, hedgerow.DiffGen, hedgerow.CDiffGen])
@pytest.mark.parametrize("delta", [0, "1e-7"])
def test_booked_before_drawn_and_published_once_saved(
    book: BudgetLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: Any, delta: object
) -> None:
    seen = []
    refill = Keystream.refill

    def watched(stream: Keystream) -> None:
        seen.append(states(book))
        refill(stream)
        seen.append(states(book))

    monkeypatch.setattr(Keystream, "refill", watched)
    release = publish(book, method=method(), delta=delta)
    assert seen[:2] == [["reserved"], ["booked"]]
    assert states(book) == ["drawn"]
    release.save(tmp_path / "r")
    assert states(book) == ["published"]
    (account,) = book.accounts()
    assert account.left == (1, account.delta - account.entries[0].delta)
    assert account.entries[0].place == str(tmp_path / "r")
    release.save(tmp_path / "copy")  # the same release: nothing more is spent
    assert states(book) == ["published"]
    found = hedgerow.Release.load(tmp_path / "r")
    assert found == release and found.booking is None
    assert b'ledger"' in (tmp_path / "r" / "manifest.json").read_bytes()
    assert b"b.ledger" not in (tmp_path / "r" / "manifest.json").read_bytes()


def test_publishing_again_spends_again_until_nothing_is_left(book: BudgetLedger) -> None:
    publish(book)
    publish(book)
    with pytest.raises(BudgetError, match="epsilon 0 left of 2"):
        publish(book)
    assert states(book) == ["drawn", "drawn"]


def test_a_run_that_cannot_be_paid_for_opens_no_data(book: BudgetLedger, tmp_path: Path) -> None:
    with pytest.raises(BudgetError):
        publish(book, tmp_path / "none.csv", epsilon=3)
    with pytest.raises(BudgetError, match="no data set"):
        publish(book, tmp_path / "none.csv", dataset="another")
    with pytest.raises(ReleaseError, match="no ledger"):
        publish(book, tmp_path / "none.csv", ledger=tmp_path / "none.ledger")


def test_what_was_booked_while_data_was_read_is_seen(
    book: BudgetLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hedgerow.counting import pick_engine

    def slow(*words: Any, **more: Any) -> Any:
        monkeypatch.undo()
        publish(book, epsilon="1.5")
        return pick_engine.collect(*words, **more)

    monkeypatch.setattr(pick_engine, "collect", slow)
    with pytest.raises(BudgetError, match="0.5 left"):
        publish(book)
    assert states(book) == ["drawn"]


def test_data_that_breaks_a_rule_costs_nothing(book: BudgetLedger) -> None:
    with pytest.raises(DataError):
        publish(book, pa.table({"age": [18, None], "ill": ["no", "no"]}))
    assert states(book) == []


def test_a_failure_before_the_first_draw_is_given_back(
    book: BudgetLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def burst(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("hedgerow.methods.marginals.buy_rows", burst)
    with pytest.raises(MemoryError):
        publish(book)
    assert states(book) == ["withdrawn"]
    assert book.accounts()[0].left[0] == 2


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_a_failure_after_the_first_draw_stays_spent(
    book: BudgetLedger, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    refill = Keystream.refill

    def burst(stream: Keystream) -> None:
        refill(stream)
        raise error

    monkeypatch.setattr(Keystream, "refill", burst)
    with pytest.warns(LedgerWarning, match="stays booked as release 1"), pytest.raises(error):
        publish(book)
    assert states(book) == ["booked"] and book.accounts()[0].left[0] == 1


def test_a_book_that_cannot_note_the_saving(book: BudgetLedger, tmp_path: Path) -> None:
    release = publish(book)
    book.path.unlink()
    with pytest.warns(LedgerWarning, match="counts as spent all the same"):
        release.save(tmp_path / "r")
    assert hedgerow.verify(tmp_path / "r").ok


def test_a_run_that_could_not_save_does_not_pay_for_another(
    book: BudgetLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have failed because of what it drew, so it is spent, whoever writes there next."""

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("hedgerow.release.base.Release._manifest", full)
        with pytest.warns(LedgerWarning, match="stays booked"), pytest.raises(ReleaseError):
            publish(book, out=tmp_path / "r")
    assert states(book) == ["drawn"] and book.accounts()[0].entries[0].ended == "not saved"
    publish(book, out=tmp_path / "r", ledger=None)
    words: Any = {"method": "diffmulti", "unit": "row", "place": tmp_path / "r"}
    assert not book.add("survey", Budget.of(1), **words).noted
    assert states(book) == ["drawn", "published"] and book.accounts()[0].left[0] == 0


def test_a_run_that_was_stopped_when_it_had_saved_is_noted_later(
    book: BudgetLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr("hedgerow.release.files.note_saved", stopped)
        with (
            pytest.warns(LedgerWarning, match="written before the run ended") as told,
            pytest.raises(KeyboardInterrupt),
        ):
            publish(book, out=tmp_path / "r")
    (place,) = {getline(one.filename, one.lineno).strip() for one in told}
    assert place.startswith("return hedgerow.publish(")  # where it was asked for
    words: Any = {"method": "diffmulti", "unit": "row", "place": tmp_path / "r"}
    assert book.add("survey", Budget.of(1), **words).noted
    assert states(book) == ["published"] and book.accounts()[0].left[0] == 1


def test_seeded_runs_are_not_booked(book: BudgetLedger) -> None:
    with pytest.raises(UsageError, match="not private"):
        publish(book, seed=1)
    assert states(book) == []


def test_a_data_set_without_a_ledger() -> None:
    with pytest.raises(UsageError, match="no ledger"):
        hedgerow.publish(ROWS, SCHEMA, dataset="survey")


def test_people_are_booked_as_people(book: BudgetLedger) -> None:
    people = Schema.from_dict(SCHEMA.to_dict() | {"unit": "person", "attributes": {
        "who": {"role": "person", "max_rows": 2}, **SCHEMA.to_dict()["attributes"]}})  # fmt: skip
    rows = ROWS.append_column("who", pa.array(["a", "a", "b", "c"]))
    hedgerow.publish(rows, people, epsilon=1, ledger=book.path)
    (entry,) = book.accounts()[0].entries
    assert (entry.unit, entry.epsilon) == ("person by who", 1)  # not the half that a row may lose
    with pytest.raises(BudgetError, match="do not add up"):
        publish(book)


def test_the_book_holds_nothing_of_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget_ledger, "_now", lambda: "2026-01-01T00:00:00+00:00")
    # the one random number: made when the budget is reserved, by what never saw the data
    monkeypatch.setattr(budget_ledger, "unique_id", lambda: "5" * 32)
    contents = []
    for name, rows in (("a", ROWS), ("b", ROWS.slice(0, 1))):
        book = BudgetLedger(tmp_path / name)
        book.open("survey", epsilon=2)
        release = publish(book, rows)
        contents.append(book.path.read_bytes())
        release.save(tmp_path / "r", overwrite=True)
        with closing(sqlite3.connect(book.path)) as file:
            (digest,) = file.execute("SELECT digest FROM entries").fetchone()
        # what is noted when it was saved is the hash of what was published
        manifest = (tmp_path / "r" / "manifest.json").read_bytes()
        assert digest == hashlib.sha256(manifest).hexdigest()
    assert contents[0] == contents[1]


@pytest.mark.parametrize("kind", ["table", "transactions"])
def test_a_schema_that_states_no_unit_is_refused_before_data_is_opened(
    book: BudgetLedger, kind: str
) -> None:
    schema = replace(SCHEMA, unit=None)
    if kind == "transactions":
        schema = Schema(name="survey", items=Items(("tea", "milk")))
    with pytest.raises(SchemaError, match="does not state its unit") as caught:
        hedgerow.publish("no such file", schema, epsilon=1, ledger=book.path)
    assert "`unit: row`" in str(caught.value.hint) and "`unit: person`" in str(caught.value.hint)
    assert states(book) == []


def test_a_release_carries_its_unit_and_an_older_one_is_read_without(tmp_path: Path) -> None:
    release = hedgerow.publish(ROWS, SCHEMA, epsilon=1)
    release.save(tmp_path / "new")
    assert hedgerow.Release.load(tmp_path / "new").schema.unit == "row"
    assert release.guarantee["unit_of_protection"] == "one row is one person"
    older = replace(release, schema=replace(SCHEMA, unit=None))
    older.save(tmp_path / "old")
    manifest = json.loads((tmp_path / "old" / "manifest.json").read_text(encoding="utf-8"))
    assert "unit" not in manifest["schema"]
    again = hedgerow.Release.load(tmp_path / "old")
    assert again.schema.unit is None and hedgerow.verify(again).ok
    assert again.count("everybody")


@pytest.mark.slow
def test_transactions_of_rows_and_of_people() -> None:
    rows = pa.table({"who": ["a", "a", "b"], "what": ["tea", "milk", "tea"]})
    people = Schema(
        name="s", items=Items(("tea", "milk"), person="who", item="what"), unit="person"
    )
    lists = Schema(name="s", items=Items(("tea", "milk")), unit="row")
    by_person = hedgerow.publish(rows, people, epsilon=1)
    by_row = hedgerow.publish(pa.table({"x": [["tea"], ["milk"]]}), lists, epsilon=1)
    for release, whom in ((by_person, "one value of who is one person"), (by_row, "one record")):
        assert release.guarantee["unit_of_protection"].startswith(whom)
    assert by_person.schema.to_dict()["unit"] == "person"
    assert by_row.schema.to_dict()["unit"] == "row"


def test_progress_goes_from_nothing_to_all() -> None:
    shares: list[float] = []
    hedgerow.publish(sample.people(300), sample.schema(), epsilon=1, progress=shares.append)
    assert shares == sorted(shares) and 0 <= shares[0] < 0.6 and shares[-1] <= 1
