"""A release held against the raw data it came from, by every measure that fits. NOT PRIVATE."""

from __future__ import annotations

import importlib.util
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.arrays import Ints
from hedgerow.data import (
    Database,
    Table,
    Transactions,
    check_transactions,
    read_prepared,
    read_public,
    read_transactions,
)
from hedgerow.data.preparation import ItemPreparation, Preparation
from hedgerow.errors import DataError, DataWarning, HedgerowError, UsageError
from hedgerow.evaluation import measures
from hedgerow.evaluation.classify import Model, discernibility, left_open, ncp
from hedgerow.evaluation.measures import (
    NOT_PRIVATE,
    Classification,
    CountErrors,
    Marginal,
    TopItemsets,
    exact_counts,
)
from hedgerow.methods.publisher import Publisher
from hedgerow.methods.supermodular import Supermodular
from hedgerow.optimize.exact import LARGEST, solve
from hedgerow.optimize.model import Problem, Side
from hedgerow.registry import METHODS, load
from hedgerow.release import Release, RowsRelease, TableRelease, TransactionsRelease
from hedgerow.release.count_tables import bins, cells_of, divisions_of
from hedgerow.schema import Categorical, Schema
from hedgerow.schema.query import Query
from hedgerow.store.frames import Frame, as_kind
from hedgerow.suggestions import JUDGMENT, Suggestions, answer_mistakes, check_arguments

# One-way tables and pairs of attributes, raw against released. NOT PRIVATE.

MOST_PAIRS, MOST_CELLS = 500, 1_000_000


@dataclass(frozen=True, kw_only=True)
class TableErrors:
    """How far the cells of `release.table(name)` are off. NOT PRIVATE.

    Args:
        name: The attribute, or the class.
        cells: How many cells its table has.
        mean: The mean error of a cell, in records.
        worst: The largest one.
        width: The median width of its intervals, in records; None if they have no upper end.
        covered: The share of cells whose interval holds the truth.
    """

    name: str
    cells: int
    mean: float
    worst: float
    width: float | None
    covered: float


def table_errors(table: Table, release: Release) -> tuple[TableErrors, ...]:
    """The one-way tables of all attributes and the class. NOT PRIVATE.

    Args:
        table: The raw table.
        release: A release of it.
    """
    schema, errors = release.schema, []
    names = [attribute.name for attribute in schema.columns]
    tables = [
        cells_of(schema, divisions_of(schema, (name,), None, release.bands), Query(()))[1]
        for name in names
    ]
    cells = [cell for some in tables for cell in some]
    answers, counts = release.count(cells), exact_counts(table, cells)  # far quicker at once
    off = np.abs(answers.estimate - counts)
    place = np.repeat(range(len(names)), [*map(len, tables)])
    for number, name in enumerate(names):
        line = measures.error_line(place, counts, answers, 1.0, number)
        errors.append(TableErrors(
            name=name, cells=line.queries, mean=line.absolute,
            worst=float(off[place == number].max()), width=line.width, covered=line.covered,
        ))  # fmt: skip
    return tuple(errors)


def k_marginal(raw: NDArray[np.integer], made: Ints, schema: Schema, seed: int = 0) -> float | None:
    """The k-marginal score with k = 2, of 1,000. NOT PRIVATE.

    For each pair of attributes, the class being one, the shares of all cells are compared: half
    the sum of their absolute differences is 0 if they are the same and 1 if they have nothing in
    common. The score is 1,000 times one less the mean over all pairs, or over 500 random ones if
    there are more. Numbers are counted in round bands.

    Args:
        raw: Raw rows of codes: the predictors, then the class.
        made: Synthetic rows of codes.
        schema: The public schema.
        seed: Which pairs, if there are many.

    Returns:
        The score, or None if there are fewer than two attributes or no rows.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "a": {"type": "boolean"}, "b": {"type": "boolean"}}})
        >>> rows = np.array([[0, 0, 0], [1, 1, 0]])
        >>> k_marginal(rows, rows, schema), k_marginal(rows, np.array([[0, 1, 0]]), schema)
        (1000.0, 0.0)
    """
    columns = schema.columns
    if len(columns) < 2 or not len(raw) or not len(made):
        return None
    coarse, sizes = [], []
    for place, attribute in enumerate(columns):
        edges = np.arange(attribute.size + 1)
        if not isinstance(attribute, Categorical):
            edges = np.asarray(bins(attribute))
        sizes.append(len(edges) - 1)
        of = [rows[:, place].astype(np.int64) for rows in (raw, made)]
        coarse.append([np.searchsorted(edges, codes, "right") - 1 for codes in of])
    pairs = list(combinations(range(len(columns)), 2))
    if len(pairs) > MOST_PAIRS:
        chosen = np.random.default_rng(seed).choice(len(pairs), MOST_PAIRS, replace=False)
        pairs = [pairs[place] for place in chosen]
    off = []
    for one, other in pairs:
        keys = [coarse[one][side] * sizes[other] + coarse[other][side] for side in (0, 1)]
        if sizes[one] * sizes[other] > MOST_CELLS:  # many more cells than anybody has rows
            _, known = np.unique(np.concatenate(keys), return_inverse=True)
            keys = [known[: len(raw)], known[len(raw) :]]
        cells = 1 + max(int(key.max()) for key in keys)
        shares = [np.bincount(key, minlength=cells) / len(key) for key in keys]
        off.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(1000 * (1 - np.mean(off)))


