"""The server among other users of the machine: its link, its two doors and who knocks."""

from __future__ import annotations

import http.client
import os
import re
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import uvicorn

from hedgerow.errors import UsageError
from hedgerow.studio import guard as peers
from hedgerow.studio.app import _has_version_6, _listen, serve

# Asks a server at an address, by a name, as another user; prints the status.
ASK = """
import encodings.idna, http.client, os, sys
os.setuid(65534)
address, port, name, path, *more = sys.argv[1:]
line = http.client.HTTPConnection(address, int(port))
line.request("GET", path, headers={"Host": f"{name}:{port}"} | dict(zip(more[::2], more[1::2])))
print(line.getresponse().status)
"""


class Running:
    """A studio that serves in a thread."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.link, self.opened = "", list[str]()
        self.server: uvicorn.Server | None = None
        ready, init = threading.Event(), uvicorn.Server.__init__

        def made(server: uvicorn.Server, config: uvicorn.Config) -> None:
            init(server, config)
            self.server = server
            ready.set()

        monkeypatch.setattr(uvicorn.Server, "__init__", made)
        self._thread = threading.Thread(
            target=serve, args=(folder, 0, lambda link: setattr(self, "link", link),
                                self.opened.append), daemon=True,
        )  # fmt: skip
        self._thread.start()
        assert ready.wait(600)
        parts = urlsplit(self.link)
        assert parts.hostname is not None and parts.port is not None
        self.name, self.port, self.path = parts.hostname, parts.port, f"{parts.path}?{parts.query}"

    def ask(self, path: str, address: str = "127.0.0.1") -> http.client.HTTPResponse:
        line = http.client.HTTPConnection(address, self.port)
        line.request("GET", path, headers={"Host": f"{self.name}:{self.port}"})
        answer = line.getresponse()
        answer.read()
        return answer

    def stop(self) -> None:
        assert self.server is not None
        self.server.should_exit = True
        self._thread.join(60)


@pytest.fixture
def running(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    studio = Running(folder, monkeypatch)
    yield studio
    studio.stop()


def test_a_browser_is_opened_without_naming_the_token(running: Running) -> None:
    """Everybody can read what a program is started with."""
    (address,) = running.opened
    token = running.path.partition("token=")[2]
    assert len(token) > 30 and token not in address and running.name not in address
    page = Path(unquote(urlsplit(address).path))
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert stat.S_IMODE(page.parent.stat().st_mode) == 0o700
    assert running.link in page.read_text("utf-8")
    assert running.ask("/open?token=guessed").status == 403
    assert page.exists()
    assert running.ask(running.path).status == 200
    assert not page.exists()  # it was used
    running.stop()
    assert not page.parent.exists()


def test_the_cookie_belongs_to_a_name_that_nobody_knows(running: Running) -> None:
    assert re.fullmatch(r"hedgerow-[0-9a-f]{32}\.localhost", running.name)
    cookie = running.ask(running.path).headers["Set-Cookie"]
    assert "domain" not in cookie.lower()  # so it is sent to this name alone


@pytest.mark.skipif(not _has_version_6(), reason="there is no IPv6 here")
def test_both_addresses_of_the_machine_are_taken(running: Running) -> None:
    """A browser may try either for the name, and would give the cookie to whoever is there."""
    for address in ("127.0.0.1", "::1"):
        assert running.ask("/", address).status == 403
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with socket.socket(family) as other, pytest.raises(OSError):
            other.bind((address, running.port))
    with socket.socket(socket.AF_INET6) as other:
        other.bind(("::1", 0))
        with pytest.raises(UsageError, match="cannot be used"):
            _listen(other.getsockname()[1])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_another_user_is_refused_even_with_the_link(running: Running) -> None:
    addresses = ["127.0.0.1", *(["::1"] if _has_version_6() else [])]
    for address in addresses:
        for more in ([], ["X-Forwarded-For", "10.0.0.1"], ["Forwarded", "for=10.0.0.1"]):
            words = [address, str(running.port), running.name, running.path, *more]
            asked = [sys.executable, "-c", ASK, *words]
            other = subprocess.run(asked, capture_output=True, text=True)
            assert other.stdout.strip() == "403", other.stderr
    assert running.ask(running.path).status == 200  # it was not used up


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells")
@pytest.mark.parametrize(
    "family, address", [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
)
def test_the_system_tells_whose_a_connection_is(
    family: int, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if family == socket.AF_INET6 and not _has_version_6():
        pytest.skip("there is no IPv6 here")
    with socket.socket(family) as door:
        door.bind((address, 0))
        door.listen()
        with socket.create_connection(door.getsockname()[:2]) as near:
            ends = near.getsockname()[:2], door.getsockname()[:2]
            assert peers.user_of(*ends) == os.getuid()
            assert not peers.is_foreign(ends[1], ends[0])
            monkeypatch.setattr(peers.os, "getuid", lambda: 12345)
            assert peers.is_foreign(ends[1], ends[0]) == (os.geteuid() != 0)
    assert peers.user_of((address, 1), (address, 2)) is None
    assert not peers.is_foreign(None, None)


def test_the_users_of_all_connections_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "tcp"
    table.write_text(
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
        "   0: 0100007F:1F90 0100007F:C001 01 00000000:00000000 00:00000000 00000000  1000 0 1\n"
        "   1: 0100007F:C001 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001 0 2\n"
        "   2: 0000000000000000FFFF00000100007F:C002 0000000000000000FFFF00000100007F:1F90 01 "
        "00000000:00000000 00:00000000 00000000  1002 0 3\n",
        encoding="ascii",
    )
    monkeypatch.setattr(peers, "_TABLES", (tmp_path / "missing", table))
    monkeypatch.setattr(peers.sys, "byteorder", "little")
    monkeypatch.setattr(peers.os, "getuid", lambda: 1000)
    here = ("127.0.0.1", 0x1F90)
    assert peers.user_of(("127.0.0.1", 0xC001), here) == 1001
    assert peers.user_of(("127.0.0.1", 0xC002), here) == 1002
    assert peers.user_of(here, ("127.0.0.1", 0xC001)) == 1000
    assert peers.is_foreign(here, ("127.0.0.1", 0xC001))
    assert not peers.is_foreign(("127.0.0.1", 0xC001), here)
