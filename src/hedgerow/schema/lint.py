"""Faults of a schema or a taxonomy: where, what, and how to mend it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

from hedgerow.errors import SchemaError
from hedgerow.schema.attributes import (
    LEAST_WEIGHT,
    MOST_BANDS,
    MOST_COMMON,
    MOST_WEIGHT,
    OTHER,
    Attribute,
    Categorical,
    Complaint,
    Layout,
    Numeric,
    format_fault,
    in_bands,
    notation_fault,
)
from hedgerow.schema.items import DEFAULT_FAN_OUT, EMPTY, Items
from hedgerow.schema.taxonomy import Taxonomy, reading_faults

MAX_DEPTH = 64
MAX_GRID = 2**24
RESERVED = (
    "region", "count", "estimate", "low", "high", "typical_error", "standard_error",
    "reliability", "basis",
)  # fmt: skip
"""What columns of releases are called, and so no attribute."""
BOOLEAN_LABELS = ("false", "true")

_SHOWN = 10
_ALIKE = 2  # so many warnings that are alike are told one by one
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\d+")
# Control characters, lone surrogates and the byte-order mark: none can be seen, few can be saved.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff]")


@dataclass(frozen=True)
class Fault:
    """One thing to mend.

    Args:
        what: What is wrong, without a full stop.
        hint: What to do about it, a sentence.
        file: The file it is in, if it came from one.
        line: The line, counted from 1.
        place: The path of the key that is meant, such as `("attributes", "age", "low")`.

    Example:
        >>> print(Fault("low is not below high", "Swap them.", file="schema.yaml", line=3))
        schema.yaml:3: low is not below high. Swap them.
    """

    what: str
    hint: str
    _: KW_ONLY
    file: str | None = None
    line: int | None = None
    place: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """Where and what, without the hint."""
        if self.file is None:
            return self.what
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.what}"

    def __str__(self) -> str:
        """Where, what and the hint, on one line."""
        return f"{self.message}. {self.hint}"


@dataclass
class Report:
    """What a reader has found so far: faults, which forbid going on, and warnings, which do not.

    Example:
        >>> report = Report()
        >>> report.warn("a group has a single member", "Nothing to do.", "jobs.csv", 2)
        >>> print(report.warnings[0])
        jobs.csv:2: a group has a single member. Nothing to do.
    """

    faults: list[Fault] = field(default_factory=list)
    warnings: list[Fault] = field(default_factory=list)

    def fault(
        self, what: str, hint: str, file: str | None, line: int | None = None, *place: str
    ) -> None:
        """Adds a fault."""
        self.faults.append(Fault(what, hint, file=file, line=line, place=place))

    def warn(self, what: str, hint: str, file: str | None, line: int | None = None) -> None:
        """Adds a warning."""
        self.warnings.append(Fault(what, hint, file=file, line=line))

    def take(self, other: Report, subject: str, *place: str) -> None:
        """Adds what another report holds; a subject is put before each message."""
        for mine, faults in ((self.faults, other.faults), (self.warnings, other.warnings)):
            mine += [
                replace(fault, what=f"{subject}{fault.what}", place=fault.place or place)
                for fault in faults
            ]


def merge_alike(warnings: Sequence[Fault]) -> list[Fault]:
    """Warnings with one line for three or more that differ only in the names they quote.

    Example:
        >>> many = [Fault(f"attribute {n!r}: it is flat", "Add groups.") for n in "abcd"]
        >>> [str(warning) for warning in merge_alike(many)]
        ["attribute 'a': it is flat (and 3 more: attribute 'b', attribute 'c', ...). Add groups."]
    """
    alike: dict[tuple[str, str], list[Fault]] = {}
    for warning in warnings:
        alike.setdefault((_QUOTED.sub("", warning.what), warning.hint), []).append(warning)
    merged = []
    for group in alike.values():
        first, *others = group
        if len(group) <= _ALIKE:
            merged += group
            continue
        subjects = [*dict.fromkeys(other.what.partition(": ")[0] for other in others)]
        listing = ", ".join([*subjects[:_ALIKE], *(["..."] if subjects[_ALIKE:] else [])])
        merged.append(replace(first, what=f"{first.what} (and {len(others)} more: {listing})"))
    return merged


def raise_faults(faults: Sequence[Fault]) -> None:
    """Raises one SchemaError that shows the first faults; does nothing if there are none.

    Example:
        >>> raise_faults([])
        >>> raise_faults([Fault("the file is empty", "Write a schema into it.", file="a.yaml")])
        Traceback (most recent call last):
        ...
        hedgerow.errors.SchemaError: a.yaml: the file is empty
          Write a schema into it.
    """
    if not faults:
        return
    places = [fault.place for fault in faults[:_SHOWN] if fault.place]
    if len(faults) == 1:
        raise SchemaError(faults[0].message, faults[0].hint, places)
    more = f"; {len(faults) - _SHOWN} more like them are not shown" if faults[_SHOWN:] else ""
    lines = ["the schema has several faults:", *map(str, faults[:_SHOWN])]
    raise SchemaError("\n  ".join(lines), f"Correct these, then try again{more}.", places)


def label_fault(label: str) -> tuple[str, str] | None:
    """What is wrong with a label, and the hint; None if it is fine.

    Example:
        >>> label_fault("  ")
        ('a name is blank', 'Give it a name, or remove it.')
    """
    if not label.strip():
        return "a name is blank", "Give it a name, or remove it."
    if _UNSEEN.search(label):
        what = f"the name {label!r} holds a line break or an invisible control character"
        return what, "Type the name again by hand."
    return None


def column_fault(name: str, published: bool) -> tuple[str, str] | None:
    """What is wrong with a column's name, and the hint; None if it is fine.

    Args:
        name: The name.
        published: Whether the column is part of releases, whose own columns are reserved.
    """
    if published and name in RESERVED:
        hint = "Give the attribute another name, and say which column of the data it is: "
        hint += f"{name}_value: {{column: {name}, ...}}."
        return f"the name {name!r} is reserved for a column of the release", hint
    return label_fault(name)


def layout_faults(layout: Layout, *, items: bool = False) -> list[Complaint]:
    """What is wrong with the layout of a file: the key, what, and the hint.

    Args:
        layout: The layout.
        items: Whether the file holds transactions.

    Example:
        >>> layout_faults(Layout(header_row=0))[0][1]
        'header_row is below 1'
    """
    faults = []
    if layout.header_row is not None and layout.header_row < 1:
        hint = "Lines and rows are counted from 1."
        faults.append(("header_row", "header_row is below 1", hint))
    wrong = None if layout.sheet is None else label_fault(layout.sheet)
    if wrong is not None:
        faults.append(("sheet", f"sheet: {wrong[0]}", wrong[1]))
    same = notation_fault(layout.decimal, layout.thousands)
    if same is not None:
        faults.append(("thousands", *same))
    elif items and (layout.decimal or layout.thousands):
        what = "decimal and thousands are for columns of numbers, and this schema has items"
        faults.append(("decimal", what, "Remove them."))
    return faults


def taxonomy_faults(taxonomy: Taxonomy) -> list[tuple[str, str]]:
    """What is wrong with a finished taxonomy: pairs of what and hint.

    Example:
        >>> [what for what, hint in taxonomy_faults(Taxonomy.flat(["a", "b", "a"]))]
        ["the name 'a' is repeated in the taxonomy"]
    """
    if not _in_preorder(taxonomy):
        hint = "Build it with Taxonomy.from_nested or Taxonomy.flat."
        return [("the taxonomy is not a tree in preorder", hint)]
    faults = [fault for fault in map(label_fault, taxonomy.labels) if fault]
    hint = "Give every value and group a name of its own."
    faults += [(f"the name {label!r} is repeated in the taxonomy", hint)
               for label, times in Counter(taxonomy.labels).items() if times > 1]  # fmt: skip
    for label, nodes in zip(taxonomy.labels, taxonomy.children, strict=True):
        if len(nodes) == 1:
            hint = "Build the taxonomy with Taxonomy.from_nested, which collapses such groups."
            faults.append((f"the group {label!r} has a single member", hint))
    if taxonomy.height > MAX_DEPTH:
        faults.append((f"the taxonomy is deeper than {MAX_DEPTH} levels", "Remove levels from it."))
    return faults


def _in_preorder(taxonomy: Taxonomy) -> bool:
    """Whether each node follows its parent, or what is below an earlier child of its parent."""
    path: list[int] = []
    for node, parent in enumerate(taxonomy.parents):
        while path and path[-1] != parent:
            path.pop()
        if parent != (path[-1] if node and path else -1) or (node and not path):
            return False
        path.append(node)
    return len(taxonomy.labels) == len(taxonomy.parents) > 0


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
    if not all(map(str.strip, labels)) or _UNSEEN.search("".join(labels)):
        return next(fault for fault in map(label_fault, labels) if fault)
    if len(set(labels)) < len(labels):
        label = next(label for label, times in Counter(labels).items() if times > 1)
        return f"the item {label!r} is repeated", "Keep one of the two."
    return None


def items_faults(items: Items) -> list[Complaint]:
    """What is wrong with the items of a schema: the key, what, and the hint."""
    faults: list[Complaint] = []
    universe = items.universe
    if isinstance(universe, Taxonomy):
        faults += [("taxonomy", *fault) for fault in taxonomy_faults(universe)]
        if items.fan_out != DEFAULT_FAN_OUT:
            what = "a taxonomy itself says how items are grouped"
            faults.append(("fan_out", what, "Remove fan_out, or the taxonomy."))
    else:
        if not isinstance(universe, range):
            fault = labels_fault(universe)
        else:
            fault = range_fault(universe.start, universe.stop - 1)
            if universe.step != 1:
                hint = "Use a range with step 1, or list the items."
                faults.append(("universe", "the range leaves out numbers", hint))
        if fault is not None:
            faults.insert(0, ("universe", *fault))
        if items.fan_out < 2:
            what = "fan_out is below 2, so groups would never meet in one root"
            faults.append(("fan_out", what, f"Write, for example, fan_out: {DEFAULT_FAN_OUT}."))
    if items.empty == "dummy" and not faults and EMPTY in items.given:
        what = f"{EMPTY!r} is one of the items, and also what an empty record would become"
        faults.append(("empty", what, "Rename the item, or write empty: drop."))
    if items.max_items is not None and items.max_items < 1:
        faults.append(("max_items", "max_items is below 1", "Say how many items may count."))
    if (items.person is None) != (items.item is None):
        given, other = ("person", "item") if items.item is None else ("item", "person")
        hint = f"A table with one row for each item of a person needs both: add {other}:."
        faults.append((given, f"{given} is given without {other}", hint))
    elif items.item is not None and items.column is not None:
        what = "column is given beside person and item"
        faults.append(("column", what, "Keep `column`, or keep `person` and `item`."))
    elif items.item is not None and items.separator != " ":
        what = "separator is given beside person and item, whose rows hold one item each"
        faults.append(("separator", what, "Remove it."))
    elif items.item is not None and items.item == items.person:
        what = "person and item are the same column"
        faults.append(("item", what, "Name the two columns of the table."))
    for key in ("column", "person", "item"):
        name = getattr(items, key)
        wrong = None if name is None else label_fault(name)
        if wrong is not None:
            faults.append((key, *wrong))
    return faults


# Faults of attributes: what could not be published by, or not be read back from a release.


MOST_DIGITS = 40  # before the decimal point, and after it
_DAYS = (-719162, 2932896)  # from 0001-01-01 to 9999-12-31, as days since 1970-01-01


def grid_faults(attribute: Numeric) -> list[Complaint]:
    """What is wrong with a numeric grid: the key, what, and the hint."""
    low, high, step = attribute.low, attribute.high, attribute.step
    if low >= high:
        hint = "Make low the smallest and high the largest value allowed."
        return [("low", "low is not below high", hint)]
    if step <= 0:
        hint = "Give the distance of neighboring values, such as 1."
        return [("step", "step is not above zero", hint)]
    if (high - low) / step + 1 > MAX_GRID:
        what = f"low, high and step make more than {MAX_GRID} values"
        return [("step", what, "Choose a larger step, or bounds that are closer together.")]
    wrong = {key: number_fault(key, getattr(attribute, key), attribute.kind)
             for key in ("low", "high", "step")}  # fmt: skip
    return [(key, *fault) for key, fault in wrong.items() if fault is not None]


def number_fault(key: str, value: Fraction, kind: str) -> tuple[str, str] | None:
    """Why a number of a grid could not be written down, and the hint; None if it could.

    Example:
        >>> number_fault("low", Fraction(1, 3), "decimal")[0]
        'low is not a decimal number'
    """
    if kind == "date" and key != "step" and not _DAYS[0] <= value <= _DAYS[1]:
        return f"{key} is not a date of the years 1 to 9999", "Write a date such as 2020-01-31."
    if kind != "decimal" and value.denominator != 1:
        unit = "days" if kind == "date" else "units"
        return f"{key} is not a whole number of {unit}", "Write a whole number."
    if abs(value) >= 10**MOST_DIGITS:
        return f"{key} has more than {MOST_DIGITS} digits", "Write a shorter number."
    if (value * 10**MOST_DIGITS).denominator == 1:
        return None
    places = value.denominator.bit_length()  # as many as a decimal of this denominator can have
    if (value * 10**places).denominator == 1:
        return f"{key} has more than {MOST_DIGITS} decimals", "Write a shorter number."
    return f"{key} is not a decimal number", "Write it with a decimal point."


def attribute_faults(attribute: Attribute, is_class: bool) -> list[Complaint]:
    """What is wrong with an attribute: the key, what, and the hint.

    Args:
        attribute: The attribute.
        is_class: Whether it is the class.

    Example:
        >>> from hedgerow.schema.attributes import read_numeric
        >>> age = read_numeric("age", {"low": "5", "high": "5"}, weight=Fraction(-1))
        >>> [what for _, what, _ in attribute_faults(age, False)][0]
        'low is not below high'
    """
    if isinstance(attribute, Numeric):
        faults = _numeric_faults(attribute)
    else:
        faults = [("values", *fault) for fault in _categorical_faults(attribute)]
    weight, never = attribute.weight, attribute.split == "never"
    if is_class:
        given = (("split", never), ("weight", weight != 1), ("group", attribute.group))
        what = "regions are never divided by the class"
        faults += [(key, what, f"Remove {key}.") for key, said in given if said]
    elif not LEAST_WEIGHT <= weight <= MOST_WEIGHT or weight % LEAST_WEIGHT:
        what = "weight is not a number from 0.01 to 100 with at most two decimals"
        way = " For no regions by this attribute, write `split: never`." if weight <= 0 else ""
        faults.append(("weight", what, f"Write, for example, weight: 0.5.{way}"))
    elif never and weight != 1:
        what = "weight is given beside split: never"
        faults.append(("weight", what, "Keep one of the two: there is nothing to weigh."))
    named = {"group": attribute.group, "column": attribute.column, "label": attribute.caption}
    for key, name in named.items():
        wrong = label_fault(name) if name else None
        if wrong is None and name != name.strip():
            wrong = (f"the {key} {name!r} starts or ends with a space", "Remove the space.")
        if wrong is not None:
            faults.append((key, *wrong))
    return faults


def _numeric_faults(attribute: Numeric) -> list[Complaint]:
    faults = grid_faults(attribute)
    for value in attribute.common:
        inside = attribute.low <= value <= attribute.high
        if not inside or number_fault("common", value, attribute.kind):
            hint = "Name values between low and high, written as these are."
            faults.append(("common", "common names a value that the attribute cannot have", hint))
    if len(attribute.common) > MOST_COMMON:
        what = f"common names more than {MOST_COMMON} values"
        faults.append(("common", what, "Name those alone that very many people have."))
    for key in ("decimal", "thousands"):
        if attribute.kind == "date" and getattr(attribute, key):
            hint = "Remove it; `format:` says how dates are written."
            faults.append((key, f"{key} is for numbers, and these are dates", hint))
    written = {
        "decimal": notation_fault(attribute.decimal, attribute.thousands),
        "format": format_fault(attribute.format, attribute.kind),
    }
    return faults + [(key, *fault) for key, fault in written.items() if fault]


def _categorical_faults(attribute: Categorical) -> list[tuple[str, str]]:
    faults = taxonomy_faults(attribute.taxonomy)
    if faults:  # what follows looks at its leaves
        return faults
    faults = _band_faults(attribute) if attribute.bands or attribute.edges else []
    asks = OTHER in (attribute.missing, attribute.outside)
    if asks and OTHER not in attribute.taxonomy.leaves:
        hint = f"Add the leaf {OTHER!r} to the taxonomy."
        faults.append((f"its rules need a leaf {OTHER!r}", hint))
    leaves = attribute.taxonomy.leaves
    faults += [(what, hint) for _, what, hint in reading_faults(attribute.reading, leaves)]
    if attribute.boolean:
        if attribute.reading:
            faults.append(("a boolean has rules of reading", "Make it a categorical attribute."))
        leaves = (*BOOLEAN_LABELS, OTHER) if asks else BOOLEAN_LABELS
        if attribute.taxonomy != Taxonomy.flat(leaves):
            hint = f"Use Taxonomy.flat({leaves!r})."
            faults.append(("a boolean has the values false and true", hint))
    return faults


def _band_faults(attribute: Categorical) -> list[tuple[str, str]]:
    """What is wrong with a class of numbers, which must be what a schema file can say."""
    numeric, edges = attribute.bands, attribute.edges
    if numeric is not None and not attribute_faults(numeric, True):
        rising = 1 < len(edges) <= MOST_BANDS + 1 and edges[0] == 0 and edges[-1] < numeric.grid
        if rising and all(low < high for low, high in pairwise(edges)):
            outside = "clip" if numeric.outside == "clip" else attribute.outside
            numbers = replace(numeric, missing=attribute.missing, outside=outside)
            if attribute == in_bands(numbers, edges):
                return []
    return [("its bands are not those of a class of numbers", "Read it from a dictionary instead.")]


def schema_faults(
    attributes: Sequence[Attribute],
    target: Categorical | None,
    other_columns: Iterable[str],
) -> list[Fault]:
    """The faults of a schema that was built in Python."""
    faults: list[Fault] = []
    if not attributes:
        hint = "Describe at least one column that is not the class, the person or an identifier."
        faults.append(Fault("the schema has no attribute to publish", hint))
    if target is not None and target.taxonomy.height > 1:
        what = f"the class {target.name!r} has a taxonomy of several levels"
        faults.append(Fault(what, "Give the class a flat list of values."))
    published = [*attributes, *([] if target is None else [target])]
    for attribute in attributes:
        if isinstance(attribute, Categorical) and attribute.bands is not None:
            what = f"attribute {attribute.name!r}: bands are for the class alone"
            faults.append(Fault(what, "Use the numeric attribute itself."))
    for attribute in published:
        wrong = [fault[1:] for fault in attribute_faults(attribute, attribute is target)]
        for what, hint in filter(None, [column_fault(attribute.name, True), *wrong]):
            faults.append(Fault(f"attribute {attribute.name!r}: {what}", hint))
    others = list(other_columns)
    for name in others:
        if (fault := column_fault(name, False)) is not None:
            faults.append(Fault(f"column {name!r}: {fault[0]}", fault[1]))
    names = Counter([*(attribute.name for attribute in published), *others])
    columns = Counter([*(attribute.column or attribute.name for attribute in published), *others])
    for name in sorted(name for name in names | columns if max(names[name], columns[name]) > 1):
        faults.append(Fault(f"the column {name!r} is described twice", "Keep one of the two."))
    return faults
