"""A schema file's faults: each names file, line, column and rule, and says how to mend it."""

from __future__ import annotations

import cProfile
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import SchemaError
from hedgerow.schema import Categorical, Schema


def load(folder: Path, columns: str, top: str = "name: t\n") -> Schema:
    path = folder / "s.yaml"
    path.write_text(f"{top}attributes:\n{columns}", encoding="utf-8")
    return Schema.load(path)


GOOD = "  ok: {type: boolean}\n"


@pytest.mark.parametrize(
    ("column", "rule", "hint"),
    [
        ("a: {type: numeric, low: 1, hgih: 9}", "unknown key 'hgih'", "Did you mean 'high'"),
        ("a: {type: numeric, low: 1}", "'high' is missing", "public knowledge"),
        ("a: {type: numeric, low: 9, high: 9}", "low is not below high", "smallest"),
        ("a: {type: numeric, low: 1, high: 9, step: 0}", "step is not above zero", "such as 1"),
        ("a: {type: numeric, low: 0, high: 16777216}", "more than 16777216", "larger step"),
        ("a: {type: numeric, low: .nan, high: 9}", "low is neither", "number"),
        ("a: {type: numeric, low: 0, high: 1e999999999}", "high is neither", "number"),
        ("a: {type: numeric, low: 0.5, high: 9}", "step is missing", "0.5"),
        ("a: {type: numeric, low: 2020-02-30, high: 2021-01-01}", "low is neither", "date"),
        ("a: {type: numeric, low: 3, high: 2021-01-01}", "not both dates", "both"),
        ("a: {type: numeric, low: 2020-01-01, high: 2021-01-01, step: 0.5}", "days", "step: 7"),
        ("a: {type: numeric, low: 0, high: 5, role: class}", "class of numbers needs", "bands: "),
        ("a: {type: categorial, values: [x, y]}", "type is 'categorial'", "mean categorical"),
        ("a: {type: categorical}", "neither values nor a taxonomy", "Add values"),
        ("a: {type: categorical, values: x}", "not a list", "values: "),
        ("a: {type: categorical, values: [x, {y: z}]}", "not a list of texts", "values: "),
        ("a: {type: categorical, values: [x, x]}", "'x' is repeated", "name of its own"),
        ("a: {type: categorical, values: [x, '']}", "blank", "Give it a name"),
        ("a: {type: categorical, values: [x, Any]}", "'Any' is repeated", "root included"),
        (
            "a: {type: categorical, values: [x, y], outside: clip}",
            "clipped",
            "error, other or drop",
        ),
        (
            "a: {type: categorical, values: [x, y], missing: othr}",
            "missing is 'othr'",
            "mean other",
        ),
        ("a: {type: categorical, values: [x, y], low: 3}", "'low' is not for", "Remove it"),
        ("a: {type: categorical, taxonomy: no.csv}", "no taxonomy file", "Check the path"),
        ("a: {type: categorical, taxonomy: s.yaml.exe}", "no taxonomy file", "Check the path"),
        ("a: {type: categorical, taxonomy: }", "taxonomy is blank", "Name a file"),
        ("a: {type: boolean, values: [x, y]}", "'values' is not for a boolean", "Remove it"),
        ("a: {role: identifier, type: numeric}", "'type' is not for an identifier", "Remove it"),
        ("a: {role: identifer}", "role is 'identifer'", "mean identifier"),
        (
            "a: {type: boolean, role: clas}",
            "role is 'clas'",
            "mean class? It can be predictor, class, identifier, person.",
        ),
        (
            "a: {type: categorical, values: [<30, >30]}",
            "not YAML",
            "quotes around a text that starts with >",
        ),
        (
            "a: {type: categorical, values: [*]}",
            "not YAML",
            "quotes around a text that starts with *",
        ),
        (
            "a: {type: categorical, values: [[0-10), x]}",
            "not YAML",
            "quotes around a text that starts with [",
        ),
        ("a: {role: person}", "'max_rows' is missing", "max_rows: 3"),
        ("a: {role: person, max_rows: 0}", "max_rows is not a whole number", "max_rows: 1"),
        ("a: {role: person, max_rows: lots}", "max_rows is not a whole number", "max_rows: 1"),
        ("a: numeric", "no description", "Write one"),
        ("a:", "no description", "Write one"),
        ("a: {low: 1, high: 2}", "'type' is missing", "numeric"),
        ("region: {type: boolean}", "reserved", "region_value: {column: region, ...}"),
        ("count: {type: boolean}", "reserved", "count_value: {column: count, ...}"),
        ("ok: {type: boolean}", "'ok' is repeated", "Keep one"),
        ("' ': {type: boolean}", "blank", "name"),
    ],
)
def test_a_faulty_column(tmp_path: Path, column: str, rule: str, hint: str) -> None:
    with pytest.raises(SchemaError) as caught:
        load(tmp_path, f"{GOOD}  {column}\n")
    text = str(caught.value)
    assert f"{tmp_path / 's.yaml'}:4: " in text
    assert rule in text and hint in text


