"""What every method offers, and what it hands over when it is done."""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.counting.engine import Histograms
from hedgerow.counting.parts import Engine
from hedgerow.counting.sealed import Sealed
from hedgerow.data import CodeMatrix, WeightColumns
from hedgerow.errors import SchemaError, UsageError
from hedgerow.estimate.measurements import Measurement, Place
from hedgerow.estimate.partition import Itemsets, Partition
from hedgerow.estimate.tables import Cells
from hedgerow.methods.plan import Budgets, Plan, divide_budget
from hedgerow.methods.scores import SCORES, Score
from hedgerow.privacy.budget import Budget, Number
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.ledger import Allowance, Ledger
from hedgerow.privacy.sampler import Rates, Sampler
from hedgerow.registry import METHODS, for_data, load
from hedgerow.schema import Numeric, Schema, refuse_no_unit
from hedgerow.suggestions import METHOD, Suggestions, answer_mistakes, check_fields

MOST_ATTRIBUTES = 10_000
MOST_POWER = 18  # of ten: no noisy number of rows is larger


@runtime_checkable
class Progress(Protocol):
    """Whom to tell how far a run is."""

    def __call__(self, share: float, words: str = "") -> None:
        """Tells the share of the work that is done and what is being done; both are public."""


def no_progress(share: float, words: str = "") -> None:
    """Tells nobody."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A finished run: all of it was drawn or is public."""

    plan: Plan
    partition: Partition | Itemsets | Cells
    measurements: tuple[Measurement, ...]
    ledger: Ledger
    published: Ints  # the ledger's accounts of the published regions
    sharing: int = 1  # how many regions share each of these accounts
    kind: str | None = None  # of release that it makes, if not that of the schema

    @property
    def parts(self) -> dict[str, Any]:
        """All that was drawn and leaves, by the names that a release has for it."""
        return {"partition": self.partition, "measurements": self.measurements}


@dataclass(frozen=True, kw_only=True)
class Job:
    """What a method works with.

    Args:
        schema: The public schema.
        engine: The private data.
        plan: What may be spent on what; its sizes are settled.
        curator: Who charges and draws.
        score: By what values are chosen.
        noisy_rows: The noisy number of rows, not below 0; None if the schedule does not buy it.
        found: The measurements made so far; the method adds its own.
        progress: Whom to tell the share of the work that is done.
    """

    schema: Schema
    engine: Engine
    plan: Plan
    curator: Curator
    score: Score
    noisy_rows: int | None
    found: list[Measurement]
    progress: Progress

    @property
    def specializations(self) -> int:
        """How many there may be."""
        assert self.plan.specializations is not None
        return self.plan.specializations

    @property
    def depth(self) -> int:
        """How many there may be on one path."""
        assert self.plan.depth is not None
        return self.plan.depth

    def finish(self, partition: Partition, published: Ints, sharing: int) -> Outcome:
        """Hands over what was found."""
        return Outcome(
            plan=self.plan, partition=partition, measurements=tuple(self.found),
            ledger=self.curator.ledger, published=published, sharing=sharing,
        )  # fmt: skip


