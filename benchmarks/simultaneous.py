"""Do all intervals of a one-way table hold at once, as often as they state? NOT PRIVATE.

    python benchmarks/simultaneous.py --keep DIR [--data DIR] [--releases 200] [--epsilon 1]
        [--only NAME ...] [--ends]

Two tables (UCI Adult; the national excerpt of NIST's Diverse Communities Data), published with the
default settings. Of every release, `table(name, simultaneous=True)` is asked for each attribute and
for the class. Printed for each of these tables: in how many releases all its intervals hold the
truth, with a standard error, and how often single cells do; then how often all tables hold
together, which nobody promises. `--ends` asks for the ends of intervals alone, in a third of the
time; `table` widens them where they do not hold its estimate, so it holds as often or more. What
each release did is kept in DIR, so that a run that was
stopped goes on where it was; `--releases 0` prints what is there.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import hedgerow as hr
from data import ADULT_SCHEMA, add_data_option, adult, find_folder
from hedgerow.data import Table, read
from hedgerow.evaluation import NOT_PRIVATE, exact_counts
from hedgerow.evaluation.simulate import publish_seeded
from hedgerow.methods.marginals import Marginals
from hedgerow.release.count_tables import cells_of, divisions_of
from hedgerow.schema import Query
from marginal_intervals import nist

LEVEL = 0.95
Tables = dict[str, tuple[int, int]]
"""For each attribute the number of its cells, and how many of their intervals hold the truth."""


def one_release(table: Table, epsilon: str, seed: int, ends: bool) -> Tables:
    release = publish_seeded(table, Marginals(), epsilon, 0, seed).expect(hr.MarginalsRelease)
    schema, found = table.schema, {}
    for name in (attribute.name for attribute in schema.columns):
        _, cells = cells_of(schema, divisions_of(schema, (name,), None, release.bands), Query(()))
        if ends:
            each = 1 - (1 - LEVEL) / len(cells)
            low, high = release.bounds.ends(release.bounds.compare(cells), each)
        else:
            told = release.table(name, level=LEVEL, simultaneous=True).answers
            low, high = told.low, told.high
        truth = exact_counts(table, cells)
        held = (low <= truth) & (truth <= high)
        found[name] = len(held), int(held.sum())
    return found


def report(name: str, kept: list[Tables]) -> bool:
    """Prints what the releases of one table did; whether every attribute's table held enough."""
    print(f"\n{name}, {len(kept)} releases")
    print(f"{'table of':18}{'cells':>8}{'all held %':>16}{'one cell %':>12}")
    number, fine = len(kept), True
    for attribute in kept[0]:
        cells, held = np.array([one[attribute] for one in kept]).T
        share = float(np.mean(cells == held))
        # of a share of 95%: the error of what was seen is 0 where every release held
        error = math.sqrt(LEVEL * (1 - LEVEL) / number)
        fine &= (enough := share >= LEVEL - 3 * error)
        print(f"{attribute:18}{np.median(cells):8.0f}"
              f"{100 * share:9.1f} ± {100 * math.sqrt(share * (1 - share) / number):.1f}"
              f"{100 * held.sum() / cells.sum():12.2f}{'' if enough else '  TOO FEW'}")  # fmt: skip
    together = [all(cells == held for cells, held in one.values()) for one in kept]
    print(f"all {len(kept[0])} tables together: {100 * np.mean(together):.1f}% of releases")
    return fine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_data_option(parser)
    parser.add_argument("--keep", type=Path, required=True, metavar="DIR", help="for what was done")
    parser.add_argument("--releases", type=int, default=200, help="of each table")
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--only", nargs="*", choices=("Adult", "NIST"))
    parser.add_argument("--ends", action="store_true", help="ask for the ends of intervals alone")
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    print(NOT_PRIVATE)
    data = {"Adult": (adult(options.data), hr.Schema.load(ADULT_SCHEMA))}
    second = nist(find_folder(options.data))
    if second is not None:
        data["NIST"] = second
    tables = {name: read(*known) for name, known in data.items() if name in (options.only or data)}
    kind = "-ends" if options.ends else ""
    for seed in range(options.releases):
        for name, table in tables.items():
            path = options.keep / f"{name}-{options.epsilon}{kind}-{seed}.json"
            if not path.exists():
                text = json.dumps(one_release(table, options.epsilon, seed, options.ends))
                path.with_suffix(".tmp").write_text(text, encoding="utf-8")
                path.with_suffix(".tmp").rename(path)
    fine = True
    for name in tables:
        paths = sorted(options.keep.glob(f"{name}-{options.epsilon}{kind}-[0-9]*.json"))
        kept = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
        if kept:
            fine &= report(f"{name}, epsilon {options.epsilon}", kept)
    sys.exit(not fine)


if __name__ == "__main__":
    main()
