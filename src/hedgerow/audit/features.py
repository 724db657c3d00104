"""What an adversary sees of a release, as numbers: the features of the learned distinguisher.

An adversary of differential privacy knows everything but whether one record is there: the schema,
all other records, and that record. So every noisy number is looked at twice: by its public place
(a box of codes, a set of items), and together with all others whose place holds the record, as the
evidence that it gives for the record if its noise is what the release says it is.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.arrays import Floats, Ints, Small
from hedgerow.audit.neighbours import Pair
from hedgerow.data import Table
from hedgerow.measured.itemsets import CoreCells, CutTree
from hedgerow.measured.measurements import Measurement
from hedgerow.measured.partition import GridPartition, TreePartition
from hedgerow.measured.tables import Cells
from hedgerow.publish.publisher import Outcome
from hedgerow.publish.steps.rows import RowsOutcome

__all__ = ["Seen", "Viewer"]


Seen = tuple[Small, Floats]
"""One release: the features that it has, and the value of each. All others are missing."""


class Viewer:
    """Turns releases about two neighbours into features, numbering these as they come up.

    Args:
        pair: The neighbours; both are known to the adversary.

    Example:
        >>> from hedgerow.audit.neighbours import TINY_TABLES, tiny_pairs
        >>> from hedgerow.privacy.budget import Budget
        >>> from hedgerow.privacy.sampler import SecureSampler
        >>> from hedgerow.privacy.keystream import Keystream
        >>> from hedgerow.publish.api import run
        >>> from hedgerow.publish.diffgen import DiffGen
        >>> pair = tiny_pairs(TINY_TABLES["a 4x2 grid"])[1]
        >>> viewer = Viewer(pair)
        >>> sampler = SecureSampler(Keystream(seed=1))
        >>> which, values = viewer(run(pair.with_it, DiffGen(), Budget.of(1), sampler))
        >>> which.tolist() == list(range(len(which))), len(which) == len(values)
        (True, True)
    """

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self._number: dict[Hashable, int] = {}
        self._known: dict[bytes, tuple[bool, Ints]] = {}

    def __call__(self, outcome: Outcome | RowsOutcome) -> Seen:
        """The features of one release."""
        seen: dict[Hashable, float] = {("facts", _facts(outcome)): 1.0}
        if isinstance(outcome, RowsOutcome):
            self._numbers(seen, _listed(outcome.counts), _boxes(outcome.lo, outcome.hi))
        else:
            for found in outcome.measurements:
                self._numbers(seen, found, _places(outcome.partition, found))
                if isinstance(outcome.partition, Cells):
                    self._tables(seen, found, outcome.partition)
        numbers = [self._number.setdefault(key, len(self._number)) for key in seen]
        return np.asarray(numbers, np.int32), np.asarray(list(seen.values()), np.float64)

    def _numbers(self, seen: dict[Hashable, float], found: Measurement, places: list[Any]) -> None:
        """Every noisy number by its place, and the evidence of those that may count the record."""
        name, rows = found.name, found.values.tolist()
        klasses = found.klass.tolist() if found.klass is not None else None
        before = 0
        for i, (place, row) in enumerate(zip(places, rows, strict=True)):
            for column, value in enumerate(row):
                klass = klasses[i] if klasses else column
                seen[name, place, klass] = value
                # numbers that share their noise give themselves away by what lies between them
                seen[name, place, klass, "step"] = value - before
                before = value
        seen[name, "places"] = len(rows)
        seen[name, "order", hash(tuple(places))] = 1.0  # the order may tell, as well as the places
        seen[name, "fractions"] = float(any(value % 1 for row in rows for value in row))
        if not isinstance(self._pair.without, Table) or found.at not in ("node", "region"):
            return
        price = found.units * float(found.unit)
        here = [i for i, place in enumerate(places) if self._know(place)[0]]
        for step, i in enumerate(here):
            exact, klass = self._know(places[i])[1], self._pair.extra[-1]
            if klasses and klasses[i] != klass:
                continue
            if found.by_class:
                row = rows[i] if klasses else rows[i][klass : klass + 1]
                more = sum(row) - int(exact[klass])
            else:
                more = sum(rows[i]) - int(exact.sum())
            # one more record is exp(price) times as likely from its exact count on, and else less
            evidence = float(price[i]) * (2 * min(max(more, 0), 1) - 1)
            seen[name, "surplus", step] = more
            for total in ((name, "evidence"), "evidence"):
                seen[total] = seen.get(total, 0.0) + evidence

    def _tables(self, seen: dict[Hashable, float], found: Measurement, cells: Cells) -> None:
        """The evidence of every table, in one cell of which the record is."""
        grouped, start = found.name in ("pairs", "more_pairs"), 0
        codes = self._pair.without.codes
        for step, table in enumerate(found.tables):
            shape = cells.shape(table, grouped=grouped)
            parts = cells.parts(table, grouped=grouped)
            here = [int(parts[column][self._pair.extra[column]]) for column in table]
            same = [parts[c][codes[:, c]] == part for c, part in zip(table, here, strict=True)]
            place = start + int(np.ravel_multi_index(here, shape))
            more = int(found.values[place, 0]) - int(np.all(same, axis=0).sum())
            rate = float(found.units[place] * found.unit)
            gaussian = found.law == "gaussian"
            evidence = rate * (more - 0.5 if gaussian else 2 * min(max(more, 0), 1) - 1)
            seen[found.name, "surplus", step] = more
            for total in ((found.name, "evidence"), "evidence"):
                seen[total] = seen.get(total, 0.0) + evidence
            start += math.prod(shape)

    def _know(self, box: bytes) -> tuple[bool, Ints]:
        """Whether a box of codes holds the record, and the exact counts of the others by class."""
        if box not in self._known:
            lo, hi = np.frombuffer(box, np.int64).reshape(2, -1)
            codes = self._pair.without.codes.astype(np.int64)
            width = len(lo)
            extra = np.asarray(self._pair.extra[:width])
            inside = ((codes[:, :width] >= lo) & (codes[:, :width] < hi)).all(axis=1)
            classes = codes[inside, -1]
            exact = np.bincount(classes, minlength=1 + int(self._pair.extra[-1]))
            self._known[box] = bool(((extra >= lo) & (extra < hi)).all()), exact
        return self._known[box]


def _facts(outcome: Outcome | RowsOutcome) -> int:
    """All that is published beside the numbers, as one value that can be compared."""
    book = outcome.ledger.book(outcome.published, outcome.sharing)
    more = getattr(outcome, "frontier", None)
    return hash(json.dumps([outcome.plan.to_dict(), book, more], default=str))


def _listed(counts: Ints) -> Measurement:
    """A list of rows as a measurement of their boxes."""
    places = np.arange(len(counts))
    column = np.asarray(counts).reshape(-1, 1)
    return Measurement(
        name="list",
        at="region",
        where=places,
        values=column,
        by_class=False,
        units=np.ones(len(counts), np.int64),
        unit=Fraction(1),
    )


def _boxes(lo: Any, hi: Any) -> list[bytes]:
    """Boxes of codes, each as its two corners."""
    corners = np.concatenate([lo, hi], axis=1).astype(np.int64)
    return [row.tobytes() for row in corners]


def _places(partition: Any, found: Measurement) -> list[Any]:
    """The public places of a measurement: what they are, not their numbers in one release."""
    numbers: list[Any] = found.where.tolist()
    if found.tables:  # cells of which tables follows from draws
        return [(found.tables, place) for place in numbers]
    if found.at not in ("node", "region"):
        return numbers
    if isinstance(partition, Cells):
        ends = np.array([edges[-1] for edges in partition.edges])
        return _boxes(0 * ends[None], ends[None]) * len(numbers)
    if isinstance(partition, TreePartition):
        nodes = partition.leaves[found.where] if found.at == "region" else found.where
        return _boxes(partition.lo[nodes], partition.hi[nodes])
    if isinstance(partition, GridPartition):
        if found.at == "region":
            return _boxes(*partition.bounds(found.where))
        whole = np.asarray([[edges[[0, -1]] for edges in partition.edges]] * len(numbers))
        return _boxes(whole[:, :, 0], whole[:, :, 1])  # a grid has no nodes but all of it
    if isinstance(partition, CutTree):
        return [partition.nodes(place).tobytes() for place in numbers]
    assert isinstance(partition, CoreCells)
    core = partition.core.tobytes()
    return [(core, place) for place in numbers]
