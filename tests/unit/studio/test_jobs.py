"""Commands as processes: what becomes of their progress, results, errors and leftovers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hedgerow.errors import UsageError
from hedgerow.studio.first_rows import look
from hedgerow.studio.folder import argument
from hedgerow.studio.jobs import Jobs


def named(folder: Path, name: str) -> str:
    return argument(folder, folder / name)


WORDS: dict[str, Any] = {"step": "check", "title": "Checking", "then": lambda _: "/", "back": "/"}


def test_a_result_is_read_and_progress_heard(folder: Path) -> None:
    jobs = Jobs(folder)
    job = jobs.start(
        ["check", named(folder, "clinic.yaml"), "--data", named(folder, "people.csv")], **WORDS
    )
    assert job.ended.wait(600)
    assert job.state == "done", job.error
    assert job.result["preparation"]["rows"] == 400
    assert job.share == 1.0


def test_an_error_is_told_in_the_commands_own_words(folder: Path) -> None:
    (folder / "people.csv").write_text("patient,age,town,ill\np,1,Elsewhere,yes\n", "utf-8")
    job = Jobs(folder).start(
        ["check", named(folder, "clinic.yaml"), "--data", named(folder, "people.csv")], **WORDS
    )
    assert job.ended.wait(600)
    assert job.state == "failed"
    assert "town" in job.error["message"] and "Elsewhere" not in job.error["message"]
    assert str(folder) not in job.error["message"]


def test_modules_in_the_folder_are_not_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("hedgerow.py", "json.py", "numpy.py", "typer.py"):
        (folder / name).write_text("raise SystemExit('caught')\n", encoding="utf-8")
    job = Jobs(folder).start(["check", named(folder, "clinic.yaml")], **WORDS)
    assert job.ended.wait(600)
    assert job.state == "done", job.error
    monkeypatch.chdir(folder)
    assert look({"path": str(folder / "people.csv")})[0] == ["patient", "age", "town", "ill"]


def test_settings_in_the_folder_are_not_followed(folder: Path) -> None:
    """Whatever a package may look for in the current folder: jobs run somewhere else."""
    (folder / "people.csv").unlink()
    os.mkfifo(folder / "people.csv")  # it waits for somebody to write
    job = Jobs(folder).start(
        ["check", named(folder, "clinic.yaml"), "--data", named(folder, "people.csv")], **WORDS
    )
    try:
        assert Path(f"/proc/{job.process.pid}/cwd").resolve() == Path("/")
    finally:
        os.killpg(job.process.pid, signal.SIGKILL)
    assert job.ended.wait(600)


def test_a_job_that_is_killed_fails_and_leaves_nothing(folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    files = [named(folder, name) for name in ("people.csv", "clinic.yaml", "release")]
    arguments = ["publish", files[0], "--schema", files[1], "--epsilon", "1", "--out", files[2]]
    job = Jobs(folder).start(arguments, **WORDS)
    os.killpg(job.process.pid, signal.SIGKILL)
    assert job.ended.wait(600)
    assert job.state == "failed"
    assert job.error["message"]
    assert sorted(folder.rglob("*")) == before


def test_what_was_done_when_it_was_cancelled_is_not_called_cancelled(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A release that was just written has been paid for, and is there."""
    program = (
        "import signal, sys\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(int(sys.argv[1])))\n"
        "print('{\"progress\": 0.5}', file=sys.stderr, flush=True)\n"
        "while True: signal.pause()\n"
    )
    jobs, ends = Jobs(folder), {}
    for code in ("0", "1"):
        process = subprocess.Popen(
            [sys.executable, "-c", program, code], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, start_new_session=True,
        )  # fmt: skip
        monkeypatch.setattr(jobs, "_process", lambda _, process=process: process)
        job = jobs.start([], **WORDS)
        while job.share != 0.5:
            assert not job.ended.wait(0.01)
        jobs.cancel(job)
        ends[code] = job.state
    assert ends == {"0": "done", "1": "cancelled"}


def test_not_everything_runs_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hedgerow.studio.jobs._MOST", 1)
    jobs = Jobs(folder)
    job = jobs.start(["check", named(folder, "clinic.yaml")], **WORDS)
    with pytest.raises(UsageError, match="too much"):
        jobs.start(["check", named(folder, "clinic.yaml")], **WORDS)
    jobs.close()
    assert job.ended.is_set()


def test_progress_is_told_as_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from hedgerow.cli.display.terminal import progress

    monkeypatch.setenv("HEDGEROW_PROGRESS", "lines")
    with progress("Publishing") as bar:
        tell: Any = bar
        for share in (0.1, 0.101, 0.2):
            tell(share)
        tell.stage("level 2")
    assert capsys.readouterr().err.splitlines() == [
        '{"progress": 0.1, "stage": ""}',
        '{"progress": 0.2, "stage": ""}',
        '{"progress": 0.2, "stage": "level 2"}',
    ]


def test_a_command_ends_when_nobody_hears_it_any_more(folder: Path) -> None:
    """As when the studio is killed: nothing is published that nobody waits for."""
    before = sorted(folder.rglob("*"))
    jobs = Jobs(folder)
    files = [named(folder, name) for name in ("people.csv", "clinic.yaml", "release")]
    arguments = ["publish", files[0], "--schema", files[1], "--epsilon", "1", "--out", files[2]]
    process = jobs._process(arguments)
    assert process.stderr is not None and process.stdout is not None
    process.stderr.close()
    process.stdout.close()
    assert process.wait(600) != 0
    assert sorted(folder.rglob("*")) == before
