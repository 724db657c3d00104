"""The entry of a run in an budget ledger, from before it draws until its release is saved.

    reserved -> booked -> drawn -> published
        |          |
        |          +-> returned (a person gave it back)
        +-> withdrawn (nothing was drawn)

Each step is one transaction, and the file refuses every other step. Random words are made, then the
entry becomes `booked`, then the words can be used (`Keystream.before_use`). So whatever used a word
is booked, and whatever is booked has read the random source. A `reserved` entry whose process is
gone never used a word, and the next look at the ledger withdraws it. That look may be mistaken
about the process: a run whose entry was withdrawn cannot make it `booked` any more, and draws
nothing.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from hedgerow.disk import Hold
from hedgerow.errors import HedgerowError, ReleaseError
from hedgerow.privacy.budget_ledger import file as book_file
from hedgerow.privacy.budget_ledger.rules import check_text, digest_of
from hedgerow.suggestions import check_fields

__all__ = ["Booking", "Notes", "as_text", "mark_replaced"]


def as_text(place: str | os.PathLike[str]) -> str:
    """A folder for the ledger; its name may hold bytes that are not text."""
    return os.fsencode(Path(place).absolute()).decode("utf-8", "replace")


@dataclass(frozen=True, kw_only=True)
class Notes:
    """What is noted with a release for those who read the ledger later.

    Args:
        place: The folder that the release is to be saved to.
        recipient: For whom it is made.
        purpose: What for.
    """

    place: str | os.PathLike[str] | None = None
    recipient: str | None = None
    purpose: str | None = None

    def __post_init__(self) -> None:
        """Refuses notes that cannot be meant."""
        check_fields(self)

    def texts(self) -> tuple[str | None, str | None]:
        """Recipient and purpose as the ledger records them."""
        words = {"recipient": self.recipient, "purpose": self.purpose}
        first, second = (
            None if text is None else check_text(what, text) for what, text in words.items()
        )
        return first, second


@dataclass(frozen=True, kw_only=True)
class Booking:
    """An entry that was just made.

    Args:
        path: The file of the ledger.
        dataset: The name of the data set.
        number: The number of the entry.
        booked: When it was made.
        left: What it leaves to other releases.
        release_id: What the manifest is to call the release, so that the entry is found again.
        hold: The lock that tells others that its run is alive.
        noted: Whether the entry was there already and was only completed.
    """

    path: Path
    dataset: str
    number: int
    booked: str
    left: tuple[Fraction, Fraction]
    release_id: str | None = None
    hold: Hold | None = field(default=None, repr=False, compare=False)
    noted: bool = False

    def begin_drawing(self) -> None:
        """Notes that random words are about to be used. Use none if it raises.

        Raises:
            ReleaseError: If the ledger cannot be written, or another program withdrew the entry.
        """
        with book_file.transaction(self.path, writes=True) as file:
            if self._state(file) != "reserved":
                raise ReleaseError(
                    f"release {self.number} of {self.dataset!r} was withdrawn in {self.path} by a "
                    "program that did not see this run, so it draws nothing",
                    hint="Run it again. Keep budget ledgers on a disk of this machine: others may "
                    "not lock files.",
                )
            self._move(file, "booked")

    def hand_over(self) -> None:
        """Notes that the outcome is complete. Show it to nobody before.

        Raises:
            ReleaseError: If the ledger cannot be written, or the entry was given back meanwhile.
        """
        with book_file.transaction(self.path, writes=True) as file:
            state = self._state(file)
            if state == "reserved":
                self._move(file, "booked")
            elif state != "booked":
                raise book_file.damaged(self.path, "this run was closed before it ended")
            self._move(file, "drawn")

    def mark_published(self, place: str | os.PathLike[str]) -> None:
        """Notes that the release was saved, and which one it replaced. It was paid for before.

        Raises:
            HedgerowError: If the ledger cannot be written or does not know the release.
        """
        words, digest = as_text(place), digest_of(place)
        with book_file.transaction(self.path, writes=True) as file:
            state = self._state(file)
            if state == "booked":
                self._move(file, "drawn")
            if state in ("booked", "drawn"):  # else it was saved a second time
                file.execute(
                    "UPDATE entries SET state = 'published', place = ?, digest = ? "
                    "WHERE number = ?",
                    (words, digest, self.number),
                )
            elif state != "published":
                raise book_file.damaged(self.path, f"this release is {state} there")
            mark_replaced(file, self.number, words, digest)
        self._let_go()

    def withdraw(self) -> None:
        """Takes the entry back; only for a run that drew nothing. What fails is swept later."""
        with suppress(HedgerowError), book_file.transaction(self.path, writes=True) as file:
            if self._state(file) in ("reserved", "booked"):
                self._move(file, "withdrawn")
        self._let_go()

    def note_end(self, words: str) -> None:
        """Notes how the run ended before its release was saved, if that is possible."""
        with suppress(HedgerowError), book_file.transaction(self.path, writes=True) as file:
            if self._state(file) in ("booked", "drawn"):
                file.execute("UPDATE entries SET ended = ? WHERE number = ?", (words, self.number))
        self._let_go()

    def facts(self) -> dict[str, Any]:
        """The booking for machines, with what it leaves."""
        return {
            "file": str(self.path),
            "dataset": self.dataset,
            "release": self.number,
            "epsilon_left": str(self.left[0]),
            "delta_left": str(self.left[1]),
        }

    def _state(self, file: Any) -> str:
        # the time is compared too, in case the file was replaced by an older copy of itself
        found = file.execute(
            "SELECT state FROM entries WHERE number = ? AND booked = ?", (self.number, self.booked)
        ).fetchone()
        if found is None:
            raise book_file.damaged(self.path, "it does not know this release any more")
        return str(found[0])

    def _move(self, file: Any, state: str) -> None:
        file.execute("UPDATE entries SET state = ? WHERE number = ?", (state, self.number))

    def _let_go(self) -> None:
        if self.hold is not None:
            self.hold.close()


def mark_replaced(file: Any, number: int, place: str, digest: str | None) -> None:
    """Notes that the releases which lay at a place were replaced; they still count."""
    for other, there in file.execute(
        "SELECT number, place FROM entries WHERE state = 'published' AND replaced IS NULL "
        "AND number <> ? AND place IS NOT NULL AND (digest IS NULL OR digest IS NOT ?)",
        (number, digest),
    ).fetchall():
        if os.path.realpath(there) == os.path.realpath(place):
            file.execute("UPDATE entries SET replaced = ? WHERE number = ?", (number, other))
