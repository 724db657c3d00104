"""Private rows batch by batch: opened, matched with the schema, encoded, complained about.

What becomes of a row follows from that row alone, so batches may be encoded in any order and by
several threads; the reports are put together in the order of the batches.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Bools, Bytes
from hedgerow.errors import DataError, DataWarning, UsageError
from hedgerow.schema.attributes import Attribute
from hedgerow.table.encode import Codes, encode_array
from hedgerow.table.person import person_ids
from hedgerow.table.readers.choose import open_source
from hedgerow.table.readers.source import Source, no_records
from hedgerow.table.rules import Report, apply_rules
from hedgerow.table.weights import WeightColumns

if TYPE_CHECKING:
    from hedgerow.schema import Schema

__all__ = [
    "Encoded",
    "RowStream",
    "check_schema",
    "encode_columns",
    "find_columns",
    "known_columns",
]


@dataclass(frozen=True, kw_only=True)
class Encoded:
    """The rows of one batch that stay.

    Args:
        columns: The codes of the predictors, then of the class if there is one.
        rows: How many rows stay.
        people: The ids of the persons, if the schema identifies people.
        report: What was odd about the batch.
        weights: Levels of people's own weights, if they are wanted.
        bad: The rows with a weight that a rule refuses, by column.
    """

    columns: list[Codes]
    rows: int
    people: Any
    report: Report
    weights: Bytes | None = None
    bad: dict[str, list[int]] = field(default_factory=dict)


class RowStream:
    """A private table that has been opened and matched with a schema, but not read.

    Args:
        source: Whatever `open_source` takes, or what it gave.
        schema: The public schema.
        delimiter: The delimiter of a CSV file, if its first line is not to tell it.
        weights: Columns that hold people's own weights, if they are wanted.
        line_breaks: Whether quoted values of a CSV file may hold line breaks.
        allow_empty: Whether an input without any record is in order.
    """

    def __init__(
        self,
        source: Any,
        schema: Schema,
        delimiter: str | None = None,
        weights: WeightColumns | None = None,
        line_breaks: bool = False,
        *,
        allow_empty: bool = True,
    ) -> None:
        check_schema(schema)
        known = known_columns(schema)
        self.source = (
            source
            if isinstance(source, Source)
            else open_source(
                source,
                known=known,
                delimiter=delimiter,
                line_breaks=line_breaks,
                written=schema.file,
            )  # fmt: skip
        )
        self.schema = schema
        self.attributes: list[Attribute] = [*schema.attributes]
        if schema.target is not None:
            self.attributes.append(schema.target)
        places = find_columns(self.source, schema, self.attributes)
        self.wanted = [places[attribute.name] for attribute in self.attributes]
        if schema.person is not None:
            self.wanted.append(places[schema.person.column])
        self.empty = True  # until a record was seen, whatever rules make of it
        self._allow_empty = allow_empty
        self.weights = weights
        if weights is not None:
            self.wanted += weights.places(self.source)

    def __repr__(self) -> str:
        """The name alone: a repr ends up in logs."""
        return f"RowStream({self.source.what!r})"

    def batches(self) -> Iterator[tuple[int, Any]]:
        """Batches of the wanted columns, each with the number of its first row."""
        first = 0
        for batch in self.source.batches(self.wanted):
            self.empty = self.empty and not batch.num_rows
            yield first, batch
            first += batch.num_rows

    def encode(self, item: tuple[int, Any]) -> Encoded:
        """Encodes one of the batches; threads may do so side by side."""
        first, batch = item
        report = Report()
        try:
            columns, stays = encode_columns(batch, self.attributes, report, first)
        except DataError as error:  # a column of a type that cannot be read
            raise DataError(f"{self.source.what}: {error.message}", hint=error.hint) from None
        people = None
        if self.schema.person is not None:
            people, known = person_ids(
                batch.column(len(self.attributes)), self.schema.person.column
            )
            stays = known if stays is None else stays & known
        weights, kept, bad = self._own_weights(first, batch, report)
        if kept is not None:
            stays = kept if stays is None else stays & kept
        if stays is None:
            return Encoded(
                columns=columns,
                rows=batch.num_rows,
                people=people,
                report=report,
                weights=weights,
                bad=bad,
            )
        if people is not None:
            people = people.filter(pa.array(stays))
        staying = [column[stays] for column in columns]
        own = None if weights is None else weights[stays]
        return Encoded(
            columns=staying,
            rows=int(stays.sum()),
            people=people,
            report=report,
            weights=own,
            bad=bad,
        )

    def _own_weights(
        self, first: int, batch: Any, report: Report
    ) -> tuple[Bytes | None, Bools | None, dict[str, list[int]]]:
        """Levels, which records they let stay (None: all of them), and what is refused."""
        if self.weights is None:
            return None, None, {}
        columns = self.weights.columns
        levels = np.empty((batch.num_rows, len(columns)), np.uint8)
        stays = np.ones(batch.num_rows, bool)
        refused: dict[str, list[int]] = {}
        at = len(self.wanted) - len(columns)
        for place, column in enumerate(columns):
            found = self.weights.encode(batch.column(at + place), column, self.schema.file)
            for shape, row in found.shapes.items():
                report.shapes.setdefault(column, {}).setdefault(shape, first + row)
            levels[:, place] = found.levels
            stays &= found.kept
            if found.refused.any():
                refused[column] = (np.flatnonzero(found.refused) + first).tolist()
        return levels, None if stays.all() else stays, refused

    def finish(self, report: Report) -> None:
        """Raises or warns about what was odd, when all batches have been encoded."""
        if self.empty and not self._allow_empty:
            raise no_records(self.source.what)
        by_name = {attribute.name: attribute for attribute in self.attributes}
        report.check(self.source, by_name)
        for sentence in report.warnings(self.source, by_name):
            warnings.warn(sentence, DataWarning, stacklevel=3)

    def share(self) -> float:
        """How much has been read, from 0 to 1, if that is known."""
        return 0.0 if self.source.share is None else min(1.0, self.source.share())


def encode_columns(
    batch: Any, attributes: list[Attribute], report: Report, first_row: int
) -> tuple[list[Codes], Bools | None]:
    """The codes of each column of a batch, and which rows stay (None: all of them)."""
    columns = []
    gone: Bools | None = None
    for place, attribute in enumerate(attributes):
        codes = encode_array(attribute, batch.column(place))
        dropped = apply_rules(attribute, codes, report, first_row)
        if dropped is not None:
            gone = dropped if gone is None else gone | dropped
        columns.append(codes)
    return columns, None if gone is None else ~gone


def check_schema(schema: Schema) -> None:
    """Refuses a schema of transactions."""
    if schema.items is not None:
        raise UsageError(
            "the schema describes transactions by their items, not a table by its attributes",
            hint="Read it with hedgerow.table.read_transactions, or give a schema with "
            "`attributes:`. Methods for tables do not publish transactions.",
        )


def known_columns(schema: Schema) -> set[str]:
    """The columns that a schema names."""
    names = {one.column or one.name for one in schema.columns} | set(schema.identifiers)
    if schema.person is not None:
        names.add(schema.person.column)
    return names


def find_columns(
    source: Source, schema: Schema, attributes: list[Attribute], strict: bool = True
) -> dict[str, int]:
    """Where each column stands; refuses missing ones and, if strict, ones not in the schema."""
    places = {name: place for place, name in enumerate(source.names)}
    # synthetic rows of a release have the names of attributes
    spelt = {
        one.name: one.column
        if one.column and (one.column in places or one.name not in places)
        else one.name
        for one in schema.columns
    }
    needed = [spelt[attribute.name] for attribute in attributes]
    if strict and schema.person is not None:
        needed.append(schema.person.column)
    absent = [name for name in needed if name not in places]
    known = known_columns(schema) | set(spelt.values())
    if absent and not known.intersection(places):
        # Without a header these names would be somebody's values, so none of them is shown.
        raise DataError(
            f"{source.what}: none of the schema's columns is there",
            hint="The first line of a CSV file must hold the names of the columns, spelt as in "
            "the schema. If something stands above them, such as a title, declare their line, such "
            "as `header_row: 3` below `file:`. If the delimiter is an unusual one, name it "
            "(--delimiter, delimiter=).",
        )
    if absent:
        spare = [name for name in source.names if name not in known]
        near = difflib.get_close_matches(absent[0], spare, n=1)
        names = ", ".join(repr(name) for name in absent[:10])
        raise DataError(
            f"{source.what}: there is no column {names}",
            hint=f"Did you mean {near[0]!r}? Use one spelling in the data and in the schema."
            if near
            else "Add the column to the data, or take it out of the schema.",
        )
    extra = [name for name in source.names if name not in known]
    if strict and extra:
        names = ", ".join(repr(name) for name in extra[:10])
        raise DataError(
            f"{source.what}: the schema does not say what to do with column {names}",
            hint="Describe the column in the schema, or leave it out of the release with "
            "`role: identifier`.",
        )
    return places | {name: places[column] for name, column in spelt.items() if column in places}
