"""A plan: the public rule from transcript to charges, made before any data is seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.errors import UsageError
from hedgerow.estimate.supports import SizeCurve
from hedgerow.privacy.budget import (
    LARGEST_TERM,
    Budget,
    UnitBudget,
    choice_rate,
    noise_rate,
    rho_of_epsilon,
)
from hedgerow.privacy.ledger import Allowance
from hedgerow.schema import Categorical, Schema
from hedgerow.store.html_text import small_table
from hedgerow.suggestions import PLAN, Suggestions

_LEAST_RHO = Fraction(1, 1 << 49)  # the rate of noise is still above 0 when it is rounded
_UNITS = 100  # of epsilon, in a plan of generalized rows


@dataclass(frozen=True)
class Budgets:
    """The budgets of a release, and which of them pays for growing the tree.

    With delta = 0 there is one budget of epsilon. With a delta, growing is paid from a budget of
    rho (zCDP), and counts of leaves stay pure: (e1, delta) and e2 add up to (e1 + e2, delta).
    """

    parts: tuple[UnitBudget, ...]
    growth: Literal["epsilon", "rho"]

    @property
    def named(self) -> dict[str, UnitBudget]:
        """The budgets by name."""
        return {budget.name: budget for budget in self.parts}

    @property
    def paying(self) -> UnitBudget:
        """The budget that pays for growing."""
        return self.named[self.growth]


def divide_budget(budget: Budget, units: int, growth_units: int) -> Budgets:
    """Cuts the budget of one row into equal units, of which growing may take so many.

    Args:
        budget: What one person may lose.
        units: The units that epsilon is cut into.
        growth_units: Those of them meant for growing. With a delta they are exchanged for rho,
            cut into as many units again.
    """
    unit = budget.row_epsilon / units
    if not budget.delta:
        return Budgets((UnitBudget("epsilon", unit, units),), "epsilon")
    rho = rho_of_epsilon(unit * growth_units, budget.row_delta)
    if rho / growth_units < _LEAST_RHO:
        raise UsageError(
            "epsilon is too small to be used with a delta.",
            hint="Leave delta out, or take a larger epsilon.",
        )
    return Budgets(
        (
            UnitBudget("epsilon", unit, units - growth_units),
            UnitBudget("rho", rho / growth_units, growth_units),
        ),
        "rho",
    )


def leaf_allowances(budgets: Budgets) -> tuple[Allowance, ...]:
    """Leaves take whatever their paths have left, of each budget apart."""
    leaf = Allowance("leaf", "epsilon", units=None, uses=1)
    spare = Allowance("spare", "rho", units=None, uses=1)
    return (leaf,) if budgets.growth == "epsilon" else (leaf, spare)


def half_of(budgets: Budgets) -> int:
    """The units of epsilon that the papers keep for counts: half of it, whatever growing leaves."""
    epsilon = budgets.named["epsilon"]
    return epsilon.units // 2 if budgets.growth == "epsilon" else epsilon.units


def levels(units: int, depth: int) -> tuple[int, ...]:
    """Shares units equally among the levels of a tree; what does not divide is left to leaves.

    Example:
        >>> levels(100, 3)
        (33, 33, 33)
    """
    return (units // max(1, depth),) * max(1, depth)


@dataclass(frozen=True, kw_only=True)
class Plan(Suggestions):
    """What would be spent on what.

    Args:
        method: The publisher's name.
        schedule: "tuned" or "paper".
        budget: What one person may lose.
        budgets: The budgets.
        allowances: The lines that the ledger will allow.
        specializations: The number of specializations, or None while it waits for the noisy
            number of rows.
        depth: The most specializations on one path, or None likewise.
        grows: Whether the method specializes a table at all.
        spends_all: Whether every path to what is published spends all that was granted.
        remark: What a reader should know of amounts that may still change.
        usefulness: How far off answers are, where a theorem says it.
        largest: How many specializations a schema has room for, where an equation says it.

    Example:
        >>> from hedgerow import DiffMulti, sample
        >>> plan = DiffMulti().plan(sample.schema(), epsilon=1, rows=2000)
        >>> [allowance.purpose for allowance in plan.allowances]
        ['rows', 'select', 'allocate', 'leaf']
    """

    _suggestions = PLAN

    method: str
    schedule: str
    budget: Budget
    budgets: Budgets
    allowances: tuple[Allowance, ...]
    specializations: int | None = None
    depth: int | None = None
    grows: bool = True
    spends_all: bool = True
    remark: str | None = None
    usefulness: str | None = None
    largest: str | None = None

    @property
    def accounting(self) -> str:
        """How losses are added up."""
        return "pure" if self.budgets.growth == "epsilon" else "zcdp"

    @property
    def rules(self) -> dict[str, Any]:
        """What the ledger of a release tells beside charges, by name."""
        return {}

    def check_rates(self) -> None:
        """Refuses a plan with a price that buys no draw, before any is paid.

        Every line is looked at with the least that one use of it may cost, and with how far one
        record may move what is drawn for that.
        """
        budgets = self.budgets.named
        pure = budgets.get("epsilon")
        # all terms of what is paid in epsilon fit, so that prices have a small common denominator
        if pure and max(pure.unit.denominator, pure.total.numerator) >= LARGEST_TERM:
            raise UsageError(
                "epsilon cannot be divided so finely.",
                hint="Take an epsilon with fewer digits, or fewer specializations.",
            )
        for line in self.allowances:
            if not line.uses:
                continue
            least = line.least if line.units is None else min(line.units)
            rate = choice_rate if line.choice else noise_rate
            amount = budgets[line.budget].unit * least
            if not amount or not rate(line.budget, amount, line.reach):
                raise UsageError(
                    f"epsilon is too small for what one use of {line.purpose!r} would get.",
                    hint="Take a larger epsilon, fewer specializations, or a smaller cap on what "
                    "one person may have.",
                )

    def lines(self) -> list[tuple[str, str, str]]:
        """The plan in words: purpose, where, and what one use costs one row.

        Example:
            >>> from hedgerow import DiffGen, sample
            >>> plan = DiffGen(specializations=3).plan(sample.schema(), epsilon=1)
            >>> plan.lines()[0]
            ('rows', 'once', 'epsilon 0.01')
        """
        budgets = self.budgets.named
        words = []
        for line in self.allowances:
            unit = budgets[line.budget].unit
            units = self._rest(line) if line.units is None else line.units
            if units is not None:
                ends = sorted({min(units), max(units)})
                cost = f"{line.budget} {' to '.join(_decimal(unit * each) for each in ends)}"
            elif self.grows:
                cost = f"whatever its path has left of {line.budget}"
            else:
                cost = f"at least {line.budget} {_decimal(unit * line.least)}"
            times = "once" if line.uses == 1 else f"at most {line.uses} times"
            times += " on a path" if self.grows and line.uses > 1 else ""
            words.append((line.purpose, times, cost))
        if self.grows and (self.depth is None or self.specializations is None):
            growth = (
                f"a share that waits for the noisy number of rows, paid in {self.budgets.growth}"
            )
            words.append(("grow", "over all levels of a path together", growth))
            words.append(("counts", "the rest", "whatever a path has left of epsilon"))
        return words

    def _repr_html_(self) -> str:
        """The plan for a notebook."""
        delta = f", delta {self.budget.delta}" if self.budget.delta else ""
        caption = f"Plan of {self.method}: epsilon {self.budget.epsilon}{delta}. No data was read."
        return small_table(caption, ["for", "how often", "what it costs a row"], self.lines())

    def _rest(self, line: Allowance) -> tuple[int] | None:
        """What a line takes that takes the rest, if everybody pays for all others once."""
        others = [one for one in self.allowances if one.budget == line.budget and one != line]
        if self.grows or any(one.units is None or one.uses != 1 for one in others):
            return None
        fixed = [one.units[0] for one in others if one.units is not None]
        return (self.budgets.named[line.budget].units - sum(fixed),)

    def to_dict(self) -> dict[str, Any]:
        """The plan for machines.

        Example:
            >>> from hedgerow import DiffGen, sample
            >>> plan = DiffGen(specializations=3).plan(sample.schema(), epsilon=1)
            >>> plan.to_dict()["depth"]
            3
        """
        return {
            "method": self.method,
            "schedule": self.schedule,
            "epsilon": str(self.budget.epsilon),
            "delta": str(self.budget.delta),
            "rows_per_person": self.budget.rows,
            "accounting": self.accounting,
            "budgets": {
                budget.name: {"unit": str(budget.unit), "units": budget.units}
                for budget in self.budgets.parts
            },
            "specializations": self.specializations,
            "depth": self.depth,
            "allowances": [
                {
                    "purpose": line.purpose,
                    "budget": line.budget,
                    "units": None if line.units is None else list(line.units),
                    "uses": line.uses,
                }
                for line in self.allowances
            ],
        }


@dataclass(frozen=True, kw_only=True)
class RowsPlan(Plan):
    """What would be spent on what.

    Args:
        mode: "noisy" or "sampled".
        side: Percent of epsilon for making a side table; 0 if a public one is given.
        rule: How rows are left out: a rate and a threshold, or a share and a least size.
        lattice: The most generalizations that a record can have.
        few: What to know where few rows are shared by enough people.
    """

    mode: str = "noisy"
    side: int = 0
    rule: dict[str, Any] = field(default_factory=dict)
    lattice: int = 0
    few: str = ""

    @staticmethod
    def of(method: str, mode: str, budget: Budget, side: int, rule: dict[str, Any]) -> RowsPlan:
        """The plan for a budget, cut into hundredths."""
        whole = UnitBudget("epsilon", budget.row_epsilon / _UNITS, _UNITS)
        lines = (Allowance("side", "epsilon", units=(side,), uses=1),) if side else ()
        allowances = (*lines, Allowance("cells", "epsilon", units=(_UNITS - side,), uses=1))
        budgets = Budgets((whole,), "epsilon")
        return RowsPlan(
            method=method, schedule="tuned", budget=budget, budgets=budgets, allowances=allowances,
            grows=False, mode=mode, side=side, rule=rule,
        )  # fmt: skip

    @property
    def accounting(self) -> str:
        """Epsilon is pure; delta is the chance that somebody who is alone is listed."""
        return "suppression"

    @property
    def rules(self) -> dict[str, Any]:
        """See `Plan.rules`: how rows are left out."""
        return {"suppression": self.rule}

    def side_budget(self) -> Budget:
        """What making a side table may cost a person."""
        return Budget(self.budget.epsilon * self.side / _UNITS, Fraction(0), self.budget.rows)

    def in_words(self) -> str:
        """Which rows will be published, and among how many generalizations each is chosen."""
        size = self.few and f" {self.few}"
        if self.lattice and self.remark is None:  # which says so too
            size += f" A record has up to {self.lattice:,} generalizations."
        if self.mode == "noisy":
            least = self.rule["threshold"]
            return f"Rows with a noisy count of at least {least} are published.{size}"
        one, those = ("person", "people") if self.budget.rows == 1 else ("row", "rows")
        return (
            f"Each {one} is sampled with probability {self.rule['sampling_rate']}; generalized "
            f"rows that at least {self.rule['threshold']} sampled {those} share are published."
            f"{size}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The plan for machines."""
        told = super().to_dict()
        del told["specializations"], told["depth"], told["schedule"]
        return told | {"mode": self.mode, **self.rules}


