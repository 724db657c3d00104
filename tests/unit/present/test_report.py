"""What can be seen of the page without a browser; `make browser` looks at it in one."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.estimate.partition import TreePartition
from hedgerow.evaluation import scorecard
from hedgerow.evaluation.scorecard import Judgment
from hedgerow.present.document import Text
from hedgerow.present.document import text as text_of
from hedgerow.present.kinds import upper_tree
from hedgerow.present.render import markdown
from hedgerow.present.report import open_and_verify, report
from hedgerow.present.report import page as written

pytestmark = pytest.mark.slow

KINDS = (
    "marginals", "diffmulti", "diffgen", "cdiffgen", "noisy", "sampled", "core", "tree", "paper",
    "seeded", "large", "unclassed",
)  # fmt: skip
VOID = {"meta", "br", "hr", "rect", "line", "path"}
ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "aside", "div", "header", "nav", "main",
    "footer", "section", "h1", "h2", "h3", "p", "ul", "li", "a", "dl", "dt", "dd", "strong", "b",
    "i", "span", "code", "pre", "table", "caption", "thead", "tbody", "tr", "th", "td", "details",
    "summary", "figure", "svg", "rect", "line", "path", "text",
}  # fmt: skip
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style><script>alert(2)</script>",
    "' onmouseover='alert(3)",
    "&lt;b&gt;",
    "\u202eevil",
    "<!--x",
)


def judge(data: Any, release: Any, queries: int, boosting: bool = False) -> Judgment:
    """A judgment by the quicker of the two models; what both say has tests of its own."""
    with pytest.MonkeyPatch.context() as patch:
        if not boosting:
            patch.setattr(scorecard, "_MODELS", ("tree",))
        return scorecard.evaluate(data, release, queries=queries)


@cache
def _page_of(folder: Path) -> str:
    return written(folder)


def page(release: Any, against: Judgment | None = None) -> str:
    """The page; that of a folder alone is written once, as nobody changes those folders."""
    if isinstance(release, Path) and against is None:
        return _page_of(release)
    return written(release, against)


class Outline(HTMLParser):
    """The elements of a page with their attributes, checked to be nested properly."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs)
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.found if tag == name]


def section(text: str, key: str) -> str:
    start = text.index(f'<section id="{key}"')
    return text[start : text.index("</section>", start)]


def in_short(text: str) -> list[str]:
    return re.findall("<li>(.*?)</li>", section(text, "short"))


def raw_of(kind: str, raw: Path) -> Path:
    files = {"core": "baskets.dat", "tree": "baskets.dat", "paper": "baskets.dat"}
    return raw / (files | {"unclassed": "ages.csv"}).get(kind, "people.csv")


@pytest.fixture(scope="module")
def judged(releases: dict[str, Path], raw: Path) -> Callable[[str], Judgment]:
    """Each release against its raw data, judged once; one of each kind of table by both models."""
    both = ("diffmulti", "noisy")
    return cache(lambda kind: judge(raw_of(kind, raw), releases[kind], 40, kind in both))


JUDGED = ("diffmulti", "noisy", "core", "unclassed")  # one of each kind of release


@pytest.mark.parametrize(
    ("kind", "with_raw"),
    [
        *((kind, False) for kind in KINDS),
        *(
            pytest.param(kind, True, marks=[] if kind in JUDGED else [pytest.mark.long])
            for kind in KINDS
        ),
    ],
)
def test_a_page_is_whole_and_can_be_read_aloud(
    releases: dict[str, Path], judged: Callable[[str], Judgment], kind: str, with_raw: bool
) -> None:
    against = judged(kind) if with_raw else None
    text = page(releases[kind], against)
    seen = Outline(text)
    assert text.startswith("<!DOCTYPE html>") and seen.all("html") == [{"lang": "en"}]
    assert {name for name, _ in seen.found} <= ALLOWED
    assert len(seen.all("h1")) == len(seen.all("title")) == len(seen.all("main")) == 1
    levels = [int(name[1]) for name, _ in seen.found if re.fullmatch("h[1-6]", name)]
    assert all(later <= sooner + 1 for sooner, later in zip(levels, levels[1:], strict=False))
    ids = [str(a["id"]) for _, a in seen.found if "id" in a]
    assert len(ids) == len(set(ids))
    assert all(str(a["href"]).removeprefix("#") in ids for a in seen.all("a"))
    assert len(seen.all("table")) == len(seen.all("caption")) > 2
    assert all(th.get("scope") in ("row", "col") for th in seen.all("th"))
    pictures = [a for _, a in seen.found if a.get("role") == "img"]
    assert pictures and all(a["aria-label"] for a in pictures)
    assert all(svg.get("role") == "img" or "aria-hidden" in svg for svg in seen.all("svg"))
    assert "nan" not in re.sub("<style>.*?</style>", "", text, flags=re.S).lower().split()


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_asks_for_nothing(releases: dict[str, Path], kind: str) -> None:
    text = page(releases[kind])
    for word in ("http://", "https://", "//", "@import", "url(", "src=", "<script", "<link"):
        assert word not in text, word
    assert "default-src 'none'" in text.replace("&#39;", "'")
    handlers = [name for _, a in Outline(text).found for name in a if name.startswith("on")]
    assert handlers == []


