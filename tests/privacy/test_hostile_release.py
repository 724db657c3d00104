"""A release from a stranger who means harm: loading, verifying and using it does nothing harmful.

Whatever lies in the folder, the library says `ReleaseError` or answers, and the commands end with
exit code 6 or 0. Nothing hangs: an alarm ends a test that does.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import os
import re
import shutil
import signal
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from in_turn import in_turn
from typer.testing import CliRunner

import hedgerow
from hedgerow import sample
from hedgerow.cli import app
from hedgerow.errors import HedgerowError, ReleaseError, UsageError
from hedgerow.methods.marginals import Marginals
from hedgerow.release import Release
from hedgerow.release.files import parse_manifest
from hedgerow.store import untrusted
from hedgerow.store import untrusted as footer
from hedgerow.verification import verify

NAMES = (
    "manifest.json",
    "partition.parquet",
    "measurements.parquet",
    "regions.parquet",
    "table.csv",
)
SECRET = "what only the reader may know"


@pytest.fixture(autouse=True)
def no_hang() -> Iterator[None]:
    def late(*_: Any) -> None:
        raise AssertionError("hangs")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module", autouse=True)
def claims_are_read_once() -> Iterator[None]:
    """Every command reads the same bytes, and what they claim follows from them alone."""
    once = functools.lru_cache(maxsize=16)(untrusted.claims)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(untrusted, "claims", lambda content: once(bytes(content)))
        yield


@pytest.fixture(scope="module")
def releases() -> dict[str, Release]:
    rows, schema = sample.people(300, seed=2), sample.schema()
    methods: dict[str, Any] = {
        "tree": hedgerow.DiffMulti(specializations=6),
        "marginals": Marginals(pairs=2),
        "grid": hedgerow.DiffGen(specializations=4),
        "sparse": hedgerow.DiffGen(specializations=4, max_cells=2),
        "counted": hedgerow.CDiffGen(),
    }
    return {
        name: hedgerow.publish(rows, schema, method=m, epsilon=1) for name, m in methods.items()
    }


@pytest.fixture(scope="module")
def saved(
    releases: dict[str, Release], shops: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Every release in a folder of its own; whoever harms one takes a copy."""
    root = tmp_path_factory.mktemp("saved")
    for name, release in (releases | shops).items():
        release.save(root / name)
        assert verify(root / name).ok
    return root


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    return copied(saved / "tree", tmp_path / "r")


@pytest.fixture
def grid(saved: Path, tmp_path: Path) -> Path:
    return copied(saved / "grid", tmp_path / "r")


def copied(release: Path, to: Path) -> Path:
    shutil.copytree(release, to)
    return to


def edit(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    change(manifest)
    path.write_text(json.dumps(manifest, ensure_ascii=False), "utf-8")


def rewrite(folder: Path, name: str, content: bytes | pa.Table, **how: Any) -> None:
    """Replaces a file, and its hash as well: a stranger can do both."""
    if not isinstance(content, bytes):
        sink = io.BytesIO()
        pq.write_table(content, sink, **how)
        content = sink.getvalue()
    (folder / name).write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    edit(folder, lambda manifest: manifest["files"].update({name: digest}))


def with_column(folder: Path, name: str, column: str, values: Any, **how: Any) -> None:
    table = pq.read_table(folder / name)
    rewrite(folder, name, table.set_column(table.column_names.index(column), column, values), **how)


def state(root: Path) -> dict[str, Any]:
    return {
        str(path.relative_to(root)): (os.lstat(path).st_mode, os.lstat(path).st_size)
        for path in sorted(root.rglob("*"))
    }


def commands(folder: Path) -> list[Any]:
    """Runs every command that takes a release; what they write goes elsewhere."""
    out = folder.parent / "elsewhere"
    out.mkdir()
    asked: list[list[Any]] = [
        ["show", folder],
        ["show", folder, "--json"],
        ["show", folder, "--tree"],
        ["query", folder, "everybody"],
        ["query", folder, "age < 40", "--json"],
        ["sample", folder, "--out", out / "rows.csv", "--rows", "10"],
        ["sample", folder, "--out", out / "all.csv"],
        ["verify", folder],
        ["verify", folder, "--json"],
    ]
    before = state(folder.parent)
    done = [CliRunner().invoke(app, [str(word) for word in words]) for words in asked]
    for path in out.iterdir():
        path.unlink()
    assert state(folder.parent) == before
    for words, result in zip(asked, done, strict=True):
        text = result.stdout + result.stderr
        assert result.exit_code in (0, 2, 6), (words, text)
        assert SECRET not in text
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text), (words, text)
    return done


