"""Releases of transactions: what recipients ask, the folder, and what `verify` finds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hedgerow as hr
from hedgerow.errors import DataWarning, ReleaseError, UsageError
from hedgerow.estimate.itemsets import read_sets
from hedgerow.estimate.partition import CoreCells
from hedgerow.methods import diffpart
from hedgerow.methods.diffpart import DiffPart
from hedgerow.methods.plan import support_units
from hedgerow.release import Release, TransactionsRelease
from hedgerow.schema import Schema
from hedgerow.verification import diffpart as rules
from hedgerow.verification import verify

METHODS = {
    "whole": DiffPart(),
    "core": DiffPart(core=3),
    "tree": DiffPart(variant="tree"),
    "paper": DiffPart(schedule="paper"),
}


def shop_of(size: int, **rules: Any) -> Schema:
    return Schema.from_dict(
        {
            "name": "shop",
            "unit": "row",
            "items": {"universe": {"range": [1, size]}, "fan_out": 3, **rules},
        }
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    random = np.random.default_rng(1)
    lines = [random.choice(8, random.integers(1, 5), replace=False) + 1 for _ in range(3000)]
    path = tmp_path_factory.mktemp("data") / "shop.dat"
    path.write_text("".join(" ".join(map(str, line)) + "\n" for line in lines))
    return path


@pytest.fixture(scope="module", params=METHODS)
def release(request: pytest.FixtureRequest, files: Path) -> TransactionsRelease:
    found = hr.publish(files, shop_of(8), method=METHODS[request.param], epsilon=1, seed=4)
    # as if it had not been seeded, so that `verify` has nothing to say about that
    return replace(found, guarantee=found.guarantee | {"private": True})


@pytest.mark.slow
def test_a_release_survives_its_folder(release: TransactionsRelease, tmp_path: Path) -> None:
    release.save(tmp_path / "out")
    loaded = Release.load(tmp_path / "out")
    assert isinstance(loaded, TransactionsRelease) and loaded == release
    assert loaded.itemsets().equals(release.itemsets())
    verdict = verify(tmp_path / "out")
    assert verdict.ok, [check for check in verdict.checks if not check.ok]
    assert verdict.epsilon == 1
    assert verify(release).ok
    loaded.save(tmp_path / "out", overwrite=True)
    release.save(tmp_path / "other")
    again, other = (
        {path.relative_to(tmp_path / to): path.read_bytes()
         for path in (tmp_path / to).rglob("*") if path.is_file()}
        for to in ("out", "other")
    )  # fmt: skip
    assert again == other


def test_the_listed_itemsets_are_the_noisy_numbers(
    release: TransactionsRelease, tmp_path: Path
) -> None:
    listed = release.itemsets().to_pydict()
    drawn = release.measurements[-1].values[:, 0].tolist()
    assert listed["count"] == sorted(listed["count"], reverse=True)
    assert set(listed["count"]) <= set(drawn)
    release.save(tmp_path / "out")
    text = (tmp_path / "out" / "itemsets.txt").read_text().splitlines()
    lines = [line.split("\t") for line in text if not line.startswith("#")]
    assert [int(line[0]) for line in lines] == listed["count"]
    skip = 2 if "others" in listed else 1
    assert [line[skip:] for line in lines] == listed["items"]


@pytest.mark.slow
def test_answers_are_near_the_truth(release: TransactionsRelease, files: Path) -> None:
    """Intervals at 1 - 1e-6; the whole test fails with probability 4e-5 at most if they hold."""
    held = [set(line.split()) for line in files.read_text().splitlines()]
    sets = [one for k in range(3) for one in combinations(map(str, range(1, 9)), k)]
    found = release.count(sets, level=1 - 1e-6)
    for one, low, estimate, high in zip(sets, found.low, found.estimate, found.high, strict=True):
        exact = sum(set(one) <= record for record in held)
        assert low <= exact <= high and low <= estimate <= high


def test_frequent_itemsets_are_the_best_of_all(release: TransactionsRelease) -> None:
    found = release.frequent(12).to_pydict()
    best = release.count(found["items"])
    assert (best.low <= found["estimate"]).all() and found["low"] == best.low.tolist()
    assert found["estimate"] == sorted(found["estimate"], reverse=True)
    # by brute force: a set counts for no more than its parts
    value: dict[tuple[int, ...], float] = {}
    for k in range(1, 9):
        sets = list(combinations(range(1, 9), k))
        for one, estimate in zip(sets, release.count(sets).estimate, strict=True):
            parts = [value[one[:i] + one[i + 1 :]] for i in range(k)] if k > 1 else [np.inf]
            value[one] = min(float(estimate), *parts)
    order = sorted((-count, len(one), one) for one, count in value.items() if count > 0)[:12]
    assert found["items"] == [[str(item) for item in one] for _, _, one in order]
    assert found["estimate"] == pytest.approx([-count for count, _, _ in order])


def test_made_up_records_follow_the_release(release: TransactionsRelease) -> None:
    rows = release.synthesize(4000, seed=2).column(0).to_pylist()
    assert len(rows) == 4000 and release.synthesize(4000, seed=2).column(0).to_pylist() == rows
    assert all(row and sorted(set(row)) == row for row in rows)
    total = release.count_all().estimate[0]
    for one in ("2", "5", "8"):
        share = float(release.count(one).estimate[0] / total)
        # five deviations of the draw, and what the model of unknown items may be off by
        assert abs(np.mean([one in row for row in rows]) - share) < 0.04 + 0.08 * share
    long = release.synthesize(50, seed=2, form="long").to_pydict()
    assert max(long["record"]) == 49
    assert abs(release.synthesize(seed=1).num_rows - total) <= 0.05 * total


def test_frames_of_every_kind(release: TransactionsRelease) -> None:
    for kind in ("arrow", "pandas", "polars"):
        for frame in (release.itemsets(kind), release.frequent(3, kind=kind)):
            assert type(frame).__module__.split(".")[0] in (kind, "pyarrow")
    with pytest.raises(UsageError, match="no kind of frame"):
        release.itemsets("excel")


def test_what_cannot_be_meant_is_refused(release: TransactionsRelease) -> None:
    for k in (0, -1, True, 2.5, 10**9):
        with pytest.raises(UsageError, match="number of itemsets"):
            release.frequent(k)  # type: ignore[arg-type]
    for level in (0, 1, "much"):
        with pytest.raises(UsageError, match="level"):
            release.count([1], level=level)  # type: ignore[arg-type]
    for asked in (None, 1.5, b"1", [[1], None], [1.5], [[True]]):
        with pytest.raises(UsageError, match="itemset cannot be read"):
            release.count(asked)
    with pytest.raises(UsageError, match="not an item"):
        release.count([99])
    with pytest.raises(UsageError, match="negative"):
        release.synthesize(-1)
    with pytest.raises(UsageError, match="form"):
        release.synthesize(1, form="wide")
    with pytest.raises(UsageError, match="too many"):
        release.synthesize(10**12)


def test_itemsets_in_many_forms(release: TransactionsRelease) -> None:
    items = release.items
    for asked in ((4, 1), ("1", "4"), {1, 4}, frozenset(("4", 1)), [[1, 4, 4]], [np.array([1, 4])]):
        assert [one.tolist() for one in read_sets(asked, items)] == [[0, 3]]
    assert [one.tolist() for one in read_sets(np.array([[1, 2], [3, 3]]), items)] == [[0, 1], [2]]
    assert [one.tolist() for one in read_sets(5, items)] == [[4]]
    assert [one.tolist() for one in read_sets([4, "1"], items)] == [[3], [0]]  # of several
    assert read_sets([], items) == [] and [len(one) for one in read_sets((), items)] == [0]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("size", [1, 2, 7])
def test_nobody_and_almost_nothing_can_be_published(
    method: DiffPart, size: int, tmp_path: Path
) -> None:
    (tmp_path / "shop.dat").write_text("")
    for epsilon in ("0.001", "1", "50"):
        with pytest.warns(DataWarning) as told:
            found = hr.publish(
                tmp_path / "shop.dat", shop_of(size), method, epsilon, seed=1, allow_empty=True
            )
        assert any("no record has an item" in str(one.message) for one in told)
        found = replace(found, guarantee=found.guarantee | {"private": True})
        verdict = verify(found)
        assert verdict.ok, [check for check in verdict.checks if not check.ok]
        answers = found.count([[], [1], list(range(1, size + 1))])
        assert np.isfinite(answers.estimate).all() and (answers.low <= answers.high).all()
        found.frequent(5), found.itemsets(), found.synthesize(0)


def test_labels_that_would_be_misread_are_quoted(hand: SimpleNamespace, tmp_path: Path) -> None:
    labels = ["a b", "#c", 'd"', "e,f"]
    schema = Schema.from_dict(
        {"name": "odd", "unit": "row", "items": {"universe": labels, "separator": ";"}}
    )
    cells = hand.counted("cell", "region", [0] + [99] * 15, unit=Fraction(1))
    core = CoreCells(np.arange(4), np.array([0]))
    found = TransactionsRelease(
        schema=schema,
        method="diffpart",
        settings={},
        guarantee={"private": False},
        ledger={},
        partition=core,
        measurements=(cells,),
    )
    found.save(tmp_path / "out")
    last = (tmp_path / "out" / "itemsets.txt").read_text().splitlines()[-1].split("\t")
    assert last == ["99", "a b", '"#c"', 'd"', "e,f"]


def change(folder: Path, edit: Callable[[dict[str, Any], pa.Table, pa.Table], Any]) -> None:
    """Changes a saved release and mends its hashes, as somebody who means harm would."""
    manifest = json.loads((folder / "manifest.json").read_text())
    names = ("partition.parquet", "measurements.parquet")
    tables = dict(zip(names, (pq.read_table(folder / name) for name in names), strict=True))
    tables |= edit(manifest, *tables.values()) or {}
    for name, table in tables.items():
        pq.write_table(table, folder / name)
        manifest["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))


def column(table: pa.Table, name: str, values: Any) -> pa.Table:
    place = table.column_names.index(name)
    return table.set_column(place, name, pa.array(values, table.schema.field(name).type))


def moved_parent(_: Any, regions: pa.Table, __: Any) -> dict[str, pa.Table]:
    if "parent" in regions.column_names:
        return {"partition.parquet": column(regions, "parent", [5] * len(regions))}
    return {"partition.parquet": column(regions, "number", [-3] * len(regions))}


def far_places(_: Any, __: Any, numbers: pa.Table) -> dict[str, pa.Table]:
    return {"measurements.parquet": column(numbers, "place", [10**9] * len(numbers))}


def bad_reach(manifest: dict[str, Any], _: Any, __: Any) -> None:
    manifest["measurements"][0]["max_contribution"] = -1


def table_shape(manifest: dict[str, Any], _: Any, __: Any) -> None:
    manifest["partition"] = "grid"


def no_shape(manifest: dict[str, Any], _: Any, __: Any) -> None:
    manifest["partition"] = "cloud"


@pytest.mark.parametrize("edit", [moved_parent, far_places, bad_reach, table_shape, no_shape])
def test_strange_files_are_refused(
    release: TransactionsRelease, tmp_path: Path, edit: Callable[..., Any]
) -> None:
    release.save(tmp_path / "out")
    change(tmp_path / "out", edit)
    with pytest.raises(ReleaseError):
        Release.load(tmp_path / "out")


def fails(release: TransactionsRelease, **changes: Any) -> set[str]:
    return {check.name for check in verify(replace(release, **changes)).checks if not check.ok}


def test_less_noise_than_was_paid_for_is_found(release: TransactionsRelease) -> None:
    for place, measurement in enumerate(release.measurements):
        finer = replace(measurement, unit=measurement.unit * 2)
        changed = list(release.measurements)
        changed[place] = finer
        assert "measurements" in fails(release, measurements=tuple(changed))


def test_a_smaller_reach_or_a_second_use_is_found(release: TransactionsRelease) -> None:
    for place, measurement in enumerate(release.measurements):
        changed = list(release.measurements)
        changed[place] = replace(measurement, max_contribution=measurement.max_contribution + 5)
        assert "measurements" in fails(release, measurements=tuple(changed))
        twice = (*release.measurements, measurement)
        assert "measurements" in fails(release, measurements=twice)


def test_charges_that_are_left_out_or_moved_are_found(release: TransactionsRelease) -> None:
    entries = release.ledger["entries"]
    for place, entry in enumerate(entries):
        fewer = [*entries[:place], *entries[place + 1 :]]
        assert fails(release, ledger=release.ledger | {"entries": fewer})
        cheap = [*entries]
        cheap[place] = entry | {"units": entry["units"] // 2}
        assert fails(release, ledger=release.ledger | {"entries": cheap})


def test_paths_that_say_otherwise_are_found(release: TransactionsRelease) -> None:
    paths = release.ledger["paths"]
    assert fails(release, ledger=release.ledger | {"paths": paths[1:]})
    more = [paths[0] | {"leaves": paths[0]["leaves"] + 1}, *paths[1:]]
    assert fails(release, ledger=release.ledger | {"paths": more})


@pytest.mark.parametrize("limit", [1, 2, 100_000])
@pytest.mark.parametrize("seed", range(5))
def test_a_paper_release_without_a_leaf_passes(limit: int, seed: int, tmp_path: Path) -> None:
    (tmp_path / "shop.dat").write_text("1 5 9\n")
    method = DiffPart(schedule="paper", max_partitions=limit)
    found = hr.publish(tmp_path / "shop.dat", shop_of(27), method, 1, seed=seed)
    found = replace(found, guarantee=found.guarantee | {"private": True})
    assert limit > 2 or not len(found.measurements[0].where)
    assert fails(found) == set()


def forged(release: TransactionsRelease, *purposes: str) -> TransactionsRelease:
    """The release as if these purposes had never been paid for: a smaller budget, added up."""
    ledger = json.loads(json.dumps(release.ledger))
    ledger["entries"] = [e for e in ledger["entries"] if e["purpose"] not in purposes]
    for path in ledger["paths"]:
        for purpose in purposes:
            path["spent"]["epsilon"].pop(purpose)
    ledger["budgets"]["epsilon"]["units"] = sum(ledger["paths"][0]["spent"]["epsilon"].values())
    kept = tuple(m for m in release.measurements if m.name not in purposes)
    return replace(release, ledger=ledger, measurements=kept)


def test_regions_that_nobody_paid_for_are_found(files: Path) -> None:
    for name, purposes in (
        ("whole", ["size"]),
        ("core", ["size", "support"]),
        ("tree", ["size", "support", "gate"]),
    ):
        found = hr.publish(files, shop_of(8), method=METHODS[name], epsilon=1, seed=4)
        found = replace(found, guarantee=found.guarantee | {"private": True})
        assert fails(found) == set()
        for some in [[one] for one in purposes] + [purposes]:
            assert fails(forged(found, *some)) == {"accounts"}


def test_the_reach_of_supports_is_that_of_the_settings(files: Path) -> None:
    """As if a record counted for fewer supports: a finer noise would then be paid for."""
    for name in ("core", "tree"):
        found = hr.publish(files, shop_of(8), method=METHODS[name], epsilon=1, seed=4)
        found = replace(found, guarantee=found.guarantee | {"private": True})
        for place, support in enumerate(found.measurements):
            if support.name != "support":
                continue
            assert support.max_contribution > 1
            changed = [*found.measurements]
            changed[place] = replace(support, max_contribution=support.max_contribution - 1)
            assert fails(found, measurements=tuple(changed)) == {"measurements"}


def test_shares_are_those_of_the_method() -> None:
    for kind in ("core", "small", "tree"):
        variant = "tree" if kind == "tree" else "core"
        supports = {"tree": diffpart.TREE_SUPPORT_UNITS, "core": support_units(9, Fraction(1), 9)}
        shares = {"size": diffpart.SIZE_UNITS[kind], "support": supports[variant]}
        shares |= {"gate": diffpart.GATE_UNITS} if kind == "tree" else {}
        held = rules.SHARES[kind]
        assert {key: percent * diffpart.UNITS // 100 for key, percent in held.items()} == shares
    assert rules.SHARES["few"] == {"size": rules.SHARES["small"]["size"]}
    assert rules.SHARES["whole"] == {"size": rules.SHARES["core"]["size"]}


@pytest.mark.parametrize("rows", [0, 1_999, 2_000, 2_001, 3_333, 5_600, 10**9])
def test_crowded_items_need_less(rows: int) -> None:
    """The method and `verify` work out the same share, each by its own arithmetic."""
    crowd = Fraction(rows, 20)
    part = Fraction(rules.SHARES["core"]["support"], 100)
    if crowd > rules.CROWD:
        part = max(rules.LEAST, part * rules.CROWD / crowd)
    assert support_units(10, Fraction(1, 2), rows) == int(part * diffpart.UNITS)


def test_a_crowded_release_has_its_own_shares() -> None:
    """4,000 records of 20 items at epsilon 2: 400 for each item, give or take 20 with certainty
    but for 1e-6, since their number has noise of a scale of 10 in each of some 10 bins."""
    random = np.random.default_rng(1)
    lists = [sorted(random.choice(20, 3, replace=False).tolist()) for _ in range(4_000)]
    labels = [[str(code + 1) for code in one] for one in lists]
    found = hr.publish(pa.table({"items": labels}), shop_of(20), hr.DiffPart(), 2, seed=1)
    found = replace(found, guarantee=found.guarantee | {"private": True})
    spent = {entry["purpose"]: entry["units"] for entry in found.ledger["entries"]}
    assert 419_000 < spent["support"] < 461_000
    assert verify(found).ok


def test_another_share_is_found(release: TransactionsRelease) -> None:
    """What is taken from one purpose is given to the counts, whose noise is then just right."""
    if release.settings["schedule"] == "paper-1":
        return
    counts = release.measurements[-1].name
    for purpose in {e["purpose"] for e in release.ledger["entries"]} - {counts}:
        ledger = json.loads(json.dumps(release.ledger))
        for entry in ledger["entries"]:
            entry["units"] += {purpose: -1, counts: 1}.get(entry["purpose"], 0)
        for path in ledger["paths"]:
            path["spent"]["epsilon"][purpose] -= 1
            path["spent"]["epsilon"][counts] += 1
        found = verify(replace(release, ledger=ledger)).checks
        assert any("another share of the budget" in check.words for check in found)


@pytest.fixture(scope="module")
def in_rho(files: Path) -> TransactionsRelease:
    found = hr.publish(files, shop_of(8), hr.DiffPart(core=3, cap=8), 1, "0.009", seed=4)
    return replace(found, guarantee=found.guarantee | {"private": True})


def test_a_delta_makes_supports_gaussian_where_that_is_less(
    in_rho: TransactionsRelease, tmp_path: Path
) -> None:
    laws = {found.name: found.law for found in in_rho.measurements}
    assert laws == {
        "size": "laplace", "support": "gaussian", "cell": "laplace",
    }  # fmt: skip
    assert in_rho.guarantee["delta"] == "9/1000"
    in_rho.save(tmp_path / "out")
    assert Release.load(tmp_path / "out").measurements == in_rho.measurements
    assert verify(in_rho).ok


def test_gaussian_noise_that_was_not_paid_for_is_found(in_rho: TransactionsRelease) -> None:
    """Finer noise, another cap, another law, and a budget that pays for something else."""
    for place, found in enumerate(in_rho.measurements):
        changes: list[dict[str, Any]] = [{"units": found.units * 2}]
        changes.append({"law": "laplace" if found.law == "gaussian" else "gaussian"})
        if found.max_contribution > 1:
            changes.append({"max_contribution": found.max_contribution - 1})
        for change in changes:
            changed = [*in_rho.measurements]
            changed[place] = replace(found, **change)
            assert "measurements" in fails(in_rho, measurements=tuple(changed)), (found, change)


@pytest.mark.slow
def test_intervals_with_gaussian_noise_hold(files: Path) -> None:
    """200 items at 95% are below 0.88 with probability 2e-5; one release's items are independent
    but for the sizes, which have a part of the error of their own."""
    lines = [set(line.split()) for line in files.read_text().splitlines()]
    true = np.array([sum(str(item) in line for line in lines) for item in range(1, 9)])
    held = []
    for seed in range(25):
        found = hr.publish(files, shop_of(8), hr.DiffPart(core=3), 1, "1e-6", seed=seed)
        answers = found.count([[str(item)] for item in range(1, 9)])
        held.append((answers.low <= true) & (true <= answers.high))
    assert np.mean(held) > 0.88


@pytest.mark.parametrize("kind", ["whole", "core", "tree"])
def test_groups_of_a_taxonomy_can_be_counted(kind: str, tmp_path: Path) -> None:
    """Intervals at 1 - 1e-6, which three groups leave with probability 3e-6 at most."""
    goods = {"dairy": ["milk", "butter", "cream"], "bread": ["rye", "roll"], "tea": None}
    shop = Schema.from_dict({"name": "shop", "unit": "row", "items": {"taxonomy": goods}})
    labels = np.array(shop.items.labels)  # type: ignore[union-attr]
    random = np.random.default_rng(7)
    held = random.random((4000, len(labels))) < 0.25
    held = held[held.any(axis=1)]
    text = "".join(" ".join(labels[one]) + "\n" for one in held)
    (tmp_path / "shop.dat").write_text(text)
    found = hr.publish(tmp_path / "shop.dat", shop, METHODS[kind], 4, seed=3)
    dairy, bread = held[:, :3].any(axis=1), held[:, 3:5].any(axis=1)
    exact = np.array([dairy.sum(), bread.sum(), (dairy & held[:, 5]).sum(), len(held)])
    answers = found.count(["dairy", "bread", ["dairy", "tea"], []], level=1 - 1e-6)
    assert (answers.low <= exact).all() and (exact <= answers.high).all()
    assert np.abs(answers.estimate / exact - 1).max() < 0.25
    # no group is in more records than there are, and an item's own group says nothing more
    usual = found.count([["dairy"], [], ["milk"], ["milk", "dairy"]])
    assert usual.high[0] <= 1.05 * usual.high[1]
    assert usual.high[2] == usual.high[3] and usual.estimate[2] == usual.estimate[3]
    with pytest.raises(UsageError, match="not an item"):
        found.count(["fruit"])
