"""Pictures of releases, plans and simulations, as files."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.cli.files import whole_file
from hedgerow.errors import UsageError
from hedgerow.present.words import strength
from hedgerow.release.tables import FRONTIER_WORDS
from hedgerow.release.tabulate import BAR, BEYOND, draw_ends, new_figure

if TYPE_CHECKING:
    from hedgerow.evaluation.simulate import Simulation
    from hedgerow.present.findings import Difference
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


def draw_frontier(
    picture: dict[str, Any], title: str, path: Path, overwrite: bool = False, *, private: bool
) -> None:
    """Draws mean risk against mean utility, and writes it to a file.

    Args:
        picture: What `hedgerow.methods.supermodular` worked out on a side table.
        title: What stands above it.
        path: The file; its ending says which kind.
        overwrite: Whether to replace it if it is there.
        private: Whether nobody but its owner may read it.
    """
    check_picture(path)
    figure, axes = new_figure((8, 5))
    points = picture["points"]
    setting, word = FRONTIER_WORDS[picture["model"]]
    axes.plot(
        [point["risk"] for point in points], [point["utility"] for point in points], "o-", lw=1
    )
    seen = set()
    for point in points:
        place = round(point["risk"], 12), round(point["utility"], 6)
        if place not in seen:  # settings that give the same need one label
            axes.annotate(
                f"{word} {point[setting]:.3g}", (point["risk"], point["utility"]),
                xytext=(6, -10), textcoords="offset points", fontsize=7,
            )  # fmt: skip
        seen.add(place)
    chosen = picture["chosen"]
    axes.plot([chosen["risk"]], [chosen["utility"]], "s", ms=10, mfc="none", label="this release")
    axes.axhline(picture["most_utility"], ls=":", lw=1, label="nothing generalized")
    axes.set_xscale("log")
    axes.set_xlabel("mean risk of a side row (weighted sensitivity / side rows alike)")
    axes.set_ylabel("mean utility of a side row")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(fill(title, 80), fontsize=10, loc="left", parse_math=False)
    axes.legend(loc="best", frameon=False, fontsize=8)
    with whole_file(path, overwrite, "--plot", private=private) as temporary:
        figure.savefig(temporary, dpi=130, format=path.suffix[1:].lower())


def draw_simulation(found: Simulation, path: Path, overwrite: bool = False) -> None:
    """Draws the first measure of a simulation against epsilon, a curve for each setting.

    Args:
        found: What was simulated.
        path: The file; its ending says which kind.
        overwrite: Whether to replace it if it is there.
    """
    from hedgerow.evaluation.simulate import MEASURES

    check_picture(path)
    figure, axes = new_figure((8, 5))
    measure = found.measures[0]
    for setting in dict.fromkeys(point.setting for point in found.points):
        points = [point for point in found.points if point.setting == setting]
        at = [float(Fraction(point.epsilon)) for point in points]
        spread = [point.measures[measure] for point in points]
        axes.plot(at, [one.mean for one in spread], "o-", lw=1, label=_plain(setting))
        axes.fill_between(at, [one.low for one in spread], [one.high for one in spread], alpha=0.15)
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    ticks = {float(Fraction(point.epsilon)): point.epsilon for point in found.points}
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.set_xticks([], minor=True)
    axes.set_xlabel("epsilon")
    axes.set_ylabel(f"{MEASURES[measure]}; shaded: all runs")
    axes.spines[["top", "right"]].set_visible(False)
    where = "simulated rows" if found.public is None else f"rows of {found.public}, which is public"
    title = f"{found.schema}: releases of {found.rows:,} {where}; real data differs"
    axes.set_title(fill(title, 80), fontsize=10, loc="left", parse_math=False)
    axes.legend(loc="best", frameon=False, fontsize=8)
    with whole_file(path, overwrite, "--plot", private=found.public is not None) as temporary:
        figure.savefig(temporary, dpi=130, format=path.suffix[1:].lower())


def draw(
    release: Release,
    regions: list[ShownRegion],
    path: Path,
    overwrite: bool = False,
) -> None:
    """Draws one bar per region, split by class, and writes it to a file.

    Args:
        release: The release.
        regions: The regions to draw, the largest first.
        path: The file; its ending says which kind.
        overwrite: Whether to replace it if it is there.
    """
    check_picture(path)
    figure, axes = new_figure((9, 1.6 + 0.55 * max(len(regions), 2)))
    from matplotlib import colormaps

    classes = list(release.schema.classes) or [""]
    places = range(len(regions))
    # Ten colors that are told apart easily; beyond, a scale on which none comes twice.
    few, many = colormaps["tab10"], colormaps["turbo"].resampled(len(classes))
    left = [0] * len(regions)
    for place, name in enumerate(classes):
        lengths = [region.counts.get(name, 0) for region in regions]
        color = few(place) if len(classes) <= 10 else many(place)
        axes.barh(places, lengths, left=left, label=_plain(name), color=color)
        left = [so_far + length for so_far, length in zip(left, lengths, strict=True)]
    axes.set_yticks(places, [_label(region) for region in regions], fontsize=8)
    axes.invert_yaxis()
    low, high = np.array([region.ends for region in regions]).reshape(-1, 2).T
    most = max([1.0, *left, *high[np.isfinite(high)]])  # also when every count is zero
    draw_ends(axes, np.arange(len(regions)), low, high, most)
    beyond = f"; {BEYOND}" if (high > most).any() else ""
    axes.set_xlabel(f"published count (noisy); line: 95% interval of the total{beyond}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(fill(_title(release), 90), fontsize=10, loc="left", parse_math=False)
    if release.schema.target is not None:
        axes.legend(
            loc="best",  # said, or a busy machine is warned that it takes long
            title=_plain(release.schema.target.name),
            frameon=False,
            fontsize=8,
            ncols=1 + (len(classes) - 1) // 12,
        )
    seeded = not release.guarantee.get("private", True)
    with whole_file(path, overwrite, "--plot", private=seeded) as temporary:
        figure.savefig(temporary, dpi=130, format=path.suffix[1:].lower())


def _plain(text: str) -> str:
    # A dollar sign would begin a formula, and a leading underline hide an entry of the legend.
    return text.replace("$", r"\$") if not text.startswith("_") else " " + text.replace("$", r"\$")


def _label(region: ShownRegion) -> str:
    words = f"{region.number}: {region.words}"
    return _plain(fill(words, 52, max_lines=2, placeholder=" ..."))


def _title(release: Release) -> str:
    promise = release.guarantee
    if not promise.get("private", True):
        return f"{release.schema.name}: NOT PRIVATE (a seeded run)"
    amount = strength(Fraction(promise["epsilon"]), Fraction(promise.get("delta", 0)))
    return f"{release.schema.name}: the {release.describe().largest} ({amount})"


# What `hedgerow show` draws, by the kind of release.


def draw_release(release: Release, top: int, path: Path, overwrite: bool) -> str:
    """Draws what is most telling about a release, and says what that is.

    Args:
        release: The release.
        top: How many parts are listed; some are drawn in any case.
        path: The file; its ending says which kind.
        overwrite: Whether to replace it if it is there.
    """
    return DRAW[release.kind](release, top, path, overwrite)


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
    from hedgerow.release.tabulate import MOST_BARS, draw_table
    from hedgerow.schema.schema import display_label

    schema, what = release.schema, "the first finding"
    told, _ = differences(release)
    if told:
        figure = _draw_finding(told[0], schema.unit_names[1])
    else:
        names = [one.name for one in notable(release, 1)] or [schema.attributes[0].name]
        table, what = release.table(*names), "the most telling table"
        title = title_of(release, table, None)
        if len(table) > MOST_BARS:
            table = table.largest(MOST_BARS)
            title, what = (f"{one}, its {MOST_BARS} largest cells" for one in (title, what))
        figure = draw_table(table, title, partial(display_label, schema)).figure
    seeded = not release.guarantee["private"]
    with whole_file(path, overwrite, "--plot", private=seeded) as temporary:
        figure.savefig(temporary, dpi=130, format=path.suffix[1:].lower())
    return what


def _draw_finding(found: Difference, people: str) -> Any:
    """The shares of all groups with their intervals, as the report has them."""
    places = np.arange(len(found.groups))
    figure, axes = new_figure((9, 1.6 + 0.3 * max(len(places), 3)))
    axes.barh(places, 100 * found.shares, color=BAR, height=0.72)
    draw_ends(axes, places, 100 * found.low, 100 * found.high, 100 * float(found.high.max()))
    axes.set_yticks(places, [_plain(", ".join(group)) for group in found.groups], fontsize=8)
    axes.invert_yaxis()
    axes.set_ylabel(_plain(" and ".join(one.title for one in found.by)))
    axes.set_xlabel(
        _plain(f"{found.outcome.title} {found.value}: share of {people} (%); line: 95% interval")
    )
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(
        fill(_plain(found.sentence(people)), 95), fontsize=10, loc="left", parse_math=False
    )
    return figure


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
    from hedgerow.cli.files import refuse_existing
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
