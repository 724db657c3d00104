"""The loops that take the bytes of a CSV file apart: into records, and records into values.

Where a record ends must not depend on what other records hold, or one of them could swallow its
neighbours. There are two sets of rules.

**A record is a line** (the default): LF, CRLF or CR end it, wherever they stand. A quotation mark
opens a quoted value at the start of a field alone; inside, a doubled one stands for itself; what
follows the closing one is taken as it is. A line that ends inside a quoted value is a fault. Every
line is begun in the same state, so no line has a say in how another is read.

**Line breaks in values** (to be asked for): a quotation mark may stand only where a field begins,
doubled inside a quoted value, or at its end, before a delimiter, a line break or the end of the
file (RFC 4180). Anything else is a fault, and so is a file that ends inside a quoted value.
*Proof that records are independent.* Under these rules every quotation mark toggles between inside
and outside (a doubled one does so twice), so whether a byte is inside follows from the number of
marks before it being odd. The first line keeps to the rules too (`csv_header`), so it holds an even
number of marks. Put more bytes between two records. If their number of marks is even, all
other bytes stay inside or outside as they were, so all other records begin and end where they did.
If it is odd, the number of all marks is odd, since it was even before: the file then ends inside a
quoted value, which is a fault, unless another fault came first. A fault stops the run.
"""

from __future__ import annotations

from numba import njit

from hedgerow.arrays import Bytes, Ints, Small
from hedgerow.table.text.faults import LONG, OPEN, QUOTE, RAGGED, SOUND

__all__ = ["gather", "split_records"]

Places = Small

_MARK, _LF, _CR = 34, 10, 13


@njit(cache=True, nogil=True)
def split_records(
    data: Bytes,
    final: bool,
    delimiter: int,
    line_breaks: bool,
    blanks: bool,
    longest: int,
    slots: Ints,
    begin: Places,
    end: Places,
    lines: Ints,
) -> tuple[int, int, int, int, int]:
    """Finds the records of a block, and where the values of the wanted columns stand in it.

    Args:
        data: Bytes that begin where a record does.
        final: Whether the file ends with them.
        delimiter: The byte between fields, or -1 if there is a single one.
        line_breaks: Whether values may hold line breaks.
        blanks: Whether a blank line is a record, of one empty field.
        longest: The most bytes of a record.
        slots: For each column its place among the wanted ones, or -1.
        begin: [wanted, records], takes where each value begins, with its quotation mark.
        end: Takes where each value ends.
        lines: Takes the line that each record begins in, from 0.

    Returns:
        The number of records, the bytes and lines they take up, a fault or SOUND, and the line of
        the fault. What is left over is a record whose end is not in the block.
    """
    size = data.size
    records = 0
    used = 0
    seen = 0  # lines before `used`
    while used < size:
        place = used
        line = seen
        fields = 0
        blank = data[used] == _LF or data[used] == _CR
        while True:
            first = place
            if place < size and data[place] == _MARK:
                opened = line
                place += 1
                while True:
                    while place < size and data[place] != _MARK:
                        if data[place] == _LF or data[place] == _CR:
                            if not line_breaks:
                                return records, used, seen, OPEN, opened
                            if not (
                                data[place] == _LF and data[place - 1] == _CR
                            ):  # CRLF broke already
                                line += 1
                        place += 1
                    if place == size:
                        if final:
                            return records, used, seen, OPEN, opened
                        if place - used > longest:
                            return records, used, seen, LONG, seen
                        return records, used, seen, SOUND, 0
                    place += 1  # a mark: the last one, or the first of two
                    if place < size and data[place] == _MARK:
                        place += 1
                        continue
                    break
                if (
                    line_breaks
                    and place < size
                    and data[place] != delimiter
                    and data[place] != _LF
                    and data[place] != _CR
                ):
                    return records, used, seen, QUOTE, line
            while (
                place < size
                and data[place] != delimiter
                and data[place] != _LF
                and data[place] != _CR
            ):
                if line_breaks and data[place] == _MARK:
                    return records, used, seen, QUOTE, line
                place += 1
            if fields < slots.size and slots[fields] >= 0:
                begin[slots[fields], records] = first
                end[slots[fields], records] = place
            fields += 1
            if place < size and data[place] == delimiter:
                place += 1
                continue
            break
        if place - used > longest:
            return records, used, seen, LONG, seen
        if place == size:
            if not final:
                return records, used, seen, SOUND, 0
        else:
            if data[place] == _CR:
                if place + 1 == size and not final:  # it may be half of a CRLF
                    return records, used, seen, SOUND, 0
                if place + 1 < size and data[place + 1] == _LF:
                    place += 1
            place += 1
        if not blank or blanks:
            if fields != slots.size:
                return records, used, seen, RAGGED, seen
            lines[records] = seen
            records += 1
        used = place
        seen = line + 1
    return records, used, seen, SOUND, 0


@njit(cache=True, nogil=True)
def gather(data: Bytes, begin: Places, end: Places, offsets: Places, content: Bytes) -> int:
    """Copies the values of a column side by side, quoted ones without their marks.

    Args:
        data: The bytes of a block.
        begin: Where each value begins.
        end: Where it ends.
        offsets: Takes where each value begins in the copy, and where the last one ends.
        content: Takes the copy.

    Returns:
        The bytes of the copy.
    """
    used = 0
    for value in range(begin.size):
        offsets[value] = used
        place = begin[value]
        stop = end[value]
        if place < stop and data[place] == _MARK:
            place += 1
            while place < stop:
                if data[place] == _MARK:
                    place += 1
                    if place == stop or data[place] != _MARK:
                        break
                content[used] = data[place]
                used += 1
                place += 1
        while place < stop:
            content[used] = data[place]
            used += 1
            place += 1
    offsets[begin.size] = used
    return used