class Publisher(Suggestions, ABC):
    """A method: frozen settings, a plan that sees no data, and a run that keeps to it.

    Methods are frozen dataclasses with at least the setting `schedule`.

    Example:
        >>> from hedgerow import DiffGen, sample
        >>> method = DiffGen(specializations=3)
        >>> method.settings()["schedule"], method.plan(sample.schema(), epsilon=1).depth
        ('tuned-1', 3)
    """

    _suggestions = METHOD

    name: ClassVar[str]
    data: ClassVar[Literal["table", "transactions"]] = "table"  # what it publishes
    schedule: Literal["tuned", "paper"]
    versions: ClassVar[Mapping[str, int]] = {"tuned": 1, "paper": 1}  # one more for each change
    uses_delta: ClassVar[bool] = True  # whether a delta buys anything
    measures_tables: ClassVar[bool] = False  # whether it counts the tables that a schema names
    in_memory: ClassVar[bool] = False  # whether it looks at whole records, which only memory holds

    def __post_init__(self) -> None:
        """Refuses settings of the wrong type; methods check the rest after that."""
        check_fields(self)

    def _examples(self) -> Mapping[str, str]:
        return {"method": type(self).__name__}

    @answer_mistakes
    def plan(
        self,
        schema: Schema | Mapping[str, Any] | str | os.PathLike[str],
        epsilon: Number = 1,
        delta: Number = 0,
        rows: int | None = None,
    ) -> Plan:
        """What would be spent on what. Opens no data.

        Args:
            schema: The public schema, the path of its file, or a dictionary of the same shape.
            epsilon: The loss that one person may suffer.
            delta: 0 for pure differential privacy.
            rows: A public guess at the number of rows, where a rule would use the noisy one.

        Example:
            >>> from hedgerow import DiffGen, sample
            >>> DiffGen(specializations=3).plan(sample.schema(), epsilon="1/2").budget.epsilon
            Fraction(1, 2)
        """
        schema = Schema.of(schema)
        if schema.kind != self.data:
            mine, theirs, instead = (
                ("tables", "transactions", "describe the table by its attributes")
                if self.data == "table"
                else ("transactions", "a table", "describe the items in the schema")
            )
            raise UsageError(
                f"{self.name} publishes {mine}, and the schema describes {theirs}.",
                hint=f"Use {' or '.join(for_data(schema.kind))}, or {instead}.",
            )
        cap = schema.person.max_rows if schema.person else 1
        budget = Budget.of(epsilon, delta, cap)
        plan = self.plan_for(schema, budget)
        self.check(schema, plan)
        return plan if rows is None else self.plan_for(schema, budget, rows)

    @abstractmethod
    def plan_for(self, schema: Schema, budget: Budget, rows: int | None = None) -> Plan:
        """The plan for a budget.

        Args:
            schema: The public schema.
            budget: What one person may lose.
            rows: The noisy number of rows or a public guess at it; None while it is not known.
        """

    def spends_delta(self, schema: Schema) -> bool:
        """Whether a delta would be spent on such data; the plan says of how much."""
        return self.uses_delta

    def check(self, schema: Schema, plan: Plan) -> None:
        """Refuses a plan that could stop after its first draw; no data was opened yet.

        It is looked at for noisy numbers of rows of all sizes, whichever will be drawn.
        """
        plan.check_rates()
        for rows in (0, *(10**power for power in range(MOST_POWER + 1))):
            self.plan_for(schema, plan.budget, rows).check_rates()

    @abstractmethod
    def run(
        self,
        engine: Any,
        schema: Schema,
        plan: Plan,
        sampler: Sampler,
        progress: Progress = no_progress,
    ) -> Outcome:
        """Spends by the plan.

        Args:
            engine: The private data, as this method counts it.
            schema: The public schema.
            plan: What `plan` or `plan_for` gave, without a number of rows.
            sampler: Where outcomes come from.
            progress: Called now and then with the share of the work that is done.
        """

    def chosen(self, schema: Schema, outcome: Outcome) -> dict[str, Any]:
        """What public rules chose where a setting was left out."""
        return {}

    @property
    def schedule_name(self) -> str:
        """The schedule with its version, by which `verify` looks up its rules for ever."""
        return f"{self.schedule}-{self.versions[self.schedule]}"

    def settings(self) -> dict[str, Any]:
        """The settings in words, for the manifest.

        Example:
            >>> from hedgerow import DiffGen
            >>> DiffGen(specializations=3).settings()["specializations"]
            3
        """
        return asdict(self) | {"schedule": self.schedule_name}  # type: ignore[call-overload, no-any-return]

    def own_weights(self, schema: Schema) -> WeightColumns | None:
        """The columns of people's own weights, if the method reads any."""
        return None

    def prepared(self, schema: Schema, source: object) -> tuple[Publisher, CodeMatrix | None]:
        """Reads what is public, before private data is opened.

        Args:
            schema: The public schema.
            source: Where the private data is, which must be elsewhere.

        Returns:
            The method to run, and rows that the private data must not be, if there are any.
        """
        return self, None


