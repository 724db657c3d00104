"""Every error a user can meet: one base, few children, each with the way out.

A message names the file, line, row, column and rule; it never holds a value from somebody's
record, nor a total over records.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = [
    "ArgumentError",
    "BudgetError",
    "DataError",
    "DataWarning",
    "HedgerowError",
    "InputError",
    "LeakError",
    "LedgerWarning",
    "ReleaseError",
    "SchemaError",
    "UnverifiableError",
    "UsageError",
]

# What a terminal would obey: a message may quote a file or a query of anybody.
_OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f]")


class HedgerowError(Exception):
    r"""Base of all errors that are the user's to mend.

    Args:
        message: What is wrong, and where.
        hint: What to do about it, as an imperative sentence.
        places: What it is about: paths of keys in a schema file, such as
            `("attributes", "age", "low")`, or names of options, such as `("epsilon",)`.

    Example:
        >>> str(UsageError("epsilon must be positive", hint="Try --epsilon 1."))
        'epsilon must be positive\n  Try --epsilon 1.'
    """

    exit_code = 1

    def __init__(
        self, message: str, hint: str | None = None, places: Iterable[tuple[str, ...]] = ()
    ) -> None:
        self.places = tuple(dict.fromkeys(places))
        self.message = _escape(message)
        self.hint = None if hint is None else _escape(hint)
        super().__init__(self.message if hint is None else f"{self.message}\n  {self.hint}")

    def __reduce__(self) -> tuple[type[HedgerowError], tuple[object, ...]]:
        """How it travels from another process."""
        return type(self), (self.message, self.hint, self.places)


def _escape(text: str) -> str:
    """The text with control characters written out, but for line breaks."""
    return _OBEYED.sub(lambda match: repr(match[0])[1:-1], text)


class UsageError(HedgerowError):
    """A setting or argument is outside what it may be."""

    exit_code = 2


class ArgumentError(UsageError, TypeError):
    """A function was called with arguments that it does not have, or without some that it needs."""


class SchemaError(HedgerowError):
    """The schema or a taxonomy file is wrong, still a draft, or states no unit of protection."""

    exit_code = 3


class DataError(HedgerowError):
    """The private input breaks a rule of the schema, or cannot be read."""

    exit_code = 4


class InputError(DataError, ValueError):
    """A `DataError` where scikit-learn's own tools look for a ValueError."""


class DataWarning(UserWarning):
    """Something odd about the private input, for the eyes of whoever holds it alone."""


class BudgetError(HedgerowError):
    """More privacy budget was asked for than there is."""

    exit_code = 5


class LedgerWarning(UserWarning):
    """What became of a release, or of its entry in a ledger, where a steward might be mistaken."""


class ReleaseError(HedgerowError):
    """A release cannot be written, read or trusted."""

    exit_code = 6


class UnverifiableError(ReleaseError):
    """A release cannot be verified here: its method, schedule or score is not installed."""

    exit_code = 7


class LeakError(RuntimeError):
    """Our own bug: code outside a mechanism tried to look at exact data."""
