"""Long work: a command of hedgerow, as a process of its own that can be stopped.

The server itself opens no private data. What a command finds stays in the memory of the studio
until it ends. A command that is stopped clears away what it has begun; if the studio dies,
the pipe that the command tells its progress through breaks, and it ends likewise.
"""

from __future__ import annotations

import json
import os
import secrets
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from hedgerow.errors import UsageError
from hedgerow.studio.folder import ELSEWHERE, FileArgument, Outside
from hedgerow.surroundings import ONLY_INSIDE

State = Literal["running", "done", "failed", "cancelled"]

_PATIENCE = 10  # seconds that a command has to clear away what it has begun
_MOST = 4  # at a time
_KEPT = 30  # of those that have ended


def command_text(arguments: Sequence[str]) -> str:
    """A command as somebody would type it in the folder.

    Example:
        >>> command_text(["check", "my schema.yaml"])
        "hedgerow check 'my schema.yaml'"
    """
    return shlex.join(["hedgerow", *arguments])


@dataclass(kw_only=True)
class Job:
    """A command that runs or has run.

    Args:
        name: What tells it from others; random, so that nobody can guess it.
        step: The step of the path that it belongs to.
        title: What it does, in words.
        arguments: The command without `hedgerow`.
        then: The page to go to when it is done.
        back: The page that it was begun on.
        clear: Removes what a command that was killed may have left.
        process: The process.
        state: What became of it.
        stopped: Whether somebody wanted it to stop.
        share: How far it is, from 0 to 1.
        words: What it is doing.
        result: What it printed, read as JSON.
        error: What it complained about: a message, a hint and places.
    """

    name: str
    step: str
    title: str
    arguments: tuple[str, ...]
    then: str
    back: str
    clear: Callable[[], None]
    process: subprocess.Popen[str]
    state: State = "running"
    stopped: bool = False
    share: float = 0.0
    words: str = ""
    result: Any = None
    error: dict[str, Any] = field(default_factory=dict)
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def command(self) -> str:
        """The command as somebody would type it."""
        return command_text(self.arguments)


class Jobs:
    """The jobs of a studio.

    Args:
        root: The folder that commands are about.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def start(
        self, arguments: Sequence[str], *, step: str, title: str, then: Callable[[str], str],
        back: str, clear: Callable[[], None] = lambda: None,
    ) -> Job:  # fmt: skip
        """Starts a command.

        Args:
            arguments: The command without `hedgerow`; `--json` is added.
            step: The step of the path.
            title: What it does, in words.
            then: The page to go to when it is done, by the name of the work.
            back: The page that it is begun on.
            clear: Removes what a command that was killed may have left.

        Raises:
            UsageError: If too many run already.
        """
        with self._lock:
            ended = [name for name, job in self._jobs.items() if job.state != "running"]
            if len(self._jobs) - len(ended) >= _MOST:
                hint = "Wait, or cancel something."
                raise UsageError("too much is going on at the same time.", hint=hint)
            for old in ended[:-_KEPT]:
                del self._jobs[old]
            name = secrets.token_urlsafe(12)
            job = Job(
                name=name, step=step, title=title, then=then(name), back=back,
                arguments=tuple(arguments), clear=clear, process=self._process(arguments),
            )  # fmt: skip
            self._jobs[job.name] = job
        threading.Thread(target=_watch, args=(job, f"{self._root}{os.sep}"), daemon=True).start()
        return job

    def _process(self, arguments: Sequence[str]) -> subprocess.Popen[str]:
        words = [str(one.path) if isinstance(one, FileArgument) else one for one in arguments]
        own = {"HEDGEROW_PROGRESS": "lines", "PYTHONUTF8": "1", ONLY_INSIDE: str(self._root)}
        return subprocess.Popen(
            # -P, and another folder: what lies beside the data is neither modules nor settings
            [sys.executable, "-P", "-m", "hedgerow", *words, "--json"],
            cwd=ELSEWHERE, env=os.environ | own, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="replace",
            start_new_session=True,
        )  # fmt: skip

    def find(self, name: str) -> Job:
        """A job by its name.

        Raises:
            Outside: If there is none, such as after a new start.
        """
        job = self._jobs.get(name)
        if job is None:
            raise Outside(
                "this work is not known; it may be from an earlier start of the studio.",
                hint="Go to the first page and begin the step again.",
            )
        return job

    def cancel(self, job: Job) -> None:
        """Stops a job and waits until it has cleared away what it had begun."""
        if job.state != "running":
            return
        job.stopped = True
        _signal(job.process, signal.SIGTERM)
        if not job.ended.wait(_PATIENCE):
            _signal(job.process, getattr(signal, "SIGKILL", signal.SIGTERM))
            job.ended.wait(_PATIENCE)
        job.clear()

    def close(self) -> None:
        """Stops everything."""
        for job in list(self._jobs.values()):
            self.cancel(job)


def _signal(process: subprocess.Popen[str], number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:  # Windows, where a job has no group
            process.terminate()


def _watch(job: Job, beginning: str) -> None:
    """Follows a job to its end, in a thread of its own.

    Args:
        job: The job.
        beginning: How paths in the folder begin, which messages need not repeat.
    """
    printed: list[str] = []
    stdout, stderr = job.process.stdout, job.process.stderr
    assert stdout is not None and stderr is not None
    reader = threading.Thread(target=lambda: printed.append(stdout.read()), daemon=True)
    reader.start()
    for line in stderr:
        _note(job, line.replace(beginning, ""))
    code = job.process.wait()
    reader.join()
    with suppress(ValueError):
        job.result = json.loads("".join(printed).replace(beginning, ""))
    # what was done before it heard that it should stop is done, and what it spent is spent
    job.state = "done" if code == 0 else "cancelled" if job.stopped else "failed"
    if job.state == "failed" and not job.error:
        hint = "Run it in a terminal to see more."
        job.error = {"message": "The command ended in a way it should not.", "hint": hint}
    job.share = 1.0 if job.state == "done" else job.share
    job.ended.set()


def _note(job: Job, line: str) -> None:
    """Takes in a line that a command wrote beside its result: progress, or an error."""
    with suppress(ValueError):  # it may be anything else
        match json.loads(line):
            case {"progress": share, **more}:
                job.share, job.words = float(share), str(more.get("stage", ""))
            case {"error": {**error}}:
                job.error = {key: str(error.get(key) or "") for key in ("message", "hint")}
                job.error["places"] = error.get("places", [])
