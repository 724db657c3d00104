from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hedgerow.errors import UsageError
from hedgerow.evaluation.compare import Line, compare_opened
from hedgerow.evaluation.scorecard import method_of_release
from hedgerow.present.against import _SOURCES, comparison
from hedgerow.present.render import page
from hedgerow.release import Release

GOLDEN = Path(__file__).parents[2] / "golden"
FOLDERS = sorted(path.name for path in GOLDEN.iterdir() if path.is_dir() and path.name[0] != "_")


@pytest.mark.parametrize("name", FOLDERS)
def test_a_method_is_read_back_from_its_release(name: str) -> None:
    release = Release.load(GOLDEN / name)
    method = method_of_release(release)
    assert method.name == release.method
    told, given = method.settings(), release.settings
    for key in told.keys() & given.keys() - {"side", "weight_columns", "schedule"}:
        assert told[key] == given[key] or list(told[key]) == given[key], key


def test_best_values_are_marked() -> None:
    line = Line(words="x", source="raw", values=(2.0, None, 1.0, 1.0), shown=("",) * 4)
    assert line.best == ()
    assert replace(line, better="less").best == (2, 3)
    assert replace(line, better="more").best == (0,)
    assert replace(line, values=(1.0, 1.0, None, None), better="more").best == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    "pair",
    [("diffmulti-tuned-1", "diffgen-tuned-1"), ("diffpart-tuned-3", "diffpart-paper-1")],
)
def test_simulated_rows_need_no_data(pair: tuple[str, str]) -> None:
    both = [Release.load(GOLDEN / name) for name in pair]
    found = compare_opened(pair, both, simulated=True, runs=1)
    assert {line.source for line in found.lines} == {"release", "simulated"}
    assert all(len(line.shown) == 2 for line in found.lines)
    assert found.private == all(release.guarantee["private"] for release in both)


def test_a_page_escapes_names() -> None:
    both = [Release.load(GOLDEN / "diffgen-tuned-1")] * 2
    text = page(comparison(compare_opened(["<b>one</b>", "two"], both)))
    assert "<b>one" not in text and "&lt;b&gt;one" in text
    assert "http" not in text.replace("http-equiv", "")


def test_a_page_explains_marks_only_where_there_are_some() -> None:
    release = Release.load(GOLDEN / "diffgen-tuned-1")
    alike = compare_opened(["one", "two"], [release] * 2)
    assert "Best: among" not in page(comparison(alike))
    lines = (*alike.lines, Line(words="x", source="raw", values=(1.0, 2.0), shown=("1", "2"),
             better="less"))  # fmt: skip
    text = page(comparison(replace(alike, lines=lines)))
    assert "Best: among" in text and "1 (best)" in text
    assert '(<span class="keep">--simulate</span>)' in text
    for heading, _ in _SOURCES.values():  # the caption says something else
        assert text.count(heading) <= 1


def test_one_release_is_not_compared() -> None:
    with pytest.raises(UsageError, match="nothing to compare"):
        compare_opened(["a"], [Release.load(GOLDEN / "diffgen-tuned-1")])
