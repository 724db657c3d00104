"""What people write who have not read anything is answered by what to write.

Three things go wrong in a guess: a name that is not there, an argument that is not there, and one
that is missing. `Guessed` answers all three for its subclasses and their objects, `guessable` the
last two for a function. What was meant stands in the tables of `hedgerow.hints`.
"""

from __future__ import annotations

import inspect
from abc import ABCMeta
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, ClassVar, Never, ParamSpec, TypeVar

from hedgerow.errors import ArgumentError
from hedgerow.hints import ARGUMENTS

__all__ = ["Guessed", "as_text", "guessable", "nearest", "told_settings"]

_P = ParamSpec("_P")
_R = TypeVar("_R")
_Class = TypeVar("_Class", bound=type)

_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def guessable(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Lets a function answer arguments that it does not have, or lacks, by what to write.

    Args:
        function: The function or method.

    Example:
        >>> @guessable
        ... def bake(epsilon: int = 1) -> None: ...
        >>> bake(eps=3)
        Traceback (most recent call last):
        hedgerow.errors.ArgumentError: bake has no argument 'eps'.
          Write epsilon=3.
    """
    called = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]

    @cache
    def known() -> list[inspect.Parameter]:
        return list(inspect.signature(function).parameters.values())

    @wraps(function)
    def asked(*args: _P.args, **given: _P.kwargs) -> _R:
        try:
            return function(*args, **given)
        except TypeError:  # only now, so that calls that are right cost nothing
            try:
                _check_call(called, known(), args, given)
            except ArgumentError as wrong:
                raise wrong from None
            raise

    return asked


def told_settings(kind: _Class) -> _Class:
    """The same for the settings of a class, such as a method.

    Args:
        kind: A dataclass.
    """
    setattr(kind, "__init__", guessable(getattr(kind, "__init__")))  # noqa: B009, B010
    return kind


def nearest(wrong: str, known: Iterable[str]) -> str | None:
    """The public name that is spelt most like a wrong one, if any is; case does not matter.

    Example:
        >>> nearest("diffmult", ["DiffGen", "DiffMulti"])
        'DiffMulti'
    """
    folded = {name.casefold(): name for name in known if not name.startswith("_")}
    close = get_close_matches(wrong.casefold(), folded, 1, cutoff=0.75)  # depth is not delta
    return folded[close[0]] if close else None


def as_text(name: str) -> str:
    """A text as it is written in Python, in double quotes if it has none.

    Example:
        >>> print(as_text("age"), as_text('"age"'))
        "age" '"age"'
    """
    return f'"{repr(name)[1:-1]}"' if not {'"', "'"} & set(name) else repr(name)


class _Guessing(ABCMeta):
    """The class of classes that answer names they do not have."""

    if not TYPE_CHECKING:  # a type checker knows what is there

        def __getattr__(cls, name: str) -> Never:
            meant = None if name.startswith("_") else _filled(cls._guesses, name, dict)
            raise _no_attribute(cls, cls.__name__, name, meant)


class Guessed(metaclass=_Guessing):
    """What answers names that it does not have, and arguments of its methods, by what to write."""

    _guesses: ClassVar[Mapping[str, str]] = {}
    """By name: what to write instead, or where the name is there, how it is called."""

    def __init_subclass__(cls, **given: Any) -> None:
        """Makes the public methods of a subclass answer wrong arguments."""
        super().__init_subclass__(**given)
        for name, value in list(vars(cls).items()):
            if name.startswith("_"):
                continue
            if inspect.isfunction(value):
                setattr(cls, name, guessable(value))
            elif isinstance(value, classmethod | staticmethod):
                setattr(cls, name, type(value)(guessable(value.__func__)))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Never:
            meant = None if name.startswith("_") else self._meant(name)
            raise _no_attribute(self, type(self).__name__, name, meant)

    def _meant(self, name: str) -> str | None:
        """What to write for a name that is not there, or was called wrongly."""
        return _filled(self._guesses, name, self._examples)

    def _examples(self) -> Mapping[str, str]:
        """What stands in the places of `_guesses`, such as names of the schema at hand."""
        return {}


def _filled(
    guesses: Mapping[str, str], name: str, examples: Callable[[], Mapping[str, str]]
) -> str | None:
    if name not in guesses:
        return None
    return guesses[name].format_map(defaultdict(lambda: "...", examples()))


def _no_attribute(owner: object, what: str, name: str, meant: str | None) -> AttributeError:
    if meant is not None:
        return AttributeError(f"{what} has no attribute {name!r}; write {meant}", name=name)
    close = None if name.startswith("_") else nearest(name, dir(owner))
    if close is not None:
        return AttributeError(f"{what} has no attribute {name!r}; did you mean {close}?", name=name)
    return AttributeError(f"{what} has no attribute {name!r}", name=name)


def _check_call(
    called: str, known: list[inspect.Parameter], args: tuple[Any, ...], given: Mapping[str, Any]
) -> None:
    """Refuses a call that Python would refuse, in a sentence."""
    own = bool(known) and known[0].name in ("self", "cls")
    names = [one.name for one in known[own:]]
    if any(one.kind is one.VAR_KEYWORD for one in known):
        return
    for name, value in given.items():
        if name not in names:
            raise _unknown(called, name, value, names)
    by_place = [one for one in known if one.kind in _BY_PLACE]
    if len(args) > len(by_place) and not any(one.kind is one.VAR_POSITIONAL for one in known):
        others = names[len(by_place) - own :] or names
        number = len(by_place) - own
        hint = f"Name the others: {', '.join(f'{name}=...' for name in others)}."
        if not names:
            hint = "Write it with empty brackets."
        how_many = "no argument" if not number else f"at most {number} of its arguments"
        message = f"{called} takes {how_many}{' without a name' if names else ''}."
        raise ArgumentError(message, hint=_shown_call(called, args if own else ()) or hint)
    missing = [
        one.name
        for place, one in enumerate(known)
        if one.default is one.empty
        and one.kind is not one.VAR_POSITIONAL
        and one.name not in given
        and (one not in by_place or place >= len(args))
    ]
    if missing:
        hint = f"Write {', '.join(f'{name}=...' for name in missing)}."
        raise ArgumentError(
            f"{called} needs {' and '.join(missing)}.",
            hint=_shown_call(called, args if own else ()) or hint,
        )


def _shown_call(called: str, args: tuple[Any, ...]) -> str | None:
    """How a method of an object, or of a class, is called."""
    owner = args[0] if args else None
    meant = None
    if isinstance(owner, Guessed):
        meant = owner._meant(called)
    elif isinstance(owner, type) and issubclass(owner, Guessed):
        meant = _filled(owner._guesses, called, dict)
    return None if meant is None else f"Write {meant}."


def _unknown(called: str, name: str, value: object, known: list[str]) -> ArgumentError:
    named = ARGUMENTS.get(name)
    meant = named if named in known else nearest(name, known)
    shown = repr(value) if isinstance(value, bool | int | float | str) else "..."
    if meant is not None:
        hint = f"Write {meant}={shown}."
    elif name in ("epsilon", "delta"):
        hint = f"Give it to hedgerow.publish(data, schema, method, {name}={shown})."
    elif "method" in known:
        hint = f"A method has its own settings: method=hedgerow.DiffMulti({name}={shown})."
        hint += f" Arguments are {', '.join(known)}."
    else:
        hint = f"Its arguments are {', '.join(known)}." if known else "It takes none."
    return ArgumentError(f"{called} has no argument {name!r}.", hint=hint)
