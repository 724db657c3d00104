"""Private rows batch by batch: opened, matched with the schema, encoded, complained about."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Bools, Bytes, Ints
from hedgerow.data.choose import open_source
from hedgerow.data.encode import ABOVE, BELOW, MISSING, STRANGE, WAYS, Codes, encode_array
from hedgerow.data.people import WeightColumns, person_ids
from hedgerow.data.source import Source, no_records
from hedgerow.errors import DataError, DataWarning, UsageError
from hedgerow.schema.attributes import OTHER, Attribute, Categorical, Numeric

if TYPE_CHECKING:
    from hedgerow.schema import Schema

# What becomes of a value that has no code: an error, the "other" leaf, a bound, or a drop.
#
# Each rule is public and looks at one record alone, so two tables that differ in one record still
# differ in one record at most when it has been applied.


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
            places=[("attributes", column, what) for (column, what), _ in shown],
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


@dataclass(frozen=True, kw_only=True)
class Encoded:
    """The rows of one batch that stay.

    Args:
        columns: The codes of the predictors, then of the class if there is one.
        rows: How many rows stay.
        people: The ids of the persons, if the schema identifies people.
        report: What was odd about the batch.
        weights: Levels of people's own weights, if they are wanted.
        bad: The rows with a weight that a rule refuses, by column.
    """

    columns: list[Codes]
    rows: int
    people: Any
    report: Report
    weights: Bytes | None = None
    bad: dict[str, list[int]] = field(default_factory=dict)


class RowStream:
    """A private table that has been opened and matched with a schema, but not read.

    Args:
        source: Whatever `open_source` takes, or what it gave.
        schema: The public schema.
        delimiter: The delimiter of a CSV file, if its first line is not to tell it.
        weights: Columns that hold people's own weights, if they are wanted.
        line_breaks: Whether quoted values of a CSV file may hold line breaks.
        allow_empty: Whether an input without any record is in order.
    """

    def __init__(
        self,
        source: Any,
        schema: Schema,
        delimiter: str | None = None,
        weights: WeightColumns | None = None,
        line_breaks: bool = False,
        *,
        allow_empty: bool = True,
    ) -> None:
        check_schema(schema)
        known = known_columns(schema)
        self.source = (
            source
            if isinstance(source, Source)
            else open_source(
                source,
                known=known,
                delimiter=delimiter,
                line_breaks=line_breaks,
                written=schema.file,
            )  # fmt: skip
        )
        self.schema = schema
        self.attributes: list[Attribute] = [*schema.attributes]
        if schema.target is not None:
            self.attributes.append(schema.target)
        places = find_columns(self.source, schema, self.attributes)
        self.wanted = [places[attribute.name] for attribute in self.attributes]
        if schema.person is not None:
            self.wanted.append(places[schema.person.column])
        self.empty = True  # until a record was seen, whatever rules make of it
        self._allow_empty = allow_empty
        self.weights = weights
        if weights is not None:
            self.wanted += weights.places(self.source)

    def __repr__(self) -> str:
        """The name alone: a repr ends up in logs."""
        return f"RowStream({self.source.what!r})"

    def batches(self) -> Iterator[tuple[int, Any]]:
        """Batches of the wanted columns, each with the number of its first row."""
        first = 0
        for batch in self.source.batches(self.wanted):
            self.empty = self.empty and not batch.num_rows
            yield first, batch
            first += batch.num_rows

    def encode(self, item: tuple[int, Any]) -> Encoded:
        """Encodes one of the batches; threads may do so side by side."""
        first, batch = item
        report = Report()
        try:
            columns, stays = encode_columns(batch, self.attributes, report, first)
        except DataError as error:  # a column of a type that cannot be read
            raise DataError(f"{self.source.what}: {error.message}", hint=error.hint) from None
        people = None
        if self.schema.person is not None:
            people, known = person_ids(
                batch.column(len(self.attributes)), self.schema.person.column
            )
            stays = known if stays is None else stays & known
        weights, kept, bad = self._own_weights(first, batch, report)
        if kept is not None:
            stays = kept if stays is None else stays & kept
        if stays is None:
            return Encoded(
                columns=columns,
                rows=batch.num_rows,
                people=people,
                report=report,
                weights=weights,
                bad=bad,
            )
        if people is not None:
            people = people.filter(pa.array(stays))
        staying = [column[stays] for column in columns]
        own = None if weights is None else weights[stays]
        return Encoded(
            columns=staying,
            rows=int(stays.sum()),
            people=people,
            report=report,
            weights=own,
            bad=bad,
        )

    def _own_weights(
        self, first: int, batch: Any, report: Report
    ) -> tuple[Bytes | None, Bools | None, dict[str, list[int]]]:
        """Levels, which records they let stay (None: all of them), and what is refused."""
        if self.weights is None:
            return None, None, {}
        columns = self.weights.columns
        levels = np.empty((batch.num_rows, len(columns)), np.uint8)
        stays = np.ones(batch.num_rows, bool)
        refused: dict[str, list[int]] = {}
        at = len(self.wanted) - len(columns)
        for place, column in enumerate(columns):
            found = self.weights.encode(batch.column(at + place), column, self.schema.file)
            for shape, row in found.shapes.items():
                report.shapes.setdefault(column, {}).setdefault(shape, first + row)
            levels[:, place] = found.levels
            stays &= found.kept
            if found.refused.any():
                refused[column] = (np.flatnonzero(found.refused) + first).tolist()
        return levels, None if stays.all() else stays, refused

    def finish(self, report: Report) -> None:
        """Raises or warns about what was odd, when all batches have been encoded."""
        if self.empty and not self._allow_empty:
            raise no_records(self.source.what)
        by_name = {attribute.name: attribute for attribute in self.attributes}
        report.check(self.source, by_name)
        for sentence in report.warnings(self.source, by_name):
            warnings.warn(sentence, DataWarning, stacklevel=3)

    def share(self) -> float:
        """How much has been read, from 0 to 1, if that is known."""
        return 0.0 if self.source.share is None else min(1.0, self.source.share())


def encode_columns(
    batch: Any, attributes: list[Attribute], report: Report, first_row: int
) -> tuple[list[Codes], Bools | None]:
    """The codes of each column of a batch, and which rows stay (None: all of them)."""
    columns = []
    gone: Bools | None = None
    for place, attribute in enumerate(attributes):
        codes = encode_array(attribute, batch.column(place))
        dropped = apply_rules(attribute, codes, report, first_row)
        if dropped is not None:
            gone = dropped if gone is None else gone | dropped
        columns.append(codes)
    return columns, None if gone is None else ~gone


def check_schema(schema: Schema) -> None:
    """Refuses a schema of transactions."""
    if schema.items is not None:
        raise UsageError(
            "the schema describes transactions by their items, not a table by its attributes",
            hint="Read it with hedgerow.data.read_transactions, or give a schema with "
            "`attributes:`. Methods for tables do not publish transactions.",
        )


def known_columns(schema: Schema) -> set[str]:
    """The columns that a schema names."""
    names = {one.column or one.name for one in schema.columns} | set(schema.identifiers)
    if schema.person is not None:
        names.add(schema.person.column)
    return names


def find_columns(
    source: Source, schema: Schema, attributes: list[Attribute], strict: bool = True
) -> dict[str, int]:
    """Where each column stands; refuses missing ones and, if strict, ones not in the schema."""
    places = {name: place for place, name in enumerate(source.names)}
    # synthetic rows of a release have the names of attributes
    spelt = {
        one.name: one.column
        if one.column and (one.column in places or one.name not in places)
        else one.name
        for one in schema.columns
    }
    needed = [spelt[attribute.name] for attribute in attributes]
    if strict and schema.person is not None:
        needed.append(schema.person.column)
    absent = [name for name in needed if name not in places]
    known = known_columns(schema) | set(spelt.values())
    if absent and not known.intersection(places):
        # Without a header these names would be somebody's values, so none of them is shown.
        raise DataError(
            f"{source.what}: none of the schema's columns is there",
            hint="The first line of a CSV file must hold the names of the columns, spelt as in "
            "the schema. If something stands above them, such as a title, declare their line, such "
            "as `header_row: 3` below `file:`. If the delimiter is an unusual one, name it "
            "(--delimiter, delimiter=).",
            places=[("file", "header_row"), ("delimiter",)],
        )
    if absent:
        spare = [name for name in source.names if name not in known]
        near = difflib.get_close_matches(absent[0], spare, n=1)
        names = ", ".join(repr(name) for name in absent[:10])
        raise DataError(
            f"{source.what}: there is no column {names}",
            hint=f"Did you mean {near[0]!r}? Use one spelling in the data and in the schema."
            if near
            else "Add the column to the data, or take it out of the schema."
            if strict
            else "All predictors are needed. Of people of whom less is known, counts speak: write "
            "release.table(CLASS, where=..., share=True).",
        )
    extra = [name for name in source.names if name not in known]
    if strict and extra:
        names = ", ".join(repr(name) for name in extra[:10])
        raise DataError(
            f"{source.what}: the schema does not say what to do with column {names}",
            hint="Describe the column in the schema, or leave it out of the release with "
            "`role: identifier`.",
        )
    return places | {name: places[column] for name, column in spelt.items() if column in places}
