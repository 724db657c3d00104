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
from hedgerow.data.preparation import FEWEST, Preparation, Tally
from hedgerow.data.source import Progress, Source
from hedgerow.data.table import Encoded, Report, RowStream, other_code
from hedgerow.draft.guess import guess_column
from hedgerow.errors import DataWarning
from hedgerow.schema.attributes import Attribute, Categorical, Numeric

if TYPE_CHECKING:
    from hedgerow.schema import Schema

# Attributes that nearly identify people in the data: something for the steward to hear.
#
# What is found here depends on private data. It is told to whoever holds the data, and must not
# become part of a release, nor change one.


_ROWS = 30  # in fewer rows, differing says little
_GRID = 1000  # on a smaller grid, numbers of a small table differ by chance


class OwnValues:
    """Finds attributes of which most rows have a value that is nobody else's.

    Values are compared as codes, so on the grid and the leaves that the schema gives. Missing
    values, and others that became `other`, are left out.

    Args:
        schema: The public schema.
        attributes: The attributes that are published, in the order of the codes.

    Example:
        >>> from fractions import Fraction
        >>> from hedgerow.schema import Schema
        >>> from hedgerow.data.table import Report
        >>> number = Numeric("number", low=Fraction(0), high=Fraction(9999), step=Fraction(1),
        ...     kind="integer")
        >>> seen = OwnValues(Schema("x", (number,), unit="row"), [number])
        >>> seen.add(Encoded(columns=[np.arange(40)], rows=40, people=None, report=Report()))
        >>> [attribute.name for attribute in seen.attributes()]
        ['number']
    """

    def __init__(self, schema: Schema, attributes: Sequence[Attribute]) -> None:
        most = 1 if schema.person is None else schema.person.max_rows
        self._held = [_Held(attribute, most) for attribute in attributes]
        self._rows = 0

    def add(self, batch: Encoded) -> None:
        """Looks at the rows of a batch."""
        if all(held.full for held in self._held):
            return
        who = holders(batch, self._rows)
        self._rows += batch.rows
        for held, codes in zip(self._held, batch.columns, strict=True):
            held.add(codes, who)

    def attributes(self) -> list[Attribute]:
        """The attributes that nearly identify people."""
        return [held.attribute for held in self._held if held.tells_apart()]

    def warnings(self, what: str) -> list[str]:
        """What a steward should hear; neither a value nor a number of rows is named.

        Args:
            what: How messages call the data.
        """
        fewer = "fewer values: groups that a taxonomy has, instead of its leaves"
        return [
            f"{what}, column {attribute.name!r}: most rows have a value that nobody else has, so "
            "it nearly identifies people, and a release can say little about it. If it names or "
            "numbers people, write `role: identifier`, or `role: person` with `max_rows` if a "
            "person can have several rows. Otherwise give it "
            f"{'a coarser step' if isinstance(attribute, Numeric) else fewer}."
            for attribute in self.attributes()
        ]


def holders(batch: Encoded, rows: int) -> Ints:
    """Numbers that tell apart whom the rows of a batch are about.

    People whose numbers are the same by coincidence do not matter here.

    Args:
        batch: The rows.
        rows: How many there were in batches before; without a person each is one.
    """
    if batch.people is None:
        return np.arange(rows, rows + batch.rows, dtype=np.int64)
    ids = batch.people.cast(pa.string()).dictionary_encode()
    hashes = np.array([hash(text) for text in ids.dictionary.to_pylist()], np.int64)
    numbers: Ints = hashes[ids.indices.to_numpy(zero_copy_only=False)]
    return numbers


def _code_of_other(attribute: Attribute) -> int | None:
    """The code of `other`, if rules of the schema put values there."""
    return other_code(attribute) if "other" in (attribute.missing, attribute.outside) else None


class _Held:
    """For each code of an attribute, how many rows have it and whether they are one person's."""

    def __init__(self, attribute: Attribute, most: int) -> None:
        self.attribute = attribute
        self._other = _code_of_other(attribute)
        self._enough = 2 * attribute.size * most
        self._seen = 0
        self._count = np.zeros(attribute.size, np.uint32)
        self._holder = np.zeros(attribute.size, np.int64)
        self._shared = np.zeros(attribute.size, bool)

    @property
    def full(self) -> bool:
        """Whether there are too few values for most of so many rows to have one of their own."""
        return self._seen > self._enough

    def add(self, codes: Codes, who: Ints) -> None:
        if self._other is not None:
            known = codes != self._other
            codes, who = codes[known], who[known]
        self._seen += len(codes)
        if self.full:
            return
        new = self._count[codes] == 0
        self._holder[codes[new]] = who[new]  # of several rows, the last one's
        self._shared[codes[self._holder[codes] != who]] = True
        np.add.at(self._count, codes, np.uint32(1))

    def tells_apart(self) -> bool:
        if self.full or self._seen < _ROWS:
            return False
        own = (self._count > 0) & ~self._shared
        rows = int(self._count[own].sum())
        if 2 * int(own.sum()) < _ROWS or 2 * rows <= self._seen:
            return False
        fine = not isinstance(self.attribute, Numeric) or self.attribute.grid >= _GRID
        return fine or rows == self._seen


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


