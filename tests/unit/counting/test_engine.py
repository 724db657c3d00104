"""The schema as flat arrays."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from hedgerow.counting.engine import Domain
from hedgerow.schema import Categorical, Numeric, Schema, Taxonomy

JOBS = Taxonomy.from_nested(
    "Any", {"Desk": {"Law": ["a", "b"], "IT": ["c", "d"]}, "Craft": ["e", "f", "g"]}
)
SCHEMA = Schema(
    "people",
    (
        Categorical("job", JOBS),
        Numeric(
            "age",
            low=Fraction(17),
            high=Fraction(90),
            step=Fraction(1),
            kind="integer",
            missing="other",
        ),
        Categorical("only", Taxonomy(("x",), (-1,))),
        Categorical("sex", Taxonomy.flat(["f", "m"])),
    ),
    unit="row",
)


def test_children_are_contiguous_and_cover_their_parent() -> None:
    domain = Domain.of(SCHEMA)
    assert domain.sizes.tolist() == [7, 75, 1, 2]
    assert domain.root.tolist() == [0, -1, 12, 13]
    assert domain.classes == 1
    assert domain.attributes == 4
    for node, number in enumerate(domain.children):
        if number:
            below = slice(domain.first_child[node], domain.first_child[node] + number)
            ends = [*domain.node_lo[below], domain.node_hi[node]]
            assert ends[0] == domain.node_lo[node]
            assert domain.node_hi[below].tolist() == ends[1:]
            assert all(a < b for a, b in zip(ends, ends[1:], strict=False))
        else:
            assert domain.node_hi[node] - domain.node_lo[node] == 1


def test_what_can_be_split_is_public() -> None:
    domain = Domain.of(SCHEMA)
    lo, hi = np.zeros((1, 4), np.int32), domain.sizes[None, :]
    assert domain.splittable(lo, hi, domain.root[None, :]).tolist() == [[True, True, False, True]]
    one = hi.copy()
    one[0, 1] = 1  # an interval of a single grid point
    assert not domain.splittable(lo, one, domain.root[None, :])[0, 1]
    numbers = Domain.of(Schema("n", (SCHEMA.attributes[1],), unit="row"))
    top = np.array([[-1]], dtype=np.int32)
    assert numbers.splittable(np.array([[3]], np.int32), np.array([[5]], np.int32), top).all()
    assert not numbers.splittable(np.array([[3]], np.int32), np.array([[4]], np.int32), top).any()


def test_classes_are_counted() -> None:
    target = Categorical("ill", Taxonomy.flat(["no", "yes", "maybe"]))
    assert Domain.of(Schema("s", SCHEMA.attributes, target=target, unit="row")).classes == 3
