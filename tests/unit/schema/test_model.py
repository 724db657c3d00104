"""The published JSON Schema is the one the code stands by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hedgerow.schema.model import ATTRIBUTE_MODELS, json_schema

PUBLISHED = Path(__file__).parents[3] / "docs" / "schema.json"


def said(node: Any) -> Any:
    """What a JSON schema says; older versions of pydantic leave out what follows from the rest."""
    if isinstance(node, list):
        return [said(one) for one in node]
    if not isinstance(node, dict):
        return node
    follows = {"type"} if isinstance(node.get("const"), str) else set()
    follows |= {"default"} if "default" in node and node["default"] is None else set()
    return {key: said(value) for key, value in node.items() if key not in follows}


def test_the_published_json_schema_is_current() -> None:
    found = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    assert said(found) == said(json_schema()), (
        "write json.dumps(hedgerow.schema.model.json_schema(), indent=2) to docs/schema.json"
    )


def test_every_kind_of_column_is_in_it_and_unknown_keys_are_not() -> None:
    schema = json_schema()
    options = schema["properties"]["attributes"]["additionalProperties"]["oneOf"]
    assert len(options) == len(ATTRIBUTE_MODELS)
    assert schema["additionalProperties"] is False
    assert all(model["additionalProperties"] is False for model in schema["$defs"].values())
