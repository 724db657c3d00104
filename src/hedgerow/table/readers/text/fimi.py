"""Text files with one record per line, as the FIMI repository has them: plain or gzipped.

Lines are read in blocks of bytes; no Python object is made for a record.
"""

from __future__ import annotations

import codecs
import gzip
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.arrays import Bytes, Ints
from hedgerow.table.readers.source import Progress
from hedgerow.table.readers.text.faults import LONGEST, encoding_error, explain, too_long
from hedgerow.table.transactions.kernels import find_lines

__all__ = ["Lines", "read_lines"]

_BLOCK = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Some lines of a file.

    Args:
        data: Their bytes.
        begin: Where each line begins.
        end: Where it ends, without its line break.
        odd: The place of the first line that is not text in UTF-8, if there is one.
    """

    data: Bytes
    begin: Ints
    end: Ints
    odd: int | None


def read_lines(path: Path, *, gzipped: bool, progress: Progress | None = None) -> Iterator[Lines]:
    """The lines of a file, block by block; a line never straddles two blocks.

    Raises:
        DataError: If the file cannot be read, begins as one in UTF-16 does, or has a line that is
            too long.
    """
    size = max(1, os.path.getsize(path))
    number = 1
    try:
        with path.open("rb", buffering=0) as raw:
            file: Any = gzip.GzipFile(fileobj=raw) if gzipped else raw
            for block in _whole_lines(file):
                if number == 1 and block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                    raise encoding_error(path, 1)
                lines = _lines(block)
                long = np.flatnonzero(lines.end - lines.begin > LONGEST)
                if len(long):
                    raise too_long(path, number + int(long[0]))
                yield lines
                number += len(lines.begin)
                if progress is not None:
                    progress(min(1.0, raw.tell() / size))
    except (OSError, EOFError, zlib.error) as error:
        raise explain(error, path, gzipped) from None


def _whole_lines(file: Any) -> Iterator[bytes]:
    """The bytes of a file in blocks that end where a line does."""
    parts: list[bytes] = []
    while block := file.read(_BLOCK):
        if parts and parts[-1].endswith(b"\r") and not block.startswith(b"\n"):
            yield b"".join(parts)
            parts = []
        cut = _last_break(block)
        if cut:
            yield b"".join([*parts, block[:cut]])
            parts = []
        parts.append(block[cut:])
        # Then a line is too long, whatever follows, even without a byte order mark and a CR.
        if sum(map(len, parts)) > LONGEST + len(codecs.BOM_UTF8) + 1:
            break
    if any(parts):
        yield b"".join(parts)


def _last_break(block: bytes) -> int:
    """Where the last whole line ends; a CR at the very end may still be half of a CRLF."""
    newline = block.rfind(b"\n") + 1
    return max(newline, block.rfind(b"\r", newline, max(newline, len(block) - 1)) + 1)


def _lines(block: bytes) -> Lines:
    data = np.frombuffer(block, np.uint8)
    begin, end = find_lines(data)
    wrong = block.find(b"\0")
    if wrong < 0 and not block.isascii():
        try:
            block.decode("utf-8")
        except UnicodeDecodeError as error:
            wrong = error.start
    odd = None if wrong < 0 else int(np.searchsorted(begin, wrong, side="right")) - 1
    return Lines(data=data, begin=begin, end=end, odd=odd)
