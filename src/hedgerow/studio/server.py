"""Serves the studio on the loopback address."""

from __future__ import annotations

import shlex
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from hedgerow.errors import UsageError
from hedgerow.studio.app import make_app
from hedgerow.studio.guard import Keys

__all__ = ["serve"]

_LOOPBACK = "127.0.0.1"


def serve(root: Path, port: int, opened: Callable[[str], None]) -> None:
    """Serves a folder until it is told to stop.

    Args:
        root: The folder.
        port: The port; 0 for any that is free.
        opened: Called with the one-time link once the server can be asked.

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
    with socket.socket() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind((_LOOPBACK, port))
        except OSError as error:
            raise UsageError(
                f"port {port} cannot be used ({error.strerror}).",
                hint="Leave --port out, and a free one is taken.",
            ) from None
        door.listen()
        port, keys = door.getsockname()[1], Keys()
        app = make_app(root, port, keys)
        config = uvicorn.Config(
            app, access_log=False, log_level="critical", server_header=False, ws="none",
            http="h11", loop="asyncio", timeout_graceful_shutdown=2,
        )  # fmt: skip
        opened(f"http://{_LOOPBACK}:{port}/open?token={keys.link}")
        uvicorn.Server(config).run(sockets=[door])
