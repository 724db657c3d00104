"""The studio as a web app: routes, forms, and what becomes of errors.

Views are plain functions from what was asked to an answer. They run in threads. One that changes
something takes a form, which is read here alone: its size, its kind and its token are checked
before a view sees it.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from hmac import compare_digest
from importlib import import_module, resources
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from hedgerow.errors import HedgerowError, UsageError
from hedgerow.studio.folder import Conflict, Outside
from hedgerow.studio.guard import Guard, Keys
from hedgerow.studio.jobs import Jobs
from hedgerow.studio.pages import HERE, Pages
from hedgerow.studio.releases import Releases
from hedgerow.studio.views import ROUTES
from hedgerow.surroundings import only_inside

if TYPE_CHECKING:
    from hedgerow.studio.guided import Guided

MOST_BYTES = 2_000_000  # of a form
MOST_FIELDS = 10_000
_FORM = "application/x-www-form-urlencoded"
_PACE = 0.25  # seconds between two looks at a job


@dataclass(frozen=True, kw_only=True)
class Studio:
    """What all views share.

    Args:
        root: The folder, resolved.
        keys: The secrets of this run.
        jobs: Long work.
        pages: The templates.
        drafts: Bounds and values of drafts as they were made, in memory alone.
        guided: What was read off data for questions, and the answers, in memory alone: for each
            schema, by the marks of its texts.
        releases: Releases that were opened.
        sent: Forms that publish, by their one-time numbers: the folder of the release and the job.
    """

    root: Path
    keys: Keys
    jobs: Jobs
    pages: Pages
    drafts: dict[Path, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    guided: dict[Path, dict[str, Guided]] = field(default_factory=dict)
    releases: Releases = field(default_factory=Releases)
    sent: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request as views see it: the address for what is public, the form for the rest.

    Args:
        studio: What all views share.
        query: The parameters of the address.
        form: The fields of the form, if one was sent.
        part: Whether a script asks for a part of the page.
        fault: Why a form was not taken; its page is then shown again with what was entered.
    """

    studio: Studio
    query: Mapping[str, str]
    form: Mapping[str, list[str]] = field(default_factory=dict)
    part: bool = False
    fault: HedgerowError | None = None

    def get(self, name: str, default: str = "") -> str:
        """A field of the form, or else a parameter of the address."""
        found = self.form.get(name)
        return found[0] if found else self.query.get(name, default)

    def every(self, name: str) -> list[str]:
        """All values of a field."""
        return self.form.get(name, [])

    @property
    def leads(self) -> dict[str, str]:
        """The fields that the fault is about."""
        return {} if self.fault is None else _leads(self, self.fault)

    def show(self, page: str, status: int = 200, /, **values: Any) -> Response:
        """A page."""
        if self.fault is not None and status == 200:
            status = _status(self.fault)
        return self.studio.pages.show(page, status, asked=self, **values)


View = Callable[[Asked], Response]


def link(page: str, **parameters: str) -> str:
    """The address of a page; parameters without a value are left out.

    Example:
        >>> link("/unit", data="a b.csv", schema="")
        '/unit?data=a+b.csv'
    """
    given = urlencode({name: value for name, value in parameters.items() if value})
    return f"{page}?{given}" if given else page


def go(page: str, **parameters: str) -> Response:
    """Leads to another page after something was done."""
    return RedirectResponse(link(page, **parameters), status_code=303)


def make_app(root: Path, port: int, keys: Keys | None = None) -> Starlette:
    """The app for a folder.

    Args:
        root: The folder.
        port: The port that it will be served on, which the `Host` header must name.
        keys: The secrets; new ones by default.
    """
    root = root.resolve(strict=True)
    keys = keys or Keys()
    pages = Pages(root=root, folder=root.name or str(root), form_token=keys.form, link=link)
    studio = Studio(root=root, keys=keys, jobs=Jobs(root), pages=pages)

    def refuse(status: int, message: str, hint: str) -> Response:
        return pages.show("refused", status, message=message, hint=hint)

    def welcome() -> Response:
        return pages.show("welcome")

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(studio.jobs.close)

    routes: list[Route | Mount] = [
        Route("/job/events", _events(studio), methods=["GET"]),
        Route("/static/report.css", _style, methods=["GET"]),
        Mount("/static", StaticFiles(directory=HERE / "static")),
    ]
    for path, views in ROUTES.items():
        for method, view in views.items():
            routes.append(Route(path, _endpoint(studio, view, method, refuse), methods=[method]))
    app = Starlette(
        routes=routes,
        lifespan=life,
        middleware=[
            Middleware(Guard, keys=keys, port=port, refuse=refuse, welcome=welcome),
        ],
        exception_handlers={
            404: lambda request, error: refuse(404, "There is no such page.", "Go to the first."),
            405: lambda request, error: refuse(405, "This cannot be done here.", "Go back."),
        },
    )
    app.state.studio = studio
    return app


