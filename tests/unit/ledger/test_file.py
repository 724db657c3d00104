"""How the file of a budget ledger is opened."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hedgerow.ledger import file as book_file
from hedgerow.ledger.ledger import BudgetLedger


def test_the_file_is_named_by_an_address_whatever_sqlite_takes_names_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address says that nothing is to be made; some builds of SQLite take none unasked."""
    book = BudgetLedger(tmp_path / "b.ledger")
    book.open("clinic", epsilon=1)
    asked: list[Any] = []
    honest = sqlite3.connect

    def connect(name: str, **words: Any) -> sqlite3.Connection:
        asked.append((name, words["uri"]))
        return honest(name, **words)

    monkeypatch.setattr(sqlite3, "connect", connect)
    book.accounts()
    assert asked
    for name, address in asked:
        assert name.startswith("file:///") and name.endswith("?mode=rw") and address


def test_only_a_book_of_the_first_version_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "other"
    for version in (0, 2):
        with closing(sqlite3.connect(path, isolation_level=None)) as file:
            file.execute(f"PRAGMA user_version = {version}")
            book_file._upgrade(path, file)
            assert file.execute("PRAGMA user_version").fetchone() == (version,)