class TablePublisher(Publisher):
    """A method that specializes a table by a score."""

    score: str | None

    def __post_init__(self) -> None:
        """See `Publisher.__post_init__`; a `Score` that was given itself is known from now on."""
        score: object = self.score
        if isinstance(score, Score):
            SCORES.add(score.name, score)
            object.__setattr__(self, "score", score.name)
        super().__post_init__()

    def check(self, schema: Schema, plan: Plan) -> None:
        """See `Publisher.check`: whatever the noisy number of rows will be."""
        if len(schema.attributes) > MOST_ATTRIBUTES:
            raise UsageError(f"A schema may have at most {MOST_ATTRIBUTES} predictors.")
        super().check(schema, plan)

    def scoring(self, schema: Schema) -> Score:
        """The score that guides this method on tables of this schema."""
        return pick_score(self.score, schema)

    def choosing(
        self, purpose: str, budgets: Budgets, schema: Schema, units: tuple[int, ...], uses: int
    ) -> Allowance:
        """The line of a plan that pays for choices by the score."""
        score = self.scoring(schema)
        reach = 2 * max(score.sensitivity, score.score_range_apart)
        return Allowance(purpose, budgets.growth, units=units, uses=uses, reach=reach, choice=True)

    def share_steps(
        self, schema: Schema, budget: Budget, depth: int, each: int, units: int
    ) -> tuple[Budgets, list[Allowance]]:
        """The budgets of a paper's schedule, and what its cuts and choices take.

        Args:
            schema: The public schema.
            budget: What one person may lose.
            depth: How many specializations there may be on a path.
            each: How many steps one of them takes; each number is cut once beside.
            units: What a step costs.
        """
        numeric = sum(isinstance(attribute, Numeric) for attribute in schema.attributes)
        growth = units * (numeric + each * depth)
        budgets = divide_budget(budget, 2 * growth, growth)
        uses = {"cut": numeric + depth - 1 if numeric else 0, "select": depth}
        return budgets, [
            self.choosing(purpose, budgets, schema, (units,), use) for purpose, use in uses.items()
        ]

    @abstractmethod
    def grow(self, job: Job) -> Outcome:
        """Makes the regions and counts them, spending by the job's plan and nothing else."""

    @answer_mistakes
    def run(
        self,
        engine: Engine,
        schema: Schema,
        plan: Plan,
        sampler: Sampler,
        progress: Progress = no_progress,
    ) -> Outcome:
        """Opens the ledger, buys what the rules want to know, and publishes: see `Publisher.run`.

        For a tuned schedule that is the noisy number of rows, which is the first that its plan
        allows: what is granted after it is a function of it.
        """
        ledger = Ledger(plan.budgets.parts)
        curator = Curator(ledger, sampler)
        found, noisy_rows = [], None
        if self.schedule == "paper":
            ledger.allow(plan.allowances)
        else:
            ledger.allow(plan.allowances[:1])
            measured_rows, noisy_rows = buy_rows(curator, engine)
            found.append(measured_rows)
            plan = self.plan_for(schema, plan.budget, noisy_rows)
            ledger.allow(plan.allowances[1:])
        score = self.scoring(schema)
        return self.grow(Job(
            schema=schema, engine=engine, plan=plan, curator=curator, score=score,
            noisy_rows=noisy_rows, found=found, progress=progress,
        ))  # fmt: skip

    def chosen(self, schema: Schema, outcome: Outcome) -> dict[str, Any]:
        """See `Publisher.chosen`."""
        return {
            "score": self.scoring(schema).name,
            "specializations": outcome.plan.specializations,
            "depth": outcome.plan.depth,
        }


