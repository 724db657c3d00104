"""What the papers measure beside errors: do clusters stay together, and what a run costs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.data import Table
from hedgerow.errors import UsageError
from hedgerow.estimate.partition import Partition
from papers.classify import boxes

# Does a release keep together what belongs together? NOT PRIVATE.
#
# The DiffMulti paper clusters the raw and the generalized records and compares the two solutions by
# match point. It used the bisecting k-means of CLUTO; here it is scikit-learn's.


def match_point(one: Ints, other: Ints) -> float:
    """The share of pairs of records on which two clusterings agree (Fung et al. 2009).

    Equation 15 of the DiffMulti paper: over all ordered pairs, a record and itself included, both
    put the two into one cluster, or both put them into different ones. Computed from the sizes of
    the clusters and of their intersections.

    Args:
        one: The cluster of each record.
        other: The same by the other clustering.

    Example:
        >>> match_point(np.array([0, 0, 1]), np.array([1, 1, 0]))
        1.0
        >>> round(match_point(np.array([0, 0, 1]), np.array([0, 1, 1])), 4)
        0.5556
    """
    if len(one) != len(other) or not len(one):
        raise UsageError("two clusterings of the same records are compared, at least one record")
    _, a = np.unique(one, return_inverse=True)
    _, b = np.unique(other, return_inverse=True)
    both = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(both, (a, b), 1)
    together = (both**2).sum()
    apart = len(one) ** 2 - (both.sum(axis=1) ** 2).sum() - (both.sum(axis=0) ** 2).sum() + together
    return float((together + apart) / len(one) ** 2)


def cluster_records(table: Table, clusters: int = 2, seed: int = 0) -> Ints:
    """Clusters the raw records by bisecting k-means over `boxes`. NOT PRIVATE.

    Example:
        >>> from hedgerow import data, sample
        >>> sorted({*cluster_records(data.read(sample.people(50), sample.schema())).tolist()})
        [0, 1]
    """
    codes = table.codes[:, : len(table.schema.attributes)].astype(np.int64)
    points, which = np.unique(codes, axis=0, return_inverse=True)
    weight = np.bincount(which.ravel()).astype(np.float64)
    return _bisect(boxes(points, points + 1, table.schema), weight, clusters, seed)[which.ravel()]


def cluster_regions(table: Table, partition: Partition, clusters: int = 2, seed: int = 0) -> Ints:
    """Clusters the records after each was generalized to its region. NOT PRIVATE.

    As in the paper, the true records are clustered, not the noisy counts.

    Example:
        >>> from hedgerow import data, publish, sample
        >>> people, schema = sample.people(50), sample.schema()
        >>> release = publish(people, schema, "diffgen", epsilon=1)
        >>> len(cluster_regions(data.read(people, schema), release.partition))
        50
    """
    found = partition.locate(table.codes[:, : len(table.schema.attributes)])
    regions, which = np.unique(found, return_inverse=True)
    weight = np.bincount(which).astype(np.float64)
    points = boxes(*partition.bounds(regions), table.schema)
    return _bisect(points, weight, clusters, seed)[which]


def _bisect(points: Floats, weight: Floats, clusters: int, seed: int) -> Ints:
    try:
        from sklearn.cluster import BisectingKMeans
    except ImportError:
        raise UsageError(
            "scikit-learn is not installed, and records are clustered with it.",
            hint="Run: pip install 'hedgerow[evaluate]'",
        ) from None
    if len(points) <= clusters:
        return np.arange(len(points))
    model = BisectingKMeans(clusters, random_state=seed, n_init=10)
    return np.asarray(model.fit(points, sample_weight=weight).labels_, dtype=np.int64)


# What a run costs the machine.


T = TypeVar("T")


def cpu_seconds(call: Callable[[], T], repeats: int = 1) -> tuple[T, float]:
    """The result of a call and the CPU seconds of this process that it took.

    Args:
        call: What to run.
        repeats: How often; the shortest run counts, since other programs only make runs longer.

    Example:
        >>> cpu_seconds(lambda: sum(range(10)))[0]
        45
    """
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        result = call()
        best = min(best, time.process_time() - start)
    return result, best
