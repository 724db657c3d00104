from __future__ import annotations

import contextlib
import csv
import errno
import hashlib
import json
import os
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgerow.errors import ReleaseError
from hedgerow.release import Release, check_target, files
from hedgerow.release.files import parse_manifest, to_text
from hedgerow.store import untrusted

KINDS = ["tree_release", "grid_release", "sparse_release"]
NAMES = {
    "manifest.json",
    "partition.parquet",
    "measurements.parquet",
    "regions.parquet",
    "table.csv",
}


@pytest.fixture(params=KINDS)
def release(request):
    return request.getfixturevalue(request.param)


PLAIN = {"README.md", "rows.parquet", "tables", "tables-metadata.json"}


def edit_manifest(folder, change):
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    change(manifest)
    path.write_text(json.dumps(manifest, ensure_ascii=False), "utf-8")


def rewrite(folder, name, content: bytes):
    """Replaces a file and its hash: damage that the hash cannot tell."""
    (folder / name).write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    edit_manifest(folder, lambda manifest: manifest["files"].update({name: digest}))


def test_a_release_survives_write_and_read(release, tmp_path):
    release.save(tmp_path / "r")
    assert {entry.name for entry in (tmp_path / "r").iterdir()} == NAMES | PLAIN
    back = Release.load(tmp_path / "r")
    assert back == release
    assert np.array_equal(back.counts, release.counts)
    assert back.generalized().equals(release.generalized())
    assert [entry.name for entry in tmp_path.iterdir()] == ["r"]


def test_the_same_release_gives_the_same_bytes(release, tmp_path):
    release.save(tmp_path / "a")
    Release.load(tmp_path / "a").save(tmp_path / "b")
    for name in NAMES:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_an_empty_sparse_release_survives(sparse_release, tmp_path):
    none = np.empty(0, np.int64)
    leaf = replace(
        sparse_release.measurements[0],
        where=none,
        values=none.reshape(0, 1),
        units=none,
        klass=none,
    )
    release = replace(sparse_release, measurements=(leaf,))
    release.save(tmp_path / "r")
    assert Release.load(tmp_path / "r") == release


def test_without_a_class_it_survives_too(grid_release, tmp_path):
    leaf = grid_release.measurements[0]
    for by_class in (True, False):
        release = replace(
            grid_release,
            schema=replace(grid_release.schema, target=None),
            measurements=(replace(leaf, values=leaf.values[:, :1], by_class=by_class),),
        )
        release.save(tmp_path / f"r{by_class}")
        assert Release.load(tmp_path / f"r{by_class}") == release


def test_the_manifest_says_what_it_must_and_nothing_more(tree_release, tmp_path):
    tree_release.save(tmp_path / "r")
    text = (tmp_path / "r" / "manifest.json").read_text("utf-8")
    manifest = json.loads(text)
    assert set(manifest) == {
        "format",
        "format_version",
        "rows",
        "kind",
        "method",
        "settings",
        "schema",
        "schema_hash",
        "guarantee",
        "ledger",
        "package_version",
        "partition",
        "measurements",
        "files",
    }
    assert manifest["format"] == "hedgerow-release"
    assert manifest["format_version"] == 2 and manifest["kind"] == "table"
    assert list(manifest["schema"]["attributes"]) == ["age", "job", "born", "size", "well", "pay"]
    assert manifest["rows"] == {"seed": 1, "weight": "weight"}  # of synthetic rows, always the same
    for word in ("time", "date", "host"):
        assert f'"{word}' not in text


def test_files_hold_what_their_names_say(tree_release, tmp_path):
    tree_release.save(tmp_path / "r")
    with (tmp_path / "r" / "table.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[2]["age"] == "[40, 90] or other"
    assert int(rows[2]["estimate"]) == tree_release.counts[1, 0]
    regions = pq.read_table(tmp_path / "r" / "regions.parquet")
    assert regions["age_low"].to_pylist()[2] == 40
    measured = pq.read_table(tmp_path / "r" / "measurements.parquet")
    assert measured["value"].to_pylist() == [41, 9, 33, 8, -1, 20, 3, 0, 12]
    assert measured["class"].to_pylist() == [None] * 3 + ["low", "high"] * 3


def test_files_have_ordinary_modes(tree_release, tmp_path):
    old = os.umask(0o022)
    try:
        tree_release.save(tmp_path / "r")
    finally:
        os.umask(old)
    assert (tmp_path / "r").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "r" / "table.csv").stat().st_mode & 0o777 == 0o644


