"""From values to codes: one attribute, one Arrow array at a time, as the schema declares."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hedgerow.arrays import Floats, Ints
from hedgerow.errors import DataError
from hedgerow.schema.attributes import (
    SERIALS,
    Attribute,
    Categorical,
    Layout,
    Numeric,
    date_pattern,
)
from hedgerow.schema.taxonomy import Reading

# From texts to codes of numbers and dates: each text by itself, exactly, as the schema declares.
#
# What becomes of a text must follow from that text and the schema alone, or one record could change
# how all others are read. So there is one parser for each kind, whatever else a column holds. A
# text that cannot be read is strange; if people often write that way, its code says what to
# declare.


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
_ISO = re.compile(r"(?P<Y>\d{4})-(?P<m>\d{2})-(?P<d>\d{2})", re.A)
_SERIAL_DAY = re.compile(r"(\d{1,7})(?:[.,]\d*)?", re.A)
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_EXCEL = datetime.date(1899, 12, 30).toordinal() - _EPOCH
_BINARY = pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view
_NUMBERS = {pa.date32(): pa.int32(), pa.bool_(): pa.uint8()}
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
    if attribute.kind == "date":
        return _date_reader(attribute)
    point = attribute.decimal or ("," if attribute.thousands == "." else ".")
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
        number = read_number(text, point, attribute.thousands)
        if isinstance(number, int):
            return number
        return POINT if unsaid and _GROUPED.fullmatch(text) else place(*number)

    return code


def read_number(text: str, point: str, thousands: str) -> tuple[int, int] | int:
    """The digits of the number in a text, and how many of them are decimal places.

    If it is no number, a code: ABOVE or BELOW if it is infinite, or else what it looks like.

    Args:
        text: The text, without blanks around it.
        point: The decimal sign.
        thousands: What separates groups of three digits, if that is declared.

    Example:
        >>> read_number("-1,5", ",", ""), read_number("1,5", ".", ""), read_number("inf", ".", "")
        ((-15, 1), -5, -3)
    """
    match = _number_pattern(point, thousands).fullmatch(text) if len(text) <= _LONGEST else None
    if match is not None:
        sign, whole, part, power = match.groups(default="")
        digits = re.sub(r"\D", "", whole) + part
        return int(f"{sign}{digits}"), len(part) - int(power or 0)
    if endless := _INFINITE.fullmatch(text):
        return BELOW if endless[1] == "-" else ABOVE
    return _shape(text, _NUMBER_SHAPES)


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
        code = (number - begin) // wide
        return BELOW if code < 0 else min(code, most)

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
            count = int(number[1])
            if format == "excel-1904":
                return _EXCEL_1904 + count
            # Excel believes in a 29th of February 1900, number 60
            return None if count in (0, 60) else _EXCEL + count + (count < 60)
        if timed := _TIME.fullmatch(text):
            text = timed[1]
        match = _ISO.fullmatch(text) or (pattern and pattern.fullmatch(text))
        if match is None:
            return None
        parts = match.groupdict()
        month = int(parts.get("m") or _month(parts["b"]))
        try:
            return datetime.date(int(parts["Y"]), month, int(parts["d"])).toordinal() - _EPOCH
        except ValueError:  # the 30th of February
            return None

    def code(text: str) -> int:
        number = day(text) if len(text) <= _LONGEST else None
        if number is None:
            return _shape(text, _DATE_SHAPES)
        if low <= number <= high:
            return (number - low) // step
        return BELOW if number < low else ABOVE

    return code


def _month(name: str) -> str:
    name = name.lower()
    return next((str(n) for n, month in enumerate(_MONTHS, 1) if month.startswith(name)), "0")


def _shape(text: str, shapes: tuple[tuple[re.Pattern[str], int], ...]) -> int:
    if len(text) > _LONGEST:
        return STRANGE
    return next((code for pattern, code in shapes if pattern.fullmatch(text)), STRANGE)


# From values to codes: one attribute, one Arrow array at a time.
#
# A code below zero says what is wrong with a value (missing, below or above the bounds, not in the
# domain at all); `apply_rules` decides what becomes of it. Text is reduced to its distinct values
# first, so only those few are ever parsed or looked up.


Codes = Ints

# How files write "nothing is known"; a taxonomy that has one of them as a leaf takes it back.
MISSING_WORDS = frozenset({"", "?", "na", "nan", "null", "none"})

_YES = frozenset({"true", "t", "yes", "y", "1"})
_NO = frozenset({"false", "f", "no", "n", "0"})
ALIKE = Reading(ignore=("case", "spaces"))


def encode_array(attribute: Attribute, array: Any) -> Codes:
    """Encodes an Arrow array; codes below zero are values that a rule must deal with.

    Example:
        >>> from fractions import Fraction
        >>> dose = Numeric("dose", low=Fraction(0), high=Fraction(1), step=Fraction(1, 10),
        ...     kind="decimal")
        >>> encode_array(dose, pa.array(["0.3", " 1", "", "7", "much"])).tolist()
        [3, 10, -1, -3, -4]
    """
    if isinstance(attribute, Categorical) and attribute.bands is not None:
        codes = encode_array(attribute.bands, array)
        return np.where(codes < 0, codes, np.searchsorted(attribute.edges, codes, "right") - 1)
    if pa.types.is_union(array.type) and isinstance(attribute, Numeric):  # a workbook's cells
        kinds, offsets = array.type_codes.to_numpy(), array.offsets.to_numpy()
        codes = np.empty(len(array), np.int64)
        for kind in np.unique(kinds).tolist():
            here = kinds == kind
            codes[here] = encode_array(attribute, array.field(kind).take(pa.array(offsets[here])))
        return codes
    array = plain_array(array, attribute.name)
    if pa.types.is_null(array.type):
        return np.full(len(array), MISSING, np.int64)
    if isinstance(attribute, Numeric) and attribute.kind == "date" and _is_number(array.type):
        array = array.cast(pa.string())  # days or digits, if the format says so
    if not pa.types.is_dictionary(array.type) and (
        pa.types.is_string(array.type) or isinstance(attribute, Categorical)
    ):
        array = array.dictionary_encode()
    if pa.types.is_dictionary(array.type):
        values = array.dictionary
        if isinstance(attribute, Categorical):
            known = _categories(attribute, values)
        elif pa.types.is_string(values.type):
            known = _number_texts(attribute, values)
        else:
            known = encode_array(attribute, values)
        indices = array.indices
        if indices.null_count:
            indices = indices.cast(pa.int64()).fill_null(len(known))
        places: Ints = indices.to_numpy()
        return np.append(known, MISSING).take(places)
    assert isinstance(attribute, Numeric)
    if pa.types.is_date32(array.type) != (attribute.kind == "date"):
        codes = np.full(len(array), STRANGE, np.int64)
    else:
        numbers = array.cast(_NUMBERS.get(array.type, array.type))
        values = numbers.fill_null(0).to_numpy(zero_copy_only=False)
        whole = np.issubdtype(values.dtype, np.integer)
        codes = _whole(attribute, values) if whole else _floating(attribute, values)
    if array.null_count:
        codes[array.is_null().to_numpy(zero_copy_only=False)] = MISSING
    return codes


def _is_number(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def plain_array(array: Any, column: str) -> Any:
    """Brings an array to one of few types: null, text, numbers, booleans, days, dictionary."""
    types = pa.types
    kind = array.type
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if isinstance(array, pa.ExtensionArray) and not str(kind).startswith("extension<pandas"):
        return plain_array(array.storage, column)  # pandas' periods would pass for numbers
    if types.is_union(kind):
        parts = [[text_of(value) for value in to_list(array.field(i))] for i in range(len(kind))]
        cells = zip(array.type_codes.to_pylist(), array.offsets.to_pylist(), strict=True)
        return pa.array([parts[part][place] for part, place in cells], pa.string())
    if types.is_dictionary(kind):
        values = plain_array(array.dictionary, column)
        if len(values) > len(array):  # a slice of something larger: look up what it uses only
            return pc.take(values, array.indices)
        return pa.DictionaryArray.from_arrays(array.indices, values, safe=False)
    texts = types.is_large_string, types.is_string_view
    if any(is_one(kind) for is_one in (*texts, *_BINARY)):
        try:
            return array.cast(pa.string())
        except pa.ArrowException:
            raise DataError(
                f"column {column!r} holds bytes that are not text in UTF-8",
                hint="Write the column as text.",
            ) from None
    if types.is_timestamp(kind):
        if kind.tz is not None:  # the day that people there saw on the calendar
            try:
                array = pc.local_timestamp(array)
            except pa.ArrowException:
                raise DataError(
                    f"column {column!r} has a time zone that this computer does not know",
                    hint="Write the column as plain dates.",
                ) from None
        return pc.floor_temporal(array, unit="day").cast(pa.date32(), safe=False)
    if types.is_date64(kind):
        return array.cast(pa.date32(), safe=False)
    if types.is_decimal(kind) or types.is_float16(kind):
        return array.cast(pa.float64())
    plain = types.is_null, types.is_string, types.is_boolean, types.is_date32, _is_number
    if any(is_one(kind) for is_one in plain):
        return array
    raise DataError(
        f"column {column!r} holds values of type {kind}, which cannot be read",
        hint="Give the column one plain type: text, number, true/false or date.",
    )


def flat_array(array: Any, column: str) -> Any:
    """The same without a dictionary: every value stands in its place."""
    array = plain_array(array, column)
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def is_list(kind: Any) -> bool:
    """Whether an Arrow type is one of the several for lists.

    Example:
        >>> is_list(pa.large_list(pa.int64())), is_list(pa.string())
        (True, False)
    """
    types = pa.types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def text_of(value: object) -> str | None:
    """The text of a value as a CSV file would hold it; None for a missing one.

    Example:
        >>> text_of(3.0), text_of(True), text_of(" a "), text_of(float("nan"))
        ('3', 'true', 'a', None)
    """
    if value is None:
        return None
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return None
        # A column of whole numbers with gaps comes as floats from many libraries.
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    return str(value)


def _categories(attribute: Categorical, values: Any) -> Codes:
    leaves = {leaf: code for code, leaf in enumerate(attribute.taxonomy.leaves)}
    reading = attribute.reading
    # most texts are leaves as they stand, and need neither
    composed = cache(lambda: reading.forms(attribute.taxonomy.leaves))
    alike = cache(lambda: ALIKE.forms(attribute.taxonomy.leaves))
    truths: dict[str, int] = {}
    if attribute.boolean or pa.types.is_boolean(values.type):
        for words in (_YES, _NO):
            for leaf, place in leaves.items():
                if leaf.casefold() in words:
                    truths.update(dict.fromkeys(words, place))

    def code(value: object) -> int:
        text = text_of(value)
        if text is None:
            return MISSING
        known = leaves.get(text)
        if known is not None:
            return known
        folded, form = text.casefold(), reading.form(text)
        if form in composed():
            return composed()[form]
        if folded in MISSING_WORDS:
            return MISSING
        if folded in truths:
            return truths[folded]
        leaf = reading.pattern(form) or reading.rest
        if leaf is not None:
            return leaves[leaf]
        return NEAR if ALIKE.form(text) in alike() else STRANGE

    return np.array([code(value) for value in to_list(values)], np.int64)


def is_missing(texts: Any) -> Any:
    """Which texts of an Arrow array are words for nothing."""
    return pc.is_in(pc.utf8_lower(texts), value_set=pa.array(sorted(MISSING_WORDS), pa.string()))


def to_list(values: Any) -> list[Any]:
    """The values as Python objects; a day that Python's calendar lacks becomes a text."""
    if not pa.types.is_date32(values.type):
        return list(values.to_pylist())
    days: list[int | None] = values.cast(pa.int32()).to_pylist()
    return [None if day is None else _date(day) for day in days]


