"""What a recipient opens: the kinds of release, their files and their manifest.

A kind is loaded when it is first needed: a release is of one kind.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from hedgerow.release.base import Description, Release
from hedgerow.release.files import KINDS, check_target, kind_class, read_manifest

if TYPE_CHECKING:
    from hedgerow.release.table_releases import MarginalsRelease, RowsRelease, TableRelease
    from hedgerow.release.transactions import TransactionsRelease

__all__ = [
    "Description",
    "MarginalsRelease",
    "Release",
    "RowsRelease",
    "TableRelease",
    "TransactionsRelease",
    "check_target",
    "load",
    "read_manifest",
]


def load(path: str | os.PathLike[str], *, kind: str = "arrow") -> Release:
    """Opens a release of any kind: see `Release.load`.

    Args:
        path: The folder.
        kind: The kind of frame that answers come in: "arrow", "pandas" or "polars".

    Example:
        >>> load("people.csv")
        Traceback (most recent call last):
        hedgerow.errors.ReleaseError: people.csv is not a folder, so it is not a release
          Give the folder that `hedgerow publish` wrote.
    """
    return Release.load(path, kind=kind)


def __getattr__(name: str) -> Any:
    for kind, path in KINDS.items():
        if path.endswith(f":{name}"):
            return kind_class(kind)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
