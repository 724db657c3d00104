"""Packed rows: every code in as few bytes as its attribute needs, a row's codes side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bytes, Ints
from hedgerow.counting.engine import Domain

__all__ = ["Bytes", "Layout", "views"]


_WORD = 4  # rows are moved in words, and begin at one


@dataclass(frozen=True)
class Layout:
    """Where each column lies in a packed row: the predictors, then the class.

    Wide columns come first, so that each lies at a multiple of its width.

    Args:
        width: The bytes of each column: 1, 2 or 4.
        place: Where each column begins, in units of its width.
        stride: The bytes of a row.

    Example:
        >>> layout = Layout.of_sizes([300, 2, 2])
        >>> layout.width.tolist(), layout.place.tolist(), layout.stride
        ([2, 1, 1], [0, 2, 3], 4)
    """

    width: Ints
    place: Ints
    stride: int

    @staticmethod
    def of_sizes(sizes: Sequence[int]) -> Layout:
        """The layout of columns with so many codes each."""
        width = np.array([1 if n <= 1 << 8 else 2 if n <= 1 << 16 else 4 for n in sizes], np.int64)
        place = np.empty(len(sizes), dtype=np.int64)
        end = 0
        for column in np.argsort(-width, kind="stable").tolist():
            place[column] = end // width[column]
            end += int(width[column])
        return Layout(width, place, -(-end // _WORD) * _WORD)

    @staticmethod
    def of(domain: Domain) -> Layout:
        """The layout of a domain's rows."""
        return Layout.of_sizes([*domain.sizes.tolist(), domain.classes])

    def pack(self, columns: Sequence[NDArray[Any]]) -> Bytes:
        """Packs columns of codes.

        Example:
            >>> layout = Layout.of_sizes([300, 2])
            >>> layout.column(layout.pack([np.array([258]), np.array([1])]), 0).tolist()
            [258]
        """
        rows = np.zeros((len(columns[0]), self.stride), dtype=np.uint8)
        for column, width, place in zip(columns, self.width, self.place, strict=True):
            rows.view(f"u{width}")[:, place] = column
        return rows

    def column(self, rows: Bytes, column: int) -> NDArray[Any]:
        """One column of packed rows."""
        return rows.view(f"u{self.width[column]}")[:, self.place[column]]

    def codes(self, rows: Bytes) -> NDArray[Any]:
        """All columns of packed rows, [rows, columns], in the widest type that one of them has."""
        found = np.empty((len(rows), len(self.width)), dtype=f"u{self.width.max()}")
        for column in range(len(self.width)):
            found[:, column] = self.column(rows, column)
        return found


def views(rows: Bytes) -> tuple[Bytes, NDArray[np.uint16], NDArray[np.uint32]]:
    """The same packed rows in units of 1, 2 and 4 bytes, as kernels read them."""
    return rows, rows.view(np.uint16), rows.view(np.uint32)
