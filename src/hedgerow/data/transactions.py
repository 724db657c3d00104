"""`Transactions`: private transactions as codes, how they are read, and what is odd about them."""

from __future__ import annotations

import codecs
import difflib
import gzip
import os
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Bools, Ints, Small
from hedgerow.data.frames import split_text
from hedgerow.data.lookup import FOREIGN, NOTHING, Lookup, find_lines, items_of, settle
from hedgerow.data.open_input import is_many, magic_of, open_source
from hedgerow.data.people import person_ids, person_numbers
from hedgerow.data.source import (
    FrameKind,
    Grown,
    Private,
    Progress,
    ReadOptions,
    Source,
    frame_kind,
    no_records,
    silent,
)
from hedgerow.data.text import LONGEST, encoding_error, explain, find_odd, misnamed, too_long
from hedgerow.errors import DataError, DataWarning, UsageError
from hedgerow.schema import Items
from hedgerow.schema.attributes import PLAIN

if TYPE_CHECKING:
    from hedgerow.data.parquet import Piece
    from hedgerow.data.preparation import ItemTally
    from hedgerow.schema import Schema


class Transactions(Private):
    """Private transactions as codes: see `Private`.

    Attributes:
        start: Where each record begins in `codes`, and where the last one ends.
        codes: The items of all records; distinct and increasing within each record.
    """

    __slots__ = ("codes", "start")

    def __init__(
        self, schema: Schema, start: Ints, codes: Small, *, frame_kind: FrameKind = "arrow"
    ) -> None:
        """Takes codes as `read_transactions` makes them."""
        self.schema, self.frame_kind = schema, frame_kind
        self.start, self.codes = start, codes


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
    return Transactions(schema, start, codes, frame_kind=frame_kind(source))


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
    items = schema.items
    if items is None:
        raise UsageError(
            "the schema describes a table by its attributes, not transactions by their items",
            hint="Read it with hedgerow.data.read, or give a schema with `items:`.",
        )
    progress = progress or silent
    if items.column is None and items.item is None and is_text(source):
        if schema.file != PLAIN:
            raise UsageError(
                "lines of items are UTF-8 without a line of names, and the schema has `file:`",
                hint="Remove `file:`, or name the column that holds the items, `column:`.",
            )
        path = Path(os.fsdecode(source))
        records = Records(
            items, str(path), lambda rows: [f"line {row + 1}" for row in rows], sink, tally=tally
        )
        _read_text(path, records, progress)
    else:
        columns = [name for name in (items.column, items.person, items.item) if name is not None]
        split = None if items.item is not None else split_text(items.separator)
        opened = open_source(
            source, known=columns, delimiter=delimiter, line_breaks=line_breaks, split=split,
            written=schema.file,
        )  # fmt: skip
        records = Records(items, opened.what, opened.places, sink, tally=tally)
        _read_columns(opened, records, progress)
    records.done(allow_empty)
    progress(1.0)
    return records


def open_pieces(source: Any, schema: Schema) -> tuple[Sequence[Piece], str, Records]:
    """The Parquet files of a source for other processes to read, without reading a record.

    Args:
        source: Whatever `read_transactions` takes.
        schema: The public schema, in which one column holds the items.

    Returns:
        The pieces (none if it is anything but Parquet files), the column that holds the items, and
        the records, none of which has been added.
    """
    items = schema.items
    assert items is not None
    if items.column is None and is_text(source):
        return (), "", Records(items, str(source), lambda rows: [])
    known = [] if items.column is None else [items.column]
    opened = open_source(source, known=known, written=schema.file)
    return opened.pieces, column_of(opened, items), Records(items, opened.what, opened.places)


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
    if magic.startswith((b"PK\3\4", b"PK\5\6")):  # the first line in it would be taken for names
        raise DataError(
            f"{path}: this is a workbook or a zip archive, and the schema names no column",
            hint="Name the column that holds the items, `column:` below `items:`. If it holds "
            "lines of items, unpack it and give that file.",
        )
    if magic.startswith(b"PAR1"):  # an item may be called PAR1; Parquet also ends like that
        with path.open("rb") as file:
            file.seek(-4, os.SEEK_END)
            if file.read() == b"PAR1":
                raise misnamed(path, "a Parquet file", ".parquet")
    gzipped, called = magic[:2] == b"\x1f\x8b", path.name.lower().endswith(".gz")
    if gzipped != called:
        raise misnamed(path, "a gzip file" if gzipped else "not a gzip file", ".gz")
    return True


# Records of items as they come in, block by block, and what was odd about them.


_PLACES = 3  # named in a complaint; more would begin to count records

Places = Callable[[Sequence[int]], list[str]]
Sink = Callable[[Small, Ints], None]


