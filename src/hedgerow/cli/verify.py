"""`hedgerow verify`: recomputes what a release spent, from its manifest alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.options import AsJson
from hedgerow.cli.terminal import print_json, print_table, say
from hedgerow.errors import ReleaseError


def verify(
    release: Annotated[Path, typer.Argument(help="The folder of a release.")],
    as_json: AsJson = False,
) -> None:
    """Check that a release keeps its promise.

    Its files must be whole, and its ledger must add up to the epsilon and delta it states.

    Needs no private data. Ends with exit code 6 if a check fails, or if the run was seeded.
    """
    from hedgerow.release import verify as verify_release

    verdict = verify_release(release)
    if as_json:
        print_json(
            {
                "ok": verdict.ok,
                "epsilon": str(verdict.epsilon),
                "delta": str(verdict.delta),
                "checks": [
                    {"name": name, "ok": ok, "words": words} for name, ok, words in verdict.checks
                ],
            }
        )
        if not verdict.ok:
            raise typer.Exit(ReleaseError.exit_code)
        return
    marks = {True: "yes", False: "NO", None: "not checked"}
    print_table(
        ["check", "holds", "because"],
        [[name, marks[ok], words] for name, ok, words in verdict.checks],
    )
    if not verdict.ok:
        raise ReleaseError(
            f"{release} does not keep what it promises.",
            hint="Do not rely on it; ask whoever published it for a sound one.",
        )
    say(f"Verified: epsilon = {verdict.epsilon}, delta = {verdict.delta}.")
