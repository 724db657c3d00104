"""Partitions of the data on the workers of a cluster, and how all of them are asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Self

from hedgerow.counting.cluster.connection import reachable
from hedgerow.data.parquet import Piece
from hedgerow.data.source import Progress, silent

__all__ = ["Workers", "grouped"]

_ROWS = 1 << 23  # of a partition, at most if row groups allow
_PER_THREAD = 2  # partitions, at least: one of them is there twice while it is split
_MERGED = 8  # answers that one task adds up
TAKEN = 2  # answers that the driver adds up itself


class Workers:
    """The partitions of one run, as futures.

    Args:
        client: The connection to the cluster.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._threads: dict[str, int] = client.nthreads()  # of each worker
        self._direct = reachable(client, [*self._threads])
        self._states: list[Any] = []  # the partitions, as futures
        self._beside: list[tuple[str, list[int]]] = []  # which of them each worker has
        self._told: Progress = silent
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Has the workers forget the data, and ends processes that were started for them."""
        self._states = []
        self._stack.close()

    def watch(self, told: Progress) -> None:
        """Has the share of the data told that each pass has seen."""
        self._told = told

    def _read(
        self, pieces: Sequence[Piece], read: Callable[..., Any], told: Progress, **how: Any
    ) -> None:
        """Has the workers read all pieces; `read` takes some of them and the first one's number."""
        parts, firsts = grouped([_anywhere(piece) for piece in pieces], sum(self._threads.values()))
        self._start(read, parts, firsts, told=told, **how)

    def _start(
        self, make: Callable[..., Any], *each: Sequence[Any], told: Progress = silent, **how: Any
    ) -> None:
        """Makes the partitions, one from each of some values."""
        self._states = self._client.map(make, *each, pure=False, **how)
        self._wait(self._states, told)
        self._look()

    def _change(self, change: Callable[..., Any], order: Any, **how: Any) -> None:
        """Makes each partition anew from the old one and an order.

        Each task carries the order: sent as a value of its own it would lie on some workers, and
        Dask would move records there.
        """
        orders = [order] * len(self._states)
        self._states = self._client.map(change, self._states, orders, pure=False, **how)

    def _each(self, ask: Callable[[Any], Any]) -> list[Any]:
        """What each partition answers."""
        found: list[Any] = self._client.gather(self._client.map(ask, self._states, pure=False))
        return found

    def _look(self) -> None:
        """Notes which partitions lie side by side.

        A question about them then goes where they are, since that is the cheapest. Dask could also
        be told so, but it would forget such a task if all workers were lost at once.
        """
        holders = self._client.who_has(self._states)
        beside: dict[str, list[int]] = {}
        for place, state in enumerate(self._states):
            # a worker may have been lost just now: then its partitions are made again elsewhere
            beside.setdefault(min(holders.get(state.key, ()), default=""), []).append(place)
        self._beside = sorted(beside.items())
        if not self._threads.keys() >= beside.keys() - {""}:
            self._threads = self._client.nthreads()

    def _asked(self, ask: Callable[..., Any], merge: Callable[..., Any], **question: Any) -> Any:
        """Asks each worker once about all its partitions, and adds up the answers."""
        answers = [
            self._client.submit(
                ask, [self._states[place] for place in places], pure=False,
                threads=self._threads.get(worker, 1), **question,
            )
            for worker, places in self._beside
        ]  # fmt: skip
        return self._merged(merge, answers)

    def _merged(self, merge: Callable[..., Any], answers: list[Any]) -> Any:
        """Adds up the answers of different workers, a few at a time."""
        pending = answers
        while len(pending) > TAKEN:
            groups = [pending[i : i + _MERGED] for i in range(0, len(pending), _MERGED)]
            pending = [self._client.submit(merge, group, pure=False) for group in groups]
        self._wait(answers, self._told)
        return merge(self._client.gather(pending, direct=self._direct))

    def _wait(self, futures: list[Any], told: Progress) -> None:
        from distributed import as_completed

        for number, _ in enumerate(as_completed(futures, loop=self._client.loop), start=1):
            told(number / len(futures))


def _anywhere(piece: Piece) -> Piece:
    """The piece by a path that means the same in every process."""
    return piece if "://" in piece.path else replace(piece, path=os.path.abspath(piece.path))


def grouped(pieces: Sequence[Piece], threads: int) -> tuple[list[list[Piece]], list[int]]:
    """Neighbouring pieces as partitions of equal size, about, and each one's first row."""
    total = sum(piece.rows for piece in pieces)
    number = _PER_THREAD * max(1, threads)
    number *= max(1, -(-total // (number * _ROWS)))
    groups: list[list[Piece]] = []
    firsts, seen, latest = [], 0, -1
    for piece in pieces:
        turn = (2 * seen + piece.rows) * number // (2 * total) if total else 0
        if turn != latest:
            groups.append([])
            firsts.append(seen)
            latest = turn
        groups[-1].append(piece)
        seen += piece.rows
    return groups or [[]], firsts or [0]
