"""Options for the settings of methods, made from the settings themselves.

A setting is a field of a method's dataclass. Its annotation says what it takes, the `Args` of the
class what it is for. The options of `publish` and `plan` and the tables in the documentation are
made of that, so that a new method has them without a line here.

Loading the methods takes most of a second: it is done when a command that has such options runs or
shows its help, and not before.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.display.terminal import Command
from hedgerow.errors import UsageError
from hedgerow.registry import METHODS, for_data, load
from hedgerow.suggestions import members

if TYPE_CHECKING:
    from hedgerow.methods.publisher import Publisher
    from hedgerow.schema import Schema

_TRUTH = {"yes": True, "true": True, "no": False, "false": False}


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A setting of a method.

    Args:
        name: Its name in Python.
        takes: The types it takes, without None, and words.
        words: The words it takes.
        default: What it is if nothing is said.
        help: What it is for.
        form: What its option takes, where types do not tell.
    """

    name: str
    takes: tuple[Any, ...]
    words: tuple[str, ...]
    default: Any
    help: str
    form: str | None = None

    @property
    def is_flag(self) -> bool:
        """Whether the option alone says it all."""
        return self.takes == (bool,)

    @property
    def is_mapping(self) -> bool:
        """Whether the option is given once for each assignment."""
        return [typing.get_origin(one) for one in self.takes] == [Mapping]

    @property
    def option(self) -> str:
        """The option of the command line."""
        name = self.name.removesuffix("s") if self.is_mapping else self.name
        return "--" + name.replace("_", "-")

    @property
    def names(self) -> tuple[str, ...]:
        """The option, and the one that turns it off if it is not off by default."""
        if self.is_flag and self.default is not False:
            return self.option, f"--no-{self.option.removeprefix('--')}"
        return (self.option,)

    @property
    def metavar(self) -> str:
        """What the option takes, in short."""
        if self.form or self.is_mapping:
            return self.form or "NAME=VALUE"
        kinds = {bool: "yes|no", int: "N", float: "NUMBER", str: "TEXT", Path: "FILE"}
        pair = typing.get_origin(self._reads) is tuple
        shown = () if self._reads is NoneType else (
            "LOW,HIGH" if pair else kinds.get(self._reads, "TEXT"),
        )  # fmt: skip
        return "|".join((*self.words, *shown))

    @property
    def parameter(self) -> inspect.Parameter:
        """Its option as a parameter of a command."""
        metavar = None if self.is_flag else self.metavar
        info = typer.Option(
            "/".join(self.names), metavar=metavar, help=self.help, show_default=False
        )
        kind: Any = bool if self.is_flag else list[str] if self.is_mapping else str
        return inspect.Parameter(
            self.name, inspect.Parameter.KEYWORD_ONLY, default=None,
            annotation=Annotated[kind | None, info],
        )  # fmt: skip

    @property
    def _reads(self) -> Any:
        """What a text is read as, unless it is one of the words."""
        if any(one is Any or typing.get_origin(one) is Mapping for one in self.takes):
            return Path
        if str in self.takes:
            return float if float in self.takes else str
        return self.takes[0] if self.takes else NoneType

    def read(self, given: str | tuple[str, ...] | list[str]) -> Any:
        """The value that an option was given as text.

        Raises:
            UsageError: If it is none that the setting could take.

        Example:
            >>> Setting(name="depth", takes=(int,), words=(), default=None, help="").read("3")
            3
        """
        if not isinstance(given, str):
            return self._assignments(given)
        kind = self._reads
        if given in self.words or kind in (str, Path, NoneType) or str in self.takes:
            return given
        try:
            if kind is bool:
                return _TRUTH[given]
            if typing.get_origin(kind) is tuple:
                low, high = given.split(",")
                return float(low), float(high)
            return kind(given)
        except (ValueError, KeyError):
            must_be = {bool: "yes or no", int: "a whole number", float: "a number"}.get(
                kind, "two numbers, as in 0,10"
            )
            words = "".join(f"{word}, " for word in self.words).removesuffix(", ")
            must_be = f"{words} or {must_be}" if words else must_be
            raise UsageError(
                f"{self.name} must be {must_be}.", hint=f"Write {self.option} {self.metavar}."
            ) from None

    def _assignments(self, texts: tuple[str, ...] | list[str]) -> dict[str, str]:
        assigned: dict[str, str] = {}
        for text in texts:
            name, equals, value = text.partition("=")
            if not equals or not name or not value:
                raise UsageError(
                    f"{self.option} {text!r} is not an assignment.",
                    hint=f"Write {self.option} {self.metavar}.",
                )
            if name in assigned:
                raise UsageError(f"{self.option} names {name!r} twice.", hint="Name it once.")
            assigned[name] = value
        return assigned