def refused(folder: Path, match: str | None = None) -> None:
    """Loading fails, verifying does not pass, no command does harm."""
    with pytest.raises(ReleaseError, match=match):
        Release.load(folder)
    with contextlib.suppress(ReleaseError):
        assert not verify(folder).ok
    assert all(result.exit_code == 6 for result in commands(folder))


def test_a_sound_release_passes(folder: Path) -> None:
    """Or nothing here would show anything."""
    assert verify(folder).ok
    assert all(result.exit_code == 0 for result in commands(folder))


# what is not an ordinary file


@pytest.mark.parametrize(
    ("name", "kind"), in_turn(NAMES, ["outside", "twin", "nowhere", "loop", "zero", "up"])
)
def test_links_are_not_followed(folder: Path, name: str, kind: str) -> None:
    """Not even one to the very same content: what is verified is what lies in the folder."""
    twin = folder.parent / "twin"
    (folder / name).rename(twin)
    (folder.parent / "secret").write_text(SECRET)
    target = {
        "outside": folder.parent / "secret",
        "twin": twin,
        "nowhere": folder.parent / "none",
        "loop": folder / name,
        "zero": Path("/dev/zero"),
        "up": Path("../twin"),
    }[kind]
    (folder / name).symlink_to(target)
    refused(folder, "link")


@pytest.mark.parametrize(("name", "kind"), in_turn(NAMES, ["pipe", "folder", "socket"]))
def test_pipes_folders_and_sockets_are_no_files(
    folder: Path, name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / name).unlink()
    if kind == "pipe":
        os.mkfifo(folder / name)
    elif kind == "folder":
        (folder / name).mkdir()
    else:
        monkeypatch.chdir(folder)  # the path of a socket must be short
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(name)
    refused(folder)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_too_large_is_not_read(folder: Path, name: str) -> None:
    with (folder / name).open("r+b") as file:
        file.truncate(1 << 40)  # takes no room on the disk
    refused(folder, "larger")


def test_a_folder_may_be_reached_by_a_link(folder: Path) -> None:
    """The reader made that one."""
    (folder.parent / "link").symlink_to(folder)
    assert verify(folder.parent / "link").ok


@pytest.mark.parametrize(
    "name", ["../secret", "/etc/passwd", "..", "a/../../secret", "x\\..\\y", "manifest.json", "\0"]
)
def test_names_in_the_manifest_open_nothing(folder: Path, name: str) -> None:
    (folder.parent / "secret").write_text(SECRET)
    digest = hashlib.sha256(SECRET.encode()).hexdigest()
    edit(folder, lambda manifest: manifest["files"].update({name: digest}))
    assert [check.ok for check in _verdict(folder) if check.name == "other files"] != [True]
    commands(folder)


def _verdict(folder: Path) -> Any:
    try:
        return verify(folder).checks
    except ReleaseError:
        return ()


def test_other_files_are_named_without_what_a_terminal_obeys(folder: Path) -> None:
    (folder / "\x1b[2J\x07").write_text(SECRET)
    assert not verify(folder).ok
    commands(folder)


# the manifest


def nested(depth: int, start: str = "[", end: str = "]") -> str:
    return start * depth + end * depth


