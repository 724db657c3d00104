"""The depth-free gate: many decisions along a path for the price of about two.

The idea is that of J. Zhang, X. Xiao and X. Xie: *PrivTree: A Differentially Private Algorithm for
Hierarchical Decompositions*, SIGMOD 2016: counts that are biased by depth and clipped from below,
so that the cost of all decisions on a path is a geometric series. The law here is for integers
with discrete Laplace noise, and is clipped at 0.

A child of a partition passes if max(0, count - depth * step) + DLap(rate) >= step. Nothing but
passing leaves. Let beta = 2^bits and step >= ln(beta) / rate. Then all decisions on one record's
path cost at most rate * (2 + 1/(beta - 1)) together, however deep the tree:

Add a record. Only the children on its path count one more. Where the difference is clipped to 0
with and without it, a decision costs nothing. Take the deepest other one on the path: it costs at
most `rate`, as does its parent's. Further up, counts are no smaller and each level subtracts one
step less, so the k-th ancestor beyond the parent passes the mark by y >= k * step; there the
probability to pass is 1 - a^(y+1) / (1 + a) with a = exp(-rate), and one more record changes its
logarithm by at most rate * a^(y+1) <= rate * beta^-k. These add up to rate / (beta - 1).

An empty child passes with probability at most 1/(2 beta) or so, which keeps spurious trees small
if beta is at least the number of children.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from hedgerow.errors import LeakError
from hedgerow.privacy.budget import rate_below

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
