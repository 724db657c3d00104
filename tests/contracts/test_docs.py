"""Pages: links lead somewhere, commands and code run, and every public name is explained."""

from __future__ import annotations

import html
import inspect
import json
import pkgutil
import re
import shlex
from pathlib import Path
from types import ModuleType

import pytest
import typer.main

import diagrams
import hedgerow
from hedgerow import evaluation, sample
from hedgerow.cli import app

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
TEXTS = {page: page.read_text(encoding="utf-8") for page in PAGES}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.M | re.S)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
API = TEXTS[ROOT / "docs" / "reference" / "api.md"]


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def slugs(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub and the site make them."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.*?)\s*$", prose, re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        number = 1
        unique = slug
        while unique in found:
            unique, number = f"{slug}-{number}", number + 1
        found.add(unique)
    return found


def dead_links(page: Path, text: str) -> list[str]:
    """Links that lead nowhere; one to a folder does so on the site."""
    dead = []
    for link in LINK.findall(re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)):
        path, _, anchor = link.partition("#")
        if "://" in link or link.startswith("mailto:"):
            continue
        target = (page.parent / path).resolve() if path else page
        known = target.suffix == ".md" and target in TEXTS
        if not target.is_file() or (anchor and known and anchor not in slugs(TEXTS[target])):
            dead.append(link)
    return dead


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_no_link_is_dead(page: Path) -> None:
    assert dead_links(page, TEXTS[page]) == []


@pytest.mark.parametrize(
    "link", ["no.md", "README.md#no-such-heading", "#no-such-heading", "docs/algorithms"]
)
def test_a_dead_link_is_found(link: str) -> None:
    assert dead_links(ROOT / "CONTRIBUTING.md", f"[x]({link})") == [link]


def test_the_site_lists_every_page() -> None:
    listed = TEXTS[ROOT / "docs" / "index.md"]
    for tutorial in (ROOT / "docs" / "tutorials").glob("*.ipynb"):
        assert f"tutorials/{tutorial.stem}\n" in listed
    for page in PAGES:
        path = named(page).removesuffix(".md").removeprefix("docs/")
        name = path if named(page).startswith("docs/") else f"../{path}"
        assert name == "index" or re.search(rf"^(.*<)?{re.escape(name)}>?$", listed, re.M), name


WORDS = 51_800  # of README.md and docs together, at most
LONG = {  # other than references, until they are shorter
    "algorithms/diffpart", "algorithms/supermodular", "reproduction/diffmulti",
}  # fmt: skip


def test_pages_are_short() -> None:
    """As `docs/style.md` asks: at most 1,500 words a page, references apart."""
    index = TEXTS[ROOT / "docs" / "index.md"]
    (reference,) = re.findall(r":caption: Reference\n(.*?)```", index, re.S)
    words = {
        str(page.relative_to(ROOT / "docs")).removesuffix(".md"): len(text.split())
        for page, text in TEXTS.items()
        if page.is_relative_to(ROOT / "docs")
    } | {"../README": len(TEXTS[ROOT / "README.md"].split())}
    long = {name for name, count in words.items() if count > 1500}
    assert long - set(reference.split()) <= LONG
    assert sum(words.values()) <= WORDS


