"""A picture of the largest regions of a release, as a file."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.cli.display.words import strength
from hedgerow.cli.files import whole_file
from hedgerow.errors import UsageError
from hedgerow.release.plots import BEYOND, draw_ends, new_figure
from hedgerow.release.rows import FRONTIER_WORDS

if TYPE_CHECKING:
    from hedgerow.evaluation.simulate import Simulation
    from hedgerow.present.regions import ShownRegion
    from hedgerow.release import Release

__all__ = ["check_picture", "draw", "draw_frontier", "draw_simulation"]


def check_picture(path: Path) -> None:
    """Refuses a file that is no picture, before anything else is done."""
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise UsageError(f"{path} is not a picture.", hint="Let it end in .png, .svg or .pdf.")


def draw_frontier(
    picture: dict[str, Any], title: str, path: Path, overwrite: bool = False, *, private: bool
) -> None:
    """Draws mean risk against mean utility, and writes it to a file.

    Args:
        picture: What `hedgerow.methods.rows` worked out on a side table.
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
    axes.axhline(picture["most_utility"], ls=":", lw=1, label="nothing generalised")
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
    # Ten colours that are told apart easily; beyond, a scale on which none comes twice.
    few, many = colormaps["tab10"], colormaps["turbo"].resampled(len(classes))
    left = [0] * len(regions)
    for place, name in enumerate(classes):
        lengths = [region.counts.get(name, 0) for region in regions]
        colour = few(place) if len(classes) <= 10 else many(place)
        axes.barh(places, lengths, left=left, label=_plain(name), color=colour)
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