def test_the_page_for_recipients_follows_from_the_release_alone(
    releases: dict[str, Path], tmp_path: Path
) -> None:
    """Another folder, another time zone, no raw data near, and no room that knows any."""
    for kind, folder in releases.items():
        shutil.copytree(folder, tmp_path / kind)
    code = (
        "import sys, json\n"
        "from hedgerow.present.report import page\n"
        "pages = {kind: page(kind) for kind in sys.argv[1:]}\n"
        "rooms = sorted({m.split('.')[1] for m in sys.modules if m.startswith('hedgerow.')})\n"
        "json.dump([pages, rooms], sys.stdout)"
    )
    environment = os.environ | {"TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [sys.executable, "-c", code, *releases],
        capture_output=True, text=True, cwd=tmp_path, env=environment, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    pages, rooms = json.loads(done.stdout)
    assert not set(rooms) & {"evaluation", "methods", "privacy", "counting", "audit"}
    assert set(pages) == set(KINDS)
    for kind, folder in releases.items():
        assert pages[kind] == page(folder)
        assert str(folder) not in pages[kind] and "raw (NOT PRIVATE)" not in pages[kind]


def test_a_page_from_raw_data_says_so(
    releases: dict[str, Path], judged: Callable[[str], Judgment]
) -> None:
    found = judged("diffmulti")
    text = page(releases["diffmulti"], found)
    seen = Outline(text)
    assert [a["class"] for a in seen.all("aside")] == ["banner"]
    assert "<title>NOT PRIVATE." in text and "NOT PRIVATE. </strong>" in text
    assert f"{found.records:,}" in text and "raw (NOT PRIVATE)" in text
    assert "What became of the rows" in text and "What became" not in page(releases["diffmulti"])
    assert "NOT PRIVATE" not in page(releases["diffmulti"])


def test_a_seeded_release_is_called_what_it_is(releases: dict[str, Path]) -> None:
    text = page(releases["seeded"])
    assert "NOT PRIVATE. </strong>" in text and "are in order" not in text
    assert "protects nobody" in text and "DO NOT RELY" not in text
    assert "A test release, NOT PRIVATE" in text and "under differential privacy," not in text


@pytest.mark.parametrize("kind", ["diffmulti", "noisy", "core"])
def test_a_release_that_lies_is_not_advertised(
    releases: dict[str, Path], raw: Path, tmp_path: Path, kind: str
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(releases[kind], copy)
    manifest = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
    manifest["guarantee"].update({"epsilon": "1237/100000", "epsilon_decimal": "0.01237"})
    (copy / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    why = "guarantee: the stated epsilon is below what the ledger adds up to"
    for against in (None, judge(raw_of(kind, raw), copy, queries=8)):
        text = page(copy, against)
        aside = text[text.index("<aside") : text.index("</aside>")]
        assert "DO NOT RELY ON THIS RELEASE. </strong>It fails its own check (" in aside
        assert why in aside and ("NOT PRIVATE" in aside) == (against is not None)
        assert in_short(text)[0] == "What it promises cannot be relied on."
        for false in (
            "0.01237", "a suspicion of", "adds up to no more", "are in order",
            "under differential privacy", "by a factor of", "only so much more",
        ):  # fmt: skip
            assert false not in text, false
        assert "a suspicion of" in page(releases[kind])
        assert "adds up to no more" in page(releases[kind])


def test_a_method_that_is_not_installed_is_no_lie(releases: dict[str, Path]) -> None:
    from dataclasses import replace

    release = replace(hr.Release.load(releases["diffmulti"]), method="unheard-of")
    text = page(release)
    aside = text[text.index("<aside") : text.index("</aside>")]
    assert "THIS RELEASE CANNOT BE VERIFIED HERE. </strong>Nothing speaks against it" in aside
    assert in_short(text)[0] == "What it promises cannot be verified here."
    assert "DO NOT RELY" not in text and "by a factor of" not in text


def test_books_of_a_liar_need_not_be_readable(releases: dict[str, Path]) -> None:
    from dataclasses import replace

    release = hr.Release.load(releases["diffmulti"])
    text = page(replace(release, ledger={**release.ledger, "paths": 7}))
    assert "DO NOT RELY" in text and "What the budget was spent on" not in text


def test_the_release_of_another_table_is_told(
    releases: dict[str, Path], judged: Callable[[str], Judgment]
) -> None:
    found = judge(hr.sample.people(5000, seed=9), releases["diffmulti"], queries=8)
    assert not found.matches
    text = page(releases["diffmulti"], found)
    first, *others = in_short(text)
    assert first.startswith("The release cannot be of this data")
    assert not [line for line in others if "random counts" in line or "predicted" in line]
    right = page(releases["diffmulti"], judged("diffmulti"))
    assert "cannot be of this data" not in right
    assert [line for line in in_short(right) if "random counts" in line]


@pytest.mark.parametrize("kind", ["core", "tree", "paper"])
def test_words_fit_sets_of_items(releases: dict[str, Path], kind: str) -> None:
    text = page(releases[kind])
    limits = section(text, "limits")
    assert "region" not in limits and "taxonom" not in limits and "A set of items" in limits
    assert "how many records hold" in in_short(text)[1]
    assert "not including" not in text  # there are no numbers


def test_a_weak_promise_is_called_weak(releases: dict[str, Path]) -> None:
    for kind, folder in releases.items():
        text = page(folder)
        promised = section(text, "promise")
        assert "docs/" not in text
        weak = kind in ("large", "unclassed")
        assert ("only so much more" in promised) == (kind != "seeded")
        assert ("the limit is a weak one" in promised.lower()) == weak and "nothing" not in promised
        promised = promised.replace("<span>100%</span>", "")  # where the axis ends
        assert "100%" not in promised and ("over 99%" in promised) == weak


def test_strange_signs_are_explained_where_they_are_seen(releases: dict[str, Path]) -> None:
    for folder in releases.values():
        text = page(folder)
        release = hr.Release.load(folder)
        assert text.count("not including, 12") == (1 if release.schema.items is None else 0)
        assert ("striped boxes" in text) == ('class="box more' in text)
        assert "<dt>epsilon (smaller is safer)</dt>" in text
        assert "specialis" not in section(text, "budget")


def test_how_coarse_it_is(releases: dict[str, Path], judged: Callable[[str], Judgment]) -> None:
    for kind, what in (("diffmulti", "regions"), ("noisy", "rows")):
        text = page(releases[kind], judged(kind))
        assert f"How coarse the {what} are</h2>" in text and "Marginals" not in text
    assert "people in the same region as a typical person" in page(
        releases["diffmulti"], judged("diffmulti")
    )


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, pa.Table]]:
    """Releases whose every name and value is an attack."""
    folder = tmp_path_factory.mktemp("hostile")
    names = [f"{text}{place}" for place, text in enumerate(HOSTILE)]
    table = hr.Schema.from_dict(
        {
            "name": HOSTILE[0],
            "unit": "row",
            "attributes": {
                **{name: {"type": "categorical", "values": list(HOSTILE)} for name in names[:3]},
                names[3]: {"type": "numeric", "low": 0, "high": 99},
                names[4]: {"type": "categorical", "values": list(HOSTILE), "role": "class"},
            },
        }
    )
    draw = np.random.default_rng(1)
    people = pa.table(
        {name: draw.choice(HOSTILE, 900).tolist() for name in (*names[:3], names[4])}
        | {names[3]: draw.integers(0, 100, 900)}
    )
    items = hr.Schema.from_dict(
        {"name": HOSTILE[1], "unit": "row", "items": {"universe": list(HOSTILE)}}
    )
    transactions = pa.table(
        {"x": [draw.choice(HOSTILE, 3, replace=False).tolist() for _ in range(900)]}
    )
    made = {
        "tables": (hr.publish(people, table, epsilon=8), people),
        "tree": (hr.publish(people, table, hr.DiffMulti(), epsilon=8), people),
        "grid": (hr.publish(people, table, hr.DiffGen(specializations=2), epsilon=8), people),
        "rows": (hr.publish(people, table, hr.Supermodular(), epsilon=8, delta="1e-3"), people),
        "items": (hr.publish(transactions, items, epsilon=8), transactions),
    }
    for name, (release, _) in made.items():
        release.save(folder / name)
    return {name: (folder / name, data) for name, (_, data) in made.items()}


@pytest.mark.parametrize("kind", ["tables", "tree", "grid", "rows", "items"])
@pytest.mark.parametrize("with_raw", [False, True])
def test_names_and_values_stay_text(
    hostile: dict[str, tuple[Path, pa.Table]],
    kind: str,
    with_raw: bool,
) -> None:
    folder, data = hostile[kind]
    text = page(folder, judge(data, folder, queries=40) if with_raw else None)
    seen = Outline(text)
    assert {name for name, _ in seen.found} <= ALLOWED
    assert not [name for _, a in seen.found for name in a if name.startswith("on")]
    assert "\u202e" not in text and "<!--" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_settings_of_a_stranger_change_nothing(hostile: dict[str, tuple[Path, pa.Table]]) -> None:
    from dataclasses import replace

    release = hr.Release.load(hostile["rows"][0])
    odd = {"model": HOSTILE[0], "points": [{"trade": HOSTILE[1]}], "chosen": 7}
    assert "<script" not in page(replace(release, frontier=odd, method=HOSTILE[0]))
    basket = hr.Release.load(hostile["items"][0])
    assert "<script" not in page(replace(basket, settings={"chosen": HOSTILE[2]}))


@pytest.mark.parametrize("kind", ["noisy", "sampled"])
def test_rows_of_which_none_is_listed(releases: dict[str, Path], raw: Path, kind: str) -> None:
    """With few people that happens by chance."""
    from dataclasses import replace

    release = hr.Release.load(releases[kind])
    paths = [{**path, "leaves": 0} for path in release.ledger["paths"]]
    nobody = replace(
        release, lo=release.lo[:0], hi=release.hi[:0], counts=release.counts[:0],
        ledger={**release.ledger, "paths": paths},
    )  # fmt: skip
    assert "0 generalized rows" in page(nobody)
    found = judge(raw / "people.csv", nobody, queries=8)
    assert found.classification is None
    assert "0 generalized rows" in page(nobody, found)


def test_a_tree_of_thousands_of_regions_stays_small() -> None:
    from fractions import Fraction

    from hedgerow.estimate.measurements import Measurement
    from hedgerow.release import TableRelease

    names = [f"v{n}" for n in range(64)]
    schema = hr.Schema.from_dict(
        {
            "name": "large",
            "unit": "row",
            "attributes": {key: {"type": "categorical", "values": names} for key in ("a", "b")},
        }
    )
    nodes: list[tuple[int, int, list[int], list[int]]] = [(-1, 0, [0, 0], [64, 64])]
    nodes += [(0, 1, [n, 0], [n + 1, 64]) for n in range(64)]
    nodes += [(1 + n, -1, [n, m], [n + 1, m + 1]) for n in range(64) for m in range(64)]
    tree = TreePartition.of(nodes)
    counts = np.where(np.arange(64 * 64) < 128, 100, 1)[:, None]
    counted = Measurement(
        name="leaf",
        at="region",
        where=np.arange(4096),
        values=counts,
        by_class=False,
        units=np.ones(4096, np.int64),
        unit=Fraction(1),
    )
    release = TableRelease(
        schema=schema,
        method="diffmulti",
        settings={},
        guarantee={"epsilon": "1"},
        ledger={},
        partition=tree,
        measurements=(counted,),
    )
    root = upper_tree(release, tree)
    assert root.regions == 4096 and root.count == counts.sum()
    assert sum(branch.count for branch in root.below) == root.count
    assert [branch.where for branch in root.below] == ["a v0", "a v1", "62 smaller parts"]
    assert root.below[-1].regions == 62 * 64 and root.below[-1].merged == 62


def test_a_report_reads_the_folder_once_and_fits_the_model_once(
    releases: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from hedgerow.release import table_releases

    calls: list[str] = []
    read, fit = hr.MarginalsRelease.from_folder, table_releases.fit_model

    def from_folder(path: Any, manifest: Any) -> Any:
        calls.append("read")
        return read(path, manifest)

    def fit_model(tables: Any) -> Any:
        calls.append("fit")
        return fit(tables)

    monkeypatch.setattr(hr.MarginalsRelease, "from_folder", from_folder)
    monkeypatch.setattr(table_releases, "fit_model", fit_model)
    assert written(releases["marginals"]).startswith("<!DOCTYPE html>")
    assert calls == ["read", "fit"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_is_said_on_a_terminal_and_in_markdown(
    releases: dict[str, Path], kind: str
) -> None:
    release, verdict = open_and_verify(releases[kind])
    made = report(release, verdict)
    shown = text_of(made, 80)
    assert max(len(line) for line in shown.splitlines() if " " in line.strip()) <= 80
    assert "\u00a0" not in shown and len(text_of(made, 80, bars=False)) < len(shown)
    written_down = markdown(made)
    for one in made.sections:
        assert one.title in shown and f"## {one.title}" in written_down
    words = " ".join(shown.split())
    for sentence in (part.words for part in made.head if isinstance(part, Text)):
        assert sentence in words
