"""Public knowledge about a table: its attributes, their taxonomies and their roles.

Nothing in this package is computed from private data. The readers of files are loaded when
they are first used, since they need packages that are slow to import.
"""

from __future__ import annotations

from hedgerow.schema.attributes import Attribute, Categorical, Numeric
from hedgerow.schema.schema import Person, Schema
from hedgerow.schema.taxonomy import Taxonomy

__all__ = ["Attribute", "Categorical", "Numeric", "Person", "Schema", "Taxonomy"]