@pytest.mark.parametrize(
    ("top", "rule", "line"),
    [
        ("", "'name' is missing", None),
        ("name: ' '\n", "the name is blank", 1),
        ("name: t\ndarft: true\n", "unknown key 'darft'", 2),
        ("name: t\ndraft: perhaps\n", "draft is neither", 2),
        ("name: [t]\n", "name is not a single text", 1),
    ],
)
def test_a_faulty_top(tmp_path: Path, top: str, rule: str, line: int | None) -> None:
    with pytest.raises(SchemaError) as caught:
        load(tmp_path, GOOD, top)
    place = "" if line is None else f":{line}"
    assert f"s.yaml{place}: " in str(caught.value) and rule in str(caught.value)


def test_roles_are_given_once(tmp_path: Path) -> None:
    for role in ("{type: boolean, role: class}", "{role: person, max_rows: 2}"):
        with pytest.raises(SchemaError, match=r"s\.yaml:5: .*already a column with the role"):
            load(tmp_path, f"{GOOD}  x: {role}\n  y: {role}\n")


def test_something_must_be_published(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="no attribute to publish"):
        load(tmp_path, "  a: {type: boolean, role: class}\n  b: {role: identifier}\n")
    with pytest.raises(SchemaError, match="no attribute to publish"):
        load(tmp_path, "  {}\n")


def test_reserved_names_are_free_for_columns_that_are_dropped(tmp_path: Path) -> None:
    assert load(tmp_path, f"{GOOD}  count: {{role: identifier}}\n").identifiers == ("count",)


def test_all_faults_come_at_once_up_to_ten(tmp_path: Path) -> None:
    bad = "".join(f"  c{i}: {{type: numeric, low: 2, high: 1}}\n" for i in range(12))
    with pytest.raises(SchemaError) as caught:
        load(tmp_path, bad)
    text = str(caught.value)
    assert [f"'c{i}'" in text for i in range(12)] == [True] * 10 + [False] * 2
    assert "3 more" in text  # the unit is missing too


def test_faults_of_all_stages_come_at_once(tmp_path: Path) -> None:
    bad = """\
  age: {type: numeric, low: 99, high: 18}
  sex: {type: categorical, value: [F, M]}
  job: {type: categorical, values: [a, a]}
  color: {type: categoric, values: [red]}
"""
    with pytest.raises(SchemaError) as caught:
        load(tmp_path, bad)
    text = str(caught.value)
    for told in ("'age': low", "unknown key 'value'", "'job'", "'categoric'", "unit of protection"):
        assert told in text
    # what was left out for a fault is not missed
    lost = "unit: person\nattributes:\n  who: {role: person, max_row: 2}\n  a: {type: boolean}\n"
    (tmp_path / "s.yaml").write_text(f"name: x\n{lost}", encoding="utf-8")
    with pytest.raises(SchemaError) as caught:
        Schema.load(tmp_path / "s.yaml")
    assert "max_row" in str(caught.value) and "no column identifies" not in str(caught.value)


def test_texts_stay_as_written(tmp_path: Path) -> None:
    schema = load(
        tmp_path, "  a: {type: categorical, values: [1, 2.50, yes, No, null, 007, 1e3]}\n"
    )
    (a,) = schema.attributes
    assert isinstance(a, Categorical)
    assert a.taxonomy.leaves == ("1", "2.50", "yes", "No", "null", "007", "1e3")


