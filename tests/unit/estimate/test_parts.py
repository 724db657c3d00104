"""How records lie in the parts of cells that were counted again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import hedgerow as hr
from hedgerow import sample
from hedgerow.data import read
from hedgerow.estimate.tables import Cells, NoisyTable, Tables
from hedgerow.evaluation import exact_counts
from hedgerow.schema import Query, Schema

NUMBER = {"type": "numeric", "low": 0, "high": 60}
SCHEMA = Schema.from_dict({"name": "s", "unit": "row", "attributes": {"a": NUMBER}})
EDGES = np.array([0, 4, 61])
CELLS = Cells(edges=(EDGES,), group=(np.arange(2),), classes=0)


def tables(parts: np.ndarray, noise: float, number: int = 1000) -> Tables:
    """The first cell has four parts and the second none."""
    alone = NoisyTable(
        kind="single", columns=(0,), values=np.array([number, 0]), variance=1.0, tail=1.0,
        law="gaussian",
    )  # fmt: skip
    return Tables(
        schema=SCHEMA, cells=CELLS, tables=(alone,), fine={(0, 0): (parts, noise**2)},
        totals=((1000.0, 1.0),),
    )  # fmt: skip


def test_parts_are_believed_as_far_as_they_stand_above_noise() -> None:
    counts = np.array([700, 300, 100, -100])
    (sure,), (unsure,) = (tables(counts, noise).parts.values() for noise in (1.0, 3000.0))
    assert sure.informative and sure.weight > 0.99
    assert sure.shares == pytest.approx([0.7, 0.3, 0.1, -0.1], abs=0.01)
    assert not unsure.informative and unsure.weight < 0.05
    assert unsure.shares == pytest.approx([0.25] * 4, abs=0.02)
    # what noise hides is as uncertain as parts may be uneven, by 0.1 m (1 - m), about
    one = np.array([[1.0, 0, 0, 0]])
    assert unsure.variance(one)[0] == pytest.approx(0.1 * 0.25 * 0.75, rel=0.3)
    assert sure.variance(one)[0] == pytest.approx(0.75e-6, rel=0.05)
    # the cell itself was counted: its parts add up, and their sum has no error of theirs
    assert unsure.shares.sum() == pytest.approx(1)
    assert unsure.variance(np.ones((1, 4)))[0] == pytest.approx(0, abs=1e-12)
    # parts that add up to something else than their cell are as far apart as they were counted
    (shifted,) = tables(counts + 500, 1.0).parts.values()
    assert shifted.shares == pytest.approx(sure.shares)
    assert tables(counts, 1.0).informative_edges(0).tolist() == [0, 1, 2, 3, 4, 61]
    assert tables(counts, 3000.0).informative_edges(0).tolist() == [0, 4, 61]


def test_the_variance_of_parts_is_that_of_their_error() -> None:
    """In 400 cells whose unevenness is drawn as it is assumed to be, at noise of all sizes.

    The mean of 400 squares over their variances is 1, with a standard error below 0.1 (measured:
    their kurtosis is below 10), so three of these are left room: one in 300 fails by chance.
    """
    random = np.random.default_rng(5)
    rho = 10 ** np.arange(-3, 0.5, 0.5)
    for noise in (20.0, 100.0, 500.0):
        square = []
        for _ in range(400):
            uneven = min(0.99, random.choice(rho, p=rho**-0.25 / (rho**-0.25).sum()))
            shares = random.dirichlet(np.full(4, (1 / uneven - 1) / 4))
            counts = np.rint(1000 * shares + random.normal(0, noise, 4)).astype(np.int64)
            (parts,) = tables(counts, noise).parts.values()
            held = np.array([[1.0, 1.0, 0.0, 0.0]])
            off = float((held @ (parts.shares - shares))[0])
            square.append(off**2 / parts.variance(held)[0])
        assert 0.7 < np.mean(square) < 1.3, noise


@pytest.fixture(scope="module", params=[("1", "0"), ("4", "1e-6")], ids=["mostly noise", "told"])
def errors(request: pytest.FixtureRequest) -> Iterator[dict[str, np.ndarray]]:
    """Of parts and bands of the sample's numbers: errors, typical errors, and whether measured."""
    epsilon, delta = request.param
    people, schema = sample.people(8000), sample.schema()
    table, found = read(people, schema), {"parts": [], "classed": [], "bands": [], "even": []}
    for seed in range(4):
        release = hr.publish(people, schema, "marginals", epsilon, delta=delta, seed=seed)
        release = release.expect(hr.MarginalsRelease)
        fine = release.tables.parts
        parts = [one for (a, _), p in fine.items() for one in cells_of(a, p.edges)]
        bands = [one for a in {a for a, _ in fine} for one in cells_of(a, release.bands(a))]
        classed = [Query(one.where, (k,)) for one in parts for k in range(2)]
        for name, queries in (("parts", parts), ("bands", bands), ("classed", classed)):
            answers, exact = release.count(queries), exact_counts(table, queries)
            measured = np.asarray(answers.basis == "measured", float)
            off = np.abs(answers.estimate - exact)
            found[name].append(np.stack([off, answers.typical_error, measured]))
        for (a, _), one in fine.items():
            exact = exact_counts(table, cells_of(a, one.edges))
            found["even"].append(np.abs(one.even * exact.sum() - exact))
    found["told"] = [np.array([delta != "0"])]
    yield {name: np.concatenate(several, axis=-1) for name, several in found.items()}


def cells_of(place: int, edges: np.ndarray | tuple[int, ...]) -> list[Query]:
    pairs = zip(edges[:-1], edges[1:], strict=True)
    return [Query(((place, ((float(low), float(high)),)),)) for low, high in pairs]


@pytest.mark.parametrize("name", ["parts", "classed", "bands"])
def test_typical_errors_hold_in_parts_of_cells(errors: dict[str, np.ndarray], name: str) -> None:
    """They should hold 95%. Of two parts both hold or none, so there are 55 chances or more.

    If each of 55 held with 95%, at most 47 (86%) would hold with a probability of 0.9%.
    """
    off, typical, _ = errors[name]
    assert (off <= typical).mean() > 0.86
    assert np.median(typical) < 8 * np.sqrt((off**2).mean())  # but they say something


def test_parts_are_not_worse_than_even_ones(errors: dict[str, np.ndarray]) -> None:
    off, _, measured = errors["parts"]
    assert np.sqrt((off**2).mean()) < 1.1 * np.sqrt((errors["even"] ** 2).mean())
    # where noise hides them they are not called measured, nor are bands made of them
    assert measured.mean() > 0.9 if errors["told"].all() else not measured.any()
    assert errors["bands"][2].all()
