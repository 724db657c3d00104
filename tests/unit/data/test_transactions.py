"""Transactions from text files, against a plain reader: sets and loops, nothing clever."""

from __future__ import annotations

import gzip
import itertools
import pickle
import re
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from hedgerow.data import Transactions, read, read_transactions
from hedgerow.data.lookup import find_lines
from hedgerow.errors import DataError, DataWarning, LeakError, UsageError
from hedgerow.schema import Items, Schema

WORD = (1 << 64) - 1
BLANKS = " \t\n\v\f\r"


def records_of(transactions: Transactions) -> list[tuple[int, ...]]:
    """What was read, as tuples of codes; checks the layout on the way."""
    start, codes = transactions.start, transactions.codes
    assert start.dtype == np.int64 and codes.dtype == np.int32
    assert start[0] == 0 and start[-1] == len(codes)
    found = [tuple(codes[a:b].tolist()) for a, b in zip(start[:-1], start[1:], strict=True)]
    for record in found:
        assert record and list(record) == sorted(set(record))
    return found


def words(text: str, separator: str) -> list[str]:
    """The items of one text."""
    parts = re.split(f"[{BLANKS}]", text) if separator == " " else text.split(separator)
    return [part.strip(BLANKS) for part in parts if part.strip(BLANKS)]


def expected(lines: Iterable[Iterable[str]], items: Items) -> list[tuple[int, ...]]:
    """The records that the rules make of lists of items."""
    codes = {label: code for code, label in enumerate(items.given)}
    found = []
    for line in lines:
        record = {codes[word] for word in line if word in codes}
        if items.max_items is not None and len(record) > items.max_items:
            record = truncated(record, items.max_items)
        if not record and items.dummy is not None:
            record = {items.dummy}
        if record:
            found.append(tuple(sorted(record)))
    return found


def mix(word: int) -> int:
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & WORD
    return word ^ (word >> 31)


def truncated(record: set[int], most: int) -> set[int]:
    """The documented rule for which items of a long record stay."""
    whole = 0
    for code in sorted(record):
        whole = mix((whole + code + 0x9E3779B97F4A7C15) & WORD)
    ranks = {code: mix(whole ^ mix((code + 0x9E3779B97F4A7C15) & WORD)) for code in record}
    return set(sorted(record, key=lambda code: (ranks[code], code))[:most])


CLICKS = Schema(name="clicks", items=Items(range(1, 18)), unit="row")
SHOP = Schema(
    name="shop", items=Items(("milk", "rye bread", "tea", "7"), separator=";"), unit="row"
)
TABLE = Schema.from_dict({"name": "t", "unit": "row", "attributes": {"a": {"type": "boolean"}}})


def with_items(schema: Schema, **settings: Any) -> Schema:
    assert schema.items is not None
    return Schema(
        name=schema.name, items=Items(**{**vars_of(schema.items), **settings}), unit="row"
    )


def vars_of(items: Items) -> dict[str, Any]:
    return {name: getattr(items, name) for name in Items.__dataclass_fields__}


def read_text(
    tmp_path: Path, content: str | bytes, schema: Schema, name: str = "d.dat"
) -> Transactions:
    path = tmp_path / name
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return read_transactions(path, schema)


