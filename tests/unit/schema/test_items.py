"""Items: codes, labels, the context-free tree, and the dictionary form."""

from __future__ import annotations

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from hedgerow.errors import SchemaError, UsageError
from hedgerow.schema import Items, Schema, Taxonomy
from hedgerow.schema.items import group

FOOD = Taxonomy.from_nested("Food", {"Drink": ["tea", "milk"], "Bread": ["rye", "white"]})


def grouped_plainly(labels: list[str], fan_out: int) -> object:
    """The tree as nested tuples: neighbors are grouped until one is left."""
    level: list[object] = list(labels)
    while len(level) > 1:
        groups = [level[at : at + fan_out] for at in range(0, len(level), fan_out)]
        level = [tuple(group) if len(group) > 1 else group[0] for group in groups]
    return level[0]


def as_tuples(tree: Taxonomy, node: int = 0) -> object:
    below = tree.children[node]
    return tuple(as_tuples(tree, child) for child in below) if below else tree.labels[node]


@seed(1)
@settings(max_examples=300, deadline=None, database=None)
@given(st.integers(1, 300), st.integers(2, 320))
def test_the_context_free_tree(size: int, fan_out: int) -> None:
    labels = tuple(map(str, range(size)))
    tree = group(labels, fan_out)
    assert as_tuples(tree) == grouped_plainly(list(labels), fan_out)
    assert tree.leaves == labels
    assert all(parent < node for node, parent in enumerate(tree.parents))
    assert len(set(tree.labels)) == len(tree.labels)


def test_a_fan_out_beyond_the_universe_is_flat_and_one_item_is_a_leaf() -> None:
    assert Items(("a", "b", "c"), fan_out=99).taxonomy.height == 1
    assert Items(("a",)).taxonomy == Taxonomy(("a",), (-1,))
    assert Items(("a",), empty="dummy").taxonomy.leaves == ("a", "(empty)")


def test_codes_of_a_range() -> None:
    items = Items(range(-2, 5))
    assert items.labels == ("-2", "-1", "0", "1", "2", "3", "4") and items.size == 7
    assert [items.code_of(label) for label in (-2, "-1", 0, "4")] == [0, 1, 2, 6]
    odd = ["5", "-3", "007", "+1", "-0", " 1", "1.0", "x", "", "(empty)", "٣", "9" * 5000]
    assert items.codes_of(odd).tolist() == [-1] * len(odd)
    with pytest.raises(UsageError, match="'5' is not an item"):
        items.code_of(5)


@pytest.mark.parametrize("universe", [range(1, 4), ("1", "2", "3"), Taxonomy.flat(["1", "2", "3"])])
def test_the_dummy_is_the_last_item(universe: object) -> None:
    items = Items(universe, empty="dummy")  # type: ignore[arg-type]
    assert items.labels == ("1", "2", "3", "(empty)") and items.given == ("1", "2", "3")
    assert items.size == 4 and items.dummy == 3 == items.code_of("(empty)")
    assert items.taxonomy.leaves == items.labels
    plain = Items(universe)  # type: ignore[arg-type]
    assert plain.dummy is None and plain.codes_of(["(empty)", "3"]).tolist() == [-1, 2]


def test_a_semantic_taxonomy() -> None:
    items = Items(FOOD)
    assert items.semantic and items.taxonomy is FOOD and items.code_of("rye") == 2
    dummy = Items(FOOD, empty="dummy").taxonomy
    assert dummy.leaves == (*FOOD.leaves, "(empty)") and dummy.parents[-1] == 0
    single = Items(Taxonomy.flat(["tea"]), empty="dummy").taxonomy
    assert single.leaves == ("tea", "(empty)") and single.height == 1
    assert not Items(("tea",)).semantic


@pytest.mark.parametrize(
    "items",
    [
        Items(range(1, 18), max_items=17),
        Items(range(-5, 1), fan_out=3, foreign="error", empty="dummy"),
        Items(("No", "007", "a, b", "é: x"), separator="|", column="bought"),
        Items(("1", "2"), person="who", item="what"),
        Items(FOOD, empty="dummy", max_items=2),
        Items(Taxonomy.flat(["only"])),
        Items(Taxonomy.flat(["x", "y"], "Any")),
        Items(("x",), separator="\t"),
    ],
)
def test_round_trips(items: Items, tmp_path: object) -> None:
    unit = "row" if items.person is None else "person"
    schema = Schema(name="s", items=items, began_as_draft=True, unit=unit)
    again = Schema.from_dict(schema.to_dict())
    assert again == schema and again.hash == schema.hash
    path = f"{tmp_path}/s.yaml"
    with open(path, "w", encoding="utf-8") as file:
        file.write(schema.to_yaml())
    assert Schema.load(path) == schema


def test_a_million_items_stay_short_in_a_manifest() -> None:
    schema = Schema(name="big", items=Items(range(1_000_000)), unit="row")
    assert len(schema.to_yaml()) < 200 and len(str(schema.to_dict())) < 300
    other = Schema(name="big", items=Items(range(999_999)), unit="row")
    assert other.hash != schema.hash


def test_yaml_leaves_out_what_is_default() -> None:
    assert Schema(name="s", items=Items(("a", "b")), unit="row").to_yaml() == (
        "name: s\nunit: row\nitems:\n  universe:\n  - a\n  - b\n"
    )


@pytest.mark.parametrize(
    "items, match",
    [
        (Items(()), "no items"),
        (Items(("a", "a")), "'a' is repeated"),
        (Items(("a", " ")), "blank"),
        (Items(("a", "b\n")), "line break"),
        (Items(range(0)), "ends before"),
        (Items(range(0, 9, 2)), "leaves out"),
        (Items(range(10**18, 10**18 + 2)), "18 digits"),
        (Items(("a", "b"), fan_out=1), "fan_out is below 2"),
        (Items(FOOD, fan_out=3), "taxonomy itself"),
        (Items(("a",), max_items=0), "max_items is below 1"),
        (Items(("a", "(empty)"), empty="dummy"), "empty record"),
        (Items(("a",), person="p"), "without item"),
        (Items(("a",), item="i"), "without person"),
        (Items(("a",), item="i", person="i"), "same column"),
        (Items(("a",), item="i", person="p", column="c"), "beside person"),
        (Items(("a",), column=" "), "blank"),
    ],
)
def test_faults(items: Items, match: str) -> None:
    with pytest.raises(SchemaError, match=match):
        Schema(name="s", items=items, unit="row")


def test_attributes_or_items_but_not_both() -> None:
    table = Schema.from_dict({"name": "t", "unit": "row", "attributes": {"a": {"type": "boolean"}}})
    with pytest.raises(SchemaError, match="both attributes and items"):
        Schema(name="s", attributes=table.attributes, items=Items(("a",)), unit="row")
    with pytest.raises(SchemaError, match="both attributes and items"):
        Schema(name="s", identifiers=("x",), items=Items(("a",)), unit="row")
    with pytest.raises(SchemaError, match="no attribute"):
        Schema(name="s", unit="row")
