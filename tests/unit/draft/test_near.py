"""Values that were probably meant are quoted when that is asked for, and at no other time."""

from __future__ import annotations

import warnings

import pyarrow as pa
import pytest

from hedgerow.data import read
from hedgerow.draft.check import check_rows
from hedgerow.errors import DataError, DataWarning
from hedgerow.schema import Schema

SEX = {"type": "categorical", "values": ["Female", "Male", "not said"]}
ROWS = pa.table({"sex": ["Male", "male", "Not  Said", "zq", "male", " Female "]})


def schema(**rules):
    document = {"name": "x", "unit": "row", "attributes": {"sex": SEX | rules}}
    return Schema.from_dict(document)


def told(run):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        run()
    return " ".join(str(one.message) for one in caught)


def test_a_check_quotes_and_suggests():
    words = told(lambda: check_rows(ROWS, schema(outside="other"), quote=True))
    assert "'male' (row 2) is not in the schema, did you mean 'Male'?" in words
    assert "'Not  Said' (row 3) is not in the schema, did you mean 'not said'?" in words
    assert words.count("did you mean") == 2 and "zq" not in words


@pytest.mark.parametrize("run", [check_rows, read])
def test_nothing_else_does(run):
    words = told(lambda: run(ROWS, schema(outside="other")))
    assert "column 'sex', row 2" in words and "ignore: [case, spaces]" in words
    assert "male" not in words and "Said" not in words
    with pytest.raises(DataError, match="ignore: ") as caught:
        run(ROWS, schema())
    assert "male" not in str(caught.value).lower()


def test_the_suggestion_comes_before_the_refusal():
    def refused():
        with pytest.raises(DataError):
            check_rows(ROWS, schema(), quote=True)

    assert "did you mean 'Male'?" in told(refused)


def test_many_are_not_all_quoted():
    many = pa.table({"sex": [f"{' ' * n}m{' ' * n}ale" for n in range(1, 30)]})
    assert told(lambda: check_rows(many, schema(outside="drop"), quote=True)).count("mean") == 5
