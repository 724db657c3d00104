from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hedgerow.errors import BudgetError, ReleaseError, UsageError
from hedgerow.ledger import file as book_file
from hedgerow.ledger.file import LAYOUT_1, unit_of
from hedgerow.ledger.ledger import Booking, BudgetLedger, Notes
from hedgerow.privacy.budget import Budget
from hedgerow.schema import Schema


@pytest.fixture
def book(tmp_path: Path) -> BudgetLedger:
    found = BudgetLedger(tmp_path / "b.ledger")
    found.open("clinic", epsilon=1, delta="1e-6")
    return found


def buy(book: BudgetLedger, epsilon: object, delta: object = 0, **more: str) -> Booking:
    words: Any = {"method": "diffmulti", "unit": "row"} | more
    return book.book("clinic", Budget.of(str(epsilon), str(delta)), **words)


def raw(book: BudgetLedger, *statements: str) -> None:
    """Changes the file behind the book's back."""
    file = sqlite3.connect(book.path, isolation_level=None)
    for statement in statements:
        file.execute(statement)
    file.close()


def test_what_is_spent_is_exact(book: BudgetLedger) -> None:
    for _ in range(3):
        buy(book, "1/3")
    (account,) = book.accounts()
    assert account.spent == (1, 0) and account.left == (0, Fraction(1, 10**6))
    with pytest.raises(BudgetError, match="epsilon 0 left of 1"):
        buy(book, "1e-6")
    assert len(book.accounts()[0].entries) == 3


def test_deltas_add_up_too(book: BudgetLedger) -> None:
    assert buy(book, "0.1", "4e-7").left == (Fraction(9, 10), Fraction(6, 10**7))
    with pytest.raises(BudgetError, match="delta 6e-7 left of 1e-6, and this .* 6.1e-7"):
        buy(book, "0.1", "6.1e-7")
    buy(book, "0.1", "6e-7")
    assert book.accounts()[0].left == (Fraction(8, 10), 0)


@pytest.mark.slow
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.fractions(Fraction(1, 60), 1, max_denominator=60), max_size=12))
def test_whatever_fits_is_booked_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, wanted: list[Fraction]
) -> None:
    book = BudgetLedger(tmp_path_factory.mktemp("book") / "b.ledger")
    book.open("clinic", epsilon=2)
    spent = Fraction(0)
    for epsilon in wanted:
        if spent + epsilon <= 2:
            buy(book, epsilon)
            spent += epsilon
        else:
            with pytest.raises(BudgetError):
                buy(book, epsilon)
        assert book.accounts()[0].spent[0] == spent


def test_a_check_leaves_no_trace(book: BudgetLedger) -> None:
    before = book.accounts()
    book.check("clinic", Budget.of(1), method="diffmulti", unit="row")
    with pytest.raises(BudgetError):
        book.check("clinic", Budget.of(2), method="diffmulti", unit="row")
    assert book.accounts() == before
    assert buy(book, 1).number == 1


def test_a_book_is_never_begun_by_accident(tmp_path: Path) -> None:
    book = BudgetLedger(tmp_path / "mistyped.ledger")
    with pytest.raises(ReleaseError, match="no ledger"):
        buy(book, 1)
    with pytest.raises(ReleaseError, match="no ledger"):
        book.accounts()
    assert list(tmp_path.iterdir()) == []


def test_a_data_set_is_never_opened_by_accident(book: BudgetLedger) -> None:
    with pytest.raises(BudgetError, match="no data set 'clinics'"):
        book.book("clinics", Budget.of(1), method="diffmulti", unit="row")


@pytest.mark.parametrize("name", ["clinic", " Clinic ", "CLINIC", "clinic"])
def test_names_that_look_the_same_are_the_same(book: BudgetLedger, name: str) -> None:
    with pytest.raises(UsageError, match="already"):
        book.open(name, epsilon=5)
    assert book.book(name, Budget.of(1), method="diffmulti", unit="row").left[0] == 0
    assert book.accounts()[0].epsilon == 1


@pytest.mark.parametrize("name", ["", "  ", "a\x00b", "a\u200bb", "x" * 201])
def test_names_that_cannot_be_told_apart_are_refused(book: BudgetLedger, name: str) -> None:
    with pytest.raises(UsageError, match="name"):
        book.open(name, epsilon=1)


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 0), (-1, 0), ("x", 0), (1000, 0), (1, 1)])
def test_totals_that_cannot_be_meant(tmp_path: Path, epsilon: Any, delta: Any) -> None:
    with pytest.raises(UsageError):
        BudgetLedger(tmp_path / "b.ledger").open("clinic", epsilon, delta=delta)
    assert list(tmp_path.iterdir()) == []


