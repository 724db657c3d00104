"""Dropped columns by which people have several rows, while a release protects single ones.

What is found here depends on private data. It is told to whoever holds the data, and must not
become part of a release, nor change one.
"""

from __future__ import annotations

from typing import Any

from hedgerow.table.drafting.guess import guess_column
from hedgerow.table.stream import RowStream

__all__ = ["SeveralRows"]


class SeveralRows:
    """Looks whether a column that seems to identify people, and is dropped, has values twice.

    Args:
        stream: The table, before it is read: dropped columns are then read too. With a column that
            has the role of the person there is nothing to find.

    Example:
        >>> import pyarrow as pa
        >>> from hedgerow.schema import Schema
        >>> schema = Schema.from_dict({"name": "ward", "unit": "row", "attributes": {
        ...     "patient_nbr": {"role": "identifier"},
        ...     "age": {"type": "numeric", "low": 0, "high": 99}}})
        >>> stream = RowStream(pa.table({"patient_nbr": [8, 9, 8], "age": [30, 40, 31]}), schema)
        >>> seen = SeveralRows(stream)
        >>> for _, batch in stream.batches():
        ...     seen.add(batch)
        >>> seen.warnings()[0].split(":")[0]
        'patient_nbr repeats'
    """

    def __init__(self, stream: RowStream) -> None:
        names = stream.source.names
        dropped = stream.schema.identifiers if stream.schema.person is None else ()
        self._parts: dict[str, list[Any]] = {name: [] for name in dropped if name in names}
        self._first = len(stream.wanted)
        stream.wanted += [names.index(name) for name in self._parts]

    def add(self, batch: Any) -> None:
        """Looks at the rows of a batch."""
        for place, parts in enumerate(self._parts.values(), start=self._first):
            parts.append(batch.column(place))

    def warnings(self) -> list[str]:
        """What a steward should hear; neither a value nor a number of rows is named."""
        guesses = {name: guess_column(name, parts).people for name, parts in self._parts.items()}
        return [
            f"{name} repeats: one person may have several rows, and `unit: row` protects one row "
            "only, so such a person is protected less than epsilon says. If it identifies people, "
            "write `unit: person`, and `role: person` with `max_rows` for this column. (NOT "
            "PRIVATE: for the holder of the data alone.)"
            for name, people in guesses.items()
            if people is not None and people.rank and people.repeats
        ]
