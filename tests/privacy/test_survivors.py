"""Mutants that once survived, each with a test of its own."""

from __future__ import annotations

import gc
import gzip
import traceback
from collections.abc import Sized
from fractions import Fraction
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hedgerow
from hedgerow import sample
from hedgerow.data import people as person
from hedgerow.errors import HedgerowError
from hedgerow.estimate.measurements import Measurement
from hedgerow.verification.rules import Book, Failed, afford, prices

SECRET = "Alice Liddell, 7 Deanery Garden"


# a person cap with a constant key ---------------------------------------------------------------


def test_the_key_of_a_cap_is_new_for_every_run() -> None:
    """With a known key somebody could choose ids that fall together with another's."""
    drawn = [person.new_key() for _ in range(20)]
    assert len({*drawn}) == 20 and min(map(len, drawn)) >= 16
    # bits are as often 0 as 1: of 2,560, fewer than 1,000 are of one kind once in 10^27 times
    ones = np.unpackbits(np.frombuffer(b"".join(key[:16] for key in drawn), np.uint8)).sum()
    assert 1000 < ones < 1560
    assert not np.array_equal(*(person.id_digests(pa.array(["ann"]), key) for key in drawn[:2]))


# an estimator that keeps the table --------------------------------------------------------------


def reachable(one: object) -> list[Any]:
    """All that an object holds, however deep: no code, and no module."""
    seen: dict[int, Any] = {}
    waiting = [one]
    while waiting:
        here = waiting.pop()
        if id(here) not in seen and not isinstance(here, type | ModuleType | FunctionType):
            seen[id(here)] = here
            waiting += gc.get_referents(here)
    return [*seen.values()]


def test_an_estimator_does_not_keep_the_table() -> None:
    """Nothing in it is as long as the table was, in whatever form."""
    sklearn = pytest.importorskip("hedgerow.sklearn")
    rows = 1009
    X = np.array([[3.25, 0.0], [7.5, 1.0]] * rows)[:rows]
    y = np.array(["no", "yes"] * rows)[:rows]
    classifier = sklearn.RegionClassifier(
        epsilon=5, bounds=[(0, 10), (0, 1)], classes=["no", "yes"], random_state=1
    )
    synthesizer = sklearn.Synthesizer(epsilon=5, bounds=[(0, 10), (0, 1)], random_state=1)
    for estimator in (classifier.fit(X, y), synthesizer.fit(X)):
        held = reachable(estimator)
        assert len(held) > 100
        long = [one for one in held if isinstance(one, Sized) and _length(one) in (rows, 2 * rows)]
        assert not long


def _length(one: Any) -> int:
    return int(one.size) if isinstance(one, np.ndarray) else len(one)


# readers that re-raise --------------------------------------------------------------------------


BROKEN = {
    "unfinished.csv": f'age,sex\n1,"{SECRET}\n2,{SECRET}",x,y\n'.encode() + b"\xff\xfe\n",
    "names.csv": SECRET.encode() + b",\xff\n1,2\n",
    "cut.csv.gz": gzip.compress(f"age,sex\n1,{SECRET}\n".encode() * 999)[:-20],
    "none.parquet": b"PAR1" + SECRET.encode() * 3 + b"PAR1",
    "none.xlsx": b"PK\x03\x04" + SECRET.encode() * 9,
    "none.jsonl": f'{{"age": 1, "sex": "{SECRET}"\n{SECRET}\n'.encode(),
    "none.arrow": b"ARROW1\0\0" + SECRET.encode() * 3,
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_a_reader_raises_holds_nothing_that_it_read(name: str, tmp_path: Path) -> None:
    """Neither in its words nor in an error behind it, which a traceback shows."""
    (tmp_path / name).write_bytes(BROKEN[name])
    with pytest.raises(HedgerowError) as caught:
        hedgerow.publish(tmp_path / name, sample.schema(), epsilon=1)
    error: BaseException | None = caught.value
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    while error is not None:
        assert error.__cause__ is None or isinstance(error.__cause__, HedgerowError)
        assert error.__context__ is None or error.__suppress_context__
        error = error.__cause__


# the pricing rules of verify --------------------------------------------------------------------


def noisy(unit: str, law: str = "laplace", most: int = 1, units: int = 1) -> Any:
    return Measurement(
        name="leaf", at="region", where=np.array([0]), values=np.array([[3]]), by_class=False,
        units=np.array([units]), unit=Fraction(unit), max_contribution=most, law=law,  # type: ignore[arg-type]
    )  # fmt: skip


def book(budget: str, unit: str, *entries: tuple[int, int]) -> Book:
    return Book(
        purpose="leaf", budget=budget, unit=Fraction(unit), granted=100,
        entries=dict.fromkeys(entries, 1),
    )  # fmt: skip


def fair(measurement: Any, paid: Book, units: int) -> bool:
    try:
        afford(measurement, paid, np.array([units]))
    except Failed:
        return False
    return True


@pytest.mark.parametrize(
    "rate, law, most, budget, paid, right",
    [
        ("1/2", "laplace", 1, "epsilon", "1/2", True),
        ("1/2", "laplace", 1, "epsilon", "499/1000", False),
        ("1/2", "laplace", 1, "epsilon", "501/1000", False),  # epsilon buys exactly its rate
        ("1/2", "laplace", 1, "rho", "1/8", True),
        ("1/2", "laplace", 1, "rho", "124/1000", False),
        ("1/2", "gaussian", 1, "rho", "1/4", True),
        ("1/2", "gaussian", 1, "rho", "249/1000", False),
        ("1/2", "gaussian", 3, "rho", "3/4", True),
        ("1/2", "gaussian", 3, "rho", "74/100", False),
        ("1/2", "gaussian", 1, "epsilon", "10", False),  # which buys no Gaussian noise
    ],
)
def test_a_price_is_held_to_the_last_digit(
    rate: str, law: str, most: int, budget: str, paid: str, right: bool
) -> None:
    assert fair(noisy(rate, law, most), book(budget, paid, (0, 1)), 1) is right


def test_the_price_of_a_rate_is_one_that_was_booked() -> None:
    assert prices(noisy("1/10", units=3), book("epsilon", "1/10", (0, 3))).tolist() == [3]
    for wrong in (
        noisy("1/10", units=4),  # nobody booked 4
        noisy("1/3", units=1),  # no whole number of units
        noisy("1/10", law="gaussian", units=3),
    ):
        with pytest.raises(Failed):
            prices(wrong, book("epsilon", "1/10", (0, 3)))
    with pytest.raises(Failed, match="budget of epsilon"):
        prices(noisy("1/10", units=3), book("rho", "1/10", (0, 3)))


def test_a_charge_to_everybody_is_booked_once() -> None:
    assert book("epsilon", "1/10", (0, 3)).once() == 3
    twice = Book(purpose="leaf", budget="epsilon", unit=Fraction(1), granted=9, entries={(0, 3): 2})
    for wrong in (twice, book("epsilon", "1/10", (0, 3), (0, 4)), book("epsilon", "1/10")):
        with pytest.raises(Failed, match="not booked once"):
            wrong.once()
    assert twice.total == 6
