"""The laws of mutants that are in the draws themselves, told to the replayer.

The replay audit computes how likely a transcript is from what the code asks to be drawn. A mutant
in the sampler draws something else, so its true law is written down here, and stands in place of
the replayer's for as long as its loss is computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np

__all__ = ["LAWS"]


def _law(name: str, change: Callable[[Any], Any]) -> Callable[[], AbstractContextManager[Any]]:
    """A law of the replayer is replaced by what `change` makes of it."""

    def put() -> AbstractContextManager[Any]:
        from hedgerow.audit import replay

        kind = replay._Replayer
        return patch.object(kind, name, change(getattr(kind, name)))

    return put


def _twice_the_rate(told: Any) -> Any:
    def listed(self: Any, cells: Any, counts: Any, rule: Any) -> Any:
        assert rule.law == "nonempty"
        return told(self, cells, counts, replace(rule, rate=2 * rule.rate))

    return listed


def _one_less(told: Any) -> Any:
    def listed(self: Any, cells: Any, counts: Any, rule: Any) -> Any:
        assert rule.law == "keep"
        return told(self, cells, counts, replace(rule, threshold=rule.threshold - 1))

    return listed


def _noise(law: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """Another law of noise: from noise by item and column and the rates to log-probabilities."""

    def change(told: Any) -> Any:
        def laplace(self: Any, exact: Any, rates: Any) -> Any:
            forced = told(self, exact, rates)
            step = self.trace[-1]
            noise = np.abs(forced - exact).reshape(len(step.rates), -1)
            signed = (forced - exact).reshape(len(step.rates), -1)
            step.log_p[:] = law(signed if law is _shared else noise, step.rates[:, None])
            return forced

        return laplace

    return change


def _half_the_noise(noise: Any, rate: Any) -> Any:
    return (np.log(np.tanh(rate)) - 2 * rate * noise).sum(axis=1)


def _zero_twice(noise: Any, rate: Any) -> Any:
    whole = 1 / np.tanh(rate / 2) + 1
    return (-rate * noise + np.where(noise == 0, math.log(2), 0.0) - np.log(whole)).sum(axis=1)


def _shared(noise: Any, rate: Any) -> Any:
    first = np.log(np.tanh(rate[:, 0] / 2)) - rate[:, 0] * np.abs(noise[:, 0])
    return np.where((noise == noise[:, :1]).all(axis=1), first, -np.inf)


def _cells(law: Callable[..., float]) -> Callable[[], AbstractContextManager[Any]]:
    """Another law of lists of cells, with or without their values."""

    def put() -> AbstractContextManager[Any]:
        from hedgerow.audit import replay
        from hedgerow.audit.replay import Step

        def listed(self: Any, cells: Any, counts: Any, rule: Any) -> Any:
            forced = self._next(rule.law)
            exact = dict(zip(cells.tolist(), counts.tolist(), strict=True))
            if rule.law == "sparse":
                shown = dict(zip(forced[0].tolist(), forced[1].tolist(), strict=True))
            else:
                shown = dict.fromkeys(forced[0].tolist())
            log_p = law(float(rule.rate), exact, shown, rule.number, rule.threshold)
            self.trace.append(Step(kind=rule.law, purpose=rule.purpose, log_p=np.asarray([log_p])))
            return forced

        return patch.object(replay._Replayer, "listed", listed)

    return put


def _log(p: float) -> float:
    return math.log(p) if p > 0 else -math.inf


def _listing(
    e: float, exact: dict[int, int], shown: dict[int, int | None], number: int, threshold: int,
    *, later: int = 0, always: bool = False,
) -> float:  # fmt: skip
    """The log-probability of a list, with one of two flaws or none."""
    from hedgerow.audit.replay import tail

    log_p = 0.0
    point = math.tanh(e / 2)
    for cell, count in exact.items():
        sure = always and count >= threshold
        if cell not in shown:
            log_p += -math.inf if sure else math.log1p(-tail(e, threshold - count))
            continue
        value = shown[cell]
        if value is None:
            log_p += 0.0 if sure else math.log(tail(e, threshold - count))
        else:
            log_p += _log(point if sure or value >= threshold else 0.0) - e * abs(value - count)
    fresh = [value for cell, value in shown.items() if cell not in exact]
    free, mark = number - len(exact), tail(e, threshold + later)
    log_p += len(fresh) * math.log(mark) + (free - len(fresh)) * math.log1p(-mark)
    for value in fresh:
        if value is not None:
            log_p += math.log(-math.expm1(-e)) - e * (value - threshold)
    return log_p


def _with(**flaw: Any) -> Callable[..., float]:
    return lambda *args: _listing(*args, **flaw)


LAWS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "nonempty-twice-the-rate": _law("listed", _twice_the_rate),
    "keep-one-less": _law("listed", _one_less),
    "counts-half-the-noise": _law("laplace", _noise(_half_the_noise)),
    "zero-comes-twice": _law("laplace", _noise(_zero_twice)),
    "noise-shared-by-siblings": _law("laplace", _noise(_shared)),
    "empty-cells-listed-later": _cells(_with(later=1)),
    "large-cells-always-listed": _cells(_with(always=True)),
}
