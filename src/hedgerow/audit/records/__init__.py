"""What is known of the records of each kind of data, so that attacks need not ask which it is."""

from __future__ import annotations

from hedgerow.audit.records.base import EXTRA, Codes, Pick, Records, Rows
from hedgerow.audit.records.tables import TableRecords, published_count
from hedgerow.audit.records.transactions import TransactionRecords
from hedgerow.schema import Schema

__all__ = ["EXTRA", "Codes", "Pick", "Records", "Rows", "crowded", "published_count", "records_of"]

_KINDS: dict[str, type[Records]] = {"table": TableRecords, "transactions": TransactionRecords}


def records_of(schema: Schema) -> Records:
    """The records that a schema describes.

    Example:
        >>> shop = {"name": "shop", "unit": "row", "items": {"universe": {"range": [1, 3]}}}
        >>> records_of(Schema.from_dict(shop)).possible()
        7
    """
    return _KINDS[schema.kind](schema)


def crowded(kind: str) -> tuple[Schema, Codes, list[Codes]]:
    """A schema, the line that most people of a small file have, and many lines of one person.

    Args:
        kind: The kind of data: "table" or "transactions".
    """
    return _KINDS[kind].crowded()
