"""The first step: which data, and what its columns seem to be. Values are shown only if asked."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from hedgerow.errors import DataError, UsageError
from hedgerow.studio.app import Asked, go
from hedgerow.studio.folder import argument, fresh, look
from hedgerow.studio.jobs import command_text
from hedgerow.studio.steps import Way

if TYPE_CHECKING:
    from hedgerow.schema.written import Layout

__all__ = ["draft", "look_at", "peek"]

_FIRST = 5  # records that a person can ask to see
_DELIMITERS = {",": "comma", ";": "semicolon", "tab": "tab", "|": "vertical bar"}
_NAMES = {"numeric": "numbers or dates", "categorical": "categories", "boolean": "yes or no"}


def look_at(asked: Asked) -> Response:
    """The columns of a file, and what they seem to be."""
    return _page(asked, [])


def peek(asked: Asked) -> Response:
    """The same with a few raw records, because somebody asked for them."""
    return _page(asked, _records(Way.of(asked, "data")))


def draft(asked: Asked) -> Response:
    """Drafts a schema, as `hedgerow init` does."""
    way = Way.of(asked, "data")
    root = way.root
    out = fresh(root, asked.get("name"), ".yaml")
    job = asked.studio.jobs.start(
        _command(way, argument(root, out)),
        step="data",
        title="Drafting a schema",
        then=way.to("unit", schema=out.name),
        back=way.to("data"),
    )
    return go("/job", job=job.name)


def _command(way: Way, out: str) -> list[str]:
    trust = ["--trust-header"] if way.get("trust_header") else []
    written = way.options("header_row", "delimiter", "encoding", "sheet")
    return ["init", way.argument("data"), "--out", out, *written, *trust]


def _page(asked: Asked, records: list[list[str]]) -> Response:
    """The page; where the file cannot be read, it asks how the file is written."""
    from typing import get_args

    from hedgerow.schema.written import Encoding

    way = Way.of(asked, "data")
    path, found = way.path("data"), look(way.root)
    names, kinds, error = list[str](), list[str](), None
    try:
        names, kinds = _columns(way)
    except (DataError, UsageError) as fault:
        error = fault
    out = path.name.split(".")[0] + "-schema.yaml"
    return asked.show(
        "data", 200 if error is None else 400, way=way, names=names, kinds=kinds, records=records,
        schemas=found.schemas, out=out, command=command_text(_command(way, out)), error=error,
        encodings=get_args(Encoding), delimiters=_DELIMITERS,
    )  # fmt: skip


def _layout(way: Way) -> tuple[str | None, Layout]:
    """What stands between values, and how the file is written otherwise.

    Raises:
        UsageError: If the line of the names is not a number.
    """
    from typing import get_args

    from hedgerow.schema.written import Encoding, Layout

    row, encoding = way.get("header_row", "1"), way.get("encoding", "utf-8")
    if not (row.isascii() and row.isdigit() and int(row[:9]) > 0):
        raise UsageError(
            "the line of the column names is not a number.", hint="Lines are counted from 1."
        )
    if encoding not in get_args(Encoding):
        raise UsageError("this encoding is not known.", hint="Choose one from the list.")
    between = way.get("delimiter")
    chosen: Any = encoding if way.get("encoding") else None
    return "\t" if between == "tab" else between or None, Layout(
        encoding=chosen,
        header_row=int(row) if way.get("header_row") else None,
        sheet=way.get("sheet") or None,
    )


def _is_items(way: Way) -> bool:
    from hedgerow.schema.written import PLAIN
    from hedgerow.table.drafting.draft_items import looks_like_transactions

    return _layout(way) == (None, PLAIN) and looks_like_transactions(way.path("data"))


def _columns(way: Way) -> tuple[list[str], list[str]]:
    """The names of the columns, and what the first rows make them look like; no values.

    Raises:
        DataError: If the names look like somebody's record.
    """
    if _is_items(way):
        return [], []
    from hedgerow.table.drafting.guess import guess_column
    from hedgerow.table.header import check_header

    names, batch = _first_batch(way)
    parts: list[list[Any]] = [[] if batch is None else [batch.column(n)] for n in range(len(names))]
    if not way.get("trust_header"):
        check_header(names, parts, way.path("data").name)
    kinds = []
    for name, part in zip(names, parts, strict=True):
        guess = guess_column(name, part)
        settings = guess.settings
        kinds.append("left out" if settings is None else _NAMES.get(settings["type"], ""))
    return names, kinds


def _first_batch(way: Way) -> tuple[list[str], Any]:
    from hedgerow.table.frames import split_text
    from hedgerow.table.readers import open_source

    delimiter, written = _layout(way)
    opened = open_source(
        way.path("data"), delimiter=delimiter, written=written, split=split_text(" ")
    )
    names = list(opened.names)
    return names, next(iter(opened.batches(range(len(names)))), None)


def _records(way: Way) -> list[list[str]]:
    """The first few records as they are: CONFIDENTIAL."""
    if _is_items(way):
        import gzip

        path = way.path("data")
        opener: Any = gzip.open if path.name.endswith(".gz") else open
        with opener(path, "rt", encoding="utf-8", errors="replace") as file:
            return [[line.rstrip("\n")] for line in islice(file, _FIRST)]
    names, batch = _first_batch(way)
    if batch is None:
        return []
    rows = batch.slice(0, _FIRST)
    columns = [rows.column(place).to_pylist() for place in range(len(names))]
    return [["" if one is None else str(one) for one in row] for row in zip(*columns, strict=True)]
