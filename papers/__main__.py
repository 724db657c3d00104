"""`python -m papers`: the papers' experiments, run again on public data."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import papers
from hedgerow.cli.display.terminal import Command, note, print_json, print_table, progress, say
from hedgerow.cli.options import AsJson
from hedgerow.errors import ReleaseError, UsageError
from papers import Inputs, Result, Runs
from papers.figure import Taxonomies, measure
from papers.pages import draw, read_table, write_page, write_table

__all__ = ["app"]


class Trees(StrEnum):
    """Whose taxonomies figures are run with."""

    OURS = "ours"
    AUTHORS = "authors"
    BOTH = "both"


app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command(name="papers", cls=Command)
def run(
    name: Annotated[
        str | None,
        typer.Argument(help="A figure, such as diffgen-fig3a, a paper, such as diffgen, or all."),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the figures there are.")] = False,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the public data lies (or set HEDGEROW_DATA)."),
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where to write tables, plots and the page.")
    ] = Path("reproduction"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer points and two runs: about a minute.")
    ] = False,
    runs: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="At most so many runs of each point, if the paper has more."
        ),
    ] = None,
    kept: Annotated[
        str | None,
        typer.Option(
            metavar="COMMIT,...",
            help="Compute nothing: write what runs of these commits, or the CSV files, have.",
        ),
    ] = None,
    taxonomies: Annotated[
        Trees, typer.Option(help="Whose taxonomies of Adult, where a figure depends on them.")
    ] = Trees.BOTH,
    as_json: AsJson = False,
) -> None:
    """Run a figure or table of one of the papers again, on public data.

    Writes a CSV file and a plot for each figure and a page for each paper, with the numbers that
    the paper states beside ours. Finished runs are kept in the output folder, so that a stopped
    experiment goes on where it was. NOT PRIVATE: it compares with raw data, which is public here.
    """
    if list_ or name is None:
        known = [(figure.name, figure.title) for figure in papers.figures()]
        if as_json:
            print_json({"figures": [{"name": key, "title": words} for key, words in known]})
        else:
            print_table(["name", "what it shows"], [list(row) for row in known])
        return
    if runs is not None and runs < 1:
        raise UsageError("--runs must be at least 1.", hint="Leave it out for the paper's number.")
    chosen = papers.select(name)
    inputs = Inputs(data)
    trees: tuple[Taxonomies, ...] = ("ours", "authors")
    if taxonomies is not Trees.BOTH:
        trees = ("authors",) if taxonomies is Trees.AUTHORS else ("ours",)
    commits = kept.split(",") if kept else [_commit()]
    try:
        (out / "runs").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ReleaseError(
            f"{out} cannot be made: {error.strerror}.", hint="Choose another --out."
        ) from error
    results: list[Result] = []
    for figure in chosen:
        number = min(runs or (2 if quick else figure.runs), figure.runs)
        tries = list[Result]()
        for commit in commits:
            kept_runs = Runs(out / "runs" / commit / f"{figure.name}.jsonl")
            with progress(figure.name) as tell:
                result = _last(
                    measure(figure, inputs, kept_runs, number, quick, trees, kept is not None), tell
                )
            tries.append(replace(result, commit=commit))
        written = read_table(figure, out / f"{figure.name}.csv") if kept else None
        if written is not None:
            tries.append(written)
        # the first of those with most runs
        done = max(tries, key=lambda one: 0 if one.skipped else one.runs)
        results.append(done)
        if done.skipped:
            note(f"{figure.name} was left out: {done.skipped}.")
            continue
        write_table(done, out / f"{figure.name}.csv")
        if not draw(done, out / f"{figure.name}.png"):
            note("There is no plot: pip install 'hedgerow[evaluate]'")
    for paper in dict.fromkeys(figure.paper for figure in chosen):
        words = f"`python -m papers {name}" + (" --quick" if quick else "")
        words += (f" --runs {runs}" if runs else "") + "` at commit "
        mine = [result for result in results if result.figure.paper == paper]
        made_at: dict[str, list[str]] = {}  # figures by the commit of their runs
        for one in mine:
            made_at.setdefault("" if one.skipped else one.commit, []).append(one.figure.name)
        made_at.pop("", None)
        first, *others = sorted(made_at, key=lambda one: -len(made_at[one])) or commits[:1]
        words += first + "".join(f"; {', '.join(made_at[one])} at {one}" for one in others)
        whole = len(mine) == len(papers.select(paper))
        page = out / f"{paper if whole else name}.md"
        write_page(
            papers.title(paper), papers.claims(paper), mine, page, words, papers.absent(paper)
        )
    if as_json:
        print_json({"out": str(out), "figures": [_facts(result) for result in results]})
        return
    for result in results:
        _tell(result)
    say(f"Wrote tables, plots and a page to {out}.")


def _last(
    steps: Iterator[tuple[float, Result | None]], tell: Callable[[float], None] | None
) -> Result:
    """The result that a measurement ends with, its progress shown on the way."""
    done = None
    for share, result in steps:
        done = result
        if tell is not None:
            tell(share)
    assert done is not None
    return done


def _commit() -> str:
    """The commit of this checkout, and whether its code was changed since."""
    home = Path(__file__).resolve().parents[1]

    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", home, *words], capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""

    changed = git("status", "--porcelain", "--", "src", "papers")
    return (git("rev-parse", "--short=8", "HEAD") or "unknown") + ("-changed" if changed else "")


def _facts(result: Result) -> dict[str, object]:
    lines = [
        {
            "series": line.series,
            "taxonomies": line.taxonomies,
            "x": line.x,
            "mean": line.mean,
            "low": line.low,
            "high": line.high,
        }
        for line in result.lines
    ]
    name = result.figure.name
    return {"name": name, "runs": result.runs, "skipped": result.skipped, "points": lines}


def _tell(result: Result) -> None:
    figure = result.figure
    if result.skipped:
        return
    say(f"{figure.name}: {figure.title}")
    rows = []
    for line in result.lines:
        stated = [s.value for s in figure.stated if (s.series, s.x) == (line.series, line.x)]
        at = "" if line.x is None else f"{line.x}"
        spread = f"{line.low:.4g} to {line.high:.4g}" if line.high > line.low else ""
        said = f"{stated[0]:g}" if stated else ""
        rows.append([line.series, line.taxonomies or "", at, f"{line.mean:.4g}", spread, said])
    print_table(["curve", "trees", "at", "mean", "95%", "paper"], rows, {3})
    say()


if __name__ == "__main__":
    app(prog_name="python -m papers")
