import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.data.encode import (
    ABOVE,
    BELOW,
    COMMA,
    DOTS,
    MISSING,
    NEAR,
    SERIAL,
    STRANGE,
    encode_array,
)
from hedgerow.errors import DataError
from hedgerow.schema import Categorical, Numeric, Taxonomy

AGE = Numeric("age", low=Fraction(17), high=Fraction(90), step=Fraction(1), kind="integer")
DOSE = Numeric("dose", low=Fraction(-1), high=Fraction(2), step=Fraction(1, 10), kind="decimal")
DAY = Numeric(
    "day", low=Fraction(18262), high=Fraction(18627), step=Fraction(7), kind="date"
)  # the year 2020
SEX = Categorical("sex", Taxonomy.flat(["Female", "Male"]))
SMOKER = Categorical("smoker", Taxonomy.flat(["false", "true"]), boolean=True)


def codes(attribute, values, kind=None):
    return encode_array(attribute, pa.array(values, kind)).tolist()


def test_integers_in_every_type():
    expected = [0, 1, 73, BELOW, ABOVE, MISSING]
    values = [17, 18, 90, 16, 91, None]
    for kind in (pa.int8(), pa.uint8(), pa.int32(), pa.int64(), pa.uint64(), pa.float32()):
        assert codes(AGE, values, kind) == expected
    assert codes(AGE, [Decimal(v) if v else None for v in values]) == expected
    assert codes(AGE, [str(v) if v else None for v in values]) == expected


def test_dictionary_columns_equal_plain_ones():
    for values in (["17", "", "40", None, "17"], [17, 18, 17, None]):
        plain = pa.array(values)
        assert encode_array(AGE, plain.dictionary_encode()).tolist() == codes(AGE, values)
    long = pa.array([str(i) for i in range(17, 90)]).dictionary_encode()
    assert encode_array(AGE, long.slice(3, 2)).tolist() == [3, 4]


def test_huge_integers_do_not_wrap_around():
    assert codes(AGE, [2**63 - 1, -(2**63)]) == [ABOVE, BELOW]
    assert codes(AGE, [2**64 - 1, 2**63], pa.uint64()) == [ABOVE, ABOVE]
    tenth = Numeric("x", low=Fraction(0), high=Fraction(1), step=Fraction(1, 10), kind="decimal")
    assert codes(tenth, [2**62, 1, 0]) == [ABOVE, 10, 0]


def test_numbers_as_text():
    values = [" 17 ", "+18", "1.9e1", "20.0", "NaN", "?", "na", "None", "", "inf", "-inf", "x1"]
    assert codes(AGE, values) == [0, 1, 2, 3] + [MISSING] * 5 + [ABOVE, BELOW, STRANGE]
    assert codes(AGE, ["1_8", "18,5,5", "٢٠", "0x14"]) == [STRANGE] * 4
    assert codes(AGE, ["18,5", "-1,25", ",5", "18", "18,"]) == [COMMA] * 3 + [1, STRANGE]
    assert codes(DAY, ["18,5"]) == [STRANGE]


def test_nan_is_missing_and_infinities_are_outside():
    assert codes(DOSE, [float("nan"), float("inf"), float("-inf")]) == [MISSING, ABOVE, BELOW]


@given(st.integers(0, 30))
def test_decimals_land_on_their_grid_point(k):
    text = str(Decimal(k - 10) / 10)
    as_text = codes(DOSE, [text])
    as_float = codes(DOSE, [float(text)])
    as_float32 = codes(DOSE, [float(text)], pa.float32())
    by_addition = codes(DOSE, [sum([0.1] * k, -1.0)])
    assert as_text == as_float == as_float32 == by_addition == [k]


@given(
    st.fractions(-1000, 1000, max_denominator=100),
    st.sampled_from([Fraction(1), Fraction(1, 4), Fraction(3), Fraction(1, 10), Fraction(7, 5)]),
    st.integers(1, 400),
    st.integers(-3000, 3000),
)
def test_integers_are_floored_exactly(low, step, points, value):
    attribute = Numeric("x", low=low, high=low + points * step, step=step, kind="decimal")
    place = (value - low) / step
    expected = BELOW if place < 0 else ABOVE if place > points else place // 1
    assert codes(attribute, [value]) == [expected]


