"""What a generalised value is worth, and how much its owner minds it.

Utility is a sum over attributes of a number that falls as a value is generalised; sensitivity is
such a sum too. The risk of a generalisation x of a record is sensitivity(x) / count(x), where
count(x) is the number of records of a public side table that x could stand for. Both sums are
modular on the lattice of a record's generalisations and the count is supermodular; the
optimisers live on that.

The sensitivity of the most general value would be 0, and the risk 0 over something. The public
floor goes into each attribute by its share (`max(weight, floor / attributes)`), not over the sum:
the sum is then at least the floor and still modular, which max(sum, floor) would not be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hedgerow.arrays import Floats, Small
from hedgerow.errors import UsageError
from hedgerow.optimise.hierarchy import Forest
from hedgerow.schema import Attribute, Categorical

__all__ = ["Aim", "Rule", "Utility", "Worth", "check_number"]

Weights = Mapping[str, float | Mapping[str, float]]

Utility = Literal["log", "leaves", "depth"]
Rule = Literal["fixed", "constant", "harmonic"]

MOST_KAPPA = 16


@dataclass(frozen=True)
class Aim:
    """What is looked for in a record's generalisations.

    Args:
        risk: For the threshold model: the largest risk; utility is then maximised. None for the
            aggregate model, which maximises trade / risk + utility ** kappa.
        trade: The paper's lambda: what a halved risk is worth.
        kappa: A whole number from 1.

    Example:
        >>> Aim(risk=0.1).threshold, Aim(trade=2.0).threshold
        (True, False)
    """

    risk: float | None = None
    trade: float = 1.0
    kappa: int = 1

    def __post_init__(self) -> None:
        """Refuses numbers that cannot be meant."""
        if self.risk is not None:
            check_number("the risk threshold", self.risk, above=0)
        check_number("lambda", self.trade)
        if isinstance(self.kappa, bool) or not isinstance(self.kappa, int):
            raise UsageError("kappa must be a whole number.", hint="Take 1, 2 or 3.")
        if not 1 <= self.kappa <= MOST_KAPPA:
            raise UsageError(
                f"kappa must be a whole number from 1 to {MOST_KAPPA}.", hint="Take 1, 2 or 3."
            )

    @property
    def threshold(self) -> bool:
        """Whether this is the threshold model."""
        return self.risk is not None


@dataclass(frozen=True, eq=False)
class Worth:
    """The utility and the sensitivity of every node of a forest.

    Args:
        utility: Of each node.
        weight: Of each node, before a record's own factor and the floor.
        floor: The least sensitivity of an attribute: the public floor over their number.
    """

    utility: Floats
    weight: Floats
    floor: float

    @staticmethod
    def of(
        forest: Forest,
        attributes: Sequence[Attribute],
        utility: Utility,
        rule: Rule,
        weights: Weights | None,
        floor: float,
    ) -> Worth:
        """Works both out.

        Args:
            forest: The hierarchies of the attributes.
            attributes: Their names and labels.
            utility: "log" (ln of leaves in all over leaves below), "leaves" (1 over leaves below)
                or "depth" (steps below the root).
            rule: "fixed" (the weight of an attribute, 0 at the root), "constant" (also at the
                root) or "harmonic" (1 over the sum of 1 over the children's, 0 at the root).
            weights: For each attribute its weight, or the weights of its values; 1 for all
                without it.
            floor: The least sensitivity of a whole record.
        """
        check_number("the floor of the sensitivity", floor, above=0)
        size = forest.sizes().astype(np.float64)
        worth = np.empty(len(size))
        weight = np.empty(len(size))
        ends = np.append(forest.root[1:], len(size)).tolist()
        leaf_ends = np.append(forest.leaf[1:], len(forest.leaf_node)).tolist()
        given = _complete(attributes, weights)
        for place, attribute in enumerate(attributes):
            root, end = int(forest.root[place]), ends[place]
            part = slice(root, end)
            if utility == "log":
                worth[part] = np.log(size[root] / size[part])
            elif utility == "leaves":
                worth[part] = 1 / size[part]
            else:
                worth[part] = forest.depth[part]
            leaves = forest.leaf_node[forest.leaf[place] : leaf_ends[place]]
            weight[leaves] = _leaf_weights(attribute, given[attribute.name])
            _raise_weights(forest, weight, root, end, leaves, rule)
        return Worth(worth, weight, floor / len(attributes))


def check_number(what: str, value: object, above: float | None = None) -> float:
    """A finite number that is not negative, or a refusal.

    Example:
        >>> check_number("the weight of age", float("nan"))
        Traceback (most recent call last):
        hedgerow.errors.UsageError: the weight of age is no finite number
          Give a number such as 1 or 0.5.
    """
    hint = "Give a number such as 1 or 0.5."
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise UsageError(f"{what} is no finite number", hint=hint)
    if value < 0 or (above is not None and value <= above):
        least = "negative" if above is None else f"not above {above}"
        raise UsageError(f"{what} is {least}", hint=hint)
    return float(value)


def _complete(
    attributes: Sequence[Attribute], weights: Weights | None
) -> dict[str, float | Mapping[str, float]]:
    """The weights of all attributes; refuses a missing one and one of nothing."""
    names = [attribute.name for attribute in attributes]
    if weights is None:
        return dict.fromkeys(names, 1.0)
    for name in names:
        if name not in weights:
            raise UsageError(
                f"There is no weight for {name!r}.",
                hint="Give every attribute one, the class too; 0 where nobody minds.",
            )
    for name in weights:
        if name not in names:
            raise UsageError(
                f"There is a weight for {name!r}, which is no attribute of the schema.",
                hint=f"The attributes are: {', '.join(names)}.",
            )
    return dict(weights)


def _leaf_weights(attribute: Attribute, given: float | Mapping[str, float]) -> Floats:
    """The weight of every code of an attribute."""
    if not isinstance(given, Mapping):
        return np.full(attribute.size, check_number(f"the weight of {attribute.name!r}", given))
    if not isinstance(attribute, Categorical):
        raise UsageError(
            f"{attribute.name!r} is numeric, so its values cannot have weights of their own.",
            hint="Give the attribute one weight.",
        )
    taxonomy = attribute.taxonomy
    found = np.full(attribute.size, np.nan)
    for node, label in enumerate(taxonomy.labels):  # from general to special: the special wins
        if label in given:
            low, high = taxonomy.spans[node]
            found[low:high] = check_number(f"the weight of {label!r}", given[label])
    unknown = set(given) - set(taxonomy.labels)
    if unknown:
        raise UsageError(
            f"{sorted(unknown)[0]!r} is no value of {attribute.name!r}, and has a weight.",
            hint="Spell values as in the schema.",
        )
    bare = np.flatnonzero(np.isnan(found))
    if len(bare):
        raise UsageError(
            f"There is no weight for {taxonomy.leaves[bare[0]]!r} of {attribute.name!r}.",
            hint="Give every value one, or a group that holds it.",
        )
    return found


def _raise_weights(
    forest: Forest, weight: Floats, root: int, end: int, leaves: Small, rule: Rule
) -> None:
    """Carries the weights of leaves up to the root, never rising on the way."""
    up = np.zeros(end - root) if rule == "harmonic" else np.full(end - root, np.inf)
    with np.errstate(divide="ignore"):
        up[leaves - root] = 1 / weight[leaves] if rule == "harmonic" else weight[leaves]
    for node in reversed(range(root + 1, end)):  # children come after their parents
        above = forest.parent[node] - root
        # otherwise a group is as sensitive as the least sensitive value it may stand for
        up[above] = (
            up[above] + up[node - root] if rule == "harmonic" else min(up[above], up[node - root])
        )
    weight[root:end] = 1 / up if rule == "harmonic" else up
    if rule != "constant":
        weight[root] = 0.0
