"""Who may speak to the studio: the browser that was opened with its link, and no other program."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Whose program is at the other end of a connection on this machine, as Linux tells.


_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_ROOT = 0  # may read all memory anyway, and relays of virtual machines run as root

Place = tuple[str, int]
"""An address and a port."""


def is_foreign(here: Place | None, there: Place | None) -> bool:
    """Whether another user of this machine has made a connection; False if nothing tells.

    Args:
        here: Our end.
        there: The other end.
    """
    if here is None or there is None:
        return False
    user = user_of(there, here)
    return user is not None and user not in (_ROOT, os.getuid())


def user_of(near: Place, far: Place) -> int | None:
    """The number of the user whose socket one end of a connection is; None if it is not known.

    Args:
        near: The end in question.
        far: The other end.

    Example:
        >>> user_of(("somewhere", 1), ("else", 2)) is None
        True
    """
    try:
        ends, others = _words(*near), _words(*far)
    except ValueError:
        return None
    for table in _TABLES:
        with suppress(OSError):  # no Linux, or it does not tell
            for line in table.read_text("ascii").splitlines()[1:]:
                words = line.split()
                if words[1] in ends and words[2] in others:
                    return int(words[7])
    return None


def _words(host: str, port: int) -> set[str]:
    """An end as the kernel writes it: words of 32 bits in the machine's own order, then a port.

    An address of version 4 that a socket of version 6 uses is the same address.
    """
    address = ip_address(host)
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address
    packed = address.packed
    forms = [packed] if len(packed) > 4 else [packed, bytes(10) + b"\xff\xff" + packed]
    step = -1 if sys.byteorder == "little" else 1
    return {
        "".join(one[at : at + 4][::step].hex() for at in range(0, len(one), 4)).upper()
        + f":{port:04X}"
        for one in forms
    }


# Who may speak to the studio: the browser that was opened with its link, and no other page.
#
# Each lock is enough against some attack: the server listens on the loopback addresses alone; a
# program of another user is refused where the system tells whose it is; the `Host` header must be
# the studio's own (another one would be DNS rebinding); a request that another site caused is
# refused by `Origin` and `Sec-Fetch-Site`; and only a cookie that the one-time link gave opens a
# page. Forms carry a further token (see `app`).
#
# Cookies ignore ports: one for 127.0.0.1 would be sent to every server there, such as another
# user's. So the studio has a name of its own, `something-random.localhost`, which browsers know to
# be this machine, and its cookie is sent to that name alone.


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
_COOKIE = "hedgerow-studio"
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
        name: What the studio is called in addresses of this run, which nobody can guess.
        used: Whether the link was used.
        when_used: Called then.
    """

    link: str = field(default_factory=secrets.token_urlsafe)
    cookie: str = field(default_factory=secrets.token_urlsafe)
    form: str = field(default_factory=secrets.token_urlsafe)
    name: str = field(default_factory=lambda: f"hedgerow-{secrets.token_hex(16)}.localhost")
    used: bool = False
    when_used: Callable[[], object] = lambda: None

    def home(self, port: int) -> str:
        """The address of the studio on a port.

        Example:
            >>> Keys(name="x.localhost").home(8000)
            'http://x.localhost:8000'
        """
        return f"http://{self.name}:{port}"


class Guard:
    """Lets through what the studio's own browser asks for, and refuses everything else.

    Args:
        app: What is guarded.
        keys: The secrets.
        port: The port that the server listens on.
        refuse: Makes the page that says so.
        welcome: Makes the page that the link leads to.
    """

    def __init__(
        self, app: ASGIApp, keys: Keys, port: int, refuse: Refuse, welcome: Callable[[], Response]
    ) -> None:
        self._app = app
        self._keys = keys
        self._refuse = refuse
        self._welcome = welcome
        self._home = keys.home(port)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close", "code": 1008})

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
        if is_foreign(scope.get("server"), scope.get("client")):
            return self._refuse(
                403, "The studio belongs to another user of this machine.", "Start one of your own."
            )
        if headers.getlist("host") != [self._home.removeprefix("http://")]:
            return self._refuse(
                421, "This is not the address of the studio.", "Open the link that it printed."
            )
        # the link is proof enough, and a file that holds it is another site
        if scope["path"] == _OPEN and scope["method"] == "GET" and "origin" not in headers:
            return self._enter(scope)
        if not self._is_ours(scope, headers):
            return self._refuse(
                403,
                "Another page asked for this, so it was not done.",
                "Go to the studio's own page and do it there.",
            )
        if scope["path"].startswith(_PUBLIC) or self._is_known(headers):
            return None
        return self._refuse(
            403,
            "This browser has not been let in, or the studio was started anew.",
            "Open the link that `hedgerow studio` printed in the terminal; each start has its own.",
        )

    def _is_ours(self, scope: Scope, headers: Headers) -> bool:
        """Whether no other site caused a request. What changes something must say where from."""
        if headers.get("sec-fetch-site", "none") not in _FRIENDLY:
            return False
        if "origin" not in headers:
            return scope["method"] in ("GET", "HEAD")
        return headers["origin"] == self._home

    def _enter(self, scope: Scope) -> Response:
        """Takes the one-time link and gives the cookie."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        keys = self._keys
        right = compare_digest(given.encode(), keys.link.encode())
        if not right or keys.used:
            return self._refuse(
                403,
                "This link was used already." if right else "This is not the studio's link.",
                "If that was not you, stop the studio. Otherwise go on in the tab that was opened, "
                "or start `hedgerow studio` again.",
            )
        keys.used = True
        keys.when_used()
        # a redirect would still count as the other site's, and take no cookie along
        response = self._welcome()
        response.set_cookie(_COOKIE, keys.cookie, httponly=True, samesite="strict", path="/")
        return response

    def _is_known(self, headers: Headers) -> bool:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(_COOKIE)
        except CookieError:
            cookie = None
        return cookie is not None and compare_digest(
            cookie.value.encode(), self._keys.cookie.encode()
        )
