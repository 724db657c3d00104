"""What a recipient opens: the kinds of release, their files and their manifest."""

from hedgerow.release.base import Release
from hedgerow.release.description import Description
from hedgerow.release.files import check_target, read_manifest
from hedgerow.release.rows import RowsRelease
from hedgerow.release.table import TableRelease
from hedgerow.release.transactions import TransactionsRelease

__all__ = [
    "Description",
    "Release",
    "RowsRelease",
    "TableRelease",
    "TransactionsRelease",
    "check_target",
    "read_manifest",
]
