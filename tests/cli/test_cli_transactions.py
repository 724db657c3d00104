"""The whole way of transactions, by the real command."""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import hedgerow as hr
from hedgerow import sample
from hedgerow.cli import app


class Told:
    """What a command said and how it ended."""

    def __init__(self, result):
        self.out, self.err, self.code = result.stdout, result.stderr, result.exit_code

    def expect(self, code):
        assert self.code == code, (self.code, self.out, self.err)
        return self


@pytest.fixture(scope="module")
def run():
    return lambda *words: Told(CliRunner().invoke(app, [str(word) for word in words]))


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    sample.write(folder, rows=400)
    return folder


@pytest.fixture(scope="module")
def release(shop, run):
    out = shop / "release"
    run("publish", shop / "baskets.dat", "--schema", shop / "baskets.yaml", "--epsilon", "2",
        "--out", out).expect(0)  # fmt: skip
    return out


def test_plan_reads_no_data_and_adds_up(shop, run):
    told = run("plan", "--schema", shop / "baskets.yaml", "--epsilon", "1", "--json").expect(0)
    plan = json.loads(told.out)
    assert plan["method"] == "diffpart"
    assert [grant["purpose"] for grant in plan["allowances"]] == [
        "size", "support", "cell",
    ]  # fmt: skip
    paper = run("plan", "--schema", shop / "baskets.yaml", "--epsilon", "1", "--schedule", "paper")
    assert "partitions" in paper.expect(0).out


def test_show_lists_frequent_itemsets(release, run):
    told = run("show", release, "--top", "5").expect(0).out
    assert "bread" in told and "epsilon = 2" in told
    facts = json.loads(run("show", release, "--top", "3", "--json").expect(0).out)
    assert [entry["items"] for entry in facts["frequent"]][0] == ["bread"]
    assert all(entry["low"] <= entry["estimate"] <= entry["high"] for entry in facts["frequent"])
    refused = run("show", release, "--tree").expect(2)
    assert "--variant tree" in refused.err


def test_query_takes_items_in_any_spelling(release, run):
    asked = ("bread butter", "butter, bread", '["bread", "butter"]')
    facts = json.loads(run("query", release, *asked, "--json").expect(0).out)
    estimates = [answer["estimate"] for answer in facts["answers"]]
    assert min(estimates) > 0 and max(estimates) - min(estimates) < 1e-9  # sums in another order
    assert "is not an item" in run("query", release, "bread gold").expect(2).err


@pytest.mark.parametrize("ending", [".dat", ".csv", ".parquet"])
def test_sample_writes_records(release, run, tmp_path, ending):
    out = tmp_path / f"simulated{ending}"
    run("sample", release, "--out", out, "--rows", "50", "--seed", "1").expect(0)
    if ending == ".parquet":
        assert pq.read_table(out).num_rows == 50
    elif ending == ".dat":
        known = set(sample.shop_schema().items.labels)
        lines = out.read_text().splitlines()
        assert len(lines) == 50 and all(set(line.split()) <= known for line in lines)
    else:
        assert out.read_text().splitlines()[0].replace('"', "") == "record,item"


def test_verify_passes_and_notices_a_change(release, run, tmp_path):
    run("verify", release).expect(0)
    copy = tmp_path / "copy"
    shutil.copytree(release, copy)
    (copy / "itemsets.txt").write_text("changed")
    assert "itemsets.txt" in run("verify", copy).expect(6).out


@pytest.mark.parametrize("options", [("--variant", "tree"), ("--schedule", "paper"),
                                     ("--core", "3", "--cap", "2")])  # fmt: skip
def test_other_ways(shop, run, tmp_path, options):
    out = tmp_path / "release"
    run("publish", shop / "baskets.dat", "--schema", shop / "baskets.yaml", "--epsilon", "3",
        "--out", out, *options).expect(0)  # fmt: skip
    run("verify", out).expect(0)
    run("show", out).expect(0)
    if "--core" not in options:
        assert "records" in run("show", out, "--tree").expect(0).out


def test_a_table_method_is_refused_and_the_other_way_round(shop, run, tmp_path):
    out = tmp_path / "release"
    told = run("publish", shop / "baskets.dat", "--schema", shop / "baskets.yaml", "--epsilon", "1",
               "--method", "diffmulti", "--out", out).expect(2)  # fmt: skip
    assert "diffpart" in told.err
    told = run("publish", shop / "people.csv", "--schema", shop / "schema.yaml", "--epsilon", "1",
               "--method", "diffpart", "--out", out).expect(2)  # fmt: skip
    assert "diffmulti" in told.err
    assert not out.exists()


def test_records_with_foreign_items_and_blanks_are_no_matter(shop, run, tmp_path):
    messy = Path(tmp_path / "messy.dat")
    messy.write_text("bread  gold\n\ngold\n butter bread bread \n")
    out = tmp_path / "release"
    run("publish", messy, "--schema", shop / "baskets.yaml", "--epsilon", "1", "--out", out).expect(
        0
    )


