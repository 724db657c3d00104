"""Algorithm 1 of the Supermodular paper, and the counterexample to its Theorem 2."""

from __future__ import annotations

import numpy as np
import pytest

from papers.algorithm_1 import approximate


def test_theorem_2_promises_more_than_rounding_gives() -> None:
    """The best within the risk has a utility of 0.4; what rounding accepts has none.

    The program mixes both ends of the chain; the one of utility 1 has too little count, so only
    the other one is ever accepted.
    """
    n, sigma1, sigma2, theta = 1000, 0.5, 4.0, 0.5
    assert (1 - theta) / (1 - theta * sigma1) + 1 / sigma2 < 1  # what the theorem asks for
    chain, utility = np.array([[0], [1], [2]]), np.array([1.0, 0.4, 0.0])
    count, risk = np.array([1, n // 2, n]), (1 / n) / theta
    assert utility[count * risk >= 1].max() == 0.4
    found = approximate(chain, utility, np.ones(3), count, risk, sigma1=sigma1, sigma2=sigma2)
    assert found.utility == 0 and found.stuck == 0
    assert found.risk == pytest.approx(1 / n)


def test_what_all_side_rows_fit_is_left_as_it_is() -> None:
    chain, utility = np.array([[0], [1], [2]]), np.array([1.0, 0.4, 0.0])
    found = approximate(chain, utility, np.ones(3), np.full(3, 10), 0.2)
    assert found.utility == 1.0


def test_the_risk_is_within_what_the_theorem_says() -> None:
    random = np.random.default_rng(1)
    points = np.stack(np.unravel_index(np.arange(12), (4, 3)), axis=1)
    utility = np.array([3.0, 2, 1.5, 0])[points[:, 0]] + np.array([2.0, 1, 0])[points[:, 1]]
    sensitivity = np.array([3.0, 2, 2, 0.1])[points[:, 0]] + np.array([1.0, 0.5, 0.1])[points[:, 1]]
    meet = np.array([[random.integers(0, 4), random.integers(0, 3)] for _ in range(200)])
    count = (meet[None] <= points[:, None]).all(axis=2).sum(axis=1)
    found = approximate(points, utility, sensitivity, count, 0.003, sigma2=4)
    assert 0 <= found.utility <= utility.max() and found.risk <= 4 * 1.5 / 0.5 * 0.003 * (1 + 1e-9)
