"""An audit from outside: what draws were given on two neighbors, held against what was charged.

The method is Re:cord-play (arXiv 2602.17454; its program DP-Recorder is in no registry), written
anew and beside `hedgerow.audit`, from which it takes neighbors alone. A run on a table is
recorded: every draw with its outcome. On the neighbor the same outcomes are returned, whatever the
data. Then

- all that is public about every draw (its kind, purpose, charge, rate, shape, candidates) must be
  the same: whatever happens between draws is a function of the transcript;
- so must all that leaves: plan, books, regions and numbers;
- how far the record moved what a draw was given is *observed*, and what the mechanism's theorem
  asks for that must be within the charge;
- of every budget, the charges of all draws that the record was in add up to the grant at most;
- a seal is opened for a draw and for nothing else.

What a draw makes of what it is given is taken from its theorem. The paper samples that, too; here
the laws of the samplers are compared with the theorems' exactly, by tests of their own.

    python audits/observed.py --tries 200
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np

from hedgerow.audit.methods import AUDITED
from hedgerow.audit.neighbors import edge_cases, picker, random_pair, run_on
from hedgerow.audit.whole import fits
from hedgerow.counting.sealed import Sealed
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import SecureSampler

__all__ = ["complaints", "pairs"]


@dataclass(frozen=True)
class Draw:
    """One draw: all that is public about it, what it was given, and what came out."""

    public: tuple[Any, ...]
    given: list[dict[Any, int]]  # of each item, what data make of it
    prices: list[Fraction]
    rates: list[Fraction]
    outcome: Any

    @property
    def kind(self) -> str:
        """What was asked for."""
        return str(self.public[0])

    @property
    def purpose(self) -> str:
        """What was bought."""
        return str(self.public[1])


class Tape:
    """Draws from a stream, or returns what an earlier tape holds; notes what it is given."""

    def __init__(self, seed: int, recorded: list[Draw] | None = None) -> None:
        self.inner = SecureSampler(Keystream(seed))
        self.recorded = recorded
        self.draws: list[Draw] = []

    def _draw(self, public: tuple[Any, ...], given: Any, prices: Any, rates: Any, draw: Any) -> Any:
        place = len(self.draws)
        if self.recorded is None:
            outcome = draw()
        elif place < len(self.recorded) and self.recorded[place].public == public:
            outcome = self.recorded[place].outcome
        else:
            raise Branched(f"draw {place + 1}, {public[0]} for {public[1]!r}, was another one")
        self.draws.append(Draw(public, given, prices, rates, outcome))
        return outcome

    def _noise(self, kind: str, exact: Any, rates: Any) -> Any:
        each = exact.reshape(len(rates.which), -1)
        given = [dict(enumerate(row)) for row in each.tolist()]
        prices, values = _each(rates.prices, rates), _each(rates.values, rates)
        public = (kind, rates.purpose, exact.shape, tuple(prices), tuple(values))
        draw = getattr(self.inner, kind)
        return self._draw(public, given, prices, values, lambda: draw(exact, rates))

    def laplace(self, exact: Any, rates: Any) -> Any:
        """See `Sampler.laplace`."""
        return self._noise("laplace", exact, rates)

    def gaussian(self, exact: Any, rates: Any) -> Any:
        """See `Sampler.gaussian`."""
        return self._noise("gaussian", exact, rates)

    def select(self, candidates: Any, rates: Any, flip: bool) -> Any:
        """See `Sampler.select`."""
        given, offered = [], []
        c = candidates
        for first, stop in zip(c.start[:-1].tolist(), c.start[1:].tolist(), strict=True):
            scores = {}
            for run in range(first, stop):
                for step in range(int(c.count[run])):
                    cut = int(c.first[run]) + step if c.first[run] >= 0 else -1
                    scores[int(c.part[run]), cut, int(c.weight[run])] = int(c.score[run])
            given.append(scores)
            offered.append(tuple(sorted(scores)))
        prices, values = _each(rates.prices, rates), _each(rates.values, rates)
        public = ("select", rates.purpose, flip, tuple(offered), tuple(prices), tuple(values))
        return self._draw(
            public, given, prices, values, lambda: self.inner.select(candidates, rates, flip)
        )

    def listed(self, cells: Any, counts: Any, rule: Any) -> Any:
        """See `Sampler.listed`: of cells that one of two neighbors has alone, the other has 0."""
        keys = map(tuple, cells.tolist()) if cells.ndim > 1 else cells.tolist()
        given = [dict(zip(keys, counts.tolist(), strict=True))]
        public = (rule.law, rule.purpose, rule)
        return self._draw(
            public, given, [rule.rate], [rule.rate], lambda: self.inner.listed(cells, counts, rule)
        )

    def coin(self, bounds: Any) -> Any:
        """See `Sampler.coin`."""
        public = ("coin", "", tuple(bounds.tolist()))
        return self._draw(public, [], [], [], lambda: self.inner.coin(bounds))

    def words(self, number: int) -> Any:
        """See `Sampler.words`: what becomes of a record under the seal, no outcome."""
        return self.inner.words(number)


class Branched(Exception):
    """The run on the neighbor asked for something else."""


def _each(values: Any, rates: Any) -> list[Fraction]:
    return [values[place] for place in rates.which.tolist()]


def complaints(method: Any, pair: Any, budget: Budget, seed: int) -> Iterator[str]:
    """What is wrong with a method on two neighbors, in words: nothing, if it is sound."""
    tapes: list[Tape] = []
    opened: list[int] = []
    outcomes: list[Any] = []
    honest = Sealed.open

    def open_(self: Any, key: Any) -> Any:
        opened[-1] += 1
        return honest(self, key)

    for number, table in enumerate(pair.tables):
        tape = Tape(seed, tapes[0].draws if number else None)
        opened.append(0)
        try:
            with patch.object(Sealed, "open", open_):
                outcomes.append(run_on(table, method, budget, tape))
        except Branched as error:
            yield str(error)
            return
        tapes.append(tape)
    one, other = (tape.draws for tape in tapes)
    if len(one) != len(other):
        yield "the run on the neighbor drew less"
        return
    for tape, times in zip(tapes, opened, strict=True):
        if times != sum(draw.kind != "coin" for draw in tape.draws):
            yield "a seal was opened for something that is no draw"
    if len({*map(_leaving, outcomes)}) > 1:
        yield "what leaves is no function of what was drawn"
    ledger = outcomes[0].ledger
    spent: dict[str, Fraction] = {}
    gates: set[str] = set()
    for before, now in zip(one, other, strict=True):
        # a side table is bought by a ledger of its own, out of the same epsilon
        known = ledger.allows(before.purpose)
        name = ledger.budget_of(before.purpose) if known else "epsilon"
        touched = 0
        for was, is_, price, rate in zip(
            before.given, now.given, before.prices, before.rates, strict=True
        ):
            if was == is_:
                continue
            touched += 1
            moved = [is_.get(key, 0) - was.get(key, 0) for key in was.keys() | is_.keys()]
            cost = _cost(before.kind, name, rate, moved)
            if before.kind == "keep":
                if sum(map(abs, moved)) > 1:
                    yield f"{before.purpose}: a record was kept more than once"
                continue
            if cost > price:
                much = f"{float(cost):.4g} of {name}, and {float(price):.4g} was charged"
                yield f"{before.purpose}: a record moved it for {much}"
            if before.kind == "mark" and before.purpose in gates:
                continue  # all decisions of a gate are one charge
            gates.add(before.purpose)
            spent[name] = spent.get(name, Fraction(0)) + price
        if touched > 1:
            yield f"{before.purpose}: a record was in {touched} items that share a charge"
    for name, amount in spent.items():
        if amount > ledger.budgets[name].total:
            yield f"the draws that a record was in cost more {name} than was granted"


def _leaving(outcome: Any) -> str:
    """All that a release says."""
    book = outcome.ledger.book(outcome.published, outcome.sharing)
    with np.printoptions(threshold=sys.maxsize):
        return repr((outcome.plan, outcome.parts, book))


def _cost(kind: str, budget: str, rate: Fraction, moved: list[int]) -> Fraction:
    """What a mechanism of a rate loses about a record that moves what it was given so far."""
    if kind == "gaussian":
        return rate * sum(step * step for step in moved) / 2
    if kind == "select":
        apart = rate * (max(moved) - min(moved))
        return apart * apart / 8 if budget == "rho" else apart
    return rate * sum(map(abs, moved))


def pairs(name: str, seed: int, tries: int) -> Iterator[tuple[Any, Any]]:
    """Modes of a method in turn, with neighbors: edge cases first, then any."""
    entry, pick = AUDITED[name], picker(seed)
    for number in range(tries):
        schema = entry.schemas(pick)
        cases = edge_cases(schema, pick) if number % 2 else [random_pair(schema, pick)]
        yield entry.modes[number % len(entry.modes)], cases[number % len(cases)]


def main() -> int:
    """Looks at all methods; ends with 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=100, help="neighbors for each method")
    asked, wrong = parser.parse_args(), 0
    for name, entry in AUDITED.items():
        for delta in ("1e-6",) if entry.needs_delta else ("0", "1e-6"):
            seen: set[str] = set()
            tried = 0
            for number, (mode, pair) in enumerate(pairs(name, 1, asked.tries)):
                if not fits(mode, pair.without.schema, Budget.of(3, delta)):
                    continue
                tried += 1
                seen |= {*complaints(mode, pair, Budget.of(3, delta), number)}
            wrong += len(seen)
            wrong += not tried
            print(f"{name}, delta {delta}: {tried} neighbors, {seen or 'nothing found'}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
