"""The methods that are audited, and how: modes, tiny settings and distinguishers of each.

The tests, the command and `make audit` go through all of them, methods of installed packages too:
the audits of a method are those that `hedgerow.registry` names for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, partial
from typing import Any

import pyarrow as pa

from hedgerow.audit import distinguish as trials
from hedgerow.audit.distinguish import Trial
from hedgerow.audit.neighbors import (
    TINY_TABLES,
    TINY_UNIVERSES,
    Pick,
    grouped,
    large_universe,
    picker,
    random_schema,
    random_universe,
    related_schema,
    schema_of,
)
from hedgerow.errors import UsageError
from hedgerow.methods.cdiffgen import CDiffGen
from hedgerow.methods.diffgen import DiffGen
from hedgerow.methods.diffmulti import DiffMulti
from hedgerow.methods.diffpart import DiffPart
from hedgerow.methods.marginals import Marginals
from hedgerow.methods.publisher import Publisher
from hedgerow.methods.supermodular import Supermodular
from hedgerow.privacy.budget import Budget
from hedgerow.registry import METHODS, OURS, load
from hedgerow.schema import Schema


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


@dataclass(frozen=True, kw_only=True)
class Audited:
    """One method and how it is audited.

    Args:
        name: The method's name.
        modes: Settings that are replayed on any schema.
        tiny: Settings with few enough outcomes to enumerate.
        experiments: Distinguishers.
        schemas: Makes schemas up that the method can publish.
        large: Makes larger ones up, where some modes spend a delta on those alone.
        tiny_schemas: Those on which laws are enumerated.
        needs_delta: Whether it publishes nothing without a delta.
        slow: How many times fewer transcripts are replayed, because each takes so much longer.
        deep: Settings whose gate is replayed on neighbors far down a tree, and the share of
            epsilon that the gate is given.
    """

    name: str
    modes: tuple[Publisher, ...]
    tiny: tuple[Publisher, ...]
    experiments: tuple[Experiment, ...]
    schemas: Callable[[Pick], Schema] = random_schema
    large: Callable[[Pick], Schema] | None = None
    tiny_schemas: Mapping[str, Schema] = field(default_factory=lambda: TINY_TABLES)
    needs_delta: bool = False
    slow: int = 1
    deep: tuple[tuple[Publisher, Fraction], ...] = ()

    @property
    def kind(self) -> str:
        """The kind of data that it publishes."""
        return self.schemas(picker(0)).kind

    def schemas_for(self, mode: Publisher, budget: Budget) -> Callable[[Pick], Schema]:
        """What makes schemas up for one mode: where a delta is spent on large ones, those too."""
        large = self.large
        if large is None or not mode.plan_for(large(picker(0)), budget).budget.delta:
            return self.schemas
        return lambda pick: large(pick) if pick(0, 3) else self.schemas(pick)


def experiments(
    kind: Any, makers: tuple[Callable[[Publisher, Budget], Trial], ...], **small: Any
) -> list[Experiment]:
    """The trials that suit every method, and some more, for both schedules."""
    attacks = []
    for schedule in ("tuned", "paper"):
        one_step = kind(schedule=schedule, specializations=1, **small)
        for maker in (*makers, trials.bounds_from_data, trials.classes_from_data):
            attacks.append(Experiment(one_step, maker))
        by_ncp = kind(schedule=schedule, specializations=1, score="ncp", **small)
        attacks.append(Experiment(by_ncp, trials.empty_cut))
        attacks.append(Experiment(one_step, trials.metadata))
        attacks.append(Experiment(one_step, trials.float_support))
    attacks.append(Experiment(kind(), trials.chosen_size, epsilon="1"))
    return attacks


def describe(method: Publisher) -> str:
    """The settings of a method that are not its defaults, in short.

    Example:
        >>> from hedgerow.methods.diffgen import DiffGen
        >>> describe(DiffGen(schedule="paper", specializations=4))
        'paper, specializations 4'
        >>> describe(DiffGen())
        'tuned'
    """
    usual = type(method)().settings()
    words: list[str] = [method.schedule]
    for name, value in method.settings().items():
        if name not in ("schedule", "consistency") and value != usual[name]:
            words.append(str(value) if isinstance(value, str) else f"{name} {value}")
    return ", ".join(words)


# How each method of ours is attacked.


def _booleans(*names: str) -> Schema:
    """As few cells as can be: every cell of a table is a draw."""
    return schema_of("few", attributes={name: {"type": "boolean"} for name in names})


MARGINALS = (
    Audited(
        name="marginals",
        modes=(Marginals(), Marginals(pairs=2), Marginals(pairs=9)),
        tiny=(Marginals(), Marginals(pairs=1)),
        experiments=(
            Experiment(Marginals(), trials.empty_row),
            Experiment(Marginals(), trials.bounds_from_data),
            Experiment(Marginals(), trials.classes_from_data),
            Experiment(Marginals(), trials.float_support),
            Experiment(Marginals(pairs=1), trials.metadata),
        ),
        schemas=related_schema,
        tiny_schemas={
            "2 values": _booleans("a"),
            "a 2x2 grid": _booleans("a", "b"),
            "2 values and a class": TINY_TABLES["2 values and a class"],
        },
    ),
)

DIFFMULTI = (
    Audited(
        name="diffmulti",
        modes=(
            DiffMulti(specializations=8, depth=4),
            DiffMulti(specializations=8, depth=4, distribution="even"),
            *(
                DiffMulti(specializations=6, depth=3, score=score)
                for score in ("max", "gini", "ncp", "discernibility", "infogain")
            ),
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
            Experiment(DiffMulti(specializations=21, depth=2), trials.empty_child),
            Experiment(
                DiffMulti(schedule="paper", specializations=21, depth=2), trials.empty_child
            ),
            Experiment(
                DiffMulti(schedule="paper", specializations=11, depth=2),
                trials.share_of_child,
                epsilon="0.6",  # so that sizes are bought for 0.1
            ),
            *experiments(DiffMulti, (trials.empty_row,), depth=1),
        ),
    ),
)

DIFFGEN = (
    Audited(
        name="diffgen",
        modes=(
            DiffGen(specializations=4),
            DiffGen(),
            *(
                DiffGen(specializations=3, score=score)
                for score in ("gini", "infogain", "ncp", "discernibility", "purity")
            ),
            DiffGen(schedule="paper", specializations=4),
            DiffGen(schedule="paper", specializations=3, score="infogain"),
            DiffGen(schedule="paper", specializations=3, score="ncp"),
            DiffGen(schedule="paper", specializations=3, score="discernibility"),
        ),
        tiny=(DiffGen(specializations=2), DiffGen(schedule="paper", specializations=2)),
        experiments=tuple(experiments(DiffGen, (trials.empty_row,))),
    ),
)

CDIFFGEN = (
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

DIFFPART = (
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
            Experiment(DiffPart(schedule="paper", c1=0.5, c2=0.3), trials.empty_cuts),
            Experiment(DiffPart(variant="tree"), trials.empty_cuts),
            Experiment(DiffPart(schedule="paper", c1=0.5, c2=0.3), trials.order_of_sets),
            Experiment(DiffPart(variant="tree"), trials.order_of_sets),
            Experiment(DiffPart(variant="tree", cap=1), trials.far_down),
            Experiment(DiffPart(core=1, cap=1), trials.long_record),
        ),
        schemas=random_universe,
        large=large_universe,
        tiny_schemas=TINY_UNIVERSES,
        deep=((DiffPart(variant="tree", cap=1), Fraction(1, 4)),),
    ),
)


def _supermodular() -> Audited:
    """Supermodular: laws are enumerated beside a public side table, transcripts with a made one."""
    values = grouped(L=["a", "b"], R=["c", "d"])
    schema = schema_of("tiny", attributes={"x": values, "y": values})
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
                Supermodular(side=few), partial(trials.some_and_none, each=15)
            ),
            Experiment(
                Supermodular(side=few, mode="sampled", keep="1/10"),
                partial(trials.some_and_none, each=100),
            ),
        ),
        tiny_schemas={"two attributes": schema},
        needs_delta=True,
        slow=10,
    )


SUPERMODULAR = (_supermodular(),)


class _Audits(Mapping[str, Audited]):
    """All audits by name; a method may have several, the first of its own name."""

    def __getitem__(self, name: str) -> Audited:
        return _load_all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_load_all())

    def __len__(self) -> int:
        return len(_load_all())


@cache
def _load_all() -> dict[str, Audited]:
    audits: dict[str, Audited] = {}
    for name in METHODS:
        try:
            entries: tuple[Audited, ...] = load(METHODS[name].audited)
        except (UsageError, ImportError, AttributeError):
            if name in OURS:
                raise
            continue  # a package that is broken; whoever names it is told that there is no audit
        audits |= {entry.name: entry for entry in entries}
    return audits


AUDITED: Mapping[str, Audited] = _Audits()
