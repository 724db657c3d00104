"""Hierarchies, weights and settings, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hedgerow.errors import UsageError
from hedgerow.optimize.model import Aim, Forest, Side, Worth
from hedgerow.schema import Categorical, Numeric, Schema, Taxonomy

SCHEMA = Schema.from_dict(
    {
        "name": "simulated",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 4, "missing": "other"},
            "job": {"type": "categorical", "taxonomy": {"Care": ["nurse", "doctor"], "cook": None}},
            "ill": {"type": "boolean", "role": "class"},
        },
    }
)
ATTRIBUTES = SCHEMA.columns
FOREST = Forest.of(ATTRIBUTES)


def worth(rule="fixed", weights=None, utility="log", floor=0.3):
    return Worth.of(FOREST, ATTRIBUTES, utility, rule, weights, floor)


def along(values, attribute, code):
    return [float(values[node]) for node in FOREST.chain(attribute, code)]


def test_the_class_is_one_more_attribute():
    assert [attribute.name for attribute in ATTRIBUTES] == ["age", "job", "ill"]


def test_chains_lead_from_the_value_to_the_root():
    def labels(attribute, code):
        chain = FOREST.chain(attribute, code)
        return [ATTRIBUTES[attribute].label(FOREST.lo[n], FOREST.hi[n]) for n in chain]

    assert labels(0, 3) == ["3", "[3, 4]", "[2, 4]", "[0, 4]", "[0, 4] or other"]
    assert labels(0, 5) == ["other", "[0, 4] or other"]
    assert labels(1, 0) == ["nurse", "Care", "Any"]
    assert labels(1, 2) == ["cook", "Any"]


@pytest.mark.parametrize("fan", [2, 3, 7])
@pytest.mark.parametrize("size", [2, 3, 8, 31])
def test_children_divide_their_parent(fan, size):
    age = Numeric("age", low=Fraction(0), high=Fraction(size - 1), step=Fraction(1), kind="integer")
    forest = Forest.of((age,), fan)
    for node in range(len(forest.parent)):
        below = np.flatnonzero(forest.parent == node)
        covered = sorted((int(forest.lo[n]), int(forest.hi[n])) for n in below)
        if covered:
            assert covered[0][0] == forest.lo[node]
            assert covered[-1][1] == forest.hi[node]
            assert all(a[1] == b[0] for a, b in zip(covered, covered[1:], strict=False))
        else:
            assert forest.hi[node] - forest.lo[node] == 1
    assert forest.largest_lattice() == forest.heights()[0] + 1


def test_utilities():
    assert along(worth(utility="log").utility, 1, 0) == pytest.approx([np.log(3), np.log(1.5), 0])
    assert along(worth(utility="leaves").utility, 1, 0) == pytest.approx([1, 1 / 2, 1 / 3])
    assert along(worth(utility="depth").utility, 1, 0) == [2, 1, 0]


def test_weights_by_rule():
    given = {"age": 2, "job": {"Care": 6, "doctor": 3, "cook": 1}, "ill": 0}
    assert along(worth("fixed", given).weight, 1, 0) == [6, 3, 0]
    assert along(worth("constant", given).weight, 1, 0) == [6, 3, 1]
    assert along(worth("harmonic", given).weight, 1, 0) == pytest.approx([6, 2, 0])
    assert along(worth("harmonic", given).weight, 2, 0) == [0, 0]
    assert along(worth("constant", given).weight, 0, 5) == [2, 2]


def test_the_floor_is_shared_by_attributes():
    assert worth(floor=0.3).floor == pytest.approx(0.1)


@pytest.mark.parametrize(
    "weights, words",
    [
        ({"age": 1, "job": 1}, "no weight for 'ill'"),
        ({"age": -1, "job": 1, "ill": 1}, "negative"),
        ({"age": float("nan"), "job": 1, "ill": 1}, "no finite number"),
        ({"age": float("inf"), "job": 1, "ill": 1}, "no finite number"),
        ({"age": "much", "job": 1, "ill": 1}, "no finite number"),
        ({"age": True, "job": 1, "ill": 1}, "no finite number"),
        ({"age": 1, "job": 1, "ill": 1, "shoe": 1}, "no attribute"),
        ({"age": 1, "job": {"Care": 1}, "ill": 1}, "no weight for 'cook'"),
        ({"age": 1, "job": {"Care": 1, "cook": 1, "monk": 1}, "ill": 1}, "no value of 'job'"),
        ({"age": 1, "job": {"Care": -2, "cook": 1}, "ill": 1}, "negative"),
        ({"age": {"3": 1}, "job": 1, "ill": 1}, "numeric"),
    ],
)
def test_bad_weights(weights, words):
    with pytest.raises(UsageError, match=words):
        worth(weights=weights)


@pytest.mark.parametrize("floor", [0, -1, float("nan")])
def test_bad_floors(floor):
    with pytest.raises(UsageError, match="floor"):
        worth(floor=floor)


@pytest.mark.parametrize("kappa", [0, -1, 1.0, 1.5, True, "2", 17])
def test_kappa_is_a_whole_number(kappa):
    with pytest.raises(UsageError, match="kappa must be a whole number"):
        Aim(kappa=kappa)


@pytest.mark.parametrize(
    "settings", [{"risk": 0}, {"risk": -1}, {"risk": float("nan")}, {"trade": -1}]
)
def test_bad_aims(settings):
    with pytest.raises(UsageError):
        Aim(**settings)


def test_a_hierarchy_of_height_0():
    only = Schema.from_dict(
        {
            "name": "x",
            "unit": "row",
            "attributes": {"only": {"type": "categorical", "values": ["x"]}},
        }
    )
    with pytest.raises(UsageError, match="height 0"):
        Forest.of(only.attributes)
    with pytest.raises(UsageError, match="nothing to generalize"):
        Forest.of(())


def test_a_hierarchy_that_is_too_high():
    labels = tuple(f"n{place}" for place in range(140))
    parents = (-1, *(place // 2 * 2 for place in range(139)))
    tall = Categorical("tall", Taxonomy(labels, parents))
    with pytest.raises(UsageError, match="more than 60 levels"):
        Forest.of((tall,))


def test_side_tables_that_do_not_fit():
    with pytest.raises(UsageError, match="attributes of the schema"):
        Side.of(FOREST, np.zeros((5, 2), np.int64))
    with pytest.raises(UsageError, match="no rows"):
        Side.of(FOREST, np.zeros((0, 3), np.int64))
