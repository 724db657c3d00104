"""Plans are made before any data is seen, and what they grant adds up."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from hedgerow.errors import UsageError
from hedgerow.methods.cdiffgen import CDiffGen
from hedgerow.methods.diffgen import DiffGen
from hedgerow.methods.diffmulti import DiffMulti
from hedgerow.methods.marginals import Marginals
from hedgerow.methods.plan import (
    Budgets,
    Plan,
    RowsPlan,
    divide_budget,
    half_of,
    largest_tree,
    levels,
)
from hedgerow.methods.publisher import Publisher
from hedgerow.methods.scores import SCORES
from hedgerow.privacy.budget import Budget, UnitBudget, choice_rate, epsilon_of_rho, noise_rate
from hedgerow.privacy.ledger import Allowance
from hedgerow.schema import Schema


def schema(**extra: object) -> Schema:
    return Schema.from_dict(
        {
            "name": "people",
            "unit": "person" if "who" in extra else "row",
            "attributes": {
                "age": {"type": "numeric", "low": 0, "high": 99, "step": 1},
                "pay": {"type": "numeric", "low": 0, "high": 999, "step": 1},
                "job": {"type": "categorical", "taxonomy": {"L": ["a", "b"], "R": ["c", "d"]}},
                "ill": {"type": "boolean", "role": "class"},
                **extra,
            },
        }
    )


METHODS: dict[str, Publisher] = {
    "multi": DiffMulti(specializations=50, depth=8),
    "multi even": DiffMulti(specializations=50, depth=8, distribution="even"),
    "multi one": DiffMulti(specializations=1, depth=1),
    "multi deepest": DiffMulti(specializations=10**7, depth=1000),
    "multi paper": DiffMulti(schedule="paper"),
    "multi paper even": DiffMulti(schedule="paper", depth=5, distribution="even"),
    "multi paper one": DiffMulti(schedule="paper", depth=1),
    "gen": DiffGen(specializations=9),
    "gen most": DiffGen(specializations=10_000),
    "gen paper": DiffGen(schedule="paper"),
    "gen paper one": DiffGen(schedule="paper", specializations=1),
}


def costs(plan: Plan) -> dict[str, int]:
    """The most that one path can be charged in each budget by lines of fixed price."""
    total = {budget.name: 0 for budget in plan.budgets.parts}
    for line in plan.allowances:
        if line.units is not None:
            total[line.budget] += sum(line.at(depth) or 0 for depth in range(line.uses))
    return total


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_the_longest_path_leaves_something_for_its_leaf(name: str, delta: str) -> None:
    plan = METHODS[name].plan(schema(), "0.7", delta)
    budgets = {budget.name: budget for budget in plan.budgets.parts}
    for budget, units in costs(plan).items():
        assert units <= budgets[budget].units
    lines = {line.purpose: line for line in plan.allowances}
    assert lines.keys() >= {"leaf", "select"}
    if "gen paper" in name:  # the paper gives half of the budget to the leaves, whatever is left
        assert lines["leaf"].units == (half_of(plan.budgets),)
        left = half_of(plan.budgets)
    else:
        left = budgets["epsilon"].units - costs(plan)["epsilon"]
    leaf = budgets["epsilon"].unit * left
    assert leaf >= Fraction("0.7") / 4
    if "gen paper" in name or ("paper" in name and delta != "0"):
        assert leaf == Fraction("0.7") / 2
    elif "paper" in name:  # or what the longest path leaves of the other half
        assert Fraction("0.7") / 2 < leaf < Fraction("0.7")


def test_the_largest_tree_is_equation_14_in_its_best_order() -> None:
    """By hand on one schema, and on others against all orders of the attributes."""
    kinds = {
        "flat": {"type": "categorical", "values": ["r", "s", "t"]},  # 3 leaves, 1 inner node
        "deep": {"type": "categorical", "taxonomy": {"L": ["a", "b"], "R": {"S": ["c", "d"],
                 "T": ["e", "f", "g"]}}},  # 7 leaves, 5 inner nodes
        "n": {"type": "numeric", "low": 0, "high": 4, "step": 1},  # 5 leaves, 4 cuts
        "one": {"type": "categorical", "values": ["only"]},
        "never": {"type": "categorical", "values": ["u", "v"], "split": "never"},
    }  # fmt: skip
    sizes = {"flat": (3, 1), "deep": (7, 5), "n": (5, 4), "one": (1, 0), "never": (1, 0)}

    def equation(order: tuple[str, ...]) -> int:
        regions = most = 0
        for name in order:
            leaves, inner = sizes[name]
            most, regions = most + max(regions, 1) * inner, max(regions, 1) * leaves
        return most

    for number in (1, 2, 3, 5):
        for names in itertools.combinations(kinds, number):
            document = {"name": "s", "unit": "row", "attributes": {n: kinds[n] for n in names}}
            found = largest_tree(Schema.from_dict(document))
            assert found == max(map(equation, itertools.permutations(names)))
    assert equation(("flat", "deep", "n")) == 1 + 3 * 5 + 21 * 4
    plan = DiffMulti().plan(Schema.from_dict({"name": "s", "unit": "row", "attributes": kinds}), 1)
    assert plan.largest is not None and " 100 specializations" in plan.largest


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("rows", [1, 7])
@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_the_pots_hold_the_budget_of_one_row(name: str, rows: int, delta: str) -> None:
    made = schema(who={"role": "person", "max_rows": rows}) if rows > 1 else schema()
    plan = METHODS[name].plan(made, "1/3", delta)
    assert plan.budget.rows == rows
    budgets = {budget.name: budget.total for budget in plan.budgets.parts}
    share = Fraction(1, 3) / rows
    if delta == "0":
        assert budgets == {"epsilon": share}
        assert plan.accounting == "pure"
    else:
        assert budgets["epsilon"] + epsilon_of_rho(budgets["rho"], plan.budget.row_delta) <= share
        assert float(epsilon_of_rho(budgets["rho"], plan.budget.row_delta)) == pytest.approx(
            float(share - budgets["epsilon"]), rel=1e-6
        )
        assert plan.accounting == "zcdp"


@pytest.mark.parametrize("make", [DiffMulti, DiffGen])
def test_a_rule_waits_for_the_noisy_number_of_rows(make: Callable[[], Publisher]) -> None:
    waiting = make().plan(schema(), 1)
    assert [line.purpose for line in waiting.allowances] == ["rows"]
    assert waiting.specializations is None
    assert any("noisy number of rows" in cost for *_, cost in waiting.lines())
    guessed = make().plan(schema(), 1, rows=30_000)
    assert guessed.specializations
    assert guessed.depth
    assert guessed.allowances[0] == waiting.allowances[0]
    assert guessed.budgets == waiting.budgets


@pytest.mark.parametrize("name", METHODS)
def test_a_plan_can_be_told_to_people_and_machines(name: str) -> None:
    plan = METHODS[name].plan(schema(), "0.5", "1e-6")
    assert json.loads(json.dumps(plan.to_dict()))["epsilon"] == "1/2"
    assert all(all(words) for words in plan.lines())
    assert len(plan.lines()) >= len(plan.allowances)


@pytest.mark.parametrize(
    "make",
    [
        lambda: DiffMulti(score="best"),
        lambda: DiffMulti(schedule="fast"),  # type: ignore[arg-type]
        lambda: DiffMulti(distribution="odd"),  # type: ignore[arg-type]
        lambda: DiffMulti(specializations=0),
        lambda: DiffMulti(specializations=-3),
        lambda: DiffMulti(specializations=1.5),  # type: ignore[arg-type]
        lambda: DiffMulti(specializations=True),
        lambda: DiffMulti(depth=0),
        lambda: DiffMulti(depth=10**9),
        lambda: DiffGen(specializations=0),
        lambda: DiffGen(specializations=10**9),
        lambda: DiffGen(max_cells=0),
        lambda: DiffGen(max_cells=2**62),
        lambda: DiffGen(score=""),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(make: Callable[[], Publisher]) -> None:
    with pytest.raises(UsageError) as caught:
        make()
    assert caught.value.hint


@pytest.mark.parametrize("score", ["max", "gini"])
def test_a_score_of_classes_needs_a_class(score: str) -> None:
    plain = Schema.from_dict(
        {"name": "s", "unit": "row", "attributes": {"a": {"type": "numeric", "low": 0, "high": 9}}}
    )
    with pytest.raises(UsageError, match="needs a class"):
        DiffMulti(score=score).plan(plain, 1)
    with pytest.raises(UsageError, match="needs a class"):
        DiffGen(score=score).plan(plain, 1)
    assert DiffMulti().plan(plain, 1)  # ncp, by default


def test_a_delta_needs_an_epsilon_that_buys_something() -> None:
    with pytest.raises(UsageError, match="too small to be used with a delta"):
        divide_budget(Budget(Fraction(1, 10**6), Fraction(1, 10**9)), 100_000, 70_000)
    assert divide_budget(Budget(Fraction(1, 10**6)), 100_000, 70_000).growth == "epsilon"
    assert (
        divide_budget(Budget(Fraction(1, 1000), Fraction(1, 10**9)), 100_000, 70_000).growth
        == "rho"
    )


def test_levels_share_equally_and_never_more_than_there_is() -> None:
    for units, depth in ((63_000, 13), (7, 9), (5, 0), (0, 4)):
        shared = levels(units, depth)
        assert sum(shared) <= units
        assert len(shared) == max(1, depth)


def test_shares_too_small_to_draw_with_are_refused_before_anything_is_spent():
    method = DiffGen(score="infogain", specializations=10_000)
    with pytest.raises(UsageError, match="too small"):
        method.plan(schema(), "0.000001")


def test_units_too_fine_for_the_samplers_are_refused_before_anything_is_spent():
    person = {"who": {"role": "person", "max_rows": 997}}
    method = CDiffGen(schedule="paper", specializations=300)
    with pytest.raises(UsageError, match="so finely"):
        method.plan(schema(**person), "0.999983")


def test_a_tree_with_too_many_counts_is_refused():
    classes = {"kind": {"type": "categorical", "values": [str(k) for k in range(1000)]}}
    many = schema(ill={**classes["kind"], "role": "class"})
    with pytest.raises(UsageError, match="can be counted"):
        CDiffGen().plan(many, 1)


@pytest.mark.parametrize("score", sorted(SCORES))
def test_rates_are_checked_for_every_span_that_is_paid(score: str) -> None:
    """Selections pay for twice a sensitivity, or for the range across regions; none pays more."""
    known = SCORES[score]
    for method in (DiffGen(score=score), DiffGen(score=score, schedule="paper")):
        lines = method.plan(schema(), 1, rows=1000).allowances
        reach = {line.reach for line in lines if line.purpose in ("cut", "select")}
        assert reach == {2 * max(known.sensitivity, known.score_range_apart)}
        assert all(line.choice == (line.purpose in ("cut", "select")) for line in lines)


def test_a_price_of_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A level that would get no unit at all: nothing is drawn for 0."""
    monkeypatch.setattr("hedgerow.methods.diffmulti.ALLOCATE_UNITS", 998)
    with pytest.raises(UsageError, match="'allocate'"):
        DiffMulti(depth=1000, specializations=5000).plan(schema(), 1)


