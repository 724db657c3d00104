"""A release of noisy tables on the terminal: which tables it holds, and how noisy they are."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hedgerow.cli.display.columns import print_table
from hedgerow.cli.display.terminal import print_json, say
from hedgerow.errors import UsageError
from hedgerow.report.sections.measured import HEADS, shown_tables, what_was_counted
from hedgerow.report.words import number

if TYPE_CHECKING:
    from pathlib import Path

    from hedgerow.cli.display.kinds import View
    from hedgerow.release import MarginalsRelease

__all__ = ["show_measured"]


def show_measured(release: MarginalsRelease, view: View) -> None:
    """Shows the guarantee and the tables that were counted, and draws the most telling one.

    Args:
        release: The release.
        view: What was asked for; a tree is refused, since tables have none.
    """
    from hedgerow.cli.display import words
    from hedgerow.release.plots import MOST_BARS

    if view.tree:
        raise UsageError(
            "Nothing was divided step by step, so there is no tree.", hint="Leave --tree out."
        )
    cut = view.plot is not None and _draw(release, view.plot, view.overwrite)
    tables = shown_tables(release)
    if view.as_json:
        listed = [
            {"attributes": one.names, "cells": one.cells, "give_or_take": one.error,
             "counted_as": one.counted_as}
            for one in tables[: view.top]
        ]  # fmt: skip
        print_json({**words.facts(release), "counted": listed, "plot": view.drawn})
        return
    say(f"{release.schema.name}: {words.published(release)}.")
    for line in (*words.guarantee(release), words.unmeasured(release)):
        if line is not None:
            say(line)
    say(what_was_counted(release))
    say()
    rows = [
        [one.words, str(one.cells), number(one.error), one.counted_as] for one in tables[: view.top]
    ]
    print_table(list(HEADS), rows, {1, 2})
    say("give or take: how far noise may move the count of a cell, with 95%.")
    if len(rows) < len(tables):
        say(f"({len(rows)} of {len(tables)}; --top N for more)")
    say(f"hedgerow table RELEASE {tables[0].names[0]} shows counts; any attributes can be named.")
    if view.plot is not None:
        which = f"the most telling table{f' (its {MOST_BARS} largest cells)' if cut else ''}"
        say(f"\nDrew {which} to {view.plot}.")


def _draw(release: MarginalsRelease, path: Path, overwrite: bool) -> bool:
    """Draws the attribute whose groups differ most in the class, or that is most uneven.

    Returns:
        Whether there were too many cells, so that the largest alone were drawn.
    """
    from hedgerow.cli.files import whole_file
    from hedgerow.release.plots import MOST_BARS, draw_table
    from hedgerow.report.sections.associations import associations
    from hedgerow.report.sections.findings import notable
    from hedgerow.report.tables import title_of
    from hedgerow.schema.schema import displayed

    schema = release.schema
    names = [one.attribute.name for one in associations(release, 1)]
    if names and schema.target is not None:
        names.append(schema.target.name)
    names = names or [one.name for one in notable(release, 1)] or [schema.attributes[0].name]
    table = release.table(*names)
    title, cut = title_of(release, table, None), len(table) > MOST_BARS
    if cut:
        table, title = table.largest(MOST_BARS), f"{title}, the {MOST_BARS} largest cells"
    figure = draw_table(table, title, partial(displayed, schema))
    seeded = not release.guarantee["private"]
    with whole_file(path, overwrite, "--plot", private=seeded) as temporary:
        figure.savefig(temporary, dpi=130, format=path.suffix[1:].lower())
    return cut
