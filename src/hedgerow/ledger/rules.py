"""What a budget ledger refuses, and the way out."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from hedgerow.errors import BudgetError, UsageError
from hedgerow.ledger.file import Account, Entry, plain
from hedgerow.privacy.budget import Budget
from hedgerow.schema import Schema

PERSON = "person by "

_LONGEST_NAME, _LONGEST_TEXT = 200, 1000


def name_of(name: str) -> tuple[str, str]:
    """A data set's name as it is shown, and as names are compared.

    Names that a person would take for the same are the same: spaces and capitals do not count.
    """
    shown = " ".join(unicodedata.normalize("NFC", name).split())
    if not shown or _has_hidden(shown) or len(shown) > _LONGEST_NAME:
        raise UsageError(
            "a data set needs a name of ordinary letters.", hint="Write --dataset clinic, say."
        )
    return shown, unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", shown).casefold())


def check_text(what: str, text: str) -> str:
    """A text for the ledger, without what cannot be seen.

    Example:
        >>> check_text("reason", " a power  cut ")
        'a power cut'
    """
    shown = " ".join(unicodedata.normalize("NFC", text).split())
    if not shown or _has_hidden(shown) or len(shown) > _LONGEST_TEXT:
        raise UsageError(
            f"the {what} must be a text of 1 to {_LONGEST_TEXT} ordinary letters.",
            hint="Write it so that others understand it years from now.",
        )
    return shown


def _has_hidden(text: str) -> bool:
    return any(unicodedata.category(letter).startswith("C") for letter in text)


def similar(name: str, accounts: Iterable[Account]) -> list[str]:
    """Names of data sets that are nearly the same, the nearest first.

    Example:
        >>> difflib.get_close_matches("clinics", ["clinic", "school"])
        ['clinic']
    """
    keys = {name_of(account.name)[1]: account.name for account in accounts}
    return [keys[key] for key in difflib.get_close_matches(name_of(name)[1], keys, n=3)]


def refuse_unknown(path: Path, name: str, accounts: Iterable[Account]) -> NoReturn:
    """Raises for a data set that is not in the ledger, and names those that are."""
    accounts = list(accounts)
    known = similar(name, accounts) or sorted(account.name for account in accounts)[:10]
    opening = f"hedgerow ledger FILE --open {name!r} --epsilon TOTAL"
    if known:
        listed = ", ".join(map(repr, known))
        hint = (
            "Name the data set that these people are in, in `publish` and `--add` with --dataset: "
            f"{listed}. Only for people who are in none of them: {opening}."
        )
    else:
        hint = f"Set the total for these people first: {opening}."
    raise BudgetError(f"the budget ledger {path} has no data set {name!r}", hint=hint)


def refuse_overdraft(account: Account, budget: Budget) -> None:
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


def refuse_mixture(account: Account, unit: str) -> None:
    """Raises if a release protects others than the earlier ones did."""
    others = {entry.unit for entry in account.entries if entry.counts} - account.same(unit)
    if others:
        raise BudgetError(
            f"the data set {account.name!r} was published per {min(others)} so far, and this "
            f"release is per {unit}: their epsilons do not add up",
            hint=_same_unit(min(others), unit),
        )


def _same_unit(before: str, now: str) -> str:
    """How to publish per the same unit once more."""
    if before == "row":
        return "Publish rows once more, by a schema without a `role: person` column."
    if before == "transaction":
        return "Publish records of items once more, by a schema with `items:` and no `person:`."
    way = (
        "Let the schema identify people by the same column as before: `role: person` in a "
        "table, `person:` below `items:` for transactions."
    )
    if not now.startswith(PERSON):
        return way
    columns = f"{before.removeprefix(PERSON)!r} {now.removeprefix(PERSON)!r}"
    return (
        f"{way} If both columns identify the same people, each by one identifier, say so: hedgerow "
        f"ledger FILE --same-people {columns} --dataset NAME --reason WHY."
    )


def refuse_return(account: Account, entry: Entry, alive: bool) -> None:
    """Raises if an entry may not be given back, whatever a person knows about its run."""
    why = {
        "reserved": "its run has not drawn anything. If that run has ended, nothing is spent",
        "drawn": "its outcome was handed over, so somebody may have seen it",
        "published": "it was published",
        "withdrawn": "it counts for nothing already",
        "returned": "it was given back already",
    }.get(entry.state)
    if alive:
        why = "its run is still going on"
    elif why is None and entry.ended is not None and entry.ended.startswith("failed"):
        why = "its run failed by itself, which may follow from the data or from what was drawn"
    if why is not None:
        raise UsageError(
            f"release {entry.number} of {account.name!r} cannot be given back: {why}.",
            hint="Only a run that was stopped from outside, after it began to draw and before its "
            "outcome was handed over, can be given back.",
        )


def refuse_again(account: Account, entry: Entry, place: str | os.PathLike[str]) -> NoReturn:
    """Raises for a release that has an entry."""
    hint = "There is nothing to do."
    if entry.digest is None:
        hint = (
            "If that entry is of another release, which this one replaced, rename this folder and "
            "add it then."
        )
    raise UsageError(
        f"{place} is booked already, as release {entry.number} of {account.name!r}: what was "
        "spent once is counted once.",
        hint=hint,
    )


def same_release(account: Account, place: Path, digest: str | None) -> Entry | None:
    """The entry of a release that lies at a place, here or as a copy.

    Args:
        account: Where to look.
        place: Where it lies.
        digest: The hash of its manifest.
    """
    release_id = _release_id(place)
    for entry in account.entries:
        if entry.state not in ("drawn", "published"):
            continue
        if entry.digest is not None:
            if entry.digest == digest:
                return entry
        elif entry.state == "drawn":  # its run was perhaps stopped when it had just been saved
            if release_id is not None and release_id == entry.release_id:
                return entry
        elif is_at(entry, place) or _is_copy(entry, digest):  # an older version noted no digest
            return entry
    return None


def _is_copy(entry: Entry, digest: str | None) -> bool:
    return None not in (entry.place, digest) and digest_of(entry.place or "") == digest


def is_at(entry: Entry, place: str | os.PathLike[str]) -> bool:
    """Whether an entry names that folder."""
    return entry.place is not None and os.path.realpath(entry.place) == os.path.realpath(place)


def digest_of(place: str | os.PathLike[str]) -> str | None:
    """The SHA-256 hash of a release's manifest, if it is there: no two releases share it."""
    with suppress(OSError):
        return hashlib.sha256((Path(place) / "manifest.json").read_bytes()).hexdigest()
    return None


def _release_id(place: Path) -> str | None:
    """What the manifest of a release calls it, if it was published with a ledger."""
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        release_id = json.loads((place / "manifest.json").read_bytes())["ledger"].get("release_id")
        return release_id if isinstance(release_id, str) else None
    return None


def unit_of(schema: Schema) -> str:
    """Whom the releases of a schema protect."""
    if schema.kind == "transactions":
        column, record = schema.transaction_items.person, "transaction"
    else:
        column, record = schema.person.column if schema.person else None, "row"
    return record if column is None else f"{PERSON}{column}"
