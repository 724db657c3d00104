"""Nothing in a folder of data is run or followed, whatever it is called."""

from __future__ import annotations

import http.client
import json
import os
import pickle
import secrets
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from pyarrow import parquet

from hedgerow import sample
from hedgerow.compiled import kernel

COMMAND = Path(sys.executable).parent / "hedgerow"

# Makes numba say where it would look for what it has compiled, and puts something else there.
FORGE = """
import pathlib, pickle, pkgutil, sys, importlib
from numba.core.caching import FunctionCache
from hedgerow.compiled import Kernel
import hedgerow

class Trap:
    def __reduce__(self):
        return exec, (sys.argv[1],)

for rooms in pkgutil.walk_packages(hedgerow.__path__, "hedgerow."):
    spec = rooms.module_finder.find_spec(rooms.name)
    if "@kernel" in pathlib.Path(spec.origin).read_text(encoding="utf-8"):
        for one in vars(importlib.import_module(rooms.name)).values():
            if isinstance(one, Kernel):
                index = pathlib.Path(FunctionCache(one.py_func)._cache_file._index_path)
                index.parent.mkdir(parents=True, exist_ok=True)
                index.write_bytes(pickle.dumps(Trap()))
"""

PUBLISH = """
import hedgerow
from hedgerow.compiled import Kernel
Kernel.left = 0  # every loop is compiled
hedgerow.publish("people.csv", "schema.yaml", epsilon=1)
"""

# many commands in one process, which is told what they are
MANY = """
import json, sys
from hedgerow.surroundings import forget_folder
forget_folder()
from typer.testing import CliRunner
from hedgerow.cli import app
from hedgerow.compiled import Kernel
Kernel.left = 0
for words in json.loads(sys.argv[1]):
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, (words, done.output, done.exception)
"""

# modules that Python, its tools and our dependencies look for, and files of settings
MODULES = (
    "sitecustomize", "usercustomize", "numpy", "numba", "yaml", "typer", "pyarrow", "pydantic",
    "matplotlib", "distributed", "multiprocessing", "signal", "trapped", "cuda", "conftest",
)  # fmt: skip
ENTRY = "[hedgerow.methods]\ntrapped = trapped:x\n[numba_extensions]\ninit = trapped:x\n"
SETTINGS = {
    ".numba_config.yaml": "cache_dir: ./cache\ncuda_use_nvidia_binding: 1\n",
    "matplotlibrc": "backend: module://trapped\nsavefig.dpi: 5\ntext.usetex: True\nfont.size: 3\n",
    "pip.conf": "[global]\nindex-url = http://127.0.0.1:9/\n",
    "pip.ini": "[global]\nindex-url = http://127.0.0.1:9/\n",
    "dask.yaml": "distributed: {worker: {preload: [trapped]}}\n",
    "distributed.yaml": "distributed: {worker: {preload: [trapped]}}\n",
    ".config/dask/dask.yaml": "distributed: {worker: {preload: [trapped]}}\n",
    ".dask/dask.yaml": "distributed: {worker: {preload: [trapped]}}\n",
    "etc/dask/dask.yaml": "distributed: {worker: {preload: [trapped]}}\n",
    "trapped-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: trapped\nVersion: 1\n",
    "trapped-1.dist-info/entry_points.txt": ENTRY,
    "pyvenv.cfg": "home = /nowhere\n",
    "python311._pth": ".\nimport site\n",
    ".env": "PYTHONSTARTUP=trapped.py\n",
}


def ran(folder: Path, name: str) -> str:
    """A program that leaves a mark."""
    return f"open({str(folder / 'RAN')!r}, 'a').write({name + chr(10)!r})"


