"""The tests on every Python that is supported, with the oldest and the newest dependencies.

    make matrix                                          every Python, the whole suite
    make matrix ARGS='-- tests/unit/data tests/cli'      these tests alone
    make matrix ARGS='-s "tests-3.11(lowest)"'           one of them

`lowest` installs the oldest versions that pyproject.toml allows and that have a wheel, `latest` the
newest. A Python that is not on this machine and cannot be fetched is reported and passed over.
"""

import os
from pathlib import Path

import nox

NEWEST = "3.14"  # the last Python that is tried
PYTHONS = nox.project.python_versions(nox.project.load_toml("pyproject.toml"), max_version=NEWEST)
FOLDER = Path(__file__).with_name(".matrix")

nox.options.envdir = str(FOLDER)
nox.options.default_venv_backend = "uv"
# pyenv shows one of its Pythons at a time
PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
os.environ["PATH"] += "".join(f":{place}" for place in sorted(PYENV.glob("*/bin"), reverse=True))


@nox.session(python=PYTHONS)
@nox.parametrize("resolution", ["lowest-direct", "highest"], ids=["lowest", "latest"])
def tests(session: nox.Session, resolution: str) -> None:
    """Installs hedgerow and runs the tests."""
    # An old version without a wheel for this Python is passed over, not compiled.
    wheels = ["--only-binary", ":all:", "--no-binary", "hedgerow"]
    session.install(*wheels, "--resolution", resolution, "--editable", ".[plot,test]")
    # Compiled kernels are kept apart, as environments with the same Python would overwrite them.
    places = {"NUMBA_CACHE_DIR": str(FOLDER / "numba" / session.name)}
    # What other versions of a library warn about is no mistake of ours.
    options = ["-p", "no:cacheprovider", "-n", "2", "--dist", "loadfile", "-W", "default"]
    session.run("pytest", *options, *session.posargs, env=places)
