"""Whether the logits of a release follow from its noisy numbers: a part of `verify`.

Logits are published without noise of their own. They say what each round of residuals was measured
against, and must tell nothing that the noisy numbers before them do not. So they are computed again
from those, round by round; floating-point numbers differ a little between machines.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hedgerow.estimate.cells import estimate_cells
from hedgerow.estimate.classify import class_shares
from hedgerow.estimate.marginals.classes import Logits, base_logits, shifts
from hedgerow.estimate.marginals.model import LEAST_DRAWN, fit_model
from hedgerow.measured.marginals import Marginals
from hedgerow.measured.partition import TreePartition
from hedgerow.release.table import TableRelease as Release
from hedgerow.verification.prices import Failed

__all__ = ["check_logits"]

_ROUNDED = 1  # in 64ths, where a number lies between two of them
_STRANGE = "logits do not follow from the noisy numbers before them"


def check_logits(release: Release) -> str:
    """Computes all logits again."""
    schema, tree = release.schema, release.partition
    known = Marginals.of(schema, release.measurements)
    if known is None or known.base is None:
        if any(m.logits is not None for m in release.measurements):
            raise Failed("there are logits, and no round was measured against them")
        return "no number was published without noise"
    assert isinstance(tree, TreePartition)
    before = [replace(m, logits=None) for m in release.measurements if m.name != "residual"]
    tables = Marginals.of(schema, before)
    counted = estimate_cells(tree, before, len(schema.classes))
    if tables is None or counted.fit is None:
        raise Failed(_STRANGE)
    if np.abs(base_logits(tree, counted.fit) - known.base).max(initial=0) > _ROUNDED:
        raise Failed(_STRANGE)
    rows = fit_model(tables, tree, counted, class_shares(tree, counted.fit)).stand_ins(LEAST_DRAWN)
    cells, noise = known.cells, known.noise["residual"]
    shift = np.zeros((cells.cells, len(schema.classes)), np.int64)
    for one in known.rounds:
        here = slice(cells.start[one.attribute], cells.start[one.attribute + 1])
        logits = Logits(known.base, cells, shift).logits(rows.synthetic, rows.region)
        edges = cells.edges[one.attribute]
        cell = np.searchsorted(edges, rows.synthetic[:, one.attribute], side="right") - 1
        again = shifts(logits, rows.weight, cell, one.klass, one.values, noise)
        if np.abs(again - one.shift).max(initial=0) > _ROUNDED:
            raise Failed(_STRANGE)
        shift[here, one.klass] += one.shift
    return "what rounds were measured against follows from the noisy numbers before them"
