"""What the command does before it does anything."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hedgerow import __version__
from hedgerow.cli import COMMANDS, _app, app, name_of
from hedgerow.cli.settings import method_options, settings_of
from hedgerow.registry import OURS, load

ROOT = Path(__file__).parents[2]
NAMES = [name_of(function) for function in COMMANDS]
DOCS = ROOT / "docs"
spec = importlib.util.spec_from_file_location("reference", ROOT / "scripts" / "reference.py")
assert spec is not None and spec.loader is not None
pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pages)


def test_importing_the_command_loads_nothing_slow() -> None:
    code = (
        "import sys, hedgerow, hedgerow.cli, hedgerow.cli.settings\n"
        "slow = {'numpy', 'pyarrow', 'numba', 'narwhals', 'pandas', 'polars', 'pydantic'}\n"
        "slow |= {'hedgerow.schema', 'hedgerow.release'}\n"
        "sys.exit(', '.join(slow & set(sys.modules)) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# In this order: what the first three must not load, the others may.
READERS = {
    "show": ["{release}"],
    "query": ["{release}", "{query}"],
    "verify": ["{release}"],
    "table": ["{release}", "{column}"],
    "report": ["{release}", "--out", "{folder}/page.html"],
    "dossier": ["{release}", "--out", "{folder}/dossier.html"],
}
COMPILERS = ["numba", "scipy"]
FRAMES = ["pyarrow.compute", "rich", "yaml"]  # a fifth of what reading takes without them

# Runs commands one after the other, each with what may not be loaded after it. Arrow looks for
# pandas whenever it makes an array: here it is not installed.
READ = """
import json, sys

class NoPandas:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "pandas":
            raise ImportError(name)

sys.meta_path.insert(0, NoPandas)
from hedgerow.cli import main

for words, slow in json.loads(sys.argv[1]):
    sys.argv = ["hedgerow", *words]
    try:
        main()
    except SystemExit as end:
        assert end.code in (None, 0, 6), (words, end.code)  # seeded releases are not private
    loaded = sorted({*slow} & {*sys.modules})
    assert not loaded, (words, loaded)
"""


@pytest.mark.parametrize("kind", ["diffmulti-tuned-1", "diffpart-tuned-3", "no release"])
def test_reading_loads_no_compiler_and_no_frames(kind: str, tmp_path: Path) -> None:
    """In a process of its own, as a person runs it."""
    release = Path(__file__).parents[1] / "golden" / kind
    query, column = ("3", "item") if kind.startswith("diffpart") else ("age > 20", "age")
    places = {"release": release, "folder": tmp_path, "query": query, "column": column}
    calls: list[tuple[list[str], list[str]]] = []
    if kind == "no release":
        calls = [(["publish", "--help"], COMPILERS), (["plan", "--help"], COMPILERS)]
    else:
        for command, words in READERS.items():
            light = kind.startswith("diffmulti") and command in ("show", "query", "verify")
            slow = [*COMPILERS, *(FRAMES if light else [])]
            calls.append(([command, *(word.format(**places) for word in words)], slow))
    done = subprocess.run(
        [sys.executable, "-c", READ, json.dumps(calls)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_the_module_runs_as_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hedgerow", "--version"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, f"hedgerow {__version__}\n")


@pytest.mark.parametrize("words", [[], ["-h"], ["--help"]])
def test_commands_are_listed_as_if_all_options_were_known(words: list[str]) -> None:
    quick, whole = (CliRunner().invoke(one, words) for one in (_app(COMMANDS, listed=True), app))
    assert quick.exit_code == whole.exit_code and quick.output == whole.output
    assert len(quick.output) > 1000


def test_the_commands_are_those_of_the_project() -> None:
    assert NAMES == [
        "init", "check", "sign", "schema", "taxonomy", "plan", "publish", "clusters",
        "ledger", "show",
        "query", "table", "sample", "verify", "evaluate", "compare", "report", "dossier", "audit",
        "studio", "warm-up",
    ]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help_with_an_example_and_json(
    hedge: Callable[..., Any], name: str
) -> None:
    done = hedge(name, "--help")
    assert done.exit_code == 0
    assert "Example:" in done.stdout and f"hedgerow {name}" in done.stdout.split("Example:")[1]
    assert "--json" in done.stdout


def test_the_reference_page_is_current() -> None:
    assert (DOCS / "cli.md").read_text(encoding="utf-8") == pages.reference(), "run `make docs`"


@pytest.mark.parametrize("name", OURS)
def test_tables_of_settings_are_current(name: str) -> None:
    page = (DOCS / "algorithms" / f"{name}.md").read_text(encoding="utf-8")
    assert page == pages.with_settings(page, name), "run `make docs`"
    for setting in settings_of(load(OURS[name].settings)).values():
        assert setting.help, f"the Args of {name} say nothing of {setting.name}"


def test_no_setting_is_an_option_of_a_command_already() -> None:
    own = {"data", "schema", "epsilon", "delta", "out", "table", "query", "engine", "seed"}
    names = [option.name for option in method_options()]
    assert len(names) == len(set(names)) and not own & set(names)


def test_the_reference_page_names_every_option(hedge: Callable[..., Any]) -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    for name in NAMES:
        part = page.split(f"## hedgerow {name}\n")[1].split("\n## ")[0]
        words = hedge(name, "--help").stdout.split("Options:")[1].split("Example:")[0].split()
        for option in {word.rstrip(".,") for word in words if word.startswith("--")} - {"--help"}:
            assert f"`{option}" in part, (name, option)


def test_an_unknown_option_is_a_usage_error(hedge: Callable[..., Any]) -> None:
    assert hedge("verify", "somewhere", "--wrong").exit_code == 2
    assert hedge("nothing-like-this").exit_code == 2


@pytest.mark.parametrize(
    ("command", "british", "american"),
    [
        ("publish", "--specialisations", "--specializations"),
        ("plan", "--specialisations", "--specializations"),
        ("dossier", "--catalogue", "--catalog"),
    ],
)
def test_options_in_british_english_name_the_american_one(
    hedge: Callable[..., Any], command: str, british: str, american: str
) -> None:
    result = hedge(command, british, "3")
    assert result.exit_code == 2
    assert f"No such option: {british}. Write {american}." in result.stderr
    assert american in hedge(command, "--help").stdout


def test_links_between_pages_lead_somewhere() -> None:
    import re

    root = DOCS.parent
    for page in [root / "README.md", root / "CHANGELOG.md", *DOCS.rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.relative_to(root)}: {target}"
