"""Ends of intervals on a release of marginals: see `Bounds`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.arrays import Floats
from hedgerow.estimate.graphical import GraphicalModel
from hedgerow.estimate.intervals.conditions import Conditions
from hedgerow.estimate.noise import half_width
from hedgerow.measured.tables import Tables

__all__ = ["Bounds"]


@dataclass(frozen=True, eq=False)
class Bounds:
    """What noisy tables say for sure about counts, but for the noise."""

    tables: Tables

    def ends(self, asked: Conditions, level: float) -> tuple[Floats, Floats]:
        """The ends of intervals that hold the truth at a level, whatever the data looks like."""
        rows, variance = self.tables.totals[0]
        most = np.ceil(rows + half_width(np.array([variance**0.5]), level)[0])
        return np.zeros(asked.queries), np.full(asked.queries, max(0.0, float(most)))

    def typical(self, model: GraphicalModel, asked: Conditions) -> Floats:
        """How far estimates are off in most queries: a guess that promises nothing."""
        return np.full(asked.queries, np.nan)
