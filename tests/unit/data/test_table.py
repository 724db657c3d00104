import pickle

import numpy as np
import pyarrow as pa
import pytest

from hedgerow.data import encode_rows, read
from hedgerow.data import source as source_module
from hedgerow.errors import DataError, DataWarning, LeakError
from hedgerow.schema import Schema

AGE = {"type": "numeric", "low": 0, "high": 99, "step": 1}
JOB = {"type": "categorical", "values": ["a", "b"]}
PAY = {"type": "categorical", "values": ["low", "high"], "role": "class"}


def schema(**columns):
    unit = "person" if any(c.get("role") == "person" for c in columns.values()) else "row"
    return Schema.from_dict({"name": "survey", "unit": unit, "attributes": columns})


def codes(table, **columns):
    return read(pa.table(table), schema(**columns)).codes.tolist()


def test_the_class_comes_last_whatever_the_order():
    table = {"pay": ["high", "low"], "job": ["a", "b"], "age": [5, 6]}
    assert codes(table, age=AGE, pay=PAY, job=JOB) == [[5, 0, 1], [6, 1, 0]]


def test_without_a_class_the_last_column_is_zero():
    assert codes({"age": [5, 6]}, age=AGE) == [[5, 0], [6, 0]]


def test_wide_codes_when_an_attribute_needs_them():
    wide = AGE | {"high": 65536}
    assert read(pa.table({"age": [65536]}), schema(age=wide)).codes.dtype == np.uint32
    narrow = AGE | {"high": 65535}
    assert read(pa.table({"age": [65535]}), schema(age=narrow)).codes.dtype == np.uint16
    assert codes({"age": [65536]}, age=wide) == [[65536, 0]]


def test_rules_look_at_each_record():
    table = {"age": [5, -1, 100, None], "job": ["a", "b", "c", ""]}
    clip = AGE | {"outside": "clip", "missing": "drop"}
    other = JOB | {"outside": "other", "missing": "other"}
    assert codes(table, age=clip, job=other) == [[5, 0, 0], [0, 1, 0], [99, 2, 0]]
    other_age = AGE | {"outside": "other", "missing": "other"}
    drop = JOB | {"outside": "drop", "missing": "drop"}
    assert codes(table, age=other_age, job=drop) == [[5, 0, 0], [100, 1, 0]]


def test_text_has_no_bound_to_be_clipped_to():
    clip = AGE | {"outside": "clip", "missing": "other"}
    assert codes({"age": ["5", "old", "inf"]}, age=clip) == [[5, 0], [100, 0], [99, 0]]
    with pytest.raises(DataError, match="no number to clip"):
        codes({"age": ["5", "old"]}, age=AGE | {"outside": "clip"})


