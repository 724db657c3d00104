from __future__ import annotations

import re
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from hedgerow.present.document import Bar, Document, Grid, Heading, Scale, Section, Text
from hedgerow.present.html import fragment, page
from hedgerow.store.markup import Safe, join, tag


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
    made = fragment([Grid("what", ("name", "count"), rows=(("<a>", "1"),), numbers=frozenset({1}))])
    assert "<caption><span>what</span></caption>" in made
    assert '<th scope="row">&lt;a&gt;</th>' in made and '<td class="num">1</td>' in made
    assert made.count('scope="col"') == 2


def test_bars_stay_within_their_cell() -> None:
    bars = (
        ("a", Bar(7.0, low=2.0, high=9.0)),
        ("b", Bar(-1.0)),
        ("c", Bar(0.5, low=0.25, high=0.75)),
    )
    made = str(fragment([Grid("what", ("name", Scale(1.0, "%")), rows=bars)]))
    widths = re.findall(r'<rect class="bar"[^>]* width="([0-9.]+)"', made)
    assert widths == ["200.0", "0.0", "100.0"]
    assert made.count('class="beyond"') == 1  # the interval that goes on
    assert all(f"<span>{tick}</span>" in made for tick in ("0%", "50%", "100%"))
    dense = fragment([Grid("what", ("name", Scale(10.0, "%")), rows=bars)])
    assert "<span>1,000%</span>" in dense and "<span>500%</span>" in dense


@given(PRINTED)
def test_templates_escape_whatever_they_show(text: str) -> None:
    made = fragment([Text(text, strong=text), Heading(text), Grid(text, (text,), rows=((text,),))])
    seen = read(made)
    known = {"p", "span", "h3", "div", "table", "caption", "thead", "tr", "th", "tbody"}
    assert set(seen.tags) <= known
    names = {name for name, _ in seen.attributes}
    assert names <= {"class", "tabindex", "role", "aria-label", "scope"}


def test_templates_spell_out_and_cut_as_tags_do() -> None:
    hostile = "a\u202eb\x00" + "x" * 10**6
    made = page(Document(title=hostile, sections=(Section(hostile, (Text(hostile),)),)))
    assert "\u202e" not in made and "\x00" not in made and "U+202E" in made
    assert len(made) < 20_000
