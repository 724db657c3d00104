"""What Marginals makes of random schemas and rules, and where its estimates lie."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow import sample
from hedgerow.audit.neighbors import Pick, picker
from hedgerow.data import read
from hedgerow.errors import HedgerowError
from hedgerow.evaluation import exact_counts
from hedgerow.methods import marginals
from hedgerow.methods.marginals import Marginals, share_budget
from hedgerow.privacy.budget import UnitBudget
from hedgerow.schema import Query, Schema

ROWS = 1500


def _condition(pick: Pick, name: str, column: dict[str, Any]) -> str:
    if column["type"] == "numeric":
        low, high = column["low"], column["high"]
        bound = pick(low + 1, high)
        return f"{name} < {bound}" if pick(0, 1) else f"{name} >= {bound}"
    values = column["values"]
    return f"{name} = {values[pick(0, len(values) - 1)]}"


def random_world(seed: int) -> tuple[Schema, pa.Table]:
    """A schema with rules that leave a record, and rows of which some break them."""
    pick, random = picker(seed), np.random.default_rng(seed)
    columns: dict[str, dict[str, Any]] = {}
    data: dict[str, list[Any]] = {}
    hidden = random.integers(0, 3, ROWS)
    for name in "abcde"[: pick(2, 5)]:
        if pick(0, 1):
            low = pick(-40, 3)
            high = low + pick(2, 300)
            columns[name] = {"type": "numeric", "low": low, "high": high}
            if pick(0, 1):
                columns[name]["missing"] = "other"
            spread = random.exponential(1 + hidden * (high - low) / 12)
            data[name] = np.minimum(high, low + spread.astype(int)).tolist()
        else:
            values = [f"{name}{number}" for number in range(pick(2, 7))]
            columns[name] = {"type": "categorical", "values": values}
            codes = (hidden + (random.random(ROWS) < 0.4) * random.integers(0, 9, ROWS)) % 7
            data[name] = [values[code % len(values)] for code in codes]
    if kind := pick(0, 2):
        values = [f"k{number}" for number in range((0, 2, 6)[kind])]
        columns["k"] = {"type": "categorical", "values": values, "role": "class"}
        data["k"] = [values[code % len(values)] for code in hidden]
    rules: list[str] = []
    for _ in range(pick(1, 4)):
        names = random.permutation([*columns])[: pick(2, 3)].tolist()
        given = [_condition(pick, name, columns[name]) for name in names]
        text = f"{' and '.join(given[:-1])} implies {given[-1]}"
        rule = text if pick(0, 1) else f"not ({' and '.join(given)})"
        document = {"name": "any", "unit": "row", "attributes": columns, "rules": [*rules, rule]}
        try:
            Schema.from_dict(document)
        except HedgerowError:  # it forbids nothing, or everything
            continue
        rules.append(rule)
    document = {"name": "any", "unit": "row", "attributes": columns, "rules": rules}
    return Schema.from_dict(document), pa.table(data)


WORLDS = range(12)  # each budget, delta and number of pairs twice


@pytest.mark.slow
@pytest.mark.parametrize("seed", WORLDS)
def test_no_count_row_or_probability_breaks_a_rule(seed: int) -> None:
    """Whatever the raw rows do; and what rules leave is still counted."""
    schema, rows = random_world(seed)
    epsilon, delta = ("0.05", "1", "10")[seed % 3], (0, "1e-6")[seed // 3 % 2]
    release = hr.publish(
        rows, schema, Marginals(pairs=(None, 5)[seed % 2]), epsilon=epsilon, delta=delta,
        seed=seed,
    )  # fmt: skip
    assert isinstance(release, hr.MarginalsRelease)
    for drawn in (release.to_arrow(), release.synthesize(5000, seed=1)):
        codes = read(drawn, schema).codes.astype(np.int64)
        last = len(schema.attributes)
        assert not schema.breaks_rules(codes[:, :last], codes[:, last:].ravel()).any()
    impossible = [query for rule in schema.rules for query in rule.impossible]
    if impossible:
        answers = release.count(impossible)
        assert not np.stack([answers.estimate, answers.high, answers.typical_error]).any()
        assert set(answers.basis) == {"ruled out"}
    total = release.count_all().estimate[0]
    for column in schema.columns:
        assert release.table(column.name).answers.estimate.sum() == pytest.approx(total)
    if schema.target is None:
        return
    codes = read(rows, schema).codes.astype(np.int64)[:, :-1]
    shares = release.probabilities(codes)
    allowed = np.column_stack([
        ~schema.breaks_rules(codes, np.full(len(codes), k)) for k in range(len(schema.classes))
    ])  # fmt: skip
    can_be = allowed.any(axis=1)
    assert shares[can_be][~allowed[can_be]].max(initial=0.0) < 1e-9


def test_the_random_worlds_have_rules_that_rows_break() -> None:
    """Or the test above would show nothing."""
    broken, ruled, of_class = 0, 0, 0
    for seed in WORLDS:
        schema, rows = random_world(seed)
        codes = read(rows, schema).codes.astype(np.int64)
        last = len(schema.attributes)
        broken += schema.breaks_rules(codes[:, :last], codes[:, last:].ravel()).any()
        ruled += len(schema.rules)
        of_class += any(q.classes is not None for r in schema.rules for q in r.impossible)
    assert broken > 6 and ruled > 12 and of_class > 2


SPLIT = Schema.from_dict({
    "name": "split", "unit": "row",
    "attributes": {
        "age": {"type": "numeric", "low": 0, "high": 99},
        "job": {"type": "categorical", "values": list("pqrstuv")},
        "home": {"type": "categorical", "values": list("wxyz")},
        "ill": {"type": "boolean", "role": "class"},
    },
    "tables": ["age home"],
})  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_estimates_lie_near_the_middle_of_their_intervals(delta: Any) -> None:
    """Of what was measured, where no end is cut off at 0; and nearer to the truth than the middle.

    The ends are those that the noisy tables give, before they are stretched to hold the estimate.
    """
    random = np.random.default_rng(0)
    rows = 6000
    age = np.minimum(99, random.gamma(4, 10, rows).astype(int))
    rows_of = pa.table({
        "age": age,
        "job": np.array(list("pqrstuv"))[np.minimum(6, age // 15)],
        "home": np.array(list("wxyz"))[(age // 40 + random.integers(0, 2, rows)) % 4],
        "ill": random.random(rows) < 0.1 + age / 150,
    })  # fmt: skip
    table = read(rows_of, SPLIT)
    outside, far, square = [], [], np.zeros(2)
    for seed in range(8):
        release = hr.publish(rows_of, SPLIT, epsilon=1, delta=delta, seed=seed)
        assert isinstance(release, hr.MarginalsRelease)
        queries = [
            Query(((place, ((float(low), float(high)),)),), klass)
            for place, edges in enumerate(release.partition.edges)
            for low, high in zip(edges[:-1], edges[1:], strict=True)
            for klass in (None, (0,), (1,))
        ]
        exact = exact_counts(table, queries)
        estimate = release.estimate(queries)
        low, high = release.bounds.ends(release.bounds.compare(queries), 0.95)
        inside = low > 0
        outside.append(np.mean((estimate < low - 1) | (estimate > high + 1)))
        place = (estimate - low) / np.maximum(high - low, 1)
        far.append(np.mean(np.abs(place[inside] - 0.5) > 0.4))
        for which, one in enumerate((estimate, (low + high) / 2)):
            square[which] += np.mean((one - exact)[inside] ** 2)
    assert np.mean(outside) < 0.01
    assert np.mean(far) < 0.02
    assert square[0] < 1.02 * square[1]


def _split(*tables: Any) -> Schema:
    return Schema.from_dict(SPLIT.to_dict() | {"tables": [*tables]})


def _weighed(weight: Any, *names: str) -> dict[str, Any]:
    return {"attributes": [*names], "weight": weight}


def test_named_tables_get_what_their_weights_say() -> None:
    paying = UnitBudget("epsilon", Fraction(1, 100_000), 100_000)
    shares = share_budget(_split("age home", _weighed(3, "job", "ill")), paying, 10_000)
    assert shares.named == (4950, 14850)
    heavy = [_weighed(100, name, "ill") for name in ("age", "job", "home")]
    least = share_budget(_split(_weighed("0.01", "age", "home"), *heavy), paying, 10_000).named
    assert min(least) == least[0] == 1 and sum(least) <= 0.4 * 99_000


TABLES = ("age home", "age job", "job home ill", "home ill", "job ill")


@pytest.mark.parametrize("delta", [0, "1e-6"])
@pytest.mark.parametrize("rows", [0, 30, 1000, 30_000, 10**6])
def test_what_may_be_spent_is_never_more_than_there_is(rows: int, delta: Any) -> None:
    for tables in ((), TABLES[:1], TABLES):
        schema = _split(*tables)
        for pairs in (None, 3):
            plan = Marginals(pairs=pairs).plan(schema, epsilon=1, delta=delta, rows=rows)
            for budget in plan.budgets.parts:
                lines = [line for line in plan.allowances if line.budget == budget.name]
                known = sum(line.units[0] * line.uses for line in lines if line.units)
                ends = [one for one in lines if not one.units and one.purpose != "named"]
                if budget.name == plan.budgets.growth:
                    known += sum(share_budget(schema, budget, rows).named)
                assert known + max((one.least for one in ends), default=0) <= budget.units


def test_progress_goes_through_counting_fitting_choosing_and_writing(tmp_path: Any) -> None:
    """Shares never fall, and none of the long parts is told as one step."""
    told: list[tuple[float, str]] = []
    shares: list[float] = []

    def stage(words: str) -> None:
        told.append((shares[-1] if shares else 0.0, words))

    hr.publish(
        sample.people(3000), sample.schema(), Marginals(pairs=12), epsilon=4, seed=1,
        out=tmp_path / "out", progress=shares.append, stage=stage,
    )  # fmt: skip
    assert shares == sorted(shares) and shares[-1] == 1.0
    steps = ("fitting the model", "choosing pairs of attributes", "writing the release")
    for words, least in zip(steps, (10, 2, 15), strict=True):
        assert len({share for share, said in told if said == words}) >= least, words
    read = [share for share in shares if share >= 0.3]  # a table in memory is read at once
    assert max(after - before for before, after in pairwise(read)) <= 0.12


@pytest.mark.slow
@pytest.mark.parametrize("many", [100, 120])
def test_very_wide_tables(many: int) -> None:
    """All attributes are counted by the class; pairs are sought among the first hundred alone."""
    random = np.random.default_rng(4)
    hidden = random.random(400) < 0.5
    flips = random.random((400, many)) < 0.2
    flips[:, [3, many - 2]] = False  # which are the same thing
    names = [f"a{number}" for number in range(many)]
    rows = {name: hidden ^ flips[:, place] for place, name in enumerate(names)}
    rows["a3"] = rows[names[many - 2]] = random.random(400) < 0.5
    attributes: dict[str, Any] = {name: {"type": "boolean"} for name in names}
    attributes["ill"] = {"type": "boolean", "role": "class"}
    schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": attributes})
    table = pa.table({**rows, "ill": hidden})
    release = hr.publish(table, schema, Marginals(pairs=3), 100, seed=1)
    (by_class,) = (t for t in release.measurements if t.name == "by_class")
    assert len(by_class.tables) == many
    pairs = [t for m in release.measurements if "pairs" in m.name for t in m.tables]
    assert 0 < len(pairs) <= 3 and max(max(pair[:2]) for pair in pairs) < 100
    assert ((many - 2, 3) in pairs) == (many == 100)
    found = release.count(f"{names[-1]} = true and ill = true").estimate[0]
    assert abs(found - (rows[names[-1]] & hidden).sum()) < 20


@pytest.mark.parametrize("epsilon", ["1/4", "1", "5"])
def test_numbers_are_cut_in_more_parts_where_cells_stand_out_of_the_noise(epsilon: str) -> None:
    """From the number of rows on for which an average cell would hold six deviations."""
    schema, paying = sample.schema(), UnitBudget("epsilon", Fraction(epsilon) / 100_000, 100_000)
    rows = bisect_left(range(10**7), 32, key=lambda n: share_budget(schema, paying, n).parts)
    shares = share_budget(schema, paying, rows)
    assert (share_budget(schema, paying, rows - 1).parts, shares.parts) == (16, 32)
    deviation = np.sqrt(2) * shares.counted / float(paying.unit * shares.by_class)
    assert rows / 32 / deviation == pytest.approx(6, rel=1e-3)


@pytest.mark.parametrize("epsilon", ["3", "40"])
def test_rare_is_a_category_below_two_deviations(
    epsilon: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise, least = [], []
    deviation, group = marginals.deviation_of, marginals.group_cells

    def deviated(*given: Any) -> float:
        noise.append(deviation(*given))
        return noise[-1]

    def grouped(*given: Any) -> Any:
        least.append(given[3])
        return group(*given)

    monkeypatch.setattr(marginals, "deviation_of", deviated)
    monkeypatch.setattr(marginals, "group_cells", grouped)
    hr.publish(sample.people(2000), sample.schema(), Marginals(pairs=2), epsilon=epsilon, seed=1)
    assert len(least) > 1 and set(least) == {round(2 * noise[0])}
