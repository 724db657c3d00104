"""One more record among others changes none of them, in any reader, or the run stops.

A short run of the insertions of `audits/fuzz.py`, and proof that they catch readers that let one
record decide how others are read.
"""

from __future__ import annotations

import dataclasses
import gzip
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

AUDITS = Path(__file__).parents[2] / "audits"
sys.path.insert(0, str(AUDITS))  # a folder of scripts, not a package

import fuzz  # noqa: E402
import fuzz_framing  # noqa: E402
import fuzz_guard  # noqa: E402
import fuzz_readers  # noqa: E402
import hedgerow  # noqa: E402
from fuzz_mutate import OBJECTS  # noqa: E402
from fuzz_values import SERVER  # noqa: E402
from hedgerow.data import frames, open_input, read_transactions, workbook  # noqa: E402
from hedgerow.data import text as text_files  # noqa: E402
from hedgerow.data import transactions as fimi  # noqa: E402
from hedgerow.data.source import Source  # noqa: E402
from hedgerow.draft.check import check_rows  # noqa: E402
from hedgerow.errors import DataError, DataWarning, HedgerowError, UsageError  # noqa: E402
from hedgerow.schema import Schema  # noqa: E402
from postgres_server import NoServer, postgres_server  # noqa: E402

INSERTIONS = 650
LIMITS = Path(__file__).parents[2] / "docs" / "privacy" / "limits.md"
# What may stop a run: words of docs/privacy/limits.md, and of the error that says so.
STOPS = (
    ("a value that breaks a rule `missing: error`", "breaks the schema"),
    ("a line with more or fewer fields", "has more or fewer fields than the first line"),
    ("a line that ends inside a quoted value", "opens a value that does not end in this line"),
    ("a quotation mark anywhere but at the start", "a quotation mark stands where none may stand"),
    ("a file that ends inside a quoted value", "the file ends inside a quoted value"),
    ("bytes that are not text in UTF-8", "the text is not encoded in"),
    ("text that is not UTF-8, in a column of text or of bytes", "bytes that are not text in UTF-8"),
    ("damage of any kind", "is damaged"),
    ("a value beside the named columns", "a value stands beside the named columns"),
    ("a record longer than 64 MiB", "64 MiB"),
    ("a list or a mapping", "holds lists"),
    ("an object that cannot be written as text", "holds an object that has no text"),
    ("a weight that breaks `weight_missing=error`", "weight"),
    ("a time zone that this computer does not know", "has a time zone that this computer"),
)
NOT_OURS = ("this is no array", "this cannot be written")  # of the test: no such file can be made
pytestmark = pytest.mark.filterwarnings("ignore::hedgerow.errors.DataWarning")
LINES = (
    "line in a table", "line, streamed", "line for prediction", "line with weights",
    "line by the studio", "record with breaks", "breaks, streamed", "line of a person",
    "person, streamed", "line of items", "items, streamed", "items with breaks", "person and item",
    "line in another notation", "line in an archive", "line in utf-16-le", "line in utf-16-be",
    "line in cp1252", "items in utf-16-le", "line of a text",
)  # fmt: skip
FRAMES = ("Arrow", "stream", "Parquet", "pandas", "Polars", "DuckDB")
SERVED = ("PostgreSQL record", "PostgreSQL items")
SKLEARN = [
    "sklearn Arrow", "sklearn pandas", "sklearn pandas labels", "sklearn Polars",
    "sklearn Polars labels", "sklearn array",
] * bool(find_spec("sklearn"))  # fmt: skip
STATISTICS = ["SPSS record", "Stata record", "SAS record", "SPSS person"] * bool(
    find_spec("pyreadstat")
)
VALUES = (
    *(f"{frame} {what}" for frame in FRAMES for what in ("record", "items")),
    "Arrow person", "Arrow long", "Parquet streamed", "Arrow streamed", *SERVED,
    "Parquet by the studio", *SKLEARN, *STATISTICS, "object record", "object items",
    *["sklearn list", "sklearn labels", "sklearn objects", "sklearn object labels"] * bool(SKLEARN),
    *(["cell record", "ODS record"] if find_spec("python_calamine") else []),
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("framing")


@pytest.fixture(scope="module")
def known(folder: Path) -> Iterator[dict[str, fuzz_readers.Reader]]:
    with ExitStack() as until:
        with suppress(NoServer):
            address = until.enter_context(postgres_server())
            until.enter_context(patch.dict(os.environ, {SERVER: address}))
        yield fuzz.insertions(folder / "cases")


def test_every_reader_is_listed(known: dict[str, fuzz_readers.Reader]) -> None:
    missing = set() if SERVED[0] in known else {*SERVED}
    assert tuple(known) == tuple(name for name in LINES + VALUES if name not in missing)


@pytest.mark.parametrize("name", LINES + VALUES)
def test_one_more_record_changes_no_other(
    name: str, known: dict[str, fuzz_readers.Reader], folder: Path
) -> None:
    """And many are read: if nearly all cases stopped the run, the test would say little."""
    if name in SERVED and name not in known:
        pytest.skip("there is no PostgreSQL here")
    read = -1  # the sound case, which comes first, is not an insertion

    def counted(case: Any) -> Any:
        nonlocal read
        found = known[name].run(case)
        read += 1
        return found

    shares = sum(reader.share for reader in known.values())
    looked_at = name in (*LINES, "object record", "Arrow record")
    cases = max(30 if looked_at else 3, round(INSERTIONS * known[name].share / shares))
    reader = dataclasses.replace(known[name], run=counted)
    guard = fuzz_guard.Guard(folder)
    outcome = fuzz.fuzz(reader, cases, "short", guard)
    assert outcome.cases == cases
    for stop in guard.stops:
        assert any(words in stop.message for _, words in STOPS) or stop.message in NOT_OURS
    assert not outcome.found, [
        (f.failure.words, fuzz.shown(f.case)) for f in outcome.found.values()
    ]
    if looked_at:
        assert read >= 3


ODD = (*OBJECTS, "a secret", 1e999, "\ud800", 10**5000, b"\xff", ["a secret"], {"a secret": 1})


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_what_python_holds_without_columns_is_no_table(odd: Any) -> None:
    """Lists, dictionaries and arrays have no types of their own: `publish` takes none of them."""
    several = np.empty(3, object)
    several[:] = [5, odd, 7]
    for rows in (
        [{"age": 5}, {"age": odd}], [[5], [odd]], {"age": [5, odd]}, several, several[:, None],
        ({"age": one} for one in (5, odd)), np.array([[5.0], [7.0]]),
    ):  # fmt: skip
        for schema in (fuzz_framing.PEOPLE, fuzz_framing.BOUGHT):
            with pytest.raises(UsageError, match="cannot read a table from an object of") as stop:
                hedgerow.publish(rows, Schema.from_dict(schema), epsilon=1)
            assert "secret" not in str(stop.value)


def test_the_studio_reads_every_record_by_itself(tmp_path: Path, copies: None) -> None:
    """Odd records that the rules drop leave the release of a seed as it was, to the last byte."""
    from hedgerow.studio.jobs import Jobs

    lines = [f"{10 + row},{'cook' if row % 3 else 'smith'}" for row in range(60)]
    odd = [
        "nan,1e999",
        "'5',cook ",
        "1e400,true",
        "-,2020-01-01",
        ",",
        "5.5.5,\u00e9",
        "9" * 400 + ",x",
    ]
    rule = "missing: drop, outside: drop"
    (tmp_path / "s.yaml").write_text(
        "name: s\nunit: row\nattributes:\n"
        f"  age: {{type: numeric, low: 0, high: 99, {rule}}}\n"
        f"  job: {{type: categorical, values: [cook, smith], {rule}}}\n",
        encoding="utf-8",
    )
    releases = []
    for name, rows in (("plain", lines), ("odd", [odd[0], *lines[:30], *odd[1:], *lines[30:]])):
        (tmp_path / f"{name}.csv").write_text("\n".join(["age,job", *rows]) + "\n", "utf-8")
        words = ["publish", f"{name}.csv", "--schema", "s.yaml", "--epsilon", "1", "--seed", "3"]
        words = [str(tmp_path / one) if "." in one else one for one in words]
        job = Jobs(tmp_path).start(
            [*words, "--out", str(tmp_path / name)],
            step="publish", title="", then=lambda _: "/", back="/",
        )  # fmt: skip
        assert job.ended.wait(600) and job.state == "done", job.error
        files = sorted(path for path in (tmp_path / name).rglob("*") if path.is_file())
        releases.append({path.name: path.read_bytes() for path in files})
    assert releases[0] == releases[1] and len(releases[0]) > 1


# What no odd record of the fuzzer brings about: the row of the page, its words, and the test.
ELSEWHERE = (
    ("any", "a warning that a program was told to treat as an error",
     "privacy/test_framing.py::test_a_warning_that_is_an_error_stops_a_run"),
    ("CSV", "in UTF-16 an odd number of bytes",
     "unit/data/test_unpacked.py::test_what_cannot_be_decoded_stops_the_run"),
    ("CSV, gzipped", "damage of any kind",
     "unit/data/test_csv_file.py::test_a_truncated_or_damaged_gzip_is_refused"),
    ("workbooks", "damage of any kind",
     "unit/data/test_workbook.py::test_damage_and_other_files"),
    ("SPSS, Stata, SAS", "text that is not in the file's encoding",
     "privacy/test_framing.py::test_text_in_another_encoding_stops_a_run"),
    ("SPSS, Stata, SAS", "damage of any kind", "unit/data/test_stats_file.py::test_damage"),
    ("lines of items", "a first line that begins like a gzip file",
     "unit/data/test_transactions.py::test_the_name_of_a_file_without_a_header_says_what_it_is"),
    ("Parquet", "a value that does not have its column's type",
     "privacy/test_framing.py::test_a_value_of_another_type_stops_a_run"),
    ("Parquet", "damage of any kind",
     "unit/data/test_open_input.py::test_truncated_and_damaged_parquet"),
    ("scikit-learn", "in which one is no row", "privacy/test_framing.py::test_what_stops_a_fit"),
    ("scikit-learn", "X and y of different lengths",
     "privacy/test_framing.py::test_what_stops_a_fit"),
    ("databases", "whatever makes the query fail",
     "unit/data/test_database.py::test_what_duckdb_refuses"),
    ("any", "more records, or larger ones, than memory",
     "unit/release/test_target.py::test_a_disk_without_room_is_told_before_anything_is_spent"),
    ("any", "an input without any record",
     "contracts/test_inputs.py::test_an_input_without_records_is_refused"),
    ("any", "that rules drop every record stops nothing",
     "unit/data/test_columns.py::test_person_and_item_tables_of_numbers_and_of_nobody"),
    ("people's own weights", "the defaults never do",
     "unit/data/test_weights.py::test_a_run_stops_only_if_it_was_asked_to"),
    ("Supermodular", "private records that are those of the side table",
     "contracts/test_inputs.py::test_the_private_table_is_no_side_table"),
)  # fmt: skip


def test_what_stops_a_run_is_documented_and_tested() -> None:
    """Every stop that the fuzzer meets is on the page, and every clause of the page has a test."""
    page = LIMITS.read_text("utf-8").split("## What stops a run")[1].split("\n## ")[0]
    for words, _ in STOPS:
        assert words in page
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("|")]
    used = set()
    for what, clauses in rows[2:]:
        for clause in clauses.split("; "):
            tests = [one for one in ELSEWHERE if what.startswith(one[0]) and one[1] in clause]
            used |= {*tests}
            met = "damage" not in clause and any(words in clause for words, _ in STOPS)
            assert met or tests, f"{what}: {clause}"
    assert used == {*ELSEWHERE}
    for _, _, test in ELSEWHERE:
        file, _, name = test.partition("::")
        assert f"def {name}(" in (Path(__file__).parents[1] / file).read_text("utf-8"), test


