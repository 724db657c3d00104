"""The methods that are audited, by name: what `hedgerow.registry` names for each, and nothing else.

The tests, the command and `make audit` go through all of them, methods of installed packages too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from hedgerow.audit.audited import Audited, describe
from hedgerow.errors import UsageError
from hedgerow.registry import METHODS, OURS, load

__all__ = ["AUDITED", "Audited", "describe"]


class _Audits(Mapping[str, Audited]):
    """All audits by name; a method may have several, the first of its own name."""

    def __getitem__(self, name: str) -> Audited:
        return _found()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_found())

    def __len__(self) -> int:
        return len(_found())


@cache
def _found() -> dict[str, Audited]:
    found: dict[str, Audited] = {}
    for name in METHODS:
        try:
            entries: tuple[Audited, ...] = load(METHODS[name].audited)
        except (UsageError, ImportError, AttributeError):
            if name in OURS:
                raise
            continue  # a package that is broken; whoever names it is told that there is no audit
        found |= {entry.name: entry for entry in entries}
    return found


AUDITED: Mapping[str, Audited] = _Audits()
