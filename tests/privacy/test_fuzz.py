"""A short run of the fuzzer of all readers, and proof that it can fail.

The long run is `python audits/fuzz.py`.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

AUDITS = Path(__file__).parents[2] / "audits"
sys.path.insert(0, str(AUDITS))  # a folder of scripts, not a package

import fuzz  # noqa: E402
import fuzz_guard  # noqa: E402
import fuzz_readers  # noqa: E402
from hedgerow.errors import DataError, UsageError  # noqa: E402

CASES = 3_000
READERS = (
    "query text", "query mapping", "query file", "budget", "schema document", "schema file",
    "taxonomy file", "ARX file", "manifest", "CSV file", "text in UTF-16", "archive", "CSV draft",
    "CSV rows", "Parquet file", "transactions", "transaction CSV", "release folder",
    *(["workbook"] if find_spec("python_calamine") else []),
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.fixture(scope="module")
def known(folder: Path) -> dict[str, fuzz_readers.Reader]:
    return fuzz_readers.readers(folder / "cases")


def test_every_reader_is_listed(known: dict[str, fuzz_readers.Reader]) -> None:
    assert tuple(known) == READERS


@pytest.mark.parametrize("name", READERS)
def test_a_reader_meets_only_errors_of_ours(
    name: str, known: dict[str, fuzz_readers.Reader], folder: Path
) -> None:
    reader = known[name]
    cases = max(50, round(CASES * reader.share / sum(one.share for one in known.values())))
    outcome = fuzz.fuzz(reader, cases, "short", fuzz_guard.Guard(folder))
    assert outcome.cases == cases >= 50
    assert not outcome.found, [
        (f.failure.words, fuzz.shown(f.case)) for f in outcome.found.values()
    ]


def twin(run: Callable[[str], Any]) -> fuzz_readers.Reader:
    """A reader of queries that is not the real one."""
    return fuzz_readers.Reader(
        "twin", 1, "everybody", fuzz_readers.texts(fuzz_readers.QUERIES), run
    )


def forgets_a_key(text: str) -> Any:
    return {"a": 1}[text[:1]] if "{" in text else None


def recurses(text: str) -> Any:
    return recurses(text) if "[" in text else None


def fills_the_memory(text: str) -> Any:
    if "(" in text:
        raise MemoryError


def never_ends(text: str) -> Any:
    while "<" in text:
        pass


def starts_a_program(text: str) -> Any:
    if "age" in text:
        os.system("true")


def quotes_what_a_terminal_obeys(text: str) -> Any:
    if text != "everybody":
        error = UsageError("odd")
        error.args = ("\x1b[2J",)  # an error of ours writes it out, unless it is put in later
        raise error


@pytest.mark.parametrize(
    ("run", "kind", "smallest"),
    [
        (forgets_a_key, "KeyError", "{"),
        (recurses, "RecursionError", "["),
        (fills_the_memory, "MemoryError", "("),
        (never_ends, "hang", None),
        (starts_a_program, "reach os.system", "age"),
        (quotes_what_a_terminal_obeys, "UsageError that holds a control character", ""),
    ],
)
def test_a_broken_reader_is_caught(
    run: Callable[[str], Any], kind: str, smallest: str | None, folder: Path
) -> None:
    guard = fuzz_guard.Guard(folder, 0.05 if run is never_ends else 20)
    outcome = fuzz.fuzz(twin(run), 40, "broken", guard)
    (found,) = outcome.found.values()
    assert found.failure.kind.startswith(kind)
    if smallest is not None:
        assert found.case == smallest


def test_a_reader_that_writes_elsewhere_is_caught(folder: Path, tmp_path: Path) -> None:
    """Where a case may write is not where it does."""
    outside = tmp_path / "outside"

    def run(text: str) -> None:
        if "age" in text:
            outside.write_text(text)

    found = fuzz.fuzz(twin(run), 40, "broken", fuzz_guard.Guard(folder)).found
    assert [one.failure.kind for one in found.values()] == ["reach open"]
    assert not fuzz.fuzz(twin(run), 40, "broken", fuzz_guard.Guard(tmp_path)).found


def test_errors_of_ours_are_no_failure(folder: Path) -> None:
    def run(text: str) -> None:
        if text != "everybody":
            raise DataError("no", hint="Mend it.")

    assert not fuzz.fuzz(twin(run), 40, "ours", fuzz_guard.Guard(folder)).found


def test_a_reader_that_refuses_everything_is_caught(folder: Path) -> None:
    def run(text: str) -> None:
        raise DataError("no", hint="Mend it.")

    with pytest.raises(DataError):
        fuzz.fuzz(twin(run), 1, "all", fuzz_guard.Guard(folder))


def test_the_same_seed_gives_the_same_cases(known: dict[str, fuzz_readers.Reader]) -> None:
    for name in READERS:
        draws = [
            [fuzz.shown(known[name].draw(random.Random(f"{seed}/{name}"))) for _ in range(3)]
            for seed in (1, 1, 2)
        ]
        assert draws[0] == draws[1]


def test_cases_are_shared_out(known: dict[str, fuzz_readers.Reader]) -> None:
    shared = list(fuzz.tasks(known.values(), 1_000_000, 1))
    assert abs(sum(cases for _, cases, _, _ in shared) - 1_000_000) < 20
    assert max(cases for _, cases, _, _ in shared) <= fuzz.CHUNK
    assert len({(name, chunk) for name, _, _, chunk in shared}) == len(shared)
