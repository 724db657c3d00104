"""What an experiment is: points to measure, several runs of each, and what the paper says.

Finished runs are kept in a folder, so that long experiments can be stopped and resumed.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from hedgerow.schema import Schema
from papers import data
from papers.clusters import cpu_seconds

__all__ = [
    "PROOF",
    "Taxonomies",
    "Verdict",
    "place",
    "plain",
    "student",
    "agrees",
    "exceeds",
    "Claim",
    "Figure",
    "Inputs",
    "Line",
    "Point",
    "Result",
    "Results",
    "curve",
    "Runs",
    "Stated",
    "interval",
    "measure",
    "worst",
]


Taxonomies = Literal["ours", "authors"]


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


PROOF = "a proof"
"""What stands in the place of our number where nothing has to be run."""

MOST = {
    "accuracy in percent": 100.0,
    "accuracy CA in percent": 100.0,
    "match point": 1.0,
    "NCP, from 0 to 1": 1.0,
    "utility": 1.0,
}
"""What a measure is at most. None is below 0, and no interval reaches beyond."""


@dataclass
class Inputs:
    """The data of experiments, read when it is first needed.

    Args:
        folder: Where data files lie, if a folder was named.
        taxonomies: Whose taxonomies of Adult the schema has.
    """

    folder: Path | None = None
    taxonomies: Taxonomies = "ours"
    kept: dict[Any, Any] = field(default_factory=dict)  # whatever experiments want to make once

    @cached_property
    def adult(self) -> pa.Table:
        """The complete rows of UCI Adult."""
        return data.adult(self.folder)

    @cached_property
    def schema(self) -> Schema:
        """The schema of UCI Adult."""
        if self.taxonomies == "authors":
            return data.authors_schema(self.folder)
        return data.adult_schema()

    @cached_property
    def authors(self) -> Inputs:
        """The same data with the authors' taxonomies."""
        other = Inputs(self.folder, "authors")
        other.adult = self.adult
        return other

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
        fixed: Whether taxonomies make no difference to it.
    """

    series: str
    x: float | str | None
    _: KW_ONLY
    run: Callable[[Inputs, int], float]
    settings: str = ""
    fixed: bool = False


@dataclass(frozen=True)
class Stated:
    """What the paper says about a point in words or numbers.

    Args:
        series: The curve of ours it is about.
        x: The point of it.
        value: The number that the paper states.
    """

    series: str
    x: float | str | None
    _: KW_ONLY
    value: float


Verdict = Literal["holds", "ties", "does not hold", "not run"]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A row of the table that a paper's page begins with: what it says, and what runs show.

    Two means differ if a 95% interval of their difference, by Student's t, has no 0; else they tie.
    A number that the paper states is met within two standard errors, or `within`.

    Args:
        words: What the paper says.
        stated: Its number, if it states one.
        figure: The name of the figure whose runs judge it; "" if none does.
        series: The curve of ours that it is about.
        x: At which points; everywhere by default.
        than: What that curve is compared with: another curve, or a number.
        sense: Whether it should be above, below or equal to that.
        factor: How many times the other curve is meant.
        within: How far an equal number may be off besides chance.
        judge: Judges the figure's result in another way: the words of our cell, and a verdict.
        proof: The verdict of a proof, which no run can change.
        trees: Whether it depends on the taxonomies, whatever few runs can tell: it comes first.
        why: Why it does not hold, or what it depends on.
    """

    words: str
    stated: str = ""
    figure: str = ""
    series: str = ""
    x: tuple[float | str | None, ...] | None = None
    than: str | float = math.nan
    sense: Literal["above", "below", "equal"] = "above"
    factor: float = 1
    within: float = 0
    judge: Callable[[Results, Taxonomies], tuple[str, Verdict]] | None = None
    proof: Verdict | None = None
    trees: bool = False
    why: str = ""

    def verdict(self, results: Results, taxonomies: Taxonomies) -> tuple[str, str]:
        """What our runs give, and whether the claim holds: in words for two cells."""
        result = results.get(self.figure)
        if self.proof is not None:
            return PROOF, self.proof
        if result is None or result.skipped or taxonomies not in result.taxonomies:
            return "", "not run"
        if self.judge is not None:
            try:
                return self.judge(results, taxonomies)
            except KeyError:  # a figure or a curve that it compares with was not chosen
                return "", "not run"
        if all(line.series != self.series for line in result.lines):
            return "", "not run"
        cells, verdicts = [], list[Verdict]()
        for line in curve(result, self.series, taxonomies):
            if self.x is not None and line.x not in self.x:
                continue
            means, other, error = [line.mean], self.than, line.error
            if isinstance(other, str):
                beside = result.at(other, line.x, taxonomies)
                if beside is None:
                    continue
                means.append(beside.mean)
                other, error = (
                    self.factor * beside.mean,
                    math.hypot(error, self.factor * beside.error),
                )
            far = (line.mean - other) * (-1 if self.sense == "below" else 1)
            if self.sense == "equal":
                verdicts.append(agrees(far, error, line.runs, self.within))
            else:
                verdicts.append(exceeds(far, error, line.runs))
            cells.append(plain(means, error, at=place(result.figure, line.x)))
        if not cells:
            return "", "not run"
        words = "; ".join(cells if len(cells) <= 2 else (cells[0], cells[-1]))
        counts = {one: verdicts.count(one) for one in dict.fromkeys(verdicts)}
        if len(counts) == 1:
            return words, verdicts[0]
        return words, ", ".join(f"{one} {n}/{len(verdicts)}" for one, n in counts.items())


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure or table of a paper.

    Args:
        name: What it is called here, such as "diffgen-fig3a".
        title: What it shows.
        x: What lies along the x-axis.
        unit: The same in a word, for tables; by default what lies along the x-axis.
        y: What lies along the y-axis.
        settings: The paper's settings, in a sentence.
        runs: How many runs the paper averages.
        points: The points, fewer if it must be quick.
        stated: The numbers that the paper's text states.
        differs: Where ours differs from the paper, and why.
        logarithmic: Whether the y-axis is.
        needs: A reason why it cannot be run with these inputs, or None.
        trees: Whether taxonomies matter, so that it is run with the authors' too.
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
    trees: bool = False
    unit: str = ""

    @property
    def paper(self) -> str:
        """The paper it is from."""
        return self.name.split("-")[0]


