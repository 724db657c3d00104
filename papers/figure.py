"""What an experiment is: points to measure, several runs of each, and what the paper says.

Finished runs are kept in a folder, so that long experiments can be stopped and resumed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.evaluate.cost import cpu_seconds
from hedgerow.schema import Schema
from papers import data

__all__ = [
    "Claim",
    "Figure",
    "Inputs",
    "Line",
    "Point",
    "Result",
    "Runs",
    "Stated",
    "interval",
    "measure",
]


class Runs:
    """One file of results: each run is one line, written as soon as it is done.

    Args:
        path: The file; it is made when the first run is done.

    Example:
        >>> import tempfile
        >>> runs = Runs(Path(tempfile.mkdtemp()) / "runs.jsonl")
        >>> runs.get({"epsilon": "1", "run": 0}, lambda: {"accuracy": 82.1})
        {'accuracy': 82.1}
        >>> Runs(runs.path).get({"run": 0, "epsilon": "1"}, lambda: {"accuracy": 0.0})
        {'accuracy': 82.1}
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[str, dict[str, float]] = {}
        if path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    entry = json.loads(line)
                    self._known[_key(entry["run"])] = entry["result"]
                except (ValueError, KeyError):
                    continue  # the last line of a run that was stopped in the middle

    def get(
        self, run: dict[str, object], compute: Callable[[], dict[str, float]]
    ) -> dict[str, float]:
        """The result of a run: the one that is known, or a new one, which is then kept.

        Args:
            run: What tells this run apart from others: settings and number.
            compute: Runs it.
        """
        key = _key(run)
        if key not in self._known:
            result = {name: float(value) for name, value in compute().items()}
            self.path.parent.mkdir(parents=True, exist_ok=True)
            torn = self.path.is_file() and not self.path.read_bytes().endswith(b"\n")
            with self.path.open("a", encoding="utf-8") as file:
                line = json.dumps({"run": run, "result": result})
                file.write(("\n" if torn else "") + line + "\n")
            self._known[key] = json.loads(line)["result"]
        return self._known[key]

    def knows(self, run: dict[str, object]) -> bool:
        """Whether a run is done."""
        return _key(run) in self._known


def _key(run: dict[str, object]) -> str:
    return json.dumps(run, sort_keys=True)


# Student's t for a two-sided interval of 95%, by degrees of freedom; 1.96 from 31 on
_T = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13,
      2.12, 2.11, 2.10, 2.09, 2.09, 2.08, 2.07, 2.07, 2.06, 2.06, 2.06, 2.05, 2.05, 2.05,
      2.04)  # fmt: skip


POSSIBLE = {
    "accuracy in percent": (0.0, 100.0),
    "accuracy CA in percent": (0.0, 100.0),
    "match point": (0.0, 1.0),
    "NCP, from 0 to 1": (0.0, 1.0),
    "CPU seconds": (0.0, math.inf),
}
"""Between which numbers a measure lies: no interval reaches beyond."""


