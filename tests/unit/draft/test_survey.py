"""A survey as people answer it, with their own words in it, published by the proposals alone."""

from __future__ import annotations

import csv
import datetime
import json
import os
import random
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from pyarrow import parquet

import hedgerow as hr
from hedgerow.draft.draft import Sketch, draft_text, sketch_table
from hedgerow.draft.questions import Interview, accept, questions
from hedgerow.errors import UsageError
from hedgerow.schema import Numeric

pty = pytest.importorskip("pty")  # which Windows does not have
COMMAND = Path(sys.executable).with_name("hedgerow")
TODAY = datetime.date(2026, 1, 31)
ROWS = 1200
FEWEST = 10  # rows: the promise, not the setting

_JOBS = [
    "nurse", "teacher", "retired", "student", "driver", "clerk", "cook", "farmer", "engineer",
    "carpenter", "cashier", "electrician",
]  # fmt: skip
_RARE_JOBS = ["bell founder", "falconer", "lighthouse keeper", "luthier", "ocularist", "thatcher"]
_REMARKS = [
    "I could not reach anybody for {n} weeks after my operation.",
    "my wife {who} passed away in spring, please send no more letters",
    "The ramp at house {n} is too steep for {who}!",
    "call me on 0664 {n} 4471 in the evening",
    "ask {who} in ward {n}, she knows everything about it",
]
_NAMES = ["Amelie", "Bruno", "Cosima", "Dario", "Elif", "Fritz", "Gudrun", "Hasan", "Ilse", "Jonas"]
_AGREE = ["strongly agree", "agree", "neither", "disagree", "strongly disagree"]
_OTHER_WAYS = ["by horse", "Rollstuhl", "scooter (mine)", "with my son's car", "on skis"]


def survey(seed: int = 5) -> dict[str, list[str]]:
    """The columns of the survey as texts, as a CSV file has them."""
    draw = random.Random(seed)

    def typed(often: list[str], seldom: list[str], share: float) -> list[str]:
        return [draw.choice(seldom if draw.random() < share else often) for _ in range(ROWS)]

    def remark() -> str:
        words = draw.choice(_REMARKS)
        return words.format(n=draw.randrange(100, 999), who=draw.choice(_NAMES))

    names = [f"{draw.choice(_NAMES)} {draw.choice(_NAMES)}son" for _ in range(ROWS)]
    start = datetime.date(2024, 2, 7)
    columns = {
        "ID": [f"R-{i:05d}" for i in range(ROWS)],
        "answered": [(start + datetime.timedelta(draw.randrange(55))).isoformat()
                     for _ in range(ROWS)],
        "name": names,
        "email": [f"{one.replace(' ', '.').lower()}{i}@example.org" for i, one in enumerate(names)],
        "sex": typed(["female", "male"], ["divers", "f", "weiblich"], 0.01),
        "age": [str(min(103, max(16, int(draw.gauss(51, 18))))) for _ in range(ROWS)],
        "zip": [f"{draw.choice(range(1010, 1240, 10))}" for _ in range(ROWS)],
        "job": typed(_JOBS, _RARE_JOBS, 0.02),
        "job_title": [f"{draw.choice(['Senior', 'Junior', 'Deputy', 'head', 'ass.'])} "
                      f"{draw.choice(_JOBS + _RARE_JOBS)} {draw.choice(['I', 'II', 'for ' + n])}"
                      for n in names],
        "income": [str(int(draw.lognormvariate(7.7, 0.6))) for _ in range(ROWS - 1)] + ["4873219"],
        "household": typed(["1", "2", "3", "4"], ["7", "9", "11"], 0.006),
        "smoker": typed(["yes", "no"], ["Yes", "no!", "only at weddings"], 0.004),
        "diabetes": ["no"] * (ROWS - 3) + ["yes"] * 3,
        "satisfied": typed(_AGREE, ["no idea what you mean by that"], 0.003),
        "transport": typed(["car", "bus", "bike", "on foot"], _OTHER_WAYS, 0.01),
        "transport_other": [draw.choice(_OTHER_WAYS) if draw.random() < 0.02 else ""
                            for _ in range(ROWS)],
        "waiting": [f"{draw.expovariate(0.08):.1f}" for _ in range(ROWS)],
        "visits": [str(int(draw.expovariate(0.4))) for _ in range(ROWS)],
        "consent": typed(
            ["I have read the sheet. I agree that my answers are used.", "no"], ["no"], 0.1
        ),
        "remarks": [remark() if draw.random() < 0.6 else "" for _ in range(ROWS)],
        "wish": [remark() if draw.random() < 0.1 else "none" for _ in range(ROWS)],
        "code": [f"{draw.choice('ABCDEF')}{draw.randrange(1000):03d}x" for _ in range(ROWS)],
        "again": typed(["yes", "no"], ["yes"], 0.5),
    }  # fmt: skip
    order = list(range(ROWS))
    draw.shuffle(order)
    return {name: [values[place] for place in order] for name, values in columns.items()}


def rare_texts(columns: dict[str, list[str]], fewest: int) -> set[str]:
    """Every text that fewer rows have than that, in whichever column, but for plain numbers."""
    rows: Counter[str] = Counter()
    for row in zip(*columns.values(), strict=True):
        rows.update({text for text in row if text})
    return {text for text, number in rows.items()
            if number < fewest and not text.replace(".", "").isdecimal()}  # fmt: skip


