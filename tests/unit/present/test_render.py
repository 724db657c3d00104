from __future__ import annotations

import re
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from hedgerow.present.document import (
    Bar,
    Document,
    Grid,
    Legend,
    Scale,
    Section,
    Stack,
    Text,
)
from hedgerow.present.render import fragment, page
from hedgerow.store.html_text import small_table


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
    reader.feed(str(page))
    reader.close()
    return reader


PRINTED = st.text(
    st.characters(min_codepoint=32, exclude_categories=("Cc", "Cs", "Cf", "Zl", "Zp"))
)


@given(PRINTED, PRINTED)
def test_whatever_is_put_in_stays_text(text: str, value: str) -> None:
    seen = read(fragment([Text(text, "heading"), Legend((("bar", text),)), Stack(value, ())]))
    assert seen.tags == ["h3", "ul", "li", "i", "div", "ul"]
    assert [name for name, _ in seen.attributes] == ["class"] * 3 + ["role", "aria-label", "class"]
    if len(text) < 1000 and len(value) < 1000:
        shown, label = (
            one.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd") for one in (text, value)
        )
        assert seen.text.replace("\n", "") == shown + shown
        assert seen.attributes[4][1] == f"{label}: "


def test_what_is_marked_as_safe_is_left_alone() -> None:
    made = fragment(["<b>"])
    assert made == "<p>&lt;b&gt;</p>\n" and escape(made) == made


def test_nothing_turns_the_direction_of_writing() -> None:
    shown = fragment([Text("safe\u202egnp.exe\u2066", "heading"), "on 2020-01-01 \u202e"])
    assert "\u202e" not in shown and "\u2066" not in shown and shown.count("U+202E") == 2


def test_what_cannot_be_seen_is_shown_as_such() -> None:
    assert fragment([Text("a\x00b\x1bc\ud800", "heading")]) == "<h3>a\ufffdb\ufffdc\ufffd</h3>\n"


def test_very_long_texts_are_cut() -> None:
    assert len(fragment(["x" * 10**6])) < 1100
    assert len(fragment([Text("x" * 10**6, "heading")])) < 1100


def test_a_table_in_a_notebook_is_escaped_and_cut_too() -> None:
    made = small_table("<b>\u202e", ["<i>"], [["<s>", 1.5, None], ["x" * 10**6]])
    assert made.startswith("<table><caption>&lt;b&gt;⟨U+202E⟩</caption><thead><tr><th>&lt;i&gt;")
    assert "<td>&lt;s&gt;</td><td>1.5</td><td></td>" in made and len(made) < 1400


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
    grid = Grid(text, (text,), rows=((text,),))
    made = fragment([Text(text, strong=text), Text(text, "heading"), grid])
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
