"""What generalised rows tell: lower ends that hold together. Shares of everybody are unknown."""

from __future__ import annotations

import numpy as np

from hedgerow.release import RowsRelease
from hedgerow.report.labels import part_of
from hedgerow.schema import Query

__all__ = ["Least", "least"]

Least = tuple[str, list[tuple[str, float]]]
"""An attribute, and generalised values with the number of people who have it at least."""

_MOST = 6  # values of an attribute
_ERROR = 0.05
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
