"""`verify`: recomputes what a release spent from its manifest alone, and holds it to its promise.

Nothing here shares code with the ledger or the accountant that wrote the numbers: a mistake there
would otherwise confirm itself.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import ReleaseError
from hedgerow.release.conversion import epsilon_from_rho, exact, group_delta, in_words
from hedgerow.release.files import (
    DATA_FILES,
    REGIONS,
    TABLE,
    read_file,
    read_manifest,
    read_parts,
    read_table,
)
from hedgerow.release.generalized import csv_blocks, generalized_table, typed_table
from hedgerow.release.manifest import package_version, schema_of
from hedgerow.release.measurements import Measurement
from hedgerow.release.partition import TreePartition
from hedgerow.release.release import Release

__all__ = ["Check", "Verdict", "verify"]

_UNCHECKED = (
    "that the noise was really drawn as stated, from a secure source",
    "that the schema, its bounds and taxonomies come from public knowledge",
    "that no other release was made of the same people: what several releases spend adds up",
)
_MOST_ROWS_PER_PERSON = 10**6


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: its name, whether it holds, and that in words."""

    name: str
    ok: bool
    words: str


@dataclass(frozen=True)
class Verdict:
    """What a verification found.

    Args:
        ok: Whether all checks hold.
        epsilon: The epsilon recomputed from the ledger, exact or rounded up; None if it cannot be.
        delta: The delta recomputed likewise.
        checks: One by one.
        unchecked: What nobody can tell from a release.
    """

    ok: bool
    epsilon: Fraction | None
    delta: Fraction | None
    checks: tuple[Check, ...]
    unchecked: tuple[str, ...] = _UNCHECKED


class _Failed(Exception):
    """A check that does not hold; its text says why."""


def verify(source: str | Path | Release) -> Verdict:
    """Recomputes the spent budget and checks that a release is whole and in order.

    Args:
        source: The folder of a release, or a release in memory, which has no files to check.

    Raises:
        ReleaseError: If there is no manifest that could be read at all.
    """
    checks: list[Check] = []

    def check(name: str, look: Callable[[], str]) -> None:
        try:
            checks.append(Check(name, True, look()))
        except _Failed as failure:
            checks.append(Check(name, False, str(failure)))
        except ReleaseError as error:
            checks.append(Check(name, False, error.message))
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError):
            checks.append(Check(name, False, "an entry that is needed is missing or malformed"))

    release: Release | None = None
    if isinstance(source, Release):
        release, guarantee, ledger = source, source.guarantee, source.ledger
    else:
        manifest = read_manifest(source)
        guarantee, ledger = manifest["guarantee"], manifest["ledger"]
        check("schema", lambda: _schema(manifest))
        for name in DATA_FILES:
            check(name, lambda name=name: _hash(source, name, manifest))  # type: ignore[misc]
        try:
            release = Release(**read_parts(source, manifest))
        except ReleaseError as error:
            checks.append(Check("contents", False, error.message))
    check("private", lambda: _private(guarantee))
    check("ledger", lambda: _entries(ledger))
    check("paths", lambda: _paths(ledger))
    spent: list[Fraction] = []
    check("spending", lambda: _spending(ledger, spent))
    if spent:
        check("guarantee", lambda: _guarantee(guarantee, ledger, spent[0], spent[1]))
    if release is not None:
        whole = release
        check("unit of protection", lambda: _protection(whole))
        check("regions", lambda: _regions(whole))
        check("measurements", lambda: _measured(whole))
        check("order", lambda: _order(whole))
        if not isinstance(source, Release) and manifest["package_version"] == package_version():
            check("counts", lambda: _counts(whole, source, manifest))
    epsilon, delta = spent if spent else (None, None)
    return Verdict(all(c.ok for c in checks), epsilon, delta, tuple(checks))


def _schema(manifest: dict[str, Any]) -> str:
    schema_of(manifest)
    return "the schema matches its hash"


def _hash(path: str | Path, name: str, manifest: dict[str, Any]) -> str:
    read_file(path, name, manifest)
    return "the file matches its hash"


def _private(guarantee: dict[str, Any]) -> str:
    if guarantee["private"] is not True:
        raise _Failed("this release came from a seeded run: it protects nobody and is for tests")
    return "the release states that its noise came from a secure source"


