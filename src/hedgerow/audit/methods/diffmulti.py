"""DiffMulti under attack."""

from __future__ import annotations

from hedgerow.audit import distinguish as trials
from hedgerow.audit.audited import Audited, Experiment, experiments, plain
from hedgerow.methods.diffmulti import DiffMulti

AUDITED = (
    Audited(
        name="diffmulti",
        modes=(
            DiffMulti(specializations=8, depth=4),
            DiffMulti(specializations=8, depth=4, distribution="even"),
            DiffMulti(specializations=6, depth=3, score="max"),
            DiffMulti(specializations=6, depth=3, score="gini"),
            DiffMulti(specializations=6, depth=3, score="ncp"),
            DiffMulti(specializations=6, depth=3, score="discernibility"),
            DiffMulti(specializations=6, depth=3, score="infogain"),
            DiffMulti(),
            DiffMulti(schedule="paper", specializations=8, depth=4),
            DiffMulti(schedule="paper", specializations=5, depth=3, score="ncp"),
            DiffMulti(schedule="paper", specializations=5, depth=3, distribution="even"),
        ),
        tiny=(
            DiffMulti(specializations=2, depth=2),
            DiffMulti(specializations=2, depth=2, distribution="even"),
            DiffMulti(schedule="paper", specializations=2, depth=2),
        ),
        experiments=(
            Experiment(DiffMulti(specializations=21, depth=2), plain(trials.empty_child)),
            Experiment(
                DiffMulti(schedule="paper", specializations=21, depth=2),
                plain(trials.empty_child),
            ),
            Experiment(
                DiffMulti(schedule="paper", specializations=11, depth=2),
                plain(trials.share_of_child),
                epsilon="0.6",  # so that sizes are bought for 0.1
            ),
            *experiments(DiffMulti, (trials.empty_row,), depth=1),
        ),
    ),
)
