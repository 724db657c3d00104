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
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from hedgerow.audit.neighbours import Pair, Pick, random_schema, random_universe
from hedgerow.counting.choose import Counting, open_engine
from hedgerow.estimate.synthesize import values_of
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.sampler import Sampler
from hedgerow.publish.api import run
from hedgerow.publish.publisher import Outcome, Publisher
from hedgerow.schema import Person, Schema
from hedgerow.table import read, read_transactions

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

WHO, ITEM = "who", "what"
_EXTRA = "zoe"  # the person that one of two files has more
_CROWD = 9

Rows = list[tuple[str, tuple[int, ...]]]  # whose each is, and its codes


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
    counting = Counting("memory" if method.in_memory else data.engine)
    with open_engine(data.path, data.schema, counting) as (engine, _):
        plan = method.plan_for(data.schema, budget)
        return method.run(engine, data.schema, plan, sampler)


def with_people(schema: Schema, cap: int) -> Schema:
    """The schema with a column that tells people apart; transactions with one row for each item.

    Args:
        schema: A schema without such a column.
        cap: How many rows, or items, of one person count.
    """
    if schema.items is not None:
        described = schema.to_dict()
        described["items"] |= {"person": WHO, "item": ITEM, "max_items": cap}
        return Schema.from_dict(described | {"unit": "person"})
    return replace(schema, person=Person(WHO, cap), unit="person")


def file_pairs(folder: Path, schema: Schema | None, pick: Pick, items: bool) -> Iterator[Pair]:
    """Neighbours without end, written to files; a pair's files are overwritten by the next.

    Args:
        folder: Where files may be written.
        schema: The public schema; without it, schemas are simulated.
        pick: Picks whole numbers.
        items: Whether simulated schemas describe transactions.
    """
    number = 0
    for cap in cycle((2, 3, 1)):
        made = schema or (random_universe(pick) if items else random_schema(pick))
        lines = items and schema is None and number % 3 == 2  # one record per line
        if schema is None and not lines:
            made = with_people(made, cap)
        if made.unit is None:  # simulated, or of an older release
            made = replace(made, unit="row" if _column_of_people(made) is None else "person")
        most = _cap(made)
        for rows in sorted({max(1, most - 1), most, most + 6}, reverse=True):
            yield _pair(folder, made, rows, WAYS[number % len(WAYS)], pick)
            number += 1


_VISITS = Schema.from_dict({"name": "visits", "unit": "row", "attributes": {
    "a": {"type": "categorical", "values": ["x", "y"]},
    "c": {"type": "categorical", "role": "class", "values": ["no", "yes"]}}})  # fmt: skip
_SHOP = Schema.from_dict(
    {"name": "shop", "unit": "row", "items": {"universe": {"range": [1, 7]}, "fan_out": 3}}
)
CROWDED_CAP, CROWDED_OTHERS = 2, 5


def crowded_pair(folder: Path, items: bool, way: tuple[str, str]) -> Pair:
    """Files of a few people, and of one more with far more rows than count.

    Args:
        folder: Where they are written.
        items: Whether they hold transactions.
        way: The format and the engine.
    """
    schema = with_people(_SHOP if items else _VISITS, CROWDED_CAP)
    crowd: Rows = [(f"p{number}", (0,) if items else (0, 0)) for number in range(CROWDED_OTHERS)]
    extra: Rows = [(_EXTRA, (number,) if items else (1, 1)) for number in range(7 if items else 40)]
    return _stored_pair(folder, schema, crowd, [*extra[:5], *crowd, *extra[5:]], way)


def _column_of_people(schema: Schema) -> str | None:
    if schema.items is not None:
        return schema.items.person
    return schema.person.column if schema.person else None


def _cap(schema: Schema) -> int:
    """How many rows, or items, of one person count."""
    if schema.items is not None:
        return min(schema.items.max_items or schema.items.size, schema.items.size)
    return schema.person.max_rows if schema.person else 1


def _pair(folder: Path, schema: Schema, rows: int, way: tuple[str, str], pick: Pick) -> Pair:
    """A crowd, and one person of so many rows among them: all alike, or any."""
    sizes = _sizes(schema)
    alone = _column_of_people(schema) is None and schema.items is None
    alike = pick(0, 3) > 0

    def row() -> tuple[int, ...]:
        return tuple(pick(0, size - 1) for size in sizes)

    crowd = [(f"p{pick(0, _CROWD)}", row()) for _ in range(pick(1, 2 * _CROWD))]
    same = row()
    extra = [(_EXTRA, same if alike else row()) for _ in range(1 if alone else rows)]
    if schema.items is not None:  # a person of so many different items
        places = range(min(rows, len(schema.items.given)))
        extra = [(_EXTRA, (place,)) for place in places]
    mixed = list(crowd)
    for one in extra:
        mixed.insert(pick(0, len(mixed)), one)
    return _stored_pair(folder, schema, crowd, mixed, way)


