"""Simulated passengers, in the shape of the DiffPart paper's STM data, which is not public.

1,210,096 records over 1,012 stations, 4.82 of them on average and 64 at most. Two kinds: stations
drawn independently from a Zipf law, and stations around a home and a place of work.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

__all__ = ["make_neighborhoods", "make_zipf"]

STATIONS, LONGEST, MEAN = 1012, 64, 4.82


def sizes(source: np.random.Generator, records: int) -> np.ndarray:
    """One plus a rounded exponential number, scaled to the wanted mean."""
    base = source.exponential(1.0, records)
    low, high = 0.5, 10.0
    for _ in range(40):
        middle = (low + high) / 2
        found = np.clip(1 + np.floor(base * middle), 1, LONGEST).astype(np.int64)
        low, high = (middle, high) if found.mean() < MEAN else (low, middle)
    found[0] = LONGEST
    return found


def distinct(
    source: np.random.Generator, wanted: np.ndarray, draw, rounds: int = 400
) -> list[set[int]]:
    """Fills every record with as many distinct stations as it wants; `draw` draws one for each."""
    held: list[set[int]] = [set() for _ in range(len(wanted))]
    open_ = np.arange(len(wanted))
    for turn in range(rounds):
        for record, station in zip(open_.tolist(), draw(open_, turn).tolist(), strict=True):
            held[record].add(station)
        open_ = np.array([r for r in open_.tolist() if len(held[r]) < wanted[r]], dtype=np.int64)
        if not len(open_):
            break
    return held


def write(path: Path, held: list[set[int]]) -> None:
    with path.open("w", encoding="ascii") as file:
        for record in held:
            file.write(" ".join(map(str, sorted(record))) + "\n")


def make_zipf(path: Path, records: int) -> None:
    source = np.random.default_rng(1)
    weight = 1 / np.arange(1, STATIONS + 1)
    place = source.permutation(STATIONS) + 1
    edges = np.cumsum(weight / weight.sum())
    edges[-1] = 1

    def draw(open_, _):
        return place[np.searchsorted(edges, source.random(len(open_)))]

    write(path, distinct(source, sizes(source, records), draw))


def make_neighborhoods(path: Path, records: int) -> None:
    """Stations lie in groups of ten; half of a passenger's are near home and half near work."""
    source = np.random.default_rng(2)
    groups = -(-STATIONS // 10)
    crowd = source.permutation(1 / np.arange(1, groups + 1))
    crowd /= crowd.sum()
    inside = np.stack([source.permutation(0.45 ** np.arange(10)) for _ in range(groups)])
    inside /= inside.sum(axis=1, keepdims=True)
    within = np.cumsum(inside, axis=1)
    within[:, -1] = 1
    home, work = (source.choice(groups, records, p=crowd) for _ in range(2))
    everywhere = np.cumsum((crowd[:, None] * inside).ravel()[:STATIONS])
    everywhere /= everywhere[-1]

    def draw(open_, turn):
        if turn < 60:
            group = np.where(source.random(len(open_)) < 0.5, home[open_], work[open_])
            station = (within[group] < source.random(len(open_))[:, None]).sum(axis=1)
            return np.minimum(group * 10 + station, STATIONS - 1) + 1
        return np.searchsorted(everywhere, source.random(len(open_))) + 1

    write(path, distinct(source, sizes(source, records), draw))
