"""The file of a budget ledger: SQLite, opened with care, what it says and what it refuses."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import sqlite3
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, fields
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Literal, NoReturn

from hedgerow.errors import BudgetError, ReleaseError, UsageError
from hedgerow.privacy.budget import Budget
from hedgerow.schema import Schema

# The tables of a budget ledger, and the rules that its file keeps by itself.


VERSION = 2

# Entries and changes are added, and the state of an entry moves on; a mistake by hand is refused by
# the file itself.
_ACCOUNTS = """
CREATE TABLE accounts (
    key TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    epsilon TEXT NOT NULL,
    delta TEXT NOT NULL,
    opened TEXT NOT NULL
);
"""
_BOOKED = """
CREATE TABLE entries (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL REFERENCES accounts (key),
    unit TEXT NOT NULL,
    method TEXT NOT NULL,
    epsilon TEXT NOT NULL,
    delta TEXT NOT NULL,
    booked TEXT NOT NULL,
"""
_ENTRIES = f"""{_BOOKED}\
    state TEXT NOT NULL CHECK (state IN (
        'reserved', 'booked', 'drawn', 'published', 'withdrawn', 'returned'
    )),
    place TEXT,
    ended TEXT,
    digest TEXT,
    release_id TEXT,
    replaced INTEGER REFERENCES entries (number)
);
"""
_HISTORY = """
CREATE TABLE history (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL REFERENCES accounts (key),
    entry INTEGER REFERENCES entries (number),
    kind TEXT NOT NULL CHECK (kind IN ('total', 'same people', 'note', 'returned')),
    first TEXT,
    second TEXT,
    reason TEXT NOT NULL,
    who TEXT NOT NULL,
    moment TEXT NOT NULL
);
"""
_RULES = """
CREATE TRIGGER entries_stay BEFORE DELETE ON entries
    BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END;
CREATE TRIGGER accounts_stay BEFORE DELETE ON accounts
    BEGIN SELECT RAISE(ABORT, 'accounts are never removed'); END;
CREATE TRIGGER totals_stay BEFORE UPDATE ON accounts
    BEGIN SELECT RAISE(ABORT, 'accounts are never changed'); END;
CREATE TRIGGER amounts_stay
    BEFORE UPDATE OF number, key, unit, method, epsilon, delta, booked ON entries
    BEGIN SELECT RAISE(ABORT, 'amounts are never changed'); END;
"""
_STATES = """
CREATE TRIGGER states_move_on BEFORE UPDATE OF state ON entries
    WHEN OLD.state || ' ' || NEW.state NOT IN (
        'reserved booked', 'reserved withdrawn', 'booked drawn', 'booked withdrawn',
        'booked returned', 'drawn published'
    )
    BEGIN SELECT RAISE(ABORT, 'a state never moves back'); END;
CREATE TRIGGER places_stay BEFORE UPDATE OF place, ended, digest ON entries
    WHEN OLD.state IN ('published', 'withdrawn', 'returned')
    BEGIN SELECT RAISE(ABORT, 'an entry that was closed is never changed'); END;
CREATE TRIGGER ids_stay BEFORE UPDATE OF release_id ON entries
    BEGIN SELECT RAISE(ABORT, 'what a release is called is never changed'); END;
CREATE TRIGGER replaced_stays BEFORE UPDATE OF replaced ON entries WHEN OLD.replaced IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'what was replaced is never brought back'); END;
CREATE TRIGGER history_stays BEFORE DELETE ON history
    BEGIN SELECT RAISE(ABORT, 'history is never removed'); END;
CREATE TRIGGER history_unchanged BEFORE UPDATE ON history
    BEGIN SELECT RAISE(ABORT, 'history is never changed'); END;
