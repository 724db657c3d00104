"""Bounds where only what is large was published: cells over a threshold, rows of many people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.errors import ReleaseError
from hedgerow.estimate.answers import Answers
from hedgerow.estimate.noise import half_width
from hedgerow.estimate.queries import Conditions, grouped
from hedgerow.estimate.regions import scan
from hedgerow.measured.measurements import Measurement
from hedgerow.measured.partition import GridPartition, Partition

if TYPE_CHECKING:
    from hedgerow.schema.query import Query

# Answers on a thresholded release, by its censored law.
#
# Such a release lists the cells whose noisy count reached a threshold. A listed count is too high
# on average, since it was listed for being high; an absent cell is not empty, only below the
# threshold. Least squares would be wrong on both, so bounds are made cell by cell, and hold for all
# queries at once: with the error that the level leaves, halved, no noise of any cell of the whole
# grid reaches further than some `worst`, by the union bound. Then a listed cell holds its noisy
# count less `worst` at least and plus `worst` at most, and an absent one at most the threshold less
# 1 plus `worst`. What all absent cells could hold together is soon more than the table; so, with
# the other half of the error, the measured total less what must lie outside the query is a bound
# too.
#
# This is safe and simple, and wide. The estimate is the sum of listed counts, absent cells as 0.
# Ask for a dense release where that is not good enough.


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


# How many people listed rows stand for at least, where rows that few share are left out.
#
# A row is listed if its noisy count, or the number of its people who were kept, is large enough. So
# noise that helped a row is seen more often than noise that hurt, and taking a standard error off
# the sum would promise too much. What is needed is a bound for all rows at once, listed or not.
#
# For a number s > 0 and a row that n people share, let g be 0 if it is not listed, else a score of
# its count y. If E exp(s (g - n)) <= 1 for every n, then by independence the sum over all rows has
# E exp(s (sum g - sum n)) <= 1, and by Markov's inequality sum n >= sum g - ln(1 / alpha) / s but
# for a probability of alpha. Rows that are not listed add n >= 0 and g = 0, so nothing need be
# known of them.
#
# Noisy counts y = n + Z, listed from t on: g = y - b, with the least b that serves every n. Kept
# people y ~ Bin(n, share), listed from k on: g = c y with c = ln((exp(s) - 1 + share) / share) / s.
# Without the listing E exp(s (c y - n)) is just 1, and leaving a row out only makes g smaller.
#
# Several s are tried, each with its part of alpha. All of it is computed from published numbers.


_PARTS = (2, 4, 8, 16)  # s as a part of what the noise allows
_STEPS = (0.5, 0.125, 0.03125, 0.0078125)


def least_by_noise(total: float, rows: int, rate: float, threshold: int, alpha: float) -> float:
    """People behind listed rows, at least, but for a probability of alpha.

    Args:
        total: The sum of their noisy counts.
        rows: How many rows there are.
        rate: The discrete Laplace noise has P(z) proportional to exp(-rate |z|).
        threshold: The least noisy count that is listed.
        alpha: How often it may be wrong.

    Example:
        >>> least_by_noise(100.0, 1, 1.0, 15, 0.05) > 85, least_by_noise(0.0, 0, 1.0, 15, 0.05)
        (True, 0.0)
    """
    found = [float(rows)]  # nobody is listed whom nobody stands behind
    # a stranger's release may claim any noise: beyond what is ever drawn, take the certain bound
    usual = 1e-3 <= rate <= 30 and threshold <= 100_000
    for part in _PARTS if usual else ():
        s = rate / part
        cost = math.log(len(_PARTS) / alpha) / s
        found.append(total - rows * _shift(s, rate, threshold) - cost)
    return max(found)


def least_by_sampling(kept: float, share: float, alpha: float) -> float:
    """People behind listed rows of a sample, at least, but for a probability of alpha.

    Args:
        kept: How many of them were kept, exactly.
        share: The probability with which each was.
        alpha: How often it may be wrong.

    Example:
        >>> least_by_sampling(100.0, 0.2, 0.05) > 350, least_by_sampling(3.0, 0.2, 0.05)
        (True, 3.0)
    """
    found = [kept]
    for s in _STEPS:
        factor = math.log1p(math.expm1(s) / share) / s
        found.append(factor * kept - math.log(len(_STEPS) / alpha) / s)
    return max(found)


@lru_cache(maxsize=256)
def _shift(s: float, rate: float, threshold: int) -> float:
    """The least b with E exp(s (g - n)) <= 1 for every number n >= 1 of people in a row."""
    a = math.exp(-rate)
    last = threshold + math.ceil(40 / rate)
    b = 0.0
    for n in range(1, last + 1):
        allowed = -math.expm1(math.log(_below(threshold - n, a)) - s * n)
        b = max(b, math.log(_weight_from(threshold - n, s, a) / allowed) / s)
    # beyond: no more than the whole weight, and hardly ever unlisted
    whole = _weight_from(-last, s, a) + math.exp(-last * (rate + s))
    allowed = -math.expm1(math.log(_below(threshold - last, a)) - s * last)
    return max(b, math.log(whole / allowed) / s)


def _below(edge: int, a: float) -> float:
    """P(Z < edge)."""
    if edge <= 0:
        return a ** (1 - edge) / (1 + a)
    return 1 - a**edge / (1 + a)


def _weight_from(edge: int, s: float, a: float) -> float:
    """E exp(s Z) over Z >= edge."""
    up, down = a * math.exp(s), a * math.exp(-s)  # s < rate, so that both are below 1
    unit = (1 - a) / (1 + a)
    if edge > 0:
        return unit * up**edge / (1 - up)
    falling = (down - down ** (1 - edge)) / (1 - down)  # over -1, -2, ... down to the edge
    return unit * (1 / (1 - up) + falling)
