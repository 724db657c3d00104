"""The typical error on tables whose noise and relations are known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hedgerow.estimate.answers import missed_correlation, typical_error
from hedgerow.estimate.intervals import Bounds
from hedgerow.estimate.tables import Cells, NoisyTable, Tables
from hedgerow.schema import Query, Schema

NOISE, PHI = 5.0, 0.3
RECORDS = 40_000
SCHEMA = Schema.from_dict(
    {
        "name": "s",
        "unit": "row",
        "attributes": {
            **{name: {"type": "categorical", "values": list("wxyz")} for name in "abcd"},
            "ill": {"type": "boolean", "role": "class"},
        },
    }
)
CELLS = Cells(edges=(np.arange(5),) * 4, group=(np.arange(4),) * 4, classes=2)
FIRST, SECOND, THIRD = (((place, ((0.0, 2.0),)),) for place in range(3))


def bounds(pairs: int, phi: float = PHI) -> Bounds:
    """Even attributes, of which so many pairs were counted: value i with i is more frequent."""
    random = np.random.default_rng(1)

    def table(kind: str, columns: tuple[int, ...], exact: np.ndarray) -> NoisyTable:
        noisy = np.rint(exact + random.normal(0, NOISE, exact.shape)).astype(np.int64)
        return NoisyTable(
            kind=kind, columns=columns, values=noisy, variance=NOISE**2, tail=NOISE**2,
            law="gaussian",
        )  # fmt: skip

    related = RECORDS * (np.full((4, 4), (1 - phi) / 16) + np.eye(4) * phi / 4)
    by_class = [table("by_class", (a, 4), np.full((4, 2), RECORDS / 8)) for a in range(4)]
    both = [(b, a) for b in range(4) for a in range(b)][:pairs]
    counted = [table("pairs", pair, related) for pair in both]
    return Bounds(
        Tables(
            schema=SCHEMA, cells=CELLS, tables=(*by_class, *counted), fine={},
            totals=((RECORDS, 1.0),),
        )
    )  # fmt: skip


def errors(of: Bounds, *queries: Query) -> list[float]:
    asked, phi = of.compare(queries), missed_correlation(of)
    share = np.array([0.5 ** len(query.where) for query in queries])
    return typical_error(of, asked, RECORDS * share, phi, of.together(asked)).tolist()


def test_what_pairs_are_missing_is_told_by_those_that_are_there() -> None:
    # of deviations phi / 4 (1 - 1/4) on the diagonal and - phi / 16 elsewhere
    square = 4 * (3 / 16) ** 2 + 12 / 16**2
    most = (4 * (1 / 4) * (3 / 4)) ** 2
    assert missed_correlation(bounds(6)) == pytest.approx(PHI * math.sqrt(square / most), rel=0.05)
    assert missed_correlation(bounds(6, phi=0.0)) == 0.05
    assert missed_correlation(bounds(1)) == 0.1  # too few to tell
    assert missed_correlation(bounds(0)) == 0.2  # none at all


def test_what_was_counted_as_it_is_asked_for_is_off_by_noise_alone() -> None:
    one, two, classed = errors(bounds(0), Query(FIRST), Query(FIRST + SECOND), Query(FIRST, (1,)))
    # half of the cells of a table by class: sqrt(8 / 4) noises, or half of that
    least = 1.8 * math.sqrt(2 * NOISE**2)
    assert least < one < 1.2 * least
    assert least / 2 < classed < 2 * least < 1.8 * math.sqrt(RECORDS / 8)
    # without a pair phi = 0.2, beside which the rest is little
    assert two == pytest.approx(1.8 * 0.2 * RECORDS / 4, rel=0.02)


def test_the_own_chance_of_a_count_is_that_of_a_cell_with_known_margins() -> None:
    """e (1 - p) (1 - q) beside phi, which is known to be 0.05, and what noise there is."""
    (found,) = errors(bounds(5, phi=0.0), Query((*FIRST, (3, ((0.0, 2.0),)))))
    (missing,) = errors(bounds(5, phi=0.0), Query(((2, ((0.0, 2.0),)), (3, ((0.0, 2.0),)))))
    assert found < missing  # the last pair was not counted
    chance = RECORDS / 16
    assert missing**2 == pytest.approx(1.8**2 * (chance + (0.05 * RECORDS / 4) ** 2), rel=0.02)


def test_a_counted_pair_is_surer_than_one_that_is_not() -> None:
    counted, missing, three = errors(
        bounds(1), Query(FIRST + SECOND), Query(FIRST + THIRD), Query(FIRST + SECOND + THIRD)
    )
    assert counted < missing / 2
    assert three > counted
    # phi n sqrt(p (1 - p) q (1 - q)) alone
    assert missing == pytest.approx(1.8 * 0.1 * RECORDS / 4, rel=0.1)
