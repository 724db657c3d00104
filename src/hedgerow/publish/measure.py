"""From what a curator drew to the measurements of a release."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow.counting.engine import Engine
from hedgerow.privacy.curator import Curator
from hedgerow.release.measurements import Measurement

__all__ = ["buy_rows", "measured"]

Ints = NDArray[np.int64]


def measured(
    curator: Curator,
    purpose: str,
    at: Literal["node", "region"],
    where: Ints,
    values: Ints,
    units: Ints,
    *,
    by_class: bool,
) -> Measurement:
    """Describes noisy counts by the rate of their noise, whatever pot paid for it."""
    distinct = {unit: curator.noise_rate(purpose, unit) for unit in set(units.tolist())}
    common = _common_denominator(distinct.values())
    scaled = np.asarray([int(distinct[unit] * common) for unit in units.tolist()], dtype=np.int64)
    return Measurement(purpose, at, where, values, by_class, scaled, Fraction(1, common))


def buy_rows(curator: Curator, engine: Engine) -> Measurement:
    """The noisy number of rows, from which public rules may then choose settings."""
    root = np.zeros(1, dtype=np.int64)
    total = engine.class_counts(root).map(lambda counts: counts.sum(axis=1, keepdims=True))
    noisy, units = curator.laplace("rows", 0, root, total)
    return measured(curator, "rows", "node", root, noisy, units, by_class=False)


def _common_denominator(values: object) -> int:
    common = 1
    for value in values:  # type: ignore[attr-defined]
        common = np.lcm.reduce([common, value.denominator], dtype=object)
    return int(common)
