"""Supermodular under attack."""

from __future__ import annotations

from functools import partial

import pyarrow as pa

from hedgerow.audit import distinguish as trials
from hedgerow.audit.audited import Audited, Experiment, plain
from hedgerow.methods.supermodular import Supermodular
from hedgerow.schema import Schema


def _personal() -> Audited:
    """Supermodular: laws are enumerated beside a public side table, transcripts with a made one."""
    values = {"type": "categorical", "taxonomy": {"L": ["a", "b"], "R": ["c", "d"]}}
    schema = Schema.from_dict(
        {"name": "tiny", "unit": "row", "attributes": {"x": values, "y": values}}
    )
    rows = [(x, y) for x in "abcd" for y in "abcd" for _ in range(2)]
    side = {"x": [x for x, _ in rows], "y": [y for _, y in rows]}
    public = pa.table(side)
    few = pa.table({"a": ["x1", "x2", "y1", "y2"] * 10})
    return Audited(
        name="supermodular",
        modes=(
            Supermodular(),
            Supermodular(model="aggregate"),
            Supermodular(mode="sampled", keep="1/10"),
        ),
        tiny=(
            Supermodular(side=public),
            Supermodular(side=public, risk=1.0),
            Supermodular(side=public, model="aggregate"),
            Supermodular(side=public, mode="sampled", keep="1/3"),
        ),
        experiments=(
            Experiment(  # as many people as the threshold asks for
                Supermodular(side=few), plain(partial(trials.some_and_none, each=15))
            ),
            Experiment(
                Supermodular(side=few, mode="sampled", keep="1/10"),
                plain(partial(trials.some_and_none, each=100)),
            ),
        ),
        tiny_schemas={"two attributes": schema},
        needs_delta=True,
        slow=10,
    )


AUDITED = (_personal(),)
