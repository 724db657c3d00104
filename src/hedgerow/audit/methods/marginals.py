"""Marginals under attack."""

from __future__ import annotations

from hedgerow.audit.audited import Audited, experiments
from hedgerow.publish.marginals import Marginals

__all__ = ["AUDITED"]

AUDITED = (
    Audited(
        name="marginals",
        modes=(Marginals(), Marginals(pairs=2)),
        tiny=(Marginals(pairs=1),),
        experiments=tuple(experiments(Marginals, ())),
    ),
)
