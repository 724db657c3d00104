"""The questions that lead from private data to a schema, and the schema that answers make."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from hedgerow.draft.draft import (
    ITEMS_PREFACE,
    NO_UNIT,
    PREFACE,
    SIGNED,
    Column,
    ItemSketch,
    Sketch,
    as_values,
    entry,
    families,
    file_lines,
    item_separator,
    quote,
    universe_lines,
    universe_of,
)
from hedgerow.draft.guess import Guess, is_date
from hedgerow.draft.replies import (
    Values,
    complete_groups,
    is_labeled,
    join,
    omissions,
    read_bounds,
    read_names,
    read_values,
    revise,
    split,
)
from hedgerow.errors import DataError, SchemaError, UsageError
from hedgerow.schema.items import DEFAULT_FAN_OUT, labels_fault, range_fault

# The questions that lead from private data to a schema.
#
# There is no terminal in it: `questions` gives all questions that follow from the answers so far,
# and whoever asks (the command, a page) puts each answer under its question's key. Proposals are
# read off PRIVATE data, so questions and answers are for the holder of the data alone.


Answers = Mapping[str, str]

_SHOWN = 4  # names of columns that are alike
_GROUPED = 12  # more values than this are asked about groups
_MANY = 12  # columns that are alike, from which regions had better not be divided by them
_TOLD = 10  # values in a remark
NOBODY = "nobody"
NO_COLUMN = "none"


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question.

    Args:
        key: Under which its answer is kept.
        text: The question.
        why: What a person should know to answer it.
        default: The answer that is proposed.
        choices: The only answers there are; none if others are possible.
        told: What choices mean, where they do not say it themselves.
        notes: What a person should know about single columns.
        columns: The columns it is about; none for the whole table.
        from_data: Whether the proposal was read off private data.
        listed: What it is about: columns, dates or values, which may be those in the data.
        stops: Choices that lead no further: why, and what to do.
    """

    key: str
    text: str
    why: str = ""
    default: str
    choices: tuple[str, ...] = ()
    told: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    from_data: bool = False
    listed: tuple[str, ...] = ()
    stops: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def explained(self) -> str:
        """Everything a person should know to answer it, as text."""
        choices = [f"{one}: {self.told[one]}." for one in self.choices if one in self.told]
        alone = len(self.columns) == 1
        notes = [one if alone else f"{name}: {one}" for name, one in self.notes.items()]
        return "\n".join(filter(None, [" ".join(filter(None, [self.why, *choices])), *notes]))


# What the questions say.


