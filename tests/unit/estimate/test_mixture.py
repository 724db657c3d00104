"""The fit against plain loops, the posterior against plain sums."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from hedgerow.arrays import Singles
from hedgerow.estimate.core import (
    LEAPS,
    SURPRISE,
    TAU,
    Mixture,
    em_round,
    fit_cells,
    fit_mixture,
    posterior_means,
    table_of,
)


def test_tables_are_products() -> None:
    hold = np.array([[0.2, 0.7, 0.5], [0.9, 0.1, 0.3]])
    table = table_of(hold)
    for mask in range(8):
        bits = mask >> np.arange(3) & 1
        assert table[:, mask] == pytest.approx(np.where(bits, hold, 1 - hold).prod(axis=1))


def test_a_mixture_is_the_sum_of_its_kinds() -> None:
    random = np.random.default_rng(1)
    mixture = Mixture(
        np.array([0.25, 0.75]), random.random((2, 5)), np.array([[0.5, 0.5], [0.1, 0.9]])
    )
    plain = np.einsum("k,km,kb->mb", mixture.weight, table_of(mixture.hold), mixture.bins)
    assert mixture.table() == pytest.approx(plain, rel=1e-5)


@pytest.mark.parametrize("bins", [1, 3])
def test_one_round_is_the_plain_one(bins: int) -> None:
    random = np.random.default_rng(2)
    items, kinds, variance = 5, 4, 3.0
    counts = np.round(random.normal(20, 15, (32, bins)))
    possible = random.random((32, bins)) < 0.9
    counts = np.where(possible, counts, 0)
    total = float(counts.sum())
    before = fit_mixture(counts, possible, items, kinds, variance, total, leaps=1)
    after = em_round(counts, possible, items, variance, total)(before)
    # what the fit puts where nothing can lie is more than there are records
    scale = total / float(before.table()[possible].sum())
    means = before.table() * scale
    bits = np.arange(32)[:, None] >> np.arange(items) & 1
    each = table_of(before.hold).T[:, None, :] * before.bins.T[None] * before.weight * scale
    moved = np.where(possible, (counts - means) / (means + TAU * variance), 0) + 1
    weights = each * moved[:, :, None]
    held = np.maximum(weights.sum(axis=(0, 1)), math.sqrt(variance * possible.sum()))
    hold = np.einsum("mbk,mi->ki", weights, bits) / held[:, None]
    assert after.hold == pytest.approx(np.clip(hold, 2e-4, 1 - 2e-4), rel=1e-3, abs=1e-4)
    assert after.weight == pytest.approx(held / held.sum(), rel=1e-3)
    share = np.clip(weights.sum(axis=0).T / held[:, None], 1e-4, 1)
    assert after.bins == pytest.approx(share / share.sum(axis=1, keepdims=True), rel=1e-3)


def test_leaps_go_further_than_as_many_plain_rounds(hand: SimpleNamespace) -> None:
    random = np.random.default_rng(4)
    chance = np.array([0.7, 0.3]) @ table_of(random.random((2, 8)) ** 2)
    noisy = random.multinomial(30_000, chance) + hand.laplace(random, 0.1, 256)
    counts, possible = noisy[:, None].astype(float), np.ones((256, 1), bool)
    improve = em_round(counts, possible, 8, 200.0, 30_000.0)

    def off(mixture: Mixture) -> float:
        return float(((mixture.table()[:, 0] * 30_000 - counts[:, 0]) ** 2).sum())

    first = plain = fit_mixture(counts, possible, 8, 12, 200.0, 30_000.0, leaps=0)
    for _ in range(3 * LEAPS):
        plain = improve(plain)
    leaps = off(fit_mixture(counts, possible, 8, 12, 200.0, 30_000.0))
    assert leaps < off(first) / 100
    assert leaps < 0.95 * off(plain)


def test_products_are_never_large_enough_for_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    largest = []
    matmul = np.matmul

    def spy(left: Singles, right: Singles, out: Singles) -> Singles:
        largest.append(left.shape[0] * right.size)
        return matmul(left, right, out=out)

    monkeypatch.setattr(np, "matmul", spy)
    random = np.random.default_rng(5)
    counts = np.round(random.normal(20, 15, (1 << 14, 4)))
    improve = em_round(counts, np.ones(counts.shape, bool), 14, 3.0, float(counts.sum()))
    improve(fit_mixture(counts, counts > -99, 14, 96, 3.0, 1e5, leaps=0))
    assert max(largest) <= 1 << 18  # from there on OpenBLAS starts threads
    assert sum(largest) == 3 * 96 * (1 << 16)


def plain_posterior(y: int, mean: float, epsilon: float) -> float:
    """By direct summation, terms as logs."""
    q, a = mean / (mean + 2), math.exp(-epsilon)
    n = np.arange(max(y, 0) + 20_000)
    logs = np.log(n + 1) + n * math.log(q) - epsilon * np.abs(y - n)
    top = logs.max()
    weights = np.exp(logs - top)
    found = float((weights * n).sum() / weights.sum())
    if y <= 0:
        return found
    likely = math.log(weights.sum()) + top + 2 * math.log1p(-q) + math.log((1 - a) / (1 + a))
    other = math.log(SURPRISE) - math.log((y + 1) * (y + 2))
    chance = 1 / (1 + math.exp(min(likely - other, 700)))
    return found + chance * (y - found)


@pytest.mark.parametrize("epsilon", [0.001, 0.05, 0.7, 3.0])
@pytest.mark.parametrize("mean", [1e-6, 0.3, 5.0, 300.0])
def test_the_posterior_is_the_plain_sum(epsilon: float, mean: float) -> None:
    values = [-700, -3, 0, 1, 2, 7, 63, 64, 65, 100, 640, 3000]
    found = posterior_means(np.array(values, float), np.full(len(values), mean), epsilon)
    plain = [plain_posterior(y, mean, epsilon) for y in values]
    # at most one in 10^4 from the four points that stand for a long sum
    assert found == pytest.approx(plain, rel=1e-4, abs=1e-9)


@pytest.mark.parametrize("epsilon", [1e-5, 0.1, 1.0, 25.0, 1e4])
def test_whatever_the_numbers_the_fit_is_finite(epsilon: float) -> None:
    for counts in (np.zeros((16, 2)), np.full((16, 2), -1e6), np.full((16, 2), 1e15)):
        found = fit_cells(counts, np.ones((16, 2), bool), epsilon, max(counts.sum(), 0.0))
        assert np.isfinite(found).all()
        assert (found >= 0).all()
    nothing = fit_cells(np.zeros((1, 1)), np.zeros((1, 1), bool), epsilon, 0.0)
    assert nothing.tolist() == [[0.0]]


def test_fitted_cells_are_nearly_as_good_as_known_means(hand: SimpleNamespace) -> None:
    """Knowing the law of the records would hardly help; 12 other seeds gave 1.10 to 1.16."""
    random = np.random.default_rng(3)
    chance = table_of(np.linspace(0.1, 0.4, 12)[None])[0]
    chance[0] = 0
    means = 20_000 * (chance / chance.sum())[:, None]
    exact = random.multinomial(20_000, chance / chance.sum())[:, None]
    noisy = (exact + hand.laplace(random, 0.5, 4096)[:, None]).astype(float)
    possible = np.ones((4096, 1), bool)
    possible[0], noisy[0] = False, 0

    def error(found: np.ndarray) -> float:
        return float(np.mean((found - exact) ** 2))

    best = error(posterior_means(noisy, means, 0.5))
    assert error(fit_cells(noisy, possible, 0.5, float(noisy.sum()))) < 1.25 * best
    flat = posterior_means(noisy, np.full(means.shape, means.mean()), 0.5)
    assert error(flat) > 1.25 * best  # without a fit it is worse


def test_the_fit_does_not_hang_on_the_random_state() -> None:
    counts = np.arange(64.0).reshape(64, 1)
    np.random.seed(1)
    first = fit_cells(counts, np.ones((64, 1), bool), 1.0, 2016.0)
    np.random.seed(2)
    assert np.array_equal(first, fit_cells(counts, np.ones((64, 1), bool), 1.0, 2016.0))
