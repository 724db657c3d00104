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
from fractions import Fraction
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hedgerow.arrays import Ints
from hedgerow.disk import FULL, Hold, Room
from hedgerow.errors import HedgerowError, LedgerWarning, ReleaseError
from hedgerow.estimate.measurements import LAWS, PLACES, Measurement, exact
from hedgerow.estimate.partition import (
    CoreCells,
    CutTree,
    GridPartition,
    Itemsets,
    Partition,
    TreePartition,
    bounds_of,
    csv_blocks,
    dictionary,
)
from hedgerow.estimate.tables import Cells
from hedgerow.registry import load
from hedgerow.schema import Numeric, Schema
from hedgerow.store.untrusted import (
    broken,
    column_of,
    digest,
    ints_of,
    is_sober,
    labels_of,
    read_bytes,
    read_columns,
)
from hedgerow.suggestions import check_arguments

if TYPE_CHECKING:
    from hedgerow.ledger.ledger import Booking
    from hedgerow.release.base import Release
    from hedgerow.release.count_tables import Division

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
_ENTRIES: dict[str, type] = (
    dict.fromkeys(("format", "kind", "method", "schema_hash", "package_version"), str)
    | {"format_version": int}
    | dict.fromkeys(("settings", "schema", "guarantee", "ledger", "files", "rows"), dict)
)
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
            text.decode(), object_pairs_hook=_once, parse_float=_finite, parse_constant=_finite
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
    for key, span in (("epsilon", "above 0"), ("delta", "from 0 and below 1")):
        try:
            number = exact(guarantee.get(key))
        except ValueError:
            number = Fraction(-1)
        if not (number > 0 if key == "epsilon" else 0 <= number < 1):
            raise broken(MANIFEST, f"the {key} of the guarantee is no number {span}")
    stated = guarantee.get("private"), guarantee.get("row_wise_query", True)
    for value, what in zip(stated, ("release is private", "query was row-wise"), strict=True):
        if not isinstance(value, bool):
            raise broken(MANIFEST, f"the guarantee does not say whether the {what}")


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


class Target:
    """A folder that one run alone may write a release to, until it is closed.

    It is locked, and bytes are set aside for it: make one before any budget is spent.
    `Release.save` takes it in place of a path.

    Args:
        path: The folder, which need not exist.
        overwrite: Whether a release that is there may be replaced.
        room: How many bytes to set aside on its file system.

    Raises:
        ReleaseError: If the folder may not be replaced or cannot be written, another run
            writes to it, or there is not so much room.
    """

    def __init__(
        self, path: str | os.PathLike[str], overwrite: bool = False, room: int = 0
    ) -> None:
        check_arguments(Target.__init__, locals())
        self.path, self.overwrite = path, overwrite
        self.folder = folder = _place(path, overwrite)  # links followed
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
            self._before = _identity(folder)
            _refuse(path, folder, overwrite)  # that run may just have ended
            self.room = Room(folder.parent, room)
            kept.callback(self.room.give_back)
            self.close = kept.pop_all().close  # folders that were made for nothing are removed

    def __fspath__(self) -> str:
        """The folder as it was named, so that this can stand for a path."""
        return os.fspath(self.path)

    __str__ = __fspath__

    def is_filled(self) -> bool:
        """Whether a release was put there since the folder was taken."""
        return _identity(self.folder) not in (None, self._before)


