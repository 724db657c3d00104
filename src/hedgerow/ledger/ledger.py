"""The budget ledger of a data set: what all releases about its people cost together."""

from __future__ import annotations

import getpass
import glob
import os
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from hedgerow.disk import Hold
from hedgerow.errors import HedgerowError, ReleaseError, UsageError
from hedgerow.ledger import file as book_file
from hedgerow.ledger.file import (
    PERSON,
    Account,
    Entry,
    check_text,
    damage,
    digest_of,
    name_of,
    plain,
    read_accounts,
    refuse_unknown,
)
from hedgerow.privacy.budget import Budget, Number
from hedgerow.privacy.keystream import unique_id
from hedgerow.suggestions import LEDGER, Suggestions, answer_mistakes, check_arguments, check_fields

# The entry of a run in a budget ledger, from before it draws until its release is saved.
#
#     reserved -> booked -> drawn -> published
#         |          |
#         |          +-> returned (a person gave it back)
#         +-> withdrawn (nothing was drawn)
#
# Each step is one transaction, and the file refuses every other step. Random words are made, then
# the entry becomes `booked`, then the words can be used (`Keystream.before_use`). So whatever used
# a word is booked, and whatever is booked has read the random source. A `reserved` entry whose
# process is gone never used a word, and the next look at the ledger withdraws it. That look may be
# mistaken about the process: a run whose entry was withdrawn cannot make it `booked` any more, and
# draws nothing.


def as_text(place: str | os.PathLike[str]) -> str:
    """A folder for the ledger; its name may hold bytes that are not text."""
    return os.fsencode(Path(place).absolute()).decode("utf-8", "replace")


@dataclass(frozen=True, kw_only=True)
class Notes:
    """What is noted with a release for those who read the ledger later.

    Args:
        place: The folder that the release is to be saved to.
        recipient: For whom it is made.
        purpose: What for.
    """

    place: str | os.PathLike[str] | None = None
    recipient: str | None = None
    purpose: str | None = None

    def __post_init__(self) -> None:
        """Refuses notes that cannot be meant."""
        check_fields(self)

    def texts(self) -> tuple[str | None, str | None]:
        """Recipient and purpose as the ledger records them."""
        words = {"recipient": self.recipient, "purpose": self.purpose}
        first, second = (
            None if text is None else check_text(what, text) for what, text in words.items()
        )
        return first, second


@dataclass(frozen=True, kw_only=True)
class Booking:
    """An entry that was just made.

    Args:
        path: The file of the ledger.
        dataset: The name of the data set.
        number: The number of the entry.
        booked: When it was made.
        left: What it leaves to other releases.
        release_id: What the manifest is to call the release, so that the entry is found again.
        hold: The lock that tells others that its run is alive.
        noted: Whether the entry was there already and was only completed.
    """

    path: Path
    dataset: str
    number: int
    booked: str
    left: tuple[Fraction, Fraction]
    release_id: str | None = None
    hold: Hold | None = field(default=None, repr=False, compare=False)
    noted: bool = False

    def begin_drawing(self) -> None:
        """Notes that random words are about to be used. Use none if it raises.

        Raises:
            ReleaseError: If the ledger cannot be written, or another program withdrew the entry.
        """
        with book_file.transaction(self.path, writes=True) as file:
            if self._state(file) != "reserved":
                raise ReleaseError(
                    f"release {self.number} of {self.dataset!r} was withdrawn in {self.path} by a "
                    "program that did not see this run, so it draws nothing",
                    hint="Run it again. Keep budget ledgers on a disk of this machine: others may "
                    "not lock files.",
                )
            self._move(file, "booked")

    def hand_over(self) -> None:
        """Notes that the outcome is complete. Show it to nobody before.

        Raises:
            ReleaseError: If the ledger cannot be written, or the entry was given back meanwhile.
        """
        with book_file.transaction(self.path, writes=True) as file:
            state = self._state(file)
            if state == "reserved":
                self._move(file, "booked")
            elif state != "booked":
                raise damage(self.path, "this run was closed before it ended")
            self._move(file, "drawn")

    def mark_published(self, place: str | os.PathLike[str]) -> None:
        """Notes that the release was saved, and which one it replaced. It was paid for before.

        Raises:
            HedgerowError: If the ledger cannot be written or does not know the release.
        """
        words, digest = as_text(place), digest_of(place)
        with book_file.transaction(self.path, writes=True) as file:
            state = self._state(file)
            if state == "booked":
                self._move(file, "drawn")
            elif state not in ("drawn", "published"):
                raise damage(self.path, f"this release is {state} there")
            _mark_saved(file, self.number, words, digest)
        self._let_go()

    def withdraw(self) -> None:
        """Takes the entry back; only for a run that drew nothing. What fails is swept later."""
        with suppress(HedgerowError), book_file.transaction(self.path, writes=True) as file:
            if self._state(file) in ("reserved", "booked"):
                self._move(file, "withdrawn")
        self._let_go()

    def note_end(self, words: str) -> None:
        """Notes how the run ended before its release was saved, if that is possible."""
        with suppress(HedgerowError), book_file.transaction(self.path, writes=True) as file:
            if self._state(file) in ("booked", "drawn"):
                file.execute("UPDATE entries SET ended = ? WHERE number = ?", (words, self.number))
        self._let_go()

    def facts(self) -> dict[str, Any]:
        """The booking for machines, with what it leaves."""
        return {
            "file": str(self.path),
            "dataset": self.dataset,
            "release": self.number,
            "epsilon_left": str(self.left[0]),
            "delta_left": str(self.left[1]),
        }

    def _state(self, file: Any) -> str:
        # the time is compared too, in case the file was replaced by an older copy of itself
        row = file.execute(
            "SELECT state FROM entries WHERE number = ? AND booked = ?", (self.number, self.booked)
        ).fetchone()
        if row is None:
            raise damage(self.path, "it does not know this release any more")
        return str(row[0])

    def _move(self, file: Any, state: str) -> None:
        file.execute("UPDATE entries SET state = ? WHERE number = ?", (state, self.number))

    def _let_go(self) -> None:
        if self.hold is not None:
            self.hold.close()


