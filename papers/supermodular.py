"""The experiments of the personalised paper (Fouad, Elbassioni and Bertino, TKDE 2014), section IV.

The paper's table, item descriptions of a supermarket, is not public. UCI Adult stands in for it:
records are drawn with replacement from its complete rows, and others stand in for a side table,
which in the paper is the private table itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.stats import binom

from hedgerow.arrays import Floats
from hedgerow.methods.api import run as run_method
from hedgerow.methods.diffgen import DiffGen
from hedgerow.methods.supermodular import RowsOutcome, Supermodular
from hedgerow.optimize.aggregate import approximate_threshold, maximize_aggregate
from hedgerow.optimize.descend import descend
from hedgerow.optimize.exact import lattice, search
from hedgerow.optimize.model import Aim
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import SecureSampler
from hedgerow.privacy.suppression import least_group
from papers import personal
from papers.algorithm_1 import approximate
from papers.clusters import cpu_seconds
from papers.figure import (
    Claim,
    Figure,
    Inputs,
    Point,
    Results,
    Taxonomies,
    Verdict,
    curve,
    exceeds,
    plain,
)
from papers.personal import (
    FLOOR,
    Setting,
    depth_of,
    depth_of_rows,
    setting_of,
    side_frame,
    table_of,
)

__all__ = ["ABSENT", "CLAIMS", "FIGURES", "TITLE"]

TITLE = (
    "Supermodular: a supermodularity-based differential privacy preserving algorithm for data"
    " anonymization (TKDE 2014)"
)
ABSENT = (
    "Not as in the paper: its table (Wal-Mart's items, more than 400,000 records, 30 attributes) is"
    " not public, and rows drawn from UCI Adult stand in, with other rows as the side table, which"
    " in the paper is the private table. Algorithm 1 is replaced: as printed it takes only"
    " thresholds near the least risk a record can have, and may return 12 times the threshold"
    " (supermodular-algorithm1). Algorithm 2 is run for study alone (`papers/algorithm_2.py`): it"
    " is not private at a usable delta. The paper states no numbers, weights, thresholds or lambda."
)

EIGHT, SIX, FOUR = 8, 6, 4  # attributes
HULLS = 150  # records whose hulls are looked at
ROUNDED = 20  # records that Algorithm 1 solves
APPROXIMATED = (
    "the best (z*)", "Algorithm 1, expected", "the best within Algorithm 1's risk",
    "ours, repaired",
)  # fmt: skip
TIMED = 20  # records, in one run
ALL = 14  # attributes of Adult
# between these lambdas over utility ** kappa all records turn from as they are to nothing at all
LEAST, MOST = 1e-10, 1.0
TRADE = 7e-5  # about where "as it is" and "nothing at all" are worth the same
KAPPAS = (1, 2, 3, 8)
DELTA = Fraction(1, 10**6)


# figure 3a: time


def _exact(here: Setting) -> None:
    here.solved(Aim(risk=0.1))


def _unpruned(here: Setting) -> None:
    """ARUBA's search: every generalization is looked at."""
    ones = np.ones(len(here.attributes))
    for leaves in here.leaves:
        _, utility, sensitivity, count = lattice(here.problem, leaves, ones)
        allowed = count * 0.1 >= sensitivity
        utility[np.argmax(np.where(allowed, utility, -1))]


def _walk(here: Setting) -> None:
    here.solved(Aim(risk=0.1), descend)


def _cuts(here: Setting) -> None:
    for record in here.records(TIMED):
        maximize_aggregate(record, Aim(trade=TRADE))


def _norm_points(here: Setting) -> None:
    for record in here.records(TIMED):
        maximize_aggregate(record, Aim(trade=TRADE, kappa=2))


def _relaxation(here: Setting) -> None:
    for record in here.records(TIMED):
        approximate_threshold(record, Aim(risk=0.1))


WAYS = {
    "threshold, every generalization (ARUBA)": _unpruned,
    "threshold, exact search": _exact,
    "threshold, Algorithm 1 repaired": _relaxation,
    "threshold, walks": _walk,
    "aggregate, kappa 1 (cuts)": _cuts,
    "aggregate, kappa 2 (norm points)": _norm_points,
}


