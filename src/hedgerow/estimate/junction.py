"""A junction tree: the marginals, the normalizer and draws of a graphical model.

A model is a product of factors, one for each noisy table, over a few discrete variables (Lauritzen
and Spiegelhalter 1988). If the variables of every factor lie together in a clique, and the cliques
form a tree in which those of each variable hang together, two passes of messages along the tree
give the marginal of every clique, and records are drawn clique by clique from the root.

A variable has two levels. Pairs of attributes meet in groups of their values, so most cliques are
made of groups; which cell of its group a record lies in depends on few other variables, so the
*detail* of a variable is a clique of its cells and these, which hangs on the groups. To the
messages that is one more table of indices.

All of it is NumPy, since reading a release must not compile anything.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Floats, Ints

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Detail:
    """The finer level of a variable.

    Args:
        group: The group of each of its cells.
        beside: The variables that its cells depend on, once the group is known.
    """

    group: Ints
    beside: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Factor:
    """Where a table meets the tree: a clique, and the table's cell for each of its cells."""

    clique: int
    index: Indices
    cells: int


@dataclass(frozen=True, eq=False, kw_only=True)
class JunctionTree:
    """Cliques, each of which hangs on an earlier one; the first is the root.

    Args:
        sizes: How many groups each variable has.
        cliques: The variables of each clique.
        shapes: How many values each of them has there: groups, or the cells of a detail.
        parent: The clique that each hangs on; -1 for the root.
        details: Of some cliques, the variable whose detail it is, and the detail.
    """

    sizes: tuple[int, ...]
    cliques: tuple[tuple[int, ...], ...]
    shapes: tuple[tuple[int, ...], ...]
    parent: tuple[int, ...]
    details: Mapping[int, tuple[int, Detail]]

    @staticmethod
    def of(
        sizes: Sequence[int],
        together: Sequence[tuple[int, ...]],
        details: Mapping[int, Detail] | None = None,
    ) -> JunctionTree:
        """A tree in which each of some sets of variables lies in one clique.

        Args:
            sizes: How many groups each variable has.
            together: The sets.
            details: The finer levels of some variables.

        Example:
            >>> tree = JunctionTree.of([2, 3, 4, 5], [(0, 1), (1, 2), (2, 3)])
            >>> tree.cliques, tree.parent
            (((0, 1), (1, 2), (2, 3)), (-1, 0, 1))
        """
        details = details or {}
        sets = [*together, *((v, *one.beside) for v, one in details.items())]
        cliques, parent = _joined(_cliques(sizes, sets))
        shapes = [tuple(sizes[v] for v in clique) for clique in cliques]
        places: dict[int, tuple[int, Detail]] = {}
        for v, one in details.items():
            above = _smallest(cliques[: len(cliques) - len(places)], shapes, {v, *one.beside})
            places[len(cliques)] = v, one
            cliques.append((v, *one.beside))
            shapes.append((len(one.group), *(sizes[b] for b in one.beside)))
            parent.append(above)
        return JunctionTree(
            sizes=tuple(sizes),
            cliques=tuple(cliques),
            shapes=tuple(shapes),
            parent=tuple(parent),
            details=places,
        )

    @property
    def cells(self) -> int:
        """How many cells all cliques have together."""
        return sum(math.prod(shape) for shape in self.shapes)

    @cached_property
    def start(self) -> Ints:
        """Where the cells of each clique begin; one more than there are cliques."""
        return np.cumsum([0, *(math.prod(shape) for shape in self.shapes)]).astype(np.int64)

    @cached_property
    def shared(self) -> tuple[tuple[int, ...], ...]:
        """The variables that each clique shares with the one that it hangs on."""
        return tuple(
            tuple(v for v in clique if above >= 0 and v in self.cliques[above])
            for clique, above in zip(self.cliques, self.parent, strict=True)
        )

    @cached_property
    def _messages(self) -> list[tuple[Indices, Indices, int]]:
        """Of each clique the message to the clique that it hangs on.

        The message's cell for each cell of the clique, that for each cell of the other one, and
        how many cells the message has.
        """
        messages = []
        for clique, (above, shared) in enumerate(zip(self.parent, self.shared, strict=True)):
            upper = self._index(above, shared) if above >= 0 else np.empty(0, np.intp)
            size = math.prod(self.sizes[v] for v in shared)
            messages.append((self._index(clique, shared), upper, size))
        return messages

    def _index(self, clique: int, columns: Sequence[int], *, in_cells: bool = False) -> Indices:
        """The cell of a table of some variables, for each cell of a clique.

        Args:
            clique: The clique.
            columns: The variables, in the order of the table.
            in_cells: Whether the table counts the cells of a detail, and not their groups.
        """
        index = np.zeros(self.shapes[clique], np.intp)
        for v in columns:
            axis = self.cliques[clique].index(v)
            size = self.shapes[clique][axis]
            value = np.arange(size)
            if clique in self.details and self.details[clique][0] == v and not in_cells:
                size, value = self.sizes[v], self.details[clique][1].group
            along = [1] * index.ndim
            along[axis] = -1
            index = index * size + value.reshape(along)
        return index.ravel()

    def factor(self, columns: Sequence[int]) -> Factor:
        """Where a table of groups, of variables that lie together in a clique, meets the tree."""
        clique = _smallest(self.cliques, self.shapes, set(columns))
        cells = math.prod(self.sizes[v] for v in columns)
        return Factor(clique, self._index(clique, columns), cells)

    def detail_factor(self, variable: int, beside: Sequence[int] = ()) -> Factor:
        """Where a table of a variable's cells, alone or by others, meets the tree."""
        clique = next(c for c, (v, _) in self.details.items() if v == variable)
        size = dict(zip(self.cliques[clique], self.shapes[clique], strict=True))
        columns = (variable, *beside)
        index = self._index(clique, columns, in_cells=True)
        return Factor(clique, index, math.prod(size[v] for v in columns))

    def growth(self, pairs: Sequence[tuple[int, int]]) -> list[int]:
        """How many cells the tree would gain, at most, if two variables were to lie together.

        Variables of different parts get a clique of their own. Else one of them is put into every
        clique on the way to one that holds the other: then the tree still is one.

        Example:
            >>> tree = JunctionTree.of([2, 3, 4, 5], [(0, 1), (1, 2), (3,)])
            >>> tree.growth([(0, 2), (0, 3)])
            [24, 10]
        """
        beside: list[list[int]] = [[] for _ in self.cliques]
        for clique, (above, shared) in enumerate(zip(self.parent, self.shared, strict=True)):
            if shared:
                beside[clique].append(above)
                beside[above].append(clique)
        size = np.diff(self.start).tolist()
        ways = {v: self._ways(v, beside, size) for v in {v for pair in pairs for v in pair}}
        holding = {v: [c for c, clique in enumerate(self.cliques) if v in clique] for v in ways}
        grown = []
        for one, other in pairs:
            costs = [ways[one][c] for c in holding[other] if c in ways[one]]
            costs += [ways[other][c] for c in holding[one] if c in ways[other]]
            grown.append(min(costs, default=self.sizes[one] * self.sizes[other]))
        return grown

    def _ways(self, variable: int, beside: list[list[int]], size: list[int]) -> dict[int, int]:
        """What it costs to put a variable into each clique, and into those on the way there."""
        ways = {c: 0 for c, clique in enumerate(self.cliques) if variable in clique}
        waiting = list(ways)
        while waiting:
            here = waiting.pop()
            for clique in beside[here]:
                if clique not in ways:
                    ways[clique] = ways[here] + size[clique] * self.sizes[variable]
                    waiting.append(clique)
        return ways

    def calibrate(self, logits: Floats, total: float) -> tuple[Floats, float]:
        """The marginals of all cliques, which agree where they meet.

        Args:
            logits: The logarithm of the product of factors in each cell of each clique.
            total: How many records there are.

        Returns:
            How many records lie in each cell, clique after clique, and the logarithm of what all
            products of factors add up to.
        """
        start, logits = self.start, logits.copy()
        part = [logits[start[c] : start[c + 1]] for c in range(len(start) - 1)]
        for c in range(len(part) - 1, 0, -1):
            lower, upper, size = self._messages[c]
            # the largest of each sum is taken out of it: factors of early steps may be of any size
            top = np.full(size, -np.inf)
            np.maximum.at(top, lower, part[c])
            mass = np.exp(part[c] - top[lower])
            message = np.bincount(lower, mass, size)
            part[c][:] = mass / message[lower]
            part[self.parent[c]] += (top + np.log(message))[upper]
        most = float(part[0].max())
        mass = np.exp(part[0] - most)
        whole = float(mass.sum())
        part[0][:] = mass * (total / whole)
        for c in range(1, len(part)):
            lower, upper, size = self._messages[c]
            part[c] *= np.bincount(upper, part[self.parent[c]], size)[lower]
        return logits, most + math.log(whole)

    def draw(
        self, mass: Floats, rows: int, random: np.random.Generator, *, details: bool = True
    ) -> tuple[list[Ints], dict[int, Ints]]:
        """Records whose shares in every clique come as near as whole numbers can.

        Clique by clique, the records that agree in what is shared with the clique above are
        dealt out over its cells, in random order and in proportion.

        Args:
            mass: The marginals, from `calibrate`.
            rows: How many records.
            random: For the order, and for what is left when proportions are rounded.
            details: Whether cells are wanted too, and not groups alone.

        Returns:
            The group of each record in every variable, and the cells of those with a detail.
        """
        groups: list[Ints | None] = [None] * len(self.sizes)
        cells: dict[int, Ints] = {}
        wanted = len(self.cliques) - (0 if details else len(self.details))
        for c, (lower, _, size) in enumerate(self._messages[:wanted]):
            here = np.zeros(rows, np.int64)
            for v in self.shared[c]:
                known = groups[v]
                assert known is not None
                here = here * self.sizes[v] + known
            place = _deal(mass[self.start[c] : self.start[c + 1]], lower, here, size, random)
            for v, code in zip(
                self.cliques[c], np.unravel_index(place, self.shapes[c]), strict=True
            ):
                if c in self.details and self.details[c][0] == v:
                    cells[v] = code
                elif groups[v] is None:
                    groups[v] = code
        return [column for column in groups if column is not None], cells


