"""A data set of a budget ledger in tables, and for machines."""

from __future__ import annotations

from dataclasses import asdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hedgerow.cli.display.terminal import print_table, say

if TYPE_CHECKING:
    from hedgerow.ledger.ledger import Account, Change, Entry

__all__ = ["account_facts", "show_account"]

_STATES = {
    "reserved": "the run is going on and has not drawn yet. It counts until that run ends.",
    "booked": "the run is drawing, or was stopped while it drew. It counts.",
    "drawn": "the outcome was handed over, and is not known to have been saved. It counts.",
    "withdrawn": "the run failed before anything was drawn. It does not count.",
    "returned": "a person gave it back, for the reason below. It does not count.",
}


def show_account(account: Account) -> None:
    """Prints a data set: what is spent, its releases, and what was changed by hand."""
    from hedgerow.ledger.ledger import plain

    spent, total = account.spent, (account.epsilon, account.delta)
    say(f"{account.name}, opened {_minute(account.opened)}")
    amounts = [
        [what, plain(one), plain(of - one), plain(of)]
        for what, one, of in zip(("epsilon", "delta"), spent, total, strict=True)
        if of
    ]
    print_table(["budget", "spent", "left", "of"], amounts, right={1, 2, 3})
    if not account.entries:
        say("No release has been booked yet.")
    else:
        _show_entries(account.entries)
    changes = [change for change in account.history if change.kind != "note"]
    if changes:
        print_table(
            ["changed", "by", "what", "why"],
            [[_minute(one.moment), one.who, _what(one), one.reason] for one in changes],
        )


def _show_entries(entries: tuple[Entry, ...]) -> None:
    from hedgerow.ledger.ledger import plain

    columns = ["release", "booked", "method", "per", "epsilon", "delta", "state", "saved at"]
    noted = any(entry.recipient or entry.purpose for entry in entries)
    print_table(
        columns + (["recipient", "purpose"] if noted else []),
        [
            [
                str(entry.number), _minute(entry.booked), entry.method, entry.unit,
                plain(entry.epsilon), plain(entry.delta), _state(entry), entry.place or "",
                *([entry.recipient or "", entry.purpose or ""] if noted else []),
            ]
            for entry in entries
        ],
    )  # fmt: skip
    for state, words in _STATES.items():
        if any(entry.state == state for entry in entries):
            say(f"{state}: {words}")
    if any(entry.replaced for entry in entries):
        say("replaced: another release was saved over it. It was published, so it counts.")


def _state(entry: Entry) -> str:
    return entry.state if entry.replaced is None else f"replaced by {entry.replaced}"


def _what(change: Change) -> str:
    from hedgerow.ledger.ledger import plain

    if change.kind == "total":
        epsilon, delta = (plain(Fraction(text or 0)) for text in (change.first, change.second))
        return f"total: epsilon {epsilon}, delta {delta}"
    if change.kind == "same people":
        return f"the same people: {change.first}, {change.second}"
    return f"release {change.entry} given back"


def _minute(moment: str) -> str:
    """A moment to the minute; all are in UTC."""
    return moment[:16].replace("T", " ")


def account_facts(account: Account) -> dict[str, Any]:
    """The same for machines."""
    (epsilon, delta), (epsilon_left, delta_left) = account.spent, account.left
    return {
        "name": account.name,
        "opened": account.opened,
        "epsilon": {
            "total": str(account.epsilon),
            "spent": str(epsilon),
            "left": str(epsilon_left),
        },
        "delta": {"total": str(account.delta), "spent": str(delta), "left": str(delta_left)},
        "releases": [
            {
                "number": entry.number,
                "booked": entry.booked,
                "method": entry.method,
                "per": entry.unit,
                "epsilon": str(entry.epsilon),
                "delta": str(entry.delta),
                "state": entry.state,
                "place": entry.place,
                "ended": entry.ended,
                "replaced_by": entry.replaced,
                "recipient": entry.recipient,
                "purpose": entry.purpose,
            }
            for entry in account.entries
        ],
        "history": [asdict(change) for change in account.history],
    }
