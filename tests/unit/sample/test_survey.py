from __future__ import annotations

from pathlib import Path

import pytest

from hedgerow import sample
from hedgerow.table import read


def test_the_same_seed_gives_the_same_people() -> None:
    assert sample.people(50, seed=2).equals(sample.people(50, seed=2))
    assert not sample.people(50, seed=2).equals(sample.people(50, seed=3))


@pytest.mark.parametrize("rows", [0, 1, 3000])
def test_people_follow_the_schema(rows: int) -> None:
    read(sample.people(rows), sample.schema())


def test_the_schema_has_no_warnings_and_a_class() -> None:
    schema = sample.schema()
    assert schema.warnings == () and schema.classes == ("no", "yes") and not schema.draft


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
