"""A taxonomy: a public tree of labels whose leaves are the values of an attribute; its rules."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import accumulate
from operator import ge, gt, le, lt
from typing import Any, Literal, NamedTuple

from hedgerow.schema.yaml_text import MAX_DEPTH, label_fault
from hedgerow.suggestions import Checked

# A taxonomy: a public tree of labels whose leaves are the raw values of an attribute.
#
# Leaves are numbered from left to right, so every node covers a contiguous range of leaf codes.
# A region of a release is therefore an interval of codes in every attribute, numeric or not.


@dataclass(frozen=True)
class Taxonomy(Checked):
    """A rooted tree in preorder.

    Args:
        labels: The label of each node; node 0 is the root.
        parents: The parent of each node, -1 for the root; a parent stands before its children.

    Example:
        >>> jobs = Taxonomy.from_nested("Any", {"Professional": ["Engineer", "Lawyer"], "Artist": ["Dancer"]})
        >>> jobs.leaves
        ('Engineer', 'Lawyer', 'Dancer')
        >>> jobs.label(0, 2)
        'Professional'
    """

    labels: tuple[str, ...]
    parents: tuple[int, ...]

    @staticmethod
    def from_nested(root: str, tree: Mapping[str, Any] | Sequence[str]) -> Taxonomy:
        """Builds a taxonomy from nested mappings (inner nodes) and lists (leaves).

        A node with a single child says nothing and would cost budget, so such chains are
        collapsed to their upper label unless the child is a leaf, whose label is kept.
        """
        labels: list[str] = []
        parents: list[int] = []

        def add(label: str, below: Any, parent: int) -> None:
            while below and len(below) == 1:  # a unary chain
                (only,) = below
                deeper = below[only] if isinstance(below, Mapping) else None
                label = label if deeper else str(only)
                below = deeper
            labels.append(label)
            parents.append(parent)
            node = len(labels) - 1
            for child in below or ():
                add(str(child), below[child] if isinstance(below, Mapping) else None, node)

        add(root, tree, -1)
        return Taxonomy(tuple(labels), tuple(parents))

    @staticmethod
    def flat(values: Sequence[str], root: str = "Any") -> Taxonomy:
        """One level of values under a root; a single value is a tree by itself."""
        labels = (root, *map(str, values)) if len(values) != 1 else (str(values[0]),)
        return Taxonomy(labels, (-1, *[0] * (len(labels) - 1)))

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each node, from left to right."""
        below: list[list[int]] = [[] for _ in self.labels]
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                below[parent].append(node)
        return tuple(tuple(nodes) for nodes in below)

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The half-open range of leaf codes that each node covers."""
        # preorder meets leaves from left to right
        low = [*accumulate((not nodes for nodes in self.children), initial=0)]
        high = [code + 1 for code in low[:-1]]
        for node in reversed(range(len(high))):
            if self.children[node]:
                high[node] = high[self.children[node][-1]]
        return tuple(zip(low[:-1], high, strict=True))

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The labels of the leaves; a leaf's code is its place here."""
        pairs = zip(self.labels, self.children, strict=True)
        return tuple(label for label, nodes in pairs if not nodes)

    @cached_property
    def _node_at(self) -> dict[tuple[int, int], int]:
        return {span: node for node, span in enumerate(self.spans)}

    def node(self, low: int, high: int) -> int:
        """The node that covers exactly the leaf codes from low to high."""
        return self._node_at[low, high]

    def __contains__(self, span: object) -> bool:
        """Whether a node covers exactly these leaf codes, from low to high."""
        return span in self._node_at

    def label(self, low: int, high: int) -> str:
        """The label of the node that covers exactly the leaf codes from low to high."""
        return self.labels[self._node_at[low, high]]

    @cached_property
    def height(self) -> int:
        """The number of edges on the longest path from the root to a leaf."""
        depth = [0] * len(self.labels)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                depth[node] = depth[parent] + 1
        return max(depth)

    def nested(self) -> Any:
        """The tree below the root as nested mappings and lists, as YAML would hold it.

        Inner nodes become mappings; a node whose children are all leaves becomes a list.
        """
        below: list[Any] = [None] * len(self.labels)
        for node, kids in reversed([*enumerate(self.children)]):
            if kids:
                flat = not any(below[kid] for kid in kids)
                labels = [self.labels[kid] for kid in kids]
                below[node] = labels if flat else {self.labels[kid]: below[kid] for kid in kids}
        return below[0] or []


