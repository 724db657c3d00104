"""Values and bounds of a schema at which a person should look before they are published.

A schema is published with every release. What looks like somebody's own words, like a way to reach
them, or like a number that nobody would choose as a bound, was more likely read off data than
written from a form, a law or a code book.
"""

from __future__ import annotations

import datetime
import re
from decimal import Decimal

__all__ = ["odd_bound", "odd_label"]

_LONGEST, _MOST_WORDS = 60, 8  # characters and words of a value that is no free text
_SENTENCE = re.compile(r"\S+\s+\S+\s.*[.!?]|.*[^\W\d_]{3}[.!?]\s+\S.*", re.DOTALL)
_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.\w")
_LINK = re.compile(r"https?://|www\.\w", re.IGNORECASE)
_BAND = re.compile(r"\W*\d[\d.,' ]*(?:\W+|\s*to\s*)?[\d.,' ]*\W*")
_PHONE = re.compile(r"(?<!\d)[+(0]\d*[\d ()/-]{6,}\d")
_NUMBER = re.compile(r"\d{7}")
_DIGITS = 3  # significant digits of a bound that somebody would choose
_YEARS = range(1850, 2151)


def odd_label(label: str) -> str:
    """Why a value may be somebody's own words, as the end of "it ..."; nothing if it may not.

    Example:
        >>> odd_label("was lonely after the divorce."), odd_label("ann@example.org")
        ('reads like a sentence', 'holds an e-mail address')
        >>> [odd_label(one) for one in ("never married", "[1000000, 2000000)", "St. Anne")]
        ['', '', '']
    """
    if _ADDRESS.search(label):
        return "holds an e-mail address"
    if _LINK.search(label):
        return "holds a link"
    if len(label) > _LONGEST:
        return "is long"
    if len(label.split()) > _MOST_WORDS or _SENTENCE.fullmatch(label):
        return "reads like a sentence"
    if _BAND.fullmatch(label) and not _PHONE.fullmatch(label):
        return ""
    if _PHONE.search(label):
        return "holds what may be a phone number"
    return "holds a long number" if _NUMBER.search(label) else ""


def odd_bound(bound: int | Decimal | datetime.date) -> bool:
    """Whether a bound looks as if it was read off data: nobody would choose such a number.

    Example:
        >>> [odd_bound(one) for one in (0, 120, 99_999, 2024, 48_731, Decimal("12.75"))]
        [False, False, False, False, True, True]
        >>> odd_bound(datetime.date(1937, 3, 14)), odd_bound(datetime.date(1930, 12, 31))
        (True, False)
    """
    if isinstance(bound, datetime.date):
        return bound.day != 1 and (bound + datetime.timedelta(days=1)).day != 1
    digits = f"{abs(bound):f}".replace(".", "").strip("0") if bound else ""
    nines = set(digits) <= {"9"}
    return len(digits) > _DIGITS and not nines and bound not in _YEARS