def as_method(method: object, schema: Schema) -> Publisher:
    """A method as a script names it: with its settings, by its class or name, or not at all.

    Args:
        method: What was given; None means the usual method for the schema.
        schema: What is to be published.

    Raises:
        UsageError: If it is no method.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row",
        ...                            "attributes": {"ill": {"type": "boolean"}}})
        >>> as_method("DiffGen", schema).name, as_method(None, schema).name
        ('diffgen', 'marginals')
    """
    if method is None:
        method = for_data(schema.kind)[0]
    if isinstance(method, str):
        method = load(METHODS[method.lower()].settings)
    if isinstance(method, type) and issubclass(method, Publisher):
        method = method()
    if not isinstance(method, Publisher):
        number = isinstance(method, (int, float)) and not isinstance(method, bool)
        raise UsageError(
            f"method cannot be of type {type(method).__name__}.",
            hint=(f"Write epsilon={method}. " if number else "")
            + f'Write method="marginals", or method=hedgerow.Marginals() with settings; there are '
            f"{', '.join(METHODS)}.",
        )
    return method


def refuse_unready(schema: Schema) -> None:
    """Refuses a draft, a schema other than the signed one, and one that states no unit."""
    if schema.is_draft:
        raise SchemaError(
            f"The schema {schema.name!r} is still a draft made from private data.",
            hint="Check every bound and value against public knowledge, and sign it: "
            "`hedgerow sign schema.yaml --name ...`. If it was signed, it has changed since.",
            places=[("draft",)],
        )
    about = schema.metadata
    if schema.changed_since_signed:
        raise SchemaError(
            f"The schema {schema.name!r} has changed since {about.reviewer} signed it off on "
            f"{about.reviewed}.",
            hint="If all of it is public knowledge as it is now, have it signed again: "
            "`hedgerow sign schema.yaml --name ...`. Or take reviewer, reviewed and signed out of "
            "its metadata.",
            places=[("draft",)],
        )
    refuse_no_unit(schema)


def ignored_tables(method: Publisher, schema: Schema) -> str | None:
    """What a steward should hear whose schema names tables that the method does not measure.

    Example:
        >>> from hedgerow import DiffGen, sample
        >>> ignored_tables(DiffGen(), sample.schema().with_tables(["sex smoker"]))
        'diffgen does not measure tables that a schema names: they are ignored.'
    """
    if method.measures_tables or not schema.tables:
        return None
    return f"{method.name} does not measure tables that a schema names: they are ignored."


def check_common(score: str | None, specializations: int | None, most: int) -> None:
    """Checks the settings that all methods that specialize share."""
    if score is not None and score not in tuple(SCORES):
        raise UsageError(f"score cannot be {score!r}.", hint=f"Use one of: {', '.join(SCORES)}.")
    check_count("specializations", specializations, most)


def check_count(
    setting: str, value: int | None, most: int, least: int = 1, *, by_rule: bool = True,
    usual: int | None = None,
) -> None:  # fmt: skip
    """Refuses a number that is too small or too large; None means "by rule", or the usual one."""
    if value is not None and not least <= value <= most:
        rule = "have it chosen by a public rule" if usual is None else f"take the usual {usual:,}"
        raise UsageError(
            f"{setting} must be a whole number from {least} to {most}.",
            hint=f"Leave it out to {rule}." if by_rule else None,
        )


def pick_score(name: str | None, schema: Schema) -> Score:
    """The score of that name; by default "max" where there is a class, else "ncp"."""
    score = SCORES[name or ("max" if schema.target else "ncp")]
    if not isinstance(score, Score):
        raise UsageError(
            f"What an installed package calls the score {name!r} is not a score.",
            hint="Its entry point must name a hedgerow.methods.scores.Score.",
        )
    if score.needs_class and not schema.target:
        raise UsageError(
            f"The score {score.name!r} needs a class, and the schema has none.",
            hint="Give an attribute `role: class`, or use the score ncp or discernibility.",
        )
    return score


