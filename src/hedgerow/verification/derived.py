"""What a folder holds beside its sources follows from them: rows, tables, texts.

A part of `verify`. The manifest names the version of the estimator that made rows and tables. What
today's made is made again and compared. Estimators get better, and what an earlier one made (or a
later one) is held to what was measured instead: rows to the noisy tables as nearly as their noise
allows, tables to the rows and to intervals that hold almost surely. Texts are compared if this
version of the package wrote them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.estimate.answers import NOISE, USUAL, Answers, reliability
from hedgerow.estimate.queries import ASSUMED_EVEN, MEASURED, MODELED, NOT_MEASURED, RULED_OUT
from hedgerow.release import Release
from hedgerow.release.files import names_of, read_table
from hedgerow.release.manifest import package_version
from hedgerow.release.plain_files import METADATA, README, ROWS, TABLES, csv_of, is_table_file
from hedgerow.release.tabulate import divisions_of
from hedgerow.schema import Categorical, Query, Schema
from hedgerow.verification.prices import Failed
from hedgerow.verification.rules import Rules

_SURE = 1 - 1e-9
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
    if not estimator_of(manifest):
        raise Failed("the version of the estimator is no whole number above 0")
    if estimator_of(manifest) != release.estimator:
        return _hold_to_measurements(release, path, manifest, rules)
    rows = None
    if rules.upon is not None:
        rows = read_table(path, ROWS, manifest, like=release.stand_ins())
        release = rules.upon(release, rows, True)
    contents = list(release.files())
    if {name for name, _ in contents} != set(names_of(manifest)):
        raise Failed("the tables are not those that follow from what was measured")
    ours = manifest["package_version"] == package_version()
    stored_tables: dict[str, pa.Table] = {}
    for name, content in contents:
        if (rows is not None and name == ROWS) or (name in (README, METADATA) and not ours):
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


def _hold_to_measurements(
    release: Release, path: Any, manifest: dict[str, Any], rules: Rules
) -> str:
    """Nothing contradicts what was measured, though nothing can be made again."""
    for name, content in release.own_files():
        if name in release.sources and isinstance(content, pa.Table):
            stored = read_table(path, name, manifest, like=content)
            if not content.equals(stored):
                raise Failed(f"{name} holds more than what was measured")
    if rules.upon is not None:
        rows = read_table(path, ROWS, manifest, like=release.stand_ins(), any_rows=True)
        release = rules.upon(release, rows, False)
    if release.schema.kind == "table":  # others hold sets of items
        _hold_tables(release, path, manifest, counted=rules.upon is not None)
    return (
        f"another version of the estimator made rows and tables ({estimator_of(manifest)}; here "
        f"{release.estimator}): they agree with what was measured and were not made again"
    )


def _hold_tables(release: Release, path: Any, manifest: dict[str, Any], *, counted: bool) -> None:
    """Tables say the same in both forms, and nothing that contradicts what was measured."""
    today = release.named_tables()
    files = {name for name in names_of(manifest) if is_table_file(name)}
    stems = {name.removeprefix(f"{TABLES}/").rpartition(".")[0] for name in files}
    if len(files) != 2 * len(stems) or not stems <= today.keys():
        raise Failed("the tables are not those that were measured")
    cells: list[Query] = []
    tables = []
    for stem in sorted(stems):
        names, table = today[stem]
        name, like = f"{TABLES}/{stem}", _lengthen(table, release.schema)
        table = read_table(path, f"{name}.parquet", manifest, like=like, any_rows=True)
        if hashlib.sha256(csv_of(table)).hexdigest() != manifest["files"][f"{name}.csv"]:
            raise Failed("a table says other things as text than as Parquet")
        cells += _cells_of(table, names, release.schema)
        tables.append(table)
    if cells:
        _hold_cells(release, cells, tables, counted=counted)


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
    if len(set(labels)) < len(labels):
        raise Failed("a table has a cell twice")
    for cell in labels:
        where, classes = [], None
        for place, label, parts in zip(places, cell, spans, strict=True):
            if label not in parts:
                raise Failed("a table has a cell that the schema does not have")
            low, high = parts[label]
            if place == len(schema.attributes):
                classes = tuple(range(low, high))
            else:
                where.append((place, ((float(low), float(high)),)))
        yield Query(tuple(sorted(where)), classes)


def _spans(table: pa.Table, name: str, schema: Schema) -> dict[str, tuple[int, int]]:
    """The codes that each label of a column stands for."""
    column = schema[name]
    if isinstance(column, Categorical):
        return dict(zip(column.taxonomy.labels, column.taxonomy.spans, strict=True))
    starts = table[next(one for one in table.column_names if one.startswith(f"{name}_low"))]
    bins = {name: [value for value in starts.to_pylist() if value is not None] or [column.edge(0)]}
    ((_, division),) = divisions_of(schema, (name,), bins, lambda _: ())
    return {label: (low, high) for label, low, high in division}


def _hold_cells(
    release: Release, cells: Sequence[Query], tables: Sequence[pa.Table], *, counted: bool
) -> None:
    """Estimates are counts of the rows, or surely possible, and lie inside their intervals."""
    estimate, low, high, typical = (
        np.concatenate([table[name].to_numpy().astype(np.float64) for table in tables])
        for name in _NUMBERS[:4]
    )
    for name, words in _WORDS.items():
        if any(not set(t[name].to_pylist()) <= words for t in tables if name in t.column_names):
            raise Failed("a table holds a text where none belongs")
    if np.isinf([estimate, low, high, typical]).any():
        raise Failed("a table holds a number without end")
    answers = release.count(cells, level=_SURE)
    near = _DIGITS * (1 + np.abs(estimate))
    inside = np.maximum(estimate, 0.0)  # some methods' estimates may be negative
    if counted:
        fits = np.abs(estimate - answers.estimate) <= near
    else:
        fits = (answers.low - near <= inside) & (inside <= answers.high + near)
    fits &= (low >= 0) & (low - near <= inside) & ~(inside > high + near) & ~(typical < 0)
    if not fits[~np.isnan(estimate)].all():
        raise Failed("a table contradicts what was measured")


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
    if any(
        (np.isnan(one[name]) != np.isnan(other[name])).any() or (off[name] > few[name]).any()
        for name in names
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
    estimate, low, high, typical = (table[name].to_numpy() for name in _NUMBERS[:4])
    error = "standard_error"
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
            standard_error=table[error].to_numpy() if error in table.column_names else None,
            basis=np.array(table["basis"].to_pylist()) if "basis" in table.column_names else None,
        )  # fmt: skip
    )