def test_an_existing_release_is_only_replaced_when_asked(tree_release, grid_release, tmp_path):
    tree_release.save(tmp_path / "r")
    with pytest.raises(ReleaseError, match="already holds a release"):
        grid_release.save(tmp_path / "r")
    assert Release.load(tmp_path / "r") == tree_release
    grid_release.save(tmp_path / "r", overwrite=True)
    assert Release.load(tmp_path / "r") == grid_release
    assert [entry.name for entry in tmp_path.iterdir()] == ["r"]


def test_what_is_not_a_release_is_never_replaced(tree_release, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    (tmp_path / "file").write_text("x")
    for name in ("thesis", "file"):
        with pytest.raises(ReleaseError):
            tree_release.save(tmp_path / name, overwrite=True)
    tree_release.save(tmp_path / "r")
    (tmp_path / "r" / "notes.txt").write_text("mine")
    with pytest.raises(ReleaseError, match="left alone"):
        tree_release.save(tmp_path / "r", overwrite=True)
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "years of work"


def test_an_empty_folder_is_filled_and_missing_parents_are_made(tree_release, tmp_path):
    (tmp_path / "r").mkdir()
    tree_release.save(tmp_path / "r")
    tree_release.save(tmp_path / "deep" / "down" / "r")
    assert Release.load(tmp_path / "deep" / "down" / "r") == tree_release
    assert check_target(tmp_path / "new") == tmp_path / "new"


@pytest.mark.parametrize(
    "failure", [OSError(errno.ENOSPC, "no space"), KeyboardInterrupt(), RuntimeError("bug")]
)
@pytest.mark.parametrize("calls", [0, 2, 4])
@pytest.mark.parametrize("there", [False, True])
def test_a_failure_in_the_middle_leaves_no_half_release(
    tree_release, grid_release, tmp_path, monkeypatch, failure, calls, there
):
    if there:
        grid_release.save(tmp_path / "r")
    real, done = files._write_file, []

    def fail(path, blocks):
        if len(done) == calls:
            path.write_bytes(b"half")
            raise failure
        done.append(path)
        return real(path, blocks)

    monkeypatch.setattr(files, "_write_file", fail)
    expected = ReleaseError if isinstance(failure, OSError) else type(failure)
    with pytest.raises(expected):
        tree_release.save(tmp_path / "r", overwrite=True)
    assert [entry.name for entry in tmp_path.iterdir()] == (["r"] if there else [])
    if there:
        assert Release.load(tmp_path / "r") == grid_release


def test_a_failing_swap_puts_the_old_release_back(
    tree_release, grid_release, tmp_path, monkeypatch
):
    grid_release.save(tmp_path / "r")
    real = type(tmp_path).rename

    def fail(self, target):
        if ".new-" in self.name:
            raise OSError(errno.EIO, "broken disk")
        return real(self, target)

    monkeypatch.setattr(type(tmp_path), "rename", fail)
    with pytest.raises(ReleaseError, match="cannot write"):
        tree_release.save(tmp_path / "r", overwrite=True)
    monkeypatch.undo()
    assert [entry.name for entry in tmp_path.iterdir()] == ["r"]
    assert Release.load(tmp_path / "r") == grid_release


def test_a_full_disk_is_said_in_plain_words(tree_release, tmp_path, monkeypatch):
    def full(path, blocks):
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(files, "_write_file", full)
    with pytest.raises(ReleaseError, match="disk is full"):
        tree_release.save(tmp_path / "r")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_folder_is_refused(tree_release, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    with pytest.raises(ReleaseError, match="cannot write"):
        tree_release.save(tmp_path / "locked" / "r")


def test_a_parent_that_is_a_file_is_refused(tree_release, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ReleaseError, match="cannot write"):
        tree_release.save(tmp_path / "file" / "r")


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_missing_file_is_named(tree_release, tmp_path, name):
    tree_release.save(tmp_path / "r")
    (tmp_path / "r" / name).unlink()
    with pytest.raises(ReleaseError, match=name):
        Release.load(tmp_path / "r")


@pytest.mark.parametrize("name", sorted(NAMES - {"manifest.json"}))
def test_a_changed_file_is_named(tree_release, tmp_path, name):
    tree_release.save(tmp_path / "r")
    path = tmp_path / "r" / name
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(ReleaseError, match=f"{name}.*hash"):
        Release.load(tmp_path / "r")


@pytest.mark.parametrize("name", ["partition.parquet", "measurements.parquet"])
@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"x" * 99 + b"PAR1"])
def test_a_damaged_parquet_file_is_named_though_its_hash_fits(
    tree_release, tmp_path, name, content
):
    tree_release.save(tmp_path / "r")
    rewrite(tmp_path / "r", name, content)
    with pytest.raises(ReleaseError, match=name):
        Release.load(tmp_path / "r")


