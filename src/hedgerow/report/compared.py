"""Releases side by side, on a page of their own."""

from __future__ import annotations

from hedgerow.evaluate.compare import Comparison
from hedgerow.report.html import Safe, document, table, tag

__all__ = ["CHOOSING", "SOURCES", "comparison_page"]

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
            inner = table(words, heads, rows, range(1, len(heads)), long=True)
            warning = tag("p", CHOOSING, class_="bad") if source == "raw" else None
            sections.append(tag("section", tag("h2", words), warning, inner))
    note = "Best: among these releases, on this line. A smaller epsilon protects better."
    head = tag("header", tag("p", "hedgerow", class_="brand"), tag("h1", title), class_="top")
    body = tag("main", *sections, tag("p", note, class_="note"))
    sheet = tag("div", head, body, class_="sheet")
    loud = "" if found.private else "NOT PRIVATE. "
    return document(loud + title, _banner(raw, found.private), sheet, listed=found.private)


def _banner(raw: bool, private: bool) -> Safe | None:
    if private:
        return None
    why = "computed from the raw data, for its holder alone" if raw else "a test release is in it"
    words = tag("p", tag("strong", "NOT PRIVATE. "), f"This page is {why}." if raw else f"{why}.")
    return tag("aside", words, class_="banner", aria_label="Warning: not private")
