"""Questions about transactions, and the schemas that their answers make."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from hedgerow.data import read_transactions
from hedgerow.draft.draft import ItemSketch, draft_text, sketch_table
from hedgerow.draft.questions import Interview, accept, sign_schema
from hedgerow.errors import DataError, UsageError
from hedgerow.schema import Schema

TODAY = datetime.date(2026, 1, 31)
CODES = [f"{a}{b}{n}{m}" for a in "AB" for b in "XYZ" for n in range(3) for m in range(3)]


def sketch_of(path: Path, *lines: str) -> ItemSketch:
    path.write_text("\n".join(lines * 10) + "\n", encoding="utf-8")  # rare ones are not proposed
    found = sketch_table(path)
    assert isinstance(found, ItemSketch)
    return found


def answered(interview: Interview, replies: Mapping[str, str]) -> dict[str, str]:
    answers: dict[str, str] = {}
    while True:
        asked = interview.questions(answers)
        question = next((one for one in asked if one.key not in answers), None)
        if question is None:
            return answers
        assert question.text and question.why
        answers[question.key] = accept(question, {"unit": "no", **replies}.get(question.key, ""))


def schema_of(sketch: ItemSketch, folder: Path, **replies: str) -> Schema:
    interview, path = Interview(sketch), folder / "schema.yaml"
    answers = answered(interview, {"reviewer": "Ada", **replies})
    path.write_text(sign_schema(interview, answers, TODAY, path), encoding="utf-8")
    return Schema.load(path)


def test_proposals_make_a_schema_that_is_signed(tmp_path: Path) -> None:
    schema = schema_of(sketch_of(tmp_path / "clicks.dat", "1 2", "4", "2 7"), tmp_path)
    items = schema.transaction_items
    assert not schema.is_draft and schema.unit == "row" and schema.began_as_draft
    assert schema.metadata.reviewer == "Ada" and schema.metadata.signed == schema.fingerprint
    assert items.universe == range(1, 8) and items.max_items == 7 and items.fan_out == 10
    assert len(read_transactions(tmp_path / "clicks.dat", schema).start) == 31


def test_without_a_name_it_stays_a_draft(tmp_path: Path) -> None:
    sketch = sketch_of(tmp_path / "clicks.dat", "1 2", "4")
    assert schema_of(sketch, tmp_path, reviewer="").is_draft
    half = Interview(sketch).text({"unit": "no"}, TODAY)
    assert "draft: true" in half and "A DRAFT" in half


def test_the_separator_decides_which_items_were_seen(tmp_path: Path) -> None:
    sketch = sketch_of(tmp_path / "shop.dat", "rye bread;tea", "milk", "tea;milk;jam", "jam;tea")
    asked = {one.key: one for one in Interview(sketch).questions({})}
    assert asked["separator"].default == "semicolon"
    assert asked["universe"].default == "jam, milk, rye bread, tea"
    schema = schema_of(sketch, tmp_path)
    assert schema.transaction_items.separator == ";"
    found = read_transactions(tmp_path / "shop.dat", schema)
    assert (found.start[1:] - found.start[:-1]).tolist() == [2, 1, 3, 2] * 10
    by_space = schema_of(sketch, tmp_path, separator="space")
    assert "bread;tea" in by_space.transaction_items.labels


def test_codes_are_grouped_by_how_they_begin(tmp_path: Path) -> None:
    sketch = sketch_of(tmp_path / "codes.dat", *(" ".join(CODES[n : n + 3]) for n in range(54)))
    asked = {one.key: one.default for one in Interview(sketch).questions({})}
    assert (asked["universe"], asked["groups"]) == ("all that were seen", "prefix 2")
    tree = schema_of(sketch, tmp_path).transaction_items.taxonomy
    assert len(tree.leaves) == 54 and "AX..." in tree.labels and tree.height == 2
    tree = schema_of(sketch, tmp_path, groups="prefix 1").transaction_items.taxonomy
    assert [tree.labels[node] for node in tree.children[0]] == ["A...", "B..."]
    plain = schema_of(sketch, tmp_path, groups="neighbors 6").transaction_items
    assert plain.fan_out == 6 and not plain.semantic


def test_files_and_other_answers(tmp_path: Path) -> None:
    sketch = sketch_of(tmp_path / "c.dat", "a b", "c")
    (tmp_path / "items.txt").write_text("a\nb\nc\nd\n", encoding="utf-8")
    (tmp_path / "tree.yaml").write_text("One: [a, b]\nTwo: [c, d]\n", encoding="utf-8")
    listed = schema_of(sketch, tmp_path, universe="items.txt", max_items="all", foreign="error")
    assert listed.transaction_items.labels == ("a", "b", "c", "d")
    assert listed.transaction_items.max_items is None and not listed.is_draft
    assert listed.transaction_items.foreign == "error"
    tree = schema_of(sketch, tmp_path, universe="tree.yaml", empty="dummy")
    assert tree.transaction_items.semantic and tree.transaction_items.empty == "dummy"
    own = schema_of(sketch, tmp_path, universe='d, "a, b", c')
    assert own.transaction_items.labels == ("d", "a, b", "c")


def test_a_column_of_lists_has_no_separator(tmp_path: Path) -> None:
    sketch = sketch_table(pa.table({"bought": [["x", "y"], ["y z"]] * 10}))
    assert isinstance(sketch, ItemSketch)
    assert "separator" not in [one.key for one in Interview(sketch).questions({})]
    assert schema_of(sketch, tmp_path).transaction_items.column == "bought"


@pytest.mark.parametrize(
    "key, reply, words",
    [
        ("unit", "yes", "Put all items of a person into one record"),
        ("unit", "perhaps", "not one of the answers"),
        ("universe", "9 to 1", "ends before it begins"),
        ("universe", "a, b, a", "repeated"),
        ("groups", "by color", "neighbors 10"),
        ("groups", "neighbors 1", "at least two"),
        ("max_items", "0", "number of items"),
        ("max_items", "many", "number of items"),
        ("empty", "error", "not one of the answers"),
    ],
)
def test_replies_that_are_no_answers(tmp_path: Path, key: str, reply: str, words: str) -> None:
    interview = Interview(sketch_of(tmp_path / "c.dat", "a b", "c"))
    question = next(one for one in interview.questions({}) if one.key == key)
    with pytest.raises(UsageError) as refused:
        accept(question, reply)
    assert words in f"{refused.value.message} {refused.value.hint}"


def test_too_many_items_need_a_file(tmp_path: Path) -> None:
    sketch = ItemSketch(title="x", labels=[f"i{n}" for n in range(20_001)], what="x")
    question = next(one for one in Interview(sketch).questions({}) if one.key == "universe")
    assert question.default == ""
    with pytest.raises(UsageError, match="too many items"):
        accept(question, "")
    assert accept(question, "items.txt") == "items.txt"


def test_lines_with_another_separator_are_transactions_whatever_the_file_is_called(
    tmp_path: Path,
) -> None:
    lines = ["rye bread, jam", "tea", "jam, tea, milk"]
    sketch = sketch_of(tmp_path / "lists.txt", *lines)
    items = schema_of(sketch, tmp_path).transaction_items
    assert items.universe == ("jam", "milk", "rye bread", "tea") and items.separator == ","
    assert items.max_items == 4  # and not 20 of four
    assert '  separator: ","' in draft_text(
        sketch_table(tmp_path / "lists.txt")
    )  # without questions, too
    table = tmp_path / "table.csv"
    table.write_text("age,sex\n1,f,9\n2\n", encoding="utf-8")
    with pytest.raises(DataError, match="more or fewer fields") as raised:
        sketch_table(table)
    assert "--header-row 2" in str(raised.value.hint)
