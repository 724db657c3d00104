"""Hierarchies of values, and what a generalized value is worth and how much its owner minds it.

A categorical attribute brings its taxonomy. The grid of a numeric one is halved again and again
(or cut into `fan` parts), which follows from the schema alone; a code for "other" stands beside
the grid, below a common root. Every node covers an interval of codes, as everywhere in hedgerow.

Utility is a sum over attributes of a number that falls as a value is generalized; sensitivity is
such a sum too. The risk of a generalization x of a record is sensitivity(x) / count(x), where
count(x) is the number of records of a public side table that x could stand for. Both sums are
modular on the lattice of a record's generalizations and the count is supermodular; the
optimizers live on that.

The sensitivity of the most general value would be 0, and the risk 0 over something. The public
floor goes into each attribute by its share (`max(weight, floor / attributes)`), not over the sum:
the sum is then at least the floor and still modular, which max(sum, floor) would not be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Floats, Ints, Small
from hedgerow.errors import UsageError
from hedgerow.schema import Attribute, Categorical, Numeric, Schema

Nodes = Small

MOST_NODES = 1 << 25
MOST_HEIGHT = 60  # kernels have room for 64 nodes of a chain


@dataclass(frozen=True, eq=False, kw_only=True)
class Forest:
    """The hierarchies of all attributes, in one numbering of nodes; parents before children.

    Args:
        root: The root of each attribute.
        leaf: Where each attribute's leaves begin in `leaf_node`.
        leaf_node: The leaf node of each code, attribute after attribute.
        parent: The parent of each node, -1 for a root.
        lo: The first code of each node.
        hi: One past the last code of each node.
        depth: How far each node lies below its root.

    Example:
        >>> from fractions import Fraction
        >>> age = Numeric("age", low=Fraction(0), high=Fraction(3), step=Fraction(1),
        ...     kind="integer")
        >>> forest = Forest.of((age,))
        >>> [age.label(forest.lo[node], forest.hi[node]) for node in forest.chain(0, 2)]
        ['2', '[2, 3]', '[0, 3]']
    """

    root: Ints
    leaf: Ints
    leaf_node: Nodes
    parent: Nodes
    lo: Nodes
    hi: Nodes
    depth: Nodes

    @staticmethod
    def of(attributes: Sequence[Attribute], fan: int = 2) -> Forest:
        """Lays out the hierarchies of some attributes.

        Args:
            attributes: At least one.
            fan: Into how many parts an interval of a numeric attribute is cut.

        Raises:
            UsageError: If an attribute has a single value, so that its hierarchy has height 0.
        """
        if not attributes:
            raise UsageError(
                "There is nothing to generalize: the schema describes no attribute.",
                hint="Describe at least one column that is not an identifier.",
            )
        root, parts, leaves = [], [], []
        base = 0
        for attribute in attributes:
            if attribute.size < 2:
                raise UsageError(
                    f"The hierarchy of {attribute.name!r} has height 0: there is a single value, "
                    "and nothing more general.",
                    hint="Give the attribute `role: identifier`, which leaves it out.",
                )
            tree = _taxonomy(attribute) if isinstance(attribute, Categorical) else None
            tree = _halved(attribute, fan) if isinstance(attribute, Numeric) else tree
            assert tree is not None
            parent, lo, hi = tree
            root.append(base)
            at = np.setdiff1d(np.arange(len(parent)), parent)
            leaves.append((base + at[np.argsort(lo[at])]).astype(np.int32))
            parts.append((np.where(parent < 0, -1, parent + base), lo, hi))
            base += len(parent)
            if base > MOST_NODES:
                raise UsageError(
                    "The hierarchies have too many nodes.",
                    hint="Give numeric attributes a larger step.",
                )
            if _depths(parent).max() > MOST_HEIGHT:
                raise UsageError(
                    f"The hierarchy of {attribute.name!r} has more than {MOST_HEIGHT} levels.",
                    hint="Take out levels of its taxonomy.",
                )
        above, low, high = (np.concatenate(column) for column in zip(*parts, strict=True))
        depth = _depths(above)
        starts = np.cumsum([0, *(len(part) for part in leaves[:-1])])
        small = np.int32
        return Forest(
            root=np.asarray(root, np.int64), leaf=starts.astype(np.int64),
            leaf_node=np.concatenate(leaves),
            parent=above.astype(small), lo=low.astype(small), hi=high.astype(small),
            depth=depth.astype(small),
        )  # fmt: skip

    @property
    def attributes(self) -> int:
        """How many there are."""
        return len(self.root)

    def leaves(self, codes: NDArray[np.integer]) -> Nodes:
        """The leaf nodes of records: [records, attributes]."""
        found: Nodes = self.leaf_node[codes.astype(np.int64) + self.leaf[None, :]]
        return found

    def chain(self, attribute: int, code: int) -> list[int]:
        """The nodes above a code, from its leaf to the root."""
        node = int(self.leaf_node[self.leaf[attribute] + code])
        found = []
        while node >= 0:
            found.append(node)
            node = int(self.parent[node])
        return found

    def sizes(self) -> Ints:
        """How many leaves lie below each node."""
        return (self.hi - self.lo).astype(np.int64)

    def heights(self) -> Ints:
        """The longest chain of each attribute, in steps."""
        ends = np.append(self.leaf[1:], len(self.leaf_node))
        return np.asarray(
            [
                int(self.depth[self.leaf_node[start:end]].max())
                for start, end in zip(self.leaf.tolist(), ends.tolist(), strict=True)
            ],
            np.int64,
        )

    def largest_lattice(self) -> int:
        """The most generalizations that a record can have."""
        size = 1
        for height in self.heights().tolist():
            size *= height + 1
        return size


def generalized_attributes(schema: Schema) -> tuple[Attribute, ...]:
    """What a record consists of: the predictors, and the class as one more attribute."""
    return schema.attributes + (() if schema.target is None else (schema.target,))


def _depths(parent: Ints) -> Ints:
    """How far each node lies below its root; a level at a time."""
    depth = np.zeros(len(parent), np.int64)
    above = parent.copy()
    while (above >= 0).any():
        depth += above >= 0
        above = np.where(above >= 0, parent[above], -1)
    return depth


def _taxonomy(attribute: Categorical) -> tuple[Ints, Ints, Ints]:
    tree = attribute.taxonomy
    spans = np.asarray(tree.spans, np.int64)
    return np.asarray(tree.parents, np.int64), spans[:, 0], spans[:, 1]


def _halved(attribute: Numeric, fan: int) -> tuple[Ints, Ints, Ints]:
    parent, lo, hi = [-1], [0], [attribute.size]
    stack = [0]
    while stack:
        node = stack.pop()
        low, high = lo[node], hi[node]
        if high - low == 1:
            continue
        if node == 0 and attribute.has_other:
            edges = [0, attribute.grid, attribute.size]
        else:
            parts = min(fan, high - low)
            edges = [low + (high - low) * part // parts for part in range(parts + 1)]
        first = len(parent)
        for left, right in zip(edges, edges[1:], strict=False):
            parent.append(node)
            lo.append(left)
            hi.append(right)
        stack.extend(reversed(range(first, len(parent))))
    return np.asarray(parent, np.int64), np.asarray(lo, np.int64), np.asarray(hi, np.int64)


Weights = Mapping[str, float | Mapping[str, float]]

Utility = Literal["log", "leaves", "depth"]
Rule = Literal["fixed", "constant", "harmonic"]

MOST_KAPPA = 16
MODELS = ("threshold", "least-risk", "aggregate")


@dataclass(frozen=True, kw_only=True)
class Aim:
    """What is looked for among a record's generalizations: one of the paper's three models.

    Args:
        risk: Threshold model: the most utility with a risk of at most this.
        utility: Its dual: the least risk with a utility of at least this.
        trade: Aggregate model, where neither is given: the most lambda / risk + utility ** kappa.
            This is lambda: what a halved risk is worth.
        kappa: A whole number from 1.

    Example:
        >>> Aim(risk=0.1).model, Aim(utility=3).model, Aim(trade=2.0).model
        ('threshold', 'least-risk', 'aggregate')
    """

    risk: float | None = None
    utility: float | None = None
    trade: float = 1.0
    kappa: int = 1

    def __post_init__(self) -> None:
        """Refuses numbers that cannot be meant."""
        if self.risk is not None:
            check_number("the risk threshold", self.risk, above=0)
        if self.utility is not None:
            check_number("the least utility", self.utility)
        check_number("lambda", self.trade)
        if isinstance(self.kappa, bool) or not isinstance(self.kappa, int):
            raise UsageError("kappa must be a whole number.", hint="Take 1, 2 or 3.")
        if not 1 <= self.kappa <= MOST_KAPPA:
            raise UsageError(
                f"kappa must be a whole number from 1 to {MOST_KAPPA}.", hint="Take 1, 2 or 3."
            )

    @property
    def model(self) -> Literal["threshold", "least-risk", "aggregate"]:
        """Which model this is."""
        if self.risk is not None:
            return "threshold"
        return "aggregate" if self.utility is None else "least-risk"

    @property
    def goal(self) -> Goal:
        """The same for kernels."""
        bound = self.risk if self.risk is not None else self.utility or 0.0
        return Goal(MODELS.index(self.model), float(bound), float(self.trade), self.kappa)


class Goal(NamedTuple):
    """An aim for kernels: the model's place in MODELS, its bound, lambda and kappa."""

    model: int
    bound: float
    trade: float
    kappa: int


