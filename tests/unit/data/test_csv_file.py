import gzip

import pytest

from hedgerow.data import text as csv_file
from hedgerow.data.text import open_csv, tell_delimiter
from hedgerow.errors import DataError, UsageError


def rows(path, **options):
    source = open_csv(path, **options)
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
    for wrong in ("::", "", '"', "\n", "\0", "§"):
        with pytest.raises(UsageError, match="single ASCII character"):
            rows(write(tmp_path, "a\n"), delimiter=wrong)


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
    assert rows(path, packed="gzip")[1] == [("1", "2"), ("3", "4")]


@pytest.mark.slow
def test_a_truncated_or_damaged_gzip_is_refused(tmp_path):
    content = b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * 7919 % 10007) for i in range(300_000))
    whole = gzip.compress(content)
    damaged = whole[: len(whole) // 2] + bytes(16) + whole[len(whole) // 2 + 16 :]
    for broken in (whole[:12], whole[: len(whole) // 2], whole[:-3], damaged):
        with pytest.raises(DataError, match="damaged or cut short"):
            rows(write(tmp_path, broken), packed="gzip")


def test_ragged_rows_name_the_line_and_no_value(tmp_path):
    path = write(tmp_path, 'a,b\n"x\ny",2\n\nsecret\n4,5\n')
    with pytest.raises(DataError, match="line 5: the record has more or fewer") as caught:
        rows(path, line_breaks=True)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("line", ['44,"tall (6ft', 'a"b,"c', '"', '"","', '1,"2""', '"1,2'])
@pytest.mark.parametrize("place", [0, 1, 3])
@pytest.mark.parametrize("gzipped", [False, True])
def test_a_line_that_ends_inside_a_quoted_value_is_refused(tmp_path, line, place, gzipped):
    lines = ["1,x", "2,y", '3,"z"']
    lines.insert(place, line)
    for end in ("\n", "\r\n", "\r"):
        for last in (end, ""):
            content = ("a,b" + end + end.join(lines) + last).encode()
            path = write(tmp_path, gzip.compress(content) if gzipped else content)
            with pytest.raises(DataError, match=f"line {place + 2}: a quotation mark") as caught:
                rows(path, packed="gzip" if gzipped else "")
            assert "--line-breaks" in str(caught.value) and "tall" not in str(caught.value)


def test_a_file_that_ends_inside_a_quoted_value_is_refused(tmp_path):
    for content in ('a,b\n1,2\n3,"x\ny,4\n5,6\n', 'a,b\n1,2\n3,"', 'a,b\n1,2\n3,"x""\n'):
        with pytest.raises(DataError, match="ends inside a quoted value.*opened in line 3"):
            rows(write(tmp_path, content), line_breaks=True)


@pytest.mark.parametrize("bad", ['a"b,c', 'a,"b"c', '"a" ,b', 'a,b"', '"a""b"c,d'])
def test_with_line_breaks_a_file_must_be_well_formed(tmp_path, bad):
    path = write(tmp_path, 'a,b\n"x\r\ny",2\n' + bad + "\n1,2\n")
    with pytest.raises(DataError, match="line 4: a quotation mark stands where none may stand"):
        rows(path, line_breaks=True)
    with pytest.raises(UsageError, match="True or False"):
        rows(path, line_breaks="no")


def test_quotes_inside_lines(tmp_path):
    text = 'a,b\n5" 3,x"y\n"p""q"r,""\n"",""""\n'
    assert rows(write(tmp_path, text))[1] == [('5" 3', 'x"y'), ('p"qr', ""), ("", '"')]


@pytest.mark.kernels
@pytest.mark.slow
@pytest.mark.parametrize("line_breaks", [False, True])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blocks_of_any_size_give_the_same_records(tmp_path, monkeypatch, end, line_breaks):
    wanted = [("1", "é"), ("", ""), ("x,y", 'z"'), ("long" * 20, "2"), ("\ufeff1", "\0")]
    lines = ["a,b", "1,é", ",", '"x,y","z"""', "", "long" * 20 + ",2", "\ufeff1,\0"]
    if line_breaks:
        wanted.append((f"a{end}{end}b", end))
        lines.append(f'"a{end}{end}b","{end}"')
    for last in (end, ""):
        content = (end.join(lines) + last).encode()
        for size in [*range(1, 40), len(content), len(content) + 1]:
            monkeypatch.setattr(csv_file, "_BLOCK", size)
            path = write(tmp_path, content)
            source, found = rows(path, line_breaks=line_breaks)
            assert found == wanted
            assert source.places(range(5)) == [f"line {n}" for n in (2, 3, 4, 6, 7)]


def test_a_mark_is_taken_from_the_header_alone(tmp_path):
    first, second = "\ufeff1,2\n", "3,4\n"
    assert rows(write(tmp_path, "a,b\n" + first + second))[1][0] == ("\ufeff1", "2")
    assert rows(write(tmp_path, "a,b\n" + second + first))[1][1] == ("\ufeff1", "2")


def test_one_column_needs_no_delimiter(tmp_path):
    assert rows(write(tmp_path, 'a\n1,5\n"x;y"\n'))[1] == [("1,5",), ("x;y",)]
    with pytest.raises(DataError, match="line 2: the record has more or fewer"):
        rows(write(tmp_path, "a\n1,5\n"), delimiter=",")


@pytest.mark.parametrize("line_breaks", [False, True])
def test_a_record_that_is_too_long_is_refused(tmp_path, monkeypatch, line_breaks):
    monkeypatch.setattr(csv_file, "LONGEST", 50)
    for length, fine in ((50, True), (51, False), (52, False), (500, False)):
        for size in (1, 7, 60, 1 << 20):
            monkeypatch.setattr(csv_file, "_BLOCK", size)
            path = write(tmp_path, "a,b\r\n1,2\r\n3," + "x" * (length - 2) + "\r\n4,5\r\n")
            if fine:
                assert len(rows(path, line_breaks=line_breaks)[1]) == 3
                continue
            with pytest.raises(DataError, match="line 3: the record is longer"):
                rows(path, line_breaks=line_breaks)


def test_a_column_may_be_wanted_twice(tmp_path):
    source = open_csv(write(tmp_path, "a,b\n1,2\n3,4\n"))
    (batch,) = source.batches([1, 0, 1])
    assert [column.to_pylist() for column in batch.columns] == [["2", "4"], ["1", "3"], ["2", "4"]]


def test_bad_encoding_names_the_line(tmp_path):
    early = b"a,b\n1,2\n3,M\xfcller\n"
    late = b"a,b\n" + b"1,2\n" * 400_000 + b"3,M\xfcller\n"
    for content, line in ((early, 3), (late, 400_002)):
        with pytest.raises(DataError, match=f"line {line}: the text is not encoded") as caught:
            rows(write(tmp_path, content))
        assert "ller" not in str(caught.value)


def test_a_column_that_is_not_wanted_must_be_text_too(tmp_path):
    source = open_csv(write(tmp_path, b"a,b\n1,2\n3,\xff\n"))
    with pytest.raises(DataError, match="line 3: the text is not encoded"):
        list(source.batches([0]))


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
