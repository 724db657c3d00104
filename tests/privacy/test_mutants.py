"""The mutants written by hand can be made, and the runner of mutants notices what tests notice.

The campaign itself is `make mutants`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "audits"))  # a folder of scripts, not a package

from mutants import page, targets  # noqa: E402
from mutants.by_hand import BY_HAND, ByHand, apply, by_name  # noqa: E402

KNOWN = {
    "nonempty-twice-the-rate",
    "keep-one-less",
    "gate-one-level-less",
    "exact-records-in-a-rule",
    "centroids-ignore-the-cap",
}


@pytest.mark.parametrize("mutant", BY_HAND, ids=lambda mutant: mutant.name)
def test_an_edit_applies_to_the_code_as_it_is(mutant: ByHand) -> None:
    text = (ROOT / "src" / "hedgerow" / mutant.path).read_text(encoding="utf-8")
    changed = mutant.applied(text)
    assert changed != text
    compile(changed, mutant.path, "exec")


def test_the_list_is_whole() -> None:
    names = [mutant.name for mutant in BY_HAND]
    assert len(names) == len(set(names)) >= 25
    assert set(names) >= KNOWN
    assert {mutant.path for mutant in BY_HAND} <= {target.path for target in targets.TARGETS}


def test_an_edit_that_no_longer_fits_is_refused(tmp_path: Path) -> None:
    mutant = by_name("keep-one-less")
    path = tmp_path / "src" / "hedgerow" / mutant.path
    path.parent.mkdir(parents=True)
    for text in ("nothing\n", f"{mutant.old}\n{mutant.old}\n"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match="keep-one-less"):
            apply(mutant, tmp_path)
    path.write_text(f"    {mutant.old}\n", encoding="utf-8")
    apply(mutant, tmp_path)
    assert path.read_text(encoding="utf-8") == f"    {mutant.new}\n"


def test_targets_and_their_tests_exist() -> None:
    """But for a module's own tests, which it may not have: they are those of the name."""
    for target in targets.TARGETS:
        assert (ROOT / "src" / "hedgerow" / target.path).exists(), target.path
        folder, _, name = target.path.rpartition("/")
        own = f"tests/unit/{folder}/test_{name}"
        for test in {*target.tests, *target.slow} - {own}:
            file, _, function = test.partition("::")
            assert (ROOT / file).exists(), (target.path, test)
            assert f"def {function}" in (ROOT / file).read_text(encoding="utf-8"), test


def test_every_survivor_is_explained_and_the_page_shows_the_verdicts() -> None:
    """On the commit that the page names: modules and tests may have moved since."""
    kept = json.loads(page.VERDICTS.read_text(encoding="utf-8"))
    assert {each["verdict"] for each in kept["by_hand"].values()} <= {"caught", "hangs"}
    assert len(kept["by_hand"]) >= 90 and kept["commits"]
    assert all(each["why"] for each in kept["survivors"])
    tried = sum(sum(row.values()) for row in kept["modules"].values())
    assert page.few(len(kept["survivors"]), tried)
    assert not page.few(30, 300) and page.few(15, 300)
    assert "\n".join(page.page_of_mutants()) in page.PAGE.read_text(encoding="utf-8")


# the runner, on a toy ------------------------------------------------------------------------

TOY = "def half(n):\n    return n // 2\n"
TESTS = "from toy import half\n\n\ndef test_half():\n    assert half(9) == 4\n"


class Server:
    """The worker of a campaign, in a tree of two files."""

    def __init__(self, tree: Path) -> None:
        self.toy = tree / "src" / "toy.py"
        self.toy.parent.mkdir()
        self.toy.write_text(TOY, encoding="utf-8")
        (tree / "test_toy.py").write_text(TESTS, encoding="utf-8")
        (tree / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        words = [sys.executable, str(ROOT / "audits" / "mutants" / "worker.py"), str(tree)]
        self.process = subprocess.Popen(
            [*words, "pytest", "hypothesis"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        assert self.process.stdout and self.process.stdout.readline() == "ready\n"

    def ask(self, text: str) -> dict[str, Any]:
        assert self.process.stdin and self.process.stdout
        asked = {"path": "src/toy.py", "text": text, "tests": ["test_toy.py"], "seconds": 2}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("toy"))
    yield made
    assert made.process.stdin
    made.process.stdin.close()
    assert made.process.wait() == 0


@pytest.mark.parametrize(
    "text, verdict",
    [
        (TOY, "survived"),
        (TOY.replace("n // 2", "n // 3"), "caught"),
        (TOY.replace("n // 2", "n >> 1"), "survived"),
        (TOY.replace("n // 2", "n / 2"), "caught"),
        (TOY.replace("return", "while n: pass\n    return"), "hangs"),
        (TOY.replace("def half", "def other"), "caught"),
        (TOY, "survived"),
    ],
)
def test_the_runner_notices(text: str, verdict: str, server: Server) -> None:
    answer = server.ask(text)
    assert answer["verdict"] == verdict
    assert ("test_toy.py" in answer["by"]) == (verdict == "caught")
    assert server.toy.read_text(encoding="utf-8") == TOY