def _date(day: int) -> datetime.date | str:
    try:
        return datetime.date.fromordinal(day + _EPOCH)
    except (ValueError, OverflowError):
        return f"{day} days after 1970-01-01"


def _number_texts(attribute: Numeric, values: Any) -> Codes:
    texts = pc.utf8_trim_whitespace(values)
    texts = pc.if_else(is_missing(texts), pa.scalar(None, pa.string()), texts)
    codes: Codes = np.full(len(texts), MISSING, np.int64)
    known = texts.is_valid().to_numpy(zero_copy_only=False)
    if attribute.kind != "date" and _exact(attribute):
        # Plain digits mean the same in every notation, and are read together for speed alone.
        digits = pc.fill_null(pc.match_substring_regex(texts, "^[0-9]{1,18}$"), False)
        here = digits.to_numpy(zero_copy_only=False)
        codes[here] = _whole(attribute, texts.filter(digits).cast(pa.int64()).to_numpy())
        known &= ~here
    read = text_reader(attribute)
    codes[known] = [read(text) for text in texts.filter(pa.array(known)).to_pylist()]
    return codes


def _exact(attribute: Numeric) -> tuple[int, int, int] | None:
    """The whole numbers within the bounds, and the common denominator of low and step.

    None if there are none, or 64 bits do not hold all of them in parts of the denominator.
    """
    low, high = math.ceil(attribute.low), math.floor(attribute.high)
    scale = math.lcm(attribute.low.denominator, attribute.step.denominator)
    most = (max(abs(low), abs(high)) + abs(attribute.low) + attribute.step) * scale
    return (low, high, scale) if low <= high and most < 1 << 62 else None


