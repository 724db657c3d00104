"""Do intervals and typical errors of releases with marginals hold? NOT PRIVATE.

    python benchmarks/marginal_intervals.py --keep DIR [--data DIR] [--releases 200] [--json FILE]

Two tables (UCI Adult; the national excerpt of NIST's Diverse Communities Data), epsilon 1 and 0.1.
1,000 queries are fixed before anything is published: 160 on one attribute, 200 each on two, three
and four, 240 on the class and up to three attributes. Each release answers all of them, and also
200 queries on the pairs that it measured, with edges that follow the groups of the pair (which are
known before the noise of the pair is drawn). What each release did is kept in DIR, so that a run
that was stopped goes on where it was; `--releases 0` prints what is there.

Printed for each kind of query: the share of 95% intervals that hold the truth, with a standard
error clustered by release, since all answers of one release share its noise; the worst single
query over all releases; the median width in percent of the rows, beside that of the interval that
regions alone give; the share of typical errors that hold. Last the pairs that depend on each other
strongly (Cramer's V of at least 0.3 in the raw table) and were not measured in a release. (Pairs
that were chosen by what others had told are measured too, but are in no interval.)
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

sys.path.insert(0, str(Path(__file__).parent))

import hedgerow as hr
from data import ADULT_SCHEMA, add_data_option, adult, find_folder
from hedgerow.estimate.answers import answer
from hedgerow.evaluate import NOT_PRIVATE, exact_counts, random_conjunctions
from hedgerow.schema import Query
from hedgerow.table import Table, read
from results import Results, add_json_option
from tables import cramers_v

NIST = Path("nist/diverse_communities_data_excerpts/national/national2019.csv")
NUMBERS = {
    "AGEP": {"low": 0, "high": 99},
    "PINCP": {"low": -10_000, "high": 1_350_000, "step": 1_000, "scale": "log"},
    "POVPIP": {"low": 0, "high": 501, "common": [501]},
}
LEFT_OUT = ("DENSITY", "INDP", "PINCP_DECILE", "PWGTP", "WGTP")
EPSILONS = ("1", "0.1")
LEVEL, STRONG, PAIR_QUERIES = 0.95, 0.3, 200


def nist(folder: Path | None) -> tuple[pa.Table, hr.Schema] | None:
    """The national excerpt; whether a housing unit is owned or rented is the class."""
    path = None if folder is None else folder / NIST
    if path is None or not path.is_file():
        print(f"{NIST} was not found in the folder of --data, so NIST's table is skipped.")
        return None
    text = csv.ConvertOptions(column_types={"PUMA": pa.string()}, strings_can_be_null=False)
    rows = csv.read_csv(path, convert_options=text).drop_columns(list(LEFT_OUT))
    attributes: dict[str, object] = {}
    for name in rows.column_names:
        column = rows[name].cast(pa.string())
        if name in NUMBERS:
            known = pc.if_else(pc.equal(column, "N"), None, column)
            column = pc.floor(known.cast(pa.float64())).cast(pa.int64())
            rules = {"missing": "other", "outside": "clip"}
            attributes[name] = {"type": "numeric", "step": 1, **NUMBERS[name], **rules}
        else:
            values = sorted(set(column.to_pylist()))  # the domain is public: NIST's dictionary
            attributes[name] = {"type": "categorical", "values": values}
        rows = rows.set_column(rows.column_names.index(name), name, column)
    attributes["OWN_RENT"]["role"] = "class"  # type: ignore[index]
    schema = hr.Schema.from_dict({"name": "nist", "unit": "row", "attributes": attributes})
    return rows, schema


def workload(schema: hr.Schema) -> dict[str, list[Query]]:
    """The queries, by kind."""
    kinds = {"1 attribute": random_conjunctions(schema, 160, (1, 1), seed=1)}
    for many in (2, 3, 4):
        kinds[f"{many} attributes"] = random_conjunctions(schema, 200, (many, many), seed=many)
    source = np.random.default_rng(9)
    classes = len(schema.classes)
    with_class = [Query((), (code,)) for code in range(classes)]
    for query in random_conjunctions(schema, 240 - classes, (1, 3), seed=5):
        with_class.append(Query(query.where, (int(source.integers(classes)),)))
    return {**kinds, "class": with_class}


def pair_queries(release: hr.TableRelease, source: np.random.Generator) -> list[Query]:
    """Queries on the pairs that a release measured, between edges of their groups."""
    marginals = release.marginals
    assert marginals is not None
    pairs = list(marginals.pair)
    found = []
    while pairs and len(found) < PAIR_QUERIES:
        where = []
        for place in sorted(pairs[len(found) % len(pairs)]):
            edges = marginals.pairs.edges[place]
            if np.all(np.diff(edges) == 1):  # values
                inside = source.random(len(edges) - 1) < 0.5
                inside[source.integers(len(inside))] |= not inside.any()
                ends = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]])))
            else:
                ends = edges[np.sort(source.choice(len(edges), 2, replace=False))]
            where.append((place, tuple((float(a), float(b)) for a, b in ends.reshape(-1, 2))))
        found.append(Query(tuple(where)))
    return found


def one_release(
    rows: pa.Table, table: Table, queries: list[Query], truth: np.ndarray, epsilon: str, seed: int
) -> dict[str, np.ndarray]:
    """What one release did on all queries, and on those of its pairs."""
    method = hr.DiffMulti(marginals=True)
    release = hr.publish(rows, table.schema, method, epsilon, seed=seed).expect(hr.TableRelease)
    fit = release.estimates.fit
    assert fit is not None and release.marginals is not None
    mine = pair_queries(release, np.random.default_rng(seed))
    kept: dict[str, np.ndarray] = {}
    exact_of_pairs = exact_counts(table, mine) if mine else np.empty(0)
    for name, asked, exact in (("", queries, truth), ("pair_", mine, exact_of_pairs)):
        found = release.count(asked, LEVEL)
        assert found.typical_error is not None
        alone = answer(release.partition, fit, asked, LEVEL)
        kept[f"{name}held"] = (found.low <= exact) & (exact <= found.high)
        kept[f"{name}width"] = (found.high - found.low).astype(np.float32)
        kept[f"{name}alone"] = (alone.high - alone.low).astype(np.float32)
        kept[f"{name}typical"] = np.abs(found.estimate - exact) <= found.typical_error
    pairs = [tuple(place for place, _ in query.where) for query in queries]
    for name, several in (
        ("measured", release.marginals.pair),
        ("known", release.marginals.all_pairs),
    ):
        counted = {tuple(sorted(pair)) for pair in several}
        kept[name] = np.array([
            query.classes is None and pair in counted
            for query, pair in zip(queries, pairs, strict=True)
        ])  # fmt: skip
    return kept


def strong_pairs(table: Table) -> set[tuple[int, int]]:
    """The pairs of attributes with a Cramer's V of at least 0.3."""
    return {pair for pair, value in cramers_v(table).items() if value >= STRONG}


