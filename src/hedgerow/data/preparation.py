"""What became of records on the way from the data to the counts. NOT PRIVATE.

Everything here is an exact count of private data. It is for whoever holds the data, and must not
become part of a release, nor change one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from hedgerow.arrays import Ints, Small, Words
from hedgerow.data.encode import encode_array
from hedgerow.data.lookup import FOREIGN
from hedgerow.data.people import first_rows, person_numbers, row_hash
from hedgerow.data.source import Progress, ReadOptions
from hedgerow.data.table import Encoded, Report, RowStream, Table, apply_rules, clips, collect
from hedgerow.data.transactions import read_records
from hedgerow.schema.attributes import Attribute

if TYPE_CHECKING:
    from hedgerow.schema import Items, Schema

# Rows of a table.

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
        """Values that a release does not count as they were; where one is missing, none was."""
        return self.outside + self.foreign


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
        sentences = []
        for one in self.attributes:
            if one.changed > MANY * self.rows:
                sentences.append(
                    f"{one.name}: {one.changed / self.rows:.1%} of the values lie outside the "
                    "domain (other, clipped or dropped). Do the domain and the rules fit?"
                )
        for number, why in (
            (self.dropped, "the schema's rules drop"),
            (self.unidentified, "there is no person for"),
            (self.capped, "the cap on rows per person leaves out"),
        ):
            if number > MANY * self.rows:
                sentences.append(f"{why[0].upper()}{why[1:]} {number / self.rows:.1%} of the rows.")
        for label, before, after in zip(self.classes, self.read, self.kept, strict=True):
            if abs(after - before) > SHIFT:
                sentences.append(
                    f"The class {label} has {before:.1%} of the rows that were read and "
                    f"{after:.1%} of those that are counted."
                )
        return sentences


class Tally:
    """Counts batch by batch what becomes of rows. NOT PRIVATE.

    Args:
        schema: The public schema.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._report = Report()
        self._rows = self._kept = self._unidentified = 0
        classes = len(schema.classes)
        self._read, self._before = np.zeros(classes, np.int64), np.zeros(classes, np.int64)
        self._broken = dict.fromkeys((rule.text for rule in schema.rules), 0)
        self._people: list[Any] = []
        self._ranks: list[Words] = []
        self._classes: list[Ints] = []

    def add(self, batch: Any, encoded: Encoded) -> None:
        """Looks at a batch and at what was made of it."""
        target, person = self._schema.target, self._schema.person
        self._report.merge(encoded.report)
        self._rows += batch.num_rows
        self._kept += encoded.rows
        self._unidentified += encoded.unidentified
        classes = None if target is None else encoded.columns[-1]
        for rule in self._schema.rules:
            self._broken[rule.text] += int(rule.breaks(encoded.columns, classes).sum())
        if person is not None:
            zeros = [] if target is not None else [np.zeros(encoded.rows, np.int64)]
            self._people.append(encoded.people)
            self._ranks.append(row_hash([*encoded.columns, *zeros]))
        if target is not None and classes is not None:
            codes = encode_array(target, batch.column(len(self._schema.attributes)))
            lost = apply_rules(target, codes, Report(), 0)
            self._read += np.bincount(codes[~lost], minlength=len(self._read))
            self._before += np.bincount(classes, minlength=len(self._before))
            self._classes += [] if person is None else [classes]

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
            attributes=tuple(
                _fate(one, self._report.kinds.get(one.name)) for one in self._schema.columns
            ),
            classes=self._schema.classes,
            read=_shares(self._read),
            kept=_shares(after),
            broken=self._broken,
        )


def _shares(counts: Ints) -> tuple[float, ...]:
    return tuple((counts / max(1, int(counts.sum()))).tolist())


def _fate(attribute: Attribute, kinds: Ints | None) -> Fate:
    """What the rules make of values; those of numbers are clipped before others apply."""
    missing, foreign, outside, _ = [0, 0, 0, 0] if kinds is None else kinds.tolist()
    clipped = clips(attribute)
    # a text has no nearer bound, so with `clip` it counts as missing
    empty, beyond = (missing + foreign, 0) if clipped else (missing, outside + foreign)
    by_rule = {"other": 0, "drop": 0, "error": 0}
    by_rule[attribute.missing] += empty
    by_rule[attribute.outside if attribute.outside in by_rule else "error"] += beyond
    return Fate(
        name=attribute.name,
        missing=missing,
        outside=outside,
        foreign=foreign,
        other=by_rule["other"],
        clipped=outside if clipped else 0,
        dropped=by_rule["drop"],
    )


def read_prepared(
    source: Any,
    schema: Schema,
    *,
    delimiter: str | None = None,
    line_breaks: bool = False,
    progress: Progress | None = None,
) -> tuple[Table, Preparation]:
    """Reads as `read` does, and counts what became of the rows: for the eyes of their holder.

    Example:
        >>> import pyarrow as pa
        >>> from hedgerow.schema import Schema
        >>> schema = Schema.from_dict({"name": "survey", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99, "outside": "drop"}}})
        >>> table, looked = read_prepared(pa.table({"age": [18, 400]}), schema)
        >>> len(table.codes), looked.rows
        (1, 2)
    """
    stream = RowStream(source, schema, delimiter, line_breaks=line_breaks)
    tally = Tally(schema)
    return collect(stream, progress, tally=tally), tally.finish()


