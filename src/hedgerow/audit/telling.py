"""The most telling transcript: of every draw, an outcome that one more record makes likelier.

Chance rarely lets all draws of a run lean the same way, so random transcripts show a loss that is
spread over many draws only in part. A guarantee without a delta holds for every transcript that is
possible, however unlikely, so the audit may as well take one that adds all losses up.
"""

from __future__ import annotations

import numpy as np

from hedgerow.arrays import Ints, Words
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import C, Candidates, Choices, Listing, Rates, SecureSampler

__all__ = ["Telling"]


class Telling:
    """A sampler that draws nothing: counts come out high, and whatever holds records passes.

    Args:
        rows: By how much counts are moved: at least as many rows as neighbours may differ in.

    Example:
        >>> from fractions import Fraction
        >>> rates = Rates.alike(Fraction(1), 1)
        >>> Telling(2).laplace(np.array([[5]]), rates).tolist()
        [[7]]
    """

    def __init__(self, rows: int = 1) -> None:
        self._rows = rows
        self._sampler = SecureSampler(
            Keystream(seed=0)
        )  # for words, which cannot be replayed anyway

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

    def gaussian(self, exact: Ints, rates: Rates) -> Ints:
        """See `Sampler.gaussian`: far out, where one more record tells more and more."""
        return exact + 10 * self._rows

    def coin(self, bounds: Ints) -> Ints:
        """See `Sampler.coin`: the last."""
        return np.maximum(bounds - 1, 0)

    def listed(self, cells: C, counts: Ints, rule: Listing) -> tuple[C, Ints]:
        """See `Sampler.listed`: whatever holds records and can be listed."""
        if rule.law == "keep":
            return cells[counts >= rule.threshold], counts[counts >= rule.threshold]
        if not rule.number:
            return cells, np.maximum(counts + self._rows, rule.threshold)
        order = np.argsort(cells)
        values = np.maximum(counts[order] + self._rows, rule.threshold)
        return cells[order], np.minimum(values, rule.threshold) if rule.law == "mark" else values

    def words(self, number: int) -> Words:
        """See `Sampler.words`."""
        return self._sampler.words(number)
