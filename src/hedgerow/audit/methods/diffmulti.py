"""DiffMulti under attack, and its marginals."""

from __future__ import annotations

from hedgerow.audit import trials
from hedgerow.audit.audited import Audited, Experiment, experiments, plain
from hedgerow.audit.neighbours import TINY_TABLES, short_or_long_schema
from hedgerow.publish.diffmulti import DiffMulti
from hedgerow.schema import Schema

__all__ = ["AUDITED"]


def _booleans(*names: str) -> Schema:
    """As few cells as can be: every cell of marginals is a draw."""
    return Schema.from_dict(
        {"name": "few", "unit": "row", "attributes": {name: {"type": "boolean"} for name in names}}
    )


def _one_value() -> Schema:
    """No region can be split, so that few draws lie before a round of residuals."""
    one, two = {"type": "categorical", "values": ["x"]}, {"type": "boolean", "role": "class"}
    return Schema.from_dict({"name": "one", "unit": "row", "attributes": {"a": one, "c": two}})


AUDITED = (
    Audited(
        name="diffmulti",
        modes=(
            DiffMulti(marginals=False, specialisations=8, depth=4),
            DiffMulti(marginals=False, specialisations=8, depth=4, distribution="even"),
            DiffMulti(marginals=False, specialisations=6, depth=3, score="max"),
            DiffMulti(marginals=False, specialisations=6, depth=3, score="gini"),
            DiffMulti(marginals=False, specialisations=6, depth=3, score="ncp"),
            DiffMulti(marginals=False, specialisations=6, depth=3, score="discernibility"),
            DiffMulti(marginals=False),
            DiffMulti(schedule="paper", specialisations=8, depth=4),
            DiffMulti(schedule="paper", specialisations=5, depth=3, score="ncp"),
            DiffMulti(schedule="paper", specialisations=5, depth=3, distribution="even"),
        ),
        tiny=(
            DiffMulti(marginals=False, specialisations=2, depth=2),
            DiffMulti(marginals=False, specialisations=2, depth=2, distribution="even"),
            DiffMulti(schedule="paper", specialisations=2, depth=2),
        ),
        experiments=(
            Experiment(
                DiffMulti(marginals=False, specialisations=21, depth=2), plain(trials.empty_child)
            ),
            Experiment(
                DiffMulti(schedule="paper", specialisations=21, depth=2),
                plain(trials.empty_child),
            ),
            Experiment(
                DiffMulti(schedule="paper", specialisations=11, depth=2),
                plain(trials.share_of_child),
                epsilon="0.6",  # so that sizes are bought for 0.1
            ),
            *experiments(DiffMulti, (trials.empty_row,), depth=1, marginals=False),
        ),
    ),
    Audited(
        name="diffmulti-marginals",
        modes=(
            DiffMulti(marginals=True, pairs=9, specialisations=4, depth=2),
            DiffMulti(marginals=True, pairs=1, rounds=2, score="ncp"),
            DiffMulti(marginals=True),
        ),
        tiny=(
            DiffMulti(marginals=True, rounds=1, specialisations=1, depth=1),
            DiffMulti(marginals=True, pairs=1, rounds=1, specialisations=1, depth=1),
        ),
        experiments=(
            Experiment(
                DiffMulti(marginals=True, pairs=1, specialisations=1, depth=1),
                plain(trials.empty_row),
            ),
        ),
        schemas=short_or_long_schema,
        tiny_schemas={
            "2 values": _booleans("a"),
            "a 2x2 grid": _booleans("a", "b"),
            "1 value and a class": _one_value(),
            "2 values and a class": TINY_TABLES["2 values and a class"],
        },
    ),
)
