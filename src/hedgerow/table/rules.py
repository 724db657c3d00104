"""What becomes of a value that has no code: an error, the "other" leaf, a bound, or a drop.

Each rule is public and looks at one record alone, so two tables that differ in one record still
differ in one record at most when it has been applied.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hedgerow.arrays import Bools, Ints
from hedgerow.errors import DataError
from hedgerow.schema.attributes import OTHER, Attribute, Categorical, Numeric
from hedgerow.table.encode import Codes
from hedgerow.table.notation import ABOVE, BELOW, MISSING, STRANGE, WAYS
from hedgerow.table.readers.source import Source

__all__ = ["Report", "apply_rules", "other_code"]

_PLACES = 3  # named for each column and rule; more would begin to count records
_COMPLAINTS = 10
_KINDS = _MISSING, _STRANGE, _OUTSIDE, _FINE = ("missing", "strange", "outside", "fine")
_DATE = "Dates are written year-month-day, such as 2024-01-31, or as `format:` declares."


@dataclass
class Report:
    """What was odd about the input: to be raised or told when all of it has been seen.

    Args:
        places: The first rows at which a column broke a rule that says "error".
        shapes: For each column, the ways of writing that the schema does not declare, and the
            first row of each.
        useful: For each column that was seen, the least odd kind of value in it.
    """

    places: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    shapes: dict[str, dict[int, int]] = field(default_factory=dict)
    useful: dict[str, str] = field(default_factory=dict)

    def look(self, column: str, codes: Codes) -> None:
        """Remembers what kinds of values a column has, before a rule changes them."""
        if not codes.size or self.useful.get(column) == _FINE:
            return
        if codes.max() >= 0:
            kind = _FINE
        elif (codes == BELOW).any() or (codes == ABOVE).any():
            kind = _OUTSIDE
        elif (codes <= STRANGE).any():
            kind = _STRANGE
        else:
            kind = _MISSING
        self.useful[column] = max(kind, self.useful.get(column, kind), key=_KINDS.index)

    def note(self, column: str, what: str, rows: Ints) -> None:
        """Remembers the first few rows at which a column broke a rule."""
        known = self.places.setdefault((column, what), [])
        known.extend(int(row) for row in rows[: _PLACES - len(known)])

    def merge(self, later: Report) -> None:
        """Adds what was noted about later rows."""
        for place, rows in later.places.items():
            known = self.places.setdefault(place, [])
            known.extend(rows[: _PLACES - len(known)])
        for column, found in later.shapes.items():
            self.shapes[column] = found | self.shapes.get(column, {})
        for column, kind in later.useful.items():
            self.useful[column] = max(kind, self.useful.get(column, kind), key=_KINDS.index)

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
        columns = dict.fromkeys(column for (column, _), _ in shown)
        told = "".join(f" {way}" for way in self._ways(*columns))
        raise DataError(
            f"{source.what} breaks the schema (the first places are named):{''.join(lines)}",
            hint="Correct the data or the domain, or state in the schema what is to happen, "
            f"such as {choices} (`drop` leaves the record out).{told}",
        )

    def warnings(self, source: Source, attributes: dict[str, Attribute]) -> list[str]:
        """What a steward should hear although no rule forbids it: columns that say nothing.

        These sentences depend on private data. They are for whoever holds the data, and must
        not become part of a release.
        """
        found = []
        # people's own weights are in columns without an attribute
        weights = dict.fromkeys(self.shapes.keys() - self.useful.keys(), _FINE)
        for column, kind in (self.useful | weights).items():
            ways = self._ways(column)
            if kind != _FINE:
                what = _nothing(attributes[column], kind)
                if kind == _STRANGE and getattr(attributes[column], "kind", None) == "date":
                    ways = ways or [_DATE]
                found.append(
                    f"{source.what}, column {column!r}: {what}, so a release will say nothing "
                    f"about it. {' '.join(['Check the data and the schema.', *ways])}"
                )
            elif ways:
                where = source.places([min(self.shapes[column].values())])[0]
                found.append(
                    f"{source.what}, column {column!r}, {where}: what is written there cannot be "
                    f"read, so the rules for odd values are followed. {' '.join(ways)}"
                )
        return found

    def _ways(self, *columns: str) -> list[str]:
        """What to declare, for what columns hold and nothing declares."""
        found: dict[int, list[str]] = {}
        for column in columns:
            for shape in self.shapes.get(column, ()):
                found.setdefault(shape, []).append(repr(column))
        return [WAYS[shape].format(", ".join(names)) for shape, names in found.items()]


def _nothing(attribute: Attribute, kind: str) -> str:
    if kind == _MISSING:
        return "every value is missing"
    if kind == _STRANGE and isinstance(attribute, Numeric):
        return f"no value can be read as a {'date' if attribute.kind == 'date' else 'number'}"
    return "no value lies in the domain that the schema gives"


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


def apply_rules(attribute: Attribute, codes: Codes, report: Report, first_row: int) -> Bools | None:
    """Applies an attribute's rules to freshly encoded codes, in place.

    Args:
        attribute: Whose codes these are.
        codes: Codes; those below zero are given a proper one (0 where the record goes).
        report: Takes the places of errors.
        first_row: The row number of the first code.

    Returns:
        Which records must go, or None if all may stay.
    """
    report.look(attribute.name, codes)
    if not codes.size or codes.min() >= 0:
        return None
    for shape in np.unique(codes[codes < STRANGE])[::-1].tolist():
        row = first_row + int(np.argmax(codes == shape))
        report.shapes.setdefault(attribute.name, {}).setdefault(shape, row)
    bands = attribute.bands if isinstance(attribute, Categorical) else None
    clips = bands is not None and bands.outside == "clip"
    codes[codes < STRANGE] = MISSING if clips else STRANGE
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
            codes[bad] = other_code(attribute)
            continue
        if rule == "error":
            report.note(attribute.name, what, np.flatnonzero(bad) + first_row)
        codes[bad] = 0
        gone |= bad
    return gone if gone.any() else None


def other_code(attribute: Attribute) -> int:
    """The code of what became `other`, of an attribute with a rule that asks for it."""
    if isinstance(attribute, Numeric):
        return attribute.grid
    return attribute.taxonomy.leaves.index(OTHER)