def _whole(attribute: Numeric, values: NDArray[Any]) -> Codes:
    """Exact: integer arithmetic on the common denominator of bounds and step."""
    exact = _exact(attribute)
    if exact is None:
        return _floating(attribute, values.astype(np.float64))
    low, high, scale = exact
    first, step = int(attribute.low * scale), int(attribute.step * scale)
    odd = len(values) > 0 and (int(values.min()) < low or int(values.max()) > high)
    if odd:
        below, above = values < low, values > high
        if values.dtype == np.uint64:
            values = np.minimum(values, np.uint64((1 << 63) - 1))
    codes = values.astype(np.int64)
    if odd:
        codes = np.clip(codes, low, high)
    if scale != 1:
        codes *= scale
    codes -= first
    if step != 1:
        codes //= step
    if odd:
        codes[below] = BELOW
        codes[above] = ABOVE
    return codes


def _floating(attribute: Numeric, values: NDArray[Any]) -> Codes:
    """Floating point, but a number written on the grid lands on its grid point.

    0.3 / 0.1 is 2.9999999999999996, which must not become the grid point 2: whatever is as close
    to a grid point as the rounding of the numbers themselves can explain belongs to it.
    """
    farthest = float(max(abs(attribute.low), abs(attribute.high)) / attribute.step)
    slack = min(0.25, max(1e-9, 4 * float(np.finfo(values.dtype).eps) * farthest))
    with np.errstate(invalid="ignore", over="ignore"):
        place = values.astype(np.float64) - float(attribute.low)
        place /= float(attribute.step)
        nearest = np.rint(place)
        floor = np.where(np.abs(place - nearest) <= slack, nearest, np.floor(place))
    top = float((attribute.high - attribute.low) / attribute.step)
    missing, below, above = np.isnan(values), floor < 0, place > top + slack
    codes: Codes = np.clip(np.nan_to_num(floor), 0, attribute.grid - 1).astype(np.int64)
    codes[below] = BELOW
    codes[above] = ABOVE
    codes[missing] = MISSING
    return codes


