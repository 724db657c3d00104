"""`verify`: recomputes what a release spent from its manifest alone, and holds it to its promise.

Nothing here shares code with the ledger or the accountant that wrote the numbers: a mistake there
would otherwise confirm itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hedgerow.errors import HedgerowError, ReleaseError, UsageError
from hedgerow.measured.measurements import exact, in_words
from hedgerow.release import Release
from hedgerow.release.files import (
    check_file,
    names_of,
    other_files,
    read_manifest,
)
from hedgerow.release.kinds import kind_class
from hedgerow.release.manifest import schema_of
from hedgerow.release.plain_files import TABLES, is_table_file
from hedgerow.schema import Schema
from hedgerow.suggestions import answer_mistakes
from hedgerow.verification.derived import check_counts, estimator_of
from hedgerow.verification.entries import check_entries, check_settings, named
from hedgerow.verification.prices import Failed
from hedgerow.verification.rules import Rules, Stated, UnknownHere, rules_for

_UNCHECKED: tuple[str, ...] = (
    "that the noise was really drawn as stated, from a secure source",
    "that the schema, its bounds and taxonomies come from public knowledge",
    "that no other release was made of the same people: what several releases spend adds up",
)
_ANOTHER = "that another version of the estimator makes these rows and tables of what was measured"
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
    unchecked = _UNCHECKED

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
        if manifest is not None:
            check("counts", partial(check_counts, release, source, manifest, rules))
            if estimator_of(manifest) != release.estimator:
                unchecked += (_ANOTHER,)
    epsilon, delta = spent if spent else (None, None)
    return Verdict(
        ok=all(c.ok for c in checks), epsilon=epsilon, delta=delta, checks=tuple(checks),
        unchecked=unchecked, release=release,
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
