"""The graphical model of a release: the likeliest records that noisy tables allow.

Of all distributions, the model is the one of most entropy that agrees with the noisy tables as far
as their noise allows (Private-PGM: McKenna, Sheldon and Miklau 2019). With tables y_t of noise s_t,
n records and a reference q it is the p that minimizes

    sum_t |n M_t p - y_t|^2 / (2 s_t^2 lambda_t) + n KL(p || q),

where M_t p is the table that p expects. Small lambdas trust the tables, and with lambda = 0 noise
would be fitted as if it were fact: a cell that holds next to nothing must be allowed to. The dual
problem has one parameter for each noisy number, is smooth and strictly convex,

    n log sum q exp(sum_t theta_t) - theta y + sum_t lambda_t s_t^2 |theta_t|^2 / 2,

and its gradient M p n - y + lambda s^2 theta needs the marginals alone, which a junction tree gives
(`junction`). L-BFGS finds the minimum; where the gradient is a small part of the noise, the model
has converged.

The reference has the single attributes, after most of their noise was taken out (`denoise`), and is
0 where a rule of the schema says that nobody can be. So no estimate and no row breaks a rule. It is
next to 0 where many would be in a cell of a pair, were its attributes independent, but nobody was
seen: the noise of such cells would else become people who cannot be.

Counts, tables, rows, class probabilities, means and quantiles all come from rows that stand for the
records: drawn from the model along its junction tree, so evenly that they hardly differ from it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import chain, combinations, islice, pairwise, product
from math import floor, prod
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Floats, Ints
from hedgerow.estimate.cells import project
from hedgerow.estimate.junction import Detail, Factor, JunctionTree, sort_labels
from hedgerow.estimate.queries import of_class
from hedgerow.estimate.tables import Tables, covered, own_codes
from hedgerow.schema import Categorical
from hedgerow.store.untrusted import broken

if TYPE_CHECKING:
    from hedgerow.schema.query import Intervals, Query


# Rows as bits, in which very many conjunctions are counted.
#
# Rows stand 64 to a word. For every column there are bitmaps that tell which rows lie below a code,
# so that each condition is the exclusive or of a few of them, a query is the conjunction of its
# conditions, and its count is the number of bits. Reading a release must not compile anything, so
# all of it is NumPy on arrays of words.

Words = NDArray[np.uint64]

WORD = 64
_MOST_BYTES = 1 << 27  # of all bitmaps; beyond, they are fewer and conditions need more of them
_BATCH = 4096  # queries that are read at a time
_DUST = 1e-9  # code units that are rounding errors of the query's bounds


class Bitmaps:
    """Rows to count in, each of which stands for as many records as any other.

    Args:
        codes: The rows, [rows, columns]; the class, if there is one, is the last column.
        weight: How many records a row stands for.
        sizes: How many codes each column has.

    Example:
        >>> from hedgerow.schema.query import Query
        >>> rows = Bitmaps(np.array([[0, 5], [1, 6], [1, 7]]), 2.0, [2, 8])
        >>> rows.count([Query(((0, ((1.0, 2.0),)),)), Query(((1, ((5.0, 6.5),)),))]).tolist()
        [4.0, 3.0]
    """

    def __init__(self, codes: Ints, weight: float, sizes: Sequence[int]) -> None:
        self._codes, self._weight, self._columns = codes, weight, len(sizes)
        everybody = np.zeros(-(-len(codes) // WORD) * WORD, np.bool_)
        everybody[: len(codes)] = True
        packed = np.packbits(everybody, bitorder="little")
        self._everybody: Words = packed.view("<u8").astype(np.uint64)
        self._levels, most = 1, _MOST_BYTES // self._everybody.nbytes
        while self._levels < WORD and most < sum(
            int(self._levels * (size ** (1 / self._levels) + 2)) for size in sizes
        ):
            self._levels += 1
        self._below: dict[int, tuple[Ints, Callable[[int], Words]]] = {}

    def count(self, queries: Sequence[Query]) -> Floats:
        """How many records the rows stand for that meet each query."""
        counts = np.zeros(len(queries))
        for start in range(0, len(queries), _BATCH):
            terms = _terms(queries[start : start + _BATCH], self._columns - 1)
            bitmaps = iter(self._of_conditions(list(chain.from_iterable(terms[0]))))
            for several, owner, part in zip(*terms, strict=True):
                asked = list(islice(bitmaps, len(several)))
                if all(asked):  # else nobody has any of the codes
                    masks = (reduce(np.bitwise_xor, one) for one in asked)
                    met = reduce(np.bitwise_and, masks, self._everybody)
                    number = np.bitwise_count(met).sum(dtype=np.int64)
                    counts[start + owner] += number * (part * self._weight)
        return counts

    def _of_conditions(self, conditions: list[tuple[int, Intervals]]) -> list[list[Words]]:
        """The bitmaps of each condition, the exclusive or of which are the rows that meet it."""
        places = np.fromiter(map(itemgetter(0), conditions), np.int64, len(conditions))
        many = 2 * np.fromiter(map(len, map(itemgetter(1), conditions)), np.int64, len(places))
        ends = _ends(conditions).astype(np.int64)
        begin = np.cumsum(many) - many
        bitmaps: list[list[Words]] = [[]] * len(conditions)
        for place in np.unique(places[many > 0]).tolist():
            here = np.flatnonzero((places == place) & (many > 0))
            if place not in self._below:
                codes = np.ascontiguousarray(self._codes[:, place])
                self._below[place] = _below(codes, len(self._everybody), self._levels)
            known, below = self._below[place]
            stops = np.cumsum(many[here])
            mine = np.repeat(begin[here] - stops + many[here], many[here])
            rank = np.searchsorted(known, ends[mine + np.arange(len(mine))]).tolist()
            starts = (stops - many[here]).tolist()
            for at, start, stop in zip(here.tolist(), starts, stops.tolist(), strict=True):
                bitmaps[at] = [below(one) for one in rank[start:stop] if one]
        return bitmaps


def _below(codes: Ints, words: int, levels: int) -> tuple[Ints, Callable[[int], Words]]:
    """The codes that rows have, and bitmaps of the rows below each of them, by its rank.

    Args:
        codes: The code of each row.
        words: How many words the rows fill.
        levels: How many digits a rank has, each with bitmaps of its own, at most.
    """
    there = np.bincount(codes) > 0
    known, rank = np.flatnonzero(there), (np.cumsum(there) - 1)[codes]
    number = len(known) + 1
    levels = min(levels, number.bit_length())
    base = max(2, int(np.ceil(number ** (1 / levels))))
    while base**levels < number:
        base += 1
    digits = []
    word = np.arange(words)
    for level in range(levels):
        digit = rank // base**level % base
        below = np.zeros((min(base, number) + 1, words), np.uint64)
        for bit in range(WORD):  # one row of each word
            several = digit[bit::WORD] + 1
            below[several, word[: len(several)]] |= np.uint64(1 << bit)
        digits.append(list(np.bitwise_or.accumulate(below, axis=0, out=below)))
    if levels == 1:
        return known, digits[0].__getitem__

    def up_to(rank: int) -> Words:
        """The rows with a lower rank: with a lower first digit, or the same one and so on."""
        met = np.zeros(words, np.uint64)
        for below in digits:
            rank, digit = divmod(rank, base)
            met = below[digit] ^ ((below[digit] ^ below[digit + 1]) & met)
        return met

    return known, up_to


def _terms(
    queries: Sequence[Query], last: int
) -> tuple[list[tuple[tuple[int, Intervals], ...]], list[int], list[float]]:
    """Conjunctions of whole codes, the query that each belongs to, and what it counts for.

    Args:
        queries: The queries.
        last: The column of the class.
    """
    several = [query.where + of_class(query, last) for query in queries]
    ends = _ends(chain.from_iterable(several))
    if np.array_equal(ends, np.floor(ends)):
        return several, list(range(len(queries))), [1.0] * len(queries)
    conditions: list[tuple[tuple[int, Intervals], ...]] = []
    owners: list[int] = []
    parts: list[float] = []
    for number, where in enumerate(several):
        levels = [[(place, *one) for one in _levels(intervals)] for place, intervals in where]
        for term in product(*levels):
            conditions.append(tuple((place, intervals) for place, _, intervals in term))
            owners.append(number)
            parts.append(prod(part for _, part, _ in term))
    return conditions, owners, parts


def _ends(conditions: Iterable[tuple[int, Intervals]]) -> Floats:
    """The ends of all intervals, one after the other."""
    each = chain.from_iterable
    return np.fromiter(each(each(map(itemgetter(1), conditions))), np.float64)


def _levels(intervals: Intervals) -> list[tuple[float, Intervals]]:
    """Codes that are covered alike, and how far."""
    wholly: list[tuple[float, float]] = []
    partly: dict[int, float] = {}
    for low, high in intervals:
        first, last = (round(end) if abs(end - round(end)) < _DUST else end for end in (low, high))
        begin, end = -floor(-first), floor(last)
        if begin < end:
            wholly.append((float(begin), float(end)))
        for code in {floor(first), end} - {*range(begin, end)} if begin <= end else {end}:
            part = min(last, code + 1) - max(first, code)
            if part > _DUST:
                partly[code] = min(1.0, partly.get(code, 0.0) + part)
    levels: list[tuple[float, Intervals]] = [(1.0, tuple(wholly))] if wholly else []
    levels += [(part, ((float(code), float(code + 1)),)) for code, part in partly.items()]
    return levels


# One-way tables without most of their noise.
#
# A table with many empty cells is mostly noise: each of them holds some, and together they draw
# records away from the others. So where most cells lie within the noise, only those that stand out
# are believed, and the few records that are then missing are laid where they are likely. A cell of
# one value that may hold very many records, or none, whatever its neighbors hold (the lowest one,
# 0, a common one, "other") is always believed.


LEAST = 1e-6  # no cell is quite impossible: the noise hides small ones
_STANDS_OUT = 2.5  # standard deviations
_MOST_SMALL = 0.6  # of the cells, for a table that is believed as it is
_FALL = 4.0  # from one cell to the next, beside those that stand out


def denoise(
    counts: Floats,
    total: float,
    noise: float,
    *,
    ordered: bool,
    own: Bools | None = None,
) -> Floats:
    """Counts of cells that are not negative and add up to a total.

    Args:
        counts: The noisy counts.
        total: What they add up to, above 0.
        noise: The standard deviation of the noise of each.
        ordered: Whether neighboring cells are alike, as those of numbers are.
        own: Cells of a value that neighbors say nothing about, such as 0 or "other": they keep
            their own noisy count, however small it is.

    Example:
        >>> denoise(np.array([60.0, 41.0]), 100.0, 1.0, ordered=True).tolist()
        [59.5, 40.5]
        >>> noisy = np.array([101.0, 5.0, -5.0, -1.0])
        >>> denoise(noisy, 100.0, 4.0, ordered=False).round(6).tolist()
        [100.0, 0.0, 0.0, 0.0]
        >>> denoise(noisy, 100.0, 4.0, ordered=False, own=noisy == 5).round(1).tolist()
        [95.3, 4.7, 0.0, 0.0]
    """
    counts = counts + (total - counts.sum()) / len(counts)
    small = counts < _STANDS_OUT * noise
    rest = np.ones(len(counts), np.bool_) if own is None else ~own
    if small.sum() <= _MOST_SMALL * len(counts):
        kept = np.where(rest, 0.0, np.maximum(counts, 0.0))
        left = max(total - float(kept.sum()), LEAST)
        kept[rest] = project(counts[rest], np.ones(rest.sum()), left)
        return np.asarray(kept * (total / kept.sum()))
    beside = np.flatnonzero(~small)
    small &= rest
    kept = np.where(small, 0.0, np.maximum(counts, 0.0))
    missing = total - float(kept.sum())
    if not kept.any():
        return np.full(len(counts), total / len(counts))
    if missing > 0 and small.any():
        # what the kept cells' own noise may have made
        made = noise**2 * (len(counts) - small.sum())
        missing *= max(0.0, 1 - float(made) / missing**2)
        likely = small.astype(np.float64)
        if ordered and len(beside):
            apart = np.abs(np.arange(len(counts))[:, None] - beside).min(axis=1)
            likely *= _FALL**-apart
        kept += missing * likely / likely.sum()
    return np.asarray(kept * (total / kept.sum()))


TRUST, MOST_TRUST = 0.5, 0.01  # lambda, for noise of deviation s: TRUST / s, at most MOST_TRUST
CONVERGED = 0.02  # of the noise: the root mean square of the gradient
MOST_STEPS, MEMORY = 1000, 50
STAND_INS, PER_RECORD, FEWEST = 150_000, 10, 20_000
MOST_MODEL = 1 << 21  # cells of all cliques; a release from anybody may claim any tables
_IMPOSSIBLE = -1e6  # a logit
# deviations of a pair's noise: at least expected, fewer than counted; and what is left of the cell
MANY, NOBODY, _LEFT = 3.0, 2.0, 1e-3
_NOBODY = 1e-300  # records: far below any that a factor can make


@dataclass(frozen=True, eq=False, kw_only=True)
class GraphicalModel:
    """A fitted model.

    Args:
        tables: What it was fitted to.
        tree: Its junction tree.
        mass: How many records lie in each cell of each clique.
        codes: How the records of each cell of an attribute are spread over its codes.
        steps: How many steps the fit took.
        left: The root mean square of what the gradient had left, in parts of the noise.
    """

    tables: Tables
    tree: JunctionTree
    mass: Floats
    codes: tuple[Floats, ...]
    steps: int
    left: float
    theta: Floats = field(default_factory=lambda: np.empty(0))

    def marginal(self, columns: Sequence[int]) -> Floats:
        """The table of the groups of some columns that lie together in a clique."""
        factor = self.tree.factor(columns)
        here = self.mass[self.tree.start[factor.clique] : self.tree.start[factor.clique + 1]]
        table = np.bincount(factor.index, here, factor.cells).astype(np.float64)
        return table.reshape([self.tree.sizes[c] for c in columns])

    def draw_groups(self, rows: int, seed: int) -> list[Ints]:
        """The groups of so many rows, by column: a function of the model and the seed."""
        return self.tree.draw(self.mass, rows, np.random.default_rng(seed), details=False)[0]

    def draw(self, rows: int, random: np.random.Generator) -> list[Ints]:
        """So many rows in random order: columns of codes, the class last."""
        groups, cells = self.tree.draw(self.mass, rows, random)
        columns = [
            _codes_of(edges, spread, cells[a], random)
            for a, (edges, spread) in enumerate(
                zip(self.tables.cells.edges, self.codes, strict=True)
            )
        ]
        order = random.permutation(rows)
        return [column[order] for column in columns + groups[len(columns) :]]

    @cached_property
    def stand_ins(self) -> list[Ints]:
        """Rows that stand for the records, each for as many as any other."""
        rows = min(STAND_INS, max(FEWEST, int(PER_RECORD * self.tables.number)))
        return self.draw(rows, np.random.default_rng(0))

    @cached_property
    def _bitmaps(self) -> Bitmaps:
        columns = self.stand_ins
        sizes = [*map(len, self.codes), self.tables.cells.classes][: len(columns)]
        weight = self.tables.number / len(columns[0])
        return Bitmaps(np.stack(columns, axis=1), weight, sizes)

    def count(self, queries: Sequence[Query]) -> Floats:
        """How many records meet each query."""
        return self._bitmaps.count(queries)

    def probabilities(self, codes: Ints) -> Floats:
        """The probability of each class for records of codes, [records, classes].

        Given a record, the class depends on the factors that hold it: those of the cliques with
        the class, less those of what these share with the cliques that they hang on.

        Args:
            codes: [records, attributes].
        """
        cells, last = self.tables.cells, self.tables.cells.attributes
        lookups = cells.parts(range(last))
        cell = [lookups[a][codes[:, a]] for a in range(last)]
        group = [cells.group[a][cell[a]] for a in range(last)]
        logits = np.zeros((len(codes), cells.classes))
        for c, clique in enumerate(self.tree.cliques):
            if last not in clique:
                continue
            here = self.mass[self.tree.start[c] : self.tree.start[c + 1]]
            table = here.reshape(self.tree.shapes[c])
            detail = self.tree.details[c][0] if c in self.tree.details else -1
            places = tuple(
                slice(None) if v == last else cell[v] if v == detail else group[v] for v in clique
            )
            logits += np.log(np.maximum(_by_class(table, places, clique.index(last)), _NOBODY))
            shared = self.tree.shared[c]
            if last in shared:
                axes = [clique.index(v) for v in shared]
                if detail in shared:
                    message = self.marginal(shared)
                else:
                    others = tuple(x for x in range(len(clique)) if x not in axes)
                    message = table.sum(axis=others)
                places = tuple(slice(None) if v == last else group[v] for v in shared)
                logits -= np.log(
                    np.maximum(_by_class(message, places, shared.index(last)), _NOBODY)
                )
        rules = self.tables.schema.rules
        if any(query.classes is not None for rule in rules for query in rule.impossible):
            for k in range(cells.classes):  # masses that are next to nothing may hide a rule
                broken = self.tables.schema.breaks_rules(codes, np.full(len(codes), k))
                logits[broken, k] += _IMPOSSIBLE
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def _by_class(table: Floats, places: tuple[Ints | slice, ...], axis: int) -> Floats:
    """The cells of records in a table, one for each class: [records, classes]."""
    turned = np.moveaxis(table, axis, -1)
    index = tuple(place for place in places if not isinstance(place, slice))
    return np.asarray(turned[index]) if index else np.asarray(turned[None, :])


def _codes_of(edges: Ints, spread: Floats, cells: Ints, random: np.random.Generator) -> Ints:
    """Codes inside cells, as evenly as their masses allow."""
    if len(edges) - 1 == len(spread):
        return cells
    ends = np.concatenate([[0.0], np.cumsum(spread)])
    shuffled = random.permutation(len(cells))
    order = shuffled[sort_labels(cells[shuffled], len(edges) - 1)]
    cell = cells[order]
    many = np.bincount(cell, minlength=len(edges) - 1)
    rank = np.arange(len(cells)) - (np.cumsum(many) - many)[cell]
    share = (rank + random.random(len(many))[cell]) / many[cell]
    low, high = ends[edges[:-1]][cell], ends[edges[1:]][cell]
    place = np.searchsorted(ends, low + share * (high - low), side="right") - 1
    codes = np.empty(len(cells), np.int64)
    codes[order] = np.clip(place, edges[:-1][cell], edges[1:][cell] - 1)
    return codes


def fit_model(
    tables: Tables,
    warm: GraphicalModel | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> GraphicalModel:
    """Fits the model to everything that was measured.

    Args:
        tables: The tables.
        warm: A model of some of the first of these tables, to begin from.
        progress: Called now and then with about the share that is done.
    """
    forbidden = impossible_cells(tables)
    cells, last = tables.cells, tables.cells.attributes
    with_class = {t.columns[0] for t in tables.tables if t.columns[1:] == (last,)}
    sets = [t.columns for t in tables.tables if t.grouped or t.kind == "named"]
    if with_class:  # what meets a class table does so for each class
        sets = [tuple({*one, last}) for one in sets]
    sets += [columns for columns, _ in forbidden]
    details = {
        a: Detail(cells.group[a], (last,) if a in with_class else ())
        for a in range(cells.attributes)
    }
    tree = JunctionTree.of(
        cells.groups, [*sets, *((c,) for c in range(len(cells.groups)))], details
    )
    if tree.cells > MOST_MODEL:
        raise broken("measurements.parquet", "its tables hang together in too large a model")
    factors = []
    for table in tables.tables:
        if table.grouped or table.kind == "named" or table.columns == (last,):
            factors.append(tree.factor(table.columns))
        else:
            factors.append(tree.detail_factor(table.columns[0], table.columns[1:]))
    dual = _Dual(tables, tree, factors, _reference(tables, tree, factors, forbidden))
    begin = np.empty(0) if warm is None else warm.theta
    theta, mass, steps, left = _minimize(dual, begin, progress)
    spreads = tuple(_spread_of(tables, a) for a in range(last))
    return GraphicalModel(
        tables=tables, tree=tree, mass=mass, codes=spreads, steps=steps, left=left, theta=theta
    )


def impossible_cells(tables: Tables) -> list[tuple[tuple[int, ...], Ints]]:
    """What rules of the schema forbid: columns, and which of their groups nobody is in.

    A group is forbidden where a whole conjunction is; cells follow the rules' bounds, and groups
    never join what a rule tells apart, so nothing is forbidden in part.
    """
    cells, last = tables.cells, tables.cells.attributes
    forbidden = []
    for rule in tables.schema.rules:
        for query in rule.impossible:
            columns, hit = [], []
            for place, intervals in query.where:
                inside = covered(cells.edges[place], intervals)
                columns.append(place)
                hit.append(np.bincount(cells.group[place], ~inside, cells.groups[place]) == 0)
            if query.classes is not None:
                columns.append(last)
                hit.append(np.isin(np.arange(cells.classes), query.classes))
            met = hit[0]
            for one in hit[1:]:
                met = np.multiply.outer(met, one)
            forbidden.append((tuple(columns), met))
    return forbidden


def _reference(
    tables: Tables,
    tree: JunctionTree,
    factors: Sequence[Factor],
    forbidden: Sequence[tuple[tuple[int, ...], Ints]],
) -> Floats:
    """The logarithm of the reference in each cell of each clique."""
    logits, shares = np.zeros(int(tree.start[-1])), []

    def add(factor: Factor, each: Floats) -> None:
        logits[tree.start[factor.clique] : tree.start[factor.clique + 1]] += each[factor.index]

    for a in range(tables.cells.attributes):
        mass = denoised(tables, a)
        mass /= mass.sum()
        shares.append(np.bincount(tables.cells.group[a], mass))
        add(tree.detail_factor(a), np.log(mass))
    for table, factor in zip(tables.tables, factors, strict=True):
        if table.grouped and max(table.columns) < len(shares):
            one, other = (shares[column] for column in table.columns)
            noise = math.sqrt(table.variance)
            empty = tables.number * np.outer(one, other) > MANY * noise
            empty &= table.values < NOBODY * noise
            add(factor, np.where(empty.ravel(), math.log(_LEFT), 0.0))
    for columns, met in forbidden:
        add(tree.factor(columns), np.where(met.ravel(), _IMPOSSIBLE, 0.0))
    return logits


def denoised(tables: Tables, attribute: int) -> Floats:
    """How many records lie in each cell of an attribute, without most of the noise."""
    cells, known = tables.cells, tables.single[attribute]
    edges = cells.edges[attribute]
    if known is None:
        return np.diff(edges) * (tables.number / int(edges[-1]))
    one = tables.schema.attributes[attribute]
    alone = np.isin(edges[:-1], list(own_codes(one))) & (np.diff(edges) == 1)
    counts, variance = known
    return LEAST + denoise(
        counts,
        tables.number,
        math.sqrt(variance),
        ordered=not isinstance(one, Categorical),
        own=alone,
    )


def _spread_of(tables: Tables, attribute: int) -> Floats:
    """How the records of each cell are spread over its codes; each cell adds up to 1."""
    edges = tables.cells.edges[attribute]
    widths = np.diff(edges)
    spread = np.repeat(1 / widths, widths)
    for (place, cell), parts in tables.parts.items():
        if place == attribute:
            noise = math.sqrt(parts.noise * parts.weight)
            mass = denoise(parts.shares, 1.0, noise, ordered=True) + LEAST**2
            wide = np.diff(parts.edges)
            inside = np.repeat(mass / wide, wide)
            spread[edges[cell] : edges[cell + 1]] = inside / inside.sum()
    return spread


class _Dual:
    """The dual problem, of which one value costs two passes along the tree.

    How it curves is known about: by what each number expects, and by what margins expect that
    several tables have. Such a margin moves whichever of the tables it is put down to, and only
    lambda s^2 tells them apart: without it steps would be small in one direction and many in the
    other. So a step is solved for single numbers and, besides, for every margin of several tables.
    """

    def __init__(
        self, tables: Tables, tree: JunctionTree, factors: Sequence[Factor], reference: Floats
    ) -> None:
        self.tree, self.reference, self.total = tree, reference, tables.number
        ends = np.cumsum([0, *(factor.cells for factor in factors)])
        start = tree.start
        # of each cell of a clique that a factor touches, its place and that of the number
        self.place = np.concatenate(
            [np.arange(start[f.clique], start[f.clique + 1]) for f in factors]
        )
        self.number = np.concatenate([f.index + end for f, end in zip(factors, ends, strict=False)])
        self.deviation = np.concatenate(
            [np.full(t.values.size, math.sqrt(t.variance)) for t in tables.tables]
        )
        trust = np.minimum(MOST_TRUST, TRUST / self.deviation)
        self.weight = trust * self.deviation**2
        # what a rule forbids is not fitted, whatever its noise says
        possible = np.bincount(self.number, reference[self.place] > _IMPOSSIBLE / 2) > 0
        self.free = possible.astype(np.float64)
        # every table adds up to the number of records: its own total says no more of the model
        self.y = self.free * np.concatenate([t.values.ravel() for t in tables.tables])
        for begin, end in pairwise(ends.tolist()):
            free = self.free[begin:end]
            self.y[begin:end] += free * (self.total - self.y[begin:end].sum()) / free.sum()
        # of each number that lies in such a margin, its place and that of the sum it belongs to; of
        # each sum its cell of the margin; the sums of one table of each margin
        numbers, sums, margins, one = [], [], [], []
        taken = filled = 0
        for same in _shared_margins(tables, ends.tolist()).values():
            size = max(int(label.max()) for _, label in same) + 1
            for first, label in same:
                numbers.append(np.arange(first, first + len(label)))
                sums.append(label + taken)
                margins.append(np.arange(filled, filled + size))
                one.append(np.full(size, label is same[0][1]))
                taken += size
            filled += size
        self.of_margins, self.sums, self.margins, self.first = map(
            _joined, (numbers, sums, margins, one)
        )
        known = np.bincount(self.sums, (self.weight * self.free)[self.of_margins], taken)
        self.loose = np.where(known > 0, known, 1.0)

    def value(self, theta: Floats) -> tuple[float, Floats, Floats, Floats]:
        """The value, its gradient, the tables that the model expects, and the marginals."""
        logits = self.reference + np.bincount(self.place, theta[self.number], len(self.reference))
        mass, log_normalizer = self.tree.calibrate(logits, self.total)
        expected = np.bincount(self.number, mass[self.place], len(self.y)).astype(np.float64)
        value = self.total * log_normalizer - _dot(theta, self.y)
        value += 0.5 * _dot(self.weight * theta, theta)
        gradient = self.free * (expected - self.y + self.weight * theta)
        return value, gradient, expected, mass

    def solve(self, expected: Floats) -> Callable[[Floats], Floats]:
        """What a gradient is divided by, about, where the model expects these tables.

        In a margin with e records in a cell and loose ends d_t in its tables, the curvature is
        e + d_t on the diagonal and e beside it, which is solved in closed form.
        """
        alone = np.maximum(expected, 0.5) + self.weight
        sums = np.bincount(self.sums, expected[self.of_margins], len(self.loose))
        there = np.bincount(self.margins[self.first], sums[self.first])
        whole = 1 + there * np.bincount(self.margins, 1 / self.loose)

        def divide(gradient: Floats) -> Floats:
            sums = np.bincount(self.sums, gradient[self.of_margins], len(self.loose))
            common = there * np.bincount(self.margins, sums / self.loose) / whole
            each = (sums - common[self.margins]) / self.loose
            shifts = np.bincount(self.of_margins, each[self.sums], len(gradient))
            return np.asarray(gradient / alone + self.free * shifts)

        return divide


def _shared_margins(
    tables: Tables, starts: Sequence[int]
) -> dict[tuple[int, ...], list[tuple[int, Ints]]]:
    """The margins that several tables have: where each begins, and its cells' margin cells."""
    cells, margins = tables.cells, defaultdict(list)
    for table, start in zip(tables.tables, starts, strict=False):
        places = np.indices(table.values.shape).reshape(table.values.ndim, -1)
        groups = {
            c: place if table.values.shape[axis] == cells.groups[c] else cells.group[c][place]
            for axis, (c, place) in enumerate(zip(table.columns, places, strict=True))
        }
        for several in range(1, len(groups) + 1):
            for columns in combinations(sorted(groups), several):
                label = np.zeros(table.values.size, np.int64)
                for c in columns:
                    label = label * cells.groups[c] + groups[c]
                margins[columns].append((start, label))
    return {columns: same for columns, same in margins.items() if len(same) > 1}


