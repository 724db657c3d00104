"""The sixth step: what would happen to the rows, the sign-off, and earlier versions of the schema.

What a check finds is CONFIDENTIAL: for the holder of the data alone.
"""

from __future__ import annotations

import datetime
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from hedgerow.draft.questions import ask_reviewer
from hedgerow.errors import UsageError
from hedgerow.schema.diff import published_columns
from hedgerow.studio.schema_text import (
    ELSEWHERE,
    SchemaText,
    current,
    describe_change,
    forget,
    versions,
)
from hedgerow.studio.steps import CHANGING, STEPS, Asked, Way
from hedgerow.studio.views.schema import FIELDS


def show(asked: Asked) -> Response:
    """The schema, what a check of the data found, and the sign-off of a draft."""
    way, text, schema = asked.way, asked.text, asked.schema
    job = asked.done("checked")
    result = job.result if job else None
    prepared, said = _describe_rows((result or {}).get("preparation"))
    # but for the one that what it tells is not private
    heard = dict.fromkeys((result or {}).get("warnings") or [])
    warnings = [one for one in heard if not one.startswith("NOT PRIVATE")]
    drafted = asked.studio.guided.get(text.path, {}).get(text.mark)
    rare: dict[str, Any] = dict(drafted.sketch.rare) if drafted else {}
    rare |= ((result or {}).get("preparation") or {}).get("rare", {})
    about, domains, draft = schema.metadata, text.domains(), asked.studio.drafts.get(text.path)
    # where the studio has not seen the draft as it was made, all counts as unchanged
    kept = [name for name, one in domains.items() if draft is None or draft.get(name) == one]
    return asked.page(
        "check", signer=about.reviewer or "", signed_on=about.reviewed or "",
        about={FIELDS[key][0]: getattr(about, key) for key in FIELDS if getattr(about, key)},
        text=text, schema=schema, result=result, prepared=prepared,
        published=published_columns(schema, rare), counted=bool(drafted or result),
        warnings=[one for one in warnings if one not in said], warned=bool(warnings),
        question=ask_reviewer(len(kept)), kept=kept,
        command=_command(way) if way.get("data") else (),
    )  # fmt: skip


def run(asked: Asked) -> Response:
    """Checks the data against the schema, as `hedgerow check --data` does."""
    way = asked.way
    return asked.begin(_command(way), "Checking the data", lambda job: way.to("check", checked=job))


def sign(asked: Asked) -> Response:
    """Takes the mark of a draft away, and writes down who signed the schema off."""
    reviewer = asked.get("reviewer").strip()
    if not asked.get("public") or not reviewer:
        raise UsageError(
            "the schema is signed off by a person who has looked at all of it.",
            hint="Tick the box and write your name.",
        )
    today = datetime.date.today().isoformat()
    changed = asked.text.sign(reviewer, today, asked.get("fingerprint"))
    changed.save(asked.get("seen"), "check")
    asked.studio.guided.pop(asked.text.path, None)
    return asked.way.go("check", checked=asked.get("checked"))


def _command(way: Way) -> list[str]:
    given = ["check", way.argument("schema"), "--data", way.argument("data")]
    return given + way.options("delimiter")


def _describe_rows(facts: Any) -> tuple[Markup | None, list[str]]:
    """What became of the rows, as the report says it, and the warnings that are in it."""
    if facts is None:
        return None, []
    from pydantic import TypeAdapter

    from hedgerow.data.preparation import ItemPreparation, Preparation
    from hedgerow.present.against import describe_preparation
    from hedgerow.present.render import fragment

    kind: Any = Preparation if "attributes" in facts else ItemPreparation
    preparation = TypeAdapter(kind).validate_python(facts)
    return fragment(describe_preparation(preparation)), preparation.warnings()


# Earlier versions of a schema: what each changed, and going back to any of them.

_SHOWN = 50  # versions
_PAGES = STEPS | {"about": "Publisher"}
_LINES = 6  # changes of each


def show_history(asked: Asked) -> Response:
    """The versions of a schema, the newest first."""
    text = asked.text
    now, known = current(text), versions(text.path)
    texts = {one.number: SchemaText(text.path, one.text) for one in known}
    lines = []
    for one in reversed(known[-_SHOWN:]):
        changes = describe_change(texts.get(one.parent), texts[one.number])
        page = _PAGES.get(one.page, one.page)
        if one.page == ELSEWHERE:
            page = "Changed elsewhere" if one.parent else "As it was first"
        lines.append({
            "version": one, "changes": changes[:_LINES], "more": max(0, len(changes) - _LINES),
            "page": page, "is_current": now is not None and one.number == now.number,
        })  # fmt: skip
    return asked.page("history", text=text, lines=lines)


def restore(asked: Asked) -> Response:
    """Writes an earlier version, or a later one after that."""
    text = asked.text
    known = {str(one.number): one for one in versions(text.path)}
    version = known.get(asked.get("version"))
    if version is None:
        raise UsageError("this version is not there any more.", hint="Choose one from the list.")
    restored = SchemaText(text.path, version.text)
    withdrawn = restored.save(asked.get("seen"), "history", version.number)
    page = asked.get("page") if asked.get("page") in CHANGING else "history"
    return asked.way.go(page, withdrawn="yes" if withdrawn else "", undone="yes")


def forget_history(asked: Asked) -> Response:
    """Deletes all versions of a schema but the file itself."""
    forget(asked.way.path("schema"))
    return asked.way.go("history")
