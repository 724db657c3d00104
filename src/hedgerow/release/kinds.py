"""The kinds of release: the only list of them, by the word that a manifest uses.

A new kind is a file with a child of `hedgerow.release.base.Release`, and a line here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hedgerow.release.base import Release

KINDS: dict[str, str] = {
    "table": "hedgerow.release.table:TableRelease",
    "marginals": "hedgerow.release.marginals:MarginalsRelease",
    "transactions": "hedgerow.release.transactions:TransactionsRelease",
    "rows": "hedgerow.release.rows:RowsRelease",
}
"""Names, and the class of each as "module:name", which is loaded when it is needed."""


def kind_class(name: str) -> type[Release]:
    """The class of a kind.

    Example:
        >>> kind_class("rows").__name__
        'RowsRelease'
    """
    module, _, cls = KINDS[name].partition(":")
    found: type[Release] = getattr(import_module(module), cls)
    return found


def all_files() -> frozenset[str]:
    """The files of all kinds, the manifest aside."""
    return frozenset(file for name in KINDS for file in kind_class(name).file_names())
