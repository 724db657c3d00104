"""What a Parquet file claims to hold, told before anything of it is unpacked.

A column of a few bytes can unfold into gigabytes, and some libraries end the whole program over a
footer that is damaged in an odd way. So the few fields that matter are read here: how many numbers
each page of each column holds, and how large the page becomes. The footer and the heads of pages
are in Thrift's compact form: fields with a type and a number, in structs and lists.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Claims", "claims"]

Claims = tuple[int, int]
"""The most numbers in any column, and the most bytes that a page unfolds into."""

_MAGIC = b"PAR1"
_MOST_NESTED = 20
_HEAD = 1 << 20  # a page's head is tiny, unless statistics quote a very long text
# the numbers of fields in Parquet's definition
_GROUPS, _GROUP_COLUMNS, _GROUP_ROWS, _META = 4, 1, 3, 3
_VALUES, _PACKED, _DATA_PAGE, _DICTIONARY_PAGE = 5, 7, 9, 11
_UNFOLDED, _FOLDED = 2, 3
_DATA, _DICTIONARY = (5, 8), 7  # kinds of pages; the first field of each is its count


def claims(content: bytes) -> Claims:
    """How much a Parquet file says it holds.

    Raises:
        ValueError: If it is no Parquet file, or one that cannot be followed.

    Example:
        >>> import io, pyarrow as pa, pyarrow.parquet as pq
        >>> sink = io.BytesIO()
        >>> pq.write_table(pa.table({"a": [[1, 2], [3]]}), sink)
        >>> claims(sink.getvalue())[0]
        3
    """
    if len(content) < 12 or content[:4] != _MAGIC or content[-4:] != _MAGIC:
        raise ValueError("no Parquet file")
    size = int.from_bytes(content[-8:-4], "little")
    footer, _ = _Compact(content, max(0, len(content) - 8 - size), len(content) - 8).struct()
    numbers = unfolded = 0
    columns: dict[int, int] = {}
    for group in _listed(footer.get(_GROUPS)):
        numbers = max(numbers, _count(group.get(_GROUP_ROWS)))
        for place, column in enumerate(_listed(group.get(_GROUP_COLUMNS))):
            found, largest = _pages(content, column[_META])
            columns[place] = columns.get(place, 0) + found
            unfolded = max(unfolded, largest)
    return max(numbers, *columns.values(), 0), unfolded


def _pages(content: bytes, column: dict[int, Any]) -> Claims:
    """The numbers that the pages of a column chunk hold, and the largest page unfolded."""
    starts = [_count(column[key]) for key in (_DICTIONARY_PAGE, _DATA_PAGE) if key in column]
    here = min((start for start in starts if start), default=0)
    end = here + _count(column.get(_PACKED))
    if end > len(content):
        raise ValueError("a column lies beyond the end")
    claimed = _count(column.get(_VALUES))
    numbers = unfolded = 0
    while here < end:
        head, here = _Compact(content, here, min(end, here + _HEAD)).struct()
        unfolded = max(unfolded, _count(head.get(_UNFOLDED)))
        if _DICTIONARY in head:
            claimed = max(claimed, _count(head[_DICTIONARY].get(1)))
        for kind in _DATA:
            if kind in head:
                numbers += _count(head[kind].get(1))
        here += _count(head.get(_FOLDED))
    return max(numbers, claimed), unfolded


def _listed(found: Any) -> list[dict[int, Any]]:
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ValueError("no list of structs")
    return found


def _count(found: Any) -> int:
    if not isinstance(found, int) or found < 0:
        raise ValueError("no count")
    return found


class _Compact:
    """Reads Thrift's compact form; texts and what is not asked for are passed over."""

    def __init__(self, content: bytes, here: int, end: int) -> None:
        self.content, self.here, self.end = content, here, end

    def struct(self, depth: int = 0) -> tuple[dict[int, Any], int]:
        """The fields of a struct by number, and where it ends."""
        if depth > _MOST_NESTED:
            raise ValueError("nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while kind := self.byte():
            step = kind >> 4
            number = number + step if step else self.whole()
            fields[number] = self.value(kind & 15, depth, field=True)
        return fields, self.here

    def value(self, kind: int, depth: int, field: bool = False) -> Any:
        """A value of a type: whole numbers, structs and lists of these; None for others."""
        if kind in (1, 2):  # a truth value lies in the type itself, save in a list
            return None if field else self.skip(1)
        if kind == 3:
            return self.skip(1)
        if kind in (4, 5, 6):
            return self.whole()
        if kind == 7:
            return self.skip(8)
        if kind == 8:
            return self.skip(self.unsigned())
        if kind in (9, 10):
            head = self.byte()
            size = head >> 4 if head >> 4 < 15 else self.unsigned()
            if size > self.end - self.here:  # every member takes a byte at least
                raise ValueError("a list is longer than the file")
            return [self.value(head & 15, depth + 1) for _ in range(size)]
        if kind == 12:
            return self.struct(depth + 1)[0]
        raise ValueError("an unknown type")

    def byte(self) -> int:
        if self.here >= self.end:
            raise ValueError("cut short")
        self.here += 1
        return self.content[self.here - 1]

    def skip(self, size: int) -> None:
        self.here += size
        if self.here > self.end:
            raise ValueError("cut short")

    def unsigned(self) -> int:
        found = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            found |= (byte & 127) << shift
            if byte < 128:
                return found
        raise ValueError("a number is too long")

    def whole(self) -> int:
        """A signed number: 0, -1, 1, -2 and so on."""
        found = self.unsigned()
        return found >> 1 ^ -(found & 1)
