from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hedgerow import sample
from hedgerow.data import read
from hedgerow.errors import UsageError


def test_the_same_seed_gives_the_same_people() -> None:
    assert sample.people(50, seed=2).equals(sample.people(50, seed=2))
    assert not sample.people(50, seed=2).equals(sample.people(50, seed=3))


@pytest.mark.parametrize("rows", [0, 1, 3000])
def test_people_follow_the_schema(rows: int) -> None:
    read(sample.people(rows), sample.schema())


def test_the_schema_has_no_warnings_and_a_class() -> None:
    schema = sample.schema()
    assert schema.warnings == () and schema.classes == ("no", "yes") and not schema.is_draft


def test_the_class_depends_on_the_attributes() -> None:
    people = sample.people(4000).to_pylist()

    def share(often: bool) -> float:
        group = [p["readmitted"] == "yes" for p in people if (p["visits"] >= 2) == often]
        return sum(group) / len(group)

    assert share(True) > share(False) + 0.3


def test_files_are_written_and_read_back(tmp_path: Path) -> None:
    from hedgerow.schema import Schema

    sample.write(tmp_path / "new" / "folder", rows=20)
    schema = Schema.load(tmp_path / "new" / "folder" / "schema.yaml")
    assert schema == sample.schema()
    read(tmp_path / "new" / "folder" / "people.csv", schema)


def test_files_that_are_there_are_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "people.csv"
    mine.write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="there already"):
        sample.write(tmp_path, rows=1)
    assert mine.read_text(encoding="utf-8") == "mine"
    assert list(tmp_path.iterdir()) == [mine]
    sample.write(tmp_path, rows=1, overwrite=True)
    assert mine.read_text(encoding="utf-8") != "mine"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code"),
    [(["there"], 2), (["there", "--overwrite"], 0), (["file/x"], 1), (["n", "--rows", "-1"], 2)],
)
def test_the_command_has_no_traceback(tmp_path: Path, words: list[str], code: int) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "schema.yaml").touch()
    (tmp_path / "file").touch()
    command = [sys.executable, "-m", "hedgerow.sample", "--rows", "3", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert bool(done.stderr) == bool(code)