def _decimal(value: Fraction) -> str:
    return f"{float(value):.4g}"


# Public rules that choose settings. They read public facts and what was drawn, never the data.
#
# The papers tell the owner to try several sizes and keep the best, which breaks the guarantee.
#
# How the constants were found: by a coarse search over the mean accuracy on about twenty public
# tables, UCI Adult with five different classes among them, at epsilon 0.1, 0.3 and 1. The search
# had those tables before its eyes; `benchmarks/rules.py` prints what the rules lose to the best
# sizes set by hand, there and on tables that were not looked at. The optimum is flat: between 100
# and 200 records for each specialization, and between 1.2 and 1.5 levels for each halving, figures
# hardly move. What matters is to stay small where epsilon times rows is below some hundreds.

WHOLE_UNIVERSE = 17
"""Universes up to this size may be counted set by set."""

CROWD = 200
"""Records for each item, times epsilon, from which on supports need less and may weigh more."""

REST_EDGES = (0, 1, 4, 15)
"""Bins for the number of items that a record has beside a core."""

_LARGEST_CORE = 14
_NOISE_SHARE = 0.04  # of all records, which the noise of a single item's support may make up
_CORE_SHARE = 0.3  # of the support of an item of the core, which that noise may make up
_WHOLE_NOISE_SHARE = 0.02
_SUPPORT_UNITS = (300_000, 830_000)  # of a million, at least and at most
_STAND_OUT = 20  # records for each item, times epsilon
_LONG_RECORDS = 0.25  # of all records, which are longer than a cap at least
_DEPENDENCE = 0.11  # of the spread of weights, by which an item's records are taken to differ
_LIGHT_TAILS = 1.1  # how much more Gaussian noise rare items bear, as it is told from them better
_MARGIN = 0.95  # of the loss with Laplace noise, which Gaussian noise must stay below
_RANKS, _TOP = 60, 100  # that are looked at, and those of the most frequent items
_RARE = 1e-9  # records


