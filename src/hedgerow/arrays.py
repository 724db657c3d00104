"""Types of arrays, by what they hold, and units of whole numbers that stand for fractions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "LOGIT", "PROBABILITY", "Bools", "Bytes", "Floats", "Ints", "Singles", "Small", "Words",
]  # fmt: skip

Ints = NDArray[np.int64]
Small = NDArray[np.int32]  # codes and nodes, of which there are many
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]

LOGIT = 64
"""Logits are whole numbers in units of 1/64."""

PROBABILITY = 256
"""Probabilities are whole numbers in units of 1/256."""
