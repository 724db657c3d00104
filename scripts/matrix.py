"""Runs the tests on every Python from the oldest that is supported, with old and new dependencies.

    make matrix                                        every Python, the whole suite
    make matrix ARGS=--quick                           a few minutes each
    make matrix ARGS='--quick --python 3.11 --resolution lowest'

`lowest` installs the oldest versions that pyproject.toml allows and that have a wheel, `latest` the
newest. uv makes the environments, in `.matrix`, and fetches a Python that is not on this machine.
One that cannot be had is reported and passed over, unless it was named.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NEWEST = 14  # Python 3.NEWEST is the last one tried
RESOLUTIONS = {"lowest": "lowest-direct", "latest": "highest"}
# What touches the dependencies most: inputs and frames, files, and the command.
QUICK = ("tests/unit/data", "tests/unit/release", "tests/cli/test_cli_publish.py")


def supported() -> list[str]:
    """The Pythons from the oldest that pyproject.toml allows to the newest known."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = int(project["requires-python"].removeprefix(">=3."))
    return [f"3.{minor}" for minor in range(oldest, NEWEST + 1)]


def find_python(version: str) -> str:
    """An interpreter of this version: on the path, or pyenv's; otherwise uv is to fetch one."""
    on_path = shutil.which(f"python{version}")
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = sorted(pyenv.glob(f"{version}.*/bin/python{version}"))
    for candidate in [on_path, *map(str, reversed(found))]:
        if candidate and not subprocess.run([candidate, "-c", ""], capture_output=True).returncode:
            return candidate
    return version


def make(folder: Path, python: str, resolution: str, *wanted: str) -> str:
    """Makes an environment with what is wanted; gives what went wrong, or ''."""
    # An old version without a wheel for this Python is passed over, not compiled.
    wheels = ["--only-binary", ":all:"]
    if not any(".whl" in word for word in wanted):
        wheels += ["--no-binary", "hedgerow"]
    install = ["uv", "pip", "install", "--quiet", "--python", str(folder / "bin" / "python")]
    install += [*wheels, "--resolution", RESOLUTIONS[resolution], *wanted]
    for step, problem in (
        (["uv", "venv", "--quiet", "--clear", "--python", python, str(folder)], "no such Python"),
        (install, "not installed"),
    ):
        done = subprocess.run(step, cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            print(done.stderr.strip(), file=sys.stderr)
            return problem
    return ""


def run_tests(folder: Path, quick: bool, jobs: int) -> bool:
    """Whether the tests pass there."""
    # Compiled kernels are kept apart, as environments with the same Python would overwrite them.
    places = {"NUMBA_CACHE_DIR": str(folder / "numba")}
    command = [str(folder / "bin" / "python"), "-m", "pytest", "-p", "no:cacheprovider"]
    # What other versions of a library warn about is no mistake of ours.
    command += ["-n", str(jobs), "--dist", "loadfile", "-W", "default", *(QUICK if quick else ())]
    return not subprocess.run(command, cwd=ROOT, env=os.environ | places).returncode


def main() -> None:
    """Goes through the list and says at the end how each fared."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="only the tests named in QUICK")
    parser.add_argument("--python", nargs="+", metavar="3.X", help="these versions only")
    parser.add_argument("--resolution", choices=RESOLUTIONS, help="one of the two only")
    parser.add_argument("--jobs", type=int, default=2, help="processes per run (default 2)")
    parser.add_argument("--folder", type=Path, default=ROOT / ".matrix", help="for environments")
    given = parser.parse_args()
    resolutions = [given.resolution] if given.resolution else list(RESOLUTIONS)
    outcomes: dict[str, str] = {}
    for version in given.python or supported():
        python = find_python(version)
        for resolution in resolutions:
            name = f"{version} {resolution}"
            print(f"\n== Python {name}", flush=True)
            folder = given.folder.resolve() / f"{version}-{resolution}"
            outcomes[name] = make(folder, python, resolution, "--editable", ".[plot,test]") or (
                "passed" if run_tests(folder, given.quick, given.jobs) else "failed"
            )
    print()
    for name, outcome in outcomes.items():
        print(f"Python {name:<12} {outcome}")
    fine = {"passed"} if given.python else {"passed", "no such Python"}
    sys.exit(not {"passed"} <= set(outcomes.values()) <= fine)


if __name__ == "__main__":
    main()
