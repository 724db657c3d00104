"""Data is found where it was said to be, and only if it is the expected one."""

from __future__ import annotations

import pytest

from hedgerow.errors import DataError
from hedgerow.experiments import data


def test_a_folder_that_was_named_must_exist(tmp_path, monkeypatch):
    assert data.find_folder(tmp_path) == tmp_path
    with pytest.raises(DataError, match="no folder"):
        data.find_folder(tmp_path / "absent")
    monkeypatch.setenv("HEDGEROW_DATA", str(tmp_path))
    assert data.find_folder() == tmp_path
    monkeypatch.delenv("HEDGEROW_DATA")
    assert data.find_folder() is None


def test_what_is_missing_is_told_with_the_way_out(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "packaged", lambda *_: None)
    with pytest.raises(DataError, match="HEDGEROW_DATA"):
        data.adult(tmp_path)
    with pytest.raises(DataError, match="msnbc990928"):
        data.msnbc(tmp_path)


def test_a_changed_file_is_refused(tmp_path):
    for name, read in (("adult.csv.gz", data.adult), ("msnbc.dat.gz", data.msnbc)):
        (tmp_path / name).write_bytes(b"something else")
        with pytest.raises(DataError, match="not the expected file"):
            read(tmp_path)


def test_the_schema_of_adult():
    schema = data.adult_schema()
    assert len(schema.attributes) == 14
    assert schema.target is not None and schema.target.name == "salary"
