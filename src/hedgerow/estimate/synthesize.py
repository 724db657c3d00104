"""Synthetic rows: records drawn inside the regions of a release.

Drawing reads published counts only, so ordinary pseudo-random numbers are right here: nothing
secret hangs on them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Bools, Ints
from hedgerow.errors import UsageError
from hedgerow.measured.partition import Parts, dictionary, numbers
from hedgerow.schema import Attribute, Categorical, Numeric, Schema
from hedgerow.suggestions import whole

__all__ = ["check_whole", "draw_rows", "labels_of", "rows_of", "values_of"]


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
        parts: For each attribute the intervals of the published regions, or of generalised rows.
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
    weights = counts.ravel()
    if n is None and int(weights.sum()) > _MOST_ROWS:
        raise UsageError(
            "this release counts very many records, more than are drawn unasked",
            hint="Say how many rows you want (--rows, n=).",
        )
    if n is not None:
        weights = _share_out(n, weights, random)
    cell = random.permutation(np.repeat(np.arange(len(weights)), weights))
    row, klass = np.divmod(cell, counts.shape[1])
    columns = {}
    for attribute, part in zip(schema.attributes, parts, strict=True):
        interval = part.index[row]
        low, width = part.lo[interval], (part.hi - part.lo)[interval]
        codes = low + (random.random(len(row)) * width).astype(np.int64)
        columns[attribute.name] = values_of(attribute, codes, random)
    if schema.target is not None:
        columns[schema.target.name] = values_of(schema.target, klass, random)
    return pa.table(columns)


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
