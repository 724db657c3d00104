"""The model of the class: that whole numbers and floats agree, and that shifts find the truth."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow.estimate.marginals.classes import Logits, shifts
from hedgerow.estimate.marginals.denoise import denoise
from hedgerow.measured.marginals import CellMap
from hedgerow.measured.partition import TreePartition
from hedgerow.publish.marginals.rounds import class_model
from hedgerow.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "name": "s",
        "unit": "row",
        "attributes": {
            "a": {"type": "numeric", "low": 0, "high": 39, "step": 1},
            "b": {"type": "categorical", "values": ["x", "y", "z"]},
            "k": {"type": "categorical", "values": ["p", "q", "r"], "role": "class"},
        },
    }
)
TREE = TreePartition(
    parent=np.array([-1, 0, 0, 2, 2, 2], np.int32), depth=np.array([0, 1, 1, 2, 2, 2], np.int16),
    split=np.array([0, -1, 1, -1, -1, -1], np.int16),
    lo=np.array([[0, 0], [0, 0], [10, 0], [10, 0], [10, 1], [10, 2]], np.int32),
    hi=np.array([[40, 3], [10, 3], [40, 3], [40, 1], [40, 2], [40, 3]], np.int32),
)  # fmt: skip


def test_engines_and_estimates_have_the_same_probabilities():
    rng = np.random.default_rng(1)
    cells = CellMap.of(SCHEMA)
    base, shift = rng.integers(-150, 150, (4, 3)), rng.integers(-90, 90, (cells.cells, 3))
    codes = np.stack([rng.integers(0, 40, 500), rng.integers(0, 3, 500)], axis=1)
    rows = np.concatenate([codes, np.zeros((500, 1), np.int64)], axis=1).astype(np.uint16)
    whole = class_model(TREE, cells, base, shift).probabilities(rows)
    floats = Logits(base, cells, shift).probabilities(codes, TREE.locate(codes))
    assert np.abs(whole / 256 - floats).max() <= 0.5 / 256 + 1e-6


def test_a_shift_makes_up_for_the_residual_and_noise_makes_none():
    rng = np.random.default_rng(2)
    cell = rng.integers(0, 4, 20_000)
    logits = np.stack([np.zeros(20_000), rng.normal(-1, 0.5, 20_000)], axis=1)
    truth = np.array([1.0, 0.0, -0.5, 2.0])
    before = 1 / (1 + np.exp(-logits[:, 1]))
    after = 1 / (1 + np.exp(-logits[:, 1] - truth[cell]))
    residual = np.bincount(cell, after - before) * 256
    found = shifts(logits, np.ones(20_000), cell, 1, residual.astype(np.int64), 256.0) / 64
    assert found == pytest.approx(truth, abs=0.06)
    lost = shifts(logits, np.ones(20_000), cell, 1, residual.astype(np.int64), 256 * 50_000.0)
    assert np.abs(lost).max() <= 3


def test_class_totals_are_met():
    rng = np.random.default_rng(3)
    cells = CellMap.of(SCHEMA)
    model = Logits(rng.integers(-90, 90, (4, 3)), cells, np.zeros((cells.cells, 3), np.int64))
    codes = np.stack([rng.integers(0, 40, 900), rng.integers(0, 3, 900)], axis=1)
    region, weight = TREE.locate(codes), rng.random(900)
    wanted = weight.sum() * np.array([0.1, 0.7, 0.2])
    model.balance(codes, region, weight, wanted)
    assert weight @ model.probabilities(codes, region) == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("counts", [[9, 1, 0, -4, 2, 3], [0] * 6, [-9] * 6, [900, 0, 1, 0, 0, 0]])
def test_denoised_tables_hold_the_total_and_nothing_negative(counts, ordered):
    for total in (1.0, 50.0, 10_000.0):
        found = denoise(np.array(counts, float), total, 3.0, ordered=ordered)
        assert found.min() >= 0 and found.sum() == pytest.approx(total)
