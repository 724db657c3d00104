"""`verify`: recomputes what a release spent from its manifest alone, and holds it to its promise.

Nothing here shares code with the ledger or the accountant that wrote the numbers: a mistake there
would otherwise confirm itself.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.errors import HedgerowError, ReleaseError, UsageError
from hedgerow.estimate.answers import USUAL, Answers, reliability
from hedgerow.measured.measurements import exact, in_words
from hedgerow.release import Release
from hedgerow.release.files import (
    check_file,
    names_of,
    other_files,
    read_manifest,
    read_table,
)
from hedgerow.release.kinds import kind_class
from hedgerow.release.manifest import package_version, schema_of
from hedgerow.release.plain_files import ROWS, TABLES, csv_of, is_table_file
from hedgerow.schema import Schema
from hedgerow.suggestions import answer_mistakes
from hedgerow.verification.entries import check_entries, check_settings, named
from hedgerow.verification.prices import Failed
from hedgerow.verification.rules import Rules, Stated, UnknownHere, rules_for

_UNCHECKED = (
    "that the noise was really drawn as stated, from a secure source",
    "that the schema, its bounds and taxonomies come from public knowledge",
    "that no other release was made of the same people: what several releases spend adds up",
)
_STATED = ("method", "settings", "guarantee", "ledger")

Checker = Callable[[str, Callable[[], str]], None]


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: its name, whether it holds, and that in words."""

    name: str
    ok: bool
    words: str


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a verification found.

    Args:
        ok: Whether all checks hold.
        epsilon: The epsilon recomputed from the ledger, exact or rounded up; None if it cannot be.
        delta: The delta recomputed likewise.
        checks: One by one.
        unchecked: What nobody can tell from a release.
        known: Whether the method, the schedule and the score are installed here. If not, a release
            cannot be verified here: `ok` is then False, though nothing speaks against it.
        release: The release, if it could be opened, for those who need it anyhow.
    """

    ok: bool
    epsilon: Fraction | None
    delta: Fraction | None
    checks: tuple[Check, ...]
    unchecked: tuple[str, ...] = _UNCHECKED
    known: bool = True
    release: Release | None = field(default=None, repr=False, compare=False)

    def __bool__(self) -> bool:
        """Whether all checks hold, so that `assert verify(...)` and `if verify(...)` mean that."""
        return self.ok

    @property
    def unverifiable(self) -> bool:
        """Whether nothing speaks against a release but that it cannot be verified here."""
        faults = (check for check in self.checks if not check.ok and check.name != "method")
        return not self.known and not any(faults)


@answer_mistakes
def verify(source: str | Path | Release, *, raise_on_failure: bool = False) -> Verdict:
    """Recomputes the spent budget and checks that a release is whole and in order.

    Args:
        source: The folder of a release, or a release in memory, which has no files to check.
        raise_on_failure: Whether a check that fails is an error.

    Returns:
        The verdict, which is false where a check fails.

    Raises:
        ReleaseError: If there is no manifest that could be read at all; with `raise_on_failure`
            also if a check fails.

    Example:
        >>> from hedgerow import publish, sample
        >>> people, schema = sample.people(200), sample.schema()
        >>> bool(verify(publish(people, schema, "diffgen", epsilon=1)))
        True
        >>> bool(verify(publish(people, schema, "diffgen", epsilon=1, seed=1)))
        False
    """
    if not isinstance(source, str | os.PathLike | Release):
        raise UsageError(
            f"source cannot be of type {type(source).__name__}.",
            hint='Write hedgerow.verify("release/"), or hedgerow.verify(release).',
        )
    verdict = _verify(source)
    if raise_on_failure and not verdict:
        wrong = next(check for check in verdict.checks if not check.ok)
        raise ReleaseError(
            f"this release cannot be verified here: {wrong.words}"
            if verdict.unverifiable
            else f"this release fails its check of {wrong.name}: {wrong.words}",
            hint="Do not rely on it; ask whoever published it for a fresh copy.",
        )
    return verdict


def _verify(source: str | Path | Release) -> Verdict:
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
    stated: Any = source
    manifest: dict[str, Any] | None = None
    if isinstance(source, Release):
        release = source
    else:
        manifest = read_manifest(source)
        stated = SimpleNamespace(**{key: manifest[key] for key in _STATED})
        release = _opened(source, manifest, check)
        check("entries", partial(check_entries, manifest))
    check("private", lambda: _private(stated.guarantee))
    try:
        rules = rules_for(stated.method, stated.settings)
    except UnknownHere as unknown:
        checks.append(Check("method", False, str(unknown)))
        return Verdict(
            ok=False, epsilon=None, delta=None, checks=tuple(checks), known=False, release=release
        )
    check("settings", lambda: check_settings(rules, stated))
    for name, look in rules.books.items():
        check(name, partial(look, stated))
    spent: list[Fraction] = []
    check("spending", lambda: _spent(rules, stated, spent))
    if spent:
        check("guarantee", lambda: _guarantee(stated.guarantee, stated.ledger, *spent))
    if release is not None:
        check("unit of protection", lambda: _protection(release))
        for name, look in rules.checks.items():
            check(name, partial(look, release))
        if manifest is not None and manifest["package_version"] == package_version():
            check("counts", partial(_counts, release, source, manifest, rules))
    epsilon, delta = spent if spent else (None, None)
    return Verdict(
        ok=all(c.ok for c in checks), epsilon=epsilon, delta=delta, checks=tuple(checks),
        release=release,
    )  # fmt: skip


def _opened(path: str | Path, manifest: dict[str, Any], check: Checker) -> Any:
    """Checks the files of a release, and opens it if that can be done."""
    check("schema", lambda: _schema(manifest))
    for name in kind_class(manifest["kind"]).file_names():
        check(name, partial(_hash, path, name, manifest))
    check(TABLES, partial(_hashes, path, manifest))
    check("other files", lambda: _alone(path, manifest))
    found: list[Any] = []
    check("contents", lambda: _contents(path, manifest, found))
    return found[0] if found else None


def _contents(path: str | Path, manifest: dict[str, Any], found: list[Any]) -> str:
    found.append(kind_class(manifest["kind"]).from_folder(Path(path), manifest))
    return "what was published can be read, and fits the schema"


def _spent(rules: Rules, stated: Stated, spent: list[Fraction]) -> str:
    words, *amounts = rules.spending(stated)
    spent += amounts
    return words


def _schema(manifest: dict[str, Any]) -> str:
    schema_of(manifest)
    return "the schema matches its hash"


def _hash(path: str | Path, name: str, manifest: dict[str, Any]) -> str:
    check_file(path, name, manifest)
    return "the file matches its hash"


def _hashes(path: str | Path, manifest: dict[str, Any]) -> str:
    names = [name for name in names_of(manifest) if is_table_file(name)]
    for name in names:
        check_file(path, name, manifest)
    return f"{len(names)} files match their hashes"


def _alone(path: str | Path, manifest: dict[str, Any]) -> str:
    """Nothing else goes along with a release: no hash covers it, and it could hold anything."""
    others = other_files(path, manifest)
    if others:
        raise Failed(f"no part of the release, and to be removed: {named(others)}")
    return "the folder holds the files of the release and nothing else"


def _private(guarantee: dict[str, Any]) -> str:
    if guarantee["private"] is not True:
        raise Failed("this release came from a seeded run: it protects nobody and is for tests")
    return "the release states that its noise came from a secure source"


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
        return f"{words} are stated, exactly what was recomputed"
    return f"{words} are stated, no less than what was recomputed"


def _protection(release: Release) -> str:
    person = release.schema.person
    rows = 1 if person is None else person.max_rows
    if release.ledger["person_rows"] != rows:
        raise Failed("the ledger counts other rows per person than the schema caps")
    stated = release.guarantee["unit_of_protection"], release.guarantee["neighbors"]
    unit, neighbors = _unit(release.schema)
    if stated != (unit, neighbors):
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
    words += "; the schema began as a draft from private data" if draft else ""
    if release.schema.changed_since_signed:
        raise Failed("the schema names a reviewer, who signed off another schema than this one")
    signed = release.schema.is_signed_off
    return words + ("; the schema states who signed it off" if signed else "")


def _unit(schema: Schema) -> tuple[str, str]:
    """The unit of protection and the neighbors that a schema makes for, in a manifest's words."""
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


