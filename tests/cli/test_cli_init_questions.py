"""`hedgerow init` on a terminal, which a pseudo-terminal stands for."""

from __future__ import annotations

import json
import os
import pty
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hedgerow.schema import Categorical, Numeric, Schema

CTRL_C = "\x03"
PROGRAM = """
import os, signal, sys
os.setsid()  # the first terminal that is opened now controls it, so that Ctrl-C is a signal
for number in range(3):
    os.dup2(os.open(terminal, os.O_RDWR), number)
ready.send(True)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.stdin = open(0, encoding="utf-8")
sys.stdout, sys.stderr = (open(one, "w", buffering=1, encoding="utf-8") for one in (1, 2))
os.environ["TERM"] = "dumb"
sys.argv = ["hedgerow", *words]
from hedgerow.__main__ import main
main()
"""


class Terminal:
    """A command that runs on a terminal, and what it shows there."""

    def __init__(self, processes: Any, *words: object) -> None:
        self._ours, theirs = pty.openpty()
        here, there = processes.Pipe()
        told = {"terminal": os.ttyname(theirs), "ready": there, "words": [*map(str, words)]}
        # a daemon, so that a test that fails does not wait for it
        self.process = processes.Process(target=exec, args=(PROGRAM, told), daemon=True)
        self.process.start()
        there.close()
        assert here.recv()
        os.close(theirs)  # the other process has it now
        self.shown = ""

    def until(self, words: str) -> str:
        """Reads until something is shown, and returns what came before it."""
        while words not in self.shown:
            piece = self._read()
            assert piece, f"{words!r} never came:\n{self.shown}"
            self.shown += piece
        before, _, self.shown = self.shown.partition(words)
        return before

    def reply(self, text: str) -> str:
        """Waits for the next question, answers it, and returns what was shown before."""
        before = self.until("\n> ")
        if text == CTRL_C:
            self._wait_for_reading()
        os.write(self._ours, (text if text == CTRL_C else f"{text}\n").encode())
        return before

    def _wait_for_reading(self) -> None:
        """Waits until it sleeps: a signal just before it begins to read would not wake it."""
        stat = Path(f"/proc/{self.process.pid}/stat")
        while stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "S":
            os.sched_yield()

    def end(self) -> tuple[int, str]:
        """Waits for the end: the exit code, and what was still shown."""
        while piece := self._read():
            self.shown += piece
        self.process.join()
        return self.process.exitcode, self.shown

    def _read(self) -> str:
        try:
            return os.read(self._ours, 65536).decode("utf-8", "replace").replace("\r\n", "\n")
        except OSError:  # the other end is closed
            return ""


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "people.csv"
    lines = [f"{i % 60 + 20},{'yes' if i % 3 else 'no'},{'abc'[i % 3]}" for i in range(120)]
    path.write_text("age,smoker,ward\n" + "\n".join(lines) + "\n", encoding="utf-8")
    yield path


def answer(terminal: Terminal, replies: dict[str, str]) -> str:
    """Answers every question, those that are named otherwise than by Enter."""
    shown = ""
    while True:
        part = terminal.until("\n> ")
        shown += part
        said = {"several rows": "no", **replies}
        question = next(words for words in said if words in part.rpartition("/")[2] or not words)
        os.write(terminal._ours, f"{said[question]}\n".encode())
        if question == "Who confirms":
            return shown


def test_all_questions_lead_to_a_schema_that_is_signed(
    processes: Any, data: Path, tmp_path: Path
) -> None:
    out = tmp_path / "schema.yaml"
    terminal = Terminal(processes, "init", data, "--out", out)
    shown = answer(terminal, {"age: between": "0 to 99", "Who confirms": "Ada Brown", "": ""})
    code, rest = terminal.end()
    assert code == 0 and "Wrote" in rest and "hedgerow plan" in rest, rest
    assert "PRIVATE" in shown and "never saw the data" in shown.replace("\n", " ")
    schema = Schema.load(out)
    assert not schema.is_draft and schema.metadata.reviewer == "Ada Brown" and schema.unit == "row"
    assert schema.metadata.signed == schema.fingerprint
    age, smoker, ward = schema.attributes
    assert isinstance(age, Numeric) and age.high == 99
    assert isinstance(smoker, Categorical) and smoker.taxonomy.leaves == ("no", "yes")
    assert isinstance(ward, Categorical) and ward.taxonomy.leaves == ("a", "b", "c")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "schema.yaml"]


def test_people_are_counted_by_the_column_that_is_named(processes: Any, tmp_path: Path) -> None:
    """What one person says in twelve rows is proposed to nobody, and marked if it is added."""
    data, out = tmp_path / "visits.csv", tmp_path / "schema.yaml"
    lines = [f"{'abcdefghij'[n // 120]}{n // 12 % 10},{['cough', 'fever'][n % 2]}" for n in
             range(1200)]  # fmt: skip
    lines[12:24] = ["a1,my husband hits me"] * 12
    data.write_text("who,why\n" + "\n".join(lines) + "\n", encoding="utf-8")
    terminal = Terminal(processes, "init", data, "--out", out)
    replies = {"several rows": "yes", "identifies people": "who", "why: which": "+my husband "
               "hits me", "Who confirms": "Ada", "": ""}  # fmt: skip
    shown = " ".join(answer(terminal, replies).split())
    assert "[cough, fever]" in shown
    assert "! my husband hits me [rare: fewer than 10 have it]" in shown
    assert terminal.end()[0] == 0
    assert Schema.load(out).person is not None


