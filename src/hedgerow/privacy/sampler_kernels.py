"""Exact samplers over a keystream, in bulk. No floating point, no rounding, no tables.

Everything is built from Bernoulli(exp(-a/b)) trials for integers a and b (Canonne, Kamath and
Steinke 2020). Each public kernel works through its items in order; if the words run out in the
middle of an item it rewinds to the start of that item and returns its number, so that the caller
can refill the stream and go on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.arrays import Ints, Words
from hedgerow.compiled import helper, kernel

ENVELOPE = 20  # halvings in the proposal of `select_exponential`; any value is exact
_CHUNK = 1 << 62
_NEAR = 32  # strides of Gaussian noise up to which its trial fits 64 bits in one piece


@helper
def _word(words: Words, at: Ints, mask: Any) -> Any:
    """The bits of the next word that a mask keeps; 0, and a note, if there is none."""
    place = at[0]
    if place >= len(words):
        at[1] = 1
        return 0
    at[0] = place + 1
    return words[place] & mask


@helper
def below(words: Words, at: Ints, bound: Any) -> Any:
    """A uniform integer in [0, bound), by rejection under the next power of two."""
    if bound <= 1:
        return 0
    mask = bound - 1
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> shift
    while True:
        value = _word(words, at, mask)
        if value < bound or at[1]:
            return value


@helper
def bernoulli_exp_fraction(words: Words, at: Ints, a: Any, b: Any, first: Any) -> bool:
    """Bernoulli(exp(-a/b)) for 0 <= a <= b, with first = 1.

    P[the run of successes reaches k] = (a/b)^k / k!, so an even length has the probability of the
    alternating series of exp(-a/b). Starting the factorials at first = 3 with a = b gives
    1 - 1/3 + 1/12 - ... = 2/e instead.
    """
    k = first
    while True:
        if a < b and below(words, at, b) >= a:
            break
        if below(words, at, k) != 0 or at[1]:
            break
        k += 1
    even: bool = (k - first) % 2 == 0
    return even


@helper
def bernoulli_exp(words: Words, at: Ints, a: Any, b: Any) -> bool:
    """Bernoulli(exp(-a/b)) for any a >= 0."""
    while a > b:
        if not bernoulli_exp_fraction(words, at, 1, 1, 1) or at[1]:
            return False
        a -= b
    last: bool = bernoulli_exp_fraction(words, at, a, b, 1)
    return last


@helper
def bernoulli_exp_times(words: Words, at: Ints, gap: Any, a: Any, b: Any) -> bool:
    """Bernoulli(exp(-gap * a / b)), in factors small enough for 64 bits."""
    most = _CHUNK // max(a, 1)
    while gap > most:
        if not bernoulli_exp(words, at, most * a, b) or at[1]:
            return False
        gap -= most
    return bernoulli_exp(words, at, gap * a, b)


@helper
def _geometric(words: Words, at: Ints, a: Any, b: Any) -> Any:
    """P[j] = (1 - q) q^j with q = exp(-a/b)."""
    while True:
        rest = below(words, at, b)
        if at[1]:
            return 0
        if bernoulli_exp_fraction(words, at, rest, b, 1):
            break
    whole = 0
    while bernoulli_exp_fraction(words, at, 1, 1, 1) and not at[1]:
        whole += 1
    return (rest + whole * b) // a


@kernel(steps=lambda words, at, item, a, b, out: 20 * (len(out) - item))
def fill_laplace(words: Words, at: Ints, first: int, a: Ints, b: Ints, out: Ints) -> int:
    """Discrete Laplace noise: P[z] proportional to exp(-|z| a/b), for each item."""
    for item in range(first, len(out)):
        start = at[0]
        while True:
            size = _geometric(words, at, a[item], b[item])
            negative = _word(words, at, 1)
            if at[1] or not (negative and size == 0):  # or else zero would come twice
                break
        if at[1]:
            at[0] = start
            return item
        out[item] = -size if negative else size
    return len(out)


@helper
def _stride(a: Any, b: Any) -> Any:
    """The least t with t^2 a >= 2 b, bit by bit."""
    root = 0
    for bit in range(25, -1, -1):  # 2 b / a < 2^51, so that the root has at most 26 bits
        more = root + (1 << bit)
        if (more - 1) * (more - 1) < (2 * b + a - 1) // a:
            root = more
    return root


@kernel(steps=lambda words, at, item, a, b, out: 40 * (len(out) - item))
def fill_gaussian(words: Words, at: Ints, first: int, a: Ints, b: Ints, out: Ints) -> int:
    """Discrete Gaussian noise: P[z] proportional to exp(-z^2 a / (2 b)), for each item.

    Terms a and b lie below 2^50; b/a is about the variance. With a stride t such that t^2 a >= 2 b,
    every size is z = k t + j, 0 <= j < t, in one way. It is proposed with probability proportional
    to exp(-k): k is a run of trials of exp(-1), j uniform. It is kept with probability
    exp(-(z^2 a - 2 k b) / (2 b)), which is at most 1 since z^2 a >= k^2 t^2 a >= 2 k b. The product
    is exp(-z^2 a / (2 b)). A sign follows; of the two zeros one is not kept.
    """
    t = 0
    for item in range(first, len(out)):
        start = at[0]
        if t == 0 or a[item] != a[item - 1] or b[item] != b[item - 1]:
            t = _stride(a[item], b[item])
        while not at[1]:
            k = 0
            while bernoulli_exp_fraction(words, at, 1, 1, 1) and not at[1]:
                k += 1
            j = below(words, at, t)
            if not _gaussian_kept(words, at, k, t, j, a[item], b[item]):
                continue
            size = k * t + j
            negative = _word(words, at, 1)
            if not (negative and size == 0):  # or else zero would come twice
                out[item] = -size if negative else size
                break
        if at[1]:
            at[0] = start
            return item
    return len(out)


@helper
def _gaussian_kept(words: Words, at: Ints, k: Any, t: Any, j: Any, a: Any, b: Any) -> bool:
    """Bernoulli(exp(-((k t + j)^2 a - 2 k b) / (2 b))), where t^2 a >= 2 b and t^2 a < 6 * 2^50."""
    if k <= _NEAR:
        size = k * t + j
        near: bool = bernoulli_exp(words, at, size * size * a - 2 * k * b, 2 * b)
        return near
    # the same in factors: k (k - 1) + k^2 (t^2 a - 2 b) / (2 b) + k t j a / b + j^2 a / (2 b)
    for _ in range(k):
        if not bernoulli_exp_times(words, at, k - 1, 1, 1) or at[1]:
            return False
        if not bernoulli_exp_times(words, at, k, t * t * a - 2 * b, 2 * b) or at[1]:
            return False
    far: bool = bernoulli_exp_times(words, at, k, t * j * a, b)
    return far and bernoulli_exp(words, at, j * j * a, 2 * b)


@kernel(steps=lambda words, at, item, a, b, out: 20 * (len(out) - item))
def fill_geometric(words: Words, at: Ints, first: int, a: Ints, b: Ints, out: Ints) -> int:
    """Geometric values from 0, for each item."""
    for item in range(first, len(out)):
        start = at[0]
        out[item] = _geometric(words, at, a[item], b[item])
        if at[1]:
            at[0] = start
            return item
    return len(out)


@kernel(steps=lambda words, at, item, trials, *rest: 2 * int(trials[item:].sum()))
def fill_kept(words: Words, at: Ints, first: int, trials: Ints, a: Ints, b: Ints, out: Ints) -> int:
    """How many of so many independent trials of probability a/b succeed, for each item."""
    for item in range(first, len(out)):
        start = at[0]
        kept = 0
        for _ in range(trials[item]):
            if below(words, at, b[item]) < a[item]:
                kept += 1
            if at[1]:
                at[0] = start
                return item
        out[item] = kept
    return len(out)


@kernel(
    steps=lambda words, at, item, start, *rest: 2 * int(start[-1] - start[item]) + 40 * len(start)
)
def select_exponential(
    words: Words, at: Ints, first: int, start: Ints, score: Ints, weight: Ints, count: Ints,
    a: Ints, b: Ints, cumulative: Ints, run_out: Ints, offset_out: Ints,
) -> int:  # fmt: skip
    """The exponential mechanism: P[run] proportional to weight * count * exp(score * a/b).

    With x = (best - score) * a/b >= k for an integer k, exp(-x) = 2^-k * (2/e)^k * exp(-(x - k)).
    So a run is proposed with integer mass weight * count * 2^-k, and kept with probability
    (2/e)^k * exp(-(x - k)): rejection, exact whatever k is. Any k up to x will do; k is taken
    from a multiplication by a lower bound of a/b, capped at ENVELOPE.
    """
    for item in range(first, len(start) - 1):
        begin = at[0]
        lo = start[item]
        hi = start[item + 1]
        best = score[lo]
        for run in range(lo, hi):
            best = max(best, score[run])
        # a lower bound of 2^shift a/b, so that k never exceeds x; fine enough for small rates too
        shift = 50
        while a[item] >> (62 - shift):
            shift -= 1
        slope = (a[item] << shift) // b[item]
        far = (1 << 62) // max(slope, 1)
        total = 0
        for run in range(lo, hi):
            k = (min(best - score[run], far) * slope) >> shift
            mass = weight[run] * count[run]
            total += mass << (ENVELOPE - min(k, ENVELOPE))
            cumulative[run - lo] = total
        while not at[1]:
            target = below(words, at, total)
            left = 0
            right = hi - lo - 1
            while left < right:
                middle = (left + right) // 2
                if cumulative[middle] > target:
                    right = middle
                else:
                    left = middle + 1
            gap = best - score[lo + left]
            k = min((min(gap, far) * slope) >> shift, ENVELOPE)
            kept = True
            for _ in range(k):
                if not bernoulli_exp_fraction(words, at, 1, 1, 3):
                    kept = False
                    break
            if kept and _bernoulli_exp_less(words, at, gap, a[item], b[item], k):
                run_out[item] = lo + left
                offset_out[item] = below(words, at, count[lo + left])
                break
        if at[1]:
            at[0] = begin
            return item
    return len(start) - 1


@helper
def _bernoulli_exp_less(words: Words, at: Ints, gap: Any, a: Any, b: Any, k: Any) -> bool:
    """Bernoulli(exp(-(gap * a/b - k))), where gap * a/b >= k."""
    most = _CHUNK // max(a, 1)
    first = min(gap, most)  # gap * a/b >= k by far whenever gap > most
    if not bernoulli_exp(words, at, first * a - k * b, b):
        return False
    return gap == first or bernoulli_exp_times(words, at, gap - first, a, b)


@kernel(
    steps=lambda words, at, item, start, score, count, *rest: (
        10 * int(count[start[item] : start[-1]].sum())
    )
)
def permute_and_flip(
    words: Words, at: Ints, first: int, start: Ints, score: Ints, count: Ints, a: Ints, b: Ints,
    run_out: Ints, offset_out: Ints,
) -> int:  # fmt: skip
    """Permute-and-flip over runs of equally likely candidates.

    Candidates are visited in random order, each taken with probability exp(-(best - score) a/b).
    """
    for item in range(first, len(start) - 1):
        begin = at[0]
        lo = start[item]
        hi = start[item + 1]
        best = score[lo]
        size = 0
        for run in range(lo, hi):
            best = max(best, score[run])
            size += count[run]
        owner = np.empty(size, dtype=np.int64)
        rank = np.empty(size, dtype=np.int64)
        place = 0
        for run in range(lo, hi):
            for offset in range(count[run]):
                owner[place] = run
                rank[place] = offset
                place += 1
        last = size
        while not at[1]:
            pick = below(words, at, last)
            if bernoulli_exp_times(words, at, best - score[owner[pick]], a[item], b[item]):
                run_out[item] = owner[pick]
                offset_out[item] = rank[pick]
                break
            last -= 1  # a best candidate is always taken, so last stays positive
            owner[pick] = owner[last]
            rank[pick] = rank[last]
        if at[1]:
            at[0] = begin
            return item
    return len(start) - 1
