from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hedgerow.release.files import Target

Hedge = Callable[..., Any]
NAME = "clinic discharges"  # what the schema of the sample is called


@pytest.fixture
def book(hedge: Hedge, tmp_path: Path) -> Path:
    path = tmp_path / "b.ledger"
    done = hedge("ledger", path, "--open", NAME, "--epsilon", "3/2", "--delta", "1e-6")
    assert done.exit_code == 0, done.stderr
    assert "No release has been booked yet" in done.stdout and "1.5" in done.stdout
    return path


def publish(hedge: Hedge, survey: Path, book: Path, *more: object) -> Any:
    return hedge(
        "publish", survey / "people.csv", "--schema", survey / "schema.yaml", "--ledger", book,
        "--out", book.with_name("r"), "--overwrite", *more,
    )  # fmt: skip


def facts(hedge: Hedge, book: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(hedge("ledger", book, "--json").stdout)
    return found


def test_publishing_twice_spends_twice(hedge: Hedge, survey: Path, book: Path) -> None:
    done = publish(hedge, survey, book, "--epsilon", 1)
    assert done.exit_code == 0, done.stderr
    assert "release 1" in done.stdout and "has epsilon 0.5 left" in done.stdout
    before = (book.with_name("r") / "manifest.json").read_bytes()
    done = publish(hedge, survey, book, "--epsilon", "0.6")
    assert done.exit_code == 5 and "0.5 left of 1.5" in done.stderr and "0.6" in done.stderr
    assert (book.with_name("r") / "manifest.json").read_bytes() == before
    done = publish(hedge, survey, book, "--epsilon", "1/2", "--json")
    assert json.loads(done.stdout)["ledger"] == {
        "file": str(book), "dataset": NAME, "release": 2, "epsilon_left": "0",
        "delta_left": "1/1000000",
    }  # fmt: skip
    done = hedge("ledger", book)
    assert done.exit_code == 0 and "replaced by 2" in done.stdout
    (found,) = facts(hedge, book)["datasets"]
    assert found["epsilon"] == {"total": "3/2", "spent": "3/2", "left": "0"}
    assert found["delta"] == {"total": "1/1000000", "spent": "0", "left": "1/1000000"}
    assert [(one["number"], one["epsilon"], one["state"]) for one in found["releases"]] == [
        (1, "1", "published"),
        (2, "1/2", "published"),
    ]


def test_the_data_set_can_be_named(hedge: Hedge, survey: Path, book: Path) -> None:
    done = publish(hedge, survey, book, "--epsilon", 1, "--dataset", "other")
    assert done.exit_code == 5 and "no data set 'other'" in done.stderr and "--open" in done.stderr
    assert hedge("ledger", book, "--open", "other", "--epsilon", 1).exit_code == 0
    assert publish(hedge, survey, book, "--epsilon", 1, "--dataset", "Other").exit_code == 0
    spent = {one["name"]: one["epsilon"]["spent"] for one in facts(hedge, book)["datasets"]}
    assert spent == {NAME: "0", "other": "1"}


@pytest.mark.parametrize(
    "words",
    [
        ["--epsilon", "1"],
        ["--delta", "1e-9"],
        ["--dataset", "x"],
        ["--open", "x"],
        ["--open", "x", "--epsilon", "much"],
        ["--open", "x", "--epsilon", "1", "--delta", "1"],
        ["--open", NAME, "--epsilon", "9"],
        ["--open", "x", "--epsilon", "1", "--raise", NAME],
        ["--raise", NAME, "--epsilon", "9"],
        ["--raise", NAME, "--epsilon", "1", "--reason", "a mistake"],
        ["--same-people", "a", "b", "--reason", "known"],
        ["--note", "1"],
        ["--give-back", "1"],
        ["--give-back", "1", "--reason", "stopped"],
        ["--reason", "none"],
        ["--recipient", "nobody"],
    ],
)
def test_options_that_cannot_be_meant(hedge: Hedge, book: Path, words: list[str]) -> None:
    before = facts(hedge, book)
    done = hedge("ledger", book, *words)
    assert done.exit_code == 2
    if "needs" in done.stderr:
        assert ": " in done.stderr.split("Add")[1]  # it says what to write there
    assert facts(hedge, book) == before


def test_a_seeded_run_and_a_data_set_without_a_ledger(
    hedge: Hedge, survey: Path, book: Path
) -> None:
    assert publish(hedge, survey, book, "--epsilon", 1, "--seed", 1).exit_code == 2
    words = ["publish", "none.csv", "--schema", survey / "schema.yaml", "--epsilon", 1]
    done = hedge(*words, "--out", book.with_name("r"), "--dataset", "x")
    assert done.exit_code == 2 and "--ledger" in done.stderr
    assert facts(hedge, book)["datasets"][0]["releases"] == []


def test_a_release_that_was_made_without_the_ledger_is_added(
    hedge: Hedge, survey: Path, book: Path, published: Path
) -> None:
    assert hedge("ledger", book, "--add", published, "--dataset", "other").exit_code == 5
    assert hedge("ledger", book, "--add", published).exit_code == 0
    (found,) = facts(hedge, book)["datasets"]
    assert found["epsilon"]["left"] == "1/2"
    assert found["releases"][0]["place"] == str(published)
    assert found["releases"][0]["state"] == "published"
    # it is spent, whatever the total says
    other = release_beside(hedge, survey, book)
    done = hedge("ledger", book, "--add", other)
    assert done.exit_code == 0 and "-0.5" in done.stdout
    assert "spent more than its total" in done.stderr
    assert publish(hedge, survey, book, "--epsilon", "0.1").exit_code == 5


def release_beside(hedge: Hedge, survey: Path, book: Path) -> Path:
    out = book.with_name("beside")
    words = ["publish", survey / "people.csv", "--schema", survey / "schema.yaml", "--epsilon", 1]
    assert hedge(*words, "--out", out).exit_code == 0
    return out


def test_a_release_is_added_once(
    hedge: Hedge, survey: Path, book: Path, published: Path, tmp_path: Path
) -> None:
    shutil.copytree(published, tmp_path / "copy")
    (tmp_path / "link").symlink_to(published)
    assert hedge("ledger", book, "--add", published).exit_code == 0
    for again in (published, tmp_path / "copy", tmp_path / "link"):
        done = hedge("ledger", book, "--add", again)
        assert done.exit_code == 2 and "release 1" in done.stderr
    assert len(facts(hedge, book)["datasets"][0]["releases"]) == 1
    # the same release may be about the people of two data sets
    assert hedge("ledger", book, "--open", "other", "--epsilon", 1).exit_code == 0
    assert hedge("ledger", book, "--add", published, "--dataset", "other").exit_code == 0


def test_what_a_release_states_is_not_taken_on_trust(
    hedge: Hedge, survey: Path, book: Path, published: Path, tmp_path: Path
) -> None:
    shutil.copytree(published, tmp_path / "copy")
    manifest = json.loads((published / "manifest.json").read_text())
    manifest["guarantee"]["epsilon"] = "1/100"
    (tmp_path / "copy" / "manifest.json").write_text(json.dumps(manifest))
    done = hedge("ledger", book, "--add", tmp_path / "copy")
    assert done.exit_code == 6 and "does not verify" in done.stderr and "guarantee" in done.stderr
    assert facts(hedge, book)["datasets"][0]["releases"] == []


def test_a_file_beside_a_release_does_not_keep_it_from_being_booked(
    hedge: Hedge, book: Path, published: Path, tmp_path: Path
) -> None:
    shutil.copytree(published, tmp_path / "copy")
    (tmp_path / "copy" / "notes.txt").write_text("ours")
    assert hedge("ledger", book, "--add", tmp_path / "copy").exit_code == 0


def test_a_seeded_release_is_not_added(hedge: Hedge, survey: Path, book: Path) -> None:
    words = ["publish", survey / "people.csv", "--schema", survey / "schema.yaml", "--epsilon", 1]
    assert hedge(*words, "--out", book.with_name("r"), "--seed", 1).exit_code == 0
    done = hedge("ledger", book, "--add", book.with_name("r"))
    assert done.exit_code == 6 and "seeded" in done.stderr
    assert facts(hedge, book)["datasets"][0]["releases"] == []


def test_no_ledger(hedge: Hedge, survey: Path, tmp_path: Path) -> None:
    done = hedge("ledger", tmp_path / "b.ledger")
    assert done.exit_code == 6 and "--open" in done.stderr
    assert publish(hedge, survey, tmp_path / "b.ledger", "--epsilon", 1).exit_code == 6
    assert list(tmp_path.iterdir()) == []
    done = hedge("ledger", survey / "people.csv")
    assert done.exit_code == 6 and "not a ledger" in done.stderr


def test_a_release_that_cannot_be_saved_stays_booked(
    hedge: Hedge, survey: Path, book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hedgerow.release.base.Release._manifest", full)
    done = publish(hedge, survey, book, "--epsilon", 1)
    assert done.exit_code == 6 and "stays booked" in done.stderr
    done = publish(hedge, survey, book, "--epsilon", "1/4", "--json")
    assert "stays booked" in json.loads(done.stderr)["error"]["warnings"][0]
    assert facts(hedge, book)["datasets"][0]["epsilon"]["spent"] == "5/4"
    assert "It counts." in hedge("ledger", book).stdout


def test_a_run_that_is_stopped_while_it_draws_stays_booked(
    hedge: Hedge, survey: Path, book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hedgerow.privacy.keystream import Keystream

    refill = Keystream.refill

    def stop(stream: Keystream) -> None:
        refill(stream)
        raise KeyboardInterrupt

    monkeypatch.setattr(Keystream, "refill", stop)
    done = publish(hedge, survey, book, "--epsilon", 1)
    assert done.exit_code == 130 and "stays booked" in done.stderr
    assert facts(hedge, book)["datasets"][0]["releases"][0]["state"] == "booked"


def test_a_run_that_is_stopped_after_it_wrote_says_so(
    hedge: Hedge, survey: Path, book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hedgerow.release.files.note_saved", stop)
    done = publish(hedge, survey, book, "--epsilon", 1)
    assert done.exit_code == 130 and "was written before the run ended" in done.stderr
    monkeypatch.setattr("hedgerow.release.base.Release._manifest", stop)
    done = publish(hedge, survey, book, "--epsilon", "1/4")
    assert done.exit_code == 130 and "was not written" in done.stderr


def test_what_was_not_drawn_is_withdrawn(
    hedge: Hedge, survey: Path, book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hedgerow.methods.marginals.Marginals.run", stop)
    assert publish(hedge, survey, book, "--epsilon", 1).exit_code == 130
    assert facts(hedge, book)["datasets"][0]["epsilon"]["left"] == "3/2"
    assert "It does not count." in hedge("ledger", book).stdout


def nothing_was_booked(hedge: Hedge, book: Path) -> bool:
    (found,) = facts(hedge, book)["datasets"]
    return bool(found["releases"] == [] and not [*book.parent.glob(".*")])


def test_a_second_run_with_the_same_folder_costs_nothing(
    hedge: Hedge, survey: Path, book: Path
) -> None:
    other = Target(book.with_name("r"))
    done = publish(hedge, survey, book, "--epsilon", 1)
    assert done.exit_code == 6 and "another run" in done.stderr
    other.close()
    assert nothing_was_booked(hedge, book)
    assert publish(hedge, survey, book, "--epsilon", 1).exit_code == 0


@pytest.mark.parametrize("out", ["/proc/self/r", "/sys/r", "{book}/r"])
def test_a_folder_that_cannot_be_written_costs_nothing(
    hedge: Hedge, survey: Path, book: Path, out: str
) -> None:
    done = publish(hedge, survey, book, "--epsilon", 1, "--out", out.format(book=book))
    assert done.exit_code == 6 and "cannot write" in done.stderr
    assert nothing_was_booked(hedge, book)


@pytest.mark.skipif(os.name == "nt", reason="POSIX limits")
@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ([], 6, "may take 67 MB"),  # what the plan says nothing about
        (["--method", "diffmulti", "--specializations", 2, "--depth", 2, "--engine", "streamed"],
         4, "scratch files"),
        (["--method", "diffmulti", "--specializations", 100_000], 6, "may take"),
    ],
)  # fmt: skip
def test_a_full_disk_costs_nothing(
    hedge: Hedge, survey: Path, book: Path, words: list[object], code: int, told: str
) -> None:
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 25, limits[1]))
    try:
        done = publish(hedge, survey, book, "--epsilon", 1, *words)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert done.exit_code == code and told in done.stderr
    assert nothing_was_booked(hedge, book)


def test_a_run_that_was_stopped_is_given_back_with_a_reason(
    hedge: Hedge, survey: Path, book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(error: BaseException) -> Callable[..., None]:
        def raises(*_: Any) -> None:
            raise error

        return raises

    for number, error in enumerate((KeyboardInterrupt(), MemoryError()), start=1):
        with monkeypatch.context() as patch:
            patch.setattr("hedgerow.methods.marginals.buy_tables", stop(error))
            done = publish(hedge, survey, book, "--epsilon", "0.5")
        assert done.exit_code != 0 and f"stays booked as release {number}" in done.stderr
        assert ("--give-back 1" in done.stderr) is (number == 1)
    reason = ["--reason", "the building lost power"]
    done = hedge("ledger", book, "--give-back", 2, *reason)
    assert done.exit_code == 2 and "failed by itself" in done.stderr
    done = hedge("ledger", book, "--give-back", 1, *reason)
    assert done.exit_code == 0 and "the building lost power" in done.stdout
    (found,) = facts(hedge, book)["datasets"]
    assert [one["state"] for one in found["releases"]] == ["returned", "booked"]
    assert found["releases"][1]["ended"] == "failed: MemoryError"
    assert found["epsilon"]["left"] == "1" and found["history"][0]["kind"] == "returned"


def test_notes_totals_and_people(hedge: Hedge, survey: Path, book: Path) -> None:
    words = ["--recipient", "the ministry", "--purpose", "a study"]
    assert publish(hedge, survey, book, "--epsilon", "1.5", *words).exit_code == 0
    assert hedge("ledger", book, "--note", 1, "--purpose", "two studies").exit_code == 0
    done = publish(hedge, survey, book, "--epsilon", "0.5")
    assert done.exit_code == 5 and "--open" not in done.stderr
    more = ["--raise", NAME, "--epsilon", 2, "--delta", "1e-5", "--reason", "the board agreed"]
    assert hedge("ledger", book, *more).exit_code == 0
    done = publish(hedge, survey, book, "--epsilon", "0.5", "--out", book.with_name("s"))
    assert done.exit_code == 0
    same = ["--same-people", "patient_id", "MRN", "--dataset", NAME, "--reason", "one registry"]
    assert hedge("ledger", book, *same).exit_code == 0
    done = hedge("ledger", book)
    shown = " ".join(done.stdout.split())
    for text in ("the ministry", "two studies", "the board agreed", "MRN", "one registry"):
        assert text.split()[-1] in shown
    (found,) = facts(hedge, book)["datasets"]
    assert found["releases"][0]["recipient"] == "the ministry"
    assert found["releases"][0]["purpose"] == "two studies"
    assert [one["kind"] for one in found["history"]] == ["note", "note", "total", "same people"]
    assert found["epsilon"]["total"] == "2" and found["delta"]["total"] == "1/100000"
    done = hedge("publish", "none.csv", "--schema", survey / "schema.yaml", "--epsilon", 1,
                 "--out", book.with_name("t"), "--recipient", "x")  # fmt: skip
    assert done.exit_code == 2 and "--ledger" in done.stderr


def test_a_name_like_one_that_is_there_is_warned_about(hedge: Hedge, book: Path) -> None:
    done = hedge("ledger", book, "--open", "clinic discharge", "--epsilon", 1)
    assert done.exit_code == 0 and "the same people" in done.stderr
    done = hedge("ledger", book, "--open", "schools", "--epsilon", 1)
    assert done.exit_code == 0 and "the same people" not in done.stderr


def test_the_examples_of_the_page_run(
    hedge: Hedge, survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Path(__file__).parents[2] / "docs" / "privacy" / "ledger.md"
    blocks = dict(re.findall(r"^```(\w+)\n(.*?)^```", page.read_text("utf-8"), re.M | re.S))
    for name in ("people.csv", "schema.yaml", "taxonomies"):
        copy = shutil.copytree if (survey / name).is_dir() else shutil.copy
        copy(survey / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    for line in blocks["sh"].splitlines():
        done = hedge(*shlex.split(line)[1:])
        assert done.exit_code == 0, done.stderr
    assert "published" in done.stdout
    shutil.rmtree(tmp_path / "release")
    exec(blocks["python"], {})
    found = facts(hedge, tmp_path / "clinic.ledger")["datasets"]
    assert [one["epsilon"]["left"] for one in found] == ["2", "2"]
