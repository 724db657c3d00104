"""DiffPart under attack."""

from __future__ import annotations

from fractions import Fraction

from hedgerow.audit import distinguish as trials
from hedgerow.audit.audited import Audited, Experiment, plain
from hedgerow.audit.neighbors import TINY_UNIVERSES, large_universe, random_universe
from hedgerow.methods.diffpart import DiffPart

AUDITED = (
    Audited(
        name="diffpart",
        # thresholds so low that growth is wild and every branch is taken
        modes=(
            DiffPart(),
            DiffPart(core=2),
            DiffPart(core=1, cap=1),
            DiffPart(cap=3, core=3),
            DiffPart(variant="tree"),
            DiffPart(variant="tree", max_partitions=4),
            DiffPart(schedule="paper", c1=0.01, c2=0.01),
            DiffPart(schedule="paper", c1=1, c2=0.3),
            DiffPart(schedule="paper", c1=0.5, c2=0.1, max_partitions=7),
        ),
        tiny=(
            DiffPart(core=2),
            DiffPart(core=1, cap=1),
            DiffPart(variant="tree"),
            DiffPart(schedule="paper", c1=0.5, c2=0.1),
        ),
        experiments=(
            Experiment(DiffPart(schedule="paper", c1=0.5, c2=0.3), plain(trials.empty_cuts)),
            Experiment(DiffPart(variant="tree"), plain(trials.empty_cuts)),
            Experiment(DiffPart(schedule="paper", c1=0.5, c2=0.3), plain(trials.order_of_sets)),
            Experiment(DiffPart(variant="tree"), plain(trials.order_of_sets)),
            Experiment(DiffPart(variant="tree", cap=1), trials.far_down),
            Experiment(DiffPart(core=1, cap=1), plain(trials.long_record)),
        ),
        schemas=random_universe,
        large=large_universe,
        tiny_schemas=TINY_UNIVERSES,
        deep=((DiffPart(variant="tree", cap=1), Fraction(1, 4)),),
    ),
)
