"""The kernels, against exact probabilities: by enumeration of bits, and by large samples.

Every statistical check keeps unsound with 30% too much and 30% too little noise, which it must
reject, so that it cannot rot into a check that passes whatever is drawn.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from hedgerow.privacy import keystream, sampler_kernels
from hedgerow.privacy.keystream import Keystream

Law = Mapping[Hashable, float]
Judge = Callable[[Iterable[Hashable], Law], bool]

RATES = [
    Fraction(1, 10),
    Fraction(1, 2),
    Fraction(1),
    Fraction(3),
    Fraction(7, 3),
    Fraction(123457, 1000003),
    Fraction(2**40 - 87, 2**40),
    Fraction(2**49 - 1, 2**49),
]


def pump(stream: Keystream, kernel: Callable[[int], int], items: int) -> None:
    item = 0
    while item < items:
        item = kernel(item)
        if item < items:
            stream.refill()


def draw(fill: Callable[..., int], rate: Fraction, number: int, seed: int) -> list[int]:
    stream = Keystream(seed=seed)
    out = np.zeros(number, dtype=np.int64)
    a = np.full(number, rate.numerator, dtype=np.int64)
    b = np.full(number, rate.denominator, dtype=np.int64)
    pump(stream, lambda item: fill(stream.words, stream.at, item, a, b, out), number)
    return out.tolist()  # type: ignore[no-any-return]


def laplace_law(rate: float) -> dict[int, float]:
    q = math.exp(-rate)
    reach = math.ceil(40 / rate)
    return {z: (1 - q) / (1 + q) * q ** abs(z) for z in range(-reach, reach + 1)}


def geometric_law(rate: float) -> dict[int, float]:
    return {j: -math.expm1(-rate) * math.exp(-rate * j) for j in range(math.ceil(40 / rate))}


# --- exact: every pattern of bits -----------------------------------------------------------


def enumerate_words(
    kernel: Callable[[np.ndarray, np.ndarray], Hashable], bits: int, depth: int
) -> tuple[dict[Hashable, Fraction], Fraction]:
    """Runs a kernel on all words of so many bits: exact probabilities, and the mass that would
    need more than `depth` words."""
    found: dict[Hashable, Fraction] = {}
    open_ = Fraction(0)
    stack: list[tuple[int, ...]] = [()]
    while stack:
        prefix = stack.pop()
        at = np.zeros(2, dtype=np.int64)
        outcome = kernel(np.array(prefix, dtype=np.uint64), at)
        mass = Fraction(1, 2 ** (bits * len(prefix)))
        if not at[1]:
            assert at[0] == len(prefix), "a kernel left words unread that an earlier one asked for"
            found[outcome] = found.get(outcome, Fraction(0)) + mass
        elif len(prefix) == depth:
            open_ += mass
        else:
            stack.extend((*prefix, word) for word in range(2**bits))
    return found, open_


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 6, 7, 8])
def test_below_is_uniform_bit_by_bit(bound: int) -> None:
    found, open_ = enumerate_words(lambda w, at: int(sampler_kernels.below(w, at, bound)), 3, 4)
    assert set(found) == set(range(bound))
    assert len(set(found.values())) == 1  # exactly equal, not nearly
    assert open_ == (1 - Fraction(bound, 1 << (bound - 1).bit_length())) ** 4 or bound == 1


def test_below_reaches_both_ends_of_a_huge_range() -> None:
    bound = (1 << 62) + 12345
    at = np.zeros(2, dtype=np.int64)
    top = np.array([bound, 2**64 - 1, bound - 1], dtype=np.uint64)  # two are rejected
    assert sampler_kernels.below(top, at, bound) == bound - 1
    assert at.tolist() == [3, 0]


def test_below_reaches_every_bit() -> None:
    """Of a bound just above a power of two, every place below it can be drawn."""
    for bits in range(1, 63):
        for place in range(bits):
            word = np.array([1 << place], dtype=np.uint64)
            at = np.zeros(2, dtype=np.int64)
            assert sampler_kernels.below(word, at, (1 << bits) + 1) == 1 << place
            assert at.tolist() == [1, 0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "a, b", [(0, 1), (1, 1), (1, 2), (1, 3), (2, 3), (3, 4), (5, 7), (7, 8), (8, 8)]
)
def test_bernoulli_exp_fraction_brackets_its_probability(a: int, b: int) -> None:
    found, open_ = enumerate_words(
        lambda w, at: bool(sampler_kernels.bernoulli_exp_fraction(w, at, a, b, 1)), 3, 6
    )
    low, high = float(found[True]), float(found[True] + open_)
    assert sum(found.values()) + open_ == 1
    assert low - 1e-12 <= math.exp(-a / b) <= high + 1e-12
    for wrong in (1.3, 1 / 1.3):
        assert a == 0 or not low <= math.exp(-a / b * wrong) <= high


def test_the_envelope_trial_has_probability_two_over_e() -> None:
    found, open_ = enumerate_words(
        lambda w, at: bool(sampler_kernels.bernoulli_exp_fraction(w, at, 1, 1, 3)), 3, 6
    )
    assert float(found[True]) <= 2 / math.e <= float(found[True] + open_)
    assert open_ < Fraction(1, 100)


@pytest.mark.slow
@pytest.mark.parametrize("a, b", [(0, 1), (2, 1), (3, 2), (5, 3)])
def test_bernoulli_exp_takes_any_fraction(a: int, b: int) -> None:
    found, open_ = enumerate_words(
        lambda w, at: bool(sampler_kernels.bernoulli_exp(w, at, a, b)), 3, 6
    )
    assert float(found[True]) - 1e-12 <= math.exp(-a / b) <= float(found[True] + open_) + 1e-12
    assert open_ < Fraction(1, 5)


def laplace_once(rate: Fraction) -> Callable[[np.ndarray, np.ndarray], Hashable]:
    a, b = (np.array([term], dtype=np.int64) for term in (rate.numerator, rate.denominator))

    def once(words: np.ndarray, at: np.ndarray) -> Hashable:
        out = np.zeros(1, dtype=np.int64)
        done = sampler_kernels.fill_laplace(words, at, 0, a, b, out)
        assert done == 1 - at[1], "an item is done or the words ran out"
        assert not at[1] or at[0] == 0, "a kernel that ran dry goes back to the start of its item"
        return int(out[0])

    return once


@pytest.mark.slow
@pytest.mark.parametrize("depth", [5, pytest.param(6, marks=pytest.mark.long)])
@pytest.mark.parametrize("rate", [Fraction(1), Fraction(3), Fraction(1, 2)], ids=str)
def test_discrete_laplace_bit_by_bit(rate: Fraction, depth: int) -> None:
    found, open_ = enumerate_words(laplace_once(rate), 3, depth)
    law = laplace_law(float(rate))
    for z in (0, 1, -1):
        some = found.get(z, Fraction(0))
        assert float(some) - 1e-12 <= law[z] <= float(some + open_) + 1e-12
    assert found[0] > 0
    assert found.get(1) == found.get(-1)


# --- large samples -------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("rate", RATES, ids=str)
def test_discrete_laplace(rate: Fraction, fits: Judge) -> None:
    drawn = draw(sampler_kernels.fill_laplace, rate, 150_000, seed=11)
    assert fits(drawn, laplace_law(float(rate)))
    for wrong in (1.3, 1 / 1.3, 1.05, 1 / 1.05):  # much finer than it has to be
        assert not fits(drawn, laplace_law(float(rate) * wrong))


@pytest.mark.parametrize("rate", RATES, ids=str)
def test_geometric(rate: Fraction, fits: Judge) -> None:
    drawn = draw(sampler_kernels.fill_geometric, rate, 150_000, seed=12)
    assert fits(drawn, geometric_law(float(rate)))
    for wrong in (1.3, 1 / 1.3):
        assert not fits(drawn, geometric_law(float(rate) * wrong))


@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(3)])
def test_noise_of_the_wrong_scale_is_rejected(rate: Fraction, fits: Judge) -> None:
    """The unsound of the real sampler: the same code, with 30% too little and too much noise."""
    law = laplace_law(float(rate))
    assert fits(draw(sampler_kernels.fill_laplace, rate, 50_000, seed=13), law)
    for wrong in (Fraction(13, 10), Fraction(10, 13)):
        assert not fits(draw(sampler_kernels.fill_laplace, rate * wrong, 50_000, seed=13), law)


def test_a_twin_that_lets_zero_come_twice_is_rejected(fits: Judge) -> None:
    rng = Keystream(seed=14)
    sizes = draw(sampler_kernels.fill_geometric, Fraction(1), 50_000, seed=15)
    twin = [size if rng.bits(1) else -size for size in sizes]
    assert not fits(twin, laplace_law(1.0))


def test_very_strong_noise_stays_exact_in_its_tails() -> None:
    """A rate of 10^-9 gives noise around 10^9: quantiles against their exact probabilities."""
    rate = Fraction(1, 10**9)
    drawn = np.array(draw(sampler_kernels.fill_laplace, rate, 100_000, seed=16))
    for level in (0.01, 0.1, 0.5, 0.9, 0.99):
        place = math.log(2 * level) if level < 0.5 else -math.log(2 * (1 - level))
        below = float((drawn <= place * 1e9).mean())
        assert abs(below - level) < 6 * math.sqrt(level * (1 - level) / len(drawn))


# --- exhaustion ----------------------------------------------------------------------------


@pytest.mark.parametrize("block", [1, 2, 3, 7, 64])
def test_draws_do_not_depend_on_how_the_stream_is_cut(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def everything() -> list[list[int]]:
        return [
            draw(sampler_kernels.fill_laplace, Fraction(2, 9), 300, seed=21),
            draw(sampler_kernels.fill_geometric, Fraction(123457, 1000003), 300, seed=22),
            select(sampler_kernels.select_exponential, [5, 0, 9, 9], Fraction(1, 3), 100, seed=23),
            select(sampler_kernels.permute_and_flip, [5, 0, 9, 9], Fraction(1, 3), 100, seed=24),
        ]

    whole = everything()
    monkeypatch.setattr(keystream, "_BLOCK", block)
    assert everything() == whole


@pytest.mark.parametrize("name", ["laplace", "geometric", "gaussian", "kept"])
def test_an_item_that_ran_dry_leaves_earlier_items_alone(name: str) -> None:
    """And goes back to where it began, not further: no word serves two items."""
    words = Keystream(seed=25)
    words.refill()
    fill, number = getattr(sampler_kernels, f"fill_{name}"), 50
    rate = (np.full(number, 2), np.full(number, 3))
    given = (np.full(number, 3), *rate) if name == "kept" else rate

    def filled(cut: int, items: int = number) -> tuple[list[int], int, NDArray[np.int64]]:
        out, at = np.full(items, 99), np.zeros(2, np.int64)
        done = fill(words.words[:cut], at, 0, *(each[:items] for each in given), out)
        return out[:done].tolist(), done, at

    whole = len(words.words)
    begin = [0, *(int(filled(whole, items)[2][0]) for items in range(1, number + 1))]
    full, done, _ = filled(whole)
    assert done == number
    for cut in range(0, begin[-1], 7):
        part, done, at = filled(cut)
        assert done < number and part == full[:done]
        assert at.tolist() == [begin[done], 1]


# --- selection -----------------------------------------------------------------------------


def select(
    kernel: Callable[..., int],
    score: list[int],
    rate: Fraction,
    number: int,
    *,
    weight: list[int] | None = None,
    count: list[int] | None = None,
    seed: int,
) -> list[int]:
    """Draws the same selection many times; a drawn candidate is told as run * 1000 + offset."""
    runs = len(score)
    arrays = [np.tile(np.array(column, dtype=np.int64), number) for column in (
        score, weight or [1] * runs, count or [1] * runs)]  # fmt: skip
    start = np.arange(number + 1, dtype=np.int64) * runs
    a = np.full(number, rate.numerator, dtype=np.int64)
    b = np.full(number, rate.denominator, dtype=np.int64)
    run, offset = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64)
    stream = Keystream(seed=seed)

    def step(item: int) -> int:
        if kernel is sampler_kernels.permute_and_flip:
            return kernel(
                stream.words, stream.at, item, start, arrays[0], arrays[2], a, b, run, offset
            )
        scratch = np.empty(runs, dtype=np.int64)
        return kernel(stream.words, stream.at, item, start, *arrays, a, b, scratch, run, offset)

    pump(stream, step, number)
    return ((run % runs) * 1000 + offset).tolist()  # type: ignore[no-any-return]


def exponential_law(
    score: list[int], rate: Fraction, weight: list[int], count: list[int]
) -> dict[int, float]:
    best = max(score)
    mass = [
        math.exp(-float(rate * (best - value)) + math.log(heavy)) for value, heavy in zip(
            score, weight, strict=True)
    ]  # fmt: skip
    total = math.fsum(m * c for m, c in zip(mass, count, strict=True))
    return {
        run * 1000 + offset: m / total
        for run, (m, c) in enumerate(zip(mass, count, strict=True))
        for offset in range(min(c, 1000))
    }


def flip_law(score: list[int], rate: Fraction) -> dict[int, float]:
    """P(c) = q_c * integral of the product of 1 - t q_j over j != c, term by term."""
    best = max(score)
    q = [math.exp(-float(rate * (best - value))) for value in score]
    law = {}
    for c, own in enumerate(q):
        polynomial = np.polynomial.Polynomial([1.0])
        for j, other in enumerate(q):
            if j != c:
                polynomial *= np.polynomial.Polynomial([1.0, -other])
        law[c * 1000] = own * float(polynomial.integ()(1.0))
    return law


SELECTIONS = {
    "plain": ([0, 1, 2, 5], Fraction(1, 2), [1, 1, 1, 1], [1, 1, 1, 1]),
    "ties": ([3, 3, 3], Fraction(7, 3), [1, 1, 1], [1, 1, 1]),
    "weights": ([0, 4, 1], Fraction(1, 2), [40, 3, 17], [1, 1, 1]),
    "runs": ([2, 0, 3], Fraction(2, 3), [5, 9, 1], [4, 30, 7]),
    "negative": ([-100, -97, -90], Fraction(1, 5), [6, 2, 1], [3, 1, 2]),
    "no gap left": ([0, 10**6, 10**6 - 3], Fraction(1), [1 << 20, 1, 1], [16, 1, 1]),
    "huge gap": ([0, 1 << 61], Fraction(2**49 - 1), [1 << 20, 1], [16, 1]),
    "at the envelope": ([0, 21], Fraction(1), [1 << 24, 1], [64, 1]),
    "just below it": ([0, 19], Fraction(1), [1 << 24, 1], [8, 1]),
    "halves": ([0, 3, 5, 7], Fraction(5, 2), [1 << 20, 1 << 12, 1 << 5, 1], [1, 1, 1, 1]),
    "large terms": ([0, 1, 2], Fraction(2**40 - 87, 2**40), [1, 1, 1], [1, 1, 1]),
    "larger terms": ([0, 1, 2], Fraction(2**48 + 1, 2**49 - 1), [3, 2, 1], [2, 2, 2]),
    "fine scores": ([0, 1 << 38, 1 << 39], Fraction(1, 2**38 - 1), [9, 3, 1], [1, 2, 1]),
    "coarse scores": ([0, 1], Fraction(1, 10**9), [1, 1], [1, 1]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SELECTIONS)
def test_exponential_mechanism(name: str, fits: Judge) -> None:
    score, rate, weight, count = SELECTIONS[name]
    number = 6_000 if "envelope" in name else 60_000
    drawn = select(
        sampler_kernels.select_exponential, score, rate, number, weight=weight, count=count, seed=31
    )
    law = exponential_law(score, rate, weight, count)
    if name == "at the envelope":  # 1024 candidates beside one: judged by run
        far = sum(law.values()) - law[1000]
        assert fits([value // 1000 for value in drawn], {0: far, 1: law[1000]})
        return
    assert fits(drawn, law)
    if name in ("plain", "weights", "runs", "halves", "large terms", "fine scores"):
        for wrong in (Fraction(13, 10), Fraction(10, 13)):
            assert not fits(drawn, exponential_law(score, rate * wrong, weight, count))


@pytest.mark.slow
def test_exponential_mechanism_among_many(fits: Judge) -> None:
    score = [(7 * i) % 41 for i in range(3000)]
    weight = [1 + i % 5 for i in range(3000)]
    rate = Fraction(1, 8)
    drawn = select(sampler_kernels.select_exponential, score, rate, 6_000, weight=weight, seed=32)
    law = exponential_law(score, rate, weight, [1] * 3000)
    pooled: dict[int, float] = {}
    for i in range(3000):
        pooled[score[i] * 10 + weight[i]] = pooled.get(score[i] * 10 + weight[i], 0) + law[i * 1000]
    assert fits([score[d // 1000] * 10 + weight[d // 1000] for d in drawn], pooled)


@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(123457, 1000003), Fraction(7, 3)])
@pytest.mark.parametrize("score", [[0, 1, 2, 5], [3, 3], [4], [-9, -7, -7, -8, -30]])
def test_permute_and_flip(rate: Fraction, score: list[int], fits: Judge) -> None:
    drawn = select(sampler_kernels.permute_and_flip, score, rate, 60_000, seed=33)
    assert fits(drawn, flip_law(score, rate))
    if score == [0, 1, 2, 5] and rate == Fraction(1, 2):
        for wrong in (Fraction(13, 10), Fraction(10, 13)):
            assert not fits(drawn, flip_law(score, rate * wrong))
        assert not fits(drawn, exponential_law(score, rate, [1] * 4, [1] * 4))  # another law


def test_permute_and_flip_treats_a_run_as_its_candidates(fits: Judge) -> None:
    rate = Fraction(1, 2)
    drawn = select(sampler_kernels.permute_and_flip, [0, 2], rate, 60_000, count=[3, 2], seed=34)
    law = flip_law([0, 0, 0, 2, 2], rate)
    names = [0, 1, 2, 1000, 1001]
    assert fits(drawn, {name: law[c * 1000] for c, name in enumerate(names)})


def test_permute_and_flip_with_a_huge_gap() -> None:
    drawn = select(
        sampler_kernels.permute_and_flip, [0, 1 << 60], Fraction(2**49 - 1), 500, seed=35
    )
    assert set(drawn) == {1000}


# --- the same words give the same draws ------------------------------------------------------


def checksum(drawn: list[int]) -> int:
    return zlib.crc32(np.asarray(drawn, dtype=np.int64).tobytes())


KEPT = (np.array([3, 40, 0, 9]), np.array([2, 1, 1, 7]), np.array([5, 3, 2, 8]))


def kept(seed: int) -> list[int]:
    stream = Keystream(seed=seed)
    out = np.zeros(4, dtype=np.int64)
    pump(
        stream, lambda item: sampler_kernels.fill_kept(stream.words, stream.at, item, *KEPT, out), 4
    )
    return [*out.tolist(), int(stream.at[0])]


GOLDEN = [
    157963850, 374623217, 2256366659, 1668524415, 1210957403, 4080740050, 1468617891, 2018561061,
    2510918634, 4280635931, 969747181, 3713074017, 53934606, 1643631651, 1340598533, 2286534509,
    315208298, 2493044254, 421753760, 109555893, 4199623621, 1384087900, 3036292440, 2113952959,
    3226013051, 797172791, 1281838222, 3323214206, 3004571993, 160986760,
]  # fmt: skip


@pytest.mark.parametrize("form", ["python", "compiled"])
def test_the_same_words_give_the_same_draws(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What releases with a seed are made of, in tests and examples: no draw may change unseen."""
    for name, kernel in list(vars(sampler_kernels).items()):
        if hasattr(kernel, "py_func"):
            monkeypatch.setattr(sampler_kernels, name, getattr(kernel, form))
    found = [
        checksum(draw(fill, rate, 60, seed=41))
        for fill in (sampler_kernels.fill_laplace, sampler_kernels.fill_geometric)
        for rate in RATES
    ]
    for name in ("plain", "weights", "runs", "negative", "halves", "larger terms", "fine scores"):
        score, rate, weight, count = SELECTIONS[name]
        drawn = select(
            sampler_kernels.select_exponential, score, rate, 60, weight=weight, count=count, seed=42
        )
        found += [checksum(drawn)]
        if "scores" not in name:
            flipped = select(
                sampler_kernels.permute_and_flip, score, rate, 60, count=count, seed=43
            )
            found += [checksum(flipped)]
    found += [checksum(kept(44))]
    assert found == GOLDEN
