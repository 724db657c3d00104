"""Attributes that nearly identify people in the data: something for the steward to hear.

What is found here depends on private data. It is told to whoever holds the data, and must not
become part of a release, nor change one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Ints
from hedgerow.schema.attributes import Attribute, Numeric
from hedgerow.table.encode import Codes
from hedgerow.table.rules import other_code
from hedgerow.table.stream import Encoded

if TYPE_CHECKING:
    from hedgerow.schema import Schema

__all__ = ["OwnValues", "holders"]

_ROWS = 30  # in fewer rows, differing says little
_GRID = 1000  # on a smaller grid, numbers of a small table differ by chance


class OwnValues:
    """Finds attributes of which most rows have a value that is nobody else's.

    Values are compared as codes, so on the grid and the leaves that the schema gives. Missing
    values, and others that became `other`, are left out.

    Args:
        schema: The public schema.
        attributes: The attributes that are published, in the order of the codes.

    Example:
        >>> from fractions import Fraction
        >>> from hedgerow.schema import Schema
        >>> from hedgerow.table.rules import Report
        >>> number = Numeric("number", low=Fraction(0), high=Fraction(9999), step=Fraction(1),
        ...     kind="integer")
        >>> seen = OwnValues(Schema("x", (number,), unit="row"), [number])
        >>> seen.add(Encoded(columns=[np.arange(40)], rows=40, people=None, report=Report()))
        >>> [attribute.name for attribute in seen.found()]
        ['number']
    """

    def __init__(self, schema: Schema, attributes: Sequence[Attribute]) -> None:
        most = 1 if schema.person is None else schema.person.max_rows
        self._held = [_Held(attribute, most) for attribute in attributes]
        self._rows = 0

    def add(self, batch: Encoded) -> None:
        """Looks at the rows of a batch."""
        if all(held.full for held in self._held):
            return
        who = holders(batch, self._rows)
        self._rows += batch.rows
        for held, codes in zip(self._held, batch.columns, strict=True):
            held.add(codes, who)

    def found(self) -> list[Attribute]:
        """The attributes that nearly identify people."""
        return [held.attribute for held in self._held if held.tells_apart()]

    def warnings(self, what: str) -> list[str]:
        """What a steward should hear; neither a value nor a number of rows is named.

        Args:
            what: How messages call the data.
        """
        return [
            f"{what}, column {attribute.name!r}: most rows have a value that nobody else has, so "
            "it nearly identifies people, and a release can say little about it. If it names or "
            "numbers people, write `role: identifier`, or `role: person` with `max_rows` if a "
            f"person can have several rows. Otherwise {_coarser(attribute)}."
            for attribute in self.found()
        ]


def holders(batch: Encoded, rows: int) -> Ints:
    """Numbers that tell apart whom the rows of a batch are about.

    Args:
        batch: The rows.
        rows: How many there were in batches before; without a person each is one.
    """
    if batch.people is None:
        return np.arange(rows, rows + batch.rows, dtype=np.int64)
    return _hashes(batch.people)


def _hashes(people: Any) -> Ints:
    """Numbers that identify people, but for a coincidence that does not matter here."""
    ids = people.cast(pa.string()).dictionary_encode()
    hashes = np.array([hash(text) for text in ids.dictionary.to_pylist()], np.int64)
    found: Ints = hashes[ids.indices.to_numpy(zero_copy_only=False)]
    return found


def _coarser(attribute: Attribute) -> str:
    if isinstance(attribute, Numeric):
        return "give it a coarser step"
    return "give it fewer values: groups that a taxonomy has, instead of its leaves"


class _Held:
    """For each code of an attribute, how many rows have it and whether they are one person's."""

    def __init__(self, attribute: Attribute, most: int) -> None:
        self.attribute = attribute
        has_other = "other" in (attribute.missing, attribute.outside)
        self._other = other_code(attribute) if has_other else None
        self._enough = 2 * attribute.size * most
        self._seen = 0
        self._count = np.zeros(attribute.size, np.uint32)
        self._holder = np.zeros(attribute.size, np.int64)
        self._shared = np.zeros(attribute.size, bool)

    @property
    def full(self) -> bool:
        """Whether there are too few values for most of so many rows to have one of their own."""
        return self._seen > self._enough

    def add(self, codes: Codes, who: Ints) -> None:
        if self._other is not None:
            known = codes != self._other
            codes, who = codes[known], who[known]
        self._seen += len(codes)
        if self.full:
            return
        new = self._count[codes] == 0
        self._holder[codes[new]] = who[new]  # of several rows, the last one's
        self._shared[codes[self._holder[codes] != who]] = True
        np.add.at(self._count, codes, np.uint32(1))

    def tells_apart(self) -> bool:
        if self.full or self._seen < _ROWS:
            return False
        own = (self._count > 0) & ~self._shared
        rows = int(self._count[own].sum())
        if 2 * int(own.sum()) < _ROWS or 2 * rows <= self._seen:
            return False
        fine = not isinstance(self.attribute, Numeric) or self.attribute.grid >= _GRID
        return fine or rows == self._seen