def test_losses_of_rows_and_of_people_are_not_added_up(book: BudgetLedger) -> None:
    first = buy(book, "0.1")
    with pytest.raises(BudgetError, match="per row so far"):
        buy(book, "0.1", unit="person by patient")
    first.withdraw()
    buy(book, "0.1", unit="person by patient")
    with pytest.raises(BudgetError, match="per person by patient so far"):
        buy(book, "0.1", unit="person by household")


def test_states(book: BudgetLedger, tmp_path: Path) -> None:
    one, two, three = (buy(book, "0.2") for _ in range(3))
    one.mark_published(tmp_path / "r")
    one.mark_published(tmp_path / "elsewhere")  # the same release, saved twice
    two.withdraw()
    (account,) = book.accounts()
    assert [entry.state for entry in account.entries] == ["published", "withdrawn", "booked"]
    assert account.entries[0].place == str(tmp_path / "r")
    assert account.spent == (Fraction(4, 10), 0)
    one.withdraw()  # what is published stays so
    with pytest.raises(ReleaseError, match="withdrawn"):
        two.mark_published(tmp_path / "r")
    assert [entry.state for entry in book.accounts()[0].entries] == [
        "published", "withdrawn", "booked"
    ]  # fmt: skip
    assert three.facts()["epsilon_left"] == "2/5"


def test_a_folder_whose_name_is_no_text(book: BudgetLedger) -> None:
    buy(book, "0.2").mark_published(os.fsdecode(b"/tmp/caf\xe9"))
    assert "caf" in (book.accounts()[0].entries[0].place or "")


def test_an_older_copy_does_not_know_the_release(book: BudgetLedger, tmp_path: Path) -> None:
    copy = shutil.copy(book.path, tmp_path / "copy")
    booking = buy(book, "0.2")
    shutil.copy(copy, book.path)
    with pytest.raises(ReleaseError, match="does not know this release"):
        booking.mark_published(tmp_path)
    with pytest.raises(ReleaseError, match="knows nothing of"):
        buy(book, "0.3")  # its number is that of the run, which is alive
    assert booking.hold is not None
    booking.hold.close()
    buy(book, "0.3")  # takes the same number
    with pytest.raises(ReleaseError, match="does not know this release"):
        booking.mark_published(tmp_path)
    booking.withdraw()
    assert [entry.state for entry in book.accounts()[0].entries] == ["booked"]


def test_runs_at_the_same_time_share_one_budget(book: BudgetLedger) -> None:
    outcomes: list[str] = []
    gate = threading.Barrier(8)

    def run() -> None:
        gate.wait()
        try:
            buy(book, "0.3")
            outcomes.append("booked")
        except BudgetError:
            outcomes.append("refused")

    runs = [threading.Thread(target=run) for _ in range(8)]
    for thread in runs:
        thread.start()
    for thread in runs:
        thread.join()
    assert sorted(outcomes) == ["booked"] * 3 + ["refused"] * 5
    assert book.accounts()[0].spent[0] == Fraction(9, 10)


@pytest.mark.skipif(os.name == "nt", reason="POSIX rights")
def test_the_file_is_for_its_owner_alone(book: BudgetLedger) -> None:
    assert stat.S_IMODE(book.path.stat().st_mode) == 0o600


@pytest.mark.skipif(os.name == "nt", reason="needs links")
def test_links(book: BudgetLedger, tmp_path: Path) -> None:
    (tmp_path / "soft").symlink_to(book.path)
    buy(BudgetLedger(tmp_path / "soft"), "0.5")
    assert book.accounts()[0].spent[0] == Fraction(1, 2)
    os.link(book.path, tmp_path / "hard")
    for path in (book.path, tmp_path / "hard"):
        with pytest.raises(ReleaseError, match="hard links"):
            buy(BudgetLedger(path), "0.5")


def _text(path: Path) -> None:
    path.write_text("age,home\n" * 1000, encoding="utf-8")


def _other(path: Path) -> None:
    sqlite3.connect(path).executescript("CREATE TABLE t (a); INSERT INTO t VALUES (1);").close()


