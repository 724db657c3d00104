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
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from hedgerow.errors import ReleaseError
from hedgerow.estimate.merge import is_censored
from hedgerow.measured.itemsets import Itemsets
from hedgerow.measured.marginals import Marginals
from hedgerow.measured.measurements import Measurement
from hedgerow.measured.partition import Partition
from hedgerow.release.codec import (
    COLUMNS,
    MEASUREMENTS,
    PARTITION,
    measurements_from,
    measurements_table,
    partition_from,
    partition_kind,
    partition_table,
)
from hedgerow.release.formats import FORMATS, ROWS_FILES
from hedgerow.release.manifest import (
    MANIFEST,
    check_guarantee,
    make_manifest,
    parse_manifest,
    schema_of,
    to_text,
)
from hedgerow.release.target import Target, cannot, check_target
from hedgerow.store.untrusted import digest, is_sober, read_bytes, read_columns
from hedgerow.store.validation import broken

if TYPE_CHECKING:
    from hedgerow.release.table import Release
    from hedgerow.release.transactions import TransactionsRelease
    from hedgerow.schema import Schema

__all__ = [
    "check_file",
    "check_target",
    "leftovers",
    "other_files",
    "read_manifest",
    "read_parts",
    "read_table",
    "write",
    "write_folder",
]

_MOST_BYTES = 1 << 34
_MOST_MANIFEST_BYTES = 1 << 28
_MOST_UNCOUNTED = 1 << 22  # regions; a grid of very many can be claimed in a few bytes


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


def other_files(path: str | Path, manifest: dict[str, Any]) -> list[str]:
    """What lies in the folder of a release and is no part of it."""
    rows = manifest["kind"] == "rows"
    own = {MANIFEST, *(ROWS_FILES if rows else FORMATS[manifest["partition"]].data_files)}
    try:
        return sorted({entry.name for entry in Path(path).iterdir()} - own)
    except OSError as error:
        raise cannot("read", path, error) from None


def write(
    release: Release | TransactionsRelease, path: str | os.PathLike[str], overwrite: bool = False
) -> None:
    """Writes a release to a folder, whole or not at all.

    Raises:
        ReleaseError: If the folder may not be replaced or cannot be written.
        UsageError: If a column is called like one of the release's own.
    """
    FORMATS[partition_kind(release.partition)].check_names(release.schema)
    write_folder(path, overwrite, _contents(release), lambda files: make_manifest(release, files))


def write_folder(
    path: str | os.PathLike[str],
    overwrite: bool,
    contents: Iterable[tuple[str, Any]],
    manifest: Callable[[dict[str, str]], dict[str, Any]],
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
    contents: Iterable[tuple[str, Any]],
    manifest: Callable[[dict[str, str]], dict[str, Any]],
    folder: Path,
) -> None:
    hashes = {}
    for name, content in contents:
        blocks = [_parquet(content)] if isinstance(content, pa.Table) else content
        hashes[name] = _write_file(folder / name, blocks)
    text = to_text(manifest(hashes))
    _write_file(folder / MANIFEST, [text.encode()])
    _flush_folder(folder)


def _contents(release: Release | TransactionsRelease) -> Iterator[tuple[str, Any]]:
    schema, partition = release.schema, release.partition
    yield PARTITION, partition_table(schema, partition)
    yield MEASUREMENTS, measurements_table(schema, release.measurements)
    yield from FORMATS[partition_kind(partition)].derived(release)


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


def _write_file(path: Path, blocks: Iterable[Any]) -> str:
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


def read_manifest(path: str | Path) -> dict[str, Any]:
    """Reads the manifest of a release; no other file is opened.

    Raises:
        ReleaseError: If there is none, or it is not one that this package reads.
    """
    folder = Path(path)
    if not os.path.isdir(folder):  # which knows no errors, whatever the path
        raise ReleaseError(
            f"{path} is not a folder, so it is no release",
            hint="Give the folder that `hedgerow publish` wrote.",
        )
    try:
        return parse_manifest(read_bytes(folder, MANIFEST, _MOST_MANIFEST_BYTES))
    except OSError as error:
        raise cannot("read", folder / MANIFEST, error) from None


def check_file(path: str | Path, name: str, manifest: dict[str, Any]) -> None:
    """Holds one file of a release to the hash in the manifest.

    Raises:
        ReleaseError: If it is missing, no ordinary file, or was changed.
    """
    try:
        found = digest(Path(path), name, _MOST_BYTES)
    except OSError as error:
        raise cannot("read", Path(path) / name, error) from None
    _hold(name, found, manifest)


def _hold(name: str, found: str, manifest: dict[str, Any]) -> None:
    if found != manifest["files"].get(name):
        raise broken(name, "this file is not the one that was published: its hash differs")


def read_table(
    path: str | Path,
    name: str,
    manifest: dict[str, Any],
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


def _check_places(
    schema: Schema, partition: Partition | Itemsets, measurements: Sequence[Measurement]
) -> None:
    places = {"region": partition.cells, "node": len(getattr(partition, "parent", (0,)))}
    if schema.items is not None:
        places |= {"item": schema.items.size, "size": schema.items.size + 1}
    if schema.items is None:
        Marginals.of(schema, measurements)
    for measurement in measurements:
        if measurement.at == "cell" and schema.items is None:
            continue  # the line above looked at them
        if (measurement.where >= places.get(measurement.at, 0)).any():
            raise broken(MEASUREMENTS, "a number speaks of a place that does not exist")
    counted = max((len(measurement.where) for measurement in measurements), default=0)
    if not is_censored(measurements) and partition.cells > max(counted, _MOST_UNCOUNTED):
        raise broken(PARTITION, "it has very many regions that were not counted")


def read_parts(path: str | Path, manifest: dict[str, Any] | None = None) -> dict[str, Any]:
    """The fields of the release in a folder, every file of it checked.

    Only files of fixed names are opened, whatever the manifest lists.

    Raises:
        ReleaseError: Names the file and what is wrong with it.
    """
    manifest = read_manifest(path) if manifest is None else manifest
    check_guarantee(manifest["guarantee"])
    schema = schema_of(manifest)
    shape = manifest["partition"]
    layout = FORMATS[shape]
    partition = partition_from(shape, read_table(path, PARTITION, manifest, COLUMNS[shape]), schema)
    layout.check(schema, partition)
    table = read_table(path, MEASUREMENTS, manifest, COLUMNS[MEASUREMENTS])
    measurements = measurements_from(manifest["measurements"], table, schema)
    _check_places(schema, partition, measurements)
    for name in layout.data_files:
        if name not in (PARTITION, MEASUREMENTS):  # those were read above
            check_file(path, name, manifest)
    return {
        "schema": schema,
        "method": manifest["method"],
        "settings": manifest["settings"],
        "guarantee": manifest["guarantee"],
        "ledger": manifest["ledger"],
        "partition": partition,
        "measurements": measurements,
    }
