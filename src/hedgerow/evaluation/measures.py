"""Measures of how far a release is off the raw data. NOT PRIVATE."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Floats, Ints, Words
from hedgerow.data import Table, Transactions, read
from hedgerow.errors import UsageError
from hedgerow.estimate.answers import Answers
from hedgerow.evaluation import classify
from hedgerow.release import Release, TransactionsRelease
from hedgerow.schema import Categorical, Numeric, Schema
from hedgerow.schema.query import Intervals, Query
from hedgerow.suggestions import answer_mistakes

# Random range counts, and the truth about them.

NOT_PRIVATE = "NOT PRIVATE: compared with the raw table; for the holder of the data alone."


@answer_mistakes
def random_queries(
    schema: Schema,
    number: int,
    attributes: int = 2,
    selectivity: float = 0.1,
    seed: int | None = None,
    *,
    with_class: bool = False,
) -> list[Query]:
    """Random conjunctions, as the field measures range counts with.

    Each query constrains as many predictors, chosen at random. A numeric one gets an interval at
    a random place, a categorical one a random node of its taxonomy below the root; intervals are
    as long as it takes for all conditions together to cover about `selectivity` of the domain.

    Args:
        schema: The public schema.
        number: How many queries.
        attributes: How many predictors each of them constrains.
        selectivity: The share of the domain that a query covers, about.
        seed: For the same queries again.
        with_class: Whether each query also asks for one class.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99, "step": 1}}})
        >>> random_queries(schema, 1, attributes=1, selectivity=0.2, seed=4)[0].where
        ((0, ((58.0, 78.0),)),)
    """
    schema = Schema.of(schema)
    if not 1 <= attributes <= len(schema.attributes):
        raise UsageError(
            f"a query cannot constrain {attributes} predictors of this schema",
            hint=f"Ask for 1 to {len(schema.attributes)}.",
        )
    if not 0 < selectivity <= 1:
        raise UsageError("selectivity must be above 0 and at most 1")
    source = np.random.default_rng(seed)
    share = selectivity ** (1 / attributes)
    queries = []
    for _ in range(number):
        chosen = np.sort(source.choice(len(schema.attributes), attributes, replace=False))
        where = tuple((int(a), _condition(schema, int(a), share, source)) for a in chosen)
        classes = None
        if with_class and schema.classes:
            classes = (int(source.integers(len(schema.classes))),)
        queries.append(Query(where, classes))
    return queries


def random_conjunctions(
    schema: Schema, number: int, attributes: tuple[int, int] = (2, 4), seed: int | None = None
) -> list[Query]:
    """Random conjunctions that do not follow taxonomies.

    Each query constrains a random number of predictors. A numeric one gets an interval between two
    random edges, a categorical one a random set of values, each in it with probability 1/2.

    Args:
        schema: The public schema.
        number: How many queries.
        attributes: The least and the most predictors that a query constrains.
        seed: For the same queries again.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99, "step": 1},
        ...     "home": {"type": "categorical", "values": ["flat", "house", "boat"]}}})
        >>> random_conjunctions(schema, 1, (2, 2), seed=1)[0].where
        ((0, ((75.0, 95.0),)), (1, ((1.0, 3.0),)))
    """
    least, most = attributes
    if not 1 <= least <= most <= len(schema.attributes):
        raise UsageError(
            f"a query cannot constrain {least} to {most} predictors of this schema",
            hint=f"Ask for 1 to {len(schema.attributes)}.",
        )
    source = np.random.default_rng(seed)
    queries = []
    for _ in range(number):
        many = int(source.integers(least, most + 1))
        chosen = np.sort(source.choice(len(schema.attributes), many, replace=False))
        where = []
        for a in chosen.tolist():
            attribute = schema.attributes[a]
            if isinstance(attribute, Categorical):
                inside = source.random(attribute.size) < 0.5
                inside[source.integers(attribute.size)] |= not inside.any()
                ends = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]])))
                intervals = tuple((float(x), float(y)) for x, y in ends.reshape(-1, 2))
            else:
                low, high = np.sort(source.choice(attribute.size + 1, 2, replace=False))
                intervals = ((float(low), float(high)),)
            where.append((a, intervals))
        queries.append(Query(tuple(where)))
    return queries


def _condition(schema: Schema, a: int, share: float, source: np.random.Generator) -> Intervals:
    attribute = schema.attributes[a]
    if isinstance(attribute, Categorical) and len(attribute.taxonomy.labels) > 1:
        low, high = attribute.taxonomy.spans[
            1 + source.integers(len(attribute.taxonomy.labels) - 1)
        ]
        return ((float(low), float(high)),)
    length = min(attribute.size, max(1, round(share * attribute.size)))
    low = int(source.integers(attribute.size - length + 1))
    return ((float(low), float(low + length)),)


def exact_counts(table: Table, queries: Sequence[Query]) -> Floats:
    """The true counts. NOT PRIVATE.

    Example:
        >>> from hedgerow import data, sample
        >>> people, schema = sample.people(50), sample.schema()
        >>> exact_counts(data.read(people, schema), [Query.parse("everybody", schema)]).tolist()
        [50.0]
    """
    sizes = [attribute.size for attribute in table.schema.attributes]
    asked = {a for query in queries for a, _ in query.where}
    columns = {a: np.ascontiguousarray(table.codes[:, a]) for a in asked}
    every = {a: np.bincount(columns[a].astype(np.intp), minlength=sizes[a]) for a in asked}
    counts = np.empty(len(queries))
    for number, query in enumerate(queries):
        chosen = None
        for a, intervals in query.where:
            code = np.arange(sizes[a])
            allowed = np.zeros(sizes[a], dtype=np.bool_)
            for low, high in intervals:
                allowed |= (code >= low) & (code + 1 <= high)
            if len(query.where) == 1 and query.classes is None:
                counts[number] = every[a][allowed].sum()
                break
            inside = allowed[columns[a]]
            chosen = inside if chosen is None else chosen & inside
        else:
            if query.classes is not None:
                inside = np.isin(table.codes[:, -1], query.classes)
                chosen = inside if chosen is None else chosen & inside
            records = table.codes.shape[0]
            counts[number] = records if chosen is None else np.count_nonzero(chosen)
    return counts


# Itemset counts on raw transactions, to hold a release against them. NOT PRIVATE.
#
# Nothing computed here may leave with a release.


Bits = Words
Itemset = tuple[int, ...]


def random_itemsets(items: int, longest: int, number: int, seed: int) -> list[Itemset]:
    """Random counting queries as in the DiffPart paper.

    The length of each is uniform from 1 to `longest`, and its items are a uniform subset.

    Example:
        >>> [len(itemset) <= 3 for itemset in random_itemsets(17, 3, 4, seed=1)]
        [True, True, True, True]
    """
    source = np.random.default_rng(seed)
    lengths = source.integers(1, min(longest, items) + 1, number)
    return [
        tuple(np.sort(source.choice(items, length, replace=False)).tolist()) for length in lengths
    ]


def exact_supports(transactions: Transactions, itemsets: Sequence[Itemset]) -> Ints:
    """How many records hold all items of each itemset.

    Args:
        transactions: The raw transactions.
        itemsets: Item codes.
    """
    index = _Index(transactions)
    return np.asarray([index.support(itemset) for itemset in itemsets], dtype=np.int64)


def top_itemsets(transactions: Transactions, number: int) -> list[tuple[Itemset, int]]:
    """The itemsets with the largest supports, ties in canonical order.

    Levelwise: an itemset can only be among them if all its parts are.
    """
    index = _Index(transactions)
    best: list[tuple[int, Itemset]] = []
    order = np.argsort(-index.supports, kind="stable")
    # with all that tie with the last of them: a set of such items may come before a single one
    worst = index.supports[order[min(number, len(order)) - 1]]
    order = order[index.supports[order] >= max(1, worst)].tolist()
    level: list[tuple[Itemset, Bits]] = [((code,), index.bits(code)) for code in order]
    best += [(int(index.supports[code]), (code,)) for code in order]
    while level:
        best = sorted(best, key=lambda entry: (-entry[0], entry[1]))[:number]
        least = best[-1][0] if len(best) == number else 1
        further = []
        for itemset, held in level:
            for code in order[order.index(itemset[-1]) + 1 :]:
                if index.supports[code] < least:
                    break
                both = held & index.bits(code)
                support = _ones(both)
                if support >= max(1, least):
                    further.append(((*itemset, code), both))
                    best.append((support, tuple(sorted((*itemset, code)))))
        level = further
    return [(itemset, support) for support, itemset in best if support > 0]


def relative_errors(exact: Ints, estimated: NDArray[Any], records: int) -> Floats:
    """The error of each answer relative to the truth, or to 0.1% of all records if that is more.

    Example:
        >>> relative_errors(np.array([100, 0]), np.array([90.0, 2.0]), 1000).tolist()
        [0.1, 2.0]
    """
    return np.abs(estimated - exact) / np.maximum(exact, 0.001 * records)


def top_utility(
    exact: Sequence[tuple[Itemset, int]], released: Sequence[tuple[Itemset, float]]
) -> float:
    """The DiffPart paper's utility of the top itemsets: 1 if they and their supports are the same.

    Example:
        >>> round(top_utility([((0,), 100), ((1,), 50)], [((0,), 90.0), ((2,), 60.0)]), 2)
        0.45
    """
    known = dict(released)
    lost = [abs(support - known.get(itemset, 0)) / support for itemset, support in exact]
    return float(1 - np.mean(lost)) if lost else 1.0


class _Index:
    """For each item, the records that hold it as bits; made when first asked for."""

    def __init__(self, transactions: Transactions) -> None:
        records = len(transactions.start) - 1
        size = transactions.schema.transaction_items.size
        self.supports = np.bincount(transactions.codes, minlength=size)
        self._records = records
        order = np.argsort(transactions.codes, kind="stable")
        owner = np.repeat(np.arange(records), np.diff(transactions.start))
        self._held = owner[order]
        self._first = np.concatenate([[0], np.cumsum(self.supports)])
        self._known: dict[int, Bits] = {}

    def bits(self, code: int) -> Bits:
        if code not in self._known:
            held = np.zeros(-(-self._records // 64) * 64, np.bool_)
            held[self._held[self._first[code] : self._first[code + 1]]] = True
            self._known[code] = np.packbits(held, bitorder="little").view(np.uint64)
        return self._known[code]

    def support(self, itemset: Itemset) -> int:
        if not itemset:
            return self._records
        rarest, *others = sorted(itemset, key=lambda code: int(self.supports[code]))
        if not self.supports[rarest]:
            return 0
        held = self.bits(rarest)
        for code in others:
            held = held & self.bits(code)
            if not held.any():
                return 0
        return _ones(held)


def _ones(bits: Bits) -> int:
    return int(np.bitwise_count(bits).sum())


# How good predicted probabilities of the class are. NOT PRIVATE on raw rows.


BINS = 10


@dataclass(frozen=True, kw_only=True)
class Skill:
    """What predictions are worth. NOT PRIVATE.

    Args:
        accuracy: The share of rows whose likeliest class is right, in percent.
        auc: The area under the ROC curve, 0.5 for guesses and 1 at best; with several classes each
            against the rest, weighted by how frequent they are. None if there is one class only.
        recall: For each class, how many of its rows are found, in percent; None if it has none.
        calibration: The expected calibration error, 0 at best: how far the probability that a model
            gives to what it predicts lies from how often that is right, on average.
    """

    accuracy: float
    auc: float | None
    recall: tuple[float | None, ...]
    calibration: float


def skill(chances: Floats, truth: Ints) -> Skill:
    """Compares predicted probabilities with the classes of rows.

    Args:
        chances: The probability of each class, shape [rows, classes].
        truth: The class of each row.

    Example:
        >>> chances = np.array([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.7, 0.3]])
        >>> found = skill(chances, np.array([0, 0, 1, 1]))
        >>> found.accuracy, found.auc, found.recall, round(found.calibration, 2)
        (75.0, 1.0, (100.0, 50.0), 0.35)
    """
    told, sure = chances.argmax(axis=1), chances.max(axis=1)
    right = told == truth
    # ten bins of equal width; their mean gaps, weighted by how many rows they have
    place = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
    gaps = np.bincount(place, weights=right - sure, minlength=BINS)
    recall: list[float | None] = []
    areas, weights = [], []
    for klass in range(chances.shape[1]):
        of = truth == klass
        recall.append(100 * float(right[of].mean()) if of.any() else None)
        if of.any() and not of.all():
            areas.append(area_under_curve(chances[:, klass], of))
            weights.append(of.sum())
    return Skill(
        accuracy=100 * float(right.mean()),
        auc=float(np.average(areas, weights=weights)) if areas else None,
        recall=tuple(recall),
        calibration=float(np.abs(gaps).sum()) / max(1, len(truth)),
    )


def area_under_curve(scores: Floats, positive: Bools) -> float:
    """The chance that a positive row has a higher score than another; ties count half.

    Example:
        >>> area_under_curve(np.array([0.1, 0.4, 0.4, 0.8]), np.array([False, False, True, True]))
        0.875
    """
    values, place, number = np.unique(scores, return_inverse=True, return_counts=True)
    rank = np.cumsum(number) - (number - 1) / 2  # the mean rank among equals
    ones = int(positive.sum())
    above = float(rank[place][positive].sum()) - ones * (ones + 1) / 2
    return above / (ones * (len(scores) - ones))


# One comparison of a release with the raw data each, as plain numbers. NOT PRIVATE.


MOST_CONDITIONS = 4
MOST_ROWS = 50_000  # synthetic rows that are drawn; more take long and change little
TESTED = 20_000  # raw rows that models are tested on, and as many that they learn from
SPLIT = 10_000  # from so many raw rows on a model is trained once, on others than it is tested on
FOLDS = 5
_NAMES: dict[classify.Model, str] = {
    "tree": "decision tree",
    "boosting": "gradient boosting",
}
SANITY = 0.001  # of all records: errors of smaller counts are told relative to so many


@dataclass(frozen=True, kw_only=True)
class Marginal:
    """The shares of an attribute's values, raw and released. NOT PRIVATE.

    Args:
        name: The attribute.
        values: Its values, or steps of numbers.
        raw: The share of each among the raw records.
        released: The same by the release.
        total_variation: Half the sum of all differences: 0 if they are the same, 1 if they have
            nothing in common.
        per_record: How many of the values a raw record has on average: 1, but for items.
    """

    name: str
    values: tuple[str, ...]
    raw: tuple[float, ...]
    released: tuple[float, ...]
    total_variation: float
    per_record: float = 1.0


@dataclass(frozen=True, kw_only=True)
class CountLine:
    """How far some counts are off. NOT PRIVATE.

    Args:
        size: How many conditions they have, or items; None for counts of all sizes.
        queries: How many counts were asked for.
        absolute: The mean error, in records.
        mean: The mean of |estimate - truth| / max(truth, sanity bound).
        median: The median of the same.
        covered: The share whose interval holds the truth.
        width: The median width of these intervals, in records; None if they have no upper end.
    """

    size: int | None
    queries: int
    absolute: float
    mean: float
    median: float
    covered: float
    width: float | None


@dataclass(frozen=True, kw_only=True)
class CountErrors:
    """Errors of random counts. NOT PRIVATE.

    Args:
        lines: By the number of conditions, or of items.
        overall: All together.
        sanity: The sanity bound, in records.
        level: The share of intervals that should hold the truth, at least.
    """

    lines: tuple[CountLine, ...]
    overall: CountLine
    sanity: float
    level: float


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """How well one model tells the class, in percent of raw rows. NOT PRIVATE.

    Args:
        model: Its name in `hedgerow.evaluation.classify.Model`.
        words: What it is called.
        released: Trained on released rows.
        raw: Trained on raw rows other than those it is tested on.
        skill: Recall, AUC and calibration of the first.
        raw_skill: The same of the second; None if there are too few rows.
    """

    model: str
    words: str
    released: float
    raw: float
    skill: Skill
    raw_skill: Skill | None


@dataclass(frozen=True, kw_only=True)
class Classification:
    """How well the class can be told. NOT PRIVATE.

    Args:
        target: The class attribute.
        majority: The share, in percent, of the most frequent class: what no attribute tells.
        regions: What the release itself predicts; None where it predicts nothing.
        models: Models trained on released rows beside the same trained on raw ones; none if
            scikit-learn is not installed.
        rows: On how many raw rows all this was tested.
        classes: Its values.
        margin: By how many percentage points a percentage may be off, at 95%, because a sample of
            the raw rows was tested; 0 if all were.
    """

    target: str
    majority: float
    regions: float | None
    models: tuple[Accuracy, ...]
    rows: int
    classes: tuple[str, ...]
    margin: float = 0.0


@dataclass(frozen=True)
class TopItemsets:
    """How much of the most frequent itemsets is left. NOT PRIVATE.

    Args:
        number: How many, K.
        found: How many of them are among the release's K.
        utility: The DiffPart paper's: 1 if they and their counts are the same.
    """

    number: int
    found: int
    utility: float


def marginals(table: Table, release: Release) -> tuple[Marginal, ...]:
    """Every attribute and the class, raw against released. NOT PRIVATE.

    Args:
        table: The raw table.
        release: A release of a table.
    """
    places = [*range(len(table.schema.attributes)), -1]
    result = []
    for place, spread in zip(places, release.histograms(), strict=False):
        code = np.bincount(table.codes[:, place], minlength=spread.edges[-1])
        raw = np.add.reduceat(code, spread.edges[:-1]).astype(np.float64)
        result.append(_marginal(spread.name, spread.labels, raw, spread.shares))
    return tuple(result)


def item_marginal(transactions: Transactions, release: TransactionsRelease) -> Marginal:
    """How the items of all records are shared out, raw against released. NOT PRIVATE."""
    (spread,) = release.histograms()
    raw = np.bincount(transactions.codes, minlength=len(spread.labels)).astype(np.float64)
    marginal = _marginal(spread.name, spread.labels, raw, spread.shares)
    return replace(marginal, per_record=float(raw.sum()) / max(1, len(transactions.start) - 1))


def _marginal(name: str, values: tuple[str, ...], raw: Any, released: Any) -> Marginal:
    shares = raw / max(1.0, float(raw.sum()))
    return Marginal(
        name=name, values=values, raw=tuple(shares.tolist()), released=tuple(released.tolist()),
        total_variation=float(np.abs(shares - released).sum()) / 2,
    )  # fmt: skip


def count_errors(table: Table, release: Release, number: int, seed: int) -> CountErrors:
    """Random conjunctions of one to four attributes. NOT PRIVATE.

    Args:
        table: The raw table.
        release: A release of a table.
        number: How many, shared out evenly over the numbers of conditions.
        seed: Which ones.
    """
    most = min(MOST_CONDITIONS, len(table.schema.attributes))
    each = max(1, number // most)
    queries: list[Query] = []
    for many in range(1, most + 1):
        queries += random_conjunctions(table.schema, each, (many, many), seed + many)
    sizes = np.repeat(np.arange(1, most + 1), each)
    truth = exact_counts(table, queries)
    return _errors(sizes, truth, release.count(queries), table.codes.shape[0])


def itemset_errors(
    transactions: Transactions, release: TransactionsRelease, number: int, seed: int
) -> CountErrors:
    """Random itemsets of one to four items. NOT PRIVATE.

    Args:
        transactions: The raw transactions.
        release: A release of them.
        number: How many, shared out about evenly over their sizes.
        seed: Which ones.
    """
    sets = random_itemsets(release.items.size, MOST_CONDITIONS, number, seed)
    sizes = np.asarray([len(one) for one in sets], dtype=np.int64)
    truth = exact_supports(transactions, sets).astype(np.float64)
    names = release.items.labels
    answers = release.count([[names[code] for code in one] for one in sets])
    return _errors(sizes, truth, answers, len(transactions.start) - 1)


def _errors(sizes: Ints, truth: Floats, answers: Answers, records: int) -> CountErrors:
    bound = max(1.0, SANITY * records)
    line = partial(error_line, sizes, truth, answers, bound)
    lines = tuple(line(int(size)) for size in np.unique(sizes))
    return CountErrors(lines=lines, overall=line(None), sanity=bound, level=answers.level)


def error_line(
    sizes: Ints, truth: Floats, answers: Answers, bound: float, size: int | None
) -> CountLine:
    """How far counts of one size are off, or all of them.

    Args:
        sizes: The size of each query, or whatever else tells lines apart.
        truth: The true counts.
        answers: What the release says.
        bound: The sanity bound, in records.
        size: Which line; all of them without it.
    """
    these = np.ones(len(sizes), bool) if size is None else sizes == size
    truth, low, high = truth[these], answers.low[these], answers.high[these]
    off = np.abs(answers.estimate[these] - truth)
    relative, width = off / np.maximum(truth, bound), float(np.median(high - low))
    return CountLine(
        size=size, queries=int(these.sum()), absolute=float(off.mean()),
        mean=float(relative.mean()), median=float(np.median(relative)),
        covered=float(((low <= truth) & (truth <= high)).mean()),
        width=width if np.isfinite(width) else None,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ErrorTable:
    """Errors by the number of constrained predictors. NOT PRIVATE.

    Args:
        attributes: The number of constrained predictors of each line.
        queries: How many queries each line is about.
        absolute: The mean absolute error.
        relative: The mean of `|estimate - truth| / max(truth, sanity bound)`.
        median: The median of the same.
        covered: The share of queries whose interval holds the truth.
        sanity: The sanity bound, in records.

    Example:
        >>> print(ErrorTable(attributes=(2,), queries=(200,), absolute=(15.1,), relative=(0.184,),
        ...     median=(0.016,), covered=(0.99,), sanity=2.0).text())
        NOT PRIVATE...
        attributes  queries  mean error  relative   median  covered
                 2      200        15.1     0.184    0.016    99.0%
    """

    attributes: tuple[int, ...]
    queries: tuple[int, ...]
    absolute: tuple[float, ...]
    relative: tuple[float, ...]
    median: tuple[float, ...]
    covered: tuple[float, ...]
    sanity: float

    def text(self) -> str:
        """The table in plain text, marked."""
        head = f"{'attributes':>10} {'queries':>8} {'mean error':>11} {'relative':>9} {'median':>8}"
        lines = [NOT_PRIVATE, head + f" {'covered':>8}"]
        columns = (
            self.attributes, self.queries, self.absolute, self.relative, self.median, self.covered,
        )  # fmt: skip
        for a, q, absolute, relative, median, covered in zip(*columns, strict=True):
            lines.append(
                f"{a:>10} {q:>8} {absolute:>11.1f} {relative:>9.3f} {median:>8.3f} {covered:>8.1%}"
            )
        return "\n".join(lines)


@answer_mistakes
def error_table(
    table: Table, release: Release, queries: Sequence[Query], *, sanity: float = 0.001
) -> ErrorTable:
    """Compares a release's answers with the raw table. NOT PRIVATE.

    Args:
        table: The raw table.
        release: The release.
        queries: What to ask both.
        sanity: The sanity bound of relative errors, as a share of the records.

    Example:
        >>> from hedgerow import data, publish, sample
        >>> people, schema = sample.people(200), sample.schema()
        >>> release = publish(people, schema, "diffgen", epsilon=1)
        >>> queries = random_queries(schema, 10, attributes=2, seed=1)
        >>> error_table(data.read(people, schema), release, queries).queries
        (10,)
    """
    if not isinstance(table, Table):
        raise UsageError(
            f"table cannot be of type {type(table).__name__}.",
            hint="Write hedgerow.data.read(data, schema), after `from hedgerow import data`.",
        )
    truth = exact_counts(table, queries)
    sizes = np.asarray([len(query.where) for query in queries])
    answers = release.count(list(queries))
    bound = max(1.0, sanity * table.codes.shape[0])
    lines = [error_line(sizes, truth, answers, bound, int(size)) for size in np.unique(sizes)]
    names = {"attributes": "size", "relative": "mean"}
    columns: dict[str, Any] = {
        name: tuple(getattr(line, names.get(name, name)) for line in lines)
        for name in ("attributes", "queries", "absolute", "relative", "median", "covered")
    }
    return ErrorTable(**columns, sanity=bound)


def top_errors(
    transactions: Transactions, release: TransactionsRelease, numbers: tuple[int, ...]
) -> tuple[TopItemsets, ...]:
    """The most frequent itemsets of both. NOT PRIVATE.

    Args:
        transactions: The raw transactions.
        release: A release of them.
        numbers: How many itemsets to look at, for each line.
    """
    exact = top_itemsets(transactions, max(numbers))
    listed = release.frequent(max(numbers), kind="arrow")
    codes = {label: code for code, label in enumerate(release.items.labels)}
    told = [
        (tuple(sorted(codes[item] for item in row["items"])), max(0.0, row["estimate"]))
        for row in listed.to_pylist()
    ]
    lines = []
    for number in numbers:
        if exact[:number] and (number == min(numbers) or number <= len(exact)):
            both = {one for one, _ in exact[:number]} & {one for one, _ in told[:number]}
            utility = top_utility(exact[:number], told[:number])
            lines.append(TopItemsets(number, len(both), utility))
    return tuple(lines)


def classification(
    table: Table,
    release: Release,
    made: Ints,
    seed: int,
    models: tuple[classify.Model, ...],
    most: int = TESTED,
    progress: Callable[[float], None] = lambda _: None,
) -> Classification:
    """How well the class of raw rows can be told from the release. NOT PRIVATE.

    Models are trained on synthetic rows of the release and tested on raw rows. The raw rows are
    the ones that were published, so a release gets the benefit of having seen them: by little,
    since that is what its guarantee bounds. The same models trained on raw rows are never tested
    on the rows they learnt from: they learn from as many others or, where the table is small, each
    fifth is told by what was learnt from the rest.

    Args:
        table: The raw table; its schema has a class.
        release: A release of it.
        made: Synthetic rows of the release, as codes.
        seed: Which rows are drawn, and how they are divided.
        models: Which models; none without scikit-learn.
        most: On how many raw rows models are tested at most, and from how many they learn.
        progress: Called now and then with the share that is done.
    """
    schema = table.schema
    assert schema.target is not None
    random = np.random.default_rng(seed)
    records = table.codes.shape[0]
    once = records >= SPLIT
    tested = min(most, records // 2 if once else records)
    order = random.permutation(records)
    rows, others = (
        table.codes[part].astype(np.int64) for part in (order[:tested], order[tested : 2 * tested])
    )
    truth = rows[:, -1]
    majority = np.bincount(table.codes[:, -1]).argmax()
    guess = release.majority(rows[:, :-1])
    regions = None if guess is None else 100 * float(np.mean(guess == truth))
    learnt = made[random.permutation(len(made))[:tested]]
    # whom each model from raw rows learns from, and whom it is tested on
    splits = [(others, np.ones(tested, bool))]
    if not once:
        folds = np.arange(tested) % FOLDS  # the rows are in random order already
        splits = [(rows[folds != fold], folds == fold) for fold in range(FOLDS)]
    accuracies = []
    for number, model in enumerate(models):
        told = skill(classify.chances(learnt, rows, schema, model), truth)
        progress((number + 0.5) / len(models))
        other = None
        if tested >= 2 * FOLDS:
            chances = np.zeros((tested, len(schema.classes)))
            for train, inside in splits:
                chances[inside] = classify.chances(train, rows[inside], schema, model)
            other = skill(chances, truth)
        accuracies.append(Accuracy(
            model=model, words=_NAMES[model], released=told.accuracy,
            raw=0.0 if other is None else other.accuracy, skill=told, raw_skill=other,
        ))  # fmt: skip
        progress((number + 1) / len(models))
    # of a share drawn without replacement; one half has the largest variance
    left = (records - tested) / max(1, records - 1)
    return Classification(
        target=schema.target.name, majority=100 * float(np.mean(truth == majority)),
        regions=regions, models=tuple(accuracies), rows=tested, classes=schema.classes,
        margin=98 * float(np.sqrt(left / tested)),
    )  # fmt: skip


def synthetic_codes(release: Release, number: int, seed: int) -> Ints:
    """The codes of synthetic rows of a release, the class last."""
    rows = release.synthesize(number, seed=seed, kind="arrow")
    return read(rows, _forgiving(release.schema)).codes.astype(np.int64)


def _forgiving(schema: Schema) -> Schema:
    """The schema of rows that were drawn: nobody's, and null where a number is "other"."""
    attributes = tuple(
        replace(attribute, missing="other")
        if isinstance(attribute, Numeric) and attribute.has_other
        else attribute
        for attribute in schema.attributes
    )
    return replace(
        schema, attributes=attributes, person=None, identifiers=(), is_draft=False, unit="row"
    )
