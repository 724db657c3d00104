"""Scores against their definitions, and their sensitivities against all small tables."""

from __future__ import annotations

import decimal
import itertools
import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.counting.engine import Domain, Histograms
from hedgerow.methods.scores import (
    ALL_CUTS,
    SCORES,
    SKIP,
    Score,
    _n_log_n,
    _root,
    candidates,
    child_term,
    log2_fixed,
    root_fixed,
    score_nodes,
)
from hedgerow.schema import Attribute, Categorical, Numeric, Schema, Taxonomy

Record = tuple[int, ...]  # codes of the attributes, then the class

TREE = Taxonomy.from_nested("Any", {"L": ["a", "b"], "R": ["c"]})
DEEP = Taxonomy.from_nested("Any", {"L": ["a", "b"], "R": {"S": ["c", "d"], "T": ["e", "f"]}})


def numeric(name: str, size: int) -> Numeric:
    return Numeric(name, low=Fraction(0), high=Fraction(size - 1), step=Fraction(1), kind="integer")


def domain_of(attributes: Sequence[Attribute], classes: int) -> Domain:
    target = Categorical("class", Taxonomy.flat([f"k{i}" for i in range(classes)]))
    return Domain.of(
        Schema("simulated", tuple(attributes), target=target if classes > 1 else None, unit="row")
    )


def histograms(tables: Sequence[Sequence[Record]], domain: Domain) -> Histograms:
    """Histograms in which every table is a node."""
    start, code, counts = [0], [], []
    for rows in tables:
        for a in range(domain.attributes):
            for value in sorted({row[a] for row in rows}):
                classes = [0] * domain.classes
                for row in rows:
                    classes[row[-1]] += row[a] == value
                code.append(value)
                counts.append(classes)
            start.append(len(code))
    return Histograms(
        np.array(start),
        np.array(code, dtype=np.int32),
        np.array(counts, dtype=np.int32).reshape(len(code), domain.classes),
    )


def scored(
    tables: Sequence[Sequence[Record]],
    domain: Domain,
    score: Score,
    *,
    ask: int = ALL_CUTS,
    apart: bool = False,
    paper: bool = False,
    counted: Histograms | None = None,
) -> dict[tuple[int, int], np.ndarray]:
    """The scores of every candidate (attribute, cut) of the whole domain, table by table."""
    nodes = len(tables)
    lo = np.zeros((nodes, domain.attributes), dtype=np.int32)
    hi = np.tile(domain.sizes, (nodes, 1))
    taxon = np.tile(domain.root, (nodes, 1))
    asked = np.where(domain.splittable(lo, hi, taxon), ask, SKIP).astype(np.int32)
    counted = counted or histograms(tables, domain)
    found = candidates(domain, lo, hi, taxon, asked, score, apart=apart, paper=paper)(counted)
    values = np.repeat(found.score, found.count).reshape(nodes, -1)
    offset = np.arange(values.size) - np.repeat(np.cumsum(found.count) - found.count, found.count)
    part = np.repeat(found.part, found.count).reshape(nodes, -1)
    first = np.repeat(found.first, found.count)
    cut = np.where(first < 0, -1, first + offset).reshape(nodes, -1)
    # which candidates there are must not depend on the table
    assert (part == part[0]).all()
    assert (cut == cut[0]).all()
    weights = np.repeat(found.weight, found.count).reshape(nodes, -1)
    assert (weights == weights[0]).all()
    return {
        (int(p), int(c)): values[:, i] for i, (p, c) in enumerate(zip(part[0], cut[0], strict=True))
    }


STATED = {
    "max": (1, 1, 1),
    "ncp": (65536, 65536, 65536),
    "discernibility": (256, 512, 512),
    "gini": (512, 512, 1024),
    "infogain": (65537, 65538, 131074),
    "purity": (768, 768, 1536),
}


# --- definitions ---------------------------------------------------------------------------


def children_of(attribute: Attribute, cut: int) -> list[tuple[int, int]]:
    if isinstance(attribute, Numeric):
        return [(0, cut), (cut, attribute.size)]
    return [attribute.taxonomy.spans[child] for child in attribute.taxonomy.children[0]]


