"""The type exact counts travel in. Only a mechanism can open it.

An engine seals what it counted; a score may be computed under the seal (`Sealed.map`), and the
result is sealed again. The one key is claimed by `hedgerow.privacy.curator` when it is first
imported; nobody can claim it a second time. So a leak is an exception and not a habit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NoReturn, TypeVar, cast

from hedgerow.errors import LeakError

T = TypeVar("T")
U = TypeVar("U")
V = TypeVar("V")


class Key:
    """What opens a seal."""

    __slots__ = ()


_KEY = Key()
_claimed = False


def claim_key() -> Key:
    """Hands out the key, once."""
    global _claimed
    if _claimed:
        raise LeakError("the key to exact counts has been claimed already")
    _claimed = True
    return _KEY


class Sealed(Generic[T]):
    """Something exact that may be computed with, but not looked at.

    Example:
        >>> counts = Sealed([3, 1])
        >>> counts.map(sum)
        Sealed(...)
        >>> len(counts)
        Traceback (most recent call last):
        hedgerow.errors.LeakError: exact counts have no length outside a mechanism
    """

    __slots__ = ("__content",)

    def __init__(self, content: T) -> None:
        self.__content = content

    def open(self, key: Key) -> T:
        """The content, for the holder of the key."""
        if key is not _KEY:
            raise LeakError("exact counts are opened by a mechanism alone")
        return self.__content

    def map(self, compute: Callable[[T], U]) -> Sealed[U]:
        """Applies a pure function under the seal."""
        return Sealed(compute(self.__content))

    def join(self, other: Sealed[V], compute: Callable[[T, V], U]) -> Sealed[U]:
        """Applies a pure function of two sealed things."""
        return Sealed(compute(self.__content, other.__content))

    def __repr__(self) -> str:
        return "Sealed(...)"

    def __getstate__(self) -> NoReturn:
        raise LeakError("exact counts cannot be stored or sent away")


def _refuse(what: str) -> Callable[..., Any]:
    def refuse(*_: object) -> NoReturn:
        raise LeakError(f"exact counts have no {what} outside a mechanism")

    return refuse


for _name, _what in (
    ("__len__", "length"),
    ("__iter__", "elements"),
    ("__bool__", "truth value"),
    ("__getitem__", "elements"),
    ("__eq__", "equality"),
    ("__hash__", "hash"),
    ("__array__", "array"),
    ("__int__", "value"),
    ("__float__", "value"),
):
    setattr(cast(Any, Sealed), _name, _refuse(_what))
