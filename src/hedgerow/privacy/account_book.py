"""The account book: what all releases of a data set cost together.

The ledger of `privacy/ledger.py` keeps the paths of ONE release within its grant. This book keeps
the releases of one data set within a total, over months and programs: the file that `--ledger`
names. Releases compose in the basic way: epsilons add up and deltas add up, also when settings are
chosen after earlier releases were seen (docs/privacy/ledger.md).

An entry is made before anything is drawn and is never removed. It counts unless it was withdrawn,
which happens only if the run that made it failed before it drew anything.
"""

from __future__ import annotations

import os
import re
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from hedgerow.errors import BudgetError, HedgerowError, UsageError
from hedgerow.privacy import book_file
from hedgerow.privacy.budget import Budget, Number
from hedgerow.schema import Schema
from hedgerow.settings import check_arguments

__all__ = ["Account", "AccountBook", "Booking", "Entry", "plain", "unit_of"]

_AMOUNT = re.compile(r"[0-9]{1,200}(/[0-9]{1,200})?")
_LONGEST_NAME = 200


@dataclass(frozen=True)
class Entry:
    """One release, as it was booked."""

    number: int
    unit: str  # what the release protects: rows, or the people told apart by a column
    method: str
    epsilon: Fraction
    delta: Fraction
    booked: str
    state: Literal["booked", "published", "withdrawn"]
    place: str | None

    @property
    def counts(self) -> bool:
        """Whether its budget is spent."""
        return self.state != "withdrawn"


@dataclass(frozen=True)
class Account:
    """A data set: its total, and every release that was booked."""

    name: str
    epsilon: Fraction
    delta: Fraction
    opened: str
    entries: tuple[Entry, ...]

    @property
    def spent(self) -> tuple[Fraction, Fraction]:
        """The epsilon and the delta of all entries that count."""
        counted = [entry for entry in self.entries if entry.counts]
        return (
            sum((entry.epsilon for entry in counted), Fraction(0)),
            sum((entry.delta for entry in counted), Fraction(0)),
        )

    @property
    def left(self) -> tuple[Fraction, Fraction]:
        """The epsilon and the delta that may still be booked."""
        epsilon, delta = self.spent
        return self.epsilon - epsilon, self.delta - delta


@dataclass(frozen=True)
class Booking:
    """An entry that was just made: it becomes published, or withdrawn, or stays as it is."""

    path: Path
    dataset: str
    number: int
    booked: str
    left: tuple[Fraction, Fraction]

    def mark_published(self, place: str | Path) -> None:
        """Notes that the release was saved. It was paid for either way.

        Raises:
            HedgerowError: If the book cannot be written or knows nothing of the release.
        """
        # the name of a folder may hold bytes that are no text
        words = os.fsencode(Path(place).absolute()).decode("utf-8", "replace")
        self._close("published", words)

    def withdraw(self) -> None:
        """Gives the budget back; only for a run that drew nothing. What fails stays booked."""
        with suppress(HedgerowError):
            self._close("withdrawn", None)

    def facts(self) -> dict[str, Any]:
        """The booking for machines, with what it leaves."""
        return {
            "file": str(self.path),
            "dataset": self.dataset,
            "release": self.number,
            "epsilon_left": str(self.left[0]),
            "delta_left": str(self.left[1]),
        }

    def _close(self, state: str, place: str | None) -> None:
        # the time is compared too, in case the file was replaced by an older copy of itself
        mine = (self.number, self.booked)
        with book_file.transaction(self.path, writes=True) as file:
            found = file.execute(
                "SELECT state FROM entries WHERE number = ? AND booked = ?", mine
            ).fetchone()
            if found is None:
                raise book_file.damaged(self.path, "it does not know this release any more")
            if found == ("booked",):  # else it was saved a second time
                file.execute(
                    "UPDATE entries SET state = ?, place = ? WHERE number = ? AND booked = ?",
                    (state, place, *mine),
                )