def taxonomy_faults(taxonomy: Taxonomy) -> Iterator[tuple[str, str]]:
    """What is wrong with a finished taxonomy: pairs of what and hint.

    Example:
        >>> [what for what, hint in taxonomy_faults(Taxonomy.flat(["a", "b", "a"]))]
        ["the name 'a' is repeated in the taxonomy"]
    """
    path: list[int] = []  # each node follows its parent, or what is below an earlier sibling
    for node, parent in enumerate(taxonomy.parents):
        while path and path[-1] != parent:
            path.pop()
        if bool(path) != bool(node) or (not node and parent != -1):
            path = []
            break
        path.append(node)
    if not path or len(taxonomy.labels) != len(taxonomy.parents):
        hint = "Build it with Taxonomy.from_nested or Taxonomy.flat."
        yield "the taxonomy is not a tree in preorder", hint
        return
    yield from filter(None, map(label_fault, taxonomy.labels))
    for label, times in Counter(taxonomy.labels).items():
        if times > 1:
            hint = "Give every value and group a name of its own."
            yield f"the name {label!r} is repeated in the taxonomy", hint
    for label, nodes in zip(taxonomy.labels, taxonomy.children, strict=True):
        if len(nodes) == 1:
            hint = "Build the taxonomy with Taxonomy.from_nested, which collapses such groups."
            yield f"the group {label!r} has a single member", hint
    if taxonomy.height > MAX_DEPTH:
        yield f"the taxonomy is deeper than {MAX_DEPTH} levels", "Remove levels from it."


# Rules that read values: ranges, prefixes, bands, merged values, differences that do not matter.
#
# A rule is public and looks at one value alone, so what becomes of a record never depends on
# another one. The leaves that rules lead to are those of a taxonomy.


REST = "*"

Ignored = Literal["case", "spaces", "zeros"]
_Fits = Callable[[str], bool]

