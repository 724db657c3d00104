"""The curator: the only door from exact to noisy.

Each method charges the ledger, opens the seal, and draws, in this order. A publisher holds a
curator and sealed counts; it never sees anything that was not drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Literal, TypeVar

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.counting.sealed import Sealed, claim_key
from hedgerow.errors import LeakError
from hedgerow.privacy.budget import choice_rate, noise_rate, rate_below
from hedgerow.privacy.ledger import Ledger
from hedgerow.privacy.sampler import Candidates, CellNodes, Choices, Listing, Rates, Sampler

T = TypeVar("T")

_KEY = claim_key()


class Curator:
    """Charges, then draws.

    Args:
        ledger: Where everything is booked.
        sampler: Where outcomes come from.
    """

    def __init__(self, ledger: Ledger, sampler: Sampler) -> None:
        self.ledger = ledger
        self._sampler = sampler

    def select(
        self,
        purpose: str,
        depth: int,
        accounts: Ints,
        candidates: Sealed[Candidates],
        *,
        score_range: int,
        flip: bool,
    ) -> Choices:
        """Chooses one candidate for each account by its score.

        Args:
            purpose: The line of the plan that pays.
            depth: The depth of the accounts' nodes.
            accounts: One account for each node of the candidates.
            candidates: Sealed scores.
            score_range: How far apart the changes of two scores can be when one record is added:
                the mechanism with rate r costs r * score_range (pure), or (r * score_range)^2 / 8
                (zCDP).
            flip: Whether permute-and-flip may be used; it has the same pure cost.
        """
        units = self.ledger.charge(purpose, depth, accounts)
        currency = self.ledger.budget_of(purpose)
        pure, price = currency == "epsilon", partial(self.ledger.amount, purpose)
        rates = Rates.of(
            units, lambda unit: choice_rate(currency, price(unit), score_range), purpose, price
        )
        return self._sampler.select(candidates.open(_KEY), rates, flip and pure)

    def laplace(
        self,
        purpose: str,
        depth: int,
        accounts: Ints,
        exact: Sealed[Ints],
        units: Ints | None = None,
        max_contribution: int = 1,
    ) -> tuple[Ints, Ints]:
        """Noisy counts, unclipped, with the units of each account's charge; paid in epsilon.

        Row i of `exact` belongs to account i, and a record is counted, as one, in at most
        `max_contribution` numbers of it. `units` is for purposes whose price is not fixed (see
        `Ledger.charge`).
        """
        self._must_pay("epsilon", purpose)
        return self.noisy(purpose, depth, accounts, exact, units, max_contribution)

    def gaussian(
        self,
        purpose: str,
        depth: int,
        accounts: Ints,
        exact: Sealed[Ints],
        units: Ints | None = None,
        max_contribution: int = 1,
    ) -> tuple[Ints, Ints]:
        """Noisy counts as `laplace` gives them, with discrete Gaussian noise; paid in rho alone.

        Row i of `exact` belongs to account i. If one record is added, the squares of the changes
        of the numbers in its row add up to at most `max_contribution`: a record that is counted, as
        one, in k numbers has k, and one that moves a single number by up to c has c^2.

        Why the price holds. Let s be the variance parameter, P[z] proportional to exp(-z^2/(2s)).
        For whole numbers u and v, and an order a > 1, the sum over x of P[x-u]^a P[x-v]^(1-a) is
        exp(a (a-1) (u-v)^2 / (2s)) T(a (u-v)) / T(0), where T(c) is the sum over all whole x of
        exp(-(x-c)^2 / (2s)): complete the square. T is largest at 0, since all terms of its Fourier
        series are positive. So one number costs (u-v)^2 / (2s) in zCDP, independent noises add up,
        and a row costs max_contribution / (2s) (Canonne, Kamath and Steinke 2020). A charge of rho
        therefore buys 1/s = 2 rho / max_contribution, rounded down.
        """
        self._must_pay("rho", purpose)
        return self.noisy(purpose, depth, accounts, exact, units, max_contribution)

    def noisy(
        self,
        purpose: str,
        depth: int,
        accounts: Ints,
        exact: Sealed[Ints],
        units: Ints | None = None,
        max_contribution: int = 1,
    ) -> tuple[Ints, Ints]:
        """Noisy counts with the noise that their budget buys; see there for `max_contribution`."""
        units = self.ledger.charge(purpose, depth, accounts, units)
        rate = partial(self.noise_rate, purpose, max_contribution=max_contribution)
        rates = Rates.of(units, rate, purpose, partial(self.ledger.amount, purpose))
        draw = self._sampler.laplace if self.law(purpose) == "laplace" else self._sampler.gaussian
        return draw(exact.open(_KEY), rates), units

    def sparse(
        self,
        purpose: str,
        cells: Sealed[tuple[Ints, Ints]],
        number: int,
        threshold: int,
        depth: int = 0,
        account: int = 0,
        units: int | None = None,
    ) -> tuple[Ints, Ints, int]:
        """Noisy counts of a huge set of cells, of which those at or above the threshold are listed.

        Returns cells, values and the units of the charge.
        """
        paid = self._charge_one(purpose, depth, account, units)
        rule = Listing(law="sparse", rate=self.noise_rate(purpose, paid), threshold=threshold,
                       number=number, purpose=purpose)  # fmt: skip
        return *self._sampler.listed(*cells.open(_KEY), rule), paid

    def mark(
        self,
        purpose: str,
        cells: Sealed[tuple[Ints, Ints]],
        number: int,
        threshold: int,
        depth: int,
        account: int,
        units: int,
    ) -> Ints:
        """Which cells of a huge set have a noisy count at or above the threshold: no value leaves.

        A cell's noise is fresh, and a record lies in one cell, so this costs what a count costs.
        """
        rate = self.noise_rate(purpose, self._charge_one(purpose, depth, account, units))
        rule = Listing(law="mark", rate=rate, threshold=threshold, number=number, purpose=purpose)
        return self._sampler.listed(*cells.open(_KEY), rule)[0]

    def coin(self, bounds: Ints) -> Ints:
        """A uniform whole number below each bound, which are public; nothing is looked at."""
        return self._sampler.coin(bounds)

    def open_gate(self, purpose: str, bits: int) -> Gate:
        """Books, for everybody, all decisions of a gate that is used at most once on each level."""
        paid = self._charge_one(purpose, 0, 0, None)
        return Gate.of(self.ledger.amount(purpose, paid), bits)

    def pass_gate(
        self,
        purpose: str,
        gate: Gate,
        cells: Sealed[tuple[Ints, Ints]],
        number: int,
        depth: int,
    ) -> Ints:
        """Which of a partition's children pass: no count leaves.

        All decisions on a path cost one charge together (see `Gate`), which must have been booked
        by `open_gate`; each child must hold more the deeper it lies. Levels are asked about from
        the top down, and each partition once.

        Args:
            purpose: The line of the plan that paid.
            gate: What `open_gate` gave.
            cells: The children that hold records, and how many.
            number: How many children there are.
            depth: How many decisions lie above these on the path.

        Raises:
            LeakError: If nothing was booked, or a deeper level was asked about before.
        """
        self.ledger.must_be_paid(purpose)
        gate.enter(depth)
        index, counts = cells.open(_KEY)
        over = np.maximum(counts - depth * gate.step, 0)
        rule = Listing(law="mark", rate=gate.rate, threshold=gate.step, number=number,
                       purpose=purpose)  # fmt: skip
        return self._sampler.listed(index, over, rule)[0]

    def nonempty(
        self,
        purpose: str,
        records: Sealed[T],
        gather: Callable[[T], tuple[CellNodes, Ints]],
        threshold: int,
    ) -> tuple[CellNodes, Ints]:
        """Noisy counts of the cells that somebody is in, from a threshold on; charged to all.

        `gather` puts each record in one cell, whatever the other records are; it may draw, so it
        is called when all is paid. The delta of it is `suppression.noisy_delta`.
        """
        rate = self.noise_rate(purpose, self._charge_one(purpose, 0, 0, None))
        rule = Listing(law="nonempty", rate=rate, threshold=threshold, purpose=purpose)
        return self._sampler.listed(*records.map(gather).open(_KEY), rule)

    def keep(
        self,
        purpose: str,
        records: Sealed[T],
        gather: Callable[[T], tuple[CellNodes, Ints]],
        share: Fraction,
        least: int,
    ) -> tuple[CellNodes, Ints]:
        """Exact counts of records that were kept with some probability; charged to all.

        `gather` as in `nonempty`. The delta of it is `suppression.sampled_delta`, at the epsilon
        that was charged.
        """
        self._charge_one(purpose, 0, 0, None)
        rule = Listing(law="keep", rate=share, threshold=least, purpose=purpose)
        return self._sampler.listed(*records.map(gather).open(_KEY), rule)

    def _charge_one(self, purpose: str, depth: int, account: int, units: int | None) -> int:
        given = None if units is None else np.full(1, units, dtype=np.int64)
        charged = self.ledger.charge(purpose, depth, np.full(1, account, dtype=np.int64), given)
        return int(charged[0])

    def _must_pay(self, budget: str, purpose: str) -> None:
        """Refuses counts whose noise another budget buys."""
        if self.ledger.allows(purpose) and self.ledger.budget_of(purpose) != budget:
            raise LeakError(f"the noise of {purpose} is not paid in {budget}")

    def law(self, purpose: str) -> Literal["laplace", "gaussian"]:
        """The law of the noise on a purpose's counts: each budget buys what is least with it."""
        return "laplace" if self.ledger.budget_of(purpose) == "epsilon" else "gaussian"

    def noise_rate(self, purpose: str, units: int, max_contribution: int = 1) -> Fraction:
        """The rate of the noise that so many units buy: see `budget.noise_rate`."""
        amount = self.ledger.amount(purpose, units)
        return noise_rate(self.ledger.budget_of(purpose), amount, max_contribution)