BUDGET = Budget(Fraction(3, 2), Fraction(1, 10**6), 3)


def plan(side: int, mode: str = "noisy", rows: int = 3) -> RowsPlan:
    rule = {"rate": "1/2", "threshold": 9, "sampling_rate": "1/5"}
    budget = Budget(BUDGET.epsilon, BUDGET.delta, rows)
    return RowsPlan.of("supermodular", mode, budget, side, rule)


@pytest.mark.parametrize("side", [1, 30, 99])
def test_a_side_table_is_pure_and_takes_its_share(side: int) -> None:
    made = plan(side)
    assert made.side_budget() == Budget(Fraction(3, 2) * side / 100, Fraction(0), 3)
    assert [(line.purpose, line.units, line.uses) for line in made.allowances] == [
        ("side", (side,), 1), ("cells", (100 - side,), 1),
    ]  # fmt: skip
    assert made.budgets.paying.total == BUDGET.row_epsilon
    assert made.accounting == "suppression"
    assert not made.grows


def test_a_public_side_table_costs_nothing() -> None:
    assert [(line.purpose, line.units) for line in plan(0).allowances] == [("cells", (100,))]


def test_words() -> None:
    assert "at least 9" in plan(0).in_words()
    assert "Each row" in plan(0, "sampled").in_words()
    assert "Each person" in plan(0, "sampled", rows=1).in_words()


