"""Items: the public universe of transactions, in which every record is a set of items; its tree.

An item's code is its place in the public order. A tree over the universe groups the items: a
semantic taxonomy if one is known, else one that knows nothing and groups neighbors. What happens
to items outside the universe, to empty records and to long ones are public rules, each of which
looks at one record alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from hedgerow.errors import UsageError
from hedgerow.schema.attributes import MAX_GRID, Complaint
from hedgerow.schema.taxonomy import Taxonomy, taxonomy_faults
from hedgerow.schema.yaml_text import UNSEEN, label_fault
from hedgerow.suggestions import Checked

if TYPE_CHECKING:
    from hedgerow.arrays import Ints, Small

EMPTY = "(empty)"
DEFAULT_FAN_OUT = 10

WEIGHT = 1024
"""Weighted supports are counted in so many parts of a record, so that they are whole numbers."""
_RULES = ("foreign", "empty", "max_items", "column", "person", "item")

Separator = Literal[" ", ",", ";", "|", "\t"]


@dataclass(frozen=True)
class Items(Checked):
    """The public universe of items, its tree, and the rules for records.

    Args:
        universe: The items in their public order: a range of whole numbers, their labels, or a
            semantic taxonomy, whose leaves they are. Numbers stand for their decimal texts.
        fan_out: How many neighbors a context-free tree groups; a taxonomy needs none.
        foreign: What happens to an item outside the universe.
        empty: What happens to a record without items: it is dropped, or holds the public item
            `(empty)`, which is then the last one of the universe.
        max_items: The most items that count for one record; which ones is a public rule.
        column: The column that holds the items of a record, as a list or as one text.
        separator: What stands between the items of a text; a blank stands for any blanks.
        person: In a table with one row for each item of a person, the column of the person.
        item: In such a table, the column of the item.

    Example:
        >>> clicks = Items(range(1, 18), max_items=5)
        >>> clicks.size, clicks.labels[:3], clicks.code_of(4), clicks.code_of("17")
        (17, ('1', '2', '3'), 3, 16)
        >>> clicks.taxonomy.height, clicks.taxonomy.label(0, 10)
        (2, '1 .. 10')
    """

    universe: range | tuple[str, ...] | Taxonomy
    _: KW_ONLY
    fan_out: int = DEFAULT_FAN_OUT
    foreign: Literal["drop", "error"] = "drop"
    empty: Literal["drop", "dummy"] = "drop"
    max_items: int | None = None
    column: str | None = None
    separator: Separator = " "
    person: str | None = None
    item: str | None = None

    def __post_init__(self) -> None:
        """Takes any list of labels; whole numbers become their decimal texts."""
        # the characters of a text are not its items, and a set has no order
        given: Any = self.universe
        odd = (range, Taxonomy, str, bytes, set, frozenset, Mapping)
        if isinstance(given, Iterable) and not isinstance(given, odd):
            object.__setattr__(self, "universe", tuple(map(str, given)))
        super().__post_init__()

    @property
    def semantic(self) -> bool:
        """Whether the tree was given, and says something about the items."""
        return isinstance(self.universe, Taxonomy)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels of all items; an item's code is its place here."""
        dummy = () if self.dummy is None else (EMPTY,)
        return (*self.given, *dummy)

    @cached_property
    def given(self) -> tuple[str, ...]:
        """The labels that can stand in the data: all but the one for an empty record."""
        if isinstance(self.universe, Taxonomy):
            return self.universe.leaves
        if isinstance(self.universe, range):
            return tuple(map(str, self.universe))
        return self.universe

    @property
    def size(self) -> int:
        """The number of codes."""
        known = self.universe.leaves if isinstance(self.universe, Taxonomy) else self.universe
        return len(known) + (self.empty == "dummy")

    @property
    def most(self) -> int:
        """The most items that one record can count for: no more than there are.

        Example:
            >>> Items(("milk", "tea"), max_items=20).most
            2
        """
        return min(self.max_items or self.size, self.size)

    @property
    def dummy(self) -> int | None:
        """The code of the item that stands for an empty record, if there is one."""
        return self.size - 1 if self.empty == "dummy" else None

    @cached_property
    def taxonomy(self) -> Taxonomy:
        """The tree over exactly these items, in their order; no node has a single child."""
        if not isinstance(self.universe, Taxonomy):
            return group(self.labels, self.fan_out)
        tree = self.universe
        if self.dummy is None:
            return tree
        if tree.height == 0:  # a single item needs a root that it can share with the dummy
            return Taxonomy((f"{tree.labels[0]} .. {EMPTY}", *tree.labels, EMPTY), (-1, 0, 0))
        return Taxonomy((*tree.labels, EMPTY), (*tree.parents, 0))

    def code_of(self, label: str | int) -> int:
        """The code of an item.

        Raises:
            UsageError: If it is not an item of the universe.
        """
        code = self._find(str(label))
        if code < 0:
            what = f"{str(label)!r} is not an item of the universe"
            raise UsageError(what, "Write the item exactly as the schema does.")
        return code

    def group_of(self, label: str) -> int | None:
        """The node of the taxonomy that a group of items is called by, None if there is none.

        Example:
            >>> goods = {"dairy": ["milk", "butter"], "tea": None}
            >>> shop = Items(Taxonomy.from_nested("goods", goods))
            >>> shop.group_of("dairy"), shop.group_of("milk")
            (1, None)
        """
        if not self.semantic or self._find(label) >= 0:
            return None
        labels = self.taxonomy.labels
        return labels.index(label) if label in labels else None

    def codes_of(self, labels: Iterable[str | int]) -> Small:
        """The codes of many items; -1 for what is not in the universe.

        Example:
            >>> Items(("milk", "bread")).codes_of(["bread", "tea", "milk"]).tolist()
            [1, -1, 0]
        """
        import numpy as np

        return np.fromiter((self._find(str(label)) for label in labels), np.int32)

    def _find(self, label: str) -> int:
        if isinstance(self.universe, range):
            if label == EMPTY and self.dummy is not None:
                return self.dummy
            try:
                number = int(label)
            except ValueError:
                return -1
            known = number in self.universe and str(number) == label  # `007` is another text
            return number - self.universe.start if known else -1
        return self._places.get(label, -1)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {label: code for code, label in enumerate(self.labels)}

    def describe(self) -> dict[str, Any]:
        """The dictionary form, as a schema file would hold it; a range stays a range."""
        if isinstance(self.universe, Taxonomy):
            tree = self.universe
            named: dict[str, Any] = {"taxonomy": tree.nested(), "root": tree.labels[0]}
            if tree.height == 0:  # a single node is a single item
                named = {"taxonomy": list(tree.labels)}
        elif isinstance(self.universe, range):
            bounds = [self.universe.start, self.universe.stop - 1]
            named = {"universe": {"range": bounds}, "fan_out": self.fan_out}
        else:
            named = {"universe": list(self.universe), "fan_out": self.fan_out}
        rules = {key: getattr(self, key) for key in _RULES if getattr(self, key) is not None}
        return named | rules | ({"separator": self.separator} if self.item is None else {})


