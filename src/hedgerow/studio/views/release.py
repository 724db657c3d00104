"""The last step: a release, and what can be made of it. Nothing here needs private data."""

from __future__ import annotations

import re
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape
from pyarrow import csv
from starlette.responses import HTMLResponse, Response

from hedgerow.errors import HedgerowError, UsageError
from hedgerow.estimate.partition import TreePartition
from hedgerow.present import answers, kinds, render, tables
from hedgerow.present import dossier as dossiers
from hedgerow.present import report as reports
from hedgerow.present.document import Text
from hedgerow.present.findings import findings
from hedgerow.present.words import guarantee
from hedgerow.release import Release, TableRelease
from hedgerow.studio.folder import Opened, argument, free_name, fresh, inside, look
from hedgerow.studio.steps import Asked, Way

# reports are pages of their own: without scripts, but with styles in attributes
_REPORT = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
frame-ancestors 'none'"
_SHOWN = 200  # lines of a table
_LEVEL = 0.95  # of the intervals of answers
_ROWS = 20  # synthetic records
_DEEP = 6  # levels of a tree
_JUDGMENT = ".json"  # the end of the file of a comparison with the raw data
_LISTED = 2000  # words that a query box completes


def _open(asked: Asked) -> Opened:
    return asked.studio.releases.open(asked.way.path("release"))


def show(asked: Asked) -> Response:
    """What the release promises, whether that holds, and what can be done with it."""
    opened = _open(asked)
    release, verdict = opened.release, opened.verdict
    doubted, stands_out = reports.doubt(release, verdict), None
    if doubted is None:
        stands_out = opened.page("findings", lambda: render.fragment(findings(release)))
    return asked.page(
        "release", command=["verify", asked.way.argument("release")], release=release,
        told=release.describe(), verdict=verdict, doubted=doubted, sentences=guarantee(release),
        findings=stands_out,
    )  # fmt: skip


def _document(asked: Asked, text: str) -> Response:
    """A page of its own, below a way back to the studio."""
    back = escape(asked.way.to("release"))
    above = f'<p style="padding:.6rem 1rem 0;margin:0"><a href="{back}">Back to the studio</a></p>'
    text = text.replace("<body>", f"<body>{above}", 1)
    return HTMLResponse(text, headers={"Content-Security-Policy": _REPORT})


def report(asked: Asked) -> Response:
    """The page for recipients, as `hedgerow report` writes it."""
    return _document(asked, _report(asked))


def _report(asked: Asked) -> str:
    opened = _open(asked)
    contents = opened.release, opened.verdict
    return opened.page("report", lambda: render.page(reports.report(*contents)))


def dossier(asked: Asked) -> Response:
    """The document for those who must approve it, as `hedgerow dossier` writes it."""
    return _document(asked, _dossier(asked))


def _dossier(asked: Asked) -> str:
    opened = _open(asked)
    booked = _find_entry(asked.way, opened.release)
    return render.page(dossiers.dossier(opened.release, opened.verdict, booked))


def _find_entry(way: Way, release: Release) -> Any:
    """The entry of the release in a ledger of the folder, if one has it."""
    from hedgerow.ledger.file import digest_of
    from hedgerow.ledger.ledger import BudgetLedger

    for ledger in look(way.root).ledgers:
        accounts = BudgetLedger(inside(way.root, ledger)).accounts()
        entry, _ = dossiers.found_in(accounts, release, digest_of(way.path("release")))
        if entry is not None:
            return entry
    return None


def table(asked: Asked) -> Response:
    """Counts of all values of an attribute, or of two together, with error bars."""
    release = _open(asked).release
    are_items = release.kind == "transactions"
    known = ["item"] if are_items else [one.name for one in release.schema.columns]
    first, second = asked.get("first") or known[0], asked.get("second")
    by = "share" if asked.get("by") == "share" else "count"
    where = asked.get("where").strip()
    chosen = [first, *([second] if second else [])]
    condition: Any = (_items(where) if are_items else where) or None
    cells = release.table(*chosen, where=condition, share=by == "share")
    total = len(cells)
    cells = cells.largest(_SHOWN) if total > _SHOWN else cells
    command = ["table", asked.way.argument("release"), *chosen]
    command += ["--by", "share"] if by == "share" else []
    command += [f"--where={where}"] if where else []
    return asked.page(
        "table", command=command, names=known, first=first, second=second, by=by, where=where,
        kind=release.kind, title=tables.title_of(release, cells, where or None),
        grid=render.fragment([tables.count_grid(release, cells, where or None)]),
        notes=tables.how_to_read(cells, release.schema), total=total, shown=len(cells),
        example=release.example.strip("'\""),
    )  # fmt: skip


