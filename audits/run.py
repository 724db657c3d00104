"""All audits at length: `make audit`, or `python audits/run.py`. Writes docs/privacy/audit.md.

Replay, ledger, enumeration and distinguishers of every method in `hedgerow.audit.AUDITED`, with and
without a delta; the unsound code of `tests/privacy/unsound.py`; then `audits/learned.py`,
`audits/long_tests.py`, `audits/kills.py` and `audits/fuzz.py`. Takes up to five hours on two cores:
with `--keep DIR` what is finished is kept there, and an interrupted audit goes on where it stopped.
Ends with exit code 1 if a claim is broken, a flaw is not caught, or a script of the others fails.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests" / "privacy"))

import unsound  # noqa: E402
from unsound import Catch, pairs_of_attacks  # noqa: E402

from hedgerow.audit import AUDITED, Audited, Line, Report, audit, whole  # noqa: E402
from hedgerow.audit.distinguish import ERROR  # noqa: E402
from mutants.page import commit_of, page_of_mutants  # noqa: E402

FULL = 20_000
DELTA = "1e-6"
EXACT = ("replay", "deep replay", "files", "ledger", "rules", "enumeration")
SCRIPTS: dict[str, Callable[[argparse.Namespace], list[str]]] = {
    "learned": lambda asked: [
        *("--runs", str(asked.runs), "--jobs", str(asked.jobs)),
        *(("--keep", str(asked.keep / "learned")) if asked.keep else ()),
    ],
    "long_tests": lambda asked: ["--examples", str(asked.examples)],
    "kills": lambda asked: ["--number", str(asked.kills), "--sweep"],
    "fuzz": lambda asked: ["--cases", str(asked.cases), "--jobs", str(asked.jobs)],
}


def kept(asked: argparse.Namespace, name: str, find: Callable[[], Any]) -> Any:
    """What was found before under this name, or else is found now and kept, as JSON."""
    path = asked.keep / f"{name}.json" if asked.keep else None
    if path and path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    found = find()
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found), encoding="utf-8")
    return found


def default_alone(entry: Audited) -> Audited:
    """The mode of somebody who says nothing; where that is not audited, the first."""
    usual = repr(type(entry.modes[0])())
    first = [mode for mode in entry.modes if repr(mode) == usual] or entry.modes[:1]
    return replace(entry, modes=(*first,), tiny=entry.tiny[:1])


def audit_one(name: str, delta: str, asked: argparse.Namespace) -> Report:
    def find() -> dict[str, Any]:
        entry = default_alone(AUDITED[name]) if asked.defaults else AUDITED[name]
        with patch.object(whole, "AUDITED", {name: entry}):
            return asdict(audit(
                name, delta=delta, runs=asked.runs, seed=asked.seed, seconds=60 * asked.minutes,
                window=(0, asked.window), most_paths=asked.paths, learned=False,
            ))  # fmt: skip

    found = kept(asked, f"{name}-{delta}", find)
    lines = tuple(Line(**line) for line in found["lines"])
    return Report(lines, found["begun"], tuple(found["waiting"]))


def try_twin(number: int, asked: argparse.Namespace) -> tuple[Catch, Catch]:
    """The same attack on the sound code and on the broken one."""

    def find() -> list[dict[str, float]]:
        flaw, sound, broken = pairs_of_attacks()[number]
        # a flaw shows long before a sound code is trusted, but an error so small takes more runs
        runs = max(asked.runs // 5, 4 * flaw.runs)
        with patch.object(unsound, "ERROR", ERROR):
            honest = sound(runs)
            with broken():
                return [asdict(honest), asdict(flaw.attack(runs))]

    flaw = pairs_of_attacks()[number][0]
    name = "".join(c if c.isalnum() else "-" for c in f"twin-{flaw.audit}-{flaw.words}")
    honest, flawed = (Catch(**catch) for catch in kept(asked, name, find))
    return honest, flawed


@dataclass(frozen=True)
class Script:
    name: str
    ok: bool
    words: str


def run_script(name: str, asked: argparse.Namespace) -> Script | None:
    path = HERE / f"{name}.py"
    if not path.exists():
        return None

    def find() -> dict[str, Any]:
        words = [sys.executable, str(path), *SCRIPTS[name](asked)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        return asdict(Script(name, done.returncode == 0, done.stdout.strip()))

    return Script(**kept(asked, name, find))


def number(bound: float | None) -> str:
    if bound is None:
        return "-"
    return "infinite" if math.isinf(bound) else f"{bound:.3f}"


def table(columns: list[str], rows: list[list[str]]) -> list[str]:
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows] + [""]


def strongest(lines: list[Line]) -> str:
    bounds = [line.bound for line in lines if line.bound is not None]
    return number(max(bounds)) if bounds else "-"


def tried(lines: list[Line]) -> str:
    return f"{sum(line.tried for line in lines):,}"


def page_of_methods(reports: list[Report]) -> list[str]:
    by_mode: dict[tuple[str, ...], dict[str, list[Line]]] = {}
    for line in (line for report in reports for line in report.lines):
        kind = "replay" if line.audit == "deep replay" else line.audit
        kind = kind if line.audit in EXACT else "distinguisher"
        key = (line.method, line.mode, line.epsilon, line.delta)
        by_mode.setdefault(key, {}).setdefault(kind, []).append(line)
    rows = []
    for (method, mode, epsilon, delta), kinds in by_mode.items():
        everything = [line for lines in kinds.values() for line in lines]
        broken = "" if all(line.ok for line in everything) else " **BROKEN**"
        row = [f"{method}: {mode}{broken}", epsilon, "0" if delta == "0" else DELTA]
        for kind in ("replay", "files", "enumeration", "distinguisher"):
            lines = kinds.get(kind, [])
            row.append(f"{strongest(lines)} ({tried(lines)})" if lines else "-")
        rows.append(row)
    kinds_of = ("replay", "from files", "enumeration", "distinguishers")
    columns = ["method and mode", "epsilon", "delta", *(f"{kind} (tried)" for kind in kinds_of)]
    return table(columns, rows)


def page_of_trials(reports: list[Report]) -> list[str]:
    rows: dict[tuple[str, str], list[Line]] = {}
    for line in (line for report in reports for line in report.lines):
        if line.audit not in EXACT:
            words = line.words.partition(":")[0].partition(" (")[0]
            rows.setdefault((line.audit, words), []).append(line)
    listed = []
    for (name, words), lines in sorted(rows.items(), key=lambda row: (len(row[0][0]), row[0])):
        claim = min((line.epsilon for line in lines), key=Fraction)
        listed.append([name, words, strongest(lines), claim, tried(lines)])
    columns = ["distinguisher", "what must hold", "strongest bound", "least claim", "runs"]
    return table(columns, listed)


def page_of_twins(catches: list[tuple[Catch, Catch]]) -> list[str]:
    rows = []
    for (flaw, *_), (sound, broken) in zip(pairs_of_attacks(), catches, strict=True):
        exact = not flaw.audit.startswith("T")
        found = number(broken.bound)
        if flaw.audit == "replay" and broken.bound == 2 * broken.claim:
            found = f"above {broken.claim:g}"  # a step lost more than it was charged
        rows.append(
            [flaw.words, flaw.audit if exact else f"distinguisher {flaw.audit}",
             f"{broken.claim:g}", number(sound.bound), found,
             "yes" if broken.caught and not sound.caught else "**NO**"]
        )  # fmt: skip
    columns = ["flaw", "caught by", "claim", "bound, sound code", "bound, with the flaw", "caught"]
    return table(columns, rows)


def page(
    asked: argparse.Namespace,
    reports: list[Report],
    catches: list[tuple[Catch, Catch]],
    scripts: list[Script],
) -> str:
    head = (HERE / "audit.md.txt").read_text(encoding="utf-8")
    left_out = sum(report.left_out for report in reports)
    words = [head.replace("COMMAND", asked.command).replace("COMMIT", commit_of())]
    words = [words[0].replace("RUNS", f"{asked.runs:,}")]
    words += ["## Methods", "", *page_of_methods(reports)]
    booked = sum(line.tried for r in reports for line in r.lines if line.audit == "ledger")
    words += [f"The ledgers of {booked:,} of these runs were checked against their allowances."]
    forced = sum(line.tried for r in reports for line in r.lines if line.audit == "rules")
    words += [f"The rules of all modes were tried on {forced:,} sets of unlike tables.", ""]
    if left_out:
        words += [f"Time was up before {left_out} more audits were begun.", ""]
    words += ["## Distinguishers", "", *page_of_trials(reports)]
    if catches:
        words += ["## Unsound mutants", ""]
        words += [
            "Each flaw was put into the code (or into a model of a method that does not exist"
        ]
        words += ["yet), and the same attack was run on the code with and without it.", ""]
        words += page_of_twins(catches)
    words += page_of_mutants()
    for script in scripts:
        if script.name == "learned":  # writes its own section
            words += [script.words, ""]
            continue
        verdict = "Nothing was found." if script.ok else "**Something was found.**"
        words += [f"## `audits/{script.name}.py`", "", verdict, "", "```", script.words, "```", ""]
    return "\n".join(words).rstrip() + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=FULL, help="of each distinguisher and replay")
    parser.add_argument("--window", type=int, default=1, help="largest noisy count enumerated")
    parser.add_argument("--paths", type=int, default=10_000, help="the most paths of one law")
    parser.add_argument("--minutes", type=float, default=40, help="the most for one method")
    parser.add_argument("--examples", type=int, default=2000, help="of the tests that replay")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--cases", type=int, default=1_000_000, help="for fuzzing")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--keep",
        type=Path,
        help="a directory for what is finished, to go on from; empty it when the code has changed",
    )
    parser.add_argument("--only", nargs="*", choices=[*AUDITED], help="these methods alone")
    parser.add_argument("--defaults", action="store_true", help="one mode of each, the default")
    parser.add_argument("--no-twins", action="store_true", help="without the unsound mutants")
    parser.add_argument("--skip", nargs="*", default=[], choices=[*SCRIPTS], help="leave out")
    parser.add_argument("--out", type=Path, default=HERE.parent / "docs" / "privacy" / "audit.md")
    asked = parser.parse_args()
    said = ["DIR" if word == str(asked.keep) else word for word in sys.argv[1:]]
    asked.command = " ".join(["python audits/run.py", *said])
    began = time.monotonic()

    def tell(words: Any) -> None:
        print(f"{(time.monotonic() - began) / 60:6.1f} min  {words}", file=sys.stderr, flush=True)

    with ProcessPoolExecutor(asked.jobs) as pool:
        modes = [
            (name, delta)
            for name, entry in AUDITED.items()
            if name in (asked.only or AUDITED)
            for delta in ((DELTA,) if entry.needs_delta else ("0", DELTA))
        ]
        jobs = [pool.submit(audit_one, name, delta, asked) for name, delta in modes]
        number = 0 if asked.no_twins else len(pairs_of_attacks())
        twins = [pool.submit(try_twin, i, asked) for i in range(number)]
        reports = []
        for mode, job in zip(modes, jobs, strict=True):
            reports.append(job.result())
            found = reports[-1]
            verdict = "holds" if found.ok else "BROKEN" if found.lines else "not tried in time"
            tell(f"{mode[0]}, delta {mode[1]}: {verdict}")
        catches = [twin.result() for twin in twins]
        tell(f"{sum(broken.caught for _, broken in catches)} of {len(catches)} flaws caught")
    scripts = []
    for name in SCRIPTS:
        if name not in asked.skip and (script := run_script(name, asked)):
            scripts.append(script)
            tell(f"{name}: {'nothing found' if script.ok else 'FOUND SOMETHING'}")
    asked.out.write_text(page(asked, reports, catches, scripts), encoding="utf-8")
    tell(f"wrote {asked.out.name}")
    caught = all(broken.caught and not sound.caught for sound, broken in catches)
    return 0 if caught and all(r.ok for r in reports) and all(s.ok for s in scripts) else 1


if __name__ == "__main__":
    sys.exit(main())
