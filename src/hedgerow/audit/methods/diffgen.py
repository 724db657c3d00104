"""DiffGen under attack."""

from __future__ import annotations

from hedgerow.audit import distinguish as trials
from hedgerow.audit.audited import Audited, experiments
from hedgerow.methods.diffgen import DiffGen

AUDITED = (
    Audited(
        name="diffgen",
        modes=(
            DiffGen(specializations=4),
            DiffGen(),
            DiffGen(specializations=3, score="gini"),
            DiffGen(specializations=3, score="infogain"),
            DiffGen(specializations=3, score="ncp"),
            DiffGen(specializations=3, score="discernibility"),
            DiffGen(specializations=3, score="purity"),
            DiffGen(schedule="paper", specializations=4),
            DiffGen(schedule="paper", specializations=3, score="infogain"),
            DiffGen(schedule="paper", specializations=3, score="ncp"),
            DiffGen(schedule="paper", specializations=3, score="discernibility"),
        ),
        tiny=(DiffGen(specializations=2), DiffGen(schedule="paper", specializations=2)),
        experiments=tuple(experiments(DiffGen, (trials.empty_row,))),
    ),
)
