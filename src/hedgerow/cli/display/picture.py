"""Pictures of releases, plans and simulations, as files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.cli.files import refuse_existing, whole_file
from hedgerow.errors import UsageError
from hedgerow.present.words import strength
from hedgerow.release.count_tables import BAR, BEYOND, draw_ends, new_figure
from hedgerow.release.table_releases import FRONTIER_WORDS

if TYPE_CHECKING:
    from hedgerow.evaluation.expected import AccuracyPlan
    from hedgerow.evaluation.simulate import Simulation
    from hedgerow.present.kinds import ShownRegion
    from hedgerow.release import (
        MarginalsRelease,
        Release,
        RowsRelease,
        TableRelease,
        TransactionsRelease,
    )
    from hedgerow.schema import Schema

_SOME = 12  # bars


def check_picture(path: Path) -> None:
    """Refuses a file that is no picture, before anything else is done."""
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise UsageError(f"{path} is not a picture.", hint="Let it end in .png, .svg or .pdf.")


@contextmanager
def _canvas(
    path: Path, overwrite: bool, title: str, private: bool, size: tuple[float, float] | None = None
) -> Iterator[Any]:
    """Axes to draw on, which are written to a file once the block has ended well.

    Args:
        path: The file; its ending says which kind.
        overwrite: Whether to replace it if it is there.
        title: What stands above it.
        private: Whether nobody but its owner may read it.
        size: How wide and high it is, in inches; without it, as curves are, which have a legend.
    """
    check_picture(path)
    wide, high = size or (8, 5)
    figure, axes = new_figure((wide, high))
    yield axes
    if size is None:
        axes.legend(loc="best", frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(fill(title, int(10 * wide)), fontsize=10, loc="left", parse_math=False)
    _write(figure, path, overwrite, private)


def _write(figure: Any, path: Path, overwrite: bool, private: bool) -> None:
    with whole_file(path, overwrite, "--plot", private=private) as temporary:
        figure.savefig(temporary, dpi=130, format=path.suffix[1:].lower())


def draw_frontier(
    picture: dict[str, Any], title: str, path: Path, overwrite: bool, *, private: bool
) -> None:
    """Draws mean risk against mean utility, and writes it to a file.

    Args:
        picture: What `hedgerow.methods.supermodular` worked out on a side table.
        title: What stands above it.
        path: The file; its ending says which kind.
        overwrite: Whether to replace it if it is there.
        private: Whether nobody but its owner may read it.
    """
    points, (setting, word) = picture["points"], FRONTIER_WORDS[picture["model"]]
    with _canvas(path, overwrite, title, private) as axes:
        axes.plot([one["risk"] for one in points], [one["utility"] for one in points], "o-", lw=1)
        # settings that give the same need one label
        places = {(round(one["risk"], 12), round(one["utility"], 6)): one for one in points[::-1]}
        for one in places.values():
            axes.annotate(
                f"{word} {one[setting]:.3g}", (one["risk"], one["utility"]), xytext=(6, -10),
                textcoords="offset points", fontsize=7,
            )  # fmt: skip
        risk, utility = picture["chosen"]["risk"], picture["chosen"]["utility"]
        axes.plot([risk], [utility], "s", ms=10, mfc="none", label="this release")
        axes.axhline(picture["most_utility"], ls=":", lw=1, label="nothing generalized")
        axes.set_xscale("log")
        axes.set_xlabel("mean risk of a side row (weighted sensitivity / side rows alike)")
        axes.set_ylabel("mean utility of a side row")


def draw_simulation(found: Simulation, path: Path, overwrite: bool) -> None:
    """Draws the first measure of a simulation against epsilon, a curve for each setting.

    Args:
        found: What was simulated.
        path: The file; its ending says which kind.
        overwrite: Whether to replace it if it is there.
    """
    from hedgerow.evaluation.simulate import MEASURES

    measure, public = found.measures[0], found.public is not None
    where = f"rows of {found.public}, which is public" if public else "simulated rows"
    title = f"{found.schema}: releases of {found.rows:,} {where}; real data differs"
    with _canvas(path, overwrite, title, public) as axes:
        for setting in dict.fromkeys(point.setting for point in found.points):
            points = [point for point in found.points if point.setting == setting]
            at = [float(Fraction(point.epsilon)) for point in points]
            spread = [point.measures[measure] for point in points]
            low, high = [one.low for one in spread], [one.high for one in spread]
            axes.plot(at, [one.mean for one in spread], "o-", lw=1, label=_plain(setting))
            axes.fill_between(at, low, high, alpha=0.15)
        axes.set_xscale("log")
        axes.set_ylim(bottom=0)
        ticks = {float(Fraction(point.epsilon)): point.epsilon for point in found.points}
        axes.set_xticks(list(ticks), list(ticks.values()))
        axes.set_xticks([], minor=True)
        axes.set_xlabel("epsilon")
        axes.set_ylabel(f"{MEASURES[measure]}; shaded: all runs")


def draw_accuracy(best: AccuracyPlan, name: str, path: Path, overwrite: bool) -> None:
    """Draws the error of each target against epsilon, as a share of what the target allows.

    Args:
        best: What was tried.
        name: What the schema is called.
        path: The file; its ending says which kind.
        overwrite: Whether to replace it if it is there.
    """
    title = f"{name}, {best.rows:,} rows: below the dotted line a target is reached"
    with _canvas(path, overwrite, title, best.public is not None) as axes:
        for one in best.targets:
            errors = {float(e): x for e, x in one.errors.items() if x is not None}
            if errors:
                shares = [error / one.target.bound for error in errors.values()]
                axes.plot([*errors], shares, "o-", lw=1, label=_plain(one.target.text))
        axes.axhline(1.0, ls=":", lw=1)
        axes.set(xscale="log", yscale="log", xlabel="epsilon")
        axes.set_ylabel("error at 95%, divided by the target")


def draw(release: Release, regions: list[ShownRegion], path: Path, overwrite: bool) -> None:
    """Draws one bar per region, split by class, and writes it to a file.

    Args:
        release: The release.
        regions: The regions to draw, the largest first.
        path: The file; its ending says which kind.
        overwrite: Whether to replace it if it is there.
    """
    promise = release.guarantee
    seeded, title = not promise.get("private", True), "NOT PRIVATE (a seeded run)"
    if not seeded:
        amount = strength(Fraction(promise["epsilon"]), Fraction(promise.get("delta", 0)))
        title = f"the {release.describe().largest} ({amount})"
    title = f"{release.schema.name}: {title}"
    size = (9, 1.6 + 0.55 * max(len(regions), 2))
    with _canvas(path, overwrite, title, seeded, size) as axes:
        from matplotlib import colormaps

        classes = list(release.schema.classes) or [""]
        places = np.arange(len(regions))
        # Ten colors that are told apart easily; beyond, a scale on which none comes twice.
        few, many = colormaps["tab10"], colormaps["turbo"].resampled(len(classes))
        left = np.zeros(len(regions))
        for place, name in enumerate(classes):
            lengths = np.array([region.counts.get(name, 0) for region in regions])
            color = few(place) if len(classes) <= 10 else many(place)
            axes.barh(places, lengths, left=left, label=_plain(name), color=color)
            left += lengths
        names = (f"{region.number}: {region.words}" for region in regions)
        names = (fill(one, 52, max_lines=2, placeholder=" ...") for one in names)
        axes.set_yticks(places, list(map(_plain, names)), fontsize=8)
        axes.invert_yaxis()
        low, high = np.array([region.ends for region in regions]).reshape(-1, 2).T
        most = max([1.0, *left, *high[np.isfinite(high)]])  # also when every count is zero
        draw_ends(axes, places, low, high, most)
        beyond = f"; {BEYOND}" if (high > most).any() else ""
        axes.set_xlabel(f"published count (noisy); line: 95% interval of the total{beyond}")
        if release.schema.target is not None:
            axes.legend(
                loc="best",  # said, or a busy machine is warned that it takes long
                title=_plain(release.schema.target.name),
                frameon=False,
                fontsize=8,
                ncols=1 + (len(classes) - 1) // 12,
            )


def _plain(text: str) -> str:
    # A dollar sign would begin a formula, and a leading underline hide an entry of the legend.
    return text.replace("$", r"\$") if not text.startswith("_") else " " + text.replace("$", r"\$")


# What `hedgerow show` draws, by the kind of release.


def _draw_regions(release: TableRelease, top: int, path: Path, overwrite: bool) -> str:
    from hedgerow.present.kinds import largest

    draw(release, largest(release, top or _SOME), path, overwrite)
    return "the largest regions"


def _draw_risk(release: RowsRelease, top: int, path: Path, overwrite: bool) -> str:
    title = f"{release.schema.name}: risk and utility, measured on the side table"
    seeded = not release.guarantee["private"]
    draw_frontier(release.frontier, title, path, overwrite, private=seeded)
    return "risk against utility"


def _draw_itemsets(release: TransactionsRelease, top: int, path: Path, overwrite: bool) -> str:
    from hedgerow.present.kinds import ShownRegion, item_rows

    shown = [
        ShownRegion(
            number=place,
            where={},
            counts={"": round(max(0, row["estimate"]))},
            named=", ".join(row["items"]) or "everybody",
            ends=(row["low"], row["high"]),
        )
        for place, row in enumerate(item_rows(release, top or _SOME), 1)
    ]
    draw(release, shown, path, overwrite)
    return "the most frequent itemsets"


def _draw_table(release: MarginalsRelease, top: int, path: Path, overwrite: bool) -> str:
    """Draws the first finding, or without any the table that is most uneven."""
    from hedgerow.present.findings import differences, notable
    from hedgerow.present.tables import title_of
    from hedgerow.release.count_tables import MOST_BARS, draw_table
    from hedgerow.schema.schema import display_label

    schema, seeded = release.schema, not release.guarantee["private"]
    differ, _ = differences(release)
    if differ:
        people, shares = schema.unit_names[1], [differ[0].shares, differ[0].low, differ[0].high]
        title, places = _plain(differ[0].sentence(people)), np.arange(len(differ[0].groups))
        size = (9, 1.6 + 0.3 * max(len(places), 3))
        with _canvas(path, overwrite, title, seeded, size) as axes:
            middle, low, high = (100 * one for one in shares)
            axes.barh(places, middle, color=BAR, height=0.72)
            draw_ends(axes, places, low, high, float(high.max()))
            labels = [_plain(", ".join(group)) for group in differ[0].groups]
            axes.set_yticks(places, labels, fontsize=8)
            axes.invert_yaxis()
            axes.set_ylabel(_plain(" and ".join(one.title for one in differ[0].by)))
            what = f"{differ[0].outcome.title} {differ[0].value}: share of {people} (%)"
            axes.set_xlabel(_plain(f"{what}; line: 95% interval"))
        return "the first finding"
    names = [one.name for one in notable(release, 1)] or [schema.attributes[0].name]
    table, what = release.table(*names), "the most telling table"
    title = title_of(release, table, None)
    if len(table) > MOST_BARS:
        table = table.largest(MOST_BARS)
        title, what = (f"{one}, its {MOST_BARS} largest cells" for one in (title, what))
    axes = draw_table(table, title, partial(display_label, schema))
    _write(axes.figure, path, overwrite, seeded)
    return what


DRAW: dict[str, Callable[[Any, int, Path, bool], str]] = {
    "table": _draw_regions,
    "marginals": _draw_table,
    "transactions": _draw_itemsets,
    "rows": _draw_risk,
}


def plot_plan(settings: Any, schema: Schema, path: Path, overwrite: bool) -> None:
    """Draws what settings would mean, on a public side table.

    Raises:
        UsageError: If there is none: the private table is not looked at for a plan.
    """
    from hedgerow.methods.supermodular import Supermodular

    check_picture(path)
    refuse_existing(path, overwrite, "--plot")
    if not isinstance(settings, Supermodular) or settings.side is None:
        raise UsageError(
            "A plan can be drawn for supermodular with a public side table alone.",
            hint="Name one with --side, or leave --plot out.",
        )
    title = f"{schema.name}: risk and utility, measured on {settings.side}"
    draw_frontier(settings.picture(schema), title, path, overwrite, private=True)
