"""How much room a release may take, from public facts: set aside before anything is booked.

Where a plan knows how many specialisations there may be, it bounds the number of regions, and every
file of a release grows with these. Otherwise (the number follows from a noisy number of rows, or
the method lists what it finds) the plan says nothing, and `LEAST` is set aside. Bounds are
generous, those of wide grids far beyond what is used: no more than `MOST` is set aside.
"""

from __future__ import annotations

import math

from hedgerow.publish.planning.plan import Plan
from hedgerow.publish.publisher import Publisher
from hedgerow.schema import Categorical, Schema

__all__ = ["LEAST", "MOST", "most_bytes", "room_for"]

LEAST, MOST = 1 << 26, 1 << 30

_FIXED = 1 << 22  # what does not grow with the regions: heads of files, the ledger's allowances
_NUMBER = 100  # bytes of one noisy number with its place, or of one charge
_NUMERIC_LABEL = 100


def room_for(method: Publisher, schema: Schema, plan: Plan) -> int:
    """How many bytes to set aside for a release."""
    bound = most_bytes(method, schema, plan)
    return LEAST if bound is None else min(MOST, bound)


def most_bytes(method: Publisher, schema: Schema, plan: Plan) -> int | None:
    """An upper bound of the size of a release, if the plan has one.

    Example:
        >>> from hedgerow.publish.diffmulti import DiffMulti
        >>> schema = Schema.from_dict({"name": "s", "unit": "row",
        ...                            "attributes": {"ill": {"type": "boolean"}}})
        >>> small, open_ = DiffMulti(specialisations=1), DiffMulti()
        >>> most_bytes(small, schema, small.plan(schema, 1)) < LEAST
        True
        >>> most_bytes(open_, schema, open_.plan(schema, 1)) is None
        True
    """
    regions = _most_regions(method, schema, plan)
    if regions is None:
        return None
    classes = max(1, len(schema.classes))
    attributes = len(schema.attributes)
    labels = sum(map(_longest, schema.attributes))
    labels += 0 if schema.target is None else _longest(schema.target)
    node = 40 + 10 * attributes + _NUMBER * (2 + 2 * classes)  # its bounds, counts and charges
    listed = 60 + 20 * attributes + labels  # a row of regions.parquet, and one of table.csv
    text = 4 * len(str(schema.to_dict()))
    return _FIXED + text + 2 * regions * node + regions * classes * listed


def _most_regions(method: Publisher, schema: Schema, plan: Plan) -> int | None:
    if plan.specialisations is None or not plan.grows or getattr(method, "marginals", False):
        return None
    parts = [2] + [
        max(attribute.taxonomy.parents.count(node) for node in {*attribute.taxonomy.parents})
        for attribute in schema.attributes
        if isinstance(attribute, Categorical)
    ]
    cells = math.prod(attribute.size for attribute in schema.attributes)
    most = getattr(method, "max_cells", None)
    if most is None:  # every specialisation divides one region
        return min(cells, 1 + plan.specialisations * (max(parts) - 1))
    return int(min(cells, most, max(parts) ** min(plan.specialisations, 64)))


def _longest(attribute: object) -> int:
    """The bytes of an attribute's longest label as CSV may write it, with its comma."""
    if not isinstance(attribute, Categorical):
        return _NUMERIC_LABEL
    return 3 + max(2 * len(label.encode()) for label in attribute.taxonomy.labels)
