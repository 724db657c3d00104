"""Rows of one person: a public cap on how many, and columns that weigh how much they mind."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Bytes, Floats, Ints, Small, Words
from hedgerow.data.encode import STRANGE, is_missing, numbers_of, plain_array
from hedgerow.data.source import Source
from hedgerow.errors import DataError, UsageError
from hedgerow.schema import Schema
from hedgerow.schema.attributes import PLAIN, Layout
from hedgerow.suggestions import Checked

# Several rows per person: a public cap, kept by a rule that looks at one person alone.


GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def person_ids(array: Any, column: str) -> tuple[Any, Bools]:
    """The ids of a column in the one form that identifies people, and which rows have one.

    Files and batches may hold the same id in different types, so every id has one text, whatever
    its type: a whole number its digits, other numbers the shortest that tells them apart, a time
    its ISO form, text itself without outer spaces, in NFC. The array holds these texts, or
    64-bit integers that stand for theirs.

    A row without an id cannot be counted towards anybody's cap, so it is left out.

    Example:
        >>> ids, known = person_ids(pa.array([" ann ", "", None, "bob"]), "patient")
        >>> ids.to_pylist()[0], known.tolist()
        ('ann', [True, False, False, True])
        >>> person_ids(pa.array([-0.0, 7.0, 0.5]), "patient")[0].to_pylist()
        ['0', '7', '0.5']
    """
    array = _one_form(_plain(array, column))
    if pa.types.is_string(array.type):
        missing = pc.or_kleene(pc.is_null(array), is_missing(array))
    else:
        missing = pc.is_null(array)
    return array, ~missing.to_numpy(zero_copy_only=False)


def person_numbers(people: Sequence[Any]) -> Small:
    """A number for each row that identifies people, from the ids of all batches in turn.

    Args:
        people: What `person_ids` gave for each batch, at least one.

    Example:
        >>> parts = [pa.array([7, 8]), pa.array([7.0, 0.5])]
        >>> person_numbers([person_ids(ids, "patient")[0] for ids in parts]).tolist()
        [0, 1, 0, 2]
    """
    if len({ids.type for ids in people}) > 1:
        people = [ids.cast(pa.string()) for ids in people]
    numbers = pa.chunked_array(people).dictionary_encode().combine_chunks().indices
    indices: Small = numbers.to_numpy(zero_copy_only=False)
    return indices


def _plain(array: Any, column: str) -> Any:
    """The array without wrappings; types that plain arrays would round are left as they are."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        array = pc.take(array.dictionary, array.indices)
    kind = array.type
    exact = pa.types.is_decimal(kind) or pa.types.is_floating(kind)
    if exact or pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return array
    return plain_array(array, column)


def _one_form(array: Any) -> Any:
    """Ids as texts, or as 64-bit integers whose digits are their texts."""
    types, kind = pa.types, array.type
    if types.is_string(kind):
        return pc.utf8_trim_whitespace(pc.utf8_normalize(array, form="NFC"))
    if types.is_uint64(kind):
        return array.cast(pa.string())
    if types.is_integer(kind):
        return array.cast(pa.int64())
    if types.is_floating(kind):
        return _floats(array)
    if types.is_decimal(kind):
        return _by_text(array, lambda values: [_trimmed(f"{v:f}") for v in values.to_pylist()])
    if types.is_timestamp(kind) or types.is_date(kind):
        unit = "D" if types.is_date32(kind) else "ms" if types.is_date64(kind) else kind.unit
        return _by_text(array, lambda values: _moments(values, unit))
    return array.cast(pa.string())  # booleans, and what has no value at all


def _floats(array: Any) -> Any:
    own = array.type.to_pandas_dtype()  # the shortest text is that of the number's own width
    wide = array.cast(pa.float64())
    wide = pc.if_else(pc.is_nan(wide), pa.scalar(None, wide.type), wide)
    size = pc.abs(wide)
    small = pc.and_(pc.less(size, 2.0**53), pc.equal(wide, pc.trunc(wide)))
    if pc.all(small).as_py() is not False:  # whole numbers, as pandas holds them beside gaps
        return wide.cast(pa.int64())
    return _by_text(wide, lambda values: [_float_text(own(v)) for v in values.to_pylist()])


def _float_text(value: Any) -> str:
    if not np.isfinite(value):
        return str(value)
    if value == np.trunc(value):
        return str(int(value))  # also of -0, and of numbers that are too large for integers
    return _trimmed(np.format_float_positional(value))


def _trimmed(text: str) -> str:
    """A decimal number without zeros at its end.

    Example:
        >>> _trimmed("7.00"), _trimmed("70"), _trimmed("0.50")
        ('7', '70', '0.5')
    """
    return text.rstrip("0").rstrip(".") if "." in text else text


