"""Public knowledge: attributes, items, taxonomies, roles, and the words of queries.

Nothing in this package is computed from private data.
"""

from __future__ import annotations

from hedgerow.schema.attributes import Attribute, Categorical, Layout, Numeric
from hedgerow.schema.items import Items
from hedgerow.schema.query import Query, Vocabulary, read_queries
from hedgerow.schema.relations import CLASS, NamedTable, Rule
from hedgerow.schema.schema import Metadata, Person, Schema, refuse_no_unit
from hedgerow.schema.taxonomy import Taxonomy
from hedgerow.schema.taxonomy_files import read_arx, write_arx

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
    "read_arx",
    "read_queries",
    "refuse_no_unit",
    "write_arx",
]
