"""The lattice of a record's generalizations: hierarchies, the public side table, worth and weight.

A categorical attribute brings its taxonomy. The grid of a numeric one is halved again and again
(or cut into `fan` parts), which follows from the schema alone; a code for "other" stands beside
the grid, below a common root. Every node covers an interval of codes, as everywhere in hedgerow.

Utility is a sum over attributes of a number that falls as a value is generalized; sensitivity is
such a sum too. The risk of a generalization x of a record is sensitivity(x) / count(x), where
count(x) is the number of records of a public side table that x could stand for. Both sums are
modular on the lattice of a record's generalizations and the count is supermodular; the
optimizers live on that.

Side rows become ranks among the distinct codes of each attribute. A node covers an interval of
codes, so it covers an interval of ranks, and the level at which a record's value and a side value
meet is read off a small table. The attributes are divided in two halves: distinct combinations of
the first half point at distinct combinations of the second, so that placing all side rows in a
record's lattice takes one step for each distinct row, not one for each of its values.

A record's lattice is a ring family. An element (i, l) says that attribute i is generalized at least
l times. Sets of elements that hold (i, l - 1) with (i, l) are the generalizations of the record,
and a set of any elements stands for the smallest one that holds it (its closure). A side row is
consistent with a generalization if the level at which it meets the record is reached in every
attribute; so along a growing chain of generalizations each row enters once, and one pass over the
rows counts for the whole chain.

The sensitivity of the most general value would be 0, and the risk 0 over something. The public
floor goes into each attribute by its share (`max(weight, floor / attributes)`), not over the sum:
the sum is then at least the floor and still modular, which max(sum, floor) would not be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Bytes, Floats, Ints, Small, number_rows
from hedgerow.compiled import kernel
from hedgerow.errors import UsageError
from hedgerow.schema import Attribute, Categorical, Numeric

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
            if isinstance(attribute, Numeric):
                parent, lo, hi = _halve_grid(attribute, fan)
            else:
                parent = np.asarray(attribute.taxonomy.parents, np.int64)
                lo, hi = np.asarray(attribute.taxonomy.spans, np.int64).T
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
        return self.above(int(self.leaf_node[self.leaf[attribute] + code]))

    def above(self, node: int) -> list[int]:
        """A node and those above it, up to the root."""
        found = []
        while node >= 0:
            found.append(node)
            node = int(self.parent[node])
        return found

    def climb(self, leaves: Nodes, points: Ints) -> Nodes:
        """The nodes so many steps above the leaves of a record: [points, attributes]."""
        chains = [np.asarray(self.above(leaf), np.int32) for leaf in leaves.tolist()]
        return np.stack([chain[points[:, i]] for i, chain in enumerate(chains)], axis=1)

    def nodes_of(self, attribute: int) -> slice:
        """Where the nodes of an attribute stand."""
        ends = np.append(self.root, len(self.parent)).tolist()
        return slice(ends[attribute], ends[attribute + 1])

    def leaves_of(self, attribute: int) -> Nodes:
        """The leaf nodes of an attribute, by code."""
        ends = np.append(self.leaf, len(self.leaf_node))
        return self.leaf_node[ends[attribute] : ends[attribute + 1]]

    def heights(self) -> Ints:
        """The longest chain of each attribute, in steps."""
        highest = [int(self.depth[self.leaves_of(a)].max()) for a in range(self.attributes)]
        return np.asarray(highest, np.int64)

    def largest_lattice(self) -> int:
        """The most generalizations that a record can have."""
        return math.prod((self.heights() + 1).tolist())


def _depths(parent: Ints) -> Ints:
    """How far each node lies below its root; a level at a time."""
    depth = np.zeros(len(parent), np.int64)
    above = parent.copy()
    while (above >= 0).any():
        depth += above >= 0
        above = np.where(above >= 0, parent[above], -1)
    return depth


def _halve_grid(attribute: Numeric, fan: int) -> tuple[Ints, Ints, Ints]:
    """The parents and spans of a numeric attribute's intervals."""
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
MODELS = {"threshold": "risk", "least-risk": "utility", "aggregate": "trade"}
"""What each model of the paper is set by."""


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
    def setting(self) -> float:
        """What the model is set by: the risk, the least utility, or lambda."""
        setting: float = getattr(self, MODELS[self.model])
        return setting

    def at(self, setting: float) -> Aim:
        """The same model with another setting."""
        changed: Any = {MODELS[self.model]: setting}
        return replace(self, **changed)

    @property
    def goal(self) -> Goal:
        """The same for kernels."""
        return Goal([*MODELS].index(self.model), float(self.setting), self.kappa)


