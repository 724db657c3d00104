"""Several releases side by side: what they say themselves, on simulated data, and on raw data."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from hedgerow.data import Database
from hedgerow.errors import UsageError
from hedgerow.estimate.measurements import exact
from hedgerow.evaluation.scorecard import Judgment, evaluate, method_of_release
from hedgerow.evaluation.simulate import MOST_ROWS, simulate
from hedgerow.release import Release
from hedgerow.store.frames import Frame, as_kind
from hedgerow.store.html_text import small_table
from hedgerow.suggestions import answer_mistakes

RUNS = 3
Better = Literal["less", "more"] | None


@dataclass(frozen=True, kw_only=True)
class Line:
    """One measure of all candidates.

    Args:
        words: What is compared.
        source: Where it comes from: "release", "simulated" or "raw" (NOT PRIVATE).
        values: For each candidate; None where it has no such value.
        shown: The same, for people.
        better: Whether less or more is better, if either.
    """

    words: str
    source: Literal["release", "simulated", "raw"]
    values: tuple[float | str | None, ...]
    shown: tuple[str, ...]
    better: Better = None

    @property
    def best(self) -> tuple[int, ...]:
        """The places of the best candidates; none if all are alike."""
        known = [value for value in self.values if isinstance(value, float | int)]
        if self.better is None or len(known) < 2 or min(known) == max(known):
            return ()
        most = min(known) if self.better == "less" else max(known)
        return tuple(place for place, value in enumerate(self.values) if value == most)


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison:
    """Candidates side by side.

    Args:
        names: What the candidates are called.
        lines: The measures.
        private: Whether all of it follows from the releases and from simulated data.
    """

    names: tuple[str, ...]
    lines: tuple[Line, ...]
    private: bool

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        return {**asdict(self), "lines": [asdict(x) | {"best": list(x.best)} for x in self.lines]}

    def to_frame(self, kind: str = "pandas") -> Frame:
        """A row for each measure and a column for each release, with values as people read them.

        Args:
            kind: "pandas", "polars" or "arrow".
        """
        columns = {"measure": [line.words for line in self.lines]}
        for place, name in enumerate(self.names):
            columns[name] = [line.shown[place] for line in self.lines]
        frame = as_kind(pa.table(columns), kind)
        return frame.set_index("measure") if kind == "pandas" else frame

    def __repr__(self) -> str:
        """The measures below each other."""
        rows = [["measure", *self.names], *([line.words, *line.shown] for line in self.lines)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)

    def _repr_html_(self) -> str:
        rows = self.to_frame("arrow")
        cells = zip(*(column.to_pylist() for column in rows.columns), strict=True)
        return small_table("Releases side by side", rows.column_names, cells)


@answer_mistakes
def compare(
    releases: Sequence[Release | str | Path] | Mapping[str, Release | str | Path],
    data: str | os.PathLike[str] | Database | Frame | None = None,
    *,
    simulated: bool = False,
) -> Comparison:
    """Puts releases side by side: what they say of themselves, and how they do.

    Args:
        releases: At least two releases or their folders; in a mapping, by what to call them.
        data: The raw data, if they are to be held against it. The comparison is then NOT PRIVATE.
        simulated: Whether to publish simulated rows by the settings of each, and compare these.

    Raises:
        UsageError: If there are fewer than two.

    Example:
        >>> import hedgerow
        >>> from hedgerow import sample
        >>> people = sample.people(500, seed=3)
        >>> both = {f"epsilon {e}": hedgerow.publish(people, sample.schema(), epsilon=e, seed=7)
        ...         for e in (1, 2)}
        >>> hedgerow.compare(both).to_frame("arrow").column_names
        ['measure', 'epsilon 1', 'epsilon 2']
    """
    named = releases if isinstance(releases, Mapping) else _names_of(releases)
    opened = [one if isinstance(one, Release) else Release.load(one) for one in named.values()]
    judgments = [] if data is None else [evaluate(data, one) for one in opened]
    return compare_opened(list(named), opened, judgments, simulated=simulated)


def _names_of(releases: Any) -> dict[str, Release | str | Path]:
    """What to call releases that have no names: their folders, or their methods and budgets."""
    if isinstance(releases, Release | str | Path):
        raise UsageError(
            "there is nothing to compare", hint="Write hedgerow.compare([one, other])."
        )
    words = [
        f"{one.method}, epsilon {one.epsilon:g}" if isinstance(one, Release) else Path(one).name
        for one in releases
    ]
    return {
        word if words.count(word) == 1 else f"{place}: {word}": one
        for place, (word, one) in enumerate(zip(words, releases, strict=True), 1)
    }


def compare_opened(
    names: Sequence[str],
    releases: Sequence[Release],
    judgments: Sequence[Judgment] = (),
    *,
    simulated: bool = False,
    runs: int = RUNS,
) -> Comparison:
    """Puts releases side by side.

    Args:
        names: What to call them.
        releases: At least two.
        judgments: What was found when each was held against the raw data, if it was. The
            comparison is then NOT PRIVATE.
        simulated: Whether to publish simulated rows by the settings of each, and compare these.
        runs: How often.

    Example:
        >>> import hedgerow
        >>> from hedgerow import sample
        >>> people = sample.people(500, seed=3)
        >>> both = [hedgerow.publish(people, sample.schema(), epsilon=e, seed=7) for e in (1, 2)]
        >>> found = compare_opened(["a", "b"], both)
        >>> found.private, found.lines[1].words, found.lines[1].shown, found.lines[1].best
        (False, 'epsilon', ('1', '2'), (0,))
    """
    if len(releases) < 2:
        raise UsageError("there is nothing to compare", hint="Name at least two releases.")
    lines = _list_statements(releases)
    if simulated:
        lines += _list_simulated(releases, runs)
    if judgments:
        lines += _list_judgments(judgments)
    private = not judgments and all(release.guarantee["private"] for release in releases)
    return Comparison(names=tuple(names), lines=tuple(lines), private=private)


def _line(
    words: str,
    source: Any,
    values: Sequence[float | None],
    style: str,
    better: Better = None,
) -> list[Line]:
    """A line of numbers; none if no candidate has one."""
    if all(value is None for value in values):
        return []
    shown = tuple("-" if value is None else style.format(value) for value in values)
    return [Line(words=words, source=source, values=tuple(values), shown=shown, better=better)]


def _list_statements(releases: Sequence[Release]) -> list[Line]:
    """What releases say of themselves, without any other data."""
    unit = _unit([release.schema.unit_names for release in releases])
    names = tuple(release.method for release in releases)
    lines = [Line(words="method", source="release", values=names, shown=names)]
    for name in ("epsilon", "delta"):
        budgets = [float(exact(release.guarantee[name])) for release in releases]
        lines += _line(name, "release", budgets, "{:g}", "less")
    parts = tuple(f"{one.number:,} {one.parts}" for one in (x.describe() for x in releases))
    lines.append(Line(words="published", source="release", values=parts, shown=parts))
    count = [float(release.count_all().estimate[0]) for release in releases]
    lines += _line(f"{unit}, about", "release", count, "{:,.0f}")
    if all(release.schema.kind == "table" for release in releases):
        words = "width of 95% intervals of single values, median, mean of all attributes"
        lines += _line(words, "release", [*map(_width, releases)], "{:.2%}", "less")
        silent = [float(len(release.unmeasured)) for release in releases]
        lines += _line("attributes that it says nothing about", "release", silent, "{:.0f}", "less")
    return lines


def _unit(names: Sequence[tuple[str, str]]) -> str:
    """What counted records are called, if all candidates agree on it."""
    return names[0][1] if len(set(names)) == 1 else "records"


def _width(release: Release) -> float | None:
    """The width of one-way intervals, as a share of the records: the median of each attribute.

    Their mean counts every attribute alike, however many values it has, and one that was not
    measured with the whole of the records.
    """
    widths = [np.median(spread.high - spread.low) for spread in release.histograms()]
    middle = float(np.mean(widths))
    total = float(release.count_all().estimate[0])
    return middle / total if np.isfinite(middle) and total > 0 else None


def _list_simulated(releases: Sequence[Release], runs: int) -> list[Line]:
    points = []
    for release in releases:
        rows = max(1, min(MOST_ROWS, round(float(release.count_all().estimate[0]))))
        promise = release.guarantee
        simulation = simulate(
            release.schema, [(release.method, method_of_release(release))], [promise["epsilon"]],
            delta=promise["delta"], rows=rows, runs=runs,
        )  # fmt: skip
        points.append(simulation.points[0])
    lines = []
    for name, words, style, better in _SIMULATED:
        values = [p.measures[name].mean if name in p.measures else None for p in points]
        lines += _line(words, "simulated", values, style, better)
    return lines


_SIMULATED: tuple[tuple[str, str, str, Better], ...] = (
    ("median_error", "median error of counts", "{:.1%}", "less"),
    ("accuracy", "classes told right", "{:.1f}%", "more"),
    ("median_itemset_error", "median error of supports", "{:.1%}", "less"),
    ("top_utility", "utility of the top 20 itemsets", "{:.2f}", "more"),
)


def _list_judgments(judgments: Sequence[Judgment]) -> list[Line]:
    def best_model(one: Judgment, get: Callable[[Any], float | None]) -> float | None:
        models = () if one.classification is None else one.classification.models
        return max((value for value in map(get, models) if value is not None), default=None)

    unit = _unit([one.unit_names for one in judgments])
    measures: list[tuple[str, Callable[[Judgment], float | None], str, Better]] = [
        ("values off, mean of all attributes",
         lambda x: float(np.mean([one.total_variation for one in x.marginals])), "{:.1%}", "less"),
        (f"error of a cell of a one-way table, in {unit}",
         lambda x: float(np.mean([t.mean for t in x.tables])) if x.tables else None,
         "{:,.1f}", "less"),
        ("median error of counts", lambda x: x.counts.overall.median, "{:.1%}", "less"),
        ("intervals that hold the truth", lambda x: x.counts.overall.covered, "{:.1%}", None),
        (f"width of intervals, median, in {unit}", lambda x: x.counts.overall.width,
         "{:,.0f}", "less"),
        ("k-marginal score, of 1,000", lambda x: x.k_marginal, "{:.0f}", "more"),
        ("classes told right, best model", lambda x: best_model(x, lambda m: m.released),
         "{:.1f}%", "more"),
        ("AUC, best model", lambda x: best_model(x, lambda m: m.skill.auc), "{:.3f}", "more"),
        ("top itemsets found", lambda x: float(x.itemsets[-1].found) if x.itemsets else None,
         "{:.0f}", "more"),
    ]  # fmt: skip
    return [
        line
        for words, get, style, better in measures
        for line in _line(words, "raw", [*map(get, judgments)], style, better)
    ]


def folder_names(paths: Sequence[Path]) -> list[str]:
    """Short names for folders: their last parts, or the whole paths if these are alike.

    Example:
        >>> folder_names([Path("runs/a"), Path("runs/b")]), folder_names([Path("a/r"), Path("b/r")])
        (['a', 'b'], ['a/r', 'b/r'])
    """
    short = [path.name or str(path) for path in paths]
    return short if len(set(short)) == len(short) else [str(path) for path in paths]