def size_edges(most: int) -> Ints:
    """Bins for the number of items of a record: single to 8, then ever fewer an octave.

    Example:
        >>> size_edges(200).tolist()[7:]
        [8, 10, 12, 14, 16, 20, 24, 28, 32, 48, 64, 128]
        >>> size_edges(10_000).tolist()[-3:]
        [512, 2048, 8192]
    """
    edges = [1]
    while edges[-1] < most:
        power = 1 << edges[-1].bit_length() - 1
        parts = 4 if power < 32 else 2 if power < 64 else 1
        edges.append(edges[-1] * 4 if power > 64 else edges[-1] + max(1, power // parts))
    return np.asarray([edge for edge in edges if edge <= most], dtype=np.int64)


def support_losses(
    curve: SizeCurve, items: int, variance: Callable[[int], float], cap: int
) -> tuple[float, float]:
    """The expected errors of supports with a cap: of all items, and of the most frequent ones.

    Supports are taken to fall as their ranks do. Noise grows with the cap; against that stands what
    weights leave open: which records an item is in, by chance, and a dependence of size and item.
    What both amount to is shrunk by the recipient, so that an item is not off by more than itself.
    """
    ranks = np.unique(np.geomspace(1, items, _RANKS).astype(np.int64))
    number = np.diff(np.append(ranks, items + 1)).astype(np.float64)
    support = curve.items / (1 + math.log(items)) / ranks
    support = np.maximum(np.minimum(support, curve.records.sum()), _RARE)
    by_weights = curve.spread(cap) * (support + (_DEPENDENCE * support) ** 2)
    spread = variance(cap) / curve.share(cap) ** 2 + by_weights
    error = support * np.sqrt(spread / (spread + support**2))
    top = number * (ranks <= _TOP)
    return float(error @ number / number.sum()), float(error @ top / top.sum())


def support_caps(curve: SizeCurve, items: int, most: int, epsilon: float) -> list[int]:
    """Caps that are tried: single to 8, then eight an octave, up to the largest size.

    Where items crowd, so that the average one stands out of the noise, no cap is beyond the upper
    quartile of the sizes. Where they crowd more, noise matters less, and an item of long records
    must not seem rarer than it is, or it is left out of the core: the quarter beyond the cap then
    falls with the root of the crowd.
    """
    so_far = np.cumsum(curve.records)
    crowd = epsilon * float(so_far[-1]) / items
    if crowd >= _STAND_OUT:
        beyond = _LONG_RECORDS * math.sqrt(CROWD / max(crowd, CROWD))
        most = min(most, int(curve.size[np.argmax(so_far >= (1 - beyond) * so_far[-1])]))
    caps = [1]
    while caps[-1] < min(curve.size[-1], most):
        caps.append(caps[-1] + max(1, (1 << caps[-1].bit_length() - 1) // 8))
    return [cap for cap in caps if cap <= most]


def best_cap(
    losses: Mapping[int, tuple[float, float]], below: tuple[float, float] = (math.inf, math.inf)
) -> int:
    """The cap whose two losses have the least product; 0 if none has both of them below others.

    The average item wants a small cap, for less noise; a frequent one loses more by the weights of
    long records and wants a large one. With the product, neither gains by a part what the other
    loses by more.

    Args:
        losses: The losses by cap (see `support_losses`).
        below: What neither of the losses may exceed.

    Example:
        >>> sizes = np.arange(1.0, 31.0)
        >>> poisson = np.exp(sizes * np.log(10) - 10 - np.cumsum(np.log(sizes)))
        >>> many = SizeCurve(size=sizes, stretch=np.ones(30), records=100_000 * poisson)
        >>> def losses(epsilon):
        ...     noise = lambda cap: 2 * (cap / epsilon) ** 2
        ...     return {cap: support_losses(many, 1000, noise, cap) for cap in range(1, 31)}
        >>> [best_cap(losses(epsilon)) for epsilon in (0.8, 0.08, 0.008)]
        [17, 10, 4]
        >>> best_cap(losses(0.08), below=losses(0.8)[17])
        0
    """
    fit = [cap for cap, both in losses.items() if both[0] <= below[0] and both[1] <= below[1]]
    return min(fit, key=lambda cap: (math.prod(losses[cap]), cap), default=0)


def gaussian_cap(
    curve: SizeCurve,
    items: int,
    caps: Iterable[int],
    variance: Callable[[int], float],
    laplace: tuple[int, float],
) -> int:
    """The cap with which Gaussian noise should be better; 0 if it may be worse than Laplace noise.

    Where the average item is below the noise, the loss of frequent items may not be larger, that of
    all items by a tenth, as Gaussian noise is told from rare items better. Elsewhere Laplace noise
    of the same variance is smaller on average, by the root of pi / 4, and both losses must be
    smaller by a margin, as supports need not fall as their ranks do.

    Args:
        curve: The sizes of records.
        items: The number of items in the universe.
        caps: Caps that are tried.
        variance: The variance of Gaussian noise by cap.
        laplace: The cap with Laplace noise, and the variance of that.

    Example:
        >>> sizes = np.arange(1.0, 31.0)
        >>> curve = SizeCurve(size=sizes, stretch=np.ones(30), records=90_000 * 0.8**sizes)
        >>> gaussian_cap(curve, 1000, range(1, 31), lambda cap: 2000.0 * cap, (8, 12_800.0))
        0
        >>> gaussian_cap(curve, 1000, range(1, 31), lambda cap: 1000.0 * cap, (8, 12_800.0))
        19
    """
    cap, first = laplace
    rare = curve.items * curve.share(cap) < items * math.sqrt(first)
    known = first if rare else math.pi / 4 * first
    average, frequent = support_losses(curve, items, lambda _: known, cap)
    most = (_LIGHT_TAILS, 1.0) if rare else (_MARGIN, _MARGIN)
    below = most[0] * average, most[1] * frequent
    return best_cap({cap: support_losses(curve, items, variance, cap) for cap in caps}, below)


def support_units(items: int, epsilon: Fraction, rows: int | None) -> int:
    """What supports cost, in millionths of epsilon; the rest is for sets of frequent items.

    Where an item has few records, its noise is all that matters. From 200 / epsilon records for
    each item of the universe on, that noise is about one percent of an average support, and stays
    so: what supports do not need any more tells better which frequent items go together.

    Args:
        items: The number of items in the universe.
        epsilon: What one record may lose.
        rows: The noisy number of records; None if it is not known yet, as if there were few.

    Example:
        >>> support_units(1_000, Fraction(1), 100_000), support_units(1_000, Fraction(1), 400_000)
        (830000, 415000)
        >>> support_units(1_000, Fraction(1), 4_000_000)
        300000
    """
    least, most = _SUPPORT_UNITS
    crowd = epsilon * (rows or 0) / items
    return most if crowd <= CROWD else max(least, math.floor(most * CROWD / crowd))


def core_size(items: int, records: int, epsilon: float, supports: Ints | None = None) -> int:
    """How many items to count set by set, given what the cells may cost a record.

    The support of one item of the core is the sum of half of all cells. Its noise should stay
    below four percent of the records and below 30% of the item's own support, which their fit
    takes out. For a whole universe, which has no other supports, it is two percent of the records.

    Args:
        items: The number of items in the universe.
        records: The noisy number of records.
        epsilon: What the cells may cost a record.
        supports: The noisy supports, the largest first, if any were measured.

    Example:
        >>> core_size(17, 1_000_000, 1.0), core_size(1_000, 1_000_000, 0.35)
        (17, 14)
        >>> core_size(1_000, 20_000, 0.35), core_size(17, 100, 1.0)
        (14, 1)
        >>> core_size(1_000, 20_000, 0.35, 9_000 // np.arange(1, 1_001))
        10
    """

    def noise(core: int, bins: int) -> float:
        return math.sqrt((bins << core) / 2) * math.sqrt(2) / epsilon

    if items <= WHOLE_UNIVERSE and noise(items, 1) <= _WHOLE_NOISE_SHARE * records:
        return items
    core, most = 1, min(_LARGEST_CORE, items - 1)
    bars = np.full(most, _NOISE_SHARE * records)
    if supports is not None:
        bars = np.minimum(bars, _CORE_SHARE * supports[:most])
    while core < most and noise(core + 1, len(REST_EDGES)) <= bars[core]:
        core += 1
    return core


PAPER_NUMERIC_HEIGHT = 7
"""The height that DiffMulti's authors assume for a numeric attribute."""

_PER_SPECIALIZATION = 200
_ENTRANCE = 2  # specializations' worth of records that must be there before a second one pays
_LEVELS_PER_HALVING = 1.2
_PER_CELL = 200
_MOST, _MOST_STEPS = 1_000_000, 64


def tree_size(
    epsilon: Fraction,
    rows: int,
    size: int | None = None,
    depth: int | None = None,
    classes: int = 2,
) -> tuple[int, int]:
    """The number of specializations and the depth cap of a tuned tree.

    A specialization is worth its noise once it serves about 200/epsilon records, beyond the first
    400/epsilon: in a small tree a wrong choice near the root costs more than a further level wins.
    With fewer than `classes - 1` specializations some class could not have a region of its own.
    Halving such a tree evenly would take log2(h) levels; some more leave room for
    uneven data. No path is longer than the number of specializations.

    Args:
        epsilon: What one row may lose.
        rows: The noisy number of rows.
        size: The number of specializations, if it was set by hand.
        depth: The depth cap, if it was set by hand.
        classes: The number of classes in the schema.

    Example:
        >>> tree_size(Fraction(1), 30_000)
        (148, 9)
        >>> tree_size(Fraction(1, 10), 3_000)
        (1, 1)
    """
    if size is None:
        worth = int(epsilon * rows / _PER_SPECIALIZATION) - _ENTRANCE
        size = min(_MOST, max(1, classes - 1, worth))
    if depth is None:
        depth = min(size, math.ceil(_LEVELS_PER_HALVING * math.log2(size + 1)))
    return size, depth


def largest_tree(schema: Schema) -> int:
    """The most specializations of a tree of regions: equation 14 of the DiffMulti paper.

    Every region is divided by the first attribute until its values are exact, then by the second,
    and so on. A taxonomy has one specialization for each inner node, a grid one for each cut.
    Which attribute comes first matters, which the paper does not say: here it is the one with the
    most leaves for each specialization, the order of the largest sum. Trees that take attributes
    in turn may have a few more.

    Args:
        schema: The public schema.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "a": {"type": "categorical", "taxonomy": {"L": ["x", "y"], "R": ["z", "w"]}},
        ...     "b": {"type": "categorical", "values": ["r", "s", "t"]}}})
        >>> largest_tree(schema)  # 1 for b, then 3 in each of its three values
        10
    """
    sizes = []
    for attribute in schema.attributes:
        if attribute.split != "never" and attribute.size > 1:
            inner = attribute.size - 1
            if isinstance(attribute, Categorical):
                inner = sum(map(bool, attribute.taxonomy.children))
            sizes.append((attribute.size, inner))
    sizes.sort(key=lambda size: Fraction(size[0] - 1, size[1]), reverse=True)
    regions, most = 1, 0
    for leaves, inner in sizes:
        most += regions * inner
        regions *= leaves
    return most


def grid_size(epsilon: Fraction, rows: int, size: int | None = None, classes: int = 2) -> int:
    """The number of specializations of a tuned grid, whose regions multiply.

    Every specialization about doubles the regions, and a region should hold about 200/epsilon
    records; there should be as many regions as classes.

    Args:
        epsilon: What one row may lose.
        rows: The noisy number of rows.
        size: The number of specializations, if it was set by hand.
        classes: The number of classes in the schema.

    Example:
        >>> grid_size(Fraction(1), 30_000)
        8
    """
    if size is not None:
        return size
    worth = math.ceil(math.log2(max(1.0, float(epsilon * rows / _PER_CELL))))
    return min(_MOST_STEPS, max(1, math.ceil(math.log2(max(1, classes))), worth))
