"""What can be asked of published transactions, whatever their regions: one small protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.errors import ReleaseError
from hedgerow.estimate.itemsets.supports import Supports
from hedgerow.measured.itemsets import CoreCells, Itemsets
from hedgerow.measured.measurements import Measurement
from hedgerow.schema import Items
from hedgerow.schema.items import WEIGHT

__all__ = ["ItemsetModel", "model_of"]


class ItemsetModel(Protocol):
    """Estimates, bounds and draws.

    A set is an increasing array of item codes. A code that is not below the number of items stands
    for a group: for anything below a node of the taxonomy, whose number it exceeds that by.
    """

    def estimates(self, sets: Sequence[Ints]) -> Floats:
        """The estimated number of records that hold all items of each set."""

    def counted(self, one: Ints) -> bool:
        """Whether just this set was counted, so that noise is all that the estimate is off by."""

    def bounds(self, sets: Sequence[Ints], level: float) -> tuple[Floats, Floats]:
        """Intervals that hold the true counts at a level, each by itself."""

    def draw(self, n: int | None, random: np.random.Generator) -> tuple[Ints, Ints]:
        """Simulated records: where each begins, and the codes of their items, increasing."""


def model_of(
    items: Items, partition: Itemsets, measurements: Sequence[Measurement]
) -> ItemsetModel:
    """The model for some regions.

    Raises:
        ReleaseError: If they were not counted as they should be.
    """
    from hedgerow.estimate.itemsets.core import CoreModel
    from hedgerow.estimate.itemsets.cuts import CutModel

    named = {measurement.name: measurement for measurement in measurements}
    support, size = named.get("support"), named.get("size")
    for found, places in ((support, np.arange(items.size)), (size, None)):
        if found is not None and not _fits(found, places):
            raise _lacking(f"its measurement {found.name!r} is not as it should be")
        weighed = found is support
        if found is not None and not weighed and found.law != "laplace":
            raise _lacking(f"its measurement {found.name!r} has another noise than it should have")
        if found is not None and weighed and found.max_contribution % _weights(found):
            raise _lacking(f"the weights of its measurement {found.name!r} are unknown")
    supports = None
    if support is not None and size is not None:
        supports = Supports(items=items, support=support, size=size)
    if isinstance(partition, CoreCells):
        cell = named.get("cell")
        if cell is None or not _fits(cell, np.arange(partition.cells)):
            raise _lacking("a cell was not counted")
        if supports is None and len(partition.core) < items.size:
            raise _lacking("the items beyond its core were not counted")
        return CoreModel(items=items, partition=partition, cell=cell, supports=supports, size=size)
    leaf = named.get("leaf")
    if leaf is None or leaf.values.shape[1] != 1:
        raise _lacking("no partition was counted")
    return CutModel(items=items, partition=partition, leaf=leaf, supports=supports)


def _fits(measurement: Measurement, places: Ints | None) -> bool:
    """Whether it has one number at each of these places, all at one rate."""
    where, units = measurement.where, measurement.units
    alike = measurement.values.shape[1] == 1 and len(units) > 0 and bool((units == units[0]).all())
    if places is None:  # the lower ends of bins
        return alike and bool(where[0] >= 0) and bool((np.diff(where) > 0).all())
    return alike and np.array_equal(where, places)


def _weights(measurement: Measurement) -> int:
    """What a record of one item adds: to the sum of weights, or to that of their squares."""
    return WEIGHT**2 if measurement.law == "gaussian" else WEIGHT


def _lacking(what: str) -> ReleaseError:
    return ReleaseError(
        f"this release cannot be read as transactions: {what}",
        hint="Ask whoever published the release for a fresh copy.",
    )
