"""The rules for Halves: nothing but counts is paid for, and no number has more than one cut."""

from __future__ import annotations

from hedgerow.measured.partition import GridPartition
from hedgerow.release.table import Release
from hedgerow.schema import Numeric
from hedgerow.verification.charges import table_rules
from hedgerow.verification.prices import Book, Failed

__all__ = ["RULES"]


def _growth(release: Release, booked: dict[str, Book]) -> None:
    if set(booked) != {"leaf"}:
        raise Failed("other purposes were booked than this method pays for")
    assert isinstance(release.partition, GridPartition)
    for attribute, edges in zip(release.schema.attributes, release.partition.edges, strict=True):
        half = {0, attribute.size // 2, attribute.size}
        if isinstance(attribute, Numeric) and set(edges.tolist()) != half:
            raise Failed("a number was not cut in the middle")


RULES = {"tuned-1": table_rules(GridPartition, _growth)}