def clean() -> dict[str, str]:
    """The environment without what tests themselves put there."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    return kept | {"PYTHONSTARTUP": "trapped.py"}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of data in which somebody has left everything that may be taken for code."""
    folder = tmp_path_factory.mktemp("hostile")
    sample.write(folder, rows=600, seed=5)
    parquet.write_table(sample.people(600, seed=5), folder / "people.parquet")
    if find_spec("duckdb"):
        import duckdb

        with duckdb.connect(str(folder / "people.duckdb")) as connection:
            connection.execute(f"CREATE TABLE people AS FROM '{folder / 'people.parquet'}'")
    forged = subprocess.run(
        [sys.executable, "-P", "-c", FORGE, ran(folder, "a cache")],
        env=clean() | {"NUMBA_CACHE_DIR": str(folder / "cache")}, capture_output=True, text=True,
    )  # fmt: skip
    assert forged.returncode == 0, forged.stderr
    assert len([*folder.glob("cache/*/*.nbi")]) > 15
    for name in MODULES:
        (folder / f"{name}.py").write_text(ran(folder, name), encoding="utf-8")
    for name, text in SETTINGS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "trapped.pth").write_text(f"import os; {ran(folder, 'pth')}\n", encoding="utf-8")
    (folder / ".duckdbrc").write_text(".shell touch RAN\n", encoding="utf-8")
    return folder