class Goal(NamedTuple):
    """An aim for kernels: the model's place in MODELS, what it is set by, and kappa."""

    model: int
    setting: float
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
        size = (forest.hi - forest.lo).astype(np.float64)
        worth = np.empty(len(size))
        weight = np.empty(len(size))
        given = _complete(attributes, weights)
        for place, attribute in enumerate(attributes):
            part = forest.nodes_of(place)
            if utility == "log":
                worth[part] = np.log(size[part.start] / size[part])
            elif utility == "leaves":
                worth[part] = 1 / size[part]
            else:
                worth[part] = forest.depth[part]
            own = _leaf_weights(attribute, given[attribute.name])
            leaves, above = forest.leaves_of(place) - part.start, forest.parent[part] - part.start
            weight[part] = _raise_weights(above, leaves, own, rule)
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


def _raise_weights(parent: Small, leaves: Small, own: Floats, rule: Rule) -> Floats:
    """The weights of an attribute's nodes: carried up from leaves, never rising on the way."""
    harmonic = rule == "harmonic"
    up = np.full(len(parent), 0.0 if harmonic else np.inf)
    with np.errstate(divide="ignore"):
        up[leaves] = 1 / own if harmonic else own
    for node in reversed(range(1, len(parent))):  # children come after their parents
        above = parent[node]
        # otherwise a group is as sensitive as the least sensitive value it may stand for
        up[above] = up[above] + up[node] if harmonic else min(up[above], up[node])
    weight = 1 / up if harmonic else up
    if rule != "constant":
        weight[0] = 0.0
    return weight


# The public side table, and what it says of one record.


