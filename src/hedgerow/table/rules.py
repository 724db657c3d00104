"""What becomes of a value that has no code: an error, the "other" leaf, a bound, or a drop.

Each rule is public and looks at one record alone, so two tables that differ in one record still
differ in one record at most when it has been applied.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import DataError
from hedgerow.schema.attributes import OTHER, Attribute, Categorical, Numeric
from hedgerow.table.encode import ABOVE, BELOW, MISSING, STRANGE, Codes
from hedgerow.table.source import Source

__all__ = ["Report", "apply_rules"]

_PLACES = 3  # named for each column and rule; more would begin to count records
_COMPLAINTS = 10


@dataclass
class Report:
    """Collects where a rule says "error", to be raised when all of the input has been seen."""

    places: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def note(self, column: str, what: str, rows: NDArray[np.int64]) -> None:
        """Remembers the first few rows at which a column broke a rule."""
        known = self.places.setdefault((column, what), [])
        known.extend(int(row) for row in rows[: _PLACES - len(known)])

    def check(self, source: Source, attributes: dict[str, Attribute]) -> None:
        """Raises a DataError if anything was noted.

        Args:
            source: Knows the lines of the rows.
            attributes: The attributes by column.
        """
        if not self.places:
            return
        shown = list(self.places.items())[:_COMPLAINTS]
        # One call, since finding lines means going through a file again.
        rows = sorted({row for _, places in shown for row in places})
        words = dict(zip(rows, source.places(rows), strict=True))
        lines, ways = [], []
        for (column, what), places in shown:
            attribute = attributes[column]
            where = ", ".join(words[row] for row in places)
            lines.append(f"\n  column {column!r}, {where}: {_complaint(attribute, what)}")
            ways.append(f"`{what}: {_way(attribute, what)}`")
        choices = " or ".join(dict.fromkeys(ways))
        raise DataError(
            f"{source.what} breaks the schema (the first places are named):{''.join(lines)}",
            hint="Mend the data or the domain, or let the schema say what is to happen there, "
            f"such as {choices} (`drop` leaves the record out).",
        )


def _complaint(attribute: Attribute, what: str) -> str:
    if what == "missing":
        if attribute.outside == "clip":
            return "there is no number to clip, and the schema says `missing: error`"
        return "the value is missing, and the schema says `missing: error`"
    if isinstance(attribute, Categorical):
        return "the value is not a leaf of the taxonomy, and the schema says `outside: error`"
    span = f"{attribute.edge(0)} to {attribute.edge(attribute.grid)}"
    sort = {"integer": "an integer", "decimal": "a number", "date": "a date like 2024-01-31"}
    return (
        f"the value is not {sort[attribute.kind]} from {span}, "
        f"and the schema says `outside: {attribute.outside}`"
    )


def _way(attribute: Attribute, what: str) -> str:
    clips = what == "outside" and isinstance(attribute, Numeric)
    return "clip" if clips else "other"


def apply_rules(
    attribute: Attribute, codes: Codes, report: Report, first_row: int
) -> NDArray[np.bool_] | None:
    """Applies an attribute's rules to freshly encoded codes, in place.

    Args:
        attribute: Whose codes these are.
        codes: Codes; those below zero are given a proper one (0 where the record goes).
        report: Takes the places of errors.
        first_row: The row number of the first code.

    Returns:
        Which records must go, or None if all may stay.
    """
    if not codes.size or codes.min() >= 0:
        return None
    if isinstance(attribute, Numeric) and attribute.outside == "clip":
        codes[codes == BELOW] = 0
        codes[codes == ABOVE] = attribute.grid - 1
        # Text that is no number has no nearest bound: nothing is known, as if it were missing.
        codes[codes == STRANGE] = MISSING
    gone = np.zeros(codes.shape, bool)
    for what, rule, bad in (
        ("missing", attribute.missing, codes == MISSING),
        ("outside", attribute.outside, codes < MISSING),
    ):
        if not bad.any():
            continue
        if rule == "other":
            codes[bad] = _other(attribute)
            continue
        if rule == "error":
            report.note(attribute.name, what, np.flatnonzero(bad) + first_row)
        codes[bad] = 0
        gone |= bad
    return gone if gone.any() else None


def _other(attribute: Attribute) -> int:
    if isinstance(attribute, Numeric):
        return attribute.grid
    return attribute.taxonomy.leaves.index(OTHER)
