"""`Table`: private rows as codes, and the two ways to make codes from data."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.errors import DataError, DataWarning, LeakError, UsageError
from hedgerow.schema.attributes import Attribute
from hedgerow.table.encode import encode_array
from hedgerow.table.frames import FrameKind, frame_kind
from hedgerow.table.person import cap_rows, person_ids
from hedgerow.table.readers import open_source
from hedgerow.table.rules import Report, apply_rules
from hedgerow.table.source import Source

if TYPE_CHECKING:
    from hedgerow.schema import Schema

__all__ = ["CodeMatrix", "Table", "encode_rows", "read"]

CodeMatrix = NDArray[np.uint16] | NDArray[np.uint32]
Progress = Callable[[float], None]


class Table:
    """Private rows as codes. Only counting engines look inside.

    It has no length and no truth value and cannot be looped over: code that tries is about to
    leak and gets a `LeakError`.

    Attributes:
        schema: The public schema.
        codes: One row per record: the predictors in the schema's order, then the class (0 if
            there is none).
        frame_kind: The kind of frame that results should come back as.
    """

    __slots__ = ("codes", "frame_kind", "schema")

    def __init__(self, schema: Schema, codes: CodeMatrix, frame_kind: FrameKind = "arrow") -> None:
        """Takes codes as `read` makes them."""
        self.schema = schema
        self.codes = codes
        self.frame_kind = frame_kind

    def __repr__(self) -> str:
        """The schema's name alone."""
        return f"Table({self.schema.name!r})"

    def _refuse(self) -> NoReturn:
        raise LeakError("a private table has no length, no rows and no truth value")

    def __len__(self) -> int:
        """Refused: the number of records is private."""
        self._refuse()

    def __iter__(self) -> NoReturn:
        """Refused: records are private."""
        self._refuse()

    def __bool__(self) -> bool:
        """Refused: whether there are records is private."""
        self._refuse()

    def __reduce__(self) -> NoReturn:
        """Refused: a pickle of private data would lie about somewhere."""
        raise LeakError("a private table is not pickled")


def read(
    source: Any,
    schema: Schema,
    *,
    delimiter: str | None = None,
    progress: Progress | None = None,
) -> Table:
    """Reads private data and encodes it against the schema.

    The whole input is looked at before anything is refused, and a refusal names columns, lines
    and rules but no value. A column of which no value at all can be used gives a `DataWarning`,
    for the eyes of whoever holds the data.

    Args:
        source: The path of a CSV (also gzipped) or Parquet file, or an Arrow, pandas or Polars
            frame, or any other that narwhals knows.
        schema: The public schema.
        delimiter: The delimiter of a CSV file, if it is not to be guessed.
        progress: Called now and then with the share that has been read, from 0 to 1.

    Example:
        >>> from hedgerow.schema import Schema
        >>> schema = Schema.from_dict({"name": "survey", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99, "step": 1}}})
        >>> read(pa.table({"age": [18, 40]}), schema)
        Table('survey')
    """
    _check_schema(schema)
    opened = open_source(source, known=_known(schema), delimiter=delimiter)
    attributes: list[Attribute] = [*schema.attributes]
    if schema.target is not None:
        attributes.append(schema.target)
    places = _columns(opened, schema, attributes)
    wanted = [places[attribute.name] for attribute in attributes]
    if schema.person is not None:
        wanted.append(places[schema.person.column])

    report = Report()
    rows = _Rows(len(schema.attributes) + 1, _dtype(attributes), opened.capacity)
    people: list[Any] = []
    seen = 0
    for batch in opened.batches(wanted):
        block, ok = _encode_batch(batch, attributes, rows.codes.dtype, report, seen)
        seen += batch.num_rows
        if schema.person is not None:
            ids, known = person_ids(batch.column(len(attributes)), schema.person.column)
            ok = known if ok is None else ok & known
            people.append(ids.filter(pa.array(ok)))
        rows.add(block if ok is None else block[ok])
        if progress is not None and opened.share is not None:
            progress(min(1.0, opened.share()))
    by_name = {attribute.name: attribute for attribute in attributes}
    report.check(opened, by_name)
    for sentence in report.warnings(opened, by_name):
        warnings.warn(sentence, DataWarning, stacklevel=2)

    codes = rows.finish()
    if schema.person is not None and people:
        person = pa.chunked_array(people).dictionary_encode().combine_chunks()
        numbers = person.indices.to_numpy(zero_copy_only=False)
        codes = codes[cap_rows(codes, numbers, schema.person.max_rows)]
    if progress is not None:
        progress(1.0)
    return Table(schema, codes, frame_kind(source))