def test_values_between_grid_points_go_down():
    coarse = Numeric("x", low=Fraction(0), high=Fraction(25), step=Fraction(10), kind="integer")
    assert codes(coarse, [0, 9, 10, 20, 25, 26]) == [0, 0, 1, 2, 2, ABOVE]
    assert codes(coarse, [9.999, 25.0, 25.5]) == [0, 2, ABOVE]


def test_dates_in_every_form():
    first = datetime.date(2020, 1, 1)
    values = [first, first + datetime.timedelta(6), first + datetime.timedelta(7), None]
    expected = [0, 0, 1, MISSING]
    assert codes(DAY, values, pa.date32()) == expected
    assert codes(DAY, values, pa.date64()) == expected
    assert codes(DAY, [v.isoformat() if v else "" for v in values]) == expected
    late = [datetime.datetime(v.year, v.month, v.day, 23, 59) if v else None for v in values]
    for unit in ("s", "ms", "us", "ns"):
        assert codes(DAY, late, pa.timestamp(unit)) == expected
    texts = ["2020-01-08T23:10:00", "2020-01-08 10:00", "2020-02-30", "8.1.2020", "2019-12-31"]
    assert codes(DAY, texts) == [1, 1, STRANGE, DOTS, BELOW]


def test_a_time_zone_keeps_its_own_calendar():
    moment = datetime.datetime(2020, 1, 7, 23, 30, tzinfo=datetime.UTC)  # the 8th in Berlin
    assert codes(DAY, [moment], pa.timestamp("us", "Europe/Berlin")) == [1]


def test_wrong_kinds_are_outside():
    assert codes(DAY, [18262]) == [SERIAL]
    assert codes(AGE, [datetime.date(2020, 1, 1), None]) == [STRANGE, MISSING]


def test_categories_are_stripped_and_matched():
    assert codes(SEX, [" Male ", "Female", "male", "Any", "", None, "?"]) == [
        1,
        0,
        NEAR,
        STRANGE,
        MISSING,
        MISSING,
        MISSING,
    ]


def test_a_leaf_wins_over_a_word_for_missing():
    country = Categorical("country", Taxonomy.flat(["NA", "?", "DE"]))
    assert codes(country, ["NA", "?", "na", "DE", ""]) == [0, 1, MISSING, 2, MISSING]


def test_numbers_as_categories():
    grade = Categorical("grade", Taxonomy.flat(["1", "2", "2.5"]))
    assert codes(grade, [1, 2, 3, None]) == [0, 1, STRANGE, MISSING]
    assert codes(grade, [1.0, 2.0, 2.5, None, float("nan")]) == [0, 1, 2, MISSING, MISSING]


def test_booleans_in_every_form():
    assert codes(SMOKER, [True, False, None]) == [1, 0, MISSING]
    assert codes(SMOKER, ["yes", "No", "TRUE", "f", "1", "0", "maybe"]) == [
        1,
        0,
        1,
        0,
        1,
        0,
        STRANGE,
    ]
    assert codes(SMOKER, [1, 0, 2]) == [1, 0, STRANGE]
    words = Categorical("smoker", Taxonomy.flat(["Yes", "No"]))
    assert codes(words, [True, False]) == [0, 1]
    assert codes(words, ["true"]) == [STRANGE]  # only a boolean column or attribute is read so


def test_composed_and_decomposed_letters_are_the_same():
    town = Categorical("town", Taxonomy.flat(["Zu\u0308rich", "Genf"]))
    assert codes(town, ["Z\u00fcrich", "Zu\u0308rich"]) == [0, 0]


def test_bytes_of_text_are_read_and_others_refused():
    assert codes(SEX, [b"Male", None], pa.binary()) == [1, MISSING]
    with pytest.raises(DataError, match="column 'sex'") as caught:
        codes(SEX, [b"\xff\xfe"], pa.binary())
    assert "xff" not in str(caught.value)
    with pytest.raises(DataError, match="column 'sex' holds values of type list"):
        codes(SEX, [["Male"]])


def test_columns_without_anything():
    assert codes(SEX, [None, None], pa.null()) == [MISSING, MISSING]
    assert encode_array(AGE, pa.array([], pa.string())).dtype == np.int64
    assert codes(AGE, [], pa.float64()) == []


def test_days_beyond_the_calendar_are_no_label() -> None:
    """Python has no date for them, and fails."""
    array = pa.array([-(2**31), 2**31 - 1, 0, None], pa.date32())
    day = Categorical("day", Taxonomy.flat(["1970-01-01", "1970-01-02"]))
    assert encode_array(day, array).tolist() == [STRANGE, STRANGE, 0, MISSING]
