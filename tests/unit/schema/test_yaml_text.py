"""The YAML reader: texts as written, with lines, and nothing clever."""

from __future__ import annotations

import pytest

from hedgerow.errors import SchemaError
from hedgerow.schema.yaml_text import Entries, ListNode, Report, Text, from_python, parse_yaml


def test_texts_and_lines() -> None:
    node = parse_yaml("a: No\nb:\n  - 007\n  - '~'\n", Report())
    assert isinstance(node, Entries)
    (a, no), (b, items) = node.pairs
    assert (a.line, b.line) == (1, 2)
    assert no == Text("No", line=1, plain=True)
    assert isinstance(items, ListNode)
    seven, tilde = items.items
    assert seven == Text("007", line=3, plain=True)
    assert isinstance(tilde, Text) and not tilde.is_nothing


@pytest.mark.parametrize(
    ("text", "line", "rule", "hint"),
    [
        ("", None, "empty", "Write"),
        ("# only a comment\n", None, "empty", "Write"),
        ("a: 1\n---\nb: 2\n", 2, "several documents", "one document"),
        ("a: &x [1]\nb: *x\n", 1, "cycle", "Write the part out"),
        ("a: &x [*x]\n", 1, "cycle", "Write the part out"),
        ("a: 1\nb: !!python/object:os.system x\n", 2, "tags", "Remove"),
        ("a: 1\nb: !secret x\n", 2, "tags", "Remove"),
        ("a: 1\nb: [1, 2\n", 3, "not YAML", "bracket"),
        ("a: 1\n\tb: 2\n", 2, "not YAML", "spaces"),
        ("a: 1\nroot: *\n", 2, "not YAML", "quotes"),
        ("a: 1\nb: \x07\n", 2, "not YAML", ""),
        ("a: 1\n[x]: 2\n", 2, "key is not a single text", "quotes"),
        ("a: 1\nb: 2\na: 3\n", 3, "'a' is repeated (first on line 1)", "Keep one"),
        ("[" * 100_000, 1, "nested", "Remove levels"),
    ],
)
def test_faults(text: str, line: int | None, rule: str, hint: str) -> None:
    report = Report("f.yaml")
    with pytest.raises(SchemaError):
        parse_yaml(text, report)
    (fault,) = report.faults
    assert (fault.file, fault.line) == ("f.yaml", line)
    assert rule in fault.what and hint in fault.hint


def test_python_values_become_the_texts_a_file_would_hold() -> None:
    node = from_python({"a": [1, 0.1, True, None, "x"]})
    assert isinstance(node, Entries)
    items = node.pairs[0][1]
    assert isinstance(items, ListNode)
    assert [text.value for text in items.items if isinstance(text, Text)] == [
        "1",
        "0.1",
        "true",
        "",
        "x",
    ]


def test_python_values_that_no_file_could_hold() -> None:
    endless: list[object] = []
    endless.append(endless)
    for value, rule in ((endless, "too deeply"), ({"a": object()}, "object"), ({1: {2, 3}}, "set")):
        with pytest.raises(SchemaError, match=rule):
            from_python(value)
