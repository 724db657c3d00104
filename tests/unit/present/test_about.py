"""Metadata of the schema on pages, and the unit's own name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import hedgerow as hr
from hedgerow import sample
from hedgerow.present.report import page
from hedgerow.present.words import guarantee
from hedgerow.release import Release
from hedgerow.schema import Metadata, Schema

ABOUT = Metadata(
    institution="<b>St Anne</b>",
    unit_name=("encounter", "encounters"),
    reviewer="Ada Brown",
    reviewed="2026-01-31",
)


@pytest.fixture(scope="module")
def schema() -> Schema:
    return replace(sample.schema(), metadata=ABOUT, began_as_draft=True)


@pytest.fixture(scope="module")
def release(schema: Schema) -> Release:
    return hr.publish(sample.people(500, seed=3), schema, epsilon=1, seed=7)


def test_a_page_tells_metadata_and_escapes_it(release: Release) -> None:
    text = page(release)
    assert "&lt;b&gt;St Anne&lt;/b&gt;" in text and "<b>St Anne" not in text
    assert "encounters counted, about" in text and "How many encounters are there?" in text
    assert "an encounter" in text
    assert "How many people" not in text and "people counted" not in text


def test_a_reviewer_takes_the_place_of_the_draft_warning(release: Release, schema: Schema) -> None:
    assert "began as a draft" not in page(release)
    assert "Ada Brown, 2026-01-31" in page(release)
    open_promise = replace(release, guarantee=release.guarantee | {"private": True})
    assert "Ada Brown signed the schema off as public on 2026-01-31." in guarantee(open_promise)
    bare = replace(open_promise, schema=replace(schema, metadata=Metadata()))
    assert "began as a draft" in page(bare) and "draft" in " ".join(guarantee(bare))


def test_a_manifest_keeps_metadata(release: Release, tmp_path: Path) -> None:
    release.save(tmp_path / "release")
    assert Release.load(tmp_path / "release").schema.metadata == ABOUT
