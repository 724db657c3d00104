from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from hedgerow.report.html import Safe, bars, join, table, tag


class Reader(HTMLParser):
    """What a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(name)
        self.attributes += attributes

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


PRINTED = st.text(
    st.characters(min_codepoint=32, exclude_categories=("Cc", "Cs", "Cf", "Zl", "Zp"))
)


@given(PRINTED, PRINTED)
def test_whatever_is_put_in_stays_text(text: str, value: str) -> None:
    seen = read(tag("p", text, title=value))
    assert seen.tags == ["p"] and [name for name, _ in seen.attributes] == ["title"]
    if len(text) < 1000 and len(value) < 1000:
        assert seen.text == text.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")
        assert seen.attributes[0][1] == value.replace("\ufffe", "\ufffd").replace(
            "\uffff", "\ufffd"
        )


def test_what_is_marked_as_safe_is_left_alone() -> None:
    assert tag("p", Safe("<b>x</b>")) == "<p><b>x</b></p>"
    assert join(["<", Safe("<b>"), None]) == "&lt;<b>"
    assert isinstance(join(["<"]), Safe)


def test_nothing_turns_the_direction_of_writing() -> None:
    shown = tag("p", "safe\u202egnp.exe\u2066")
    assert "\u202e" not in shown and "\u2066" not in shown and "U+202E" in shown


def test_what_cannot_be_seen_is_shown_as_such() -> None:
    assert tag("p", "a\x00b\x1bc\ud800") == "<p>a\ufffdb\ufffdc\ufffd</p>"


def test_very_long_texts_are_cut() -> None:
    assert len(tag("p", "x" * 10**6)) < 1100


def test_attributes() -> None:
    assert tag("td", class_="num", aria_label="a", hidden=False, title=None, open=True) == (
        '<td class="num" aria-label="a" open></td>'
    )


def test_a_table_has_headings_of_rows_and_columns() -> None:
    made = table("what", ["name", "count"], [["<a>", "1"]], {1})
    assert "<caption><span>what</span></caption>" in made
    assert '<th scope="row">&lt;a&gt;</th>' in made and '<td class="num">1</td>' in made
    assert made.count('scope="col"') == 2


def test_bars_stay_within_their_cell() -> None:
    assert "width:100.00%" in bars([("told", 7.0)]) and "width:0.00%" in bars([("told", -1.0)])
