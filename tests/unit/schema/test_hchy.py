"""Files of several trees in nested braces: what is read, and what is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from hedgerow.errors import SchemaError
from hedgerow.schema import Categorical, Schema
from hedgerow.schema.taxonomy_files import Branch, read_hchy
from hedgerow.schema.yaml_text import MAX_DEPTH, Report

TEXT = """\
| a comment: discrete
classes:discrete		| classes
{Any Class {>50K} {<=50K}}

age:continuous
{0-20 {0-10} {10-20}}
job:discrete:generalization
{Any
	{White-collar
		{Sales} {Prof-specialty}}
	{Farming-fishing}}
vid: | ALL
{{{20} {age} {job}}}
"""


def nested(branch: Branch) -> object:
    return {child.label: nested(child) for child in branch.below}


def test_trees_are_read_by_name() -> None:
    report = Report("a.hchy")
    trees = read_hchy(TEXT, report)
    assert not report.faults
    assert {name: (tree.label, nested(tree)) for name, tree in trees.items()} == {
        "classes": ("Any Class", {">50K": {}, "<=50K": {}}),
        "age": ("0-20", {"0-10": {}, "10-20": {}}),
        "job": (
            "Any",
            {"White-collar": {"Sales": {}, "Prof-specialty": {}}, "Farming-fishing": {}},
        ),
    }
    sales = trees["job"].below[0].below[0]
    assert (sales.label, sales.line) == ("Sales", 10)


@pytest.mark.parametrize(
    "tree, what, line",
    [
        ("{Any {a} {b}", "lacks a closing brace", 3),
        ("{Any {a} {b}}}", "one brace too many", 3),
        ("{Any {a} {b}}\n{c}", "is not one pair of braces", 4),
        ("", "is not one pair of braces", 1),
        ("{Any {a} b {c}}", "two names", 3),
        ("{Any {a} {}}", "braces without a name", 3),
        ("{Any {a}} b", "text outside its braces", 3),
        ("{x " * (MAX_DEPTH + 2) + "}" * (MAX_DEPTH + 2), "deeper than", 3),
    ],
)
def test_what_is_no_tree_is_refused_with_its_line(tree: str, what: str, line: int) -> None:
    report = Report("a.hchy")
    assert read_hchy(f"x:discrete\n\n{tree}\n", report) == {}
    (fault,) = report.faults
    assert what in fault.what and fault.line == line


def test_a_file_without_trees_and_a_name_that_comes_twice() -> None:
    for text, what in (("| nothing\n", "no tree"), ("x:discrete\n{A {b} {c}}\n" * 2, "repeated")):
        report = Report("a.hchy")
        read_hchy(text, report)
        assert what in report.faults[0].what


def test_a_schema_names_one_of_the_trees(tmp_path: Path) -> None:
    (tmp_path / "a.hchy").write_text(TEXT, encoding="utf-8")

    def schema(written: str) -> Schema:
        path = tmp_path / "s.yaml"
        path.write_text(
            "name: s\nunit: row\nattributes:\n"
            f"  job: {{type: categorical, taxonomy: '{written}'}}\n",
            encoding="utf-8",
        )
        return Schema.load(path)

    (job,) = schema("a.hchy#job").attributes
    assert isinstance(job, Categorical)
    assert job.taxonomy.leaves == ("Sales", "Prof-specialty", "Farming-fishing")
    with pytest.raises(SchemaError, match="no tree 'home'"):
        schema("a.hchy#home")
    with pytest.raises(SchemaError, match="several trees"):
        schema("a.hchy")
    with pytest.raises(SchemaError, match="no taxonomy file"):
        schema("b.hchy#job")
