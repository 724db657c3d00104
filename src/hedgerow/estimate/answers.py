"""Answers to count queries, each with an interval whose parts are told apart.

A query weighs each region by the share of it that it overlaps, which is right if records lie evenly
inside a region that the query cuts. Nobody knows that. So an interval is made of two bounds that do
not need it: the truth is at least the count of the regions wholly inside the query, and at most the
count of those it touches. With the noise of these two counts, half of the error on either side, the
interval holds the truth at its level wherever records lie. If no region is cut, both counts are the
estimate itself, and noise is all there is.

The noise of a sum comes from the exact variance of that combination of measurements and a bound on
the tails of any such combination (`hedgerow.estimate.measurements`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Floats
from hedgerow.errors import ReleaseError, UsageError
from hedgerow.estimate.consistency import EVEN, INNER, TOUCHED, Fit, sums
from hedgerow.estimate.intervals import (
    PART,
    REST,
    VARIANCE,
    Asked,
    Bounds,
    Margin,
    Stage,
    sums_of,
)
from hedgerow.estimate.measurements import Measurement, half_width
from hedgerow.estimate.partition import GridPartition, Partition
from hedgerow.estimate.queries import (
    ASSUMED_EVEN,
    MEASURED,
    MODELED,
    NOT_MEASURED,
    RULED_OUT,
    Conditions,
    basis_of,
    find_ruled_out,
)
from hedgerow.estimate.tables import PARTS
from hedgerow.store.frames import FramedRows

if TYPE_CHECKING:
    from hedgerow.schema.query import Query

USUAL = 0.95  # of typical errors too
GOOD, FAIR = 0.165, 1 / 3  # coefficients of variation, as statistical offices have them
NOISE = "mostly noise"
_NORMAL = 1.959964
_SAID = (ASSUMED_EVEN, NOT_MEASURED, RULED_OUT)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Answers(FramedRows):
    """Answers to queries, one number per query in every array.

    `answers[0]` is the first answer, `answers["low"]` are all lower ends, and `to_pandas`,
    `to_polars` and `to_arrow` give a frame with one row per query.

    Args:
        estimate: The estimated counts, not rounded; noise can make them negative.
        low: The lower ends of the intervals: whole numbers, at least 0.
        high: The upper ends.
        noise: Half the width of the interval that noise alone asks for, around the estimate.
        uniformity_low: How much further down the truth may lie because regions are cut by the
            query.
        uniformity_high: How much further up. These three are not known with marginals, where the
            interval comes from many sources.
        level: The probability that an interval holds the truth, at least.
        typical_error: With marginals, how far the estimate is off in most queries: a guess by the
            model, which promises nothing. Else not known.
        standard_error: For itemsets, that of the noise of what was measured. Their intervals are
            wider, since long records could hold any item.
        basis: What each answer rests on: "measured", "modeled", "assumed even", "not measured" or
            "ruled out" (`hedgerow.estimate.queries`).
        asked: The queries, and what makes the function that writes one in words; both are used
            when words are wanted, since there may be very many.

    Example:
        >>> none = np.zeros(2)
        >>> found = Answers(estimate=np.array([100.0, 4.0]), low=np.array([90.0, 0.0]),
        ...     high=np.array([110.0, 9.0]), noise=none, uniformity_low=none,
        ...     uniformity_high=none, level=0.95)
        >>> found[0].estimate, found["high"].tolist(), len(found[1:])
        (100.0, [110.0, 9.0], 1)
    """

    estimate: Floats
    low: Floats
    high: Floats
    noise: Floats
    uniformity_low: Floats
    uniformity_high: Floats
    level: float
    typical_error: Floats | None = None
    standard_error: Floats | None = None
    basis: NDArray[np.str_] | None = None
    asked: tuple[Sequence[Any], Callable[[], Callable[[Any], str]]] | None = None

    def __len__(self) -> int:
        """The number of queries."""
        return len(self.estimate)

    def __float__(self) -> float:
        """The estimate, if there is one answer alone."""
        if len(self) != 1:
            raise UsageError(
                f"{len(self)} answers are not one number",
                hint='Write answers["estimate"] for all estimates, or answers[0].estimate for one.',
            )
        return float(self.estimate[0])

    def __int__(self) -> int:
        """The estimate, rounded."""
        return round(float(self))

    def __round__(self, digits: int | None = None) -> float:
        """The estimate, rounded to so many digits."""
        return round(float(self), digits)

    def __format__(self, spec: str) -> str:
        """The estimate in some format, such as `f"{answer:.0f}"`; without one, all rows."""
        return format(float(self), spec) if spec else str(self)

    @property
    def reliability(self) -> tuple[str, ...]:
        """What each estimate is worth, in a word; see the function of this name."""
        return reliability(self)

    @property
    def queries(self) -> list[str | None] | None:
        """The queries in words; None for one that was made by hand and has none."""
        if self.asked is None:
            return None
        queries, writer = self.asked
        write = writer()
        words: list[str | None] = []
        for query in queries:
            try:
                words.append(write(query))
            except UsageError:
                words.append(None)
        return words

    def take(self, places: Any) -> Self:
        """See `FramedRows.take`."""
        columns: dict[str, Any] = {
            name: one[places] for name, one in vars(self).items() if isinstance(one, np.ndarray)
        }
        if self.asked is not None:
            columns["asked"] = [self.asked[0][place] for place in places], self.asked[1]
        return replace(self, **columns)

    def caption(self) -> str:
        """See `Framed.caption`."""
        return f"Estimated counts with {self.level:.4g} intervals"

    def to_arrow(self) -> pa.Table:
        """An Arrow table with one row per query.

        Example:
            >>> none = np.zeros(1)
            >>> found = Answers(estimate=none, low=none, high=none + 9, noise=none,
            ...     uniformity_low=none, uniformity_high=none, level=0.95)
            >>> found.to_arrow().column_names[:5]
            ['estimate', 'low', 'high', 'typical_error', 'reliability']
        """
        words = self.queries
        typical = self.typical_error
        columns: dict[str, Any] = {} if words is None else {"query": pa.array(words, pa.string())}
        columns |= {
            "estimate": self.estimate,
            "low": self.low,
            "high": self.high,
            "typical_error": pa.nulls(len(self), pa.float64()) if typical is None else typical,
            "reliability": pa.array(self.reliability, pa.string()),
        }
        if self.standard_error is not None:
            columns["standard_error"] = self.standard_error
        if self.basis is not None:
            columns["basis"] = self.basis
        for name in ("noise", "uniformity_low", "uniformity_high"):
            if not np.isnan(getattr(self, name)).all():  # all that a model has
                columns[name] = getattr(self, name)
        return pa.table(columns)


def reliability(answers: Answers) -> tuple[str, ...]:
    """What each estimate is worth, by its coefficient of variation and by what it rests on.

    "good" up to 16.5%, "fair" up to a third, else "mostly noise". A guess that is neither measured
    nor mostly noise is "modeled". By regions alone, what cuts regions is "assumed even", whatever
    its error, which nobody knows. What was "not measured" is called so, and what a
    rule of the schema says that nobody is, "ruled out".

    Example:
        >>> unknown = np.full(3, np.nan)
        >>> found = Answers(estimate=np.array([100.0, 100.0, 10.0]),
        ...     low=np.array([90.0, 30.0, 0.0]), high=np.array([110.0, 170.0, 50.0]),
        ...     noise=unknown, uniformity_low=unknown, uniformity_high=unknown, level=0.95)
        >>> reliability(found)
        ('good', 'mostly noise', 'mostly noise')
    """
    error, half = answers.standard_error, answers.typical_error
    if half is None:
        endless = np.isinf(answers.high)  # the rows of others may be suppressed
        half = np.where(endless, answers.noise, (answers.high - answers.low) / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (half / _NORMAL if error is None else error) / answers.estimate
    poor = ~(ratio <= FAIR) | (answers.estimate <= 0)
    worth = np.where(poor, NOISE, np.where(ratio <= GOOD, "good", "fair"))
    if answers.basis is not None:
        guess = (answers.basis == MODELED) & ~poor
        worth = np.where(guess | np.isin(answers.basis, _SAID), answers.basis, worth)
    return tuple(worth.tolist())


def by_model(
    bounds: Bounds,
    queries: Sequence[Query],
    estimate: Floats,
    level: float,
    unmeasured: Collection[int],
) -> Answers:
    """Answers whose estimates are a model's, beside intervals that do not depend on it.

    Estimates stay as they are, so that those of parts add up to that of the whole. Where one lies
    outside its interval, or on an end, the interval is stretched as far beyond it as the estimate
    is usually off: that costs no coverage. So it is where noise took a count so far below zero
    that nothing was left of the interval.

    Args:
        bounds: What is sure about counts.
        queries: The queries.
        estimate: What the model counts.
        level: The level of the intervals.
        unmeasured: The attributes that the release says nothing about, or `CLASS`.
    """
    estimate, phi, parts = np.maximum(estimate, 0.0), missed_correlation(bounds), []
    for first in range(0, max(1, len(queries)), _CHUNK):
        here = slice(first, first + _CHUNK)
        asked = bounds.compare(queries[here])
        together = bounds.together(asked)
        typical = typical_error(bounds, asked, estimate[here], phi, together)
        nobody = find_ruled_out(bounds.tables.schema, asked.conditions)
        basis = basis_of(queries[here], together, unmeasured, MODELED)
        typical, basis = np.where(nobody, 0.0, typical), np.where(nobody, RULED_OUT, basis)
        parts.append((*bounds.ends(asked, level), typical, basis))
    low, high, typical, basis = map(np.concatenate, zip(*parts, strict=True))
    low = np.where(low < estimate, low, np.maximum(np.floor(estimate - typical + 0.5), 0.0))
    high = np.where(high > estimate, high, np.ceil(estimate + typical - 0.5))
    low, high = np.minimum(low, np.floor(estimate)), np.maximum(high, np.ceil(estimate))
    unknown = np.full(len(estimate), np.nan)
    if level >= USUAL:  # a guess that is wider than what is guaranteed says nothing
        typical = np.minimum(typical, np.maximum(estimate - low, high - estimate))
    return Answers(
        estimate=estimate,
        low=low,
        high=high,
        noise=unknown,
        uniformity_low=unknown,
        uniformity_high=unknown,
        level=level,
        typical_error=typical,
        basis=basis,
    )


def answer(partition: Partition, fit: Fit, queries: Sequence[Query], level: float) -> Answers:
    """Answers queries on a release that is not thresholded.

    Args:
        partition: The regions.
        fit: Their consistent counts.
        queries: The queries.
        level: The level of the intervals.

    Raises:
        ReleaseError: If a region was not counted at all.
    """
    if not np.isfinite(fit.variance).all():
        raise ReleaseError(
            "a region of this release was not counted, so queries cannot be answered",
            hint="Ask whoever published the release for a fresh copy.",
        )
    estimate, variance = sums(partition, fit, queries)
    cut = (estimate != estimate[:, [INNER]]).any(axis=1) | (variance != variance[:, [INNER]]).any(
        axis=1
    )
    width = half_width(np.sqrt(variance), level)
    even, noise = estimate[:, EVEN], width[:, EVEN]
    low = np.minimum(estimate[:, INNER] - width[:, INNER], even - noise)
    high = np.maximum(estimate[:, TOUCHED] + width[:, TOUCHED], even + noise)
    # where noise took a count so far below zero that nothing is left, as if it had been zero
    left = np.where(high > 0, high, noise)
    return Answers(
        estimate=even,
        # the truth is a whole number, so an interval may end at one
        low=np.maximum(np.ceil(low - 1e-9), 0.0),
        high=np.maximum(np.floor(left + 1e-9), 0.0),
        noise=noise,
        uniformity_low=(even - noise) - low,
        uniformity_high=high - (even + noise),
        level=level,
        basis=np.where(cut, ASSUMED_EVEN, MEASURED),
    )


# How far the model's counts are typically off: a guess, never called an interval.
#
# Let e be the estimate of a query, N the records of its classes, and p_a the part of these that
# meets its condition on attribute a. The estimate is off
#
# - by the noise of each attribute's table, by the class if the query asks for classes: e / (p_a N)
# times the noise of what meets the condition, and where it cuts a cell, how unevenly records may
# lie there, or as far as its parts were counted, what their noise leaves open (`CellParts`);
# - by the noise of each table that counts two of its attributes: e / S times that of the S records
# there, as far as the tables of the two do not take it away;
# - for every other pair of attributes, by what relates them beyond what the model knows: with a
# correlation phi that is e phi sqrt((1 - p_a) (1 - p_b) / (p_a p_b)).
#
# The squares are added up. Where attributes were not all counted together, a count's own chance
# comes to them: e (1 - P (1 + sum_a (1 - p_a) / p_a)) with P the product of all p_a, the variance
# of a cell whose margins are known. 1.96 roots are the typical error; 1.8 with Gaussian noise,
# where more tables overlap and take out more noise than is reckoned here. phi follows from the
# pairs that were counted (`missed_correlation`), and is 0.2 where none was. These constants were
# chosen on five tables; how often the error holds is measured by
# `benchmarks/marginal_intervals.py`. Where two attributes depend on each other strongly and were
# not counted together, it is far too small.

_TINY = 1e-9
_CHUNK = 4096  # queries that are looked at together
_WIDTH_LAPLACE, _WIDTH_NORMAL = 1.96, 1.8  # for 95%, of Laplace and of Gaussian noise
_UNKNOWN = 0.2  # phi, where no pair was counted
_PHI, _LEAST_PHI, _MOST_PHI = 0.1, 0.05, 0.5  # unless counted pairs tell otherwise; the limits
_UNEVEN, _ANYHOW = 0.1, 1 / 3  # how unevenly records may lie in cells; in full ones that were
# not counted in parts, where any share is as likely as any other


def missed_correlation(bounds: Bounds) -> float:
    """The phi of pairs that were not counted: the middle one of those that were.

    A pair's table differs from what its attributes by the class make expect by
    phi sqrt(p (1 - p) q (1 - q)) n in a cell, and by noise. Pairs are chosen for how far they are
    off, so while there are few they are no measure of the others.
    """
    strengths = [
        _strength(bounds.stages[0], stage, block, margin)
        for stage in bounds.stages[1:]
        for block, margin in stage.all_classes.items()
        if len(block) == 2
    ]
    if not strengths:
        return _UNKNOWN
    others = len(bounds.tables.cells.counted) - 1 - len(strengths)
    middle = float(np.median([*strengths, *[_PHI] * others]))
    return min(_MOST_PHI, max(_LEAST_PHI, middle))


def _strength(base: Stage, stage: Stage, block: tuple[int, ...], margin: Margin) -> float:
    """How strongly two attributes are related beyond the class, but for noise."""
    margins = base.by_class
    if any((place,) not in margins for place in block):  # with few records the class is left out
        margins = {b: replace(m, counts=m.counts[..., None]) for b, m in base.all_classes.items()}
    if any((place,) not in margins for place in block):
        return 1.0  # nothing is known, so the most there can be
    sides = []
    for place in block:
        group = stage.cells.group[place]
        counts = np.zeros((int(group.max()) + 1, margins[()].counts.size))
        np.add.at(counts, group, np.maximum(margins[place,].counts, 0.0))
        sides.append(counts / np.maximum(counts.sum(axis=0), 1.0))
    number = np.maximum(margins[()].counts, 0.0)
    expected = np.einsum("ik,jk,k->ij", *sides, number)
    square = float(((margin.counts - expected) ** 2).sum()) - margin.variance * margin.counts.size
    one, other = (side @ number / max(1.0, float(number.sum())) for side in sides)
    most = float(number.sum() ** 2 * (one * (1 - one)).sum() * (other * (1 - other)).sum())
    return math.sqrt(max(0.0, square) / max(most, 1.0))


def typical_error(
    bounds: Bounds, asked: Asked, estimate: Floats, phi: float, together: Bools
) -> Floats:
    """The typical error of each query.

    Args:
        bounds: What is sure about counts.
        asked: The queries.
        estimate: What the model counts, not below 0.
        phi: How strongly attributes are related that were not counted together.
        together: Whether just what each query asks for was counted.
    """
    base = bounds.stages[0]
    number, noise = base.number(asked.classes if base.by_class else None, len(estimate))
    number = np.maximum(number, 1.0)
    shares = {place: _share(bounds, asked, place, number) for place in asked.at}
    product = np.prod([share for share, _ in shares.values()], axis=0, initial=1.0)
    # a count that was taken for nothing may still be as large as its noise
    counted = np.maximum(estimate, number * product)
    square = 1 + (counted / number) ** 2 * noise
    odds = {}
    for place, (share, variance) in shares.items():
        square += (counted / (share * number)) ** 2 * variance
        odds[place] = (1 - share) / share * (asked.at[place] >= 0)
    total = sum(odds.values(), np.zeros(len(square)))
    chance = np.maximum(0.0, 1 - product * (1 + total))
    square += estimate * np.where(together, 0.0, chance)
    unknown = (total**2 - sum((one**2 for one in odds.values()), 0 * total)) / 2
    everybody, _ = base.number(None, len(estimate))
    known: set[tuple[int, ...]] = set()
    for stage in bounds.stages:
        for block, margin in stage.all_classes.items():
            if len(block) != 2 or block in known or any(a not in asked.at for a in block):
                continue
            known.add(block)
            both = (asked.at[block[0]] >= 0) & (asked.at[block[1]] >= 0)
            unknown -= odds[block[0]] * odds[block[1]] * both
            # the table's margins are known much better from other tables, so only what is left
            # beside them counts: of k cells along an axis of m, k (1 - k / m)
            sums = sums_of(stage, asked, "part", both, block, margin, by_class=False)
            left = np.where(both, margin.variance, 0.0)
            for place in block:
                held = asked.held(place, "part", grouped=stage.grouped)[asked.at[place]]
                left *= held.sum(axis=1) * (1 - held.mean(axis=1))
            held = np.maximum(sums[REST] + sums[PART] * everybody, np.sqrt(sums[VARIANCE]))
            square += (counted / np.maximum(held, 1.0)) ** 2 * left
    missed = counted**2 * np.where(unknown > _TINY * total**2, unknown, 0.0)
    width = _WIDTH_NORMAL if base.normal else _WIDTH_LAPLACE
    return np.asarray(width * np.sqrt(square + phi**2 * missed))


def _share(bounds: Bounds, asked: Asked, place: int, number: Floats) -> tuple[Floats, Floats]:
    """The part of the records that meets the condition on an attribute, and its noise."""
    base, met = bounds.stages[0], asked.at[place] >= 0
    share, variance = np.ones(len(met)), np.zeros(len(met))
    for by_class in (False, True):
        margins = base.by_class if by_class else base.all_classes
        wanted = met & ((asked.of_classes & bool(base.by_class)) == by_class)
        if not wanted.any():
            continue
        if (place,) not in margins:  # nobody knows
            share[wanted], variance[wanted] = 0.5, (number[wanted] / 2) ** 2
            continue
        margin = margins[place,]
        sums = sums_of(base, asked, "part", wanted, (place,), margin, by_class=by_class)
        query = np.flatnonzero(wanted)
        many = number[query]
        # how many more records of cut cells are held than if they lay evenly, by their parts, and
        # how far the records may lie otherwise than that, squared
        here = asked.conditions.on(place)[asked.at[place][query]]
        held = asked.held(place, "part")[asked.at[place][query]]
        every = np.maximum(base.all_classes[place,].counts, 0.0)
        mass = np.tile(every, (len(query), 1))
        if by_class:
            mass = asked.classes[query] @ np.maximum(margin.counts, 0.0).T
        full = mass * PARTS > many[:, None]
        off = (np.where(full, _ANYHOW, _UNEVEN) * mass + 1) * mass * held * (1 - held)
        more = np.zeros(len(query))
        for (a, cell), parts in bounds.tables.parts.items():
            if a != place:
                continue
            inside = asked.conditions.cover(here, parts.edges).share
            records = mass[:, cell]
            known = np.clip(inside @ parts.shares, 0.0, 1.0)
            more += (known - held[:, cell]) * records
            cut = _UNEVEN * (inside * (1 - inside)) @ parts.shares**2
            others = np.maximum(every[cell] - records, 0.0) / max(1.0, every[cell])
            apart = (_PHI**2 * every[cell] + 1) * others * records * known * (1 - known)
            off[:, cell] = records**2 * (parts.variance(inside) + cut) + apart
        value = sums[REST, query] + sums[PART, query] * many + more
        noise = sums[VARIANCE, query] + off.sum(axis=1)
        share[query] = np.clip(value / many, np.sqrt(noise) / many, 1.0)
        variance[query] = noise
    return np.clip(share, 1e-6, 1.0), variance


# Bounds where only what is large was published: cells over a threshold, rows of many people.

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
    part = [partition.parts(a, cells.where).index for a in range(len(partition.edges))]
    worst = math.inf  # with nothing listed, not even the rate of the noise is known
    if len(cells.where):
        rates = cells.units * float(cells.unit)
        worst = worst_noise(float(rates.min()), float(partition.cells) * classes, (1 - level) / 2)
    most_of_all = _total_bound(measurements, level)
    at_least, at_most = np.maximum(values - worst, 0.0), values + worst
    least_of_all = float(at_least.sum())
    asked = Conditions.of(queries, with_class=False)
    along: dict[int, Floats] = {}  # how far each condition covers the parts of its attribute
    for a, edges in enumerate(partition.edges):
        here = asked.on(a)
        shares = asked.cover(here, edges.astype(np.int64)).share
        along |= dict(zip(here.tolist(), shares, strict=True))
    # the even sum of the values; of what each cell holds at least, the inner, even and touched sum;
    # the even and touched sum of what it holds at most; how many listed cells there are, by share
    # and touched; how many cells of the grid
    totals = np.zeros((len(queries), 10))
    for place, (query, first) in enumerate(zip(queries, asked.start.tolist(), strict=False)):
        share, number = np.ones(len(values)), np.ones(2)
        many, free = classes, dict(enumerate(partition.shape))
        if query.classes is not None:
            share, many = np.isin(klass, query.classes).astype(np.float64), len(query.classes)
        for condition, (a, _) in enumerate(query.where, start=first):
            share = share * along[condition][part[a]]
            number *= _add_up(np.stack([along[condition], along[condition] > 0]))
            free.pop(a, None)
        some = share > 0
        share, least, most = share[some], at_least[some], at_most[some]
        totals[place, :8] = _add_up(np.stack([
            share * values[some], least * (share == 1), share * least, least,
            share * most, most, share, np.ones(len(share)),
        ]))  # fmt: skip
        # cells that the query does not name an attribute of are all inside
        totals[place, 8:] = number * (many * float(math.prod(free.values())))
    absent = np.maximum(totals[:, 8:] - totals[:, 6:8], 0.0)
    with np.errstate(invalid="ignore"):
        hidden = np.where(absent > 0, absent * (threshold - 1 + worst), 0.0)
    estimate, least, even_least, touched_least = totals[:, :4].T
    even_most = np.minimum(totals[:, 4] + hidden[:, 0], most_of_all - (least_of_all - even_least))
    most = np.minimum(totals[:, 5] + hidden[:, 1], most_of_all - (least_of_all - touched_least))
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


def _add_up(rows: Floats) -> Floats:
    """The sum of each row, one number after the other: the same on every machine."""
    return np.cumsum(np.insert(rows, 0, 0.0, axis=1), axis=1)[:, -1]


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
    bounds = [float(rows)]  # nobody is listed whom nobody stands behind
    # a stranger's release may claim any noise: beyond what is ever drawn, take the certain bound
    usual = 1e-3 <= rate <= 30 and threshold <= 100_000
    for part in _PARTS if usual else ():
        s = rate / part
        cost = math.log(len(_PARTS) / alpha) / s
        bounds.append(total - rows * _shift(s, rate, threshold) - cost)
    return max(bounds)


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
    bounds = [kept]
    for s in _STEPS:
        factor = math.log1p(math.expm1(s) / share) / s
        bounds.append(factor * kept - math.log(len(_STEPS) / alpha) / s)
    return max(bounds)


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
