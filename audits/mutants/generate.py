"""Mutants by the operators of Cosmic Ray, which this script alone needs: see `make mutants`.

Operators, constants and conditions are changed, one at a time. Left alone are annotations, which
nothing evaluates; decorators, which say how a function is compiled or kept; `__all__`; and words:
what stands inside `raise`, and what is told of progress. Words are not compared by the alphabet.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cosmic_ray.ast import get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from mutants.targets import DRAWN, TARGETS  # noqa: E402

SKIPPED = ("ExceptionReplacer", "RemoveDecorator", "NoOp", "Variable", "ZeroIterationForLoop")
LEFT_ALONE = ("decorator", "raise_stmt")


def wanted(name: str) -> bool:
    """Whether an operator is used: not those that compare identities of numbers."""
    last = name.rpartition("/")[2]
    if any(word in last for word in SKIPPED):
        return False
    if "ComparisonOperator" in last:
        old, new = last.split("_")[-2:]
        return ("Is" in old) == ("Is" in new)
    return True


def in_code(node: Any) -> bool:
    """Whether a node is evaluated, and is not left alone."""
    child, parent = node, node.parent
    while parent is not None:
        if left_alone(child, parent):
            return False
        child, parent = parent, parent.parent
    return True


def left_alone(child: Any, parent: Any) -> bool:
    """Whether a part of a node is none of ours."""
    kind = parent.type
    if kind == "annassign":  # what stands after the annotation is evaluated
        return child is not parent.children[-1] or len(parent.children) < 4
    if kind == "param":
        return child is parent.annotation or child.type == "tfpdef"
    if kind == "funcdef":
        return child is parent.annotation
    if kind == "expr_stmt":
        return bool(parent.get_first_leaf().value == "__all__")
    if kind == "atom_expr":
        return "progress" in (part.get_code().strip(". ") for part in parent.children[:2])
    return kind in LEFT_ALONE


def pointless(name: str, node: Any) -> bool:
    """Whether words are compared by the alphabet, or a number is inverted instead of negated."""
    parts = getattr(node, "children", ())
    if "ComparisonOperator" in name:
        return not name.endswith("Eq") and any(part.type == "string" for part in parts)
    return name.endswith(("USub_Invert", "USub_Not")) and parts[-1].type == "number"


def walk(node: Any) -> Iterator[Any]:
    """All nodes, in the order in which Cosmic Ray numbers what it finds in them."""
    yield node
    for child in getattr(node, "children", ()):
        yield from walk(child)


def edit(old: str, new: str) -> tuple[int, str, str]:
    """Where two texts begin to differ, and what stands there in each."""
    first = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), len(old))
    last = 0
    room = min(len(old), len(new)) - first
    while last < room and old[-1 - last] == new[-1 - last]:
        last += 1
    return first, old[first : len(old) - last], new[first : len(new) - last]


def compiles(code: str) -> bool:
    try:
        compile(code, "mutant", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def sites_of(path: str, code: str, seed: int) -> Iterator[tuple[str, int]]:
    """One operator, and which of its occurrences, for each place and kind of change.

    Where an operator could be replaced by several others, one of them is taken by the seed: all
    eleven replacements of a `+` would drown what matters.
    """
    places: dict[tuple[str, Any], list[tuple[str, int]]] = {}
    nodes = [(node, in_code(node)) for node in walk(get_ast(code))]
    for name in filter(wanted, sorted(operator_names())):
        operator, occurrence = get_operator(name)(), 0
        for node, allowed in nodes:
            for position in operator.mutation_positions(node):
                if allowed and not pointless(name, node):
                    kind = name.rpartition("/")[2].partition("_")[0]
                    places.setdefault((kind, position), []).append((name, occurrence))
                occurrence += 1
    for place, ways in sorted(places.items()):
        yield random.Random(f"{seed} {path} {place}").choice(ways)


def mutant(path: str, code: str, name: str, occurrence: int) -> dict[str, Any] | None:
    """The mutant as an edit of the text, unless it is none."""
    mutated = mutate_code(code, get_operator(name)(), occurrence)
    if mutated is None or mutated == code or not compiles(mutated):
        return None
    at, old, new = edit(code, mutated)
    line = code.count("\n", 0, at)
    before, after = code.splitlines()[line].strip(), mutated.splitlines()[line].strip()
    key = "\n".join([path, name, before, after, str(occurrence)])
    return {
        "id": hashlib.sha256(key.encode()).hexdigest()[:12],
        "path": path, "operator": name.rpartition("/")[2], "line": line + 1,
        "at": at, "old": old, "new": new, "before": before, "after": after,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("source", type=Path, help="the folder src/hedgerow")
    parser.add_argument("out", type=Path, help="a JSON file")
    parser.add_argument("--number", type=int, default=DRAWN, help="how many, drawn by the seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", help="modules, below the folder")
    asked = parser.parse_args()
    drawn = [target.path for target in TARGETS if target.drawn]
    texts = {path: (asked.source / path).read_text(encoding="utf-8") for path in drawn}
    sites = [
        (path, *site)
        for path, code in texts.items()
        if not asked.only or path in asked.only
        for site in sites_of(path, code, asked.seed)
    ]
    # the same seed gives the same order, so a larger number adds to a smaller one
    sites.sort(key=lambda site: hashlib.sha256(f"{asked.seed} {site}".encode()).digest())
    found: list[dict[str, Any]] = []
    for path, name, occurrence in sites:
        made = mutant(path, texts[path], name, occurrence) if len(found) < asked.number else None
        if made is not None:
            found.append(made)
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps({"sites": len(sites), "mutants": found}), encoding="utf-8")
    print(f"{len(found):,} mutants of {len(sites):,} places in {len(texts)} modules")


if __name__ == "__main__":
    main()