EXTENDING = ROOT / "docs" / "extending.md"
PYTHON = [
    page
    for page in PAGES
    if "```python\n" in TEXTS[page] and page.parent != ROOT and page != EXTENDING
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that pages work in: the sample, a release of each part of it."""
    folder = tmp_path_factory.mktemp("pages")
    sample.write(folder, rows=1000)
    for data, schema, out in (
        ("people.csv", "schema.yaml", "release"),
        ("baskets.dat", "baskets.yaml", "shop"),
    ):
        hedgerow.publish(folder / data, folder / schema, epsilon=1, out=folder / out)
    return folder


@pytest.mark.parametrize("page", PYTHON, ids=named)
def test_python_on_pages_runs(
    page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """README's has a test of its own."""
    monkeypatch.chdir(folder)
    space: dict[str, object] = {"__name__": "__main__"}
    for language, text in BLOCK.findall(TEXTS[page]):
        if language == "python":
            text = text.replace('out="release/"', f'out="of-{page.stem}/"')
            text = text.replace("range(10)", "range(1)")  # repetitions, not what is shown
            exec(compile(text, named(page), "exec"), space)


def test_the_guide_shows_the_package_that_is_tested() -> None:
    """Which `test_plugins.py` installs, publishes with, verifies and audits."""
    example = ROOT / "tests" / "plugin_example"
    files = [*example.glob("*.toml"), *(example / "hedgerow_equalparts").glob("*.py")]
    assert len(files) == 6
    for file in files:
        assert f"](../{file.relative_to(ROOT)})" in TEXTS[EXTENDING], file.name
    steps, _, _ = TEXTS[EXTENDING].partition("## 7. ")  # which shows mistakes
    shown = [text for language, text in BLOCK.findall(steps) if language != "sh"]
    assert len(shown) == 2
    for text in shown:
        assert sum(text in file.read_text(encoding="utf-8") for file in files) == 1, text


def commands() -> list[tuple[str, list[str]]]:
    found = []
    for page in PAGES:
        for language, text in BLOCK.findall(TEXTS[page]):
            if language != "sh":
                continue
            for line in text.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                if words[:1] == ["hedgerow"] and len(words) > 1:
                    found.append((f"{named(page)}: {line}", words[1:]))
    return found


def test_commands_on_pages_are_understood() -> None:
    """Every option that a page shows is one; what they do is tested where they are made."""
    known = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    shown = commands()
    assert len(shown) > 40
    for where, words in shown:
        if words[0].startswith("-"):
            continue
        assert words[0] in known, where
        command = known[words[0]]
        command.make_context(words[0], list(words[1:]), resilient_parsing=False)


MODULES = {
    "hedgerow.errors": hedgerow.errors,
    "hedgerow.evaluation": evaluation,
    "hedgerow.sample": sample,
}


def test_every_public_name_has_an_entry() -> None:
    entries = set(re.findall(r"^\.\. auto\w+:: ([\w.]+)$", API, re.M))
    for name in hedgerow.__all__:
        assert name == "__version__" or f"hedgerow.{name}" in entries, name
    assert MODULES.keys() <= entries


ERRORS = set(hedgerow.errors.__all__) - {"HedgerowError"}  # made like their parent, which has one


@pytest.mark.parametrize(
    "module", [hedgerow, *MODULES.values()], ids=lambda module: module.__name__
)
def test_every_public_name_has_an_example(module: ModuleType) -> None:
    """Which is run where it stands."""
    for name in set(module.__all__) - ERRORS:
        thing = getattr(module, name)
        assert not callable(thing) or ">>>" in (inspect.getdoc(thing) or ""), name


HANDED = {"Job", "Outcome", "TablePublisher"}  # docs/extending.md is their example


def test_every_entry_of_the_reference_has_an_example() -> None:
    for kind, name in re.findall(r"^\.\. auto(\w+):: hedgerow\.([\w.]+)$", API, re.M):
        if name.startswith("extend."):  # docs/extending.md is their example
            continue
        if kind != "module" and "." in name and name.rpartition(".")[2] not in HANDED:
            entry = pkgutil.resolve_name(f"hedgerow.{name}")
            assert ">>>" in (inspect.getdoc(entry) or ""), name


def test_every_flowchart_is_drawn_on_the_site() -> None:
    charts = [
        chart
        for text in TEXTS.values()
        for chart in re.findall(r"```mermaid\n(.*?)```", text, re.S)
    ]
    assert len(charts) > 1
    for chart in charts:
        picture = diagrams.svg(chart)
        assert picture.count("<path d=") == chart.count("-->") + 1  # and the tip of all arrows
        for label in diagrams.read(chart).labels.values():
            assert all(word in picture for word in label.split())
        for words in re.findall(r' -- "(.*?)" -->', chart):
            assert f">{html.escape(words)}<" in picture
    with pytest.raises(ValueError, match="not drawn: a ==> b"):
        diagrams.svg("flowchart TB\n  a ==> b")


SOUGHT = json.loads((ROOT / "docs" / "search.json").read_text(encoding="utf-8"))


def test_the_words_that_people_search_for() -> None:
    assert {
        "synthetic data", "confidence interval", "marginal", "k-anonymity", "composition", "ICD"
    } <= SOUGHT.keys()  # fmt: skip


@pytest.mark.parametrize("words, place", SOUGHT.items())
def test_a_search_leads_somewhere(words: str, place: str) -> None:
    """`make site` puts this page first, which `tests/browser/search.py` sees in a browser."""
    path, _, anchor = place.partition("#")
    text = (ROOT / path).read_text(encoding="utf-8")
    assert words.lower() in text.lower()
    assert not anchor or anchor in slugs(text)
