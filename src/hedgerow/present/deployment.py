"""A release as a deployment record in the format of the OpenDP Deployments Registry.

What hedgerow cannot know is left for a person: texts that begin with `TO COMPLETE`.
"""

from __future__ import annotations

import datetime
import re
from typing import Any

import yaml  # type: ignore[import-untyped,unused-ignore]

from hedgerow.errors import ReleaseError, UsageError
from hedgerow.measured.measurements import exact
from hedgerow.present import words
from hedgerow.present.dossier import Booked, mechanisms, preparation
from hedgerow.present.promise import doubt
from hedgerow.release import Release
from hedgerow.release.manifest import package_version
from hedgerow.verification.verify import Verdict

OPEN = "TO COMPLETE: "
_PRODUCTS = {
    "table": "Summary statistics",
    "marginals": "Summary statistics",
    "transactions": "Summary statistics",
    "rows": "Dataset",
}


def deployment_record(
    release: Release, verdict: Verdict, published: str | None, booked: Booked | None = None
) -> dict[str, Any]:
    """The record, as YAML would hold it.

    Args:
        release: A private release.
        verdict: What `hedgerow.verify` found.
        published: The date of publication, YYYY-MM-DD; the ledger may know it.
        booked: The data set in the budget ledger, if there is one.

    Raises:
        ReleaseError: If the release is a test or fails its checks: there is nothing to register.
        UsageError: If the date is not known, or is none.
    """
    refuse_doubtful(release, verdict)
    schema, promise = release.schema, release.guarantee
    about, told = schema.metadata, release.describe()
    delta = exact(promise["delta"])
    parameters: dict[str, Any] = {"epsilon": _number(exact(promise["epsilon"]))}
    if delta:
        parameters["delta"] = _number(delta)
    several = booked is not None and len([x for x in booked[0].entries if x.counts]) > 1
    return {
        "url_slug": slug(schema.name),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": schema.name,
                "data_curators": [about.institution or OPEN + "who publishes the data product"],
                "description": f"{told.summary} {_published(release)}",
                "intended_use": about.purpose or OPEN + "what the data product is to be used for",
                "data_product_type": _PRODUCTS[release.kind],
                "data_product_region": OPEN + "which region the data describes, or whose laws apply"
                + (f" (period of the data: {about.period})" if about.period else ""),
                "publication_date": publication_date(published, booked),
            },
            "dp_variant": {
                "variant_name": "Approximate DP" if delta else "Pure DP",
                "data_domain": f"All data sets that the public schema {schema.name} describes "
                f"(SHA-256 of the schema: {schema.hash}).",
                "unprotected_quantities": "None. The schema is public and published as it is.",
            },
            "privacy_loss": {
                "privacy_unit": str(promise.get("unit_of_protection", told.protected)),
                "privacy_unit_details": f"Neighboring data sets: {promise.get('neighbors')}. "
                f"The protected unit is {told.protected}.",
                "privacy_parameters": parameters,
                "privacy_parameters_details": f"Exactly: epsilon {promise['epsilon']}, delta "
                f"{promise['delta']}; accounting: {promise.get('accounting')}.",
            },
            "deployment_model": {
                "model_name": "Central",
                "actors": OPEN + "who holds the raw data, and who receives the data product "
                f"(recipients: {about.recipients or 'not stated'})",
                "release_type": "Many releases" if several else "One release",
                "release_type_details": _total(booked),
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "accounting": {
                "post_processing": f"{told.processed} None of it looks at the data again.",
                "composition": "Charges add up along every path to a published number, and the "
                "largest sum is what was spent; parts of a path are disjoint.",
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": " ".join(
                    [*preparation(schema), OPEN + "how settings and epsilon were chosen"]
                ),
                "mechanisms": f"{mechanisms(release)} Library: hedgerow {package_version()}.",
                "justification": OPEN + "why these settings were chosen",
            },
            "administrative": {
                "notes": f"`hedgerow verify` recomputed "
                f"{words.strength(verdict.epsilon, verdict.delta)} from the release alone; "
                f"{len(verdict.checks)} checks hold.",
                "registry_authors": [about.contact or OPEN + "who filled in this record"],
            },
        },
    }  # fmt: skip


def refuse_doubtful(release: Release, verdict: Verdict) -> None:
    """Raises if there is nothing to register: the release is a test, or fails its checks.

    Args:
        release: The release.
        verdict: What `hedgerow.verify` found.
    """
    doubted = doubt(release, verdict)
    if doubted is not None or not release.guarantee["private"]:
        why = "it is a test, made with a seed" if doubted is None else doubted.why
        raise ReleaseError(
            f"this release cannot be registered: {why}", hint="Publish one without a seed."
        )


def record_text(record: dict[str, Any]) -> str:
    """The record as the text of a YAML file."""
    text: str = yaml.safe_dump(record, sort_keys=False, allow_unicode=True, width=100)
    return text


def open_places(record: Any, place: str = "") -> list[str]:
    """Where a person must complete a record.

    Example:
        >>> open_places({"a": {"b": "TO COMPLETE: x", "c": ["d", "e TO COMPLETE: y"]}})
        ['a.b', 'a.c']
    """
    if isinstance(record, dict):
        return [x for k, v in record.items() for x in open_places(v, f"{place}.{k}".lstrip("."))]
    if isinstance(record, list):
        return [x for value in record for x in open_places(value, place)]
    return [place] if isinstance(record, str) and OPEN in record else []


def _number(value: Any) -> float | int:
    shown = words.decimal(value)  # never below what is promised
    return int(shown) if shown.isdigit() else float(shown)


def slug(name: str) -> str:
    """A name as web addresses have it.

    Example:
        >>> slug("Clinic discharges, 2024")
        'clinic-discharges-2024'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "release"


def publication_date(given: str | None, booked: Booked | None) -> str:
    """When a release was published, as YYYY-MM-DD: as somebody says, or as a ledger knows.

    Args:
        given: What somebody says.
        booked: The data set in the budget ledger, if there is one.

    Raises:
        UsageError: If the date is not known, or is none.
    """
    entry = None if booked is None else booked[1]
    text = given
    if text is None and entry is not None and entry.state == "published":
        text = entry.booked[:10]
    if text is None:
        raise UsageError(
            "nothing says when the release was published, and a record needs the date",
            hint="Add --published 2026-01-31, or the budget ledger that booked it as published.",
        )
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        raise UsageError(f"{text} is not a date", hint="Write it as 2026-01-31.") from None


def _published(release: Release) -> str:
    told = release.describe()
    return f"Published: {words.many(told.number, told.part)}. Method: {release.method}."


def _total(booked: Booked | None) -> str:
    if booked is None:
        return OPEN + "whether further releases of the same data are planned"
    account = booked[0]
    epsilon, delta = account.spent
    return (
        f"A budget ledger keeps all releases of the data set {account.name} within a total: "
        f"{words.strength(epsilon, delta)} of {words.strength(account.epsilon, account.delta)} is "
        "spent."
    )
