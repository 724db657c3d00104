from __future__ import annotations

import copy
import hashlib
import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import ReleaseError
from hedgerow.estimate.measurements import epsilon_from_rho, exact, group_delta, in_words
from hedgerow.estimate.partition import GridPartition
from hedgerow.present.report import facts
from hedgerow.present.words import guarantee
from hedgerow.schema import Metadata, Person
from hedgerow.verification import verify


def booked(release, purpose, nodes):
    """The release with entries of a purpose that count the accounts that were charged."""
    ledger = copy.deepcopy(release.ledger)
    for entry in ledger["entries"]:
        if entry["purpose"] == purpose:
            entry["nodes"] = nodes
    return replace(release, ledger=ledger)


@pytest.fixture
def tree_release(tree_release):
    return booked(tree_release, "allocate", 2)  # both children of the root


@pytest.fixture
def grid_release(grid_release):
    return booked(grid_release, "leaf", 1)  # all regions of a grid share one account


def failing(verdict):
    return {check.name for check in verdict.checks if not check.ok}


@pytest.mark.parametrize("kind", ["tree_release", "grid_release", "sparse_release"])
def test_an_honest_release_passes(request, tmp_path, kind):
    release = request.getfixturevalue(kind)
    release.save(tmp_path / "r")
    for source in (release, tmp_path / "r", str(tmp_path / "r")):
        verdict = verify(source)
        assert verdict.ok, failing(verdict)
        assert (verdict.epsilon, verdict.delta) == (1, 0)
        assert any("noise" in words for words in verdict.unchecked)


def test_a_seeded_release_is_refused(tree_release):
    for private in (False, None, "yes"):
        seeded = replace(tree_release, guarantee=tree_release.guarantee | {"private": private})
        assert failing(verify(seeded)) == {"private"}


def test_settings_that_the_method_does_not_have(tree_release):
    more = replace(tree_release, settings=tree_release.settings | {"rows": 1234})
    assert failing(verify(more)) == {"settings"}


def ledger_with(release, change):
    ledger = copy.deepcopy(release.ledger)
    change(ledger)
    return replace(release, ledger=ledger)


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda m: m["paths"][0]["spent"]["epsilon"].update(leaf=7), {"paths", "accounts"}),
        (lambda m: m["paths"][1]["spent"]["epsilon"].update(select=3), {"paths", "accounts"}),
        (
            lambda m: m["paths"][0]["spent"]["epsilon"].update(gift=0.5),
            {"paths", "ledger", "accounts"},
        ),
        (lambda m: m["paths"][0]["spent"]["epsilon"].update(leaf=True), {"paths", "accounts"}),
        (lambda m: m["paths"][0]["spent"].update(rho={"leaf": 1}), {"paths", "ledger", "accounts"}),
        (lambda m: m["paths"].pop(), {"regions", "accounts"}),
        (lambda m: m["paths"].clear(), {"ledger", "paths", "regions", "accounts"}),
        (lambda m: m["paths"][0].update(leaves=2), {"regions", "accounts"}),
        (lambda m: m["budgets"]["epsilon"].update(units=11), {"paths", "guarantee"}),
        (
            lambda m: m["budgets"]["epsilon"].update(unit="1/9"),
            {"guarantee", "measurements", "accounts"},
        ),
        (lambda m: m["entries"].pop(0), {"ledger", "measurements", "accounts"}),
        (lambda m: m["entries"][0].update(budget="gold"), {"ledger", "measurements", "accounts"}),
        (lambda m: m["entries"][0].update(units=-1), {"ledger", "measurements", "accounts"}),
        (lambda m: m.update(person_rows=2), {"guarantee", "unit of protection"}),
        (lambda m: m.update(accounting="magic"), None),
        (lambda m: m.pop("budgets"), None),
        (lambda m: m["budgets"]["epsilon"].update(unit="1e999999999"), None),
    ],
)
def test_a_ledger_that_was_tampered_with_is_caught(tree_release, change, names):
    verdict = verify(ledger_with(tree_release, change))
    assert not verdict.ok
    if names is not None:
        assert failing(verdict) == names


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": "0.999"},
        {"epsilon": "-1"},
        {"epsilon": "nan"},
        {"epsilon": None},
        {"accounting": "zcdp"},
        {"epsilon_decimal": "0.9"},
        {"delta": "1"},
    ],
)
def test_a_promise_that_is_too_good_is_caught(tree_release, change):
    verdict = verify(replace(tree_release, guarantee=tree_release.guarantee | change))
    assert failing(verdict) == {"guarantee"}