@pytest.mark.parametrize("make", [Path.touch, Path.mkdir, _text, _other])
def test_what_is_no_ledger_is_refused_and_left_alone(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    path = tmp_path / "b.ledger"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    for use in (
        lambda book: book.accounts(),
        lambda book: buy(book, 1),
        lambda book: book.open("clinic", 1),
    ):
        with pytest.raises(ReleaseError, match="ledger"):
            use(BudgetLedger(path))
    assert (path.read_bytes() if path.is_file() else None) == before


@pytest.mark.parametrize("where", ["nowhere/b.ledger", "file/b.ledger"])
def test_a_place_where_nothing_can_be_begun(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ReleaseError, match="ledger"):
        BudgetLedger(tmp_path / where).open("clinic", 1)


def test_no_name() -> None:
    with pytest.raises(UsageError):
        BudgetLedger("")


def test_a_later_version(book: BudgetLedger) -> None:
    raw(book, "PRAGMA user_version = 3")
    with pytest.raises(ReleaseError, match="later hedgerow"):
        book.accounts()


@pytest.mark.slow
def test_damaged_bytes(book: BudgetLedger) -> None:
    for _ in range(40):
        buy(book, "0.001")
    content = bytearray(book.path.read_bytes())
    assert len(content) > 2 * 4096
    for place in range(4096, len(content)):
        content[place] ^= 0x55
    book.path.write_bytes(content)
    with pytest.raises(ReleaseError, match="cannot be relied on"):
        buy(book, "0.1")
    book.path.write_bytes(content[:4096])
    with pytest.raises(ReleaseError, match="cannot be relied on"):
        buy(book, "0.1")


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM entries",
        "DELETE FROM accounts",
        "UPDATE entries SET epsilon = '0'",
        "UPDATE accounts SET epsilon = '50'",
        "UPDATE entries SET state = 'withdrawn' WHERE number = 1",
        "UPDATE entries SET place = 'elsewhere'",
        "UPDATE history SET reason = 'none'",
        "DELETE FROM history",
    ],
)
def test_the_file_itself_refuses_to_forget(book: BudgetLedger, statement: str) -> None:
    buy(book, "0.5").mark_published("r")
    book.note(1, recipient="the ministry")
    with pytest.raises(sqlite3.IntegrityError, match="never"):
        raw(book, statement)
    assert book.accounts()[0].left[0] == Fraction(1, 2)


@pytest.mark.parametrize(
    ("trigger", "change", "words"),
    [
        ("entries_stay", "DELETE FROM entries WHERE number = 1", "entries are missing"),
        ("entries_stay", "DELETE FROM entries WHERE number = 2", "entries are missing"),
        ("entries_stay", "DELETE FROM entries", "entries are missing"),
        ("accounts_stay", "DELETE FROM accounts", "belongs to no data set"),
        ("amounts_stay", "UPDATE entries SET epsilon = '-1'", "not a number"),
        ("amounts_stay", "UPDATE entries SET epsilon = '1/0'", "not a number"),
        ("amounts_stay", "UPDATE entries SET epsilon = x'31'", "not a number"),
        ("amounts_stay", "UPDATE entries SET delta = '1e-9'", "not a number"),
        ("totals_stay", "UPDATE accounts SET delta = 'much'", "not a number"),
        ("history_stays", "DELETE FROM history", "history is cut"),
        ("history_unchanged", "UPDATE history SET first = '-1'", "not a number"),
    ],
)
def test_what_was_forced_on_the_file_is_noticed(
    book: BudgetLedger, trigger: str, change: str, words: str
) -> None:
    buy(book, "0.1")
    buy(book, "0.1")
    book.raise_total("clinic", 2, reason="asked the board")
    file = sqlite3.connect(book.path)
    (sql,) = file.execute("SELECT sql FROM sqlite_master WHERE name = ?", (trigger,)).fetchone()
    file.close()
    raw(book, f"DROP TRIGGER {trigger}")
    with pytest.raises(ReleaseError, match="tables are not those"):
        buy(book, "0.1")
    raw(book, change, sql)
    with pytest.raises(ReleaseError, match=words):
        buy(book, "0.1")


