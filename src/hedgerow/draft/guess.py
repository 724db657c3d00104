"""Guesses what a column of private data is, for a draft that a person corrects."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.data.encode import text_of, to_list
from hedgerow.data.preparation import FEWEST
from hedgerow.draft.people import (
    ASK_ABOUT_ATTRIBUTE,
    ASK_ABOUT_DROPPED,
    People,
    find_people,
    has_infinite,
    is_code,
    is_doubtful,
    once_each,
    tidy,
    words_of,
)
from hedgerow.schema.attributes import MOST_DIGITS, Categorical
from hedgerow.schema.diff import odd_label
from hedgerow.schema.schema import Schema
from hedgerow.schema.yaml_text import label_fault

# Recognises what the values of a column are written as: bands, truth values, dates, known lists.
#
# Only drafts use this: they read private data and say so.


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
_LEAST_SCALE, _OTHER_WORDS = 3, 2  # words of a scale; others, such as "don't know"
_OTHER_VALUES = 3  # beside bands, such as "unknown"
_CODED = re.compile(r"[(\[]?(\d{1,4})[)\]]?\s*[-–:=.)]\s*[^\W\d].*")

_SCALES = [
    [word.strip() for word in scale.split("<")]
    for scale in (
        "very poor < poor < fair < average < good < very good < excellent",
        "very bad < bad < fair < neither good nor bad < good < very good < excellent",
        "strongly disagree < disagree < somewhat disagree < slightly disagree < neutral"
        " < neither agree nor disagree < slightly agree < somewhat agree < agree < strongly agree",
        "very dissatisfied < dissatisfied < neutral < neither < satisfied < very satisfied",
        "never < rarely < seldom < sometimes < occasionally < often < frequently < usually"
        " < very often < always",
        "none < very low < low < mid < middle < medium < moderate < high < very high",
        "low income < lower middle income < middle income < upper middle income < high income",
        "none < mild < moderate < severe < very severe",
        "not at all < a little < slightly < somewhat < moderately < quite a bit < very < a lot"
        " < very much < extremely",
        "very unlikely < unlikely < neutral < likely < very likely",
        "unimportant < not important < somewhat important < important < very important",
        "underweight < under < normal < overweight < over < obese",
        "extra small < small < medium < large < extra large",
        "xs < s < m < l < xl < xxl",
        "none < primary < lower secondary < secondary < upper secondary < post-secondary"
        " < tertiary < bachelor < master < doctorate",
        "much worse < worse < the same < same < better < much better",
        "monday < tuesday < wednesday < thursday < friday < saturday < sunday",
        "mon < tue < wed < thu < fri < sat < sun",
        "january < february < march < april < may < june < july < august < september < october"
        " < november < december",
        "jan < feb < mar < apr < may < jun < jul < aug < sep < oct < nov < dec",
        "spring < summer < autumn < fall < winter",
        "first < second < third < fourth",
        "bronze < silver < gold < platinum",
        "sehr schlecht < schlecht < mittel < gut < sehr gut",
        "nie < selten < manchmal < oft < immer",
    )
]
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
_DAY = 8  # digits of a day without signs, 20240131
_YEARS = range(1850, 2101)  # others are not dates, but codes

# Which list the name of a column must point to, where values alone could be anything.
_SAYS = {
    "icd-9-cm": r"diag|icd|\bdx",
    "icd-10-cm": r"diag|icd|\bdx|cause",
    "us-states": r"state",
    "countries": r"countr|nation|land\b|cntry",
    "nace-2": r"nace|industr|sector|branch",
}
_NAMES = ("countries", "us-states")  # people write these in capitals, too
_EDITIONS = {
    "countries": "ISO 3166-1:2020 with the changes up to July 2022, grouped as in UN M49",
    "nace-2": "NACE Rev. 2",
}
_FIT, _FIT_SAID = 0.95, 0.8  # of the different values; where the name says what they are
_LONGEST = {"icd-9-cm": 6, "icd-10-cm": 8}  # characters; other numbers have more places
_FEW = 8  # different values that must be names, where the column's name says nothing


def sort_bands(labels: Sequence[str]) -> list[str] | None:
    """Bands in the order of their numbers, others after them; None if these are not bands.

    Example:
        >>> sort_bands(["65+", "[0-10)", "unknown", "[10-65)"])
        ['[0-10)', '[10-65)', '65+', 'unknown']
        >>> sort_bands([">30", "NO", "<30"]), sort_bands(["a-b", "3"])
        (['<30', '>30', 'NO'], None)
    """
    bounds = {label: _band(label) for label in labels}
    bands = {label: ends for label, ends in bounds.items() if ends is not None}
    wide = [label for label in bands if not _ALONE.fullmatch(label)]
    if len(wide) < 2 or len(bands) < len(labels) - _OTHER_VALUES or 2 * len(bands) < len(labels):
        return None
    return [*sorted(bands, key=bands.__getitem__), *sorted(bounds.keys() - bands.keys())]


def _band(label: str) -> tuple[float, float] | None:
    for shape in (_BETWEEN, _BELOW, _ABOVE, _ALONE):
        if match := shape.fullmatch(label):
            amounts = [float(re.sub("[, ]", "", text)) for text in match.groups() if text]
            low = -math.inf if shape is _BELOW else amounts[0]
            high = math.inf if shape is _ABOVE else amounts[-1]
            return (low, high) if low <= high else None
    return None


def code_order(labels: Sequence[str]) -> list[str] | None:
    """Codes with labels in the order of the codes; None if these are others.

    Example:
        >>> code_order(["10 - home", "2 - ward", "1 - emergency"])
        ['1 - emergency', '2 - ward', '10 - home']
    """
    codes = {label: int(match[1]) for label in labels if (match := _CODED.fullmatch(label))}
    if len(labels) < 2 or len(codes) < len(labels):
        return None
    return sorted(labels, key=lambda label: (codes[label], label))


def word_order(labels: Sequence[str]) -> list[str] | None:
    """Words of a scale in its order, a few others after them; None if these are no scale.

    Example:
        >>> word_order(["Fair", "Good", "Poor", "don't know"])
        ['Poor', 'Fair', 'Good', "don't know"]
        >>> word_order(["red", "good"])
    """
    plain = {label: re.sub(r"[\W_]+", " ", label).strip().casefold() for label in labels}
    for scale in _SCALES:
        ranks = {word.replace("-", " "): rank for rank, word in enumerate(scale)}
        known = [label for label in labels if plain[label] in ranks]
        if len(known) >= _LEAST_SCALE and len(labels) - len(known) <= _OTHER_WORDS:
            others = [label for label in labels if label not in known]
            return [*sorted(known, key=lambda label: ranks[plain[label]]), *others]
    return None


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
        with suppress(ValueError):
            return datetime.datetime.strptime(text, form.replace("%b", month)).year in _YEARS
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
        signs = {"decimal": point} if point == "," and any("," in text for text in texts) else {}
        if any(group in text for text in texts):
            signs["thousands"] = group
        if not signs:
            return None
        several = any(text.count(group) > 1 or point in text for text in texts)
        return signs, "thousands" not in signs or several
    return None


def find_list(name: str, labels: Sequence[str]) -> str | None:
    """The list that comes with hedgerow to which values belong, by name and values.

    Example:
        >>> find_list("diag_1", ["250.83", "276", "V57"]), find_list("home", ["CA", "TX", "NY"])
        ('icd-9-cm', None)
        >>> find_list("state", ["CA", "TX", "NY"]), find_list("x", ["CA", "TX"])
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
def _attribute(known: str, case: bool = False) -> Categorical:
    column = {"type": "categorical", "taxonomy": known, **({"ignore": ["case"]} if case else {})}
    (attribute,) = Schema.from_dict({"name": known, "attributes": {known: column}}).attributes
    assert isinstance(attribute, Categorical)
    return attribute