def _items(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def query(asked: Asked) -> Response:
    """How many records meet a condition, or hold some items?"""
    release = _open(asked).release
    example = release.example.strip("'\"")
    text, lines, error = asked.get("query").strip(), list[str](), None
    if text:
        asks: Any = _items(text) if release.kind == "transactions" else text
        try:
            (answer,) = answers.list_answers(release, [text], [asks], _LEVEL)
            lines = answers.describe_answer(release, answer, _LEVEL)
            if release.kind == "rows":
                those = release.schema.unit_names[1]
                lines.append(answers.MISSING.format(those=those).rstrip("."))
        except HedgerowError as fault:
            error = fault
    return asked.page(
        "query", 200 if error is None else 400, text=text, lines=lines, error=error,
        command=["query", asked.way.argument("release"), text or example], kind=release.kind,
        example=example, words=_words(release),
    )  # fmt: skip


def _words(release: Release) -> list[str]:
    """What a query can name: all of it is in the public schema."""
    if release.kind == "transactions":
        return list(release.schema.transaction_items.labels[:_LISTED])
    words: dict[str, None] = {}
    for column in release.schema.columns:
        taxonomy = getattr(column, "taxonomy", None)
        words |= dict.fromkeys([column.name, *(taxonomy.labels if taxonomy else ())])
    return list(words)[:_LISTED]


def tree(asked: Asked) -> Response:
    """What was published: how everyone was divided, level by level, and the largest parts."""
    release = _open(asked).release
    root, parts = None, {}
    if release.kind == "table":
        table = release.expect(TableRelease)
        if isinstance(table.partition, TreePartition):
            root = kinds.grow_tree(table, table.partition, _DEEP)
        else:
            parts = kinds.cuts(table, table.partition)
    largest = kinds.KINDS[release.kind].division(release, _ROWS)
    return asked.page(
        "tree", command=["show", asked.way.argument("release")], root=root, parts_of=parts,
        told=release.describe(), largest=render.fragment(largest),
    )  # fmt: skip


def rows(asked: Asked) -> Response:
    """A few synthetic records, which describe nobody."""
    release = _open(asked).release
    drawn: Any = release.synthesize(_ROWS, kind="arrow")
    records = [[_cell(one) for one in row.values()] for row in drawn.to_pylist()]
    return asked.page(
        "rows", command=["sample", asked.way.argument("release"), "--out", "rows.csv"],
        heads=list(drawn.column_names), records=records, unmeasured=release.unmeasured,
        told=release.describe(),
    )  # fmt: skip


def _cell(value: object) -> str:
    """A value as the file of synthetic records has it."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def compare(asked: Asked) -> Response:
    """Releases side by side, by what they say themselves."""
    from hedgerow.evaluation.compare import compare_opened, folder_names  # slow to import
    from hedgerow.present.against import comparison

    way, lines = asked.way, Markup()
    others = [inside(way.root, one, folder=True) for one in asked.every("other")]
    folders = [way.path("release"), *others]
    if others:
        opened = [asked.studio.releases.open(one).release for one in folders]
        document = comparison(compare_opened(folder_names(folders), opened))
        parts = [part for section in document.sections for part in section.parts]
        lines = render.fragment([*parts, Text(document.foot, "note")])
    known = [one for one in look(way.root).releases if one.folder != way.get("release")]
    command = ["compare", *(argument(way.root, one) for one in folders)] if others else ()
    return asked.page(
        "compare", command=command, lines=lines, others=known, chosen=asked.every("other")
    )


def download(asked: Asked) -> Response:
    """The release as a file: all of it, its tables, its report, its dossier, synthetic rows."""
    kind, name = asked.get("as"), asked.way.path("release").name
    if kind not in _ENDINGS:
        raise UsageError("there is no such file.", hint="Choose one on the page of the release.")
    ending = _ENDINGS[kind]
    with tempfile.TemporaryDirectory(prefix="hedgerow-studio-") as folder:
        path = Path(folder) / f"{name}{ending}"
        _write(asked, kind, path)
        content = path.read_bytes()
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    attached = {"Content-Disposition": f'attachment; filename="{plain}{ending}"'}
    return Response(content, media_type="application/octet-stream", headers=attached)


def _pack(asked: Asked, path: Path) -> None:
    """The files of a release in an archive: those that such a release has, and no others.

    A stranger's manifest can name any file of this machine, so only names that a release has count.
    """
    from hedgerow.release.files import check_file, is_table_file, kind_class, read_manifest

    folder = asked.way.path("release")
    manifest, name = read_manifest(folder), folder.name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(folder / "manifest.json", f"{name}/manifest.json")
        tables = sorted(filter(is_table_file, manifest["files"]))
        for one in (*kind_class(manifest["kind"]).file_names(), *tables):
            check_file(folder, one, manifest)
            archive.write(folder / one, f"{name}/{one}")


_ENDINGS = {
    "zip": ".zip", "workbook": ".xlsx", "report": "-report.html", "dossier": "-dossier.html",
    "catalog": "-catalog.zip", "rows": "-synthetic.csv",
}  # fmt: skip


def _write(asked: Asked, kind: str, path: Path) -> None:
    """Writes a file that can be downloaded, as the commands do."""
    opened = _open(asked)
    release = opened.release
    if kind == "zip":
        _pack(asked, path)
    elif kind == "workbook":
        tables.write_workbook(release, path)
    elif kind == "catalog":  # tables with their description for data portals
        from hedgerow.present import catalog  # slow to import

        described = release, opened.verdict, catalog.Listing(), _find_entry(asked.way, release)
        catalog.write_archive(catalog.catalog(*described), path)
    elif kind == "rows":
        form: dict[str, Any] = {"form": "long"} if release.kind == "transactions" else {}
        csv.write_csv(release.synthesize(kind="arrow", **form), path)
    else:
        path.write_text((_report if kind == "report" else _dossier)(asked), "utf-8")


# A release against the raw data. NOT PRIVATE: for the holder of the data alone.


def show_evaluation(asked: Asked) -> Response:
    """What is left of the data in the release, once a comparison was asked for."""
    way, job = asked.way, asked.done("evaluated")
    out = free_name(way.root, f"not-private-{way.path('release').name}", _JUDGMENT)
    data = way.argument("data") if way.get("data") else "DATA"
    command = ["evaluate", data, way.argument("release"), "--out", f"{out}{_JUDGMENT}"]
    return asked.page(
        "evaluate", command=job.arguments if job else command, data=look(way.root).data, out=out,
        result=job.result if job else None, sections=_describe(job.result) if job else {},
    )  # fmt: skip


def evaluate(asked: Asked) -> Response:
    """Compares, as `hedgerow evaluate` does; the numbers are kept in a file for the owner alone."""
    way = asked.way
    out = argument(way.root, fresh(way.root, asked.get("out"), _JUDGMENT))
    command = ["evaluate", way.argument("data"), way.argument("release"), "--out", out]
    command += way.options("delimiter") + (["--quick"] if asked.get("quick") else [])
    return asked.begin(
        command, "Comparing with the raw data",
        lambda job: way.to("release/evaluate", evaluated=job), back="release/evaluate",
    )  # fmt: skip


def _describe(result: Any) -> dict[str, Markup]:
    """The comparison as the report for the holder of the data says it, by headings."""
    from pydantic import TypeAdapter

    from hedgerow.evaluation.scorecard import Judgment
    from hedgerow.present import against

    fields = {key: one for key, one in result.items() if key in Judgment.__dataclass_fields__}
    judgment = TypeAdapter(Judgment).validate_python(fields)
    return {one.title: render.fragment(one.parts) for one in against.sections(judgment)}
