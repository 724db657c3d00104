"""`check_rows`: whether a table follows its schema, for the eyes of whoever holds the table."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hedgerow.errors import DataWarning
from hedgerow.table.checking.distinct import OwnValues
from hedgerow.table.checking.near import NearValues
from hedgerow.table.checking.rare import RareValues, rare_warnings
from hedgerow.table.checking.repeats import SeveralRows
from hedgerow.table.checking.unused import UnusedValues
from hedgerow.table.preparation import Preparation, Tally
from hedgerow.table.readers.source import Progress
from hedgerow.table.rules import Report
from hedgerow.table.stream import RowStream

if TYPE_CHECKING:
    from hedgerow.schema import Schema

__all__ = ["check_rows"]


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
    never = UnusedValues(stream.attributes if unused else ())
    for item in stream.batches():
        encoded = stream.encode(item)
        report.merge(encoded.report)
        own.add(encoded)
        rare.add(encoded)
        tally.add(item[1], encoded)
        again.add(item[1])
        if quote:
            near.add(*item, encoded.report.shapes)
        if unused:
            never.add(encoded.columns)
        if progress is not None:
            progress(stream.share())
    for sentence in near.warnings(stream.source):
        warnings.warn(sentence, DataWarning, stacklevel=2)
    stream.finish(report)
    what = stream.source.what
    few = rare.found()
    told = rare_warnings(few, what)
    for sentence in (*own.warnings(what), *told, *again.warnings(), *never.warnings(what)):
        warnings.warn(sentence, DataWarning, stacklevel=2)
    return replace(tally.finish(), rare={name: tuple(one) for name, one in few.items()})