def test_values_beside_a_taxonomy_must_be_its_leaves(tmp_path: Path) -> None:
    tree = "taxonomy: {G: [x, y], H: [z, w]}"
    load(tmp_path, f"  a: {{type: categorical, values: [x, z], {tree}}}\n")
    with pytest.raises(SchemaError, match=r"s\.yaml:3: .*'G' is no leaf"):
        load(tmp_path, f"  a: {{type: categorical, values: [x, G], {tree}}}\n")


def test_other_is_added_once_and_only_when_asked_for(tmp_path: Path) -> None:
    schema = load(
        tmp_path,
        "  a: {type: categorical, values: [x, y], outside: other}\n"
        "  b: {type: categorical, values: [x, other], missing: other}\n"
        "  c: {type: categorical, values: [x], missing: other}\n"
        "  d: {type: categorical, values: [x, y]}\n",
    )
    leaves = [a.taxonomy.leaves for a in schema.attributes if isinstance(a, Categorical)]
    assert leaves == [("x", "y", "other"), ("x", "other"), ("x", "other"), ("x", "y")]


def test_warnings_have_a_place_and_do_not_stop(tmp_path: Path) -> None:
    schema = load(
        tmp_path,
        "  one: {type: categorical, values: [x]}\n"
        "  chain: {type: categorical, taxonomy: {G: [x], H: [y, z]}}\n"
        "  wide: {type: numeric, low: 0, high: 5, step: 10}\n"
        "  cls: {type: categorical, taxonomy: {G: [x, y], H: [z, w]}, role: class}\n"
        "  space: {type: categorical, values: [x, 'y ']}\n",
    )
    rules = ["never be split", "single member", "never be split", "only the leaves", "with a space"]
    places = [3, 4, 5, 6, 7]
    assert len(schema.warnings) == 5
    for line, rule in zip(places, rules, strict=True):
        assert any(f"s.yaml:{line}: " in w and rule in w for w in schema.warnings)
    assert schema.target is not None and schema.target.taxonomy.height == 1


def test_a_class_of_one_value_is_warned_about(tmp_path: Path) -> None:
    schema = load(tmp_path, f"{GOOD}  c: {{type: categorical, values: [x], role: class}}\n")
    assert schema.classes == ("x",)
    assert any("nothing to predict" in warning for warning in schema.warnings)


def test_the_root_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("x;g;*\ny;h;*\nz;h;*\n")
    schema = load(
        tmp_path,
        "  a: {type: categorical, values: [x, y], root: Everyone}\n"
        "  b: {type: categorical, taxonomy: h.csv, root: Everyone}\n"
        "  c: {type: categorical, taxonomy: {World: {E: [x, y], A: [z, w]}}}\n"
        "  d: {type: categorical, taxonomy: {E: [x, y], A: [z, w]}}\n",
    )
    roots = [a.taxonomy.labels[0] for a in schema.attributes if isinstance(a, Categorical)]
    assert roots == ["Everyone", "Everyone", "World", "Any"]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="no such file"):
        Schema.load(tmp_path / "none.yaml")
    with pytest.raises(SchemaError, match="cannot be opened"):
        Schema.load(tmp_path)
    (tmp_path / "latin.csv").write_bytes(b"a;*\nZ\xfcrich;*\n")
    with pytest.raises(SchemaError, match=r"latin\.csv:2: .*not UTF-8"):
        load(tmp_path, "  a: {type: categorical, taxonomy: latin.csv}\n")
    (tmp_path / "t.parquet").write_bytes(b"x")
    with pytest.raises(SchemaError, match="kind of the taxonomy file"):
        load(tmp_path, "  a: {type: categorical, taxonomy: t.parquet}\n")


@pytest.mark.slow
def test_a_large_schema_loads(tmp_path: Path) -> None:
    columns = "".join(f"  c{i}: {{type: numeric, low: 0, high: 9}}\n" for i in range(300))

    def loaded(many: int) -> Schema:
        groups = (f"g{i}:\n" + "".join(f"  - v{i}.{j}\n" for j in range(100)) for i in range(many))
        (tmp_path / "t.yaml").write_text("".join(groups))
        return load(tmp_path, f"  a: {{type: categorical, taxonomy: t.yaml}}\n{columns}")

    def calls(number: int) -> int:
        profile = cProfile.Profile()
        profile.runcall(loaded, number)
        return sum(entry.callcount for entry in profile.getstats())

    schema = loaded(100)
    assert len(schema.attributes) == 301
    assert schema.attributes[0].size == 10_000
    # twice as many values take twice as much work
    few, more, most = map(calls, (20, 40, 80))
    assert most - more < 2.1 * (more - few)


