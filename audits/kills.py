"""Kills `hedgerow publish --ledger` at random moments and looks at what is left.

    python audits/kills.py --number 1000

After every kill the release is there as a whole (`verify` passes) or not at all, and the budget
ledger has lost nothing and taken nothing: whatever was drawn is booked, whatever is booked has read
the random source, whatever was booked stays, whatever is called published is there, and the folder
is free for the next run. Three kinds of kills are made:

- by the clock (--number): SIGKILL at a moment drawn evenly over the time that a run takes. The
  command runs in a fork of this process, which has imported everything already; one in twenty is
  started afresh, as from a shell.
- by events (--sweep): the run kills itself before its last file or database operation, the one
  before that, and so on back to where nothing was booked yet. This asks for no luck, so the tests
  use it, also on code that is broken on purpose.
- races (--races): runs that start together on a ledger with room for some of them, and runs that
  start together with the same folder to write to.

How noise was drawn is witnessed from inside the run: reading the random source leaves a file, and
so does handing out what was read.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import gc
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import typer.main

RUNS, ROOM = 6, 3  # of a race: this many start, and the ledger has room for so many
FRESH = 20  # one run in so many by the clock is started afresh
HUNG = 120  # seconds; a run takes a tenth of one
DATASET = "people"
IDLE = "nothing booked, nothing drawn"
LOCKED = "folder locked, nothing booked"
_SCHEMA = """\
name: people
unit: row
attributes:
  age: {type: numeric, low: 0, high: 99}
  home: {type: categorical, values: [north, south, east, west]}
  ill: {type: boolean, role: class}