PUBLIC = (
    "A schema is published with every release. If its bounds and values were those of the data, "
    "they would tell who has the lowest and highest of them. So they must be what anybody could "
    "have written who never saw the data: from a form, a law or a code book."
)
TYPE_UNIT = (
    "Write yes or no. You alone can know it, and all that a release promises depends on it; ? "
    "explains."
)
HOW_TO_DROP = "Write all names, or changes to the list: +name, -name. All columns: {names}."
_NOBODY_TOLD = (
    "If people have several rows and nothing tells whose they are, no release of this table can "
    "protect a person: it would protect single rows, and somebody with k of them k times less than "
    "epsilon says."
)
_HOW_TO_TELL = (
    "Ask who made the table for a column that tells people apart (a pseudonym is enough, it is not "
    "published), or for a table with one row for each person, and begin anew. Otherwise name the "
    "column here; back returns to the question before."
)
_LEFT_OUT = (
    "In the data, and not in your answer: {values}. They are outside the list; back returns."
)
_RULES = {
    "drop": "the row is left out",
    "error": "nothing is published as long as there is one",
    "each": "ask for every column",
}
_MISSING_RULES = {
    "other": "they become a value of their own, in columns where they can occur",
    "everywhere": "the same, and every column may have them",
    **_RULES,
}
_OUTSIDE_RULES = {
    "clip": "a number or date becomes the nearer bound; it is for these only, so a value that is "
    "not in a list is an error, or other where the proposed list leaves some out",
    "other": "it becomes a value of its own",
    **_RULES,
}
_KINDS = {
    "number": "published in ranges",
    "date": "the same for days",
    "values": "a list of texts or codes, or groups of them",
    "drop": "not published",
}
_WHY_BOUNDS = (
    f"{PUBLIC} Values are rounded down to steps. A proposal was read off the data: accept it only "
    "if it is what you would have written anyway, else widen it."
)
# Questions, and what a person should know to answer them, by the beginnings of their keys.
_TEXTS = {
    "unit": (
        "Can one person have several rows in this table?",
        "A release protects one unit: a row, or a person with all of their rows. Nothing in the "
        "data can show which it is. If a person has k rows and you answer no, they are protected k "
        "times less than epsilon says.",
    ),
    "person": (
        "Which column identifies people?",
        "It holds the same value in all rows of a person, and is not published.",
    ),
    "max_rows": (
        "How many rows of one person count at most?",
        "Further rows of the same person are left out. A larger number keeps more rows and needs "
        "more noise. Choose it from public knowledge, not by counting.",
    ),
    "class": (
        "Which column should a release help to predict?",
        "Every other column is then counted together with it, so a release says most about it.",
    ),
    "drop": (
        "Which columns are dropped?",
        "What identifies people, and what says nothing, is not published.",
    ),
    "missing": ("What happens to missing values?", ""),
    "outside": (
        "What happens to a value outside the bounds (clip: numbers only), or not in the list?", "",
    ),
    "together": (
        "{columns}: ask about them at once?",
        "They have the same values, or some of these. One answer then holds for all of them.",
    ),
    "kind": ("{columns}: what {are_they}?", ""),
    "numbers": ("{columns}: between which numbers, by public knowledge?", _WHY_BOUNDS),
    "dates": ("{columns}: between which days, by public knowledge?", _WHY_BOUNDS),
    "format": (
        "How are the dates written?",
        "%d is the day, %m the month, %Y the year, %b the month's name.",
    ),
    "values": (
        "{columns}: which values can there be, by public knowledge?",
        f"{PUBLIC} Write all values there could be, also those that nobody has: a, b, c; or what "
        "is to change in the proposal: +c, -a. Codes can have labels: 1 = home, 2 = ward. Groups: "
        "North: a, b; South: c, d. Or name a list that comes with hedgerow (icd-9-cm, icd-10-cm, "
        "countries, us-states, nace-2, age-bands), or a file with a taxonomy beside the schema.",
    ),
    "groups": (
        "Do its values have groups?",
        "Groups of values make better releases than a long list. Write North: a, b; South: *, "
        "where * means all other values, or name a list or a file with a taxonomy.",
    ),
    "split": (
        "May regions be divided by them?",
        "Where many columns say little each, regions that are divided by them are hard to read. "
        "They are counted in any case, and synthetic records have them. `together` makes a group "
        "of them: when a division is chosen they count as one attribute, and reports name the "
        "group.",
    ),
    "group": (
        "What are they called together?",
        "A public name for all of them, such as medications. Reports and pages use it.",
    ),
    "unit of items": (
        "Can one person have several records in this data?",
        "A release protects one record. Nothing in the data can show whose it is. If a person has "
        "k records and you answer no, they are protected k times less than epsilon says.",
    ),
    "separator": (
        "What separates the items of a line?", "A space stands for any number of spaces and tabs.",
    ),
    "universe": (
        "Which items could there be, by public knowledge?",
        f"{PUBLIC} Write a range of numbers (1 to 500), all items (a, b, c), a file with one item "
        "in each line (items.txt), or a file with a taxonomy of them (groups.yaml, groups.csv). "
        "Items in a catalog that nobody has belong to it, too. Their order matters: neighbors are "
        "grouped.",
    ),
    "groups of items": (
        "How are items grouped?",
        "Methods split groups of items, so groups that mean something make better releases. "
        "neighbors 10: ten neighbors in the order of the items. prefix 2: items whose first two "
        "characters are the same, as in codes. For groups of your own, go back and name a file "
        "with a taxonomy.",
    ),
    "max_items": (
        "How many items of one record count at most?",
        "Of longer records a public rule keeps as many, and the rest is lost. all: no limit, which "
        "is best: the method gives items of long records less weight and corrects for that.",
    ),
    "foreign": (
        "What happens to items that are not in the universe?",
        "drop: they are left out. error: nothing is published as long as there is one.",
    ),
    "empty": (
        "What happens to records without items?",
        "drop: they are left out. dummy: they are counted, with the item (empty).",
    ),
    "reviewer": (
        "Who confirms that all of this is public knowledge?",
        f"{PUBLIC} With your name the schema is signed off and can be published by. Without it, it "
        "stays a draft, which `hedgerow publish` refuses.",
    ),
}  # fmt: skip