def test_what_buys_no_draw_is_refused_by_what_would_be_drawn() -> None:
    """A choice can be made for far less rho than a count: its rate is a root of it."""
    plan = DiffMulti(specializations=1, depth=1).plan(schema(), 1, "1e-6")

    def refused(choice: bool, power: int) -> bool:
        rho = UnitBudget("rho", Fraction(1, 10**power), 1)
        line = Allowance("any", "rho", units=(1,), uses=1, reach=3, choice=choice)
        few = replace(plan, budgets=Budgets((rho,), "rho"), allowances=(line,))
        try:
            few.check_rates()
        except UsageError as error:
            return "what one use of 'any' would get" in error.message
        return False

    first = {}
    for choice, rate in ((True, choice_rate), (False, noise_rate)):
        powers = range(5, 45)
        first[choice] = next(power for power in powers if refused(choice, power))
        for power in powers:
            assert refused(choice, power) == (not rate("rho", Fraction(1, 10**power), 3))
    assert first[False] < 20 < first[True]


@pytest.mark.parametrize(
    "numbers, size, words",
    [(1, 100, " 99 spec"), (3, 1000, " 999,999,999 spec"), (3, 1100, "about 10^9 "),
     (4, 1000, "about 10^11 "), (5, 1000, "about 10^14 ")],
)  # fmt: skip
def test_long_numbers_of_specializations_are_told_by_their_length(
    numbers: int, size: int, words: str
) -> None:
    named = {f"n{i}": {"type": "numeric", "low": 0, "high": size - 1} for i in range(numbers)}
    made = Schema.from_dict({"name": "s", "unit": "row", "attributes": named})
    assert words in str(DiffMulti().plan(made, 1).largest)


def test_what_a_line_takes_of_the_rest_is_what_others_leave_of_its_budget() -> None:
    plan = Marginals().plan_for(schema(), Budget.of(1, "1e-6"), 100)
    (line,) = (one for one in plan.allowances if one.units is None)
    others = [one.units for one in plan.allowances if one is not line and one.budget == line.budget]
    whole = plan.budgets.named[line.budget].units
    assert plan._rest(line) == (whole - sum(units[0] for units in others if units),)
    assert {one.budget for one in plan.allowances} == {"epsilon", "rho"}  # the other pays nothing


def test_lines_that_are_paid_more_than_once_say_where() -> None:
    plan = DiffMulti(specializations=6, depth=2).plan(schema(), 1)
    often = {times for _, times, _ in plan.lines() if times != "once"}
    assert "at most 2 times on a path" in often
    assert all(times.endswith(" on a path") for times in often)