def entropy(counts: Sequence[int]) -> float:
    total = sum(counts)
    return -sum(n / total * math.log2(n / total) for n in counts if n)


def brute(
    name: str,
    rows: Sequence[Record],
    a: int,
    attribute: Attribute,
    cut: int,
    classes: int,
    paper: bool,
) -> int | tuple[float, float]:
    """The score by its definition: exact, or between two bounds if it is a logarithm."""
    parts = children_of(attribute, cut)
    split = [[row for row in rows if lo <= row[a] < hi] for lo, hi in parts]
    tables = [[sum(row[-1] == k for row in child) for k in range(classes)] for child in split]
    whole = [sum(row[-1] == k for row in rows) for k in range(classes)]
    if name == "max":
        return sum(max(table) for table in tables)
    if name == "purity":

        def pure(table: list[int]) -> int:
            return 2**9 * max(table) + math.isqrt(sum(n * n for n in table) << 16)

        return sum(map(pure, tables)) - pure(whole)
    if name == "ncp":
        penalty = [
            int(Fraction(hi - lo, attribute.size) * 2**16) * (hi - lo > 1) for lo, hi in parts
        ]
        own = 0 if paper else len(rows) * 2**16  # the whole domain's penalty is 1
        return own - sum(len(child) * p for child, p in zip(split, penalty, strict=True))
    if not rows:
        return 0
    if name == "discernibility":
        squares = sum(len(child) ** 2 for child in split)
        return len(rows) * 2**8 * (not paper) - int(Fraction(squares, len(rows)) * 2**8)
    if name == "gini":

        def purity(table: list[int]) -> int:
            return int(Fraction(sum(n * n for n in table), sum(table)) * 2**8) if sum(table) else 0

        return sum(map(purity, tables)) - purity(whole)
    gain = entropy(whole) - sum(sum(t) / len(rows) * entropy(t) for t in tables if sum(t))
    return 2**16 * gain - 1.01, 2**16 * gain + 0.01


@st.composite
def small_tables(draw: st.DrawFn) -> tuple[list[Attribute], int, list[Record]]:
    kinds: list[Attribute] = [
        numeric("n", 7), Categorical("t", TREE), numeric("m", 2), Categorical("d", DEEP),
        Categorical("only", Taxonomy(("x",), (-1,))),
    ]  # fmt: skip
    attributes = draw(st.lists(st.sampled_from(kinds), min_size=1, unique_by=lambda a: a.name))
    classes = draw(st.integers(1, 4))
    record = st.tuples(
        *(st.integers(0, a.size - 1) for a in attributes), st.integers(0, max(0, classes - 1))
    )
    return attributes, classes, draw(st.lists(record, max_size=25))


@pytest.mark.slow
@pytest.mark.parametrize("name", STATED)
@pytest.mark.parametrize("apart", [False, True], ids=["together", "apart"])
@pytest.mark.parametrize("paper", [False, True], ids=["gains", "paper"])
@given(made=small_tables())
@settings(max_examples=30, deadline=None, derandomize=True)
def test_a_score_equals_its_definition(
    name: str, apart: bool, paper: bool, made: tuple[list[Attribute], int, list[Record]]
) -> None:
    attributes, classes, rows = made
    domain = domain_of(attributes, classes)
    if not any(a.size > 1 for a in attributes):
        return
    found = scored([rows], domain, SCORES[name], apart=apart, paper=paper)
    expected = {
        (i, cut)
        for i, a in enumerate(attributes)
        if a.size > 1
        for cut in (range(1, a.size) if isinstance(a, Numeric) else [-1])
    }
    assert set(found) == expected
    for (a, cut), values in found.items():
        definition = brute(name, rows, a, attributes[a], cut, classes, paper)
        if isinstance(definition, tuple):
            assert definition[0] <= values[0] <= definition[1]
        else:
            assert values[0] == definition


@pytest.mark.parametrize("name", SCORES)
def test_one_fixed_cut_scores_as_it_does_among_all(name: str) -> None:
    rows = [(0, 0), (2, 1), (2, 1), (6, 0), (5, 1)]
    domain = domain_of([numeric("n", 7)], 2)
    among_all = scored([rows], domain, SCORES[name])
    for cut in range(1, 7):
        assert scored([rows], domain, SCORES[name], ask=cut) == {(0, cut): among_all[0, cut]}


