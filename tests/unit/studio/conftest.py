"""A studio on a folder of its own, asked without a browser."""

from __future__ import annotations

import html
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient

from hedgerow.studio.app import make_app
from hedgerow.studio.guard import Keys

PORT = 8765
TOWNS = ("Ashmoor", "Bramble", "Cask", "Dale")
NAME = "hedgerow-test.localhost"
HOME = f"http://{NAME}:{PORT}"

SCHEMA = """\
name: clinic
unit: row
attributes:
  # Its name says that it stands for people.
  patient: {role: identifier}
  age: {type: numeric, low: 0, high: 99, step: 1, outside: clip}
  town:
    type: categorical
    values: [Ashmoor, Bramble, Cask, Dale]
  ill: {type: boolean, role: class}
"""


@dataclass
class Browser:
    """What the tests do in the place of a browser.

    Args:
        client: Asks.
        root: The folder of the studio.
        keys: Its secrets.
    """

    client: TestClient
    root: Path
    keys: Keys

    def get(self, address: str, **more: Any) -> Any:
        return self.client.get(address, **more)

    def post(self, address: str, fields: dict[str, Any] | None = None, **more: Any) -> Any:
        """Sends a form as the studio's own page would, with a new one-time number."""
        given = {"token": self.keys.form, "once": secrets.token_hex(8), **(fields or {})}
        headers = {"Origin": HOME, "Sec-Fetch-Site": "same-origin", **more.pop("headers", {})}
        return self.client.post(address, data=given, headers=headers, **more)

    def finish(self, response: Any) -> Any:
        """Waits for the work that a form began, and gives the page after it."""
        assert response.url.path == "/job", response.text
        job = self.client.app.state.studio.jobs.find(response.url.params["job"])  # type: ignore[attr-defined]
        assert job.ended.wait(600)
        return self.get(str(response.url))


def text_of(response: Any) -> str:
    """What a page says, without its tags."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", response.text)).split())


@pytest.fixture
def told() -> Any:
    """What a page says, as a function, since tests cannot import each other."""
    return text_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    rows = "".join(
        f"p{n},{20 + n % 60},{TOWNS[n % 4]},{'yes' if n % 3 else 'no'}\n" for n in range(400)
    )
    (root / "people.csv").write_text("patient,age,town,ill\n" + rows, encoding="utf-8")
    (root / "clinic.yaml").write_text(SCHEMA, encoding="utf-8")
    return root


# What a copy of a process that has loaded the library does in the place of a new one.
COPY = """
import os, runpy, sys
os.setsid()
os.chdir(cwd)
os.environ.clear()
os.environ.update(env)
for number, pipe in enumerate(pipes):
    os.dup2(pipe.fileno(), number)
    pipe.close()
sys.stdin = open(0, encoding="utf-8")
sys.stdout = open(1, "w", encoding="utf-8")
sys.stderr = open(2, "w", buffering=1, encoding="utf-8")
sys.argv = ["hedgerow", *words]
begun.send_bytes(b"")
begun.close()
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


class Copied:
    """What the studio uses of `subprocess.Popen`."""

    def __init__(
        self, processes: Any, command: Sequence[str], *, cwd: Any = ".", env: Any = None, **_: Any
    ) -> None:
        assert [*command[:3]] == [sys.executable, "-P", "-m"]
        (take, self._give), (self._out, out), (self._err, err), (heard, begun) = (
            processes.Pipe(duplex=False) for _ in range(4)
        )
        given = {
            "module": command[3], "words": [*command[4:]], "cwd": os.path.abspath(cwd),
            "env": dict(os.environ if env is None else env), "pipes": (take, out, err),
            "begun": begun,
        }  # fmt: skip
        self._process = processes.Process(target=exec, args=(COPY, given))
        self._process.start()
        for pipe in (take, out, err, begun):
            pipe.close()
        heard.recv_bytes()  # it has a session of its own, by which it can be stopped
        heard.close()
        self.pid = self._process.pid
        self.stdin, self.stdout, self.stderr = (
            os.fdopen(os.dup(pipe.fileno()), mode, encoding="utf-8")
            for pipe, mode in ((self._give, "w"), (self._out, "r"), (self._err, "r"))
        )
        for pipe in (self._give, self._out, self._err):
            pipe.close()

    def poll(self) -> int | None:
        return self._process.exitcode  # type: ignore[no-any-return]

    def wait(self) -> int:
        self._process.join()
        return self._process.exitcode  # type: ignore[no-any-return]


@pytest.fixture
def copies(processes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands are run by copies of a process that has loaded the library, which takes long.

    `test_jobs.py` starts them as the studio does.
    """

    def popen(command: Sequence[str], **more: Any) -> Copied:
        return Copied(processes, command, **more)

    def run(command: Sequence[str], *, input: str, **more: Any) -> Any:
        process = popen(command, **more)
        with process.stdin as stream:
            stream.write(input)
        found = SimpleNamespace(stdout=process.stdout.read(), stderr=process.stderr.read())
        process.wait()
        return found

    names = {"DEVNULL": subprocess.DEVNULL, "PIPE": subprocess.PIPE, "Popen": popen, "run": run}
    for module in ("jobs", "first_rows"):
        monkeypatch.setattr(f"hedgerow.studio.{module}.subprocess", SimpleNamespace(**names))


@pytest.fixture
def stranger(folder: Path, copies: None) -> Iterator[Browser]:
    """A browser that was not let in yet."""
    keys = Keys(name=NAME)
    with TestClient(make_app(folder, PORT, keys), base_url=HOME) as client:
        yield Browser(client, folder, keys)


@pytest.fixture
def browser(stranger: Browser) -> Browser:
    """A browser that came by the one-time link."""
    page = stranger.get(f"/open?token={stranger.keys.link}")
    assert page.status_code == 200 and 'content="0; url=/"' in page.text
    return stranger