def name_columns(names: Sequence[str]) -> str:
    """Columns by name, as the beginning of a question.

    Example:
        >>> name_columns(["a"]), name_columns(list("abcdef"))
        ('a', '6 columns alike (a, b, c, d, ...)')
    """
    if len(names) == 1:
        return names[0]
    shown = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    return f"{len(names)} columns alike ({shown})"


def ask_reviewer(proposed: int) -> str:
    """Asks for a name, after so many columns were left as the data has them."""
    columns = "1 column" if proposed == 1 else f"{proposed} columns"
    remark = f" ({columns}: bounds or values as they were read off the data.)" if proposed else ""
    return f"{_TEXTS['reviewer'][0]}{remark}"


def ask(
    key: str, default: str, choices: Sequence[str] = (), *, like: str = "", also: str = "",
    **more: Any,
) -> Question:  # fmt: skip
    """A question with its words.

    Args:
        key: Under which its answer is kept.
        default: The answer that is proposed.
        choices: The only answers there are; without them those that are told.
        like: Whose words it has, if not those of its key's beginning.
        also: What the question says besides.
        more: Other arguments of a `Question`.
    """
    text, why = _TEXTS[like or key.partition(" of ")[0]]
    names = more.get("columns", ())
    are_they = "is it" if len(names) == 1 else "are they"
    return Question(
        key=key, text=text.format(columns=name_columns(names or [""]), are_they=are_they) + also,
        default=default, choices=tuple(choices or more.get("told", ())), **{"why": why} | more,
    )  # fmt: skip


def accept(question: Question, reply: str) -> str:
    """The answer to keep for what a person replied; nothing means the proposal.

    Raises:
        UsageError: If the reply is not an answer, with what to write instead.
    """
    text, part = reply.strip() or question.default, question.key.partition(" of ")[0]
    if question.key == "unit" and not text:
        raise UsageError("Nothing is proposed here.", hint=TYPE_UNIT)
    if question.choices:
        answer = accept_choice(question, text)
        if answer in question.stops:
            why, way = question.stops[answer]
            raise UsageError(why, hint=way)
        return answer
    if part == "drop":
        default = read_names(question.default, [], question.listed)
        return join(read_names(text, default, question.listed)) or "none"
    number = text.isdecimal() and 1 <= int(text) <= 10**6
    if part == "max_rows" and not number:
        raise UsageError("This is not a number of rows.", hint="Write a whole number from 1.")
    if part == "max_items" and not (number or text.casefold() == "all"):
        raise UsageError("This is not a number of items.", hint="Write a number, or all.")
    if part in ("numbers", "dates"):
        read_bounds(text, dates=part == "dates")
    if part == "format" and not any(is_date(date, text) for date in question.listed):
        raise UsageError(
            "No value of the data is a date in this format.",
            hint=f"{question.why} For example, {question.default}.",
        )
    if part == "values":
        text = revise(text, question.default)
        read_values(text)
    if part == "universe":
        _check_universe(text)
    if question.key == "groups":
        _check_grouping(text)
    elif part == "groups" and text != "none":
        return complete_groups(text, question.listed)
    return text


