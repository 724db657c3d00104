"""Values and numbers as readers of a page want them: no signs to learn, no digits of noise."""

from __future__ import annotations

import datetime
import math

from hedgerow.report.words import number
from hedgerow.schema import Attribute, Categorical
from hedgerow.schema.attributes import OTHER
from hedgerow.schema.schema import other_of

_BROAD = 0.02  # the width of an interval from which tenths of a percent say nothing
_TO = "\u00a0to\u00a0"  # a line must not end inside an interval


def part_of(attribute: Attribute, low: int, high: int) -> str:
    """The generalised value for the codes from low to high, in words.

    Example:
        >>> from fractions import Fraction
        >>> from hedgerow.schema import Numeric
        >>> age = Numeric("age", low=Fraction(17), high=Fraction(90), step=Fraction(1),
        ...     kind="integer", missing="other")
        >>> [part_of(age, *codes).replace("\u00a0", " ") for codes in ((1, 23), (3, 4), (74, 75))]
        ['18 to 39', '20', 'other (incl. missing)']
        >>> bmi = Numeric("bmi", low=Fraction(14), high=Fraction(48), step=Fraction(1, 2),
        ...     kind="decimal")
        >>> [part_of(bmi, *codes).replace("\u00a0", " ") for codes in ((0, 2), (2, 69))]
        ['14 to under 15', '15 to 48']
    """
    if isinstance(attribute, Categorical):
        label = attribute.label(low, high)
        return other_of(attribute) if label == OTHER else label
    if low >= attribute.grid:
        return other_of(attribute)
    other = f" or {other_of(attribute)}" if high > attribute.grid else ""
    first, end, under = attribute.edge(low), attribute.edge(min(high, attribute.grid)), ""
    if high < attribute.grid:
        if isinstance(end, datetime.date):
            end -= datetime.timedelta(days=1)
        elif isinstance(end, int):
            end -= 1
        else:
            under = "under\u00a0"
    to = " to\u00a0" if attribute.kind == "date" else _TO  # two dates are too long for a phone
    return f"{first}{other}" if first == end else f"{first}{to}{under}{end}{other}"


def rounded(value: float, low: float, high: float) -> tuple[str, str]:
    """An estimate and its interval, with no more digits than the interval supports.

    Ends are rounded outwards, so that the interval holds no less often. From 0 to 0 would look like
    certainty, but is what is left where noise took a count far below zero.

    Example:
        >>> about, ends = rounded(6148.2, 6049, 6265)
        >>> about, ends.replace("\u00a0", " "), rounded(7.7, 3, math.inf)
        ('6,150', '6,040 to 6,270', ('7.7', '3 or more'))
        >>> rounded(2.4, 0, 91)[0], rounded(0, 0, 0)
        ('2', ('0', 'not known'))
    """
    if not math.isfinite(high):
        return number(max(0.0, value)), f"{number(low)} or more"
    if high <= 0:
        return "0", "not known"
    unit = 10 ** max(0, math.floor(math.log10(max(1.0, (high - low) / 10))))
    least, most = math.floor(low / unit) * unit, math.ceil(high / unit) * unit
    return f"{round(max(0.0, value) / unit) * unit:,}", f"{number(least)}{_TO}{number(most)}"


def rounded_share(share: float, low: float, high: float) -> tuple[str, str]:
    """The same for a share, in percent.

    Example:
        >>> rounded_share(0.098, 0.083, 0.112)[1].replace("\u00a0", " ")
        '8% to 12%'
    """
    digits = 0 if high - low >= _BROAD else 1
    unit = 10**digits
    least, most = math.floor(100 * low * unit) / unit, math.ceil(100 * high * unit) / unit
    return f"{100 * share:.{digits}f}%", f"{least:.{digits}f}%{_TO}{most:.{digits}f}%"


def unsure(low: float, high: float) -> str:
    """A share of which only the interval is worth telling; ends are rounded outwards.

    Example:
        >>> unsure(0.0, 0.0712).replace("\u00a0", " "), unsure(0.0, 0.0)
        ('0 to 8%', 'not known')
    """
    if high <= 0:
        return "not known"
    digits = 1 if high < _BROAD else 0
    unit = 10**digits
    least, most = math.floor(100 * low * unit) / unit, math.ceil(100 * high * unit) / unit
    return f"{least:.{digits if least else 0}f}{_TO}{most:.{digits}f}%"


def percent(share: float) -> str:
    """A share in percent with two digits that count.

    Example:
        >>> percent(0.423), percent(0.0421), percent(0.00421), percent(0.0)
        ('42%', '4.2%', '0.42%', '0%')
    """
    size = 100 * abs(share)
    digits = 0 if size >= 10 or size < 0.005 else 1 if size >= 1 else 2
    return f"{100 * share:.{digits}f}%"
