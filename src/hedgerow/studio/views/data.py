"""The first step: which data, and what its columns seem to be. Values are shown only if asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.responses import Response

from hedgerow.errors import DataError, HedgerowError, UsageError
from hedgerow.studio.app import Asked, go
from hedgerow.studio.first_rows import FirstRows, look
from hedgerow.studio.folder import argument, fresh, inside
from hedgerow.studio.folder import look as listing
from hedgerow.studio.jobs import command_text
from hedgerow.studio.schema_text import SchemaText
from hedgerow.studio.steps import Way

_DELIMITERS = {",": "comma", ";": "semicolon", "tab": "tab", "|": "vertical bar"}


def look_at(asked: Asked) -> Response:
    """The columns of a file, and what they seem to be."""
    return _page(asked, [])


def peek(asked: Asked) -> Response:
    """The same with a few raw records, because somebody asked for them."""
    return _page(asked, look(replace(_rows(Way.of(asked, "data")), raw=True)))


def draft(asked: Asked) -> Response:
    """Drafts a schema, as `hedgerow init` does."""
    way = Way.of(asked, "data")
    root = way.root
    out = fresh(root, asked.get("name"), ".yaml")
    job = asked.studio.jobs.start(
        [*_command(way, argument(root, out)), "--proposals"],
        step="data",
        title="Drafting a schema",
        then="",
        back=way.to("data"),
    )
    job.then = way.to("unit", schema=out.name, drafted=job.name)
    return go("/job", job=job.name)


def recount(asked: Asked, way: Way, who: str) -> Response:
    """Reads the data again, for proposals that enough people have.

    Args:
        asked: The request.
        way: What was chosen.
        who: The column that tells people apart.
    """
    job = asked.studio.jobs.start(
        [*_command(way, way.argument("schema")), f"--person={who}", "--proposals", "--no-file"],
        step="unit",
        title="Counting people, not rows",
        then="",
        back=way.to("unit"),
    )
    job.then = way.to("columns", drafted=job.name)
    return go("/job", job=job.name)


def _command(way: Way, out: str) -> list[str]:
    trust = ["--trust-header"] if way.get("trust_header") else []
    written = way.options("header_row", "delimiter", "encoding", "sheet")
    return ["init", way.argument("data"), "--out", out, *written, *trust]


def _page(asked: Asked, records: list[list[str]]) -> Response:
    """The page; where the file cannot be read, it asks how the file is written."""
    from typing import get_args

    from hedgerow.schema.attributes import Encoding

    way = Way.of(asked, "data")
    path, found = way.path("data"), listing(way.root)
    names, kinds, error = list[str](), list[str](), None
    try:
        names, kinds = look(_rows(way))
    except (DataError, UsageError) as fault:
        error = fault
    out = path.name.split(".")[0] + "-schema.yaml"
    return asked.show(
        "data", 200 if error is None else 400, way=way, names=names, kinds=kinds, records=records,
        schemas=_fitting(way, found.schemas, names), out=out, error=error,
        command=command_text(_command(way, out)), encodings=get_args(Encoding),
        delimiters=_DELIMITERS,
    )  # fmt: skip


def _fitting(way: Way, schemas: tuple[str, ...], names: list[str]) -> list[tuple[bool, bool, str]]:
    """Whether each schema is for another file, whether it is a draft, and its name; best first."""
    found = []
    for name in schemas:
        try:
            text = SchemaText.load(inside(way.root, name))
            fits = bool(text.columns) and set(text.columns) <= set(names) if names else text.items
            found.append((not fits, text.is_draft, name))
        except HedgerowError:  # its own page says what is wrong with it
            found.append((True, True, name))
    return sorted(found)


def _rows(way: Way) -> FirstRows:
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
    return FirstRows(
        path=str(way.path("data")),
        delimiter="\t" if between == "tab" else between or None,
        written=written | ({"header_row": int(row)} if way.get("header_row") else {}),
        trust_header=bool(way.get("trust_header")),
    )
