"""How the budget is shared among marginals, the tree and the rounds: a public rule.

It reads epsilon (or rho), the noisy number of records and the schema. Everything is paid from one
budget, which is epsilon, or rho if there is a delta.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from hedgerow.arrays import PROBABILITY
from hedgerow.measured.marginals import MOST_RELATED
from hedgerow.privacy.budget import UnitBudget
from hedgerow.privacy.ledger import Allowance
from hedgerow.schema import Numeric, Schema

__all__ = ["MarginalShares", "share_marginals", "share_tables"]

PAIR_RANGE, PICK_RANGE = 2, 2 * PROBABILITY  # of the scores that choose
LITTLE = 3_000  # epsilon times records, up to which as much as can be goes to the tree
PER_PAIR = 1_000  # strength for one more pair
ENOUGH_TO_RECOUNT = 4_000
RECOUNTED, TOGETHER, CHOOSING = 5, 30, 10  # percent of x; of x; of what pairs get
ENOUGH_FOR_RINGS = 20_000
RINGS, RINGS_RHO = 60, 45  # percent of x for pairs, where some of them close rings
ALONE = 5  # percent for the tree where it has no class to separate
PER_TABLE = 14  # strength for one more table, if its noise shall stay below a tenth of the records
PER_TABLE_RHO = 50  # rho times records squared for the same


@dataclass(frozen=True, kw_only=True)
class MarginalShares:
    """What is spent on what, in units of one budget.

    Args:
        budget: The name of the budget.
        counted: How many attributes are counted, the first ones.
        one_way: For the tables of single attributes and of the class.
        fine: For counting large cells again.
        relate: For choosing one pair.
        pairs: How many pairs may be chosen.
        two_way: For the tables of pairs.
        extra_pairs: How many pairs may be chosen besides, by what those told.
        extra: For their tables.
        rounds: How many rounds there are.
        pick: For choosing what one of them looks at.
        residual: For its table.
        tree: What is left for the tree and its leaves.
    """

    budget: Literal["epsilon", "rho"]
    counted: int
    one_way: int
    fine: int
    relate: int
    pairs: int
    two_way: int
    extra_pairs: int
    extra: int
    rounds: int
    pick: int
    residual: int
    tree: int

    def lines(self) -> tuple[Allowance, ...]:
        """What may be charged, all of it to everybody."""
        step = PROBABILITY if self.budget == "epsilon" else PROBABILITY**2
        bought = [
            ("one_way", self.one_way, 1, self.counted + 1, False),
            ("fine", self.fine, 1, self.counted, False),
            ("relate", self.relate, self.pairs + self.extra_pairs, PAIR_RANGE, True),
            ("two_way", self.two_way, min(1, self.pairs), self.pairs, False),
            ("extra", self.extra, min(1, self.extra_pairs), self.extra_pairs, False),
            ("pick", self.pick, self.rounds, PICK_RANGE, True),
            ("residual", self.residual, self.rounds, step, False),
        ]
        return tuple(
            Allowance(purpose, self.budget, units=(units,), uses=uses, reach=reach, choice=choice)
            for purpose, units, uses, reach, choice in bought
            if uses and (units or purpose != "fine")
        )


def share_marginals(
    schema: Schema,
    budget: UnitBudget,
    units: int,
    epsilon: float,
    rows: int,
    by_hand: tuple[int | None, int | None] = (None, None),
) -> MarginalShares:
    """Shares out units of a budget.

    Args:
        schema: The public schema.
        budget: The budget.
        units: How many of its units there are to share.
        epsilon: What one row may lose in all.
        rows: The noisy number of rows.
        by_hand: The numbers of pairs and of rounds, if they were set by hand.

    Example:
        >>> from fractions import Fraction
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "ill": {"type": "boolean"}, "home": {"type": "boolean"}}})
        >>> found = share_marginals(
        ...     schema, UnitBudget("epsilon", Fraction(1, 1000), 1000), 990, 1.0, 30_000)
        >>> found.tree, found.one_way, found.relate, found.two_way, found.rounds
        (49, 659, 28, 254, 0)
    """
    pairs, set_rounds = by_hand
    pure = budget.name == "epsilon"
    much = min(1.0, max(0.0, math.log10(max(epsilon * rows, 1.0) / LITTLE)))
    tree = int(units * ((0.32 - 0.20 * much) if pure else 0.12))
    rounds = set_rounds or (round(3 + 7 * much) if pure else round(4 + 6 * much))
    share = int(units * ((0.28 + 0.04 * much) if pure else 0.28))
    if len(schema.classes) < 2:
        rounds = share = 0
        tree = int(units * ALONE / 100)
    each = share // max(1, rounds)
    pick = each // 4
    return replace(
        share_tables(schema, budget, units - tree - each * rounds, rows, pairs),
        rounds=rounds,
        pick=pick,
        residual=each - pick,
        tree=tree,
    )


def share_tables(
    schema: Schema, budget: UnitBudget, left: int, rows: int, pairs: int | None = None
) -> MarginalShares:
    """Shares out units of a budget among the tables of x alone; there are no rounds.

    Args:
        schema: The public schema.
        budget: The budget.
        left: How many of its units there are to share.
        rows: The noisy number of rows.
        pairs: The number of pairs, if it was set by hand.
    """
    several = [place for place, one in enumerate(schema.attributes) if one.size > 1]
    attributes, pure = len(several) or len(schema.attributes), budget.name == "epsilon"
    amount = float(budget.unit) * left
    # as if so much epsilon were spent on as many tables: in zCDP noise grows with their root
    worth = amount if pure else 2 * math.sqrt(amount * (attributes + 1))
    strength = worth * rows
    bearable = strength / PER_TABLE if pure else amount * rows**2 / PER_TABLE_RHO
    # whoever asks for pairs has attributes enough counted for them
    counted = min(attributes, max(1, int(bearable) - 1, (pairs or 0) + 1))
    fine = 0
    if strength >= ENOUGH_TO_RECOUNT and any(isinstance(a, Numeric) for a in schema.attributes):
        fine = left * RECOUNTED // 100
    if several:  # others cost nothing
        counted = several[counted - 1] + 1 if counted < attributes else len(schema.attributes)
    related = sum(place < min(counted, MOST_RELATED) for place in several)
    if pairs is None:
        pairs = int(strength / PER_PAIR)
        pairs = pairs if pairs >= 2 else 0
        if strength < ENOUGH_FOR_RINGS:
            pairs = min(pairs, related - 1)
    most = max(0, related - 1)  # more pairs close rings, and there are as many of those at most
    extra = max(0, min(pairs - most, most * (most - 1) // 2, most))
    pairs = max(0, min(pairs, most))
    part = TOGETHER if not extra else RINGS if pure else RINGS_RHO
    together = left * part // 100 if pairs else 0
    choosing = together * CHOOSING // 100 // max(1, pairs + extra)
    counting = together - choosing * (pairs + extra)
    more = counting * extra // max(1, pairs + extra)
    return MarginalShares(
        budget=budget.name,
        counted=counted,
        one_way=left - fine - together,
        fine=fine,
        relate=choosing,
        pairs=pairs,
        two_way=counting - more,
        extra_pairs=extra,
        extra=more,
        rounds=0,
        pick=0,
        residual=0,
        tree=0,
    )
