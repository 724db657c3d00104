"""Earlier versions of a schema: what each changed, and going back to any of them."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import RedirectResponse, Response

from hedgerow.errors import HedgerowError, UsageError
from hedgerow.schema.diff import schema_diff
from hedgerow.studio.app import Asked
from hedgerow.studio.history import ELSEWHERE, Version, current, forget, versions
from hedgerow.studio.pages import CHANGING
from hedgerow.studio.schema_text import SchemaText
from hedgerow.studio.steps import STEPS, Way

_SHOWN = 50  # versions
_PAGES = STEPS | {"about": "Publisher"}
_LINES = 6  # changes of each


@dataclass(frozen=True, kw_only=True)
class _Line:
    """A version as the page lists it.

    Args:
        version: The version.
        page: The page that made it, in words.
        changes: What it changed.
        more: How many changes are not listed.
        is_current: Whether the file says this now.
    """

    version: Version
    page: str
    changes: list[str]
    more: int
    is_current: bool


def show(asked: Asked) -> Response:
    """The versions of a schema, the newest first."""
    way = Way.of(asked, "history")
    text = way.text()
    now, known = current(text.path, text.text), versions(text.path)
    texts = {one.number: SchemaText(text.path, one.text) for one in known}
    lines = []
    for one in reversed(known[-_SHOWN:]):
        changes = describe_change(texts.get(one.parent), texts[one.number])
        lines.append(_Line(
            version=one, changes=changes[:_LINES], more=max(0, len(changes) - _LINES),
            page="Changed elsewhere" if one.page == ELSEWHERE and one.parent else
            "As it was first" if one.page == ELSEWHERE else _PAGES.get(one.page, one.page),
            is_current=now is not None and one.number == now.number,
        ))  # fmt: skip
    return asked.show("history", way=way, text=text, lines=lines)


def restore(asked: Asked) -> Response:
    """Writes an earlier version, or a later one after that."""
    way = Way.of(asked, "history")
    text = way.text()
    known = {str(one.number): one for one in versions(text.path)}
    version = known.get(asked.get("version"))
    if version is None:
        raise UsageError("this version is not there any more.", hint="Choose one from the list.")
    restored = SchemaText(text.path, version.text)
    withdrawn = restored.save(asked.get("seen"), "history", version.number)
    page = asked.get("page") if asked.get("page") in CHANGING else "history"
    return RedirectResponse(
        way.to(page, withdrawn="yes" if withdrawn else "", undone="yes"), status_code=303
    )


def forget_all(asked: Asked) -> Response:
    """Deletes all versions of a schema but the file itself."""
    way = Way.of(asked, "history")
    forget(way.path("schema"))
    return RedirectResponse(way.to("history"), status_code=303)


def describe_change(before: SchemaText | None, after: SchemaText) -> list[str]:
    """What is different between two texts of a schema, in sentences."""
    if before is None:
        return []
    try:
        changes = schema_diff(before.schema(), after.schema())
    except HedgerowError:  # a draft that no command reads yet
        return ["The questions of the draft were answered."] if after.has_unit else []
    return [line if about == "schema" else f"{about}: {line}" for about, line in changes]
