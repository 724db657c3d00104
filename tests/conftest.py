from __future__ import annotations

import functools
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import hypothesis
import pytest
import typer.testing

# How long an example takes says how busy the machine is, and nothing about the code.
hypothesis.settings.register_profile("hedgerow", deadline=None)
hypothesis.settings.load_profile("hedgerow")

# Under nohup or in the background of a shell some signals are ignored, and every process that a
# test starts would ignore them too. A handler that does nothing is not inherited.
for _name in ("SIGINT", "SIGTERM", "SIGHUP"):
    _number = getattr(signal, _name, None)
    if _number is not None and signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, lambda *_: None)

# Threads that wait for each other take the whole of a busy machine, and tables here are small. Read
# when numpy and scikit-learn are loaded, which is later.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# Typer builds every command anew for each call, and tests call them a thousand times.
typer.testing._get_command = functools.cache(typer.testing._get_command)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Hypothesis tries a third of its examples; all of them where `make audit` says how many.

    Attacks in tests/privacy state their own numbers.
    """
    if "HEDGEROW_EXAMPLES" in os.environ:
        return
    for item in items:
        test = getattr(item, "obj", None)
        asked = getattr(test, "_hypothesis_internal_use_settings", None)
        if asked is not None and item.path.parent != Path(__file__).parent / "privacy":
            few = min(asked.max_examples, max(20, asked.max_examples // 3))
            test = getattr(test, "__func__", test)  # of a class
            test._hypothesis_internal_use_settings = hypothesis.settings(asked, max_examples=few)


def pytest_collection_finish() -> None:
    """What was imported and collected stays: looking through it for garbage takes a while.

    So does looking after every 700 new objects for what tests leave behind.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_runtest_teardown() -> None:
    """Plots leave their figure open, for who asked for it, and a worker runs many tests."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


LOADED = [
    "distributed", "pandas", "rich.console", "scipy.linalg", "numba.np.arraymath", "hedgerow.cli",
    "hedgerow.counting.cluster", "hedgerow.methods.diffgen", "hedgerow.schema.model",
]  # fmt: skip


@pytest.fixture(scope="session")
def processes() -> Any:
    """Makes processes that have loaded the library: copies of one that did nothing else."""
    server = "forkserver" in multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("forkserver" if server else "spawn")
    if server:
        context.set_forkserver_preload(LOADED)
    return context


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


# What a copy of a process that has loaded the library does in the place of a new one.
COPY = """
import os, runpy, sys
os.setsid()
os.chdir(cwd)
os.environ.clear()
os.environ.update(env)
for number, pipe in enumerate(pipes):
    os.dup2(pipe.fileno(), number)
    pipe.close()
sys.stdin = open(0, encoding="utf-8")
sys.stdout = open(1, "w", encoding="utf-8")
sys.stderr = open(2, "w", buffering=1, encoding="utf-8")
sys.argv = ["hedgerow", *words]
begun.send_bytes(b"")
begun.close()
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


class Copied:
    """What the studio uses of `subprocess.Popen`."""

    def __init__(
        self, processes: Any, command: Sequence[str], *, cwd: Any = ".", env: Any = None, **_: Any
    ) -> None:
        assert [*command[:3]] == [sys.executable, "-P", "-m"]
        (take, self._give), (self._out, out), (self._err, err), (heard, begun) = (
            processes.Pipe(duplex=False) for _ in range(4)
        )
        given = {
            "module": command[3], "words": [*command[4:]], "cwd": os.path.abspath(cwd),
            "env": dict(os.environ if env is None else env), "pipes": (take, out, err),
            "begun": begun,
        }  # fmt: skip
        self._process = processes.Process(target=exec, args=(COPY, given))
        self._process.start()
        for pipe in (take, out, err, begun):
            pipe.close()
        heard.recv_bytes()  # it has a session of its own, by which it can be stopped
        heard.close()
        self.pid = self._process.pid
        self.stdin, self.stdout, self.stderr = (
            os.fdopen(os.dup(pipe.fileno()), mode, encoding="utf-8")
            for pipe, mode in ((self._give, "w"), (self._out, "r"), (self._err, "r"))
        )
        for pipe in (self._give, self._out, self._err):
            pipe.close()

    def poll(self) -> int | None:
        return self._process.exitcode  # type: ignore[no-any-return]

    def wait(self) -> int:
        self._process.join()
        return self._process.exitcode  # type: ignore[no-any-return]


