"""Deployment records hold what the registry's format asks for, and say what is open.

The registry's own schema is used if the folder of public data has it (`standards/`). The shape that
is tested without it was written from its list of keys.
"""

from __future__ import annotations

import datetime
import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml

import hedgerow as hr
from hedgerow import sample
from hedgerow.errors import HedgerowError, ReleaseError, UsageError
from hedgerow.ledger.file import Account, Entry
from hedgerow.present.catalog import deployment_record, open_places, record_text
from hedgerow.release import Release
from hedgerow.sample.survey import shop_schema, transactions
from hedgerow.schema import Metadata
from hedgerow.verification import verify

DATE = "2026-01-31"
KEYS = {
    "basic": {
        "name", "data_curators", "intended_use", "data_product_type", "data_product_region",
        "description", "publication_date",
    },
    "dp_variant": {"variant_name", "data_domain", "unprotected_quantities"},
    "privacy_loss": {
        "privacy_unit", "privacy_unit_details", "privacy_parameters", "privacy_parameters_details",
    },
    "deployment_model": {
        "model_name", "actors", "release_type", "release_type_details", "data_source_type",
        "access_type",
    },
    "accounting": {"post_processing", "composition"},
    "implementation": {
        "preprocessing_and_hyperparameter_tuning", "mechanisms", "justification",
    },
    "administrative": {"notes", "registry_authors"},
}  # fmt: skip


@pytest.fixture(scope="module")
def releases() -> dict[str, Release]:
    people, schema = sample.people(400, seed=3), sample.schema()
    baskets = pa.table({"items": transactions(300, seed=1)})
    return {
        "table": hr.publish(people, schema, epsilon="1/3"),
        "delta": hr.publish(people, schema, epsilon=1, delta="1e-6"),
        "rows": hr.publish(people, schema, hr.Supermodular(), epsilon=4, delta="1e-6"),
        "transactions": hr.publish(baskets, shop_schema(), epsilon=1),
    }


def record_of(release: Release) -> dict[str, Any]:
    return deployment_record(release, verify(release), DATE)


@pytest.mark.parametrize("kind", ["table", "delta", "rows", "transactions"])
def test_a_record_has_the_shape_of_the_registry(releases: dict[str, Release], kind: str) -> None:
    record = yaml.safe_load(record_text(record_of(releases[kind])))
    assert set(record) == {"url_slug", "status", "tier", "deployment"}
    assert {part: set(keys) for part, keys in record["deployment"].items()} == KEYS
    assert record["status"] == "Draft" and record["tier"] in (1, 2, 3)
    delta = kind in ("delta", "rows")
    variant = record["deployment"]["dp_variant"]["variant_name"]
    assert variant == ("Approximate DP" if delta else "Pure DP")
    assert ("delta" in record["deployment"]["privacy_loss"]["privacy_parameters"]) == delta


@pytest.mark.parametrize("kind", ["table", "delta", "rows", "transactions"])
def test_a_record_is_valid_against_the_registrys_schema(
    releases: dict[str, Release], kind: str
) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    beside = Path(__file__).parents[4] / "shared" / "data"
    folder = Path(os.environ.get("HEDGEROW_DATA", beside))
    path = folder / "standards" / "deployments-schema.yaml"
    if not path.exists():
        pytest.skip("the registry's schema is not there: name the folder with HEDGEROW_DATA")
    rules = yaml.safe_load(path.read_text(encoding="utf-8"))
    record = yaml.safe_load(record_text(record_of(releases[kind])))
    checker = jsonschema.Draft202012Validator(rules, format_checker=jsonschema.FormatChecker())
    assert list(checker.iter_errors(record)) == []
    record["deployment"]["basic"]["data_product_type"] = "Rumour"
    assert list(checker.iter_errors(record))


def test_a_rounded_epsilon_is_never_below_the_promise(releases: dict[str, Release]) -> None:
    told = record_of(releases["table"])["deployment"]["privacy_loss"]["privacy_parameters"]
    assert 1 / 3 < told["epsilon"] < 0.334


def test_what_is_open_shrinks_with_metadata(releases: dict[str, Release]) -> None:
    release = releases["table"]
    before = open_places(record_of(release))
    about = Metadata(institution="St Anne", purpose="planning", contact="data@example.org")
    named = replace(release, schema=replace(release.schema, metadata=about))
    after = open_places(record_of(named))
    assert set(before) - set(after) == {
        "deployment.basic.data_curators",
        "deployment.basic.intended_use",
        "deployment.administrative.registry_authors",
    }
    assert "deployment.basic.data_product_region" in after


def test_the_date_must_be_known(releases: dict[str, Release]) -> None:
    release = releases["table"]
    for date in (None, "yesterday", "2026-02-30"):
        with pytest.raises(UsageError, match="date"):
            deployment_record(release, verify(release), date)
    assert datetime.date.fromisoformat(
        record_of(release)["deployment"]["basic"]["publication_date"]
    )


@pytest.mark.parametrize("state", ["booked", "drawn", "published", "withdrawn", "returned"])
def test_a_ledger_knows_the_date_of_what_it_calls_published(
    releases: dict[str, Release], state: Any
) -> None:
    release = releases["table"]
    entry = Entry(
        number=1, unit="row", method="diffmulti", epsilon=Fraction(1, 3), delta=Fraction(0),
        booked="2026-01-31T10:00:00", state=state,
    )  # fmt: skip
    account = Account(
        name="x", epsilon=Fraction(1), delta=Fraction(0), opened="2026", entries=(entry,)
    )
    if state == "published":
        made = deployment_record(release, verify(release), None, (account, entry))
        assert made["deployment"]["basic"]["publication_date"] == DATE
    else:
        with pytest.raises(UsageError, match="date"):
            deployment_record(release, verify(release), None, (account, entry))


def test_a_test_release_is_not_registered(releases: dict[str, Release]) -> None:
    seeded = hr.publish(sample.people(400, seed=3), sample.schema(), epsilon=1, seed=1)
    with pytest.raises(ReleaseError, match="seed"):
        record_of(seeded)
    broken = replace(releases["table"], guarantee=releases["table"].guarantee | {"epsilon": "1/9"})
    with pytest.raises(HedgerowError, match="fails its own check"):
        record_of(broken)
