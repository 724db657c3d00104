"""Frames of other libraries, in and out, by way of Arrow."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from operator import methodcaller
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.data.encode import text_of
from hedgerow.data.source import BATCH_ROWS, Source, check_names, frame_kind, odd_column
from hedgerow.errors import DataError, UsageError

Split = Callable[[str], Sequence[str]]

_BLANKS = re.compile(r"[ \t-\r]+")
_LISTS = (list, tuple, set, frozenset, np.ndarray)


def to_frame(table: Any, kind: str) -> Any:
    """Turns an Arrow table into a frame of the asked kind.

    Example:
        >>> to_frame(pa.table({"age": [40]}), "arrow").column_names
        ['age']
    """
    if kind == "pandas":
        return table.to_pandas()
    if kind == "polars":
        import polars

        return polars.from_arrow(table)
    return table


def open_frame(source: Any, *, split: Split | None = None) -> Source:
    """Opens an Arrow table or stream, or any frame that narwhals knows.

    Args:
        source: The table or frame.
        split: If given, a column of Python objects may hold lists, and a text beside them
            becomes the list of what this makes of it.

    Example:
        >>> open_frame(pa.table({"age": [40]})).names
        ('age',)
    """
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        return _open_table(source, "the Arrow table")
    if isinstance(source, pa.RecordBatchReader):
        return _open_stream(source)
    import narwhals as nw

    native = nw.to_native(source, pass_through=True)
    if nw.dependencies.is_into_series(native):
        raise DataError(
            "this is a single column, not a table", hint="Give a table, such as column.to_frame()."
        )
    if frame_kind(native) == "pandas":
        return _open_pandas(native, split)
    frame: Any = nw.from_native(native, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        return _open_table(_arrow(lambda: frame.collect("pyarrow").to_arrow()), "the lazy frame")
    if isinstance(frame, nw.DataFrame):
        return _open_table(_arrow(frame.to_arrow), f"the {frame.implementation.value} frame")
    if hasattr(source, "__arrow_c_stream__"):
        return _open_stream(pa.RecordBatchReader.from_stream(source))
    hint = "Give the path of a CSV or Parquet file, or an Arrow, pandas or Polars table"
    rows = isinstance(source, dict) and not any(isinstance(v, list) for v in source.values())
    made = "[data]" if rows else "data"  # one row, or columns
    hint += f": pandas.DataFrame({made})." if isinstance(source, dict | list) else "."
    raise UsageError(
        f"cannot read a table from an object of type {type(source).__name__}", hint=hint
    )


def _arrow(convert: Any) -> Any:
    try:
        return convert()
    except Exception:  # whatever a foreign library raises may quote a value
        raise DataError(
            "the frame cannot be turned into an Arrow table",
            hint="Give every column one plain type: text, number, true/false or date.",
        ) from None


def _open_table(table: Any, what: str) -> Source:
    names = check_names(table.column_names, what)

    def batches(columns: Sequence[int]) -> Iterator[Any]:
        for batch in table.select(list(columns)).to_batches(max_chunksize=BATCH_ROWS):
            yield _sound(batch, what)

    return Source(what=what, names=names, batches=batches, capacity=table.num_rows, bytes=0)


def _open_stream(reader: Any) -> Source:
    names = check_names(reader.schema.names, "the Arrow stream")

    def batches(columns: Sequence[int]) -> Iterator[Any]:
        try:
            for batch in reader:
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    part = batch.select(list(columns)).slice(start, BATCH_ROWS)
                    yield _sound(part, "the Arrow stream")
        except (pa.ArrowException, OSError):
            raise DataError(
                "the Arrow stream broke off before its end",
                hint="Make the stream anew, or write it to a Parquet file first.",
            ) from None

    return Source(what="the Arrow stream", names=names, batches=batches)


def _sound(batch: Any, what: str) -> Any:
    """The batch, if its values are what their types say; text, for one, may be no text."""
    try:
        batch.validate(full=True)
    except pa.ArrowException:
        raise DataError(
            f"{what} holds values that are not of their columns' types",
            hint="Text must be encoded in UTF-8. Make the table anew from its source.",
        ) from None
    return batch


def _open_pandas(frame: Any, split: Split | None) -> Source:
    what = "the pandas frame"
    names = check_names([str(name) for name in frame.columns], what)

    def batches(columns: Sequence[int]) -> Iterator[Any]:
        arrays = [
            _array_of(frame.iloc[:, column], names[column], what, split) for column in columns
        ]
        table = pa.table(arrays, names=[names[column] for column in columns])
        yield from table.to_batches(max_chunksize=BATCH_ROWS)

    return Source(what=what, names=names, batches=batches, capacity=len(frame), bytes=0)


def _array_of(values: Any, name: str, what: str, split: Split | None = None) -> Any:
    """A column of pandas or NumPy in Arrow's form, value by value where these have no one type.

    A column of Python objects is never given a type by its content: one odd value would change
    how all others are read. Each value becomes the text that a CSV file would hold.
    """
    kind = getattr(values.dtype, "categories", values).dtype
    if kind == np.dtype(object):
        return _objects(np.asarray(values, object).tolist(), name, what, split)
    if kind.kind == "c":
        raise DataError(
            f"Complex data not supported: {what} holds complex numbers",
            hint="Give real and imaginary parts as columns of their own.",
        )
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise odd_column(what, name, "has a type that cannot be read") from None


def _objects(values: Sequence[Any], name: str, what: str, split: Split | None = None) -> Any:
    """An Arrow array of Python objects, each turned into text, or a list of texts, by itself.

    Whether there are lists at all changes no text beside them: `split` makes of it what it would
    be alone.
    """
    lists = split is not None and any(isinstance(value, _LISTS) for value in values)
    if not lists and any(isinstance(value, (*_LISTS, dict)) for value in values):
        raise odd_column(what, name, "holds lists or records")

    def texts(value: Any) -> list[str | None] | None:
        if not isinstance(value, _LISTS):
            text = _plain_text(value)
            return None if text is None or split is None else list(split(text))
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = [value.item()]
        parts = list(value)
        if any(isinstance(part, (*_LISTS, dict)) for part in parts):
            raise DataError(
                f"{what}: column {name!r} holds lists inside lists, or records",
                hint="Give one list of items, texts or whole numbers, for each record.",
            )
        return [part if isinstance(part, str) else _plain_text(part) for part in parts]

    try:
        if lists:
            return pa.array([texts(value) for value in values], pa.list_(pa.string()))
        return pa.array([_plain_text(value) for value in values], pa.string())
    except (DataError, MemoryError):
        raise
    except Exception:
        # A number of thousands of digits, half a character, an object that cannot be shown: what
        # its own code raises may quote it.
        raise odd_column(what, name, "holds an object that has no text") from None


def _plain_text(value: Any) -> str | None:
    """The text of one Python object, as a CSV file would hold it; None for a missing one."""
    if type(value).__name__ in ("NAType", "NaTType"):  # pandas' own marks for what is missing
        return None
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else str(value.astype("datetime64[s]"))
    if isinstance(value, np.floating):
        value = float(str(value))  # the decimal that it is written as, however wide it is
    elif isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return text_of(value)


def read_columns(rows: Any, what: str) -> tuple[tuple[str, ...] | None, list[Any]]:
    """The columns of anything like a table as Arrow arrays, and their names if it has some.

    An array has a type of its own. A list of rows has none, and each of its values is read by
    itself: a type inferred from all of them would let one record change the others.

    Args:
        rows: A frame, an array with a row for each record, or a list of such rows.
        what: How messages call it.

    Example:
        >>> read_columns([[1, "a"], [2.5, None]], "X")[1][0].to_pylist()
        ['1', '2.5']
        >>> read_columns(pa.table({"age": [40]}), "X")[0]
        ('age',)
    """
    if isinstance(rows, (pa.Table, pa.RecordBatch)) or hasattr(rows, "columns"):
        source = open_frame(rows)
        batches = list(source.batches(range(len(source.names))))
        if not batches:
            return source.names, [pa.nulls(0) for _ in source.names]
        return source.names, pa.Table.from_batches(batches).columns
    if not isinstance(rows, (list, tuple)):
        array = _as_array(rows, what)
        if array.ndim != 2:
            raise _no_table(what)
        return None, [_array_of(array[:, at], f"x{at}", what) for at in range(array.shape[1])]
    lists = (isinstance(row, (list, tuple)) or np.ndim(_as_array(row, what)) == 1 for row in rows)
    if not all(lists):
        raise _no_table(what)
    records = [list(row) for row in rows]
    width = len(records[0]) if records else 0
    if any(len(record) != width for record in records):
        raise DataError(
            f"{what}: not all rows have the same number of values",
            hint="Give every row one value for each column; a missing one is None.",
        )
    columns = ([record[at] for record in records] for at in range(width))
    return None, [_objects(column, f"x{at}", what) for at, column in enumerate(columns)]


def read_column(values: Any, what: str) -> Any:
    """One column as an Arrow array: see `read_columns`.

    Args:
        values: A series, an array or a list.
        what: How messages call it.

    Example:
        >>> read_column(["yes", 1, 1.0], "y").to_pylist()
        ['yes', '1', '1']
    """
    import narwhals as nw

    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    if isinstance(values, (list, tuple)):
        return _objects(values, what, what)
    native = nw.to_native(values, pass_through=True)
    if nw.dependencies.is_pandas_series(native):
        return _array_of(native, what, what)
    if nw.dependencies.is_into_series(native):
        return _arrow(nw.from_native(native, series_only=True).to_arrow)
    array = _as_array(values, what)
    if array.ndim != 1:
        raise DataError(f"{what} should be a 1d array", hint="Give one value for each row.")
    return _array_of(array, what, what)


def _as_array(values: Any, what: str) -> Any:
    """What already is an array, or can say so by itself; never a list."""
    if hasattr(values, "__array__"):
        with suppress(Exception):  # whatever a foreign library raises may quote a value
            return np.asarray(values)
    raise _no_table(what)


def _no_table(what: str) -> DataError:
    return DataError(
        f"{what} is not a table that can be read",
        hint="Reshape your data: give a frame, an array of two dimensions, or a list of rows, each "
        "with one value for each column. Make a sparse matrix dense.",
    )


def split_text(separator: str) -> Split:
    r"""How one text is split into items: for Python objects, and equal to what the loops do.

    Example:
        >>> split_text(" ")(" a  b\t"), split_text(";")("a b; ;c")
        (['a', 'b'], ['a b', 'c'])
    """
    split = _BLANKS.split if separator == " " else methodcaller("split", separator)
    return lambda text: [bare for part in split(text) if (bare := part.strip(" \t\n\v\f\r"))]
