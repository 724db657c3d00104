"""What a schema publishes by itself, column by column, as it is signed off."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hedgerow.schema.diff import PublishedColumn

__all__ = ["print_published"]

_SHOWN = 60  # texts of a column that are not marked, after which only their number is told


def print_published(columns: Sequence[PublishedColumn], put: Callable[[str], None]) -> None:
    """Prints every bound, value and label that is published, and marks what is rare, long or odd.

    Args:
        columns: What is published about each column.
        put: Where a line goes.
    """
    put("Every release publishes this, whatever is counted:")
    for column in columns:
        plain = [one.text for one in column.texts if not one.mark]
        more = f", ... and {len(plain) - _SHOWN} more (--json)" if len(plain) > _SHOWN else ""
        put(f"  {column.name}: {', '.join(plain[:_SHOWN])}{more}".rstrip(": "))
        for one in column.marked:
            put(f"    ! {one.text}  [{one.mark}]")
    marked = sum(len(column.marked) for column in columns)
    if marked:
        put(f"{marked} are marked with !: could anybody have written them without the data?")
