"""The file of an budget ledger: SQLite, opened with care, never half-written, never guessed at.

Every change is one transaction that takes the lock before it reads (BEGIN IMMEDIATE), so that what
was read is still true when it is written. A file that is not exactly what this module makes is
refused: a ledger that may lack entries would allow spending again what was spent already.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

from hedgerow.errors import ReleaseError
from hedgerow.privacy.budget_ledger.layout import LAYOUT, LAYOUT_1, VERSION

__all__ = ["create", "damaged", "in_the_way", "transaction"]

PATIENCE = 30  # seconds to wait for another run that is booking

_MARK = 0x68656467  # "hedg", where SQLite keeps the name of a file's owner


def create(path: Path) -> None:
    """Begins an empty ledger, readable by its owner alone, where there is no file yet.

    Raises:
        ReleaseError: If it cannot be written.
        FileExistsError: If something is there already, perhaps since a moment ago.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        raise
    except OSError as error:
        raise ReleaseError(
            f"the ledger {path} cannot be begun: {error.strerror or 'the system refused'}",
            hint="Name a file in a folder that is there and that you may write to.",
        ) from None
    with _connected(path) as file:
        file.execute("BEGIN IMMEDIATE")
        _build(file)
        file.execute(f"PRAGMA application_id = {_MARK}")
        file.execute("COMMIT")


@contextmanager
def transaction(path: Path, *, writes: bool, keep: bool = True) -> Iterator[sqlite3.Connection]:
    """One look at a ledger, or one change of it, whole or not at all.

    Args:
        path: The file.
        writes: Whether to lock the file first, against all who write.
        keep: Whether changes are kept when the block ends well; without it they are tried only.

    Raises:
        ReleaseError: If the file is missing, locked, damaged, no ledger, or cannot be written.
    """
    _refuse_strange(path)
    with _connected(path) as file:
        file.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
        if file.execute("PRAGMA user_version").fetchone() == (1,):
            file.execute("ROLLBACK")
            _upgrade(path, file)
            file.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
        _check(path, file, VERSION, LAYOUT)
        yield file
        file.execute("COMMIT" if keep else "ROLLBACK")


def damaged(path: Path, what: str) -> ReleaseError:
    """The error for a ledger that must not be relied on."""
    return ReleaseError(
        f"{path} cannot be relied on as a ledger: {what}",
        hint="Restore the latest copy and add what was published since, with `hedgerow ledger FILE "
        "--add RELEASE`; until then, count everything as spent.",
    )


def in_the_way(path: Path, error: OSError) -> ReleaseError:
    """The error for a ledger beside which nothing can be written."""
    return ReleaseError(
        f"no lock can be made beside the ledger {path}: {error.strerror or 'the system refused'}",
        hint="Ask for the right to write to its folder. Nothing was drawn.",
    )


