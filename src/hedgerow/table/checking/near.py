"""Values that differ from the schema's only in case or spaces, with what was meant. NOT PRIVATE.

This quotes private data. It is for whoever holds the data and looks whether it follows a schema,
and must not become part of a release, of a log or of what publishing says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from hedgerow.schema.attributes import Attribute, Categorical
from hedgerow.table.encode import ALIKE, encode_array, listed, plain_array, text_of
from hedgerow.table.notation import NEAR
from hedgerow.table.readers.source import Source

__all__ = ["NearValues"]

_SHOWN = 5


class NearValues:
    """Finds such values batch by batch.

    Args:
        attributes: The attributes, in the order of the columns.

    Example:
        >>> from hedgerow.schema import Taxonomy
        >>> seen = NearValues([Categorical("sex", Taxonomy.flat(["Female", "Male"]))])
        >>> seen.add(0, pa.record_batch({"sex": ["Male", "male", "x"]}), {"sex": {NEAR: 1}})
        >>> seen.warnings(Source(what="people.csv", names=("sex",),
        ...     batches=lambda columns: iter(())))
        ["people.csv, column 'sex': 'male' (row 2) is not in the schema, did you mean 'Male'? This
        quotes private data."]
    """

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self._attributes = attributes
        self._found: dict[str, dict[str, tuple[str, int]]] = {}

    def add(self, first_row: int, batch: Any, shapes: dict[str, dict[int, int]]) -> None:
        """Looks at a batch; `shapes` says which of its columns hold such values."""
        for place, attribute in enumerate(self._attributes):
            if not isinstance(attribute, Categorical) or NEAR not in shapes.get(attribute.name, {}):
                continue
            known = self._found.setdefault(attribute.name, {})
            leaves = attribute.taxonomy.leaves
            alike = ALIKE.forms(leaves)
            column = plain_array(batch.column(place), attribute.name)
            near = (encode_array(attribute, column) == NEAR).nonzero()[0]
            for row, value in zip(near.tolist(), listed(column.take(pa.array(near))), strict=True):
                text = text_of(value)
                if text is not None and text not in known and len(known) < _SHOWN:
                    known[text] = leaves[alike[ALIKE.form(text)]], first_row + row

    def warnings(self, source: Source) -> list[str]:
        """What was found, with lines, values and what was probably meant."""
        told = []
        for column, found in self._found.items():
            rows = [row for _, row in found.values()]
            words = [
                f"{text!r} ({where}) is not in the schema, did you mean {leaf!r}?"
                for (text, (leaf, _)), where in zip(found.items(), source.places(rows), strict=True)
            ]
            told.append(
                f"{source.what}, column {column!r}: {' '.join(words)} This quotes private data."
            )
        return told
