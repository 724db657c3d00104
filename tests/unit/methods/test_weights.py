"""Attributes with weights, and groups that share the place of one, in the choice of divisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hedgerow
from hedgerow.audit.enumeration import epsilon_between, law
from hedgerow.counting.engine import Domain, Histograms
from hedgerow.errors import SchemaError
from hedgerow.methods import scores
from hedgerow.methods.scores import ALL_CUTS, SCORES, SKIP, Score, candidates, range_of
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.sampler import Rates
from hedgerow.schema import Schema
from hedgerow.schema.attributes import attribute_faults

ROWS = 600
WEIGHTS = [("1", "3"), ("0.01", "1"), ("1", "0.67"), ("100", "99.99"), ("0.5", "0.4")]


def schema(first: dict[str, Any], second: dict[str, Any], **more: dict[str, Any]) -> Schema:
    columns: dict[str, Any] = {
        "n": {"type": "numeric", "low": 0, "high": 2, **first},
        "t": {"type": "categorical", "taxonomy": {"L": ["a", "b"], "R": ["c", "d"]}, **second},
        **more,
        "ill": {"type": "boolean", "role": "class"},
    }
    return Schema.from_dict({"name": "x", "unit": "row", "attributes": columns})


def weighed(first: str, second: str) -> Schema:
    return schema({"weight": first}, {"weight": second})


def all_histograms(most: int) -> tuple[list[tuple[Any, ...]], np.ndarray, np.ndarray]:
    """All tables of at most so many records, and the places of neighbors."""
    from itertools import combinations_with_replacement, product

    records = list(product(range(3), (0, 1, 3), range(2)))
    tables = [
        table for size in range(most + 1) for table in combinations_with_replacement(records, size)
    ]
    place = {table: i for i, table in enumerate(tables)}
    pairs = {(place[t[:i] + t[i + 1 :]], place[t]) for t in tables for i in range(len(t))}
    less, more = np.array(sorted(pairs)).T
    return tables, less, more


def histograms(tables: Sequence[Sequence[Any]], domain: Domain) -> Histograms:
    start, code, counts = [0], [], []
    for rows in tables:
        for a in range(domain.attributes):
            for value in sorted({row[a] for row in rows}):
                code.append(value)
                classes = [sum(r[a] == value and r[-1] == k for r in rows) for k in (0, 1)]
                counts.append(classes[: domain.classes])
            start.append(len(code))
    found = np.array(counts, np.int32).reshape(len(code), domain.classes)
    return Histograms(np.array(start), np.array(code, np.int32), found)


def scored(tables: Any, domain: Domain, name: str, *, apart: bool) -> np.ndarray:
    """The scores of all candidates by table: of the whole domain and, apart, of halves too."""
    columns = []
    parts = [(None, 0, 0)] if not apart else [(0, 0, 3), (0, 0, 2), (1, 0, 4)]
    for a, low, high in parts:
        rows = [[r for r in t if a is None or low <= r[a] < high] for t in tables]
        lo = np.zeros((len(tables), 2), np.int32)
        hi = np.tile(domain.sizes, (len(tables), 1))
        ask = np.full((len(tables), 2), ALL_CUTS, np.int32)
        if a is not None:
            lo[:, a], hi[:, a] = low, high
            ask[:, 1 - a] = SKIP
        taxon = np.tile(domain.root, (len(tables), 1))
        found = candidates(domain, lo, hi, taxon, ask, SCORES[name], apart=apart)(
            histograms(rows, domain)
        )
        columns.append(np.repeat(found.score, found.count).reshape(len(tables), -1))
    return np.concatenate(columns, axis=1)


TABLES, LESS, MORE = all_histograms(3)


def widest(name: str, domain: Domain, *, apart: bool) -> int:
    """How far the changes of two scores are apart, at most, over all small tables."""
    values = scored(TABLES, domain, name, apart=apart)
    change = values[MORE] - values[LESS]
    return int((change.max(axis=1) - change.min(axis=1)).max())


@pytest.mark.slow
@pytest.mark.parametrize("apart", [False, True], ids=["together", "apart"])
@pytest.mark.parametrize("name", SCORES)
def test_the_range_holds_on_all_small_tables_for_all_weights(name: str, apart: bool) -> None:
    for pair in WEIGHTS:
        domain = Domain.of(weighed(*pair))
        assert domain.weighed
        stated = range_of(SCORES[name], domain, apart=apart)
        assert (
            widest(name, domain, apart=apart)
            <= stated
            <= 2 * SCORES[name].sensitivity * (2 if name in ("gini", "purity", "infogain") else 1)
        )


def test_the_price_is_that_of_the_table_in_the_docs() -> None:
    domain = Domain.of(weighed("1", "3"))
    found = {
        name: tuple(range_of(score, domain, apart=apart) for apart in (False, True))
        for name, score in SCORES.items()
    }
    plain = {name: (one.score_range, one.score_range_apart) for name, one in SCORES.items()}
    assert found == plain | {"max": (1, 2)}
    # 2 is reached, so 1 would be too little: the majority grows in one region, not in the other
    rows = [(0, 0, 1), (1, 3, 0), (2, 0, 1)]
    domain = Domain.of(weighed("1", "0.99"))
    before, after = scored([rows, [*rows, (0, 3, 0)]], domain, "max", apart=True)
    assert np.ptp(after - before) == 2


def test_a_weight_above_one_would_break_the_range(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the division by the largest weight is for."""
    monkeypatch.setattr(scores, "_weigh", lambda gain, weight, largest: gain * weight // 100)
    domain = Domain.of(weighed("1", "3"))
    broken = [
        name for name, score in SCORES.items()
        if widest(name, domain, apart=False) > range_of(score, domain, apart=False)
    ]  # fmt: skip
    assert len(broken) >= 4 and "max" in broken


def test_weighing_scores_that_are_not_gains_would_break_the_order() -> None:
    """By ncp every score is negative; a larger weight must make a candidate more likely."""
    rows = [(n, t, 0) for n in range(3) for t in (0, 1, 3)]
    for name in ("ncp", "discernibility", "max", "purity"):
        liked, disliked = (
            scored([rows], Domain.of(weighed(*pair)), name, apart=False)[0]
            for pair in (("3", "1"), ("1", "3"))
        )
        assert (liked[:2] >= disliked[:2]).all() and liked[2] <= disliked[2]


@pytest.mark.parametrize("name", SCORES)
def test_weighed_scores_are_gains_times_weights(name: str) -> None:
    domain = Domain.of(weighed("1", "3"))
    gains = scored(TABLES, replace(domain, weight=np.array([100, 101])), name, apart=False)
    found = scored(TABLES, domain, name, apart=False)
    assert (found[:, :2] == np.floor(gains_of(name) / 3)[:, :2]).all()
    assert (found[:, 2] == gains[:, 2]).all()  # the largest weight is 1


def gains_of(name: str) -> np.ndarray:
    """The gains of the candidates, from scores without weights."""
    whole = scored(TABLES, Domain.of(schema({}, {})), name, apart=False)
    if name != "max":
        return whole
    majority = [max(sum(r[-1] == k for r in t) for k in (0, 1)) for t in TABLES]
    return whole - np.array(majority)[:, None]


@pytest.mark.slow
def test_equal_weights_change_nothing() -> None:
    one, other = Domain.of(weighed("3", "3")), Domain.of(schema({}, {}))
    assert not one.weighed and not other.weighed
    for name in SCORES:
        found = [scored(TABLES, domain, name, apart=True) for domain in (one, other)]
        assert (found[0] == found[1]).all()
    # nor does that of an attribute which cannot be divided
    fixed = {"only": {"type": "categorical", "values": ["x"], "weight": 9}}
    assert not Domain.of(schema({}, {}, **fixed)).weighed


@pytest.mark.slow
@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("flip", [False, True], ids=["exponential", "flip"])
def test_whole_laws_of_weighed_choices(name: str, flip: bool) -> None:
    """The law of one choice on neighbors, by enumeration: within what was paid."""
    domain = Domain.of(weighed("1", "3"))
    price = range_of(SCORES[name], domain, apart=False)
    lo, hi, ask = np.zeros((1, 2), np.int32), domain.sizes[None, :], np.full((1, 2), -1, np.int32)
    score = candidates(domain, lo, hi, domain.root[None, :], ask, SCORES[name], apart=False)
    most = 0.0
    for less, more in list(zip(LESS.tolist(), MORE.tolist(), strict=True))[::7]:
        laws = [
            law(lambda sampler, place=place: chosen(sampler, score, place, domain, price, flip))
            for place in (less, more)
        ]
        most = max(most, epsilon_between(*laws))
    assert 0.3 < most <= 1 + 1e-9


def chosen(sampler: Any, score: Any, place: int, domain: Domain, price: int, flip: bool) -> Any:
    found = score(histograms([TABLES[place]], domain))
    choice = sampler.select(found, Rates.alike(Fraction(1, price), 1), flip)
    return int(choice.part[0]), int(choice.cut[0])


# --- groups --------------------------------------------------------------------------------


def test_a_group_shares_the_place_of_one_attribute() -> None:
    kinds = {"type": "categorical", "values": ["a", "b"], "group": "drugs"}
    more = {
        "u": kinds,
        "v": kinds,
        "w": kinds | {"split": "never"},
        "x": {**kinds, "values": ["a"]},
    }
    domain = Domain.of(schema({}, {}, **more))
    assert domain.sharing[:4].tolist() == [1, 1, 2, 2]
    nodes = domain.attributes
    ask = np.full((1, nodes), ALL_CUTS, np.int32)
    ask[0, 4:] = SKIP
    lo, hi = np.zeros((1, nodes), np.int32), domain.sizes[None, :]
    score = candidates(domain, lo, hi, domain.root[None, :], ask, SCORES["max"], apart=False)
    found = score(histograms([[(0,) * nodes + (0,)]], domain))
    by_part = {int(part): int(found.weight[found.part == part][0]) for part in found.part}
    assert by_part == {0: 1 << 23, 1: 1 << 24, 2: 1 << 23, 3: 1 << 23}
    assert (found.count * found.weight).sum() == 3 << 24  # n, t, and the group as one


def table(columns: Sequence[str]) -> pa.Table:
    data = {
        "n": [i % 3 for i in range(ROWS)], "t": ["abcd"[i // 2 % 4] for i in range(ROWS)],
        "u": ["ab"[i % 2] for i in range(ROWS)], "v": ["ab"[i // 3 % 2] for i in range(ROWS)],
        "ill": [i % 12 < 5 for i in range(ROWS)],
    }  # fmt: skip
    return pa.table({name: data[name] for name in columns})


METHODS = [
    (hedgerow.DiffMulti(), "1e-6"),
    (hedgerow.DiffMulti(schedule="paper", specializations=9, depth=4), 0),
    (hedgerow.DiffGen(specializations=5), 0),
    (hedgerow.CDiffGen(specializations=4), 0),
]


@pytest.mark.parametrize("method, delta", METHODS)
def test_releases_with_weights_and_groups_verify(method: Any, delta: Any, tmp_path: Path) -> None:
    kinds = {"type": "categorical", "values": ["a", "b"], "group": "drugs"}
    known = schema({"weight": 0.5}, {"weight": 4}, u=kinds, v=kinds)
    data = table([one.name for one in known.columns])
    release = hedgerow.publish(data, known, method, epsilon=4, delta=delta)
    release.save(tmp_path / "release")
    assert hedgerow.verify(tmp_path / "release").ok
    assert hedgerow.Release.load(tmp_path / "release").schema == known


def test_the_keys_are_part_of_the_schema() -> None:
    one = schema({"weight": "0.5"}, {"weight": 3, "group": "g"})
    assert Schema.from_dict(one.to_dict()) == one
    assert "weight: '0.5'" in one.to_yaml() or "weight: 0.5" in one.to_yaml()
    assert one.hash != schema({}, {}).hash
    assert not {"weight", "group"} & set(str(schema({}, {}).to_dict()).split("'"))
    assert any("no other attribute is in the group 'g'" in line for line in one.warnings)


@pytest.mark.parametrize(
    "keys, words",
    [
        ({"weight": 0}, "split: never"),
        ({"weight": -1}, "split: never"),
        ({"weight": 101}, "from 0.01 to 100"),
        ({"weight": "0.001"}, "two decimals"),
        ({"weight": "2020-01-01"}, "weight is not a number"),
        ({"weight": "much"}, "weight is not a number"),
        ({"weight": 2, "split": "never"}, "beside split: never"),
        ({"group": "a\u2028b"}, "group|name|character"),
    ],
)
def test_what_cannot_be_meant_is_refused(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        schema(keys, {})


@pytest.mark.parametrize("keys", [{"weight": 2}, {"group": "g"}])
def test_the_class_has_neither(keys: dict[str, Any]) -> None:
    document = {"name": "x", "unit": "row", "attributes": {
        "age": {"type": "numeric", "low": 0, "high": 9},
        "ill": {"type": "boolean", "role": "class", **keys}}}  # fmt: skip
    with pytest.raises(SchemaError, match="never divided by the class"):
        Schema.from_dict(document)


def test_a_schema_in_python_is_held_to_the_same() -> None:
    known = schema({}, {}).attributes[0]
    assert any(attribute_faults(replace(known, weight=Fraction(1000)), is_class=False))
    with pytest.raises(SchemaError, match="from 0.01 to 100"):
        Schema("x", (replace(known, weight=Fraction(1000)),), unit="row")


# --- scores from outside ---------------------------------------------------------------------


def largest(counts: Any, width: Any, size: Any) -> Any:
    return counts.max(axis=1)


GRID = hedgerow.DiffGen(specializations=2)
TREE = hedgerow.DiffMulti(specializations=2, depth=2)


@pytest.mark.parametrize("weights", [("1", "1"), ("1", "3")])
@pytest.mark.parametrize(
    "method, prices",  # of a score from outside, and of `max`, without and with weights
    [
        (replace(GRID, schedule="paper"), [(7, 2), (7, 2)]),
        (replace(TREE, schedule="paper"), [(5, 2), (7, 2)]),
        (GRID, [(7, 1), (7, 2)]),
        (TREE, [(5, 1), (7, 1)]),
    ],
    ids=["grid, paper", "tree, paper", "grid", "tree"],
)
def test_choices_pay_for_the_range_of_their_scores(
    method: Any,
    prices: list[tuple[int, int]],
    weights: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A paper's twice the sensitivity bounds what two changes part by, not what a score states."""
    foreign, own_score = prices[weights[0] != weights[1]]
    paid: set[int] = set()
    own = Curator.select

    def select(self: Curator, *given: Any, score_range: int, **more: Any) -> Any:
        paid.add(score_range)
        return own(self, *given, score_range=score_range, **more)

    monkeypatch.setattr(Curator, "select", select)
    known = weighed(*weights)
    data = table([one.name for one in known.columns])
    outside = Score(
        name="outside", numbers=largest, needs_class=True,
        sensitivity=1, score_range=5, score_range_apart=7,
    )  # fmt: skip
    for module in ("publisher", "diffgen", "diffmulti"):
        module = f"hedgerow.methods.{module}.pick_score"
        monkeypatch.setattr(module, lambda name, schema: outside, raising=False)
    hedgerow.publish(data, known, method, epsilon=1, seed=1)
    assert paid == {foreign}
    paid.clear()
    monkeypatch.undo()
    monkeypatch.setattr(Curator, "select", select)
    hedgerow.publish(data, known, replace(method, score="max"), epsilon=1, seed=1)
    assert paid == {own_score}
