"""The manifest of a release, and its entry in a budget ledger."""

from __future__ import annotations

import importlib.metadata
import json
import math
import os
import re
import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from hedgerow.errors import HedgerowError, LedgerWarning, ReleaseError
from hedgerow.estimate.measurements import exact
from hedgerow.registry import load
from hedgerow.schema import Schema
from hedgerow.store.untrusted import broken

if TYPE_CHECKING:
    from hedgerow.release.base import Release

# The kinds of release: the only list of them, by the word that a manifest uses.
#
# A new kind is a file with a child of `hedgerow.release.base.Release`, and a line here.


KINDS: dict[str, str] = {
    "table": "hedgerow.release.table:TableRelease",
    "marginals": "hedgerow.release.marginals:MarginalsRelease",
    "transactions": "hedgerow.release.transactions:TransactionsRelease",
    "rows": "hedgerow.release.rows:RowsRelease",
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


def common_manifest(release: Release, files: Mapping[str, str]) -> Document:
    """What the manifests of all kinds of releases hold.

    It holds nothing that depends on the data other than through the noisy transcript, and
    nothing about the run: no row count, time, seed, date or machine.

    Args:
        release: The release.
        files: The SHA-256 of each other file.
    """
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "kind": release.kind,
        "method": release.method,
        "settings": release.settings,
        "schema": release.schema.to_dict(),
        "schema_hash": release.schema.hash,
        "guarantee": release.guarantee,
        "ledger": release.ledger,
        "package_version": package_version(),
        "files": dict(files),
    }


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
    _check_version(manifest.get("format_version"))
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


def _check_version(version: object) -> None:
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
    for key, low, high in (("epsilon", False, None), ("delta", True, 1)):
        try:
            number = exact(guarantee.get(key))
        except ValueError:
            number = None
        if number is None or (number == 0 and not low) or (high is not None and number >= high):
            span = "from 0 and below 1" if high else "above 0"
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