def _deal(
    mass: Floats, message: Indices, here: Ints, size: int, random: np.random.Generator
) -> Ints:
    """A cell for each record, among those whose message cell is the record's.

    Args:
        mass: Of each cell.
        message: The message cell of each cell.
        here: The message cell of each record.
        size: How many message cells there are.
        random: See `JunctionTree.draw`.
    """
    order = sort_labels(message, size)
    ends = np.cumsum(np.maximum(mass[order], 1e-300))
    last = np.cumsum(np.bincount(message, minlength=size)) - 1
    top = ends[last]
    bottom = np.concatenate([[0.0], top[:-1]])
    shuffled = random.permutation(len(here))
    records = shuffled[sort_labels(here[shuffled], size)]
    which = here[records]
    many = np.bincount(which, minlength=size)
    rank = np.arange(len(here)) - (np.cumsum(many) - many)[which]
    mark = (rank + random.random(size)[which]) / np.maximum(many, 1)[which]
    mark = bottom[which] + mark * (top - bottom)[which]
    first = last - np.bincount(message, minlength=size) + 1
    # rounding may carry a mark over the edge of its message cell, and nobody is in an empty one
    filled = np.maximum.accumulate(np.where(mass[order] > 0, np.arange(len(order)), 0))[last]
    filled = np.maximum(first, filled)
    place = np.clip(np.searchsorted(ends, mark, side="right"), first[which], filled[which])
    cell = np.empty(len(here), np.int64)
    cell[records] = order[place]
    return cell


