"""Statistical distinguishers: does an event happen more often than epsilon allows?"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from hedgerow.arrays import Floats
from hedgerow.audit.neighbors import (
    Pair,
    categorical,
    counts_at_least,
    deep_pairs,
    grouped,
    numbered,
    numeric,
    pair_of,
    published_count,
    records_of,
    run_on,
    schema_of,
)
from hedgerow.estimate.tables import Cells
from hedgerow.methods.publisher import Outcome, Publisher
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import Sampler, SecureSampler
from hedgerow.schema import Schema

ERROR = 1e-6
"""How likely all bounds of one audit together may be wrong."""

Draw = Callable[[Any, Sampler], Any]
"""Runs something on a table; gives what an adversary sees."""


@dataclass(frozen=True)
class Trial:
    """Neighbors, and what might tell them apart.

    Args:
        name: Such as "T1".
        words: What is asked, in a sentence.
        pair: The neighbors.
        events: What may be seen, by name: each says of one run whether it happened.
    """

    name: str
    words: str
    _: KW_ONLY
    pair: Pair
    events: Mapping[str, Callable[[Any], bool]]


def tally(
    trial: Trial,
    draw: Draw,
    runs: int,
    seed: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[dict[str, tuple[int, int]], int]:
    """How often each event happened on either neighbor, and in how many runs of each.

    Args:
        trial: The neighbors and the events.
        draw: What is run.
        runs: How often, on each.
        seed: Makes it repeatable.
        stop: Asked before each run; true ends early. It must not look at what was drawn.
    """
    sampler = SecureSampler(Keystream(seed))
    hits = {name: [0, 0] for name in trial.events}
    done = 0
    while done < runs and not stop():
        for side, table in enumerate(trial.pair.tables):
            seen = draw(table, sampler)
            for name, event in trial.events.items():
                hits[name][side] += bool(event(seen))
        done += 1
    return {name: (count[0], count[1]) for name, count in hits.items()}, done


@lru_cache(maxsize=8)
def _log_choose(runs: int) -> Floats:
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, runs + 1)))])
    return np.asarray(logs[-1] - logs - logs[::-1])


def _upper_tail(hits: int, runs: int, p: float) -> float:
    """P[Bin(runs, p) >= hits]."""
    j = np.arange(hits, runs + 1)
    log_p = _log_choose(runs)[hits:] + j * math.log(p) + (runs - j) * math.log1p(-p)
    return float(np.exp(np.logaddexp.reduce(log_p)))


@lru_cache(maxsize=1 << 12)
def at_least(hits: int, runs: int, error: float) -> float:
    """The Clopper-Pearson bound below a probability; wrong with probability `error` at most.

    Example:
        >>> at_least(0, 100, 1e-6), at_least(100, 100, 1e-6) > 0.87
        (0.0, True)
    """
    if hits == 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _upper_tail(hits, runs, middle) < error:
            low = middle
        else:
            high = middle
    return low


def at_most(hits: int, runs: int, error: float) -> float:
    """The Clopper-Pearson bound above a probability; wrong with probability `error` at most."""
    return 1.0 - at_least(runs - hits, runs, error)


def epsilon_bound(hits: tuple[int, int], runs: int, delta: float, error: float) -> float:
    """An epsilon that any true claim must reach, from the hits on two neighbors.

    Both directions are tried, each with two bounds: each may err with a quarter of `error`.

    Args:
        hits: How often the event happened on either.
        runs: In how many runs of each.
        delta: The delta of the claim.
        error: How likely the answer may be too large.
    """

    def direction(one: int, other: int) -> float:
        surplus = at_least(one, runs, error / 4) - delta
        return math.log(surplus / at_most(other, runs, error / 4)) if surplus > 0 else 0.0

    return max(0.0, direction(*hits), direction(*hits[::-1])) if runs else 0.0


# The distinguishers T1 to T14: neighbors on which flawed algorithms give themselves away.
#
# The flaws are those of the published algorithms and of their obvious implementations.
#
# Each is a function from a method and a budget to a trial, which most of them do not depend on.


def _schema(attribute: dict[str, Any], classes: tuple[str, ...] = ()) -> Schema:
    attributes = {"a": attribute}
    if classes:
        attributes["c"] = categorical(*classes, role="class")
    return schema_of("distinguisher", attributes=attributes)


_NUMBERS = numeric(100)
_TWO = categorical("x", "y")
_FOUR = grouped(x=["x1", "x2"], y=["y1", "y2"])


PERSONAL = _schema(_FOUR)
"""The schema of T9, for which a side table can be given."""


def _edges(outcome: Outcome) -> Any:
    """The first codes of all regions in the first attribute."""
    partition: Any = outcome.partition
    if isinstance(partition, Cells):
        return partition.edges[0][:-1]
    return partition.bounds(np.arange(partition.cells))[0][:, 0]


def empty_child(*_: Any) -> Trial:
    """T1: an empty child must have the same kind of chance to grow as any other."""
    pair = pair_of("", _schema(_FOUR), [(0, 0)] * 8, (2, 0))

    def split(outcome: Any) -> bool:
        tree = outcome.partition
        return bool(((tree.lo[:, 0] == 2) & (tree.hi[:, 0] == 4) & (tree.split >= 0)).any())

    events = {"y is split": split}
    return Trial("T1", "a region without records is specialized", pair=pair, events=events)


def empty_cut(*_: Any) -> Trial:
    """T2: a region without records has no favourite cut."""
    pair = pair_of("", _schema(_NUMBERS), [], (20, 0))
    events = {
        "cut at 50": lambda outcome: bool((_edges(outcome) == 50).any()),
        "cut at 20 or 21": lambda outcome: bool(np.isin(_edges(outcome), (20, 21)).any()),
    }
    return Trial("T2", "cuts fall on a public grid", pair=pair, events=events)


def share_of_child(*_: Any) -> Trial:
    """T3: what a child gets depends on its own noisy size, at its own price."""
    pair = pair_of("", _schema(_FOUR), [(0, 0)], (2, 0))

    def size(outcome: Outcome) -> float:
        sizes = (one for one in outcome.measurements if one.name == "allocate")
        return next((float(one.values[one.where == 1, 0][0]) for one in sizes), -math.inf)

    events = {
        "x gets 10 or more": lambda outcome: size(outcome) >= 10,
        "x gets 200 or more": lambda outcome: size(outcome) >= 200,
        # digits tell what a share was divided by
        "x gets no multiple of 10": lambda outcome: size(outcome) % 10 > 0,
    }
    return Trial("T3", "shares follow noisy sizes alone", pair=pair, events=events)


def empty_row(*_: Any) -> Trial:
    """T4: groups without records are published like all others."""
    pair = pair_of("", _schema(_TWO, ("no", "yes")), [(0, 0)] * 5, (1, 1))
    events = {
        "(y, yes) is listed": lambda outcome: published_count(outcome, (1, 1)) is not None,
        "(y, yes) counts 1 or more": lambda outcome: counts_at_least(outcome, (1, 1), 1),
    }
    return Trial("T4", "every group is published, empty ones too", pair=pair, events=events)


def bounds_from_data(*_: Any) -> Trial:
    """T5: bounds come from the schema, not from the records."""
    pair = pair_of("", _schema(_NUMBERS), [(10, 0), (20, 0)], (90, 0))
    events = {"cut above 20": lambda outcome: bool((_edges(outcome) > 20).any())}
    return Trial("T5", "bounds do not follow the records", pair=pair, events=events)


def classes_from_data(*_: Any) -> Trial:
    """T5, for classes: those of the schema are published, seen or not."""
    classes = ("no", "yes", "maybe")
    pair = pair_of("", _schema(_TWO, classes), [(0, 0), (1, 1)], (0, 2))
    events = {
        "an unseen class is listed": lambda outcome: published_count(outcome, (0, 2)) is not None,
        "it counts 1 or more": lambda outcome: counts_at_least(outcome, (0, 2), 1),
    }
    return Trial("T5c", "classes do not follow the records", pair=pair, events=events)


def levels_and_edges(*_: Any) -> Trial:
    """T8: counts of all levels of a path are paid for, not of all edges."""
    pair = pair_of("", _schema(_TWO), [], (0, 0))

    def both(outcome: Any) -> bool:
        counts = next(counts for counts in outcome.measurements if counts.name == "count")
        nodes = (0, outcome.partition.leaves[0])
        return bool(min(counts.values[counts.where == node, 0][0] for node in nodes) >= 1)

    events = {"root and left >= 1": both}
    return Trial("T8", "every level of a path is paid for", pair=pair, events=events)


def chosen_size(method: Publisher, *_: Any) -> Trial:
    """T10: the size of the tree follows from noise, not from the records.

    The tables stand where the public rule turns: one record more, and a second step is taken.
    """
    turn = 400 if method.name != "diffmulti" else 799
    pair = pair_of("", _schema(_NUMBERS), [(50, 0)] * turn, (50, 0))
    events = {"more than one step": lambda outcome: outcome.plan.specializations > 1}
    return Trial("T10", "the size follows from a noisy number of rows", pair=pair, events=events)


def facts(outcome: Outcome) -> str:
    """All that is published beside the noisy counts."""
    book = outcome.ledger.book(outcome.published, outcome.sharing)
    shapes = [(one.name, one.where.tolist()) for one in outcome.measurements]
    return json.dumps([outcome.plan.to_dict(), book, shapes], default=str)


def metadata(method: Publisher, budget: Budget, draw: Draw | None = None) -> Trial:
    """T11: nothing beside the noisy counts depends on how many records there are."""
    pair = pair_of("", _schema(_TWO), [(0, 0)] * 4, (0, 0))
    see = draw or (lambda data, sampler: run_on(data, method, budget, sampler))
    usual = facts(see(pair.without, SecureSampler(Keystream(seed=0))))
    events = {"the other facts are as usual": lambda outcome: facts(outcome) == usual}
    return Trial("T11", "metadata hold no number of records", pair=pair, events=events)


def float_support(*_: Any) -> Trial:
    """T12: noisy counts are whole, so that no digit tells what noise was added to."""
    pair = pair_of("", _schema(_TWO), [], (0, 0))

    def fine(outcome: Outcome) -> bool:
        # one plus a float cannot have binary digits below the 53rd
        count = published_count(outcome, (0, 0))
        return count is not None and math.ldexp(count, 53) % 1 != 0

    events = {"very fine digits": fine}
    return Trial("T12", "noise has the same digits everywhere", pair=pair, events=events)


def empty_cuts(*_: Any) -> Trial:
    """T6: a cut that no record has is tried once, like any other."""
    schema = schema_of("four", items={"taxonomy": {"low": ["1", "2"], "high": ["3", "4"]}})
    pair = pair_of("", schema, [(0,), (2,)] * 10, (0, 2))

    def passes(outcome: Any) -> bool:
        tree = outcome.partition
        below = np.flatnonzero(tree.parent == 0).tolist()
        return any(len(tree.nodes(partition)) == 2 for partition in below)

    events = {"the cut {12, 34} passes": passes}
    return Trial("T6", "cuts without records are as many as they are", pair=pair, events=events)


def far_down(method: Publisher, budget: Budget) -> Trial:
    """T13: how far a gate lets records down a tree tells little, however many levels there are."""
    share = budget.epsilon / 4
    pair = deep_pairs(share)[6]  # as many records as two levels ask for

    def levels(outcome: Any) -> int:
        tree = outcome.partition
        depth = np.zeros(len(tree.parent), dtype=np.int64)
        for place in range(1, len(depth)):  # parents come first
            depth[place] = depth[tree.parent[place]] + 1
        return int(depth.max())

    def counted(outcome: Outcome) -> bool:
        return bool(outcome.measurements[-1].values.max() > len(pair.without.start) - 1)

    events = {
        "two levels down": lambda outcome: levels(outcome) >= 2,
        "two levels down, and one more is counted": lambda outcome: (
            levels(outcome) >= 2 and counted(outcome)
        ),
    }
    return Trial("T13", "a gate decides on all levels for one price", pair=pair, events=events)


def long_record(*_: Any) -> Trial:
    """T14: a record with many items tells no more by all supports together than it pays for."""
    pair = pair_of("", schema_of("forty", items=numbered(40)), [], tuple(range(40)))

    def most(outcome: Outcome) -> bool:
        supports = next(supports for supports in outcome.measurements if supports.name == "support")
        return bool(np.count_nonzero(supports.values[:, 0] > 0) >= 25)

    events = {"25 supports of 40 are above 0": most}
    return Trial("T14", "a record with many items counts less for each", pair=pair, events=events)


def order_of_sets(*_: Any) -> Trial:
    """T7: a set's place in a release follows from the set, not from who has it."""
    pair = pair_of("", schema_of("two", items={"universe": ["s", "t"]}), [(1,)] * 50, (0,))

    def order(outcome: Any) -> list[Any]:
        places = outcome.measurements[-1].where.tolist()
        return [tuple(outcome.partition.nodes(place).tolist()) for place in places]

    def before(outcome: Outcome) -> bool:
        sets = [nodes for nodes in order(outcome) if len(nodes) == 1]
        return len(sets) == 2 and sets[0] < sets[1]

    events = {"s stands before t": before, "both are listed": lambda out: len(order(out)) >= 2}
    return Trial("T7", "rows stand in canonical order", pair=pair, events=events)


