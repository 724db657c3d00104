"""How well a release predicts the class of rows it was not made from. NOT PRIVATE."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

import hedgerow as hr

__all__ = ["by_counts", "by_estimates", "mean_and_error", "split"]


def split(rows: pa.Table, number: int) -> tuple[pa.Table, pa.Table]:
    """Two thirds to publish and one third to test; the same number gives the same split."""
    order = np.random.default_rng(number).permutation(len(rows))
    cut = len(rows) * 2 // 3
    return rows.take(order[:cut]), rows.take(order[cut:])


def by_estimates(release: hr.Release, test: pa.Table) -> float:
    """The share of rows, in percent, whose class `release.predict` tells."""
    target = _target(release)
    return _share(release.predict(test)[target], test[target])


def by_counts(release: hr.Release, test: pa.Table) -> float:
    """The same for somebody who has the generalised table alone.

    A row gets the class with the largest count in its region, and the largest class of the whole
    table where its region is empty or not listed.
    """
    target = _target(release)
    table = release.generalized("arrow")
    classes = np.asarray(release.schema.classes)
    counts = table["count"].to_numpy().reshape(-1, len(classes))
    regions = table["region"].to_numpy()[:: len(classes)]
    best = np.where(counts.max(axis=1) > 0, counts.argmax(axis=1), counts.sum(axis=0).argmax())
    found = release.assign(test)["region"].to_numpy()
    place = np.minimum(np.searchsorted(regions, found), len(regions) - 1)
    codes = np.where(regions[place] == found, best[place], counts.sum(axis=0).argmax())
    return _share(pa.array(classes[codes]), test[target])


def mean_and_error(values: Sequence[float] | NDArray[np.float64]) -> tuple[float, float]:
    """The mean and its standard error."""
    array = np.asarray(values, dtype=np.float64)
    error = array.std(ddof=1) / np.sqrt(len(array)) if len(array) > 1 else np.nan
    return float(array.mean()), float(error)


def _target(release: hr.Release) -> str:
    assert release.schema.target is not None
    return release.schema.target.name


def _share(told: pa.ChunkedArray | pa.Array, truth: pa.ChunkedArray) -> float:
    return 100 * float(pc.mean(pc.equal(told.cast(pa.string()), truth.cast(pa.string()))).as_py())