def test_a_file_that_another_run_holds(book: BudgetLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book_file, "PATIENCE", 0)
    holder = sqlite3.connect(book.path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(ReleaseError, match="another run"):
        buy(book, "0.1")
    holder.close()
    buy(book, "0.1")


def connecting(monkeypatch: pytest.MonkeyPatch, change: Callable[..., Any]) -> None:
    """Lets `change` see to a connection: it is given the real function and the arguments."""
    real = sqlite3.connect
    monkeypatch.setattr(
        book_file.sqlite3, "connect", lambda *words, **more: change(real, *words, **more)
    )


def test_a_disk_that_cannot_be_written(book: BudgetLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    connecting(
        monkeypatch,
        lambda real, name, **more: real(name.replace("mode=rw", "mode=ro"), **more),
    )
    assert book.accounts()[0].name == "clinic"
    with pytest.raises(ReleaseError, match="cannot be written to"):
        buy(book, "0.1")


def test_a_full_disk(book: BudgetLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    def small(real: Callable[..., Any], *words: Any, **more: Any) -> Any:
        file = real(*words, **more)
        file.execute("PRAGMA max_page_count = 1")  # as many as it has
        return file

    connecting(monkeypatch, small)
    booked = 0
    with pytest.raises(ReleaseError, match="disk is full"):
        while booked < 500:
            buy(book, "0.001")
            booked += 1
    monkeypatch.undo()
    assert len(book.accounts()[0].entries) == booked


@pytest.mark.skipif(os.name == "nt", reason="POSIX limits")
def test_a_disk_that_fails(book: BudgetLedger) -> None:
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, limits[1]))
    try:
        with pytest.raises(ReleaseError, match="disk failed"):
            buy(book, "0.1")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert book.accounts()[0].entries == ()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (sqlite3.SQLITE_IOERR_LOCK, "cannot lock"),
        (sqlite3.SQLITE_PROTOCOL, "cannot be locked"),
        (sqlite3.SQLITE_CANTOPEN, "cannot be opened"),
        (sqlite3.SQLITE_INTERNAL, "cannot be relied on"),
    ],
)
def test_what_network_disks_do(
    book: BudgetLedger, monkeypatch: pytest.MonkeyPatch, code: int, words: str
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        error = sqlite3.OperationalError("no")
        error.sqlite_errorcode = code
        raise error

    connecting(monkeypatch, refuse)
    with pytest.raises(ReleaseError, match=words):
        buy(book, "0.1")


@pytest.mark.parametrize(
    ("document", "unit"),
    [
        ({"unit": "row", "attributes": {"a": {"type": "boolean"}}}, "row"),
        (
            {
                "unit": "person",
                "attributes": {
                    "w": {"role": "person", "max_rows": 3},
                    "a": {"type": "boolean"},
                },
            },
            "person by w",
        ),
        ({"unit": "row", "items": {"universe": ["x", "y"]}}, "transaction"),
        (
            {"unit": "person", "items": {"universe": ["x", "y"], "person": "w", "item": "i"}},
            "person by w",
        ),
    ],
)
def test_whom_a_release_protects(document: dict[str, Any], unit: str) -> None:
    schema = Schema.from_dict({"name": "s"} | document)
    assert unit_of(schema) == unit
    assert unit.startswith("person by ") == (schema.unit == "person")
    assert unit_of(replace(schema, unit=None)) == unit  # an older release may not state it


@pytest.mark.parametrize(
    ("before", "now", "way"),
    [
        ("row", "person by id", "without a `role: person` column"),
        ("transaction", "row", "`items:` and no `person:`"),
        ("person by id", "transaction", "the same column as before"),
    ],
)
def test_a_mixture_is_told_the_way_back_to_what_was_before(tmp_path, before, now, way):
    book = BudgetLedger(tmp_path / "b.ledger")
    book.open("clinic", epsilon=3)
    book.book("clinic", Budget.of(1), method="m", unit=before)
    with pytest.raises(BudgetError) as caught:
        book.book("clinic", Budget.of(1), method="m", unit=now)
    assert way in str(caught.value.hint)


# ---------------------------------------------------------------- totals, people, notes


def test_a_total_is_raised_with_a_record_of_it(book: BudgetLedger) -> None:
    buy(book, 1)
    account = book.raise_total("Clinic", "3/2", reason=" the board  agreed ")
    assert account.left == (Fraction(1, 2), Fraction(1, 10**6))
    account = book.raise_total("clinic", delta="1e-5", reason="a pure release was not enough")
    assert (account.epsilon, account.delta) == (Fraction(3, 2), Fraction(1, 10**5))
    buy(book, "1/2", "1e-5")
    first, second = book.accounts()[0].history
    assert (first.kind, first.first, first.reason) == ("total", "3/2", "the board agreed")
    assert second.second == "1/100000" and first.who and first.moment < second.moment


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(None, None), (1, None), ("0.5", None), (2, 0), (None, "1e-7")]
)
def test_a_total_is_never_lowered(book: BudgetLedger, epsilon: Any, delta: Any) -> None:
    with pytest.raises(UsageError, match="only be raised"):
        book.raise_total("clinic", epsilon, delta, reason="a mistake")
    with pytest.raises(UsageError, match="reason"):
        book.raise_total("clinic", 5, reason="  ")
    assert book.accounts()[0].history == ()


