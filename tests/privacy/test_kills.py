"""Runs that are killed, and runs that race: what they leave, and that bad ones are caught.

The checks are those of audits/kills.py, which `make audit` runs at length: with 1,000 kills by the
clock, before every operation instead of every second one, and with the usual method.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

AUDITS = Path(__file__).parents[2] / "audits"


# Every audit runs in a fork of one process that has loaded the program and used it once.
SERVER = f"""
import json, os, sys, traceback
sys.path.insert(0, {str(AUDITS)!r})
import kills
kills.prepare()
for line in sys.stdin:
    words, twin, report = json.loads(line)
    pid = os.fork()
    if not pid:
        code = 99
        try:
            os.dup2(os.open(report, os.O_CREAT | os.O_WRONLY), 1)
            exec(twin, {{'__name__': 'twin'}})
            code = kills.main(words)
            sys.stdout.flush()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""
Audit = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Audit]:
    """Runs the audit in a process of its own, perhaps on a broken twin of the program."""
    folder = tmp_path_factory.mktemp("audits")
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", SERVER], **pipes) as server:
        assert server.stdin is not None and server.stdout is not None

        def run(*words: str, twin: str = "") -> tuple[int, dict[str, Any]]:
            report = folder / f"{len(list(folder.iterdir()))}.json"
            print(
                json.dumps([["--json", "--plain", *words], twin, str(report)]),
                file=server.stdin,
                flush=True,
            )
            code = int(server.stdout.readline())
            assert code in (0, 1)
            return code, json.loads(report.read_text(encoding="utf-8"))

        yield run
        server.stdin.close()


def test_kills_before_operations_and_by_the_clock(audit: Audit) -> None:
    code, report = audit("--sweep", "--every", "1", "--number", "4", "--races", "0")
    assert (code, report["wrong"]) == (0, [])
    assert report["kills before an operation"] > 30
    # kills fell into every part of a run
    assert {
        "nothing booked, nothing drawn",
        "folder locked, nothing booked",
        "withdrawn: reserved, random source not read",
        "withdrawn: reserved, random source read and not used",
        "drawing",
        "handed over, nothing written",
        "files half-written, hidden",
        "release in place, not yet noted",
        "published",
    } <= set(report["how far runs came"])


def test_races(audit: Audit) -> None:
    code, report = audit("--number", "0", "--races", "1")
    assert (code, report["wrong"]) == (0, [])


# What the program must not do. Each is caught by the same checks.
LATE = """
from hedgerow.ledger.ledger import BudgetLedger

reserve = BudgetLedger.reserve
class Late:
    'A booking that is made only when it is asked to be.'
    release_id = None
    def __init__(self, *words, **more):
        def make():
            self.made = reserve(*words, **more)
            self.made.hand_over()
        self.make = make
    def begin_drawing(self):
        pass
    hand_over = begin_drawing
    def mark_published(self, place):
        self.made.mark_published(place)
    def facts(self):
        return self.made.facts()
def promise(self, *words, **more):
    global promised
    promised = Late(self, *words, **more)
    return promised
BudgetLedger.reserve = promise
"""
BOOKS_AFTER_DRAWING = f"""{LATE}
from hedgerow.methods.diffmulti import DiffMulti

run, promised = DiffMulti.run, None
def late(self, *words):
    outcome = run(self, *words)
    if promised is not None:
        promised.make()
    return outcome
DiffMulti.run = late
"""
BOOKS_WHEN_SAVED = f"""{LATE}
import hedgerow.release.files as release

note_saved = release.note_saved
def late(booking, path):
    booking.make()
    note_saved(booking, path)
release.note_saved = late
"""
NOTES_BEFORE_SAVING = """
from hedgerow.release import Release

save = Release.save
def early(found, path, **more):
    if found.booking is not None:
        found.booking.mark_published(path)
    save(found, path, **more)
Release.save = early
"""
WRITES_IN_PLACE = """
import shutil
import hedgerow.release.files as files

def in_place(path, overwrite, contents, manifest):
    target = path.folder
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    files._fill(contents, manifest, target)
files.write_folder = in_place
"""
BOOKS_AT_ONCE = """
from hedgerow.ledger.ledger import BudgetLedger
from hedgerow.ledger.ledger import Booking

reserve, begin = BudgetLedger.reserve, Booking.begin_drawing
def at_once(self, *words, **more):
    booking = reserve(self, *words, **more)
    begin(booking)
    return booking
BudgetLedger.reserve = at_once
Booking.begin_drawing = lambda self: None
"""
LEAVES_THE_DEAD_THEIR_BUDGET = """
from hedgerow.ledger import ledger as budget_ledger
from hedgerow.ledger.ledger import BudgetLedger

BudgetLedger._sweep = lambda self, file: budget_ledger.read_accounts(self.path, file)
"""


