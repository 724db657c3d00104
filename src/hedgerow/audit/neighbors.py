"""Neighbors to try: simulated tables and files, and the record or person that one has more.

`records_of` gives what is known of the records of each kind of data: how they are made, written and
counted, so that attacks need not ask which kind it is.
"""

from __future__ import annotations

import gzip
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count, cycle, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from hedgerow.counting.pick_engine import Counting, open_engine
from hedgerow.data import Table, Transactions, read, read_transactions
from hedgerow.estimate.cells import values_of
from hedgerow.estimate.tables import Cells
from hedgerow.methods.api import run
from hedgerow.methods.publisher import Outcome, Publisher
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.sampler import Sampler
from hedgerow.schema import Person, Schema

# What an audit must know of a kind of data: how its records are made up, written and counted.


Pick = Callable[[int, int], int]
"""Picks a whole number from low to high, both included."""

Codes = tuple[int, ...]
"""One record: the codes of its predictors and its class, or those of its items."""

Sketch = tuple[str, Sequence[Codes], Codes]
"""What is special about two neighbors, the records of the smaller, and the record more."""

Rows = list[tuple[str, Codes]]
"""Lines of a file: whose each is, and its codes."""

EXTRA = "zoe"
"""The person that one of two files has more."""


def schema_of(name: str, **parts: Any) -> Schema:
    """A schema whose rows are people, from its `attributes`, `tables` or `items`.

    Example:
        >>> schema_of("shop", items=numbered(3)).transaction_items.size
        3
    """
    return Schema.from_dict({"name": name, "unit": "row", **parts})


def numeric(high: int) -> dict[str, Any]:
    """An attribute of whole numbers from 0 on."""
    return {"type": "numeric", "low": 0, "high": high, "step": 1}


def categorical(*values: str, **more: str) -> dict[str, Any]:
    """An attribute of these categories."""
    return {"type": "categorical", "values": list(values), **more}


def grouped(**groups: list[str]) -> dict[str, Any]:
    """An attribute of categories in groups."""
    return {"type": "categorical", "taxonomy": groups}


def numbered(last: int, **more: int) -> dict[str, Any]:
    """Items from 1 on."""
    return {"universe": {"range": [1, last]}, **more}


# Records of tables: one code for each predictor, and one for the class.


