"""The questions that lead from private data to a schema, and what replies to them mean."""

from __future__ import annotations

import csv
import difflib
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hedgerow.draft import words
from hedgerow.draft.draft import Column, Sketch, as_values, families
from hedgerow.draft.guess import Guess, is_date
from hedgerow.errors import UsageError
from hedgerow.schema.attributes import Numeric, read_numeric
from hedgerow.schema.lint import grid_faults, label_fault
from hedgerow.schema.trees import built_in

# Reads what a person replies to a question about a column: bounds, values, groups, names.


_BOUNDS = re.compile(
    r"(?P<low>\S+)\s+(?:to|-|until|\.\.)\s+(?P<high>\S+)(?:,?\s+(?:step|by)\s+(?P<step>\S+))?"
)
_FILE = re.compile(r"\S.*\.(csv|txt|ya?ml|json)", re.IGNORECASE)
_LABELED = re.compile(r"(.*\S)\s+=\s+(\S.*)")
_TIGHT = re.compile(r"([^\s=<>!][^=<>!]*?)\s*=\s*([^\s=][^=]*)")  # F=Female, but not <=50K


@dataclass(frozen=True, kw_only=True)
class Values:
    """The values of a column: listed, or those of a taxonomy that is named or written out."""

    labels: Sequence[str] = ()
    recode: Mapping[str, str] = field(default_factory=dict)
    taxonomy: str = ""
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)


def join(texts: Sequence[str]) -> str:
    """Texts in one line, with quotes where they hold a comma.

    Example:
        >>> join(["a", "b, c"]), split('a, "b, c"')
        ('a, "b, c"', ['a', 'b, c'])
    """
    shown = []
    for text in texts:
        line = io.StringIO()
        csv.writer(line).writerow([text])
        shown.append(line.getvalue().rstrip("\r\n"))
    return ", ".join(shown)


def split(line: str) -> list[str]:
    """The texts of a line: the reverse of `join`."""
    row = next(csv.reader([line], skipinitialspace=True), [])
    return [text.strip() for text in row if text.strip()]


def to_lines(reply: str) -> str:
    r"""A reply about values with a line for each of them, or for each group.

    Example:
        >>> to_lines('a, "b, c"'), from_lines("a\nb, c")
        ('a\nb, c', 'a, "b, c"')
        >>> to_lines("North: a, b; South: c"), from_lines("North: a, b\nSouth: c")
        ('North: a, b\nSouth: c', 'North: a, b; South: c')
    """
    groups = _groups(reply)
    return "\n".join(map(str.strip, groups) if groups else split(reply))