def remark(question: Question, answer: str) -> str:
    """What a person should hear about an answer that is accepted; mostly nothing.

    It names values of PRIVATE data, like the proposals.

    Example:
        >>> question = Question(key="values of ward", text="", default="a, b", listed=("a", "b"))
        >>> remark(question, "a, c")
        'In the data, and not in your answer: b. They are outside the list; back returns.'
    """
    if not question.key.startswith("values of "):
        return ""
    gone = omissions(answer, question.listed)
    listing = join(gone[:_TOLD]) + (", ..." if len(gone) > _TOLD else "")
    return _LEFT_OUT.format(values=listing) if gone else ""


def accept_choice(question: Question, text: str) -> str:
    """The one of a question's answers that a reply means, or begins.

    Raises:
        UsageError: If it is none of them, or several.
    """
    fitting = [one for one in question.choices if one.casefold() == text.casefold()]
    begun = [one for one in question.choices if one.casefold().startswith(text.casefold())]
    fits = fitting or begun
    if question.key.startswith("outside of ") and text.casefold() == "clip" and not fits:
        raise UsageError(
            "clip is for numbers and dates only: a value that is not listed has no nearer one.",
            hint=f"Write one of: {join(question.choices)}.",
        )
    if not text or (len(fits) != 1 and not fitting):
        raise UsageError(
            f"{text!r} is not one of the answers.", hint=f"Write one of: {join(question.choices)}."
        )
    return fits[0]


def questions(sketch: Sketch | ItemSketch, answers: Answers) -> list[Question]:
    """All questions, as far as they follow from the sketch and from answers so far.

    Example:
        >>> import pyarrow as pa
        >>> from hedgerow.draft.draft import sketch_table
        >>> sketch = sketch_table(pa.table({"age": [17, 40], "ill": ["yes", "no"]}))
        >>> [question.key for question in questions(sketch, {})][:4]
        ['unit', 'class', 'drop', 'missing']
        >>> questions(sketch, {"unit": "no"})[3].default
        'error'
    """
    if isinstance(sketch, ItemSketch):
        return list(_about_items(sketch, answers))
    asked, published = list(_whole(sketch, answers)), published_columns(sketch, answers)
    for family in families(published):
        if len(family) > 1:
            names = tuple(column.name for column in family)
            key = f"together of {names[0]}"
            asked.append(ask(key, "yes", ("yes", "no"), columns=names, from_data=True))
        for group in split_family(family, answers):
            asked += _about(group, answers, len(published))
    kept = [
        name for one in asked
        if one.key.startswith(("numbers of", "dates of", "values of"))
        and answers.get(one.key) == one.default
        for name in one.columns
    ]  # fmt: skip
    why = _TEXTS["reviewer"][1] + (f" As they were proposed: {join(kept)}." if kept else "")
    asked.append(Question(key="reviewer", text=ask_reviewer(len(kept)), why=why, default=NOBODY))
    return asked


def _whole(sketch: Sketch, answers: Answers) -> Iterator[Question]:
    """The questions about the whole table."""
    names = tuple(column.name for column in sketch.columns)
    person, target = sketch.role("person"), sketch.role("class")
    who = "" if person is None else person.name
    notes = {} if person is None else {who: reason(person)}
    yield ask("unit", "", ("yes", "no"), notes=notes)
    if answers.get("unit") == "yes":
        told = {NO_COLUMN: _NOBODY_TOLD.rstrip(".")}
        stops = {NO_COLUMN: (_NOBODY_TOLD, _HOW_TO_TELL)}
        yield ask("person", who, (*names, NO_COLUMN), told=told, stops=stops, from_data=True)
        yield ask("max_rows", "3")
    if able := [column.name for column in sketch.columns if column.has_classes]:
        default = "none" if target is None else target.name
        yield ask("class", default, (*able, "none"), from_data=True)
    dropped = _propose_dropping(sketch, answers)
    notes = {one.name: reason(one) for one in sketch.columns if one.name in dropped}
    yield ask("drop", join(dropped) or "none", notes=notes, listed=names, from_data=True)
    gaps = [column.name for column in sketch.columns if "missing" in (column.guess.settings or {})]
    seen = f" They were seen in {join(gaps)}." if gaps else " None were seen."
    default = "other" if gaps else "error"
    yield ask("missing", default, also=seen, told=_MISSING_RULES, from_data=True)
    yield ask("outside", "clip", told=_OUTSIDE_RULES)


