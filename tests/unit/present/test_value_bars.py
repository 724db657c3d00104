from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.estimate.partition import TreePartition
from hedgerow.present.document import Histogram
from hedgerow.present.kinds import tree_parts
from hedgerow.present.render import fragment
from hedgerow.present.report import page
from hedgerow.present.tables import REMARKS
from hedgerow.present.value_bars import alone, bands_parts, share_bars, values
from hedgerow.release import Release, TableRelease
from hedgerow.release.count_tables import Spread
from hedgerow.schema import Schema


@pytest.mark.slow
def test_no_even_spread_is_drawn_for_what_was_not_measured(releases: dict[str, Path]) -> None:
    release = Release.load(releases["unclassed"]).expect(TableRelease)
    whole = TreePartition.of([(-1, -1, [0], [120])])
    counted = [one for one in release.measurements if one.name == "leaf"]
    undivided = replace(
        release,
        partition=whole,
        measurements=tuple(
            replace(one, where=one.where[:1], values=one.values[:1], units=one.units[:1])
            for one in counted
        ),
    )
    assert undivided.unmeasured == ("age",) and release.unmeasured == ()
    page = fragment(values(undivided, None))
    assert "Not measured: the release says nothing about age." in page
    assert "<svg" not in page and "<table" not in page
    assert "<svg" in fragment(values(release, None))


def test_what_is_hardly_known_is_drawn_pale(releases: dict[str, Path]) -> None:
    release = Release.load(releases["unclassed"]).expect(TableRelease)
    (spread,) = release.histograms()
    page = fragment(values(release, None))
    hardly = sum(remark in ("mostly noise", "assumed even") for remark in spread.remarks)
    assert page.count('<rect class="bar hollow"') == hardly
    assert page.count('<rect class="bar"') == len(spread.remarks) - hardly
    (drawn,) = [one for one in bands_parts(spread) if isinstance(one, Histogram)]
    assert len(drawn.parts) == len(spread.remarks) - len(alone(spread))
    assert ("hollow: released, but mostly noise or assumed even" in page) == (hardly > 0)
    assert all(f">{remark}<" in page for remark in spread.remarks)


def test_a_page_has_one_total(releases: dict[str, Path]) -> None:
    for name in releases:
        release = Release.load(releases[name])
        if isinstance(release, TableRelease) and isinstance(release.partition, TreePartition):
            drawn = fragment(tree_parts(release, release.partition))
            total = f"{release.counts.sum():,}"
            assert "everyone" in drawn and f">{total}<" not in drawn
            assert f"everyone: {total}" not in drawn


def test_words_of_a_table_speak_of_what_is_in_it(releases: dict[str, Path]) -> None:
    text = {name: page(Release.load(releases[name])) for name in ("unclassed", "diffmulti", "core")}
    assert "noise may move shares" in text["diffmulti"]
    assert "noise may move shares" not in text["unclassed"]  # no class, so no shares
    many = "those with the 8 largest estimates are drawn"
    assert many in text["diffmulti"] and many in text["core"] and many not in text["unclassed"]
    for one in text.values():
        for remark, words in REMARKS.items():
            assert (words.partition("'")[0] in one) == (f"<td>{remark}</td>" in one)


def plain(page: str) -> str:
    """The words of a page."""
    return " ".join(re.sub("<[^>]*>", " ", page).split())


def made(column: dict[str, object], *cells: tuple[int, float, float, float, str]) -> Spread:
    """A spread with cells that begin at a code and have a count, its ends and a remark."""
    known = Schema.from_dict({"name": "made", "unit": "row", "attributes": {"a": column}})
    (attribute,) = known.attributes
    starts, *numbers, remarks = zip(*cells, strict=True)
    edges = (*starts, attribute.size)
    labels = tuple(map(str, starts))
    counts, low, high = (np.array(one, np.float64) for one in numbers)
    return Spread(
        name="a", labels=labels, edges=edges, counts=counts, low=low, high=high,
        attribute=attribute, remarks=tuple(remarks),
    )  # fmt: skip


def test_of_noise_the_interval_is_told_and_no_share() -> None:
    spread = made(
        {"type": "categorical", "values": ["x", "y", "z"]},
        (0, 90, 80, 104, "good"), (1, 10, 0, 27, "mostly noise"), (2, 0, 0, 0, "mostly noise"),
    )  # fmt: skip
    text = fragment([share_bars(spread, [0, 1, 2])]).replace("\u00a0", " ")
    assert ">90%<" in text and ">0 to 27%<" in text and ">not known<" in text
    cells = re.findall("<td class=.num.>(.*?)</td>", text)
    assert "10%" not in cells and "0%" not in cells
    assert plain(text).startswith("a: shares value 0% 50% 100% share")  # and no more
    beside = fragment([share_bars(spread, [1], np.array([0.9, 0.1, 0.0]))]).replace("\u00a0", " ")
    assert ">0 to 27% / 10%<" in beside


def test_a_single_value_among_bands_stands_below_them_to_the_same_scale() -> None:
    spread = made(
        {"type": "numeric", "low": 0, "high": 39},
        (0, 5, 0, 40, "mostly noise"), (1, 20, 15, 25, "good"), (10, 50, 45, 55, "good"),
        (20, 15, 10, 20, "good"), (30, 10, 5, 15, "good"),
    )  # fmt: skip
    assert alone(spread) == [0]
    parts = bands_parts(spread)
    drawn = fragment(parts[:1])
    assert drawn.count("<rect") == 4
    assert ">1<" in drawn and ">20<" in drawn and ">39<" in drawn  # both ends and the middle
    below = plain(fragment(parts[1:]))
    assert below == "a: shares value 0% 25% 50% share 0 0 to 40%"


def test_shares_of_items_are_of_records(releases: dict[str, Path]) -> None:
    release = Release.load(releases["core"])
    (spread,), total = release.histograms(), float(release.count_all().estimate[0])
    first = int(spread.counts.argmax())
    text = fragment(values(release, None))
    assert f">{spread.counts[first] / total:.0%}<" in text
    assert spread.counts.sum() > total and "add up to more than 100%" in text
    told = release.table("item", share=True, top=1)
    assert f"{told.answers.estimate[0]:.0%}" == f"{spread.counts[first] / total:.0%}"


def test_bands_of_heavy_tails_are_as_fine_as_was_counted() -> None:
    """Nearly everybody lies in the first of 32 cells, which was counted again in parts."""
    random = np.random.default_rng(3)
    pay = np.minimum(np.floor(random.exponential(1000, 40_000)), 99_999).astype(int)
    known = {"pay": {"type": "numeric", "low": 0, "high": 99_999},
             "ill": {"type": "boolean", "role": "class"}, "old": {"type": "boolean"}}  # fmt: skip
    schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": known})
    rows = pa.table({"pay": pay, "ill": random.random(40_000) < 0.3, "old": pay % 2 == 0})
    release = hr.publish(rows, schema, epsilon=8, seed=1).expect(hr.MarginalsRelease)
    spread = release.histograms()[0]
    assert release.tables.fine
    edges = release.measured_edges(0)
    assert {*spread.edges} <= {*edges.tolist()}
    for low, high, share in zip(spread.edges, spread.edges[1:], spread.shares, strict=False):
        assert share < 0.3 or not ((edges > low) & (edges < high)).any()
    assert len(spread.edges) > 3