def test_explanations_mistakes_and_the_way_back(processes: Any, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "schema.yaml"
    terminal = Terminal(processes, "init", data, "--out", out)
    terminal.reply("")
    assert "Nothing is proposed here" in terminal.reply("?")  # Enter chooses no unit
    assert "protected k times" in " ".join(terminal.reply("maybe").split())
    assert "'maybe' is not one of the answers" in terminal.reply("no")
    assert "help to predict" in terminal.reply("ward")
    terminal.reply("back")
    assert "help to predict" in terminal.reply("smoker")
    answer(terminal, {"Who confirms": "", "": ""})
    code, rest = terminal.end()
    assert code == 0 and "draft" in rest and out.stat().st_mode & 0o777 == 0o600
    schema = Schema.load(out)
    assert schema.is_draft and schema.target is not None and schema.target.name == "smoker"


def test_it_can_be_stopped_and_taken_up_again(processes: Any, data: Path, tmp_path: Path) -> None:
    out, kept = tmp_path / "schema.yaml", tmp_path / "schema.yaml.answers.json"
    terminal = Terminal(processes, "init", data, "--out", out)
    terminal.reply("no")
    terminal.reply("ward")
    terminal.reply(CTRL_C)
    code, rest = terminal.end()
    assert code == 130 and "NOT PRIVATE" in rest and not out.exists()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert "NOT PRIVATE" in kept.read_text(encoding="utf-8")
    assert json.loads(kept.read_text(encoding="utf-8"))["answers"] == {
        "unit": "no",
        "class": "ward",
    }
    terminal = Terminal(processes, "init", data, "--out", out)
    assert "2 answers are in" in terminal.until("\n> ")
    os.write(terminal._ours, b"\n")
    answer(terminal, {"Who confirms": "Ada", "": ""})
    assert terminal.end()[0] == 0 and not kept.exists()
    assert Schema.load(out).classes == ("a", "b", "c")


def test_answers_about_other_columns_are_not_used(
    processes: Any, data: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "s.yaml.answers.json"
    kept.write_text('{"columns": ["x"], "answers": {"unit": "yes"}}', encoding="utf-8")
    terminal = Terminal(processes, "init", data, "--out", tmp_path / "s.yaml")
    assert "about other columns" in terminal.until("several rows")
    terminal.reply(CTRL_C)
    assert terminal.end()[0] == 130


def test_without_questions_it_drafts_on_a_terminal_too(
    processes: Any, data: Path, tmp_path: Path
) -> None:
    terminal = Terminal(processes, "init", data, "--out", tmp_path / "s.yaml", "--no-questions")
    assert terminal.end()[0] == 0
    assert "unit: row or person?" in (tmp_path / "s.yaml").read_text(encoding="utf-8")


def test_transactions_are_asked_about_and_taken_up_again(processes: Any, tmp_path: Path) -> None:
    data, out = tmp_path / "baskets.dat", tmp_path / "schema.yaml"
    data.write_text("1 2 3\n2\n7 1\n" * 10, encoding="utf-8")
    terminal = Terminal(processes, "init", data, "--out", out)
    assert "several records" in terminal.reply("no")
    assert "separates the items" in terminal.reply("")
    assert "Which items could there be" in terminal.reply("1 to 9")
    terminal.reply(CTRL_C)
    code, rest = terminal.end()
    assert code == 130 and "goes on from there" in " ".join(rest.split())
    terminal = Terminal(processes, "init", data, "--out", out)
    shown = answer(terminal, {"Who confirms": "Ada Brown", "": ""})
    assert "3 answers" in shown and "several records" not in shown
    code, rest = terminal.end()
    assert code == 0, rest
    schema = Schema.load(out)
    assert not schema.is_draft and schema.transaction_items.universe == range(1, 10)
    assert schema.metadata.signed == schema.fingerprint


def test_what_a_column_is_can_be_said_instead_of_its_values(
    processes: Any, data: Path, tmp_path: Path
) -> None:
    out = tmp_path / "schema.yaml"
    terminal = Terminal(processes, "init", data, "--out", out)
    for reply in ("no", "ward", "", "", ""):
        terminal.reply(reply)
    assert "number, date, values, drop" in terminal.reply("drop")  # the age
    terminal.reply("back")  # from smoker
    assert "age: between which numbers" in terminal.reply("values")
    assert "age: which values" in terminal.reply("20, 30")
    shown = terminal.reply("never, daily")
    assert "age" not in shown and "smoker: which values" in shown
    assert "not in your answer: no, yes" in terminal.reply("back")
    assert "smoker: which values" in terminal.reply("+now and then")
    answer(terminal, {"Who confirms": "Ada", "": ""})
    assert terminal.end()[0] == 0
    age, smoker = Schema.load(out).attributes
    assert isinstance(age, Categorical) and isinstance(smoker, Categorical)
    assert age.taxonomy.leaves == ("20", "30")
    assert smoker.taxonomy.leaves == ("no", "yes", "now and then")


def test_columns_are_named_where_one_is_asked_for(
    processes: Any, data: Path, tmp_path: Path
) -> None:
    terminal = Terminal(processes, "init", data, "--out", tmp_path / "schema.yaml")
    terminal.reply("no")
    assert "smoker, ward, none" in terminal.reply("none")
    terminal.reply("?")
    assert "All columns: age, smoker, ward." in " ".join(terminal.reply(CTRL_C).split())
    terminal.end()
