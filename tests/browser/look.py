"""Opens reports in a real browser: `make browser`. It is no part of the ordinary tests.

Chromium is the system's (Debian: chromium), driven by playwright; the accessibility checks are
axe-core's, from npm. Every page is opened from disk, light and dark, at a desktop's and a phone's
width, and printed. Screenshots and PDFs are left in a folder to be looked at.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}
SCHEMES = ("light", "dark")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def axe(folder: Path) -> str:
    """The text of axe-core, installed into a folder."""
    place = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not place.exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix"]
        subprocess.run([*command, str(folder), "axe-core@4"], check=True)
    return place.read_text(encoding="utf-8")


def make_pages(folder: Path) -> list[Path]:
    """Pages about releases of the embedded sample by every method, and some with raw data."""
    import hedgerow as hr
    from hedgerow import sample
    from hedgerow.evaluation.scorecard import evaluate as judge
    from hedgerow.present.report import page

    sample.write(folder, overwrite=True)
    people = (folder / "people.csv", hr.Schema.load(folder / "schema.yaml"))
    shop = (folder / "baskets.dat", hr.Schema.load(folder / "baskets.yaml"))
    loose = {"epsilon": 2, "delta": "1e-6"}
    releases = {
        "marginals": hr.publish(*people, hr.Marginals(), epsilon=1),
        "diffmulti": hr.publish(*people, hr.DiffMulti(), epsilon=1),
        "diffgen": hr.publish(*people, hr.DiffGen(), epsilon=1),
        "cdiffgen": hr.publish(*people, hr.CDiffGen(), epsilon=1, delta="1e-9"),
        "supermodular": hr.publish(*people, hr.Supermodular(), **loose),
        "sampled": hr.publish(*people, hr.Supermodular(mode="sampled"), **loose),
        "core": hr.publish(*shop, hr.DiffPart(), epsilon=1),
        "cuts": hr.publish(*shop, hr.DiffPart(variant="tree"), epsilon=1),
    }
    pages = []
    for name, release in releases.items():
        raw = shop[0] if name in ("core", "cuts") else people[0]
        for kind, against in (("", None), ("-raw", judge(raw, release))):
            pages.append(folder / f"{name}{kind}.html")
            pages[-1].write_text(page(release, against), encoding="utf-8")
    return pages


def look(browser: Browser, page: Path, out: Path, checks: str) -> list[str]:
    """Opens one page in every way; what is wrong with it."""
    wrong = []
    for width, size in WIDTHS.items():
        for scheme in SCHEMES:
            name = f"{page.stem}-{width}-{scheme}"
            # without bypass_csp the page's own policy would keep the checks out
            context = browser.new_context(
                viewport={"width": size[0], "height": size[1]},
                color_scheme=scheme,  # type: ignore[arg-type]
                bypass_csp=True,
            )
            tab = context.new_page()
            tab.on("console", lambda m, n=name: wrong.append(f"{n}: console: {m.text}"))
            tab.on("pageerror", lambda e, n=name: wrong.append(f"{n}: error: {e}"))
            tab.on(
                "request",
                lambda r, n=name: (
                    None if r.url == page.as_uri() else wrong.append(f"{n}: asks for {r.url}")
                ),
            )
            tab.goto(page.as_uri())
            tab.screenshot(path=out / f"{name}.png", full_page=True)
            wide = tab.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            if wide > 0:
                wrong.append(f"{name}: the page is {wide} pixels wider than the window")
            tab.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
            wide = tab.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            if wide > 0:
                wrong.append(f"{name}: with all details open it is {wide} pixels too wide")
            tab.evaluate(checks)
            found: dict[str, Any] = tab.evaluate("axe.run(document)")
            for violation in found["violations"]:
                places = "; ".join(node["html"][:120] for node in violation["nodes"][:3])
                wrong.append(f"{name}: {violation['id']}: {violation['help']}: {places}")
            unsure = [one["id"] for one in found["incomplete"]]
            print(f"{name}: {len(found['passes'])} rules pass, unsure: {', '.join(unsure) or '-'}")
            context.close()
    # as somebody without bypassing sees it: the policy itself must not complain
    tab = browser.new_page()
    tab.on("console", lambda m: wrong.append(f"{page.stem}: console: {m.text}"))
    tab.goto(page.as_uri())
    tab.pdf(path=out / f"{page.stem}.pdf", format="A4", print_background=True)
    tab.close()
    return wrong + printed(page, out / f"{page.stem}.pdf")


def printed(page: Path, pdf: Path) -> list[str]:
    """A page that is not private says so on every sheet of paper."""
    if "NOT PRIVATE. " not in page.read_text(encoding="utf-8") or not shutil.which("pdftotext"):
        return []
    text = subprocess.run(["pdftotext", str(pdf), "-"], capture_output=True, text=True, check=True)
    sheets = text.stdout.rstrip("\f").split("\f")
    return [
        f"{pdf.name}: sheet {number} does not say NOT PRIVATE"
        for number, sheet in enumerate(sheets, 1)
        if "NOT PRIVATE." not in sheet
    ]


def main() -> int:
    """Looks at all pages named; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", type=Path, help="HTML files; else one of each method")
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "hedgerow-look")
    options = parser.parse_args()
    program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if program is None:
        print("There is no Chromium here: apt-get install chromium", file=sys.stderr)
        return 2
    options.out.mkdir(parents=True, exist_ok=True)
    checks = axe(options.out / "axe")
    wrong: list[str] = []
    pages = options.pages or make_pages(options.out / "made")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        print(f"Chromium {browser.version}")
        for page in pages:
            found = look(browser, page.resolve(), options.out, checks)
            print(*found, sep="\n", end="\n" if found else "", flush=True)
            wrong += found
        browser.close()
    print(json.dumps(wrong, indent=2))
    print(f"Screenshots and PDFs are in {options.out}.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