"""
LAYOUT = _ACCOUNTS + _ENTRIES + _HISTORY + _RULES + _STATES

# Version 1 is read, and becomes version 2 when it is first used.
_ENTRIES_1 = f"""{_BOOKED}\
    state TEXT NOT NULL CHECK (state IN ('booked', 'published', 'withdrawn')),
    place TEXT
);
"""
_STATES_1 = """
CREATE TRIGGER states_move_on BEFORE UPDATE ON entries WHEN OLD.state <> 'booked'
    BEGIN SELECT RAISE(ABORT, 'an entry that was closed is never changed'); END;
"""
LAYOUT_1 = _ACCOUNTS + _ENTRIES_1 + _RULES + _STATES_1


# The file of a budget ledger: SQLite, opened with care, never half-written, never guessed at.
#
# Every change is one transaction that takes the lock before it reads (BEGIN IMMEDIATE), so that
# what was read is still true when it is written. A file that is not exactly what this module makes
# is refused: a ledger that may lack entries would allow spending again what was spent already.


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
    with _connect(path) as file:
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
    with _connect(path) as file:
        file.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
        if file.execute("PRAGMA user_version").fetchone() == (1,):
            file.execute("ROLLBACK")
            _upgrade(path, file)
            file.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
        _check(path, file, VERSION, LAYOUT)
        yield file
        file.execute("COMMIT" if keep else "ROLLBACK")


def damage(path: Path, what: str) -> ReleaseError:
    """The error for a ledger that must not be relied on."""
    return ReleaseError(
        f"{path} cannot be relied on as a ledger: {what}",
        hint="Restore the latest copy and add what was published since, with `hedgerow ledger FILE "
        "--add RELEASE`; until then, count everything as spent.",
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
def _connect(path: Path) -> Iterator[sqlite3.Connection]:
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
    for statement in LAYOUT.split(";\n"):  # those of a trigger end in the middle of a line
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
        raise damage(path, "the file is damaged")
    if _layout(file) != _layout_of(layout):
        raise damage(path, "its tables are not those that hedgerow makes")
    # Numbers follow each other and are never given twice, so a gap is an entry that was lost.
    for table in ("entries", "history") if expected > 1 else ("entries",):
        number, last, given = file.execute(
            "SELECT count(*), coalesce(max(number), 0), coalesce((SELECT max(seq) FROM "
            f"sqlite_sequence WHERE name = '{table}'), 0) FROM {table}"
        ).fetchone()
        if not number == last == given:
            raise damage(path, f"{table} are missing" if table == "entries" else "history is cut")


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
    return damage(path, "it cannot be read or written as one")


# What a budget ledger says: data sets, their releases, and what was changed by hand.


State = Literal["reserved", "booked", "drawn", "published", "withdrawn", "returned"]

_AMOUNT = re.compile(r"[0-9]{1,200}(/[0-9]{1,200})?")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One release, as it was booked.

    Args:
        number: Its number in the ledger.
        unit: What it protects: rows, or the people told apart by a column.
        method: The name of the method.
        epsilon: What it may cost one person.
        delta: The same for delta.
        booked: When.
        state: `reserved` until the run draws, `booked` while it draws, `drawn` once the outcome
            was handed over, `published` once it was saved; `withdrawn` if the run never drew,
            `returned` if a person gave it back.
        place: Where it was saved, or was to be saved.
        ended: How the run ended, if it could tell.
        digest: The SHA-256 hash of its manifest, once it was saved.
        release_id: What its manifest calls it, drawn when it was reserved.
        replaced: The release that was saved over it.
        recipient: For whom it was made, by the latest note.
        purpose: What for, by the latest note.
    """

    number: int
    unit: str
    method: str
    epsilon: Fraction
    delta: Fraction
    booked: str
    state: State
    place: str | None = None
    ended: str | None = None
    digest: str | None = None
    release_id: str | None = None
    replaced: int | None = None
    recipient: str | None = None
    purpose: str | None = None

    @property
    def counts(self) -> bool:
        """Whether its budget is spent."""
        return self.state not in ("withdrawn", "returned")


