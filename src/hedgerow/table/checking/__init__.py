"""What the holder of a table should hear about it: for their eyes, never part of a release."""

from hedgerow.table.checking.rows import check_rows

__all__ = ["check_rows"]
