"""The studio as a web app, served on the loopback addresses: routes, forms, and errors.

Views are plain functions from what was asked to an answer. They run in threads. One that changes
something takes a form, which is read here alone: its size, its kind and its token are checked
before a view sees it.
"""

from __future__ import annotations

import asyncio
import html
import json
import os
import shlex
import socket
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from hmac import compare_digest
from importlib import import_module, resources
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from hedgerow.errors import HedgerowError, UsageError
from hedgerow.studio.folder import Outside
from hedgerow.studio.guard import Guard, Keys
from hedgerow.studio.jobs import Jobs
from hedgerow.studio.steps import HERE, Asked, Pages, Studio, link, status_of
from hedgerow.studio.views import ROUTES
from hedgerow.surroundings import only_inside

MOST_BYTES = 2_000_000  # of a form
MOST_FIELDS = 10_000
_FORM = "application/x-www-form-urlencoded"
_PACE = 0.25  # seconds between two looks at a job
_LOOPBACK = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
_TRIES = 20

View = Callable[[Asked], Response]


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
        for method in views:
            routes.append(Route(path, _endpoint(studio, path, method), methods=[method]))
    app = Starlette(
        routes=routes,
        lifespan=life,
        middleware=[
            Middleware(
                Guard, keys=keys, port=port, refuse=refuse, welcome=partial(pages.show, "welcome")
            )
        ],
        exception_handlers={
            HTTPException: lambda _, error: refuse(
                error.status_code, *_REFUSED.get(error.status_code, _REFUSED[400])
            )
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


def _endpoint(studio: Studio, path: str, method: str) -> Callable[[Request], Any]:
    """A view as Starlette calls it."""
    view, step = ROUTES[path][method], path.split("/")[1]

    async def answer(request: Request) -> Response:
        form: dict[str, list[str]] = {}
        if method == "POST":
            form = await _form(request)
            if not compare_digest(form.pop("token", [""])[0].encode(), studio.keys.form.encode()):
                raise HTTPException(403)
        asked = Asked(studio=studio, step=step, query=dict(request.query_params), form=form)
        return await run_in_threadpool(_answer, view, asked)

    return answer


_AGAIN = "Go back, and try again."
_REFUSED = {
    400: ("The form cannot be read.", _AGAIN),
    403: (
        "The form does not come from this run of the studio, so nothing was done.",
        "Load the page again and fill it in there.",
    ),
    404: ("There is no such page.", "Go to the first."),
    405: ("This cannot be done here.", "Go back."),
    413: ("The form is larger than the studio takes.", _AGAIN),
    415: ("The studio takes ordinary forms alone, and no files.", _AGAIN),
}


async def _form(request: Request) -> dict[str, list[str]]:
    """The fields of a form."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise HTTPException(415)
    body = b""
    try:
        async for block in request.stream():
            body += block
            if len(body) > MOST_BYTES:
                raise HTTPException(413)
        text = body.decode("utf-8")
        return parse_qs(text, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except (ClientDisconnect, UnicodeDecodeError):
        raise HTTPException(400) from None
    except ValueError:
        raise HTTPException(413) from None


def _answer(view: str, asked: Asked) -> Response:
    """What a view answers; errors become pages, and never show more than messages of ours."""
    try:
        with only_inside(asked.studio.root):
            try:
                return find_view(view)(asked)
            except HedgerowError as error:
                if not (asked.form and asked.fault is None and not isinstance(error, Outside)):
                    raise
                if (page := _page_of(view)) is None:
                    raise
                return _answer(page, replace(asked, fault=error))
    except HedgerowError as error:
        fault = asked.fault or error
        leads = asked.find_fields(fault)
        return asked.show("error", status_of(fault), error=fault, leads=leads, again=None)
    except Exception as error:
        if os.environ.get("HEDGEROW_DEBUG") == "1":
            raise
        unexpected = UsageError(
            f"hedgerow failed in a way it should not ({type(error).__name__}).",
            hint="This is a mistake in hedgerow, not yours. Start the studio with HEDGEROW_DEBUG=1 "
            "to see where; what that prints may quote private data.",
        )
        return asked.show("error", 500, error=unexpected, leads={}, again=None)


def _page_of(view: str) -> str | None:
    """The view of the page that a form stands on, so that nothing that was entered is lost."""
    path = next((path for path, views in ROUTES.items() if views.get("POST") == view), "")
    while path:
        shown = ROUTES.get(path, {}).get("GET")
        if shown is not None:
            return None if shown == view else shown
        path = path.rpartition("/")[0]
    return ROUTES["/"]["GET"]


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


def serve(
    root: Path, port: int, opened: Callable[[str], None],
    open_page: Callable[[str], object] | None = None,
) -> None:  # fmt: skip
    """Serves a folder until it is told to stop.

    Args:
        root: The folder.
        port: The port; 0 for any that is free.
        opened: Called with the one-time link once the server can be asked.
        open_page: Opens a browser at an address, which holds no secret: everybody on a machine can
            see what programs are started with.

    Raises:
        UsageError: If there is no such folder, or the port is taken.
    """
    if not root.exists():
        raise UsageError(
            f"the folder {root} does not exist.",
            hint=f"Make it, and put your data into it: mkdir {shlex.quote(str(root))}",
        )
    if not root.is_dir():
        raise UsageError(f"{root} is not a folder.", hint="Name the folder that holds your data.")
    with ExitStack() as stack:
        doors = [stack.enter_context(door) for door in _listen(port)]
        port, keys = doors[0].getsockname()[1], Keys()
        link = f"{keys.home(port)}/open?token={keys.link}"
        app = make_app(root, port, keys)
        config = uvicorn.Config(
            app, access_log=False, log_level="critical", server_header=False, ws="none",
            http="h11", loop="asyncio", timeout_graceful_shutdown=2, proxy_headers=False,
        )  # fmt: skip
        opened(link)
        if open_page is not None:
            page = stack.enter_context(_leading_to(link))
            keys.when_used = lambda: page.unlink(missing_ok=True)
            open_page(page.as_uri())
        uvicorn.Server(config).run(sockets=doors)


@contextmanager
def _leading_to(link: str) -> Iterator[Path]:
    """A page that only this user can read, and that leads to a link; gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="hedgerow-studio-") as folder:
        page, address = Path(folder) / "open.html", html.escape(link)
        page.touch(mode=0o600)
        page.write_text(
            "<!DOCTYPE html><meta charset=utf-8><title>hedgerow studio</title>"
            f'<meta http-equiv="refresh" content="0; url={address}">'
            f'<a href="{address}">Open the studio</a>'
        )
        yield page


def _listen(port: int) -> list[socket.socket]:
    """Sockets at one port of both loopback addresses, where the machine has both.

    Browsers try either of them for a name that ends in `.localhost`: what we leave free, another
    user could take, and would be sent our cookie.
    """
    for attempt in range(_TRIES):
        doors: list[socket.socket] = []
        try:
            for family, address in _LOOPBACK:
                if family == socket.AF_INET6 and not _has_version_6():
                    continue
                doors.append(door := socket.socket(family))
                door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                door.bind((address, doors[0].getsockname()[1] if len(doors) > 1 else port))
            for door in doors:
                door.listen()
        except OSError as error:
            for door in doors:
                door.close()
            if port or attempt == _TRIES - 1:
                raise UsageError(
                    f"port {port} cannot be used ({error.strerror}).",
                    hint="Leave --port out, and a free one is taken.",
                ) from None
        else:
            return doors
    raise AssertionError("the last try returns or raises")


def _has_version_6() -> bool:
    with suppress(OSError), socket.socket(socket.AF_INET6) as door:
        door.bind(("::1", 0))
        return True
    return False
