"""Private rows: opened, matched with a schema, encoded in batches, complained about; `Table`."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Bytes, Ints
from hedgerow.data.encode import ABOVE, BELOW, MISSING, STRANGE, WAYS, Codes, encode_array
from hedgerow.data.open_input import open_source, refuse_same_rows
from hedgerow.data.people import WeightColumns, cap_rows, person_ids, person_numbers
from hedgerow.data.source import (
    FrameKind,
    Grown,
    Private,
    Progress,
    Source,
    frame_kind,
    no_records,
    silent,
)
from hedgerow.errors import DataError, DataWarning, UsageError
from hedgerow.schema.attributes import OTHER, Attribute, Categorical, Numeric

if TYPE_CHECKING:
    from hedgerow.data.preparation import Tally
    from hedgerow.schema import Schema

# What becomes of a value that has no code: an error, the "other" leaf, a bound, or a drop.
#
# Each rule is public and looks at one record alone, so two tables that differ in one record still
# differ in one record at most when it has been applied.


_PLACES = 3  # named for each column and rule; more would begin to count records
_COMPLAINTS = 10
_MISSING, _STRANGE, _OUTSIDE, _FINE = range(4)  # kinds of values, from the worst to the best
_KIND = np.array([_FINE, _MISSING, _OUTSIDE, _OUTSIDE, _STRANGE])  # by the code below zero
_DATE = "Dates are written year-month-day, such as 2024-01-31, or as `format:` declares."


@dataclass(kw_only=True)
class Report:
    """What was odd about the input: to be raised or told when all of it has been seen.

    Args:
        places: The first rows at which a column broke a rule that says "error".
        shapes: For each column, the ways of writing that the schema does not declare, and the
            first row of each.
        kinds: For each column that was seen, how many values of each kind it has.
        refused: The first rows with a weight that a rule refuses, by column.
    """

    places: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    shapes: dict[str, dict[int, int]] = field(default_factory=dict)
    kinds: dict[str, Ints] = field(default_factory=dict)
    refused: dict[str, list[int]] = field(default_factory=dict)

    def note(self, column: str, what: str, rows: Sequence[int]) -> None:
        """Remembers the first few rows at which a column broke a rule."""
        known = self.places.setdefault((column, what), [])
        known.extend(rows[: _PLACES - len(known)])

    def merge(self, later: Report) -> None:
        """Adds what was noted about later rows."""
        for (column, what), rows in later.places.items():
            self.note(column, what, rows)
        for column, shapes in later.shapes.items():
            self.shapes[column] = shapes | self.shapes.get(column, {})
        for column, kinds in later.kinds.items():
            self.kinds[column] = self.kinds.get(column, 0) + kinds
        for column, rows in later.refused.items():
            self.refused.setdefault(column, []).extend(rows)

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
            clips = what == "outside" and isinstance(attribute, Numeric)
            ways.append(f"`{what}: {'clip' if clips else 'other'}`")
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
        sentences = []
        # people's own weights are in columns without an attribute
        weights = dict.fromkeys(self.shapes.keys() - self.kinds.keys(), [0, 0, 0, 1])
        for column, kinds in (self.kinds | weights).items():
            kind = np.flatnonzero(kinds)[-1]
            ways = self._ways(column)
            if kind != _FINE:
                what = _nothing(attributes[column], kind)
                if kind == _STRANGE and getattr(attributes[column], "kind", None) == "date":
                    ways = ways or [_DATE]
                sentences.append(
                    f"{source.what}, column {column!r}: {what}, so a release will say nothing "
                    f"about it. {' '.join(['Check the data and the schema.', *ways])}"
                )
            elif ways:
                where = source.places([min(self.shapes[column].values())])[0]
                sentences.append(
                    f"{source.what}, column {column!r}, {where}: what is written there cannot be "
                    f"read, so the rules for odd values are followed. {' '.join(ways)}"
                )
        return sentences

    def _ways(self, *columns: str) -> list[str]:
        """What to declare, for what columns hold and nothing declares."""
        columns_of: dict[int, list[str]] = {}
        for column in columns:
            for shape in self.shapes.get(column, ()):
                columns_of.setdefault(shape, []).append(repr(column))
        return [WAYS[shape].format(", ".join(names)) for shape, names in columns_of.items()]


def _nothing(attribute: Attribute, kind: int) -> str:
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


def apply_rules(attribute: Attribute, codes: Codes, report: Report, first_row: int) -> Bools:
    """Applies an attribute's rules to freshly encoded codes, in place.

    Args:
        attribute: Whose codes these are.
        codes: Codes; those below zero are given a proper one (0 where the record goes).
        report: Takes the places of errors.
        first_row: The row number of the first code.

    Returns:
        Which records must go.
    """
    gone = np.zeros(codes.shape, bool)
    if not codes.size:
        return gone
    odd = codes[codes < 0]
    kinds = np.bincount(_KIND[np.minimum(-odd, -STRANGE)], minlength=_FINE + 1)
    kinds[_FINE] = len(codes) - len(odd)
    report.kinds[attribute.name] = report.kinds.get(attribute.name, 0) + kinds
    if not len(odd):
        return gone
    for shape in np.unique(odd[odd < STRANGE])[::-1].tolist():
        row = first_row + int(np.argmax(codes == shape))
        report.shapes.setdefault(attribute.name, {}).setdefault(shape, row)
    codes[codes < STRANGE] = STRANGE
    if clips(attribute):
        end = attribute.grid if isinstance(attribute, Numeric) else len(attribute.edges)
        codes[codes == BELOW] = 0
        codes[codes == ABOVE] = end - 1
        # Text that is no number has no nearest bound: nothing is known, as if it were missing.
        codes[codes == STRANGE] = MISSING
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
            report.note(attribute.name, what, (np.flatnonzero(bad)[:_PLACES] + first_row).tolist())
        codes[bad] = 0
        gone |= bad
    return gone


def clips(attribute: Attribute) -> bool:
    """Whether numbers beyond the bounds become the nearer one."""
    numbers = attribute.bands if isinstance(attribute, Categorical) else attribute
    return numbers is not None and numbers.outside == "clip"


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
        unidentified: How many rows without a person no rule dropped.
        report: What was odd about the batch.
        weights: Levels of people's own weights, if they are wanted.
    """

    columns: list[Codes]
    rows: int
    people: Any
    unidentified: int
    report: Report
    weights: Bytes | None = None


