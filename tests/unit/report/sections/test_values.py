from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hedgerow.measured import TreePartition
from hedgerow.release import Release, TableRelease
from hedgerow.report.page import page
from hedgerow.report.sections.tree import tree_picture
from hedgerow.report.sections.values import values
from hedgerow.report.tables import REMARKS


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
    page = str(values(undivided, None))
    assert "Not measured: the release says nothing about age." in page
    assert "<svg" not in page and "<table" not in page
    assert "<svg" in str(values(release, None))


def test_what_is_hardly_known_is_drawn_pale(releases: dict[str, Path]) -> None:
    release = Release.load(releases["unclassed"]).expect(TableRelease)
    (spread,) = release.histograms()
    page = str(values(release, None))
    hardly = sum(remark in ("mostly noise", "assumed even") for remark in spread.remarks)
    assert page.count('class="told pale"') == hardly
    assert page.count('class="told"') == len(spread.remarks) - hardly
    assert ("hollow: released, but mostly noise or assumed even" in page) == (hardly > 0)
    assert all(f">{remark}<" in page for remark in spread.remarks)


def test_a_page_has_one_total(releases: dict[str, Path]) -> None:
    for name in releases:
        release = Release.load(releases[name])
        if isinstance(release, TableRelease) and isinstance(release.partition, TreePartition):
            drawn = str(tree_picture(release, release.partition))
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
