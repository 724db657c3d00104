"""hedgerow: tables about people, published under differential privacy by generalisation.

Everything a script needs hangs on this module, and is loaded when it is first used:

    import hedgerow as hr

    schema = hr.Schema.load("schema.yaml")
    release = hr.publish("people.parquet", schema, method=hr.DiffMulti(), epsilon=1)
    release.save("release/")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hedgerow.methods import OURS

if TYPE_CHECKING:
    from hedgerow import errors as errors
    from hedgerow.privacy.budget_ledger.ledger import BudgetLedger as BudgetLedger
    from hedgerow.publish.api import publish as publish
    from hedgerow.publish.cdiffgen import CDiffGen as CDiffGen
    from hedgerow.publish.diffgen import DiffGen as DiffGen
    from hedgerow.publish.diffmulti import DiffMulti as DiffMulti
    from hedgerow.publish.diffpart import DiffPart as DiffPart
    from hedgerow.publish.supermodular import Supermodular as Supermodular
    from hedgerow.release import Release as Release
    from hedgerow.release import RowsRelease as RowsRelease
    from hedgerow.release import TableRelease as TableRelease
    from hedgerow.release import TransactionsRelease as TransactionsRelease
    from hedgerow.schema import Query as Query
    from hedgerow.schema import Schema as Schema
    from hedgerow.table import Database as Database
    from hedgerow.verification import verify as verify

__version__ = "0.2.0.dev0"

__all__ = [
    "BudgetLedger",
    "CDiffGen",
    "Database",
    "DiffGen",
    "DiffMulti",
    "DiffPart",
    "Query",
    "Release",
    "RowsRelease",
    "Schema",
    "Supermodular",
    "TableRelease",
    "TransactionsRelease",
    "__version__",
    "errors",
    "publish",
    "verify",
]

# Loading numpy, Arrow and numba takes most of a second, which `hedgerow --help` and a script that
# only reads a schema need not wait for: names are fetched from their rooms on first use.
_PACKAGES = {
    "BudgetLedger": "hedgerow.privacy.budget_ledger.ledger",
    "Database": "hedgerow.table",
    "Query": "hedgerow.schema",
    "Release": "hedgerow.release",
    "RowsRelease": "hedgerow.release",
    "Schema": "hedgerow.schema",
    "TableRelease": "hedgerow.release",
    "TransactionsRelease": "hedgerow.release",
    "verify": "hedgerow.verification",
}
for _method in OURS.values():
    _module, _, _name = _method.settings.partition(":")
    _PACKAGES[_name] = _module


def __getattr__(name: str) -> Any:
    if name in ("errors", "publish"):  # modules; `hedgerow.publish` can be called like a function
        return import_module(f"hedgerow.{name}")
    if name in _PACKAGES:
        value = getattr(import_module(_PACKAGES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'hedgerow' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, "__doc__", "__file__", "__name__", "__path__"})