def group(labels: tuple[str, ...], fan_out: int) -> Taxonomy:
    """A context-free tree: neighbors are grouped level by level, up to one root.

    The last group of a level may be smaller, and disappears if it would have a single member.

    Example:
        >>> tree = group(("a", "b", "c", "d", "e"), 2)
        >>> tree.nested()
        {'a .. d': {'a .. b': ['a', 'b'], 'c .. d': ['c', 'd']}, 'e': None}
    """
    fan_out = max(2, min(fan_out, len(labels)))
    width = 1
    while width < len(labels):
        width *= fan_out
    names: list[str] = []
    parents: list[int] = []
    stack = [(0, len(labels), width, -1)]
    while stack:
        low, high, width, parent = stack.pop()
        names.append(labels[low] if high - low == 1 else f"{labels[low]} .. {labels[high - 1]}")
        parents.append(parent)
        if high - low > 1:
            while high - low <= width:  # a group of one member is that member
                width //= fan_out
            groups = [(at, min(at + width, high)) for at in range(low, high, width)]
            stack += [(*span, width, len(names) - 1) for span in reversed(groups)]
    return Taxonomy(tuple(names), tuple(parents))


def range_fault(low: int, high: int) -> tuple[str, str] | None:
    """What is wrong with a range of items, and the hint; None if it is fine.

    Example:
        >>> range_fault(5, 1)[0]
        'the range ends before it begins'
    """
    if low > high:
        return "the range ends before it begins", "Write the smaller number first."
    if high - low >= MAX_GRID:
        return f"the range has more than {MAX_GRID} items", "Choose a smaller range."
    if max(abs(low), abs(high)) >= 10**18:
        return "the range holds numbers of more than 18 digits", "List such items as texts."
    return None


