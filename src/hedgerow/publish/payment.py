"""Paying for a run from the ledger over releases: tried out first, booked before it draws."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

from hedgerow.errors import LedgerWarning, UsageError
from hedgerow.privacy.account_book import AccountBook, Booking, unit_of
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.schema import Schema

__all__ = ["close_failed", "payment"]


def payment(
    ledger: str | Path | None,
    dataset: str | None,
    schema: Schema,
    method: str,
    budget: Budget,
    seed: int | None,
) -> Callable[[], Booking | None]:
    """What books a run, once it was tried out: a run that cannot be booked does not begin.

    Call what it gives when the data was read, and before there is randomness. Without a ledger it
    books nothing.

    Example:
        >>> schema = Schema.from_dict({
        ...     "name": "s", "unit": "row", "attributes": {"ill": {"type": "boolean"}}})
        >>> payment(None, None, schema, "diffmulti", Budget.of(1), None)() is None
        True
    """
    if ledger is None:
        if dataset is not None:
            raise UsageError(
                "a data set was named, but no ledger to book it in.",
                hint="Name the ledger too (ledger=, --ledger).",
            )
        return lambda: None
    if seed is not None:
        raise UsageError(
            "a seeded run is not private, so there is nothing to book.",
            hint="Leave out the seed for a release, or the ledger for a test.",
        )
    book = AccountBook(ledger)
    unit = unit_of(schema)
    name = schema.name if dataset is None else dataset
    book.check(name, budget, method=method, unit=unit)
    return partial(book.book, name, budget, method=method, unit=unit)


def close_failed(booking: Booking | None, stream: Keystream) -> None:
    """What becomes of the entry of a run that failed: spent, unless nothing was ever drawn."""
    if booking is None:
        return
    if stream.untouched:
        booking.withdraw()
        return
    warnings.warn(
        f"This run had begun to draw noise, so it stays booked as release {booking.number} of "
        f"{booking.dataset!r} in {booking.path}.",
        LedgerWarning,
        stacklevel=3,
    )
