"""A second verifier of hedgerow releases: one file, the standard library and pyarrow, nothing else.

    python verify_release.py release/

It was written from docs/release-format.md, docs/privacy/guarantee.md and the pages of the methods,
and shares no code with hedgerow. It recomputes what a release spent and holds it to what it
promises, holds every noisy number to a charge that paid for it, and every file to its hash. It does
not know the rules by which a schedule divides its budget, fits no model and computes no intervals:
`hedgerow verify` does. Neither can tell whether the noise was really drawn as stated.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import re
import stat
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

MEASURED = ("partition.parquet", "measurements.parquet")
SOURCES = {"marginals": MEASURED, "table": MEASURED, "transactions": MEASURED,
           "rows": ("cells.parquet",)}  # fmt: skip
MADE = {"marginals": (), "table": ("regions.parquet", "table.csv"), "rows": ("table.csv",),
        "transactions": ("itemsets.parquet", "itemsets.txt")}  # fmt: skip
PLAIN = ("rows.parquet", "tables-metadata.json", "README.md")
TABLE = re.compile(r"tables/[a-z0-9_]{1,80}\.(csv|parquet)")
ENTRIES = {"format", "format_version", "kind", "method", "settings", "schema", "schema_hash",
           "guarantee", "ledger", "package_version", "files", "rows"}  # fmt: skip
OWN = {kind: {"partition", "measurements"} for kind in SOURCES} | {"rows": {"frontier"}}
SHAPES = {"marginals": ("cells",), "table": ("tree", "grid"), "transactions": ("core", "cuts")}
COUNTED = {
    "marginals": {"rows", "single", "by_class", "fine", "named", "pairs", "more_pairs", "again"},
    "table": {"rows", "allocate", "leaf", "count", "spare"},
    "transactions": {"size", "support", "cell", "leaf"},
}


class Wrong(Exception):
    """What is wrong with a release, in words."""


def need(holds: object, words: str) -> None:
    """Raises unless something holds."""
    if not holds:
        raise Wrong(words)


def exact(value: object) -> Fraction:
    """A number of the manifest: whole, or a fraction or decimal as text."""
    need(isinstance(value, int | str) and not isinstance(value, bool), "a number is none")
    number = Fraction(value)  # type: ignore[arg-type]
    need(number >= 0, "a number is negative")
    return number


def whole(value: object) -> int:
    """A whole number of the manifest."""
    need(isinstance(value, int) and not isinstance(value, bool), "a whole number is none")
    return int(value)  # type: ignore[call-overload, no-any-return]


# The folder and its manifest


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON whose keys occur once."""
    need(len(dict(pairs)) == len(pairs), "manifest.json has a key twice")
    return dict(pairs)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest, of a form that is known."""
    path = folder / "manifest.json"
    need(path.is_file() and not path.is_symlink(), "there is no manifest.json")
    found = json.loads(path.read_text("utf-8"), object_pairs_hook=once)
    need(isinstance(found, dict), "manifest.json is no object")
    need(found.get("format") == "hedgerow-release", "this is no release")
    need(found.get("format_version") == 2, "the format is not version 2")
    kind = found.get("kind")
    need(kind in SOURCES, "the kind is not known")
    names = {name for name in found if not name.startswith("x_")}
    need(names == ENTRIES | OWN[kind], "an entry is missing or not known")
    return found


def check_files(folder: Path, manifest: dict[str, Any]) -> str:
    """The files are those of the manifest, with its hashes, and no others."""
    kind, files = manifest["kind"], manifest["files"]
    fixed = {*SOURCES[kind], *MADE[kind], *PLAIN}
    tables = set(files) - fixed
    need(fixed <= set(files), "the manifest lacks a file")
    need(all(TABLE.fullmatch(name) for name in tables), "the manifest lists a strange file")
    twins = {f"{name.rpartition('.')[0]}.{end}" for name in tables for end in ("csv", "parquet")}
    need(tables == twins, "a table is there in one form alone")
    there = set()
    for path in folder.rglob("*"):
        mode = path.lstat().st_mode
        name = path.relative_to(folder).as_posix()
        if stat.S_ISDIR(mode):
            need(name == "tables", f"the folder {name} is no part of a release")
            continue
        need(stat.S_ISREG(mode), f"{name} is no ordinary file")
        there.add(name)
    need(there == {*files, "manifest.json"}, "files are missing, or are no part of the release")
    for name, stated in files.items():
        found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        need(found == stated, f"{name} is not the file that was published")
    return f"{len(files)} files match their hashes"


def check_schema(manifest: dict[str, Any]) -> str:
    """The schema is the one that the hash was made of, and says whom it protects."""
    schema = manifest["schema"]
    text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    found = hashlib.sha256(text.encode()).hexdigest()
    need(found == manifest["schema_hash"], "the schema does not match its hash")
    stated = manifest["guarantee"]
    if manifest["kind"] == "transactions":
        unit, neighbors = stated["unit_of_protection"], "add or remove one record"
        need(" one person" in unit, "the unit of protection is not known")
    else:
        rows = whole(manifest["ledger"]["person_rows"])
        several = "person" in stated["neighbors"]
        need(several or rows == 1, "rows of one person are counted, but rows are protected")
        person = f"one person, with at most {rows} rows"
        unit = person if several else "one row is one person"
        neighbors = f"add or remove one {'person' if several else 'row'}"
        need(several == (schema.get("unit") == "person"), "the schema protects another unit")
    need(stated["unit_of_protection"] == unit, "the unit of protection is another")
    need(stated["neighbors"] == neighbors, "the neighbors are others")
    need(isinstance(stated["began_as_draft"], bool), "a draft is not told")
    need(stated.get("row_wise_query", True) is True, "nobody vouched for the query")
    return "the schema matches its hash and the unit of protection"


# What was spent


def epsilon_of(rho: Fraction, delta: Fraction) -> float:
    """What rho costs at delta (Canonne, Kamath, Steinke 2020, proposition 12), over many orders."""
    need(0 < delta < 1, "a delta is needed")
    rho_, log_delta = float(rho), math.log(delta)

    def cost(order: float) -> float:  # of the order 1 + exp(order), first falling, then rising
        a = 1 + math.exp(order)
        return a * rho_ + math.log1p(-1 / a) - (log_delta + math.log(a)) / (a - 1)

    low, high = -20.0, 20.0
    for _ in range(200):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if cost(left) < cost(right) else (left, high)
    return max(0.0, cost(low))


def check_books(manifest: dict[str, Any], regions: int | None) -> str:
    """Every path spent its budget and no more, and paths agree with the entries."""
    ledger = manifest["ledger"]
    budgets = {name: whole(one["units"]) for name, one in ledger["budgets"].items()}
    need(set(budgets) <= {"epsilon", "rho"} and "epsilon" in budgets, "a budget is not known")
    need(all(units > 0 for units in budgets.values()), "a budget is empty")
    paper = str(manifest["settings"].get("schedule", "")).startswith("paper")
    charged: Counter[tuple[str, str]] = Counter()
    for one in ledger["entries"]:
        units, nodes = whole(one["units"]), whole(one["nodes"])
        need(one["budget"] in budgets and min(units, nodes) > 0, "an entry is odd")
        charged[one["budget"], one["purpose"]] += units * nodes
    branching = manifest.get("partition") in ("tree", "cuts")
    leaves = 0
    for path in ledger["paths"]:
        leaves += whole(path["leaves"])
        for name, total in budgets.items():
            spent = {purpose: whole(u) for purpose, u in path["spent"].get(name, {}).items()}
            done = sum(spent.values())
            need(done == total or (paper and done < total), f"a path spends other {name}")
            for purpose, units in spent.items():
                most = charged[name, purpose]
                need(units <= most, f"a path spends more on {purpose} than was charged")
                need(branching or units == most, f"{purpose} was not charged to everybody")
    need(regions is None or leaves == regions, "the paths are not those of the regions")
    return f"{len(ledger['paths'])} ways of spending add up to the budget"


def check_promise(manifest: dict[str, Any]) -> str:
    """The stated epsilon and delta are no less than what was spent."""
    ledger, stated = manifest["ledger"], manifest["guarantee"]
    budgets, rows = ledger["budgets"], whole(ledger["person_rows"])
    need(rows >= 1, "nobody has a row")
    need(stated["accounting"] == ledger["accounting"], "two kinds of accounting are named")
    spent = {name: exact(one["unit"]) * whole(one["units"]) for name, one in budgets.items()}
    epsilon, delta = spent["epsilon"], Fraction(0)
    kind = ledger["accounting"]
    need(kind in ("pure", "zcdp", "suppression"), "the accounting is not known")
    need((kind == "zcdp") == ("rho" in spent), "rho is accounted for otherwise")
    if kind == "zcdp":
        said = ledger["conversion"]
        need(exact(said["rho"]) >= spent["rho"], "another rho is converted than was spent")
        delta = exact(said["delta"])
        costs = epsilon_of(spent["rho"], delta) - 1e-9
        need(float(exact(said["epsilon"])) >= costs, "rho costs more epsilon than was stated")
        epsilon += exact(said["epsilon"])
    if kind == "suppression":
        delta = suppression(ledger)
    total = rows * epsilon
    delta *= rows * 3 ** math.ceil(total) if rows > 1 else 1
    promised = exact(stated["epsilon"]), exact(stated["delta"])
    need(promised[0] >= total > 0, "the stated epsilon is below what was spent")
    need(delta <= promised[1] < 1, "the stated delta is below what was spent")
    return f"epsilon {stated['epsilon']} and delta {stated['delta']} are no less than was spent"


def suppression(ledger: dict[str, Any]) -> Fraction:
    """The delta of rows that are published from a threshold on: see the page of Supermodular."""
    rule = ledger["suppression"]
    spent = {one["purpose"]: one["units"] for one in ledger["entries"]}
    rate = exact(ledger["budgets"]["epsilon"]["unit"]) * whole(spent["cells"])
    threshold = whole(rule["threshold"])
    need(threshold >= 1, "the threshold is below 1")
    if "sampling_rate" not in rule:
        need(exact(rule["rate"]) <= rate, "the noise is finer than what was paid for")
        a = math.exp(-float(exact(rule["rate"])))
        return Fraction(a ** (threshold - 1) / (1 + a) * (1 - 1e-12))
    share = float(exact(rule["sampling_rate"]))
    need(0 < share < 1, "the sampling rate is none")
    need(float(rate) >= -math.log1p(-share) - 1e-12, "epsilon is too small for the sampling rate")
    worst = 0.0
    for j in range(threshold - 1, threshold + 60):
        near = max(j, 1) / share
        for n in range(j, int(near + 12 * math.sqrt(near) + 50)):
            chances = [binomial(n, k, share) for k in range(j, min(n, j + 200) + 1)]
            worst = max(worst, share * chances[0] - math.expm1(float(rate)) * sum(chances[1:]))
    return Fraction(worst * (1 - 1e-9))


def binomial(n: int, k: int, share: float) -> float:
    """The probability of k successes in n trials."""
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(ways + k * math.log(share) + (n - k) * math.log1p(-share))


# What was measured


def read_regions(folder: Path, manifest: dict[str, Any]) -> tuple[int | None, list[int]]:
    """How many regions there are, if paths count them, and the depth of every node."""
    shape = manifest.get("partition")
    need(shape in SHAPES.get(manifest["kind"], (None,)), "the shape of the regions is not known")
    if shape not in ("tree", "grid", "cuts"):
        return None, []
    table = pq.read_table(folder / "partition.parquet").to_pydict()
    if shape == "grid":
        edges: dict[int, list[int]] = {}
        for place, edge in zip(table["attribute"], table["edge"], strict=True):
            edges.setdefault(place, []).append(edge)
        for found in edges.values():
            need(found[0] == 0 and found == sorted(set(found)), "the edges do not increase")
        return math.prod(len(found) - 1 for found in edges.values()), []
    parents, depths = table["parent"], []
    need(table["node"] == list(range(len(parents))) and parents[0] == -1, "nodes are odd")
    for node, parent in enumerate(parents):
        need(parent < node and (parent >= 0) == (node > 0), "a node stands before its parent")
        depths.append(depths[parent] + 1 if node else 0)
    if shape == "cuts":
        return None, depths
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents[1:], 1):
        children.setdefault(parent, []).append(node)
    for node, split in enumerate(table["split"]):
        below = children.get(node, [])
        need((split >= 0) == bool(below), "a node is split into nothing, or has strange children")
        if not below:
            continue
        lo, hi = table["lo"], table["hi"]
        here = lo[node][split]
        for child in below:  # they divide the parent in one attribute, from left to right
            same = [(lo[child][a], hi[child][a]) == (lo[node][a], hi[node][a]) or a == split
                    for a in range(len(lo[node]))]  # fmt: skip
            need(all(same) and lo[child][split] == here < hi[child][split], "regions overlap")
            here = hi[child][split]
        need(here == hi[node][split], "regions leave a gap")
    return sum(split < 0 for split in table["split"]), depths


def check_measurements(folder: Path, manifest: dict[str, Any], depths: list[int]) -> str:
    """Every noisy number has the noise that a charge of its purpose paid for."""
    heads, ledger = manifest["measurements"], manifest["ledger"]
    names = [one["name"] for one in heads]
    need(len(set(names)) == len(names), "something is measured twice")
    need(set(names) <= COUNTED[manifest["kind"]], "a measurement is not known")
    rates = {name: exact(one["unit"]) for name, one in ledger["budgets"].items()}
    paid: dict[str, list[tuple[int, str, Fraction]]] = {}
    for one in ledger["entries"]:
        price = one["units"] * rates[one["budget"]]
        paid.setdefault(one["purpose"], []).append((one["depth"], one["budget"], price))
    table = pq.read_table(folder / "measurements.parquet")
    columns = [table[c].to_pylist() for c in ("measurement", "name", "place", "units", "threshold")]
    seen = set()
    for place, name, node, units, threshold in set(zip(*columns, strict=True)):
        head = heads[place]
        seen.add(place)
        need(name == head["name"] and units > 0, "a number has no measurement")
        need(threshold == head["threshold"], "a threshold is another")
        gaussian = head.get("law") == "gaussian"
        need(head.get("law") in (None, "gaussian"), "the noise is not known")
        price = units * exact(head["unit"]) * whole(head.get("max_contribution", 1))
        lines = paid.get(name, [])
        need(lines, f"nobody paid for {name}")
        at = depths[node] - (name == "allocate") if depths and head["place_kind"] == "node" else 0
        own = lines if manifest["partition"] == "cuts" else []
        own = own or [one for one in lines if one[0] == at] or lines
        budget = "rho" if gaussian else "epsilon"
        prices = [line[2] for line in own if line[1] == budget]
        if gaussian:
            need(any(price / 2 <= one for one in prices), f"{name} is finer than what was paid")
        else:
            total = sum(prices, Fraction(0))
            need(price in prices or price == total, f"{name} has other noise than was paid for")
    wanted = {i for i, one in enumerate(heads) if not one["sparse"] and one["threshold"] is None}
    need(wanted <= seen, "a measurement has no numbers")
    return f"the noise of {table.num_rows} numbers is what was paid for"


# Files that need no hedgerow


def check_tables(folder: Path, manifest: dict[str, Any]) -> str:
    """CSV and Parquet say the same; tables of single attributes and rows have one total."""
    name = manifest["rows"]["weight"]
    rows = pq.read_table(folder / "rows.parquet")
    need(name in rows.column_names, "the rows have no weights")
    total = math.fsum(rows[name].to_pylist())
    columns = {column for column in rows.column_names if column != name}
    for file in sorted(set(manifest["files"]) - {*MADE[manifest["kind"]]}):
        if not (file.startswith("tables/") and file.endswith(".csv")):
            continue
        table = pq.read_table(folder / file.replace(".csv", ".parquet"))
        head, *lines = csv.reader(io.StringIO((folder / file).read_text("utf-8"), newline=""))
        need(head == table.column_names, f"{file} has other columns than its twin")
        values = zip(*(column.to_pylist() for column in table.columns), strict=True)
        written = [["" if value is None else str(value) for value in row] for row in values]
        need(lines == written, f"{file} says other things than its twin")
        estimate = table["estimate"].to_pylist()
        labels = [c for c in head[: head.index("estimate")] if c in columns]
        if manifest["kind"] == "marginals" and None not in estimate and labels:
            near = math.isclose(math.fsum(estimate), total, rel_tol=1e-6, abs_tol=1e-3)
            need(near, f"{file} does not add up to the weights of the rows")
    return "tables agree with each other and with the rows"


def verify(folder: Path) -> list[tuple[str, bool, str]]:
    """All checks: the name of each, whether it holds, and that in words."""
    checks: list[tuple[str, bool, str]] = []

    def check(name: str, look: Any, *given: Any) -> Any:
        try:
            found = look(*given)
            checks.append((name, True, found if isinstance(found, str) else "as it should be"))
            return found
        except Wrong as wrong:
            checks.append((name, False, str(wrong)))
        except (OSError, LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
            checks.append((name, False, "something is missing or cannot be read"))
        return None

    manifest = check("manifest", read_manifest, folder)
    if manifest is None or check("files", check_files, folder, manifest) is None:
        return checks
    private = manifest["guarantee"].get("private") is True
    checks.append(("private", private, "noise is stated to be secure" if private else "a test run"))
    check("schema", check_schema, manifest)
    regions, depths = None, []
    if manifest["kind"] != "rows":
        regions, depths = check("regions", read_regions, folder, manifest) or (None, [])
        check("measurements", check_measurements, folder, manifest, depths)
    check("spending", check_books, manifest, regions)
    check("promise", check_promise, manifest)
    check("tables", check_tables, folder, manifest)
    return checks


def main(words: list[str]) -> int:
    """Prints every check; 0 if all hold."""
    checks = verify(Path(*words))
    for name, ok, said in checks:
        print(f"{'ok    ' if ok else 'FAILED'} {name}: {said}")
    return 0 if all(ok for _, ok, _ in checks) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