def _mark_saved(file: Any, number: int, place: str, digest: str | None) -> None:
    """Notes where a release was first saved, and which ones it replaced there: they still count."""
    file.execute(
        "UPDATE entries SET state = 'published', place = ?, digest = ? "
        "WHERE number = ? AND state = 'drawn'",
        (place, digest, number),
    )
    for other, there in file.execute(
        "SELECT number, place FROM entries WHERE state = 'published' AND replaced IS NULL "
        "AND number <> ? AND place IS NOT NULL AND (digest IS NULL OR digest IS NOT ?)",
        (number, digest),
    ).fetchall():
        if os.path.realpath(there) == os.path.realpath(place):
            file.execute("UPDATE entries SET replaced = ? WHERE number = ?", (number, other))


# The budget ledger: what all releases of a data set cost together.
#
# The ledger of `privacy/ledger.py` keeps the paths of ONE release within its budget. The budget
# ledger keeps the releases of one data set within a total, over months and programs: the file that
# `--ledger` names. Releases follow basic composition: epsilons add up and deltas add up, also when
# settings are chosen after seeing earlier releases (docs/privacy/ledger.md).
#
# An entry is made before anything is drawn and is never removed (see `Booking`). It counts unless
# its run drew nothing, or a person gave it back with a recorded reason.


