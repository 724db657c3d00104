"""The score `margin`: by how much the most frequent class of a part leads the next one.

One record moves the margin of its part by at most 1, up or down, and lies in one part of every
candidate: changes of two candidates differ by at most 2. Where the region's own margin is taken
off, the difference moves by at most 2, and two of them differ by at most 4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.extend import Score

Ints = NDArray[np.int64]


def _margins(counts: Ints, width: Ints, size: Ints) -> Ints:
    """For each part the largest class count less the second largest."""
    ordered = np.sort(counts, axis=1)
    second = ordered[:, -2] if counts.shape[1] > 1 else 0
    margins: Ints = ordered[:, -1] - second
    return margins


MARGIN = Score(
    name="margin",
    numbers=_margins,
    sensitivity=2,
    score_range=2,
    score_range_apart=4,
    needs_class=True,
)
