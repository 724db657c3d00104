"""How much detail a release takes away, and how well models tell the class. NOT PRIVATE."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Floats, Ints
from hedgerow.data import Table
from hedgerow.errors import UsageError
from hedgerow.estimate.partition import Partition
from hedgerow.schema import Attribute, Categorical, Schema

Codes = NDArray[np.integer]

# How much detail generalization took away, measured on the raw records. NOT PRIVATE.
#
# Both measures generalize every raw record to its region and look at the result; noise on counts
# does not come into them.


def discernibility(table: Table, partition: Partition) -> int:
    """The discernibility penalty of Bayardo and Agrawal. NOT PRIVATE.

    Every record is charged the number of records that it cannot be told from, so the penalty is
    the sum over regions of their squared sizes: equation 4 of the DiffMulti paper. From the number
    of records (all apart) to its square (all alike).

    Args:
        table: The raw table.
        partition: The regions of a release.

    Example:
        >>> from hedgerow.estimate.partition import GridPartition
        >>> from hedgerow.schema import Schema
        >>> schema = Schema.from_dict({"name": "ages", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99}}})
        >>> table = Table(schema, np.array([[10, 0], [20, 0], [60, 0]], dtype=np.uint16))
        >>> discernibility(table, GridPartition((np.array([0, 40, 100]),)))
        5
    """
    _, sizes = _occupied(table, partition)
    return int((sizes * sizes).sum())


def ncp(table: Table, partition: Partition) -> float:
    """The normalized certainty penalty of Xu et al., 0 to 1. NOT PRIVATE.

    A value generalized to a taxonomy node costs the share of all leaves below that node, one
    generalized to an interval the share of the domain that it covers, and a value that is still
    exact costs nothing (equation 5 of the DiffMulti paper). The penalty is the mean over all
    records and attributes (equation 7): 1 if everything is generalized to the top.

    Args:
        table: The raw table.
        partition: The regions of a release.

    Example:
        >>> from hedgerow.estimate.partition import GridPartition
        >>> from hedgerow.schema import Schema
        >>> schema = Schema.from_dict({"name": "ages", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99}}})
        >>> table = Table(schema, np.array([[10, 0], [60, 0], [70, 0]], dtype=np.uint16))
        >>> round(ncp(table, GridPartition((np.array([0, 40, 100]),))), 4)
        0.5333
    """
    regions, sizes = _occupied(table, partition)
    if not len(regions):
        return 0.0
    penalty = left_open(*partition.bounds(regions), table.schema.attributes)
    return float(np.average(penalty.mean(axis=1), weights=sizes))


def left_open(lo: Codes, hi: Codes, attributes: Sequence[Attribute]) -> Floats:
    """The share of its domain that each generalized value leaves open; none if it is exact."""
    width = (hi - lo).astype(np.float64)
    return np.where(width > 1, width / [attribute.size for attribute in attributes], 0.0)


def _occupied(table: Table, partition: Partition) -> tuple[Ints, Ints]:
    """The regions that hold records, and how many."""
    which = partition.locate(table.codes[:, : len(table.schema.attributes)])
    regions, sizes = np.unique(which, return_counts=True)
    return regions, sizes.astype(np.int64)


# Models that are trained on rows of codes, to tell the class.


Model = Literal["tree", "boosting"]
_WIDE = 255  # values of an attribute that boosting takes as such; its own limit
_LEAST = 20  # records in a leaf of a tree


def one_hot(numbers: Floats, schema: Schema, most: int | None = None) -> Floats:
    """Numeric attributes as they are, and one column of 0 and 1 for each categorical value.

    Args:
        numbers: One number for each attribute.
        schema: The public schema.
        most: Attributes with more values than this stay codes.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 9},
        ...     "home": {"type": "categorical", "values": ["flat", "house"]}}})
        >>> one_hot(np.array([[7.0, 1.0]]), schema).tolist()
        [[7.0, 0.0, 1.0]]
    """
    parts = []
    for place, attribute in enumerate(schema.attributes):
        column = numbers[:, place]
        if isinstance(attribute, Categorical) and (most is None or attribute.size <= most):
            parts.append((column[:, None] == np.arange(attribute.size)).astype(np.float64))
        else:
            parts.append(column[:, None])
    return np.concatenate(parts, axis=1)


def chances(train: Ints, test: Ints, schema: Schema, model: Model = "tree") -> Floats:
    """How likely a model holds each class of each row to be, shape [rows, classes]. NOT PRIVATE.

    Args:
        train: Rows of codes to learn from, the class last.
        test: Raw rows of codes.
        schema: The public schema.
        model: A decision tree by entropy, or gradient boosting over histograms.
    """
    if not len(train):
        raise UsageError("there is no row to learn from", hint="Draw some rows.")
    result = np.zeros((len(test), len(schema.classes)))
    known = np.unique(train[:, -1])
    if len(known) < 2:
        result[:, known[0]] = 1.0
        return result
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.tree import DecisionTreeClassifier
    from threadpoolctl import threadpool_limits  # which scikit-learn brings along

    inputs = [rows[:, :-1].astype(np.float64) for rows in (train, test)]
    fitted: Any
    if model == "tree":
        inputs = [one_hot(numbers, schema, _WIDE) for numbers in inputs]
        least = min(0.5, _LEAST / len(train))
        fitted = DecisionTreeClassifier(
            criterion="entropy", min_weight_fraction_leaf=least, random_state=0
        )
    else:
        categorical = [isinstance(a, Categorical) and a.size <= _WIDE for a in schema.attributes]
        fitted = HistGradientBoostingClassifier(random_state=0, categorical_features=categorical)
    with threadpool_limits(1):  # on a busy machine its threads wait for each other longer
        fitted.fit(inputs[0], train[:, -1])
        result[:, fitted.classes_] = fitted.predict_proba(inputs[1])
    return result
