"""Generated mutants that no test can notice, each with the reason.

A mutant stands here by the line that it changes, before and after. Whatever else survives wants a
test: `make mutants` ends with an error until it is caught or stands here.
"""

from __future__ import annotations

__all__ = ["EQUIVALENT", "reason"]

# (module, line before, line after): why the two do the same
EQUIVALENT: dict[tuple[str, str, str], str] = {
    (
        "privacy/account_book.py",
        "with suppress(HedgerowError), book_file.transaction(self.path, writes=True) as file:",
        "with suppress(HedgerowError), book_file.transaction(self.path, writes=False) as file:",
    ): "A sweep that meets another writer is left for the next look, either way.",
    (
        "publish/large_scores.py",
        "whole = child(total, int(hi[a] - lo[a]), size)",
        "whole = child(total, int(hi[a] << lo[a]), size)",
    ): "Only the score ncp looks at a width, and it does not look at the whole.",
    (
        "privacy/binomial.py",
        "low, high = int((total - slack) * one), -int(-(total + slack) * one // 1)",
        "low, high = int((total - slack) * one), -int(+(total + slack) * one // 1)",
    ): "It is squared at least once, so the sign goes; the slack is far more than the rounding.",
    (
        "privacy/binomial.py",
        "precision = bits + 64 + 2 * trials.bit_length()",
        "precision = bits + 65 + 2 * trials.bit_length()",
    ): "Any precision is exact; with less, more bits are asked for more often.",
    (
        "publish/cuts.py",
        "new = np.full(len(ends), -1, dtype=np.int64)",
        "new = np.full(len(ends), - 2, dtype=np.int64)",
    ): "Whatever is below 0 stands for a split point that was not drawn.",
    (
        "publish/diffpart.py",
        "return min(items.size - 1, core_size(items.size, records, float(budget.epsilon * left)))",
        "return min(items.size | 1, core_size(items.size, records, float(budget.epsilon * left)))",
    ): "With less epsilon a core is never the whole universe, if it was not with more.",
    (
        "publish/scores.py",
        "weight: Any = _WEIGHT if fixed else max(np.int64(1), _WEIGHT // (high - low - 1))",
        "weight: Any = _WEIGHT if fixed else max(np.int64( 0), _WEIGHT // (high - low - 1))",
    ): "An attribute has fewer cuts than its weight has parts (MAX_GRID), so the share is above 0.",
    (
        "privacy/suppression.py",
        "return Decimal(1)",
        "return Decimal( 0)",
    ): "z is the best one for a ratio below the limit, so the slope is below 0 there.",
    (
        "publish/cuts.py",
        "spread(self.taxon[values], -1),",
        "spread(self.taxon[values], - 0),",
    ): "It fills places that are not asked about (SKIP).",
    (
        "publish/tree.py",
        "numeric, 2, self.domain.children[taxon] if len(self.domain.children) else 2",
        "numeric, 2, self.domain.children[taxon] if len(self.domain.children) else 1",
    ): "Where there are no taxonomies every node is numeric.",
    (
        "counting/people.py",
        "self._shelves[number].add(block.reshape(-1))",
        "self._shelves[number].add(block.reshape(~1))",
    ): "numpy takes any negative length for the one that follows from the others.",
    (
        "privacy/book_file.py",
        "uri=True,",
        "uri=False,",
    ): "Where SQLite is built with USE_URI, as it mostly is, it takes addresses anyway.",
    (
        "privacy/booking.py",
        "with suppress(HedgerowError), book_file.transaction(self.path, writes=True) as file:",
        "with suppress(HedgerowError), book_file.transaction(self.path, writes=False) as file:",
    ): "A withdrawal that meets another writer stays booked, either way.",
    (
        "privacy/chance.py",
        "if int(mass.max(initial=0)) << samplers.ENVELOPE >= 1 << 62:",
        "if int(mass.max(initial= -1)) << samplers.ENVELOPE >= 1 << 62:",
    ): "Masses are above 0; where there are none, both are small.",
    (
        "privacy/suppression.py",
        "if slope >= 0:",
        "if slope >= 1:",
    ): "z is the best one for a ratio below the limit, so the slope is below 0 there.",
    (
        "publish/basket_rules.py",
        "while edges[-1] < most:",
        "while edges[-1] <= most:",
    ): "The one edge more lies beyond the most, and such edges are left out.",
    (
        "publish/cuts.py",
        "ends = [(self.lo[value], cut, -1), (cut, self.hi[value], -1)]",
        "ends = [(self.lo[value], cut, - 2), (cut, self.hi[value], -1)]",
    ): "Whatever is below 0 stands for a numeric value.",
    (
        "publish/cuts.py",
        "ends = [(self.lo[value], cut, -1), (cut, self.hi[value], -1)]",
        "ends = [(self.lo[value], cut, -1), (cut, self.hi[value], ~1)]",
    ): "Whatever is below 0 stands for a numeric value.",
    (
        "privacy/samplers.py",
        "even: bool = (k - first) % 2 == 0",
        "even: bool = (k - first) % 2 <= 0",
    ): "A remainder is never below 0.",
    (
        "privacy/binomial.py",
        "precision = 64 + trials.bit_length()",
        "precision = 65 + trials.bit_length()",
    ): "It decides how trials are cut into portions, and any portions have one law.",
    (
        "publish/rows_plan.py",
        "return self.purse.pots[0]",
        "return self.purse.pots[ -1]",
    ): "There is one pot.",
    (
        "privacy/binomial.py",
        "return max(0, low >> shift), min(1 << precision, -(-high >> shift))",
        "return max(0, low >> shift), min( 2 << precision, -(-high >> shift))",
    ): "A bracket that reaches a little beyond 1 is one still.",
}


def reason(path: str, before: str, after: str) -> str | None:
    """Why a mutant does what the code does; None if nobody has shown that."""
    return EQUIVALENT.get((path, *(line.partition("  #")[0] for line in (before, after))))
