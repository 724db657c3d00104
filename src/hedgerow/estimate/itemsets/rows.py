"""Simulated transactions: draws that read published numbers alone, and the frames they come in."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Floats, Ints
from hedgerow.errors import UsageError
from hedgerow.schema import Items

__all__ = ["MOST_RECORDS", "draw_cells", "gather", "rows_table"]


MOST_RECORDS = 100_000_000


def draw_cells(weights: Floats, n: int | None, random: np.random.Generator) -> Ints:
    """The cell of each record, in the order of the cells.

    Args:
        weights: How many records each cell should have, none negative.
        n: How many records; without it, as many as the weights sum to, each cell with its own
            number, rounded at random.
        random: Where the draws come from.

    Raises:
        UsageError: If there are none to draw from, or more than fit.
    """
    total = float(weights.sum())
    if n and total <= 0:
        raise UsageError(
            "this release counts no records, so there is nothing to draw from",
            hint="Leave the number of records out to get an empty table.",
        )
    if (total if n is None else n) > MOST_RECORDS:
        raise UsageError(
            f"more than {MOST_RECORDS} records are too many to draw at once",
            hint="Ask for fewer records, several times if need be.",
        )
    if n is not None:
        counts = random.multinomial(n, weights / total) if n else np.zeros(len(weights), np.int64)
    else:
        counts = np.floor(weights).astype(np.int64)
        rest = weights - counts
        short = round(total) - int(counts.sum())
        if short > 0:
            counts += random.multinomial(short, rest / rest.sum())
    return np.repeat(np.arange(len(weights)), counts)


def gather(
    record: Ints, code: Ints, records: int, random: np.random.Generator
) -> tuple[Ints, Ints]:
    """Records in random order from pairs of a record and an item.

    Example:
        >>> start, codes = gather(np.array([0, 0]), np.array([3, 1]), 1, np.random.default_rng(0))
        >>> start.tolist(), codes.tolist()
        ([0, 2], [1, 3])
    """
    place = random.permutation(records)
    where = place[record]
    order = np.lexsort((code, where))
    start = np.concatenate(([0], np.cumsum(np.bincount(where, minlength=records))))
    return start.astype(np.int64), code[order]


def rows_table(items: Items, start: Ints, codes: Ints, form: str) -> pa.Table:
    """Transactions as a table.

    Args:
        items: The universe. The item that stands for an empty record is left out again.
        start: Where each record begins in `codes`, and the end of the last.
        codes: The items.
        form: "lists", one row per record with the list of its items, or "long", one row per
            record and item, which has no row for an empty record.

    Raises:
        UsageError: If the form is unknown.

    Example:
        >>> known = Items(("milk", "bread", "tea"))
        >>> rows_table(known, np.array([0, 2, 3]), np.array([0, 2, 1]), "lists").to_pydict()
        {'items': [['milk', 'tea'], ['bread']]}
        >>> rows_table(known, np.array([0, 2, 3]), np.array([0, 2, 1]), "long").to_pydict()
        {'record': [0, 0, 1], 'item': ['milk', 'tea', 'bread']}
    """
    if form not in ("lists", "long"):
        raise UsageError(
            f"transactions have no form called {form!r}", hint="Ask for 'lists' or 'long'."
        )
    if items.dummy is not None:
        kept = codes != items.dummy
        start = np.concatenate(([0], np.cumsum(kept)))[start]
        codes = codes[kept]
    labels = pa.array(items.labels, pa.string()).take(pa.array(codes.astype(np.int64)))
    if form == "lists":
        lists = pa.LargeListArray.from_arrays(pa.array(start.astype(np.int64)), labels)
        return pa.table({items.column or "items": lists})
    record = np.repeat(np.arange(len(start) - 1), np.diff(start))
    return pa.table({items.person or "record": record, items.item or "item": labels})
