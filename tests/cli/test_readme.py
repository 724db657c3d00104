"""The README's examples run, in order, in a folder with the embedded sample."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hedgerow import sample

README = Path(__file__).parents[2] / "README.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.M | re.S)


def test_examples_run(
    hedge: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    sample.write(tmp_path, rows=1500)
    monkeypatch.chdir(tmp_path)
    ran = 0
    for language, text in BLOCK.findall(README.read_text(encoding="utf-8")):
        if language == "python":
            exec(text, {"__name__": "__main__"})
            ran += 1
        for line in text.splitlines() if language == "sh" else ():
            program, *words = shlex.split(line, comments=True) or [""]
            if program != "hedgerow":
                continue  # make is what runs this test
            if words[0] in ("publish", "report"):  # an earlier example wrote there
                words.append("--overwrite")
            if words[0] == "sign":  # nobody is here who could look and type yes
                words.append("--yes")
            done = hedge(*words)
            assert done.exit_code == 0, f"{line}\n{done.stdout}\n{done.stderr}"
            ran += 1
    assert ran >= 10
    assert (tmp_path / "release" / "measurements.parquet").exists()
    assert (tmp_path / "release.png").read_bytes().startswith(b"\x89PNG")


def test_the_first_screen_has_what_a_newcomer_needs() -> None:
    first = os.linesep.join(README.read_text(encoding="utf-8").splitlines()[:26])
    for words in ("make demo", "make test", "hr.publish(", "hedgerow publish "):
        assert words in first
    example = next(
        text for kind, text in BLOCK.findall(README.read_text("utf-8")) if kind == "python"
    )
    assert len([line for line in example.splitlines() if line]) == 5


def test_no_data_of_the_readme_can_be_committed() -> None:
    """Somebody may follow it in a copy of the source."""
    root = README.parent
    if shutil.which("git") is None or not (root / ".git").exists():
        pytest.skip("this is no copy of the repository")
    files = ["people.csv", "people.parquet", "baskets.dat", "clinic.ledger", "not-private.html",
             "schema.yaml.answers.json", "mydata/people.csv", "demo/people.csv", "release/x",
             "people.xlsx"]  # fmt: skip
    asked = ["git", "-C", root, "check-ignore", "--no-index", *files]
    done = subprocess.run(asked, capture_output=True, text=True)
    assert done.stdout.split() == files
    kept = subprocess.run(["git", "-C", root, "ls-files", "-ci", "--exclude-standard"],
                          capture_output=True, text=True)  # fmt: skip
    assert kept.stdout == ""


def test_the_schema_in_the_readme_loads(tmp_path: Path) -> None:
    import yaml

    from hedgerow.schema import Schema

    sample.write(tmp_path, rows=1)
    text = next(text for kind, text in BLOCK.findall(README.read_text("utf-8")) if kind == "yaml")
    assert yaml.safe_load(text)
    (tmp_path / "readme.yaml").write_text(text, encoding="utf-8")
    assert Schema.load(tmp_path / "readme.yaml").classes == ("no", "yes")
