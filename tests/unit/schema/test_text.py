"""Taxonomies in all their forms: what goes in comes out again."""

from __future__ import annotations

import csv
import io
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.schema.taxonomy import Reading
from hedgerow.schema.taxonomy_files import (
    FORMATS,
    Branch,
    RuleLine,
    Tree,
    arx_text,
    built_in,
    lint_tree,
    parse_taxonomy,
    paths_of,
)
from hedgerow.schema.yaml_text import Report

SUFFIX = {"yaml": ".yaml", "arx": ".csv", "codes": ".csv", "mapping": ".csv"}
ODD = [
    "No",
    "1e5",
    "on",
    "007",
    "1..3",
    "a;b",
    'say "hi"',
    "#x",
    "~",
    "null",
    "é",
    "- x",
    "*",
    "a: b",
]


@st.composite
def trees(draw: st.DrawFn) -> Branch:
    """Trees with at least one level, groups of one member included."""
    labels = iter([*draw(st.permutations(ODD)), *(f"n{n}" for n in range(1000))])

    def grown(depth: int) -> Branch:
        branch = Branch(next(labels))
        number = draw(st.integers(1 if depth == 0 else 0, 3)) if depth < 4 else 0
        branch.below = [grown(depth + 1) for _ in range(number)]
        return branch

    return grown(0)


def read(text: str, form: str, root: str | None = None) -> Tree:
    report = Report("f")
    tree = parse_taxonomy(text, SUFFIX[form], root, report)
    assert report.faults == []
    return tree


def write(tree: Tree, form: str) -> str:
    return FORMATS[form](tree, tree.branch)


@given(trees())
def test_arx_to_yaml_to_arx_is_the_identity(root: Branch) -> None:
    text = arx_text(root)
    assert write(read(write(read(text, "arx"), "yaml"), "yaml"), "arx") == text


@pytest.mark.slow
@given(trees(), st.randoms(use_true_random=False))
def test_other_arx_files_are_brought_into_one_form(root: Branch, chance: random.Random) -> None:
    """Rows in another order and filled up elsewhere: the same groups above each value."""
    rows = paths_of(root)
    width = max(map(len, rows))
    filled = []
    for row in rows:
        place = chance.randrange(len(row))
        filled.append(row[:place] + [row[place]] * (width - len(row)) + row[place:])
    chance.shuffle(filled)
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(filled)
    once = write(read(write(read(text.getvalue(), "arx"), "yaml"), "yaml"), "arx")
    assert write(read(write(read(once, "arx"), "yaml"), "yaml"), "arx") == once
    found = {row[0]: [*dict.fromkeys(row)] for row in csv.reader(io.StringIO(once), delimiter=";")}
    assert found == {row[0]: row for row in rows}


@pytest.mark.slow
@pytest.mark.parametrize("form", ["codes", "mapping"])
@given(root=trees())
def test_tables_keep_the_tree(form: str, root: Branch) -> None:
    text = write(Tree("f", root), form)
    again = read(text, form, root.label)
    assert paths_of(again.branch) == paths_of(root)
    assert write(again, form) == text


@pytest.mark.parametrize("name", built_in())
def test_mappings_keep_rules(name: str) -> None:
    tree = read(built_in()[name], "mapping")
    again = read(write(tree, "mapping"), "mapping")
    assert {(r.rule, r.leaf) for r in again.rules} == {(r.rule, r.leaf) for r in tree.rules}


def test_code_lists_take_plain_rules_for_codes() -> None:
    root = Branch("Any", 1, [Branch("G", 1, [Branch("Food"), Branch("Drink")])])
    tree = Tree("f", root, [RuleLine("1*", "Food"), RuleLine("10", "Food")])
    assert write(tree, "codes") == "code,parent,label\nG,,G\n10,G,Food\nDrink,G,Drink\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", built_in())
def test_lists_that_come_with_hedgerow_have_nothing_to_lint(name: str) -> None:
    tree = read(built_in()[name], "mapping")
    assert lint_tree(tree.branch, Reading(tuple((r.rule, r.leaf) for r in tree.rules))) == []


def test_lint() -> None:
    wide = Branch("wide", 1, [Branch(f"w{n}") for n in range(51)])
    root = Branch("Any", 1, [wide, Branch("one", 1, [Branch("x")]), Branch("ONE ")])
    rules = (("1-9", "w1"), ("5-6", "w2"), ("5-7", "w1"), ("E*", "w1"), ("E1*", "w2"), ("<0", "x"))
    assert lint_tree(root, Reading(rules)) == [
        "1 group has a single member, and is left out of releases: 'one'.",
        "1 group has more than 50 members: 'wide'. Add a level.",
        "1 name differs from another only in case or spaces: 'ONE '.",
        "3 pairs of rules overlap with different leaves, and the first decides: "
        "'1-9 and 5-6', '5-6 and 5-7', 'E* and E1*'.",
    ]
