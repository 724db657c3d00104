"""`hedgerow ledger`: what all releases of a data set have spent together."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.options import AsJson
from hedgerow.cli.terminal import print_json, print_table, say, warn, warned
from hedgerow.errors import ReleaseError, UsageError

if TYPE_CHECKING:
    from hedgerow.privacy.account_book import Account, AccountBook


def ledger(
    file: Annotated[Path, typer.Argument(help="The ledger.")],
    name: Annotated[
        str | None,
        typer.Option("--open", metavar="NAME", help="Open an account for a data set, once."),
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(
            "--epsilon",
            metavar="NUMBER",
            help="With --open, what all its releases may spend together. It cannot be changed.",
        ),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(
            "--delta", metavar="NUMBER", help="With --open, the same for delta; 0 if left out."
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
    dataset: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="With --add, the data set; else the schema's name."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what the releases of a data set have spent, or open an account for one.

    Publishing twice spends twice. Open an account with the total that the people in a data set
    may lose; give the ledger to every `hedgerow publish`, and it refuses what goes beyond it. A run
    that was killed stays booked.
    """
    from hedgerow.privacy.account_book import AccountBook

    if name is None and (epsilon is not None or delta is not None):
        raise UsageError(
            "--epsilon and --delta set the total of a data set that is opened.",
            hint="Add --open NAME, or leave them out to look at the ledger.",
        )
    if dataset is not None and add is None:
        raise UsageError("--dataset goes with --add.", hint="Leave it out: all are shown.")
    book = AccountBook(file)
    if name is not None:
        if epsilon is None:
            raise UsageError(
                "--open needs the total that all releases may spend.", hint="Add --epsilon 3, say."
            )
        book.open(name, epsilon, "0" if delta is None else delta)
    if add is not None:
        _add(book, add, dataset, as_json)
    accounts = book.accounts()
    if as_json:
        found = [_facts(one) for one in accounts]
        print_json({"ledger": str(book.path), "datasets": found, "warnings": warned()})
        return
    if not accounts:
        say(f"{file} has no data set yet. Open one: hedgerow ledger FILE --open NAME --epsilon 3")
    for place, account in enumerate(accounts):
        if place:
            say()
        _show(account)


def _add(book: AccountBook, place: Path, dataset: str | None, as_json: bool) -> None:
    from hedgerow.privacy.account_book import unit_of
    from hedgerow.privacy.budget import Budget
    from hedgerow.release import verify
    from hedgerow.release.files import read_manifest
    from hedgerow.release.manifest import check_guarantee, schema_of

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
    name = schema.name if dataset is None else dataset
    booking = book.add(name, spent, method=manifest["method"], unit=unit_of(schema), place=place)
    if min(booking.left) < 0:
        warn(
            f"with this release, {booking.dataset} has spent more than its total. Publish nothing "
            "more about these people.",
            as_json,
        )


def _show(account: Account) -> None:
    from hedgerow.privacy.account_book import plain

    spent, total = account.spent, (account.epsilon, account.delta)
    say(f"{account.name}, opened {_day(account.opened)}")
    amounts = [
        [what, plain(one), plain(of - one), plain(of)]
        for what, one, of in zip(("epsilon", "delta"), spent, total, strict=True)
        if of
    ]
    print_table(["budget", "spent", "left", "of"], amounts, right={1, 2, 3})
    if not account.entries:
        say("No release was booked yet.")
        return
    print_table(
        ["release", "booked", "method", "per", "epsilon", "delta", "state", "saved at"],
        [
            [
                str(entry.number), _day(entry.booked), entry.method, entry.unit,
                plain(entry.epsilon), plain(entry.delta), entry.state, entry.place or "",
            ]
            for entry in account.entries
        ],
    )  # fmt: skip
    if any(entry.state == "booked" for entry in account.entries):
        say("booked: the run is going on, was stopped, or its release was never saved. It counts.")
    if any(entry.state == "withdrawn" for entry in account.entries):
        say("withdrawn: the run failed before anything was drawn. It does not count.")


def _day(moment: str) -> str:
    """A moment to the minute; all are in UTC."""
    return moment[:16].replace("T", " ")


def _facts(account: Account) -> dict[str, Any]:
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
            }
            for entry in account.entries
        ],
    }
