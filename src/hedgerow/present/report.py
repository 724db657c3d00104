"""What is said about a release to whom it is given, and to the holder of the data."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from hedgerow.estimate.measurements import exact
from hedgerow.present import html, words
from hedgerow.present.document import (
    Bullets,
    Code,
    Document,
    Facts,
    Folded,
    Part,
    Section,
    Text,
    Warning,
)
from hedgerow.present.findings import brief, findings, notable
from hedgerow.present.kinds import KINDS
from hedgerow.present.promise import Doubt, budget, doubt, factor, promise
from hedgerow.present.tables import count_grid, how_to_read, named_tables
from hedgerow.present.values import questions, values
from hedgerow.registry import METHODS
from hedgerow.release import Release
from hedgerow.schema import Numeric, Schema
from hedgerow.verification import verify
from hedgerow.verification.verify import Verdict

if TYPE_CHECKING:
    from hedgerow.evaluation.scorecard import Judgment


_TOP = 12  # regions, rows or itemsets
_LIMITS = (
    ("Several releases add up", "Two releases about the same data with epsilon 1 each are together "
     "one with epsilon 2."),
    ("Groups are not hidden", "What holds for a large group can be learnt, also about members who "
     "are not in the data. A group of k {those} is protected with k times epsilon."),
    ("Choices made by looking at the data", "Settings that were tried out on the private data and "
     "kept because they did well are outside the guarantee."),
    ("What happens around a run", "Running times, error messages and files on the machine are as "
     "private as the data."),
)  # fmt: skip


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
    return html.page(report(release, verdict, against))


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
    return Document(
        title=release.schema.name,
        name=f"{release.schema.name}: a release by hedgerow",
        brand=_brand(release, doubted, against),
        head=_head(release, doubted, against),
        sections=tuple(one for one in _sections(release, verdict, against) if one.parts),
        foot="Made by hedgerow from the release alone."
        if against is None
        else "Made by hedgerow from the release and the raw data: NOT PRIVATE.",
        warnings=warnings_of(release, doubted, against),
        private=against is None,
    )


def overview(release: Release, top: int, parts: tuple[Part, ...] | None = None) -> Document:
    """The report in short: what was published, what it says, what is promised, the largest parts.

    Args:
        release: The release.
        top: How many parts.
        parts: What to show instead of findings and these parts.
    """
    kind, told = KINDS[release.kind], release.describe()
    holds = f"{words.regions(release)} by {release.method}" if told.number else told.summary
    sentences = [*words.guarantee(release), told.suppressed, words.unmeasured(release)]
    said = tuple(Text(one) for one in sentences if one is not None)
    sections = [Section("", said if parts is not None else (*brief(release), *said))]
    if parts is None:
        made = () if release.kind == "table" else kind.making(release)  # a tree is asked for
        parts = (*made, *kind.division(release, top)) if top else ()
        if 0 < top < told.number:
            parts = (*parts, Text(f"({told.number:,} in all; --top N for more)"))
        named = (one for one in _named(release) if not isinstance(one, Folded))
        sections.append(Section("", tuple(named)))
    sections.append(Section("", parts))
    if release.kind == "marginals" and top:
        name = quote(release.schema.columns[0].name)
        more = Text(f"hedgerow table RELEASE {name} shows counts, of any columns.")
        sections.append(Section("", (more,)))
    return Document(
        title=f"{release.schema.name}: {holds.rstrip('.')}, about {_number(release)} "
        f"{told.people}.",
        sections=tuple(sections),
        private=bool(release.guarantee["private"]),
    )


def _number(release: Release) -> str:
    """How many records a release counts, about."""
    everybody = release.count_all()
    ends = (everybody.estimate, everybody.low, everybody.high)
    return words.rounded(*(float(one[0]) for one in ends))[0]


def _named(release: Release) -> tuple[Part, ...]:
    """The tables that the schema names, with all their cells."""
    tables = [release.table(*names) for names in named_tables(release)]
    notes = dict.fromkeys(line for one in tables for line in how_to_read(one, release.schema))
    told = Folded("How to read these tables", tuple(Text(line, "note") for line in notes))
    return (*(count_grid(release, one) for one in tables), told) if tables else ()


def warnings_of(
    release: Release, doubted: Doubt | None, against: Judgment | None = None
) -> tuple[Warning, ...]:
    """What nobody may overlook about a release."""
    warnings = [] if doubted is None else [Warning(doubted.loud, doubted.why)]
    if against is not None:
        text = "This page was computed from the raw data. For its holder alone: do not pass it on."
        warnings.append(Warning("NOT PRIVATE", text))
    elif not release.guarantee["private"]:
        text = "This release was made with a seed, so its noise can be taken away again."
        warnings.append(Warning("NOT PRIVATE", text))
    return tuple(warnings)


def _brand(release: Release, doubted: Doubt | None, against: Judgment | None) -> str:
    what = "for the holder of the data" if against is not None else "for its recipients"
    if doubted is not None:
        return f"A release that cannot be {doubted.what}, {what}"
    if not release.guarantee["private"]:
        return "A test release, NOT PRIVATE"
    return f"A release under differential privacy, {what}"


def _head(release: Release, doubted: Doubt | None, against: Judgment | None) -> tuple[Part, ...]:
    if doubted is not None:
        epsilon = delta = f"cannot be {doubted.what}"
    elif not release.guarantee["private"]:
        epsilon = delta = "none: seeded"
    else:
        epsilon = words.decimal(exact(release.guarantee["epsilon"]))
        delta = words.decimal(exact(release.guarantee["delta"]))
    told = release.describe()
    figures = [
        ("epsilon (smaller is safer)", epsilon),
        ("delta", delta),
        ("published", words.regions(release)),
        (f"{told.people}, about", _number(release)),
    ]
    if against is not None:
        figures.append((f"raw {release.schema.unit_names[1]} counted", f"{against.records:,}"))
    known = release.method in METHODS
    about = METHODS[release.method].words if known else "is not installed here"
    whose = facts(release.schema)
    return (
        Text(f"Published with {release.method}, which {about}.", "lead"),
        *([Facts(tuple(whose))] if whose else []),
        Facts(tuple(figures), large=True),
    )


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
    told = schema.metadata.describe()
    found = [(name, told[key]) for key, name in _NAMES.items() if key in told]
    if not told:
        return []
    record = "record" if schema.kind == "transactions" else "row"
    one = schema.unit_names[0]
    if one != record:
        found.append((f"one {record} is", f"{'an' if one[0].lower() in 'aeiou' else 'a'} {one}"))
    if schema.is_signed_off:
        found.append(("schema signed off by", f"{told['reviewer']}, {told['reviewed']}"))
    return found


# The sections.


def _sections(release: Release, verdict: Verdict, against: Judgment | None) -> list[Section]:
    raw = None
    if against is not None:
        raw = [[share * one.per_record for share in one.raw] for one in against.marginals]
    kind, doubted = KINDS[release.kind], doubt(release, verdict)
    made = (*kind.columns(release.schema), *kind.making(release), *kind.division(release, _TOP))
    if (missing := release.describe().suppressed) is not None:
        made = (*made, Text(missing))
    last = [
        Section("What is not protected", _limits(release), "limits"),
        Section("How to check and use it", _use(release), "check"),
    ]
    first = [
        Section("Findings", findings(release) if doubted is None else (), "findings"),
        Section("Named tables", _named(release) if doubted is None else (), "named"),
        Section("In short", _short(release, doubted, against), "short"),
    ]
    promised = [
        Section("What is promised", promise(release, verdict), "promise"),
        Section("What the budget was spent on", budget(release, doubted is None), "budget"),
        Section("What was released", made, "released"),
    ]
    if against is None:
        middle = [
            Section(kind.values, values(release, None), "values"),
            Section("What can be asked", questions(release), "questions"),
        ]
        return [*first, *promised, *middle, *last]
    # what knows raw data is loaded where there is any
    from hedgerow.present import against as compared

    strange: tuple[Part, ...] = ()
    became: tuple[Part, ...] = ()
    if not against.matches:
        strange = (Text(compared.strange(against), "bad"),)
    if against.preparation is not None:
        became = compared.prepared(against.preparation)
    rows = "rows" if release.schema.kind == "table" else "records"
    beside = (*strange, *compared.values_against(against), *values(release, raw))
    coarse = f"How coarse the {release.describe().parts} are"
    return [
        *first,
        *promised,
        Section(f"What became of the {rows}", became, "prepared"),
        Section("Values, raw against released", beside, "values"),
        Section("Tables, raw against released", compared.tables_against(against), "tables"),
        Section("Counts, raw against released", compared.counts_against(against), "counts"),
        Section("Predictions", compared.classes_against(against), "classes"),
        Section(coarse, compared.detail_against(against), "coarse"),
        *last,
    ]


def _short(release: Release, doubted: Doubt | None, against: Judgment | None) -> tuple[Part, ...]:
    """What somebody should know who reads no further."""
    told = [] if doubted is None else [f"What it promises cannot be {doubted.what}."]
    if against is not None and not against.matches:
        from hedgerow.present.against import strange

        told.append(f"{strange(against)} What is compared with it below says nothing.")
    if doubted is not None:
        told.append(doubted.numbers)
    elif not release.guarantee["private"]:
        told += ["This release is a test. It protects nobody and must not be given away."]
    else:
        epsilon = exact(release.guarantee["epsilon"])
        told += [
            f"Whether any one {words.protected(release.schema)[0]} is in the data shifts the odds "
            f"of anything that can be learnt from it by a factor of at most {factor(epsilon)}."
        ]
        weak = words.caution(epsilon)
        told += [weak] if weak else []
    if doubted is None:
        told.append(release.describe().summary)
    if release.unmeasured:
        told.append(f"It says nothing about {', '.join(release.unmeasured)}.")
    if (cap := words.capped(release.schema)) is not None:
        told.append(cap)
    if against is None:
        told.append("Everything on this page follows from the release alone.")
    else:
        from hedgerow.present.against import in_short

        told += in_short(against)
    return (Bullets(tuple(told)),)


def _limits(release: Release) -> tuple[Part, ...]:
    kind = KINDS[release.kind]
    those = words.protected(release.schema)[1]
    told = [*((name, text.format(those=those)) for name, text in _LIMITS), kind.small(release)]
    told.insert(
        2,
        (
            "The schema is public",
            f"{kind.public} published as they are. They must be public knowledge and not read off "
            "the data.",
        ),
    )
    if release.schema.kind == "table" and release.schema.person is None:
        told.insert(
            1,
            ("A row is a person", "Somebody with several rows is protected less, in proportion."),
        )
    if release.guarantee.get("row_wise_query"):
        told.insert(
            0,
            (
                "The data came from a database query",
                "Whoever ran it acknowledged that each of its rows depends on one person alone. "
                "hedgerow cannot check that.",
            ),
        )
    if release.guarantee.get("began_as_draft") and not release.schema.is_signed_off:
        told.insert(
            0,
            (
                "The schema began as a draft",
                "It was read off the private data, and nobody can tell from here how carefully it "
                "was gone over.",
            ),
        )
    return (
        Text("The promise is about what can be learnt from a release. It does not cover:"),
        Bullets(tuple(told)),
    )


def _use(release: Release) -> tuple[Part, ...]:
    counted = [spread for spread in notable(release, 1) if spread.attribute is not None]
    tables = [
        line
        for spread in counted
        for line in ("# a table with intervals", f"hedgerow table release/ {quote(spread.name)}")
    ]
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
    edges = (
        "Commands and files write parts of numbers like [2, 12): from 2 up to, not including, 12. "
    )
    edges += "With ] at the end, the last number is included."
    numbers = any(isinstance(one, Numeric) for one in release.schema.attributes)
    return (
        Text("All this needs the folder of the release and no private data:"),
        Code(lines),
        *([Text(edges, "note")] if numbers else []),
        Text(f"Schema {release.schema.hash[:16]}", "note"),
    )
