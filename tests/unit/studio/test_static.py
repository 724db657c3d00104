"""Scripts that the studio brings along."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import hedgerow.present
import hedgerow.studio

STATIC = Path(hedgerow.studio.__file__).parent / "static"
# states and properties of WAI-ARIA 1.2
ARIA = """activedescendant atomic autocomplete busy checked colcount colindex colspan controls
current describedby details disabled dropeffect errormessage expanded flowto grabbed haspopup
hidden invalid keyshortcuts label labelledby level live modal multiline multiselectable
orientation owns placeholder posinset pressed readonly relevant required roledescription
rowcount rowindex rowspan selected setsize sort valuemax valuemin valuenow valuetext"""
MARKUP = sorted(
    path
    for package in (hedgerow.studio, hedgerow.present)
    for path in Path(next(iter(package.__path__))).rglob("*")
    if path.suffix in (".html", ".py", ".js") and not path.name.endswith(".min.js")
)


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


def test_attributes_for_screen_readers_exist_and_lead_to_what_the_page_has() -> None:
    for path in MARKUP:
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r"\baria-(\w+)", text)) <= set(ARIA.split()), path
        named = re.findall(r'\baria-(?:labelledby|describedby)="([^"{}]+)"', text)
        ids = set(re.findall(r'\bid="([^"]+)"', text))
        assert {one for several in named for one in several.split()} <= ids, path
