"""The shape of a schema file, as pydantic models; its JSON Schema; complaints as faults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    WithJsonSchema,
)

from hedgerow.schema.attributes import MOST_BANDS, MOST_COMMON, Encoding
from hedgerow.schema.lint import Fault, Report

# The shape of a schema file, as pydantic models, and its published JSON Schema.
#
# The models check keys and simple values. Numbers, values and taxonomies arrive as they were
# written, since their meaning depends on each other; `build` reads them.


_SCALAR: dict[str, Any] = {"type": ["string", "number", "boolean"]}
_NUMBER: dict[str, Any] = {"type": ["number", "string"]}

Label = Annotated[str, WithJsonSchema(_SCALAR)]
Number = Annotated[str, WithJsonSchema(_NUMBER)]
Values = Annotated[
    Any, WithJsonSchema({"type": "array", "minItems": 1, "items": _SCALAR, "uniqueItems": True})
]
Rules = Annotated[
    Any,
    WithJsonSchema(
        {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {
                "anyOf": [_SCALAR, {"type": "array", "minItems": 1, "items": _SCALAR}]
            },
        }
    ),
]
_TREE: dict[str, Any] = {"type": ["string", "object", "array"], "minItems": 1}
Tree = Annotated[Any, WithJsonSchema(_TREE)]
Trees = Annotated[Any, WithJsonSchema({"type": "object", "additionalProperties": _TREE})]
Paths = Annotated[
    Any, WithJsonSchema({"type": ["string", "array"], "minItems": 1, "items": {"type": "string"}})
]
_RANGE: dict[str, Any] = {
    "type": "array",
    "items": {"type": "integer"},
    "minItems": 2,
    "maxItems": 2,
}
Universe = Annotated[
    Any,
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "minItems": 1, "items": _SCALAR, "uniqueItems": True},
                {
                    "type": "object",
                    "properties": {"range": _RANGE},
                    "required": ["range"],
                    "additionalProperties": False,
                },
            ]
        }
    ),
]


_NAMES: dict[str, Any] = {
    "type": ["string", "array"],
    "items": _SCALAR,
    "minItems": 2,
    "maxItems": 3,
}
Tables = Annotated[
    list[Any],
    WithJsonSchema(
        {
            "type": "array",
            "items": {
                "anyOf": [
                    _NAMES,
                    {
                        "type": "object",
                        "properties": {"attributes": _NAMES, "weight": _NUMBER},
                        "required": ["attributes"],
                        "additionalProperties": False,
                    },
                ]
            },
        }
    ),
]
RuleTexts = Annotated[
    list[Any], WithJsonSchema({"type": "array", "items": {"type": "string"}, "uniqueItems": True})
]


class _Model(BaseModel):
    # one validator is built for the whole file, when one is read, and none for each part of it
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class _Column(_Model):
    missing: Literal["error", "other", "drop"] = Field(
        "error", description="What happens to a missing value."
    )
    split: Literal["allowed", "never"] = Field(
        "allowed", description="Whether regions may be divided by this attribute."
    )
    weight: Number | None = Field(
        None,
        description="How much a division by this attribute counts when one is chosen (1): from "
        "0.01 to 100.",
    )
    column: Label | None = Field(
        None, description="What the column is called in the data, if not by the attribute's name."
    )
    label: Label | None = Field(
        None, description="What people call it, in reports and on the first line of tables."
    )
    group: Label | None = Field(
        None, description="The name of a group of attributes that count as one when one is chosen."
    )


class _Notation(_Model):
    decimal: Literal[".", ","] | None = Field(
        None, description="The decimal sign of numbers in the data."
    )
    thousands: Literal[",", ".", "'", " "] | None = Field(
        None, description="What separates groups of three digits in the data."
    )


class NumericModel(_Column, _Notation):
    """A column of integers, decimal numbers or dates, on a public grid."""

    type: Literal["numeric"]
    low: Number = Field(description="The smallest value; a number, or a date such as 2020-01-31.")
    high: Number = Field(description="The largest value, itself included.")
    step: Number | None = Field(
        None, description="The distance of grid points; days for dates. Needed for decimals."
    )
    scale: Literal["linear", "log"] = Field(
        "linear", description="Whether marginals count in parts of equal width, or growing ones."
    )
    common: list[Number] = Field(
        default_factory=list,
        max_length=MOST_COMMON,
        description="Values that very many people have, which marginals count by themselves.",
    )
    format: Label | None = Field(
        None,
        description="How dates are written in the data, such as %m/%d/%Y, or excel for serial "
        "days; 2024-01-31 is understood without it.",
    )
    role: Literal["predictor", "class"] = Field(
        "predictor", description="A number can be the class if it has bands."
    )
    bands: list[Number] = Field(
        default_factory=list,
        max_length=MOST_BANDS,
        description="The class alone: where its bands begin, apart from the first.",
    )
    outside: Literal["error", "other", "clip", "drop"] = Field(
        "error", description="What happens to a value outside the bounds."
    )


class CategoricalModel(_Column):
    """A column of texts, with a flat list of values or a taxonomy."""

    type: Literal["categorical"]
    values: Values = Field(None, description="The values; beside a taxonomy, a check on it.")
    taxonomy: Tree = Field(
        None,
        description="The path of a YAML or CSV file, the name of a list that comes with hedgerow, "
        "or the taxonomy itself, nested.",
    )
    recode: Rules = Field(
        None,
        description="What values become: rules (a text, 390-459, E*, >=65, * for all others) and "
        "the leaves that they lead to, with their groups if there is no taxonomy.",
    )
    ignore: list[Literal["case", "spaces", "zeros"]] = Field(
        default_factory=list, description="Differences that do not matter."
    )
    cut_at: Label | None = Field(None, description="Values are taken only up to this text.")
    root: Label | None = Field(None, description="The label of the root.")
    role: Literal["predictor", "class"] = Field(
        "predictor", description="The class is what the release should help to predict."
    )
    outside: Literal["error", "other", "drop"] = Field(
        "error", description="What happens to a value outside the taxonomy."
    )


class BooleanModel(_Column):
    """A column of truth values."""

    type: Literal["boolean"]
    role: Literal["predictor", "class"] = Field(
        "predictor", description="The class is what the release should help to predict."
    )
    outside: Literal["error", "other", "drop"] = Field(
        "error", description="What happens to a value that is neither true nor false."
    )


class IdentifierModel(_Model):
    """A column that is dropped."""

    role: Literal["identifier"]


class PersonModel(_Model):
    """The column that identifies people. It is not published."""

    role: Literal["person"]
    max_rows: int = Field(ge=1, description="The most rows that count for one person.")


class ItemsModel(_Model):
    """The items of transactions: every record is a set of them."""

    universe: Universe = Field(
        None,
        description="The items in their public order: {range: [1, 99]}, a list, or the path of "
        "a file with one item per line.",
    )
    taxonomy: Tree = Field(
        None,
        description="Instead of a universe: the path of a YAML or ARX file whose leaves are the "
        "items, or the taxonomy itself, nested.",
    )
    root: Label | None = Field(None, description="The label of the taxonomy's root.")
    fan_out: int | None = Field(
        None, ge=2, description="Without a taxonomy, how many neighbors are grouped (10)."
    )
    foreign: Literal["drop", "error"] = Field(
        "drop", description="What happens to an item outside the universe."
    )
    empty: Literal["drop", "dummy"] = Field(
        "drop",
        description="What happens to a record without items; dummy: it holds the item (empty).",
    )
    max_items: int | None = Field(
        None, ge=1, description="The most items that count for one record."
    )
    column: Label | None = Field(
        None, description="The column with the items of a record, as a list or as one text."
    )
    separator: Literal[" ", ",", ";", "|", "\t"] = Field(
        " ", description="What stands between the items of a text; a blank for any blanks."
    )
    person: Label | None = Field(
        None, description="In a table with one row per person and item, the person's column."
    )
    item: Label | None = Field(None, description="In such a table, the item's column.")


class FileModel(_Notation):
    """How the file with the data is written. Nothing about that is guessed from records."""

    encoding: Encoding | None = Field(
        None, description="How text is encoded; UTF-8, and UTF-16 with a byte order mark, without."
    )
    header_row: int | None = Field(
        None, ge=1, description="The line or row with the names of the columns, from 1."
    )
    sheet: Label | None = Field(None, description="The sheet of a workbook.")


class MetadataModel(_Model):
    """Facts about the data and the schema that a release repeats; all of it is public."""

    institution: Label | None = Field(None, description="Who holds the data and publishes it.")
    contact: Label | None = Field(None, description="Whom to ask.")
    period: Label | None = Field(None, description="When the data was collected.")
    license: Label | None = Field(None, description="The terms of use of the release.")
    purpose: Label | None = Field(None, description="What the release is published for.")
    recipients: Label | None = Field(None, description="Who receives the release.")
    unit_name: list[Label] | None = Field(
        None,
        min_length=2,
        max_length=2,
        description="What one record is called, singular and plural: [encounter, encounters].",
    )
    reviewer: Label | None = Field(
        None, description="Who has seen that everything in the schema is public knowledge."
    )
    reviewed: Label | None = Field(None, description="The date of that sign-off: 2026-01-31.")
    signed: Label | None = Field(
        None, description="The fingerprint of what was signed off; `hedgerow sign` writes it."
    )


ATTRIBUTE_MODELS: dict[str, type[_Model]] = {
    "numeric": NumericModel,
    "categorical": CategoricalModel,
    "boolean": BooleanModel,
    "identifier": IdentifierModel,
    "person": PersonModel,
}


def _kind(document: Any) -> str | None:
    if not isinstance(document, dict):
        return None
    role = document.get("role")
    kind = role if role in ("identifier", "person") else document.get("type")
    return kind if isinstance(kind, str) else None


AttributeModel = Annotated[
    Annotated[NumericModel, Tag("numeric")]
    | Annotated[CategoricalModel, Tag("categorical")]
    | Annotated[BooleanModel, Tag("boolean")]
    | Annotated[IdentifierModel, Tag("identifier")]
    | Annotated[PersonModel, Tag("person")],
    Discriminator(_kind),
]


class SchemaModel(_Model):
    """The public description of a private table."""

    name: Label = Field(description="What the table is called in releases.")
    unit: Literal["row", "person"] | None = Field(
        None,
        description="Whom the guarantee protects. row: each row, line or record is one person; "
        "person: a column identifies people (`role: person`, or `person:` below `items:`).",
    )
    draft: bool = Field(
        False, description="A draft cannot be published by; remove the line after reading it."
    )
    began_as_draft: bool = Field(
        False, description="The schema was drafted from private data; the line stays."
    )
    metadata: MetadataModel | None = Field(
        None, description="Whose data it is, what for, and who signed the schema off."
    )
    file: FileModel | None = Field(
        None, description="How the file with the data is written, where that is unusual."
    )
    include: Paths = Field(
        None, description="A file, or several, with taxonomies that are shared with other schemas."
    )
    taxonomies: Trees = Field(
        None, description="Taxonomies by name, for several columns: trees, paths or lists by name."
    )
    attributes: dict[str, AttributeModel] = Field(
        default_factory=dict, description="The columns by their names."
    )
    tables: Tables = Field(
        default_factory=list,
        description="Tables that the release should hold: two or three columns each, such as "
        "home illness, with a weight if one matters more.",
    )
    rules: RuleTexts = Field(
        default_factory=list,
        description="What cannot be, as everybody knows: age < 15 implies education = none, or "
        "not (sex = male and pregnant = true).",
    )
    items: ItemsModel | None = Field(
        None, description="For transactions, instead of attributes: the items."
    )


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a schema file, for editors and other programs.

    Example:
        >>> sorted(json_schema()["properties"])
        ['attributes', 'began_as_draft', 'draft', 'file', 'include', 'items', 'metadata', 'name',
        'rules', 'tables', 'taxonomies', 'unit']
    """
    schema = SchemaModel.model_json_schema()
    for model in (schema, *schema["$defs"].values()):
        for key in model["properties"].values():
            if key.get("default", ...) is None:  # a key that may be left out, but not be null
                del key["default"]
    schema["oneOf"] = [{"required": ["attributes"]}, {"required": ["items"]}]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema


