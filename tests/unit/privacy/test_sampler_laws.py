"""The law of every draw of `SecureSampler`: exactly, by going through all that its source can give.

The first part forks: every uniform number, and every trial of probability exp(-a/b), takes each of
its outcomes in turn, so the law of what is made of them is known and no sampler is involved. (Those
two are gone through bit by bit in `test_samplers.py`.) Draws without end are cut off where a path
has become unlikely; the mass that was cut off is known, and each probability lies between what was
found and what was found plus that mass. Kernels run uncompiled there.

The second part draws from a seeded keystream with the compiled kernels and compares frequencies.
A sound sampler fails each of its checks with probability `ALARM`; they are fewer than 10, so the
file raises a false alarm with probability 1e-9 at most (and, seeds being fixed, never or always).
Each check is shown to reject mutants, so its power is seen and not assumed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from in_turn import in_turn
from scipy import stats

from hedgerow.privacy import sampler, sampler_kernels
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import Candidates, Listing, Rates, SecureSampler

Law = dict[Hashable, Any]  # fractions, or floats once a trial has been among the draws

ALARM = 1e-10
KERNELS = [name for name, found in vars(sampler_kernels).items() if hasattr(found, "py_func")]


# --- exactly: every value of every uniform number --------------------------------------------


class _Cut(Exception):
    """The path has become too unlikely to follow."""


class _Source:
    """Outcomes by a script; notes how many each draw could have had."""

    def __init__(self, script: list[int], least: float) -> None:
        self.script = script
        self.least = least
        self.taken: list[tuple[int, int]] = []
        self.mass: Any = Fraction(1)

    def fork(self, law: list[Any]) -> int:
        at = len(self.taken)
        outcome = self.script[at] if at < len(self.script) else 0
        self.taken.append((outcome, len(law)))
        self.mass *= law[outcome]
        if self.mass < self.least:
            raise _Cut
        return outcome

    def below(self, bound: int) -> int:
        return self.fork([Fraction(1, bound)] * bound) if bound > 1 else 0

    def trial(self, words: object, at: object, a: int, b: int, first: int) -> bool:
        """Bernoulli(exp(-a/b)), or Bernoulli(2/e) for the envelope of proposals."""
        if a == 0:
            return True
        assert (first, a <= b) == (1, True) or (first, a, b) == (3, 1, 1)
        p = math.exp(-a / b) if first == 1 else 2 / math.e
        return bool(self.fork([1 - p, p]))


class _Stream:
    """What `SecureSampler` asks of a keystream, for kernels that ask a `_Source` instead."""

    def __init__(self, source: _Source) -> None:
        self.below = source.below
        self.words = np.zeros(0, dtype=np.uint64)
        self.at = np.zeros(2, dtype=np.int64)

    def refill(self) -> None:
        raise AssertionError("a kernel read a word by itself")


def exact_law(draw: Callable[[SecureSampler], Hashable], least: float = 0.0) -> tuple[Law, Any]:
    """The law of what a function draws, and the mass of all paths less likely than `least`."""
    found: Law = {}
    cut: Any = Fraction(0)
    script: list[int] | None = []
    with pytest.MonkeyPatch.context() as patch:
        for name in KERNELS:
            patch.setattr(sampler_kernels, name, getattr(sampler_kernels, name).py_func)
        while script is not None:
            source = _Source(script, least)
            patch.setattr(
                sampler_kernels, "below", lambda w, at, bound, s=source: s.below(int(bound))
            )
            patch.setattr(sampler_kernels, "_word", lambda w, at, mask, s=source: s.below(2))
            patch.setattr(sampler_kernels, "bernoulli_exp_fraction", source.trial)
            patch.setattr(sampler, "sample_tail", _no_empty_cells)
            try:
                outcome = draw(SecureSampler(_Stream(source)))  # type: ignore[arg-type]
                found[outcome] = found.get(outcome, 0) + source.mass
            except _Cut:
                cut += source.mass
            script = _following(source.taken)
    assert math.isclose(sum(found.values()) + cut, 1, rel_tol=1e-9)
    return found, cut


def _no_empty_cells(stream: object, trials: int, rate: Fraction, threshold: int) -> int:
    """The number of empty cells at the threshold: `sample_tail` has tests of its own."""
    assert trials == 0, "only sets without empty cells are gone through"
    return 0


def _following(taken: list[tuple[int, int]]) -> list[int] | None:
    while taken and taken[-1][0] + 1 == taken[-1][1]:
        taken.pop()
    return [value for value, _ in taken[:-1]] + [taken[-1][0] + 1] if taken else None


def agrees(found: Law, cut: Any, law: Mapping[Hashable, float]) -> bool:
    """Whether a law may be the one that was found, up to what was cut off."""
    keys = found.keys() | law.keys()
    low = {key: float(found.get(key, 0)) for key in keys}
    return all(low[key] - 1e-9 <= law.get(key, 0.0) <= low[key] + float(cut) + 1e-9 for key in keys)


def noise_law(rate: float, reach: int = 60) -> dict[int, float]:
    a = math.exp(-rate)
    return {z: (1 - a) / (1 + a) * a ** abs(z) for z in range(-reach, reach + 1)}


def listing_law(counts: list[int], rate: float, threshold: int) -> dict[Hashable, float]:
    """Noise on each cell, by itself; whatever stays below the threshold is not listed."""
    law: dict[Hashable, float] = {(): 1.0}
    for cell, count in enumerate(counts):
        here: dict[Hashable, float] = {}
        for z, p in noise_law(rate).items():
            entry = ((cell, count + z),) if count + z >= threshold else ()
            here[entry] = here.get(entry, 0.0) + p
        law = _product(law, here)
    return law


def keeping_law(counts: list[int], share: Fraction, least: int) -> dict[Hashable, float]:
    """Each record is kept by itself; whatever has fewer than `least` is not listed."""
    law: dict[Hashable, float] = {(): 1.0}
    for cell, count in enumerate(counts):
        here: dict[Hashable, float] = {}
        for kept in range(count + 1):
            p = math.comb(count, kept) * share**kept * (1 - share) ** (count - kept)
            entry = ((cell, kept),) if kept >= least else ()
            here[entry] = here.get(entry, 0.0) + float(p)
        law = _product(law, here)
    return law


def _product(one: Mapping[Any, float], other: Mapping[Any, float]) -> dict[Hashable, float]:
    law: dict[Hashable, float] = {}
    for (a, p), (b, q) in ((u, v) for u in one.items() for v in other.items()):
        law[a + b] = law.get(a + b, 0.0) + p * q
    return law


def cells_of(number: int) -> Any:
    return np.arange(number, dtype=np.int32)[:, None]


def listed(drawn: tuple[Any, Any]) -> Hashable:
    """Cells and values as one thing that can be compared."""
    return tuple(zip(drawn[0].ravel().tolist(), drawn[1].tolist(), strict=True))


def same(rate: Fraction, number: int) -> Rates:
    return Rates(values=(rate,), which=np.zeros(number, dtype=np.int64))


@pytest.mark.slow
@pytest.mark.parametrize("trials", [1, 2, 4096])
@pytest.mark.parametrize("least", [1, 2, 3])
def test_keep_exactly(least: int, trials: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cells of 3 and 2 people, each kept with 1/4 or 2/3; portions of any size."""
    monkeypatch.setattr(sampler, "_TRIALS", trials)
    for share in (Fraction(1, 4), Fraction(2, 3)):
        found, cut = exact_law(
            lambda sampler, s=share: listed(
                sampler.listed(
                    cells_of(2), np.array([3, 2]), Listing(law="keep", rate=s, threshold=least)
                )
            )
        )
        assert cut == 0
        law = keeping_law([3, 2], share, least)
        assert agrees(found, cut, law)
        # exactly, not nearly: every probability is a multiple of b^-5
        assert all((p * share.denominator**5).denominator == 1 for p in found.values())
        # cells below the least size are listed by one that stops one short, and by no other
        assert not agrees(found, cut, keeping_law([3, 2], share, least - 1) if least > 1 else {})
        assert not agrees(found, cut, keeping_law([3, 2], 1 - share, least))


