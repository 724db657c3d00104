"""What a release answers to queries, in sentences: the same on a terminal and in the studio."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from hedgerow.estimate.answers import NOISE, reliability
from hedgerow.estimate.queries import NOT_MEASURED, RULED_OUT
from hedgerow.present.tables import REMARKS
from hedgerow.present.words import exact_percent, number
from hedgerow.release import Release

_SWAMPED = 0.5  # a cut part beyond this share of the estimate says more than the estimate
_NUMBERS = ("estimate", "low", "high", "noise", "uniformity_low", "uniformity_high")
_ITEM_NUMBERS = ("estimate", "low", "high", "standard_error")  # of itemsets: in no two parts
_MODEL_NUMBERS = ("estimate", "low", "high", "typical_error")  # by a model

Answer = dict[str, Any]
"""A query in canonical words, the numbers of its answer, its `basis` and its `reliability`."""


def list_answers(
    release: Release, names: Sequence[str], queries: list[Any], level: float
) -> list[Answer]:
    """The answers to queries.

    Args:
        release: The release.
        names: The queries in words.
        queries: The same as the release takes them.
        level: The coverage of intervals.
    """
    answers = release.count(queries, level=level)
    numbers = _NUMBERS if answers.typical_error is None else _MODEL_NUMBERS
    numbers = _ITEM_NUMBERS if release.kind == "transactions" else numbers
    columns = {"query": list(names)}
    columns |= {name: getattr(answers, name).tolist() for name in (*numbers, "basis")}
    columns["reliability"] = list(reliability(answers))
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def describe_answer(release: Release, answer: Answer, level: float) -> list[str]:
    """An answer in phrases, the main one first."""
    those, covered = release.schema.unit_names[1], exact_percent(level)
    interval = _between(answer["low"], answer["high"])
    # noise may push it below zero, which nobody wants to read
    about = number(max(answer["estimate"], 0.0))
    if answer["basis"] == NOT_MEASURED:
        names = ", ".join(name for name in release.unmeasured if name in answer["query"])
        return [
            f"not measured: the release says nothing about {names} (about {about} if all values "
            "were equally frequent)",
            f"{covered} interval: {interval}",
        ]
    if answer["basis"] == RULED_OUT:
        return [f"0 {those}, by a rule of the schema"]
    lines = KINDS[release.kind][0](release, answer, about, interval, covered)
    noisy = answer["reliability"] == NOISE and release.kind != "rows"
    return [*lines, *([REMARKS[NOISE].rstrip(".")] if noisy else [])]


def how_to_read(release: Release, answers: Sequence[Answer], level: float) -> list[str]:
    """What the columns of a table of answers mean."""
    legend = KINDS[release.kind][1]
    lines = [legend.format(those=release.schema.unit_names[1], covered=exact_percent(level))]
    if release.kind in ("table", "marginals"):
        bases = {answer["basis"] for answer in answers}
        otherwise = "assumed even" if "assumed even" in bases else "modeled"
        lines.append(f"basis: measured if exactly this was counted, otherwise {otherwise}.")
        if any(answer["reliability"] == NOISE for answer in answers):
            lines.append(f"{REMARKS[NOISE].capitalize()}")
        if RULED_OUT in bases:
            lines.append("Ruled out: nobody, by a rule of the schema.")
        if NOT_MEASURED in bases:
            silent = ", ".join(release.unmeasured)
            lines.append(f"Not measured: the release says nothing about {silent}.")
    return lines


def _between(low: float, high: float) -> str:
    if math.isinf(high):
        return f"at least {number(low)}"
    if high == 0:
        return "0 to 0, as noise took the count far below zero: it may well miss the truth"
    return f"between {number(low)} and {number(high)}"


_BASES = {
    "measured": "basis: measured",
    "modeled": "basis: modeled, since exactly this was not counted",
    "assumed even": "basis: assumed even, since only a part of some {} is asked for",
}
MISSING = (
    "There is no upper end: {those} in suppressed rows are missing, and nobody can say how many "
    "those are."
)


def _describe_itemset(
    release: Release, answer: Answer, about: str, interval: str, covered: str
) -> list[str]:
    items, query = release.schema.transaction_items, answer["query"]
    alone = items.codes_of([query])[0] >= 0 or items.group_of(query) is not None
    held = " hold all of these" if {",", " "} & {*query} and not alone else ""
    those = release.schema.unit_names[1]
    return [
        f"about {about} {those}{held}; {covered} interval: {interval}", _BASES[answer["basis"]],
    ]  # fmt: skip


def _describe_by_regions(
    release: Release, answer: Answer, about: str, interval: str, covered: str
) -> list[str]:
    those = release.schema.unit_names[1]
    below, above = answer["uniformity_low"], answer["uniformity_high"]
    first = f"about {about} {those}; {covered} interval: {interval}"
    if max(below, above) > _SWAMPED * max(answer["estimate"], 0.0):
        # A number up front would be taken for the answer, and it is hardly more than a guess.
        first = (
            f"{covered} interval: {interval} (about {about} if {those} are spread evenly inside "
            "the regions that the query cuts)"
        )
    uneven = "none, the query follows the edges of the regions"
    if below > 0 or above > 0:
        uneven = (
            f"up to {number(below)} fewer or {number(above)} more, since {those} may not lie "
            "evenly in regions the query cuts"
        )
    return [
        first, f"noise: give or take {number(answer['noise'])}, added to protect people",
        f"uniformity error: {uneven}", _BASES[answer["basis"]].format("regions"),
    ]  # fmt: skip


def _describe_by_tables(
    release: Release, answer: Answer, about: str, interval: str, covered: str
) -> list[str]:
    """A model's estimate, and an interval without it."""
    return [
        f"about {about} {release.schema.unit_names[1]}, usually within "
        f"{number(answer['typical_error'])}, by a model of all tables that were counted",
        f"{covered} interval, which does not rely on the model: {interval}",
        _BASES[answer["basis"]],
    ]


