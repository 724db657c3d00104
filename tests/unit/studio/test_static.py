"""Scripts that the studio brings along."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import hedgerow.studio

STATIC = Path(hedgerow.studio.__file__).parent / "static"


def test_there_are_three_scripts_and_those_of_others_are_unchanged() -> None:
    scripts = sorted(path.name for path in STATIC.glob("*.js"))
    assert scripts == ["htmx.min.js", "sse.min.js", "studio.js"]
    text = (STATIC / "VENDORED.txt").read_text(encoding="utf-8")
    named = re.findall(r"^(\S+\.js)$.*?SHA-256 ([0-9a-f]{64})", text, re.MULTILINE | re.DOTALL)
    assert [name for name, _ in named] == ["htmx.min.js", "sse.min.js"]
    for name, digest in named:
        assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == digest


def test_our_script_asks_nobody_and_runs_no_text() -> None:
    text = (STATIC / "studio.js").read_text(encoding="utf-8")
    for word in ("fetch(", "XMLHttpRequest", "eval(", "innerHTML", "http", "localStorage"):
        assert word not in text