@dataclass(frozen=True, kw_only=True)
class Change:
    """What a person changed, with the reason.

    Args:
        kind: "total" (`first` and `second` are the epsilon and delta from then on), "same people"
            (two units that protect the same people), "note" (recipient and purpose of a release)
            or "returned" (a release that was given back).
        entry: The number of the release, if it is about one.
        first: See `kind`.
        second: See `kind`.
        reason: Why.
        who: The name of the person's account on the machine.
        moment: When.
    """

    kind: str
    entry: int | None
    first: str | None
    second: str | None
    reason: str
    who: str
    moment: str


@dataclass(frozen=True, kw_only=True)
class Account:
    """A data set: its total, every release that was booked, and every change by hand."""

    name: str
    epsilon: Fraction
    delta: Fraction
    opened: str
    entries: tuple[Entry, ...]
    history: tuple[Change, ...] = ()

    @property
    def spent(self) -> tuple[Fraction, Fraction]:
        """The epsilon and the delta of all entries that count."""
        counted = [entry for entry in self.entries if entry.counts]
        return (
            sum((entry.epsilon for entry in counted), Fraction(0)),
            sum((entry.delta for entry in counted), Fraction(0)),
        )

    @property
    def left(self) -> tuple[Fraction, Fraction]:
        """The epsilon and the delta that may still be booked."""
        epsilon, delta = self.spent
        return self.epsilon - epsilon, self.delta - delta

    def same(self, unit: str) -> set[str]:
        """All units that are known to protect the same people as one does."""
        units = {unit}
        pairs = [{one.first, one.second} for one in self.history if one.kind == "same people"]
        while joined := [pair for pair in pairs if pair & units and not pair <= units]:
            for pair in joined:
                units |= {unit for unit in pair if unit is not None}
        return units

    def refuse_overdraft(self, budget: Budget) -> None:
        """Raises if a release costs more than is left."""
        for what, left in zip(("epsilon", "delta"), self.left, strict=True):
            asked, total = getattr(budget, what), getattr(self, what)
            if asked > left:
                raise BudgetError(
                    f"the data set {self.name!r} has {what} {plain(left)} left of {plain(total)}, "
                    f"and this release asks for {plain(asked)}",
                    hint="Ask for no more than is left. If nothing is left, these people have "
                    "given what they can: publish nothing more about them.",
                )

    def refuse_mixture(self, unit: str) -> None:
        """Raises if a release protects others than the earlier ones did."""
        others = {entry.unit for entry in self.entries if entry.counts} - self.same(unit)
        if others:
            raise BudgetError(
                f"the data set {self.name!r} was published per {min(others)} so far, and this "
                f"release is per {unit}: their epsilons do not add up",
                hint=_same_unit(min(others), unit),
            )

    def refuse_return(self, entry: Entry, alive: bool) -> None:
        """Raises if an entry may not be given back, whatever a person knows about its run."""
        why = {
            "reserved": "its run has not drawn anything. If that run has ended, nothing is spent",
            "drawn": "its outcome was handed over, so somebody may have seen it",
            "published": "it was published",
            "withdrawn": "it counts for nothing already",
            "returned": "it was given back already",
        }.get(entry.state)
        if alive:
            why = "its run is still going on"
        elif why is None and entry.ended is not None and entry.ended.startswith("failed"):
            why = "its run failed by itself, which may follow from the data or from what was drawn"
        if why is not None:
            raise UsageError(
                f"release {entry.number} of {self.name!r} cannot be given back: {why}.",
                hint="Only a run that was stopped from outside, after it began to draw and before "
                "its outcome was handed over, can be given back.",
            )

    def refuse_again(self, entry: Entry, place: str | os.PathLike[str]) -> NoReturn:
        """Raises for a release that has an entry."""
        hint = "There is nothing to do."
        if entry.digest is None:
            hint = (
                "If that entry is of another release, which this one replaced, rename this folder "
                "and add it then."
            )
        raise UsageError(
            f"{place} is booked already, as release {entry.number} of {self.name!r}: what was "
            "spent once is counted once.",
            hint=hint,
        )

    def find(self, place: Path, digest: str | None) -> Entry | None:
        """The entry of a release that lies at a place, here or as a copy.

        Args:
            place: Where it lies.
            digest: The hash of its manifest.
        """
        release_id = None  # what its manifest calls it, if it was published with a ledger
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            manifest = json.loads((place / "manifest.json").read_bytes())
            release_id = manifest["ledger"].get("release_id")
        for entry in self.entries:
            if entry.state not in ("drawn", "published"):
                continue
            if entry.digest is not None:
                if entry.digest == digest:
                    return entry
            elif entry.state == "drawn":  # its run was perhaps stopped when it had just been saved
                if isinstance(release_id, str) and release_id == entry.release_id:
                    return entry
            else:  # an older version noted no digest
                copied = digest is not None and entry.place and digest_of(entry.place) == digest
                if copied or is_at(entry, place):
                    return entry
        return None