_WHOLE = re.compile(r"(\d+)\s*-\s*(\d+)", re.ASCII)
_CODES = re.compile(r"([A-Za-z]{0,3}\d[\dA-Za-z]*)(\*?)\s*-\s*([A-Za-z]{0,3}\d[\dA-Za-z]*)(\*?)")
_SIDE = re.compile(r"(<=|>=|<|>)\s*([+-]?\d+(?:\.\d+)?)|(\d+(?:\.\d+)?)\s*\+", re.ASCII)
_BAND = re.compile(
    r"([\[(])\s*(?:([+-]?\d+(?:\.\d+)?)\s*,\s*([+-]?\d+(?:\.\d+)?)"
    r"|(\d+(?:\.\d+)?)\s*-\s*(\d+(?:\.\d+)?))\s*([\])])",
    re.ASCII,
)
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True)
class Reading(Checked):
    """How the values of a column are read, before they are looked up among the leaves.

    Args:
        rules: Pairs of a rule and the leaf that it leads to, in their order.
        ignore: Differences that do not matter.
        cut_at: Values are taken up to this text.

    Example:
        >>> reading = Reading((("390-459", "heart"), ("E*", "accident"), (">30", "late")))
        >>> [reading.leaf(text) for text in ("428.1", "E909", ">30", "31", "never")]
        ['heart', 'accident', 'late', 'late', None]
    """

    rules: tuple[tuple[str, str], ...] = ()
    ignore: tuple[Ignored, ...] = ()
    cut_at: str | None = None

    def __post_init__(self) -> None:
        """Refuses settings of the wrong type; what is said twice counts once."""
        super().__post_init__()
        rules = dict.fromkeys((rule.strip(), leaf) for rule, leaf in self.rules)
        object.__setattr__(self, "rules", tuple(rules))
        object.__setattr__(self, "ignore", tuple(dict.fromkeys(self.ignore)))
        object.__setattr__(self, "cut_at", self.cut_at or None)

    def __bool__(self) -> bool:
        """Whether values are read in any way but as they are."""
        return bool(self.rules or self.ignore or self.cut_at)

    def form(self, text: str) -> str:
        """A value as it is compared.

        Example:
            >>> Reading(ignore=("case", "zeros"), cut_at=".").form("0E12.5")
            'e12'
        """
        if self.cut_at:
            text = text.partition(self.cut_at)[0].strip() or text
        return self.alike(text)

    def alike(self, text: str, zeros: bool = True) -> str:
        """A text without the differences that do not matter, but not cut."""
        text = unicodedata.normalize("NFC", text)
        if "case" in self.ignore:
            text = text.casefold()
        if "spaces" in self.ignore:
            text = _SPACES.sub("", text)
        if zeros and "zeros" in self.ignore:
            text = text.lstrip("0") or text[-1:]
        return text

    @cached_property
    def same(self) -> dict[str, str]:
        """The leaf for each text that is itself a rule."""
        forms: dict[str, str] = {}
        for rule, leaf in self.rules:
            if rule != REST:
                forms.setdefault(self.alike(rule), leaf)
        return forms

    @cached_property
    def rest(self) -> str | None:
        """The leaf of all others, if there is one."""
        return dict(self.rules).get(REST)

    @cached_property
    def _patterns(self) -> list[tuple[_Fits, str]]:
        patterns = [(pattern_of(self.alike(rule, zeros=False)), leaf) for rule, leaf in self.rules]
        return [(pattern.fits, leaf) for pattern, leaf in patterns if pattern is not None]

    def pattern(self, form: str) -> str | None:
        """The leaf of the first range, prefix or band that fits a value in its form."""
        return next((leaf for fits, leaf in self._patterns if fits(form)), None)

    def leaf(self, text: str) -> str | None:
        """The leaf that a value leads to, whatever the leaves are; None if no rule fits it."""
        form = self.form(text)
        return self.same.get(form) or self.pattern(form) or self.rest

    def forms(self, leaves: Sequence[str]) -> dict[str, int]:
        """The code of each text, in its form, that is a rule or a leaf."""
        code = {leaf: place for place, leaf in enumerate(leaves)}
        places = {self.alike(leaf): place for leaf, place in code.items()}
        return places | {form: code[leaf] for form, leaf in self.same.items()}

    def describe(self) -> dict[str, object]:
        """The keys of a schema file that say the same."""
        keys = {"recode": dict(self.rules), "ignore": [*self.ignore], "cut_at": self.cut_at}
        return {key: value for key, value in keys.items() if value}


class Pattern(NamedTuple):
    """What a rule fits besides its own text, some such values, and what is wrong with the rule."""

    fits: _Fits
    examples: list[str]
    fault: tuple[str, str] | None = None


