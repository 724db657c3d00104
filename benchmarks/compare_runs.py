"""Compares the figures of two runs: `python benchmarks/compare_runs.py BEFORE.json AFTER.json`.

Ratios are those of the second file to the first, sorted from what got worst to what got best. With
`--tolerance 1.1` the exit code is 1 if a figure got worse by more than a tenth.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from results import Figure, Run, read_run


def worsening(before: Figure, after: Figure) -> float:
    """How many times worse a figure got: above 1 is worse, below 1 is better."""
    old, new = before["value"], after["value"]
    if before["better"] == "more":
        old, new = new, old
    if old == new:
        return 1.0
    return new / old if old > 0 and new >= 0 else math.nan


def compared(before: Run, after: Run) -> list[tuple[float, str]]:
    """Figures that both runs have, the worst change first; what has no ratio comes last."""
    shared = before["figures"].keys() & after["figures"].keys()
    pairs = [(worsening(before["figures"][k], after["figures"][k]), k) for k in shared]
    return sorted(pairs, key=lambda pair: (math.isnan(pair[0]), -pair[0], pair[1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--tolerance", type=float, help="how many times worse is still fine")
    given = parser.parse_args()
    try:
        before, after = read_run(given.before), read_run(given.after)
    except (OSError, ValueError) as error:
        sys.exit(str(error))
    for run in (before, after):
        print(f"{run['commit'] or 'no commit'}, hedgerow {run['hedgerow']}, Python {run['python']}")
    pairs = compared(before, after)
    width = max((len(name) for _, name in pairs), default=0)
    print(f"\n{'':{width}} {'before':>10} {'after':>10} {'ratio':>7}")
    for worse, name in pairs:
        old, new = before["figures"][name], after["figures"][name]
        ratio = f"{new['value'] / old['value']:7.3f}" if old["value"] else " " * 7
        word = ", worse" if worse > 1 else ", better" if worse < 1 else ""
        values = f"{old['value']:10.4g} {new['value']:10.4g} {ratio}"
        print(f"{name:{width}} {values} {old['unit']}{word}")
    for run, other, word in ((before, after, "before"), (after, before, "after")):
        for name in sorted(run["figures"].keys() - other["figures"].keys()):
            print(f"only {word}: {name}")
    if given.tolerance and any(worse > given.tolerance for worse, _ in pairs):
        sys.exit(1)


if __name__ == "__main__":
    main()
