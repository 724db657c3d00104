"""Questions whose answer is a sum over records of whole numbers, each a function of one record.

A question is public. Parts of the rows answer it one by one and their answers are added up, so that
all engines agree to the last digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Ints
from hedgerow.counting.sum_kernels import add_pairs

__all__ = ["PairTables", "RowSums", "pair_start"]

Codes = NDArray[Any]  # [rows, attributes + 1], the class last


class RowSums(Protocol):
    """A question that is answered by a sum over rows."""

    @property
    def room(self) -> int:
        """How many numbers the answer has."""

    def add(self, rows: Codes, out: Ints) -> None:
        """Adds what rows contribute."""


def pair_start(groups: Sequence[int]) -> Ints:
    """Where the table of each pair (1, 0), (2, 0), (2, 1), ... begins, and where the last ends.

    Example:
        >>> pair_start([2, 3, 4]).tolist()
        [0, 6, 14, 26]
    """
    sizes = [groups[one] * groups[other] for one in range(len(groups)) for other in range(one)]
    return np.cumsum([0, *sizes]).astype(np.int64)


@dataclass(frozen=True)
class PairTables:
    """The tables of all pairs of the first attributes, see `pair_start`.

    Args:
        edges: The edges of the groups of each of these attributes.
    """

    edges: tuple[Ints, ...]

    @property
    def room(self) -> int:
        """See `RowSums.room`."""
        return int(pair_start([len(cut) - 1 for cut in self.edges])[-1])

    def add(self, rows: Codes, out: Ints) -> None:
        """See `RowSums.add`."""
        groups = np.array([len(cut) - 1 for cut in self.edges], np.int64)
        parts = [np.repeat(np.arange(len(cut) - 1), np.diff(cut)) for cut in self.edges]
        start = np.cumsum([0, *map(len, parts)])[:-1].astype(np.int64)
        add_pairs(rows, np.concatenate(parts).astype(np.int64), start, groups, out)