class TableRecords:
    """The records of a table; one without a class has the code 0 in its place.

    `people` is the column that identifies people, `cap` how many rows, or items, of one count.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.sizes = [attribute.size for attribute in schema.attributes]
        self.sizes.append(max(1, len(schema.classes)))
        target = () if schema.target is None else (schema.target,)
        self._columns = (*schema.attributes, *target)  # those of a file
        self.people: str | None = schema.person.column if schema.person else None
        self.cap: int = schema.person.max_rows if schema.person else 1

    def data(self, records: Iterable[Codes]) -> Table:
        """A `Table` or `Transactions` of these records."""
        codes = np.asarray(list(records), dtype=np.uint32)
        return Table(self.schema, codes.reshape(-1, len(self.sizes)))

    def of(self, data: Table) -> list[Codes]:
        """The records of a `Table` or `Transactions`."""
        return [tuple(row) for row in data.codes.tolist()]

    def possible(self) -> int:
        """How many different records there can be."""
        return math.prod(self.sizes)

    def random(self, pick: Pick) -> Codes:
        """Any record."""
        return tuple(pick(0, size - 1) for size in self.sizes)

    def ends(self) -> tuple[Codes, Codes]:
        """Two records that have little in common."""
        return tuple(0 for _ in self.sizes), tuple(size - 1 for size in self.sizes)

    def edge_cases(self, pick: Pick) -> list[Sketch]:
        """The neighbors at which mistakes show first."""
        low, high = self.ends()
        middle = tuple(size // 2 for size in self.sizes)
        unseen = (*middle[:-1], high[-1])
        first, last = (*low[:-1], 0), (*high[:-1], 0)
        seen = [(*middle[:-1], 0), (*high[:-1], max(0, high[-1] - 1))]
        tied = [first, (*low[:-1], high[-1]), last, (*high[:-1], high[-1])]

        def crowd(number: int) -> list[Codes]:
            return [self.random(pick) for _ in range(number)]

        return [
            ("empty table", [], middle),
            ("alone in its region", [first] * 12, last),
            ("low grid end", crowd(15), low),
            ("high grid end", crowd(15), high),
            ("unseen class", seen * 6, unseen),
            ("ties", tied, tied[1]),
            ("one of many", crowd(40), middle),
        ]

    def unlike(self, sizes: Sequence[int], source: np.random.Generator) -> list[Table]:
        """Data of these sizes that have nothing in common."""
        shares = (source.random((rows, len(self.sizes))) ** 2 for rows in sizes)
        return [Table(self.schema, (some * self.sizes).astype(np.uint32)) for some in shares]

    def with_people(self, cap: int) -> Schema:
        """The schema with a column that identifies people, and this cap."""
        return replace(self.schema, person=Person("who", cap), unit="person")

    def layouts(self, cap: int) -> tuple[Schema, ...]:
        """The schema for every layout of a file: with people and this cap, and without people."""
        return self.with_people(cap), self.schema

    def line(self, pick: Pick) -> Codes:
        """The codes of any line of a file."""
        return tuple(pick(0, column.size - 1) for column in self._columns)

    def lines_of_one(self, rows: int, pick: Pick) -> Rows:
        """So many lines of the person that one file has more: alike or different."""
        alike, same = pick(0, 3) > 0, self.line(pick)
        number = 1 if self.people is None else rows
        return [(EXTRA, same if alike else self.line(pick)) for _ in range(number)]

    def file(self, lines: Rows, suffix: str) -> tuple[str, pa.Table]:
        """What a file of these lines holds, and the suffix that suits it.

        Args:
            lines: Whose each is, and its codes.
            suffix: The format that is wanted: "csv", "csv.gz" or "parquet".
        """
        codes = np.asarray([row for _, row in lines], dtype=np.int64)
        codes = codes.reshape(len(lines), len(self._columns))
        columns: dict[str, Any] = {}
        if self.people is not None:
            columns[self.people] = pa.array([who for who, _ in lines], pa.string())
        source = np.random.default_rng(0)
        for place, attribute in enumerate(self._columns):
            column = values_of(attribute, codes[:, place], source)
            text = pa.types.is_dictionary(column.type)
            columns[attribute.name] = column.cast(pa.string()) if text else column
        for name in self.schema.identifiers:
            columns[name] = pa.array(["x"] * len(lines), pa.string())
        return suffix, pa.table(columns)

    def most_added(self) -> int:
        """How many records one person can add, at most."""
        return self.cap

    def malformed(self, records: Counter[Codes]) -> None:
        """What is wrong with the form of a record, if anything is."""
        return None

    def reaches(self, outcome: Outcome, extra: Codes, others: int, rows: int) -> bool:
        """Whether so many rows of one person are counted.

        Args:
            outcome: What a run gave.
            extra: The record of that person.
            others: How many records all others have.
            rows: How many of this person.
        """
        return counts_at_least(outcome, extra, rows)

    def one_more(self, outcome: Outcome, data: Table, extra: Codes) -> bool:
        """Whether one more is counted than there are, where this record belongs."""
        partition: Any = outcome.partition
        if isinstance(partition, Cells):
            table = _first_table(outcome)
            part = partition.parts(table)
            alike = np.all([part[c][data.codes[:, c]] == part[c][extra[c]] for c in table], axis=0)
        else:
            alike = data.codes[:, -1] == extra[-1]
            if len(alike):
                region = partition.locate(np.asarray([extra[:-1]]))[0]
                alike &= partition.locate(data.codes[:, :-1]) == region
        return counts_at_least(outcome, extra, int(alike.sum()) + 1)


_ALONE = ("single", "by_class")


def _first_table(outcome: Outcome) -> tuple[int, ...]:
    """The columns of the first table of one attribute, with the class if there is one."""
    return next(m.tables[0] for m in outcome.measurements if m.name in _ALONE)


def published_count(outcome: Outcome, row: Codes) -> float | None:
    """The published count of a record's region and class, or None where it is not listed."""
    partition: Any = outcome.partition
    for one in outcome.measurements:
        if isinstance(partition, Cells) and one.name in _ALONE:
            first = _first_table(outcome)
            part = partition.parts(first)
            place = np.ravel_multi_index([part[c][row[c]] for c in first], partition.shape(first))
            return one.values[place, 0].item()  # type: ignore[no-any-return]
        if one.name not in ("leaf", "count"):
            continue
        place = partition.locate(np.asarray([row[:-1]]))[0]
        if one.at == "node":
            place = partition.leaves[place]
        here, column = one.where == place, row[-1]
        if one.klass is not None:
            here, column = here & (one.klass == row[-1]), 0
        if not here.any() or column >= one.values.shape[1]:
            return None
        return one.values[here, column][0].item()  # type: ignore[no-any-return]
    return None


