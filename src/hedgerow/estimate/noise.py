"""How far a sum of noises may lie from 0: a bound from the known law, never from the data.

Let X be any sum of independent Laplace and normal noises, with variance s^2. A Laplace noise is a
normal one whose variance was itself drawn, from an exponential law; so X, given its drawn variance
W, is normal, and W is a constant plus a weighted sum of exponential variables, with mean s^2.
(The constant is the limit of many exponential variables with small weights.) Write g(W) for the
probability that a normal noise with variance W lies beyond t. Replace g by a convex function that
is nowhere below it: g itself up to some v, and from there the steepest line from that point to
any later point of g. By Jensen's inequality the mean of a convex function of W is largest when W is
one exponential variable alone, and there it has a closed form. So

    P(|X| > t) <= the mean of that convex function of an exponential variable with mean s^2,

for every X, whatever its weights; the best v gives the bound, and t is found by bisection. It is
tight to 2% at a level of 95%: t = 2.157 s, where one Laplace noise alone needs 2.118 s and the
normal limit of many needs 1.960 s.

If all noises are normal, W is s^2 itself, and 1.960 s are enough (`normal`).

Our noises are discrete. A continuous Laplace noise is a discrete one with the same epsilon plus an
independent symmetric rest (an exponential variable is its whole part plus an independent fractional
part). A sum A of discrete noises with weight 1 is symmetric and unimodal on the whole numbers, so
of all windows with 2m + 1 of them the one around 0 is the likeliest, and P(|A| <= m) is at least
P(|X| <= m + 1/2). So half a step more than t is enough, with s^2 made of 2 / epsilon^2, the
variance of the continuous law. For weights other than 1 the same rule is used; there the half step
is checked numerically, against exact convolutions (`tests/unit/estimate/test_noise.py`), and not
proved.

With discrete Gaussian noises among them, the same holds if s^2 takes each of these with its
variance parameter v, or with 2 if v is less (`Measurement.tail_variance`), save that the
probability to lie beyond may be larger by a factor of 1 + 1e-7. In four steps, for weights of 1;
all laws here are symmetric, and those on whole numbers log-concave, hence unimodal, and so are
their sums.

1. Of two such noises let one be smaller in size: P(|Z| > m) <= P(|Z'| > m) for all m. Then Z may be
   replaced by Z' in a sum with others B: P(|B + z| <= m) falls in |z|. A Gaussian with v < 2
   is smaller than one with v = 2, since the ratio of their probabilities falls in |z|.
2. The sum of two discrete Gaussians is nearly one: completing the square, P(Z + Z' = x) is
   proportional to exp(-x^2 / (2 (v + v'))) times the sum over all whole j of
   exp(-(j - c x)^2 / (2 w)), with 1/w = 1/v + 1/v'. That sum has the Fourier coefficients
   exp(-2 pi^2 w j^2), so it varies by a factor of at most 1 + 5 exp(-2 pi^2 w). For v, v' >= 2
   this is 1 + 1.4e-8; for a third it is 1 + 2e-11 and less from there on (w tends to v >= 2, so a
   million of them add less than 1e-10). So one discrete Gaussian D stands for all.
3. D is smaller in size than a normal N of the same v, rounded: the mass of N within 1/2 of x,
   divided by exp(-x^2 / (2 v)), is an integral of exp(-y^2 / (2 v)) cosh(x y / v), which grows
   in |x|.
4. Let B be the sum of all discrete Laplace noises, and R the rest that makes them continuous. The
   rounded N plus B is at most m in size just if |N + B| <= m + 1/2, which has the probability that
   |B + j| <= m, for j the rounded N. N + R is larger in size than N, and so is its rounding; so
   |N + B| <= m + 1/2 is at least as likely as |N + R + B| <= m + 1/2, and N + R + B is an X.

The law is that of a fixed tree. The size of a tuned tree depends on the noise of the number of
rows, and DiffMulti's shape on that of the sizes it shares by; these numbers are then used again. No
effect on coverage was seen (`benchmarks/interval_coverage.py` checks DiffMulti apart).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np

from hedgerow.arrays import Bools, Floats, Ints
from hedgerow.estimate.tables import NoisyTable

LATTICE = 0.5
"""Half the step between whole numbers: no weight in a count is larger than 1."""

_POINTS = 24  # places for v that are tried
_NOTHING = math.exp(-40)  # of a tail
_ROUNDS, _NEAR = 60, 1e-10  # for a factor or a tangent: most steps, and how near it is found
_USUAL = 2.156756755  # the factor that almost every command asks for


def half_width(deviation: Floats, level: float, *, normal: bool = False) -> Floats:
    """Half the width of an interval around an estimate that holds the truth at a level.

    Args:
        deviation: The standard deviation of the noise, from `Measurement.tail_variance`.
        level: The probability that the interval holds the truth, at least.
        normal: Whether all noise is Gaussian.

    Example:
        >>> import numpy as np
        >>> half_width(np.array([0.0, 10.0]), 0.95).round(2).tolist()
        [0.5, 22.07]
    """
    return factor(level, normal=normal) * deviation + LATTICE


@lru_cache(maxsize=64)
def factor(level: float, *, normal: bool = False) -> float:
    """How many standard deviations hold any sum of Laplace and normal noises at a level.

    Example:
        >>> round(factor(0.95), 3), round(factor(0.5), 3), round(factor(0.95, normal=True), 3)
        (2.157, 0.674, 1.96)
    """
    if (level, normal) == (0.95, False):
        return _USUAL
    # the logarithm of the tail is nearly straight, so chords find the place in a few steps; the end
    # that stays put counts half, lest it stay for ever (the Illinois method)
    low, high = 0.0, 2.0 + 2 * math.log(1 / (1 - level))
    above, below = (math.log(tail(t, normal=normal) / (1 - level)) for t in (low, high))
    moved = 0
    for _ in range(_ROUNDS):
        if high - low <= _NEAR * high or below == 0:
            break
        middle = low + (high - low) * above / (above - below)
        middle = min(max(middle, low + _NEAR * high / 2), high - _NEAR * high / 2)
        excess = math.log(tail(middle, normal=normal) / (1 - level))
        if excess > 0:
            low, above, below = middle, excess, below / 2 if moved > 0 else below
            moved = 1
        else:
            high, below, above = middle, excess, above / 2 if moved < 0 else above
            moved = -1
    return math.ceil(high * 1e9) / 1e9  # so that it does not depend on the path to it


def tail(t: float, *, normal: bool = False) -> float:
    """A bound on the probability that a sum of Laplace and normal noises lies beyond t deviations.

    Example:
        >>> round(tail(2.157), 3)
        0.05
    """
    if t <= 0:
        return 1.0
    bend = t * t / 3  # g is convex up to here, and concave after
    steepest, where = _steepest(t, 0.0, bend)
    # from the mean on g lies below its own tangent, so the normal law is the worst of all
    best = _beyond(t, 1.0) if where <= 1 else steepest
    for place in range(1, _POINTS):
        v = bend * place / _POINTS
        steepest, _ = _steepest(t, v, bend)
        if normal:  # the value at 1: that of the line or of g, and a little, so that no tail is 0
            at_one = _beyond(t, 1.0) + _NOTHING * _beyond(t, v)
            best = min(best, at_one if v > 1 else _beyond(t, v) + steepest * (1 - v))
            continue
        # the mean of g below v in closed form, and what the line adds beyond it
        root, end = math.sqrt(2 * v), t / math.sqrt(v)
        near = math.exp(-math.sqrt(2) * t) * math.erfc((end - root) / math.sqrt(2)) / 2
        far = math.exp(math.sqrt(2) * t) * math.erfc((end + root) / math.sqrt(2)) / 2
        best = min(best, near + far + steepest * math.exp(-v))
    return min(1.0, best)


def _beyond(t: float, variance: float) -> float:
    """The probability that a normal noise with a variance lies beyond t: the g of above."""
    return math.erfc(t / math.sqrt(2 * variance)) if variance > 0 else 0.0


def _steepest(t: float, start: float, bend: float) -> tuple[float, float]:
    """The steepest line from a point of g to a later one, and where it touches."""
    base = _beyond(t, start)
    low, high = bend, bend * math.exp(12)
    touch = 3 * bend
    # there the line is a tangent: beyond the bend its excess falls, so Newton's method finds it
    for _ in range(_ROUNDS):
        rise = t * math.exp(-t * t / (2 * touch)) / math.sqrt(2 * math.pi * touch**3)
        excess = rise * (touch - start) - (_beyond(t, touch) - base)
        low, high = (touch, high) if excess > 0 else (low, touch)
        bent = rise * (t * t / touch - 3) / (2 * touch) * (touch - start)
        following = touch - excess / bent if bent else low
        following = following if low < following < high else math.sqrt(low * high)
        if abs(following - touch) <= _NEAR * touch:
            break
        touch = following
    return (_beyond(t, touch) - base) / (touch - start), touch


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


_FIRST = 0.1  # the part b of alpha that the first step takes
_GRID = np.arange(0.0, 10.05, 0.1)
_LEAST = 1e-4  # an alpha below which the grid is too short
_END_ROUNDS = 40  # of bisection
_DISCRETE = 1 + 1e-7  # how much more often a discrete Gaussian noise lies beyond: see `noise`


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
    first = np.where(alone, 0.0, _FIRST) * alpha
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
# Weights are split as in `intervals`: their mean over the rows meets the number of records with
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
