"""Private values and totals stay where they are: canaries that must not sing.

Data with unmistakable values and totals goes through every way in which reading and publishing can
fail or succeed, and none of them may turn up in what anybody gets to see.
"""

from __future__ import annotations

import copy
import csv
import gzip
import io
import json
import math
import pickle
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import hedgerow
from hedgerow import data as table
from hedgerow.cli import app
from hedgerow.data import Table, Transactions
from hedgerow.errors import HedgerowError, LeakError
from hedgerow.privacy.sampler import SecureSampler
from hedgerow.schema import Schema

TEXT, NUMBER, COMMA, DAY = "zqcanary", "31415926", "2718,2818", "1643-12-25"
SINGING = (TEXT, NUMBER, "31415926.0", COMMA, "2718", DAY, "1643")
ROWS = 1237
CELLS = {"low": 738, "high": 499}
YOUNG = 617

DOCUMENT: dict[str, Any] = {
    "name": "people",
    "unit": "row",
    "attributes": {
        "age": {"type": "numeric", "low": 0, "high": 99},
        "job": {"type": "categorical", "values": ["clerk", "nurse", "smith"]},
        "born": {"type": "numeric", "low": "1990-01-01", "high": "1990-12-31"},
        "who": {"role": "identifier"},
        "pay": {"type": "categorical", "values": ["low", "high"], "role": "class"},
    },
}
NAMES = ("age", "job", "born", "who", "pay")


def rows(**changes: str) -> list[list[str]]:
    """Sound rows, of which the fifth has some other values."""
    found = []
    for number in range(ROWS):
        young, low = number % ROWS < YOUNG, number < CELLS["low"]
        age = number % 40 if young else 50 + number % 40
        job = ("clerk", "nurse", "smith")[number % 3]
        found.append([str(age), job, "1990-05-06", f"{TEXT}{number}", "low" if low else "high"])
    for name, value in changes.items():
        found[4][NAMES.index(name)] = value
    return found


def written(records: list[list[str]], names: tuple[str, ...] | None = NAMES) -> str:
    sink = io.StringIO(newline="")
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerows([*([names] if names else []), *records])
    return sink.getvalue()


def frame(records: list[list[str]]) -> pa.Table:
    return pa.table(dict(zip(NAMES, map(list, zip(*records, strict=True)), strict=True)))


def parquet(records: list[list[str]], **columns: Any) -> bytes:
    found = frame(records)
    for name, values in columns.items():
        found = found.set_column(found.column_names.index(name), name, pa.array(values))
    sink = io.BytesIO()
    pq.write_table(found, sink)
    return sink.getvalue()


def _cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


SOUND = rows()
FAULTS: dict[str, Callable[[], bytes | str]] = {
    "a number outside": lambda: written(rows(age=NUMBER)),
    "a text for a number": lambda: written(rows(age=TEXT)),
    "a decimal comma": lambda: written(rows(age=COMMA)),
    "an unknown label": lambda: written(rows(job=TEXT)),
    "an unknown class": lambda: written(rows(pay=TEXT)),
    "a day outside": lambda: written(rows(born=DAY)),
    "a text for a day": lambda: written(rows(born=TEXT)),
    "missing": lambda: written(rows(age="", job="?", pay="NA")),
    "several": lambda: written(rows(age=NUMBER, job=TEXT, born=DAY, pay=TEXT)),
    "a column of nothing known": lambda: written([[NUMBER, *row[1:]] for row in SOUND]),
    "too many fields": lambda: written([*SOUND[:4], [*SOUND[4], TEXT], *SOUND[5:]]),
    "too few fields": lambda: written([*SOUND[:4], [TEXT], *SOUND[5:]]),
    "an open quote": lambda: written(SOUND).replace("clerk", f'"{TEXT}', 1),
    "bytes that are no text": lambda: written(rows(job=TEXT)).encode().replace(b"90-", b"\xff"),
    "nothing but zeros": lambda: written(rows(job=TEXT)).encode() + b"\0",
    "no header": lambda: written([[NUMBER, TEXT, DAY, TEXT, TEXT], *SOUND], None),
    "a repeated name": lambda: written([["age", TEXT, TEXT, "who", "pay"], *SOUND], None),
    "a blank name": lambda: written([["age", "", TEXT, NUMBER, DAY], *SOUND], None),
    "a damaged gzip": lambda: _cut(gzip.compress(written(rows(job=TEXT)).encode())),
    "a damaged Parquet file": lambda: _cut(parquet(rows(job=TEXT))),
    "lists in Parquet": lambda: parquet(SOUND, job=[[TEXT]] * ROWS),
    "bytes in Parquet": lambda: parquet(SOUND, job=[TEXT.encode() + b"\xff"] * ROWS),
    "numbers in Parquet": lambda: parquet(SOUND, age=[int(NUMBER)] * ROWS),
    "labels in Parquet": lambda: parquet(rows(job=TEXT)),
}  # fmt: skip


