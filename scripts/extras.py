"""Tries each extra alone, as somebody would who installed it: `make dist`.

In an environment with one extra, its features must work; those of other extras must work if the
packages happen to be there, and otherwise refuse in a sentence that names the extra to install.
"""

from __future__ import annotations

import argparse
import http.client
import json
import signal
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from installed import clean, environment

ROOT = Path(__file__).resolve().parents[1]
FOR_DEVELOPERS = {"adult", "bench", "site", "test"}
DATA = ("--schema", "schema.yaml", "--epsilon", "1", "--overwrite", "--out", "of-extra")

# The sample in every form that an extra reads. It runs where the tests' dependencies are.
PREPARE = """
import duckdb, pandas, pyreadstat, xlsxwriter
from hedgerow import sample
sample.write(".", rows=1000)
frame = pandas.read_csv("people.csv", dtype=str, keep_default_na=False)
frame.to_parquet("people.parquet")
pyreadstat.write_sav(frame, "people.sav")
with xlsxwriter.Workbook("people.xlsx") as book:
    sheet = book.add_worksheet()
    for number, row in enumerate([list(frame), *frame.values.tolist()]):
        sheet.write_row(number, 0, row)
with duckdb.connect("people.db") as connection:
    connection.execute("create table people as from read_csv('people.csv', all_varchar=true)")
"""
ESTIMATE = """
from hedgerow.sklearn import RegionClassifier
model = RegionClassifier(bounds=(0, 9), classes=["a", "b"], random_state=1)
print(model.fit([[1.0], [8.0]] * 50, ["a", "b"] * 50).predict([[1.0]]))
"""


@dataclass(frozen=True)
class Feature:
    """Something that only works with an extra.

    Args:
        extra: Which.
        packages: What it imports.
        words: The command, as arguments of Python.
    """

    extra: str
    packages: tuple[str, ...]
    words: tuple[str, ...]


def _command(*words: str) -> tuple[str, ...]:
    return ("-m", "hedgerow", *words)


FEATURES = (
    Feature("plot", ("matplotlib",), _command("show", "release", "--plot", "a.png", "--overwrite")),
    Feature("excel", ("python_calamine",), _command("publish", "people.xlsx", *DATA)),
    Feature(
        "excel", ("xlsxwriter",), _command("table", "release", "--out", "a.xlsx", "--overwrite")
    ),
    Feature("stats", ("pyreadstat",), _command("publish", "people.sav", *DATA)),
    Feature(
        "dask", ("distributed",), _command("publish", "people.parquet", "--engine", "dask", *DATA)
    ),
    Feature("dask", ("fsspec",), _command("publish", "local://people.parquet", *DATA)),
    Feature(
        "database", ("duckdb",),
        _command("publish", "duckdb:///people.db", "--table", "people", *DATA),
    ),
    Feature("sklearn", ("sklearn",), ("-c", ESTIMATE)),
    Feature(
        "evaluate", ("sklearn",), _command("evaluate", "people.csv", "release", "--quick")
    ),
)  # fmt: skip
STUDIO = Feature(
    "studio", ("starlette", "uvicorn"), _command("studio", ".", "--no-browser", "--json")
)
# There is no server to reach; what is told is that, or which extra would reach it.
POSTGRES = Feature(
    "database", ("adbc_driver_postgresql",),
    _command("publish", "postgresql://127.0.0.1:1/none", "--table", "people", *DATA),
)  # fmt: skip


def user_extras() -> list[str]:
    """The extras that are not for developers alone."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [name for name in project["optional-dependencies"] if name not in FOR_DEVELOPERS]


def importable(python: Path, packages: tuple[str, ...]) -> bool:
    """Whether an environment holds all of these packages."""
    code = "import sys, importlib.util as u; sys.exit(not all(map(u.find_spec, sys.argv[1:])))"
    return not subprocess.run([python, "-c", code, *packages], env=clean()).returncode


def problem(feature: Feature, works: bool, told: str, expected: bool) -> str:
    """What is wrong with how a feature behaved, or ''.

    Examples:
        >>> plot = Feature("plot", ("matplotlib",), ())
        >>> problem(plot, True, "", expected=True)
        ''
        >>> problem(plot, False, "pip install 'hedgerow[plot]'", expected=False)
        ''
        >>> problem(plot, False, "No module named 'matplotlib'", expected=False)
        "does not name hedgerow[plot]: No module named 'matplotlib'"
        >>> problem(plot, False, "pip install 'hedgerow[plot]'", expected=True)
        "does not work: pip install 'hedgerow[plot]'"
    """
    if expected:
        return "" if works else f"does not work: {told}"
    if "Traceback" in told and feature.extra != "sklearn":  # which is imported by a script
        return f"is not refused in a sentence: {told}"
    name = f"hedgerow[{feature.extra}]"
    return "" if name in told else f"does not name {name}: {told}"


def tried(feature: Feature, python: Path, folder: Path) -> tuple[bool, str]:
    """Whether a feature works there, and what it said."""
    done = subprocess.run(
        [python, *feature.words], cwd=folder, env=clean(), capture_output=True, text=True
    )
    told = done.stdout + done.stderr
    missing = f"hedgerow[{feature.extra}]" in told
    return (done.returncode == 0 or feature is POSTGRES) and not missing, told


def opened(feature: Feature, python: Path, folder: Path) -> tuple[bool, str]:
    """Whether the studio opens there, and what it said."""
    command = [python, *feature.words]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, cwd=folder, env=clean(), text=True, **streams) as process:
        text = ""
        while process.stdout and (line := process.stdout.readline()):
            text += line
            if line.startswith("}"):
                break
        try:
            address = urlsplit(json.loads(text)["studio"])
        except (ValueError, KeyError):
            return False, text
        # only browsers know that names which end in .localhost are this machine's
        line = http.client.HTTPConnection("127.0.0.1", address.port)
        line.request("GET", f"{address.path}?{address.query}", headers={"Host": address.netloc})
        answer = line.getresponse()
        answer.read()
        cookie = str(answer.getheader("Set-Cookie")).partition(";")[0]
        line.request("GET", "/", headers={"Host": address.netloc, "Cookie": cookie})
        page = line.getresponse()
        works = page.status == 200 and "people.csv" in page.read().decode()
        process.send_signal(signal.SIGINT)
        return works and process.wait() == 0, text


def main(wheel: Path, sdist: Path, given: argparse.Namespace) -> None:
    """Ends with an error if an extra does not bring what it promises."""
    folder = wheel.parents[2]
    sample = folder / "sample"
    sample.mkdir()
    full = environment(folder / "prepare", f"{wheel}[test]")
    first = ("-m", "hedgerow", "publish", "people.csv", *DATA[:-1], "release")
    for words in (("-c", PREPARE), first):
        subprocess.run([full, *words], cwd=sample, env=clean(), check=True, capture_output=True)
    wrong = []
    for extra in ("", *user_extras()):
        name = f"hedgerow[{extra}]" if extra else "hedgerow alone"
        python = environment(folder / f"extra-{extra}", f"{wheel}[{extra}]")
        for feature in (*FEATURES, POSTGRES, STUDIO):
            attempt = opened if feature is STUDIO else tried
            outcome = attempt(feature, python, sample)
            expected = feature.extra == extra or importable(python, feature.packages)
            if found := problem(feature, *outcome, expected):
                wrong.append(f"{name}: {feature.extra}, {', '.join(feature.packages)}: {found}")
        print(f"{name}: tried", flush=True)
    if wrong:
        sys.exit("\n".join(wrong))
