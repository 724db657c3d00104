"""What the holder of a table should hear about it: for their eyes, never part of a release."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Ints
from hedgerow.data.encode import ALIKE, NEAR, Codes, encode_array, plain_array, text_of, to_list
from hedgerow.data.people import id_digests
from hedgerow.data.preparation import FEWEST, Preparation, Tally
from hedgerow.data.source import Progress, Source
from hedgerow.data.table import Encoded, Report, RowStream, other_code
from hedgerow.draft.guess import guess_column
from hedgerow.errors import DataWarning
from hedgerow.schema.attributes import Attribute, Categorical, Numeric

if TYPE_CHECKING:
    from hedgerow.schema import Schema

# Attributes that nearly identify people in the data, and values of a schema that few people have:
# something for the steward to hear.
#
# What is found here depends on private data. It is told to whoever holds the data, and must not
# become part of a release, nor change one. A value that nobody has is not called rare: it did not
# come from the data.


_ROWS = 30  # in fewer rows, differing says little
_GRID = 1000  # on a smaller grid, numbers of a small table differ by chance
_TOLD = 10  # values that are named


class Held:
    """Who has each value of an attribute, on the grid or the leaves that the schema gives.

    Values that became `other` are left out.

    Args:
        attribute: The attribute.
        most: The most rows that one person may have.

    Example:
        >>> from fractions import Fraction
        >>> from hedgerow.schema import Taxonomy
        >>> number = Numeric("number", low=Fraction(0), high=Fraction(9999), step=Fraction(1),
        ...     kind="integer")
        >>> held = Held(number, most=1)
        >>> held.add(np.arange(40), np.arange(40))
        >>> held.tells_apart
        True
        >>> held = Held(Categorical("ward", Taxonomy.flat(["a", "b", "c"])), most=1)
        >>> held.add(np.array([0] * 12 + [1]), np.arange(13))
        >>> held.rare, held.unused
        (('b',), ('c',))
    """

    def __init__(self, attribute: Attribute, most: int) -> None:
        self.attribute = attribute
        asks = "other" in (attribute.missing, attribute.outside)
        self._other = other_code(attribute) if asks else None
        self._enough = 2 * attribute.size * most
        self._seen = 0
        self._count = np.zeros(attribute.size, np.uint32)
        self._holder = np.zeros(attribute.size, np.int64)
        self._shared = np.zeros(attribute.size, bool)
        self._leaves = attribute.taxonomy.leaves if isinstance(attribute, Categorical) else ()
        self._people = [set[int]() for _ in self._leaves]  # up to so many that it is not rare
        self._common = np.zeros(attribute.size, bool)

    def add(self, codes: Codes, who: Ints) -> None:
        """Looks at some rows.

        Args:
            codes: The code of each.
            who: A number that tells whom it is about.
        """
        if self._other is not None:
            known = codes != self._other
            codes, who = codes[known], who[known]
        if self._people:
            few = ~self._common[codes]
            pairs = np.unique(np.stack([codes[few], who[few]], axis=1), axis=0)
            ranks = np.arange(len(pairs)) - np.searchsorted(pairs[:, 0], pairs[:, 0])
            for code, person in pairs[ranks < FEWEST].tolist():  # more than enough of each
                self._people[code].add(person)
                self._common[code] = len(self._people[code]) >= FEWEST
        self._seen += len(codes)
        if self._seen > self._enough:  # most of so many rows cannot have a value of their own
            return
        new = self._count[codes] == 0
        self._holder[codes[new]] = who[new]  # of several rows, the last one's
        self._shared[codes[self._holder[codes] != who]] = True
        np.add.at(self._count, codes, np.uint32(1))

    @property
    def tells_apart(self) -> bool:
        """Whether most rows have a value that is nobody else's."""
        if self._seen > self._enough or self._seen < _ROWS:
            return False
        own = (self._count > 0) & ~self._shared
        rows = int(self._count[own].sum())
        if 2 * int(own.sum()) < _ROWS or 2 * rows <= self._seen:
            return False
        fine = not isinstance(self.attribute, Numeric) or self.attribute.grid >= _GRID
        return fine or rows == self._seen

    @property
    def rare(self) -> tuple[str, ...]:
        """Leaves that fewer than ten people have, but somebody."""
        pairs = zip(self._leaves, self._people, strict=True)
        return tuple(leaf for leaf, people in pairs if 0 < len(people) < FEWEST)

    @property
    def unused(self) -> tuple[str, ...]:
        """Leaves that nobody has, without that of `other`."""
        return tuple(leaf for code, leaf in enumerate(self._leaves)
                     if code != self._other and not self._people[code])  # fmt: skip


