"""The rules that a release is held to, looked up by its method and its schedule.

Every method brings a module of rules (`hedgerow.registry` names it) that shares no code with its
plan or its run. Rules belong to a schedule with its version, such as `tuned-1`: when a schedule
changes, the new version gets rules of its own and the old ones stay, so that old releases can be
verified for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import pyarrow as pa

from hedgerow.errors import UsageError
from hedgerow.registry import METHODS, SCORES, load
from hedgerow.release import Release


class Stated(Protocol):
    """What a release says of itself: a release, or the head of a manifest."""

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of its method."""

    @property
    def guarantee(self) -> dict[str, Any]:
        """What it promises."""

    @property
    def ledger(self) -> dict[str, Any]:
        """Its books."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What a release of one method under one schedule must show.

    A check says what it found, or raises `hedgerow.verification.prices.Failed`.

    Args:
        books: Checks of the ledger alone, by name.
        spending: What one person can lose: in words, epsilon and delta.
        checks: Checks of the release, by name.
        settings: The names that its settings may have; None holds them to nothing.
        chosen: The names that its setting `chosen` may have, which public rules fill in.
        nested: The settings that are no single value, which `checks` must look at.
        upon: Takes a release, its rows, and whether today's estimator made them: checks them, and
            gives the release whose answers are counts of them. Another machine may have computed
            them a little differently, and another estimator as differently as noise allows.
    """

    books: Mapping[str, Callable[[Any], str]]
    spending: Callable[[Any], tuple[str, Fraction, Fraction]]
    checks: Mapping[str, Callable[[Any], str]]
    settings: frozenset[str] | None = None
    chosen: frozenset[str] = frozenset(("cap", "core", "variant"))
    nested: frozenset[str] = frozenset()
    upon: Callable[[Any, pa.Table, bool], Release] | None = None


class UnknownHere(Exception):
    """What a release was made by is not installed here; the text says what."""


def rules_for(method: str, settings: Mapping[str, Any]) -> Rules:
    """The rules for a release.

    Args:
        method: The name of its method.
        settings: Its settings, which may come from anybody.

    Raises:
        UnknownHere: If its method, its schedule or its score is not installed.

    Example:
        >>> rules_for("abacus", {})
        Traceback (most recent call last):
        hedgerow.verification.rules.UnknownHere: the method 'abacus' is not installed here ...
    """
    if method not in METHODS:
        raise UnknownHere(
            f"the method {method!r} is not installed here (known: {', '.join(METHODS)})"
        )
    try:
        known: Mapping[str, Rules] = load(METHODS[method].rules)
    except (UsageError, ImportError, AttributeError):
        raise UnknownHere(f"the rules of the method {method!r} cannot be loaded") from None
    schedule = settings.get("schedule")
    if not isinstance(schedule, str) or schedule not in known:
        raise UnknownHere(
            f"no rules for the schedule {schedule!r} of {method} are installed here "
            f"(known: {', '.join(known)})"
        )
    chosen = settings.get("chosen")
    for part in (settings, chosen if isinstance(chosen, dict) else {}):
        score = part.get("score")
        if score is not None and (not isinstance(score, str) or score not in SCORES):
            raise UnknownHere(
                f"the score {score!r} is not installed here (known: {', '.join(SCORES)})"
            )
    return known[schedule]
