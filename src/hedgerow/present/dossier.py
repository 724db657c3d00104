"""The dossier of a release, for those who must approve it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hedgerow.estimate.measurements import exact
from hedgerow.ledger.file import Account, Entry, plain, unit_of
from hedgerow.present import words
from hedgerow.present.document import Bullets, Document, Grid, Part, Parts, Section, Text
from hedgerow.present.kinds import KINDS
from hedgerow.present.report import Doubt, doubt, method_words, odds, warnings_of
from hedgerow.release import Release
from hedgerow.schema import Schema
from hedgerow.verification.verify import Verdict

# How a release was made of data, in sentences: the preparation of records, and the mechanisms.


_CHOSEN: tuple[tuple[set[str], str], ...] = (
    ({"select", "cut", "relate"},
     "Choices are made by the exponential mechanism or by permute-and-flip."),
    ({"test", "gate"},
     "Which partitions are divided further is decided by noisy counts and public thresholds."),
    ({"side"},
     "Risks are measured on synthetic rows, published by DiffMulti from a part of the budget: "
     "with the exponential mechanism or permute-and-flip, and discrete Laplace noise."),
)  # fmt: skip


def preparation(schema: Schema) -> list[str]:
    """What is done to data before it is counted, as sentences."""
    sentences = []
    if schema.identifiers:
        sentences.append(f"Columns dropped: {', '.join(schema.identifiers)}.")
    if schema.kind == "transactions":
        items = schema.transaction_items
        sentences.append(
            f"Items outside the public universe: {items.foreign}; records without items: "
            f"{items.empty}; at most {items.max_items or 'any number of'} items of a record count."
        )
    return [*sentences, "Each rule looks at one record, or at the rows of one person, alone."]


def mechanisms(release: Release) -> str:
    """The mechanisms of a release, in a paragraph."""
    about = release.describe()
    paid = {purpose for purpose, _, _ in words.list_spending(release.ledger, {})}
    parts = [
        f"{release.method} {method_words(release)}.",
        *(text for purposes, text in _CHOSEN if paid & purposes),
        about.counts,
        "All that the guarantee rests on is sampled exactly, in integer arithmetic, from a "
        "cryptographic random source.",
        about.suppressed,
    ]
    return " ".join(part for part in parts if part)


# Whether the entry of a budget ledger is that of a release, and what speaks against it.


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
    same = (one for one in every if digest is not None and one[1].digest == digest)
    if booked := next(same, None):
        return booked, None
    name = release.ledger.get("release_id")
    called = (one for one in every if name is not None and one[1].release_id == name)
    if (booked := next(called, None)) is None:
        return None, None
    account, entry = booked
    differs = ["its hash"] if entry.digest is not None else _differs(release, entry)
    if not differs:
        return booked, None
    return (account, None), (
        f"The id of the release is that of entry {entry.number}, which is of another release "
        f"by {', '.join(differs)}: the manifest was changed, or its id was copied."
    )


def doubts(release: Release, entry: Entry) -> list[str]:
    """What speaks against an entry, as sentences; none if it is what it should be."""
    sentences = []
    if entry.digest is None:
        sentences.append(
            "The entry has no hash of the manifest. Only the id that the manifest states connects "
            "the two, and whoever writes a manifest can state any."
        )
    if differs := _differs(release, entry):
        sentences.append(f"The entry differs from the release in: {', '.join(differs)}.")
    if not entry.counts:
        sentences.append(
            f"The entry was {entry.state}, so it counts for nothing in the total, although the "
            "release exists."
        )
    return sentences


def _differs(release: Release, entry: Entry) -> list[str]:
    promise = release.guarantee
    pairs = {
        "method": (entry.method, release.method),
        "epsilon": (entry.epsilon, exact(promise["epsilon"])),
        "delta": (entry.delta, exact(promise["delta"])),
        "unit": (entry.unit, unit_of(release.schema)),
    }
    return [name for name, (booked, stated) in pairs.items() if booked != stated]


# What a data protection officer or an ethics board must know about a release, as sections.
#
# Arranged by what NIST SP 800-226 asks of a differentially private deployment: the privacy
# parameters and the unit first, then mechanisms, utility and bias, then trust, security and
# exposure. Everything is public: it follows from the release, and from the budget ledger if one is
# given.


OPEN = "(to be completed by a person)"
_SHORT = 24  # characters: longer headings of rows need room on a phone, others leave it
ODD: dict[str, str] = {  # what becomes of a missing or foreign value, by the rule of the schema
    "error": "stops the run",
    "other": 'becomes the public value "other"',
    "drop": "drops the row",
    "clip": "becomes the nearer bound",
}


def dossier(release: Release, verdict: Verdict, booked: Booked | None = None) -> Document:
    """The document.

    Args:
        release: The release.
        verdict: What `hedgerow.verify` found.
        booked: The data set in the budget ledger, if there is one.

    Example:
        >>> import hedgerow
        >>> from hedgerow import sample
        >>> people = sample.people(500, seed=3)
        >>> release = hedgerow.publish(people, sample.schema(), epsilon=1, seed=7)
        >>> [one.title for one in dossier(release, hedgerow.verify(release)).sections][:3]
        ['Purpose and recipients', 'Privacy parameters', 'Unit of privacy']
    """
    doubted = doubt(release, verdict)
    sections: dict[str, Parts] = {
        "Purpose and recipients": _purpose(release, booked),
        "Privacy parameters": _parameters(release, doubted),
        "Unit of privacy": _unit(release),
        "What is protected, and what is not": _protection(release),
        "Public knowledge and preprocessing": _public(release),
        "Mechanisms and the use of the budget": _mechanisms(release),
        "Utility and bias": _utility(release),
        "Trust model, security and exposure": _TRUST,
        "Composition with other releases": _composition(release, booked),
        "Verification": _verification(verdict),
        "Remaining risks": _risks(release),
        "Decision": _SIGNATURE,
    }
    about = (
        f"About the release of {release.schema.name} by {release.method}, for a data protection "
        "officer or an ethics board. The topics are those of NIST SP 800-226. It was written from "
        "the release itself, without private data."
    )
    return Document(
        title=f"{release.schema.name}: privacy dossier",
        head=(Text(about, "lead"),),
        sections=tuple(
            Section(title, tuple(map(_narrow, parts))) for title, parts in sections.items()
        ),
        warnings=warnings_of(release, doubted),
        numbered=True,
    )


def _narrow(part: Part) -> Part:
    """A table gives the headings of its rows room on a phone where they are long."""
    if isinstance(part, Grid):
        return replace(part, long=any(len(str(row[0])) > _SHORT for row in part.rows))
    return part


def _purpose(release: Release, booked: Booked | None) -> Parts:
    about = release.schema.metadata
    entry = None if booked is None else booked[1]
    answers = {
        "what is published": release.schema.name,
        "publisher": about.institution,
        "contact": about.contact,
        "period of the data": about.period,
        "purpose": about.purpose or (None if entry is None else entry.purpose),
        "recipients": about.recipients or (None if entry is None else entry.recipient),
        "license": about.license,
        "legal basis": None,
    }
    rows = tuple((name, value or OPEN) for name, value in answers.items())
    return (
        Grid("What, by whom, for whom", ("topic", "answer"), rows=rows),
        release.describe().summary,
    )


def _parameters(release: Release, doubted: Doubt | None) -> Parts:
    if doubted is not None:
        return (f"{doubted.promised} {doubted.advice}",)
    if not release.guarantee["private"]:
        return ("None: the run was seeded. This is a test, which must not be given away.",)
    epsilon, delta = exact(release.guarantee["epsilon"]), exact(release.guarantee["delta"])
    accounting = "pure differential privacy"
    if release.guarantee.get("accounting") == "zcdp":
        accounting = "zero-concentrated differential privacy"
    elif delta:
        accounting = "approximate differential privacy, whose delta pays for suppressing small rows"
    parts: list[Part] = [
        f"{words.strength(epsilon, delta)}; accounted for as {accounting}.",
        "Whether any one person took part shifts the odds of anything that can be learnt from the "
        f"release by a factor of at most {words.factor(epsilon)}.",
        odds(epsilon, "person"),
    ]
    if delta:
        parts.append(
            f"With a probability of about {words.decimal(delta)} (delta) this may not hold. It "
            "should be far below 1 divided by the number of people."
        )
    weak = words.caution(epsilon)
    return (*parts, *([] if weak is None else [weak]))


def _unit(release: Release) -> Parts:
    schema, promise = release.schema, release.guarantee
    known = f"A person is identified by the column {schema.person_column}, which is not published."
    if schema.person is not None:
        persons = (
            f"{known} At most {schema.person.max_rows} of a person's rows are counted; which ones "
            "is decided by looking at that person's rows alone. So counts are of capped rows, not "
            "of people, and whatever people with many rows have in common is counted less."
        )
    elif schema.person_column is not None:
        persons = (
            f"{known} All of a person's rows are one record, so that all their items are protected "
            "together."
        )
    else:
        persons = (
            "The schema states that nobody has more than one, which cannot be checked: somebody "
            "with k of them is protected with k times epsilon."
        )
    return (
        f"The protected unit is {release.describe().protected}. Neighboring data sets: "
        f"{promise.get('neighbors', 'not stated')}.",
        f"Counts are of {schema.unit_names[1]}.",
        persons,
    )


def _protection(release: Release) -> Parts:
    return (
        "Protected: whether any one person is in the data, and everything recorded about them, "
        "against whoever reads the release, whatever else they know and compute.",
        "Not protected:",
        Bullets(
            (
                ("Facts about groups", "What holds for a family, a village or all smokers can be "
                 "learnt, also about people who did not take part."),
                ("Groups of people", "A group of k people is protected with k times epsilon."),
                ("The schema", f"{KINDS[release.kind].public} published as they are."),
                ("That the release exists", "Nor when, by whom and from which source it was made."),
            )
        ),
    )  # fmt: skip


def _public(release: Release) -> Parts:
    schema = release.schema
    about = schema.metadata
    signed = f"Who confirmed that everything in the schema is public knowledge: {OPEN}"
    if schema.is_signed_off:
        signed = (
            f"{about.reviewer} signed off on {about.reviewed} that everything in the schema is "
            "public knowledge."
        )
    if release.guarantee.get("began_as_draft"):
        signed = f"The schema began as a draft that was read off the private data. {signed}"
    rows = [
        (one.name, f"{one.size:,} values", ODD[one.missing], ODD[one.outside])
        for one in schema.columns
    ]
    heads = ("column", "domain", "a missing value", "a value outside the domain")
    caption = "Columns, the size of their public domains, and what happens to odd values"
    query = (
        "The data came from a database query. That each of its rows depends on one person alone "
        "was acknowledged by whoever ran it, and is not checked."
    )
    return (
        "Bounds, values, taxonomies and classes come from the schema, which must be public "
        "knowledge and is published with the release.",
        signed,
        *([Grid(caption, heads, rows=rows)] if rows else []),
        *preparation(schema),
        *([query] if release.guarantee.get("row_wise_query") else []),
    )


def _mechanisms(release: Release) -> Parts:
    heads = ("what for", "budget", words.spent_of(release.schema))
    settings = ", ".join(f"{key} {_setting_text(value)}" for key, value in release.settings.items())
    return (
        mechanisms(release),
        Grid("What the budget was spent on", heads, rows=words.list_spent(release)),
        f"Settings: {settings}. They must be chosen without looking at the data.",
    )


def _setting_text(value: Any) -> str:
    if isinstance(value, dict):
        return "(" + ", ".join(f"{key} {_setting_text(one)}" for key, one in value.items()) + ")"
    return "by rule" if value is None else str(value)


def _utility(release: Release) -> Parts:
    total, name = release.count_all(), release.schema.unit_names[1]
    ends = (total.estimate.clip(0.0), total.low, total.high)
    about, low, high = (words.number(float(end[0])) for end in ends)
    title, small = KINDS[release.kind].small
    silent = [f"It says nothing about: {', '.join(release.unmeasured)}."]
    return (
        f"The release counts about {about} {name} (95% interval: {low} to {high}). Every number "
        "comes with an interval that holds with a stated probability, whatever the data looks "
        "like.",
        *(silent if release.unmeasured else []),
        f"{title}. {small.format(people=name)}",
        "Noise, sampling and suppression weigh more on small groups, often minorities, which have "
        "the larger relative errors. Before decisions about such a group are based on the release, "
        "look at its interval.",
    )


_TRUST: Parts = (
    "Central model: the publisher holds the raw data and is trusted with it; recipients of the "
    "release are not trusted at all.",
    Bullets(
        (
            ("Mechanism implementation", "Exact integer samplers; the budget is charged, in exact "
             "fractions, before a number is drawn."),
            ("Side channels", "Running times, error messages, logs and files on the publisher's "
             "machine are as private as the data, and are not part of the release."),
            ("Data security and access control", f"Who can read the raw data, and how it is "
             f"protected: {OPEN}"),
            ("Data collection exposure", f"What else was made from the same data, and how long it "
             f"is kept: {OPEN}"),
        )
    ),
)  # fmt: skip


def _composition(release: Release, booked: Booked | None) -> Parts:
    adds = "Several releases about the same people add up: epsilons to epsilons, deltas to deltas."
    if booked is None:
        return (adds, f"No budget ledger was given. The total over all releases: {OPEN}")
    account, entry = booked
    budgets = zip(
        ("epsilon", "delta"), account.spent, (account.epsilon, account.delta), strict=True
    )
    rows = [
        (name, plain(one), plain(of - one), plain(of)) for name, one, of in budgets if of or one
    ]
    releases = [
        (str(x.number), x.booked[:10], x.method, plain(x.epsilon), plain(x.delta), x.state)
        for x in account.entries
    ]
    heads = ("release", "booked", "method", "epsilon", "delta", "state")
    which = "is not in it" if entry is None else f"has the number {entry.number} in it"
    return (
        adds,
        f"The budget ledger keeps the data set {account.name}. This release {which}.",
        *([] if entry is None else doubts(release, entry)),
        Grid("The total", ("budget", "spent", "left", "of"), rows=rows),
        Grid("All releases that were booked", heads, rows=releases),
    )


def _verification(verdict: Verdict) -> Parts:
    held = sum(check.ok for check in verdict.checks)
    first = "What was spent could not be recomputed."
    if verdict.epsilon is not None:
        recomputed = words.strength(verdict.epsilon, verdict.delta)
        first = f"“hedgerow verify” recomputed what was spent from the release alone: {recomputed}."
    rows = [(one.name, "holds" if one.ok else "FAILS", one.words) for one in verdict.checks]
    return (
        f"{first} {held} of {len(verdict.checks)} checks hold.",
        Grid("Checks", ("check", "result", "found"), rows=rows),
        "What nobody can see from a release:",
        Bullets(tuple(verdict.unchecked)),
    )


def _risks(release: Release) -> Parts:
    several = ("Several records of a person", "If there are any, their person is protected less.")
    if release.schema.person_column is not None:
        several = (
            "Several identifiers of a person",
            "Whoever appears under more than one counts as several people, and is protected less.",
        )
    risks = (
        ("The schema", "If something in it was taken from the data, that is not protected."),
        several,
        ("Choices made by looking at the data", "Settings that were tried out on the private data "
         "are outside the guarantee."),
        ("Misreading", "Synthetic rows look like records of people and are not; estimates without "
         "their intervals look more certain than they are."),
        ("Software", "A mistake in hedgerow or in what it is built on could break the guarantee."),
    )  # fmt: skip
    return (Bullets(risks), f"Other risks, and what is done about them: {OPEN}")


_SIGNATURE: Parts = (
    "The release may be / may not be given to the recipients named above, under these conditions:",
    "..............................................",
    "Name and office: ..............................................",
    "Place and date: ..............................................",
    "Signature: ..............................................",
)
