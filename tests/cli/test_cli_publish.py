from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hedgerow import Release

Hedge = Callable[..., Any]
Child = Callable[..., tuple[int, str, str]]


def publish(hedge: Hedge, survey: Path, out: Path, *more: object) -> Any:
    return hedge(
        "publish", survey / "people.csv", "--schema", survey / "schema.yaml", "--out", out, *more
    )


@pytest.mark.parametrize("method", ["diffmulti", "diffgen"])
def test_publishes_and_tells_what_was_promised_and_spent(
    hedge: Hedge, survey: Path, tmp_path: Path, method: str
) -> None:
    out = tmp_path / "release"
    done = publish(hedge, survey, out, "--epsilon", "0.5", "--method", method)
    assert done.exit_code == 0, done.stderr
    assert f"Published to {out}" in done.stdout.replace("\n", "")
    assert "epsilon = 0.5" in done.stdout and "the counts that are published" not in done.stdout
    assert "1500" not in done.stdout.replace("\n", "").replace(str(tmp_path), "")
    release = Release.load(out)
    assert release.method == method and release.guarantee["epsilon"] == "1/2"
    again = "--epsilon", "0.5", "--method", method, "--overwrite", "--verbose"
    assert "the counts that are published" in publish(hedge, survey, out, *again).stdout


def test_options_reach_the_method(hedge: Hedge, survey: Path, tmp_path: Path) -> None:
    options = (
        "--method diffmulti --score gini --schedule paper --specializations 4 --depth 3 "
        "--distribution even"
    )
    done = publish(hedge, survey, tmp_path / "r", "--epsilon", "1/3", "--json", *options.split())
    facts = json.loads(done.stdout)
    assert facts["guarantee"]["epsilon"] == "1/3"
    expected = {
        "score": "gini",
        "schedule": "paper-1",
        "specializations": 4,
        "depth": 3,
        "distribution": "even",
    }
    assert expected.items() <= facts["settings"].items()
    assert facts["regions"] >= 2


def test_a_delta(hedge: Hedge, survey: Path, tmp_path: Path) -> None:
    done = publish(hedge, survey, tmp_path / "r", "--epsilon", 1, "--delta", "1e-9", "--verbose")
    assert done.exit_code == 0, done.stderr
    assert "delta = 1e-9" in done.stdout and "rho" in done.stdout
    assert hedge("verify", tmp_path / "r").exit_code == 0


def test_an_epsilon_that_is_rounded_down_is_told(
    hedge: Hedge, survey: Path, tmp_path: Path
) -> None:
    words = "epsilon 0.1234567 is rounded down to 0.123456, to six decimals."
    done = publish(hedge, survey, tmp_path / "a", "--epsilon", "0.1234567", "--json")
    assert json.loads(done.stdout)["warnings"] == [words]
    assert json.loads(done.stdout)["guarantee"]["epsilon"] == "1929/15625"  # 0.123456
    plan = "plan", "--schema", survey / "schema.yaml", "--epsilon"
    assert words in hedge(*plan, "0.1234567").stderr
    for fine in ("0.123456", "1/3", "0.12345600", "1e-5"):
        assert "rounded" not in hedge(*plan, fine).stderr


def test_an_existing_release_is_refused_before_the_data_is_read(
    hedge: Hedge, survey: Path, published: Path
) -> None:
    before = (published / "manifest.json").read_bytes()
    done = hedge(
        "publish", survey / "no-such.csv", "--schema", survey / "schema.yaml", "--epsilon", 1,
        "--out", published,
    )  # fmt: skip
    assert done.exit_code == 6 and "--overwrite" in done.stderr
    assert (published / "manifest.json").read_bytes() == before


def test_overwrite_replaces(hedge: Hedge, survey: Path, tmp_path: Path) -> None:
    out = tmp_path / "r"
    assert publish(hedge, survey, out, "--epsilon", 1).exit_code == 0
    done = publish(hedge, survey, out, "--epsilon", 2, "--overwrite")
    assert done.exit_code == 0, done.stderr
    assert Release.load(out).guarantee["epsilon"] == "2"


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", "much", "1e9", "1/0", ""])
def test_a_bad_epsilon(hedge: Hedge, survey: Path, tmp_path: Path, epsilon: str) -> None:
    done = publish(hedge, survey, tmp_path / "r", "--epsilon", epsilon)
    assert done.exit_code == 2 and "epsilon" in done.stderr
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    "options",
    [
        ["--max-cells", "10"],
        ["--method", "diffgen", "--distribution", "fair"],
        ["--score", "infogain"],
        ["--method", "diffgen", "--depth", "3"],
        ["--specializations", "-1"],
        ["--score", "best"],
    ],
)
def test_settings_that_do_not_fit(
    hedge: Hedge, survey: Path, tmp_path: Path, options: list[str]
) -> None:
    done = publish(hedge, survey, tmp_path / "r", "--epsilon", 1, *options)
    assert done.exit_code == 2, done.stderr
    assert not (tmp_path / "r").exists()