class AccountBook:
    """The releases of data sets, in a file.

    Args:
        path: The file. Symbolic links are followed; it must have no second name (hard link).

    Example:
        >>> import tempfile
        >>> book = AccountBook(Path(tempfile.mkdtemp()) / "clinic.ledger")
        >>> book.open("clinic", epsilon=2).left
        (Fraction(2, 1), Fraction(0, 1))
        >>> booking = book.book("clinic", Budget.of("0.5"), method="diffmulti", unit="row")
        >>> booking.left
        (Fraction(3, 2), Fraction(0, 1))
        >>> book.book("clinic", Budget.of("1.6"), method="diffmulti", unit="row")
        Traceback (most recent call last):
        ...
        hedgerow.errors.BudgetError: the data set 'clinic' has epsilon 1.5 left of 2, and this ...
    """

    def __init__(self, path: str | Path) -> None:
        check_arguments(AccountBook.__init__, locals())
        if not os.fspath(path):
            raise UsageError("the ledger has no name.", hint="Name a file, such as clinic.ledger.")
        self.path = Path(os.path.realpath(path))

    def open(self, name: str, epsilon: Number, delta: Number = 0) -> Account:
        """Opens an account for a data set; the file is made if there is none.

        Args:
            name: What the steward calls the data set.
            epsilon: What all its releases may cost one person together.
            delta: The same for delta; 0 if all releases are to be pure.

        Raises:
            UsageError: If the name or the total cannot be meant, or the account is open already.
            ReleaseError: If the file cannot be used.
        """
        check_arguments(AccountBook.open, locals())
        total = Budget.of(epsilon, delta)
        shown, key = _name(name)
        if not os.path.exists(self.path):
            with suppress(FileExistsError):  # somebody else began it just now
                book_file.create(self.path)
        with book_file.transaction(self.path, writes=True) as file:
            if key in self._read(file):
                raise UsageError(
                    f"the data set {shown!r} is in {self.path} already, and a total stays as it "
                    "was set.",
                    hint="Look at it with `hedgerow ledger FILE`.",
                )
            file.execute(
                "INSERT INTO accounts VALUES (?, ?, ?, ?, ?)",
                (key, shown, str(total.epsilon), str(total.delta), _now()),
            )
            return self._read(file)[key]

    def accounts(self) -> tuple[Account, ...]:
        """All data sets, in the order of their names."""
        with book_file.transaction(self.path, writes=False) as file:
            return tuple(account for _, account in sorted(self._read(file).items()))

    def check(self, dataset: str, budget: Budget, *, method: str, unit: str) -> None:
        """Makes an entry and takes it back: raises what `book` would raise.

        Call it before data is read: a run that cannot be booked need not begin.
        """
        self._book(dataset, budget, method, unit, keep=False)

    def book(self, dataset: str, budget: Budget, *, method: str, unit: str) -> Booking:
        """Books a release. Call it before anything is drawn; draw nothing if it raises.

        Args:
            dataset: The name of the data set.
            budget: What the release may cost one person.
            method: The name of the method.
            unit: Whom the release protects; losses of rows and of people do not add up.

        Raises:
            BudgetError: If the data set has no account, or less left than that.
            ReleaseError: If the file cannot be used.
        """
        return self._book(dataset, budget, method, unit, keep=True)

    def add(
        self, dataset: str, budget: Budget, *, method: str, unit: str, place: str | Path
    ) -> Booking:
        """Books a release that was made without this book, even beyond the total: it is spent.

        The caller vouches for the budget: see that the release verifies first.

        Raises:
            UsageError: If the data set has this release already.
            BudgetError: If the data set has no account.
        """
        booking = self._book(dataset, budget, method, unit, keep=True, made=Path(place))
        booking.mark_published(place)
        return booking

    def _book(
        self,
        dataset: str,
        budget: Budget,
        method: str,
        unit: str,
        *,
        keep: bool,
        made: Path | None = None,
    ) -> Booking:
        check_arguments(AccountBook._book, locals())
        shown, key = _name(dataset)
        with book_file.transaction(self.path, writes=True, keep=keep) as file:
            account = self._read(file).get(key)
            if account is None:
                raise BudgetError(
                    f"the ledger {self.path} has no data set {shown!r}",
                    hint="Check the name (--dataset; without it, the schema's), or open it: "
                    f"hedgerow ledger FILE --open {shown!r} --epsilon TOTAL.",
                )
            _refuse_mixture(account, unit)
            if made is None:
                _refuse_overdraft(account, budget)
            else:
                _refuse_again(account, made)
            booked = _now()
            number = file.execute(
                "INSERT INTO entries (key, unit, method, epsilon, delta, booked, state) "
                "VALUES (?, ?, ?, ?, ?, ?, 'booked')",
                (key, unit, method, str(budget.epsilon), str(budget.delta), booked),
            ).lastrowid
            assert number is not None
            left = self._read(file)[key].left
        return Booking(self.path, account.name, number, booked, left)

    def _read(self, file: Any) -> dict[str, Account]:
        """The whole book; a few hundred lines at most."""
        entries: dict[str, list[Entry]] = {}
        for number, key, unit, method, epsilon, delta, booked, state, place in file.execute(
            "SELECT number, key, unit, method, epsilon, delta, booked, state, place FROM entries "
            "ORDER BY number"
        ):
            amounts = self._amount(epsilon), self._amount(delta)
            entry = Entry(number, unit, method, *amounts, booked, state, place)
            entries.setdefault(key, []).append(entry)
        accounts = {
            key: Account(
                name, self._amount(epsilon), self._amount(delta), opened,
                tuple(entries.pop(key, ())),
            )
            for key, name, epsilon, delta, opened in file.execute(
                "SELECT key, name, epsilon, delta, opened FROM accounts"
            )
        }  # fmt: skip
        if entries:
            raise book_file.damaged(self.path, "a release belongs to no data set")
        return accounts

    def _amount(self, text: object) -> Fraction:
        if isinstance(text, str) and _AMOUNT.fullmatch(text):
            with suppress(ZeroDivisionError):
                return Fraction(text)
        raise book_file.damaged(self.path, "an amount in it is no number")


