"""The shape of a schema file, as pydantic models, and its published JSON Schema.

The models check keys and simple values. Numbers, values and taxonomies arrive as they were
written, since their meaning depends on each other; `build` reads them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    WithJsonSchema,
)

from hedgerow.schema.attributes import MOST_BANDS, MOST_COMMON
from hedgerow.schema.written import Encoding

__all__ = [
    "ATTRIBUTE_MODELS",
    "BooleanModel",
    "CategoricalModel",
    "FileModel",
    "IdentifierModel",
    "ItemsModel",
    "MetadataModel",
    "NumericModel",
    "PersonModel",
    "SchemaModel",
    "json_schema",
]

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
        None, ge=2, description="Without a taxonomy, how many neighbours are grouped (10)."
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
    licence: Label | None = Field(None, description="The terms of use of the release.")
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
