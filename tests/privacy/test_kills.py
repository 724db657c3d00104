"""Runs that are killed, and runs that race: what they leave, and that bad ones are caught.

The checks are those of audits/kills.py, which `--number 1000` runs at length.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

AUDITS = Path(__file__).parents[2] / "audits"


def audit(*words: str, twin: str = "") -> tuple[int, dict[str, Any]]:
    """Runs the audit in a process of its own, perhaps on a broken twin of the program."""
    start = f"import sys; sys.path.insert(0, {str(AUDITS)!r})\n{twin}\n"
    start += "import kills; sys.exit(kills.main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", start, "--json", *words], capture_output=True, text=True
    )
    assert done.returncode in (0, 1), done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, report


def test_kills_at_every_operation_and_by_the_clock() -> None:
    code, report = audit("--sweep", "--number", "8", "--races", "0")
    assert (code, report["wrong"]) == (0, [])
    assert report["kills before an operation"] > 30
    # kills fell into every part of a run
    assert {
        "nothing booked, nothing drawn", "booked, nothing drawn", "drawn, nothing written",
        "files half-written, hidden", "release in place, not yet noted", "published",
    } == set(report["how far runs came"])  # fmt: skip


def test_races() -> None:
    code, report = audit("--number", "0", "--races", "2")
    assert (code, report["wrong"]) == (0, [])


# What the program must not do. Each is caught by the same checks.
LATE = """
from hedgerow.privacy.account_book import AccountBook

book = AccountBook.book
class Late:
    'A booking that is made only when it is asked to be.'
    def __init__(self, *words, **more):
        self.make = lambda: setattr(self, 'made', book(*words, **more))
    def mark_published(self, place):
        self.made.mark_published(place)
    def facts(self):
        return self.made.facts()
def promise(self, *words, **more):
    global promised
    promised = Late(self, *words, **more)
    return promised
AccountBook.book = promise
"""
BOOKS_AFTER_DRAWING = f"""{LATE}
from hedgerow.publish.diffmulti import DiffMulti

run, promised = DiffMulti.run, None
def late(self, *words):
    outcome = run(self, *words)
    if promised is not None:
        promised.make()
    return outcome
DiffMulti.run = late
"""
BOOKS_WHEN_SAVED = f"""{LATE}
import hedgerow.release.release as release

write = release.write
def late(found, path, overwrite):
    write(found, path, overwrite)
    found.booking.make()
release.write = late
"""
NOTES_BEFORE_SAVING = """
import hedgerow.release.release as release

write = release.write
def early(found, path, overwrite):
    if found.booking is not None:
        found.booking.mark_published(path)
    write(found, path, overwrite)
release.write = early
"""
WRITES_IN_PLACE = """
import shutil
import hedgerow.release.files as files
import hedgerow.release.release as release

def in_place(found, path, overwrite):
    target = files.check_target(path, overwrite)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    contents = files._contents(found)
    files._fill(contents, lambda hashes: files.make_manifest(found, hashes), target)
release.write = in_place
"""


@pytest.mark.parametrize(
    ("twin", "words"),
    [
        (BOOKS_AFTER_DRAWING, "noise was drawn that is not booked"),
        (BOOKS_WHEN_SAVED, "a release is there that is not booked"),
        (NOTES_BEFORE_SAVING, "calls a release published that is not there"),
        (WRITES_IN_PLACE, "the release is there in part"),
    ],
    ids=["books after drawing", "books when saved", "notes before saving", "writes in place"],
)
def test_broken_twins_are_caught_by_kills(twin: str, words: str) -> None:
    code, report = audit("--sweep", "--first", "--number", "0", "--races", "0", twin=twin)
    assert code == 1
    assert any(words in found for found in report["wrong"]), report
    # left in peace, the twin does what it should
    assert not any(found.startswith("run 1,") for found in report["wrong"]), report


BOOKS_WITHOUT_A_LOCK = """
import time
from hedgerow.privacy import account_book

refuse, book = account_book._refuse_overdraft, account_book.AccountBook._book
def unlocked(self, *words, keep):
    book(self, *words, keep=False)  # is there enough?
    time.sleep(0.5 if keep else 0)  # meanwhile others ask the same
    account_book._refuse_overdraft = lambda *_: None
    try:
        return book(self, *words, keep=keep)
    finally:
        account_book._refuse_overdraft = refuse
account_book.AccountBook._book = unlocked
"""


def test_a_book_without_a_lock_is_caught_by_races() -> None:
    code, report = audit("--number", "0", "--races", "1", twin=BOOKS_WITHOUT_A_LOCK)
    assert code == 1
    assert any("exit codes" in found for found in report["wrong"]), report
