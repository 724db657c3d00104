"""How well a release predicts the class of rows it was not made from. NOT PRIVATE."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hedgerow.evaluate.classify import by_counts, mean_and_error
from hedgerow.evaluate.classify import by_regions as by_estimates

__all__ = ["by_counts", "by_estimates", "mean_and_error", "split"]


def split(rows: pa.Table, number: int) -> tuple[pa.Table, pa.Table]:
    """Two thirds to publish and one third to test; the same number gives the same split."""
    order = np.random.default_rng(number).permutation(len(rows))
    cut = len(rows) * 2 // 3
    return rows.take(order[:cut]), rows.take(order[cut:])
