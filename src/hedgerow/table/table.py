"""`Table`: private rows as codes, and the two ways to make codes from data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Bytes
from hedgerow.schema.attributes import Attribute
from hedgerow.table.encode import Codes
from hedgerow.table.identity import refuse_same_rows
from hedgerow.table.person import cap_rows, person_numbers
from hedgerow.table.preparation import Preparation, Tally
from hedgerow.table.readers.choose import open_source
from hedgerow.table.readers.frames import FrameKind, frame_kind
from hedgerow.table.readers.source import Private, Progress
from hedgerow.table.rules import Report
from hedgerow.table.stream import (
    RowStream,
    check_schema,
    encode_columns,
    find_columns,
    known_columns,
)

if TYPE_CHECKING:
    from hedgerow.schema import Schema

__all__ = [
    "CodeMatrix",
    "Table",
    "collect",
    "encode_rows",
    "read",
    "read_prepared",
    "read_public",
]

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
