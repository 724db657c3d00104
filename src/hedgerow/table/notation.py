"""From texts to codes of numbers and dates: each text by itself, exactly, as the schema declares.

What becomes of a text must follow from that text and the schema alone, or one record could change
how all others are read. So there is one parser for each kind, whatever else a column holds. A text
that cannot be read is strange; if people often write that way, its code says what to declare.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable
from functools import cache

from hedgerow.schema.attributes import SERIALS, Numeric, date_pattern

__all__ = [
    "ABOVE",
    "BELOW",
    "COMMA",
    "DOTS",
    "EITHER",
    "GROUPS",
    "MISSING",
    "NAMED",
    "NEAR",
    "PACKED",
    "POINT",
    "SERIAL",
    "SHORT",
    "SIGN",
    "SLASHES",
    "STRANGE",
    "WAYS",
    "number_of",
    "text_reader",
]

MISSING, BELOW, ABOVE, STRANGE = -1, -2, -3, -4

# Strange too, but of a shape that a person should hear about, with the way out.
COMMA, EITHER, POINT, GROUPS, SIGN, NEAR = -5, -6, -7, -8, -9, -10
SLASHES, DOTS, SERIAL, PACKED, NAMED, SHORT = -11, -12, -13, -14, -15, -16

# what to tell of columns that hold such texts
WAYS = {
    COMMA: 'Numbers in {} have a comma: if it is a decimal comma, declare `decimal: ","`.',
    EITHER: 'Numbers in {} have a comma: declare `thousands: ","` if it separates thousands, or '
    '`decimal: ","` if it is a decimal comma.',
    POINT: "Whole numbers are expected, and some in {} have a point before three digits: declare "
    '`thousands: "."` if it separates thousands, or `decimal: "."` if it is a decimal point.',
    GROUPS: "Numbers in {} have digits in groups: declare what separates them, such as "
    '`thousands: ","`, and the decimal sign if it is a comma, `decimal: ","`.',
    SIGN: "Numbers in {} have a sign such as % or $: leave it out in the data.",
    NEAR: "Values in {} differ from values of the schema only in case or spaces: write "
    "`ignore: [case, spaces]` if that does not matter.",
    SLASHES: 'Dates in {} have slashes or hyphens: declare `format: "%m/%d/%Y"` if the month comes '
    'first, or `format: "%d/%m/%Y"` if the day does.',
    DOTS: 'Dates in {} have points: declare `format: "%d.%m.%Y"`.',
    SERIAL: "Dates in {} seem to be serial days of a spreadsheet: declare `format: excel`.",
    PACKED: 'Dates in {} are eight digits: declare `format: "%Y%m%d"`.',
    NAMED: 'Dates in {} have the name of a month: declare, for example, `format: "%d-%b-%Y"`.',
    SHORT: "Years in {} have two digits, which do not tell the century: write four in the data.",
}
_NUMBER_SHAPES = (
    (re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.A), EITHER),
    (re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?", re.A), COMMA),
    (re.compile(r"[+-]?\d{1,3}([.,'’ \u00a0\u2009\u202f]\d{2,3})+([.,]\d*)?", re.A), GROUPS),
    (re.compile(r"[+-]?([$€£¥]|[A-Z]{3})\s*[+-]?\d[\d.,]*", re.A), SIGN),
    (re.compile(r"[+-]?\d[\d.,]*\s*([$€£¥%]|[A-Z]{3})", re.A), SIGN),
)
_DATE_SHAPES = (
    (re.compile(r"\d{1,2}[/-]\d{1,2}[/-]\d{4}(\D.*)?", re.A), SLASHES),
    (re.compile(r"\d{1,2}\. ?\d{1,2}\. ?\d{4}(\D.*)?", re.A), DOTS),
    (re.compile(r"\d{1,2}[/.-]\d{1,2}[/.-]\d{2}(\D.*)?", re.A), SHORT),
    (re.compile(r"\d{4,5}([.,]\d+)?", re.A), SERIAL),
    (re.compile(r"\d{8}", re.A), PACKED),
    (re.compile(r"(\d{1,2}\W+)?[A-Za-z]{3,9}\W+(\d{1,2}\W+)?\d{4}|\d{1,2}[A-Za-z]{3}\d{4}"), NAMED),
)
_LONGEST = 500  # characters of a number; more would only cost time
_NEARLY = 10**9  # a number as close below a grid point, in parts of a step, belongs to it
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+", re.A)
_INFINITE = re.compile(r"([+-]?)inf(inity)?", re.I)
_SEPARATORS = {",": ",", ".": r"\.", "'": "['’]", " ": "[ \u00a0\u2009\u202f]"}
_TIME = re.compile(
    r"(.*\d)(?:T|\s+)\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:[AaPp][Mm])?\s*"
    r"(?:Z|UTC|[+-]\d{2}:?\d{2})?",
    re.A | re.S,
)
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})", re.A)
_SERIAL_DAY = re.compile(r"(\d{1,7})(?:[.,]\d*)?", re.A)
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_EXCEL = datetime.date(1899, 12, 30).toordinal() - _EPOCH
_EXCEL_1904 = datetime.date(1904, 1, 1).toordinal() - _EPOCH


def text_reader(attribute: Numeric) -> Callable[[str], int]:
    """What turns a text without blanks around it into the code of an attribute.

    Example:
        >>> from fractions import Fraction
        >>> pay = Numeric("pay", low=Fraction(0), high=Fraction(99999), step=Fraction(1),
        ...     kind="integer")
        >>> [text_reader(pay)(text) for text in ("12345", "12,345", "12.345", "1e3", "much")]
        [12345, -6, -7, 1000, -4]
        >>> pay = Numeric("pay", low=pay.low, high=pay.high, step=pay.step, kind="integer",
        ...     thousands=".")
        >>> [text_reader(pay)(text) for text in ("12345", "12.345", "12.345,9", "12.34")]
        [12345, 12345, 12345, -8]
    """
    return _date_reader(attribute) if attribute.kind == "date" else _number_reader(attribute)


def _number_reader(attribute: Numeric) -> Callable[[str], int]:
    point = attribute.decimal or ("," if attribute.thousands == "." else ".")
    pattern = _number_pattern(point, attribute.thousands)
    # in a column of whole numbers nothing says that 12.345 is not twelve thousand
    unsaid = attribute.kind == "integer" and not attribute.decimal and not attribute.thousands
    place = _placing(attribute)

    def code(text: str) -> int:
        # Most numbers are digits and at most one sign between them, which is quickly seen.
        whole, _, part = text.partition(point)
        if whole.isdigit() and (part.isdigit() or not part) and text.isascii():
            if len(text) > _LONGEST:
                return STRANGE
            if unsaid and len(part) == 3 and len(whole) <= 3 and whole[0] != "0":
                return POINT
            return place(int(whole + part), len(part))
        found = pattern.fullmatch(text) if len(text) <= _LONGEST else None
        if found is None:
            endless = _INFINITE.fullmatch(text)
            if endless:
                return BELOW if endless[1] == "-" else ABOVE
            return _shape(text, _NUMBER_SHAPES)
        if unsaid and _GROUPED.fullmatch(text):
            return POINT
        sign, whole, part, power = found.groups(default="")
        digits = re.sub(r"\D", "", whole) + part
        return place(int(f"{sign}{digits}"), len(part) - int(power or 0))

    return code


def number_of(text: str, decimal: str, thousands: str) -> tuple[float, int]:
    """The number in a text, and 0; if it is not one, NaN and what it looks like.

    Args:
        text: The text, without blanks around it.
        decimal: The decimal sign, if it is declared.
        thousands: What separates groups of three digits, if that is declared.

    Example:
        >>> number_of("1,5", ",", ""), number_of("1,5", "", "")
        ((1.5, 0), (nan, -5))
    """
    point = decimal or ("," if thousands == "." else ".")
    found = _number_pattern(point, thousands).fullmatch(text) if len(text) <= _LONGEST else None
    if found is not None:
        sign, whole, part, power = found.groups(default="")
        digits = re.sub(r"\D", "", whole)
        return float(f"{sign}{digits}.{part or 0}e{power or 0}"), 0
    if endless := _INFINITE.fullmatch(text):
        return (-math.inf if endless[1] == "-" else math.inf), 0
    return math.nan, _shape(text, _NUMBER_SHAPES)


def _placing(attribute: Numeric) -> Callable[[int, int], int]:
    """What finds the code of a number: its digits, and how many of them are decimal places.

    It calculates with whole numbers, so nothing is rounded.
    """
    scale = math.lcm(*(n.denominator for n in (attribute.low, attribute.high, attribute.step)))
    first, last = int(attribute.low * scale), int(attribute.high * scale)
    step, most = int(attribute.step * scale), attribute.grid - 1
    scale *= _NEARLY

    @cache
    def units(places: int) -> tuple[int, int, int]:
        """In the unit of so many decimal places: the first code, its end, the highest number."""
        parts = 10**places
        return (
            (first * _NEARLY - step) * parts, step * parts * _NEARLY,
            (last * _NEARLY + step) * parts,
        )  # fmt: skip

    def place(number: int, places: int) -> int:
        if places < 0:
            number, places = number * 10**-places, 0
        number *= scale
        begin, wide, highest = units(places)
        if number > highest:
            return ABOVE
        found = (number - begin) // wide
        return BELOW if found < 0 else min(found, most)

    return place


@cache
def _number_pattern(point: str, thousands: str) -> re.Pattern[str]:
    whole = r"\d*"
    if thousands:
        whole = rf"[1-9]\d{{0,2}}(?:{_SEPARATORS[thousands]}\d{{3}})+|\d*"
    sign = re.escape(point)
    return re.compile(
        rf"([+-]?)(?=\d|{sign}\d)({whole})(?:{sign}(\d*))?(?:[eE]([+-]?\d{{1,3}}))?", re.A
    )


def _date_reader(attribute: Numeric) -> Callable[[str], int]:
    low, high, step = int(attribute.low), int(attribute.high), int(attribute.step)
    format = attribute.format
    serial = format in SERIALS
    pattern = date_pattern(format) if format and not serial else None

    def day(text: str) -> int | None:
        if serial and (number := _SERIAL_DAY.fullmatch(text)):
            return _serial_day(int(number[1]), format)
        if timed := _TIME.fullmatch(text):
            text = timed[1]
        if iso := _ISO.fullmatch(text):
            return _day(iso[1], iso[2], iso[3])
        if pattern is None or (found := pattern.fullmatch(text)) is None:
            return None
        parts = found.groupdict()
        return _day(parts["Y"], parts.get("m") or _month(parts["b"]), parts["d"])

    def code(text: str) -> int:
        found = day(text) if len(text) <= _LONGEST else None
        if found is None:
            return _shape(text, _DATE_SHAPES)
        if low <= found <= high:
            return (found - low) // step
        return BELOW if found < low else ABOVE

    return code


def _serial_day(number: int, format: str) -> int | None:
    """The day that Excel means: it believes in a 29th of February 1900, number 60."""
    if format == "excel-1904":
        return _EXCEL_1904 + number
    return None if number in (0, 60) else _EXCEL + number + (number < 60)


def _month(name: str) -> str:
    name = name.lower()
    return next((str(n) for n, month in enumerate(_MONTHS, 1) if month.startswith(name)), "0")


def _day(year: str, month: str, day: str) -> int | None:
    try:
        return datetime.date(int(year), int(month), int(day)).toordinal() - _EPOCH
    except ValueError:  # the 30th of February
        return None


def _shape(text: str, shapes: tuple[tuple[re.Pattern[str], int], ...]) -> int:
    if len(text) > _LONGEST:
        return STRANGE
    return next((code for pattern, code in shapes if pattern.fullmatch(text)), STRANGE)
