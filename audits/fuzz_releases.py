"""Folders of releases that somebody tampered with, hashes included."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import hedgerow
from fuzz_mutate import places, put, spoil_tree
from hedgerow import sample
from hedgerow.errors import HedgerowError
from hedgerow.estimate.partition import TreePartition
from hedgerow.present import kinds, words
from hedgerow.present.report import page
from hedgerow.release import Release
from hedgerow.verification import verify

__all__ = ["Folders"]

MANIFEST = "manifest.json"
READ = ("partition.parquet", "measurements.parquet")
_NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    5,
    2**15,
    2**31 - 1,
    -(2**31),
    2**53 + 1,
    2**62,
    2**63 - 1,
    -(2**63),
    None,
)
_KINDS: tuple[Callable[[int], Any], ...] = (
    lambda n: pa.array([None] * n), lambda n: pa.array(["x"] * n), lambda n: pa.array([1.5] * n),
    lambda n: pa.array([True] * n),
    lambda n: pa.array([[0, 1]] * n), lambda n: pa.array([[None]] * n),
    lambda n: pa.array([{"a": 1}] * n),
    lambda n: pa.array([2**64 - 1] * n, pa.uint64()), lambda n: pa.array(range(n),
    pa.int8()) if n < 128 else pa.array([0] * n),
    lambda n: pa.array(["no", "yes"] * (n // 2) + ["no"] * (n % 2)),
    lambda n: pa.array([[2**40] * 3] * n),
    lambda n: pa.array([b"\xff"] * n), lambda n: pa.array([0] * n, pa.timestamp("s")),
    lambda n: pa.array([[[1]]] * n),
    lambda n: pa.array([0] * n).dictionary_encode(), lambda n: pa.array([0] * n,
    pa.decimal128(20, 2)),
)  # fmt: skip


def _sound() -> list[Release]:
    """A release of every method and shape; seeded, so that a run can be repeated."""
    rows = sample.people(300, seed=2)
    schema = sample.schema()
    person = hedgerow.Schema.from_dict(
        put(
            put(schema.to_dict(), ("unit",), "person"),
            ("attributes", "patient"),
            {"role": "person", "max_rows": 2},
        )
    )
    bought = [[str(1 + (7 * row + step) % 12) for step in range(row % 5)] for row in range(400)]
    clicks = hedgerow.Schema.from_dict(
        {"name": "c", "unit": "row", "items": {"universe": {"range": [1, 12]}}}
    )
    transactions = pa.table({"x": pa.array(bought, pa.list_(pa.string()))})
    part = hedgerow.DiffPart
    runs: list[tuple[Any, Any, Any, Any]] = [
        (rows, hedgerow.DiffMulti(specializations=6), schema, 0),
        (rows, hedgerow.DiffGen(specializations=4), schema, 0),
        (rows, hedgerow.CDiffGen(), schema, "1e-9"),
        (rows, hedgerow.DiffMulti(specializations=3), person, "1e-9"),
        (rows, hedgerow.DiffGen(max_cells=2, specializations=4), schema, 0),
        (transactions, part(), clicks, 0),
        (transactions, part(variant="tree"), clicks, 0),
        (transactions, part(schedule="paper"), clicks, 0),
    ]
    made = [hedgerow.publish(t, s, method=m, epsilon=1, delta=d, seed=1) for t, m, s, d in runs]
    return [replace(release, guarantee=release.guarantee | {"private": True}) for release in made]


class Folders:
    """Draws and runs cases of whole folders.

    Args:
        folder: Where the folders go.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def folders(self) -> list[Path]:
        """Sound releases, written when they are first needed: compiling takes a while."""
        found = []
        for number, release in enumerate(_sound()):
            found.append(self._folder / str(number))
            release.save(found[-1])
            _use(found[-1])  # compiles what has to be
        return found

    @cached_property
    def sound(self) -> list[dict[str, bytes]]:
        """The files of each, but for the manifest."""
        return [
            {
                one.relative_to(path).as_posix(): one.read_bytes()
                for one in sorted(path.rglob("*"))
                if one.is_file() and one.name != MANIFEST
            }
            for path in self.folders
        ]

    @cached_property
    def manifests(self) -> list[str]:
        """The text of each manifest."""
        return [(path / MANIFEST).read_text("utf-8") for path in self.folders]

    @cached_property
    def parsed(self) -> list[Any]:
        """Each manifest."""
        return [json.loads(text) for text in self.manifests]

    @cached_property
    def paths(self) -> list[Any]:
        """The parts of each manifest."""
        return [places(manifest) for manifest in self.parsed]

    @cached_property
    def tables(self) -> list[dict[str, Any]]:
        """The Parquet files of each."""
        return [
            {
                name: pq.read_table(io.BytesIO(content))
                for name, content in found.items()
                if ".p" in name
            }
            for found in self.sound
        ]

    def draw(self, random: Random) -> Any:
        """Changes of one folder."""
        number = random.randrange(len(self.folders))
        edits = [self._edit(random, number) for _ in range(random.choice((1, 1, 1, 2, 3)))]
        return number, tuple(edits)

    def _edit(self, random: Random, number: int) -> tuple[Any, ...]:
        if random.random() < 0.45:
            return ("manifest", *spoil_tree(random, self.parsed[number], self.paths[number]))
        name = random.choice(READ if random.random() < 0.8 else [*self.sound[number]])
        if name not in self.tables[number] or random.random() < 0.25:
            return (
                "byte",
                name,
                random.randrange(len(self.sound[number][name])),
                random.randrange(256),
            )
        table = self.tables[number][name]
        column = random.choice(table.column_names)
        match random.randrange(6):
            case 0 | 1 | 2:
                return (
                    "cell",
                    name,
                    column,
                    random.randrange(max(1, table.num_rows)),
                    random.choice(_NUMBERS),
                )
            case 3:
                return "kind", name, column, random.randrange(len(_KINDS))
            case 4:
                return random.choice(("drop", "twice")), name, column
            case _:
                return "rows", name, random.choice((0, 1, -1, 2, 3)), None

    def run(self, case: Any) -> Any:
        """Writes a folder, does with it what all commands do, and puts it right again."""
        number, edits = case
        path, manifest, files = self.folders[number], self.parsed[number], {}
        tables = dict(self.tables[number])
        for kind, *rest in edits:
            if kind == "manifest":
                manifest = put(manifest, *rest)
            elif kind == "byte":
                content = bytearray(files.get(rest[0], self.sound[number][rest[0]]))
                content[rest[1] % len(content)] = rest[2]
                files[rest[0]] = bytes(content)
            else:
                tables[rest[0]] = _changed(tables[rest[0]], kind, *rest[1:])
                sink = io.BytesIO()
                pq.write_table(tables[rest[0]], sink)
                files[rest[0]] = sink.getvalue()
        if files and isinstance(manifest, dict) and isinstance(manifest.get("files"), dict):
            hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
            manifest = manifest | {"files": manifest["files"] | hashes}
        try:
            (path / MANIFEST).write_text(json.dumps(manifest), "utf-8")
            for name, content in files.items():
                (path / name).write_bytes(content)
            _use(path)
        finally:
            (path / MANIFEST).write_text(self.manifests[number], "utf-8")
            for name in files:
                (path / name).write_bytes(self.sound[number][name])


