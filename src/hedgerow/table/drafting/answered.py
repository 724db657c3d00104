"""The text of a schema file that answers make."""

from __future__ import annotations

import datetime
import json
import re
from pathlib import Path

from hedgerow.errors import SchemaError
from hedgerow.table.drafting.draft import PREFACE
from hedgerow.table.drafting.entries import entry, file_lines
from hedgerow.table.drafting.questions import (
    NOBODY,
    Answers,
    next_question,
    reason,
    settle,
)
from hedgerow.table.drafting.sketch import Sketch

__all__ = ["answered_schema", "with_fingerprint"]

_SIGNED = """\
# Bounds and values were proposed from PRIVATE data, and confirmed as public knowledge by the
# reviewer below: anybody could have written them who never saw the data.
"""


def with_fingerprint(text: str, path: Path) -> str:
    """The text of a schema that is signed off, with the fingerprint of what was signed.

    Args:
        text: The text.
        path: The file that it will be; taxonomies may stand beside it.
    """
    from hedgerow.schema.build import schema_from_text  # slow to import

    try:
        found = schema_from_text(text, path)
    except SchemaError:  # nothing that can be used is signed
        return text
    signed = re.sub(
        r"(?m)^  reviewed: .*$", rf"\g<0>\n  signed: {found.fingerprint}", text, count=1
    )
    return text if found.draft else signed


def answered_schema(sketch: Sketch, answers: Answers, today: datetime.date) -> str:
    """The text of the schema file that answers make.

    It is marked as a draft, which `publish` refuses, until all questions are answered and a person
    has signed that all answers are public knowledge.

    Args:
        sketch: What was read off private data.
        answers: The answers by the keys of their questions; proposals stand for others.
        today: The date of the sign-off.

    Example:
        >>> import pyarrow as pa
        >>> from hedgerow.table.drafting.draft import sketch_table
        >>> sketch = sketch_table(pa.table({"age": [17, 40], "ill": ["yes", "no"]}))
        >>> text = answered_schema(sketch, {"unit": "no"}, datetime.date(2026, 1, 31))
        >>> print(text[text.index("name:"):], end="")
        name: table
        unit: row
        draft: true
        began_as_draft: true
        attributes:
          age: {type: numeric, low: 0, high: 120, step: 1, outside: clip}
          ill: {type: categorical, values: ["no", "yes"]}
    """
    reviewer = answers.get("reviewer", NOBODY)
    signed = reviewer != NOBODY and next_question(sketch, answers) is None
    found = settle(sketch, answers)
    gone = {column.name for column in found if column.settings.get("role") == "identifier"}
    reasons = {column.name: reason(column) if column.name in gone else column.guess.comment
               for column in sketch.columns}  # fmt: skip
    person = any(column.settings.get("role") == "person" for column in found)
    lines = [f"name: {sketch.title}", f"unit: {'person' if person else 'row'}"]
    lines += [] if signed else ["draft: true"]
    lines.append("began_as_draft: true")
    if signed:
        lines += ["metadata:", f"  reviewer: {json.dumps(reviewer, ensure_ascii=False)}"]
        lines.append(f"  reviewed: {today.isoformat()}")
    lines += [*file_lines(sketch.written), "attributes:"]
    for column in found:
        labels = () if "taxonomy" in column.settings else column.values.labels
        why = "" if signed else reasons[column.name]
        lines += entry(column.name, column.settings, labels, column.values.recode, why)
    return (_SIGNED if signed else PREFACE) + "\n".join(lines) + "\n"
