"""A second verifier of hedgerow releases: `python verify_release.py release/`.

Written from docs/release-format.md and the pages of the methods, it shares no code with hedgerow.
It recomputes what was spent and holds promises to it, noisy numbers to the charges that paid for
them, files to hashes, tables to rows, and words to numbers. It computes no interval, typical error
or model (`hedgerow verify` does). Neither sees whether noise was drawn as stated, or who made it.
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
from bisect import bisect
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

TABLE = re.compile(r"tables/[a-z0-9_]{1,80}\.(csv|parquet)")
ENTRIES = {"format", "format_version", "kind", "method", "settings", "schema", "schema_hash",
           "guarantee", "ledger", "package_version", "files", "rows"}  # fmt: skip
MEASURED = ("partition.parquet", "measurements.parquet")
KINDS = {  # methods, sources, files made of them, shapes of regions, what is measured
    "marginals": ("marginals", MEASURED, (), ("cells",), "rows single by_class fine named again "
                  "pairs second_pairs third_pairs fourth_pairs fifth_pairs sixth_pairs "
                  "seventh_pairs eighth_pairs more_pairs"),
    "table": ("diffmulti diffgen cdiffgen", MEASURED, ("regions.parquet", "table.csv"),
              ("tree", "grid"), "rows allocate leaf count spare"),
    "transactions": ("diffpart", MEASURED, ("itemsets.parquet", "itemsets.txt"),
                     ("core", "cuts"), "size support cell leaf"),
    "rows": ("supermodular", ("cells.parquet",), ("table.csv",), (None,), ""),
}  # fmt: skip


class Wrong(Exception):
    """What is wrong with a release, in words."""


def need(holds: object, words: str) -> None:
    """Raises unless something holds."""
    if not holds:
        raise Wrong(words)


def exact(value: object) -> Fraction:
    """A number of the manifest: whole, or a fraction or decimal as text."""
    number = Fraction(value) if type(value) in (int, str) else Fraction(-1)  # type: ignore[arg-type]
    need(number >= 0, "a number is none, or negative")
    return number


def whole(value: object) -> int:
    """A whole number of the manifest."""
    need(type(value) is int, "a whole number is none")
    return int(value)  # type: ignore[call-overload, no-any-return]


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest, of a form that is known."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len(dict(pairs)) == len(pairs), "manifest.json has a key twice")
        return dict(pairs)

    path = folder / "manifest.json"
    need(path.is_file() and not path.is_symlink(), "there is no manifest.json")
    found: dict[str, Any] = json.loads(path.read_text("utf-8"), object_pairs_hook=once)
    known = (found["format"], found["format_version"]) == ("hedgerow-release", 2)
    need(known and found["kind"] in KINDS, "this is no release, or of another format")
    own = {"frontier"} if found["kind"] == "rows" else {"partition", "measurements"}
    names = {name for name in found if not name.startswith("x_")}
    need(names == ENTRIES | own, "an entry is missing or not known")
    return found


def check_files(folder: Path, manifest: dict[str, Any]) -> None:
    """The files are those of the manifest, with its hashes, and no others."""
    files, (_, sources, made, *_) = manifest["files"], KINDS[manifest["kind"]]
    fixed = {*sources, *made, "rows.parquet", "tables-metadata.json", "README.md"}
    tables = set(files) - fixed
    need(fixed <= {*files} and all(map(TABLE.fullmatch, tables)), "a file is strange or not listed")
    twins = {f"{name.rpartition('.')[0]}.{end}" for name in tables for end in ("csv", "parquet")}
    need(tables == twins, "a table is there in one form alone")
    there = {path.relative_to(folder).as_posix(): path.lstat() for path in folder.rglob("*")}
    known = {"manifest.json", *files, *(["tables"] if tables else [])}
    need(set(there) == known, "files are missing, or are no part of the release")
    ordinary = all(stat.S_ISREG(one.st_mode) != (name == "tables") for name, one in there.items())
    need(ordinary and not (folder / "tables").is_symlink(), "something is no ordinary file")
    for name, stated in files.items():
        same = hashlib.sha256((folder / name).read_bytes()).hexdigest() == stated
        need(same, f"{name} is not the file that was published")


def check_schema(folder: Path, manifest: dict[str, Any]) -> None:
    """The schema is the one that the hash was made of, and says whom it protects."""
    schema, stated = manifest["schema"], manifest["guarantee"]
    text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    same = hashlib.sha256(text.encode()).hexdigest() == manifest["schema_hash"]
    need(same, "the schema does not match its hash")
    rows, unit = whole(manifest["ledger"]["person_rows"]), stated["unit_of_protection"]
    if manifest["kind"] == "transactions":
        same = " one person" in unit and stated["neighbors"] == "add or remove one record"
    elif schema.get("unit") == "person":
        told = f"one person, with at most {rows} rows", "add or remove one person"
        same = (unit, stated["neighbors"]) == told
    else:
        same = unit == "one row is one person" and stated["neighbors"] == "add or remove one row"
        need(rows == 1, "rows of one person are counted, but rows are protected")
    need(same, "the unit of protection or its neighbors are others")
    told = stated["began_as_draft"] in (True, False) and stated.get("row_wise_query", True) is True
    need(told, "a draft is not told, or nobody vouched for the query")


def epsilon_of(rho: Fraction, delta: Fraction) -> float:
    """What rho costs at delta (Canonne, Kamath, Steinke 2020, proposition 12), over many orders."""
    need(0 < delta < 1, "a delta is needed")

    def cost(order: float) -> float:  # of the order 1 + exp(order), first falling, then rising
        a = 1 + math.exp(order)
        return a * float(rho) + math.log1p(-1 / a) - (math.log(delta) + math.log(a)) / (a - 1)

    low, high = -20.0, 20.0
    for _ in range(200):
        left, right = (2 * low + high) / 3, (low + 2 * high) / 3
        low, high = (low, right) if cost(left) < cost(right) else (left, high)
    return max(0.0, cost(low))


def check_books(folder: Path, manifest: dict[str, Any]) -> None:
    """Every path spent its budget and no more, and paths agree with the entries."""
    ledger, (regions, _) = manifest["ledger"], read_regions(folder, manifest)
    branching = manifest.get("partition") in ("tree", "cuts")
    paper = "paper" in manifest["settings"]["schedule"]
    budgets = {name: whole(one["units"]) for name, one in ledger["budgets"].items()}
    known = {"epsilon"} <= set(budgets) <= {"epsilon", "rho"} and min(budgets.values()) > 0
    need(known, "a budget is empty or not known")
    charged: Counter[tuple[str, str]] = Counter()
    for one in ledger["entries"]:
        units, nodes = whole(one["units"]), whole(one["nodes"])
        need(one["budget"] in budgets and min(units, nodes) > 0, "an entry is odd")
        charged[one["budget"], one["purpose"]] += units * nodes
    leaves = sum(whole(path["leaves"]) for path in ledger["paths"])
    need(regions is None or leaves == regions, "the paths are not those of the regions")
    for path in ledger["paths"]:
        for name, total in budgets.items():
            spent = {purpose: whole(u) for purpose, u in path["spent"].get(name, {}).items()}
            left = total - sum(spent.values())
            need(left == 0 or (paper and left > 0), f"a path spends other {name}")
            for purpose, units in spent.items():
                fits = units == charged[name, purpose] or units < branching * charged[name, purpose]
                need(fits, f"a path spends other units on {purpose} than were charged")


def check_promise(folder: Path, manifest: dict[str, Any]) -> None:
    """The stated epsilon and delta are no less than what was spent."""
    ledger, stated = manifest["ledger"], manifest["guarantee"]
    rows, kind = whole(ledger["person_rows"]), ledger["accounting"]
    spent = {k: exact(b["unit"]) * whole(b["units"]) for k, b in ledger["budgets"].items()}
    epsilon, delta = spent["epsilon"], Fraction(0)
    known = kind in ("pure", "zcdp", "suppression") and (kind == "zcdp") == ("rho" in spent)
    need(known and rows >= 1 and stated["accounting"] == kind, "the accounting is another")
    if kind == "zcdp":
        rho, more, delta = (exact(ledger["conversion"][x]) for x in ("rho", "epsilon", "delta"))
        need(rho >= spent["rho"], "another rho is converted than was spent")
        need(more >= epsilon_of(spent["rho"], delta) - 1e-9, "rho costs more than was stated")
        epsilon += more
    delta = suppression(ledger) if kind == "suppression" else delta
    total = rows * epsilon
    delta *= rows * 3 ** math.ceil(total) if rows > 1 else 1
    need(exact(stated["epsilon"]) >= total > 0, "the stated epsilon is below what was spent")
    need(delta <= exact(stated["delta"]) < 1, "the stated delta is below what was spent")


def suppression(ledger: dict[str, Any]) -> Fraction:
    """The delta of rows that are published from a threshold on: see the page of Supermodular."""
    rule, spent = ledger["suppression"], {e["purpose"]: e["units"] for e in ledger["entries"]}
    rate = exact(ledger["budgets"]["epsilon"]["unit"]) * whole(spent["cells"])
    need((threshold := whole(rule["threshold"])) >= 1, "the threshold is below 1")
    if "sampling_rate" not in rule:
        need(exact(rule["rate"]) <= rate, "the noise is finer than what was paid for")
        a = math.exp(-exact(rule["rate"]))
        return Fraction(a ** (threshold - 1) / (1 + a) * (1 - 1e-12))
    share = float(exact(rule["sampling_rate"]))
    fits = 0 < share < 1 and rate >= -math.log1p(-share) - 1e-12
    need(fits, "the sampling rate is none, or epsilon is too small for it")
    worst = 0.0
    for j in range(threshold - 1, threshold + 60):
        near = max(j, 1) / share
        for n in range(j, int(near + 12 * math.sqrt(near) + 50)):
            chances = [math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
                                + k * math.log(share) + (n - k) * math.log1p(-share))
                       for k in range(j, min(n, j + 200) + 1)]  # fmt: skip
            worst = max(worst, share * chances[0] - math.expm1(float(rate)) * sum(chances[1:]))
    return Fraction(worst * (1 - 1e-9))


def read_regions(folder: Path, manifest: dict[str, Any]) -> tuple[int | None, list[int]]:
    """How many regions there are, if paths count them, and the depth of every node."""
    shape = manifest.get("partition")
    need(shape in KINDS[manifest["kind"]][3], "the shape of the regions is not known")
    if shape not in ("tree", "grid", "cuts"):
        return None, []
    table = pq.read_table(folder / "partition.parquet").to_pydict()
    if shape == "grid":
        pairs = list(zip(table["attribute"], table["edge"], strict=True))
        edges = [[edge for one, edge in pairs if one == place] for place in {a for a, _ in pairs}]
        need(all(x[0] == 0 and x == sorted(set(x)) for x in edges), "edges do not increase")
        return math.prod(len(found) - 1 for found in edges), []
    parents, depths = table["parent"], []
    need(table["node"] == list(range(len(parents))), "nodes are odd")
    for node, parent in enumerate(parents):
        need(-1 <= parent < node and (parent >= 0) == (node > 0), "a node is before its parent")
        depths.append(depths[parent] + 1 if node else 0)
    if shape == "cuts":
        return None, depths
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents[1:], 1):
        children.setdefault(parent, []).append(node)
    for node, split in enumerate(table["split"]):
        below = children.get(node, [])
        need((split >= 0) == bool(below), "a node is split into nothing, or has strange children")
        lo, hi = table["lo"], table["hi"]
        here = lo[node][split]
        for child in below:  # they divide the parent in one attribute, from left to right
            same = [(lo[child][a], hi[child][a]) == (lo[node][a], hi[node][a]) or a == split
                    for a in range(len(lo[node]))]  # fmt: skip
            need(all(same) and lo[child][split] == here < hi[child][split], "regions overlap")
            here = hi[child][split]
        need(not below or here == hi[node][split], "regions leave a gap")
    return sum(split < 0 for split in table["split"]), depths


def check_measurements(folder: Path, manifest: dict[str, Any]) -> None:
    """Every noisy number has the noise that a charge of its purpose paid for."""
    if manifest["kind"] == "rows":
        return
    _, depths = read_regions(folder, manifest)
    heads, ledger = manifest["measurements"], manifest["ledger"]
    names, known = [one["name"] for one in heads], KINDS[manifest["kind"]][4].split()
    need(len(set(names) & set(known)) == len(names), "a measurement is twice or not known")
    rates = {name: exact(one["unit"]) for name, one in ledger["budgets"].items()}
    paid: dict[str, list[tuple[int, str, Fraction]]] = {}
    for one in ledger["entries"]:
        price = one["depth"], one["budget"], one["units"] * rates[one["budget"]]
        paid.setdefault(one["purpose"], []).append(price)
    columns = ["measurement", "name", "place", "units", "threshold"]
    table = pq.read_table(folder / "measurements.parquet").to_pydict()
    numbers = set(zip(*(table[name] for name in columns), strict=True))
    for place, name, node, units, threshold in numbers:
        head = heads[place]
        own = (name, threshold) == (head["name"], head["threshold"]) and units > 0
        need(own, "a number has no measurement, or another threshold")
        need((law := head.get("law")) in (None, "gaussian"), "the noise is not known")
        price = units * exact(head["unit"]) * whole(head.get("max_contribution", 1))
        need(lines := paid.get(name), f"nobody paid for {name}")
        at = depths[node] - (name == "allocate") if depths and head["place_kind"] == "node" else 0
        if manifest["partition"] != "cuts":
            lines = [one for one in lines if one[0] == at] or lines
        prices = [line[2] for line in lines if line[1] == ("rho" if law else "epsilon")]
        fits = price in [*prices, sum(prices)] if law is None else price / 2 <= max(prices)
        need(fits, f"{name} has other noise than was paid for")
    wanted = {i for i, one in enumerate(heads) if not one["sparse"] and one["threshold"] is None}
    need(wanted <= {row[0] for row in numbers}, "a measurement has no numbers")


def check_words(folder: Path, manifest: dict[str, Any]) -> None:
    """The settings are those of a method; the page and the descriptions promise what it does."""
    kind, stated, settings = manifest["kind"], manifest["guarantee"], manifest["settings"]
    need(manifest["method"] in KINDS[kind][0].split(), "the method makes no such release")
    need(re.fullmatch(r"(paper|tuned)-\d+", settings["schedule"]), "the schedule is not known")
    sampled = "sampling_rate" in manifest["ledger"].get("suppression", {})
    fits = (settings.get("mode") == "sampled") == sampled and (kind == "rows" or settings["chosen"])
    need(fits, "the mode or what was chosen is another")
    delta = "" if stated["delta"] == "0" else f", delta {stated['delta']}"
    page = (folder / "README.md").read_text("utf-8").partition("\n")[2]
    about = json.loads((folder / "tables-metadata.json").read_text("utf-8"))["dc:description"]
    for text in (page, about):
        promised = f": epsilon {stated['epsilon']}{delta}." in text and text.count("epsilon ") == 1
        need(promised, "another epsilon or delta is promised")
        need(set(re.findall(r"[\d.]+%", text)) == {"95%"}, "another level is promised")
        need(("NOT PRIVATE" in text) != stated["private"], "the words claim another privacy")


def check_cell(cell: dict[str, Any]) -> bool:
    """Whether ends are whole numbers around an estimate, and the word is what the numbers say."""
    estimate, low, basis, word = (cell[c] for c in ("estimate", "low", "basis", "reliability"))
    if estimate is None:
        return bool(word == "not measured")
    high, half = math.inf if cell["high"] is None else cell["high"], cell["typical_error"]
    error = cell.get("standard_error", ((high - low) / 2 if half is None else half) / 1.959964)
    ratio = error / estimate if estimate > 0 else math.inf
    worth = "mostly noise" if ratio > 1 / 3 else "good" if ratio <= 0.165 else "fair"  # noqa: PLR2004
    if basis in ("assumed even", "ruled out") or (basis == "modeled" and ratio <= 1 / 3):
        worth = basis
    near = 0 <= low <= max(0, math.ceil(estimate)) and high >= max(low, math.floor(estimate))
    return near and low % 1 == 0 and (word == worth or error == math.inf)


def check_regions(folder: Path, rows: pa.Table, weight: str) -> None:
    """Below every edge of a number lie as many rows as the regions there allow."""

    def below(table: pa.Table, name: str, count: str, edge: Any, cut: Any = pc.less) -> float:
        return pc.sum(table.filter(cut(table[name], edge))[count]).as_py() or 0.0

    regions = pq.read_table(folder / "regions.parquet")
    for name in (one for one in rows.column_names if f"{one}_low" in regions.column_names):
        edges = regions[f"{name}_low"].to_pylist() + regions[f"{name}_high"].to_pylist()
        for edge in {*edges} - {None}:
            least = below(regions, f"{name}_high", "count", edge, pc.less_equal)
            least = 0 if f"{name}_other" in regions.column_names else least  # which rows lack
            most = below(regions, f"{name}_low", "count", edge)
            need(least - 1e-6 <= below(rows, name, weight, edge) <= most + 1e-6, f"rows: {name}")


def count_rows(rows: dict[str, list[Any]], labels: list[str], cells: Any) -> list[int]:
    """How many rows lie in each cell."""
    bounds, own, keys = list(cells[0])[len(labels) :: 2], [], []
    for name in labels:
        number = not any(isinstance(value, bool | str) for value in rows[name])
        own.append(bounds.pop(0) if number else name)
        starts = sorted({cell[own[-1]] for cell in cells} - {None})
        keys.append([v if v is None else starts[bisect(starts, v) - 1] if number
                     else str(v).lower() if v is True or v is False else v
                     for v in rows[name]])  # fmt: skip
    found = Counter(zip(*keys, strict=True))
    return [found[tuple(cell[name] for name in own)] for cell in cells]


def check_tables(folder: Path, manifest: dict[str, Any]) -> None:
    """CSV, Parquet and their description say the same, of each other and of the rows."""
    weight, table = manifest["rows"]["weight"], pq.read_table(folder / "rows.parquet")
    if manifest["kind"] == "table":
        check_regions(folder, table, weight)
    rows, each = table.to_pydict(), set(table[weight].to_pylist())
    about = json.loads((folder / "tables-metadata.json").read_text("utf-8"))["tables"]
    columns = {one["url"]: one["tableSchema"]["columns"] for one in about}
    page = (folder / "README.md").read_text("utf-8")
    listed = dict(re.findall(r"^\| `(tables/\w+\.csv)` \| .* \| (\d+) \|$", page, re.MULTILINE))
    files = {name for name in manifest["files"] if re.fullmatch(r"tables/\w+\.csv", name)}
    need(set(columns) == set(listed) == files, "other tables are described than are there")
    for file, number in listed.items():
        table = pq.read_table(folder / file.replace(".csv", ".parquet"))
        head, *lines = csv.reader(io.StringIO((folder / file).read_text("utf-8"), newline=""))
        described = [one["name"] for one in columns[file] if one["name"] == one["titles"]]
        need(head == table.column_names == described, f"{file} has other columns")
        cells = table.to_pylist()
        written = [["" if v is None else str(v) for v in cell.values()] for cell in cells]
        need(lines == written and len(lines) == int(number), f"{file} differs from its twin")
        need(all(map(check_cell, cells)), f"{file}: an interval or a word does not fit an estimate")
        labels = [c for c in head[: head.index("estimate")] if c in rows]
        if manifest["kind"] == "marginals" and labels:
            need(len(each) == 1, "rows of marginals weigh differently")
            near = all(math.isclose(max(each) * one, cell["estimate"], rel_tol=1e-6, abs_tol=1e-3)
                       for one, cell in zip(count_rows(rows, labels, cells), cells, strict=True)
                       if cell["estimate"] is not None)  # fmt: skip
            need(near, f"{file} is not what the rows add up to")


CHECKS = (check_schema, check_measurements, check_books, check_promise, check_words, check_tables)


def verify(folder: Path) -> list[tuple[str, bool, str]]:
    """All checks: the name of each, whether it holds, and that in words."""
    checks: list[tuple[str, bool, str]] = []

    def check(look: Any, *given: Any) -> Any:
        found, ok, said = None, False, "something is missing or cannot be read"
        try:
            found, ok, said = look(*given), True, look.__doc__
        except Wrong as wrong:
            said = str(wrong)
        except (OSError, LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
            pass
        checks.append((look.__name__.partition("_")[2], ok, said))
        return found

    manifest = check(read_manifest, folder)
    check(check_files, folder, manifest)
    if all(ok for _, ok, _ in checks):
        private = manifest["guarantee"].get("private") is True  # noise is stated to be secure
        checks.append(("private", private, "A run with a seed is for tests alone."))
        for look in CHECKS:
            check(look, folder, manifest)
    return checks


if __name__ == "__main__":
    found = verify(Path(*sys.argv[1:]))
    print(*(f"{'ok    ' if ok else 'FAILED'} {name}: {said}" for name, ok, said in found), sep="\n")
    sys.exit(not all(ok for _, ok, _ in found))
