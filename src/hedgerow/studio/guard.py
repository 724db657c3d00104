"""Who may speak to the studio: the browser that was opened with its link, and no other page.

Four locks, each enough against some attack: the server listens on the loopback address alone; the
`Host` header must be its own (another name for it would be DNS rebinding); a request that another
site caused is refused by `Origin` and `Sec-Fetch-Site`; and only a cookie that the one-time link
gave opens a page. Forms carry a further token (see `app`).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Guard", "Keys", "POLICY"]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # with `no-referrer` browsers would send `Origin: null` along with our own forms
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_FRIENDLY = ("same-origin", "none")  # none: typed, or opened from outside the browser
_OPEN = "/open"
_PUBLIC = "/static/"

Refuse = Callable[[int, str, str], Response]
"""Makes a page from a status, what is wrong, and what to do."""


@dataclass(kw_only=True)
class Keys:
    """The secrets of one run of the studio; a new start makes all of them anew.

    Args:
        link: What the opened link carries; works once.
        cookie: What the browser then sends.
        form: What forms carry.
        used: Whether the link was used.
    """

    link: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    form: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    used: bool = False


class Guard:
    """Lets through what the studio's own browser asks for, and refuses everything else.

    Args:
        app: What is guarded.
        keys: The secrets.
        port: The port that the server listens on.
        refuse: Makes the page that says so.
    """

    def __init__(self, app: ASGIApp, keys: Keys, port: int, refuse: Refuse) -> None:
        self._app = app
        self._keys = keys
        self._refuse = refuse
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        # cookies know no ports: another studio on this machine must not take ours away
        self._cookie = f"hedgerow-studio-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        answer = self._answer(scope, Headers(scope=scope))
        await (answer or self._app)(scope, receive, with_headers)

    def _answer(self, scope: Scope, headers: Headers) -> Response | None:
        """What is answered in the place of a page; None if the page may be shown."""
        if headers.getlist("host") not in [[host] for host in self._hosts]:
            return self._refuse(
                421, "This is not the address of the studio.", "Open the link that it printed."
            )
        if not self._is_ours(scope, headers):
            return self._refuse(
                403,
                "Another page asked for this, so it was not done.",
                "Go to the studio's own page and do it there.",
            )
        if scope["path"] == _OPEN:
            return self._enter(scope)
        if scope["path"].startswith(_PUBLIC) or self._is_known(headers):
            return None
        return self._refuse(
            403,
            "This browser has not been let in, or the studio was started anew.",
            "Open the link that `hedgerow studio` printed in the terminal; each start has its own.",
        )

    def _is_ours(self, scope: Scope, headers: Headers) -> bool:
        """Whether no other site caused a request. What changes something must say where from."""
        origin = headers.get("origin")
        if headers.get("sec-fetch-site", "none") not in _FRIENDLY:
            return False
        if origin is None:
            return scope["method"] in ("GET", "HEAD")
        return origin == f"http://{headers['host']}"

    def _enter(self, scope: Scope) -> Response:
        """Takes the one-time link and gives the cookie."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        keys = self._keys
        right = compare_digest(given.encode(), keys.link.encode())
        if not right or keys.used:
            words = "This link was used already." if right else "This is not the studio's link."
            return self._refuse(
                403,
                words,
                "If that was not you, stop the studio. Otherwise go on in the tab that was opened, "
                "or start `hedgerow studio` again.",
            )
        keys.used = True
        response = RedirectResponse("/", status_code=303)
        response.set_cookie(self._cookie, keys.cookie, httponly=True, samesite="strict", path="/")
        return response

    def _is_known(self, headers: Headers) -> bool:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            found = None
        return found is not None and compare_digest(
            found.value.encode(), self._keys.cookie.encode()
        )
