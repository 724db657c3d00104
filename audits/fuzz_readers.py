"""The readers that are fuzzed: how to make a case for each, and how to run it.

A case is a text, some bytes, or `Edits`: changes of a sound document. All go through the doors that
users have. A new reader is one more line in `readers`.
"""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from fuzz_mutate import WORDS, places, put, spoil_bytes, spoil_text, spoil_tree
from fuzz_releases import Folders
from hedgerow import data as table
from hedgerow.draft.draft import draft_text, sketch_table
from hedgerow.privacy.budget import Budget
from hedgerow.release.files import check_guarantee, parse_manifest, schema_of
from hedgerow.schema import Schema, Vocabulary, read_arx, read_queries

__all__ = ["Edits", "Reader", "readers"]

Draw = Callable[[Random], Any]


class Edits(NamedTuple):
    """Changes of a sound document, in order."""

    seed: int
    edits: tuple[Any, ...]


@dataclass(frozen=True)
class Reader:
    """A door that strangers' input comes through.

    Args:
        name: What it reads.
        share: Its part of all cases, compared with the others.
        sound: A case without fault, which must be read.
        draw: Makes a case.
        run: Reads a case.
    """

    name: str
    share: float
    sound: Any
    draw: Draw
    run: Callable[[Any], Any]


SCHEMAS: tuple[dict[str, Any], ...] = (
    {
        "name": "people", "unit": "person",
        "attributes": {
            "age": {"type": "numeric", "low": 17, "high": 90, "missing": "other"},
            "job": {"type": "categorical", "root": "All", "taxonomy": {
                "Professional": ["Engineer", "Lawyer"], "Artist": {"Stage": ["Dancer", "=Actor"],
                "Poet": None}}},
            "born": {"type": "numeric", "low": "2000-01-01", "high": "2000-12-31", "step": 7,
            "outside": "clip"},
            "size": {"type": "numeric", "low": "0.0", "high": "2.0", "step": "0.1",
            "outside": "drop"},
            "well": {"type": "boolean", "missing": "other"},
            "who": {"role": "person", "max_rows": 3},
            "id": {"role": "identifier"},
            "pay": {"type": "categorical", "values": ["low", "Health and care", ">50K"],
            "role": "class"},
        },
    },
    {"name": "clicks", "unit": "row", "items": {"universe": {"range": [1, 40]}, "fan_out": 4,
        "max_items": 5}},
    {"name": "shop", "unit": "person", "items": {
        "taxonomy": {"Food": ["milk", "tea"], "Tools": ["saw", "nail"]},
        "root": "All", "foreign": "error", "empty": "dummy", "person": "who", "item": "bought"}},
    {"name": "list", "unit": "row", "items": {"universe": ["a", "b", "c d"], "column": "x",
        "separator": ","}},
    {"name": "x", "unit": "row", "draft": True,
        "file": {"decimal": ",", "thousands": ".", "encoding": "cp1252", "header_row": 2,
        "sheet": "A"}, "attributes": {
        "n": {"type": "numeric", "low": 0, "high": 9, "thousands": "'"},
        "d": {"type": "numeric", "low": "2020-01-01", "high": "2020-12-31", "format": "%m/%d/%Y"},
        "a": {"type": "categorical", "values": ["b", "c", 1, 2.5, True]}}},
)  # fmt: skip
ROWS = (
    'age,job,born,size,well,who,id,pay\n17,Engineer,2000-01-01,0.3,true,p1,1,low\n90,"=Actor",2000-12-31,2.0,,p1,2,>50K\n'
    '?,Poet,2000-06-07,1.95,no,p2,3,"Health and care"\n'
)  # fmt: skip
TRANSACTIONS = "1 2 3\n\n7 7 40\n12\n1 99 x\r\n" + " ".join(map(str, range(1, 41))) + "\n"
LONG = 'who,bought,x\np1,milk,"a,b"\np1,saw,a\np2,tea,\n,nail,c d\n'
COLUMNS = {
    "age": [17, 90, None], "job": ["Engineer", "Poet", "Dancer"],
    "born": ["2000-01-01", "2000-12-31", "2000-06-07"], "size": [0.3, 2.0, 1.95],
    "well": [True, None, False], "who": ["p1", "p1", "p2"], "id": [1, 2, 3],
    "pay": ["low", ">50K", "low"],
}  # fmt: skip
TREES = (
    "North:\n  Coast: [Bay, 'Point']\nSouth: {Hill: [a, b], Plain: }\n",
    '{"a": ["b", "c"], "d": null}',
)
ARX = ('Engineer;Professional;*\nLawyer;Professional;*\n"a;b";"a;b";*\n', "a,b,*\nc,b,*\nd,d,*\n")
QUERIES = (
    "age in [30, 50] and job in Professional and pay = '>50K'", "everybody", "", "age < 40",
    "born >= 2000-03-01",
    'job in {Engineer, "=Actor", Stage} and well = yes',
    "size in (0.1, 1.5] and age in {17, other, [20, 30)}",
    "pay in {Health and care, low} and born in [2000-01-01, 2000-02-01)",
    "age = other and well = other", "id = 3",
)  # fmt: skip
BUDGETS = ("1", "0.1", "1/3", "1e-9", "100", "2.50", "0", "1e-30", "0.000001")
_BYTES = tuple(word.encode("utf-8", "surrogatepass") for word in WORDS) + (
    b"\xff\xfe", b"\xef\xbb\xbf", b"\x1f\x8b", b"PAR1", b"PK\x03\x04", b"\xc3\x28", b"\x80",
    b"\xff\xff\xff\x7f", b"\x00" * 8,
)  # fmt: skip


