"""The first page, what lies in the folder; and long work while it goes on."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

from starlette.responses import RedirectResponse, Response

from hedgerow.studio.app import Asked, go
from hedgerow.studio.folder import describe, fresh, inside, look
from hedgerow.studio.steps import Way

# The first page: what lies in the folder.


_SAMPLE = "sample"  # the folder that it goes into


def home(asked: Asked) -> Response:
    """Data, schemas, releases and ledgers of the folder."""
    root = asked.studio.root
    found = look(root)
    return asked.show(
        "project", found=found, facts=describe(root, found),
        accounts=accounts_of(asked, found.ledgers),
        has_sample=(root / _SAMPLE).exists(),
    )  # fmt: skip


def accounts_of(asked: Asked, names: tuple[str, ...]) -> list[tuple[str, list[dict[str, str]]]]:
    """What is left in every ledger, or why it cannot be told."""
    if not names:
        return []
    from hedgerow.errors import HedgerowError
    from hedgerow.ledger.ledger import BudgetLedger, plain

    told = []
    for name in names:
        try:
            accounts = BudgetLedger(inside(asked.studio.root, name)).accounts()
        except HedgerowError as error:
            told.append((name, [{"error": error.message}]))
            continue
        rows = [
            {
                "name": one.name,
                "spent": plain(one.spent[0]),
                "left": plain(one.left[0]),
                "total": plain(one.epsilon),
                "delta": plain(one.left[1]),
                "entries": str(len(one.entries)),
            }
            for one in accounts
        ]
        told.append((name, rows))
    return told


def open_ledger(asked: Asked) -> Response:
    """Sets the total of a data set, once, as `hedgerow ledger --open` does."""
    from hedgerow.ledger.ledger import BudgetLedger

    root, name = asked.studio.root, asked.get("ledger").strip()
    known = look(root).ledgers
    path = inside(root, name) if name in known else fresh(root, name or "budget", ".ledger")
    ledger = BudgetLedger(path)
    budget = asked.get("epsilon"), asked.get("delta") or "0"
    ledger.open(asked.get("dataset").strip(), budget[0], delta=budget[1])
    return go("/")


def write_sample(asked: Asked) -> Response:
    """Writes the simulated sample into a folder of its own, to try the studio with."""
    from hedgerow import sample

    sample.write(fresh(asked.studio.root, _SAMPLE))
    return go("/data", data=f"{_SAMPLE}/people.csv")


# Long work while it goes on.


def show_job(asked: Asked) -> Response:
    """How far some work is; leads on when it is done."""
    job = asked.studio.jobs.find(asked.get("job"))
    if job.ended.is_set() and job.state == "done":
        return RedirectResponse(job.then, status_code=303)
    if job.state == "running":
        return asked.show("job", job=job)
    told = dict(parse_qsl(urlsplit(job.back).query))
    way = Way.of(replace(asked, query=told, form={}), job.step)
    return asked.show("job", job=job, way=way, leads=way.fields(job.error.get("places", [])))


def cancel_job(asked: Asked) -> Response:
    """Stops some work, which leaves nothing behind."""
    job = asked.studio.jobs.find(asked.get("job"))
    asked.studio.jobs.cancel(job)
    return go("/job", job=job.name)
