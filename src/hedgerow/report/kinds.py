"""What a page says of one kind of release and not of others, in one table by kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.measured import GridPartition
from hedgerow.release import MarginalsRelease, RowsRelease, TableRelease, TransactionsRelease
from hedgerow.report import words
from hedgerow.report.html import Safe, table, tag
from hedgerow.report.sections import divisions
from hedgerow.report.sections.associations import Association, Least, associations, least
from hedgerow.schema import Numeric, Schema

Ints = NDArray[np.integer]
_NOISE = "Small counts are mostly noise"


@dataclass(frozen=True, kw_only=True)
class Sections:
    """The parts of a page that hang on the kind of release.

    Args:
        values: The title above how often values occur.
        public: What of the schema is published, as the beginning of a sentence.
        columns: The public columns, or items.
        division: What was published, and the largest of it.
        small: What small counts do not tell: a title and a text.
        cuts: Into how many parts an attribute is divided, and the codes where, the one to tell
            first in front; None if there are no attributes.
        related: How the class goes with attributes, if the kind can tell.
        least: What is known to be true of so many at least, where that is all that is known.
        assumed: How numbers of values come about where they were not counted, as a sentence.
        narrow: Where intervals are narrow, as the end of a sentence.
    """

    values: str
    public: str
    columns: Callable[[Schema], Safe]
    division: Callable[[Any], Safe]
    small: Callable[[Any], tuple[str, str]]
    cuts: Callable[[Any, int], tuple[int, Ints]] | None
    related: Callable[[Any, int], list[Association]] | None = None
    least: Callable[[Any], list[Least]] | None = None
    assumed: str = ""
    narrow: str = ""


def _columns(schema: Schema) -> Safe:
    rows = []
    for attribute in schema.attributes:
        if isinstance(attribute, Numeric):
            domain = f"{attribute.edge(0)} to {attribute.edge(attribute.grid)}"
            kind: str = attribute.kind
        else:
            domain = words.many(attribute.size, "value")
            kind = "boolean" if attribute.boolean else "categories"
        rows.append([attribute.name, kind, domain])
    if schema.target is not None:
        rows.append([schema.target.name, "the class", words.many(len(schema.classes), "value")])
    columns = table("The public columns", ["attribute", "kind", "domain"], rows)
    dropped = None
    if schema.identifiers:
        dropped = tag("p", f"Dropped before publishing: {', '.join(schema.identifiers)}.")
    return tag("details", tag("summary", f"{len(rows)} public columns"), columns, dropped)


def _universe(schema: Schema) -> Safe:
    items = schema.transaction_items
    shown = ", ".join(items.labels[:12])
    more = " and so on" if items.size > 12 else ""
    return tag("p", f"A universe of {items.size:,} items is public: {shown}{more}.")


def _small_regions(release: TableRelease) -> tuple[str, str]:
    return _NOISE, (
        "A region with a small count may in fact be empty, and nothing is known about where "
        f"{release.schema.unit_names[1]} are inside a region."
    )


def _small_cells(release: MarginalsRelease) -> tuple[str, str]:
    return _NOISE, (
        "A cell with a small count may in fact be empty, and how attributes go together is known "
        "only as far as they were counted together: the rest follows from a model."
    )


def _small_itemsets(release: TransactionsRelease) -> tuple[str, str]:
    return _NOISE, (
        "A set of items with a small count may in fact be in no record, and which items occur "
        "together is known only as far as they were counted together."
    )


def _small_rows(release: RowsRelease) -> tuple[str, str]:
    people = release.schema.unit_names[1]
    return "Small counts tell little", (
        f"A generalised row with a small count tells little about how many {people} share it, and "
        f"inside a row nothing is known about where {people} are."
    )


def _region_cuts(release: TableRelease, place: int) -> tuple[int, Ints]:
    partition = release.partition
    if isinstance(partition, GridPartition):
        return _middle_first(partition.edges[place])
    return int((partition.split == place).sum()), _often(partition.lo[:, place])


def _cell_cuts(release: MarginalsRelease, place: int) -> tuple[int, Ints]:
    return _middle_first(release.measured_edges(place))


def _middle_first(edges: Ints) -> tuple[int, Ints]:
    """How many parts edges make, and the inner ones."""
    inner = edges[1:-1]
    return max(0, len(edges) - 1), np.roll(inner, -(len(inner) // 2))


def _row_cuts(release: RowsRelease, place: int) -> tuple[int, Ints]:
    return len(np.unique(release.lo[:, place])), _often(release.lo[:, place])


def _often(codes: Ints) -> Ints:
    """Distinct codes, the most frequent first."""
    found, often = np.unique(codes, return_counts=True)
    return np.asarray(found[np.argsort(-often, kind="stable")])


_BOUNDS = "Bounds, values and taxonomies are"

KINDS: dict[str, Sections] = {
    "table": Sections(
        values="How values are distributed",
        public=_BOUNDS,
        columns=_columns,
        division=divisions.regions,
        small=_small_regions,
        cuts=_region_cuts,
        related=associations,
        assumed="Inside a region {people} are assumed to be distributed evenly, so values that no "
        "region separates have the same share.",
        narrow="where a question follows the edges of the regions, and wide where it cuts through "
        "them",
    ),
    "marginals": Sections(
        values="How values are distributed",
        public=_BOUNDS,
        columns=_columns,
        division=divisions.tables,
        small=_small_cells,
        cuts=_cell_cuts,
        related=associations,
        assumed="Estimates follow one model of all tables that were counted, and intervals come "
        "from the tables themselves.",
        narrow="where a table counted what is asked, and wide for other combinations",
    ),
    "transactions": Sections(
        values="How often items occur",
        public="The list of items and its groups are",
        columns=_universe,
        division=divisions.itemsets,
        small=_small_itemsets,
        cuts=None,
    ),
    "rows": Sections(
        values="What is known at least",
        public=_BOUNDS,
        columns=_columns,
        division=divisions.rows,
        small=_small_rows,
        cuts=_row_cuts,
        least=least,
    ),
}
