"""`hedgerow schema diff`: what is different between two schemas."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.display.terminal import print_json, print_table, say
from hedgerow.cli.options import AsJson


class Task(StrEnum):
    """What can be done with schemas."""

    DIFF = "diff"


def schema(
    task: Annotated[Task, typer.Argument(metavar="diff", help="What to do: compare.")],
    old: Annotated[Path, typer.Argument(help="The first schema file.")],
    new: Annotated[Path, typer.Argument(help="The second schema file.")],
    as_json: AsJson = False,
) -> None:
    """Say what is different between two schemas, such as last year's and this year's.

    Compares what they mean, not how they are written. Opens no private data.
    """
    from hedgerow.schema import Schema
    from hedgerow.schema.diff import schema_diff

    first, second = Schema.load(old), Schema.load(new)
    found = schema_diff(first, second)
    if as_json:
        print_json(
            {
                "same": first.hash == second.hash,
                "hashes": [first.hash, second.hash],
                "differences": [{"about": about, "what": what} for about, what in found],
            }
        )
    elif not found:
        say("The two schemas say the same.")
    else:
        print_table(["about", "difference"], [list(pair) for pair in found])