# --- text files -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content, records",
    [
        ("1 2 3\n4\n", [(0, 1, 2), (3,)]),
        ("1 2 3\n4", [(0, 1, 2), (3,)]),
        ("3 1\t1   2 \r\n\r\n17\r\n", [(0, 1, 2), (16,)]),
        ("3 1\r17 2\r", [(0, 2), (1, 16)]),
        ("\ufeff1 2\n", [(0, 1)]),
        ("1,2 5\n", [(4,)]),
        ("18 0 -1 007 +3 3.0 1e1 x 5\n", [(4,)]),
        ("99999999999999999999999999 -99999999999999999999 5\n18446744073709551617\n", [(4,)]),
        ("  \t \n 6\n", [(5,)]),
        ("", []),
        ("\n\n", []),
        ("99\n", []),
    ],
)
def test_text_files(tmp_path: Path, content: str, records: list[tuple[int, ...]]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        assert records_of(read_text(tmp_path, content, CLICKS)) == records
        assert records_of(read_text(tmp_path, content, CLICKS, "d.dat.gz")) == records


def test_an_empty_record_can_be_a_public_item(tmp_path: Path) -> None:
    schema = with_items(CLICKS, empty="dummy")
    content = "1 2\n\n99 98\n(empty) 3\n(empty)\n \n5"
    found = records_of(read_text(tmp_path, content, schema))
    assert found == [(0, 1), (17,), (17,), (2,), (17,), (17,), (4,)]
    assert schema.items is not None and schema.items.labels[17] == "(empty)"


def test_negative_numbers_and_zero(tmp_path: Path) -> None:
    schema = Schema(name="z", items=Items(range(-3, 3)), unit="row")
    assert records_of(read_text(tmp_path, "-3 -0 0 2 -4 3 --1 -\n", schema)) == [(0, 3, 5)]


def test_items_with_blanks_need_another_separator(tmp_path: Path) -> None:
    found = records_of(read_text(tmp_path, "tea; rye bread ;;milk\n7;cocoa\n;\n", SHOP))
    assert found == [(0, 1, 2), (3,)]
    with pytest.raises(UsageError, match="separates items"):
        read_text(tmp_path, "tea\n", with_items(SHOP, separator=" "))
    commas = Schema(name="c", items=Items(("a,b", "c")), unit="row")
    assert records_of(read_text(tmp_path, "a,b c\n", commas)) == [(0, 1)]
    with pytest.raises(UsageError, match="separates items"):
        read_text(tmp_path, "c\n", with_items(commas, separator=","))


def test_composed_and_decomposed_accents_are_one_item(tmp_path: Path) -> None:
    text = "cafe\u0301 th\u00e9\ncaf\u00e9 the\u0301\n"
    for before in ((), ("milk",)):  # a plain one in front of them changes nothing
        items = Items((*before, "caf\u00e9", "the\u0301"))
        found = records_of(read_text(tmp_path, text, Schema(name="a", items=items, unit="row")))
        assert found == [(len(before), len(before) + 1)] * 2


@pytest.mark.slow
def test_a_record_of_ten_thousand_items_and_a_universe_of_a_million(tmp_path: Path) -> None:
    big = Schema(name="big", items=Items(range(1_000_000)), unit="row")
    long = " ".join(str(7 * number) for number in reversed(range(10_000)))
    found = records_of(read_text(tmp_path, f"5\n{long}\n999999 1000000\n", big))
    assert found == [(5,), tuple(range(0, 70_000, 7)), (999_999,)]
    texts = Schema(name="big", items=Items(tuple(f"i{n}" for n in range(1_000_000))), unit="row")
    assert records_of(read_text(tmp_path, "i999999 i0 i1000000 i\n", texts)) == [(0, 999_999)]


@pytest.mark.parametrize("first", ["PK", "PAR1", "PAR1 PAR1"])
def test_items_that_look_like_the_beginning_of_other_files(tmp_path: Path, first: str) -> None:
    schema = Schema(name="odd", items=Items(("PK", "PAR1", "x")), unit="row")
    found = records_of(read_text(tmp_path, f"{first} x\nx\n", schema))
    assert found == [(0, 2) if first == "PK" else (1, 2), (2,)]


def test_the_name_of_a_file_without_a_header_says_what_it_is(tmp_path: Path) -> None:
    """Its first bytes belong to a record, which must not decide how others are read."""
    pq.write_table(pa.table({"i": [[1], [2, 3]]}), tmp_path / "plain")
    with pytest.raises(DataError, match=r"a Parquet file.*\n.*ends in \.parquet"):
        read_transactions(tmp_path / "plain", CLICKS)
    named = with_items(CLICKS, column="i")  # with a column, the first bytes are no record
    assert records_of(read_transactions(tmp_path / "plain", named)) == [(0,), (1, 2)]
    with pytest.raises(DataError, match="seems to be a gzip file"):
        read_text(tmp_path, gzip.compress(b"1 2\n"), CLICKS, "d.dat")
    (tmp_path / "e.gz").write_bytes(b"1 2\n")
    with pytest.raises(DataError, match="seems to be not a gzip file"):
        read_transactions(tmp_path / "e.gz", CLICKS)
    with pytest.raises(DataError, match="damaged"):
        read_text(tmp_path, "1 2\n", CLICKS, "d.parquet")
    with pytest.raises(DataError, match="workbook or a zip archive"):
        read_text(tmp_path, b"PK\x03\x04 1 2\n", CLICKS, "d.xlsx")


def test_settings_beyond_any_number_of_items(tmp_path: Path) -> None:
    schema = with_items(CLICKS, max_items=10**30, fan_out=10**30)
    assert records_of(read_text(tmp_path, "2 1\n", schema)) == [(0, 1)]
    assert schema.items is not None and schema.items.taxonomy.height == 1


def test_a_universe_of_one_item(tmp_path: Path) -> None:
    schema = Schema(name="one", items=Items((1,), max_items=1), unit="row")  # type: ignore[arg-type]
    assert records_of(read_text(tmp_path, "1 1\n2\n1\n", schema)) == [(0,), (0,)]


def test_blocks_do_not_cut_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = "12 3\r\n\r\n4 5 6\r17\n16 15 14 13"
    whole = records_of(read_text(tmp_path, content, CLICKS))
    assert whole == [(2, 11), (3, 4, 5), (16,), (12, 13, 14, 15)]
    for size in range(1, len(content) + 2):
        monkeypatch.setattr("hedgerow.data.transactions._BLOCK", size)
        assert records_of(read_text(tmp_path, content, CLICKS)) == whole
        assert records_of(read_text(tmp_path, content, CLICKS, "d.gz")) == whole


def test_lines_are_those_that_python_finds() -> None:
    """For all short texts of letters and line breaks."""
    for length in range(7):
        for whole in itertools.product(b"a\n\r", repeat=length):
            data = bytes(whole)
            begin, end = find_lines(np.frombuffer(data, np.uint8))
            assert len(begin) == len(end), data
            found = [data[i:j] for i, j in zip(begin.tolist(), end.tolist(), strict=True)]
            assert found == data.splitlines()


def test_a_mark_is_no_part_of_a_line(tmp_path: Path) -> None:
    """Wherever the line stands: one put before the first must not change how that is read."""
    marked, plain = "\ufeff3 4", "5"
    assert records_of(read_text(tmp_path, f"{marked}\n{plain}\n", CLICKS)) == [(2, 3), (4,)]
    assert records_of(read_text(tmp_path, f"{plain}\n{marked}\n", CLICKS)) == [(4,), (2, 3)]


def test_a_line_that_is_too_long_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hedgerow.data.transactions.LONGEST", 20)
    for size in (1, 6, 21, 22, 23, 100):
        monkeypatch.setattr("hedgerow.data.transactions._BLOCK", size)
        for end in ("\n", "\r\n", "\r"):
            fine = f"1 2{end}{'1 ' * 10}{end}3{end}"
            assert len(records_of(read_text(tmp_path, fine, CLICKS))) == 3
            with pytest.raises(DataError, match="line 2: the record is longer"):
                read_text(tmp_path, f"1 2{end}{'1 ' * 10}1{end}3{end}", CLICKS)


def test_a_long_line_with_a_mark_does_not_end_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a line is as long as its items: it is read or refused, and never what follows lost."""
    monkeypatch.setattr("hedgerow.data.transactions.LONGEST", 20)
    for size in range(1, 40):
        monkeypatch.setattr("hedgerow.data.transactions._BLOCK", size)
        for end in ("\n", "\r\n", "\r"):
            fine = f"1 2{end}\ufeff{'1 ' * 10}{end}3{end}"
            assert records_of(read_text(tmp_path, fine, CLICKS)) == [(0, 1), (0,), (2,)]
            with pytest.raises(DataError, match="line 2: the record is longer"):
                read_text(tmp_path, f"1 2{end}\ufeff{'1 ' * 10}1{end}3{end}", CLICKS)


def test_a_file_in_utf_16_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"line 1: .* UTF-8"):
        read_text(tmp_path, "1 2\n".encode("utf-16"), CLICKS)


def test_other_encodings_are_told_to_the_steward_and_count_as_foreign(tmp_path: Path) -> None:
    with pytest.warns(DataWarning, match=r"line 3: .* UTF-8"):
        found = read_text(tmp_path, b"1\n\xc3\xa9 2\ncaf\xe9 3\n", CLICKS)
    assert records_of(found) == [(0,), (1,), (2,)]
    with pytest.warns(DataWarning, match=r"line 2: .* UTF-8"):
        found = read_text(tmp_path, b"1\n2\x00 3\n", CLICKS)
    assert records_of(found) == [(0,), (2,)]


def test_a_damaged_gzip_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "d.gz").write_bytes(gzip.compress(b"1 2\n" * 5000)[:40])
    with pytest.raises(DataError, match="gzip"):
        read_transactions(tmp_path / "d.gz", CLICKS)
    with pytest.raises(DataError, match="no such file"):
        read_transactions(tmp_path / "none.dat", CLICKS)


def test_nothing_of_the_universe_is_told_to_the_steward(tmp_path: Path) -> None:
    with pytest.warns(DataWarning, match="no record has an item of the universe"):
        read_text(tmp_path, "a b\n", with_items(CLICKS, empty="dummy"))
    with pytest.warns(DataWarning, match="no record has an item of the universe"):
        read_text(tmp_path, "", CLICKS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_text(tmp_path, "a b\n1\n", CLICKS)


def test_foreign_items_can_be_refused_by_place_and_not_by_value(tmp_path: Path) -> None:
    schema = with_items(CLICKS, foreign="error")
    read_text(tmp_path, "1\n\n2\n", schema)
    with pytest.raises(DataError) as caught:
        read_text(tmp_path, "1\n4711 2\n3\n99\n98\n97\n", schema)
    message = str(caught.value).replace(str(tmp_path), "")
    assert "line 2, line 4, line 5:" in message and "foreign: drop" in message
    assert "4711" not in message and "99" not in message


TEXT = st.text(st.sampled_from("0123456789-+ \t;,|xé\u00a0"), max_size=20)
UNIVERSES = [
    range(-2, 12), ("1", "2", "-1", "x", "é", "3;4"), ("12", "5"), ("x x", "1,2", "é", "5")
]  # fmt: skip


@pytest.mark.slow
@seed(4)
@settings(max_examples=300, deadline=None, database=None)
@given(
    st.lists(TEXT, max_size=8),
    st.sampled_from(UNIVERSES),
    st.sampled_from([" ", ",", ";", "|", "\t"]),
    st.sampled_from(["drop", "dummy"]),
    st.sampled_from([None, 1, 2, 3]),
)
def test_text_equals_the_plain_reader(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[str],
    universe: Any,
    separator: Any,
    empty: Any,
    cap: int | None,
) -> None:
    labels = list(map(str, universe))
    if any(separator in label for label in labels):
        return
    items = Items(universe, empty=empty, max_items=cap, separator=separator)
    schema = Schema(name="p", items=items, unit="row")
    wanted = expected([words(line, separator) for line in lines], items)
    path = tmp_path_factory.getbasetemp() / "p.dat"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        assert records_of(read_transactions(path, schema)) == wanted
        as_list = with_items(schema, universe=tuple(labels))
        assert records_of(read_transactions(path, as_list)) == wanted
        cells = pa.table({"c": pa.array(lines, pa.string())})
        assert records_of(read_transactions(cells, schema)) == wanted


# --- truncation -------------------------------------------------------------------------------


@seed(5)
@settings(max_examples=100, deadline=None, database=None)
@given(st.sets(st.integers(1, 400), max_size=120), st.integers(1, 40), st.randoms())
def test_which_items_survive_depends_on_the_set_alone(
    record: set[int], cap: int, order: Any
) -> None:
    items = Items(range(1, 401), max_items=cap, empty="dummy")
    shuffled = [*record, *list(record)[:3]]
    order.shuffle(shuffled)
    found = records_of(
        read_transactions(
            pa.table({"i": [[400, 1], shuffled]}), Schema(name="t", items=items, unit="row")
        )
    )
    assert found == expected([["400", "1"], map(str, shuffled)], items)


def test_truncation_favors_no_item() -> None:
    """Each of 10 items survives in 5 of 10 places: over 2000 sets, 1000 times, within 6 sigma."""
    schema = Schema(name="t", items=Items(range(2010), max_items=5), unit="row")
    sets = [[*range(9), 9 + number] for number in range(2000)]
    found = Counter(
        code for r in records_of(read_transactions(pa.table({"i": sets}), schema)) for code in r
    )
    spread = 6 * (2000 * 0.25) ** 0.5
    assert all(abs(found[item] - 1000) < spread for item in range(9))


# --- privacy of the type, and schemas of the other kind ---------------------------------------


def test_baskets_cannot_leak_by_accident(tmp_path: Path) -> None:
    transactions = read_text(tmp_path, "1 2\n", CLICKS)
    for attempt in (len, bool, iter, pickle.dumps):
        with pytest.raises(LeakError):
            attempt(transactions)
    assert repr(transactions) == "Transactions('clicks')"


def test_schemas_of_the_other_kind_are_refused() -> None:
    frame = pa.table({"a": [[1]]})
    with pytest.raises(UsageError, match="attributes, not transactions"):
        read_transactions(frame, TABLE)
    with pytest.raises(UsageError, match="items, not a table"):
        read(frame, CLICKS)


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[float] = []
    path = tmp_path / "d.dat"
    path.write_text("1\n2\n")
    read_transactions(path, CLICKS, progress=told.append)
    assert told[-1] == 1.0 and all(0 <= share <= 1 for share in told)
    told.clear()
    read_transactions(pa.table({"i": [[1]]}), CLICKS, progress=told.append)
    assert told[-1] == 1.0
