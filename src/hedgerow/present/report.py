"""What is said about a release to whom it is given, and to the holder of the data."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from hedgerow.errors import ReleaseError, UnverifiableError
from hedgerow.estimate.measurements import exact
from hedgerow.present import render, words
from hedgerow.present.document import (
    Bar,
    Bullets,
    Code,
    Document,
    Facts,
    Folded,
    Grid,
    Part,
    Parts,
    Scale,
    Section,
    Stack,
    Text,
)
from hedgerow.present.findings import brief, findings, notable
from hedgerow.present.kinds import KINDS
from hedgerow.present.tables import count_grid, how_to_read, named_tables
from hedgerow.present.value_bars import questions, values
from hedgerow.registry import METHODS
from hedgerow.release import Release
from hedgerow.schema import Numeric, Schema
from hedgerow.verification import verify
from hedgerow.verification.verify import Verdict

if TYPE_CHECKING:
    from hedgerow.evaluation.scorecard import Judgment


_TOP = 12  # regions, rows or itemsets
_BEFORE = ((1, 1000), (1, 100), (1, 10), (1, 2))
_FAILED = 3  # failed checks that are told one by one
_LITTLE = 2  # above this epsilon a limit is called weak


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
    # what stray files are called is nothing that the release tells
    why = [
        f"{one.name}: {'there are some beside its own' if one.name == 'other files' else one.words}"
        for one in failed[:_FAILED]
    ]
    more = f"; and {len(failed) - _FAILED} more" if len(failed) > _FAILED else ""
    return Doubt(why=f"It fails its own check ({'; '.join(why)}{more}).")


def open_and_verify(source: str | Path | Release) -> tuple[Release, Verdict]:
    """A release and what `hedgerow.verify` finds, with the folder read once.

    Args:
        source: The release, or its folder, whose files are then checked too.

    Raises:
        ReleaseError: If a file is missing, changed or damaged.
    """
    verdict = verify(source)
    if isinstance(source, Release):
        return source, verdict
    return verdict.release or Release.load(source), verdict


def page(source: str | Path | Release, against: Judgment | None = None) -> str:
    """The report as a page in one file.

    Args:
        source: The release, or its folder, whose files are then checked too.
        against: What was found when the release was held against the raw data.

    Example:
        >>> import hedgerow
        >>> from hedgerow import sample
        >>> people = sample.people(500, seed=3)
        >>> release = hedgerow.publish(people, sample.schema(), epsilon=1, seed=7)
        >>> page(release).startswith("<!DOCTYPE html>")
        True
    """
    release, verdict = open_and_verify(source)
    return render.page(report(release, verdict, against))


def report(release: Release, verdict: Verdict, against: Judgment | None = None) -> Document:
    """Everything there is to say about a release.

    Without a judgment it is for recipients, and a function of the release alone. A release that
    fails its own checks gets a document that warns of it.

    Args:
        release: The release.
        verdict: What `hedgerow.verify` found.
        against: What was found when the release was held against the raw data. The document is
            then NOT PRIVATE, and says so on top and on every printed page.
    """
    doubted = doubt(release, verdict)
    whom, source = "for its recipients", "the release alone."
    if against is not None:
        whom, source = "for the holder of the data", "the release and the raw data: NOT PRIVATE."
    brand = f"A release under differential privacy, {whom}"
    if doubted is not None:
        brand = f"A release that cannot be {doubted.what}, {whom}"
    elif not release.guarantee["private"]:
        brand = "A test release, NOT PRIVATE"
    kind, missing = KINDS[release.kind], release.describe().suppressed
    made = (
        *kind.columns(release.schema), *kind.making(release), *kind.division(release, _TOP),
        *(() if missing is None else (missing,)),
    )  # fmt: skip
    sections = [
        Section("Findings", findings(release) if doubted is None else (), "findings"),
        Section("Named tables", _named_tables(release) if doubted is None else (), "named"),
        Section("In short", _short(release, doubted, against), "short"),
        Section("What is promised", _promise(release, verdict, doubted), "promise"),
        Section("What the budget was spent on", _budget(release, doubted is None), "budget"),
        Section("What was released", made, "released"),
    ]
    if against is None:
        sections.append(Section(kind.values, values(release, None), "values"))
        sections.append(Section("What can be asked", questions(release), "questions"))
    else:
        # what knows raw data is loaded where there is any
        from hedgerow.present.against import sections as against_sections

        raw = [[share * one.per_record for share in one.raw] for one in against.marginals]
        sections += against_sections(against, values(release, raw))
    sections.append(Section("What is not protected", _limits(release), "limits"))
    sections.append(Section("How to check and use it", _use(release), "check"))
    return Document(
        title=release.schema.name,
        name=f"{release.schema.name}: a release by hedgerow",
        brand=brand,
        head=_head(release, doubted, against),
        sections=tuple(one for one in sections if one.parts),
        foot=f"Made by hedgerow from {source}",
        warnings=warnings_of(release, doubted, against),
        private=against is None,
    )


def overview(release: Release, top: int, parts: Parts | None = None) -> Document:
    """The report in short: what was published, what it says, what is promised, the largest parts.

    Args:
        release: The release.
        top: How many parts.
        parts: What to show instead of findings and these parts.
    """
    kind, about = KINDS[release.kind], release.describe()
    holds = words.describe_parts(release) if about.number else about.summary
    sentences = [*words.guarantee(release), about.suppressed, words.unmeasured(release)]
    blocks: list[Parts] = [tuple(one for one in sentences if one is not None)]
    if parts is None:
        made = () if release.kind == "table" else kind.making(release)  # a tree is asked for
        parts = (*made, *kind.division(release, top)) if top else ()
        if 0 < top < about.number:
            parts = (*parts, f"({about.number:,} in all; --top N for more)")
        named = tuple(one for one in _named_tables(release) if not isinstance(one, Folded))
        blocks = [(*brief(release), *blocks[0]), named]
    blocks.append(parts)
    if release.kind == "marginals" and top:
        name = quote(release.schema.columns[0].name)
        blocks.append((f"hedgerow table RELEASE {name} shows counts, of any columns.",))
    return Document(
        title=f"{release.schema.name}: {holds.rstrip('.')}, about {_number(release)} "
        f"{about.people}.",
        sections=tuple(Section("", block) for block in blocks),
        private=bool(release.guarantee["private"]),
    )


def _number(release: Release) -> str:
    """How many records a release counts, about."""
    everybody = release.count_all()
    ends = (everybody.estimate, everybody.low, everybody.high)
    return words.round_count(*(float(one[0]) for one in ends))[0]


def _named_tables(release: Release) -> Parts:
    """The tables that the schema names, with all their cells."""
    tables = [release.table(*names) for names in named_tables(release)]
    notes = dict.fromkeys(line for one in tables for line in how_to_read(one, release.schema))
    read = Folded("How to read these tables", tuple(Text(line, "note") for line in notes))
    return (*(count_grid(release, one) for one in tables), read) if tables else ()


def warnings_of(
    release: Release, doubted: Doubt | None, against: Judgment | None = None
) -> tuple[tuple[str, str], ...]:
    """What nobody may overlook about a release."""
    warnings, why = [] if doubted is None else [(doubted.loud, doubted.why)], ""
    if against is not None:
        why = "This page was computed from the raw data. For its holder alone: do not pass it on."
    elif not release.guarantee["private"]:
        why = "This release was made with a seed, so its noise can be taken away again."
    return (*warnings, *([("NOT PRIVATE", why)] if why else []))


def _head(release: Release, doubted: Doubt | None, against: Judgment | None) -> Parts:
    if doubted is not None:
        epsilon = delta = f"cannot be {doubted.what}"
    elif not release.guarantee["private"]:
        epsilon = delta = "none: seeded"
    else:
        promised = (exact(release.guarantee[name]) for name in ("epsilon", "delta"))
        epsilon, delta = map(words.decimal, promised)
    raw = f"raw {release.schema.unit_names[1]} counted"
    figures = (
        ("epsilon (smaller is safer)", epsilon),
        ("delta", delta),
        ("published", words.regions(release)),
        (f"{release.describe().people}, about", _number(release)),
        *([] if against is None else [(raw, f"{against.records:,}")]),
    )
    whose = facts(release.schema)
    return (
        Text(f"Published with {release.method}, which {method_words(release)}.", "lead"),
        *([Facts(tuple(whose))] if whose else []),
        Facts(figures, large=True),
    )


def method_words(release: Release) -> str:
    """What a method does, as the end of a sentence."""
    return METHODS[release.method].words if release.method in METHODS else "is not installed here"


# Whose data it is and what for, as the schema's metadata tells.


_NAMES = {
    "institution": "published by",
    "contact": "contact",
    "period": "period",
    "license": "license",
    "purpose": "purpose",
    "recipients": "recipients",
}


def facts(schema: Schema) -> list[tuple[str, str]]:
    """What the metadata tells, in the words of a reader; the sign-off last.

    Example:
        >>> from hedgerow.schema import Schema
        >>> facts(Schema.from_dict({"name": "x", "unit": "row", "metadata": {"period": "1999"},
        ...     "attributes": {"a": {"type": "boolean"}}}))
        [('period', '1999'), ('one row is', 'a person')]
    """
    about = schema.metadata.describe()
    if not about:
        return []
    pairs = [(name, about[key]) for key, name in _NAMES.items() if key in about]
    record = "record" if schema.kind == "transactions" else "row"
    one = schema.unit_names[0]
    if one != record:
        pairs.append((f"one {record} is", f"{'an' if one[0].lower() in 'aeiou' else 'a'} {one}"))
    if schema.is_signed_off:
        pairs.append(("schema signed off by", f"{about['reviewer']}, {about['reviewed']}"))
    return pairs


# The sections.


def _short(release: Release, doubted: Doubt | None, against: Judgment | None) -> Parts:
    """What somebody should know who reads no further."""
    lines: list[str | None] = []
    told = ["Everything on this page follows from the release alone."]
    if doubted is not None:
        lines.append(f"What it promises cannot be {doubted.what}.")
    if against is not None:
        from hedgerow.present.against import in_short, strange

        told = in_short(against)
        if not against.matches:
            lines.append(f"{strange(against)} What is compared with it below says nothing.")
    if doubted is not None:
        lines.append(doubted.numbers)
    elif not release.guarantee["private"]:
        lines.append("This release is a test. It protects nobody and must not be given away.")
    else:
        epsilon = exact(release.guarantee["epsilon"])
        lines += [
            f"Whether any one {words.protected(release.schema)[0]} is in the data shifts the odds "
            "of anything that can be learnt from it by a factor of at most "
            f"{words.factor(epsilon)}.",
            words.caution(epsilon),
        ]
    if doubted is None:
        lines.append(release.describe().summary)
    if release.unmeasured:
        lines.append(f"It says nothing about {', '.join(release.unmeasured)}.")
    lines += [words.describe_cap(release.schema), *told]
    return (Bullets(tuple(line for line in lines if line is not None)),)


# The promise, in odds, and what the budget was spent on.


def _promise(release: Release, verdict: Verdict, doubted: Doubt | None) -> Parts:
    """The guarantee in plain words and in odds, if the books bear it out."""
    if doubted is not None:
        return (Text(f"{doubted.promised} {doubted.why} {doubted.advice}", "bad"),)
    if not release.guarantee["private"]:
        return tuple(Text(sentence, "bad") for sentence in words.guarantee(release))
    epsilon, delta = (exact(release.guarantee[name]) for name in ("epsilon", "delta"))
    one = words.protected(release.schema)[0]
    beside = "than without the person's data" if one == "person" else "than from one without it"
    limit = "The table shows the limit."
    if epsilon > _LITTLE:
        limit = (
            f"The limit is a weak one with an epsilon of {words.decimal(epsilon)}: see the table."
        )
    parts: list[Part] = [
        *words.guarantee(release),
        f"Take any one {one}. Whoever reads the release, however clever and whatever else they "
        f"know, can learn only so much more about this {one} {beside}. {limit}",
        odds(epsilon, one),
    ]
    if delta:
        times = int(1 / delta)
        rare = f"{times:,}" if times < 10**15 else f"10^{len(str(times)) - 1}"
        parts.append(
            f"Delta is {words.decimal(delta)}: with a chance of about one in {rare} the promise "
            "may not hold."
        )
    strength = words.strength(verdict.epsilon, verdict.delta)
    return (
        *parts,
        "Facts about groups are not hidden: that is what a release is for. If something is more "
        f"frequent in one group of {release.schema.unit_names[1]} than in another, a release shows "
        "it, whoever is in the data.",
        Text(
            f"Recomputed from the release alone: {strength}. All {len(verdict.checks)} checks "
            "pass. Whether the noise was really drawn as stated cannot be seen from a release.",
            strong="The privacy accounts are in order.",
        ),
    )


def odds(epsilon: Fraction, one: str) -> Grid:
    """How far a suspicion can grow, as a table."""
    rows = []
    for of, number in _BEFORE:
        now, known = (words.after(of / number, times * float(epsilon)) for times in (1, 2))
        before = f"{of} in {number:,}"
        rows.append((before, words.percent_up(now), Bar(now), words.percent_up(known)))
    caption = f"How far a suspicion about one {one} can grow because of the release"
    known_to_be = "if known to be in the data, at most"
    heads = ("a suspicion of", "becomes at most", Scale(1.0, "%"), known_to_be)
    return Grid(caption, heads, rows=rows, numbers={1, 3}, whole=True)


def _budget(release: Release, sound: bool) -> Parts:
    """The budget as a picture, and in numbers; nothing if it cannot be read.

    Args:
        release: The release.
        sound: Whether its books add up; if not, they need not even be readable.
    """
    try:
        parts = words.shares(release.ledger)
        if sound:
            spent = words.list_spent(release, words.PLAIN)
        else:
            spent = words.list_spending(release.ledger, words.PLAIN)
    except ReleaseError:
        if sound:
            raise
        return ()
    per = words.spent_of(release.schema)
    person, lead = release.schema.person, "This is what the release says of itself."
    if sound:
        lead = (
            "Every look at the data costs part of the budget. What is spent on any one "
            f"{per.split()[-1]} adds up to no more than was promised. The picture shows the "
            "average."
        )
        if person is not None and person.max_rows > 1:
            lead += f" A person may have up to {person.max_rows} rows, each of which costs as much."
        if any(" to " in amount for *_, amount in spent):
            lead += (
                " Where the table gives a range, it depends on the group: more for one purpose "
                "means less for another. So upper ends are not reached together and must not be "
                "added; the last line is the total."
            )
    # with one budget alone its name is the heading of the amounts
    kinds = {kind for _, kind, _ in spent}
    heads = ("what for", *kinds) if len(kinds) == 1 else ("what for", "budget", "amount")
    rows = [
        (what, *([kind] if len(kinds) != 1 else []), amount.replace(" ", "\u00a0"))
        for what, kind, amount in spent
    ]
    table = Grid(f"What was spent, {per}", heads, rows=rows, numbers={len(heads) - 1})
    return (lead, Stack("The budget", tuple(parts)), table)


# What it does not cover, and how to use it.


def _limits(release: Release) -> Parts:
    kind, schema, promised = KINDS[release.kind], release.schema, release.guarantee
    title, small = kind.small
    limits = [
        (promised.get("began_as_draft") and not schema.is_signed_off,
         "The schema began as a draft", "It was read off the private data, and nobody can tell "
         "from here how carefully it was gone over."),
        (promised.get("row_wise_query"),
         "The data came from a database query", "Whoever ran it acknowledged that each of its rows "
         "depends on one person alone. hedgerow cannot check that."),
        (True, "Several releases add up", "Two releases about the same data with epsilon 1 each "
         "are together one with epsilon 2."),
        (schema.kind == "table" and schema.person is None,
         "A row is a person", "Somebody with several rows is protected less, in proportion."),
        (True, "Groups are not hidden", "What holds for a large group can be learnt, also about "
         f"members who are not in the data. A group of k {words.protected(schema)[1]} is protected "
         "with k times epsilon."),
        (True, "The schema is public", f"{kind.public} published as they are. They must be public "
         "knowledge and not read off the data."),
        (True, "Choices made by looking at the data", "Settings that were tried out on the private "
         "data and kept because they did well are outside the guarantee."),
        (True, "What happens around a run", "Running times, error messages and files on the "
         "machine are as private as the data."),
        (True, title, small.format(people=schema.unit_names[1])),
    ]  # fmt: skip
    return (
        "The promise is about what can be learnt from a release. It does not cover:",
        Bullets(tuple((name, text) for holds, name, text in limits if holds)),
    )


def _use(release: Release) -> Parts:
    tables: list[str] = []
    for spread in notable(release, 1):
        if spread.attribute is not None:
            tables = ["# a table with intervals", f"hedgerow table release/ {quote(spread.name)}"]
    lines = (
        "# is the privacy accounting right?",
        "hedgerow verify release/",
        "# what it holds",
        "hedgerow show release/",
        "# how many, and how certain is that?",
        f"hedgerow query release/ {release.example}",
        *tables,
        f"# synthetic {release.describe().record}s that follow it",
        "hedgerow sample release/ --out rows.csv",
    )
    numbers = any(isinstance(one, Numeric) for one in release.schema.attributes)
    edges = (
        "Commands and files write parts of numbers like [2, 12): from 2 up to, not including, 12. "
        "With ] at the end, the last number is included."
    )
    return (
        "All this needs the folder of the release and no private data:",
        Code(lines),
        *([Text(edges, "note")] if numbers else []),
        Text(f"Schema {release.schema.hash[:16]}", "note"),
    )