class RowStream:
    """A private table that has been opened and matched with a schema, but not read.

    Args:
        source: Whatever `open_source` takes, or what it gave.
        schema: The public schema.
        delimiter: The delimiter of a CSV file, if its first line is not to tell it.
        weights: Columns that hold people's own weights, if they are wanted.
        line_breaks: Whether quoted values of a CSV file may hold line breaks.
        allow_empty: Whether an input without any record is in order.
        predictors: Whether these alone are read, and other columns may be absent or be there.
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
        predictors: bool = False,
    ) -> None:
        if schema.items is not None:
            raise UsageError(
                "the schema describes transactions by their items, not a table by its attributes",
                hint="Read it with hedgerow.data.read_transactions, or give a schema with "
                "`attributes:`. Methods for tables do not publish transactions.",
            )
        self.frame_kind = "arrow" if isinstance(source, Source) else frame_kind(source)
        self.source = _open(source, schema, delimiter, line_breaks)
        self.schema = schema
        self.attributes = schema.attributes if predictors else schema.columns
        places = find_columns(self.source, schema, self.attributes, strict=not predictors)
        self.wanted = [places[attribute.name] for attribute in self.attributes]
        if schema.person is not None and not predictors:
            self.wanted.append(places[schema.person.column])
        self.empty = True  # until a record was seen, whatever rules make of it
        self.rows = 0  # that were read
        self._allow_empty = allow_empty
        self.weights = weights
        if weights is not None:
            self.wanted += weights.places(self.source)

    def __repr__(self) -> str:
        """The name alone: a repr ends up in logs."""
        return f"RowStream({self.source.what!r})"

    def batches(self) -> Iterator[tuple[int, Any]]:
        """Batches of the wanted columns, each with the number of its first row."""
        self.rows = 0
        for batch in self.source.batches(self.wanted):
            first = self.rows
            self.rows += batch.num_rows
            self.empty = not self.rows
            yield first, batch

    def encode(self, item: tuple[int, Any]) -> Encoded:
        """Encodes one of the batches; threads may do so side by side."""
        first, batch = item
        report = Report()
        try:
            columns, stays = encode_columns(batch, self.attributes, report, first)
        except DataError as error:  # a column of a type that cannot be read
            raise DataError(f"{self.source.what}: {error.message}", hint=error.hint) from None
        people, unidentified, weights = None, 0, None
        if self.schema.person is not None:
            column = batch.column(len(self.attributes))
            people, known = person_ids(column, self.schema.person.column)
            unidentified = int((stays & ~known).sum())
            stays &= known
        if self.weights is not None:
            weights, kept = self._encode_weights(self.weights, first, batch, report)
            stays &= kept
        if not stays.all():
            columns = [column[stays] for column in columns]
            people = None if people is None else people.filter(pa.array(stays))
            weights = None if weights is None else weights[stays]
        return Encoded(
            columns=columns, rows=int(stays.sum()), people=people, unidentified=unidentified,
            report=report, weights=weights,
        )  # fmt: skip

    def _encode_weights(
        self, weights: WeightColumns, first: int, batch: Any, report: Report
    ) -> tuple[Bytes, Bools]:
        """Levels of people's own weights, and which records they let stay."""
        columns = weights.columns
        levels = np.empty((batch.num_rows, len(columns)), np.uint8)
        stays = np.ones(batch.num_rows, bool)
        at = len(self.wanted) - len(columns)
        for place, column in enumerate(columns):
            levels[:, place], kept, refused, shapes = weights.encode(
                batch.column(at + place), column, self.schema.file
            )
            for shape, row in shapes.items():
                report.shapes.setdefault(column, {}).setdefault(shape, first + row)
            stays &= kept
            if refused.any():
                report.refused[column] = (np.flatnonzero(refused) + first).tolist()
        return levels, stays

    def finish(self, report: Report) -> None:
        """Raises or warns about what was odd, when all batches have been encoded."""
        if self.empty and not self._allow_empty:
            raise no_records(self.source.what)
        by_name = {attribute.name: attribute for attribute in self.attributes}
        report.check(self.source, by_name)
        for sentence in report.warnings(self.source, by_name):
            warnings.warn(sentence, DataWarning, stacklevel=3)
        if self.weights is not None:
            self.weights.refuse(self.source, report.refused)


