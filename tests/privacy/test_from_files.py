"""Attacks that begin at bytes: files that differ in a whole person, read by the real readers."""

from __future__ import annotations

import csv
import itertools
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.audit import neighbors as files
from hedgerow.audit.distinguish import ERROR, epsilon_bound, tally, whole_person
from hedgerow.audit.methods import AUDITED
from hedgerow.audit.neighbors import (
    categorical,
    check_preparation,
    crowded_pair,
    deep_pairs,
    file_pairs,
    large_universe,
    numeric,
    picker,
    random_schema,
    random_universe,
    records_of,
    run_on,
    schema_of,
)
from hedgerow.audit.replay import Telling, compare, record, replay
from hedgerow.audit.whole import ROUNDING, replay_pair
from hedgerow.counting import streamed
from hedgerow.data import people as person
from hedgerow.data import table, transactions
from hedgerow.methods import clusters, publisher
from hedgerow.methods.diffgen import DiffGen
from hedgerow.methods.diffmulti import DiffMulti
from hedgerow.methods.diffpart import DiffPart
from hedgerow.privacy.budget import Budget
from hedgerow.schema import Schema

METHODS = [(entry, entry.modes[0]) for entry in AUDITED.values()]
TREE = DiffMulti()
NUMBER = 7  # pairs of files: both kinds of engines, three formats, persons below and above caps


def complaints(method, pairs, delta=0, until=()):
    """What replays from files find wrong, and the strongest loss.

    If there are words that must be found, no more pairs are looked at than that takes.
    """
    wrong, strongest = [], 0.0
    for number, pair in enumerate(pairs):
        if until and all(any(words in one for one in wrong) for words in until):
            break
        wrong += filter(None, [check_preparation(pair)])
        try:
            plan = method.plan(pair.without.schema, 1, delta)
        except Exception:  # an attribute with a single value has nothing more general
            continue
        assert plan.budget.delta or not delta, "the delta is not spent"
        # where a person's one record is replayed; sets decide what is paid in rho as they draw
        person = plan.accounting != "zcdp" and not (delta and isinstance(method, DiffPart))
        for sampler in (Telling(12), None):
            for found in replay_pair(
                method, pair, plan.budget, number, sampler=sampler, person=person
            ):
                strongest = max(strongest, found.loss)
                wrong += filter(None, [found.complaint])
    return wrong, strongest


def caught(method, pairs, *words, delta=0):
    """Whether replays from files find all that."""
    wrong, _ = complaints(method, pairs, delta, until=words)
    return all(any(one in found for found in wrong) for one in words)


def some(folder, method, seed=1, number=NUMBER, make=None):
    make = make or (random_universe if isinstance(method, DiffPart) else random_schema)
    pairs = file_pairs(folder, None, picker(seed), make)
    return itertools.islice(pairs, number)


@pytest.mark.parametrize("entry, method", METHODS, ids=list(AUDITED))
def test_a_whole_person_loses_no_more_than_epsilon(entry, method, tmp_path):
    delta = "1e-6" if entry.needs_delta else 0
    wrong, strongest = complaints(method, some(tmp_path, method), delta)
    assert wrong == []
    assert strongest > (0.1 if entry.needs_delta else 0.6)  # so the attack has teeth


@pytest.mark.parametrize("method", [DiffPart(), DiffPart(cap=3, core=3)], ids=repr)
def test_a_person_of_one_record_loses_no_more_than_a_delta_allows(method, tmp_path):
    """Readers, and supports and cells with Gaussian noise: a person's items are one record."""
    wrong, strongest = complaints(method, some(tmp_path, method, make=large_universe), "1e-6")
    assert wrong == []
    assert strongest > 0.7


def layout(schema):
    if records_of(schema).people is not None:
        return "person"
    return "list" if schema.items and schema.items.column else "line"


