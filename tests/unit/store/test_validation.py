"""Columns that anybody may have written."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from hedgerow.errors import ReleaseError
from hedgerow.store.untrusted import ints_of, labels_of

LARGE = 2**62 + 1  # which no float can hold


def test_numbers_have_no_gaps_and_fit() -> None:
    table = pa.table({"n": pa.array([5, None, LARGE, None, 7], pa.int64()).slice(1)})
    with pytest.raises(ReleaseError, match="must hold whole numbers"):
        ints_of("f", table, "n")
    with pytest.raises(ReleaseError, match="too large"):
        ints_of("f", table.slice(1, 1), "n", np.int32)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
@pytest.mark.parametrize("folded", [True, False])
def test_labels_have_places_and_null_has_none(kind: pa.DataType, folded: bool) -> None:
    texts = pa.array(["no", "yes", None, "no", "yes"], kind)
    column = (texts.dictionary_encode() if folded else texts).slice(1)
    assert labels_of("f", pa.table({"c": column}), "c", ["yes", "no"]).tolist() == [0, -1, 1, 0]
    with pytest.raises(ReleaseError, match="does not know"):
        labels_of("f", pa.table({"c": column}), "c", ["yes"])


def test_a_null_among_the_words_of_a_dictionary_is_no_label() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["yes", None]))
    with pytest.raises(ReleaseError, match="does not know"):
        labels_of("f", pa.table({"c": column}), "c", ["yes"])


def test_a_column_without_any_text_and_one_of_numbers() -> None:
    assert labels_of("f", pa.table({"c": pa.nulls(2)}), "c", ["yes"]).tolist() == [-1, -1]
    with pytest.raises(ReleaseError, match="must hold text"):
        labels_of("f", pa.table({"c": [1]}), "c", ["yes"])
