"""Generalised rows on the terminal, and risk against utility as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.cli.display.columns import print_table
from hedgerow.cli.display.terminal import print_json, say
from hedgerow.errors import UsageError

if TYPE_CHECKING:
    from hedgerow.cli.display.kinds import View
    from hedgerow.release import RowsRelease
    from hedgerow.schema import Schema

__all__ = ["plot_plan", "show_rows"]


def show_rows(release: RowsRelease, view: View) -> None:
    """Shows the guarantee and the rows that most people share, and draws risk against utility.

    Args:
        release: The release.
        view: What was asked for; a tree is refused, since rows have none.
    """
    from hedgerow.cli.display import words
    from hedgerow.cli.display.picture import draw_frontier

    if view.tree:
        raise UsageError("Generalised rows have no tree.", hint="Leave --tree out.")
    if view.plot is not None:
        title = f"{release.schema.name}: risk and utility, measured on the side table"
        seeded = not release.guarantee["private"]
        draw_frontier(release.frontier, title, view.plot, view.overwrite, private=seeded)
    rows = release.generalized("arrow").to_pylist()
    rows.sort(key=lambda row: -row["count"])  # a stable sort: ties keep the canonical order
    shown = [_told(release, row) for row in rows[: view.top]]
    if view.as_json:
        listed = [{"where": where, "count": count} for where, count in shown]
        more = {"suppression": release.ledger["suppression"], "frontier": release.frontier}
        print_json({**words.facts(release), **more, "largest": listed, "plot": view.drawn})
        return
    say(f"{release.schema.name}: {words.regions(release)} by {release.method}.")
    told = words.unmeasured(release)
    for line in (*words.guarantee(release), release.describe().suppressed, told):
        say(line or "")
    chosen = release.frontier["chosen"]
    say(
        f"On the side table, {release.schema.unit_names[1]} came to a mean utility of "
        f"{chosen['utility']:.2f} of {release.frontier['most_utility']:.2f}, and a mean "
        f"risk of {chosen['risk']:.3g}."
    )
    say()
    described = [
        [", ".join(f"{name} {label}" for name, label in where.items()) or "all", str(count)]
        for where, count in shown
    ]
    print_table(["where", release.schema.unit_names[1]], described, {1})
    if len(shown) < len(rows):
        say("(--top N for more, or open table.csv)")
    if view.plot is not None:
        say(f"\nDrew risk against utility to {view.plot}.")


def _told(release: RowsRelease, row: dict[str, Any]) -> tuple[dict[str, str], int]:
    """What a row says, without the values that say nothing."""
    where = {
        attribute.name: row[attribute.name]
        for attribute in release.attributes
        if row[attribute.name] != attribute.label(0, attribute.size)
    }
    return where, row["count"]


def plot_plan(settings: Any, schema: Schema, path: Path, overwrite: bool) -> None:
    """Draws what settings would mean, on a public side table.

    Raises:
        UsageError: If there is none: the private table is not looked at for a plan.
    """
    from hedgerow.cli.display.picture import check_picture, draw_frontier
    from hedgerow.cli.files import refuse_existing
    from hedgerow.publish.supermodular import Supermodular

    check_picture(path)
    refuse_existing(path, overwrite, "--plot")
    if not isinstance(settings, Supermodular) or settings.side is None:
        raise UsageError(
            "A plan can be drawn for supermodular with a public side table alone.",
            hint="Name one with --side, or leave --plot out.",
        )
    title = f"{schema.name}: risk and utility, measured on {settings.side}"
    draw_frontier(settings.picture(schema), title, path, overwrite, private=True)