def test_a_warning_that_is_an_error_stops_a_run() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DataWarning, match="no value can be read as a number"):
            hedgerow.publish(pa.table({"age": ["4711x"] * 30}), _people("drop"))


def test_a_value_of_another_type_stops_a_run() -> None:
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 5], pa.int32()), ["5"], safe=False)
    with pytest.raises(DataError, match="values that are not of their columns' types"):
        hedgerow.publish(pa.table({"age": codes}), _people())


def test_text_in_another_encoding_stops_a_run(tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    import pandas as pd

    path = tmp_path / "people.sav"
    pyreadstat.write_sav(pd.DataFrame({"age": ["4711x", "5"]}), str(path))
    assert b"4711x" in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(b"4711x", b"\xff\xfe\xff\xff\xff"))
    with pytest.raises(DataError, match="damaged"):
        hedgerow.publish(path, _people())


class Odd:
    """An object whose text is an error."""

    def __str__(self) -> str:
        raise ValueError("a secret")


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ("breaks the schema", pa.table({"a": ["5", None]})),
        ("bytes that are not text in UTF-8", pa.table({"a": [b"5", b"\xff"]})),
        ("holds lists", [["5"], [["5"]]]),
        ("holds an object that has no text", [["5"], [Odd()]]),
        ("the same number of values", [["5"], ["5", "5"]]),
        ("not a table that can be read", [["5"], 5]),
        ("X and y have different numbers of rows", [["5"], ["5"], ["5"]]),
    ],
)
def test_what_stops_a_fit(words: str, rows: Any) -> None:
    """Each of the stops for scikit-learn is real, and names no value."""
    sklearn = pytest.importorskip("hedgerow.sklearn")
    schema = {"name": "s", "unit": "row", "attributes": {
        "a": {"type": "numeric", "low": 0, "high": 9},
        "y": {"type": "boolean", "role": "class"}}}  # fmt: skip
    document = schema if isinstance(rows, pa.Table) else None
    model = sklearn.RegionClassifier(
        schema=document, bounds=None if document else (0, 9), random_state=1,
        classes=None if document else ["yes", "no"],
    )  # fmt: skip
    with pytest.raises(DataError, match=words) as caught:
        model.fit(rows, ["yes", "no"])
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("rows", [[[5, "4711x"]], {"age": [5, "4711x"]}, np.array([["4711x"]])])
def test_what_has_no_names_or_types_is_refused_as_a_whole(rows: Any) -> None:
    """`publish` guesses no types: a list, a dictionary or an array of NumPy is no table to it."""
    with pytest.raises(HedgerowError) as caught:
        hedgerow.publish(rows, _people())
    assert "4711x" not in str(caught.value)


