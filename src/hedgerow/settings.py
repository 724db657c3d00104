"""Settings are checked by type: one reading of annotations, for dataclasses and for calls.

`thorough="no"` is true where Python asks whether it is, and `depth=True` is 1 where it counts. So
a setting is compared with what its annotation says before anything is done with it. The rules:
true and false are not numbers; a whole number will do where a number is asked for; infinities and
"not a number" are no numbers. Numbers and truth values of NumPy become Python's, since a release
states its settings in JSON.
"""

from __future__ import annotations

import math
import operator
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, SupportsIndex

from hedgerow.errors import UsageError

__all__ = ["check_arguments", "check_fields", "choices", "whole"]

_WORDS = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "text",
    type(None): "None",
    tuple: "a tuple",
    Mapping: "a mapping",
    dict: "a dictionary",
    Callable: "a function",
    SupportsIndex: "a whole number",
}


def check_fields(settings: Any) -> None:
    """Compares every field of a dataclass with its annotation; call it in `__post_init__`.

    Args:
        settings: An instance.

    Raises:
        UsageError: Names the field, the type of what it was given and what it takes.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True)
        ... class Oven:
        ...     degrees: int = 180
        ...     fan: bool = False
        ...     def __post_init__(self):
        ...         check_fields(self)
        >>> Oven(fan="no")
        Traceback (most recent call last):
        hedgerow.errors.UsageError: fan cannot be of type str.
          It takes True or False.
    """
    kind: Any = type(settings)
    hints = _hints(kind)
    for field in fields(settings):
        value = getattr(settings, field.name)
        if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
            value = value.item()
            object.__setattr__(settings, field.name, value)
        _check(field.name, value, hints[field.name])


def whole(name: str, value: object) -> int:
    """A whole number of Python or NumPy as Python's.

    Args:
        name: The argument.
        value: What it was given.

    Raises:
        UsageError: Names the argument, and what to write.

    Example:
        >>> whole("seed", 3.0)
        Traceback (most recent call last):
        hedgerow.errors.UsageError: seed must be a whole number.
          Write seed=3.
    """
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        return operator.index(value)
    given = isinstance(value, float) and math.isfinite(value)
    given = given or (isinstance(value, str) and value.isdecimal() and len(value) < 20)
    meant = int(typing.cast(float, value)) if given else 1
    raise UsageError(f"{name} must be a whole number.", hint=f"Write {name}={meant}.")


def check_arguments(function: Callable[..., Any], given: Mapping[str, Any]) -> None:
    """Compares the arguments of a call with the function's annotations.

    Args:
        function: The function.
        given: Arguments by name, such as `locals()` in its first line; others are passed over.

    Raises:
        UsageError: Names the argument, the type of what it was given and what it takes.

    Example:
        >>> def bake(minutes: int, gently: bool = False) -> None:
        ...     check_arguments(bake, locals())
        >>> bake(True)
        Traceback (most recent call last):
        hedgerow.errors.UsageError: minutes cannot be of type bool.
          It takes a whole number.
    """
    for name, hint in _hints(function).items():
        if name != "return" and name in given:
            _check(name, given[name], hint)


@cache
def _hints(of: Any) -> dict[str, Any]:
    return typing.get_type_hints(of)


def _check(name: str, value: Any, hint: Any) -> None:
    if _fits(value, hint):
        return
    words = [word for choice in choices(hint) for word in _literals(choice)]
    if words and isinstance(value, str):
        listed = ", ".join(word if word.isidentifier() else repr(word) for word in words)
        raise UsageError(f"{name} cannot be {value!r}.", hint=f"Use one of: {listed}.")
    if isinstance(value, float) and not math.isfinite(value) and _takes_numbers(hint):
        raise UsageError(f"{name} must be a finite number.", hint=f"It takes {_told(hint)}.")
    kind = type(value).__name__
    if isinstance(value, tuple | Mapping) and kind in _told(hint):
        raise UsageError(
            f"{name} holds something of the wrong type.", hint=f"It takes {_told(hint)}."
        )
    raise UsageError(f"{name} cannot be of type {kind}.", hint=f"It takes {_told(hint)}.")


def choices(hint: Any) -> tuple[Any, ...]:
    """The members of a union, or the one type; an alias is what it stands for."""
    alias = getattr(typing.get_origin(hint) or hint, "__value__", None)
    if alias is not None:  # NumPy's NDArray, where Python knows aliases
        return choices(alias)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return tuple(one for member in typing.get_args(hint) for one in choices(member))
    return (hint,)


def _members(hint: Any) -> tuple[Any, ...]:
    return tuple(one for one in typing.get_args(hint) if one is not Ellipsis)


def _literals(hint: Any) -> tuple[str, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) is typing.Literal else ()


def _takes_numbers(hint: Any) -> bool:
    return any(choice in (int, float) for choice in choices(hint))


def _fits(value: Any, hint: Any) -> bool:
    return any(_is_one(value, choice) for choice in choices(hint))


def _is_one(value: Any, hint: Any) -> bool:
    """Whether a value is of a type that is no union."""
    if hint is Any:
        return True
    if hint is int or hint is SupportsIndex:
        return isinstance(value, hint) and not isinstance(value, bool)
    if hint is float:
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole or (isinstance(value, float) and math.isfinite(value))
    origin = typing.get_origin(hint)
    if origin is None:
        return isinstance(value, hint)
    inner = typing.get_args(hint)
    if origin is typing.Literal:
        return isinstance(value, str) and value in inner
    if origin is Callable:
        return callable(value)
    if not isinstance(value, origin):
        return False
    if origin is tuple and inner[-1] is Ellipsis:
        if isinstance(inner[0], type) and inner[0] is not float:  # one of each type will do
            value = {type(one): one for one in value}.values()
        return all(_fits(one, inner[0]) for one in value)
    if origin is tuple:
        return len(value) == len(inner) and all(map(_fits, value, inner))
    if issubclass(origin, Mapping):
        return all(_fits(key, inner[0]) and _fits(one, inner[1]) for key, one in value.items())
    return True


def _told(hint: Any) -> str:
    """What a setting takes, in words."""
    found: list[str] = []
    for choice in choices(hint):
        literals = _literals(choice)
        origin = typing.get_origin(choice) or choice
        if origin.__module__ == "numpy" and origin.__name__ != "ndarray":
            continue  # a number is a number
        words = [repr(one) for one in literals] or [_WORDS.get(origin) or origin.__name__]
        if origin is tuple and typing.get_args(choice):
            words = [f"a tuple of {', '.join(map(_told, _members(choice)))}"]
        found += [word for word in words if word not in found]
    return found[0] if len(found) == 1 else f"{', '.join(found[:-1])} or {found[-1]}"
