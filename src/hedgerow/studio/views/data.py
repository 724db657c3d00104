"""The first step: which data, and what its columns seem to be. Values are shown only if asked."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

from starlette.responses import Response

from hedgerow.studio.app import Asked, go
from hedgerow.studio.folder import argument, fresh, look
from hedgerow.studio.jobs import command_text
from hedgerow.studio.steps import Way

__all__ = ["draft", "look_at", "peek"]

_FIRST = 5  # records that a person can ask to see
_NAMES = {"numeric": "numbers or dates", "categorical": "categories", "boolean": "yes or no"}


def look_at(asked: Asked) -> Response:
    """The columns of a file, and what they seem to be."""
    return _page(asked, [])


def peek(asked: Asked) -> Response:
    """The same with a few raw records, because somebody asked for them."""
    path = Way.of(asked, "data").path("data")
    return _page(asked, _records(path))


def draft(asked: Asked) -> Response:
    """Drafts a schema, as `hedgerow init` does."""
    way = Way.of(asked, "data")
    root = way.root
    out = fresh(root, asked.get("name"), ".yaml")
    arguments = ["init", way.argument("data"), "--out", argument(root, out)]
    if asked.get("trust_header"):
        arguments.append("--trust-header")
    job = asked.studio.jobs.start(
        arguments,
        step="data",
        title="Drafting a schema",
        then=way.to("unit", schema=out.name),
        back=way.to("data"),
    )
    return go("/job", job=job.name)


def _page(asked: Asked, records: list[list[str]]) -> Response:
    way = Way.of(asked, "data")
    path, found = way.path("data"), look(way.root)
    names, kinds = _columns(path)
    out = path.name.split(".")[0] + "-schema.yaml"
    command = command_text(["init", way.argument("data"), "--out", out])
    return asked.show(
        "data", way=way, names=names, kinds=kinds, records=records, schemas=found.schemas,
        size=path.stat().st_size, out=out, command=command,
    )  # fmt: skip


def _is_items(path: Path) -> bool:
    from hedgerow.table.drafting.draft_items import looks_like_transactions

    return looks_like_transactions(path)


def _columns(path: Path) -> tuple[list[str], list[str]]:
    """The names of the columns, and what the first rows make them look like; no values.

    Raises:
        DataError: If the names look like somebody's record.
    """
    if _is_items(path):
        return [], []
    from hedgerow.table.drafting.guess import guess_column
    from hedgerow.table.header import check_header

    names, batch = _first_batch(path)
    parts: list[list[Any]] = [[] if batch is None else [batch.column(n)] for n in range(len(names))]
    check_header(names, parts, path.name)
    kinds = []
    for name, part in zip(names, parts, strict=True):
        guess = guess_column(name, part)
        settings = guess.settings
        kinds.append("left out" if settings is None else _NAMES.get(settings["type"], ""))
    return names, kinds


def _first_batch(path: Path) -> tuple[list[str], Any]:
    from hedgerow.table.frames import split_text
    from hedgerow.table.readers import open_source

    opened = open_source(path, split=split_text(" "))
    names = list(opened.names)
    return names, next(iter(opened.batches(range(len(names)))), None)


def _records(path: Path) -> list[list[str]]:
    """The first few records as they are: CONFIDENTIAL."""
    if _is_items(path):
        import gzip

        opener: Any = gzip.open if path.name.endswith(".gz") else open
        with opener(path, "rt", encoding="utf-8", errors="replace") as file:
            return [[line.rstrip("\n")] for line in islice(file, _FIRST)]
    names, batch = _first_batch(path)
    if batch is None:
        return []
    rows = batch.slice(0, _FIRST)
    columns = [rows.column(place).to_pylist() for place in range(len(names))]
    return [["" if one is None else str(one) for one in row] for row in zip(*columns, strict=True)]
