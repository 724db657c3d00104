"""The fifth step: what matters and how much may be lost, as errors, as odds and as accuracy.

The expected errors of tables are those of `hedgerow plan`: they follow from schema and budget.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from hedgerow.errors import HedgerowError, UsageError
from hedgerow.present.words import after, caution, factor, percent_up, purpose_words
from hedgerow.privacy.budget import Budget
from hedgerow.registry import METHODS, for_data, load
from hedgerow.schema.attributes import describe_weight
from hedgerow.schema.relations import read_tables
from hedgerow.schema.yaml_text import ListNode, Node, Text
from hedgerow.studio.folder import look
from hedgerow.studio.jobs import command_text
from hedgerow.studio.schema_text import SchemaText, block, plain
from hedgerow.studio.steps import Asked, Way
from hedgerow.studio.views.project import accounts_of
from hedgerow.studio.views.schema import save

if TYPE_CHECKING:
    from hedgerow.evaluation.expected import ExpectedError
    from hedgerow.schema import Schema

EPSILONS = ("0.1", "0.25", "0.5", "1", "2", "4")
_RUNS = "3"
_WIDE, _HIGH = 640.0, 220.0
_TENTH = 0.1  # smaller errors are told with a digit more
_ERRORS = ("median_error", "median_itemset_error")


def method_of(way: Way, kind: str) -> str:
    """The method that was chosen, or the usual one.

    Raises:
        UsageError: If it is not for this kind of data.
    """
    known = for_data(kind)
    chosen = way.get("method", known[0])
    if chosen not in known:
        raise UsageError(
            "this method is not for such data.", hint=f"Choose one of {', '.join(known)}."
        )
    return chosen


def show(asked: Asked) -> Response:
    """What a budget means, what it would be spent on, and what is left.

    A budget that cannot be had is told in the place of what it means: the choice stays as it is.
    """
    way, schema = asked.way, asked.schema
    method = method_of(way, schema.kind)
    epsilon, delta = way.get("epsilon", "1"), way.get("delta", _usual_delta(method))
    fault, means, usual = None, dict[str, Any](), _usual_delta(method)
    try:
        means = _means(way, schema, method, delta)
    except HedgerowError as error:
        fault = error
    job = asked.done("simulated")
    result = job.result if job else {}
    curves = curves_of(result) if job else []
    tried = {one["epsilon"] for curve in curves for one in curve["points"]} or EPSILONS
    plans = result.get("plans")
    return asked.page(
        "budget", text=asked.text, schema=schema, method=method, delta=delta,
        epsilon=epsilon, epsilons=sorted(tried, key=float), fault=fault,
        take=usual if fault and usual != "0" and delta == "0" else "",
        methods={name: METHODS[name].words for name in for_data(schema.kind)},
        accounts=accounts_of(asked, look(way.root).ledgers), command=_plan(way, method, delta),
        simulate=command_text(_simulation(way, method, delta)), curves=curves,
        size=(_WIDE, _HIGH), reached=plans[0]["epsilon"] if plans else "",
        by_accuracy=bool(plans), tables=[one.name for one in schema.columns], **means,
    )  # fmt: skip


def _means(way: Way, schema: Schema, method: str, delta: str) -> dict[str, Any]:
    """The budget as odds, and what it would be spent on.

    Raises:
        HedgerowError: If it is not a budget, or the method cannot do with it.
    """
    budget, settings = Budget.of(way.get("epsilon", "1"), delta), load(METHODS[method].settings)()
    planned = settings.plan(schema, epsilon=budget.epsilon, delta=budget.delta, rows=_rows(way))
    return {
        "factor": factor(budget.epsilon), "caution": caution(budget.epsilon),
        "odds": [(f"{before:.0%}", percent_up(after(before, float(budget.epsilon))))
                 for before in (0.01, 0.1, 0.5)],
        "lines": [[purpose_words(purpose), *rest] for purpose, *rest in planned.lines()],
        "remark": planned.remark,
    }  # fmt: skip


def _usual_delta(method: str) -> str:
    """The delta that is proposed: 0 wherever a method can do without."""
    return "1e-9" if method == "supermodular" else "0"


def simulate(asked: Asked) -> Response:
    """Tries epsilons on rows simulated from the schema, as `hedgerow plan` does.

    If tables of interest were ticked, it finds the epsilon that makes these accurate enough.
    """
    way = asked.way
    method = method_of(way, asked.schema.kind)
    delta = way.get("delta", _usual_delta(method))
    targets = [f"{name} within {asked.get('within').strip()}%" for name in asked.every("table")]
    accuracy = [f"--accuracy={one}" for one in targets]
    return asked.begin(
        _plan(way, method, delta, "--runs", _RUNS, *accuracy) if targets
        else _simulation(way, method, delta),
        "Trying budgets on simulated rows",
        lambda job: way.to("budget", simulated=job) + "#t-curve",
    )  # fmt: skip


def _plan(way: Way, method: str, delta: str, *options: str) -> list[str]:
    """The command that plans, for the chosen epsilon if there are no other options."""
    words = ["plan", "--schema", way.argument("schema"), "--method", method]
    words += options or [f"--epsilon={way.get('epsilon', '1')}"]
    words += [f"--delta={delta}"] if delta != "0" else []
    return words + ([f"--rows={way.get('rows')}"] if way.get("rows") else [])


def _simulation(way: Way, method: str, delta: str) -> list[str]:
    tried = ",".join(EPSILONS)
    return _plan(way, method, delta, "--simulate", "--runs", _RUNS, "--epsilons", tried)


def _points(result: dict[str, Any]) -> list[tuple[str, str, float, str]]:
    """The name of a curve, the epsilon, the error, and that in words, for every point."""
    if "plans" in result:
        return [
            (one["target"]["text"], epsilon, error, "off by less than {} in 95 of 100 cases")
            for one in result["plans"][0]["targets"]
            for epsilon, error in one["errors"].items()
            if error is not None
        ]
    measure = next((m for m in _ERRORS if any(m in one for one in result["points"])), "")
    return [
        (one["setting"], one["epsilon"], one[measure]["mean"], "typically {} off")
        for one in result["points"]
        if measure in one
    ]


def curves_of(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The curves of a simulation, ready to be drawn: for each setting, or each accuracy target.

    A curve has a name, the points of a line, and for each epsilon its place and error in words.

    Example:
        >>> point = {"setting": "m", "epsilon": "1", "median_error": {"mean": 0.5}}
        >>> curves_of({"points": [point]})[0]["points"][0]["words"]
        'm, epsilon 1: typically 50% off'
    """
    points = _points(result)
    if not points:
        return []
    places = [math.log10(float(epsilon)) for _, epsilon, _, _ in points]
    left, right = min(places), max(places)
    top = max(error for _, _, error, _ in points) or 1.0
    curves: dict[str, list[dict[str, str]]] = {}
    for (name, epsilon, error, words), place in zip(points, places, strict=True):
        share = (place - left) / (right - left) if right > left else 0.5
        shown = f"{error:.0%}" if error >= _TENTH else f"{error:.1%}"
        curves.setdefault(name, []).append({
            "epsilon": epsilon, "error": shown,
            "x": f"{40 + share * (_WIDE - 80):.1f}",
            "y": f"{20 + (1 - error / top) * (_HIGH - 60):.1f}",
            "words": f"{name}, epsilon {epsilon}: {words.format(shown)}",
        })  # fmt: skip
    return [
        {"name": name, "points": line, "line": " ".join(f"{one['x']},{one['y']}" for one in line)}
        for name, line in curves.items()
    ]