def _moments(values: Any, unit: str) -> list[str]:
    """Moments in ISO form without zeros at the end, so that neither unit nor type shows."""
    whole = values.cast(pa.int32() if unit == "D" else pa.int64()).to_numpy()
    texts = np.datetime_as_string(whole.astype(np.int64).view(f"datetime64[{unit}]"))
    return [_trimmed(text).removesuffix("T00:00:00") for text in texts.tolist()]


def _by_text(array: Any, texts: Callable[[Any], list[str]]) -> Any:
    """The texts of an array's values, each value looked at once."""
    distinct = array.dictionary_encode()
    return pc.take(pa.array(texts(distinct.dictionary), pa.string()), distinct.indices)


def cap_rows(codes: NDArray[np.unsignedinteger[Any]], person: NDArray[Any], max_rows: int) -> Ints:
    """The rows to keep: at most `max_rows` of each person.

    Which rows of a person stay depends on that person's rows alone, and not on their order in the
    file. They are ranked by a fixed, public hash of their codes: ranking by the codes themselves
    would always keep the smallest values.

    Args:
        codes: The rows.
        person: A number for each row that identifies people.
        max_rows: The public cap.

    Example:
        >>> rows = np.array([[1], [2], [3], [9]], np.uint16)
        >>> keep = cap_rows(rows, np.array([7, 7, 7, 8]), 2)
        >>> len(keep), 3 in keep
        (3, True)
    """
    return first_rows((person,), row_hash(list(codes.T)), max_rows)


def first_rows(person: Sequence[NDArray[Any]], rank: Words, max_rows: int) -> Ints:
    """The rows to keep, in their order: at most `max_rows` of each person, lowest rank first.

    Args:
        person: Numbers that together identify people, for each row.
        rank: The rank of each row among its person's.
        max_rows: The public cap.

    Example:
        >>> first_rows((np.array([7, 8, 7]),), np.array([2, 5, 1], np.uint64), 1).tolist()
        [1, 2]
    """
    if not len(rank):
        return np.zeros(0, np.int64)
    order = np.lexsort((rank, *person))
    new = np.zeros(len(order), bool)
    new[0] = True
    for key in person:
        new[1:] |= key[order[1:]] != key[order[:-1]]
    starts = np.flatnonzero(new)
    sizes = np.diff(np.r_[starts, len(order)])
    place = np.arange(len(order)) - np.repeat(starts, sizes)
    return np.sort(order[place < max_rows])


def row_hash(columns: Sequence[NDArray[Any]]) -> Words:
    """A fixed, public hash of each row's codes: the predictors, then the class."""
    mixed = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        mixed = mix(mixed + column.astype(np.uint64) + GOLDEN)
    return mixed


