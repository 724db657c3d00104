"""Mutations that know the structure of what they spoil: texts, bytes and nested documents."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from decimal import Decimal
from random import Random
from typing import Any

__all__ = [
    "NESTED",
    "OBJECTS",
    "WORDS",
    "nest",
    "places",
    "put",
    "spoil_bytes",
    "spoil_text",
    "spoil_tree",
]

WORDS = (
    "\0", "\t", "\n", "\r", "\r\n", "\x1b[31m", "\x7f", "\x85", "\u2028", "\u202e", "\ufeff",
    "\ud800",
    "\U0001f600", "é", "e\u0301", "İ", "ß", "٣", "½", " ", "  ", "", '"', "'", '""', "\\", "\\'",
    "`", "$",
    "{", "}", "[", "]", "(", ")", ",", ";", ":", "|", "-", "--- ", "...", "&a ", "*a",
    "!!python/object:os.system ",
    "! ", "<<: ", "? ", "# ", "%", "~", "null", "true", "No", "nan", "NaN", "Infinity",
    "-Infinity", "inf",
    "0", "-0", "1", "-1", "1e999", "1e-999", "1e99999999", "0x10", "007", "1_000", "1/3", "1/0",
    "0.1", ".", "9" * 25,
    "9" * 450, "9" * 5000, "2020-02-30", "9999-12-31", "0000-00-00", "../../../etc/passwd",
    "/dev/zero", "C:\\x",
    " and ", " in ", " or ", "not ", "everybody", "other", "=", "==", "!=", "<", "<=", ">", ">=",
    "≤", "≠",
    "a" * 300, "[" * 60, "{a: " * 150, "(" * 300, '"' * 33,
)  # fmt: skip


def nest(depth: int, kind: type = list) -> Any:
    """A list or mapping so many levels deep."""
    inner: Any = None
    for _ in range(depth):
        inner = [inner] if kind is list else {"a": inner}
    return inner


def _cycle() -> Any:
    loop: list[Any] = []
    loop.append(loop)
    return loop


NESTED = (nest(70), nest(500), nest(500, dict))
_SCALARS: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 7, 255, 2**15, 2**31, 2**53 + 1, 2**62, 2**63, 2**64,
    -(2**63), 10**30, 10**400,
    0.0, -0.0, 0.5, 1e308, 5e-324, float("nan"), float("inf"), float("-inf"), [], {}, [[]],
    {"": None}, [None],
    ["x", "x"], {"a": {"a": ["a"]}}, "numeric", "categorical", "class", "person", "other",
    "clip", "error",
)  # fmt: skip
# What only Python, and no JSON, can hold.
OBJECTS: tuple[Any, ...] = (
    10**5000, -(10**5000), 1j, b"bytes", bytearray(b"x"), (), (1, 2), {1, 2}, object(), int,
    print, range(3),
    Decimal("NaN"), Decimal("1e999999"), Decimal("0.1"), datetime.date(2020, 1, 1),
    datetime.datetime(1, 1, 1),
    datetime.date.max, {None: 1}, {1: 2}, {(1, 2): 3}, {("a",): "b"}, _cycle(),
)  # fmt: skip


def spoil_text(random: Random, text: str, words: Sequence[str] = WORDS) -> str:
    """One change of a text."""
    start = random.randrange(len(text) + 1)
    end = min(len(text), start + random.choice((1, 1, 1, 2, 5, 20, 200)))
    match random.randrange(8):
        case 0:
            return text[:start] + text[end:]
        case 1 | 2:
            return text[:start] + random.choice(words) + text[start:]
        case 3 | 4:
            return text[:start] + random.choice(words) + text[end:]
        case 5:
            return text[:end] + text[start:end] * random.choice((1, 1, 2, 30)) + text[end:]
        case 6:
            return (
                text[:start]
                + chr(random.choice((random.randrange(128), random.randrange(0xD800))))
                + text[end:]
            )
        case _:
            other = random.randrange(len(text) + 1)
            return text[:start] + text[other : other + end - start] + text[end:]


def spoil_bytes(random: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    """One change of some bytes."""
    start = random.randrange(len(content) + 1)
    end = min(len(content), start + random.choice((1, 1, 1, 2, 4, 8, 100)))
    match random.randrange(7):
        case 0:
            return content[:start] + content[end:]
        case 1 | 2:
            return content[:start] + random.choice(words) + content[random.choice((start, end)) :]
        case 3:
            return content[:start] + bytes([random.randrange(256)]) + content[start + 1 :]
        case 4:
            return content[:start] + random.randbytes(end - start) + content[end:]
        case 5:
            return content[:end] + content[start:end] + content[end:]
        case _:
            return (
                content[:start]
                if random.random() < 0.3
                else content[:start] + b"\xff" + content[start + 1 :]
            )


def places(tree: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all parts of a nested document."""
    found = [above]
    if len(above) < 12:
        if isinstance(tree, dict):
            for key, below in tree.items():
                found += places(below, (*above, key))
        elif isinstance(tree, list):
            for index, below in enumerate(tree):
                found += places(below, (*above, index))
    return found


class _Gone:
    """Stands for a part that was taken out."""

    def __repr__(self) -> str:
        return "GONE"


_GONE = _Gone()


def put(tree: Any, path: Sequence[Any], value: Any) -> Any:
    """A copy of a document with one part replaced; what is not on the path is shared."""
    if not path:
        return value
    key, rest = path[0], path[1:]
    if isinstance(tree, dict):
        copy: Any = dict(tree)
        if rest and key not in copy:
            return tree
        copy[key] = put(copy[key], rest, value) if rest else value
        if copy[key] is _GONE:
            del copy[key]
        return copy
    if isinstance(tree, list) and isinstance(key, int) and key < len(tree):
        copy = list(tree)
        copy[key] = put(copy[key], rest, value)
        return [part for part in copy if part is not _GONE]
    return tree


def _get(tree: Any, path: Sequence[Any]) -> Any:
    for key in path:
        try:
            tree = tree[key]
        except (LookupError, TypeError):  # an earlier change took it away
            return None
    return tree


def spoil_tree(
    random: Random, tree: Any, paths: Sequence[Any], objects: bool = False
) -> tuple[list[Any], Any]:
    """One change of a nested document: the path to it, and what is there now.

    Args:
        random: Chooses.
        tree: The document.
        paths: The paths to choose from, as `places` gives them.
        objects: Whether values may be put in that JSON cannot hold.
    """
    path = list(random.choice(paths))
    old = _get(tree, path)
    match random.randrange(9):
        case 0:
            new: Any = _GONE if path else {}
        case 1 | 2:
            new = random.choice(_SCALARS)
        case 3:
            new = random.choice(OBJECTS) if objects else random.choice(_SCALARS)
        case 4:
            new = _get(tree, random.choice(paths))
        case 5:
            new = random.choice(([old], {"a": old}, [old, old], random.choice(NESTED)))
        case 6 if isinstance(old, dict):
            key = (
                random.choice(WORDS)
                if random.random() < 0.7
                else spoil_text(random, str(random.choice([*old, "x"])))
            )
            path, new = [*path, key], random.choice([*old.values(), None])
        case 7 if isinstance(old, list):
            new = [*old, random.choice([*old, None])]
        case _ if isinstance(old, str):
            new = spoil_text(random, old)
        case _ if isinstance(old, int) and not isinstance(old, bool):
            new = random.choice(
                (-old, old + 1, old - 1, old * 2**20, old * 10**30, str(old % 10**9))
            )
        case _:
            new = random.choice(WORDS)
    return path, new
