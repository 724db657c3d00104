"""Habits that would leak, looked for in the source text itself."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "hedgerow"
# a module of `privacy/` is a mechanism unless it is named here: conversions round up
MECHANISMS = [
    path for path in sorted((SOURCE / "privacy").rglob("*.py"))
    if path.stem not in ("__init__", "budget")
]  # fmt: skip
LIBRARY = [
    path
    for path in sorted(SOURCE.rglob("*.py"))
    if path.relative_to(SOURCE).parts[0] not in ("cli", "__main__.py")
]
EXACT = [path for path in LIBRARY if path.relative_to(SOURCE).parts[0] in (
    "privacy", "methods", "counting")]  # fmt: skip
KEY_HOLDER = SOURCE / "privacy" / "curator.py"
SEAL = SOURCE / "counting" / "sealed.py"


def dotted(node: ast.AST) -> str:
    """The dotted name of an expression: `np.random.rand`, or ''."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}".lstrip(".")
    return ""


def names(tree: ast.AST) -> set[str]:
    """All dotted names that a module mentions, imports and their parents included."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
            found.add(node.module or "")
        else:
            found.add(dotted(node))
    return {
        name.replace("numpy.", "np.", 1) if name.startswith("numpy.") else name for name in found
    }


def other_randomness(tree: ast.AST) -> set[str]:
    """Uses of a source of randomness that is not ours."""
    return {
        name
        for name in names(tree)
        if name.split(".")[0] in ("random", "secrets", "uuid") or name.startswith("np.random")
    }


def float_exponentials(tree: ast.AST) -> set[str]:
    """Uses of exponentials and logarithms in floating point."""
    bad = ("exp", "expm1", "exp2", "log", "log1p", "log2", "log10", "pow", "sqrt", "power")
    return {
        name
        for name in names(tree)
        if name.startswith(("math.", "np.", "cmath.")) and name.split(".")[-1] in bad
    }


def prints(tree: ast.AST) -> list[int]:
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and dotted(node.func) in ("print", "sys.stdout.write", "sys.stderr.write")
    ]


def seal_breakers(tree: ast.AST) -> list[int]:
    """Lines that claim the key, name it, reach under the seal, or open something with a key."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            words = {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute | ast.Name):
            words = {dotted(node).split(".")[-1]}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            opens = node.func.attr == "open" and any("key" in dotted(a).lower() for a in node.args)
            words = {"claim_key"} if opens else set()
        else:
            words = set()
        if words & {"claim_key", "_KEY", "_Sealed__content"}:
            found.append(getattr(node, "lineno", 0))
    return found


@cache
def parsed(path: Path) -> ast.AST:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_randomness_comes_through_one_door() -> None:
    for path in EXACT:
        assert not other_randomness(parsed(path)), path
        if path.name != "keystream.py":
            assert not names(parsed(path)) & {"os.urandom", "cryptography"}, path


def test_mechanisms_compute_no_exponential_in_floats() -> None:
    for path in MECHANISMS:
        nodes = list(ast.walk(parsed(path)))
        assert not float_exponentials(parsed(path)), path
        constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
        assert not [value for value in constants if isinstance(value, float)], path
        if path.stem == "sampler_kernels":
            operators = [node.op for node in nodes if isinstance(node, ast.BinOp)]
            assert not [one for one in operators if isinstance(one, ast.Div)]


def test_the_library_prints_nothing() -> None:
    for path in LIBRARY:
        assert path.name == "__main__.py" or not prints(parsed(path)), path


def test_one_module_holds_the_key() -> None:
    for path in LIBRARY:
        assert path in (KEY_HOLDER, SEAL) or not seal_breakers(parsed(path)), path


def test_the_key_holder_charges_before_it_opens() -> None:
    """In every method that opens a seal, the ledger was charged on an earlier line."""
    checked = 0
    for node in ast.walk(parsed(KEY_HOLDER)):
        if not isinstance(node, ast.FunctionDef):
            continue
        calls = [call for call in ast.walk(node) if isinstance(call, ast.Call)]
        opened = [
            c.lineno for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == "open"
        ]
        booking = ("ledger.charge", "self._charge_one", "ledger.must_be_paid")
        charged = [c.lineno for c in calls if dotted(c.func).endswith(booking)]
        if opened:
            checked += 1
            assert charged
            assert min(charged) < min(opened)
    assert checked == 7


def lines_of_calls(tree: ast.AST, name: str) -> list[int]:
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and dotted(node.func).split(".")[-1] == name
    ]


def reads_before_it_books(tree: ast.AST, name: str, reader: str) -> bool:
    """Whether a function reads, then opens what books and gives randomness, and then runs."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    (maker,) = (node for node in functions if node.name == name)
    steps = [lines_of_calls(maker, step) for step in (reader, "drawing", "run")]
    if any(len(lines) != 1 for lines in steps):
        return False
    (read,), (booked,), (run,) = steps
    return read < booked < run and lines_of_calls(tree, "drawing") == [booked]


def pays_for_its_source(tree: ast.AST) -> bool:
    """Whether one random source is made, after the booking, and asks it before its first use."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    sources = [call for call in calls if dotted(call.func) == "Keystream"]
    paid = lines_of_calls(tree, "pay")
    if len(sources) != 1 or len(paid) != 1 or paid[0] >= sources[0].lineno:
        return False
    (asked,) = sources[0].args[1:] or (ast.Constant(None),)
    return "booking.begin_drawing" in names(asked)


