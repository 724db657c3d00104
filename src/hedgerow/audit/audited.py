"""What is audited of a method, as values: its modes, tiny settings and distinguishers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

from hedgerow.audit import distinguish as trials
from hedgerow.audit.distinguish import Trial
from hedgerow.audit.neighbors import TINY_TABLES, picker, random_schema
from hedgerow.audit.records import Pick
from hedgerow.methods.api import run
from hedgerow.methods.publisher import Publisher
from hedgerow.privacy.budget import Budget
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
    kind: Any, makers: tuple[Callable[[Publisher], Trial], ...], **small: Any
) -> list[Experiment]:
    """The trials that suit every method, and some more, for both schedules."""
    found = []
    for schedule in ("tuned", "paper"):
        one_step = kind(schedule=schedule, specializations=1, **small)
        for maker in (*makers, trials.bounds_from_data, trials.classes_from_data):
            found.append(Experiment(one_step, plain(maker)))
        by_ncp = kind(schedule=schedule, specializations=1, score="ncp", **small)
        found.append(Experiment(by_ncp, plain(trials.empty_cut)))
        found.append(Experiment(one_step, _metadata))
        found.append(Experiment(one_step, plain(trials.float_support)))
    found.append(Experiment(kind(), plain(trials.chosen_size), epsilon="1"))
    return found


def _metadata(method: Publisher, budget: Budget) -> Trial:
    return trials.metadata(lambda table, sampler: run(table, method, budget, sampler))


def plain(maker: Callable[[Publisher], Trial]) -> Callable[[Publisher, Budget], Trial]:
    """A trial that is the same for any budget."""
    return partial(_without_budget, maker)


def _without_budget(
    maker: Callable[[Publisher], Trial], method: Publisher, budget: Budget
) -> Trial:
    return maker(method)


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