def unit_of(schema: Schema) -> str:
    """Whom the releases of a schema protect."""
    if schema.items is not None:
        column, record = schema.items.person, "transaction"
    else:
        column, record = schema.person.column if schema.person else None, "row"
    return record if column is None else f"person by {column}"


def _refuse_again(account: Account, place: Path) -> None:
    """Raises if a release that is to be added is among those of the data set, here or as a copy."""
    here, manifest = os.path.realpath(place), _manifest(place)
    for entry in account.entries:
        if entry.place is None or not entry.counts:
            continue
        same = os.path.realpath(entry.place) == here
        if same or (manifest is not None and _manifest(Path(entry.place)) == manifest):
            raise UsageError(
                f"{place} is booked already, as release {entry.number} of {account.name!r}: what "
                "was spent once is counted once.",
                hint="If that entry is of another release, which this one replaced, rename this "
                "folder and add it then.",
            )


def _manifest(place: Path) -> bytes | None:
    """The manifest of a release, if it is still there."""
    with suppress(OSError):
        return (place / "manifest.json").read_bytes()
    return None


def _refuse_mixture(account: Account, unit: str) -> None:
    """Raises if a release protects others than the earlier ones did."""
    others = {entry.unit for entry in account.entries if entry.counts} - {unit}
    if others:
        raise BudgetError(
            f"the data set {account.name!r} was published per {min(others)} so far, and this "
            f"release is per {unit}: their epsilons do not add up",
            hint=_same_unit(min(others)),
        )


def _same_unit(unit: str) -> str:
    """How to publish per that unit once more."""
    if unit == "row":
        way = "Publish rows once more, by a schema without a `role: person` column."
    elif unit == "transaction":
        way = "Publish records of items once more, by a schema with `items:` and no `person:`."
    else:
        way = (
            "Let the schema tell people apart by the same column as before: `role: person` in a "
            "table, `person:` below `items:` for transactions."
        )
    return f"{way} Or open an account of its own, if these are other people."


def _refuse_overdraft(account: Account, budget: Budget) -> None:
    """Raises if a release costs more than is left."""
    wanted = (budget.epsilon, budget.delta)
    words = zip(
        ("epsilon", "delta"), wanted, account.left, (account.epsilon, account.delta), strict=True
    )
    for what, asked, left, total in words:
        if asked > left:
            raise BudgetError(
                f"the data set {account.name!r} has {what} {plain(left)} left of {plain(total)}, "
                f"and this release asks for {plain(asked)}",
                hint="Ask for no more than is left. If nothing is left, these people have given "
                "what they can: publish nothing more about them.",
            )


def _name(name: str) -> tuple[str, str]:
    """A data set's name as it is shown, and as names are compared.

    Names that a person would take for the same are the same: spaces and capitals do not count.
    """
    shown = " ".join(unicodedata.normalize("NFC", name).split())
    hidden = any(unicodedata.category(letter).startswith("C") for letter in shown)
    if not shown or hidden or len(shown) > _LONGEST_NAME:
        raise UsageError(
            "a data set needs a name of ordinary letters.", hint="Write --dataset clinic, say."
        )
    return shown, unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", shown).casefold())


def _now() -> str:
    return datetime.now(UTC).isoformat()


def plain(amount: Fraction) -> str:
    """An amount as a person would write it, exactly.

    Example:
        >>> plain(Fraction(1, 2)), plain(Fraction(1, 3)), plain(Fraction(1, 10**9))
        ('0.5', '1/3', '1e-9')
    """
    if 10**40 % amount.denominator:
        return str(amount)
    with localcontext(prec=200):  # more digits than any amount has, so this is exact
        number = (Decimal(amount.numerator) / Decimal(amount.denominator)).normalize()
    return f"{number:f}" if not 0 < amount < Fraction(1, 10**4) else f"{number:e}"
