"""Use and speed of published transactions: `python benchmarks/transactions.py [--quick] [--speed]`.

For each data set and epsilon (B in the DiffPart paper): the average relative error of the paper's
random counting queries, in five sets with lengths up to 20%, 40%, ... 100% of the longest record
and a sanity bound of 0.1% of the records; the paper's utility of the top 20, 50 and 100 itemsets;
the error on single items. `basic` is noise on all sets, where they can be listed.

MSNBC, T10I4D100K and the invoices of Online Retail II are looked for like other data (see
benchmarks/data.py). Two stand-ins for the paper's STM data are made by `benchmarks/stations.py`, or
given by `--stations ZIPF NEIGHBORHOODS`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import hedgerow as hr
from data import add_data_option, find_folder
from hedgerow.data import Transactions, read_transactions
from hedgerow.evaluation.measures import (
    exact_supports,
    random_itemsets,
    relative_errors,
    top_itemsets,
    top_utility,
)
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import Rates, SecureSampler
from results import Results, add_json_option
from stations import make_neighborhoods, make_zipf

FILES = {
    "msnbc": ("msnbc.dat.gz", 1, 17),
    "retail": ("online_retail_2009_2010.dat.gz", 1, 4167),
    "t10i4": ("t10i4d100k.dat.gz", 0, 999),
}
METHODS = {
    "tuned": hr.DiffPart(),
    "tree": hr.DiffPart(variant="tree"),
    "paper": hr.DiffPart(schedule="paper"),
}


def schema(name: str, low: int, high: int) -> hr.Schema:
    items = {"universe": {"range": [low, high]}, "fan_out": 10}
    return hr.Schema.from_dict({"name": name, "unit": "row", "items": items})


def sources(
    folder: Path | None, scratch: Path, quick: bool, given: list[Path] | None
) -> dict[str, tuple[Path, hr.Schema]]:
    found = {}
    for name, (file, low, high) in FILES.items():
        if folder is not None and (folder / file).is_file():
            found[name] = (folder / file, schema(name, low, high))
        else:
            print(f"{file} was not found; see benchmarks/README.md")
    kinds = (("zipf", make_zipf), ("neighborhoods", make_neighborhoods))
    for place, (name, make) in enumerate(kinds):
        path = given[place] if given else scratch / f"{name}.dat"
        if not given:
            make(path, 200_000 if quick else 1_210_096)
        found[name] = (path, schema(name, 1, 1012))
    return found


class Truth:
    """Queries and their exact answers, made once for a data set."""

    def __init__(self, transactions: Transactions, queries: int) -> None:
        longest = int(np.diff(transactions.start).max())
        self.records = len(transactions.start) - 1
        size = transactions.schema.items.size
        self.queries = [
            random_itemsets(size, max(1, longest * part // 5), queries, part)
            for part in range(1, 6)
        ]
        self.answers = [exact_supports(transactions, itemsets) for itemsets in self.queries]
        self.singles = [(code,) for code in range(size)]
        self.supports = exact_supports(transactions, self.singles)
        self.top = top_itemsets(transactions, 100)


def measure(release: hr.TransactionsRelease, truth: Truth) -> list[float]:
    labels = release.schema.items.labels

    def estimated(itemsets):
        asked = [[labels[code] for code in itemset] for itemset in itemsets]
        return np.asarray(release.count(asked).estimate)

    errors = [
        relative_errors(exact, estimated(itemsets), truth.records).mean()
        for itemsets, exact in zip(truth.queries, truth.answers, strict=True)
    ]
    single = relative_errors(truth.supports, estimated(truth.singles), truth.records)
    errors.append(single[truth.supports > 0].mean())
    for number in (20, 50, 100):
        listed = release.frequent(number, kind="arrow").to_pydict()
        code_of = release.schema.items.code_of
        pairs = [
            (tuple(sorted(code_of(label) for label in items)), support)
            for items, support in zip(listed["items"], listed["estimate"], strict=True)
        ]
        errors.append(top_utility(truth.top[:number], pairs))
    return errors


def basic(transactions: Transactions, epsilon: float, truth: Truth, seed: int) -> list[float]:
    """The paper's Basic: noise on every one of 2^|I| - 1 sets, and nothing else."""
    items = transactions.schema.items.size
    masks = np.bitwise_or.reduceat(
        np.int64(1) << transactions.codes.astype(np.int64), transactions.start[:-1]
    )
    exact = np.bincount(masks, minlength=1 << items)
    budget = hr.DiffPart().plan(transactions.schema, str(epsilon)).budget.epsilon
    rates = Rates(values=(budget,), which=np.zeros(len(exact), dtype=np.int64))
    noisy = SecureSampler(Keystream(seed=seed)).laplace(exact[:, None], rates)[:, 0].astype(float)
    noisy[0] = 0
    sums = noisy.reshape((2,) * items)
    for axis in range(items):
        low = [slice(None)] * items
        high = [slice(None)] * items
        low[axis], high[axis] = 0, 1
        sums[tuple(low)] += sums[tuple(high)]
    sums = sums.ravel()

    def at(itemset):
        return sums[sum(1 << code for code in itemset)]

    errors = [
        relative_errors(answers, np.array([at(s) for s in itemsets]), truth.records).mean()
        for itemsets, answers in zip(truth.queries, truth.answers, strict=True)
    ]
    single = relative_errors(
        truth.supports, np.array([at(s) for s in truth.singles]), truth.records
    )
    errors.append(single[truth.supports > 0].mean())
    order = np.argsort(-sums[1:], kind="stable")[:100] + 1
    for number in (20, 50, 100):
        pairs = [
            (tuple(b for b in range(items) if mask >> b & 1), float(sums[mask]))
            for mask in order[:number].tolist()
        ]
        errors.append(top_utility(truth.top[:number], pairs))
    return errors


