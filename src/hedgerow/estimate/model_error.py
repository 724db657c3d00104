"""How far the model's counts are typically off: a guess, never called an interval.

Let e be the estimate of a query, N the records of its classes, and p_a the part of these that meets
its condition on attribute a. The estimate is off

- by the noise of each attribute's table, by the class if the query asks for classes: e / (p_a N)
  times the noise of what meets the condition, and where it cuts a cell, how unevenly records may
  lie there;
- by the noise of each table that counts two of its attributes: e / S times that of the S records
  there, as far as the tables of the two do not take it away;
- for every other pair of attributes, by what relates them beyond what the model knows: with a
  correlation phi that is e phi sqrt((1 - p_a) (1 - p_b) / (p_a p_b)).

The squares are added up, with e + 1 for a count's own chance, and 1.96 roots are the typical error.
phi follows from the pairs that were counted (`missed_correlation`). Where none was, nobody knows,
and the interval is all that can be said. The other constants were chosen on two tables; how often
the error holds on others is measured by `benchmarks/marginal_intervals.py`. Where two attributes
depend on each other strongly and were not counted together, it is far too small.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from hedgerow.arrays import Bools, Floats
from hedgerow.estimate.intervals import CHUNK, PART, REST, VARIANCE, Bounds, Margin, Stage, sums_of
from hedgerow.estimate.queries import Conditions
from hedgerow.measured.tables import PARTS

_TINY = 1e-9
_FACTOR = 1.96  # of a normal law, for 95%
_PHI, _LEAST_PHI, _MOST_PHI = 0.1, 0.05, 0.5  # unless counted pairs tell otherwise; the limits
_UNEVEN, _ANYHOW = 0.1, 1 / 3  # how unevenly records may lie in cells; in full ones that were
# not counted in parts, where any share is as likely as any other


def typical_error(bounds: Bounds, asked: Conditions, estimate: Floats) -> Floats:
    """The typical error of each query.

    Args:
        bounds: What is sure about counts.
        asked: The conditions of the queries.
        estimate: What the model counts.

    Returns:
        The errors; infinite where pairs of attributes matter and none was counted.
    """
    phi = missed_correlation(bounds)
    errors = [
        _Errors(
            bounds, asked.slice(first, first + CHUNK), np.maximum(estimate[first:][:CHUNK], 0.0)
        ).all_together(phi)
        for first in range(0, asked.queries, CHUNK)
    ]
    return np.concatenate([np.empty(0), *errors])


def missed_correlation(bounds: Bounds) -> float:
    """The phi of pairs that were not counted: the middle one of those that were.

    A pair's table differs from what its attributes by the class make expect by
    phi sqrt(p (1 - p) q (1 - q)) n in a cell, and by noise. Pairs are chosen for how far they are
    off, so while there are few they are no measure of the others. Without any nothing is known.
    """
    strengths = [
        _strength(bounds.base, stage, block, margin)
        for stage in bounds.later
        for block, margin in stage.all_classes.items()
        if len(block) == 2
    ]
    if not strengths:
        return math.inf
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


class _Errors:
    def __init__(self, bounds: Bounds, conditions: Conditions, estimate: Floats) -> None:
        self.bounds = bounds
        self.base = base = bounds.base
        self.asked = asked = bounds.asked(conditions)
        queries = len(estimate)
        self.classed = asked.of_classes if base.by_class else np.zeros(queries, np.bool_)
        self.number, self.noise = base.number(None, queries)
        if base.by_class:
            number, noise = base.number(asked.classes, queries)
            self.number = np.where(self.classed, number, self.number)
            self.noise = np.where(self.classed, noise, self.noise)
        self.number = np.maximum(self.number, 1.0)
        self.share = {place: self._share(place) for place in asked.at}
        together = np.prod([share for share, _ in self.share.values()], axis=0, initial=1.0)
        # a count that was taken for nothing may still be as large as its noise
        self.counted = np.maximum(estimate, self.number * together)
        self.square = estimate + 1 + (self.counted / self.number) ** 2 * self.noise

    def all_together(self, phi: float) -> Floats:
        """All squares together, and the root of that."""
        asked = self.asked
        odds = {}
        for place, (share, variance) in self.share.items():
            self.square += (self.counted / (share * self.number)) ** 2 * variance
            odds[place] = (1 - share) / share * (asked.at[place] >= 0)
        total = sum(odds.values(), np.zeros(len(self.square)))
        unknown = (total**2 - sum((one**2 for one in odds.values()), 0 * total)) / 2
        known: set[tuple[int, ...]] = set()
        for stage in (self.base, *self.bounds.later):
            for block, margin in stage.all_classes.items():
                if len(block) != 2 or block in known or any(a not in asked.at for a in block):
                    continue
                known.add(block)
                both = (asked.at[block[0]] >= 0) & (asked.at[block[1]] >= 0)
                unknown -= odds[block[0]] * odds[block[1]] * both
                self.square += self._together(stage, block, margin, both)
        missed = self.counted * np.sqrt(np.where(unknown > _TINY * total**2, unknown, 0.0))
        square = self.square + np.multiply(phi, missed, out=missed, where=missed > 0) ** 2
        return np.asarray(_FACTOR * np.sqrt(square))

    def _together(
        self, stage: Stage, block: tuple[int, ...], margin: Margin, both: Bools
    ) -> Floats:
        """The noise of a table that counts two attributes of some queries.

        Its margins are known much better from other tables, so only what is left beside them
        counts: of k cells along an axis of m, k (1 - k / m).
        """
        number, _ = self.base.number(None, len(both))
        sums = sums_of(stage, self.asked, "part", both, block, margin, by_class=False)
        noise = np.where(both, margin.variance, 0.0)
        for place in block:
            held = self.asked.held(place, "part", grouped=stage.grouped)[self.asked.at[place]]
            noise *= held.sum(axis=1) * (1 - held.mean(axis=1))
        held = np.maximum(sums[REST] + sums[PART] * number, np.sqrt(sums[VARIANCE]))
        return np.asarray((self.counted / np.maximum(held, 1.0)) ** 2 * noise)

    def _share(self, place: int) -> tuple[Floats, Floats]:
        """The part of the records that meets the condition on an attribute, and its noise."""
        asked, met = self.asked, self.asked.at[place] >= 0
        share, variance = np.ones(len(met)), np.zeros(len(met))
        for by_class in (False, True):
            margins = self.base.by_class if by_class else self.base.all_classes
            wanted = met & (self.classed == by_class)
            if not wanted.any():
                continue
            if (place,) not in margins:  # nobody knows
                share[wanted], variance[wanted] = 0.5, (self.number[wanted] / 2) ** 2
                continue
            margin = margins[place,]
            sums = sums_of(self.base, asked, "part", wanted, (place,), margin, by_class=by_class)
            value = sums[REST] + sums[PART] * self.number
            noise = sums[VARIANCE] + self._uneven(place, margin, wanted, by_class=by_class)
            least = np.sqrt(noise) / self.number
            share[wanted] = np.clip(value / self.number, least, 1.0)[wanted]
            variance[wanted] = noise[wanted]
        return np.clip(share, 1e-6, 1.0), variance

    def _uneven(self, place: int, margin: Margin, wanted: Bools, *, by_class: bool) -> Floats:
        """How far the records of cut cells may lie otherwise than evenly, squared."""
        query = np.flatnonzero(wanted)
        held = self.asked.held(place, "part")[self.asked.at[place][query]]
        for a, cell in self.bounds.tables.fine:
            if a == place:
                held[:, cell] = np.rint(held[:, cell])
        mass = np.maximum(margin.counts, 0.0)
        if by_class:
            mass = self.asked.classes[query] @ mass.T
        full = mass * PARTS > self.number[query][:, None]
        uneven = np.where(full, _ANYHOW, _UNEVEN)
        square = np.zeros(len(wanted))
        square[query] = (uneven * mass**2 * held * (1 - held)).sum(axis=1)
        return square
