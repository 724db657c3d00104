"""The shares of classes in regions."""

from __future__ import annotations

import pytest

from hedgerow.report.sections.regions import ShownRegion


@pytest.mark.parametrize(
    ("no", "yes", "told"),
    [
        (930, 70, "7% ± 1"),  # by 0.5 points, which is not none
        (0, 9, "not known"),
        (4, 4, "not known"),
        (0, 0, "-"),
    ],
)
def test_noise_is_rounded_up_and_a_share_that_it_covers_is_not_told(
    no: int, yes: int, told: str
) -> None:
    region = ShownRegion(1, {}, {"no": no, "yes": yes}, variance=(9.0, 9.0))
    assert region.share("yes") == told