def sort_labels(labels: Ints, size: int) -> Ints:
    """The places of labels below a size in their order, those of the same one as they stood.

    NumPy sorts 16 bits without comparing them, in a fraction of the time.
    """
    return np.argsort(labels.astype(np.uint16) if size <= 1 << 16 else labels, kind="stable")


def _cliques(sizes: Sequence[int], together: Sequence[tuple[int, ...]]) -> list[set[int]]:
    """The largest cliques once variables are eliminated one by one, the cheapest first."""
    beside: list[set[int]] = [set() for _ in sizes]
    for those in together:
        for v in those:
            beside[v].update(those)
    for v, known in enumerate(beside):
        known.discard(v)
    # whole numbers, so that ties are ties on every machine and in every order of the sets
    cost = [sizes[v] * math.prod(sizes[b] for b in beside[v]) for v in range(len(sizes))]
    left = set(range(len(sizes)))
    cliques: list[set[int]] = []
    while left:
        v = min(left, key=lambda v: (cost[v], v))
        left.remove(v)
        around = beside[v]
        if not any(around < clique and v in clique for clique in cliques):
            cliques.append({v, *around})
        for b in around:
            beside[b] |= around
            beside[b] -= {b, v}
            cost[b] = sizes[b] * math.prod(sizes[other] for other in beside[b])
    return cliques


def _joined(cliques: list[set[int]]) -> tuple[list[tuple[int, ...]], list[int]]:
    """The cliques in an order in which each hangs on an earlier one: a largest spanning tree."""
    order, parent = [0], [-1]
    best = {c: (len(cliques[c] & cliques[0]), 0) for c in range(1, len(cliques))}
    while best:
        c = max(best, key=lambda c: (best[c][0], -c))
        parent.append(best.pop(c)[1])
        for other, (shared, _) in best.items():
            now = len(cliques[other] & cliques[c])
            if now > shared:
                best[other] = now, len(order)
        order.append(c)
    return [tuple(sorted(cliques[c])) for c in order], parent


def _smallest(
    cliques: Sequence[tuple[int, ...]], shapes: Sequence[tuple[int, ...]], wanted: set[int]
) -> int:
    """The smallest clique that holds some variables."""
    holding = [c for c, clique in enumerate(cliques) if wanted <= set(clique)]
    return min(holding, key=lambda c: (math.prod(shapes[c]), c))
