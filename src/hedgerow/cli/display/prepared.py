"""What became of the rows, on the terminal. NOT PRIVATE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hedgerow.cli.display.terminal import print_table, say, warn

if TYPE_CHECKING:
    from hedgerow.table.preparation import Preparation

__all__ = ["tell_preparation"]


def tell_preparation(found: Preparation) -> None:
    """Prints what became of rows and values."""
    from hedgerow.report.prepared import HEADS, about_rows, about_shares, about_values

    say("\nWhat became of the rows (NOT PRIVATE: exact counts, for the holder of the data alone)")
    for sentence in about_rows(found):
        say(sentence)
    values, shares = about_values(found), about_shares(found)
    if values:
        print_table(HEADS, values, set(range(1, len(HEADS))))
    if shares:
        heads = ["class", "of rows read", "of rows counted", "moved by"]
        print_table(heads, shares, {1, 2, 3})
    for sentence in found.warnings():
        warn(sentence)