# The tables that a release must hold, and how far off each will be.


def show_tables(asked: Asked) -> Response:
    """The tables that are named, each with its expected error at the chosen epsilon."""
    from hedgerow.evaluation.expected import expected_errors  # slow to import

    way, schema = asked.way, asked.schema
    method = method_of(way, schema.kind)
    errors: tuple[ExpectedError | None, ...] = (None,) * len(schema.tables)
    fault = None
    try:
        settings, delta = load(METHODS[method].settings)(), way.get("delta", "0")
        epsilon = way.get("epsilon", "1")
        errors = expected_errors(schema, settings, epsilon, delta, _rows(way)) or errors
    except HedgerowError as error:
        fault = error
    weights = [describe_weight(table.weight) for table in schema.tables]
    titles = [f"{first} by {' and '.join(rest)}" for first, *rest in _named(schema)]
    lines = list(zip(titles, weights, errors, strict=True))
    return asked.page(
        "tables", text=asked.text, schema=schema, method=method, lines=lines, fault=fault,
        epsilon=way.get("epsilon", "1"), rows=errors[0].rows if errors and errors[0] else 0,
        names=[one.name for one in schema.columns],
        example=_example(schema), command=_plan(way, method, way.get("delta", "0")),
    )  # fmt: skip


def change_tables(asked: Asked) -> Response:
    """Adds a table, takes one out, or sets weights."""
    schema = asked.schema
    names = _named(schema)
    weights = [asked.get(f"weight-{n}").strip() or str(describe_weight(one.weight))
               for n, one in enumerate(schema.tables)]  # fmt: skip
    removed = asked.get("remove")
    if removed.isdigit() and int(removed) < len(names):
        del names[int(removed)], weights[int(removed)]
    elif asked.get("action") == "add":
        columns, weight = read_table(asked.get("words"), schema)
        names.append(columns)
        weights.append(weight if weight != "1" else asked.get("weight").strip() or "1")
    return save(asked, with_tables(asked.text, names, weights), "tables")


def read_table(words: str, schema: Schema) -> tuple[list[str], str]:
    """The columns that a table in words is about, and its weight, as commands read them.

    Raises:
        UsageError: If the words name no table.

    Example:
        >>> from hedgerow import sample
        >>> read_table("Readmitted by sex and smoker, weight 2", sample.schema())
        (['readmitted', 'sex', 'smoker'], '2')
    """
    tables, complaints = read_tables([words], schema)
    for _, what, hint in complaints:
        raise UsageError(f"{what[:1].upper()}{what[1:]}.", hint=hint)
    names = [schema.columns[place].name for place in tables[0].places]
    return names, str(describe_weight(tables[0].weight))


def with_tables(text: SchemaText, names: list[list[str]], weights: list[str]) -> SchemaText:
    """The schema with these tables in the place of those it names."""
    tables: list[Node] = []
    for columns, weight in zip(names, weights, strict=True):
        among = ListNode([Text(one) for one in columns])
        heavy = block({"attributes": among, "weight": plain(weight)})
        tables.append(among if weight == "1" else heavy)
    return text.put(ListNode(tables) if tables else None, "tables")


def _named(schema: Schema) -> list[list[str]]:
    """The columns of each table that is named."""
    return [[schema.columns[place].name for place in one.places] for one in schema.tables]


def _example(schema: Schema) -> str:
    """A table that the schema could name: the class by an attribute."""
    names = [one.name for one in schema.columns]
    first = names[-1:] if schema.target is not None else []
    return " by ".join([*first, *names][:2])


def _rows(way: Way) -> int | None:
    return int(way.get("rows")) if way.get("rows").isdigit() else None
