"""How much detail generalisation took away, measured on the raw records. NOT PRIVATE.

Both measures generalise every raw record to its region and look at the result; noise on counts
does not come into them.
"""

from __future__ import annotations

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.data import Table
from hedgerow.measured.partition import Partition

__all__ = ["discernibility", "ncp"]


def discernibility(table: Table, partition: Partition) -> int:
    """The discernibility penalty of Bayardo and Agrawal. NOT PRIVATE.

    Every record is charged the number of records that it cannot be told from, so the penalty is
    the sum over regions of their squared sizes: equation 4 of the DiffMulti paper. From the number
    of records (all apart) to its square (all alike).

    Args:
        table: The raw table.
        partition: The regions of a release.

    Example:
        >>> from hedgerow.measured import GridPartition
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
    """The normalised certainty penalty of Xu et al., 0 to 1. NOT PRIVATE.

    A value generalised to a taxonomy node costs the share of all leaves below that node, one
    generalised to an interval the share of the domain that it covers, and a value that is still
    exact costs nothing (equation 5 of the DiffMulti paper). The penalty is the mean over all
    records and attributes (equation 7): 1 if everything is generalised to the top.

    Args:
        table: The raw table.
        partition: The regions of a release.

    Example:
        >>> from hedgerow.measured import GridPartition
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
    lo, hi = partition.bounds(regions)
    width = (hi - lo).astype(np.float64)
    domain = np.asarray([attribute.size for attribute in table.schema.attributes])
    penalty = np.where(width > 1, width / domain, 0.0)
    return float(np.average(penalty.mean(axis=1), weights=sizes))


def _occupied(table: Table, partition: Partition) -> tuple[Ints, Ints]:
    """The regions that hold records, and how many."""
    found = partition.locate(table.codes[:, : len(table.schema.attributes)])
    regions, sizes = np.unique(found, return_counts=True)
    return regions, sizes.astype(np.int64)