@dataclass(kw_only=True)
class Noted:
    """What was odd about some of the records: all that another process has to know of them.

    Args:
        foreign: The first places at which a foreign item stands.
        odd: The first record that is not proper text.
        mark: What looks like a separator that the schema does not name.
        useful: Whether any record has an item of the universe.
        empty: Whether there was no record, whatever rules make of it.
    """

    foreign: list[int] = field(default_factory=list)
    odd: int | None = None
    mark: str | None = None
    useful: bool = False
    empty: bool = True

    def merge(self, later: Noted) -> None:
        """Adds what another process noted of later records."""
        self.foreign = sorted([*self.foreign, *later.foreign])[:_PLACES]
        self.mark = self.mark or later.mark
        self.useful = self.useful or later.useful
        self.empty = self.empty and later.empty


class Records:
    """Takes the items of records and applies the rules for them.

    Args:
        items: The universe and the rules.
        what: How messages call the source.
        places: Turns record numbers (from 0) into words such as `line 12`.
        sink: Takes the codes of records and the number of each one's codes, block by block; without
            it they are kept here.
        first: The number of the first record.
        tally: Counts what becomes of records, for whoever holds them.
    """

    def __init__(
        self,
        items: Items,
        what: str,
        places: Places,
        sink: Sink | None = None,
        first: int = 0,
        tally: ItemTally | None = None,
    ) -> None:
        self.lookup = Lookup(items)
        self._sink = sink
        self.tally = tally
        self.what = what
        self._places = places
        self._codes = Grown(np.int32)
        self._start = Grown(np.int64)
        self._start.extend(1)[0] = 0
        self._seen = first
        self.noted = Noted()

    def add(self, codes: Small, sizes: Ints) -> None:
        """Takes the codes of the next records and the number of each one's codes."""
        noted = self.noted
        noted.empty = noted.empty and not len(sizes)
        noted.mark = self.lookup.mark
        if self.tally is not None:
            self.tally.add(codes, sizes)
        most, dummy = self.lookup.items.most, self.lookup.dummy
        codes, sizes, foreign = settle(codes, sizes, most, dummy)
        self.note(foreign, self._seen)
        self._seen += len(foreign)
        # The dummy is a record's last resort: it does not show that the universe is right.
        noted.useful = noted.useful or bool((codes != dummy).any())
        if self._sink is not None:
            self._sink(codes, sizes)
            return
        self._start.extend(len(sizes))[:] = np.cumsum(sizes) + self._codes.used
        self._codes.extend(len(codes))[:] = codes

    def note(self, foreign: Bools, first: int) -> None:
        """Remembers the first places at which a foreign item stands."""
        room = _PLACES - len(self.noted.foreign)
        if room and foreign.any():
            self.noted.foreign += (np.flatnonzero(foreign)[:room] + first).tolist()

    def done(self, allow_empty: bool) -> None:
        """Refuses what breaks the schema and warns of what is odd, when all records were seen."""
        if self.noted.empty and not allow_empty:
            raise no_records(self.what)
        if self.lookup.items.foreign == "error" and self.noted.foreign:
            where = ", ".join(self._places(self.noted.foreign))
            raise DataError(
                f"{self.what}, {where}: an item is not in the universe, and the schema says "
                "`foreign: error` (the first places are named)",
                hint="Correct the data or the universe, or leave such items out with "
                "`foreign: drop`.",
            )
        for sentence in self._warnings():
            warnings.warn(sentence, DataWarning, stacklevel=4)

    def _warnings(self) -> Iterator[str]:
        """What a steward should hear although no rule forbids it.

        These sentences depend on private data. They are for whoever holds the data, and must
        not become part of a release.
        """
        noted = self.noted
        if noted.odd is not None:
            (where,) = self._places([noted.odd])
            yield (
                f"{self.what}, {where}: the text is not encoded in UTF-8, so items there count as "
                "foreign. Save the file as UTF-8."
            )
        if noted.mark is not None:
            yield (
                f"{self.what}: the text holds '{noted.mark}', and no item of the universe "
                f"does. Is `separator: '{noted.mark}'` missing in the schema?"
            )
        if not noted.useful:
            yield (
                f"{self.what}: no record has an item of the universe, so a release will say "
                "nothing. Check the universe, and the separator or column, in the schema."
            )

    def finish(self) -> tuple[Ints, Small]:
        """Where each record begins (and the last one ends), and all codes."""
        return self._start.finish(), self._codes.finish()


# Transactions in the columns of a table: lists, texts of several items, or person and item.


def _read_columns(source: Source, records: Records, progress: Progress) -> None:
    """Reads the records from the columns that the schema names; other columns are ignored.

    Raises:
        DataError: If a column is not there or cannot be read.
    """
    items = records.lookup.items
    if items.person is not None and items.item is not None:
        _read_long(source, items.person, items.item, records, progress)
        return
    column = column_of(source, items)
    seen = 0
    for batch in source.batches(_places(source, [column])):
        records.add(*items_of(batch.column(0), column, records.lookup))
        seen += batch.num_rows
        progress(source.share(seen))


