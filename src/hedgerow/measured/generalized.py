"""The generalised table: one row per region and class, in words or in typed bounds.

Labels are made once per distinct interval of an attribute and shared by dictionary columns, so
that a million rows cost about as much as their integers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Bools, Floats, Ints, Small
from hedgerow.errors import ReleaseError, UsageError
from hedgerow.measured.partition import GridPartition, Partition, Parts
from hedgerow.schema import Attribute, Categorical, Numeric, Schema

__all__ = ["check_against", "check_names", "csv_blocks", "generalized_table", "typed_table"]


RESERVED = ("region", "count", "give_or_take")

_ROWS_PER_BLOCK = 100_000
# quoted although CSV does not ask for it: what a spreadsheet might take for a formula, and blanks
# at the ends, which readers like to strip
_QUOTED = re.compile(r'[",\r\n]|^[=+\-@\s]|\s$')


def check_names(schema: Schema) -> None:
    """Refuses a schema with a column called like one of the release's own.

    Raises:
        UsageError: Names the column.
    """
    names = [attribute.name for attribute in schema.attributes]
    names += [] if schema.target is None else [schema.target.name]
    for name in names:
        if name in RESERVED:
            raise UsageError(
                f"the column {name!r} is called like a column of the generalised table",
                hint=f"Call the attribute otherwise: {name}_value: {{column: {name}, ...}}.",
            )


def check_against(schema: Schema, partition: Partition) -> None:
    """Refuses regions that do not fit the schema.

    Raises:
        ReleaseError: Names the rule that is broken.
    """
    partition.check(tuple(attribute.size for attribute in schema.attributes))
    # every region of a grid tells all its intervals; of a tree, all regions must be asked
    listed = np.arange(1 if isinstance(partition, GridPartition) else partition.cells)
    for place, attribute in enumerate(schema.attributes):
        if isinstance(attribute, Categorical):
            parts = partition.parts(place, listed)
            spans = set(attribute.taxonomy.spans)
            if not spans.issuperset(zip(parts.lo.tolist(), parts.hi.tolist(), strict=True)):
                raise ReleaseError(
                    f"a region of this release is no node of the taxonomy of {attribute.name!r}",
                    hint="Ask whoever published the release for a fresh copy.",
                )


def generalized_table(
    schema: Schema, partition: Partition, regions: Ints, counts: Ints, errors: Floats
) -> pa.Table:
    """The table that people read: `region`, the attributes as labels, the class, `count`, errors.

    Args:
        schema: Names and labels.
        partition: The regions.
        regions: The regions to list, increasing.
        counts: Their counts, shape [regions, classes].
        errors: How far noise may move each, not finite where nobody knows.
    """
    check_names(schema)
    classes = counts.shape[1]
    columns: dict[str, pa.Array] = {"region": pa.array(np.repeat(regions, classes))}
    for place, attribute in enumerate(schema.attributes):
        columns[attribute.name] = _labels(attribute, partition.parts(place, regions), classes)
    _add_class(columns, schema, len(regions))
    columns["count"] = pa.array(counts.ravel())
    unknown = ~np.isfinite(errors.ravel())
    # rounded first, so that all machines agree
    whole = np.ceil(np.round(np.where(unknown, 0.0, errors.ravel()), 6)).astype(np.int64)
    columns["give_or_take"] = pa.array(whole, mask=unknown)
    return pa.table(columns)


def typed_table(schema: Schema, partition: Partition, regions: Ints, counts: Ints) -> pa.Table:
    """The table that programs read: as above, but numeric attributes as typed bounds.

    `<name>_low` is the first value and `<name>_high` the first value beyond; both are null for a
    region that holds only the "other" code. `<name>_other`, for attributes that have such a code,
    says whether the region holds it.
    """
    check_names(schema)
    classes = counts.shape[1]
    columns: dict[str, pa.Array] = {"region": pa.array(np.repeat(regions, classes))}
    taken = {attribute.name for attribute in schema.attributes} | {"count"}
    taken |= set() if schema.target is None else {schema.target.name}
    for place, attribute in enumerate(schema.attributes):
        parts = partition.parts(place, regions)
        if isinstance(attribute, Categorical):
            columns[attribute.name] = _labels(attribute, parts, classes)
            continue
        index = np.repeat(parts.index, classes)
        for end, values in _bounds(attribute, parts.lo[index], parts.hi[index]).items():
            name = f"{attribute.name}_{end}"
            while name in taken:  # an attribute may be called like the bound of another
                name += "_"
            taken.add(name)
            columns[name] = values
    _add_class(columns, schema, len(regions))
    columns["count"] = pa.array(counts.ravel())
    return pa.table(columns)


def _add_class(columns: dict[str, pa.Array], schema: Schema, regions: int) -> None:
    if schema.target is not None:
        codes = np.tile(np.arange(len(schema.classes), dtype=np.int32), regions)
        columns[schema.target.name] = dictionary(codes, schema.classes)


def dictionary(index: Small, labels: tuple[str, ...]) -> pa.DictionaryArray:
    """A text column that names each distinct label once."""
    return pa.DictionaryArray.from_arrays(pa.array(index), pa.array(labels, pa.string()))


def _labels(attribute: Attribute, parts: Parts, times: int) -> pa.DictionaryArray:
    labels: dict[str, int] = {}
    rank = np.empty(len(parts.lo), np.int32)
    for place, (lo, hi) in enumerate(zip(parts.lo.tolist(), parts.hi.tolist(), strict=True)):
        rank[place] = labels.setdefault(attribute.label(lo, hi), len(labels))
    return dictionary(np.repeat(rank[parts.index], times), tuple(labels))


def numbers(attribute: Numeric, codes: Ints, nulls: Bools | None = None) -> pa.Array:
    """The lower grid points of codes, typed: int64, float64 or date32."""
    common = attribute.low.denominator * attribute.step.denominator
    low, step = int(attribute.low * common), int(attribute.step * common)
    if attribute.kind == "decimal":
        # one correctly rounded division of whole numbers gives the double nearest to the decimal
        return pa.array((low + codes * step) / common, pa.float64(), mask=nulls)
    whole = low + codes * step
    if attribute.kind == "date":
        return pa.array(whole.astype("datetime64[D]"), pa.date32(), mask=nulls)
    return pa.array(whole, pa.int64(), mask=nulls)


def _bounds(attribute: Numeric, lo: Ints, hi: Ints) -> dict[str, pa.Array]:
    only_other = lo >= attribute.grid
    bounds = {
        "low": numbers(attribute, lo, only_other),
        "high": numbers(attribute, np.minimum(hi, attribute.grid), only_other),
    }
    if attribute.has_other:
        bounds["other"] = pa.array(hi > attribute.grid)
    return bounds


def csv_blocks(table: pa.Table) -> Iterator[bytes]:
    r"""A generalised table as CSV, some rows at a time: UTF-8, a header, lines that end in `\n`.

    Example:
        >>> table = pa.table({"region": [0], "age": dictionary(np.zeros(1, np.int32), ("[1, 2)",))})
        >>> b"".join(csv_blocks(table))
        b'region,age\n0,"[1, 2)"\n'
    """
    yield (",".join(map(_quoted, table.column_names)) + "\n").encode()
    for batch in table.to_batches(max_chunksize=_ROWS_PER_BLOCK):
        lines = map(",".join, zip(*map(_fields, batch.columns), strict=True))
        yield "".join(f"{line}\n" for line in lines).encode()


def _fields(column: pa.Array) -> list[str]:
    if isinstance(column, pa.DictionaryArray):
        labels = list(map(_quoted, column.dictionary.to_pylist()))
        return [labels[code] for code in column.indices.to_pylist()]
    return ["" if number is None else str(number) for number in column.to_pylist()]


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text
