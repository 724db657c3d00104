"""The text of a schema file that answers make."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from hedgerow.errors import SchemaError
from hedgerow.table.drafting.draft import PREFACE
from hedgerow.table.drafting.draft_items import NO_UNIT, ItemSketch
from hedgerow.table.drafting.entries import SIGNED, entry, file_lines, head_lines
from hedgerow.table.drafting.item_questions import accept_item, answered_items, item_questions
from hedgerow.table.drafting.questions import (
    NOBODY,
    Answers,
    Question,
    accept,
    next_question,
    questions,
    reason,
    remark,
)
from hedgerow.table.drafting.settled import settle
from hedgerow.table.drafting.sketch import Sketch

__all__ = ["Interview", "answered_schema", "interview_of", "signed_schema"]


@dataclass(frozen=True, kw_only=True)
class Interview:
    """Questions about private data, and the schema that their answers make.

    Args:
        names: What the data consists of; answers about other data are not used.
        questions: All questions that follow from some answers.
        accept: The answer to keep for a reply; raises a UsageError if it is none.
        remark: What a person should hear about an answer; mostly nothing.
        text: The schema file that answers make on a day.
        rare: Values by column that few rows have. NOT PRIVATE.
    """

    names: list[str]
    questions: Callable[[Answers], list[Question]]
    accept: Callable[[Question, str], str]
    remark: Callable[[Question, str], str]
    text: Callable[[Answers, datetime.date], str]
    rare: Mapping[str, Sequence[str]] = field(default_factory=dict)


def interview_of(sketch: Sketch | ItemSketch) -> Interview:
    """The questions about a table or about transactions."""
    if isinstance(sketch, ItemSketch):
        return Interview(
            names=[sketch.what],
            questions=partial(item_questions, sketch),
            accept=partial(accept_item, sketch),
            remark=remark,
            text=partial(answered_items, sketch),
        )
    return Interview(
        names=[column.name for column in sketch.columns],
        questions=partial(questions, sketch),
        accept=partial(accept, sketch),
        remark=remark,
        text=partial(answered_schema, sketch),
        rare={column.name: column.guess.rare for column in sketch.columns},
    )


def signed_schema(interview: Interview, answers: Answers, today: datetime.date, path: Path) -> str:
    """The text of the schema file that answers make, with the fingerprint of what was signed.

    Nobody can have looked at all of a schema that cannot be read yet, because a file with a
    taxonomy is missing: such a text is a draft, whoever was ready to sign it.

    Args:
        interview: The questions.
        answers: Their answers.
        today: The date of the sign-off.
        path: The file that it will be; taxonomies may stand beside it.
    """
    from hedgerow.schema.build import schema_from_text  # slow to import

    text = interview.text(answers, today)
    try:
        found = schema_from_text(text, path)
    except SchemaError:
        return interview.text({**answers, "reviewer": NOBODY}, today)
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
    unit = {"no": "row", "yes": "person"}.get(answers.get("unit", ""), NO_UNIT)
    lines = head_lines(sketch.title, unit, reviewer if signed else "", today)
    lines += [*file_lines(sketch.written), "attributes:"]
    for column in found:
        labels = () if "taxonomy" in column.settings else column.values.labels
        why = "" if signed else reasons[column.name]
        lines += entry(column.name, column.settings, labels, column.values.recode, why)
    return (SIGNED if signed else PREFACE) + "\n".join(lines) + "\n"
