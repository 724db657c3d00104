"""`verify` of Marginals: honest releases pass, and each lie is caught by the rule meant for it."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from hedgerow import Schema, publish
from hedgerow.errors import ReleaseError, UsageError
from hedgerow.estimate import graphical
from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.partition import csv_blocks
from hedgerow.estimate.tables import ROUNDS, Cells
from hedgerow.methods import marginals
from hedgerow.methods.marginals import Marginals
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.ledger import Ledger
from hedgerow.release import Release
from hedgerow.release.files import digest
from hedgerow.verification import verify
from hedgerow.verification.marginals import _choices, _share, _Shares

ATTRIBUTES: dict[str, Any] = {
    "age": {"type": "numeric", "low": 0, "high": 399, "step": 1},
    "pay": {"type": "numeric", "low": 0, "high": 63, "step": 1, "missing": "other"},
    "job": {"type": "categorical", "values": list("abcdefgh")},
    "home": {"type": "categorical", "values": list("uvwxyz")},
    "flat": {"type": "numeric", "low": 0, "high": 1, "step": 2},  # a single code
    "ill": {"type": "boolean", "role": "class"},
}
UNCLASSED = {name: given for name, given in ATTRIBUTES.items() if name != "ill"}
PEOPLE = ATTRIBUTES | {"who": {"role": "person", "max_rows": 3}}
RULES = ["age < 20 implies job = a"]
TABLES = ["job home", {"attributes": ["pay", "ill"], "weight": 3}]


def made(
    epsilon: str = "8",
    delta: str = "0",
    rows: int = 3000,
    attributes: dict[str, Any] = ATTRIBUTES,
    classes: int = 2,
    **more: Any,
) -> Any:
    """A release that says it is private, of a run that can be repeated."""
    rng = np.random.default_rng(rows)
    age = np.minimum(399, rng.exponential(40, rows).astype(np.int64))
    job = np.where(age < 20, 0, np.minimum(7, rng.exponential(1.5, rows).astype(np.int64)))
    home = (job * 3 + (rng.random(rows) < 0.2)) % 6
    columns = {
        "age": pa.array(age),
        "pay": pa.array(np.minimum(63, age // 8 + rng.integers(0, 9, rows))),
        "job": pa.array([list("abcdefgh")[j] for j in job]),
        "home": pa.array([list("uvwxyz")[code] for code in home]),
        "flat": pa.array(np.zeros(rows, np.int64)),
        "ill": pa.array([f"c{c}" for c in (age // 30 + rng.integers(0, 2, rows)) % classes]),
        "who": pa.array(rng.integers(0, 1 + rows // 2, rows)),
    }  # fmt: skip
    attributes = copy.deepcopy(attributes)
    if "ill" in attributes:
        values = [f"c{c}" for c in range(classes)]
        attributes["ill"] = {"type": "categorical", "values": values, "role": "class"}
    pairs = more.pop("pairs", None)
    unit = "person" if "who" in attributes else "row"
    schema = Schema.from_dict({"name": "s", "unit": unit, "attributes": attributes, **more})
    table = pa.table({name: column for name, column in columns.items() if name in attributes})
    release = publish(
        table, schema, Marginals(pairs=pairs), epsilon, delta, seed=7, allow_empty=True
    )
    return replace(release, guarantee=release.guarantee | {"private": True})


def failing(release: Any) -> dict[str, str]:
    return {check.name: check.words for check in verify(release).checks if not check.ok}


KINDS = {
    "pure": {"epsilon": "2.4", "rules": RULES},
    "more": {"epsilon": "40", "pairs": 6, "rules": RULES},
    "delta": {"delta": "1e-6", "tables": TABLES, "rules": RULES},
    "many classes": {"classes": 6, "delta": "1e-6"},
    "no class": {
        "attributes": {name: ATTRIBUTES[name] for name in ("age", "job", "home", "pay")},
        "tables": ["job home"],
    },
}


@pytest.fixture(scope="module")
def releases() -> dict[str, Any]:
    return {name: made(**how) for name, how in KINDS.items()}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_honest_releases_pass(releases: dict[str, Any], kind: str, tmp_path: Path) -> None:
    release = releases[kind]
    assert failing(release) == {}
    release.save(tmp_path / "r")
    assert failing(tmp_path / "r") == {}
    assert Release.load(tmp_path / "r") == release


def test_the_releases_hold_what_the_rules_are_about(releases: dict[str, Any]) -> None:
    """Or nothing would be shown."""
    names = {name: {m.name: m for m in release.measurements} for name, release in releases.items()}
    assert {"by_class", "fine", "pairs", "again"} <= names["pure"].keys()
    assert {"by_class", "fine", "pairs", "more_pairs"} <= names["more"].keys()
    assert {"by_class", "named", "fine", "pairs", "more_pairs"} <= names["delta"].keys()
    assert {"single", "by_class", "fine", "pairs"} <= names["many classes"].keys()
    assert {"single", "named", "fine"} <= names["no class"].keys()
    for release in releases.values():
        assert np.bincount(release.partition.group[0]).max() > 1
    categories = releases["pure"].partition.group[2]
    assert np.bincount(categories).max() > 1
    assert releases["delta"].settings["chosen"]["pairs"] >= 3


@pytest.mark.parametrize(
    "how",
    [
        {"rows": 0},
        {"rows": 40, "epsilon": "1/1000", "delta": "1e-9", "tables": TABLES},
        {"rows": 300, "epsilon": "1", "tables": TABLES},
        {"rows": 300, "epsilon": "3", "pairs": 4, "rules": RULES},
        {"rows": 600, "epsilon": "30", "attributes": PEOPLE},
        {"rows": 60, "attributes": {"flat": ATTRIBUTES["flat"], "ill": {}}},
        {"rows": 900, "classes": 9, "epsilon": "1/10"},
        {"rows": 200, "classes": 6, "epsilon": "10", "pairs": 50, "rules": RULES},
        {"rows": 2000, "attributes": UNCLASSED, "epsilon": "90", "delta": "1e-6", "pairs": 5},
        {"rows": 700, "attributes": UNCLASSED, "epsilon": "3", "delta": "1e-6", "rules": RULES},
        {"rows": 2000, "attributes": PEOPLE, "epsilon": "40", "delta": "1e-6", "tables": TABLES},
        {"rows": 9000, "epsilon": "1", "delta": "1e-6"},
        {"rows": 1, "epsilon": "90", "delta": "1e-6", "pairs": 1},
    ],
    ids=["empty", "little", "small", "by hand", "people", "one value", "many classes, little",
         "all pairs", "unclassed", "unclassed, rules", "people, named", "many rows", "one"],
)  # fmt: skip
def test_honest_releases_of_plain_schemas_pass(how: dict[str, Any]) -> None:
    assert failing(made(**how)) == {}


# forgeries --------------------------------------------------------------------------------------


def changed(release: Any, name: str, **changes: Any) -> Any:
    """The release with another measurement of a name; each change is a function of the old one."""
    several = tuple(
        replace(m, **{key: change(m) for key, change in changes.items()}) if m.name == name else m
        for m in release.measurements
    )
    return replace(release, measurements=several)


def booked(release: Any, change: Any) -> Any:
    """The release with other books, and paths that fit what was booked."""
    ledger = json.loads(json.dumps(release.ledger))
    change(ledger)
    spent: dict[str, dict[str, int]] = {budget: {} for budget in ledger["budgets"]}
    for entry in ledger["entries"]:
        by = spent[entry["budget"]]
        by[entry["purpose"]] = by.get(entry["purpose"], 0) + entry["units"] * entry["nodes"]
    for budget, purposes in spent.items():
        ledger["budgets"][budget]["units"] = sum(purposes.values())
    ledger["paths"] = [{"leaves": 1, "spent": spent}]
    return replace(release, ledger=ledger)


def without(release: Any, purpose: str, keep: bool = False) -> Any:
    """The release as if a purpose had never been paid for: a smaller budget, well added up."""

    def drop(ledger: dict[str, Any]) -> None:
        ledger["entries"] = [e for e in ledger["entries"] if e["purpose"] != purpose]

    kept = tuple(m for m in release.measurements if keep or m.name != purpose)
    return replace(booked(release, drop), measurements=kept)


def names_of(release: Any) -> list[str]:
    return [m.name for m in release.measurements]


@pytest.mark.parametrize("factor", [2, 10**6, Fraction(1001, 1000)])
@pytest.mark.parametrize("kind", KINDS)
def test_less_noise_than_was_paid_for(releases: dict[str, Any], kind: str, factor: Any) -> None:
    for name in names_of(releases[kind]):
        better = changed(releases[kind], name, unit=lambda m: m.unit * Fraction(factor))
        assert "at a price that was not booked" in failing(better)["measurements"], name


@pytest.mark.parametrize("kind", KINDS)
def test_tables_that_are_paid_as_one(releases: dict[str, Any], kind: str) -> None:
    """Each with the noise that the whole charge buys, which is said to be of one table."""
    for m in releases[kind].measurements:
        if m.max_contribution > 1:
            better = changed(
                releases[kind], m.name,
                unit=lambda m: m.unit * m.max_contribution, max_contribution=lambda m: 1,
            )  # fmt: skip
            assert "another number of tables" in failing(better)["measurements"], m.name


@pytest.mark.parametrize("kind", KINDS)
def test_less_noise_on_one_cell(releases: dict[str, Any], kind: str) -> None:
    for m in releases[kind].measurements:
        if m.name not in ("rows", "named"):
            units = m.units.copy()
            units[-1] += 1
            better = changed(releases[kind], m.name, units=lambda m, units=units: units)
            assert set(failing(better)) & {"measurements", "tables"}, m.name


def test_less_noise_in_one_named_table(releases: dict[str, Any]) -> None:
    """Prices are told apart: the cheap table's noise cannot be that of the dear one."""
    release = releases["delta"]
    dear = next(m for m in release.measurements if m.name == "named").units.max()
    better = changed(release, "named", units=lambda m: np.full_like(m.units, dear))
    assert "named was counted at a price" in failing(better)["measurements"]
    both = changed(release, "named", max_contribution=lambda m: 2)
    assert "together with others" in failing(both)["measurements"]

    def merged(ledger: dict[str, Any]) -> None:
        ones = [e for e in ledger["entries"] if e["purpose"] == "named"]
        ones[0]["units"] += ones[1]["units"]
        ledger["entries"].remove(ones[1])

    assert "one by one" in failing(booked(release, merged))["measurements"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_nobody_paid_for(releases: dict[str, Any], kind: str) -> None:
    for name in names_of(releases[kind]):
        forged = failing(without(releases[kind], name, keep=True))
        assert "different things" in forged["measurements"], name
        rest = tuple(m for m in releases[kind].measurements if m.name != name)
        assert "measurements" in failing(replace(releases[kind], measurements=rest)), name
    extra = Measurement(
        name="extra", at="cell", where=np.arange(2), values=np.zeros((2, 1), np.int64),
        by_class=False, units=np.ones(2, np.int64), unit=Fraction(1), tables=((0,),),
    )  # fmt: skip
    release = releases[kind]
    assert failing(replace(release, measurements=(*release.measurements, extra)))
    twice = (*release.measurements, release.measurements[-1])
    assert "twice" in " ".join(failing(replace(release, measurements=twice)).values())


def test_choices_that_nobody_paid_for(releases: dict[str, Any]) -> None:
    for release in releases.values():
        if release.settings["chosen"]["pairs"]:
            forged = without(release, "relate")
            assert failing(forged).keys() == {"accounts"}  # all else adds up
            assert "than choices were paid for" in failing(forged)["accounts"]
            assert verify(forged).epsilon < verify(release).epsilon


def fewer(ledger: dict[str, Any]) -> None:
    relate = next(e for e in ledger["entries"] if e["purpose"] == "relate")
    relate["nodes"] = max(1, relate["nodes"] - 3)


def more(ledger: dict[str, Any]) -> None:
    next(e for e in ledger["entries"] if e["purpose"] == "relate")["nodes"] += 3


def unlike(ledger: dict[str, Any]) -> None:
    relate = next(e for e in ledger["entries"] if e["purpose"] == "relate")
    ledger["entries"].append(relate | {"units": relate["units"] - 1, "nodes": 1})
    relate["nodes"] -= 1


def deeper(ledger: dict[str, Any]) -> None:
    next(e for e in ledger["entries"] if e["purpose"] == "pairs")["depth"] = 1


def in_epsilon(ledger: dict[str, Any]) -> None:
    next(e for e in ledger["entries"] if e["purpose"] == "relate")["budget"] = "epsilon"


@pytest.mark.parametrize("lie", [fewer, more, unlike, deeper, in_epsilon])
def test_books_that_do_not_show_the_choices(releases: dict[str, Any], lie: Any) -> None:
    assert failing(booked(releases["delta"], lie)).keys() & {"accounts"}


def test_rows_that_were_not_counted_first(releases: dict[str, Any]) -> None:
    for release in releases.values():
        assert "number of rows" in " ".join(failing(without(release, "rows")).values())


def test_paths_that_the_entries_do_not_show(releases: dict[str, Any]) -> None:
    ledger = copy.deepcopy(releases["pure"].ledger)
    spent = ledger["paths"][0]["spent"]["epsilon"]
    spent["pairs"], spent["fine"] = spent["pairs"] + 1, spent["fine"] - 1
    assert failing(replace(releases["pure"], ledger=ledger)).keys() == {"accounts"}
    ledger = copy.deepcopy(releases["pure"].ledger)
    ledger["paths"].append(ledger["paths"][0])
    assert "accounts" in failing(replace(releases["pure"], ledger=ledger))


def tables_as(release: Any, name: str, tables: Any) -> dict[str, str]:
    """What fails if a measurement has other tables, with as many cells as they need."""
    cells = release.partition
    grouped = name in ROUNDS
    size = sum(int(np.prod(cells.shape(one, grouped=grouped))) for one in tables)

    def repeated(m: Any) -> Any:
        return np.resize(m.units, size)

    forged = changed(
        release, name, tables=lambda m: tuple(tables), where=lambda m: np.arange(size),
        units=repeated, values=lambda m: np.resize(m.values, (size, 1)),
        max_contribution=lambda m: len(tables) if name != "named" else 1,
        unit=lambda m: m.unit / 1000,
    )  # fmt: skip
    return failing(forged)


def of(release: Any, name: str) -> Any:
    return next(m for m in release.measurements if m.name == name)


def test_tables_that_no_run_counts(releases: dict[str, Any]) -> None:
    pure, delta, many = releases["pure"], releases["delta"], releases["many classes"]
    last = pure.partition.attributes
    by_class = of(pure, "by_class").tables
    for tables in (by_class[1:], (*by_class, by_class[0]), [(0, 1), *by_class[1:]]):
        assert "by_class holds other tables" in tables_as(pure, "by_class", tables)["measurements"]
    single = of(many, "single").tables
    assert "single holds other tables" in tables_as(many, "single", single[1:])["measurements"]
    named = of(delta, "named").tables
    for tables in (named[::-1], [named[0], named[0]], [named[0], (1, 0)]):
        assert "named" in tables_as(delta, "named", tables)["measurements"]
    pairs = of(pure, "pairs").tables
    for tables in ([(last, 0)], [(4, 0)], [pair[::-1] for pair in pairs]):
        assert "no pair" in tables_as(pure, "pairs", tables)["measurements"]
    pairs, more = (of(releases["more"], name).tables for name in ("pairs", "more_pairs"))
    words = tables_as(releases["more"], "more_pairs", [*pairs[:1], *more[1:]])["measurements"]
    assert "twice" in words
    more = [pair[:2] for pair in more]
    for also in ([(*more[0], last)], [(*pairs[0], last), pairs[0]]):
        words = tables_as(releases["more"], "more_pairs", [*more, *also])["measurements"]
        assert "twice" in words
    words = tables_as(releases["more"], "more_pairs", [(*more[0], 2), *more[1:]])["measurements"]
    assert "no class" in words


def test_pairs_that_close_a_ring_before_all_are_joined(releases: dict[str, Any]) -> None:
    words = tables_as(releases["pure"], "pairs", [(1, 0), (2, 0), (2, 1)])["measurements"]
    assert "closes a ring" in words
    # what the schema names joins, too
    assert [one.places for one in releases["delta"].schema.tables][0] == (2, 3)
    words = tables_as(releases["delta"], "pairs", [(3, 2), (1, 0)])["measurements"]
    assert "closes a ring" in words


def test_a_last_step_that_no_run_takes(releases: dict[str, Any]) -> None:
    pure = releases["pure"]
    tables = of(pure, "again").tables[1:]
    assert "counted again" in tables_as(pure, "again", tables)["measurements"]
    alone = [(a,) for a, _ in of(pure, "again").tables]
    assert "counted again" in tables_as(pure, "again", alone)["measurements"]
    twin = replace(of(pure, "again"), name="more_pairs", tables=())
    more = replace(pure, measurements=(*pure.measurements, twin))
    assert failing(more)
    without_pairs = without(without(pure, "again"), "pairs")
    assert "last step" in failing(without_pairs)["measurements"]


def of_booleans() -> Any:
    """A release of many pairs, in all rounds that there are."""
    rng = np.random.default_rng(5)
    codes = rng.random((3000, 18)) < rng.random((6, 18))[rng.integers(0, 6, 3000)]
    attributes = {f"a{n}": {"type": "boolean"} for n in range(18)}
    schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": attributes})
    table = pa.table({f"a{n}": pa.array(codes[:, n]) for n in range(18)})
    release = publish(table, schema, Marginals(pairs=33), 100, seed=7)
    return replace(release, guarantee=release.guarantee | {"private": True})


@pytest.mark.slow
def test_rounds_of_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every round but the last has a name of its own, and none is left out."""
    pairs = of_booleans()
    assert [m.name for m in pairs.measurements][-9:] == [*ROUNDS]
    assert failing(pairs) == {}
    second, third = (of(pairs, name).tables for name in ("second_pairs", "third_pairs"))
    assert "twice" in tables_as(pairs, "third_pairs", [second[0], *third[1:]])["measurements"]
    assert "without the one before" in failing(without(pairs, "second_pairs"))["measurements"]
    for name in ROUNDS:
        better = changed(pairs, name, unit=lambda m: m.unit * 2)
        assert "at a price that was not booked" in failing(better)["measurements"], name
    monkeypatch.setattr(marginals, "A_ROUND", 100)
    once = of_booleans()  # as all were at first: with one round after the first
    assert [m.name for m in once.measurements][-2:] == ["pairs", "more_pairs"]
    assert failing(once) == {}


def test_the_settings_tell_how_many_pairs_there_are(releases: dict[str, Any]) -> None:
    for chosen in ({"pairs": 1}, {}, {"pairs": 3, "score": "max"}):
        settings = releases["pure"].settings | {"chosen": chosen}
        assert failing(replace(releases["pure"], settings=settings))
    settings = releases["pure"].settings | {"note": 7}
    assert "settings" in failing(replace(releases["pure"], settings=settings))


# shares -----------------------------------------------------------------------------------------


def entry(ledger: dict[str, Any], purpose: str) -> dict[str, Any]:
    return next(one for one in ledger["entries"] if one["purpose"] == purpose)


def moved(release: Any, giver: str, taker: str, units: int) -> Any:
    """The release with another share for each of two purposes, and the noise that these buy."""
    old = {name: entry(release.ledger, name)["units"] for name in (giver, taker)}
    new = {giver: old[giver] - units, taker: old[taker] + units}

    def change(ledger: dict[str, Any]) -> None:
        for name, amount in new.items():
            entry(ledger, name)["units"] = amount

    forged = booked(release, change)
    for name in new:
        factor = Fraction(new[name], old[name])
        forged = changed(forged, name, unit=lambda m, factor=factor: m.unit * factor)
    return forged


def test_shares_that_do_not_follow_from_the_number_of_rows(releases: dict[str, Any]) -> None:
    """All is paid and has the noise that was bought: only who got how much is not the rule's."""
    more = releases["more"]
    half = entry(more.ledger, "by_class")["units"] // 2
    pairs = entry(more.ledger, "pairs")["units"] - 1
    forgeries = {
        "half of by_class": moved(more, "by_class", "more_pairs", half),
        "all but a unit of pairs": moved(more, "pairs", "by_class", pairs),
        "a few units": moved(more, "fine", "more_pairs", 3),
        "rows for a unit": moved(more, "rows", "by_class", 999),
    }

    def cheap(ledger: dict[str, Any]) -> None:
        relate = entry(ledger, "relate")
        entry(ledger, "more_pairs")["units"] += (relate["units"] - 1) * relate["nodes"]
        relate["units"] = 1

    forgeries["choices for a unit each"] = booked(more, cheap)
    for name, forged in forgeries.items():
        assert failing(forged).keys() == {"accounts"}, name
        assert "shares" in failing(forged)["accounts"], name

    def larger(ledger: dict[str, Any]) -> None:
        entry(ledger, "more_pairs")["units"] += 500

    assert "cut into" in failing(booked(more, larger))["accounts"]


def test_named_tables_that_have_the_share_of_others(releases: dict[str, Any]) -> None:
    release = releases["delta"]
    named = of(release, "named")
    first = int(np.prod(release.partition.shape(named.tables[0])))
    units = np.where(np.arange(len(named.units)) < first, named.units[-1], named.units[0])
    forged = changed(release, "named", units=lambda m: units)
    assert "named was counted at a price" in failing(forged)["measurements"]

    def even(ledger: dict[str, Any]) -> None:
        ones = [one for one in ledger["entries"] if one["purpose"] == "named"]
        ones[0]["units"], ones[1]["units"] = ones[0]["units"] + 900, ones[1]["units"] - 900

    assert "shares" in failing(booked(release, even))["accounts"]


@pytest.mark.parametrize("classes", [0, 2, 6])
@pytest.mark.parametrize("delta", [0, Fraction(1, 10**6)])
def test_shares_are_those_of_the_method(classes: int, delta: Any) -> None:
    """For any number of rows, budget, tables and pairs: neither side knows the other's numbers."""
    random = np.random.default_rng(classes)
    for _ in range(60):
        n, named = int(random.integers(1, 30)), int(random.integers(0, 6))
        kinds = [{"type": "boolean"}, {"type": "numeric", "low": 0, "high": 99, "step": 1}]
        attributes: dict[str, Any] = {f"a{i}": kinds[random.integers(0, 2)] for i in range(n)}
        if classes:
            values = [f"c{i}" for i in range(classes)]
            attributes["k"] = {"type": "categorical", "values": values, "role": "class"}
        tables = [
            {"attributes": ["a0", f"a{i}"], "weight": float(random.choice([0.01, 1, 7, 100]))}
            for i in range(1, min(n, named + 1))
        ]
        schema = Schema.from_dict(
            {"name": "s", "unit": "row", "attributes": attributes, "tables": tables}
        )
        amount = Fraction(int(10 ** random.uniform(0, 5)), 1000)
        by_hand = None if random.random() < 0.6 else int(random.integers(1, 60))
        plan = Marginals().plan_for(schema, Budget.of(amount, delta))
        budgets = plan.budgets
        rows = int(10 ** random.uniform(0, 8))
        honest = marginals.share_budget(schema, budgets.paying, rows, by_hand)
        stated = SimpleNamespace(
            schema=schema, settings={"pairs": by_hand}, ledger={"accounting": plan.accounting},
            measurements=[SimpleNamespace(name="rows", values=np.array([[rows]]))],
        )  # fmt: skip
        shares = _share(stated, SimpleNamespace(unit=budgets.paying.unit), 1.0, (8, 2))  # type: ignore[arg-type]
        fixed = {"single": honest.single, "by_class": honest.by_class, "fine": honest.fine}
        fixed |= {"relate": honest.choice, **dict(zip(honest.rounds, honest.paid, strict=True))}
        assert shares.units == {
            "rows": (1000,), "named": honest.named, **{k: (v,) for k, v in fixed.items() if v},
        }  # fmt: skip
        assert shares.parts == honest.parts
        assert shares.rounds == dict(zip(honest.rounds, honest.pairs, strict=True))
        if shares.rounds:
            curator = Curator(Ledger(budgets.parts), cast(Any, None))
            curator.ledger.allow(honest.lines(budgets.growth))
            noise = marginals.deviation_of(curator, honest)
            assert shares.noise[0] <= noise <= shares.noise[1]


HONEST = marginals.share_budget
TWINS: dict[str, tuple[str, Any, str]] = {
    "shares of few rows": (
        "share_budget", lambda s, p, rows, by_hand=None: HONEST(s, p, 5, by_hand), "accounts",
    ),
    "shares of many rows": (
        "share_budget", lambda s, p, rows, by_hand=None: HONEST(s, p, 10**6, by_hand), "accounts",
    ),
    "other parts": (
        "share_budget",
        lambda *given: replace(HONEST(*given), parts=48 - HONEST(*given).parts),
        "tables",
    ),
    "half as many groups": ("GROUPING", 0.25, "tables"),
    "much is rare": ("RARE", 200, "tables"),
    "choices for little": ("CHOOSING", 0.05, "accounts"),
    "fewer pairs": ("PER_PAIR_RHO", 1000, "accounts"),
}  # fmt: skip


@pytest.mark.parametrize("twin", TWINS)
def test_twins_of_the_method_that_share_by_other_rules(
    twin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    how: dict[str, Any] = {"rows": 1500, "epsilon": "3", "delta": "1e-6", "rules": RULES}
    name, other, check = TWINS[twin]
    monkeypatch.setattr(marginals, name, other)
    assert check in failing(made(**how))
    monkeypatch.undo()
    assert failing(made(**how)) == {}


@pytest.mark.parametrize("pairs", [2, "x", 0, 1001, True, 6.0])
def test_more_pairs_than_the_settings_say(releases: dict[str, Any], pairs: Any) -> None:
    assert failing(replace(releases["more"], settings=releases["more"].settings | {"pairs": pairs}))


def renamed(release: Any, old: str, new: str) -> Any:
    """The release with another name for a purpose, in its books, too."""

    def change(ledger: dict[str, Any]) -> None:
        entry(ledger, old)["purpose"] = new

    forged = booked(release, change)
    several = (replace(m, name=new) if m.name == old else m for m in forged.measurements)
    return replace(forged, measurements=tuple(several))


def test_steps_that_no_run_takes_in_this_order(releases: dict[str, Any]) -> None:
    more = releases["more"]
    for forged in (
        renamed(more, "more_pairs", "second_pairs"),
        replace(more, measurements=more.measurements[::-1]),
        replace(more, measurements=(*more.measurements[1:], more.measurements[0])),
        without(moved(more, "fine", "more_pairs", 0), "fine"),
    ):
        assert "measurements" in failing(forged)
    paid = entry(more.ledger, "fine")["units"] - 1
    unpaid = moved(more, "fine", "more_pairs", paid)
    assert "in its order" in failing(without(unpaid, "fine"))["measurements"]


def test_pairs_of_a_model_that_a_run_lets_not_become_so_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 41, (20_000, 3))
    codes[:, 1:] = np.where(rng.random((20_000, 2)) < 0.5, codes[:, :1], codes[:, 1:])
    kind = {"type": "categorical", "values": [f"v{code}" for code in range(41)]}
    schema = Schema.from_dict(
        {"name": "s", "unit": "row", "attributes": dict.fromkeys("abc", kind)}
    )
    table = pa.table({n: pa.array([f"v{c}" for c in codes[:, i]]) for i, n in enumerate("abc")})

    def release() -> Any:
        made = publish(table, schema, Marginals(pairs=3), 90, seed=7)
        return replace(made, guarantee=made.guarantee | {"private": True})

    honest = release()
    assert honest.settings["chosen"] == {"pairs": 2}
    assert failing(honest) == {}
    monkeypatch.setattr(marginals, "MOST_CELLS", 10**6)
    forged = release()
    assert forged.settings["chosen"] == {"pairs": 3}
    assert "larger model" in failing(forged)["measurements"]


# what follows -----------------------------------------------------------------------------------


def grouped_as(release: Any, place: int, group: Any) -> dict[str, str]:
    """What fails if an attribute has other groups, and pairs as many cells as these make."""
    groups = list(release.partition.group)
    groups[place] = np.asarray(group, np.int64)
    cells = replace(release.partition, group=tuple(groups))
    forged = replace(release, partition=cells)
    for name in ROUNDS:
        size = sum(
            int(np.prod(cells.shape(one, grouped=True)))
            for m in release.measurements
            for one in m.tables
            if m.name == name
        )
        forged = changed(
            forged, name, where=lambda m, n=size: np.arange(n),
            units=lambda m, n=size: np.resize(m.units, n),
            values=lambda m, n=size: np.resize(m.values, (n, 1)),
        )  # fmt: skip
    return failing(forged)


@pytest.mark.parametrize("kind", KINDS)
def test_groups_that_do_not_follow(releases: dict[str, Any], kind: str) -> None:
    release = releases[kind]
    numbers = release.partition.group[0]
    edge = int(np.flatnonzero(np.diff(numbers))[0])
    moved = numbers.copy()
    moved[edge] += 1  # the last cell of the first group goes to the second
    assert "groups of numbers" in grouped_as(release, 0, moved)["tables"]
    assert "groups of numbers" in grouped_as(release, 0, np.arange(len(numbers)))["tables"]
    assert "groups of numbers" in grouped_as(release, 0, 0 * numbers)["tables"]


def test_categories_that_are_together_though_they_are_not_rare(releases: dict[str, Any]) -> None:
    release = releases["pure"]
    group = release.partition.group[2]
    assert "groups of categories" in grouped_as(release, 2, np.maximum(group - 1, 0))["tables"]
    assert "groups of categories" in grouped_as(release, 2, 0 * group)["tables"]
    split = np.array([0, 1, 2, 3, 4, 5, 5, 6])  # the rarest is left out
    assert group.tolist() == [0, 1, 2, 3, 4, 5, 5, 5]
    assert "groups of categories" in grouped_as(release, 2, split)["tables"]


def test_named_attributes_stay_whole_and_rules_are_kept_apart(releases: dict[str, Any]) -> None:
    group = releases["delta"].partition.group[2]
    assert group.tolist() == list(range(8))
    group = group.copy()
    group[-1] = group[-2]
    assert "stay whole" in grouped_as(releases["delta"], 2, group)["tables"]
    # below 20 and from 20 on; and the first job and all others
    edges, group = releases["pure"].partition.edges[0], releases["pure"].partition.group[0]
    cut = int(np.flatnonzero(edges == 20)[0])
    assert group[cut - 1] != group[cut]
    joined = np.where(group >= group[cut], group - 1, group)
    assert "tables" in grouped_as(releases["pure"], 0, joined)


def test_groups_though_no_pairs_were_thought_of() -> None:
    release = made(rows=300, epsilon="1/10")
    assert not {*ROUNDS, "again"} & {*names_of(release)}
    group = release.partition.group[0].copy()
    group[-1] = group[-2]
    assert "although no pairs" in grouped_as(release, 0, group)["tables"]


def test_cells_that_the_schema_does_not_have(releases: dict[str, Any]) -> None:
    release = releases["no class"]
    edges = [cut.copy() for cut in release.partition.edges]
    edges[0][3] += 1
    forged = replace(release, partition=replace(release.partition, edges=tuple(edges)))
    assert "cells do not follow" in failing(forged)["tables"]
    for parts in (8, 64):
        cells = Cells.of(release.schema, parts)
        assert "tables" in failing(replace(release, partition=cells))


def test_cells_that_were_counted_again_though_they_are_not_full(releases: dict[str, Any]) -> None:
    """All numbers are kept, but the rows by which a cell is full are said to be more, or fewer."""
    for rows in (10**6, 10):
        forged = changed(
            releases["pure"], "rows", values=lambda m, rows=rows: np.full_like(m.values, rows)
        )
        assert failing(forged).keys() & {"recounted", "tables"}
    forged = changed(releases["pure"], "fine", max_contribution=lambda m: m.max_contribution + 1)
    assert "another number of tables" in failing(forged)["measurements"]


# rows -------------------------------------------------------------------------------------------


def with_table(folder: Path, table: pa.Table, name: str = "rows.parquet") -> dict[str, str]:
    pq.write_table(table, folder / name)
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    manifest["files"][name] = digest(folder, name, 1 << 30)
    if name != "rows.parquet":
        twin = name.replace(".parquet", ".csv")
        (folder / twin).write_bytes(b"".join(csv_blocks(table)))
        manifest["files"][twin] = digest(folder, twin, 1 << 30)
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    return failing(folder)


def replaced(rows: pa.Table, name: str, values: Any) -> pa.Table:
    return rows.set_column(rows.column_names.index(name), name, values)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pure", "delta"])
def test_rows_that_another_machine_computes(
    releases: dict[str, Any], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With other digits in every step of the fit, not only the last, rows still follow."""
    random, honest = np.random.default_rng(1), graphical._direction

    def rounded(*args: Any) -> Any:
        found = honest(*args)
        return found * (1 + 1e-6 * random.standard_normal(len(found)))

    monkeypatch.setattr(graphical, "_direction", rounded)
    again = replace(releases[kind], measurements=tuple(releases[kind].measurements))
    again.save(tmp_path / "r")
    monkeypatch.undo()
    assert not again.to_arrow().equals(releases[kind].to_arrow())
    assert failing(tmp_path / "r") == {}


def test_rows_that_do_not_follow(releases: dict[str, Any], tmp_path: Path) -> None:
    release = releases["pure"]
    release.save(tmp_path / "r")
    rows = release.stand_ins()
    n = rows.num_rows
    shuffled = pc.take(rows["job"], pa.array(np.random.default_rng(1).permutation(n)))
    lies = {
        "an attribute that has nothing to do with the others": replaced(rows, "home", pc.take(
            rows["home"], pa.array(np.random.default_rng(1).permutation(n)))),
        "a value that is shared by all": replaced(rows, "pay", pa.array(np.full(n, 7))),
        "fewer rows": rows.slice(1),
        "a rule that is broken": replaced(rows, "job", shuffled),
        "a number beyond its bounds": replaced(rows, "age", pa.array(np.full(n, 1000))),
        "one row of another kind": replaced(rows, "age", pa.array([-7] + [9] * (n - 1))),
        "no numbers": replaced(rows, "age", pa.nulls(n, pa.int64())),
    }  # fmt: skip
    words = {name: with_table(tmp_path / "r", lie) for name, lie in lies.items()}
    assert all(one.keys() == {"counts"} for one in words.values()), words
    assert "breaks a rule" in words["a rule that is broken"]["counts"]
    assert "does not have" in words["a number beyond its bounds"]["counts"]
    assert with_table(tmp_path / "r", rows) == {}


def test_tables_that_do_not_follow(releases: dict[str, Any], tmp_path: Path) -> None:
    releases["pure"].save(tmp_path / "r")
    name = "tables/job.parquet"
    table = pq.read_table(tmp_path / "r" / name)
    n = table.num_rows
    assert set(table["reliability"].to_pylist()) > {"good"}
    lies = {
        f"{column} a little off": replaced(table, column, pc.add(table[column], off))
        for column, off in {"estimate": 0.01, "low": 3, "high": -2, "typical_error": 0.01}.items()
    } | {
        "all is good": replaced(table, "reliability", pa.array(["good"] * n)),
        "nothing was measured": replaced(table, "basis", pa.array(["not measured"] * n)),
        "other labels": replaced(table, "job", table["job"].take(pa.array([1, 0, *range(2, n)]))),
        "a cell less": table.slice(1),
    }  # fmt: skip
    words = {lie: with_table(tmp_path / "r", one, name) for lie, one in lies.items()}
    assert all(one.keys() == {"counts"} for one in words.values()), words
    assert with_table(tmp_path / "r", table, name) == {}


# another estimator ------------------------------------------------------------------------------


def of_estimator(folder: Path, version: Any) -> dict[str, str]:
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    manifest["rows"]["estimator"] = version
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    return failing(folder)


def test_a_folder_of_an_earlier_estimator(tmp_path: Path) -> None:
    """Its numbers had other bands: see tests/contracts/earlier."""
    folder = Path(__file__).parents[2] / "contracts/earlier/marginals-tuned-1"
    verdict = verify(folder)
    assert [check.name for check in verdict.checks if not check.ok] == ["private"]
    assert any("another version" in words for words in verdict.unchecked)
    today, earlier = Release.load(folder).table("age"), pq.read_table(folder / "tables/age.parquet")
    assert len(today) > earlier.num_rows  # estimates are today's


@pytest.mark.parametrize("kind", ["pure", "delta"])
def test_another_fit_is_another_estimator(
    releases: dict[str, Any], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graphical, "MOST_TRUST", 1.0)  # what noise may hide is believed less
    again = replace(releases[kind], measurements=tuple(releases[kind].measurements))
    again.save(tmp_path / "r")
    monkeypatch.undo()
    assert failing(tmp_path / "r").keys() == {"counts"}
    assert of_estimator(tmp_path / "r", 7) == {}
    for none in (0, -1, "7", None):
        assert "no whole number" in of_estimator(tmp_path / "r", none)["counts"]


@pytest.mark.slow
def test_what_contradicts_the_measurements(releases: dict[str, Any], tmp_path: Path) -> None:
    """Nothing can be made again, and still not anything goes."""
    release, name = releases["pure"], "tables/job.parquet"
    release.save(tmp_path / "r")
    assert of_estimator(tmp_path / "r", 7) == {}
    rows, table = release.stand_ins(), pq.read_table(tmp_path / "r" / name)
    n, cells = rows.num_rows, table.num_rows
    half = rows.slice(0, n // 2)
    shuffled = rows["home"].take(pa.array(np.random.default_rng(1).permutation(n)))
    assert "counts" in with_table(tmp_path / "r", replaced(rows, "home", shuffled))
    assert "counts" in with_table(tmp_path / "r", replaced(rows, "pay", pa.array(np.full(n, 7))))
    assert "counts" in with_table(tmp_path / "r", half)  # half of the people
    assert with_table(tmp_path / "r", rows) == {}
    lies = {
        "estimate": pc.add(table["estimate"], 0.01),
        "low": pc.add(table["estimate"], 1.0),
        "high": pa.array(np.full(cells, np.inf)),
        "typical_error": pa.array(np.full(cells, -1.0)),
        "reliability": pa.array(["Alice"] * cells),
        "job": pa.array(["a"] * cells),
    }
    for column, lie in lies.items():
        found = with_table(tmp_path / "r", replaced(table, column, lie), name)
        assert found.keys() == {"counts"}, column
    said = replaced(table, "job", pa.array([*table["job"].to_pylist()[:-1], "Alice"]))
    assert "does not have" in with_table(tmp_path / "r", said, name)["counts"]
    assert with_table(tmp_path / "r", table, name) == {}


def test_tables_are_held_whatever_package_wrote_them(
    releases: dict[str, Any], tmp_path: Path
) -> None:
    releases["pure"].save(tmp_path / "r")
    manifest = json.loads((tmp_path / "r/manifest.json").read_text("utf-8"))
    manifest["package_version"] = "99.0"
    (tmp_path / "r/manifest.json").write_text(json.dumps(manifest), "utf-8")
    assert failing(tmp_path / "r") == {}
    table = pq.read_table(tmp_path / "r/tables/job.parquet")
    lie = replaced(table, "estimate", pc.add(table["estimate"], 0.01))
    assert with_table(tmp_path / "r", lie, "tables/job.parquet").keys() == {"counts"}


def test_rows_of_other_types(releases: dict[str, Any], tmp_path: Path) -> None:
    releases["pure"].save(tmp_path / "r")
    rows = releases["pure"].stand_ins()
    for lie in (
        replaced(rows, "age", rows["age"].cast(pa.float64())),
        rows.drop_columns(["age"]),
        rows.append_column("name", pa.array(["Alice"] * rows.num_rows)),
        rows.select(rows.column_names[::-1]),
    ):
        assert "counts" in with_table(tmp_path / "r", lie)


# folders of strangers ---------------------------------------------------------------------------


GROUPS = {
    "huge": lambda g: np.where(np.arange(len(g)) == 0, 1 << 62, g),
    "negative": lambda g: g - 1,
    "gaps": lambda g: g * 2,
}


@pytest.mark.parametrize("odd", GROUPS)
def test_groups_that_are_none(releases: dict[str, Any], odd: str, tmp_path: Path) -> None:
    release = releases["pure"]
    groups = (GROUPS[odd](release.partition.group[0]), *release.partition.group[1:])
    with pytest.raises(ReleaseError, match="numbered from 0"):
        replace(release, partition=replace(release.partition, group=groups)).check()


def test_an_attribute_that_is_missing(releases: dict[str, Any], tmp_path: Path) -> None:
    release = releases["pure"]
    cells = release.partition
    for place in range(cells.attributes):
        edges = tuple(np.array([0]) if a == place else cut for a, cut in enumerate(cells.edges))
        group = tuple(np.empty(0, np.int64) if a == place else g for a, g in enumerate(cells.group))
        with pytest.raises(ReleaseError, match="all of its codes"):
            replace(release, partition=replace(cells, edges=edges, group=group)).check()


def test_tables_of_very_many_cells(releases: dict[str, Any]) -> None:
    release = releases["delta"]
    huge = replace(release.partition, edges=tuple(np.arange(401) for _ in release.partition.edges),
                   group=tuple(np.arange(400) for _ in release.partition.edges))  # fmt: skip
    forged = changed(release, "named", tables=lambda m: ((0, 1, 2),))
    with pytest.raises(ReleaseError, match="other cells"):
        _ = replace(forged, partition=huge).tables


def test_tables_that_hang_together_in_a_huge_model(monkeypatch: pytest.MonkeyPatch) -> None:
    release = made(rows=300, epsilon="30", tables=TABLES)
    monkeypatch.setattr(graphical, "MOST_MODEL", 100)
    with pytest.raises(ReleaseError, match="too large a model"):
        _ = release.model
    assert failing(release) == {}  # nothing is fitted to see what was paid


def test_what_no_model_can_hold_is_refused_before_anything_is_drawn() -> None:
    many = {"type": "categorical", "values": [f"v{i}" for i in range(60)]}
    three = [f"{a} {b} {c}" for a in "abcde" for b in "abcde" for c in "abcde" if a < b < c]
    attributes = dict.fromkeys("abcde", many)
    schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": attributes})
    Marginals().check(schema, Marginals().plan(schema, 1))
    with pytest.raises(UsageError, match="more cells than a model"):
        method = Marginals()
        method.check(schema.with_tables(three), method.plan(schema.with_tables(three), 1))


def test_what_is_read_is_used_without_a_fault(releases: dict[str, Any], tmp_path: Path) -> None:
    """Counts may be anything that a noise may make of them."""
    release = releases["delta"]
    for value in (-(1 << 40), 0, 1 << 40):
        odd = release
        for name in {*names_of(release)} - {"rows", "by_class"}:  # by which cells are full
            odd = changed(odd, name, values=lambda m, value=value: np.full_like(m.values, value))
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            assert np.isfinite(odd.count("everybody").estimate).all()
            assert np.isfinite(odd.count("job = a").estimate).all()


def test_cells_are_equal_by_what_they_hold(releases: dict[str, Any]) -> None:
    cells = releases["pure"].partition
    twin = replace(cells, edges=tuple(c.copy() for c in cells.edges))
    assert twin == cells and cells != "cells"
    others = (
        replace(cells, classes=3),
        replace(cells, edges=cells.edges[1:], group=cells.group[1:]),
        replace(cells, group=(cells.group[0] * 0, *cells.group[1:])),
        replace(cells, edges=(cells.edges[0] * 2, *cells.edges[1:])),
    )
    assert all(one != cells for one in others)


@pytest.mark.parametrize(
    "groups, tables, offered",
    [
        ((9, 9, 9, 9), [(1, 0)], True),
        ((9, 9, 9, 9), [(1, 0), (2, 1), (3, 0)], True),  # a pair may close a ring once all hang
        ((9, 9, 9), [(1, 0), (2, 1), (2, 0)], False),
        ((9, 9, 1, 9), [(1, 0), (3, 1), (3, 0)], False),  # what has one group joins nothing
        ((9, 9, 9, 200), [(1, 0)], True),
        ((200, 200), [], False),  # by the class too large
        ((100, 100), [], True),
    ],
)
def test_whether_some_pair_could_be_chosen(
    groups: Any, tables: Any, offered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = _Shares(parts=16, units={}, rest=(), rounds={"pairs": 6})
    monkeypatch.setattr("hedgerow.verification.marginals._shares", lambda release: shares)
    counted = [a for a, size in enumerate(groups) if size > 1]
    release: Any = SimpleNamespace(
        schema=SimpleNamespace(tables=(), rules=(), attributes=groups),
        partition=SimpleNamespace(
            groups=groups, counted=counted, attributes=len(groups), classes=2
        ),
        measurements=[SimpleNamespace(name="pairs", tables=tables)],
    )
    assert _choices(release) == len(tables) + offered


def test_a_release_of_a_single_attribute_passes(tmp_path: Path) -> None:
    release = made(attributes={"age": ATTRIBUTES["age"]})
    release.save(tmp_path / "r")
    assert failing(release) == failing(tmp_path / "r") == {}
