"""DiffGen under attack."""

from __future__ import annotations

from hedgerow.audit import distinguish as trials
from hedgerow.audit.audited import Audited, experiments
from hedgerow.methods.diffgen import DiffGen

AUDITED = (
    Audited(
        name="diffgen",
        modes=(
            DiffGen(specialisations=4),
            DiffGen(),
            DiffGen(specialisations=3, score="gini"),
            DiffGen(specialisations=3, score="infogain"),
            DiffGen(specialisations=3, score="ncp"),
            DiffGen(specialisations=3, score="discernibility"),
            DiffGen(specialisations=3, score="purity"),
            DiffGen(schedule="paper", specialisations=4),
            DiffGen(schedule="paper", specialisations=3, score="infogain"),
            DiffGen(schedule="paper", specialisations=3, score="ncp"),
            DiffGen(schedule="paper", specialisations=3, score="discernibility"),
        ),
        tiny=(DiffGen(specialisations=2), DiffGen(schedule="paper", specialisations=2)),
        experiments=tuple(experiments(DiffGen, (trials.empty_row,))),
    ),
)
