"""The shape of a schema file, as pydantic models; its JSON Schema; complaints as faults."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import pairwise
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    WithJsonSchema,
)

from hedgerow.schema.attributes import (
    MOST_BANDS,
    MOST_COMMON,
    Encoding,
    Missing,
    Outside,
    Splitting,
)
from hedgerow.schema.items import Separator
from hedgerow.schema.taxonomy import Ignored

# The shape of a schema file, as pydantic models, and its published JSON Schema, which says of each
# key what stands below it here.
#
# The models check keys and simple values. Numbers, values and taxonomies arrive as they were
# written, since their meaning depends on each other; `build` reads them.


def _array(items: dict[str, Any], *, unique: bool = False, **sizes: int) -> dict[str, Any]:
    return {"type": "array", **sizes, "items": items} | ({"uniqueItems": True} if unique else {})


def _mapping(required: str, **keys: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": keys, "required": [required],
            "additionalProperties": False}  # fmt: skip


_TEXT: dict[str, Any] = {"type": "string"}
_SCALAR: dict[str, Any] = {"type": ["string", "number", "boolean"]}
_NUMBER: dict[str, Any] = {"type": ["number", "string"]}
_TREE: dict[str, Any] = {"type": ["string", "object", "array"], "minItems": 1}
_LEAF: dict[str, Any] = {"anyOf": [_SCALAR, _array(_SCALAR, minItems=1)]}
_VALUES = _array(_SCALAR, unique=True, minItems=1)
_RANGE = _mapping("range", range=_array({"type": "integer"}, minItems=2, maxItems=2))
_NAMES = _array(_SCALAR, minItems=2, maxItems=3) | {"type": ["string", "array"]}
_TABLE = {"anyOf": [_NAMES, _mapping("attributes", attributes=_NAMES, weight=_NUMBER)]}

Label = Annotated[str, WithJsonSchema(_SCALAR)]
Number = Annotated[str, WithJsonSchema(_NUMBER)]
Values = Annotated[Any, WithJsonSchema(_VALUES)]
Rules = Annotated[
    Any, WithJsonSchema({"type": "object", "minProperties": 1, "additionalProperties": _LEAF})
]
Tree = Annotated[Any, WithJsonSchema(_TREE)]
Trees = Annotated[Any, WithJsonSchema({"type": "object", "additionalProperties": _TREE})]
Paths = Annotated[Any, WithJsonSchema(_array(_TEXT, minItems=1) | {"type": ["string", "array"]})]
Universe = Annotated[Any, WithJsonSchema({"anyOf": [_TEXT, _VALUES, _RANGE]})]
Tables = Annotated[list[Any], WithJsonSchema(_array(_TABLE))]
RuleTexts = Annotated[list[Any], WithJsonSchema(_array(_TEXT, unique=True))]


class _Model(BaseModel):
    # one validator is built for the whole file, when one is read, and none for each part of it
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class _Column(_Model):
    missing: Missing = "error"
    """What happens to a missing value."""
    split: Splitting = "allowed"
    """Whether regions may be divided by this attribute."""
    weight: Number | None = None
    """How much a division by this attribute counts when one is chosen (1): from 0.01 to 100."""
    column: Label | None = None
    """What the column is called in the data, if not by the attribute's name."""
    label: Label | None = None
    """What people call it, in reports and on the first line of tables."""
    group: Label | None = None
    """The name of a group of attributes that count as one when one is chosen."""


class _Notation(_Model):
    decimal: Literal[".", ","] | None = None
    """The decimal sign of numbers in the data."""
    thousands: Literal[",", ".", "'", " "] | None = None
    """What separates groups of three digits in the data."""


class NumericModel(_Column, _Notation):
    """A column of integers, decimal numbers or dates, on a public grid."""

    type: Literal["numeric"]
    low: Number
    """The smallest value; a number, or a date such as 2020-01-31."""
    high: Number
    """The largest value, itself included."""
    step: Number | None = None
    """The distance of grid points; days for dates. Needed for decimals."""
    scale: Literal["linear", "log"] = "linear"
    """Whether marginals count in parts of equal width, or growing ones."""
    common: list[Number] = Field(default_factory=list, max_length=MOST_COMMON)
    """Values that very many people have, which marginals count by themselves."""
    format: Label | None = None
    """How dates are written in the data, such as %m/%d/%Y, or excel for serial days; 2024-01-31 is
    understood without it."""
    role: Literal["predictor", "class"] = "predictor"
    """A number can be the class if it has bands."""
    bands: list[Number] = Field(default_factory=list, max_length=MOST_BANDS)
    """The class alone: where its bands begin, apart from the first."""
    outside: Outside = "error"
    """What happens to a value outside the bounds."""