def check_target(path: str | os.PathLike[str], overwrite: bool = False) -> Path:
    """Where a release would be written, or a refusal; a `Target` also locks it.

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
    with suppress(OSError):
        status = folder.stat()
        return status.st_dev, status.st_ino
    return None


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
    others = [name for name in inside - {MANIFEST, *all_files()} if not is_table_file(name)]
    if MANIFEST not in inside or others:
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
        hints = dict.fromkeys(FULL, full) | {
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
    taken = path if isinstance(path, Target) else Target(path, overwrite)
    target, mark = taken.folder, secrets.token_hex(4)
    fresh, aside = (target.parent / f".{target.name}.{kind}-{mark}" for kind in ("new", "old"))
    try:
        with _access("write", path):
            _refuse(taken.path, target, taken.overwrite)  # what came there meanwhile
            taken.room.give_back()  # now the release itself is written
            try:
                fresh.mkdir()
                usual = fresh.stat().st_mode
                fresh.chmod(0o700)  # nobody else sees what is not finished, or is not private
                if _fill(contents, manifest, fresh)["guarantee"].get("private"):
                    fresh.chmod(usual)
                with suppress(FileNotFoundError):  # nothing is replaced
                    target.rename(aside)
                fresh.rename(target)
            except BaseException:  # an interrupt too leaves nothing behind
                if aside.exists() and not target.exists():
                    aside.rename(target)
                shutil.rmtree(fresh, ignore_errors=True)
                raise
            shutil.rmtree(aside, ignore_errors=True)
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


# The files that need no hedgerow: tables with intervals, what they mean, a page.
#
# All of it is made of the release's own answers. `tables/` has a table for every attribute, every
# attribute by the class, and every table that was measured, as CSV and as Parquet, with the same
# columns as `Release.table` and the bounds of numbers besides; `tables-metadata.json` describes the
# CSV files (CSV on the Web, W3C 2015); `README.md` says what the release is and what it promises.


TABLES, README, METADATA, ROWS = "tables", "README.md", "tables-metadata.json", "rows.parquet"
PLAIN = ROWS, METADATA, README
ROWS_SEED = 1
_COUNTED = 0.75  # of the time that saving takes: until tables are counted
MOST_TABLES, MOST_CELLS = 400, 100_000  # what a folder holds of a very wide release
MOST_NAME = 60
_TABLE_FILE = re.compile(rf"{TABLES}/[a-z0-9_]{{1,{MOST_NAME + 8}}}\.(csv|parquet)")
_RESERVED = {"con", "prn", "aux", "nul", *(f"{a}{n}" for a in ("com", "lpt") for n in range(10))}
_MEANS = {
    "estimate": "the best estimate of the count: noisy, not rounded",
    "low": "lower end of the 95% interval",
    "high": "upper end of the 95% interval",
    "typical_error": "the estimate is off by less in about 95 of 100 cells, if its model is right",
    "standard_error": "standard error of the estimate, by the noise of what was measured",
    "reliability": "what the estimate is worth, in a word: see README.md",
    "basis": "what the estimate rests on: see README.md",
}


def is_table_file(name: str) -> bool:
    """Whether a name is one that a table of a release may have.

    Example:
        >>> is_table_file("tables/age.csv"), is_table_file("tables/../../key.csv")
        (True, False)
    """
    return _TABLE_FILE.fullmatch(name) is not None


def table_names(tables: list[tuple[str, ...]]) -> list[str]:
    """A name for the files of each table: letters of ASCII, digits and _, none alike.

    Example:
        >>> table_names([("Age",), ("age",), ("home town", "ill"), ("con",)])
        ['age', 'age_2', 'home_town__ill', 'con_']
    """
    names: list[str] = []
    for columns in tables:
        words = (re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_") for column in columns)
        plain = "__".join(word or "x" for word in words)[:MOST_NAME]
        plain = f"{plain}_" if plain in _RESERVED else plain
        name, number = plain, 2
        while name in names:
            name, number = f"{plain}_{number}", number + 1
        names.append(name)
    return names


def weight_name(schema: Schema) -> str:
    """What the column with the weights of rows is called: no attribute is called so.

    Example:
        >>> from hedgerow import sample
        >>> weight_name(sample.schema())
        'weight'
    """
    return _free_name("weight", {one.name.casefold() for one in schema.columns})


def _free_name(name: str, taken: set[str]) -> str:
    while name.casefold() in taken:
        name += "_"
    return name


def weighted(rows: pa.Table, schema: Schema, weights: float | np.ndarray[Any, Any]) -> pa.Table:
    """Rows with the number of records that each stands for."""
    column = pa.array(np.broadcast_to(weights, rows.num_rows).astype(np.float64))
    return rows.append_column(weight_name(schema), column)


def with_bounds(table: pa.Table, schema: Schema, divisions: list[tuple[int, Division]]) -> pa.Table:
    """A table with the bounds of numbers behind their labels, as programs want them."""
    at = len(divisions)
    parts = np.unravel_index(np.arange(table.num_rows), [len(parts) for _, parts in divisions])
    for part, (place, division) in zip(parts, divisions, strict=True):
        attribute = schema.columns[place]
        if isinstance(attribute, Numeric):
            low, high = np.array([ends for _, *ends in division])[part].T
            bounds = bounds_of(attribute, low, high)
            for end in ("low", "high"):
                taken = {name.casefold() for name in table.column_names}
                name = _free_name(f"{attribute.name}_{end}", taken)
                table = table.add_column(at, name, bounds[end])
                at += 1
    return table


def plain_files(
    release: Release, progress: Callable[[float], None]
) -> Iterator[tuple[str, Content]]:
    """The names and contents of these files, but for the rows."""
    named = release.named_tables()
    for place, (name, (_, table)) in enumerate(named.items()):
        progress(_COUNTED + (1 - _COUNTED) * place / len(named))
        yield f"{TABLES}/{name}.parquet", table
        yield f"{TABLES}/{name}.csv", csv_blocks(table)
    described = json.dumps(describe_tables(release, named), indent=1)
    yield METADATA, [f"{described}\n".encode()]
    yield README, [_write_page(release, named)]


def describe_tables(
    release: Release, tables: Mapping[str, tuple[tuple[str, ...], pa.Table]]
) -> dict[str, Any]:
    """What the columns of the CSV files mean, as CSV on the Web has it."""
    called = {one.name: one.title for one in release.schema.columns}

    described = []
    for file, (names, table) in tables.items():
        columns = []
        for place, field in enumerate(table.schema):
            name, kind = field.name, field.type
            word = "date" if pa.types.is_date(kind) else "number"
            if pa.types.is_string(kind) or pa.types.is_dictionary(kind):
                word = "string"
            first = name.rstrip("_").endswith("_low")
            bound = "first value of the band" if first else "first value beyond the band, not in it"
            means = called.get(name, name) if place < len(names) else _MEANS.get(name, bound)
            column = {"name": name, "titles": name}
            column["datatype"] = "integer" if pa.types.is_integer(kind) else word
            columns.append(column if means == name else column | {"dc:description": means})
        described.append(
            {
                "url": f"{TABLES}/{file}.csv",
                "dc:title": " by ".join(called.get(name, name) for name in names),
                "tableSchema": {"columns": columns},
            }
        )
    return {
        "@context": "http://www.w3.org/ns/csvw",
        "dc:title": release.schema.name,
        "dc:description": f"Noisy counts with 95% intervals. {_promise(release)}",
        "tables": described,
    }


def _promise(release: Release) -> str:
    stated = release.guarantee
    epsilon, delta = stated.get("epsilon"), str(stated.get("delta", "0"))
    words = f"Differential privacy protects {release.describe().protected}: epsilon {epsilon}"
    words += "." if delta == "0" else f", delta {delta}."
    if stated.get("private", True) is not True:
        words = f"NOT PRIVATE: a run with a seed, for tests alone. {words}"
    return words


def _write_page(release: Release, tables: Mapping[str, tuple[tuple[str, ...], pa.Table]]) -> bytes:
    """What the release is and what it promises, for people."""
    words, weight = release.describe(), weight_name(release.schema)
    about = release.schema.metadata
    limits = []
    if release.unmeasured:
        limits.append(f"Anything about {', '.join(map(_plain, release.unmeasured))}: not measured.")
    if words.suppressed:
        limits.append(words.suppressed)
    lines = [
        f"| `{TABLES}/{file}.csv` | {' by '.join(map(_plain, names))} | {table.num_rows} |"
        for file, (names, table) in tables.items()
    ]
    example = [f"SELECT * FROM '{TABLES}/{file}.parquet';" for file in [*tables][:1]]
    example.append(f"SELECT sum({weight}) FROM '{ROWS}';")
    known = {"Publisher": about.institution, "Contact": about.contact, "License": about.license}
    terms = [f"- {name}: {_plain(text)}" for name, text in known.items() if text]
    if about.license is None:
        terms.append("- Ask whoever gave you this folder.")
    page = (Path(__file__).parent / "README.txt").read_text("utf-8").format(
        name=_plain(release.schema.name), method=release.method, summary=words.summary,
        promise=_promise(release), weight=weight, example="\n".join(example),
        limits="".join(f"- {one}\n" for one in limits), terms="\n".join(terms),
        lines="".join(f"{line}\n" for line in lines),
    )  # fmt: skip
    return page.encode()


def _plain(text: str) -> str:
    """A text that Markdown takes for nothing else, and nobody for a promise of a level."""
    text = re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", text).replace("%", "&#37;")
    return text.replace("epsilon ", "epsilon&#32;")


# Regions and measurements as Arrow tables, and back; what is read is checked, never trusted.


PARTITION = "partition.parquet"
MEASUREMENTS = "measurements.parquet"
SHAPES: dict[str, tuple[type, tuple[str, ...]]] = {
    "tree": (TreePartition, ("node", "parent", "depth", "split", "lo", "hi")),
    "grid": (GridPartition, ("attribute", "edge")),
    "cells": (Cells, ("attribute", "first_code", "group")),
    "core": (CoreCells, ("part", "number")),
    "cuts": (CutTree, ("node", "parent", "split", "cut")),
}
"""The words that a manifest uses for the shapes of regions, and what is read of their file."""

COLUMNS = ("measurement", "place", "class", "value", "units")  # read of measurements
# Far beyond what a method draws. Within these bounds no sum leaves 64 bits and no variance is
# infinite, whatever a stranger wrote.
_LARGEST_COUNT, _LARGEST_SUM = 1 << 53, 1 << 60
_PARTS = ("item", "rest")
USUAL: Document = {"max_contribution": 1, "law": "laplace", "tables": []}  # left out of heads
_LEAST_RATE, _LARGEST_RATE = Fraction(1, 10**20), 10**6
_MOST_COLUMNS = 3  # of a table
_LARGEST_CONTRIBUTION = 1 << 40  # a million items of a record, in squares of weights


def partition_table(schema: Schema, partition: Partition | Itemsets | Cells) -> pa.Table:
    """One row per node of a tree or of a tree of cuts, edge of a grid, cell, core item and bin.

    Example:
        >>> schema = Schema.from_dict({
        ...     "name": "s", "unit": "row", "items": {"universe": {"range": [1, 9]}}})
        >>> partition_table(schema, CoreCells(np.array([2, 5]), np.array([0, 1]))).to_pydict()
        {'part': ['item', 'item', 'rest', 'rest'], 'number': [2, 5, 0, 1]}
    """
    if isinstance(partition, TreePartition):
        starts = np.arange(len(partition.parent) + 1) * partition.lo.shape[1]
        columns: dict[str, Any] = {
            "parent": partition.parent,
            "depth": partition.depth,
            "split": partition.split,
            "lo": _lists(starts, partition.lo),
            "hi": _lists(starts, partition.hi),
        }
        return pa.table({"node": np.arange(len(partition.parent), dtype=np.int32), **columns})
    if isinstance(partition, CutTree):
        columns = {
            "node": np.arange(partition.cells, dtype=np.int32),
            "parent": partition.parent.astype(np.int32),
            "split": partition.split.astype(np.int32),
        }
        return pa.table({**columns, "cut": _lists(partition.cut_start, partition.cut)})
    if isinstance(partition, CoreCells):
        parts = np.repeat(_PARTS, [len(partition.core), len(partition.rest)]).tolist()
        number = np.concatenate([partition.core, partition.rest]).astype(np.int64)
        return pa.table({"part": pa.array(parts, pa.string()), "number": number})
    names = tuple(attribute.name for attribute in schema.attributes)
    if isinstance(partition, Cells):
        sizes = [len(group) for group in partition.group]
        columns = {
            "first_code": np.concatenate([edges[:-1] for edges in partition.edges]),
            "group": np.concatenate(partition.group),
        }
    else:
        sizes = [len(edges) for edges in partition.edges]
        columns = {"edge": np.concatenate(partition.edges).astype(np.int32)}
    owner = np.repeat(np.arange(len(names), dtype=np.int32), sizes)
    return pa.table({"attribute": dictionary(owner, names), **columns})


def _lists(starts: Ints, values: NDArray[Any]) -> pa.ListArray:
    ends, flat = starts.astype(np.int32), values.astype(np.int32).ravel()
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(flat))


def partition_from(kind: str, table: pa.Table, schema: Schema) -> Partition | Itemsets | Cells:
    """The regions that a table holds.

    Raises:
        ReleaseError: If the table has another shape. Whether the regions are a partition is
            checked elsewhere.
    """
    if kind in ("tree", "cuts"):
        nodes = ints_of(PARTITION, table, "node")
        if not np.array_equal(nodes, np.arange(len(nodes))):
            raise broken(PARTITION, "its nodes are not in order")
    if kind == "tree":
        ends = []
        for name in ("lo", "hi"):
            lengths, flat = _read_lists(table, name, np.int32)
            if (lengths != len(schema.attributes)).any():
                raise broken(PARTITION, f"the lists of {name!r} must have one number per attribute")
            ends.append(flat.reshape(-1, len(schema.attributes)))
        return TreePartition(
            parent=ints_of(PARTITION, table, "parent", np.int32),
            depth=ints_of(PARTITION, table, "depth", np.int16),
            split=ints_of(PARTITION, table, "split", np.int16),
            lo=ends[0],
            hi=ends[1],
        )
    if kind == "cuts":
        lengths, flat = _read_lists(table, "cut", np.int64)
        return CutTree(
            parent=ints_of(PARTITION, table, "parent"),
            split=ints_of(PARTITION, table, "split"),
            cut_start=np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
            cut=flat,
        )
    if kind == "core":
        starts = _starts(table, "part", _PARTS)
        return CoreCells(*np.split(ints_of(PARTITION, table, "number"), starts))
    starts = _starts(table, "attribute", [attribute.name for attribute in schema.attributes])
    if kind == "cells":
        first = np.split(ints_of(PARTITION, table, "first_code"), starts)
        group = np.split(ints_of(PARTITION, table, "group"), starts)
        cuts = tuple(np.append(c, a.size) for c, a in zip(first, schema.attributes, strict=True))
        return Cells(edges=cuts, group=tuple(group), classes=len(schema.classes))
    edges = ints_of(PARTITION, table, "edge", np.int32)
    return GridPartition(tuple(np.split(edges, starts)))


def _starts(table: pa.Table, name: str, labels: Sequence[str]) -> Ints:
    """Where the rows of each label but the first begin."""
    owner = labels_of(PARTITION, table, name, labels)
    if (owner < 0).any() or (np.diff(owner) < 0).any():
        raise broken(PARTITION, f"the column {name!r} does not name its parts in their order")
    return np.searchsorted(owner, np.arange(1, len(labels)))


def _read_lists(table: pa.Table, name: str, kind: type[Any]) -> tuple[Ints, NDArray[Any]]:
    """The lengths of the lists in a column, and all that they hold."""
    column = column_of(PARTITION, table, name)
    if not pa.types.is_list(column.type) or column.null_count:
        raise broken(PARTITION, f"the column {name!r} must hold lists")
    ends = column.offsets.to_numpy()
    inside = column.values.slice(int(ends[0]), int(ends[-1] - ends[0]))  # flatten is slow to load
    flat = ints_of(PARTITION, pa.table({name: inside}), name, kind)
    return np.diff(ends), flat


def measurements_table(schema: Schema, measurements: Sequence[Measurement]) -> pa.Table:
    """One row per noisy number; `measurement` is the place of its head in the manifest."""
    types = pa.schema({
        "measurement": pa.int32(),
        "name": pa.string(),
        "place_kind": pa.string(),
        "place": pa.int64(),
        "class": pa.dictionary(pa.int32(), pa.string()),
        "value": pa.int64(),
        "units": pa.int64(),
        "threshold": pa.int64(),
    })  # fmt: skip
    tables = []
    for place, measurement in enumerate(measurements):
        rows, width = measurement.values.shape
        numbers = rows * width
        klass = measurement.klass
        if klass is None:
            klass = np.tile(np.arange(width), rows)
        known = measurement.by_class and schema.target is not None
        index = pa.array(klass.astype(np.int32), mask=None if known else np.ones(numbers, bool))
        columns = [
            pa.array(np.full(numbers, place, np.int32)),
            pa.repeat(measurement.name, numbers),
            pa.repeat(measurement.at, numbers),
            pa.array(np.repeat(measurement.where, width)),
            dictionary(index, schema.classes),
            pa.array(measurement.values.ravel()),
            pa.array(np.repeat(measurement.units, width)),
            pa.repeat(pa.scalar(measurement.threshold, pa.int64()), numbers),
        ]
        tables.append(pa.Table.from_arrays(columns, schema=types))
    return pa.concat_tables(tables) if tables else types.empty_table()


def measurements_from(
    heads: Sequence[object], table: pa.Table, schema: Schema
) -> tuple[Measurement, ...]:
    """The measurements that a table holds under the heads of the manifest.

    Raises:
        ReleaseError: If heads and table do not belong together.
    """
    place = ints_of(MEASUREMENTS, table, "measurement")
    known = place.min(initial=0) >= 0 and place.max(initial=-1) < len(heads)
    if not known or (np.diff(place) < 0).any():
        raise broken(MEASUREMENTS, "its rows do not follow the list in the manifest")
    where = ints_of(MEASUREMENTS, table, "place")
    value = ints_of(MEASUREMENTS, table, "value")
    units = ints_of(MEASUREMENTS, table, "units")
    klass = labels_of(MEASUREMENTS, table, "class", schema.classes)
    ends = np.searchsorted(place, np.arange(len(heads) + 1))
    columns = (where, value, units, klass)
    return tuple(
        _measurement(head, schema, *(column[ends[i] : ends[i + 1]] for column in columns))
        for i, head in enumerate(heads)
    )


def _is_whole(value: object, least: float = -math.inf, most: float = math.inf) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _measurement(
    head: Any, schema: Schema, where: Ints, value: Ints, units: Ints, klass: Ints
) -> Measurement:
    try:
        head = USUAL | head
        name, at, law, unit = head["name"], head["place_kind"], head["law"], exact(head["unit"])
        by_class, sparse, threshold = head["by_class"], head["sparse"], head["threshold"]
        max_contribution, tables = head["max_contribution"], head["tables"]
        known = isinstance(name, str) and at in PLACES and law in LAWS
    except (KeyError, TypeError, ValueError):
        known = False
    if not known or not isinstance(by_class, bool) or not isinstance(sparse, bool):
        raise broken(MANIFEST, "a measurement is not described as it should be")
    fits = isinstance(tables, list) and all(
        isinstance(table, list) and len(table) <= _MOST_COLUMNS and all(map(_is_whole, table))
        for table in tables
    )
    never = schema.kind == "transactions" and at not in ("item", "region")
    faults = {
        "the tables of a measurement are not lists of columns": not fits,
        "a measurement has a noise that its kind never has": law == "gaussian"
        and (sparse or threshold is not None or never),
        "the threshold of a measurement is no whole number": threshold is not None
        and not _is_whole(threshold, -_LARGEST_COUNT, _LARGEST_COUNT),
        "the max_contribution of a measurement is no whole number above 0": not _is_whole(
            max_contribution, 1, _LARGEST_CONTRIBUTION
        ),
    }
    for words, wrong in faults.items():
        if wrong:
            raise broken(MANIFEST, words)
    width = max(1, len(schema.classes)) if by_class and not sparse else 1
    known = by_class and schema.target is not None
    if len(value) % width or ((klass < 0) == known).any():
        raise broken(MEASUREMENTS, "a number lacks its class, or has one where none was counted")
    if known and not sparse and (klass.reshape(-1, width) != np.arange(width)).any():
        raise broken(MEASUREMENTS, "the classes of a place are not in the order of the schema")
    if any((one.reshape(-1, width) != one[::width, None]).any() for one in (where, units)):
        raise broken(MEASUREMENTS, "the classes of a place do not stand together")
    if unit <= 0 or (units <= 0).any() or (where < 0).any():
        raise broken(MEASUREMENTS, "a number has no place, or was not paid for")
    if len(value):  # no method draws such numbers, and no arithmetic stands them
        largest = max(int(value.max()), -int(value.min()))
        if largest > _LARGEST_COUNT or np.abs(value.astype(np.float64)).sum() > _LARGEST_SUM:
            raise broken(MEASUREMENTS, "it holds counts that are larger than any")
        if unit * int(units.min()) < _LEAST_RATE or unit * int(units.max()) > _LARGEST_RATE:
            raise broken(MEASUREMENTS, "a number has more or less noise than any method adds")
    return Measurement(
        name=name,
        at=at,
        where=where[::width].copy(),
        values=value.reshape(-1, width).copy(),
        by_class=by_class,
        units=units[::width].copy(),
        unit=unit,
        threshold=threshold,
        klass=np.maximum(klass, 0) if sparse else None,
        max_contribution=max_contribution,
        law=law,
        tables=tuple(tuple(one) for one in tables),
    )
