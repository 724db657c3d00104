"""`hedgerow verify`, `audit` and `ledger`: what was spent, and whether the promise holds."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.display.terminal import note, print_json, print_table, progress, say, warn, warned
from hedgerow.cli.options import AsJson, Number, option
from hedgerow.errors import ReleaseError, UnverifiableError, UsageError

if TYPE_CHECKING:
    from hedgerow.audit import Line
    from hedgerow.ledger.file import Account, Change
    from hedgerow.ledger.ledger import BudgetLedger


def verify(
    release: Path,
    as_json: AsJson = False,
) -> None:
    """Check that a release keeps its guarantee.

    Its files must be intact, and its ledger add up to what it states. Exit code 6 if a check
    fails or the run was seeded, 7 if its method, schedule or score is not installed here.

    Example:
        hedgerow verify release/
    """
    from hedgerow.verification import verify as verify_release

    verdict = verify_release(release)
    if as_json:
        print_json({
            "ok": verdict.ok, "known": verdict.known,
            "epsilon": verdict.epsilon, "delta": verdict.delta,
            "checks": [{"name": one.name, "ok": one.ok, "words": one.words}
                       for one in verdict.checks],
            "unchecked": verdict.unchecked,
        })  # fmt: skip
        if not verdict.ok:
            failure = UnverifiableError if verdict.unverifiable else ReleaseError
            raise typer.Exit(failure.exit_code)
        return
    lines = [[check.name, "yes" if check.ok else "NO", check.words] for check in verdict.checks]
    print_table(["check", "holds", "because"], lines)
    if verdict.unverifiable:
        raise UnverifiableError(
            f"{release} cannot be verified here: {verdict.checks[-1].words}.",
            hint="Install the package that it was published with, or a newer hedgerow.",
        )
    if failed := ", ".join(check.name for check in verdict.checks if not check.ok):
        hint = "Ask whoever published it for a sound one."
        if failed == "other files":
            hint = "Remove the files that are no part of it, and verify once more."
        raise ReleaseError(f"{release} cannot be relied on: {failed}.", hint=hint)
    from hedgerow.present.words import strength

    assert verdict.release is not None  # or a check had failed
    promise = verdict.release.guarantee  # which was held against what was recomputed
    epsilon, delta = Fraction(promise["epsilon"]), Fraction(promise["delta"])
    say(f"\nVerified: {strength(epsilon, delta)}, as stated.")
    recomputed = strength(verdict.epsilon or Fraction(0), verdict.delta or Fraction(0))
    if recomputed != strength(epsilon, delta):
        say(f"Recomputed, it comes to less: {recomputed}.")
    say("Nobody can tell from a release alone:", *(f"  - {words}" for words in verdict.unchecked))


_WORDS = {
    "replay": "likelihood ratios of transcripts under neighbors",
    "ledger": "published paths spend exactly the grant (of papers at most), others at most",
    "enumeration": "whole laws on tiny tables",
    "rules": "rules read noisy numbers alone",
    "deep replay": "the same, far down a tree of items",
    "files": "the same from files, with a whole person more or less",
    "F": "from files, does a person with too many rows show?",
    "P": "is somebody there?",
    "learned": "an event that a classifier picked",
}


def audit(
    method: Annotated[str, option("NAME")] = "diffmulti",
    schema: Path | None = None,
    epsilon: Number = "1",
    delta: Number = "0",
    runs: Annotated[int, option("N", min=1, max=10000000)] = 2000,
    seconds: Annotated[float | None, option("S", min=1)] = None,
    seed: Annotated[int | None, option("N", min=0, max=2**32)] = None,
    as_json: AsJson = False,
) -> None:
    """Try to break a method's guarantee; reads no private data.

    Transcripts of simulated tables and neighbors are replayed on both, small distributions
    enumerated, and tests, one of them learned, look for events that are too likely on one.
    Exit code 1 if a bound is above epsilon.

    Args:
        method: Which method, by its name.
        schema: A schema to simulate tables for; without it, random schemas.
        runs: Transcripts to replay, and runs of each distinguisher on each table.
        seconds: Start no new attack after about this many seconds.
        seed: Makes the audit repeatable.

    Example:
        hedgerow audit --method marginals --schema schema.yaml --epsilon 1
    """
    from hedgerow.audit import audit as run_audit
    from hedgerow.schema import Schema

    known = Schema.load(schema) if schema else None
    with progress("Auditing") as bar:
        report = run_audit(
            method, known, epsilon, delta, runs=runs, seconds=seconds, seed=seed,
            progress=lambda share, words="": bar(share),
        )  # fmt: skip
    if as_json:
        facts = {"method": method, "schema": known.name if known else None}
        print_json(facts | report.to_dict())
    else:
        _show(report.lines)
        verdict = "No claim was broken" if report.ok else "The audit FAILED"
        if report.left_out:
            names = [f"{kind} ({n} times)" if n > 1 else kind
                     for kind, n in Counter(report.waiting).items()]  # fmt: skip
            note(f"Time was up. Left out: {', '.join(names)}. More --seconds take in more.")
            verdict += f" ({report.begun} of {report.begun + report.left_out} audits ran)"
        say(f"\n{verdict}: {method}, epsilon {epsilon}, delta {delta}.")
        if report.ok:
            say("That is evidence, not proof; docs/privacy/audit.md says what each audit can see.")
    if not report.ok:
        raise typer.Exit(1)


def _show(lines: tuple[Line, ...]) -> None:
    """One row for each kind of audit, and every line that failed."""
    kinds: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        kinds.setdefault((line.audit, line.epsilon), []).append(line)
    rows = []
    for (kind, claim), group in kinds.items():
        most = max((line.bound for line in group if line.bound is not None), default=None)
        bound = "-" if most is None else "infinite" if math.isinf(most) else f"{most:.3f}"
        words = _WORDS.get(kind, group[0].words.partition(":")[0])
        tried = str(sum(line.tried for line in group))
        rows.append(
            [kind, words, tried, bound, claim, "yes" if all(line.ok for line in group) else "NO"]
        )
    columns = ["audit", "what is looked at", "tried", "strongest bound", "epsilon", "holds"]
    print_table(columns, rows, right={2, 3, 4})
    note(*(f"{line.audit}, {line.mode}: {line.words}" for line in lines if not line.ok))


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
    from hedgerow.ledger.file import plain

    totals = (account.epsilon, account.delta)
    say(f"{account.name}, opened {_minute(account.opened)}")
    amounts = [
        [what, plain(one), plain(of - one), plain(of)]
        for what, one, of in zip(("epsilon", "delta"), account.spent, totals, strict=True)
        if of
    ]
    print_table(["budget", "spent", "left", "of"], amounts, right={1, 2, 3})
    rows = [
        {
            "release": str(one.number), "booked": _minute(one.booked), "method": one.method,
            "per": one.unit, "epsilon": plain(one.epsilon), "delta": plain(one.delta),
            "state": one.state if one.replaced is None else f"replaced by {one.replaced}",
            "saved at": one.place or "", "recipient": one.recipient or "",
            "purpose": one.purpose or "",
        }
        for one in account.entries
    ]  # fmt: skip
    noted = any(row["recipient"] or row["purpose"] for row in rows)
    if rows:
        columns = [*rows[0]][: None if noted else -2]
        print_table(columns, [[row[name] for name in columns] for row in rows])
    else:
        say("No release has been booked yet.")
    states = {entry.state for entry in account.entries}
    say(*(f"{state}: {words}" for state, words in _STATES.items() if state in states))
    if any(entry.replaced for entry in account.entries):
        say("replaced: another release was saved over it. It was published, so it counts.")
    changes = [
        [_minute(one.moment), one.who, _what(one), one.reason]
        for one in account.history if one.kind != "note"
    ]  # fmt: skip
    if changes:
        print_table(["changed", "by", "what", "why"], changes)


def _what(change: Change) -> str:
    from hedgerow.ledger.file import plain

    if change.kind == "total":
        epsilon, delta = (plain(Fraction(text or 0)) for text in (change.first, change.second))
        return f"total: epsilon {epsilon}, delta {delta}"
    if change.kind == "same people":
        return f"the same people: {change.first}, {change.second}"
    return f"release {change.entry} given back"


def _minute(moment: str) -> str:
    """A moment to the minute; all are in UTC."""
    return moment[:16].replace("T", " ")


# what JSON says of a release, and how an entry calls it
_FACTS = {
    "number": "number", "booked": "booked", "method": "method", "per": "unit",
    "epsilon": "epsilon", "delta": "delta", "state": "state", "place": "place", "ended": "ended",
    "replaced_by": "replaced", "recipient": "recipient", "purpose": "purpose",
}  # fmt: skip


def account_facts(account: Account) -> dict[str, Any]:
    """The same for machines."""
    totals = zip((account.epsilon, account.delta), account.spent, account.left, strict=True)
    epsilon, delta = (dict(zip(("total", "spent", "left"), one, strict=True)) for one in totals)
    releases = [
        {key: getattr(entry, name) for key, name in _FACTS.items()} for entry in account.entries
    ]
    return {
        "name": account.name, "opened": account.opened, "epsilon": epsilon, "delta": delta,
        "releases": releases, "history": list(map(asdict, account.history)),
    }  # fmt: skip


def ledger(
    file: Path,
    name: Annotated[str | None, option("NAME", name="--open")] = None,
    raised: Annotated[str | None, option("NAME", name="--raise")] = None,
    epsilon: Annotated[str | None, option("NUMBER")] = None,
    delta: Annotated[str | None, option("NUMBER")] = None,
    add: Annotated[Path | None, option("RELEASE")] = None,
    same: Annotated[tuple[str, str] | None, option("COLUMN COLUMN", name="--same-people")] = None,
    note: Annotated[int | None, option("NUMBER")] = None,
    give_back: Annotated[int | None, option("NUMBER")] = None,
    dataset: Annotated[str | None, option("NAME")] = None,
    recipient: Annotated[str | None, option("WHO")] = None,
    purpose: Annotated[str | None, option("WHAT")] = None,
    reason: Annotated[str | None, option("WHY")] = None,
    as_json: AsJson = False,
) -> None:
    r"""Show what the releases of a data set have spent, or set a total for one.

    Pass the ledger to every `hedgerow publish`: a run beyond the total is refused. One that was
    killed while it drew stays booked.

    Args:
        file: The budget ledger.
        name: Set the total of a data set, once.
        raised: Raise the total of a data set; it is recorded.
        epsilon: With --open or --raise, what all its releases may spend together.
        delta: The same for delta; with --open, 0 by default.
        add: Book a release that was made without this ledger, even beyond the total. This cannot be
            undone.
        same: Note that two person columns identify the same people, each by one identifier.
        note: Note for whom a release was made, and what for.
        give_back: Give back a run that was stopped from outside before anybody saw anything of it;
            read the page on the ledger first.
        dataset: With --add and --same-people, the data set; for --add by default the schema's name.
        recipient: Whom a release is for; goes with --add and --note.
        purpose: What a release is for; goes with --add and --note.
        reason: Why; goes with --raise, --same-people and --give-back.

    Example:
        hedgerow ledger clinic.ledger --open clinic --epsilon 3
        hedgerow publish people.csv --schema schema.yaml --epsilon 1 --out release/ \
            --ledger clinic.ledger --dataset clinic
        hedgerow ledger clinic.ledger
    """
    from hedgerow.ledger.file import similar
    from hedgerow.ledger.ledger import BudgetLedger

    actions = {
        "--open": name, "--raise": raised, "--add": add, "--same-people": same or None,
        "--note": note, "--give-back": give_back,
    }  # fmt: skip
    options = {
        "--epsilon": epsilon, "--delta": delta, "--dataset": dataset, "--recipient": recipient,
        "--purpose": purpose, "--reason": reason,
    }  # fmt: skip
    action = _choose_action(actions, options)
    book = BudgetLedger(file)
    if action == "--open":
        opened = book.open(str(name), str(epsilon), delta="0" if delta is None else delta).name
        if near := similar(opened, [one for one in book.accounts() if one.name != opened]):
            warn(
                f"the ledger has {near[0]!r} too. If these are the same people, publish under that "
                "name and leave the new one unused: people have one total."
            )
    elif action == "--raise":
        book.raise_total(str(raised), epsilon, delta, reason=str(reason))
    elif add is not None:
        _add(book, add, dataset, recipient=recipient, purpose=purpose)
    elif same:
        book.same_people(str(dataset), *same, reason=str(reason))
    elif note is not None:
        book.note(note, recipient=recipient, purpose=purpose)
    elif give_back is not None:
        book.give_back(give_back, reason=str(reason))
    accounts = book.accounts()
    if as_json:
        facts = [account_facts(one) for one in accounts]
        print_json({"ledger": book.path, "datasets": facts, "warnings": warned()})
        return
    if not accounts:
        say(f"{file} has no data set yet. Open one: hedgerow ledger FILE --open NAME --epsilon 3")
    for place, account in enumerate(accounts):
        if place:
            say("")
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


def _choose_action(actions: dict[str, Any], options: dict[str, Any]) -> str | None:
    """What is to be done, once it is seen that the options belong together."""
    asked, given = (
        [name for name, value in one.items() if value is not None] for one in (actions, options)
    )
    if len(asked) > 1:
        raise UsageError(
            f"{asked[0]} and {asked[1]} are two things.", hint="Do one after the other."
        )
    needed, allowed = _WITH[asked[0]] if asked else ((), ())
    for name in needed:
        if name not in given:
            raise UsageError(f"{asked[0]} needs {name}.", hint=f"Add {name} {_NEEDED[name]}.")
    for name in given:
        if name not in (*needed, *allowed):
            homes = [one for one, (must, may) in _WITH.items() if name in (*must, *may)]
            raise UsageError(
                f"{name} goes with {' or '.join(homes)}.",
                hint="Leave it out to look at the ledger.",
            )
    return asked[0] if asked else None


def _add(book: BudgetLedger, place: Path, dataset: str | None, **notes: str | None) -> None:
    from hedgerow.ledger.file import unit_of
    from hedgerow.ledger.ledger import Notes
    from hedgerow.privacy.budget import Budget
    from hedgerow.release.files import check_guarantee, read_manifest, schema_of
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
    booking = book.add(
        schema.name if dataset is None else dataset,
        Budget(Fraction(promise["epsilon"]), Fraction(promise["delta"])),
        method=manifest["method"], unit=unit_of(schema), place=place, notes=Notes(**notes),
    )  # fmt: skip
    if booking.noted:
        warn(
            f"{place} was booked as release {booking.number} when it was drawn. It is noted as "
            "published now, and not booked again.",
        )
    if min(booking.left) < 0:
        warn(
            f"with this release, {booking.dataset} has spent more than its total. Publish nothing "
            "more about these people.",
        )
