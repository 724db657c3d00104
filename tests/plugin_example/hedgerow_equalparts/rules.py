"""What `verify` holds a release of EqualParts to. Nothing here is shared with the method."""

from __future__ import annotations

from hedgerow.measured.partition import GridPartition
from hedgerow.release.table import TableRelease as Release
from hedgerow.schema import Numeric
from hedgerow.verification.charges import table_rules
from hedgerow.verification.prices import Book, Failed, whole


def _growth(release: Release, booked: dict[str, Book]) -> None:
    """Nothing is paid for but counts, and regions do not follow the data."""
    if set(booked) != {"leaf"}:
        raise Failed("other purposes were booked than this method pays for")
    parts = whole(release.settings["parts"], 1)
    for attribute, edges in zip(release.schema.attributes, release.partition.edges, strict=True):
        number = parts if isinstance(attribute, Numeric) else 1
        if edges.tolist() != sorted({attribute.size * i // number for i in range(number + 1)}):
            raise Failed("the regions are not parts of equal width")


RULES = {"tuned-1": table_rules(GridPartition, _growth)}