def test_files_are_what_they_say(tmp_path):
    """Persons of fewer rows than count, as many, and more; all formats, both engines."""
    seen, engines, sizes = set(), set(), set()
    for make in (random_schema, random_universe):
        pairs = file_pairs(tmp_path, None, picker(2), make)
        layouts = []
        for pair in itertools.islice(pairs, 20):
            assert pair.without.schema.unit is not None
            layouts.append(layout(pair.without.schema))
            seen.add("".join(pair.with_it.path.suffixes))
            engines.add(pair.with_it.engine)
            rows, cap = (int(word) for word in pair.words.split() if word.isdigit())
            sizes.add((rows > cap) - (rows < cap))
            assert pair.without.path.read_bytes() != pair.with_it.path.read_bytes()
        in_turn = ["person", "line"] if make is random_schema else ["person", "line", "list"]
        assert layouts == list(itertools.islice(itertools.cycle(in_turn), 20))
    assert seen == {".csv", ".csv.gz", ".parquet", ".dat", ".dat.gz"}
    assert engines == {"memory", "streamed"}
    assert sizes == {-1, 0, 1}


def test_any_schema_can_be_written(tmp_path):
    made = Schema.from_dict(
        {
            "name": "all kinds",
            "unit": "person",
            "attributes": {
                "who": {"role": "person", "max_rows": 2},
                "id": {"role": "identifier"},
                "when": {"type": "numeric", "low": "2020-01-01", "high": "2020-12-31"},
                "dose": {"type": "numeric", "low": 0, "high": 1, "step": 0.25, "missing": "other"},
                "home": {"type": "boolean"},
                "job": {"type": "categorical", "values": ["a, b", 'the "c"'], "outside": "other"},
            },
        }
    )
    lists = Schema.from_dict(
        {"name": "lists", "unit": "row", "items": {"universe": ["a b", "c"], "column": "bought"}}
    )
    for schema, method in ((made, DiffMulti()), (lists, DiffPart())):
        pairs = file_pairs(tmp_path, schema, picker(1), random_schema)
        assert complaints(method, itertools.islice(pairs, 3))[0] == []


# what must be noticed -------------------------------------------------------------------------


def test_a_cap_that_is_not_kept_is_caught(tmp_path, monkeypatch):
    everything = lambda who, rank, most: np.arange(len(rank))  # noqa: E731
    monkeypatch.setattr(person, "first_rows", everything)  # in memory
    assert caught(TREE, some(tmp_path, TREE), "adds more than", "tells neighbors apart")


def test_a_streamed_cap_that_is_not_kept_is_caught(tmp_path, monkeypatch):
    everything = lambda who, rank, most: np.arange(len(rank))  # noqa: E731
    monkeypatch.setattr(streamed, "first_rows", everything)
    assert caught(TREE, some(tmp_path, TREE), "tells neighbors apart")


def test_a_cap_that_depends_on_other_people_is_caught(tmp_path, monkeypatch):
    """Rows are taken as long as there is room for them in the whole file."""

    def together(codes, numbers, max_rows):
        kept = person.first_rows((numbers,), person.row_hash([*codes.T]), max_rows)
        return kept[: max_rows * 3]  # whoever comes first in the file

    monkeypatch.setattr(table, "cap_rows", together)
    assert caught(TREE, some(tmp_path, TREE), "of other people change")


def test_a_budget_that_is_not_divided_is_caught(tmp_path, monkeypatch):
    class Whole(Budget):
        @staticmethod
        def of(epsilon, delta=0, rows=1):
            return Budget.of(epsilon, delta)

    monkeypatch.setattr(publisher, "Budget", Whole)
    for method in (TREE, DiffGen()):
        assert caught(method, some(tmp_path, method), "tells neighbors apart")


def test_items_that_are_not_capped_are_caught(tmp_path, monkeypatch):
    """A person of more items than count, all of which are read."""
    honest = files.read_transactions

    def careless(source, schema, **kwargs):
        described = schema.to_dict()
        described["items"].pop("max_items", None)
        return honest(source, Schema.from_dict(described), **kwargs)

    monkeypatch.setattr(files, "read_transactions", careless)
    assert caught(DiffPart(), some(tmp_path, DiffPart()), "items")


