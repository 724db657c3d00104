"""Text files in other encodings and archives: read like plain ones, or refused with a way out."""

from __future__ import annotations

import gzip
import zipfile

import pytest

from hedgerow.data import text as unpacked
from hedgerow.data.open_input import open_source
from hedgerow.errors import DataError
from hedgerow.schema import Layout

TEXT = "a,b\r\n1,é\r\n2,😀x\n\n3,ü\r"
ROWS = [("1", "é"), ("2", "😀x"), ("3", "ü")]


def rows(path, **told):
    source = open_source(path, written=Layout(**told))
    assert source.names == ("a", "b")
    batches = list(source.batches([0, 1]))
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()], source


@pytest.mark.parametrize("pack", ["", "gzip", "zip"])
@pytest.mark.parametrize(
    ("codec", "mark", "declared"),
    [
        ("utf-16-le", "\ufeff", None), ("utf-16-be", "\ufeff", None),
        ("utf-16-le", "\ufeff", "utf-16"), ("utf-16-be", "\ufeff", "utf-16-be"),
        ("utf-16-le", "", "utf-16-le"), ("utf-16-be", "", "utf-16-be"),
        ("utf-8", "\ufeff", None), ("utf-8", "", "utf-8"),
    ],
)  # fmt: skip
def test_every_encoding_and_packing(tmp_path, monkeypatch, codec, mark, declared, pack):
    path, content = tmp_path / "d", (mark + TEXT).encode(codec)
    if pack == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("folder/", b"")
            archive.writestr("folder/d.csv", content)
            archive.writestr("__MACOSX/folder/._d.csv", b"x")
    else:
        path.write_bytes(gzip.compress(content) if pack else content)
    for block in (1, 2, 3, 1 << 20):
        monkeypatch.setattr(unpacked, "_BLOCK", block)
        records, source = rows(path, encoding=declared)
        assert records == ROWS, block
        assert source.places([0, 1, 2]) == ["line 2", "line 3", "line 5"], block


def test_encodings_of_one_byte(tmp_path):
    path = tmp_path / "d.csv"
    path.write_bytes("a,b\n1,é€\n".encode("cp1252"))
    assert rows(path, encoding="cp1252")[0] == [("1", "é€")]
    assert rows(path, encoding="latin-1")[0] == [("1", "é\x80")]
    with pytest.raises(DataError, match="line 2: the text is not encoded in UTF-8") as caught:
        rows(path)
    assert "encoding: cp1252" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "declared", "line"),
    [
        (b"a,b\n1,2\r\n3,\x81\n", "cp1252", 3),
        ("a,b\n1,2\n".encode("utf-16") + b"3", None, 3),  # an odd number of bytes
        ("\ufeffa,b\r\n1,2\r\n".encode("utf-16-le") + b"\x00\xd8\n\0", None, 3),  # half a pair
    ],
)
@pytest.mark.parametrize("block", [1, 2, 1 << 20])
def test_what_cannot_be_decoded_stops_the_run(
    tmp_path, monkeypatch, content, declared, line, block
):
    monkeypatch.setattr(unpacked, "_BLOCK", block)
    (tmp_path / "d.csv").write_bytes(content)
    with pytest.raises(DataError, match=f"line {line}: the text is not encoded in"):
        rows(tmp_path / "d.csv", encoding=declared)


@pytest.mark.parametrize(
    ("content", "declared", "words"),
    [
        ("a,b\n".encode("utf-16-le"), None, "not a text file.*utf-16-le"),
        ("a,b\n".encode("utf-16-le"), "utf-16", "no byte order mark.*utf-16-le"),
        ("a,b\n".encode("utf-16"), "cp1252", "byte order mark of UTF-16-LE"),
        ("a,b\n".encode("utf-16"), "utf-8", "byte order mark of UTF-16-LE"),
        ("\ufeffa,b\n".encode(), "latin-1", "byte order mark of UTF-8"),
        ("\ufeffa,b\n".encode("utf-32-le"), None, "not a text file"),
    ],
)
def test_a_declaration_and_a_mark_must_not_contradict(tmp_path, content, declared, words):
    (tmp_path / "d.csv").write_bytes(content)
    with pytest.raises(DataError, match=f"(?s){words}"):
        rows(tmp_path / "d.csv", encoding=declared)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_names_below_a_title(tmp_path, end):
    path = tmp_path / "d.csv"
    path.write_bytes(f'\ufeffA "title, with{end}{end}a,b{end}1,2{end}'.encode())
    found, source = rows(path, header_row=3)
    assert found == [("1", "2")] and source.places([0]) == ["line 4"]
    for row in (2, 9):
        with pytest.raises(DataError, match=f"line {row} is blank or not there"):
            rows(path, header_row=row)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "holds no files"),
        ({"a.csv": b"x", "b.csv": b"y"}, "holds 2 files: 'a.csv', 'b.csv'"),
        ({"a.parquet": b"PAR1xxxx"}, "is not a CSV file"),
        ({"a.gz": b"\x1f\x8bxxxx"}, "is not a CSV file"),
        ({"a.zip": b"PK\x03\x04xxxx"}, "is not a CSV file"),
    ],
)
def test_archives_that_are_refused(tmp_path, files, words):
    with zipfile.ZipFile(tmp_path / "d.zip", "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    with pytest.raises(DataError, match=words):
        open_source(tmp_path / "d.zip")


def test_a_damaged_archive(tmp_path):
    path = tmp_path / "d.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("d.csv", TEXT * 50)
    content = path.read_bytes()
    for wrong in (content[:60], content.replace(b"\r\n1", b"\r\n7", 1)):
        path.write_bytes(wrong)
        with pytest.raises(DataError, match="zip archive.* is damaged"):
            rows(path)
