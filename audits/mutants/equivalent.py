"""Generated mutants that no test can notice, each with the reason.

A mutant stands here by the line that it changes, before and after. Whatever else survives wants a
test: `make mutants` ends with an error until it is caught or stands here.
"""

from __future__ import annotations

__all__ = ["EQUIVALENT", "reason"]

# (module, line before, line after): why the two do the same
EQUIVALENT: dict[tuple[str, str, str], str] = {}


def reason(path: str, before: str, after: str) -> str | None:
    """Why a mutant does what the code does; None if nobody has shown that."""
    return EQUIVALENT.get((path, before, after))
