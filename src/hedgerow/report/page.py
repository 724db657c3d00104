"""One page about a release: complete, in one file, without scripts or anything from elsewhere."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from hedgerow.measured.measurements import exact
from hedgerow.registry import METHODS
from hedgerow.release import Release
from hedgerow.report import words
from hedgerow.report.html import Safe, document, join, tag
from hedgerow.report.kinds import KINDS
from hedgerow.report.labels import rounded
from hedgerow.report.sections.findings import findings, notable
from hedgerow.report.sections.prepared import about as metadata
from hedgerow.report.sections.prepared import prepared
from hedgerow.report.sections.promise import Doubt, budget, doubt, factor, promise
from hedgerow.report.sections.values import questions, values
from hedgerow.schema import Numeric
from hedgerow.verification import verify
from hedgerow.verification.verify import Verdict

if TYPE_CHECKING:
    from hedgerow.evaluation.scorecard import Judgement

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


def page(
    source: str | Path | Release,
    against: Judgement | None = None,
    verdict: Verdict | None = None,
) -> str:
    """The whole page as HTML.

    Without a judgement it is for recipients, and a function of the release alone. A release that
    fails its own checks gets a page that warns of it.

    Args:
        source: The release, or its folder, whose files are then checked too.
        against: What was found when the release was held against the raw data. The page is then
            NOT PRIVATE, and says so on top and on every printed page.
        verdict: What `hedgerow.verify` found, if that is known already.

    Example:
        >>> import hedgerow
        >>> from hedgerow import sample
        >>> people = sample.people(500, seed=3)
        >>> release = hedgerow.publish(people, sample.schema(), epsilon=1, seed=7)
        >>> page(release).startswith("<!DOCTYPE html>")
        True
    """
    release = Release.load(source) if isinstance(source, str | Path) else source
    verdict = verify(source) if verdict is None else verdict
    doubted = doubt(release, verdict)
    parts = _sections(release, verdict, against)
    warnings = _warnings(release, doubted, against)
    title = f"{release.schema.name}: a release by hedgerow"
    links = [tag("li", tag("a", name, href=f"#{key}")) for key, name, _ in parts]
    body = [
        tag("section", tag("h2", name, id=f"{key}-title"), content, id=key,
            aria_labelledby=f"{key}-title")
        for key, name, content in parts
    ]  # fmt: skip
    sheet = tag(
        "div",
        _top(release, doubted, against),
        tag("nav", tag("ul", *links), aria_label="On this page"),
        tag("main", *body),
        _foot(release, against),
        class_="sheet",
    )
    title = "".join(f"{loud}. " for loud, _ in warnings) + title
    return document(title, _banner(warnings), sheet, listed=against is None)


def _warnings(
    release: Release, doubted: Doubt | None, against: Judgement | None
) -> list[tuple[str, str]]:
    """What nobody may overlook: some loud words each, and why."""
    found = [] if doubted is None else [(doubted.loud, doubted.why)]
    if against is not None:
        text = "This page was computed from the raw data. For its holder alone: do not pass it on."
        found.append(("NOT PRIVATE", text))
    elif not release.guarantee["private"]:
        text = "This release was made with a seed, so its noise can be taken away again."
        found.append(("NOT PRIVATE", text))
    return found


def _banner(warnings: list[tuple[str, str]]) -> Safe | None:
    if not warnings:
        return None
    inner = [tag("p", tag("strong", f"{loud}. "), text) for loud, text in warnings]
    label = "Warning: " + ", ".join(loud.lower() for loud, _ in warnings)
    return tag("aside", *inner, class_="banner", aria_label=label)


def _top(release: Release, doubted: Doubt | None, against: Judgement | None) -> Safe:
    what = "for the holder of the data" if against is not None else "for its recipients"
    if doubted is not None:
        kind = f"A release that cannot be {doubted.what}, {what}"
        epsilon = delta = f"cannot be {doubted.what}"
    elif not release.guarantee["private"]:
        kind = "A test release, NOT PRIVATE"
        epsilon = delta = "none: seeded"
    else:
        kind = f"A release under differential privacy, {what}"
        epsilon = words.decimal(exact(release.guarantee["epsilon"]))
        delta = words.decimal(exact(release.guarantee["delta"]))
    told = release.describe()
    facts = [
        ("epsilon (smaller is safer)", epsilon),
        ("delta", delta),
        ("published", words.regions(release)),
        (f"{told.people}, about", _number(release)),
    ]
    if against is not None:
        facts.append((f"raw {release.schema.unit_names[1]} counted", f"{against.records:,}"))
    described = [tag("div", tag("dt", name), tag("dd", value)) for name, value in facts]
    known = release.method in METHODS
    about = METHODS[release.method].words if known else "is not installed here"
    return tag(
        "header",
        tag("p", kind, class_="brand"),
        tag("h1", release.schema.name),
        tag("p", f"Published with {release.method}, which {about}.", class_="lead"),
        metadata(release.schema),
        tag("dl", *described, class_="facts"),
        class_="top",
    )


def _number(release: Release) -> str:
    found = release.count_all()
    return rounded(*(float(one[0]) for one in (found.estimate, found.low, found.high)))[0]


def _sections(
    release: Release, verdict: Verdict, against: Judgement | None
) -> list[tuple[str, str, Safe]]:
    raw = None
    if against is not None:
        raw = [[share * one.per_record for share in one.raw] for one in against.marginals]
    kind = KINDS[release.kind]
    doubted = doubt(release, verdict)
    found: list[tuple[str, str, Safe | None]] = [
        ("findings", "Findings", None if doubted is not None else findings(release)),
        ("short", "In short", _short(release, doubted, against)),
        ("promise", "What is promised", promise(release, verdict)),
        ("budget", "What the budget was spent on", budget(release, doubted is None)),
        (
            "released",
            "What was released",
            join([kind.columns(release.schema), kind.division(release)]),
        ),
    ]
    if against is None:
        found.append(("values", kind.values, values(release, None)))
        found.append(("questions", "What can be asked", questions(release)))
    else:
        from hedgerow.report.sections import against as compared

        strange = None
        if not against.matches:
            strange = tag("p", compared.strange(against), class_="bad")
        if against.preparation is not None:
            became = prepared(against.preparation)
            rows = "rows" if release.schema.kind == "table" else "records"
            found.append(("prepared", f"What became of the {rows}", became))
        beside = join([strange, compared.values_against(against), values(release, raw)])
        found.append(("values", "Values, raw against released", beside))
        found.append(("tables", "Tables, raw against released", compared.tables_against(against)))
        found.append(("counts", "Counts, raw against released", compared.counts_against(against)))
        found.append(("classes", "Predictions", compared.classes_against(against)))
        coarse = f"How coarse the {release.describe().parts} are"
        found.append(("coarse", coarse, compared.detail_against(against)))
    found.append(("limits", "What is not protected", _limits(release)))
    found.append(("check", "How to check and use it", _use(release)))
    return [(key, name, content) for key, name, content in found if content is not None]


def _short(release: Release, doubted: Doubt | None, against: Judgement | None) -> Safe:
    """What somebody should know who reads no further."""
    told = [] if doubted is None else [f"What it promises cannot be {doubted.what}."]
    if against is not None and not against.matches:
        from hedgerow.report.sections.against import strange

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
        from hedgerow.report.sections.against import in_short

        told += in_short(against)
    return tag("ul", *(tag("li", sentence) for sentence in told), class_="limits")


def _edges(release: Release) -> Safe | None:
    """How the files of a release write parts of numbers."""
    if not any(isinstance(attribute, Numeric) for attribute in release.schema.attributes):
        return None
    return tag(
        "p",
        "Commands and files write parts of numbers like [2, 12): from 2 up to, not including, 12. "
        "With ] at the end, the last number is included.",
        class_="note",
    )


def _limits(release: Release) -> Safe:
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
    listed = [tag("li", tag("strong", f"{name}. "), text) for name, text in told]
    return join(
        [
            tag("p", "The promise is about what can be learnt from a release. It does not cover:"),
            tag("ul", *listed, class_="limits"),
        ]
    )


def _use(release: Release) -> Safe:
    ask = release.example
    counted = [spread for spread in notable(release) if spread.attribute is not None]
    tables = [
        line
        for spread in counted[:1]
        for line in ("# a table with intervals", f"hedgerow table release/ {quote(spread.name)}")
    ]
    lines = [
        "# is the privacy accounting right?",
        "hedgerow verify release/",
        "# what it holds",
        "hedgerow show release/",
        "# how many, and how certain is that?",
        f"hedgerow query release/ {ask}",
        *tables,
        f"# synthetic {release.describe().record}s that follow it",
        "hedgerow sample release/ --out rows.csv",
    ]
    return join(
        [
            tag("p", "All this needs the folder of the release and no private data:"),
            tag("pre", "\n".join(lines)),
            _edges(release),
            tag("p", "Schema ", tag("code", release.schema.hash[:16]), class_="note"),
        ]
    )


def _foot(release: Release, against: Judgement | None) -> Safe:
    text = (
        "Made by hedgerow from the release alone."
        if against is None
        else "Made by hedgerow from the release and the raw data: NOT PRIVATE."
    )
    return tag("footer", tag("p", text))
