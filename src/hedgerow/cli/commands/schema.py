"""`hedgerow schema diff`: what is different between two schemas."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from hedgerow.cli.display.terminal import print_json, print_table, say
from hedgerow.cli.options import AsJson
from hedgerow.errors import UsageError

_COMPARED = 2


def schema(
    task: Annotated[str, typer.Argument(metavar="diff", help="What to do: compare.")],
    files: Annotated[
        list[Path], typer.Argument(metavar="OLD NEW", help="The first and the second schema file.")
    ],
    as_json: AsJson = False,
) -> None:
    """List the differences between two schemas, such as last year's and this year's.

    Compares what they mean, not how they are written. Opens no private data.
    """
    from hedgerow.schema import Schema
    from hedgerow.schema.diff import schema_diff

    if task != "diff" or len(files) != _COMPARED:
        named = [str(file) for file in files] if task == "diff" else [task, *map(str, files)]
        shown = " ".join(map(quote, named)) if len(named) == _COMPARED else "OLD NEW"
        raise UsageError(
            "hedgerow schema compares two schema files.", hint=f"Write hedgerow schema diff {shown}"
        )
    first, second = (Schema.load(file) for file in files)
    changes = schema_diff(first, second)
    if as_json:
        print_json(
            {
                "same": first.hash == second.hash,
                "hashes": [first.hash, second.hash],
                "differences": [{"about": about, "what": what} for about, what in changes],
            }
        )
    elif not changes:
        say("The two schemas say the same.")
    else:
        print_table(["about", "difference"], [list(pair) for pair in changes])
