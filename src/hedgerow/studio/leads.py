"""What the library says about files and options, in the words of the studio's forms.

The library tells what to write into a schema, or which option to give. A page shows the same as
what to choose, with links to the fields that are meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hedgerow.studio.steps import Way

__all__ = ["in_the_form", "leads"]

_FIELDS = {  # a key of a schema or an option: the page, the field, and what it is called there
    "low": ("columns", "low", "Smallest"),
    "high": ("columns", "high", "Largest"),
    "step": ("columns", "step", "Step"),
    "missing": ("columns", "missing", "A missing value"),
    "outside": ("columns", "outside", "A value outside"),
    "values": ("columns", "values", "Values"),
    "type": ("columns", "kind", "It is"),
    "role": ("columns", "kind", "It is"),
    "decimal": ("columns", "decimal", "Decimal sign"),
    "thousands": ("columns", "thousands", "Between thousands"),
    "format": ("columns", "format", "How dates are written"),
    "ignore": ("columns", "ignore", "Differences that do not matter"),
    "taxonomy": ("taxonomies", "t-tree", "the tree"),
    "unit": ("unit", "u-row", "Unit of protection"),
    "max_rows": ("unit", "u-row", "Most rows of a person that count"),
    "universe": ("columns", "i-universe", "All items there could be"),
    "max_items": ("columns", "i-most", "Most items of a record that count"),
    "fan_out": ("columns", "i-fan", "Neighbours in a group"),
    "draft": ("check", "s-public", "Sign the schema off"),
    "header_row": ("data", "d-row", "Line of the column names"),
    "delimiter": ("data", "d-between", "Between two values stands"),
    "encoding": ("data", "d-encoding", "Encoding"),
    "sheet": ("data", "d-sheet", "Sheet"),
    "trust_header": ("data", "d-trust", "That line does hold names"),
    "epsilon": ("budget", "b-epsilon", "Epsilon"),
    "delta": ("budget", "b-delta", "Delta"),
    "method": ("budget", "", "Method"),
}
_OF_ALL = ("missing", "outside", "decimal", "thousands", "format", "ignore")  # in that form alone
_OF_NUMBERS = ("low", "high", "step", "decimal", "thousands", "format")  # fields of their own
_KEYS_OR_OPTIONS = re.compile(
    rf"(?:--|\b)({'|'.join(_FIELDS).replace('_', '[-_]')})\b(?=(:| is )?)"
)
_PLAIN = ("low", "high", "step", "missing", "outside")  # meant even where they stand as words
_RULES = {
    "error": "is an error", "other": "becomes other", "drop": "drops the row",
    "clip": "becomes the nearest",
}  # fmt: skip
_SIGNS = {",": "comma", ".": "point"}
_MOST = 10  # links


_LATER = "under “All settings of the schema” that missing values and values outside become other"
_WORDS = (
    ("drop it by {role: identifier}", "choose that it is left out"),
    ("write {role: identifier}", "choose that it is left out"),
    ("write {role: person, max_rows: 3} with a cap of your choice", "say so on the page Unit"),
    ("may count (max_rows), and write `unit: person` above", "may count, on the page Unit"),
    ("write {type: numeric, low: ..., high: ..., missing: other, outside: other}",
     f"choose that it is numbers, with bounds, and {_LATER}"),
    ('write {type: numeric, low: ..., high: ..., step: ..., decimal: ",", missing: other, outside: '
     "other}", f"choose that it is numbers, with bounds, and {_LATER}, and that the decimal sign "
     "is a comma"),
    ('write {type: numeric, low: ..., high: ..., step: 7, format: "%d.%m.%Y", missing: other, '
     "outside: other} with their format",
     f"choose that it is dates, with the first and the last day, and {_LATER}, and how dates are "
     "written, such as %d.%m.%Y"),
    ("to publish it, write a taxonomy of them",
     "to publish it, choose that it is categories, and enter groups or a list that is there"),
    ("state in the schema what is to happen", "choose on the page Columns what is to happen"),
    (" (`drop` leaves the record out)", ""),
    ("Add values: [a, b], or taxonomy: with a file or a nested mapping.",
     "List its values, or choose another kind."),
    ("then remove the line `draft: true`", "then sign it off on the page Check"),
    ("Write `unit: row` at the top of the schema if", "Choose on the page Unit whether"),
    ("low is not below high", "“Smallest” is not below “Largest”"),
    ("Low is not below high", "“Smallest” is not below “Largest”"),
    ("Make low the smallest and high the largest value allowed",
     "Put the smallest value allowed first, and a larger one as the largest"),
)  # fmt: skip
_RULE = re.compile(r"`?(missing|outside): (error|other|drop|clip)`?")
_NAMED = "header[-_]row|delimiter|encoding|sheet|trust[-_]header"
_OPTION = re.compile(
    rf"(?:`hedgerow init )?--({_NAMED})(?: (?:\d+|cp\d+))?`?(?: of `hedgerow init`)?(?:, \w+=)?"
    rf"|`({_NAMED}):[^`]*`(?: below `file:`(?: in (?:a|the) schema)?)?"
)
_PYTHON = re.compile(r" \((?:in Python [^)]*|[^)]* in Python|\w+=)\)+")
_TWICE = re.compile("(“[^”]*”(?: or “[^”]*”)*),(?: or)? \\1")  # by an option, and in a schema
_DECLARED = re.compile(
    r"(?:(?:declare|write)(?:, for example,)? )?`(decimal|thousands|format|ignore): ([^`]*)`"
)


def in_the_form(words: str) -> str:
    """The same with what to choose in the form in the place of what to write in a file.

    Example:
        >>> in_the_form("Does it number people? Then write {role: identifier}.")
        'Does it number people? Then choose that it is left out.'
        >>> in_the_form("Try `outside: clip`, or correct --header-row of `hedgerow init`.")
        'Try “A value outside” becomes the nearest, or correct “Line of the column names”.'
        >>> in_the_form('Numbers in age have a comma: declare `decimal: ","`.')
        'Numbers in age have a comma: enter comma as “Decimal sign”.'
    """
    for written, chosen in _WORDS:
        words = words.replace(written, chosen)
    words = _RULE.sub(lambda found: f"{_title(found[1])} {_RULES[found[2]]}", words)
    words = _DECLARED.sub(_entered, words)
    words = _PYTHON.sub("", words)
    words = _OPTION.sub(lambda found: _title((found[1] or found[2]).replace("-", "_")), words)
    return _TWICE.sub(r"\1", words)


def _entered(found: re.Match[str]) -> str:
    value = found[2].strip('"[]')
    return f"enter {_SIGNS.get(value, value)} as {_title(found[1])}"


def _title(key: str) -> str:
    return f"\N{LEFT DOUBLE QUOTATION MARK}{_FIELDS[key][2]}\N{RIGHT DOUBLE QUOTATION MARK}"


def leads(way: Way, message: str, hint: str) -> list[tuple[str, str]]:
    """The fields that an error is about: what they are called, and their addresses.

    Args:
        way: What was chosen so far.
        message: What is wrong: a line for each fault.
        hint: What to do about it.
    """
    names = _columns(way)
    found: dict[tuple[str, str], str] = {}
    for line in message.splitlines():
        about = [name for name in names
                 if f"column {name!r}" in line or f"attribute {name!r}" in line]  # fmt: skip
        for name in about:
            for key in _meant(line, hint, name, names):
                page, field, title = _FIELDS[key]
                if page == "columns":
                    whole = {"form": "all"} if key in _OF_ALL else {}
                    place = f"{field}-{names[name]}" if key in _OF_NUMBERS else f"c-{names[name]}"
                    found.setdefault((name, title), f"{way.to(page, **whole)}#{place}")
                elif page == "taxonomies":
                    found.setdefault((name, title), f"{way.to(page, column=name)}#{field}")
    if not found:
        for key in _keys(f"{message}\n{hint}"):
            page, field, title = _FIELDS[key]
            if not field.partition("-")[2] and page == "columns":
                continue  # a field of some column, and none was named
            if page != "data" or way.get("data"):
                found.setdefault(("", title), f"{way.to(page)}#{field}")
    return [(f"{name}: {title}" if name else title, address)
            for (name, title), address in found.items()][:_MOST]  # fmt: skip


def _meant(line: str, hint: str, name: str, names: Iterable[str]) -> list[str]:
    """The keys that a line means for a column.

    A sentence of the hint that names columns is about these alone. Others are about a column of
    whose line nothing else is known.
    """
    sentences = hint.split(". ")
    own = [key for one in sentences if repr(name) in one for key in _keys(one)]
    common = [key for one in sentences if not any(repr(other) in one for other in names)
              for key in _keys(one)]  # fmt: skip
    return [*_keys(line), *own] or common or ["type"]


def _columns(way: Way) -> dict[str, int]:
    """The columns of the schema by their places, if it can be read."""
    from hedgerow.errors import HedgerowError

    try:
        return {name: place for place, name in enumerate(way.text().columns)}
    except HedgerowError:
        return {}


def _keys(words: str) -> Iterator[str]:
    """The keys and options that words name: with a colon, or as what something is."""
    for found in _KEYS_OR_OPTIONS.finditer(words.replace("' is missing", "'")):
        key = found[1].replace("-", "_")
        if key in _PLAIN or found[2] or found[0].startswith("--"):
            yield key