def _people(outside: str = "error") -> Schema:
    rules = {"missing": "other", "outside": outside}
    return Schema.from_dict({"name": "p", "unit": "row", "attributes": {
        "age": {"type": "numeric", "low": 0, "high": 99, **rules}}})  # fmt: skip


ATTACKS: dict[str, tuple[str, list[str], str, dict[str, Any]]] = {
    "table": ("age,ok,note", ["40,yes,tall", "50,no,short"], '44,no,"tall (6ft', {
        "name": "t", "unit": "row", "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 99},
            "ok": {"type": "boolean", "role": "class"},
            "note": {"type": "categorical", "values": ["tall", "short"], "outside": "other"}}}),
    "column": ("visit,x", ["1,milk tea", "2,tea"], '44,"tea (6oz', {
        "name": "c", "unit": "row", "items": {"universe": ["milk", "tea"], "column": "x"}}),
    "person and item": ("who,x", ["p1,milk", "p2,tea"], 'p3,"tea (6oz', {
        "name": "p", "unit": "person", "items": {
            "universe": ["milk", "tea"], "person": "who", "item": "x"}}),
}  # fmt: skip


@pytest.mark.parametrize("gzipped", [False, True])
@pytest.mark.parametrize("kind", ATTACKS)
def test_a_line_that_would_swallow_all_others_stops_the_run(
    kind: str, gzipped: bool, tmp_path: Path
) -> None:
    header, rows, attack, document = ATTACKS[kind]
    schema, path = Schema.from_dict(document), tmp_path / ("d.csv.gz" if gzipped else "d.csv")
    lines = [header, *rows * 500]
    lines.insert(2, attack)
    content = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(content) if gzipped else content)
    look: Any = check_rows if schema.items is None else read_transactions
    for run in (look, hedgerow.publish):
        with pytest.raises(DataError, match="line 3: a quotation mark opens a value") as caught:
            run(path, schema)
        assert "6" not in str(caught.value).replace(str(path), "")
        with pytest.raises(DataError, match="ends inside a quoted value.*opened in line 3"):
            run(path, schema, line_breaks=True)


