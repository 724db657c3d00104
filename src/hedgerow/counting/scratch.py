"""Scratch: private rows that do not fit in memory lie in files that have no name.

A scratch file is unlinked as soon as it is open (or never gets a name at all), and only its owner
may read it. The system frees it when the process ends, however it ends: nothing is left behind
after an error, an interrupt or a crash.
"""

from __future__ import annotations

import errno
import os
import tempfile
import threading
from pathlib import Path
from typing import IO, Any

from hedgerow.counting.layout import Bytes
from hedgerow.errors import DataError, UsageError

__all__ = ["Shelf", "check_folder"]


class Shelf:
    """Blocks of bytes, the first of them in memory and all others in a scratch file.

    Blocks may be read and written by several threads at once, as long as no two write the same.

    Args:
        allowance: How many bytes may stay in memory.
        folder: Where a scratch file may lie; the system's folder for such files by default.

    Example:
        >>> import numpy as np
        >>> shelf = Shelf(allowance=2)
        >>> for number in (1, 2):
        ...     shelf.add(np.full(2, number, np.uint8))
        >>> found = np.zeros(2, np.uint8)
        >>> shelf.load(1, 0, found)
        >>> found.tolist()
        [2, 2]
        >>> shelf.close()
    """

    def __init__(self, allowance: int, folder: str | Path | None = None) -> None:
        self._allowance = allowance
        self._folder = folder
        self._kept: list[Bytes] = []
        self._offset: list[int] = []  # of the blocks in the file
        self._end = 0
        self._file: IO[bytes] | None = None
        self._lock = threading.Lock()

    def add(self, block: Bytes) -> None:
        """Appends a block of its own size."""
        if not self._offset and block.nbytes <= self._allowance:
            self._allowance -= block.nbytes
            self._kept.append(block.copy())
            return
        if self._file is None:
            self._file = self._open()
        self._offset.append(self._end)
        self._end += block.nbytes
        self.save(len(self._kept) + len(self._offset) - 1, 0, block)

    def load(self, block: int, first: int, into: Bytes) -> None:
        """Fills an array with the bytes of a block from `first` on."""
        if block < len(self._kept):
            into[:] = self._kept[block][first : first + len(into)]
            return
        view, offset = memoryview(into.data), self._offset[block - len(self._kept)] + first
        while len(view):
            number = self._read(view, offset)
            if not number:
                raise OSError(errno.EIO, "a scratch file was cut short")
            view, offset = view[number:], offset + number

    def save(self, block: int, first: int, content: Bytes) -> None:
        """Overwrites the bytes of a block from `first` on."""
        if block < len(self._kept):
            self._kept[block][first : first + len(content)] = content
            return
        view, offset = memoryview(content.data), self._offset[block - len(self._kept)] + first
        try:
            while len(view):
                number = self._write(view, offset)
                view, offset = view[number:], offset + number
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise
            raise DataError(
                "there is no room left for scratch files",
                hint="Free some space, or name a folder on another disk (--scratch, scratch=). "
                "They take about as many bytes as the rows have codes.",
            ) from None

    @property
    def bytes_on_disk(self) -> int:
        """How large the scratch file is."""
        return self._end

    def close(self) -> None:
        """Gives everything back."""
        self._kept = []
        if self._file is not None:
            self._file.close()

    def _open(self) -> IO[bytes]:
        try:
            return tempfile.TemporaryFile(buffering=0, dir=self._folder)
        except OSError as error:
            raise DataError(
                f"no scratch file can be made in {self._folder or tempfile.gettempdir()} "
                f"({error.strerror})",
                hint="Name a folder that you may write to (--scratch, scratch=).",
            ) from None

    # Positional reads and writes need no lock; not every system has them.

    def _read(self, view: Any, offset: int) -> int:
        assert self._file is not None
        if hasattr(os, "preadv"):
            return os.preadv(self._file.fileno(), [view], offset)
        with self._lock:
            self._file.seek(offset)
            return self._file.readinto(view) or 0  # type: ignore[attr-defined]

    def _write(self, view: Any, offset: int) -> int:
        assert self._file is not None
        if hasattr(os, "pwrite"):
            return os.pwrite(self._file.fileno(), view, offset)
        with self._lock:
            self._file.seek(offset)
            return self._file.write(view)


def check_folder(folder: str | Path | None) -> None:
    """Refuses a folder that is not there before anything is read."""
    if folder is not None and not Path(folder).is_dir():
        raise UsageError(
            f"{folder}: there is no such folder for scratch files",
            hint="Name a folder that exists, on a disk with room (--scratch, scratch=).",
        )