def test_two_columns_that_identify_the_same_people(book: BudgetLedger) -> None:
    buy(book, "0.1", unit="person by patient_id")
    with pytest.raises(BudgetError) as caught:
        buy(book, "0.1", unit="person by MRN")
    assert "--same-people 'patient_id' 'MRN'" in str(caught.value.hint)
    book.same_people("clinic", "patient_id", "MRN", reason="the registry maps one to one")
    book.same_people("clinic", "MRN", "card", reason="printed on it")
    for unit in ("person by MRN", "person by card", "person by patient_id"):
        buy(book, "0.1", unit=unit)
    for unit in ("row", "person by household"):
        with pytest.raises(BudgetError, match="do not add up"):
            buy(book, "0.1", unit=unit)
    with pytest.raises(UsageError, match="already"):
        book.same_people("clinic", "card", "patient_id", reason="again")
    assert book.accounts()[0].spent[0] == Fraction(4, 10)


def test_notes_at_booking_and_later(book: BudgetLedger) -> None:
    notes = Notes(place="r", recipient="the ministry", purpose="a study")
    book.book("clinic", Budget.of("0.1"), method="m", unit="row", notes=notes)
    buy(book, "0.1")
    book.note(2, recipient="a newspaper")
    book.note(1, purpose="another study")
    one, two = book.accounts()[0].entries
    assert (one.recipient, one.purpose) == ("the ministry", "another study")
    assert (two.recipient, two.purpose) == ("a newspaper", None)
    assert [change.entry for change in book.accounts()[0].history] == [1, 2, 1]
    assert one.place == os.path.abspath("r") and two.place is None
    for number, words in ((3, {"purpose": "x"}), (1, {}), (1, {"purpose": "\x1b[2J"})):
        with pytest.raises(UsageError):
            book.note(number, **words)


def test_no_hint_opens_a_second_total_for_people_who_have_one(book: BudgetLedger) -> None:
    hints = []
    buy(book, "0.1", unit="person by id")
    for unit in ("row", "transaction", "person by other"):
        with pytest.raises(BudgetError) as caught:
            buy(book, "0.1", unit=unit)
        hints.append(str(caught.value.hint))
    with pytest.raises(BudgetError) as caught:
        buy(book, 5, unit="person by id")
    hints.append(str(caught.value.hint))
    with pytest.raises(UsageError) as again:
        book.open("clinic", 5)
    hints.append(str(again.value.hint))
    assert not any("--open" in hint or "account of its own" in hint for hint in hints)
    # a name that is not there: first the names that are
    with pytest.raises(BudgetError) as caught:
        book.book("clinics", Budget.of(1), method="m", unit="row")
    named, opened = (str(caught.value.hint).index(word) for word in ("'clinic'.", "--open"))
    assert named < opened and "in none of them" in str(caught.value.hint)


# ---------------------------------------------------------------- one release, one entry


def release_at(place: Path, content: str) -> Path:
    place.mkdir(exist_ok=True)
    (place / "manifest.json").write_text(content, encoding="utf-8")
    return place


def manifest_of(booking: Booking) -> str:
    """What of a manifest the ledger reads."""
    return json.dumps({"ledger": {"release_id": booking.release_id}})