def test_weights_share_one_attributes_worth_among_its_cuts() -> None:
    domain = domain_of([numeric("n", 11), Categorical("t", TREE)], 2)
    lo, hi = np.zeros((1, 2), np.int32), domain.sizes[None, :]
    ask = np.full((1, 2), ALL_CUTS, np.int32)
    score = candidates(domain, lo, hi, domain.root[None, :], ask, SCORES["max"], apart=False)
    found = score(histograms([[(3, 0, 0), (4, 1, 1)]], domain))
    assert found.part.tolist() == [0, 0, 0, 1]
    assert found.first.tolist() == [1, 4, 5, -1]
    assert found.count.tolist() == [3, 1, 6, 1]
    assert found.weight.tolist() == [(1 << 24) // 10] * 3 + [1 << 24]


def test_nodes_that_are_not_asked_have_no_candidates() -> None:
    domain = domain_of([numeric("n", 4)], 2)
    lo, hi = np.zeros((3, 1), np.int32), np.full((3, 1), 4, np.int32)
    ask = np.array([[ALL_CUTS], [SKIP], [2]], dtype=np.int32)
    tables = [[(1, 0)], [(2, 1)], [(3, 1)]]
    found = candidates(domain, lo, hi, np.full((3, 1), -1, np.int32), ask, SCORES["max"],
                       apart=False)(histograms(tables, domain))  # fmt: skip
    assert np.diff(found.start).tolist() == [2, 1]
    assert found.first[-1] == 2


def test_large_counts_do_not_overflow() -> None:
    """Two billion records, the most that 32-bit counts hold."""
    domain = domain_of([numeric("n", 3)], 2)
    half = 2**30
    huge = Histograms(
        np.array([0, 2]), np.array([0, 2], np.int32), np.array([[half - 1, 0], [0, half]], np.int32)
    )
    lo, hi = np.zeros((1, 1), np.int32), np.full((1, 1), 3, np.int32)
    taxon, ask = np.full((1, 1), -1, np.int32), np.full((1, 1), 1, np.int32)

    def value(name: str, *, paper: bool = False) -> int:
        score = candidates(domain, lo, hi, taxon, ask, SCORES[name], apart=True, paper=paper)
        return int(score(huge).score[0])

    total = 2 * half - 1
    squares = (half - 1) ** 2 + half**2
    assert value("max") == total
    assert value("ncp", paper=True) == -half * (2**17 // 3)
    assert value("ncp") == total * 2**16 - half * (2**17 // 3)
    assert value("discernibility", paper=True) == -int(Fraction(squares, total) * 2**8)
    assert value("discernibility") == total * 2**8 - int(Fraction(squares, total) * 2**8)
    assert value("gini") == total * 2**8 - int(Fraction(squares, total) * 2**8)
    assert abs(value("infogain") - 2**16) <= 2
    assert value("purity") == 3 * 2**8 * total - 2**9 * half - math.isqrt(squares << 16)


# --- sensitivity, on all tables ------------------------------------------------------------

SETTINGS: dict[str, tuple[list[Attribute], int, int]] = {
    "grid of 3, 3 classes": ([numeric("n", 3)], 3, 6),
    "grid of 4, 2 classes": ([numeric("n", 4)], 2, 6),
    "taxonomy, 3 classes": ([Categorical("t", TREE)], 3, 6),
    "grid and taxonomy": ([numeric("n", 3), Categorical("t", TREE)], 2, 4),
    "two grids": ([numeric("n", 2), numeric("m", 3)], 2, 5),
}


def all_tables(
    attributes: Sequence[Attribute], classes: int, most: int
) -> list[tuple[Record, ...]]:
    records = list(itertools.product(*(range(a.size) for a in attributes), range(classes)))
    return [
        table
        for size in range(most + 1)
        for table in itertools.combinations_with_replacement(records, size)
    ]


def neighbors(tables: Sequence[tuple[Record, ...]], most: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of places: a table, and the same with one more record."""
    place = {table: i for i, table in enumerate(tables)}
    pairs = {
        (place[table[:i] + table[i + 1 :]], place[table])
        for table in tables
        for i in range(len(table))
    }
    less, more = np.array(sorted(pairs)).T
    return less, more


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_sensitivity_and_span_hold_on_all_small_tables(setting: str) -> None:
    attributes, classes, most = SETTINGS[setting]
    domain = domain_of(attributes, classes)
    tables = all_tables(attributes, classes, most)
    less, more = neighbors(tables, most)
    assert tables[0] == ()  # the empty one is there
    counted = histograms(tables, domain)
    for score in SCORES.values():
        for apart in (False, True):
            stated = score.score_range_apart if apart else score.score_range
            for paper in (False, True):
                found = scored(tables, domain, score, apart=apart, paper=paper, counted=counted)
                values = np.stack(list(found.values()), axis=1)
                change = values[more] - values[less]
                part = change.max(axis=1) - change.min(axis=1)
                check_changes(score, change, most, paper=paper)
                assert part.max() <= stated
                if not apart and score.name == "infogain" and setting.startswith("grid of"):
                    assert part.max() >= 2**16 - 1  # one bit, attained


def check_changes(score: Score, change: np.ndarray, most: int, *, paper: bool) -> None:
    """What proofs say of the changes of scores when tables grow to so many records at most."""
    if paper or score.name not in ("ncp", "discernibility"):
        assert abs(change).max() <= score.sensitivity
    else:  # gains only grow, by no more than the published form may change between two candidates
        assert change.min() >= 0
        assert change.max() <= score.score_range
    if score.name == "max":
        assert change.min() == 0
        assert change.max() == 1 == score.score_range  # monotone, and attained
    if score.name == "ncp" and paper:
        assert change.max() <= 0
        assert score.score_range == score.sensitivity
    if score.name == "discernibility":
        # a gain grows by 2 m / (m + 1) where a record leaves the crowd, which comes close to 2
        grown = -(-2 * score.sensitivity * (most - 1) // most)
        assert abs(change).max() == (score.sensitivity if paper else grown)
    if score.name == "infogain":
        assert abs(change).max() >= 2**16 - 1  # one bit, attained


@pytest.mark.slow
def test_span_holds_between_regions() -> None:
    """DiffGen compares the values of several cuts: two halves of one attribute, and another."""
    attributes = [numeric("n", 4), numeric("m", 2)]
    domain = domain_of(attributes, 2)
    tables = all_tables(attributes, 2, 4)
    less, more = neighbors(tables, 4)
    regions = [(0, 0, 2), (0, 2, 4), (1, 0, 2)]  # attribute, lo, hi
    counted = [
        histograms(
            [tuple(row for row in table if low <= row[a] < high) for table in tables], domain
        )
        for a, low, high in regions
    ]
    for score, paper in itertools.product(SCORES.values(), (False, True)):
        columns = []
        for (a, low, high), inside in zip(regions, counted, strict=True):
            lo = np.zeros((len(tables), 2), np.int32)
            hi = np.tile(domain.sizes, (len(tables), 1))
            lo[:, a], hi[:, a] = low, high
            ask = np.full((len(tables), 2), SKIP, np.int32)
            ask[:, a] = ALL_CUTS
            taxon = np.full((len(tables), 2), -1, np.int32)
            score_all = candidates(domain, lo, hi, taxon, ask, score, apart=True, paper=paper)
            found = score_all(inside)
            columns.append(np.repeat(found.score, found.count).reshape(len(tables), -1))
        values = np.concatenate(columns, axis=1)
        change = values[more] - values[less]
        check_changes(score, change, 4, paper=paper)
        part = (change.max(axis=1) - change.min(axis=1)).max()
        assert part <= score.score_range_apart
        if score.name in ("max", "ncp"):
            assert change.min() >= 0 or change.max() <= 0


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=3, max_size=3),
    st.integers(0, 2),
    st.integers(0, 1),
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_spans_hold_on_large_tables(counts: list[tuple[int, int]], code: int, klass: int) -> None:
    """The same with counts that no enumeration reaches, for the fixed-point roundings."""
    domain = domain_of([numeric("n", 3)], 2)
    lo, hi = np.zeros((2, 1), np.int32), np.full((2, 1), 3, np.int32)
    taxon, ask = np.full((2, 1), -1, np.int32), np.full((2, 1), ALL_CUTS, np.int32)
    one = np.array(counts, dtype=np.int32)
    other = one.copy()
    other[code, klass] += 1
    both = Histograms(
        np.array([0, 3, 6]), np.array([0, 1, 2] * 2, np.int32), np.concatenate([one, other])
    )
    for score in SCORES.values():
        for apart, paper in itertools.product((False, True), repeat=2):
            stated = score.score_range_apart if apart else score.score_range
            score_all = candidates(domain, lo, hi, taxon, ask, score, apart=apart, paper=paper)
            found = score_all(both)
            less, more = np.repeat(found.score, found.count).reshape(2, 2)
            change = more - less
            if paper or score.name not in ("ncp", "discernibility"):
                assert abs(change).max() <= score.sensitivity
            else:
                assert change.min() >= 0
            assert change.max() - change.min() <= stated


def test_the_stated_bounds() -> None:
    """What the plans divide by. Raise these only with a proof, lower them likewise."""
    for name, bounds in STATED.items():
        score = SCORES[name]
        assert (score.sensitivity, score.score_range, score.score_range_apart) == bounds


# --- logarithms ----------------------------------------------------------------------------


def logarithm_is_right(n: int, digits: int = 40) -> bool:
    """Whether the fixed-point logarithm is below the true one by less than 2^-24 (1 + 2^-5)."""
    with decimal.localcontext(prec=digits):
        true = Decimal(n).ln() / Decimal(2).ln() * 2**24
        short = true - int(log2_fixed(n))
        return Decimal("-1e-20") <= short < 1 + Decimal(2) ** -5


def test_logarithms_of_powers_of_two_are_exact() -> None:
    for exponent in range(35):
        assert log2_fixed(1 << exponent) == exponent << 24


def test_logarithms_of_small_numbers() -> None:
    assert all(logarithm_is_right(n) for n in range(1, 1500))


@given(st.integers(1, 2**34))
@settings(max_examples=400, deadline=None, derandomize=True)
def test_logarithms_of_any_number(n: int) -> None:
    assert logarithm_is_right(n)


def test_logarithms_beside_powers_of_two() -> None:
    for exponent in range(2, 35):
        assert logarithm_is_right((1 << exponent) - 1)
        assert logarithm_is_right((1 << exponent) + 1)


def test_roots_are_exact() -> None:
    """Beside squares, where a float's guess may be off, and on both sides of 2^36 and 2^46."""
    source = np.random.default_rng(4)
    roots = [*range(40), *(1 << bits for bits in range(6, 31)), *source.integers(1, 2**31 - 1, 60)]
    squares = {int(root) ** 2 + by for root in roots for by in (-1, 0, 1, int(root))}
    squares |= {int(root) ** 2 - 1 for root in source.integers(1, 1 << 18, 2000)}
    squares |= {(1 << bits) + by for bits in (36, 46) for by in (-1, 0, 1)} | {(1 << 62) - 1}
    for square in sorted(s for s in squares if 0 <= s < 1 << 62):
        assert root_fixed(np.int64(square)) == math.isqrt(square << 16)
        assert _root(np.int64(square)) == math.isqrt(square)


def test_a_grid_beyond_all_grids_has_weight_left_for_each_cut() -> None:
    one, nothing = np.array([[0]], np.int32), np.zeros(0, np.int32)
    far = np.array([[1 << 26]], np.int32)
    start, out = np.zeros(2, np.int64), np.zeros((5, 1), np.int64)
    score_nodes(
        np.zeros(2, np.int64), nothing, np.zeros((0, 1), np.int32), one, far, one - 1,
        one + ALL_CUTS, far[0], nothing, nothing, nothing, 0, False, start,
        tuple(np.zeros((3, 1), np.int64)), out,
    )  # fmt: skip
    assert out[:, 0].tolist() == [0, 1, (1 << 26) - 1, 0, 1]


def test_a_child_without_classes_counts_for_nothing() -> None:
    for kind in range(6):
        assert child_term(kind, np.zeros(0, np.int64), np.int64(2), np.int64(4)) == 0


def test_nobody_and_one_alone_have_no_entropy() -> None:
    assert [int(_n_log_n(n)) for n in (0, 1, 2, 4)] == [0, 0, 2 << 24, 8 << 24]
