"""CDiffGen under attack."""

from __future__ import annotations

from hedgerow.audit import distinguish as trials
from hedgerow.audit.audited import Audited, experiments
from hedgerow.methods.cdiffgen import CDiffGen

AUDITED = (
    Audited(
        name="cdiffgen",
        modes=(
            CDiffGen(specializations=4),
            CDiffGen(),
            CDiffGen(score="gini"),
            CDiffGen(specializations=3, score="infogain"),
            CDiffGen(schedule="paper", specializations=4),
        ),
        tiny=(CDiffGen(specializations=2), CDiffGen(schedule="paper", specializations=2)),
        experiments=tuple(experiments(CDiffGen, (trials.empty_row, trials.levels_and_edges))),
    ),
)
