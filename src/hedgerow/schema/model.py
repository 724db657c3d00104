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

__all__ = [
    "ATTRIBUTE_MODELS",
    "BooleanModel",
    "CategoricalModel",
    "IdentifierModel",
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
Tree = Annotated[Any, WithJsonSchema({"type": ["string", "object", "array"], "minItems": 1})]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NumericModel(_Model):
    """A column of integers, decimal numbers or dates, on a public grid."""

    type: Literal["numeric"]
    low: Number = Field(description="The smallest value; a number, or a date such as 2020-01-31.")
    high: Number = Field(description="The largest value, itself included.")
    step: Number | None = Field(
        None, description="The distance of grid points; days for dates. Needed for decimals."
    )
    role: Literal["predictor"] = Field("predictor", description="Numbers are always predictors.")
    missing: Literal["error", "other", "drop"] = Field(
        "error", description="What happens to a missing value."
    )
    outside: Literal["error", "other", "clip", "drop"] = Field(
        "error", description="What happens to a value outside the bounds."
    )


class CategoricalModel(_Model):
    """A column of texts, with a flat list of values or a taxonomy."""

    type: Literal["categorical"]
    values: Values = Field(None, description="The values; beside a taxonomy, a check on it.")
    taxonomy: Tree = Field(
        None, description="The path of a YAML or ARX file, or the taxonomy itself, nested."
    )
    root: Label | None = Field(None, description="The label of the root.")
    role: Literal["predictor", "class"] = Field(
        "predictor", description="The class is what the release should help to predict."
    )
    missing: Literal["error", "other", "drop"] = Field(
        "error", description="What happens to a missing value."
    )
    outside: Literal["error", "other", "drop"] = Field(
        "error", description="What happens to a value outside the taxonomy."
    )


class BooleanModel(_Model):
    """A column of truth values."""

    type: Literal["boolean"]
    role: Literal["predictor", "class"] = Field(
        "predictor", description="The class is what the release should help to predict."
    )
    missing: Literal["error", "other", "drop"] = Field(
        "error", description="What happens to a missing value."
    )
    outside: Literal["error", "other", "drop"] = Field(
        "error", description="What happens to a value that is neither true nor false."
    )


class IdentifierModel(_Model):
    """A column that is dropped."""

    role: Literal["identifier"]


class PersonModel(_Model):
    """The column that tells people apart. It is not published."""

    role: Literal["person"]
    max_rows: int = Field(ge=1, description="The most rows that count for one person.")


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
    draft: bool = Field(
        False, description="A draft cannot be published by; remove the line after reading it."
    )
    began_as_draft: bool = Field(
        False, description="The schema was drafted from private data; the line stays."
    )
    attributes: dict[str, AttributeModel] = Field(description="The columns by their names.")


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a schema file, for editors and other programs.

    Example:
        >>> sorted(json_schema()["properties"])
        ['attributes', 'began_as_draft', 'draft', 'name']
    """
    schema = SchemaModel.model_json_schema()
    for model in (schema, *schema["$defs"].values()):
        for key in model["properties"].values():
            if key.get("default", ...) is None:  # a key that may be left out, but not be null
                del key["default"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema
