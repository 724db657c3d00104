"""Records of transactions: the codes of their items."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from hedgerow.audit.records.base import EXTRA, Codes, Pick, Records, Rows, Sketch
from hedgerow.data import Transactions
from hedgerow.publish.publisher import Outcome
from hedgerow.schema import Schema

__all__ = ["TransactionRecords"]

_MOST_ITEMS = 8  # of a record at random
_SHOP = Schema.from_dict(
    {"name": "shop", "unit": "row", "items": {"universe": {"range": [1, 7]}, "fan_out": 3}}
)


class TransactionRecords(Records):
    """The records of transactions."""

    def __init__(self, schema: Schema) -> None:
        super().__init__(schema)
        self.items = schema.transaction_items
        self.size = self.items.size

    @staticmethod
    def crowded() -> tuple[Schema, Codes, list[Codes]]:
        """See `Records.crowded`."""
        return _SHOP, (0,), [(item,) for item in range(7)]

    def data(self, records: Iterable[Codes]) -> Transactions:
        """See `Records.data`."""
        held = [sorted(record) for record in records]
        start = np.concatenate([[0], np.cumsum([len(record) for record in held])])
        codes = np.asarray([code for record in held for code in record], dtype=np.int32)
        return Transactions(self.schema, start.astype(np.int64), codes)

    def of(self, data: Transactions) -> list[Codes]:
        """See `Records.of`."""
        ends = zip(data.start[:-1].tolist(), data.start[1:].tolist(), strict=True)
        return [tuple(data.codes[first:stop].tolist()) for first, stop in ends]

    def possible(self) -> int:
        """See `Records.possible`."""
        return int(2 ** min(self.size, 60)) - 1

    def random(self, pick: Pick) -> Codes:
        """Any set of items but the empty one."""
        number = pick(1, min(self.size, _MOST_ITEMS))
        return tuple(sorted({pick(0, self.size - 1) for _ in range(number)}))

    def ends(self) -> tuple[Codes, Codes]:
        """See `Records.ends`."""
        return (0,), (0, self.size - 1)

    def edge_cases(self, pick: Pick) -> list[Sketch]:
        """See `Records.edge_cases`."""
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
        """See `Records.unlike`."""
        made = []
        for held in [source.random((rows, self.size)) < source.random() for rows in sizes]:
            held[~held.any(axis=1), 0] = True  # nobody's set is empty
            made.append(self.data(tuple(np.nonzero(row)[0].tolist()) for row in held))
        return made

    @property
    def people(self) -> str | None:
        """See `Records.people`."""
        return self.items.person

    @property
    def cap(self) -> int:
        """See `Records.cap`."""
        return min(self.items.max_items or self.size, self.size)

    def with_people(self, cap: int) -> Schema:
        """One row for each item."""
        return self._with(unit="person", person="who", item="what", max_items=cap)

    def layouts(self, cap: int) -> tuple[Schema, ...]:
        """One row for each item, one line for each record, and one list for each."""
        return *super().layouts(cap), self._with(unit="row", column="held")

    def _with(self, unit: str, **rules: str | int) -> Schema:
        described = self.schema.to_dict()
        return Schema.from_dict({**described, "unit": unit, "items": described["items"] | rules})

    def line(self, pick: Pick) -> Codes:
        """See `Records.line`."""
        return (pick(0, len(self.items.given) - 1),)

    def lines_of_one(self, rows: int, pick: Pick) -> Rows:
        """A person of so many different items, of each of them twice, or of one item so often.

        A duplicate that is missed costs little where changes add up, and much where squares do.
        """
        places = list(range(min(rows, len(self.items.given))))
        held = (places, 2 * places, [0] * rows)[pick(0, 2)]
        return [(EXTRA, (place,)) for place in held]

    def file(self, lines: Rows, suffix: str) -> tuple[str, pa.Table | bytes]:
        """See `Records.file`."""
        names = self.items.given
        if self.items.person is not None:
            assert self.items.item is not None
            people = pa.array([who for who, _ in lines], pa.string())
            items = pa.array([names[code] for _, (code,) in lines], pa.string())
            return suffix, pa.table({self.items.person: people, self.items.item: items})
        found: dict[str, list[str]] = {}
        for who, (code,) in lines:
            found.setdefault(who, []).append(names[code])
        if self.items.column is not None:  # lists, so that no item looks like two
            held = pa.array(list(found.values()), pa.list_(pa.string()))
            return "parquet", pa.table({self.items.column: held})
        text = "".join(f"{self.items.separator.join(held)}\n" for held in found.values()).encode()
        packed = suffix.endswith("gz")
        return ("dat.gz", gzip.compress(text)) if packed else ("dat", text)

    def most_added(self) -> int:
        """See `Records.most_added`."""
        return 1

    def malformed(self, records: Counter[Codes]) -> str | None:
        """See `Records.malformed`."""
        if any(len(held) > self.cap for held in records):
            return f"a record has more than {self.cap} items"
        if any(one >= other for held in records for one, other in pairwise(held)):
            return "a record has an item twice, or its items are out of order"
        return None

    def reaches(self, outcome: Outcome, extra: Codes, others: int, rows: int) -> bool:
        """See `Records.reaches`."""
        return bool(outcome.measurements[-1].values.sum() >= others + rows)

    def one_more(self, outcome: Outcome, data: Transactions, extra: Codes) -> bool:
        """By the sum of all sets that were counted."""
        return self.reaches(outcome, extra, len(data.start) - 1, 1)
