"""From a schema file to a Schema: checks the shape, then reads each column."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hedgerow.schema.attributes import (
    BOOLEAN_LABELS,
    OTHER,
    Attribute,
    Categorical,
    Complaint,
    Layout,
    Numeric,
    attribute_faults,
    column_fault,
    grouped_fault,
    in_bands,
    layout_faults,
    read_number,
    read_numeric,
)
from hedgerow.schema.items import DEFAULT_FAN_OUT, Items, items_faults, range_fault
from hedgerow.schema.model import (
    HINTS,
    BooleanModel,
    CategoricalModel,
    ItemsModel,
    NumericModel,
    PersonModel,
    SchemaModel,
    explain,
)
from hedgerow.schema.relations import read_rules, read_tables
from hedgerow.schema.schema import BOTH, NO_UNIT, Metadata, Person, Schema, faults_of, unit_fault
from hedgerow.schema.taxonomy import Reading, Taxonomy, reading_faults
from hedgerow.schema.taxonomy_files import (
    DEFAULT_ROOT,
    Branch,
    LabelPath,
    RuleLine,
    Shared,
    Tree,
    branch_from_paths,
    grow,
    leaves_of,
    paths_of,
    read_shared,
    read_tree,
)
from hedgerow.schema.yaml_text import (
    Entries,
    ListNode,
    Node,
    Report,
    Text,
    from_python,
    label_fault,
    merge_alike,
    parse_yaml,
    raise_faults,
    read_text,
    typed_text,
)

# From the `items:` of a schema file to Items.


_INTEGER = re.compile(r"[+-]?\d{1,30}", re.ASCII)
_SHAPES = "Write {range: [1, 99]}, a list [a, b, c], or the path of a file with one item per line."

_UNIVERSE = ("items", "universe")


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where something was written, and what is wrong with it.

    Args:
        file: The file.
        folder: The folder of other files.
        report: Takes faults and warnings.
        lines: The lines of keys, by their paths.
        shared: Taxonomies by name.
        place: The path of the keys that it stands under.
        subject: What messages begin with, such as "attribute 'age': ".
    """

    file: str | None
    folder: Path | None
    report: Report = field(default_factory=Report)
    lines: dict[tuple[str, ...], int | None] = field(default_factory=dict)
    shared: Mapping[str, Shared] = field(default_factory=dict)
    place: tuple[str, ...] = ()
    subject: str = ""

    def below(self, *place: str, subject: str = "") -> Source:
        """A part of it."""
        return replace(self, place=place, subject=f"{subject or place[0]}: ")

    def line(self, *keys: str) -> int | None:
        """The line of a key, or of what it stands under."""
        path = (*self.place, *keys)
        known = (path[:n] for n in range(len(path), 0, -1) if path[:n] in self.lines)
        return self.lines.get(next(known, ()))

    def fault(self, what: str, hint: str, *keys: str) -> None:
        """Adds a fault at a key."""
        place = (*self.place, *keys)
        self.report.fault(self.subject + what, hint, self.file, self.line(*keys), *place)

    def warn(self, what: str, hint: str, *keys: str) -> None:
        """Adds a warning at a key."""
        self.report.warn(self.subject + what, hint, self.file, self.line(*keys))

    def fault_each(self, complaints: Iterable[Complaint]) -> None:
        """Adds faults at their keys."""
        for key, what, hint in complaints:
            self.fault(what, hint, key)