def encode_rows(
    frame: Any, schema: Schema, *, lenient: bool = True, delimiter: str | None = None
) -> tuple[CodeMatrix, NDArray[np.bool_]]:
    """Encodes the predictors of new rows, one row of codes for each, in their order.

    Class, person and identifiers may be absent, and other columns are ignored.

    Args:
        frame: Whatever `read` takes.
        schema: The public schema.
        lenient: Whether a row that a rule refuses is marked instead of raising an error.
        delimiter: The delimiter of a CSV file, if it is not to be guessed.

    Returns:
        The codes, and which rows have proper ones: rows that are refused or dropped do not.

    Example:
        >>> from hedgerow.schema import Schema
        >>> schema = Schema.from_dict({"name": "survey", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99, "step": 1}}})
        >>> codes, ok = encode_rows(pa.table({"age": [18, 400]}), schema)
        >>> codes[:, 0].tolist(), ok.tolist()
        ([18, 0], [True, False])
    """
    _check_schema(schema)
    opened = open_source(frame, known=_known(schema), delimiter=delimiter)
    attributes = [*schema.attributes]
    places = _columns(opened, schema, attributes, strict=False)
    report = Report()
    rows = _Rows(len(attributes), _dtype(attributes), opened.capacity)
    fine: list[NDArray[np.bool_]] = []
    seen = 0
    for batch in opened.batches([places[attribute.name] for attribute in attributes]):
        block, ok = _encode_batch(batch, attributes, rows.codes.dtype, report, seen)
        seen += batch.num_rows
        rows.add(block[:, : len(attributes)])
        fine.append(np.ones(batch.num_rows, bool) if ok is None else ok)
    if not lenient:
        report.check(opened, {attribute.name: attribute for attribute in attributes})
    return rows.finish(), np.concatenate(fine) if fine else np.zeros(0, bool)


def _check_schema(schema: Schema) -> None:
    if schema.items is not None:
        raise UsageError(
            "the schema describes transactions by their items, not a table by its attributes",
            hint="Read it with hedgerow.table.read_baskets, or give a schema with `attributes:`. "
            "Methods for tables do not publish transactions.",
        )


def _known(schema: Schema) -> set[str]:
    names = {attribute.name for attribute in schema.attributes} | set(schema.identifiers)
    if schema.target is not None:
        names.add(schema.target.name)
    if schema.person is not None:
        names.add(schema.person.column)
    return names


def _columns(
    source: Source, schema: Schema, attributes: list[Attribute], strict: bool = True
) -> dict[str, int]:
    """Where each column stands; refuses missing ones and, if strict, ones not in the schema."""
    places = {name: place for place, name in enumerate(source.names)}
    needed = [attribute.name for attribute in attributes]
    if strict and schema.person is not None:
        needed.append(schema.person.column)
    absent = [name for name in needed if name not in places]
    known = _known(schema)
    if absent and not known.intersection(places):
        # Without a header these names would be somebody's values, so none of them is shown.
        raise DataError(
            f"{source.what}: none of the schema's columns is there",
            hint="The first line of a CSV file must hold the names of the columns, spelt as in "
            "the schema. If the delimiter is an unusual one, name it (--delimiter, delimiter=).",
        )
    if absent:
        spare = [name for name in source.names if name not in known]
        near = difflib.get_close_matches(absent[0], spare, n=1)
        names = ", ".join(repr(name) for name in absent[:10])
        raise DataError(
            f"{source.what}: there is no column {names}",
            hint=f"Did you mean {near[0]!r}? Use one spelling in the data and in the schema."
            if near
            else "Add the column to the data, or take it out of the schema.",
        )
    extra = [name for name in source.names if name not in known]
    if strict and extra:
        names = ", ".join(repr(name) for name in extra[:10])
        raise DataError(
            f"{source.what}: the schema does not say what to do with column {names}",
            hint="Describe the column in the schema, or leave it out of the release with "
            "`role: identifier`.",
        )
    return places


def _dtype(attributes: list[Attribute]) -> type[np.uint16] | type[np.uint32]:
    largest = max((attribute.size for attribute in attributes), default=0)
    return np.uint16 if largest <= 1 << 16 else np.uint32


def _encode_batch(
    batch: Any, attributes: list[Attribute], dtype: Any, report: Report, first_row: int
) -> tuple[Any, NDArray[np.bool_] | None]:
    """Codes of a batch, with one more column of zeros if the last attribute is no class."""
    block = np.zeros((batch.num_rows, len(attributes) + 1), dtype)
    gone: NDArray[np.bool_] | None = None
    for place, attribute in enumerate(attributes):
        codes = encode_array(attribute, batch.column(place))
        dropped = apply_rules(attribute, codes, report, first_row)
        if dropped is not None:
            gone = dropped if gone is None else gone | dropped
        block[:, place] = codes
    return block, None if gone is None else ~gone


class _Rows:
    """A matrix of codes that grows by blocks, without a second copy of it at the end."""

    def __init__(self, width: int, dtype: Any, capacity: int | None) -> None:
        # A damaged file may claim any number of rows: believe it up to a point, then grow.
        rows = min(capacity or 0, 1 << 27)
        self.codes: Any = np.empty((rows, width), dtype)
        self.used = 0

    def add(self, block: Any) -> None:
        end = self.used + len(block)
        if end > len(self.codes):
            self.codes.resize((max(end, len(self.codes) * 3 // 2), self.codes.shape[1]))
        self.codes[self.used : end] = block[:, : self.codes.shape[1]]
        self.used = end

    def finish(self) -> Any:
        self.codes.resize((self.used, self.codes.shape[1]))
        return self.codes
