"""`verify`: recomputes what a release spent from its manifest alone, and holds it to its promise.

Nothing here shares code with the ledger or the accountant that wrote the numbers: a mistake there
would otherwise confirm itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.errors import HedgerowError, ReleaseError
from hedgerow.measured.conversion import epsilon_from_rho, exact, group_delta, in_words
from hedgerow.measured.itemsets import CoreCells, CutTree
from hedgerow.measured.partition import GridPartition, TreePartition
from hedgerow.release.base import Release
from hedgerow.release.files import check_file, other_files, read_manifest, read_table
from hedgerow.release.kinds import kind_class
from hedgerow.release.manifest import package_version, schema_of
from hedgerow.release.measured import MeasuredRelease
from hedgerow.schema import Schema
from hedgerow.verification import charges, itemset_charges
from hedgerow.verification.prices import Failed, budgets, whole
from hedgerow.verification.rows import check_rows

__all__ = ["Check", "Verdict", "verify"]

_UNCHECKED = (
    "that the noise was really drawn as stated, from a secure source",
    "that the schema, its bounds and taxonomies come from public knowledge",
    "that no other release was made of the same people: what several releases spend adds up",
)
_MOST_ROWS_PER_PERSON = 10**6
_SHOWN = 5
_SHAPES: dict[str, Any] = {
    "diffmulti": TreePartition,
    "diffgen": GridPartition,
    "cdiffgen": TreePartition,
    "diffpart": CoreCells | CutTree,
}
_BOOKS: dict[str, Any] = {"transactions": itemset_charges}  # else `charges`
_COVERED = {
    "table": "the regions cover the whole domain once",
    "transactions": "the sets of items cover all records",
}
_SCHEDULES = ("tuned-1", "paper-1")


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
        except Failed as failure:
            checks.append(Check(name, False, str(failure)))
        except HedgerowError as error:
            checks.append(Check(name, False, error.message))
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
            checks.append(Check(name, False, "an entry that is needed is missing or malformed"))

    release: Any = None
    manifest: dict[str, Any]
    path = source if isinstance(source, str | Path) else None
    if isinstance(source, Release):
        release, manifest = source, {"kind": source.kind, **vars(source), **source.entries()}
    else:
        manifest = read_manifest(source)
        check("schema", lambda: _schema(manifest))
        for name in kind_class(manifest["kind"]).file_names():
            check(name, lambda name=name: _hash(source, name, manifest))  # type: ignore[misc]
        check("other files", lambda: _alone(source, manifest))
        try:
            release = kind_class(manifest["kind"]).from_folder(Path(source), manifest)
        except ReleaseError as error:
            checks.append(Check("contents", False, error.message))
    guarantee, ledger, settings = (manifest[key] for key in ("guarantee", "ledger", "settings"))
    check("schedule", lambda: _schedule(settings))
    if (
        path is not None
        and release is not None
        and manifest["package_version"] == package_version()
    ):
        check("counts", lambda: _counts(release, str(path), manifest))
    if manifest["kind"] == "rows":
        return _verify_rows(release, checks, check)
    kind = manifest["partition"]
    check("private", lambda: _private(guarantee))
    # a leaf that did not reach its threshold has no path here, though it was paid for
    some = kind == "cuts" and settings.get("schedule") == "paper-1"
    check("ledger", lambda: _entries(ledger, some))
    check("paths", lambda: _paths(ledger, some))
    spent: list[Fraction] = []
    check("spending", lambda: _spending(ledger, spent))
    if spent:
        check("guarantee", lambda: _guarantee(guarantee, ledger, spent[0], spent[1]))
    if release is not None:
        opened, books = release, _BOOKS.get(release.kind, charges)
        check("unit of protection", lambda: _protection(opened))
        check("regions", lambda: _regions(opened))
        check("measurements", lambda: books.measured(opened))
        check("accounts", lambda: books.accounted(opened))
        check("order", lambda: _order(opened))
    epsilon, delta = spent if spent else (None, None)
    return Verdict(all(c.ok for c in checks), epsilon, delta, tuple(checks))


def _verify_rows(
    release: Any, checks: list[Check], check: Callable[[str, Callable[[], str]], None]
) -> Verdict:
    """The same for generalised rows, whose promise and unit of protection are checked alike."""
    spent: list[Fraction] = []
    if release is not None:
        spent = check_rows(release, check)
        guarantee, ledger = release.guarantee, release.ledger
        check("private", lambda: _private(guarantee))
        if spent:
            check("guarantee", lambda: _guarantee(guarantee, ledger, spent[0], spent[1]))
        check("unit of protection", lambda: _protection(release))
    epsilon, delta = spent if spent else (None, None)
    return Verdict(all(c.ok for c in checks), epsilon, delta, tuple(checks))


def _schema(manifest: dict[str, Any]) -> str:
    schema_of(manifest)
    return "the schema matches its hash"


def _hash(path: str | Path, name: str, manifest: dict[str, Any]) -> str:
    check_file(path, name, manifest)
    return "the file matches its hash"


def _alone(path: str | Path, manifest: dict[str, Any]) -> str:
    """Nothing else goes along with a release: no hash covers it, and it could hold anything."""
    if manifest["files"].keys() != set(kind_class(manifest["kind"]).file_names()):
        raise Failed("the manifest lists other files than those of a release")
    others = other_files(path, manifest)
    if others:
        names = ", ".join(repr(name) for name in others[:_SHOWN])
        more = " and others" if len(others) > _SHOWN else ""
        raise Failed(f"no part of the release, and to be removed: {names}{more}")
    return "the folder holds the files of the release and nothing else"


def _private(guarantee: dict[str, Any]) -> str:
    if guarantee["private"] is not True:
        raise Failed("this release came from a seeded run: it protects nobody and is for tests")
    return "the release states that its noise came from a secure source"


def _entries(ledger: dict[str, Any], some: bool) -> str:
    known = budgets(ledger)
    booked = set()
    for entry in ledger["entries"]:
        if entry["budget"] not in known:
            raise Failed(
                f"an entry for {entry['purpose']} is paid from a budget that does not exist"
            )
        whole(entry["depth"])
        whole(entry["nodes"], 1)
        if whole(entry["units"]):
            booked.add((entry["budget"], entry["purpose"]))
    spent = {
        (budget, purpose)
        for path in ledger["paths"]
        for budget, purposes in path["spent"].items()
        for purpose, units in purposes.items()
        if units
    }
    if not spent <= booked or (spent != booked and not some):
        raise Failed("what the paths spent on and what was booked are different things")
    return "every entry is paid from a budget, and every spending on a path is booked"


def _paths(ledger: dict[str, Any], some: bool) -> str:
    known = budgets(ledger)
    if not ledger["paths"] and not some:
        raise Failed("the ledger names no path, so nothing accounts for what is published")
    for path in ledger["paths"]:
        whole(path["leaves"], 1)
        if not path["spent"].keys() <= known.keys():
            raise Failed("a path spends from a budget that does not exist")
        for budget, (_, granted) in known.items():
            if sum(whole(units) for units in path["spent"].get(budget, {}).values()) != granted:
                raise Failed(f"a path does not spend exactly what was granted in {budget}")
    return "every path to what is published spends exactly what was granted"


def _spending(ledger: dict[str, Any], spent: list[Fraction]) -> str:
    """What one person can lose, by the budgets: appended to `spent` as epsilon and delta."""
    known = budgets(ledger)
    rows = whole(ledger["person_rows"], 1)
    if rows > _MOST_ROWS_PER_PERSON:
        raise Failed("the cap on rows per person is too large to mean anything")
    unit, units = known.get("epsilon", (Fraction(1), 0))
    epsilon, delta = unit * units, Fraction(0)
    if ledger["accounting"] == "zcdp":
        unit, units = known["rho"]
        conversion = {key: exact(ledger["conversion"][key]) for key in _CONVERSION}
        delta = conversion["delta"]
        if not 0 < delta < 1:
            raise Failed("the delta of the conversion does not lie between 0 and 1")
        if conversion["rho"] < unit * units:
            raise Failed("the conversion starts from less rho than was granted")
        converted = epsilon_from_rho(unit * units, delta)
        if conversion["epsilon"] < converted:
            raise Failed("the conversion of rho states less epsilon than it costs")
        epsilon += converted
    if rows > 1 and delta:
        delta = group_delta(epsilon, delta, rows)
    spent += [epsilon * rows, delta]
    total = f"epsilon {in_words(epsilon * rows)}, delta {in_words(delta)}"
    if rows == 1:
        return f"recomputed from the ledger: {total}"
    return (
        f"recomputed from the ledger: epsilon {in_words(epsilon)} for a row and {total} for a "
        f"person with {rows} rows"
    )


_CONVERSION = ("rho", "epsilon", "delta")


def _guarantee(
    guarantee: dict[str, Any], ledger: dict[str, Any], epsilon: Fraction, delta: Fraction
) -> str:
    stated = exact(guarantee["epsilon"]), exact(guarantee["delta"])
    if guarantee["accounting"] != ledger["accounting"]:
        raise Failed("the guarantee and the ledger name different kinds of accounting")
    if stated[0] < epsilon:
        raise Failed("the stated epsilon is below what the ledger adds up to")
    if stated[1] < delta or not stated[1] < 1:
        raise Failed("the stated delta is below what the ledger adds up to")
    if "epsilon_decimal" in guarantee and exact(guarantee["epsilon_decimal"]) < stated[0]:
        raise Failed("the decimal form of epsilon was rounded down")
    words = f"epsilon {in_words(stated[0])} and delta {in_words(stated[1])}"
    if stated == (epsilon, delta):
        return f"stated are {words}, just what was recomputed"
    return f"stated are {words}, no less than what was recomputed"


def _protection(release: Release) -> str:
    person = release.schema.person
    rows = 1 if person is None else person.max_rows
    if release.ledger["person_rows"] != rows:
        raise Failed("the ledger counts other rows per person than the schema caps")
    stated = release.guarantee["unit_of_protection"], release.guarantee["neighbours"]
    unit, neighbours = _unit(release.schema)
    if stated != (unit, neighbours):
        raise Failed("the guarantee names another unit of protection than the schema gives")
    draft = release.guarantee["began_as_draft"]
    if not isinstance(draft, bool):
        raise Failed("the guarantee does not say whether the schema began as a draft")
    if draft is not True and release.schema.began_as_draft:
        raise Failed("the schema began as a draft from private data, and the guarantee hides it")
    words = unit if person is None else f"one person has at most {rows} rows"
    query = release.guarantee.get("row_wise_query")
    if query is False:
        raise Failed("nobody vouched that each row of the database query depends on one person")
    words += "; each row of a database query was acknowledged to be one person's" if query else ""
    return words + ("; the schema began as a draft from private data" if draft else "")


def _unit(schema: Schema) -> tuple[str, str]:
    """The unit of protection and the neighbours that a schema makes for, in a manifest's words."""
    person = schema.person
    if schema.kind == "transactions":
        column = schema.transaction_items.person
        if column is not None:
            words = f"one value of {column} is one person, with all its items"
            return words, "add or remove one record"
        return "one record is one person", "add or remove one record"
    if person is None:
        return "one row is one person", "add or remove one row"
    return f"one person, with at most {person.max_rows} rows", "add or remove one person"