class Worth(NamedTuple):
    """The utility and the sensitivity of every node of a forest.

    Args:
        utility: Of each node.
        weight: Of each node, before a record's own factor and the floor.
        floor: The least sensitivity of an attribute: the public floor over their number.
    """

    utility: Floats
    weight: Floats
    floor: float

    @staticmethod
    def of(
        forest: Forest,
        attributes: Sequence[Attribute],
        utility: Utility,
        rule: Rule,
        weights: Weights | None,
        floor: float,
    ) -> Worth:
        """Works both out.

        Args:
            forest: The hierarchies of the attributes.
            attributes: Their names and labels.
            utility: "log" (ln of leaves in all over leaves below), "leaves" (1 over leaves below)
                or "depth" (steps below the root).
            rule: "fixed" (the weight of an attribute, 0 at the root), "constant" (also at the
                root) or "harmonic" (1 over the sum of 1 over the children's, 0 at the root).
            weights: For each attribute its weight, or the weights of its values; 1 for all
                without it.
            floor: The least sensitivity of a whole record.
        """
        check_number("the floor of the sensitivity", floor, above=0)
        size = forest.sizes().astype(np.float64)
        worth = np.empty(len(size))
        weight = np.empty(len(size))
        ends = np.append(forest.root[1:], len(size)).tolist()
        leaf_ends = np.append(forest.leaf[1:], len(forest.leaf_node)).tolist()
        given = _complete(attributes, weights)
        for place, attribute in enumerate(attributes):
            root, end = int(forest.root[place]), ends[place]
            part = slice(root, end)
            if utility == "log":
                worth[part] = np.log(size[root] / size[part])
            elif utility == "leaves":
                worth[part] = 1 / size[part]
            else:
                worth[part] = forest.depth[part]
            leaves = forest.leaf_node[forest.leaf[place] : leaf_ends[place]]
            weight[leaves] = _leaf_weights(attribute, given[attribute.name])
            _raise_weights(forest, weight, root, end, leaves, rule)
        return Worth(worth, weight, floor / len(attributes))


