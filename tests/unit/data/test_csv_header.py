import io
from pathlib import Path

import pytest

from hedgerow.data.text import find_header, split_line, tell_delimiter
from hedgerow.errors import DataError

PATH = Path("people.csv")


def header(content, line_breaks=False, delimiter=None, known=()):
    return find_header(io.BytesIO(content), PATH, line_breaks, delimiter, known)


def test_the_first_line_alone_tells_the_delimiter():
    for rows in (b"", b"1;2;3\n" * 50, b"1|2|3\n" * 50, b'"\n'):
        assert header(b"a,b\n" + rows).delimiter == ","
    assert header(b"a;b\n1,2,3,4\n").delimiter == ";"
    assert header(b"a\n1,2\n").delimiter is None


@pytest.mark.parametrize(
    ("line", "known", "told"),
    [
        ("a,b;c|d\te", (), ","),
        ("a;b|c\td", (), ";"),
        ("a|b\tc", (), "\t"),
        ("a,b;c;d", (), ";"),
        ("a,b;c;d", {"a", "b;c;d"}, ","),
        ('"a;b;c",d', (), ","),
        ("a:b", (), None),
        ('a"b,"c', (), None),
    ],
)
def test_an_ambiguous_line_is_read_in_a_fixed_order(line, known, told):
    assert tell_delimiter(line, known) == told


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_where_records_begin(end, mark):
    content = mark + end * 2 + b"a,b" + end + b"1,2" + end
    found = header(content)
    assert (found.names, found.lines) == (["a", "b"], 3)
    assert content[found.size :] == b"1,2" + end


def test_names_with_line_breaks():
    assert header(b'"a\nb",c\n1,2\n', line_breaks=True).names == ["a\nb", "c"]
    with pytest.raises(DataError, match="line 1: a quotation mark opens a value"):
        header(b'"a\nb",c\n1,2\n')
    with pytest.raises(DataError, match="ends inside a quoted value, which was opened in line 1"):
        header(b'"a\nb,c\n1,2\n', line_breaks=True)


@pytest.mark.parametrize("line", [b'age,no"te', b'a"ge', b'a"g"e,x', b'"age"x,y', b'age,x"'])
@pytest.mark.parametrize("rows", [b"40,a\n41,b\n", b'40,a\n41,b"\n42,c\n', b""])
def test_with_line_breaks_a_stray_mark_does_not_swallow_records(line, rows):
    with pytest.raises(DataError, match="line 1: a quotation mark stands where none may stand"):
        header(line + b"\n" + rows, line_breaks=True)
    assert header(line + b"\n" + rows).size == len(line) + 1  # else a record is a line


def test_what_is_no_line_of_names():
    with pytest.raises(DataError, match="not a text file"):
        header(b"a\0b\n")
    with pytest.raises(DataError, match="line 2: the text is not encoded"):
        header(b"\na,\xff\n")
    with pytest.raises(DataError, match="does not end"):
        header(b"x" * (1 << 21))
    assert header(b"a,b\n\0\xff\n").names == ["a", "b"]  # what records hold has no say


def test_split_line():
    assert split_line("", ",") == [""]
    assert split_line('"a""b"c,,"', ",") is None
    assert split_line('"a""b"c,,""', ",") == ['a"bc', "", ""]
    assert split_line("a,b", None) == ["a,b"]