@dataclass(frozen=True, kw_only=True)
class Line:
    """The result of one point: a mean over runs with an interval of 95%.

    Args:
        series: The curve.
        x: Where on it.
        mean: The mean.
        low: Where the interval begins.
        high: Where it ends.
        runs: How many runs there were.
        error: The standard error of the mean; 0 where one run is all there is.
        cpu: The seconds that the runs took.
        taxonomies: Whose taxonomies; None if they make no difference.
    """

    series: str
    x: float | str | None
    mean: float
    low: float
    high: float
    runs: int
    error: float = 0.0
    cpu: float = 0.0
    taxonomies: Taxonomies | None = None


@dataclass(frozen=True, kw_only=True)
class Result:
    """The results of a figure."""

    figure: Figure
    lines: tuple[Line, ...]
    runs: int
    quick: bool
    skipped: str | None = None
    commit: str = ""  # whose code was run
    taxonomies: tuple[Taxonomies, ...] = ("ours",)

    def at(
        self, series: str, x: float | str | None, taxonomies: Taxonomies = "ours"
    ) -> Line | None:
        """The result of a point; a level line is the same everywhere."""
        for line in self.lines:
            fits = line.series == series and line.x in (x, None)
            if fits and line.taxonomies in (taxonomies, None):
                return line
        return None


Results = Mapping[str, Result]
"""Results by the names of their figures."""


def curve(result: Result, series: str, taxonomies: Taxonomies) -> list[Line]:
    """The points of a curve.

    Raises:
        KeyError: If it has none: it was not run.
    """
    lines = [line for line in result.lines if line.series == series]
    if not lines:
        raise KeyError(series)
    return [line for line in lines if line.taxonomies in (taxonomies, None)]


def student(runs: int) -> float:
    """How many standard errors a 95% interval of so many runs reaches to each side.

    Example:
        >>> student(3), student(20), student(100)
        (4.3, 2.09, 1.96)
    """
    return _T[runs - 2] if 2 <= runs < len(_T) + 2 else 1.96


def exceeds(gap: float, error: float, runs: int) -> Verdict:
    """Whether a difference is above 0, by a 95% interval; what one run gives has no known error.

    Example:
        >>> exceeds(1.0, 0.2, 10), exceeds(0.3, 0.2, 10), exceeds(-1.0, 0.2, 10)
        ('holds', 'ties', 'does not hold')
    """
    if abs(gap) <= student(runs) * error:
        return "ties"
    return "holds" if gap > 0 else "does not hold"


def agrees(gap: float, error: float, runs: int, within: float = 0) -> Verdict:
    """Whether a number is the stated one: within two standard errors, or by no more than allowed.

    Example:
        >>> agrees(0.4, 0.1, 10, within=0.5), agrees(0.9, 0.3, 3), agrees(2.0, 0.3, 3)
        ('holds', 'ties', 'does not hold')
    """
    if abs(gap) <= max(2 * error, within):
        return "holds"
    return "ties" if abs(gap) <= student(runs) * error else "does not hold"


def worst(found: Sequence[Verdict]) -> Verdict:
    """What several verdicts come to: one that fails is enough.

    Example:
        >>> worst(["holds", "ties"])
        'ties'
    """
    return next((one for one in _FROM_WORST if one in found), "holds")


_FROM_WORST: tuple[Verdict, ...] = ("does not hold", "ties", "not run")


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
    half = student(len(array)) * float(array.std(ddof=1)) / math.sqrt(len(array))
    return mean, mean - half, mean + half


