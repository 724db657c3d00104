"""Tables that fit a terminal."""

from __future__ import annotations

import pytest

from hedgerow.cli.display.terminal import print_table


def test_numbers_stand_right_and_words_are_folded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "22")
    rows = [["age [20, 40) and a dog", "1,234"], ["[b]", "7"]]
    print_table(["where", "people counted"], rows, {1})
    assert capsys.readouterr().out.splitlines() == [
        "                people",
        "where          counted",
        "age [20,         1,234",
        "40) and a",
        "dog",
        "[b]                  7",
    ]


def test_wide_signs_take_two_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    print_table(["place", "n"], [["東京都", "1"], ["Cafe\u0301", "2"]], {1})
    assert capsys.readouterr().out.splitlines() == ["place   n", "東京都  1", "Cafe\u0301    2"]


def test_a_table_that_does_not_fit_becomes_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "10")
    print_table(["where", "people"], [["a long place", "1,234,567"]], {1})
    assert capsys.readouterr().out.splitlines() == ["where: a long place", "people: 1,234,567", ""]


HEADS = ["occupation", "about", "usually within", "from", "to", "remark"]
ROWS = [
    ["agriculture/forestry", "1,234", "120", "1,100", "1,400", "mostly noise"],
    ["other (incl. missing)", "12", "40", "0", "90", "not measured"],
]


@pytest.mark.parametrize("width", [64, 80, 200])
def test_words_and_numbers_stay_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    print_table(HEADS, ROWS, {1, 2, 3, 4})
    text = capsys.readouterr().out
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    for cell in (one for row in (HEADS, *ROWS) for one in row):
        assert all(word in text for word in cell.split())


def test_a_word_as_long_as_the_terminal_is_broken_and_numbers_are_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    print_table(HEADS, [["x" * 70, *ROWS[0][1:]]], {1, 2, 3, 4})
    text = capsys.readouterr().out
    assert "x" * 70 not in text and "1,234" in text and "1,400" in text
