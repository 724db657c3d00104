"""Supermodular: every record its own generalization (Fouad, Elbassioni and Bertino 2014).

Each record is generalized by itself: as far as its owner's weights ask for, no further than its
use allows. How many people a generalized record could stand for is read off a side table. Rows
that enough people share are listed.

Protected: one record (or one person with a public cap on records), added or removed.

Spent, with e the epsilon of one row:

| step                                  | mechanism                         | share            |
|---------------------------------------|-----------------------------------|------------------|
| side: synthetic rows, if none given   | DiffMulti                         | `side_share`     |
| cells, `noisy`: counts of rows in use | discrete Laplace, and a threshold | the rest, delta  |
| cells, `sampled`: truthful rows       | kept by chance, and a least size  | the rest, delta  |

The side table is public, or made by DiffMulti from its share of the budget, never the private
table itself. So what becomes of a record depends on that record, its owner's own weights and on
what is public or was paid for: adding a record changes nobody else's row, and a record is in one
row. Optimizing and drawing generalizations costs nothing (docs/algorithms/supermodular.md).

Departures from the paper (F.. as in that page): its Algorithm 2 takes the private table as side
table and admits rows by a random threshold on exact frequencies, which leaves delta of the order of
1/n (F1); both are replaced. Sensitivities have a public floor, attribute by attribute (F4). Layers
are not needed, neither for sampling (F5) nor for the relaxation of the threshold model (F6).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Floats, Ints, Small, number_rows
from hedgerow.counting.memory import MemoryEngine
from hedgerow.data import (
    CodeMatrix,
    WeightColumns,
    read_public,
    read_weight_file,
    refuse_same_source,
)
from hedgerow.data.people import MissingWeight, OutsideWeight
from hedgerow.errors import UsageError
from hedgerow.estimate.cells import draw_codes, estimate_cells, whole_counts
from hedgerow.estimate.partition import TreePartition
from hedgerow.methods.diffmulti import DiffMulti
from hedgerow.methods.plan import RowsPlan
from hedgerow.methods.publisher import Progress, Publisher, check_count, no_progress
from hedgerow.optimize.exact import LARGEST, check_possible, lattice, solve
from hedgerow.optimize.model import (
    Aim,
    Forest,
    Problem,
    Record,
    Rule,
    Side,
    Utility,
    Worth,
    check_number,
)
from hedgerow.privacy.budget import LARGEST_TERM, Budget, Number, read_number
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.ledger import Ledger
from hedgerow.privacy.sampler import Sampler
from hedgerow.privacy.suppression import least_group, least_threshold, sampling_allowed
from hedgerow.schema import Schema
from hedgerow.suggestions import answer_mistakes

_ROOT = np.zeros(1, dtype=np.int64)

# Generalized rows: the side table that they are read off, and what a run hands over.

MOST_SIDE_ROWS = 50_000  # of a side table that we make; more would only cost time


@dataclass(frozen=True)
class SideRows:
    """A side table that was read already: its rows, as codes."""

    rows: CodeMatrix


@dataclass(frozen=True, kw_only=True)
class RowsOutcome:
    """A finished run: all of it was drawn or is public.

    Args:
        plan: What was spent on what.
        ledger: The books.
        lo: The first code of each listed row in each attribute.
        hi: One past the last code.
        counts: Noisy counts, or how many people were kept.
        frontier: What other settings would have meant, on the side table.
    """

    plan: RowsPlan
    ledger: Ledger
    lo: Ints
    hi: Ints
    counts: Ints
    frontier: dict[str, Any]

    kind: ClassVar[str] = "rows"  # of release that it makes

    # what is asked of every outcome

    published: ClassVar[Ints] = _ROOT  # the ledger's account of all rows: everybody's

    @property
    def sharing(self) -> int:
        """How many rows share it."""
        return len(self.counts)

    @property
    def parts(self) -> dict[str, Any]:
        """All that was drawn and leaves, by the names that a release has for it."""
        names = ("lo", "hi", "counts", "frontier")
        return {name: getattr(self, name) for name in names}


def make_side(
    engine: MemoryEngine, schema: Schema, budget: Budget, sampler: Sampler
) -> NDArray[Any]:
    """Synthetic rows of a DiffMulti release of the table; the budget was charged by the caller.

    All that is drawn at random after the release is drawn with a fixed seed, so that the rows are
    a function of the transcript.
    """
    made = DiffMulti()
    outcome = made.run(engine, schema, made.plan_for(schema, budget), sampler)
    assert isinstance(outcome.partition, TreePartition)
    classes = max(1, len(schema.classes))
    found = estimate_cells(outcome.partition, outcome.measurements, classes)
    counts = whole_counts(found)
    if not counts.any():  # nothing is known, so nobody is likelier than another
        counts = np.ones_like(counts)
    number = min(max(int(counts.sum()), 1000), MOST_SIDE_ROWS)
    tree, places = outcome.partition, range(len(schema.attributes))
    parts = [tree.parts(place, found.regions) for place in places]
    # codes and no values: read again, what was other could break a rule after it was paid for
    columns = draw_codes(schema, parts, counts, number, seed=0)
    return np.stack([*columns], axis=1).astype(np.uint32)


def add_up_rows(forest: Forest, nodes: Small, counts: Ints) -> tuple[Small, Ints]:
    """Adds up what fell to the same row; rows in canonical order, by codes."""
    by_codes = np.lexsort((-forest.hi, forest.lo))
    rank = np.empty(len(by_codes), np.int64)
    rank[by_codes] = np.arange(len(by_codes))
    number = number_rows(rank[nodes].T, len(nodes))
    _, first, row = np.unique(number, return_index=True, return_inverse=True)
    sums = np.zeros(len(first), np.int64)
    np.add.at(sums, row, counts)
    return nodes[first], sums


# Risk against utility on the side table: where the settings lie, and what others would mean.
#
# The side table is public, or was paid for, so the picture is free. Its rows take the part of the
# records, each with the weights of the settings.


_FACTORS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
_RECORDS, _FEW = 100, 12  # how many are solved; few where a lattice is too large to list


def frontier(problem: Problem) -> dict[str, Any]:
    """Mean risk and utility of side rows, for the settings and for stricter and laxer ones."""
    aim, worth, leaves = problem.aim, problem.worth, _some_rows(problem)
    name = {"threshold": "risk_threshold", "least-risk": "least_utility", "aggregate": "trade"}
    top = np.maximum(worth.weight[problem.forest.root], worth.floor).sum() / problem.side.rows
    points = []
    for factor in _FACTORS:
        # a utility has a largest value, so its factors are smaller
        scale = factor**0.25 if aim.model == "least-risk" else factor
        other = aim.at(aim.setting * scale)
        found = solve(problem._replace(aim=other), leaves, np.ones(leaves.shape))
        points.append({
            name[aim.model]: other.setting,
            "utility": float(np.where(found.solved, found.utility, 0.0).mean()),
            "risk": float(np.where(found.solved, found.risk, top).mean()),
        })  # fmt: skip
    return {
        "model": aim.model,
        "records": len(leaves),
        "most_utility": float(worth.utility[leaves].sum(axis=1).mean()),
        "points": points,
        "chosen": points[_FACTORS.index(1.0)],
    }


def _some_rows(problem: Problem) -> Small:
    """Some distinct side rows, evenly spaced in their order, as leaf nodes."""
    forest, side = problem.forest, problem.side
    number = _RECORDS if forest.largest_lattice() <= LARGEST else _FEW
    every = len(side.then)
    picked = np.unique(np.linspace(0, every - 1, min(number, every)).astype(np.int64))
    first = np.searchsorted(side.start, picked, "right") - 1
    ranks = np.concatenate([side.first[first], side.second[side.then[picked]]], axis=1)
    leaves = np.empty(ranks.shape, np.int32)
    for place in range(forest.attributes):
        nodes = forest.leaves_of(place)
        # the leaf whose ranks are just this one
        held = nodes[side.node_hi[nodes] > side.node_lo[nodes]]
        by_rank = np.empty(int(side.ranks[place]), np.int32)
        by_rank[side.node_lo[held]] = held
        leaves[:, place] = by_rank[ranks[:, place]]
    return leaves


# Generalizations drawn at random: P(x) proportional to exp(sharpness * value(x)).
#
# Floats are harmless here, and so is a chain that has not quite settled. A record's generalization
# may follow any law that depends on that record and on public facts alone; what protects people is
# what happens to the counts afterwards (docs/algorithms/supermodular.md). So the law may be a
# little off, but it must be the record's own: nothing else that is private may go into it.
#
# Lattices that can be listed are drawn from exactly, up to rounding. Beyond, `sample_point` does
# what the paper's Sample-Point does, repaired. A point of the Lovasz extension is an order of the
# elements, that is a maximal chain of generalizations, together with a weight for each member; to
# round it is to choose a member. We draw a maximal chain through the present generalization,
# uniformly, and choose a member of it by exp(sharpness * value) / (number of maximal chains through
# it). Both are draws from the conditional laws of one joint law, whose share for x is just
# exp(sharpness * value(x)): the chain keeps the law that is wanted, exactly, whatever the value
# function is. So layers of equal sensitivity are not needed, nor is log-concavity. Every maximal
# chain holds the record itself and the most general values, so the two ends are never far apart. In
# between, one attribute at a time is drawn anew with the others kept, which keeps the law too.

Words = Callable[[int], NDArray[np.uint64]]  # so many random words

STEPS = 64
"""Moves of the chain before its end is taken."""


def draw_nodes(
    problem: Problem,
    sharpness: float,
    leaves: Small,
    factor: Floats,
    times: Ints,
    words: Words,
    largest: int = LARGEST,
    progress: Callable[[float], None] = lambda _: None,
) -> tuple[Small, Ints]:
    """Draws a generalization for each of the people who share a record.

    Args:
        problem: What is looked for; a generalization that it forbids is never drawn.
        sharpness: 0 for all alike; the larger, the nearer to the best.
        leaves: The leaf nodes of distinct records.
        factor: What each record multiplies its weights by.
        times: How many people have each record.
        words: Where chance comes from: gives so many random words.
        largest: Lattices up to this size are listed.
        progress: Called with the share of the records that is done.

    Returns:
        Generalized values, and how many people got each.
    """
    forest, aim = problem.forest, problem.aim
    nodes, numbers = [np.zeros((0, leaves.shape[1]), np.int32)], [np.zeros(0, np.int64)]
    lengths = forest.depth[leaves].astype(np.int64) + 1
    for place, sizes in enumerate(lengths.tolist()):
        many, record = int(times[place]), (problem, leaves[place], factor[place])
        progress(place / len(leaves))
        if math.prod(sizes) <= largest:
            law = np.cumsum(_law(aim, sharpness, *lattice(*record)[1:]))
            picked = np.searchsorted(law, uniforms(words, many) * law[-1], "right")
            drawn, number = np.unique(np.minimum(picked, len(law) - 1), return_counts=True)
            points = np.stack(np.unravel_index(drawn, sizes), axis=1)
        else:
            alone = Record.of(*record)
            ends = [sample_point(alone, aim, sharpness, words) for _ in range(many)]
            points, number = np.unique(np.stack(ends), axis=0, return_counts=True)
        nodes.append(forest.climb(leaves[place], points))
        numbers.append(number.astype(np.int64))
    return np.concatenate(nodes), np.concatenate(numbers)


def sample_point(
    record: Record, aim: Aim, sharpness: float, words: Words, steps: int = STEPS
) -> Ints:
    """One generalization of a record, by moves along maximal chains; begins at the top."""

    def log_law(points: Ints, counts: Ints) -> Floats:
        utility, sensitivity = record.utilities(points), record.sensitivities(points)
        return _log_law(aim, sharpness, utility, sensitivity, counts)

    point = record.heights.copy()
    for _ in range(steps):
        sampler = uniforms(words, record.elements + 3)
        points, counts = record.chain(_chain_through(record, point, sampler[3:]))
        log_weight = log_law(points, counts) - _log_chains(record.heights, points)
        point = points[_pick(log_weight, sampler[0])]
        place = int(sampler[1] * len(point))
        points = np.repeat(point[None, :], record.heights[place] + 1, axis=0)
        points[:, place] = np.arange(len(points))
        point = points[_pick(log_law(points, record.along(points)), sampler[2])]
    return point


def _pick(log_weight: Floats, sampler: float) -> int:
    weight = np.cumsum(np.exp(log_weight - log_weight.max()))
    return min(int(np.searchsorted(weight, sampler * weight[-1], "right")), len(weight) - 1)


def uniforms(words: Words, number: int) -> Floats:
    """Numbers from 0 to below 1, of 53 bits each."""
    return (words(number) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _log_law(
    aim: Aim, sharpness: float, utility: Floats, sensitivity: Floats, counts: Ints
) -> Floats:
    if aim.risk is not None:
        allowed = (counts > 0) & (counts * aim.risk >= sensitivity)
        if not allowed.any():  # not even the most general values, which come last, are
            allowed[-1] = True
        return np.where(allowed, sharpness * utility, -np.inf)
    if aim.utility is not None:
        allowed = (counts > 0) & (utility >= aim.utility * (1 - 1e-12))
        if not allowed.any():
            allowed[-1] = True
        return np.where(allowed, -sharpness * sensitivity / np.maximum(counts, 1), -np.inf)
    value = aim.trade * counts / sensitivity + utility**aim.kappa
    return np.asarray(sharpness * value)


def _law(aim: Aim, sharpness: float, utility: Floats, sensitivity: Floats, counts: Ints) -> Floats:
    log_law = _log_law(aim, sharpness, utility, sensitivity, counts)
    return np.asarray(np.exp(log_law - log_law.max()))


def _chain_through(record: Record, point: Ints, keys: Floats) -> Ints:
    """A maximal chain through a point, uniformly: steps of all attributes in random order."""
    below = record.level_of <= point[record.attribute_of]
    order = np.empty(record.elements, np.int64)
    first = 0
    for part in (below, ~below):
        members = np.flatnonzero(part)
        shuffled = members[np.argsort(keys[members], kind="stable")]
        # the attributes come in this order; each takes its own steps from below
        places = record.attribute_of[shuffled]
        by_attribute = np.argsort(places, kind="stable")
        order[first + by_attribute] = np.sort(members)
        first += len(members)
    return order


def _log_chains(heights: Ints, points: Ints) -> Floats:
    """The logarithm of how many maximal chains lead through each point."""
    factorials = np.cumsum(np.log(np.maximum(np.arange(int(heights.sum()) + 1), 1)))
    steps = points.sum(axis=1)
    inside = factorials[points].sum(axis=1) + factorials[heights[None, :] - points].sum(axis=1)
    return np.asarray(factorials[steps] + factorials[heights.sum() - steps] - inside)


MOST_FAN = 100
_GUESS = 10_000  # rows, where nobody said how many
_LONG, _HOUR = 30, 3600  # seconds
_LOW_RISK = 0.001  # at which most people share rows of a dozen attributes


@answer_mistakes
@dataclass(frozen=True, kw_only=True)
class Supermodular(Publisher):
    """Settings of Supermodular.

    Args:
        mode: "noisy" (rows with noisy counts) or "sampled" (truthful rows of a sample of the
            people).
        model: "threshold" (the largest utility within a risk), "least-risk" (the least risk for a
            utility) or "aggregate" (the largest trade / risk + utility ** kappa).
        risk: The largest risk of a record, for the threshold model.
        least_utility: The least utility of a record, for the model of least risk.
        trade: The paper's lambda, for the aggregate model.
        kappa: The paper's exponent, for the aggregate model.
        utility: How the utility of a generalization is measured: by its leaves or by its depth.
        rule: How the weights of groups follow from those below them in a hierarchy.
        weights: For each attribute its weight or the weights of its values, or the path of a
            YAML file that holds them. Public.
        weight_columns: For some attributes, the column with people's own weights, by which the
            attribute's weight is multiplied.
        weight_bounds: The public bounds of people's own weights.
        weight_missing: The weight used if a person's own weight is missing or not a number; or
            "drop" to drop the record, or "error" to stop the run.
        weight_outside: The weight used if a person's own weight is outside the bounds; or "clip"
            for the nearer bound, or "drop", or "error".
        floor: The smallest sensitivity that a record can have, however general it is.
        side: A public table (a path or a frame) that the schema describes, about other people than
            the private one; without it, one is made with part of the budget.
        side_share: The percentage of epsilon for making a side table.
        keep: For "sampled": the sampling rate, the probability with which each person is sampled.
        fan: Into how many parts an interval of a numeric attribute is cut.
        sharpness: None for the best generalization; a number to draw one with probability
            proportional to exp(sharpness * value).
        thorough: Whether the slow relaxation is used too for lattices larger than 2^20.

    Example:
        >>> Supermodular(mode="sampled", keep="1/4").model
        'threshold'
    """

    mode: Literal["noisy", "sampled"] = "noisy"
    model: Literal["threshold", "least-risk", "aggregate"] = "threshold"
    risk: float = 0.1
    least_utility: float = 5.0
    trade: float = 0.01
    kappa: int = 1
    utility: Utility = "log"
    rule: Rule = "fixed"
    weights: Mapping[str, Any] | str | os.PathLike[str] | None = None
    weight_columns: Mapping[str, str] | None = field(
        default=None, metadata={"metavar": "ATTRIBUTE=COLUMN"}
    )
    weight_bounds: tuple[float, float] = (0.0, 10.0)
    weight_missing: MissingWeight = 1.0
    weight_outside: OutsideWeight = "clip"
    floor: float = 0.1
    side: Any = None
    side_share: int = 30
    keep: Number = "1/5"
    fan: int = 2
    sharpness: float | None = None
    thorough: bool = False

    name: ClassVar[str] = "supermodular"
    schedule = "tuned"  # there is no other
    in_memory: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuses settings that cannot be meant."""
        super().__post_init__()
        check_count("fan", self.fan, MOST_FAN, least=2, by_rule=False)
        check_count("side_share", self.side_share, 99, by_rule=False)
        Aim(risk=self.risk, utility=self.least_utility, trade=self.trade, kappa=self.kappa)
        check_number("the floor of the sensitivity", self.floor, above=0)
        if self.sharpness is not None:
            check_number("sharpness", self.sharpness)
        low, high = (check_number("a bound of the weights", one) for one in self.weight_bounds)
        if low > high:
            raise UsageError("the bounds of the weights are the wrong way round.")
        for rule in (self.weight_missing, self.weight_outside):
            if not isinstance(rule, str):
                check_number("what a missing or outside weight counts as", rule)
        if not 0 < read_number("keep", self.keep) < 1:
            raise UsageError(
                "keep must lie between 0 and 1.", hint="It is a share of the people: 0.2, say."
            )

    def aim(self) -> Aim:
        """What is looked for in a record's generalizations."""
        if self.model == "threshold":
            return Aim(risk=self.risk)
        if self.model == "least-risk":
            return Aim(utility=self.least_utility)
        return Aim(trade=self.trade, kappa=self.kappa)

    def terms(self, schema: Schema) -> tuple[Forest, Worth]:
        """The hierarchies of a schema, with utilities and sensitivities."""
        attributes = schema.columns
        forest, weights = Forest.of(attributes, self.fan), self._given_weights()
        return forest, Worth.of(forest, attributes, self.utility, self.rule, weights, self.floor)

    def own_weights(self, schema: Schema) -> WeightColumns | None:
        """The columns of people's own weights, if there are any."""
        if not self.weight_columns:
            return None
        names = [attribute.name for attribute in schema.columns]
        for name in self.weight_columns:
            if name not in names:
                raise UsageError(
                    f"There is a column of weights for {name!r}, which is not an attribute.",
                    hint=f"The attributes are: {', '.join(names)}.",
                )
        low, high = self.weight_bounds
        columns = WeightColumns(
            tuple(self.weight_columns.values()), low=low, high=high,
            missing=self.weight_missing, outside=self.weight_outside,
        )  # fmt: skip
        columns.check(schema)
        return columns

    def check(self, schema: Schema, plan: RowsPlan) -> None:  # type: ignore[override]
        """See `Publisher.check`."""
        plan.check_rates()
        self.own_weights(schema)
        if self.side is None:  # refused before any of it is spent
            made = DiffMulti()
            made.check(schema, made.plan_for(schema, plan.side_budget()))

    def prepared(self, schema: Schema, source: object) -> tuple[Supermodular, CodeMatrix | None]:
        """See `Publisher.prepared`: reads the side table, which as a stream can be read once."""
        if self.side is None:
            return self, None
        refuse_same_source(source, self.side)
        rows = self.side_rows(schema)
        return replace(self, side=SideRows(rows)), rows

    def side_rows(self, schema: Schema) -> CodeMatrix:
        """The codes of the public side table, which must be given."""
        if isinstance(self.side, SideRows):
            return self.side.rows
        return read_public(self.side, schema)

    def plan_for(self, schema: Schema, budget: Budget, rows: int | None = None) -> RowsPlan:
        """See `Publisher.plan_for`. Delta must be above 0: who is alone may be listed by chance."""
        if not budget.delta:
            raise UsageError(
                "supermodular needs a delta above 0: rows are listed if people are in them.",
                hint="Take far less than 1 over the number of people, such as 1e-9.",
            )
        side = 0 if self.side is not None else self.side_share
        rate = budget.row_epsilon * (100 - side) / 100
        if self.mode == "noisy":
            people = least = least_threshold(rate, budget.row_delta)
            rule: dict[str, Any] = {"rate": str(rate), "threshold": least}
        else:
            share = read_number("keep", self.keep)
            if share.denominator >= LARGEST_TERM:
                raise UsageError(
                    "keep has so many digits that it cannot be drawn with.",
                    hint="Give it as a short decimal or fraction: 0.2 or 1/5, say.",
                )
            if not sampling_allowed(rate, share):
                raise UsageError(
                    f"epsilon is too small to keep {share} of the people: it must be at least "
                    "-ln(1 - keep) after the side table is paid.",
                    hint="Keep fewer, take a larger epsilon, or give a public side table.",
                )
            least = least_group(rate, budget.row_delta, share)
            people = math.ceil(least / share)
            rule = {"sampling_rate": str(share), "threshold": least}
        plan = RowsPlan.of(self.name, self.mode, budget, side, rule)
        number = rows or _GUESS
        forest, worth = self.terms(schema)
        lattice, seconds = self.effort(forest, number)
        records = f"{number:,} different records, each with up to {lattice:,} generalizations"
        if seconds > _HOUR:
            raise UsageError(
                f"Generalizing would take about {seconds / _HOUR:,.1f} hours of CPU for {records}.",
                hint="Take the threshold model without --thorough and --sharpness, or give "
                "attributes that nobody needs `role: identifier`.",
            )
        threshold = self.model == "threshold"
        remarks = {
            f"A record may have up to {lattice:,} generalizations, too many to look at each. With "
            "so many, few people share a row, and the rest is not published: give attributes that "
            "nobody needs `role: identifier`.": lattice > LARGEST,
            f"A risk of {_LOW_RISK} instead of {self.risk} generalizes further, so that more "
            "people share rows.": lattice > LARGEST and threshold and self.risk > _LOW_RISK,
            f"Generalizing {records}, takes about {seconds:,.0f} CPU seconds.": seconds > _LONG,
        }
        shared = float(np.maximum.reduceat(worth.weight, forest.root).sum()) / self.risk
        few = (
            f"With a risk of {self.risk} some are shared by {shared:,.0f} people alone, where it "
            f"takes about {people:,}: most people may be left out. Take a risk of at most "
            f"{self.risk * shared / people:.1g}, or "
            f"{'a public side table' if side else 'a larger epsilon'}."
        )
        return replace(
            plan,
            lattice=lattice,
            few=few if threshold and people > shared else "",
            remark=" ".join(text for text, said in remarks.items() if said) or None,
        )

    def effort(self, forest: Forest, rows: int) -> tuple[int, float]:
        """The most generalizations of a record, and about how many CPU seconds all will take.

        By public facts alone: the hierarchies, the settings, and a guess of the number of rows.

        Example:
            >>> from hedgerow import sample
            >>> method = Supermodular()
            >>> method.effort(method.terms(sample.schema())[0], 1000)[0]
            4515840
        """
        lattice, elements = forest.largest_lattice(), int(forest.heights().sum())
        if lattice <= LARGEST:  # listed, whatever is looked for
            return lattice, rows * (2e-5 + 4e-9 * lattice)
        if self.sharpness is not None:
            return lattice, rows * 0.06 * elements / 56
        if self.model == "aggregate" or (self.model == "threshold" and self.thorough):
            return lattice, rows * 0.1 * (elements / 56) ** 3
        return lattice, rows * (0.001 if self.model == "threshold" else 0.02)

    def picture(self, schema: Schema) -> dict[str, Any]:
        """Risk and utility on the public side table, for these settings and others."""
        return frontier(self._problem(schema))

    def _problem(self, schema: Schema, made: CodeMatrix | None = None) -> Problem:
        """What is looked for, with the side table that was made, or with the public one."""
        forest, worth = self.terms(schema)
        if made is not None:
            return Problem(forest, Side.of(forest, made), worth, self.aim())
        problem = Problem(forest, Side.of(forest, self.side_rows(schema)), worth, self.aim())
        check_possible(problem, max(1.0, self.weight_bounds[1]) if self.weight_columns else 1.0)
        return problem

    @answer_mistakes
    def run(  # type: ignore[override]
        self,
        engine: MemoryEngine,
        schema: Schema,
        plan: RowsPlan,
        sampler: Sampler,
        progress: Progress = no_progress,
    ) -> RowsOutcome:
        """See `Publisher.run`."""
        ledger = Ledger(plan.budgets.parts)
        ledger.allow(plan.allowances)
        curator = Curator(ledger, sampler)
        progress(0.0, "the side table")
        made = None
        if self.side is None:
            ledger.charge("side", 0, _ROOT)
            made = make_side(engine, schema, plan.side_budget(), sampler)
        problem = self._problem(schema, made)

        def generalize(records: tuple[Ints, Ints, Ints]) -> tuple[Small, Ints]:
            """Generalizes each record by itself, and adds up those that became the same row."""
            values, weights, counts = records
            forest, leaves = problem.forest, problem.forest.leaves(values)
            names = [attribute.name for attribute in schema.columns]
            own, factor = self.own_weights(schema), np.ones(values.shape)
            for column, name in enumerate(self.weight_columns or ()):
                assert own is not None
                factor[:, names.index(name)] = own.values()[weights[:, column]]

            def advance(share: float) -> None:
                progress(0.1 + 0.7 * share, "generalizing")

            if self.sharpness is not None:
                drawn = draw_nodes(
                    problem, self.sharpness, leaves, factor, counts, sampler.words,
                    progress=advance,
                )  # fmt: skip
                return add_up_rows(forest, *drawn)
            best = solve(problem, leaves, factor, thorough=self.thorough, progress=advance)
            # nothing is allowed: the most general values, which say nothing
            nodes = np.where(best.solved[:, None], best.nodes, forest.root[None, :])
            return add_up_rows(forest, nodes.astype(np.int32), counts)

        # list: records are generalized when that is paid for, with one look at each distinct one
        what = ("cells", engine.distinct_records(), generalize)
        if self.mode == "noisy":
            nodes, counts = curator.nonempty(*what, int(plan.rule["threshold"]))
        else:
            share = Fraction(plan.rule["sampling_rate"])
            nodes, counts = curator.keep(*what, share, int(plan.rule["threshold"]))
        progress(0.8, "comparing settings")
        picture = frontier(problem)
        lo, hi = (ends[nodes].astype(np.int64) for ends in (problem.forest.lo, problem.forest.hi))
        return RowsOutcome(plan=plan, ledger=ledger, lo=lo, hi=hi, counts=counts, frontier=picture)

    def settings(self) -> dict[str, Any]:
        """The settings in words, for the manifest."""
        weights = self._given_weights()
        return {one.name: getattr(self, one.name) for one in fields(self)} | {
            "schedule": self.schedule_name,
            "side": "made" if self.side is None else "public",
            "keep": str(read_number("keep", self.keep)),
            "weight_bounds": list(self.weight_bounds),
            "weights": weights and {
                name: dict(given) if isinstance(given, Mapping) else given
                for name, given in weights.items()
            },
            "weight_columns": self.weight_columns and dict(self.weight_columns),
        }  # fmt: skip

    def _given_weights(self) -> Mapping[str, Any] | None:
        """The weights, out of their file if they are in one."""
        if isinstance(self.weights, (str, os.PathLike)):
            return read_weight_file(os.fspath(self.weights))
        return self.weights
