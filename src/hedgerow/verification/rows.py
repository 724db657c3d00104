"""`verify` for generalised rows: what was spent, and that leaving rows out was paid for by delta.

Like the rest of `verify` it believes the ledger in nothing that it can work out for itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.errors import HedgerowError
from hedgerow.measured.conversion import exact, group_delta, in_words
from hedgerow.measured.generalized import csv_blocks
from hedgerow.optimise.hierarchy import Forest
from hedgerow.release.files import check_file, other_files
from hedgerow.release.formats import ROWS_FILES
from hedgerow.release.manifest import package_version, schema_of
from hedgerow.release.rows import CELLS, TABLE, RowsRelease
from hedgerow.verification.prices import Failed, books, whole
from hedgerow.verification.suppressed import listing_delta, sampling_delta, sampling_floor

__all__ = ["check_rows"]

Checker = Callable[[str, Callable[[], str]], None]

_MOST_FAN = 1000
_MOST_LEAST = 5000  # of kept people in a listed row
_LARGEST_TERM = 1 << 50  # of a probability that can be drawn with
_MOST_ROWS_PER_PERSON = 10**6


def check_rows(
    source: str | Path | RowsRelease, manifest: dict[str, Any] | None, check: Checker
) -> tuple[RowsRelease | None, list[Fraction]]:
    """Runs all checks that are particular to generalised rows.

    Args:
        source: The folder, or a release in memory.
        manifest: The manifest of the folder.
        check: Runs one check and notes what came of it.

    Returns:
        The release if it could be read, and what one person can lose: epsilon and delta.
    """
    release: RowsRelease | None = source if isinstance(source, RowsRelease) else None
    if manifest is not None and not isinstance(source, RowsRelease):
        check("schema", lambda: _schema(manifest))
        for name in ROWS_FILES:
            check(name, lambda name=name: _hash(source, name, manifest))  # type: ignore[misc]
        check("other files", lambda: _alone(source, manifest))
        found: list[RowsRelease] = []
        check("contents", lambda: _contents(source, manifest, found))
        release = found[0] if found else None
    spent: list[Fraction] = []
    if release is not None:
        opened = release
        check("ledger", lambda: _ledger(opened))
        check("spending", lambda: _spending(opened, spent))
        check("rows", lambda: _rows(opened))
        check("order", lambda: _order(opened))
        if manifest is not None and manifest["package_version"] == package_version():
            check("table", lambda: _table(opened, manifest))
    return release, spent


def _schema(manifest: dict[str, Any]) -> str:
    schema_of(manifest)
    return "the schema matches its hash"


def _hash(path: str | Path, name: str, manifest: dict[str, Any]) -> str:
    check_file(path, name, manifest)
    return "the file matches its hash"


def _alone(path: str | Path, manifest: dict[str, Any]) -> str:
    if manifest["files"].keys() != set(ROWS_FILES):
        raise Failed("the manifest lists other files than those of generalised rows")
    others = other_files(path, manifest)
    if others:
        raise Failed(f"no part of the release, and to be removed: {others[0]!r}")
    return "the folder holds the files of the release and nothing else"


def _contents(path: str | Path, manifest: dict[str, Any], found: list[RowsRelease]) -> str:
    found.append(RowsRelease.from_folder(path, manifest))
    return f"{CELLS} holds generalised rows of the schema"


def _ledger(release: RowsRelease) -> str:
    """One charge for the rows, one for the side table if it was made, and nothing else."""
    booked = books(_as_pure(release.ledger))
    made = release.settings.get("side") == "made"
    if set(booked) != ({"side", "cells"} if made else {"cells"}):
        raise Failed("other things were paid for than the settings say")
    if made:
        side, share = booked["side"], whole(release.settings["side_share"], 1)
        if side.once() * 100 != share * side.granted:
            raise Failed("the side table had another share of the budget than the settings say")
    total = sum(book.once() for book in booked.values())
    if total != next(iter(booked.values())).granted:
        raise Failed("what was charged is not what was granted")
    stated = {purpose: book.total for purpose, book in booked.items()}
    paths = release.ledger["paths"]
    if len(paths) != 1 or paths[0]["spent"] != {"epsilon": stated}:
        raise Failed("what the ledger says of paths is not what was charged")
    return "the rows were paid for once, and so was the side table if it was made"


def _as_pure(ledger: dict[str, Any]) -> dict[str, Any]:
    if ledger.get("accounting") != "suppression":
        raise Failed("the accounting is not that of generalised rows")
    return {**ledger, "accounting": "pure"}


def _spending(release: RowsRelease, spent: list[Fraction]) -> str:
    book = books(_as_pure(release.ledger))["cells"]
    rule = release.ledger["suppression"]
    rate = book.unit * book.once()
    rows = whole(release.ledger["person_rows"], 1)
    if rows > _MOST_ROWS_PER_PERSON:
        raise Failed("the cap on rows per person is too large to mean anything")
    mode = release.settings.get("mode")
    if mode == "noisy":
        if exact(rule["rate"]) != rate or "share" in rule:
            raise Failed("the noise is not what was paid for")
        least = whole(rule["threshold"], 1)
        delta = listing_delta(rate, least)
        words = f"rows are listed from a noisy count of {least} on"
    elif mode == "sampled":
        share, least = exact(rule["share"]), whole(rule["least"], 1)
        if least > _MOST_LEAST or share.denominator >= _LARGEST_TERM:
            raise Failed("people are kept and rows left out by numbers that no plan has")
        if not 0 < share < 1 or rate < sampling_floor(share):
            raise Failed("so many people were kept that epsilon cannot pay for it")
        delta = sampling_delta(rate, least, share, exact(release.guarantee["delta"]) / 1000)
        kept = "people are" if rows == 1 else "each row is"
        words = f"{kept} kept with probability {share}, listed from {least} of them on"
    else:
        raise Failed("the settings name no mode that is known")
    if release.counts.min(initial=least) < least:
        raise Failed("a row is listed although it is below the threshold")
    epsilon = book.unit * book.granted
    spent += [epsilon * rows, group_delta(epsilon, delta, rows) if rows > 1 else delta]
    return f"recomputed: epsilon {in_words(spent[0])}, delta {in_words(spent[1])}; {words}"


def _rows(release: RowsRelease) -> str:
    fan = whole(release.settings["fan"], 2)
    if fan > _MOST_FAN:
        raise Failed("intervals are cut into more parts than any setting allows")
    try:
        forest = Forest.of(release.attributes, fan)
    except HedgerowError as error:
        raise Failed(error.message) from None
    ends = np.append(forest.root[1:], len(forest.lo)).tolist()
    for place, (start, end) in enumerate(zip(forest.root.tolist(), ends, strict=True)):
        known = set(zip(forest.lo[start:end].tolist(), forest.hi[start:end].tolist(), strict=True))
        listed = zip(release.lo[:, place].tolist(), release.hi[:, place].tolist(), strict=True)
        if not known.issuperset(listed):
            raise Failed("a row is no combination of values of the public hierarchies")
    return "every row is a combination of values of the public hierarchies"


def _order(release: RowsRelease) -> str:
    width = release.lo.shape[1]
    columns = [key[:, place] for place in range(width) for key in (release.lo, -release.hi)]
    order = np.lexsort(columns[::-1])
    same = np.ones(max(0, len(order) - 1), bool)
    for column in columns:
        same &= column[1:] == column[:-1]
    if not np.array_equal(order, np.arange(len(order))) or same.any():
        raise Failed("the rows are not in canonical order, which could tell of data")
    return "everything stands in canonical order, and no row comes twice"


def _table(release: RowsRelease, manifest: dict[str, Any]) -> str:
    digest = hashlib.sha256()
    for block in csv_blocks(release.generalized("arrow")):
        digest.update(block)
    if digest.hexdigest() != manifest["files"][TABLE]:
        raise Failed("the readable table does not say what the rows say")
    return "the readable table says what the rows say"