def _describe_by_rows(
    release: Any, answer: Answer, about: str, interval: str, covered: str
) -> list[str]:
    """Of generalized rows: whoever is in suppressed rows is missing."""
    those, share = release.schema.unit_names[1], release.sampling_rate
    sure = "since no published row is wholly among these"
    if answer["low"] > 0:
        sure = f"with {covered} confidence"
    cause = (
        "added to protect people" if share >= 1 else f"since only {share:g} of them were sampled"
    )
    basis = _BASES[answer["basis"]].format("rows")
    if answer["basis"] == "modeled":
        basis = f"basis: modeled, since {those} in suppressed rows are missing"
    return [
        f"at least {number(answer['low'])}, {sure}",
        f"about {about} {those} are in the published rows, if they are spread evenly inside what a "
        "row leaves open",
        f"noise: give or take {number(answer['noise'])} of these, {cause}",
        basis,
    ]


_BY_ITEMSETS = (
    "from, to: the {covered} interval of the true count.\n"
    "basis: measured if exactly this was counted, otherwise modeled."
)
_BY_REGIONS = (
    "from, to: the {covered} interval of the true count. about: the estimate if {those} are\n"
    "spread evenly inside the regions that the query cuts. noise: give or take, from the noise "
    "alone.\ncut: how many fewer or more there may be besides, since they may not be spread evenly."
)
_BY_TABLES = (
    "from, to: the {covered} interval of the true count, which holds whatever the data looks like."
    "\nabout: the estimate, from a model of all tables that were counted. usually within: its "
    "typical error,\nby the same model; nothing is promised about either."
)
_BY_ROWS = (
    "from: the lower end of the {covered} interval; there is no upper end. about: how many are in "
    "the published rows,\nif {those} are spread evenly inside what a row leaves open. noise: give "
    f"or take.\n{MISSING}"
)
# The interval comes first: with uniformity error the estimate may be hardly more than a guess.
HEADS = {
    "low": "from", "high": "to", "estimate": "about", "noise": "noise",
    "uniformity_low": "cut: fewer", "uniformity_high": "cut: more",
    "typical_error": "usually within",
}  # fmt: skip
KINDS: dict[str, tuple[Callable[..., list[str]], str, tuple[str, ...]]] = {
    "table": (_describe_by_regions, _BY_REGIONS, tuple(HEADS)),
    "marginals": (_describe_by_tables, _BY_TABLES, tuple(HEADS)),
    "transactions": (_describe_itemset, _BY_ITEMSETS, tuple(HEADS)),
    "rows": (_describe_by_rows, _BY_ROWS, ("low", "estimate", "noise")),
}
"""How an answer, a table of them and its columns are told, by the kind of release."""