class CategoricalModel(_Column):
    """A column of texts, with a flat list of values or a taxonomy."""

    type: Literal["categorical"]
    values: Values = None
    """The values; beside a taxonomy, a check on it."""
    taxonomy: Tree = None
    """The path of a YAML or CSV file, the name of a list that comes with hedgerow, or the taxonomy
    itself, nested."""
    recode: Rules = None
    """What values become: rules (a text, 390-459, E*, >=65, * for all others) and the leaves that
    they lead to, with their groups if there is no taxonomy."""
    ignore: list[Ignored] = Field(default_factory=list)
    """Differences that do not matter."""
    cut_at: Label | None = None
    """Values are taken only up to this text."""
    root: Label | None = None
    """The label of the root."""
    role: Literal["predictor", "class"] = "predictor"
    """The class is what the release should help to predict."""
    outside: Missing = "error"
    """What happens to a value outside the taxonomy."""


class BooleanModel(_Column):
    """A column of truth values."""

    type: Literal["boolean"]
    role: Literal["predictor", "class"] = "predictor"
    """The class is what the release should help to predict."""
    outside: Missing = "error"
    """What happens to a value that is neither true nor false."""


class IdentifierModel(_Model):
    """A column that is dropped."""

    role: Literal["identifier"]


class PersonModel(_Model):
    """The column that identifies people. It is not published."""

    role: Literal["person"]
    max_rows: int = Field(ge=1)
    """The most rows that count for one person."""


class ItemsModel(_Model):
    """The items of transactions: every record is a set of them."""

    universe: Universe = None
    """The items in their public order: {range: [1, 99]}, a list, or the path of a file with one
    item per line."""
    taxonomy: Tree = None
    """Instead of a universe: the path of a YAML or ARX file whose leaves are the items, or the
    taxonomy itself, nested."""
    root: Label | None = None
    """The label of the taxonomy's root."""
    fan_out: int | None = Field(None, ge=2)
    """Without a taxonomy, how many neighbors are grouped (10)."""
    foreign: Literal["drop", "error"] = "drop"
    """What happens to an item outside the universe."""
    empty: Literal["drop", "dummy"] = "drop"
    """What happens to a record without items; dummy: it holds the item (empty)."""
    max_items: int | None = Field(None, ge=1)
    """The most items that count for one record."""
    column: Label | None = None
    """The column with the items of a record, as a list or as one text."""
    separator: Separator = " "
    """What stands between the items of a text; a blank for any blanks."""
    person: Label | None = None
    """In a table with one row per person and item, the person's column."""
    item: Label | None = None
    """In such a table, the item's column."""


class FileModel(_Notation):
    """How the file with the data is written. Nothing about that is guessed from records."""

    encoding: Encoding | None = None
    """How text is encoded; UTF-8, and UTF-16 with a byte order mark, without."""
    header_row: int | None = Field(None, ge=1)
    """The line or row with the names of the columns, from 1."""
    sheet: Label | None = None
    """The sheet of a workbook."""


class MetadataModel(_Model):
    """Facts about the data and the schema that a release repeats; all of it is public."""

    institution: Label | None = None
    """Who holds the data and publishes it."""
    contact: Label | None = None
    """Whom to ask."""
    period: Label | None = None
    """When the data was collected."""
    license: Label | None = None
    """The terms of use of the release."""
    purpose: Label | None = None
    """What the release is published for."""
    recipients: Label | None = None
    """Who receives the release."""
    unit_name: list[Label] | None = Field(None, min_length=2, max_length=2)
    """What one record is called, singular and plural: [encounter, encounters]."""
    reviewer: Label | None = None
    """Who has seen that everything in the schema is public knowledge."""
    reviewed: Label | None = None
    """The date of that sign-off: 2026-01-31."""
    signed: Label | None = None
    """The fingerprint of what was signed off; `hedgerow sign` writes it."""


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
_TAGGED = map(get_args, get_args(get_args(AttributeModel)[0]))
ATTRIBUTE_MODELS: dict[str, type[_Model]] = {tag.tag: model for model, tag in _TAGGED}