def build_items(model: ItemsModel, source: Source) -> Items | None:
    """Reads the universe and checks the rules; None, and faults in the report, if it has some."""
    before = len(source.report.faults)
    universe = _read_universe(model, source)
    if model.taxonomy is not None and model.fan_out is not None:
        what = "a taxonomy itself says how items are grouped"
        source.fault(what, "Remove fan_out, or the taxonomy.", "fan_out")
    if universe is None or len(source.report.faults) > before:
        return None
    given = model.model_dump(exclude={"universe", "taxonomy", "root"})
    items = Items(universe, **given | {"fan_out": model.fan_out or DEFAULT_FAN_OUT})
    source.fault_each(items_faults(items))
    if len(source.report.faults) > before:
        return None
    if items.size == 1:
        what = "the universe has a single item, so a release can only count its records"
        source.warn(what, "Nothing to do if that is meant.", "universe")
    if items.max_items is not None and items.max_items > items.size:
        what = "max_items is larger than the universe, so it caps nothing"
        source.warn(what, f"Write at most {items.size}.", "max_items")
    return items


def _read_universe(model: ItemsModel, source: Source) -> range | tuple[str, ...] | Taxonomy | None:
    node: Node | None = model.universe
    if node is not None and model.taxonomy is not None:
        what = "it has a universe and also a taxonomy"
        source.fault(what, "Keep one: a taxonomy's leaves are the universe.", "taxonomy")
    elif model.taxonomy is not None:
        return _read_tree(model.taxonomy, model.root, source)
    elif model.root is not None:
        source.fault("root is for taxonomies only", "Remove it.", "root")
    elif isinstance(node, Text) and not node.is_nothing and node.value.strip():
        return _read_lines(node, source)
    elif isinstance(node, Entries):
        return _read_range(node, source)
    elif isinstance(node, ListNode):
        if texts := node.texts:
            return _read_labels([(text.value, text.line) for text in texts], source.file, source)
        source.fault("universe is not a list of items", _SHAPES, "universe")
    else:
        source.fault("it has neither a universe nor a taxonomy", _SHAPES, "universe")
    return None


def _read_tree(node: Node, root: str | None, source: Source) -> Taxonomy | None:
    report = Report()
    tree = read_tree(Shared(node, source.file, source.folder), root, source.shared, report)
    if tree.rules and tree.branch is not None:
        hint = "Name a taxonomy whose leaves are the items as the data has them."
        report.fault("the taxonomy has rules, which items cannot have", hint, tree.file, node.line)
    taxonomy = None
    if tree.branch is not None and not report.faults:
        taxonomy = grow(tree.branch, tree.file, report)
    if taxonomy is not None and taxonomy.height == 0:
        report.warnings.clear()  # that there is a single item is told in our own words
    source.report.take(report, "items: ", "items", "taxonomy")
    return None if report.faults else taxonomy


def _read_range(node: Entries, source: Source) -> range | None:
    if [key.value for key, _ in node.pairs] != ["range"]:
        source.fault("universe is neither a range nor a list", _SHAPES, "universe")
        return None
    ends = node.pairs[0][1]
    texts = [end.value.strip() for end in ends.texts] if isinstance(ends, ListNode) else []
    if len(texts) != 2 or not all(map(_INTEGER.fullmatch, texts)):
        what = "range is not a pair of whole numbers"
        source.fault(what, "Write the first and the last, such as {range: [1, 99]}.", "universe")
        return None
    low, high = map(int, texts)
    wrong = range_fault(low, high)
    if wrong is not None:  # before a range that Python itself could not measure is made
        source.fault(*wrong, "universe")
        return None
    return range(low, high + 1)


