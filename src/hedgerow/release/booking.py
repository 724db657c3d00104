"""The entry that a release has in a budget ledger, as far as a release knows it."""

from __future__ import annotations

import os
import warnings
from typing import Protocol

from hedgerow.errors import HedgerowError, LedgerWarning
from hedgerow.release.manifest import Document

__all__ = ["Booking", "note_saved"]


class Booking(Protocol):
    """The entry that a release has in a budget ledger, which is kept elsewhere."""

    def mark_published(self, place: str | os.PathLike[str]) -> None:
        """Notes that the release was saved."""

    def note_end(self, words: str) -> None:
        """Notes that the release was not saved, and why."""

    def facts(self) -> Document:
        """The entry, and what it leaves to other releases."""


def note_saved(booking: Booking | None, path: str | os.PathLike[str]) -> None:
    """Notes in the ledger, if there is one, that a release was saved.

    Call it after the release was written. It was paid for when it was booked, so a ledger that
    cannot be written now is worth a warning and no more.
    """
    if booking is None:
        return
    try:
        booking.mark_published(path)
    except HedgerowError as error:
        warnings.warn(
            f"{path} was written, but the ledger could not note it and still calls it booked. "
            f"It counts as spent all the same. ({error.message})",
            LedgerWarning,
            stacklevel=3,
        )