@pytest.mark.parametrize(
    "text",
    [
        b"", b"\xff\xfe", b"\xef\xbb\xbf{}", b"nul", b"1", b'"x"', b"[]", b"{}", b"\0",
        b"[" * 200_000, b'{"a":' * 200_000, b'{"format": "hedgerow-release"}',
        b'{"format": "hedgerow-release", "format_version": 1e400}',
        b'{"format": "hedgerow-release", "format_version": -1}',
        b'{"format": "hedgerow-release", "format_version": ' + b"9" * 6000 + b"}",
    ],
)  # fmt: skip
def test_a_manifest_that_is_none(folder: Path, text: bytes) -> None:
    (folder / "manifest.json").write_bytes(text)
    refused(folder)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_numbers_that_are_none(folder: Path, number: str) -> None:
    path = folder / "manifest.json"
    text = path.read_text("utf-8")
    path.write_text(text.replace('"settings": {', f'"settings": {{"x": {number}, ', 1), "utf-8")
    refused(folder, "infinite")


def test_a_key_that_is_there_twice(folder: Path) -> None:
    """One reader would take the first promise for true, another the second."""
    path = folder / "manifest.json"
    text = path.read_text("utf-8")
    path.write_text(
        text.replace('"epsilon": "1"', '"epsilon": "1/100", "epsilon": "1"', 1), "utf-8"
    )
    assert text != path.read_text("utf-8")
    refused(folder, "twice")


@pytest.mark.parametrize("key", ["settings", "ledger", "guarantee"])
@pytest.mark.parametrize("depth", [250, 900])
def test_a_deep_nest(folder: Path, key: str, depth: int) -> None:
    path = folder / "manifest.json"
    text = path.read_text("utf-8")
    path.write_text(text.replace(f'"{key}": {{', f'"{key}": {{"x": {nested(depth)}, ', 1), "utf-8")
    refused(folder)


@pytest.mark.parametrize(
    ("text", "path"),
    in_turn(
        ["\x1b[31m", "\x9b2J", "\x07", "a\nb", "\ud800", "\x7f"],
        [("method",), ("guarantee", "neighbors"), ("schema", "name")],
    ),
)
def test_what_a_terminal_obeys_is_refused(folder: Path, path: tuple[str, ...], text: str) -> None:
    def change(manifest: dict[str, Any]) -> None:
        *above, key = path
        for name in above:
            manifest = manifest[name]
        manifest[key] = text

    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    change(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest), "ascii")
    refused(folder, "control character")


HUGE = (2**63, 2**64, -(2**63), 10**400, -1, 0, True, None, "x", [], {}, 0.5, "9" * 401, "1/0")