def _counts(release: Release, path: Any, manifest: dict[str, Any], rules: Rules) -> str:
    rows = None
    if rules.upon is not None:
        rows = read_table(path, ROWS, manifest, like=release.stand_ins())
        release = rules.upon(release, rows)
    contents = list(release.files())
    if {name for name, _ in contents} != set(names_of(manifest)):
        raise Failed("the tables are not those that follow from what was measured")
    stored_tables: dict[str, pa.Table] = {}
    for name, content in contents:
        if rows is not None and name == ROWS:
            continue
        if isinstance(content, pa.Table):
            stored = read_table(path, name, manifest, like=content)
            same = content.equals(stored)
            if is_table_file(name):
                same = same or _is_near(content, stored)
                stored_tables[name] = stored
        else:
            if is_table_file(name):  # which says what the table beside it says
                content = [csv_of(stored_tables[name.replace(".csv", ".parquet")])]
            digest = hashlib.sha256()
            for block in content:
                digest.update(block)
            same = digest.hexdigest() == manifest["files"][name]
        if not same and is_table_file(name):
            raise Failed("a table does not follow from what was measured")
        if not same and name not in release.sources:
            raise Failed("the readable files do not follow from what was measured")
        if not same:
            raise Failed(f"{name} holds more than what was measured")
    return "the readable files follow from what was measured"