def _propose_dropping(sketch: Sketch, answers: Answers) -> list[str]:
    """The columns that are proposed to be dropped; one among columns that are alike stays."""
    used = {answers.get("person"), answers.get("class")}
    alike = {one.name for group in families(sketch.columns) if len(group) > 1 for one in group}
    person = answers.get("unit", "yes") == "yes"
    return [
        column.name for column in sketch.columns
        if column.name not in used and column.name not in alike
        and (column.dropped or (column.role == "person" and not person))
    ]  # fmt: skip


def uncounted_person(sketch: Sketch, answers: Answers) -> str:
    """The column that was named as the person's, if proposals are not counted by it yet; or ""."""
    known = sketch.role("person")
    who = answers.get("person", "") if answers.get("unit") == "yes" else ""
    return "" if who == NO_COLUMN or (known is not None and who == known.name) else who


def reason(column: Column) -> str:
    """Why a column is proposed to be dropped."""
    guess = column.guess
    if guess.useless:
        return f"{guess.useless[:1].upper()}{guess.useless[1:]}."
    return guess.comment or "It seems to identify people."


def published_columns(sketch: Sketch, answers: Answers) -> list[Column]:
    """The columns that are published, and the class among them."""
    names = [column.name for column in sketch.columns]
    default = _propose_dropping(sketch, answers)
    gone = set(read_names(answers["drop"], [], names) if "drop" in answers else default)
    person, target = sketch.role("person"), sketch.role("class")
    if answers.get("unit", "yes") == "yes":  # until it is answered, whom it seems to be
        gone.add(answers.get("person", "" if person is None else person.name))
    chosen = answers.get("class", "none" if target is None else target.name)
    return [
        replace(one, role="class", guess=as_values(one.guess)) if one.name == chosen
        else replace(one, role=None)
        for one in sketch.columns if one.name not in gone
    ]  # fmt: skip


def split_family(family: list[Column], answers: Answers) -> list[list[Column]]:
    """Columns that are alike, in groups for which each question is asked once."""
    apart = answers.get(f"together of {family[0].name}") == "no"
    return [[column] for column in family] if apart else [family]


def kind_of(guess: Guess) -> str:
    """The kind of a column, as a proposal."""
    if guess.settings is None or guess.type != "numeric":
        return "values"
    return "date" if "-" in guess.settings["low"][1:] else "number"


