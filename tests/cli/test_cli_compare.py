from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Hedge = Callable[..., Any]


@pytest.fixture(autouse=True)
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models are tried elsewhere, and take long."""
    monkeypatch.setattr("hedgerow.evaluation.scorecard._MODELS", ())


def test_releases_alone(hedge: Hedge, published: Path, regions: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    done = hedge("compare", published, regions, "--out", out)
    assert done.exit_code == 0, done.stderr
    assert "epsilon" in done.stdout and "NOT PRIVATE" not in done.stdout + done.stderr
    assert "NOT PRIVATE" not in out.read_text(encoding="utf-8")
    assert hedge("compare", published, regions, "--out", out).exit_code == 6


def test_simulated(hedge: Hedge, published: Path, regions: Path) -> None:
    done = hedge("compare", published, regions, "--simulate", "--json")
    facts = json.loads(done.stdout)
    assert facts["private"] is True and facts["names"] == ["published", "regions"]
    assert any(line["source"] == "simulated" for line in facts["lines"])


def test_raw_data_comes_with_a_warning(
    hedge: Hedge, survey: Path, published: Path, regions: Path, tmp_path: Path
) -> None:
    out = tmp_path / "page.html"
    raw = survey / "people.csv"
    done = hedge("compare", published, regions, "--raw", raw, "--out", out)
    assert done.exit_code == 0, done.stderr
    assert "outside the guarantee" in done.stderr and "NOT PRIVATE" in done.stdout
    text = out.read_text(encoding="utf-8")
    assert "<title>NOT PRIVATE." in text and "outside the guarantee" in text
    assert 'content="noindex"' in text


@pytest.mark.parametrize(
    "more, words",
    [
        ([], "nothing to compare"),
        (["other", "--delimiter", ";"], "raw data"),
        (["other", "--out", "page.pdf"], "not a page"),
    ],
)
def test_mistakes(hedge: Hedge, published: Path, more: list[str], words: str) -> None:
    done = hedge("compare", published, *more)
    assert done.exit_code == 2 and words in done.stderr


def test_a_table_and_transactions_have_nothing_in_common(hedge: Hedge) -> None:
    golden = Path(__file__).parents[1] / "golden"
    done = hedge("compare", golden / "diffmulti-tuned-1", golden / "diffpart-tuned-3")
    assert done.exit_code == 2 and "have no numbers in common" in done.stderr