def read_accounts(path: Path, file: Any) -> dict[str, Account]:
    """The whole ledger; a few hundred lines at most.

    Raises:
        ReleaseError: If something in it cannot be.
    """

    def amount(text: object) -> Fraction:
        if isinstance(text, str) and _AMOUNT.fullmatch(text):
            with suppress(ZeroDivisionError):
                return Fraction(text)
        raise damage(path, "an amount in it is not a number")

    rows = file.cursor()
    rows.row_factory = sqlite3.Row
    history: dict[str, list[Change]] = {}
    notes: dict[int, dict[str, Any]] = {}
    for row in rows.execute("SELECT * FROM history ORDER BY number"):
        change = Change(**{one.name: row[one.name] for one in fields(Change)})
        history.setdefault(row["key"], []).append(change)
        if change.kind == "note" and change.entry is not None:
            note = {"recipient": change.first, "purpose": change.second}
            known = {name: text for name, text in note.items() if text is not None}
            notes.setdefault(change.entry, {}).update(known)
    entries: dict[str, list[Entry]] = {}
    for row in rows.execute("SELECT * FROM entries ORDER BY number"):
        facts = {**row} | notes.get(row["number"], {})
        key, amounts = facts.pop("key"), {name: amount(row[name]) for name in ("epsilon", "delta")}
        entries.setdefault(key, []).append(Entry(**facts | amounts))
    accounts = {}
    for row in rows.execute("SELECT * FROM accounts"):
        changes = history.pop(row["key"], [])
        raised = [(change.first, change.second) for change in changes if change.kind == "total"]
        totals = [(row["epsilon"], row["delta"]), *raised]
        epsilon, delta = [(amount(one), amount(other)) for one, other in totals][-1]
        accounts[row["key"]] = Account(
            name=row["name"], epsilon=epsilon, delta=delta, opened=row["opened"],
            entries=tuple(entries.pop(row["key"], ())), history=tuple(changes),
        )  # fmt: skip
    if entries or history:
        raise damage(path, "a release belongs to no data set")
    return accounts


def plain(amount: Fraction) -> str:
    """An amount as a person would write it, exactly.

    Example:
        >>> plain(Fraction(1, 2)), plain(Fraction(1, 3)), plain(Fraction(1, 10**9))
        ('0.5', '1/3', '1e-9')
    """
    if 10**40 % amount.denominator:
        return str(amount)
    with localcontext(prec=200):  # more digits than any amount has, so this is exact
        number = (Decimal(amount.numerator) / Decimal(amount.denominator)).normalize()
    return f"{number:f}" if not 0 < amount < Fraction(1, 10**4) else f"{number:e}"


# What a budget ledger refuses, and the way out.


PERSON = "person by "

_LONGEST_NAME, _LONGEST_TEXT = 200, 1000