# Turns pydantic's complaints into faults that a person can mend: line, key, rule and hint.


Lines = Mapping[tuple[str, ...], int | None]

_TYPES = ("numeric", "categorical", "boolean")
_ROLES = ("predictor", "class", "identifier", "person")
_PARTS: dict[str, type[BaseModel]] = {
    "items": ItemsModel, "metadata": MetadataModel, "file": FileModel
}  # fmt: skip
_ARTICLES = {"identifier": "an identifier"}


def report_complaints(
    error: ValidationError, lines: Lines, file: str | None, report: Report
) -> None:
    """Adds one fault for each of pydantic's complaints.

    Args:
        error: What pydantic found.
        lines: The line of each key, by its path.
        file: The file, for messages.
        report: Takes the faults.
    """
    faults: list[Fault] = []
    complaints = error.errors(include_url=False)
    misspelt = _misspelt([dict(complaint) for complaint in complaints])
    for complaint in complaints:
        if complaint["type"] == "missing" and complaint["loc"] in misspelt:
            continue  # the fault about the wrong spelling says it better
        place = tuple(str(part) for part in complaint["loc"])
        kind = None
        if place[:1] == ("attributes",) and len(place) > 2:
            kind = place[2]  # the tag of the union's member, which is no key of the file
            place = (*place[:2], *place[3:])
        subject = f"attribute {place[1]!r}: " if place[:1] == ("attributes",) and place[1:] else ""
        if place[1:] and place[0] in _PARTS:
            kind, subject = place[0], f"{place[0]}: "
        what, hint = _explain(dict(complaint), place, kind)
        known = [place[:n] for n in range(len(place), 0, -1) if place[:n] in lines]
        line = lines[known[0]] if known else None
        faults.append(Fault(subject + what, hint, file=file, line=line, place=place))
    report.faults += sorted(faults, key=lambda fault: fault.line or 0)


