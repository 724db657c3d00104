"""Traces of replayed runs: how likely every step was, and what tells two traces apart.

This module computes with floats: it judges mechanisms and is none.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.audit.gaussian_law import gaussian_mass

__all__ = ["ORDERS", "Comparison", "DivergedError", "Step", "Trace", "compare"]


ORDERS = (1.001, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1000.0)
"""Renyi orders at which zCDP is checked."""


class DivergedError(AssertionError):
    """The method asked for other draws on the neighbour: it branched on private data."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One call of a mechanism.

    Args:
        kind: "select", "laplace", "gaussian", "sparse", "mark", "nonempty" or "keep".
        purpose: What was bought.
        log_p: The log-probability of the outcome, item by item; items see disjoint records.
        laws: For a selection, the log-probabilities of all candidates, item by item.
        rates: For noise, the rate of each item.
        exact: For noise on counts, the counts of each item.
        prices: What each item was charged; empty if the mechanism did not tell.
    """

    kind: str
    purpose: str
    log_p: Floats
    laws: tuple[Floats, ...] = ()
    rates: Floats = field(default_factory=lambda: np.zeros(0))
    exact: Ints = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    prices: Floats = field(default_factory=lambda: np.zeros(0))


Trace = list[Step]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What tells two runs with the same transcript apart.

    Args:
        log_ratio: The log-likelihood ratio of the outcomes, by purpose; infinite if impossible.
        touched: For each step, how many items had another probability: at most one may.
        divergence: For each order, the sum over steps paid in rho of the Renyi divergence between
            the two laws, divided by the order: at most rho under zCDP.
        strain: The largest loss of any one step, as a share of what it was charged: at most 1.
    """

    log_ratio: dict[str, float]
    touched: tuple[int, ...]
    divergence: dict[float, float]
    strain: float

    @property
    def loss(self) -> float:
        """The log-likelihood ratio of the whole transcript."""
        return sum(self.log_ratio.values())


def compare(one: Trace, other: Trace, paid_in_rho: Collection[str] = ()) -> Comparison:
    """Compares the same transcript on two neighbours.

    Args:
        one: The trace on D.
        other: The trace on D'.
        paid_in_rho: The purposes whose Renyi divergences are added up.
    """
    if len(one) != len(other):
        raise DivergedError("one run took more steps than the other")
    log_ratio: dict[str, float] = {}
    touched = []
    divergence = dict.fromkeys(ORDERS, 0.0)
    strain = 0.0
    for a, b in zip(one, other, strict=True):
        differ = a.log_p != b.log_p
        touched.append(int(differ.sum()))
        ratio = float((b.log_p[differ] - a.log_p[differ]).sum())
        log_ratio[a.purpose] = log_ratio.get(a.purpose, 0.0) + ratio
        if a.purpose in paid_in_rho:
            # an outcome may be equally likely although the laws differ, so all items are compared
            items = [i for i in range(len(a.log_p)) if _laws_differ(a, b, i) or differ[i]]
            for order in ORDERS:
                losses = [_divergence(a, b, i, order) / order for i in items]
                divergence[order] += sum(losses)
                strain = max(strain, _strain(a, items, losses))
        else:
            items = np.flatnonzero(differ).tolist()
            losses = np.abs(b.log_p[items] - a.log_p[items]).tolist()
            strain = max(strain, _strain(a, items, losses))
    return Comparison(
        log_ratio=log_ratio, touched=tuple(touched), divergence=divergence, strain=strain
    )


def _strain(step: Step, items: list[int], losses: list[float]) -> float:
    """The largest loss as a share of its price, where prices are told."""
    if not step.prices.size:
        return 0.0
    shares = [loss / step.prices[item] for item, loss in zip(items, losses, strict=True)]
    return float(max(shares, default=0.0))


def _laws_differ(a: Step, b: Step, item: int) -> bool:
    if a.kind in ("laplace", "gaussian"):
        return not np.array_equal(a.exact[item], b.exact[item])
    if a.kind != "select":
        return False
    if a.laws[item].shape != b.laws[item].shape:
        raise DivergedError("the method had other candidates than before")
    return not np.array_equal(a.laws[item], b.laws[item])


def _divergence(a: Step, b: Step, item: int, order: float) -> float:
    """The larger Renyi divergence of one item's two laws, of either from the other."""
    if a.kind == "select":
        p, q = a.laws[item], b.laws[item]
        return max(
            float(np.logaddexp.reduce(order * u + (1 - order) * v)) / (order - 1)
            for u, v in ((p, q), (q, p))
        )
    e = float(a.rates[item])
    if a.kind == "gaussian":
        return math.fsum(
            order * e * by * by / 2
            + (gaussian_mass(e, order * by) - gaussian_mass(e)) / (order - 1)
            for by in np.abs(a.exact[item] - b.exact[item]).tolist()
            if by
        )
    moved = np.abs(a.exact[item] - b.exact[item]) if a.kind == "laplace" else np.ones(1)
    if moved.max() > 1:
        return math.inf  # what is paid for is that a count moves by one
    # so that its loss is e or -e
    one = float(np.logaddexp((order - 1) * e, -order * e) - np.log1p(np.exp(-e))) / (order - 1)
    return float(moved.sum()) * one