class BudgetLedger(Suggestions):
    """What the releases of data sets have spent, and their totals, in a file.

    Args:
        path: The file. Symbolic links are followed; it must have no second name (hard link).

    Example:
        >>> import tempfile
        >>> ledger = BudgetLedger(Path(tempfile.mkdtemp()) / "clinic.ledger")
        >>> ledger.open("clinic", epsilon=2).left
        (Fraction(2, 1), Fraction(0, 1))
        >>> booking = ledger.book("clinic", Budget.of("0.5"), method="diffmulti", unit="row")
        >>> booking.left
        (Fraction(3, 2), Fraction(0, 1))
        >>> ledger.book("clinic", Budget.of("1.6"), method="diffmulti", unit="row")
        Traceback (most recent call last):
        ...
        hedgerow.errors.BudgetError: the data set 'clinic' has epsilon 1.5 left of 2, and this ...
    """

    _suggestions = LEDGER

    @answer_mistakes
    def __init__(self, path: str | Path) -> None:
        check_arguments(BudgetLedger.__init__, locals())
        if not os.fspath(path):
            raise UsageError("the ledger has no name.", hint="Name a file, such as clinic.ledger.")
        self.path = Path(os.path.realpath(path))

    @answer_mistakes
    def open(self, name: str, epsilon: Number, *, delta: Number = 0) -> Account:
        """Opens an account for a data set; the file is made if there is none.

        Args:
            name: What the steward calls the data set.
            epsilon: What all its releases may cost one person together.
            delta: The same for delta; 0 if all releases are to be pure.

        Raises:
            UsageError: If the name or the total cannot be meant, or the account is open already.
            ReleaseError: If the file cannot be used.

        Example:
            >>> import tempfile
            >>> ledger = BudgetLedger(Path(tempfile.mkdtemp()) / "clinic.ledger")
            >>> ledger.open("clinic", epsilon="1/2").left
            (Fraction(1, 2), Fraction(0, 1))
        """
        check_arguments(BudgetLedger.open, locals())
        total = Budget.of(epsilon, delta)
        shown, key = name_of(name)
        if not os.path.exists(self.path):
            with suppress(FileExistsError):  # somebody else began it just now
                book_file.create(self.path)
        with book_file.transaction(self.path, writes=True) as file:
            if key in read_accounts(self.path, file):
                raise UsageError(
                    f"the data set {shown!r} is in {self.path} already, with its total.",
                    hint="Look at it with `hedgerow ledger FILE`. To raise its total, with a "
                    f"record of it: hedgerow ledger FILE --raise {shown!r} --epsilon TOTAL "
                    "--reason WHY.",
                )
            file.execute(
                "INSERT INTO accounts VALUES (?, ?, ?, ?, ?)",
                (key, shown, str(total.epsilon), str(total.delta), _now()),
            )
            return read_accounts(self.path, file)[key]

    def accounts(self) -> tuple[Account, ...]:
        """All data sets, in the order of their names.

        Example:
            >>> import tempfile
            >>> ledger = BudgetLedger(Path(tempfile.mkdtemp()) / "clinic.ledger")
            >>> account = ledger.open("clinic", epsilon=2)
            >>> [one.name for one in ledger.accounts()]
            ['clinic']
        """
        with book_file.transaction(self.path, writes=False) as file:
            accounts = read_accounts(self.path, file)
        if any(one.state == "reserved" for account in accounts.values() for one in account.entries):
            with suppress(HedgerowError), book_file.transaction(self.path, writes=True) as file:
                accounts = self._sweep(file)
        return tuple(account for _, account in sorted(accounts.items()))

    def check(
        self, dataset: str, budget: Budget, *, method: str, unit: str, notes: Notes | None = None
    ) -> None:
        """Makes an entry and takes it back: raises what `book` would raise.

        Call it before data is read: a run that cannot be booked need not begin.
        """
        check_arguments(BudgetLedger.check, locals())
        with book_file.transaction(self.path, writes=True, keep=False) as file:
            self._enter(file, dataset, budget, method, unit, notes or Notes())

    def book(
        self, dataset: str, budget: Budget, *, method: str, unit: str, notes: Notes | None = None
    ) -> Booking:
        """Books a release. Call it before anything is drawn; draw nothing if it raises.

        From then on it is spent, whatever becomes of it. A run that could still fail before it
        draws is better reserved (`reserve`).

        Args:
            dataset: The name of the data set.
            budget: What the release may cost one person.
            method: The name of the method.
            unit: Whom the release protects; losses of rows and of people do not add up.
            notes: What else the ledger should record about it.

        Raises:
            BudgetError: If the data set has no account, or less left than that.
            ReleaseError: If the file cannot be used.
        """
        booking = self.reserve(dataset, budget, method=method, unit=unit, notes=notes)
        booking.begin_drawing()
        return booking

    def reserve(
        self, dataset: str, budget: Budget, *, method: str, unit: str, notes: Notes | None = None
    ) -> Booking:
        """Sets budget aside for a run, as long as this process keeps what it gives.

        The entry counts at once. It is withdrawn if the process ends, or forgets the booking,
        before `Booking.begin_drawing`; draw nothing before that.

        Args:
            dataset: As for `book`.
            budget: As for `book`.
            method: As for `book`.
            unit: As for `book`.
            notes: As for `book`.
        """
        check_arguments(BudgetLedger.reserve, locals())
        hold, release_id = None, unique_id()
        try:
            with book_file.transaction(self.path, writes=True) as file:
                account, number, booked = self._enter(
                    file, dataset, budget, method, unit, notes or Notes(), release_id=release_id
                )
                hold = Hold.take(self._alive(number))
                if hold is None:
                    raise damage(
                        self.path, "a run is going on that it knows nothing of, as an older copy"
                    )
                left = account.left[0] - budget.epsilon, account.left[1] - budget.delta
            return Booking(
                path=self.path, dataset=account.name, number=number, booked=booked, left=left,
                release_id=release_id, hold=hold,
            )  # fmt: skip
        except OSError as error:
            raise ReleaseError(
                f"no lock can be made beside the ledger {self.path}: "
                f"{error.strerror or 'the system refused'}",
                hint="Ask for the right to write to its folder. Nothing was drawn.",
            ) from None
        except BaseException:
            if hold is not None:
                hold.close()
            raise

    def add(
        self,
        dataset: str,
        budget: Budget,
        *,
        method: str,
        unit: str,
        place: str | Path,
        notes: Notes | None = None,
    ) -> Booking:
        """Books a release made without this ledger, even beyond the total: it is spent.

        The caller vouches for the budget: see that the release verifies first. A release whose run
        was stopped when it had been saved and not yet noted is not booked again, but noted. One
        that lies where another lay marks that one as replaced.

        Raises:
            UsageError: If the data set has this release already.
            BudgetError: If the data set has no account.
        """
        check_arguments(BudgetLedger.add, locals())
        words, digest = as_text(place), digest_of(place)
        noted = False
        with book_file.transaction(self.path, writes=True) as file:
            account = self._account(file, dataset)
            entry = account.find(Path(place), digest)
            if entry is not None:
                noted = entry.state == "drawn"
                if not noted:
                    account.refuse_again(entry, place)
                number, booked = entry.number, entry.booked
            else:
                _, number, booked = self._enter(
                    file, dataset, budget, method, unit, notes or Notes(), (words, digest)
                )
            _mark_saved(file, number, words, digest)
            left = self._account(file, dataset).left
        return Booking(
            path=self.path, dataset=account.name, number=number, booked=booked, left=left,
            noted=noted,
        )  # fmt: skip

    def raise_total(
        self,
        dataset: str,
        epsilon: Number | None = None,
        delta: Number | None = None,
        *,
        reason: str,
    ) -> Account:
        """Raises what all releases of a data set may cost together, and records who did, and why.

        Args:
            dataset: The name of the data set.
            epsilon: The new total; as before if it is left out.
            delta: The same for delta.
            reason: Why the people in the data may be asked for more.

        Raises:
            UsageError: If that is no more than before.
        """
        check_arguments(BudgetLedger.raise_total, locals())
        why = check_text("reason", reason)
        with book_file.transaction(self.path, writes=True) as file:
            account = self._account(file, dataset)
            before = (account.epsilon, account.delta)
            total = Budget.of(
                before[0] if epsilon is None else epsilon, before[1] if delta is None else delta
            )
            after = (total.epsilon, total.delta)
            if after == before or any(a < b for a, b in zip(after, before, strict=True)):
                raise UsageError(
                    f"the total of {account.name!r} is epsilon {plain(before[0])} and delta "
                    f"{plain(before[1])}, and can only be raised.",
                    hint="Give a larger epsilon, a larger delta, or both.",
                )
            self._record(file, dataset, "total", str(after[0]), str(after[1]), why)
            return self._account(file, dataset)

    def same_people(self, dataset: str, column: str, other: str, *, reason: str) -> Account:
        """Notes that two person columns of a data set's tables identify the same people.

        Releases per person by either column then add up. That is right if each person has one
        identifier of each kind: leaving somebody out leaves out one value of each column.

        Args:
            dataset: The name of the data set.
            column: A column that people are told apart by.
            other: Another one, of another table.
            reason: How that is known.
        """
        check_arguments(BudgetLedger.same_people, locals())
        why = check_text("reason", reason)
        names = [check_text("name of a column", text) for text in (column, other)]
        units = [PERSON + name for name in names]
        with book_file.transaction(self.path, writes=True) as file:
            if units[1] in self._account(file, dataset).same(units[0]):
                raise UsageError(f"{names[0]!r} and {names[1]!r} are known as the same already.")
            self._record(file, dataset, "same people", units[0], units[1], why)
            return self._account(file, dataset)

    def note(
        self, number: int, *, recipient: str | None = None, purpose: str | None = None
    ) -> Account:
        """Notes for whom a release was made and what for, or corrects such a note.

        Raises:
            UsageError: If there is no such release, or nothing to note.
        """
        check_arguments(BudgetLedger.note, locals())
        first, second = Notes(recipient=recipient, purpose=purpose).texts()
        if first is None and second is None:
            raise UsageError(
                "there is nothing to note.", hint="Add --recipient WHO or --purpose WHAT."
            )
        with book_file.transaction(self.path, writes=True) as file:
            account, _ = self._entry(file, number)
            self._record(file, account.name, "note", first, second, entry=number)
            return self._account(file, account.name)

    def give_back(self, number: int, *, reason: str) -> Account:
        """Gives back the budget of a run that was stopped from outside; see docs/privacy/ledger.md.

        Only a person can know that the run was stopped for a reason that has nothing to do with
        the data or with what was drawn, and that nobody acts on what was seen of the run. The
        ledger checks that its process is gone, that it did not fail by itself, and that its outcome
        was never handed over.

        Raises:
            UsageError: If the entry may not be given back.
        """
        check_arguments(BudgetLedger.give_back, locals())
        why = check_text("reason", reason)
        with book_file.transaction(self.path, writes=True) as file:
            account, entry = self._entry(file, number)
            account.refuse_return(entry, Hold.is_held(self._alive(number)))
            file.execute("UPDATE entries SET state = 'returned' WHERE number = ?", (number,))
            self._record(file, account.name, "returned", reason=why, entry=number)
            return self._account(file, account.name)

    def _enter(
        self, file: Any, dataset: str, budget: Budget, method: str, unit: str, notes: Notes,
        saved: tuple[str, str | None] | None = None, release_id: str | None = None,
    ) -> tuple[Account, int, str]:  # fmt: skip
        """Makes an entry; the account before it, its number and its time."""
        account = self._account(file, dataset)
        account.refuse_mixture(unit)
        if saved is None:
            account.refuse_overdraft(budget)
        texts, booked = notes.texts(), _now()
        place = None if notes.place is None else as_text(notes.place)
        state, (place, digest) = ("reserved", (place, None)) if saved is None else (
            "published", saved)  # fmt: skip
        facts = {
            "key": name_of(dataset)[1], "unit": unit, "method": method,
            "epsilon": str(budget.epsilon), "delta": str(budget.delta), "booked": booked,
            "state": state, "place": place, "digest": digest, "release_id": release_id,
        }  # fmt: skip
        number = file.execute(
            f"INSERT INTO entries ({', '.join(facts)}) VALUES (:{', :'.join(facts)})", facts
        ).lastrowid
        assert number is not None
        if texts != (None, None):
            self._record(file, dataset, "note", *texts, entry=number)
        return account, number, booked

    def _account(self, file: Any, dataset: str) -> Account:
        """The account of a data set, dead runs swept."""
        shown, key = name_of(dataset)
        accounts = self._sweep(file)
        if key not in accounts:
            refuse_unknown(self.path, shown, accounts.values())
        return accounts[key]

    def _entry(self, file: Any, number: int) -> tuple[Account, Entry]:
        for account in self._sweep(file).values():
            for entry in account.entries:
                if entry.number == number:
                    return account, entry
        raise UsageError(
            f"{self.path} has no release {number}.", hint="Look with `hedgerow ledger FILE`."
        )

    def _sweep(self, file: Any) -> dict[str, Account]:
        """The whole ledger, once entries of runs that died before they drew were withdrawn."""
        for path in self.path.parent.glob("." + glob.escape(self.path.name) + ".run-*"):
            with suppress(OSError):
                Hold.is_held(path)  # what nobody holds is removed
        for (number,) in file.execute(
            "SELECT number FROM entries WHERE state = 'reserved'"
        ).fetchall():
            if not self._alive(number).exists():
                file.execute(
                    "UPDATE entries SET state = 'withdrawn', ended = 'stopped before it drew' "
                    "WHERE number = ?",
                    (number,),
                )
        return read_accounts(self.path, file)

    def _alive(self, number: int) -> Path:
        """The lock file of the run that made an entry."""
        return self.path.parent / f".{self.path.name}.run-{number}"

    def _record(
        self, file: Any, dataset: str, kind: str, first: str | None = None,
        second: str | None = None, reason: str = "", entry: int | None = None,
    ) -> None:  # fmt: skip
        """Notes a change by hand."""
        try:
            who = getpass.getuser()  # the name of the person's account on this machine
        except (KeyError, OSError, ImportError):
            who = "unknown"
        file.execute(
            "INSERT INTO history (key, entry, kind, first, second, reason, who, moment) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (name_of(dataset)[1], entry, kind, first, second, reason, who, _now()),
        )


def _now() -> str:
    return datetime.now(UTC).isoformat()
