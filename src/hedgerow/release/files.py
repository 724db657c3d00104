"""Releases as folders: the manifest, and files written whole, read with every doubt.

A folder is never written over another unasked.
"""

from __future__ import annotations

import errno
import hashlib
import importlib.metadata
import json
import math
import os
import re
import secrets
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from hedgerow.disk import Hold, Room
from hedgerow.errors import HedgerowError, LedgerWarning, ReleaseError
from hedgerow.estimate.measurements import exact
from hedgerow.registry import load
from hedgerow.release.plain_files import TABLES, is_table_file
from hedgerow.schema import Schema
from hedgerow.store.untrusted import broken, digest, is_sober, read_bytes, read_columns
from hedgerow.suggestions import check_arguments

if TYPE_CHECKING:
    from hedgerow.release.base import Release

# The kinds of release: the only list of them, by the word that a manifest uses.
#
# A new kind is a child of `hedgerow.release.base.Release`, and a line here.


KINDS: dict[str, str] = {
    "table": "hedgerow.release.table_releases:TableRelease",
    "marginals": "hedgerow.release.table_releases:MarginalsRelease",
    "transactions": "hedgerow.release.transactions:TransactionsRelease",
    "rows": "hedgerow.release.table_releases:RowsRelease",
}
"""Names, and the class of each as "module:name", which is loaded when it is needed."""


def kind_class(name: str) -> type[Release]:
    """The class of a kind.

    Example:
        >>> kind_class("rows").__name__
        'RowsRelease'
    """
    found: type[Release] = load(KINDS[name])
    return found


def all_files() -> frozenset[str]:
    """The files of all kinds, the manifest aside."""
    return frozenset(file for name in KINDS for file in kind_class(name).file_names())


# The manifest: what a release is and promises, on one page that people and programs can read.


MANIFEST = "manifest.json"
FORMAT = "hedgerow-release"
FORMAT_VERSION = 2

Document = dict[str, Any]
"""An object of JSON: whatever a stranger wrote, until something looks at it."""

_MOST_NESTED = 200  # a schema has at most 136 levels
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
NOTE = "x_"  # entries whose names begin so are for others, and nothing here reads them
_ENTRIES: dict[str, type] = {
    "format": str,
    "format_version": int,
    "kind": str,
    "method": str,
    "settings": dict,
    "schema": dict,
    "schema_hash": str,
    "guarantee": dict,
    "ledger": dict,
    "package_version": str,
    "files": dict,
    "rows": dict,
}
"""What the manifests of all kinds hold; each kind has some more (`Release.entries_of_kind`)."""


def package_version() -> str:
    """The version of the installed package."""
    try:
        return importlib.metadata.version("hedgerow")
    except importlib.metadata.PackageNotFoundError:  # run from a checkout that is not installed
        return "unknown"


