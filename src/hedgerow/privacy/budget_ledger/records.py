"""What an budget ledger says: data sets, their releases, and what was changed by hand."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from hedgerow.privacy.budget_ledger import file as book_file

__all__ = ["Account", "Change", "Entry", "plain", "read_accounts"]

State = Literal["reserved", "booked", "drawn", "published", "withdrawn", "returned"]

_AMOUNT = re.compile(r"[0-9]{1,200}(/[0-9]{1,200})?")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One release, as it was booked.

    Args:
        number: Its number in the ledger.
        unit: What it protects: rows, or the people told apart by a column.
        method: The name of the method.
        epsilon: What it may cost one person.
        delta: The same for delta.
        booked: When.
        state: `reserved` until the run draws, `booked` while it draws, `drawn` once the outcome
            was handed over, `published` once it was saved; `withdrawn` if the run never drew,
            `returned` if a person gave it back.
        place: Where it was saved, or was to be saved.
        ended: How the run ended, if it could tell.
        digest: The SHA-256 hash of its manifest, once it was saved.
        release_id: What its manifest calls it, drawn when it was reserved.
        replaced: The release that was saved over it.
        recipient: For whom it was made, by the latest note.
        purpose: What for, by the latest note.
    """

    number: int
    unit: str
    method: str
    epsilon: Fraction
    delta: Fraction
    booked: str
    state: State
    place: str | None = None
    ended: str | None = None
    digest: str | None = None
    release_id: str | None = None
    replaced: int | None = None
    recipient: str | None = None
    purpose: str | None = None

    @property
    def counts(self) -> bool:
        """Whether its budget is spent."""
        return self.state not in ("withdrawn", "returned")


@dataclass(frozen=True, kw_only=True)
class Change:
    """What a person changed, with the reason.

    Args:
        kind: "total" (`first` and `second` are the epsilon and delta from then on), "same people"
            (two units that protect the same people), "note" (recipient and purpose of a release)
            or "returned" (a release that was given back).
        entry: The number of the release, if it is about one.
        first: See `kind`.
        second: See `kind`.
        reason: Why.
        who: The name of the person's account on the machine.
        moment: When.
    """

    kind: str
    entry: int | None
    first: str | None
    second: str | None
    reason: str
    who: str
    moment: str


@dataclass(frozen=True, kw_only=True)
class Account:
    """A data set: its total, every release that was booked, and every change by hand."""

    name: str
    epsilon: Fraction
    delta: Fraction
    opened: str
    entries: tuple[Entry, ...]
    history: tuple[Change, ...] = ()

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

    def same(self, unit: str) -> set[str]:
        """All units that are known to protect the same people as one does."""
        found = {unit}
        pairs = [{change.first, change.second} for change in self.history if _joins(change)]
        while joined := [pair for pair in pairs if pair & found and not pair <= found]:
            for pair in joined:
                found |= {unit for unit in pair if unit is not None}
        return found


def _joins(change: Change) -> bool:
    return change.kind == "same people"


def read_accounts(path: Path, file: Any) -> dict[str, Account]:
    """The whole ledger; a few hundred lines at most.

    Raises:
        ReleaseError: If something in it cannot be.
    """

    def amount(text: object) -> Fraction:
        if isinstance(text, str) and _AMOUNT.fullmatch(text):
            with suppress(ZeroDivisionError):
                return Fraction(text)
        raise book_file.damaged(path, "an amount in it is not a number")

    history: dict[str, list[Change]] = {}
    notes: dict[int, dict[str, Any]] = {}
    for key, *words in file.execute(
        "SELECT key, kind, entry, first, second, reason, who, moment FROM history ORDER BY number"
    ):
        names = ("kind", "entry", "first", "second", "reason", "who", "moment")
        change = Change(**dict(zip(names, words, strict=True)))
        history.setdefault(key, []).append(change)
        if change.kind == "note" and change.entry is not None:
            told = {"recipient": change.first, "purpose": change.second}
            known = {name: text for name, text in told.items() if text is not None}
            notes.setdefault(change.entry, {}).update(known)
    entries: dict[str, list[Entry]] = {}
    for key, number, unit, method, epsilon, delta, *rest in file.execute(
        "SELECT key, number, unit, method, epsilon, delta, booked, state, place, ended, digest, "
        "release_id, replaced FROM entries ORDER BY number"
    ):
        booked, state, place, ended, digest, release_id, replaced = rest
        entry = Entry(
            number=number,
            unit=unit,
            method=method,
            epsilon=amount(epsilon),
            delta=amount(delta),
            booked=booked,
            state=state,
            place=place,
            ended=ended,
            digest=digest,
            release_id=release_id,
            replaced=replaced,
        )
        entries.setdefault(key, []).append(replace(entry, **notes.get(number, {})))
    accounts = {}
    for key, name, epsilon, delta, opened in file.execute(
        "SELECT key, name, epsilon, delta, opened FROM accounts"
    ):
        changes = history.pop(key, [])
        raised = [(change.first, change.second) for change in changes if change.kind == "total"]
        totals = [(amount(one), amount(other)) for one, other in [(epsilon, delta), *raised]]
        accounts[key] = Account(
            name=name,
            epsilon=totals[-1][0],
            delta=totals[-1][1],
            opened=opened,
            entries=tuple(entries.pop(key, ())),
            history=tuple(changes),
        )
    if entries or history:
        raise book_file.damaged(path, "a release belongs to no data set")
    return accounts


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
