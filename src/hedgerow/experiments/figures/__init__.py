"""The experiments of the papers, run again on public data. NOT PRIVATE.

One module for each paper, with its figures by name. `select` finds them: by their own name, by
the beginning of it ("diffgen-fig3"), or by their paper ("diffgen"). A paper more is a module more,
and its name in `PAPERS`.
"""

from __future__ import annotations

from importlib import import_module

from hedgerow.errors import UsageError
from hedgerow.experiments.figures.figure import Figure, Inputs, Result, measure
from hedgerow.experiments.figures.pages import write_page, write_table
from hedgerow.experiments.figures.runs import Runs

__all__ = [
    "PAPERS",
    "Figure",
    "Inputs",
    "Result",
    "Runs",
    "figures",
    "measure",
    "select",
    "title",
    "write_page",
    "write_table",
]

PAPERS = ("diffgen", "cdiffgen", "diffmulti", "diffpart", "supermodular")


def figures() -> list[Figure]:
    """All figures, paper by paper.

    Example:
        >>> figures()[0].name
        'diffgen-fig3a'
    """
    return [figure for paper in PAPERS for figure in _module(paper).FIGURES]


def title(paper: str) -> str:
    """The name of a paper in words."""
    return str(_module(paper).TITLE)


def select(name: str) -> list[Figure]:
    """The figures that a name means.

    Raises:
        UsageError: If it means none.

    Example:
        >>> [figure.name for figure in select("diffgen-fig3")]
        ['diffgen-fig3a', 'diffgen-fig3b']
    """
    every = figures()
    found = [figure for figure in every if figure.name == name]
    found = found or [figure for figure in every if figure.paper == name]
    found = found or [
        figure
        for figure in every
        if figure.name.startswith(name) and not figure.name[len(name) :][:1].isdigit()
    ]
    if not found or not name:
        raise UsageError(
            f"there is no figure {name!r}", hint="See `hedgerow reproduce --list` for their names."
        )
    return found


def _module(paper: str):  # type: ignore[no-untyped-def]
    return import_module(f"hedgerow.experiments.figures.{paper}")