def _misspelt(complaints: list[dict[str, Any]]) -> set[tuple[int | str, ...]]:
    """The places of keys that are there under another spelling."""
    places = set()
    for complaint in complaints:
        if complaint["type"] == "extra_forbidden":
            *above, key = complaint["loc"]
            missing = [
                str(other["loc"][-1])
                for other in complaints
                if other["type"] == "missing" and list(other["loc"][:-1]) == above
            ]
            places |= {(*above, near) for near in get_close_matches(str(key), missing, 1)}
    return places


def _explain(
    complaint: dict[str, Any], place: tuple[str, ...], kind: str | None
) -> tuple[str, str]:
    rule, value, key = complaint["type"], complaint["input"], place[-1] if place else ""
    if rule in ("union_tag_not_found", "union_tag_invalid"):
        return _no_kind(value)
    if rule == "extra_forbidden":
        return _unknown_key(key, kind)
    if rule == "missing":
        return f"the key {key!r} is missing", _EXAMPLES.get(key, f"Add a line {key}: ...")
    if "ignore" in place:
        return (
            "ignore does not name differences between values",
            "Write, for example, ignore: [case]; it can be case, spaces, zeros.",
        )
    if rule == "literal_error":
        if key == "outside" and value == "clip":
            return "only numbers can be clipped to their bounds", "Use error, other or drop."
        if key == "separator":
            return "items cannot be separated by this", 'Write " ", ",", ";", "|" or "\\t".'
        if key in ("decimal", "thousands"):
            signs = " or ".join(f'"{sign}"' for sign in _choices_of(kind, key))
            return f"{key} is {_quote(value)}", f"Write {signs}, with the quotes."
        if key == "role":
            return f"role is {_quote(value)}", _choose(value, _ROLES)
        if key == "unit":
            return f"unit is {_quote(value)}", _EXAMPLES["unit"]
        return f"{key} is {_quote(value)}", _choose(value, _choices_of(kind, key))
    if rule.startswith(("int", "greater_than")):
        least, usual = (2, 10) if key == "fan_out" else (1, 1)
        return (
            f"{key} is not a whole number of at least {least}",
            f"Write, for example, {key}: {usual}.",
        )
    if rule.startswith(("list", "too_")) and "unit_name" in place:
        return "unit_name is not two names", "Write unit_name: [encounter, encounters]."
    if rule.startswith(("list", "tuple")):
        example = "..." if value is None else value
        return f"{key} is not a list", f"Write {key}: [{example}]."
    if rule.startswith("bool"):
        return f"{key} is neither true nor false", f"Write {key}: true, or remove the line."
    if rule.startswith(("dict", "model")):
        return (
            f"{key or 'the schema'} is not a mapping of keys to values",
            "Write, for example, items: {universe: {range: [1, 99]}}."
            if key == "items"
            else "Write, for example, metadata: {institution: St Anne, contact: data@example.org}."
            if key == "metadata"
            else "Write, for example, file: {header_row: 3}."
            if key == "file"
            else "Write one column a line, such as  age: {type: numeric, low: 0, high: 120}.",
        )
    return f"{key} is not a single text or number", f"Write one value after {key}:."


