"""Guesses whether a column of private data identifies people, by its name and its values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.data.encode import flat_array, is_missing, text_of

# The values of a column of private data, as a draft looks at them.


_FEW = 200  # different texts, up to which their spellings are told


def once_each(name: str, parts: Sequence[Any], people: Any) -> tuple[list[Any], Any]:
    """The values of a column, each once for every person who has it, and who that is.

    Args:
        name: The name of the column.
        parts: Its values, as Arrow arrays.
        people: Who each row is about, as an Arrow array.

    Example:
        >>> [part], who = once_each("ward", [pa.array(["a", "a", "b"])], pa.array(["P1"] * 3))
        >>> sorted(part.to_pylist()), who.to_pylist()
        (['a', 'b'], ['P1', 'P1'])
    """
    array = _join(name, parts)
    if pa.types.is_string(array.type):  # blanks around it make no other value
        array = pc.utf8_trim_whitespace(array)
    table = pa.table(
        {"value": array, "who": people, "row": pa.array(range(len(array)), pa.int64())}
    )
    rows = table.group_by(["value", "who"]).aggregate([("row", "min")])["row_min"]
    first = rows.combine_chunks()
    return [array.take(first)], people.take(first)


def texts_of(name: str, parts: Sequence[Any]) -> Any:
    """The values of a column as texts, for comparison alone; null for what is missing."""
    array = _join(name, parts)
    texts = array if pa.types.is_string(array.type) else array.cast(pa.string())
    trimmed = pc.utf8_trim_whitespace(texts)
    return pc.if_else(is_missing(trimmed), pa.scalar(None, pa.string()), trimmed)


def tidy(name: str, parts: Sequence[Any]) -> tuple[Any, dict[str, tuple[str, int]]]:
    """One array of texts, numbers, booleans or days, with null for what is missing.

    Args:
        name: The name of the column.
        parts: Its values, as Arrow arrays.

    Returns:
        The array, and of few numbers that a file writes otherwise than a schema would (`1.0`, which
        is 1) what they are, by how they are written.

    Example:
        >>> tidy("ill", [pa.array(["1.0", "0.0", "NA", "1.0"])])[1]
        {'1.0': ('1', 2), '0.0': ('0', 1)}
    """
    array = _join(name, parts)
    if pa.types.is_floating(array.type):
        finite = pc.is_finite(array)
        array = pc.if_else(finite, array.cast(pa.float64()), pa.scalar(None, pa.float64()))
        return _whole_if_possible(array), {}
    if not pa.types.is_string(array.type):
        return array, {}
    written = pc.utf8_trim_whitespace(array)
    texts = texts_of(name, [array])
    # Digits after a leading zero are a code (a post code, say), not a number.
    if pc.any(pc.match_substring_regex(texts, r"^[+-]?0\d")).as_py():
        return texts, {}
    for kind in (pa.int64(), pa.float64(), pa.date32()):
        try:
            cast = texts.cast(kind)
        except pa.ArrowException:
            continue
        if pa.types.is_floating(kind) and not pc.all(pc.is_finite(cast)).as_py():
            continue
        cast = _whole_if_possible(cast) if pa.types.is_floating(kind) else cast
        return cast, _respelt(texts, kind)
    # Beside other words, None may well be one: nothing was measured, nothing was taken.
    return pc.if_else(pc.equal(pc.utf8_lower(written), "none"), written, texts), {}


def _join(name: str, parts: Sequence[Any]) -> Any:
    """One array of all parts, of a plain type."""
    flat = [flat_array(part, name) for part in parts]
    return pa.concat_arrays(flat) if flat else pa.nulls(0)


def _respelt(texts: Any, kind: Any) -> dict[str, tuple[str, int]]:
    """What few numbers are whose texts are not what a schema would write."""
    if not pa.types.is_floating(kind):
        return {}
    counted = pc.value_counts(texts.drop_null())
    distinct, rows = counted.field("values"), counted.field("counts").to_pylist()
    if len(distinct) > _FEW:
        return {}
    numbers = _whole_if_possible(distinct.cast(kind)).to_pylist()
    labels = (text_of(number) or "" for number in numbers)
    return {
        text: (label, number)
        for text, label, number in zip(distinct.to_pylist(), labels, rows, strict=True)
        if text != label
    }


def has_infinite(part: Any) -> bool:
    """Whether an array of numbers has one that is infinite."""
    kind = part.type
    return bool(pa.types.is_floating(kind) and pc.any(pc.is_inf(part.cast(pa.float64()))).as_py())


def _whole_if_possible(array: Any) -> Any:
    try:
        return array.cast(pa.int64(), safe=True)
    except pa.ArrowException:
        return array


_MANY = 20  # fewer values than this are those of a code; in fewer rows, differing says little
_ROWS = 50  # a value of more rows than this, on average, is not one person's
_SEVERAL = 10  # if the name does not speak of people, one of more rows than this hardly is
_EXPECTED = 5  # pairs of rows with the same number, if it were drawn from the range at random
NAMED = 4  # the rank of a column whose name says that it is about people
_CERTAIN = 100  # fewer numbers than this can look like people's by chance

_IF_SEVERAL = (
    "if a person can have several rows, make it the person's column with a cap of your choice "
    "(role: person, max_rows: 3)"
)
ASK_ABOUT_ATTRIBUTE = f"Does it number people? Then leave it out (role: identifier); {_IF_SEVERAL}."
ASK_ABOUT_DROPPED = f"Does it identify people? Then, {_IF_SEVERAL}."
REPEATED = ("it seems to identify people, and values repeat", "it may identify people too")
"""What the comment of a draft says about a column of people that have several rows."""

Name = Literal["people", "key", "id", "direct", "measure", "event", ""]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words for people. Alone, or with a word for a number, they name who a row is about; in
# `patient_age` they do not.
_PEOPLE = _words(
    "patient pat person people subject subj participant respondent member client customer cust "
    "user employee emp worker student pupil citizen resident donor owner voter insured "
    "beneficiary bene enrollee applicant taxpayer inmate subscriber login username individual case"
)
# What belongs to one person at most, whatever stands beside it.
_KEYS = _words("mrn ssn nhs passport iban email mail cookie imei pseudonym")
# What identifies people, though two of them can share it.
_DIRECT = _words(
    "name surname forename firstname lastname fullname phone telephone tel mobile fax address "
    "street initials"
)
_ALONE = _words("id uid uuid guid pid identifier household hh account acct")
_NUMBERS = _words(
    "id no nr nbr num number nummer numero identifier uid uuid guid hash ref reference"
)
_ENDINGS = ("nr", "nbr", "number", "nummer", "numero", "uuid", "guid")  # also glued: `kundennr`
_CODES = _words("id code key")
_LABELED = _words("sex gender race ethnicity marital religion")  # numbers there are labels
_BESIDE = _words(
    "e unique national study survey first last middle full given family home work contact medical "
    "record chart file social security health insurance tax card policy licence license hashed "
    "anon enc token code key the of"
)
_VOCABULARY = _PEOPLE | _KEYS | _DIRECT | _ALONE | _NUMBERS | _BESIDE
# What rows or places are numbered by: dropped, but not taken for people.
_EVENTS = _words(
    "encounter visit admission stay episode claim order invoice transaction event session row line "
    "sample specimen test hospital provider doctor physician ward clinic practice site school "
    "product item drug store shop branch department device sensor batch trip stock sku college "
    "university institution institute faculty company firm employer enterprise organisation "
    "organization agency office bank facility station centre center team club course municipality"
)
# What a fine number, or a code of many values, may well be.
_MEASURES = _words(
    "age year month week day date time timestamp ts epoch hour minute second duration length los "
    "born birth birthday dob died death weight wgt wt grams height size bmi income earnings wage "
    "salary pay price cost charge fee amount amt balance loan debt revenue turnover sale asset "
    "value total sum mean count score rate ratio percent pct population pop gain loss distance "
    "area lat latitude lon lng longitude zip zipcode postcode postal plz puma fips tract county "
    "city town country state region diag diagnosis icd cpt ndc atc dose level pressure glucose "
    "cholesterol temperature temp"
)

# What a person does not change from row to row, but for mistakes.
_LASTING = _words("sex gender race ethnicity born birth birthday birthdate birthyear dob yob")
_MISTAKEN = 0.2  # of the rows that follow another one with the same value

_SHAPES = {
    "e-mail addresses": r"^[^@\s]+@[^@\s]+\.[^@\s]+$",
    "UUIDs": r"^\{?[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}?$",
    "hashes": r"^[0-9A-Fa-f]{16,}$",
}
# What numbered people look like: P000123, AB-1234, 00042, 123-45-6789.
_NUMBERED = r"^[A-Za-z]{0,4}[-_ ]?\d{3,}$|^\+?\d{2,5}([-/ ]\d{2,8}){1,4}$"


@dataclass(frozen=True, kw_only=True)
class People:
    """A column that seems to identify people.

    Args:
        why: What speaks for it, as the beginning of a sentence.
        rank: How likely it is that its values are people; 0 if they only identify them.
        repeats: Whether values repeat, so that people have several rows.
    """

    why: str
    rank: int
    repeats: bool

    def comment(self, chosen: bool) -> str:
        """What a draft says beside the column.

        Args:
            chosen: Whether the draft gives it the role of the person.
        """
        if chosen:
            return (
                f"{self.why}: {REPEATED[0]}. Choose from public "
                "knowledge how many rows of one person may count (max_rows), and make the person "
                "the unit (unit: person). If it does not identify people, leave it out (role: "
                "identifier)."
            )
        if self.rank == 0:
            return f"{self.why}, so it is dropped. {ASK_ABOUT_DROPPED}"
        if self.repeats:
            return (
                f"{self.why}: {REPEATED[1]}, so it is dropped. One column alone "
                "can have the role of the person: choose the one that a person never changes."
            )
        return (
            f"{self.why}: it seems to identify people, and no value repeats, so it is dropped. "
            f"But {_IF_SEVERAL}, or only single rows are protected."
        )


def find_people(name: str, present: Any, distinct: Any) -> People | None:
    """Whether a column identifies people, or nearly so.

    Args:
        name: Its name.
        present: Its values without missing ones, as an Arrow array of texts, numbers, booleans or
            days.
        distinct: The different ones among them.

    Example:
        >>> numbers = pa.array([31_415, 926_535, 926_535, 8_979])
        >>> find_people("patient_nbr", numbers, numbers.unique()).repeats
        True
        >>> find_people("weight", numbers, numbers.unique()) is None
        True
    """
    said, kind = _name(name), present.type
    rows, values = len(present), len(distinct)
    repeats = values < rows
    if pa.types.is_boolean(kind) or (pa.types.is_floating(kind) and (repeats or not said)):
        return None
    seems: tuple[str, int] | None = None
    many = values >= _MANY and rows <= _ROWS * values
    if said in ("people", "key", "direct"):
        # A study may have nine patients, but a word of eight values in thousands of rows is a code.
        few = values < _MANY and rows > _MANY * values
        if few or (said == "key" and values >= _MANY and not many):
            return None
        rank = {"people": NAMED, "key": 3, "direct": 0}[said]
        who = "stands for people" if rank else "identifies people"
        seems = f"Its name says that it {who}", rank
    elif said in ("id", "event") and many:
        rank = 2 if said == "id" and rows <= _SEVERAL * values else 0
        seems = "Its name is that of an identifier", rank
    elif values >= _MANY and pa.types.is_string(kind):
        seems = _texts(said, rows, distinct)
    elif values >= _MANY and pa.types.is_integer(kind) and not said:
        seems = _numbers(rows, distinct)
    return None if seems is None else People(why=seems[0], rank=seems[1], repeats=repeats)


def not_a_person(parts: Sequence[Any], others: Sequence[tuple[str, Sequence[Any]]]) -> str:
    """Why a column cannot tell people apart, as the beginning of a sentence; nothing if it can.

    The rows of a college are those of many people: their sex and their birthdays differ.

    Args:
        parts: Its values, as Arrow arrays.
        others: The other columns by name, with their values.

    Example:
        >>> college = [pa.array(["C1", "C1", "C1", "C2", "C2", "C2"])]
        >>> not_a_person(college, [("sex", [pa.array(["f", "m", "f", "f", "m", "m"])])])
        'Rows with the same value differ in sex'
        >>> not_a_person(college, [("sex", [pa.array(["f", "f", "f", "m", "m", "m"])])])
        ''
    """
    lasting = [(name, part) for name, part in others if _LASTING & set(words_of(name)[-1:])
               or {"birth", "date"} <= set(words_of(name))]  # fmt: skip
    if not lasting:
        return ""
    who = texts_of("", parts)
    order = pc.sort_indices(who)
    who = who.take(order)
    again = pc.equal(who.slice(1), who.slice(0, len(who) - 1)) if len(who) > 1 else who
    for name, part in lasting:
        value = texts_of(name, part).take(order)
        differs = pc.not_equal(value.slice(1), value.slice(0, len(value) - 1)).filter(again)
        if (pc.mean(differs).as_py() or 0) > _MISTAKEN:
            return f"Rows with the same value differ in {name}"
    return ""


def is_doubtful(name: str, present: Any, distinct: Any) -> bool:
    """Whether a draft should ask if a column identifies people that it took for something else.

    Args:
        name: Its name.
        present: Its values without missing ones.
        distinct: The different ones among them.
    """
    said, rows, values = _name(name), len(present), len(distinct)
    if said == "measure":
        return False
    if pa.types.is_string(present.type):
        return rows <= _ROWS * values
    if not pa.types.is_integer(present.type):
        return False
    ends = pc.min_max(distinct).as_py()
    scattered = ends["max"] - ends["min"] > _SEVERAL * values
    many = values >= _MANY and rows <= 5 * values
    return said in ("people", "key") or (many and scattered and not _days(distinct))


def is_code(name: str) -> bool:
    """Whether a name says that numbers are labels, as in `admission_type_id`.

    Example:
        >>> is_code("admission_type_id"), is_code("sex"), is_code("education-num")
        (True, True, False)
    """
    words = words_of(name)
    return bool(_LABELED & set(words[-1:])) or (len(words) > 1 and words[-1] in _CODES)


def _texts(said: Name, rows: int, distinct: Any) -> tuple[str, int] | None:
    """What speaks for it that texts are people, and how likely that is."""
    values = len(distinct)
    if said not in ("measure", "event") and rows <= _SEVERAL * values:
        for what, shape in _SHAPES.items():
            if pc.all(pc.match_substring_regex(distinct, shape)).as_py():
                return f"Its values look like {what}", 2
        if pc.all(pc.match_substring_regex(distinct, _NUMBERED)).as_py():
            return "Its values look like numbered people", 1
    if values == rows:
        return "Every row has a value of its own", 0
    return ("It has nearly as many values as rows", 0) if 3 * values >= rows else None


def _numbers(rows: int, distinct: Any) -> tuple[str, int] | None:
    """The same of whole numbers whose name says nothing."""
    values = len(distinct)
    ends = pc.min_max(distinct).as_py()
    low, high = ends["min"], ends["max"]
    repeats = values < rows
    if low in (0, 1) and high - low + 1 == values:  # measurements leave gaps
        if not repeats:
            return "It numbers the rows", 0
        if values >= _CERTAIN and 5 * values >= rows:
            return "Its numbers run without a gap", 1
    if not repeats and _EXPECTED * 2 * (high - low + 1) <= values**2:
        return "No two rows share a number, though it has few to choose from", 0
    if rows > _SEVERAL * values or _days(distinct):
        return None
    long = pc.quantile(pc.abs(distinct), 0.5)[0].as_py() >= 10**7
    alike = values >= _CERTAIN and low > 0 and len(str(low)) == len(str(high)) >= 6
    return ("It has many different long numbers", 1) if long or alike else None


def _days(distinct: Any) -> bool:
    """Whether numbers are all days, written as 20240131.

    Example:
        >>> _days(pa.array([20240131, 19991224])), _days(pa.array([20240131, 20241324]))
        (True, False)
    """
    ends = pc.min_max(distinct).as_py()
    if not 18_000_101 <= ends["min"] <= ends["max"] <= 21_001_231:
        return False
    numbers = distinct.to_numpy(zero_copy_only=False)
    month, day = numbers // 100 % 100, numbers % 100
    return bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())


def _name(name: str) -> Name:
    """What a column's name says about it.

    Example:
        >>> [_name(name) for name in ("PATIENT NUMBER", "patientId", "pat_no", "userid", "MRN")]
        ['people', 'people', 'people', 'people', 'people']
        >>> [_name(name) for name in ("id", "e-mail", "first name", "encounter_id", "fnlwgt")]
        ['key', 'people', 'direct', 'event', '']
        >>> _name("patient_age"), _name("number_inpatient"), _name("survey_ref"), _name("zip")
        ('measure', '', 'key', 'measure')
    """
    words = words_of(name)
    if not words:
        return ""
    present = set(words)
    if present <= _VOCABULARY:
        if present & _KEYS:
            return "people"
        if present & _DIRECT:
            return "direct"
        if present & _PEOPLE:
            return "people"
        if words[-1] in _ALONE or (len(words) > 1 and words[-1] in _NUMBERS):
            return "key"
    if words[-1] in _NUMBERS - {"num"}:
        return "event" if present & (_EVENTS | _MEASURES) else "id"
    return "measure" if present & _MEASURES or is_code(name) else ""


def words_of(name: str) -> list[str]:
    """The words of a name, in lower case and singular if they are known.

    Example:
        >>> words_of("patientIds"), words_of("x_1")
        (['patient', 'id'], ['x'])
    """
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return [part for word in re.findall(r"[^\W\d_]+", parted.casefold()) for part in _split(word)]


def _split(word: str) -> list[str]:
    known = _VOCABULARY | _EVENTS | _MEASURES
    if word not in known and word.removesuffix("s") in known:
        word = word.removesuffix("s")
    if word in known:
        return [word]
    for number in _NUMBERS - {"num"}:  # `patientid`, `custno`
        if word.endswith(number) and word.removesuffix(number) in _PEOPLE | _ALONE | _EVENTS:
            return [word.removesuffix(number), number]
    for number in _ENDINGS:
        if word.endswith(number):
            return [word.removesuffix(number), number]
    return [word]
