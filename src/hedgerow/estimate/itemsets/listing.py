"""The list of itemsets that people read: those whose noisy count stands out of the noise.

It is made of noisy counts as they were drawn, so that writing it costs next to nothing. Of all
places that are empty, at most half a one on average has noise that reaches the threshold t. For M
places and Laplace noise with a = exp(-epsilon), that is M a^t / (1 + a) <= 1/2. Gaussian noise
reaches t no more often than a normal noise with the same variance reaches t - 1/2 (step 3 of
`hedgerow.estimate.noise`), and that must be at most 1 / (2 M).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Ints
from hedgerow.measured.itemsets import CoreCells, Itemsets
from hedgerow.measured.measurements import Law, Measurement
from hedgerow.schema import Items
from hedgerow.schema.item_tree import ItemTree

__all__ = ["ListedItemsets", "list_itemsets", "public_threshold", "text_blocks"]


_LINES_PER_BLOCK = 10_000


@dataclass(frozen=True, eq=False, kw_only=True)
class ListedItemsets:
    """Itemsets with noisy counts, the largest first, equal ones in the order of their places.

    Args:
        count: The noisy counts.
        start: Where the items of each begin, and the end of the last.
        codes: Places in `labels`.
        labels: What items and groups of items are called.
        others: How many other items the records have, in words; None if that says nothing.
    """

    count: Ints
    start: Ints
    codes: Ints
    labels: Sequence[str]
    others: tuple[Sequence[str], Ints] | None

    def table(self) -> pa.Table:
        """The columns `count`, `items` and, where it tells something, `others`."""
        labels = pa.array(self.labels, pa.string()).take(pa.array(self.codes))
        lists = pa.ListArray.from_arrays(pa.array(self.start.astype(np.int32)), labels)
        columns = {"count": pa.array(self.count), "items": lists}
        if self.others is not None:
            words, which = self.others
            columns["others"] = pa.array(words, pa.string()).take(pa.array(which))
        return pa.table(columns)


def public_threshold(variance: float, places: int, law: Law = "laplace") -> int:
    """The least count that stands out among so many places.

    Args:
        variance: That of the continuous law of the noise: 2 / epsilon^2 if it is Laplace.
        places: How many places there are.
        law: The law of the noise.

    Example:
        >>> public_threshold(2.0, 2**17), public_threshold(200.0, 100)
        (13, 47)
        >>> public_threshold(2.0, 2**17, "gaussian"), public_threshold(200.0, 100, "gaussian")
        (7, 37)
    """
    places = max(places, 1)
    if law == "gaussian":
        below = 0.5 - math.sqrt(variance) * NormalDist().inv_cdf(1 / (2 * places))
    else:
        epsilon = math.sqrt(2 / variance)
        below = math.log(2 * places / (1 + math.exp(-epsilon))) / epsilon
    return max(1, math.ceil(below))


def list_itemsets(
    items: Items, partition: Itemsets, measurements: Sequence[Measurement]
) -> ListedItemsets:
    """The itemsets that stand out of the noise."""
    core = isinstance(partition, CoreCells)
    name = "cell" if core else "leaf"
    empty = np.zeros(0, np.int64)
    where, count = empty, empty
    for found in measurements:
        if found.name == name and len(found.where):
            variance, which = np.unique(found.tail_variance, return_inverse=True)
            listed = not core and len(found.where) < partition.cells  # they passed a threshold
            places = 1 if listed else partition.cells
            least = [public_threshold(one, places, found.law) for one in variance.tolist()]
            values = found.values[:, 0]
            stand = np.ones(len(values), bool) if listed else values >= np.array(least)[which]
            order = np.lexsort((found.where[stand], -values[stand]))
            where, count = found.where[stand][order], values[stand][order]
    if isinstance(partition, CoreCells):
        return _cells(items, partition, where, count)
    number = np.diff(partition.cut_start)[where]
    start = np.concatenate(([0], np.cumsum(number)))
    first = np.repeat(partition.cut_start[where] - start[:-1], number)
    codes = partition.cut[first + np.arange(int(start[-1]))]
    return ListedItemsets(
        count=count, start=start, codes=codes, labels=ItemTree.of(items).labels, others=None
    )


def _cells(items: Items, partition: CoreCells, where: Ints, count: Ints) -> ListedItemsets:
    mask, place = np.divmod(where, len(partition.rest))
    holds = (mask[:, None] >> np.arange(len(partition.core)) & 1).astype(bool)
    start = np.concatenate(([0], np.cumsum(holds.sum(axis=1))))
    codes = partition.core[np.nonzero(holds)[1]]
    if len(partition.rest) == 1 and len(partition.core) == items.size:
        return ListedItemsets(
            count=count, start=start, codes=codes, labels=items.labels, others=None
        )
    last = [*(partition.rest[1:] - 1).tolist(), None]
    words = [
        f"{low} or more" if high is None else str(low) if low == high else f"{low} to {high}"
        for low, high in zip(partition.rest.tolist(), last, strict=True)
    ]
    return ListedItemsets(
        count=count, start=start, codes=codes, labels=items.labels, others=(words, place)
    )


def text_blocks(listed: ListedItemsets) -> Iterator[bytes]:
    """The list as text: a head, then one line for each itemset, fields divided by tabs."""
    about = "count, then the items"
    if listed.others is not None:
        about = "count, how many other items, then the items"
    yield (
        f"# {about}, divided by tabs. Counts are noisy, as they were drawn; only those are\n"
        "# listed that stand out of the noise. How many records hold some items, whatever else\n"
        "# they hold? hedgerow.Release.load(folder).count([...]) estimates it, with an interval.\n"
    ).encode()
    names = [_field(label) for label in listed.labels]
    start, codes, counts = listed.start.tolist(), listed.codes.tolist(), listed.count.tolist()
    for begin in range(0, len(counts), _LINES_PER_BLOCK):
        lines = []
        for place in range(begin, min(begin + _LINES_PER_BLOCK, len(counts))):
            fields = [str(counts[place])]
            if listed.others is not None:
                fields.append(listed.others[0][listed.others[1][place]])
            fields += [names[code] for code in codes[start[place] : start[place + 1]]]
            lines.append("\t".join(fields) + "\n")
        yield "".join(lines).encode()


def _field(label: str) -> str:
    """A label as a field; one that would be misread is written as JSON writes it."""
    plain = label.isprintable() and not label.startswith(('"', "#"))
    return label if plain else json.dumps(label, ensure_ascii=False)