def some_and_none(*_: Any, each: int) -> Trial:
    """T9: which values are listed together does not follow from exact frequencies.

    Args:
        each: How many people there are with either value.
    """
    pair = pair_of("", PERSONAL, [(0, 0)] * (each - 1) + [(2, 0)] * each, (0, 0))

    def listed(outcome: Any, low: int, high: int) -> bool:
        return bool(((outcome.lo[:, 0] >= low) & (outcome.hi[:, 0] <= high)).any())

    events = {
        "some y and no x": lambda out: listed(out, 2, 4) and not listed(out, 0, 2),
        "some x": lambda out: listed(out, 0, 2),
    }
    return Trial("T9", "rows are listed by noisy or sampled counts", pair=pair, events=events)


def presence(pair: Pair) -> Trial:
    """On any schema: is the record there? Its own count is looked at, or the sum of all sets."""
    records = records_of(pair.without.schema)

    events = {"one more is counted": lambda out: records.one_more(out, pair.without, pair.extra)}
    return Trial("P", f"is somebody there? ({pair.words})", pair=pair, events=events)


def whole_person(pair: Pair, others: int, cap: int) -> Trial:
    """F: from files, a person with many rows more: no more of them count than may.

    Args:
        pair: Two files.
        others: How many records the smaller one has.
        cap: How many rows of one person count; transactions of one person are one record.
    """
    records = records_of(pair.without.schema)

    reaches = partial(records.reaches, extra=pair.extra, others=others)
    events = {
        "somebody is counted": partial(reaches, rows=1),
        "all rows that may count are counted": partial(reaches, rows=cap),
        "far more are counted": partial(reaches, rows=5 * cap),
    }
    return Trial("F", f"from files, {pair.words}", pair=pair, events=events)