def encode_columns(
    batch: Any, attributes: Sequence[Attribute], report: Report, first_row: int
) -> tuple[list[Codes], Bools]:
    """The codes of each column of a batch, and which rows stay."""
    columns, stays = [], np.ones(batch.num_rows, bool)
    for place, attribute in enumerate(attributes):
        columns.append(encode_array(attribute, batch.column(place)))
        stays &= ~apply_rules(attribute, columns[-1], report, first_row)
    return columns, stays


def _open(source: Any, schema: Schema, delimiter: str | None, line_breaks: bool) -> Source:
    """Opens whatever `open_source` takes, or what it gave, to be read as a schema says."""
    if isinstance(source, Source):
        return source
    return open_source(
        source, known=known_columns(schema), delimiter=delimiter, line_breaks=line_breaks,
        written=schema.file,
    )  # fmt: skip


def known_columns(schema: Schema) -> set[str]:
    """The columns that a schema names."""
    names = {one.column or one.name for one in schema.columns} | set(schema.identifiers)
    if schema.person is not None:
        names.add(schema.person.column)
    return names


def find_columns(
    source: Source, schema: Schema, attributes: Sequence[Attribute], strict: bool
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


# `Table`: private rows as codes, and the two ways to make codes from data.


CodeMatrix = NDArray[np.uint16] | NDArray[np.uint32]


@dataclass(slots=True, repr=False, eq=False)
class Table(Private):
    """Private rows as codes: see `Private`.

    Attributes:
        codes: One row per record: the predictors in the schema's order, then the class (0 if
            there is none).
        weights: Levels of people's own weights, one column for each that was asked for.
    """

    schema: Schema
    codes: CodeMatrix
    _: KW_ONLY
    frame_kind: FrameKind = "arrow"
    weights: Bytes | None = None


def read(
    source: Any,
    schema: Schema,
    *,
    delimiter: str | None = None,
    line_breaks: bool = False,
    progress: Progress | None = None,
    allow_empty: bool = True,
) -> Table:
    """Reads private data and encodes it against the schema.

    The whole input is looked at before anything is refused, and a refusal names columns, lines
    and rules but no value. A column of which no value at all can be used gives a `DataWarning`,
    for the eyes of whoever holds the data.

    Args:
        source: The path of a CSV (also gzipped or zipped) file, a workbook or a Parquet file, a
            folder or pattern of Parquet files, the address of such, a `Database`, or an Arrow,
            pandas or Polars frame, or any other that narwhals knows.
        schema: The public schema.
        delimiter: The delimiter of a CSV file, if its first line is not to tell it.
        line_breaks: Whether quoted values of a CSV file may hold line breaks; without it a record
            is a line.
        progress: Called now and then with the share that has been read, from 0 to 1.
        allow_empty: Whether an input without any record is in order.

    Example:
        >>> import pyarrow as pa
        >>> from hedgerow.schema import Schema
        >>> schema = Schema.from_dict({"name": "survey", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99, "step": 1}}})
        >>> read(pa.table({"age": [18, 40]}), schema)
        Table('survey')
    """
    stream = RowStream(source, schema, delimiter, line_breaks=line_breaks, allow_empty=allow_empty)
    return collect(stream, progress)


def read_public(
    source: Any, schema: Schema, *, delimiter: str | None = None, line_breaks: bool = False
) -> CodeMatrix:
    """Reads PUBLIC rows in the terms of a schema: predictors, then the class if there is one.

    Args:
        source: Whatever `read` takes.
        schema: The public schema; the rows must keep to it, but columns that it leaves out may
            be absent.
        delimiter: The delimiter of a CSV file, if its first line is not to tell it.
        line_breaks: Whether quoted values of a CSV file may hold line breaks; without it a record
            is a line.

    Example:
        >>> import pyarrow as pa
        >>> from hedgerow.schema import Schema
        >>> schema = Schema.from_dict({"name": "survey", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99, "step": 1}}})
        >>> read_public(pa.table({"age": [18, 40]}), schema).tolist()
        [[18], [40]]
    """
    opened = _open(source, schema, delimiter, line_breaks)
    left_out = {*schema.identifiers, *([] if schema.person is None else [schema.person.column])}
    present = tuple(name for name in opened.names if name in left_out)
    known = replace(schema, person=None, identifiers=present, unit="row")
    width = len(schema.attributes) + (schema.target is not None)
    codes: CodeMatrix = collect(RowStream(opened, known)).codes[:, :width]
    return codes


def collect(
    stream: RowStream,
    progress: Progress | None = None,
    unlike: CodeMatrix | None = None,
    tally: Tally | None = None,
) -> Table:
    """Reads all rows of a stream that has been opened, as `read` does.

    Args:
        stream: The private rows.
        progress: Called now and then with the share that has been read, from 0 to 1.
        unlike: Public rows, as codes, that must not be the private ones.
        tally: Counts what becomes of the rows, for the eyes of their holder.
    """
    schema, report = stream.schema, Report()
    progress = progress or silent
    codes = _matrix(stream, len(schema.attributes) + 1)
    people: list[Any] = []
    own: list[Bytes] = []
    for item in stream.batches():
        encoded = stream.encode(item)
        report.merge(encoded.report)
        _fill(codes.extend(encoded.rows), encoded.columns)
        if tally is not None:
            tally.add(item[1], encoded)
        people.append(encoded.people)
        if encoded.weights is not None:
            own.append(encoded.weights)
        progress(stream.source.share(stream.rows))
    stream.finish(report)
    weights = None
    if stream.weights is not None:
        empty = np.zeros((0, len(stream.weights.columns)), np.uint8)
        weights = np.concatenate([empty, *own])

    rows = codes.finish()
    if unlike is not None:
        refuse_same_rows(rows, unlike)
    if schema.person is not None and people:
        # own weights have a say in which rows stay: among rows of the same codes their order in
        # the source, which may not be the person's alone, would decide
        whole: Any = rows if weights is None else np.concatenate([rows, weights], axis=1)
        kept = cap_rows(whole, person_numbers(people), schema.person.max_rows)
        rows, weights = rows[kept], None if weights is None else weights[kept]
    progress(1.0)
    return Table(schema, rows, frame_kind=stream.frame_kind, weights=weights)


def encode_rows(
    frame: Any,
    schema: Schema,
    *,
    lenient: bool = True,
    delimiter: str | None = None,
    line_breaks: bool = False,
) -> tuple[CodeMatrix, Bools]:
    """Encodes the predictors of new rows, one row of codes for each, in their order.

    Class, person and identifiers may be absent, and other columns are ignored.

    Args:
        frame: Whatever `read` takes.
        schema: The public schema.
        lenient: Whether a row that a rule refuses is marked instead of raising an error.
        delimiter: The delimiter of a CSV file, if its first line is not to tell it.
        line_breaks: Whether quoted values of a CSV file may hold line breaks; without it a record
            is a line.

    Returns:
        The codes, and which rows have proper ones: rows that are refused or dropped do not.

    Example:
        >>> import pyarrow as pa
        >>> from hedgerow.schema import Schema
        >>> schema = Schema.from_dict({"name": "survey", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99, "step": 1}}})
        >>> codes, ok = encode_rows(pa.table({"age": [18, 400]}), schema)
        >>> codes[:, 0].tolist(), ok.tolist()
        ([18, 0], [True, False])
    """
    stream = RowStream(frame, schema, delimiter, line_breaks=line_breaks, predictors=True)
    report = Report()
    codes = _matrix(stream, len(stream.attributes))
    fine = [np.zeros(0, bool)]
    for first, batch in stream.batches():
        columns, ok = encode_columns(batch, stream.attributes, report, first)
        _fill(codes.extend(batch.num_rows), columns)
        fine.append(ok)
    if not lenient:
        report.check(stream.source, {attribute.name: attribute for attribute in stream.attributes})
    return codes.finish(), np.concatenate(fine)


_FEW = 1 << 14


def _matrix(stream: RowStream, width: int) -> Grown:
    """Room for the codes of a stream's rows."""
    largest = max((attribute.size for attribute in stream.attributes), default=0)
    return Grown(np.uint16 if largest <= 1 << 16 else np.uint32, width, stream.source.capacity)


def _fill(block: CodeMatrix, columns: list[Codes]) -> None:
    """Writes columns side by side; those that are not given are 0."""
    # A few rows are filled column by column while they stay in the processor's cache.
    for first in range(0, len(block), _FEW):
        some = block[first : first + _FEW]
        for place, codes in enumerate(columns):
            some[:, place] = codes[first : first + _FEW]
        some[:, len(columns) :] = 0
