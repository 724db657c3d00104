"""How the file of a budget ledger is opened, and what is refused."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hedgerow.errors import BudgetError, UsageError
from hedgerow.ledger import file as book_file
from hedgerow.ledger.file import check_text, is_at
from hedgerow.ledger.ledger import BudgetLedger
from hedgerow.privacy.budget import Budget


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


def test_an_entry_is_at_its_own_place_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = BudgetLedger(tmp_path / "b.ledger")
    book.open("clinic", epsilon=1)
    booking = book.book("clinic", Budget.of("0.5"), method="m", unit="row")
    here = tmp_path / "m"
    assert not is_at(book.accounts()[0].entries[0], here)
    booking.mark_published(here)
    (entry,) = book.accounts()[0].entries
    assert is_at(entry, here)
    for other in ("a", "z", "m/m", "."):
        assert not is_at(entry, tmp_path / other)
    monkeypatch.chdir(tmp_path)
    assert is_at(entry, "m")
    (tmp_path / "link").symlink_to(here)
    assert is_at(entry, tmp_path / "link")


def test_a_release_is_found_behind_entries_that_have_none(tmp_path: Path) -> None:
    book = BudgetLedger(tmp_path / "b.ledger")
    book.open("clinic", epsilon=1)
    book.reserve("clinic", Budget.of("0.1"), method="m", unit="row").withdraw()
    place = tmp_path / "release"
    place.mkdir()
    (place / "manifest.json").write_text("{}", encoding="utf-8")
    words = {"method": "m", "unit": "row", "place": place}
    assert book.add("clinic", Budget.of("0.2"), **words).number == 2  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="as release 2"):
        book.add("clinic", Budget.of("0.2"), **words)  # type: ignore[arg-type]


def test_an_unknown_data_set_is_told_up_to_ten_that_there_are(tmp_path: Path) -> None:
    book = BudgetLedger(tmp_path / "b.ledger")
    names = [f"{letter * 3}" for letter in "abcdefghijk"]
    for name in reversed(names):
        book.open(name, epsilon=1)
    with pytest.raises(BudgetError) as refused:
        book.check("0123456789", Budget.of("0.5"), method="m", unit="row")
    told = str(refused.value) + str(refused.value.hint)
    assert [name for name in names if name in told] == names[:10]


def test_a_text_of_a_thousand_letters_is_the_longest() -> None:
    assert check_text("reason", "x" * 1000) == "x" * 1000
    with pytest.raises(UsageError):
        check_text("reason", "x" * 1001)


@pytest.mark.parametrize("writes", [True, False])
def test_who_writes_locks_the_file_before_anything_is_read(tmp_path: Path, writes: bool) -> None:
    """Or two runs could both see the same rest, and one of them would fail only when it writes."""
    book = BudgetLedger(tmp_path / "b.ledger")
    book.open("clinic", epsilon=1)
    with (
        book_file.transaction(book.path, writes=writes),
        closing(sqlite3.connect(book.path, timeout=0, isolation_level=None)) as other,
    ):
        try:
            other.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            locked = True
        else:
            locked = False
            other.execute("ROLLBACK")
    assert locked == writes


def test_an_old_entry_without_a_hash_is_that_of_what_lies_at_its_place(tmp_path: Path) -> None:
    """And of copies of it, wherever they lie; not of any other release."""
    book = BudgetLedger(tmp_path / "b.ledger")
    book.open("clinic", epsilon=1)
    booking = book.book("clinic", Budget.of("0.5"), method="m", unit="row")
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "manifest.json").write_text("{}", encoding="utf-8")
    booking.mark_published(tmp_path / "m")
    (account,) = book.accounts()
    old = replace(account, entries=tuple(replace(one, digest=None) for one in account.entries))
    own = book_file.digest_of(tmp_path / "m")
    assert old.find(tmp_path / "copy", own) == old.entries[0]
    for other in ("0" * 64, "f" * 64, None):
        assert old.find(tmp_path / "copy", other) is None