class SchemaModel(_Model):
    """The public description of a private table."""

    name: Label
    """What the table is called in releases."""
    unit: Literal["row", "person"] | None = None
    """Whom the guarantee protects. row: each row, line or record is one person; person: a column
    identifies people (`role: person`, or `person:` below `items:`)."""
    draft: bool = False
    """A draft cannot be published by; remove the line after reading it."""
    began_as_draft: bool = False
    """The schema was drafted from private data; the line stays."""
    metadata: MetadataModel | None = None
    """Whose data it is, what for, and who signed the schema off."""
    file: FileModel | None = None
    """How the file with the data is written, where that is unusual."""
    include: Paths = None
    """A file, or several, with taxonomies that are shared with other schemas."""
    taxonomies: Trees = None
    """Taxonomies by name, for several columns: trees, paths or lists by name."""
    attributes: dict[str, AttributeModel] = Field(default_factory=dict)
    """The columns by their names."""
    tables: Tables = Field(default_factory=list)
    """Tables that the release should hold: two or three columns each, such as home illness, with a
    weight if one matters more."""
    rules: RuleTexts = Field(default_factory=list)
    """What cannot be, as everybody knows: age < 15 implies education = none, or not (sex = male and
    pregnant = true)."""
    items: ItemsModel | None = None
    """For transactions, instead of attributes: the items."""


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a schema file, for editors and other programs.

    Example:
        >>> sorted(json_schema()["properties"])
        ['attributes', 'began_as_draft', 'draft', 'file', 'include', 'items', 'metadata', 'name',
        'rules', 'tables', 'taxonomies', 'unit']
    """
    below = {
        (model.name, key.target.id): " ".join(ast.literal_eval(text.value).split())
        for model in ast.parse(inspect.getsource(sys.modules[__name__])).body
        if isinstance(model, ast.ClassDef)
        for key, text in pairwise(model.body)
        if isinstance(key, ast.AnnAssign) and isinstance(key.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
    }
    schema = SchemaModel.model_json_schema()
    for model in (schema, *schema["$defs"].values()):
        owners = [owner.__name__ for owner in globals()[model["title"]].__mro__]
        for name, key in model["properties"].items():
            said = [below[owner, name] for owner in owners if (owner, name) in below]
            if key.get("default", ...) is None:  # a key that may be left out, but not be null
                del key["default"]
            if said:
                model["properties"][name] = dict(sorted({**key, "description": said[0]}.items()))
    schema["oneOf"] = [{"required": ["attributes"]}, {"required": ["items"]}]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema


# Turns pydantic's complaints into faults that a person can mend: key, rule and hint.


_TYPES = ("numeric", "categorical", "boolean")
_ROLES = ("predictor", "class", "identifier", "person")
_PARTS: dict[str | None, type[_Model]] = {
    None: SchemaModel, "items": ItemsModel, "metadata": MetadataModel, "file": FileModel
}  # fmt: skip
_UNIT = (
    "Write `unit: row` if each row, line or record is one person, or `unit: person` if a column "
    "identifies people. If `unit: row` is stated wrongly, someone with k rows is protected k times "
    "less than epsilon says."
)
_MISSING = {
    "unit": _UNIT,
    "name": "Add a line such as  name: people.",
    "attributes": "Add the columns below a line  attributes:.",
    "low": "Give the smallest value that can occur, from public knowledge and not from the data.",
    "high": "Give the largest value that can occur, from public knowledge and not from the data.",
    "max_rows": "Say how many rows may count for one person, such as max_rows: 3.",
}
HINTS = {
    "items": "Write, for example, items: {universe: {range: [1, 99]}}.",
    "metadata": "Write, for example, metadata: {institution: St Anne, contact: data@example.org}.",
    "file": "Write, for example, file: {header_row: 3}.",
}


def explain(error: ValidationError) -> list[tuple[tuple[str, ...], str, str]]:
    """What pydantic complained about: the path of a key in the file, what is wrong, and a hint."""
    complaints = error.errors(include_url=False)
    missing = [one["loc"] for one in complaints if one["type"] == "missing"]
    misspelt: set[tuple[int | str, ...]] = set()  # keys that are there under another spelling
    for *above, key in (one["loc"] for one in complaints if one["type"] == "extra_forbidden"):
        beside = [str(loc[-1]) for loc in missing if [*loc[:-1]] == above]
        misspelt |= {(*above, near) for near in get_close_matches(str(key), beside, 1)}
    faults = []
    for complaint in complaints:
        if complaint["type"] == "missing" and complaint["loc"] in misspelt:
            continue  # the fault about the wrong spelling says it better
        place = tuple(str(part) for part in complaint["loc"])
        kind, subject = None, ""
        if place[:1] == ("attributes",) and place[1:]:
            subject = f"attribute {place[1]!r}: "
            if len(place) > 2:  # the tag of the union's member, which is no key of the file
                kind, place = place[2], (*place[:2], *place[3:])
        elif place[1:] and place[0] in _PARTS:
            kind, subject = place[0], f"{place[0]}: "
        what, hint = _explain(complaint["type"], complaint["input"], place, kind)
        faults.append((place, subject + what, hint))
    return faults


def _explain(rule: str, value: Any, place: tuple[str, ...], kind: str | None) -> tuple[str, str]:
    key = place[-1] if place else ""
    if rule in ("union_tag_not_found", "union_tag_invalid"):
        return _no_kind(value)
    if rule == "extra_forbidden":
        return _unknown_key(key, kind)
    if rule == "missing":
        return f"the key {key!r} is missing", _MISSING.get(key, f"Add a line {key}: ...")
    if "ignore" in place:
        hint = "Write, for example, ignore: [case]; it can be case, spaces, zeros."
        return "ignore does not name differences between values", hint
    if rule == "literal_error":
        return _wrong_choice(key, value, kind)
    if rule.startswith(("int", "greater_than")):
        least, usual = (2, 10) if key == "fan_out" else (1, 1)
        what = f"{key} is not a whole number of at least {least}"
        return what, f"Write, for example, {key}: {usual}."
    if rule.startswith(("list", "too_")) and "unit_name" in place:
        return "unit_name is not two names", "Write unit_name: [encounter, encounters]."
    if rule.startswith(("list", "tuple")):
        return f"{key} is not a list", f"Write {key}: [{'...' if value is None else value}]."
    if rule.startswith("bool"):
        return f"{key} is neither true nor false", f"Write {key}: true, or remove the line."
    if rule.startswith(("dict", "model")):
        column = "Write one column a line, such as  age: {type: numeric, low: 0, high: 120}."
        return f"{key or 'the schema'} is not a mapping of keys to values", HINTS.get(key, column)
    return f"{key} is not a single text or number", f"Write one value after {key}:."


def _wrong_choice(key: str, value: Any, kind: str | None) -> tuple[str, str]:
    what = f"{key} is {_quote(value)}"
    if key == "outside" and value == "clip":
        return "only numbers can be clipped to their bounds", "Use error, other or drop."
    if key == "separator":
        return "items cannot be separated by this", 'Write " ", ",", ";", "|" or "\\t".'
    if key in ("role", "unit"):
        return what, _UNIT if key == "unit" else _choose(value, _ROLES)
    annotation: Any = _model(kind).model_fields[key].annotation
    parts = [part for part in annotation.__args__ if part is not type(None)]
    choices = [text for part in parts for text in getattr(part, "__args__", (part,))]
    if key in ("decimal", "thousands"):
        signs = " or ".join(f'"{sign}"' for sign in choices)
        return what, f"Write {signs}, with the quotes."
    return what, _choose(value, choices)


def _no_kind(value: Any) -> tuple[str, str]:
    if not isinstance(value, dict):
        hint = "Write one, such as {type: numeric, low: 0, high: 120} or {role: identifier}."
        return "there is no description of the column", hint
    if "type" in value:
        return f"type is {_quote(value['type'])}", _choose(value["type"], _TYPES)
    if "role" in value and value["role"] not in _ROLES:
        return f"role is {_quote(value['role'])}", _choose(value["role"], _ROLES)
    for key in value:
        near = get_close_matches(str(key), ("type", "role"), 1)
        if near:
            return f"unknown key {key!r}", f"Did you mean {near[0]!r}?"
    return "the key 'type' is missing", f"Add one: type can be {', '.join(_TYPES)}."


def _unknown_key(key: str, kind: str | None) -> tuple[str, str]:
    keys = list(_model(kind).model_fields)
    close, listing = get_close_matches(key, keys, 1), ", ".join(keys)
    if close:
        return f"unknown key {key!r}", f"Did you mean {close[0]!r}?"
    if kind is None:
        return f"unknown key {key!r}", f"The keys at the top are {listing}."
    if kind not in _PARTS and any(key in other.model_fields for other in ATTRIBUTE_MODELS.values()):
        owner = "an identifier" if kind == "identifier" else f"a {kind} column"
        return f"the key {key!r} is not for {owner}", f"Remove it; the keys are {listing}."
    return f"unknown key {key!r}", f"The keys here are {listing}."


def _model(kind: str | None) -> type[_Model]:
    return _PARTS.get(kind) or ATTRIBUTE_MODELS[str(kind)]


def _quote(value: Any) -> str:
    return repr(value) if isinstance(value, str) else "not a single text"


def _choose(value: Any, options: Sequence[str]) -> str:
    if len(options) == 1:
        return f"Use {options[0]}."
    close = get_close_matches(str(value), options, 1)
    return f"{f'Did you mean {close[0]}? ' if close else ''}It can be {', '.join(options)}."
