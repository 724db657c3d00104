"""Attacks on the studio: each is refused, with the right status, and changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from hedgerow.studio.app import MOST_BYTES, find_view, make_app
from hedgerow.studio.guard import POLICY, Keys
from hedgerow.studio.views import ROUTES

NAME = "hedgerow-test.localhost"
HOME = f"http://{NAME}:8765"
GETS = [path for path, views in ROUTES.items() if "GET" in views]
POSTS = [path for path, views in ROUTES.items() if "POST" in views]


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", NAME, f"{NAME}:80", f"{NAME}.evil.example:8765",
     f"{NAME}:8765.evil.example", "", "[::1]:8765", "127.0.0.1:8765", "localhost:8765",
     "hedgerow-other.localhost:8765", f"x.{NAME}:8765"],
)  # fmt: skip
def test_a_forged_host_is_refused(browser: Any, host: str) -> None:
    for path in ("/", "/static/studio.css", f"/open?token={browser.keys.link}"):
        assert browser.get(path, headers={"Host": host}).status_code == 421
    assert browser.post("/sample", headers={"Host": host}).status_code == 421
    assert not (browser.root / "sample").exists()


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", f"https://{NAME}:8765", f"http://{NAME}:9999",
     "http://localhost:8765", "http://127.0.0.1:8765"],
)  # fmt: skip
def test_a_foreign_origin_is_refused(browser: Any, origin: str) -> None:
    assert browser.get("/", headers={"Origin": origin}).status_code == 403
    assert browser.post("/sample", headers={"Origin": origin}).status_code == 403
    assert not (browser.root / "sample").exists()


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_another_site_asks_for_is_refused(browser: Any, site: str) -> None:
    assert browser.get("/", headers={"Sec-Fetch-Site": site}).status_code == 403
    assert browser.get("/open?token=guessed", headers={"Sec-Fetch-Site": site}).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "none"])
def test_the_link_may_stand_in_a_file(stranger: Any, site: str) -> None:
    """To a browser the file that leads here is another site; a script there is refused."""
    link = f"/open?token={stranger.keys.link}"
    headers = {"Sec-Fetch-Site": site}
    assert stranger.get(link, headers=headers | {"Origin": "null"}).status_code == 403
    assert stranger.get(link, headers=headers).status_code == 200
    assert stranger.get("/", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200


def test_a_form_must_say_where_it_comes_from(browser: Any) -> None:
    sent = browser.client.post("/sample", data={"token": browser.keys.form})
    assert sent.status_code == 403
    assert not (browser.root / "sample").exists()


@pytest.mark.parametrize("path", GETS)
def test_no_page_opens_without_the_cookie(stranger: Any, path: str) -> None:
    page = stranger.get(path)
    assert page.status_code == 403
    assert "people.csv" not in page.text


def test_no_form_is_taken_without_the_cookie(stranger: Any) -> None:
    for path in POSTS:
        assert stranger.post(path).status_code == 403, path


@pytest.mark.parametrize("token", ["", "guessed", None])
def test_no_form_is_taken_without_its_token(browser: Any, token: str | None) -> None:
    before = sorted(browser.root.rglob("*"))
    fields = {} if token is None else {"token": token}
    for path in POSTS:
        sent = browser.client.post(path, data=fields or {"x": "1"}, headers={"Origin": HOME})
        assert sent.status_code == 403, path
        assert sorted(browser.root.rglob("*")) == before, path


def test_the_link_works_once(stranger: Any) -> None:
    link = f"/open?token={stranger.keys.link}"
    first = stranger.get(link, follow_redirects=False)
    assert first.status_code == 200
    cookie = first.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie
    assert stranger.keys.link not in first.text
    stranger.client.cookies.clear()
    again = stranger.get(link)
    assert again.status_code == 403
    assert "used already" in again.text
    assert stranger.get("/open?token=guessed").status_code == 403
    assert stranger.get("/").status_code == 403


def test_a_server_that_was_started_anew_knows_no_old_cookie(browser: Any, folder: Path) -> None:
    old = dict(browser.client.cookies)
    with TestClient(make_app(folder, 8765, Keys(name=NAME)), base_url=HOME, cookies=old) as client:
        assert client.get("/").status_code == 403
        headers = {"Origin": HOME}
        sent = client.post("/sample", data={"token": browser.keys.form}, headers=headers)
        assert sent.status_code == 403
    with TestClient(make_app(folder, 8765, browser.keys), base_url=HOME, cookies=old) as client:
        assert client.get("/job?job=earlier").status_code == 404


def test_every_answer_carries_the_policy_and_is_not_kept(browser: Any) -> None:
    for path in ("/", "/nowhere", "/data?data=people.csv", "/static/studio.js"):
        headers = browser.get(path).headers
        assert headers["content-security-policy"] == POLICY
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
    assert "unsafe" not in POLICY


def test_pages_hold_no_inline_script_or_style(browser: Any) -> None:
    for path in ("/", "/data?data=people.csv", "/columns?schema=clinic.yaml"):
        text = browser.get(path).text
        assert " style=" not in text and "<style" not in text
        assert " onclick=" not in text and "<script>" not in text


def test_a_huge_form_is_refused(browser: Any) -> None:
    headers = {"Origin": HOME, "Content-Type": "application/x-www-form-urlencoded"}
    large = b"token=" + browser.keys.form.encode() + b"&x=" + b"a" * MOST_BYTES
    assert browser.client.post("/sample", content=large, headers=headers).status_code == 413

    def blocks() -> Any:  # without a length
        for _ in range(30):
            yield b"a" * 100_000

    assert browser.client.post("/sample", content=blocks(), headers=headers).status_code == 413
    many = b"&".join(b"a=1" for _ in range(20_000))
    assert browser.client.post("/sample", content=many, headers=headers).status_code == 413
    assert not (browser.root / "sample").exists()


def test_files_are_not_taken(browser: Any) -> None:
    sent = browser.client.post(
        "/sample", files={"x": b"y"}, data={"token": browser.keys.form}, headers={"Origin": HOME}
    )
    assert sent.status_code == 415


@pytest.mark.parametrize(
    "name",
    ["../secret.csv", "/etc/passwd", "..", ".", "a/../../secret.csv", "people.csv/../../secret.csv",
     "%2e%2e/secret.csv", "link.csv", "loop.csv", "people.csv\0", "out/secret.csv", "nothing.csv"],
)  # fmt: skip
def test_no_name_leads_out_of_the_folder(browser: Any, name: str) -> None:
    secret = browser.root.parent / "secret.csv"
    secret.write_text("a,b\n1,very-secret\n", encoding="utf-8")
    (browser.root / "link.csv").symlink_to(secret)
    (browser.root / "loop.csv").symlink_to(browser.root / "loop.csv")
    (browser.root / "out").symlink_to(browser.root.parent)
    pages = [
        browser.get("/data", params={"data": name}),
        browser.get("/columns", params={"schema": name}),
        browser.get("/release", params={"release": name}),
        browser.post("/data/peek", {"data": name}),
        browser.post("/data/draft", {"data": name, "name": "x"}),
        browser.post("/check", {"schema": "clinic.yaml", "data": name}),
    ]
    for page in pages:
        assert page.status_code == 404, page.text
        assert "very-secret" not in page.text
    home = browser.get("/").text
    assert "link.csv" not in home and "secret" not in home


@pytest.mark.parametrize(
    "name", ["../x", "/tmp/x", "a/b", "..", "", ".hidden", "-x", "x\0", "a" * 200]
)
def test_nothing_is_written_out_of_the_folder(browser: Any, name: str) -> None:
    before = sorted(browser.root.parent.rglob("*"))
    sent = [
        browser.post("/data/draft", {"data": "people.csv", "name": name}),
        browser.post("/publish", {
            "data": "people.csv", "schema": "clinic.yaml", "out": name, "confirmed": "yes"}),
        browser.post("/ledger", {"ledger": name or "../x", "dataset": "a", "epsilon": "1"}),
    ]  # fmt: skip
    assert [one.status_code for one in sent] == [400, 400, 400]
    assert sorted(browser.root.parent.rglob("*")) == before


def test_static_files_lead_nowhere_else(browser: Any) -> None:
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/"):
        assert browser.get(path).status_code == 404


def test_errors_of_ours_show_nothing(browser: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise ValueError("very-secret")

    monkeypatch.setattr("hedgerow.studio.views.project.look", broken)
    page = browser.get("/")
    assert page.status_code == 500
    assert "very-secret" not in page.text and "ValueError" in page.text


@pytest.mark.parametrize(
    "name", sorted({one for views in ROUTES.values() for one in views.values()})
)
def test_every_route_has_its_view(name: str) -> None:
    assert callable(find_view(name))


def test_only_forms_change_something(browser: Any) -> None:
    assert browser.get("/sample").status_code == 405
    assert browser.get("/job/cancel").status_code == 405
    assert browser.client.put("/", headers={"Origin": HOME}).status_code == 405


@pytest.mark.parametrize("where", ["outside", "absolute", "link", "include", "universe"])
def test_a_schema_includes_nothing_from_outside(browser: Any, where: str) -> None:
    secret = browser.root.parent / "secret.yaml"
    secret.write_text("taxonomies:\n  town: {All: [Very-secret, Other]}\n", encoding="utf-8")
    (browser.root / "link.yaml").symlink_to(secret)
    name = {"absolute": str(secret), "link": "link.yaml"}.get(where, "../secret.yaml")
    top, column = "", f"{{type: categorical, taxonomy: {name}}}"
    if where == "include":
        top, column = f"include: {name}\n", "{type: categorical, taxonomy: town}"
    text = f"name: x\nunit: row\n{top}attributes:\n  town: {column}\n"
    if where == "universe":
        text = f"name: x\nunit: row\nitems:\n  universe: {name}\n"
    (browser.root / "greedy.yaml").write_text(text, encoding="utf-8")
    query = {"schema": "greedy.yaml", "data": "people.csv"}
    pages = [
        browser.get(f"/{page}", params=query)
        for page in ("unit", "columns", "taxonomies", "budget", "check", "publish")
    ]
    pages.append(browser.finish(browser.post("/check", query)))
    for page in pages:
        assert "Very-secret" not in page.text
    assert "outside the folder" in pages[-1].text and "outside the folder" in pages[2].text
    # in a terminal it may: there a person has named the file
    if where == "link":
        from hedgerow import Schema

        assert "Very-secret" in str(Schema.load(browser.root / "greedy.yaml").to_dict())
