"""What is audited: the method, and a method of hedgerow's that is guided by the score."""

from __future__ import annotations

from hedgerow.extend import Audited, DiffGen, DiffMulti
from hedgerow_equalparts.method import EqualParts

AUDITED = (
    Audited(
        name="equalparts",
        modes=(EqualParts(), EqualParts(parts=2)),
        tiny=(EqualParts(parts=2),),
        experiments=(),
    ),
    Audited(
        name="margin",
        modes=(
            DiffGen(score="margin", specializations=3),
            DiffMulti(score="margin", specializations=6, depth=3),
        ),
        tiny=(DiffGen(score="margin", specializations=2),),
        experiments=(),
    ),
)
