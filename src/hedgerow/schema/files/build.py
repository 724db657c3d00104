"""From a schema file to a Schema: checks the shape, then reads each column."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hedgerow.schema.attributes import OTHER, Attribute, Categorical, Numeric, in_bands
from hedgerow.schema.files.build_items import ItemsSource, build_items
from hedgerow.schema.files.build_values import ColumnSource, build_values
from hedgerow.schema.files.complaints import report_complaints
from hedgerow.schema.files.model import (
    BooleanModel,
    CategoricalModel,
    FileModel,
    NumericModel,
    PersonModel,
    SchemaModel,
)
from hedgerow.schema.files.nodes import Items, Node, Text, from_python
from hedgerow.schema.files.yaml_reader import parse_yaml, read_text
from hedgerow.schema.grid import read_grid, read_number
from hedgerow.schema.lint import (
    BOOLEAN_LABELS,
    Report,
    column_fault,
    label_fault,
    layout_faults,
    merged,
    raise_faults,
)
from hedgerow.schema.lint_attributes import choice_faults, grid_faults
from hedgerow.schema.metadata import Metadata, faults_of
from hedgerow.schema.relations import read_rules, read_tables
from hedgerow.schema.schema import BOTH, NO_UNIT, Person, Schema, unit_fault
from hedgerow.schema.taxonomies.shared import Shared, read_shared
from hedgerow.schema.taxonomies.taxonomy import Taxonomy
from hedgerow.schema.written import Layout, format_fault, grouped_fault, notation_fault

__all__ = ["load_schema", "schema_from_dict", "schema_from_text"]

Published = NumericModel | CategoricalModel | BooleanModel

_AS_USUAL = FileModel.model_validate({})
_AS_WRITTEN = ("values", "taxonomy", "recode")  # read below, with their lines


def load_schema(path: Path) -> Schema:
    """Reads a schema file; see Schema.load."""
    report = Report()
    text = read_text(path, report)
    raise_faults(report.faults)
    assert text is not None  # or there was a fault
    return schema_from_text(text, path)


def schema_from_text(text: str, path: Path) -> Schema:
    """Builds a schema from the text of a file, which need not be written yet.

    Args:
        text: The text.
        path: The file, for messages; taxonomy files are looked for beside it.
    """
    report = Report()
    node = parse_yaml(text, str(path), report)
    raise_faults(report.faults)
    assert node is not None  # or there was a fault
    return _Builder(file=str(path), folder=path.parent, report=report).build(node)


def schema_from_dict(document: Mapping[str, Any], folder: Path | None) -> Schema:
    """Builds a schema from its dictionary form; see Schema.from_dict."""
    return _Builder(file=None, folder=folder, report=Report()).build(from_python(document))


@dataclass(kw_only=True)
class _Builder:
    file: str | None
    folder: Path | None
    report: Report
    lines: dict[tuple[str, ...], int | None] = field(default_factory=dict)
    shared: dict[str, Shared] = field(default_factory=dict)
    partial: bool = False  # what pydantic complained about was left out

    def build(self, node: Node) -> Schema:
        document = self._plain(node, ())
        try:
            model = SchemaModel.model_validate(document)
        except ValidationError as error:
            report_complaints(error, self.lines, self.file, self.report)
            self.partial = True
            model = self._without(document, error)
        self._attributes_or_items(model)
        own = Shared(model.taxonomies, self.file, self.folder)
        self.shared = read_shared(own, model.include, self.lines, self.report)
        metadata, layout = self._metadata(model), self._layout(model)
        if model.items is not None:
            for key in {"tables", "rules"} & model.model_fields_set:
                what, line = (
                    f"{key} are about columns, and the schema has items",
                    self.lines.get((key,)),
                )
                self.report.fault(what, f"Remove {key}.", self.file, line)
            source = ItemsSource(
                file=self.file,
                folder=self.folder,
                lines=self.lines,
                report=self.report,
                shared=self.shared,
            )
            items = build_items(model.items, source)
            self._name(model)
            self._unit(model, model.items.person)
            raise_faults(self.report.faults)
            return self._reviewed(Schema(
                name=model.name,
                unit=model.unit,
                draft=model.draft,
                began_as_draft=model.began_as_draft,
                items=items,
                metadata=metadata,
                file=layout,
            ))  # fmt: skip
        attributes: list[Attribute] = []
        targets: list[Categorical] = []
        identifiers: list[str] = []
        people: list[Person] = []
        for name, column in model.attributes.items():
            published = isinstance(column, Published)
            wrong = column_fault(name, published)
            if wrong is not None:
                self._fault(name, *wrong)
            if isinstance(column, NumericModel):
                numeric = self._numeric(name, column)
                self._choices(numeric, column.role)
                if numeric is not None and (column.role == "class" or column.bands):
                    targets += self._in_bands(numeric, column)
                else:
                    attributes += [] if numeric is None else [numeric]
            elif isinstance(column, CategoricalModel | BooleanModel):
                categorical = self._categorical(name, column)
                self._choices(categorical, column.role)
                if column.role == "class":
                    targets.append(self._as_class(categorical))
                else:
                    attributes.append(categorical)
            elif isinstance(column, PersonModel):
                people.append(Person(name, column.max_rows))
            else:
                identifiers.append(name)
        groups = [attribute.group for attribute in attributes]
        for attribute in attributes:
            if attribute.group and groups.count(attribute.group) == 1:
                what = f"no other attribute is in the group {attribute.group!r}"
                hint = "Write the same group for all of its members, or leave it out."
                self._warn(attribute.name, what, hint)
        self._one_of("class", [target.name for target in targets])
        self._one_of("person", [person.column for person in people])
        self._name(model)
        self._unit(model, people[0].column if people else None)
        raise_faults(self.report.faults)
        if not attributes:
            hint = "Describe at least one column that is not the class, a person or an identifier."
            line = self.lines.get(("attributes",))
            self.report.fault("there is no attribute to publish", hint, self.file, line)
            raise_faults(self.report.faults)
        schema = Schema(
            name=model.name,
            unit=model.unit,
            attributes=tuple(attributes),
            target=targets[0] if targets else None,
            identifiers=tuple(identifiers),
            person=people[0] if people else None,
            draft=model.draft,
            began_as_draft=model.began_as_draft,
            metadata=metadata,
            file=layout,
        )
        tables, wrong_tables = read_tables(model.tables, schema)
        rules, wrong_rules = read_rules(model.rules, schema)
        for key, complaints in (("tables", wrong_tables), ("rules", wrong_rules)):
            for number, what, hint in complaints:
                line = self.lines.get((key, str(number)), self.lines.get((key,)))
                self.report.fault(f"{key}, number {number + 1}: {what}", hint, self.file, line)
        raise_faults(self.report.faults)
        if tables or rules:
            schema = replace(schema, tables=tuple(tables), rules=tuple(rules))
        return self._reviewed(schema)

    def _reviewed(self, schema: Schema) -> Schema:
        """The schema with its warnings; a draft if it is a file and not what was signed off."""
        about = schema.metadata
        if self.file is not None and schema.changed_since_signed:
            what = f"the schema has changed since {about.reviewer} signed it off on "
            what += f"{about.reviewed}, so it counts as a draft"
            hint = "Files with taxonomies belong to it. If all of it is public knowledge as it is "
            hint += "now, sign it again: `hedgerow sign schema.yaml --name ...`."
            self.report.warn(what, hint, self.file, self.lines.get(("metadata", "signed")))
            schema = replace(schema, draft=True, metadata=about.unsigned)
        return replace(schema, warnings=tuple(map(str, merged(self.report.warnings))))

    def _without(self, document: Any, error: ValidationError) -> SchemaModel:
        """The rest of a document with faults, so that those of the rest are told with them."""
        for complaint in error.errors(include_url=False):
            first, *below = complaint["loc"] or ("",)
            within = document.get("attributes") if first == "attributes" and below else document
            if isinstance(within, dict):
                within.pop(below[0] if first == "attributes" and below else first, None)
        try:
            rest = SchemaModel.model_validate(document)
        except ValidationError:
            raise_faults(self.report.faults)
            raise AssertionError from error  # every complaint is a fault
        if not rest.attributes and rest.items is None:
            raise_faults(self.report.faults)
        return rest

    def _name(self, model: SchemaModel) -> None:
        line = self.lines.get(("name",))
        if not model.name.strip():
            self.report.fault("the name is blank", "Give the table a name.", self.file, line)
        elif (wrong := label_fault(model.name)) is not None:
            self.report.fault(*wrong, self.file, line)

    def _metadata(self, model: SchemaModel) -> Metadata:
        told = {} if model.metadata is None else model.metadata.model_dump(exclude_none=True)
        if "unit_name" in told:
            told["unit_name"] = tuple(told["unit_name"])
        wrong = faults_of(told)
        for key, what, hint in wrong:
            line = self.lines.get(("metadata", key), self.lines.get(("metadata",)))
            self.report.fault(f"metadata: {what}", hint, self.file, line)
        return Metadata() if wrong else Metadata(**told)

    def _layout(self, model: SchemaModel) -> Layout:
        written = model.file or _AS_USUAL
        layout = Layout(
            encoding=written.encoding, header_row=written.header_row, sheet=written.sheet,
            decimal=written.decimal or "", thousands=written.thousands or "",
        )  # fmt: skip
        for key, what, hint in layout_faults(layout, items=model.items is not None):
            line = self.lines.get(("file", key), self.lines.get(("file",)))
            self.report.fault(f"file: {what}", hint, self.file, line)
        return layout

    def _unit(self, model: SchemaModel, person: str | None) -> None:
        wrong = unit_fault(model.unit, person, items=model.items is not None)
        if self.report.faults and ("unit",) not in self.lines:  # else it may come later
            wrong = NO_UNIT
        if wrong is not None and not (self.partial and person is None and model.unit):
            self.report.fault(*wrong, self.file, self.lines.get(("unit",)))

    def _attributes_or_items(self, model: SchemaModel) -> None:
        given, before = model.model_fields_set, len(self.report.faults)
        if {"attributes", "items"} <= given:
            self.report.fault(*BOTH, self.file, self.lines.get(("items",)))
        elif "items" in given and model.items is None:
            hint = "Write, for example, items: {universe: {range: [1, 99]}}."
            self.report.fault("items says nothing", hint, self.file, self.lines.get(("items",)))
        elif not {"attributes", "items"} & given:
            hint = "Add the columns below a line  attributes:, or for transactions a line  items:."
            self.report.fault("the key 'attributes' is missing", hint, self.file)
        if len(self.report.faults) > before:  # there is nothing to go on with
            raise_faults(self.report.faults)

    def _plain(self, node: Node, place: tuple[str, ...]) -> Any:
        """What pydantic sees of the document; remembers the line of each key."""
        if isinstance(node, Text):
            return None if node.is_nothing else node.value
        if isinstance(node, Items):
            if len(place) == 1:
                self.lines |= {(*place, str(n)): one.line for n, one in enumerate(node.items)}
            return [self._plain(item, place) for item in node.items]
        document = {}
        for key, below in node.pairs:
            inner = (*place, key.value)
            self.lines[inner] = key.line
            raw = len(place) == 2 and place[0] == "attributes" and key.value in _AS_WRITTEN
            raw = raw or (place == ("items",) and key.value in ("universe", "taxonomy"))
            raw = raw or (not place and key.value in ("include", "taxonomies"))
            document[key.value] = below if raw else self._plain(below, inner)
        return document

    def _fault(self, name: str, what: str, hint: str, key: str | None = None) -> None:
        place = ("attributes", name) if key is None else ("attributes", name, key)
        line = self.lines.get(place, self.lines.get(place[:2]))
        self.report.fault(f"attribute {name!r}: {what}", hint, self.file, line)

    def _warn(self, name: str, what: str, hint: str) -> None:
        line = self.lines.get(("attributes", name))
        self.report.warn(f"attribute {name!r}: {what}", hint, self.file, line)

    def _one_of(self, role: str, names: list[str]) -> None:
        for name in names[1:]:
            what = f"there is already a column with the role {role}, {names[0]!r}"
            self._fault(name, what, "Keep the role on one of them.", "role")

    def _numeric(self, name: str, column: NumericModel) -> Numeric | None:
        texts = {"low": column.low, "high": column.high, "step": column.step}
        grid = read_grid(texts)
        if isinstance(grid, list):
            for key, what, hint in grid:
                self._fault(name, what, hint, key)
            return None
        wrong = grid_faults(grid.low, grid.high, grid.step, grid.kind)
        for what, hint in wrong:
            self._fault(name, what, hint, what.split()[0])  # a grid's faults begin with their key
        if wrong:
            return None
        common = [(text, read_number(text.strip())) for text in column.common]
        for text, number in common:
            if number is None or (number[1] == "date") != (grid.kind == "date"):
                what = f"common names {text!r}, which is not written as low and high are"
                self._fault(name, what, "Write it like them, or leave it out.", "common")
                return None
        attribute = Numeric(
            name, low=grid.low, high=grid.high, step=grid.step, kind=grid.kind,
            missing=column.missing, outside=column.outside,
            scale=column.scale, common=tuple(number[0] for _, number in common if number),
            **self._notation(name, column, grid.kind), **self._in_choices(name, column),
        )  # fmt: skip
        for found in (
            notation_fault(attribute.decimal, attribute.thousands),
            format_fault(attribute.format, attribute.kind),
            *(grouped_fault(key, text or "", attribute.thousands, grid.step)
              for key, text in texts.items()),
        ):  # fmt: skip
            if found is not None:
                self._fault(name, *found, found[0].split()[0])
        if attribute.grid == 1:
            self._warn(
                name,
                "step is larger than the distance from low to high, so it can never be split",
                "Choose a smaller step.",
            )
        return attribute

    def _notation(self, name: str, column: NumericModel, kind: str) -> dict[str, Any]:
        """How values are written, as far as the column says it."""
        if kind == "date":
            for key in ("decimal", "thousands"):
                if getattr(column, key):
                    hint = "Remove it; `format:` says how dates are written."
                    self._fault(name, f"{key} is for numbers, and these are dates", hint, key)
            return {"format": column.format or ""}
        told = {"decimal": column.decimal, "thousands": column.thousands, "format": column.format}
        return {key: text or "" for key, text in told.items()}

    def _in_bands(self, numeric: Numeric, column: NumericModel) -> list[Categorical]:
        """A class of numbers: each band is a value."""
        name, found = numeric.name, [read_number(text.strip()) for text in column.bands]
        if column.role != "class" or not found:
            what = "bands are for the class alone, and a class of numbers needs them"
            self._fault(name, what, "Write role: class and, for example, bands: [20, 40].", "role")
            return []
        dates = numeric.kind == "date"
        starts = [n[0] for n in found if n is not None and (n[1] == "date") == dates]
        inside = all(numeric.low < start <= numeric.high for start in starts)
        if len(starts) < len(found) or not inside or sorted(set(starts)) != starts:
            what = "bands are not increasing numbers above low and up to high"
            self._fault(name, what, "Name where each band but the first begins.", "bands")
            return []
        codes = [0, *(math.ceil((start - numeric.low) / numeric.step) for start in starts)]
        between = any((start - numeric.low) % numeric.step for start in starts)
        if between or codes[-1] >= numeric.grid:
            what = "a band begins between two steps"
            self._fault(name, what, "Let bands begin at low plus whole steps.", "bands")
            return []
        return [in_bands(numeric, codes)]

    def _categorical(self, name: str, column: CategoricalModel | BooleanModel) -> Categorical:
        if isinstance(column, BooleanModel):
            other = OTHER in (column.missing, column.outside)
            taxonomy = Taxonomy.flat((*BOOLEAN_LABELS, OTHER) if other else BOOLEAN_LABELS)
            return Categorical(
                name, taxonomy, missing=column.missing, outside=column.outside, boolean=True,
                **self._in_choices(name, column),
            )  # fmt: skip

        def line(key: str | None) -> int | None:
            whole = self.lines.get(("attributes", name))
            return whole if key is None else self.lines.get(("attributes", name, key), whole)

        found = Report()
        source = ColumnSource(file=self.file, folder=self.folder, line=line, shared=self.shared)
        taxonomy, reading = build_values(column, source, found)
        self.report.take(found, f"attribute {name!r}")
        return Categorical(
            name, taxonomy, missing=column.missing, outside=column.outside, reading=reading,
            **self._in_choices(name, column),
        )  # fmt: skip

    def _choices(self, attribute: Attribute | None, role: str) -> None:
        if attribute is not None:
            for key, what, hint in choice_faults(attribute, role == "class"):
                self._fault(attribute.name, what, hint, key)

    def _in_choices(self, name: str, column: Published) -> dict[str, Any]:
        """How much a division by the attribute counts, with which others, and its column."""
        number = (Fraction(1), "") if column.weight is None else read_number(column.weight.strip())
        if number is None or number[1] == "date":
            hint = "Write a number, for example weight: 0.5."
            self._fault(name, "weight is not a number", hint, "weight")
            number = (Fraction(1), "")
        names = {"group": (column.group or "").strip(), "column": (column.column or "").strip()}
        return {"split": column.split, "weight": number[0], **names}

    def _as_class(self, target: Categorical) -> Categorical:
        taxonomy = target.taxonomy
        if taxonomy.height > 1:
            self._warn(
                target.name,
                "the class is never generalised, so only the leaves of its taxonomy are used",
                "Nothing to do; a flat list of values says the same.",
            )
            taxonomy = Taxonomy.flat(taxonomy.leaves, taxonomy.labels[0])
        if len(taxonomy.leaves) == 1:
            self._warn(
                target.name,
                "the class has a single value, so there is nothing to predict",
                "Add the other values, or remove the role.",
            )
        return replace(target, taxonomy=taxonomy)
