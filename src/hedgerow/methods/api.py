"""`hedgerow.publish`: from a private table to a release."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, SupportsIndex

from hedgerow.counting.items import MemoryItems
from hedgerow.counting.memory import MemoryEngine
from hedgerow.counting.pick_engine import Counting, open_engine
from hedgerow.counting.streamed import DEFAULT_MEMORY
from hedgerow.data import Database, Table, Transactions, refuse_mixing
from hedgerow.errors import DataWarning, LedgerWarning, SchemaError, UsageError
from hedgerow.estimate.cells import STAND_INS
from hedgerow.ledger.file import unit_of
from hedgerow.ledger.ledger import Booking, BudgetLedger, Notes
from hedgerow.methods.plan import Plan, RowsPlan
from hedgerow.methods.publisher import (
    Outcome,
    Progress,
    Publisher,
    as_method,
    ignored_tables,
    no_progress,
    refuse_unready,
)
from hedgerow.privacy.budget import Budget, Number, epsilon_of_rho
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import Sampler, SecureSampler
from hedgerow.registry import METHODS, OURS
from hedgerow.release import Release
from hedgerow.release.files import MOST_CELLS, Target, kind_class
from hedgerow.schema import Categorical, Schema
from hedgerow.store.frames import Frame
from hedgerow.suggestions import answer_mistakes, check_arguments, whole
from hedgerow.verification import verify

# Paying for a run from the budget ledger: tried out first, booked when it first draws.

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
    if plan.specializations is None or not plan.grows:
        return None
    parts = [2] + [
        max(attribute.taxonomy.parents.count(node) for node in {*attribute.taxonomy.parents})
        for attribute in schema.attributes
        if isinstance(attribute, Categorical)
    ]
    regions = math.prod(attribute.size for attribute in schema.attributes)
    most = getattr(method, "max_cells", None)
    if most is None:  # every specialization divides one region
        regions = min(regions, 1 + plan.specializations * (max(parts) - 1))
    else:
        regions = int(min(regions, most, max(parts) ** min(plan.specializations, 64)))
    classes = max(1, len(schema.classes))
    attributes = len(schema.attributes)
    target = 0 if schema.target is None else _longest(schema.target)
    each = [*map(_longest, schema.attributes)]
    labels = sum(each) + target
    node = 40 + 10 * attributes + _NUMBER * (2 + 2 * classes)  # its bounds, counts and charges
    listed = 60 + 20 * attributes + labels  # a row of regions.parquet, and one of table.csv
    text = 4 * len(str(schema.to_dict()))
    rows = (STAND_INS + regions * classes) * 16 * (attributes + 2)  # of rows.parquet
    cells = min(MOST_CELLS, MOST_BANDS * attributes * (1 + classes))  # of tables, in two forms
    own = 2 * regions * node + regions * classes * listed
    return _FIXED + text + own + rows + 2 * cells * (200 + max(each, default=0) + target)


def _longest(attribute: object) -> int:
    """The bytes of an attribute's longest label as CSV may write it, with its comma."""
    if not isinstance(attribute, Categorical):
        return _NUMERIC_LABEL
    return 3 + max(2 * len(label.encode()) for label in attribute.taxonomy.labels)


