"""Values of a schema that nobody in the data has: something for the steward to hear, on request.

What is found here depends on private data. It is told to whoever holds the data, and must not
become part of a release, nor change one: a value that nobody has belongs in a schema all the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hedgerow.schema.attributes import Attribute, Categorical
from hedgerow.table.encode import Codes
from hedgerow.table.rules import other_code

__all__ = ["UnusedValues"]

_TOLD = 10  # values that are named


class UnusedValues:
    """Finds the leaves of taxonomies that no row has.

    Args:
        attributes: The attributes that are published, in the order of the codes.

    Example:
        >>> from hedgerow.schema import Schema
        >>> columns = {"ward": {"type": "categorical", "values": ["a", "b", "c"]}}
        >>> unused = UnusedValues(Schema.from_dict({"name": "x", "attributes": columns}).attributes)
        >>> unused.add([np.array([0, 0, 2])])
        >>> unused.found()
        {'ward': ['b']}
    """

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self._held = [
            (place, attribute, np.zeros(attribute.size, bool))
            for place, attribute in enumerate(attributes)
            if isinstance(attribute, Categorical)
        ]

    def add(self, columns: Sequence[Codes]) -> None:
        """Looks at the codes of a batch of rows, one array for each attribute."""
        for place, _, seen in self._held:
            seen[columns[place]] = True

    def found(self) -> dict[str, list[str]]:
        """The values that nobody has, by attribute; `other` is no value of a taxonomy."""
        unused = {}
        for _, attribute, seen in self._held:
            other = "other" in (attribute.missing, attribute.outside) and other_code(attribute)
            gone = [
                leaf for code, leaf in enumerate(attribute.taxonomy.leaves)
                if not seen[code] and (other is False or code != other)
            ]  # fmt: skip
            if gone:
                unused[attribute.name] = gone
        return unused

    def warnings(self, what: str) -> list[str]:
        """What a steward hears who asked for it; it names values.

        Args:
            what: How messages call the data.
        """
        told = []
        for name, gone in self.found().items():
            shown = ", ".join(map(repr, gone[:_TOLD])) + (", ..." if len(gone) > _TOLD else "")
            told.append(
                f"{what}, column {name!r}: NOT PRIVATE: no row has {len(gone)} of its values: "
                f"{shown}. Look for misspelt ones, and leave the others in the schema: that "
                "nobody has them is a fact about the people in the data."
            )
        return told
