"""The law of the house: a room imports only from rooms above it, wherever the import stands."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "hedgerow"
ROOMS = [
    "errors",
    "settings",  # one check of types, for whatever has settings
    "disk",  # locks and room on a disk, for scratch files, ledgers and releases
    "schema",
    "sample",  # the embedded sample: a made-up table that knows its schema and nothing else
    "optimise",  # lattices of generalisations: mathematics on public numbers
    "table",
    "counting",
    "privacy",
    "store",  # folders, files and frames
    "measured",  # regions, itemsets, marginals and noisy measurements, as plain values
    "estimate",
    "release",
    "verification",
    "publish",
    "audit",  # attacks on methods, with simulated tables
    "evaluate",
    "experiments",  # papers' figures and baselines: only the command may know them
    "report",  # pages about a release; with raw data only by way of what `evaluate` made of it
    "cli",
]
FACADE = {"__init__", "__main__"}  # may know every room


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(tree: ast.AST) -> list[tuple[int, str]]:
    """The rooms a module imports, each with the line; the package itself counts as `hedgerow`."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: write imports in full"
            names = [node.module or ""]
            if node.module == "hedgerow":
                names = [f"hedgerow.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "hedgerow":
                found.append((node.lineno, parts[1] if len(parts) > 1 else "hedgerow"))
    return found


def breaches(path: Path, text: str) -> list[str]:
    here = ROOMS.index(room_of(path))
    allowed = set(ROOMS[: here + 1]) | {"__version__"}
    if ROOMS[here] == "cli":
        allowed.add("hedgerow")  # the command uses the library as its users do
    return [
        f"{path}:{line}: {room_of(path)} imports {room}"
        for line, room in imported_rooms(ast.parse(text))
        if room not in allowed
    ]


MODULES = [path for path in sorted(SOURCE.rglob("*.py")) if room_of(path) not in FACADE]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_room_imports_only_from_rooms_above(path: Path) -> None:
    assert breaches(path, path.read_text(encoding="utf-8")) == []


def test_every_package_is_a_known_room() -> None:
    assert {room_of(path) for path in MODULES} <= set(ROOMS)


@pytest.mark.parametrize(
    "line",
    [
        "from hedgerow.cli import app",
        "import hedgerow",
        "def f():\n    from hedgerow import publish",
        "import hedgerow.release.files",
    ],
)
def test_the_law_can_be_broken(line: str) -> None:
    assert breaches(SOURCE / "privacy" / "ledger.py", line)


def test_the_public_rooms_know_no_private_data() -> None:
    """What a recipient opens needs no engine and no mechanism."""
    for path in MODULES:
        if room_of(path) == "release":
            rooms = {room for _, room in imported_rooms(ast.parse(path.read_text("utf-8")))}
            assert not rooms & {"counting", "privacy", "publish"}, path
