"""What became of rows or records, on the terminal. NOT PRIVATE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hedgerow.cli.display.columns import print_table
from hedgerow.cli.display.terminal import say, warn

if TYPE_CHECKING:
    from hedgerow.data.records import ItemPreparation
    from hedgerow.data.table import Preparation

__all__ = ["tell_preparation"]


def tell_preparation(found: Preparation | ItemPreparation) -> None:
    """Prints what became of rows or records."""
    from hedgerow.report.sections.prepared import about_rows, about_tables

    say("\nWhat became of the data (NOT PRIVATE: exact counts, for the holder of the data alone)")
    for sentence in about_rows(found):
        say(sentence)
    for _, heads, rows in about_tables(found):
        print_table(heads, rows, set(range(1, len(heads))))
    for sentence in found.warnings():
        warn(sentence)