@pytest.mark.slow
@pytest.mark.parametrize("where", range(0, 3000, 97))
def test_flipped_bytes_never_escape_as_another_error(tree_release, tmp_path, where):
    tree_release.save(tmp_path / "r")
    content = bytearray((tmp_path / "r" / "measurements.parquet").read_bytes())
    content[where % len(content)] ^= 0x15
    rewrite(tmp_path / "r", "measurements.parquet", bytes(content))
    with contextlib.suppress(ReleaseError):
        Release.load(tmp_path / "r")


CHANGES = {
    "measurements.parquet": [
        ("place", lambda t: [v + 5 for v in t["place"].to_pylist()]),
        ("place", lambda t: [-1] * t.num_rows),
        ("units", lambda t: [0] * t.num_rows),
        ("value", lambda t: ["a"] * t.num_rows),
        ("class", lambda t: [None] * t.num_rows),
        ("class", lambda t: ["unheard-of"] * t.num_rows),
        ("measurement", lambda t: [7] * t.num_rows),
        ("measurement", lambda t: t["measurement"].to_pylist()[::-1]),
    ],
    "partition.parquet": [
        ("node", lambda t: [0] * t.num_rows),
        ("parent", lambda t: [9] * t.num_rows),
        ("split", lambda t: [40_000] * t.num_rows),
        ("split", lambda t: [None] * t.num_rows),
        ("lo", lambda t: [[0]] * t.num_rows),
        ("hi", lambda t: [1] * t.num_rows),
        ("hi", lambda t: [[None] * 5] * t.num_rows),
    ],
}


@pytest.mark.parametrize(
    ("name", "column", "change"),
    [(name, *case) for name, cases in CHANGES.items() for case in cases],
)
def test_contents_are_checked_though_hashes_fit(tree_release, tmp_path, name, column, change):
    tree_release.save(tmp_path / "r")
    table = pq.read_table(tmp_path / "r" / name)
    place = table.column_names.index(column)
    for new in (
        table.set_column(place, column, pa.array(change(table))),
        table.drop_columns([column]),
    ):
        sink = pa.BufferOutputStream()
        pq.write_table(new, sink)
        rewrite(tmp_path / "r", name, sink.getvalue().to_pybytes())
        with pytest.raises(ReleaseError):
            Release.load(tmp_path / "r")


def test_a_file_that_claims_to_be_huge_is_not_unpacked(tree_release, tmp_path, monkeypatch):
    tree_release.save(tmp_path / "r")
    monkeypatch.setattr(untrusted, "_FREE_NUMBERS", 3)
    monkeypatch.setattr(untrusted, "_NUMBERS_PER_BYTE", 0)
    with pytest.raises(ReleaseError, match="claims"):
        Release.load(tmp_path / "r")


def test_paths_in_a_manifest_are_never_followed(tree_release, tmp_path):
    tree_release.save(tmp_path / "r")
    edit_manifest(tmp_path / "r", lambda m: m["files"].update({"../../etc/passwd": "0" * 64}))
    with pytest.raises(ReleaseError, match="lists other files"):
        Release.load(tmp_path / "r")


def test_a_newer_format_asks_for_a_newer_package(tree_release, tmp_path):
    tree_release.save(tmp_path / "r")
    edit_manifest(tmp_path / "r", lambda m: m.update(format_version=3))
    with pytest.raises(ReleaseError, match="newer hedgerow"):
        Release.load(tmp_path / "r")


