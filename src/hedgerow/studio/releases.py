"""Releases that were opened, kept with what was worked out from them, by what their files hold."""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hedgerow.release import Release
    from hedgerow.verification import Verdict

_MOST = 4  # releases that are kept
_BLOCK = 1 << 20  # bytes that are read at once


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
                while len(self._kept) > _MOST:
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
            path, content = Path(place, name), hashlib.sha256()
            content.update(b"link" if path.is_symlink() else b"")
            with suppress(OSError):  # `verify` says so
                if path.is_file():  # and no pipe, which might never end
                    with path.open("rb") as file:
                        while block := file.read(_BLOCK):
                            content.update(block)
            whole.update(b"\0" + os.fsencode(path.relative_to(folder)) + b"\0")
            whole.update(content.digest())
    return whole.hexdigest()
