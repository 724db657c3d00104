"""Text files with one record per line, as the FIMI repository has them: plain or gzipped.

Lines are read in blocks of bytes; no Python object is made for a record.
"""

from __future__ import annotations

import codecs
import gzip
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.table.basket_kernels import find_lines
from hedgerow.table.csv_file import encoding_error, explain

__all__ = ["Lines", "read_lines"]

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Lines:
    """Some lines of a file.

    Args:
        data: Their bytes.
        begin: Where each line begins.
        end: Where it ends, without its line break.
        odd: The place of the first line that is not text in UTF-8, if there is one.
    """

    data: NDArray[np.uint8]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    odd: int | None


def read_lines(
    path: Path, *, gzipped: bool, progress: Callable[[float], None] | None = None
) -> Iterator[Lines]:
    """The lines of a file, block by block; a line never straddles two blocks.

    Raises:
        DataError: If the file cannot be read, or begins as one in UTF-16 does.
    """
    size = max(1, os.path.getsize(path))
    rest = b""
    try:
        with path.open("rb", buffering=0) as raw:
            file: Any = gzip.GzipFile(fileobj=raw) if gzipped else raw
            start = True
            while block := file.read(_BLOCK):
                if start:
                    block = _beginning(block, path)
                    start = False
                cut = _last_break(block)
                if cut == 0:
                    rest += block
                    continue
                yield _lines(rest + block[:cut])
                rest = block[cut:]
                if progress is not None:
                    progress(min(1.0, raw.tell() / size))
    except (OSError, EOFError, zlib.error) as error:
        raise explain(error, path, gzipped) from None
    if rest:
        yield _lines(rest)


def _beginning(block: bytes, path: Path) -> bytes:
    """The first block without its byte-order mark."""
    # Only a mark that stands before all records may stop us: what is in one record may not.
    if block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise encoding_error(path, 1)
    return block.removeprefix(codecs.BOM_UTF8)


def _last_break(block: bytes) -> int:
    """Where the last whole line ends; a CR at the very end may still be half of a CRLF."""
    newline = block.rfind(b"\n") + 1
    return newline or block.rfind(b"\r", 0, max(0, len(block) - 1)) + 1


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
    return Lines(data, begin, end, odd)
