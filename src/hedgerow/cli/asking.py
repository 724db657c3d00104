"""Asks on a terminal what a schema should say, and keeps the answers if that is stopped."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from hedgerow.cli.display.terminal import note, say, warn
from hedgerow.cli.files import whole_file, write_text
from hedgerow.errors import ReleaseError, SchemaError, UsageError

if TYPE_CHECKING:
    from hedgerow.draft.draft import ItemSketch, Sketch
    from hedgerow.draft.questions import Interview, Question
    from hedgerow.schema.diff import PublishedColumn

_SHOWN = 60  # texts of a column that are not marked, after which only their number is told
_FEW = 12  # answers that are shown without being asked for
_MARK = "NOT PRIVATE: answers to `hedgerow init` about private data. Delete them afterwards."
_HOW = (
    "Each question has a proposal in brackets, which was read off PRIVATE data: Enter accepts it.\n"
    "? explains, back returns to the question before, Ctrl-C keeps your answers for later.\n"
)


def on_terminal() -> bool:
    """Whether somebody is there to answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def answers_file(out: Path) -> Path:
    """Where answers are kept until the schema is written."""
    return out.with_name(f"{out.name}.answers.json")


def ask(words: str) -> str:
    """What somebody types on the terminal."""
    typer.echo(words, nl=False, err=True)  # stdout may lead elsewhere
    return input().strip()


def ask_for_schema(
    draft: Callable[[str | None], Sketch | ItemSketch], out: Path, overwrite: bool, data: str
) -> None:
    """Asks all questions about a table or transactions and writes the schema.

    Args:
        draft: Reads private data; people are counted by the column that is named, if one is.
        out: The schema file.
        overwrite: Whether to replace it if it is there.
        data: How the command calls the data.
    """
    from datetime import date

    from hedgerow.draft.questions import PUBLIC, Interview, sign_schema
    from hedgerow.schema import Schema

    kept = answers_file(out)
    interview = Interview(draft(None), draft)
    names = interview.names
    answers = _load(kept, names)
    note(f"{_HOW}\n{PUBLIC}\n")
    if answers:
        note(f"{len(answers)} answers are in {kept} already; going on from there.\n")
    try:
        _ask(interview, answers, kept, out)
    except (KeyboardInterrupt, EOFError) as stop:
        note(f"\nYour answers are in {kept} (NOT PRIVATE). The same command goes on from there.")
        raise stop if isinstance(stop, KeyboardInterrupt) else KeyboardInterrupt from None
    text = sign_schema(interview, answers, date.today(), out)
    write_text(out, text, overwrite, private="\ndraft: true\n" in text)
    kept.unlink(missing_ok=True)
    say(f"Wrote {out}.")
    try:
        schema = Schema.load(out)
    except SchemaError as error:
        warn(f"The schema cannot be read yet: {error.message} {error.hint or ''}")
        note(
            "So it is a draft, and nobody has signed it off. Look at all of it once it can be "
            f"read: `hedgerow check {out}`, then `hedgerow sign {out} --name ...`."
        )
        return
    warn(*schema.warnings)
    if schema.is_draft:
        note(
            "It is a draft: nobody has confirmed that it is public knowledge. Go through it, "
            f"then run `hedgerow check {out}` and `hedgerow sign {out} --name ...`."
        )
    else:
        note(f"Next: hedgerow check {out} --data {data}, then hedgerow plan.")


def _ask(interview: Interview, answers: dict[str, str], kept: Path, out: Path) -> None:
    from hedgerow.draft.questions import accept, remark

    while True:
        asked = interview.questions(answers)
        question = next((one for one in asked if one.key not in answers), None)
        if question is None:
            return
        if _is_kind(question):  # what follows from the proposal is asked at once
            answers[question.key] = question.default
            continue
        if question.key == "reviewer":
            _show_published(interview, answers, out)
        shown = [one for one in asked if not _is_kind(one)]
        kind = _kind_before(asked, question)
        _show(question, kind, shown.index(question) + 1, len(shown))
        reply = ask("> ")
        if reply == "?":
            note(f"{_explain(interview, question, kind)}\n")
        elif reply.casefold() == "back":
            # what followed from the answer before is asked again if it still follows
            for one in reversed(asked[: asked.index(question)]):
                said = answers.pop(one.key, "")
                if not _is_kind(one) or said == "drop":
                    break
        elif kind is not None and reply.casefold() in kind.choices:
            answers[kind.key] = reply.casefold()
        else:
            try:
                answers[question.key] = accept(question, reply)
            except UsageError as error:
                note(f"{error.message} {error.hint or ''}\n")
            else:
                if words := remark(question, answers[question.key]):
                    note(f"{words}\n")
        _save(kept, interview.names, answers)