# The depth-free gate: many decisions along a path for the price of about two.
#
# The idea is that of J. Zhang, X. Xiao and X. Xie: *PrivTree: A Differentially Private Algorithm
# for Hierarchical Decompositions*, SIGMOD 2016: counts that are biased by depth and clipped from
# below, so that the cost of all decisions on a path is a geometric series. The law here is for
# integers with discrete Laplace noise, and is clipped at 0.
#
# A child of a partition passes if max(0, count - depth * step) + DLap(rate) >= step. Nothing but
# passing leaves. Let beta = 2^bits and step >= ln(beta) / rate. Then all decisions on one record's
# path cost at most rate * (2 + 1/(beta - 1)) together, however deep the tree:
#
# Add a record. Only the children on its path count one more. Where the difference is clipped to 0
# with and without it, a decision costs nothing. Take the deepest other one on the path: it costs at
# most `rate`, as does its parent's. Further up, counts are no smaller and each level subtracts one
# step less, so the k-th ancestor beyond the parent passes the mark by y >= k * step; there the
# probability to pass is 1 - a^(y+1) / (1 + a) with a = exp(-rate), and one more record changes its
# logarithm by at most rate * a^(y+1) <= rate * beta^-k. These add up to rate / (beta - 1).
#
# An empty child passes with probability at most 1/(2 beta) or so, which keeps spurious trees small
# if beta is at least the number of children.

_LN2 = Fraction(6931472, 10**7)  # a little above


@dataclass
class Gate:
    """The law of a gate, and how far down it has been used.

    The bill holds for a path that is walked once, downwards: a gate that has decided on one level
    decides no more above it. That a partition is asked about once is for its caller to keep.

    Args:
        rate: The rate of the noise on each decision.
        step: How much more each level must hold, and the mark that must be reached.
        level: The deepest level that was decided on.

    Example:
        >>> Gate.of(Fraction(1, 2), 11)
        Gate(rate=Fraction(2047, 8190), step=31)
    """

    rate: Fraction
    step: int
    level: int = field(default=0, init=False, repr=False)

    def enter(self, depth: int) -> None:
        """Notes that decisions are made on a level; refuses one above the deepest so far."""
        if depth < self.level:
            raise LeakError("a gate was used again on a level above one that it has passed")
        self.level = depth

    @staticmethod
    def of(epsilon: Fraction, bits: int) -> Gate:
        """The gate whose decisions on a path cost at most epsilon, for beta = 2^bits."""
        beta = 1 << bits
        rate = rate_below(epsilon * (beta - 1) / (2 * beta - 1))
        return Gate(rate, -int(-(_LN2 * bits / rate) // 1))
