"""The curator: the only door from exact to noisy.

Each method charges the ledger, opens the seal, and draws, in this order. A publisher holds a
curator and sealed counts; it never sees anything that was not drawn.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.counting.sealed import Sealed, claim_key
from hedgerow.privacy.budget import rate_below, root_below
from hedgerow.privacy.chance import Chance, Rates
from hedgerow.privacy.ledger import Ledger
from hedgerow.privacy.selection import Candidates, Choices

__all__ = ["Curator"]

Ints = NDArray[np.int64]

_KEY = claim_key()


class Curator:
    """Charges, then draws.

    Args:
        ledger: Where everything is booked.
        chance: Where outcomes come from.
    """

    def __init__(self, ledger: Ledger, chance: Chance) -> None:
        self.ledger = ledger
        self._chance = chance

    def select(
        self,
        purpose: str,
        depth: int,
        accounts: Ints,
        candidates: Sealed[Candidates],
        *,
        span: int,
        flip: bool,
    ) -> Choices:
        """Chooses one candidate for each account by its score.

        Args:
            purpose: The line of the plan that pays.
            depth: The depth of the accounts' nodes.
            accounts: One account for each node of the candidates.
            candidates: Sealed scores.
            span: How far apart the changes of two scores can be when one record is added: the
                mechanism with rate r costs r * span (pure), or (r * span)^2 / 8 (zCDP).
            flip: Whether permute-and-flip may be used; it has the same pure cost.
        """
        units = self.ledger.charge(purpose, depth, accounts)
        pure = self.ledger.pot_of(purpose) == "epsilon"

        def rate(unit: int) -> Fraction:
            amount = self.ledger.amount(purpose, unit)
            return rate_below((amount if pure else root_below(8 * amount)) / span)

        rates = Rates.of(units, rate, purpose)
        return self._chance.select(candidates.open(_KEY), rates, flip and pure)

    def laplace(
        self,
        purpose: str,
        depth: int,
        accounts: Ints,
        exact: Sealed[Ints],
        units: Ints | None = None,
    ) -> tuple[Ints, Ints]:
        """Noisy counts, unclipped, with the units of each account's charge.

        Row i of `exact` belongs to account i, and a record is counted in at most one number of it.
        `units` is for purposes whose price is not fixed (see `Ledger.charge`).
        """
        units = self.ledger.charge(purpose, depth, accounts, units)
        rates = Rates.of(units, lambda unit: self.noise_rate(purpose, unit), purpose)
        return self._chance.laplace(exact.open(_KEY), rates), units

    def sparse(
        self, purpose: str, cells: Sealed[tuple[Ints, Ints]], number: int, threshold: int
    ) -> tuple[Ints, Ints, int]:
        """Noisy counts of a huge set of cells, of which those at or above the threshold are listed.

        Charged to the root. Returns cells, values and the units of the charge.
        """
        units = int(self.ledger.charge(purpose, 0, np.zeros(1, dtype=np.int64))[0])
        index, counts = cells.open(_KEY)
        kept, values = self._chance.sparse(
            index, counts, number, self.noise_rate(purpose, units), threshold
        )
        return kept, values, units

    def noise_rate(self, purpose: str, units: int) -> Fraction:
        """The rate of the discrete Laplace noise that so many units buy.

        Noise of rate e is e-DP and e^2/2-zCDP, so rho allows sqrt(2 rho), rounded down.
        """
        amount = self.ledger.amount(purpose, units)
        return amount if self.ledger.pot_of(purpose) == "epsilon" else root_below(2 * amount)
