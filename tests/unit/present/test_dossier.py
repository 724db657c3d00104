"""The dossier: every kind of release, nothing unescaped, what is open said to be open."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow import sample
from hedgerow.ledger.file import Account, Entry
from hedgerow.present.document import Bullets, Document, Grid, Section, Text
from hedgerow.present.dossier import OPEN, _narrow, dossier, doubts, found_in, mechanisms
from hedgerow.present.render import markdown
from hedgerow.present.render import page as as_html
from hedgerow.release import Release
from hedgerow.sample.survey import shop_schema, transactions
from hedgerow.schema import Metadata
from hedgerow.verification import verify

GOLDEN = Path(__file__).parents[2] / "golden"
FOLDERS = sorted(path.name for path in GOLDEN.iterdir() if path.is_dir() and path.name[0] != "_")
ENTRY = Entry(
    number=7, unit="row", method="marginals", epsilon=Fraction(1), delta=Fraction(0),
    booked="2026-01-31T10:00:00", state="published", purpose="planning",
)  # fmt: skip
ACCOUNT = Account(
    name="clinic", epsilon=Fraction(3), delta=Fraction(0), opened="2026-01-01", entries=(ENTRY,)
)


@pytest.fixture(scope="module")
def release() -> Release:
    return hr.publish(sample.people(500, seed=3), sample.schema(), epsilon=1)


@pytest.mark.parametrize("name", FOLDERS)
def test_every_kind_of_release_has_one(name: str) -> None:
    release, verdict = Release.load(GOLDEN / name), verify(GOLDEN / name)
    made = dossier(release, verdict)
    assert [one.title for one in made.sections][-1] == "Decision"
    page = as_html(made)
    assert "NOT PRIVATE" in page  # golden releases are seeded
    assert "None: the run was seeded" in page and "Whether any one person" not in page
    assert not re.search(r"(src|href)=|url\(|@import|<script", page)


def text_of(release: Release, booked: object = None) -> str:
    return markdown(dossier(release, verify(release), booked))  # type: ignore[arg-type]


def test_odds_unit_and_ledger(release: Release) -> None:
    text = text_of(release, (ACCOUNT, ENTRY))
    assert "by a factor of at most 2.72" in text and "epsilon \\= 1" not in text
    assert "| 1 in 100 | 2.7% | 7.0% |" in text
    assert "number 7" in text and "| epsilon | 1 | 2 | 3 |" in text
    assert "planning" in text and not dossier(release, verify(release)).warnings
    assert "This release is not in it." in text_of(release, (ACCOUNT, None))
    assert "No budget ledger was given" in text_of(release)


def booked(release: Release, **other: object) -> tuple[Account, Entry]:
    named = replace(ENTRY, release_id="a1", digest="d1", **other)  # type: ignore[arg-type]
    return replace(ACCOUNT, entries=(named,)), named


def test_an_id_alone_does_not_confirm_a_booking(release: Release) -> None:
    named = replace(release, ledger=release.ledger | {"release_id": "a1"})
    account, entry = booked(named)
    assert found_in([account], named, "d1") == ((account, entry), None)
    found, why = found_in([account], named, "d2")
    assert found == (account, None) and why is not None and "its hash" in why
    old = replace(entry, digest=None)
    found, why = found_in([replace(account, entries=(old,))], named, "d2")
    assert found is not None and found[1] == old and why is None
    assert "no hash" in text_of(named, found)
    for other in ({"epsilon": Fraction(2)}, {"method": "diffgen"}, {"unit": "person by id"}):
        account, entry = booked(named, **other)
        unsure = replace(account, entries=(replace(entry, digest=None),))
        assert found_in([unsure], named, "d2")[0] == (unsure, None)
        (told,) = doubts(named, entry)
        assert f"differs from the release in: {next(iter(other))}" in told
    assert found_in([account], release, "d2") == (None, None)


@pytest.mark.parametrize("state", ["withdrawn", "returned"])
def test_an_entry_that_does_not_count_is_told_of(release: Release, state: str) -> None:
    account, entry = booked(release, state=state)
    assert f"The entry was {state}" in text_of(release, (account, entry))


def test_what_is_not_known_is_left_open(release: Release) -> None:
    grid = dossier(release, verify(release)).sections[0].parts[0]
    assert isinstance(grid, Grid)
    told = dict(grid.rows)  # type: ignore[arg-type]
    assert told["purpose"] == told["legal basis"] == OPEN
    about = Metadata(
        purpose="planning", institution="St Anne", reviewer="Ada Brown", reviewed="2026-01-31"
    )
    named = replace(release, schema=replace(release.schema, metadata=about))
    assert "Ada Brown signed off on 2026-01-31" in text_of(named)
    assert "Who confirmed" in text_of(release)


def test_a_reviewer_does_not_hide_that_a_schema_began_as_a_draft(release: Release) -> None:
    about = Metadata(reviewer="Ada Brown", reviewed="2026-01-31")
    schema = replace(release.schema, metadata=about)
    named = replace(release, schema=schema, guarantee=release.guarantee | {"began_as_draft": True})
    text = text_of(named)
    assert "began as a draft" in text and "Ada Brown signed off" in text
    (found,) = (one for one in verify(named).checks if one.name == "unit of protection")
    assert "began as a draft" in found.words and "who signed it off" in found.words


@pytest.mark.parametrize("mode", ["noisy", "sampled"])
def test_suppression_is_not_called_pure_and_sampled_counts_not_noisy(mode: str) -> None:
    method = hr.Supermodular(mode=mode)
    people = sample.people(400, seed=3)
    release = hr.publish(people, sample.schema(), method, epsilon=4, delta="1e-6")
    text = text_of(release)
    assert "pure differential" not in text and "approximate differential privacy" in text
    assert ("Every published count has discrete Laplace noise" in text) == (mode == "noisy")
    assert ("exact counts of people who were sampled" in text) == (mode == "sampled")


@pytest.mark.parametrize("name", FOLDERS)
def test_the_exponential_mechanism_is_named_where_it_is_used(name: str) -> None:
    release = Release.load(GOLDEN / name)
    chooses = any(
        entry["purpose"] in ("select", "cut", "relate", "side")
        for entry in release.ledger["entries"]
    )
    assert ("exponential mechanism" in mechanisms(release)) == chooses


def test_all_rows_of_a_person_are_one_record_of_items() -> None:
    items = replace(shop_schema().transaction_items, column=None, person="card", item="item")
    schema = replace(shop_schema(), unit="person", items=items)
    rows = [(card, item) for card, line in enumerate(transactions(200, seed=1)) for item in line]
    data = pa.table({"card": [card for card, _ in rows], "item": [item for _, item in rows]})
    text = text_of(hr.publish(data, schema, epsilon=1))
    assert "All of a person's rows are one record" in text and "k times epsilon" in text
    assert "stated in the schema and cannot be checked" not in text
    assert "Several records of a person" not in text and "Several identifiers" in text


def test_a_person_with_several_rows() -> None:
    text = text_of(Release.load(GOLDEN / "diffmulti-tuned-1-person"))
    assert "counts are of capped rows, not of people" in text
    assert "Counts are of rows" in text


def test_a_release_that_was_tampered_with_is_warned_of(release: Release) -> None:
    broken = replace(release, guarantee=release.guarantee | {"epsilon": "1/2"})
    made = dossier(broken, verify(broken))
    assert made.warnings[0][0].startswith("DO NOT RELY")
    assert "by a factor of at most" not in markdown(made)


HOSTILE = [
    "<script>x</script>",
    "a | b",
    "[x](http://evil)",
    "**b**",
    "# h",
    "1. a",
    "- a",
    "\u202e",
]


def test_both_forms_escape() -> None:
    table = Grid("c", ("h",), rows=tuple((one,) for one in HOSTILE))
    parts = [Bullets(tuple(HOSTILE)), table, *map(Text, HOSTILE)]
    sections = (Section(HOSTILE[0], tuple(parts)),)
    made = Document(title=HOSTILE[0], head=(Text(HOSTILE[1]),), sections=sections)
    page, text = as_html(made), markdown(made)
    assert "<script" not in page and "\u202e" not in page + text
    assert not re.search(r"(?<!\\)[<|\[]", re.sub(r"^\|.*", "", text, flags=re.M))
    for line in text.splitlines():
        if line.startswith("|"):  # a cell cannot add a column
            assert len(re.findall(r"(?<!\\)\|", line)) == 2
    assert "\n# h" not in text and "\n1. a" not in text and "http://" not in text


def test_only_long_headings_of_rows_take_room_on_a_phone() -> None:
    def shown(heading: str) -> str:
        table = _narrow(Grid("c", ("a", "b"), rows=((heading, "x"),)))
        return as_html(Document(title="t", sections=(Section("s", (table,)),)))

    assert '<table class="long">' in shown("how many rows there are, roughly")
    assert '<table class="long">' not in shown("measurements.parquet")