def _show_published(interview: Interview, answers: dict[str, str], out: Path) -> None:
    """All that the schema publishes by itself, before somebody signs it."""
    from datetime import date

    from hedgerow.schema.build import load_schema
    from hedgerow.schema.diff import published_columns

    try:
        schema = load_schema(out, interview.text(answers, date.today()))
    except SchemaError:  # it stays a draft, and what is wrong is said at the end
        return
    print_published(published_columns(schema, interview.rare(answers)), note)
    note("")


def print_published(columns: Sequence[PublishedColumn], put: Callable[[str], None]) -> None:
    """Prints every bound, value and label that is published, and marks what is rare, long or odd.

    Args:
        columns: What is published about each column.
        put: Where a line goes.
    """
    put("Every release publishes this, whatever is counted:")
    for column in columns:
        plain = [one.text for one in column.texts if not one.mark]
        more = f", ... and {len(plain) - _SHOWN} more (--json)" if len(plain) > _SHOWN else ""
        put(f"  {column.name}: {', '.join(plain[:_SHOWN])}{more}".rstrip(": "))
        for one in column.marked:
            put(f"    ! {one.text}  [{one.mark}]")
    marked = sum(len(column.marked) for column in columns)
    if marked:
        put(f"{marked} are marked with !: could anybody have written them without the data?")


def _is_kind(question: Question) -> bool:
    return question.key.startswith("kind of ")


def _kind_before(asked: list[Question], question: Question) -> Question | None:
    """The question what a column is, if this is the one that follows from its answer."""
    before = asked[asked.index(question) - 1]
    return before if _is_kind(before) else None


def _explain(interview: Interview, question: Question, kind: Question | None) -> str:
    """What a person should know to answer, with all answers that there are."""
    from hedgerow.draft.questions import HOW_TO_DROP

    sentences = [question.explained]
    if question.key == "drop":
        sentences.append(HOW_TO_DROP.format(names=", ".join(interview.names)))
    if len(question.choices) > _FEW:
        sentences.append(f"One of: {', '.join(question.choices)}.")
    return "\n".join([*sentences, *([] if kind is None else [kind.explained])])


def _show(question: Question, kind: Question | None, number: int, of: int) -> None:
    """The question, the answers there are, the reasons and the proposal."""
    typer.secho(f"{number}/{of}  {question.text}", bold=True, err=True)
    more = "" if len(question.choices) <= _FEW else ", ... (? names all)"
    if question.choices:
        note(f"      {', '.join(question.choices[:_FEW])}{more}")
    if kind is not None:
        note(f"      (or it is something else: {', '.join(kind.choices)})")
    # why a column is left out, or not all of its values are proposed
    for one in [question] if kind is None else [kind, question]:
        for name, sentence in one.notes.items():
            note(f"      {sentence if one.columns == (name,) else f'{name}: {sentence}'}")
    note(f"      [{question.default}]" if question.default else "      (there is no proposal)")


def _load(kept: Path, names: list[str]) -> dict[str, str]:
    """The answers that were kept; none if they are about other columns."""
    try:
        document: Any = json.loads(kept.read_text(encoding="utf-8"))
        answers = dict(document["answers"]) if document["columns"] == names else {}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ReleaseError(
            f"{kept} cannot be read as answers.", hint="Delete it, and begin anew."
        ) from error
    if not answers:
        note(f"The answers in {kept} are about other columns, so they are not used.")
    return {str(key): str(value) for key, value in answers.items()}


def _save(kept: Path, names: list[str], answers: dict[str, str]) -> None:
    """Writes the answers, readable for their owner alone.

    But for the sign-off, which holds for what was read off the data this time.
    """
    open_answers = {key: answer for key, answer in answers.items() if key != "reviewer"}
    document = {"about": _MARK, "columns": names, "answers": open_answers}
    text = json.dumps(document, ensure_ascii=False, indent=1)
    with whole_file(kept, overwrite=True, private=True) as temporary:
        temporary.write_text(text, encoding="utf-8")
