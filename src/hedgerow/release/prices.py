"""What the counts of a release cost, by its ledger: the part of `verify` about measurements.

Like `verify`, this shares no code with the ledger that wrote the numbers.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.release.conversion import exact
from hedgerow.release.measurements import Measurement
from hedgerow.release.partition import Partition, TreePartition
from hedgerow.release.release import Release

__all__ = ["Failed", "measured", "pots", "whole"]


class Failed(Exception):
    """A check that does not hold; its text says why."""


def whole(number: Any, least: int = 0) -> int:
    """A whole number of a manifest, which may come from anybody."""
    if not isinstance(number, int) or isinstance(number, bool) or number < least:
        raise ValueError
    return number


def pots(ledger: dict[str, Any]) -> dict[str, tuple[Fraction, int]]:
    """The pots of a ledger: what a unit is worth, and how many units there are."""
    found = {
        name: (exact(pot["unit"]), whole(pot["units"])) for name, pot in ledger["pots"].items()
    }
    allowed = {"epsilon"} if ledger["accounting"] == "pure" else {"epsilon", "rho"}
    if ledger["accounting"] not in ("pure", "zcdp") or not found or not found.keys() <= allowed:
        raise Failed("the ledger's accounting and its currencies do not fit each other")
    if any(unit <= 0 for unit, _ in found.values()):
        raise Failed("a unit of the budget is not above 0")
    return found


def measured(release: Release) -> str:
    """Every region was counted, at the price that its path paid for it."""
    unit = pots(release.ledger)["epsilon"][0]
    name = "leaf"  # the counts of the regions, or those of every node on the way to them
    if not any(measurement.name == name for measurement in release.measurements):
        name = "count"
    counts = [measurement for measurement in release.measurements if measurement.name == name]
    if not counts:
        raise Failed("no measurement of the regions is there")
    expected: Counter[int] = Counter()
    for path in release.ledger["paths"]:
        expected[int(path["spent"]["epsilon"].get(name, 0))] += int(path["leaves"])
    if any(measurement.threshold is not None for measurement in counts):
        if not all(set(_prices(m, unit).tolist()) <= expected.keys() for m in counts):
            raise Failed("a region was counted at a price that no path paid")
        return "every listed region was counted at a price that its path paid"
    if sum(len(measurement.where) for measurement in counts) < release.partition.cells:
        raise Failed("a region was not counted")
    units = _paid(release.partition, counts, unit, whole_path=name == "count")
    prices, regions = np.unique(units, return_counts=True)
    if dict(zip(prices.tolist(), regions.tolist(), strict=True)) != dict(expected):
        raise Failed("regions were counted at other prices than their paths paid")
    return "every region was counted, at the price that its path paid"


def _paid(
    partition: Partition, counts: list[Measurement], unit: Fraction, whole_path: bool
) -> NDArray[np.int64]:
    """What the counts of each region cost; with a whole path, those of the nodes above it too."""
    tree = partition if isinstance(partition, TreePartition) else None
    regions = np.zeros(partition.cells, np.int64)
    nodes = np.zeros(len(tree.parent) if tree is not None else 0, np.int64)
    for measurement in counts:
        on_nodes = measurement.at == "node" and tree is not None
        np.add.at(nodes if on_nodes else regions, measurement.where, _prices(measurement, unit))
    if tree is not None:
        inside = tree.region_of_node < 0
        if nodes[inside].any() and not whole_path:
            raise Failed("a node that is no region was counted as one")
        regions += nodes[tree.leaves]
    if not regions.all():
        raise Failed("a region was not counted")
    if tree is not None and whole_path:
        for node in range(1, len(nodes)):  # children stand after their parents
            nodes[node] += nodes[tree.parent[node]]
        regions = nodes[tree.leaves]
    return regions


def _prices(measurement: Measurement, unit: Fraction) -> NDArray[np.int64]:
    """What each place of a measurement cost, in the ledger's units."""
    distinct, index = np.unique(measurement.units, return_inverse=True)
    prices = [price * measurement.unit / unit for price in distinct.tolist()]
    if any(price.denominator != 1 or price >= 2**62 for price in prices):
        raise Failed("a region was counted at a price that no path paid")
    return np.array([int(price) for price in prices], np.int64)[index]
