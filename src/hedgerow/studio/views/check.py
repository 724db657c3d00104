"""The sixth step: what would happen to the rows. CONFIDENTIAL: for the holder of the data alone."""

from __future__ import annotations

import datetime
import html
from typing import Any

from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from hedgerow.errors import UsageError
from hedgerow.schema.diff import published_columns
from hedgerow.studio.app import Asked, go
from hedgerow.studio.jobs import command_text
from hedgerow.studio.schema_text import SchemaText
from hedgerow.studio.steps import Way
from hedgerow.studio.views.about import FIELDS


def show(asked: Asked) -> Response:
    """The schema, what a check of the data found, and the sign-off of a draft."""
    way = Way.of(asked, "check")
    text = way.text()
    schema = text.schema()
    result, prepared, warnings = None, None, list[str]()
    if asked.get("checked"):
        job = asked.studio.jobs.find(asked.get("checked"))
        if job.step == "check" and job.state == "done":
            result = job.result
            prepared = _describe_rows(result.get("preparation"))
            warnings = _others(result, prepared)
    drafted = asked.studio.guided.get(text.path, {}).get(text.mark)
    rare: dict[str, Any] = dict(drafted.sketch.rare) if drafted else {}
    rare |= ((result or {}).get("preparation") or {}).get("rare", {})
    about = schema.metadata
    return asked.show(
        "check", signer=about.reviewer or "", signed_on=about.reviewed or "",
        about={FIELDS[key][0]: getattr(about, key) for key in FIELDS if getattr(about, key)},
        way=way, text=text, schema=schema, result=result, prepared=prepared,
        published=published_columns(schema, rare), counted=bool(drafted or result),
        warnings=warnings, warned=bool(result and _warnings(result)),
        **_list_unchanged(asked, text),
        command=command_text(_command(way)) if way.get("data") else "",
    )  # fmt: skip


def run(asked: Asked) -> Response:
    """Checks the data against the schema, as `hedgerow check --data` does."""
    way = Way.of(asked, "check")
    job = asked.studio.jobs.start(
        _command(way), step="check", title="Checking the data", then="", back=way.to("check")
    )
    job.then = way.to("check", checked=job.name)
    return go("/job", job=job.name)


def sign(asked: Asked) -> Response:
    """Takes the mark of a draft away, and writes down who signed the schema off."""
    way = Way.of(asked, "check")
    text = way.text()
    reviewer = asked.get("reviewer").strip()
    if not asked.get("public") or not reviewer:
        raise UsageError(
            "the schema is signed off by a person who has looked at all of it.",
            hint="Tick the box and write your name.",
        )
    today = datetime.date.today().isoformat()
    changed = text.sign(reviewer, today, asked.get("fingerprint"))
    changed.save(asked.get("seen"), "check")
    asked.studio.guided.pop(text.path, None)
    return RedirectResponse(way.to("check", checked=asked.get("checked")), status_code=303)


def _command(way: Way) -> list[str]:
    given = ["check", way.argument("schema"), "--data", way.argument("data")]
    return given + way.options("delimiter")


def _others(result: Any, prepared: Markup | None) -> list[str]:
    """The warnings of a check that its summary does not say, each once."""
    said = html.unescape(str(prepared or ""))
    return [one for one in _warnings(result) if one not in said]


def _warnings(result: Any) -> list[str]:
    """The warnings of a check but for the one that what it tells is not private."""
    lines = dict.fromkeys(result.get("warnings") or [])
    return [one for one in lines if not one.startswith("NOT PRIVATE")]


def _list_unchanged(asked: Asked, text: SchemaText) -> dict[str, Any]:
    """What `hedgerow init` asks at its end: who confirms it, and what nobody has changed.

    Where the studio has not seen the draft as it was made, everything counts as unchanged.
    """
    from hedgerow.draft.words import sign

    drafted = asked.studio.drafts.get(text.path)
    domains = text.domains()
    kept = [name for name, one in domains.items() if drafted is None or drafted.get(name) == one]
    return {"question": sign(len(kept)), "kept": kept}


def _describe_rows(found: Any) -> Markup | None:
    """What became of the rows, as the report says it."""
    if found is None:
        return None
    from hedgerow.data.records import ItemPreparation
    from hedgerow.data.table import Fate, Preparation
    from hedgerow.present.against import prepared
    from hedgerow.present.html import fragment

    if "attributes" not in found:
        return Markup(fragment(prepared(ItemPreparation(**found))))
    fates = tuple(Fate(**one) for one in found["attributes"])
    lists = {key: tuple(found[key]) for key in ("classes", "read", "kept")}
    return Markup(fragment(prepared(Preparation(**(found | lists | {"attributes": fates})))))
