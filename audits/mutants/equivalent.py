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
        "publish/cuts.py",
        "new = np.full(len(ends), -1, dtype=np.int64)",
        "new = np.full(len(ends), - 2, dtype=np.int64)",
    ): "Whatever is below 0 stands for a split point that was not drawn.",
}


def reason(path: str, before: str, after: str) -> str | None:
    """Why a mutant does what the code does; None if nobody has shown that."""
    return EQUIVALENT.get((path, before, after))