# Transactions.


@dataclass(frozen=True, kw_only=True)
class ItemPreparation:
    """What became of transactions. NOT PRIVATE.

    Args:
        records: How many records were read: lines, lists, or people with their rows.
        rows: How many rows were read, if there is one for each item; else None.
        unidentified: How many of these have no person.
        items: How many items the records hold, as they were read.
        foreign: Items outside the universe, which are left out.
        repeated: Items that their record holds already, which count once.
        capped: Items that the cap on items per record leaves out.
        over: Records with more items than the cap allows.
        empty: Records without an item of the universe.
        dropped: Records that are not counted: the empty ones, unless `(empty)` stands for them.
        max_items: The cap, if there is one.
        rare: Items that fewer than ten records have, but some.
    """

    records: int = 0
    rows: int | None
    unidentified: int = 0
    items: int = 0
    foreign: int = 0
    repeated: int = 0
    capped: int = 0
    over: int = 0
    empty: int = 0
    dropped: int
    max_items: int | None
    rare: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def counted(self) -> int:
        """The records that a release counts."""
        return self.records - self.dropped

    def warnings(self) -> list[str]:
        """What matters: more than 5% of the items, records or rows are not counted as they are."""
        sentences = []
        for number, of, what, fit in (
            (self.foreign, self.items, "items are not in the universe", "Is it complete?"),
            (self.capped, self.items, "items are left out by the cap on items per record",
             "Is the cap too low?"),
            (self.dropped, self.records, "records have no item of the universe and are dropped",
             "`empty: dummy` would count them."),
            (self.unidentified, self.rows or 0, "rows have no person and are dropped",
             "Is the column right?"),
        ):  # fmt: skip
            if number > MANY * of:
                sentences.append(f"{number / of:.1%} of the {what}. {fit}")
        return sentences


FEWEST = 10  # people, or records: what fewer of them have may be one person's, in a schema, too


class ItemTally:
    """Counts block by block what becomes of records. NOT PRIVATE.

    Args:
        items: The universe and the rules.

    Example:
        >>> from hedgerow.schema import Items
        >>> tally = ItemTally(Items(("milk", "tea", "rice"), max_items=1))
        >>> tally.add(np.array([0, 0, 1, FOREIGN], np.int32), np.array([3, 1]))
        >>> found = tally.finish()
        >>> found.repeated, found.capped, found.over, found.foreign, found.counted
        (1, 1, 1, 1, 1)
    """

    def __init__(self, items: Items) -> None:
        self._rules = items
        self._rows: int | None = None
        self._counts = Counter[str]()
        self._supports = np.zeros(items.size, np.int64)

    def add(self, codes: Small, sizes: Ints) -> None:
        """Looks at the codes of some records, before any rule applies, and at their numbers."""
        record = np.repeat(np.arange(len(sizes)), sizes)
        known, foreign = codes >= 0, codes == FOREIGN
        width = self._rules.size
        distinct = np.unique(record[known] * width + codes[known].astype(np.int64))
        np.add.at(self._supports, distinct % width, 1)
        held = np.bincount(distinct // width, minlength=len(sizes))
        cap = self._rules.max_items or width
        self._counts.update(
            records=len(sizes),
            items=int(known.sum() + foreign.sum()),
            foreign=int(foreign.sum()),
            repeated=int(known.sum()) - len(distinct),
            capped=int(np.maximum(held - cap, 0).sum()),
            over=int((held > cap).sum()),
            empty=int((held == 0).sum()),
        )

    def add_rows(self, rows: int, unidentified: int, foreign: int) -> None:
        """Takes what is seen of rows of one item each, before they become records."""
        self._rows = (self._rows or 0) + rows
        self._counts.update(unidentified=unidentified, items=foreign, foreign=foreign)

    def finish(self) -> ItemPreparation:
        """The counts, when all records were seen."""
        dropped = self._counts["empty"] if self._rules.dummy is None else 0
        cap = self._rules.max_items
        few = np.flatnonzero((self._supports > 0) & (self._supports < FEWEST))
        rare = {"items": tuple(self._rules.labels[code] for code in few.tolist())}
        return ItemPreparation(
            rows=self._rows, dropped=dropped, max_items=cap, rare=rare, **self._counts
        )


def check_transactions(source: Any, schema: Schema, **how: Unpack[ReadOptions]) -> ItemPreparation:
    """Looks whether transactions follow the schema, as `read_transactions` does; keeps none.

    What is returned are exact counts of what became of the records, for whoever holds them.
    """
    assert schema.items is not None
    tally = ItemTally(schema.items)
    read_records(source, schema, sink=lambda codes, sizes: None, tally=tally, **how)
    return tally.finish()