def _read_lines(written: Text, source: Source) -> tuple[str, ...] | None:
    if source.folder is None:
        what = "universe names a file, but no folder to look in was given"
        source.fault(what, "Pass folder=, or put the list of items itself there.", "universe")
        return None
    path, report = source.folder / written.value, Report()
    if not os.path.isfile(path):  # which knows no errors, whatever the path
        hint = "Check the path; it is looked for beside the schema file."
        source.fault(f"there is no file {str(path)!r} with the universe", hint, "universe")
        return None
    text = read_text(path, report)
    source.report.take(report, "items: ", *_UNIVERSE)
    if text is None:
        return None
    # Not splitlines, which also breaks at characters that only look like line breaks.
    lines = [line.strip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    placed = [(line, number) for number, line in enumerate(lines, start=1) if line]
    return _read_labels(placed, str(path), source)


def _read_labels(
    placed: Sequence[tuple[str, int | None]], file: str | None, source: Source
) -> tuple[str, ...]:
    """The labels; complains about blank and repeated ones, by their lines."""
    first: dict[str, int | None] = {}
    for label, line in placed:
        wrong = label_fault(label)
        if wrong is not None:
            source.report.fault(f"items: {wrong[0]}", wrong[1], file, line, *_UNIVERSE)
        elif label in first:
            where = "" if first[label] is None else f" (first on line {first[label]})"
            what = f"items: the item {label!r} is repeated{where}"
            source.report.fault(what, "Keep one of the two.", file, line, *_UNIVERSE)
        else:
            first[label] = line
    for label, line in [one for one in placed if one[0] != one[0].strip()][:1]:
        what = f"items: the item {label!r} starts or ends with a space"
        source.report.warn(what, "Remove it: items are read without one.", file, line)
    return tuple(first)


# From the keys of a categorical column to its taxonomy and to how values are read.


_SHOWN = 10  # of faults that are all alike
_RECODE = "Write rules and what they lead to, such as  390-459: Circulatory."


def build_values(column: CategoricalModel, source: Source) -> tuple[Taxonomy, Reading] | None:
    """The taxonomy of a column, and how its values are read; None if there are faults."""
    report = Report()  # without those of other columns
    for key in ("values", "taxonomy", "recode"):
        text = typed_text(getattr(column, key))
        if text is not None:
            what = f"{key} holds {text}, which is not a text"
            hint = "YAML readers make it of texts like NO, on and 1e5: put quotes around them."
            report.warn(what, hint, source.file, source.line(key))
    own, paths = _read_rules(column.recode, source, report)
    texts = column.values.texts if isinstance(column.values, ListNode) else []
    if column.values is not None and not texts:
        hint = "Write values: [a, b, c]."
        report.fault("values is not a list of texts", hint, source.file, source.line("values"))
    values = [leaf for text in texts for leaf in leaves_of(text, source.file, report)]
    tree = _choose_tree(column, values, paths, source, report)
    taxonomy, reading = None, Reading()
    if tree.branch is not None and not report.faults:
        root = tree.branch
        if OTHER in (column.missing, column.outside):
            if OTHER not in {path[0] for path in paths_of(root)}:
                root = root if root.below else Branch(DEFAULT_ROOT, root.line, [root])
                root = replace(root, below=[*root.below, Branch(OTHER, root.line)])
            elif OTHER not in {rule.leaf for rule in own}:
                rule = "missing" if column.missing == OTHER else "outside"
                what = f"{OTHER!r} is one of its values, so records that the rule `{rule}: {OTHER}`"
                what += " catches are counted with those that really have this value"
                hint = "Nothing to do if that is meant; else choose another rule, or rename the "
                report.warn(what, f"{hint}value.", source.file, source.line())
        taxonomy = grow(root, tree.file, report)
        if column.taxonomy is not None:  # values beside it are a check on it
            known = {*taxonomy.leaves}
            for leaf in [leaf for leaf in values if leaf.label not in known][:_SHOWN]:
                what = f"the value {leaf.label!r} is no leaf of the taxonomy"
                hint = "Add it to the taxonomy, or remove it from values."
                report.fault(what, hint, source.file, leaf.line)
        # a column's own rules go before those of its taxonomy's file
        mine = {rule.rule for rule in own}
        rules = own + [rule for rule in tree.rules if rule.rule not in mine]
        rules = list({(rule.rule, rule.leaf): rule for rule in reversed(rules)}.values())[::-1]
        pairs = tuple((rule.rule, rule.leaf) for rule in rules)
        reading = Reading(pairs, tuple(column.ignore), column.cut_at)
        for place, what, hint in islice(reading_faults(reading, taxonomy.leaves), _SHOWN):
            if place < 0:
                report.fault(what, hint, source.file, source.line("ignore"))
            else:
                file = source.file if place < len(own) else tree.file
                report.fault(what, hint, file, rules[place].line)
    key = "values" if column.taxonomy is None else "taxonomy"
    source.report.take(report, source.subject, *source.place, key)
    return None if taxonomy is None or report.faults else (taxonomy, reading)


def _choose_tree(
    column: CategoricalModel,
    values: list[Branch],
    paths: list[LabelPath],
    source: Source,
    report: Report,
) -> Tree:
    root, file = column.root, source.file
    if column.taxonomy is None and column.values is None:
        if column.recode is None:
            hint = "Add values: [a, b], or taxonomy: with a file or a nested mapping."
            report.fault("it has neither values nor a taxonomy", hint, file, source.line())
        return Tree(file, branch_from_paths(paths, root) if paths else None)
    if column.taxonomy is None:
        label = DEFAULT_ROOT if root is None else root
        named = Tree(file, Branch(label, source.line("values"), values))
    else:
        own = Shared(column.taxonomy, file, source.folder)
        named = read_tree(own, root, source.shared, report)
    for labels, line in paths:
        if len(labels) > 1:
            hint = "Write the leaf alone; groups are where the taxonomy has them."
            report.fault(f"a rule gives groups of {labels[0]!r}", hint, file, line)
    return named


def _read_rules(
    node: Node | None, source: Source, report: Report
) -> tuple[list[RuleLine], list[LabelPath]]:
    """The rules of `recode:`, and each leaf with its groups."""
    rules: list[RuleLine] = []
    paths: list[LabelPath] = []
    pairs = node.pairs if isinstance(node, Entries) else []
    if node is not None and not pairs:
        what = "recode is not a mapping of rules"
        report.fault(what, _RECODE, source.file, source.line("recode"))
    for rule, target in pairs:
        whole = target if isinstance(target, ListNode) else ListNode([target])
        labels = [part.value for part in whole.texts]
        if not labels or not all(map(str.strip, labels)):
            what = f"the rule {rule.value!r} does not lead to a value"
            report.fault(what, _RECODE, source.file, rule.line)
            continue
        rules.append(RuleLine(rule.value.strip(), labels[0], rule.line))
        paths.append((labels, rule.line))
    # a leaf needs its groups only once: other rules may name it alone
    known = {labels[0] for labels, _ in paths if len(labels) > 1}
    return rules, [path for path in paths if len(path[0]) > 1 or path[0][0] not in known]


Published = NumericModel | CategoricalModel | BooleanModel

_AS_WRITTEN = ("values", "taxonomy", "recode")  # read below, with their lines


def load_schema(path: Path, text: str | None = None) -> Schema:
    """Reads a schema file; see Schema.load.

    Args:
        path: The file; taxonomy files are looked for beside it.
        text: What it will hold, if it is not written yet.
    """
    report = Report()
    text = read_text(path, report) if text is None else text
    node = None if text is None else parse_yaml(text, str(path), report)
    raise_faults(report.faults)
    assert node is not None  # or there was a fault
    return _Builder(Source(file=str(path), folder=path.parent, report=report)).build(node)


def schema_from_dict(document: Mapping[str, Any], folder: Path | None) -> Schema:
    """Builds a schema from its dictionary form; see Schema.from_dict."""
    return _Builder(Source(file=None, folder=folder)).build(from_python(document))


@dataclass
class _Builder:
    source: Source
    partial: bool = False  # what pydantic complained about was left out

    def build(self, node: Node) -> Schema:
        source = self.source
        model = self._validate(node)
        own = Shared(model.taxonomies, source.file, source.folder)
        shared = read_shared(own, model.include, source.lines, source.report)
        self.source = source = replace(source, shared=shared)
        facts = {} if model.metadata is None else model.metadata.model_dump(exclude_none=True)
        if "unit_name" in facts:
            facts["unit_name"] = tuple(facts["unit_name"])
        wrong_facts = [*faults_of(facts)]
        source.below("metadata").fault_each(wrong_facts)
        layout = Layout(**({} if model.file is None else model.file.model_dump(exclude_none=True)))
        source.below("file").fault_each(layout_faults(layout, items=model.items is not None))
        common: dict[str, Any] = {
            "name": model.name,
            "unit": model.unit,
            "is_draft": model.draft,
            "began_as_draft": model.began_as_draft,
            "metadata": Metadata(**({} if wrong_facts else facts)),
            "file": layout,
        }
        if model.items is None:
            schema = self._table(model, common)
        else:
            for key in sorted({"tables", "rules"} & model.model_fields_set):
                what = f"{key} are about columns, and the schema has items"
                source.fault(what, f"Remove {key}.", key)
            items = build_items(model.items, source.below("items"))
            self._name_and_unit(model, model.items.person)
            schema = Schema(items=items, **common)
        about = schema.metadata
        if source.file is not None and schema.changed_since_signed:
            what = f"the schema has changed since {about.reviewer} signed it off on "
            what += f"{about.reviewed}, so it counts as a draft"
            hint = "Files with taxonomies belong to it. If all of it is public knowledge as it is "
            hint += "now, sign it again: `hedgerow sign schema.yaml --name ...`."
            source.warn(what, hint, "metadata", "signed")
            schema = replace(schema, is_draft=True, metadata=about.unsigned)
        warnings = tuple(map(str, merge_alike(source.report.warnings)))
        return replace(schema, warnings=warnings) if warnings else schema  # all is checked anew

    def _table(self, model: SchemaModel, common: dict[str, Any]) -> Schema:
        """The schema of a table; raises if there are faults by now."""
        source = self.source
        columns: dict[str, list[tuple[str, Any]]] = {  # names, and what was made of them, by role
            "predictor": [], "class": [], "person": [], "identifier": []
        }  # fmt: skip
        places = {name: source.below("attributes", name, subject=f"attribute {name!r}")
                  for name in model.attributes}  # fmt: skip
        for name, column in model.attributes.items():
            wrong = column_fault(name, isinstance(column, Published))
            if wrong is not None:
                places[name].fault(*wrong)
            made: Any = name
            if isinstance(column, PersonModel):
                made = Person(name, column.max_rows)
            elif isinstance(column, NumericModel):
                made = _build_numeric(places[name], name, column)
            elif isinstance(column, Published):
                made = _build_categorical(places[name], name, column)
            columns[column.role].append((name, made))
        attributes = [made for _, made in columns["predictor"] if made is not None]
        groups = [attribute.group for attribute in attributes]
        for attribute in attributes:
            if attribute.group and groups.count(attribute.group) == 1:
                what = f"no other attribute is in the group {attribute.group!r}"
                hint = "Write the same group for all of its members, or leave it out."
                places[attribute.name].warn(what, hint)
        for role in ("class", "person"):
            for name, _ in columns[role][1:]:
                what = f"there is already a column with the role {role}, {columns[role][0][0]!r}"
                places[name].fault(what, "Keep the role on one of them.", "role")
        person, target = (next((made for _, made in columns[role]), None)
                          for role in ("person", "class"))  # fmt: skip
        self._name_and_unit(model, None if person is None else person.column)
        if not attributes:
            hint = "Describe at least one column that is not the class, a person or an identifier."
            source.fault("there is no attribute to publish", hint, "attributes")
            raise_faults(source.report.faults)
        schema = Schema(
            attributes=tuple(attributes),
            target=target,
            identifiers=tuple(name for name, _ in columns["identifier"]),
            person=person,
            **common,
        )
        if not model.tables and not model.rules:
            return schema
        tables, wrong_tables = read_tables(model.tables, schema)
        rules, wrong_rules = read_rules(model.rules, schema)
        for key, complaints in (("tables", wrong_tables), ("rules", wrong_rules)):
            for number, what, hint in complaints:
                source.fault(f"{key}, number {number + 1}: {what}", hint, key, str(number))
        raise_faults(source.report.faults)
        return replace(schema, tables=tuple(tables), rules=tuple(rules))

    def _validate(self, node: Node) -> SchemaModel:
        """What pydantic makes of a document; of one with faults, the rest, so that its are told."""
        document, source = self._plain(node, ()), self.source
        model = None
        try:
            model = SchemaModel.model_validate(document)
        except ValidationError as error:
            wrong = sorted(explain(error), key=lambda one: source.line(*one[0]) or 0)
            for place, what, hint in wrong:
                source.fault(what, hint, *place)
            self.partial = True
            for complaint in error.errors(include_url=False):
                first, *below = complaint["loc"] or ("",)
                within = document.get("attributes") if first == "attributes" and below else document
                if isinstance(within, dict):
                    within.pop(below[0] if first == "attributes" and below else first, None)
            with suppress(ValidationError):
                model = SchemaModel.model_validate(document)
            if model is None or (not model.attributes and model.items is None):
                raise_faults(source.report.faults)
        assert model is not None  # every complaint is a fault
        before = len(source.report.faults)
        keys = {"attributes", "items"} & model.model_fields_set
        if len(keys) == 2:
            source.fault(*BOTH, "items")
        elif "items" in keys and model.items is None:
            source.fault("items says nothing", HINTS["items"], "items")
        elif not keys:
            hint = "Add the columns below a line  attributes:, or for transactions a line  items:."
            source.fault("the key 'attributes' is missing", hint)
        if len(source.report.faults) > before:  # there is nothing to go on with
            raise_faults(source.report.faults)
        return model

    def _name_and_unit(self, model: SchemaModel, person: str | None) -> None:
        """Looks at what is left; raises if there are faults by now."""
        source = self.source
        if not model.name.strip():
            source.fault("the name is blank", "Give the table a name.", "name")
        elif (wrong := label_fault(model.name)) is not None:
            source.fault(*wrong, "name")
        wrong = unit_fault(model.unit, person, items=model.items is not None)
        if source.report.faults and ("unit",) not in source.lines:
            wrong = NO_UNIT  # else it may come later
        if wrong is not None and not (self.partial and person is None and model.unit):
            source.fault(*wrong, "unit")
        raise_faults(source.report.faults)

    def _plain(self, node: Node, place: tuple[str, ...]) -> Any:
        """What pydantic sees of the document; remembers the line of each key."""
        if isinstance(node, Text):
            return None if node.is_nothing else node.value
        if isinstance(node, ListNode):
            if len(place) == 1:
                self.source.lines.update(
                    {(*place, str(n)): one.line for n, one in enumerate(node.items)}
                )
            return [self._plain(item, place) for item in node.items]
        document = {}
        for key, below in node.pairs:
            inner = (*place, key.value)
            self.source.lines[inner] = key.line
            raw = len(place) == 2 and place[0] == "attributes" and key.value in _AS_WRITTEN
            raw = raw or (place == ("items",) and key.value in ("universe", "taxonomy"))
            raw = raw or (not place and key.value in ("include", "taxonomies"))
            document[key.value] = below if raw else self._plain(below, inner)
        return document


def _build_numeric(here: Source, name: str, column: NumericModel) -> Attribute | None:
    """The number that a column is, or the class in bands; None if it cannot be made."""
    before = len(here.report.faults)
    texts = {"low": column.low, "high": column.high, "step": column.step}
    numeric = read_numeric(
        name, texts, outside=column.outside, scale=column.scale, decimal=column.decimal or "",
        thousands=column.thousands or "", format=column.format or "", **_choices(here, column),
    )  # fmt: skip
    if not isinstance(numeric, Numeric):
        here.fault_each(numeric)
        return None
    common = [(text, read_number(text.strip())) for text in column.common]
    for text, number in common:
        if number is None or (number[1] == "date") != (numeric.kind == "date"):
            what = f"common names {text!r}, which is not written as low and high are"
            here.fault(what, "Write it like them, or leave it out.", "common")
            return None
    for key, bound in texts.items():
        wrong = grouped_fault(key, bound or "", numeric.thousands, numeric.step)
        if wrong is not None:
            here.fault(*wrong, key)
    numeric = replace(numeric, common=tuple(number[0] for _, number in common if number))
    here.fault_each(attribute_faults(numeric, column.role == "class"))
    if len(here.report.faults) > before:
        return None
    if numeric.grid == 1:
        what = "step is larger than the distance from low to high, so it can never be split"
        here.warn(what, "Choose a smaller step.")
    if column.role == "class" or column.bands:
        return _cut_into_bands(here, numeric, column)
    return numeric


def _cut_into_bands(here: Source, numeric: Numeric, column: NumericModel) -> Categorical | None:
    """A class of numbers: each band is a value."""
    numbers = [read_number(text.strip()) for text in column.bands]
    if column.role != "class" or not numbers:
        what = "bands are for the class alone, and a class of numbers needs them"
        here.fault(what, "Write role: class and, for example, bands: [20, 40].", "role")
        return None
    dates = numeric.kind == "date"
    starts = [n[0] for n in numbers if n is not None and (n[1] == "date") == dates]
    inside = all(numeric.low < start <= numeric.high for start in starts)
    if len(starts) < len(numbers) or not inside or sorted(set(starts)) != starts:
        what = "bands are not increasing numbers above low and up to high"
        here.fault(what, "Name where each band but the first begins.", "bands")
        return None
    codes = [0, *(math.ceil((start - numeric.low) / numeric.step) for start in starts)]
    between = any((start - numeric.low) % numeric.step for start in starts)
    if between or codes[-1] >= numeric.grid:
        what = "a band begins between two steps"
        here.fault(what, "Let bands begin at low plus whole steps.", "bands")
        return None
    return in_bands(numeric, codes)


def _build_categorical(
    here: Source, name: str, column: CategoricalModel | BooleanModel
) -> Categorical | None:
    """The texts or truth values that a column holds; None if they cannot be read."""
    boolean = isinstance(column, BooleanModel)
    if isinstance(column, BooleanModel):
        other = OTHER in (column.missing, column.outside)
        labels = (*BOOLEAN_LABELS, OTHER) if other else BOOLEAN_LABELS
        values: tuple[Taxonomy, Reading] | None = Taxonomy.flat(labels), Reading()
    else:
        values = build_values(column, here)
    if values is None:
        return None
    taxonomy, reading = values
    if column.role == "class":
        if taxonomy.height > 1:
            what = "the class is never generalized, so only the leaves of its taxonomy are used"
            here.warn(what, "Nothing to do; a flat list of values says the same.")
            taxonomy = Taxonomy.flat(taxonomy.leaves, taxonomy.labels[0])
        if len(taxonomy.leaves) == 1:
            what = "the class has a single value, so there is nothing to predict"
            here.warn(what, "Add the other values, or remove the role.")
    made = Categorical(
        name, taxonomy, outside=column.outside, boolean=boolean, reading=reading,
        **_choices(here, column),
    )  # fmt: skip
    here.fault_each(attribute_faults(made, column.role == "class"))
    return made


def _choices(here: Source, column: Published) -> dict[str, Any]:
    """What happens to missing values, how much a division counts, and what the column is called."""
    number = (Fraction(1), "") if column.weight is None else read_number(column.weight.strip())
    if number is None or number[1] == "date":
        hint = "Write a number, for example weight: 0.5."
        here.fault("weight is not a number", hint, "weight")
        number = (Fraction(1), "")
    given = {"group": column.group, "column": column.column, "caption": column.label}
    names = {key: (name or "").strip() for key, name in given.items()}
    return {"missing": column.missing, "split": column.split, "weight": number[0], **names}
