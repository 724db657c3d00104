"""Mutation testing: `make mutants`, or `python audits/mutate.py` once mutants were generated.

Puts mutants into copies of the source tree, one at a time, and runs the tests that should notice:
all mutants that were written by hand (`mutants/by_hand.py`), and those that
`mutants/generate.py` drew. Verdicts are kept in a file as they are found; what was begun goes on
from there. When all are tried, `audits/mutants/verdicts.json` and the section of
docs/privacy/audit.md are written. Ends with exit code 1 if a mutant that was written by hand
survives, more than one in twenty of the others do, or a survivor is not explained in
`mutants/equivalent.py`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))

from mutants.by_hand import BY_HAND  # noqa: E402
from mutants.page import commit_of, summary, write_page, write_verdicts  # noqa: E402
from mutants.targets import GOLDEN, target_of  # noqa: E402

COPIED = ("src", "tests", "audits", "docs", "benchmarks", "papers")
FILES = ("pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "Makefile")
IMPORTED = (
    "numpy", "pyarrow", "pyarrow.compute", "pyarrow.csv", "pyarrow.parquet", "scipy.stats",
    "numba", "cryptography.hazmat.primitives.ciphers", "hypothesis", "pydantic", "yaml",
    "narwhals", "rich.console", "typer", "pandas", "polars", "opendp.prelude", "pytest",
    "_pytest.doctest", "_pytest.assertion.rewrite",
)  # fmt: skip
SECONDS, FEW_SECONDS = 300, 20  # of CPU for one mutant, at most


class Worker:
    """A copy of the tree and the server in it."""

    def __init__(self, folder: Path) -> None:
        self.tree = folder
        for name in COPIED:
            if (ROOT / name).exists():
                skip = shutil.ignore_patterns(".hypothesis")
                shutil.copytree(ROOT / name, folder / name, ignore=skip)
        for name in FILES:
            shutil.copy2(ROOT / name, folder / name)
        script = HERE / "mutants" / "worker.py"
        self.server = subprocess.Popen(
            [sys.executable, str(script), str(folder), *IMPORTED],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.server.stdout is not None
        self.server.stdout.readline()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self.server.stdin is not None and self.server.stdout is not None
        self.server.stdin.write(json.dumps(request) + "\n")
        self.server.stdin.flush()
        answer: dict[str, Any] = json.loads(self.server.stdout.readline())
        return answer

    def close(self) -> None:
        assert self.server.stdin is not None
        self.server.stdin.close()
        self.server.wait()


def quick_tests(path: str) -> tuple[str, ...]:
    """The tests that are run first; of them the one that catches most, soon."""
    return tuple(sorted(target_of(path).tests, key=lambda test: test != GOLDEN))


def request(
    mutant: dict[str, Any], tree: Path, number: int, asked: argparse.Namespace, slow: bool
) -> dict[str, Any]:
    """What a worker is told: the file's new text, and the tests that there are for it."""
    target = target_of(mutant["path"])
    text = (ROOT / "src" / "hedgerow" / mutant["path"]).read_text(encoding="utf-8")
    if mutant["text"] is None:
        at, old, new = mutant["at"], mutant["old"], mutant["new"]
        assert text[at : at + len(old)] == old, "the code has changed: generate mutants again"
        mutant["text"] = text[:at] + new + text[at + len(old) :]
    listed, plain, seconds = target.slow, False, SECONDS
    if mutant.get("by_hand"):  # noticed by what it breaks, and not because anything is different
        listed = target.unlike_golden()
        seconds = FEW_SECONDS if mutant["hangs"] else SECONDS
    elif not slow:
        listed, plain = quick_tests(mutant["path"]), target.plain
        if mutant["path"] in asked.usual:
            # what takes twice as long as without a mutant will not end
            seconds = round(asked.usual[mutant["path"]] * 2 + 10)
    return {
        "path": f"src/hedgerow/{mutant['path']}", "text": mutant["text"],
        "tests": there(listed, tree), "plain": module_of(mutant["path"]) if plain else "",
        "seconds": seconds, "number": number,
    }  # fmt: skip


def there(tests: Iterable[str], tree: Path) -> list[str]:
    """Those of the tests that exist: a module need not have tests of its name."""
    return [test for test in tests if (tree / test.partition("::")[0]).exists()]


def module_of(path: str) -> str:
    return "hedgerow." + path.removesuffix(".py").replace("/", ".")


def verdict_on(
    mutant: dict[str, Any], worker: Worker, number: int, asked: argparse.Namespace
) -> dict[str, Any]:
    """By the quick tests, and where they notice nothing by the slow ones."""
    answer = worker.ask(request(mutant, worker.tree, number, asked, slow=False))
    if answer["verdict"] == "survived" and not (asked.quick or mutant.get("by_hand")):
        more = request(mutant, worker.tree, number, asked, slow=True)
        if more["tests"]:
            answer = worker.ask(more)
    if answer["verdict"].startswith("pytest ended"):
        raise RuntimeError(f"{mutant['id']}: {answer}")
    return answer


