"""Rounds of class residuals: where p(class | record) is off, and by how much.

All rounds were paid for before the tree grew. Each picks an attribute and a class by the sum over
cells of |residual|, measures that table, and shifts the logits of its cells.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from hedgerow.arrays import PROBABILITY, Ints
from hedgerow.counting.engine import Engine
from hedgerow.counting.sums import ClassModel, Residuals
from hedgerow.estimate.cells import estimate_cells
from hedgerow.estimate.classify import class_shares
from hedgerow.estimate.marginals.classes import Logits, base_logits, shifts
from hedgerow.estimate.marginals.model import LEAST_DRAWN, fit_model
from hedgerow.measured.marginals import CellMap, Marginals
from hedgerow.measured.measurements import Measurement
from hedgerow.measured.partition import TreePartition
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.sampler import Candidates
from hedgerow.publish.marginals.pairs import among
from hedgerow.publish.marginals.shares import PICK_RANGE as SCORE_RANGE
from hedgerow.publish.marginals.shares import MarginalShares
from hedgerow.publish.steps.measure import buy_cells, deviation
from hedgerow.schema import Schema

__all__ = ["measure_rounds"]


HANDICAP = 0.2  # of what noise alone would score: shifts are shrunk, so most of it does no harm

_ROOT = np.zeros(1, dtype=np.int64)


def measure_rounds(
    curator: Curator,
    engine: Engine,
    schema: Schema,
    share: MarginalShares,
    partition: TreePartition,
    found: list[Measurement],
) -> list[Measurement]:
    """Draws all rounds, and notes the logits of the regions with their counts.

    Args:
        curator: Who charges and draws.
        engine: The private data.
        schema: The public schema.
        share: How many rounds there are, and what for.
        partition: The regions.
        found: What was measured before.

    Returns:
        All measurements: those before, with logits, and the residuals.
    """
    classes = len(schema.classes)
    known = Marginals.of(schema, found)
    counted = estimate_cells(partition, found, classes)
    assert known is not None and counted.fit is not None
    cells, base = known.cells, base_logits(partition, counted.fit)
    model = fit_model(known, partition, counted, class_shares(partition, counted.fit))
    rows = model.stand_ins(LEAST_DRAWN)
    attributes = len(known.single)  # what was not counted is not picked
    starts = cells.start[:attributes]
    sizes = np.diff(cells.start[: attributes + 1])
    asked = np.arange(1 if classes == 2 else 0, classes)
    noise = deviation(curator, "residual", share.residual, numbers=1, step=PROBABILITY)
    handicap = np.repeat((sizes * noise * HANDICAP / math.sqrt(2)).astype(np.int64), len(asked))
    shift = np.zeros((cells.cells, classes), np.int64)
    bought: list[Measurement] = []
    moved: list[Ints] = []

    def scored(flat: Ints) -> Candidates:
        off = np.abs(flat.reshape(-1, classes)[: cells.start[attributes], asked])
        return among(np.add.reduceat(off, starts, axis=0).ravel() - handicap)

    for number in range(share.rounds):
        exact = engine.sums(Residuals(class_model(partition, cells, base, shift)))
        drawn = curator.select(
            "pick", 0, _ROOT, exact.map(scored),
            score_range=SCORE_RANGE, flip=True,
        )  # fmt: skip
        a, which = divmod(int(drawn.part[0]), len(asked))
        klass = int(asked[which])
        here = np.arange(cells.start[a], cells.start[a + 1])
        place = (number * classes + klass) * cells.cells + here
        table = exact.map(partial(_table, classes, here, klass))
        bought.append(buy_cells(curator, "residual", [(place, table)], numbers=1, step=PROBABILITY))
        logits = Logits(base, cells, shift).logits(rows.synthetic, rows.region)
        cell = np.searchsorted(cells.edges[a], rows.synthetic[:, a], side="right") - 1
        step = shifts(logits, rows.weight, cell, klass, bought[-1].values[:, 0], noise)
        shift[here, klass] += step
        moved.append(step)
    residual = replace(
        bought[0],
        where=np.concatenate([one.where for one in bought]),
        values=np.concatenate([one.values for one in bought]),
        units=np.concatenate([one.units for one in bought]),
        logits=np.concatenate(moved)[:, None],
    )
    noted = [replace(m, logits=base) if m.name == "leaf" else m for m in found]
    return [*noted, residual]


def _table(classes: int, cells: Ints, klass: int, flat: Ints) -> Ints:
    """The residuals of one class in some cells."""
    found: Ints = flat.reshape(-1, classes)[cells, klass]
    return found


def class_model(partition: TreePartition, cells: CellMap, base: Ints, shift: Ints) -> ClassModel:
    """The model in whole numbers, as engines compute it.

    Args:
        partition: The regions.
        cells: How cells are numbered.
        base: The logits of each region.
        shift: What each cell adds, [cells, classes].
    """
    parent = partition.parent.astype(np.int64)
    nodes = np.arange(len(parent))
    first = np.zeros(len(parent), np.int64)
    first[parent[:0:-1]] = nodes[:0:-1]  # the first child comes last, and stays
    along = np.maximum(partition.split[np.maximum(parent, 0)], 0)
    return ClassModel(
        split=partition.split.astype(np.int64),
        first=first,
        upper=partition.hi[nodes, along].astype(np.int64),
        region=partition.region_of_node.astype(np.int64),
        base=base,
        edges=cells.edges,
        shift=shift,
    )
