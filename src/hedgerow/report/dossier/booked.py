"""Whether the entry of a budget ledger is that of a release, and what speaks against it."""

from __future__ import annotations

from collections.abc import Iterable

from hedgerow.ledger.file import Account, Entry
from hedgerow.ledger.rules import unit_of
from hedgerow.measured.conversion import exact
from hedgerow.release import Release

__all__ = ["Booked", "doubts", "found_in"]

Booked = tuple[Account, Entry | None]
"""A data set of a budget ledger, and the entry of the release in it, if it is found."""


def found_in(
    accounts: Iterable[Account], release: Release, digest: str | None
) -> tuple[Booked | None, str | None]:
    """The entry of a release among all of a ledger, and what is to be said if it is none.

    The hash of a manifest tells releases apart. What a manifest calls itself does not: anybody can
    write it there. So an entry that has a hash must have this one, and an entry without is taken
    only if it agrees with the release in all else.

    Args:
        accounts: The data sets of the ledger.
        release: The release.
        digest: The hash of its manifest.
    """
    every = [(account, entry) for account in accounts for entry in account.entries]
    for account, entry in every:
        if digest is not None and entry.digest == digest:
            return (account, entry), None
    name = release.ledger.get("release_id")
    for account, entry in every:
        if name is None or entry.release_id != name:
            continue
        if entry.digest is None and not _differs(release, entry):
            return (account, entry), None
        why = "its hash" if entry.digest is not None else ", ".join(_differs(release, entry))
        return (account, None), (
            f"The id of the release is that of entry {entry.number}, which is of another release "
            f"by {why}: the manifest was changed, or its id was copied."
        )
    return None, None


def doubts(release: Release, entry: Entry) -> list[str]:
    """What speaks against an entry, as sentences; none if it is what it should be."""
    told = []
    if entry.digest is None:
        told.append(
            "The entry has no hash of the manifest. Only the id that the manifest states connects "
            "the two, and whoever writes a manifest can state any."
        )
    if differs := _differs(release, entry):
        told.append(f"The entry differs from the release in: {', '.join(differs)}.")
    if not entry.counts:
        told.append(
            f"The entry was {entry.state}, so it counts for nothing in the total, although the "
            "release exists."
        )
    return told


def _differs(release: Release, entry: Entry) -> list[str]:
    promise = release.guarantee
    pairs = {
        "method": (entry.method, release.method),
        "epsilon": (entry.epsilon, exact(promise["epsilon"])),
        "delta": (entry.delta, exact(promise["delta"])),
        "unit": (entry.unit, unit_of(release.schema)),
    }
    return [name for name, (booked, stated) in pairs.items() if booked != stated]
