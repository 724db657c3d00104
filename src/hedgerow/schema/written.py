"""How private data is written: declared in the schema, public, never guessed from records."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cache
from typing import Any, Literal

from hedgerow.suggestions import check_fields

__all__ = [
    "PLAIN",
    "SERIALS",
    "Decimal",
    "Encoding",
    "Layout",
    "Thousands",
    "date_pattern",
    "format_fault",
    "grouped_fault",
    "notation_fault",
]

Encoding = Literal["utf-8", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252"]
Decimal = Literal["", ".", ","]  # nothing: not declared
Thousands = Literal["", ",", ".", "'", " "]

SERIALS = ("excel", "excel-1904")
_TOKEN = re.compile(r"(%.)", re.S)
_TOKENS = {"%Y": r"(?P<Y>\d{4})", "%b": r"(?P<b>[A-Za-z]{3,9})"}
_DIGITS = ("%Y", "%m", "%d")


@dataclass(frozen=True, kw_only=True)
class Layout:
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
    decimal: Decimal = ""
    thousands: Thousands = ""

    def __post_init__(self) -> None:
        """Refuses settings of the wrong type."""
        check_fields(self)

    def describe(self) -> dict[str, Any]:
        """What is declared, as a schema file has it."""
        told = {one.name: getattr(self, one.name) for one in fields(self)}
        return {key: value for key, value in told.items() if value not in (None, "")}


PLAIN = Layout()  # nothing is declared


def notation_fault(decimal: str, thousands: str) -> tuple[str, str] | None:
    """What is wrong with the notation of numbers, and the hint; None if it is fine.

    Example:
        >>> notation_fault(",", ",")[0]
        'decimal and thousands are the same sign'
    """
    if thousands and decimal == thousands:
        hint = 'Write, for example, decimal: "." and thousands: ",".'
        return "decimal and thousands are the same sign", hint
    return None


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


def format_fault(format: str, kind: str) -> tuple[str, str] | None:
    """What is wrong with the format of a column, and the hint; None if it is fine.

    Example:
        >>> format_fault("%m/%d/%y", "date")[0]
        'format has two-digit years, which do not tell the century'
        >>> format_fault("%m/%d/%Y", "date") is None
        True
    """
    if not format or format in SERIALS:
        known = True
    elif "%y" in format:
        hint = "Write years with four digits in the data, and %Y in the format."
        return "format has two-digit years, which do not tell the century", hint
    else:
        known = date_pattern(format) is not None
    if format and kind != "date":
        hint = "Write low and high as dates, such as 2020-01-31, or remove format."
        return "format is for dates, and low and high are numbers", hint
    if not known:
        hint = (
            'Write %Y, %m (or %b) and %d once each, such as "%m/%d/%Y", or excel for serial days.'
        )
        return "format does not tell year, month and day", hint
    return None


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
    signs = [re.escape(sign) for sign in between]
    pieces = [piece for pair in zip(signs, [*words, ""], strict=True) for piece in pair]
    return re.compile("".join(pieces), re.ASCII)