def check_number(what: str, value: object, above: float | None = None) -> float:
    """A finite number that is not negative, or a refusal.

    Example:
        >>> check_number("the weight of age", float("nan"))
        Traceback (most recent call last):
        hedgerow.errors.UsageError: the weight of age is no finite number
          Give a number such as 1 or 0.5.
    """
    hint = "Give a number such as 1 or 0.5."
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise UsageError(f"{what} is no finite number", hint=hint)
    if value < 0 or (above is not None and value <= above):
        least = "negative" if above is None else f"not above {above}"
        raise UsageError(f"{what} is {least}", hint=hint)
    return float(value)


def _complete(
    attributes: Sequence[Attribute], weights: Weights | None
) -> dict[str, float | Mapping[str, float]]:
    """The weights of all attributes; refuses a missing one and one of nothing."""
    names = [attribute.name for attribute in attributes]
    if weights is None:
        return dict.fromkeys(names, 1.0)
    for name in names:
        if name not in weights:
            raise UsageError(
                f"There is no weight for {name!r}.",
                hint="Give every attribute one, the class too; 0 where nobody minds.",
            )
    for name in weights:
        if name not in names:
            raise UsageError(
                f"There is a weight for {name!r}, which is no attribute of the schema.",
                hint=f"The attributes are: {', '.join(names)}.",
            )
    return dict(weights)


def _leaf_weights(attribute: Attribute, given: float | Mapping[str, float]) -> Floats:
    """The weight of every code of an attribute."""
    if not isinstance(given, Mapping):
        return np.full(attribute.size, check_number(f"the weight of {attribute.name!r}", given))
    if not isinstance(attribute, Categorical):
        raise UsageError(
            f"{attribute.name!r} is numeric, so its values cannot have weights of their own.",
            hint="Give the attribute one weight.",
        )
    taxonomy = attribute.taxonomy
    found = np.full(attribute.size, np.nan)
    for node, label in enumerate(taxonomy.labels):  # from general to special: the special wins
        if label in given:
            low, high = taxonomy.spans[node]
            found[low:high] = check_number(f"the weight of {label!r}", given[label])
    unknown = set(given) - set(taxonomy.labels)
    if unknown:
        raise UsageError(
            f"{sorted(unknown)[0]!r} is no value of {attribute.name!r}, and has a weight.",
            hint="Spell values as in the schema.",
        )
    bare = np.flatnonzero(np.isnan(found))
    if len(bare):
        raise UsageError(
            f"There is no weight for {taxonomy.leaves[bare[0]]!r} of {attribute.name!r}.",
            hint="Give every value one, or a group that holds it.",
        )
    return found


def _raise_weights(
    forest: Forest, weight: Floats, root: int, end: int, leaves: Small, rule: Rule
) -> None:
    """Carries the weights of leaves up to the root, never rising on the way."""
    up = np.zeros(end - root) if rule == "harmonic" else np.full(end - root, np.inf)
    with np.errstate(divide="ignore"):
        up[leaves - root] = 1 / weight[leaves] if rule == "harmonic" else weight[leaves]
    for node in reversed(range(root + 1, end)):  # children come after their parents
        above = forest.parent[node] - root
        # otherwise a group is as sensitive as the least sensitive value it may stand for
        up[above] = (
            up[above] + up[node - root] if rule == "harmonic" else min(up[above], up[node - root])
        )
    weight[root:end] = 1 / up if rule == "harmonic" else up
    if rule != "constant":
        weight[root] = 0.0
