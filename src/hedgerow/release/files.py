"""Releases as folders: written whole, read with every doubt, and never over another unasked."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from hedgerow.disk import Hold, Room
from hedgerow.errors import ReleaseError
from hedgerow.release.manifest import (
    MANIFEST,
    Document,
    all_files,
    kind_class,
    parse_manifest,
    to_text,
)
from hedgerow.release.plain_files import TABLES, is_table_file
from hedgerow.store.untrusted import broken, digest, is_sober, read_bytes, read_columns
from hedgerow.suggestions import check_arguments

# Where a release goes: tried, locked and with room set aside before it costs anything.


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
        inside = _inside(folder)
    except OSError as error:
        raise cannot("read", path, error) from None
    if not inside:
        return
    tables = {name for name in inside if is_table_file(name)}
    if MANIFEST not in inside or inside - {MANIFEST, *all_files()} - tables:
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


# A release as a folder: written whole or not at all, read with every file held to its hash.
#
# Files are written to a sibling folder and flushed to the disk before that folder is renamed into
# place. A reader therefore meets the old release, for an instant none, or the new one, never a
# half.


Content: TypeAlias = "pa.Table | Iterable[bytes]"
"""What a file holds: a table for Parquet, or blocks of bytes."""

_MOST_BYTES = 1 << 34
_MOST_MANIFEST_BYTES = 1 << 28


def leftovers(path: str | Path) -> list[Path]:
    """Folders beside a release that a run was killed over while it wrote or replaced it.

    A run that is interrupted clears up after itself; one that is killed outright, or stopped by
    a power cut, cannot.
    """
    target = Path(os.path.realpath(path))
    marks = tuple(f".{target.name}.{kind}-" for kind in ("new", "old"))
    try:
        return sorted(entry for entry in target.parent.iterdir() if entry.name.startswith(marks))
    except OSError:
        return []


def names_of(manifest: Document) -> tuple[str, ...]:
    """The files of a release that a manifest lists, in order; a stranger may list any.

    Raises:
        ReleaseError: If one is missing, or is none that such a release has.
    """
    fixed = kind_class(manifest["kind"]).file_names()
    tables = sorted(manifest["files"].keys() - set(fixed))
    if set(fixed) - manifest["files"].keys() or not all(map(is_table_file, tables)):
        raise broken(MANIFEST, "the manifest lists other files than those of a release")
    return (*fixed, *tables)


def other_files(path: str | Path, manifest: Document) -> list[str]:
    """What lies in the folder of a release and is no part of it."""
    try:
        return sorted(_inside(Path(path)) - {MANIFEST, *names_of(manifest)})
    except OSError as error:
        raise cannot("read", path, error) from None


def _inside(folder: Path) -> set[str]:
    """What lies in a folder; of its folder of tables, what lies in there."""
    names = {entry.name for entry in folder.iterdir()}
    tables = folder / TABLES
    if TABLES in names and tables.is_dir() and not tables.is_symlink():
        names.remove(TABLES)
        names |= {f"{TABLES}/{entry.name}" for entry in tables.iterdir()}
    return names


def write_folder(
    path: str | os.PathLike[str],
    overwrite: bool,
    contents: Iterable[tuple[str, Content]],
    manifest: Callable[[Mapping[str, str]], Document],
) -> None:
    """Writes files and a manifest with their hashes, whole or not at all.

    Args:
        path: The folder, or a `Target` that was taken for it.
        overwrite: Whether a release that is there may be replaced; a target knows that itself.
        contents: Names of files, and tables for Parquet or blocks of bytes.
        manifest: Makes the manifest from the hashes.
    """
    taken = path if isinstance(path, Target) else Target.take(path, overwrite)
    target = taken.folder
    mark = secrets.token_hex(4)
    fresh = target.parent / f".{target.name}.new-{mark}"
    try:
        taken.check()
        taken.give_back()
        try:
            fresh.mkdir()
            usual = fresh.stat().st_mode
            fresh.chmod(0o700)  # nobody else sees what is not finished, or is not private
            if _fill(contents, manifest, fresh)["guarantee"].get("private"):
                fresh.chmod(usual)
            _swap(fresh, target, target.parent / f".{target.name}.old-{mark}")
        except BaseException:  # an interrupt too leaves nothing behind
            shutil.rmtree(fresh, ignore_errors=True)
            raise
        _flush_folder(target.parent)
    except OSError as error:
        raise cannot("write", path, error) from None
    finally:
        if taken is not path:
            taken.close()


def _fill(
    contents: Iterable[tuple[str, Content]],
    manifest: Callable[[Mapping[str, str]], Document],
    folder: Path,
) -> Document:
    hashes = {}
    for name, content in contents:
        blocks = [_parquet(content)] if isinstance(content, pa.Table) else content
        (folder / name).parent.mkdir(exist_ok=True)
        hashes[name] = _write_file(folder / name, blocks)
    document = manifest(hashes)
    _write_file(folder / MANIFEST, [to_text(document).encode()])
    if (folder / TABLES).is_dir():
        _flush_folder(folder / TABLES)
    _flush_folder(folder)
    return document


def _parquet(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    if is_sober(sink.getvalue()):
        return sink.getvalue()
    # next to no noise packs so well that readers would take it for a bomb
    sink = pa.BufferOutputStream()
    texts = [field.name for field in table.schema if pa.types.is_dictionary(field.type)]
    pq.write_table(table, sink, compression="none", use_dictionary=texts)
    return sink.getvalue()


def _write_file(path: Path, blocks: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    with path.open("xb") as file:
        for block in blocks:
            digest.update(block)
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


def _flush_folder(folder: Path) -> None:
    """Makes names last through a power cut, where the system can flush folders."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.EACCES):
            raise
    finally:
        os.close(handle)


