from __future__ import annotations

import functools
import gc
import multiprocessing
import os
import signal
import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import ExitStack
from dataclasses import fields, is_dataclass
from pathlib import Path
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


def pytest_collection_finish() -> None:
    """What was imported and collected stays: looking through it for garbage takes a while."""
    gc.collect()
    gc.freeze()


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
    """Fits the model of the same noisy tables once, whichever test reads them.

    The fit takes most of the time of reading a release, and follows from its tables alone. Where a
    test changes how models are fitted they are fitted anew.
    """
    from hedgerow.estimate import graphical, junction
    from hedgerow.release import table_releases

    honest = table_releases.fit_model
    usual = [
        (part, name, one) for part in (graphical, junction) for name, one in vars(part).items()
    ]

    def fit_model(noisy: Any, **more: Any) -> Any:
        if any(vars(part).get(name) is not one for part, name, one in usual):
            return honest(noisy, **more)
        key = content(noisy)
        if more or key not in _MODELS:
            _MODELS[key] = honest(noisy, **more)
        _MODELS.move_to_end(key)
        while len(_MODELS) > MOST_MODELS:
            _MODELS.popitem(last=False)
        return _MODELS[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_releases, "fit_model", fit_model)
        yield honest


@pytest.fixture
def fit_anew(fit_once: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of how often models are fitted."""
    monkeypatch.setattr("hedgerow.release.table_releases.fit_model", fit_once)


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