def test_keep_of_nobody() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    assert exact_law(
        lambda sampler: listed(
            sampler.listed(
                cells_of(0), nothing, Listing(law="keep", rate=Fraction(1, 2), threshold=1)
            )
        )
    ) == (
        {(): 1},
        0,
    )


@pytest.mark.slow
@pytest.mark.parametrize("rate", [Fraction(1), Fraction(1, 2)], ids=str)
def test_nonempty_exactly(rate: Fraction) -> None:
    for count, threshold in ((3, 3), (1, 4), (0, 1)):
        found, cut = exact_law(
            lambda sampler, c=count, t=threshold: listed(
                sampler.listed(
                    cells_of(1), np.array([c]), Listing(law="nonempty", rate=rate, threshold=t)
                )
            ),
            1e-5,
        )
        assert cut < 0.005
        assert agrees(found, cut, listing_law([count], float(rate), threshold))
        for wrong in (2.0, 0.5, 1.1, 0.9):  # more or less noise than was paid for
            assert not agrees(found, cut, listing_law([count], float(rate) * wrong, threshold))
        for off in (-1, 1):
            assert not agrees(found, cut, listing_law([count], float(rate), threshold + off))


@pytest.mark.slow
def test_cells_get_noise_of_their_own() -> None:
    """The joint law of two cells; noise that both share would have another."""
    for draw in ("nonempty", "sparse"):

        def both(sampler: SecureSampler, kind: str = draw) -> Hashable:
            counts = np.array([2, 1])
            if kind == "nonempty":
                return listed(
                    sampler.listed(
                        cells_of(2), counts, Listing(law="nonempty", rate=Fraction(1), threshold=2)
                    )
                )
            return listed(
                sampler.listed(
                    np.arange(2),
                    counts,
                    Listing(law="sparse", rate=Fraction(1), threshold=2, number=2),
                )
            )

        found, cut = exact_law(both, 1e-5)
        assert cut < 0.02
        assert agrees(found, cut, listing_law([2, 1], 1.0, 2))
        shared: dict[Hashable, float] = {}
        for z, p in noise_law(1.0).items():
            entry = tuple((c, n + z) for c, n in enumerate((2, 1)) if n + z >= 2)
            shared[entry] = shared.get(entry, 0.0) + p
        assert not agrees(found, cut, shared)


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [1, 3])
def test_mark_exactly_where_no_cell_is_empty(threshold: int) -> None:
    found, cut = exact_law(
        lambda sampler: tuple(
            sampler.listed(
                np.arange(2),
                np.array([3, 1]),
                Listing(law="mark", rate=Fraction(1), threshold=threshold, number=2),
            )[0].tolist()
        ),
        1e-5,
    )
    assert cut < 0.01

    def law(rate: float, bar: int) -> dict[Hashable, float]:
        marked: dict[Hashable, float] = {}
        for entry, p in listing_law([3, 1], rate, bar).items():
            assert isinstance(entry, tuple)
            key = tuple(cell for cell, _ in entry)
            marked[key] = marked.get(key, 0.0) + p
        return marked

    assert agrees(found, cut, law(1.0, threshold))
    assert not agrees(found, cut, law(1.25, threshold))
    assert not agrees(found, cut, law(1.0, threshold + 1))


