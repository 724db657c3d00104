"""The regions of a table as pictures: a tree seen from the top, or a grid by its cuts."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hedgerow.measured import GridPartition, TreePartition
from hedgerow.release import TableRelease
from hedgerow.report import words
from hedgerow.report.html import Safe, join, tag
from hedgerow.report.labels import part_of
from hedgerow.report.sections.regions import cuts

__all__ = ["Branch", "grid_picture", "tree_picture", "upper_tree"]

_LEVELS = 5
_LEAST = 0.012  # the share of everybody below which a branch is drawn together with others
_READABLE = 0.075  # below this share a box has no room for words
_LISTED = 3  # levels in words
_PARTS = 40
_EVERYONE = "everyone"


@dataclass(kw_only=True)
class Branch:
    """A node of the tree as it is drawn.

    Args:
        where: What tells it from its parent.
        count: Its published count.
        mark: The share of the most frequent class in it.
        regions: How many regions it is divided into.
        below: Its branches, as far as they are drawn.
        merged: How many branches it stands for, if it is what is left of several.
    """

    where: str
    count: int
    mark: float
    regions: int
    below: list[Branch] = field(default_factory=list)
    merged: int = 0


def upper_tree(release: TableRelease, tree: TreePartition) -> Branch:
    """The upper part of a tree, with small branches drawn together."""
    nodes = len(tree.parent)
    counts = np.zeros((nodes, release.counts.shape[1]), np.int64)
    counts[tree.leaves[release.regions]] = release.counts
    regions = (tree.split < 0).astype(np.int64)
    for depth in range(int(tree.depth.max()), 0, -1):
        here = np.flatnonzero(tree.depth == depth)
        np.add.at(counts, tree.parent[here], counts[here])
        np.add.at(regions, tree.parent[here], regions[here])
    totals, largest = counts.sum(axis=1), int(counts[0].argmax())
    first = np.searchsorted(tree.parent[1:], np.arange(nodes)) + 1  # children stand side by side
    last = np.searchsorted(tree.parent[1:], np.arange(nodes), side="right") + 1
    everybody = max(1, int(totals[0]))

    def branch(node: int, where: str) -> Branch:
        total = int(totals[node])
        found = Branch(
            where=where,
            count=total,
            mark=int(counts[node, largest]) / max(1, total),
            regions=int(regions[node]),
        )
        if tree.depth[node] >= _LEVELS or tree.split[node] < 0:
            return found
        axis = int(tree.split[node])
        attribute = release.schema.attributes[axis]
        small = []
        for child in range(int(first[node]), int(last[node])):
            if totals[child] < _LEAST * everybody:
                small.append(child)
                continue
            label = part_of(attribute, int(tree.lo[child, axis]), int(tree.hi[child, axis]))
            found.below.append(branch(child, f"{attribute.name} {label}"))
        if small:
            count = int(totals[small].sum())
            mark = int(counts[small, largest].sum()) / max(1, count)
            number = int(regions[small].sum())
            name = words.many(len(small), "smaller part")
            found.below.append(
                Branch(where=name, count=count, mark=mark, regions=number, merged=len(small))
            )
        return found

    return branch(0, _EVERYONE)


def tree_picture(release: TableRelease, tree: TreePartition) -> Safe:
    """The tree from the top, boxes as wide as their counts, and the same in words."""
    root = upper_tree(release, tree)
    classes = release.schema.classes
    largest = int(release.counts.sum(axis=0).argmax())
    says = ""
    if classes and release.schema.target is not None:
        says = (
            f" The strip at the bottom of a box is as long as the share of "
            f"{release.schema.target.name} {classes[largest]} in it."
        )
    label = (
        f"The tree of {words.many(root.regions, 'region')} from the top, each box as wide as its "
        "count; the list below says it in words."
    )
    depth = int(tree.depth.max())
    stripes = "; striped boxes stand for several small parts" if _striped(root) else ""
    return join(
        [
            tag(
                "p",
                f"All {release.schema.unit_names[1]} were divided step by step into "
                f"{words.many(root.regions, 'region')}, at most {words.many(depth, 'step')} deep. "
                f"Boxes are as wide as their noisy counts{stripes}.{says}",
            ),
            tag(
                "div",
                tag(
                    "div",
                    _drawn(root, max(1, root.count), bool(classes)),
                    class_="tree",
                    role="img",
                    aria_label=label,
                ),
                class_="wide",
                tabindex=0,
                role="group",
                aria_label="The tree",
            ),
            tag(
                "details",
                tag("summary", "The tree in words"),
                tag("ul", _listed(root, 0), class_="branch"),
            ),
        ]
    )


def _striped(branch: Branch) -> bool:
    return bool(branch.merged) or any(_striped(child) for child in branch.below)


def _drawn(branch: Branch, everybody: int, classes: bool) -> Safe:
    share = branch.count / everybody
    style = f"flex:{max(branch.count, 1)} 1 0"
    inside: list[Safe] = []
    if share >= _READABLE:
        inside = [tag("b", branch.where), tag("span", _number(branch))]
    if classes and branch.count:
        inside.append(tag("span", class_="mark", style=f"width:{branch.mark:.1%}"))
    kind = "box" + (" more" if branch.merged else "") + ("" if share >= _READABLE else " thin")
    title = f"{branch.where}{_number(branch, ': ')}"
    box = tag("div", *inside, class_=kind, title=title)
    kids = [_drawn(child, everybody, classes) for child in branch.below]
    return tag(
        "div", box, tag("div", *kids, class_="kids") if kids else None, class_="node", style=style
    )


def _number(branch: Branch, before: str = "") -> str:
    """How many are in a branch; of everyone the head of the page tells it, by all measurements."""
    return "" if branch.where == _EVERYONE else f"{before}{branch.count:,}"


def _listed(branch: Branch, depth: int) -> Safe:
    more = f", in {branch.regions:,} regions" if branch.regions > 1 else ""
    text = f"{branch.where}{_number(branch, ': ')}{more}"
    below = [_listed(child, depth + 1) for child in branch.below] if depth < _LISTED else []
    return tag("li", text, tag("ul", *below, class_="branch") if below else None)


def grid_picture(release: TableRelease, grid: GridPartition) -> Safe:
    """One strip for each attribute, cut where the grid cuts it."""
    strips = []
    whole = []
    for attribute, edges, labels in zip(
        release.schema.attributes, grid.edges, cuts(release, grid, part_of).values(), strict=True
    ):
        if len(labels) == 1:
            whole.append(attribute.name)
            continue
        widths = np.diff(edges).tolist()
        shown = list(zip(labels, widths, strict=True))[:_PARTS]
        pieces = [
            tag("span", label, style=f"flex:{width} 1 0", title=label) for label, width in shown
        ]
        strips += [
            tag("h3", f"{attribute.name}: {words.many(len(labels), 'part')}"),
            tag("div", *pieces, class_="strip", role="img", aria_label="; ".join(labels[:_PARTS])),
        ]
    left = tag("p", f"Not divided: {', '.join(whole)}.", class_="note") if whole else None
    return join(
        [
            tag(
                "p",
                f"Every region is a combination of one part of each attribute: "
                f"{words.many(grid.cells, 'region')} in all.",
            ),
            *strips,
            left,
        ]
    )
