"""Releases side by side, on a page of their own."""

from __future__ import annotations

from hedgerow.evaluation.compare import Comparison
from hedgerow.present.document import Document, Grid, Section, Text, Warning

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


def comparison(found: Comparison) -> Document:
    """Releases side by side."""
    raw = any(line.source == "raw" for line in found.lines)
    sections = []
    for source, title in SOURCES.items():
        rows = tuple(
            (
                line.words,
                *(
                    text + (MARK if place in line.best else "")
                    for place, text in enumerate(line.shown)
                ),
            )
            for line in found.lines
            if line.source == source
        )
        if rows:
            heads = ("measure", *found.names)
            right = frozenset(range(1, len(heads)))
            table = Grid(_CAPTIONS[source], heads, rows=rows, numbers=right, long=True)
            warning = (Text(CHOOSING, "bad"),) if source == "raw" else ()
            sections.append(Section(title, (*warning, table)))
    why = "A test release is in it."
    if raw:
        why = "This page is computed from the raw data, for its holder alone."
    marked = any(line.best for line in found.lines)
    note = "Best: among these releases, on this line. A smaller epsilon protects better."
    return Document(
        title=f"{len(found.names)} releases side by side",
        sections=tuple(sections),
        foot=note if marked else "",
        warnings=() if found.private else (Warning("NOT PRIVATE", why),),
        private=found.private,
    )
