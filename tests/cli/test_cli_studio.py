"""`hedgerow studio` as a process: it listens on this machine alone and ends cleanly."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

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
        assert address.startswith("http://127.0.0.1:")
        home = address.partition("/open")[0]
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(home + "/")
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(address) as page:
            assert page.status == 200
            assert "secret-name.csv" in page.read().decode()
            assert "server" not in {name.lower() for name in page.headers}
        forged = urllib.request.Request(home + "/", headers={"Host": "evil.example"})
        with pytest.raises(urllib.error.HTTPError, match="421"):
            opener.open(forged)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "secret-name" not in out + errors
    assert "token" not in out + errors


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hedgerow", "studio", str(tmp_path / "no"), "--no-browser"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "does not exist" in done.stderr and "mkdir" in done.stderr
