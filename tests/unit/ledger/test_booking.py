"""The steps of an entry: what counts, what is swept, what a person may give back."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from hedgerow.errors import BudgetError, ReleaseError, UsageError
from hedgerow.ledger.ledger import Booking, BudgetLedger
from hedgerow.privacy.budget import Budget

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.fixture
def book(tmp_path: Path) -> BudgetLedger:
    found = BudgetLedger(tmp_path / "b.ledger")
    found.open("clinic", epsilon=1)
    return found


def reserve(book: BudgetLedger, epsilon: str = "0.5") -> Booking:
    return book.reserve("clinic", Budget.of(epsilon), method="m", unit="row")


def state(book: BudgetLedger, number: int = 1) -> str:
    return book.accounts()[0].entries[number - 1].state


def in_a_process_that_is_killed(work: Callable[[], object]) -> None:
    pid = os.fork()
    if not pid:
        try:
            work()
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)


def test_a_reservation_counts_while_its_run_lives(book: BudgetLedger) -> None:
    booking = reserve(book, "0.8")
    assert state(book) == "reserved"
    with pytest.raises(BudgetError, match=r"0\.2 left"):
        reserve(book, "0.5")
    booking.begin_drawing()
    booking.hand_over()
    assert state(book) == "drawn"


def test_a_run_that_forgot_its_reservation_drew_nothing(book: BudgetLedger) -> None:
    reserve(book, "0.8")
    assert state(book) == "withdrawn"
    assert [path.name for path in book.path.parent.iterdir()] == ["b.ledger"]


@needs_fork
def test_a_run_that_was_killed_before_it_drew_costs_nothing(book: BudgetLedger) -> None:
    kept: list[Booking] = []
    in_a_process_that_is_killed(lambda: kept.append(reserve(book, "0.8")))
    assert (book.path.parent / ".b.ledger.run-1").exists()  # a killed run cannot clear up
    booking = reserve(book, "0.8")  # the next one does, and has the whole budget
    assert (state(book), state(book, 2)) == ("withdrawn", "reserved")
    assert not (book.path.parent / ".b.ledger.run-1").exists()
    booking.withdraw()
    assert [path.name for path in book.path.parent.iterdir()] == ["b.ledger"]


@needs_fork
def test_a_run_that_was_killed_while_it_drew_stays_booked(book: BudgetLedger) -> None:
    in_a_process_that_is_killed(lambda: reserve(book, "0.8").begin_drawing())
    assert state(book) == "booked"
    with pytest.raises(BudgetError):
        reserve(book)


def test_a_run_whose_entry_was_swept_draws_nothing(book: BudgetLedger) -> None:
    """Soundness does not hang on knowing which processes live."""
    booking = reserve(book)
    os.unlink(book.path.parent / ".b.ledger.run-1")  # as if nobody could see the lock
    assert state(book) == "withdrawn"
    with pytest.raises(ReleaseError, match="draws nothing"):
        booking.begin_drawing()
    with pytest.raises(ReleaseError):
        booking.hand_over()
    assert state(book) == "withdrawn"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("reserved", "drawn"), ("reserved", "published"), ("reserved", "returned"),
        ("booked", "reserved"), ("booked", "published"), ("drawn", "withdrawn"),
        ("drawn", "returned"), ("drawn", "booked"), ("published", "returned"),
        ("withdrawn", "booked"), ("returned", "booked"), ("returned", "drawn"),
    ],
)  # fmt: skip
def test_the_file_refuses_every_other_step(book: BudgetLedger, before: str, after: str) -> None:
    booking = reserve(book)
    if before != "reserved":
        if before == "withdrawn":
            booking.withdraw()
        else:
            booking.begin_drawing()
    if before == "returned":
        booking.note_end("interrupted")
        book.give_back(1, reason="the battery was empty")
    if before in ("drawn", "published"):
        booking.hand_over()
    if before == "published":
        booking.mark_published("r")
    assert state(book) == before
    file = sqlite3.connect(book.path)
    with pytest.raises(sqlite3.IntegrityError, match="never"):
        file.execute(f"UPDATE entries SET state = '{after}'")
    file.close()


def test_what_a_person_may_give_back(book: BudgetLedger) -> None:
    booking = reserve(book, "0.8")
    with pytest.raises(UsageError, match="still going on"):
        book.give_back(1, reason="I pressed Ctrl-C")
    booking.begin_drawing()
    with pytest.raises(UsageError, match="still going on"):
        book.give_back(1, reason="I pressed Ctrl-C")
    booking.note_end("interrupted")
    with pytest.raises(UsageError, match="reason"):
        book.give_back(1, reason=" ")
    account = book.give_back(1, reason="the machine had to be moved")
    assert account.left[0] == 1 and account.entries[0].state == "returned"
    (change,) = account.history
    assert (change.kind, change.entry) == ("returned", 1)
    assert change.reason == "the machine had to be moved"
    with pytest.raises(UsageError, match="already"):
        book.give_back(1, reason="again")
    with pytest.raises(ReleaseError):  # were the run alive after all, nobody would see its outcome
        booking.hand_over()


@pytest.mark.parametrize(
    ("close", "words"),
    [
        (lambda booking: booking.note_end("failed: MemoryError"), "failed by itself"),
        (lambda booking: (booking.hand_over(), booking.hold.close()), "handed over"),
        (lambda booking: booking.mark_published("r"), "was published"),
        (lambda booking: booking.withdraw(), "counts for nothing"),
    ],
)
def test_what_nobody_may_give_back(
    book: BudgetLedger, close: Callable[[Booking], object], words: str
) -> None:
    booking = reserve(book)
    booking.begin_drawing()
    close(booking)
    before = book.accounts()
    with pytest.raises(UsageError, match=words):
        book.give_back(1, reason="it was stopped")
    with pytest.raises(UsageError, match="no release 2"):
        book.give_back(2, reason="it was stopped")
    assert book.accounts() == before


def test_a_booking_shows_no_handle_of_the_file(book: BudgetLedger) -> None:
    booking = reserve(book)
    assert "hold" not in repr(booking)
    booking.withdraw()


def test_facts_for_machines(tmp_path: Path) -> None:
    book = BudgetLedger(tmp_path / "b.ledger")
    book.open("clinic", epsilon=1, delta="1e-6")
    booking = book.book("clinic", Budget.of("0.25", "1e-7"), method="m", unit="row")
    assert booking.facts() == {
        "file": str(book.path),
        "dataset": "clinic",
        "release": 1,
        "epsilon_left": "3/4",
        "delta_left": "9/10000000",
    }
