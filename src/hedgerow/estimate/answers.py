"""Answers to count queries, each with an interval whose parts are told apart.

A query weighs each region by the share of it that it overlaps, which is right if records lie evenly
inside a region that the query cuts. Nobody knows that. So an interval is made of two bounds that do
not need it: the truth is at least the count of the regions wholly inside the query, and at most the
count of those it touches. With the noise of these two counts, half of the error on either side, the
interval holds the truth at its level wherever records lie. If no region is cut, both counts are the
estimate itself, and noise is all there is.

The noise of a sum comes from the exact variance of that combination of measurements and a bound on
the tails of any such combination (`hedgerow.estimate.noise`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.arrays import Floats
from hedgerow.errors import ReleaseError, UsageError
from hedgerow.estimate.consistency import Fit
from hedgerow.estimate.noise import half_width
from hedgerow.estimate.queries import ASSUMED_EVEN, MEASURED, MODELED, NOT_MEASURED, RULED_OUT
from hedgerow.estimate.regions import EVEN, INNER, TOUCHED, sums
from hedgerow.measured.partition import Partition
from hedgerow.schema import Schema
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
        found: list[str | None] = []
        for query in queries:
            try:
                found.append(write(query))
            except UsageError:
                found.append(None)
        return found

    def take(self, places: Any) -> Self:
        """See `FramedRows.take`."""
        names = ("estimate", "low", "high", "noise", "uniformity_low", "uniformity_high")
        may = ("typical_error", "standard_error", "basis")
        known = [*names, *(name for name in may if getattr(self, name) is not None)]
        asked = self.asked
        if asked is not None:
            asked = [asked[0][place] for place in places], asked[1]
        return replace(self, asked=asked, **{name: getattr(self, name)[places] for name in known})

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
    found = np.where(poor, NOISE, np.where(ratio <= GOOD, "good", "fair"))
    if answers.basis is not None:
        guess = (answers.basis == MODELED) & ~poor
        found = np.where(guess | np.isin(answers.basis, _SAID), answers.basis, found)
    return tuple(found.tolist())


def with_queries(answers: Answers, queries: Sequence[Query], schema: Schema) -> Answers:
    """Answers that know what was asked."""
    return replace(answers, asked=(queries, partial(_writer, schema)))


def _writer(schema: Schema) -> Callable[[Query], str]:
    from hedgerow.schema.query import Vocabulary

    return Vocabulary(schema).text


def by_model(
    estimate: Floats, typical_error: Floats, ends: tuple[Floats, Floats], level: float
) -> Answers:
    """Answers whose estimates are a model's, beside intervals that do not depend on it.

    Estimates stay as they are, so that those of parts add up to that of the whole. Where one lies
    outside its interval, or on an end, the interval is stretched as far beyond it as the estimate
    is usually off: that costs no coverage. So it is where noise took a count so far below zero
    that nothing was left of the interval.

    Args:
        estimate: The estimates.
        typical_error: How far they are off, by the model.
        ends: The lower and upper ends of the intervals.
        level: Their level.
    """
    low, high = ends
    estimate = np.maximum(estimate, 0.0)
    low = np.where(low < estimate, low, np.maximum(np.floor(estimate - typical_error + 0.5), 0.0))
    high = np.where(high > estimate, high, np.ceil(estimate + typical_error - 0.5))
    low, high = np.minimum(low, np.floor(estimate)), np.maximum(high, np.ceil(estimate))
    unknown = np.full(len(estimate), np.nan)
    if level >= USUAL:  # a guess that is wider than what is guaranteed says nothing
        room = np.maximum(estimate - low, high - estimate)
        typical_error = np.minimum(typical_error, room)
    return Answers(
        estimate=estimate,
        low=low,
        high=high,
        noise=unknown,
        uniformity_low=unknown,
        uniformity_high=unknown,
        level=level,
        typical_error=typical_error,
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
    found = interval(estimate, half_width(np.sqrt(variance), level), level)
    return replace(found, basis=np.where(cut, ASSUMED_EVEN, MEASURED))


def interval(estimate: Floats, width: Floats, level: float) -> Answers:
    """Puts an interval together from the three sums of each query.

    Args:
        estimate: The inner, even and touched sums, shape [queries, 3].
        width: How far the noise of each may reach, at the level.
        level: The level.
    """
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
    )