def _is_near(ours: pa.Table, stored: pa.Table) -> bool:
    """Whether a table is ours but for what the last digits of another machine may change.

    Numbers may differ by a millionth, and an end, which is a whole number, by the one to which it
    was rounded; a typical error is at most as wide as its interval, so it may follow. Labels and
    what an estimate rests on depend on no digits; what an estimate is worth follows from the
    numbers beside it.
    """
    one, other = ({name: table[name].to_numpy() for name in _NUMBERS} for table in (ours, stored))
    with np.errstate(invalid="ignore"):  # an end may be infinite in a forged table
        off = {name: np.abs(one[name] - other[name]) for name in _NUMBERS}
    few = {name: _DIGITS * (1 + np.abs(one[name])) for name in _NUMBERS}
    moved = np.fmax(off["low"], off["high"])
    few["typical_error"] += np.where(moved > _DIGITS, moved, 0)
    few |= {end: few[end] + 1 for end in ("low", "high")}
    if any(
        (np.isnan(one[name]) != np.isnan(other[name])).any() or (off[name] > few[name]).any()
        for name in _NUMBERS
    ):
        return False
    labels = np.array(ours["reliability"].to_pylist(), np.object_)
    ended = ~np.isnan(other["high"])  # without an end it depends on noise that is not beside it
    labels[ended] = np.array(_worth(stored), np.object_)[ended]
    others = [name for name in ours.column_names if name not in (*_NUMBERS, "reliability")]
    same = all(ours[name].equals(stored[name]) for name in others)
    return same and bool(labels.tolist() == stored["reliability"].to_pylist())


def _worth(table: pa.Table) -> tuple[str, ...]:
    """What the estimates of a table are worth by the numbers beside them."""
    estimate, low, high, typical = (table[name].to_numpy() for name in _NUMBERS)
    none = np.full(table.num_rows, np.nan)
    return reliability(
        Answers(
            estimate=estimate,
            low=low,
            high=high,
            noise=none,
            uniformity_low=none,
            uniformity_high=none,
            level=USUAL,
            typical_error=None if np.isnan(typical).all() else typical,
            basis=np.array(table["basis"].to_pylist()) if "basis" in table.column_names else None,
        )  # fmt: skip
    )


_NUMBERS = ("estimate", "low", "high", "typical_error")
_DIGITS = 1e-6