def _stored_pair(
    folder: Path, schema: Schema, crowd: Rows, mixed: Rows, way: tuple[str, str]
) -> Pair:
    """Writes both; the person that one has more is the last one added."""
    suffix, engine = way
    extra = [row for who, row in mixed if who == _EXTRA]
    words = f"a person of {len(extra)} rows, at most {_cap(schema)} count, {suffix}, {engine}"
    both = []
    for name, held in (("without", crowd), ("with", mixed)):
        path = folder / f"{name}.{suffix}"
        if schema.items is None or schema.items.person is not None:
            _write(path, _columns(schema, held))
        elif schema.items.column is not None:
            path = folder / f"{name}.parquet"  # lists, so that no item looks like two
            column = pa.array(_sets(schema, held), pa.list_(pa.string()))
            _write(path, pa.table({schema.items.column: column}))
        else:
            path = folder / f"{name}.{'dat.gz' if suffix.endswith('gz') else 'dat'}"
            between = schema.items.separator
            text = "".join(f"{between.join(held)}\n" for held in _sets(schema, held)).encode()
            path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
        both.append(Stored(path, schema, engine))
    return Pair(words, both[0], both[1], extra[0])


def _sizes(schema: Schema) -> list[int]:
    if schema.items is not None:
        return [len(schema.items.given)]
    return [attribute.size for attribute in (*schema.attributes, *_target(schema))]


def _target(schema: Schema) -> tuple[Any, ...]:
    return () if schema.target is None else (schema.target,)


def _columns(schema: Schema, rows: Rows) -> pa.Table:
    """The raw values of rows: any that the schema gives these codes."""
    codes = np.asarray([row for _, row in rows], dtype=np.int64).reshape(len(rows), -1)
    codes = codes.reshape(len(rows), len(_sizes(schema)))
    columns: dict[str, Any] = {}
    person = _column_of_people(schema)
    if person is not None:
        columns[person] = pa.array([who for who, _ in rows], pa.string())
    if schema.items is not None:
        assert schema.items.item is not None
        names = schema.items.given
        columns[schema.items.item] = pa.array([names[code] for code in codes[:, 0]], pa.string())
        return pa.table(columns)
    source = np.random.default_rng(0)
    for place, attribute in enumerate((*schema.attributes, *_target(schema))):
        column = values_of(attribute, codes[:, place], source)
        columns[attribute.name] = (
            column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        )
    for name in schema.identifiers:
        columns[name] = pa.array(["x"] * len(rows), pa.string())
    return pa.table(columns)


def _write(path: Path, table: pa.Table) -> None:
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=3)
    elif path.suffix == ".gz":
        with gzip.open(path, "wb") as file:
            pyarrow.csv.write_csv(table, file)
    else:
        pyarrow.csv.write_csv(table, path)


def _sets(schema: Schema, rows: Rows) -> list[list[str]]:
    """The items of each person."""
    assert schema.items is not None
    found: dict[str, list[str]] = {}
    for who, (code,) in rows:
        found.setdefault(who, []).append(schema.items.given[code])
    return list(found.values())


def check_preparation(pair: Pair) -> str | None:
    """Whether neighbours are neighbours still when they have been read.

    Adding a person must leave the records of all others as they are, and add no more than the
    public cap. With this the guarantee for a person follows from that for one record.

    Returns:
        What is wrong, or None.
    """
    without, with_it = (_records(table) for table in pair.tables)
    schema = pair.without.schema
    if without - with_it:
        return "the records of other people change when a person is added"
    cap = 1 if schema.items is not None else _cap(schema)
    if (with_it - without).total() > cap:
        return f"a person adds more than {cap} records"
    if schema.items is not None and any(len(held) > _cap(schema) for held in with_it):
        return f"a record has more than {_cap(schema)} items"
    return None


def _records(stored: Stored) -> Counter[tuple[int, ...]]:
    if stored.schema.items is not None:
        transactions = read_transactions(stored.path, stored.schema)
        parts = np.split(transactions.codes, transactions.start[1:-1])
        return Counter(tuple(part.tolist()) for part in parts[: len(transactions.start) - 1])
    return Counter(map(tuple, read(stored.path, stored.schema).codes.tolist()))
