"""From a schema file to a Schema: checks the shape, then reads each column."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
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


def build_items(model: ItemsModel, report: Report) -> Items:
    """Reads the universe and checks the rules; raises if there are faults."""
    before = len(report.faults)
    if model.taxonomy is not None and model.fan_out is not None:
        what = "a taxonomy itself says how items are grouped"
        report.fault(what, "Remove fan_out, or the taxonomy.", "fan_out")
    universe = _read_universe(model, report)
    raise_faults(report.faults[before:])
    given = model.model_dump(exclude={"universe", "taxonomy", "root"})
    items = Items(universe, **given | {"fan_out": model.fan_out or DEFAULT_FAN_OUT})
    report.fault_each(items_faults(items))
    raise_faults(report.faults[before:])
    if items.size == 1:
        what = "the universe has a single item, so a release can only count its records"
        report.warn(what, "Nothing to do if that is meant.", "universe")
    if items.max_items is not None and items.max_items > items.size:
        what = "max_items is larger than the universe, so it caps nothing"
        report.warn(what, f"Write at most {items.size}.", "max_items")
    return items


def _read_universe(model: ItemsModel, report: Report) -> range | tuple[str, ...] | Taxonomy:
    node: Node | None = model.universe
    if node is not None and model.taxonomy is not None:
        what = "it has a universe and also a taxonomy"
        report.refuse(what, "Keep one: a taxonomy's leaves are the universe.", "taxonomy")
    if model.taxonomy is not None:
        return _read_tree(model.taxonomy, model.root, report.below("taxonomy"))
    if model.root is not None:
        report.refuse("root is for taxonomies only", "Remove it.", "root")
    if isinstance(node, Text) and not node.is_nothing and node.value.strip():
        return _read_lines(node, report)
    if isinstance(node, Entries):
        return _read_range(node, report)
    if not isinstance(node, ListNode):
        report.refuse("it has neither a universe nor a taxonomy", _SHAPES, "universe")
    if not node.texts:
        report.refuse("universe is not a list of items", _SHAPES, "universe")
    return _read_labels([(one.value, one.line) for one in node.texts], report.below("universe"))


def _read_tree(node: Node, root: str | None, report: Report) -> Taxonomy:
    faults, warnings = len(report.faults), len(report.warnings)
    tree = read_tree(node, root, report)
    there = report.at(tree.file)
    if tree.rules:
        hint = "Name a taxonomy whose leaves are the items as the data has them."
        there.fault("the taxonomy has rules, which items cannot have", hint, node.line)
    raise_faults(report.faults[faults:])
    taxonomy = grow(tree.branch, there)
    if taxonomy.height == 0:
        del report.warnings[warnings:]  # that there is a single item is told in our own words
    return taxonomy


def _read_range(node: Entries, report: Report) -> range:
    if [key.value for key, _ in node.pairs] != ["range"]:
        report.refuse("universe is neither a range nor a list", _SHAPES, "universe")
    ends = node.pairs[0][1]
    texts = [end.value.strip() for end in ends.texts] if isinstance(ends, ListNode) else []
    if len(texts) != 2 or not all(map(_INTEGER.fullmatch, texts)):
        what = "range is not a pair of whole numbers"
        report.refuse(what, "Write the first and the last, such as {range: [1, 99]}.", "universe")
    low, high = map(int, texts)
    wrong = range_fault(low, high)
    if wrong is not None:  # before a range that Python itself could not measure is made
        report.refuse(*wrong, "universe")
    return range(low, high + 1)


def _read_lines(written: Text, report: Report) -> tuple[str, ...]:
    if report.folder is None:
        what = "universe names a file, but no folder to look in was given"
        report.refuse(what, "Pass folder=, or put the list of items itself there.", "universe")
    path = report.folder / written.value
    if not os.path.isfile(path):  # which knows no errors, whatever the path
        hint = "Check the path; it is looked for beside the schema file."
        report.refuse(f"there is no file {str(path)!r} with the universe", hint, "universe")
    there = report.below("universe").at(str(path))
    text = read_text(path, there)
    # Not splitlines, which also breaks at characters that only look like line breaks.
    lines = [line.strip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    return _read_labels([(one, n) for n, one in enumerate(lines, start=1) if one], there)


def _read_labels(placed: Sequence[tuple[str, int | None]], report: Report) -> tuple[str, ...]:
    """The labels; complains about blank and repeated ones, by their lines."""
    first: dict[str, int | None] = {}
    for label, line in placed:
        wrong = label_fault(label)
        if wrong is not None:
            report.fault(*wrong, line)
        elif label in first:
            where = "" if first[label] is None else f" (first on line {first[label]})"
            report.fault(f"the item {label!r} is repeated{where}", "Keep one of the two.", line)
        else:
            first[label] = line
    for label, line in [one for one in placed if one[0] != one[0].strip()][:1]:
        what = f"the item {label!r} starts or ends with a space"
        report.warn(what, "Remove it: items are read without one.", line)
    return tuple(first)


# From the keys of a categorical column to its taxonomy and to how values are read.


_SHOWN = 10  # of faults that are all alike
_RECODE = "Write rules and what they lead to, such as  390-459: Circulatory."


def build_values(column: CategoricalModel, here: Report) -> tuple[Taxonomy, Reading]:
    """The taxonomy of a column, and how its values are read; raises if there are faults."""
    before = len(here.faults)
    report = here.below("values" if column.taxonomy is None else "taxonomy")
    for key in ("values", "taxonomy", "recode"):
        text = typed_text(getattr(column, key))
        if text is not None:
            what = f"{key} holds {text}, which is not a text"
            hint = "YAML readers make it of texts like NO, on and 1e5: put quotes around them."
            report.warn(what, hint, here.line(key))
    own, paths = _read_rules(column.recode, here, report)
    texts = column.values.texts if isinstance(column.values, ListNode) else []
    if column.values is not None and not texts:
        report.fault(
            "values is not a list of texts", "Write values: [a, b, c].", here.line("values")
        )
    values = [leaf for text in texts for leaf in leaves_of(text, report)]
    if column.taxonomy is not None:
        tree = read_tree(column.taxonomy, column.root, report)
    elif column.values is not None:
        label = DEFAULT_ROOT if column.root is None else column.root
        tree = Tree(here.file, Branch(label, here.line("values"), values))
    else:
        tree = Tree(here.file, branch_from_paths(paths, column.root))
        if column.recode is None:
            hint = "Add values: [a, b], or taxonomy: with a file or a nested mapping."
            report.fault("it has neither values nor a taxonomy", hint, here.line())
    for labels, line in paths if column.taxonomy or column.values else ():
        if len(labels) > 1:
            hint = "Write the leaf alone; groups are where the taxonomy has them."
            report.fault(f"a rule gives groups of {labels[0]!r}", hint, line)
    raise_faults(here.faults[before:])
    root, there = tree.branch, report.at(tree.file)
    if OTHER in (column.missing, column.outside):
        if OTHER not in {path[0] for path in paths_of(root)}:
            root = root if root.below else Branch(DEFAULT_ROOT, root.line, [root])
            root = replace(root, below=[*root.below, Branch(OTHER, root.line)])
        elif OTHER not in {rule.leaf for rule in own}:
            rule = "missing" if column.missing == OTHER else "outside"
            what = f"{OTHER!r} is one of its values, so records that the rule `{rule}: {OTHER}`"
            what += " catches are counted with those that really have this value"
            hint = "Nothing to do if that is meant; else choose another rule, or rename the "
            report.warn(what, f"{hint}value.", here.line())
    taxonomy = grow(root, there)
    if column.taxonomy is not None:  # values beside it are a check on it
        known = {*taxonomy.leaves}
        for leaf in [leaf for leaf in values if leaf.label not in known][:_SHOWN]:
            what = f"the value {leaf.label!r} is no leaf of the taxonomy"
            report.fault(what, "Add it to the taxonomy, or remove it from values.", leaf.line)
    # a column's own rules go before those of its taxonomy's file
    mine = {rule.rule for rule in own}
    rules = own + [rule for rule in tree.rules if rule.rule not in mine]
    rules = list({(rule.rule, rule.leaf): rule for rule in reversed(rules)}.values())[::-1]
    pairs = tuple((rule.rule, rule.leaf) for rule in rules)
    reading = Reading(pairs, tuple(column.ignore), column.cut_at)
    for place, what, hint in islice(reading_faults(reading, taxonomy.leaves), _SHOWN):
        line = here.line("ignore") if place < 0 else rules[place].line
        (report if place < len(own) else there).fault(what, hint, line)
    raise_faults(here.faults[before:])
    return taxonomy, reading


def _read_rules(
    node: Node | None, here: Report, report: Report
) -> tuple[list[RuleLine], list[LabelPath]]:
    """The rules of `recode:`, and each leaf with its groups."""
    rules: list[RuleLine] = []
    paths: list[LabelPath] = []
    pairs = node.pairs if isinstance(node, Entries) else []
    if node is not None and not pairs:
        report.fault("recode is not a mapping of rules", _RECODE, here.line("recode"))
    for rule, target in pairs:
        whole = target if isinstance(target, ListNode) else ListNode([target])
        labels = [part.value for part in whole.texts]
        if not labels or not all(map(str.strip, labels)):
            report.fault(f"the rule {rule.value!r} does not lead to a value", _RECODE, rule.line)
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
    report = Report(str(path), folder=path.parent)
    text = read_text(path, report) if text is None else text
    return _build(parse_yaml(text, report), report)


def schema_from_dict(document: Mapping[str, Any], folder: Path | None) -> Schema:
    """Builds a schema from its dictionary form; see Schema.from_dict."""
    return _build(from_python(document), Report(folder=folder))


def _build(node: Node, report: Report) -> Schema:
    """The schema of a document; raises if there are faults."""
    model, partial = _validate(_plain(node, (), report.lines), report)
    read_shared(model.taxonomies, model.include, report)
    facts = {} if model.metadata is None else model.metadata.model_dump(exclude_none=True)
    if "unit_name" in facts:
        facts["unit_name"] = tuple(facts["unit_name"])
    report.below("metadata").fault_each(faults_of(facts))
    layout = Layout(**({} if model.file is None else model.file.model_dump(exclude_none=True)))
    report.below("file").fault_each(layout_faults(layout, items=model.items is not None))
    contents: dict[str, Any]
    if model.items is None:
        contents = _build_columns(model, report)
        person = contents["person"] and contents["person"].column
    else:
        for key in sorted({"tables", "rules"} & model.model_fields_set):
            what = f"{key} are about columns, and the schema has items"
            report.fault(what, f"Remove {key}.", key)
        contents = {}
        with report.gather():
            contents["items"] = build_items(model.items, report.below("items"))
        person = model.items.person
    if not model.name.strip():
        report.fault("the name is blank", "Give the table a name.", "name")
    elif (wrong := label_fault(model.name)) is not None:
        report.fault(*wrong, "name")
    wrong = unit_fault(model.unit, person, items=model.items is not None)
    if report.faults and ("unit",) not in report.lines:
        wrong = NO_UNIT  # else it may come later
    if wrong is not None and not (partial and person is None and model.unit):
        report.fault(*wrong, "unit")
    raise_faults(report.faults)
    if model.items is None and not contents["attributes"]:
        hint = "Describe at least one column that is not the class, a person or an identifier."
        report.refuse("there is no attribute to publish", hint, "attributes")
    schema = Schema(
        model.name, unit=model.unit, is_draft=model.draft, began_as_draft=model.began_as_draft,
        metadata=Metadata(**facts), file=layout, **contents,
    )  # fmt: skip
    if model.tables or model.rules:
        tables, wrong_tables = read_tables(model.tables, schema)
        rules, wrong_rules = read_rules(model.rules, schema)
        for key, complaints in (("tables", wrong_tables), ("rules", wrong_rules)):
            for number, what, hint in complaints:
                report.fault(f"{key}, number {number + 1}: {what}", hint, (key, str(number)))
        raise_faults(report.faults)
        schema = replace(schema, tables=tuple(tables), rules=tuple(rules))
    about = schema.metadata
    if report.file is not None and schema.changed_since_signed:
        what = f"the schema has changed since {about.reviewer} signed it off on "
        what += f"{about.reviewed}, so it counts as a draft"
        hint = "Files with taxonomies belong to it. If all of it is public knowledge as it is "
        hint += "now, sign it again: `hedgerow sign schema.yaml --name ...`."
        report.warn(what, hint, ("metadata", "signed"))
        schema = replace(schema, is_draft=True, metadata=about.unsigned)
    if not report.warnings:
        return schema  # to add them, all is checked anew
    return replace(schema, warnings=tuple(map(str, merge_alike(report.warnings))))


def _build_columns(model: SchemaModel, report: Report) -> dict[str, Any]:
    """What the columns of a table are, by their roles, as the arguments of a schema."""
    columns: dict[str, list[tuple[str, Any]]] = {  # names, and what was made of them, by role
        "predictor": [], "class": [], "person": [], "identifier": []
    }  # fmt: skip
    places = {name: report.below("attributes", name, subject=f"attribute {name!r}: ")
              for name in model.attributes}  # fmt: skip
    for name, column in model.attributes.items():
        wrong = column_fault(name, isinstance(column, Published))
        if wrong is not None:
            places[name].fault(*wrong)
        made: Any = None
        with report.gather():
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
    return {"attributes": tuple(attributes), "target": target, "person": person,
            "identifiers": tuple(name for name, _ in columns["identifier"])}  # fmt: skip


def _validate(document: Any, report: Report) -> tuple[SchemaModel, bool]:
    """What pydantic makes of a document, or of what it does not complain about; if that is less.

    What is left is looked at too, so that all faults are told at once.
    """
    model, partial = None, False
    try:
        model = SchemaModel.model_validate(document)
    except ValidationError as error:
        wrong = sorted(explain(error), key=lambda one: report.line(*one[0]) or 0)
        for place, what, hint in wrong:
            report.fault(what, hint, place)
        partial = True
        for complaint in error.errors(include_url=False):
            first, *below = complaint["loc"] or ("",)
            within = document.get("attributes") if first == "attributes" and below else document
            if isinstance(within, dict):
                within.pop(below[0] if first == "attributes" and below else first, None)
        with suppress(ValidationError):
            model = SchemaModel.model_validate(document)
        if model is None or (not model.attributes and model.items is None):
            raise_faults(report.faults)
    assert model is not None  # every complaint is a fault
    keys = {"attributes", "items"} & model.model_fields_set
    if len(keys) == 2:
        report.refuse(*BOTH, "items")
    if "items" in keys and model.items is None:
        report.refuse("items says nothing", HINTS["items"], "items")
    if not keys:
        hint = "Add the columns below a line  attributes:, or for transactions a line  items:."
        report.refuse("the key 'attributes' is missing", hint)
    return model, partial


def _plain(node: Node, place: tuple[str, ...], lines: dict[tuple[str, ...], int | None]) -> Any:
    """What pydantic sees of the document; remembers the line of each key."""
    if isinstance(node, Text):
        return None if node.is_nothing else node.value
    if isinstance(node, ListNode):
        if len(place) == 1:
            lines.update({(*place, str(n)): one.line for n, one in enumerate(node.items)})
        return [_plain(item, place, lines) for item in node.items]
    document = {}
    for key, below in node.pairs:
        inner = (*place, key.value)
        lines[inner] = key.line
        raw = len(place) == 2 and place[0] == "attributes" and key.value in _AS_WRITTEN
        raw = raw or (place == ("items",) and key.value in ("universe", "taxonomy"))
        raw = raw or (not place and key.value in ("include", "taxonomies"))
        document[key.value] = below if raw else _plain(below, inner, lines)
    return document


def _build_numeric(here: Report, name: str, column: NumericModel) -> Attribute:
    """The number that a column is, or the class in bands; raises if there are faults."""
    before = len(here.faults)
    texts = {"low": column.low, "high": column.high, "step": column.step}
    numeric = read_numeric(
        name, texts, outside=column.outside, scale=column.scale, decimal=column.decimal or "",
        thousands=column.thousands or "", format=column.format or "", **_choices(here, column),
    )  # fmt: skip
    here.fault_each([] if isinstance(numeric, Numeric) else numeric)
    raise_faults(here.faults[before:])
    assert isinstance(numeric, Numeric)  # or there was a fault
    common = [(text, read_number(text.strip())) for text in column.common]
    for text, number in common:
        if number is None or (number[1] == "date") != (numeric.kind == "date"):
            what = f"common names {text!r}, which is not written as low and high are"
            here.refuse(what, "Write it like them, or leave it out.", "common")
    for key, bound in texts.items():
        wrong = grouped_fault(key, bound or "", numeric.thousands, numeric.step)
        if wrong is not None:
            here.fault(*wrong, key)
    numeric = replace(numeric, common=tuple(number[0] for _, number in common if number))
    here.fault_each(attribute_faults(numeric, column.role == "class"))
    raise_faults(here.faults[before:])
    if numeric.grid == 1:
        what = "step is larger than the distance from low to high, so it can never be split"
        here.warn(what, "Choose a smaller step.")
    if column.role == "class" or column.bands:
        return _cut_into_bands(here, numeric, column)
    return numeric


def _cut_into_bands(here: Report, numeric: Numeric, column: NumericModel) -> Categorical:
    """A class of numbers: each band is a value."""
    numbers = [read_number(text.strip()) for text in column.bands]
    if column.role != "class" or not numbers:
        what = "bands are for the class alone, and a class of numbers needs them"
        here.refuse(what, "Write role: class and, for example, bands: [20, 40].", "role")
    dates = numeric.kind == "date"
    starts = [n[0] for n in numbers if n is not None and (n[1] == "date") == dates]
    inside = all(numeric.low < start <= numeric.high for start in starts)
    if len(starts) < len(numbers) or not inside or sorted(set(starts)) != starts:
        what = "bands are not increasing numbers above low and up to high"
        here.refuse(what, "Name where each band but the first begins.", "bands")
    codes = [0, *(math.ceil((start - numeric.low) / numeric.step) for start in starts)]
    between = any((start - numeric.low) % numeric.step for start in starts)
    if between or codes[-1] >= numeric.grid:
        hint = "Let bands begin at low plus whole steps."
        here.refuse("a band begins between two steps", hint, "bands")
    return in_bands(numeric, codes)


def _build_categorical(
    here: Report, name: str, column: CategoricalModel | BooleanModel
) -> Categorical:
    """The texts or truth values that a column holds; raises if they cannot be read."""
    boolean = isinstance(column, BooleanModel)
    if isinstance(column, BooleanModel):
        other = OTHER in (column.missing, column.outside)
        labels = (*BOOLEAN_LABELS, OTHER) if other else BOOLEAN_LABELS
        taxonomy, reading = Taxonomy.flat(labels), Reading()
    else:
        taxonomy, reading = build_values(column, here)
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


def _choices(here: Report, column: Published) -> dict[str, Any]:
    """What happens to missing values, how much a division counts, and what the column is called."""
    number = (Fraction(1), "") if column.weight is None else read_number(column.weight.strip())
    if number is None or number[1] == "date":
        here.fault("weight is not a number", "Write a number, for example weight: 0.5.", "weight")
        number = (Fraction(1), "")
    given = {"group": column.group, "column": column.column, "caption": column.label}
    names = {key: (name or "").strip() for key, name in given.items()}
    return {"missing": column.missing, "split": column.split, "weight": number[0], **names}
