"""The folder of a project: what lies in it, that no name leads out of it, and open releases."""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

from hedgerow.errors import UsageError

if TYPE_CHECKING:
    from hedgerow.release import Release
    from hedgerow.verification import Verdict

_TEXT = (".csv", ".tsv", ".dat", ".fimi")
_DATA = (
    *_TEXT, *(f"{one}.gz" for one in _TEXT), *(f"{one}.zip" for one in _TEXT), ".parquet", ".pq",
    ".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".sav", ".zsav", ".dta", ".sas7bdat", ".xpt",
)  # fmt: skip
ELSEWHERE = Path(os.sep)
"""Where processes run: only the owner of the machine can put anything there."""

_DEEP = 3  # levels of folders that are looked into
_MOST = 2000  # files that are looked at
_SCHEMA = re.compile(rb"^(attributes|items):", re.MULTILINE)
_DRAFT = re.compile(rb"^draft:\s*true\b", re.MULTILINE)
_SIGNER = re.compile(rb"\breviewer:\s*([^,}\r\n]+)")
_HEAD = 1_000_000  # bytes of a schema or a manifest that are looked at
_PLAIN = re.compile(r"[^\W_][\w .-]*")
_KEPT = 4  # releases that stay open
_TAXONOMIES = "taxonomies"  # a folder of this name holds public lists, not data


class Outside(UsageError):
    """A name leads out of the folder, or to nothing in it."""


class Conflict(UsageError):
    """What was to be changed has been changed in the meantime."""


@dataclass(frozen=True, kw_only=True)
class ReleaseFolder:
    """A release as the list of them shows it: what its manifest states, unchecked."""

    folder: str
    name: str
    method: str
    epsilon: str
    delta: str
    private: bool


@dataclass(frozen=True, kw_only=True)
class Listing:
    """What lies in the folder, by relative paths."""

    data: tuple[str, ...]
    schemas: tuple[str, ...]
    releases: tuple[ReleaseFolder, ...]
    ledgers: tuple[str, ...]


def inside(root: Path, name: str, *, folder: bool = False) -> Path:
    r"""The path of a file in the folder, or of a folder in it.

    Symbolic links are followed first: what counts is where a name leads.

    Args:
        root: The folder, resolved.
        name: A relative path.
        folder: Whether a folder is meant.

    Raises:
        Outside: If the name leads out of the folder, or nothing is there.

    Example:
        >>> inside(Path("/"), "../etc/passwd\0")
        Traceback (most recent call last):
        hedgerow.studio.folder.Outside: there is nothing of this name in the folder of the studio
          Choose a file from the first page.
    """
    try:
        path = (root / name).resolve(strict=True)
        sound = not Path(name).is_absolute() and path.is_relative_to(root) and path != root
        sound = sound and (path.is_dir() if folder else path.is_file())
    except (OSError, ValueError, RuntimeError):
        sound = False
    if not sound:
        raise Outside(
            "there is nothing of this name in the folder of the studio",
            hint="Choose a file from the first page.",
        )
    return path


def fresh(root: Path, name: str, suffix: str = "") -> Path:
    """The path of something that is to be written into the folder itself.

    Args:
        root: The folder, resolved.
        name: A plain name, without any folder.
        suffix: How it ends; added if it does not.

    Raises:
        UsageError: If the name could lead elsewhere, or is taken.
    """
    name = name.strip()
    if suffix and not name.endswith(suffix):
        name += suffix
    if not _PLAIN.fullmatch(name) or len(name) > 120 or ".." in name:
        raise UsageError(
            "this is not a plain name.",
            hint="Begin with a letter or a digit; letters, digits, blanks, points, hyphens and "
            "underlines may follow.",
        )
    path = root / name
    if path.exists() or path.is_symlink():
        raise UsageError(f"{name} is there already.", hint="Choose another name.")
    return path


def free_name(root: Path, start: str, suffix: str = "") -> str:
    """A name in the folder that is not taken, without its suffix: `start`, or with a number."""
    names = chain([start], (f"{start}-{number}" for number in count(2)))
    return next(name for name in names if not (root / f"{name}{suffix}").exists())


class FileArgument(str):
    """A path as somebody would type it in the folder, who knows the whole path, too."""

    path: Path


def argument(root: Path, path: Path) -> FileArgument:
    """How a command that runs in the folder names a path: never like an option.

    Example:
        >>> argument(Path("/a"), Path("/a/-b.csv"))
        './-b.csv'
    """
    name = str(path.relative_to(root))
    named = FileArgument(f"./{name}" if name.startswith("-") else name)
    named.path = path
    return named


def look(root: Path) -> Listing:
    """What lies in the folder and a few levels below. Nothing private is read."""
    data, schemas, ledgers, releases = [], [], [], []
    for path in _files(root):
        name = str(path.relative_to(root))
        if path.name == "manifest.json":
            with suppress(OSError, ValueError, LookupError, TypeError, RecursionError):
                releases.append(_read_manifest(path, root))  # or it is not one
        elif path.name.endswith(".ledger"):
            ledgers.append(name)
        elif path.suffix in (".yaml", ".yml") and _SCHEMA.search(_head(path)):
            schemas.append(name)
        elif is_data(path):
            data.append(name)
    return Listing(
        data=tuple(data), schemas=tuple(schemas), releases=tuple(releases), ledgers=tuple(ledgers)
    )