RELEASING = {"api.py": ("publish", "open_engine"), "clusters.py": ("find_centroids", "read")}


def test_a_release_is_booked_before_its_randomness_is_used() -> None:
    """One function makes the random source of what leaves. Audits and baselines make no release."""
    makers = {
        path
        for path in LIBRARY
        if lines_of_calls(parsed(path), "Keystream")
        and path.relative_to(SOURCE).parts[0] not in ("audit", "evaluation")
    }
    assert makers == {SOURCE / "methods" / "api.py"}
    assert pays_for_its_source(parsed(SOURCE / "methods" / "api.py"))
    for name, words in RELEASING.items():
        assert reads_before_it_books(parsed(SOURCE / "methods" / name), *words), name


@pytest.mark.parametrize(
    "steps, fine",
    [
        (("read()", "drawing()", "run()"), True),
        (("drawing()", "read()", "run()"), False),
        (("read()", "run()", "drawing()"), False),
        (("read()", "run()"), False),
        (("read()", "drawing()", "run()", "drawing()"), False),
    ],
)
def test_the_order_of_booking_is_looked_at(steps: tuple[str, ...], fine: bool) -> None:
    body = "def find():\n" + "".join(f"    {step}\n" for step in steps)
    assert reads_before_it_books(ast.parse(body), "find", "read") is fine
    elsewhere = body + "def other():\n    drawing()\n"
    assert not reads_before_it_books(ast.parse(elsewhere), "find", "read")


@pytest.mark.parametrize(
    "text, fine",
    [
        ("booking = pay()\nKeystream(seed, booking.begin_drawing)", True),
        ("Keystream(seed, booking.begin_drawing)\nbooking = pay()", False),
        ("booking = pay()\nKeystream(seed)", False),
        ("booking = pay()\nKeystream(seed, None)", False),
        ("Keystream(seed, booking.begin_drawing)", False),
        ("pay()\nKeystream(seed, booking.begin_drawing)\nKeystream(seed)", False),
    ],
)
def test_the_payment_of_randomness_is_looked_at(text: str, fine: bool) -> None:
    assert pays_for_its_source(ast.parse(text)) is fine


READERS = {"open", "open_engine", "read", "read_transactions"}


def test_audits_know_made_up_tables_alone() -> None:
    """They draw without booking, so nothing that reads data may be within their reach."""
    for path in (SOURCE / "audit").glob("*.py"):
        found = names(parsed(path))
        assert not found & {"open", "hedgerow.methods.api.publish"}, path
        if path.name == "neighbors.py":
            continue  # which reads what it wrote, see below
        assert not {name for name in found if name.startswith("hedgerow.") and "read" in name}, path
        assert not found & READERS, path


def misread(tree: ast.AST) -> list[str]:
    """Calls that read something else than the path of a `Stored`, or make one elsewhere."""
    wrong = []
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for call in ast.walk(function):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
                continue
            first = ast.unparse(call.args[0]) if call.args else ""
            if call.func.id in READERS and first not in ("data.path", "stored.path"):
                wrong.append(f"{function.name} reads {first}")
            if call.func.id == "Stored" and function.name != "_stored_pair":
                wrong.append(f"{function.name} makes a Stored")
    return wrong


def test_audits_read_only_files_that_they_wrote() -> None:
    """Paths come from one function, which writes a simulated table to each before it names it."""
    for path in (SOURCE / "audit").glob("*.py"):
        assert misread(parsed(path)) == [], path
    makers = [path.name for path in (SOURCE / "audit").glob("*.py")
              if "Stored(" in path.read_text(encoding="utf-8")]  # fmt: skip
    assert makers == ["neighbors.py"]
    for line in ("read(path)", "open_engine(source, schema)", "Stored(path, schema, 'memory')"):
        assert misread(ast.parse(f"def audit(path):\n    {line}\n"))


def test_publishers_do_not_look_at_the_table() -> None:
    """Rows are read by engines; a method that touched codes could branch on them."""
    for path in EXACT:
        if path.relative_to(SOURCE).parts[0] == "methods":
            touched = {name for name in names(parsed(path)) if name.endswith(".codes")}
            assert not touched, path


@pytest.mark.parametrize(
    "text, lint",
    [
        ("import random", other_randomness),
        ("from numpy import random", other_randomness),
        ("import numpy as np\nnp.random.default_rng(1)", other_randomness),
        ("import numpy\nnumpy.random.rand()", other_randomness),
        ("import secrets", other_randomness),
        ("import math\nmath.exp(-1)", float_exponentials),
        ("import numpy as np\nnp.exp(-x)", float_exponentials),
        ("from math import exp", float_exponentials),
        ("print('n =', n)", prints),
        ("import sys\nsys.stdout.write('x')", prints),
        ("counts.open(key)", seal_breakers),
        ("counts.open(_KEY)", seal_breakers),
        ("from hedgerow.counting.sealed import claim_key", seal_breakers),
        ("sealed.claim_key()", seal_breakers),
        ("counts._Sealed__content", seal_breakers),
    ],
)
def test_the_lints_can_fail(text: str, lint: object) -> None:
    assert callable(lint)
    assert lint(ast.parse(text))
