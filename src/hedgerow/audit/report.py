"""What an audit found, in words and for machines."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Line:
    """One audit of one mode.

    Args:
        method: The method's name.
        mode: Its settings, in short.
        audit: "replay", "ledger", "enumeration", or the name of a distinguisher.
        epsilon: What is claimed.
        delta: The same.
        bound: The strongest bound on epsilon that was found; None where none is looked for.
        tried: Transcripts, paths or runs.
        ok: Whether the claim stands.
        words: What was looked at, or what is wrong.
    """

    method: str
    mode: str
    audit: str
    epsilon: str
    delta: str
    bound: float | None
    tried: int
    ok: bool
    words: str

    def to_dict(self) -> dict[str, Any]:
        """For JSON, which knows no infinity."""
        infinite = self.bound is not None and math.isinf(self.bound)
        return asdict(self) | ({"bound": "infinite"} if infinite else {})


@dataclass(frozen=True)
class Report:
    """All lines of an audit.

    Args:
        lines: What was found.
        begun: How many audits were begun; one may have several lines, or none.
        waiting: The kinds of those that were not, for want of time, one for each.

    Example:
        >>> line = Line(method="diffgen", mode="tuned", audit="replay", epsilon="1", delta="0",
        ...     bound=0.9, tried=10, ok=True, words="")
        >>> Report((line,)).ok, Report((line,)).bound
        (True, 0.9)
    """

    lines: tuple[Line, ...]
    begun: int = 0
    waiting: tuple[str, ...] = ()

    @property
    def left_out(self) -> int:
        """How many audits were not begun, for want of time."""
        return len(self.waiting)

    @property
    def ok(self) -> bool:
        """Whether every claim stands, and there was something to try."""
        return bool(self.lines) and all(line.ok for line in self.lines)

    @property
    def bound(self) -> float:
        """The strongest bound of all."""
        return max((line.bound for line in self.lines if line.bound is not None), default=0.0)

    @property
    def tried(self) -> int:
        """How much was tried in all."""
        return sum(line.tried for line in self.lines)

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        audits = [line.to_dict() for line in self.lines]
        waiting = dict(Counter(self.waiting))
        return {
            "ok": self.ok, "begun": self.begun, "left_out": self.left_out, "waiting": waiting,
            "audits": audits,
        }  # fmt: skip
