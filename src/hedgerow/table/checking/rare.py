"""Values of a schema that few people have: something for the steward to hear.

What is found here depends on private data. It is told to whoever holds the data, and must not
become part of a release, nor change one. A value that nobody has is not meant: it did not come
from the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hedgerow.schema.attributes import Attribute, Categorical
from hedgerow.table.checking.distinct import holders
from hedgerow.table.rules import other_code
from hedgerow.table.stream import Encoded

__all__ = ["RareValues", "rare_warnings"]

_FEWEST = 10  # people


class RareValues:
    """Finds the leaves of taxonomies that fewer than ten people have.

    Args:
        attributes: The attributes that are published, in the order of the codes.

    Example:
        >>> from hedgerow.schema import Schema
        >>> from hedgerow.table.rules import Report
        >>> columns = {"ward": {"type": "categorical", "values": ["a", "b", "c"]}}
        >>> rare = RareValues(Schema.from_dict({"name": "x", "attributes": columns}).attributes)
        >>> codes = np.array([0] * 12 + [1])
        >>> rare.add(Encoded(columns=[codes], rows=13, people=None, report=Report()))
        >>> rare.found()
        {'ward': ['b']}
    """

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self._held = [
            (place, attribute, [set[int]() for _ in range(attribute.size)])
            for place, attribute in enumerate(attributes)
            if isinstance(attribute, Categorical)
        ]
        self._enough = {place: np.zeros(len(who), bool) for place, _, who in self._held}
        self._rows = 0

    def add(self, batch: Encoded) -> None:
        """Looks at the rows of a batch."""
        people = holders(batch, self._rows)
        self._rows += batch.rows
        for place, _, who in self._held:
            codes, enough = batch.columns[place], self._enough[place]
            here = ~enough[codes]
            pairs = np.unique(np.stack([codes[here], people[here]], axis=1), axis=0)
            ranks = np.arange(len(pairs)) - np.searchsorted(pairs[:, 0], pairs[:, 0])
            for code, person in pairs[ranks < _FEWEST].tolist():  # more than enough of each
                who[code].add(person)
                enough[code] = len(who[code]) >= _FEWEST

    def found(self) -> dict[str, list[str]]:
        """The values by attribute; `other` is no value of a taxonomy."""
        rare = {}
        for _, attribute, who in self._held:
            has_other = "other" in (attribute.missing, attribute.outside)
            other = other_code(attribute) if has_other else None
            few = [leaf for code, leaf in enumerate(attribute.taxonomy.leaves)
                   if code != other and 0 < len(who[code]) < _FEWEST]  # fmt: skip
            if few:
                rare[attribute.name] = few
        return rare


def rare_warnings(rare: Mapping[str, Sequence[str]], what: str) -> list[str]:
    """What a steward should hear; no value is named.

    Args:
        rare: What was found.
        what: How messages call the data.
    """
    return [
        f"{what}, column {name!r}: NOT PRIVATE: fewer than {_FEWEST} people have each of "
        f"{len(few)} of its values, which are published with the schema. Keep those that anybody "
        "could have listed who never saw the data; take out what somebody wrote."
        for name, few in rare.items()
    ]
