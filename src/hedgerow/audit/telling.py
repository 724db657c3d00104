"""The most telling transcript: of every draw, an outcome that one more record makes likelier.

Sampler rarely lets all draws of a run lean the same way, so random transcripts show a loss that is
spread over many draws only in part. A guarantee without a delta holds for every transcript that is
possible, however unlikely, so the audit may as well take one that adds all losses up.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import Cells, Rates, SecureSampler
from hedgerow.privacy.selection import Candidates, Choices

__all__ = ["Telling"]

Ints = NDArray[np.int64]


class Telling:
    """A chance that draws nothing: counts come out high, and whatever holds records passes.

    Args:
        rows: By how much counts are moved: at least as many rows as neighbours may differ in.

    Example:
        >>> rates = Rates((Fraction(1),), np.zeros(1, dtype=np.int64))
        >>> Telling(2).laplace(np.array([[5]]), rates).tolist()
        [[7]]
    """

    def __init__(self, rows: int = 1) -> None:
        self._rows = rows
        self._sampler = SecureSampler(Keystream(seed=0))  # for words, which cannot be replayed anyway

    def select(self, candidates: Candidates, rates: Rates, flip: bool) -> Choices:
        """See `Sampler.select`: the best."""
        chosen = []
        for first, stop in zip(candidates.start[:-1], candidates.start[1:], strict=True):
            run = first + int(candidates.score[first:stop].argmax())
            chosen.append((candidates.part[run], max(-1, candidates.first[run])))
        part, cut = np.asarray(chosen, dtype=np.int64).reshape(-1, 2).T
        return Choices(part, cut)

    def laplace(self, exact: Ints, rates: Rates) -> Ints:
        """See `Sampler.laplace`."""
        return exact + self._rows

    def coin(self, bounds: Ints) -> Ints:
        """See `Sampler.coin`: the last."""
        return np.maximum(bounds - 1, 0)

    def sparse(
        self,
        cells: Ints,
        counts: Ints,
        number: int,
        rate: Fraction,
        threshold: int,
        purpose: str = "",
    ) -> tuple[Ints, Ints]:
        """See `Sampler.sparse`."""
        order = np.argsort(cells)
        return cells[order], np.maximum(counts[order] + self._rows, threshold)

    def mark(
        self,
        cells: Ints,
        counts: Ints,
        number: int,
        rate: Fraction,
        threshold: int,
        purpose: str = "",
    ) -> Ints:
        """See `Sampler.mark`: every cell that holds records."""
        return np.sort(cells)

    def nonempty(
        self, cells: Cells, counts: Ints, rate: Fraction, threshold: int, purpose: str = ""
    ) -> tuple[Cells, Ints]:
        """See `Sampler.nonempty`."""
        return cells, np.maximum(counts + self._rows, threshold)

    def keep(
        self, cells: Cells, counts: Ints, share: Fraction, least: int, purpose: str = ""
    ) -> tuple[Cells, Ints]:
        """See `Sampler.keep`: everybody who can be listed."""
        return cells[counts >= least], counts[counts >= least]

    def words(self, number: int) -> NDArray[np.uint64]:
        """See `Sampler.words`."""
        return self._sampler.words(number)
