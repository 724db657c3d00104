"""The tutorials run, show something, and say nothing of the machine they were run on."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BOOKS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))
spec = importlib.util.spec_from_file_location("notebooks", ROOT / "scripts" / "notebooks.py")
assert spec is not None and spec.loader is not None
notebooks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(notebooks)


def kinds(book: dict[str, Any]) -> list[list[str]]:
    """What each code cell shows: text, a table, a picture."""
    return [
        [kind for one in cell["outputs"] for kind in one.get("data", {"stream": 0})]
        for cell in book["cells"]
        if cell["cell_type"] == "code"
    ]


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_tutorial_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it shows now is of the kind that it keeps: `python scripts/notebooks.py` renews it."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    kept = json.loads(path.read_text(encoding="utf-8"))
    assert kinds(notebooks.run(kept, path.stem)) == kinds(kept)
    assert any("image/png" in found for found in kinds(kept))


def test_there_is_one_for_each_reader() -> None:
    assert [path.stem for path in BOOKS] == ["recipient", "researcher", "steward"]
    for path in BOOKS:
        text = path.read_text(encoding="utf-8")
        here = str(Path(__file__).parents[2])
        assert not any(word in text for word in (here, "/tmp/", "/home/", "/root/"))
        page = notebooks.as_markdown(json.loads(text))
        assert page.startswith("# ") and "<img" in page