class Side(NamedTuple):
    """The side table, ready for lookups. All of it is public.

    Args:
        rows: How many rows it has.
        half: How many attributes belong to the first half.
        ranks: How many distinct codes each attribute has; tables of ranks lie one after another.
        rank_start: Where each attribute's table begins, and where the last one ends.
        node_lo: The first rank of each node of the forest.
        node_hi: One past its last rank.
        first: Distinct combinations of the first half, as ranks: [combinations, half].
        second: Those of the second half.
        start: Where the rows of each first combination begin in `then` and `times`.
        then: The second combination of each distinct row.
        times: How many rows it stands for.
    """

    rows: int
    half: int
    ranks: Ints
    rank_start: Ints
    node_lo: Small
    node_hi: Small
    first: Small
    second: Small
    start: Small
    then: Small
    times: Small

    @staticmethod
    def of(forest: Forest, codes: NDArray[np.integer]) -> Side:
        """Makes the index.

        Args:
            forest: The hierarchies.
            codes: The side rows: [rows, attributes].

        Raises:
            UsageError: If there are no rows, or rows of another width.
        """
        if codes.ndim != 2 or codes.shape[1] != forest.attributes:
            raise UsageError(
                "The side table does not have the attributes of the schema.",
                hint="Give a side table that the same schema describes.",
            )
        if not len(codes):
            raise UsageError(
                "The side table has no rows, so every risk would be infinite.",
                hint="Give a public table with rows, or leave it out to have one made.",
            )
        if len(codes) >= 1 << 31:
            raise UsageError("The side table has too many rows.", hint="Give a sample of it.")
        ranked = np.empty(codes.shape, np.int32)
        node_lo = np.empty(len(forest.lo), np.int32)
        node_hi = np.empty(len(forest.lo), np.int32)
        ranks = np.empty(forest.attributes, np.int64)
        for place in range(forest.attributes):
            distinct, index = np.unique(codes[:, place], return_inverse=True)
            ranked[:, place] = index.reshape(-1)
            ranks[place] = len(distinct)
            part = forest.nodes_of(place)
            node_lo[part] = np.searchsorted(distinct, forest.lo[part])
            node_hi[part] = np.searchsorted(distinct, forest.hi[part])
        logs = np.cumsum(np.log2(forest.heights() + 1.0))
        # so that the product of the first half's chains is about the root of all
        half = 1 if len(logs) == 1 else int(np.argmin(np.abs(logs[:-1] - logs[-1] / 2))) + 1
        first, first_of = _distinct(ranked[:, :half])
        second, second_of = _distinct(ranked[:, half:])
        pairs, counts = np.unique(
            first_of.astype(np.int64) * len(second) + second_of, return_counts=True
        )
        start = np.searchsorted(pairs, np.arange(len(first) + 1, dtype=np.int64) * len(second))
        return Side(
            rows=len(codes), half=half, ranks=ranks,
            rank_start=np.concatenate([[0], np.cumsum(ranks)]),
            node_lo=node_lo, node_hi=node_hi, first=first, second=second,
            start=start.astype(np.int32), then=(pairs % len(second)).astype(np.int32),
            times=counts.astype(np.int32),
        )  # fmt: skip

    def meeting_levels(self, chains: Sequence[Sequence[int]]) -> tuple[Bytes, Ints]:
        """The level at which each side row becomes consistent with a record, by attribute.

        Args:
            chains: The nodes above each value of the record.

        Returns:
            Distinct rows of levels, and how many side rows have each.
        """
        columns = []
        for place, chain in enumerate(chains):
            level = np.empty(int(self.ranks[place]), np.uint8)
            for depth in reversed(range(len(chain))):  # the root covers all, then ever less
                level[self.node_lo[chain[depth]] : self.node_hi[chain[depth]]] = depth
            columns.append(level)
        first, first_of = _distinct(_look_up(columns[: self.half], self.first))
        second, second_of = _distinct(_look_up(columns[self.half :], self.second))
        of_row = np.repeat(first_of, np.diff(self.start)).astype(np.int64)
        pairs, index = np.unique(of_row * len(second) + second_of[self.then], return_inverse=True)
        counts = np.bincount(index.reshape(-1), self.times, len(pairs)).astype(np.int64)
        levels = np.concatenate([first[pairs // len(second)], second[pairs % len(second)]], axis=1)
        return np.ascontiguousarray(levels.astype(np.uint8)), counts


class Problem(NamedTuple):
    """What is looked for in the lattices of records, and what these are made of: all of it public.

    Args:
        forest: The hierarchies.
        side: The side table.
        worth: Utility and sensitivity.
        aim: What is looked for.
    """

    forest: Forest
    side: Side
    worth: Worth
    aim: Aim = Aim()


@dataclass(frozen=True, eq=False)
class Solutions:
    """What was chosen for each record.

    Args:
        nodes: The generalized values: [records, attributes], all -1 where there is no solution.
        sums: The utility of each, its sensitivity, and how many side rows it could stand for.
    """

    nodes: Small
    sums: Floats

    @property
    def solved(self) -> Bools:
        """Whether there is a solution."""
        return np.asarray(self.nodes[:, 0] >= 0)

    @property
    def utility(self) -> Floats:
        """Of each record's."""
        return self.sums[:, 0]

    @property
    def sensitivity(self) -> Floats:
        """Of each record's."""
        return self.sums[:, 1]

    @property
    def count(self) -> Ints:
        """How many side rows it could stand for."""
        return self.sums[:, 2].astype(np.int64)

    @property
    def risk(self) -> Floats:
        """Sensitivity over count; infinite where the count is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.sensitivity / self.count)


@dataclass(frozen=True, eq=False, kw_only=True)
class Record:
    """A record's generalizations: x[i] steps up in attribute i.

    Args:
        heights: How many steps each attribute has.
        utility: For each attribute the utility by level.
        weight: For each attribute the sensitivity by level, floor included.
        levels: Distinct levels at which side rows meet the record: [rows, attributes].
        counts: How many side rows have each.
    """

    heights: Ints
    utility: tuple[Floats, ...]
    weight: tuple[Floats, ...]
    levels: Bytes
    counts: Ints

    @staticmethod
    def of(problem: Problem, leaves: Small, factor: Floats) -> Record:
        """Takes one record out of a table's terms."""
        worth, chains = problem.worth, [problem.forest.above(leaf) for leaf in leaves.tolist()]
        levels, counts = problem.side.meeting_levels(chains)
        return Record(
            heights=np.asarray([len(chain) - 1 for chain in chains], np.int64),
            utility=tuple(worth.utility[chain] for chain in chains),
            weight=tuple(
                np.maximum(worth.weight[chain] * own, worth.floor)
                for chain, own in zip(chains, factor.tolist(), strict=True)
            ),
            levels=levels,
            counts=counts,
        )

    @cached_property
    def elements(self) -> int:
        """How many elements there are."""
        return int(self.heights.sum())

    @cached_property
    def attribute_of(self) -> Ints:
        """The attribute of each element."""
        return np.repeat(np.arange(len(self.heights)), self.heights)

    @cached_property
    def level_of(self) -> Ints:
        """The level of each element, from 1."""
        starts = np.repeat(np.cumsum(self.heights) - self.heights, self.heights)
        return np.arange(self.elements) - starts + 1

    def utilities(self, points: Ints) -> Any:
        """The utility of a generalization, or of several: [points, attributes]."""
        return sum(table[points[..., i]] for i, table in enumerate(self.utility))

    def sensitivities(self, points: Ints) -> Any:
        """The sensitivity of a generalization, or of several."""
        return sum(table[points[..., i]] for i, table in enumerate(self.weight))

    def count(self, point: Ints) -> int:
        """How many side rows a generalization could stand for."""
        return int(self.counts[(self.levels <= point[None, :]).all(axis=1)].sum())

    def chain(self, order: Ints) -> tuple[Ints, Ints]:
        """The closures of the prefixes of an order of elements, and their counts.

        Returns:
            Points [elements + 1, attributes], from the record itself on, and counts.
        """
        points = np.zeros((self.elements + 1, len(self.heights)), np.int64)
        points[np.arange(1, self.elements + 1), self.attribute_of[order]] = self.level_of[order]
        np.maximum.accumulate(points, axis=0, out=points)
        return points, self.along(points)

    def along(self, points: Ints) -> Ints:
        """The counts of a growing chain of generalizations, whether or not it is maximal."""
        entered = np.zeros(len(points) + 1, np.int64)
        _enter(self.levels, self.counts, points, entered)
        return np.cumsum(entered)[:-1]


def _look_up(tables: list[Bytes], ranks: Small) -> Small:
    found = np.empty(ranks.shape, np.int32)
    for place, table in enumerate(tables):
        found[:, place] = table[ranks[:, place]]
    return found


def _distinct(rows: Small) -> tuple[Small, Ints]:
    """Distinct rows in order, and the place of each row's; one if there are no columns."""
    number = number_rows(rows.T, len(rows))
    _, place, index = np.unique(number, return_index=True, return_inverse=True)
    return np.ascontiguousarray(rows[place]), index.reshape(-1).astype(np.int64)


@kernel()
def _enter(levels: Bytes, counts: Ints, points: Ints, entered: Ints) -> None:
    """Counts at which step of a chain each side row becomes consistent."""
    steps, attributes = points.shape
    reached = np.full((attributes, 256), steps)
    for place in range(attributes):
        level = 0
        for step in range(steps):
            while level <= points[step, place]:
                reached[place, level] = step
                level += 1
    for row in range(levels.shape[0]):
        step = 0
        for place in range(attributes):
            step = max(step, reached[place, levels[row, place]])
        entered[step] += counts[row]