def test_format_1_is_refused_with_the_way_out(tree_release, tmp_path):
    tree_release.save(tmp_path / "r")
    edit_manifest(tmp_path / "r", lambda m: m.update(format_version=1))
    with pytest.raises(ReleaseError, match=r"format 1") as caught:
        Release.load(tmp_path / "r")
    assert caught.value.hint == (
        "Publish the data again with this version, or read it with hedgerow 0.1."
    )
    tree_release.save(tmp_path / "r", overwrite=True)  # an old release can be replaced
    assert Release.load(tmp_path / "r") == tree_release


def test_notes_of_others_are_ignored_and_other_entries_refused(tree_release, tmp_path):
    tree_release.save(tmp_path / "r")
    edit_manifest(tmp_path / "r", lambda m: m.update(x_catalog={"id": 7}))
    assert Release.load(tmp_path / "r") == tree_release
    edit_manifest(tmp_path / "r", lambda m: m.update(catalog={"id": 7}))
    with pytest.raises(ReleaseError, match="does not know"):
        Release.load(tmp_path / "r")


def test_columns_have_names_that_sql_takes_unquoted(tree_release, grid_release, tmp_path):
    """Words that the standard, or an engine that many use, keeps for itself."""
    reserved = re.findall(
        r"\w+",
        """all alter and any as asc at between by case cast check column create cross current
        default delete desc distinct drop else end except exists false fetch filter for from full
        group grouping having if in index inner insert intersect interval into is join key lateral
        left like limit match merge natural not null of offset on or order outer over partition
        primary range rank references right row rows select set system table then to true union
        unique unnest update user using values when where window with within""",
    )
    for name, release in (("tree", tree_release), ("grid", grid_release)):
        release.save(tmp_path / name)
        for file in (tmp_path / name).glob("*.parquet"):
            if file.name != "regions.parquet":  # its columns are the schema's
                assert not set(reserved) & set(pq.read_table(file).column_names), file.name


@pytest.mark.parametrize(
    "change",
    [
        {"format": "zip"},
        {"kind": "regions"},
        {"kind": ["table"]},
        {"kind": "transactions"},
        {"kind": "rows"},
        {"format_version": "1"},
        {"format_version": True},
        {"method": None},
        {"partition": "heap"},
        {"measurements": [1, 2, 3]},
        {"measurements": []},
        {"files": {}},
        {"schema": {}},
        {"schema_hash": "0" * 64},
        {"ledger": []},
    ],
)
def test_a_malformed_manifest_is_refused(tree_release, tmp_path, change):
    tree_release.save(tmp_path / "r")
    edit_manifest(tmp_path / "r", lambda m: m.update(change))
    with pytest.raises(ReleaseError):
        Release.load(tmp_path / "r")


@pytest.mark.parametrize("text", [b"", b"{", b"\xff", b"[]", b"null", b"[" * 100_000])
def test_what_is_not_a_manifest_is_refused(text):
    with pytest.raises(ReleaseError, match=r"manifest\.json"):
        parse_manifest(text)


def test_a_folder_that_is_no_release_says_so(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ReleaseError):
            Release.load(path)


def test_the_manifest_text_is_stable():
    shuffled = {"b": {"y": 1, "x": [{"q": 1, "p": 2}]}, "a": 1}
    assert to_text(shuffled) == to_text({"a": 1, "b": {"x": [{"p": 2, "q": 1}], "y": 1}})


def test_a_place_is_tried_out_and_left_as_it_was(tmp_path):
    check_target(tmp_path / "new" / "r")
    check_target(tmp_path / "r")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(ReleaseError, match="is a file, not a folder"):
        check_target(tmp_path / "file" / "r")
    with pytest.raises(ReleaseError, match="no folder to go to"):
        check_target("")


def test_leftovers_are_found_by_their_release(tmp_path):
    for name in (".r.new-12", ".r.old-34", ".rr.new-56", "r.new-78"):
        (tmp_path / name).mkdir()
    assert [path.name for path in files.leftovers(tmp_path / "r")] == [".r.new-12", ".r.old-34"]
    assert files.leftovers(tmp_path / "none" / "r") == []


@pytest.mark.parametrize(
    "change", [{"epsilon": "x"}, {"epsilon": "0"}, {"delta": "1"}, {"delta": None}, {"private": 1}]
)
def test_a_promise_that_cannot_be_read_is_refused(tree_release, tmp_path, change):
    tree_release.save(tmp_path / "r")
    path = tmp_path / "r" / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    manifest["guarantee"].update(change)
    path.write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(ReleaseError, match="guarantee"):
        Release.load(tmp_path / "r")