@pytest.mark.parametrize("rate", [Fraction(1), Fraction(1, 2), Fraction(1, 3)], ids=str)
def test_laplace_exactly(rate: Fraction) -> None:
    found, cut = exact_law(
        lambda sampler: int(sampler.laplace(np.array([[7]]), same(rate, 1))[0, 0]), 1e-5
    )
    law = {7 + z: p for z, p in noise_law(float(rate)).items()}
    assert cut < 0.02
    assert agrees(found, cut, law)
    assert math.isclose(found[8], found[6])
    for wrong in (1.25, 0.8):
        assert not agrees(found, cut, {7 + z: p for z, p in noise_law(float(rate) * wrong).items()})


def one_proposal(sampler: SecureSampler, rate: Fraction) -> int:
    """A draw of Gaussian noise on 7 that is cut off when its first proposal is not kept."""
    honest, asked = sampler_kernels._gaussian_kept, []

    def once(*given: Any) -> bool:
        asked.append(given)
        if len(asked) > 1:
            raise _Cut
        return honest(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampler_kernels, "_gaussian_kept", once)
        return int(sampler.gaussian(np.array([[7]]), same(rate, 1))[0, 0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "near"),
    in_turn(map(Fraction, ("1", "1/2", "1/3", "3", "1/8")), [32, 0, -1]),
    ids=str,
)
def test_gaussian_exactly(rate: Fraction, near: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One proposal after another is tried alike, so the law is that of the first, if it is kept.

    Its trial is one piece, or factors from some stride on, as large strides need it.
    """
    monkeypatch.setattr(sampler_kernels, "_NEAR", near)
    found, cut = exact_law(lambda sampler: one_proposal(sampler, rate), 1e-7)
    assert 0.3 < cut < 0.8  # so many proposals are not kept

    def agree(exponent: Callable[[int], float]) -> bool:
        return all(
            math.isclose(float(found[7 + sign * z] / found[7]), exponent(z), rel_tol=1e-9)
            for z in range(1, 1 + math.isqrt(int(16 / rate)))
            for sign in (-1, 1)
        )

    r = float(rate)
    assert agree(lambda z: math.exp(-r * z * z / 2))
    for wrong in (1.3, 1 / 1.3, 1.01, 2.0):  # more or less noise than was paid for
        assert not agree(lambda z, w=wrong: math.exp(-r * w * z * z / 2))
    assert not agree(lambda z: math.exp(-r * z))
    assert not agree(lambda z: math.exp(-r * r * z * z / 2)) or r == 1


def test_coin_exactly() -> None:
    found, cut = exact_law(lambda sampler: tuple(sampler.coin(np.array([3, 1, 4])).tolist()))
    assert cut == 0
    assert found == {(a, 0, b): Fraction(1, 12) for a in range(3) for b in range(4)}


def offered(*runs: tuple[int, int, int]) -> Candidates:
    """One node with runs of (score, weight, count); cuts begin at 5."""
    score, weight, count = map(np.ascontiguousarray, np.array(runs, dtype=np.int64).T)
    part = np.arange(len(runs))
    return Candidates(
        start=np.array([0, len(runs)]),
        score=score,
        weight=weight,
        count=count,
        part=part,
        first=5 + 0 * part,
    )


def chosen(
    sampler: SecureSampler, runs: list[tuple[int, int, int]], rate: Fraction, flip: bool
) -> Hashable:
    drawn = sampler.select(offered(*runs), same(rate, 1), flip)
    return int(drawn.part[0]), int(drawn.cut[0])


def choice_law(
    runs: list[tuple[int, int, int]], rate: float, flip: bool = False
) -> dict[Hashable, float]:
    each = [(part, 5 + cut) for part, run in enumerate(runs) for cut in range(run[2])]
    best = max(score for score, _, _ in runs)
    q = [math.exp(-rate * (best - runs[part][0])) for part, _ in each]
    if not flip:
        mass = [runs[part][1] * own for (part, _), own in zip(each, q, strict=True)]
        return {place: m / sum(mass) for place, m in zip(each, mass, strict=True)}
    law: dict[Hashable, float] = {}
    for c, place in enumerate(each):
        factor = np.polynomial.Polynomial([1.0])
        for j, other in enumerate(q):
            factor *= np.polynomial.Polynomial([1.0, -other]) if j != c else 1.0
        law[place] = q[c] * float(factor.integ()(1.0))
    return law


def test_permute_and_flip_exactly() -> None:
    runs = [(4, 1, 1), (3, 1, 2), (3, 1, 1), (1, 1, 1)]
    found, cut = exact_law(lambda sampler: chosen(sampler, runs, Fraction(3, 4), True), 1e-5)
    assert cut < 0.003
    assert agrees(found, cut, choice_law(runs, 0.75, flip=True))
    for wrong in (1.1, 0.9):
        assert not agrees(found, cut, choice_law(runs, 0.75 * wrong, flip=True))
    assert not agrees(found, cut, choice_law(runs, 0.75))


def test_exponential_mechanism_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """The envelope of proposals is made small: any size is exact."""
    monkeypatch.setattr(sampler_kernels, "ENVELOPE", 1)
    runs = [(2, 1, 1), (0, 2, 1)]
    found, cut = exact_law(lambda sampler: chosen(sampler, runs, Fraction(3, 4), False), 1e-4)
    assert cut < 0.05
    assert agrees(found, cut, choice_law(runs, 0.75))
    for wrong in (1.5, 0.5):
        assert not agrees(found, cut, choice_law(runs, 0.75 * wrong))
    assert not agrees(found, cut, choice_law([(2, 1, 1), (0, 1, 1)], 0.75))


def test_words_are_those_of_the_keystream() -> None:
    """Each word once, in order, whatever is drawn before and after."""
    plain = Keystream(seed=5)
    plain.refill()
    sampler = SecureSampler(Keystream(seed=5))
    assert sampler.words(3).tolist() == plain.words[:3].tolist()
    assert sampler.words(0).tolist() == []
    assert sampler.words(1000).tolist() == plain.words[3:1003].tolist()
    first = sampler.words(1)
    first[0] += np.uint64(1)  # a copy: nobody can change what was handed out to others
    assert sampler._stream.words[1003] == plain.words[1003]
    many = sampler.words(100_000)  # over several refills
    assert many[: len(plain.words) - 1004].tolist() == plain.words[1004:].tolist()
    assert len(set(many.tolist())) == len(many)


# --- by frequencies: compiled kernels ---------------------------------------------------------


def p_value(drawn: Iterable[Hashable], law: Mapping[Hashable, float]) -> float:
    """The G test; outcomes that are expected fewer than 25 times are pooled."""
    seen = Counter(drawn)
    total = seen.total()
    common = [key for key, p in law.items() if p * total >= 25]
    observed = np.array([seen[key] for key in common], dtype=float)
    expected = np.array([law[key] * total for key in common])
    rest = total - expected.sum()
    if rest >= 25:
        observed = np.append(observed, total - observed.sum())
        expected = np.append(expected, rest)
    else:  # the pool joins the rarest, so that no outcome is left out
        rarest = int(expected.argmin())
        observed[rarest] += total - observed.sum()
        expected[rarest] += rest
    return float(stats.power_divergence(observed, expected, lambda_="log-likelihood").pvalue)


def drawn_cells(drawn: tuple[Any, Any], number: int) -> Iterator[int | None]:
    """The value of each cell, None where it is not listed."""
    found = dict(zip(drawn[0].ravel().tolist(), drawn[1].tolist(), strict=True))
    return (found.get(cell) for cell in range(number))


def one_cell(law: Mapping[Hashable, float]) -> dict[Hashable, float]:
    found: dict[Hashable, float] = {}
    for entry, p in law.items():
        assert isinstance(entry, tuple)
        found[entry[0][1] if entry else None] = p
    return found


def test_nonempty_in_bulk() -> None:
    number, rate = 40_000, Fraction(1, 2)
    counts = np.full(number, 4)
    law = one_cell(listing_law([4], 0.5, 3))
    drawn = SecureSampler(Keystream(seed=51)).listed(
        cells_of(number), counts, Listing(law="nonempty", rate=rate, threshold=3)
    )
    assert (np.diff(drawn[0].ravel()) > 0).all()
    assert p_value(drawn_cells(drawn, number), law) > ALARM
    for wrong in (2, Fraction(11, 10), Fraction(10, 11)):
        mutant = SecureSampler(Keystream(seed=51)).listed(
            cells_of(number), counts, Listing(law="nonempty", rate=rate * wrong, threshold=3)
        )
        assert p_value(drawn_cells(mutant, number), law) < ALARM
    lower = SecureSampler(Keystream(seed=51)).listed(
        cells_of(number), counts, Listing(law="nonempty", rate=rate, threshold=2)
    )
    assert p_value(drawn_cells(lower, number), law) < ALARM


def test_keep_in_bulk() -> None:
    number, share = 40_000, Fraction(3, 10)
    counts = np.full(number, 6)
    law = one_cell(keeping_law([6], share, 2))
    drawn = SecureSampler(Keystream(seed=52)).listed(
        cells_of(number), counts, Listing(law="keep", rate=share, threshold=2)
    )
    assert p_value(drawn_cells(drawn, number), law) > ALARM
    for wrong in (Fraction(32, 100), Fraction(28, 100)):
        mutant = SecureSampler(Keystream(seed=52)).listed(
            cells_of(number), counts, Listing(law="keep", rate=wrong, threshold=2)
        )
        assert p_value(drawn_cells(mutant, number), law) < ALARM
    lower = SecureSampler(Keystream(seed=52)).listed(
        cells_of(number), counts, Listing(law="keep", rate=share, threshold=1)
    )
    assert p_value(drawn_cells(lower, number), law) < ALARM


def test_keep_of_cells_that_are_drawn_in_portions() -> None:
    """Large cells: the number that is kept, against quantiles of the binomial law."""
    people, share, number = 3 * 4096 + 5, Fraction(1, 5), 400
    _, kept = SecureSampler(Keystream(seed=53)).listed(
        cells_of(number), np.full(number, people), Listing(law="keep", rate=share, threshold=1)
    )
    edges = stats.binom.ppf(np.arange(1, 8) / 8, people, 0.2)
    cdf = stats.binom.cdf(edges, people, 0.2)
    law = dict(enumerate(np.diff(cdf, prepend=0.0, append=1.0).tolist()))

    def eighths(values: Any) -> list[int]:
        return np.searchsorted(edges, values).tolist()  # type: ignore[no-any-return]

    assert p_value(eighths(kept), law) > ALARM
    assert p_value(eighths(kept * (people - 4096) // people), law) < ALARM  # a portion is lost
    assert p_value(eighths(kept + 64), law) < ALARM


@pytest.mark.slow
def test_mark_in_bulk() -> None:
    """Every other cell is empty: the joint law of which of two neighboring cells are marked."""
    number, rate, threshold = 40_000, Fraction(1), 2
    cells, counts = np.arange(0, number, 2), np.ones(number // 2, dtype=np.int64)

    def marks(scale: Fraction, bar: int) -> list[Hashable]:
        found = SecureSampler(Keystream(seed=54)).listed(
            cells, counts, Listing(law="mark", rate=rate * scale, threshold=bar, number=number)
        )[0]
        assert (np.diff(found) > 0).all()
        marked = np.zeros(number, dtype=np.bool_)
        marked[found] = True
        return [tuple(pair) for pair in marked.reshape(-1, 2).tolist()]

    law: dict[Hashable, float] = {}
    for entry, p in listing_law([1, 0], 1.0, threshold).items():
        assert isinstance(entry, tuple)
        listed_cells = {cell for cell, _ in entry}
        key = (0 in listed_cells, 1 in listed_cells)
        law[key] = law.get(key, 0.0) + p
    assert p_value(marks(Fraction(1), threshold), law) > ALARM
    for scale, bar in ((2, 2), (Fraction(11, 10), 2), (Fraction(10, 11), 2), (1, 1), (1, 3)):
        assert p_value(marks(Fraction(scale), bar), law) < ALARM


def test_mark_tells_what_sparse_lists() -> None:
    cells, counts = np.array([5, 90]), np.array([3, 1])
    for seed in range(20):
        one, other = SecureSampler(Keystream(seed=seed)), SecureSampler(Keystream(seed=seed))
        marked = one.listed(
            cells, counts, Listing(law="mark", rate=Fraction(1), threshold=9, number=10**6)
        )[0]
        assert (
            marked.tolist()
            == other.listed(
                cells, counts, Listing(law="sparse", rate=Fraction(1), threshold=9, number=10**6)
            )[0].tolist()
        )