def arrow_alone(
    path: Path,
    *,
    packed: Any,
    written: Any,
    known: Any = (),
    delimiter: str | None = None,
    line_breaks: bool = False,
    blank_records: bool = False,
) -> Source:
    """A reader of CSV files that leaves the telling apart of records to Arrow."""
    sound = SOUND(path, packed=packed, known=known, delimiter=delimiter, line_breaks=True)
    with text_files.open_binary(path, packed == "gzip") as file:
        start = file.read(200).decode("utf-8-sig", "replace")
    told = next((sign for sign in ",;\t|" if sign in start.splitlines()[0]), ",")

    def batches(columns: Sequence[int]) -> Iterator[Any]:
        keys = [str(place) for place in range(len(sound.names))]
        with text_files.open_binary(path, packed == "gzip") as file:
            found = pacsv.open_csv(
                file,
                pacsv.ReadOptions(column_names=keys, skip_rows=1),
                pacsv.ParseOptions(delimiter=told, newlines_in_values=line_breaks),
                pacsv.ConvertOptions(
                    column_types=dict.fromkeys(keys, pa.string()),
                    include_columns=[keys[column] for column in columns],
                    strings_can_be_null=False,
                ),
            )
            yield from found

    return Source(what=sound.what, names=sound.names, batches=batches)


