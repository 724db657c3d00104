"""What became of transactions: exact counts for the holder, equal to what is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hedgerow.data import check_transactions, read_transactions
from hedgerow.data.preparation import ItemPreparation
from hedgerow.present.against import about_rows, about_tables, describe_preparation
from hedgerow.present.render import fragment
from hedgerow.schema import Schema

UNIVERSE = ["milk", "tea", "rice", "salt"]


def schema_of(**rules: Any) -> Schema:
    unit = "person" if "person" in rules else "row"
    return Schema.from_dict({"name": "s", "unit": unit, "items": {"universe": UNIVERSE, **rules}})


def baskets(number: int = 300) -> list[list[str]]:
    source = np.random.default_rng(1)
    known = [*UNIVERSE, "soap", "milk"]
    return [[known[i] for i in source.integers(0, 6, source.integers(0, 6))] for _ in range(number)]


@pytest.mark.parametrize("empty", ["drop", "dummy"])
@pytest.mark.parametrize("form", ["lists", "text", "long"])
def test_counts_are_those_of_what_is_read(form: str, empty: str, tmp_path: Path) -> None:
    held = baskets()
    rules: dict[str, Any] = {"empty": empty, "max_items": 2}
    source: Any = pa.table({"items": pa.array(held, pa.list_(pa.string()))})
    if form == "text":
        source = tmp_path / "shop.dat"
        source.write_text("".join(" ".join(one) + "\n" for one in held), "utf-8")
    if form == "long":
        rules |= {"person": "who", "item": "what"}
        held = [one for one in held if one]  # whoever has no row is not there
        rows = [(f"p{n}", item) for n, one in enumerate(held) for item in one] + [(None, "milk")]
        who, what = map(list, zip(*rows, strict=True))
        source = pa.table({"who": who, "what": what})
    schema = schema_of(**rules)
    found, read = check_transactions(source, schema), read_transactions(source, schema)
    sets = [{item for item in one if item in UNIVERSE} for one in held]
    assert found.records == len(held) and found.counted == len(read.start) - 1
    assert found.items == sum(map(len, held))
    assert found.foreign == sum(one.count("soap") for one in held)
    assert found.repeated == found.items - found.foreign - sum(map(len, sets))
    assert found.capped == sum(max(0, len(one) - 2) for one in sets)
    assert found.over == sum(len(one) > 2 for one in sets)
    assert found.empty == sum(not one for one in sets)
    kept = found.items - found.foreign - found.repeated - found.capped
    assert len(read.codes) == kept + (found.empty if empty == "dummy" else 0)
    assert (found.rows, found.unidentified) == ((len(source), 1) if form == "long" else (None, 0))


WELL = {
    "records": 100, "rows": None, "unidentified": 0, "items": 100, "foreign": 0, "repeated": 0,
    "capped": 0, "over": 0, "empty": 0, "dropped": 0, "max_items": 3,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"foreign": 5}, None),
        ({"foreign": 6}, "6.0% of the items are not in the universe"),
        ({"capped": 6, "over": 2}, "cap on items per record"),
        ({"dropped": 6, "empty": 6}, "no item of the universe and are dropped"),
        ({"empty": 6}, None),
        ({"rows": 100, "unidentified": 6}, "rows have no person"),
    ],
)
def test_warnings_are_given_beyond_five_percent(changes: Any, told: str | None) -> None:
    found = ItemPreparation(**WELL | changes)
    assert ([] if told is None else [told]) == [
        told for sentence in found.warnings() if told is not None and told in sentence
    ]
    assert len(found.warnings()) == (told is not None)


def test_in_words() -> None:
    fine = ItemPreparation(**WELL)
    assert about_rows(fine) == ["Of 100 records 100 are counted."] and not about_tables(fine)
    odd = ItemPreparation(**WELL | {"rows": 120, "unidentified": 7, "over": 2, "capped": 4})
    assert about_rows(odd)[0] == "Of 120 rows 7 belong to no person and are dropped."
    (table,) = about_tables(odd)
    assert table.rows == [
        ("items over the cap of 3, left out", "4", "4.0%"),
        ("records with more items than the cap of 3", "2", "2.0%"),
    ]
    text = fragment(describe_preparation(odd))
    assert "over the cap of 3" in text and "5.8% of the rows have no person" in text
    dummies = ItemPreparation(**WELL | {"empty": 3})
    assert "(empty) stands there" in about_rows(dummies)[-1]
