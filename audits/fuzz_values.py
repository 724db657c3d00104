"""One more record in a frame, a list, a database or a file with types: all others stay, or a stop.

A case chooses a type for each column, and puts a record of arbitrary values between two others:
what the column can hold at all, and for columns of Python objects, anything.
"""

from __future__ import annotations

import datetime
import math
import os
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from fuzz_framing import (
    BOUGHT,
    LONG,
    PEOPLE,
    PERSONS,
    SMALL,
    by_studio,
    differ,
    records_of,
    rows_of,
)
from fuzz_framing import streamed_rows as streamed
from fuzz_mutate import OBJECTS, WORDS
from fuzz_readers import Reader
from hedgerow import data as table
from hedgerow.counting.streamed import StreamedItems
from hedgerow.data import workbook as stats_file
from hedgerow.errors import DataError
from hedgerow.schema import Schema

__all__ = ["SERVER", "Record", "value_readers"]

SERVER = "HEDGEROW_FUZZ_POSTGRES"
"""The variable with the address of a PostgreSQL server, if there is one."""


class Record(NamedTuple):
    """The record that is put in, and before which one.

    Args:
        place: Before which record.
        kinds: The number of each column's type.
        values: Its values, as Python objects.
        split: After how many records a batch or row group ends.
    """

    place: int
    kinds: tuple[int, ...]
    values: tuple[Any, ...]
    split: int


class Kind(NamedTuple):
    """A type of columns: what usual records hold in it, and what the odd one may hold."""

    type: Any
    usual: Sequence[Any]
    odd: Sequence[Any]


_TEXTS = ["5", "cook", "", "yes", "é", "2020-06-01", "p1", "a;b"]
_ODD = [
    None, "", "\0", "nan", "-nan", "1e999", "9" * 400, "x" * 5000, "\ufeff5", "5\n6", '"', "\u2028",
    "e\u0301", "٣", "1,5", " cook ", "2020-02-30", "true", "p1 ", "P1", "1.0", "a;;b", "é;é",
    *(word for word in WORDS if "\ud800" not in word),
]  # fmt: skip
_WHOLE = [1, 5, 17, 99, 0]
_DAYS = [datetime.date(2020, 1, day) for day in (1, 2, 3)]
_MOMENTS = [datetime.datetime(2020, 1, day, day) for day in (1, 2, 3)]
_EDGES = [None, 0, 1, -1, 2**31 - 1, -(2**31)]
_HUGE = [*_EDGES, 2**53 + 1, 2**62, 2**63 - 1, -(2**63)]
_REAL = [1.0, 5.5, 17.0, 0.0, 99.0]
_ODD_REAL = [None, math.nan, math.inf, -math.inf, -0.0, 5e-324, 1e308, 0.1, 2.0**53 + 2, 1e16]


