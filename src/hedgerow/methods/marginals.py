"""Marginals: noisy tables of attributes, by the class and by each other, and one model of them all.

What people ask of a table is how attributes go together. So every attribute is counted by the
class (without a class, alone), then the tables that the schema names, then pairs of attributes that
are chosen for how far they lie from what is already known, in the manner of AIM (McKenna, Mullins,
Sheldon and Miklau 2022) in a few rounds: first pairs that join attributes which nothing joins yet,
as MST does, then any, alone or by the class. One graphical model is fitted to all of it
(`estimate.graphical`); counts, tables, rows and class probabilities come from the model.

Protected: one record (or one person with a public cap on records), added or removed.

Spent by everybody, one after the other (sequential composition; nothing is divided):

| step                                                  | mechanism             | share          |
|-------------------------------------------------------|-----------------------|----------------|
| rows: how many records, for the rules                 | discrete Laplace      | 1%             |
| by_class: every attribute by the class                | Laplace or Gaussian   | 50 to 97% (1)  |
| single: every attribute alone                         | the same              | part of it (2) |
| fine: full cells of numbers again, in parts           | the same              | 8% (3)         |
| named: the tables that the schema names               | the same              | up to 40%      |
| relate: which pairs                                   | permute-and-flip, or  | 10% (3)        |
|                                                       | exponential           |                |
| pairs, second_pairs ... more_pairs: their tables      | as above              | the rest       |
| again: by_class once more                             | as above              | (4)            |

(1) Of what named tables leave: from 80% on with delta 0, without a class from 45% on, and with a
delta then from 30% on. (2) Without a class, or with very few records, all of it; with more than
four classes 40%; with few records and a delta 25%; else nothing, since classes add up. (3) Of what
is left after that, if there is room for pairs. (4) Only if no pair was chosen in a round after the
first, or in the only one.

With delta 0 noise is discrete Laplace; else all but the number of records is paid in zCDP, with
discrete Gaussian noise, and selections by the exponential mechanism. A table that a record is in
changes by 1 in one cell, so k tables that are paid together cost k times the rate of one
(`Curator.laplace`, `Curator.gaussian`). The score of a pair is the sum over its cells of |count -
expected|, less a public handicap: what Gaussian noise of a pair's deviation would make of it, with
delta 0 too. What is expected was drawn before, so a record moves a score by at most 1 up or down
and two scores apart by at most 2: `score_range` is 2.

Shares, cells and groups follow from epsilon, the schema and numbers drawn before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.counting.engine import TableCounts
from hedgerow.counting.parts import Engine
from hedgerow.counting.sealed import Sealed
from hedgerow.errors import UsageError
from hedgerow.estimate.graphical import MOST_MODEL, GraphicalModel, fit_model
from hedgerow.estimate.junction import JunctionTree
from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.tables import MOST_TABLE, ROUNDS, Cells, Tables, group_cells, ruled_apart
from hedgerow.methods.plan import Plan, divide_budget
from hedgerow.methods.publisher import (
    Outcome,
    Progress,
    Publisher,
    buy_rows,
    check_count,
    make_measurement,
    no_progress,
)
from hedgerow.privacy.budget import Budget, UnitBudget
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.ledger import Allowance, Ledger
from hedgerow.privacy.sampler import Candidates, Sampler
from hedgerow.schema import Categorical, Schema
from hedgerow.suggestions import answer_mistakes

UNITS, ROWS_UNITS = 100_000, 1_000
SCORE_RANGE = 2
MOST_PAIRS, MOST_RELATED = 1_000, 100
MOST_BY_CLASS = 1 << 22  # cells of all pairs by the class that are looked at
MOST_CELLS = 60_000  # of the cliques of the model: what a fit can bear
MANY_CLASSES = 4  # beyond, attributes are also counted alone
LITTLE = 10  # records for each deviation of the noise, below which the class is not looked at
MUCH = 100  # below it no pair pays, and with a delta attributes alone add to what classes tell
PARTS, MOST_PARTS = 16, 32  # of numbers
CLEAR = 6  # noisy deviations in an average cell, from which numbers are cut in more parts
PER_PAIR, PER_PAIR_RHO = 120, 80  # records for each deviation of a pair's noise
MOST_FOR_EACH = 2  # pairs for each attribute
A_ROUND = 2  # pairs at least in each round after the first, if there are several
GROUPING, FEWEST_GROUPS, MOST_GROUPS = 0.5, 3, 32
RARE = 2  # deviations of a pair's noise that make a category
LOOKED_AT, FEWEST_LOOKED_AT = 60_000, 20_000  # rows of the model, for what it expects of pairs
FINE, CHOOSING = 0.08, 0.1  # of what is not for every attribute
NAMED, MOST_NAMED = 0.1, 0.4
MOST_BASE = 0.97
COUNTED, FITTED = 0.1, 0.6  # of the time of a run, and of each round of choosing

Pair = tuple[int, int]
Columns = tuple[int, ...]
_ROOT = np.zeros(1, dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Shares:
    """What is spent on what, in units of the budget that pays for tables: a public rule.

    Args:
        counted: How many attributes are counted.
        parts: In how many parts numbers are cut.
        single: For every attribute alone.
        by_class: For every attribute by the class; 0 also where it takes what is left.
        fine: For full cells again.
        named: For each of the tables that the schema names.
        choice: For choosing one pair.
        pairs: How many pairs are chosen in each round; in the first those that join what nothing
            joins.
        paid: For the tables of each round; the last takes what is left, which is about that.
    """

    counted: int
    parts: int
    single: int
    by_class: int
    fine: int
    named: tuple[int, ...]
    choice: int
    pairs: tuple[int, ...]
    paid: tuple[int, ...]

    @property
    def rounds(self) -> tuple[str, ...]:
        """What the rounds are called: the last one, if not the first, has the last name."""
        number = len(self.pairs)
        return ROUNDS[:number] if number < 2 else (*ROUNDS[: number - 1], ROUNDS[-1])  # noqa: PLR2004

    def lines(self, budget: str) -> tuple[Allowance, ...]:
        """What may be charged, all of it to everybody; the last one drawn takes what is left."""
        every = self.counted + 1  # the class may be counted beside the attributes
        rounds = dict(zip(self.rounds, zip(self.paid, self.pairs, strict=True), strict=True))
        fixed = {
            "single": (self.single, every),
            "by_class": (self.by_class, every),
            "fine": (self.fine, every),
            **rounds,
        }
        last = self.rounds[-1] if self.pairs else "by_class" if self.by_class else "single"
        least, reach = fixed[last]
        lines = [
            Allowance(name, budget, units=(units,), uses=1, reach=reach)
            for name, (units, reach) in fixed.items()
            if units and name != last
        ]
        if self.named:
            uses = len(self.named)
            lines.append(Allowance("named", budget, units=None, uses=uses, least=min(self.named)))
        if self.pairs:
            lines.append(
                Allowance(
                    "relate", budget, units=(self.choice,), uses=sum(self.pairs),
                    reach=SCORE_RANGE, choice=True,
                )
            )  # fmt: skip
            lines.append(Allowance("again", budget, units=None, uses=1, reach=every, least=least))
        return (*lines, Allowance(last, budget, units=None, uses=1, reach=reach, least=least))


@answer_mistakes
@dataclass(frozen=True, kw_only=True)
class Marginals(Publisher):
    """Settings of Marginals.

    Args:
        schedule: "tuned": there is no other.
        pairs: How many pairs of attributes are counted; by default set by a public rule.

    Example:
        >>> from hedgerow import publish, sample
        >>> release = publish(sample.people(500), sample.schema(), Marginals(pairs=2), epsilon=10)
        >>> release.table("readmitted")["readmitted"].tolist()
        ['no', 'yes']
    """

    schedule: Literal["tuned"] = "tuned"
    pairs: int | None = None

    name: ClassVar[str] = "marginals"
    versions: ClassVar[Mapping[str, int]] = {"tuned": 1}
    measures_tables: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuses settings that cannot be meant."""
        super().__post_init__()
        check_count("pairs", self.pairs, MOST_PAIRS)

    def plan_for(self, schema: Schema, budget: Budget, rows: int | None = None) -> Plan:
        """See `Publisher.plan_for`."""
        budgets = divide_budget(budget, UNITS, UNITS - ROWS_UNITS)
        allowances: tuple[Allowance, ...] = (
            Allowance("rows", "epsilon", units=(ROWS_UNITS,), uses=1),
        )
        if rows is not None:
            shares = share_budget(schema, budgets.paying, rows, self.pairs)
            allowances += shares.lines(budgets.growth)
        return Plan(
            method=self.name, schedule="tuned", budget=budget, budgets=budgets,
            allowances=allowances, grows=False,
        )  # fmt: skip

    def check(self, schema: Schema, plan: Plan) -> None:
        """See `Publisher.check`: also refuses tables that no model could hold together."""
        super().check(schema, plan)
        cells = Cells.of(schema, MOST_PARTS)
        last = {cells.attributes} if cells.classes else set()
        named = [named_columns(schema, table) for table in schema.tables]
        alone = [(a, *last) for a in cells.counted]
        sets = [tuple({*one, *last}) for one in (*named, *ruled_columns(schema))]
        size = JunctionTree.of(cells.groups, [*sets, *alone]).cells
        largest = max((math.prod(cells.shape(one)) for one in (*named, *alone)), default=0)
        if largest > MOST_TABLE or size > MOST_MODEL // 2:
            raise UsageError(
                "What should be counted together has more cells than a model can hold.",
                hint="Name fewer tables and rules of the same columns, or columns of fewer values; "
                "a class may have bands.",
            )

    def chosen(self, schema: Schema, outcome: Outcome) -> dict[str, Any]:
        """See `Publisher.chosen`."""
        pairs = [one for m in outcome.measurements if m.name.endswith("pairs") for one in m.tables]
        return {"pairs": len(pairs)}

    @answer_mistakes
    def run(
        self,
        engine: Engine,
        schema: Schema,
        plan: Plan,
        sampler: Sampler,
        progress: Progress = no_progress,
    ) -> Outcome:
        """Counts, chooses, counts what was chosen: see `Publisher.run`."""
        ledger = Ledger(plan.budgets.parts)
        curator = Curator(ledger, sampler)
        ledger.allow(plan.allowances[:1])
        rows, noisy_rows = buy_rows(curator, engine)
        plan = self.plan_for(schema, plan.budget, noisy_rows)
        ledger.allow(plan.allowances[1:])
        shares = share_budget(schema, plan.budgets.paying, noisy_rows, self.pairs)
        cells = Cells.of(schema, shares.parts)
        bought = [rows]

        # count
        progress(0, "counting attributes")
        if shares.named:  # first: what counts attributes may take all that is left
            bought.append(buy_named(curator, engine, schema, cells, shares.named))
        base = base_tables(cells, shares)
        for purpose, tables in base.items():
            bought.append(buy_tables(curator, engine, purpose, tables, cells))
        if shares.fine:
            fine = buy_fine(curator, engine, Tables.of(schema, cells, bought))
            bought += [] if fine is None else [fine]

        # choose, and count what was chosen
        if shares.pairs:
            cells = choose_groups(Tables.of(schema, cells, bought), curator, shares)
            by_class = len(shares.pairs) > 1 and shares.by_class > 0
            pairs = PairCounts.of(engine, cells, by_class=by_class)
        model = None
        each = (1 - COUNTED) / max(1, len(shares.pairs))
        for place, (purpose, number) in enumerate(zip(shares.rounds, shares.pairs, strict=True)):
            begun = COUNTED + each * place
            fitted = partial(_tell_fit, progress, begun, FITTED * each)
            model = fit_model(Tables.of(schema, cells, bought), model, fitted)
            progress(begun + FITTED * each, "choosing pairs of attributes")
            noise = deviation_of(curator, shares)
            chosen = choose_pairs(curator, pairs, model, number, noise, further=place > 0)
            if chosen:
                exact = [(pairs.counts(chosen), None)]
                bought.append(_buy(curator, purpose, exact, chosen, len(chosen)))
            elif place or len(shares.pairs) == 1:
                bought.append(buy_tables(curator, engine, "again", [*base.values()][-1], cells))
                break
        return Outcome(
            plan=plan, partition=cells, measurements=tuple(bought), ledger=ledger, published=_ROOT,
            kind="marginals",
        )  # fmt: skip


