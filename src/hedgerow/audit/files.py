"""Neighbours as files: attacks that begin at bytes, with one whole person more or less.

Two files differ in all rows of one person, who has fewer rows than the public cap, as many, or
more. Each run reads its file through the ordinary reader and counts with an ordinary engine. So
what is audited is the whole way from bytes to a release: framing, encoding, the cap on a person's
rows, and the division of the budget among them.

Audits draw without booking anything, so they must not reach private data: this module alone reads
files, and only those that it has just written itself.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count, cycle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from hedgerow.audit.neighbours import Pair
from hedgerow.audit.records import EXTRA, Codes, Pick, Rows, crowded, records_of
from hedgerow.counting.choose import Counting, open_engine
from hedgerow.data import read, read_transactions
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.sampler import Sampler
from hedgerow.publish.api import run
from hedgerow.publish.publisher import Outcome, Publisher
from hedgerow.schema import Schema

__all__ = [
    "CROWDED_CAP",
    "CROWDED_OTHERS",
    "WAYS",
    "Stored",
    "check_preparation",
    "crowded_pair",
    "file_pairs",
    "run_on",
    "with_people",
]

WAYS = (
    ("csv", "memory"),
    ("csv.gz", "streamed"),
    ("parquet", "memory"),
    ("csv", "streamed"),
    ("parquet", "streamed"),
)
"""Formats and engines; transactions of one record per line are text, plain or gzipped."""

_CROWD = 9


@dataclass(frozen=True)
class Stored:
    """Simulated data in a file that was written here; it is read anew for every run.

    Args:
        path: Where it lies.
        schema: The public schema.
        engine: Who counts: "memory" or "streamed".
    """

    path: Path
    schema: Schema
    engine: str


def run_on(data: Any, method: Publisher, budget: Budget, sampler: Sampler) -> Outcome:
    """Runs a method on data in memory, or on a file by way of its reader and an engine."""
    if not isinstance(data, Stored):
        return run(data, method, budget, sampler)
    counting = Counting(engine="memory" if method.in_memory else data.engine)
    with open_engine(data.path, data.schema, counting) as (engine, _):
        plan = method.plan_for(data.schema, budget)
        return method.run(engine, data.schema, plan, sampler)


def with_people(schema: Schema, cap: int) -> Schema:
    """The schema with a column that identifies people; transactions with one row for each item.

    Args:
        schema: A schema without such a column.
        cap: How many rows, or items, of one person count.
    """
    return records_of(schema).with_people(cap)


def file_pairs(
    folder: Path, schema: Schema | None, pick: Pick, make: Callable[[Pick], Schema]
) -> Iterator[Pair]:
    """Neighbours without end, in all layouts; a pair's files are overwritten by the next.

    Args:
        folder: Where files may be written.
        schema: The public schema; without it, schemas are simulated.
        pick: Picks whole numbers.
        make: Simulates a schema without people.
    """
    ways = cycle(WAYS)
    for number in count():
        cap, more = (2, 3, 1)[number // 3 % 3], (6, 0, -1)[number % 3]
        for made in (schema,) if schema else records_of(make(pick)).layouts(cap):
            if made.unit is None:  # of an older release
                made = replace(made, unit="row" if records_of(made).people is None else "person")
            rows = max(1, records_of(made).cap + more)
            yield _pair(folder, made, rows, next(ways), pick)


CROWDED_CAP, CROWDED_OTHERS = 2, 5


def crowded_pair(folder: Path, kind: str, way: tuple[str, str]) -> Pair:
    """Files of a few people, and of one more with far more rows than count.

    Args:
        folder: Where they are written.
        kind: The kind of data: "table" or "transactions".
        way: The format and the engine.
    """
    schema, common, extra = crowded(kind)
    crowd: Rows = [(f"p{number}", common) for number in range(CROWDED_OTHERS)]
    lines = [(EXTRA, codes) for codes in extra]
    mixed = [*lines[:5], *crowd, *lines[5:]]
    return _stored_pair(folder, with_people(schema, CROWDED_CAP), crowd, mixed, way)


def _pair(folder: Path, schema: Schema, rows: int, way: tuple[str, str], pick: Pick) -> Pair:
    """A crowd, and one person of so many rows among them: all alike, or any."""
    records = records_of(schema)
    extra = records.lines_of_one(rows, pick)
    crowd = [(f"p{pick(0, _CROWD)}", records.line(pick)) for _ in range(pick(1, 2 * _CROWD))]
    mixed = list(crowd)
    for one in extra:
        mixed.insert(pick(0, len(mixed)), one)
    return _stored_pair(folder, schema, crowd, mixed, way)


def _stored_pair(
    folder: Path, schema: Schema, crowd: Rows, mixed: Rows, way: tuple[str, str]
) -> Pair:
    """Writes both; the person that one has more is the last one added."""
    wanted, engine = way
    records = records_of(schema)
    extra = [row for who, row in mixed if who == EXTRA]
    words = f"a person of {len(extra)} rows, at most {records.cap} count, {wanted}, {engine}"
    both = []
    for name, lines in (("without", crowd), ("with", mixed)):
        suffix, held = records.file(lines, wanted)
        path = folder / f"{name}.{suffix}"
        _write(path, held)
        both.append(Stored(path, schema, engine))
    return Pair(words=words, without=both[0], with_it=both[1], extra=extra[0])


def _write(path: Path, table: pa.Table | bytes) -> None:
    if isinstance(table, bytes):
        path.write_bytes(table)
    elif path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=3)
    elif path.suffix == ".gz":
        with gzip.open(path, "wb") as file:
            pyarrow.csv.write_csv(table, file)
    else:
        pyarrow.csv.write_csv(table, path)


def check_preparation(pair: Pair) -> str | None:
    """Whether neighbours are neighbours still when they have been read.

    Adding a person must leave the records of all others as they are, and add no more than the
    public cap. A record holds each of its items once, in order. With this the guarantee for a
    person follows from that for one record.

    Returns:
        What is wrong, or None.
    """
    without, with_it = (_records(table) for table in pair.tables)
    schema = pair.without.schema
    if without - with_it:
        return "the records of other people change when a person is added"
    records = records_of(schema)
    if (with_it - without).total() > records.most_added():
        return f"a person adds more than {records.most_added()} records"
    return records.malformed(with_it)


def _records(stored: Stored) -> Counter[Codes]:
    readers: dict[str, Callable[..., Any]] = {"table": read, "transactions": read_transactions}
    data = readers[stored.schema.kind](stored.path, stored.schema)
    return Counter(records_of(stored.schema).of(data))
