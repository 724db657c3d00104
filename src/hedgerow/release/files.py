"""A release as a folder: written whole or not at all, read with every file held to its hash.

Files are written to a sibling folder and flushed to the disk before that folder is renamed into
place. A reader therefore meets the old release, for an instant none, or the new one, never a half.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from hedgerow.errors import ReleaseError
from hedgerow.release.kinds import kind_class
from hedgerow.release.manifest import MANIFEST, Document, parse_manifest, to_text
from hedgerow.release.target import Target, cannot, check_target
from hedgerow.store.untrusted import digest, is_sober, read_bytes, read_columns
from hedgerow.store.validation import broken

__all__ = [
    "Content",
    "check_file",
    "check_target",
    "leftovers",
    "other_files",
    "read_manifest",
    "read_table",
    "write_folder",
]

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


def other_files(path: str | Path, manifest: Document) -> list[str]:
    """What lies in the folder of a release and is no part of it."""
    own = {MANIFEST, *kind_class(manifest["kind"]).file_names()}
    try:
        return sorted({entry.name for entry in Path(path).iterdir()} - own)
    except OSError as error:
        raise cannot("read", path, error) from None


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
            _fill(contents, manifest, fresh)
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
) -> None:
    hashes = {}
    for name, content in contents:
        blocks = [_parquet(content)] if isinstance(content, pa.Table) else content
        hashes[name] = _write_file(folder / name, blocks)
    text = to_text(manifest(hashes))
    _write_file(folder / MANIFEST, [text.encode()])
    _flush_folder(folder)


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


def _hold(name: str, found: str, manifest: Document) -> None:
    if found != manifest["files"].get(name):
        raise broken(name, "this file is not the one that was published: its hash differs")


def read_table(
    path: str | Path,
    name: str,
    manifest: Document,
    columns: Sequence[str] = (),
    like: pa.Table | None = None,
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
    return read_columns(name, content, columns, like)