def _swap(fresh: Path, target: Path, aside: Path) -> None:
    if not target.exists():
        fresh.rename(target)
        return
    target.rename(aside)
    try:
        fresh.rename(target)
    except BaseException:
        aside.rename(target)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def read_manifest(path: str | Path) -> Document:
    """Reads the manifest of a release; no other file is opened.

    Raises:
        ReleaseError: If there is none, or it is not one that this package reads.
    """
    folder = Path(path)
    if not os.path.isdir(folder):  # which knows no errors, whatever the path
        raise ReleaseError(
            f"{path} is not a folder, so it is not a release",
            hint="Give the folder that `hedgerow publish` wrote.",
        )
    try:
        return parse_manifest(read_bytes(folder, MANIFEST, _MOST_MANIFEST_BYTES))
    except OSError as error:
        raise cannot("read", folder / MANIFEST, error) from None


def check_file(path: str | Path, name: str, manifest: Document) -> None:
    """Holds one file of a release to the hash in the manifest.

    Raises:
        ReleaseError: If it is missing, no ordinary file, or was changed.
    """
    try:
        found = digest(Path(path), name, _MOST_BYTES)
    except OSError as error:
        raise cannot("read", Path(path) / name, error) from None
    _hold(name, found, manifest)


def check_derived(path: Path, manifest: Document, sources: Sequence[str]) -> None:
    """Holds all files that follow from the sources to their hashes.

    Raises:
        ReleaseError: Names the file and what is wrong with it.
    """
    if (path / TABLES).is_symlink():
        raise broken(TABLES, "this is a link, which could lead anywhere")
    for name in names_of(manifest):
        if name not in sources:
            check_file(path, name, manifest)


def _hold(name: str, found: str, manifest: Document) -> None:
    if found != manifest["files"].get(name):
        raise broken(name, "this file is not the one that was published: its hash differs")


def read_table(
    path: str | Path,
    name: str,
    manifest: Document,
    columns: Sequence[str] = (),
    like: pa.Table | None = None,
    *,
    any_rows: bool = False,
) -> pa.Table:
    """One Parquet file of a release as a table; see `read_columns`.

    Raises:
        ReleaseError: If it is missing or was changed, or does not hold what it should.
    """
    try:
        content = read_bytes(Path(path), name, _MOST_BYTES)
    except OSError as error:
        raise cannot("read", Path(path) / name, error) from None
    _hold(name, hashlib.sha256(content).hexdigest(), manifest)
    return read_columns(name, content, columns, like, any_rows=any_rows)