def _schedule(settings: dict[str, Any]) -> str:
    """Schedules have versions, and this module knows all that were ever published."""
    name = settings.get("schedule", _SCHEDULES[0])
    if name not in _SCHEDULES:
        raise Failed("this hedgerow does not know the schedule by which the budget was divided")
    return f"the budget was divided by the schedule {name}"


def _regions(release: MeasuredRelease) -> str:
    # Whoever writes a method of their own may give it regions of any shape.
    if not isinstance(release.partition, _SHAPES.get(release.method, object)):
        raise Failed("what was published has not the shape that the method gives")
    # a release in memory was not checked when it was read
    release.check()
    books: Any = _BOOKS.get(release.kind)
    published = release.partition.cells if books is None else books.published(release)
    leaves = sum(whole(path["leaves"]) for path in release.ledger["paths"])
    if leaves != published:
        raise Failed("the ledger accounts for another number of regions than there are")
    if published < release.partition.cells:
        return "the sets follow from the tree over the items; the ledger accounts for those listed"
    return f"{_COVERED[release.kind]}, and the ledger accounts for each"


def _order(release: MeasuredRelease) -> str:
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
            raise Failed("the measurements are not in canonical order, which could tell of data")
    return "everything stands in canonical order"


def _counts(release: Release, path: str | Path, manifest: dict[str, Any]) -> str:
    for name, content in release.files():
        if name not in release.derived:
            continue
        if isinstance(content, pa.Table):
            same = content.equals(read_table(path, name, manifest, like=content))
        else:
            digest = hashlib.sha256()
            for block in content:
                digest.update(block)
            same = digest.hexdigest() == manifest["files"][name]
        if not same:
            raise Failed("the readable files do not follow from what was measured")
    return "the readable files follow from what was measured"
