"""Halves under attack."""

from __future__ import annotations

from hedgerow.audit.audited import Audited
from hedgerow.publish.halves import Halves

__all__ = ["AUDITED"]

AUDITED = (
    Audited(
        name="halves",
        modes=(Halves(), Halves(numbers_only=True)),
        tiny=(Halves(),),
        experiments=(),
    ),
)
