"""Neighbors to try: simulated tables and files, and the record or person that one has more."""

from __future__ import annotations

import gzip
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count, cycle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from hedgerow.audit.records import (
    CROWDED,
    EXTRA,
    Codes,
    Pick,
    Rows,
    categorical,
    grouped,
    numbered,
    numeric,
    records_of,
    schema_of,
)
from hedgerow.counting.choose import Counting, open_engine
from hedgerow.data import read, read_transactions
from hedgerow.methods.api import run
from hedgerow.methods.publisher import Outcome, Publisher
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.sampler import Sampler
from hedgerow.schema import Schema

# Neighbors to try: simulated tables, and the record that one of two has more.
#
# Whoever picks is handed in as a function, so that hypothesis can shrink what it finds and the
# command can draw from a plain generator.


_MOST_ROWS = 12  # small tables: one record weighs most where few others are


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two tables, or two sets of transactions, that differ in one record.

    Args:
        words: What is special about them.
        without: The smaller one: a `Table` or `Transactions`.
        with_it: The same with one record more.
        extra: The codes of that record.
    """

    words: str
    without: Any
    with_it: Any
    extra: tuple[int, ...]

    @property
    def tables(self) -> tuple[Any, Any]:
        """Both, the smaller first."""
        return self.without, self.with_it


def picker(seed: int) -> Pick:
    """Picks from an ordinary generator.

    Example:
        >>> 1 <= picker(5)(1, 3) <= 3
        True
    """
    source = np.random.default_rng(seed)
    return lambda low, high: int(source.integers(low, high + 1))


def pair_of(words: str, schema: Schema, rows: Sequence[Codes], extra: Codes) -> Pair:
    """A pair from the codes of a table and of one record.

    Args:
        words: What is special about it.
        schema: The public schema.
        rows: The codes of the records: predictors, then the class; or items.
        extra: The codes of the record that the neighbor has in addition.
    """
    records = records_of(schema)
    return Pair(
        words=words,
        without=records.data(rows),
        with_it=records.data([*rows, extra]),
        extra=tuple(extra),
    )


def edge_cases(schema: Schema, pick: Pick) -> list[Pair]:
    """The neighbors at which mistakes show first, on any schema."""
    sketches = records_of(schema).edge_cases(pick)
    return [pair_of(words, schema, rows, extra) for words, rows, extra in sketches]


DEEP = schema_of("deep", items=numbered(256, fan_out=2))
"""A universe whose tree has eight levels."""


def deep_pairs(epsilon: Fraction) -> list[Pair]:
    """Transactions that lie so far down a tree that a gate decides about them on every level.

    All records have the same item, so that every partition on the path holds all of them, and they
    are so many that the gate asks for about as much as there is on the first, second, ... level.

    Args:
        epsilon: What all decisions of the gate may cost a record.
    """
    beta = 2.0**3  # two children, and one more
    scale = (2 * beta - 1) / ((beta - 1) * float(epsilon))
    step = math.ceil(scale * math.log(beta))
    return [
        pair_of(f"{rows} records {level} steps down", DEEP, [(255,)] * rows, (255,))
        for level in range(9)
        for rows in (level * step, level * step + step // 2, (level + 1) * step - 1)
    ]


def random_pair(schema: Schema, pick: Pick) -> Pair:
    """Any small table of a schema, and any record."""
    records = records_of(schema)
    rows = [records.random(pick) for _ in range(pick(0, _MOST_ROWS))]
    return pair_of("at random", schema, rows, records.random(pick))


def random_schema(pick: Pick) -> Schema:
    """A small schema: one to three predictors, numeric or with a taxonomy, and a class."""
    attributes: dict[str, Any] = {}
    for name in "abc"[: pick(1, 3)]:
        if pick(0, 1):
            attributes[name] = numeric(pick(1, 12))
        else:
            sizes = [pick(1, 3) for _ in range(pick(1, 3))]
            attributes[name] = grouped(**{
                f"{name}{group}": [f"{name}{group}{leaf}" for leaf in range(size)]
                for group, size in enumerate(sizes)
            })  # fmt: skip
    attributes["class"] = categorical(*(f"k{i}" for i in range(pick(1, 3))), role="class")
    return schema_of("simulated", attributes=attributes)


_NUMBERS_OF_CLASSES = (0, 2, 6)  # none, few, and so many that attributes are counted alone, too


def related_schema(pick: Pick) -> Schema:
    """Two to four attributes, with or without a class, and tables that the schema names."""
    attributes: dict[str, Any] = {}
    for name in "abcd"[: pick(2, 4)]:
        if pick(0, 1):
            attributes[name] = numeric(pick(1, 60))
        else:
            attributes[name] = categorical(*(f"{name}{place}" for place in range(pick(2, 4))))
    if classes := _NUMBERS_OF_CLASSES[pick(0, 2)]:
        attributes["c0"] = categorical(*(f"c{place}" for place in range(classes)), role="class")
    last = [*attributes][-1]
    tables = [["a", "b"], {"attributes": [last, "a"], "weight": 3}][: pick(0, 1 + (last != "b"))]
    return schema_of("related", attributes=attributes, tables=tables)


def random_universe(pick: Pick) -> Schema:
    """A small universe of items, under a tree of any fan-out."""
    return _universe(pick(1, 7), pick)


def large_universe(pick: Pick) -> Schema:
    """A universe with more sets of items than are counted one by one, so that a delta is spent."""
    return _universe(pick(18, 22), pick)


def _universe(size: int, pick: Pick) -> Schema:
    return schema_of("simulated", items=numbered(size, fan_out=pick(2, 8)))


TINY_TABLES = {
    "a 4x2 grid": schema_of("grid", attributes={"a": numeric(3), "b": categorical("x", "y")}),
    "2 values and a class": schema_of(
        "classes",
        attributes={"a": categorical("x", "y"), "c": categorical("no", "yes", role="class")},
    ),
    "a 4x4 grid": schema_of(
        "square", attributes={"a": numeric(3), "b": grouped(x=["x1", "x2"], y=["y1", "y2"])}
    ),
}
"""Domains of at most 4x4 cells."""

TINY_UNIVERSES = {
    f"{items} items": schema_of("few items", items=numbered(items, fan_out=2))
    for items in (2, 3, 4)
}
"""Universes with at most 15 sets of items."""


def tiny_pairs(schema: Schema) -> list[Pair]:
    """Neighbors whose whole laws can be compared."""
    low, high = records_of(schema).ends()
    return [
        pair_of("no records", schema, [], low),
        pair_of("one record and another", schema, [low], high),
    ]


# Neighbors as files: attacks that begin at bytes, with one whole person more or less.
#
# Two files differ in all rows of one person, who has fewer rows than the public cap, as many, or
# more. Each run reads its file through the ordinary reader and counts with an ordinary engine. So
# what is audited is the whole way from bytes to a release: framing, encoding, the cap on a person's
# rows, and the division of the budget among them.
#
# Audits draw without booking anything, so they must not reach private data: this module alone reads
# files, and only those that it has just written itself.


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


def file_pairs(
    folder: Path, schema: Schema | None, pick: Pick, make: Callable[[Pick], Schema]
) -> Iterator[Pair]:
    """Neighbors without end, in all layouts; a pair's files are overwritten by the next.

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
    schema, common, extra = CROWDED[kind]
    crowd: Rows = [(f"p{number}", common) for number in range(CROWDED_OTHERS)]
    lines = [(EXTRA, codes) for codes in extra]
    mixed = [*lines[:5], *crowd, *lines[5:]]
    return _stored_pair(folder, records_of(schema).with_people(CROWDED_CAP), crowd, mixed, way)


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
    """Whether neighbors are neighbors still when they have been read.

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