def test_a_promise_may_be_modest(tree_release):
    assert verify(replace(tree_release, guarantee=tree_release.guarantee | {"epsilon": "2"})).ok


def with_person(release, rows):
    words = {
        "unit_of_protection": f"one person, with at most {rows} rows",
        "neighbors": "add or remove one person",
    }
    schema = replace(release.schema, unit="person", person=Person("id", rows))
    return replace(release, schema=schema, guarantee=release.guarantee | words)


def test_per_person_the_rows_add_up(tree_release):
    release = ledger_with(with_person(tree_release, 5), lambda m: m.update(person_rows=5))
    assert failing(verify(release)) == {"guarantee"}
    kept = replace(release, guarantee=release.guarantee | {"epsilon": "5"})
    verdict = verify(kept)
    assert verdict.ok
    assert verdict.epsilon == 5
    said = {check.name: check.words for check in verdict.checks}
    assert (
        "epsilon 5, delta 0 for a person with 5 rows, each of which is counted with epsilon 1"
        in said["spending"]
    )
    assert said["guarantee"] == "epsilon 5 and delta 0 are stated, exactly what was recomputed"


@pytest.mark.parametrize(
    "change",
    [
        {"unit_of_protection": "one person, with at most 1 rows"},
        {"unit_of_protection": "the whole village"},
        {"neighbors": "add or remove one person"},
        {"neighbors": None},
        {"began_as_draft": "no"},
        {"began_as_draft": 0},
    ],
)
def test_words_about_who_is_protected_must_be_those_of_the_schema(tree_release, change):
    verdict = verify(replace(tree_release, guarantee=tree_release.guarantee | change))
    assert failing(verdict) == {"unit of protection"}


def test_a_person_cannot_be_hidden_behind_rows(tree_release):
    schema = replace(tree_release.schema, unit="person", person=Person("id", 1))
    assert failing(verify(replace(tree_release, schema=schema))) == {"unit of protection"}


def test_regions_must_have_the_shape_of_their_method(tree_release, grid_release):
    assert failing(verify(replace(tree_release, method="diffgen"))) == {"regions", "accounts"}
    assert failing(verify(replace(grid_release, method="diffmulti"))) == {"regions", "accounts"}
    assert failing(verify(replace(grid_release, method="diffgen"))) == {"accounts"}
    assert verify(replace(grid_release, method="a method of somebody's own")).ok


def test_what_lies_beside_the_release_is_told(tree_release, tmp_path):
    tree_release.save(tmp_path / "r")
    (tmp_path / "r" / "people.csv").write_text("age\n")
    verdict = verify(tmp_path / "r")
    assert failing(verdict) == {"other files"}
    assert any("'people.csv'" in check.words for check in verdict.checks)


def test_the_manifest_lists_the_files_of_a_release(tree_release, tmp_path):
    tree_release.save(tmp_path / "r")
    path = tmp_path / "r" / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    manifest["files"]["people.csv"] = "0" * 64
    path.write_text(json.dumps(manifest), "utf-8")
    assert failing(verify(tmp_path / "r")) == {"other files", "tables", "contents"}


def zcdp(release, rho="1/100", epsilon="1", delta="1/1000000", stated="2", rows=1):
    """Moves the growth of a release to a rho budget."""
    ledger = copy.deepcopy(release.ledger)
    ledger["accounting"] = "zcdp"
    ledger["budgets"] = {
        "epsilon": {"unit": "1/10", "units": 10},
        "rho": {"unit": str(Fraction(rho) / 5), "units": 5},
    }
    ledger["conversion"] = {"rho": rho, "epsilon": epsilon, "delta": delta}
    ledger["person_rows"] = rows
    ledger["entries"].append(
        {"purpose": "select", "budget": "rho", "depth": 0, "units": 5, "nodes": 1}
    )
    for path in ledger["paths"]:
        path["spent"]["rho"] = {"select": 5}
    guarantee = release.guarantee | {
        "epsilon": stated,
        "delta": "1/1000000",
        "accounting": "zcdp",
    }
    return replace(release, ledger=ledger, guarantee=guarantee)


