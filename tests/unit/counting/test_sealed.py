"""Exact counts can be computed with and not looked at."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hedgerow.counting import sealed
from hedgerow.counting.sealed import Key, Sealed, claim_key
from hedgerow.errors import LeakError

LOOKS: dict[str, Callable[[Any], Any]] = {
    "len": len,
    "iter": iter,
    "list": list,
    "bool": bool,
    "not": lambda counts: not counts,
    "equal": lambda counts: counts == 3,
    "unequal": lambda counts: counts != 3,
    "hash": hash,
    "item": lambda counts: counts[0],
    "in": lambda counts: 3 in counts,
    "int": int,
    "float": float,
    "array": np.asarray,
    "sum": np.sum,
    "pickle": pickle.dumps,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "format": lambda counts: f"{counts:>9}",
}


@pytest.mark.parametrize("look", LOOKS)
def test_looking_is_an_error(look: str) -> None:
    counts = Sealed(np.array([3, 1, 4]))
    with pytest.raises((LeakError, TypeError)):
        LOOKS[look](counts)


def test_its_text_tells_nothing() -> None:
    for content in (np.array([17]), 17, [17] * 40):
        counts = Sealed(content)
        assert repr(counts) == str(counts) == f"{counts}" == "Sealed(...)"
        assert not hasattr(counts, "__dict__")


def test_a_function_is_applied_under_the_seal() -> None:
    mapped = Sealed([3, 1]).map(sum)
    assert repr(mapped) == "Sealed(...)"
    with pytest.raises(LeakError):
        int(mapped)  # type: ignore[call-overload]
    assert mapped.open(sealed._KEY) == 4


def test_another_key_does_not_open() -> None:
    for key in (Key(), None, "key", object()):
        with pytest.raises(LeakError, match="mechanism alone"):
            Sealed(1).open(key)  # type: ignore[arg-type]


def test_the_key_is_claimed_once() -> None:
    import hedgerow.privacy.curator  # noqa: F401  claims it, if nobody did yet

    with pytest.raises(LeakError, match="claimed already"):
        claim_key()