def holders(batch: Encoded, rows: int) -> Ints:
    """Numbers that tell apart whom the rows of a batch are about.

    People whose numbers are the same by coincidence do not matter here.

    Args:
        batch: The rows.
        rows: How many there were in batches before; without a person each is one.
    """
    if batch.people is None:
        return np.arange(rows, rows + batch.rows, dtype=np.int64)
    return id_digests(batch.people, b"")[:, 0].astype(np.int64)


def _warn_of(held: Sequence[Held], what: str) -> list[str]:
    """What a steward should hear; neither a value nor a number of rows is named.

    Args:
        held: What was seen of all attributes.
        what: How messages call the data.
    """
    fewer = "fewer values: groups that a taxonomy has, instead of its leaves"
    own = [
        f"{what}, column {one.attribute.name!r}: most rows have a value that nobody else has, so "
        "it nearly identifies people, and a release can say little about it. If it names or "
        "numbers people, write `role: identifier`, or `role: person` with `max_rows` if a "
        "person can have several rows. Otherwise give it "
        f"{'a coarser step' if isinstance(one.attribute, Numeric) else fewer}."
        for one in held
        if one.tells_apart
    ]
    return own + [
        f"{what}, column {one.attribute.name!r}: NOT PRIVATE: fewer than {FEWEST} people have each "
        f"of {len(one.rare)} of its values, which are published with the schema. Keep those that "
        "anybody could have listed who never saw the data; take out what somebody wrote."
        for one in held
        if one.rare
    ]


def _warn_of_unused(held: Sequence[Held], what: str) -> list[str]:
    """What a steward hears who asked for values that no row has; it names them.

    What is found depends on private data: a value that nobody has belongs in a schema all the same.
    """
    sentences = []
    for one in held:
        if gone := one.unused:
            shown = ", ".join(map(repr, gone[:_TOLD])) + (", ..." if len(gone) > _TOLD else "")
            sentences.append(
                f"{what}, column {one.attribute.name!r}: NOT PRIVATE: no row has {len(gone)} of "
                f"its values: {shown}. Look for misspelt ones, and leave the others in the schema: "
                "that nobody has them is a fact about the people in the data."
            )
    return sentences


# Values that differ from the schema's only in case or spaces, with what was meant. NOT PRIVATE.
#
# This quotes private data. It is for whoever holds the data and looks whether it follows a schema,
# and must not become part of a release, of a log or of what publishing says.


_SHOWN = 5


class NearValues:
    """Finds such values batch by batch.

    Args:
        attributes: The attributes, in the order of the columns.

    Example:
        >>> from hedgerow.schema import Taxonomy
        >>> seen = NearValues([Categorical("sex", Taxonomy.flat(["Female", "Male"]))])
        >>> seen.add(0, pa.record_batch({"sex": ["Male", "male", "x"]}), {"sex": {NEAR: 1}})
        >>> seen.warnings(Source(what="people.csv", names=("sex",),
        ...     batches=lambda columns: iter(())))
        ["people.csv, column 'sex': 'male' (row 2) is not in the schema, did you mean 'Male'? This
        quotes private data."]
    """

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self._attributes = attributes
        self._found: dict[str, dict[str, tuple[str, int]]] = {}

    def add(self, first_row: int, batch: Any, shapes: dict[str, dict[int, int]]) -> None:
        """Looks at a batch; `shapes` says which of its columns hold such values."""
        for place, attribute in enumerate(self._attributes):
            if not isinstance(attribute, Categorical) or NEAR not in shapes.get(attribute.name, {}):
                continue
            known = self._found.setdefault(attribute.name, {})
            leaves = attribute.taxonomy.leaves
            alike = ALIKE.forms(leaves)
            column = plain_array(batch.column(place), attribute.name)
            near = (encode_array(attribute, column) == NEAR).nonzero()[0]
            for row, value in zip(near.tolist(), to_list(column.take(pa.array(near))), strict=True):
                text = text_of(value)
                if text is not None and text not in known and len(known) < _SHOWN:
                    known[text] = leaves[alike[ALIKE.form(text)]], first_row + row

    def warnings(self, source: Source) -> list[str]:
        """What was found, with lines, values and what was probably meant."""
        sentences = []
        for column, near in self._found.items():
            rows = [row for _, row in near.values()]
            words = [
                f"{text!r} ({where}) is not in the schema, did you mean {leaf!r}?"
                for (text, (leaf, _)), where in zip(near.items(), source.places(rows), strict=True)
            ]
            sentences.append(
                f"{source.what}, column {column!r}: {' '.join(words)} This quotes private data."
            )
        return sentences


