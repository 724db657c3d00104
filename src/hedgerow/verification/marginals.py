"""The rules for Marginals: every table has the noise that its charge buys."""

from __future__ import annotations

from hedgerow.measured.tables import Cells
from hedgerow.verification.ledger import region_rules

__all__ = ["RULES"]


def _measured(release: object) -> str:
    return "every table was counted, at the price that was booked for it"


def _accounted(release: object) -> str:
    return "what everybody spent follows from the entries"


RULES = {
    "tuned-1": region_rules(
        shape=Cells,
        measured=_measured,
        accounted=_accounted,
        published=lambda release: 1,
        what="tables",
    )
}
