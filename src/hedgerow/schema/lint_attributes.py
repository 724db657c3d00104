"""Faults of attributes: what could not be published by, or not be read back from a release."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from hedgerow.schema.attributes import (
    LEAST_WEIGHT,
    MOST_BANDS,
    MOST_COMMON,
    MOST_WEIGHT,
    OTHER,
    Attribute,
    Categorical,
    Numeric,
    in_bands,
)
from hedgerow.schema.lint import (
    BOOLEAN_LABELS,
    MAX_GRID,
    Fault,
    column_fault,
    label_fault,
    taxonomy_faults,
)
from hedgerow.schema.taxonomies.rules import reading_faults
from hedgerow.schema.taxonomies.taxonomy import Taxonomy
from hedgerow.schema.written import format_fault, notation_fault

__all__ = ["choice_faults", "grid_faults", "schema_faults"]

MOST_DIGITS = 40  # before the decimal point, and after it
_DAYS = (-719162, 2932896)  # from 0001-01-01 to 9999-12-31, as days since 1970-01-01


def grid_faults(low: Fraction, high: Fraction, step: Fraction, kind: str) -> list[tuple[str, str]]:
    """What is wrong with a numeric grid: pairs of what and hint.

    Example:
        >>> grid_faults(Fraction(5), Fraction(5), Fraction(1), "integer")
        [('low is not below high', 'Make low the smallest and high the largest value allowed.')]
    """
    if low >= high:
        return [
            ("low is not below high", "Make low the smallest and high the largest value allowed.")
        ]
    if step <= 0:
        return [("step is not above zero", "Give the distance of neighbouring values, such as 1.")]
    if (high - low) / step + 1 > MAX_GRID:
        return [
            (
                f"low, high and step make more than {MAX_GRID} values",
                "Choose a larger step, or bounds that are closer together.",
            )
        ]
    parts = {"low": low, "high": high, "step": step}
    found = [number_fault(key, value, kind) for key, value in parts.items()]
    return [fault for fault in found if fault]


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
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest == 1:
        return f"{key} has more than {MOST_DIGITS} decimals", "Write a shorter number."
    return f"{key} is not a decimal number", "Write it with a decimal point."


def choice_faults(attribute: Attribute, is_class: bool) -> list[tuple[str, str, str]]:
    """What is wrong with how an attribute is chosen and called: the key, what, and the hint.

    Args:
        attribute: The attribute.
        is_class: Whether it is the class.
    """
    faults = []
    weight, never = attribute.weight, attribute.split == "never"
    if is_class:
        given = (("split", never), ("weight", weight != 1), ("group", attribute.group))
        what = "regions are never divided by the class"
        faults = [(key, what, f"Remove {key}.") for key, told in given if told]
    elif not LEAST_WEIGHT <= weight <= MOST_WEIGHT or weight % LEAST_WEIGHT:
        what = "weight is not a number from 0.01 to 100 with at most two decimals"
        way = " For no regions by this attribute, write `split: never`." if weight <= 0 else ""
        faults.append(("weight", what, f"Write, for example, weight: 0.5.{way}"))
    elif never and weight != 1:
        what = "weight is given beside split: never"
        faults.append(("weight", what, "Keep one of the two: there is nothing to weigh."))
    for key in ("group", "column"):
        name = getattr(attribute, key)
        wrong = label_fault(name) if name else None
        if wrong is None and name != name.strip():
            wrong = (f"the {key} {name!r} starts or ends with a space", "Remove the space.")
        faults += [] if wrong is None else [(key, *wrong)]
    return faults


def _attribute_faults(attribute: Attribute) -> list[tuple[str, str]]:
    if isinstance(attribute, Numeric):
        faults = grid_faults(attribute.low, attribute.high, attribute.step, attribute.kind)
        for value in attribute.common:
            inside = attribute.low <= value <= attribute.high
            if not inside or number_fault("common", value, attribute.kind):
                hint = "Name values between low and high, written as these are."
                faults.append(("common names a value that the attribute cannot have", hint))
        if len(attribute.common) > MOST_COMMON:
            what = f"common names more than {MOST_COMMON} values"
            faults.append((what, "Name those alone that very many people have."))
        if attribute.kind == "date" and (attribute.decimal or attribute.thousands):
            what = "decimal and thousands are for numbers, and these are dates"
            faults.append((what, "Remove them; format says how dates are written."))
        notation = notation_fault(attribute.decimal, attribute.thousands)
        found = [notation, format_fault(attribute.format, attribute.kind)]
        return faults + [fault for fault in found if fault]
    faults = taxonomy_faults(attribute.taxonomy)
    if faults:  # what follows looks at its leaves
        return faults
    faults = _band_faults(attribute) if attribute.bands or attribute.edges else []
    asks = OTHER in (attribute.missing, attribute.outside)
    if asks and OTHER not in attribute.taxonomy.leaves:
        faults.append(
            (f"its rules need a leaf {OTHER!r}", f"Add the leaf {OTHER!r} to the taxonomy.")
        )
    leaves = attribute.taxonomy.leaves
    faults += [(what, hint) for _, what, hint in reading_faults(attribute.reading, leaves)]
    if attribute.boolean:
        if attribute.reading:
            faults.append(("a boolean has rules of reading", "Make it a categorical attribute."))
        leaves = (*BOOLEAN_LABELS, OTHER) if asks else BOOLEAN_LABELS
        if attribute.taxonomy != Taxonomy.flat(leaves):
            faults.append(
                ("a boolean has the values false and true", f"Use Taxonomy.flat({leaves!r}).")
            )
    return faults


def _band_faults(attribute: Categorical) -> list[tuple[str, str]]:
    """What is wrong with a class of numbers, which must be what a schema file can say."""
    numeric, edges = attribute.bands, attribute.edges
    if numeric is not None and not _attribute_faults(numeric) + choice_faults(numeric, True):
        rising = 1 < len(edges) <= MOST_BANDS + 1 and edges[0] == 0 and edges[-1] < numeric.grid
        if rising and all(low < high for low, high in pairwise(edges)):
            outside = "clip" if numeric.outside == "clip" else attribute.outside
            told = replace(numeric, missing=attribute.missing, outside=outside)
            if attribute == in_bands(told, edges):
                return []
    return [("its bands are not those of a class of numbers", "Read it from a dictionary instead.")]


def schema_faults(
    attributes: Sequence[Attribute],
    target: Categorical | None,
    other_columns: Iterable[str],
) -> list[Fault]:
    """The faults of a schema that was built in Python."""
    faults: list[Fault] = []
    if not attributes:
        faults.append(
            Fault(
                "the schema has no attribute to publish",
                "Describe at least one column that is not the class, the person or an identifier.",
            )
        )
    if target is not None and target.taxonomy.height > 1:
        faults.append(
            Fault(
                f"the class {target.name!r} has a taxonomy of several levels",
                "Give the class a flat list of values.",
            )
        )
    published = [*attributes, *([] if target is None else [target])]
    for attribute in attributes:
        if isinstance(attribute, Categorical) and attribute.bands is not None:
            what = f"attribute {attribute.name!r}: bands are for the class alone"
            faults.append(Fault(what, "Use the numeric attribute itself."))
    for attribute in published:
        found = [column_fault(attribute.name, True), *_attribute_faults(attribute)]
        found += [fault[1:] for fault in choice_faults(attribute, attribute is target)]
        faults += [Fault(f"attribute {attribute.name!r}: {f[0]}", f[1]) for f in found if f]
    others = list(other_columns)
    for name in others:
        fault = column_fault(name, False)
        if fault:
            faults.append(Fault(f"column {name!r}: {fault[0]}", fault[1]))
    names = [attribute.name for attribute in published] + others
    columns = [attribute.column or attribute.name for attribute in published] + others
    for name in sorted({name for name in names if names.count(name) > 1}
                       | {name for name in columns if columns.count(name) > 1}):  # fmt: skip
        faults.append(Fault(f"the column {name!r} is described twice", "Keep one of the two."))
    return faults
