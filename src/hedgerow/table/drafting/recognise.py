"""Recognises what the values of a column are written as: bands, truth values, dates, known lists.

Only drafts use this: they read private data and say so.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from functools import cache

from hedgerow.schema.attributes import Categorical
from hedgerow.schema.schema import Schema

__all__ = [
    "code_order",
    "date_formats",
    "known_list",
    "notation",
    "ordered",
    "spellings",
    "truth_values",
]

_AMOUNT = r"[$€£]?\s*([+-]?\d{1,3}(?:[, ]\d{3})+|[+-]?\d+(?:\.\d+)?)\s*[$€£%kKmM]?"
_UNIT = r"(?:\s*[A-Za-z]+\.?)?"  # years, cigarettes
_BETWEEN = re.compile(
    rf"[\[(]?\s*{_AMOUNT}{_UNIT}\s*(?:-|–|—|,|;|\.\.|to|bis)\s*{_AMOUNT}{_UNIT}\s*[\])]?"
)
_BELOW = re.compile(
    rf"(?:<=?|≤|under|below|less than|fewer than|up to)\s*{_AMOUNT}{_UNIT}", re.IGNORECASE
)
_ABOVE = re.compile(
    rf"(?:>=?|≥|over|above|more than|at least)\s*{_AMOUNT}{_UNIT}"
    rf"|{_AMOUNT}{_UNIT}\s*(?:\+|(?:and|or) (?:over|more|above|older|up))",
    re.IGNORECASE,
)
_ALONE = re.compile(rf"{_AMOUNT}{_UNIT}")
_OTHER_VALUES = 3  # beside bands, such as "unknown"
_CODED = re.compile(r"[(\[]?(\d{1,4})[)\]]?\s*[-–:=.)]\s*[^\W\d].*")

_TRUTH = [
    ("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("0", "1"), ("nein", "ja"),
    ("nee", "ja"), ("nej", "ja"), ("non", "oui"), ("no", "si"), ("no", "sí"), ("não", "sim"),
    ("nie", "tak"), ("off", "on"), ("absent", "present"), ("negative", "positive"),
    ("neg", "pos"),
]  # fmt: skip
_MEANS = {word: place for pair in _TRUTH for place, word in enumerate(pair)}

_SEXES = {"f": "female", "m": "male"}

_FORMATS = [
    "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d",
    "%d %b %Y", "%d-%b-%Y", "%d%b%Y", "%b %d, %Y",
]  # fmt: skip
_YEARS = range(1850, 2101)  # others are not dates, but codes

# Which list the name of a column must point to, where values alone could be anything.
_SAYS = {
    "icd-9-cm": r"diag|icd|\bdx",
    "icd-10-cm": r"diag|icd|\bdx|cause",
    "us-states": r"state",
    "countries": r"countr|nation|land\b|cntry",
    "nace-2": r"nace|industr|sector|branch",
}
_FIT, _FIT_SAID = 0.95, 0.8  # of the different values; where the name says what they are
_LONGEST = {"icd-9-cm": 6, "icd-10-cm": 8}  # characters; other numbers have more places
_FEW = 8  # different values that must be names, where the column's name says nothing


def ordered(labels: Sequence[str]) -> list[str] | None:
    """Bands in the order of their numbers, others after them; None if these are not bands.

    Example:
        >>> ordered(["65+", "[0-10)", "unknown", "[10-65)"])
        ['[0-10)', '[10-65)', '65+', 'unknown']
        >>> ordered([">30", "NO", "<30"]), ordered(["a-b", "3"])
        (['<30', '>30', 'NO'], None)
    """
    found = {label: _band(label) for label in labels}
    bands = [label for label, ends in found.items() if ends is not None]
    wide = [label for label in bands if not _ALONE.fullmatch(label)]
    if len(wide) < 2 or len(bands) < len(labels) - _OTHER_VALUES or 2 * len(bands) < len(labels):
        return None
    return [*sorted(bands, key=lambda label: found[label] or (0, 0)), *sorted(
        label for label, ends in found.items() if ends is None
    )]  # fmt: skip


def _band(label: str) -> tuple[float, float] | None:
    if match := _BETWEEN.fullmatch(label):
        low, high = _amount(match[1]), _amount(match[2])
        return (low, high) if low <= high else None
    if match := _BELOW.fullmatch(label):
        return -math.inf, _amount(match[1])
    if match := _ABOVE.fullmatch(label):
        return _amount(match[1] or match[2]), math.inf
    if match := _ALONE.fullmatch(label):
        return _amount(match[1]), _amount(match[1])
    return None


def _amount(text: str) -> float:
    return float(re.sub("[, ]", "", text))


def code_order(labels: Sequence[str]) -> list[str] | None:
    """Codes with labels in the order of the codes; None if these are others.

    Example:
        >>> code_order(["10 - home", "2 - ward", "1 - emergency"])
        ['1 - emergency', '2 - ward', '10 - home']
    """
    found = [(_CODED.fullmatch(label), label) for label in labels]
    if len(labels) < 2 or not all(match for match, _ in found):
        return None
    return [label for _, label in sorted((int(match[1]), label) for match, label in found if match)]


def truth_values(labels: Sequence[str]) -> tuple[list[str], dict[str, str]] | None:
    """No and yes as they are written, and rules for other spellings of them; None if it is neither.

    Example:
        >>> truth_values(["Yes", "No"]), truth_values(["JA"]), truth_values(["a", "b"])
        ((['No', 'Yes'], {}), None, None)
        >>> truth_values(["yes", "NO", "No", "Y"])
        (['NO', 'yes'], {'No': 'NO', 'Y': 'yes'})
    """
    folded = {label.casefold() for label in labels}
    pairs = [pair for pair in _TRUTH if folded & set(pair)]
    if not folded <= _MEANS.keys() or not pairs:
        return None
    first = next((pair for pair in pairs if folded <= set(pair)), pairs[0])
    chosen: list[str] = []
    for place, word in enumerate(first):
        written = [label for label in labels if label.casefold() == word]
        written = written or [label for label in labels if _MEANS[label.casefold()] == place]
        if not written:
            return None
        chosen.append(written[0])
    rules = {label: chosen[_MEANS[label.casefold()]] for label in labels if label not in chosen}
    return chosen, rules


def spellings(labels: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Values of which none differ only in case, and rules for the others.

    Words for the sexes beside their first letters are merged with these.

    Example:
        >>> spellings(["F", "Female", "M", "f", "female", "male"])
        (['Female', 'male'], {'F': 'Female', 'M': 'male', 'f': 'Female', 'female': 'Female'})
        >>> spellings(["North", "north", "South"]), spellings(["a", "b"])
        ((['North', 'South'], {'north': 'North'}), (['a', 'b'], {}))
    """
    folded = {label: label.casefold() for label in labels}
    if set(folded.values()) <= {*_SEXES, *_SEXES.values()}:
        folded = {label: _SEXES.get(word, word) for label, word in folded.items()}
    chosen: dict[str, str] = {}
    for label in sorted(labels, key=lambda one: -len(one)):  # a word rather than its letter
        chosen.setdefault(folded[label], label)
    rules = {label: chosen[word] for label, word in folded.items() if label != chosen[word]}
    return [label for label in labels if label not in rules], rules


