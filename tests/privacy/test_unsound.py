"""Every flaw that is known is caught, and the same attack finds nothing in the real code."""

from __future__ import annotations

from functools import cache

import pytest
from unsound import PAIRS, Catch, pairs_of_attacks

ATTACKS = pairs_of_attacks()


@cache
def on_sound_code(attack, runs) -> Catch:
    """Several flaws may have the attack in common."""
    return attack(runs)


@pytest.mark.parametrize(
    "flaw, sound, broken", ATTACKS, ids=[f"{f.name}, {f.audit}" for f, *_ in ATTACKS]
)
def test_the_flaw_is_caught_and_the_sound_twin_is_not(flaw, sound, broken):
    """The attack becomes longer until it catches the flaw; then sound code stands just as long.

    So a flaw that shows in half of its runs costs half, and is missed no more often. Fewer than 60
    runs of a trial prove nothing, and the largest numbers of runs leave nothing to spare.
    """
    parts = (4, 2, 1) if flaw.runs <= PAIRS else (2, 1) if flaw.runs <= 250 else (1,)
    for runs in sorted({-(-flaw.runs // part) for part in parts}):
        with broken():
            found = flaw.attack(runs)
        if found.caught:
            break
    assert found.caught, found
    found = on_sound_code(sound, runs)
    assert not found.caught, found
