"""What a script can reach from `hedgerow` is typed: no `Any`, behind which a checker sees nothing.

Exceptions stand in one list. An entry that is no longer needed must go, so the list only shrinks.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import hedgerow
from hedgerow.methods import api

ALIASES = {"Frame", "Document"}
"""A frame of Arrow, pandas or Polars, whichever the caller has; and a document as JSON holds it."""

INNER = "passed on inside the package: to be typed by what the methods share"
ALLOWED = {
    "Publisher.run(engine)": INNER,
    "Supermodular.side": "a frame or a path: settings are checked by type, and frames have none",
}


def mentions_any(annotation: object, names: dict[str, Any]) -> bool:
    """Whether an annotation is or holds Any, by its own name or by an alias of ours.

    `dict[str, Any]` and `Mapping[str, Any]` are fine: documents as JSON and YAML know them.
    """
    if annotation is Any:
        return True
    if not isinstance(annotation, str):
        if getattr(typing.get_origin(annotation), "__module__", "") == "numpy":
            return False  # an array's shape is Any to numpy itself
        return any(mentions_any(part, names) for part in typing.get_args(annotation))
    for document in ("dict[str, Any]", "Mapping[str, Any]"):
        annotation = annotation.replace(document, document.partition("[")[0])
    for node in ast.walk(ast.parse(annotation, mode="eval")):
        if isinstance(node, ast.Attribute) and node.attr == "Any":
            return True
        if isinstance(node, ast.Name) and node.id not in ALIASES:
            if node.id == "Any":
                return True
            meant = names.get(node.id)  # a name that only type checkers import is not there
            if not isinstance(meant, type | types.ModuleType | str) and mentions_any(meant, names):
                return True
    return False


def places(name: str, function: Callable[..., Any]) -> Iterator[str]:
    """The arguments and the outcome of a function that are typed Any."""
    function = inspect.unwrap(function)
    for part, annotation in inspect.get_annotations(function).items():
        if mentions_any(annotation, function.__globals__):
            yield f"{name} ->" if part == "return" else f"{name}({part})"


def of_class(kind: type) -> Iterator[str]:
    """The same for what a class has in public, under the name of the class that defines it."""
    for base in kind.__mro__:
        if not base.__module__.startswith("hedgerow"):
            continue
        names = vars(inspect.getmodule(base))
        for part, annotation in inspect.get_annotations(base).items():
            if not part.startswith("_") and mentions_any(annotation, names):
                yield f"{base.__name__}.{part}"
        for part, member in vars(base).items():
            if part.startswith("_") and part not in ("__init__", "__call__"):
                continue
            if part == "__init__" and dataclasses.is_dataclass(base):
                continue  # its fields tell the same
            if isinstance(member, property):
                member = member.fget
            member = getattr(member, "func", member)  # of a cached property
            member = getattr(member, "__func__", member)  # of class and static methods
            if inspect.isfunction(member):
                yield from places(f"{base.__name__}.{part}", member)


def of_anything(name: str, thing: Any) -> Iterator[str]:
    if isinstance(thing, type):
        yield from of_class(thing)
    elif inspect.isfunction(thing):
        yield from places(name, thing)
    elif isinstance(thing, types.ModuleType) and callable(thing):
        yield from places(name, api.publish)  # which is what type checkers see
    elif isinstance(thing, types.ModuleType):
        for part in thing.__all__:
            yield from of_anything(f"{name}.{part}", getattr(thing, part))
    else:
        assert isinstance(thing, str), f"{name} is of a kind that this test does not know"


def untyped() -> set[str]:
    return {
        place for name in hedgerow.__all__ for place in of_anything(name, getattr(hedgerow, name))
    }


def test_nothing_public_is_any() -> None:
    assert sorted(untyped() - ALLOWED.keys()) == []


def test_exceptions_are_needed() -> None:
    assert sorted(ALLOWED.keys() - untyped()) == []


Alias = list[Any]


class Loose:
    field: Any
    fine: int
    settings: dict[str, Any] | None

    def __init__(self, path: Any) -> None: ...
    def method(self, rows: list[Any]) -> typing.Any: ...
    def _hidden(self, rows: Any) -> Any: ...
    def aliased(self) -> Alias: ...
    @classmethod
    def load(cls) -> Any: ...
    @property
    def size(self) -> Any: ...
    def typed(self, rows: int | str) -> list[str]: ...


def test_the_search_finds_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Loose, "__module__", "hedgerow")
    monkeypatch.setattr(inspect, "getmodule", lambda _: types.SimpleNamespace())
    assert set(of_class(Loose)) == {
        "Loose.field", "Loose.__init__(path)", "Loose.method(rows)", "Loose.method ->",
        "Loose.aliased ->", "Loose.load ->", "Loose.size ->",
    }  # fmt: skip