def test_the_unit_of_protection_is_a_record(release, run, shop, tmp_path):
    promise = json.loads((release / "manifest.json").read_text())["guarantee"]
    assert promise["unit_of_protection"] == "one record is one person"
    assert promise["neighbors"] == "add or remove one record"
    told = run("verify", release).expect(0).out
    assert "one record is one person" in told and "one row" not in told
    assert "the sets of items cover all records" in " ".join(told.split())
    made = run("sample", release, "--rows", "3", "--out", tmp_path / "made.dat").expect(0).out
    assert "synthetic records" in made


def test_in_a_long_table_it_is_all_of_a_persons_items(run, tmp_path):
    (tmp_path / "long.csv").write_text("who,what\nann,tea\nann,milk\nbob,tea\n")
    (tmp_path / "long.yaml").write_text(
        "name: shop\nunit: person\nitems: {universe: [tea, milk, jam], person: who, item: what}\n"
    )
    out = tmp_path / "release"
    run("publish", tmp_path / "long.csv", "--schema", tmp_path / "long.yaml", "--epsilon", "1",
        "--out", out).expect(0)  # fmt: skip
    told = run("verify", out).expect(0).out
    assert "one value of who is one person, with all its items" in " ".join(told.split())
    assert "one value of who" in run("show", out).expect(0).out
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["guarantee"]["unit_of_protection"] = "one record is one person"
    (out / "manifest.json").write_text(json.dumps(manifest))
    assert "unit of protection" in run("verify", out).expect(6).err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\n", "no record has an item of the universe"),
        ("tea,milk\ntea\n", "Is `separator: ','` missing"),
        ("tea milk\ntea;jam\n", "Is `separator: ';'` missing"),
        ("tea milk\n", None),
    ],
)
def test_what_would_be_lost_in_silence_is_told_to_the_holder(run, tmp_path, text, words):
    (tmp_path / "b.dat").write_text(text)
    (tmp_path / "b.yaml").write_text("name: shop\nunit: row\nitems: {universe: [tea, milk, jam]}\n")
    out = tmp_path / "release"
    told = run("publish", tmp_path / "b.dat", "--schema", tmp_path / "b.yaml", "--epsilon", "1",
               "--out", out).expect(0)  # fmt: skip
    assert (words in told.err) if words else "Warning" not in told.err
    assert "separator:" not in told.out
    for file in (one for one in out.rglob("*") if one.is_file()):
        assert b"missing in the schema" not in file.read_bytes()


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ([], "such as 'bread"),  # an example in the words of this universe
        (["bread and butter"], '"bread, butter"'),
        (["bread AND milk, tea"], '"bread, milk, tea"'),
        (["bred"], "Did you mean 'bread'"),
        (["bread, xyzzy"], "with commas between them"),
    ],
)
def test_hints_for_items(release, run, asked, hint):
    told = run("query", release, *asked).expect(2)
    assert hint in told.err and "age in" not in told.err


def test_items_that_begin_with_a_dash_or_hold_blanks(tmp_path, run):
    (tmp_path / "temperatures.dat").write_text("-3 2\n-3\n1 2\n" * 50)
    (tmp_path / "t.yaml").write_text("name: t\nunit: row\nitems: {universe: {range: [-5, 5]}}\n")
    out = tmp_path / "release"
    run("publish", tmp_path / "temperatures.dat", "--schema", tmp_path / "t.yaml", "--epsilon",
        "5", "--seed", "1", "--out", out).expect(0)  # fmt: skip
    told = run("query", out, "-3").expect(2)
    assert "write -- before it" in told.err
    assert "write -- before it" in run("query", out, "-3", "--json").expect(2).err
    answer = json.loads(run("query", out, "--json", "--", "-3").expect(0).out)["answers"][0]
    assert 80 < answer["estimate"] < 120
    assert "numbers -5 to 5" in run("query", out, "9").expect(2).err
    (tmp_path / "drinks.csv").write_text('had\n"green tea,milk"\n"milk"\n' * 50)
    (tmp_path / "d.yaml").write_text(
        'name: d\nunit: row\nitems: {universe: [green tea, milk], column: had, separator: ","}\n'
    )
    out = tmp_path / "drinks"
    run("publish", tmp_path / "drinks.csv", "--schema", tmp_path / "d.yaml", "--epsilon", "5",
        "--out", out).expect(0)  # fmt: skip
    assert "green tea\n" in run("query", out, "green tea").expect(0).out
    assert "hold all of these" not in run("query", out, "green tea").out
    assert "hold all of these" in run("query", out, "green tea, milk").out


