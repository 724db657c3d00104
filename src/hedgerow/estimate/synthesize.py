"""Synthetic rows: records drawn inside the regions of a release.

Drawing reads published counts only, so ordinary pseudo-random numbers are right here: nothing
secret hangs on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Bools, Floats, Ints
from hedgerow.errors import UsageError
from hedgerow.estimate.cells import Cells
from hedgerow.estimate.consistency import Fit
from hedgerow.measured.partition import Partition, Parts, TreePartition, dictionary, numbers
from hedgerow.schema import Attribute, Categorical, Numeric, Schema
from hedgerow.suggestions import whole

STAND_INS = 100_000
_MOST_ROWS = 1 << 24  # a release may come from anybody, and claim any number


def draw_rows(
    schema: Schema,
    parts: Sequence[Parts],
    counts: Ints,
    n: int | None = None,
    seed: int | None = None,
) -> pa.Table:
    """Rows with the schema's columns, the class last, in random order.

    Within its region a value is uniform over the codes. Integers and dates are then uniform within
    their grid cell; decimals are grid points, no finer than the schema's step. The "other" code of
    a numeric attribute becomes null.

    Args:
        schema: The public description of the columns.
        parts: For each attribute the intervals of the published regions, or of generalized rows.
        counts: The counts of these, shape [regions, classes].
        n: How many rows to draw; without it, as many as the release counts.
        seed: For the same rows again.

    Raises:
        UsageError: If n or the seed is no whole number from 0, the release counts nobody to draw
            from, or no n is given and it counts very many.
    """
    check_whole("n", n)
    check_whole("seed", seed)
    random = np.random.default_rng(seed)
    columns = draw_codes(schema, parts, counts, n, random)
    return pa.table({one.name: values_of(one, codes, random) for one, codes in columns})


def draw_codes(
    schema: Schema,
    parts: Sequence[Parts],
    counts: Ints,
    n: int | None,
    seed: np.random.Generator | int,
) -> Iterator[tuple[Attribute, Ints]]:
    """The same rows as codes, one column after another: see `draw_rows`."""
    random = np.random.default_rng(seed)
    weights = counts.ravel()
    if n is None and int(weights.sum()) > _MOST_ROWS:
        raise UsageError(
            "this release counts very many records, more than are drawn unasked",
            hint="Say how many rows you want (--rows, n=).",
        )
    if n is not None:
        weights = _share_out(n, weights, random)
    cell = random.permutation(np.repeat(np.arange(len(weights)), weights))
    yield from _codes_of(schema, parts, counts.shape[1], cell, random)


def _codes_of(
    schema: Schema, parts: Sequence[Parts], classes: int, cell: Ints, random: np.random.Generator
) -> Iterator[tuple[Attribute, Ints]]:
    row, klass = np.divmod(cell, classes)
    for attribute, part in zip(schema.attributes, parts, strict=True):
        interval = part.index[row]
        low, width = part.lo[interval], (part.hi - part.lo)[interval]
        yield attribute, low + (random.random(len(row)) * width).astype(np.int64)
    if schema.target is not None:
        yield schema.target, klass


def stand_for(
    schema: Schema, parts: Sequence[Parts], counts: Ints, seed: int
) -> tuple[pa.Table, Floats]:
    """Rows that stand for the records of regions, and for how many each does.

    Those of a region and class add up to its count. There are as many rows as records, or with very
    many about `STAND_INS`, at least one for each count above 0.

    Args:
        schema: The public description of the columns.
        parts: As for `draw_rows`.
        counts: As for `draw_rows`.
        seed: Where the rows come from.
    """
    weights, total = counts.ravel(), int(counts.sum())
    number = weights
    if total > STAND_INS:
        number = np.ceil(weights * (STAND_INS / total)).astype(np.int64)
    random = np.random.default_rng(seed)
    cell = random.permutation(np.repeat(np.arange(len(weights)), number))
    columns = _codes_of(schema, parts, counts.shape[1], cell, random)
    rows = pa.table({one.name: values_of(one, codes, random) for one, codes in columns})
    return rows, weights[cell] / np.maximum(1, number)[cell]


def rows_of(schema: Schema, codes: Ints, classes: Ints, random: np.random.Generator) -> pa.Table:
    """Rows of codes with their classes as a table of values."""
    columns = {
        attribute.name: values_of(attribute, codes[:, place], random)
        for place, attribute in enumerate(schema.attributes)
    }
    if schema.target is not None:
        columns[schema.target.name] = values_of(schema.target, classes, random)
    return pa.table(columns)


def check_whole(name: str, number: object) -> None:
    """Refuses what is no whole number from 0; None means that nothing was asked for."""
    if number is not None and whole(name, number) < 0:
        raise UsageError(
            f"{name} is negative.", hint=f"Write {name}=0 or more, or leave {name} out."
        )


def _share_out(n: int, weights: Ints, random: np.random.Generator) -> Ints:
    total = int(weights.sum())
    if n and not total:
        raise UsageError(
            "this release counts no records, so there is nothing to draw from",
            hint="Leave the number of rows out to get an empty table.",
        )
    return random.multinomial(n, weights / max(total, 1)) if n else np.zeros_like(weights)


def values_of(attribute: Attribute, codes: Ints, random: np.random.Generator) -> pa.Array:
    """Values for codes: labels, or numbers and dates drawn inside their grid cells."""
    if isinstance(attribute, Numeric):
        return _numeric(attribute, codes, random)
    return labels_of(attribute, codes)


def labels_of(attribute: Categorical, codes: Ints, nulls: Bools | None = None) -> pa.Array:
    """The leaf labels of codes; truth values if the attribute is a boolean of just those."""
    leaves = attribute.taxonomy.leaves
    truths = [leaf.lower() == "true" for leaf in leaves]
    if attribute.boolean and sorted(leaf.lower() for leaf in leaves) == ["false", "true"]:
        return pa.array(np.array(truths)[codes], mask=nulls)
    return dictionary(pa.array(codes.astype(np.int32), mask=nulls), leaves)


def _numeric(attribute: Numeric, codes: Ints, random: np.random.Generator) -> pa.Array:
    nulls = codes >= attribute.grid
    if attribute.kind == "decimal":
        return numbers(attribute, codes, nulls)
    low, high, step = int(attribute.low), int(attribute.high), int(attribute.step)
    start = low + np.minimum(codes, attribute.grid - 1) * step
    width = np.minimum(start + step, high + 1) - start  # the last cell may be cut short
    values = start if step == 1 else start + (random.random(len(codes)) * width).astype(np.int64)
    if attribute.kind == "date":
        return pa.array(values.astype(np.int32), pa.int32(), mask=nulls).cast(pa.date32())
    return pa.array(values, pa.int64(), mask=nulls)


# Which class a region mostly holds, with the help of its ancestors.
#
# A small region's counts are mostly noise. In a tree its parent is larger and much like it, so the
# parent's shares are the better guess wherever the region itself says little. All of it is computed
# from published numbers.


_SPREAD = 0.05
"""How far a node's class shares lie from its parent's, as a variance, about. Anything between
0.03 and 0.1 serves UCI Adult alike."""


def class_shares(partition: Partition, fit: Fit) -> Floats:
    """The shares of the classes in each region, shape [regions, classes].

    From the top down, a node's shares are the mean of its own and of its parent's, weighted by
    how much noise its own carry. Regions of a grid have no ancestors, and stand for themselves.
    """
    if not isinstance(partition, TreePartition) or len(partition.parent) == 1:
        return fit.cells
    parent, depth = partition.parent, partition.depth
    noise = np.zeros(len(parent))
    noise[partition.leaves] = fit.variance
    levels = [np.flatnonzero(depth == level) for level in range(int(depth.max()) + 1)]
    for nodes in levels[:0:-1]:
        np.add.at(noise, parent[nodes], noise[nodes])  # no less than it is: estimates agree better
    counts = np.maximum(fit.counts, 0)
    size = counts.sum(axis=1)
    own = counts / np.maximum(size, 1e-9)[:, None]
    weight = size**2 * _SPREAD / (size**2 * _SPREAD + noise + 1e-9)
    shares = own.copy()
    for nodes in levels[1:]:
        mine = weight[nodes, None]
        shares[nodes] = mine * own[nodes] + (1 - mine) * shares[parent[nodes]]
    found: Floats = shares[partition.leaves]
    return found


def class_weights(partition: Partition, cells: Cells, found: Ints) -> Floats:
    """How much each class weighs in some regions; in those that are suppressed, as in the whole.

    Args:
        partition: The regions.
        cells: What is known about the listed ones.
        found: The regions asked about, such as those of rows.
    """
    shares = cells.values if cells.fit is None else class_shares(partition, cells.fit)
    every = np.vstack([shares, cells.values.sum(axis=0)])
    place = np.searchsorted(cells.regions, found)
    listed = np.append(cells.regions, -1)[place] == found
    return np.asarray(every[np.where(listed, place, len(cells.regions))])


def probabilities_of(weights: Floats) -> Floats:
    """Weights of classes as probabilities, shape [rows, classes].

    Example:
        >>> probabilities_of(np.array([[3.0, 1.0], [3.0, -1.0], [-2.0, -1.0]])).tolist()
        [[0.75, 0.25], [1.0, 0.0], [0.0, 1.0]]
    """
    best = weights == weights.max(axis=1, keepdims=True)
    weights = np.where(weights.max(axis=1, keepdims=True) > 0, np.maximum(weights, 0), best)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
