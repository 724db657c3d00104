"""The first page, what lies in the folder; the first step, which data; and long work.

What the columns of data seem to be is shown by kind, and values only if somebody asks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from starlette.responses import RedirectResponse, Response

from hedgerow.errors import DataError, HedgerowError, UsageError
from hedgerow.studio.first_rows import look as read_first
from hedgerow.studio.folder import argument, describe, fresh, inside, look
from hedgerow.studio.steps import Asked, Way, go

# The first page: what lies in the folder.


_SAMPLE = "sample"  # the folder that it goes into
_DELIMITERS = {",": "comma", ";": "semicolon", "tab": "tab", "|": "vertical bar"}


def home(asked: Asked) -> Response:
    """Data, schemas, releases and ledgers of the folder."""
    root = asked.studio.root
    listing = look(root)
    return asked.show(
        "project", found=listing, facts=describe(root, listing),
        accounts=accounts_of(asked, listing.ledgers),
        has_sample=(root / _SAMPLE).exists(),
    )  # fmt: skip


def accounts_of(asked: Asked, names: tuple[str, ...]) -> list[tuple[str, list[dict[str, str]]]]:
    """What is left in every ledger, or why it cannot be told."""
    if not names:
        return []
    from hedgerow.ledger.file import plain
    from hedgerow.ledger.ledger import BudgetLedger

    ledgers = []
    for name in names:
        try:
            accounts = [
                {"name": one.name, "spent": plain(one.spent[0]), "left": plain(one.left[0]),
                 "total": plain(one.epsilon), "delta": plain(one.left[1]),
                 "entries": str(len(one.entries))}
                for one in BudgetLedger(inside(asked.studio.root, name)).accounts()
            ]  # fmt: skip
        except HedgerowError as error:
            accounts = [{"error": error.message}]
        ledgers.append((name, accounts))
    return ledgers


def open_ledger(asked: Asked) -> Response:
    """Sets the total of a data set, once, as `hedgerow ledger --open` does."""
    from hedgerow.ledger.ledger import BudgetLedger

    root, name = asked.studio.root, asked.get("ledger").strip()
    known = name in look(root).ledgers
    path = inside(root, name) if known else fresh(root, name or "budget", ".ledger")
    total = {"epsilon": asked.get("epsilon"), "delta": asked.get("delta") or "0"}
    BudgetLedger(path).open(asked.get("dataset").strip(), **total)
    return go("/")


def write_sample(asked: Asked) -> Response:
    """Writes the simulated sample into a folder of its own, to try the studio with."""
    from hedgerow import sample

    sample.write(fresh(asked.studio.root, _SAMPLE))
    return go("/data", data=f"{_SAMPLE}/people.csv")


# Which data, and what its columns seem to be.


def show_data(asked: Asked) -> Response:
    """The columns of a file, and what they seem to be."""
    return _page(asked, [])


def peek(asked: Asked) -> Response:
    """The same with a few raw records, because somebody asked for them."""
    return _page(asked, read_first(_rows(asked.way) | {"raw": True}))


def draft(asked: Asked) -> Response:
    """Drafts a schema, as `hedgerow init` does."""
    way = asked.way
    out = fresh(way.root, asked.get("name"), ".yaml")
    return asked.begin(
        [*_command(way, argument(way.root, out)), "--proposals"], "Drafting a schema",
        lambda job: way.to("unit", schema=out.name, drafted=job),
    )  # fmt: skip


def recount(asked: Asked, who: str) -> Response:
    """Reads the data again, for proposals that enough people have.

    Args:
        asked: The request.
        who: The column that tells people apart.
    """
    way = asked.way
    return asked.begin(
        [*_command(way, way.argument("schema")), f"--person={who}", "--proposals", "--no-file"],
        "Counting people, not rows", lambda job: way.to("columns", drafted=job),
    )  # fmt: skip


def _command(way: Way, out: str) -> list[str]:
    trust = ["--trust-header"] if way.get("trust_header") else []
    written = way.options("header_row", "delimiter", "encoding", "sheet")
    return ["init", way.argument("data"), "--out", out, *written, *trust]


def _page(asked: Asked, records: list[list[str]]) -> Response:
    """The page; where the file cannot be read, it asks how the file is written."""
    from typing import get_args

    from hedgerow.schema.attributes import Encoding

    way = asked.way
    path, listing = way.path("data"), look(way.root)
    names, kinds, error = list[str](), list[str](), None
    try:
        names, kinds = read_first(_rows(way))
    except (DataError, UsageError) as fault:
        error = fault
    out = path.name.split(".")[0] + "-schema.yaml"
    return asked.page(
        "data", 200 if error is None else 400, names=names, kinds=kinds, records=records,
        schemas=_fitting(way, listing.schemas, names), out=out, error=error,
        command=_command(way, out), encodings=get_args(Encoding),
        delimiters=_DELIMITERS,
    )  # fmt: skip


def _fitting(way: Way, schemas: tuple[str, ...], names: list[str]) -> list[tuple[bool, bool, str]]:
    """Whether each schema is for another file, whether it is a draft, and its name; best first."""
    from hedgerow.studio.schema_text import SchemaText

    candidates = []
    for name in schemas:
        try:
            text = SchemaText.load(inside(way.root, name))
            fits = bool(text.columns) and set(text.columns) <= set(names) if names else text.items
            candidates.append((not fits, text.is_draft, name))
        except HedgerowError:  # its own page says what is wrong with it
            candidates.append((True, True, name))
    return sorted(candidates)


def _rows(way: Way) -> dict[str, Any]:
    """How the file is to be read.

    Raises:
        UsageError: If the line of the names is not a number.
    """
    from typing import get_args

    from hedgerow.schema.attributes import Encoding

    row, encoding = way.get("header_row", "1"), way.get("encoding", "utf-8")
    if not (row.isascii() and row.isdigit() and int(row[:9]) > 0):
        raise UsageError(
            "the line of the column names is not a number.", hint="Lines are counted from 1."
        )
    if encoding not in get_args(Encoding):
        raise UsageError("this encoding is not known.", hint="Choose one from the list.")
    between = way.get("delimiter")
    written: dict[str, Any] = {key: way.get(key) for key in ("encoding", "sheet") if way.get(key)}
    return {
        "path": str(way.path("data")),
        "delimiter": "\t" if between == "tab" else between or None,
        "written": written | ({"header_row": int(row)} if way.get("header_row") else {}),
        "trust_header": bool(way.get("trust_header")),
    }


# Long work while it goes on.


def show_job(asked: Asked) -> Response:
    """How far some work is; leads on when it is done."""
    job = asked.studio.jobs.find(asked.get("job"))
    if job.ended.is_set() and job.state == "done":
        return RedirectResponse(job.then, status_code=303)
    if job.state == "running":
        return asked.show("job", job=job)
    before = dict(parse_qsl(urlsplit(job.back).query))
    way = replace(asked, query=before, form={}, step=job.step).way
    return asked.show("job", job=job, way=way, leads=way.fields(job.error.get("places", [])))


def cancel_job(asked: Asked) -> Response:
    """Stops some work, which leaves nothing behind."""
    job = asked.studio.jobs.find(asked.get("job"))
    asked.studio.jobs.cancel(job)
    return go("/job", job=job.name)
