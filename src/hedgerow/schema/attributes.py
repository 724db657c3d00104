"""Attributes: public facts about a column, and how its values are written."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache, cached_property
from itertools import pairwise
from typing import Any, Literal

from hedgerow.schema.taxonomy import Reading, Taxonomy, reading_faults, taxonomy_faults
from hedgerow.schema.yaml_text import label_fault
from hedgerow.suggestions import Checked

# How private data is written: declared in the schema, public, never guessed from records.


Encoding = Literal["utf-8", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252"]
DecimalMark = Literal["", ".", ","]  # nothing: not declared
Thousands = Literal["", ",", ".", "'", " "]

SERIALS = ("excel", "excel-1904")
_TOKEN = re.compile(r"(%.)", re.S)
_TOKENS = {"%Y": r"(?P<Y>\d{4})", "%b": r"(?P<b>[A-Za-z]{3,9})"}
_DIGITS = ("%Y", "%m", "%d")


@dataclass(frozen=True, kw_only=True)
class Layout(Checked):
    """Where the table stands in its file, and how numbers are written in it.

    Args:
        encoding: How text is encoded. None: UTF-8, or UTF-16 if its byte order mark says so.
        header_row: The line or row with the names of the columns, from 1. None: the first that is
            not blank.
        sheet: The sheet of a workbook. None: the only one.
        decimal: The decimal sign of numbers in columns that do not declare one themselves.
        thousands: What separates groups of three digits in them, if anything.

    Example:
        >>> Layout(header_row=3).describe()
        {'header_row': 3}
    """

    encoding: Encoding | None = None
    header_row: int | None = None
    sheet: str | None = None
    decimal: DecimalMark = ""
    thousands: Thousands = ""

    def describe(self) -> dict[str, Any]:
        """What is declared, as a schema file has it."""
        return {key: value for key, value in asdict(self).items() if value not in (None, "")}


PLAIN = Layout()  # nothing is declared


def grouped_fault(key: str, text: str, thousands: str, step: Fraction) -> tuple[str, str] | None:
    """What is wrong with a bound that is written as the data's numbers are; None if it is fine.

    In a schema a point is the decimal sign, whatever it is in the data: 100.000 is a hundred. With
    whole steps nobody needs three decimals.

    Example:
        >>> grouped_fault("high", "100.000", ".", Fraction(1))[1]
        'In a schema a point is the decimal sign. Write high: 100000, or 100 if that is meant.'
        >>> grouped_fault("high", "100.000", "", Fraction(1))
        >>> grouped_fault("high", "1.125", ".", Fraction(1, 8))
    """
    if thousands != "." or not re.fullmatch(r"[+-]?\d{1,3}(\.\d{3})+", text.strip(), re.ASCII):
        return None
    whole, _, rest = text.strip().partition(".")
    if rest.strip("0.") and step.denominator > 1:
        return None
    meant = f", or {whole} if that is meant" if not rest.strip("0") else ""
    hint = f"Write {key}: {text.strip().replace('.', '')}{meant}."
    what = f"{key} {text.strip()!r} has its point where the data has thousands"
    return what, f"In a schema a point is the decimal sign. {hint}"


@cache
def date_pattern(format: str) -> re.Pattern[str] | None:
    """What dates in a format look like; None if they could not be understood.

    Example:
        >>> date_pattern("%d.%m.%Y").fullmatch("1.12.2024").groupdict()
        {'d': '1', 'm': '12', 'Y': '2024'}
        >>> date_pattern("%Y%m%d").fullmatch("2024111") is None
        True
        >>> date_pattern("%Y/%m") is None
        True
    """
    parts = _TOKEN.split(format)
    tokens, between = parts[1::2], parts[::2]
    month = "%b" if "%b" in tokens else "%m"
    if sorted(tokens) != sorted(("%Y", month, "%d")) or re.search(r"[\w%]", "".join(between)):
        return None
    if tokens == ["%Y", "%d", "%m"] and between[1:3] == ["-", "-"]:
        return None  # it could not be told from the usual order
    pairs = zip(tokens, tokens[1:], between[1:3], strict=False)
    # without anything between them, 2024111 could be two dates
    packed = any(not sign and a in _DIGITS and b in _DIGITS for a, b, sign in pairs)
    digits = r"\d{2}" if packed else r"\d{1,2}"
    words = [_TOKENS.get(token, f"(?P<{token[1]}>{digits})") for token in tokens]
    pieces = zip(map(re.escape, between), [*words, ""], strict=True)
    return re.compile("".join(sign + word for sign, word in pieces), re.ASCII)


# Attributes: public facts about a column. Every value becomes an integer code.
#
# A numeric attribute lives on a public grid: code k stands for the values from `low + k * step`
# up to, not including, the next grid point. A categorical attribute's codes are the leaves of its
# taxonomy. What happens to a missing value, and to one outside the domain, is a public rule that
# looks at that one record alone.


Missing = Literal["error", "other", "drop"]
Outside = Literal["error", "other", "clip", "drop"]
Splitting = Literal["allowed", "never"]
NumberKind = Literal["integer", "decimal", "date"]
Complaint = tuple[str, str, str]
"""A key of a schema file, what is wrong there, and a hint."""

EPOCH = datetime.date(1970, 1, 1)
OTHER = "other"
LEAST_WEIGHT, MOST_WEIGHT = Fraction(1, 100), 100
MOST_COMMON, MOST_BANDS = 16, 64


@dataclass(frozen=True)
class _AnyAttribute(Checked):
    """What an attribute of any type has; see `Numeric` for what is meant."""

    name: str
    _: KW_ONLY
    missing: Missing = "error"
    split: Splitting = "allowed"
    weight: Fraction = Fraction(1)
    group: str = ""
    column: str = ""
    caption: str = ""

    @property
    def title(self) -> str:
        """What people call it."""
        return self.caption or self.name


@dataclass(frozen=True)
class Categorical(_AnyAttribute):
    """A categorical attribute (booleans are one with two values).

    If a rule asks for an "other" leaf, the taxonomy already holds it (the reader adds it).

    Args:
        name: The column.
        taxonomy: Its values, which are the leaves.
        missing: What happens to a missing value.
        outside: What happens to a value that is no leaf.
        boolean: Whether the values are false and true.
        bands: For a class of numbers in bands: the grid that its values are read on.
        edges: And the first code of each band on that grid.
        reading: How values are read before they are looked up among the leaves.
        split: Whether regions may be divided by it.
        weight: How much a division by it counts when one is chosen, beside the others' weights.
        group: The attributes that it belongs to; together they count as one when one is chosen.
        column: What its column is called in the data, if not by its name.
        caption: What people call it, if not by its name: `label` of a schema file.
    """

    taxonomy: Taxonomy
    _: KW_ONLY
    outside: Literal["error", "other", "drop"] = "error"
    boolean: bool = False
    bands: Numeric | None = None
    edges: tuple[int, ...] = ()
    reading: Reading = Reading()

    @property
    def size(self) -> int:
        """The number of codes."""
        return len(self.taxonomy.leaves)

    def label(self, low: int, high: int) -> str:
        """The generalized value for the codes from low to high; neighbors if it is no group."""
        if (low, high) in self.taxonomy:
            return self.taxonomy.label(low, high)
        return f"{self.taxonomy.leaves[low]} to {self.taxonomy.leaves[high - 1]}"


@dataclass(frozen=True)
class Numeric(_AnyAttribute):
    """A numeric attribute on a public grid.

    Args:
        name: The column.
        low: The smallest value; for dates, days since 1970-01-01.
        high: The largest value, itself included.
        step: The distance of grid points.
        kind: How values are written.
        missing: What happens to a missing value; "other" adds one more code after the grid.
        outside: What happens to a value outside the bounds.
        scale: Whether marginals count it in parts of equal width, or in parts that grow.
        common: Values that marginals count by themselves, ascending.
        decimal: The decimal sign of texts in the data; nothing if that is not declared.
        thousands: What separates groups of three digits in them, if anything.
        format: How dates are written in the data; nothing for 2024-01-31.
        split: Whether regions may be divided by it.
        weight: How much a division by it counts when one is chosen, beside the others' weights.
        group: The attributes that it belongs to; together they count as one when one is chosen.
        column: What its column is called in the data, if not by its name.
        caption: What people call it, if not by its name: `label` of a schema file.

    Example:
        >>> age = Numeric("age", low=Fraction(17), high=Fraction(90), step=Fraction(1),
        ...     kind="integer")
        >>> age.size, age.label(1, 23), age.label(23, 74), age.label(3, 4)
        (74, '[18, 40)', '[40, 90]', '20')
    """

    _: KW_ONLY
    low: Fraction
    high: Fraction
    step: Fraction
    kind: NumberKind
    outside: Outside = "error"
    scale: Literal["linear", "log"] = "linear"
    common: tuple[Fraction, ...] = ()
    decimal: DecimalMark = ""
    thousands: Thousands = ""
    format: str = ""

    def __post_init__(self) -> None:
        """Refuses settings of the wrong type; puts common values in order."""
        super().__post_init__()
        object.__setattr__(self, "common", tuple(sorted(set(self.common))))

    @cached_property
    def grid(self) -> int:
        """The number of codes that stand for numbers."""
        return int((self.high - self.low) / self.step) + 1

    @property
    def bounds(self) -> tuple[Fraction, Fraction]:
        """The smallest and the largest value."""
        return self.low, self.high

    @property
    def has_other(self) -> bool:
        """Whether the last code stands for "other"."""
        return "other" in (self.missing, self.outside)

    @property
    def size(self) -> int:
        """The number of codes."""
        return self.grid + self.has_other

    def edge(self, code: int | Fraction) -> int | Decimal | datetime.date:
        """The smallest value of a code, or a value inside one; after the grid, the upper bound."""
        value = min(self.low + code * self.step, self.high)
        if self.kind == "date":
            return EPOCH + datetime.timedelta(days=int(value))
        if self.kind == "integer":
            return int(value)
        return Decimal(value.numerator) / Decimal(value.denominator)

    def write(self, value: Fraction) -> str | int:
        """A value as a schema file has it; a decimal number always has a point."""
        if self.kind == "date":
            return (EPOCH + datetime.timedelta(days=int(value))).isoformat()
        return decimal_text(value) if self.kind == "decimal" else int(value)

    def label(self, low: int | Fraction, high: int | Fraction) -> str:
        """The generalized value for the codes from low to high, such as `[18, 40)`."""
        if low >= self.grid:
            return OTHER
        other = " or other" if high > self.grid else ""
        high = min(high, self.grid)
        if high - low == 1 and self.step == 1 and self.kind != "decimal":
            return f"{self.edge(low)}{other}"
        closing = "]" if high == self.grid else ")"
        return f"[{self.edge(low)}, {self.edge(high)}{closing}{other}"


Attribute = Categorical | Numeric


def in_bands(numeric: Numeric, edges: Sequence[int]) -> Categorical:
    """A class of numbers: each band is a value.

    Args:
        numeric: The numbers, with the rules for missing ones and those outside.
        edges: The first code of each band on their grid.

    Example:
        >>> age = Numeric("age", low=Fraction(0), high=Fraction(99), step=Fraction(1),
        ...     kind="integer", outside="clip")
        >>> in_bands(age, [0, 20]).taxonomy.leaves
        ('[0, 20)', '[20, 99]')
    """
    plain = replace(
        numeric, missing="error", outside="error", scale="linear", common=(), caption=""
    )
    ends = [*edges[1:], numeric.grid]
    labels = [plain.label(low, high) for low, high in zip(edges, ends, strict=True)]
    outside = numeric.outside
    return Categorical(
        numeric.name, Taxonomy.flat([*labels, *([OTHER] if numeric.has_other else [])]),
        missing=numeric.missing, outside="error" if outside == "clip" else outside,
        bands=replace(plain, outside="clip" if outside == "clip" else "error"),
        edges=tuple(edges), column=numeric.column, caption=numeric.caption,
    )  # fmt: skip


# Reads the bounds and the step of a numeric attribute from the texts of a schema file.


_INTEGER = re.compile(r"[+-]?\d{1,40}", re.ASCII)
# At most 40 digits, and a small exponent: a bound of 1e999999999 would fill the memory.
_DECIMAL = re.compile(r"[+-]?(\d{1,40}\.?\d{0,40}|\.\d{1,40})([eE][+-]?\d{1,2})?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def read_numeric(
    name: str, texts: Mapping[str, str | None], **settings: Any
) -> Numeric | list[Complaint]:
    """A numeric attribute, or what is wrong with how its grid is written.

    Args:
        name: The column.
        texts: `low`, `high` and `step` as written; without a step it is 1, save for decimals.
        settings: What else is known of it.

    Example:
        >>> read_numeric("bmi", {"low": "0", "high": "2.5", "step": "0.5"}).kind
        'decimal'
        >>> read_numeric("day", {"low": "2020-01-01", "high": "2020-12-31", "step": None}).step
        Fraction(1, 1)
        >>> read_numeric("age", {"low": "ten", "high": "20", "step": None})[0][:2]
        ('low', 'low is neither a number nor a date')
    """
    read = {key: read_number(text.strip()) for key, text in texts.items() if text is not None}
    numbers = {key: number for key, number in read.items() if number is not None}
    if len(numbers) < len(read):
        hint = "Write a number such as 17 or 0.5, or a date such as 2020-01-31."
        return [(key, f"{key} is neither a number nor a date", hint)
                for key, number in read.items() if number is None]  # fmt: skip
    (low, low_kind), (high, high_kind) = numbers["low"], numbers["high"]
    step, step_kind = numbers.get("step", (Fraction(1), "integer"))
    kinds = {low_kind, high_kind, step_kind}
    kind: NumberKind = "decimal" if "decimal" in kinds else "integer"
    if "date" in (low_kind, high_kind):
        if low_kind != high_kind:
            return [("high", "low and high are not both dates", "Write both as 2020-01-31.")]
        if step_kind != "integer":
            return [("step", "step is not a whole number of days", "Write, for example, step: 7.")]
        kind = "date"
    elif step_kind == "date":
        return [("step", "step is a date", "Give a number, such as step: 1.")]
    elif "step" not in numbers and kind == "decimal":
        hint = "Give the precision that matters, such as step: 0.5."
        return [("low", "step is missing, which decimal numbers need", hint)]
    return Numeric(name, low=low, high=high, step=step, kind=kind, **settings)


def read_number(text: str) -> tuple[Fraction, NumberKind] | None:
    """The number or date in a text, and how it is written; None if it is neither.

    Example:
        >>> read_number("0.50"), read_number("1970-01-03"), read_number("ten")
        ((Fraction(1, 2), 'decimal'), (Fraction(2, 1), 'date'), None)
    """
    if _INTEGER.fullmatch(text):
        return Fraction(int(text)), "integer"
    if _DECIMAL.fullmatch(text):
        return Fraction(Decimal(text)), "decimal"
    if _DATE.fullmatch(text):
        try:
            day = datetime.date.fromisoformat(text)
        except ValueError:
            return None
        return Fraction((day - EPOCH).days), "date"
    return None


# Faults of attributes: what could not be published by, or not be read back from a release.


MAX_GRID = 2**24
MOST_DIGITS = 40  # before the decimal point, and after it
_DAYS = (-719162, 2932896)  # from 0001-01-01 to 9999-12-31, as days since 1970-01-01
BOOLEAN_LABELS = ("false", "true")
SAME_SIGN = (
    "decimal and thousands are the same sign",
    'Write, for example, decimal: "." and thousands: ",".',
)
RESERVED = (
    "region", "count", "estimate", "low", "high", "typical_error", "standard_error",
    "reliability", "basis",
)  # fmt: skip
"""What columns of releases are called, and so no attribute."""


def column_fault(name: str, published: bool) -> tuple[str, str] | None:
    """What is wrong with a column's name, and the hint; None if it is fine.

    Args:
        name: The name.
        published: Whether the column is part of releases, whose own columns are reserved.
    """
    if published and name in RESERVED:
        hint = "Give the attribute another name, and say which column of the data it is: "
        hint += f"{name}_value: {{column: {name}, ...}}."
        return f"the name {name!r} is reserved for a column of the release", hint
    return label_fault(name)


def layout_faults(layout: Layout, *, items: bool = False) -> Iterator[Complaint]:
    """What is wrong with the layout of a file.

    Args:
        layout: The layout.
        items: Whether the file holds transactions.

    Example:
        >>> wrong = Layout(header_row=0, decimal=",", thousands=",")
        >>> [what for _, what, _ in layout_faults(wrong)]
        ['header_row is below 1', 'decimal and thousands are the same sign']
    """
    if layout.header_row is not None and layout.header_row < 1:
        yield "header_row", "header_row is below 1", "Lines and rows are counted from 1."
    if layout.sheet is not None and (wrong := label_fault(layout.sheet)):
        yield "sheet", f"sheet: {wrong[0]}", wrong[1]
    if layout.thousands and layout.decimal == layout.thousands:
        yield "thousands", *SAME_SIGN
    elif items and (layout.decimal or layout.thousands):
        what = "decimal and thousands are for columns of numbers, and this schema has items"
        yield "decimal", what, "Remove them."


def number_fault(key: str, value: Fraction, kind: str) -> tuple[str, str] | None:
    """Why a number of a grid could not be written down, and the hint; None if it could.

    Example:
        >>> number_fault("low", Fraction(1, 3), "decimal")[0]
        'low is not a decimal number'
    """
    if kind == "date" and key != "step" and not _DAYS[0] <= value <= _DAYS[1]:
        return f"{key} is not a date of the years 1 to 9999", "Write a date such as 2020-01-31."
    if kind != "decimal" and value.denominator != 1:
        unit = "days" if kind == "date" else "units"
        return f"{key} is not a whole number of {unit}", "Write a whole number."
    if abs(value) >= 10**MOST_DIGITS:
        return f"{key} has more than {MOST_DIGITS} digits", "Write a shorter number."
    if (value * 10**MOST_DIGITS).denominator == 1:
        return None
    places = value.denominator.bit_length()  # as many as a decimal of this denominator can have
    if (value * 10**places).denominator == 1:
        return f"{key} has more than {MOST_DIGITS} decimals", "Write a shorter number."
    return f"{key} is not a decimal number", "Write it with a decimal point."


def attribute_faults(attribute: Attribute, is_class: bool) -> Iterator[Complaint]:
    """What is wrong with an attribute.

    Args:
        attribute: The attribute.
        is_class: Whether it is the class.

    Example:
        >>> from hedgerow.schema.attributes import read_numeric
        >>> age = read_numeric("age", {"low": "5", "high": "5"}, weight=Fraction(-1))
        >>> next(attribute_faults(age, False))[1]
        'low is not below high'
        >>> day = {"low": "2020-01-01", "high": "2020-12-31"}
        >>> for format in ("%m/%d/%Y", "%m/%d/%y"):
        ...     wrong = attribute_faults(read_numeric("day", day, format=format), False)
        ...     [what for _, what, _ in wrong]
        []
        ['format has two-digit years, which do not tell the century']
    """
    if isinstance(attribute, Numeric):
        yield from _numeric_faults(attribute)
    else:
        for what, hint in _categorical_faults(attribute):
            yield "values", what, hint
    weight, never = attribute.weight, attribute.split == "never"
    if is_class:
        given = (("split", never), ("weight", weight != 1), ("group", attribute.group))
        for key in (key for key, said in given if said):
            yield key, "regions are never divided by the class", f"Remove {key}."
    elif not can_weigh(weight):
        what = "weight is not a number from 0.01 to 100 with at most two decimals"
        way = " For no regions by this attribute, write `split: never`." if weight <= 0 else ""
        yield "weight", what, f"Write, for example, weight: 0.5.{way}"
    elif never and weight != 1:
        what = "weight is given beside split: never"
        yield "weight", what, "Keep one of the two: there is nothing to weigh."
    named = {"group": attribute.group, "column": attribute.column, "label": attribute.caption}
    for key, name in named.items():
        if name and (wrong := label_fault(name)):
            yield key, *wrong
        elif name != name.strip():
            yield key, f"the {key} {name!r} starts or ends with a space", "Remove the space."


def can_weigh(weight: Fraction) -> bool:
    """Whether something may have this weight beside others: from 0.01 to 100, in hundredths."""
    return LEAST_WEIGHT <= weight <= MOST_WEIGHT and not weight % LEAST_WEIGHT


def _numeric_faults(attribute: Numeric) -> Iterator[Complaint]:
    low, high, step = attribute.low, attribute.high, attribute.step
    if low >= high:
        hint = "Make low the smallest and high the largest value allowed."
        yield "low", "low is not below high", hint
    elif step <= 0:
        hint = "Give the distance of neighboring values, such as 1."
        yield "step", "step is not above zero", hint
    elif (high - low) / step + 1 > MAX_GRID:
        what = f"low, high and step make more than {MAX_GRID} values"
        yield "step", what, "Choose a larger step, or bounds that are closer together."
    else:
        for key, value in (("low", low), ("high", high), ("step", step)):
            if wrong := number_fault(key, value, attribute.kind):
                yield key, *wrong
    for value in attribute.common:
        if not low <= value <= high or number_fault("common", value, attribute.kind):
            hint = "Name values between low and high, written as these are."
            yield "common", "common names a value that the attribute cannot have", hint
    if len(attribute.common) > MOST_COMMON:
        what = f"common names more than {MOST_COMMON} values"
        yield "common", what, "Name those alone that very many people have."
    for key in ("decimal", "thousands"):
        if attribute.kind == "date" and getattr(attribute, key):
            hint = "Remove it; `format:` says how dates are written."
            yield key, f"{key} is for numbers, and these are dates", hint
    if attribute.thousands and attribute.decimal == attribute.thousands:
        yield "decimal", *SAME_SIGN
    if "%y" in attribute.format:
        hint = "Write years with four digits in the data, and %Y in the format."
        yield "format", "format has two-digit years, which do not tell the century", hint
    elif attribute.format and attribute.kind != "date":
        hint = "Write low and high as dates, such as 2020-01-31, or remove format."
        yield "format", "format is for dates, and low and high are numbers", hint
    elif attribute.format not in ("", *SERIALS) and date_pattern(attribute.format) is None:
        hint = 'Write %Y, %m (or %b) and %d once each, such as "%m/%d/%Y", or excel for serial '
        yield "format", "format does not tell year, month and day", f"{hint}days."


def _categorical_faults(attribute: Categorical) -> Iterator[tuple[str, str]]:
    wrong = [*taxonomy_faults(attribute.taxonomy)]
    if wrong:  # what follows looks at its leaves
        yield from wrong
        return
    if (attribute.bands or attribute.edges) and not _has_bands(attribute):
        what = "its bands are not those of a class of numbers"
        yield what, "Read it from a dictionary instead."
    asks = OTHER in (attribute.missing, attribute.outside)
    if asks and OTHER not in attribute.taxonomy.leaves:
        yield f"its rules need a leaf {OTHER!r}", f"Add the leaf {OTHER!r} to the taxonomy."
    leaves = attribute.taxonomy.leaves
    for _, what, hint in reading_faults(attribute.reading, leaves):
        yield what, hint
    if attribute.boolean:
        if attribute.reading:
            yield "a boolean has rules of reading", "Make it a categorical attribute."
        leaves = (*BOOLEAN_LABELS, OTHER) if asks else BOOLEAN_LABELS
        if attribute.taxonomy != Taxonomy.flat(leaves):
            yield "a boolean has the values false and true", f"Use Taxonomy.flat({leaves!r})."


def _has_bands(attribute: Categorical) -> bool:
    """Whether it is a class of numbers as a schema file can describe one."""
    numeric, edges = attribute.bands, attribute.edges
    if numeric is None or any(attribute_faults(numeric, True)):
        return False
    rising = 1 < len(edges) <= MOST_BANDS + 1 and edges[0] == 0 and edges[-1] < numeric.grid
    if not rising or any(low >= high for low, high in pairwise(edges)):
        return False
    outside = "clip" if numeric.outside == "clip" else attribute.outside
    numbers = replace(numeric, missing=attribute.missing, outside=outside)
    return attribute == in_bands(numbers, edges)


# Attributes as a schema file describes them: the way back from `build`.


def describe(attribute: Attribute) -> dict[str, Any]:
    """The keys of a schema file that say what the attribute is, every default spelt out."""
    rules: dict[str, Any] = {"missing": attribute.missing, "outside": attribute.outside}
    given = {
        "split": attribute.split,
        "weight": "" if attribute.weight == 1 else describe_weight(attribute.weight),
        "group": attribute.group, "column": attribute.column, "label": attribute.caption,
    }  # fmt: skip
    rules |= {key: value for key, value in given.items() if value not in ("allowed", "")}
    if isinstance(attribute, Categorical) and attribute.bands is not None:
        bands = attribute.bands
        rules["outside"] = "clip" if bands.outside == "clip" else attribute.outside
        starts = tuple(bands.low + bands.step * code for code in attribute.edges[1:])
        described = describe(replace(bands, common=starts))
        return described | {"bands": described.pop("common")} | rules
    if isinstance(attribute, Numeric):
        write, step = attribute.write, attribute.step
        numbers: dict[str, Any] = {
            "type": "numeric", "low": write(attribute.low), "high": write(attribute.high),
            "step": int(step) if attribute.kind == "date" else write(step),
            "scale": attribute.scale, "common": [*map(write, attribute.common)],
            "decimal": attribute.decimal, "thousands": attribute.thousands,
            "format": attribute.format,
        }  # fmt: skip
        usual: tuple[Any, ...] = ("linear", [], "")
        return {key: value for key, value in numbers.items() if value not in usual} | rules
    if attribute.boolean:
        return {"type": "boolean", **rules}
    taxonomy = attribute.taxonomy
    values: dict[str, Any] = {"root": taxonomy.labels[0]}
    if taxonomy.height == 0:  # a single node is a single value, whatever the root was called
        values = {"values": list(taxonomy.leaves)}
    else:
        values["values" if taxonomy.height == 1 else "taxonomy"] = taxonomy.nested()
    return {"type": "categorical"} | values | rules | attribute.reading.describe()


def describe_weight(weight: Fraction) -> int | str:
    """A weight as a schema file has it."""
    return int(weight) if weight.denominator == 1 else decimal_text(weight)


def decimal_text(value: Fraction) -> str:
    """All digits of a decimal number, always with a point, which tells it from an integer."""
    places = 1
    while (value * 10**places).denominator != 1:  # ends: the schema holds decimals only
        places += 1
    return f"{Decimal(f'{int(value * 10**places)}E-{places}'):f}"
