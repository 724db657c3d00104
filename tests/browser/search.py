"""Searches the site in a real browser, from disk and without the network: `make browser`.

For each of the words in docs/search.json the page that it names must be the first result.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main() -> None:
    """Says which page each search finds first, and ends with an error if one is wrong."""
    site = Path(sys.argv[1]).resolve()
    sought = json.loads((ROOT / "docs" / "search.json").read_text(encoding="utf-8"))
    browser_path = next(filter(None, map(shutil.which, BROWSERS)))
    wrong = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_context(offline=True).new_page()
        for words, place in sought.items():
            page.goto(f"{(site / 'search.html').as_uri()}?{urlencode({'q': words})}")
            link = page.locator("#search-results ul.search li a").first
            found = str(link.get_attribute("href"))
            path, _, anchor = place.partition("#")
            wanted = f"{Path(path).with_suffix('.html')}" + (f"#{anchor}" if anchor else "")
            print(f"{words}: {found}")
            # a result without a place of its own carries the words to mark
            if found.partition("?")[0].rstrip("#") != wanted:
                wrong.append(f"{words} finds {found} first, not {wanted}")
        browser.close()
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
