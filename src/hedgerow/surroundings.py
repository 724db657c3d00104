"""The folder that a program runs in is no place for settings and modules: data lies there.

numba and matplotlib read settings from the current folder. numba's can name a cache, and what lies
in a cache is run. `python -m` looks for modules there first. So both packages are loaded as if no
such file were there, and the command forgets the folder before it loads anything else. And what
the studio does reads no schema from outside its folder.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from typing import Any

ONLY_INSIDE = "HEDGEROW_ONLY_INSIDE"
"""The variable that names the folder which a command of the studio must not leave."""

_loading = threading.Lock()
_inside: ContextVar[Path | None] = ContextVar("inside", default=None)


@contextmanager
def only_inside(folder: Path) -> Iterator[None]:
    """In this block no schema, taxonomy or list is read from outside a folder."""
    token = _inside.set(folder)
    try:
        yield
    finally:
        _inside.reset(token)


def allowed_folder() -> str | Path | None:
    """The folder from outside which no schema, taxonomy or list is read; None if there is none."""
    return _inside.get() or os.environ.get(ONLY_INSIDE)


def forget_folder() -> None:
    """Takes the current folder off the path of modules, here and in processes that are begun.

    What Python itself has loaded before cannot be taken back: `hedgerow` and `python -P -m
    hedgerow` never look there, `python -m hedgerow` has looked for a few modules already.
    """
    if not sys.flags.safe_path and sys.path[:1] in ([""], [os.getcwd()]):
        del sys.path[0]
    shield_processes()


def shield_processes() -> None:
    """Has every Python that this process begins from now on not look into the current folder."""
    os.environ["PYTHONSAFEPATH"] = "1"


def load_plainly(package: str, settings: str) -> Any:
    """Loads a package as if a file of settings were not there.

    If a program has loaded it before, it is given as it is.

    Args:
        package: Its name.
        settings: The name of its file in the current folder.

    Example:
        >>> load_plainly("json", ".json").dumps([1])
        '[1]'
    """
    if package in sys.modules:
        return import_module(package)
    with _loading:
        exists = os.path.exists
        # a thread that asks at the same time gets the right answer for every other name
        os.path.exists = lambda path: path != settings and exists(path)
        try:
            return import_module(package)
        finally:
            os.path.exists = exists


def load_numba() -> Any:
    """Loads numba without the settings of the current folder, now and later.

    It reads them again before each loop that it compiles, and then, too, if a program loaded it
    before. The environment still counts: it is the user's own.
    """
    numba = load_plainly("numba", ".numba_config.yaml")
    config = numba.core.config
    if config._config_fname != os.devnull:
        config._config_fname = os.devnull  # no ordinary file, so it is not read
        config.reload_config()
    return numba
