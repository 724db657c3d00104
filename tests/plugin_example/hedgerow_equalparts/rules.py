"""What `verify` holds a release of EqualParts to. Nothing here is shared with the method."""

from __future__ import annotations

from hedgerow.extend import Book, Failed, GridPartition, Numeric, TableRelease, table_rules


def _growth(release: TableRelease, booked: dict[str, Book]) -> None:
    """One attribute is cut, into parts of equal width, and the choice of it was paid for."""
    attributes, parts = release.schema.attributes, release.settings["parts"]
    if set(booked) != ({"choose", "leaf"} if len(attributes) > 1 else {"leaf"}):
        raise Failed("other purposes were booked than this method pays for")
    if len(attributes) > 1 and booked["choose"].entries != {(0, 20): 1}:
        raise Failed("the choice was not paid for once, with a fifth")
    cut = [place for place, edges in enumerate(release.partition.edges) if len(edges) > 2]
    if len(cut) > 1:
        raise Failed("more than one attribute was cut")
    for place in cut:
        size = attributes[place].size
        number = min(size, parts) if isinstance(attributes[place], Numeric) else size
        if release.partition.edges[place].tolist() != [
            size * i // number for i in range(number + 1)
        ]:
            raise Failed("the regions are not parts of equal width")


RULES = {"tuned-1": table_rules(GridPartition, _growth)}
