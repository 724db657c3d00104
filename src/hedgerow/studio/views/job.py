"""Long work while it goes on."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

from starlette.responses import RedirectResponse, Response

from hedgerow.studio.app import Asked, go
from hedgerow.studio.steps import Way

__all__ = ["cancel", "show"]


def show(asked: Asked) -> Response:
    """How far some work is; leads on when it is done."""
    job = asked.studio.jobs.find(asked.get("job"))
    if job.ended.is_set() and job.state == "done":
        return RedirectResponse(job.then, status_code=303)
    if job.state == "running":
        return asked.show("job", job=job)
    from hedgerow.studio.leads import leads

    told = dict(parse_qsl(urlsplit(job.back).query))
    way = Way.of(replace(asked, query=told, form={}), job.step)
    found = leads(way, job.error.get("message", ""), job.error.get("hint", ""))
    return asked.show("job", job=job, way=way, leads=found)


def cancel(asked: Asked) -> Response:
    """Stops some work, which leaves nothing behind."""
    job = asked.studio.jobs.find(asked.get("job"))
    asked.studio.jobs.cancel(job)
    return go("/job", job=job.name)