def _fits(known: str, label: str) -> bool:
    if len(label) > _LONGEST.get(known, len(label)):
        return False
    attribute = _attribute(known, known in _NAMES)
    leaves, reading = attribute.taxonomy.leaves, attribute.reading
    return reading.form(label) in reading.forms(leaves) or reading.leaf(label) is not None


_COVERED = 0.5  # of the rows, that values which are proposed must cover
_TAILS = 40  # in rows for each but the first that lies beyond a bound, fewer than `FEWEST` of them
_GAPS = 5  # of codes that nobody has
_VALUES = 50  # more distinct values than this do not make a list that a person can check
_MOST_DISTINCT = 20_000  # more of them than this are not looked at one by one
_ALMOST = 0.9  # missing, from which a column is almost empty
_ROWS = 20  # in fewer rows, being all alike says little
_TAIL = 0.15  # of the range, if three quarters of the values lie in it: a long tail
_COUNTED = 20  # steps: fewer of them are counted one by one
_CLOSED = (1, 7)  # a scale that is public by its shape, if all values occur; others are round
_FARTHEST = Decimal(10) ** (MOST_DIGITS - 1)  # a bound with as many digits as a schema takes
_GRID = 2000  # about as many grid points as a draft should have
_MOST_GRID = 100_000  # where finer steps keep apart what a long tail would merge
_MERGED = 0.02  # of the rows, from which a step that merges different values is made finer
_MERGED_SAID = 0.5  # and from which a person hears of it
_TOO_MANY = "It has too many values to list: to publish it, group them in a taxonomy."
_LEFT_OUT = (
    "Values that fewer than {fewest} rows have, or that look like free text, may be one person's "
    "and are not listed: {share} of its rows become other."
)
_RARE = (
    "Most of its rows have values that fewer than {fewest} rows have, or that look like free text. "
    "They may be one person's: to publish it, write values that are public knowledge."
)
_KEPT = 200  # values that fewer than `FEWEST` rows have, of which a draft remembers so many
_MOST_STRAYS = 0.1  # of the values, that are texts in a column of numbers
_MISSING = frozenset(
    {-1, -2, -3, -4, -5, -6, -7, -8, -9, -66, -77, -88, -97, -98, -99, -666, -777, -888, -997, -998}
    | {-999, -9999, 77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 7777, 8888, 9997, 9998, 9999}
    | {99999, 999999}
)
_APART = 2  # times the largest other number
_CODES = (
    "{codes}: apart from all other numbers, as codes of missing values are. What lies outside the "
    "bounds is counted as other."
)
_FAR = (
    "A few of its values lie far beyond these bounds and would become the nearest one. If they are "
    "mistakes or codes, let values outside become other; if they are real, widen the bounds."
)
_ONE_STEP = (
    "At this step about {share:.0%} of its rows fall into one step, though their values differ: a "
    "few rows have far larger ones. Bring the bounds nearer together, or make the step smaller."
)
_STRAYS = "Some of its values are not numbers: they would be counted as other."
_OTHERS = {"missing": "other", "outside": "other"}
_NUMBER = r"^[+-]?(0|[1-9]\d*)(\.\d+)?$"
_WRITTEN = {  # by the shape that most values have
    _NUMBER: "Most of its values are numbers, and some are not: to publish it, give it bounds "
    "(type: numeric, low, high) and count the others as other (missing: other, outside: other).",
    r"^[+-]?\d+,\d+$": "Most of its values have a decimal comma, and some are no numbers: to "
    'publish it, declare the comma (decimal: ","), give it bounds (type: numeric, low, high, step) '
    "and count the others as other (missing: other, outside: other).",
    r"^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b": "Most of its values look like dates: to publish it, "
    'say how they are written (format: "%d.%m.%Y"), give it a first and a last day (type: numeric, '
    "low, high, step: 7) and count the others as other (missing: other, outside: other).",
}
_SPELLINGS = "It is written in several ways, which the rules merge."
_GROUPS = "Its commas or points were taken for separators of thousands: is that so?"
_EITHER = "Days and months look alike in it: {first} was taken, {second} would fit too."
# Bounds that everybody knows, by the last word of a name.
_USUAL = {
    "age": (0, 120), "month": (1, 12), "hour": (0, 23), "percent": (0, 100), "pct": (0, 100),
    "percentage": (0, 100), "latitude": (-90, 90), "longitude": (-180, 180),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Guess:
    """What a column seems to be.

    Args:
        settings: The keys of its entry in the schema, without values; None for a column that is
            dropped.
        labels: The values, if it has few; of numbers, what they would be as labels.
        recode: Rules that lead other values to these.
        comment: What a person should know about it.
        people: Why it seems to identify people, if it does.
        useless: Why it could as well be dropped, as the end of a sentence.
        dates: Its different values as they are written, if they are dates with a format.
        partial: Whether some of its values are not among the labels.
        rare: The first of the values that fewer than `FEWEST` rows have.
        warning: What is odd about its bounds and step, if they are those of a number or date.
        far: Whether a few of its values lie far beyond its bounds.
    """

    settings: Mapping[str, str] | None = None
    labels: Sequence[str] = ()
    recode: Mapping[str, str] = field(default_factory=dict)
    comment: str = ""
    people: People | None = None
    useless: str = ""
    dates: Sequence[str] = ()
    partial: bool = False
    rare: Sequence[str] = ()
    warning: str = ""
    far: bool = False

    @property
    def published(self) -> bool:
        """Whether the column would be part of a release."""
        return self.settings is not None

    @property
    def type(self) -> str:
        """Its type in the schema; nothing if it is dropped."""
        return (self.settings or {}).get("type", "")

    def having(self, **more: str) -> Guess:
        """The same with more keys."""
        return replace(self, settings={**(self.settings or {}), **more})

    @property
    def remark(self) -> str:
        """All that a person should know about it."""
        return f"{self.comment} {self.warning}".strip()


def guess_column(name: str, parts: Sequence[Any], who: Any = None) -> Guess:
    """Guesses what a column is from its name and values.

    Args:
        name: The name of the column.
        parts: Its values, as Arrow arrays.
        who: Whom each value is about, each value once for a person (`once_each`); None if each is
            about somebody else.

    Example:
        >>> guess_column("born", [pa.array(["1980-05-05", "1999-01-01"])]).settings["high"]
        '1999-12-31'
        >>> guess_column("e-mail", [pa.array(["a@example.org"])]).settings is None
        True
    """
    array, written = tidy(name, parts)
    present = array.drop_null()
    if not len(present):
        return Guess(comment="It has no values.")
    if who is not None:  # a person's 1.0 and 1 are one value
        (present,), who = once_each(name, [present], _filter(who, array.is_valid()))
    # An infinite number names no category.
    rules = {"missing": "other"} if array.null_count else {}
    infinite = any(map(has_infinite, parts))
    values = _Values.of(present, who)
    guess = _values(name, present, values, rules)
    if guess is None:
        guess = _by_shape(name, present, values, rules)
    if written and guess.labels and not guess.recode:
        places = {label: place for place, label in enumerate(guess.labels)}
        known = [(text, label) for text, (label, rows) in written.items()
                 if label in places and rows >= FEWEST]  # fmt: skip
        recode = dict(sorted(known, key=lambda pair: (places[pair[1]], pair[0])))
        unwritten = any(rows < FEWEST for _, rows in written.values())
        guess = replace(guess, recode=recode, partial=guess.partial or unwritten)
    guess = _ignore_case(guess)
    if (guess.partial or infinite) and guess.published:
        others = {"outside": "other"} if guess.type == "categorical" else {}
        guess = replace(guess.having(**others), partial=True)
    if guess.published and array.null_count > _ALMOST * len(array) and len(array) >= _ROWS:
        return replace(guess, useless="almost all of its values are missing")
    if guess.published and len(present) >= _ROWS:
        if len(values.distinct) == 1:
            return replace(guess, useless="it has one value only")
        if values.but_most < FEWEST:
            why = f"fewer than {FEWEST} of its rows have another value than the rest"
            return replace(guess, useless=why)
    return guess


def _ignore_case(guess: Guess) -> Guess:
    """The same; if rare values differ from labels in case alone, which then does not matter."""
    folded = {label.casefold() for label in guess.labels}
    known = {*guess.labels, *guess.recode}
    if guess.type != "categorical" or len(folded) < len(guess.labels):
        return guess
    if not any(one.casefold() in folded and one not in known for one in guess.rare):
        return guess
    recode = {rule: leaf for rule, leaf in guess.recode.items() if rule.casefold() not in folded}
    return replace(guess.having(ignore="[case]"), recode=recode)


@dataclass(frozen=True, kw_only=True)
class _Values:
    """The different values of a column, and which of them may be proposed.

    Args:
        distinct: All of them.
        common: Those that enough rows have and that do not look like free text.
        rare: The first of those that too few rows have, as texts.
        covered: The share of the rows that have common ones.
        but_most: How many rows have another value than the most frequent one.
        who: Whom each row is about; None if each is about somebody else.
    """

    distinct: Any
    common: Any
    rare: tuple[str, ...]
    covered: float
    but_most: int
    who: Any

    @staticmethod
    def of(present: Any, who: Any) -> _Values:
        counted = pc.value_counts(present)
        distinct, rows = counted.field("values"), counted.field("counts")
        often = pc.greater_equal(rows, FEWEST)
        rare = to_list(distinct.filter(pc.invert(often)).slice(0, _KEPT))
        if pa.types.is_string(present.type):
            texts = distinct.filter(often).to_pylist()
            odd = pa.array([text for text in texts if odd_label(text)], pa.string())
            often = pc.and_not(often, pc.is_in(distinct, value_set=odd))
        return _Values(
            distinct=distinct, common=distinct.filter(often),
            rare=tuple(text_of(value) or "" for value in rare),
            covered=(pc.sum(rows.filter(often)).as_py() or 0) / len(present),
            but_most=len(present) - pc.max(rows).as_py(), who=who,
        )  # fmt: skip


def _values(name: str, present: Any, values: _Values, rules: Mapping[str, str]) -> Guess | None:
    """A column that is recognised by how its values are written; None for all others."""
    distinct = values.distinct
    if len(distinct) > _MOST_DISTINCT or pa.types.is_date32(present.type):
        return None
    labels = sorted({text_of(value) or "" for value in distinct.to_pylist()})
    few = len(labels) <= _VALUES
    if few and set(labels) <= {"true", "false"}:
        return Guess(settings={"type": "boolean", **rules}, labels=("false", "true"))
    if any(label_fault(label) is not None for label in labels):
        return None
    # Words for yes and no are public, whoever says them; how few write them is not.
    often = sorted(labels, key=lambda label: label in values.rare) if few else []
    if few and (truth := truth_values(often)) is not None:
        pair, recode = truth
        kept = {rule: leaf for rule, leaf in recode.items() if rule not in values.rare}
        guess = _categorical(pair, rules, _SPELLINGS if kept else "", kept)
        return replace(guess, partial=len(kept) < len(recode), rare=values.rare)
    if (known := find_list(name, labels)) is not None:
        settings = {"type": "categorical", "taxonomy": known, "outside": "other", **rules}
        exact = _attribute(known)
        if known in _NAMES and any(
            label not in exact.taxonomy.leaves and exact.reading.leaf(label) is None
            for label in labels if _fits(known, label)
        ):  # fmt: skip
            settings["ignore"] = "[case]"
        edition = f" ({_EDITIONS[known]})" if known in _EDITIONS else ""
        return Guess(
            settings=settings, comment=f"Its values are those of the list {known}{edition}."
        )
    if pa.types.is_integer(present.type) and {len(label) for label in labels} == {_DAY}:
        present = present.cast(pa.string())
    if not pa.types.is_string(present.type) or len(labels) < 2:
        return None
    if (written := notation(labels)) is not None:
        return _guess_notation(name, present, values.who, rules, *written)
    if formats := date_formats(labels):
        days = pc.strptime(present, format=formats[0], unit="s").cast(pa.date32())
        comment = "" if len(formats) == 1 else _EITHER.format(first=formats[0], second=formats[1])
        guess = _numeric(name, days, values.who, rules, comment)
        return replace(guess.having(format=f'"{formats[0]}"'), dates=labels)
    return None


def _by_shape(name: str, present: Any, values: _Values, rules: Mapping[str, str]) -> Guess:
    """A column by its type, its name and how many values it has."""
    if (numbers := _among(present)) is not None:
        guess = guess_column(name, [present.filter(numbers)], _filter(values.who, numbers))
        if guess.type == "numeric":
            comment = f"{_STRAYS} {guess.comment}".strip()
            return replace(guess.having(**_OTHERS), comment=comment, partial=True)
    people = find_people(name, present, values.distinct)
    if people is not None:
        way = _advise(present) if people.rank == 0 else ""
        return Guess(people=people, comment=f"{way} {people.comment(chosen=False)}".strip())
    doubtful = is_doubtful(name, present, values.distinct)
    few = len(values.common) <= _VALUES
    code = pa.types.is_integer(present.type) and is_code(name)
    by_size = values.common.take(pc.sort_indices(values.common))
    common = to_list(by_size) if few else []
    if code and common and common[-1] - common[0] < min(2 * len(common) + _GAPS, _VALUES):
        common = list(range(min(common[0], 1), common[-1] + 1))  # a code book has the others
    labels = list(dict.fromkeys(text_of(value) or "" for value in common))
    partial = len(values.common) < len(values.distinct)
    if not pa.types.is_string(present.type) and not code:
        guess = _numeric(name, present, values.who, rules, ASK_ABOUT_ATTRIBUTE if doubtful else "")
        shown = labels if len(values.distinct) <= _VALUES else ()
        return replace(guess, labels=shown, partial=partial, rare=values.rare)
    if not few or values.covered < _COVERED:
        many = len(values.distinct) > _VALUES
        way = _advise(present) or (_TOO_MANY if many else _RARE.format(fewest=FEWEST))
        comment = f"{way} {ASK_ABOUT_DROPPED}" if doubtful else way
        return Guess(comment=comment, rare=values.rare)
    if any(label_fault(label) is not None for label in labels):
        return Guess(comment="Some value holds a line break or another unseen character.")
    labels, recode = spellings(labels)
    found_order = sort_bands(labels) or code_order(labels) or word_order(labels) or labels
    comment = _SPELLINGS if recode else ""
    if partial:
        share = 1 - values.covered
        words = "less than 1%" if share < 0.01 else f"about {share:.0%}"
        comment = f"{comment} {_LEFT_OUT.format(fewest=FEWEST, share=words)}".strip()
    guess = _categorical(found_order, rules, comment, recode)
    return replace(guess, partial=partial, rare=values.rare)


def _guess_notation(
    name: str, present: Any, who: Any, rules: Mapping[str, str], signs: Mapping[str, str],
    certain: bool,
) -> Guess | None:  # fmt: skip
    """Numbers whose notation is declared with them."""
    texts = pc.replace_substring(present, signs.get("thousands", ","), "")
    if "decimal" in signs:
        texts = pc.replace_substring(present, signs.get("thousands", "."), "")
        texts = pc.replace_substring(texts, ",", ".")
    guess = guess_column(name, [texts], who)
    if guess.type != "numeric":
        return None
    comment = guess.comment if certain else f"{_GROUPS} {guess.comment}".strip()
    guess = guess.having(**{key: f'"{sign}"' for key, sign in signs.items()}, **rules)
    return replace(guess, labels=(), recode={}, comment=comment)


def _categorical(
    labels: Sequence[str],
    rules: Mapping[str, str],
    comment: str = "",
    recode: Mapping[str, str] | None = None,
) -> Guess:
    settings = {"type": "categorical", **rules}
    if "Any" in labels:  # the root of the taxonomy needs a name that no leaf has
        settings["root"] = '"Any value"' if "Any value" not in labels else '"Any value at all"'
    return Guess(settings=settings, labels=labels, recode=recode or {}, comment=comment)


def _advise(present: Any) -> str:
    """What to do about texts if most of them are numbers or dates, however they are written."""
    for shape, way in _WRITTEN.items() if pa.types.is_string(present.type) else ():
        if 2 * (pc.sum(pc.match_substring_regex(present, shape)).as_py() or 0) > len(present):
            return way
    return ""


def _among(present: Any) -> Any:
    """Which are the numbers of a column of many and a few texts; None if it is something else."""
    if not pa.types.is_string(present.type):
        return None
    numbers = pc.match_substring_regex(present, _NUMBER)
    strays = len(present) - (pc.sum(numbers).as_py() or 0)
    few = len(pc.unique(present.filter(numbers))) <= _VALUES
    return None if not strays or strays > _MOST_STRAYS * len(present) or few else numbers


def _filter(who: Any, kept: Any) -> Any:
    """Whom the values that are kept are about."""
    return None if who is None else who.filter(kept)


def _year(day: int) -> int:
    """The year of a day that is counted from 1970; Python's calendar ends what lies beyond it."""
    ordinal = day + datetime.date(1970, 1, 1).toordinal()
    return datetime.date.fromordinal(min(max(1, ordinal), datetime.date.max.toordinal())).year


def _numeric(name: str, present: Any, who: Any, rules: Mapping[str, str], comment: str) -> Guess:
    """Bounds that enough people reach, so that no record by itself decides about any of them."""
    dates = pa.types.is_date32(present.type)
    codes = [] if dates else _missing_codes(present, who)
    if codes:
        kept = pc.invert(pc.is_in(present, value_set=pa.array(codes, present.type)))
        present, who = present.filter(kept), _filter(who, kept)
        rules = {**rules, "outside": "other"}
        shown = ", ".join(text_of(code) or "" for code in codes)
        comment = f"{_CODES.format(codes=shown)} {comment}".strip()
    numbers = present.cast(pa.int32()) if dates else present
    ends, extremes = _ends(numbers, who), pc.min_max(numbers).as_py()
    warning, far = "", False
    if dates:
        low = datetime.date(_year(ends["min"]), 1, 1)
        high = datetime.date(_year(ends["max"]), 12, 31)
        days = (high - low).days
        step = 1 if days <= _GRID else 7 if days <= 7 * _GRID else 30
        bounds = {"low": low.isoformat(), "high": high.isoformat(), "step": str(step)}
    else:
        whole = pa.types.is_integer(present.type)
        least, most = (
            max(-_FARTHEST, min(Decimal(str(ends[end])), _FARTHEST)) for end in ("min", "max")
        )
        places = 0 if whole else _places(present, who)
        usual = _USUAL.get((words_of(name) or [""])[-1])
        # the numbers of bands, say, are not ages
        if usual and usual[0] <= ends["min"] and usual[1] / 10 < ends["max"] <= usual[1]:
            least, most = map(Decimal, usual)
        elif whole and (ends["min"], ends["max"]) == _CLOSED and _all_occur(present):
            least, most = map(Decimal, _CLOSED)
        else:
            least, most = _wider(least, most, places)
        bounds = _bounds(least, most, whole, places)
        numbers = numbers if who is None else _of_each(numbers, who, "first")
        middle = pc.quantile(numbers, 0.75)[0].as_py()
        tail = middle - ends["min"] < _TAIL * (ends["max"] - ends["min"])
        span = Decimal(bounds["high"]) - Decimal(bounds["low"])
        if tail and span > _COUNTED * Decimal(bounds["step"]):
            bounds["scale"] = "log"
            bounds["step"] = _finer(numbers, bounds, whole, places)
        if (share := _merged(numbers, bounds)) > _MERGED_SAID:
            warning = _ONE_STEP.format(share=min(share, 0.99))
    reach = ends["max"] - ends["min"]
    if extremes["max"] > ends["max"] + 2 * reach or extremes["min"] < ends["min"] - 2 * reach:
        far = bool(reach)
        warning = f"{_FAR} {warning}".strip() if far else warning
    settings = {"type": "numeric", **bounds, "outside": "clip", **rules}
    return Guess(settings=settings, comment=comment, warning=warning, far=far)


def _all_occur(present: Any) -> bool:
    """Whether enough rows have each value of a scale, and few another one."""
    counted = pc.value_counts(present)
    often = pc.greater(counted.field("counts"), _beyond(len(present)))
    return set(counted.field("values").filter(often).to_pylist()) == {
        *range(_CLOSED[0], _CLOSED[1] + 1)
    }


def _merged(numbers: Any, bounds: Mapping[str, str]) -> float:
    """The share of the rows in the fullest step that have another value than most rows in it.

    Example:
        >>> bounds = {"low": "0", "high": "100", "step": "10"}
        >>> _merged(pa.array([0, 0, 0, 4, 5, 40]), bounds)
        0.3333333333333333
    """
    counted = pc.value_counts(numbers)
    low, high, step = (float(bounds[key]) for key in ("low", "high", "step"))
    values = np.clip(counted.field("values").to_numpy().astype(np.float64), low, high)
    rows = counted.field("counts").to_numpy()
    _, steps = np.unique(np.floor((values - low) / step), return_inverse=True)
    most = np.zeros(steps.max() + 1, dtype=np.int64)
    np.maximum.at(most, steps, rows)
    return float((np.bincount(steps, rows) - most).max() / len(numbers))


def _finer(numbers: Any, bounds: Mapping[str, str], whole: bool, places: int | None) -> str:
    """A step that keeps apart what many rows of a long tail's beginning have, as far as it goes.

    Example:
        >>> bounds = {"low": "0", "high": "20000", "step": "100"}
        >>> _finer(pa.array([*range(0, 60), 20_000]), bounds, True, 0)
        '2'
    """
    low, high = Decimal(bounds["low"]), Decimal(bounds["high"])
    step = Decimal(bounds["step"])
    least = Decimal(1) if whole else Decimal(1).scaleb(-(places or 12))
    while _merged(numbers, {**bounds, "step": str(step)}) > _MERGED:
        finer = _round_up(step / Decimal("2.6"))  # 1, 2, 5, and 1 again
        if finer < least or finer >= step or high - low > _MOST_GRID * finer:
            break
        step = finer
    return _show_number(step, whole)


def _missing_codes(present: Any, who: Any = None) -> list[Any]:
    """Numbers that many rows have, such as -1 or 999, and that lie apart from all others.

    Example:
        >>> _missing_codes(pa.array([*range(80), *[999] * 20]))
        [999]
        >>> _missing_codes(pa.array([*range(80), *[99] * 20])), _missing_codes(pa.array([999] * 3))
        ([], [])
    """
    counted = pc.value_counts(present)
    often = pc.greater_equal(counted.field("counts"), FEWEST)
    values = counted.field("values")
    common = [one for one in values.filter(often).to_pylist() if one in _MISSING]
    if not common:
        return []
    kept = pc.invert(pc.is_in(present, value_set=pa.array(common, present.type)))
    rest = present.filter(kept)
    if len(pc.unique(rest)) < _LEAST_SCALE:
        return []
    ends = _ends(rest, _filter(who, kept))
    return sorted(
        one for one in common
        if (one < 0 <= ends["min"]) or one > _APART * max(ends["max"], 1)
        or (one < 0 and ends["min"] - one > ends["max"] - ends["min"])
    )  # fmt: skip


def _beyond(rows: int) -> int:
    """Of how many rows, or people, nothing may be told by a bound or a step."""
    return min(FEWEST - 1, rows // _TAILS + 1, (rows - 1) // 2)


def _of_each(present: Any, who: Any, which: str) -> Any:
    """One value of each person: the first one, the least (`min`) or the largest (`max`)."""
    table = pa.table({"value": present, "who": who})
    each = table.group_by("who", use_threads=False).aggregate([("value", which)])
    return each[f"value_{which}"].combine_chunks()


def _ends(present: Any, who: Any) -> dict[str, Any]:
    """The ends of the numbers or days that a few people reach, so that no bound tells of one."""
    ends = {}
    for which, order in (("min", "ascending"), ("max", "descending")):
        each = present if who is None else _of_each(present, who, which)
        place = pc.array_sort_indices(each, order=order)[_beyond(len(each))].as_py()
        ends[which] = each[place].as_py()
    return ends


def _places(present: Any, who: Any) -> int | None:
    """How many places after the point decimals need, but for few people; None for many places."""
    people = present if who is None else who
    most = _beyond(len(people if who is None else people.unique()))
    for places in range(1, 4):
        finer = people.filter(pc.not_equal(pc.round(present, ndigits=places), present))
        if len(finer if who is None else finer.unique()) <= most:
            return places
    return None


def _wider(low: Decimal, high: Decimal, places: int | None) -> tuple[Decimal, Decimal]:
    """Round bounds in place of the extremes, each of which may be one person's value.

    Bounds not far from zero are 1, 2 or 5 times a power of ten, others multiples of such a number;
    a low of 0 or 1 is round enough.

    Example:
        >>> pairs = (0, 13), (1987, 2013), (1, 3)
        >>> [tuple(map(int, _wider(Decimal(a), Decimal(b), 0))) for a, b in pairs]
        [(0, 20), (1980, 2020), (1, 5)]
    """
    if low <= 0 <= high or 0 < 4 * low <= high or low == 1:
        below = -_round_up(-low) if low < 0 else Decimal(int(low == 1))
        return below, _round_up(high) if high else high
    unit = _round_up((high - low) / 2)
    if places == 0 and low in _YEARS and high in _YEARS:  # decades: a year has no round half
        unit = min(unit, Decimal(10))
    if places is not None:  # multiples of less would be the values themselves
        unit = max(unit, Decimal(5).scaleb(-places))
    # of a number with many digits, the last ones are told by nobody
    unit = max(unit, _round_up(max(abs(low), abs(high)).scaleb(-12)))
    return _multiple(low, unit, ROUND_FLOOR), _multiple(high, unit, ROUND_CEILING)


def _multiple(value: Decimal, unit: Decimal, rounding: str) -> Decimal:
    return (value / unit).to_integral_value(rounding) * unit


def _bounds(low: Decimal, high: Decimal, whole: bool, places: int | None) -> dict[str, str]:
    """Bounds as multiples of a round number, and a step that makes a grid of moderate size."""
    span = high - low or max(Decimal(1), abs(high).scaleb(-12))  # more than rounding would lose
    span = max(span, Decimal("1e-12"))  # finer steps have more digits than a schema takes
    unit = _round_up(span / 20, whole)
    low, high = _multiple(low, unit, ROUND_FLOOR), _multiple(high, unit, ROUND_CEILING)
    if low == high:
        high += unit
    step = _round_up((high - low) / _GRID, whole)
    if places is not None:
        step = max(step, Decimal(1).scaleb(-places))

    return {key: _show_number(value, whole)
            for key, value in (("low", low), ("high", high), ("step", step))}  # fmt: skip


def _show_number(value: Decimal, whole: bool) -> str:
    """A bound or step as a schema writes it, which tells decimals from integers by the point."""
    if whole:
        return str(int(value))
    digits, _, places = format(value, "f").partition(".")
    return f"{digits}.{places.rstrip('0') or '0'}"


def _round_up(value: Decimal, whole: bool = False) -> Decimal:
    """The next of ..., 0.1, 0.2, 0.5, 1, 2, 5, 10, ..."""
    value = max(value, Decimal("1e-13"))
    power = Decimal(1).scaleb(math.floor(value.log10()))
    rounded = next(power * digit for digit in (1, 2, 5, 10) if power * digit >= value)
    return max(rounded, Decimal(1)) if whole else rounded
