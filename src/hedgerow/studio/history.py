"""Earlier versions of a schema file, so that every change of the studio can be undone.

They lie beside the schema in the studio's own folder, which only its owner can read: a draft may
hold what was read off the data. Each knows which one it was made from. Going back deletes nothing,
so that one can go forth again.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

FOLDER = ".hedgerow-studio"
_HEAD = "current"
ELSEWHERE = "elsewhere"
"""Who made a change that the studio did not."""


@dataclass(frozen=True, kw_only=True)
class Version:
    """A version of a schema file.

    Args:
        number: Its place in the history, from 1.
        parent: The number of the version it was made from; 0 for the first.
        page: The page of the studio that made it, or `ELSEWHERE`.
        path: Where its text lies.
    """

    number: int
    parent: int
    page: str
    path: Path

    @property
    def text(self) -> str:
        """The text of the schema."""
        return self.path.read_text("utf-8")

    @property
    def time(self) -> str:
        """When it was made."""
        return datetime.fromtimestamp(self.path.stat().st_mtime).strftime("%Y-%m-%d %H:%M")


def versions(schema: Path) -> list[Version]:
    """All versions of a schema file, the oldest first.

    Args:
        schema: The schema file.
    """
    known = []
    for path in sorted(_folder(schema).glob("*-*-*.yaml")):
        number, parent, page = path.stem.split("-", 2)
        if number.isdigit() and parent.isdigit():
            known.append(Version(number=int(number), parent=int(parent), page=page, path=path))
    return known


def current(schema: Path, text: str) -> Version | None:
    """The version that the file is now; None if it was never kept."""
    same = [one for one in versions(schema) if one.text == text]
    head = _folder(schema) / _HEAD
    number = head.read_text() if head.exists() else ""
    return next((one for one in same if str(one.number) == number), same[-1] if same else None)


def previous(schema: Path, text: str) -> Version | None:
    """The version that the last change was made to, which undoing it restores."""
    now, known = current(schema, text), versions(schema)
    if now is None:  # it was changed elsewhere since
        return known[-1] if known else None
    return next((one for one in known if one.number == now.parent), None)


def record(schema: Path, before: str, after: str, page: str) -> None:
    """Keeps both sides of a change.

    Args:
        schema: The schema file.
        before: Its text before the change.
        after: Its text now.
        page: The page that made the change.
    """
    folder = _folder(schema)
    for place in (folder.parents[1], folder.parent, folder):
        place.mkdir(mode=0o700, exist_ok=True)
    _write(folder.parents[1] / ".gitignore", "*\n")
    known = versions(schema)
    now = current(schema, before)
    number = known[-1].number if known else 0
    if now is None:  # its first change here, or it was changed by hand in the meantime
        last = number
        number += 1
        _write(_name(folder, number, last, ELSEWHERE), before)
    go_to(schema, number + 1)
    _write(_name(folder, number + 1, number if now is None else now.number, page), after)


def go_to(schema: Path, number: int) -> None:
    """Notes which version the file is now."""
    head = _folder(schema) / _HEAD
    head.unlink(missing_ok=True)
    _write(head, str(number))


def forget(schema: Path) -> None:
    """Deletes all versions of a schema file but the file itself."""
    shutil.rmtree(_folder(schema), ignore_errors=True)


def _folder(schema: Path) -> Path:
    return schema.parent / FOLDER / "history" / schema.name


def _name(folder: Path, number: int, parent: int, page: str) -> Path:
    return folder / f"{number:05}-{parent:05}-{page}.yaml"


def _write(path: Path, text: str) -> None:
    """Writes a new file that only its owner can read; one that is there stays as it is."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    with open(handle, "w", encoding="utf-8") as file:
        file.write(text)