@dataclass
class Inputs:
    """The data of experiments, read when it is first needed.

    Args:
        folder: Where data files lie, if a folder was named.
        dpmm: The interpreter of an environment with dpmm, if there is one.
    """

    folder: Path | None = None
    dpmm: Path | None = None
    kept: dict[Any, Any] = field(default_factory=dict)  # whatever experiments want to make once

    @cached_property
    def adult(self) -> pa.Table:
        """The complete rows of UCI Adult."""
        return data.adult(self.folder)

    @property
    def schema(self) -> Schema:
        """The schema of UCI Adult."""
        return data.adult_schema()

    @cached_property
    def msnbc(self) -> Path:
        """The file of MSNBC's transactions."""
        return data.msnbc(self.folder)

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What was made for a key before, or makes it now."""
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]


@dataclass(frozen=True)
class Point:
    """One point of a curve.

    Args:
        series: The curve.
        x: Where on it; None for a level line.
        run: One run with its number, which is also its seed.
        settings: What else tells the runs of this point apart from others; part of their key.
    """

    series: str
    x: float | str | None
    _: KW_ONLY
    run: Callable[[Inputs, int], float]
    settings: str = ""


@dataclass(frozen=True)
class Stated:
    """What the paper says about a point in words or numbers.

    Args:
        series: The curve of ours it is about.
        x: The point of it.
        value: The number that the paper states.
        words: Where and how it says so.
    """

    series: str
    x: float | str | None
    _: KW_ONLY
    value: float
    words: str = ""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What the paper's text says of a curve, so that runs can contradict it.

    Args:
        words: What it says.
        series: The curve of ours that it is about.
        than: What that curve is said to be no less than: another curve, or a number.
        where: At which points; everywhere by default.
        always: Whether single runs are meant, so that the lower end of an interval counts.
    """

    words: str
    series: str
    than: str | float
    where: Callable[[Any], bool] = lambda x: True
    always: bool = False

    def broken(self, result: Result) -> list[str]:
        """The points at which it does not hold, in words; none if it holds."""
        found = []
        for line in result.lines:
            if line.series != self.series or not self.where(line.x):
                continue
            mine = line.low if self.always else line.mean
            other = self.than
            if isinstance(other, str):
                beside = result.at(other, line.x)
                if beside is None:
                    continue
                other = beside.mean
            if mine < other:
                what = (
                    f"{line.mean:.4g}, interval from {mine:.4g}" if self.always else f"{mine:.4g}"
                )
                found.append(f"at {line.x}: {what}, against {other:.4g}")
        return found


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure or table of a paper.

    Args:
        name: What it is called here, such as "diffgen-fig3a".
        title: What it shows.
        x: What lies along the x-axis.
        y: What lies along the y-axis.
        settings: The paper's settings, in a sentence.
        runs: How many runs the paper averages.
        points: The points, fewer if it must be quick.
        stated: The numbers that the paper's text states.
        differs: Where ours differs from the paper, and why.
        logarithmic: Whether the y-axis is.
        needs: A reason why it cannot be run with these inputs, or None.
        claims: What its text says that runs may contradict: the page begins with what they do.
        fails: What else of its text does not hold here, as a sentence for the same place.
    """

    name: str
    title: str
    x: str
    y: str
    settings: str
    runs: int
    points: Callable[[bool], Sequence[Point]]
    stated: tuple[Stated, ...] = ()
    differs: str = ""
    logarithmic: bool = False
    needs: Callable[[Inputs], str | None] = lambda inputs: None
    claims: tuple[Claim, ...] = ()
    fails: str = ""

    @property
    def paper(self) -> str:
        """The paper it is from."""
        return self.name.split("-")[0]


@dataclass(frozen=True, kw_only=True)
class Line:
    """The result of one point: a mean over runs with an interval of 95%."""

    series: str
    x: float | str | None
    mean: float
    low: float
    high: float
    runs: int


@dataclass(frozen=True, kw_only=True)
class Result:
    """The results of a figure."""

    figure: Figure
    lines: tuple[Line, ...]
    runs: int
    quick: bool
    skipped: str | None = None
    cpu: float = math.nan  # seconds that all runs took, if it is known

    def at(self, series: str, x: float | str | None) -> Line | None:
        """The result of a point; a level line is the same everywhere."""
        for line in self.lines:
            if line.series == series and line.x in (x, None):
                return line
        return None


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean and its 95% interval by Student's t; without width where one run is all there is.

    Example:
        >>> [round(end, 2) for end in interval([1.0, 2.0, 3.0])]
        [2.0, -0.48, 4.48]
    """
    array = np.asarray(values, dtype=np.float64)
    mean = float(array.mean())
    if len(array) < 2:
        return mean, mean, mean
    t = _T[len(array) - 2] if len(array) - 2 < len(_T) else 1.96
    half = t * float(array.std(ddof=1)) / math.sqrt(len(array))
    return mean, mean - half, mean + half


def measure(
    figure: Figure, inputs: Inputs, runs: Runs, number: int, quick: bool
) -> Iterator[tuple[float, Result | None]]:
    """Runs a figure, telling the share that is done, and the result in the end.

    Args:
        figure: What to run.
        inputs: Its data.
        runs: Where finished runs are kept.
        number: How many runs of each point; more, up to the paper's number, if they are kept.
        quick: Whether there should be fewer points.
    """
    reason = figure.needs(inputs)
    if reason:
        yield 1.0, Result(figure=figure, lines=(), runs=number, quick=quick, skipped=reason)
        return
    points = figure.points(quick)

    def key(point: Point, one: int) -> dict[str, object]:
        return {
            "figure": figure.name, "series": point.series, "x": point.x,
            "settings": point.settings, "run": one,
        }  # fmt: skip

    def compute(point: Point, one: int) -> dict[str, float]:
        value, seconds = cpu_seconds(lambda: point.run(inputs, one))
        return {"y": value, "cpu": seconds}

    while number < figure.runs and all(runs.knows(key(point, number)) for point in points):
        number += 1
    lines = []
    cpu = 0.0
    for place, point in enumerate(points):
        values = []
        for one in range(number):
            yield (place + one / number) / len(points), None
            found = runs.get(key(point, one), partial(compute, point, one))
            values.append(found["y"])
            cpu += found.get("cpu", math.nan)
        mean, *ends = interval(values)
        least, most = POSSIBLE.get(figure.y, (-math.inf, math.inf))
        low, high = (min(max(end, least), most) for end in ends)
        lines.append(
            Line(series=point.series, x=point.x, mean=mean, low=low, high=high, runs=number)
        )
    yield 1.0, Result(figure=figure, lines=tuple(lines), runs=number, quick=quick, cpu=cpu)