def _times(random: Random) -> int:
    return random.choice((1, 1, 1, 2, 2, 3, 5, 12))


def texts(seeds: Sequence[str], words: Sequence[str] = WORDS) -> Draw:
    """Cases made from sound texts, and now and then from nothing."""

    def draw(random: Random) -> str:
        if random.random() < 0.03:
            return "".join(random.choice(words) for _ in range(random.randrange(1, 9)))
        text = random.choice(seeds)
        for _ in range(_times(random)):
            text = spoil_text(random, text, words if random.random() < 0.7 else WORDS)
        return text[:20_000]

    return draw


def contents(seeds: Sequence[bytes]) -> Draw:
    """Cases made from the bytes of sound files, and now and then from nothing."""

    def draw(random: Random) -> bytes:
        if random.random() < 0.03:
            return random.randbytes(random.randrange(200))
        content = random.choice(seeds)
        for _ in range(_times(random)):
            content = spoil_bytes(random, content, _BYTES)
        return content

    return draw


def documents(seeds: Sequence[Any], objects: bool = False) -> Draw:
    """Changes of nested documents."""
    paths = [places(tree) for tree in seeds]

    def draw(random: Random) -> Edits:
        number = random.randrange(len(seeds))
        tree, edits = seeds[number], []
        for _ in range(_times(random)):
            edit = spoil_tree(random, tree, paths[number], objects)
            tree = put(tree, *edit)
            edits.append(edit)
        return Edits(number, tuple(edits))

    return draw


def changed(seeds: Sequence[Any], case: Edits) -> Any:
    """The document that a case stands for."""
    tree = seeds[case.seed]
    for path, value in case.edits:
        tree = put(tree, path, value)
    return tree


def _zipped(text: str) -> bytes:
    return gzip.compress(text.encode(), mtime=0)


def _utf_16(text: str) -> bytes:
    return text.encode("utf-16")


def _archive(text: str) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr(zipfile.ZipInfo("rows.csv"), text)  # without the clock
    return sink.getvalue()


def _workbook(text: str) -> bytes:
    import xlsxwriter

    sink = io.BytesIO()
    with xlsxwriter.Workbook(sink, {"in_memory": True, "strings_to_formulas": False}) as book:
        book.set_properties({"created": datetime.datetime(2020, 1, 1)})
        sheet = book.add_worksheet()
        for row, record in enumerate(csv.reader(io.StringIO(text))):
            sheet.write_row(row, 0, record)
    return sink.getvalue()


