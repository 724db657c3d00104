"""`verify`: recomputes what a release spent from its manifest alone, and holds it to its promise.

Nothing here shares code with the ledger or the accountant that wrote the numbers: a mistake there
would otherwise confirm itself.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.errors import HedgerowError, ReleaseError, UsageError
from hedgerow.estimate.answers import NOISE, USUAL, Answers, reliability
from hedgerow.estimate.measurements import exact, in_words
from hedgerow.estimate.partition import csv_blocks
from hedgerow.estimate.queries import ASSUMED_EVEN, MEASURED, MODELED, NOT_MEASURED, RULED_OUT
from hedgerow.registry import OURS
from hedgerow.release import Release, files
from hedgerow.release.count_tables import divisions_of
from hedgerow.schema import Categorical, Query, Schema
from hedgerow.suggestions import answer_mistakes
from hedgerow.verification.rules import (
    Failed,
    Rules,
    Stated,
    UnknownHere,
    in_quotes,
    refuse,
    rules_for,
)

_UNCHECKED: tuple[str, ...] = (
    "who made it: its parts agree with each other, as they would in a forgery made whole",
    "that the noise was really drawn as stated, from a secure source",
    "that the schema, its bounds and taxonomies come from public knowledge",
    "that no other release was made of the same people: what several releases spend adds up",
)
_ANOTHER = (
    "that another version of the estimator made these rows and tables: a forger can claim so, and "
    "what was measured bounds rows only as noise does, so that they could be the raw ones"
)
_TEXTS = (
    f"what {files.README} and {files.METADATA} say: another version of the package is named, and "
    "a forger can claim so"
)
_STATED = ("method", "settings", "guarantee", "ledger")


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

    def check(name: str, look: Callable[[], Any], words: str | None = None) -> Any:
        """Notes whether something holds; it says so in words of its own if none are given."""
        try:
            seen = look()
        except HedgerowError as error:
            checks.append(Check(name, False, error.message))
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
            checks.append(Check(name, False, "an entry that is needed is missing or malformed"))
        else:
            said = seen[0] if isinstance(seen, tuple) else seen
            checks.append(Check(name, True, said if words is None else words))
            return seen

    release: Any = source
    stated: Any = source
    manifest: dict[str, Any] | None = None
    if not isinstance(source, Release):
        manifest = files.read_manifest(source)
        stated = SimpleNamespace(**{key: manifest[key] for key in _STATED})
        kind = files.kind_class(manifest["kind"])
        check("schema", partial(files.schema_of, manifest), "the schema matches its hash")
        for name in kind.file_names():
            hold = partial(files.check_file, source, name, manifest)
            check(name, hold, "the file matches its hash")
        check(files.TABLES, partial(_check_tables, source, manifest))
        check("other files", partial(_check_alone, source, manifest))
        release = check(
            "contents",
            partial(kind.from_folder, Path(source), manifest),
            "what was published can be read, and fits the schema",
        )
        check("entries", partial(check_entries, manifest))
    check("private", partial(_check_private, stated))
    try:
        rules = rules_for(stated.method, stated.settings)
    except UnknownHere as unknown:
        checks.append(Check("method", False, str(unknown)))
        return Verdict(
            ok=False, epsilon=None, delta=None, checks=tuple(checks), known=False, release=release
        )
    check("settings", partial(_check_settings, rules, stated))
    for name, look in rules.books.items():
        check(name, partial(look, stated))
    spent = check("spending", partial(rules.spending, stated))
    if spent is not None:
        check("guarantee", partial(_check_guarantee, stated, *spent[1:]))
    if release is not None:
        check("unit of protection", partial(_check_protection, release))
        for name, look in rules.checks.items():
            check(name, partial(look, release))
        if manifest is not None:
            check("counts", partial(check_counts, release, source, manifest, rules))
            if manifest["package_version"] != files.package_version():
                unchecked += (_TEXTS,)
            if estimator_of(manifest) != release.estimator:
                unchecked += (_ANOTHER,)
    return Verdict(
        ok=all(c.ok for c in checks), epsilon=spent and spent[1], delta=spent and spent[2],
        checks=tuple(checks), unchecked=unchecked, release=release,
    )  # fmt: skip


def _check_tables(path: str | Path, manifest: dict[str, Any]) -> str:
    names = [name for name in files.names_of(manifest) if files.is_table_file(name)]
    for name in names:
        files.check_file(path, name, manifest)
    return f"{len(names)} files match their hashes"


def _check_alone(path: str | Path, manifest: dict[str, Any]) -> str:
    """Nothing else goes along with a release: no hash covers it, and it could hold anything."""
    if others := files.other_files(path, manifest):
        raise Failed(f"no part of the release, and to be removed: {in_quotes(others)}")
    return "the folder holds the files of the release and nothing else"


def _check_private(stated: Stated) -> str:
    if stated.guarantee["private"] is not True:
        raise Failed("this release came from a seeded run: it protects nobody and is for tests")
    return "the release states that its noise came from a secure source"


def _check_guarantee(stated: Stated, epsilon: Fraction, delta: Fraction) -> str:
    guarantee = stated.guarantee
    promised = exact(guarantee["epsilon"]), exact(guarantee["delta"])
    if guarantee["accounting"] != stated.ledger["accounting"]:
        raise Failed("the guarantee and the ledger name different kinds of accounting")
    refuse(promised[0] < epsilon, "the stated epsilon is below what the ledger adds up to")
    if promised[1] < delta or not promised[1] < 1:
        raise Failed("the stated delta is below what the ledger adds up to")
    if "epsilon_decimal" in guarantee and exact(guarantee["epsilon_decimal"]) < promised[0]:
        raise Failed("the decimal form of epsilon was rounded down")
    exactly = "exactly" if promised == (epsilon, delta) else "no less than"
    words = f"epsilon {in_words(promised[0])} and delta {in_words(promised[1])} are stated"
    return f"{words}, {exactly} what was recomputed"


def _check_protection(release: Release) -> str:
    person = release.schema.person
    rows = 1 if person is None else person.max_rows
    if release.ledger["person_rows"] != rows:
        raise Failed("the ledger counts other rows per person than the schema caps")
    if release.schema.kind == "transactions":
        column = release.schema.transaction_items.person
        unit, neighbors = "one record is one person", "add or remove one record"
        if column is not None:
            unit = f"one value of {column} is one person, with all its items"
    elif person is None:
        unit, neighbors = "one row is one person", "add or remove one row"
    else:
        unit, neighbors = f"one person, with at most {rows} rows", "add or remove one person"
    stated = release.guarantee["unit_of_protection"], release.guarantee["neighbors"]
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


# Nothing goes along in a manifest: it has the entries of its format, and no free text in them.
#
# What nobody reads, nobody checks either, and it could hold anything: a count, a name, a row. So
# settings and ledgers hold numbers and short names alone. Entries that a later version may have
# added are told of, and refused if a release says that this version wrote it.


_NAME = re.compile("[A-Za-z0-9_.+/-]{1,40}")
_RELEASE_ID = re.compile("[0-9a-f]{32}")  # 128 random bits
_VERSION = re.compile(r"unknown|[0-9][0-9A-Za-z.+!-]{0,39}")
_PHRASES = frozenset(("least squares",))  # of the setting `consistency`
_SENTENCES = frozenset(("unit_of_protection", "neighbors"))  # held to the schema elsewhere

_GUARANTEE = (
    "epsilon delta accounting neighbors unit_of_protection began_as_draft private row_wise_query "
    "epsilon_decimal"
)
_LEDGER = "accounting person_rows budgets entries paths conversion suppression release_id"
_HEAD = "name place_kind by_class sparse unit threshold max_contribution logits law tables"


def _check_settings(rules: Rules, stated: Stated) -> str:
    """The settings are those of the method, and each is a number or a short name."""
    if rules.settings is None:
        return "the rules of this method name no settings, so any were taken"
    settings = stated.settings
    chosen = settings.get("chosen", {})
    if not settings.keys() <= rules.settings or not chosen.keys() <= rules.chosen:
        raise Failed("the settings hold something that the method does not have")
    alone = [settings[name] for name in settings.keys() - {"chosen", *rules.nested}]
    fits = all(map(_plain, [*alone, *chosen.values()]))
    refuse(not fits, "a setting is neither a number nor a short name")
    return "the settings are those of the method"


def check_entries(manifest: Mapping[str, Any]) -> str:
    """The manifest has the entries of its format; what else there is, is named.

    Raises:
        Failed: If there is more, or text where none belongs.
    """
    ledger = manifest["ledger"]
    if not _RELEASE_ID.fullmatch(ledger.get("release_id", "0" * 32)):
        raise Failed("the id of the release in the ledger is not 32 hexadecimal digits")
    if not _VERSION.fullmatch(manifest["package_version"]):
        raise Failed("the version of the package is none")
    unknown = sorted(set(_unknown(manifest)))
    ours = manifest["package_version"] == files.package_version() and manifest["method"] in OURS
    if unknown and ours:  # a method of another package may keep books of its own
        raise Failed(f"entries that this version does not write: {in_quotes(unknown)}")
    stray = [
        name
        for name in ("guarantee", "ledger", "measurements", "frontier", "rows")
        if not _plainly(manifest.get(name), unless=_SENTENCES if name == "guarantee" else ())
    ]
    refuse(stray, f"a text where a number or a short name belongs, in: {', '.join(stray)}")
    words = "guarantee and ledger hold what the format has, and no free text"
    if unknown:
        words += f"; entries not known here, which nothing checked: {in_quotes(unknown)}"
    notes = sorted(name for name in manifest if name.startswith(files.NOTE))
    if notes:
        words += f"; notes of other programs, which nothing checked: {in_quotes(notes)}"
    return words


def _unknown(manifest: Mapping[str, Any]) -> Iterable[str]:
    """The entries below the top that the format does not have."""
    ledger = manifest["ledger"]
    parts: list[tuple[str, Iterable[Any], str]] = [
        ("guarantee", [manifest["guarantee"]], _GUARANTEE),
        ("ledger", [ledger], _LEDGER),
        ("rows", [manifest["rows"]], "seed weight estimator"),
        ("ledger.budgets", [ledger.get("budgets", {})], "epsilon rho"),
        ("ledger.budgets", ledger.get("budgets", {}).values(), "unit units"),
        ("ledger.conversion", [ledger.get("conversion", {})], "rho epsilon delta"),
        ("ledger.suppression", [ledger.get("suppression", {})], "rate threshold sampling_rate"),
        ("ledger.entries", ledger.get("entries", ()), "purpose budget depth units nodes"),
        ("ledger.paths", ledger.get("paths", ()), "leaves spent"),
        ("measurements", manifest.get("measurements", ()), _HEAD),
    ]
    for place, several, names in parts:
        for one in several:
            yield from (f"{place}.{key}" for key in one.keys() - set(names.split()))


def _plain(value: object) -> bool:
    """Whether something is a number, a truth value, nothing, or a short name."""
    if not isinstance(value, str):
        return value is None or isinstance(value, (bool, int, float))
    if value in _PHRASES or _NAME.fullmatch(value):
        return True
    try:
        exact(value)  # fractions may be long
    except ValueError:
        return False
    return True


def _plainly(value: object, unless: Iterable[str] = ()) -> bool:
    """Whether all that something holds is plain, the names of its entries too."""
    if isinstance(value, dict):
        return all(_plain(key) and _plainly(value[key]) for key in value if key not in unless)
    if isinstance(value, list):
        return all(_plainly(one) for one in value)
    return _plain(value)


# What a folder holds beside its sources follows from them: rows, tables, texts.
#
# A part of `verify`. The manifest names the version of the estimator that made rows and tables.
# What today's made is made again and compared. Estimators get better, and what an earlier one made
# (or a later one) is held to what was measured instead: rows to the noisy tables as nearly as their
# noise allows, tables to the rows. Where nothing holds the rows, such a folder fails: they could
# say anything. Texts are compared if this version of the package wrote them.

_FIRST = 1  # the estimator of folders that name none
_NUMBERS = ("estimate", "low", "high", "typical_error", "standard_error")
_DIGITS = 1e-6
_LABEL = 64  # characters of an interval of numbers
_WORDS = {
    "reliability": {"good", "fair", NOISE, MODELED, ASSUMED_EVEN, NOT_MEASURED, RULED_OUT},
    "basis": {MEASURED, MODELED, ASSUMED_EVEN, NOT_MEASURED, RULED_OUT},
}


def estimator_of(manifest: Mapping[str, Any]) -> int:
    """The version of the estimator that a manifest names; 0 if that is none.

    Example:
        >>> estimator_of({"rows": {"seed": 1, "weight": "weight"}})
        1
    """
    version = manifest["rows"].get("estimator", _FIRST)
    return version if isinstance(version, int) and version > 0 else 0


def check_counts(release: Release, path: Any, manifest: dict[str, Any], rules: Rules) -> str:
    """Rows, tables and texts follow from what was measured."""
    refuse(not estimator_of(manifest), "the version of the estimator is no whole number above 0")
    if estimator_of(manifest) != release.estimator:
        return _hold_to_measurements(release, path, manifest, rules)
    rows = None
    if rules.upon is not None:
        rows = files.read_table(path, files.ROWS, manifest, like=release.stand_ins())
        release = rules.upon(release, rows, True)
    contents = list(release.files())
    if {name for name, _ in contents} != set(files.names_of(manifest)):
        raise Failed("the tables are not those that follow from what was measured")
    ours = manifest["package_version"] == files.package_version()
    stored_tables: dict[str, pa.Table] = {}
    for name, content in contents:
        is_text, of_table = name in (files.README, files.METADATA), files.is_table_file(name)
        if (rows is not None and name == files.ROWS) or (is_text and not ours):
            continue
        if isinstance(content, pa.Table):
            stored = files.read_table(path, name, manifest, like=content)
            same = content.equals(stored)
            if of_table:
                same = same or _is_near(content, stored)
                stored_tables[name] = stored
        else:
            if of_table:  # which says what the table beside it says
                content = csv_blocks(stored_tables[name.replace(".csv", ".parquet")])
            same = _digest(content) == manifest["files"][name]
        refuse(not same and of_table, "a table does not follow from what was measured")
        if not same and name not in release.sources:
            raise Failed("the readable files do not follow from what was measured")
        refuse(not same, f"{name} holds more than what was measured")
    return "the readable files follow from what was measured"


def _digest(blocks: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()


def _hold_to_measurements(
    release: Release, path: Any, manifest: dict[str, Any], rules: Rules
) -> str:
    """Nothing contradicts what was measured, though nothing can be made again."""
    versions = f"made rows and tables ({estimator_of(manifest)}; here {release.estimator})"
    if rules.upon is None:
        raise Failed(f"another version of the estimator {versions}: nothing here can check them")
    for name, content in release.own_files():
        if name in release.sources and isinstance(content, pa.Table):
            stored = files.read_table(path, name, manifest, like=content)
            refuse(not content.equals(stored), f"{name} holds more than what was measured")
    rows = files.read_table(path, files.ROWS, manifest, like=release.stand_ins(), any_rows=True)
    release = rules.upon(release, rows, False)
    _hold_tables(release, path, manifest)
    return (
        f"another version of the estimator {versions}: they agree with what was measured and were "
        "not made again"
    )


def _hold_tables(release: Release, path: Any, manifest: dict[str, Any]) -> None:
    """Tables say the same in both forms, and nothing that contradicts what was measured."""
    today = release.named_tables()
    named = {name for name in files.names_of(manifest) if files.is_table_file(name)}
    stems = {name.removeprefix(f"{files.TABLES}/").rpartition(".")[0] for name in named}
    if len(named) != 2 * len(stems) or not stems <= today.keys():
        raise Failed("the tables are not those that were measured")
    cells: list[Query] = []
    tables = []
    for stem in sorted(stems):
        names, table = today[stem]
        name, like = f"{files.TABLES}/{stem}", _lengthen(table, release.schema)
        table = files.read_table(path, f"{name}.parquet", manifest, like=like, any_rows=True)
        if _digest(csv_blocks(table)) != manifest["files"][f"{name}.csv"]:
            raise Failed("a table says other things as text than as Parquet")
        cells += _cells_of(table, names, release.schema)
        tables.append(table)
    if cells:
        _hold_cells(release, cells, tables)


def _lengthen(table: pa.Table, schema: Schema) -> pa.Table:
    """A row of a table whose texts are as long as any may be."""
    of_schema = [c.taxonomy.labels for c in schema.columns if isinstance(c, Categorical)]
    longest = "x" * max([_LABEL, *(len(label) for labels in of_schema for label in labels)])
    texts = [field.name for field in table.schema if pa.types.is_string(field.type)]
    table = table.slice(0, 1)
    for name in texts:
        table = table.set_column(table.column_names.index(name), name, pa.array([longest]))
    return table


def _cells_of(table: pa.Table, names: Sequence[str], schema: Schema) -> Iterator[Query]:
    """What the rows of a table count."""
    places = [schema.columns.index(schema[name]) for name in names]
    spans = [_spans(table, name, schema) for name in names]
    labels = list(zip(*(table[name].to_pylist() for name in names), strict=True))
    refuse(len(set(labels)) < len(labels), "a table has a cell twice")
    for cell in labels:
        where, classes = [], None
        for place, label, parts in zip(places, cell, spans, strict=True):
            refuse(label not in parts, "a table has a cell that the schema does not have")
            low, high = parts[label]
            if place == len(schema.attributes):
                classes = tuple(range(int(low), int(high)))
            else:
                where.append((place, ((float(low), float(high)),)))
        yield Query(tuple(sorted(where)), classes)


def _spans(table: pa.Table, name: str, schema: Schema) -> dict[str, tuple[float, float]]:
    """The codes that each label of a column stands for."""
    column = schema[name]
    if isinstance(column, Categorical):
        return dict(zip(column.taxonomy.labels, column.taxonomy.spans, strict=True))
    starts = table[next(one for one in table.column_names if one.startswith(f"{name}_low"))]
    bins = {name: [value for value in starts.to_pylist() if value is not None] or [column.edge(0)]}
    ((_, division),) = divisions_of(schema, (name,), bins, lambda _: ())
    return {label: (low, high) for label, low, high in division}


def _hold_cells(release: Release, cells: Sequence[Query], tables: Sequence[pa.Table]) -> None:
    """Estimates are counts of the rows, and lie inside their intervals."""
    estimate, low, high, typical = (
        np.concatenate([table[name].to_numpy().astype(np.float64) for table in tables])
        for name in _NUMBERS[:4]
    )
    for name, words in _WORDS.items():
        if any(not set(t[name].to_pylist()) <= words for t in tables if name in t.column_names):
            raise Failed("a table holds a text where none belongs")
    refuse(np.isinf([estimate, low, high, typical]).any(), "a table holds a number without end")
    near = _DIGITS * (1 + np.abs(estimate))
    fits = np.abs(estimate - release.count(cells).estimate) <= near
    fits &= (low >= 0) & (low - near <= estimate) & ~(estimate > high + near) & ~(typical < 0)
    refuse(not fits[~np.isnan(estimate)].all(), "a table contradicts what was measured")


def _is_near(ours: pa.Table, stored: pa.Table) -> bool:
    """Whether a table is ours but for what the last digits of another machine may change.

    Numbers may differ by a millionth, and an end, which is a whole number, by the one to which it
    was rounded; a typical error is at most as wide as its interval, so it may follow. Labels and
    what an estimate rests on depend on no digits; what an estimate is worth follows from the
    numbers beside it.
    """
    names = [name for name in _NUMBERS if name in ours.column_names]
    one, other = ({name: table[name].to_numpy() for name in names} for table in (ours, stored))
    with np.errstate(invalid="ignore"):  # an end may be infinite in a forged table
        off = {name: np.abs(one[name] - other[name]) for name in names}
    few = {name: _DIGITS * (1 + np.abs(one[name])) for name in names}
    moved = np.fmax(off["low"], off["high"])
    few["typical_error"] += np.where(moved > _DIGITS, moved, 0)
    few |= {end: few[end] + 1 for end in ("low", "high")}
    holes = {name: np.isnan(one[name]) != np.isnan(other[name]) for name in names}
    if any((holes[name] | (off[name] > few[name])).any() for name in names):
        return False
    labels = np.array(ours["reliability"].to_pylist(), np.object_)
    ended = ~np.isnan(other["high"])  # without an end it depends on noise that is not beside it
    labels[ended] = np.array(_worth(stored), np.object_)[ended]
    others = [name for name in ours.column_names if name not in (*_NUMBERS, "reliability")]
    same = all(ours[name].equals(stored[name]) for name in others)
    return same and bool(labels.tolist() == stored["reliability"].to_pylist())


def _worth(table: pa.Table) -> tuple[str, ...]:
    """What the estimates of a table are worth by the numbers beside them."""
    estimate, low, high, typical = (table[name].to_numpy() for name in _NUMBERS[:4])
    error = "standard_error"
    none = np.full(table.num_rows, np.nan)
    known = table.column_names
    return reliability(Answers(
        estimate=estimate, low=low, high=high, level=USUAL,
        noise=none, uniformity_low=none, uniformity_high=none,
        typical_error=None if np.isnan(typical).all() else typical,
        standard_error=table[error].to_numpy() if error in known else None,
        basis=np.array(table["basis"].to_pylist()) if "basis" in known else None,
    ))  # fmt: skip