@pytest.mark.parametrize(
    ("twin", "words"),
    [
        (BOOKS_AFTER_DRAWING, "noise was drawn that is not booked"),
        (BOOKS_WHEN_SAVED, "a release is there that is not booked"),
        (NOTES_BEFORE_SAVING, "calls a release published that is not there"),
        (WRITES_IN_PLACE, "the release is there in part"),
        (BOOKS_AT_ONCE, "booked though the random source was never read"),
        (LEAVES_THE_DEAD_THEIR_BUDGET, "a run that is dead still has budget set aside"),
    ],
    ids=[
        "books after drawing",
        "books when saved",
        "notes before saving",
        "writes in place",
        "books at once",
        "leaves the dead their budget",
    ],
)
def test_broken_twins_are_caught_by_kills(audit: Audit, twin: str, words: str) -> None:
    words_of_sweep = ["--sweep", "--first", "--every", "4", "--number", "0", "--races", "0"]
    code, report = audit(*words_of_sweep, twin=twin)
    assert code == 1
    assert any(words in found for found in report["wrong"]), report
    # left in peace, the twin does what it should
    assert not any(found.startswith("run 1,") for found in report["wrong"]), report


BOOKS_WITHOUT_A_LOCK = """
import os, time
import kills
from hedgerow.ledger import file as book_file, ledger as budget_ledger

refuse, reserve = book_file.Account.refuse_overdraft, budget_ledger.BudgetLedger.reserve
def unlocked(self, *words, notes, **more):
    self.check(*words, **more)  # is there enough? meanwhile others ask the same
    self.path.with_name(f'asked-{os.getpid()}').touch()
    for _ in range(6000):  # a minute, should others not come so far
        if len(list(self.path.parent.glob('asked-*'))) == RUNS:
            break
        time.sleep(0.01)
    book_file.Account.refuse_overdraft = lambda *_: None
    try:
        return reserve(self, *words, **more)
    finally:
        book_file.Account.refuse_overdraft = refuse
budget_ledger.BudgetLedger.reserve = unlocked
kills.race_for_a_folder = lambda folder: []  # there one alone comes so far, and would wait
"""
SHARES_FOLDERS = """
import time
import hedgerow.release.files as target
from hedgerow.disk import Hold

class Shared(Hold):
    @staticmethod
    def take(path):
        return Hold.take(path.with_name(f'{path.name}-{target.os.getpid()}'))
target.Hold = Shared

take = target.Target.__init__
def together(taken, *words):
    take(taken, *words)  # nobody has written there yet, as everybody waits for all others
    (taken.folder.parent / f'waits-{target.os.getpid()}').touch()
    for _ in range(6000):  # a minute, should one of them have failed
        if len(list(taken.folder.parent.glob('waits-*'))) == RUNS:
            break
        time.sleep(0.01)
target.Target.__init__ = together
"""


@pytest.mark.parametrize(
    ("twin", "words"),
    [
        (BOOKS_WITHOUT_A_LOCK.replace("RUNS", "6"), "room for"),
        pytest.param(
            SHARES_FOLDERS.replace("RUNS", "6"), "could not be saved", marks=pytest.mark.long
        ),
    ],
    ids=["books without a lock", "shares folders"],
)
def test_broken_twins_are_caught_by_races(audit: Audit, twin: str, words: str) -> None:
    code, report = audit("--number", "0", "--races", "1", twin=twin)
    assert code == 1
    assert any(words in found for found in report["wrong"]), report
