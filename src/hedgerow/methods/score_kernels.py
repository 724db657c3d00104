"""The compiled loops that score candidates, and the arithmetic of each score in whole numbers.

Called as plain Python, with Python's integers, the arithmetic of single parts is exact at any size,
but for the roots of `purity`: `exact_scores` leans on that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgerow.arrays import Ints, Small
from hedgerow.compiled import NEVER, helper, kernel

KERNELS = range(6)
MAX, NCP, DISCERNIBILITY, GINI, INFOGAIN, PURITY = KERNELS
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
    if kind == PURITY:
        return _purity(counts)
    total = 0
    largest = 0
    squares = 0
    for count in counts:
        total += count
        largest = max(largest, count)
        squares += count * count
    if kind == MAX:
        return largest
    if total == 0:
        return 0
    if kind == NCP:
        return total * ((width << NCP_BITS) // size) if width > 1 else 0
    if kind == DISCERNIBILITY:
        return total * total
    if kind == GINI:
        return _ratio(squares, total)
    if kind != INFOGAIN:
        raise ValueError("no such kernel")
    entropy = _n_log_n(total)
    for count in counts:
        entropy -= _n_log_n(count)
    return entropy


@helper
def finished(kind: int, children: Any, parent: Any, total: Any, gain: int) -> Any:
    """The score from the sum over children and the same term of the whole region.

    Args:
        kind: The kernel.
        children: The sum over children.
        parent: The same term of the whole region.
        total: The region's records.
        gain: Whether the region's own term is taken off, in the scores that are known without: by
            the others, candidates are compared by what they gain in any case.
    """
    if kind == MAX:
        return children - parent if gain else children
    if kind == NCP:
        return parent - children if gain else -children
    if kind in (PURITY, GINI):
        return children - parent
    if total == 0:
        return 0
    if kind == DISCERNIBILITY:
        return (total << RATIO_BITS) * gain - _ratio(children, total)
    if kind != INFOGAIN:
        raise ValueError("no such kernel")
    return ((parent - children) >> (LOG_BITS - GAIN_BITS)) // total


def _steps(start: Ints, code: Small, counts: Small, *rest: Any) -> int:
    if counts.dtype == np.int64:  # sums may overflow, which numba allows; they are made anew
        return NEVER
    return (4 + len(counts.T)) * (len(code) + len(start))


@kernel(steps=_steps)
def score_nodes(
    start: Ints,
    code: Small,
    counts: Small,
    lo: Small,
    hi: Small,
    taxon: Small,
    ask: Small,
    sizes: Small,
    node_hi: Small,
    first_child: Small,
    children: Small,
    kind: int,
    gain: int,
    out_start: Ints,
    room: tuple[Ints, ...],
    out: Ints,
) -> None:
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
                out[0, run] = finished(kind, score, whole, records, gain)
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
                if kind == NCP:
                    after = cut + 1
                if kind == PURITY:
                    out[0, run] = _purity(left) + _purity(right) - whole
                else:
                    score = child_term(kind, left, cut - low, size)
                    score += child_term(kind, right, high - cut, size)
                    out[0, run] = finished(kind, score, whole, records, gain)
                out[1, run] = weight
                out[2, run] = after - cut
                out[3, run] = a
                out[4, run] = cut
                run += 1
                cut = after
    out_start[nodes] = run
