"""What became of rows, in words."""

from __future__ import annotations

import pytest

from hedgerow.cli.display.terminal import tell_preparation
from hedgerow.data.preparation import Fate, Preparation
from hedgerow.present.against import about_tables


def test_columns_without_a_number_are_left_out_and_the_table_fits(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    fates = Fate(name="admission_type", missing=2025, other=2025), Fate(name="charges", clipped=12)
    found = Preparation(
        rows=20_000, dropped=0, unidentified=0, capped=0, people=None, people_capped=None,
        attributes=fates, classes=(), read=(), kept=(),
    )  # fmt: skip
    (table,) = about_tables(found)
    assert table.heads == ("attribute", "missing", "became other", "clipped")
    assert table.rows == [
        ("admission_type", "2,025 (10.1%)", "2,025 (10.1%)", "0"),
        ("charges", "0", "0", "12 (0.1%)"),
    ]
    tell_preparation(found)
    told = capsys.readouterr().out
    assert "attribute: charges" not in told  # as it is where a table does not fit
    assert [line.split()[0] for line in told.splitlines()[-2:]] == ["admission_type", "charges"]
