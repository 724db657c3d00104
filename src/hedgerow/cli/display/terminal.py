"""How commands speak: results on stdout, everything else on stderr, errors in plain words.

Nothing here may print what it was not given by a release, a schema or an error of ours: in
particular the text of an unforeseen exception is kept back, since it may quote private data.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, TextIO

import typer
from typer.core import TyperCommand, TyperGroup

from hedgerow.cli.arrow import load_arrow
from hedgerow.cli.stop import INTERRUPTED
from hedgerow.errors import DataWarning, HedgerowError, LedgerWarning, UsageError

__all__ = [
    "Command",
    "CommandGroup",
    "data_warnings",
    "example",
    "note",
    "print_drawing",
    "print_json",
    "say",
    "telling",
    "warn",
    "warned",
]

# Warnings of this run that are kept for its JSON: printed as text, they would spoil it.
_kept: list[str] = []

# What reads files alone, and begins with Arrow in any case.
_READERS = {"publish", "show", "query", "table", "sample", "verify", "report", "dossier"}


@contextmanager
def _parsing(as_json: bool) -> Iterator[None]:
    """Where the parser refuses its arguments, JSON stays JSON."""
    try:
        yield
    except Exception as error:
        option = getattr(error, "option_name", None)
        if hasattr(error, "possibilities") and isinstance(option, str) and option[:2] != "--":
            # a negative number, or an item that is called so
            error.message = f"No such option: {option}. If it is none, write -- before it."  # type: ignore[attr-defined]
        if not as_json or not hasattr(error, "format_message"):
            raise
        words = str(error.format_message())
        code = int(getattr(error, "exit_code", UsageError.exit_code))
        _complain(UsageError.__name__, words, "Look at --help for what there is.", code, True)
        raise typer.Exit(code) from None


class CommandGroup(TyperGroup):
    """The command with all its commands."""

    def make_context(self, info_name: Any, args: list[str], *rest: Any, **more: Any) -> Any:
        """Parses what stands before the command's name."""
        with _parsing("--json" in args):
            return super().make_context(info_name, args, *rest, **more)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Finds the command."""
        with _parsing("--json" in args):
            if args[:1] == ["reproduce"]:
                ctx.fail(
                    "No such command: reproduce. The papers' figures are run from a checkout of"
                    " hedgerow: python -m papers --list"
                )
            return super().resolve_command(ctx, args)


class Command(TyperCommand):
    """A command whose errors leave as a message and a stable exit code, never as a traceback."""

    alone: ClassVar[bool] = False
    """Whether the process is there for this command alone."""

    def make_context(self, info_name: Any, args: list[str], *rest: Any, **more: Any) -> Any:
        """Parses the command's arguments."""
        with _parsing("--json" in args):
            return super().make_context(info_name, args, *rest, **more)

    def invoke(self, ctx: Any) -> Any:
        """Runs the command."""
        as_json = bool(ctx.params.get("as_json"))
        _kept.clear()
        try:
            if self.alone and ctx.info_name in _READERS:
                load_arrow()
            return super().invoke(ctx)
        except HedgerowError as error:
            _debug()
            _complain(type(error).__name__, error.message, error.hint, error.exit_code, as_json)
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt as stop:
            _debug()
            code = getattr(stop, "exit_code", INTERRUPTED)
            with suppress(OSError):  # the terminal may be gone
                _complain("Interrupted", "Interrupted.", None, code, as_json)
            raise typer.Exit(code) from None
        except BrokenPipeError:
            # The reader of our output went away (`hedgerow show r | head`): nobody to tell.
            _silence_stdout()
            raise typer.Exit(1) from None
        except Exception as error:
            # The parser's own exceptions (a bad option, --help) know how to leave.
            if isinstance(error, typer.Abort) or hasattr(error, "exit_code"):
                raise
            _debug()
            _complain(*_unforeseen(error), 1, as_json)
            try:
                sys.stdout.flush()
            except OSError:  # what cannot be printed now cannot be at the end either
                _silence_stdout()
            raise typer.Exit(1) from None


