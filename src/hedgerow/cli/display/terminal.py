"""How commands speak: results on stdout, everything else on stderr, errors in plain words."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from hedgerow.errors import DataWarning, HedgerowError, LedgerWarning, UsageError
from hedgerow.suggestions import COMMANDS, OPTIONS

if TYPE_CHECKING:
    from hedgerow.data.preparation import ItemPreparation, Preparation
    from hedgerow.present.document import Document

# Being told to stop: everything a run has begun is cleared away before it ends.


INTERRUPTED = 130  # what a shell reports for a command that was stopped with Ctrl-C


class Stopped(KeyboardInterrupt):
    """A signal other than Ctrl-C asked the command to end.

    Args:
        number: The signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.exit_code = 128 + number  # as a shell reports it


def heed_signals() -> None:
    """Treats a closed terminal and a polite kill like Ctrl-C.

    Their own effect would be to end the process on the spot, and a half-written release would stay
    behind. What is ignored on purpose, as under nohup, stays ignored.
    """
    for name in ("SIGTERM", "SIGHUP"):  # not every system has both
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _stop)


def _stop(number: int, _: FrameType | None) -> NoReturn:
    # The second of two signals, as a closing session sends them, must not disturb the clearing.
    for name in ("SIGTERM", "SIGHUP"):
        other = getattr(signal, name, None)
        if other is not None and signal.getsignal(other) is _stop:
            signal.signal(other, signal.SIG_IGN)
    raise Stopped(number)


# Warnings of a run that prints JSON are kept for that: printed as text, they would spoil it.
_as_json = False
_kept: list[str] = []


class _Parser:
    """A command, or the group of all, whose arguments are refused in words or as JSON."""

    def make_context(self, info_name: Any, args: list[str], *rest: Any, **more: Any) -> Any:
        """Parses the arguments."""
        global _as_json
        _as_json = "--json" in args
        _kept.clear()
        try:
            return super().make_context(info_name, args, *rest, **more)  # type: ignore[misc]
        except Exception as error:
            _refuse_arguments(error)
            raise


class CommandGroup(_Parser, TyperGroup):
    """The command with all its commands."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Finds the command."""
        try:
            if args and args[0] in COMMANDS:
                ctx.fail(f"No such command: {args[0]}. {COMMANDS[args[0]]}")
            return super().resolve_command(ctx, args)
        except Exception as error:
            _refuse_arguments(error)
            raise


def _refuse_arguments(error: Any) -> None:
    """Mends what the parser says of an option that is not known; JSON stays JSON."""
    option = getattr(error, "option_name", None)
    if hasattr(error, "possibilities") and isinstance(option, str):
        if option[:2] != "--":  # a negative number, or an item that is called so
            error.message = f"No such option: {option}. If it is none, write -- before it."
        elif option in OPTIONS:
            error.message = f"No such option: {option}. Write {OPTIONS[option]}."
            error.possibilities = None
    if _as_json and hasattr(error, "format_message"):
        words, hint = str(error.format_message()), "Look at --help for what there is."
        code = int(getattr(error, "exit_code", UsageError.exit_code))
        _complain(UsageError.__name__, words, hint, code)
        raise typer.Exit(code) from None


class Command(_Parser, TyperCommand):
    """A command whose errors leave as a message and a stable exit code, never as a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Runs the command."""
        global _as_json
        _as_json = bool(ctx.params.get("as_json"))
        try:
            return super().invoke(ctx)
        except HedgerowError as error:
            kind = type(error).__name__
            _complain(kind, error.message, error.hint, error.exit_code, error.places)
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt as stop:
            code = getattr(stop, "exit_code", INTERRUPTED)
            with suppress(OSError):  # the terminal may be gone
                _complain("Interrupted", "Interrupted.", None, code)
            raise typer.Exit(code) from None
        except BrokenPipeError:
            # The reader of our output went away (`hedgerow show r | head`): nobody to tell.
            _silence_stdout()
            raise typer.Exit(1) from None
        except Exception as error:
            # The parser's own exceptions (a bad option, --help) know how to leave.
            if isinstance(error, typer.Abort) or hasattr(error, "exit_code"):
                raise
            _complain(type(error).__name__, *_unforeseen(error), 1)
            try:
                sys.stdout.flush()
            except OSError:  # what cannot be printed now cannot be at the end either
                _silence_stdout()
            raise typer.Exit(1) from None


def _silence_stdout() -> None:
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def telling(written: Path | None) -> Iterator[None]:
    """For what is said after a file was written: the work is done even if nobody can read it.

    Args:
        written: The file or folder, if there is one.
    """
    if written is None:
        yield
        return
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


def _unforeseen(error: Exception) -> tuple[str, str]:
    """What to say about an error that is not one of ours; never the error's own text."""
    if isinstance(error, MemoryError):
        return (
            "There is not enough memory for this.",
            "Try --engine streamed, close other programs, use a machine with more memory, or make "
            "the steps of numeric attributes coarser.",
        )
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if isinstance(error.filename, str) else ""
        return f"{where}{error.strerror}.", "Check the path, its permissions and the disk."
    return (
        f"hedgerow failed in a way it should not ({type(error).__name__}). This is a mistake in "
        "hedgerow, or in an installed package that adds a method to it, not in your data.",
        "Run it again with HEDGEROW_DEBUG=1 to see where. What that prints may quote private "
        "data: look at it yourself before you show it to anyone.",
    )