def test_zcdp_is_converted_anew(grid_release):
    verdict = verify(zcdp(grid_release))
    assert verdict.ok, failing(verdict)
    cost = epsilon_from_rho(Fraction(1, 100), Fraction(1, 10**6))
    assert verdict.epsilon == 1 + cost
    assert verdict.delta == Fraction(1, 10**6)
    assert failing(verify(zcdp(grid_release, epsilon="0.5"))) == {"spending"}
    assert failing(verify(zcdp(grid_release, stated="1.5"))) == {"guarantee"}
    assert failing(verify(zcdp(grid_release, delta="1/100000"))) == {"guarantee"}
    assert failing(verify(zcdp(grid_release, delta="0"))) == {"spending"}
    short = zcdp(grid_release)
    short.ledger["conversion"]["rho"] = "1/200"
    assert failing(verify(short)) == {"spending"}
    spent = zcdp(grid_release)
    spent.ledger["paths"][0]["spent"]["rho"]["select"] = 6
    assert failing(verify(spent)) == {"paths", "accounts"}


def test_zcdp_per_person_grows_delta_too(grid_release):
    grid_release = with_person(grid_release, 2)
    assert failing(verify(zcdp(grid_release, stated="4", rows=2))) == {"guarantee"}
    verdict = verify(zcdp(grid_release, delta="1/10000000", stated="4", rows=2))
    assert verdict.ok, failing(verdict)
    assert Fraction(3, 10**7) < verdict.delta < Fraction(1, 10**6)


def test_a_hidden_draft_is_caught(tree_release):
    drafted = replace(tree_release, schema=replace(tree_release.schema, began_as_draft=True))
    assert failing(verify(drafted)) == {"unit of protection"}
    told = replace(drafted, guarantee=drafted.guarantee | {"began_as_draft": True})
    assert verify(told).ok


def test_an_uncounted_region_is_caught(tree_release):
    rows, allocate, leaf = tree_release.measurements
    some = replace(leaf, where=leaf.where[:2], values=leaf.values[:2], units=leaf.units[:2])
    for counts in ((some,), ()):
        verdict = verify(replace(tree_release, measurements=(rows, allocate, *counts)))
        assert failing(verdict) == {"measurements", "accounts"}


def test_more_precise_counts_than_were_paid_are_caught(tree_release, sparse_release):
    for release in (tree_release, sparse_release):
        *others, leaf = release.measurements
        for change in (
            {"units": leaf.units + 1},
            {"unit": leaf.unit * 2},
            {"unit": Fraction(1, 7)},
        ):
            better = replace(release, measurements=(*others, replace(leaf, **change)))
            assert "measurements" in failing(verify(better))


def test_other_units_for_the_same_price_are_fine(tree_release):
    *others, leaf = tree_release.measurements
    finer = replace(leaf, units=leaf.units * 3, unit=leaf.unit / 3)
    assert verify(replace(tree_release, measurements=(*others, finer))).ok


def test_rows_out_of_order_are_caught(tree_release, sparse_release):
    for release in (tree_release, sparse_release):
        *others, leaf = release.measurements
        klass = None if leaf.klass is None else leaf.klass[::-1]
        back = replace(
            leaf,
            where=leaf.where[::-1],
            values=leaf.values[::-1],
            units=leaf.units[::-1],
            klass=klass,
        )
        assert failing(verify(replace(release, measurements=(*others, back)))) == {"order"}


def test_a_cell_listed_twice_is_caught(sparse_release):
    leaf = sparse_release.measurements[0]
    twice = replace(leaf, where=np.array([0, 0]), klass=np.array([0, 0]))
    assert failing(verify(replace(sparse_release, measurements=(twice,)))) == {"order"}


def test_a_dense_release_of_an_endless_grid_needs_no_memory_to_refuse(grid_release):
    edges = list(grid_release.partition.edges)
    edges[2] = np.arange(grid_release.schema.attributes[2].size + 1, dtype=np.int32)
    release = replace(grid_release, partition=GridPartition(tuple(edges)))
    assert failing(verify(release)) == {"regions", "measurements", "accounts"}


@pytest.mark.parametrize("name", ["table.csv", "regions.parquet", "partition.parquet"])
def test_a_changed_file_is_caught(tree_release, tmp_path, name):
    tree_release.save(tmp_path / "r")
    path = tmp_path / "r" / name
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    assert name in failing(verify(tmp_path / "r"))


