"""A few threads that work through a list of things to do. Kernels hold no lock, so they help."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


class Crew:
    """Threads that are there until they are dismissed.

    Args:
        size: How many.

    Example:
        >>> crew = Crew(2)
        >>> list(crew.map(abs, [-1, 2, -3]))
        [1, 2, 3]
        >>> crew.dismiss()
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._pool = ThreadPoolExecutor(size, thread_name_prefix="hedgerow")

    def map(self, work: Callable[[T], U], items: Iterable[T]) -> Iterator[U]:
        """Results in the order of the items, of which only a few are taken in advance."""
        ahead: deque[Future[U]] = deque()
        try:
            for item in items:
                ahead.append(self._pool.submit(work, item))
                if len(ahead) > self.size:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:  # after an error or an interrupt nobody works on
            for future in ahead:
                future.cancel()
            wait(ahead)

    def dismiss(self) -> None:
        """Ends the threads."""
        self._pool.shutdown()
