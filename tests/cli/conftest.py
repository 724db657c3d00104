from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import hedgerow
from hedgerow import sample
from hedgerow.cli import app


@pytest.fixture
def hedge() -> Callable[..., Any]:
    """Runs a command in this process; gives exit_code, stdout and stderr."""
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def child(processes: Any, tmp_path: Path) -> Callable[..., tuple[int, str, str]]:
    """Runs a program in a process of its own; gives its exit code, stdout and stderr."""

    def run(program: str, *words: object) -> tuple[int, str, str]:
        told = [tmp_path.with_name(f"{tmp_path.name}-{name}") for name in ("stdout", "stderr")]
        begin = (
            "import os, signal, sys\n"
            # in the background of a shell it is ignored, and a process takes that over
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
            f"for number, path in enumerate({[str(path) for path in told]}, start=1):\n"
            "    os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)\n"
            f"sys.argv = ['hedgerow', *{[str(word) for word in words]}]\n"
        )
        one = processes.Process(target=exec, args=(begin + program, {}))
        one.start()
        one.join()
        return one.exitcode, *(path.read_text("utf-8") for path in told)

    return run


@pytest.fixture(scope="session")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the embedded sample and its schema."""
    folder = tmp_path_factory.mktemp("survey")
    sample.write(folder, rows=1500, seed=5)
    return folder


@pytest.fixture(scope="session")
def published(survey: Path) -> Path:
    """A private release of the sample."""
    schema = hedgerow.Schema.load(survey / "schema.yaml")
    release = hedgerow.publish(survey / "people.csv", schema, hedgerow.DiffMulti(), epsilon=1)
    release.save(survey / "published")
    return survey / "published"
