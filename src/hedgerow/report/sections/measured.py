"""Which tables a release counted, ready to be shown: in words, with their noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.estimate.answers import USUAL
from hedgerow.estimate.noise import half_width

if TYPE_CHECKING:
    from hedgerow.release import MarginalsRelease

__all__ = ["HEADS", "ShownTable", "shown_tables", "what_was_counted"]

HEADS = ("table", "cells", "give or take", "counted as")

_AS = {
    "named": "named by the schema",
    "pairs": "a chosen pair",
    "more_pairs": "a chosen pair",
    "by_class": "an attribute by the class",
    "single": "an attribute alone",
    "again": "the same again",
}


@dataclass(frozen=True, kw_only=True)
class ShownTable:
    """A table of noisy counts as a reader sees it.

    Args:
        names: Its columns, in the order of the schema.
        cells: How many cells it has; of pairs, groups of values.
        error: How far noise may move the count of a cell, with 95%.
        counted_as: Why it was counted.
    """

    names: tuple[str, ...]
    cells: int
    error: float
    counted_as: str

    @property
    def words(self) -> str:
        """Its columns on one line.

        Example:
            >>> ShownTable(names=("age", "ill"), cells=34, error=9.5, counted_as="").words
            'age by ill'
        """
        return " by ".join(self.names)


def shown_tables(release: MarginalsRelease) -> list[ShownTable]:
    """Every table that was counted: those that were named or chosen first.

    Args:
        release: A release of tables.
    """
    names, order = [one.name for one in release.schema.columns], list(_AS)
    return [
        ShownTable(
            names=tuple(names[column] for column in sorted(table.columns)),
            cells=table.values.size,
            error=float(
                half_width(np.sqrt(table.tail), USUAL, 1.0 if table.law == "laplace" else 0.0)
            ),
            counted_as=_AS[table.kind],
        )
        for table in sorted(release.tables.tables, key=lambda one: order.index(one.kind))
    ]


def what_was_counted(release: MarginalsRelease) -> str:
    """What was counted, as a sentence: each kind of table with its number.

    Args:
        release: A release of tables.
    """
    kinds = [table.kind for table in release.tables.tables]
    schema, every = release.schema, len(release.partition.counted)
    parts = []
    for kind, by in (("by_class", " by the class"), ("single", " alone")):
        if number := sum(
            table.kind == kind and table.columns[0] != release.partition.attributes
            for table in release.tables.tables
        ):
            which = "every attribute" if number == every else f"{number} of {every} attributes"
            parts.append(which + by)
    if named := kinds.count("named"):
        parts.append(f"{named} table{'' if named == 1 else 's'} that the schema names")
    chosen = [table.columns for table in release.tables.tables if table.grouped]
    if chosen:
        classed = sum(len(columns) == 3 for columns in chosen)
        by = f", {classed} of them by the class" if classed else ""
        parts.append(
            f"{len(chosen)} chosen pair{'' if len(chosen) == 1 else 's'} of attributes{by}"
        )
    if fine := sorted({place for place, _ in release.tables.fine}):
        those = ", ".join(schema.attributes[place].name for place in fine)
        parts.append(f"large groups of {those} again in parts")
    return f"Counted over all {schema.unit_names[1]}: {'; '.join(parts)}."