def _complain(
    kind: str, message: str, hint: str | None, code: int, places: Sequence[tuple[str, ...]] = ()
) -> None:
    """Says what went wrong; with HEDGEROW_DEBUG=1 also where."""
    if os.environ.get("HEDGEROW_DEBUG") == "1":
        import traceback

        traceback.print_exc()
    if _as_json:
        error: dict[str, Any] = {"kind": kind, "message": message, "hint": hint, "exit_code": code}
        error |= {"places": places} if places else {}
        error |= {"warnings": warned()} if _kept else {}
        typer.echo(json.dumps({"error": error}, ensure_ascii=False), err=True)
        return
    typer.echo(f"Error: {message}" if kind != "Interrupted" else message, err=True)
    if hint:
        typer.echo(f"  {hint}", err=True)


def say(*lines: str, err: bool = False) -> None:
    """Prints lines of the result, or beside it."""
    stream = sys.stderr if err else sys.stdout
    for line in lines:
        typer.echo(_fitted(line) if stream.isatty() else line, err=err)


note = partial(say, err=True)
"""Prints lines that are not part of the result, such as a warning."""


def _fitted(text: str) -> str:
    """The text with lines broken between words where they are too long for a terminal."""
    width = max(20, shutil.get_terminal_size().columns)
    lines = []
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        lines += textwrap.wrap(
            line, width, subsequent_indent=indent, break_long_words=False,
            break_on_hyphens=False, replace_whitespace=False,
        ) or [""]  # fmt: skip
    return "\n".join(lines)


def warn(*texts: str) -> None:
    """Prints warnings, or keeps them for the JSON that comes later."""
    for text in texts:
        if _as_json:
            _kept.append(text)
        else:
            note(f"Warning: {text}")


def warned() -> list[str]:
    """The warnings of this run that were kept for its JSON."""
    return list(_kept)


@contextmanager
def data_warnings() -> Iterator[None]:
    """Tells the steward, who sits at this terminal, what the library finds odd."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", DataWarning)
        warnings.simplefilter("always", LedgerWarning)
        usual = warnings.showwarning

        def show(message: Any, category: Any, *rest: Any, **more: Any) -> None:
            if issubclass(category, DataWarning | LedgerWarning):
                warn(str(message))
            else:
                usual(message, category, *rest, **more)

        warnings.showwarning = show
        yield


def print_json(value: Any) -> None:
    """Prints a result for machines; paths, fractions and dates are texts."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, default=str))


# How far a command is: a bar on the terminal, or lines for another program.


@dataclass
class Bar:
    """Progress that can be called with a share.

    Args:
        tell: Shows the share that is done, and what is being done.
        share: That share.
        words: What is being done.
    """

    tell: Callable[[float, str], object]
    share: float = 0.0
    words: str = ""

    def __call__(self, share: float) -> None:
        """Shows the share that is done."""
        self.share = min(1.0, max(0.0, share))
        self.tell(self.share, self.words)

    def stage(self, words: str) -> None:
        """Shows what is being done."""
        self.words = words
        self.tell(self.share, words)


@contextmanager
def progress(words: str) -> Iterator[Bar]:
    """A progress bar on stderr, if that is a terminal; it knows shares only, never counts.

    With HEDGEROW_PROGRESS=lines in the environment it is lines of JSON instead, for a program that
    started the command.

    Args:
        words: What is being done.
    """
    if os.environ.get("HEDGEROW_PROGRESS") == "lines":
        lines = [""]

        def print_line(share: float, stage: str) -> None:
            """A line of JSON for every percent or new words."""
            line = json.dumps({"progress": round(share, 2), "stage": stage}, ensure_ascii=False)
            if lines != [line]:
                lines[:] = [line]
                typer.echo(line, err=True)

        yield Bar(print_line)
    elif not sys.stderr.isatty():
        yield Bar(lambda share, stage: None)
    else:
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(words, total=1.0)
            yield Bar(
                lambda share, stage: bar.update(
                    task, completed=share, description=f"{words}, {stage}" if stage else words
                )
            )


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], right: set[int] | None = None
) -> None:
    """Prints a table that fits the terminal.

    Args:
        columns: The headings.
        rows: The cells, as text.
        right: The columns that are aligned to the right.
    """
    from hedgerow.present.document import table_lines

    for line in table_lines(columns, rows, right or set(), shutil.get_terminal_size().columns):
        typer.echo(line.replace("\u00a0", " "))


def print_document(document: Document) -> None:
    """Prints a document; bars are drawn where the terminal can write them."""
    from hedgerow.present.document import text

    written = (sys.stdout.encoding or "").lower().replace("-", "")
    typer.echo(text(document, shutil.get_terminal_size().columns, written.startswith("utf")))


# What became of rows or records, on the terminal. NOT PRIVATE.


def tell_preparation(found: Preparation | ItemPreparation) -> None:
    """Prints what became of rows or records."""
    from hedgerow.present.against import about_rows, about_tables
    from hedgerow.present.document import Document, Section

    title = "What became of the data (NOT PRIVATE: exact counts, for the holder of the data alone)"
    sections = (Section("", about_rows(found)), Section("", about_tables(found)))
    say("")
    print_document(Document(title=title, sections=sections))
    warn(*found.warnings())