def share(held: list[np.ndarray]) -> str:
    """A mean over releases and its standard error, in percent."""
    means = [float(one.mean()) for one in held if len(one)]
    if len(means) < 2:
        return "-"
    error = np.std(means, ddof=1) / math.sqrt(len(means))
    return f"{100 * np.mean(means):.2f} ± {100 * error:.2f}"


def report(
    name: str, table: Table, kinds: dict[str, list[Query]], kept: list[dict[str, np.ndarray]],
    results: Results,
) -> bool:  # fmt: skip
    """Prints what releases of one setting did; whether intervals hold as often as they should."""
    strong, number = strong_pairs(table), len(table.codes)
    queries = [query for several in kinds.values() for query in several]
    where = np.repeat(np.arange(len(kinds)), [len(several) for several in kinds.values()])
    held = np.stack([one["held"] for one in kept])
    pairs = [tuple(place for place, _ in query.where) for query in queries]
    related = np.array([
        query.classes is None and pair in strong for query, pair in zip(queries, pairs, strict=True)
    ])  # fmt: skip
    chosen = {kind: [where == place] * len(kept) for place, kind in enumerate(kinds)}
    chosen["all"] = [where >= 0] * len(kept)
    chosen["2 attributes, measured"] = [one["measured"] for one in kept]
    chosen["2, strong, unmeasured"] = [related & ~one["known"] for one in kept]
    rows = {
        kind: {
            part: [one[part][some] for one, some in zip(kept, masks, strict=True)]
            for part in ("held", "width", "alone", "typical")
        }
        for kind, masks in chosen.items()
    }
    rows["pairs, along groups"] = {
        part: [one[f"pair_{part}"] for one in kept]
        for part in ("held", "width", "alone", "typical")
    }
    print(f"\n{name}, {len(kept)} releases, {len(queries)} queries, {number:,} rows")
    print(f"{'queries':25}{'held %':>15}{'worst %':>9}{'width %':>9}{'regions %':>11}"
          f"{'typical %':>15}")  # fmt: skip
    fine = True
    for kind, parts in rows.items():
        width, alone = (np.concatenate(parts[part]) for part in ("width", "alone"))
        widths = [float(np.median(one)) / number * 100 if len(one) else math.nan
                  for one in (width, alone)]  # fmt: skip
        here = chosen.get(kind)
        fixed = (
            here is not None and here[0].any() and all(np.array_equal(here[0], one) for one in here)
        )
        worst = 100 * held[:, here[0]].mean(axis=0).min() if fixed and here else math.nan
        print(f"{kind:25}{share(parts['held']):>15}{worst:9.1f}{widths[0]:9.2f}{widths[1]:11.1f}"
              f"{share(parts['typical']):>15}", flush=True)  # fmt: skip
        means = [float(one.mean()) for one in parts["held"] if len(one)]
        if not means:
            continue
        fine &= np.mean(means) >= LEVEL - 3 * np.std(means) / math.sqrt(len(means))
        for part, unit, value, better in (
            ("coverage", "%", 100 * np.mean(means), "more"),
            ("width", "% of rows", widths[0], "less"),
        ):
            results.add(float(value), unit, name, kind, part, better=better)
    each = held.mean(axis=0)
    paired = np.mean([len(one["pair_held"]) > 0 for one in kept])
    print(f"the worst query of all: {100 * each.min():.1f}%; below 93%: {(each < 0.93).sum()}; "
          f"releases with pairs: {paired:.0%}")  # fmt: skip
    return bool(fine)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_data_option(parser)
    parser.add_argument("--keep", type=Path, required=True, metavar="DIR", help="for what was done")
    parser.add_argument("--releases", type=int, default=200, help="of each table and epsilon")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="begin with this seed")
    add_json_option(parser)
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    print(NOT_PRIVATE)
    data = {"Adult": (adult(options.data), hr.Schema.load(ADULT_SCHEMA))}
    second = nist(find_folder(options.data))
    if second is not None:
        data["NIST"] = second
    tables, asked, truths = {}, {}, {}
    for name, (rows, schema) in data.items():
        tables[name], asked[name] = read(rows, schema), workload(schema)
        queries = [query for several in asked[name].values() for query in several]
        truths[name] = exact_counts(tables[name], queries)
    for seed in range(options.first, options.releases):
        for name, (rows, _) in data.items():
            for epsilon in EPSILONS:
                path = options.keep / f"{name}-{epsilon}-{seed}.npz"
                if not path.exists():
                    queries = [query for several in asked[name].values() for query in several]
                    found = one_release(rows, tables[name], queries, truths[name], epsilon, seed)
                    np.savez(path.with_suffix(".tmp.npz"), **found)
                    path.with_suffix(".tmp.npz").rename(path)
    results, fine = Results("intervals"), True
    for name in data:
        for epsilon in EPSILONS:
            paths = sorted(options.keep.glob(f"{name}-{epsilon}-*[0-9].npz"))
            kept = [dict(np.load(path)) for path in paths]
            if len(kept) > 1:
                label = f"{name}, epsilon {epsilon}"
                fine &= report(label, tables[name], asked[name], kept, results)
    results.write(options.json)
    sys.exit(not fine)


if __name__ == "__main__":
    main()
