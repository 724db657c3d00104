"""EqualParts: one attribute is cut into parts of equal width, and every part is counted.

Which attribute is chosen by the data: the one whose parts tell the class best. Its score is the
sum, over its parts, of the largest class count. One record adds 1 to one class count of one part of
every attribute, so each score grows by 0 or 1, and two of them move apart by at most 1. A choice
with rate r therefore costs r (docs/privacy/guarantee.md, permute-and-flip).

Where the parts of an attribute lie is public, those of categories being single values. Each record
lies in one part and class, so the rest of epsilon goes to one discrete Laplace count of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hedgerow.extend import (
    Allowance,
    Attribute,
    Budget,
    Candidates,
    Curator,
    Engine,
    GridPartition,
    Ints,
    Ledger,
    Numeric,
    Outcome,
    Plan,
    Progress,
    Publisher,
    Sampler,
    Schema,
    TableCounts,
    check_count,
    count_cells,
    divide_budget,
    no_progress,
)

_UNITS, _CHOICE = 100, 20
_ROOT = np.zeros(1, dtype=np.int64)


@dataclass(frozen=True)
class EqualParts(Publisher):
    """Settings of EqualParts.

    Args:
        parts: Into how many parts a number is cut, at most.

    Example:
        >>> EqualParts(parts=3).settings()
        {'parts': 3, 'schedule': 'tuned-1'}
    """

    parts: int = 4

    name: ClassVar[str] = "equalparts"
    schedule = "tuned"  # there is no other
    uses_delta: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Refuses settings that cannot be meant."""
        super().__post_init__()
        check_count("parts", self.parts, 100)

    def plan_for(self, schema: Schema, budget: Budget, rows: int | None = None) -> Plan:
        """See `Publisher.plan_for`: a schema with one attribute leaves nothing to choose."""
        pure = Budget(budget.epsilon, rows=budget.rows)
        choose = Allowance("choose", "epsilon", units=(_CHOICE,), uses=1, reach=1, choice=True)
        spent = _CHOICE if len(schema.attributes) > 1 else 0
        leaf = Allowance("leaf", "epsilon", units=(_UNITS - spent,), uses=1)
        return Plan(
            method=self.name,
            schedule=self.schedule,
            budget=pure,
            budgets=divide_budget(pure, _UNITS, 0),
            allowances=(choose, leaf) if spent else (leaf,),
            grows=False,
        )

    def run(
        self,
        engine: Engine,
        schema: Schema,
        plan: Plan,
        sampler: Sampler,
        progress: Progress = no_progress,
    ) -> Outcome:
        """See `Publisher.run`."""
        ledger = Ledger(plan.budgets.parts)
        ledger.allow(plan.allowances)
        curator = Curator(ledger, sampler)
        chosen = self._choose(engine, schema, curator)
        partition = GridPartition(
            tuple(
                self._edges(a) if place == chosen else np.array([0, a.size], np.int32)
                for place, a in enumerate(schema.attributes)
            )
        )
        return Outcome(
            plan=plan,
            partition=partition,
            measurements=tuple(count_cells(engine, curator, partition)),
            ledger=ledger,
            published=_ROOT,
            sharing=partition.cells,
        )

    def _choose(self, engine: Engine, schema: Schema, curator: Curator) -> int:
        """The attribute that is cut."""
        last = len(schema.attributes)  # the class, or one value that all records have
        if last == 1:
            return 0
        parts = {last: np.arange(max(1, len(schema.classes)))}
        for place, a in enumerate(schema.attributes):
            parts[place] = np.searchsorted(self._edges(a), np.arange(a.size), side="right") - 1
        tables = TableCounts(tuple((place, last) for place in range(last)), parts)

        def score(counts: Ints) -> Candidates:  # of sealed counts: nothing of it is seen here
            scores = [int(table.max(axis=1).sum()) for table in tables.split(counts)]
            each = np.ones(len(scores), dtype=np.int64)
            return Candidates(
                start=np.array([0, len(scores)]), score=np.array(scores), weight=each, count=each,
                part=np.arange(len(scores)), first=-each,
            )  # fmt: skip

        sealed = engine.sums(tables).map(score)
        choice = curator.select("choose", 0, _ROOT, sealed, score_range=1, flip=True)
        return int(choice.part[0])

    def _edges(self, a: Attribute) -> Ints:
        parts = min(a.size, self.parts) if isinstance(a, Numeric) else a.size
        return np.unique(np.linspace(0, a.size, parts + 1).astype(np.int32))