PATHS = [
        ("ledger", "budgets", "epsilon", "unit"), ("ledger", "budgets", "epsilon", "units"),
        ("ledger", "person_rows"), ("ledger", "entries", 0, "units"),
        ("ledger", "entries", 0, "nodes"),
        ("ledger", "entries", 0, "depth"), ("ledger", "entries", 0, "purpose"), ("ledger", "paths"),
        ("ledger", "paths", 0, "leaves"), ("ledger", "paths", 0, "spent", "epsilon"),
        ("ledger", "accounting"),
        ("guarantee", "epsilon"), ("guarantee", "delta"), ("settings", "consistency"),
        ("package_version",),
        ("measurements", 0, "unit"), ("measurements", 0, "place_kind"),
        ("measurements", 0, "by_class"), ("measurements", 0, "sparse"),
        ("measurements", 0, "threshold"), ("files", "table.csv"),
        ("schema", "attributes", "age", "high"), ("schema", "attributes", "stay", "step"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value"), in_turn(PATHS, HUGE, times=4))
def test_any_value_anywhere_in_the_manifest(
    folder: Path, path: tuple[Any, ...], value: Any
) -> None:
    def change(part: Any) -> None:
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = value

    edit(folder, change)
    for use in (lambda: verify(folder), lambda: _use(Release.load(folder))):
        with contextlib.suppress(HedgerowError):
            use()


def _use(release: Release) -> None:
    repr(release)
    for use in (
        release.generalized,
        lambda: release.count(["everybody", "age < 40"]),
        lambda: release.synthesize(10),
    ):
        with contextlib.suppress(HedgerowError):
            use()


SAID = "Alice bought 7"
RIDERS: dict[str, tuple[str, Callable[[dict[str, Any]], Any]]] = {
    "chosen": ("settings", lambda m: m["settings"]["chosen"].update(secret=SAID)),
    "chosen value": ("settings", lambda m: m["settings"]["chosen"].update(depth=["Alice", 7])),
    "list": ("settings", lambda m: m["settings"].update(pairs=["Alice", 7])),
    "mapping": ("settings", lambda m: m["settings"].update(rounds={"Alice": 7})),
    "sentence": ("settings", lambda m: m["settings"].update(distribution=SAID)),
    "guarantee": ("entries", lambda m: m["guarantee"].update(note=7)),
    "ledger": ("entries", lambda m: m["ledger"].update(note=7)),
    "entry": ("entries", lambda m: m["ledger"]["entries"][0].update(note=7)),
    "path": ("entries", lambda m: m["ledger"]["paths"][0].update(note=7)),
    "budget": ("entries", lambda m: m["ledger"]["budgets"]["epsilon"].update(note=7)),
    "conversion": ("entries", lambda m: m["ledger"].update(conversion={"note": 7})),
    "suppression": ("entries", lambda m: m["ledger"].update(suppression={"note": 7})),
    "measurement": ("entries", lambda m: m["measurements"][0].update(note=7)),
    "purpose": (
        "entries",
        lambda m: m["ledger"]["entries"].append(
            {"purpose": SAID, "budget": "epsilon", "depth": 0, "units": 0, "nodes": 1}
        ),
    ),
    "threshold": ("entries", lambda m: m["ledger"].update(suppression={"threshold": SAID})),
    "id": ("entries", lambda m: m["ledger"].update(release_id=SAID)),
    "short id": ("entries", lambda m: m["ledger"].update(release_id="a" * 31)),
    "number id": ("entries", lambda m: m["ledger"].update(release_id=7)),
    "version": ("entries", lambda m: m.update(package_version=SAID)),
}


@pytest.mark.parametrize("name", RIDERS)
def test_nothing_rides_along_in_the_manifest(folder: Path, name: str) -> None:
    where, change = RIDERS[name]
    edit(folder, change)
    assert where in {check.name for check in _verdict(folder) if not check.ok}


def test_transactions_carry_nothing_either(saved: Path, tmp_path: Path) -> None:
    folder = copied(saved / "core", tmp_path / "r")
    edit(folder, lambda manifest: manifest["settings"].update(c1=["Alice", 7]))
    assert {check.name for check in _verdict(folder) if not check.ok} == {"settings"}


def test_what_another_version_added_is_named(folder: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        manifest["package_version"] = "99.0"
        manifest["guarantee"]["novel"] = 1

    edit(folder, change)
    (found,) = (check for check in _verdict(folder) if check.name == "entries")
    assert found.ok and "'guarantee.novel'" in found.words
    edit(folder, lambda manifest: manifest["guarantee"].update(novel=SAID))
    (found,) = (check for check in _verdict(folder) if check.name == "entries")
    assert not found.ok and SAID not in found.words


def test_notes_of_other_programs_are_named(folder: Path) -> None:
    edit(folder, lambda manifest: manifest.update(x_catalog=SAID))
    (found,) = (check for check in _verdict(folder) if check.name == "entries")
    assert verify(folder).ok and "'x_catalog'" in found.words and SAID not in found.words


@pytest.mark.parametrize(
    "path", [("ledger", "budgets"), ("ledger", "paths"), ("ledger", "entries")]
)
def test_commands_on_a_ledger_that_is_none(folder: Path, path: tuple[str, str]) -> None:
    edit(folder, lambda manifest: manifest[path[0]].update({path[1]: {"x": [7]}}))
    assert any(result.exit_code == 6 for result in commands(folder))


@pytest.mark.parametrize(
    "taxonomy",
    ["../secret", "/etc/passwd", "taxonomies/home.yaml", "!!python/object/apply:os.system [id]"],
)
def test_a_schema_in_a_release_opens_no_file(folder: Path, taxonomy: str) -> None:
    home = {"type": "categorical", "taxonomy": taxonomy}
    edit(folder, lambda manifest: manifest["schema"]["attributes"].update(home=home))
    refused(folder, "schema is wrong")


# Parquet files


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"PAR1PAR1", b"PAR1" + b"\xff" * 8 + b"PAR1", b"PARE" * 5]
)
@pytest.mark.parametrize("name", NAMES[1:3])
def test_a_parquet_file_that_is_none(folder: Path, name: str, content: bytes) -> None:
    rewrite(folder, name, content)
    refused(folder, name)


def bomb(rows: int) -> pa.Table:
    zeros = pa.array(np.zeros(rows, np.int32))
    return pa.table({name: zeros for name in ("measurement", "place", "value", "units")})


def test_a_small_file_with_very_many_rows(folder: Path) -> None:
    """Ten million rows in some thousand bytes; the same trick makes billions."""
    table = bomb(10_000_000).append_column("class", pa.nulls(10_000_000, pa.string()))
    rewrite(folder, "measurements.parquet", table, compression="zstd")
    assert (folder / "measurements.parquet").stat().st_size < 200_000
    refused(folder, "claims")


def test_a_small_file_with_a_very_long_list(folder: Path) -> None:
    flat = pa.array(np.zeros(10_000_000, np.int32))
    rows = pq.read_table(folder / "partition.parquet").num_rows
    offsets = pa.array([0] * rows + [len(flat)], pa.int32())
    column = pa.ListArray.from_arrays(offsets, flat)
    with_column(folder, "partition.parquet", "lo", column, compression="zstd")
    refused(folder, "claims")


def test_a_page_that_unfolds_into_very_much(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted, "_LARGEST_PAGE", 1000)
    values = pa.array(np.zeros(1, np.int64))
    rewrite(
        folder, "measurements.parquet",
        pa.table({"measurement": values, "place": values, "value": values, "units": values,
                  "class": ["x" * 100_000]}), compression="zstd",
    )  # fmt: skip
    refused(folder, "claims")


def test_a_long_text_is_not_repeated_for_every_row(folder: Path) -> None:
    """A megabyte, once in the file, for each of a million rows would be a terabyte."""
    rows = 1_000_000
    label = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), ["x" * (1 << 20)])
    rewrite(folder, "measurements.parquet", bomb(rows).append_column("class", label))
    refused(folder)