@pytest.fixture(scope="module")
def columns() -> dict[str, list[str]]:
    return survey()


@pytest.fixture(scope="module")
def data(columns: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("survey") / "survey.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.fixture(scope="module")
def sketch(data: Path) -> Sketch:
    found = sketch_table(data)
    assert isinstance(found, Sketch)
    return found


@pytest.fixture(scope="module")
def dialog(data: Path) -> str:
    """What `hedgerow init` says on a terminal to somebody who presses Enter throughout.

    But the unit and a name are typed: nothing is proposed for them.
    """
    asked, said = b"", b""
    child, terminal = pty.fork()
    if not child:
        os.chdir(data.parent)
        os.environ |= {"COLUMNS": "200", "NO_COLOR": "1"}
        os.execv(COMMAND, ["hedgerow", "init", data.name, "--out", "survey.yaml"])
    with suppress(OSError):  # a terminal whose program has ended
        while part := os.read(terminal, 1 << 16):
            said, asked = said + part, asked + part
            if asked.endswith(b"> "):
                question, asked = asked, b""
                reply = b"no" if b"Can one person" in question else b""
                os.write(terminal, (b"Ada Brown" if b"Who confirms" in question else reply) + b"\n")
    assert os.waitpid(child, 0)[1] == 0
    return said.decode()


@pytest.fixture(scope="module")
def schema_file(dialog: str, data: Path) -> Path:
    return data.with_name("survey.yaml")


def test_the_survey_is_as_it_should_be(columns: dict[str, list[str]]) -> None:
    assert len(columns) == 23 and all(len(values) == ROWS for values in columns.values())
    rare = rare_texts(columns, FEWEST)
    assert len(rare) > 3000 and {"falconer", "ocularist", "only at weddings"} <= rare


@pytest.mark.parametrize("method", ["marginals", "diffmulti", "diffgen"])
def test_enter_throughout_publishes_no_text_of_few_rows(
    method: str, columns: dict[str, list[str]], data: Path, schema_file: Path, tmp_path: Path
) -> None:
    schema = hr.Schema.load(schema_file)
    assert not schema.is_draft and schema.metadata.reviewer == "Ada Brown"
    release = hr.publish(data, schema, method=method, epsilon=1.0)
    release.save(tmp_path / "release")
    files = [path for path in (tmp_path / "release").rglob("*") if path.is_file()]
    rare = rare_texts(columns, FEWEST)
    whole = "\n".join(map(text_of, files))
    assert "strongly disagree" in whole and "on foot" in whole  # what many say is there
    assert not {text for text in rare if len(text) > 4 and text in whole}
    for text in rare:  # shorter ones are parts of other words
        assert f'"{text}"' not in whole and f",{text}," not in whole
    # what many have and looks like somebody's own words
    assert "I have read the sheet" not in whole
    assert "4873219" not in whole


def text_of(path: Path) -> str:
    """A file as text; every value of a compressed one, once."""
    if path.suffix != ".parquet":
        return path.read_text(encoding="utf-8")
    table = parquet.read_table(path)
    values = {
        json.dumps(value, ensure_ascii=False, default=str)
        for column in table.columns
        for value in column.to_pylist()
    }
    return ", ".join([*values, json.dumps(str(table.schema), ensure_ascii=False)])


def test_drafts_hold_no_text_of_few_rows_either(
    columns: dict[str, list[str]], sketch: Sketch, schema_file: Path
) -> None:
    rare = {text for text in rare_texts(columns, FEWEST) if len(text) > 4}
    for text in (draft_text(sketch), schema_file.read_text(encoding="utf-8")):
        assert not {one for one in rare if one in text}


def test_why_a_column_is_dropped_or_shortened_is_in_view(sketch: Sketch, dialog: str) -> None:
    """In the draft, and before Enter is pressed."""
    for said in (draft_text(sketch).replace("#", ""), dialog):
        text = " ".join(said.split())
        assert "fewer than 10 rows have, or that look like free text" in text
        assert "less than 1% of its rows become other" in text
        assert "Fewer than 10 of its rows have another value" in text  # diabetes: three have it
    gone = {column.name for column in sketch.columns if column.dropped}
    assert gone >= {"ID", "name", "email", "job_title", "transport_other", "remarks", "code"}


def test_no_bound_is_that_of_one_person(schema_file: Path) -> None:
    found = {one.name: one for one in hr.Schema.load(schema_file).attributes}
    income, answered = found["income"], found["answered"]
    assert isinstance(income, Numeric) and isinstance(answered, Numeric)
    assert income.high <= 20_000 and income.outside == "clip"
    assert answered.edge(0) == datetime.date(2024, 1, 1)


def test_the_unit_must_be_typed(sketch: Sketch) -> None:
    question = questions(sketch, {})[0]
    assert question is not None and question.key == "unit" and question.default == ""
    for reply in ("", "  "):
        with pytest.raises(UsageError, match="Nothing is proposed"):
            accept(question, reply)
    assert "unit: row or person?" in Interview(sketch).text({}, TODAY)


def test_all_that_is_published_is_listed_before_it_is_signed(
    dialog: str, schema_file: Path
) -> None:
    listed = dialog.partition("Every release publishes this")[2].partition("Who confirms")[0]
    for one in hr.Schema.load(schema_file).attributes:
        assert f"  {one.name}: " in listed
    assert "carpenter, cashier, clerk" in listed and "from 0, to 120" in listed
