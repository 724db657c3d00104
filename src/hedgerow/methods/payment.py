"""Paying for a run from the budget ledger: tried out first, booked when it first draws."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from hedgerow.errors import LedgerWarning, UsageError
from hedgerow.estimate.synthesize import STAND_INS
from hedgerow.ledger.ledger import Booking, BudgetLedger, Notes, unit_of
from hedgerow.methods.plan import Plan
from hedgerow.methods.publisher import Publisher
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.release.plain_files import MOST_CELLS
from hedgerow.schema import Categorical, Schema

LEAST, MOST = 1 << 26, 1 << 30

_FIXED = 1 << 22  # what does not grow with the regions: heads of files, the ledger's allowances
MOST_BANDS = 100  # of an attribute in tables
_NUMBER = 100  # bytes of one noisy number with its place, or of one charge
_NUMERIC_LABEL = 100


def room_for(method: Publisher, schema: Schema, plan: Plan) -> int:
    """How many bytes to set aside for a release."""
    bound = most_bytes(method, schema, plan)
    return LEAST if bound is None else min(MOST, bound)


def most_bytes(method: Publisher, schema: Schema, plan: Plan) -> int | None:
    """An upper bound of the size of a release, if the plan has one.

    Example:
        >>> from hedgerow.methods.diffmulti import DiffMulti
        >>> schema = Schema.from_dict({"name": "s", "unit": "row",
        ...                            "attributes": {"ill": {"type": "boolean"}}})
        >>> small, open_ = DiffMulti(specializations=1), DiffMulti()
        >>> most_bytes(small, schema, small.plan(schema, 1)) < LEAST
        True
        >>> most_bytes(open_, schema, open_.plan(schema, 1)) is None
        True
    """
    regions = _most_regions(method, schema, plan)
    if regions is None:
        return None
    classes = max(1, len(schema.classes))
    attributes = len(schema.attributes)
    labels = sum(map(_longest, schema.attributes))
    labels += 0 if schema.target is None else _longest(schema.target)
    node = 40 + 10 * attributes + _NUMBER * (2 + 2 * classes)  # its bounds, counts and charges
    listed = 60 + 20 * attributes + labels  # a row of regions.parquet, and one of table.csv
    text = 4 * len(str(schema.to_dict()))
    rows = (STAND_INS + regions * classes) * 16 * (attributes + 2)  # of rows.parquet
    cells = min(MOST_CELLS, MOST_BANDS * attributes * (1 + classes))  # of tables, in two forms
    own = 2 * regions * node + regions * classes * listed
    return _FIXED + text + own + rows + 2 * cells * (200 + _most_label(schema))


def _most_label(schema: Schema) -> int:
    """The bytes of the longest labels that a line of a table has."""
    target = 0 if schema.target is None else _longest(schema.target)
    return max(map(_longest, schema.attributes), default=0) + target


def _most_regions(method: Publisher, schema: Schema, plan: Plan) -> int | None:
    if plan.specializations is None or not plan.grows:
        return None
    parts = [2] + [
        max(attribute.taxonomy.parents.count(node) for node in {*attribute.taxonomy.parents})
        for attribute in schema.attributes
        if isinstance(attribute, Categorical)
    ]
    cells = math.prod(attribute.size for attribute in schema.attributes)
    most = getattr(method, "max_cells", None)
    if most is None:  # every specialization divides one region
        return min(cells, 1 + plan.specializations * (max(parts) - 1))
    return int(min(cells, most, max(parts) ** min(plan.specializations, 64)))


def _longest(attribute: object) -> int:
    """The bytes of an attribute's longest label as CSV may write it, with its comma."""
    if not isinstance(attribute, Categorical):
        return _NUMERIC_LABEL
    return 3 + max(2 * len(label.encode()) for label in attribute.taxonomy.labels)


def payment(
    ledger: str | Path | None,
    dataset: str | None,
    schema: Schema,
    method: str,
    budget: Budget,
    seed: int | None,
    notes: Notes | None = None,
) -> Callable[[], Booking | None]:
    """What books a run, once it was tried out: a run that cannot be booked does not begin.

    Call what it gives when the data was read, and before there is randomness. Without a ledger it
    books nothing.

    Example:
        >>> schema = Schema.from_dict({
        ...     "name": "s", "unit": "row", "attributes": {"ill": {"type": "boolean"}}})
        >>> payment(None, None, schema, "diffmulti", Budget.of(1), None)() is None
        True
    """
    notes = notes or Notes()
    if ledger is None:
        if dataset is not None or notes.recipient is not None or notes.purpose is not None:
            raise UsageError(
                "a data set, recipient or purpose was named, but no ledger to book it in.",
                hint="Name the ledger too (ledger=, --ledger).",
            )
        return lambda: None
    if seed is not None:
        raise UsageError(
            "a seeded run is not private, so there is nothing to book.",
            hint="Leave out the seed for a release, or the ledger for a test.",
        )
    book = BudgetLedger(ledger)
    unit = unit_of(schema)
    name = schema.name if dataset is None else dataset
    book.check(name, budget, method=method, unit=unit, notes=notes)
    return partial(book.reserve, name, budget, method=method, unit=unit, notes=notes)


@contextmanager
def drawing(
    pay: Callable[[], Booking | None], seed: int | None
) -> Iterator[tuple[Keystream, Booking | None]]:
    """Books a run and gives the random source for it; what becomes of the entry follows.

    The entry counts from here on. It is withdrawn if the block fails before the random source was
    used. Once it was used, the entry stays, with how the run ended. When the block ends well, the
    outcome is handed over: whoever called may look at it.

    Args:
        pay: What `payment` gave.
        seed: None for a secure stream.
    """
    booking = pay()
    stream = Keystream(seed, None if booking is None else booking.begin_drawing)
    try:
        yield stream, booking
        if booking is not None:
            booking.hand_over()
    except BaseException as error:
        if booking is not None:
            _close(booking, stream, error)
        raise


def _close(booking: Booking, stream: Keystream, error: BaseException) -> None:
    """What becomes of the entry of a run that failed: spent, unless nothing was ever drawn."""
    if stream.untouched:
        booking.withdraw()
        return
    stopped = isinstance(error, KeyboardInterrupt)
    # an error's own words may quote private data, so its kind alone is noted
    booking.note_end("interrupted" if stopped else f"failed: {type(error).__name__}")
    words = (
        f"This run had begun to draw noise, so it stays booked as release {booking.number} of "
        f"{booking.dataset!r} in {booking.path}."
    )
    if stopped:
        words += (
            " If it was stopped for a reason that has nothing to do with the data, a person may "
            f"give that back: hedgerow ledger FILE --give-back {booking.number} --reason WHY."
        )
    warnings.warn(words, LedgerWarning, stacklevel=4)
