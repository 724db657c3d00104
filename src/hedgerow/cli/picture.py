"""A picture of the largest regions of a release, as a file."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from hedgerow.cli.words import strength
from hedgerow.errors import ReleaseError, UsageError

if TYPE_CHECKING:
    from hedgerow.cli.regions import ShownRegion
    from hedgerow.release import Release

__all__ = ["draw"]


def draw(release: Release, regions: list[ShownRegion], path: Path) -> None:
    """Draws one bar per region, split by class, and writes it to a file.

    Args:
        release: The release.
        regions: The regions to draw, the largest first.
        path: The file; its ending says which kind.
    """
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise UsageError(f"{path} is no picture.", hint="Let it end in .png, .svg or .pdf.")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError(
            "Pictures need matplotlib, which is not installed.",
            hint="Install it with: pip install 'hedgerow[plot]'",
        ) from None
    classes = list(release.schema.classes) or [""]
    figure = Figure(figsize=(9, 1.6 + 0.55 * max(len(regions), 2)), layout="constrained")
    axes = figure.subplots()
    places = range(len(regions))
    left = [0] * len(regions)
    for name in classes:
        lengths = [region.counts.get(name, 0) for region in regions]
        axes.barh(places, lengths, left=left, label=name)
        left = [so_far + length for so_far, length in zip(left, lengths, strict=True)]
    axes.set_yticks(places, [_label(region) for region in regions], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("published count (noisy)")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(_title(release), fontsize=10, loc="left", parse_math=False)
    if release.schema.target is not None:
        axes.legend(title=release.schema.target.name, frameon=False)
    try:
        figure.savefig(path, dpi=130)
    except OSError as error:
        raise ReleaseError(
            f"{path} cannot be written: {error.strerror or 'the disk refused'}.",
            hint="Choose another place with --plot.",
        ) from error


def _label(region: ShownRegion) -> str:
    # A dollar sign would begin a formula.
    return fill(region.words, 52, max_lines=2, placeholder=" ...").replace("$", r"\$")


def _title(release: Release) -> str:
    promise = release.guarantee
    if not promise.get("private", True):
        return f"{release.schema.name}: NOT PRIVATE (a seeded run)"
    amount = strength(Fraction(promise["epsilon"]), Fraction(promise.get("delta", 0)))
    return f"{release.schema.name}: the largest regions ({amount})"