def _about(group: list[Column], answers: Answers, published: int) -> Iterator[Question]:
    """The questions about a column, or about several that are alike."""
    column, guess = group[0], group[0].guess
    name, settings, kind = column.name, guess.settings or {}, kind_of(guess)
    here: dict[str, Any] = {"columns": tuple(one.name for one in group)}
    seen = here | {"from_data": True}
    if column.role is None:
        notes = {name: guess.comment} if guess.comment else {}
        yield ask(f"kind of {name}", kind, told=_KINDS, notes=notes, **seen)
        kind = answers.get(f"kind of {name}", kind)
    same = kind == kind_of(guess)
    if kind in ("number", "date"):
        default = "{low} to {high} step {step}".format(**settings) if same else ""
        notes = {one.name: one.guess.warning for one in group if same and one.guess.warning}
        yield ask(f"{kind}s of {name}", default, notes=notes, **seen)
        if "format" in settings and kind == "date":
            dates = tuple(date for one in group for date in one.guess.dates)
            yield ask(f"format of {name}", json.loads(settings["format"]), listed=dates, **seen)
    if kind == "values":
        default = _values_default(guess)
        yield ask(f"values of {name}", default, listed=(*guess.labels, *guess.recode), **seen)
        reply = answers.get(f"values of {name}", default)
        labels = tuple(read_values(reply).labels) if reply else ()
        if column.role is None and len(labels) > _GROUPED:
            yield ask(f"groups of {name}", "none", listed=labels, **here)
    if kind != "drop" and len(group) > 1:
        default = "no" if _MANY <= len(group) <= 0.75 * published else "yes"
        yield ask(f"split of {name}", default, ("yes", "together", "no"), **here)
        if answers.get(f"split of {name}") == "together":
            yield ask(f"group of {name}", f"like {name}", **here)
    if kind in ("number", "date", "values"):
        rules: tuple[str, ...] = ("error", "other", "drop")
        if answers.get("missing") == "each":
            default = settings.get("missing", "error")
            yield ask(f"missing of {name}", default, rules, told=_MISSING_RULES, **seen)
        rule = answers.get("outside", "clip")
        far = same and any(one.guess.far for one in group)
        if rule == "each" or (rule == "clip" and far):
            default = settings.get("outside", "clip")
            if kind == "values":
                default = "error"
            else:
                rules = ("clip", *rules)
            yield ask(f"outside of {name}", default, rules, told=_OUTSIDE_RULES, **here)


def _values_default(guess: Guess) -> str:
    taxonomy = (guess.settings or {}).get("taxonomy")
    if taxonomy is not None or not (guess.recode or any(map(is_labeled, guess.labels))):
        return taxonomy or join(guess.labels)
    pairs = {label: label for label in guess.labels} | dict(guess.recode)
    return join([f"{rule} = {leaf}" for rule, leaf in pairs.items()])


# What every column becomes by the answers to the questions of a draft.


def _settle(sketch: Sketch, answers: Answers, said: Answers) -> dict[str, Guess]:
    """What every column is by the answers; in `said` proposals stand for those not there."""
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


_SEVERAL_RECORDS = (
    "Then a record is not a person, and a release would protect one record only.",
    "Put all items of a person into one record first. Or make a table with one row for each item "
    "of a person, and name its columns in a schema: `unit: person`, and `person:` and `item:` "
    "below `items:` (docs/schema.md).",
)
_SEPARATORS = {"space": " ", "comma": ",", "semicolon": ";", "bar": "|", "tab": "\t"}
_SEEN = "all that were seen"
_LONG = 20  # items of one record that are proposed to count
_WRITTEN_OUT = 40  # items of a proposal that are written out
_PREFIXED = 50  # from so many codes on, groups by how they begin are proposed
_RANGE = re.compile(r"(-?\d{1,18})\s+(?:to|-|until|\.\.)\s+(-?\d{1,18})", re.ASCII)
_ITEM_FILE = re.compile(r"\S+\.(txt|csv|ya?ml)", re.IGNORECASE)
_PREFIX = re.compile(r"prefix\s+([1-9]\d?)", re.ASCII | re.IGNORECASE)
_FAN = re.compile(r"neighbors(?:\s+(\d{1,4}))?", re.ASCII | re.IGNORECASE)