HEADS = ("20%", "40%", "60%", "80%", "100%", "single", "top20", "top50", "top100")


def use(
    found: dict[str, tuple[Path, hr.Schema]],
    runs: int,
    queries: int,
    methods: list[str],
    results: Results,
) -> None:
    print(f"{'data':15}{'epsilon':8}{'method':8}" + "".join(f"{head:>8}" for head in HEADS))
    for name, (path, known) in found.items():
        transactions = read_transactions(path, known)
        truth = Truth(transactions, queries)
        for epsilon in ("1", "0.5"):
            rows = {}
            for method in methods:
                if method == "basic":
                    continue
                rows[method] = [
                    measure(hr.publish(path, known, METHODS[method], epsilon, seed=seed), truth)
                    for seed in range(runs)
                ]
            if "basic" in methods and known.items.size <= 20:
                rows["basic"] = [
                    basic(transactions, float(epsilon), truth, seed) for seed in range(runs)
                ]
            for method, figures in rows.items():
                means = np.mean(figures, axis=0)
                columns = "".join(f"{value:8.3f}" for value in means)
                print(f"{name:15}{epsilon:8}{method:8}{columns}", flush=True)
                setting = (name, f"{truth.records} records", f"epsilon {epsilon}", f"{runs} runs")
                for head, mean in zip(HEADS, means, strict=True):
                    top = head.startswith("top")
                    unit, better = ("utility", "more") if top else ("relative error", "less")
                    results.add(mean, unit, method, *setting, head, better=better)


_ONE = """
import pathlib, sys, time
import hedgerow as hr
known = hr.Schema.load(sys.argv[2])
hr.publish(sys.argv[1], known, hr.DiffPart(), 1).save(sys.argv[3] + "/warm")
best = 1e9
for turn in range(5):
    began = time.process_time()
    hr.publish(sys.argv[1], known, hr.DiffPart(), 1).save(f"{sys.argv[3]}/{turn}")
    best = min(best, time.process_time() - began)
# not ru_maxrss, which begins with the memory of the process that started this one
status = pathlib.Path('/proc/self/status').read_text()
peak = next(line.split()[1] for line in status.splitlines() if line.startswith('VmHWM'))
print(best, int(peak) / 1024)
"""


def speed(found: dict[str, tuple[Path, hr.Schema]], scratch: Path, results: Results) -> None:
    """CPU seconds, best of five, reading and writing included; peak memory of the process."""
    print(f"\n{'data':15}{'records':>10}{'seconds':>9}{'MB':>7}")
    for name in ("zipf", "neighborhoods"):
        path, known = found[name]
        file = scratch / f"{name}.yaml"
        file.write_text(known.to_yaml(), encoding="utf-8")
        lines = path.read_bytes().splitlines(keepends=True)
        for share in (4, 2, 1):
            part = scratch / f"{name}-{share}.dat"
            part.write_bytes(b"".join(lines[: len(lines) // share]))
            with tempfile.TemporaryDirectory(dir=scratch) as out:
                done = subprocess.run(
                    [sys.executable, "-c", _ONE, part, file, out],
                    capture_output=True, text=True, check=True,
                )  # fmt: skip
            seconds, memory = map(float, done.stdout.split())
            print(f"{name:15}{len(lines) // share:>10}{seconds:>9.2f}{memory:>7.0f}", flush=True)
            setting = (name, f"{len(lines) // share} records")
            results.add(seconds, "s", *setting, "CPU time")
            results.add(memory, "MB", *setting, "peak memory")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    parser.add_argument("--quick", action="store_true", help="two runs, fewer queries")
    parser.add_argument("--speed", action="store_true", help="speed alone")
    parser.add_argument("--stations", type=Path, nargs=2, help="stand-ins that are there already")
    parser.add_argument("--runs", type=int, help="how many releases of each kind (default 10)")
    parser.add_argument("--only", nargs="+", help="data sets; all if left out")
    parser.add_argument("--methods", nargs="+", default=[*METHODS, "basic"])
    add_json_option(parser)
    given = parser.parse_args()
    results = Results("transactions")
    runs, queries = (2, 500) if given.quick else (10, 2_000)
    runs = given.runs or runs
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        found = sources(find_folder(given.data), scratch, given.quick, given.stations)
        if not given.only:
            speed(found, scratch, results)
        if not given.speed:
            asked = {name: found[name] for name in given.only or found}
            use(asked, runs, queries, given.methods, results)
    results.write(given.json)


if __name__ == "__main__":
    main()