def counts_at_least(outcome: Outcome, row: Codes, least: float) -> bool:
    """Whether a record's region and class are listed with such a count, or a larger one."""
    count = published_count(outcome, row)
    return count is not None and count >= least


# Records of transactions: the codes of their items.


_MOST_ITEMS = 8  # of a record at random


class TransactionRecords:
    """The records of transactions."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.items = schema.transaction_items
        self.size = self.items.size
        self.people: str | None = self.items.person
        self.cap: int = min(self.items.max_items or self.size, self.size)

    def data(self, records: Iterable[Codes]) -> Transactions:
        """See `TableRecords.data`."""
        held = [sorted(record) for record in records]
        start = np.concatenate([[0], np.cumsum([len(record) for record in held])])
        codes = np.asarray([code for record in held for code in record], dtype=np.int32)
        return Transactions(self.schema, start.astype(np.int64), codes)

    def of(self, data: Transactions) -> list[Codes]:
        """See `TableRecords.of`."""
        ends = zip(data.start[:-1].tolist(), data.start[1:].tolist(), strict=True)
        return [tuple(data.codes[first:stop].tolist()) for first, stop in ends]

    def possible(self) -> int:
        """See `TableRecords.possible`."""
        return int(2 ** min(self.size, 60)) - 1

    def random(self, pick: Pick) -> Codes:
        """Any set of items but the empty one."""
        number = pick(1, min(self.size, _MOST_ITEMS))
        return tuple(sorted({pick(0, self.size - 1) for _ in range(number)}))

    def ends(self) -> tuple[Codes, Codes]:
        """See `TableRecords.ends`."""
        return (0,), (0, self.size - 1)

    def edge_cases(self, pick: Pick) -> list[Sketch]:
        """See `TableRecords.edge_cases`."""
        everything, last = tuple(range(min(self.size, 12))), (self.size - 1,)
        crowd = [self.random(pick) for _ in range(30)]
        return [
            ("no transactions", [], everything),
            ("no transactions, one item", [], (0,)),
            ("alone with its item", [(0,)] * 9, last),
            ("many items", [(0,)] * 9 + [everything] * 3, everything),
            ("one of many, last item", crowd, last),
            ("one of many", crowd, everything),
            ("a new set of known items", [(0,), last] * 5, tuple(sorted({0, self.size - 1}))),
        ]

    def unlike(self, sizes: Sequence[int], source: np.random.Generator) -> list[Transactions]:
        """See `TableRecords.unlike`."""
        made = []
        for held in [source.random((rows, self.size)) < source.random() for rows in sizes]:
            held[~held.any(axis=1), 0] = True  # nobody's set is empty
            made.append(self.data(tuple(np.nonzero(row)[0].tolist()) for row in held))
        return made

    def with_people(self, cap: int) -> Schema:
        """One row for each item."""
        return self._with(unit="person", person="who", item="what", max_items=cap)

    def layouts(self, cap: int) -> tuple[Schema, ...]:
        """One row for each item, one line for each record, and one list for each."""
        return self.with_people(cap), self.schema, self._with(unit="row", column="held")

    def _with(self, unit: str, **rules: str | int) -> Schema:
        described = self.schema.to_dict()
        return Schema.from_dict({**described, "unit": unit, "items": described["items"] | rules})

    def line(self, pick: Pick) -> Codes:
        """See `TableRecords.line`."""
        return (pick(0, len(self.items.given) - 1),)

    def lines_of_one(self, rows: int, pick: Pick) -> Rows:
        """A person of so many different items, of each of them twice, or of one item so often.

        A duplicate that is missed costs little where changes add up, and much where squares do.
        """
        places = list(range(min(rows, len(self.items.given))))
        held = (places, 2 * places, [0] * rows)[pick(0, 2)]
        return [(EXTRA, (place,)) for place in held]

    def file(self, lines: Rows, suffix: str) -> tuple[str, pa.Table | bytes]:
        """See `TableRecords.file`."""
        names = self.items.given
        if self.items.person is not None:
            assert self.items.item is not None
            people = pa.array([who for who, _ in lines], pa.string())
            items = pa.array([names[code] for _, (code,) in lines], pa.string())
            return suffix, pa.table({self.items.person: people, self.items.item: items})
        baskets: dict[str, list[str]] = {}
        for who, (code,) in lines:
            baskets.setdefault(who, []).append(names[code])
        if self.items.column is not None:  # lists, so that no item looks like two
            held = pa.array(list(baskets.values()), pa.list_(pa.string()))
            return "parquet", pa.table({self.items.column: held})
        text = "".join(f"{self.items.separator.join(held)}\n" for held in baskets.values()).encode()
        packed = suffix.endswith("gz")
        return ("dat.gz", gzip.compress(text)) if packed else ("dat", text)

    def most_added(self) -> int:
        """See `TableRecords.most_added`."""
        return 1

    def malformed(self, records: Counter[Codes]) -> str | None:
        """See `TableRecords.malformed`."""
        if any(len(held) > self.cap for held in records):
            return f"a record has more than {self.cap} items"
        if any(one >= other for held in records for one, other in pairwise(held)):
            return "a record has an item twice, or its items are out of order"
        return None

    def reaches(self, outcome: Outcome, extra: Codes, others: int, rows: int) -> bool:
        """See `TableRecords.reaches`."""
        return bool(outcome.measurements[-1].values.sum() >= others + rows)

    def one_more(self, outcome: Outcome, data: Transactions, extra: Codes) -> bool:
        """By the sum of all sets that were counted."""
        return self.reaches(outcome, extra, len(data.start) - 1, 1)


# What is known of the records of each kind of data, so that attacks need not ask which it is.


Records = TableRecords | TransactionRecords
"""The records of one schema: both have the same methods."""


def records_of(schema: Schema) -> Records:
    """The records that a schema describes.

    Example:
        >>> records_of(schema_of("shop", items=numbered(3))).possible()
        7
    """
    return TableRecords(schema) if schema.kind == "table" else TransactionRecords(schema)


CROWDED: dict[str, tuple[Schema, Codes, list[Codes]]] = {
    "table": (
        schema_of("visits", attributes={
            "a": categorical("x", "y"), "c": categorical("no", "yes", role="class")}),
        (0, 0), [(1, 1)] * 40,
    ),
    "transactions": (
        schema_of("shop", items=numbered(7, fan_out=3)), (0,), [(item,) for item in range(7)],
    ),
}  # fmt: skip
"""A schema of each kind, the line that most people of a small file have, and many lines of one."""


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
    without, with_it = map(records_of(schema).data, (rows, [*rows, extra]))
    return Pair(words=words, without=without, with_it=with_it, extra=tuple(extra))


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
    none = pair_of("no records", schema, [], low)
    return [none, pair_of("one record and another", schema, [low], high)]


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
    reader: Any = read if stored.schema.kind == "table" else read_transactions
    data = reader(stored.path, stored.schema)
    return Counter(records_of(stored.schema).of(data))