def test_items_that_are_read_twice_are_caught(tmp_path, monkeypatch):
    """Codes in order and capped, but not distinct: the squares of a record's changes add up to
    more than is paid for in rho."""

    def careless(codes, sizes, cap, dummy):
        records = np.split(codes, np.cumsum(sizes)[:-1])
        kept = [np.sort(held[held >= 0])[:cap] for held in records]
        return np.concatenate(kept), np.array([*map(len, kept)]), np.zeros(len(sizes), bool)

    monkeypatch.setattr(transactions, "settle", careless)
    method = DiffPart(cap=18, core=3)  # noise is Gaussian where much is counted
    pairs = some(tmp_path, method, make=large_universe)
    assert caught(method, pairs, "an item twice", "paid in rho lost", delta="1e-6")


# distinguishers from files --------------------------------------------------------------------


def bound_from_files(folder, method, way, runs):
    pair = crowded_pair(folder, "transactions" if isinstance(method, DiffPart) else "table", way)
    budget = method.plan(pair.without.schema, 1).budget
    trial = whole_person(pair, files.CROWDED_OTHERS, records_of(pair.without.schema).most_added())
    hits, done = tally(
        trial, lambda stored, sampler: run_on(stored, method, budget, sampler), runs, seed=4
    )
    return max(epsilon_bound(hit, done, 0, ERROR / 100) for hit in hits.values())


@pytest.mark.parametrize("method", [DiffMulti(specializations=1, depth=1), DiffPart(core=2)],
                         ids=repr)  # fmt: skip
def test_distinguishers_find_nothing(method, tmp_path):
    assert bound_from_files(tmp_path, method, ("csv", "memory"), 40) <= 1


def test_a_distinguisher_finds_a_cap_that_is_not_kept(tmp_path, monkeypatch):
    everything = lambda who, rank, most: np.arange(len(rank))  # noqa: E731
    monkeypatch.setattr(person, "first_rows", everything)
    method = DiffGen(specializations=1)
    assert bound_from_files(tmp_path, method, ("csv", "memory"), 100) > 1


# the gate, far down a tree --------------------------------------------------------------------


def gate_losses():
    method = DiffPart(variant="tree", cap=1)
    return {
        pair.words: max(
            found.loss for found in replay_pair(method, pair, Budget.of(1), 1, sampler=Telling())
        )
        for pair in deep_pairs(Fraction(1, 4))
    }


def test_a_gate_far_down_a_tree_costs_what_was_paid():
    losses = gate_losses()
    assert len(losses) == 27
    assert 0.96 < max(losses.values()) <= 1 + ROUNDING


# clustering -----------------------------------------------------------------------------------

VISITS = records_of(
    schema_of("visits", attributes={"age": numeric(9), "job": categorical("a", "b", "c")})
).with_people(3)


def visits(path, extra):
    rows = [("ann", 2, "a"), ("bob", 7, "b"), ("bob", 8, "b"), *extra]
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("who", "age", "job"), *rows])
    return path


@pytest.mark.filterwarnings("ignore:There are too few people")
@pytest.mark.parametrize("number", [2, 3, 5])
def test_finding_centroids_costs_a_whole_person_no_more_than_epsilon(number, tmp_path, monkeypatch):
    """Through `find_centroids` itself, from files: the cap on rows, and what each row may cost."""
    paths = [
        visits(tmp_path / "without.csv", []),
        visits(tmp_path / "with.csv", [("zoe", 9, "c")] * number),
    ]

    def on(path):
        def run(sampler):
            monkeypatch.setattr(clusters, "SecureSampler", lambda stream: sampler)
            return clusters.find_centroids(path, VISITS, 2, 1, rounds=3, seed=1)

        return run

    for drawn_from in paths:
        outcomes = record(on(drawn_from), Telling(3 * clusters.SCALE))
        found = compare(*(replay(on(path), outcomes) for path in paths))
        assert abs(found.loss) <= 1 + ROUNDING
        assert abs(found.loss) > 0.9 * min(number, 3) / 3