def labels_fault(labels: Sequence[str]) -> tuple[str, str] | None:
    """What is wrong with a long list of items, and the hint; None if it is fine.

    Example:
        >>> labels_fault(["milk", "milk"])
        ("the item 'milk' is repeated", 'Keep one of the two.')
    """
    if not labels:
        return "there are no items", "Write at least one item."
    # One search for all: a universe may have a million items.
    if not all(map(str.strip, labels)) or UNSEEN.search("".join(labels)):
        return next(fault for fault in map(label_fault, labels) if fault)
    if len(set(labels)) < len(labels):
        label = next(label for label, times in Counter(labels).items() if times > 1)
        return f"the item {label!r} is repeated", "Keep one of the two."
    return None


def items_faults(items: Items) -> Iterator[Complaint]:
    """What is wrong with the items of a schema."""
    wrong = [*_universe_faults(items)]
    yield from wrong
    if items.empty == "dummy" and not wrong and EMPTY in items.given:
        what = f"{EMPTY!r} is one of the items, and also what an empty record would become"
        yield "empty", what, "Rename the item, or write empty: drop."
    if items.max_items is not None and items.max_items < 1:
        yield "max_items", "max_items is below 1", "Say how many items may count."
    if (items.person is None) != (items.item is None):
        given, other = ("person", "item") if items.item is None else ("item", "person")
        hint = f"A table with one row for each item of a person needs both: add {other}:."
        yield given, f"{given} is given without {other}", hint
    elif items.item is not None and items.column is not None:
        what = "column is given beside person and item"
        yield "column", what, "Keep `column`, or keep `person` and `item`."
    elif items.item is not None and items.separator != " ":
        what = "separator is given beside person and item, whose rows hold one item each"
        yield "separator", what, "Remove it."
    elif items.item is not None and items.item == items.person:
        yield "item", "person and item are the same column", "Name the two columns of the table."
    for key in ("column", "person", "item"):
        name = getattr(items, key)
        if name is not None and (fault := label_fault(name)):
            yield key, *fault


def _universe_faults(items: Items) -> Iterator[Complaint]:
    universe = items.universe
    if isinstance(universe, Taxonomy):
        for what, hint in taxonomy_faults(universe):
            yield "taxonomy", what, hint
        if items.fan_out != DEFAULT_FAN_OUT:
            what = "a taxonomy itself says how items are grouped"
            yield "fan_out", what, "Remove fan_out, or the taxonomy."
        return
    if isinstance(universe, range):
        wrong = range_fault(universe.start, universe.stop - 1)
    else:
        wrong = labels_fault(universe)
    if wrong is not None:
        yield "universe", *wrong
    if isinstance(universe, range) and universe.step != 1:
        hint = "Use a range with step 1, or list the items."
        yield "universe", "the range leaves out numbers", hint
    if items.fan_out < 2:
        what = "fan_out is below 2, so groups would never meet in one root"
        yield "fan_out", what, f"Write, for example, fan_out: {DEFAULT_FAN_OUT}."


