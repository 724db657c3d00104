"""Findings: what stands out of the noise, in the schema's order and words."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow import sample
from hedgerow.release import Release
from hedgerow.report.charts import labels_of
from hedgerow.report.page import page
from hedgerow.report.sections.associations import Association
from hedgerow.report.sections.findings import _card, _related, findings, median, notable
from hedgerow.verification import verify

GOLDEN = Path(__file__).parents[3] / "golden"
FOLDERS = sorted(path.name for path in GOLDEN.iterdir() if path.is_dir() and path.name[0] != "_")


@pytest.fixture(scope="module")
def release() -> Release:
    people, schema = sample.people(3000, seed=3), sample.schema()
    return hr.publish(people, schema, hr.DiffGen(), epsilon=9, seed=7)


def test_the_class_comes_first_and_noise_never(release: Release) -> None:
    found = notable(release)
    assert found[0].name == "readmitted" and 2 <= len(found) <= 4
    nothing = hr.publish(sample.people(40, seed=3), sample.schema(), epsilon="0.01", seed=7)
    assert notable(nothing) == [] and findings(nothing) is None
    assert "Findings" not in page(nothing)


def test_findings_come_before_the_promise_and_have_intervals(release: Release) -> None:
    text = page(release)
    assert text.index('id="findings"') < text.index('id="promise"')
    assert 'class="ends"' in text and "95% interval" in text


def test_a_claim_is_made_only_where_intervals_allow_it(release: Release) -> None:
    spread = notable(release)[0]
    ends = {"low": np.array([80.0, 10.0]), "high": np.array([120.0, 30.0])}
    clear: Any = replace(spread, counts=np.array([100.0, 20.0]), **ends)
    assert "The most frequent is no: about 100 people" in _card(release, clear)
    ends["high"] = np.array([120.0, 90.0])
    assert "the intervals do not tell" in _card(release, replace(clear, **ends))


def test_values_keep_the_order_of_the_schema(release: Release) -> None:
    for spread in notable(release):
        text = _card(release, spread)
        places = [text.find(f'scope="row">{label}<') for label in labels_of(spread)]
        shown = [place for place in places if place >= 0]
        assert shown == sorted(shown)


@pytest.mark.parametrize("name", FOLDERS)
def test_the_commands_of_a_page_work_on_this_release(name: str) -> None:
    release = Release.load(GOLDEN / name)
    (asked,) = shlex.split(release.example)
    items = release.schema.kind == "transactions"
    assert len(release.count([asked.split(", ")] if items else asked)) == 1
    text = page(GOLDEN / name)
    assert f"hedgerow query release/ {release.example}" in text.replace("&#x27;", "'")
    for spread in notable(release)[:1]:
        if spread.attribute is not None:
            assert "hedgerow table release/" in text and len(release.table(spread.name))


def test_attributes_that_it_says_nothing_about_are_named() -> None:
    method = hr.DiffGen(specialisations=2)
    release = hr.publish(sample.people(800, seed=3), sample.schema(), method, epsilon=1, seed=7)
    assert release.unmeasured
    text = page(release)
    assert f"It says nothing about {', '.join(release.unmeasured)}." in text


def test_a_release_that_cannot_be_relied_on_has_no_findings(release: Release) -> None:
    broken = replace(release, guarantee=release.guarantee | {"epsilon": "1/9"})
    assert 'id="findings"' not in page(broken, verdict=verify(broken))


def test_widths_of_bands_make_no_finding(release: Release) -> None:
    """Even numbers in bands of all widths are even, and the median lies where it lies."""
    (stay,) = [one for one in release.histograms() if one.name == "stay"]
    assert len({*np.diff(stay.edges).tolist()}) > 1
    text = _card(release, stay)
    assert "most frequent" not in text and "largest" not in text and "per unit" in text
    assert median(release, stay).startswith("The median lies between ")
    widths = np.diff(stay.edges).astype(float)
    even = replace(stay, counts=widths * 10, low=widths * 9, high=widths * 11)
    tops = {part.split('"')[0] for part in _card(release, even).split(' y="')[2:]}
    assert len(tops) <= 3, tops  # all bars are equally tall; the others are words


@pytest.mark.parametrize(("groups", "told"), [(3, "1 more group."), (4, "2 more groups.")])
def test_groups_that_are_hardly_known_are_counted(groups: int, told: str) -> None:
    (attribute,) = [one for one in sample.schema().attributes if one.name == "home"]
    wide = [1.0] * (groups - 2)
    found = Association(
        attribute=attribute, value="yes", parts=tuple((p, p + 1) for p in range(groups)),
        shares=np.array([0.1, 0.5, *wide]), low=np.array([0.05, 0.4, *(0.0 for _ in wide)]),
        high=np.array([0.2, 0.6, *wide]),
    )  # fmt: skip
    assert f"Too little is known about {told}" in _related(found, "ill", "people")


def test_pages_say_what_picking_the_largest_does_to_intervals(release: Release) -> None:
    """Of many values, regions or itemsets the largest are shown: their level is no longer 95%."""
    words = "were picked by their estimates"
    many = {"type": "categorical", "values": [f"v{n}" for n in range(20)]}
    schema = hr.Schema.from_dict({"name": "s", "unit": "row", "attributes": {"place": many}})
    rows = [{"place": f"v{n % 20}"} for n in range(2000)]
    told = page(hr.publish(pa.Table.from_pylist(rows), schema, epsilon=9, seed=1))
    assert f"Of many values, those that are listed {words}" in told and f"Those {words}" in told
    few = {"place": many | {"values": ["v0", "v1"]}}
    schema = hr.Schema.from_dict({"name": "s", "unit": "row", "attributes": few})
    rows = [{"place": f"v{n % 2}"} for n in range(2000)]
    assert words not in page(hr.publish(pa.Table.from_pylist(rows), schema, epsilon=9, seed=1))
    assert f"These regions {words}" not in page(GOLDEN / "diffmulti-tuned-1")  # all are shown
    method = hr.DiffMulti(specialisations=20)
    fine = hr.publish(sample.people(3000, seed=3), sample.schema(), method, epsilon=9, seed=7)
    assert f"These regions {words}" in page(fine)
    shop = Release.load(next(GOLDEN.glob("diffpart*")))
    assert f"These itemsets {words}" in page(shop)
