"""What is marked NOT PRIVATE is written so that nobody but its owner may read it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
import typer

import hedgerow
from hedgerow import sample
from hedgerow.cli import COMMANDS, app
from hedgerow.cli.commands.verify_audit_ledger import ledger

Hedge = Callable[..., Any]

WRITES = ("out", "plot", "record", "catalog")
"""Options that name a file to write."""
OTHER_FILES = {
    "schema",
    "release",
    "releases",
    "ledger",
    "scratch",
    "side",
    "file",
    "files",
    "folder",
}
"""Options that name a file to read, or a folder."""

# Commands for the holder alone: what each writes, made from private data or from a seeded release.
HOLDER: dict[str, tuple[str, ...]] = {
    "draft.yaml": ("init", "people.csv", "--no-questions", "--out"),
    "numbers.json": ("evaluate", "people.csv", "safe", "--quick", "--out"),
    "raw.html": ("report", "safe", "--raw", "people.csv", "--quick", "--out"),
    "seeded.html": ("report", "seeded", "--out"),
    "compared.html": ("compare", "safe", "seeded", "--raw", "people.csv", "--out"),
    "dossier.html": ("dossier", "seeded", "--out"),
    "seeded.png": ("show", "seeded", "--plot"),
    "public.svg": (
        "plan", "--schema", "schema.yaml", "--method", "diffmulti",
        "--simulate", "--public", "people.csv", "--runs", "1",
        "--epsilons", "1", "--plot",
    ),
    "accuracy.svg": (
        "plan", "--schema", "schema.yaml", "--method", "diffmulti",
        "--accuracy", "count of 500 within 60%", "--public",
        "people.csv", "--runs", "2", "--plot",
    ),
    "answers.csv": ("query", "seeded", "age < 40", "--out"),
    "table.csv": ("table", "seeded", "smoker", "--out"),
    "tables.xlsx": ("table", "seeded", "--out"),
    "rows.csv": ("sample", "seeded", "--out"),
}  # fmt: skip

# The same from a release that anybody may read.
RECIPIENT: dict[str, tuple[str, ...]] = {
    "page.html": ("report", "safe", "--out"),
    "page.png": ("show", "safe", "--plot"),
    "simulated.svg": (
        "plan", "--schema", "schema.yaml", "--method", "diffmulti",
        "--simulate", "--rows", "500", "--runs", "1",
        "--epsilons", "1", "--plot",
    ),
    "public.html": ("compare", "safe", "safer", "--out"),
    "public-dossier.md": ("dossier", "safe", "--out"),
    "record.yaml": ("dossier", "safe", "--published", "2026-01-31", "--record"),
    "tables.zip": ("dossier", "safe", "--published", "2026-01-31", "--catalog"),
    "public-answers.csv": ("query", "safe", "age < 40", "--out"),
    "public-table.csv": ("table", "safe", "smoker", "--out"),
    "public-rows.csv": ("sample", "safe", "--out"),
    "taxonomy.yaml": ("taxonomy", "us-states", "--to", "yaml", "--out"),
}  # fmt: skip

# They write folders, or nothing about data.
OTHERS = {"publish", "clusters", "audit", "ledger"}


@pytest.fixture(scope="module")
def holder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("holder")
    sample.write(folder, rows=600, seed=5)
    people, schema = folder / "people.csv", folder / "schema.yaml"
    for name, seed in (("safe", None), ("safer", None), ("seeded", 7)):
        hedgerow.publish(people, schema, hedgerow.DiffMulti(), epsilon=1, seed=seed).save(
            folder / name
        )
    return folder


@pytest.fixture(autouse=True)
def open_to_all(holder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever is not closed on purpose can be read by everybody."""
    monkeypatch.chdir(holder)
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: str) -> int:
    return stat.S_IMODE(Path(path).stat().st_mode)


@pytest.mark.parametrize("name", HOLDER)
def test_files_for_the_holder_are_closed(hedge: Hedge, name: str) -> None:
    if name.endswith((".png", ".svg")):
        pytest.importorskip("matplotlib")
    if HOLDER[name][0] in ("evaluate", "compare"):
        pytest.importorskip("sklearn")
    Path(name).write_text("before", encoding="utf-8")  # a file that was open stays so no longer
    Path(name).chmod(0o644)
    done = hedge(*HOLDER[name], name, "--overwrite")
    assert done.exit_code == 0, done.stderr
    assert mode(name) == 0o600, done.stdout


@pytest.mark.parametrize("name", RECIPIENT)
def test_files_for_recipients_are_open(hedge: Hedge, name: str) -> None:
    if name.endswith((".png", ".svg")):
        pytest.importorskip("matplotlib")
    done = hedge(*RECIPIENT[name], name, "--overwrite")
    assert done.exit_code == 0, done.stderr
    assert mode(name) == 0o644
    assert b"NOT PRIVATE" not in Path(name).read_bytes()


@pytest.mark.parametrize("seed, expected", [([], 0o755), (["--seed", "7"], 0o700)])
def test_a_seeded_release_is_closed(hedge: Hedge, seed: list[str], expected: int) -> None:
    words = ["people.csv", "--schema", "schema.yaml", "--epsilon", "1", "--method", "diffmulti"]
    done = hedge("publish", *words, *seed, "--out", "fresh", "--overwrite")
    assert done.exit_code == 0, done.stderr
    assert mode("fresh") == expected


def test_every_command_that_writes_a_file_is_tried() -> None:
    """One that is new has to be put into one of the lists above."""
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    writing = {
        (name, option)
        for name, command in commands.items()
        for option in (one.name for one in command.params)
        if option in WRITES
    }
    tried = {(words[0], words[-1].lstrip("-")) for words in (HOLDER | RECIPIENT).values()}
    assert {pair for pair in writing if pair[0] not in OTHERS} == tried
    places = set()
    for function in set(COMMANDS) - {ledger}:  # which has commands of its own
        hints = get_type_hints(function)
        places |= {option for option, hint in hints.items() if Path in (hint, *get_args(hint))}
    assert places - OTHER_FILES == {*WRITES}
    assert {name for name in commands} > OTHERS and len(COMMANDS) == len(commands)