def name_of(name: str) -> tuple[str, str]:
    """A data set's name as it is shown, and as names are compared.

    Names that a person would take for the same are the same: spaces and capitals do not count.
    """
    shown = _visible(name, _LONGEST_NAME)
    if not shown:
        raise UsageError(
            "a data set needs a name of ordinary letters.", hint="Write --dataset clinic, say."
        )
    return shown, unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", shown).casefold())


def check_text(what: str, text: str) -> str:
    """A text for the ledger, without what cannot be seen.

    Example:
        >>> check_text("reason", " a power  cut ")
        'a power cut'
    """
    shown = _visible(text, _LONGEST_TEXT)
    if not shown:
        raise UsageError(
            f"the {what} must be a text of 1 to {_LONGEST_TEXT} ordinary letters.",
            hint="Write it so that others understand it years from now.",
        )
    return shown


def _visible(text: str, most: int) -> str:
    """A text with single spaces; empty if it is too long or holds what cannot be seen."""
    shown = " ".join(unicodedata.normalize("NFC", text).split())
    hidden = any(unicodedata.category(letter).startswith("C") for letter in shown)
    return "" if hidden or len(shown) > most else shown


def similar(name: str, accounts: Iterable[Account]) -> list[str]:
    """Names of data sets that are nearly the same, the nearest first.

    Example:
        >>> difflib.get_close_matches("clinics", ["clinic", "school"])
        ['clinic']
    """
    keys = {name_of(account.name)[1]: account.name for account in accounts}
    return [keys[key] for key in difflib.get_close_matches(name_of(name)[1], keys, n=3)]


def refuse_unknown(path: Path, name: str, accounts: Iterable[Account]) -> NoReturn:
    """Raises for a data set that is not in the ledger, and names those that are."""
    accounts = list(accounts)
    known = similar(name, accounts) or sorted(account.name for account in accounts)[:10]
    opening = f"hedgerow ledger FILE --open {name!r} --epsilon TOTAL"
    if known:
        listed = ", ".join(map(repr, known))
        hint = (
            "Name the data set that these people are in, in `publish` and `--add` with --dataset: "
            f"{listed}. Only for people who are in none of them: {opening}."
        )
    else:
        hint = f"Set the total for these people first: {opening}."
    raise BudgetError(f"the budget ledger {path} has no data set {name!r}", hint=hint)


def _same_unit(before: str, now: str) -> str:
    """How to publish per the same unit once more."""
    if before == "row":
        return "Publish rows once more, by a schema without a `role: person` column."
    if before == "transaction":
        return "Publish records of items once more, by a schema with `items:` and no `person:`."
    way = (
        "Let the schema identify people by the same column as before: `role: person` in a "
        "table, `person:` below `items:` for transactions."
    )
    if not now.startswith(PERSON):
        return way
    columns = f"{before.removeprefix(PERSON)!r} {now.removeprefix(PERSON)!r}"
    return (
        f"{way} If both columns identify the same people, each by one identifier, say so: hedgerow "
        f"ledger FILE --same-people {columns} --dataset NAME --reason WHY."
    )


def is_at(entry: Entry, place: str | os.PathLike[str]) -> bool:
    """Whether an entry names that folder."""
    return entry.place is not None and os.path.realpath(entry.place) == os.path.realpath(place)


def digest_of(place: str | os.PathLike[str]) -> str | None:
    """The SHA-256 hash of a release's manifest, if it is there: no two releases share it."""
    with suppress(OSError):
        return hashlib.sha256((Path(place) / "manifest.json").read_bytes()).hexdigest()
    return None


def unit_of(schema: Schema) -> str:
    """Whom the releases of a schema protect."""
    if schema.kind == "transactions":
        column, record = schema.transaction_items.person, "transaction"
    else:
        column, record = schema.person.column if schema.person else None, "row"
    return record if column is None else f"{PERSON}{column}"