def to_text(manifest: Document) -> str:
    """The manifest as stable JSON: sorted keys, but for the schema, whose order has a meaning.

    Example:
        >>> print(to_text({"schema": {"b": 1, "a": 2}, "method": "x"}), end="")
        {
          "method": "x",
          "schema": {
            "b": 1,
            "a": 2
          }
        }
    """
    ordered = {
        key: value if key == "schema" else json.loads(json.dumps(value, sort_keys=True))
        for key, value in sorted(manifest.items())
    }
    return json.dumps(ordered, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def parse_manifest(text: bytes) -> Document:
    """Reads a manifest and checks its shape.

    Raises:
        ReleaseError: If it is no manifest, or one of another format than this package reads.
    """
    try:
        manifest = json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_once,
            parse_float=_finite,
            parse_constant=_finite,
        )
    except (ValueError, RecursionError):
        raise broken(MANIFEST, "this is not JSON") from None
    _check_plain(manifest)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ReleaseError(
            f"{MANIFEST}: this is not the manifest of a hedgerow release",
            hint="Give the folder that `hedgerow publish` wrote.",
        )
    version = manifest.get("format_version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise broken(MANIFEST, "the format version is no whole number above 0")
    if version == 1:
        raise ReleaseError(
            "this release is of format 1, which hedgerow 0.1 wrote and this version does not read",
            hint="Publish the data again with this version, or read it with hedgerow 0.1.",
        )
    if version > FORMAT_VERSION:
        raise ReleaseError(
            f"this release is of format {version}; this hedgerow reads up to {FORMAT_VERSION}",
            hint="Install a newer hedgerow: pip install --upgrade hedgerow.",
        )
    kind = manifest.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise broken(MANIFEST, "this hedgerow does not know the kind of release")
    known = {**_ENTRIES, **kind_class(kind).entries_of_kind}
    for key, wanted in known.items():
        if not isinstance(manifest.get(key), wanted):
            raise broken(MANIFEST, f"the entry {key!r} is missing or not of its kind")
    # what one does not know may change the meaning of what one does
    if any(key not in known and not key.startswith(NOTE) for key in manifest):
        raise broken(MANIFEST, "it has an entry that this format does not know")
    return manifest


def _once(pairs: list[tuple[str, Any]]) -> Document:
    """An object of JSON. If a key is there twice, programs disagree on which one counts."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise broken(MANIFEST, "a key is there twice")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise broken(MANIFEST, "a number in it is infinite or none at all")
    return number


def _check_plain(manifest: Any) -> None:
    """Refuses what would bring whoever prints it into trouble: deep nests, control characters."""
    waiting = [(manifest, 0)]
    while waiting:
        part, depth = waiting.pop()
        if isinstance(part, str):
            if not part.isprintable() and _UNSEEN.search(part):
                raise broken(MANIFEST, "a text in it holds an invisible control character")
        elif isinstance(part, (dict, list)):
            if depth > _MOST_NESTED:
                raise broken(MANIFEST, "it is nested too deeply")
            below = [*part, *part.values()] if isinstance(part, dict) else part
            waiting += [(one, depth + 1) for one in below]


def check_guarantee(guarantee: Document) -> None:
    """Sees that a promise can be read; whether it is kept is for `verify` to say.

    Raises:
        ReleaseError: If a number in it is none.

    Example:
        >>> check_guarantee({"epsilon": "1/2", "delta": "0", "private": True})
        >>> check_guarantee({"epsilon": "much", "delta": "0", "private": True})
        Traceback (most recent call last):
        ...
        hedgerow.errors.ReleaseError: manifest.json: the epsilon of the guarantee is no number ...
    """
    ranges: tuple[tuple[str, str, Callable[[Fraction], bool]], ...] = (
        ("epsilon", "above 0", lambda number: number > 0),
        ("delta", "from 0 and below 1", lambda number: 0 <= number < 1),
    )
    for key, span, fits in ranges:
        try:
            known = fits(exact(guarantee.get(key)))
        except ValueError:
            known = False
        if not known:
            raise broken(MANIFEST, f"the {key} of the guarantee is no number {span}")
    if not isinstance(guarantee.get("private"), bool):
        raise broken(MANIFEST, "the guarantee does not say whether the release is private")
    if not isinstance(guarantee.get("row_wise_query", True), bool):
        raise broken(MANIFEST, "the guarantee does not say whether the query was row-wise")


def schema_of(manifest: Document) -> Schema:
    """The schema in a manifest, held to its hash.

    Raises:
        ReleaseError: If it is no schema or not the one that was published.
    """
    try:
        schema = _schema(json.dumps(manifest["schema"]))
    except (HedgerowError, KeyError, TypeError, ValueError, AttributeError) as error:
        words = error.message if isinstance(error, HedgerowError) else "it cannot be read"
        raise broken(MANIFEST, f"the schema is wrong: {words}") from None
    if schema.hash != manifest["schema_hash"]:
        raise broken(MANIFEST, "the schema does not match its hash, so it was changed")
    return schema


@lru_cache(maxsize=2)
def _schema(text: str) -> Schema:
    """A schema as JSON. Whoever verifies a release reads the same one several times."""
    return Schema.from_dict(json.loads(text))


# The entry that a release has in a budget ledger, as far as a release knows it.


class Booking(Protocol):
    """The entry that a release has in a budget ledger, which is kept elsewhere."""

    def mark_published(self, place: str | os.PathLike[str]) -> None:
        """Notes that the release was saved."""

    def note_end(self, words: str) -> None:
        """Notes that the release was not saved, and why."""

    def facts(self) -> Document:
        """The entry, and what it leaves to other releases."""


def note_saved(booking: Booking | None, path: str | os.PathLike[str]) -> None:
    """Notes in the ledger, if there is one, that a release was saved.

    Call it after the release was written. It was paid for when it was booked, so a ledger that
    cannot be written now is worth a warning and no more.
    """
    if booking is None:
        return
    try:
        booking.mark_published(path)
    except HedgerowError as error:
        warnings.warn(
            f"{path} was written, but the ledger could not note it and still calls it booked. "
            f"It counts as spent all the same. ({error.message})",
            LedgerWarning,
            stacklevel=3,
        )


# Where a release goes: tried, locked and with room set aside before it costs anything.


@dataclass(eq=False)
class Target:
    """A folder that one run alone may write a release to, until it is closed.

    `Release.save` takes it in place of a path.

    Args:
        path: The folder, as it was named.
        folder: The folder itself, links followed.
        overwrite: Whether a release that is there may be replaced.
        before: What tells the folder that was there from another one, if any was.
        room: The bytes that are set aside for it.
        kept: All that is kept until it is closed: bytes, the lock, and folders made for it.
    """

    path: str | os.PathLike[str]
    _: KW_ONLY
    folder: Path
    overwrite: bool
    before: tuple[int, int] | None
    room: Room | None
    kept: ExitStack

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
        with _access("write", path, room), ExitStack() as kept:
            made = list(takewhile(lambda above: not above.exists(), folder.parents))
            kept.callback(_remove, made)
            folder.parent.mkdir(parents=True, exist_ok=True)
            hold = Hold.take(folder.parent / f".{folder.name}.lock")
            if hold is None:
                raise ReleaseError(
                    f"another run is about to write a release to {path}",
                    hint="Wait until it has ended, or name another folder.",
                )
            kept.callback(hold.close)
            before = _identity(folder)
            _refuse(path, folder, overwrite)  # that run may just have ended
            aside = Room(folder.parent, room) if room else None
            if aside is not None:
                kept.callback(aside.give_back)
            return Target(
                path, folder=folder, overwrite=overwrite, before=before, room=aside,
                kept=kept.pop_all(),
            )  # fmt: skip

    def __fspath__(self) -> str:
        """The folder as it was named, so that this can stand for a path."""
        return os.fspath(self.path)

    __str__ = __fspath__

    def is_filled(self) -> bool:
        """Whether a release was put there since the folder was taken."""
        return _identity(self.folder) not in (None, self.before)

    def close(self) -> None:
        """Lets others write there. Folders that were made for nothing are removed."""
        self.kept.close()


def check_target(path: str | os.PathLike[str], overwrite: bool = False) -> Path:
    """Where a release would be written, or a refusal; `Target.take` also locks it.

    Raises:
        ReleaseError: If something is there already that must not be replaced, or nothing can be
            written there.
    """
    check_arguments(check_target, locals())
    folder = _place(path, overwrite)
    with _access("write", path):
        # writing makes the folders that are not there
        above = next(above for above in folder.parents if above.exists())
        os.rmdir(tempfile.mkdtemp(prefix=f".{folder.name[:50]}.try-", dir=above))
    return folder


def _place(path: str | os.PathLike[str], overwrite: bool) -> Path:
    if not os.fspath(path):
        raise ReleaseError("the release has no folder to go to", hint="Name a new folder.")
    folder = Path(os.path.realpath(path))
    _refuse(path, folder, overwrite)
    elsewhere = "Name a folder in another place."
    for above in folder.parents:
        if (above / MANIFEST).is_file() and any((above / name).is_file() for name in all_files()):
            raise ReleaseError(
                f"{path} lies in the folder of another release, which must hold nothing else",
                hint=elsewhere,
            )
    with suppress(OSError):
        above = next(above for above in folder.parents if above.exists())
        if not above.is_dir():
            raise ReleaseError(
                f"cannot write the release at {path}: {above} is a file, not a folder",
                hint=elsewhere,
            )
    return folder


def _identity(folder: Path) -> tuple[int, int] | None:
    """Tells a folder that is in its place from another one that was moved there, if any is."""
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _remove(made: list[Path]) -> None:
    with suppress(OSError):  # the first that is in use ends it
        for folder in made:
            folder.rmdir()


def _refuse(path: str | os.PathLike[str], folder: Path, overwrite: bool) -> None:
    """Raises if something is there that must not be replaced."""
    with _access("read", path):
        if not folder.exists():
            return
        if not folder.is_dir():
            raise ReleaseError(
                f"{path} is a file, not a folder", hint="Name a folder that does not exist yet."
            )
        inside = _inside(folder)
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


@contextmanager
def _access(what: str, path: str | os.PathLike[str], room: int = 0) -> Iterator[None]:
    """Turns what the system refuses into errors of releases.

    Args:
        what: "read" or "write".
        path: The folder or file, as it was named.
        room: The bytes that are to be set aside.
    """
    try:
        yield
    except OSError as error:
        full = "The disk is full: make room, or choose a folder on another disk."
        if room:
            size = f"{max(1, round(room / 10**6)):,} MB"
            full = f"A release by this plan may take {size}: make room, or choose another disk."
        right = "Choose a folder that you may use, or ask for the right to use this one."
        hints = {
            errno.ENOSPC: full,
            errno.EFBIG: full,
            errno.EDQUOT: "Your share of the disk is used up: make room, or choose another disk.",
            errno.EACCES: right,
            errno.EPERM: right,
            errno.EROFS: "This disk cannot be written to: choose a folder on another one.",
        }
        reason = os.strerror(error.errno) if error.errno else "the system refused"
        raise ReleaseError(
            f"cannot {what} the release at {path}: {reason}",
            hint=hints.get(error.errno or 0, "Check the folder's name and try again."),
        ) from None


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
    with _access("read", path):
        return sorted(_inside(Path(path)) - {MANIFEST, *names_of(manifest)})


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
        with _access("write", path):
            _refuse(taken.path, target, taken.overwrite)  # what came there meanwhile
            if taken.room is not None:
                taken.room.give_back()  # now the release itself is written
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
    footers: list[pq.FileMetaData] = []
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", metadata_collector=footers)
    if is_sober(sink.getvalue(), footers[0]):
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
    with _access("read", folder / MANIFEST):
        return parse_manifest(read_bytes(folder, MANIFEST, _MOST_MANIFEST_BYTES))


def check_file(path: str | Path, name: str, manifest: Document) -> None:
    """Holds one file of a release to the hash in the manifest.

    Raises:
        ReleaseError: If it is missing, no ordinary file, or was changed.
    """
    with _access("read", Path(path) / name):
        _hold(name, digest(Path(path), name, _MOST_BYTES), manifest)


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
    with _access("read", Path(path) / name):
        content = read_bytes(Path(path), name, _MOST_BYTES)
    _hold(name, hashlib.sha256(content).hexdigest(), manifest)
    return read_columns(name, content, columns, like, any_rows=any_rows)
