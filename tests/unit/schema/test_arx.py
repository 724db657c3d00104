"""ARX hierarchy files: what is read, what is refused, and that writing is reading backwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import SchemaError
from hedgerow.schema import Taxonomy, read_arx, write_arx
from hedgerow.schema.taxonomy_files import branch_from_arx, grow
from hedgerow.schema.yaml_text import Report


def read(folder: Path, text: str) -> Taxonomy:
    path = folder / "h.csv"
    path.write_bytes(text.encode())
    return read_arx(path)


@pytest.mark.parametrize("separator", [";", ","])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_reads_both_separators_line_ends_and_marks(
    tmp_path: Path, separator: str, end: str, start: str
) -> None:
    rows = ["Italy;Europe;*", "Japan;Asia;*", "Spain;Europe;*", "India;Asia;*"]
    text = start + end.join(rows).replace(";", separator) + end
    expected = Taxonomy.from_nested("*", {"Europe": ["Italy", "Spain"], "Asia": ["Japan", "India"]})
    assert read(tmp_path, text) == expected


def test_padding_is_left_out_wherever_it_stands(tmp_path: Path) -> None:
    expected = Taxonomy.from_nested("*", {"a": None, "G": ["b", "c"], "H": ["d", "e"]})
    text = "a;a;a;*\nb;G;*;*\nc;G;*;*\nd;d;H;*\ne;H;H;*\n"
    assert read(tmp_path, text) == expected


def test_padding_is_not_warned_about_but_other_chains_are() -> None:
    report = Report("h.csv")
    grow(branch_from_arx("a;a;*\nb;G;*\nc;G;*\nd;H;*\n", report), report)
    assert [str(warning).split(".")[0] for warning in report.warnings] == ["h"]
    assert "h.csv:4: the group 'H' has a single member." in str(report.warnings[0])


@pytest.mark.parametrize(
    ("text", "line", "rule"),
    [
        ("a;G;*\nb;*\n", 2, "ragged row"),
        ("a;G;*\nb;G;*;*\n", 1, "ragged row"),
        ("a;G;*\nb;;*\n", 2, "level 2 of the row is blank"),
        ("a;G;*;\nb;G;*;\n", 1, "level 4 of the row is blank"),
        ("a;G;*\nb;G;*\na;H;*\n", 3, "leaf 'a' is under two parents, 'H' here and 'G' on line 1"),
        ("a;G;X;*\nb;G;Y;*\n", 2, "group 'G' is under two parents"),
        ("a;A;B;*\nb;B;A;*\n", 2, "a cycle"),
        ("a;G;a;*\n", 1, "a cycle"),
        ("a;*;G;*\nb;G;G;*\n", 1, "a cycle"),
        ("a;G;*\nb;G;*\n\na;G;*\n", 4, "'a' is repeated"),
        ("a;b;*\nb;b;*\n", 2, "a value and also a group"),
        ("a;G;*\nb;H;+\n", 2, "ends in"),
        ("a\nb\n", 2, "ends in"),
        ('a;G;*\n"b;G;*\n', 2, "not CSV"),
        ('a;G;*\n"b"x;G;*\n', 2, "not CSV"),
        ("a;G;*\nb\x00;G;*\n", 2, "control character"),
        (";".join(map(str, range(70))) + "\n", 1, "levels"),
    ],
)
def test_faults_have_a_line(tmp_path: Path, text: str, line: int, rule: str) -> None:
    with pytest.raises(SchemaError) as caught:
        read(tmp_path, text)
    assert f"h.csv:{line}: " in str(caught.value)
    assert rule in str(caught.value)
    assert caught.value.hint


def test_a_ragged_row_says_how_to_mend_it(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="Repeat 'b' at its start until it has 3"):
        read(tmp_path, "a;G;*\nb;*\n")


def test_empty_files(tmp_path: Path) -> None:
    for text in ("", "\n\n", "\ufeff"):
        with pytest.raises(SchemaError, match="empty"):
            read(tmp_path, text)


def test_a_single_node(tmp_path: Path) -> None:
    single = Taxonomy(("a,b",), (-1,))
    write_arx(single, tmp_path / "h.csv")
    assert read_arx(tmp_path / "h.csv") == single
    assert read(tmp_path, "a;*\n") == Taxonomy(("a",), (-1,))


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="cannot be written"):
        write_arx(Taxonomy.flat(["a", "b"]), tmp_path / "none" / "h.csv")
    with pytest.raises(SchemaError, match="repeated"):
        write_arx(Taxonomy.flat(["a", "a"]), tmp_path / "h.csv")


LABEL = st.text(
    st.one_of(
        st.sampled_from(";,\"' *|"),
        st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="\ufeff"),
    ),
    min_size=1,
    max_size=5,
).filter(lambda text: bool(text.strip()))


@st.composite
def taxonomies(draw: st.DrawFn) -> Taxonomy:
    """Trees without unary chains and with labels that are all different."""
    labels = iter(draw(st.lists(LABEL, min_size=40, max_size=40, unique=True)))
    budget = 39

    def below(depth: int) -> dict[str, object]:
        nonlocal budget
        tree: dict[str, object] = {}
        for _ in range(draw(st.integers(2, 4))):
            if budget:
                budget -= 1
                deeper = depth < 4 and budget > 4 and draw(st.booleans())
                tree[next(labels)] = below(depth + 1) if deeper else None
        return tree

    return Taxonomy.from_nested(next(labels), below(1))


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(taxonomies())
def test_writing_then_reading_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, taxonomy: Taxonomy
) -> None:
    path = tmp_path_factory.mktemp("arx") / "h.csv"
    write_arx(taxonomy, path)
    assert read_arx(path) == taxonomy