def _joined(parts: Sequence[Ints]) -> Ints:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _minimize(
    dual: _Dual, begin: Floats, progress: Callable[[float], None]
) -> tuple[Floats, Floats, int, float]:
    """L-BFGS (Liu and Nocedal 1989), scaled by how the problem is known to curve.

    What the gradient has left falls about evenly on a logarithmic scale, which tells the progress.

    Returns:
        The parameters, the marginals, how many steps it took, and what the gradient has left.
    """
    theta = np.zeros(len(dual.y))
    theta[: len(begin)] = begin[: len(theta)]
    value, gradient, expected, mass = dual.value(theta)
    memory: list[tuple[Floats, Floats, float]] = []
    most, done = 0.0, 0.0
    for step in range(MOST_STEPS):
        left = float(np.sqrt(np.mean((gradient / dual.deviation) ** 2)))
        if left < CONVERGED:
            return theta, mass, step, left
        most = max(most, left, 2 * CONVERGED)
        done = max(done, math.log(most / left) / math.log(most / CONVERGED))
        progress(done)
        direction = _direction(gradient, memory, dual.solve(expected))
        slope, length = _dot(gradient, direction), 1.0
        for _ in range(20):
            tried = theta + length * direction
            now = dual.value(tried)
            if now[0] <= value + 1e-4 * length * slope + 1e-10 * abs(value):
                break
            # where the slope, which rises about evenly, would be 0
            rise = _dot(now[1], direction) - slope
            length *= min(0.5, max(0.1, -slope / rise)) if rise > 0 else 0.5
        else:
            return theta, mass, step, left
        moved, turned = tried - theta, now[1] - gradient
        curvature = _dot(moved, turned)
        if curvature > 0:
            memory = [*memory[1 - MEMORY :], (moved, turned, 1 / curvature)]
        theta, (value, gradient, expected, mass) = tried, now
    return theta, mass, MOST_STEPS, left


def _direction(
    gradient: Floats,
    memory: Sequence[tuple[Floats, Floats, float]],
    divide: Callable[[Floats], Floats],
) -> Floats:
    """The two loops of L-BFGS."""
    direction = -gradient
    taken = []
    for moved, turned, inverse in reversed(memory):
        share = inverse * _dot(moved, direction)
        taken.append(share)
        direction = direction - share * turned
    direction = divide(direction)
    if memory:  # what is known twice, for numbers and margins, would make steps too long
        _, turned, inverse = memory[-1]
        direction *= min(1.0, 1 / (inverse * _dot(turned, divide(turned))))
    for (moved, turned, inverse), share in zip(memory, reversed(taken), strict=True):
        direction = direction + (share - inverse * _dot(turned, direction)) * moved
    return direction


def _dot(one: Floats, other: Floats) -> float:
    """The inner product, without the threads of a library that would wait for each other."""
    return float(np.einsum("i,i->", one, other))