def _silence_stdout() -> None:
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def telling(written: Path) -> Iterator[None]:
    """For what is said after a file was written: the work is done even if nobody can read it.

    Args:
        written: The file or folder.
    """
    try:
        yield
        sys.stdout.flush()
    except OSError:
        _silence_stdout()
        with suppress(OSError):
            note(f"{written} was written, but what there was to say about it was not printed.")
    except KeyboardInterrupt:  # nobody should think that the work has to be done again
        with suppress(OSError):
            note(f"{written} was written already.")
        raise


def _unforeseen(error: Exception) -> tuple[str, str, str]:
    """What to say about an error that is not one of ours; never the error's own text."""
    kind = type(error).__name__
    if isinstance(error, MemoryError):
        return (
            kind,
            "There is not enough memory for this.",
            "Try --engine streamed, close other programs, use a machine with more memory, or make "
            "the steps of numeric attributes coarser.",
        )
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if isinstance(error.filename, str) else ""
        return kind, f"{where}{error.strerror}.", "Check the path, its permissions and the disk."
    return (
        kind,
        f"hedgerow failed in a way it should not ({kind}). This is a mistake in hedgerow, or in an "
        "installed package that adds a method to it, not in your data.",
        "Run it again with HEDGEROW_DEBUG=1 to see where. What that prints may quote private "
        "data: look at it yourself before you show it to anyone.",
    )


def _complain(kind: str, message: str, hint: str | None, code: int, as_json: bool) -> None:
    if as_json:
        error: dict[str, Any] = {"kind": kind, "message": message, "hint": hint, "exit_code": code}
        if _kept:
            error["warnings"] = warned()
        typer.echo(json.dumps({"error": error}, ensure_ascii=False), err=True)
        return
    typer.echo(f"Error: {message}" if kind != "Interrupted" else message, err=True)
    if hint:
        typer.echo(f"  {hint}", err=True)


def _debug() -> None:
    if os.environ.get("HEDGEROW_DEBUG") == "1":
        import traceback

        traceback.print_exc()


def example(*lines: str) -> str:
    """The end of a command's help: how it is used."""
    # A backspace alone on a line keeps the parser from refilling what follows.
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)


def say(text: str = "") -> None:
    """Prints a line of the result."""
    typer.echo(_fitted(text, sys.stdout))


def note(text: str) -> None:
    """Prints a line that is not part of the result, such as a warning."""
    typer.echo(_fitted(text, sys.stderr), err=True)


def _fitted(text: str, stream: TextIO) -> str:
    """The text with lines broken between words where they are too long for a terminal."""
    if not stream.isatty():
        return text
    width = shutil.get_terminal_size().columns
    lines = []
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        lines += textwrap.wrap(
            line, max(20, width), subsequent_indent=indent, break_long_words=False,
            break_on_hyphens=False, replace_whitespace=False, drop_whitespace=True,
        ) or [""]  # fmt: skip
    return "\n".join(lines)


def warn(text: str, as_json: bool = False) -> None:
    """Prints a warning, or keeps it for the JSON that comes later."""
    if as_json:
        _kept.append(text)
    else:
        note(f"Warning: {text}")


def warned() -> list[str]:
    """The warnings of this run that were kept for its JSON."""
    return list(_kept)


@contextmanager
def data_warnings(as_json: bool = False) -> Iterator[None]:
    """Tells the steward, who sits at this terminal, what the library finds odd."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", DataWarning)
        warnings.simplefilter("always", LedgerWarning)
        usual = warnings.showwarning

        def show(message: Any, category: Any, *rest: Any, **more: Any) -> None:
            if issubclass(category, DataWarning | LedgerWarning):
                warn(str(message), as_json)
            else:
                usual(message, category, *rest, **more)

        warnings.showwarning = show
        yield


def print_json(value: Any) -> None:
    """Prints a result for machines."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def print_drawing(drawing: Any) -> None:
    """Prints a tree of rich."""
    from rich.console import Console

    # By way of a text: rich ends the process itself when a pipe breaks, whatever is left to do.
    console = Console()
    with console.capture() as text:
        console.print(drawing)
    typer.echo(text.get(), nl=False)
