"""The import law: a package imports only from packages above it, wherever the import stands."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "hedgerow"
PACKAGES = [
    "errors",
    "arrays",  # types of arrays
    "surroundings",  # what lies in the current folder is neither settings nor modules
    "compiled",  # loops that are compiled where data is large
    "registry",  # names and import paths of methods and scores
    "suggestions",  # answers to wrong names, arguments and types
    "disk",  # locks and reserved space on a disk, for scratch files, ledgers and releases
    "schema",
    "sample",  # the embedded sample: a simulated table that knows its schema and nothing else
    "optimize",  # lattices of generalizations: mathematics on public numbers
    "data",
    "draft",  # schemas proposed from private data, and data checked against them
    "counting",
    "privacy",
    "ledger",  # what all releases of a data set cost together
    "store",  # folders, files and frames
    "estimate",  # what was measured, as plain values, and what is made of it
    "release",
    "verification",
    "methods",
    "sklearn",  # releases as estimators of scikit-learn
    "audit",  # attacks on methods, with simulated tables
    "extend",  # what authors of methods need, gathered
    "evaluation",
    "present",  # what is said of a release; raw data only by way of what `evaluation` made of it
    "studio",  # the local web app: calls the library, and runs commands as processes
    "cli",
]
# not in the picture
SMALL = {
    "errors",
    "arrays",
    "surroundings",
    "compiled",
    "registry",
    "suggestions",
    "disk",
    "sample",
    "sklearn",
    "extend",
}
FACADE = {"__init__", "__main__"}  # may know every package


def package_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@cache
def imported_packages(text: str) -> list[tuple[int, str]]:
    """The packages a module imports, each with the line; hedgerow itself is one, too."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(text)):
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
    here = PACKAGES.index(package_of(path))
    allowed = set(PACKAGES[: here + 1]) | {"__version__"}
    if PACKAGES[here] == "cli":
        allowed.add("hedgerow")  # the command uses the library as its users do
    return [
        f"{path}:{line}: {package_of(path)} imports {package}"
        for line, package in imported_packages(text)
        if package not in allowed
    ]


MODULES = [path for path in sorted(SOURCE.rglob("*.py")) if package_of(path) not in FACADE]


def test_a_package_imports_only_from_packages_above() -> None:
    for path in MODULES:
        assert breaches(path, path.read_text(encoding="utf-8")) == []


def test_the_wheel_knows_nothing_of_the_papers() -> None:
    for path in SOURCE.rglob("*.py"):
        assert not re.search(r"^\s*(from|import) papers\b", path.read_text("utf-8"), re.MULTILINE)


def test_every_package_is_known() -> None:
    assert {package_of(path) for path in MODULES} <= set(PACKAGES)


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


def test_the_public_packages_know_no_private_data() -> None:
    """What a recipient opens needs no engine and no mechanism."""
    for path in MODULES:
        if package_of(path) == "release":
            found = {package for _, package in imported_packages(path.read_text("utf-8"))}
            assert not found & {"counting", "privacy", "methods"}, path


def test_verify_shares_no_code_with_methods() -> None:
    """Not even by way of what it imports: a release is verified, and no method was loaded."""
    for path in MODULES:
        if package_of(path) == "verification":
            found = {name for _, name in imported_packages(path.read_text("utf-8"))}
            assert not found & {"counting", "privacy", "methods"}, path
    code = (
        "import sys\n"
        "from hedgerow.registry import OURS, load\n"
        "import hedgerow.verification\n"
        "for method in OURS.values():\n"
        "    assert load(method.rules)\n"
        "loaded = [name for name in sys.modules if name.startswith('hedgerow.methods')]\n"
        "sys.exit(', '.join(loaded) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


PAGE = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")
PICTURES = re.findall(r"```mermaid\n(.*?)```", PAGE, flags=re.DOTALL)


def test_the_page_lists_the_packages_in_order() -> None:
    listed = re.findall(r"^\| `(\w+)(?:\.py|/)` \|", PAGE, flags=re.MULTILINE)
    assert listed == PACKAGES


def test_arrows_between_packages_are_imports() -> None:
    """An arrow from a to b says that b imports a."""
    arrows = re.findall(r"^  (\w+) --> (\w+)$", PICTURES[0], flags=re.MULTILINE)
    assert {name for arrow in arrows for name in arrow} == set(PACKAGES) - SMALL
    for above, below in arrows:
        assert any(
            above == package
            for path in MODULES
            if package_of(path) == below
            for _, package in imported_packages(path.read_text("utf-8"))
        ), (above, below)


def test_the_way_of_a_record_names_what_is_there() -> None:
    steps = re.findall(r'\["([\w.]+)"\]', PICTURES[1])
    assert len(steps) >= 8
    for step in steps:
        parts = step.split(".")
        last = next(n for n, part in enumerate(parts) if part[0].isupper() or n == len(parts) - 1)
        thing = import_module(".".join(["hedgerow", *parts[:last]]))
        for part in parts[last:]:
            thing = getattr(thing, part)
        assert callable(thing)
