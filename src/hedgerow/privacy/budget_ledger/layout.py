"""The tables of an budget ledger, and the rules that its file keeps by itself."""

from __future__ import annotations

__all__ = ["LAYOUT", "LAYOUT_1", "VERSION"]

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
_ENTRIES = """
CREATE TABLE entries (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL REFERENCES accounts (key),
    unit TEXT NOT NULL,
    method TEXT NOT NULL,
    epsilon TEXT NOT NULL,
    delta TEXT NOT NULL,
    booked TEXT NOT NULL,
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
_ENTRIES_1 = """
CREATE TABLE entries (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL REFERENCES accounts (key),
    unit TEXT NOT NULL,
    method TEXT NOT NULL,
    epsilon TEXT NOT NULL,
    delta TEXT NOT NULL,
    booked TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('booked', 'published', 'withdrawn')),
    place TEXT
);
"""
_STATES_1 = """
CREATE TRIGGER states_move_on BEFORE UPDATE ON entries WHEN OLD.state <> 'booked'
    BEGIN SELECT RAISE(ABORT, 'an entry that was closed is never changed'); END;
"""
LAYOUT_1 = _ACCOUNTS + _ENTRIES_1 + _RULES + _STATES_1
