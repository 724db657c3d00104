"""The cap on rows per person, for rows that do not fit in memory.

Rows are dealt to buckets by a keyed digest of the person's id, so that all rows of one person
meet in one bucket; buckets are capped one by one. The same rows stay as in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hedgerow.arrays import Words
from hedgerow.counting.engine import Bytes
from hedgerow.counting.streaming.scratch import Shelf
from hedgerow.data.people import first_rows

_BUCKETS = 64
_HEAD = 24  # bytes of digest and rank before each row


class PersonCap:
    """Takes rows with their persons, and gives those that stay.

    Args:
        stride: The bytes of a packed row.
        max_rows: The public cap.
        memory: About how many bytes may be used.
        folder: Where scratch files may lie.
    """

    def __init__(
        self, stride: int, max_rows: int, memory: int, folder: str | Path | None = None
    ) -> None:
        self._max_rows = max_rows
        self._memory = memory
        self._width = _HEAD + stride
        room = max(1, memory // (4 * _BUCKETS) // self._width)
        self._open = [np.empty((room, self._width), np.uint8) for _ in range(_BUCKETS)]
        self._used = [0] * _BUCKETS
        self._shelves = [Shelf(memory // (4 * _BUCKETS), folder) for _ in range(_BUCKETS)]
        self._sizes: list[list[int]] = [[] for _ in range(_BUCKETS)]

    def add(self, rows: Bytes, digests: Words, rank: Words) -> None:
        """Deals rows to their buckets.

        Args:
            rows: Packed rows.
            digests: [rows, 2], whose they are.
            rank: Their rank among the rows of the same person.
        """
        records = np.empty((len(rows), self._width), np.uint8)
        head = np.concatenate([digests, rank[:, None]], axis=1)
        records[:, :_HEAD] = head.view(np.uint8)
        records[:, _HEAD:] = rows
        bucket = (digests[:, 0] % np.uint64(_BUCKETS)).astype(np.int64)
        records = records[np.argsort(bucket, kind="stable")]
        ends = np.cumsum(np.bincount(bucket, minlength=_BUCKETS))
        for number, part in enumerate(np.split(records, ends[:-1])):
            while len(part):
                room = self._open[number][self._used[number] :]
                taken = min(len(room), len(part))
                room[:taken] = part[:taken]
                self._used[number] += taken
                part = part[taken:]
                if taken == len(room):
                    self._flush(number)

    def _flush(self, number: int) -> None:
        block = self._open[number][: self._used[number]]
        if len(block):
            self._shelves[number].add(block.reshape(-1))
            self._sizes[number].append(len(block))
        self._used[number] = 0

    def rows(self) -> Iterator[Bytes]:
        """The packed rows that stay, bucket after bucket; what was kept for them is given back."""
        for number in range(_BUCKETS):
            self._flush(number)
            self._open[number] = np.empty((0, self._width), np.uint8)
            kept = np.empty((0, self._width), np.uint8)
            waiting: list[Bytes] = []
            size = 0
            for block, length in enumerate(self._sizes[number]):
                waiting.append(np.empty((length, self._width), np.uint8))
                self._shelves[number].load(block, 0, waiting[-1].reshape(-1))
                size += waiting[-1].nbytes
                # a person with very many rows must not fill the memory
                if size > max(self._memory // 4, 2 * kept.nbytes):
                    kept, waiting, size = self._capped([kept, *waiting]), [], 0
            self._shelves[number].close()
            yield np.ascontiguousarray(self._capped([kept, *waiting])[:, _HEAD:])

    def _capped(self, parts: list[Bytes]) -> Bytes:
        records = np.concatenate(parts)
        head = np.ascontiguousarray(records[:, :_HEAD]).view(np.uint64)
        return records[first_rows((head[:, 0], head[:, 1]), head[:, 2], self._max_rows)]

    def close(self) -> None:
        """Gives everything back."""
        for shelf in self._shelves:
            shelf.close()
