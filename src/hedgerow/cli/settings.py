"""Options for the settings of methods, made from the settings themselves.

A setting is a field of a method's dataclass. Its annotation says what it takes, the `Args` of the
class what it is for. The options of `publish` and `plan` and the tables in the documentation are
made of that, so that a new method has them without a line here.

Loading the methods takes most of a second: it is done when a command that has such options runs or
shows its help, and not before.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.display.terminal import Command
from hedgerow.cli.options import arguments, set_parameters
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
    def names(self) -> tuple[str, ...]:
        """The option, and the one that turns it off if it is not off by default."""
        name = (self.name.removesuffix("s") if self.is_mapping else self.name).replace("_", "-")
        is_on = self.is_flag and self.default is not False
        return (f"--{name}", f"--no-{name}") if is_on else (f"--{name}",)

    @property
    def option(self) -> str:
        """The option of the command line."""
        return self.names[0]

    @property
    def metavar(self) -> str:
        """What the option takes, in short."""
        if self.form or self.is_mapping:
            return self.form or "NAME=VALUE"
        kinds = {
            bool: ["yes|no"], int: ["N"], float: ["NUMBER"], Path: ["FILE"], tuple: ["LOW,HIGH"],
            NoneType: [],
        }  # fmt: skip
        kind = typing.get_origin(self._reads) or self._reads
        return "|".join([*self.words, *kinds.get(kind, ["TEXT"])])

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
            kinds = {bool: "yes or no", int: "a whole number", float: "a number"}
            must_be = kinds.get(kind, "two numbers, as in 0,10")
            must_be = f"{', '.join(self.words)} or {must_be}" if self.words else must_be
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
    hints, texts, settings = typing.get_type_hints(kind), arguments(kind), {}
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
    kind: Any = load(METHODS[name].settings)
    known = settings_of(kind)
    for key, value in given.items():
        if key not in known:
            option = f"--{'no-' if value is False else ''}{key.replace('_', '-')}"
            others = {
                other: settings[key].option
                for other, settings in _load_methods().items()
                if key in settings and METHODS[other].data == METHODS[name].data
            }
            option = next(iter(others.values()), option)
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


def _load_methods() -> dict[str, dict[str, Setting]]:
    """The settings of all methods that load; a package that is broken is refused when named."""
    methods = {}
    for name in METHODS:
        with suppress(UsageError, ImportError, AttributeError):
            methods[name] = settings_of(kind_of(name))
    return methods


def method_options() -> list[Setting]:
    """The option `--method`, and one for every setting of a method, with what it is for in each."""
    usual = f"{for_data('table')[0]}, {for_data('transactions')[0]} for items"
    named = Setting(
        name="method", takes=(), words=tuple(METHODS), default=None,
        help=f"How to publish; by default {usual}.",
    )  # fmt: skip
    first: dict[str, Setting] = {}
    uses: dict[str, dict[str, list[str]]] = {}
    for method, settings in _load_methods().items():
        for name, setting in settings.items():
            first.setdefault(name, setting)
            uses.setdefault(name, {}).setdefault(setting.help, []).append(method)
    helps = {
        name: " ".join(f"{', '.join(methods)}: {text}" for text, methods in texts.items())
        for name, texts in uses.items()
    }
    return [named, *(replace(first[name], help=help) for name, help in helps.items())]


@cache
def _parse_options() -> list[Any]:
    """The options for the parser, as it makes them of a command that has nothing else."""

    def command(**given: Any) -> None:
        """Is never run."""

    parameters = []
    for one in method_options():
        kind: Any = bool if one.is_flag else list[str] if one.is_mapping else str
        metavar = None if one.is_flag else one.metavar
        names = "/".join(one.names)
        info = typer.Option(names, metavar=metavar, help=one.help, show_default=False)
        parameters.append(
            inspect.Parameter(
                one.name, inspect.Parameter.KEYWORD_ONLY, default=None,
                annotation=Annotated[kind | None, info],
            )
        )  # fmt: skip
    set_parameters(command, parameters)
    app = typer.Typer(add_completion=False)
    app.command()(command)
    own = {one.name for one in parameters}
    return [one for one in typer.main.get_command(app).params if one.name in own]


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