"""


@functools.cache
def prepare() -> None:
    """Loads and builds all that a run needs, once: runs in forks begin where words are read."""
    import hedgerow.cli
    from hedgerow import sample
    from hedgerow.methods import cdiffgen, diffgen, diffmulti, diffpart  # noqa: F401

    if not hasattr(typer.main.get_command, "cache_info"):
        typer.main.get_command = functools.cache(typer.main.get_command)
    typer.main.get_command(hedgerow.cli.app)
    hedgerow.publish(sample.people(80, seed=1), sample.schema(), epsilon=1, seed=1)
    gc.collect()
    gc.freeze()  # or every fork would copy what its collector looks through


# ------------------------------------------------------------------ inside the run that is killed


def run_command(witness: str, words: list[str], fatal: int | None = None) -> int:
    """Runs the command in this process, with a witness of drawing.

    Args:
        witness: The file to leave before anything is drawn; one beside it, `read`, is left when
            the random source was read.
        words: The command line.
        fatal: Before which operation to die; 0 to count them; None for neither.
    """
    import hedgerow.cli
    from hedgerow.privacy.keystream import Keystream

    refill, make = Keystream.refill, Keystream._make

    def leave(path: str) -> None:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY))

    def made(stream: Any, number: int) -> bytes:
        words = make(stream, number)
        leave(os.path.join(os.path.dirname(witness), "read"))
        return words

    def handed_out(stream: Any) -> None:
        refill(stream)
        leave(witness)

    Keystream._make, Keystream.refill = made, handed_out  # type: ignore[method-assign]
    count = 0

    def listen(event: str, _: Any) -> None:
        nonlocal count
        if event == "open" or event.startswith(("os.", "sqlite3.", "shutil.", "tempfile.")):
            count += 1
            if count == fatal:
                os.kill(os.getpid(), signal.SIGKILL)

    if fatal is not None:
        sys.addaudithook(listen)
    sys.argv = ["hedgerow", *words]
    code = 0
    try:
        hedgerow.cli.main()
    except SystemExit as end:
        code = int(end.code or 0)
    if fatal == 0:
        Path(witness).with_name("operations").write_text(str(count), encoding="utf-8")
    return code


def fork(
    yard: Path, words: list[str], fatal: int | None = None, gate: tuple[int, int] | None = None
) -> Fork:
    """Starts a run in a fork; at a gate, it waits until that opens."""
    pid = os.fork()
    if pid:
        return Fork(pid)
    code = 99
    try:
        sink = os.open(yard / "output", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(sink, stream)
        if gate is not None:
            os.close(gate[1])
            os.read(gate[0], 1)  # ends when nobody holds the other end any more
        signal.alarm(HUNG)
        code = run_command(str(yard / "drawn"), words, fatal)
    finally:
        os._exit(code)


# ------------------------------------------------------------------ outside


class Fork:
    """A fork of this process, with what is needed of `subprocess.Popen`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def poll(self) -> int | None:
        """The exit code, negative if it was killed; None while it runs. Ask until it is told."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if pid else None

    def kill(self) -> None:
        """Kills it on the spot."""
        os.kill(self.pid, signal.SIGKILL)


def end_of(run: Any, delay: float | None = None) -> int:
    """Waits for the end of a run, or kills it once so many seconds have passed; its exit code."""
    deadline = float("inf") if delay is None else time.monotonic() + delay
    while (code := run.poll()) is None:
        left = deadline - time.monotonic()
        if left > 0:
            time.sleep(min(left, 0.002))
        else:
            run.kill()
            deadline = float("inf")
    return int(code)


SETTINGS: list[str] = []  # further options of every run


@dataclass
class Yard:
    """A folder with a table, a ledger, and what runs left in it."""

    folder: Path
    total: str = "100"
    held: dict[Path, Fraction] = field(default_factory=dict)  # the epsilon of each release

    def __post_init__(self) -> None:
        from hedgerow import BudgetLedger

        self.folder.mkdir()
        (self.folder / "schema.yaml").write_text(_SCHEMA, encoding="utf-8")
        homes = ("north", "south", "east", "west")
        rows = "".join(f"{n},{homes[n % 4]},{'yes' if n > 60 else 'no'}\n" for n in range(80))
        (self.folder / "people.csv").write_text(f"age,home,ill\n{rows}", encoding="utf-8")
        self.book = BudgetLedger(self.folder / "book.ledger")
        self.book.open(DATASET, self.total)

    def words(self, out: Path, epsilon: Fraction) -> list[str]:
        """The command line of a run; an existing release is replaced."""
        return [
            "publish", str(self.folder / "people.csv"), "--overwrite", "--epsilon", str(epsilon),
            "--schema", str(self.folder / "schema.yaml"), "--out", str(out),
            "--ledger", str(self.folder / "book.ledger"), "--json", *SETTINGS,
        ]  # fmt: skip

    def entries(self) -> tuple[Any, ...]:
        """What the ledger holds."""
        (account,) = self.book.accounts()
        return tuple(account.entries)


def epsilon_in(folder: Path) -> Fraction | None:
    """The epsilon of a release that is whole, or None."""
    from hedgerow import verify
    from hedgerow.errors import HedgerowError

    try:
        verdict = verify(folder)
    except HedgerowError:
        return None
    return verdict.epsilon if verdict.ok else None


def examine(
    yard: Yard, out: Path, epsilon: Fraction, before: tuple[Any, ...], code: int
) -> tuple[str, list[str]]:
    """How far a run came, and what is wrong with what it left; clears away what may be cleared.

    Args:
        yard: Where it ran.
        out: Where it was to write.
        epsilon: What it was to spend; no other run asked for the same.
        before: The entries of the ledger before it ran.
        code: Its exit code; negative if it was killed.
    """
    from hedgerow.disk import Hold

    lock = out.with_name(f".{out.name}.lock")
    locked = lock.exists()
    wrong = []
    if Hold.is_held(lock):
        wrong.append("the folder stays locked")
    after = yard.entries()
    if [*map(_unmarked, after[: len(before)])] != [*map(_unmarked, before)]:
        wrong.append("an earlier entry of the ledger was lost or changed")
    mine = after[len(before) :]
    if [entry.epsilon for entry in mine] not in ([], [epsilon]):
        wrong.append("the run booked something else than what it was asked to spend")
    paid = any(entry.counts for entry in mine)
    drawn, read = ((yard.folder / name).exists() for name in ("drawn", "read"))
    if paid and not read:
        wrong.append("something is booked though the random source was never read")
    if any(entry.state == "reserved" for entry in after):
        wrong.append("a run that is dead still has budget set aside")
    fresh, aside = ([*out.parent.glob(f".{out.name}.{kind}-*")] for kind in ("new", "old"))
    if (drawn or fresh) and not paid:
        wrong.append("noise was drawn that is not booked")
    here = epsilon_in(out) if out.exists() else None
    earlier = yard.held.pop(out, None)
    if out.exists():
        if here is None:
            wrong.append("the release is there in part")
        elif here not in (epsilon, earlier):
            wrong.append("the release is one that nobody asked for")
        if here == epsilon and not paid:
            wrong.append("a release is there that is not booked")
    elif earlier is not None:
        kept = [folder for folder in aside if epsilon_in(folder) == earlier]
        if kept:  # killed between two renames; what a steward would do
            kept[0].rename(out)
            here = earlier
        else:
            wrong.append("the earlier release is gone")
    if any(entry.state == "published" for entry in mine) and here != epsilon:
        wrong.append("the ledger calls a release published that is not there")
    if any(entry.state == "published" for entry in mine) and any(
        entry.state == "published" and entry.epsilon == earlier and entry.replaced is None
        for entry in after
    ):
        wrong.append("a release that was replaced is not marked")
    if code == 0 and (here != epsilon or [entry.state for entry in mine] != ["published"]):
        wrong.append("the command said that all went well, and it did not")
    if code == -signal.SIGALRM:
        wrong.append("the command hung")
    if code > 0:
        words = (yard.folder / "output").read_text(encoding="utf-8", errors="replace")
        wrong.append(f"the command ended with {code}: {words[-300:]}")
    if here is not None:
        yard.held[out] = here
    booked = sum((entry.epsilon for entry in after if entry.counts), Fraction(0))
    if booked < sum(yard.held.values()):
        wrong.append("the ledger understates what the releases that are there have spent")
    for name in ("drawn", "read"):
        (yard.folder / name).unlink(missing_ok=True)
    for folder in (*fresh, *aside):
        shutil.rmtree(folder, ignore_errors=True)
    if not mine:
        phase = "drawn, NOT booked" if drawn else LOCKED if locked else IDLE
    else:
        phase = _phase(mine[0].state, read, drawn, bool(fresh), here == epsilon)
    return phase, wrong


def _unmarked(entry: Any) -> Any:
    """An entry, but for the mark that it was replaced."""
    return dataclasses.replace(entry, replaced=None)


def _phase(state: str, read: bool, drawn: bool, fresh: bool, there: bool) -> str:
    """How far a run came that made an entry."""
    if state == "withdrawn":
        return f"withdrawn: reserved, random source {'read and not used' if read else 'not read'}"
    if state == "published":
        return "published"
    if there:
        return "release in place, not yet noted"
    if fresh:
        return "files half-written, hidden"
    if state == "drawn":
        return "handed over, nothing written"
    return "drawing" if drawn else "booked, random source read and not used"


class Trials:
    """Runs with outcomes: each asks for an epsilon of its own, so that a release names its run."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.yard = Yard(folder)
        self.phases: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._random = random.Random(seed)
        self._number = 0
        self.killed = False  # whether the latest run was
        self._lasted: dict[bool, deque[float]] = {
            new: deque(maxlen=5) for new in (False, True)
        }  # the seconds of the latest runs that were left in peace, started afresh or not
        prepare()
        import hedgerow

        schema = hedgerow.Schema.load(self.yard.folder / "schema.yaml")
        method = hedgerow.DiffMulti()
        hedgerow.publish(self.yard.folder / "people.csv", schema, method, epsilon=1, seed=1)

    def trial(
        self,
        fatal: int | None = None,
        delay: float | None = None,
        new: bool = False,
        replace: bool | None = None,
    ) -> str:
        """One run, killed before an operation or after a delay, or not at all; how far it came."""
        self._number += 1
        epsilon = Fraction(1000 + self._number, 10**6)
        held = sorted(self.yard.held)
        replace = self._number % 2 == 0 if replace is None else replace
        out = (
            self._random.choice(held) if held and replace else self.yard.folder / f"r{self._number}"
        )
        words = self.yard.words(out, epsilon)
        before = self.yard.entries()
        begin = time.monotonic()
        start = self._afresh(words) if new else fork(self.yard.folder, words, fatal)
        code = end_of(start, delay)
        if code == 0 and delay is None:
            self._lasted[new].append(time.monotonic() - begin)
        self.killed = code == -signal.SIGKILL
        phase, wrong = examine(self.yard, out, epsilon, before, code)
        self.phases[phase] += 1
        self.wrong += [f"run {self._number}, {phase}: {words}" for words in wrong]
        return phase

    def _afresh(self, words: list[str]) -> subprocess.Popen[bytes]:
        start = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import kills; "
        start += "sys.exit(kills.run_command(sys.argv[1], sys.argv[2:]))"
        command = [sys.executable, "-c", start, str(self.yard.folder / "drawn"), *words]
        with (self.yard.folder / "output").open("w") as sink:
            return subprocess.Popen(command, stdout=sink, stderr=sink)

    def sweep(self, first: bool = False, every: int = 1) -> int:
        """Kills runs before each operation, from the last one back to before the booking.

        A run comes the further the later it is killed. So where two kills left it in different
        phases, all operations between them are tried too, and no phase is left out.

        Args:
            first: Whether to stop at the first thing that is wrong.
            every: How many operations to go back after each kill.
        """
        kills = 0
        for replace in (False, True):
            later = self.trial(fatal=0, replace=replace)
            last = int((self.yard.folder / "operations").read_text(encoding="utf-8"))
            idle = 0  # runs on end that had not booked and not drawn
            for fatal in range(last, 0, -every):
                phase = self.trial(fatal=fatal, replace=replace)
                between = range(fatal + 1, min(fatal + every, last + 1)) if phase != later else ()
                for skipped in between:
                    self.trial(fatal=skipped, replace=replace)
                kills += 1 + len(between)
                if first and self.wrong:
                    return kills
                idle = idle + 1 if phase == IDLE else 0
                if idle == 3:
                    break
                later = phase
        return kills

    def by_the_clock(self, number: int) -> Iterator[int]:
        """Kills so many runs at moments drawn evenly over the time that a run takes.

        A run that ends before its moment has come was not killed and does not count. How long runs
        take is measured again and again, as the machine may be busy, and on runs left in peace:
        those that outran a kill are the quick ones.
        """
        kinds = (False, True) if number >= FRESH else (False,)
        kills = 0
        while kills < number:
            for new in kinds:
                for _ in range(3 if kills == 0 or not new else 1):
                    self.trial(new=new)
            for _ in range(FRESH):
                new = True in kinds and kills % FRESH == FRESH - 1
                lasts = statistics.median(self._lasted[new])
                self.trial(delay=self._random.uniform(0, lasts), new=new)
                kills += self.killed
                yield kills
                if kills == number:
                    return

    def all_are_whole(self) -> None:
        """Looks at every release once more, at the end."""
        booked = {entry.epsilon for entry in self.yard.entries() if entry.counts}
        if any(entry.state == "reserved" for entry in self.yard.entries()):
            self.wrong.append("budget is set aside at the end")
        for out, epsilon in self.yard.held.items():
            if epsilon_in(out) != epsilon or epsilon not in booked:
                self.wrong.append(f"{out.name}: not whole or not booked at the end")


