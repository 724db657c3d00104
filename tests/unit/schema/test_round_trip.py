"""Whatever schema can be built in Python is read back from a release as it was."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.counting.engine import Domain
from hedgerow.errors import HedgerowError, SchemaError
from hedgerow.schema import Categorical, Items, Layout, Metadata, Numeric, Person, Schema
from hedgerow.schema.attributes import in_bands
from hedgerow.schema.taxonomy import Reading, Taxonomy


def number(**more: Any) -> Numeric:
    return Numeric(
        "age", low=Fraction(0), high=Fraction(9), step=Fraction(1), kind="integer", **more
    )


def read_back(schema: Schema) -> Schema:
    return Schema.from_dict(json.loads(json.dumps(schema.to_dict())))


LABEL = st.sampled_from(["a", "b", " a", "b\u00a0", "other", "null", "1..5", "7", "true", "  "])
NAME = st.sampled_from([*[""] * 8, "g", "h", " g ", "g\u00a0"])  # most of all is as usual
SIGN = st.sampled_from(["", "", "", ".", ","])
FRACTION = st.sampled_from(
    [Fraction(n, d) for n in (-800_000, -1, 0, 1, 3, 9, 40, 10**41) for d in (1, 2, 3, 2**50)]
)
SOME = {
    "split": st.sampled_from(["allowed", "allowed", "never"]),
    "group": NAME,
    "column": NAME,
    "caption": NAME,
    "weight": st.sampled_from([*[Fraction(1)] * 6, Fraction(1, 2), Fraction(1, 3)]),
}
MISSING = st.sampled_from(["error", "drop", "error", "drop", "other"])

numbers = st.builds(
    Numeric,
    name=st.sampled_from(["n", "m", "count"]),
    low=FRACTION,
    high=FRACTION,
    step=FRACTION,
    kind=st.sampled_from(["integer", "decimal", "date"]),
    missing=MISSING,
    outside=st.sampled_from(["error", "other", "clip", "drop"]),
    scale=st.sampled_from(["linear", "log"]),
    common=st.lists(FRACTION, max_size=3).map(tuple),
    decimal=SIGN,
    thousands=SIGN,
    format=st.sampled_from(["", "%d.%m.%Y", "excel"]),
    **SOME,
)
likely = st.builds(
    lambda attribute, low, cells, kind: replace(
        attribute,
        low=Fraction(low),
        high=Fraction(low + cells),
        step=Fraction(1),
        kind=kind,
        common=(Fraction(low + 1), Fraction(low), Fraction(low)),
        format="" if kind != "date" else attribute.format,
        decimal="" if kind == "date" else attribute.decimal,
    ),
    numbers,
    st.integers(-5, 5),
    st.integers(1, 9),
    st.sampled_from(["integer", "decimal", "date"]),
)
trees = st.one_of(
    st.lists(LABEL, min_size=1, max_size=4, unique=True).map(Taxonomy.flat),
    st.just(Taxonomy.from_nested("top", {"L": ["a", "b"], "R": ["other", "7"]})),
    st.just(Taxonomy(("top", "L", "R", "a", "b", "c", "d"), (-1, 0, 0, 1, 1, 2, 2))),
    st.just(Taxonomy.flat(["false", "true"])),
)
rules = st.lists(st.tuples(st.sampled_from(["x", " x", "x*", "*"]), LABEL), max_size=3).map(tuple)
readings = st.builds(
    Reading,
    rules=rules,
    ignore=st.sampled_from([(), ("case",), ("case", "case")]),
    cut_at=st.sampled_from([None, "", "."]),
)
categories = st.builds(
    Categorical,
    name=st.sampled_from(["c", "d"]),
    taxonomy=trees,
    missing=MISSING,
    outside=MISSING,
    boolean=st.sampled_from([False, False, False, True]),
    reading=st.one_of(st.just(Reading()), st.just(Reading()), readings),
    edges=st.sampled_from([*[()] * 6, (0, 2)]),
    **SOME,
)


def banded(one: Numeric) -> Categorical:
    plain = replace(one, name="k", split="allowed", weight=Fraction(1), group="")
    return in_bands(plain, [0, 1])


classes = st.one_of(
    st.none(),
    st.none(),
    categories.map(lambda one: replace(one, name="k", split="allowed", weight=Fraction(1))),
    likely.map(lambda one: banded(one)),
    likely.map(lambda one: replace(banded(one), edges=(1, 0))),
)
layouts = st.builds(
    Layout,
    encoding=st.sampled_from([None, "cp1252"]),
    header_row=st.sampled_from([None, 3, 3, 0]),
    sheet=st.sampled_from([None, " s"]),
    decimal=SIGN,
    thousands=SIGN,
)
universes = st.one_of(
    st.just(range(1, 5)),
    st.just(range(1, 5)),
    trees,
    st.lists(LABEL, min_size=1, max_size=3, unique=True).map(tuple),
)
baskets = st.builds(
    Items,
    universe=universes,
    fan_out=st.sampled_from([10, 10, 10, 2, 1]),
    empty=st.sampled_from(["drop", "dummy"]),
    max_items=st.sampled_from([None, 3]),
    separator=st.sampled_from([" ", ";"]),
)
baskets = st.one_of(
    baskets, baskets.map(lambda one: replace(one, person="who", item="what ", max_items=2))
)


def counts(seen: dict[str, int], schema: Any) -> None:
    """Builds a schema; if that is allowed, it must be read back."""
    try:
        built = schema()
    except HedgerowError:
        return
    seen["built"] = seen.get("built", 0) + 1
    assert read_back(built) == built
    assert read_back(built).hash == built.hash


@pytest.mark.slow
def test_any_table_that_python_builds_is_read_back() -> None:
    seen: dict[str, int] = {}

    @settings(max_examples=300, deadline=None, derandomize=True, database=None)
    @given(
        st.lists(st.one_of(likely, likely, categories, categories, numbers), max_size=2).map(tuple),
        classes,
        st.one_of(st.just(Layout()), layouts),
        st.booleans(),
    )
    def run(attributes: Any, target: Any, file: Layout, people: bool) -> None:
        plain = number(column=" ".join(["age"] * people))
        more = {"person": Person("who", 2), "unit": "person"} if people else {"unit": "row"}
        about = Metadata(period=" 1999 ", unit_name=("visit", "visits"))
        counts(seen, lambda: Schema("x", (*attributes, plain), target=target, file=file,
                                    identifiers=("id",), metadata=about, **more))  # fmt: skip

    run()
    assert seen["built"] > 30


def test_any_transactions_that_python_builds_are_read_back() -> None:
    seen: dict[str, int] = {}

    @settings(max_examples=100, deadline=None, derandomize=True, database=None)
    @given(baskets, st.one_of(st.just(Layout()), layouts))
    def run(items: Items, file: Layout) -> None:
        unit: Any = "row" if items.person is None else "person"
        counts(seen, lambda: Schema("x", items=items, file=file, unit=unit))

    run()
    assert seen["built"] > 10


@pytest.mark.parametrize("name", [" g ", "g\u00a0", "\tg"])
@pytest.mark.parametrize("key", ["group", "column"])
def test_a_name_with_spaces_around_it_is_not_another_name(key: str, name: str) -> None:
    with pytest.raises(SchemaError, match="starts or ends with a space|control character"):
        Schema("x", (number(**{key: name}),), unit="row")
    described = {"type": "numeric", "low": 0, "high": 9, key: name}
    document = {"name": "x", "unit": "row", "attributes": {"age": described}}
    assert getattr(Schema.from_dict(document).attributes[0], key) == name.strip()


def test_groups_are_the_same_in_python_and_in_a_file() -> None:
    columns = {
        name: {"type": "numeric", "low": 0, "high": 9, "group": group}
        for name, group in (("a", " g "), ("b", "g"))
    }
    known = Schema.from_dict({"name": "x", "unit": "row", "attributes": columns})
    assert Domain.of(known).sharing.tolist() == [2, 2]


def test_the_notation_of_the_file_is_that_of_its_columns() -> None:
    day = Numeric("day", low=Fraction(0), high=Fraction(9), step=Fraction(1), kind="date")
    own = replace(number(thousands="."), name="own")
    target = in_bands(replace(number(), name="k"), [0, 5])
    schema = Schema(
        "x", (number(), day, own), target=target, unit="row", file=Layout(decimal=",")
    )  # fmt: skip
    assert [one.decimal for one in schema.attributes] == [",", "", ""]  # type: ignore[union-attr]
    assert schema.target is not None and schema.target.bands is not None
    assert schema.target.bands.decimal == ","
    assert read_back(schema) == schema


FAR, TINY = Fraction(10**6), Fraction(1, 2**50)
DECIMAL, DATES = replace(number(), kind="decimal"), replace(number(), kind="date")
CLASS = in_bands(replace(number(), name="k"), [0, 5])
BY_LEVEL = Taxonomy(("r", "L", "R", "a", "b", "c", "d"), (-1, 0, 0, 1, 1, 2, 2))
TRUTH = Categorical("c", Taxonomy.flat(["false", "true"]), boolean=True)


@pytest.mark.parametrize(
    "parts, words",
    [
        ({"file": Layout(decimal=",", thousands=",")}, "same sign"),
        ({"attributes": (), "items": Items(range(9)), "file": Layout(decimal=",")}, "has items"),
        ({"attributes": (), "items": Items(("a",), person="p", item="i", separator=";")},
         "separator is given"),
        ({"attributes": (replace(DECIMAL, common=(Fraction(1, 3),)),)}, "cannot have"),
        ({"attributes": (replace(DATES, low=-FAR),)}, "years 1 to 9999"),
        ({"attributes": (replace(DECIMAL, high=9 * TINY, step=TINY),)}, "more than 40 decimals"),
        ({"attributes": (replace(DATES, decimal=","),)}, "these are dates"),
        ({"attributes": (in_bands(number(), [0, 5]),)}, "for the class alone"),
        ({"target": replace(CLASS, edges=(0, 6))}, "bands are not those"),
        ({"target": replace(CLASS, edges=(5, 0))}, "bands are not those"),
        ({"attributes": (Categorical("c", BY_LEVEL),)}, "not a tree in preorder"),
        ({"attributes": (replace(TRUTH, reading=Reading((("x", "true"),))),)}, "a boolean has"),
    ],
)  # fmt: skip
def test_what_could_not_be_read_back_is_refused(parts: Any, words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        Schema("x", **{"attributes": (number(),), **parts})


def test_more_common_values_than_a_file_may_name() -> None:
    wide = replace(number(), high=Fraction(99), common=tuple(map(Fraction, range(17))))
    with pytest.raises(SchemaError, match="more than 16"):
        Schema("x", (wide,))


def test_what_is_said_twice_counts_once() -> None:
    reading = Reading(((" x ", "a"), ("x", "a")), ("case", "case"), "")
    assert reading == Reading((("x", "a"),), ("case",))
    assert number(common=(Fraction(3), Fraction(1), Fraction(3))).common == (1, 3)
