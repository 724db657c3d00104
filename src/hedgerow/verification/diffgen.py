"""The rules for DiffGen: all steps see everybody, and the regions of a grid share one charge."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.estimate.partition import GridPartition, Partition
from hedgerow.release.table import TableRelease as Release
from hedgerow.schema import Categorical, Numeric, Schema
from hedgerow.verification.charges import rows_booked, table_rules
from hedgerow.verification.prices import Book, Failed

# What finding regions by steps must have cost, which all records see: DiffGen and CDiffGen.
#
# A part of `verify`. Regions that follow the data were chosen, and choosing is paid for: a release
# whose books say nothing of it states less than it spent.
#
# These methods book one `select` for each specialization, the first at depth 0. How many there were
# follows from the cuts: each of a numeric value adds one part; a node of a taxonomy was specialized
# if a cut runs through it. `paper` also books a `cut` for each numeric attribute at the first step,
# and one at each step that follows the specialization of a number, if one of its halves can be cut
# again. In which order a number was cut is not told by a grid, so that these are held between two
# bounds, and not to one number. A tuned schedule always buys the number of `rows`.


def tuned_steps(release: Release, booked: dict[str, Book]) -> None:
    """The number of rows, and one choice for each step."""
    rows_booked(booked)
    _check_select(booked.get("select"), _Steps.of(release.partition, release.schema))


def paper_steps(release: Release, booked: dict[str, Book]) -> None:
    """One choice for each step, and split points before it."""
    steps = _Steps.of(release.partition, release.schema)
    _check_select(booked.get("select"), steps)
    _check_cut(booked.get("cut"), steps)


@dataclass(frozen=True, kw_only=True)
class _Steps:
    """How often values were specialized.

    Args:
        numbers: Specializations of intervals of numeric attributes.
        nodes: Specializations of nodes of taxonomies.
        pairs: At most so many of the intervals had no half that could be cut again.
        divisible: Numeric attributes that have more than one code.
    """

    numbers: int
    nodes: int
    pairs: int
    divisible: int

    @property
    def all(self) -> int:
        return self.numbers + self.nodes

    @staticmethod
    def of(partition: Partition, schema: Schema) -> _Steps:
        numbers = nodes = pairs = divisible = 0
        for attribute, edges in zip(schema.attributes, _edges(partition), strict=True):
            if attribute.split == "never":
                if len(edges) > 2:
                    raise Failed(f"regions are divided by {attribute.name!r}, which is never split")
            elif isinstance(attribute, Numeric):
                numbers += len(edges) - 2
                pairs += _pairs(np.diff(edges))
                divisible += attribute.size >= 2
            else:
                nodes += _specialized(attribute, edges)
        return _Steps(numbers=numbers, nodes=nodes, pairs=pairs, divisible=divisible)


def _edges(partition: Partition) -> list[Ints]:
    """The edges of each attribute; of a tree, they must be those of the product of its cuts."""
    if isinstance(partition, GridPartition):
        return [edges.astype(np.int64) for edges in partition.edges]
    whole = partition.hi[0].astype(np.int64)
    lo = partition.lo[partition.leaves].astype(np.int64)
    edges = [np.append(np.unique(lo[:, place]), end) for place, end in enumerate(whole)]
    # a leaf is made of cells of that product: as many leaves as cells, and each is one of them
    if partition.cells != math.prod(len(ends) - 1 for ends in edges):
        raise Failed("the regions are not the product of one cut per attribute")
    return edges


def _pairs(widths: Ints) -> int:
    """How many disjoint pairs of neighboring parts have one code each."""
    found = run = 0
    for width in (*widths.tolist(), 0):
        if width == 1:
            run += 1
        else:
            found, run = found + run // 2, 0
    return found


def _specialized(attribute: Categorical, edges: Ints) -> int:
    """How many nodes of a taxonomy a cut runs through, each of whose parts must be a node."""
    spans = np.asarray(attribute.taxonomy.spans, np.int64)
    known = set(map(tuple, spans.tolist()))
    parts = zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    if not known.issuperset(parts):
        raise Failed("a part of an attribute is no node of its taxonomy")
    inside = np.searchsorted(edges, spans[:, 1], "left") - np.searchsorted(
        edges, spans[:, 0], "right"
    )
    return int(np.count_nonzero(inside > 0))


def _check_select(book: Book | None, steps: _Steps) -> None:
    """One charge for each step."""
    if book is None:
        if steps.all:
            raise Failed("nothing was booked for select, without which no value is specialized")
        return
    if not _once_at_each(book, range(steps.all)) or len(book.entries) != steps.all:
        raise Failed("other charges for select were booked than the regions show")


def _check_cut(book: Book | None, steps: _Steps) -> None:
    """All numeric attributes at first, then at most one at a step."""
    if not steps.all or not steps.divisible:
        if book is not None:
            raise Failed("other charges for cut were booked than the regions show")
        return
    if book is None:
        raise Failed("nothing was booked for cut, without which no number is specialized")
    first = [number for (depth, _), number in book.entries.items() if depth == 0]
    later = Book(
        purpose=book.purpose, budget=book.budget, unit=book.unit, granted=book.granted,
        entries={key: number for key, number in book.entries.items() if key[0]},
    )  # fmt: skip
    least = steps.numbers - steps.pairs - 1  # none is drawn after the last step
    if (
        first != [steps.divisible]
        or not _once_at_each(later, range(1, steps.all))
        or not least <= len(later.entries) <= steps.numbers
    ):
        raise Failed("other charges for cut were booked than the regions show")


def _once_at_each(book: Book, depths: range) -> bool:
    """Whether there is at most one charge at each of some depths, and none elsewhere."""
    found = [depth for depth, _ in book.entries]
    return (
        set(book.entries.values()) <= {1}
        and len(set(found)) == len(found)
        and all(depth in depths for depth in found)
    )


_SETTINGS = "schedule chosen score specializations consistency max_cells"

RULES = {
    "tuned-1": table_rules(GridPartition, tuned_steps, settings=_SETTINGS),
    "paper-1": table_rules(GridPartition, paper_steps, settings=_SETTINGS, rest=True),
}
