"""What a run owes, by the rule that fits its accounting: the replay audit and the ledger check."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hedgerow.audit.neighbors import Pair, run_on
from hedgerow.audit.replay import Comparison, DivergedError, Trace, compare, record, replay
from hedgerow.measured.partition import GridPartition, TreePartition
from hedgerow.methods.publisher import Outcome, Publisher
from hedgerow.privacy.budget import Budget, epsilon_of_rho
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import Sampler, SecureSampler

ROUNDING = 1e-9
"""How far the floats of an audit may be off."""


@dataclass(frozen=True)
class Finding:
    """What one transcript showed.

    Args:
        loss: The epsilon that it proves (pure), or that what was seen amounts to (zCDP).
        complaint: What is wrong, or None.
    """

    loss: float
    complaint: str | None


def _pure(found: Comparison, outcome: Outcome, person: bool) -> Finding:
    """Pure: the likelihood ratio of the whole transcript is within epsilon."""
    loss, budget = abs(found.loss), outcome.plan.budget
    claim = float(budget.epsilon if person else budget.row_epsilon)
    if not loss <= claim + ROUNDING:
        return Finding(loss, f"a transcript tells neighbors apart by {loss:.4g}, not {claim:.4g}")
    return Finding(loss, None)


def _zcdp(found: Comparison, outcome: Outcome, person: bool) -> Finding:
    """zCDP: Renyi divergences of what is paid in rho add up to rho at most; the rest is pure.

    That is what one row loses; what a person's rows lose together follows from it by arithmetic.
    """
    assert not person
    ledger = outcome.ledger
    budgets = {name: float(budget.total) for name, budget in ledger.budgets.items()}
    ratios = found.log_ratio.items()
    pure = abs(sum(ratio for purpose, ratio in ratios if ledger.budget_of(purpose) != "rho"))
    rho = max(found.divergence.values())
    loss = math.inf
    if math.isfinite(found.loss) and math.isfinite(rho):
        seen = Fraction(int(rho * 10**12), 10**12)
        loss = pure + float(epsilon_of_rho(seen, outcome.plan.budget.row_delta))
    if math.isinf(loss):
        return Finding(loss, "a transcript of one neighbor is impossible under the other")
    if not pure <= budgets["epsilon"] + ROUNDING:
        return Finding(
            loss, f"what was paid in epsilon lost {pure:.4g}, not {budgets['epsilon']:.4g}"
        )
    if not rho <= budgets["rho"] + ROUNDING:
        return Finding(loss, f"what was paid in rho lost {rho:.4g}, not {budgets['rho']:.4g}")
    return Finding(loss, None)


def _suppression(found: Comparison, outcome: Outcome, person: bool) -> Finding:
    """Suppression: what was bought before is pure, and so is noise on what others are in too.

    Some lists are impossible for one of the neighbors, by design: enumeration weighs them by
    delta. Records that are kept by chance are left to it altogether.
    """
    plan: Any = outcome.plan
    noisy = "rate" in plan.rule
    before = abs(sum(ratio for name, ratio in found.log_ratio.items() if name != "cells"))
    lists = abs(found.log_ratio.get("cells", 0.0)) if noisy else 0.0
    lists = lists if math.isfinite(lists) else 0.0
    rows = plan.budget.rows if person else 1
    claims = (
        float(plan.side_budget().row_epsilon * rows),
        float(Fraction(plan.rule.get("rate", 0)) * rows),
    )
    for what, loss, claim in zip(("a side table", "a list"), (before, lists), claims, strict=True):
        if not loss <= claim + ROUNDING:
            return Finding(loss, f"{what} tells neighbors apart by {loss:.4g}, not {claim:.4g}")
    return Finding(before + lists, None)


RULES: dict[str, Callable[[Comparison, Outcome, bool], Finding]] = {
    "pure": _pure,
    "zcdp": _zcdp,
    "suppression": _suppression,
}
"""One rule for each kind of accounting."""


def replay_pair(
    method: Publisher,
    pair: Pair,
    budget: Budget,
    seed: int | None,
    *,
    sampler: Sampler | None = None,
    person: bool = False,
) -> list[Finding]:
    """Replays one transcript of each neighbor on both, and judges what tells them apart.

    Args:
        method: What is audited.
        pair: The neighbors.
        budget: What is claimed.
        seed: Makes the transcripts repeatable.
        sampler: Draws the transcripts instead of a seeded stream.
        person: Whether neighbors differ in all rows of one person, and not in one row.
    """
    outcomes: list[Outcome] = []

    def on(table: Any) -> Callable[[Sampler], object]:
        return lambda drawing: outcomes.append(run_on(table, method, budget, drawing))

    findings = []
    for drawn_from in pair.tables:
        transcript = record(on(drawn_from), sampler or SecureSampler(Keystream(seed)))
        try:
            traces: list[Trace] = [replay(on(table), transcript) for table in pair.tables]
            findings.append(_judge(traces, outcomes[-1], person))
        except DivergedError as error:
            findings.append(Finding(math.inf, f"the method branched on private data: {error}"))
    return findings


def _judge(traces: list[Trace], outcome: Outcome, person: bool) -> Finding:
    ledger = outcome.ledger
    in_rho = set()
    if outcome.plan.accounting == "zcdp":
        in_rho = {step.purpose for step in traces[0] if ledger.budget_of(step.purpose) == "rho"}
    found = compare(traces[0], traces[1], in_rho)
    finding = RULES[outcome.plan.accounting](found, outcome, person)
    if finding.complaint or person:  # a person's rows may lie in many regions
        return finding
    if max(found.touched, default=0) > 1:
        return Finding(finding.loss, "a step saw a record that is not in its region")
    if found.strain > 1 + ROUNDING:
        return Finding(finding.loss, f"a step lost {found.strain:.4g} times what it was charged")
    return finding


def check_books(outcome: Outcome) -> str | None:
    """The ledger check: published paths spent exactly what was granted, all others at most.

    Where a paper leaves a part of its budget unused, published paths spent at most that, too.

    Returns:
        What is wrong, or None.
    """
    ledger, budget = outcome.ledger, outcome.plan.budget
    for name in ledger.budgets:
        if outcome.plan.spends_all and ledger.left(name, outcome.published).any():
            return f"a published path did not spend all of its {name}"
        if (ledger.left(name, ledger.accounts) < 0).any():
            return f"a path spent more {name} than was granted"
    granted = ledger.budgets["epsilon"].total
    if "rho" in ledger.budgets:
        granted += epsilon_of_rho(ledger.budgets["rho"].total, budget.row_delta)
        if granted > budget.row_epsilon:
            return "the budgets hold more than the budget"
    elif granted != budget.row_epsilon:
        return "the budget does not hold the budget"
    book = ledger.book(outcome.published, outcome.sharing)
    partition: Any = getattr(outcome, "partition", None)  # generalized rows have none
    covers = isinstance(partition, GridPartition | TreePartition)
    if covers and sum(path["leaves"] for path in book["paths"]) != partition.cells:
        return "the book does not account for every published region"
    return None
