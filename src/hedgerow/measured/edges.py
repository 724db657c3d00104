"""The cells in which attributes are counted: public, from the schema and from noisy numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.schema import Attribute, Categorical
from hedgerow.schema.attributes import OTHER

__all__ = ["edges_of", "fine_edges", "own_codes", "recounted"]

PARTS = 16  # of a numeric attribute, and of a cell that is counted again
MOST_VALUES, MANY_PARTS = 64, 32  # of more values groups are counted, or neighbours
_LARGE = 4  # a group of more than such a part of all values is cut into neighbours


def edges_of(attribute: Attribute, parts: int = PARTS) -> Ints:
    """The edges of the cells in which an attribute is counted.

    Values are cells; of very many values, groups of the taxonomy are, as small ones as there is
    room for, and of a group without room for its parts, neighbours. A number is cut into parts, of
    equal width or, on a logarithmic scale, by a constant factor away from zero; its lowest code,
    zero, values that the schema names and "other" are cells of their own, since very many records
    may lie there and few beside it.

    Example:
        >>> from hedgerow.schema import Schema
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "ill": {"type": "boolean"},
        ...     "gain": {"type": "numeric", "low": -20, "high": 59, "step": 1}}})
        >>> [edges_of(attribute).tolist()[:7] for attribute in schema.attributes]
        [[0, 1, 2], [0, 1, 5, 10, 15, 20, 21]]
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "pay": {"type": "numeric", "low": 0, "high": 65535, "scale": "log",
        ...             "common": [700]}}})
        >>> edges_of(schema.attributes[0]).tolist()[8:15]
        [128, 256, 512, 700, 701, 1024, 2048]
    """
    size = attribute.size
    if isinstance(attribute, Categorical):
        if size <= MOST_VALUES:
            return np.arange(size + 1)
        return _grouped(attribute)
    grid = attribute.grid
    if grid <= parts:
        return np.array(sorted({*range(grid + 1), size}), np.int64)
    zero = int(-attribute.low // attribute.step)  # may lie outside
    if attribute.scale == "log":
        edges = {0, grid, size}
        if zero < grid:
            edges |= {zero + away for away in _growing(max(1, -zero), grid - zero, parts)}
        if zero > 0:
            edges |= {zero - away for away in _growing(max(1, zero - grid), zero, parts)}
    else:
        edges = {*(np.arange(parts + 1) * grid // parts).tolist(), size}
    for code in own_codes(attribute):
        edges |= {code, code + 1}
    return np.array(sorted(edges), np.int64)


def _grouped(attribute: Categorical) -> Ints:
    """Cells of many values: the largest group is divided while there is room for its parts.

    Example:
        >>> from hedgerow.schema import Schema
        >>> groups = {"A": [f"a{i}" for i in range(60)], "B": [f"b{i}" for i in range(30)]}
        >>> kinds = {"type": "categorical", "taxonomy": groups}
        >>> made = Schema.from_dict({"name": "s", "unit": "row", "attributes": {"kind": kinds}})
        >>> edges = edges_of(made.attributes[0]).tolist()
        >>> edges[:3], edges[60:64]
        ([0, 1, 2], [60, 63, 66, 69])
    """
    taxonomy = attribute.taxonomy
    whole = {0: taxonomy.spans[0]}
    open_groups = [0]

    def leaves(node: int) -> tuple[int, int]:
        low, high = taxonomy.spans[node]
        return high - low, -low

    while open_groups:
        node = max(open_groups, key=leaves)
        open_groups.remove(node)
        parts = taxonomy.children[node]
        if len(whole) - 1 + len(parts) <= MOST_VALUES:
            del whole[node]
            whole |= {part: taxonomy.spans[part] for part in parts}
            open_groups += [part for part in parts if taxonomy.children[part]]
    edges = {attribute.size, *own_codes(attribute), *(code + 1 for code in own_codes(attribute))}
    for low, high in whole.values():
        large = (high - low) * _LARGE > attribute.size  # too large to be one cell
        number = (high - low) * MANY_PARTS // attribute.size if large else 1
        edges |= {low + (high - low) * part // number for part in range(number)}
    return np.array(sorted(edges), np.int64)


def own_codes(attribute: Attribute) -> set[int]:
    """The codes that may hold very many records, or none, whatever lies beside them.

    The lowest number, zero, values that the schema names, and "other". Of numbers all are cells.
    """
    if isinstance(attribute, Categorical):
        rules = attribute.missing, attribute.outside
        return {attribute.taxonomy.leaves.index(OTHER)} if OTHER in rules else set()
    values = (Fraction(0), attribute.low, *attribute.common)
    codes = {int((value - attribute.low) // attribute.step) for value in values}
    return {code for code in codes if 0 <= code < attribute.grid} | {
        *range(attribute.grid, attribute.size)
    }


def _growing(near: int, far: int, parts: int) -> list[int]:
    """Whole numbers that grow by a constant factor, `parts` times; the same on every machine."""
    found = []
    for part in range(parts + 1):
        power = near ** (parts - part) * far**part
        for _ in range(parts.bit_length() - 1):  # four square roots are a sixteenth one
            power = math.isqrt(power)
        found.append(power)
    return found


def recounted(attribute: Attribute, edges: Ints, counts: Ints, rows: int) -> Ints:
    """The cells of an attribute that are counted again: large ones of numbers, with several codes.

    Args:
        attribute: The attribute.
        edges: The edges of its cells.
        counts: Their noisy counts.
        rows: The noisy number of rows.
    """
    if isinstance(attribute, Categorical):
        return np.empty(0, np.int64)
    return np.flatnonzero((np.diff(edges) > 1) & (counts * PARTS > rows))


def fine_edges(low: int, high: int) -> Ints:
    """The edges of the parts in which a cell is counted again.

    Example:
        >>> fine_edges(4, 7).tolist()
        [4, 5, 6, 7]
    """
    parts = min(PARTS, high - low)
    return low + np.arange(parts + 1, dtype=np.int64) * (high - low) // parts
