"""Where a release goes: tried, locked and with room set aside before it costs anything."""

from __future__ import annotations

import errno
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from hedgerow.disk import Hold, Room
from hedgerow.errors import ReleaseError
from hedgerow.release.kinds import all_files
from hedgerow.release.manifest import MANIFEST
from hedgerow.suggestions import check_arguments

__all__ = ["Target", "cannot", "check_target"]


class Target:
    """A folder that one run alone may write a release to, until it is closed.

    `Release.save` takes it in place of a path.

    Args:
        path: The folder, as it was named.
        folder: The folder itself, links followed.
        made: The folders above it that were made for it.
        hold: The lock on it.
        overwrite: Whether a release that is there may be replaced.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        folder: Path,
        made: list[Path],
        hold: Hold,
        overwrite: bool,
    ) -> None:
        self.path = path
        self.folder = folder
        self.overwrite = overwrite
        self._made = made
        self._hold = hold
        self._room: Room | None = None
        self._before = _identity(folder)

    @staticmethod
    def take(path: str | os.PathLike[str], overwrite: bool = False, room: int = 0) -> Target:
        """Locks a folder and sets bytes aside for it. Do it before any budget is spent.

        Args:
            path: The folder, which need not exist.
            overwrite: Whether a release that is there may be replaced.
            room: How many bytes to set aside on its file system.

        Raises:
            ReleaseError: If the folder may not be replaced or cannot be written, another run
                writes to it, or there is not so much room.
        """
        check_arguments(Target.take, locals())
        folder = _place(path, overwrite)
        made = _missing(folder)
        target = None
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            hold = Hold.take(folder.parent / f".{folder.name}.lock")
            if hold is None:
                raise ReleaseError(
                    f"another run is about to write a release to {path}",
                    hint="Wait until it has ended, or name another folder.",
                )
            target = Target(path, folder, made, hold, overwrite)
            target.check()  # that run may just have ended
            if room:
                target._room = Room(folder.parent, room)
        except BaseException as error:
            if target is not None:
                target.close()
            else:
                _remove(made)
            if isinstance(error, OSError):
                raise cannot("write", path, error, room) from None
            raise
        return target

    def __fspath__(self) -> str:
        """The folder as it was named, so that this can stand for a path."""
        return os.fspath(self.path)

    def __str__(self) -> str:
        """The same."""
        return os.fspath(self.path)

    def check(self) -> None:
        """Raises if something is there by now that must not be replaced."""
        _refuse(self.path, self.folder, self.overwrite)

    def is_filled(self) -> bool:
        """Whether a release was put there since the folder was taken."""
        return _identity(self.folder) not in (None, self._before)

    def give_back(self) -> None:
        """Frees the bytes that were set aside: now the release itself is written."""
        if self._room is not None:
            self._room.give_back()

    def close(self) -> None:
        """Lets others write there. Folders that were made for nothing are removed."""
        self.give_back()
        self._hold.close()
        _remove(self._made)


def check_target(path: str | os.PathLike[str], overwrite: bool = False) -> Path:
    """Where a release would be written, or a refusal; `Target.take` also locks it.

    Raises:
        ReleaseError: If something is there already that must not be replaced, or nothing can be
            written there.
    """
    check_arguments(check_target, locals())
    folder = _place(path, overwrite)
    try:
        above = folder.parent
        while not above.exists():  # writing makes the folders that are not there
            above = above.parent
        os.rmdir(tempfile.mkdtemp(prefix=f".{folder.name[:50]}.try-", dir=above))
    except OSError as error:
        raise cannot("write", path, error) from None
    return folder


def _place(path: str | os.PathLike[str], overwrite: bool) -> Path:
    if not os.fspath(path):
        raise ReleaseError("the release has no folder to go to", hint="Name a new folder.")
    folder = Path(os.path.realpath(path))
    _refuse(path, folder, overwrite)
    for above in folder.parents:
        if (above / MANIFEST).is_file() and any((above / name).is_file() for name in all_files()):
            raise ReleaseError(
                f"{path} lies in the folder of another release, which must hold nothing else",
                hint="Name a folder in another place.",
            )
    above = folder.parent
    with suppress(OSError):
        while not above.exists():
            above = above.parent
        if not above.is_dir():
            raise ReleaseError(
                f"cannot write the release at {path}: {above} is a file, not a folder",
                hint="Name a folder in another place.",
            )
    return folder


def _identity(folder: Path) -> tuple[int, int] | None:
    """Tells a folder that is in its place from another one that was moved there, if any is."""
    try:
        found = folder.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _missing(folder: Path) -> list[Path]:
    """The folders above that are not there, the innermost first."""
    found = []
    with suppress(OSError):
        for above in folder.parents:
            if above.exists():
                break
            found.append(above)
    return found


def _remove(made: list[Path]) -> None:
    with suppress(OSError):  # the first that is in use ends it
        for folder in made:
            folder.rmdir()


def _refuse(path: str | os.PathLike[str], folder: Path, overwrite: bool) -> None:
    """Raises if something is there that must not be replaced."""
    try:
        if not folder.exists():
            return
        if not folder.is_dir():
            raise ReleaseError(
                f"{path} is a file, not a folder", hint="Name a folder that does not exist yet."
            )
        inside = {entry.name for entry in folder.iterdir()}
    except OSError as error:
        raise cannot("read", path, error) from None
    if not inside:
        return
    if MANIFEST not in inside or inside - {MANIFEST, *all_files()}:
        raise ReleaseError(
            f"{path} is there already and holds other files than a release's, so it is left alone",
            hint="Name a folder that does not exist yet"
            + ("." if MANIFEST in inside else ", such as a new one inside it."),
        )
    if not overwrite:
        raise ReleaseError(
            f"{path} already holds a release",
            hint="Name another folder, or ask to overwrite it (overwrite=True, --overwrite).",
        )


def cannot(what: str, path: str | os.PathLike[str], error: OSError, room: int = 0) -> ReleaseError:
    """The error for a folder that the system refused.

    Args:
        what: "read" or "write".
        path: The folder, as it was named.
        error: What the system said.
        room: The bytes that were to be set aside, if that is what failed.
    """
    full = "The disk is full: make room, or choose a folder on another disk."
    if room:
        size = f"{max(1, round(room / 10**6)):,} MB"
        full = f"A release by this plan may take {size}: make room, or choose another disk."
    hints = {
        errno.ENOSPC: full,
        errno.EFBIG: full,
        errno.EDQUOT: "Your share of the disk is used up: make room, or choose another disk.",
        errno.EACCES: "Choose a folder that you may use, or ask for the right to use this one.",
        errno.EPERM: "Choose a folder that you may use, or ask for the right to use this one.",
        errno.EROFS: "This disk cannot be written to: choose a folder on another one.",
    }
    reason = os.strerror(error.errno) if error.errno else "the system refused"
    return ReleaseError(
        f"cannot {what} the release at {path}: {reason}",
        hint=hints.get(error.errno or 0, "Check the folder's name and try again."),
    )
