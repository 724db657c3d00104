"""`hedgerow studio` as a process: it listens on this machine alone and ends cleanly."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_the_studio_serves_one_browser_and_logs_nothing(tmp_path: Path) -> None:
    (tmp_path / "secret-name.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    command = [sys.executable, "-m", "hedgerow", "studio", str(tmp_path), "--no-browser", "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    ) as process:
        assert process.stdout is not None
        text = ""
        while not text.rstrip().endswith("}"):
            line = process.stdout.readline()
            assert line, process.communicate()[1]
            text += line
        address = json.loads(text)["studio"]
        parts = urlsplit(address)
        assert parts.hostname is not None and parts.hostname.endswith(".localhost")

        def ask(path: str, **headers: str) -> tuple[int, Any, str]:
            line = http.client.HTTPConnection("127.0.0.1", parts.port)
            line.request("GET", path, headers={"Host": parts.netloc} | headers)
            answer = line.getresponse()
            return answer.status, answer.headers, answer.read().decode()

        assert ask("/")[0] == 403
        status, headers, _ = ask(f"{parts.path}?{parts.query}")
        assert status == 200
        cookie = headers["Set-Cookie"].partition(";")[0]
        status, headers, text = ask("/", Cookie=cookie)
        assert status == 200 and "secret-name.csv" in text
        assert "server" not in {name.lower() for name in headers}
        for host in ("evil.example", f"127.0.0.1:{parts.port}", f"localhost:{parts.port}"):
            assert ask("/", Cookie=cookie, Host=host)[0] == 421
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    assert "secret-name" not in out + errors
    assert "token" not in out + errors


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hedgerow", "studio", str(tmp_path / "no"), "--no-browser"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "does not exist" in done.stderr and "mkdir" in done.stderr
