"""Unit and columns of a draft that was made here: what the guided `hedgerow init` asks."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from starlette.responses import RedirectResponse, Response

from hedgerow.draft.answers import write_schema
from hedgerow.draft.questions import Question, uncounted_person
from hedgerow.draft.words import PUBLIC, name_columns
from hedgerow.errors import SchemaError, UsageError
from hedgerow.studio.app import Asked
from hedgerow.studio.folder import Conflict
from hedgerow.studio.guided import (
    Bulk,
    Field,
    Guided,
    fields_of,
    keep,
    open_questions,
    take_answers,
)
from hedgerow.studio.jobs import command_text
from hedgerow.studio.schema_text import SchemaText
from hedgerow.studio.steps import Way
from hedgerow.studio.views.columns import brief
from hedgerow.studio.views.data import recount
from hedgerow.studio.views.history import describe_change
from hedgerow.studio.views.unit import doubt, list_repeated

_KINDS = {"number": "numbers", "date": "dates", "values": "categories", "drop": "left out"}
_RULES = {
    "error": "is an error", "other": "becomes other", "drop": "drops the row",
    "clip": "becomes the nearest", "together": "together, as one",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Group:
    """A column, or several that are asked about at once.

    Args:
        number: The place of the first, by which its fields are called.
        names: Their names.
        fields: Their questions.
        notes: What a person should know about them.
    """

    number: int
    names: tuple[str, ...]
    fields: tuple[Field, ...]
    notes: tuple[str, ...]

    @property
    def title(self) -> str:
        """How they are called at once."""
        return name_columns(self.names)

    @property
    def is_class(self) -> bool:
        """Whether it is the class, whose type is settled."""
        return not any(one.part == "kind" for one in self.fields)

    def type(self, words: Mapping[str, str]) -> str:
        """Its type in words."""
        kind = next((one.shown[""] for one in self.fields if one.part == "kind"), "values")
        return words.get(kind, kind)

    @property
    def content(self) -> str:
        """Its bounds or values, on a line."""
        for one in self.fields:
            if one.part in ("numbers", "dates"):
                step = one.shown["step"]
                bounds = f"{one.shown['low']} to {one.shown['high']}"
                return f"{bounds}, step {step}" if step else bounds
            if one.part == "values":
                lines = one.shown[""].splitlines()  # some may say how a value is read
                return brief(list(dict.fromkeys(one.rpartition(" = ")[2] for one in lines)))
        return ""

    @property
    def is_open(self) -> bool:
        """Whether something was wrong with an answer."""
        return any(one.error for one in self.fields)


def show_unit(
    asked: Asked, way: Way, text: SchemaText, guided: Guided,
    errors: Mapping[str, str] | None = None, fault: SchemaError | Conflict | None = None,
) -> Response:  # fmt: skip
    """The questions about the whole table."""
    fields = {one.part: one for one in fields_of(guided, asked, errors or {}, unit="yes")
              if not one.question.columns}  # fmt: skip
    return asked.show(
        "asked_unit", _status(errors, fault), way=way, text=text, fields=fields,
        names=[one.name for one in guided.sketch.columns], notes=fields["drop"].question.notes,
        error=fault, repeated=list_repeated(text), command=_command(way), leads=_leads(way, fault),
    )  # fmt: skip


def save_unit(asked: Asked, way: Way, text: SchemaText, guided: Guided) -> Response:
    """Takes the answers about the whole table."""
    if asked.get("unit") == "no":
        doubt(text, asked)
    elif "unit" not in {**guided.answers, **asked.form}:
        raise UsageError("the unit was not chosen.", hint="Choose whom a release protects.")
    before, (guided, errors) = guided, take_answers(guided, asked)
    who = uncounted_person(guided.sketch, guided.answers)
    if who and not errors:
        # till then nothing is written: a value of many rows may be one person's
        asked.studio.guided[text.path][text.mark] = replace(before, waiting=guided.answers)
        return recount(asked, way, who)
    fault = keep(asked, text, guided, "unit")
    if errors or fault:
        return show_unit(asked, way, way.text(), guided, errors, fault)
    return RedirectResponse(way.to("columns"), status_code=303)


def show_columns(
    asked: Asked, way: Way, text: SchemaText, guided: Guided,
    errors: Mapping[str, str] | None = None, fault: SchemaError | Conflict | None = None,
    more: Sequence[Question] = (),
) -> Response:  # fmt: skip
    """The questions about columns, those that are alike at once; `more` of them are new."""
    groups = _groups(guided, fields_of(guided, asked, errors or {}))
    whys = {one.part: one.question for group in groups for one in group.fields}
    shown = {part: replace(one, why=one.why.removeprefix(PUBLIC).strip(), notes={}, columns=())
             for part, one in whys.items()}  # fmt: skip
    bulk = Bulk.of(asked, {one.number: one.names for one in groups})
    return asked.show(
        "asked_columns", _status(errors, fault), way=way, text=text, groups=groups,
        error=fault, bulk=bulk, whys=shown, public=PUBLIC, kinds=_KINDS,
        more=[one for one in groups if any(new.columns[0] in one.names for new in more)],
        told=_KINDS | _RULES, seen=text.mark, command=_command(way), wrong=len(errors or {}),
        leads=_leads(way, fault), changes=describe_change(text, _made(text, guided))
        if isinstance(fault, Conflict) else [],
    )  # fmt: skip


def _status(errors: Mapping[str, str] | None, fault: SchemaError | Conflict | None) -> int:
    return 409 if isinstance(fault, Conflict) else 400 if errors or fault else 200


def _made(text: SchemaText, guided: Guided) -> SchemaText:
    """The schema that the answers make."""
    today = datetime.date.today()
    return SchemaText(text.path, write_schema(guided.sketch, guided.answers, today))


def save_columns(asked: Asked, way: Way, text: SchemaText, guided: Guided) -> Response:
    """Takes the answers about columns; shows them again as long as more is to be asked."""
    if asked.get("action") == "filter":
        return show_columns(asked, way, text, guided)
    bulk = None
    if asked.get("action") == "bulk":
        groups = _groups(guided, fields_of(guided, asked, {}))
        bulk = Bulk.of(asked, {one.number: one.names for one in groups})
        asked = bulk.apply(asked)
    guided, errors = take_answers(guided, asked)
    fault = keep(asked, text, guided, "columns")
    more = open_questions(guided)
    if errors or fault or more or bulk:
        return show_columns(asked, way, way.text(), guided, errors, fault, more)
    return RedirectResponse(way.to("taxonomies"), status_code=303)


def _groups(guided: Guided, fields: list[Field]) -> list[Group]:
    found: dict[str, list[Field]] = {}
    for one in fields:
        if one.question.columns:
            found.setdefault(one.question.columns[0], []).append(one)
    places = {one.name: n for n, one in enumerate(guided.sketch.columns)}
    return [
        Group(
            number=places[first], names=several[-1].question.columns, fields=tuple(several),
            notes=tuple(note for one in several for note in one.question.notes.values()),
        )
        for first, several in found.items()
    ]  # fmt: skip


def _leads(way: Way, fault: SchemaError | Conflict | None) -> dict[str, str]:
    return {} if fault is None else way.fields(fault.places)


def _command(way: Way) -> str:
    """The command that asks the same on a terminal."""
    if not way.get("data"):
        return ""
    written = way.options("header_row", "delimiter", "encoding", "sheet")
    return command_text(["init", way.argument("data"), "--out", way.argument("schema"), *written])