def _about_items(sketch: ItemSketch, answers: Answers) -> Iterator[Question]:
    """All questions about transactions, as far as they follow from answers so far.

    Example:
        >>> sketch = ItemSketch(title="clicks", labels=["1", "2", "4"], what="clicks.dat")
        >>> [(one.key, one.default) for one in questions(sketch, {})][1:3]
        [('universe', '1 to 4'), ('groups', 'neighbors 10')]
    """
    yield ask("unit", "", ("no", "yes"), like="unit of items", stops={"yes": _SEVERAL_RECORDS})
    if sketch.path is not None:
        mark = item_separator(sketch.path)
        default = next((name for name, sign in _SEPARATORS.items() if sign == mark), "space")
        yield ask("separator", default, tuple(_SEPARATORS), from_data=True)
    items = sketch.items(_separator(sketch, answers))
    proposed = _propose_universe(sketch, items)
    yield ask("universe", proposed, from_data=True)
    reply = answers.get("universe", proposed)
    universe = _read_universe(reply, items)
    number = 0 if isinstance(universe, str) else len(universe)
    if not _has_tree(universe):
        yield ask("groups", _propose_grouping(universe), like="groups of items")
    yield ask("max_items", str(min(_LONG, number or _LONG)))
    yield ask("foreign", "drop", ("drop", "error"))
    yield ask("empty", "drop", ("drop", "dummy"))
    kept = " (The items are as they were read off the data.)" if reply == proposed else ""
    yield ask("reviewer", NOBODY, also=kept)


def _separator(sketch: ItemSketch, answers: Answers) -> str:
    if sketch.path is None:
        return " "
    name = answers.get("separator")
    return (item_separator(sketch.path) or " ") if name is None else _SEPARATORS[name]


def _propose_universe(sketch: ItemSketch, items: Sequence[str]) -> str:
    try:
        universe = universe_of(items, sketch.what)
    except DataError:  # nobody could look through them: a file must be named
        return ""
    if isinstance(universe, range):
        return f"{universe.start} to {universe.stop - 1}"
    return join(items) if len(items) <= _WRITTEN_OUT else _SEEN


def _read_universe(reply: str, seen: Sequence[str]) -> range | Sequence[str] | str:
    """The items of a reply: a range, a list, or the name of a file."""
    if ends := _RANGE.fullmatch(reply):
        return range(int(ends[1]), int(ends[2]) + 1)
    if reply == _SEEN:
        return seen
    return reply if _ITEM_FILE.fullmatch(reply) else split(reply)


def _has_tree(universe: range | Sequence[str] | str) -> bool:
    """Whether a file is named that says itself how items are grouped."""
    return isinstance(universe, str) and not universe.casefold().endswith(".txt")


def _propose_grouping(universe: range | Sequence[str] | str) -> str:
    """How items are proposed to be grouped: codes of one length by how they begin."""
    items = [] if isinstance(universe, range | str) else universe
    alike = {len(item) for item in items}
    codes = len(items) >= _PREFIXED and len(alike) == 1 and not any(" " in item for item in items)
    return f"prefix {max(1, alike.pop() // 2)}" if codes else f"neighbors {DEFAULT_FAN_OUT}"


def _check_universe(text: str) -> None:
    """Refuses a reply that does not say which items there could be."""
    hint = "Write 1 to 500, all items (a, b, c), or a file: items.txt, or a taxonomy (groups.yaml)."
    if not text:
        what = "Nothing is proposed here: there are too many items, or few records have each."
        raise UsageError(what, hint=hint)
    universe = _read_universe(text, ["seen"])
    wrong = None
    if isinstance(universe, range):
        wrong = range_fault(universe.start, universe.stop - 1)
    elif not isinstance(universe, str):
        wrong = labels_fault(list(universe))
    if wrong is not None:
        raise UsageError(f"{wrong[0][:1].upper()}{wrong[0][1:]}.", hint=hint)


def _check_grouping(text: str) -> None:
    fan = _FAN.fullmatch(text)
    if not (fan or _PREFIX.fullmatch(text)):
        raise UsageError(
            "This does not say how items are grouped.",
            hint="Write neighbors 10, prefix 2, or go back and name a file with a taxonomy.",
        )
    if fan and int(fan[1] or 2) < 2:
        raise UsageError("A group has at least two members.", hint="Write neighbors 10.")


