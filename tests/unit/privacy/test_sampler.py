"""The mechanisms as a curator draws from them, against exact laws and against OpenDP."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from hedgerow.privacy import keystream, sampler
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import Candidates, Listing, Rates, SecureSampler, flat

Judge = Callable[[Iterable[Hashable], Mapping[Hashable, float]], bool]


def same(rate: Fraction, number: int) -> Rates:
    return Rates(values=(rate,), which=np.zeros(number, dtype=np.int64))


def candidates(*nodes: list[tuple[int, int, int, int, int]]) -> Candidates:
    """Candidates from (score, weight, count, part, first) of each run of each node."""
    start = np.cumsum([0, *(len(runs) for runs in nodes)])
    columns = np.array([run for runs in nodes for run in runs], dtype=np.int64).T
    score, weight, count, part, first = map(np.ascontiguousarray, columns)
    return Candidates(start=start, score=score, weight=weight, count=count, part=part, first=first)


def laplace_law(rate: float) -> dict[Hashable, float]:
    q = math.exp(-rate)
    reach = math.ceil(40 / rate)
    return {z: (1 - q) / (1 + q) * q ** abs(z) for z in range(-reach, reach + 1)}


# --- noise ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_row_gets_noise_of_its_own_rate(fits: Judge) -> None:
    rates = Rates(values=(Fraction(1, 3), Fraction(2)), which=np.tile([0, 1], 20_000))
    exact = np.arange(120_000).reshape(40_000, 3)
    noise = SecureSampler(Keystream(seed=1)).laplace(exact, rates) - exact
    for which, rate in enumerate((1 / 3, 2.0)):
        drawn = noise[which::2].ravel().tolist()
        assert fits(drawn, laplace_law(rate))
        for wrong in (1.3, 1 / 1.3):
            assert not fits(drawn, laplace_law(rate * wrong))


def test_noise_on_neighboring_numbers_is_independent() -> None:
    noise = SecureSampler(Keystream(seed=2)).laplace(
        np.zeros((50_000, 2), np.int64), same(Fraction(1), 50_000)
    )
    signs = np.sign(noise)
    table = np.array([[((signs[:, 0] == a) & (signs[:, 1] == b)).sum() for a in (-1, 0, 1)]
                      for b in (-1, 0, 1)])  # fmt: skip
    assert stats.chi2_contingency(table).pvalue > 1e-7


def test_no_rows_need_no_noise() -> None:
    empty = np.zeros((0, 2), dtype=np.int64)
    rates = Rates(values=(), which=np.zeros(0, dtype=np.int64))
    assert SecureSampler(Keystream(seed=3)).laplace(empty, rates).shape == (0, 2)


def test_rates_that_samplers_cannot_hold_are_refused() -> None:
    for rate in (Fraction(0), Fraction(-1), Fraction(1 << 50), Fraction(1, 1 << 50)):
        with pytest.raises(OverflowError):
            same(rate, 1).terms()
    assert same(Fraction(1, (1 << 50) - 1), 2).terms()[1].tolist() == [(1 << 50) - 1] * 2


# --- selection -----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_choice_is_a_part_and_a_cut() -> None:
    offered = candidates(
        [(0, 1, 1, 0, -1), (900, 1, 3, 1, 5)],  # the cuts 5, 6 and 7 of attribute 1
        [(900, 1, 1, 2, -1), (0, 1, 4, 3, 1)],  # the children of a taxonomy node
    )
    for flip in (False, True):
        chosen = SecureSampler(Keystream(seed=4)).select(offered, same(Fraction(1), 2), flip)
        assert chosen.part.tolist() == [1, 2]
        assert chosen.cut[0] in (5, 6, 7)
        assert chosen.cut[1] == -1


def test_flips_serve_small_sets_of_equal_weights_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler, "MOST_FLIPS", 4)
    offered = candidates(
        [(0, 2, 2, 0, 1), (1, 2, 2, 1, 1)],
        [(0, 2, 2, 0, 1), (1, 2, 3, 1, 1)],
        [(0, 2, 1, 0, -1), (1, 3, 1, 1, -1)],
    )
    assert flat(offered).tolist() == [True, False, False]


def test_mixed_mechanisms_keep_their_laws(fits: Judge) -> None:
    """Flat nodes and weighted ones in turn, as a level of a tree has them."""
    flat_node = [(0, 1, 1, 0, -1), (2, 1, 1, 1, -1), (3, 1, 1, 2, -1)]
    heavy_node = [(0, 5, 1, 0, -1), (2, 1, 1, 1, -1), (3, 2, 1, 2, -1)]
    number = 20_000
    offered = candidates(*[flat_node, heavy_node, heavy_node] * number)
    rate = Fraction(1, 2)
    part = SecureSampler(Keystream(seed=5)).select(offered, same(rate, 3 * number), True).part
    q = [math.exp(-0.5 * gap) for gap in (3, 1, 0)]
    flips = {
        c: q[c] * (1 - (q[i] + q[j]) / 2 + q[i] * q[j] / 3)
        for c, i, j in ((0, 1, 2), (1, 0, 2), (2, 0, 1))
    }
    mass = [w * own for w, own in zip((5, 1, 2), q, strict=True)]
    weighted = {c: m / sum(mass) for c, m in enumerate(mass)}
    assert fits(part[::3].tolist(), flips)
    assert fits(part[1::3].tolist(), weighted)
    assert fits(part[2::3].tolist(), weighted)
    assert not fits(part[1::3].tolist(), flips)
    unflipped = SecureSampler(Keystream(seed=6)).select(offered, same(rate, 3 * number), False).part
    plain = {c: own / sum(q) for c, own in enumerate(q)}
    assert fits(unflipped[::3].tolist(), plain)
    assert not fits(unflipped[::3].tolist(), flips)


# --- sparse --------------------------------------------------------------------------------


def cell_law(exact: int, rate: float, threshold: int) -> dict[int | None, float]:
    """The law of one cell of a dense release whose small counts are dropped (None)."""
    law: dict[int | None, float] = {}
    for z, p in laplace_law(rate).items():
        assert isinstance(z, int)
        value = exact + z if exact + z >= threshold else None
        law[value] = law.get(value, 0) + p
    return law


@pytest.mark.kernels
@pytest.mark.slow
@pytest.mark.parametrize("threshold", [1, 2])
def test_sparse_is_dense_with_small_counts_dropped(threshold: int, fits: Judge) -> None:
    """The joint law of three cells of which one holds records."""
    rate, counts = Fraction(3, 2), (0, 2, 0)
    laws = [cell_law(count, 1.5, threshold) for count in counts]
    joint = {
        (u, v, w): p * q * r
        for u, p in laws[0].items()
        for v, q in laws[1].items()
        for w, r in laws[2].items()
    }
    sampler = SecureSampler(Keystream(seed=7))
    drawn = []
    for _ in range(6_000):
        cells, values = sampler.listed(
            np.array([1]),
            np.array([2]),
            Listing(law="sparse", rate=rate, threshold=threshold, number=3),
        )
        assert (np.diff(cells) > 0).all()
        listed = dict(zip(cells.tolist(), values.tolist(), strict=True))
        drawn.append(tuple(listed.get(cell) for cell in range(3)))
    assert fits(drawn, joint)
    # a twin that lists only cells that hold records is what breaks the guarantee
    assert not fits([(None, v, None) for _, v, _ in drawn], joint)
    # and a twin whose values are not censored at the same place
    assert not fits([(u and u + 1, v, w and w + 1) for u, v, w in drawn], joint)


def test_sparse_of_an_empty_table_and_of_a_full_one(fits: Judge) -> None:
    nothing = np.zeros(0, dtype=np.int64)
    sampler = SecureSampler(Keystream(seed=8))
    law = cell_law(0, 1.0, 1)
    single = [
        sampler.listed(
            nothing, nothing, Listing(law="sparse", rate=Fraction(1), threshold=1, number=1)
        )[1].tolist()
        for _ in range(4_000)
    ]
    assert fits([value[0] if value else None for value in single], law)
    full = np.arange(5)
    cells, values = sampler.listed(
        full, np.full(5, 10**6), Listing(law="sparse", rate=Fraction(1), threshold=3, number=5)
    )
    assert cells.tolist() == full.tolist()
    assert (abs(values - 10**6) < 100).all()


def test_sparse_over_a_huge_domain_lists_about_as_many_as_expected() -> None:
    number, rate, threshold = 10**18, Fraction(1, 2), 70
    mean = number * math.exp(-35) / (1 + math.exp(-0.5))
    assert 100 < mean < 1_000
    nothing = np.zeros(0, dtype=np.int64)
    cells, values = SecureSampler(Keystream(seed=9)).listed(
        nothing, nothing, Listing(law="sparse", rate=rate, threshold=threshold, number=number)
    )
    assert abs(len(cells) - mean) < 6 * math.sqrt(mean)
    assert (values >= threshold).all()
    assert (np.diff(cells) > 0).all()
    # places are uniform, low bits and high ones
    assert stats.kstest(cells / number, "uniform").pvalue > 1e-6
    assert abs((cells % 2).mean() - 0.5) < 6 * math.sqrt(0.25 / len(cells))


# --- the stream ----------------------------------------------------------------------------


@pytest.mark.parametrize("block", [1, 5, 1000])
def test_draws_do_not_depend_on_refills(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def everything() -> list[object]:
        sampler = SecureSampler(Keystream(seed=10))
        offered = candidates(
            *[[(0, 1, 2, 0, 1), (5, 1, 1, 1, -1)], [(3, 2, 1, 0, -1), (1, 1, 9, 1, 1)]] * 20
        )
        found: list[object] = []
        for flip in (True, False):
            chosen = sampler.select(offered, same(Fraction(1, 4), 40), flip)
            found += [chosen.part.tolist(), chosen.cut.tolist()]
            found.append(sampler.laplace(np.zeros(30, np.int64), same(Fraction(1, 9), 30)).tolist())
            sparse = sampler.listed(
                np.array([3, 40]),
                np.array([2, 1]),
                Listing(law="sparse", rate=Fraction(1), threshold=20, number=10**12),
            )
            found += [column.tolist() for column in sparse]
        return found

    whole = everything()
    monkeypatch.setattr(keystream, "_BLOCK", block)
    assert everything() == whole


def test_calls_can_be_cut_into_batches() -> None:
    """One call for many items draws what many calls for few draw."""
    zeros = np.zeros(60, dtype=np.int64)
    whole = SecureSampler(Keystream(seed=11)).laplace(zeros, same(Fraction(1, 5), 60))
    sampler = SecureSampler(Keystream(seed=11))
    parts = [sampler.laplace(zeros[:n], same(Fraction(1, 5), n)) for n in (1, 20, 39)]
    assert np.concatenate(parts).tolist() == whole.tolist()


# --- OpenDP as an oracle -------------------------------------------------------------------


def two_samples(one: Iterable[int], other: Iterable[int]) -> float:
    """The p-value of a chi-square test that two samples have one law; rare values are pooled."""
    a, b = Counter(one), Counter(other)
    common = [value for value in a | b if a[value] + b[value] >= 50]
    table = [[seen[value] for value in common] + [seen.total() - sum(seen[v] for v in common)]
             for seen in (a, b)]  # fmt: skip
    array = np.array(table)
    return float(stats.chi2_contingency(array[:, array.sum(axis=0) > 0]).pvalue)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [Fraction(1, 4), Fraction(1), Fraction(5, 2)])
def test_discrete_laplace_agrees_with_opendp(rate: Fraction) -> None:
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    number = 10_000
    oracle = dp.m.make_laplace(*space, scale=float(1 / rate))([0] * number)
    zeros = np.zeros(number, dtype=np.int64)

    def ours(scale: Fraction) -> list[int]:
        drawn = SecureSampler(Keystream(seed=12)).laplace(zeros, same(rate * scale, number))
        return drawn.tolist()  # type: ignore[no-any-return]

    assert two_samples(ours(Fraction(1)), oracle) > 1e-7
    for wrong in (Fraction(13, 10), Fraction(10, 13)):
        assert two_samples(ours(wrong), oracle) < 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("flip", [False, True], ids=["exponential", "permute and flip"])
def test_selection_agrees_with_opendp(flip: bool) -> None:
    """OpenDP adds Gumbel noise, which is the exponential mechanism, or exponential noise, which
    is permute-and-flip."""
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    scores, number, rate = [0, 3, 5, 5], 12_000, Fraction(1, 2)
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
    measure = dp.max_divergence() if flip else dp.zero_concentrated_divergence()
    mechanism = dp.m.make_noisy_max(*space, measure, scale=float(1 / rate))
    oracle = [mechanism(scores) for _ in range(number)]
    node = [(score, 1, 1, part, -1) for part, score in enumerate(scores)]
    offered = candidates(*[node] * number)

    def ours(scale: Fraction) -> list[int]:
        drawn = SecureSampler(Keystream(seed=13)).select(offered, same(rate * scale, number), flip)
        return drawn.part.tolist()  # type: ignore[no-any-return]

    assert two_samples(ours(Fraction(1)), oracle) > 1e-7
    for wrong in (Fraction(13, 10), Fraction(10, 13)):
        assert two_samples(ours(wrong), oracle) < 1e-7
