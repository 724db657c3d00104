"""The schema as flat integer arrays, the form in which kernels read it. All of it is public."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.arrays import Bools, Small
from hedgerow.schema import Numeric, Schema

__all__ = ["Domain"]


@dataclass(frozen=True)
class Domain:
    """Attributes and taxonomies in arrays.

    Taxonomy nodes of all attributes share one numbering in which the children of a node are
    contiguous, from left to right.

    Args:
        sizes: The number of codes of each predictor.
        classes: The number of classes, at least 1.
        root: The taxonomy node at the top of each categorical predictor, -1 for numeric ones.
        node_lo: The first code of each taxonomy node.
        node_hi: One past the last code of each taxonomy node.
        first_child: The first child of each taxonomy node.
        children: The number of children of each taxonomy node, 0 for a leaf.
    """

    sizes: Small
    classes: int
    root: Small
    node_lo: Small
    node_hi: Small
    first_child: Small
    children: Small

    @staticmethod
    def of(schema: Schema) -> Domain:
        """Lays out a schema."""
        lo: list[int] = []
        hi: list[int] = []
        first: list[int] = []
        number: list[int] = []
        root: list[int] = []
        for attribute in schema.attributes:
            if isinstance(attribute, Numeric):
                root.append(-1)
                continue
            tree = attribute.taxonomy
            base = len(lo)
            root.append(base)
            order = [0]  # breadth first, so that children are contiguous
            for node in order:
                lo.append(tree.spans[node][0])
                hi.append(tree.spans[node][1])
                first.append(base + len(order))
                number.append(len(tree.children[node]))
                order.extend(tree.children[node])
        return Domain(
            sizes=_array([attribute.size for attribute in schema.attributes]),
            classes=max(1, len(schema.classes)),
            root=_array(root),
            node_lo=_array(lo),
            node_hi=_array(hi),
            first_child=_array(first),
            children=_array(number),
        )

    @property
    def attributes(self) -> int:
        """The number of predictors."""
        return len(self.sizes)

    def splittable(self, lo: Small, hi: Small, node: Small) -> Bools:
        """Whether each part [lo, hi) of each attribute can be specialised: a public fact."""
        numeric = (self.root < 0) & (hi - lo >= 2)
        if not len(self.children):
            return numeric
        return numeric | ((node >= 0) & (self.children[np.maximum(node, 0)] > 0))


def _array(values: list[int]) -> Small:
    return np.asarray(values, dtype=np.int32)
