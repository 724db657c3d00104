"""One-way tables and pairs of attributes, raw against released. NOT PRIVATE."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Ints
from hedgerow.data import Table
from hedgerow.evaluation.workload import exact_counts
from hedgerow.release import Release
from hedgerow.release.histogram import bins
from hedgerow.release.tabulate import cells_of, divisions_of
from hedgerow.schema import Categorical, Schema
from hedgerow.schema.query import Query

MOST_PAIRS, MOST_CELLS = 500, 1_000_000


@dataclass(frozen=True, kw_only=True)
class TableErrors:
    """How far the cells of `release.table(name)` are off. NOT PRIVATE.

    Args:
        name: The attribute, or the class.
        cells: How many cells its table has.
        mean: The mean error of a cell, in records.
        worst: The largest one.
        width: The median width of its intervals, in records; None if they have no upper end.
        covered: The share of cells whose interval holds the truth.
    """

    name: str
    cells: int
    mean: float
    worst: float
    width: float | None
    covered: float


def table_errors(table: Table, release: Release) -> tuple[TableErrors, ...]:
    """The one-way tables of all attributes and the class. NOT PRIVATE.

    Args:
        table: The raw table.
        release: A release of it.
    """
    schema, found = release.schema, []
    names = [attribute.name for attribute in schema.columns]
    tables = [
        cells_of(schema, divisions_of(schema, (name,), None, release.bands), Query(()))[1]
        for name in names
    ]
    cells = [cell for some in tables for cell in some]
    answers, counts = release.count(cells), exact_counts(table, cells)  # far quicker at once
    ends = np.cumsum([len(some) for some in tables])
    for name, some, end in zip(names, tables, ends.tolist(), strict=True):
        here = np.arange(end - len(some), end)
        told, truth = answers.take(here), counts[here]
        off = np.abs(told.estimate - truth)
        width = float(np.median(told.high - told.low))
        held = (told.low <= truth) & (truth <= told.high)
        found.append(
            TableErrors(
                name=name,
                cells=len(truth),
                mean=float(off.mean()),
                worst=float(off.max()),
                width=width if np.isfinite(width) else None,
                covered=float(held.mean()),
            )
        )
    return tuple(found)


def k_marginal(raw: NDArray[np.integer], made: Ints, schema: Schema, seed: int = 0) -> float | None:
    """The k-marginal score with k = 2, of 1,000. NOT PRIVATE.

    For each pair of attributes, the class being one, the shares of all cells are compared: half
    the sum of their absolute differences is 0 if they are the same and 1 if they have nothing in
    common. The score is 1,000 times one less the mean over all pairs, or over 500 random ones if
    there are more. Numbers are counted in round bands.

    Args:
        raw: Raw rows of codes: the predictors, then the class.
        made: Synthetic rows of codes.
        schema: The public schema.
        seed: Which pairs, if there are many.

    Returns:
        The score, or None if there are fewer than two attributes or no rows.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "a": {"type": "boolean"}, "b": {"type": "boolean"}}})
        >>> rows = np.array([[0, 0, 0], [1, 1, 0]])
        >>> k_marginal(rows, rows, schema), k_marginal(rows, np.array([[0, 1, 0]]), schema)
        (1000.0, 0.0)
    """
    columns = schema.columns
    if len(columns) < 2 or not len(raw) or not len(made):
        return None
    coarse, sizes = [], []
    for place, attribute in enumerate(columns):
        edges = np.arange(attribute.size + 1)
        if not isinstance(attribute, Categorical):
            edges = np.asarray(bins(attribute))
        sizes.append(len(edges) - 1)
        of = [rows[:, place].astype(np.int64) for rows in (raw, made)]
        coarse.append([np.searchsorted(edges, codes, "right") - 1 for codes in of])
    pairs = list(combinations(range(len(columns)), 2))
    if len(pairs) > MOST_PAIRS:
        chosen = np.random.default_rng(seed).choice(len(pairs), MOST_PAIRS, replace=False)
        pairs = [pairs[place] for place in chosen]
    off = []
    for one, other in pairs:
        keys = [coarse[one][side] * sizes[other] + coarse[other][side] for side in (0, 1)]
        if sizes[one] * sizes[other] > MOST_CELLS:  # many more cells than anybody has rows
            _, known = np.unique(np.concatenate(keys), return_inverse=True)
            keys = [known[: len(raw)], known[len(raw) :]]
        cells = 1 + max(int(key.max()) for key in keys)
        shares = [np.bincount(key, minlength=cells) / len(key) for key in keys]
        off.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(1000 * (1 - np.mean(off)))
