"""Many columns at once, by an ordinary form: which are shown, and what becomes of those ticked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hedgerow.errors import UsageError
from hedgerow.studio.app import Asked

__all__ = ["Bulk"]

_KEYS = ("kind", "missing", "outside")


@dataclass(frozen=True, kw_only=True)
class Bulk:
    """Which columns a page shows, and which were ticked.

    Args:
        filter: What the names of those that are shown hold.
        shown: The numbers of these.
        ticked: The numbers of those that were ticked.
    """

    filter: str
    shown: frozenset[int]
    ticked: frozenset[int]

    @staticmethod
    def of(asked: Asked, names: Mapping[int, Sequence[str]]) -> Bulk:
        """What a form says.

        Args:
            asked: The form.
            names: The names of columns, by the numbers that their fields have.
        """
        words = asked.get("filter").strip()
        fits = {number for number, several in names.items()
                if any(words.casefold() in name.casefold() for name in several)}  # fmt: skip
        ticked = {number for number in names if str(number) in asked.every("pick")}
        return Bulk(filter=words, shown=frozenset(fits), ticked=frozenset(ticked))

    def applied(self, asked: Asked) -> Asked:
        """The form as if the same had been chosen for each of the columns, and none were ticked.

        Raises:
            UsageError: If no column or nothing to do was chosen.
        """
        key, _, value = asked.get("bulk").partition("=")
        meant = self.shown if asked.get("which") == "shown" else self.ticked
        if not meant or key not in _KEYS:
            raise UsageError(
                "no column was ticked, or nothing was chosen for them.",
                hint="Go back, tick columns, and choose what they are.",
            )
        chosen = {f"{key}-{number}": [value] for number in meant}
        return replace(asked, form={**asked.form, **chosen, "pick": []})