def _whole(number: Any, least: int = 0) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or number < least:
        raise ValueError
    return number


def _pots(ledger: dict[str, Any]) -> dict[str, tuple[Fraction, int]]:
    pots = {
        name: (exact(pot["unit"]), _whole(pot["units"])) for name, pot in ledger["pots"].items()
    }
    allowed = {"epsilon"} if ledger["accounting"] == "pure" else {"epsilon", "rho"}
    if ledger["accounting"] not in ("pure", "zcdp") or not pots or not pots.keys() <= allowed:
        raise _Failed("the ledger's accounting and its currencies do not fit each other")
    if any(unit <= 0 for unit, _ in pots.values()):
        raise _Failed("a unit of the budget is not above 0")
    return pots


def _entries(ledger: dict[str, Any]) -> str:
    pots = _pots(ledger)
    booked = set()
    for entry in ledger["entries"]:
        if entry["pot"] not in pots:
            raise _Failed(f"an entry for {entry['purpose']} is paid from a pot that does not exist")
        _whole(entry["depth"])
        _whole(entry["nodes"], 1)
        if _whole(entry["units"]):
            booked.add((entry["pot"], entry["purpose"]))
    spent = {
        (pot, purpose)
        for path in ledger["paths"]
        for pot, purposes in path["spent"].items()
        for purpose, units in purposes.items()
        if units
    }
    if spent != booked:
        raise _Failed("what the paths spent on and what was booked are different things")
    return "every entry is paid from a pot, and every spending on a path is booked"


def _paths(ledger: dict[str, Any]) -> str:
    pots = _pots(ledger)
    if not ledger["paths"]:
        raise _Failed("the ledger names no path, so nothing accounts for the regions")
    for path in ledger["paths"]:
        _whole(path["leaves"], 1)
        if not path["spent"].keys() <= pots.keys():
            raise _Failed("a path spends from a pot that does not exist")
        for pot, (_, granted) in pots.items():
            if sum(_whole(units) for units in path["spent"].get(pot, {}).values()) != granted:
                raise _Failed(f"a path does not spend exactly what was granted in {pot}")
    return "every path to a published region spends exactly what was granted"


def _spending(ledger: dict[str, Any], spent: list[Fraction]) -> str:
    """What one person can lose, by the pots: appended to `spent` as epsilon and delta."""
    pots = _pots(ledger)
    rows = _whole(ledger["person_rows"], 1)
    if rows > _MOST_ROWS_PER_PERSON:
        raise _Failed("the cap on rows per person is too large to mean anything")
    unit, units = pots.get("epsilon", (Fraction(1), 0))
    epsilon, delta = unit * units, Fraction(0)
    if ledger["accounting"] == "zcdp":
        unit, units = pots["rho"]
        conversion = {key: exact(ledger["conversion"][key]) for key in _CONVERSION}
        delta = conversion["delta"]
        if not 0 < delta < 1:
            raise _Failed("the delta of the conversion does not lie between 0 and 1")
        if conversion["rho"] < unit * units:
            raise _Failed("the conversion starts from less rho than was granted")
        converted = epsilon_from_rho(unit * units, delta)
        if conversion["epsilon"] < converted:
            raise _Failed("the conversion of rho states less epsilon than it costs")
        epsilon += converted
    if rows > 1 and delta:
        delta = group_delta(epsilon, delta, rows)
    spent += [epsilon * rows, delta]
    return f"the ledger adds up to epsilon {in_words(epsilon * rows)}, delta {in_words(delta)}"


_CONVERSION = ("rho", "epsilon", "delta")


def _guarantee(
    guarantee: dict[str, Any], ledger: dict[str, Any], epsilon: Fraction, delta: Fraction
) -> str:
    stated = exact(guarantee["epsilon"]), exact(guarantee["delta"])
    if guarantee["accounting"] != ledger["accounting"]:
        raise _Failed("the guarantee and the ledger name different kinds of accounting")
    if stated[0] < epsilon:
        raise _Failed("the stated epsilon is below what the ledger adds up to")
    if stated[1] < delta or not stated[1] < 1:
        raise _Failed("the stated delta is below what the ledger adds up to")
    if "epsilon_decimal" in guarantee and exact(guarantee["epsilon_decimal"]) < stated[0]:
        raise _Failed("the decimal form of epsilon was rounded down")
    words = f"epsilon {in_words(stated[0])} and delta {in_words(stated[1])}"
    return f"the stated {words} are not too small"


