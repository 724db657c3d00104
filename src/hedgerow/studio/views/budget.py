"""The fifth step: how much may be lost, as odds, as accuracy, and beside what is left."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from hedgerow.errors import HedgerowError, UsageError
from hedgerow.registry import METHODS, for_data, load
from hedgerow.studio.app import Asked, go
from hedgerow.studio.folder import look
from hedgerow.studio.jobs import command_text
from hedgerow.studio.steps import Way
from hedgerow.studio.views.project import accounts_of

if TYPE_CHECKING:
    from hedgerow.schema import Schema

EPSILONS = ("0.1", "0.25", "0.5", "1", "2", "4")
_RUNS = "3"
_WIDE, _HIGH = 640.0, 220.0
_TENTH = 0.1  # smaller errors are told with a digit more
_ERRORS = ("median_error", "median_itemset_error")


@dataclass(frozen=True)
class Curve:
    """Errors of one setting against epsilon, ready to be drawn.

    Args:
        name: The setting.
        line: The points of a line.
        points: For each epsilon its place, and the error in words.
    """

    name: str
    line: str
    points: list[dict[str, str]]


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
    way = Way.of(asked, "budget")
    text = way.text()
    schema = text.schema()
    method = method_of(way, schema.kind)
    epsilon, delta = way.get("epsilon", "1"), way.get("delta", _usual_delta(method))
    fault, means = None, dict[str, Any]()
    try:
        means = _means(way, schema, method, delta)
    except HedgerowError as error:
        fault = error
    usual = _usual_delta(method)
    ledgers, result = look(way.root).ledgers, _find_result(asked)
    curves = [] if result is None else curves_of(result)
    tried = {one["epsilon"] for curve in curves for one in curve.points} or EPSILONS
    return asked.show(
        "budget", way=way, text=text, schema=schema, method=method, delta=delta, epsilon=epsilon,
        epsilons=sorted(tried, key=float), fault=fault,
        take=usual if fault and usual != "0" and delta == "0" else "",
        methods={name: METHODS[name].words for name in for_data(schema.kind)},
        accounts=accounts_of(asked, ledgers), command=command_text(_plan(way, method, delta)),
        simulate=command_text(_simulation(way, method, delta)),
        curves=curves, size=(_WIDE, _HIGH),
        reached=result["plans"][0]["epsilon"] if result and "plans" in result else "",
        by_accuracy=bool(result and "plans" in result), tables=[one.name for one in schema.columns],
        **means,
    )  # fmt: skip


def _means(way: Way, schema: Schema, method: str, delta: str) -> dict[str, Any]:
    """The budget as odds, and what it would be spent on.

    Raises:
        HedgerowError: If it is not a budget, or the method cannot do with it.
    """
    from hedgerow.present.words import after, caution, factor, percent_up, purpose_words
    from hedgerow.privacy.budget import Budget

    budget = Budget.of(way.get("epsilon", "1"), delta)
    rows = int(way.get("rows")) if way.get("rows").isdigit() else None
    planned = load(METHODS[method].settings)().plan(
        schema, epsilon=budget.epsilon, delta=budget.delta, rows=rows
    )
    return {
        "factor": factor(budget.epsilon),
        "caution": caution(budget.epsilon),
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
    way = Way.of(asked, "budget")
    schema = way.text().schema()
    method = method_of(way, schema.kind)
    delta = way.get("delta", _usual_delta(method))
    targets = [f"{name} within {asked.get('within').strip()}%" for name in asked.every("table")]
    job = asked.studio.jobs.start(
        _by_accuracy(way, method, delta, targets) if targets else _simulation(way, method, delta),
        step="budget", title="Trying budgets on simulated rows", then="", back=way.to("budget"),
    )  # fmt: skip
    job.then = way.to("budget", simulated=job.name) + "#t-curve"
    return go("/job", job=job.name)


def _common(way: Way, method: str, delta: str) -> list[str]:
    found = ["plan", "--schema", way.argument("schema"), "--method", method]
    found += [f"--delta={delta}"] if delta != "0" else []
    return found + ([f"--rows={way.get('rows')}"] if way.get("rows") else [])


def _plan(way: Way, method: str, delta: str) -> list[str]:
    return [*_common(way, method, delta), f"--epsilon={way.get('epsilon', '1')}"]


def _simulation(way: Way, method: str, delta: str) -> list[str]:
    tried = ["--simulate", "--runs", _RUNS, "--epsilons", ",".join(EPSILONS)]
    return [*_common(way, method, delta), *tried]


def _by_accuracy(way: Way, method: str, delta: str, targets: list[str]) -> list[str]:
    options = [f"--accuracy={one}" for one in targets]
    return [*_common(way, method, delta), "--runs", _RUNS, *options]


def _find_result(asked: Asked) -> Any:
    """What the simulation found that the address names, if it is one."""
    name = asked.get("simulated")
    job = asked.studio.jobs.find(name) if name else None
    return job.result if job and job.step == "budget" and job.state == "done" else None


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


def curves_of(result: dict[str, Any]) -> list[Curve]:
    """The curves of a simulation: one for each setting, or for each accuracy target.

    Example:
        >>> point = {"setting": "m", "epsilon": "1", "median_error": {"mean": 0.5}}
        >>> curves_of({"points": [point]})[0].points[0]["words"]
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
        curves.setdefault(name, []).append(
            {
                "epsilon": epsilon,
                "x": f"{40 + share * (_WIDE - 80):.1f}",
                "y": f"{20 + (1 - error / top) * (_HIGH - 60):.1f}",
                "error": shown,
                "words": f"{name}, epsilon {epsilon}: {words.format(shown)}",
            }
        )
    return [
        Curve(name, " ".join(f"{one['x']},{one['y']}" for one in found), found)
        for name, found in curves.items()
    ]
