"""`import hedgerow`: the names that scripts rely on."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import hedgerow


def test_every_promised_name_is_there() -> None:
    for name in hedgerow.__all__:
        assert getattr(hedgerow, name) is not None
        assert name in dir(hedgerow)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_like_this"):
        hedgerow.nothing_like_this  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.slow
def test_publish_can_be_called_whatever_was_imported_first() -> None:
    first = (
        "import hedgerow",
        "import hedgerow.methods",
        "import hedgerow.methods.api",
        "from hedgerow.methods.diffmulti import DiffMulti",
    )
    code = (
        "import sys\n"
        f"for first in {first}:\n"
        "    for name in [name for name in sys.modules if name.split('.')[0] == 'hedgerow']:\n"
        "        del sys.modules[name]\n"
        "    exec(first)\n"
        "    import hedgerow\n"
        "    assert callable(hedgerow.publish), (first, hedgerow.publish)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_publish_shows_its_parameters() -> None:
    from hedgerow.methods.api import publish

    assert inspect.signature(hedgerow.publish) == inspect.signature(publish)


def test_a_recipient_needs_no_engine() -> None:
    code = (
        "import sys, hedgerow\n"
        "hedgerow.Release, hedgerow.verify\n"
        "sys.exit(', '.join({'numba', 'hedgerow.counting', 'hedgerow.privacy'} & set(sys.modules))"
        " or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_is_listed_is_what_is_meant_to_be_used() -> None:
    assert {name for name in dir(hedgerow) if not name.startswith("_")} == set(hedgerow.__all__) - {
        "__version__"
    }


UNTOLD = ("Query", "Database", "publish_clusters", "__version__")


def test_help_begins_with_a_screen_that_names_everything() -> None:
    """Of 60 lines, and as wide as a terminal; every class and method follows."""
    import pydoc

    lines = pydoc.plain(pydoc.render_doc(hedgerow)).splitlines()[:60]
    assert max(map(len, lines)) <= 110
    shown = "\n".join(lines)
    for name in hedgerow.__all__:
        if not name.endswith("Release") and name not in UNTOLD:
            assert name in shown, name


def test_a_star_imports_the_public_names_and_no_others() -> None:
    names: dict[str, object] = {}
    exec("from hedgerow import *", names)  # as a notebook does
    assert names.keys() - {"__builtins__"} == set(hedgerow.__all__)
    assert len(hedgerow.__all__) <= 23