def describe(root: Path, listing: Listing) -> dict[str, dict[str, str]]:
    """What a list says beside each name: size, date, and what a schema says of its sign-off."""
    facts = {}
    releases = [one.folder for one in listing.releases]
    for name in (*listing.data, *listing.schemas, *releases):
        path, status = root / name, ""
        with suppress(OSError):  # gone in the meantime
            files = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
            changed = max((one.stat().st_mtime for one in files), default=path.stat().st_mtime)
            if name in listing.schemas:
                head = _head(path)
                signer = _SIGNER.search(head)
                by = signer[1].decode("utf-8", "replace").strip(" \"'") if signer else ""
                status = f"signed by {by}" if by else "not signed"
                status = "draft" if _DRAFT.search(head) else status
            facts[name] = {
                "size": _size(sum(one.stat().st_size for one in files)), "status": status,
                "changed": datetime.fromtimestamp(changed).strftime("%Y-%m-%d %H:%M"),
            }  # fmt: skip
    return facts


def _size(number: float) -> str:
    """A number of bytes in words.

    Example:
        >>> _size(900), _size(12_345), _size(1_234_567)
        ('900 bytes', '12 kB', '1.2 MB')
    """
    for unit in ("bytes", "kB", "MB", "GB"):
        if number < 1000 or unit == "GB":
            break
        number /= 1000
    return f"{number:.1f} {unit}" if number < 10 and unit != "bytes" else f"{number:,.0f} {unit}"


def is_data(path: Path) -> bool:
    """Whether a file counts as private data: by its ending, but for the folder of public lists.

    Example:
        >>> is_data(Path("people.csv")), is_data(Path("taxonomies/jobs.csv"))
        (True, False)
    """
    return path.name.lower().endswith(_DATA) and path.parent.name != _TAXONOMIES


def _files(root: Path) -> Iterator[Path]:
    """Files that lie in the folder, in order; those of a release by its manifest alone."""
    seen = 0
    for place, folders, names in os.walk(root):
        here = Path(place)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if len(here.relative_to(root).parts) >= _DEEP:
            folders.clear()
        if "manifest.json" in names:
            folders.clear()
            names = ["manifest.json"]
        for name in sorted(names):
            seen += 1
            if seen > _MOST:
                return
            path = here / name
            with suppress(OSError, RuntimeError):
                real = path.resolve(strict=True)  # a link may lead out of the folder
                if not name.startswith(".") and real.is_file() and real.is_relative_to(root):
                    yield path


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError:
        return b""


def _read_manifest(path: Path, root: Path) -> ReleaseFolder:
    """What a manifest states. `verify` checks it, this does not."""
    manifest = json.loads(path.read_bytes())
    promise = manifest["guarantee"]
    return ReleaseFolder(
        folder=str(path.parent.relative_to(root)), name=str(manifest["schema"]["name"]),
        method=str(manifest["method"]), epsilon=str(promise["epsilon"]),
        delta=str(promise["delta"]), private=promise.get("private") is True,
    )  # fmt: skip


# Releases that were opened.


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A release, what a check of its files found, and pages that were made of it.

    Args:
        release: The release.
        verdict: What `hedgerow.verify` found.
        pages: Texts that follow from these two alone, by their names.
    """

    release: Release
    verdict: Verdict
    pages: dict[str, str] = field(default_factory=dict)

    def page(self, name: str, make: Callable[[], str]) -> str:
        """A text that follows from the release alone, made once."""
        if name not in self.pages:
            self.pages[name] = make()
        return self.pages[name]


class Releases:
    """Opens releases; one whose files hold the same bytes is not read and verified again."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Opened] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, folder: Path) -> Opened:
        """A release with what was worked out from it.

        Raises:
            ReleaseError: If a file is missing, changed or damaged.
        """
        from hedgerow.present.report import open_and_verify

        digest = digest_of(folder)
        with self._lock:
            if digest in self._kept:
                self._kept.move_to_end(digest)
                return self._kept[digest]
        release, verdict = open_and_verify(folder)
        opened = Opened(release=release, verdict=verdict)
        if digest_of(folder) == digest:  # else it was changed while it was read
            with self._lock:
                self._kept[digest] = opened
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
        return opened


def digest_of(folder: Path) -> str:
    """The SHA-256 of all files in a folder, of all names and links, and of where it lies.

    Example:
        >>> import tempfile
        >>> place = tempfile.TemporaryDirectory()
        >>> file = Path(place.name) / "a"
        >>> digests = {file.write_text(text) and digest_of(file.parent) for text in "xyx"}
        >>> len(digests)
        2
    """
    whole = hashlib.sha256(os.fsencode(folder))
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted([*folders, *names]):
            path = Path(place, name)
            whole.update(b"\0" + os.fsencode(path.relative_to(folder)) + b"\0")
            whole.update(b"link" if path.is_symlink() else b"")
            with suppress(OSError):  # `verify` says so
                if path.is_file():  # and no pipe, which might never end
                    with path.open("rb") as file:
                        whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()