def _write_items(sketch: ItemSketch, said: Answers) -> list[str]:
    """The lines about items."""
    separator = _separator(sketch, said)
    universe = _read_universe(said["universe"], sketch.items(separator))
    lines = ["items:", *sketch.lines(separator)]
    prefix = None if isinstance(universe, range | str) else _PREFIX.fullmatch(said["groups"])
    if _has_tree(universe):
        lines.append(f"  taxonomy: {quote(said['universe'])}")
    elif prefix and universe:
        groups: dict[str, list[str]] = {}
        for item in map(str, universe):
            groups.setdefault(f"{item[: int(prefix[1])]}...", []).append(quote(item))
        lines.append("  taxonomy:")
        lines += [f"    {quote(name)}: [{', '.join(below)}]" for name, below in groups.items()]
    else:
        fan = _FAN.fullmatch(said["groups"])
        if isinstance(universe, str):
            lines.append(f"  universe: {quote(universe)}")
        else:
            lines += universe_lines(universe)
        lines.append(f"  fan_out: {(fan and fan[1]) or DEFAULT_FAN_OUT}")
    lines += [f"  {key}: {said[key]}" for key in ("foreign", "empty")]
    if said["max_items"].casefold() != "all":
        lines.append(f"  max_items: {said['max_items']}")
    return lines


# The text of a schema file that answers make.


class Interview:
    """Questions about private data, and the schema that their answers make.

    Args:
        first: What was read off the data.
        recount: Reads it again for proposals that enough people have, given the column that tells
            them apart; needed wherever somebody can name another column than the sketch guessed.
    """

    def __init__(
        self,
        first: Sketch | ItemSketch,
        recount: Callable[[str], Sketch | ItemSketch] | None = None,
    ) -> None:
        self._first, self._recount = first, cache(recount) if recount else None
        if isinstance(first, ItemSketch):
            self.names = [first.what]  # answers about other data are not used
        else:
            self.names = [column.name for column in first.columns]

    def sketch(self, answers: Answers) -> Sketch | ItemSketch:
        """What was read off the data, counted by the person that answers name."""
        first = self._first
        person = "" if isinstance(first, ItemSketch) else uncounted_person(first, answers)
        return self._recount(person) if person and self._recount else first

    def questions(self, answers: Answers) -> list[Question]:
        """All questions that follow from some answers."""
        return questions(self.sketch(answers), answers)

    def text(self, answers: Answers, today: datetime.date) -> str:
        """The schema file that answers make on a day."""
        return write_schema(self.sketch(answers), answers, today)

    def rare(self, answers: Answers) -> Mapping[str, Sequence[str]]:
        """Values by column that few rows or people have, by the answers. NOT PRIVATE."""
        sketch = self.sketch(answers)
        return {} if isinstance(sketch, ItemSketch) else sketch.rare


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


def write_schema(sketch: Sketch | ItemSketch, answers: Answers, today: datetime.date) -> str:
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
    asked = questions(sketch, answers)
    said = {one.key: answers.get(one.key, one.default) for one in asked}
    signed = all(one.key in answers for one in asked) and said["reviewer"] != NOBODY
    items = isinstance(sketch, ItemSketch)
    unit = {"no": "row", "yes": NO_UNIT if items else "person"}.get(said["unit"], NO_UNIT)
    lines = [f"name: {sketch.title}", f"unit: {unit}", *([] if signed else ["draft: true"])]
    lines.append("began_as_draft: true")
    if signed:
        lines += ["metadata:", f"  reviewer: {quote(said['reviewer'])}"]
        lines.append(f"  reviewed: {today.isoformat()}")
    if isinstance(sketch, ItemSketch):
        lines += _write_items(sketch, said)
    else:
        lines += [*file_lines(sketch.written), "attributes:"]
        settled = _settle(sketch, answers, said)
        for column in sketch.columns:
            becomes = settled[column.name]
            why = column.guess.remark if becomes.published else reason(column)
            lines += entry(column.name, becomes, "" if signed else why)
        lines += sketch.tables_lines()
    preface = ITEMS_PREFACE if items else PREFACE
    return (SIGNED if signed else preface) + "\n".join(lines) + "\n"
