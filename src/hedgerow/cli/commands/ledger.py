"""`hedgerow ledger`: what all releases of a data set have spent together."""

from __future__ import annotations

from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.display.terminal import print_json, print_table, say, warn, warned
from hedgerow.cli.options import AsJson
from hedgerow.errors import ReleaseError, UsageError

if TYPE_CHECKING:
    from hedgerow.ledger.ledger import Account, BudgetLedger, Change, Entry

# A data set of a budget ledger in tables, and for machines.


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


def ledger(
    file: Annotated[Path, typer.Argument(help="The budget ledger.")],
    name: Annotated[
        str | None,
        typer.Option("--open", metavar="NAME", help="Set the total of a data set, once."),
    ] = None,
    raised: Annotated[
        str | None,
        typer.Option(
            "--raise", metavar="NAME", help="Raise the total of a data set; it is recorded."
        ),
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(
            "--epsilon",
            metavar="NUMBER",
            help="With --open or --raise, what all its releases may spend together.",
        ),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(
            "--delta", metavar="NUMBER", help="The same for delta; with --open, 0 by default."
        ),
    ] = None,
    add: Annotated[
        Path | None,
        typer.Option(
            "--add",
            metavar="RELEASE",
            help="Book a release that was made without this ledger, even beyond the total. This "
            "cannot be undone.",
        ),
    ] = None,
    same: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--same-people",
            metavar="COLUMN COLUMN",
            help="Note that two person columns identify the same people, each by one identifier.",
        ),
    ] = None,
    note: Annotated[
        int | None,
        typer.Option(
            "--note", metavar="NUMBER", help="Note for whom a release was made, and what for."
        ),
    ] = None,
    give_back: Annotated[
        int | None,
        typer.Option(
            "--give-back",
            metavar="NUMBER",
            help="Give back a run that was stopped from outside before anybody saw anything of "
            "it; read the page on the ledger first.",
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With --add and --same-people, the data set; for --add by default the "
            "schema's name.",
        ),
    ] = None,
    recipient: Annotated[
        str | None,
        typer.Option(metavar="WHO", help="Whom a release is for; goes with --add and --note."),
    ] = None,
    purpose: Annotated[
        str | None,
        typer.Option(metavar="WHAT", help="What a release is for; goes with --add and --note."),
    ] = None,
    reason: Annotated[
        str | None,
        typer.Option(metavar="WHY", help="Why; goes with --raise, --same-people and --give-back."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what the releases of a data set have spent, or set a total for one.

    Pass the ledger to every `hedgerow publish`: a run beyond the total is refused. One that was
    killed while it drew stays booked.
    """
    from hedgerow.ledger.ledger import BudgetLedger

    asked = {
        "--open": name, "--raise": raised, "--add": add, "--same-people": same or None,
        "--note": note, "--give-back": give_back,
    }  # fmt: skip
    given = {
        "--epsilon": epsilon, "--delta": delta, "--dataset": dataset, "--recipient": recipient,
        "--purpose": purpose, "--reason": reason,
    }  # fmt: skip
    action = _action(
        [option for option, value in asked.items() if value is not None],
        [option for option, value in given.items() if value is not None],
    )
    book = BudgetLedger(file)
    if action == "--open":
        _open(book, str(name), epsilon, delta, as_json)
    elif action == "--raise":
        book.raise_total(str(raised), epsilon, delta, reason=str(reason))
    elif add is not None:
        _add(book, add, dataset, recipient, purpose, as_json)
    elif same:
        book.same_people(str(dataset), *same, reason=str(reason))
    elif note is not None:
        book.note(note, recipient=recipient, purpose=purpose)
    elif give_back is not None:
        book.give_back(give_back, reason=str(reason))
    accounts = book.accounts()
    if as_json:
        facts = [account_facts(one) for one in accounts]
        print_json({"ledger": str(book.path), "datasets": facts, "warnings": warned()})
        return
    if not accounts:
        say(f"{file} has no data set yet. Open one: hedgerow ledger FILE --open NAME --epsilon 3")
    for place, account in enumerate(accounts):
        if place:
            say()
        show_account(account)


# what goes with an option: what it needs, and what it may have besides
_WITH = {
    "--open": (("--epsilon",), ("--delta",)),
    "--raise": (("--reason",), ("--epsilon", "--delta")),
    "--add": ((), ("--dataset", "--recipient", "--purpose")),
    "--same-people": (("--dataset", "--reason"), ()),
    "--note": ((), ("--recipient", "--purpose")),
    "--give-back": (("--reason",), ()),
}

_NEEDED = {
    "--epsilon": "TOTAL: what all releases of the data set may spend together",
    "--dataset": "NAME: the data set that they are in",
    "--reason": "WHY: it stays in the ledger, beside your name and the time",
}


def _action(asked: list[str], given: list[str]) -> str | None:
    """What is to be done, once it is seen that the options belong together."""
    if len(asked) > 1:
        raise UsageError(
            f"{asked[0]} and {asked[1]} are two things.", hint="Do one after the other."
        )
    needed, allowed = _WITH[asked[0]] if asked else ((), ())
    for option in needed:
        if option not in given:
            raise UsageError(f"{asked[0]} needs {option}.", hint=f"Add {option} {_NEEDED[option]}.")
    for option in given:
        if option not in (*needed, *allowed):
            homes = [one for one, (must, may) in _WITH.items() if option in (*must, *may)]
            raise UsageError(
                f"{option} goes with {' or '.join(homes)}.",
                hint="Leave it out to look at the ledger.",
            )
    return asked[0] if asked else None


def _open(
    book: BudgetLedger, name: str, epsilon: str | None, delta: str | None, as_json: bool
) -> None:
    from hedgerow.ledger.file import similar

    account = book.open(name, str(epsilon), delta="0" if delta is None else delta)
    others = [one for one in book.accounts() if one.name != account.name]
    near = similar(account.name, others)
    if near:
        warn(
            f"the ledger has {near[0]!r} too. If these are the same people, publish under that "
            "name and leave the new one unused: people have one total.",
            as_json,
        )


def _add(
    book: BudgetLedger,
    place: Path,
    dataset: str | None,
    recipient: str | None,
    purpose: str | None,
    as_json: bool,
) -> None:
    from hedgerow.ledger.ledger import Notes, unit_of
    from hedgerow.privacy.budget import Budget
    from hedgerow.release.files import read_manifest
    from hedgerow.release.manifest import check_guarantee, schema_of
    from hedgerow.verification import verify

    manifest = read_manifest(place)
    promise, schema = manifest["guarantee"], schema_of(manifest)
    check_guarantee(promise)
    if not promise["private"]:
        raise ReleaseError(
            f"{place} comes from a seeded run, which is not private: no budget covers it.",
            hint="Use it for tests alone.",
        )
    # a manifest may state less than was spent; a file that lies beside a release spends nothing
    failed = [one.name for one in verify(place).checks if not one.ok and one.name != "other files"]
    if failed:
        raise ReleaseError(
            f"{place} does not verify, so what it spent is not known: {', '.join(failed)}.",
            hint="Look with `hedgerow verify`, and add a sound copy. If there is none left, it was "
            "spent all the same: publish that much less.",
        )
    spent = Budget(Fraction(promise["epsilon"]), Fraction(promise["delta"]))
    booking = book.add(
        schema.name if dataset is None else dataset,
        spent,
        method=manifest["method"],
        unit=unit_of(schema),
        place=place,
        notes=Notes(recipient=recipient, purpose=purpose),
    )
    if booking.noted:
        warn(
            f"{place} was booked as release {booking.number} when it was drawn. It is noted as "
            "published now, and not booked again.",
            as_json,
        )
    if min(booking.left) < 0:
        warn(
            f"with this release, {booking.dataset} has spent more than its total. Publish nothing "
            "more about these people.",
            as_json,
        )