def date_formats(texts: Sequence[str]) -> list[str]:
    """The formats in which all texts are dates; several where days and months look alike.

    Example:
        >>> date_formats(["01/31/2024", "12/01/2023"]), date_formats(["01/02/2024"])
        (['%m/%d/%Y'], ['%m/%d/%Y', '%d/%m/%Y'])
    """
    return [form for form in _FORMATS if texts and all(is_date(text, form) for text in texts)]


def is_date(text: str, form: str) -> bool:
    """Whether a text is a date in a format."""
    for month in ("%b", "%B"):  # a schema's %b means both
        try:
            return datetime.datetime.strptime(text, form.replace("%b", month)).year in _YEARS
        except ValueError:
            continue
    return False


def notation(texts: Sequence[str]) -> tuple[dict[str, str], bool] | None:
    """How numbers are written if not plainly, and whether that is beyond doubt; None for others.

    Example:
        >>> notation(["1,5", "12,25"]), notation(["1.234,5", "7"]), notation(["12,345", "7"])
        (({'decimal': ','}, True), ({'decimal': ',', 'thousands': '.'}, True), ({'thousands': ','},
        False))
        >>> notation(["1.5", "a"]) is None
        True
    """
    for point, group in ((".", ","), (",", "."), (",", "'"), (".", "'"), (".", " "), (",", " ")):
        whole = rf"[+-]?(?:\d{{1,3}}(?:{re.escape(group)}\d{{3}})+|\d+)"
        shape = re.compile(rf"{whole}(?:{re.escape(point)}\d+)?")
        if not all(shape.fullmatch(text) for text in texts):
            continue
        found = {"decimal": point} if point == "," and any("," in text for text in texts) else {}
        if any(group in text for text in texts):
            found["thousands"] = group
        if not found:
            return None
        several = any(text.count(group) > 1 or point in text for text in texts)
        return found, "thousands" not in found or several
    return None


def known_list(name: str, labels: Sequence[str]) -> str | None:
    """The list that comes with hedgerow to which values belong, by name and values.

    Example:
        >>> known_list("diag_1", ["250.83", "276", "V57"]), known_list("home", ["CA", "TX", "NY"])
        ('icd-9-cm', None)
        >>> known_list("state", ["CA", "TX", "NY"]), known_list("x", ["CA", "TX"])
        ('us-states', None)
    """
    letters = [label for label in labels if not label[:1].isdigit()]
    for known, says in _SAYS.items():
        said = re.search(says, name.replace("_", " "), re.IGNORECASE) is not None
        names = [label for label in letters if len(label) > 3]
        kinds = {label[0] for label in names}  # P000123 numbers people
        alone = known not in ("icd-9-cm", "nace-2") and len(names) >= _FEW and len(kinds) > 2
        if not said and not alone:
            continue
        if known in ("us-states", "countries") and not letters:
            continue  # numbers are too often others
        if known.startswith("icd") and 2 * sum(len(label) > 2 for label in labels) < len(labels):
            continue  # numbers of diagnoses
        least = (_FIT_SAID if said else _FIT) * len(labels)
        if len(labels) > 1 and sum(_fits(known, label) for label in labels) >= least:
            return known
    return None


@cache
def _attribute(known: str) -> Categorical:
    column = {"type": "categorical", "taxonomy": known}
    (attribute,) = Schema.from_dict({"name": known, "attributes": {known: column}}).attributes
    assert isinstance(attribute, Categorical)
    return attribute


def _fits(known: str, label: str) -> bool:
    if len(label) > _LONGEST.get(known, len(label)):
        return False
    attribute = _attribute(known)
    return label in attribute.taxonomy.leaves or attribute.reading.leaf(label) is not None