def test_the_package_loads_its_readers_late() -> None:
    code = "import sys, hedgerow.schema; print({'yaml', 'pydantic', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


KEYS = st.sampled_from(
    ["name", "attributes", "type", "role", "low", "high", "step", "values", "taxonomy", "root", "a"]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(),
    st.sampled_from(
        ["numeric", "categorical", "boolean", "class", "person", "x", "", "2020-01-01"]
    ),
)
VALUES = st.recursive(
    SCALARS,
    lambda below: st.one_of(
        st.lists(below, max_size=3), st.dictionaries(st.one_of(KEYS, SCALARS), below, max_size=4)
    ),
    max_leaves=10,
)
COLUMNS = st.dictionaries(KEYS, VALUES, max_size=6)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.one_of(VALUES, st.dictionaries(st.sampled_from(["a", "b", "c"]), COLUMNS)))
def test_whatever_is_written_only_a_schema_error_can_come_of_it(columns: Any) -> None:
    for document in (columns, {"name": "t", "attributes": columns}):
        try:
            schema = Schema.from_dict(document)
        except SchemaError as error:
            assert error.hint
        else:
            assert Schema.from_dict(schema.to_dict()) == schema


@pytest.mark.parametrize(
    ("columns", "top", "wrong", "meant", "missing"),
    [
        ("  a: {typ: numeric, low: 0, high: 9}\n", "name: t\n", "typ", "type", "'type' is missing"),
        ("  a: {type: numeric, lo: 0, high: 9}\n", "name: t\n", "lo", "low", "'low' is missing"),
        ("  a: {type: boolean}\n", "nam: t\n", "nam", "name", "'name' is missing"),
        ("  a: {rol: identifier}\n" + GOOD, "name: t\n", "rol", "role", "'type' is missing"),
    ],
)
def test_a_misspelt_key_is_named_rather_than_the_one_it_stands_for(
    tmp_path: Path, columns: str, top: str, wrong: str, meant: str, missing: str
) -> None:
    with pytest.raises(SchemaError) as caught:
        load(tmp_path, columns, top)
    text = str(caught.value)
    assert f"unknown key {wrong!r}" in text and f"Did you mean {meant!r}?" in text
    assert missing not in text


def test_other_as_a_real_value_is_warned_about(tmp_path: Path) -> None:
    for values in ("values: [a, other]", "taxonomy: {X: [a, other], Y: [b, c]}"):
        schema = load(tmp_path, f"  k: {{type: categorical, {values}, missing: other}}\n")
        (warning,) = schema.warnings
        assert "s.yaml:3:" in warning and "'other' is one of its values" in warning
        assert not load(tmp_path, f"  k: {{type: categorical, {values}}}\n").warnings
    assert not load(tmp_path, "  k: {type: categorical, values: [a, b], missing: other}\n").warnings


def test_one_line_for_many_warnings_that_are_alike(tmp_path: Path) -> None:
    drugs = "".join(
        f"  drug{n}: {{type: categorical, taxonomy: {{G{n}: [x], H: [y, z]}}}}\n" for n in range(24)
    )
    (warning,) = load(tmp_path, drugs).warnings
    assert "s.yaml:3: attribute 'drug0': the group 'G0' has a single member" in warning
    assert "and 23 more: attribute 'drug1', attribute 'drug2', ..." in warning
    two = load(tmp_path, "".join(drugs.splitlines(keepends=True)[:2])).warnings
    assert len(two) == 2


@pytest.mark.parametrize("key", ["values", "taxonomy"])
def test_texts_that_another_reader_of_yaml_has_lost(key: str) -> None:
    told = {"name": "t", "attributes": {"a": {"type": "categorical", key: [False, "YES"]}}}
    assert "holds false, which is not a text. YAML readers" in Schema.from_dict(told).warnings[0]
    told = {"name": "t", "attributes": {"a": {"type": "categorical", key: [1e5, "x"]}}}
    assert "put quotes around them" in Schema.from_dict(told).warnings[0]
    told = {"name": "t", "attributes": {"a": {"type": "categorical", key: ["No", 7]}}}
    assert Schema.from_dict(told).warnings == ()