QUERIES = 1000
QUICK_QUERIES, QUICK_ROWS = 200, 4_000
TOP = (10, 50, 100)
_CERTAIN = 1 - 1e-9  # an interval at this level misses the truth of the right table never
_SOLVED, _FEW = 200, 20  # records whose generalizations are searched; few where that takes long
_MODELS: tuple[Model, ...] = ("tree", "boosting")
NO_MODELS = (
    "scikit-learn is not installed, so no models were trained: pip install 'hedgerow[evaluate]'"
)


@dataclass(frozen=True)
class Distortion:
    """How much detail generalization took away. NOT PRIVATE.

    Args:
        ncp: The normalized certainty penalty, 0 to 1.
        discernibility: The sum of squared sizes of regions; None where regions overlap.
        alike: Discernibility by the record: with how many records one shares its region.
    """

    ncp: float
    discernibility: int | None = None
    alike: float | None = None


@dataclass(frozen=True, kw_only=True)
class Personal:
    """Mean utility and risk of raw records under the settings of a release. NOT PRIVATE.

    Args:
        utility: The mean utility of a record.
        most_utility: The same if nothing was generalized.
        risk: The mean risk of a record.
        records: How many distinct records were looked at.
        side: What risk was measured on: "given", or "raw" for the raw table itself.
        published: The people in published rows as a share of all, estimated.
    """

    utility: float
    most_utility: float
    risk: float
    records: int
    side: str
    published: float


