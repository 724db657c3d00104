"""Associations of attributes, and what is known of values, on a page about a release."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hedgerow.arrays import Floats
from hedgerow.measured import TreePartition
from hedgerow.release import MarginalsRelease, RowsRelease, TableRelease
from hedgerow.report.labels import part_of
from hedgerow.schema import Attribute, Query

# How the class goes with attributes: shares by group, where intervals tell groups apart.
#
# Groups are those that the release divides records by, since only there intervals are narrow. The
# intervals of all classes hold together with 95%, so those of the classes that are picked, which
# depends on noise, hold as well.


Tables = TableRelease | MarginalsRelease
Grouping = tuple[int, tuple[tuple[int, int], ...]]

_ERROR = 0.05
_MOST_GROUPINGS, _MOST_PARTS, _MOST_CLASSES = 40, 30, 4


@dataclass(frozen=True, kw_only=True)
class Association:
    """The share of a class in groups of an attribute.

    Args:
        attribute: The attribute.
        value: The class.
        parts: The groups, in the schema's order: first codes, and one past the last.
        shares: The share of the class in each.
        low: The lower ends of the intervals.
        high: The upper ends.
    """

    attribute: Attribute
    value: str
    parts: tuple[tuple[int, int], ...]
    shares: Floats
    low: Floats
    high: Floats

    @property
    def labels(self) -> list[str]:
        """The groups in words."""
        return [part_of(self.attribute, *part) for part in self.parts]

    @property
    def gap(self) -> float:
        """How far the intervals of the two groups lie apart that differ most; 0 or less: not."""
        return float(self.low.max() - self.high.min())


def associations(release: Tables, most: int) -> list[Association]:
    """The strongest, one for each attribute, the strongest first.

    Args:
        release: A release of a table.
        most: How many.
    """
    groupings, classes = _groupings(release)[:_MOST_GROUPINGS], _classes(release)
    if not groupings or not classes:
        return []
    every = range(len(release.schema.classes))
    asked = [
        Query(((place, ((float(low), float(high)),)),), kept)
        for place, parts in groupings
        for one in classes
        for kept in ((one,), tuple(other for other in every if other != one))
        for low, high in parts
    ]
    # of two classes, both are asked about, whichever is picked
    picked = 1.0 if len(every) == 2 else len(classes) / len(every)  # noqa: PLR2004
    found = release.count(asked, 1 - _ERROR * picked / len(asked))
    best: dict[str, Association] = {}
    start = 0
    for place, parts in groupings:
        for one in classes:
            inside = slice(start, start + len(parts))
            beside = slice(start + len(parts), start + 2 * len(parts))
            start += 2 * len(parts)
            attribute = release.schema.attributes[place]
            low, high = (
                _share(found.low[inside], found.high[beside], 0.0),
                _share(found.high[inside], found.low[beside], 1.0),
            )
            estimate = _share(
                np.maximum(found.estimate[inside], 0), np.maximum(found.estimate[beside], 0), 0.0
            )
            new = Association(
                attribute=attribute,
                value=release.schema.classes[one],
                parts=parts,
                shares=np.clip(estimate, low, high),
                low=low,
                high=high,
            )
            name = attribute.name
            if new.gap > max(0.0, best[name].gap if name in best else 0.0):
                best[name] = new
    return sorted(best.values(), key=lambda one: -one.gap)[:most]


def _share(part: Floats, rest: Floats, unknown: float) -> Floats:
    """A share of two counts; it grows with the one and falls with the other."""
    both = part + rest
    return np.where(both > 0, part / np.where(both > 0, both, 1.0), unknown)


def _classes(release: Tables) -> list[int]:
    """The classes to look at: the rarer of two, else the most frequent ones."""
    number = len(release.schema.classes)
    if number < 2:  # noqa: PLR2004
        return []
    often = release.estimate([Query((), (one,)) for one in range(number)])
    order: list[int] = np.argsort(often, kind="stable").tolist()
    return order[:1] if number == 2 else sorted(order[-_MOST_CLASSES:])  # noqa: PLR2004


def _groupings(release: Tables) -> list[Grouping]:
    """How the release divides attributes, the steps near the top of a tree first."""
    partition = release.partition
    found: dict[Grouping, None] = {}
    if not isinstance(partition, TreePartition):
        for place in range(len(release.schema.attributes)):
            if len(release.measured_edges(place)):
                found[place, tuple(pairwise(release.bands(place)))] = None
    else:
        for node in np.flatnonzero(partition.split >= 0).tolist():
            axis = int(partition.split[node])
            below = np.flatnonzero(partition.parent == node)
            ends = partition.lo[below, axis].tolist(), partition.hi[below, axis].tolist()
            found[axis, tuple(sorted(zip(*ends, strict=True)))] = None
            if len(found) >= _MOST_GROUPINGS:
                break
    return [one for one in found if 2 <= len(one[1]) <= _MOST_PARTS]  # noqa: PLR2004


# What generalised rows tell: lower ends that hold together. Shares of everybody are unknown.


Least = tuple[str, list[tuple[str, float]]]
"""An attribute, and generalised values with the number of people who have it at least."""

_MOST = 6  # values of an attribute
_LITTLE = 0.01  # of the people published: less is not worth a line
_MORE = 1.05  # a wider value is worth telling if it holds so many times more people


def least(release: RowsRelease) -> list[Least]:
    """For each attribute, and the class, values and how many people have them at least.

    A value may contain another. With 95% all of these numbers hold at once. Which values are in
    published rows depends on what was drawn, so every value that could have been gets its part of
    the error: a hierarchy over so many codes has less than twice as many nodes.
    """
    asked: list[Query] = []
    nodes: list[tuple[int, int, int]] = []
    known = len(release.schema.attributes)
    for place, attribute in enumerate(release.attributes):
        pairs = np.unique(np.stack([release.lo[:, place], release.hi[:, place]], axis=1), axis=0)
        for low, high in pairs.tolist():
            if high - low < min(attribute.size, getattr(attribute, "grid", attribute.size)):
                nodes.append((place, low, high))
                part = ((place, ((float(low), float(high)),)),)
                asked.append(Query(part) if place < known else Query((), tuple(range(low, high))))
    if not asked:
        return []
    total = float(release.counts.sum()) / release.sampling_rate
    possible = sum(2 * attribute.size for attribute in release.attributes)
    ends = release.count(asked, 1 - _ERROR / possible).low
    found: list[Least] = []
    for place, attribute in enumerate(release.attributes):
        here = [(*nodes[i][1:], float(ends[i])) for i in range(len(nodes)) if nodes[i][0] == place]
        told = [
            (low, high, number)
            for low, high, number in here
            if number >= max(1.0, _LITTLE * total)
            and not any(
                number < _MORE * inner and low <= lo and hi <= high and hi - lo < high - low
                for lo, hi, inner in here
            )
        ]
        told = sorted(sorted(told, key=lambda one: -one[2])[:_MOST])
        if told:
            values = [(part_of(attribute, low, high), number) for low, high, number in told]
            found.append((attribute.name, values))
    return found
