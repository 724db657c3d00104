"""Serves the studio on the loopback addresses."""

from __future__ import annotations

import html
import os
import shlex
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import uvicorn

from hedgerow.errors import UsageError
from hedgerow.studio.app import make_app
from hedgerow.studio.guard import Keys

_LOOPBACK = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
_TRIES = 20


def serve(
    root: Path,
    port: int,
    opened: Callable[[str], None],
    open_page: Callable[[str], object] | None = None,
) -> None:
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
        doors = _listen(port)
        for door in doors:
            stack.enter_context(door)
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
        page = Path(folder) / "open.html"
        with os.fdopen(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(
                "<!DOCTYPE html><meta charset=utf-8><title>hedgerow studio</title>"
                f'<meta http-equiv="refresh" content="0; url={html.escape(link)}">'
                f'<a href="{html.escape(link)}">Open the studio</a>'
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