def plain(means: Sequence[float], error: float = 0.0, at: str = "", sign: str = "") -> str:
    """Numbers as a reader wants them: no more digits than runs can tell, no powers of ten.

    Args:
        means: One number, or two that are compared.
        error: The standard error of it, or of their difference; 0 where none is known.
        at: Where on a curve.
        sign: "+" to show the sign of a gain.

    Example:
        >>> plain([82.4812], 0.0712), plain([0.0000587, 0.00738], 0.0027)
        ('82.48 ± 0.07', '0.000059 against 0.0074 ± 0.003')
        >>> plain([15_025_335, 715_000_000], 19_000_000, at="h 1,000")
        'h 1,000: 15 against 715 ± 19 million'
    """
    most = max(map(abs, means))
    scale, unit = next((pair for pair in _SCALES if most >= pair[0]), (1.0, ""))
    spread = error / scale
    # one digit of the error, or two if it begins with 1 or 2
    known = _decimals(spread, 2 if f"{spread:.0e}"[0] in "12" else 1)
    if error:
        # of two that are compared, the smaller one keeps two digits
        least = 2 if len(means) > 1 else 0
        places = [max(known, _decimals(mean / scale, least)) for mean in means]
        numbers = [f"{mean / scale:{sign},.{d}f}" for mean, d in zip(means, places, strict=True)]
        words = f"{' against '.join(numbers)} ± {spread:,.{known}f}"
    else:
        words = " against ".join(f"{mean / scale:{sign},.4g}" for mean in means)
    return (f"{at}: " if at else "") + words + unit


def _decimals(value: float, digits: int) -> int:
    """How many decimals show so many digits of a number."""
    return max(0, digits - 1 - math.floor(math.log10(abs(value)))) if value and digits else 0


_SCALES = ((1e9, " billion"), (1e6, " million"))


def place(figure: Figure, x: float | str | None) -> str:
    """Where on a curve, in a word and a number.

    Example:
        >>> from papers import select
        >>> place(select("diffmulti-fig8")[0], "10000 / 20")
        'h 10,000/20'
    """
    if x is None:
        return ""
    words = f"{x:g}" if isinstance(x, float) else f"{x}"
    number = re.sub(r"(?<![.\d])\d{4,}", lambda digits: f"{int(digits[0]):,}", words)
    return f"{figure.unit or figure.x} {number}".strip().replace(" / ", "/")


def measure(
    figure: Figure,
    inputs: Inputs,
    runs: Runs,
    number: int,
    quick: bool,
    taxonomies: tuple[Taxonomies, ...] = ("ours",),
    kept: bool = False,
) -> Iterator[tuple[float, Result | None]]:
    """Runs a figure, telling the share that is done, and the result in the end.

    Args:
        figure: What to run.
        inputs: Its data.
        runs: Where finished runs are kept.
        number: How many runs of each point; more, up to the paper's number, if they are kept.
        quick: Whether there should be fewer points.
        taxonomies: Whose taxonomies of Adult; the authors' only where taxonomies matter.
        kept: Whether nothing is computed, so that as many runs count as all points have.
    """
    reason = figure.needs(inputs)
    if reason:
        yield 1.0, Result(figure=figure, lines=(), runs=number, quick=quick, skipped=reason)
        return
    if not figure.trees:
        taxonomies = ("ours",)
    every: list[tuple[Point, Taxonomies | None]] = [
        (point, None if point.fixed or not figure.trees else whose)
        for point in figure.points(quick)
        for whose in (taxonomies[:1] if point.fixed else taxonomies)
    ]

    def key(point: Point, whose: Taxonomies | None, one: int) -> dict[str, object]:
        return {
            "figure": figure.name, "series": point.series, "x": point.x,
            "settings": point.settings, "run": one, "taxonomies": whose,
        }  # fmt: skip

    def compute(point: Point, whose: Taxonomies | None, one: int) -> dict[str, float]:
        given = inputs.authors if whose == "authors" else inputs
        value, seconds = cpu_seconds(lambda: point.run(given, one))
        return {"y": value, "cpu": seconds}

    if kept:
        number = 0
    while number < figure.runs and all(runs.knows(key(*point, number)) for point in every):
        number += 1
    if not number:
        reason = "no runs of all points are kept; `python -m papers NAME` makes them"
        yield 1.0, Result(figure=figure, lines=(), runs=0, quick=quick, skipped=reason)
        return
    lines = []
    for place, (point, whose) in enumerate(every):
        values, cpu = [], 0.0
        for one in range(number):
            yield (place + one / number) / len(every), None
            found = runs.get(key(point, whose, one), partial(compute, point, whose, one))
            values.append(found["y"])
            cpu += found["cpu"]
        mean, *ends = interval(values)
        low, high = (min(max(end, 0.0), MOST.get(figure.y, math.inf)) for end in ends)
        error = float(np.std(values, ddof=1)) / math.sqrt(number) if number > 1 else 0.0
        # as a table holds them, so that pages follow from tables
        mean, low, high, error, cpu = (float(f"{x:.6g}") for x in (mean, low, high, error, cpu))
        line = Line(
            series=point.series, x=point.x, mean=mean, low=low, high=high, runs=number,
            error=error, cpu=cpu, taxonomies=whose,
        )  # fmt: skip
        lines.append(line)
    yield (
        1.0,
        Result(
            figure=figure,
            lines=tuple(lines),
            runs=number,
            quick=quick,
            taxonomies=taxonomies,
        ),
    )
