"""Releases side by side, on a page of their own."""

from __future__ import annotations

from hedgerow.evaluation.compare import Comparison
from hedgerow.report.html import Safe, document, join, table, tag

SOURCES = {
    "release": "What the releases say themselves",
    "simulated": "On simulated rows, with the same settings",
    "raw": "Against the raw data (NOT PRIVATE)",
}
CHOOSING = (
    "Choosing a release because of how it compares with the raw data is outside the guarantee: the "
    "choice itself tells something about the data. Choose by what the releases say themselves, by "
    "simulated rows (--simulate) or before publishing (hedgerow plan)."
)
MARK = " (best)"
_CAPTIONS = {
    "release": "Guarantee, contents and widths of intervals",
    "simulated": "Mean errors and scores of trials",
    "raw": "Errors and scores",
}


def comparison_page(found: Comparison) -> str:
    """The page, as HTML."""
    raw = any(line.source == "raw" for line in found.lines)
    title = f"{len(found.names)} releases side by side"
    sections = []
    for source, words in SOURCES.items():
        rows = [
            [
                line.words,
                *(
                    text + (MARK if place in line.best else "")
                    for place, text in enumerate(line.shown)
                ),
            ]
            for line in found.lines
            if line.source == source
        ]
        if rows:
            heads = ["measure", *found.names]
            inner = table(_CAPTIONS[source], heads, rows, range(1, len(heads)), long=True)
            warning = tag("p", _choosing(), class_="bad") if source == "raw" else None
            sections.append(tag("section", tag("h2", words), warning, inner))
    note = "Best: among these releases, on this line. A smaller epsilon protects better."
    head = tag("header", tag("p", "hedgerow", class_="brand"), tag("h1", title), class_="top")
    marked = any(line.best for line in found.lines)
    body = tag("main", *sections, tag("p", note, class_="note") if marked else None)
    sheet = tag("div", head, body, class_="sheet")
    loud = "" if found.private else "NOT PRIVATE. "
    return document(loud + title, _banner(raw, found.private), sheet, listed=found.private)


def _choosing() -> Safe:
    """The warning, with no line that ends within an option."""
    before, option, after = CHOOSING.partition("--simulate")
    return join([before, tag("span", option, class_="keep"), after])


def _banner(raw: bool, private: bool) -> Safe | None:
    if private:
        return None
    why = "computed from the raw data, for its holder alone" if raw else "a test release is in it"
    words = tag("p", tag("strong", "NOT PRIVATE. "), f"This page is {why}." if raw else f"{why}.")
    return tag("aside", words, class_="banner", aria_label="Warning: not private")
