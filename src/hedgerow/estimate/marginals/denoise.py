"""One-way tables without most of their noise, and how many records there are.

A table with many empty cells is mostly noise: each of them holds some, and together they draw
records away from the others. So where most cells lie within the noise, only those that stand out
are believed, and the few records that are then missing are laid where they are likely. A cell of
one value that may hold very many records, or none, whatever its neighbours hold (the lowest one, 0,
a common one, "other") is always believed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from hedgerow.arrays import Bools, Floats, Ints
from hedgerow.estimate.marginals.by_regions import Sides, combined
from hedgerow.estimate.rounding import project
from hedgerow.measured.edges import fine_edges, own_codes
from hedgerow.measured.marginals import Marginals
from hedgerow.measured.measurements import Measurement
from hedgerow.schema import Categorical

__all__ = ["LEAST", "beside_of", "code_masses", "denoise", "record_total", "totals_of"]


LEAST = 1e-6  # no cell is quite impossible: the noise hides small ones
_STANDS_OUT = 2.5  # standard deviations
_MOST_SMALL = 0.6  # of the cells, for a table that is believed as it is
_FALL = 4.0  # from one cell to the next, beside those that stand out


def denoise(
    counts: Floats,
    total: float,
    noise: float | Floats,
    *,
    ordered: bool,
    own: Bools | None = None,
) -> Floats:
    """Counts of cells that are not negative and add up to a total.

    Args:
        counts: The noisy counts.
        total: What they add up to, above 0.
        noise: The standard deviation of their noise, one for all or one for each.
        ordered: Whether neighbouring cells are alike, as those of numbers are.
        own: Cells of a value that neighbours say nothing about, such as 0 or "other": they keep
            their own noisy count, however small it is.

    Example:
        >>> denoise(np.array([60.0, 41.0]), 100.0, 1.0, ordered=True).tolist()
        [59.5, 40.5]
        >>> noisy = np.array([101.0, 5.0, -5.0, -1.0])
        >>> denoise(noisy, 100.0, 4.0, ordered=False).round(6).tolist()
        [100.0, 0.0, 0.0, 0.0]
        >>> denoise(noisy, 100.0, 4.0, ordered=False, own=noisy == 5).round(1).tolist()
        [95.3, 4.7, 0.0, 0.0]
    """
    square = np.square(noise)
    each = np.broadcast_to(square, counts.shape)
    # one noise for all is left as it is: published logits follow from these very numbers
    shares = each.sum() / square if square.ndim else len(counts)
    counts = counts + (total - counts.sum()) / shares
    small = counts < _STANDS_OUT * noise
    rest = np.ones(len(counts), np.bool_) if own is None else ~own
    if small.sum() <= _MOST_SMALL * len(counts):
        kept = np.where(rest, 0.0, np.maximum(counts, 0.0))
        left = max(total - float(kept.sum()), LEAST)
        kept[rest] = project(counts[rest], each[rest] / each.max(), left)
        return np.asarray(kept * (total / kept.sum()))
    beside = np.flatnonzero(~small)
    small &= rest
    kept = np.where(small, 0.0, np.maximum(counts, 0.0))
    missing = total - float(kept.sum())
    if not kept.any():
        return np.full(len(counts), total / len(counts))
    if missing > 0 and small.any():
        # what the kept cells' own noise may have made
        made = each[~small].sum() if square.ndim else noise**2 * (len(counts) - small.sum())
        missing *= max(0.0, 1 - float(made) / missing**2)
        likely = small.astype(np.float64)
        if ordered and len(beside):
            apart = np.abs(np.arange(len(counts))[:, None] - beside).min(axis=1)
            likely *= _FALL**-apart
        kept += missing * likely / likely.sum()
    return np.asarray(kept * (total / kept.sum()))


def record_total(marginals: Marginals, others: Iterable[tuple[float, float]]) -> float:
    """How many records there are: the mean of all that counted them, by their variances.

    Args:
        marginals: The tables, each of which counts everybody.
        others: Further totals with their variances.
    """
    variance = marginals.noise["one_way"] ** 2
    tables = [*marginals.single, *([marginals.classes] if len(marginals.classes) else [])]
    known = [(float(table.sum()), variance * len(table)) for table in tables if len(table)]
    known += others
    weights = sum(1 / spread for _, spread in known)
    return max(1.0, sum(value / spread for value, spread in known) / weights)


def totals_of(measurements: Iterable[Measurement]) -> list[tuple[float, float]]:
    """The totals of the whole table among some measurements, with their variances."""
    return [
        (float(m.values[0].sum()), float(m.variance[0]) * m.values.shape[1])
        for m in measurements
        if m.at == "node" and m.where.tolist() == [0]
    ]


def code_masses(
    marginals: Marginals, total: float, regions: Sequence[Sides] = ()
) -> tuple[Floats, ...]:
    """How many records have each code of each attribute; evenly where nothing was measured.

    Args:
        marginals: The tables.
        total: How many records there are.
        regions: What regions say about each attribute, if they are known.
    """
    found = []
    for place, attribute in enumerate(marginals.schema.attributes):
        if place >= len(marginals.single) or not len(marginals.single[place]):
            found.append(np.full(attribute.size, total / attribute.size))
            continue
        edges = marginals.cells.edges[place]
        ordered = not isinstance(attribute, Categorical)
        table, noise = _merged(marginals, place, regions)
        alone = np.isin(edges[:-1], list(own_codes(attribute))) & (np.diff(edges) == 1)
        mass = denoise(table, total, noise, ordered=ordered, own=alone) + LEAST
        codes = np.repeat(mass / np.diff(edges), np.diff(edges))
        for (where, cell), parts in marginals.fine.items():
            if where == place:
                _refine(codes, int(edges[cell]), int(edges[cell + 1]), parts, marginals.noise)
        found.append(codes * (total / codes.sum()))
    return tuple(found)


def beside_of(marginals: Marginals, place: int) -> list[tuple[Ints, float]]:
    """What the pairs say about the groups of an attribute, each with its variance."""
    return [
        (
            table.sum(axis=1 - pair.index(place)),
            marginals.noise["two_way"] ** 2 * table.shape[1 - pair.index(place)],
        )
        for pair, table in marginals.pair.items()
        if place in pair
    ]


def _merged(
    marginals: Marginals, place: int, regions: Sequence[Sides]
) -> tuple[Floats, float | Floats]:
    """The table of an attribute and its noise, with what pairs and regions say.

    Pairs only if their groups are cells.
    """
    table, noise = marginals.single[place].astype(np.float64), marginals.noise["one_way"]
    beside = beside_of(marginals, place)
    if beside and len(beside[0][0]) == len(table):
        weight = 1 / noise**2 + sum(1 / variance for _, variance in beside)
        summed = table / noise**2 + sum(counts / variance for counts, variance in beside)
        table, noise = summed / weight, float(weight**-0.5)
    if not regions:
        return table, noise
    edges = marginals.cells.edges[place]
    found, variance = combined(table, np.full(len(table), noise**2), edges, regions[place])
    return found, np.sqrt(variance)


def _refine(codes: Floats, low: int, high: int, parts: Ints, noise: Mapping[str, float]) -> None:
    """Lays the records of a cell where its parts say that they lie."""
    edges = fine_edges(low, high)
    once, again = noise["one_way"] ** 2, noise["fine"] ** 2 * len(parts)
    mass = float(codes[low:high].sum())
    mass = max(1.0, (mass / once + float(parts.sum()) / again) / (1 / once + 1 / again))
    inside = denoise(parts.astype(np.float64), mass, noise["fine"], ordered=True) + LEAST
    codes[low:high] = np.repeat(inside / np.diff(edges), np.diff(edges))
