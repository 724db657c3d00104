"""`hedgerow audit`: tries to break a method's promise. Reads no private data."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hedgerow.cli.display.terminal import note, print_json, print_table, progress, say
from hedgerow.cli.options import AsJson, Delta, Epsilon

if TYPE_CHECKING:
    from hedgerow.audit import Line

_WORDS = {
    "replay": "likelihood ratios of transcripts under neighbors",
    "ledger": "published paths spend exactly the grant (of papers at most), others at most",
    "enumeration": "whole laws on tiny tables",
    "rules": "rules read noisy numbers alone",
    "deep replay": "the same, far down a tree of items",
    "files": "the same from files, with a whole person more or less",
    "F": "from files, does a person with too many rows show?",
    "P": "is somebody there?",
    "learned": "an event that a classifier picked",
}


def audit(
    method: Annotated[
        str, typer.Option("--method", metavar="NAME", help="Which method, by its name.")
    ] = "diffmulti",
    schema: Annotated[
        Path | None,
        typer.Option(
            "--schema", help="A schema to simulate tables for; without it, random schemas."
        ),
    ] = None,
    epsilon: Epsilon = "1",
    delta: Delta = "0",
    runs: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, max=10_000_000,
            help="Transcripts to replay, and runs of each distinguisher on each table.",
        ),
    ] = 2000,
    seconds: Annotated[
        float | None,
        typer.Option(metavar="S", min=1, help="Start no new attack after about this many seconds."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, max=2**32, help="Makes the audit repeatable."),
    ] = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Try to break a method's guarantee; reads no private data.

    Transcripts of simulated tables and neighbors are replayed on both, small distributions
    enumerated, and tests, one of them learned, look for events that are too likely on one.
    Exit code 1 if a bound is above epsilon.
    """
    from hedgerow.audit import audit as run_audit
    from hedgerow.schema import Schema

    known = Schema.load(schema) if schema else None
    with progress("Auditing") as tell:
        report = run_audit(
            method, known, epsilon, delta, runs=runs, seconds=seconds, seed=seed,
            progress=lambda share, words="": tell(share) if tell else None,
        )  # fmt: skip
    if as_json:
        facts = {"method": method, "schema": known.name if known else None}
        print_json(facts | report.to_dict())
    else:
        _show(report.lines)
        if report.left_out:
            note(f"Time was up. Left out: {_kinds(report.waiting)}. More --seconds take in more.")
        verdict = "No claim was broken" if report.ok else "The audit FAILED"
        if report.left_out:
            verdict += f" ({report.begun} of {report.begun + report.left_out} audits ran)"
        say(f"\n{verdict}: {method}, epsilon {epsilon}, delta {delta}.")
        if report.ok:
            say("That is evidence, not proof; docs/privacy/audit.md says what each audit can see.")
    if not report.ok:
        raise typer.Exit(1)


def _show(lines: tuple[Line, ...]) -> None:
    """One row for each kind of audit, and every line that failed."""
    kinds: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        kinds.setdefault((line.audit, line.epsilon), []).append(line)
    rows = []
    for (kind, claim), group in kinds.items():
        bounds = [line.bound for line in group if line.bound is not None]
        rows.append(
            [
                kind,
                _WORDS.get(kind, group[0].words.partition(":")[0]),
                str(sum(line.tried for line in group)),
                _number(max(bounds)) if bounds else "-",
                claim,
                "yes" if all(line.ok for line in group) else "NO",
            ]
        )
    columns = ["audit", "what is looked at", "tried", "strongest bound", "epsilon", "holds"]
    print_table(columns, rows, right={2, 3, 4})
    for line in lines:
        if not line.ok:
            note(f"{line.audit}, {line.mode}: {line.words}")


def _kinds(names: tuple[str, ...]) -> str:
    """Which audits these are, each kind once.

    Example:
        >>> _kinds(("replay", "P", "P"))
        'replay, P (2 times)'
    """
    many = Counter(names)
    return ", ".join(f"{kind} ({n} times)" if n > 1 else kind for kind, n in many.items())


def _number(bound: float) -> str:
    return "infinite" if math.isinf(bound) else f"{bound:.3f}"
