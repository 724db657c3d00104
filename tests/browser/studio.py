"""Goes the whole path of `hedgerow studio` in a real browser: `make browser`.

Tables, transactions and personalised rows are published with clicks and keys alone. On every page
axe-core looks for what keeps people out, and it is seen that nothing is written to the console and
no other host is asked. The path of a table is gone once more with scripts switched off, and a messy
file of 40 columns is described. Screenshots at a desktop's and a phone's width are left in a folder
to be looked at; with --pictures some of them go into the documentation.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, Literal
from urllib.parse import unquote, urlsplit

from look import BROWSERS, WIDTHS, axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

SOON = 180_000  # milliseconds for a page, on a machine that does other things too
LATER = 600_000  # for work of its own
LOOKS: tuple[tuple[str, Literal["light", "dark"]], ...] = (
    ("desktop", "light"), ("desktop", "dark"), ("phone", "light"),
)  # fmt: skip
# what goes into the documentation, by its name there
PICTURES = {
    "first": "home",
    "columns": "many-columns",
    "taxonomies": "table-taxonomies-grouped",
    "named": "table-named",
    "budget": "table-budget-curve",
    "release": "table-release",
    "tables": "table-tables",
}


@dataclass
class Walk:
    """A walk through the studio, which notes what is wrong on the way.

    Args:
        page: The browser's page.
        home: The studio's address.
        out: Where screenshots go.
        checks: The text of axe-core; nothing where scripts are switched off.
    """

    page: Page
    home: str
    out: Path
    checks: str
    wrong: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)

    def listen(self) -> None:
        """Notes whatever the browser complains about, and whom it asks."""
        page = self.page
        page.on("console", lambda m: self.wrong.append(f"{page.url}: console: {m.text}"))
        page.on("pageerror", lambda e: self.wrong.append(f"{page.url}: error: {e}"))
        page.on("request", lambda r: self._asked(r.url))

    def _asked(self, address: str) -> None:
        if not address.startswith((self.home + "/", "data:")):
            self.wrong.append(f"asks for {address}")

    def look(self, name: str) -> None:
        """Takes pictures of the page as it is now, and has it checked."""
        self.seen.append(name)
        self.page.wait_for_load_state()
        for width, scheme in LOOKS:
            across, down = WIDTHS[width]
            self.page.emulate_media(color_scheme=scheme)
            self.page.set_viewport_size({"width": across, "height": down})
            end = "" if scheme == "light" else f"-{scheme}"
            self.page.screenshot(path=self.out / f"{name}-{width}{end}.png", full_page=True)
            if not self.checks:
                continue
            wide = self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            if wide > 0:
                self.wrong.append(f"{name}-{width}-{scheme}: {wide} pixels wider than the window")
            for violation in self._violations():
                places = "; ".join(node["html"][:160] for node in violation["nodes"][:3])
                self.wrong.append(f"{name}-{width}-{scheme}: {violation['id']}: {places}")
        across, down = WIDTHS["desktop"]
        self.page.emulate_media(color_scheme="light")
        self.page.set_viewport_size({"width": across, "height": down})

    def _violations(self) -> list[dict[str, Any]]:
        # by the browser's own protocol, which the page's policy does not bind
        session = self.page.context.new_cdp_session(self.page)
        session.send("Runtime.evaluate", {"expression": self.checks})
        asked = {"expression": "axe.run(document).then(r => JSON.stringify(r.violations))",
                 "awaitPromise": True, "returnByValue": True}  # fmt: skip
        found = session.send("Runtime.evaluate", asked)
        session.detach()
        return list(json.loads(found["result"]["value"]))

    def fit(self, name: str) -> None:
        """Notes a page that takes more than two screens of a desktop."""
        self.page.wait_for_load_state()  # with the styles
        height = self.page.evaluate("document.documentElement.scrollHeight")
        if height > 2 * WIDTHS["desktop"][1]:
            self.wrong.append(f"{name}: {height} pixels, more than two screens")

    def forgive(self, status: int) -> None:
        """Forgets that the browser noted a status which was meant to come."""
        self.wrong[:] = [one for one in self.wrong if f"a status of {status} " not in one]

    def hold(self) -> None:
        """Keeps a page of work that goes on until it is loaded again, however soon that ends."""
        stop = "window.addEventListener('htmx:sseClose', e => e.stopImmediatePropagation(), true)"
        self.page.evaluate(stop)

    def at(self, path: str) -> None:
        """Waits for a page."""
        self.page.wait_for_url(re.compile(re.escape(self.home + path) + r"(\?|$)"), timeout=SOON)

    def done(self, path: str) -> None:
        """Waits for the page that follows some work; fails with it, if it fails."""
        for _ in range(LATER // 250):
            if self.page.url.startswith(self.home + path):
                return
            if self.page.get_by_role("alert").count():
                raise AssertionError(self.page.get_by_role("alert").inner_text())
            self.page.wait_for_timeout(250)
        raise AssertionError(f"{path} was not reached")

    def unfold(self, column: str) -> None:
        """Shows the fields of a column, by keyboard alone."""
        lines = self.page.locator(f'.column[data-names~="{column}"]')
        lines.locator("summary").first.focus()
        self.page.keyboard.press("Enter")

    def press(self, name: str) -> None:
        """Presses a button by keyboard alone."""
        button = self.page.get_by_role("button", name=name, exact=True)
        button.focus()
        self.page.keyboard.press("Enter")

    def turn_to(self, name: str) -> None:
        """Follows a link to another page about the release, by keyboard alone."""
        pages = self.page.get_by_role("navigation", name="This release")
        pages.get_by_role("link", name=name, exact=True).focus()
        self.page.keyboard.press("Enter")

    def follow(self, name: str) -> None:
        """Follows a link by keyboard alone."""
        link = self.page.get_by_role("link", name=name)
        link.first.focus()
        self.page.keyboard.press("Enter")


def release_pages(walk: Walk, kind: str, query: str) -> None:
    """Every page about a release."""
    page = walk.page
    expect(page.get_by_role("heading", name="Verified", exact=True)).to_be_visible(timeout=SOON)
    walk.look(f"{kind}-release")
    walk.turn_to("Tables")
    walk.at("/release/table")
    walk.look(f"{kind}-tables")
    walk.turn_to("Ask")
    walk.at("/release/query")
    page.get_by_role("combobox").fill(query)
    walk.press("Ask")
    expect(page.get_by_role("status")).to_contain_text(re.compile("About|At least"), timeout=SOON)
    walk.look(f"{kind}-query")
    for name, path in (
        ("What is in it", "tree"),
        ("Synthetic rows", "rows"),
        ("Compare", "compare"),
    ):
        walk.turn_to(name)
        walk.at(f"/release/{path}")
        walk.look(f"{kind}-{path}")
    for name, path in (("Report", "report"), ("Dossier", "dossier")):
        walk.turn_to(name)
        walk.at(f"/release/{path}")
        walk.follow("Back to the studio")
        walk.at("/release")
    downloads(walk, kind)


def downloads(walk: Walk, kind: str) -> None:
    """What a release can be taken along as."""
    page = walk.page
    for name, end in (("Everything, as zip", ".zip"), ("Tables, as a workbook", ".xlsx")):
        with page.expect_download(timeout=LATER) as waiting:
            page.get_by_role("link", name=name).click()
        found = waiting.value
        start = Path(found.path()).read_bytes()[:2]
        if not found.suggested_filename.endswith(end) or start != b"PK":
            walk.wrong.append(f"{kind}: {name} is {found.suggested_filename}, {start!r}")


def publish(walk: Walk, kind: str, out: str, account: str = "^Book it nowhere") -> None:
    """From the check of a schema that is signed off to a release."""
    page = walk.page
    walk.at("/check")
    walk.press("Check the data")
    page.wait_for_url(re.compile("checked="), timeout=LATER)
    expect(page.get_by_text("The data follows the schema.")).to_be_visible(timeout=LATER)
    walk.look(f"{kind}-checked")
    walk.follow("Go on to publish")
    walk.at("/publish")
    page.get_by_label("Folder for the release").fill(out)
    page.get_by_label(re.compile(account)).check()
    page.get_by_label(re.compile("^Spend epsilon")).check()
    walk.look(f"{kind}-publish")
    walk.press("Publish")
    walk.done("/release")


def name_tables(walk: Walk) -> None:
    """Tables in words, one of them taken back, and who publishes."""
    page = walk.page
    walk.at("/tables")
    for words in ("readmitted by age, weight 2", "readmitted by smoker and sex"):
        page.get_by_label(re.compile("^Table, such as")).fill(words)
        walk.press("Add the table")
        expect(page.get_by_role("table")).to_contain_text(words.partition(",")[0], timeout=SOON)
    walk.look("table-named")
    page.get_by_label(re.compile("^Table, such as")).fill("readmitted by rain")
    walk.press("Add the table")
    expect(page.get_by_role("alert").first).to_be_visible(timeout=SOON)
    walk.forgive(400)
    expect(page.get_by_label(re.compile("^Table, such as"))).to_have_value("readmitted by rain")
    walk.look("table-named-wrong")
    walk.press("Undo the last change")
    walk.at("/tables")
    expect(page.get_by_role("table")).not_to_contain_text("smoker", timeout=SOON)
    walk.follow("Earlier versions")
    walk.at("/history")
    walk.look("table-history")
    page.go_back()


def walk_table(walk: Walk) -> None:
    """A table, from a draft of its schema on."""
    page = walk.page
    page.goto(walk.home + "/")
    walk.look("home-empty")
    walk.press("Write a simulated sample to try")
    walk.at("/data")
    walk.look("table-data")
    walk.press("Show a few raw records (CONFIDENTIAL)")
    walk.at("/data/peek")
    walk.look("table-peek")
    page.get_by_label("Name of the schema file").fill("clinic")
    walk.press("Draft a schema")
    walk.done("/unit")
    walk.look("table-unit")
    page.get_by_label("No: each row is a different person.").check()
    page.get_by_label("Class", exact=True).select_option("readmitted")
    walk.press("Save and go on")
    walk.at("/columns")
    walk.look("table-columns")
    walk.unfold("age")
    page.get_by_label("Largest").first.fill("-1")
    walk.press("Save and go on")
    expect(page.get_by_text("Some answers cannot be used")).to_be_visible(timeout=SOON)
    walk.forgive(400)
    walk.look("table-columns-wrong")
    page.get_by_label("Largest").first.fill("120")
    walk.press("Save and go on")
    walk.at("/taxonomies")
    page.get_by_label("Column of categories").select_option("home")
    walk.press("Show")
    page.wait_for_url(re.compile("column=home"), timeout=SOON)
    for name in ("Ashmoor Town", "Fellgate", "High Tarn"):
        page.get_by_role("checkbox", name=name).check()
    page.get_by_label("Name", exact=True).fill("Moors")
    walk.press("Group under this name")
    expect(page.get_by_role("checkbox", name="Moors")).to_be_visible(timeout=SOON)
    walk.look("table-taxonomies-grouped")
    walk.follow("Go on to the tables")
    name_tables(walk)
    walk.follow("Go on to the budget")
    walk.at("/budget")
    page.get_by_label(re.compile("^About how many rows")).fill("2000")
    slider = page.get_by_label("Move epsilon")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("link", name="Go on with epsilon 2")).to_be_visible(timeout=SOON)
    walk.look("table-budget")
    walk.press("Try budgets on simulated rows")  # with what was chosen since the page was loaded
    walk.at("/job")
    walk.hold()
    walk.look("table-job")
    page.reload()
    walk.done("/budget")
    assert {"epsilon=2", "rows=2000"} <= set(re.split("[?&]", page.url)), page.url
    expect(page.locator("#at")).to_contain_text("marginals, epsilon 2: typically")
    page.get_by_label("Move epsilon").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#at")).to_contain_text("marginals, epsilon 1: typically")
    expect(page.get_by_role("link", name="Go on with epsilon 1")).to_be_visible(timeout=SOON)
    walk.look("table-budget-curve")
    walk.follow("Go on with epsilon 1")
    walk.at("/check")
    walk.look("table-check-draft")
    walk.follow("State who publishes")
    walk.at("/about")
    page.get_by_label("Institution").fill("Clinic of Examples")
    walk.look("table-about")
    walk.press("Save")
    walk.at("/check")
    page.get_by_label(re.compile("^I have looked")).check()
    page.get_by_label(re.compile("^Your name")).fill("A. Steward")
    walk.press("Sign off")
    publish(walk, "table", "table-release")
    release_pages(walk, "table", "age < 50 and smoker = yes")
    walk.turn_to("Evaluate")
    walk.at("/release/evaluate")
    walk.look("table-evaluate")
    page.get_by_label(re.compile("^A rough comparison")).check()
    walk.press("Compare")
    page.wait_for_url(re.compile("evaluated="), timeout=LATER)
    expect(page.get_by_text("NOT PRIVATE").first).to_be_visible(timeout=LATER)
    walk.look("table-evaluated")
    walk.follow("Back to the release")
    walk.at("/release")


def walk_transactions(walk: Walk) -> None:
    """Transactions, with a schema that is there."""
    page = walk.page
    page.goto(walk.home + "/")
    page.get_by_text("Set the total of a data set").click()
    page.get_by_label("Data set", exact=True).fill("shop")
    walk.press("Set the total")
    walk.at("/")
    walk.look("home")
    walk.follow("sample/baskets.dat")
    walk.at("/data")
    walk.look("items-data")
    walk.follow("sample/baskets.yaml")
    walk.at("/unit")
    walk.look("items-unit")
    walk.press("Save and go on")
    walk.at("/columns")
    walk.look("items-columns")
    walk.press("Save and go on")
    walk.at("/taxonomies")
    walk.look("items-taxonomies")
    page.get_by_role("checkbox", name="bread .. biscuits").or_(
        page.get_by_role("checkbox", name="bread .. coffee")
    ).check()
    page.get_by_label("Name", exact=True).fill("Larder")
    walk.press("Rename the group")
    expect(page.get_by_role("checkbox", name="Larder")).to_be_visible(timeout=SOON)
    walk.look("items-taxonomies-renamed")
    walk.follow("Go on to the tables")
    walk.at("/tables")
    walk.follow("Go on to the budget")
    walk.at("/budget")
    walk.look("items-budget")
    walk.follow("Go on with epsilon 1")
    publish(walk, "items", "shop-release", "^Book it under shop")
    release_pages(walk, "items", "bread, butter")


def walk_rows(walk: Walk) -> None:
    """Personalised rows: the same table by another method."""
    page = walk.page
    page.goto(walk.home + "/")
    walk.follow("sample/people.csv")
    walk.at("/data")
    walk.follow("sample/schema.yaml")
    walk.at("/unit")
    walk.follow("Budget")
    walk.at("/budget")
    page.get_by_role("radio", name=re.compile("^supermodular")).check()
    expect(page.get_by_text("needs a delta above 0")).to_be_visible(timeout=SOON)
    walk.look("rows-budget-refused")
    walk.follow("Take delta 1e-9")
    page.wait_for_url(re.compile("delta=1e-9"), timeout=SOON)
    page.get_by_label("Delta (0, or tiny)").fill("1e-6")
    page.get_by_label("Epsilon (smaller is safer)").fill("2")
    page.get_by_label("Epsilon (smaller is safer)").press("Tab")
    expect(page.get_by_role("link", name="Go on with epsilon 2")).to_be_visible(timeout=SOON)
    expect(page.get_by_text("With supermodular")).to_be_attached(timeout=SOON)
    walk.look("rows-budget")
    walk.follow("Go on with epsilon 2")
    publish(walk, "rows", "rows-release")
    release_pages(walk, "rows", "age < 50")
    walk.turn_to("Compare")
    walk.at("/release/compare")
    page.get_by_role("checkbox", name=re.compile("^table-release")).check()
    walk.press("Compare")
    expect(page.get_by_role("table")).to_be_visible(timeout=SOON)
    walk.look("rows-compared")


def write_ward(folder: Path) -> None:
    """A messy file of 40 columns."""
    drugs = [f"drug{n}" for n in range(24)]
    names = ["encounter_id", "patient_nbr", "sex", "age", "weight", "site", "stay", "admitted"]
    names += ["day", "tests", *drugs, "status", "scale", "smoker", "grade", "ward", "readmitted"]
    with (folder / "ward.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(names)
        for n in range(600):
            row = [2_278_392 + 97 * n, 8_222_157 + 31 * (n // 2), "FfM"[n % 3], 20 + n % 70, ""]
            row += [f"S{n % 14:02}", n % 14, f"{n % 28 + 1:02}.{n % 12 + 1:02}.2024", n % 7 + 1]
            row += [n % 60, *(("No", "Steady", "Up", "Down")[(n * 7 + d) % 4] for d in range(24))]
            row += ["x", n % 5, "yes" if n % 3 else "no", n % 3, f"v{n % 4}", ["NO", "<30"][n % 2]]
            out.writerow(row)


def walk_many(walk: Walk) -> None:
    """A messy file of 40 columns, to the check of its schema."""
    page = walk.page
    page.goto(walk.home + "/")
    walk.follow("ward.csv")
    walk.at("/data")
    walk.press("Draft a schema")
    walk.done("/unit")
    walk.look("many-unit")
    page.get_by_label(re.compile("^Yes, and a column identifies people")).check()
    walk.press("Save and go on")
    walk.at("/columns")
    expect(page.get_by_text("24 columns alike").first).to_be_visible()
    walk.fit("many-columns")
    walk.look("many-columns")
    page.get_by_label("Show those whose name has").fill("st")
    expect(page.locator(".column[data-names]:visible")).to_have_count(2)  # stay, tests
    page.get_by_label("Show those whose name has").fill("")
    page.get_by_role("checkbox", name="scale").check()
    page.get_by_text("Change many at once").click()
    page.get_by_label("Change", exact=True).select_option("are categories")
    walk.press("Change them")
    expect(page.get_by_text("Further questions follow")).to_be_visible(timeout=SOON)
    walk.look("many-columns-bulk")
    walk.press("Save and go on")
    walk.at("/taxonomies")
    walk.follow("Columns")
    walk.at("/columns")
    walk.follow("All settings of the schema")
    expect(page.locator(".column[data-names]")).to_have_count(40)
    walk.fit("many-settings")
    walk.look("many-settings")


def walk_plain(walk: Walk) -> None:
    """The path of a table with scripts switched off."""
    page = walk.page
    page.goto(walk.home + "/")
    walk.follow("sample/people.csv")
    walk.at("/data")
    page.get_by_label("Name of the schema file").fill("plain")
    walk.press("Draft a schema")
    walk.done("/unit")
    page.get_by_label("No: each row is a different person.").check()
    page.get_by_label("Class", exact=True).select_option("readmitted")
    walk.press("Save and go on")
    walk.at("/columns")
    page.get_by_label("Show those whose name has").fill("age")
    walk.press("Show")
    expect(page.locator(".column[data-names]:visible")).to_have_count(1, timeout=SOON)
    walk.look("plain-columns")
    page.get_by_label("Show those whose name has").fill("")
    walk.press("Show")
    walk.press("Save and go on")
    walk.at("/taxonomies")
    page.get_by_label("Column of categories").select_option("home")
    walk.press("Show")
    page.wait_for_url(re.compile("column=home"), timeout=SOON)
    page.get_by_role("checkbox", name="Fellgate").check()
    page.get_by_role("checkbox", name="High Tarn").check()
    page.get_by_label("Name", exact=True).fill("Moors")
    walk.press("Group under this name")
    expect(page.get_by_role("checkbox", name="Moors")).to_be_visible(timeout=SOON)
    walk.follow("Go on to the tables")
    walk.at("/tables")
    walk.follow("Go on to the budget")
    walk.at("/budget")
    page.get_by_label("Epsilon (smaller is safer)").fill("2")
    walk.press("Show what this means")
    page.wait_for_url(re.compile("epsilon=2"), timeout=SOON)
    walk.look("plain-budget")
    walk.follow("Go on with epsilon 2")
    walk.at("/check")
    page.get_by_label(re.compile("^I have looked")).check()
    page.get_by_label(re.compile("^Your name")).fill("A. Steward")
    walk.press("Sign off")
    publish(walk, "plain", "plain-release")
    expect(page.get_by_role("heading", name="Verified", exact=True)).to_be_visible(timeout=SOON)
    downloads(walk, "plain")
    walk.turn_to("Ask")
    walk.at("/release/query")
    page.get_by_role("combobox").fill("age < 50")
    walk.press("Ask")
    expect(page.get_by_role("status")).to_contain_text(re.compile("About|At least"), timeout=SOON)
    walk.look("plain-query")


def walk_cancel(walk: Walk) -> None:
    """A run that is stopped."""
    page = walk.page
    page.goto(f"{walk.home}/publish?data=sample/people.csv&schema=sample/schema.yaml&epsilon=1")
    page.get_by_label("Folder for the release").fill("stopped")
    page.get_by_label(re.compile("^Book it nowhere")).check()
    page.get_by_label(re.compile("^Spend epsilon")).check()
    walk.press("Publish")
    walk.at("/job")
    walk.press("Cancel")
    expect(page.get_by_text("Cancelled.")).to_be_visible(timeout=SOON)
    walk.look("cancelled")


def start(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """Starts the studio; the process and its link."""
    command = [sys.executable, "-m", "hedgerow", "studio", str(folder), "--no-browser", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    text = ""
    while not text.rstrip().endswith("}"):
        text += process.stdout.readline()
    return process, json.loads(text)["studio"]


class Neighbor(BaseHTTPRequestHandler):
    """What another user of the machine serves: it sets a cookie and notes those that come."""

    cookies: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.cookies.append(self.headers.get("Cookie", ""))
        self.send_response(200)
        self.send_header("Set-Cookie", "neighbor=here; Path=/")
        self.end_headers()
        self.wfile.write(b"A page of somebody else.")

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


def neighbors(browser: Browser, folder: Path) -> list[str]:
    """What is wrong when the studio opens a browser, and others serve on the same machine."""
    opened = folder / "opened"
    command = [sys.executable, "-m", "hedgerow", "studio", str(folder)]
    # Python puts the address in the place of %s
    script = folder / "browser.sh"
    script.write_text(f'#!/bin/sh\necho "$1" > {opened}.new && mv {opened}.new {opened}\n')
    script.chmod(0o700)
    wrong = []
    env = os.environ | {"BROWSER": f"{script} %s"}
    studio = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), Neighbor) for _ in range(2)]
    for one in servers:
        threading.Thread(target=one.serve_forever, daemon=True).start()
    try:
        while not opened.exists():
            time.sleep(0.1)
        address = opened.read_text().strip()
        if "token" in address or "localhost" in address:
            wrong.append(f"a program was started with the link: {address}")
        page = browser.new_page()
        page.set_default_timeout(SOON)
        page.goto(address)
        page.wait_for_url(re.compile(r"http://hedgerow-[0-9a-f]+\.localhost:\d+/$"))
        expect(page.get_by_role("link", name="hedgerow studio")).to_be_visible()
        if Path(unquote(urlsplit(address).path)).exists():
            wrong.append("the page with the link is still there")
        home = page.url
        for name in ("127.0.0.1", "localhost"):
            for one in servers:
                page.goto(f"http://{name}:{one.server_port}/")
        if "neighbor=here" not in Neighbor.cookies:
            wrong.append("cookies of one port did not reach another one, so this shows nothing")
        wrong += [f"a neighbor was sent {one}" for one in Neighbor.cookies if "studio" in one]
        # from a neighbor's page the studio shows nothing, and its own tab goes on
        page.evaluate("address => { location = address }", home)
        expect(page.get_by_text("Another page asked for this")).to_be_visible()
        page.goto(home)
        expect(page.get_by_role("link", name="hedgerow studio")).to_be_visible()
        page.close()
    finally:
        studio.send_signal(signal.SIGINT)
        studio.wait()
        for one in servers:
            one.shutdown()
    return wrong


def main() -> int:
    """Goes all ways; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "hedgerow-studio")
    parser.add_argument("--pictures", type=Path, help="also copy pictures for the docs here")
    parser.add_argument("--only", nargs="*", help="the names of walks, such as walk_many")
    options = parser.parse_args()
    program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if program is None:
        print("There is no Chromium here: apt-get install chromium", file=sys.stderr)
        return 2
    options.out.mkdir(parents=True, exist_ok=True)
    checks = axe(options.out / "axe")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as play:
        folder = Path(place) / "clinic"
        folder.mkdir()
        process, link = start(folder)
        try:
            browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
            print(f"Chromium {browser.version}")
            alone = Path(place) / "alone"
            alone.mkdir()
            others = neighbors(browser, alone)
            print(f"neighbors: {others or 'done'}")
            page = browser.new_page()
            page.set_default_timeout(SOON)
            walk = Walk(page, link.partition("/open")[0], options.out, checks)
            walk.listen()
            page.goto(link)
            write_ward(folder)
            for way in (walk_table, walk_transactions, walk_rows, walk_many, walk_cancel):
                if options.only is None or way.__name__ in options.only:
                    way(walk)
                    print(f"{way.__name__}: done", flush=True)
            plain = browser.new_context(java_script_enabled=False)
            plain.add_cookies(page.context.cookies())
            walk = replace(walk, page=plain.new_page(), checks="")
            walk.page.set_default_timeout(SOON)
            walk.listen()
            if options.only is None:
                walk_plain(walk)
                print("walk_plain: done")
            browser.close()
        finally:
            print(json.dumps(walk.wrong, indent=2))
            process.send_signal(signal.SIGINT)
            process.wait()
        left = sorted(name for name in os.listdir(folder) if name.startswith((".", "stopped")))
        walk.wrong += [f"left behind: {name}" for name in left]
    for short, name in PICTURES.items():
        if options.pictures is not None:
            options.pictures.mkdir(parents=True, exist_ok=True)
            shutil.copy(options.out / f"{name}-desktop.png", options.pictures / f"{short}.png")
    print(f"{len(walk.seen)} pages; screenshots are in {options.out}.")
    return 1 if walk.wrong or others else 0


if __name__ == "__main__":
    sys.exit(main())
