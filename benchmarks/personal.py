"""Personal generalization: the paper's claims, and how fast. NOT PRIVATE: it looks at raw records.

    python benchmarks/personal.py [claim|time|share|groups|speed|use ...] [--data DIR] [--quick]
                                  [--plot FOLDER]

Rows are drawn with replacement from UCI Adult's complete rows; 30,000 rows drawn apart stand in for
a public side table. Figures are means over records, solved once for each distinct one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).parent))

import hedgerow as hr
from accuracy import boosting
from data import ADULT_SCHEMA, add_data_option, adult
from hedgerow.data import Table, read
from hedgerow.methods.diffgen import DiffGen
from hedgerow.optimize.aggregate import maximize_aggregate
from hedgerow.optimize.descend import descend
from hedgerow.optimize.exact import LARGEST, search
from hedgerow.optimize.model import Aim, Forest, Problem, Record, Side, Worth
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import SecureSampler
from hedgerow.schema import Schema

SCHEMA = ADULT_SCHEMA
# in the order in which they are added: what anonymisation usually looks at first
ORDER = [
    "age", "sex", "race", "marital-status", "education", "workclass", "occupation",
    "relationship", "hours-per-week", "native-country", "education-num", "capital-loss",
    "capital-gain", "fnlwgt",
]  # fmt: skip
EIGHT = ORDER[:8]
ROWS, SIDE_ROWS = 400_000, 30_000


class Setting:
    """Adult-like rows of some attributes, a side table, and their terms."""

    def __init__(self, raw: Table, names: list[str], records: int, rows: int = ROWS) -> None:
        places = [[a.name for a in raw.schema.attributes].index(name) for name in names]
        self.attributes = tuple(raw.schema.attributes[place] for place in places)
        random = np.random.default_rng(1)
        codes = raw.codes[:, places].astype(np.int64)
        drawn = codes[random.integers(0, len(codes), rows)]
        self.side_codes = codes[random.integers(0, len(codes), SIDE_ROWS)]
        self.forest = Forest.of(self.attributes)
        self.side = Side.of(self.forest, self.side_codes)
        self.worth = Worth.of(self.forest, self.attributes, "log", "fixed", None, 0.1)
        self.problem = Problem(self.forest, self.side, self.worth, Aim(risk=0.1))
        distinct, counts = np.unique(drawn, axis=0, return_counts=True)
        if len(distinct) > records:  # a sample in which all rows are equally likely
            picked = random.choice(len(distinct), records, p=counts / counts.sum())
            distinct, counts = distinct[np.sort(picked)], np.ones(records)
        self.codes, self.counts = distinct, counts
        self.leaves = self.forest.leaves(distinct)
        self.ones = np.ones(self.leaves.shape)

    def solved(self, aim: Aim, way=search):
        return way(self.forest, self.side, self.worth, aim, self.leaves, self.ones)

    def means(self, found) -> tuple[float, float]:
        """Mean utility and risk; whom nobody is like stands out by all of their sensitivity."""
        risk = np.where(found.count > 0, found.risk, found.sensitivity)
        return tuple(float(np.average(x, weights=self.counts)) for x in (found.utility, risk))


def claim(raw: Table, quick: bool) -> None:
    """Does the aggregate model come within 5% of the exact threshold model at equal mean risk?"""
    print("mean utility at equal mean risk, 400,000 rows; the threshold model is exact")
    print(f"{'attributes':>10} {'lattice':>9} {'risk <=':>8} {'mean risk':>9} {'threshold':>9} "
          f"{'aggregate':>9} {'ratio':>6} {'walks':>6}")  # fmt: skip
    for number in range(3, 9):
        here = Setting(raw, ORDER[:number], 300 if quick else 1000)
        curves = []
        for kappa in (1, 2, 3):
            points = [
                here.means(here.solved(Aim(trade=float(trade), kappa=kappa)))
                for trade in 10 ** np.arange(-7, 3.01, 0.25 if not quick else 0.5)
            ]
            curves.append(sorted((risk, utility) for utility, risk in points))
        for risk in (0.1, 0.02):
            exact = here.solved(Aim(risk=risk))
            utility, mean = here.means(exact)
            walks = here.means(here.solved(Aim(risk=risk), descend))[0]
            best = max(np.interp(mean, *zip(*curve, strict=True)) for curve in curves)
            print(f"{number:>10} {here.forest.largest_lattice():>9,} {risk:>8g} {mean:>9.4f} "
                  f"{utility:>9.3f} {best:>9.3f} {best / utility:>6.1%} {walks / utility:>6.1%}",
                  flush=True)  # fmt: skip


def times(raw: Table, quick: bool, folder: Path | None) -> None:
    """CPU time for a record, by the number of attributes."""
    print("CPU milliseconds for one record, and the size of the lattice")
    print(f"{'attributes':>10} {'lattice':>16} {'exact':>9} {'cut k=1':>9} {'norm k=2':>9} "
          f"{'walks':>9}")  # fmt: skip
    found = []
    for number in range(3, 15):
        here = Setting(raw, ORDER[:number], 20 if quick else 60)
        size = here.forest.largest_lattice()

        line = [
            _each(here, _exact, 8) if size <= 4 * LARGEST else float("nan"),
            _each(here, _solver(1), 5), _each(here, _solver(2), 5), _each(here, _walk, 5),
        ]  # fmt: skip
        found.append((number, size, *line))
        print(f"{number:>10} {size:>16,} " + " ".join(f"{x:>9.2f}" for x in line), flush=True)
    if folder is not None:
        _plot_times(found, folder / "personal-times.png")


def _each(here: Setting, action, records: int) -> float:
    """CPU milliseconds for a record."""
    action(here, 1)  # compiled
    start = time.process_time()
    action(here, records)
    return (time.process_time() - start) / records * 1e3


def _exact(here: Setting, records: int) -> None:
    where = here.leaves[:records], here.ones[:records]
    search(here.problem, *where)


def _walk(here: Setting, records: int) -> None:
    where = here.leaves[:records], here.ones[:records]
    descend(here.problem, *where)


def _solver(kappa: int):
    def run(here: Setting, records: int) -> None:
        for place in range(records):
            where = here.leaves[place], here.ones[place]
            record = Record.of(here.problem, *where)
            maximize_aggregate(record, Aim(trade=0.01, kappa=kappa))

    return run


def _plot_times(found, path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    numbers = [line[0] for line in found]
    for place, name in enumerate(
        ("exact search", "aggregate, kappa 1: minimum cuts", "aggregate, kappa 2: norm points",
         "threshold: walks"), start=2,
    ):  # fmt: skip
        axes.plot(numbers, [line[place] for line in found], "o-", label=name)
    axes.set_yscale("log")
    axes.set_xlabel("attributes")
    axes.set_ylabel("CPU milliseconds for a record")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=130)
    print(f"drew {path}")


def shares(raw: Table, quick: bool) -> None:
    """Utility of truthful rows against the share of people that is kept."""
    print("sampled rows at epsilon 1, delta 1e-6, 8 attributes, public side table; for all people:")
    print(f"{'kept':>6} {'least size':>10} {'rows':>6} {'people listed':>13} {'utility':>8}")
    here = Setting(raw, EIGHT, 10**9, 100_000 if quick else ROWS)
    table, side, schema = _table(raw, EIGHT, 100_000 if quick else ROWS)
    for keep in ("0.05", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6"):
        method = hr.Supermodular(mode="sampled", keep=keep, side=side, risk=0.05)
        _told(here, table, schema, method, keep)
    print("noisy rows, for comparison")
    _told(here, table, schema, hr.Supermodular(side=side, risk=0.05), "all")


def _table(raw: Table, names: list[str], rows: int):
    """Rows as a table of a smaller schema, and side rows as a frame."""
    described = raw.schema.to_dict()
    attributes = {name: described["attributes"][name] for name in names}
    schema = Schema.from_dict({"name": "adult", "unit": "row", "attributes": attributes})
    places = [[a.name for a in raw.schema.attributes].index(name) for name in names]
    random = np.random.default_rng(1)
    codes = raw.codes[:, places]
    drawn = codes[random.integers(0, len(codes), rows)]
    side = codes[random.integers(0, len(codes), SIDE_ROWS)]
    blank = np.zeros((rows, 1), codes.dtype)
    table = Table(schema, np.ascontiguousarray(np.concatenate([drawn, blank], axis=1)))
    return table, _decoded(schema, side), schema


def _decoded(schema: Schema, codes):
    import pyarrow as pa

    columns = {}
    for place, attribute in enumerate(schema.attributes):
        if hasattr(attribute, "taxonomy"):
            columns[attribute.name] = np.asarray(attribute.taxonomy.leaves)[codes[:, place]]
        else:
            low, step = int(attribute.low), int(attribute.step)
            columns[attribute.name] = low + codes[:, place].astype(np.int64) * step
    return pa.table(columns)


def _told(here: Setting, table: Table, schema: Schema, method, keep: str) -> None:
    from fractions import Fraction

    from hedgerow.methods.api import run

    budget = Budget(Fraction(1), Fraction(1, 10**6))
    outcome = run(table, method, budget, SecureSampler(Keystream(seed=1)))
    width = outcome.hi - outcome.lo
    sizes = np.asarray([attribute.size for attribute in schema.attributes])
    utility = np.log(sizes[None, :] / width).sum(axis=1)
    people = table.codes.shape[0]
    least = outcome.plan.rule["threshold"]
    print(f"{keep:>6} {least:>10} {len(width):>6} {outcome.counts.sum() / people:>13.1%} "
          f"{(utility * outcome.counts).sum() / people:>8.3f}", flush=True)  # fmt: skip


def groups(raw: Table, quick: bool) -> None:
    """Risk of people in DiffGen's groups, and of personal generalization of the same utility."""
    from fractions import Fraction

    from hedgerow.methods.api import run

    print("mean risk at equal mean utility: everybody's group (DiffGen), everybody's own row")
    print(f"{'epsilon':>8} {'utility':>8} {'risk, groups':>12} {'worst':>8} {'risk, own':>10} "
          f"{'worst':>8}")  # fmt: skip
    here = Setting(raw, EIGHT, 500 if quick else 2000)
    table, _, schema = _table(raw, EIGHT, 100_000 if quick else ROWS)
    for epsilon in (Fraction(1, 10), Fraction(1)):
        method = DiffGen(score="ncp", specializations=12, max_cells=100_000)
        budget = Budget(epsilon)
        outcome = run(table, method, budget, SecureSampler(Keystream(seed=1)))
        cells = outcome.partition.locate(here.codes)
        lo, hi = outcome.partition.bounds(cells)
        sizes = np.asarray([attribute.size for attribute in schema.attributes])
        utility = np.log(sizes / (hi - lo)).sum(axis=1)
        weight = np.where(hi - lo == sizes, 0.1 / len(sizes), 1.0).sum(axis=1)
        side_cells = outcome.partition.locate(here.side_codes)
        alike = np.bincount(side_cells, minlength=outcome.partition.cells)[cells]
        risk = weight / np.maximum(alike, 1)
        goal = float(np.average(utility, weights=here.counts))
        low, high = 1e-6, 10.0
        for _ in range(30):
            middle = (low * high) ** 0.5
            if here.means(here.solved(Aim(risk=middle)))[0] < goal:
                low = middle
            else:
                high = middle
        own = here.solved(Aim(risk=high))
        reached, mean = here.means(own)
        theirs = np.average(risk, weights=here.counts)
        print(f"{float(epsilon):>8g} {reached:>8.3f} {theirs:>12.2g} {risk.max():>8.2g} "
              f"{mean:>10.2g} {own.risk.max():>8.2g}", flush=True)  # fmt: skip


