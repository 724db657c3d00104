"""Fuzzes every reader: no error but our own, no hang, no hand outside the folder it was given.

    python audits/fuzz.py --cases 1000000 --insertions 200000 --seed 1 --reader all --jobs 2

The insertions put one more record between others, anything at all: the codes of all other records
must stay as they were, or the run must stop.

The same seed gives the same cases, however many jobs share them. Prints one line for each reader,
then every mistake with the smallest input that shows it. Ends with exit code 1 if there is one.
"""

from __future__ import annotations

import argparse
import faulthandler
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from fuzz_framing import Inserted, line_readers
from fuzz_guard import SECONDS, Failure, Guard, limit_memory
from fuzz_readers import Edits, Reader, readers
from fuzz_values import SERVER, value_readers
from postgres_server import NoServer, postgres_server

__all__ = ["Found", "Outcome", "fuzz", "insertions", "main", "minimize"]

CHUNK = 2000  # cases that one seed makes
_TRIES, _SHRINKING = 400, 20.0  # runs and seconds that making an input smaller may take


@dataclass
class Found:
    """A mistake: what it is, how often it was met, and the smallest input that shows it."""

    failure: Failure
    case: Any
    times: int = 1


@dataclass
class Outcome:
    """What fuzzing a reader gave."""

    reader: str
    cases: int = 0
    seconds: float = 0.0
    found: dict[str, Found] = field(default_factory=dict)

    def add(self, other: Outcome) -> None:
        """Takes the outcome of other cases of the same reader in."""
        self.cases += other.cases
        self.seconds += other.seconds
        for kind, found in other.found.items():
            if kind in self.found:
                self.found[kind].times += found.times
            else:
                self.found[kind] = found


def smaller(case: Any) -> Iterator[Any]:
    """Inputs that are a little smaller than this one."""
    if isinstance(case, (str, bytes)):
        size = (len(case) + 1) // 2
        while size:
            for start in range(0, len(case), size):
                yield case[:start] + case[start + size :]
            size //= 2
    elif isinstance(case, Inserted):
        yield from (case._replace(content=part) for part in smaller(case.content))
    elif isinstance(case, tuple) and len(case) == 2 and isinstance(case[1], tuple):
        seed, edits = case
        for place in range(len(edits)):
            fewer = (*edits[:place], *edits[place + 1 :])
            yield Edits(seed, fewer) if isinstance(case, Edits) else (seed, fewer)


def minimize(reader: Reader, case: Any, kind: str, guard: Guard) -> Any:
    """The smallest input found that fails in the same way."""
    tries = 0
    shrunk = True
    until = time.monotonic() + _SHRINKING
    while shrunk and tries < _TRIES:
        shrunk = False
        for candidate in smaller(case):
            tries += 1
            failure = guard.attempt(reader.run, candidate)
            if failure is not None and failure.kind == kind:
                case, shrunk = candidate, True
                break
            if tries >= _TRIES or time.monotonic() > until:
                return case
    return case


def fuzz(reader: Reader, cases: int, seed: Any, guard: Guard, chunk: int = 0) -> Outcome:
    """Runs so many cases of one reader.

    Args:
        reader: The reader.
        cases: How many.
        seed: The same seed gives the same cases.
        guard: Judges them.
        chunk: Which of the seed's runs of cases this is.
    """
    reader.run(reader.sound)  # compiles what has to be, and shows that not everything is refused
    random = Random(f"{seed}/{reader.name}/{chunk}")
    outcome = Outcome(reader.name)
    began = time.process_time()
    for number in range(cases):
        case = reader.draw(random)
        if number % 100 == 0:  # for code that heeds no alarm; too dear for every case
            faulthandler.dump_traceback_later(100 * SECONDS, exit=True)
        failure = guard.attempt(reader.run, case)
        outcome.cases += 1
        if failure is None:
            continue
        if failure.kind in outcome.found:
            outcome.found[failure.kind].times += 1
        else:
            small = minimize(reader, case, failure.kind, guard)
            outcome.found[failure.kind] = Found(guard.attempt(reader.run, small) or failure, small)
    faulthandler.cancel_dump_traceback_later()
    outcome.seconds = time.process_time() - began
    return outcome


_mine: tuple[dict[str, Reader], Guard] | None = None
Task = tuple[str, int, int, int]


def _task(task: Task) -> Outcome:
    """Some cases of a reader, in a process that keeps its readers."""
    global _mine
    name, cases, seed, chunk = task
    if _mine is None:
        folder = Path(tempfile.mkdtemp(prefix="job-", dir=os.environ["HEDGEROW_FUZZ_FOLDER"]))
        _mine = readers(folder) | insertions(folder), Guard(folder)
        limit_memory()
    known, guard = _mine
    outcome = fuzz(known[name], cases, seed, guard, chunk)
    for found in outcome.found.values():
        found.case = shown(found.case)  # what is odd enough to fail may not survive the way
    return outcome