def _refuse_strange(path: Path) -> None:
    """Refuses what SQLite would open but should not."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise ReleaseError(
            f"there is no ledger {path}",
            hint="Check the name and the folder: people stay in the ledger that has their total. "
            "Only for people who have none yet: hedgerow ledger FILE --open NAME --epsilon TOTAL.",
        ) from None
    except OSError as error:
        raise ReleaseError(
            f"the ledger {path} cannot be read: {error.strerror or 'the system refused'}",
            hint="Check the name, and whether you may read it.",
        ) from None
    if not stat.S_ISREG(status.st_mode):
        raise ReleaseError(f"{path} is not a file, so it is not a ledger", hint="Name a file.")
    if status.st_nlink > 1:
        # a change that was interrupted is finished from a journal that lies beside one name only
        raise ReleaseError(
            f"{path} is one of several names (hard links) of the same file",
            hint="Keep one name and remove the others; a symbolic link is fine.",
        )


@contextmanager
def _connected(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        # mode=rw never makes a file: a wrong name must not begin a new ledger
        with closing(
            sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=rw",
                uri=True,
                timeout=PATIENCE,
                isolation_level=None,
            )
        ) as file:
            file.execute("PRAGMA synchronous = EXTRA")  # what was booked lasts through a power cut
            yield file
    except sqlite3.Error as error:
        raise _in_words(path, error) from None


def _build(file: sqlite3.Connection) -> None:
    for statement in _statements():
        file.execute(statement)
    file.execute(f"PRAGMA user_version = {VERSION}")


def _upgrade(path: Path, file: sqlite3.Connection) -> None:
    """Makes version 2 of a sound ledger of version 1, whole or not at all.

    What was `booked` there may have been seen by somebody, so it becomes `drawn`, which is never
    given back.
    """
    file.execute("BEGIN IMMEDIATE")
    if file.execute("PRAGMA user_version").fetchone() == (1,):  # else another run just did it
        _check(path, file, 1, LAYOUT_1)
        accounts = file.execute("SELECT * FROM accounts").fetchall()
        entries = file.execute("SELECT * FROM entries ORDER BY number").fetchall()
        for table in ("entries", "accounts"):
            file.execute(f"DROP TABLE {table}")
        _build(file)
        file.executemany("INSERT INTO accounts VALUES (?, ?, ?, ?, ?)", accounts)
        file.executemany(
            "INSERT INTO entries (number, key, unit, method, epsilon, delta, booked, state, place) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, CASE ? WHEN 'booked' THEN 'drawn' ELSE ? END, ?)",
            [(*entry[:8], *entry[7:]) for entry in entries],
        )
    file.execute("COMMIT")


def _check(path: Path, file: sqlite3.Connection, expected: int, layout: str) -> None:
    """Checks that this is one of our ledgers, complete and with an unchanged layout."""
    (mark,) = file.execute("PRAGMA application_id").fetchone()
    (version,) = file.execute("PRAGMA user_version").fetchone()
    if mark != _MARK:
        raise ReleaseError(
            f"{path} is not a ledger of hedgerow, or was emptied",
            hint="Check the name. Delete the file only if you know that nothing was ever published "
            "with it.",
        )
    if version != expected:
        raise ReleaseError(
            f"{path} was made by a later hedgerow", hint="Install a newer hedgerow to use it."
        )
    if file.execute("PRAGMA integrity_check").fetchone() != ("ok",):
        raise damaged(path, "the file is damaged")
    if _layout(file) != _layout_of(layout):
        raise damaged(path, "its tables are not those that hedgerow makes")
    # Numbers follow each other and are never given twice, so a gap is an entry that was lost.
    for table in ("entries", "history") if expected > 1 else ("entries",):
        number, last, given = file.execute(
            "SELECT count(*), coalesce(max(number), 0), coalesce((SELECT max(seq) FROM "
            f"sqlite_sequence WHERE name = '{table}'), 0) FROM {table}"
        ).fetchone()
        if not number == last == given:
            raise damaged(path, f"{table} are missing" if table == "entries" else "history is cut")


def _statements() -> list[str]:
    """The statements of the layout, which end where SQLite says that they are complete."""
    found, statement = [], ""
    for line in LAYOUT.strip().splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            found.append(statement)
            statement = ""
    return found


def _layout(file: sqlite3.Connection) -> list[tuple[object, ...]]:
    return file.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name").fetchall()


@cache
def _layout_of(statements: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(":memory:")) as file:
        file.executescript(statements)
        return _layout(file)


_CHECK_DISK = "Nothing was drawn. Check the disk; keep ledgers on a disk of this machine."
_HINTS = {
    sqlite3.SQLITE_BUSY: (
        "another run is using it",
        "Wait until that run has booked, and try again. If there is none, the disk may not "
        "support locks (some network disks do not): keep ledgers on a disk of this machine.",
    ),
    sqlite3.SQLITE_READONLY: (
        "it cannot be written to",
        "Ask for the right to write to the file and its folder, or move both to another disk.",
    ),
    sqlite3.SQLITE_FULL: ("the disk is full", "Make room and try again."),
    sqlite3.SQLITE_CANTOPEN: (
        "it cannot be opened, or its folder cannot be written to",
        "Ask for the right to write to the file and its folder.",
    ),
    sqlite3.SQLITE_PROTOCOL: ("it cannot be locked", _CHECK_DISK),
    sqlite3.SQLITE_NOLFS: ("it is too large for this disk", _CHECK_DISK),
    sqlite3.SQLITE_IOERR: ("the disk failed, or cannot lock files", _CHECK_DISK),
}
_HINTS[sqlite3.SQLITE_LOCKED] = _HINTS[sqlite3.SQLITE_BUSY]
_HINTS[sqlite3.SQLITE_PERM] = _HINTS[sqlite3.SQLITE_CANTOPEN]


def _in_words(path: Path, error: sqlite3.Error) -> ReleaseError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest says more than anybody needs
    if code == sqlite3.SQLITE_NOTADB:
        return ReleaseError(f"{path} is not a ledger of hedgerow", hint="Check the name.")
    if code in _HINTS:
        what, hint = _HINTS[code]
        return ReleaseError(f"the ledger {path} cannot be used: {what}", hint=hint)
    return damaged(path, "it cannot be read or written as one")
