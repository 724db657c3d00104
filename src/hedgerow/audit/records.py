"""What is known of the records of each kind of data: how they are made, written and counted."""

from __future__ import annotations

import gzip
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.data import Table, Transactions
from hedgerow.estimate.cells import values_of
from hedgerow.estimate.tables import Cells
from hedgerow.methods.publisher import Outcome
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
        return [
            Table(
                self.schema,
                (source.random((rows, len(self.sizes))) ** 2 * self.sizes).astype(np.uint32),
            )
            for rows in sizes
        ]

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
        return _at_least(outcome, extra, rows)

    def one_more(self, outcome: Outcome, data: Table, extra: Codes) -> bool:
        """Whether one more is counted than there are, where this record belongs."""
        partition: Any = outcome.partition
        if isinstance(partition, Cells):
            table = _first_table(outcome)
            part = partition.parts(table)
            alike = [part[c][data.codes[:, c]] == part[c][extra[c]] for c in table]
            return _at_least(outcome, extra, int(np.all(alike, axis=0).sum()) + 1)
        if not len(data.codes):
            return _at_least(outcome, extra, 1)
        region = partition.locate(np.asarray([extra[:-1]]))[0]
        mates = partition.locate(data.codes[:, :-1]) == region
        return _at_least(outcome, extra, int((mates & (data.codes[:, -1] == extra[-1])).sum()) + 1)


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
        here = one.where == place
        if one.klass is not None:
            here &= one.klass == row[-1]
            return one.values[here, 0][0].item() if here.any() else None
        if not here.any() or row[-1] >= one.values.shape[1]:
            return None
        return one.values[here, row[-1]][0].item()  # type: ignore[no-any-return]
    return None


def _at_least(outcome: Outcome, row: Codes, least: float) -> bool:
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

_KINDS: dict[str, type[Records]] = {"table": TableRecords, "transactions": TransactionRecords}


def records_of(schema: Schema) -> Records:
    """The records that a schema describes.

    Example:
        >>> records_of(schema_of("shop", items=numbered(3))).possible()
        7
    """
    return _KINDS[schema.kind](schema)


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
