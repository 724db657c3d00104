"""Loops in two forms: compiled by numba where there is much to do, plain where there is little.

Loading numba takes most of a second and compiling a loop for the first time seconds, while a person
waits; a small table needs neither. So a kernel is asked how many steps a call takes. What steps are
left decides, in one place, for all kernels; both forms give the same results to the last bit.

Python runs a kernel's own source, or a form of it in NumPy that it names. Its arrays come as memory
views, which hand out Python's own numbers: these never overflow and are quicker than NumPy's. So a
kernel asks for `len` and `shape`, never for `size`, takes no slices of views, and keeps its numbers
within 64 bits, where both forms agree.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import update_wrapper
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar

import numpy as np

from hedgerow.surroundings import load_numba

P = ParamSpec("P")
R = TypeVar("R")

NEVER = 1 << 62
"""So many steps are not taken in Python."""


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)


class Kernel(Generic[P, R]):
    """A loop that can be called in two forms; `kernel` makes one of a function.

    Args:
        function: The loop. What it calls are functions of Python and NumPy and helpers (`helper`).
        steps: How many microseconds a call takes Python, roughly, by its arguments; None if it is
            always compiled.
        small: The same in NumPy, for small arguments; None if the function itself serves.
    """

    left: ClassVar[int] = 1_000_000
    """Steps that this process may still take in Python: about as long as loading takes."""

    def __init__(
        self,
        function: Callable[P, R],
        steps: Callable[..., int] | None,
        small: Callable[P, R] | None,
    ) -> None:
        self.py_func = function
        self.plain: Callable[P, R] = small or self.python  # runs the form for small arguments
        self._steps = steps
        self._compiled: Any = None
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs the form that suits the arguments."""
        if self._steps is not None and self._compiled is None:
            steps = int(self._steps(*args, **kwargs))
            if steps <= Kernel.left:
                Kernel.left -= steps
                return self.plain(*args, **kwargs)
        return self.compiled(*args, **kwargs)

    def __reduce__(self) -> str:
        """Other processes find it by its name."""
        return self.py_func.__name__

    def python(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs its source."""
        views = (_view(value) for value in args)
        return self.py_func(*views, **kwargs)

    @property
    def compiled(self) -> Callable[P, R]:
        """What numba makes of it, compiled at its first call and kept on disk."""
        if self._compiled is None:
            numba = load_numba()
            from numba.extending import register_jitable

            with _registering:
                while _helpers:
                    register_jitable(_helpers.pop())
            self._compiled = numba.njit(nogil=True, cache=True)(self.py_func)
        loop: Callable[P, R] = self._compiled
        return loop


_helpers: list[Callable[..., Any]] = []  # of which numba does not know yet
_registering = threading.Lock()


def helper(function: Callable[P, R]) -> Callable[P, R]:
    """Lets kernels call a function, in both of their forms; elsewhere it stays as it is.

    Example:
        >>> @helper
        ... def double(number):
        ...     return 2 * number
        >>> kernel()(lambda number: double(number) + 1).python(3)
        7
    """
    _helpers.append(function)
    return function


def kernel(
    steps: Callable[..., int] | None = None,
    small: Callable[..., Any] | None = None,
) -> Callable[[Callable[P, R]], Kernel[P, R]]:
    """Makes a kernel of a function; see `Kernel`.

    Example:
        >>> @kernel(steps=lambda numbers: len(numbers))
        ... def largest(numbers):
        ...     most = numbers[0]
        ...     for place in range(1, len(numbers)):
        ...         most = max(most, numbers[place])
        ...     return most
        >>> largest.plain(np.array([3, 1, 4]))
        4
    """
    return lambda function: Kernel(function, steps, small)


def _view(value: Any) -> Any:
    """A memory view of an array; of a tuple of arrays, one of each."""
    if isinstance(value, np.ndarray):
        # what came from another process may lie askew in memory, where no view can be read
        return (value if value.flags.aligned else value.copy()).data
    if isinstance(value, tuple):
        return tuple(map(_view, value))
    return value