def _parquet(rows: pa.Table, **how: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(rows, sink, **how)
    return sink.getvalue()


@cache
def _typed() -> tuple[Any, ...]:
    """Columns of all kinds that a Parquet file can hold, three values each."""
    now = [0, 2**62, None]
    makers: list[Callable[[], Any]] = [
        lambda: pa.array([1, -(2**63), 2**63 - 1]), lambda: pa.array([0, 2**64 - 1, None],
        pa.uint64()),
        lambda: pa.array([float("nan"), float("inf"), -1e308]), lambda: pa.array([0.1, None,
        40.0], pa.float32()),
        lambda: pa.array(["", "\0", "17"]), lambda: pa.array([b"\xff", b"x", None]),
        lambda: pa.array([None] * 3),
        lambda: pa.array(["a", "b", None]).dictionary_encode(), lambda: pa.array([17, 20,
        None]).dictionary_encode(),
        lambda: pa.array([[1], [], None]), lambda: pa.array([{"a": 1}, None, {"a": 2}]),
        lambda: pa.array([True, None, False]),
        lambda: pa.array(now, pa.timestamp("ns")), lambda: pa.array(now, pa.timestamp("us", "UTC")),
        lambda: pa.array(now, pa.timestamp("ms", "Europe/Berlin")), lambda: pa.array([-(2**31),
        2**31 - 1, 0], pa.date32()),
        lambda: pa.array([0, 86400000, None], pa.date64()), lambda: pa.array([1, 2, None],
        pa.time64("us")),
        lambda: pa.array([1, 2, None], pa.duration("s")), lambda: pa.array([1, 2, None],
        pa.decimal128(38, 30)),
        lambda: pa.array([1, 2, None], pa.decimal256(76, 0)), lambda: pa.array([b"abc", b"def",
        None], pa.binary(3)),
        lambda: pa.array([1.5, 2, None], pa.float16()), lambda: pa.array(["x", "y", None],
        pa.large_string()),
        lambda: pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int64())),
        lambda: pa.array(["1", "2", "3"], pa.string_view()),
        lambda: pa.array(["17", "x" * 10_000, " 18 "]), lambda: pa.array(["2000-01-01",
        "2000-02-30", "1e400"]),
    ]  # fmt: skip
    return tuple(maker() for maker in makers)


def _parquet_tables(folder: Path, read: Callable[[Path], Any]) -> tuple[Draw, Callable[[Any], Any]]:
    """Damaged Parquet files, and whole ones with columns of other types."""
    sound, path = pa.table(COLUMNS), folder / "rows.parquet"
    damaged = contents(
        [_parquet(sound), _parquet(sound, compression="gzip", version="1.0", use_dictionary=False)]
    )

    def draw(random: Random) -> Any:
        if random.random() < 0.5:
            return damaged(random)
        some = (random.choice(sound.column_names) for _ in range(_times(random)))
        return Edits(0, tuple((name, random.randrange(len(_typed()))) for name in some))

    def run(case: Any) -> Any:
        if isinstance(case, Edits):
            rows = sound
            for name, number in case.edits:
                rows = rows.set_column(rows.column_names.index(name), name, _typed()[number])
            case = _parquet(rows)
        path.write_bytes(case)
        return read(path)

    return draw, run


def readers(folder: Path) -> dict[str, Reader]:
    """All readers by name.

    Args:
        folder: A folder for the files of cases.
    """
    folder.mkdir(parents=True, exist_ok=True)
    people = Schema.from_dict(SCHEMAS[0])
    clicks, *shops = (Schema.from_dict(document) for document in SCHEMAS[1:4])
    yaml = [*(Schema.from_dict(document).to_yaml() for document in SCHEMAS), json.dumps(SCHEMAS[0])]
    (folder / "schema.yaml").write_text(
        "name: x\nunit: row\nattributes:\n"
        "  a: {type: categorical, taxonomy: tree.yaml, missing: other}\n",
        "utf-8",
    )
    tables = [ROWS, _zipped(ROWS), ROWS.replace(",", ";"), ROWS.replace(",", "\t")]
    folders = Folders(folder / "releases")
    plain = Edits(0, ())

    def filed(
        name: str, share: float, seeds: Sequence[Any], read: Callable[[Path], Any], ending: str
    ) -> Reader:
        """A reader of files; the first seed is the sound one."""
        encoded = [seed.encode() if isinstance(seed, str) else seed for seed in seeds]
        path = folder / (ending if "." in ending[1:] else f"{name}{ending}")

        zipped = path.with_name(f"{path.name}.gz")  # lines of items are unpacked by their name

        def run(content: bytes) -> Any:
            target = zipped if ending == ".dat" and content[:2] == b"\x1f\x8b" else path
            target.write_bytes(content)
            return read(target)

        return Reader(name, share, encoded[0], contents(encoded), run)

    found = [
        Reader("query text", 40, QUERIES[0], texts(QUERIES), _run_query(people)),
        Reader("query mapping", 5, plain, documents(_MAPPINGS, True), _run_mapping(people)),
        filed(
            "query file", 3, ["\n".join(QUERIES[:-1])], lambda p: read_queries(p, people), ".txt"
        ),
        Reader("budget", 15, "1 | 1e-9 | 2", _draw_budget, _run_budget),
        Reader("schema document", 10, plain, documents(SCHEMAS, True), _run_document),
        filed("schema file", 6, yaml, _run_file, ".yaml"),
        filed(
            "taxonomy file", 4, TREES, lambda p: Schema.load(p.parent / "schema.yaml"), "tree.yaml"
        ),
        filed("ARX file", 6, ARX, read_arx, ".csv"),
        Reader("manifest", 8, plain, *_manifests(folders)),
        filed("CSV file", 1.5, tables, lambda p: table.read(p, people), ".csv"),
        filed("text in UTF-16", 0.3, [_utf_16(ROWS)], lambda p: table.read(p, people), ".csv"),
        filed("archive", 0.3, [_archive(ROWS)], lambda p: table.read(p, people), ".zip"),
        filed("CSV draft", 0.5, tables, lambda p: draft_text(sketch_table(p)), ".csv"),
        filed("CSV rows", 0.5, tables, lambda p: table.encode_rows(p, people), ".csv"),
        Reader(
            "Parquet file", 1.5, plain, *_parquet_tables(folder, lambda p: table.read(p, people))
        ),
        filed(
            "transactions",
            2,
            [TRANSACTIONS, _zipped(TRANSACTIONS)],
            lambda p: table.read_transactions(p, clicks),
            ".dat",
        ),
        filed(
            "transaction CSV",
            1,
            [LONG, _zipped(LONG)],
            lambda p: [table.read_transactions(p, s) for s in shops],
            ".csv",
        ),
        Reader("release folder", 1, plain, folders.draw, folders.run),
    ]
    if find_spec("python_calamine") is not None:
        cells = [_workbook(ROWS)]
        found.append(filed("workbook", 0.2, cells, lambda p: table.read(p, people), ".xlsx"))
    return {reader.name: reader for reader in found}


