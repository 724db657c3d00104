"""How far a command is: a bar on the terminal, or lines for another program."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

__all__ = ["Bar", "Lines", "progress"]


class Bar:
    """A progress bar that can be called with a share.

    Args:
        bar: The drawing.
        words: What is being done.
    """

    def __init__(self, bar: Any, words: str) -> None:
        self._bar = bar
        self._words = words
        self._task = bar.add_task(words, total=1.0)

    def __call__(self, share: float) -> None:
        """Shows the share that is done."""
        self._bar.update(self._task, completed=min(1.0, max(0.0, share)))

    def stage(self, words: str) -> None:
        """Shows what is being done."""
        text = f"{self._words}, {words}" if words else self._words
        self._bar.update(self._task, description=text)


class Lines(Bar):
    """Progress for another program: a line of JSON on stderr for every percent or new words."""

    def __init__(self) -> None:
        self._told = -1.0, ""
        self._share, self._stage = 0.0, ""

    def __call__(self, share: float) -> None:
        """Tells the share that is done."""
        self._share = round(min(1.0, max(0.0, share)), 2)
        self._tell()

    def stage(self, words: str) -> None:
        """Tells what is being done."""
        self._stage = words
        self._tell()

    def _tell(self) -> None:
        if (self._share, self._stage) != self._told:
            self._told = self._share, self._stage
            told = {"progress": self._share, "stage": self._stage}
            typer.echo(json.dumps(told, ensure_ascii=False), err=True)


@contextmanager
def progress(words: str) -> Iterator[Bar | None]:
    """A progress bar on stderr, if that is a terminal; it knows shares only, never counts.

    With HEDGEROW_PROGRESS=lines in the environment it is lines of JSON instead, for a program that
    started the command.

    Args:
        words: What is being done.
    """
    if os.environ.get("HEDGEROW_PROGRESS") == "lines":
        yield Lines()
        return
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        yield Bar(bar, words)
