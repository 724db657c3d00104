"""The questions of `hedgerow init` as fields of forms, and forms about many columns at once."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hedgerow.draft.answers import write_schema
from hedgerow.draft.draft import Sketch
from hedgerow.draft.questions import (
    Question,
    accept,
    from_lines,
    join,
    questions,
    read_bounds,
    read_names,
    to_lines,
)
from hedgerow.errors import SchemaError, UsageError
from hedgerow.store.markup import visible
from hedgerow.studio.app import Asked
from hedgerow.studio.folder import Conflict, Outside
from hedgerow.studio.schema_text import SchemaText

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

    def recount(self, sketch: Sketch) -> Guided:
        """The same with other proposals: answers that only accepted the former ones are open."""
        before = {one.key: one for one in questions(self.sketch, self.waiting)}
        kept = {
            key: answer for key, answer in self.waiting.items()
            if key not in before or before[key].default != answer
            or not (before[key].columns or key == "drop")
        }  # fmt: skip
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
        is_open: Whether it has no answer yet.
    """

    question: Question
    part: str
    name: str
    shown: Mapping[str, str]
    error: str = ""
    is_open: bool = False


def under_way(asked: Asked, text: SchemaText) -> Guided | None:
    """The answers to go on with; None if the schema was not drafted here, or changed since.

    Answers are kept for each version of the schema that they made, so that they can be undone too.
    A form that comes after a change elsewhere goes on with those that it was made from.
    """
    known, told = asked.studio.guided.setdefault(text.path, {}), asked.get("drafted")
    if told:
        try:
            job = asked.studio.jobs.find(told)
        except Outside:
            job = None
        if job is not None and job.result and "proposals" in job.result:
            sketch, job.result = Sketch.from_dict(job.result["proposals"]), None
            known[text.mark] = known.get(text.mark, Guided(sketch=sketch)).recount(sketch)
            proposed = SchemaText(text.path, write_schema(sketch, {}, datetime.date.today()))
            asked.studio.drafts[text.path] = proposed.domains()
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
    found = {one.key: one for one in questions(guided.sketch, {**guided.answers, **assumed})}
    found |= {one.key: one for one in questions(guided.sketch, guided.answers)}
    shown = []
    for one in found.values():
        if one.key == "reviewer":
            continue
        part, name = _name_field(guided.sketch, one.key)
        values = _show(guided, one, part)
        boxes = {key: _box(key, name) for key in values}
        entered = {  # browsers end lines in their own way
            key: "\n".join(asked.get(box).splitlines())
            for key, box in boxes.items() if box in asked.form
        }  # fmt: skip
        shown.append(Field(
            question=one, part=part, name=name, shown=values | entered,
            error=errors.get(name, ""), is_open=one.key not in guided.answers,
        ))  # fmt: skip
    return shown


def take_answers(guided: Guided, asked: Asked) -> tuple[Guided, dict[str, str]]:
    """The answers with those of a form, and what is wrong with others by the names of fields."""
    answers, errors = dict(guided.answers), dict[str, str]()
    waiting = {one.key: one for one in questions(guided.sketch, answers)}
    done = set[str]()
    while waiting:
        key, question = next(iter(waiting.items()))
        del waiting[key]
        done.add(key)
        part, name = _name_field(guided.sketch, key)
        reply = _reply(guided, question, part, name, asked)
        if reply is None or key == "reviewer":  # who signs sees all of it first (`check.sign`)
            continue
        try:
            answer = accept(guided.sketch, question, reply)
        except UsageError as error:
            errors[name] = f"{error.message} {error.hint or ''}".strip()
            continue
        if answers.get(key) != answer:  # other questions may follow now
            answers[key] = answer
            found = questions(guided.sketch, answers)
            waiting = {one.key: one for one in found if one.key not in done}
    return replace(guided, answers=answers), errors


def open_questions(guided: Guided) -> list[Question]:
    """Questions about columns that have no answer yet."""
    found = questions(guided.sketch, guided.answers)
    return [one for one in found if one.columns and one.key not in guided.answers]


def keep(
    asked: Asked, text: SchemaText, guided: Guided, page: str
) -> SchemaError | Conflict | None:
    """Keeps the answers, and writes the schema that they make with proposals for the rest.

    Returns:
        Why that schema was not written.
    """
    known = asked.studio.guided[text.path]
    made = SchemaText(text.path, write_schema(guided.sketch, guided.answers, datetime.date.today()))
    try:
        made.save(asked.get("seen"), page)
    except (SchemaError, Conflict) as error:
        known[text.mark] = guided
        return error
    known[made.mark] = guided
    return None


def _name_field(sketch: Sketch, key: str) -> tuple[str, str]:
    """What a question asks, and how its field is called: columns by their place."""
    part, _, column = key.partition(" of ")
    if not column:
        return part, part
    names = [one.name for one in sketch.columns]
    return part, f"{part}-{names.index(column)}"


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


# Many columns at once, by an ordinary form: which are shown, and what becomes of those ticked.


_KEYS = ("kind", "missing", "outside")


@dataclass(frozen=True, kw_only=True)
class Bulk:
    """Which columns a page shows, and which were ticked.

    Args:
        filter: What the names of those that are shown hold.
        shown: The numbers of these.
        ticked: The numbers of those that were ticked.
    """

    filter: str
    shown: frozenset[int]
    ticked: frozenset[int]

    @staticmethod
    def of(asked: Asked, names: Mapping[int, Sequence[str]]) -> Bulk:
        """What a form says.

        Args:
            asked: The form.
            names: The names of columns, by the numbers that their fields have.
        """
        words = asked.get("filter").strip()
        fits = {number for number, several in names.items()
                if any(words.casefold() in name.casefold() for name in several)}  # fmt: skip
        ticked = {number for number in names if str(number) in asked.every("pick")}
        return Bulk(filter=words, shown=frozenset(fits), ticked=frozenset(ticked))

    def apply(self, asked: Asked) -> Asked:
        """The form as if the same had been chosen for each of the columns, and none were ticked.

        Raises:
            UsageError: If no column or nothing to do was chosen.
        """
        key, _, value = asked.get("bulk").partition("=")
        meant = self.shown if asked.get("which") == "shown" else self.ticked
        if not meant or key not in _KEYS:
            raise UsageError(
                "no column was ticked, or nothing was chosen for them.",
                hint="Go back, tick columns, and choose what they are.",
            )
        chosen = {f"{key}-{number}": [value] for number in meant}
        return replace(asked, form={**asked.form, **chosen, "pick": []})
