"""What a record is called: by the schema's own word, and never people where rows are capped."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

import hedgerow
from hedgerow import sample
from hedgerow.evaluation.compare import compare_opened
from hedgerow.evaluation.scorecard import evaluate as judge
from hedgerow.present.against import (
    classes_against,
    counts_against,
    detail_against,
    in_short,
    tables_against,
    values_against,
)
from hedgerow.present.render import fragment
from hedgerow.present.report import page as page_of
from hedgerow.schema import Schema

Hedge = Callable[..., Any]
COUNTED = re.compile(
    r"(about [\d,.]+|counts of|how many|[Oo]ver all|if|Numbers of|fewer or .* since) "
    r"(people|records|rows|encounters)\b"
)


def clinic() -> pa.Table:
    rows = sample.people(600, seed=3)
    return rows.append_column("who", pa.array([number // 2 for number in range(600)]))


def visits(name: tuple[str, str] | None, methods: Any = None) -> hedgerow.Release:
    about = {} if name is None else {"metadata": {"unit_name": list(name)}}
    columns = {"who": {"role": "person", "max_rows": 2}, **sample.schema().to_dict()["attributes"]}
    described = {"name": "clinic", "unit": "person", **about, "attributes": columns}
    return hedgerow.publish(clinic(), Schema.from_dict(described), methods, epsilon=4, delta="1e-6")


@pytest.mark.parametrize("name", [("encounter", "encounters"), None])
@pytest.mark.parametrize(
    "method",
    [hedgerow.DiffMulti(), hedgerow.Supermodular()],
    ids=["regions", "rows"],
)
def test_rows_of_people_with_several(
    hedge: Hedge, tmp_path: Path, name: tuple[str, str] | None, method: Any
) -> None:
    visits(name, method).save(tmp_path / "out")
    word = "rows" if name is None else name[1]
    many = [f"age > {age}" for age in range(20, 30)]
    for words in (["table", "smoker"], ["query", "age > 30 and smoker = yes", "everybody"],
                  ["query", *many], ["show"]):  # fmt: skip
        told = hedge(words[0], tmp_path / "out", *words[1:])
        assert told.exit_code == 0, told.stderr
        assert word in told.stdout or "usually within" in told.stdout
        assert {found[1] for found in COUNTED.findall(told.stdout)} <= {word}, told.stdout
    page = tmp_path / "page.html"
    assert hedge("report", tmp_path / "out", "--out", page).exit_code == 0
    text = re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8"))
    text = text.replace("how many rows there are", "")  # the name of a measurement
    assert word in text and not re.search(r": (records|people)\b", text)
    cap = f"Of each person at most 2 {word} are counted: the data may hold more."
    assert text.count(cap) == (1 if isinstance(method, hedgerow.Supermodular) else 2)
    assert cap in hedge("table", tmp_path / "out", "smoker").stdout
    assert re.search(r"a person with 2 rows, altogether(epsilon)?at\W*most\W*4", text)
    assert {found[1] for found in COUNTED.findall(text)} <= {word}


PLAIN = re.compile(
    r"(?:synthetic|simulated|raw|published|other|generalized) rows|rows they did|coarse the rows"
)
FILE = re.compile(r"What became of the (?:data|rows).*", re.DOTALL)  # rows of the file


@pytest.mark.parametrize(
    "method", [hedgerow.DiffMulti(), hedgerow.Supermodular()], ids=["regions", "rows"]
)
def test_comparisons_with_raw_data(hedge: Hedge, tmp_path: Path, method: Any) -> None:
    first, page = tmp_path / "first", tmp_path / "page.html"
    release = visits(("encounter", "encounters"), method)
    release.save(first)
    release.save(tmp_path / "second")
    raw = tmp_path / "raw.csv"
    pacsv.write_csv(clinic(), raw)
    told = hedge("evaluate", raw, first, "--quick")
    assert told.exit_code == 0, told.stderr
    words = " ".join(FILE.sub("", told.stdout).split())
    assert "against 600 encounters of the raw data" in words and "widths in encounters" in words
    assert "or to 1 encounter if that is more" in words and "intervals, in encounters" in words
    assert not re.search(r"\b(records?|rows?|people)\b", PLAIN.sub("", words)), words
    told = hedge("compare", first, tmp_path / "second", "--raw", raw, "--out", page)
    assert told.exit_code == 0, told.stderr
    for text in (told.stdout, page.read_text(encoding="utf-8")):
        assert "encounters, about" in text and "one-way table, in encounters" in text
        assert ("median, in encounters" in text) == (release.kind == "table")
        assert "records" not in text
    found = judge(raw, release, queries=20, quick=True)
    strange = page_of(release, replace(found, matches=False))
    assert strange.count("the number of encounters in it is too far off") == 2
    sections = [values_against, tables_against, counts_against, classes_against, detail_against]
    told = " ".join(
        [*in_short(found), *(re.sub(r"<[^>]*>", " ", fragment(one(found))) for one in sections)]
    )
    assert "Encounters predicted correctly" in told and "% of encounters" in told
    assert not re.search(r"\b(records?|rows?|people)\b", PLAIN.sub("", told)), told


def test_candidates_that_count_different_things() -> None:
    both = [visits(("encounter", "encounters")), visits(None)]
    lines = [line.words for line in compare_opened(["a", "b"], both).lines]
    assert "records, about" in lines and not any("encounters" in words for words in lines)


def test_transactions_by_their_name(hedge: Hedge, tmp_path: Path) -> None:
    described = sample.shop_schema().to_dict()
    described["metadata"] = {"unit_name": ["basket", "baskets"]}
    rows = pa.table({"items": sample.transactions(800, seed=1)})
    hedgerow.publish(rows, Schema.from_dict(described), epsilon=4).save(tmp_path / "out")
    for words in (["table", "item"], ["query", "milk"], ["show"]):
        told = hedge(words[0], tmp_path / "out", *words[1:]).stdout
        assert "baskets" in told and "records" not in told, told
