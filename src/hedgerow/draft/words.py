"""What the questions of a draft say."""

from __future__ import annotations

from collections.abc import Sequence

_SHOWN = 4  # names of columns that are alike

PUBLIC = (
    "A schema is published with every release. If its bounds and values were those of the data, "
    "they would tell who has the lowest and highest of them. So they must be what anybody could "
    "have written who never saw the data: from a form, a law or a code book."
)

UNIT = "Can one person have several rows in this table?"
WHY_UNIT = (
    "A release protects one unit: a row, or a person with all of their rows. Nothing in the data "
    "can show which it is. If a person has k rows and you answer no, they are protected k times "
    "less than epsilon says."
)
TYPE_UNIT = (
    "Write yes or no. You alone can know it, and all that a release promises depends on it; ? "
    "explains."
)
NOBODY_TOLD = (
    "If people have several rows and nothing tells whose they are, no release of this table can "
    "protect a person: it would protect single rows, and somebody with k of them k times less than "
    "epsilon says."
)
HOW_TO_TELL = (
    "Ask who made the table for a column that tells people apart (a pseudonym is enough, it is not "
    "published), or for a table with one row for each person, and begin anew. Otherwise name the "
    "column here; back returns to the question before."
)
PERSON = "Which column identifies people?"
WHY_PERSON = "It holds the same value in all rows of a person, and is not published."
MAX_ROWS = "How many rows of one person count at most?"
WHY_MAX_ROWS = (
    "Further rows of the same person are left out. A larger number keeps more rows and needs more "
    "noise. Choose it from public knowledge, not by counting."
)
CLASS = "Which column should a release help to predict?"
WHY_CLASS = "Every other column is then counted together with it, so a release says most about it."
DROP = "Which columns are dropped?"
WHY_DROP = "What identifies people, and what says nothing, is not published."
HOW_TO_DROP = "Write all names, or changes to the list: +name, -name. All columns: {names}."
_RULES = {
    "drop": "the row is left out",
    "error": "nothing is published as long as there is one",
    "each": "ask for every column",
}
MISSING = "What happens to missing values?"
MISSING_RULES = {
    "other": "they become a value of their own, in columns where they can occur",
    "everywhere": "the same, and every column may have them",
    **_RULES,
}
OUTSIDE = "What happens to a value outside the bounds (clip: numbers only), or not in the list?"
OUTSIDE_RULES = {
    "clip": "a number or date becomes the nearer bound; it is for these only, so a value that is "
    "not in a list is an error, or other where the proposed list leaves some out",
    "other": "it becomes a value of its own",
    **_RULES,
}
WHY_TOGETHER = "They have the same values, or some of these. One answer then holds for all of them."
KINDS = {
    "number": "published in ranges",
    "date": "the same for days",
    "values": "a list of texts or codes, or groups of them",
    "drop": "not published",
}
WHY_BOUNDS = (
    f"{PUBLIC} Values are rounded down to steps. A proposal was read off the data: accept it only "
    "if it is what you would have written anyway, else widen it."
)
FORMAT = "How are the dates written?"
WHY_FORMAT = "%d is the day, %m the month, %Y the year, %b the month's name."
WHY_VALUES = (
    f"{PUBLIC} Write all values there could be, also those that nobody has: a, b, c; or what is to "
    "change in the proposal: +c, -a. Codes can have labels: 1 = home, 2 = ward. Groups: North: a, "
    "b; South: c, d. Or name a list that comes with hedgerow (icd-9-cm, icd-10-cm, countries, "
    "us-states, nace-2, age-bands), or a file with a taxonomy beside the schema."
)
LEFT_OUT = "In the data, and not in your answer: {values}. They are outside the list; back returns."
GROUPS = "Do its values have groups?"
WHY_GROUPS = (
    "Groups of values make better releases than a long list. Write North: a, b; South: *, where * "
    "means all other values, or name a list or a file with a taxonomy."
)
SPLIT = "May regions be divided by them?"
WHY_SPLIT = (
    "Where many columns say little each, regions that are divided by them are hard to read. They "
    "are counted in any case, and synthetic records have them. `together` makes a group of them: "
    "when a division is chosen they count as one attribute, and reports name the group."
)
GROUP = "What are they called together?"
WHY_GROUP = "A public name for all of them, such as medications. Reports and pages use it."
ITEMS_UNIT = "Can one person have several records in this data?"
WHY_ITEMS_UNIT = (
    "A release protects one record. Nothing in the data can show whose it is. If a person has k "
    "records and you answer no, they are protected k times less than epsilon says."
)
SEPARATOR = "What separates the items of a line?"
WHY_SEPARATOR = "A space stands for any number of spaces and tabs."
UNIVERSE = "Which items could there be, by public knowledge?"
WHY_UNIVERSE = (
    f"{PUBLIC} Write a range of numbers (1 to 500), all items (a, b, c), a file with one item in "
    "each line (items.txt), or a file with a taxonomy of them (groups.yaml, groups.csv). Items in "
    "a catalog that nobody has belong to it, too. Their order matters: neighbors are grouped."
)
ITEM_GROUPS = "How are items grouped?"
WHY_ITEM_GROUPS = (
    "Methods split groups of items, so groups that mean something make better releases. "
    "neighbors 10: ten neighbors in the order of the items. prefix 2: items whose first two "
    "characters are the same, as in codes. For groups of your own, go back and name a file with a "
    "taxonomy."
)
MAX_ITEMS = "How many items of one record count at most?"
WHY_MAX_ITEMS = (
    "Of longer records a public rule keeps as many, and the rest is lost. all: no limit, which is "
    "best: the method gives items of long records less weight and corrects for that."
)
FOREIGN = "What happens to items that are not in the universe?"
WHY_FOREIGN = "drop: they are left out. error: nothing is published as long as there is one."
EMPTY = "What happens to records without items?"
WHY_EMPTY = "drop: they are left out. dummy: they are counted, with the item (empty)."
WHY_SIGN = (
    f"{PUBLIC} With your name the schema is signed off and can be published by. Without it, it "
    "stays a draft, which `hedgerow publish` refuses."
)


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


def together(names: Sequence[str]) -> str:
    """Asks whether columns are asked about at once."""
    return f"{name_columns(names)}: ask about them at once?"


def kind(names: Sequence[str]) -> str:
    """Asks what a column is."""
    return f"{name_columns(names)}: what {'is it' if len(names) == 1 else 'are they'}?"


def bounds(names: Sequence[str], dates: bool) -> str:
    """Asks for bounds."""
    between = "days" if dates else "numbers"
    return f"{name_columns(names)}: between which {between}, by public knowledge?"


def values(names: Sequence[str]) -> str:
    """Asks for values."""
    return f"{name_columns(names)}: which values can there be, by public knowledge?"


def sign(proposed: int) -> str:
    """Asks for a name, after so many columns were left as the data has them."""
    columns = "1 column" if proposed == 1 else f"{proposed} columns"
    remark = f" ({columns}: bounds or values as they were read off the data.)" if proposed else ""
    return f"Who confirms that all of this is public knowledge?{remark}"
