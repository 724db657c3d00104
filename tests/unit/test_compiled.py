"""How loops are compiled; that both forms agree is looked at in tests/contracts/test_kernels.py."""

from __future__ import annotations

from hedgerow.compiled import helper, kernel


@helper
def _part(number: int, by: int, upwards: bool) -> int:
    return (number + by - 1) // by if upwards else number // by


@kernel()
def _parts(number: int) -> int:
    halves = _part(number, 2, True) + _part(number, 2, upwards=False)
    return halves + 100 * _part(number, 3, number > 9) + 1000 * _part(9, number, False)


def test_kernels_call_helpers_in_both_forms() -> None:
    assert _parts.compiled(7) == _parts.python(7) == 4 + 3 + 200 + 1000
    assert _part(7, 2, True) == 4
