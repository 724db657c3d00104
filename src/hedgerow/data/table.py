"""`Table`: private rows as codes, the two ways to make codes from data, and what became of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Bytes, Ints, Words
from hedgerow.data.choose import open_source, refuse_same_rows
from hedgerow.data.encode import ABOVE, BELOW, MISSING, STRANGE, Codes, encode_array
from hedgerow.data.frames import FrameKind, frame_kind
from hedgerow.data.people import cap_rows, first_rows, person_ids, person_numbers, row_hash
from hedgerow.data.source import Private, Progress
from hedgerow.data.stream import (
    Encoded,
    Report,
    RowStream,
    apply_rules,
    check_schema,
    encode_columns,
    find_columns,
    known_columns,
)
from hedgerow.schema.attributes import Attribute, Categorical

if TYPE_CHECKING:
    from hedgerow.schema import Schema

# What became of the rows on the way from the data to the counts. NOT PRIVATE.
#
# Everything here is an exact count of private data. It is for whoever holds the data, and must not
# become part of a release, nor change one.


MANY = 0.05  # of the values of an attribute, or of the rows: more is worth a warning
SHIFT = 0.01  # a share of the class that moves by more is worth one too


@dataclass(frozen=True, kw_only=True)
class Fate:
    """What was odd about the values of an attribute, and what became of them. NOT PRIVATE.

    Args:
        name: The attribute.
        missing: Values that are missing.
        outside: Numbers and dates beyond the bounds.
        foreign: Values that are not in the domain at all, such as texts in place of numbers.
        other: Values that became `other`.
        clipped: Values that became the nearer bound.
        dropped: Values whose rows were dropped.
    """

    name: str
    missing: int = 0
    outside: int = 0
    foreign: int = 0
    other: int = 0
    clipped: int = 0
    dropped: int = 0

    @property
    def changed(self) -> int:
        """Values that a release does not count as they were; where one is missing, none was."""
        return self.outside + self.foreign


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """What became of the rows of a table. NOT PRIVATE.

    Args:
        rows: How many rows were read.
        dropped: Rows that a rule of the schema dropped.
        unidentified: Other rows without a person.
        capped: Other rows that the cap on rows per person left out.
        people: How many people there are in the rest; None if each row is one.
        people_capped: How many of them had more rows than the cap allows.
        attributes: What became of values, for each attribute and the class.
        classes: The values of the class.
        read: Their shares in the rows that were read, as far as the class is known.
        kept: Their shares in the rows that are counted.
        broken: For each rule between columns, how many rows break it that no other rule drops.
        rare: Values of the schema that fewer than ten people have, by column, if looked for.
    """

    rows: int
    dropped: int
    unidentified: int
    capped: int
    people: int | None
    people_capped: int | None
    attributes: tuple[Fate, ...]
    classes: tuple[str, ...]
    read: tuple[float, ...]
    kept: tuple[float, ...]
    broken: Mapping[str, int] = field(default_factory=dict)
    rare: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)

    @property
    def counted(self) -> int:
        """The rows that a release counts."""
        return self.rows - self.dropped - self.unidentified - self.capped

    def warnings(self) -> list[str]:
        """What matters: more than 5% of an attribute or of the rows, a class moved by a point."""
        found = []
        for one in self.attributes:
            if one.changed > MANY * self.rows:
                found.append(
                    f"{one.name}: {one.changed / self.rows:.1%} of the values lie outside the "
                    "domain (other, clipped or dropped). Do the domain and the rules fit?"
                )
        for number, why in (
            (self.dropped, "the schema's rules drop"),
            (self.unidentified, "there is no person for"),
            (self.capped, "the cap on rows per person leaves out"),
        ):
            if number > MANY * self.rows:
                found.append(f"{why[0].upper()}{why[1:]} {number / self.rows:.1%} of the rows.")
        for label, before, after in zip(self.classes, self.read, self.kept, strict=True):
            if abs(after - before) > SHIFT:
                found.append(
                    f"The class {label} has {before:.1%} of the rows that were read and "
                    f"{after:.1%} of those that are counted."
                )
        return found


class Tally:
    """Counts batch by batch what becomes of rows. NOT PRIVATE.

    Args:
        schema: The public schema.
        attributes: The attributes in the order of the columns: predictors, then the class.
    """

    def __init__(self, schema: Schema, attributes: Sequence[Attribute]) -> None:
        self._schema = schema
        self._attributes = attributes
        self._odd = np.zeros((len(attributes), 3), np.int64)
        self._rows = self._kept = self._unidentified = 0
        classes = len(schema.classes)
        self._read, self._before = np.zeros(classes, np.int64), np.zeros(classes, np.int64)
        self._broken = [0] * len(schema.rules)
        self._people: list[Any] = []
        self._ranks: list[Words] = []
        self._classes: list[Ints] = []

    def add(self, batch: Any, encoded: Encoded) -> None:
        """Looks at a batch and at what was made of it."""
        target, person = self._schema.target, self._schema.person
        self._rows += batch.num_rows
        classes = None if target is None else encoded.columns[-1]
        for number, rule in enumerate(self._schema.rules):
            self._broken[number] += int(rule.breaks(encoded.columns, classes).sum())
        self._kept += encoded.rows
        gone = np.zeros(batch.num_rows, bool)
        for place, attribute in enumerate(self._attributes):
            column = batch.column(place)
            self._odd[place] += _odd(attribute, column)
            codes = encode_array(attribute, column)
            lost = apply_rules(attribute, codes, Report(), 0)
            gone |= False if lost is None else lost
            if attribute is target:
                known = codes if lost is None else codes[~lost]
                self._read += np.bincount(known, minlength=len(self._read))
        if person is not None:
            named = person_ids(batch.column(len(self._attributes)), person.column)[1]
            self._unidentified += int((~named & ~gone).sum())
            zeros = [] if target is not None else [np.zeros(encoded.rows, np.int64)]
            self._people.append(encoded.people)
            self._ranks.append(row_hash([*encoded.columns, *zeros]))
        if target is not None:
            codes = encoded.columns[-1]
            self._before += np.bincount(codes, minlength=len(self._before))
            self._classes += [] if person is None else [codes.astype(np.int64)]

    def finish(self) -> Preparation:
        """The counts, when all batches were seen."""
        capped, people, over, after = 0, None, None, self._before
        person = self._schema.person
        if person is not None and self._people:
            numbers = person_numbers(self._people)
            stay = first_rows((numbers,), np.concatenate(self._ranks), person.max_rows)
            sizes = np.bincount(numbers)
            capped, people = len(numbers) - len(stay), int((sizes > 0).sum())
            over = int((sizes > person.max_rows).sum())
            if self._classes:
                codes = np.concatenate(self._classes)[stay]
                after = np.bincount(codes, minlength=len(after))
        return Preparation(
            rows=self._rows,
            dropped=self._rows - self._kept - self._unidentified,
            unidentified=self._unidentified,
            capped=capped,
            people=people,
            people_capped=over,
            attributes=tuple(map(_fate, self._attributes, self._odd.tolist())),
            classes=self._schema.classes,
            read=_shares(self._read),
            kept=_shares(after),
            broken={
                rule.text: rows for rule, rows in zip(self._schema.rules, self._broken, strict=True)
            },
        )


def _shares(counts: Ints) -> tuple[float, ...]:
    return tuple((counts / max(1, int(counts.sum()))).tolist())


def _odd(attribute: Attribute, column: Any) -> tuple[int, int, int]:
    """How many values are missing, beyond the bounds and foreign."""
    bands = attribute.bands if isinstance(attribute, Categorical) else None
    codes = encode_array(attribute if bands is None else bands, column)
    beyond = int(((codes == BELOW) | (codes == ABOVE)).sum())
    return int((codes == MISSING).sum()), beyond, int((codes <= STRANGE).sum())


def _fate(attribute: Attribute, odd: Sequence[int]) -> Fate:
    """What the rules make of values; those of numbers are clipped before others apply."""
    missing, outside, foreign = odd
    bands = attribute.bands if isinstance(attribute, Categorical) else None
    clips = "clip" in (attribute.outside, None if bands is None else bands.outside)
    # a text has no nearer bound, so with `clip` it counts as missing
    empty, beyond = (missing + foreign, 0) if clips else (missing, outside + foreign)
    by_rule = {"other": 0, "drop": 0, "error": 0}
    by_rule[attribute.missing] += empty
    by_rule[attribute.outside if attribute.outside in by_rule else "error"] += beyond
    return Fate(
        name=attribute.name,
        missing=missing,
        outside=outside,
        foreign=foreign,
        other=by_rule["other"],
        clipped=outside if clips else 0,
        dropped=by_rule["drop"],
    )


# `Table`: private rows as codes, and the two ways to make codes from data.


CodeMatrix = NDArray[np.uint16] | NDArray[np.uint32]


class Table(Private):
    """Private rows as codes: see `Private`.

    Attributes:
        codes: One row per record: the predictors in the schema's order, then the class (0 if
            there is none).
        weights: Levels of people's own weights, one column for each that was asked for.
    """

    __slots__ = ("codes", "weights")

    def __init__(
        self,
        schema: Schema,
        codes: CodeMatrix,
        frame_kind: FrameKind = "arrow",
        weights: Bytes | None = None,
    ) -> None:
        """Takes codes as `read` makes them."""
        super().__init__(schema, frame_kind)
        self.codes = codes
        self.weights = weights


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
    table = collect(stream, progress)
    return Table(schema, table.codes, frame_kind(source))


def read_prepared(
    source: Any,
    schema: Schema,
    *,
    delimiter: str | None = None,
    line_breaks: bool = False,
    progress: Progress | None = None,
) -> tuple[Table, Preparation]:
    """Reads as `read` does, and counts what became of the rows: for the eyes of their holder.

    Example:
        >>> import pyarrow as pa
        >>> from hedgerow.schema import Schema
        >>> schema = Schema.from_dict({"name": "survey", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99, "outside": "drop"}}})
        >>> table, looked = read_prepared(pa.table({"age": [18, 400]}), schema)
        >>> len(table.codes), looked.rows
        (1, 2)
    """
    stream = RowStream(source, schema, delimiter, line_breaks=line_breaks)
    tally = Tally(schema, stream.attributes)
    table = collect(stream, progress, tally=tally)
    return Table(schema, table.codes, frame_kind(source)), tally.finish()


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
    opened = open_source(
        source, known=known_columns(schema), delimiter=delimiter, line_breaks=line_breaks,
        written=schema.file,
    )  # fmt: skip
    left_out = {*schema.identifiers, *([] if schema.person is None else [schema.person.column])}
    present = tuple(name for name in opened.names if name in left_out)
    known = replace(schema, person=None, identifiers=present, unit="row")
    width = len(schema.attributes) + (schema.target is not None)
    codes: CodeMatrix = collect(RowStream(opened, known, delimiter)).codes[:, :width]
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
    schema = stream.schema
    report = Report()
    rows = _Rows(len(schema.attributes) + 1, _dtype(stream.attributes), stream.source.capacity)
    people: list[Any] = []
    own: list[Bytes] = []
    bad: dict[str, list[int]] = {}
    for item in stream.batches():
        encoded = stream.encode(item)
        report.merge(encoded.report)
        rows.add(encoded.columns, encoded.rows)
        if tally is not None:
            tally.add(item[1], encoded)
        people.append(encoded.people)
        if encoded.weights is not None:
            own.append(encoded.weights)
        for column, places in encoded.bad.items():
            bad.setdefault(column, []).extend(places)
        if progress is not None:
            progress(stream.share())
    stream.finish(report)
    weights = None
    if stream.weights is not None:
        stream.weights.refuse(stream.source, bad)
        empty = np.zeros((0, len(stream.weights.columns)), np.uint8)
        weights = np.concatenate([empty, *own])

    codes = rows.finish()
    if unlike is not None:
        refuse_same_rows(codes, unlike)
    if schema.person is not None and people:
        # own weights have a say in which rows stay: among rows of the same codes their order in
        # the source, which may not be the person's alone, would decide
        whole: Any = codes if weights is None else np.concatenate([codes, weights], axis=1)
        kept = cap_rows(whole, person_numbers(people), schema.person.max_rows)
        codes, weights = codes[kept], None if weights is None else weights[kept]
    if progress is not None:
        progress(1.0)
    return Table(schema, codes, weights=weights)


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
    check_schema(schema)
    opened = open_source(
        frame, known=known_columns(schema), delimiter=delimiter, line_breaks=line_breaks,
        written=schema.file,
    )  # fmt: skip
    attributes = [*schema.attributes]
    places = find_columns(opened, schema, attributes, strict=False)
    report = Report()
    rows = _Rows(len(attributes), _dtype(attributes), opened.capacity)
    fine: list[Bools] = []
    seen = 0
    for batch in opened.batches([places[attribute.name] for attribute in attributes]):
        columns, ok = encode_columns(batch, attributes, report, seen)
        seen += batch.num_rows
        rows.add(columns, batch.num_rows)
        fine.append(np.ones(batch.num_rows, bool) if ok is None else ok)
    if not lenient:
        report.check(opened, {attribute.name: attribute for attribute in attributes})
    return rows.finish(), np.concatenate(fine) if fine else np.zeros(0, bool)


def _dtype(attributes: list[Attribute]) -> type[np.uint16] | type[np.uint32]:
    largest = max((attribute.size for attribute in attributes), default=0)
    return np.uint16 if largest <= 1 << 16 else np.uint32


_FEW = 1 << 14


class _Rows:
    """A matrix of codes that grows by blocks, without a second copy of it at the end."""

    def __init__(self, width: int, dtype: Any, capacity: int | None) -> None:
        # A damaged file may claim any number of rows: believe it up to a point, then grow.
        rows = min(max(capacity or 0, 0), 1 << 27)
        self.codes: Any = np.empty((rows, width), dtype)
        self.used = 0

    def add(self, columns: list[Codes], rows: int) -> None:
        end = self.used + rows
        width = self.codes.shape[1]
        if end > len(self.codes):
            self.codes.resize((max(end, len(self.codes) * 3 // 2), width), refcheck=False)
        # A few rows are filled column by column while they stay in the processor's cache.
        for first in range(0, rows, _FEW):
            some = self.codes[self.used + first : min(self.used + first + _FEW, end)]
            for place, codes in enumerate(columns):
                some[:, place] = codes[first : first + _FEW]
            some[:, len(columns) :] = 0
        self.used = end

    def finish(self) -> Any:
        self.codes.resize((self.used, self.codes.shape[1]), refcheck=False)
        return self.codes