def race(folder: Path) -> list[str]:
    """Starts runs together on a ledger with room for some; what went wrong."""
    asked = Fraction(1, 100)
    yard = Yard(folder, str(ROOM * asked))
    outs = [folder / f"r{run}" for run in range(RUNS)]
    gate = os.pipe()
    runs = []
    for out in outs:
        own = folder / f"yard-{out.name}"
        own.mkdir()
        runs.append(fork(own, yard.words(out, asked), gate=gate))
    for end in gate:
        os.close(end)
    codes = [end_of(run) for run in runs]
    there = [out for out in outs if out.exists()]
    wrong = []
    if sorted(codes) != [0] * ROOM + [5] * (RUNS - ROOM):
        wrong.append(f"exit codes {sorted(codes)} where there is room for {ROOM} of {RUNS}")
    if there != [out for out, code in zip(outs, codes, strict=True) if code == 0]:
        wrong.append("releases are there of other runs than those that succeeded")
    if any(epsilon_in(out) != asked for out in there):
        wrong.append("a release is not whole")
    if [entry.state for entry in yard.entries()] != ["published"] * len(there):
        wrong.append("the ledger does not list what is there")
    return wrong


def race_for_a_folder(folder: Path) -> list[str]:
    """Starts runs together that are to write to one folder; what went wrong.

    One of them succeeds, and the others cost nothing, whether they found the folder locked or
    found the release there already.
    """
    yard = Yard(folder)
    out = folder / "r"
    gate = os.pipe()
    runs = []
    for number in range(RUNS):
        own = folder / f"yard-{number}"
        own.mkdir()
        words = yard.words(out, Fraction(number + 1, 100))
        words.remove("--overwrite")
        runs.append(fork(own, words, gate=gate))
    for end in gate:
        os.close(end)
    codes = [end_of(run) for run in runs]
    wrong = []
    if sorted(codes) != [0] + [6] * (RUNS - 1):
        wrong.append(f"exit codes {sorted(codes)} of runs with one folder")
    entries = yard.entries()
    if [(entry.state, entry.epsilon) for entry in entries] != [("published", epsilon_in(out))]:
        wrong.append(f"runs that could not be saved were booked: {[e.state for e in entries]}")
    for number, code in enumerate(codes):
        if code and (folder / f"yard-{number}" / "drawn").exists():
            wrong.append("a run drew noise that could not be saved")
    if [path.name for path in folder.iterdir() if path.name.startswith(".r.")]:
        wrong.append("something was left beside the folder")
    return wrong


