"""A plan that passes never stops a run: whatever could, was looked at before the first draw.

Every method of the registry is tried, as it comes and in the modes that are audited.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import hedgerow
from hedgerow.errors import HedgerowError, UsageError
from hedgerow.methods.clusters import publish_clusters
from hedgerow.privacy.curator import Curator
from hedgerow.registry import METHODS, load
from hedgerow.schema import Schema

pytestmark = pytest.mark.filterwarnings("ignore::hedgerow.errors.DataWarning")
CAPS = (1, 2, 3, 7, 30, 365, 366, 10_000, 999_983, 10**6)


def methods() -> list[Any]:
    """All methods: as they come, by the paper's schedule, and as they are audited."""
    several = []
    for name in METHODS:
        kind = load(METHODS[name].settings)
        several.append(kind())
        if "schedule" in {field.name for field in fields(kind)} and "paper" in kind.versions:
            several.append(kind(schedule="paper"))
        for audited in load(METHODS[name].audited):
            several += audited.modes
    several.append(hedgerow.Supermodular(model="least-risk", least_utility=9))
    # noise alone makes trees grow: a few partitions are enough to see every draw
    several = [
        replace(one, max_partitions=50) if hasattr(one, "max_partitions") else one
        for one in several
    ]
    return list({repr(method): method for method in several}.values())


def attributes(draw: st.DrawFn) -> dict[str, Any]:
    number = draw(st.integers(1, 5))
    columns: dict[str, Any] = {}
    for place in range(number):
        size = draw(st.sampled_from((1, 2, 5, 99, 1000)))
        columns[f"a{place}"] = draw(
            st.sampled_from((
                {"type": "numeric", "low": 0, "high": size},
                {"type": "numeric", "low": 0, "high": size, "scale": "log", "outside": "other"},
                {"type": "categorical", "values": [f"v{code}" for code in range(min(size, 99))]},
            ))
        )  # fmt: skip
    if draw(st.booleans()):
        classes = draw(st.sampled_from((2, 3, 20)))
        columns["c"] = {"type": "categorical", "values": [f"v{code}" for code in range(classes)],
                        "role": "class"}  # fmt: skip
    return columns


@st.composite
def budgets(draw: st.DrawFn, powers: int) -> tuple[str, str]:
    """Epsilon of a row and delta over many orders of magnitude, in decimals and as fractions."""
    whole = draw(st.integers(1, 99))
    power = draw(st.integers(0, powers))
    epsilon = draw(st.sampled_from((f"{whole}e-{power}", f"1/{whole * 10**power}")))
    return epsilon, draw(st.sampled_from(("0", f"1e-{draw(st.integers(1, 30))}")))


@st.composite
def cases(draw: st.DrawFn, kind: str, caps: tuple[int, ...]) -> tuple[Schema, pa.Table]:
    """A schema and a few rows of it; transactions have one person each."""
    rows = draw(st.integers(1, 30))
    random = np.random.default_rng(draw(st.integers(0, 99)))
    if kind == "transactions":
        size = draw(st.sampled_from((1, 2, 9, 40, 300)))
        most = draw(st.sampled_from((1, 3, 50, 10_000)))
        items = {"universe": {"range": [1, size]}, "max_items": most, "empty": "dummy",
                 "foreign": "drop", "column": "x", "fan_out": 3}  # fmt: skip
        lists = [random.integers(1, size + 1, random.integers(1, 9)).tolist() for _ in range(rows)]
        schema = Schema.from_dict({"name": "s", "unit": "row", "items": items})
        return schema, pa.table({"x": pa.array(lists, pa.list_(pa.int64()))})
    columns = attributes(draw)
    table = {
        name: random.integers(0, one["high"] + 1, rows).tolist()
        if one["type"] == "numeric"
        else [str(value) for value in random.choice(one["values"], rows)]
        for name, one in columns.items()
    }
    cap = draw(st.sampled_from(caps))
    if cap > 1:
        columns["who"] = {"role": "person", "max_rows": cap}
        table["who"] = [f"p{row % 7}" for row in range(rows)]
    document = {"name": "s", "unit": "person" if cap > 1 else "row", "attributes": columns}
    several = {name for name, one in columns.items() if len(one.get("values", "ab")) > 1}
    names = sorted(several - {"who"})
    if len(names) > 1 and draw(st.booleans()):
        ends = {name: "= v1" if "values" in columns[name] else "< 1" for name in names}
        first, last = (f"{name} {ends[name]}" for name in (names[0], names[-1]))
        rules = [f"{first} implies {last}", f"not ({first} and {last})"]
        document["rules"] = rules[: draw(st.integers(1, 2))]
    if len(names) > 1 and draw(st.booleans()):
        document["tables"] = [names[:2], {"attributes": names[-2:], "weight": 0.01}][
            : len(names) - 1
        ]
    return Schema.from_dict(document), pa.table(table)