def compact(number: int) -> bytes:
    """A number as Thrift's compact form has it."""
    number = number << 1
    found = b""
    while number >= 128:
        found += bytes([number & 127 | 128])
        number >>= 7
    return found + bytes([number])


@pytest.mark.parametrize("rows", [2**31, 2**60, 2**62])
def test_a_tiny_file_that_claims_any_number_of_rows(folder: Path, rows: int) -> None:
    sink = io.BytesIO()
    pq.write_table(bomb(77).append_column("class", pa.nulls(77, pa.string())), sink)
    content = sink.getvalue()
    size = int.from_bytes(content[-8:-4], "little")
    body, foot = content[: -8 - size], content[-8 - size : -8]
    changed = foot.replace(compact(77), compact(rows))  # wherever it stands
    assert changed != foot
    whole = body + changed + len(changed).to_bytes(4, "little") + b"PAR1"
    rewrite(folder, "measurements.parquet", whole)
    refused(folder, "measurements.parquet")


def test_what_packs_too_well_is_written_out(
    folder: Path, releases: dict[str, Release], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody may be left with a release that was paid for and cannot be read."""
    size = (folder / "measurements.parquet").stat().st_size
    monkeypatch.setattr(untrusted, "_FREE_NUMBERS", 0)
    monkeypatch.setattr(untrusted, "_NUMBERS_PER_BYTE", 0.002)
    releases["tree"].save(folder, overwrite=True)
    assert (folder / "measurements.parquet").stat().st_size != size
    monkeypatch.undo()
    assert verify(folder).ok


def test_the_footer_is_read_as_the_writer_meant_it() -> None:
    rng = np.random.default_rng(1)
    for rows in (0, 1, 5000, 500_000):
        lists = [["x"] * 2] * min(rows, 9) + [[]] * max(0, rows - 9)
        table = pa.table({"a": rng.integers(0, 10**9, rows), "b": pa.array(lists)})
        for how in (
            {},
            {"data_page_version": "2.0", "row_group_size": 1000},
            {"use_dictionary": False},
        ):
            if rows > 5000 and how:
                continue
            sink = io.BytesIO()
            pq.write_table(table, sink, **how)
            numbers, unfolded = footer.claims(sink.getvalue())
            assert rows <= numbers <= rows + 9
            assert (unfolded > 0) == (rows > 0)


@pytest.mark.parametrize(
    "flip",
    [*range(0, 3000, 35), *(pytest.param(n, marks=pytest.mark.long) for n in range(0, 3000, 7))],
)
def test_a_damaged_footer_never_ends_the_program(folder: Path, flip: int) -> None:
    """Some of these end a program that asks Arrow for the metadata of columns."""
    content = bytearray((folder / "partition.parquet").read_bytes())
    size = int.from_bytes(content[-8:-4], "little")
    content[len(content) - 9 - flip % size] ^= 1 << flip % 8
    rewrite(folder, "partition.parquet", bytes(content))
    with contextlib.suppress(ReleaseError):
        Release.load(folder)


def extension(name: str, storage: pa.Array) -> pa.Table:
    kind = {
        b"ARROW:extension:name": name.encode(),
        b"ARROW:extension:metadata": b"\x80\x04cos\nsystem\n.",
    }
    return pa.table([storage], pa.schema([pa.field("value", storage.type, metadata=kind)]))


@pytest.mark.parametrize(
    "name",
    ["arrow.py_extension_type", "arrow.json", "arrow.uuid", "arrow.bool8", "arrow.opaque", "x"],
)
def test_types_that_bring_code_along(folder: Path, name: str) -> None:
    table = pq.read_table(folder / "measurements.parquet")
    odd = extension(name, table["value"].combine_chunks())
    place = table.column_names.index("value")
    changed = table.set_column(place, odd.schema.field(0), odd.column(0))
    rewrite(folder, "measurements.parquet", changed)
    with contextlib.suppress(ReleaseError):
        _use(Release.load(folder))  # unknown types are taken for what they are stored as
    commands(folder)


ODD = {
    "nulls": lambda n: pa.nulls(n), "texts": lambda n: pa.array(["x"] * n),
    "floats": lambda n: pa.array([np.nan] * n),
    "truths": lambda n: pa.array([True] * n), "records": lambda n: pa.array([{"a": 1}] * n),
    "lists": lambda n: pa.array([[[1]]] * n),
    "maps": lambda n: pa.array([[("k", 1)]] * n, pa.map_(pa.string(), pa.int8())),
    "days": lambda n: pa.array([0] * n, pa.date32()),
    "large": lambda n: pa.array([2**64 - 1] * n, pa.uint64()),
    "most": lambda n: pa.array([2**63 - 1] * n), "least": lambda n: pa.array([-(2**63)] * n),
    "below": lambda n: pa.array([-1] * n), "many": lambda n: pa.array([2**53 + 1] * n),
}  # fmt: skip


COLUMNS = [(NAMES[1], c) for c in ("node", "parent", "depth", "split", "lo", "hi")] + [
    (NAMES[2], c) for c in ("measurement", "place", "class", "units")
]


@pytest.mark.parametrize(("place", "odd"), in_turn(COLUMNS, ODD, times=4))
def test_any_kind_of_column(folder: Path, place: tuple[str, str], odd: str) -> None:
    name, column = place
    rows = pq.read_table(folder / name).num_rows
    with_column(folder, name, column, ODD[odd](rows))
    with pytest.raises(ReleaseError):
        Release.load(folder)
    assert not verify(folder).ok


@pytest.mark.parametrize(
    ("value", "kind", "everywhere"),
    in_turn(
        [2**63 - 1, -(2**63), 2**53 + 1, 2**53, 2**50, -(2**50)],
        ["tree", "grid", "sparse", "counted", "marginals"],
        [False, True],
    ),
)
def test_counts_that_overflow(
    saved: Path, tmp_path: Path, kind: str, value: int, everywhere: bool
) -> None:
    copied(saved / kind, tmp_path / "r")
    table = pq.read_table(tmp_path / "r" / "measurements.parquet")
    values = table["value"].to_pylist()
    values[-1:] = [value]
    if everywhere:
        values = [value] * len(values)
    with_column(tmp_path / "r", "measurements.parquet", "value", pa.array(values, pa.int64()))
    # 128 of the largest numbers in one measurement are more than any sum
    most = max(Counter(table["measurement"].to_pylist()).values())
    if abs(value) > 2**53 or (everywhere and most * abs(value) > 2**60):
        refused(tmp_path / "r", "larger than any")
        return
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        if kind == "marginals" and everywhere:
            return refused(tmp_path / "r", "those that are large")
        release = Release.load(tmp_path / "r")
        assert kind == "marginals" or (release.counts >= 0).all()
        assert np.isfinite(release.count("everybody").estimate).all()
        try:
            release.synthesize()
        except UsageError as error:
            assert "very many" in str(error)
    assert not verify(tmp_path / "r").ok
    commands(tmp_path / "r")


@pytest.mark.parametrize("unit", ["1e-999", "1e999", f"1/{'9' * 400}", "1e-40", "1e7"])
def test_noise_that_no_method_adds(folder: Path, unit: str) -> None:
    edit(folder, lambda manifest: manifest["measurements"][-1].update(unit=unit))
    refused(folder, "noise")


@pytest.mark.parametrize("law", [None, 1, True, "", "normal", "Gaussian", ["gaussian"], {}])
def test_a_law_that_no_noise_has(folder: Path, law: Any) -> None:
    edit(folder, lambda manifest: manifest["measurements"][-1].update(law=law))
    refused(folder, "not described")


def test_gaussian_noise_in_transactions(saved: Path, shops: dict[str, Any], tmp_path: Path) -> None:
    for name in shops:
        copied(saved / name, tmp_path / name)
        edit(tmp_path / name, lambda manifest: manifest["measurements"][0].update(law="gaussian"))
        with pytest.raises(ReleaseError, match="never has"):
            Release.load(tmp_path / name)


def test_gaussian_noise_where_epsilon_was_paid(folder: Path) -> None:
    """It can be read, and is not what was paid for."""
    edit(folder, lambda manifest: [m.update(law="gaussian") for m in manifest["measurements"]])
    assert np.isfinite(Release.load(folder).count("everybody").estimate).all()
    assert "measurements" in {check.name for check in verify(folder).checks if not check.ok}
    commands(folder)


def test_listed_cells_have_laplace_noise(saved: Path, tmp_path: Path) -> None:
    copied(saved / "tree", tmp_path / "r")
    edit(
        tmp_path / "r",
        lambda manifest: manifest["measurements"][-1].update(law="gaussian", threshold=3),
    )
    refused(tmp_path / "r", "never has")


def test_a_grid_of_very_many_regions(grid: Path) -> None:
    """Edges at every code make more regions than any memory holds, in a few bytes."""
    schema = Release.load(grid).schema
    edges = [(a.name, code) for a in schema.attributes for code in _edges(a)]
    table = pa.table(
        {"attribute": [name for name, _ in edges], "edge": [code for _, code in edges]}
    )
    rewrite(grid, "partition.parquet", table)
    refused(grid, "not counted")


def _edges(attribute: Any) -> list[int]:
    if hasattr(attribute, "taxonomy"):
        return [0, attribute.size]
    return list(range(attribute.size + 1))


# transactions


@pytest.fixture(scope="module")
def shops() -> dict[str, Any]:
    bought = [[str(1 + (7 * row + step) % 12) for step in range(row % 5)] for row in range(4000)]
    schema = hedgerow.Schema.from_dict(
        {"name": "c", "unit": "row", "items": {"universe": {"range": [1, 12]}}}
    )
    rows = pa.table({"x": pa.array(bought, pa.list_(pa.string()))})
    methods = {"core": hedgerow.DiffPart(), "cuts": hedgerow.DiffPart(variant="tree")}
    return {
        name: hedgerow.publish(rows, schema, method=m, epsilon=1) for name, m in methods.items()
    }


SHAPES = {"core": ("part", "number"), "cuts": ("node", "parent", "split", "cut")}


@pytest.mark.parametrize(
    ("place", "odd"),
    in_turn([(k, c) for k, names in SHAPES.items() for c in names], ODD, times=3),
)
def test_any_kind_of_column_in_transactions(
    saved: Path, tmp_path: Path, place: tuple[str, str], odd: str
) -> None:
    kind, column = place
    copied(saved / kind, tmp_path / "r")
    rows = pq.read_table(tmp_path / "r" / NAMES[1]).num_rows
    with_column(tmp_path / "r", NAMES[1], column, ODD[odd](rows))
    with pytest.raises(ReleaseError):
        Release.load(tmp_path / "r")
    assert not verify(tmp_path / "r").ok


@pytest.mark.parametrize("kind", SHAPES)
def test_a_long_item_is_not_repeated(saved: Path, tmp_path: Path, kind: str) -> None:
    """The list of itemsets is read by `verify` alone, and held to what it should be."""
    folder = copied(saved / kind, tmp_path / "r")
    items = pq.read_table(folder / "itemsets.parquet")["items"].to_pylist()
    longer = [["x" * 100_000 for _ in one] for one in items]
    with_column(folder, "itemsets.parquet", "items", pa.array(longer, pa.list_(pa.string())))
    assert [check.name for check in verify(folder).checks if not check.ok] == ["counts"]


@pytest.mark.parametrize("kind", SHAPES)
def test_links_are_not_followed_in_transactions(saved: Path, tmp_path: Path, kind: str) -> None:
    for name in ("itemsets.parquet", "itemsets.txt", "partition.parquet"):
        copied(saved / kind, tmp_path / name)
        (tmp_path / name / name).rename(tmp_path / "twin")
        (tmp_path / name / name).symlink_to(tmp_path / "twin")
        with pytest.raises(ReleaseError, match="link"):
            Release.load(tmp_path / name)


@pytest.mark.parametrize("path", ["", ".", "\0", "x" * 5000, "manifest.json"])
def test_a_path_that_is_no_release(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ReleaseError):
        Release.load(path)
    with pytest.raises(ReleaseError):
        verify(path)


def test_a_manifest_keeps_texts_of_all_scripts(folder: Path) -> None:
    """Only what cannot be seen is refused; letters and joiners of any script are not."""
    text = json.dumps({"format": "hedgerow-release", "x": "नमस्ते \u200d 家族 é\u00a0"}).encode()
    with pytest.raises(ReleaseError, match="version"):
        parse_manifest(text)