# The tree over a universe of items as flat arrays, the form in which methods walk it.
#
# All of it is public. A node with very many children would make more sub-partitions than a mask of
# 64 bits can tell apart, so the children of such a node are grouped once more, by neighbors.


MOST_CHILDREN = 32


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemTree:
    """Nodes breadth first, so that the children of a node are contiguous, from left to right.

    Args:
        parent: The parent of each node, -1 for the root, which is node 0.
        first_child: The first child of each node.
        children: The number of children, 0 for an item.
        lo: The first item's code below each node.
        hi: One past the last item's code.
        labels: What each node is called.

    Example:
        >>> tree = ItemTree.of(Items(("a", "b", "c", "d"), fan_out=2))
        >>> tree.labels
        ('a .. d', 'a .. b', 'c .. d', 'a', 'b', 'c', 'd')
        >>> tree.height.tolist(), tree.inner.tolist()
        ([2, 1, 1, 0, 0, 0, 0], [3, 1, 1, 0, 0, 0, 0])
    """

    parent: Ints
    first_child: Ints
    children: Ints
    lo: Ints
    hi: Ints
    labels: tuple[str, ...]

    @staticmethod
    def of(items: Items) -> ItemTree:
        """Lays out the tree of a universe."""
        import numpy as np

        taxonomy = items.taxonomy
        below, spans, names = taxonomy.children, taxonomy.spans, taxonomy.labels
        # a node is a stretch of siblings that stand for one: a single one is a taxonomy's node
        order: list[tuple[int, ...]] = [(0,)]
        parent, first, number = [-1], [], []
        for node in order:
            kids = below[node[0]] if len(node) == 1 else node
            groups = _gather(kids)
            first.append(len(order))
            number.append(len(groups))
            parent.extend([len(first) - 1] * len(groups))
            order.extend(groups)
        return ItemTree(
            parent=np.asarray(parent, np.int64),
            first_child=np.asarray(first, np.int64),
            children=np.asarray(number, np.int64),
            lo=np.asarray([spans[node[0]][0] for node in order], np.int64),
            hi=np.asarray([spans[node[-1]][1] for node in order], np.int64),
            labels=tuple(
                names[node[0]] if len(node) == 1 else f"{names[node[0]]} .. {names[node[-1]]}"
                for node in order
            ),
        )

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self.parent)

    @cached_property
    def height(self) -> Ints:
        """The number of edges on the longest way down from each node."""
        import numpy as np

        height = np.zeros(len(self), np.int64)
        for node in range(len(self) - 1, 0, -1):  # children stand after their parent
            above = self.parent[node]
            height[above] = max(height[above], height[node] + 1)
        return height

    @cached_property
    def inner(self) -> Ints:
        """How many nodes of the subtree under each node, itself included, have children."""
        import numpy as np

        inner = (self.children > 0).astype(np.int64)
        for node in range(len(self) - 1, 0, -1):
            inner[self.parent[node]] += inner[node]
        return inner

    def kids(self, node: int) -> Ints:
        """The children of a node, from left to right."""
        import numpy as np

        return np.arange(self.first_child[node], self.first_child[node] + self.children[node])


def _gather(kids: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Children as they are, or neighbors in groups of about equal size where they are too many."""
    if len(kids) <= MOST_CHILDREN:
        return [(kid,) for kid in kids]
    groups = min(MOST_CHILDREN, -(-len(kids) // MOST_CHILDREN))
    ends = [len(kids) * place // groups for place in range(groups + 1)]
    return [kids[a:b] for a, b in zip(ends, ends[1:], strict=False)]
