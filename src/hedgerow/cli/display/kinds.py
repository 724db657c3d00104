"""How the command shows each kind of release: one table, whose entries load when they are used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hedgerow.release import Release

__all__ = ["SHOW", "View", "show_release"]

SHOW: dict[str, str] = {
    "table": "hedgerow.cli.display.tables:show_table",
    "marginals": "hedgerow.cli.display.tables:show_measured",
    "transactions": "hedgerow.cli.display.transactions:show_transactions",
    "rows": "hedgerow.cli.display.tables:show_rows",
}


@dataclass(frozen=True, kw_only=True)
class View:
    """What `hedgerow show` was asked for.

    Args:
        top: How many of the largest parts to list.
        tree: Whether to show how the parts were made instead.
        depth: How deep.
        plot: A picture to draw, if any.
        overwrite: Whether to replace it.
        as_json: Whether to print JSON.
    """

    top: int
    tree: bool
    depth: int
    plot: Path | None
    overwrite: bool
    as_json: bool

    @property
    def drawn(self) -> str | None:
        """The picture, for machines."""
        return None if self.plot is None else str(self.plot)


def show_release(release: Release, view: View) -> None:
    """Shows a release of any kind."""
    module, _, name = SHOW[release.kind].partition(":")
    show: Callable[[Any, View], None] = getattr(import_module(module), name)
    show(release, view)
