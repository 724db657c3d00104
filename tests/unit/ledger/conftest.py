"""Tests of the budget ledger: whatever only looks at its file cannot write to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hedgerow.ledger import file as book_file


@pytest.fixture(autouse=True)
def guarded_books(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever does not say that it writes to a budget ledger cannot, in all tests of this folder.

    A change that was begun as a mere look would wait for no other run.
    """
    honest = book_file.transaction

    @contextmanager
    def guarded(path: Path, *, writes: bool, keep: bool = True) -> Iterator[Any]:
        with honest(path, writes=writes, keep=keep) as file:
            if not writes:
                file.execute("PRAGMA query_only = ON")
            yield file

    monkeypatch.setattr(book_file, "transaction", guarded)
