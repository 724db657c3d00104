"""Drawing: the mechanisms themselves, over a keystream.

`Chance` is what a curator draws from. `Dice` really draws; the replay audit puts another one in
its place that forces the outcomes of an earlier run and tells how likely they were.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.privacy import binomial, samplers
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.selection import Candidates, Choices

__all__ = ["Chance", "Dice", "flat"]

Ints = NDArray[np.int64]

MOST_FLIPS = 1024  # permute-and-flip lists its candidates; beyond this the exponential mechanism


class Chance(Protocol):
    """A source of outcomes. Rates are exact fractions, one for each item."""

    def select(self, candidates: Candidates, rate: list[Fraction], flip: bool) -> Choices:
        """Chooses one candidate for each node with P proportional to weight * exp(rate * score),
        or, where `flip` allows it and weights are equal, by permute-and-flip."""

    def laplace(self, exact: Ints, rate: list[Fraction]) -> Ints:
        """Adds discrete Laplace noise, P[z] proportional to exp(-rate |z|), to each row."""

    def sparse(
        self, cells: Ints, counts: Ints, number: int, rate: Fraction, threshold: int
    ) -> tuple[Ints, Ints]:
        """The law of: noise on each of `number` cells, keep those at or above the threshold."""


def flat(candidates: Candidates, node: int) -> bool:
    """Whether permute-and-flip may serve a node: few candidates, with equal base weights.

    Both are public: they follow from the node's region.
    """
    runs = slice(candidates.start[node], candidates.start[node + 1])
    weight = candidates.weight[runs]
    return bool((weight == weight[0]).all() and candidates.count[runs].sum() <= MOST_FLIPS)


class Dice:
    """Exact draws from a keystream, always in the order in which they are asked for."""

    def __init__(self, stream: Keystream) -> None:
        self._stream = stream

    def select(self, candidates: Candidates, rate: list[Fraction], flip: bool) -> Choices:
        """See `Chance.select`."""
        nodes = len(candidates.start) - 1
        run = np.zeros(nodes, dtype=np.int64)
        offset = np.zeros(nodes, dtype=np.int64)
        a, b = _terms(rate, 1)
        widest = int(np.diff(candidates.start).max(initial=0))
        scratch = np.empty(widest, dtype=np.int64)
        c = candidates

        def exponential(node: int) -> int:
            done: int = samplers.select_exponential(
                self._stream.words, self._stream.at, node,
                c.start[: stop + 1], c.score, c.weight, c.count, a, b, scratch, run, offset,
            )  # fmt: skip
            return done

        def flips(node: int) -> int:
            done: int = samplers.permute_and_flip(
                self._stream.words, self._stream.at, node,
                c.start[: stop + 1], c.score, c.count, a, b, run, offset,
            )  # fmt: skip
            return done

        if not flip:
            stop = nodes
            self._pump(exponential, 0, stop)
        else:
            for node in range(nodes):
                stop = node + 1
                self._pump(flips if flat(c, node) else exponential, node, stop)
        cut = np.where(c.first[run] < 0, -1, c.first[run] + offset)
        return Choices(c.part[run], cut)

    def laplace(self, exact: Ints, rate: list[Fraction]) -> Ints:
        """See `Chance.laplace`."""
        noise = np.zeros(exact.size, dtype=np.int64)
        a, b = _terms(rate, exact.size // max(1, len(rate)))
        self._pump(
            lambda item: samplers.fill_laplace(
                self._stream.words, self._stream.at, item, a, b, noise
            ),
            0,
            noise.size,
        )
        return exact + noise.reshape(exact.shape)

    def sparse(
        self, cells: Ints, counts: Ints, number: int, rate: Fraction, threshold: int
    ) -> tuple[Ints, Ints]:
        """See `Chance.sparse`.

        Marks of empty cells are independent, so their number is binomial and their places a
        uniform subset; the tail of the noise has no memory, so a kept value is the threshold
        plus a geometric one.
        """
        noisy = self.laplace(counts, [rate] * len(counts))
        kept = noisy >= threshold
        spurious = binomial.sample_tail(self._stream, number - len(cells), rate, threshold)
        taken = set(cells.tolist())
        fresh: list[int] = []
        while len(fresh) < spurious:
            cell = self._stream.below(number)
            if cell not in taken:
                taken.add(cell)
                fresh.append(cell)
        value = np.zeros(spurious, dtype=np.int64)
        a, b = _terms([rate] * spurious, 1)
        self._pump(
            lambda item: samplers.fill_geometric(
                self._stream.words, self._stream.at, item, a, b, value
            ),
            0,
            spurious,
        )
        cell_all = np.concatenate([cells[kept], np.asarray(fresh, dtype=np.int64)])
        value_all = np.concatenate([noisy[kept], value + threshold])
        order = np.argsort(cell_all)  # or the order would tell the empty cells apart
        return cell_all[order], value_all[order]

    def _pump(self, kernel: Callable[[int], int], item: int, items: int) -> None:
        """Runs a kernel over its items, refilling the stream as it runs dry."""
        while item < items:
            item = kernel(item)
            if item < items:
                self._stream.refill()


def _terms(rate: list[Fraction], repeat: int) -> tuple[Ints, Ints]:
    """Numerators and denominators, each repeated for the columns of its row."""
    distinct: dict[Fraction, tuple[int, int]] = {}
    for value in rate:
        if value not in distinct:
            if value.numerator >= 1 << 50 or value.denominator >= 1 << 50 or value <= 0:
                raise OverflowError("a rate does not fit the samplers")
            distinct[value] = (value.numerator, value.denominator)
    a = np.fromiter((distinct[value][0] for value in rate), dtype=np.int64, count=len(rate))
    b = np.fromiter((distinct[value][1] for value in rate), dtype=np.int64, count=len(rate))
    return np.repeat(a, repeat), np.repeat(b, repeat)
