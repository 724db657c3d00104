"""Regions and the table of an attribute, combined by their variances."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow
from hedgerow import sample
from hedgerow.estimate.answers import by_model
from hedgerow.estimate.marginals.by_regions import Sides, combined
from hedgerow.estimate.marginals.denoise import code_masses


@pytest.mark.parametrize("seed", range(20))
def test_it_is_least_squares(seed: int) -> None:
    """Against the normal equations, with regions that cut codes anywhere."""
    random = np.random.default_rng(seed)
    size = int(random.integers(2, 30))
    edges = np.unique([0, size, *random.integers(0, size + 1, 6)])
    cuts = np.unique([0, size, *random.integers(0, size + 1, 5)])
    low = np.concatenate([cuts[:-1], cuts[:1]])  # and one region that is everywhere, at times
    high = np.concatenate([cuts[1:], cuts[-1:]])
    number = len(low) - int(random.integers(0, 2))
    regions = Sides(
        low=low[:number], high=high[:number], counts=random.normal(50, 20, number),
        variance=random.uniform(1, 9, number),
    )  # fmt: skip
    cells = len(edges) - 1
    table, variance = random.normal(50, 20, cells), random.uniform(1, 9, cells)
    found, left = combined(table, variance, edges, regions)

    inside = [e for e in edges if not ((regions.low < e) & (e < regions.high)).any()]
    rows, values, spreads = list(np.eye(cells)), list(table), list(variance)
    for begin, end in zip(inside[:-1], inside[1:], strict=True):
        here = (regions.low >= begin) & (regions.high <= end)
        rows.append(((edges[:-1] >= begin) & (edges[1:] <= end)).astype(float))
        values.append(regions.counts[here].sum())
        spreads.append(regions.variance[here].sum())
    if len(inside) == 2:  # everybody: that is for the total to say
        rows, values, spreads = rows[:-1], values[:-1], spreads[:-1]
    design, weight = np.array(rows), 1 / np.array(spreads)
    covariance = np.linalg.inv(design.T @ (weight[:, None] * design))
    np.testing.assert_allclose(found, covariance @ design.T @ (weight * values), atol=1e-8)
    np.testing.assert_allclose(left, np.diag(covariance), atol=1e-8)


def test_a_value_that_regions_count_well_is_not_lost_in_the_noise_of_its_table() -> None:
    release = hedgerow.publish(sample.people(600, seed=3), sample.schema(), epsilon=2, seed=2)
    assert isinstance(release, hedgerow.TableRelease) and release.marginals is not None
    marginals, total = release.marginals, 600.0
    place = [one.name for one in release.schema.attributes].index("occupation")
    edges = [int(edge) for edge in marginals.cells.edges[place][[0, 1, -1]]]
    sides = [
        Sides(
            low=np.array([0]), high=np.array([one.size]), counts=np.array([600.0]),
            variance=np.array([1.0]),
        )
        for one in release.schema.attributes
    ]  # fmt: skip
    sides[place] = Sides(
        low=np.array(edges[:2]), high=np.array(edges[1:]), counts=np.array([240.0, 360.0]),
        variance=np.array([1.0, 1.0]),
    )  # fmt: skip
    alone = code_masses(marginals, total)
    found = code_masses(marginals, total, sides)
    assert abs(found[place][: edges[1]].sum() - 240) < 5 < abs(alone[place][: edges[1]].sum() - 240)
    for other, (one, same) in enumerate(zip(found, alone, strict=True)):
        if other != place:  # regions that are not divided by it say nothing about it
            np.testing.assert_allclose(one, same, atol=1e-6)


def test_an_interval_from_zero_to_zero_says_nothing_of_the_error() -> None:
    ends = np.zeros(2), np.array([0.0, 5.0])
    found = by_model(np.zeros(2), np.array([7.0, 7.0]), ends, 0.95)
    assert found.typical_error is not None and found.typical_error.tolist() == [7.0, 5.0]