def mix(words: Words) -> Words:
    """The finaliser of splitmix64."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def new_key() -> bytes:
    """A key for the digests of one run; which rows stay does not depend on it."""
    return os.urandom(32)


def id_digests(ids: Any, key: bytes) -> Words:
    """Two numbers for each id that identify people, made with a key that nobody knows.

    128 bits: among 10^10 people the chance that any two are taken for one is below 10^-18. With a
    fixed hash somebody could choose an id that collides with another's.

    Args:
        ids: What `person_ids` gave.
        key: What `new_key` gave.

    Example:
        >>> digests = id_digests(pa.array(["ann", "bob", "ann"]), b"secret")
        >>> (digests[0] == digests[2]).all(), (digests[0] == digests[1]).any()
        (np.True_, np.False_)
    """
    distinct = ids.cast(pa.string()).dictionary_encode()
    made = b"".join(
        hashlib.blake2b(text.encode(), digest_size=16, key=key).digest()
        for text in distinct.dictionary.to_pylist()
    )
    numbers = np.frombuffer(made, np.uint64).reshape(-1, 2)
    digests: Words = numbers[distinct.indices.to_numpy(zero_copy_only=False)]
    return digests


# Columns in which people say how much they mind: weights of their own, on a public scale.
#
# A weight is rounded to one of `LEVELS` public steps between public bounds. Public rules say what
# becomes of one that is missing or outside them; none stops a run but `error`, which has to be
# asked for. What becomes of a weight follows from that record alone.


MissingWeight = float | Literal["drop", "error"]
OutsideWeight = float | Literal["clip", "drop", "error"]

LEVELS = 16
_SHOWN = 5


@dataclass(frozen=True)
class WeightColumns(Checked):
    """Which columns hold weights, and between which bounds they count.

    Args:
        columns: The columns.
        low: The smallest weight.
        high: The largest weight.
        missing: What a weight counts as that is missing or no number; or "drop" for leaving the
            record out, or "error".
        outside: What a weight outside the bounds counts as; or "clip" for the nearer bound, or
            "drop", or "error".

    Example:
        >>> columns = WeightColumns(("minds",), low=0.0, high=3.0)
        >>> levels, *_ = columns.encode(pa.array(["1", "2.5", "7", "-7", "much", None]), "minds")
        >>> columns.values()[levels].round(1).tolist()
        [1.0, 2.4, 3.0, 0.0, 1.0, 1.0]
    """

    columns: tuple[str, ...]
    _: KW_ONLY
    low: float
    high: float
    missing: MissingWeight = 1.0
    outside: OutsideWeight = "clip"

    def values(self) -> Floats:
        """The weight of each level."""
        return np.linspace(self.low, self.high, LEVELS)

    def check(self, schema: Schema) -> None:
        """Sees that the schema knows the columns and keeps them out of the release.

        Raises:
            UsageError: Names the column.
        """
        for column in self.columns:
            if column not in schema.identifiers:
                known = ", ".join(map(repr, schema.identifiers)) or "none"
                raise UsageError(
                    f"Weights are to come from column {column!r}, which does not have "
                    "`role: identifier` in the schema.",
                    hint="Check its name, or give it that role, since weights are not published. "
                    f"Columns with the role: {known}.",
                )

    def places(self, source: Source) -> list[int]:
        """Where the columns stand.

        Raises:
            DataError: If one is not there.
        """
        for column in self.columns:
            if column not in source.names:
                raise DataError(
                    f"{source.what}: there is no column {column!r}, which is to hold weights",
                    hint="Add the column, or do without weights of people's own.",
                )
        return [source.names.index(column) for column in self.columns]

    def encode(
        self, array: Any, column: str, written: Layout = PLAIN
    ) -> tuple[Bytes, Bools, Bools, dict[int, int]]:
        """What becomes of one column, weight by weight; texts are numbers as the schema declares.

        Returns:
            The level of each weight (of no meaning where a record is dropped or refused), which
            records stay, which weights met a rule that says `error`, and ways of writing that the
            schema does not declare, with the first place of each.
        """
        numbers, shapes = numbers_of(plain_array(array, column), written)
        missing = np.isnan(numbers)
        outside = (numbers < self.low) | (numbers > self.high)
        kept, refused = np.ones(len(numbers), bool), np.zeros(len(numbers), bool)
        for met, rule in ((missing, self.missing), (outside, self.outside)):
            if rule == "error":
                refused |= met
            elif rule == "drop":
                kept &= ~met
            elif rule != "clip":
                numbers = np.where(met, rule, numbers)
        clamped = np.clip(np.where(np.isnan(numbers), self.low, numbers), self.low, self.high)
        span = max(self.high - self.low, 1e-300)
        levels = np.rint((clamped - self.low) / span * (LEVELS - 1)).astype(np.uint8)
        odd = np.unique(shapes[shapes < STRANGE]).tolist()
        return levels, kept, refused, {shape: int(np.argmax(shapes == shape)) for shape in odd}

    def refuse(self, source: Source, bad: dict[str, list[int]]) -> None:
        """Raises if a rule says `error` and any weight met it.

        Args:
            source: Knows the lines of the rows.
            bad: The rows, by column.
        """
        if not bad:
            return
        column, rows = next(iter(bad.items()))
        where = ", ".join(source.places(rows[:_SHOWN]))
        raise DataError(
            f"{source.what}: in column {column!r} a weight is missing, not a number or outside the "
            f"bounds, and the settings say `error` (the first places are named): {where}",
            hint="Correct the data, or have such weights replaced: --set weight_missing=1 --set "
            "weight_outside=clip (in Python, arguments of the same names).",
        )


def read_weight_file(path: str | Path) -> dict[str, Any]:
    """Reads PUBLIC weights of attributes and values from a YAML file.

    Returns:
        For each attribute a weight, or a mapping of values to weights; not checked further.

    Raises:
        UsageError: If there is no such file, or it is no mapping.
    """
    import yaml  # type: ignore[import-untyped,unused-ignore]

    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise UsageError(
            f"{path}: the file of weights cannot be read", hint="Check the path."
        ) from None
    try:
        weights = yaml.safe_load(text)
    except yaml.YAMLError:
        weights = None
    if not isinstance(weights, dict):
        raise UsageError(
            f"{path}: this is no YAML mapping of attributes to weights",
            hint="Write lines such as `age: 1`, or `illness: {flu: 1, HIV: 10}`.",
        )
    return {
        str(name): {str(value): weight for value, weight in given.items()}
        if isinstance(given, dict)
        else given
        for name, given in weights.items()
    }