# Values of a schema that few people have: something for the steward to hear.
#
# What is found here depends on private data. It is told to whoever holds the data, and must not
# become part of a release, nor change one. A value that nobody has is not meant: it did not come
# from the data.


_TOLD = 10  # values that are named


class RareValues:
    """Finds the leaves of taxonomies that fewer than ten people have, or nobody.

    Args:
        attributes: The attributes that are published, in the order of the codes.

    Example:
        >>> from hedgerow.schema import Schema
        >>> from hedgerow.data.table import Report
        >>> columns = {"ward": {"type": "categorical", "values": ["a", "b", "c"]}}
        >>> rare = RareValues(Schema.from_dict({"name": "x", "attributes": columns}).attributes)
        >>> codes = np.array([0] * 12 + [1])
        >>> rare.add(Encoded(columns=[codes], rows=13, people=None, report=Report()))
        >>> rare.values(), rare.values(unused=True)
        ({'ward': ('b',)}, {'ward': ('c',)})
    """

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self._held = [
            (place, attribute, [set[int]() for _ in range(attribute.size)])
            for place, attribute in enumerate(attributes)
            if isinstance(attribute, Categorical)
        ]
        self._enough = {place: np.zeros(len(who), bool) for place, _, who in self._held}
        self._rows = 0

    def add(self, batch: Encoded) -> None:
        """Looks at the rows of a batch."""
        people = holders(batch, self._rows)
        self._rows += batch.rows
        for place, _, who in self._held:
            codes, enough = batch.columns[place], self._enough[place]
            here = ~enough[codes]
            pairs = np.unique(np.stack([codes[here], people[here]], axis=1), axis=0)
            ranks = np.arange(len(pairs)) - np.searchsorted(pairs[:, 0], pairs[:, 0])
            for code, person in pairs[ranks < FEWEST].tolist():  # more than enough of each
                who[code].add(person)
                enough[code] = len(who[code]) >= FEWEST

    def values(self, *, unused: bool = False) -> dict[str, tuple[str, ...]]:
        """The values by attribute; `other` is no value of a taxonomy.

        Args:
            unused: Whether those that nobody has are meant.
        """
        numbers = range(1) if unused else range(1, FEWEST)
        rare = {}
        for _, attribute, who in self._held:
            other = _code_of_other(attribute)
            few = [leaf for code, leaf in enumerate(attribute.taxonomy.leaves)
                   if code != other and len(who[code]) in numbers]  # fmt: skip
            if few:
                rare[attribute.name] = tuple(few)
        return rare

    def warnings(self, what: str) -> list[str]:
        """What a steward should hear; no value is named.

        Args:
            what: How messages call the data.
        """
        return [
            f"{what}, column {name!r}: NOT PRIVATE: fewer than {FEWEST} people have each of "
            f"{len(few)} of its values, which are published with the schema. Keep those that "
            "anybody could have listed who never saw the data; take out what somebody wrote."
            for name, few in self.values().items()
        ]

    def unused_warnings(self, what: str) -> list[str]:
        """What a steward hears who asked for values that no row has; it names them.

        What is found depends on private data: a value that nobody has belongs in a schema all the
        same.

        Args:
            what: How messages call the data.
        """
        sentences = []
        for name, gone in self.values(unused=True).items():
            shown = ", ".join(map(repr, gone[:_TOLD])) + (", ..." if len(gone) > _TOLD else "")
            sentences.append(
                f"{what}, column {name!r}: NOT PRIVATE: no row has {len(gone)} of its values: "
                f"{shown}. Look for misspelt ones, and leave the others in the schema: that "
                "nobody has them is a fact about the people in the data."
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
    own, tally = OwnValues(schema, stream.attributes), Tally(schema, stream.attributes)
    again = SeveralRows(stream)
    near = NearValues(stream.attributes)
    rare = RareValues(stream.attributes)
    for item in stream.batches():
        encoded = stream.encode(item)
        report.merge(encoded.report)
        own.add(encoded)
        rare.add(encoded)
        tally.add(item[1], encoded)
        again.add(item[1])
        if quote:
            near.add(*item, encoded.report.shapes)
        if progress is not None:
            progress(stream.share())
    for sentence in near.warnings(stream.source):
        warnings.warn(sentence, DataWarning, stacklevel=2)
    stream.finish(report)
    what = stream.source.what
    never = rare.unused_warnings(what) if unused else []
    for sentence in (*own.warnings(what), *rare.warnings(what), *again.warnings(), *never):
        warnings.warn(sentence, DataWarning, stacklevel=2)
    return replace(tally.finish(), rare=rare.values())
