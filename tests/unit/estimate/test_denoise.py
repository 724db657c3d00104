from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hedgerow.estimate.graphical import denoise
from hedgerow.estimate.tables import edges_of, own_codes
from hedgerow.schema import Numeric, Schema


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("others", [[9000, 30, -20, 10, -40, 5, 0, 60], [900, 800, 700, 650, 900]])
def test_a_value_of_its_own_keeps_its_noisy_count(others: list[float], ordered: bool) -> None:
    counts = np.array([331.0, *others])
    own = np.arange(len(counts)) == 0
    total = float(counts.sum())
    found = denoise(counts, total, 300.0, ordered=ordered, own=own)
    assert found.sum() == pytest.approx(total) and (found >= 0).all()
    # but for the share of the noise of all cells together, which is spread over all of them
    assert found[0] == pytest.approx(331, rel=0.05)
    if len(others) > 5:  # most cells are noise: without the rule it would be nothing
        assert denoise(counts, total, 300.0, ordered=False)[0] < 60


def test_below_zero_it_is_nothing_and_others_give_it_nothing() -> None:
    counts = np.array([-50.0, 9000.0, 30.0, -20.0, 10.0, 400.0, 5.0])
    own = np.arange(len(counts)) == 0
    found = denoise(counts, 9600.0, 300.0, ordered=True, own=own)
    assert found[0] == 0 and found.sum() == pytest.approx(9600)


@pytest.mark.parametrize("counts", [[-5.0, -3.0], [4.0], [-4.0], [0.0, 0.0, 0.0]])
def test_whatever_the_noise_leaves_counts_add_up(counts: list[float]) -> None:
    for own in (np.zeros(len(counts), np.bool_), np.ones(len(counts), np.bool_)):
        found = denoise(np.array(counts), 7.0, 100.0, ordered=True, own=own)
        assert found.sum() == pytest.approx(7) and (found >= 0).all()


def test_which_values_are_cells_of_their_own() -> None:
    pay = Numeric(
        "pay", low=Fraction(-100), high=Fraction(900), step=Fraction(10), kind="integer",
        missing="other", outside="clip", common=(Fraction(500),),
    )  # fmt: skip
    assert own_codes(pay) == {0, 10, 60, 101}
    starts = edges_of(pay)[:-1]
    assert own_codes(pay) <= set(starts[np.diff(edges_of(pay)) == 1].tolist())
    assert own_codes(
        Numeric("age", low=Fraction(18), high=Fraction(99), step=Fraction(1), kind="integer")
    ) == {0}
    schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        "sex": {"type": "categorical", "values": ["f", "m"], "missing": "other"},
        "home": {"type": "categorical", "values": ["a", "b"]}}})  # fmt: skip
    assert [own_codes(attribute) for attribute in schema.attributes] == [{2}, set()]