def payment(
    ledger: str | Path | BudgetLedger | None,
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
    book = ledger if isinstance(ledger, BudgetLedger) else BudgetLedger(ledger)
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


_READ, _GROWN = 0.3, 0.55  # of the time, if the release is saved as well


@answer_mistakes
def publish(
    data: str | os.PathLike[str] | Database | Frame,
    schema: Schema | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    method: Publisher | type[Publisher] | str | None = None,
    epsilon: Number = 1,
    delta: Number = 0,
    *,
    seed: SupportsIndex | None = None,
    delimiter: str | None = None,
    line_breaks: bool = False,
    engine: str | None = None,
    memory: int | str = DEFAULT_MEMORY,
    scratch: str | Path | None = None,
    scheduler: str | None = None,
    progress: Callable[[float], None] | None = None,
    stage: Callable[[str], None] | None = None,
    ledger: str | Path | BudgetLedger | None = None,
    dataset: str | None = None,
    allow_empty: bool = False,
    recipient: str | None = None,
    purpose: str | None = None,
    tables: Sequence[str | Sequence[str] | Mapping[str, Any]] = (),
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> Release:
    """Publishes a table under differential privacy.

    The whole input is read and checked before anything is drawn. With a ledger, the release is
    booked before anything is drawn, and refused if the data set has not enough left. With `out`, a
    release that could not be saved costs nothing: the folder is locked and room for the release is
    set aside before data is read.

    Args:
        data: The path of a CSV file, a workbook or a Parquet file, a folder or pattern of
            Parquet files, the address of such, a `Database`, or an Arrow, pandas or Polars frame.
        schema: The public schema, the path of its file, or a dictionary of the same shape.
        method: Which method, with its settings, such as `hedgerow.DiffMulti(depth=4)`, or its name,
            such as "diffmulti"; Marginals by default, DiffPart for transactions.
        epsilon: The loss that one person may suffer: a number, or text such as "0.1" or "1/3". A
            float means the decimal that it is written as. What has more than six decimals and is
            no simple fraction is rounded down.
        delta: 0 for pure differential privacy.
        seed: For tests alone: makes the run repeatable and the release NOT private.
        delimiter: The delimiter of a CSV file, if its first line is not to tell it.
        line_breaks: Whether quoted values of a CSV file may hold line breaks; without it a record
            is a line.
        engine: Who counts: "memory", "streamed" (rows in scratch files), "dask" (a cluster), or
            None to decide by the size of the input. The release is the same.
        memory: How much memory a streamed run may take, about: bytes, or text such as "2GB".
        scratch: The folder for scratch files, which have no name there and hold private codes.
        scheduler: The address of a Dask scheduler.
        progress: Called now and then with the share of the work that is done.
        stage: Called now and then with a few words about what is being done.
        ledger: The `BudgetLedger` that adds up what all releases of a data set cost, or its file.
        dataset: The data set's name in the ledger; without it, the schema's.
        allow_empty: Whether an input without any record is published; it is refused by default,
            as a likely mistake.
        recipient: For the ledger: whom the release is for.
        purpose: For the ledger: what it is for.
        tables: Tables that the release should hold, such as "home illness", beside those that
            the schema names; the release's schema names them too. See `Schema.with_tables`.
        out: The folder to save the release to.
        overwrite: Whether a release that is there may be replaced.

    Returns:
        The release. Without `out` nothing has been written yet.

    Raises:
        BudgetError: If the ledger has less left for the data set than this release would cost.
        SchemaError: If the schema is still a draft, or does not state its unit.
        ReleaseError: If the release cannot be saved to `out`, or another run is about to.

    Example:
        >>> import pyarrow as pa
        >>> schema = Schema.from_dict({"name": "survey", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99, "step": 1},
        ...     "ill": {"type": "boolean", "role": "class"}}})
        >>> rows = pa.table({"age": [18, 40, 61], "ill": ["no", "no", "yes"]})
        >>> publish(rows, schema, epsilon=1).guarantee["epsilon"]
        '1'
    """
    seed = None if seed is None else whole("seed", seed)
    schema = Schema.of(schema)
    method = as_method(method, schema)
    check_arguments(publish, locals())
    if tables and schema.metadata.signed is not None:
        raise SchemaError(
            f"The schema {schema.name!r} was signed off without the tables that are asked for.",
            hint="Write them into the schema, under `tables:`, and have it signed anew.",
        )
    schema = schema.with_tables(tables)
    refuse_unready(schema)
    refuse_mixing(data)
    if (ignored := ignored_tables(method, schema)) is not None:
        warnings.warn(ignored, DataWarning, stacklevel=3)  # public, and for the steward
    plan = method.plan(schema, epsilon, delta)  # settings are refused before data is opened
    if plan.remark is not None and (plan.schedule == "paper" or isinstance(plan, RowsPlan)):
        warnings.warn(plan.remark, DataWarning, stacklevel=3)  # public too
    if method.in_memory:  # it looks at whole records
        if engine not in (None, "memory"):
            raise UsageError(
                f"The engine {engine} does not count whole records.",
                hint=f"Leave the engine out: {method.name} counts in memory.",
            )
        engine = "memory"
    counting = Counting(engine=engine, memory=memory, scratch=scratch, scheduler=scheduler)
    notes = Notes(place=out, recipient=recipient, purpose=purpose)
    pay = payment(ledger, dataset, schema, method.name, plan.budget, seed, notes)
    pace = _Pace(progress, stage, saves=out is not None)
    method, side = method.prepared(schema, data)
    with ExitStack() as until:
        target = None
        if out is not None:  # its place is locked, with room for it
            target = Target(out, overwrite, room_for(method, schema, plan))
            until.callback(target.close)
        with (
            open_engine(
                data,
                schema,
                counting,
                delimiter=delimiter,
                line_breaks=line_breaks,
                weights=method.own_weights(schema),
                unlike=side,
                allow_empty=allow_empty,
                reading=pace.reading,
                passing=pace.passing,
            ) as (rows, kind),
            drawing(pay, seed) as (stream, booking),
        ):
            sampler = SecureSampler(stream)
            outcome = method.run(rows, schema, plan, sampler, pace.growing)
            pace.growing(1.0)
            guarantee = _guarantee(schema, outcome, private=stream.secure)
            if isinstance(data, Database) and data.query is not None:
                guarantee["row_wise_query"] = True  # it was not read without that word
            release = release_of(schema, method, outcome, guarantee, kind, booking)
            if method.name in METHODS and method.name not in OURS:  # its rules are known
                _warn_of_faults(release)
        if target is not None:
            _save(release, target, pace)
    return release


def _warn_of_faults(release: Release) -> None:
    """Says so if the rules that came with a method refuse what it published."""
    faults = [check for check in verify(release).checks if not check.ok and check.name != "private"]
    if faults:
        warnings.warn(
            f"Verification refuses this release of {release.method}, so the method or its rules "
            f"are wrong. {faults[0].name}: {faults[0].words}. Its budget is spent; do not hand "
            "it out.",
            DataWarning,
            stacklevel=4,
        )


def _save(release: Release, target: Target, pace: _Pace) -> None:
    try:
        release.save(target, progress=pace.writing)
        pace.writing(1.0)
    except BaseException:
        if target.is_filled():  # nobody should think that the work has to be done again
            warnings.warn(
                f"{target} was written before the run ended. Look at it with `hedgerow verify`: if "
                "it is whole, there is no need to publish again.",
                LedgerWarning,
                stacklevel=4,
            )
        elif release.booking is not None:
            release.booking.note_end("not saved")
            warnings.warn(
                "The release was drawn, so it stays booked: its budget is spent, although "
                f"{target} was not written.",
                LedgerWarning,
                stacklevel=4,
            )
        raise


def release_of(
    schema: Schema,
    method: Publisher,
    outcome: Outcome,
    guarantee: dict[str, Any],
    kind: str = "arrow",
    booking: Booking | None = None,
) -> Release:
    """The outcome of a run as a release; simulations call this with a guarantee of their own."""
    chosen = method.chosen(schema, outcome)
    ledger = _ledger(outcome)
    if booking is not None and booking.release_id is not None:
        # what a budget ledger finds the release by, even if the run ends before that notes it
        ledger["release_id"] = booking.release_id
    return kind_class(outcome.kind or schema.kind)(
        schema=schema,
        method=method.name,
        settings=method.settings() | ({"chosen": chosen} if chosen else {}),
        guarantee=guarantee,
        ledger=ledger,
        frame_kind=kind,
        booking=booking,
        **outcome.parts,
    )


def run(
    data: Table | Transactions,
    method: Publisher,
    budget: Budget,
    sampler: Sampler,
    progress: Progress = no_progress,
) -> Outcome:
    """Runs a method on data in memory; audits call this with a sampler of their own.

    Args:
        data: The data.
        method: The method.
        budget: What one person may lose.
        sampler: Where outcomes come from.
        progress: Told how far the run is.
    """
    engine = MemoryItems(data) if isinstance(data, Transactions) else MemoryEngine(data)
    plan = method.plan_for(data.schema, budget)
    return method.run(engine, data.schema, plan, sampler, progress)


class _Pace:
    """Progress of reading, growing and writing, as shares of the whole, and in words.

    Words name levels and shares of rows; they are for whoever holds the data.
    """

    def __init__(
        self,
        progress: Callable[[float], None] | None,
        stage: Callable[[str], None] | None,
        *,
        saves: bool,
    ) -> None:
        self._read, self._grown = (_READ, _GROWN) if saves else (0.5, 1.0)
        self._progress = progress or (lambda share: None)
        self._stage = stage or (lambda words: None)
        self._words = ""

    def reading(self, share: float) -> None:
        self._progress(share * self._read)
        self._stage(f"reading: {share:.0%} of the rows")

    def growing(self, share: float, words: str = "") -> None:
        self._words = words
        self._progress(self._read + share * (self._grown - self._read))
        self._stage(words)

    def writing(self, share: float) -> None:
        self._progress(self._grown + share * (1 - self._grown))
        self._stage("writing the release")

    def passing(self, share: float) -> None:
        self._stage(f"{self._words}: {share:.0%} of the rows")


def _guarantee(schema: Schema, outcome: Outcome, *, private: bool) -> dict[str, Any]:
    """What a release guarantees, whom it protects, and which data sets are neighbors."""
    budget, neighbors = outcome.plan.budget, "add or remove one record"
    if schema.kind == "transactions":
        column = schema.transaction_items.person
        unit = "one record is one person"
        if column is not None:
            unit = f"one value of {column} is one person, with all its items"
    elif schema.person is not None:
        unit = f"one person, with at most {schema.person.max_rows} rows"
        neighbors = "add or remove one person"
    else:
        unit, neighbors = "one row is one person", "add or remove one row"
    return {
        "epsilon": str(budget.epsilon),
        "delta": str(budget.delta),
        "accounting": outcome.plan.accounting,
        "neighbors": neighbors,
        "unit_of_protection": unit,
        "began_as_draft": schema.began_as_draft,
        "private": private,
    }


def _ledger(outcome: Outcome) -> dict[str, Any]:
    budget = outcome.plan.budget
    book = {
        "accounting": outcome.plan.accounting,
        "person_rows": budget.rows,
        **outcome.plan.rules,
        **outcome.ledger.book(outcome.published, outcome.sharing),
    }
    if book["accounting"] == "zcdp":
        rho = outcome.ledger.budgets["rho"].total
        spare = budget.row_epsilon - outcome.ledger.budgets["epsilon"].total
        converted = epsilon_of_rho(rho, budget.row_delta)
        assert converted <= spare
        book["conversion"] = {
            "rho": str(rho),
            "epsilon": str(Fraction(spare)),
            "delta": str(budget.row_delta),
        }
    return book