def test_a_seeded_run_repeats_and_says_that_it_is_not_private(
    hedge: Hedge, survey: Path, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        done = publish(hedge, survey, tmp_path / name, "--epsilon", 1, "--seed", 4)
        assert done.exit_code == 0 and "NOT PRIVATE" in done.stdout
    for name in ("measurements.parquet", "rows.parquet"):
        first, second = ((tmp_path / folder / name).read_bytes() for folder in ("a", "b"))
        assert first == second
    done = hedge("verify", tmp_path / "a")
    assert done.exit_code == 6 and "seeded" in done.stdout


def test_a_bug_is_reported_without_its_text(
    hedge: Hedge, survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def burst(*_: Any, **__: Any) -> None:
        raise ValueError("somebody's diagnosis")

    monkeypatch.setattr("hedgerow.publish", burst)
    done = publish(hedge, survey, tmp_path / "r", "--epsilon", 1)
    assert done.exit_code == 1
    assert "ValueError" in done.stderr and "diagnosis" not in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    monkeypatch.setenv("HEDGEROW_DEBUG", "1")
    done = publish(hedge, survey, tmp_path / "r", "--epsilon", 1)
    assert "Traceback" in done.stderr


def test_an_interrupt_leaves_nothing_behind(
    hedge: Hedge, survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hedgerow.release.base.Release._manifest", stopped)
    done = publish(hedge, survey, tmp_path / "r", "--epsilon", 1)
    assert done.exit_code == 130 and "Interrupted" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
def test_ctrl_c_on_the_real_command(child: Child, survey: Path, tmp_path: Path) -> None:
    program = (
        "import os, signal, hedgerow.cli, hedgerow.methods.marginals as marginals\n"
        "marginals.Marginals.run = lambda *_: os.kill(os.getpid(), signal.SIGINT)\n"
        "hedgerow.cli.main()"
    )
    found = child(program, *real_words(survey, tmp_path / "r"))
    assert found == (130, "", "Interrupted.\n")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_drawn_where_no_terminal_is(child: Child, survey: Path, tmp_path: Path) -> None:
    words = real_words(survey, tmp_path / "r", "--json")
    code, said, told = child("import hedgerow.cli; hedgerow.cli.main()", *words)
    assert (code, told) == (0, "")
    assert json.loads(said)["release"] == str(tmp_path / "r")


def real_words(survey: Path, out: Path, *more: str) -> list[str]:
    """The words of a real command, as it is started from a shell."""
    return [
        "publish", str(survey / "people.csv"), "--schema", str(survey / "schema.yaml"),
        "--out", str(out), "--epsilon", "1", *more,
    ]  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
@pytest.mark.parametrize(("name", "number"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_a_signal_while_files_are_written(
    child: Child, survey: Path, tmp_path: Path, name: str, number: int
) -> None:
    program = (
        "import os, signal, hedgerow.cli, hedgerow.release.base as base\n"
        f"base.Release._manifest = lambda *_: os.kill(os.getpid(), signal.{name})\n"
        "hedgerow.cli.main()"
    )
    found = child(program, *real_words(survey, tmp_path / "r"))
    assert found == (number, "", "Interrupted.\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
def test_ctrl_c_while_the_command_is_loaded() -> None:
    code = (
        "import os, signal, sys\n"
        "class Stop:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'typer': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Stop())\n"
        "from hedgerow.__main__ import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "Interrupted.\n")


def test_leftovers_of_a_killed_run_are_told(hedge: Hedge, survey: Path, tmp_path: Path) -> None:
    (tmp_path / ".r.new-0a1b2c3d").mkdir()
    (tmp_path / ".rr.new-0a1b2c3d").mkdir()
    done = publish(hedge, survey, tmp_path / "r", "--epsilon", 1)
    assert done.exit_code == 0 and ".r.new-0a1b2c3d" in done.stderr
    assert ".rr.new" not in done.stderr


NOBODY_LISTENS = {
    "full": "os.dup2(os.open('/dev/full', os.O_WRONLY), 1)",
    "closed": "read, write = os.pipe(); os.close(read); os.dup2(write, 1)",
}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("listener", NOBODY_LISTENS)
@pytest.mark.parametrize("form", ["", "--json"])
def test_a_release_that_was_written_is_a_success_whoever_listens(
    child: Child, survey: Path, tmp_path: Path, form: str, listener: str
) -> None:
    program = (
        f"{NOBODY_LISTENS[listener]}\n"
        "import hedgerow.cli\n"
        "try:\n"
        "    hedgerow.cli.main()\n"
        "finally:\n"
        "    sys.stdout.flush()\n"  # as Python does when it ends
    )
    code, _, told = child(program, *real_words(survey, tmp_path / "r", *form.split()))
    assert code == 0, told
    assert "was written" in told and "Traceback" not in told
    Release.load(tmp_path / "r")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_the_real_command_on_a_full_disk(survey: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hedgerow", *real_words(survey, tmp_path / "r")]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    assert "was written" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("out", ["", "."])
def test_no_folder(hedge: Hedge, survey: Path, out: str) -> None:
    done = publish(hedge, survey, out, "--epsilon", 1)  # type: ignore[arg-type]
    assert done.exit_code == 2 and "--out" in done.stderr


@pytest.mark.parametrize("place", ["file/r", "locked/r", "locked/new/r", "null"])
def test_a_place_that_cannot_be_written_is_noticed_before_data_is_read(
    hedge: Hedge, survey: Path, tmp_path: Path, place: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked").chmod(0o500)
    out = Path("/dev/null/r") if place == "null" else tmp_path / place
    if place.startswith("locked") and os.access(tmp_path / "locked", os.W_OK):
        pytest.skip("this user may write everywhere")
    done = hedge(
        "publish", survey / "no-such.csv", "--schema", survey / "schema.yaml", "--epsilon", 1,
        "--out", out,
    )  # fmt: skip
    assert done.exit_code == 6 and "cannot write the release" in done.stderr


def test_json_errors_are_json_alone(hedge: Hedge, survey: Path, tmp_path: Path) -> None:
    warned = tmp_path / "s.yaml"
    warned.write_text(
        "name: t\nunit: row\nattributes:\n  a: {type: numeric, low: 0, high: 1, step: 9}\n",
        encoding="utf-8",
    )
    words = ["--schema", warned, "--epsilon", 1, "--out", tmp_path / "r", "--json"]
    done = hedge("publish", tmp_path / "none.csv", *words)
    error = json.loads(done.stderr)["error"]
    assert done.exit_code == error["exit_code"] == 4 and "step" in error["warnings"][0]
    for wrong in (["--wrong"], ["--seed", "x"]):
        done = hedge("publish", survey / "people.csv", *words, *wrong)
        assert json.loads(done.stderr)["error"]["kind"] == "UsageError" and done.exit_code == 2
    for wrong in (["publish", "--json"], ["nothing", "--json"], ["--json"]):
        done = hedge(*wrong)
        assert json.loads(done.stderr)["error"]["exit_code"] == done.exit_code == 2


def test_with_several_rows_per_person_amounts_are_per_row(hedge: Hedge, tmp_path: Path) -> None:
    schema, data = tmp_path / "s.yaml", tmp_path / "d.csv"
    schema.write_text(
        "name: t\nunit: person\nattributes:\n  who: {role: person, max_rows: 3}\n"
        "  age: {type: numeric, low: 0, high: 99}\n",
        encoding="utf-8",
    )
    data.write_text("who,age\na,4\na,5\nb,6\n", encoding="utf-8")
    words = ["publish", data, "--schema", schema, "--epsilon", 1, "--out", tmp_path / "r"]
    done = hedge(*words, "--verbose")
    assert done.exit_code == 0 and "for any one row" in done.stdout, done.stderr
    assert "any one person (with at most 3 rows)" in done.stdout
    assert json.loads(hedge(*words, "--json", "--overwrite").stdout)["spent_per"] == "row"
    done = hedge("verify", tmp_path / "r")
    assert done.exit_code == 0, done.stdout


@pytest.mark.parametrize(("epsilon", "words"), [("1/2", "= 1.65 times"), ("8", "= 2,981 times")])
def test_the_promise_says_how_much(
    hedge: Hedge, survey: Path, tmp_path: Path, epsilon: str, words: str
) -> None:
    done = publish(hedge, survey, tmp_path / "r", "--epsilon", epsilon)
    assert words in done.stdout and ("protects weakly" in done.stdout) == (epsilon == "8")


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (
            ["--method", "diffgen", "--depth", 3],
            "Leave --depth out, or take --method diffmulti.",
        ),
        (["--max-cells", 9], "Leave --max-cells out, or take --method diffgen or cdiffgen."),
    ],
)
def test_hints_name_the_way_out(
    hedge: Hedge, survey: Path, tmp_path: Path, options: list[object], hint: str
) -> None:
    done = publish(hedge, survey, tmp_path / "r", "--epsilon", 1, *options)
    assert done.exit_code == 2 and hint in done.stderr


def test_methods_for_tables_are_not_proposed_for_transactions(
    hedge: Hedge, survey: Path, tmp_path: Path
) -> None:
    words = ["--schema", survey / "baskets.yaml", "--epsilon", 1, "--out", tmp_path / "r"]
    done = hedge("publish", survey / "baskets.dat", *words, "--depth", 3)
    assert done.exit_code == 2 and "Leave --depth out.\n" in done.stderr


def test_data_and_schema_that_are_swapped(hedge: Hedge, survey: Path, tmp_path: Path) -> None:
    words = ["--epsilon", 1, "--out", tmp_path / "r"]
    done = hedge("publish", survey / "schema.yaml", "--schema", survey / "people.csv", *words)
    assert done.exit_code == 3 and "Are data and schema swapped?" in done.stderr
    done = hedge("publish", survey / "people.csv", "--schema", survey / "none.yaml", *words)
    assert done.exit_code == 3 and "swapped" not in done.stderr


def test_without_a_stated_unit_nothing_is_published(
    hedge: Hedge, survey: Path, tmp_path: Path
) -> None:
    folder, out = tmp_path / "survey", tmp_path / "release"
    shutil.copytree(survey, folder)
    schema, book = folder / "schema.yaml", tmp_path / "b.ledger"
    text = schema.read_text(encoding="utf-8")
    schema.write_text(text.replace("\nunit: row\n", "\n"), encoding="utf-8")
    assert hedge("ledger", book, "--open", "clinic discharges", "--epsilon", 3).exit_code == 0
    done = publish(hedge, folder, out, "--epsilon", "1", "--ledger", book)
    said = " ".join(done.stderr.split())
    assert done.exit_code == 3 and not out.exists()
    assert "`unit: row`" in said and "`unit: person`" in said and "k times less" in said
    (account,) = json.loads(hedge("ledger", book, "--json").stdout)["datasets"]
    assert account["releases"] == []


def test_a_large_epsilon_is_said_twice(
    hedge: Hedge, survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["publish", survey / "people.csv", "--schema", survey / "schema.yaml"]
    words += ["--method", "diffgen"]
    out = tmp_path / "out"
    for epsilon, more in (("50", []), ("10.5", []), ("50", ["--yes-epsilon", "5"]),
                          ("1", ["--yes-epsilon", "2"]), ("50", ["--json"])):  # fmt: skip
        done = hedge(*words, "--epsilon", epsilon, "--out", out, *more)
        assert done.exit_code == 2 and "twice" in done.stderr, done.stderr
        assert not out.exists()
    for epsilon, more in (("10", []), ("50", ["--yes-epsilon", "50.0"])):
        done = hedge(*words, "--epsilon", epsilon, "--out", out, "--overwrite", *more)
        assert done.exit_code == 0, done.stderr
    monkeypatch.setattr("hedgerow.cli.asking.on_terminal", lambda: True)
    for reply, code in (("50", 0), ("", 2), ("5", 2), ("yes", 2)):
        monkeypatch.setattr("builtins.input", lambda reply=reply: reply)
        done = hedge(*words, "--epsilon", "50", "--out", out, "--overwrite")
        assert done.exit_code == code, done.stderr


def test_publishing_without_a_ledger_says_once_what_that_means(
    hedge: Hedge, survey: Path, tmp_path: Path
) -> None:
    words = ["publish", survey / "people.csv", "--schema", survey / "schema.yaml", "--epsilon", 1]
    told = "nobody adds up"
    done = hedge(*words, "--out", tmp_path / "a")
    assert " ".join(done.stderr.split()).count(told) == 1 and told not in done.stdout
    ledger = tmp_path / "x.ledger"
    assert hedge("ledger", ledger, "--open", "people", "--epsilon", 3).exit_code == 0
    done = hedge(*words, "--out", tmp_path / "b", "--ledger", ledger, "--dataset", "people")
    assert done.exit_code == 0 and told not in done.stderr
