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

from hedgerow.registry import OURS

if TYPE_CHECKING:
    from hedgerow import errors as errors
    from hedgerow import evaluation as evaluation
    from hedgerow import sample as sample
    from hedgerow.data import Database as Database
    from hedgerow.evaluation.compare import compare as compare
    from hedgerow.evaluation.scorecard import evaluate as evaluate
    from hedgerow.ledger.ledger import BudgetLedger as BudgetLedger
    from hedgerow.methods.api import publish as publish
    from hedgerow.methods.cdiffgen import CDiffGen as CDiffGen
    from hedgerow.methods.clusters import publish_clusters as publish_clusters
    from hedgerow.methods.diffgen import DiffGen as DiffGen
    from hedgerow.methods.diffmulti import DiffMulti as DiffMulti
    from hedgerow.methods.diffpart import DiffPart as DiffPart
    from hedgerow.methods.marginals import Marginals as Marginals
    from hedgerow.methods.supermodular import Supermodular as Supermodular
    from hedgerow.release import MarginalsRelease as MarginalsRelease
    from hedgerow.release import Release as Release
    from hedgerow.release import RowsRelease as RowsRelease
    from hedgerow.release import TableRelease as TableRelease
    from hedgerow.release import TransactionsRelease as TransactionsRelease
    from hedgerow.release import load as load
    from hedgerow.schema import Query as Query
    from hedgerow.schema import Schema as Schema
    from hedgerow.verification import verify as verify

__version__ = "0.2.0.dev0"

__all__ = [
    "BudgetLedger",
    "CDiffGen",
    "Database",
    "DiffGen",
    "DiffMulti",
    "DiffPart",
    "Marginals",
    "MarginalsRelease",
    "Query",
    "Release",
    "RowsRelease",
    "Schema",
    "Supermodular",
    "TableRelease",
    "TransactionsRelease",
    "__version__",
    "compare",
    "errors",
    "evaluate",
    "load",
    "publish",
    "publish_clusters",
    "verify",
]

# Loading numpy, Arrow and numba takes most of a second, which `hedgerow --help` and a script that
# only reads a schema need not wait for: names are fetched from their rooms on first use.
_PACKAGES = {
    "BudgetLedger": "hedgerow.ledger.ledger",
    "Database": "hedgerow.data",
    "MarginalsRelease": "hedgerow.release",
    "Query": "hedgerow.schema",
    "Release": "hedgerow.release",
    "RowsRelease": "hedgerow.release",
    "Schema": "hedgerow.schema",
    "TableRelease": "hedgerow.release",
    "TransactionsRelease": "hedgerow.release",
    "compare": "hedgerow.evaluation.compare",
    "evaluate": "hedgerow.evaluation.scorecard",
    "load": "hedgerow.release",
    "publish": "hedgerow.methods.api",
    "publish_clusters": "hedgerow.methods.clusters",
    "verify": "hedgerow.verification",
}
for _method in OURS.values():
    _module, _, _name = _method.settings.partition(":")
    _PACKAGES[_name] = _module


_MODULES = ("errors", "evaluation", "sample", "sklearn")


if not TYPE_CHECKING:  # to a type checker, a name that is not listed above is a mistake

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return import_module(f"hedgerow.{name}")
        if name in _PACKAGES:
            value = getattr(import_module(_PACKAGES[name]), name)
            globals()[name] = value
            return value
        from hedgerow.suggestions import MODULE, nearest

        close = None if name.startswith("_") else nearest(name, [*__all__, *_MODULES])
        near = "" if close is None else f"; did you mean {close}?"
        meant = f"; write {MODULE[name]}" if name in MODULE else near
        raise AttributeError(f"module 'hedgerow' has no attribute {name!r}{meant}", name=name)


def __dir__() -> list[str]:
    return sorted({*__all__, "__doc__", "__file__", "__name__", "__path__"})
