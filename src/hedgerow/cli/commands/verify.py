"""`hedgerow verify`: recomputes what a release spent, from its manifest alone."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hedgerow.cli.display.terminal import print_json, print_table, say
from hedgerow.cli.options import AsJson
from hedgerow.errors import ReleaseError, UnverifiableError

if TYPE_CHECKING:
    pass


def verify(
    release: Annotated[Path, typer.Argument(help="The folder of a release.")],
    as_json: AsJson = False,
) -> None:
    """Check that a release keeps its guarantee.

    Its files must be intact, and its ledger add up to what it states. Exit code 6 if a check
    fails or the run was seeded, 7 if its method, schedule or score is not installed here.
    """
    from hedgerow.verification import verify as verify_release

    verdict = verify_release(release)
    if as_json:
        print_json(
            {
                "ok": verdict.ok,
                "known": verdict.known,
                "epsilon": _text(verdict.epsilon),
                "delta": _text(verdict.delta),
                "checks": [
                    {"name": check.name, "ok": check.ok, "words": check.words}
                    for check in verdict.checks
                ],
                "unchecked": list(verdict.unchecked),
            }
        )
        if not verdict.ok:
            failure = UnverifiableError if verdict.unverifiable else ReleaseError
            raise typer.Exit(failure.exit_code)
        return
    print_table(
        ["check", "holds", "because"],
        [[check.name, "yes" if check.ok else "NO", check.words] for check in verdict.checks],
    )
    names = [check.name for check in verdict.checks if not check.ok]
    if verdict.unverifiable:
        raise UnverifiableError(
            f"{release} cannot be verified here: {verdict.checks[-1].words}.",
            hint="Install the package that it was published with, or a newer hedgerow.",
        )
    if names:
        failed = ", ".join(names)
        raise ReleaseError(
            f"{release} cannot be relied on: {failed}.",
            hint="Remove the files that are no part of it, and verify once more."
            if names == ["other files"]
            else "Ask whoever published it for a sound one.",
        )
    from hedgerow.present.words import strength

    assert verdict.release is not None  # or a check had failed
    promise = verdict.release.guarantee  # which was held against what was recomputed
    epsilon, delta = Fraction(promise["epsilon"]), Fraction(promise["delta"])
    say(f"\nVerified: {strength(epsilon, delta)}, as stated.")
    spent, chance = verdict.epsilon or Fraction(0), verdict.delta or Fraction(0)
    if strength(spent, chance) != strength(epsilon, delta):
        say(f"Recomputed, it comes to less: {strength(spent, chance)}.")
    say("Nobody can tell from a release alone:")
    for words in verdict.unchecked:
        say(f"  - {words}")


def _text(number: Fraction | None) -> str | None:
    return None if number is None else str(number)
