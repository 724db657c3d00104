"""What noisy counts of itemsets probably stand for: a smooth fit, and each cell drawn towards it.

The counts of all cells are noisy, and most cells are nearly empty. Two steps make better numbers of
them, from the release alone:

1. **A mixture.** Records are taken for a mixture of kinds, in each of which items come
   independently, as does the number of other items. It is fitted by EM. Noisy counts may be
   negative and are used as they are, so that noise averages out; but the fit moves a cell's count
   only part of the way to its noisy value, by lambda / (lambda + tau v) of it for a fitted count
   lambda and noise of variance v. With tau = 1 that solves the equations of weighted least squares,
   slowly; with tau = 0 it is plain EM, in which empty cells add nothing but noise. In between it is
   quick and good. A kind that noise alone could explain keeps a least weight.
2. **Shrinking.** The count of a cell is given a negative binomial prior of shape 2 whose mean is
   the fit, or, once in a thousand cells, any size at all: n has the probability
   1 / ((n + 1) (n + 2)). With discrete Laplace noise its posterior mean has a closed form: counts
   that stand out of the noise stay what they are, all others go to the fit.

A mixture of products splits over two halves of the items: the table of cells is a matrix, and every
round of EM is a few products of small matrices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hedgerow.arrays import Bools, Floats, Singles
from hedgerow.estimate.itemsets.fit_kernels import posterior

__all__ = ["Mixture", "fit_cells", "fit_mixture", "posterior_means", "table_of"]


SURPRISE = 1e-3
TAU = 0.1
MOST_KINDS = 96
ROUNDS = 240
_TINY = np.float32(1e-30)
_EDGE = 2e-4  # no probability comes closer to 0 or 1
_LEAST_BIN = 1e-4
_LEAST_MEAN = 1e-9
_ALL_BUT_EXACT = 30.0  # an epsilon at which noise is 0 but once in 10^13


@dataclass(frozen=True, eq=False)
class Mixture:
    """Kinds of records.

    Args:
        weight: The share of each kind, shape [kinds].
        hold: The probability that a record of a kind holds each core item, [kinds, items].
        bins: The probability of each bin, [kinds, bins].
    """

    weight: Floats
    hold: Floats
    bins: Floats

    def table(self) -> Floats:
        """The probability of each cell, shape [2^items, bins]."""
        left, right = _halves(self.hold, self.bins, self.hold.shape[1] // 2)
        product = (left * self.weight[:, None]).T @ right
        return np.asarray(product, np.float64).reshape(-1, self.bins.shape[1])


def table_of(hold: Floats) -> Floats:
    """The probability of every mask, [kinds, 2^items], by doubling.

    Example:
        >>> table_of(np.array([[0.5, 0.25]])).tolist()
        [[0.375, 0.375, 0.125, 0.125]]
    """
    table = np.ones((len(hold), 1))
    for item in range(hold.shape[1]):
        chance = hold[:, item : item + 1]
        table = np.concatenate([table * (1 - chance), table * chance], axis=1)
    return table


def fit_cells(counts: Floats, possible: Bools, epsilon: float, total: float) -> Floats:
    """Noisy counts of cells, each drawn towards a fit of all; none is negative.

    Args:
        counts: The noisy counts, shape [2^items, bins]; 0 where no record can lie.
        possible: Where a record can lie.
        epsilon: The rate of the noise.
        total: The number of records, as far as it is known.

    Example:
        >>> noisy = np.array([[0.0], [60.0], [31.0], [-2.0]])
        >>> possible = np.array([[False], [True], [True], [True]])
        >>> fit_cells(noisy, possible, 1.0, 90.0).round().tolist()
        [[0.0], [60.0], [31.0], [0.0]]
    """
    items = len(counts).bit_length() - 1
    variance = max(0.5 / math.sinh(min(epsilon, 600) / 2) ** 2, 1e-9)
    kinds = int(np.clip(round(math.sqrt(counts.size) / 4), 2, MOST_KINDS))
    mixture = fit_mixture(counts, possible, items, kinds, variance, total)
    means = np.where(possible, mixture.table(), 0.0)
    held = float(means.sum())
    means *= total / held if held > 0 else 0.0
    return np.where(possible, posterior_means(counts, means, epsilon), 0.0)


def fit_mixture(
    counts: Floats,
    possible: Bools,
    items: int,
    kinds: int,
    variance: float,
    total: float,
    rounds: int = ROUNDS,
) -> Mixture:
    """Fits kinds of records to noisy counts by EM; the same counts give the same kinds.

    Args:
        counts: The noisy counts, shape [2^items, bins].
        possible: Where a record can lie; the fit is free elsewhere.
        items: The number of core items.
        kinds: How many kinds.
        variance: The variance of the noise on each count.
        total: The number of records, as far as it is known.
        rounds: How many rounds.
    """
    bins, low = counts.shape[1], items // 2
    shape = (1 << (items - low), (1 << low) * bins)
    noisy = np.ascontiguousarray(counts.reshape(shape), np.float32)
    real = np.ascontiguousarray(possible.reshape(shape), np.float32)
    floor = math.sqrt(variance * np.count_nonzero(possible))
    known = max(total, 1.0)
    beyond = 0.0
    weight, hold, share = _start(items, bins, kinds)
    spread = np.float32(TAU * variance)
    for _ in range(rounds):
        left, right = _halves(hold, share, low)
        records = (weight * (known + beyond)).astype(np.float32)
        # fitted counts, how far each moves, and the sums of that by kind
        left *= records[:, None]
        means = np.maximum(left.T @ right, _TINY)
        beyond = float((means * (1 - real)).sum())
        ratio = 1 + real * (noisy - means) / (means + spread)
        by_left, by_right = left * (right @ ratio.T), right * (left @ ratio)
        held = np.maximum(by_left.sum(axis=1, dtype=np.float64), floor)
        by_bin = by_right.reshape(kinds, -1, bins)
        ones = np.concatenate([_held(by_bin.sum(axis=2)), _held(by_left)], axis=1)
        hold = np.clip(ones / held[:, None], _EDGE, 1 - _EDGE)
        share = np.clip(by_bin.sum(axis=1) / held[:, None], _LEAST_BIN, 1)
        share /= share.sum(axis=1, keepdims=True)
        weight = held / held.sum()
    return Mixture(weight, hold, share)


def _halves(hold: Floats, share: Floats, low: int) -> tuple[Singles, Singles]:
    """The probabilities of the masks of either half, the bins with the second."""
    left = table_of(hold[:, low:]).astype(np.float32)
    right = table_of(hold[:, :low])[:, :, None] * share[:, None, :]
    return left, right.reshape(len(hold), -1).astype(np.float32)


def _held(table: Singles) -> Singles:
    """For each item the sum over the masks that hold it, [kinds, items], by halving."""
    sums = []
    while table.shape[1] > 1:
        half = table.shape[1] // 2
        sums.append(table[:, half:].sum(axis=1))
        table = table[:, :half] + table[:, half:]
    return np.stack(sums[::-1], axis=1) if sums else np.zeros((len(table), 0), np.float32)


def _start(items: int, bins: int, kinds: int) -> tuple[Floats, Floats, Floats]:
    """Kinds that differ from each other, the same ones every time."""
    numbers = np.random.Generator(np.random.PCG64(kinds))
    hold = 0.02 + 0.38 * numbers.random((kinds, items))
    share = -np.log1p(-numbers.random((kinds, bins)))
    return np.full(kinds, 1 / kinds), hold, share / share.sum(axis=1, keepdims=True)


def posterior_means(counts: Floats, means: Floats, epsilon: float) -> Floats:
    """The mean of each count given its noisy value.

    Args:
        counts: The noisy values, whole numbers.
        means: The means of the negative binomial priors.
        epsilon: The rate of the discrete Laplace noise.

    Example:
        >>> posterior_means(np.array([0.0, 50.0]), np.array([0.1, 0.1]), 1.0).round(2).tolist()
        [0.04, 50.0]
    """
    if epsilon > _ALL_BUT_EXACT:
        return np.maximum(counts, 0.0)
    out = np.empty(counts.size)
    prior = np.maximum(means.ravel(), _LEAST_MEAN)
    posterior(counts.ravel(), prior, epsilon, math.log(SURPRISE), out)
    return out.reshape(counts.shape)
