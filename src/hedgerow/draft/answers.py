"""The schema file that answers make, for tables and for transactions."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from hedgerow.draft import words
from hedgerow.draft.draft import (
    ITEMS_PREFACE,
    NO_UNIT,
    PREFACE,
    SIGNED,
    Column,
    ItemSketch,
    Sketch,
    entry,
    families,
    file_lines,
    head_lines,
    item_separator,
    universe_lines,
    universe_of,
)
from hedgerow.draft.guess import Guess
from hedgerow.draft.questions import (
    NOBODY,
    Answers,
    Question,
    Values,
    accept,
    accept_choice,
    join,
    kind_of,
    next_question,
    published_columns,
    questions,
    read_bounds,
    read_values,
    reason,
    remark,
    split,
    split_family,
    uncounted_person,
)
from hedgerow.errors import DataError, SchemaError, UsageError
from hedgerow.schema.items import DEFAULT_FAN_OUT
from hedgerow.schema.lint import labels_fault, range_fault

# What every column becomes by the answers to the questions of a draft.


def settle(sketch: Sketch, answers: Answers) -> dict[str, Guess]:
    """What every column is by the answers; proposals stand for those that are not there."""
    said = {one.key: answers.get(one.key, one.default) for one in questions(sketch, answers)}
    settled = {column.name: Guess() for column in sketch.columns}
    for family in families(published_columns(sketch, answers)):
        for group in split_family(family, answers):
            settled |= dict.fromkeys([one.name for one in group], _settle_column(group[0], said))
    if said["unit"] == "yes" and said.get("person") in settled:
        settings = {"role": "person", "max_rows": said["max_rows"]}
        settled[said["person"]] = Guess(settings=settings)
    return settled


def _settle_column(column: Column, said: Answers) -> Guess:
    """What a column is, by the answers."""
    guess, name, settings = column.guess, column.name, dict(column.guess.settings or {})
    kind = said.get(f"kind of {name}", "values")
    if kind == "drop" or not said.get(f"{kind if kind == 'values' else kind + 's'} of {name}"):
        return Guess()
    values = Values()
    if kind == "values":
        values = read_values(said[f"values of {name}"])
        folded = {label.casefold() for label in values.labels}
        case_is_free = len(folded) == len(values.labels) > 0
        case_is_free |= values.taxonomy == settings.get("taxonomy")  # a list, as proposed
        groups = said.get(f"groups of {name}", "none")
        grouped = values if groups == "none" else read_values(groups)
        boolean = settings.get("type") == "boolean" and list(values.labels) == ["false", "true"]
        kept = {"type": "boolean" if boolean else "categorical"}
        if "root" in settings and "Any" in values.labels:
            kept["root"] = settings["root"]
        if "ignore" in settings and case_is_free:
            kept["ignore"] = settings["ignore"]
        if tree := grouped.taxonomy or grouped.groups:
            kept["taxonomy"] = json.dumps(tree, ensure_ascii=False)
    else:
        dates = kind == "date"
        kept = {"type": "numeric", **read_bounds(said[f"{kind}s of {name}"], dates)}
        if kind == kind_of(guess):
            signs = ("scale", "decimal", "thousands")
            kept |= {key: settings[key] for key in signs if key in settings}
        if f"format of {name}" in said:
            kept["format"] = json.dumps(said[f"format of {name}"])
    if kind == "values" and guess.partial and guess.labels:
        settings["outside"] = "other"
    kept |= _rules(kind, name, settings, said)
    if said.get(f"split of {name}") == "no":
        kept["split"] = "never"
    if f"group of {name}" in said:
        kept["group"] = json.dumps(said[f"group of {name}"], ensure_ascii=False)
    if column.role == "class":
        kept["role"] = "class"
    return Guess(settings=kept, labels=values.labels, recode=values.recode)


def _rules(kind: str, name: str, settings: Mapping[str, str], said: Answers) -> dict[str, str]:
    """What happens to missing values and to others outside the domain."""
    missing, outside = said["missing"], said["outside"]
    if missing == "each":
        missing = said[f"missing of {name}"]
    elif missing == "everywhere":
        missing = "other"
    elif missing in ("other", "drop") and "missing" not in settings:
        missing = "error"
    if f"outside of {name}" in said:
        outside = said[f"outside of {name}"]
    elif outside == "clip" and (kind == "values" or settings.get("outside") == "other"):
        outside = "other" if settings.get("outside") == "other" else "error"
    return {key: rule for key, rule in (("missing", missing), ("outside", outside))
            if rule != "error"}  # fmt: skip


# The questions that lead from private transactions to a schema, as `questions` does for tables.
#
# Proposals are read off PRIVATE data, so questions and answers are for the holder of the data
# alone.


_SEPARATORS = {"space": " ", "comma": ",", "semicolon": ";", "bar": "|", "tab": "\t"}
_SEEN = "all that were seen"
_LONG = 20  # items of one record that are proposed to count
_SHOWN = 40  # items of a proposal that are written out
_PREFIXED = 50  # from so many codes on, groups by how they begin are proposed
_RANGE = re.compile(r"(-?\d{1,18})\s+(?:to|-|until|\.\.)\s+(-?\d{1,18})", re.ASCII)
_FILE = re.compile(r"\S+\.(txt|csv|ya?ml)", re.IGNORECASE)
_PREFIX = re.compile(r"prefix\s+([1-9]\d?)", re.ASCII | re.IGNORECASE)
_FAN = re.compile(r"neighbors(?:\s+(\d{1,4}))?", re.ASCII | re.IGNORECASE)


def item_questions(sketch: ItemSketch, answers: Answers) -> list[Question]:
    """All questions about transactions, as far as they follow from answers so far.

    Example:
        >>> sketch = ItemSketch(title="clicks", labels=["1", "2", "4"], what="clicks.dat")
        >>> [(one.key, one.default) for one in item_questions(sketch, {})][1:3]
        [('universe', '1 to 4'), ('groups', 'neighbors 10')]
    """
    return list(_all(sketch, answers))


def _all(sketch: ItemSketch, answers: Answers) -> Iterator[Question]:
    yield Question(
        key="unit", text=words.ITEMS_UNIT, why=words.WHY_ITEMS_UNIT, default="",
        choices=("no", "yes"),
    )  # fmt: skip
    if sketch.path is not None:
        mark = item_separator(sketch.path)
        default = next((name for name, sign in _SEPARATORS.items() if sign == mark), "space")
        yield Question(
            key="separator", text=words.SEPARATOR, why=words.WHY_SEPARATOR, default=default,
            choices=tuple(_SEPARATORS), from_data=True,
        )  # fmt: skip
    items = sketch.items(_separator(sketch, answers))
    proposed = _proposal(sketch, items)
    yield Question(
        key="universe", text=words.UNIVERSE, why=words.WHY_UNIVERSE, default=proposed,
        from_data=True,
    )  # fmt: skip
    reply = answers.get("universe", proposed)
    if not _tree(reply):
        yield Question(
            key="groups", text=words.ITEM_GROUPS, why=words.WHY_ITEM_GROUPS,
            default=_grouping(_list_items(reply, items)),
        )  # fmt: skip
    yield Question(
        key="max_items", text=words.MAX_ITEMS, why=words.WHY_MAX_ITEMS,
        default=str(min(_LONG, _number(reply, items))),
    )  # fmt: skip
    yield Question(
        key="foreign", text=words.FOREIGN, why=words.WHY_FOREIGN, default="drop",
        choices=("drop", "error"),
    )  # fmt: skip
    yield Question(
        key="empty", text=words.EMPTY, why=words.WHY_EMPTY, default="drop",
        choices=("drop", "dummy"),
    )  # fmt: skip
    kept = " (The items are as they were read off the data.)" if reply == proposed else ""
    text = f"{words.sign(0)}{kept}"
    yield Question(key="reviewer", text=text, why=words.WHY_SIGN, default=NOBODY)


def accept_item(sketch: ItemSketch, question: Question, reply: str) -> str:
    """The answer to keep for what a person replied; nothing means the proposal.

    Raises:
        UsageError: If the reply is not an answer, with what to write instead.
    """
    text = reply.strip() or question.default
    if question.key == "unit" and not text:
        raise UsageError("Nothing is proposed here.", hint=words.TYPE_UNIT)
    if question.choices:
        answer = accept_choice(question, text)
        if (question.key, answer) == ("unit", "yes"):
            raise UsageError(
                "Then a record is not a person, and a release would protect one record only.",
                hint="Put all items of a person into one record first. Or make a table with one "
                "row for each item of a person, and name its columns in a schema: `unit: person`, "
                "and `person:` and `item:` below `items:` (docs/schema.md).",
            )
        return answer
    number = text.casefold() == "all" or (text.isdecimal() and 1 <= int(text) <= 10**6)
    if question.key == "max_items" and not number:
        raise UsageError("This is not a number of items.", hint="Write a number, or all.")
    if question.key == "universe" and text != _SEEN:
        _check_universe(text)
    if question.key == "groups" and not (_FAN.fullmatch(text) or _PREFIX.fullmatch(text)):
        raise UsageError(
            "This does not say how items are grouped.",
            hint="Write neighbors 10, prefix 2, or go back and name a file with a taxonomy.",
        )
    if question.key == "groups" and (fan := _FAN.fullmatch(text)) and int(fan[1] or 2) < 2:
        raise UsageError("A group has at least two members.", hint="Write neighbors 10.")
    return text


def write_items(sketch: ItemSketch, answers: Answers, today: datetime.date) -> str:
    r"""The text of the schema file that answers make; a draft until somebody has signed it.

    Example:
        >>> sketch = ItemSketch(title="clicks", labels=["1", "2", "4"], what="clicks.dat")
        >>> text = write_items(sketch, {"universe": "1 to 9"}, datetime.date(2026, 1, 31))
        >>> print(text[text.index("\nitems:") + 1:], end="")
        items:
          universe: {range: [1, 9]}
          fan_out: 10
          foreign: drop
          empty: drop
          max_items: 9
    """
    asked = item_questions(sketch, answers)
    said = {one.key: answers.get(one.key, one.default) for one in asked}
    signed = all(one.key in answers for one in asked) and said["reviewer"] != NOBODY
    unit = "row" if said["unit"] == "no" else NO_UNIT
    lines = head_lines(sketch.title, unit, said["reviewer"] if signed else "", today)
    lines.append("items:")
    lines += [] if sketch.column is None else [f"  column: {sketch.column}"]
    separator = _separator(sketch, answers)
    lines += [] if separator == " " else [f"  separator: {json.dumps(separator)}"]
    lines += _write_groups(sketch, said)
    lines += [f"  {key}: {said[key]}" for key in ("foreign", "empty")]
    if said["max_items"].casefold() != "all":
        lines.append(f"  max_items: {said['max_items']}")
    return (SIGNED if signed else ITEMS_PREFACE) + "\n".join(lines) + "\n"


def _separator(sketch: ItemSketch, answers: Answers) -> str:
    if sketch.path is None:
        return " "
    name = answers.get("separator")
    return (item_separator(sketch.path) or " ") if name is None else _SEPARATORS[name]


def _proposal(sketch: ItemSketch, items: Sequence[str]) -> str:
    try:
        universe = universe_of(items, sketch.what)
    except DataError:  # nobody could look through them: a file must be named
        return ""
    if isinstance(universe, range):
        return f"{universe.start} to {universe.stop - 1}"
    return join(items) if len(items) <= _SHOWN else _SEEN


def _tree(reply: str) -> bool:
    """Whether a file is named that says itself how items are grouped."""
    return bool(_FILE.fullmatch(reply)) and not reply.casefold().endswith(".txt")


def _list_items(reply: str, items: Sequence[str]) -> Sequence[str]:
    """The items of a reply that lists them."""
    if reply == _SEEN:
        return items
    return [] if _RANGE.fullmatch(reply) or _FILE.fullmatch(reply) else split(reply)


def _number(reply: str, items: Sequence[str]) -> int:
    """How many items a reply says there are; of a file nobody knows, so it is many."""
    if ends := _RANGE.fullmatch(reply):
        return max(1, int(ends[2]) - int(ends[1]) + 1)
    return len(_list_items(reply, items)) or _LONG


def _grouping(items: Sequence[str]) -> str:
    """How items are proposed to be grouped: codes of one length by how they begin."""
    alike = {len(item) for item in items}
    codes = len(items) >= _PREFIXED and len(alike) == 1 and not any(" " in item for item in items)
    return f"prefix {max(1, alike.pop() // 2)}" if codes else f"neighbors {DEFAULT_FAN_OUT}"


def _check_universe(text: str) -> None:
    """Refuses a reply that does not say which items there could be."""
    hint = "Write 1 to 500, all items (a, b, c), or a file: items.txt, or a taxonomy (groups.yaml)."
    ends = _RANGE.fullmatch(text)
    if not text:
        raise UsageError(
            "Nothing is proposed here: there are too many items, or few records have each.",
            hint=hint,
        )
    if not ends and _FILE.fullmatch(text):
        return
    wrong = range_fault(int(ends[1]), int(ends[2])) if ends else labels_fault(split(text))
    if wrong is not None:
        raise UsageError(f"{wrong[0][:1].upper()}{wrong[0][1:]}.", hint=hint)


def _write_groups(sketch: ItemSketch, said: Mapping[str, str]) -> list[str]:
    """The lines about the universe and its tree."""
    reply = said["universe"]
    if _tree(reply):
        return [f"  taxonomy: {json.dumps(reply, ensure_ascii=False)}"]
    items = _list_items(reply, sketch.items(_separator(sketch, said)))
    prefix = _PREFIX.fullmatch(said["groups"])
    if prefix and items:
        groups: dict[str, list[str]] = {}
        for item in items:
            groups.setdefault(f"{item[: int(prefix[1])]}...", []).append(item)
        lines = ["  taxonomy:"]
        for name, below in groups.items():
            members = ", ".join(json.dumps(one, ensure_ascii=False) for one in below)
            lines.append(f"    {json.dumps(name, ensure_ascii=False)}: [{members}]")
        return lines
    fan = _FAN.fullmatch(said["groups"])
    fan_out = f"  fan_out: {(fan and fan[1]) or DEFAULT_FAN_OUT}"
    if ends := _RANGE.fullmatch(reply):
        return [*universe_lines(range(int(ends[1]), int(ends[2]) + 1)), fan_out]
    if _FILE.fullmatch(reply):
        return [f"  universe: {json.dumps(reply, ensure_ascii=False)}", fan_out]
    return [*universe_lines(items), fan_out]


# The text of a schema file that answers make.


@dataclass(frozen=True, kw_only=True)
class Interview:
    """Questions about private data, and the schema that their answers make.

    Args:
        names: What the data consists of; answers about other data are not used.
        questions: All questions that follow from some answers.
        accept: The answer to keep for a reply; raises a UsageError if it is none.
        remark: What a person should hear about an answer; mostly nothing.
        text: The schema file that answers make on a day.
        rare: Values by column that few rows or people have, by the answers. NOT PRIVATE.
    """

    names: list[str]
    questions: Callable[[Answers], list[Question]]
    accept: Callable[[Question, str], str]
    remark: Callable[[Question, str], str]
    text: Callable[[Answers, datetime.date], str]
    rare: Callable[[Answers], Mapping[str, Sequence[str]]] = lambda _: {}


def interview_of(
    sketch: Sketch | ItemSketch, recount: Callable[[str], Sketch | ItemSketch] | None = None
) -> Interview:
    """The questions about a table or about transactions.

    Args:
        sketch: What was read off the data.
        recount: Reads it again for proposals that enough people have, given the column that tells
            them apart; needed wherever somebody can name another column than the sketch guessed.
    """
    if isinstance(sketch, ItemSketch):
        return Interview(
            names=[sketch.what],
            questions=partial(item_questions, sketch),
            accept=partial(accept_item, sketch),
            remark=remark,
            text=partial(write_items, sketch),
        )

    @cache
    def count_by(person: str) -> Sketch:
        again = recount(person) if recount and person else sketch
        assert isinstance(again, Sketch)
        return again

    def now(answers: Answers) -> Sketch:
        return count_by(uncounted_person(sketch, answers))

    return Interview(
        names=[column.name for column in sketch.columns],
        questions=lambda answers: questions(now(answers), answers),
        accept=partial(accept, sketch),
        remark=remark,
        text=lambda answers, today: write_schema(now(answers), answers, today),
        rare=lambda answers: now(answers).rare,
    )


def sign_schema(interview: Interview, answers: Answers, today: datetime.date, path: Path) -> str:
    """The text of the schema file that answers make, with the fingerprint of what was signed.

    Nobody can have looked at all of a schema that cannot be read yet, because a file with a
    taxonomy is missing: such a text is a draft, whoever was ready to sign it.

    Args:
        interview: The questions.
        answers: Their answers.
        today: The date of the sign-off.
        path: The file that it will be; taxonomies may stand beside it.
    """
    from hedgerow.schema.build import load_schema  # slow to import

    text = interview.text(answers, today)
    try:
        schema = load_schema(path, text)
    except SchemaError:
        return interview.text({**answers, "reviewer": NOBODY}, today)
    signed = re.sub(
        r"(?m)^  reviewed: .*$", rf"\g<0>\n  signed: {schema.fingerprint}", text, count=1
    )
    return text if schema.is_draft else signed


def write_schema(sketch: Sketch, answers: Answers, today: datetime.date) -> str:
    """The text of the schema file that answers make.

    It is marked as a draft, which `publish` refuses, until all questions are answered and a person
    has signed that all answers are public knowledge.

    Args:
        sketch: What was read off private data.
        answers: The answers by the keys of their questions; proposals stand for others.
        today: The date of the sign-off.

    Example:
        >>> import pyarrow as pa
        >>> from hedgerow.draft.draft import sketch_table
        >>> sketch = sketch_table(pa.table({"age": [17, 40], "ill": ["yes", "no"]}))
        >>> text = write_schema(sketch, {"unit": "no"}, datetime.date(2026, 1, 31))
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
    settled = settle(sketch, answers)
    unit = {"no": "row", "yes": "person"}.get(answers.get("unit", ""), NO_UNIT)
    lines = head_lines(sketch.title, unit, reviewer if signed else "", today)
    lines += [*file_lines(sketch.written), "attributes:"]
    for column in sketch.columns:
        becomes = settled[column.name]
        why = column.guess.remark if becomes.published else reason(column)
        lines += entry(column.name, becomes, "" if signed else why)
    lines += sketch.tables_lines()
    return (SIGNED if signed else PREFACE) + "\n".join(lines) + "\n"