@cache
def settings_of(kind: Any) -> dict[str, Setting]:
    """The settings of a method by name.

    Args:
        kind: The class of its settings.
    """
    hints, texts = typing.get_type_hints(kind), _arguments(kind)
    settings = {}
    for field in fields(kind):
        types = [one for one in members(hints[field.name]) if one is not NoneType]
        literal = [one for one in types if typing.get_origin(one) is typing.Literal]
        settings[field.name] = Setting(
            name=field.name,
            takes=tuple(one for one in types if one not in literal),
            words=tuple(word for one in literal for word in typing.get_args(one)),
            default=None if field.default is MISSING else field.default,
            help=texts.get(field.name, ""),
            form=field.metadata.get("metavar"),
        )
    return settings


def _arguments(kind: Any) -> dict[str, str]:
    """What a docstring says of each argument, on one line each."""
    part = (inspect.getdoc(kind) or "").partition("Args:\n")[2].partition("\n\n")[0]
    pairs = re.findall(r"^    (\w+): (.*(?:\n        .*)*)", part, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in pairs}


def kind_of(name: str) -> Any:
    """The class of a method's settings."""
    return load(METHODS[name].settings)


def method_of(name: str | None, schema: Schema, given: Mapping[str, Any]) -> Publisher:
    """A method with the settings that a user gave; those left out keep their defaults.

    Args:
        name: The method, or None for the usual one.
        schema: What is to be published.
        given: Options by the names of their settings: text, lists of assignments, or values.
    """
    name = name or for_data(schema.kind)[0]
    kind = kind_of(name)
    known = settings_of(kind)
    for key, value in given.items():
        if key not in known:
            option = f"--{'no-' if value is False else ''}{key.replace('_', '-')}"
            others = [
                other
                for other, (method, settings) in _load_methods().items()
                if key in settings and method.data == METHODS[name].data
            ]
            option = settings_of(kind_of(others[0]))[key].option if others else option
            take = f", or take --method {' or '.join(others)}" if others else ""
            raise UsageError(
                f"{option} is not a setting of {name}.", hint=f"Leave {option} out{take}."
            )
    method: Publisher = kind(
        **{
            key: known[key].read(value) if isinstance(value, str | tuple | list) else value
            for key, value in given.items()
        }
    )
    return method


def _load_methods() -> dict[str, tuple[Any, dict[str, Setting]]]:
    """All methods that can be loaded; a package that is broken is refused when it is named."""
    methods = {}
    for name in METHODS:
        try:
            methods[name] = METHODS[name], settings_of(kind_of(name))
        except (UsageError, ImportError, AttributeError):
            continue
    return methods


def method_options() -> list[Setting]:
    """The option `--method`, and one for every setting of a method, with what it is for in each."""
    usual = f"{for_data('table')[0]}, {for_data('transactions')[0]} for items"
    named = Setting(
        name="method", takes=(), words=tuple(METHODS), default=None,
        help=f"How to publish; by default {usual}.",
    )  # fmt: skip
    uses: dict[str, dict[str, list[str]]] = {}
    first: dict[str, Setting] = {}
    for method, (_, settings) in _load_methods().items():
        for name, setting in settings.items():
            first.setdefault(name, setting)
            uses.setdefault(name, {}).setdefault(setting.help, []).append(method)
    options = [named]
    for name, texts in uses.items():
        sentences = [f"{', '.join(methods)}: {text}" for text, methods in texts.items()]
        options.append(replace(first[name], help=" ".join(sentences)))
    return options


@cache
def _parse_options() -> list[Any]:
    """The options for the parser, as it makes them of a command that has nothing else."""

    def command(**given: Any) -> None:
        """Is never run."""

    parameters = [option.parameter for option in method_options()]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    app = typer.Typer(add_completion=False)
    app.command()(command)
    return [
        one for one in typer.main.get_command(app).params if one.name in command.__annotations__
    ]


class MethodCommand(Command):
    """A command with options for the settings of methods, which are in `ctx.obj` when it runs."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The command's own options, and those of methods."""
        own = super().get_params(ctx)
        names = {parameter.name for parameter in own}
        return [*own[:-1], *(one for one in _parse_options() if one.name not in names), *own[-1:]]

    def invoke(self, ctx: Any) -> Any:
        """Takes these options aside, and runs the command."""
        own = {parameter.name for parameter in super().get_params(ctx)}
        given = {name: ctx.params.pop(name) for name in set(ctx.params) - own}
        ctx.obj = {name: value for name, value in given.items() if value not in (None, (), [])}
        return super().invoke(ctx)
