"""Metadata of a schema: whose data it is, what for, and who signed the schema off. All public."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from hedgerow.schema.lint import Fault, label_fault, raise_faults
from hedgerow.suggestions import check_fields

__all__ = ["Metadata", "faults_of"]

LONGEST = 500  # characters of one entry


@dataclass(frozen=True, kw_only=True)
class Metadata:
    """Facts about data and schema that a release repeats; each may be missing.

    Args:
        institution: Who holds the data and publishes the release.
        contact: Whom to ask.
        period: When the data was collected.
        licence: Under which terms the release may be used.
        purpose: What it is published for.
        recipients: Who receives it.
        unit_name: What one record is called, singular and plural.
        reviewer: Who has seen that everything in the schema is public knowledge.
        reviewed: When that was, as YYYY-MM-DD.
        signed: What was seen: the fingerprint of the schema (`Schema.fingerprint`).

    Example:
        >>> about = Metadata(institution="St Anne", unit_name=("encounter", "encounters"))
        >>> about.describe()
        {'institution': 'St Anne', 'unit_name': ['encounter', 'encounters']}
    """

    institution: str | None = None
    contact: str | None = None
    period: str | None = None
    licence: str | None = None
    purpose: str | None = None
    recipients: str | None = None
    unit_name: tuple[str, str] | None = None
    reviewer: str | None = None
    reviewed: str | None = None
    signed: str | None = None

    def __post_init__(self) -> None:
        """Refuses what could not be shown or read back."""
        check_fields(self)
        wrong = faults_of(self.describe())
        raise_faults([Fault(f"metadata: {what}", hint) for _, what, hint in wrong])

    @property
    def unsigned(self) -> Metadata:
        """The same without a sign-off."""
        return replace(self, reviewer=None, reviewed=None, signed=None)

    def describe(self) -> dict[str, Any]:
        """What is known, as JSON would hold it."""
        known = {one.name: getattr(self, one.name) for one in fields(self)}
        told = {key: value for key, value in known.items() if value is not None}
        return {key: list(v) if isinstance(v, tuple) else v for key, v in told.items()}


def faults_of(told: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """What is wrong with metadata: the key, what, and a hint."""
    found = []
    for key, value in told.items():
        for text in [value] if isinstance(value, str) else value:
            wrong = label_fault(text)
            if wrong is not None:
                found.append((key, f"{key} is blank or holds a control character", wrong[1]))
            elif len(text) > LONGEST:
                hint = "Say it shortly, and link to the rest."
                found.append((key, f"{key} has more than {LONGEST} characters", hint))
    if ("reviewer" in told) != ("reviewed" in told) or ("signed" in told) > ("reviewer" in told):
        hint = "Write both: reviewer: a name, and reviewed: a date such as 2026-01-31."
        found.append(("reviewer", "a sign-off needs a reviewer and a date", hint))
    elif not _is_date(told.get("reviewed", "2026-01-31")):
        found.append(("reviewed", "reviewed is not a date", "Write it as 2026-01-31."))
    return found


def _is_date(text: str) -> bool:
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
