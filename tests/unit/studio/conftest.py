"""A studio on a folder of its own, asked without a browser."""

from __future__ import annotations

import html
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
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
