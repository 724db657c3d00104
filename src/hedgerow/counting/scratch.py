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

from hedgerow.arrays import Bytes
from hedgerow.disk import FULL, Room
from hedgerow.errors import DataError, UsageError

ROOM = 1 << 26  # bytes set aside for scratch files that grow after the input was read


class Shelf:
    """Blocks of bytes, the first of them in memory and all others in a scratch file.

    Blocks may be added, read and written by several threads at once, as long as no two write the
    same.

    Args:
        allowance: How many bytes may stay in memory.
        folder: Where a scratch file may lie; the system's folder for such files by default.
        spare: Room that is given back when the disk is full.

    Example:
        >>> import numpy as np
        >>> shelf = Shelf(allowance=2)
        >>> for number in (1, 2):
        ...     number = shelf.add(np.full(2, number, np.uint8))
        >>> found = np.zeros(2, np.uint8)
        >>> shelf.load(1, 0, found)
        >>> found.tolist()
        [2, 2]
        >>> shelf.close()
    """

    def __init__(
        self, allowance: int, folder: str | Path | None = None, spare: Spare | None = None
    ) -> None:
        self._allowance = allowance
        self._folder = folder
        self._spare = spare
        self._kept: list[Bytes] = []
        self._offset: list[int] = []  # of the blocks in the file
        self._end = 0
        self._file: IO[bytes] | None = None
        self._lock = threading.Lock()

    def add(self, block: Bytes) -> int:
        """Appends a block of its own size, and gives its number."""
        with self._lock:
            number = len(self._kept) + len(self._offset)
            if not self._offset and block.nbytes <= self._allowance:
                self._allowance -= block.nbytes
                self._kept.append(block.copy())
                return number
            if self._file is None:
                try:
                    self._file = tempfile.TemporaryFile(  # noqa: SIM115 (it stays open)
                        buffering=0, dir=self._folder
                    )
                except OSError as error:
                    raise _no_file(self._folder, error) from None
            self._offset.append(self._end)
            self._end += block.nbytes
        self.save(number, 0, block)
        return number

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
        again = self._spare is not None
        while len(view):
            try:
                number = self._write(view, offset)
            except OSError as error:
                if error.errno not in FULL:
                    raise
                if self._spare is None or not again:
                    raise _full() from None
                self._spare.give_back()  # or another thread did
                again = False
                continue
            view, offset = view[number:], offset + number

    @property
    def bytes_on_disk(self) -> int:
        """How large the scratch file is."""
        return self._end

    def close(self) -> None:
        """Gives everything back."""
        self._kept, self._end = [], 0
        if self._file is not None:
            self._file.close()

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


class Spare:
    """Room on the disk of scratch files, set aside before anything is drawn.

    Once rows have been read, scratch files grow only by where nodes' rows lie. A disk that others
    fill meanwhile then costs a release that was paid for. The shelves of an engine share its spare
    room and give it back when they meet a full disk.

    Args:
        folder: Where scratch files lie; the system's folder for such files by default.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self._folder = folder
        self._room: Room | None = None
        self._lock = threading.Lock()

    def keep(self, size: int) -> None:
        """Sets bytes aside.

        Raises:
            DataError: If there is not so much room.
        """
        try:
            self._room = Room(self._folder, size)
        except OSError as error:
            if error.errno in FULL:
                raise _full() from None
            raise _no_file(self._folder, error) from None

    def give_back(self) -> None:
        """Frees them, if they are still kept."""
        with self._lock:
            if self._room is not None:
                self._room.give_back()


def _full() -> DataError:
    return DataError(
        "there is no room left for scratch files",
        hint="Free some space, or name a folder on another disk (--scratch, scratch=). "
        "They take about as many bytes as the rows have codes, and 64 MB.",
    )


def _no_file(folder: str | Path | None, error: OSError) -> DataError:
    return DataError(
        f"no scratch file can be made in {folder or tempfile.gettempdir()} ({error.strerror})",
        hint="Name a folder that you may write to (--scratch, scratch=).",
    )


def check_folder(folder: str | Path | None) -> None:
    """Refuses a folder that is not there before anything is read."""
    if folder is not None and not Path(folder).is_dir():
        raise UsageError(
            f"{folder}: there is no such folder for scratch files",
            hint="Name a folder that exists, on a disk with room (--scratch, scratch=).",
        )