def from_lines(text: str) -> str:
    """The reply that lines stand for: the reverse of `to_lines`. One line is a reply itself."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) < 2:
        return "".join(lines)
    grouped = all(":" in line for line in lines) and any("," in line for line in lines)
    return "; ".join(lines) if grouped else join(lines)


def _groups(text: str) -> list[str]:
    """The groups of a reply such as `North: a, b; South: c`; none if it is another one."""
    parts = text.strip().strip(";").split(";")
    return parts if ";" in text and all(":" in part for part in parts) else []


def read_names(reply: str, default: Sequence[str], known: Sequence[str]) -> list[str]:
    """Some names of columns, in their order: all that are meant, or changes by + and -.

    Raises:
        UsageError: If there is no such column.

    Example:
        >>> read_names("b, c", ["a"], "abc"), read_names("+c, -a", ["a", "b"], "abc")
        (['b', 'c'], ['b', 'c'])
    """
    parts = [] if reply.casefold() == "none" else split(reply)
    changes = [part for part in parts if part not in known and part[:1] in "+-"]
    chosen = {part for part in parts if part not in changes} | (set(default) if changes else set())
    chosen |= {part[1:].strip() for part in changes if part[0] == "+"}
    chosen -= {part[1:].strip() for part in changes if part[0] == "-"}
    for name in [*chosen, *(part[1:].strip() for part in changes)]:
        if name not in known:
            raise UsageError(
                f"There is no column {name!r}.",
                hint='Separate names by commas, and put quotes around one with a comma: a, "b, c".',
            )
    return [name for name in known if name in chosen]


def read_bounds(reply: str, dates: bool) -> dict[str, str]:
    """The keys `low`, `high` and `step` of a reply such as `0 to 120 step 1`.

    Raises:
        UsageError: If it does not say that, or no grid has such bounds.

    Example:
        >>> read_bounds("0 to 120", dates=False)
        {'low': '0', 'high': '120', 'step': '1'}
    """
    match = _BOUNDS.fullmatch(reply.strip())
    example = "2000-01-01 to 2029-12-31 step 7" if dates else "0 to 120 step 1"
    hint = f"Write, for example, {example}."
    if match is None:
        raise UsageError("These are not bounds.", hint=hint)
    numeric = read_numeric("", match.groupdict())
    for _, what, way in grid_faults(numeric) if isinstance(numeric, Numeric) else numeric:
        raise UsageError(f"{what[:1].upper()}{what[1:]}.", hint=way)
    if dates != (isinstance(numeric, Numeric) and numeric.kind == "date"):
        raise UsageError(f"These are not {'dates' if dates else 'numbers'}.", hint=hint)
    return {"low": match["low"], "high": match["high"], "step": match["step"] or "1"}


def read_values(reply: str) -> Values:
    """Values in a list, codes with labels, groups of values, or the name of a taxonomy.

    Raises:
        UsageError: If it is none of these.

    Example:
        >>> read_values("a, b").labels, read_values("1 = home, 2 = ward").recode
        (['a', 'b'], {'1': 'home', '2': 'ward'})
        >>> read_values("F=Female, f=Female").recode
        {'F': 'Female', 'f': 'Female'}
        >>> read_values("icd-9-cm").taxonomy, read_values("North: a, b; South: c").groups
        ('icd-9-cm', {'North': ['a', 'b'], 'South': ['c']})
    """
    text = reply.strip()
    if text in built_in() or _FILE.fullmatch(text):
        return Values(taxonomy=text)
    pairs = [part.partition(":") for part in _groups(text)]
    if pairs:
        groups = {name.strip(): split(below) for name, _, below in pairs}
        _check([*groups, *(label for below in groups.values() for label in below)])
        return Values(groups=groups)
    labels = split(text)
    matches = [_LABELED.fullmatch(label) or _TIGHT.fullmatch(label) for label in labels]
    if any(matches) and not all(matches):
        alone = labels[matches.index(None)]
        raise UsageError(
            f"Some values have labels, and {alone!r} has none.",
            hint=f"Write {alone} = {alone}, or a label for it after the sign.",
        )
    if labels and all(matches):
        recode = {match[1]: match[2] for match in matches if match}
        _check([match[1] for match in matches if match])
        labels = list(dict.fromkeys(recode.values()))
        rules = {rule: leaf for rule, leaf in recode.items() if rule != leaf}
        return Values(labels=labels, recode=rules)
    _check(labels)
    return Values(labels=labels)


def revise(reply: str, default: str) -> str:
    """A reply about values in full, if it only says what changes in the proposal.

    Args:
        reply: What a person wrote: `+x` adds a value or a code with its label, `-x` takes one away.
        default: The proposal. Its own values that begin with a sign are no changes.

    Example:
        >>> revise("+c, -a", "a, b"), revise("+2 = ward", "1 = home"), revise("-1, 1", "-1, 0")
        ('b, c', '1 = home, 2 = ward', '-1, 1')
    """
    known, parts = split(default), split(reply)
    names = [label.partition(" = ")[0] for label in known]
    added = [part[1:].strip() for part in parts if part[0] == "+" and part not in names]
    gone = [part[1:].strip() for part in parts if part[0] == "-" and part[1:].strip() in names]
    if not parts or not known or len(added) + len(gone) < len(parts) or "" in added:
        return reply
    kept = [label for label, name in zip(known, names, strict=True) if name not in gone]
    return join([*kept, *(one for one in added if one not in kept)])


def complete_groups(reply: str, values: Sequence[str]) -> str:
    """A reply about groups in full: each value is in one of them, and `*` means all others.

    Args:
        reply: What a person wrote; a list or a file by name stays what it is.
        values: The values that there are.

    Raises:
        UsageError: If a value is in no group, or something in a group is not a value.

    Example:
        >>> complete_groups("Vowels: a; Others: *", ["a", "b", "c"])
        'Vowels: a; Others: b, c'
    """
    groups = read_values(reply).groups
    if not groups:
        if read_values(reply).taxonomy:
            return reply
        raise UsageError("These are not groups.", hint="Write North: a, b; South: *, or none.")
    listed = [label for below in groups.values() for label in below]
    strange = [label for label in listed if label not in (*values, "*")]
    if strange:
        close = difflib.get_close_matches(strange[0], values, 1)
        meant = f"Did you mean {close[0]!r}? " if close else ""
        raise UsageError(
            f"{strange[0]!r} is not one of the values.",
            hint=f"{meant}Write the values as they were listed; back returns to the list.",
        )
    others = [label for label in values if label not in listed]
    if others and "*" not in listed:
        raise UsageError(
            f"In no group: {join(others)}.",
            hint="Put them into one; * means all others: North: a, b; South: *.",
        )
    complete = {
        name: [one for label in below for one in (others if label == "*" else [label])]
        for name, below in groups.items()
    }
    return "; ".join(f"{name}: {join(below)}" for name, below in complete.items() if below)


def omissions(reply: str, seen: Sequence[str]) -> list[str]:
    """Values of the data that a reply about values does not name; none if it names a taxonomy.

    Example:
        >>> omissions("a, b", ["a", "c"]), omissions("1 = home", ["1"])
        (['c'], [])
    """
    said = read_values(reply)
    if said.taxonomy:
        return []
    grouped = [label for below in said.groups.values() for label in below]
    return [one for one in seen if one not in (*said.labels, *said.recode, *grouped)]


def is_labeled(text: str) -> bool:
    """Whether a reply of this text would be a code and its label, such as `F=Female`."""
    return bool(_LABELED.fullmatch(text) or _TIGHT.fullmatch(text))


def _check(labels: Sequence[str]) -> None:
    repeated = next((label for label in labels if labels.count(label) > 1), None)
    wrong = next((fault for label in labels if (fault := label_fault(label)) is not None), None)
    if not labels or repeated is not None or wrong is not None:
        what = "There are no values." if not labels else f"{repeated!r} is there twice."
        raise UsageError(
            what if wrong is None else f"A value is not fit: {wrong[0]}.",
            hint="Write all values there could be, separated by commas; or codes with labels "
            "(1 = home, 2 = ward), groups (North: a, b; South: c), or a list or file by name.",
        )


# The questions that lead from private data to a schema; `answers` has what replies make of them.
#
# There is no terminal in it: `questions` gives all questions that follow from the answers so far,
# and whoever asks (the command, a page) puts each answer under its question's key. Proposals are
# read off PRIVATE data, so questions and answers are for the holder of the data alone.


Answers = Mapping[str, str]

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
        listed: Values it is about: those that can have groups, or those in the data.
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

    @property
    def explained(self) -> str:
        """Everything a person should know to answer it, as text."""
        choices = [f"{one}: {self.told[one]}." for one in self.choices if one in self.told]
        alone = len(self.columns) == 1
        notes = [one if alone else f"{name}: {one}" for name, one in self.notes.items()]
        return "\n".join(filter(None, [" ".join(filter(None, [self.why, *choices])), *notes]))


def next_question(sketch: Sketch, answers: Answers) -> Question | None:
    """The first question without an answer; None if all are answered."""
    return next((one for one in questions(sketch, answers) if one.key not in answers), None)


def accept(sketch: Sketch, question: Question, reply: str) -> str:
    """The answer to keep for what a person replied; nothing means the proposal.

    Raises:
        UsageError: If the reply is not an answer, with what to write instead.
    """
    text = reply.strip() or question.default
    if question.key == "unit" and not text:
        raise UsageError("Nothing is proposed here.", hint=words.TYPE_UNIT)
    if question.choices:
        answer = accept_choice(question, text)
        if (question.key, answer) == ("person", NO_COLUMN):
            raise UsageError(words.NOBODY_TOLD, hint=words.HOW_TO_TELL)
        return answer
    part = question.key.partition(" of ")[0]
    if part == "drop":
        names = [column.name for column in sketch.columns]
        default = read_names(question.default, [], names)
        return join(read_names(text, default, names)) or "none"
    if part == "max_rows" and not (text.isdecimal() and 1 <= int(text) <= 10**6):
        raise UsageError("This is not a number of rows.", hint="Write a whole number from 1.")
    if part in ("numbers", "dates"):
        read_bounds(text, dates=part == "dates")
    if part == "format":
        _try_format(sketch, question, text)
    if part == "values":
        text = revise(text, question.default)
        read_values(text)
    if part == "groups" and text != "none":
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
    return words.LEFT_OUT.format(values=listing) if gone else ""


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
            f"{text!r} is not one of the answers.",
            hint=f"Write one of: {join(question.choices)}.",
        )
    return fits[0]


def _try_format(sketch: Sketch, question: Question, form: str) -> None:
    """Refuses a format of dates in which no value of the columns is written."""
    columns = [column for column in sketch.columns if column.name in question.columns]
    if not any(is_date(text, form) for column in columns for text in column.guess.dates):
        raise UsageError(
            "No value of the data is a date in this format.",
            hint=f"{words.WHY_FORMAT} For example, {question.default}.",
        )


def questions(sketch: Sketch, answers: Answers) -> list[Question]:
    """All questions, as far as they follow from the sketch and from answers so far.

    Example:
        >>> import pyarrow as pa
        >>> from hedgerow.draft.draft import sketch_table
        >>> sketch = sketch_table(pa.table({"age": [17, 40], "ill": ["yes", "no"]}))
        >>> [question.key for question in questions(sketch, {})][:4]
        ['unit', 'class', 'drop', 'missing']
        >>> question = next_question(sketch, {"unit": "no", "class": "none", "drop": "none"})
        >>> question.default
        'error'
    """
    asked, published = list(_whole(sketch, answers)), published_columns(sketch, answers)
    for family in families(published):
        if len(family) > 1:
            names = tuple(column.name for column in family)
            asked.append(Question(
                key=_together(family), text=words.together(names), why=words.WHY_TOGETHER,
                default="yes", choices=("yes", "no"), columns=names, from_data=True,
            ))  # fmt: skip
        for group in split_family(family, answers):
            asked += _about(group, answers, len(published))
    return [*asked, _sign_off(asked, answers)]


def _whole(sketch: Sketch, answers: Answers) -> Iterator[Question]:
    """The questions about the whole table."""
    names = tuple(column.name for column in sketch.columns)
    person, target = sketch.role("person"), sketch.role("class")
    who = "" if person is None else person.name
    notes = {} if person is None else {who: reason(person)}
    yield Question(
        key="unit", text=words.UNIT, why=words.WHY_UNIT, default="", choices=("yes", "no"),
        notes=notes,
    )  # fmt: skip
    if answers.get("unit") == "yes":
        yield Question(
            key="person", text=words.PERSON, why=words.WHY_PERSON, default=who,
            choices=(*names, NO_COLUMN), told={NO_COLUMN: words.NOBODY_TOLD.rstrip(".")},
            from_data=True,
        )  # fmt: skip
        yield Question(key="max_rows", text=words.MAX_ROWS, why=words.WHY_MAX_ROWS, default="3")
    able = tuple(column.name for column in sketch.columns if column.has_classes)
    if able:
        yield Question(
            key="class", text=words.CLASS, why=words.WHY_CLASS,
            default="none" if target is None else target.name, choices=(*able, "none"),
            from_data=True,
        )  # fmt: skip
    dropped = _propose_dropping(sketch, answers)
    notes = {one.name: reason(one) for one in sketch.columns if one.name in dropped}
    yield Question(
        key="drop", text=words.DROP, why=words.WHY_DROP, default=join(dropped) or "none",
        notes=notes, from_data=True,
    )  # fmt: skip
    gaps = [column.name for column in sketch.columns if "missing" in (column.guess.settings or {})]
    seen = f" They were seen in {join(gaps)}." if gaps else " None were seen."
    yield Question(
        key="missing", text=words.MISSING + seen, default="other" if gaps else "error",
        choices=tuple(words.MISSING_RULES), told=words.MISSING_RULES, from_data=True,
    )  # fmt: skip
    yield Question(
        key="outside", text=words.OUTSIDE, default="clip", choices=tuple(words.OUTSIDE_RULES),
        told=words.OUTSIDE_RULES,
    )  # fmt: skip


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
    kept = []
    for column in sketch.columns:
        if column.name not in gone:
            role = "class" if column.name == chosen else None
            guess = as_values(column.guess) if role else column.guess
            kept.append(replace(column, role=role, guess=guess))
    return kept


def _together(family: list[Column]) -> str:
    return f"together of {family[0].name}"


def split_family(family: list[Column], answers: Answers) -> list[list[Column]]:
    """Columns that are alike, in groups for which each question is asked once."""
    if answers.get(_together(family)) == "no":
        return [[column] for column in family]
    return [family]


def kind_of(guess: Guess) -> str:
    """The kind of a column, as a proposal."""
    settings = guess.settings
    if settings is None or settings["type"] != "numeric":
        return "values"
    return "date" if "-" in settings["low"][1:] else "number"


def _about(group: list[Column], answers: Answers, published: int) -> Iterator[Question]:
    """The questions about a column, or about several that are alike."""
    column, guess = group[0], group[0].guess
    name, names = column.name, tuple(one.name for one in group)
    kind = kind_of(guess)
    if column.role is None:
        yield Question(
            key=f"kind of {name}", text=words.kind(names), default=kind,
            choices=tuple(words.KINDS), told=words.KINDS,
            notes={name: guess.comment} if guess.comment else {}, columns=names, from_data=True,
        )  # fmt: skip
        kind = answers.get(f"kind of {name}", kind)
    settings = guess.settings or {}
    same = kind == kind_of(guess)
    if kind in ("number", "date"):
        dates = kind == "date"
        default = "{low} to {high} step {step}".format(**settings) if same else ""
        yield Question(
            key=f"{kind}s of {name}", text=words.bounds(names, dates), why=words.WHY_BOUNDS,
            default=default, columns=names, from_data=True,
            notes={one.name: one.guess.warning for one in group if same and one.guess.warning},
        )  # fmt: skip
        if "format" in settings and dates:
            yield Question(
                key=f"format of {name}", text=words.FORMAT, why=words.WHY_FORMAT,
                default=json.loads(settings["format"]), columns=names, from_data=True,
            )  # fmt: skip
    if kind == "values":
        yield Question(
            key=f"values of {name}", text=words.values(names), why=words.WHY_VALUES,
            default=_values_default(guess), columns=names, from_data=True,
            listed=(*guess.labels, *guess.recode),
        )  # fmt: skip
        reply = answers.get(f"values of {name}", _values_default(guess))
        labels = tuple(read_values(reply).labels) if reply else ()
        if column.role is None and len(labels) > _GROUPED:
            yield Question(
                key=f"groups of {name}", text=words.GROUPS, why=words.WHY_GROUPS, default="none",
                columns=names, listed=labels,
            )  # fmt: skip
    if kind != "drop" and len(group) > 1:
        yield Question(
            key=f"split of {name}", text=words.SPLIT, why=words.WHY_SPLIT,
            default="no" if _MANY <= len(group) <= 0.75 * published else "yes",
            choices=("yes", "together", "no"), columns=names,
        )  # fmt: skip
        if answers.get(f"split of {name}") == "together":
            yield Question(
                key=f"group of {name}", text=words.GROUP, why=words.WHY_GROUP,
                default=f"like {name}", columns=names,
            )  # fmt: skip
    if kind in ("number", "date", "values"):
        rules = ("error", "other", "drop")
        if answers.get("missing") == "each":
            yield Question(
                key=f"missing of {name}", text=words.MISSING, told=words.MISSING_RULES,
                default=settings.get("missing", "error"), choices=rules, columns=names,
                from_data=True,
            )  # fmt: skip
        rule = answers.get("outside", "clip")
        far = same and any(one.guess.far for one in group)
        if rule == "each" or (rule == "clip" and far):
            clip = () if kind == "values" else ("clip",)
            yield Question(
                key=f"outside of {name}", text=words.OUTSIDE, told=words.OUTSIDE_RULES,
                default="error" if kind == "values" else settings.get("outside", "clip"),
                choices=(*clip, *rules), columns=names,
            )  # fmt: skip


def _values_default(guess: Guess) -> str:
    taxonomy = (guess.settings or {}).get("taxonomy")
    if taxonomy is not None or not (guess.recode or any(map(is_labeled, guess.labels))):
        return taxonomy or join(guess.labels)
    return join([*(f"{label} = {label}" for label in guess.labels),
                 *(f"{rule} = {leaf}" for rule, leaf in guess.recode.items())])  # fmt: skip


def _sign_off(asked: list[Question], answers: Answers) -> Question:
    """The last question, which says what nobody has changed."""
    kept = [
        name for one in asked
        if one.key.startswith(("numbers of", "dates of", "values of"))
        and answers.get(one.key) == one.default
        for name in one.columns
    ]  # fmt: skip
    why = f"{words.WHY_SIGN} As they were proposed: {join(kept)}." if kept else words.WHY_SIGN
    return Question(key="reviewer", text=words.sign(len(kept)), why=why, default=NOBODY)
