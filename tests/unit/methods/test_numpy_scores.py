"""A score that brings a function scores as its kernel does, and only known kernels run."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hedgerow.counting.engine import Domain, Histograms
from hedgerow.errors import UsageError
from hedgerow.methods.scores import (
    ALL_CUTS,
    SCORES,
    SKIP,
    Score,
    candidates,
    child_term,
    finish_score,
)
from hedgerow.schema import Categorical, Numeric, Schema, Taxonomy

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
        for size in (50, 3):
            if node == 0 or (node == 2 and size == 3):
                used = np.sort(rng.choice(size, min(size, 9), replace=False))
                code += used.tolist()
                counts += (rng.integers(0, 50, (len(used), 3)) * scale).tolist()
            start.append(len(code))
    return Histograms(
        np.array(start), np.array(code, np.int32), np.array(counts, np.int64).reshape(-1, 3)
    )


def largest(counts: Any, width: Any, size: Any) -> Any:
    return counts.max(axis=1)


def penalty(counts: Any, width: Any, size: Any) -> Any:
    share = np.where(width > 1, (width << 16) // size, 0)
    return -counts.sum(axis=1) * share


def scored(score: Score, seed: int, apart: bool) -> Any:
    lo, hi = np.zeros((3, 2), np.int32), np.array([[50, 3]] * 3, np.int32)
    ask = np.array([[ALL_CUTS, ALL_CUTS], [17, ALL_CUTS], [SKIP, ALL_CUTS]], np.int32)
    taxon = np.tile(DOMAIN.root, (3, 1))
    score_all = candidates(DOMAIN, lo, hi, taxon, ask, score, apart=apart, paper=True)
    return score_all(histograms(seed, 1))


@pytest.mark.parametrize("name, numbers", [("max", largest), ("ncp", penalty)])
def test_a_function_and_its_kernel_agree(name: str, numbers: Any) -> None:
    kernel = SCORES[name]
    own = replace(kernel, kernel=None, numbers=numbers, by_width=name == "ncp")
    for seed in range(5):
        one, other = scored(kernel, seed, False), scored(own, seed, False)
        for field in ("start", "score", "weight", "count", "part", "first"):
            assert np.array_equal(getattr(one, field), getattr(other, field)), field


def test_the_regions_own_number_is_taken_off_where_regions_differ() -> None:
    own = replace(SCORES["max"], kernel=None, numbers=largest)
    plain, apart = scored(own, 1, False), scored(own, 1, True)
    whole = histograms(1, 1)
    first = whole.counts[: whole.start[1]].sum(axis=0).max()
    of_first = (plain.part == 0) & (np.arange(len(plain.part)) < plain.start[1])
    assert of_first.any()
    assert np.array_equal(apart.score[of_first], plain.score[of_first] - first)


@pytest.mark.parametrize(
    "wrong", [lambda c, w, s: c.max(axis=1) / 2, lambda c, w, s: c, lambda c, w, s: 1]
)
def test_what_is_no_whole_number_for_each_part_is_refused(wrong: Any) -> None:
    with pytest.raises(UsageError, match="one whole number for each part"):
        scored(replace(SCORES["max"], kernel=None, numbers=wrong), 1, False)


@pytest.mark.parametrize(
    "odd",
    [
        {"kernel": 6},
        {"kernel": -1},
        {"kernel": None},
        {"numbers": largest},  # and a kernel
    ],
)
def test_a_score_that_nothing_or_two_things_compute_is_refused(odd: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="has no kernel"):
        replace(SCORES["max"], **odd)


def test_a_score_without_a_bound_is_refused() -> None:
    with pytest.raises(UsageError, match="bound below 1"):
        replace(SCORES["max"], score_range=0)


@pytest.mark.parametrize("kernel", [-1, 6, 77])
def test_kernels_that_nobody_knows_raise(kernel: int) -> None:
    """They once ran as entropy. Scores cannot name them; kernels refuse them all the same."""
    counts = np.array([2, 1], dtype=np.int64)
    with pytest.raises(ValueError, match="no such kernel"):
        child_term(kernel, counts, np.int64(2), np.int64(4))
    with pytest.raises(ValueError, match="no such kernel"):
        finish_score(kernel, np.int64(1), np.int64(3), np.int64(3), False)
    odd = object.__new__(Score)
    for name, value in SCORES["max"].__dict__.items():
        object.__setattr__(odd, name, value)
    object.__setattr__(odd, "kernel", kernel)
    large = histograms(1, 1 << 32)
    lo, hi = np.zeros((3, 2), np.int32), np.array([[50, 3]] * 3, np.int32)
    ask = np.full((3, 2), ALL_CUTS, np.int32)
    with pytest.raises(ValueError, match="no such kernel"):
        candidates(DOMAIN, lo, hi, np.tile(DOMAIN.root, (3, 1)), ask, odd, apart=False)(large)
