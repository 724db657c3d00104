"""The scores by which a value is chosen for specialization, each beside its sensitivity.

Scores are integers (some in fixed point), so selection is exact. `score_range` is the largest
difference between the changes of two candidates' scores when one record is added: a selection with
rate r costs r * score_range. The proofs are in docs/algorithms/scores.md.

All scores but `max` are gains: what a division adds to that of the region as it is. Penalties of
different values say nothing about which to divide: the value that is smallest already has least.
The papers compare them all the same, and their schedules do so here.

The compiled loops that score candidates come first, with the arithmetic of each score in whole
numbers. Called as plain Python, with Python's integers, the arithmetic of single parts is exact at
any size, but for the roots of `purity`: `exact_total` leans on that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.arrays import Ints, Small
from hedgerow.compiled import NEVER, helper, kernel
from hedgerow.counting.engine import Domain, Histograms
from hedgerow.errors import UsageError
from hedgerow.privacy.sampler import Candidates
from hedgerow.registry import SCORES as SCORES

# The compiled loops.

KERNELS = range(6)
_MAX, _NCP, _DISCERNIBILITY, _GINI, _INFOGAIN, _PURITY = KERNELS
NCP_BITS, RATIO_BITS, GAIN_BITS, LOG_BITS = 16, 8, 16, 24
ONE_BIT = (1 << GAIN_BITS) + 1  # and the rounding
_WEIGHT = 1 << 24  # the base weight of one attribute, shared among its cuts
SKIP = -2
ALL_CUTS = -1


@helper
def log2_fixed(n: Any) -> Any:
    """log2(n) with 24 binary digits, from below: off by less than 2^-24 (1 + 2^-5).

    Integer arithmetic alone, so that all machines agree. The mantissa is squared once a digit;
    a truncation of 2^-31 at digit j moves the result by less than 1.5 * 2^-31 * 2^-j.
    """
    exponent = 0
    while n >> (exponent + 1):
        exponent += 1
    mantissa = np.uint64(n)
    if exponent > 31:
        mantissa >>= np.uint64(exponent - 31)
    else:
        mantissa <<= np.uint64(31 - exponent)
    result = exponent
    for _ in range(24):
        mantissa = (mantissa * mantissa) >> np.uint64(31)
        result <<= 1
        if mantissa >> np.uint64(32):
            mantissa >>= np.uint64(1)
            result += 1
    return result


@helper
def _n_log_n(n: Any) -> Any:
    return n * log2_fixed(n) if n > 1 else 0


@helper
def _ratio(top: Any, bottom: Any) -> Any:
    """floor(2^8 top / bottom), without overflow while bottom < 2^31 and top <= bottom^2."""
    return ((top // bottom) << RATIO_BITS) + ((top % bottom) << RATIO_BITS) // bottom


@helper
def _root(square: Any) -> Any:
    """floor(sqrt(square)), exactly, for a square below 2^62: a float's guess, put right."""
    root = int(math.sqrt(square))
    while root * root > square:
        root -= 1
    while (root + 1) * (root + 1) <= square:
        root += 1
    return root


@helper
def root_fixed(square: Any) -> Any:
    """floor(2^8 sqrt(square)), exactly, for a square below 2^62.

    Below 2^52 a float holds n^2 - 1, and no root below n is rounded to n: the nearest is 1 / 2n
    away, which is more than half a float's last digit.
    """
    if square < 1 << 52 - 2 * RATIO_BITS:
        return int(math.sqrt(square << 2 * RATIO_BITS))
    return _large_root_fixed(square)


@helper
def _large_root_fixed(square: Any) -> Any:
    """`root_fixed` for any square."""
    if square < 1 << 46:
        return _root(square << 2 * RATIO_BITS)
    root = _root(square)
    rest = square - root * root
    for _ in range(RATIO_BITS):  # one binary digit at a time
        rest <<= 2
        root <<= 1
        if rest >= 2 * root + 1:
            rest -= 2 * root + 1
            root += 1
    return root


@helper
def _purity(counts: Ints | Sequence[int]) -> Any:
    """What one child adds to `purity`, the default: short enough to be compiled into loops."""
    largest = 0
    squares = 0
    for count in counts:
        largest = max(largest, count)
        squares += count * count
    return (largest << (RATIO_BITS + 1)) + root_fixed(squares)