def speed(raw: Table, quick: bool) -> None:
    """A million rows of 8 attributes, through the library, in a process of its own."""
    rows = 200_000 if quick else 1_000_000
    table, side, schema = _table(raw, EIGHT, rows)
    random = np.random.default_rng(2)
    codes = table.codes.copy()
    for place, attribute in enumerate(schema.attributes):
        changed = random.random(rows) < 0.045
        codes[changed, place] = random.integers(0, attribute.size, int(changed.sum()))
    distinct = len(np.unique(codes[:, :8], axis=0))
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(_decoded(schema, codes), f"{folder}/people.parquet")
        pq.write_table(side, f"{folder}/side.parquet")
        Path(f"{folder}/schema.json").write_text(json.dumps(schema.to_dict()), encoding="utf-8")
        lattice = Forest.of(schema.attributes).largest_lattice()
        print(f"{rows:,} rows, {distinct:,} distinct, lattices up to {lattice:,}, "
              f"{SIDE_ROWS:,} side rows")  # fmt: skip
        for name, settings in (
            ("aggregate, kappa 1", {"model": "aggregate", "trade": 0.001}),
            ("aggregate, kappa 2", {"model": "aggregate", "trade": 0.01, "kappa": 2}),
            ("threshold", {"model": "threshold", "risk": 0.05}),
        ):
            done = subprocess.run(
                [sys.executable, "-c", _PUBLISH, folder, json.dumps(settings)],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            print(f"  {name}: {done.stdout.strip()}", flush=True)


_PUBLISH = """
import json, resource, sys, time
import hedgerow as hr
folder, settings = sys.argv[1], json.loads(sys.argv[2])
schema = hr.Schema.from_dict(json.load(open(folder + "/schema.json")))
method = hr.Supermodular(side=folder + "/side.parquet", **settings)
from hedgerow.optimize import solve as module
inner, spent = module.search, [0.0]
def timed(*args):
    start = time.process_time()
    found = inner(*args)
    spent[0] += time.process_time() - start
    return found
module.search = timed
release = hr.publish(folder + "/people.parquet", schema, method, epsilon=1, delta="1e-6")
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"{time.process_time():.1f} s of CPU in all, {spent[0]:.1f} s of it in the search, "
      f"{peak:.0f} MB, {len(release.counts)} rows listed")
"""


# the four that say most about the class, whatever order attributes are added in
FOUR = ["age", "marital-status", "education", "hours-per-week"]
RELEASES = 5


def use(rows: pa.Table, quick: bool) -> None:
    """What published rows are good for: AUC of models trained on them, people published.

    Half of the table is published, a quarter is the public side table, a quarter tests. The class
    is one more attribute, of weight 1 or 0.
    """
    schema = Schema.load(SCHEMA)
    described = schema.to_dict()["attributes"]
    target = schema.target.name
    ways = [
        ("supermodular", {}),
        ("supermodular", {"open": True}),
        ("supermodular", {"risk": 0.01}),
        ("supermodular", {"risk": 0.01, "open": True}),
        ("supermodular", {"risk": 0.001}),
        ("supermodular", {"risk": 0.001, "open": True}),
        ("marginals", {}),
        ("raw rows", {}),
    ]
    print(f"AUC of boosting, share of the people published; means of {2 if quick else RELEASES} "
          "releases, delta 1e-6, a public side table")  # fmt: skip
    print(f"{'attributes':>10} {'people':>6} {'eps':>4} {'method':>12} {'settings':>40} "
          f"{'AUC':>14} {'people':>6} {'rows':>5}")  # fmt: skip
    for names, numbers in ((FOUR, (22_611,)), (ORDER, (3000, 22_611))):
        attributes = {name: described[name] for name in [*names, target]}
        some = Schema.from_dict({"name": "adult", "unit": "row", "attributes": attributes})
        for number in numbers:
            for epsilon in ("1", "0.1"):
                for method, settings in ways:
                    if method == "raw rows" and epsilon != "1":
                        continue
                    found = [
                        _used(
                            rows.select(list(attributes)),
                            some,
                            number,
                            epsilon,
                            method,
                            settings,
                            seed,
                        )
                        for seed in range(2 if quick else RELEASES)
                    ]
                    areas, shares, listed = np.array(found).T
                    error = areas.std(ddof=1) / np.sqrt(len(areas))
                    words = ", ".join(
                        "class of weight 0" if name == "open" else f"{name} {value}"
                        for name, value in settings.items()
                    )
                    print(f"{len(names):>10} {number:>6} {epsilon:>4} {method:>12} {words:>40} "
                          f"{areas.mean():>6.3f} ± {error:.3f} {shares.mean():>6.1%} "
                          f"{listed.mean():>5.0f}", flush=True)  # fmt: skip


def _used(
    rows: pa.Table, schema: Schema, number: int, epsilon: str, method: str, settings, seed: int
) -> tuple[float, float, float]:
    order = np.random.default_rng(seed).permutation(len(rows))
    half, quarter = len(rows) // 2, len(rows) // 4
    mine, side, test = (
        rows.take(part)
        for part in (order[:number], order[half : half + quarter], order[half + quarter :])
    )
    if method == "raw rows":
        return boosting(mine, test, schema)[1], 1.0, number
    if method == "marginals":
        made = hr.publish(mine, schema, hr.Marginals(), epsilon, delta="1e-6", seed=seed)
        return boosting(made.synthesize(number, seed=seed, kind="arrow"), test, schema)[1], 1.0, 0
    settings = dict(settings)
    if settings.pop("open", False):
        settings["weights"] = dict.fromkeys(mine.column_names, 1) | {schema.target.name: 0}
    personal = hr.Supermodular(side=side, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = hr.publish(mine, schema, personal, epsilon, delta="1e-6", seed=seed)
    counts = np.asarray(made.counts)
    if not counts.any():
        return 0.5, 0.0, 0
    drawn = made.synthesize(number, seed=seed, kind="arrow")
    return boosting(drawn, test, schema)[1], counts.sum() / number, len(counts)


PARTS = {
    "claim": claim,
    "time": times,
    "share": shares,
    "groups": groups,
    "speed": speed,
    "use": use,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[])
    add_data_option(parser)
    parser.add_argument("--quick", action="store_true", help="fewer records")
    parser.add_argument("--plot", type=Path, metavar="FOLDER", help="draw running times there")
    arguments = parser.parse_args()
    raw = read(adult(arguments.data), Schema.load(SCHEMA))
    for name in arguments.parts or PARTS:
        print(f"\n-- {name}")
        if name == "time":
            times(raw, arguments.quick, arguments.plot)
        elif name == "use":
            use(adult(arguments.data), arguments.quick)
        else:
            PARTS[name](raw, arguments.quick)


if __name__ == "__main__":
    main()
