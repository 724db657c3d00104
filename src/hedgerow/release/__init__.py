"""What a recipient opens: the kinds of release, their files and their manifest."""

from hedgerow.release.files import check_target, read_manifest
from hedgerow.release.rows import RowsRelease
from hedgerow.release.table import Release
from hedgerow.release.transactions import TransactionsRelease

__all__ = ["TransactionsRelease", "Release", "RowsRelease", "check_target", "read_manifest"]