def _death(task: Task) -> Outcome:
    """A process died of some cases: runs them one by one, each in a process of its own."""
    name, cases, seed, chunk = task
    folder = Path(tempfile.mkdtemp(prefix="death-", dir=os.environ["HEDGEROW_FUZZ_FOLDER"]))
    reader = (readers(folder) | insertions(folder))[name]
    outcome = Outcome(name, cases)
    random = Random(f"{seed}/{name}/{chunk}")
    for _ in range(cases):
        case = reader.draw(random)
        child = os.fork()
        if child == 0:
            Guard(folder).attempt(reader.run, case)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        if status:
            words = f"the process died (status {status})"
            outcome.found.setdefault(words, Found(Failure(words, words), shown(case)))
    return outcome


def run(waiting: list[Task], jobs: int) -> Iterator[Outcome]:
    """Runs tasks in several processes, and outlives them."""
    spawn = multiprocessing.get_context("spawn")
    while waiting:
        lost = []
        with ProcessPoolExecutor(jobs, spawn) as pool:
            started = {pool.submit(_task, task): task for task in waiting}
            for done in as_completed(started):
                try:
                    yield done.result()
                except BrokenProcessPool:
                    lost.append(started[done])
        lost.sort(key=waiting.index)
        for task in lost[: jobs + 1]:  # the ones that were being worked on
            with ProcessPoolExecutor(1, spawn) as pool:
                yield pool.submit(_death, task).result()
        waiting = lost[jobs + 1 :]


def insertions(folder: Path) -> dict[str, Reader]:
    """All readers once more, each with one more record among others.

    Args:
        folder: A folder for the files of cases.
    """
    return line_readers(folder) | value_readers(folder)


def shown(case: Any) -> str:
    """A case as a program would write it."""
    sys.set_int_max_str_digits(0)
    try:
        return repr(case)
    finally:
        sys.set_int_max_str_digits(4300)


def tasks(known: Iterable[Reader], cases: int, seed: int) -> Iterator[Task]:
    """Shares cases out among readers, in chunks."""
    chosen = list(known)
    total = sum(reader.share for reader in chosen)
    for reader in chosen:
        wanted = max(1, round(cases * reader.share / total))
        for chunk in range(0, wanted, CHUNK):
            yield reader.name, min(CHUNK, wanted - chunk), seed, chunk // CHUNK


def main(words: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=1_000_000, help="how many, over all readers")
    parser.add_argument(
        "--insertions", type=int, default=200_000, help="how many records, over all readers"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reader", default="all", help="the name of one, or all")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args(words)
    shared = Path("/dev/shm")
    room = shared if os.access(shared, os.W_OK) else None
    with (
        ExitStack() as until,
        tempfile.TemporaryDirectory(prefix="hedgerow-fuzz-", dir=room) as folder,
    ):
        os.environ["HEDGEROW_FUZZ_FOLDER"] = folder
        try:
            os.environ[SERVER] = until.enter_context(postgres_server())
        except NoServer as why:
            print(f"PostgreSQL is left out: {why}", file=sys.stderr)
        named = Path(folder) / "names"
        kinds = (readers(named), asked.cases), (insertions(named), asked.insertions)
        known = [name for some, _ in kinds for name in some]
        if asked.reader not in ("all", *known):
            parser.error(f"the readers are: all, {', '.join(known)}")
        began = time.monotonic()
        outcomes = {name: Outcome(name) for name in known if asked.reader in ("all", name)}
        waiting: list[Task] = []
        for some, cases in kinds:
            chosen = [reader for name, reader in some.items() if name in outcomes]
            waiting += tasks(chosen, cases, asked.seed) if cases else ()
        for outcome in run(waiting, asked.jobs):
            outcomes[outcome.reader].add(outcome)
    print(f"{'reader':18}{'cases':>10}{'a second':>10}{'mistakes':>10}")
    for outcome in outcomes.values():
        rate = outcome.cases / max(outcome.seconds, 1e-9)
        print(f"{outcome.reader:18}{outcome.cases:>10,}{rate:>10,.0f}{len(outcome.found):>10}")
    number = sum(outcome.cases for outcome in outcomes.values())
    print(f"{'all':18}{number:>10,}  in {time.monotonic() - began:,.0f} s, seed {asked.seed}")
    for outcome in outcomes.values():
        for found in outcome.found.values():
            print(
                f"\n{outcome.reader}: {found.failure.words} ({found.times} times)\n  {found.case}"
            )
    return 1 if any(outcome.found for outcome in outcomes.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
