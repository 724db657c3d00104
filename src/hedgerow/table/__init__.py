"""Private data as integer codes: readers, the encoder with its error report, `Table`."""

from hedgerow.table.draft import draft_schema
from hedgerow.table.frames import frame_kind, to_frame
from hedgerow.table.table import CodeMatrix, Table, encode_rows, read

__all__ = [
    "CodeMatrix",
    "Table",
    "draft_schema",
    "encode_rows",
    "frame_kind",
    "read",
    "to_frame",
]
