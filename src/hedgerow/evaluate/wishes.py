"""How accurate numbers of a release are to be, in the words of whoever will use them.

    count of 500 within 60      the count of a value, or of a band of a number, that about 500
                                records have is off by at most 60 (or 12%, of these 500)
    job within 2%               every share in the table of job is off by at most 2 points

Errors are compared on data that is simulated or public.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.arrays import Floats
from hedgerow.data import Transactions
from hedgerow.errors import UsageError
from hedgerow.evaluate.workload import exact_counts
from hedgerow.release import Release
from hedgerow.release.tabulate import cells_of, divisions_of
from hedgerow.schema import Query, Schema
from hedgerow.schema.conditions import suggest

__all__ = ["Cells", "Wish", "cells_of_release", "errors_of", "read_wish"]

NEAREST = 5  # counts that a wish about a count is tried on, in each release
_FAR = 2.0  # a count that is so many times larger or smaller is not "about" the wanted one
_NUMBER = r"(\d[\d,_]*(?:\.\d+)?|\.\d+)"
_WISH = re.compile(rf"\s*(.+?)\s+within\s+{_NUMBER}\s*(%?)\s*", re.I | re.S)
_COUNT = re.compile(rf"count\s+of\s+{_NUMBER}", re.I)


@dataclass(frozen=True, kw_only=True)
class Wish:
    """One wish.

    Args:
        text: As it was written.
        bound: The error that is allowed: in records, or for a table in shares of all records.
        count: About how many records are counted; None for a wish about a table.
        attribute: Whose table it is about.
    """

    text: str
    bound: float
    count: float | None = None
    attribute: str | None = None

    def shown(self, error: float) -> str:
        """An error in the terms of the wish.

        Example:
            >>> Wish(text="", bound=1, count=500).shown(61.2)
            '61'
            >>> Wish(text="", bound=0.02, attribute="job").shown(0.0213)
            '2.1%'
        """
        return f"{error:.1%}" if self.count is None else f"{error:,.{0 if error >= 10 else 1}f}"


Cells = Mapping[str, tuple[Floats, Floats]]
"""For each attribute (or "item") the estimates of the cells of its table, and their true counts."""


def read_wish(text: str, schema: Schema) -> Wish:
    """Reads a wish.

    Raises:
        UsageError: If it cannot be understood, or no attribute has that name.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "job": {"type": "categorical", "values": ["cook", "nurse"]}}})
        >>> read_wish("count of 500 within 12%", schema).bound
        60.0
        >>> read_wish("job within 2%", schema).bound
        0.02
    """
    found = _WISH.fullmatch(text)
    if found is None:
        raise UsageError(
            f"the target {text!r} cannot be understood",
            hint='Write "count of 500 within 60", or "job within 2%" for the table of job.',
        )
    what, number, percent = found[1], _number(found[2]), bool(found[3])
    if number <= 0:
        raise UsageError(f"the target {text!r} allows no error", hint="Every release has some.")
    count = _COUNT.fullmatch(what)
    if count is not None:
        about = _number(count[1])
        if about <= 0:
            raise UsageError(f"the target {text!r} counts nobody", hint="Name a count above 0.")
        return Wish(text=text, bound=about * number / 100 if percent else number, count=about)
    names = [attribute.name for attribute in schema.attributes]
    names += [] if schema.target is None else [schema.target.name]
    if what not in names:
        raise UsageError(
            f"the target {text!r} is about an attribute that the schema does not have",
            hint=suggest(what, names, "Its attributes")
            if names
            else 'For transactions, write "count of 500 within 60".',
        )
    if not percent:
        raise UsageError(
            f"the target {text!r} does not say percent",
            hint=f'Shares of a table are meant: write "{what} within 2%".',
        )
    return Wish(text=text, bound=number / 100, attribute=what)


def _number(text: str) -> float:
    return float(text.replace(",", "").replace("_", ""))


def cells_of_release(release: Release, data: Any, names: Sequence[str] | None = None) -> Cells:
    """What a release says of the cells of one-way tables, beside the truth.

    Args:
        release: A release of simulated or public data.
        data: That data, as it was published.
        names: Which attributes; all without it.
    """
    if isinstance(data, Transactions):
        (spread,) = release.histograms()
        truth = np.bincount(data.codes, minlength=len(spread.counts)).astype(np.float64)
        return {"item": (spread.counts, truth)}
    schema, found = release.schema, {}
    target = [] if schema.target is None else [schema.target.name]
    for name in names or [*(attribute.name for attribute in schema.attributes), *target]:
        _, cells = cells_of(schema, divisions_of(schema, (name,), None, release.bands), Query(()))
        found[name] = release.estimate(cells), exact_counts(data, cells)
    return found


def errors_of(wish: Wish, cells: Cells, records: int) -> Floats:
    """The errors that a wish is about, in one release.

    For a table that is one: the largest error of its shares. For a count they are those of the
    five cells, of any attribute, whose true counts are nearest to the wanted one; none if no
    count is within a factor of two of it.

    Args:
        wish: The wish.
        cells: What `cells_of_release` gave.
        records: How many records there are.
    """
    if wish.attribute is not None:
        told, truth = cells[wish.attribute]
        total = max(1.0, float(told.sum()))
        return np.asarray([np.abs(told / total - truth / max(1, records)).max()])
    assert wish.count is not None
    told = np.concatenate([estimate for estimate, _ in cells.values()])
    truth = np.concatenate([one for _, one in cells.values()])
    distance = np.abs(np.log(np.maximum(truth, 0.5) / wish.count))
    chosen = np.argsort(distance, kind="stable")[:NEAREST]
    chosen = chosen[distance[chosen] <= np.log(_FAR)]
    return np.asarray(np.abs(told - truth)[chosen])