@cache
def kinds() -> tuple[Kind, ...]:
    """The types that are tried for every column."""
    texts = [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
    return (
        *(Kind(kind, _TEXTS, _ODD) for kind in texts),
        Kind(pa.int64(), _WHOLE, _HUGE),
        Kind(pa.int32(), _WHOLE, _EDGES),
        Kind(pa.uint64(), _WHOLE, [None, 0, 2**63, 2**64 - 1]),
        Kind(pa.float64(), _REAL, _ODD_REAL),
        Kind(pa.float32(), _REAL, _ODD_REAL),
        Kind(pa.bool_(), [True, False], [None, True]),
        Kind(pa.date32(), _DAYS, _EDGES),
        Kind(pa.timestamp("us"), _MOMENTS, _HUGE),
        Kind(pa.timestamp("ns", "Europe/Berlin"), _MOMENTS, _HUGE),
        Kind(pa.decimal128(38, 2), [Decimal(5), Decimal("17.50")],
             [None, Decimal("1e35"), Decimal("-0.01")]),
        Kind(pa.binary(), [b"5", b"cook", b"p1"], [None, b"", b"\xff", b"\0", b"yes", b'"']),
        Kind(pa.null(), [None], [None]),
    )  # fmt: skip


@cache
def list_kinds() -> tuple[Kind, ...]:
    """The types of columns of items."""
    texts = [["a", "b"], ["c"], [], ["x", "d", "é"], ["e f"]]
    odd = [None, [None], ["\0"], ["a", None, "a"], ["x" * 900], [""], list("abcdefgh") * 9, ['"']]
    return (
        *(Kind(kind, texts, odd) for kind in (pa.list_(pa.string()), pa.large_list(pa.string()))),
        Kind(pa.list_(pa.dictionary(pa.int32(), pa.string())), texts, odd),
        Kind(pa.list_(pa.int64()), [[1, 2], [], [3]], [None, [None], [2**63 - 1], [-1] * 40]),
        *kinds()[:4],
    )


def _array(kind: Kind, values: Sequence[Any]) -> Any:
    if pa.types.is_date32(kind.type) or pa.types.is_timestamp(kind.type):
        # The odd ones are numbers, since Python's calendar does not hold them.
        width = pa.int32() if pa.types.is_date32(kind.type) else pa.int64()
        usual = pa.array([v for v in values if isinstance(v, datetime.date)], kind.type)
        told = iter(usual.cast(width).to_pylist())
        numbers = [next(told) if isinstance(v, datetime.date) else v for v in values]
        return pa.array(numbers, width).cast(kind.type)
    if pa.types.is_list(kind.type) and pa.types.is_dictionary(kind.type.value_type):
        plain = pa.array(values, pa.list_(pa.string()))
        coded = plain.values.dictionary_encode()
        return pa.ListArray.from_arrays(plain.offsets, coded, mask=plain.is_null())
    if pa.types.is_dictionary(kind.type):
        return pa.array(values, pa.string()).dictionary_encode()
    return pa.array(values, kind.type)


@cache
def stats_kinds() -> tuple[Kind, ...]:
    """The types of columns in files of statistics programs."""
    words = [word for word in _ODD if word is None or "\0" not in word]
    return (
        Kind(pa.string(), _TEXTS, words),
        Kind(pa.float64(), _REAL, _ODD_REAL),
        Kind(pa.int32(), _WHOLE, [0, 1, -1, 2**31 - 100, 100, -(2**31) + 100]),
        Kind(pa.date32(), _DAYS, [None, 0, -1, 40_000, -30_000]),
    )


@cache
def label_kinds() -> tuple[Kind, ...]:
    """The types of series of labels, most of which are classes."""
    texts = [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
    return (
        *(Kind(kind, ["5", "cook", "1.5"], [*_LABELS, "5.0", " cook", *_ODD]) for kind in texts),
        Kind(pa.int64(), [5], [5, *_HUGE]),
        Kind(pa.float64(), [5.0, 1.5], [1.5, *_ODD_REAL]),
        Kind(pa.float32(), [5.0, 1.5], [1.5, *_ODD_REAL]),
        Kind(pa.bool_(), [True], [None, True, False]),
    )


@cache
def array_kinds() -> tuple[Kind, ...]:
    """The types of arrays."""
    return tuple(kind for kind in kinds() if pa.types.is_floating(kind.type) or kind.type in
                 (pa.int64(), pa.int32(), pa.uint64(), pa.bool_()))  # fmt: skip


def _matrix(arrays: list[Any], names: list[str], split: int) -> Any:
    """An array of the first column's type, which no record has a say in."""
    kind = arrays[0].type
    try:
        columns = [array.cast(kind) for array in arrays]
    except pa.ArrowException:
        raise DataError("this is no array", hint="Nothing to do.") from None
    if not pa.types.is_floating(kind) and any(column.null_count for column in columns):
        raise DataError("this is no array", hint="Nothing to do.")
    return np.column_stack([column.to_numpy(zero_copy_only=False) for column in columns])


def _fitted(source: Any, labels: Any = None) -> Any:
    """The rows that an estimator of scikit-learn publishes."""
    from hedgerow import sklearn

    def published(rows: Any, schema: Schema, *_: Any, **__: Any) -> Any:
        return rows_of(table.read(rows, schema).codes)

    kept, sklearn.publish = sklearn.publish, published  # type: ignore[assignment]
    try:
        if labels is None:
            return sklearn.Synthesizer(schema=PEOPLE).fit(source).release_
        model = sklearn.RegionClassifier(bounds=(0, 99), classes=_LABELS)
        return model.fit(source, labels).release_
    finally:
        sklearn.publish = kept


def _labeled(source: Any) -> Any:
    """The rows that a classifier publishes whose labels are these: a list, an array or a series."""
    if isinstance(source, list):
        labels: Any = [record[0] for record in source]
    else:
        labels = source[:, 0] if isinstance(source, np.ndarray) else source["y"]
    return _fitted([[5.0]] * len(labels), labels)


class _Reading(NamedTuple):
    name: str
    share: float
    columns: Sequence[str]
    choices: Callable[[], Sequence[Kind]]
    make: Callable[[list[Any], list[str], int], Any]
    read: Callable[[Any], Any]
    people: bool = False
    tag: int | None = None


def _arrow(arrays: list[Any], names: list[str], split: int) -> Any:
    rows = pa.table(arrays, names=names)
    return pa.concat_tables([rows.slice(0, split), rows.slice(split)])


def _frames(folder: Path) -> dict[str, tuple[float, Callable[[list[Any], list[str], int], Any]]]:
    path, database = folder / "rows.parquet", folder / "rows.db"

    def parquet(arrays: list[Any], names: list[str], split: int) -> Any:
        pq.write_table(pa.table(arrays, names=names), path, row_group_size=split)
        return path

    def stream(arrays: list[Any], names: list[str], split: int) -> Any:
        return _arrow(arrays, names, split).combine_chunks().to_reader(split)

    def pandas(arrays: list[Any], names: list[str], split: int) -> Any:
        return pa.table(arrays, names=names).to_pandas(types_mapper=pd.ArrowDtype)

    def polars(arrays: list[Any], names: list[str], split: int) -> Any:
        return pl.from_arrow(_arrow(arrays, names, split))

    def duckdb(arrays: list[Any], names: list[str], split: int) -> Any:
        import duckdb as engine

        database.unlink(missing_ok=True)
        rows = pa.table(arrays, names=names)
        with engine.connect(str(database)) as connection:
            connection.register("given", rows)
            connection.execute("CREATE TABLE rows AS SELECT * FROM given")
        return table.Database(f"duckdb://{database}", table="rows")

    return {
        "Arrow": (3, _arrow), "stream": (1, stream), "Parquet": (2, parquet),
        "pandas": (1, pandas), "Polars": (1, polars), "DuckDB": (0.1, duckdb),
    }  # fmt: skip


def _postgres(address: str) -> Callable[[list[Any], list[str], int], Any]:
    """Fills a table of a server, one for each process."""
    from adbc_driver_postgresql import dbapi

    name = f"rows_{os.getpid()}"

    def make(arrays: list[Any], names: list[str], split: int) -> Any:
        rows = pa.table(arrays, names=names)
        try:
            with (
                dbapi.connect(address, autocommit=True) as connection,
                connection.cursor() as cursor,
            ):
                cursor.adbc_ingest(name, rows, mode="replace")
        except dbapi.Error:  # PostgreSQL does not hold it, whoever reads it
            raise DataError("this cannot be written", hint="Nothing to do.") from None
        return table.Database(address, table=name)

    return make


@cache
def postgres_kinds() -> tuple[Kind, ...]:
    """The types of columns of a PostgreSQL server."""
    held = (pa.string(), pa.int64(), pa.int32(), pa.float64(), pa.float32(), pa.bool_(),
            pa.date32(), pa.timestamp("us"), pa.binary())  # fmt: skip
    return tuple(kind for kind in kinds() if kind.type in held)


def _stats_file(folder: Path, write: str) -> Callable[[list[Any], list[str], int], Any]:
    """Writes a file of a statistics program, to be read in blocks of a few rows."""
    import pyreadstat

    path = folder / f"{write}.bin"

    def make(arrays: list[Any], names: list[str], split: int) -> Any:
        stats_file.BATCH_ROWS = split
        rows = pd.DataFrame({
            name: array.to_numpy(zero_copy_only=False) if pa.types.is_primitive(array.type)
            and not pa.types.is_date32(array.type)
            else np.array(array.to_pylist(), object)
            for name, array in zip(names, arrays, strict=True)
        })  # fmt: skip
        try:
            getattr(pyreadstat, write)(rows, str(path))
        except Exception:  # the format does not hold it, whoever reads it
            raise DataError("this cannot be written", hint="Nothing to do.") from None
        return path

    return make


def _readings(folder: Path) -> Iterator[_Reading]:
    people, persons, bought, long = map(Schema.from_dict, (PEOPLE, PERSONS, BOUGHT, LONG))

    def memory(source: Any) -> Any:
        return rows_of(table.read(source, people).codes)

    def capped(source: Any) -> Any:
        return rows_of(table.read(source, persons).codes)

    def transactions(schema: Schema) -> Callable[[Any], Any]:
        def read(source: Any) -> Any:
            found = table.read_transactions(source, schema)
            return records_of(found.start, found.codes)

        return read

    def streamed_items(source: Any) -> Any:
        with StreamedItems.read(source, bought, SMALL) as engine:  # type: ignore[arg-type]
            return [r for part in engine._parts for r in records_of(*part.records)]

    head, item = list(PEOPLE["attributes"]), ["x"]
    for name, (share, make) in _frames(folder).items():
        yield _Reading(f"{name} record", 3 * share, head, kinds, make, memory)
        yield _Reading(f"{name} items", share, item, list_kinds, make, transactions(bought))
    who, both = list(PERSONS["attributes"]), ["who", "x"]
    yield _Reading("Arrow person", 2, who, kinds, _arrow, capped, True, 1)
    yield _Reading("Arrow long", 2, both, kinds, _arrow, transactions(long), True)
    parquet = _frames(folder)["Parquet"][1]
    yield _Reading("Parquet streamed", 1, head, kinds, parquet, lambda s: streamed(s, people))
    yield _Reading("Arrow streamed", 0.5, item, list_kinds, _arrow, streamed_items)
    if address := os.environ.get(SERVER):
        make = _postgres(address)
        yield _Reading("PostgreSQL record", 0.1, head, postgres_kinds, make, memory)
        yield _Reading("PostgreSQL items", 0.05, item, postgres_kinds, make, transactions(bought))
    yield _Reading("Parquet by the studio", 0.3, head, kinds, parquet,
                   lambda path: by_studio(path, people))  # fmt: skip
    if find_spec("sklearn") is not None:
        for name in ("Arrow", "pandas", "Polars"):
            make = _frames(folder)[name][1]
            yield _Reading(f"sklearn {name}", 1, head, kinds, make, _fitted)
            if name != "Arrow":
                yield _Reading(f"sklearn {name} labels", 1, ["y"], label_kinds, make, _labeled)
        yield _Reading("sklearn array", 1, head[:3], array_kinds, _matrix, _fitted)
    if find_spec("pyreadstat") is not None:
        for name, write in (("SPSS", "sav"), ("Stata", "dta"), ("SAS", "xport")):
            made = _stats_file(folder, f"write_{write}")
            yield _Reading(f"{name} record", 0.5, head, stats_kinds, made, memory)
        persons_file = _stats_file(folder, "write_sav")
        yield _Reading("SPSS person", 0.5, who, stats_kinds, persons_file, capped, True, 1)


_ROWS = 6


def _value_reader(reading: _Reading) -> Reader:
    width = len(reading.columns)
    whole = [pa.types.is_integer(kind.type) for kind in reading.choices()].index(True)

    def columns(case: Record, extra: bool) -> list[Any]:
        arrays = []
        for column, (number, value) in enumerate(zip(case.kinds, case.values, strict=True)):
            kind = reading.choices()[number]
            values = [kind.usual[(row + column) % len(kind.usual)] for row in range(_ROWS)]
            if reading.columns[column] == "tag":
                values = [*range(_ROWS)]
            arrays.append(
                _array(kind, values[: case.place] + [value] * extra + values[case.place :])
            )
        return arrays

    def draw(random: Random) -> Record:
        chosen, values = [], []
        for column in reading.columns:
            number = random.randrange(len(reading.choices()))
            if column == "tag":
                number = whole
            kind = reading.choices()[number]
            chosen.append(number)
            values.append(random.choice((*kind.odd, *kind.usual[:2])))
        place, split = random.randrange(_ROWS + 1), random.choice((1, 2, 3, _ROWS))
        return Record(place, tuple(chosen), tuple(values), split)

    def read(case: Record, extra: bool) -> Any:
        made = reading.make(columns(case, extra), list(reading.columns), case.split)
        return reading.read(made)

    def run(case: Record) -> None:
        before = read(case, False)
        differ(before, read(case, True), case.place, 1, reading.people, reading.tag)

    first = reading.choices()[0]
    sound = Record(2, (0,) * width, (first.usual[0],) * width, 3)
    if "tag" in reading.columns:
        sound = Record(2, (0, whole, 0), ("5", 7, "p9"), 3)
    return Reader(reading.name, reading.share, sound, draw, run)


_LABELS = ["cook", "5", "1.5", "true"]
_OBJECTS: list[Any] = ["5", 5, 5.0, True, None, "cook", np.int64(7), Decimal("1.5"), _DAYS[0], ""]
_LISTS: list[Any] = ["a;b", ["a", "c"], None, ("b",), [], np.array(["d", "a"]), {"e f"}, 5]
_NARROW = [np.float32(0.7), np.float16(0.1), np.float64(17), np.int8(5), np.str_("cook"),
           np.datetime64("2020-01-01", "ns"), np.datetime64("NaT"), np.bool_(True)]  # fmt: skip


def _pandas_frame(records: Sequence[Sequence[Any]], columns: Sequence[str], kind: int) -> Any:
    made = {}
    for column, name in enumerate(columns):
        values = np.empty(len(records), object)
        for row, record in enumerate(records):
            value = record[column]
            # pandas itself makes one category of 1 and True, before a reader sees them.
            values[row] = value if kind == 0 or isinstance(value, str) else None
        made[name] = pd.Series(values, dtype=object)
    rows = pd.DataFrame(made)
    if kind == 0:
        return rows
    try:
        return rows.astype("category")
    except (TypeError, ValueError, OverflowError):  # pandas does not take it
        return None


def _lists(records: Sequence[Sequence[Any]], columns: Sequence[str], kind: int) -> Any:
    """Lists of lists, or an array of objects."""
    if kind == 0:
        return [list(record) for record in records]
    rows = np.empty((len(records), len(columns)), object)
    for row, record in enumerate(records):
        for column, value in enumerate(record):
            rows[row, column] = value
    return rows


def _object_readers() -> Iterator[Reader]:
    """Python objects of any kinds beside each other."""
    people, bought, head = *map(Schema.from_dict, (PEOPLE, BOUGHT)), list(PEOPLE["attributes"])

    def items(source: Any) -> Any:
        found = table.read_transactions(source, bought)
        return records_of(found.start, found.codes)

    def rows(source: Any) -> Any:
        return rows_of(table.read(source, people).codes)

    yield _object_reader("object record", 4, head, _OBJECTS, _pandas_frame, rows)
    yield _object_reader("object items", 4, ["x"], _LISTS, _pandas_frame, items)
    if find_spec("sklearn") is not None:
        yield _object_reader("sklearn list", 4, head[:3], _OBJECTS, _lists, _fitted)
        known = ["cook", 5, "5", 5.0, 1.5, True, np.float32(5), "true"]
        yield _object_reader("sklearn labels", 2, ["y"], known, _lists, _labeled)
        yield _object_reader("sklearn objects", 2, head, _OBJECTS, _pandas_frame, _fitted)
        yield _object_reader("sklearn object labels", 1, ["y"], known, _pandas_frame, _labeled)


def _object_reader(
    name: str,
    share: float,
    columns: Sequence[str],
    base: Sequence[Any],
    make: Callable[[Sequence[Sequence[Any]], Sequence[str], int], Any],
    read: Callable[[Any], Any],
) -> Reader:
    odd = [*_ODD, *OBJECTS, *_HUGE, *_ODD_REAL, *_NARROW, pd.NA, pd.NaT, pd.Timestamp(5),
           [["a"]], [{}], np.array([[1]]), "\ud800", ["\ud800"], [10**5000], [None, 2.5],
           {"a": 1}]  # fmt: skip

    def draw(random: Random) -> Record:
        kind = 1 if random.random() < 0.2 and columns != ["x"] else 0
        values = tuple(random.choice((*odd, *base)) for _ in columns)
        return Record(random.randrange(len(base) + 1), (kind,), values, 1)

    def run(case: Record) -> None:
        (kind,) = case.kinds
        records = [
            [base[(row + c) % len(base)] for c in range(len(columns))] for row in range(len(base))
        ]
        more = [*records[: case.place], case.values, *records[case.place :]]
        after = make(more, columns, kind)
        if after is not None:
            differ(read(make(records, columns, kind)), read(after), case.place, 1, False)

    return Reader(name, share, Record(1, (0,), (base[0],) * len(columns), 1), draw, run)


def _write_xlsx(path: Path, records: Sequence[Sequence[Any]]) -> None:
    import xlsxwriter

    with xlsxwriter.Workbook(path, {"in_memory": True}) as book:
        sheet, day = book.add_worksheet(), book.add_format({"num_format": "yyyy-mm-dd"})
        for row, record in enumerate(records):
            for column, value in enumerate(record):
                if isinstance(value, datetime.date):
                    sheet.write_datetime(row, column, value, day)
                elif isinstance(value, str):
                    sheet.write_string(row, column, value)
                elif value is not None:
                    sheet.write(row, column, value)


_SPACES = {
    name: f"urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"
    for name in ("office", "table", "text", "manifest")
}
_UNSEEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # not in XML


def _write_ods(path: Path, records: Sequence[Sequence[Any]]) -> None:
    """A sheet of OpenDocument, as LibreOffice would write it."""
    spaces = " ".join(f'xmlns:{name}="{uri}"' for name, uri in _SPACES.items())

    def cell(value: Any) -> str:
        if value is None:
            return "<table:table-cell/>"
        kind, text = "string", str(value)
        if isinstance(value, bool):
            kind, told = "boolean", f'office:boolean-value="{str(value).lower()}"'
        elif isinstance(value, (int, float)):
            kind, told = "float", f'office:value="{value!r}"'
        elif isinstance(value, datetime.date):
            kind, told = "date", f'office:date-value="{value.isoformat()}"'
        else:
            text, told = _UNSEEN.sub("", text), ""
        inside = "".join(f"<text:p>{escape(line)}</text:p>" for line in text.split("\n"))
        return f'<table:table-cell office:value-type="{kind}" {told}>{inside}</table:table-cell>'

    rows = "".join(
        f"<table:table-row>{''.join(map(cell, record))}</table:table-row>" for record in records
    )
    content = (
        f"<office:document-content {spaces}><office:body><office:spreadsheet>"
        f'<table:table table:name="A">{rows}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    listed = "".join(
        f'<manifest:file-entry manifest:full-path="{place}" manifest:media-type="{what}"/>'
        for place, what in (("/", kind), ("content.xml", "text/xml"))
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("META-INF/manifest.xml",
                         f"<manifest:manifest {spaces}>{listed}</manifest:manifest>")  # fmt: skip
        archive.writestr("content.xml", content)


def _cell_reader(
    path: Path, name: str, write: Callable[[Path, Sequence[Sequence[Any]]], None]
) -> Reader:
    """Cells of a workbook, of any kinds beside each other."""
    schema, columns = Schema.from_dict(PEOPLE), list(PEOPLE["attributes"])
    base: list[Any] = ["5", 5, 17.5, True, None, "cook", "2020-06-01", _DAYS[0], "é", -1]
    texts = [text for text in _ODD if text is None or len(text) < 10_000]
    odd: list[Any] = [*texts, 1e300, 0.1, 2**53, -0.0, datetime.date(9999, 12, 31), *_MOMENTS]

    def read(records: Sequence[Sequence[Any]]) -> Any:
        write(path, [columns, *records])
        return rows_of(table.read(path, schema).codes)

    records = [
        [base[(row + c) % len(base)] for c in range(len(columns))] for row in range(len(base))
    ]

    @cache
    def without() -> Any:
        return read(records)

    def draw(random: Random) -> Record:
        # now and then one value more than there are columns, which must stop the run
        width = len(columns) + (random.random() < 0.05)
        values = tuple(random.choice((*odd, *base)) for _ in range(width))
        return Record(random.randrange(len(base) + 1), (), values, 1)

    def run(case: Record) -> None:
        after = read([*records[: case.place], case.values, *records[case.place :]])
        differ(without(), after, case.place, 1, False)

    return Reader(name, 0.5, Record(1, (), (base[0],) * len(columns), 1), draw, run)


def value_readers(folder: Path) -> dict[str, Reader]:
    """The readers of typed columns, each with one more record.

    Args:
        folder: A folder for the files of cases.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found = [_value_reader(reading) for reading in _readings(folder)]
    found += _object_readers()
    if find_spec("python_calamine") is not None:
        found.append(_cell_reader(folder / "cells.xlsx", "cell record", _write_xlsx))
        found.append(_cell_reader(folder / "cells.ods", "ODS record", _write_ods))
    return {reader.name: reader for reader in found}
