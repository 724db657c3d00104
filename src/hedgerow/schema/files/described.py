"""Attributes as a schema file describes them: the way back from `build`."""

from __future__ import annotations

import datetime
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hedgerow.schema.attributes import Attribute, Categorical, Numeric

__all__ = ["describe_weight", "described"]


def described(attribute: Attribute) -> dict[str, Any]:
    """The keys of a schema file that say what the attribute is, every default spelt out."""
    rules: dict[str, Any] = {"missing": attribute.missing, "outside": attribute.outside}
    if attribute.split == "never":
        rules["split"] = attribute.split
    if attribute.weight != 1:
        rules["weight"] = describe_weight(attribute.weight)
    for key in ("group", "column"):
        if getattr(attribute, key):
            rules[key] = getattr(attribute, key)
    if isinstance(attribute, Categorical) and attribute.bands is not None:
        bands = attribute.bands
        rules["outside"] = "clip" if bands.outside == "clip" else attribute.outside
        starts = tuple(bands.low + bands.step * code for code in attribute.edges[1:])
        told = described(replace(bands, common=starts))
        return told | {"bands": told.pop("common")} | rules
    if isinstance(attribute, Numeric):

        def written(value: Fraction, days: bool) -> str | int:
            if attribute.kind == "decimal":
                return _decimal_text(value)
            if not days:
                return int(value)
            return (datetime.date(1970, 1, 1) + datetime.timedelta(days=int(value))).isoformat()

        dates = attribute.kind == "date"
        numbers: dict[str, Any] = {
            "low": written(attribute.low, dates),
            "high": written(attribute.high, dates),
            "step": written(attribute.step, False),
        }
        if attribute.scale != "linear":
            numbers["scale"] = attribute.scale
        if attribute.common:
            numbers["common"] = [written(value, dates) for value in attribute.common]
        for key in ("decimal", "thousands", "format"):
            if getattr(attribute, key):
                numbers[key] = getattr(attribute, key)
        return {"type": "numeric", **numbers, **rules}
    if attribute.boolean:
        return {"type": "boolean", **rules}
    taxonomy = attribute.taxonomy
    if taxonomy.height == 0:  # a single node is a single value, whatever the root was called
        told = {"type": "categorical", "values": list(taxonomy.leaves), **rules}
        return told | attribute.reading.describe()
    key = "values" if taxonomy.height == 1 else "taxonomy"
    return {
        "type": "categorical",
        "root": taxonomy.labels[0],
        key: taxonomy.nested(),
        **rules,
        **attribute.reading.describe(),
    }


def describe_weight(weight: Fraction) -> int | str:
    """A weight as a schema file has it."""
    return int(weight) if weight.denominator == 1 else _decimal_text(weight)


def _decimal_text(value: Fraction) -> str:
    """All digits of a decimal number, always with a point, which tells it from an integer."""
    places = 1
    while (value * 10**places).denominator != 1:  # ends: the schema holds decimals only
        places += 1
    digits = str(abs(int(value * 10**places))).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}"
