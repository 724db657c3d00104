import gzip

import pytest

from hedgerow.errors import DataError, UsageError
from hedgerow.table import csv_file
from hedgerow.table.csv_file import open_csv
from hedgerow.table.csv_header import tell_delimiter


def rows(path, **options):
    source = open_csv(path, gzipped=options.pop("gzipped", False), **options)
    found = []
    for batch in source.batches(range(len(source.names))):
        found.extend(tuple(row.values()) for row in batch.to_pylist())
    return source, found


def write(tmp_path, content):
    path = tmp_path / "people.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiters_and_line_ends(tmp_path, delimiter, end):
    text = end.join(delimiter.join(row) for row in [("a", "b"), ("1", "x y"), ("2", "z")])
    source, found = rows(write(tmp_path, text))
    assert source.names == ("a", "b")
    assert found == [("1", "x y"), ("2", "z")]


def test_a_byte_order_mark_and_quotes(tmp_path):
    text = '\ufeff"a, the first"," b "\n"x\ny","he said ""no"""\n\n,3'
    source, found = rows(write(tmp_path, text), line_breaks=True)
    assert source.names == ("a, the first", "b")
    assert found == [("x\ny", 'he said "no"'), ("", "3")]


def test_known_columns_decide_the_delimiter(tmp_path):
    assert tell_delimiter("a,b|c,d") == ","
    assert tell_delimiter("a,b|c,d", {"a,b"}) == "|"
    text = "a,b|c,d\n1,2|3,4\n"
    assert rows(write(tmp_path, text), known={"a,b"})[1] == [("1,2", "3,4")]


def test_a_named_delimiter_is_obeyed(tmp_path):
    _, found = rows(write(tmp_path, "a:b\n1:2\n"), delimiter=":")
    assert found == [("1", "2")]
    with pytest.raises(UsageError):
        rows(write(tmp_path, "a\n"), delimiter="::")


@pytest.mark.parametrize("text", ["a,b", "a,b\n", "\n\na,b\r\n", "\ufeffa,b\n"])
def test_a_header_alone_is_an_empty_table(tmp_path, text):
    source, found = rows(write(tmp_path, text))
    assert source.names == ("a", "b")
    assert found == []


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n"])
def test_an_empty_file_is_refused(tmp_path, content):
    with pytest.raises(DataError, match="the file is empty"):
        rows(write(tmp_path, content))


def test_gzip_of_several_members(tmp_path):
    path = write(tmp_path, gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"3,4\n"))
    assert rows(path, gzipped=True)[1] == [("1", "2"), ("3", "4")]


def test_a_truncated_or_damaged_gzip_is_refused(tmp_path):
    content = b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * 7919 % 10007) for i in range(300_000))
    whole = gzip.compress(content)
    damaged = whole[: len(whole) // 2] + bytes(16) + whole[len(whole) // 2 + 16 :]
    for broken in (whole[:12], whole[: len(whole) // 2], whole[:-3], damaged):
        with pytest.raises(DataError, match="damaged or cut short"):
            rows(write(tmp_path, broken), gzipped=True)


def test_ragged_rows_name_the_line_and_no_value(tmp_path):
    path = write(tmp_path, 'a,b\n"x\ny",2\n\nsecret\n4,5\n')
    with pytest.raises(DataError, match="line 5: the record has more or fewer") as caught:
        rows(path, line_breaks=True)
    assert "secret" not in str(caught.value)


def test_bad_encoding_names_the_line(tmp_path):
    early = b"a,b\n1,2\n3,M\xfcller\n"
    late = b"a,b\n" + b"1,2\n" * 400_000 + b"3,M\xfcller\n"
    for content, line in ((early, 3), (late, 400_002)):
        with pytest.raises(DataError, match=f"line {line}: the text is not encoded") as caught:
            rows(write(tmp_path, content))
        assert "ller" not in str(caught.value)
    with pytest.raises(DataError, match="not encoded in UTF-8"):
        rows(write(tmp_path, "a,b\n1,2\n".encode("utf-16")))


def test_binary_content_is_refused(tmp_path):
    with pytest.raises(DataError, match="not a text file"):
        rows(write(tmp_path, b"abc\0\0\0"))


def test_names_must_be_there_and_differ(tmp_path):
    with pytest.raises(DataError, match="columns 1 and 3 have the same name"):
        rows(write(tmp_path, "a,b, a\n1,2,3\n"))
    with pytest.raises(DataError, match="column 1 has no name"):
        rows(write(tmp_path, ",b\n1,2\n"))


def test_places_are_lines_of_the_file(tmp_path):
    source, _ = rows(write(tmp_path, 'a,b\n"x\ny",2\n\n3,4\n'), line_breaks=True)
    assert source.places([0, 1]) == ["line 2", "line 5"]
    assert source.places([7]) == ["row 8"]


def test_rows_longer_than_a_block_still_arrive(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_file, "_BLOCK", 1 << 10)
    lines = [(str(i), "x" * (i % 50)) for i in range(500)]
    _, found = rows(write(tmp_path, "a,b\n" + "".join(f"{a},{b}\n" for a, b in lines)))
    assert found == lines
