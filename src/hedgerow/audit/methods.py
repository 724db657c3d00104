"""The methods that are audited: one entry each, shared by the tests, the command and `make audit`.

To add a method, add an entry here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import pyarrow as pa

from hedgerow.audit import trials
from hedgerow.audit.distinguish import Trial
from hedgerow.audit.neighbours import (
    TINY_TABLES,
    TINY_UNIVERSES,
    Pick,
    random_schema,
    random_universe,
    short_or_long_schema,
)
from hedgerow.privacy.budget import Budget
from hedgerow.publish.api import run
from hedgerow.publish.cdiffgen import CDiffGen
from hedgerow.publish.diffgen import DiffGen
from hedgerow.publish.diffmulti import DiffMulti
from hedgerow.publish.diffpart import DiffPart
from hedgerow.publish.publisher import Publisher
from hedgerow.publish.supermodular import Supermodular
from hedgerow.schema import Schema

__all__ = ["AUDITED", "MODES", "Audited", "Experiment", "describe"]


@dataclass(frozen=True)
class Experiment:
    """A distinguisher and what it is run on.

    Args:
        method: The settings under trial.
        trial: Makes the trial, from the method and the budget.
        epsilon: What is spent, where the trial needs its own; else the audit's.
    """

    method: Publisher
    trial: Callable[[Publisher, Budget], Trial]
    epsilon: str | None = None


@dataclass(frozen=True)
class Audited:
    """One method and how it is audited.

    Args:
        name: The method's name.
        modes: Settings that are replayed on any schema.
        tiny: Settings with few enough outcomes to enumerate.
        experiments: Distinguishers.
        schemas: Makes schemas up that the method can publish.
        tiny_schemas: Those on which laws are enumerated.
        needs_delta: Whether it publishes nothing without a delta.
        slow: How many times fewer transcripts are replayed, because each takes so much longer.
        deep: Settings whose gate is replayed on neighbours far down a tree, and the share of
            epsilon that the gate is given.
    """

    name: str
    modes: tuple[Publisher, ...]
    tiny: tuple[Publisher, ...]
    experiments: tuple[Experiment, ...]
    schemas: Callable[[Pick], Schema] = random_schema
    tiny_schemas: Mapping[str, Schema] = field(default_factory=lambda: TINY_TABLES)
    needs_delta: bool = False
    slow: int = 1
    deep: tuple[tuple[Publisher, Fraction], ...] = ()


def _experiments(
    kind: Any, makers: tuple[Callable[[Publisher], Trial], ...], **small: Any
) -> list[Experiment]:
    """The trials that suit every method, and some more, for both schedules."""
    found = []
    for schedule in ("tuned", "paper"):
        one_step = kind(schedule=schedule, specialisations=1, **small)
        for maker in (*makers, trials.bounds_from_data, trials.classes_from_data):
            found.append(Experiment(one_step, _plain(maker)))
        by_ncp = kind(schedule=schedule, specialisations=1, score="ncp", **small)
        found.append(Experiment(by_ncp, _plain(trials.empty_cut)))
        found.append(Experiment(one_step, _metadata))
        found.append(Experiment(one_step, _plain(trials.float_support)))
    found.append(Experiment(kind(), _plain(trials.chosen_size), epsilon="1"))
    return found


def _metadata(method: Publisher, budget: Budget) -> Trial:
    return trials.metadata(lambda table, sampler: run(table, method, budget, sampler))


def _plain(maker: Callable[[Publisher], Trial]) -> Callable[[Publisher, Budget], Trial]:
    return partial(_without_budget, maker)


def _without_budget(
    maker: Callable[[Publisher], Trial], method: Publisher, budget: Budget
) -> Trial:
    return maker(method)


def _booleans(*names: str) -> Schema:
    """As few cells as can be: every cell of marginals is a draw."""
    return Schema.from_dict(
        {"name": "few", "unit": "row", "attributes": {name: {"type": "boolean"} for name in names}}
    )


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
        "supermodular",
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
                Supermodular(side=few), _plain(partial(trials.some_and_none, each=15))
            ),
            Experiment(
                Supermodular(side=few, mode="sampled", keep="1/10"),
                _plain(partial(trials.some_and_none, each=100)),
            ),
        ),
        tiny_schemas={"two attributes": schema},
        needs_delta=True,
        slow=10,
    )


AUDITED: dict[str, Audited] = {
    entry.name: entry
    for entry in (
        Audited(
            "diffmulti",
            modes=(
                DiffMulti(specialisations=8, depth=4),
                DiffMulti(specialisations=8, depth=4, distribution="even"),
                DiffMulti(specialisations=6, depth=3, score="max"),
                DiffMulti(specialisations=6, depth=3, score="gini"),
                DiffMulti(specialisations=6, depth=3, score="ncp"),
                DiffMulti(specialisations=6, depth=3, score="discernibility"),
                DiffMulti(),
                DiffMulti(schedule="paper", specialisations=8, depth=4),
                DiffMulti(schedule="paper", specialisations=5, depth=3, score="ncp"),
                DiffMulti(schedule="paper", specialisations=5, depth=3, distribution="even"),
            ),
            tiny=(
                DiffMulti(specialisations=2, depth=2),
                DiffMulti(specialisations=2, depth=2, distribution="even"),
                DiffMulti(schedule="paper", specialisations=2, depth=2),
            ),
            experiments=(
                Experiment(DiffMulti(specialisations=21, depth=2), _plain(trials.empty_child)),
                Experiment(
                    DiffMulti(schedule="paper", specialisations=21, depth=2),
                    _plain(trials.empty_child),
                ),
                Experiment(
                    DiffMulti(schedule="paper", specialisations=11, depth=2),
                    _plain(trials.share_of_child),
                    epsilon="0.6",  # so that sizes are bought for 0.1
                ),
                *_experiments(DiffMulti, (trials.empty_row,), depth=1),
            ),
        ),
        Audited(
            "diffmulti-marginals",
            modes=(
                DiffMulti(marginals=True, pairs=2, specialisations=4, depth=2),
                DiffMulti(marginals=True, pairs=1, score="ncp"),
                DiffMulti(marginals=True),
            ),
            tiny=(
                DiffMulti(marginals=True, specialisations=1, depth=1),
                DiffMulti(marginals=True, pairs=1, specialisations=1, depth=1),
            ),
            experiments=(
                Experiment(
                    DiffMulti(marginals=True, pairs=1, specialisations=1, depth=1),
                    _plain(trials.empty_row),
                ),
            ),
            schemas=short_or_long_schema,
            tiny_schemas={
                "2 values": _booleans("a"),
                "a 2x2 grid": _booleans("a", "b"),
                "2 values and a class": TINY_TABLES["2 values and a class"],
            },
        ),
        Audited(
            "diffgen",
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
            ),
            tiny=(DiffGen(specialisations=2), DiffGen(schedule="paper", specialisations=2)),
            experiments=tuple(_experiments(DiffGen, (trials.empty_row,))),
        ),
        Audited(
            "cdiffgen",
            modes=(
                CDiffGen(specialisations=4),
                CDiffGen(score="gini"),
                CDiffGen(specialisations=3, score="infogain"),
                CDiffGen(schedule="paper", specialisations=4),
            ),
            tiny=(CDiffGen(specialisations=2), CDiffGen(schedule="paper", specialisations=2)),
            experiments=tuple(
                _experiments(CDiffGen, (trials.empty_row, trials.levels_and_edges))
            ),
        ),
        Audited(
            "diffpart",
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
                Experiment(
                    DiffPart(schedule="paper", c1=0.5, c2=0.3), _plain(trials.empty_cuts)
                ),
                Experiment(DiffPart(variant="tree"), _plain(trials.empty_cuts)),
                Experiment(
                    DiffPart(schedule="paper", c1=0.5, c2=0.3), _plain(trials.order_of_sets)
                ),
                Experiment(DiffPart(variant="tree"), _plain(trials.order_of_sets)),
                Experiment(DiffPart(variant="tree", cap=1), trials.far_down),
            ),
            schemas=random_universe,
            tiny_schemas=TINY_UNIVERSES,
            deep=((DiffPart(variant="tree", cap=1), Fraction(1, 4)),),
        ),
        _personal(),
    )
}  # fmt: skip

MODES: tuple[Publisher, ...] = tuple(
    mode for entry in AUDITED.values() if not entry.needs_delta for mode in entry.modes
)
"""Everything that is replayed with and without a delta."""


def describe(method: Publisher) -> str:
    """The settings of a method that are not its defaults, in short.

    Example:
        >>> describe(DiffGen(schedule="paper", specialisations=4))
        'paper, specialisations 4'
        >>> describe(DiffGen())
        'tuned'
    """
    usual = type(method)().settings()
    words: list[str] = [method.schedule]
    for name, value in method.settings().items():
        if name not in ("schedule", "consistency") and value != usual[name]:
            words.append(str(value) if isinstance(value, str) else f"{name} {value}")
    return ", ".join(words)
