"""How long the way through the code is, and how much code there is.

    python benchmarks/walks.py            # nine walks: functions, modules, packages crossed
    python benchmarks/walks.py --lines    # lines of code in src/hedgerow, by package

A walk is one command on the embedded samples, run in this process under a profiler; a warm count is
asked of a release in memory that has answered one. Functions are
the distinct functions of hedgerow that were called; modules are the files that they stand in;
crossings are the distinct calls (from one function to another) that lead from one package to
another; changes count how often the package changes from one function to the next, in the order in
which they are first called.
Lines are those that hold code: no blank lines, comments or docstrings.
"""

from __future__ import annotations

import argparse
import ast
import io
import shutil
import sys
import tempfile
import threading
import tokenize
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

HOME = Path(__file__).resolve().parents[1] / "src" / "hedgerow"
OWN = str(HOME) + "/"


class Walk:
    """Remembers which functions of hedgerow were called, and from where."""

    def __init__(self) -> None:
        self.functions: dict[CodeType, None] = {}  # in the order of their first calls
        self.calls: set[tuple[CodeType, CodeType]] = set()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(OWN) or code.co_name[0] == "<":
            return  # modules, lambdas and comprehensions have no name of their own
        self.functions.setdefault(code)
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(OWN):
            caller = caller.f_back  # through typer, numpy and the like
        if caller is not None:
            self.calls.add((caller.f_code, code))

    def figures(self) -> tuple[int, int, int, int]:
        """Functions, modules, crossings, changes."""
        modules = {code.co_filename for code in self.functions}
        crossings = {(one, other) for one, other in self.calls if package(one) != package(other)}
        order = [package(code) for code in self.functions]
        changes = sum(one != other for one, other in pairwise(order))
        return len(self.functions), len(modules), len(crossings), changes


def package(code: CodeType) -> str:
    """The package of hedgerow that a function stands in."""
    return code.co_filename.removeprefix(OWN).split("/")[0]


def walk(action: Callable[[], None]) -> Walk:
    """Runs something and remembers its way."""
    seen = Walk()
    threading.setprofile(seen)
    sys.setprofile(seen)
    try:
        action()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return seen


def walks() -> dict[str, tuple[int, int, int, int]]:
    """The walks, each after a first time that is not looked at."""
    from typer.testing import CliRunner

    import hedgerow
    from hedgerow import sample
    from hedgerow.cli import app

    def run(words: str) -> None:
        done = CliRunner().invoke(app, words.split(" ", 2 if words.startswith("query") else -1))
        if done.exit_code:
            raise SystemExit(f"{words}: {done.output}")

    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        sample.write(home, rows=1500, seed=5)
        table = f"publish {home}/people.csv --schema {home}/schema.yaml --epsilon 1"
        rows = f"{table} --delta 1e-6 --method supermodular"
        baskets = f"publish {home}/baskets.dat --schema {home}/baskets.yaml --epsilon 1"
        commands = {
            "publish": f"{table} --out {home}/release",
            "publish, diffmulti": f"{table} --method diffmulti --out {home}/regions",
            "publish, diffpart": f"{baskets} --out {home}/baskets",
            "publish, supermodular": f"{rows} --out {home}/rows",
            "query": f"query {home}/release age in [30, 50]",
            "query, diffmulti": f"query {home}/regions age in [30, 50]",
            "query, diffpart": f"query {home}/baskets bread",
            "report": f"report {home}/release --out {home}/report.html",
        }
        for words in commands.values():  # what is loaded and compiled once is not on the way
            run(words)
        for made in ("release", "regions", "baskets", "rows"):
            shutil.rmtree(home / made)
        (home / "report.html").unlink()
        figures = {name: walk(partial(run, words)).figures() for name, words in commands.items()}
        release = hedgerow.load(home / "release")
        release.count("age in [30, 50]")
        figures["count, warm"] = walk(lambda: release.count("age in [20, 40]")).figures()
        return figures


def code_lines(path: Path) -> int:
    """How many lines of a file hold code."""
    text = path.read_text(encoding="utf-8")
    docs: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            docs.update(range(value.lineno, (value.end_lineno or value.lineno) + 1))
    idle = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
            tokenize.ENDMARKER, tokenize.ENCODING)  # fmt: skip
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in idle:
            held.update(range(token.start[0], token.end[0] + 1))
    return len(held - docs)


def lines() -> tuple[Counter[str], Counter[str]]:
    """Lines of code and number of files, by package."""
    count: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for path in sorted(HOME.rglob("*.py")):
        place = path.relative_to(HOME).as_posix()
        where = place.split("/")[0] if "/" in place else "(top)"
        count[where] += code_lines(path)
        files[where] += 1
    return count, files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lines", action="store_true", help="count lines instead of walking")
    if parser.parse_args().lines:
        count, files = lines()
        for where in sorted(count):
            print(f"{where:12} {files[where]:4} files {count[where]:7,} lines")
        print(f"{'all':12} {files.total():4} files {count.total():7,} lines")
        return
    print("| walk | functions | modules | crossings | changes |\n| --- | --- | --- | --- | --- |")
    for words, figures in walks().items():
        print(f"| {words} | {' | '.join(map(str, figures))} |")


if __name__ == "__main__":
    main()
