"""Nested taxonomies: the forms they may take and what the lint finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.errors import SchemaError
from hedgerow.schema import Taxonomy
from hedgerow.schema.taxonomy_files import branch_from_node, grow
from hedgerow.schema.yaml_text import MAX_DEPTH, Report, from_python, parse_yaml


def taxonomy(text: str, *, root: str | None = None) -> tuple[Taxonomy | None, Report]:
    report = Report("t.yaml")
    try:
        branch = branch_from_node(parse_yaml(text, report), root, report)
    except SchemaError:
        return None, report
    return grow(branch, report), report


def test_lists_mappings_and_lists_of_mappings_mean_the_same() -> None:
    forms = [
        "E: [x, y]\nA: [z, w]\nO:\n",
        "E: {x: , y: ~}\nA: {z: null, w: }\nO: \n",
        "- E: [x, y]\n- A:\n    - z\n    - w\n- O\n",
        "Any:\n  E: [x, y]\n  A: [z, w]\n  O:\n",
    ]
    expected = Taxonomy.from_nested("Any", {"E": ["x", "y"], "A": ["z", "w"], "O": None})
    for form in forms:
        grown, report = taxonomy(form)
        assert grown == expected
        assert not report.faults and not report.warnings


@pytest.mark.parametrize(
    ("text", "line", "rule"),
    [
        ("E: [x, y]\nA:\n  - z\n  - x\n", 4, "leaf 'x' is under two parents, 'E' and 'A'"),
        # what was written, though groups of one member are left out
        ("E: {S: [x]}\nA: [z, x]\n", 2, "leaf 'x' is under two parents, 'S' and 'A'"),
        ("E: [x]\nA: {B: {C: [x]}}\nO: [y]\n", 2, "leaf 'x' is under two parents, 'E' and 'C'"),
        ("E:\n  - x\n  - x\n", 3, "'x' is repeated (first on line 2)"),
        ("E: [x, y]\nE: [z]\n", 2, "'E' is repeated (first on line 1)"),
        ("E: [x, A]\nA: [z, w]\n", 2, "'A' is repeated (first on line 1)"),
        ("E: [x, y]\nA: z\n", 2, "single text where its members should be"),
        ("E: [x, y]\nA: []\n", 2, "has no members"),
        ("E: [x, y]\nA: [[z], w]\n", 2, "a list inside a list"),
        ("E: [x, y]\n'': [z, w]\n", 2, "blank"),
        ("E: [x, y]\nA:\n  - z\n  -\n", 4, "blank"),
        ('E: [x, "y\\n"]\nA: z\n', 2, "single text"),
        ('E: [x, "y\\n"]\n', 1, "control character"),
        ("just a text\n", 1, "single text"),
    ],
)
def test_faults_have_a_line(text: str, line: int, rule: str) -> None:
    _, report = taxonomy(text)
    assert report.faults
    assert any(f.line == line and rule in f.what and f.hint for f in report.faults)


def test_too_deep_is_refused_and_deep_enough_is_not() -> None:
    def tower(height: int) -> dict[str, object]:
        tree: dict[str, object] = {"x0": None, "y0": None}
        for level in range(1, height):
            tree = {f"x{level}": tree, f"y{level}": None}
        return tree

    for height, fine in ((MAX_DEPTH, True), (MAX_DEPTH + 1, False)):
        report = Report()
        branch = branch_from_node(from_python(tower(height)), None, report)
        grow(branch, report)
        assert bool(report.faults) is not fine


TREES = st.recursive(
    st.none(), lambda below: st.lists(below, min_size=1, max_size=3), max_leaves=12
)


@given(TREES)
def test_grows_what_the_taxonomy_itself_would(shape: list[object] | None) -> None:
    names = iter(range(10**6))

    def named(part: list[object] | None) -> dict[str, object] | None:
        return None if part is None else {f"n{next(names)}": named(p) for p in part}  # type: ignore[arg-type]

    tree = named([shape, None])
    assert tree is not None
    report = Report()
    branch = branch_from_node(from_python(tree), "root", report)
    assert grow(branch, report) == Taxonomy.from_nested("root", tree)
    assert not report.faults