SOUND = open_input.open_csv


def typed_by_content(series: Any, name: str, what: str, split: Any = None) -> Any:
    """Takes a column of objects for something else if one of them is not finite."""
    if any(isinstance(value, float) and not np.isfinite(value) for value in series):
        return pa.nulls(len(series))
    return COLUMN(series, name, what, split)


COLUMN = frames._array_of


def marked_at_the_start(data: Any) -> Any:
    """Takes a byte order mark away from the first line of a block alone."""
    content = data.tobytes()
    begin, end = LINES_OF(np.frombuffer(content.replace(b"\xef\xbb\xbf", b"xxx"), np.uint8))
    begin[:1] += 3 if content.startswith(b"\xef\xbb\xbf") else 0
    return begin, end


LINES_OF = fimi.find_lines


class Forgiving(text_files._Recoded):
    """Passes over bytes that are no text, so that all that follows shifts."""

    def __init__(self, told: Any, file: Any) -> None:
        super().__init__(told, file)
        self._decoder.errors = "ignore"


def typed_by_column(values: Any) -> Any:
    """Takes a column for one of texts, without its numbers, if one of its cells says so."""
    if "nan" in values:
        values = [value if isinstance(value, str) else "" for value in values]
    return CELLS(values)


CELLS = workbook.cells_array
needs_sklearn = pytest.mark.skipif(not SKLEARN, reason="needs scikit-learn")
needs_calamine = pytest.mark.skipif(not find_spec("python_calamine"), reason="an extra")


@pytest.mark.parametrize(
    ("name", "module", "function", "broken"),
    [
        ("line in a table", open_input, "open_csv", arrow_alone),
        ("record with breaks", open_input, "open_csv", arrow_alone),
        ("line of items", open_input, "open_csv", arrow_alone),
        ("person and item", open_input, "open_csv", arrow_alone),
        ("line by the studio", open_input, "open_csv", arrow_alone),
        ("object record", frames, "_array_of", typed_by_content),
        pytest.param("sklearn objects", frames, "_array_of", typed_by_content, marks=needs_sklearn),
        pytest.param("ODS record", workbook, "cells_array", typed_by_column, marks=needs_calamine),
        ("line of a text", fimi, "find_lines", marked_at_the_start),
        ("items in utf-16-le", text_files, "_Recoded", Forgiving),
        pytest.param("cell record", workbook, "cells_array", typed_by_column, marks=needs_calamine),
    ],
)
def test_a_reader_that_lets_a_record_change_others_is_caught(
    name: str,
    module: Any,
    function: str,
    broken: Callable[..., Any],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, function, broken)
    reader = fuzz.insertions(folder / "broken")[name]
    reader.run(reader.sound)
    random, refused = Random(name), Counter[str]()
    for _ in range(2000):  # one in fifty catches the reader that is hardest to catch
        try:
            reader.run(reader.draw(random))
        except AssertionError as error:
            assert str(error) == "another record changed"
            return
        except Exception as error:
            refused[repr(error)[:200]] += 1
    raise AssertionError(f"it was not caught, and stopped by {refused.most_common(3)}")
