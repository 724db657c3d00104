"""The experiments of the papers, run again on public data. NOT PRIVATE.

One module for each paper, with its figures by name. `select` finds them: by their own name, by
the beginning of it ("diffgen-fig3"), or by their paper ("diffgen"). A paper more is a module more,
and its name in `PAPERS`.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from hedgerow.errors import UsageError
from papers.figure import Claim, Figure, Inputs, Result, Runs, measure
from papers.pages import write_page, write_table

__all__ = [
    "PAPERS",
    "absent",
    "claims",
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


def absent(paper: str) -> str:
    """What of a paper cannot be run, and why; "" if all of it can."""
    return str(getattr(_module(paper), "ABSENT", ""))


def claims(paper: str) -> tuple[Claim, ...]:
    """What a paper claims, and the figures that judge it."""
    return tuple(_module(paper).CLAIMS)


def select(name: str) -> list[Figure]:
    """The figures that a name means; "all" means all of them.

    Raises:
        UsageError: If it means none.

    Example:
        >>> [figure.name for figure in select("diffgen-fig3")]
        ['diffgen-fig3a', 'diffgen-fig3b']
    """
    every = figures()
    if name == "all":
        return every
    found = [figure for figure in every if figure.name == name]
    found = found or [figure for figure in every if figure.paper == name]
    found = found or [
        figure
        for figure in every
        if figure.name.startswith(name) and not figure.name[len(name) :][:1].isdigit()
    ]
    if not found or not name:
        raise UsageError(
            f"there is no figure {name!r}", hint="See `python -m papers --list` for their names."
        )
    return found


def _module(paper: str) -> ModuleType:
    return import_module(f"papers.{paper}")
