"""The tree of a release, drawn with lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hedgerow.report.regions import nested

if TYPE_CHECKING:
    from hedgerow.measured import TreePartition
    from hedgerow.release import TableRelease

__all__ = ["branches"]


def branches(release: TableRelease, tree: TreePartition, deepest: int) -> Any:
    """The upper part of a release's tree, drawn with lines; see `nested`."""
    from rich.text import Text
    from rich.tree import Tree

    root = nested(release, tree, deepest)
    drawing = Tree(Text(f"{root['where']}: {root['count']}"))
    waiting = [(root, drawing)]
    while waiting:
        node, drawn = waiting.pop()
        for child in node["below"]:
            more = " ..." if child["divided"] and not child["below"] else ""
            words = Text(f"{child['where']}: {child['count']}{more}")
            waiting.append((child, drawn.add(words)))
    return drawing