@dataclass(frozen=True, kw_only=True)
class Judgment(Suggestions):
    """What is left of the raw data in a release. NOT PRIVATE.

    Args:
        schema: The name of the schema.
        method: The method of the release.
        records: How many raw records there are, as far as the schema's rules keep them.
        unit_names: What one of them is called, and several.
        matches: Whether the release can be one of these records at all.
        marginals: Each attribute and the class; for transactions, the items.
        counts: Errors of random range counts, or counts of itemsets.
        classification: How well the class is told, if there is one.
        distortion: NCP and discernibility, where there are regions or rows.
        itemsets: The most frequent itemsets, for transactions.
        personal: Utility and risk, for rows that were generalized one by one.
        notes: What a reader must know beside the numbers.
        preparation: What became of the raw rows or records.
        tables: Errors of the one-way tables.
        k_marginal: The score of pairs in synthetic rows, of 1,000.
    """

    _suggestions = JUDGMENT

    schema: str
    method: str
    records: int
    unit_names: tuple[str, str]
    matches: bool
    marginals: tuple[Marginal, ...]
    counts: CountErrors
    classification: Classification | None = None
    distortion: Distortion | None = None
    itemsets: tuple[TopItemsets, ...] = ()
    personal: Personal | None = None
    notes: tuple[str, ...] = ()
    preparation: Preparation | ItemPreparation | None = None
    tables: tuple[TableErrors, ...] = ()
    k_marginal: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON, the warning first."""
        return {"private": False, "warning": NOT_PRIVATE, **asdict(self)}

    def to_arrow(self) -> pa.Table:
        """The main numbers, each on a line: `measure`, what it is `of`, and `value`."""
        lines: list[tuple[str, str, float]] = [
            ("records", "", self.records), ("matches", "", self.matches),
        ]  # fmt: skip
        lines += [("total variation", one.name, one.total_variation) for one in self.marginals]
        for table in self.tables:
            lines += [("mean error of cells", table.name, table.mean),
                      ("worst error of cells", table.name, table.worst),
                      ("intervals that hold", table.name, table.covered)]  # fmt: skip
        lines += [(f"{name} of counts", "", getattr(self.counts.overall, field))
                  for name, field in (("mean error", "absolute"),
                                      ("median relative error", "median"),
                                      ("intervals that hold", "covered"))]  # fmt: skip
        if self.k_marginal is not None:
            lines.append(("k-marginal score", "", self.k_marginal))
        if self.distortion is not None:
            lines.append(("normalized certainty penalty", "", self.distortion.ncp))
        for model in self.classification.models if self.classification else ():
            lines += [("accuracy from the release", model.model, model.released),
                      ("accuracy from raw rows", model.model, model.raw)]  # fmt: skip
        what = "share of the most frequent itemsets"
        lines += [(what, str(top.number), top.utility) for top in self.itemsets]
        measure, of, value = zip(*lines, strict=True)
        return pa.table({
            "measure": measure, "of": of, "value": pa.array(map(float, value), pa.float64()),
        })  # fmt: skip

    def to_frame(self, kind: str = "pandas") -> Frame:
        """The same as a frame: "pandas", "polars" or "arrow".

        Example:
            >>> import hedgerow
            >>> from hedgerow import sample
            >>> people = sample.people(300, seed=3)
            >>> release = hedgerow.publish(people, sample.schema(), epsilon=1, seed=7)
            >>> hedgerow.evaluate(people, release, queries=8).to_frame("arrow").column_names
            ['measure', 'of', 'value']
        """
        return as_kind(self.to_arrow(), kind)


@answer_mistakes
def evaluate(
    data: str | os.PathLike[str] | Database | Frame,
    release: str | os.PathLike[str] | Release,
    *,
    queries: int = QUERIES,
    seed: int = 0,
    delimiter: str | None = None,
    line_breaks: bool = False,
    side: str | os.PathLike[str] | Frame | None = None,
    quick: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Judgment:
    """Compares a release with the raw data that it came from. NOT PRIVATE.

    The raw data is read by the release's own schema.

    Args:
        data: The raw data: whatever `hedgerow.publish` takes.
        release: The release, or its folder.
        queries: How many random counts to ask both for.
        seed: Which counts, and which rows models learn from.
        delimiter: The delimiter of a CSV file, if its first line is not to tell it.
        line_breaks: Whether quoted values of a CSV file may hold line breaks; without it a record
            is a line.
        side: For Supermodular: the public side table, if it was published with one.
        quick: Whether a rough answer will do: at most 200 counts, one model, smaller samples.
        progress: Called now and then with the share of the work that is done.

    Raises:
        DataError: If the raw data does not follow the release's schema.
        UsageError: If a setting cannot be meant.

    Example:
        >>> import hedgerow
        >>> from hedgerow import sample
        >>> people = sample.people(600, seed=3)
        >>> release = hedgerow.publish(people, sample.schema(), epsilon=1, seed=7)
        >>> found = evaluate(people, release, queries=40)
        >>> found.records, found.matches, found.to_dict()["private"]
        (600, True, False)
    """
    if isinstance(data, Release):
        raise UsageError("the raw data comes first", hint="Write hedgerow.evaluate(data, release).")
    check_arguments(evaluate, locals())
    if queries < 1:
        raise UsageError("there must be at least one query", hint="Ask for 1,000, say.")
    if seed < 0:
        raise UsageError("the seed is negative", hint="Give 0 or more.")
    opened = release if isinstance(release, Release) else Release.load(release)
    if side is not None and opened.kind != "rows":
        raise UsageError(
            "only a release by supermodular has a side table", hint="Leave the side table out."
        )
    queries = min(queries, QUICK_QUERIES) if quick else queries
    work = _Work(queries=queries, seed=seed, side=side, quick=quick, progress=progress)
    work.begin("reading", 0.2)
    look, judge = _KINDS[opened.kind]
    try:
        raw: Any = look(
            data, opened.schema, delimiter=delimiter, line_breaks=line_breaks, progress=work.tell
        )
    except (DataError, UsageError) as error:
        if isinstance(data, str | Path) and not Path(data).exists():
            raise  # a file that is not there, or an address: nothing to do with the release
        hint = f"{error.hint} " if error.hint else ""
        raise type(error)(
            error.message,
            hint=f"{hint}It is read by the schema of the release, {opened.schema.name!r}: is "
            "this the data that it was made from?",
        ) from None
    judgment = judge(raw, opened, work)
    work.begin("", 1.0)
    if opened.schema.kind == "transactions":
        with warnings.catch_warnings():  # what is odd about the data was told when it was read
            warnings.simplefilter("ignore", DataWarning)
            looked = check_transactions(
                data, opened.schema, delimiter=delimiter, line_breaks=line_breaks
            )
        judgment = replace(judgment, preparation=looked)
    work.tell(1.0)
    return judgment


@dataclass(kw_only=True)
class _Work:
    """What is asked for (see `evaluate`), and how much of it is done.

    Parts get about the share of the time that they take.
    """

    queries: int
    seed: int
    side: Any
    quick: bool
    progress: Any
    _begin: float = 0.0
    _end: float = 0.0

    def begin(self, words: str, end: float) -> None:
        """A part of the work begins, that takes until this share of all."""
        self._begin, self._end = self._end, end
        if hasattr(self.progress, "stage"):
            self.progress.stage(words)
        self.tell(0.0)

    def tell(self, share: float) -> None:
        """So much of the part is done."""
        if self.progress is not None:
            self.progress(self._begin + share * (self._end - self._begin))


def _judge_transactions(
    transactions: Transactions, release: TransactionsRelease, work: _Work
) -> Judgment:
    records = len(transactions.start) - 1
    _refuse_empty(records)
    work.begin("counts", 0.6)
    counts = measures.itemset_errors(transactions, release, work.queries, work.seed)
    work.begin("itemsets", 0.95)
    return Judgment(
        **_about(release, records), counts=counts,
        marginals=(measures.item_marginal(transactions, release),),
        itemsets=measures.top_errors(transactions, release, TOP),
    )  # fmt: skip


def _about(release: Release, records: int) -> dict[str, Any]:
    """What the release is, and whether its number of records can be that of the data."""
    everybody = release.count_all(level=_CERTAIN)
    return {
        "schema": release.schema.name, "method": release.method, "records": records,
        "unit_names": release.schema.unit_names,
        "matches": bool(everybody.low[0] <= records <= everybody.high[0]),
    }  # fmt: skip


def _judge_table(
    prepared: tuple[Table, Preparation],
    release: Any,
    work: _Work,
    distort: Callable[[Table, Any], Distortion] | None = None,
) -> Judgment:
    """Compares any release that synthetic rows can be drawn from.

    Args:
        prepared: The raw table, and what became of its rows.
        release: The release; one of regions or rows may count nobody.
        work: What is asked for.
        distort: How much detail regions or rows took away.
    """
    table, looked = prepared
    records = int(table.codes.shape[0])
    _refuse_empty(records)
    distortion = None if distort is None else distort(table, release)
    notes: list[str] = []
    classification, score = None, None
    work.begin("values", 0.25)
    marginals = measures.marginals(table, release)
    work.begin("tables", 0.35)
    tables = table_errors(table, release)
    work.begin("counts", 0.5)
    counts = measures.count_errors(table, release, work.queries, work.seed)
    if distort is None or release.counts.any():
        work.begin("synthetic rows", 0.6)
        most = QUICK_ROWS if work.quick else measures.MOST_ROWS
        made = measures.synthetic_codes(release, min(records, most), work.seed)
        work.begin("pairs", 0.65)
        score = k_marginal(table.codes, made, table.schema, work.seed)
        if table.schema.target is not None:
            known = importlib.util.find_spec("sklearn") is not None
            models = _MODELS[: 1 if work.quick else None] if known else ()
            work.begin("models", 0.95)
            tested = QUICK_ROWS if work.quick else measures.TESTED
            classification = measures.classification(
                table, release, made, work.seed, models, tested, work.tell
            )
            notes += [] if known else [NO_MODELS]
    return Judgment(
        **_about(release, records), marginals=marginals, counts=counts,
        classification=classification, distortion=distortion, notes=tuple(notes),
        preparation=looked, tables=tables, k_marginal=score,
    )  # fmt: skip


def _judge_rows(prepared: tuple[Table, Preparation], release: RowsRelease, work: _Work) -> Judgment:
    judgment = _judge_table(prepared, release, work, _row_detail)
    work.begin("risks", 0.98)
    try:
        return replace(judgment, personal=_personal(prepared[0], release, work.side, work.seed))
    except (HedgerowError, TypeError, ValueError) as error:
        why = f": {error.message}" if isinstance(error, HedgerowError) else ""
        note = f"utility and risk could not be worked out{why}"
        return replace(judgment, notes=(*judgment.notes, note))


def _refuse_empty(records: int) -> None:
    if not records:
        raise DataError(
            "no record of the data is left by the rules of the release's schema",
            hint="Is it the data that this release was made from?",
        )


def _region_detail(table: Table, release: TableRelease) -> Distortion:
    penalty = discernibility(table, release.partition)
    return Distortion(ncp(table, release.partition), penalty, penalty / table.codes.shape[0])


def _row_detail(table: Table, release: RowsRelease) -> Distortion:
    """The penalty of the rows as they are published: of people in others, nothing is known."""
    penalty = left_open(release.lo, release.hi, release.attributes).mean(axis=1)
    known = release.counts.sum() > 0
    return Distortion(float(np.average(penalty, weights=release.counts)) if known else 1.0)


def method_of_release(release: Release) -> Publisher:
    """The method of a release with its settings, as far as they are public.

    Raises:
        UsageError: If the method is not installed, or the settings are not its.
    """
    kind = load(METHODS[release.method].settings)
    known = {field.name for field in fields(kind)} - {"side", "weight_columns"}
    given = {key: value for key, value in release.settings.items() if key in known}
    given = {key: tuple(v) if isinstance(v, list) else v for key, v in given.items()}
    if "schedule" in given:  # with its version
        given["schedule"] = str(given["schedule"]).partition("-")[0]
    if not isinstance(given.get("weights"), Mapping):
        given.pop("weights", None)
    method: Publisher = kind(**given)
    return method


def _personal(table: Table, release: RowsRelease, side: Any, seed: int) -> Personal:
    method: Any = method_of_release(release)
    forest, worth = method.terms(table.schema)
    rows = table.codes if side is None else read_public(side, table.schema)
    most = _SOLVED if forest.largest_lattice() <= LARGEST else _FEW
    utility, risk, records = personal_worth(table, rows, method, most, seed)
    leaves = forest.leaves(table.codes[:, : forest.attributes].astype(np.int64))
    people = float(release.counts.sum()) / release.sampling_rate
    return Personal(
        utility=utility, most_utility=float(worth.utility[leaves].sum(axis=1).mean()), risk=risk,
        records=records, side="raw" if side is None else "given",
        published=min(1.0, people / table.codes.shape[0]),
    )  # fmt: skip


def personal_worth(
    table: Table, side: NDArray[np.integer], method: Supermodular, most: int = 1000, seed: int = 0
) -> tuple[float, float, int]:
    """Solves records of a raw table. NOT PRIVATE.

    Args:
        table: The raw table.
        side: The codes of a side table (`hedgerow.data.read_public`).
        method: The method.
        most: At most so many records, drawn at random, are solved.
        seed: Which ones.

    Returns:
        The mean utility of a record, its mean risk, and how many distinct records were solved.
    """
    forest, worth = method.terms(table.schema)
    rows = Side.of(forest, side[:, : forest.attributes])
    random = np.random.default_rng(seed)
    codes = table.codes[:, : forest.attributes]
    picked = random.choice(len(codes), min(most, len(codes)), replace=False)
    distinct, counts = np.unique(codes[picked], axis=0, return_counts=True)
    leaves = forest.leaves(distinct.astype(np.int64))
    problem = Problem(forest, rows, worth, method.aim())
    solution = solve(problem, leaves, np.ones(leaves.shape))
    fine = solution.solved & (solution.count > 0)
    utility = np.average(np.where(fine, solution.utility, 0), weights=counts)
    # whom the side table has nobody like stands out by the whole of their sensitivity
    risk = np.average(np.where(fine, solution.risk, solution.sensitivity), weights=counts)
    return float(utility), float(risk), len(leaves)


_KINDS: dict[str, tuple[Callable[..., Any], Callable[..., Judgment]]] = {
    "table": (read_prepared, partial(_judge_table, distort=_region_detail)),
    "marginals": (read_prepared, _judge_table),
    "transactions": (read_transactions, _judge_transactions),
    "rows": (read_prepared, _judge_rows),
}
"""How raw data is read, and compared with a release of each kind."""
