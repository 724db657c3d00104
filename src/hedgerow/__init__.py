"""Tables about people, published under differential privacy.

    import hedgerow as hr

Before: what is publicly known of each column
    schema = hr.Schema.load("schema.yaml")
    schema = hr.Schema.draft(data, unit="row")     # a draft, which a person corrects and signs

Publish (data: a frame, or the path of CSV, Parquet or a workbook)
    release = hr.publish(data, schema, epsilon=1)                    # Marginals, or DiffPart
    release = hr.publish(data, schema, hr.DiffMulti(), epsilon=1, delta=1e-6, out="release/")

Ask (nothing here needs the data)
    release = hr.load("release/")
    release.table("age"), release.table("age", by="sex", share=True).pivot()
    release.count("age < 50 and smoker = yes"), release.count_all()
    release.mean("age", by="sex"), release.sum("age"), release.quantile("age", [0.25, 0.5])
    release.sample(1000), release.predict(rows), release.plot("age", by="sex")
    every answer: ["estimate"], ["low"], ["high"], .to_pandas(), .to_polars(), .to_arrow()

Keep and check
    release.save("release/"), release.to_excel("release.xlsx"), release.to_html("release.html")
    release.epsilon, release.delta, release.schema, release.guarantee
    assert hr.verify("release/")                   # a verdict, which is false where a check fails
    hr.BudgetLedger("clinic.ledger")               # what all releases of the data cost together

Compare (with data the result is NOT PRIVATE)
    hr.evaluate(data, release).to_frame(), hr.compare([release, other])

Methods: Marginals, DiffMulti, DiffGen, CDiffGen, DiffPart (transactions), Supermodular.
Modules: hedgerow.sklearn (estimators), hedgerow.extend (methods of your own), hedgerow.errors,
hedgerow.sample (simulated data), hedgerow.evaluation. `help(hr.publish)` and its like say more.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from hedgerow.registry import OURS as _OURS

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

# Loading numpy, Arrow and numba takes most of a second, which `hedgerow --help` and a script that
# only reads a schema need not wait for: names are fetched from their rooms on first use.
_ROOMS = {
    "hedgerow.data": "Database",
    "hedgerow.evaluation.compare": "compare",
    "hedgerow.evaluation.scorecard": "evaluate",
    "hedgerow.ledger.ledger": "BudgetLedger",
    "hedgerow.methods.api": "publish",
    "hedgerow.methods.clusters": "publish_clusters",
    "hedgerow.release": "MarginalsRelease Release RowsRelease TableRelease TransactionsRelease "
    "load",
    "hedgerow.schema": "Query Schema",
    "hedgerow.verification": "verify",
}
_PACKAGES = {name: room for room, names in _ROOMS.items() for name in names.split()}
for _method in _OURS.values():
    _module, _, _name = _method.settings.partition(":")
    _PACKAGES[_name] = _module

__all__ = sorted([*_PACKAGES, "__version__", "errors"])

_MODULES = ("errors", "evaluation", "sample", "sklearn")


if not TYPE_CHECKING:  # to a type checker, a name that is not listed above is a mistake

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return _import_module(f"hedgerow.{name}")
        if name in _PACKAGES:
            value = getattr(_import_module(_PACKAGES[name]), name)
            globals()[name] = value
            return value
        from hedgerow.suggestions import MODULE, answer_name, fill

        answer = answer_name(name, [*__all__, *_MODULES], MODULE, lambda one: fill(MODULE, one))
        raise AttributeError(f"module 'hedgerow' has no attribute {name!r}{answer}", name=name)


def __dir__() -> list[str]:
    return sorted({*__all__, "__doc__", "__file__", "__name__", "__path__"})
