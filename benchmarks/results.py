"""Figures of benchmarks as JSON, so that two commits can be compared.

A figure is named by what was measured (`speed/DiffMulti h = 10,000/1,000,000 rows`), never by the
machine, the folder or the time, so that the same figure has the same name everywhere. Seconds still
depend on the machine: compare files of one machine, or figures that are ratios.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

import hedgerow

__all__ = ["Figure", "Results", "Run", "add_json_option", "commit", "read_run"]

FORMAT = "hedgerow benchmarks 1"


class Figure(TypedDict):
    """A number, its unit, and whether `less` or `more` of it is better."""

    value: float
    unit: str
    better: str


class Run(TypedDict):
    """What a file holds."""

    format: str
    commit: str
    hedgerow: str
    python: str
    figures: dict[str, Figure]


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Gives a benchmark its option `--json`."""
    parser.add_argument(
        "--json", type=Path, metavar="FILE",
        help="also write the figures there, beside those of other benchmarks of the same commit",
    )  # fmt: skip


@dataclass
class Results:
    """The figures of one benchmark, as they come in.

    Args:
        benchmark: Its name, which every figure's name begins with.
    """

    benchmark: str
    figures: dict[str, Figure] = field(default_factory=dict)

    def add(self, value: float, unit: str, *names: object, better: str = "less") -> None:
        """Notes a figure under names that go from the general to the particular.

        A figure that could not be had (NaN) is left out. A name that is used twice is a mistake.
        """
        name = "/".join([self.benchmark, *map(str, names)])
        if name in self.figures:
            raise ValueError(f"the figure {name!r} was noted before")
        if math.isfinite(value):
            self.figures[name] = {"value": float(value), "unit": unit, "better": better}

    def write(self, path: Path | None) -> None:
        """Writes the figures, and keeps those of other benchmarks that the file has of this commit.

        Nothing is written if no path was given.
        """
        if path is None:
            return
        run = Run(
            format=FORMAT, commit=commit(), hedgerow=hedgerow.__version__,
            python=platform.python_version(), figures={},
        )  # fmt: skip
        if path.exists():
            before = read_run(path)
            if all(before[key] == run[key] for key in ("commit", "hedgerow", "python")):
                run["figures"] = {
                    name: figure
                    for name, figure in before["figures"].items()
                    if not name.startswith(f"{self.benchmark}/")
                }
        run["figures"] |= self.figures
        run["figures"] = dict(sorted(run["figures"].items()))
        path.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")


def read_run(path: Path) -> Run:
    """The figures of a file.

    Raises:
        ValueError: If it is not one of ours.
    """
    content = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise ValueError(f"{path} does not hold figures of benchmarks")
    return Run(**content)  # type: ignore[typeddict-item]


def commit() -> str:
    """The commit that is measured, marked if files were changed since; '' outside a checkout."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
        cwd=Path(__file__).parent, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.strip()
