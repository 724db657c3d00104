"""Judges for draws: one goodness-of-fit test that all sampler tests share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping

import numpy as np
import pytest
from scipy import stats

ALARM = 1e-7
"""The probability that a right sampler fails one check; seeds are fixed, so it fails never or
always."""

Law = Mapping[Hashable, float]
Judge = Callable[[Iterable[Hashable], Law], bool]


def p_value(drawn: Iterable[Hashable], law: Law) -> float:
    """Pearson's test; outcomes that are expected fewer than 25 times are pooled.

    An outcome that the law does not list at all belongs to the pool, as does the law's own rest.
    """
    seen = Counter(drawn)
    total = sum(seen.values())
    common = [outcome for outcome, p in law.items() if p * total >= 25]
    observed = np.array([seen[outcome] for outcome in common], dtype=float)
    expected = np.array([law[outcome] * total for outcome in common])
    rest, expected_rest = total - observed.sum(), total - expected.sum()
    if expected_rest >= 25:
        observed, expected = np.append(observed, rest), np.append(expected, expected_rest)
        return float(stats.chisquare(observed, expected).pvalue)
    # too rare for the normal approximation: the pool is judged by itself, both ways, exactly
    share = max(0.0, expected_rest / total)
    tail = stats.binomtest(int(rest), total, share).pvalue if rest or share else 1.0
    if len(common) < 2:
        return float(tail)
    body = stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue
    return float(min(tail, body))


@pytest.fixture
def fits() -> Judge:
    """Whether draws may well come from a law."""

    def judge(drawn: Iterable[Hashable], law: Law) -> bool:
        assert sum(law.values()) < 1 + 1e-9
        return p_value(drawn, law) > ALARM

    return judge