def sings(*texts: str) -> list[str]:
    """The canaries that can be heard."""
    whole = "\n".join(texts)
    totals = {str(number) for number in (ROWS, ROWS + 1, YOUNG, *CELLS.values())}
    words = set("".join(c if c.isalnum() else " " for c in whole).split())
    return [canary for canary in SINGING if canary in whole] + sorted(totals & words)


def told(error: BaseException) -> str:
    """All that somebody sees who does not catch an error, and more."""
    more = [str(error), repr(error), str(getattr(error, "hint", ""))]
    return "\n".join([*traceback.format_exception(error), *more])


def heard(run: Callable[[], Any]) -> tuple[BaseException | None, str]:
    """What a call tells by its error and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            run()
        except HedgerowError as error:
            return error, "\n".join([told(error), *(str(one.message) for one in caught)])
    return None, "\n".join(str(one.message) for one in caught)


@pytest.fixture
def schema_file(tmp_path: Path) -> Path:
    path = tmp_path / "schema.yaml"
    path.write_text(Schema.from_dict(DOCUMENT).to_yaml(), "utf-8")
    return path


@pytest.mark.parametrize("fault", FAULTS)
def test_no_failure_quotes_a_value_or_a_total(
    fault: str, tmp_path: Path, schema_file: Path
) -> None:
    content = FAULTS[fault]()
    path = tmp_path / "data"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    schema = Schema.from_dict(DOCUMENT)
    for run in (
        lambda: table.read(path, schema),
        lambda: hedgerow.publish(path, schema, epsilon=1),
    ):
        error, text = heard(run)
        assert error is not None, "this was to fail"
        assert sings(text) == []
    # predictors alone are read here, so that some of these are no fault
    assert sings(heard(lambda: table.encode_rows(path, schema, lenient=False))[1]) == []
    for words in (
        ["publish", path, "--schema", schema_file, "--epsilon", "1", "--out", tmp_path / "out"],
        ["check", schema_file, "--data", path],
    ):
        for more in ([], ["--json"]):
            done = CliRunner().invoke(app, [str(word) for word in [*words, *more]])
            assert done.exit_code == 4, done.output
            assert sings(done.stdout, done.stderr) == []
    assert not (tmp_path / "out").exists()


RULED = copy.deepcopy(DOCUMENT)
for _column in RULED["attributes"].values():
    if "type" in _column:
        _column |= {"missing": "other", "outside": "other"}


@pytest.mark.parametrize(
    "fault", [fault for fault in FAULTS if fault.startswith(("a ", "several"))]
)
def test_no_rule_lets_a_value_through(fault: str, tmp_path: Path) -> None:
    """With rules that refuse nothing, a release is made; and still nothing sings."""
    content = FAULTS[fault]()
    path = tmp_path / "data"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    out = tmp_path / "out"

    def run() -> None:
        hedgerow.publish(path, Schema.from_dict(RULED), epsilon="0.5").save(out)

    error, text = heard(run)
    assert sings(text) == []
    if error is None:
        for file in (one for one in out.rglob("*") if one.is_file()):
            raw = file.read_bytes()
            assert not [canary for canary in SINGING[:4] if canary.encode() in raw]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_frames_do_not_sing_either(kind: str) -> None:
    schema = Schema.from_dict(DOCUMENT)
    for changes in ({"job": TEXT}, {"age": NUMBER}, {"born": DAY}):
        given = table.to_frame(frame(rows(**changes)), kind)
        error, text = heard(lambda given=given: hedgerow.publish(given, schema, epsilon=1))
        assert error is not None
        assert sings(text) == []


def test_objects_in_pandas_do_not_sing() -> None:
    pandas = pytest.importorskip("pandas")
    for value in ([TEXT], {"a": TEXT}, object(), 31415926, TEXT, pandas.Timestamp("1643-12-25")):
        given = table.to_frame(frame(SOUND), "pandas").astype(object)
        given.loc[4, "job"] = None
        given.at[4, "job"] = value
        error, text = heard(lambda given=given: table.read(given, Schema.from_dict(DOCUMENT)))
        assert error is not None
        assert sings(text) == []


def test_the_canaries_can_sing() -> None:
    assert sings(f"the value {NUMBER} is odd", f"{ROWS} rows") == [NUMBER, str(ROWS)]
    assert sings(f"{TEXT}7: no", "738 are low") == [TEXT, "738"]
    assert sings(told(ValueError(f"bad {TEXT}"))) == [TEXT]
    assert sings("line 6, column 'age'", "17380") == []


# private tables


@cache
def private() -> dict[str, Any]:
    people = table.read(frame(SOUND), Schema.from_dict(DOCUMENT))
    shop = Schema.from_dict({"name": "shop", "unit": "row", "items": {"universe": ["tea", "milk"]}})
    baskets = table.read_transactions(pa.table({"x": [["tea"], ["milk", "tea"]]}), shop)
    return {"table": people, "baskets": baskets}


@pytest.mark.parametrize("kind", ["table", "baskets"])
@pytest.mark.parametrize(
    "look", [len, bool, iter, list, tuple, set, sorted, sum, max, any, pickle.dumps, copy.copy,
             copy.deepcopy, enumerate, lambda t: 3 in t, lambda t: [*t], lambda t: t or 1,
             lambda t: not t, lambda t: dict(t), lambda t: next(iter(t))],
)  # fmt: skip
def test_private_data_has_no_length_no_rows_and_no_truth(kind: str, look: Any) -> None:
    held = private()[kind]
    assert isinstance(held, Table | Transactions)
    with pytest.raises(LeakError) as caught:
        look(held)
    assert sings(told(caught.value)) == []


@pytest.mark.parametrize("kind", ["table", "baskets"])
@pytest.mark.parametrize("look", [repr, str, "{}".format, "%s".__mod__, lambda t: f"{t!r:>9}"])
def test_private_data_is_named_by_its_schema_alone(kind: str, look: Any) -> None:
    held = private()[kind]
    assert look(held) == f"{type(held).__name__}({held.schema.name!r})"


# exact counts in releases

RUNS = 10
EPSILON = 0.1
METHODS = [
    hedgerow.DiffMulti(specializations=2),
    hedgerow.DiffMulti(specializations=2, schedule="paper"),
    hedgerow.DiffGen(specializations=2),
    hedgerow.DiffGen(specializations=2, schedule="paper"),
    hedgerow.CDiffGen(),
    hedgerow.CDiffGen(schedule="paper"),
]


def fields(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every number and text of a document, by its place."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield from fields(below, f"{path}/{key}")
            yield f"{path} keys {key}", key
    elif isinstance(value, list):
        yield f"{path} length", len(value)
        for place, below in enumerate(value):
            yield from fields(below, f"{path}/{place}")
    elif isinstance(value, int | float | str) and not isinstance(value, bool):
        yield path, value


def numbers(folder: Path) -> Iterator[tuple[str, Any]]:
    """Every number and text of a release, and what can be added up, by its place."""
    yield from fields(json.loads((folder / "manifest.json").read_text("utf-8")), "manifest")
    for file in sorted(folder.glob("*.parquet")):
        found = pq.read_table(file)
        yield f"{file.name} rows", found.num_rows
        for key, text in (found.schema.metadata or {}).items():
            yield f"{file.name} {key!r}", text.decode("utf-8", "replace")
        for name in found.column_names:
            values = found[name].to_pylist()
            if all(isinstance(one, int) for one in values):
                yield f"{file.name} {name} sum", sum(values)
            yield from fields(values, f"{file.name} {name}")
    for file in sorted([*folder.glob("*.csv"), *folder.glob("*.txt")]):
        with file.open(encoding="utf-8", newline="") as text:
            yield from fields(list(csv.reader(text)), file.name)


def leaks(runs: list[dict[str, Any]], exact: set[int]) -> set[str]:
    """Places that hold one and the same exact count in every run."""
    same = set(runs[0])
    for run in runs:
        same &= set(run)
    texts = {str(number): number for number in exact}
    found = set()
    for place in same:
        values = {run[place] for run in runs}
        if len(values) == 1:
            (value,) = values
            if texts.get(value) if isinstance(value, str) else value in exact:
                found.add(place)
    return found


EXACT = {ROWS, YOUNG, ROWS - YOUNG, *CELLS.values()}
SMALL: dict[str, Any] = {
    "name": "people",
    "unit": "row",
    "attributes": {
        "age": {"type": "numeric", "low": 0, "high": 99, "step": 50},
        "job": {"type": "categorical", "values": ["clerk", "nurse", "smith"]},
        "pay": {"type": "categorical", "values": ["low", "high"], "role": "class"},
    },
}


def saved(folder: Path, method: Any) -> list[dict[str, Any]]:
    schema = Schema.from_dict(SMALL)
    people = frame(SOUND).select(["age", "job", "pay"])
    runs = []
    for number in range(RUNS):
        release = hedgerow.publish(people, schema, method=method, epsilon=str(EPSILON))
        release.save(folder / str(number))
        runs.append(dict(numbers(folder / str(number))))
    return runs


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_no_place_of_a_release_always_holds_an_exact_count(method: Any, tmp_path: Path) -> None:
    """A place that holds a noisy count is right by chance now and then, but not every time.

    If a place is right with probability p whatever the total is, privacy itself bounds p: add k
    rows, and the place is right with p about a total that is k larger, so that it says the same of
    the first table with at least p exp(-k epsilon). These are exclusive, for all k on either side
    (rows are taken from one cell of hundreds), so p is at most tanh(epsilon / 2). A false alarm
    needs one of `places` to be right in all runs about one of the exact counts.
    """
    runs = saved(tmp_path, method)
    places = max(map(len, runs))
    assert places * len(EXACT) * math.tanh(EPSILON / 2) ** RUNS < 1e-7
    assert leaks(runs, EXACT) == set()


@pytest.mark.parametrize("method", [hedgerow.DiffPart(), hedgerow.DiffPart(variant="tree"),
                                    hedgerow.DiffPart(schedule="paper")], ids=str)  # fmt: skip
def test_no_place_of_published_transactions_does_either(method: Any, tmp_path: Path) -> None:
    """By the same argument; the records are those with just one item, and with both."""
    held = [["tea"]] * CELLS["low"] + [["tea", "milk"]] * CELLS["high"]
    schema = Schema.from_dict(
        {"name": "shop", "unit": "row", "items": {"universe": ["tea", "milk", "salt"]}}
    )
    runs = []
    for number in range(RUNS):
        folder = tmp_path / str(number)
        hedgerow.publish(pa.table({"x": held}), schema, method=method, epsilon=str(EPSILON)).save(
            folder
        )
        runs.append(dict(numbers(folder)))
    assert max(map(len, runs)) * len(EXACT) * math.tanh(EPSILON / 2) ** RUNS < 1e-7
    assert leaks(runs, EXACT) == set()


@pytest.mark.parametrize("where", ["settings", "guarantee", "ledger"])
@pytest.mark.parametrize("count", sorted(EXACT))
def test_a_release_that_holds_an_exact_count_is_caught(
    where: str, count: int, tmp_path: Path
) -> None:
    """The broken twin: a manifest that tells a total, as a number or as a text."""
    runs = saved(tmp_path, METHODS[0]) if count == ROWS and where == "settings" else [{}, {}]
    for told_as in (count, str(count)):
        unsound = [run | dict(fields({where: {"rows": told_as}}, "manifest")) for run in runs]
        assert leaks(unsound, EXACT) == {f"manifest/{where}/rows"}


def test_an_unnoised_release_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: a source of noise that always says nothing."""
    monkeypatch.setattr(SecureSampler, "laplace", lambda self, exact, rates: exact)
    assert leaks(saved(tmp_path, METHODS[4]), EXACT)
