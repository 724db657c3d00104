"""What a draft says about a whole table: its columns, the class, the person, and columns alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from hedgerow.schema.attributes import PLAIN, Layout
from hedgerow.schema.lint import column_fault
from hedgerow.table.drafting.guess import Guess
from hedgerow.table.drafting.guess_people import words_of

__all__ = ["Column", "Sketch", "as_values", "families", "sketch_of"]

_CLASS_VALUES, _CLASS_NUMBERS = 20, 10
_CLASS_NAMES = (
    "class", "target", "salary", "income", "label", "outcome", "diagnosis", "readmitted",
    "readmission", "churn", "churned", "survived", "default", "defaulted", "approved", "denied",
    "died", "mortality", "death", "dead", "vote", "voted", "relapse", "relapsed",
)  # fmt: skip
_ALONE = frozenset({"class", "label"})  # words that say so only as the whole name
_AMOUNTS = frozenset({"salary", "income"})
_FAMILY = 3  # columns that are alike, from which they are asked about once
_PAIRS = 8  # the same for columns of two values, which many tables have without any relation


@dataclass(frozen=True)
class Column:
    """A column, what it seems to be, and its role: class, person, or none in particular."""

    name: str
    guess: Guess
    role: str | None = None

    @property
    def has_classes(self) -> bool:
        """Whether it has few values, so that it can be the class."""
        numbers = (self.guess.settings or {}).get("type") == "numeric"
        most = _CLASS_NUMBERS if numbers else _CLASS_VALUES
        return self.guess.published and 2 <= len(self.guess.labels) <= most

    @property
    def dropped(self) -> bool:
        """Whether it would better be dropped."""
        return self.role is None and (not self.guess.published or bool(self.guess.useless))


@dataclass(frozen=True, kw_only=True)
class Sketch:
    """A table as a draft sees it. It was read off PRIVATE data.

    Args:
        title: The name of the table.
        columns: Its columns in their order; those whose name cannot be written are left out.
        unwritable: How many of those there are.
        written: How the file is encoded, which sheet is meant and where its names stand.
    """

    title: str
    columns: tuple[Column, ...]
    unwritable: int = 0
    written: Layout = PLAIN

    def to_dict(self) -> Any:
        """All of it as JSON can hold it, for another process. As PRIVATE as the data."""
        return asdict(self)

    @staticmethod
    def from_dict(told: Any) -> Sketch:
        """The sketch that another process tells.

        Example:
            >>> sketch = sketch_of("t", [("age", Guess(labels=("1", "2")))])
            >>> Sketch.from_dict(sketch.to_dict()) == sketch
            True
        """
        from pydantic import TypeAdapter

        return TypeAdapter(Sketch).validate_python(told)

    def role(self, role: str) -> Column | None:
        """The column with a role, if there is one."""
        return next((column for column in self.columns if column.role == role), None)


def sketch_of(title: str, guesses: Sequence[tuple[str, Guess]], written: Layout = PLAIN) -> Sketch:
    """The sketch of a table, from what is guessed about each column by itself."""
    columns = []
    for name, guess in guesses:
        columns.append(Column(name, guess))
    known = [column for column in columns if column_fault(column.name, False) is None]
    chosen = tuple(_choose_person(_choose_class(known)))
    return Sketch(
        title=title, columns=chosen, unwritable=len(columns) - len(known), written=written
    )


def as_values(guess: Guess) -> Guess:
    """The same column, its numbers taken for labels."""
    rules = {key: (guess.settings or {}).get(key, "") for key in ("missing", "outside")}
    kept = {key: rule for key, rule in rules.items() if rule not in ("", "clip")}
    settings = guess.settings or {}
    if settings.get("type") == "numeric":
        odd = {"outside": "other"} if guess.partial else {}
        settings = {"type": "categorical", **kept, **odd}
    return replace(guess, settings=settings, useless="")


def _choose_class(columns: Sequence[Column]) -> list[Column]:
    """Gives the role of the class to the likeliest column, if there are others beside it."""
    chosen = list(columns)
    if sum(column.guess.published for column in columns) < 2:
        return chosen
    able = [place for place, column in enumerate(columns)
            if column.has_classes and not column.guess.useless]  # fmt: skip
    ranks = {
        place: _class_rank(columns[place].name, len(columns[place].guess.labels))
        for place in reversed(able)
    }
    if not ranks or not max(ranks.values()):
        return chosen
    place = max(ranks, key=ranks.__getitem__)  # of equals the last column
    column = columns[place]
    chosen[place] = replace(column, guess=as_values(column.guess), role="class")
    return chosen


def _class_rank(name: str, values: int) -> int:
    """How likely a name is that of a class of so many values; 0 if it says nothing.

    A word such as `class` says so by itself alone: a social class is an attribute. An income in
    more than two bands is one, too, as a rule.

    Example:
        >>> _class_rank("class", 4) > _class_rank("income", 2) > _class_rank("patient_outcome", 2)
        True
        >>> _class_rank("BMI class", 4), _class_rank("income", 7)
        (0, 0)
    """
    names = [one for one in _CLASS_NAMES if values == 2 or one not in _AMOUNTS]
    if name.casefold() in names:
        return 2 * len(_CLASS_NAMES) - names.index(name.casefold())
    said = [word for word in words_of(name) if word in names and word not in _ALONE]
    return len(_CLASS_NAMES) - min(map(names.index, said)) if said else 0


def _choose_person(columns: Sequence[Column]) -> list[Column]:
    """Gives the role of the person to the likeliest column whose values repeat, if there is one."""
    chosen, ranks = list(columns), {}
    for place, column in enumerate(columns):
        people = column.guess.people
        if people is not None and people.repeats:
            ranks[place] = people.rank
    if not any(ranks.values()):
        return chosen
    place = max(ranks, key=ranks.__getitem__)  # the first of the likeliest
    guess = chosen[place].guess
    assert guess.people is not None
    guess = replace(guess, comment=guess.people.comment(chosen=True))
    chosen[place] = replace(chosen[place], guess=guess, role="person")
    return chosen


def families(columns: Sequence[Column]) -> list[list[Column]]:
    """Columns in groups that are alike, each column in one group, by the order of the first.

    Two columns with the same three or more values make a family, and those between and beside them
    whose values are some of these belong to it: of many medicines, a few are never given in any
    dose. Of numbers that is not likely, since many scales begin with 1. Of columns with two values
    there must be more, since a yes or no is found in any table.

    Example:
        >>> def column(name, *labels):
        ...     return Column(name, Guess(settings={"type": "categorical"}, labels=labels))
        >>> doses = ("down", "no", "up")
        >>> table = [column("a", *doses), column("b", "no"), column("c", *doses), column("d", "no")]
        >>> [[one.name for one in several] for several in families(table)]
        [['a', 'b', 'c', 'd']]
    """
    listed: dict[frozenset[str], list[int]] = {}
    for place, column in enumerate(columns):
        if column.guess.published and len(column.guess.labels) > 1 and column.role is None:
            listed.setdefault(frozenset(column.guess.labels), []).append(place)
    member: dict[int, list[int]] = {}
    for labels, places in sorted(listed.items(), key=lambda found: (-len(found[0]), found[1])):
        free = [place for place in places if place not in member]
        if len(free) < (2 if len(labels) > 2 else _PAIRS):
            continue
        fitting = {
            place for place, column in enumerate(columns)
            if column.guess.published and column.role is None and place not in member
            and column.guess.labels and labels >= set(column.guess.labels)
            and (place in free or not any(label.isdecimal() for label in labels))
        }  # fmt: skip
        first, last = free[0], free[-1]
        while first - 1 in fitting:
            first -= 1
        while last + 1 in fitting:
            last += 1
        inside = sorted(fitting & set(range(first, last + 1)))
        if len(inside) >= _FAMILY:
            member |= dict.fromkeys(inside, inside)
    groups = []
    for place, column in enumerate(columns):
        family = member.get(place, [place])
        if family[0] == place:
            widest = _widest([columns[one].guess for one in family])
            groups.append([replace(columns[one], guess=widest) for one in family]
                          if len(family) > 1 else [column])  # fmt: skip
    return groups


def _widest(guesses: Sequence[Guess]) -> Guess:
    """The guess with most values, with the rules that lead to them in any of the columns."""
    widest = max(guesses, key=lambda one: len(one.labels))
    rules = {
        rule: leaf for one in guesses for rule, leaf in one.recode.items()
        if rule not in widest.labels and leaf in widest.labels
    }  # fmt: skip
    others = {key: "other" for one in guesses for key in ("missing", "outside")
              if (one.settings or {}).get(key) == "other"}  # fmt: skip
    return replace(
        widest, recode=rules, settings={**(widest.settings or {}), **others},
        partial=any(one.partial for one in guesses),
        rare=[value for one in guesses for value in one.rare if value not in widest.labels],
    )  # fmt: skip