_EXAMPLES = {
    "unit": "Write `unit: row` if each row, line or record is one person, or `unit: person` if a "
    "column identifies people. If `unit: row` is stated wrongly, someone with k rows is protected "
    "k times less than epsilon says.",
    "name": "Add a line such as  name: people.",
    "attributes": "Add the columns below a line  attributes:.",
    "low": "Give the smallest value that can occur, from public knowledge and not from the data.",
    "high": "Give the largest value that can occur, from public knowledge and not from the data.",
    "max_rows": "Say how many rows may count for one person, such as max_rows: 3.",
}


def _quote(value: Any) -> str:
    return repr(value) if isinstance(value, str) else "not a single text"


def _choose(value: Any, allowed: Iterable[str]) -> str:
    options = list(allowed)
    close = get_close_matches(str(value), options, 1)
    start = f"Did you mean {close[0]}? " if close else ""
    return f"{start}It can be {', '.join(options)}." if len(options) > 1 else f"Use {options[0]}."


def _no_kind(value: Any) -> tuple[str, str]:
    if not isinstance(value, dict):
        return (
            "there is no description of the column",
            "Write one, such as {type: numeric, low: 0, high: 120} or {role: identifier}.",
        )
    if "type" in value:
        return f"type is {_quote(value['type'])}", _choose(value["type"], _TYPES)
    if "role" in value and value["role"] not in _ROLES:
        return f"role is {_quote(value['role'])}", _choose(value["role"], _ROLES)
    for key in value:
        near = get_close_matches(str(key), ("type", "role"), 1)
        if near:
            return f"unknown key {key!r}", f"Did you mean {near[0]!r}?"
    return "the key 'type' is missing", f"Add one: type can be {', '.join(_TYPES)}."


def _model(kind: str | None) -> type[BaseModel]:
    if kind is None:
        return SchemaModel
    return _PARTS.get(kind) or ATTRIBUTE_MODELS[kind]


def _choices_of(kind: str | None, key: str) -> list[str]:
    annotation: Any = _model(kind).model_fields[key].annotation
    parts = [part for part in annotation.__args__ if part is not type(None)]
    return [text for part in parts for text in getattr(part, "__args__", (part,))]


def _unknown_key(key: str, kind: str | None) -> tuple[str, str]:
    keys = list(_model(kind).model_fields)
    close = get_close_matches(key, keys, 1)
    if close:
        return f"unknown key {key!r}", f"Did you mean {close[0]!r}?"
    if kind is None:
        return f"unknown key {key!r}", f"The keys at the top are {', '.join(keys)}."
    if kind not in _PARTS and any(key in other.model_fields for other in ATTRIBUTE_MODELS.values()):
        owner = _ARTICLES.get(kind, f"a {kind} column")
        return f"the key {key!r} is not for {owner}", f"Remove it; the keys are {', '.join(keys)}."
    return f"unknown key {key!r}", f"The keys here are {', '.join(keys)}."