# From what a curator drew to the measurements of a release.

_ROOT = np.zeros(1, dtype=np.int64)


def make_measurement(
    curator: Curator,
    purpose: str,
    at: Place,
    drawn: Sequence[tuple[Ints, Ints, Ints]],
    *,
    by_class: bool = False,
    max_contribution: int = 1,
) -> Measurement:
    """Describes noisy counts by the rate of their noise, whatever budget paid for it.

    Args:
        curator: Who drew them.
        purpose: What paid for them.
        at: What the places are numbers of.
        drawn: Places, noisy counts and units of the charges, draw by draw.
        by_class: Whether every class was counted apart.
        max_contribution: See `Measurement`.
    """
    where, values, units = (np.concatenate(column) for column in zip(*drawn, strict=True))
    order = np.argsort(where)
    where, values, units = where[order], values[order], units[order]
    rates = Rates.of(units, lambda unit: curator.noise_rate(purpose, unit, max_contribution))
    common = math.lcm(*(rate.denominator for rate in rates.values))
    scaled = np.asarray([int(rate * common) for rate in rates.values], dtype=np.int64)[rates.which]
    unit = Fraction(1, common)
    return Measurement(
        name=purpose, at=at, where=where, values=values, by_class=by_class, units=scaled, unit=unit,
        max_contribution=max_contribution, law=curator.law(purpose),
    )  # fmt: skip


def root_histograms(engine: Engine) -> Sealed[Histograms]:
    """The histograms of all attributes over all records."""
    whole = engine.domain.sizes[None, :]
    wanted = np.ones(whole.shape, dtype=np.bool_)
    ((_, found),) = engine.histograms(_ROOT, np.zeros_like(whole), whole, wanted)
    return found


def buy_rows(curator: Curator, engine: Engine) -> tuple[Measurement, int]:
    """The noisy number of rows, from which public rules may then choose settings.

    Returns:
        The measurement, and the number that rules read, which is not below 0.
    """
    total = engine.class_counts(_ROOT).map(class_totals)
    noisy, units = curator.laplace("rows", 0, _ROOT, total)
    rows = make_measurement(curator, "rows", "node", [(_ROOT, noisy, units)])
    return rows, max(0, int(noisy[0, 0]))


def count_leaves(
    curator: Curator, engine: Engine, depth: Ints, leaves: Ints, *, alike: bool = False
) -> list[Measurement]:
    """Class counts of the leaves of a tree, with all that each path has left.

    Args:
        curator: Who charges and draws.
        engine: The private data.
        depth: The depth of every node.
        leaves: The leaves.
        alike: Whether all leaves get the same: what the path that spent the most has left.
    """
    found = []
    regions = np.arange(len(leaves))
    for purpose in ("leaf", "spare"):
        if not curator.ledger.allows(purpose):
            continue
        rest = curator.ledger.left(curator.ledger.budget_of(purpose), leaves)
        left = rest > 0
        price = np.full(len(leaves), rest.min()) if alike else rest
        drawn = []
        # level by level, so that the ledger tells depths apart
        for level in sorted(set(depth[leaves[left]].tolist())):
            here = regions[left & (depth[leaves] == level)]
            exact = engine.class_counts(leaves[here])
            counts = curator.noisy(purpose, level, leaves[here], exact, price[here])
            drawn.append((here, *counts))
        if drawn:
            found.append(make_measurement(curator, purpose, "region", drawn, by_class=True))
    return found


def class_totals(class_counts: Ints) -> Ints:
    """Sums over classes, as one column."""
    totals: Ints = class_counts.sum(axis=1, keepdims=True)
    return totals
