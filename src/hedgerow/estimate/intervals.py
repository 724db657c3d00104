"""Guaranteed ends of intervals on a release of marginals.

**Bounds.** A query is a conjunction. A *block* is a set of its attributes that some table counts
together, by the class too if the query asks for classes and there is such a table. The count is

- at most what each block holds: the cells that its conditions touch;
- at least the number of records less all that lies outside some block of a division of the query's
  attributes (Frechet): sum_i S_i - (r - 1) N for r blocks, with S_i the cells wholly inside. With
  one block that holds all attributes, that is what its inner cells hold.

An attribute that nobody counted has one cell, and N records lie there.

**Least squares.** Let a table have m cells with noise of variance s^2 and the total T, and let k of
them lie in a block, whose sum is S. Then D = S - (k / m) T and T have uncorrelated noise, D that of
variance s^2 k (1 - k / m). The mean of D does not depend on which table counted the block, so
several are averaged by their inverse variances, and so are totals of all tables; what the block
holds is D + (k / m) N. The D of blocks without a common attribute are uncorrelated even if they
come from one table, so variances add up.

**Stages.** `best_upper_ends` wants bounds and weights that were fixed before their noise was drawn.
What was counted first decides what is counted then, and given that its noise is neither symmetric
nor of mean 0. So numbers of different stages are never summed up:

1. `single`, `by_class` and `named`: which tables and cells these are follows from the schema and
   from `rows`, whose noise is in no bound.
2. `fine`: parts of full cells. That a cell was counted again is due to its own noise and that of
   `rows` alone. So the other cells of its attribute may be added to the parts, as long as no total
   is used in which the cell is.
3. each round of pairs; 4. `again`: what they count follows from everything before.

Each stage gets a part of alpha, which may depend on what was drawn before it: a stage that says
nothing of a query leaves its part to later ones. The guarantee is for queries that were fixed
before the release was seen.

**Rules.** Nobody meets a query that lies inside what a rule of the schema forbids.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations, product
from typing import Literal

import numpy as np

from hedgerow.arrays import Bools, Floats, Ints
from hedgerow.estimate.measurements import LATTICE, factor, tail
from hedgerow.estimate.queries import Conditions, find_ruled_out
from hedgerow.estimate.tables import ROUNDS, Cells, NoisyTable, Tables
from hedgerow.schema import CLASS
from hedgerow.schema.query import Query

# The best of several bounds that are each surely above the truth, but for noise.
#
# A count has many upper bounds: that of every one of its conditions, of every measured pair of
# them, of the regions that the query touches. Each is a sum of noisy numbers, value = mean + noise,
# with a mean that is never below the truth and noise of a known law. Taking the least of the values
# plus their margins is right if the margins allow for the choice. How much they have to allow
# depends on how far apart the means are: one that lies far above the least will hardly ever be the
# least.
#
# **Theorem** (after Romano, Shaikh and Wolf 2014, "A practical two-step method for testing moment
# inequalities"). Let the candidates, their weights and alpha be fixed before their noise is drawn,
# each noise symmetric with P(noise_j < -x s_j - step_j) <= T(x) for x >= 0. Choose 0 < b < alpha,
# and h_j so that |noise_j| <= h_j for all j at once with probability 1 - b. Let
#
#     G_j = max(0, value_j - h_j - min_i (value_i + h_i)),
#     c   = the solution of sum_j T(c + G_j / s_j) = alpha - b.
#
# Then min_j (value_j + c s_j + step_j) is below the truth with probability alpha at most.
#
# *Proof.* Let g_j = mean_j - min_i mean_i, and c* solve the same equation for g instead of G: a
# constant. With c* the end is below the truth only if for some j value_j + c* s_j + step_j is, and
# since the truth is at most min_i mean_i that means noise_j < -c* s_j - g_j - step_j, which for all
# j together has the probability sum_j T(c* + g_j / s_j) = alpha - b at most. When all |noise_j| <=
# h_j, mean_j >= value_j - h_j and min_i mean_i <= min_i (value_i + h_i), so G_j <= g_j; the
# solution falls as the gaps grow, so c >= c*, and the end with c is no lower than that with c*. The
# other case has probability b. (For noise that moves two candidates alike nothing changes: sums of
# probabilities were used, and no independence.) Lower ends are upper ends of the negated count.


_CHOICE = 0.1  # the part b of alpha that the first step takes
_GRID = np.arange(0.0, 10.05, 0.1)
_LEAST = 1e-4  # an alpha below which the grid is too short
_END_ROUNDS = 40  # of bisection
_DISCRETE = 1 + 1e-7  # how much more often a discrete Gaussian noise lies beyond


Bound = tuple[Ints, Floats, Floats, Floats]
"""Some queries, each with a noisy upper bound of its count, the standard deviation of the noise,
for the tails, and what is added because noise is discrete."""


def pad(bounds: Sequence[Bound], queries: int) -> tuple[Floats, Floats, Floats]:
    """The values (infinite where there is none), standard deviations and steps of all bounds.

    Returns:
        Three arrays of the shape [queries, most bounds of a query].

    Example:
        >>> one = np.array([1]), np.array([40.0]), np.array([3.0]), np.array([0.5])
        >>> [padded.tolist() for padded in pad([one], 2)]
        [[[inf], [40.0]], [[1.0], [3.0]], [[1.0], [0.5]]]
    """
    nothing = np.empty(0, np.int64), np.empty(0), np.empty(0), np.empty(0)
    query, *columns = (np.concatenate(one) for one in zip(nothing, *bounds, strict=True))
    many = np.bincount(query, minlength=queries)
    order = np.argsort(query, kind="stable")
    rank = np.arange(len(query)) - np.repeat(np.cumsum(many) - many, many)
    full = np.full((3, queries, int(many.max(initial=0))), 1.0)
    full[0] = np.inf
    full[:, query[order], rank] = np.stack(columns)[:, order]
    return full[0], full[1], full[2]


def best_upper_ends(
    values: Floats, deviations: Floats, steps: Floats, alpha: Floats, *, normal: bool = False
) -> Floats:
    """Upper ends that fail with probability alpha at most, each from several candidates.

    Args:
        values: The noisy bounds, shape [queries, candidates]; infinite where there is none.
        deviations: The standard deviations of their noise.
        steps: The half steps that are added because noise is discrete.
        alpha: The probability with which the end of each query may fail; 0 for no end at all.
        normal: Whether all noise is Gaussian.

    Returns:
        The ends, infinite for a query without candidates.

    Example:
        >>> one, two = [[100.0, np.inf]], [[100.0, 500.0]]
        >>> noise, steps = np.full((1, 2), 10.0), np.full((1, 2), 0.5)
        >>> best_upper_ends(np.array(one), noise, steps, np.array([0.025])).round(1).tolist()
        [122.1]
        >>> best_upper_ends(np.array(two), noise, steps, np.array([0.025])).round(1).tolist()
        [122.8]
    """
    ends = np.full(len(values), np.inf)
    asked = np.flatnonzero(np.isfinite(values).any(axis=1) & (alpha > 0))
    if not len(asked):
        return ends
    values, deviations, steps, alpha = values[asked], deviations[asked], steps[asked], alpha[asked]
    there = np.isfinite(values)
    number = there.sum(axis=1)
    alone = number <= 1  # nothing to choose from, so nothing to pay for a choice
    first = np.where(alone, 0.0, _CHOICE) * alpha
    scale = np.maximum(deviations, 1e-9)
    # as many levels as there are different numbers of candidates
    shares = np.where(alone, 1.0, first / np.maximum(number, 1))
    levels, place = np.unique(shares, return_inverse=True)
    reach = np.array([
        0.0 if share == 1 else factor(1 - share / _DISCRETE, normal=normal) for share in levels
    ])[place]  # fmt: skip
    h = reach[:, None] * deviations + steps
    lowest = np.where(there, values + h, np.inf).min(axis=1)
    with np.errstate(invalid="ignore"):
        gaps = np.where(there, np.maximum(0.0, values - h - lowest[:, None]) / scale, np.inf)
    gaps[alone] = np.where(there[alone], 0.0, np.inf)
    # the c of each row for which the tails of all candidates sum to what is left of alpha; where
    # that is tiny, every candidate gets an equal part of it
    left = (alpha - first) / _DISCRETE
    rare, most = left < _LEAST, np.full(len(left), _GRID[-1])
    known = np.isfinite(gaps)
    for row in np.flatnonzero(rare):
        each = float(left[row] / max(1, np.count_nonzero(known[row])))
        most[row] = factor(1 - 2 * each, normal=normal)
    low, high = np.where(rare, most, 0.0), most
    tails = half_tails(normal=normal)
    for _ in range(_END_ROUNDS):
        c = (low + high) / 2
        # the chords of half of a tail, which is convex: never below it
        chords = np.interp(c[:, None] + gaps, _GRID, tails)
        too_much = np.where(known, chords, 0.0).sum(axis=1) > left
        low, high = np.where(too_much, c, low), np.where(too_much, high, c)
    ends[asked] = np.where(there, values + high[:, None] * deviations + steps, np.inf).min(axis=1)
    return ends


@lru_cache
def half_tails(*, normal: bool) -> Floats:
    """Half of each tail at the places of the grid: worked out once, since it takes its time."""
    one = (lambda x: math.erfc(x / math.sqrt(2))) if normal else tail
    return np.array([one(x) / 2 for x in _GRID.tolist()])


# What each table, and all of them, say of counts.


Block = tuple[int, ...]
Side = Literal["inner", "touched", "part"]
REST, VARIANCE, PART, HELD = range(4)
BASE = ("single", "by_class", "named")
STAGES = (BASE, *((kind,) for kind in ROUNDS), ("again",))
_LAST = 2  # stages that no other can follow, so that they take what is left of alpha
_UPPER = (0.5, 0.5, 0.6, 0.95)  # the upper end's part of alpha, by the number of conditions
_FIRST, _FIRST_OF_TWO = 0.7, 0.5  # the first stage's part of that, if others may come
_HALF = 0.5  # half of the step between whole numbers
_NEAR = 1e-9


@dataclass(frozen=True, eq=False)
class Margin:
    """The counts of a block, averaged over all tables that hold it.

    Args:
        counts: One axis for each attribute, and one for the classes if it is by class.
        variance: The variance of the noise of each.
    """

    counts: Floats
    variance: float


class Stage:
    """Tables whose noise was drawn when it was fixed which tables these are.

    Args:
        tables: The tables, all of cells or all of groups.
        cells: The cells and groups of all columns.
        singles: Whether single attributes bound counts from above, and not several alone.

    Attributes:
        grouped: Whether groups are counted.
        normal: Whether all noise is Gaussian.
        all_classes: Blocks of all classes together; () is the number of records.
        by_class: Blocks by class; () are the numbers of records.
    """

    def __init__(self, tables: Sequence[NoisyTable], cells: Cells, *, singles: bool) -> None:
        self.tables, self.cells, self.singles = tables, cells, singles
        self.grouped = any(table.grouped for table in tables)
        self.normal = all(table.law == "gaussian" for table in tables)
        self.all_classes, self.by_class = (self._margins(by_class=one) for one in (False, True))

    def _margins(self, *, by_class: bool) -> dict[Block, Margin]:
        """All blocks that the tables hold."""
        last, sums = self.cells.attributes, dict[Block, tuple[Floats, float]]()
        for table in self.tables:
            if by_class and last not in table.columns:
                continue
            columns = sorted(table.columns)  # the class comes last
            values = table.values.transpose(np.argsort(table.columns)).astype(np.float64)
            attributes = [column for column in columns if column < last]
            for block in chain(*(combinations(attributes, n) for n in range(len(columns) + 1))):
                kept = {*block, last} if by_class else {*block}
                others = tuple(x for x, column in enumerate(columns) if column not in kept)
                weight = 1 / (table.tail * math.prod(values.shape[x] for x in others))
                counts, known = sums.get(block, (np.zeros(()), 0.0))
                sums[block] = counts + weight * values.sum(axis=others), known + weight
        return {block: Margin(one / known, 1 / known) for block, (one, known) in sums.items()}

    def number(self, classes: Bools | None, queries: int) -> tuple[Floats, Floats]:
        """The number of records, of some classes for each query or of all, and its variance."""
        whole = self.all_classes[()]
        if classes is None:
            return np.full(queries, float(whole.counts)), np.full(queries, whole.variance)
        apart = self.by_class[()]
        every = classes.all(axis=1)
        number = np.where(every, float(whole.counts), classes @ apart.counts)
        variance = np.where(every, whole.variance, classes.sum(axis=1) * apart.variance)
        return number, variance


class Asked:
    """Queries beside the cells of a release.

    Args:
        queries: The queries.
        tables: What was measured.

    Attributes:
        conditions: Their conditions.
        cells: The cells and groups of all columns.
        counted: The attributes that anything counted; others have one cell.
        at: By attribute the place of each query's condition among all on it; -1 without one.
        attributes: How many attributes each query has conditions on.
        classes: Which classes each query asks for.
        of_classes: Which queries have a condition on the class.
    """

    def __init__(self, queries: Sequence[Query], tables: Tables) -> None:
        self.conditions = conditions = Conditions.of(queries)
        self.cells, self.at = tables.cells, dict[int, Ints]()
        self.counted = frozenset(column for table in tables.tables for column in table.columns)
        for place in np.unique(conditions.place[conditions.place != CLASS]).tolist():
            here = conditions.on(place)
            self.at[place] = np.full(conditions.queries, -1)
            self.at[place][conditions.query[here]] = np.arange(len(here))
        here, number = conditions.on(CLASS), self.cells.classes
        self.of_classes = np.zeros(conditions.queries, np.bool_)
        self.of_classes[conditions.query[here]] = True
        self.attributes: Ints = np.diff(conditions.start) - self.of_classes
        self.classes = np.ones((conditions.queries, max(1, number)), np.bool_)
        if len(here):
            inside = conditions.cover(here, np.arange(number + 1)).inner
            self.classes[self.of_classes] = inside
        self._kept: dict[tuple[int, str, bool], Floats] = {}

    def held(self, place: int, side: Side, *, grouped: bool = False) -> Floats:
        """How far each condition on an attribute holds its cells, or groups: [conditions, cells].

        Args:
            place: The attribute.
            side: Whether those wholly inside are held, those that it touches, or all in part.
            grouped: Whether groups are meant.
        """
        key = place, side, grouped
        if key not in self._kept:
            edges, group = self.cells.edges[place], self.cells.group[place]
            if place not in self.counted:
                edges, group = edges[[0, -1]], np.zeros(1, np.int64)
            covered = self.conditions.cover(self.conditions.on(place), edges)
            wide = np.diff(edges).astype(np.float64)
            member = np.zeros((len(group), int(group.max()) + 1))
            member[np.arange(len(group)), group] = wide
            for one, cells in (
                ("inner", covered.inner), ("touched", covered.touched), ("part", covered.share)
            ):  # fmt: skip
                part = cells @ member / member.sum(axis=0)
                if one != "part":
                    part = part >= 1 - _NEAR if one == "inner" else part > 0
                self._kept[place, one, False] = cells.astype(np.float64)
                self._kept[place, one, True] = part.astype(np.float64)
        return self._kept[key]

    def cut(self, place: int, *, grouped: bool = False) -> Bools:
        """Which cells, or groups, each condition on an attribute covers in part."""
        inner, touched = (self.held(place, side, grouped=grouped) for side in ("inner", "touched"))
        return touched > inner


def sums_of(
    stage: Stage, asked: Asked, side: Side, wanted: Bools, block: Block, margin: Margin,
    *, by_class: bool,
) -> Floats:  # fmt: skip
    """What a block holds of each query: D, its variance, the part k / m, and the attributes.

    All are 0 for queries that are not about all of its attributes.
    """
    met = wanted.copy()
    for place in block:
        met &= asked.at[place] >= 0
    query = np.flatnonzero(met)
    value = np.broadcast_to(margin.counts.reshape(1, -1), (len(query), margin.counts.size))
    part = np.ones(len(query))
    for place in block:
        held = asked.held(place, side, grouped=stage.grouped)[asked.at[place][query]]
        part *= held.mean(axis=1)
        deep = value.reshape(*held.shape, value.shape[1] // held.shape[1])
        value = np.einsum("qm,qmr->qr", held, deep)
    whole = margin.counts.sum(axis=tuple(range(len(block)))).reshape(-1)
    cells = margin.counts.size // len(whole)
    classes = asked.classes[query] if by_class else np.ones((len(query), 1))
    sums = np.zeros((4, len(wanted)))
    sums[REST, query] = ((value - part[:, None] * whole) * classes).sum(axis=1)
    sums[VARIANCE, query] = margin.variance * cells * part * (1 - part) * classes.sum(axis=1)
    sums[PART, query] = part
    sums[HELD, query] = len(block)
    return sums


def collect_bounds(stage: Stage, asked: Asked, *, inner: bool) -> tuple[list[Bound], Bools]:
    """The bounds of one end by one stage, and which queries one block holds altogether.

    Args:
        stage: The tables.
        asked: The queries.
        inner: Whether the negated counts are bounded, by cells wholly inside.
    """
    queries, apart = asked.conditions.queries, stage.by_class
    bounds: list[Bound] = []
    whole = np.zeros(queries, np.bool_)
    if not stage.tables:
        return bounds, whole
    side: Side = "inner" if inner else "touched"
    classed = asked.of_classes if apart else np.zeros(queries, np.bool_)
    # what all classes hold is no lower bound for some
    ways = [(apart, classed, True)]
    ways.append((stage.all_classes, ~(asked.of_classes if inner else classed), False))
    if not inner:
        others = stage.all_classes.keys() - apart.keys()
        ways.append(({block: stage.all_classes[block] for block in others}, classed, False))
    for known, wanted, by_class in ways:
        margins = {b: one for b, one in known.items() if all(a in asked.at for a in b)}
        if () in margins:  # what nobody counted is one cell
            size = (1, asked.cells.classes) if by_class else (1,)
            for place in asked.at.keys() - asked.counted:
                margins[place,] = Margin(np.zeros(size), 0.0)
        if not wanted.any():
            continue
        sums = {
            block: sums_of(stage, asked, side, wanted, block, margin, by_class=by_class)
            for block, margin in margins.items()
        }
        alone = {block[0]: one for block, one in sums.items() if len(block) == 1}
        every = sum(alone.values(), np.zeros((4, queries)))
        for block, held in sums.items():
            if (len(block) < 2 and not stage.singles) or (inner and len(block) == 1):
                continue
            met = wanted & (held[HELD] == len(block))
            altogether = met & (asked.attributes == len(block))
            whole |= altogether & (by_class | ~asked.of_classes)
            more = np.zeros(queries, np.int64)
            if inner:  # by this block and the other attributes of each query, one by one
                more = asked.attributes - len(block)
                held = held + every - sum((alone[a] for a in block if a in alone), 0 * every)
                met &= held[HELD] == asked.attributes
            elif block == ():
                met = altogether
            query = np.flatnonzero(met)
            number, noise = stage.number(asked.classes[query] if by_class else None, len(query))
            weight = held[PART, query] - more[query]
            value = held[REST, query] + weight * number
            variance = np.maximum(held[VARIANCE, query], 0.0) + weight**2 * noise
            step = _HALF * np.maximum(1, more[query])
            bounds.append((query, -value if inner else value, np.sqrt(variance), step))
    return bounds, whole


def _in_parts(tables: Tables, stage: Stage, asked: Asked, *, inner: bool) -> list[Bound]:
    """Bounds by attributes whose cut cells were all counted again in parts."""
    bounds: list[Bound] = []
    alone = ~asked.of_classes & (asked.attributes == 1 if inner else True)
    for place in asked.at.keys() & {a for a, _ in tables.fine}:
        margin, here = stage.all_classes[place,], asked.conditions.on(place)
        cut = asked.cut(place)
        again = [cell for a, cell in tables.fine if a == place]
        unknown = np.ones(cut.shape[1], np.bool_)
        unknown[again] = False
        known = cut.any(axis=1) & ~cut[:, unknown].any(axis=1)
        known &= alone[asked.conditions.query[here]]
        here, cut = here[known], cut[known]
        query = asked.conditions.query[here]
        # of the cells and parts that count, and of the others: their sum, and its variance
        sums = np.zeros((2, 2, len(here)))
        wholly, touched = (asked.held(place, side)[known] for side in ("inner", "touched"))
        for side, cells in enumerate((wholly, 1 - touched)):
            sums[side] += np.stack([cells @ margin.counts, cells.sum(axis=1) * margin.variance])
        for cell in again:
            which = cut[:, cell]
            counts, variance = tables.fine[place, cell]
            covered = asked.conditions.cover(here[which], tables.parts_of(place, cell))
            hit = covered.inner if inner else covered.touched
            # of a continuous noise whose tails bound it; 1 / sinh^2 x > 1 / x^2 - 1 / 3
            tail = max(variance, 2.0) if stage.normal else variance + 1 / 6
            for side, parts in enumerate((hit, ~hit)):
                sums[side][:, which] += np.stack([parts @ counts, parts.sum(axis=1) * tail])
        # the number of records by the tables without the attribute, and its variance
        tables_without = [table for table in stage.tables if place not in table.columns]
        weights = [1 / (table.tail * table.values.size) for table in tables_without]
        totals = [float(table.values.sum()) for table in tables_without]
        number = sum(w * total for w, total in zip(weights, totals, strict=True))
        number, noise = (number / sum(weights), 1 / sum(weights)) if weights else (0.0, math.inf)
        (value, variance), (rest, more) = sums
        less = more + noise < variance
        value = np.where(less, number - rest, value)
        variance = np.where(less, more + noise, variance)
        step = np.full(len(query), _HALF)
        bounds.append((query, -value if inner else value, np.sqrt(variance), step))
    return bounds


class Bounds:
    """What noisy tables say for sure about counts, but for the noise.

    Args:
        tables: The tables.

    Attributes:
        stages: The tables that were to be counted whatever others would say. After them those that
            followed from what was counted before, in the order of counting.

    Example:
        >>> from hedgerow import publish, sample
        >>> from hedgerow.schema import Query
        >>> release = publish(sample.people(500), sample.schema(), "marginals", epsilon=10, seed=1)
        >>> bounds = Bounds(release.tables)
        >>> asked = bounds.compare([Query((), (0,)), Query((), (1,))])
        >>> [end.tolist() for end in bounds.ends(asked, 0.95)]
        [[355.0, 140.0], [361.0, 145.0]]
    """

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.stages = [
            Stage(
                [table for table in tables.tables if table.kind in kinds],
                tables.cells,
                singles="pairs" not in kinds[0],
            )
            for kinds in STAGES
        ]

    def ends(self, asked: Asked, level: float) -> tuple[Floats, Floats]:
        """The ends of intervals that hold the truth at a level, whatever the data looks like.

        Args:
            asked: The queries, which were chosen without looking at the release.
            level: The level.

        Returns:
            The lower and upper ends: whole numbers, at least 0.
        """
        many = np.minimum(np.diff(asked.conditions.start), len(_UPPER) - 1)
        upper = np.array(_UPPER)[many]
        least = -self._end(asked, (1 - level) * (1 - upper), inner=True)
        most = self._end(asked, (1 - level) * upper, inner=False)
        # the truth is a whole number, so an interval may end at one
        low = np.maximum(np.ceil(least - 1e-9), 0.0)
        high = np.maximum(np.floor(most + 1e-9), 0.0)
        nobody = find_ruled_out(self.tables.schema, asked.conditions)
        return np.where(nobody, 0.0, low), np.where(nobody, 0.0, high)

    def together(self, asked: Asked) -> Bools:
        """Whether what each query asks for is a union of cells, or groups, of one table."""
        together = np.zeros(asked.conditions.queries, np.bool_)
        for stage in self.stages:
            for margins, met in (
                (stage.by_class, asked.of_classes), (stage.all_classes, ~asked.of_classes)
            ):  # fmt: skip
                for block in margins:
                    if not all(place in asked.at for place in block):
                        continue
                    # queries about all attributes of the block, and no others, that cut none of it
                    whole = np.logical_and(met, asked.attributes == len(block))
                    for place in block:
                        cut = np.asarray(asked.cut(place, grouped=stage.grouped).any(axis=1))
                        if block == (place,):  # of everybody, parts of full cells may be told
                            here = asked.conditions.on(place)
                            classed = asked.of_classes[asked.conditions.query[here]]
                            edges = self.tables.informative_edges(place)
                            finer = asked.conditions.cover(here, edges)
                            cut &= classed | (finer.inner != finer.touched).any(axis=1)
                        whole &= (asked.at[place] >= 0) & ~cut[asked.at[place]]
                    together |= whole
        return together

    def compare(self, queries: Sequence[Query]) -> Asked:
        """Queries beside the cells of these tables."""
        return Asked(queries, self.tables)

    def _end(self, asked: Asked, alpha: Floats, *, inner: bool) -> Floats:
        """The upper ends of the counts, or with `inner` of the negated counts."""
        base, *later = self.stages
        bounds, whole = collect_bounds(base, asked, inner=inner)
        # the first stage takes all of alpha where no other can help; whether others are bought at
        # all follows from `rows`: the last of them always is
        first, two = np.ones(len(alpha)), asked.attributes == 2
        if any(stage.tables for stage in later):
            cut = np.zeros(len(alpha), np.bool_)
            for place in asked.at.keys() & asked.counted:
                here = asked.conditions.query[asked.conditions.on(place)]
                cut[here] |= asked.cut(place).any(axis=1)
            if_others = np.where(two, _FIRST_OF_TWO, _FIRST)
            first = np.where((cut & ~asked.of_classes) | ~whole, if_others, 1.0)
        spent = alpha * first
        end = best_upper_ends(*pad(bounds, len(alpha)), spent, normal=base.normal)
        left = alpha - spent
        parts = _in_parts(self.tables, base, asked, inner=inner)
        stages = [(parts, asked.attributes < 2, base.normal)]
        for place, stage in enumerate(later):
            bounds, whole = collect_bounds(stage, asked, inner=inner)
            stages.append((bounds, two | whole | (place >= len(later) - _LAST), stage.normal))
        for bounds, last, normal in stages:
            padded = pad(bounds, len(alpha))
            known = np.isfinite(padded[0]).any(axis=1)
            spent = np.where(known, np.where(last, left, left / 2), 0.0)
            end = np.minimum(end, best_upper_ends(*padded, spent, normal=normal))
            left = left - spent
        return end


# Guaranteed ends of sums and means of a number, where one table counts all that is asked for.
#
# A sum of values is a weighted sum of a table's cells, so its noise has a known law. With the
# smallest values of cells as weights it is surely too low but for noise, with the largest too high.
# The mean of n records with the sum s is the t for which s - t n = 0, a weighted sum again: the
# interval holds every t that this does not rule out (Fieller 1954), and each is ruled out wrongly
# as seldom as the level says. As for counts, weights are split into their mean, which meets the
# number of records by all tables of the stage, and what differs from it.


_ROUNDS = 60  # of bisection


def sum_ends(
    bounds: Bounds, asked: Query, place: int, values: tuple[Floats, Floats], level: float,
    *, mean: bool,
) -> tuple[float, float] | None:  # fmt: skip
    """The ends of the sum, or mean, of a number over the records of one query.

    Args:
        bounds: What is sure about counts.
        asked: The query.
        place: The number.
        values: The smallest and the largest value of each of its cells, but for that of "other".
        level: The level.
        mean: Whether the mean is asked for.

    Returns:
        The ends; nothing if no table counts the number together with whole cells of all conditions.
    """
    query = bounds.compare([asked])
    classed = bool(query.of_classes[0])
    block = tuple(sorted({*query.at, place}))
    # what was counted before decides which stage this is, and not its own noise
    ways = [(s, s.by_class if classed else s.all_classes) for s in bounds.stages]
    stage, margin = next(((s, known[block]) for s, known in ways if block in known), (None, None))
    if place in query.at or stage is None or margin is None:
        return None
    cells = bounds.tables.cells
    group = cells.group[place] if stage.grouped else np.arange(cells.size(place))
    known, other = group[: len(values[0])], group[len(values[0]) :]
    if np.isin(other, known).any():
        return None
    held = np.ones([1] * len(block))
    for axis, column in enumerate(block):
        if column == place:
            continue
        if query.cut(column, grouped=stage.grouped).any():
            return None
        inner = query.held(column, "inner", grouped=stage.grouped)[0]
        held = held * inner.reshape([-1 if x == axis else 1 for x in range(len(block))])
    counts, many = margin.counts, 1
    if classed:
        counts, many = counts @ query.classes[0], int(query.classes[0].sum())
    several, noises = stage.number(query.classes if classed else None, 1)
    number, noise, variance = float(several[0]), float(noises[0]), margin.variance * many
    along = [-1 if axis == block.index(place) else 1 for axis in range(counts.ndim)]
    reach = factor(level, normal=stage.normal)

    def upper(largest: Floats) -> float:
        """The upper end with a weight for each cell of the number that may be asked for."""
        weight = np.full(int(group.max()) + 1, -np.inf)
        np.maximum.at(weight, known, largest)
        inside: Bools = np.isfinite(weight)
        kept = weight[inside]
        # the weights of the sum, and of the number of records
        both = [
            np.broadcast_to(np.where(inside, one, 0.0).reshape(along) * held, counts.shape)
            for one in (weight, 1.0)
        ]
        means = [float(one.mean()) for one in both]
        rests = [one - mean for one, mean in zip(both, means, strict=True)]
        total, records = (
            float((rest * counts).sum()) + mean * number
            for rest, mean in zip(rests, means, strict=True)
        )
        square, mixed, ones = (
            variance * float((rests[x] * rests[y]).sum()) + means[x] * means[y] * noise
            for x, y in ((0, 0), (0, 1), (1, 1))
        )

        def above(t: float) -> float:
            """What the sum of all values less t may be at most."""
            deviation = math.sqrt(max(0.0, square - 2 * t * mixed + t * t * ones))
            return total - t * records + reach * deviation + LATTICE * float(np.abs(kept - t).max())

        if not mean:
            return above(0.0)
        low, high = float(kept.min()), float(kept.max())
        if above(high) >= 0 or above(low) < 0:
            return high
        for _ in range(_ROUNDS):  # it is convex in t, so it crosses 0 once
            middle = (low + high) / 2
            low, high = (middle, high) if above(middle) >= 0 else (low, middle)
        return high

    return -upper(-values[0]), upper(values[1])


# Whether the share of a value in a group differs from its share among all, but for the noise.
#
# Let T be the true counts of a table, g a group of its rows, v a value of its columns, c the share
# of v among all, and l that of g. The excess of the group,
#
#     E = sum over cells of (1_g - l) (1_v - c) T = (its share of v less that among all) x its size,
#
# is 0 or less if the group's share of v is no higher. The noisy counts give E plus a weighted sum X
# of the tables' noises, and X is symmetric. c and l are not known, but are fixed numbers: given a
# box that holds them, the least E over the box and, for each noise, its largest weight in absolute
# value over the box are used. Both are taken at a corner, since both are linear in c and in l.
# P(X > t) grows with every weight: each noise is symmetric and unimodal, so X is less peaked the
# more of any of them is in it (Birnbaum 1948). So if the share is no higher, and the box holds c
# and l, what `surprises` finds is below p with a probability of at most p.
#
# Weights are split as above: their mean over the rows meets the number of records with
# each value, by all tables that count the values; what differs from it meets the table itself.
#
# **The law of X** for Laplace noises with scales b, weights w: E exp(z X) is the product M(z) of
# all 1 / (1 - (w b z)^2). For any 0 < s < 1 / max(w b) and step h the sum
#
#     exp(-s t) h / (2 pi)  sum over whole j of  Re exp(-i j h t) M(s + i j h) / (s + i j h)
#
# is, by Poisson's formula, P(X > t) plus the sum over k = 1, 2, ... and -1, -2, ... of
# exp(2 pi k s / h) P(X > t + 2 pi k / h), so never below P(X > t). After J terms the rest is
# bounded: at u >= U = J h the factor of the largest weight w b is at most (U / u)^2 a times what it
# is at U, with x = s w b, e = (U w b)^2 and a = sqrt((1 - x)^2 + e) sqrt((1 + x)^2 + e) / e; all
# other factors fall. So the rest is at most exp(-s t) |M(s + i U)| a / (2 pi). Discrete noises get
# half a step, as above.

_NODES, _STEP = 400, 3.0  # of the sum, and how much finer than the nearest pole
_PLACES = np.geomspace(0.01, 0.75, 24)  # for s, as parts of its largest value


@dataclass(frozen=True, eq=False, kw_only=True)
class Excess:
    """What tables tell of the shares of a value by groups.

    Args:
        tables: Tables whose noise was drawn when it was fixed which tables these are.
        by: The columns that groups are made by.
        outcome: The column of the value.
    """

    tables: Sequence[NoisyTable]
    by: tuple[int, ...]
    outcome: int

    @property
    def known(self) -> bool:
        """Whether a table counts all columns together, and all noise is of one law."""
        columns = {*self.by, self.outcome}
        laws = {table.law for table in self.tables}
        return len(laws) == 1 and any(columns <= {*table.columns} for table in self.tables)

    def surprises(
        self, groups: Bools, values: Bools, common: Floats, sizes: Floats
    ) -> tuple[Floats, Floats]:
        """How seldom noise alone puts a group so far above all, or below, at most.

        Args:
            groups: Which cells are in each group: [questions, cells of `by`, in order].
            values: Which cells are the value of each: [questions, cells of the outcome].
            common: The ends between which the value's share among all lies: [2, questions].
            sizes: The same for the group's share of all: [2, questions].

        Example:
            >>> table = NoisyTable(kind="named", columns=(0, 1), variance=8.0, tail=8.0,
            ...     law="laplace", values=np.array([[100, 300], [30, 370], [35, 365]]))
            >>> first, yes = np.array([[True, False, False]]), np.array([[True, False]])
            >>> above, below = Excess(tables=[table], by=(0,), outcome=1).surprises(
            ...     first, yes, np.array([[0.13], [0.15]]), np.array([[0.32], [0.35]]))
            >>> bool(above[0] < 1e-6), float(below[0])
            (True, 1.0)
        """
        last = self.outcome
        columns = (*self.by, last)
        counting = [table for table in self.tables if last in table.columns]
        holding = [table for table in counting if {*columns} <= {*table.columns}]
        # the part of each in an average by inverse variances
        own, totals = (
            np.array([1 / (table.tail * table.values.size) for table in some])
            for some in (holding, counting)
        )
        own, totals = own / own.sum(), totals / totals.sum()
        margin = sum(u * _summed(t, columns) for u, t in zip(own, holding, strict=True))
        total = sum(w * _summed(t, (last,)) for w, t in zip(totals, counting, strict=True))
        rows, number = groups.shape[1], values.shape[1]
        held, many = groups.sum(axis=1), values.sum(axis=1)
        part = held / rows
        cells = (groups - part[:, None]) @ np.reshape(margin, (rows, -1))  # [questions, values]

        excess, weights = [], []
        for c, size in product(common, sizes):
            each = values - c[:, None]
            excess.append((each * (cells + (part - size)[:, None] * total)).sum(axis=1))
            products = []
            for table, w in zip(counting, totals, strict=True):
                of_all = w * (part - size)
                inside = [of_all]
                if table in holding:
                    direct = own[holding.index(table)]
                    inside = [of_all + direct * (1 - part), of_all - direct * part]
                products += [x * y for x in inside for y in (1 - c, c)]
            weights.append(np.abs(products))
        largest = np.max(weights, axis=0)  # [noises, questions]
        often, scale = [], []
        for table in counting:
            more = table.values.size // (number * (rows if table in holding else 1))
            sides = [held, rows - held] if table in holding else [np.ones(len(held))]
            often += [more * side * value for side in sides for value in (many, number - many)]
            scale += [table.tail] * (2 * len(sides))
        variance = np.array(scale)[:, None] * largest**2
        step, several = LATTICE * largest.max(axis=0), np.array(often, np.float64)
        deviation = np.sqrt((variance * several).sum(axis=0))
        normal = self.tables[0].law == "gaussian"
        ends = np.ones((2, len(held)))
        for end, side in zip(ends, (np.min(excess, axis=0), -np.max(excess, axis=0)), strict=True):
            t = side - step
            for place in np.flatnonzero(t > 2 * deviation).tolist():
                there = (several[:, place] > 0) & (variance[:, place] > 0)
                law = variance[there, place], several[there, place]
                end[place] = _tail_of(float(t[place]), *law, normal=normal)
        return ends[0], ends[1]


def _summed(table: NoisyTable, columns: Sequence[int]) -> Floats:
    """A table summed over all but some columns, in their order."""
    kept = [table.columns.index(column) for column in columns]
    others = [axis for axis in range(len(table.columns)) if axis not in kept]
    values = table.values.transpose([*kept, *others]).astype(np.float64)
    return np.asarray(values.sum(axis=tuple(range(len(kept), values.ndim))))


def _tail_of(t: float, variance: Floats, often: Floats, *, normal: bool = False) -> float:
    """P(X > t) for a sum of noises, so many of each variance, rounded up: see above.

    Example:
        >>> alone = _tail_of(5.0, np.array([2.0]), np.array([1.0]))
        >>> bool(0 <= alone / (math.exp(-5) / 2) - 1 < 1e-3)
        True
    """
    if normal:
        return _DISCRETE * math.erfc(t / math.sqrt(2 * float(variance @ often))) / 2
    scales = np.sqrt(variance / 2)
    if not len(scales):
        return 0.0 if t > 0 else 1.0
    most = 1 / float(scales.max())
    places = _PLACES * most
    growth = -(often * np.log1p(-((scales * places[:, None]) ** 2))).sum(axis=1)
    s = float(places[np.argmin(growth - places * t)])
    h = min(s, most - s) / _STEP
    z = s + 1j * h * np.arange(_NODES + 1)
    # times exp(-s t), since both by themselves could be beyond all numbers
    moments = np.exp(-(often * np.log1p(-((scales * z[:, None]) ** 2))).sum(axis=1) - s * t)
    terms = (np.exp(-1j * z.imag * t) * moments / z).real
    terms[0] /= 2
    x, end = s / most, (float(z.imag[-1]) / most) ** 2
    slower = math.sqrt(((1 - x) ** 2 + end) * ((1 + x) ** 2 + end)) / end
    rest = float(abs(moments[-1])) * slower / (2 * math.pi)
    return min(1.0, h / math.pi * float(terms.sum()) + rest)
