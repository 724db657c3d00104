"""Private data as integer codes: readers, encoders with their error reports, `Table`, `Baskets`."""

from hedgerow.table.baskets import Baskets, read_baskets
from hedgerow.table.draft import draft_schema
from hedgerow.table.frames import frame_kind, to_frame
from hedgerow.table.table import CodeMatrix, Table, encode_rows, read

__all__ = [
    "Baskets",
    "CodeMatrix",
    "Table",
    "draft_schema",
    "encode_rows",
    "frame_kind",
    "read",
    "read_baskets",
    "to_frame",
]
