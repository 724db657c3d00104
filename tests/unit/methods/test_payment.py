"""What becomes of an entry when its run ends at this moment or at that."""

from __future__ import annotations

from pathlib import Path

import pytest

from hedgerow.errors import LedgerWarning, ReleaseError
from hedgerow.ledger import ledger as booking_module
from hedgerow.ledger.ledger import Booking, BudgetLedger
from hedgerow.methods.api import drawing, payment
from hedgerow.privacy.budget import Budget
from hedgerow.schema import Schema

SCHEMA = Schema.from_dict(
    {"name": "clinic", "unit": "row", "attributes": {"ill": {"type": "boolean"}}}
)


@pytest.fixture
def book(tmp_path: Path) -> BudgetLedger:
    found = BudgetLedger(tmp_path / "b.ledger")
    found.open("clinic", epsilon=1)
    return found


def pay(book: BudgetLedger):
    return payment(book.path, None, SCHEMA, "m", Budget.of(1), None)


def entry(book: BudgetLedger) -> tuple[str, str | None]:
    (found,) = book.accounts()[0].entries
    return found.state, found.ended


def test_an_outcome_is_handed_over_after_the_ledger_knows(book: BudgetLedger) -> None:
    with drawing(pay(book), None) as (stream, _):
        assert entry(book)[0] == "reserved"
        stream.bits(1)
        assert entry(book)[0] == "booked"
    assert entry(book)[0] == "drawn"


@pytest.mark.parametrize(
    ("error", "ended"),
    [(KeyboardInterrupt(), "interrupted"), (KeyError("a name"), "failed: KeyError")],
)
def test_how_a_run_ended_is_noted_without_its_words(book, error, ended) -> None:
    with (
        pytest.warns(LedgerWarning, match="stays booked") as warned,
        pytest.raises(type(error)),
        drawing(pay(book), None) as (stream, _),
    ):
        stream.bits(1)
        raise error
    assert entry(book) == ("booked", ended)
    assert ("--give-back" in str(warned[0].message)) is (ended == "interrupted")


def test_an_interrupt_just_after_it_was_booked_and_before_a_word_was_used(
    book: BudgetLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = Booking.begin_drawing

    def interrupted(one: Booking) -> None:
        begin(one)
        raise KeyboardInterrupt

    monkeypatch.setattr(Booking, "begin_drawing", interrupted)
    with pytest.raises(KeyboardInterrupt), drawing(pay(book), None) as (stream, _):
        stream.bits(1)
    assert entry(book) == ("withdrawn", None)
    assert book.accounts()[0].left[0] == 1


def test_an_outcome_that_the_ledger_does_not_hear_of_is_shown_to_nobody(
    book: BudgetLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ReleaseError("the disk is full")

    with (
        pytest.warns(LedgerWarning),
        pytest.raises(ReleaseError, match="disk is full"),
        drawing(pay(book), None) as (stream, _),
    ):
        stream.bits(1)
        monkeypatch.setattr(booking_module.book_file, "transaction", refuse)
    monkeypatch.undo()
    assert entry(book)[0] == "booked"
