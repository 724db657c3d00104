"""Records of tables: one code for each predictor, and one for the class."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.audit.records.base import EXTRA, Codes, Pick, Records, Rows, Sketch
from hedgerow.data import Table
from hedgerow.estimate.synthesize import values_of
from hedgerow.measured.tables import Cells
from hedgerow.publish.publisher import Outcome
from hedgerow.schema import Person, Schema

__all__ = ["TableRecords", "published_count"]

_VISITS = Schema.from_dict({"name": "visits", "unit": "row", "attributes": {
    "a": {"type": "categorical", "values": ["x", "y"]},
    "c": {"type": "categorical", "role": "class", "values": ["no", "yes"]}}})  # fmt: skip


class TableRecords(Records):
    """The records of a table; one without a class has the code 0 in its place."""

    def __init__(self, schema: Schema) -> None:
        super().__init__(schema)
        self.sizes = [attribute.size for attribute in schema.attributes]
        self.sizes.append(max(1, len(schema.classes)))
        target = () if schema.target is None else (schema.target,)
        self._columns = (*schema.attributes, *target)  # those of a file

    @staticmethod
    def crowded() -> tuple[Schema, Codes, list[Codes]]:
        """See `Records.crowded`."""
        return _VISITS, (0, 0), [(1, 1)] * 40

    def data(self, records: Iterable[Codes]) -> Table:
        """See `Records.data`."""
        codes = np.asarray(list(records), dtype=np.uint32)
        return Table(self.schema, codes.reshape(-1, len(self.sizes)))

    def of(self, data: Table) -> list[Codes]:
        """See `Records.of`."""
        return [tuple(row) for row in data.codes.tolist()]

    def possible(self) -> int:
        """See `Records.possible`."""
        return math.prod(self.sizes)

    def random(self, pick: Pick) -> Codes:
        """See `Records.random`."""
        return tuple(pick(0, size - 1) for size in self.sizes)

    def ends(self) -> tuple[Codes, Codes]:
        """See `Records.ends`."""
        return tuple(0 for _ in self.sizes), tuple(size - 1 for size in self.sizes)

    def edge_cases(self, pick: Pick) -> list[Sketch]:
        """See `Records.edge_cases`."""
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
        """See `Records.unlike`."""
        return [
            Table(
                self.schema,
                (source.random((rows, len(self.sizes))) ** 2 * self.sizes).astype(np.uint32),
            )
            for rows in sizes
        ]

    @property
    def people(self) -> str | None:
        """See `Records.people`."""
        return self.schema.person.column if self.schema.person else None

    @property
    def cap(self) -> int:
        """See `Records.cap`."""
        return self.schema.person.max_rows if self.schema.person else 1

    def with_people(self, cap: int) -> Schema:
        """See `Records.with_people`."""
        return replace(self.schema, person=Person("who", cap), unit="person")

    def line(self, pick: Pick) -> Codes:
        """See `Records.line`."""
        return tuple(pick(0, column.size - 1) for column in self._columns)

    def lines_of_one(self, rows: int, pick: Pick) -> Rows:
        """See `Records.lines_of_one`."""
        alike, same = pick(0, 3) > 0, self.line(pick)
        number = 1 if self.people is None else rows
        return [(EXTRA, same if alike else self.line(pick)) for _ in range(number)]

    def file(self, lines: Rows, suffix: str) -> tuple[str, pa.Table]:
        """See `Records.file`."""
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
        """See `Records.most_added`."""
        return self.cap

    def malformed(self, records: Counter[Codes]) -> None:
        """See `Records.malformed`."""
        return None

    def reaches(self, outcome: Outcome, extra: Codes, others: int, rows: int) -> bool:
        """See `Records.reaches`."""
        return _at_least(outcome, extra, rows)

    def one_more(self, outcome: Outcome, data: Table, extra: Codes) -> bool:
        """See `Records.one_more`."""
        partition: Any = outcome.partition
        if not len(data.codes):
            return _at_least(outcome, extra, 1)
        region = partition.locate(np.asarray([extra[:-1]]))[0]
        mates = partition.locate(data.codes[:, :-1]) == region
        return _at_least(outcome, extra, int((mates & (data.codes[:, -1] == extra[-1])).sum()) + 1)


def published_count(outcome: Outcome, row: Codes) -> float | None:
    """The published count of a record's region and class, or None where it is not listed."""
    partition: Any = outcome.partition
    for found in outcome.measurements:
        if isinstance(partition, Cells) and found.name in ("single", "by_class"):
            first = found.tables[0]
            part = partition.parts(first)
            place = np.ravel_multi_index([part[c][row[c]] for c in first], partition.shape(first))
            return found.values[place, 0].item()  # type: ignore[no-any-return]
        if found.name not in ("leaf", "count"):
            continue
        place = partition.locate(np.asarray([row[:-1]]))[0]
        if found.at == "node":
            place = partition.leaves[place]
        here = found.where == place
        if found.klass is not None:
            here &= found.klass == row[-1]
            return found.values[here, 0][0].item() if here.any() else None
        if not here.any() or row[-1] >= found.values.shape[1]:
            return None
        return found.values[here, row[-1]][0].item()  # type: ignore[no-any-return]
    return None


def _at_least(outcome: Outcome, row: Codes, least: float) -> bool:
    count = published_count(outcome, row)
    return count is not None and count >= least
