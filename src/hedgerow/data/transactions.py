"""`Transactions`: private transactions as codes, and how they are read."""

from __future__ import annotations

import codecs
import gzip
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from hedgerow.arrays import Bytes, Ints, Small
from hedgerow.data.choose import is_many, magic_of, open_source
from hedgerow.data.frames import FrameKind, frame_kind
from hedgerow.data.item_kernels import find_lines
from hedgerow.data.source import Private, Progress, ReadOptions
from hedgerow.data.text import LONGEST, encoding_error, explain, misnamed, too_long
from hedgerow.errors import DataError, UsageError
from hedgerow.schema.attributes import PLAIN

if TYPE_CHECKING:
    from hedgerow.data.parquet import Piece
    from hedgerow.data.records import ItemPreparation, ItemTally, Lookup, Records, Sink
    from hedgerow.schema import Schema


class Transactions(Private):
    """Private transactions as codes: see `Private`.

    Attributes:
        start: Where each record begins in `codes`, and where the last one ends.
        codes: The items of all records; distinct and increasing within each record.
    """

    __slots__ = ("codes", "start")

    def __init__(
        self,
        schema: Schema,
        start: Ints,
        codes: Small,
        frame_kind: FrameKind = "arrow",
    ) -> None:
        """Takes codes as `read_transactions` makes them."""
        super().__init__(schema, frame_kind)
        self.start = start
        self.codes = codes


def read_transactions(source: Any, schema: Schema, **how: Unpack[ReadOptions]) -> Transactions:
    """Reads private transactions and encodes them against the schema.

    Repeated items of a record count once. Items outside the universe are dropped or refused,
    empty records are dropped or hold the public item `(empty)`, and a record of more than
    `max_items` items keeps those that a fixed public hash of its own set of items ranks first.

    Args:
        source: The path of a text file with one record per line (also gzipped), of a CSV or
            Parquet file, or an Arrow, pandas or Polars frame.
        schema: The public schema; it says in which columns the items stand.
        how: How to read: `delimiter`, `line_breaks`, `progress` and `allow_empty`, as for
            `hedgerow.data.read`.

    Example:
        >>> import pyarrow as pa
        >>> from hedgerow.schema import Schema
        >>> schema = Schema.from_dict({
        ...     "name": "shop", "unit": "row", "items": {"universe": ["milk", "tea"]}})
        >>> bought = pa.table({"bought": [["tea", "milk"], ["tea"]]})
        >>> transactions = read_transactions(bought, schema)
        >>> transactions, transactions.codes.tolist(), transactions.start.tolist()
        (Transactions('shop'), [0, 1, 1], [0, 2, 3])
    """
    start, codes = read_records(source, schema, **how).finish()
    return Transactions(schema, start, codes, frame_kind(source))


def read_records(
    source: Any,
    schema: Schema,
    *,
    delimiter: str | None = None,
    line_breaks: bool = False,
    progress: Progress | None = None,
    sink: Sink | None = None,
    allow_empty: bool = True,
    tally: ItemTally | None = None,
) -> Records:
    """Reads transactions as `read_transactions` does, and hands them on block by block.

    Args:
        source: Whatever `read_transactions` takes.
        schema: The public schema.
        delimiter: The delimiter of a CSV file, if its first line is not to tell it.
        line_breaks: Whether quoted values of a CSV file may hold line breaks; without it a record
            is a line.
        progress: Called now and then with the share that has been read, from 0 to 1.
        sink: Takes the codes of records and the number of each one's codes; without it the result
            keeps them.
        allow_empty: Whether an input without any record is in order.
        tally: Counts what becomes of records, for whoever holds them.
    """
    # These wait for numba, so they are loaded only when needed.
    from hedgerow.data.frames import split_text
    from hedgerow.data.records import Lookup, read_columns

    items = schema.items
    if items is None:
        raise UsageError(
            "the schema describes a table by its attributes, not transactions by their items",
            hint="Read it with hedgerow.data.read, or give a schema with `items:`.",
        )
    lookup = Lookup(items)
    if items.column is None and items.item is None and is_text(source):
        if schema.file != PLAIN:
            raise UsageError(
                "lines of items are UTF-8 without a line of names, and the schema has `file:`",
                hint="Remove `file:`, or name the column that holds the items, `column:`.",
            )
        records = _read_text(Path(os.fsdecode(source)), lookup, progress, sink, tally)
    else:
        columns = [name for name in (items.column, items.person, items.item) if name is not None]
        split = None if items.item is not None else split_text(items.separator)
        opened = open_source(
            source, known=columns, delimiter=delimiter, line_breaks=line_breaks, split=split,
            written=schema.file,
        )  # fmt: skip
        records = read_columns(opened, lookup, progress, sink, tally)
    records.done(allow_empty)
    if progress is not None:
        progress(1.0)
    return records


def check_transactions(source: Any, schema: Schema, **how: Unpack[ReadOptions]) -> ItemPreparation:
    """Looks whether transactions follow the schema, as `read_transactions` does; keeps none.

    What is returned are exact counts of what became of the records, for whoever holds them.
    """
    from hedgerow.data.records import ItemTally

    assert schema.items is not None
    tally = ItemTally(schema.items)
    read_records(source, schema, sink=lambda codes, sizes: None, tally=tally, **how)
    return tally.finish()