def pattern_of(rule: str) -> Pattern | None:
    """A rule that is a range, prefix or band, or the one for all others; None for one value.

    Example:
        >>> pattern_of("390-459").examples, pattern_of(">30").examples, pattern_of("Saint-Denis")
        (['390', '459'], ['31'], None)
        >>> pattern_of("E80-E999").fault[0]
        "the ends of the range 'E80-E999' are not equally long"
    """
    if rule == REST:  # which is looked at when no other fits
        return Pattern(lambda _: False, [])
    what = f"range {rule!r} ends before it begins"
    if match := _WHOLE.fullmatch(rule):
        low, high, digits = int(match[1]), int(match[2]), len(match[2])
        fault = (f"the {what}", "Write the smaller number first.") if low > high else None

        def in_range(text: str) -> bool:
            whole = text.partition(".")[0]
            fine = _NUMBER.fullmatch(text) and len(whole) <= digits and whole.isdigit()
            return bool(fine) and low <= int(whole) <= high

        return Pattern(in_range, [match[1], match[2]], fault)
    if match := _CODES.fullmatch(rule):
        first, last = match[1], match[3]
        size, fault = len(first), None
        if size != len(last):
            hint = "Write both with the same number of characters, such as E800-E999."
            fault = (f"the ends of the range {rule!r} are not equally long", hint)
        elif first > last:
            fault = (f"the {what}", "Write the smaller code first.")
        return Pattern(
            lambda text: (
                len(text) >= size and first <= text[:size] <= last and text[:size].isalnum()
            ),
            [first, last],
            fault,
        )
    if match := _SIDE.fullmatch(rule):
        end, side = Decimal(match[2] or match[3]), match[1] or ">="
        compare = {"<": lt, "<=": le, ">": gt, ">=": ge}[side]
        inside = end - 1 if side[0] == "<" else end + 1
        return Pattern(
            lambda text: _NUMBER.fullmatch(text) is not None and compare(Decimal(text), end),
            [str(inside)],
        )
    if match := _BAND.fullmatch(rule):
        least, most = Decimal(match[2] or match[4]), Decimal(match[3] or match[5])
        above, below = lt if match[1] == "(" else le, lt if match[6] == ")" else le
        what = f"the band {rule!r} ends before it begins"
        fault = (what, "Write the smaller number first.") if least > most else None
        return Pattern(
            lambda text: (
                _NUMBER.fullmatch(text) is not None
                and above(least, Decimal(text))
                and below(Decimal(text), most)
            ),
            [str((least + most) / 2)],
            fault,
        )
    if "*" not in rule:
        return None
    head, _, tail = rule.partition("*")
    size, fault = len(head) + len(tail), None
    if "*" in tail:
        fault = (f"the rule {rule!r} has several stars", "Keep one, such as E*, *9 or C*X.")
    return Pattern(
        lambda text: len(text) >= size and text.startswith(head) and text.endswith(tail),
        [rule.replace("*", "")],
        fault,
    )


def reading_faults(reading: Reading, leaves: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """What is wrong with rules: the place of the rule (-1 for none), what, and the hint.

    Example:
        >>> next(reading_faults(Reading((("E*", "accident"),)), ["heart"]))[1]
        "the rule 'E*' leads to 'accident', which is not one of the values"
    """
    known = set(leaves)
    own: dict[str, str] = {}
    seen: dict[str, str] = {}
    for leaf in leaves:
        form = reading.alike(leaf)
        if form in own:
            what = f"the values {own[form]!r} and {leaf!r} differ only in what is ignored"
            yield -1, what, "Keep one of the two, or take it out of `ignore`."
        own.setdefault(form, leaf)
    for place, (rule, leaf) in enumerate(reading.rules):
        pattern, form = pattern_of(rule), reading.alike(rule)
        if not rule.strip():
            hint = "Write a value, a range such as 390-459, or a prefix such as E*."
            yield place, "a rule is blank", hint
        elif pattern is not None and pattern.fault is not None:
            yield place, *pattern.fault
        elif leaf not in known:
            what = f"the rule {rule!r} leads to {leaf!r}, which is not one of the values"
            yield place, what, "Lead it to a leaf, or add that value."
        elif own.get(form, leaf) != leaf:
            what = f"the rule {rule!r} leads to {leaf!r}, but {own[form]!r} is itself a value"
            yield place, what, "Remove the value or the rule."
        elif seen.get(form, leaf) != leaf:
            what = f"the rule {rule!r} leads to {leaf!r}, and before that to {seen[form]!r}"
            yield place, what, "Keep one of the two."
        elif REST in seen:
            hint = "Write the rule for all others last."
            yield place, f"the rule {rule!r} follows the one for all others", hint
        seen.setdefault(form, leaf)
