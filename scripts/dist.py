"""Builds the wheel and the source distribution, and tries both as a stranger would: `make dist`.

    make dist                                all steps, with the quick tests
    make dist ARGS=--all                     with the whole suite (hours)
    make dist ARGS='--only build types'      some steps

build      Both are built twice from the commit, in two places, and must be the same bytes; they
           hold only files that git knows.
installed  Each is installed with the oldest and with the newest dependencies that it allows, shows
           the demo, and passes the tests of the source distribution (`installed.py`).
types      mypy understands a consumer's script, and refuses a wrong one (`consumer.py`).
extras     Each extra alone brings what it promises; the rest refuses in words (`extras.py`).
bill       A software bill of materials for the core and each extra, and their licenses (`bill.py`).

uv makes the environments, in `.dist`. What was built is in `dist`.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import bill
import consumer
import extras
import installed

ROOT = Path(__file__).resolve().parents[1]
NEEDED = (
    "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md",
    "SECURITY.md", "docs/cli.md", "docs/privacy/guarantee.md", "pyproject.toml",
    "scripts/dist.py", "src/hedgerow/__init__.py", "tests/conftest.py",
)  # fmt: skip
MADE = {"PKG-INFO"}  # by the build
LARGEST = 1_000_000  # bytes
STEPS: dict[str, Callable[[Path, Path, argparse.Namespace], None]] = {
    "installed": installed.main,
    "types": consumer.main,
    "extras": extras.main,
    "bill": bill.main,
}


def problems_of_sdist(sizes: dict[str, int], known: set[str]) -> list[str]:
    """What is wrong with the files of a source distribution, named from its top folder.

    Examples:
        >>> problems_of_sdist({name: 1 for name in NEEDED}, set(NEEDED))
        []
        >>> problems_of_sdist({name: 1 for name in (*NEEDED, "a.ledger")}, set(NEEDED))
        ['a.ledger is not in git']
    """
    wrong = [f"{name} is missing" for name in NEEDED if name not in sizes]
    wrong += [f"{name} is not in git" for name in sorted(sizes.keys() - known - MADE)]
    for folder in ("docs/", "src/", "tests/"):
        listed = {name for name in known if name.startswith(folder)}
        wrong += [f"{name} is missing" for name in sorted(listed - sizes.keys() - set(NEEDED))]
    return wrong + [f"{name} is large" for name, size in sizes.items() if size > LARGEST]


def problems_of_wheel(names: set[str], known: set[str]) -> list[str]:
    """What is wrong with the files of a wheel: it is the package, and notes about it.

    Examples:
        >>> known = {"src/hedgerow/__init__.py", "tests/conftest.py"}
        >>> problems_of_wheel({"hedgerow/__init__.py", "hedgerow-1.dist-info/METADATA"}, known)
        []
        >>> problems_of_wheel({"conftest.py"}, known)
        ['hedgerow/__init__.py is missing', 'conftest.py does not belong there']
    """
    package = {name.removeprefix("src/") for name in known if name.startswith("src/hedgerow/")}
    files = {name for name in names if ".dist-info/" not in name}
    wrong = [f"{name} is missing" for name in sorted(package - files)]
    return wrong + [f"{name} does not belong there" for name in sorted(files - package)]


def run(*command: object, cwd: Path = ROOT, **surroundings: str) -> str:
    """What a command printed; the script ends if it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=cwd, capture_output=True, text=True, env=os.environ | surroundings
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def export(folder: Path) -> Path:
    """The files of the commit, in an empty folder; what is not committed is not built."""
    folder.mkdir(parents=True)
    archive = folder.with_suffix(".tar")
    run("git", "archive", "--output", archive, "HEAD")
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    return folder


def sha256(path: Path) -> str:
    """The hash that pip and people compare."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def build(folder: Path) -> tuple[Path, Path]:
    """Builds both, twice; gives the wheel and the source distribution.

    The second time all that must not matter is different: the folder, the time zone, the order of
    sets, who may read files; and the wheel is built from the files, not from the source
    distribution.
    """
    if run("git", "status", "--porcelain", "--untracked-files=no"):
        print("Not all is committed: what is built is the last commit.")
    epoch = {"SOURCE_DATE_EPOCH": run("git", "log", "-1", "--format=%ct").strip()}
    one, two = folder / "one", folder / "elsewhere" / "two"
    run("uv", "build", "--out-dir", one, cwd=export(folder / "files"), **epoch)
    before = os.umask(0o077)
    other = export(folder / "elsewhere" / "files")
    for kind in ("--wheel", "--sdist"):
        odd = {"TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "7", "LC_ALL": "C"}
        run("uv", "build", kind, "--out-dir", two, cwd=other, **epoch, **odd)
    os.umask(before)
    (wheel,), (sdist,) = one.glob("*.whl"), one.glob("*.tar.gz")
    for path in (wheel, sdist):
        if sha256(path) != sha256(two / path.name):
            sys.exit(f"Two builds of {path.name} differ: {path} and {two / path.name}")
    return wheel, sdist


def look_into(wheel: Path, sdist: Path) -> None:
    """Ends the script if a file is missing or does not belong there."""
    known = set(run("git", "ls-tree", "-r", "--name-only", "HEAD").splitlines())
    with tarfile.open(sdist) as archive:
        sizes = {m.name.partition("/")[2]: m.size for m in archive if m.isfile()}
    with zipfile.ZipFile(wheel) as files:
        names = set(files.namelist())
    wrong = [f"{sdist.name}: {text}" for text in problems_of_sdist(sizes, known)]
    wrong += [f"{wheel.name}: {text}" for text in problems_of_wheel(names, known)]
    if wrong:
        sys.exit("\n".join(wrong))


def main() -> None:
    """Builds into dist/, and ends with an error if anything is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--all", action="store_true", help="run the whole suite")
    parser.add_argument("--only", nargs="+", choices=["build", *STEPS], help="these steps only")
    parser.add_argument("--jobs", type=int, default=2, help="processes for tests (default 2)")
    given = parser.parse_args()
    folder = ROOT / ".dist"
    run("rm", "-rf", folder, ROOT / "dist")
    wheel, sdist = build(folder / "built")
    look_into(wheel, sdist)
    (ROOT / "dist").mkdir()
    for path in (wheel, sdist):
        (ROOT / "dist" / path.name).write_bytes(path.read_bytes())
        print(f"{sha256(path)}  dist/{path.name}")
    print("Two builds of each are the same bytes.", flush=True)
    for name, step in STEPS.items():
        if not given.only or name in given.only:
            print(f"\n== {name}", flush=True)
            step(wheel, sdist, given)


if __name__ == "__main__":
    main()
