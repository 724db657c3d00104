"""The first rows of private data, looked at by a process of its own that ends at once.

So the server itself never opens a data file, and nothing of one stays in its memory. It gets names
of columns and what they seem to hold, or a few records on their way to a page that asked for them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from hedgerow.errors import DataError, HedgerowError
from hedgerow.studio.folder import ELSEWHERE

_FIRST = 5  # records that a person can ask to see
_NAMES = {"numeric": "numbers or dates", "categorical": "categories", "boolean": "yes or no"}


def look(rows: dict[str, Any]) -> Any:
    """Names and kinds of columns, none for transactions; or else a few raw records.

    Args:
        rows: How the file is to be read, and what of it: what `_look` takes.

    Raises:
        DataError: If the file cannot be read like that.
    """
    done = subprocess.run(
        # -P, and another folder: what lies beside the data is neither modules nor settings
        [sys.executable, "-P", "-m", "hedgerow.studio.first_rows"],
        cwd=ELSEWHERE, input=json.dumps(rows), capture_output=True, text=True, encoding="utf-8",
        check=False,
    )  # fmt: skip
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = {"error": ["the file cannot be read.", "Run `hedgerow init` on it to see more."]}
    if "error" in answer:
        raise DataError(*answer["error"])
    return answer["rows"]


def _look(
    path: str, delimiter: str | None = None, written: Mapping[str, Any] | None = None,
    trust_header: bool = False, raw: bool = False,
) -> Any:  # fmt: skip
    """The same, in the process of its own.

    Args:
        path: The file.
        delimiter: What stands between values, if it was told.
        written: How the file is written otherwise.
        trust_header: Whether the names are names even if they look like a record.
        raw: Whether a few records are asked for, in the place of names and kinds.
    """
    from hedgerow.data.frames import split_text
    from hedgerow.data.open_input import check_header, open_source
    from hedgerow.draft.draft import looks_like_transactions
    from hedgerow.draft.guess import guess_column
    from hedgerow.schema.attributes import PLAIN, Layout

    file, layout = Path(path), Layout(**(written or {}))
    if delimiter is None and layout == PLAIN and looks_like_transactions(file):
        return _lines(file) if raw else [[], []]
    opened = open_source(file, delimiter=delimiter, written=layout, split=split_text(" "))
    names = list(opened.names)
    batch = next(iter(opened.batches(range(len(names)))), None)
    if raw:
        first = [] if batch is None else batch.slice(0, _FIRST).columns
        records = zip(*(column.to_pylist() for column in first), strict=True)
        return [["" if one is None else str(one) for one in row] for row in records]
    parts: list[list[Any]] = [[] if batch is None else [batch.column(n)] for n in range(len(names))]
    if not trust_header:
        check_header(names, parts, file.name)
    kinds = []
    for name, part in zip(names, parts, strict=True):
        settings = guess_column(name, part).settings
        kinds.append("left out" if settings is None else _NAMES.get(settings["type"], ""))
    return [names, kinds]


def _lines(path: Path) -> list[list[str]]:
    import gzip

    opener: Any = gzip.open if path.name.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8", errors="replace") as file:
        return [[line.rstrip("\n")] for line in islice(file, _FIRST)]


def main() -> None:
    """Reads what to look at from the standard input and writes what was found."""
    try:
        answer: dict[str, Any] = {"rows": _look(**json.load(sys.stdin))}
    except HedgerowError as error:
        answer = {"error": [error.message, error.hint]}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
