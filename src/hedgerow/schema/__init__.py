"""Public knowledge: attributes, items, taxonomies, roles, and the words of queries.

Nothing in this package is computed from private data.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hedgerow.schema.attributes import Attribute, Categorical, Layout, Numeric
from hedgerow.schema.items import Items
from hedgerow.schema.relations import CLASS, NamedTable, Rule
from hedgerow.schema.schema import Metadata, Person, Schema, refuse_no_unit
from hedgerow.schema.taxonomy import Taxonomy

if TYPE_CHECKING:
    from hedgerow.schema.model import json_schema
    from hedgerow.schema.query import Query, Vocabulary, read_queries
    from hedgerow.schema.trees import read_arx, write_arx

__all__ = [
    "CLASS",
    "Attribute",
    "Categorical",
    "Items",
    "Layout",
    "Metadata",
    "NamedTable",
    "Numeric",
    "Person",
    "Query",
    "Rule",
    "Schema",
    "Taxonomy",
    "Vocabulary",
    "json_schema",
    "read_arx",
    "read_queries",
    "refuse_no_unit",
    "write_arx",
]


# loaded when they are first used, since some need packages that are slow to import
_LATER = {
    "Query": "query",
    "Vocabulary": "query",
    "json_schema": "model",
    "read_arx": "trees",
    "read_queries": "query",
    "write_arx": "trees",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
