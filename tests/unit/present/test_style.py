from __future__ import annotations

import re
from importlib import resources

import pytest

from hedgerow.present.render import COLORS

STYLE = resources.files("hedgerow.present").joinpath("templates/style.css").read_text("utf-8")


def colors(text: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+):(#[0-9a-f]{3,6})\b", text))


LIGHT = colors(STYLE.split("@media (prefers-color-scheme:dark)")[0])
DARK = LIGHT | colors(STYLE.split("@media (prefers-color-scheme:dark)")[1].split("}}")[0])
PAPER = LIGHT | colors(STYLE.split("@media print")[1])
PAIRS = [
    (front, back)
    for front in ("ink", "soft", "told", "good")
    for back in ("ground", "card")
] + [("ink", "box"), ("ink", "box-2"), ("on-warn", "warn")]  # fmt: skip


def brightness(color: str) -> float:
    digits = color[1:] if len(color) == 7 else "".join(c * 2 for c in color[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((brightness(one), brightness(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_measure_is_that_of_the_guidelines() -> None:
    assert contrast("#fff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", [LIGHT, DARK, PAPER], ids=["light", "dark", "paper"])
def test_text_can_be_told_from_its_ground(scheme: dict[str, str]) -> None:
    for front, back in PAIRS:
        assert contrast(scheme[front], scheme[back]) >= 4.5, (front, back)
    parts = [f"c{number + 1}" for number in range(COLORS)]
    assert len({scheme[part] for part in parts}) == COLORS
    for mark in ("bar", "raw", *parts):  # bars and strips
        assert contrast(scheme[mark], scheme["card"]) >= 3, mark
    assert contrast(scheme["ink"], scheme["bar"]) >= 3  # intervals are drawn on bars


def test_the_table_of_odds_is_printed_in_one_piece() -> None:
    rules = re.findall(r"([^{}]*)\{break-inside:avoid\}", STYLE.split("@media print")[1])
    assert any(".together" in rule.split(",") for rule in rules)


def test_nothing_is_loaded() -> None:
    assert not re.search(r"url\(|@import|@font-face|expression", STYLE)


def test_a_picture_is_printed_in_one_piece_with_its_heading() -> None:
    printed = STYLE[STYLE.index("@media print") :]
    assert ".cards.broad>div,.cards>div>.wide{break-inside:avoid}" in printed
    assert printed.index(".cards.broad>div") > printed.index(".cards>div{break-inside:auto")
    assert "h2,h3,caption,thead{break-after:avoid}" in printed
