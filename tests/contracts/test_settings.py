"""Settings are checked by type, whatever has them: what is meant for another type is refused."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import hedgerow
from hedgerow.audit import audit
from hedgerow.counting.pick_engine import Counting
from hedgerow.data import Database, WeightColumns
from hedgerow.errors import HedgerowError, UsageError
from hedgerow.evaluation.scorecard import evaluate
from hedgerow.evaluation.simulate import simulate
from hedgerow.ledger.ledger import BudgetLedger
from hedgerow.methods.api import publish
from hedgerow.methods.clusters import Centroids, find_centroids
from hedgerow.methods.publisher import Publisher
from hedgerow.registry import OURS, load
from hedgerow.release.files import check_target
from hedgerow.schema import Categorical, Items, Numeric, Schema, Taxonomy
from hedgerow.schema.schema import Person
from papers.baselines.cells import ContingencyTable, DPCube, ItemsetTable
from papers.baselines.trees import RPS, DiffPC45

COLORS = Taxonomy.from_nested("any", ["red", "blue"])
SCHEMA = Schema(name="s", attributes=(Categorical("color", COLORS),), unit="row")

# What is tried everywhere, by kind. None of these words is one that a setting knows.
TRIED: dict[str, Any] = {
    "bool": True, "word": "no such word", "float": 1.5, "nan": float("nan"),
    "inf": float("inf"), "None": None, "list": [1], "bytes": b"1", "object": object(),
    "numpy int": np.int64(3), "numpy bool": np.bool_(True), "set": {1}, "class": int,
}  # fmt: skip

# Which of them an annotation allows; those that are not listed are refused.
NUMBER = {"word", "float", "numpy int"}
ALLOWED: dict[str, set[str]] = {
    "bool": {"bool", "numpy bool"},
    "bool | None": {"bool", "numpy bool", "None"},
    "int": {"numpy int"},
    "int | None": {"numpy int", "None"},
    "int | str": {"word", "numpy int"},
    "float": {"float", "numpy int"},
    "float | None": {"float", "numpy int", "None"},
    "str": {"word"},
    "str | None": {"word", "None"},
    "str | Path | None": {"word", "None"},
    "Number": NUMBER,
    "Any": set(TRIED),
    "MissingWeight": {"float", "numpy int"},
    "OutsideWeight": {"float", "numpy int"},
    "Mapping[str, Any] | str | os.PathLike[str] | None": {"word", "None"},
    "range | tuple[str, ...] | Taxonomy": {"list"},  # any list of labels
}

MADE: list[tuple[type, dict[str, Any]]] = [
    *((load(method.settings), {}) for method in OURS.values()),
    (ContingencyTable, {}),
    (ItemsetTable, {}),
    (DiffPC45, {}),
    (DPCube, {}),
    (RPS, {}),
    (Person, {"column": "who", "max_rows": 3}),
    (Schema, {"name": "s", "attributes": SCHEMA.attributes, "unit": "row"}),
    (Items, {"universe": range(1, 9)}),
    (Categorical, {"name": "color", "taxonomy": COLORS}),
    (
        Numeric,
        {"name": "age", "low": Fraction(0), "high": Fraction(9), "step": Fraction(1),
         "kind": "integer"},
    ),
    (Taxonomy, {"labels": ("any", "red", "blue"), "parents": (-1, 0, 0)}),
    (Database, {"url": "duckdb:///x.db", "table": "people"}),
    (WeightColumns, {"columns": ("minds",), "low": 0.0, "high": 10.0}),
    (Counting, {}),
    (Centroids, {"schema": SCHEMA, "points": np.zeros((2, 2))}),
]  # fmt: skip

CASES = [
    (kind, needed, field.name, str(field.type)) for kind, needed in MADE for field in fields(kind)
]


@pytest.mark.parametrize("kind, needed", MADE, ids=lambda one: getattr(one, "__name__", ""))
def test_what_is_meant_is_taken(kind: Callable[..., Any], needed: dict[str, Any]) -> None:
    kind(**needed)


@pytest.mark.parametrize(
    "kind, needed, name, hint",
    CASES,
    ids=[f"{kind.__name__}-{name}" for kind, _, name, _ in CASES],
)
def test_a_setting_of_another_type_is_refused(
    kind: Callable[..., Any], needed: dict[str, Any], name: str, hint: str
) -> None:
    optional = {"None"} if hint.endswith("| None") else set()  # also where a word is wanted
    for tried in TRIED.keys() - ALLOWED.get(hint, optional):
        with pytest.raises(UsageError, match=name) as found:
            kind(**needed | {name: TRIED[tried]})
        assert found.value.hint, tried


def methods(kind: Any = Publisher) -> set[type]:
    """Every method of the package, however deep."""
    below = set().union(*(methods(one) for one in kind.__subclasses__()))
    own = kind.__module__.startswith("hedgerow.") and not inspect.isabstract(kind)
    return below | ({kind} if own else set())


def test_no_method_is_left_out() -> None:
    assert methods() <= {kind for kind, _ in MADE}


def test_a_text_is_not_a_truth_value() -> None:
    with pytest.raises(UsageError, match="thorough cannot be of type str") as found:
        hedgerow.Supermodular(thorough="no")  # type: ignore[arg-type]
    assert found.value.hint == "It takes True or False."


def test_numbers_of_python_are_taken() -> None:
    assert hedgerow.Supermodular(risk=1, floor=np.float64(0.5)).risk == 1
    assert hedgerow.DiffPart(c1=3).c1 == 3


CALLS: list[tuple[Callable[..., Any], dict[str, Any], dict[str, Any]]] = [
    (
        publish,
        {"data": "no.csv", "schema": SCHEMA},
        {"schema": 3, "method": 3, "epsilon": True, "delta": [0], "seed": 1.0,
         "delimiter": 3, "engine": True, "memory": 1e9, "scratch": 3, "scheduler": 3,
         "progress": 3, "stage": "s", "ledger": 3, "dataset": 3},
    ),
    (
        find_centroids,
        {"data": "no.csv", "schema": SCHEMA},
        {"schema": 3, "clusters": True, "epsilon": None, "rounds": 2.0, "seed": "1",
         "ledger": 3, "dataset": 3},
    ),
    (check_target, {"path": "no"}, {"path": 3, "overwrite": "no"}),
    (BudgetLedger, {}, {"path": 3}),
    (
        BudgetLedger("no.ledger").open,
        {"name": "clinic", "epsilon": 1},
        {"name": 3, "epsilon": True, "delta": None},
    ),
    (
        evaluate,
        {"data": "no.csv", "release": "no"},
        {"release": 3, "queries": True, "seed": None, "delimiter": 3},
    ),
    (
        simulate,
        {"schema": SCHEMA, "methods": [], "epsilons": [1]},
        {"schema": "s", "delta": None, "rows": 1.5, "runs": "1", "dependence": "much",
         "seed": None},
    ),
    (
        audit,
        {"name": "diffmulti"},
        {"name": 3, "schema": "s", "epsilon": True, "runs": 1.5, "seconds": float("nan"),
         "seed": True, "window": [0, 1], "most_paths": None},
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    "call, needed, name, value",
    [
        pytest.param(call, needed, name, value, id=f"{call.__qualname__}-{name}")
        for call, needed, wrong in CALLS
        for name, value in wrong.items()
    ],
)
def test_an_argument_of_another_type_is_refused(
    call: Callable[..., Any], needed: dict[str, Any], name: str, value: Any
) -> None:
    with pytest.raises(HedgerowError, match=name) as found:
        call(**needed | {name: value})
    assert isinstance(found.value, UsageError)


def test_a_release_is_not_replaced_by_a_word(tmp_path: Any) -> None:
    rows = {"color": ["red", "blue"]}
    release = hedgerow.publish(__import__("pyarrow").table(rows), SCHEMA, seed=1)
    release.save(tmp_path / "release")
    with pytest.raises(UsageError, match="overwrite cannot be of type str"):
        release.save(tmp_path / "release", overwrite="no")  # type: ignore[arg-type]
