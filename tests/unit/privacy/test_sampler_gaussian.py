"""Discrete Gaussian noise: against exact probabilities, bit by bit and in bulk, and OpenDP.

The law of what is made of its trials is enumerated in `test_sampler_laws.py`. Every statistical
check is seen to reject 30% too little and too much noise.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from hedgerow.privacy import keystream, sampler_kernels
from hedgerow.privacy.budget import precision_below
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import Rates, SecureSampler

Judge = Callable[[Iterable[Hashable], Mapping[Hashable, float]], bool]

RATES = [
    Fraction(9),
    Fraction(1),
    Fraction(1, 2),
    Fraction(4, 9),
    Fraction(1, 100),
    Fraction(123457, 1000003),
    Fraction(2**49 - 1, 2**49),
    Fraction(2**49 - 1, 2**45 + 3),
    Fraction(2**40 - 87, 2**48 - 1),
]


def same(rate: Fraction, number: int) -> Rates:
    return Rates(values=(rate,), which=np.zeros(number, dtype=np.int64))


def draw(rate: Fraction, number: int, seed: int) -> list[int]:
    zeros = np.zeros((number, 1), dtype=np.int64)
    drawn = SecureSampler(Keystream(seed=seed)).gaussian(zeros, same(rate, number))
    return drawn.ravel().tolist()  # type: ignore[no-any-return]


def gaussian_law(rate: float) -> dict[Hashable, float]:
    reach = math.ceil(math.sqrt(80 / rate))
    mass = {z: math.exp(-rate * z * z / 2) for z in range(-reach, reach + 1)}
    total = math.fsum(mass.values())
    return {z: p / total for z, p in mass.items()}


# --- bit by bit ----------------------------------------------------------------------------


def gaussian_once(rate: Fraction, words: Any, at: Any) -> int:
    a, b = (np.array([term], dtype=np.int64) for term in (rate.numerator, rate.denominator))
    out = np.zeros(1, dtype=np.int64)
    done = sampler_kernels.fill_gaussian(words, at, 0, a, b, out)
    assert done == 1 - at[1], "an item is done or the words ran out"
    assert not at[1] or at[0] == 0, "a kernel that ran dry goes back to the start of its item"
    return int(out[0])


@pytest.mark.slow
@pytest.mark.parametrize("rate", [Fraction(1), Fraction(1, 2), Fraction(3)], ids=str)
def test_every_pattern_of_bits(rate: Fraction) -> None:
    """All words of two bits, up to eight of them: exact probabilities, and the mass left open."""
    found: dict[int, Fraction] = {}
    open_ = Fraction(0)
    stack: list[tuple[int, ...]] = [()]
    while stack:
        prefix = stack.pop()
        at = np.zeros(2, dtype=np.int64)
        outcome = gaussian_once(rate, np.array(prefix, dtype=np.uint64), at)
        mass = Fraction(1, 4 ** len(prefix))
        if not at[1]:
            assert at[0] == len(prefix)
            found[outcome] = found.get(outcome, Fraction(0)) + mass
        elif len(prefix) == 8:
            open_ += mass
        else:
            stack.extend((*prefix, word) for word in range(4))
    law = gaussian_law(float(rate))
    assert sum(found.values()) + open_ == 1
    assert found[0] > 0
    for z in (0, 1, -1, 2, -2):
        some = found.get(z, Fraction(0))
        assert float(some) - 1e-12 <= law[z] <= float(some + open_) + 1e-12
        assert some == found.get(-z, Fraction(0))


@pytest.mark.parametrize("rate", RATES, ids=str)
def test_a_stride_is_the_least_that_bounds_the_proposal(rate: Fraction) -> None:
    stride = int(sampler_kernels._stride(rate.numerator, rate.denominator))
    assert stride**2 * rate >= 2 > (stride - 1) ** 2 * rate


def test_strides_at_the_ends() -> None:
    largest = (1 << 50) - 1
    assert sampler_kernels._stride(largest, 1) == 1
    assert sampler_kernels._stride(1, largest) == math.isqrt(2 * largest - 1) + 1
    assert sampler_kernels._stride(1, 2) == 2
    assert sampler_kernels._stride(2, 9) == 3
    assert sampler_kernels._stride(1, 5) == 4


# --- large samples -------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("rate", RATES, ids=str)
def test_discrete_gaussian(rate: Fraction, fits: Judge) -> None:
    drawn = draw(rate, 150_000, seed=11)
    assert fits(drawn, gaussian_law(float(rate)))
    for wrong in (1.3, 1 / 1.3, 1.1, 1 / 1.1):
        assert not fits(drawn, gaussian_law(float(rate) * wrong)) or float(rate) > 5


@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(1, 30)], ids=str)
def test_noise_of_the_wrong_scale_is_rejected(rate: Fraction, fits: Judge) -> None:
    law = gaussian_law(float(rate))
    assert fits(draw(rate, 50_000, seed=13), law)
    for wrong in (Fraction(13, 10), Fraction(10, 13)):
        assert not fits(draw(rate * wrong, 50_000, seed=13), law)
        assert not fits(draw(rate * wrong**2, 50_000, seed=13), law)


def test_very_strong_noise_stays_exact_in_its_tails() -> None:
    rate = precision_below(Fraction(1, 10**13))
    drawn = np.array(draw(rate, 100_000, seed=16)) * math.sqrt(rate)
    for level in (0.0001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.9999):
        below = float((drawn <= stats.norm.ppf(level)).mean())
        assert abs(below - level) < 6 * math.sqrt(level * (1 - level) / len(drawn))


def test_far_strides_are_kept_as_often_as_they_should_be() -> None:
    """Factors and one piece give the same frequency, within 6 standard errors."""
    t, j, a, b = 3, 1, 2, 9
    stream = Keystream(seed=17)
    stream.refill()

    def kept(k: int) -> float:
        hits = 0
        for _ in range(20_000):
            if len(stream.words) - stream.at[0] < 200:
                stream.refill()
            hits += bool(sampler_kernels._gaussian_kept(stream.words, stream.at, k, t, j, a, b))
        return hits / 20_000

    for k in (0, 1, 2):
        p = math.exp(-((k * t + j) ** 2 * a - 2 * k * b) / (2 * b))
        assert abs(kept(k) - p) < 6 * math.sqrt(p * (1 - p) / 20_000)
    assert kept(40) == 0.0


def test_rows_have_their_own_rates_and_noise(fits: Judge) -> None:
    rates = Rates(values=(Fraction(1, 50), Fraction(2)), which=np.tile([0, 1], 20_000))
    exact = np.arange(120_000).reshape(40_000, 3)
    noise = SecureSampler(Keystream(seed=1)).gaussian(exact, rates) - exact
    for which, rate in enumerate((1 / 50, 2.0)):
        drawn = noise[which::2].ravel().tolist()
        assert fits(drawn, gaussian_law(rate))
        for wrong in (1.3, 1 / 1.3):
            assert not fits(drawn, gaussian_law(rate * wrong))
    signs = np.sign(noise[::2])
    table = np.array([[((signs[:, 0] == a) & (signs[:, 1] == b)).sum() for a in (-1, 0, 1)]
                      for b in (-1, 0, 1)])  # fmt: skip
    assert stats.chi2_contingency(table).pvalue > 1e-7


# --- the stream ----------------------------------------------------------------------------


@pytest.mark.parametrize("block", [1, 2, 3, 7, 64])
def test_draws_do_not_depend_on_how_the_stream_is_cut(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates = Rates(
        values=(Fraction(1, 50), Fraction(2), Fraction(3, 7)), which=np.tile([0, 1, 1, 2], 50)
    )
    exact = np.zeros((200, 2), dtype=np.int64)
    whole = SecureSampler(Keystream(seed=21)).gaussian(exact, rates).tolist()
    monkeypatch.setattr(keystream, "_BLOCK", block)
    assert SecureSampler(Keystream(seed=21)).gaussian(exact, rates).tolist() == whole


def test_an_item_does_not_depend_on_the_rates_before_it() -> None:
    """What is computed once for items of one rate is made anew for another, larger or smaller."""
    rates = [*RATES, *reversed(RATES), Fraction(1, 100), Fraction(1, 100), Fraction(3, 100)]
    a, b = np.array([(rate.numerator, rate.denominator) for rate in rates], dtype=np.int64).T.copy()
    words = np.random.default_rng(5).integers(0, 1 << 64, 10_000, np.uint64)
    together, at = np.zeros(len(rates), np.int64), np.zeros(2, np.int64)
    assert sampler_kernels.fill_gaussian(words, at, 0, a, b, together) == len(rates)
    alone, place = np.zeros(len(rates), np.int64), np.zeros(2, np.int64)
    for item in range(len(rates)):
        end = item + 1
        sampler_kernels.fill_gaussian(words, place, item, a[:end], b[:end], alone[:end])
    assert together.tolist() == alone.tolist() and at.tolist() == place.tolist()


def test_the_same_words_give_the_same_draws() -> None:
    """Compiled or not, and in every later version."""
    found = []
    for rate in RATES:
        forms = []
        kernel = sampler_kernels.fill_gaussian
        for form in (kernel.python, kernel.compiled):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(sampler_kernels, "fill_gaussian", form)
                forms.append(draw(rate, 60, seed=41))
        drawn = forms[0]
        assert forms[1] == drawn
        found.append(zlib.crc32(np.asarray(drawn, dtype=np.int64).tobytes()))
    assert found == GOLDEN


GOLDEN = [
    1083182434,
    3602853075,
    1778413411,
    3542317682,
    1163433761,
    3050097662,
    2953750815,
    3636305065,
    1996461035,
]


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
@pytest.mark.parametrize("rate", [Fraction(1, 64), Fraction(1, 4), Fraction(1)], ids=str)
def test_discrete_gaussian_agrees_with_opendp(rate: Fraction) -> None:
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    number = 10_000
    oracle = dp.m.make_gaussian(*space, scale=math.sqrt(1 / rate))([0] * number)
    assert two_samples(draw(rate, number, seed=12), oracle) > 1e-7
    for wrong in (Fraction(13, 10), Fraction(10, 13)):
        assert two_samples(draw(rate * wrong, number, seed=12), oracle) < 1e-7
