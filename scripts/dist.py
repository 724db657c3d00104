"""Builds the source distribution and the wheel, looks into both, and tries the wheel: `make dist`.

Both may hold only files that git knows: nothing generated or private. The wheel is installed in an
empty environment, with its dependencies, and publishes the embedded sample there.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NEEDED = (
    "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md",
    "SECURITY.md", "docs/cli.md", "docs/privacy/guarantee.md", "pyproject.toml",
    "scripts/dist.py", "src/hedgerow/__init__.py", "tests/conftest.py",
)  # fmt: skip
MADE = {"PKG-INFO"}  # by the build
LARGEST = 1_000_000  # bytes


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


def run(*command: object) -> str:
    """What a command printed; the script ends if it fails."""
    done = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def try_wheel(wheel: Path, folder: Path) -> None:
    """Installs a wheel in an empty environment, publishes the sample and verifies the release."""
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    hedgerow = python.with_name("hedgerow")
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    print(run(hedgerow, "--version").strip())
    run(python, "-m", "hedgerow.sample", folder, "--rows", 1000)
    data = (folder / "people.csv", "--schema", folder / "schema.yaml")
    run(hedgerow, "publish", *data, "--epsilon", 1, "--out", folder / "release")
    run(hedgerow, "verify", folder / "release")
    print("The wheel installs, publishes and verifies.")


def main() -> None:
    """Builds into dist/, and ends with an error if anything is wrong."""
    known = set(run("git", "ls-files").splitlines())
    with tempfile.TemporaryDirectory() as made:
        # by default the wheel is built from the source distribution, which is so tried as well
        run(sys.executable, "-m", "build", "--outdir", made)
        (sdist,), (wheel,) = Path(made).glob("*.tar.gz"), Path(made).glob("*.whl")
        with tarfile.open(sdist) as archive:
            sizes = {m.name.partition("/")[2]: m.size for m in archive if m.isfile()}
        with zipfile.ZipFile(wheel) as archive:
            names = set(archive.namelist())
        wrong = [f"{sdist.name}: {text}" for text in problems_of_sdist(sizes, known)]
        wrong += [f"{wheel.name}: {text}" for text in problems_of_wheel(names, known)]
        if wrong:
            sys.exit("\n".join(wrong))
        with tempfile.TemporaryDirectory() as folder:
            try_wheel(wheel, Path(folder))
        (ROOT / "dist").mkdir(exist_ok=True)
        for path in (sdist, wheel):
            path.replace(ROOT / "dist" / path.name)
            print(f"dist/{path.name}")


if __name__ == "__main__":
    main()
