"""Long work while it goes on."""

from __future__ import annotations

from starlette.responses import RedirectResponse, Response

from hedgerow.studio.app import Asked, go

__all__ = ["cancel", "show"]


def show(asked: Asked) -> Response:
    """How far some work is; leads on when it is done."""
    job = asked.studio.jobs.find(asked.get("job"))
    if job.ended.is_set() and job.state == "done":
        return RedirectResponse(job.then, status_code=303)
    return asked.show("job", job=job)


def cancel(asked: Asked) -> Response:
    """Stops some work, which leaves nothing behind."""
    job = asked.studio.jobs.find(asked.get("job"))
    asked.studio.jobs.cancel(job)
    return go("/job", job=job.name)
