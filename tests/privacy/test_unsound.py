"""Every flaw that is known is caught, and the same attack finds nothing in the real code."""

from __future__ import annotations

from functools import cache

import pytest
from unsound import PAIRS, WORKED_OUT, Catch, pairs_of_attacks

ATTACKS = pairs_of_attacks()


@cache
def on_sound_code(attack, runs) -> Catch:
    """Several flaws may have the attack in common."""
    return attack(runs)


# It takes as long as a quarter of all others, and two other attacks here catch that flaw.
LONG = ("P9", "enumeration")


@pytest.mark.parametrize(
    "flaw, sound, broken",
    [
        pytest.param(
            *attack,
            id=f"{attack[0].name}, {attack[0].audit}",
            marks=[pytest.mark.long] if (attack[0].name, attack[0].audit) == LONG else [],
        )
        for attack in ATTACKS
    ],
)
def test_the_flaw_is_caught_and_the_sound_twin_is_not(flaw, sound, broken):
    """The attack becomes longer until it catches the flaw; then sound code stands just as long.

    So a flaw that shows in half of its runs costs half, and is missed no more often. Fewer than 40
    runs of a trial prove nothing, and what needs all of its runs is not tried with fewer.
    """
    exact = flaw.runs <= PAIRS
    parts = (1,) if flaw.audit in WORKED_OUT else (14, 4, 2, 1) if exact else (2, 1)
    for runs in sorted({-(-flaw.runs // part) for part in parts}):
        with broken():
            found = flaw.attack(runs)
        if found.caught:
            break
    assert found.caught, found
    found = on_sound_code(sound, runs)
    assert not found.caught, found