def _read_long(
    source: Source, person: str, item: str, records: Records, progress: Progress
) -> None:
    """Reads a table with one row for each item of a person; rows without a person are dropped."""
    people: list[Any] = []
    parts: list[Small] = []
    seen = 0
    for batch in source.batches(_places(source, [person, item])):
        ids, known = person_ids(batch.column(0), person)
        codes = records.lookup.find(batch.column(1), item)
        foreign = (codes == FOREIGN) & known
        records.note(foreign, seen)
        if records.tally is not None:
            gone = int((~known).sum())
            records.tally.add_rows(batch.num_rows, gone, int(foreign.sum()))
        seen += batch.num_rows
        records.noted.empty = not seen
        # From here on a foreign item is none: its row has been noted.
        parts.append(np.where(codes < 0, np.int32(NOTHING), codes)[known])
        people.append(ids.filter(pa.array(known)))
        progress(source.share(seen))
    if not people:
        return
    who = person_numbers(people)
    order = np.argsort(who, kind="stable")
    records.add(np.concatenate(parts)[order], np.bincount(who).astype(np.int64))


def column_of(source: Source, items: Items) -> str:
    """The column that holds the items of each record."""
    if items.column is not None:
        _places(source, [items.column])
        return items.column
    if len(source.names) != 1:
        raise DataError(
            f"{source.what}: the schema does not say which column holds the items",
            hint="Write `column: ...` below `items:` in the schema, or `person: ...` and "
            "`item: ...` if there is one row for each item.",
        )
    return source.names[0]


def _places(source: Source, wanted: list[str]) -> list[int]:
    absent = [name for name in wanted if name not in source.names]
    if absent:
        # Without a header the names would be somebody's values, so only near ones are shown.
        near = difflib.get_close_matches(absent[0], source.names, n=1, cutoff=0.8)
        raise DataError(
            f"{source.what}: there {'is no column' if len(absent) == 1 else 'are no columns'} "
            f"{', '.join(map(repr, absent))}",
            hint=f"Did you mean {near[0]!r}? Use one spelling in the data and in the schema."
            if near
            else "Name the column as the data does. A CSV file's first line must hold the names; "
            "a text file with one record per line needs no `column` in the schema.",
        )
    return [source.names.index(name) for name in wanted]


# Text files with one record per line, as the FIMI repository has them: plain or gzipped.
#
# Lines are read in blocks of bytes; no Python object is made for a record.


_BLOCK = 1 << 20


def _read_text(path: Path, records: Records, progress: Progress) -> None:
    """Reads a file with one record per line.

    Raises:
        DataError: If the file cannot be read, begins as one in UTF-16 does, or has a line that is
            too long.
    """
    lookup = records.lookup
    if path.name.lower().endswith((".csv", ".csv.gz")) and lookup.items.separator == " ":
        raise UsageError(
            f"{path}: the schema does not say which column of a CSV file holds the items",
            hint="Write `column: ...` below `items:`, or `person: ...` and `item: ...` if there "
            "is one row for each item; for lines of items without column names write "
            "`separator: ...`.",
        )
    lookup.check_separator()
    gzipped = magic_of(path)[:2] == b"\x1f\x8b"
    size = max(1, os.path.getsize(path))
    number = 1
    try:
        with path.open("rb", buffering=0) as raw:
            file: Any = gzip.GzipFile(fileobj=raw) if gzipped else raw
            for block in _whole_lines(file):
                if number == 1 and block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                    raise encoding_error(path, 1)
                data = np.frombuffer(block, np.uint8)
                begin, end = find_lines(data)
                long = np.flatnonzero(end - begin > LONGEST)
                if len(long):
                    raise too_long(path, number + int(long[0]))
                null = block.find(b"\0")  # which no text holds
                odd = null if null >= 0 else find_odd(block)
                if odd is not None and records.noted.odd is None:
                    line = int(np.searchsorted(begin, odd, side="right")) - 1
                    records.noted.odd = number - 1 + line
                records.add(*lookup.split_bytes(data, begin, end))
                number += len(begin)
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
        # where the last whole line ends; a CR at the very end may still be half of a CRLF
        newline = block.rfind(b"\n") + 1
        cut = max(newline, block.rfind(b"\r", newline, max(newline, len(block) - 1)) + 1)
        if cut:
            yield b"".join([*parts, block[:cut]])
            parts = []
        parts.append(block[cut:])
        # Then a line is too long, whatever follows, even without a byte order mark and a CR.
        if sum(map(len, parts)) > LONGEST + len(codecs.BOM_UTF8) + 1:
            break
    if any(parts):
        yield b"".join(parts)
