"""Tables that fit a terminal."""

from __future__ import annotations

import pytest

from hedgerow.cli.display.terminal import print_table


def test_numbers_stand_right_and_words_are_folded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "28")
    rows = [["age [20, 40) and a dog", "1,234"], ["[b]", "7"]]
    print_table(["where", "people counted"], rows, {1})
    assert capsys.readouterr().out.splitlines() == [
        "                      people",
        "where                counted",
        "age [20, 40) and       1,234",
        "a dog",
        "[b]                        7",
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
