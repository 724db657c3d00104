"""Tables of text that fit the terminal."""

from __future__ import annotations

import re
import shutil
import unicodedata
from itertools import zip_longest

import typer

from hedgerow.cli.display.terminal import say

__all__ = ["print_table"]


_WORD = 12  # the narrowest column in which words can still be read


def print_table(columns: list[str], rows: list[list[str]], right: set[int] | None = None) -> None:
    """Prints a table that fits the terminal.

    By hand: loading rich would take longer than all else that `show` and `query` do.

    Args:
        columns: The headings.
        rows: The cells, as text.
        right: The columns that are aligned to the right.
    """
    lists = [[name, *(row[place] for row in rows)] for place, name in enumerate(columns)]
    natural = [max(map(_cells, cells)) for cells in lists]
    # Half a number would be a wrong one; a very long word can be read in pieces, if it must be.
    words = [max(_cells(word) for cell in cells for word in (*cell.split(), "")) for cells in lists]
    longest_cells = [max(map(_cells, cells[1:]), default=0) for cells in lists]
    heads = [max(_cells(word) for word in (*name.split(), "")) for name in columns]
    room = shutil.get_terminal_size().columns - 2 * (len(columns) - 1)
    for longest in (room, _WORD):
        least = [max(head, min(word, longest)) for head, word in zip(heads, words, strict=True)]
        for place in right or ():
            least[place] = max(least[place], longest_cells[place])
        if sum(least) <= room:
            break
    widths = _widths(least, natural, room)
    readable = [max(one, min(cell, _WORD)) for one, cell in zip(least, longest_cells, strict=True)]
    if sum(readable) > room:  # too narrow for a table: one line for each cell
        for row in rows:
            for name, cell in zip(columns, row, strict=True):
                say(f"{name}: {cell}" if name else cell)
            say()
        return
    for number, row in enumerate([columns, *rows]):
        folded = [_folded(cell, width) for cell, width in zip(row, widths, strict=True)]
        if number == 0:  # headings stand just above their columns
            most = max(map(len, folded))
            folded = [[""] * (most - len(lines)) + lines for lines in folded]
        for parts in zip_longest(*folded, fillvalue=""):
            cells = []
            for place, (part, width) in enumerate(zip(parts, widths, strict=True)):
                gap = " " * (width - _cells(part))
                cells.append(gap + part if place in (right or ()) else part + gap)
            typer.echo(typer.style("  ".join(cells).rstrip(), bold=True if number == 0 else None))


def _cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    marks = sum(unicodedata.combining(sign) > 0 for sign in text)
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide - marks


def _folded(text: str, width: int) -> list[str]:
    """A text in lines of some columns, broken between words, or within those that are longer.

    Example:
        >>> _folded("Adm-clerical or Craft", 9)
        ['Adm-cleri', 'cal or', 'Craft']
    """
    if _cells(text) <= width:
        return [text]
    lines = [""]
    for word in re.findall(r"\s*\S+", text):
        if lines[-1] and _cells(lines[-1] + word) > width:
            lines.append("")
            word = word.lstrip()
        for sign in word:
            if _cells(lines[-1] + sign) > width:
                lines.append("")
            lines[-1] += sign
    return lines


def _widths(least: list[int], natural: list[int], room: int) -> list[int]:
    """The widths of columns: none below its least, and what room is left where it is wanted.

    Example:
        >>> _widths([5, 12, 4], [5, 40, 9], 30)
        [5, 17, 8]
    """
    widths = list(least)
    while sum(widths) < room:
        wanting = [place for place, width in enumerate(widths) if width < natural[place]]
        if not wanting:
            break
        for place in wanting[: room - sum(widths)]:
            widths[place] += 1
    return widths