def _changed(table: Any, kind: str, column: Any, *rest: Any) -> Any:
    if kind == "rows":
        if column > 1:
            return pa.concat_tables([table] * column)
        return table.slice(0, 0) if column == 0 else table.slice(max(column, 0), table.num_rows - 1)
    names = table.column_names
    if column not in names:
        return table
    place = names.index(column)
    if kind == "drop":
        return table.remove_column(place)
    if kind == "twice":
        return table.append_column(column, table.column(place))
    if kind == "kind":
        return table.set_column(place, column, _KINDS[rest[0]](table.num_rows))
    values = table.column(place).to_pylist()
    if values:
        row, value = rest[0] % len(values), rest[1]
        if isinstance(values[row], list) and values[row]:
            value = [value, *values[row][1:]]
        elif isinstance(values[row], str):
            value = None if value is None else str(value)
        values[row] = value
    try:
        return table.set_column(place, column, pa.array(values, table.column(place).type))
    except (pa.ArrowException, OverflowError, TypeError):
        try:
            return table.set_column(place, column, pa.array(values))
        except (pa.ArrowException, OverflowError, TypeError):
            return table


def _use(path: Path) -> None:
    """What `verify`, `show`, `query`, `sample` and `report` do."""
    with contextlib.suppress(HedgerowError):
        verify(path)
    release = Release.load(path)
    shared: list[Callable[[], Any]] = [
        lambda: repr(release),
        lambda: words.summary(release),
        lambda: words.guarantee(release),
        lambda: release.describe(),
        lambda: release.histograms(),
        lambda: page(release),
        lambda: release.synthesize(20, seed=1),
        lambda: release.synthesize(seed=1),
    ]
    for use in shared + (
        _transactions(release) if release.kind == "transactions" else _rows(release)
    ):
        with contextlib.suppress(HedgerowError):
            use()


def _rows(release: Any) -> list[Callable[[], Any]]:
    first = release.schema.attributes[0]
    return [
        lambda: kinds.largest(release, 12),
        lambda: _tree(release),
        lambda: release.generalized(),
        lambda: release.count(["everybody", {first.name: 0}]),
        lambda: release.count({first.name: first.label(0, 1)}),
    ]


def _transactions(release: Any) -> list[Callable[[], Any]]:
    return [
        lambda: release.itemsets(),
        lambda: release.frequent(5),
        lambda: release.count([[], release.items.labels[:1], release.items.labels[:2]]),
    ]


def _tree(release: Any) -> Any:
    if isinstance(release.partition, TreePartition):
        return kinds.grow_tree(release, release.partition, 3)
    return kinds.cuts(release, release.partition)
