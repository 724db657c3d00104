"""Unit and columns of a draft that was made here: what the guided `hedgerow init` asks."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

from starlette.responses import Response

from hedgerow.draft.draft import Sketch
from hedgerow.draft.questions import (
    PUBLIC,
    Question,
    accept,
    name_columns,
    questions,
    uncounted_person,
    write_schema,
)
from hedgerow.draft.replies import from_lines, join, read_bounds, read_names, to_lines
from hedgerow.errors import SchemaError, UsageError
from hedgerow.store.html_text import visible
from hedgerow.studio.folder import Conflict, Outside
from hedgerow.studio.schema_text import SchemaText, describe_change
from hedgerow.studio.steps import Asked, Way
from hedgerow.studio.views.project import recount
from hedgerow.studio.views.schema import Bulk, brief, doubt, list_repeated

# The questions of `hedgerow init` as fields of forms.
#
# The questions, their proposals and what answers make of a schema come from the library. Proposals
# were read off PRIVATE data, by the process that drafted. They and the answers stay in memory,
# until the schema is changed in another way, signed off, or the studio ends; the file has all of
# them.


_BOUNDS = ("low", "high", "step")


@dataclass(frozen=True, kw_only=True)
class Guided:
    """A draft whose questions are being answered.

    Args:
        sketch: What was read off the data.
        answers: The answers so far.
        waiting: Answers that hold once proposals are counted by the person that they name.
    """

    sketch: Sketch
    answers: Mapping[str, str] = field(default_factory=dict)
    waiting: Mapping[str, str] = field(default_factory=dict)

    def make(self, text: SchemaText) -> SchemaText:
        """The schema that the answers make, with proposals for the rest."""
        today = datetime.date.today()
        return SchemaText(text.path, write_schema(self.sketch, self.answers, today))

    def recount(self, sketch: Sketch) -> Guided:
        """The same with other proposals: answers that only accepted the former ones are open."""
        accepted = {
            one.key for one in questions(self.sketch, self.waiting)
            if (one.columns or one.key == "drop") and self.waiting.get(one.key) == one.default
        }  # fmt: skip
        kept = {key: answer for key, answer in self.waiting.items() if key not in accepted}
        return Guided(sketch=sketch, answers=kept)


@dataclass(frozen=True, kw_only=True)
class Field:
    """A question as a form shows it.

    Args:
        question: The question.
        part: What is asked, such as `kind` or `values`.
        name: How the field is called in the form.
        shown: What stands in it: a text, bounds by their names, or names of columns.
        error: What was wrong with the answer that was given.
    """

    question: Question
    part: str
    name: str
    shown: Mapping[str, str]
    error: str


def under_way(asked: Asked) -> Guided | None:
    """The answers to go on with; None if the schema was not drafted here, or changed since.

    Answers are kept for each version of the schema that they made, so that they can be undone too.
    A form that comes after a change elsewhere goes on with those that it was made from.
    """
    text, drafted = asked.text, asked.get("drafted")
    known = asked.studio.guided.setdefault(text.path, {})
    with suppress(Outside):  # it may be of an earlier start
        job = asked.studio.jobs.find(drafted) if drafted else None
        if job is not None and job.result and "proposals" in job.result:
            sketch, job.result = Sketch.from_dict(job.result["proposals"]), None
            known[text.mark] = known.get(text.mark, Guided(sketch=sketch)).recount(sketch)
            asked.studio.drafts[text.path] = Guided(sketch=sketch).make(text).domains()
    guided = known.get(text.mark) or (known.get(asked.get("seen")) if asked.form else None)
    return guided if guided is not None and text.is_draft else None


def fields_of(
    guided: Guided, asked: Asked, errors: Mapping[str, str], **assumed: str
) -> list[Field]:
    """All questions with what was entered, answered or proposed, but for the sign-off.

    Args:
        guided: The answers so far.
        asked: What was entered, if it is shown again.
        errors: What is wrong with it, by the names of fields.
        assumed: Answers by which questions are shown that do not follow yet.
    """
    known = {one.key: one for one in questions(guided.sketch, {**guided.answers, **assumed})}
    known |= {one.key: one for one in questions(guided.sketch, guided.answers)}
    known.pop("reviewer", None)
    shown = []
    for one in known.values():
        part, name = _name_field(guided.sketch, one.key)
        values = _show(guided, one, part)
        for key in values:
            if (box := _box(key, name)) in asked.form:  # browsers end lines in their own way
                values[key] = "\n".join(asked.get(box).splitlines())
        error = errors.get(name, "")
        shown.append(Field(question=one, part=part, name=name, shown=values, error=error))
    return shown


def take_answers(guided: Guided, asked: Asked) -> tuple[Guided, dict[str, str]]:
    """The answers with those of a form, and what is wrong with others by the names of fields."""
    answers, errors, done = dict(guided.answers), dict[str, str](), set[str]()
    waiting = questions(guided.sketch, answers)
    while waiting:
        question, *waiting = waiting
        key = question.key
        done.add(key)
        part, name = _name_field(guided.sketch, key)
        reply = _reply(guided, question, part, name, asked)
        if reply is None or key == "reviewer":  # who signs sees all of it first (`check.sign`)
            continue
        try:
            answer = accept(question, reply)
        except UsageError as error:
            errors[name] = f"{error.message} {error.hint or ''}".strip()
            continue
        if answers.get(key) != answer:  # other questions may follow now
            answers[key] = answer
            following = questions(guided.sketch, answers)
            waiting = [one for one in following if one.key not in done]
    return replace(guided, answers=answers), errors


def keep(asked: Asked, guided: Guided) -> SchemaError | Conflict | None:
    """Keeps the answers, and writes the schema that they make with proposals for the rest.

    Returns:
        Why that schema was not written.
    """
    text, known = asked.text, asked.studio.guided[asked.text.path]
    made = guided.make(text)
    try:
        made.save(asked.get("seen"), asked.step)
    except (SchemaError, Conflict) as error:
        known[text.mark] = guided
        return error
    known[made.mark] = guided
    return None


def _name_field(sketch: Sketch, key: str) -> tuple[str, str]:
    """What a question asks, and how its field is called: columns by their place."""
    part, _, column = key.partition(" of ")
    names = [one.name for one in sketch.columns]
    return part, f"{part}-{names.index(column)}" if column else part


def _box(key: str, name: str) -> str:
    """The name of one of several boxes of a field, such as the lower bound."""
    return f"{key}-{name.partition('-')[2]}" if key in _BOUNDS else name


def _show(guided: Guided, question: Question, part: str) -> dict[str, str]:
    reply = guided.answers.get(question.key, question.default)
    if part in ("numbers", "dates"):
        return read_bounds(reply, part == "dates") if reply else dict.fromkeys(_BOUNDS, "")
    if part in ("values", "groups"):
        reply = to_lines(reply)
    if part == "drop":
        names = [one.name for one in guided.sketch.columns]
        return {name: "" for name in read_names(reply, [], names)}
    return {"": reply}


def _reply(guided: Guided, question: Question, part: str, name: str, asked: Asked) -> str | None:
    """What a form replies to a question; None if it is not in the form."""
    if part in ("numbers", "dates"):
        boxes = [_box(key, name) for key in _BOUNDS]
        if boxes[0] not in asked.form:
            return None
        low, high, step = (asked.get(box).strip() for box in boxes)
        return f"{low} to {high}{f' step {step}' if step else ''}" if low or high else ""
    if part == "drop":
        if "drop" not in asked.form:
            return None
        columns, ticked = guided.sketch.columns, asked.every("drop")
        return join([one.name for n, one in enumerate(columns) if str(n) in ticked]) or "none"
    if name not in asked.form:
        return None
    reply = asked.get(name).strip()
    if part in ("values", "groups"):
        before = guided.answers.get(question.key, question.default)
        same = [visible(line) for line in to_lines(before).split("\n")] == reply.splitlines()
        return before if same else from_lines(reply)
    return next((one for one in question.choices if visible(one) == reply), reply)


# The pages that ask them.


_KINDS = {"number": "numbers", "date": "dates", "values": "categories", "drop": "left out"}
_RULES = {
    "error": "is an error", "other": "becomes other", "drop": "drops the row",
    "clip": "becomes the nearest", "together": "together, as one",
}  # fmt: skip


def _content(fields: list[Field]) -> str:
    """The bounds or values of a column, on a line."""
    for one in fields:
        if one.part in ("numbers", "dates"):
            step = one.shown["step"]
            bounds = f"{one.shown['low']} to {one.shown['high']}"
            return f"{bounds}, step {step}" if step else bounds
        if one.part == "values":
            lines = one.shown[""].splitlines()  # some may say how a value is read
            return brief(list(dict.fromkeys(one.rpartition(" = ")[2] for one in lines)))
    return ""


def ask_unit(asked: Asked, guided: Guided, errors: Mapping[str, str] | None = None) -> Response:
    """The questions about the whole table."""
    text = asked.text
    fields = {one.part: one for one in fields_of(guided, asked, errors or {}, unit="yes")
              if not one.question.columns}  # fmt: skip
    return asked.page(
        "asked_unit", _status(asked, errors), text=text, fields=fields,
        names=[one.name for one in guided.sketch.columns], notes=fields["drop"].question.notes,
        repeated=list_repeated(text), command=_command(asked.way),
    )  # fmt: skip


def take_unit(asked: Asked, guided: Guided) -> Response:
    """Takes the answers about the whole table."""
    text = asked.text
    if asked.get("unit") == "no":
        doubt(text, asked)
    elif "unit" not in {**guided.answers, **asked.form}:
        raise UsageError("the unit was not chosen.", hint="Choose whom a release protects.")
    before, (guided, errors) = guided, take_answers(guided, asked)
    who = uncounted_person(guided.sketch, guided.answers)
    if who and not errors:
        # till then nothing is written: a value of many rows may be one person's
        asked.studio.guided[text.path][text.mark] = replace(before, waiting=guided.answers)
        return recount(asked, who)
    asked = replace(asked, fault=keep(asked, guided))
    if errors or asked.fault:
        return ask_unit(asked, guided, errors)
    return asked.way.go("columns")


def ask_columns(
    asked: Asked, guided: Guided, errors: Mapping[str, str] | None = None,
    more: Sequence[Question] = (),
) -> Response:  # fmt: skip
    """The questions about columns, those that are alike at once; `more` of them are new."""
    text = asked.text
    groups = _groups(guided, fields_of(guided, asked, errors or {}))
    whys = {one.part: one.question for group in groups for one in group.fields}
    shown = {part: replace(one, why=one.why.removeprefix(PUBLIC).strip(), notes={}, columns=())
             for part, one in whys.items()}  # fmt: skip
    bulk = Bulk.of(asked, {one.number: one.names for one in groups})
    return asked.page(
        "asked_columns", _status(asked, errors), text=text, groups=groups, bulk=bulk, whys=shown,
        more=[one for one in groups if any(new.columns[0] in one.names for new in more)],
        public=PUBLIC, kinds=_KINDS, told=_KINDS | _RULES, seen=text.mark,
        command=_command(asked.way), wrong=len(errors or {}),
        changes=describe_change(text, guided.make(text))
        if isinstance(asked.fault, Conflict) else [],
    )  # fmt: skip


def _status(asked: Asked, errors: Mapping[str, str] | None) -> int:
    return 400 if errors and asked.fault is None else 200  # of a fault it is told by `show`


def take_columns(asked: Asked, guided: Guided) -> Response:
    """Takes the answers about columns; shows them again as long as more is to be asked."""
    if asked.get("action") == "filter":
        return ask_columns(asked, guided)
    bulk = None
    if asked.get("action") == "bulk":
        groups = _groups(guided, fields_of(guided, asked, {}))
        bulk = Bulk.of(asked, {one.number: one.names for one in groups})
        asked = bulk.apply(asked)
    guided, errors = take_answers(guided, asked)
    asked = replace(asked, fault=keep(asked, guided))
    every = questions(guided.sketch, guided.answers)
    more = [one for one in every if one.columns and one.key not in guided.answers]
    if errors or asked.fault or more or bulk:
        return ask_columns(asked, guided, errors, more)
    return asked.way.go("taxonomies")


def _groups(guided: Guided, fields: list[Field]) -> list[SimpleNamespace]:
    """The columns as the form shows them, those at once that are asked about at once."""
    groups: dict[str, list[Field]] = {}
    for one in fields:
        if one.question.columns:
            groups.setdefault(one.question.columns[0], []).append(one)
    places = {one.name: n for n, one in enumerate(guided.sketch.columns)}
    shown = []
    for first, several in groups.items():
        names = several[-1].question.columns
        kinds = [one.shown[""] for one in several if one.part == "kind"]
        kind = kinds[0] if kinds else "values"
        shown.append(SimpleNamespace(
            number=places[first], names=names, title=name_columns(names), fields=several,
            notes=[note for one in several for note in one.question.notes.values()],
            type=_KINDS.get(kind, kind), content=_content(several),
            is_class=not kinds,  # its type is settled
            is_open=any(one.error for one in several),
        ))  # fmt: skip
    return shown


def _command(way: Way) -> list[str]:
    """The command that asks the same on a terminal."""
    if not way.get("data"):
        return []
    written = way.options("header_row", "delimiter", "encoding", "sheet")
    return ["init", way.argument("data"), "--out", way.argument("schema"), *written]