def open_pieces(source: Any, schema: Schema) -> tuple[Sequence[Piece], str, Records]:
    """The Parquet files of a source for other processes to read, without reading a record.

    Args:
        source: Whatever `read_transactions` takes.
        schema: The public schema, in which one column holds the items.

    Returns:
        The pieces (none if it is anything but Parquet files), the column that holds the items, and
        the records, none of which has been added.
    """
    from hedgerow.data.records import Lookup, Records, column_of

    assert schema.items is not None
    lookup = Lookup(schema.items)
    if schema.items.column is None and is_text(source):
        return (), "", Records(lookup, str(source), lambda rows: [])
    known = [] if schema.items.column is None else [schema.items.column]
    opened = open_source(source, known=known, written=schema.file)
    records = Records(lookup, opened.what, opened.places)
    return opened.pieces, column_of(opened, schema.items), records


def is_text(source: Any) -> bool:
    """Whether the source is a text file, as opposed to Parquet or a frame.

    The first bytes of a text file without a header belong to somebody's record, which must not
    decide how the others are read. So its name decides, and content that contradicts it is refused.
    """
    if not isinstance(source, (str, os.PathLike)):
        return False
    if is_many(os.fsdecode(source)):
        return False
    path = Path(os.fsdecode(source))
    magic = magic_of(path)
    if path.suffix.lower() in (".parquet", ".pq"):
        return False
    if magic in (b"PK\3\4", b"PK\5\6"):  # the first line in it would be taken for names
        raise DataError(
            f"{path}: this is a workbook or a zip archive, and the schema names no column",
            hint="Name the column that holds the items, `column:` below `items:`. If it holds "
            "lines of items, unpack it and give that file.",
        )
    if magic == b"PAR1":  # an item may be called PAR1; Parquet also ends like that
        with path.open("rb") as file:
            file.seek(-4, os.SEEK_END)
            if file.read() == b"PAR1":
                raise misnamed(path, "a Parquet file", ".parquet")
    gzipped, called = magic[:2] == b"\x1f\x8b", path.name.lower().endswith(".gz")
    if gzipped != called:
        raise misnamed(path, "a gzip file" if gzipped else "not a gzip file", ".gz")
    return True


def _read_text(
    path: Path,
    lookup: Lookup,
    progress: Progress | None,
    sink: Sink | None,
    tally: ItemTally | None,
) -> Records:
    """Reads a file with one record per line."""
    from hedgerow.data.records import Records

    if path.name.lower().endswith((".csv", ".csv.gz")) and lookup.items.separator == " ":
        raise UsageError(
            f"{path}: the schema does not say which column of a CSV file holds the items",
            hint="Write `column: ...` below `items:`, or `person: ...` and `item: ...` if there "
            "is one row for each item; for lines of items without column names write "
            "`separator: ...`.",
        )
    lookup.check_separator()
    gzipped = magic_of(path)[:2] == b"\x1f\x8b"
    records = Records(
        lookup, str(path), lambda rows: [f"line {row + 1}" for row in rows], sink, tally=tally
    )
    for lines in read_lines(path, gzipped=gzipped, progress=progress):
        if lines.odd is not None:
            records.note_odd(lines.odd)
        records.add(*lookup.split_bytes(lines.data, lines.begin, lines.end))
    return records


# Text files with one record per line, as the FIMI repository has them: plain or gzipped.
#
# Lines are read in blocks of bytes; no Python object is made for a record.


_BLOCK = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Some lines of a file.

    Args:
        data: Their bytes.
        begin: Where each line begins.
        end: Where it ends, without its line break.
        odd: The place of the first line that is not text in UTF-8, if there is one.
    """

    data: Bytes
    begin: Ints
    end: Ints
    odd: int | None


def read_lines(path: Path, *, gzipped: bool, progress: Progress | None = None) -> Iterator[Lines]:
    """The lines of a file, block by block; a line never straddles two blocks.

    Raises:
        DataError: If the file cannot be read, begins as one in UTF-16 does, or has a line that is
            too long.
    """
    size = max(1, os.path.getsize(path))
    number = 1
    try:
        with path.open("rb", buffering=0) as raw:
            file: Any = gzip.GzipFile(fileobj=raw) if gzipped else raw
            for block in _whole_lines(file):
                if number == 1 and block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                    raise encoding_error(path, 1)
                lines = _lines(block)
                long = np.flatnonzero(lines.end - lines.begin > LONGEST)
                if len(long):
                    raise too_long(path, number + int(long[0]))
                yield lines
                number += len(lines.begin)
                if progress is not None:
                    progress(min(1.0, raw.tell() / size))
    except (OSError, EOFError, zlib.error) as error:
        raise explain(error, path, gzipped) from None


def _whole_lines(file: Any) -> Iterator[bytes]:
    """The bytes of a file in blocks that end where a line does."""
    parts: list[bytes] = []
    while block := file.read(_BLOCK):
        if parts and parts[-1].endswith(b"\r") and not block.startswith(b"\n"):
            yield b"".join(parts)
            parts = []
        cut = _last_break(block)
        if cut:
            yield b"".join([*parts, block[:cut]])
            parts = []
        parts.append(block[cut:])
        # Then a line is too long, whatever follows, even without a byte order mark and a CR.
        if sum(map(len, parts)) > LONGEST + len(codecs.BOM_UTF8) + 1:
            break
    if any(parts):
        yield b"".join(parts)


def _last_break(block: bytes) -> int:
    """Where the last whole line ends; a CR at the very end may still be half of a CRLF."""
    newline = block.rfind(b"\n") + 1
    return max(newline, block.rfind(b"\r", newline, max(newline, len(block) - 1)) + 1)


def _lines(block: bytes) -> Lines:
    data = np.frombuffer(block, np.uint8)
    begin, end = find_lines(data)
    wrong = block.find(b"\0")
    if wrong < 0 and not block.isascii():
        try:
            block.decode("utf-8")
        except UnicodeDecodeError as error:
            wrong = error.start
    odd = None if wrong < 0 else int(np.searchsorted(begin, wrong, side="right")) - 1
    return Lines(data=data, begin=begin, end=end, odd=odd)
