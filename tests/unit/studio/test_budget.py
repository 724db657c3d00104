"""The page of the budget: what cannot be had, and what stays chosen."""

from __future__ import annotations

import html
import re
from typing import Any


def test_a_budget_that_cannot_be_had_is_told_where_it_is_chosen(browser: Any, told: Any) -> None:
    at = {"data": "people.csv", "schema": "clinic.yaml", "epsilon": "0.5", "delta": "0"}
    page = browser.get("/budget", params=at | {"method": "supermodular"})
    assert page.status_code == 200 and "needs a delta above 0" in told(page)
    assert "Go on with epsilon" not in page.text  # there is nothing to go on with
    assert 'value="supermodular" checked' in page.text and 'name="epsilon" value="0.5"' in page.text
    (more,) = re.findall(r'href="(/budget\?[^"]*delta=1e-9[^"]*)"', page.text)
    page = browser.get(html.unescape(more))
    assert "Go on with epsilon 0.5" in page.text and 'value="supermodular" checked' in page.text
    page = browser.get("/budget", params=at | {"epsilon": "much"})
    assert page.status_code == 200 and "cannot be had" in told(page)
    assert "Take delta" not in page.text and 'id="m-supermodular"' in page.text


def test_trying_budgets_keeps_the_epsilon_that_was_chosen(browser: Any) -> None:
    at = {"schema": "clinic.yaml", "epsilon": "0.25", "method": "diffgen", "rows": "300"}
    page = browser.get("/budget", params=at)
    # the fields are in the part that follows every change, and belong to the form below it
    part = page.text.partition('<div id="told">')[2].partition("<section")[0]
    sent = dict(re.findall(r'form="b-simulate" name="(\w+)" value="([^"]*)"', part))
    assert sent == {"epsilon": "0.25", "delta": "0", "method": "diffgen", "rows": "300"}
    form = page.text.partition('<form id="b-simulate"')[2].partition("</form>")[0]
    assert 'name="epsilon"' not in form and 'name="schema"' in form
    job = browser.post("/budget/simulate", {"schema": "clinic.yaml", **sent})
    found = browser.client.app.state.studio.jobs.find(job.url.params["job"])
    browser.post("/job/cancel", {"job": found.name})
    assert "epsilon=0.25" in found.then and found.then.endswith("#t-curve")
    assert "epsilon=0.25" in found.back and "--rows=300" in found.command