# Dropped columns by which people have several rows, while a release protects single ones.
#
# What is found here depends on private data. It is told to whoever holds the data, and must not
# become part of a release, nor change one.


class SeveralRows:
    """Looks whether a column that seems to identify people, and is dropped, has values twice.

    Args:
        stream: The table, before it is read: dropped columns are then read too. With a column that
            has the role of the person there is nothing to find.

    Example:
        >>> import pyarrow as pa
        >>> from hedgerow.schema import Schema
        >>> schema = Schema.from_dict({"name": "ward", "unit": "row", "attributes": {
        ...     "patient_nbr": {"role": "identifier"},
        ...     "age": {"type": "numeric", "low": 0, "high": 99}}})
        >>> stream = RowStream(pa.table({"patient_nbr": [8, 9, 8], "age": [30, 40, 31]}), schema)
        >>> seen = SeveralRows(stream)
        >>> for _, batch in stream.batches():
        ...     seen.add(batch)
        >>> seen.warnings()[0].split(":")[0]
        'patient_nbr repeats'
    """

    def __init__(self, stream: RowStream) -> None:
        names = stream.source.names
        dropped = stream.schema.identifiers if stream.schema.person is None else ()
        self._parts: dict[str, list[Any]] = {name: [] for name in dropped if name in names}
        self._first = len(stream.wanted)
        stream.wanted += [names.index(name) for name in self._parts]

    def add(self, batch: Any) -> None:
        """Looks at the rows of a batch."""
        for place, parts in enumerate(self._parts.values(), start=self._first):
            parts.append(batch.column(place))

    def warnings(self) -> list[str]:
        """What a steward should hear; neither a value nor a number of rows is named."""
        guesses = {name: guess_column(name, parts).people for name, parts in self._parts.items()}
        return [
            f"{name} repeats: one person may have several rows, and `unit: row` protects one row "
            "only, so such a person is protected less than epsilon says. If it identifies people, "
            "write `unit: person`, and `role: person` with `max_rows` for this column. (NOT "
            "PRIVATE: for the holder of the data alone.)"
            for name, people in guesses.items()
            if people is not None and people.rank and people.repeats
        ]


# `check_rows`: whether a table follows its schema, for the eyes of whoever holds the table.


def check_rows(
    source: Any,
    schema: Schema,
    *,
    delimiter: str | None = None,
    line_breaks: bool = False,
    progress: Progress | None = None,
    allow_empty: bool = True,
    quote: bool = False,
    unused: bool = False,
) -> Preparation:
    """Looks whether data follows the schema, as `read` does, and keeps none of it.

    An attribute that nearly identifies people gives a `DataWarning`, and so does a dropped column
    by which people have several rows while the unit is a row. That is for the eyes of whoever
    holds the data; and so is what is returned, exact counts of what became of the rows. With
    `quote`, another warning QUOTES values that differ from the schema's only in case or spaces.
    With `unused`, others NAME values of the schema that no row has. Values of the schema that
    fewer than ten people have are named in what is returned, and give a warning.
    """
    stream = RowStream(source, schema, delimiter, line_breaks=line_breaks, allow_empty=allow_empty)
    report = Report()
    most = 1 if schema.person is None else schema.person.max_rows
    held, rows = [Held(attribute, most) for attribute in stream.attributes], 0
    tally = Tally(schema)
    again = SeveralRows(stream)
    near = NearValues(stream.attributes)
    for item in stream.batches():
        encoded = stream.encode(item)
        report.merge(encoded.report)
        who = holders(encoded, rows)
        rows += encoded.rows
        for one, codes in zip(held, encoded.columns, strict=True):
            one.add(codes, who)
        tally.add(item[1], encoded)
        again.add(item[1])
        if quote:
            near.add(*item, encoded.report.shapes)
        if progress is not None:
            progress(stream.source.share(stream.rows))
    for sentence in near.warnings(stream.source):
        warnings.warn(sentence, DataWarning, stacklevel=2)
    stream.finish(report)
    what = stream.source.what
    never = _warn_of_unused(held, what) if unused else []
    for sentence in (*_warn_of(held, what), *again.warnings(), *never):
        warnings.warn(sentence, DataWarning, stacklevel=2)
    return replace(tally.finish(), rare={h.attribute.name: h.rare for h in held if h.rare})