def main(arguments: list[str] | None = None) -> int:
    """Runs the audit and reports; 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--number", type=int, default=100, help="kills by the clock")
    parser.add_argument("--sweep", action="store_true", help="also kill before every operation")
    parser.add_argument("--first", action="store_true", help="end a sweep at the first finding")
    parser.add_argument("--every", type=int, default=1, help="sweep before every so many only")
    parser.add_argument("--races", type=int, default=10, help="races of both kinds")
    parser.add_argument("--seed", type=int, default=1, help="for the moments of the kills")
    parser.add_argument("--plain", action="store_true", help="publish by regions: quicker")
    parser.add_argument("--json", action="store_true", help="report as JSON")
    asked = parser.parse_args(arguments)
    SETTINGS[:] = ["--method", "diffmulti"] if asked.plain else []
    if asked.number > 10_000:  # each run asks for a little more than the one before
        parser.error("the ledger has room for 10,000 runs")
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kills-") as place:
        trials = Trials(Path(place) / "trials", asked.seed)
        swept = trials.sweep(asked.first, asked.every) if asked.sweep else 0
        for kill in trials.by_the_clock(asked.number) if asked.number else ():
            if sys.stderr.isatty():
                print(f"\r{kill} of {asked.number}", end="", file=sys.stderr, flush=True)
        trials.all_are_whole()
        wrong = list(trials.wrong)
        for number in range(asked.races):
            wrong += [f"race {number}: {words}" for words in race(Path(place) / f"race{number}")]
            found = race_for_a_folder(Path(place) / f"folder{number}")
            wrong += [f"race {number} for a folder: {words}" for words in found]
        report = {
            "kills by the clock": asked.number,
            "kills before an operation": swept,
            "races for a ledger": asked.races,
            "races for a folder": asked.races,
            "how far runs came": dict(trials.phases.most_common()),
            "releases at the end": len(trials.yard.held),
            "seconds": round(time.monotonic() - begin),
            "wrong": wrong,
        }
    if asked.json:
        print(json.dumps(report, indent=2))
    else:
        for key, value in report.items():
            print(f"{key}: {value}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