def unbroken(worker: Worker, paths: set[str], known: dict[str, float]) -> dict[str, float]:
    """What the quick tests of modules take on the code as it is, where they must pass.

    Each file is run once for all modules, but those that run as plain Python apart.
    """
    seconds = {}
    for path in sorted(paths - known.keys()):
        if target_of(path).plain:
            tests = there(quick_tests(path), worker.tree)
            asked = {"tests": tests, "plain": module_of(path), "seconds": 9 * SECONDS}
            seconds[path] = passing(worker.ask(asked))["seconds"]
    rest = sorted(path for path in paths - known.keys() if path not in seconds)
    tests = there(dict.fromkeys(test for path in rest for test in quick_tests(path)), worker.tree)
    if tests:
        answer = passing(worker.ask({"tests": tests, "seconds": 9 * SECONDS, "whole": True}))
        _, files = json.loads(answer["by"])
        for path in rest:
            own = {test.partition("::")[0] for test in quick_tests(path)}
            seconds[path] = sum(files.get(file, 0.0) for file in own)
    return seconds


def passing(answer: dict[str, Any]) -> dict[str, Any]:
    """Refuses an answer by which tests fail on the code as it is."""
    if answer["verdict"] != "survived":
        raise RuntimeError(f"without a mutant, too, tests fail: {answer}")
    return answer


def all_mutants(asked: argparse.Namespace) -> list[dict[str, Any]]:
    """Those written by hand, then the generated ones."""
    found: list[dict[str, Any]] = []
    for made in BY_HAND:
        code = (ROOT / "src" / "hedgerow" / made.path).read_text(encoding="utf-8")
        text = made.applied(code)
        found.append(
            {"id": made.name, "path": made.path, "text": text, "by_hand": True, "hangs": made.hangs}
        )
    if asked.generated.exists():
        drawn = json.loads(asked.generated.read_text(encoding="utf-8"))["mutants"]
        found += [{**mutant, "text": None} for mutant in drawn]
    if asked.only:
        found = [m for m in found if m["id"] in asked.only or m["path"] in asked.only]
    return found


def read_session(path: Path) -> dict[str, dict[str, Any]]:
    """The last verdict on each mutant, and whether it survived an earlier time."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    done: dict[str, dict[str, Any]] = {}
    for entry in map(json.loads, lines):
        before = done.get(entry["id"], {})
        survived = "survived" in (before.get("verdict"), before.get("once"))
        done[entry["id"]] = entry | ({"once": "survived"} if survived else {})
    return done


def try_all(todo: list[dict[str, Any]], asked: argparse.Namespace) -> None:
    """Tries mutants on all workers; every verdict is written down at once."""
    waiting, lock, began = list(enumerate(todo)), threading.Lock(), time.monotonic()
    errors: list[BaseException] = []
    commit = commit_of(clean=True)

    def keep(entry: dict[str, Any]) -> None:
        with lock, asked.session.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry | {"commit": commit}) + "\n")

    def work(worker: Worker) -> None:
        while not errors:
            with lock:
                if not waiting:
                    return
                number, mutant = waiting.pop(0)
            try:
                answer = verdict_on(mutant, worker, number, asked)
            except BaseException as error:
                errors.append(error)
                raise
            keep(
                {k: v for k, v in mutant.items() if k not in ("text", "at", "old", "new")} | answer
            )
            if answer["verdict"] == "survived":
                change = f"{mutant.get('before', '')} => {mutant.get('after', '')}"
                place = f"{mutant['path']}:{mutant.get('line', '')}"
                minutes = (time.monotonic() - began) / 60
                print(f"{minutes:6.1f} min  {mutant['id']}  {place}  {change}", flush=True)

    with tempfile.TemporaryDirectory(prefix="hedgerow-mutants-") as folder:
        workers = [Worker(Path(folder) / str(number)) for number in range(asked.jobs)]
        drawn = {mutant["path"] for mutant in todo if not mutant.get("by_hand")}
        usual = unbroken(workers[0], drawn, asked.usual)
        if usual:
            keep({"id": "usual", "usual": asked.usual | usual})
        asked.usual |= usual
        threads = [threading.Thread(target=work, args=(worker,)) for worker in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if not errors:
            done = read_session(asked.session)
            by = {done[m["id"]]["by"] for m in todo if done[m["id"]]["verdict"] == "caught"}
            tests = sorted({test.partition("[")[0] for test in by} - {"import"})
            if tests:
                passing(workers[0].ask({"tests": tests, "seconds": 9 * SECONDS, "whole": True}))
        for worker in workers:
            worker.close()
    if errors:
        raise errors[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    keep = ROOT / ".mutants"
    parser.add_argument("--generated", type=Path, default=keep / "generated.json")
    parser.add_argument("--session", type=Path, default=keep / "session.jsonl")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="*", help="modules, or single mutants by name or number")
    parser.add_argument("--again", action="store_true", help="try those that survived once more")
    parser.add_argument("--quick", action="store_true", help="without the slow tests")
    parser.add_argument("--page", action="store_true", help="only write the page anew")
    asked = parser.parse_args()
    everything = all_mutants(asked)
    asked.session.parent.mkdir(parents=True, exist_ok=True)
    done = read_session(asked.session)
    asked.usual = done.get("usual", {}).get("usual", {})
    if not asked.page:
        if asked.again:
            done = {k: v for k, v in done.items() if v.get("verdict") != "survived"}
        todo = [m for m in everything if m["id"] not in done]
        print(f"{len(todo)} of {len(everything)} mutants are to be tried", flush=True)
        try_all(todo, asked)
        done = read_session(asked.session)
    found = [done[m["id"]] for m in everything if m["id"] in done]
    words, good = summary(found)
    print(words)
    if not asked.only and len(found) == len(everything):
        sites = json.loads(asked.generated.read_text(encoding="utf-8"))["sites"]
        write_verdicts(found, sites)
        write_page()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
