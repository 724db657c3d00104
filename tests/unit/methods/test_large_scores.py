"""Scores beyond 64 bits are those of the kernels, at any size."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hedgerow.counting.engine import Domain, Histograms
from hedgerow.methods import scores as large_scores
from hedgerow.methods.scores import ALL_CUTS, SCORES, SKIP, candidates
from hedgerow.privacy.sampler import Candidates
from hedgerow.schema import Categorical, Numeric, Schema, Taxonomy

KERNELS = [name for name, score in SCORES.items() if score.kernel is not None]
KERNELS_BY_NAME = {name: SCORES[name].kernel for name in KERNELS}
LOW = 7  # where the regions begin, which are narrower than the domain
TREE = Taxonomy.from_nested("Any", {"L": ["a", "b"], "R": ["c"]})
DOMAIN = Domain.of(
    Schema(
        "simulated",
        (
            Numeric("n", low=Fraction(0), high=Fraction(49), step=Fraction(1), kind="integer"),
            Categorical("c", TREE),
        ),
        target=Categorical("class", Taxonomy.flat(["x", "y", "z"])),
        unit="row",
    )
)


def histograms(seed: int, scale: int) -> Histograms:
    """Three nodes, the second of which is empty; the third's first attribute is not asked for."""
    rng = np.random.default_rng(seed)
    start, code, counts = [0], [], []
    for node in range(3):
        for size, low in ((50, LOW), (3, 0)):
            if node == 0 or (node == 2 and size == 3):
                used = low + np.sort(rng.choice(size - low, min(size, 9), replace=False))
                code += used.tolist()
                counts += (rng.integers(0, 50, (len(used), 3)) * scale).tolist()
            start.append(len(code))
    return Histograms(
        np.array(start), np.array(code, np.int32), np.array(counts, np.int64).reshape(-1, 3)
    )


def scored(found: Histograms, name: str, paper: bool) -> Candidates:
    lo, hi = np.array([[LOW, 0]] * 3, np.int32), np.array([[50, 3]] * 3, np.int32)
    taxon = np.tile(DOMAIN.root, (3, 1))
    ask = np.array([[ALL_CUTS, ALL_CUTS], [17, ALL_CUTS], [SKIP, ALL_CUTS]], np.int32)
    score = candidates(DOMAIN, lo, hi, taxon, ask, SCORES[name], apart=True, paper=paper)
    return score(found)


@pytest.mark.kernels
@pytest.mark.parametrize("paper", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_python_and_kernels_agree_where_both_can_count(
    name: str, paper: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = [scored(histograms(seed, 1), name, paper) for seed in range(5)]
    calls = []
    exact = large_scores.rescore

    def counted(*given: Any) -> None:
        calls.extend(given[3])
        exact(*given)

    monkeypatch.setattr(large_scores, "LARGE", 1)
    monkeypatch.setattr(large_scores, "rescore", counted)
    for seed, expected in enumerate(usual):
        again = scored(histograms(seed, 1), name, paper)
        assert np.array_equal(expected.score, again.score)
        assert np.array_equal(expected.start, again.start)
    assert len(calls) == 10  # the empty nodes are never large


@pytest.mark.parametrize("name", KERNELS)
def test_very_large_counts_scale(name: str) -> None:
    """A table with every record many times: scores are as many times larger, but for rounding."""
    scale = 1 << 31
    small, large = (scored(histograms(1, factor), name, False).score for factor in (1, scale))
    if name == "infogain":  # a mean over records
        assert np.abs(small - large).max() <= 1
    else:
        # what is rounded down, child by child, is less than 1 before it is multiplied
        assert (np.abs(large - small * scale) <= 3 * scale).all()
        assert np.abs(large).max() > 1 << 31


@pytest.mark.kernels
@pytest.mark.parametrize("name", KERNELS)
def test_whatever_a_kernel_counts_fits_64_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to the last number of records that is not large."""
    seed, limit = 3, large_scores.LARGE
    found = histograms(seed, 1)
    most = int(found.counts[: found.start[1]].sum())
    almost = histograms(seed, (limit - 1) // most)
    usual = scored(almost, name, False).score
    monkeypatch.setattr(large_scores, "LARGE", 1)
    assert np.array_equal(usual, scored(almost, name, False).score)


def test_purity_of_any_size_is_that_of_its_definition() -> None:
    """The largest class and the root of the sum of squares, both in parts of 2^RATIO_BITS."""
    bits, counts = large_scores.RATIO_BITS, (10**17 + 7, 3 * 10**17 + 9)
    squares = sum(count * count for count in counts)
    term = (counts[1] << (bits + 1)) + math.isqrt(squares << 2 * bits)
    total = large_scores.exact_total(KERNELS_BY_NAME["purity"])
    assert total(np.array([[counts]]), np.array([[1]]), 1) == [term]
