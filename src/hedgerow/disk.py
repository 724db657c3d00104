"""Locks and free space that a run claims before it costs anything.

Both vanish with the process, however it ends: the system lets go of a lock and frees a file
without a name. What a killed run can leave is an empty lock file, which the next run takes over.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # what a file system says when there is no room

_UNKNOWN = {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOLCK}


class Hold:
    """A lock file that is ours until we close it, or until this process ends.

    Args:
        path: The file.
        handle: Its open descriptor, which is locked.

    Example:
        >>> path = Path(tempfile.mkdtemp()) / "lock"
        >>> hold = Hold.take(path)
        >>> Hold.take(path) is None, Hold.is_held(path)
        (True, True)
        >>> hold.close()
        >>> path.exists()
        False
    """

    def __init__(self, path: Path, handle: int) -> None:
        self.path = path
        self._handle: int | None = handle
        self._process = os.getpid()

    @staticmethod
    def take(path: Path) -> Hold | None:
        """Takes the lock, also one that a dead process left; None if somebody has it.

        Raises:
            OSError: If the file cannot be made.
        """
        while True:
            handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
            if not _lock(handle):
                os.close(handle)
                return None
            if _is_at(handle, path):
                return Hold(path, handle)
            os.close(handle)  # its holder removed it while we waited for the lock

    @staticmethod
    def is_held(path: Path) -> bool:
        """Whether a living process holds the lock. A file that nobody holds is removed."""
        if not path.exists():
            return False
        hold = Hold.take(path)
        if hold is None:
            return True
        hold.close()
        return False

    def close(self) -> None:
        """Lets go of the lock and removes its file; a second time does nothing."""
        if self._handle is None:
            return
        handle, self._handle = self._handle, None
        if self._process != os.getpid():  # a fork: the lock is its parent's
            os.close(handle)
            return
        if sys.platform == "win32":  # where an open file cannot be removed
            os.close(handle)
        with suppress(OSError):
            self.path.unlink()
        if sys.platform != "win32":  # first removed, then let go: nobody takes a lost file
            os.close(handle)

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        """A lock stays with its process: a copy of a hold is None."""
        return type(None), ()

    def __del__(self) -> None:
        """A hold that was forgotten, as by an interrupt, is given up."""
        self.close()


def _lock(handle: int) -> bool:
    """Locks an open file unless somebody has; where locks are unknown, as if nobody had."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in _UNKNOWN
    return True


def _is_at(handle: int, path: Path) -> bool:
    """Whether an open file is the one of that name."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except OSError:
        return False


class Room:
    """Bytes of a file system that nobody else can use until they are given back.

    Args:
        folder: A folder on that file system.
        size: How many bytes.

    Raises:
        OSError: If there is not so much room, or nothing can be written there.

    Example:
        >>> room = Room(Path(tempfile.gettempdir()), 4096)
        >>> room.give_back(), room.give_back()
        (True, False)
    """

    def __init__(self, folder: str | Path | None, size: int) -> None:
        self._file: IO[bytes] | None = tempfile.TemporaryFile(  # noqa: SIM115 (it stays open)
            dir=folder, buffering=0
        )
        try:
            if size and hasattr(os, "posix_fallocate"):
                try:
                    os.posix_fallocate(self._file.fileno(), 0, size)
                    return
                except OSError as error:
                    if error.errno not in _UNKNOWN:
                        raise
            # where nothing can be set aside, it is at least seen that there is room now
            if shutil.disk_usage(folder or tempfile.gettempdir()).free < size:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._file.write(bytes(1))
        except BaseException:
            self.give_back()
            raise

    def give_back(self) -> bool:
        """Frees the bytes; whether they were still kept."""
        if self._file is None:
            return False
        file, self._file = self._file, None
        file.close()
        return True
