from __future__ import annotations

import numpy as np
import pytest

from hedgerow.methods.diffpart import GrowingCuts, Numbering
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.ledger import Ledger
from hedgerow.privacy.sampler import SecureSampler
from hedgerow.schema import Items, Schema
from hedgerow.schema.items import MOST_CHILDREN, ItemTree
from hedgerow.schema.taxonomy import Taxonomy


def curator() -> Curator:
    return Curator(Ledger([]), SecureSampler(Keystream(seed=1)))


@pytest.mark.parametrize("leaf_bits", [0, 1, 2, 3])
def test_numbers_and_masks_are_one_to_one(leaf_bits: int) -> None:
    numbering = Numbering(np.array([2, 0, 1]), leaf_bits)
    masks = np.arange(1, 8)
    numbers = numbering.number(masks)
    assert sorted(numbers.tolist()) == masks.tolist()
    assert numbering.mask(numbers).tolist() == masks.tolist()
    assert numbering.leaf_sets + numbering.other_sets == 7
    leaves, others = (
        sort((masks, masks * 10))[0].tolist() for sort in (numbering.leaves, numbering.others)
    )
    assert leaves == list(range(numbering.leaf_sets))
    assert others == list(range(numbering.other_sets))


def test_leaves_are_the_masks_without_a_group() -> None:
    tree = ItemTree.of(Items(Taxonomy.from_nested("Any", {"g": ["a", "b"], "c": None})))
    cuts = GrowingCuts(tree)
    cuts.choose(curator(), [0])
    numbering = cuts.numbering(0)
    # bit 0 is the group g, bit 1 the item c
    assert (numbering.leaf_sets, numbering.other_sets) == (1, 2)
    assert numbering.mask(np.array([1])).tolist() == [0b10]
    child = cuts.add(0, 0b11)
    assert [tree.labels[node] for node in cuts.cuts[child]] == ["g", "c"]
    assert cuts.inner_nodes(child) == 1 and cuts.open([child]) == [child]
    cuts.choose(curator(), [child])
    assert tree.labels[cuts.split[child]] == "g"
    leaf = cuts.add(child, 0b01)
    assert [tree.labels[node] for node in cuts.cuts[leaf]] == ["c", "a"] and not cuts.open([leaf])
    cuts.partition().check(Items(Taxonomy.from_nested("Any", {"g": ["a", "b"], "c": None})))


def test_the_coin_takes_each_of_equal_nodes() -> None:
    cuts = GrowingCuts(ItemTree.of(Items(tuple("abcdefgh"), fan_out=2)))
    cuts.choose(curator(), [0])
    child = cuts.add(0, 0b11)
    source, seen = curator(), set()
    for _ in range(60):  # all the same with probability 2^-59
        cuts.choose(source, [child])
        seen.add(cuts.split[child])
    assert seen == set(cuts.cuts[child])


def test_very_wide_nodes_are_grouped() -> None:
    items = Items(range(1, 5001), fan_out=6000)
    tree = ItemTree.of(items)
    assert tree.children.max() <= MOST_CHILDREN
    leaves = np.flatnonzero(tree.children == 0)
    assert sorted(tree.lo[leaves].tolist()) == list(range(5000))
    assert [tree.labels[leaf] for leaf in leaves[:2]] == ["1", "2"]


def test_a_partition_that_was_not_expanded_says_so():
    items = {"name": "s", "unit": "row", "items": {"universe": ["only"]}}
    tree = ItemTree.of(Schema.from_dict(items).items)
    found = GrowingCuts(tree).partition()
    assert (found.parent.tolist(), found.split.tolist()) == ([-1], [-1])
    assert (found.cut_start.tolist(), found.cut.tolist()) == ([0, 1], [0])