def _milliseconds(name: str, number: int) -> Callable[[Inputs, int], float]:
    def run(inputs: Inputs, seed: int) -> float:
        records = TIMED if number <= ALL else 4
        here = setting_of(inputs, number, seed, records, people=-(-number // ALL))
        few = replace(here, codes=here.codes[:1])
        inputs.once(("compiled", name), lambda: WAYS[name](few))
        return cpu_seconds(lambda: WAYS[name](here), 2)[1] * 1000 / records

    return run


def _times(quick: bool) -> Sequence[Point]:
    numbers = (4, 8) if quick else (*range(3, 15), 20, 30)
    return [
        Point(name, number, run=_milliseconds(name, number))
        for name in WAYS
        for number in numbers
        # beyond, lattices have a hundred million generalizations and more
        if number <= 11 or name not in list(WAYS)[:2]
    ]


# figure 3b: utility at equal risk


def _threshold_utility(way: Callable[..., Any], risk: float, number: int) -> Any:
    def run(inputs: Inputs, seed: int) -> float:
        return float(setting_of(inputs, number, seed).solved(Aim(risk=risk), way)[0].mean())

    return run


def _aggregate_utility(kappa: int, risk: float, number: int) -> Any:
    """The mean utility of the aggregate model where its mean risk is the threshold model's."""

    def run(inputs: Inputs, seed: int) -> float:
        here = setting_of(inputs, number, seed)
        goal = float(here.solved(Aim(risk=risk))[1].mean())
        most = float(here.problem.forest.depth[here.leaves].sum(axis=1).max()) ** kappa

        def solve(trade: float) -> tuple[float, float]:
            utility, found = here.solved(Aim(trade=trade * most, kappa=kappa))
            return float(found.mean()), float(utility.mean())

        return utility_at(solve, goal)

    return run


def utility_at(solve: Callable[[float], tuple[float, float]], goal: float) -> float:
    """The mean utility at a mean risk that some lambda gives, or that lies between two of them.

    Args:
        solve: Mean risk, which falls with lambda, and mean utility for a lambda.
        goal: The risk.

    Raises:
        ValueError: If no lambda gives it.

    Example:
        >>> round(utility_at(lambda trade: (1 - trade, 10 * (1 - trade)), 0.25), 6)
        2.5
    """
    low, high = LEAST, MOST
    ends = solve(low), solve(high)
    if not ends[1][0] <= goal <= ends[0][0]:
        raise ValueError(f"no lambda gives a mean risk of {goal:g}: {ends[1][0]:g} is the least")
    for _ in range(30):
        middle = math.sqrt(low * high)
        point = solve(middle)
        if point[0] < goal:
            high, ends = middle, (ends[0], point)
        else:
            low, ends = middle, (point, ends[1])
    (more, much), (less, little) = ends
    share = (goal - less) / (more - less) if more > less else 0.0
    return little + share * (much - little)


def _utilities(quick: bool) -> Sequence[Point]:
    numbers = (3, 6) if quick else range(3, 9)
    found = []
    for risk in (0.01,) if quick else (0.01, 0.001):
        for number in numbers:
            at = f", risk at most {risk}"
            found += [
                Point(
                    "threshold, exact" + at, number, run=_threshold_utility(search, risk, number)
                ),
                Point(
                    "threshold, walks" + at, number, run=_threshold_utility(descend, risk, number)
                ),
                *(
                    Point(
                        f"aggregate, kappa {kappa}" + at,
                        number,
                        run=_aggregate_utility(kappa, risk, number),
                    )
                    for kappa in ((1, 3) if quick else KAPPAS)
                ),
            ]
    return found


# lambda for each record, and Algorithm 1


def _hull_share(kappa: int, risk: float) -> Callable[[Inputs, int], float]:
    """Utility of the aggregate model with the best lambda of each record, in percent.

    Whatever lambda is, the best generalization lies on the upper concave hull of the points
    (1 / risk, utility ** kappa). Of those on it that keep to the threshold model's risk, each
    record gets the one of the largest utility.
    """

    def run(inputs: Inputs, seed: int) -> float:
        here = setting_of(inputs, SIX, seed, HULLS)
        ones, ours, best = np.ones(len(here.attributes)), 0.0, 0.0
        for leaves in here.leaves:
            _, utility, sensitivity, count = lattice(here.problem, leaves, ones)
            inverse = count / sensitivity
            fits = inverse >= 1 / risk
            if not fits.any():
                continue
            best += utility[fits].max()
            hull = _upper_hull(inverse, utility**kappa)
            ours += utility[[one for one in hull if fits[one]]].max(initial=0.0)
        return 100 * ours / best

    return run


def _upper_hull(x: Floats, y: Floats) -> list[int]:
    """The points that are best for some weight of x beside y."""
    hull = list[int]()
    for point in np.lexsort((-y, -x)).tolist():  # x falls
        if hull and y[point] <= y[hull[-1]]:
            continue
        while len(hull) > 1 and _left_of(x, y, hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    return hull


def _left_of(x: Floats, y: Floats, first: int, middle: int, last: int) -> bool:
    """Whether the middle one of three points, from right to left, lies below the line."""
    across = (x[middle] - x[first]) * (y[last] - y[first])
    return bool(across - (y[middle] - y[first]) * (x[last] - x[first]) <= 0)


def _hulls(quick: bool) -> Sequence[Point]:
    return [
        Point(f"risk at most {risk}", kappa, run=_hull_share(kappa, risk))
        for risk in (0.01, 0.001)
        for kappa in ((1, 3) if quick else KAPPAS)
    ]


def _approximated(what: str, factor: float) -> Callable[[Inputs, int], float]:
    """The mean utility where each record's c is so many times the least risk it can have."""

    def run(inputs: Inputs, seed: int) -> float:
        def solve() -> dict[str, float]:
            here = setting_of(inputs, FOUR, seed, ROUNDED)
            ones, sums = np.ones(len(here.attributes)), dict.fromkeys(APPROXIMATED, 0.0)
            for leaves, record in zip(here.leaves, here.records(ROUNDED), strict=True):
                lengths, utility, sensitivity, count = lattice(here.problem, leaves, ones)
                points = np.stack(np.unravel_index(np.arange(len(count)), lengths.tolist()), axis=1)
                risks = np.where(count > 0, sensitivity / np.maximum(count, 1), np.inf)
                risk = factor * float(risks.min())
                found = approximate(points, utility, sensitivity, count, risk)
                sums["Algorithm 1, expected"] += found.utility
                sums["the best (z*)"] += utility[risks <= risk * (1 + 1e-12)].max()
                sums["the best within Algorithm 1's risk"] += utility[
                    risks <= max(found.risk, risk) * (1 + 1e-12)
                ].max()
                sums["ours, repaired"] += approximate_threshold(record, Aim(risk=risk)).utility
            return {name: total / len(here.leaves) for name, total in sums.items()}

        means: dict[str, float] = inputs.once(("approximated", factor, seed), solve)
        return means[what]

    return run


def _approximations(quick: bool) -> Sequence[Point]:
    return [
        Point(name, factor, run=_approximated(name, factor))
        for name in APPROXIMATED
        for factor in ((1.5,) if quick else (1.1, 1.5, 2.0, 2.4))
    ]


# sampling: how many sampled people must share a row


def _least_of_sampling(share: Fraction, ours: bool) -> Callable[[Inputs, int], float]:
    def run(inputs: Inputs, seed: int) -> float:
        if ours:
            return float(least_group(Fraction(1), DELTA, share))
        least = 1
        while sampling_bound(least, float(share), 1.0) > float(DELTA):
            least += 1
        return float(least)

    return run


def sampling_bound(k: int, share: float, epsilon: float) -> float:
    """The delta that Li, Qardaji and Su prove for sampling before k-anonymity (ASIACCS 2012).

    Of n records with one generalization more than g n are sampled, for the worst n; g follows from
    epsilon and from the share.

    Example:
        >>> f"{sampling_bound(12, 0.2, 1.0):.0e}"
        '9e-06'
    """
    gamma = (math.exp(epsilon) - 1 + share) / math.exp(epsilon)
    number = np.arange(math.ceil(k / gamma - 1), math.ceil(k / gamma) + 2000)
    return float(binom.sf(np.floor(gamma * number), number, share).max())


def _samplings(quick: bool) -> Sequence[Point]:
    shares = ("0.1", "0.5") if quick else ("0.05", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6")
    return [
        Point(name, float(share), run=_least_of_sampling(Fraction(share), ours), fixed=True)
        for name, ours in (("ours, tight", True), ("Li, Qardaji and Su", False))
        for share in shares
    ]


# figure 4a: drawn generalizations, the best ones, and groups


def _values(trade: float, utility: Floats, risk: Floats) -> Floats:
    """The paper's equation 2 with kappa 1."""
    return trade / risk + utility


def _best_value(inputs: Inputs, seed: int) -> float:
    utility, risk = setting_of(inputs, EIGHT, seed).solved(Aim(trade=TRADE))
    return float(_values(TRADE, utility, risk).mean())


def _drawn_value(sharpness: float) -> Callable[[Inputs, int], float]:
    """The expected value of equation 2 if P(x) is proportional to exp(sharpness * value)."""

    def run(inputs: Inputs, seed: int) -> float:
        here = setting_of(inputs, EIGHT, seed)
        ones, means = np.ones(len(here.attributes)), []
        for leaves in here.leaves:
            _, utility, sensitivity, count = lattice(here.problem, leaves, ones)
            value = _values(TRADE, utility, sensitivity / np.maximum(count, 1e-9))
            law = np.exp(sharpness * (value - value.max()))
            means.append(float((law * value).sum() / law.sum()))
        return float(np.mean(means))

    return run


def _groups(inputs: Inputs, epsilon: str, seed: int) -> tuple[Setting, Floats, Floats]:
    """Utility and risk of records in DiffGen's groups, which is what the paper's [29] is."""

    def make() -> Any:
        table, schema = table_of(inputs, EIGHT, seed)
        method = DiffGen(score="ncp", specializations=12, max_cells=100_000)
        budget = Budget.of(epsilon)
        return run_method(table, method, budget, SecureSampler(Keystream(seed))).partition

    partition = inputs.once(("groups", epsilon, seed), make)
    here = setting_of(inputs, EIGHT, seed)
    cells = partition.locate(here.codes)
    lo, hi = partition.bounds(cells)
    utility, sensitivity = np.zeros(len(cells)), np.zeros(len(cells))
    for place, attribute in enumerate(here.attributes):
        width = (hi - lo)[:, place].astype(np.float64)
        # the harmonic rule with weights of 1 at the leaves, and the floor
        weight = np.where(width == attribute.size, 0.0, 1 / width)
        sensitivity += np.maximum(weight, here.problem.worth.floor)
        utility += depth_of(attribute, lo[:, place], hi[:, place])
    alike = np.bincount(partition.locate(here.side_codes), minlength=partition.cells)[cells]
    return here, utility, sensitivity / np.maximum(alike, 1)


def _group_value(epsilon: str) -> Callable[[Inputs, int], float]:
    def run(inputs: Inputs, seed: int) -> float:
        _, utility, risk = _groups(inputs, epsilon, seed)
        return float(_values(TRADE, utility, risk).mean())

    return run


def _drawing(quick: bool) -> Sequence[Point]:
    sharpness = (0.1, 1.0, 4.0) if quick else (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
    return [
        Point("the best (optimum)", None, run=_best_value, settings=f"lambda {TRADE}"),
        *(
            Point("groups, DiffGen, epsilon " + epsilon, None, run=_group_value(epsilon))
            for epsilon in (("1",) if quick else ("0.1", "1"))
        ),
        *(Point("drawn", one, run=_drawn_value(one)) for one in sharpness),
    ]


def _group_risk(epsilon: str, own: bool) -> Callable[[Inputs, int], float]:
    """The mean risk of records in groups, or of their own rows of the same mean utility."""

    def run(inputs: Inputs, seed: int) -> float:
        here, utility, risk = _groups(inputs, epsilon, seed)
        if not own:
            return float(risk.mean())
        low, high = 1e-9, 10.0
        for _ in range(30):
            middle = (low * high) ** 0.5
            if here.solved(Aim(risk=middle))[0].mean() < utility.mean():
                low = middle
            else:
                high = middle
        return float(here.solved(Aim(risk=high))[1].mean())

    return run


def _risks(quick: bool) -> Sequence[Point]:
    return [
        Point(name, float(epsilon), run=_group_risk(epsilon, own))
        for name, own in (("groups, DiffGen", False), ("own rows, the same utility", True))
        for epsilon in (("0.1", "1") if quick else ("0.1", "0.25", "0.5", "1"))
    ]


# figure 4b: how many are sampled


def _sampled_utility(mode: str, share: str) -> Callable[[Inputs, int], float]:
    """Utility of listed rows, summed over the people they stand for, for one of all people."""

    def run(inputs: Inputs, seed: int) -> float:
        table, schema = table_of(inputs, EIGHT, seed)
        here = setting_of(inputs, EIGHT, seed)
        method = Supermodular(
            mode="sampled" if mode == "sampled" else "noisy", keep=share,
            side=side_frame(here, schema),
            risk=0.01, utility="depth", rule="harmonic", floor=FLOOR,
        )  # fmt: skip
        budget = Budget(Fraction(1), DELTA)
        done: Any = run_method(table, method, budget, SecureSampler(Keystream(seed)))
        assert isinstance(done, RowsOutcome)
        utility = np.zeros(len(done.counts))
        for place, attribute in enumerate(schema.attributes):
            utility += depth_of_rows(attribute, done.lo[:, place], done.hi[:, place])
        return float((utility * done.counts).sum() / personal.ROWS)

    return run


def _shares(quick: bool) -> Sequence[Point]:
    shares = ("0.1", "0.5") if quick else ("0.05", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6")
    return [
        Point("all people, noisy counts", None, run=_sampled_utility("noisy", "1/5")),
        *(
            Point("sampled people, true rows", float(one), run=_sampled_utility("sampled", one))
            for one in shares
        ),
    ]


_DATA = (
    " Hierarchies are our schema's taxonomies and halved numbers, weights are 1 at the leaves; a"
    f" record has a sensitivity of at least {FLOOR} (at the root it is 0 in the paper). The side"
    " table has 30,000 rows."
)
_MODELS = "Utility: steps below the root; sensitivity: the harmonic rule."

FIGURES = (
    Figure(
        name="supermodular-fig3a", title="CPU time for one record by the number of attributes",
        x="attributes", y="CPU milliseconds",
        settings=f"Risk at most 0.1, lambda {TRADE:g}. " + _MODELS, runs=5, points=_times,
        differs="The threshold algorithm of the paper is ARUBA's and looks at every generalization."
        " Both searches end at 11 attributes: with 12, a record has some hundred million. Walks"
        f" have no guarantee and come close to the best (figure 3b). {TIMED} records a run; with 20"
        " and 30 attributes 4, each made of two or three people side by side." + _DATA,
        logarithmic=True,
    ),
    Figure(
        name="supermodular-fig3b", title="Mean utility of a record at equal mean risk",
        x="attributes", y="mean utility (steps)", settings="Both models. " + _MODELS, runs=5,
        points=_utilities,
        differs="For each kappa we take the lambda at which the mean risk is that of the threshold"
        " model. The best generalization by lambda / risk + utility ^ kappa lies on the upper hull"
        " of (1 / risk, utility ^ kappa), which is little more than its ends, so records are"
        " released unchanged or not at all.",
    ),
    Figure(
        name="supermodular-lambda",
        title="Utility of the aggregate model with the best lambda of each record",
        x="kappa", y="percent of the threshold model's utility",
        settings=f"As figure 3b, {HULLS} records of {SIX} attributes.", runs=3, points=_hulls,
        differs="Not in the paper: even a lambda of its own for each record, chosen in hindsight.",
    ),
    Figure(
        name="supermodular-algorithm1", title="Algorithm 1 as printed, and what replaces it",
        x="c over the least risk that a record can have", unit="c", y="mean utility (steps)",
        settings="Algorithm 1 and Theorem 2: E[u] >= z*, with a risk of at most sigma2 (1 +"
        " epsilon) / sigma1 times c.", runs=3,
        points=_approximations,
        differs="No experiment of the paper. Layers (epsilon 0.5), convex programs, rounding with"
        " sigma1 0.5, sigma2 4, which the theorem allows up to 2.5 times the least risk; layers"
        " that would try for ever are left out. `the best within Algorithm 1's risk` may have the"
        " risk of the algorithm's own result, up to 12 c; `ours, repaired` keeps to c."
        f" {ROUNDED} records of {FOUR} attributes.",
    ),
    Figure(
        name="supermodular-sampling", title="How many sampled people must share a row",
        x="share of people that is sampled", y="least number of sampled people",
        settings="Differential privacy from sampling, epsilon 1, delta 1e-6.", runs=1,
        points=_samplings,
        differs="Not in the paper, whose random threshold costs a delta of 2.8e-6 for 400,000"
        " records, whatever epsilon is. Dropping what too few sampled people share is private (Li,"
        " Qardaji and Su, ASIACCS 2012); ours has the tight delta.",
    ),
    Figure(
        name="supermodular-fig4a", title="Drawn generalizations beside the best ones and groups",
        x="sharpness of the draw", unit="sharpness", y="mean value of equation 2",
        settings=f"Equation 2, lambda / risk + utility ^ kappa; lambda {TRADE:g}, kappa 1,"
        " 8 attributes. " + _MODELS,
        runs=5, points=_drawing,
        differs="Groups are [29], DiffGen, with 12 specializations by NCP on 400,000 records. In"
        " Algorithm 2 sharpness is epsilon' divided by the number of records: close to 0, the"
        " leftmost point, where all generalizations are nearly equally likely. Here drawing costs"
        " no budget, so any sharpness may be used. Equation 2 hardly penalises risk, so any draw"
        " beats groups by revealing more: figure 4a-risk compares at equal utility.",
    ),
    Figure(
        name="supermodular-fig4a-risk",
        title="Mean risk at equal mean utility: own rows and groups",
        x="epsilon of the groups", unit="epsilon", y="mean risk",
        settings="As figure 4a; own rows by the threshold model.", runs=5, points=_risks,
        logarithmic=True,
    ),
    Figure(
        name="supermodular-fig4b", title="Utility by the share of people that is sampled",
        x="share of people", y="utility of listed rows, for one of all people",
        settings="A row is published if enough sampled people share it: epsilon 1, delta 1e-6, 8"
        " attributes, risk at most 0.01.",
        runs=3, points=_shares,
        differs="The level line is our default, noisy counts of all people.",
    ),
)  # fmt: skip


def _grows(results: Results, taxonomies: Taxonomies) -> tuple[str, Verdict]:
    lines = curve(results["supermodular-fig4b"], "sampled people, true rows", taxonomies)
    first, last = lines[0], lines[-1]
    error = math.hypot(first.error, last.error)
    words = plain([last.mean, first.mean], error)
    return words, exceeds(last.mean - first.mean, error, last.runs)


CLAIMS = (
    *(
        Claim(
            words=words, figure="supermodular-fig3a", series="aggregate, kappa 1 (cuts)",
            than=other, sense="below", why=why,
        )
        for words, other, why in (
            (
                "the aggregate algorithm significantly outperforms the threshold one in time",
                "threshold, every generalization (ARUBA)",
                "listing a lattice takes ten times as long with an attribute more, cuts less than"
                " twice: they win where lattices are large",
            ),
            ("the same against a search that prunes", "threshold, exact search", ""),
            ("the same against walks (no guarantee)", "threshold, walks", ""),
        )
    ),
    *(
        Claim(
            words=f"both algorithms have comparable utilities (risk at most 0.01, kappa {kappa})",
            figure="supermodular-fig3b", series=f"aggregate, kappa {kappa}, risk at most 0.01",
            x=(3, 8), than="threshold, exact, risk at most 0.01",
            why="its best lies on a hull with few points: records are released as they are or not",
        )
        for kappa in (KAPPAS[0], KAPPAS[-1])  # those between are alike
    ),
    Claim(
        words="the same, percent of the threshold model's utility with the best lambda of each"
        " record", figure="supermodular-lambda", series="risk at most 0.01", than=90.0,
    ),
    Claim(
        words="Theorem 2: the expected utility of Algorithm 1 is at least z*",
        figure="supermodular-algorithm1", proof="does not hold",
        why="on a chain of three it returns 0, and z* is 0.4 (tests/papers/test_algorithm_1.py)",
    ),
    Claim(
        words="the same on average over records",
        figure="supermodular-algorithm1", series="Algorithm 1, expected", than="the best (z*)",
        why="it may have 12 times the risk, and is for thresholds so low that hardly anything is"
        " left",
    ),
    Claim(
        words="sampling costs a little utility (drawn with sharpness 4, against the best)",
        figure="supermodular-fig4a", series="drawn", x=(4.0,), than="the best (optimum)",
        sense="equal", within=0.5,
        why="if the draw is sharp; with Algorithm 2's epsilon' and 400,000 records it is not",
    ),
    Claim(
        words="superior to group sampling in risk, at equal utility",
        figure="supermodular-fig4a-risk", series="own rows, the same utility",
        than="groups, DiffGen", sense="below",
    ),
    Claim(
        words="utility grows with the sampling set (share 0.6 against 0.05)",
        figure="supermodular-fig4b",
        judge=_grows,
    ),
    Claim(
        words="Theorem 3: Algorithm 2 is (epsilon, delta + o(1))-private",
        stated="o(1) ~ h^k / n^2",
        figure="supermodular-sampling", proof="does not hold",
        why="delta is at least 1 / ((n - 1)(1 - theta0)) for every epsilon"
        " (docs/algorithms/supermodular.md, F1)",
    ),
)  # fmt: skip