def _tell_fit(progress: Progress, begun: float, part: float, share: float) -> None:
    """Tells how far a fit is, which takes a part of the run from where it was begun."""
    progress(begun + part * share, "fitting the model")


def share_budget(
    schema: Schema, paying: UnitBudget, rows: int, by_hand: int | None = None
) -> Shares:
    """Shares out the budget that pays for tables.

    Args:
        schema: The public schema.
        paying: The budget: epsilon, or rho with a delta.
        rows: The noisy number of rows.
        by_hand: The number of pairs, if it was set by hand.

    Example:
        >>> from fractions import Fraction
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "ill": {"type": "boolean", "role": "class"}, "home": {"type": "boolean"},
        ...     "age": {"type": "numeric", "low": 0, "high": 99, "step": 1}}})
        >>> share_budget(schema, UnitBudget("epsilon", Fraction(1, 100_000), 100_000), 30_000).pairs
        (1,)
    """
    pure = paying.name == "epsilon"
    units = paying.units - (ROWS_UNITS if pure else 0)
    amount = float(paying.unit) * units
    counted = max(1, sum(one.size > 1 for one in schema.attributes))
    classes = len(schema.classes)
    numbers = any(not isinstance(one, Categorical) for one in schema.attributes)

    def deviation(share: float, tables: int) -> float:
        """Of the noise on tables that are paid together from a share of the budget."""
        if pure:
            return math.sqrt(2) * tables / (amount * share)
        return math.sqrt(tables / (2 * amount * share))

    all_named, named = _share_named(schema, units)
    open_ = 1 - all_named
    strength = rows / deviation(open_, counted)
    base = open_ * _base_share(strength, pure, classes)
    fine = FINE * (open_ - base) * numbers
    choosing = CHOOSING * (open_ - base)
    room = open_ - base - choosing - fine
    most = min(MOST_FOR_EACH * (counted - 1), counted * (counted - 1) // 2)
    if by_hand is not None:
        pairs = min(by_hand, most)
    elif pure:
        pairs = min(most, int(amount * room * rows / (math.sqrt(2) * PER_PAIR)))
    else:
        pairs = min(most, int(2 * amount * room * (rows / PER_PAIR_RHO) ** 2))
    pairs = min(pairs, int(units * choosing))  # or there were no unit for each choice
    if not pairs:
        base = open_
    if not classes or strength < LITTLE:
        alone = base
    elif classes > MANY_CLASSES:
        alone = 0.4 * base
    else:  # in zCDP what counts a thing twice adds up; in epsilon half of the budget is lost by it
        alone = 0.25 * base if strength < MUCH and not pure else 0.0
    by_class = base - alone
    parts = PARTS
    while parts < MOST_PARTS and rows > 2 * parts * CLEAR * deviation(by_class or alone, counted):
        parts *= 2
    first = min(pairs, counted - 1)
    more = pairs - first
    rounds = max(1, min(len(ROUNDS) - 1, more // A_ROUND))
    each = [more * (i + 1) // rounds - more * i // rounds for i in range(rounds)]
    number = tuple(n for n in (first, *each) if n)
    return Shares(
        counted=counted,
        parts=parts,
        single=int(units * alone),
        by_class=int(units * by_class),
        fine=int(units * fine) if pairs else 0,
        named=named,
        choice=int(units * choosing / pairs) if pairs else 0,
        pairs=number,
        paid=tuple(int(units * room * n / pairs) for n in number),
    )


def _share_named(schema: Schema, units: int) -> tuple[float, tuple[int, ...]]:
    """What the tables that the schema names get: a share of all units, and the units of each."""
    weights = [table.weight for table in schema.tables]
    share = min(MOST_NAMED, NAMED * len(weights))
    total = sum(weights)
    return share, tuple(max(1, int(units * share * weight / total)) for weight in weights)


def _base_share(strength: float, pure: bool, classes: int) -> float:
    """The share of what counts every attribute: where records are few, it is all that pays.

    Args:
        strength: Records for each deviation of the noise, were all spent on them.
        pure: Whether delta is 0: shares then cost more.
        classes: How many classes there are; without any, attributes alone need less.
    """
    low, high = (150, 1500) if pure else (100, 1000)
    least = (0.8 if pure else 0.5) if classes else (0.45 if pure else 0.3)
    far = math.log(max(strength, 1e-9) / low) / math.log(high / low)
    return MOST_BASE + (least - MOST_BASE) * min(1.0, max(0.0, far))


def base_tables(cells: Cells, shares: Shares) -> dict[str, list[tuple[int, ...]]]:
    """The tables of every attribute that are counted, by what pays for them."""
    counted, last = cells.counted or (0,), cells.attributes
    tables: dict[str, list[tuple[int, ...]]] = {}
    if shares.single:
        tables["single"] = [(a,) for a in counted]
        if cells.classes and not shares.by_class:
            tables["single"].append((last,))
    if shares.by_class:
        tables["by_class"] = [(a, last) for a in counted]
    return tables


def count_tables(
    engine: Engine, tables: Sequence[tuple[int, ...]], cells: Cells, *, grouped: bool = False
) -> Sealed[Ints]:
    """The exact cells, or groups, of some tables, one table after the other."""
    columns = sorted({column for table in tables for column in table})
    return engine.sums(TableCounts(tuple(tables), cells.parts(columns, grouped=grouped)))


def buy_tables(
    curator: Curator, engine: Engine, purpose: str, tables: Sequence[tuple[int, ...]], cells: Cells
) -> Measurement:
    """Counts tables that are paid together, in cells."""
    exact = count_tables(engine, tables, cells)
    return _buy(curator, purpose, [(exact, None)], tables, len(tables))


def buy_named(
    curator: Curator, engine: Engine, schema: Schema, cells: Cells, units: Sequence[int]
) -> Measurement:
    """Counts the tables that the schema names, each at its own price."""
    tables = [named_columns(schema, table) for table in schema.tables]
    drawn = [
        (count_tables(engine, [table], cells), np.array([paid], np.int64))
        for table, paid in zip(tables, units, strict=True)
    ]
    return _buy(curator, "named", drawn, tables, 1)


def named_columns(schema: Schema, table: Any) -> tuple[int, ...]:
    """The columns of a table that a schema names; the class comes after the attributes."""
    return tuple(len(schema.attributes) if place < 0 else place for place in table.places)


def ruled_columns(schema: Schema) -> list[tuple[int, ...]]:
    """The columns that rules of a schema are about, together in any model."""
    last = (len(schema.attributes),)
    return [
        (*(place for place, _ in query.where), *(last if query.classes is not None else ()))
        for rule in schema.rules
        for query in rule.impossible
    ]


def buy_fine(curator: Curator, engine: Engine, tables: Tables) -> Measurement | None:
    """Counts the full cells of numbers in parts; None if there are none.

    A record lies in one cell of an attribute at most, so it is counted once for each attribute.
    """
    full = tables.recounted()
    if not full:
        return None
    parts: dict[int, Ints] = {}
    for a in sorted({a for a, _ in full}):
        edges, number = tables.cells.edges[a], 0
        part = np.full(int(edges[-1]), -1, np.int64)
        for cell in (cell for place, cell in full if place == a):
            inside = tables.parts_of(a, cell)
            which = np.repeat(np.arange(len(inside) - 1), np.diff(inside))
            part[inside[0] : inside[-1]] = number + which
            number += len(inside) - 1
        parts[a] = part
    exact = engine.sums(TableCounts(tuple((a,) for a in parts), parts))
    return _buy(curator, "fine", [(exact, None)], (), len(parts))


def _buy(
    curator: Curator,
    purpose: str,
    exact: Sequence[tuple[Sealed[Ints], Ints | None]],
    tables: Sequence[tuple[int, ...]],
    numbers: int,
) -> Measurement:
    """Draws numbers of everybody, of which a record changes some by one in each draw."""
    bought, taken = [], 0
    for counts, price in exact:
        row = counts.map(lambda flat: flat[None, :])
        values, units = curator.noisy(purpose, 0, _ROOT, row, price, max_contribution=numbers)
        places = taken + np.arange(values.shape[1])
        bought.append((places, values.T, np.repeat(units, values.shape[1])))
        taken += values.shape[1]
    drawn = make_measurement(curator, purpose, "cell", bought, max_contribution=numbers)
    return replace(drawn, tables=tuple(tables))


def deviation_of(curator: Curator, shares: Shares) -> float:
    """The deviation, about, of the noise on the pairs that are counted last."""
    purpose = shares.rounds[-1]
    rate = float(curator.noise_rate(purpose, max(1, shares.paid[-1]), shares.pairs[-1]))
    return math.sqrt(2) / rate if curator.law(purpose) == "laplace" else 1 / math.sqrt(rate)


def choose_groups(tables: Tables, curator: Curator, shares: Shares) -> Cells:
    """Puts cells into groups in which pairs are counted: the fewer, the more noise there is.

    What the schema names stays whole, and no group joins what a rule tells apart.
    """
    noise = deviation_of(curator, shares)
    number = max(0, round(tables.totals[0][0]))
    groups = round(GROUPING * math.sqrt(number / noise))
    groups = min(MOST_GROUPS, max(FEWEST_GROUPS, groups))
    cells = tables.cells
    whole = {c for t in tables.schema.tables for c in named_columns(tables.schema, t)}
    apart = ruled_apart(tables.schema, cells)
    gathered = []
    for a, attribute in enumerate(tables.schema.attributes):
        counts = tables.deciding.get(a)
        if counts is None or a in whole:
            gathered.append(cells.group[a])
        else:
            gathered.append(group_cells(attribute, counts, groups, round(RARE * noise), apart[a]))
    return replace(cells, group=tuple(gathered))


@dataclass(frozen=True, eq=False)
class PairCounts:
    """The exact tables of pairs of attributes that may be chosen: one pass over the data.

    Args:
        tables: Pairs, of which the later attribute comes first, then pairs by the class.
        start: Where the cells of each begin; one more than there are tables.
        exact: The cells, one table after the other.
    """

    tables: tuple[Columns, ...]
    start: Ints
    exact: Sealed[Ints]

    @staticmethod
    def of(engine: Engine, cells: Cells, *, by_class: bool) -> PairCounts:
        """Counts them, in groups; by the class too, if that is wanted and there is room."""
        related = [a for a in cells.counted if cells.groups[a] > 1][:MOST_RELATED]
        pairs: list[Columns] = [(a, b) for a in related for b in related if b < a]
        sizes = [cells.groups[a] * cells.groups[b] for a, b in pairs]
        if not by_class or sum(sizes) * cells.classes > MOST_BY_CLASS:
            exact = count_tables(engine, pairs, cells, grouped=True)
        else:
            classed = [(*pair, cells.attributes) for pair in pairs]
            exact = count_tables(engine, classed, cells, grouped=True)
            exact = exact.map(partial(_with_sums, classes=cells.classes))
            pairs, sizes = pairs + classed, sizes + [size * cells.classes for size in sizes]
        return PairCounts(tuple(pairs), np.cumsum([0, *sizes]).astype(np.int64), exact)

    def counts(self, tables: Sequence[Columns]) -> Sealed[Ints]:
        """The cells of some tables, one table after the other."""
        number = {table: place for place, table in enumerate(self.tables)}
        parts = [np.arange(*self.start[[number[t], number[t] + 1]]) for t in tables]
        places = np.concatenate([np.empty(0, np.int64), *parts])
        return self.exact.map(partial(np.take, indices=places))


def _with_sums(flat: Ints, classes: int) -> Ints:
    """Tables by the class, and before them what they make over all classes."""
    return np.concatenate([flat.reshape(-1, classes).sum(axis=1), flat])


def choose_pairs(
    curator: Curator,
    pairs: PairCounts,
    model: GraphicalModel,
    number: int,
    noise: float,
    *,
    further: bool,
) -> list[Columns]:
    """Chooses pairs for how far they lie from what the model expects of them.

    While attributes are not all joined, only pairs that join some; "nothing" is always a candidate
    and ends the buying. A pair that would make the model too large is none.

    Args:
        curator: Who charges and draws.
        pairs: The private data.
        model: What is known.
        number: How many pairs there may be.
        noise: The deviation of the noise that their cells will have.
        further: Whether this is a round after the first. Then pairs may be counted by the class,
            those of the first round too.
    """
    cells, known = model.tables.cells, {t.columns for t in model.tables.tables if t.grouped}
    again = {t.columns[:2] for t in model.tables.tables if t.grouped and t.kind != ROUNDS[0]}
    open_ = [
        one
        for one in pairs.tables
        if one not in known and one[:2] not in again and (further or len(one) == 2)  # noqa: PLR2004
    ]
    if not open_:
        return []
    exact = pairs.counts(open_)
    expected = expected_groups(model, open_)
    starts = np.cumsum([0, *(math.prod(cells.groups[c] for c in one) for one in open_)])
    # what noise would make of a table that is as expected
    handicap = (np.diff(starts) * noise * math.sqrt(2 / math.pi)).astype(np.int64)
    scores = exact.map(partial(_scores, expected=expected, starts=starts[:-1], handicap=handicap))
    place = {one: index for index, one in enumerate(open_)}
    named = [t.columns for t in model.tables.tables if t.kind == "named"]
    joined = Joined.of(cells, [*known, *named], ruled_columns(model.tables.schema))
    chosen: list[Columns] = []
    for _ in range(number):
        taken = {one[:2] for one in chosen}
        left = [one for one in open_ if one[:2] not in taken]
        fits = {*joined.allowed([*dict.fromkeys((one[0], one[1]) for one in left)])}
        allowed = [one for one in left if one[:2] in fits]
        if not allowed:
            break
        places = np.array([place[one] for one in allowed])
        scored = scores.map(partial(_candidates, places))
        drawn = curator.select("relate", 0, _ROOT, scored, score_range=SCORE_RANGE, flip=True)
        if int(drawn.part[0]) == len(allowed):
            break
        one = allowed[int(drawn.part[0])]
        chosen.append(one)
        joined = replace(joined, sets=(*joined.sets, one[:2]))
    return chosen


def expected_groups(model: GraphicalModel, tables: Sequence[Columns]) -> Ints:
    """How many records the model expects in the groups of tables, one table after the other."""
    rows = int(min(LOOKED_AT, max(FEWEST_LOOKED_AT, 10 * model.tables.number)))
    columns = {column for table in tables for column in table}
    groups = {column: np.arange(model.tables.cells.groups[column]) for column in columns}
    counts = TableCounts(tuple(tables), groups)
    expected = np.zeros(counts.room, np.int64)
    counts.add(np.stack(model.draw_groups(rows, seed=1), axis=1), expected)
    return np.asarray(np.rint(expected * (model.tables.number / rows)), np.int64)


def _scores(exact: Ints, *, expected: Ints, starts: Ints, handicap: Ints) -> Ints:
    """How far each pair lies from what is expected, less a public handicap."""
    return np.asarray(np.add.reduceat(np.abs(exact - expected), starts) - handicap, np.int64)


def _candidates(places: Ints, scores: Ints) -> Candidates:
    """Some pairs with their scores, and "nothing" after them, whose score is always 0."""
    scores = np.append(scores[places], 0).astype(np.int64)
    number = len(scores)
    return Candidates(
        start=np.array([0, number]),
        score=scores,
        weight=np.ones(number, dtype=np.int64),
        count=np.ones(number, dtype=np.int64),
        part=np.arange(number),
        first=np.full(number, -1),
    )


@dataclass(frozen=True, eq=False)
class Joined:
    """Which attributes hang together, and how large a model of that is."""

    cells: Cells
    sets: tuple[tuple[int, ...], ...]
    ruled: tuple[tuple[int, ...], ...]

    @staticmethod
    def of(
        cells: Cells, sets: Sequence[tuple[int, ...]], ruled: Sequence[tuple[int, ...]]
    ) -> Joined:
        """What tables join, and rules beside; the class, if there is one, is by every attribute."""
        of_attributes = [
            tuple(tuple(c for c in one if c != cells.attributes) for one in each)
            for each in (sets, ruled)
        ]
        return Joined(cells, *of_attributes)

    def allowed(self, pairs: Sequence[Pair]) -> list[Pair]:
        """The pairs that may be chosen next: public facts and earlier choices decide."""
        part = list(range(self.cells.attributes))
        for one in self.sets:
            low = min(part[c] for c in one)
            old = {part[c] for c in one}
            part = [low if p in old else p for p in part]
        joining = [(a, b) for a, b in pairs if part[a] != part[b]]
        times = max(1, self.cells.classes)
        sizes = self.cells.groups[: self.cells.attributes]
        singles = [(a,) for a in range(self.cells.attributes)]
        tree = JunctionTree.of(sizes, [*self.sets, *self.ruled, *singles])
        room = MOST_CELLS / times - tree.cells
        fits = tree.growth([*(joining or pairs)])
        return [pair for pair, cost in zip(joining or pairs, fits, strict=True) if cost <= room]
