"""A release against the raw data. NOT PRIVATE: for the holder of the data alone."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from hedgerow.studio.app import Asked, go
from hedgerow.studio.folder import argument, fresh, look
from hedgerow.studio.jobs import command_text
from hedgerow.studio.steps import Way

_END = ".json"


def show(asked: Asked) -> Response:
    """What is left of the data in the release, once a comparison was asked for."""
    way = Way.of(asked, "release")
    release = way.path("release")
    job = asked.studio.jobs.find(asked.get("evaluated")) if asked.get("evaluated") else None
    done = job is not None and job.step == "evaluate" and job.state == "done"
    out = f"not-private-{release.name}"
    number = 2
    while (way.root / f"{out}{_END}").exists():
        out, number = f"not-private-{release.name}-{number}", number + 1
    return asked.show(
        "evaluate", way=way, data=look(way.root).data, out=out,
        result=job.result if done and job else None,
        sections=_describe(job.result) if done and job else {},
        command=job.command if done and job else command_text(
            ["evaluate", way.argument("data") if way.get("data") else "DATA",
             way.argument("release"), "--out", f"{out}{_END}"]
        ),
    )  # fmt: skip


def run(asked: Asked) -> Response:
    """Compares, as `hedgerow evaluate` does; the numbers are kept in a file for the owner alone."""
    way = Way.of(asked, "release")
    out = argument(way.root, fresh(way.root, asked.get("out"), _END))
    command = ["evaluate", way.argument("data"), way.argument("release"), "--out", out]
    command += way.options("delimiter") + (["--quick"] if asked.get("quick") else [])
    job = asked.studio.jobs.start(
        command, step="evaluate", title="Comparing with the raw data", then="",
        back=way.to("release/evaluate"),
    )  # fmt: skip
    job.then = way.to("release/evaluate", evaluated=job.name)
    return go("/job", job=job.name)


def _describe(result: Any) -> dict[str, Markup]:
    """The comparison as the report for the holder of the data says it, by headings."""
    from pydantic import TypeAdapter

    from hedgerow.evaluation.scorecard import Judgment
    from hedgerow.present import against
    from hedgerow.present.html import fragment

    fields = {key: one for key, one in result.items() if key in Judgment.__dataclass_fields__}
    found = TypeAdapter(Judgment).validate_python(fields)
    return {one.title: Markup(fragment(one.parts)) for one in against.sections(found)}
