"""A rule of `CONTRIBUTING.md` that can be read off the source: records are made by name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "hedgerow"
MOST_FIELDS, MOST_UNNAMED = 3, 2


def decorator(node: ast.ClassDef) -> ast.expr | None:
    """That which makes a class a dataclass."""
    for one in node.decorator_list:
        name = one.func if isinstance(one, ast.Call) else one
        if ast.unparse(name).split(".")[-1] == "dataclass":
            return one
    return None


def unnamed(node: ast.ClassDef) -> int | None:
    """How many fields can be given without their names, if the class is a large dataclass."""
    made = decorator(node)
    if made is None:
        return None
    stated = [one for one in node.body if isinstance(one, ast.AnnAssign)]
    fields = [ast.unparse(one.annotation).split(".")[-1] for one in stated]
    fields = [one for one in fields if not one.startswith("ClassVar")]
    if len(fields) - fields.count("KW_ONLY") <= MOST_FIELDS:
        return None
    if isinstance(made, ast.Call) and "kw_only=True" in map(ast.unparse, made.keywords):
        return 0
    return fields.index("KW_ONLY") if "KW_ONLY" in fields else len(fields)


def test_large_records_are_made_by_name() -> None:
    large = 0
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    for path, text in texts.items():
        for node in ast.walk(ast.parse(text)) if "dataclass" in text else ():
            if isinstance(node, ast.ClassDef) and (number := unnamed(node)) is not None:
                large += 1
                assert number <= MOST_UNNAMED, f"{path}: {node.name}"
    assert large > 100


FIELDS = "    a: int\n    b: int\n    c: int\n"


@pytest.mark.parametrize(
    "text, number",
    [
        (f"@dataclass\nclass A:\n{FIELDS}", None),
        (f"class A:\n{FIELDS}    d: int\n", None),
        (f"@dataclass\nclass A:\n{FIELDS}    d: int\n", 4),
        (f"@dataclasses.dataclass(frozen=True)\nclass A:\n{FIELDS}    d: int\n", 4),
        (f"@dataclass(kw_only=False)\nclass A:\n{FIELDS}    d: int\n", 4),
        (f"@dataclass(frozen=True, kw_only=True)\nclass A:\n{FIELDS}    d: int\n", 0),
        (f"@dataclass\nclass A:\n{FIELDS}    _: KW_ONLY\n    d: int\n", 3),
        (f"@dataclass\nclass A:\n    z: int\n    _: KW_ONLY\n{FIELDS}", 1),
        (f"@dataclass\nclass A:\n{FIELDS}    d: ClassVar[int] = 1\n", None),
    ],
)
def test_what_is_given_without_a_name_is_seen(text: str, number: int | None) -> None:
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.ClassDef) and unnamed(node) == number