def test_a_release_is_booked_once_wherever_its_copies_lie(
    book: BudgetLedger, tmp_path: Path
) -> None:
    buy(book, "0.2").mark_published(release_at(tmp_path / "r", "one"))
    words: Any = {"method": "diffmulti", "unit": "row"}
    copy = release_at(tmp_path / "copy", "one")
    shutil.rmtree(tmp_path / "r")  # the copy is all that is left
    with pytest.raises(UsageError, match="release 1 of 'clinic'"):
        book.add("clinic", Budget.of("0.2"), place=copy, **words)
    other = release_at(tmp_path / "r", "two")  # another release, where the first one lay
    assert book.add("clinic", Budget.of("0.3"), place=other, **words).number == 2
    with pytest.raises(UsageError, match="release 2"):
        book.add("clinic", Budget.of("0.3"), place=other, **words)
    one, two = book.accounts()[0].entries
    assert (one.replaced, two.replaced) == (2, None) and one.counts
    assert book.accounts()[0].spent[0] == Fraction(1, 2)


def test_a_release_that_was_saved_over_is_marked(book: BudgetLedger, tmp_path: Path) -> None:
    for number, content in enumerate(("one", "two", "three")):
        place = tmp_path / ("r" if number != 1 else "s")
        buy(book, "0.2").mark_published(release_at(place, content))
    assert [entry.replaced for entry in book.accounts()[0].entries] == [3, None, None]
    assert book.accounts()[0].spent[0] == Fraction(6, 10)


def test_a_run_that_was_killed_when_it_had_saved_is_noted_and_not_booked_again(
    book: BudgetLedger, tmp_path: Path
) -> None:
    notes = Notes(place=tmp_path / "r")
    booking = book.book("clinic", Budget.of("0.2"), method="m", unit="row", notes=notes)
    booking.hand_over()
    place = release_at(tmp_path / "r", manifest_of(booking))
    added = book.add("clinic", Budget.of("0.2"), method="m", unit="row", place=place)
    assert added.noted and added.number == 1
    (entry,) = book.accounts()[0].entries
    assert entry.state == "published" and entry.digest is not None


@pytest.mark.parametrize("manifest", ["{}", '{"ledger": {}}', '{"ledger": {"release_id": null}}'])
def test_a_release_of_another_run_is_not_taken_for_the_one_that_was_killed(
    book: BudgetLedger, tmp_path: Path, manifest: str
) -> None:
    # killed between drawing and saving; then a run without the ledger, alike in all, used its place
    words: Any = {"method": "m", "unit": "row"}
    killed = book.book("clinic", Budget.of("0.2"), **words, notes=Notes(place=tmp_path / "r"))
    killed.hand_over()
    place = release_at(tmp_path / "r", manifest)
    added = book.add("clinic", Budget.of("0.2"), **words, place=place)
    assert not added.noted and added.number == 2
    assert book.accounts()[0].spent[0] == Fraction(4, 10)
    assert [entry.state for entry in book.accounts()[0].entries] == ["drawn", "published"]


# ---------------------------------------------------------------- a book of version 1


@pytest.fixture
def old(tmp_path: Path) -> BudgetLedger:
    """A book as version 0.1 wrote it."""
    path = tmp_path / "old.ledger"
    with closing(sqlite3.connect(path)) as file:
        file.executescript(LAYOUT_1)
        file.execute("INSERT INTO accounts VALUES ('clinic', 'Clinic', '1', '1/1000', 'then')")
        for state in ("booked", "published", "withdrawn"):
            file.execute(
                "INSERT INTO entries (key, unit, method, epsilon, delta, booked, state, place) "
                "VALUES ('clinic', 'row', 'm', '1/4', '0', 'then', ?, '/r')",
                (state,),
            )
        file.execute("PRAGMA application_id = 0x68656467")
        file.execute("PRAGMA user_version = 1")
        file.commit()
    return BudgetLedger(path)


def test_a_book_of_version_1_is_read_and_goes_on(old: BudgetLedger) -> None:
    (account,) = old.accounts()
    assert [entry.state for entry in account.entries] == ["drawn", "published", "withdrawn"]
    assert account.left == (Fraction(1, 2), Fraction(1, 1000)) and account.opened == "then"
    assert buy(old, "0.5").number == 4
    with pytest.raises(BudgetError):
        buy(old, "0.1")
    with pytest.raises(UsageError, match="handed over"):  # it may have been seen
        old.give_back(1, reason="it was stopped")


def test_a_damaged_book_of_version_1_is_left_alone(old: BudgetLedger) -> None:
    raw(old, "DROP TRIGGER entries_stay", "DELETE FROM entries WHERE number = 2")
    before = old.path.read_bytes()
    with pytest.raises(ReleaseError, match="cannot be relied on"):
        old.accounts()
    assert old.path.read_bytes() == before
