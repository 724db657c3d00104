"""Private data as integer codes: readers, encoders, error reports, `Table`, `Transactions`."""

from hedgerow.data.frames import read_column, read_columns, to_frame
from hedgerow.data.open_input import refuse_same_source
from hedgerow.data.people import WeightColumns, read_weight_file
from hedgerow.data.preparation import check_transactions, read_prepared
from hedgerow.data.source import Database, FrameKind, frame_kind, refuse_mixing
from hedgerow.data.table import (
    CodeMatrix,
    RowStream,
    Table,
    collect,
    encode_rows,
    read,
    read_public,
)
from hedgerow.data.transactions import Transactions, read_records, read_transactions

__all__ = [
    "Transactions",
    "CodeMatrix",
    "Database",
    "FrameKind",
    "RowStream",
    "Table",
    "WeightColumns",
    "check_transactions",
    "collect",
    "encode_rows",
    "frame_kind",
    "read",
    "read_column",
    "read_columns",
    "read_prepared",
    "read_transactions",
    "read_records",
    "read_public",
    "read_weight_file",
    "refuse_mixing",
    "refuse_same_source",
    "to_frame",
]