@helper
def child_term(kind: int, counts: Ints | Sequence[int], width: Any, size: Any) -> Any:
    """What one child adds to a score."""
    if kind == _PURITY:
        return _purity(counts)
    total = 0
    largest = 0
    squares = 0
    for count in counts:
        total += count
        largest = max(largest, count)
        squares += count * count
    if kind == _MAX:
        return largest
    if total == 0:
        return 0
    if kind == _NCP:
        return total * ((width << NCP_BITS) // size) if width > 1 else 0
    if kind == _DISCERNIBILITY:
        return total * total
    if kind == _GINI:
        return _ratio(squares, total)
    if kind != _INFOGAIN:
        raise ValueError("no such kernel")
    entropy = _n_log_n(total)
    for count in counts:
        entropy -= _n_log_n(count)
    return entropy


@helper
def finish_score(kind: int, children: Any, parent: Any, total: Any, gain: int) -> Any:
    """The score from the sum over children and the same term of the whole region.

    Args:
        kind: The kernel.
        children: The sum over children.
        parent: The same term of the whole region.
        total: The region's records.
        gain: Whether the region's own term is taken off, in the scores that are known without: by
            the others, candidates are compared by what they gain in any case.
    """
    if kind == _MAX:
        return children - parent if gain else children
    if kind == _NCP:
        return parent - children if gain else -children
    if kind in (_PURITY, _GINI):
        return children - parent
    if total == 0:
        return 0
    if kind == _DISCERNIBILITY:
        return (total << RATIO_BITS) * gain - _ratio(children, total)
    if kind != _INFOGAIN:
        raise ValueError("no such kernel")
    return ((parent - children) >> (LOG_BITS - GAIN_BITS)) // total


@kernel(
    # sums of 64 bits may overflow, which numba allows; they are made anew
    steps=lambda start, code, counts, *rest: (
        NEVER if counts.dtype == np.int64 else (4 + len(counts.T)) * (len(code) + len(start))
    )
)
def score_nodes(
    start: Ints, code: Small, counts: Small, lo: Small, hi: Small, taxon: Small, ask: Small,
    sizes: Small, node_hi: Small, first_child: Small, children: Small, kind: int, gain: int,
    out_start: Ints, room: tuple[Ints, ...], out: Ints,
) -> None:  # fmt: skip
    """Fills `out` with (score, weight, count, part, first) for every candidate asked for."""
    nodes, attributes = ask.shape
    classes = counts.shape[1]
    total, left, right = room
    run = 0
    for i in range(nodes):
        out_start[i] = run
        for a in range(attributes):
            if ask[i, a] == SKIP:
                continue
            begin, end = start[i * attributes + a], start[i * attributes + a + 1]
            low, high, size = lo[i, a], hi[i, a], sizes[a]
            records = 0
            for k in range(classes):
                total[k] = 0
                for e in range(begin, end):
                    total[k] += counts[e, k]
                records += total[k]
            whole = child_term(kind, total, high - low, size)
            if taxon[i, a] >= 0:
                # one candidate: the children of the taxonomy node
                score = 0
                e = begin
                low_c = low
                for child in range(
                    first_child[taxon[i, a]], first_child[taxon[i, a]] + children[taxon[i, a]]
                ):
                    for k in range(classes):
                        left[k] = 0
                    while e < end and code[e] < node_hi[child]:
                        for k in range(classes):
                            left[k] += counts[e, k]
                        e += 1
                    score += child_term(kind, left, node_hi[child] - low_c, size)
                    low_c = node_hi[child]
                out[0, run] = finish_score(kind, score, whole, records, gain)
                out[1, run] = _WEIGHT
                out[2, run] = 1
                out[3, run] = a
                out[4, run] = -1
                run += 1
                continue
            fixed = ask[i, a] != ALL_CUTS
            weight: Any = _WEIGHT if fixed else max(1, _WEIGHT // (high - low - 1))
            for k in range(classes):
                left[k], right[k] = 0, total[k]
            cut = ask[i, a] if fixed else low + 1
            stop = cut + 1 if fixed else high
            e = begin
            while cut < stop:
                while e < end and code[e] < cut:
                    for k in range(classes):
                        left[k] += counts[e, k]
                        right[k] -= counts[e, k]
                    e += 1
                # cuts up to the next code that occurs score alike, except by NCP
                after = min(stop, code[e] + 1) if e < end else stop
                if kind == _NCP:
                    after = cut + 1
                if kind == _PURITY:
                    out[0, run] = _purity(left) + _purity(right) - whole
                else:
                    score = child_term(kind, left, cut - low, size)
                    score += child_term(kind, right, high - cut, size)
                    out[0, run] = finish_score(kind, score, whole, records, gain)
                out[1, run] = weight
                out[2, run] = after - cut
                out[3, run] = a
                out[4, run] = cut
                run += 1
                cut = after
    out_start[nodes] = run


# Scores that no kernel computes: of nodes with 2^31 records or more, whose squares no longer fit 64
# bits, and those from outside the package. The kernel has listed the candidates.

LARGE = 1 << 31

Regions = tuple[Small, Small, Small]
Numbers = Callable[[Ints, Ints, Ints], Ints]
"""Class counts [parts, classes], widths and sizes of domains: to one whole number for each part."""
Total = Callable[[Ints, Ints, int], Any]
"""Class counts [candidates, parts, classes], widths, and the size of the domain: to sums."""
Finish = Callable[[Any, Any, int], Any]
"""The sums over parts, that of the region as a whole, and its records: to scores."""


def rescore(
    histograms: Histograms,
    regions: Regions,
    domain: Domain,
    nodes: Iterable[int],
    total: Total,
    finish: Finish,
    start: Ints,
    out: Ints,
) -> None:
    """Replaces the scores of some nodes' candidates; what they are for stays.

    Args:
        histograms: The histograms of all nodes.
        regions: The nodes' parts [lo, hi) of each attribute, and their taxonomy nodes or -1.
        domain: The public domain.
        nodes: Which nodes.
        total: What the parts of each candidate add up to.
        finish: The scores from that.
        start: Where each node's candidates begin.
        out: The candidates by column: score, weight, count, attribute and first cut.
    """
    for node in nodes:
        lo, hi, taxon = (side[node] for side in regions)
        begin, end = start[node : node + 2].tolist()
        for a in np.unique(out[3, begin:end]).tolist():
            here = begin + np.flatnonzero(out[3, begin:end] == a)
            segment = node * domain.attributes + a
            entries = slice(*histograms.start[segment : segment + 2].tolist())
            sums = np.zeros((entries.stop - entries.start + 1, domain.classes), dtype=np.int64)
            np.cumsum(histograms.counts[entries], axis=0, dtype=np.int64, out=sums[1:])
            if taxon[a] >= 0:
                first = int(domain.first_child[taxon[a]])
                last = first + int(domain.children[taxon[a]])
                edges = np.append(lo[a], domain.node_hi[first:last])[None, :].astype(np.int64)
            else:
                cuts = out[4, here]
                edges = np.stack(
                    [np.full_like(cuts, lo[a]), cuts, np.full_like(cuts, hi[a])], axis=1
                )
            counts = np.diff(sums[np.searchsorted(histograms.code[entries], edges)], axis=1)
            size, whole = int(domain.sizes[a]), np.asarray([[hi[a] - lo[a]]], dtype=np.int64)
            children = total(counts, np.diff(edges, axis=1), size)
            parent = total(sums[None, -1:], whole, size)[0]
            out[0, here] = finish(children, parent, int(sums[-1].sum()))


def large_nodes(histograms: Histograms, attributes: int) -> Ints:
    """The nodes whose scores no longer fit the kernels.

    There are few (at most five on a level of ten billion records), so plain Python is quick enough.
    Every wanted attribute's histogram holds all records of its node.
    """
    sums = np.append(0, np.cumsum(histograms.counts.sum(axis=1)))
    records = np.diff(sums[histograms.start]).reshape(-1, attributes)
    return np.flatnonzero(records.max(axis=1, initial=0) >= LARGE)


def exact_total(kind: int) -> Total:
    """The sums of a kernel's terms in integers of any length: by the kernels' own definitions."""

    def term(counts: Sequence[int], width: int, size: int) -> int:
        if kind == _PURITY:
            squares = sum(count * count for count in counts)
            return (max(counts) << (RATIO_BITS + 1)) + math.isqrt(squares << 2 * RATIO_BITS)
        return int(child_term(kind, counts, width, size))

    def total(counts: Ints, widths: Ints, size: int) -> list[int]:
        return [
            sum(term(part, width, size) for part, width in zip(parts, each, strict=True))
            for parts, each in zip(counts.tolist(), widths.tolist(), strict=True)
        ]

    return total


def total_of(numbers: Numbers) -> Total:
    """The sums of what a score's own function gives for each part."""

    def total(counts: Ints, widths: Ints, size: int) -> Ints:
        parts, width = counts.reshape(-1, counts.shape[-1]), widths.ravel()
        found = np.asarray(numbers(parts, width, np.full_like(width, size)))
        if found.shape != width.shape or not np.issubdtype(found.dtype, np.integer):
            raise UsageError(
                "A score must give one whole number for each part.",
                hint="Return an array of integers as long as the widths.",
            )
        sums: Ints = found.astype(np.int64).reshape(widths.shape).sum(axis=1)
        return sums

    return total


@dataclass(frozen=True, kw_only=True)
class Score:
    """A score and how far one record can move it.

    Args:
        name: What users call it.
        sensitivity: The most that one record changes one candidate's score in its published form,
            of which a paper's schedule pays twice.
        score_range: The most by which the changes of two candidates of one region differ.
        score_range_apart: The same for candidates of different regions, as DiffGen has them, with
            the region's own number taken off. A record is in one of them, so 0 is among the
            changes: the largest change or 0, less the smallest or 0.
        needs_class: Whether it says anything without a class.
        kernel: What our kernels call it; None for a score that brings `numbers`.
        numbers: What each part of a region adds to a score, from the parts' class counts [parts,
            classes], their widths and the sizes of their domains: whole numbers, a function of each
            part alone. A candidate's score is the sum over the parts that it makes; where
            candidates of different regions are compared, the region's own number is taken off.
            The author answers for the three bounds above, and for sums below 2^62.
        by_width: Whether `numbers` looks at widths.

    Example:
        >>> Score(name="odd", kernel=77, sensitivity=1, score_range=1, score_range_apart=1,
        ...       needs_class=True)
        Traceback (most recent call last):
        hedgerow.errors.UsageError: The score 'odd' has no kernel 77.
          Give the number of a kernel, or a function `numbers`.
    """

    name: str
    sensitivity: int
    score_range: int
    score_range_apart: int
    needs_class: bool
    kernel: int | None = None
    numbers: Numbers | None = None
    by_width: bool = False

    def __post_init__(self) -> None:
        """Refuses a score that nothing computes, or that states no bound."""
        known = self.kernel in (None, *KERNELS)
        if (self.kernel is None) == (self.numbers is None) or not known:
            raise UsageError(
                f"The score {self.name!r} has no kernel {self.kernel}.",
                hint="Give the number of a kernel, or a function `numbers`.",
            )
        if min(self.sensitivity, self.score_range, self.score_range_apart) < 1:
            raise UsageError(
                f"The score {self.name!r} has a bound below 1.",
                hint="State how far one record can move it, in its own whole numbers.",
            )

    @property
    def layout(self) -> int:
        """The kernel that lists candidates: of those that score alike in one run, or each."""
        if self.kernel is not None:
            return self.kernel
        return _NCP if self.by_width else _MAX


# fmt: off
# sum of the children's majority counts: a new record adds 0 or 1 to every candidate
MAX = Score(
    name="max", kernel=_MAX, needs_class=True,
    sensitivity=1, score_range=1, score_range_apart=1,
)
# by how much the records' penalties |value|/|domain| fall: a new record adds 0 to 2^16 to each;
# as published, minus the penalties: it takes as much
NCP = Score(
    name="ncp", kernel=_NCP, needs_class=False,
    sensitivity=1 << NCP_BITS, score_range=1 << NCP_BITS, score_range_apart=1 << NCP_BITS,
)
# m - sum of m_c^2 / m: changes lie in [0, 2]; as published without m: in [-1, 1]
DISCERNIBILITY = Score(
    name="discernibility", kernel=_DISCERNIBILITY, needs_class=False,
    sensitivity=1 << RATIO_BITS, score_range=2 << RATIO_BITS, score_range_apart=2 << RATIO_BITS,
)
# sum of n_ck^2 / n_c, less the region's own where regions differ: each term moves by 1
GINI = Score(
    name="gini", kernel=_GINI, needs_class=True,
    sensitivity=2 << RATIO_BITS, score_range=2 << RATIO_BITS, score_range_apart=4 << RATIO_BITS,
)
# information gain in bits: sensitivity 1 for any number of classes, plus the rounding; inside a
# region the entropy of its classes is common to all, and what is left parts by 1 at most
INFOGAIN = Score(
    name="infogain", kernel=_INFOGAIN, needs_class=True, sensitivity=ONE_BIT,
    score_range=ONE_BIT + 1, score_range_apart=2 * ONE_BIT,
)
# twice the majority count plus the length of the class counts: a new record adds 0 to 3
PURITY = Score(
    name="purity", kernel=_PURITY, needs_class=True,
    sensitivity=3 << RATIO_BITS, score_range=3 << RATIO_BITS, score_range_apart=6 << RATIO_BITS,
)
# fmt: on


def candidates(
    domain: Domain,
    lo: Small,
    hi: Small,
    taxon: Small,
    ask: Small,
    score: Score,
    *,
    apart: bool,
    paper: bool = False,
) -> Callable[[Histograms], Candidates]:
    """Scores candidates under the seal: a function for `Sealed.map`.

    Args:
        domain: The public domain.
        lo: [nodes, attributes], the nodes' regions.
        hi: The same.
        taxon: The taxonomy node of each categorical part, -1 for numeric ones.
        ask: [nodes, attributes]: SKIP, ALL_CUTS (also for a taxonomy node's children), or the
            one cut to score. Nodes where all is SKIP are left out of the answer.
        score: The score.
        apart: Whether candidates of different regions are compared.
        paper: Whether penalties are compared as the papers do, and not what is gained. Weights
            multiply gains under every schedule.
    """
    gain = domain.weighed or (score.kernel != _MAX and not paper)

    def compute(histograms: Histograms) -> Candidates:
        nodes = len(lo)
        cuts = np.where(ask == ALL_CUTS, np.maximum(hi - lo - 1, 1), 1).astype(np.int64)
        cuts[taxon >= 0] = 1
        if score.layout != _NCP:
            entries = np.diff(histograms.start).reshape(ask.shape)
            cuts = np.minimum(cuts, entries + 1)
        start = np.empty(nodes + 1, dtype=np.int64)
        out = np.empty((5, int(np.where(ask == SKIP, 0, cuts).sum())), dtype=np.int64)
        score_nodes(
            histograms.start, histograms.code, histograms.counts, lo, hi, taxon, ask,
            domain.sizes, domain.node_hi, domain.first_child, domain.children,
            score.layout, gain, start, tuple(np.empty((3, domain.classes), np.int64)), out,
        )  # fmt: skip
        where = (histograms, (lo, hi, taxon), domain)
        if score.numbers is not None:
            off = apart or domain.weighed  # whether the region's own number is taken off
            total = total_of(score.numbers)
            rescore(*where, range(nodes), total, lambda sums, own, _: sums - off * own, start, out)
        elif histograms.counts.dtype == np.int64:
            kind, large = score.layout, large_nodes(histograms, domain.attributes)

            def finish(children: Sequence[int], parent: int, records: int) -> list[int]:
                return [int(finish_score(kind, one, parent, records, gain)) for one in children]

            rescore(*where, large, exact_total(kind), finish, start, out)
        asked = (ask != SKIP).any(axis=1)  # a node that is not asked has no candidates
        start = np.append(start[:-1][asked], start[-1])
        out = out[:, : start[-1]]
        if (domain.sharing > 1).any():
            out[1] = np.maximum(out[1] // domain.sharing[out[3]], 1)
        if domain.weighed:
            out[0] = _weigh(out[0], domain.weight[out[3]], int(domain.weight.max()))
        return Candidates(
            start=start, score=out[0], weight=out[1], count=out[2], part=out[3], first=out[4]
        )

    return compute


def _weigh(gain: Ints, weight: Ints, largest: int) -> Ints:
    """floor(gain * weight / largest), without overflow: it never moves further than the gain."""
    return gain // largest * weight + gain % largest * weight // largest


def range_of(score: Score, domain: Domain, *, apart: bool) -> int:
    """What a rate is multiplied by for the price of a selection; see `Score`.

    Weighed gains part by no more than 0 and the changes of all gains do. Inside a region, that is
    the score range for our own scores, whose regions change as their parts do. A score from outside
    promises that between regions only.
    """
    if domain.weighed and (apart or score.numbers is not None):
        # the majority of a region is not subtracted from `max` otherwise, and changes by 1
        return 2 if score.kernel == _MAX else score.score_range_apart
    return score.score_range_apart if apart else score.score_range