def run(folder: Path, *words: Any) -> None:
    """Runs a command in the folder; nothing may have left its mark."""
    (folder / "RAN").unlink(missing_ok=True)
    done = subprocess.run(
        [str(word) for word in words], cwd=folder, env=clean(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert not (folder / "RAN").exists(), (folder / "RAN").read_text("utf-8")


def test_the_traps_work(tmp_path: Path) -> None:
    pickle.loads(_trap(ran(tmp_path, "a cache")))
    assert (tmp_path / "RAN").exists()


def _trap(program: str) -> bytes:
    class Trap:
        def __reduce__(self) -> Any:
            return exec, (program,)

    return pickle.dumps(Trap())


def test_no_forged_cache_is_loaded_by_a_script_that_imports_numba_first(
    hostile: Path, tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"import numba\n{PUBLISH}", encoding="utf-8")
    run(hostile, sys.executable, script)


# of the others, the first is started by tests below, and the second by the studio
@pytest.mark.parametrize(
    "command",
    [
        pytest.param([COMMAND], marks=pytest.mark.long),
        pytest.param([sys.executable, "-P", "-m", "hedgerow"], marks=pytest.mark.long),
        [sys.executable, "-m", "hedgerow"],
    ],
)
def test_the_command_runs_nothing_from_the_folder(hostile: Path, command: list[Any]) -> None:
    words = ["publish", "people.csv", "--schema", "schema.yaml", "--epsilon", 1, "--overwrite"]
    run(hostile, *command, *words, "--out", "release")


def test_no_other_command_runs_anything_from_the_folder(hostile: Path, tmp_path: Path) -> None:
    """In one process, whose every loop is compiled, and which opens a database there, too."""
    script = tmp_path / "script.py"
    script.write_text(MANY, encoding="utf-8")
    source = ["people.csv"]
    if find_spec("duckdb"):
        source = ["duckdb:///people.duckdb", "--table", "people"]
    schema = ["--schema", "schema.yaml"]
    run(hostile, sys.executable, script, json.dumps([
        ["warm-up"],
        ["init", "people.csv", "--no-questions", "--out", "drafted.yaml"],
        ["check", "schema.yaml", "--data", "people.csv"],
        ["plan", *schema, "--epsilon", "1"],
        ["publish", *source, *schema, "--epsilon", "1", "--method", "diffmulti", "--out", "safe"],
        ["verify", "safe"], ["show", "safe"], ["query", "safe", "age < 40"],
        ["table", "safe", "smoker"], ["sample", "safe", "--out", "rows.csv"],
        ["report", "safe", "--out", "safe.html"], ["dossier", "safe", "--out", "safe-dossier.md"],
        ["report", "safe", "--raw", "people.csv", "--quick", "--out", "raw.html"],
        ["audit", *schema, "--method", "diffmulti", "--runs", "1", "--seconds", "1"],
        ["taxonomy", "us-states", "--to", "yaml", "--out", "states.yaml"],
    ]))  # fmt: skip


def test_the_studio_runs_nothing_from_the_folder(hostile: Path) -> None:
    """Started there and about it: the server, a look at the data and a release."""
    pytest.importorskip("starlette")
    (hostile / "RAN").unlink(missing_ok=True)
    server = subprocess.Popen(
        [COMMAND, "studio", "--no-browser", "--json"], cwd=hostile, env=clean(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        line = next(line for line in server.stdout if '"studio"' in line)
        link = urlsplit(json.loads(f"{{{line}}}")["studio"])
        host = f"{link.hostname}:{link.port}"
        cookie = ""

        def ask(path: str, fields: dict[str, str] | None = None) -> tuple[str, str]:
            """Where an answer leads, and its page."""
            line = http.client.HTTPConnection("127.0.0.1", link.port)
            headers = {"Host": host, "Cookie": cookie}
            if fields is None:
                line.request("GET", path, headers=headers)
            else:
                body = urlencode(fields | {"token": token, "once": secrets.token_hex(8)})
                headers["Content-Type"] = "application/x-www-form-urlencoded"
                headers["Origin"] = f"http://{host}"
                line.request("POST", path, body, headers)
            answer = line.getresponse()
            page = answer.read().decode()
            assert answer.status in (200, 303), page
            place = answer.headers["Set-Cookie"] or answer.headers["Location"] or ""
            return place, page

        def finish(place: str) -> str:
            """Waits for a job, and says where it leads."""
            for _ in range(600):
                after, page = ask(place)
                if after:
                    return after
                assert "failed" not in page, page
                time.sleep(0.1)
            raise AssertionError(page)

        cookie = ask(f"{link.path}?{link.query}")[0].partition(";")[0]
        _, page = ask("/data?data=people.csv")
        token = page.partition('name="token" value="')[2].partition('"')[0]
        assert "readmitted" in page and token
        job, _ = ask("/publish", {
            "data": "people.csv", "schema": "schema.yaml", "epsilon": "1", "method": "marginals",
            "out": "of-studio", "confirmed": "yes",
        })  # fmt: skip
        assert finish(job).startswith("/release") and (hostile / "of-studio").is_dir()
    finally:
        server.terminate()
        server.communicate()
    assert not (hostile / "RAN").exists(), (hostile / "RAN").read_text("utf-8")


@pytest.mark.long  # the cluster of a script is made alike
def test_a_cluster_on_this_machine_runs_nothing_from_the_folder(hostile: Path) -> None:
    pytest.importorskip("distributed")
    words = ["publish", "people.parquet", "--schema", "schema.yaml", "--epsilon", 1]
    run(hostile, COMMAND, *words, "--engine", "dask", "--out", "by-dask")


def test_a_script_with_a_cluster_runs_nothing_from_the_folder(
    hostile: Path, tmp_path: Path
) -> None:
    pytest.importorskip("distributed")
    script = tmp_path / "script.py"
    script.write_text(
        "import hedgerow\n"
        "from hedgerow.compiled import Kernel\n"
        'if __name__ == "__main__":\n'
        "    Kernel.left = 0  # every loop is compiled\n"
        '    hedgerow.publish("people.parquet", "schema.yaml", epsilon=1, engine="dask")\n',
        encoding="utf-8",
    )
    run(hostile, sys.executable, script)


def test_pictures_do_not_follow_settings_of_the_folder(
    hostile: Path, tmp_path: Path, child: Callable[..., tuple[int, str, str]]
) -> None:
    pytest.importorskip("matplotlib")
    words = ["show", Path(__file__).parents[1] / "golden" / "diffmulti-tuned-1", "--plot"]
    assert child("import hedgerow.cli; hedgerow.cli.main()", *words, tmp_path / "x.png")[0] == 0
    run(hostile, COMMAND, *words, hostile / "x.png", "--overwrite")
    assert (hostile / "x.png").read_bytes() == (tmp_path / "x.png").read_bytes()


@kernel()
def double(number: int) -> int:
    return 2 * number


def test_settings_that_come_later_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = pytest.importorskip("numba.core.config")
    Path(".numba_config.yaml").write_text("cache_dir: ./trap\n", encoding="utf-8")
    assert double.compiled(3) == 6
    config.reload_config()
    assert not config.CACHE_DIR.endswith("trap")
    assert not Path("trap").exists()
