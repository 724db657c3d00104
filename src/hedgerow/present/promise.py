"""What is promised, in odds, and what the budget was spent on."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hedgerow.errors import ReleaseError, UnverifiableError
from hedgerow.estimate.measurements import exact
from hedgerow.present import words
from hedgerow.present.document import Bar, Grid, Part, Scale, Stack, Text
from hedgerow.verification.verify import Verdict

if TYPE_CHECKING:
    from hedgerow.release import Release

_BEFORE = ((1, 1000), (1, 100), (1, 10), (1, 2))
_NAMED = 3  # failed checks that are told one by one
_LITTLE = 2  # above this epsilon a limit is called weak

_RANGES = (
    " Where the table gives a range, it depends on the group: more for one purpose means less for "
    "another. So upper ends are not reached together and must not be added; the last line is the "
    "total."
)

# purposes in the words of somebody who knows no method
_PLAIN = {
    "select": "choosing how to divide records",
    "allocate": "choosing how far to divide each group",
    "relate": "choosing which pairs of attributes to count",
}


def after(before: float, epsilon: float) -> float:
    """What a suspicion becomes at most, if odds grow by the factor e^epsilon.

    Example:
        >>> round(after(0.01, 1.0), 3), after(0.5, 0.0)
        (0.027, 0.5)
    """
    factor = math.exp(min(epsilon, 700.0))
    return before * factor / (1 - before + before * factor)


def factor(epsilon: Fraction) -> str:
    """e^epsilon for people to read, rounded up.

    Example:
        >>> factor(Fraction(1)), factor(Fraction(100))
        ('2.72', 'e^100')
    """
    shown = words.times(epsilon).partition(" = ")[2]
    return shown or f"e^{words.decimal(epsilon)}"


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """That a release cannot be relied on, in words.

    Args:
        loud: Some words that nobody may overlook.
        why: Why.
        what: What cannot be done with the release.
        promised: What its promise is worth.
        numbers: What its numbers are worth.
        advice: What to do.
        exit_code: How a command ends that noticed it.
    """

    loud: str = "DO NOT RELY ON THIS RELEASE"
    why: str
    what: str = "relied on"
    promised: str = "Nothing that can be relied on."
    numbers: str = "Its numbers may be wrong as well, or not noisy."
    advice: str = "Ask whoever published it for a sound one."
    exit_code: int = 1


def doubt(release: Release, verdict: Verdict) -> Doubt | None:
    """Why a release cannot be relied on, if it fails its own checks or cannot be verified here.

    That a release was seeded is no lie: it says so itself, and is told elsewhere.
    """
    seeded = not release.guarantee["private"]
    failed = [c for c in verdict.checks if not c.ok and not (seeded and c.name == "private")]
    if not failed:
        return None
    if not verdict.known and [check.name for check in failed] == ["method"]:
        return Doubt(
            loud="THIS RELEASE CANNOT BE VERIFIED HERE",
            why=f"Nothing speaks against it, but {failed[0].words}.",
            what="verified here",
            promised="What it promises cannot be verified here.",
            numbers="Whether its numbers are noisy is not known here.",
            advice="Install the package that it was published with, or a newer hedgerow.",
            exit_code=UnverifiableError.exit_code,
        )
    told = []
    for check in failed[:_NAMED]:
        # what stray files are called is nothing that the release tells
        stray = check.name == "other files"
        told.append(f"{check.name}: " + ("there are some beside its own" if stray else check.words))
    more = f"; and {len(failed) - _NAMED} more" if len(failed) > _NAMED else ""
    return Doubt(why=f"It fails its own check ({'; '.join(told)}{more}).")


def promise(release: Release, verdict: Verdict) -> tuple[Part, ...]:
    """The guarantee in plain words and in odds, if the books bear it out."""
    doubted = doubt(release, verdict)
    if doubted is not None:
        return (Text(f"{doubted.promised} {doubted.why} {doubted.advice}", "bad"),)
    if not release.guarantee["private"]:
        return tuple(Text(sentence, "bad") for sentence in words.guarantee(release))
    epsilon, delta = exact(release.guarantee["epsilon"]), exact(release.guarantee["delta"])
    one = words.protected(release.schema)[0]
    beside = "than without the person's data" if one == "person" else "than from one without it"
    limit = "The table shows the limit."
    if epsilon > _LITTLE:
        limit = (
            f"The limit is a weak one with an epsilon of {words.decimal(epsilon)}: see the table."
        )
    parts: list[Part] = [Text(sentence) for sentence in words.guarantee(release)]
    parts.append(
        Text(
            f"Take any one {one}. Whoever reads the release, however clever and whatever else they "
            f"know, can learn only so much more about this {one} {beside}. {limit}"
        )
    )
    parts.append(odds(epsilon, one))
    if delta:
        parts.append(
            Text(
                f"Delta is {words.decimal(delta)}: with a chance of about one in {_one_in(delta)} "
                "the promise may not hold."
            )
        )
    parts.append(
        Text(
            "Facts about groups are not hidden: that is what a release is for. If something is "
            f"more frequent in one group of {release.schema.unit_names[1]} than in another, a "
            "release shows it, whoever is in the data."
        )
    )
    strength = words.strength(verdict.epsilon, verdict.delta)
    checked = (
        f"Recomputed from the release alone: {strength}. All {len(verdict.checks)} checks pass. "
        "Whether the noise was really drawn as stated cannot be seen from a release."
    )
    return (*parts, Text(checked, strong="The privacy accounts are in order."))


def odds(epsilon: Fraction, one: str) -> Grid:
    """How far a suspicion can grow, as a table."""
    rows = []
    for of, number in _BEFORE:
        now, known = (after(of / number, times * float(epsilon)) for times in (1, 2))
        rows.append((f"{of} in {number:,}", percent_up(now), Bar(now), percent_up(known)))
    return Grid(
        f"How far a suspicion about one {one} can grow because of the release",
        (
            "a suspicion of",
            "becomes at most",
            Scale(1.0, "%"),
            "if known to be in the data, at most",
        ),
        rows=tuple(rows),
        numbers=frozenset({1, 3}),
        whole=True,
    )


def percent_up(share: float) -> str:
    """A share in percent, rounded up: a promise is never overstated, nor is anything certain.

    Example:
        >>> percent_up(0.0271), percent_up(0.985), percent_up(0.9951)
        ('2.8%', '99%', 'over 99%')
    """
    if share > 0.99:
        return "over 99%"
    digits = 2 if share < 0.01 else 1 if share < 0.1 else 0
    return f"{math.ceil(share * 10 ** (2 + digits) - 1e-9) / 10**digits:.{digits}f}%"


def _one_in(delta: Fraction) -> str:
    number = int(1 / delta)
    return f"{number:,}" if number < 10**15 else f"10^{len(str(number)) - 1}"


def _plain(purpose: str) -> str:
    """What a purpose of the ledger is called on the page."""
    return _PLAIN.get(purpose) or words.purpose_words(purpose)


def shares(ledger: dict[str, Any], named: Callable[[str], str] = _plain) -> list[tuple[str, float]]:
    """What part of the budget each purpose got, on the average path to a region.

    What was accounted for in rho counts with the epsilon that it was converted to.

    Args:
        ledger: The books of a release.
        named: What purposes are called.

    Raises:
        ReleaseError: If the ledger, which may come from anybody, cannot be read.

    Example:
        >>> shares({"budgets": {"epsilon": {"unit": "1/4", "units": 4}}, "paths": [
        ...     {"leaves": 3, "spent": {"epsilon": {"leaf": 3, "select": 1}}}]})
        [('choosing how to divide records', 0.25), ('the counts that are published', 0.75)]
    """
    try:
        if [exact(entry["unit"]) for entry in ledger["budgets"].values()] and not ledger["paths"]:
            return []  # nothing was listed, so no path to anything is there
        spent: dict[str, float] = {}
        weights = [int(path["leaves"]) for path in ledger["paths"]]
        if not any(weights):  # a release may list nothing at all, and was paid for all the same
            weights = [1] * len(weights)
        for budget, entry in ledger["budgets"].items():
            unit, units = exact(entry["unit"]), int(entry["units"])
            worth = float(unit)
            if budget != "epsilon":
                worth = float(exact(ledger["conversion"]["epsilon"])) / max(1, units)
            for path, weight in zip(ledger["paths"], weights, strict=True):
                for purpose, used in path["spent"].get(budget, {}).items():
                    amount = int(used) * worth * weight / sum(weights)
                    spent[purpose] = spent.get(purpose, 0.0) + amount
        total = sum(spent.values())
        order = words.in_order(spent)
        found = [(named(one), spent[one] / total) for one in order if spent[one]]
        if not found or not all(math.isfinite(share) and 0 <= share <= 1 for _, share in found):
            raise ValueError
        return found
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        raise ReleaseError(
            "the ledger of this release cannot be read",
            hint="Ask whoever published the release for a fresh copy.",
        ) from None


def budget(release: Release, sound: bool) -> tuple[Part, ...]:
    """The budget as a picture, and in numbers; nothing if it cannot be read.

    Args:
        release: The release.
        sound: Whether its books add up; if not, they need not even be readable.
    """
    try:
        parts = shares(release.ledger)
        spent = [
            (purpose, kind, amount.replace(" ", "\u00a0"))
            for purpose, kind, amount in (
                words.spent(release, _plain) if sound else words.spending(release.ledger, _plain)
            )
        ]
    except ReleaseError:
        if sound:
            raise
        return ()
    per, record = words.spent_of(release.schema), words.spent_of(release.schema).split()[-1]
    person, lead = release.schema.person, "This is what the release says of itself."
    if sound:
        lead = (
            "Every look at the data costs part of the budget. What is spent on any one "
            f"{record} adds up to no more than was promised. The picture shows the average."
        )
        if person is not None and person.max_rows > 1:
            lead += f" A person may have up to {person.max_rows} rows, each of which costs as much."
        if any("\u00a0to\u00a0" in amount for *_, amount in spent):
            lead += _RANGES
    heads, rows = ("what for", "budget", "amount"), tuple(spent)
    kinds = {kind for _, kind, _ in spent}
    table = Grid(f"What was spent, {per}", heads, rows=rows, numbers=frozenset({2}))
    if len(kinds) == 1:
        short = tuple((what, amount) for what, _, amount in spent)
        table = Grid(table.caption, ("what for", *kinds), rows=short, numbers=frozenset({1}))
    return (Text(lead), Stack("The budget", tuple(parts)), table)
