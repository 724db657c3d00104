"""Answers on a thresholded release, by its censored law.

Such a release lists the cells whose noisy count reached a threshold. A listed count is too high on
average, since it was listed for being high; an absent cell is not empty, only below the threshold.
Least squares would be wrong on both, so bounds are made cell by cell, and hold for all queries at
once: with the error that the level leaves, halved, no noise of any cell of the whole grid reaches
further than some `worst`, by the union bound. Then a listed cell holds its noisy count less `worst`
at least and plus `worst` at most, and an absent one at most the threshold less 1 plus `worst`. What
all absent cells could hold together is soon more than the table; so, with the other half of the
error, the measured total less what must lie outside the query is a bound too.

This is safe and simple, and wide. The estimate is the sum of listed counts, absent cells as 0. Ask
for a dense release where that is not good enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.errors import ReleaseError
from hedgerow.estimate.answers import Answers
from hedgerow.estimate.asked import grouped
from hedgerow.estimate.intervals.conditions import Conditions
from hedgerow.estimate.noise import half_width
from hedgerow.estimate.query_kernels import scan
from hedgerow.measured.measurements import Measurement
from hedgerow.measured.partition import GridPartition, Partition

if TYPE_CHECKING:
    from hedgerow.schema.query import Query

__all__ = ["answer_listed", "worst_noise"]


def worst_noise(epsilon: float, cells: float, error: float) -> float:
    """How far the discrete Laplace noises of so many cells reach, but for some error.

    Example:
        >>> worst_noise(1.0, 1, 0.05)
        3.0
    """
    a = math.exp(-epsilon)
    beyond = math.log(2 * cells / (error * (1 + a))) / epsilon  # P(|Z| >= m) is 2 a^m / (1 + a)
    return float(max(0, math.ceil(beyond) - 1))


def answer_listed(
    partition: Partition,
    measurements: Sequence[Measurement],
    classes: int,
    queries: Sequence[Query],
    level: float,
) -> Answers:
    """Answers queries on a release that lists cells by a threshold.

    Args:
        partition: The grid.
        measurements: The listed cells, and totals.
        classes: The number of classes, 1 if there is none.
        queries: The queries.
        level: The level of the intervals.
    """
    listed = [m for m in measurements if m.threshold is not None]
    if len(listed) != 1 or not isinstance(partition, GridPartition):
        raise ReleaseError(
            "queries on this kind of thresholded release cannot be answered",
            hint="Ask for a dense release.",
        )
    cells = listed[0]
    threshold = cells.threshold
    assert threshold is not None
    klass = np.zeros(len(cells.where), np.int64) if cells.klass is None else cells.klass
    values = cells.values[:, 0].astype(np.float64)
    shares = [partition.parts(a, cells.where).index for a in range(len(partition.edges))]
    part = np.stack(shares, axis=1).astype(np.int32)
    edges = np.concatenate(partition.edges).astype(np.int64)
    edge_start = np.cumsum([0, *(len(e) for e in partition.edges)])
    error = (1 - level) / 2
    worst = math.inf  # with nothing listed, not even the rate of the noise is known
    if len(cells.where):
        rates = cells.units * float(cells.unit)
        worst = worst_noise(float(rates.min()), float(partition.cells) * classes, error)
    most_of_all = _total_bound(measurements, level)
    least_of_all = float(np.maximum(values - worst, 0.0).sum())

    found = np.zeros((len(queries), 10))
    asked = np.ones(len(queries))
    for chosen, members in grouped(queries, lambda query: query.classes).items():
        here = slice(None) if chosen is None else np.isin(klass, chosen)
        asked[members] = classes if chosen is None else len(chosen)
        several = Conditions.of([queries[q] for q in members], with_class=False)
        out = np.zeros((len(members), 10))
        scan(
            part[here], values[here], edges, edge_start, worst, several.start, several.place,
            several.begin, several.lows, several.highs, out,
        )  # fmt: skip
        found[members] = out
    # cells that the query does not name an attribute of are all inside
    free = [
        math.prod(parts for a, parts in enumerate(partition.shape) if a not in dict(query.where))
        for query in queries
    ]
    everywhere = asked * np.array(free, np.float64)
    absent = np.maximum(found[:, 8:10] * everywhere[:, None] - found[:, 6:8], 0.0)
    with np.errstate(invalid="ignore"):
        hidden = np.where(absent > 0, absent * (threshold - 1 + worst), 0.0)
    estimate, least, even_least, touched_least = found[:, 0], found[:, 1], found[:, 2], found[:, 3]
    even_most = np.minimum(found[:, 4] + hidden[:, 0], most_of_all - (least_of_all - even_least))
    most = np.minimum(found[:, 5] + hidden[:, 1], most_of_all - (least_of_all - touched_least))
    high = np.maximum(np.floor(np.maximum(most, even_most) + 1e-9), least)
    noise = np.maximum(np.maximum(estimate - even_least, even_most - estimate), 0.0)
    with np.errstate(invalid="ignore"):  # nothing is further off than infinitely far
        further = np.nan_to_num(high - (estimate + noise), nan=0.0)
    return Answers(
        estimate=estimate,
        low=least,
        high=high,
        noise=noise,
        uniformity_low=np.maximum(estimate - noise - least, 0.0),
        uniformity_high=np.maximum(further, 0.0),
        level=level,
    )


def _total_bound(measurements: Sequence[Measurement], level: float) -> float:
    """An upper bound on the number of records, infinite if nobody measured it."""
    weight = weighted = spread = 0.0
    for measurement in measurements:
        if measurement.at != "node" or measurement.threshold is not None:
            continue
        columns = measurement.values.shape[1]
        for row in np.flatnonzero(measurement.where == 0):
            share = 1 / (columns * float(measurement.variance[row]))
            weight += share
            weighted += share * float(measurement.values[row].sum())
            spread += columns * share**2 * float(measurement.tail_variance[row])
    if not weight:
        return math.inf
    width = half_width(np.array([math.sqrt(spread) / weight]), level)[0]
    return float(weighted / weight + width)