def numbers_of(array: Any, written: Layout) -> tuple[Floats, Ints]:
    """The numbers, NaN where there is none, and what those that are none look like."""
    fine = np.zeros(len(array), np.int64)
    if pa.types.is_string(array.type):
        array = array.dictionary_encode()
    if pa.types.is_dictionary(array.type):
        words = to_list(array.dictionary)
        point = written.decimal or ("," if written.thousands == "." else ".")
        known, shapes = np.full(len(words) + 1, np.nan), np.zeros(len(words) + 1, np.int64)
        for place, word in enumerate(words):
            if isinstance(word, str | None):
                number = read_number((word or "").strip(), point, written.thousands)
            else:
                number = read_number(str(word), ".", "")
            if isinstance(number, tuple):
                known[place] = float(f"{number[0]}e{-number[1]}")
            else:
                known[place] = {BELOW: -np.inf, ABOVE: np.inf}.get(number, np.nan)
                shapes[place] = number
        # one more value than there are, which the indices' own type may not hold
        index = array.indices.cast(pa.int64()).fill_null(len(words)).to_numpy(zero_copy_only=False)
        return known[index], shapes[index]
    if not _is_number(array.type):
        return np.full(len(array), np.nan), fine
    # not safe: one number that a float holds only nearly would stop the run
    numbers: Floats = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return numbers, fine
