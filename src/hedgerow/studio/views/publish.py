"""The seventh step: what will be spent, a confirmation, and the run."""

from __future__ import annotations

import secrets
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

from starlette.responses import Response

from hedgerow.errors import HedgerowError, UsageError
from hedgerow.ledger.file import plain
from hedgerow.ledger.ledger import BudgetLedger
from hedgerow.present.words import factor
from hedgerow.privacy.budget import LARGE_EPSILON, Budget, refuse_large
from hedgerow.release.files import leftovers
from hedgerow.studio.folder import Conflict, ReleaseFolder, argument, free_name, fresh, inside, look
from hedgerow.studio.steps import Asked, Way, link
from hedgerow.studio.views.budget import method_of
from hedgerow.studio.views.project import accounts_of
from hedgerow.studio.views.schema import doubt, list_repeated

_LEDGER = "budget.ledger"  # the first one of a folder
_OPEN = "+"  # before the name of the ledger that a data set is to be opened in; alone: a first one


def show(asked: Asked) -> Response:
    """What would be spent on whom, and where the release would go."""
    way, text, schema = asked.way, asked.text, asked.schema
    method = method_of(way, schema.kind)
    budget = Budget.of(way.get("epsilon", "1"), way.get("delta", "0"))
    listing = look(way.root)
    accounts = accounts_of(asked, listing.ledgers)
    earlier = [one for one in listing.releases if one.name == schema.name]
    return asked.page(
        "publish", text=text, schema=schema, method=method,
        factor=factor(budget.epsilon), large=budget.epsilon > LARGE_EPSILON,
        repeated=list_repeated(text) if schema.unit == "row" else [],
        out=free_name(way.root, "release"), once=secrets.token_urlsafe(12),
        accounts=accounts, opens=_opens(schema.name, accounts), earlier=earlier,
        together=_together(budget.epsilon, schema.name, earlier, accounts),
        command=_command(asked, way, method, free_name(way.root, "release")),
    )  # fmt: skip


def run(asked: Asked) -> Response:
    """Publishes, as `hedgerow publish` does."""
    way, text, schema = asked.way, asked.text, asked.schema
    method = method_of(way, schema.kind)
    if schema.unit == "row":
        doubt(text, asked)
    if not asked.get("confirmed"):
        raise UsageError(
            "spending has to be confirmed.",
            hint="Tick the box: what is spent cannot be taken back.",
        )
    refuse_large(way.get("epsilon", "1"), asked.get("yes_epsilon").strip() or None)
    sent, once = asked.studio.sent, asked.get("once")
    if once in sent:
        return _refuse_repeated(asked, way, sent[once])
    out = fresh(way.root, asked.get("out"))
    command = _command(asked, way, method, argument(way.root, out))
    # the same form can arrive twice at the same moment, and `setdefault` lets one of them in
    if not once or sent.setdefault(once, mine := [out.name]) is not mine:
        return _refuse_repeated(asked, way, sent.get(once, []))
    try:
        if asked.get("account").startswith(_OPEN):
            _open(asked, way, schema.name)
        begun = asked.begin(
            command, "Publishing", lambda _: way.to("release", release=out.name),
            clear=lambda: _clear(out),
        )  # fmt: skip
    except BaseException:  # nothing was begun, so the form may be sent again
        del sent[once]
        raise
    mine.append(begun.headers["location"])
    return begun


def _opens(name: str, accounts: list[tuple[str, Any]]) -> str | None:
    """Where a data set can be opened for these people; None if one has their name already.

    It is a ledger that can be read, or else a first one.
    """
    if any(one.get("name") == name for _, rows in accounts for one in rows):
        return None
    if not accounts:
        return _OPEN
    return next((f"{_OPEN}{ledger}" for ledger, rows in accounts
                 if not any("error" in one for one in rows)), None)  # fmt: skip


def _ledger(root: Path, chosen: str) -> Path:
    """The ledger that was chosen, which may be one that is to be opened."""
    name = chosen.removeprefix(_OPEN)
    return inside(root, name) if name else root / _LEDGER


def _open(asked: Asked, way: Way, name: str) -> None:
    """Opens a data set with the total that was entered, in a ledger that is there or a first one.

    Raises:
        UsageError: If the total does not cover this release, or the file is there already.
    """
    delta = way.get("delta", "0")
    total = Budget.of(asked.get("total"), asked.get("total_delta") or delta)
    this = Budget.of(way.get("epsilon", "1"), delta)
    if total.epsilon < this.epsilon or total.delta < this.delta:
        raise UsageError(
            "the total is smaller than what this release spends.",
            hint="Enter a larger total, or publish with a smaller epsilon.",
        )
    chosen = asked.get("account").partition("|")[0]
    path = fresh(way.root, _LEDGER) if chosen == _OPEN else _ledger(way.root, chosen)
    BudgetLedger(path).open(name, total.epsilon, delta=total.delta)


def _refuse_repeated(asked: Asked, way: Way, begun: list[str]) -> Response:
    """Refuses a form that was sent before, and leads to what it began."""
    error = Conflict(
        "this form was sent before, so nothing was published a second time.",
        hint="To publish once more, and to spend once more, go to the page Publish anew.",
    )
    again = ("To the page Publish", way.to("publish"))
    if begun and (way.root / begun[0]).exists():
        again = (f"To the release {begun[0]}", link("/release", release=begun[0]))
    elif len(begun) > 1:
        again = ("To the run that it began", begun[1])
    return asked.show("error", 409, error=error, leads={}, again=again)


def _together(
    epsilon: Fraction, name: str, earlier: list[ReleaseFolder], accounts: list[tuple[str, Any]]
) -> str:
    """What is spent with this release in all, as far as the folder tells; empty if it is alone.

    A release can be in the folder, in a ledger, or in both, so the larger sum of the two counts.
    """
    spent = Fraction(0)
    for one in earlier:
        try:
            spent += Budget.of(one.epsilon).epsilon
        except HedgerowError:  # a manifest that states no budget; `verify` says so
            continue
    booked = [Fraction(one["spent"]) for _, rows in accounts for one in rows
              if one.get("name") == name]  # fmt: skip
    spent = max([spent, *booked])
    return plain(spent + epsilon) if spent else ""


def _command(asked: Asked, way: Way, method: str, out: str) -> list[str]:
    command = ["publish", way.argument("data"), "--schema", way.argument("schema")]
    command += way.options("delimiter")  # the schema says the rest about the file
    command += ["--method", method, f"--epsilon={way.get('epsilon', '1')}"]
    command += [f"--delta={way.get('delta')}"] if way.get("delta", "0") != "0" else []
    again = asked.get("yes_epsilon").strip()
    command += [f"--yes-epsilon={again}"] if again else []
    command += ["--out", out]
    ledger, _, dataset = asked.get("account").partition("|")
    if ledger:
        path = _ledger(way.root, ledger)
        command += ["--ledger", argument(way.root, path), f"--dataset={dataset}"]
        for name in ("recipient", "purpose"):
            words = asked.get(name).strip()
            command += [f"--{name}={words}"] if words else []
    return command


def _clear(out: Path) -> None:
    """Removes what a run leaves that had to be killed; one that was stopped leaves nothing."""
    for folder in leftovers(out):
        shutil.rmtree(folder, ignore_errors=True)