def _protection(release: Release) -> str:
    person = release.schema.person
    rows = 1 if person is None else person.max_rows
    if release.ledger["person_rows"] != rows:
        raise _Failed("the ledger counts other rows per person than the schema caps")
    draft = release.guarantee["began_as_draft"]
    if draft is not True and release.schema.began_as_draft:
        raise _Failed("the schema began as a draft from private data, and the guarantee hides it")
    words = "one row is one person" if person is None else f"one person has at most {rows} rows"
    return words + ("; the schema began as a draft from private data" if draft else "")


def _regions(release: Release) -> str:
    leaves = sum(_whole(path["leaves"]) for path in release.ledger["paths"])
    if leaves != release.partition.cells:
        raise _Failed("the ledger accounts for another number of regions than there are")
    return "the regions cover the whole domain once, and the ledger accounts for each"


def _measured(release: Release) -> str:
    """Every region was counted, at the price that its path paid for it."""
    unit = _pots(release.ledger)["epsilon"][0]
    leaf = [m for m in release.measurements if m.name == "leaf"]
    if not leaf:
        raise _Failed("no measurement of the regions is there")
    paid = {int(path["spent"]["epsilon"].get("leaf", 0)) for path in release.ledger["paths"]}
    if any(measurement.threshold is not None for measurement in leaf):
        if not all(set(_prices(measurement, unit).tolist()) <= paid for measurement in leaf):
            raise _Failed("a region was counted at a price that no path paid")
        return "every listed region was counted at a price that its path paid"
    if sum(len(measurement.where) for measurement in leaf) < release.partition.cells:
        raise _Failed("a region was not counted")
    units = np.zeros(release.partition.cells, np.int64)
    for measurement in leaf:
        places = measurement.where
        if measurement.at == "node" and isinstance(release.partition, TreePartition):
            places = release.partition.region_of_node[places]
            if (places < 0).any():
                raise _Failed("a node that is no region was counted as one")
        np.add.at(units, places, _prices(measurement, unit))
    if not units.all():
        raise _Failed("a region was not counted")
    expected: Counter[int] = Counter()
    for path in release.ledger["paths"]:
        expected[int(path["spent"]["epsilon"].get("leaf", 0))] += int(path["leaves"])
    prices, regions = np.unique(units, return_counts=True)
    if dict(zip(prices.tolist(), regions.tolist(), strict=True)) != dict(expected):
        raise _Failed("regions were counted at other prices than their paths paid")
    return "every region was counted, at the price that its path paid"


def _prices(measurement: Measurement, unit: Fraction) -> NDArray[np.int64]:
    """What each place of a measurement cost, in the ledger's units."""
    distinct, index = np.unique(measurement.units, return_inverse=True)
    prices = [price * measurement.unit / unit for price in distinct.tolist()]
    if any(price.denominator != 1 or price >= 2**62 for price in prices):
        raise _Failed("a region was counted at a price that no path paid")
    return np.array([int(price) for price in prices], np.int64)[index]


def _order(release: Release) -> str:
    for measurement in release.measurements:
        keys = (
            [measurement.where]
            if measurement.klass is None
            else [
                measurement.klass,
                measurement.where,
            ]
        )
        order = np.lexsort(keys)
        pairs = np.stack(keys)
        twice = (pairs[:, 1:] == pairs[:, :-1]).all(axis=0).any()
        if not np.array_equal(order, np.arange(len(order))) or twice:
            raise _Failed("the measurements are not in canonical order, which could tell of data")
    return "everything stands in canonical order"


def _counts(release: Release, path: str | Path, manifest: dict[str, Any]) -> str:
    listed = (release.schema, release.partition, release.regions, release.counts)
    digest = hashlib.sha256()
    for block in csv_blocks(generalized_table(*listed)):
        digest.update(block)
    same = digest.hexdigest() == manifest["files"][TABLE]
    expected, stored = typed_table(*listed), read_table(path, REGIONS, manifest)
    if not same or expected.column_names != stored.column_names or not expected.equals(stored):
        raise _Failed("the published counts do not follow from the measurements")
    return "the published counts follow from the measurements"
