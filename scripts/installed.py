"""Tries a distribution where nothing else is installed: `make dist`.

Both are installed with the oldest and with the newest dependencies that they allow, show the demo,
and must have put the same files there. So tests run once for each of the two: those of the source
distribution, in the folder that it was unpacked to, against the installed package.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESOLUTIONS = {"lowest": "lowest-direct", "latest": "highest"}
# Those of `make test-fast`, but for doctests, which are read where the package is installed.
QUICK = (
    "tests/unit",
    *(f"tests/contracts/test_{name}.py" for name in ("import_law", "lints", "structure")),
)


def environment(folder: Path, *wanted: str, resolution: str = "latest") -> Path:
    """The Python of a new environment that holds what is wanted; the script ends without it."""
    python = folder / "bin" / "python"
    # An old version without a wheel for this Python is passed over, not compiled.
    wheels = ["--only-binary", ":all:"]
    if not any(".whl" in word for word in wanted):
        wheels += ["--no-binary", "hedgerow"]
    for step in (
        ["venv", "--clear", "--python", sys.executable, folder],
        ["pip", "install", "--python", python, *wheels, "--resolution", RESOLUTIONS[resolution],
         *wanted],
    ):  # fmt: skip
        done = subprocess.run(["uv", "--quiet", *step], cwd=ROOT)
        if done.returncode:
            sys.exit(f"{wanted[0]}, {resolution} dependencies: not installed")
    return python


def clean() -> dict[str, str]:
    """The surroundings of a command that must not see this checkout, and keeps what it compiles."""
    dropped = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}
    return {name: text for name, text in os.environ.items() if name not in dropped}


def show(python: Path, folder: Path) -> None:
    """The demo: what `make demo` shows, and that both releases verify."""
    folder.mkdir()
    people = ("people.csv", "--schema", "schema.yaml", "--method", "diffmulti")
    for words in (
        ("hedgerow.sample", "."),
        ("hedgerow", "publish", *people, "--epsilon", "1", "--out", "release"),
        ("hedgerow", "show", "release", "--plot", "release.png"),
        ("hedgerow", "publish", "baskets.dat", "--schema", "baskets.yaml", "--epsilon", "1",
         "--out", "shop"),
        ("hedgerow", "show", "shop"),
        ("hedgerow", "report", "release", "--out", "report.html"),
        ("hedgerow", "verify", "release"),
        ("hedgerow", "verify", "shop"),
    ):  # fmt: skip
        done = subprocess.run(
            [python, "-m", *words], cwd=folder, env=clean(), capture_output=True, text=True
        )
        if done.returncode:
            sys.exit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")


def printed(python: Path, code: str, cwd: Path) -> str:
    """What some code prints there."""
    return subprocess.check_output([python, "-c", code], cwd=cwd, env=clean(), text=True).strip()


def place_of(python: Path, cwd: Path) -> Path:
    """The folder of the package that this Python imports."""
    code = "import hedgerow, pathlib; print(pathlib.Path(hedgerow.__file__).parent)"
    return Path(printed(python, code, cwd))


def digest(package: Path) -> str:
    """One hash over the names and the bytes of the files of a package."""
    total = hashlib.sha256()
    for path in sorted(package.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            total.update(f"{path.relative_to(package)}\0".encode())
            total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def run_tests(python: Path, source: Path, jobs: int, everything: bool) -> None:
    """Runs tests in an unpacked source distribution; the script ends if one fails."""
    package = place_of(python, source)
    if python.parents[1] not in package.parents:
        sys.exit(f"{python} imports hedgerow from {package}, which is not where it was installed.")
    # The folder of the tests is named, since the package that is tested lies outside of it.
    command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", "-c", "pyproject.toml"]
    command += ["--rootdir", ".", "-n", str(jobs), "--dist", "loadfile", "-W", "default"]
    command += [str(package), *(("tests",) if everything else QUICK)]
    if not everything:
        command += ["-m", "not long and not slow"]
    kernels = {"NUMBA_CACHE_DIR": str(python.parents[1] / "numba")}
    if subprocess.run(command, cwd=source, env=clean() | kernels).returncode:
        sys.exit("Tests of the installed package fail.")


def main(wheel: Path, sdist: Path, given: argparse.Namespace) -> None:
    """Tries the wheel and the source distribution."""
    folder = wheel.parents[2]
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    # Named themselves, since for uv what a wheel needs is not needed directly.
    direct = ("-r", f"{source}/pyproject.toml", "--extra", "plot", "--extra", "test")
    for resolution in RESOLUTIONS:
        digests = set()
        for kind, path in (("wheel", wheel), ("sdist", sdist)):
            name = f"{kind}-{resolution}"
            wanted = (f"{path}[plot,test]", *direct)
            python = environment(folder / name, *wanted, resolution=resolution)
            show(python, folder / f"{name}-demo")
            digests.add(digest(place_of(python, folder)))
            numpy = printed(python, "import numpy; print(numpy.__version__)", folder)
            print(f"{name}: installs, publishes and verifies, with NumPy {numpy}", flush=True)
        if len(digests) != 1:
            sys.exit("The wheel and the source distribution install different files.")
        run_tests(python, source, given.jobs, given.all)
