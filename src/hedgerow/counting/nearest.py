"""Records beside the nearest of some public points: a rule that looks at one record at a time."""

from __future__ import annotations

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.data import CodeMatrix, Table
from hedgerow.schema import Numeric, Schema


def feature_sizes(schema: Schema) -> list[int]:
    """How many features each attribute has: a number has one, a category one for each value."""
    return [1 if isinstance(a, Numeric) else a.size for a in schema.attributes]


def nearest(codes: CodeMatrix, schema: Schema, points: Floats) -> Ints:
    """The number of the nearest point for each record; ties go to the first.

    A record's features are its numeric codes as shares of the domain, and 1 for each of its
    categorical values beside 0 for the others.

    Args:
        codes: The predictors of each record, in the order of the schema.
        schema: The public schema.
        points: [points, features].

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 10},
        ...     "home": {"type": "categorical", "values": ["flat", "house"]}}})
        >>> points = np.array([[0.0, 0.5, 0.5], [1.0, 0.0, 1.0]])
        >>> nearest(np.array([[1, 0], [4, 1]], dtype=np.uint16), schema, points).tolist()
        [0, 1]
    """
    distance = np.zeros((len(codes), len(points)))
    first = 0
    for place, attribute in enumerate(schema.attributes):
        code = codes[:, place].astype(np.int64)
        if isinstance(attribute, Numeric):
            share = code / max(1, attribute.size - 1)
            distance += (share[:, None] - points[None, :, first]) ** 2
            first += 1
        else:
            part = points[:, first : first + attribute.size]
            # |e_c - p|^2 = 1 - 2 p_c + |p|^2
            distance += 1 - 2 * part.T[code] + (part**2).sum(axis=1)
            first += attribute.size
    return np.asarray(distance.round(9).argmin(axis=1), dtype=np.int64)


def labeled(table: Table, schema: Schema, points: Floats) -> Table:
    """The same records with the nearest point as their class.

    Args:
        table: The private table.
        schema: The same schema with as many classes as there are points.
        points: [points, features].
    """
    codes = table.codes.copy()
    codes[:, -1] = nearest(codes, table.schema, points)
    return Table(schema, codes, table.frame_kind)
