"""The lists that come with hedgerow: counts that are publicly known, and values that they read."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from hedgerow.data.encode import MISSING, STRANGE, encode_array
from hedgerow.schema import Categorical, Schema
from hedgerow.schema.taxonomy_files import built_in


def column(name: str, **keys: object) -> Categorical:
    schema = Schema.from_dict(
        {"name": "t", "attributes": {"a": {"type": "categorical", "taxonomy": name, **keys}}}
    )
    assert schema.warnings == ()
    found = schema.attributes[0]
    assert isinstance(found, Categorical)
    return found


def read(attribute: Categorical, value: str) -> str | None:
    code = int(encode_array(attribute, pa.array([value]))[0])
    return attribute.taxonomy.leaves[code] if code >= 0 else {MISSING: "missing"}.get(code)


@pytest.mark.parametrize(
    ("name", "leaves", "tops"),
    [
        ("age-bands", 21, 3),
        ("countries", 249, 6),  # five regions, and Antarctica
        ("icd-9-cm", 162, 19),
        ("icd-10-cm", 284, 22),
        ("nace-2", 21, 2),
        ("us-states", 51, 4),
    ],
)
def test_counts(name: str, leaves: int, tops: int) -> None:
    taxonomy = column(name).taxonomy
    assert len(taxonomy.leaves) == leaves
    assert len(taxonomy.children[0]) == tops


def test_all_of_them_are_tested_and_name_a_source() -> None:
    lists = built_in()
    assert set(lists) == {
        "age-bands", "countries", "icd-9-cm", "icd-10-cm", "nace-2", "us-states"
    }  # fmt: skip
    assert all(text.startswith("# ") for text in lists.values())


@pytest.mark.parametrize(
    ("name", "value", "leaf"),
    [
        ("icd-9-cm", "428", "420-429 Other heart disease"),
        ("icd-9-cm", "428.0", "420-429 Other heart disease"),
        ("icd-9-cm", "4280", "420-429 Other heart disease"),
        ("icd-9-cm", "250.83", "249-259 Diabetes and other endocrine glands"),
        ("icd-9-cm", "8", "001-009 Intestinal infections"),
        ("icd-9-cm", "8.45", "001-009 Intestinal infections"),
        ("icd-9-cm", "0389", "030-041 Other bacterial diseases"),
        ("icd-9-cm", "V27.0", "V20-V29 Reproduction and development"),
        ("icd-9-cm", "V5789", "V50-V59 Procedures and aftercare"),
        ("icd-9-cm", "E8889", "E880-E888 Falls"),
        ("icd-9-cm", "E030", "E001-E030 Activity"),
        ("icd-9-cm", "019", None),
        ("icd-9-cm", "I50", None),
        ("icd-9-cm", "?", "missing"),
        ("icd-10-cm", "I50.9", "I30-I5A Other heart disease"),
        ("icd-10-cm", "I5A", "I30-I5A Other heart disease"),
        ("icd-10-cm", "C4A.9", "C43-C44 Cancer of skin"),
        ("icd-10-cm", "E119", "E08-E13 Diabetes mellitus"),
        ("icd-10-cm", "C7A.1", "C7A Malignant neuroendocrine tumours"),
        ("icd-10-cm", "C79", "C76-C80 Cancer of other and secondary sites"),
        ("icd-10-cm", "D3A", "D3A Benign neuroendocrine tumours"),
        ("icd-10-cm", "M1A.0", "M05-M14 Inflammatory joint diseases"),
        ("icd-10-cm", "Z3A.40", "Z30-Z3A Reproduction"),
        ("icd-10-cm", "O9A", "O94-O9A Other obstetric conditions"),
        ("icd-10-cm", "Y04.0XXA", "X92-Y09 Assault"),
        ("icd-10-cm", "U07.1", "U00-U85 Codes for special purposes"),
        ("icd-10-cm", "428", None),
        ("countries", "FR", "France"),
        ("countries", "FRA", "France"),
        ("countries", "250", "France"),
        ("countries", "France", "France"),
        ("countries", "NA", "Namibia"),
        ("countries", "NO", "Norway"),
        ("countries", "France ", "France"),
        ("countries", "XX", None),
        ("us-states", "CA", "California"),
        ("us-states", "06", "California"),
        ("us-states", "PR", None),
        ("nace-2", "C", "C Manufacturing"),
        ("nace-2", "10.71", "C Manufacturing"),
        ("nace-2", "C10", "C Manufacturing"),
        ("nace-2", "01.11", "A Agriculture"),
        ("nace-2", "1", "A Agriculture"),
        ("nace-2", "99", "U International bodies"),
        ("nace-2", "34", None),
        ("age-bands", "0", "0-4"),
        ("age-bands", "4.9", "0-4"),
        ("age-bands", "15", "15-19"),
        ("age-bands", "104", "100 and over"),
        ("age-bands", "-1", None),
    ],
)
def test_values(name: str, value: str, leaf: str | None) -> None:
    assert read(column(name), value) == leaf


@pytest.mark.parametrize("name", ["icd-9-cm", "icd-10-cm", "nace-2", "age-bands"])
def test_both_ends_of_each_range_lead_to_its_own_leaf(name: str) -> None:
    attribute = column(name)
    ranges = 0
    for rule, leaf in attribute.reading.rules:
        ends = re.fullmatch(r"(\w+)\*?-(\w+)\*?", rule)
        if ends is not None:
            ranges += 1
            assert [read(attribute, end) for end in ends.groups()] == [leaf, leaf]
    assert ranges >= 21


def test_ranges_of_blocks_do_not_overlap() -> None:
    for name in ("icd-9-cm", "icd-10-cm"):
        labels = [leaf.split()[0].partition("-") for leaf in column(name).taxonomy.leaves]
        ends = [(low, high or low) for low, _, high in labels]
        for (_, high), (low, _) in zip(sorted(ends), sorted(ends)[1:], strict=False):
            assert high < low or {high, low} & {"C7A", "C7B", "D3A", "C80", "D48"}


def test_two_lines_of_a_schema_and_case() -> None:
    attribute = column("countries", ignore=["case"], outside="other", missing="other")
    assert read(attribute, "france") == "France"
    assert read(attribute, "atlantis") is None


def test_a_release_holds_the_whole_list() -> None:
    schema = Schema.from_dict(
        {"name": "t", "attributes": {"a": {"type": "categorical", "taxonomy": "icd-9-cm"}}}
    )
    told = schema.to_dict()["attributes"]["a"]
    assert told["recode"]["390-392"] == "390-392 Acute rheumatic fever"
    assert "icd-9-cm" not in str(told)
    assert Schema.from_dict(schema.to_dict()) == schema


def test_items_have_no_rules() -> None:
    from hedgerow.errors import SchemaError

    with pytest.raises(SchemaError, match="rules, which items cannot have"):
        Schema.from_dict({"name": "t", "items": {"taxonomy": "countries"}})


def test_strange_values_stay_strange() -> None:
    assert encode_array(column("us-states"), pa.array(["Narnia"])).tolist() == [STRANGE]