def test_a_list_of_items_is_one_itemset_in_python_and_here(release, run):
    """One argument is one itemset, and so is one list; several arguments are several."""
    loaded = hr.Release.load(release)
    together = loaded.count({"bread", "butter"})
    assert len(together.estimate) == 1
    apart = loaded.count([["bread"], ["butter"]])
    one = json.loads(run("query", release, "bread, butter", "--json").expect(0).out)["answers"]
    assert [answer["estimate"] for answer in one] == pytest.approx(together.estimate.tolist())
    two = json.loads(run("query", release, "bread", "butter", "--json").expect(0).out)["answers"]
    assert [answer["estimate"] for answer in two] == pytest.approx(apart.estimate.tolist())
    keys = {"query", "estimate", "low", "high", "standard_error", "basis", "reliability"}
    for answer in one + two:  # a typical error did not hold, so none is told
        assert answer.keys() == keys


def test_association_rules_are_listed(release, run, tmp_path):
    loaded = hr.Release.load(release)
    known = loaded.rules(least=0.3, kind="arrow").to_pylist()
    assert known
    told = run("table", release, "--rules", "0.3", "--json").expect(0).out
    for row, expected in zip(json.loads(told)["rules"], known, strict=True):
        assert row == {name: None if v == math.inf else v for name, v in expected.items()}
        assert row["confidence_low"] <= row["confidence"] <= row["confidence_high"]
    text = run("table", release, "--rules", "0.3", "--top", "1").expect(0).out
    assert f"{known[0]['confidence']:.2f}" in text and "chosen without looking" in text
    out = tmp_path / "rules.csv"
    run("table", release, "--rules", "0.3", "--out", out).expect(0)
    assert len(out.read_text().splitlines()) == len(known) + 1
    assert "alone" in run("table", release, "item", "--rules", "0.3").expect(2).err


def test_a_release_that_holds_nothing_says_so_first(shop, run, tmp_path):
    words = ("--schema", shop / "baskets.yaml", "--epsilon", "0.001", "--schedule", "paper")
    assert "nothing is published but by chance" in " ".join(
        run("plan", *words).expect(0).err.split()
    )
    few = " ".join(run("plan", *words, "--rows", "300").expect(0).err.split())
    enough = re.search(r"Your 300 records are too few; from epsilon ([0-9.]+) on they can", few)
    assert enough is not None
    words_then = [enough[1] if word == "0.001" else word for word in words]
    assert "too few" not in run("plan", *words_then, "--rows", "300").expect(0).err
    fewer = run("plan", *words, "--rows", "9").expect(0).err
    assert "at any epsilon up to 10" in " ".join(fewer.split())
    out = tmp_path / "nothing"
    words += ("--seed", "1", "--verbose")
    told = run("publish", shop / "baskets.dat", *words, "--out", out).expect(0)
    assert "It holds nothing" in told.out and "noisy counts" not in told.out
    assert re.search(
        r"choosing which partitions to go on with +epsilon +at most [0-9.e-]+", told.out
    )
    assert repr(hr.Release.load(out)).endswith("holds nothing)")
    lines = run("show", out).expect(0).out
    assert "It holds nothing" in lines.splitlines()[0] and "itemsets.txt" not in lines
    page = tmp_path / "page.html"
    run("report", out, "--out", page).expect(0)
    assert "It holds nothing" in page.read_text()


def test_a_delta_is_spent_or_said_to_buy_nothing(shop, run, tmp_path):
    words = ("--schema", shop / "baskets.yaml", "--epsilon", "1", "--delta", "1e-6")
    told = run("plan", *words).expect(0)
    assert "buys nothing" not in told.err
    assert "Delta is spent where Gaussian noise is less" in " ".join(told.err.split())
    words += ("--variant", "tree")
    told = run("plan", *words).expect(0)
    assert "buys nothing, and none is spent" in told.err
    assert "With more than" not in told.err
    out = tmp_path / "r"
    told = run("publish", shop / "baskets.dat", *words, "--out", out, "--json").expect(0)
    facts = json.loads(told.out)
    assert any("buys nothing" in warning for warning in facts["warnings"])
    assert facts["guarantee"]["delta"] == "0"
    told = run("plan", "--schema", shop / "baskets.yaml", "--epsilon", "1").expect(0)
    assert "buys nothing" not in told.err


def test_what_is_for_tables_alone_is_named_as_it_was_written(shop, run):
    words = ("--schema", shop / "baskets.yaml", "--epsilon", "1")
    told = run("plan", *words, "--distribution", "even").expect(2)
    assert "Leave --distribution out." in told.err


def test_what_is_counted_is_said_in_a_shopkeepers_words(shop, run, tmp_path):
    plan = run("plan", "--schema", shop / "baskets.yaml", "--epsilon", "1").expect(0)
    assert "With more than about 4,800 records" in plan.err
    # the last step has its amount, not "whatever a path has left"
    assert "path" not in plan.out
    assert "epsilon 0.12" in plan.out
    told = run(
        "publish", shop / "baskets.dat", "--schema", shop / "baskets.yaml", "--epsilon", "1",
        "--core", "3", "--out", tmp_path / "r",
    ).expect(0)  # fmt: skip
    assert "how many records hold each of 24 items" in told.out
    assert "which of the 3 most frequent items go together (" in " ".join(told.out.split())
    for word in ("cell", "region", "path", "sets of items"):
        assert word not in told.out + plan.out
