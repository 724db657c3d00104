"""Supermodular on 16 and 24 attributes: how long it takes, and what an exact search would gain.

    python benchmarks/many_attributes.py [--quick] [--records N] [--minutes M] [--json FILE]

Simulated rows (`wide.py`), most of them unique, and 30,000 others as a public side table.
Publishing is timed in a process of its own, with what it reads and compiles. For a sample of the
records, the walks of `optimize.descend` are compared with an exact search by branch and bound, as
far as that ends within the time given.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numba import njit

sys.path.insert(0, str(Path(__file__).parent))

from hedgerow.data import read
from hedgerow.optimize.descend import descend
from hedgerow.optimize.model import (
    Aim,
    Forest,
    Problem,
    Record,
    Side,
    Worth,
)
from results import Results, add_json_option
from wide import wide_schema, wide_table

ROWS, SIDE_ROWS, RISK = 45_000, 30_000, 0.1

_PUBLISH = """
import json, resource, sys, time
wall = time.perf_counter()
import hedgerow as hr
folder = sys.argv[1]
schema = hr.Schema.from_dict(json.load(open(folder + "/schema.json")))
method = hr.Supermodular(side=folder + "/side.parquet", risk=float(sys.argv[2]))
release = hr.publish(folder + "/people.parquet", schema, method, epsilon=1, delta="1e-6", seed=1)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(time.process_time(), time.perf_counter() - wall, peak, len(release.counts))
"""


def publishing(attributes: int, rows: int, times: int) -> tuple[float, float, float]:
    """CPU and wall seconds of publishing, the best of some runs, and megabytes."""
    schema = wide_schema(attributes - 1)  # the class is one of the attributes
    with tempfile.TemporaryDirectory() as folder:
        for name, number, seed in (("people", rows, 1), ("side", SIDE_ROWS, 2)):
            table = wide_table(number, attributes - 1, seed=seed)
            pq.write_table(table, f"{folder}/{name}.parquet")
        Path(folder, "schema.json").write_text(json.dumps(schema.to_dict()), encoding="utf-8")
        runs = []
        for _ in range(times):
            done = subprocess.run(
                [sys.executable, "-c", _PUBLISH, folder, str(RISK)],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            runs.append([float(word) for word in done.stdout.split()])
    best = np.min(runs, axis=0)
    return float(best[0]), float(best[1]), float(best[2])


def quality(attributes: int, records: int, minutes: float) -> dict[str, float]:
    """Walks against exact search on some records: how many it solved, mean utilities and risks."""
    schema = wide_schema(attributes - 1)
    known = schema.columns
    codes, side_codes = (
        read(wide_table(rows, attributes - 1, seed=seed), schema).codes.astype(np.int64)
        for rows, seed in ((ROWS, 1), (SIDE_ROWS, 2))
    )
    forest = Forest.of(known)
    side = Side.of(forest, side_codes)
    worth = Worth.of(forest, known, "log", "fixed", None, 0.1)
    problem = Problem(forest, side, worth, Aim(risk=RISK))
    leaves = forest.leaves(codes[np.random.default_rng(3).choice(ROWS, records, replace=False)])
    ones = np.ones(leaves.shape)
    walked = descend(problem, leaves, ones)
    exact, found = [], []
    begun = time.process_time()
    for place in range(records):
        if time.process_time() - begun > 60 * minutes:
            break
        record = Record.of(problem, leaves[place], ones[place])
        best = best_below(record, RISK, float(walked.utility[place]), 60 * minutes)
        if best is not None:
            exact.append(best)
            found.append(place)
    if not found:
        return {"records": 0.0}
    utility, risk = np.asarray(exact).T
    return {
        "records": float(len(found)),
        "exact utility": float(utility.mean()),
        "walks utility": float(walked.utility[found].mean()),
        "exact risk": float(risk.mean()),
        "walks risk": float(walked.risk[found].mean()),
        "share with the best utility": float(np.mean(utility <= walked.utility[found] + 1e-9)),
    }


def best_below(
    record: Record, risk: float, known: float, seconds: float
) -> tuple[float, float] | None:
    """The best utility within a risk, and its risk; None if it takes too many steps.

    Attributes are fixed one after another, each at every level that is allowed while those not yet
    fixed are at the root. What each of these could gain alone bounds what all can gain together.
    """
    attributes = record.levels.shape[1]
    height = int(record.heights.max()) + 1
    repeated = np.repeat(record.levels, record.counts, axis=0)  # so that bits can be counted
    words = (len(repeated) + 63) // 64
    inside = np.zeros((attributes, height, words), np.uint64)
    for place in range(attributes):
        for level in range(record.heights[place] + 1):
            bits = np.zeros(64 * words, np.uint8)
            bits[: len(repeated)] = repeated[:, place] <= level
            inside[place, level] = np.packbits(bits, bitorder="little").view(np.uint64)
    utility, weight = np.zeros((attributes, height)), np.zeros((attributes, height))
    for place in range(attributes):
        utility[place, : record.heights[place] + 1] = record.utility[place]
        weight[place, : record.heights[place] + 1] = record.weight[place]
    steps = int(seconds * 50_000)
    best, least, done = _branch(inside, utility, weight, record.heights, risk, known, steps)
    return (best, least) if done else None


@njit(cache=True)
def _ones(word):
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    low = np.uint64(0x3333333333333333)
    word = (word & low) + ((word >> np.uint64(2)) & low)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(cache=True)
def _branch(inside, utility, weight, heights, risk, known, most):
    """Depth first; the best utility, the least risk of it, and whether the search ended."""
    attributes, _, words = inside.shape
    alive = np.zeros((attributes + 1, words), np.uint64)
    alive[0] = inside[0, heights[0]]
    deepest = np.zeros((attributes + 1, attributes), np.int64)
    chosen = np.full(attributes + 1, -1)  # the attribute fixed at each depth
    level = np.zeros(attributes + 1, np.int64)
    fixed = np.zeros(attributes, np.bool_)
    sense, worth = np.zeros(attributes + 1), np.zeros(attributes + 1)
    for place in range(attributes):
        sense[0] += weight[place, heights[place]]
        worth[0] += utility[place, heights[place]]
        deepest[0, place] = 0
    best, least = known - 1e-9, np.inf
    depth, fresh, steps = 0, True, 0
    while depth >= 0:
        if fresh:
            steps += 1
            if steps > most:
                return best, least, False
            fresh = False
            bound = worth[depth]
            widest, pick = -1.0, -1
            for place in range(attributes):
                if fixed[place]:
                    continue
                low = deepest[depth, place]
                while low < heights[place]:
                    count = 0
                    for word in range(words):
                        count += _ones(alive[depth, word] & inside[place, low, word])
                    more = weight[place, low] - weight[place, heights[place]]
                    if count > 0 and count * risk >= (sense[depth] + more) * (1 - 1e-12):
                        break
                    low += 1
                deepest[depth, place] = low
                gain = utility[place, low] - utility[place, heights[place]]
                bound += gain
                if gain > widest:
                    widest, pick = gain, place
            if bound < best:
                chosen[depth] = -2
            elif pick < 0 or widest <= 0:  # nothing more can be gained
                count = 0
                for word in range(words):
                    count += _ones(alive[depth, word])
                share = sense[depth] / count
                if worth[depth] > best + 1e-9 or share < least:
                    best, least = max(best, worth[depth]), share
                chosen[depth] = -2
            else:
                chosen[depth] = pick
                level[depth] = deepest[depth, pick]
        pick = chosen[depth]
        if pick < 0 or level[depth] > heights[pick]:
            depth -= 1
            if depth >= 0:
                fixed[chosen[depth]] = False
                level[depth] += 1
            continue
        now = level[depth]
        for word in range(words):
            alive[depth + 1, word] = alive[depth, word] & inside[pick, now, word]
        sense[depth + 1] = sense[depth] + weight[pick, now] - weight[pick, heights[pick]]
        worth[depth + 1] = worth[depth] + utility[pick, now] - utility[pick, heights[pick]]
        deepest[depth + 1] = deepest[depth]
        fixed[pick] = True
        depth += 1
        fresh = True
    return best, least, True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer rows, once")
    parser.add_argument("--records", type=int, default=50, help="in the sample")
    parser.add_argument(
        "--minutes", type=float, default=10, help="for the exact search, of a record and in all"
    )
    parser.add_argument("--attributes", type=int, nargs="*", default=[16, 24])
    parser.add_argument("--skip-exact", action="store_true")
    add_json_option(parser)
    arguments = parser.parse_args()
    results = Results("many_attributes")
    for attributes in arguments.attributes:
        rows, times = (5_000, 1) if arguments.quick else (ROWS, 3)
        cpu, wall, peak = publishing(attributes, rows, times)
        print(f"{rows:,} rows of {attributes} attributes: {cpu:.1f} s of CPU, {wall:.1f} s of "
              f"wall, {peak:,.0f} MB", flush=True)  # fmt: skip
        what = f"{attributes} attributes"
        results.add(cpu, "s", what, f"{rows:,} rows", "CPU")
        results.add(wall, "s", what, f"{rows:,} rows", "wall")
        results.add(peak, "MB", what, f"{rows:,} rows", "memory")
        if arguments.skip_exact:
            continue
        for name, value in quality(attributes, arguments.records, arguments.minutes).items():
            print(f"  {name}: {value:.4f}", flush=True)
            results.add(value, "", what, name, better="less" if "risk" in name else "more")
    results.write(arguments.json)


if __name__ == "__main__":
    main()
