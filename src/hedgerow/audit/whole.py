"""The whole audit of one method: replay, ledger, rules, enumeration, distinguishers, files."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import partial
from itertools import islice
from pathlib import Path
from secrets import randbits
from tempfile import TemporaryDirectory
from typing import Any

from hedgerow.audit import neighbors
from hedgerow.audit.distinguish import (
    ERROR,
    Draw,
    Trial,
    epsilon_bound,
    presence,
    tally,
    whole_person,
)
from hedgerow.audit.enumeration import TooManyPathsError, epsilon_between, hockey_stick, law_of
from hedgerow.audit.learned import CANDIDATES, distinguish, fits, search_pair
from hedgerow.audit.methods import AUDITED, Audited, describe
from hedgerow.audit.neighbors import Pair, Pick, Stored, picker, records_of
from hedgerow.audit.replay import (
    Comparison,
    DivergedError,
    Telling,
    Trace,
    check_rules,
    compare,
    record,
    replay,
    unlike_tables,
)
from hedgerow.errors import UsageError
from hedgerow.estimate.partition import GridPartition, TreePartition
from hedgerow.methods.api import run
from hedgerow.methods.publisher import Outcome, Progress, Publisher, no_progress
from hedgerow.privacy.budget import Budget, Number, epsilon_of_rho
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import Sampler, SecureSampler
from hedgerow.schema import Schema
from hedgerow.suggestions import check_arguments

# What an audit found, in words and for machines.


@dataclass(frozen=True, kw_only=True)
class Line:
    """One audit of one mode.

    Args:
        method: The method's name.
        mode: Its settings, in short.
        audit: "replay", "ledger", "enumeration", or the name of a distinguisher.
        epsilon: What is claimed.
        delta: The same.
        bound: The strongest bound on epsilon that was found; None where none is looked for.
        tried: Transcripts, paths or runs.
        ok: Whether the claim stands.
        words: What was looked at, or what is wrong.
    """

    method: str
    mode: str
    audit: str
    epsilon: str
    delta: str
    bound: float | None
    tried: int
    ok: bool
    words: str

    def to_dict(self) -> dict[str, Any]:
        """For JSON, which knows no infinity."""
        infinite = self.bound is not None and math.isinf(self.bound)
        return asdict(self) | ({"bound": "infinite"} if infinite else {})


@dataclass(frozen=True)
class Report:
    """All lines of an audit.

    Args:
        lines: What was found.
        begun: How many audits were begun; one may have several lines, or none.
        waiting: The kinds of those that were not, for want of time, one for each.

    Example:
        >>> line = Line(method="diffgen", mode="tuned", audit="replay", epsilon="1", delta="0",
        ...     bound=0.9, tried=10, ok=True, words="")
        >>> Report((line,)).ok, Report((line,)).bound
        (True, 0.9)
    """

    lines: tuple[Line, ...]
    begun: int = 0
    waiting: tuple[str, ...] = ()

    @property
    def left_out(self) -> int:
        """How many audits were not begun, for want of time."""
        return len(self.waiting)

    @property
    def ok(self) -> bool:
        """Whether every claim stands, and there was something to try."""
        return bool(self.lines) and all(line.ok for line in self.lines)

    @property
    def bound(self) -> float:
        """The strongest bound of all."""
        return max((line.bound for line in self.lines if line.bound is not None), default=0.0)

    @property
    def tried(self) -> int:
        """How much was tried in all."""
        return sum(line.tried for line in self.lines)

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        audits = [line.to_dict() for line in self.lines]
        waiting = dict(Counter(self.waiting))
        return {
            "ok": self.ok, "begun": self.begun, "left_out": self.left_out, "waiting": waiting,
            "audits": audits,
        }  # fmt: skip


# What a run owes, by the rule that fits its accounting: the replay audit and the ledger check.

ROUNDING = 1e-9
"""How far the floats of an audit may be off."""


@dataclass(frozen=True)
class Finding:
    """What one transcript showed.

    Args:
        loss: The epsilon that it proves (pure), or that what was seen amounts to (zCDP).
        complaint: What is wrong, or None.
    """

    loss: float
    complaint: str | None


def _exceeds(*losses: tuple[str, float, float]) -> str | None:
    """Which of some losses is larger than what is claimed, if any is."""
    for what, loss, claim in losses:
        if not loss <= claim + ROUNDING:
            return f"{what} {loss:.4g}, not {claim:.4g}"
    return None


def _pure(comparison: Comparison, outcome: Outcome, person: bool) -> Finding:
    """Pure: the likelihood ratio of the whole transcript is within epsilon."""
    loss, budget = abs(comparison.loss), outcome.plan.budget
    claim = float(budget.epsilon if person else budget.row_epsilon)
    return Finding(loss, _exceeds(("a transcript tells neighbors apart by", loss, claim)))


def _zcdp(comparison: Comparison, outcome: Outcome, person: bool) -> Finding:
    """zCDP: Renyi divergences of what is paid in rho add up to rho at most; the rest is pure.

    That is what one row loses; what a person's rows lose together follows from it by arithmetic.
    """
    assert not person
    ledger = outcome.ledger
    budgets = {name: float(budget.total) for name, budget in ledger.budgets.items()}
    ratios = comparison.log_ratio.items()
    pure = abs(sum(ratio for purpose, ratio in ratios if ledger.budget_of(purpose) != "rho"))
    rho = max(comparison.divergence.values())
    if not (math.isfinite(comparison.loss) and math.isfinite(rho)):
        words = "a transcript of one neighbor is impossible under the other"
        return Finding(math.inf, words)
    seen = Fraction(int(rho * 10**12), 10**12)
    return Finding(
        pure + float(epsilon_of_rho(seen, outcome.plan.budget.row_delta)),
        _exceeds(
            ("what was paid in epsilon lost", pure, budgets["epsilon"]),
            ("what was paid in rho lost", rho, budgets["rho"]),
        ),
    )


def _suppression(comparison: Comparison, outcome: Outcome, person: bool) -> Finding:
    """Suppression: what was bought before is pure, and so is noise on what others are in too.

    Some lists are impossible for one of the neighbors, by design: enumeration weighs them by
    delta. Records that are kept by chance are left to it altogether.
    """
    plan: Any = outcome.plan
    noisy = "rate" in plan.rule
    before = abs(sum(ratio for name, ratio in comparison.log_ratio.items() if name != "cells"))
    lists = abs(comparison.log_ratio.get("cells", 0.0)) if noisy else 0.0
    lists = lists if math.isfinite(lists) else 0.0
    rows = plan.budget.rows if person else 1
    side_claim = float(plan.side_budget().row_epsilon * rows)
    list_claim = float(Fraction(plan.rule.get("rate", 0)) * rows)
    return Finding(
        before + lists,
        _exceeds(
            ("a side table tells neighbors apart by", before, side_claim),
            ("a list tells neighbors apart by", lists, list_claim),
        ),
    )


RULES: dict[str, Callable[[Comparison, Outcome, bool], Finding]] = {
    "pure": _pure,
    "zcdp": _zcdp,
    "suppression": _suppression,
}
"""One rule for each kind of accounting."""


def replay_pair(
    method: Publisher,
    pair: Pair,
    budget: Budget,
    seed: int | None,
    *,
    sampler: Sampler | None = None,
    person: bool = False,
) -> list[Finding]:
    """Replays one transcript of each neighbor on both, and judges what tells them apart.

    Args:
        method: What is audited.
        pair: The neighbors.
        budget: What is claimed.
        seed: Makes the transcripts repeatable.
        sampler: Draws the transcripts instead of a seeded stream.
        person: Whether neighbors differ in all rows of one person, and not in one row.
    """
    outcomes: list[Outcome] = []

    def on(table: Any) -> Callable[[Sampler], object]:
        return lambda drawing: outcomes.append(neighbors.run_on(table, method, budget, drawing))

    findings = []
    for drawn_from in pair.tables:
        transcript = record(on(drawn_from), sampler or SecureSampler(Keystream(seed)))
        try:
            traces: list[Trace] = [replay(on(table), transcript) for table in pair.tables]
            findings.append(_judge(traces, outcomes[-1], person))
        except DivergedError as error:
            findings.append(Finding(math.inf, f"the method branched on private data: {error}"))
    return findings


def _judge(traces: list[Trace], outcome: Outcome, person: bool) -> Finding:
    ledger = outcome.ledger
    in_rho = set()
    if outcome.plan.accounting == "zcdp":
        in_rho = {step.purpose for step in traces[0] if ledger.budget_of(step.purpose) == "rho"}
    comparison = compare(traces[0], traces[1], in_rho)
    finding = RULES[outcome.plan.accounting](comparison, outcome, person)
    if finding.complaint or person:  # a person's rows may lie in many regions
        return finding
    if max(comparison.touched, default=0) > 1:
        return Finding(finding.loss, "a step saw a record that is not in its region")
    if comparison.strain > 1 + ROUNDING:
        return Finding(
            finding.loss, f"a step lost {comparison.strain:.4g} times what it was charged"
        )
    return finding


def check_books(outcome: Outcome) -> str | None:
    """The ledger check: published paths spent exactly what was granted, all others at most.

    Where a paper leaves a part of its budget unused, published paths spent at most that, too.

    Returns:
        What is wrong, or None.
    """
    ledger, budget = outcome.ledger, outcome.plan.budget
    for name in ledger.budgets:
        if outcome.plan.spends_all and ledger.left(name, outcome.published).any():
            return f"a published path did not spend all of its {name}"
        if (ledger.left(name, ledger.accounts) < 0).any():
            return f"a path spent more {name} than was granted"
    granted = ledger.budgets["epsilon"].total
    if "rho" in ledger.budgets:
        granted += epsilon_of_rho(ledger.budgets["rho"].total, budget.row_delta)
        if granted > budget.row_epsilon:
            return "the budgets hold more than the budget"
    elif granted != budget.row_epsilon:
        return "the budget does not hold the budget"
    book = ledger.book(outcome.published, outcome.sharing)
    partition: Any = getattr(outcome, "partition", None)  # generalized rows have none
    covers = isinstance(partition, GridPartition | TreePartition)
    if covers and sum(path["leaves"] for path in book["paths"]) != partition.cells:
        return "the book does not account for every published region"
    return None


TINY_CELLS = 32
"""How many kinds of records there may be in a domain that is enumerated."""

MOST_PATHS = 5_000
RECORDS, MOST_RECORDS = 12_000, 100_000  # of the largest table that rules are tried on
MOST_APART = 12  # rows that a person of `file_pairs` may have, were there no cap


@dataclass(frozen=True, kw_only=True)
class _Setting:
    """What all audits of a call share."""

    entry: Audited
    schema: Schema | None
    budget: Budget
    runs: int
    seed: int
    window: tuple[int, int]
    most_paths: int
    out_of_time: Callable[[], bool]

    def line(
        self, mode: Publisher, audit: str, bound: float | None, tried: int, ok: bool, words: str,
        budget: Budget | None = None,
    ) -> Line:  # fmt: skip
        budget = budget or self.budget
        return Line(
            method=self.entry.name, mode=describe(mode), audit=audit, epsilon=str(budget.epsilon),
            delta=str(budget.delta), bound=bound, tried=tried, ok=ok, words=words,
        )  # fmt: skip

    def schemas(self, mode: Publisher) -> Callable[[Pick], Schema]:
        """What makes schemas for a mode: the one that was given, or simulated ones."""
        if (schema := self.schema) is not None:
            return lambda pick: schema
        return self.entry.schemas_for(mode, self.budget)


@dataclass
class _Replays:
    """What the transcripts of one mode showed together."""

    tried: int = 0
    strongest: float = 0.0
    wrong: str | None = None

    def take(self, findings: Iterable[Finding], pair: Pair) -> None:
        for finding in findings:
            self.tried += 1
            self.strongest = max(self.strongest, finding.loss)
            if finding.complaint and not self.wrong:
                self.wrong = f"{finding.complaint} ({pair.words})"

    def line(self, setting: _Setting, mode: Publisher, audit: str, words: str) -> Line:
        bound, wrong = self.strongest, self.wrong
        return setting.line(mode, audit, bound, self.tried, not wrong, wrong or words)


def audit(
    name: str,
    schema: Schema | None = None,
    epsilon: Number = 1,
    delta: Number = 0,
    *,
    runs: int = 2000,
    seconds: float | None = None,
    seed: int | None = None,
    window: tuple[int, int] = (0, 1),
    most_paths: int = MOST_PATHS,
    learned: bool = True,
    progress: Progress = no_progress,
) -> Report:
    """Tries to break a method's promise. Reads no private data.

    Args:
        name: The method's name, such as "diffmulti".
        schema: The schema that tables are simulated for; without it, many simulated schemas.
        epsilon: What is claimed.
        delta: The same.
        runs: How many transcripts are replayed in all, and how often each distinguisher runs.
        seconds: Stop starting new work after about so long.
        seed: Makes the audit repeatable.
        window: To what enumeration clamps noisy counts.
        most_paths: How many paths enumeration may take for one law.
        learned: Whether every mode also meets a distinguisher that is learned: half of the time.
        progress: Called now and then with the share of the work that is done.

    Example:
        >>> values = {"type": "categorical", "values": ["no", "yes"]}
        >>> smokers = {"name": "smokers", "unit": "row", "attributes": {"smoker": values}}
        >>> audit("diffgen", Schema.from_dict(smokers), runs=1, learned=False, seed=1).ok
        True
    """
    check_arguments(audit, locals())
    entry = AUDITED.get(name)
    if entry is None:
        raise UsageError(
            f"There is no audit of {name!r}.", hint=f"Use one of: {', '.join(AUDITED)}."
        )
    if schema and schema.kind != entry.kind:
        raise UsageError(
            f"{name} publishes {_PLURAL[entry.kind]}, and the schema describes "
            f"{_PLURAL[schema.kind]}.",
            hint="Leave the schema out, or audit a method for such data.",
        )
    if entry.needs_delta and not Budget.of(epsilon, delta).delta:
        raise UsageError(
            f"{name} publishes nothing without a delta.", hint="Give one, such as 1e-6."
        )
    rows = schema.person.max_rows if schema and schema.person else 1
    began = time.monotonic()
    setting = _Setting(
        entry=entry, schema=schema, budget=Budget.of(epsilon, delta, rows), runs=runs,
        seed=randbits(32) if seed is None else seed, window=window, most_paths=most_paths,
        out_of_time=lambda: seconds is not None and time.monotonic() - began > seconds,
    )  # fmt: skip
    parts: list[tuple[str, Callable[[], Iterator[Line]]]] = [
        *(("replay", partial(_replay, setting, mode)) for mode in entry.modes),
        *(("enumeration", partial(_enumerate, setting, mode)) for mode in entry.tiny),
        *_distinguishers(setting, learned),
        *(("rules", partial(_rules, setting, mode)) for mode in entry.modes),
    ]
    if not schema:
        parts += [("deep replay", partial(_deep, setting, *deep)) for deep in entry.deep]
    parts += [("files", partial(_files, setting, mode)) for mode in entry.modes]
    if not schema and not entry.needs_delta:
        parts += [("F", partial(_distinguish_files, setting, mode)) for mode in entry.modes]
    lines: list[Line] = []
    for done, (_, part) in enumerate(parts):
        progress(done / len(parts))
        if setting.out_of_time():
            return Report(tuple(lines), done, tuple(kind for kind, _ in parts[done:]))
        lines.extend(part())
    return Report(tuple(lines), len(parts))


_PLURAL = {"table": "tables", "transactions": "transactions"}


def _pairs(make: Callable[[Pick], Schema], seed: int) -> Iterator[Pair]:
    """Neighbors without end: edge cases first, then at random."""
    pick = picker(seed)
    yield from neighbors.edge_cases(make(pick), pick)
    while True:
        yield neighbors.random_pair(make(pick), pick)


def _replay(setting: _Setting, mode: Publisher) -> Iterator[Line]:
    """The replay audit and the ledger check of one mode."""
    entry, schema, budget = setting.entry, setting.schema, setting.budget
    if schema and not fits(mode, schema, budget):
        return
    wanted = max(14, setting.runs // entry.slow // len(entry.modes))
    replays, booked, exactly = _Replays(), 0, True
    misbooked: str | None = None
    for number, pair in enumerate(_pairs(setting.schemas(mode), setting.seed)):
        if replays.tried >= wanted or setting.out_of_time():
            break
        if entry.needs_delta and not fits(mode, pair.without.schema, budget):
            continue  # an attribute with a single value has nothing more general
        seed = setting.seed + number
        replays.take(replay_pair(mode, pair, budget, seed), pair)
        outcome = run(pair.with_it, mode, budget, SecureSampler(Keystream(seed)))
        misbooked = misbooked or check_books(outcome)
        exactly = exactly and outcome.plan.spends_all
        booked += 1
    words = f"likelihood ratios on {schema.name if schema else 'simulated schemas'}"
    yield replays.line(setting, mode, "replay", words)
    words = f"published paths spend {'exactly' if exactly else 'at most'} the grant"
    yield setting.line(mode, "ledger", None, booked, misbooked is None, misbooked or words)


def _enumerate(setting: _Setting, mode: Publisher) -> Iterator[Line]:
    """The whole laws of one mode on tiny domains."""
    schema, budget = setting.schema, setting.budget
    domains = setting.entry.tiny_schemas if schema is None else {schema.name: schema}
    for words, small in domains.items():
        if records_of(small).possible() > TINY_CELLS or not fits(mode, small, budget):
            continue
        for pair in neighbors.tiny_pairs(small):
            if setting.out_of_time():
                return
            try:
                one, other = (
                    law_of(mode, table, budget, setting.window, setting.most_paths)
                    for table in pair.tables
                )
            except TooManyPathsError:
                continue
            delta, claim = float(budget.row_delta), float(budget.row_epsilon)
            bound = epsilon_between(one, other, delta)
            ok = bound <= claim + ROUNDING and hockey_stick(one, other, claim) <= delta + 1e-12
            ok = ok and all(abs(sum(law.values()) - 1) < ROUNDING for law in (one, other))
            what = f"all outcomes on {words}, {pair.words}"
            yield setting.line(mode, "enumeration", bound, len(one) + len(other), ok, what)


def _distinguishers(
    setting: _Setting, learned: bool
) -> list[tuple[str, Callable[[], Iterator[Line]]]]:
    """Statistical distinguishers by name: those of the method, is somebody there, and learned."""
    entry, schema, runs = setting.entry, setting.schema, setting.runs
    planned: list[tuple[Publisher, Budget, Trial, int]] = []
    if schema is None:
        for experiment in entry.experiments:
            own = Budget.of(experiment.epsilon or setting.budget.epsilon, setting.budget.delta)
            trial = experiment.trial(experiment.method, own)
            planned.append((experiment.method, own, trial, runs))
    pick = picker(setting.seed)
    for mode in () if entry.needs_delta else entry.modes:  # which lists cells, not everybody
        fitting = setting.schemas(mode)(pick)
        if fits(mode, fitting, setting.budget):
            for pair in neighbors.edge_cases(fitting, pick)[: 2 if schema else 1]:
                # one for every mode, and the weakest: where there are others it takes a fifth
                fewer = runs if schema else max(1, runs // 5)
                planned.append((mode, setting.budget, presence(pair), fewer))
    modes = entry.modes if learned else ()
    error = ERROR / 2 / max(1, sum(len(trial.events) for *_, trial, _ in planned) + len(modes))
    return [
        *(
            (plan[2].name, partial(_distinguish, setting, *plan, setting.seed + number, error))
            for number, plan in enumerate(planned)
        ),
        *(("learned", partial(_learn, setting, mode, error)) for mode in modes),
    ]


def _distinguish(
    setting: _Setting, method: Publisher, budget: Budget, trial: Trial, wanted: int, seed: int,
    error: float,
) -> Iterator[Line]:  # fmt: skip
    """One distinguisher; each of its events may err with probability `error`."""
    delta, claim = float(budget.row_delta), float(budget.row_epsilon)
    if isinstance(trial.pair.without, Stored):  # which differ in a whole person
        delta, claim = float(budget.delta), float(budget.epsilon)
    hits, runs = tally(trial, _draw(method, budget), wanted, seed, setting.out_of_time)
    bounds = {event: epsilon_bound(count, runs, delta, error) for event, count in hits.items()}
    event = max(bounds, key=lambda name: bounds[name])
    what = f"{trial.words}: {event}, {hits[event][0]} and {hits[event][1]} times"
    ok = bounds[event] <= claim
    yield setting.line(method, trial.name, bounds[event], 2 * runs, ok, what, budget)


def _learn(setting: _Setting, mode: Publisher, error: float) -> Iterator[Line]:
    """A distinguisher that is learned, on neighbors found by search."""
    budget, stop, seed = setting.budget, setting.out_of_time, setting.seed
    runs = max(1, setting.runs // setting.entry.slow)
    candidates = min(CANDIDATES, 1 + runs // 50)
    pair = search_pair(mode, setting.schemas(mode), budget, seed, candidates, stop)
    if pair is None:
        return  # there is no table that this mode can publish
    delta, claim = float(budget.row_delta), float(budget.row_epsilon)
    learned = distinguish(pair, _draw(mode, budget), runs, delta, error, seed, stop)
    words = "an event that a classifier picked: {} and {} times".format(*learned.hits)
    ok = learned.bound <= claim
    yield setting.line(mode, "learned", learned.bound, 4 * learned.runs, ok, words)


def _draw(method: Publisher, budget: Budget) -> Draw:
    return lambda data, sampler: neighbors.run_on(data, method, budget, sampler)


def _rules(setting: _Setting, mode: Publisher) -> Iterator[Line]:
    """Whether the rules of one mode read noisy numbers alone."""
    pick, slow, budget = picker(setting.seed), setting.entry.slow, setting.budget
    wanted = max(1, setting.runs // slow // 400)
    make = setting.schemas(mode)
    tried, wrong = 0, None
    for number in range(wanted * 4):
        made = make(pick)
        if tried >= wanted or setting.out_of_time():
            break
        if not fits(mode, made, budget):
            continue
        # by then every rule has turned: they look at rows times epsilon
        many = min(MOST_RECORDS, math.ceil(RECORDS / budget.row_epsilon))
        tables = unlike_tables(made, pick, many // slow)
        wrong = wrong or check_rules(mode, tables, budget, setting.seed + number)
        tried += 1
    words = wrong or "draws that are forced on other data leave everything else as it is"
    if tried:
        yield setting.line(mode, "rules", None, tried, wrong is None, words)


def _deep(setting: _Setting, mode: Publisher, share: Fraction) -> Iterator[Line]:
    """Replays on neighbors far down a tree: at random, and the most telling transcripts."""
    replays = _Replays()
    for number, pair in enumerate(neighbors.deep_pairs(setting.budget.row_epsilon * share)):
        if setting.out_of_time():
            break
        for sampler in (Telling(), None):
            seed = setting.seed + number
            replays.take(replay_pair(mode, pair, setting.budget, seed, sampler=sampler), pair)
    yield replays.line(setting, mode, "deep replay", "likelihood ratios far down a tree")


def _files(setting: _Setting, mode: Publisher) -> Iterator[Line]:
    """Replays from files, with a whole person more or less."""
    entry = setting.entry
    wanted = max(1, setting.runs // entry.slow // len(entry.modes) // 20)
    replays, tried = _Replays(), 0
    with TemporaryDirectory() as folder:
        make = entry.schemas_for(mode, setting.budget)
        pairs = neighbors.file_pairs(Path(folder), setting.schema, picker(setting.seed), make)
        for number, pair in enumerate(islice(pairs, wanted)):
            if setting.out_of_time():
                break
            replays.wrong = replays.wrong or neighbors.check_preparation(pair)
            tried += 1
            made = pair.without.schema
            if not fits(mode, made, setting.budget):
                continue
            plan = mode.plan(made, setting.budget.epsilon, setting.budget.delta)
            person = plan.accounting != "zcdp"
            if not person and plan.budget.rows > 1:
                continue  # what one row loses is replayed above; a person's loss follows from it
            for sampler in (Telling(MOST_APART), None):
                seed = setting.seed + number
                replays.take(
                    replay_pair(mode, pair, plan.budget, seed, sampler=sampler, person=person), pair
                )
    words = replays.wrong or "files that differ in a whole person, through the readers"
    if tried:
        bound = replays.strongest or None
        yield setting.line(mode, "files", bound, tried, not replays.wrong, words)


def _distinguish_files(setting: _Setting, mode: Publisher) -> Iterator[Line]:
    """A distinguisher on files: a person with far more rows than count."""
    entry, place = setting.entry, setting.entry.modes.index(mode)
    with TemporaryDirectory() as folder:
        pair = neighbors.crowded_pair(
            Path(folder), entry.kind, neighbors.WAYS[place % len(neighbors.WAYS)]
        )
        if not fits(mode, pair.without.schema, setting.budget):
            return
        budget = mode.plan(pair.without.schema, setting.budget.epsilon, setting.budget.delta).budget
        trial = whole_person(
            pair, neighbors.CROWDED_OTHERS, records_of(pair.without.schema).most_added()
        )
        error = ERROR / 2 / len(entry.modes) / len(trial.events)
        runs = max(1, setting.runs // 10)  # a file is read anew for each
        yield from _distinguish(setting, mode, budget, trial, runs, setting.seed + place, error)
