"""Basic: noise on every cell of the contingency table (Dwork et al. 2006), and nothing else.

The baseline of the DiffGen and DiffPart papers. Its error grows with the number of cells that a
question covers, and in many dimensions nearly every record is alone in its cell.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from hedgerow.arrays import Small
from hedgerow.counting.engine import Engine
from hedgerow.counting.item_engine import ItemEngine
from hedgerow.errors import UsageError
from hedgerow.experiments.baselines.base import Baseline
from hedgerow.measured.itemsets import MOST_CORE, CoreCells
from hedgerow.measured.partition import MOST_CELLS, GridPartition
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.ledger import Allowance
from hedgerow.publish.diffgen import count_cells
from hedgerow.publish.planning.plan import Plan
from hedgerow.publish.publisher import Outcome
from hedgerow.publish.steps.measure import measured
from hedgerow.schema import Categorical, Schema

__all__ = ["ContingencyTable", "ItemsetTable", "finest_edges"]

_ROOT = np.zeros(1, dtype=np.int64)
_ALL_OF_IT = Allowance("leaf", "epsilon", units=None, uses=1)


@dataclass(frozen=True)
class ContingencyTable(Baseline):
    """Noisy counts of all combinations of values; where these are very many, of the listed ones.

    Args:
        max_cells: The most cells: numeric attributes are cut into as many equal parts as fit.

    Example:
        >>> ContingencyTable().name
        'contingency'
    """

    max_cells: int = MOST_CELLS // 1024

    name: ClassVar[str] = "contingency"

    def allowances(self, schema: Schema) -> Iterable[Allowance]:
        """See `Baseline.allowances`."""
        return [_ALL_OF_IT]

    def publish(self, engine: Engine, schema: Schema, plan: Plan, curator: Curator) -> Outcome:
        """See `Baseline.publish`."""
        edges = finest_edges(schema, self.max_cells // max(1, len(schema.classes)))
        partition = GridPartition(edges)
        found = tuple(count_cells(engine, curator, partition))
        return Outcome(
            plan=plan,
            partition=partition,
            measurements=found,
            ledger=curator.ledger,
            published=_ROOT,
            sharing=partition.cells,
        )


def finest_edges(schema: Schema, most: int) -> tuple[Small, ...]:
    """Every value apart; if that makes too many cells, numeric attributes in equal parts.

    A public rule: the attribute with the most parts is halved until the cells fit.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 7},
        ...     "home": {"type": "categorical", "values": ["flat", "house"]}}})
        >>> [edges.tolist() for edges in finest_edges(schema, 8)]
        [[0, 2, 4, 6, 8], [0, 1, 2]]
    """
    parts = [attribute.size for attribute in schema.attributes]
    numeric = [
        place
        for place, attribute in enumerate(schema.attributes)
        if not isinstance(attribute, Categorical)
    ]
    while math.prod(parts) > most:
        widest = max(numeric, key=lambda place: parts[place], default=None)
        if widest is None or parts[widest] == 1:
            raise UsageError(
                "the contingency table has too many cells to be numbered.",
                hint="Take fewer attributes; that it does not scale is why other methods exist.",
            )
        parts[widest] = -(-parts[widest] // 2)
    sizes = [attribute.size for attribute in schema.attributes]
    return tuple(
        np.unique(np.linspace(0, size, number + 1).round()).astype(np.int32)
        for size, number in zip(sizes, parts, strict=True)
    )


@dataclass(frozen=True)
class ItemsetTable(Baseline):
    """The same for transactions: noisy counts of all 2^n sets of n items.

    Example:
        >>> ItemsetTable().data
        'transactions'
    """

    name: ClassVar[str] = "itemsets"
    data: ClassVar[Literal["table", "transactions"]] = "transactions"

    def allowances(self, schema: Schema) -> Iterable[Allowance]:
        """See `Baseline.allowances`."""
        items = schema.transaction_items
        if items.size > MOST_CORE:
            raise UsageError(
                f"{items.size} items have too many sets to count them all.",
                hint=f"Take a universe of at most {MOST_CORE} items.",
            )
        return [Allowance("cell", "epsilon", units=None, uses=1)]

    def publish(self, engine: ItemEngine, schema: Schema, plan: Plan, curator: Curator) -> Outcome:
        """See `Baseline.publish`."""
        partition = CoreCells(np.arange(schema.transaction_items.size), np.zeros(1, dtype=np.int64))
        exact = engine.cells(partition.core, partition.rest).map(lambda cells: cells[None, :])
        noisy, units = curator.laplace("cell", 0, _ROOT, exact)
        where = np.arange(partition.cells)
        drawn = (where, noisy[0][:, None], np.repeat(units, partition.cells))
        found = (measured(curator, "cell", "region", [drawn]),)
        return Outcome(
            plan=plan,
            partition=partition,
            measurements=found,
            ledger=curator.ledger,
            published=_ROOT,
            sharing=partition.cells,
        )