def test_counts_that_do_not_follow_are_caught_though_the_hash_fits(tree_release, tmp_path):
    tree_release.save(tmp_path / "r")
    path = tmp_path / "r" / "table.csv"
    lines = path.read_text("utf-8").splitlines()
    lines[1] = lines[1].rsplit(",", 1)[0] + ",9999"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    manifest = json.loads((tmp_path / "r" / "manifest.json").read_text("utf-8"))
    manifest["files"]["table.csv"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (tmp_path / "r" / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    assert failing(verify(tmp_path / "r")) == {"counts"}


def test_typed_counts_that_do_not_follow_are_caught_too(tree_release, tmp_path):
    tree_release.save(tmp_path / "r")
    path = tmp_path / "r" / "regions.parquet"
    table = pq.read_table(path)
    more = pa.array([count + 1 for count in table["count"].to_pylist()])
    pq.write_table(table.set_column(table.num_columns - 1, "count", more), path)
    manifest = json.loads((tmp_path / "r" / "manifest.json").read_text("utf-8"))
    manifest["files"]["regions.parquet"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (tmp_path / "r" / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    assert failing(verify(tmp_path / "r")) == {"counts"}


def test_a_changed_schema_is_caught(tree_release, tmp_path):
    tree_release.save(tmp_path / "r")
    path = tmp_path / "r" / "manifest.json"
    path.write_text(path.read_text("utf-8").replace('"Lawyer"', '"Judge"'), "utf-8")
    assert failing(verify(tmp_path / "r")) == {"schema", "contents"}


def test_without_a_manifest_there_is_nothing_to_verify(tmp_path):
    with pytest.raises(ReleaseError):
        verify(tmp_path)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(1, 10**6), st.integers(1, 12))
def test_the_conversion_is_sound_and_the_best_of_many_orders(millionths, digits):
    rho, delta = Fraction(millionths, 10**6), Fraction(1, 10**digits)
    got = float(epsilon_from_rho(rho, delta))
    log = digits * math.log(10)
    assert got <= float(rho) + 2 * math.sqrt(float(rho) * log) + 1e-9
    orders = 1 + np.geomspace(1e-2, 1e6, 4000)
    tight = orders * float(rho) + (log - np.log(orders)) / (orders - 1) + np.log1p(-1 / orders)
    assert got <= max(0, tight.min()) + 1e-9
    assert got >= max(0, tight.min()) - 1e-4 * (1 + abs(tight.min()))


def test_the_conversion_meets_known_values():
    for epsilon, rho in ((1, "0.0244"), (0.5, "0.00664")):
        got = epsilon_from_rho(Fraction(rho), Fraction(1, 10**6))
        assert float(got) == pytest.approx(epsilon, rel=2e-3)
    assert epsilon_from_rho(Fraction(0), Fraction(1, 10)) == 0


def test_group_delta_is_never_too_small():
    got = group_delta(Fraction(1, 2), Fraction(1, 10**6), 4)
    assert float(got) == pytest.approx(1e-6 * sum(math.exp(k / 2) for k in range(4)))
    assert group_delta(Fraction(100), Fraction(1, 2), 10**6) == 1
    assert group_delta(Fraction(1), Fraction(1, 9), 1) == Fraction(1, 9)


@pytest.mark.parametrize(
    "text", ["", "nan", "inf", "-1", "1/0", "1e99999", "1" * 500, 1.5, None, True, "1_0", " 1"]
)
def test_numbers_of_strangers_are_read_with_care(text):
    with pytest.raises(ValueError, match="number"):
        exact(text)


def test_numbers_for_people_are_never_rounded_down():
    assert in_words(Fraction(2, 3)) == "0.666667"
    assert in_words(Fraction(1, 3)) == "0.333334"
    assert in_words(Fraction(1, 10**6)) == "0.000001"
    assert in_words(Fraction(0)) == "0"


def test_a_sign_off_of_another_schema(tree_release):
    schema = tree_release.schema
    told = {"reviewer": "Ada", "reviewed": "2026-01-31"}

    def named(**more):
        return replace(tree_release, schema=replace(schema, metadata=Metadata(**told, **more)))

    for honest in (named(), named(signed=schema.fingerprint)):
        verdict = verify(honest)
        assert verdict.ok and any("states who signed it off" in one.words for one in verdict.checks)
        assert any("Ada" in line for line in guarantee(honest))
    false = named(signed="0" * 32)
    verdict = verify(false)
    (failed,) = (one for one in verdict.checks if not one.ok)
    assert "signed off another schema" in failed.words
    assert not any("Ada" in line for line in guarantee(false))
    assert not any("Ada" in words for _, words in facts(false.schema))