@pytest.fixture
def copies(processes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands are run by copies of a process that has loaded the library, which takes long.

    `test_jobs.py` starts them as the studio does.
    """

    def popen(command: Sequence[str], **more: Any) -> Copied:
        return Copied(processes, command, **more)

    def run(command: Sequence[str], *, input: str, **more: Any) -> Any:
        process = popen(command, **more)
        with process.stdin as stream:
            stream.write(input)
        found = SimpleNamespace(stdout=process.stdout.read(), stderr=process.stderr.read())
        process.wait()
        return found

    names = {"DEVNULL": subprocess.DEVNULL, "PIPE": subprocess.PIPE, "Popen": popen, "run": run}
    for module in ("jobs", "first_rows"):
        monkeypatch.setattr(f"hedgerow.studio.{module}.subprocess", SimpleNamespace(**names))


MOST_MODELS = 64
_MODELS: OrderedDict[Hashable, Any] = OrderedDict()


def content(value: Any) -> Hashable:
    """What a value holds, so that two are equal only if they hold the same."""
    import numpy as np

    from hedgerow.schema import Schema

    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, Schema):
        return repr(value.to_dict())
    if isinstance(value, dict):
        return tuple((key, content(one)) for key, one in value.items())
    if isinstance(value, tuple):
        return tuple(map(content, value))
    if is_dataclass(value):
        return tuple(content(getattr(value, one.name)) for one in fields(value))
    hash(value)
    return value


@pytest.fixture(scope="session", autouse=True)
def fit_once() -> Iterator[Callable[..., Any]]:
    """Fits the model of the same noisy tables once, whichever test publishes or reads them.

    The fit takes most of the time of both, and follows from its tables and where it begins alone.
    Where a test changes how models are fitted they are fitted anew.
    """
    from hedgerow.estimate import graphical, junction
    from hedgerow.methods import marginals
    from hedgerow.release import table_releases

    honest = graphical.fit_model
    usual = [
        (part, name, one) for part in (graphical, junction) for name, one in vars(part).items()
    ]

    def fit_model(tables: Any, warm: Any = None, progress: Any = lambda _: None) -> Any:
        changed = tuple(
            (name, vars(part).get(name)) for part, name, one in usual
            if vars(part).get(name) is not one
        )  # fmt: skip
        if not all(isinstance(now, int | float) for _, now in changed):
            return honest(tables, warm, progress)
        key = content(tables), None if warm is None else content(warm.theta), changed
        if key in _MODELS:
            for share in _MODELS[key][1]:
                progress(share)
        else:
            shares: list[float] = []
            model = honest(tables, warm, lambda share: (shares.append(share), progress(share)))
            _MODELS[key] = model, shares
        _MODELS.move_to_end(key)
        while len(_MODELS) > MOST_MODELS:
            _MODELS.popitem(last=False)
        return _MODELS[key][0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_releases, "fit_model", fit_model)
        patch.setattr(marginals, "fit_model", fit_model)
        yield honest


@pytest.fixture
def fit_anew(fit_once: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of how often models are fitted."""
    monkeypatch.setattr("hedgerow.release.table_releases.fit_model", fit_once)
    monkeypatch.setattr("hedgerow.methods.marginals.fit_model", fit_once)


@pytest.fixture(scope="session")
def workers(processes: Any) -> Iterator[None]:
    """Has Dask make its workers so; the command of `test_a_cluster` makes them as ever."""
    dask, distributed = map(pytest.importorskip, ("dask", "distributed"))
    method = processes.get_start_method()
    settings = {"multiprocessing-method": method, "profile.enabled": False}
    with dask.config.set({f"distributed.worker.{name}": to for name, to in settings.items()}):
        distributed.utils.get_mp_context()  # which names what Dask itself would load
        if method == "forkserver":
            processes.set_forkserver_preload(LOADED)
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server of our own, with a password."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "audits"))  # a folder of scripts
    from postgres_server import NoServer, postgres_server

    with ExitStack() as until:
        try:
            address = until.enter_context(postgres_server())
        except NoServer as why:
            pytest.skip(str(why))
        yield address