def test_errors_name_places_and_rules_but_no_value(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text('age,job\n5,a\n12345,"b"\n7,"sec\nret"\n,a\n8,b\n')
    with pytest.raises(DataError) as caught:
        read(path, schema(age=AGE, job=JOB), line_breaks=True)
    text = str(caught.value)
    assert "column 'age', line 3: the value is not an integer from 0 to 99" in text
    assert "column 'age', line 6: the value is missing" in text
    assert "column 'job', line 4: the value is not a leaf" in text
    assert "`outside: clip`" in text and "`missing: other`" in text
    assert "12345" not in text and "sec" not in text


def test_errors_wait_for_the_whole_input(monkeypatch):
    monkeypatch.setattr("hedgerow.data.frames.BATCH_ROWS", 10)
    table = {"age": [500] + [1] * 99 + [None], "job": ["a"] * 100 + ["c"]}
    with pytest.raises(DataError) as caught:
        codes(table, age=AGE, job=JOB)
    assert "'age', row 1:" in str(caught.value)
    assert "'age', row 101:" in str(caught.value)
    assert "'job', row 101:" in str(caught.value)


def test_only_the_first_places_are_named():
    with pytest.raises(DataError) as caught:
        codes({"age": [500] * 1000}, age=AGE)
    assert "row 1, row 2, row 3:" in str(caught.value)
    assert "row 4" not in str(caught.value) and "1000" not in str(caught.value)


def test_batches_change_nothing(monkeypatch):
    rng = np.random.default_rng(1)
    table = pa.table({"age": rng.integers(-5, 105, 1000), "job": rng.choice(["a", "b", "c"], 1000)})
    rules = schema(age=AGE | {"outside": "drop"}, job=JOB | {"outside": "drop"})
    whole = read(table, rules).codes
    monkeypatch.setattr("hedgerow.data.frames.BATCH_ROWS", 7)
    assert source_module.BATCH_ROWS > 1000
    assert np.array_equal(read(table, rules).codes, whole)
    assert np.array_equal(read(table.to_reader(13), rules).codes, whole)


def test_missing_columns_with_a_suggestion():
    with pytest.raises(DataError, match="there is no column 'job'") as caught:
        codes({"age": [1], "Job": ["a"]}, age=AGE, job=JOB)
    assert "Did you mean 'Job'?" in str(caught.value)
    with pytest.raises(DataError, match="there is no column 'pay'"):
        codes({"age": [1]}, age=AGE, pay=PAY)
    with pytest.raises(DataError, match="there is no column 'who'"):
        codes({"age": [1]}, age=AGE, who={"role": "person", "max_rows": 2})


def test_columns_the_schema_does_not_know():
    with pytest.raises(DataError, match="what to do with column 'ssn'") as caught:
        codes({"age": [1], "ssn": ["1"]}, age=AGE)
    assert "role: identifier" in str(caught.value)
    assert codes({"age": [1], "ssn": ["1"]}, age=AGE, ssn={"role": "identifier"}) == [[1, 0]]
    assert codes({"age": [1]}, age=AGE, ssn={"role": "identifier"}) == [[1, 0]]


def test_a_file_without_a_header_shows_no_record(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("33,secret\n44,b\n")
    with pytest.raises(DataError, match="none of the schema's columns") as caught:
        read(path, schema(age=AGE, job=JOB))
    said = str(caught.value).replace(str(tmp_path), "")
    assert "secret" not in said and "33" not in said


def test_empty_one_row_and_all_missing(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,job\n")
    empty = read(path, schema(age=AGE, job=JOB))
    assert empty.codes.shape == (0, 3)
    person = {"role": "person", "max_rows": 1}
    assert read(path, schema(age=AGE, job=person)).codes.shape == (0, 2)
    assert codes({"age": [1]}, age=AGE) == [[1, 0]]
    with pytest.warns(DataWarning, match="'age': every value is missing"):
        assert codes({"age": [None, None]}, age=AGE | {"missing": "drop"}) == []
    assert codes({"age": pa.array([], pa.int8())}, age=AGE) == []


def test_a_table_keeps_its_secrets():
    table = read(pa.table({"age": [1, 2]}), schema(age=AGE))
    assert repr(table) == "Table('survey')"
    for peek in (len, iter, bool, list, pickle.dumps):
        with pytest.raises(LeakError):
            peek(table)


def test_progress_is_a_share(tmp_path, monkeypatch):
    monkeypatch.setattr("hedgerow.data.text.BATCH_ROWS", 10)
    path = tmp_path / "people.csv"
    path.write_text("age\n" + "1\n" * 100)
    for source in (path, pa.table({"age": [1] * 100})):
        shares = []
        read(source, schema(age=AGE), progress=shares.append)
        assert shares == sorted(shares)
        assert 0 <= shares[0] <= shares[-1] == 1


def test_three_hundred_columns(tmp_path):
    names = [f"c{i}" for i in range(300)]
    path = tmp_path / "wide.csv"
    path.write_text(",".join(names) + "\n" + ",".join("7" for _ in names) + "\n")
    wide = schema(**dict.fromkeys(names, AGE))
    assert read(path, wide).codes.tolist() == [[7] * 300 + [0]]


def test_new_rows_keep_their_order_and_are_marked():
    rules = schema(age=AGE | {"outside": "drop", "missing": "other"}, job=JOB, pay=PAY)
    rows = pa.table(
        {"job": ["a", "zzz", "b", "a"], "extra": [1, 2, 3, 4], "age": [5, 6, 700, None]}
    )
    found, ok = encode_rows(rows, rules)
    assert ok.tolist() == [True, False, False, True]
    assert found[ok].tolist() == [[5, 0], [100, 0]]
    with pytest.raises(DataError, match="column 'job', row 2"):
        encode_rows(rows, rules, lenient=False)
    with pytest.raises(DataError, match="there is no column 'job'") as refusal:
        encode_rows(rows.drop_columns(["job"]), rules)
    assert refusal.value.hint.endswith("write release.table(CLASS, where=..., share=True).")
    nothing, ok = encode_rows(rows.slice(0, 0), rules)
    assert nothing.shape == (0, 2) and ok.shape == (0,)


RULES = {"missing": "other", "outside": "other"}


def test_a_date_in_another_notation_comes_with_a_way_out():
    born = {"type": "numeric", "low": "1990-01-01", "high": "2020-12-31", "step": 7} | RULES
    with pytest.warns(DataWarning, match='read as a date.*format: "%d.%m.%Y"') as caught:
        read(pa.table({"born": ["31.12.1999"], "job": ["a"]}), schema(born=born, job=JOB))
    assert "1999" not in str(caught[0].message)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["1,5", "2,5", ""], "no value can be read as a number.*decimal comma"),
        (["old", "new"], "no value can be read as a number, so"),
        ([-5, 700], "no value lies in the domain"),
        (["", "?"], "every value is missing"),
    ],
)
def test_a_column_that_says_nothing_is_told_to_the_steward(values, words):
    with pytest.warns(DataWarning, match=words) as caught:
        read(
            pa.table({"age": values, "job": ["a"] * len(values)}), schema(age=AGE | RULES, job=JOB)
        )
    text = str(caught[0].message)
    assert len(caught) == 1 and "'age'" in text
    assert not any(str(value) in text for value in ["1,5,", "old", "700"])


