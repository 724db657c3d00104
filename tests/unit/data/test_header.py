import pandas as pd
import pyarrow as pa
import pytest

from hedgerow.draft.draft import draft_text, sketch_table
from hedgerow.errors import DataError


def write(tmp_path, text):
    path = tmp_path / "people.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("header", "places"),
    [
        ("39,Bachelors,Male", "columns 1, 3"),
        ("age,job,Male", "column 3"),
        ("2020-01-31,job,sex", "column 1"),
        ("31/01/2020,job,sex", "column 1"),
        ("1.5e3,job,sex", "column 1"),
        ("?,job,sex", "column 1"),
        ("age,NA,sex", "column 2"),
    ],
)
def test_a_record_is_not_taken_for_names(tmp_path, header, places):
    path = write(tmp_path, header + "\n40,Cook,Male\n41,Smith,Female\n")
    with pytest.raises(DataError, match="looks like a record") as caught:
        draft_text(sketch_table(path))
    assert places in str(caught.value)
    shown = str(caught.value).replace(str(path), "")
    assert "Bachelors" not in shown and "Male" not in shown and "39" not in shown
    assert "attributes:" in draft_text(sketch_table(path, trust_header=True))


def test_words_for_yes_and_no(tmp_path):
    with pytest.raises(DataError, match="column 2"):
        draft_text(sketch_table(write(tmp_path, "age,yes\n4,no\n5,no\n")))
    with pytest.raises(DataError, match="column 1"):
        draft_text(sketch_table(pa.table({"True": [False, False]})))
    assert "No:" in draft_text(sketch_table(pa.table({"No": [1, 2], "age": [4, 5]}))).replace(
        '"', ""
    )


def test_frames_without_names():
    with pytest.raises(DataError, match="columns 1, 2"):
        draft_text(sketch_table(pd.DataFrame([[1, "a"], [2, "b"]])))


def test_names_are_names(tmp_path):
    path = write(tmp_path, "age,job,x1,2nd\n40,Cook,3,4\n41,Smith,4,5\n")
    assert "attributes:" in draft_text(sketch_table(path))