def _style(_: Request) -> Response:
    """The style of reports, which the studio carries on."""
    text = resources.files("hedgerow.present").joinpath("templates/style.css").read_text("utf-8")
    return Response(text, media_type="text/css")


def find_view(name: str) -> View:
    """A view by its module and name, which is loaded now.

    Example:
        >>> find_view("project:home").__name__
        'home'
    """
    module, _, function = name.partition(":")
    view: View = getattr(import_module(f"hedgerow.studio.views.{module}"), function)
    return view


def _endpoint(
    studio: Studio, view: str, method: str, refuse: Callable[[int, str, str], Response]
) -> Callable[[Request], Any]:
    """A view as Starlette calls it."""

    async def answer(request: Request) -> Response:
        form: Mapping[str, list[str]] = {}
        if method == "POST":
            found = await _form(request)
            if isinstance(found, int):
                return refuse(found, _REFUSED[found], "Go back, and try again.")
            form = found
            if not compare_digest(form.pop("token", [""])[0].encode(), studio.keys.form.encode()):
                return refuse(
                    403,
                    "The form does not come from this run of the studio, so nothing was done.",
                    "Load the page again and fill it in there.",
                )
        part = request.headers.get("hx-request") == "true"
        asked = Asked(studio=studio, query=dict(request.query_params), form=form, part=part)
        return await run_in_threadpool(_answer, view, asked)

    return answer


_REFUSED = {
    400: "The form cannot be read.",
    413: "The form is larger than the studio takes.",
    415: "The studio takes ordinary forms alone, and no files.",
}


async def _form(request: Request) -> dict[str, list[str]] | int:
    """The fields of a form, or the status to refuse it with."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        return 415
    body = b""
    try:
        async for block in request.stream():
            body += block
            if len(body) > MOST_BYTES:
                return 413
    except ClientDisconnect:
        return 400
    try:
        return parse_qs(
            body.decode("utf-8"),
            keep_blank_values=True,
            max_num_fields=MOST_FIELDS,
            errors="strict",
        )
    except UnicodeDecodeError:
        return 400
    except ValueError:
        return 413


def _answer(view: str, asked: Asked) -> Response:
    """What a view answers; errors become pages, and never show more than messages of ours."""
    try:
        with only_inside(asked.studio.root):
            try:
                return find_view(view)(asked)
            except HedgerowError as error:
                if not (asked.form and asked.fault is None and not isinstance(error, Outside)):
                    raise
                page = _page_of(view)
                if page is None:
                    raise
                return _answer(page, replace(asked, fault=error))
    except HedgerowError as error:
        fault = asked.fault or error
        leads = _leads(asked, fault)
        return asked.show("error", _status(fault), error=fault, leads=leads, again=None)
    except Exception as error:
        if os.environ.get("HEDGEROW_DEBUG") == "1":
            raise
        unexpected = UsageError(
            f"hedgerow failed in a way it should not ({type(error).__name__}).",
            hint="This is a mistake in hedgerow, not yours. Start the studio with HEDGEROW_DEBUG=1 "
            "to see where; what that prints may quote private data.",
        )
        return asked.show("error", 500, error=unexpected, leads={}, again=None)


def _status(error: HedgerowError) -> int:
    return 404 if isinstance(error, Outside) else 409 if isinstance(error, Conflict) else 400


def _page_of(view: str) -> str | None:
    """The view of the page that a form stands on, so that nothing that was entered is lost."""
    path = next((path for path, views in ROUTES.items() if views.get("POST") == view), "")
    while path:
        shown = ROUTES.get(path, {}).get("GET")
        if shown is not None:
            return None if shown == view else shown
        path = path.rpartition("/")[0]
    return ROUTES["/"]["GET"]


def _leads(asked: Asked, error: HedgerowError) -> dict[str, str]:
    """The fields that an error is about."""
    from hedgerow.studio.steps import Way

    try:
        return Way.of(asked, "").fields(error.places)
    except HedgerowError:  # what was chosen cannot be found either
        return {}


def _events(studio: Studio) -> Callable[[Request], Any]:
    """How far a job is, as server-sent events; the last one says that it has ended."""

    async def stream(name: str) -> AsyncIterator[str]:
        job, last = studio.jobs.find(name), ""
        while True:
            ended = job.ended.is_set()
            text = studio.pages.part("progress", job=job)
            if text != last:
                last = text
                yield _event("progress", text)
            if ended:
                yield _event("ended", json.dumps(job.state))
                return
            await asyncio.sleep(_PACE)

    async def answer(request: Request) -> Response:
        name = request.query_params.get("job", "")
        try:
            studio.jobs.find(name)
        except UsageError:
            return Response(status_code=404)
        return StreamingResponse(stream(name), media_type="text/event-stream")

    return answer


def _event(kind: str, text: str) -> str:
    lines = "".join(f"data: {line}\n" for line in text.splitlines() or [""])
    return f"event: {kind}\n{lines}\n"