@pytest.mark.filterwarnings("error")
def test_a_column_with_one_use_is_quiet(monkeypatch):
    monkeypatch.setattr("hedgerow.data.frames.BATCH_ROWS", 1)  # the good value comes late
    table = pa.table({"age": ["x", "", "7", "y"]})
    read(table, schema(age=AGE | RULES))
    read(table.slice(0, 0), schema(age=AGE | RULES))
    read(pa.table({"age": [-1, 700, 4]}), schema(age=AGE | {"outside": "clip"}))


@pytest.mark.parametrize("outside", ["other", "drop", "clip"])
@pytest.mark.parametrize("value", ["12,345", "12.345", "1,5", "5%"])
def test_no_notation_is_passed_over_in_silence(value, outside):
    rules = {"missing": "other", "outside": outside}
    words = "column 'age', row 2: what is written there cannot be read"
    with pytest.warns(DataWarning, match=words) as caught:
        read(pa.table({"age": ["7", value]}), schema(age=AGE | rules))
    assert value not in str(caught[0].message)
    target = {"age": AGE | rules | {"role": "class", "bands": [50]}, "job": JOB}
    with pytest.warns(DataWarning, match=words):
        read(pa.table({"age": ["7", value], "job": ["a", "a"]}), schema(**target))


def test_clipping_everything_is_told():
    with pytest.warns(DataWarning, match="no value lies in the domain"):
        assert codes({"age": [-1, 700]}, age=AGE | {"outside": "clip"}) == [[0, 0], [99, 0]]


def test_decimal_commas_are_named_where_they_break_a_rule():
    with pytest.raises(DataError, match="decimal comma") as caught:
        codes({"age": ["1", "2,5"]}, age=AGE)
    assert "2,5" not in str(caught.value)
    with pytest.raises(DataError) as caught:
        codes({"age": ["1", "x"]}, age=AGE)
    assert "comma" not in str(caught.value)