def _run_query(schema: Schema) -> Callable[[str], Any]:
    words = Vocabulary(schema)

    def run(text: str) -> Any:
        query = words.parse(text)
        if Vocabulary(schema).parse(words.text(query)) != query:
            raise AssertionError("a query does not survive being written down")
        if len(words._read) > 1000:
            words._read.clear()

    return run


_MAPPINGS: tuple[Any, ...] = (
    {"age": [30, 50], "job": "Professional", "pay": [">50K"], "well": True, "born": "2000-01-01"},
    {"size": [0.1, 2], "age": [[17, 20], [30, 31]]},
)


def _run_mapping(schema: Schema) -> Callable[[Edits], Any]:
    def run(case: Edits) -> Any:
        document = changed(_MAPPINGS, case)
        if isinstance(document, dict):
            size = document.get("size")
            pair = {"size": tuple(size)} if isinstance(size, list) else {}  # an interval
            Vocabulary(schema).of(document | pair)

    return run


def _draw_budget(random: Random) -> str:
    spoil = texts(BUDGETS, [word for word in WORDS if len(word) < 30])
    delta = random.choice((spoil(random), "0", "1e-9"))
    return f"{spoil(random)} | {delta} | {random.choice((1, 2, 3, 10**9, 10**40))}"


def _run_budget(case: str) -> Any:
    epsilon, _, rest = case.partition(" | ")
    delta, _, rows = rest.rpartition(" | ")
    budget = Budget.of(epsilon, delta, int(rows or 1))
    return budget.row_epsilon, budget.row_delta


def _run_document(case: Edits) -> Any:
    schema = Schema.from_dict(changed(SCHEMAS, case))
    if Schema.from_dict(schema.to_dict()) != schema:
        raise AssertionError("a schema does not survive being written down")
    return schema.hash, schema.to_yaml()


def _run_file(path: Path) -> Any:
    schema = Schema.load(path)
    return schema.hash, schema.to_yaml()


def _manifests(folders: Folders) -> tuple[Draw, Callable[[Any], Any]]:
    @cache
    def draws() -> tuple[Draw, Draw]:
        return documents(folders.parsed), contents([text.encode() for text in folders.manifests])

    def draw(random: Random) -> Any:
        return draws()[random.random() < 0.4](random)

    def run(case: Any) -> Any:
        if isinstance(case, Edits):
            manifest = changed(folders.parsed, case)
            if isinstance(manifest, dict) and isinstance(manifest.get("schema"), dict):
                manifest = manifest | {"schema_hash": _hash_of(manifest["schema"])}
            case = json.dumps(manifest).encode()
        manifest = parse_manifest(case)
        check_guarantee(manifest["guarantee"])
        return schema_of(manifest)

    return draw, run


def _hash_of(document: Any) -> str:
    """The hash that a changed schema should have, so that readers go on to what comes after."""
    try:
        return Schema.from_dict(document).hash
    except Exception:
        return ""