def attempt(method: Any, schema: Schema, rows: pa.Table, epsilon: str, delta: str) -> bool:
    """Publishes, unless the plan is refused."""
    try:
        method.plan(schema, epsilon, delta)
    except UsageError:
        return False
    hedgerow.publish(rows, schema, method, epsilon, delta)
    return True


def tries() -> Iterator[Any]:
    """Each method as it comes with 50 cases, its modes with 10; with 100 in `make audit`."""
    seen = set()
    for method in methods():
        few = 10 if type(method) in seen else 50
        seen.add(type(method))
        yield pytest.param(method, few, id=f"{method!r}-{few}")
        yield pytest.param(method, 100, id=f"{method!r}-100", marks=pytest.mark.long)


@pytest.mark.parametrize(("method", "number"), [*tries()])
def test_a_plan_that_passes_never_stops_the_run(method: Any, number: int) -> None:
    ran = 0
    # a threshold below which nobody is listed is searched for, which is slow where it is large
    caps, powers = (CAPS[:4], 3) if method.in_memory else (CAPS, 8)

    @settings(
        max_examples=number, deadline=None, database=None, derandomize=True,
        suppress_health_check=list(HealthCheck), phases=[Phase.generate],
    )  # fmt: skip
    @given(cases(method.data, caps), budgets(powers))
    def run(case: tuple[Schema, pa.Table], budget: tuple[str, str]) -> None:
        nonlocal ran
        schema, rows = case
        cap = schema.person.max_rows if schema.person else 1
        epsilon = min(Fraction(100), Fraction(budget[0]) * cap)
        ran += attempt(method, schema, rows, str(epsilon), budget[1])

    run()
    assert ran >= max(1, 3 * number / 100)


def test_clusters_are_refused_before_the_first_draw_or_never(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`hedgerow clusters` draws centroids, and publishes a table that has another class then."""
    ran, drawn = 0, False
    laplace = Curator.laplace

    def draw(*words: Any, **named: Any) -> Any:
        nonlocal drawn
        drawn = True
        return laplace(*words, **named)

    monkeypatch.setattr(Curator, "laplace", draw)

    @settings(
        max_examples=100, deadline=None, database=None, derandomize=True,
        suppress_health_check=list(HealthCheck), phases=[Phase.generate],
    )  # fmt: skip
    @given(
        cases("table", CAPS), budgets(8), st.sampled_from((1, 2, 3, 20)),
        st.sampled_from((1, 10, 99)), st.sampled_from([m for m in methods() if m.data == "table"]),
    )  # fmt: skip
    def run(
        case: tuple[Schema, pa.Table], budget: tuple[str, str], clusters: int, share: int,
        method: Any,
    ) -> None:  # fmt: skip
        nonlocal ran, drawn
        schema, rows = case
        cap, drawn = schema.person.max_rows if schema.person else 1, False
        epsilon = min(Fraction(100), Fraction(budget[0]) * cap)
        try:
            publish_clusters(rows, schema, clusters, str(epsilon), share=share, method=method)
        except HedgerowError:
            if drawn:
                raise
        else:
            ran += 1

    run()
    assert ran >= 3


def test_the_plan_that_lost_its_budget_runs_or_is_refused() -> None:
    """365 rows of a person, epsilon 0.05 and a delta: a precision was 0 when rows were drawn."""
    columns = {f"a{place}": {"type": "boolean"} for place in range(5)}
    columns["a0"]["role"] = "class"
    schema = Schema.from_dict({
        "name": "s", "unit": "person",
        "attributes": columns | {"who": {"role": "person", "max_rows": 365}},
    })  # fmt: skip
    rows = pa.table({name: ["yes", "no"] * 9 for name in columns} | {"who": ["p"] * 18})
    assert attempt(hedgerow.Marginals(), schema, rows, "0.05", "1e-6")
    assert not attempt(hedgerow.Marginals(), schema, rows, "0.025", "1e-6")
