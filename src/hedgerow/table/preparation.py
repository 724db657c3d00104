"""What became of the rows on the way from the data to the counts. NOT PRIVATE.

Everything here is an exact count of private data. It is for whoever holds the data, and must not
become part of a release, nor change one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.arrays import Ints, Words
from hedgerow.schema.attributes import Attribute, Categorical
from hedgerow.table.encode import encode_array
from hedgerow.table.notation import ABOVE, BELOW, MISSING, STRANGE
from hedgerow.table.person import first_rows, person_ids, person_numbers, row_hash
from hedgerow.table.rules import Report, apply_rules
from hedgerow.table.stream import Encoded

if TYPE_CHECKING:
    from hedgerow.schema import Schema

__all__ = ["Fate", "Preparation", "Tally"]

MANY = 0.05  # of the values of an attribute, or of the rows: more is worth a warning
SHIFT = 0.01  # a share of the class that moves by more is worth one too


@dataclass(frozen=True, kw_only=True)
class Fate:
    """What was odd about the values of an attribute, and what became of them. NOT PRIVATE.

    Args:
        name: The attribute.
        missing: Values that are missing.
        outside: Numbers and dates beyond the bounds.
        foreign: Values that are not in the domain at all, such as texts in place of numbers.
        other: Values that became `other`.
        clipped: Values that became the nearer bound.
        dropped: Values whose rows were dropped.
    """

    name: str
    missing: int = 0
    outside: int = 0
    foreign: int = 0
    other: int = 0
    clipped: int = 0
    dropped: int = 0

    @property
    def changed(self) -> int:
        """Values that a release does not count as they were."""
        return self.other + self.clipped + self.dropped


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """What became of the rows of a table. NOT PRIVATE.

    Args:
        rows: How many rows were read.
        dropped: Rows that a rule of the schema dropped.
        unidentified: Other rows without a person.
        capped: Other rows that the cap on rows per person left out.
        people: How many people there are in the rest; None if each row is one.
        people_capped: How many of them had more rows than the cap allows.
        attributes: What became of values, for each attribute and the class.
        classes: The values of the class.
        read: Their shares in the rows that were read, as far as the class is known.
        kept: Their shares in the rows that are counted.
        broken: For each rule between columns, how many rows break it that no other rule drops.
        rare: Values of the schema that fewer than ten people have, by column, if looked for.
    """

    rows: int
    dropped: int
    unidentified: int
    capped: int
    people: int | None
    people_capped: int | None
    attributes: tuple[Fate, ...]
    classes: tuple[str, ...]
    read: tuple[float, ...]
    kept: tuple[float, ...]
    broken: Mapping[str, int] = field(default_factory=dict)
    rare: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)

    @property
    def counted(self) -> int:
        """The rows that a release counts."""
        return self.rows - self.dropped - self.unidentified - self.capped

    def warnings(self) -> list[str]:
        """What matters: more than 5% of an attribute or of the rows, a class moved by a point."""
        found = []
        for one in self.attributes:
            if one.changed > MANY * self.rows:
                found.append(
                    f"{one.name}: {one.changed / self.rows:.1%} of the values are not counted as "
                    "they are (other, clipped or dropped). Do the domain and the rules fit?"
                )
        for number, why in (
            (self.dropped, "the schema's rules drop"),
            (self.unidentified, "there is no person for"),
            (self.capped, "the cap on rows per person leaves out"),
        ):
            if number > MANY * self.rows:
                found.append(f"{why[0].upper()}{why[1:]} {number / self.rows:.1%} of the rows.")
        for label, before, after in zip(self.classes, self.read, self.kept, strict=True):
            if abs(after - before) > SHIFT:
                found.append(
                    f"The class {label} has {before:.1%} of the rows that were read and "
                    f"{after:.1%} of those that are counted."
                )
        return found


class Tally:
    """Counts batch by batch what becomes of rows. NOT PRIVATE.

    Args:
        schema: The public schema.
        attributes: The attributes in the order of the columns: predictors, then the class.
    """

    def __init__(self, schema: Schema, attributes: Sequence[Attribute]) -> None:
        self._schema = schema
        self._attributes = attributes
        self._odd = np.zeros((len(attributes), 3), np.int64)
        self._rows = self._kept = self._unidentified = 0
        classes = len(schema.classes)
        self._read, self._before = np.zeros(classes, np.int64), np.zeros(classes, np.int64)
        self._broken = [0] * len(schema.rules)
        self._people: list[Any] = []
        self._ranks: list[Words] = []
        self._classes: list[Ints] = []

    def add(self, batch: Any, encoded: Encoded) -> None:
        """Looks at a batch and at what was made of it."""
        target, person = self._schema.target, self._schema.person
        self._rows += batch.num_rows
        classes = None if target is None else encoded.columns[-1]
        for number, rule in enumerate(self._schema.rules):
            self._broken[number] += int(rule.breaks(encoded.columns, classes).sum())
        self._kept += encoded.rows
        gone = np.zeros(batch.num_rows, bool)
        for place, attribute in enumerate(self._attributes):
            column = batch.column(place)
            self._odd[place] += _odd(attribute, column)
            codes = encode_array(attribute, column)
            lost = apply_rules(attribute, codes, Report(), 0)
            gone |= False if lost is None else lost
            if attribute is target:
                known = codes if lost is None else codes[~lost]
                self._read += np.bincount(known, minlength=len(self._read))
        if person is not None:
            named = person_ids(batch.column(len(self._attributes)), person.column)[1]
            self._unidentified += int((~named & ~gone).sum())
            zeros = [] if target is not None else [np.zeros(encoded.rows, np.int64)]
            self._people.append(encoded.people)
            self._ranks.append(row_hash([*encoded.columns, *zeros]))
        if target is not None:
            codes = encoded.columns[-1]
            self._before += np.bincount(codes, minlength=len(self._before))
            self._classes += [] if person is None else [codes.astype(np.int64)]

    def finish(self) -> Preparation:
        """The counts, when all batches were seen."""
        capped, people, over, after = 0, None, None, self._before
        person = self._schema.person
        if person is not None and self._people:
            numbers = person_numbers(self._people)
            stay = first_rows((numbers,), np.concatenate(self._ranks), person.max_rows)
            sizes = np.bincount(numbers)
            capped, people = len(numbers) - len(stay), int((sizes > 0).sum())
            over = int((sizes > person.max_rows).sum())
            if self._classes:
                codes = np.concatenate(self._classes)[stay]
                after = np.bincount(codes, minlength=len(after))
        return Preparation(
            rows=self._rows,
            dropped=self._rows - self._kept - self._unidentified,
            unidentified=self._unidentified,
            capped=capped,
            people=people,
            people_capped=over,
            attributes=tuple(map(_fate, self._attributes, self._odd.tolist())),
            classes=self._schema.classes,
            read=_shares(self._read),
            kept=_shares(after),
            broken={
                rule.text: rows for rule, rows in zip(self._schema.rules, self._broken, strict=True)
            },
        )


def _shares(counts: Ints) -> tuple[float, ...]:
    return tuple((counts / max(1, int(counts.sum()))).tolist())


def _odd(attribute: Attribute, column: Any) -> tuple[int, int, int]:
    """How many values are missing, beyond the bounds and foreign."""
    bands = attribute.bands if isinstance(attribute, Categorical) else None
    codes = encode_array(attribute if bands is None else bands, column)
    beyond = int(((codes == BELOW) | (codes == ABOVE)).sum())
    return int((codes == MISSING).sum()), beyond, int((codes <= STRANGE).sum())


def _fate(attribute: Attribute, odd: Sequence[int]) -> Fate:
    """What the rules make of values; those of numbers are clipped before others apply."""
    missing, outside, foreign = odd
    bands = attribute.bands if isinstance(attribute, Categorical) else None
    clips = "clip" in (attribute.outside, None if bands is None else bands.outside)
    # a text has no nearer bound, so with `clip` it counts as missing
    empty, beyond = (missing + foreign, 0) if clips else (missing, outside + foreign)
    by_rule = {"other": 0, "drop": 0, "error": 0}
    by_rule[attribute.missing] += empty
    by_rule[attribute.outside if attribute.outside in by_rule else "error"] += beyond
    return Fate(
        name=attribute.name,
        missing=missing,
        outside=outside,
        foreign=foreign,
        other=by_rule["other"],
        clipped=outside if clips else 0,
        dropped=by_rule["drop"],
    )
