"""What every view gets: the request, the path from data to a release, and the templates."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse, RedirectResponse, Response

from hedgerow.errors import HedgerowError, UsageError
from hedgerow.store.html_text import visible
from hedgerow.studio.folder import Conflict, Outside, Releases, argument, inside
from hedgerow.studio.guard import Keys
from hedgerow.studio.jobs import Job, Jobs, command_text

if TYPE_CHECKING:
    from hedgerow.schema import Schema
    from hedgerow.studio.schema_text import SchemaText
    from hedgerow.studio.views.guided import Guided

HERE = Path(__file__).parent

STEPS: dict[str, str] = {
    "data": "Data",
    "unit": "Unit",
    "columns": "Columns",
    "taxonomies": "Taxonomies",
    "tables": "Tables",
    "budget": "Budget",
    "check": "Check",
    "publish": "Publish",
    "release": "Release",
}
"""The page of each step, and what it is called."""

CHANGING = ("unit", "columns", "taxonomies", "tables", "about", "check")
"""The pages that change a schema, where the last change can be undone."""

_WRITTEN = ("header_row", "delimiter", "encoding", "sheet", "trust_header")  # about the file
_KEPT = ("data", "schema", "epsilon", "delta", "method", "rows", "release", *_WRITTEN)

_FIELDS = {  # by the last key of a place in a schema, or by an option: page, field, title
    "low": ("columns", "low", "Smallest"),
    "high": ("columns", "high", "Largest"),
    "step": ("columns", "step", "Step"),
    "missing": ("columns", "c", "A missing value"),
    "outside": ("columns", "c", "A value outside"),
    "values": ("columns", "c", "Values"),
    "type": ("columns", "c", "Type"),
    "decimal": ("columns", "decimal", "Decimal sign"),
    "thousands": ("columns", "thousands", "Between thousands"),
    "format": ("columns", "format", "How dates are written"),
    "ignore": ("columns", "c", "Differences that do not matter"),
    "taxonomy": ("taxonomies", "t-tree", "the tree"),
    "unit": ("unit", "u-row", "Unit of protection"),
    "max_rows": ("unit", "u-row", "Most rows of a person that count"),
    "universe": ("columns", "i-universe", "All items there could be"),
    "max_items": ("columns", "i-most", "Most items of a record that count"),
    "fan_out": ("columns", "i-fan", "Neighbors in a group"),
    "draft": ("check", "s-public", "Sign the schema off"),
    "header_row": ("data", "d-row", "Row of the column names"),
    "delimiter": ("data", "d-between", "Delimiter"),
    "encoding": ("data", "d-encoding", "Encoding"),
    "sheet": ("data", "d-sheet", "Sheet"),
    "trust_header": ("data", "d-trust", "That row does hold names"),
    "epsilon": ("budget", "b-epsilon", "Epsilon"),
    "delta": ("budget", "b-delta", "Delta"),
    "method": ("budget", "", "Method"),
}
_OF_ALL = ("missing", "outside", "decimal", "thousands", "format", "ignore")  # in that form alone


def link(page: str, **parameters: str) -> str:
    """The address of a page; parameters without a value are left out.

    Example:
        >>> link("/unit", data="a b.csv", schema="")
        '/unit?data=a+b.csv'
    """
    given = urlencode({name: value for name, value in parameters.items() if value})
    return f"{page}?{given}" if given else page


def go(page: str, **parameters: str) -> Response:
    """Leads to another page after something was done."""
    return RedirectResponse(link(page, **parameters), status_code=303)


@dataclass(frozen=True, kw_only=True)
class Way:
    """What was chosen so far: the address carries it from step to step, and nothing private.

    Args:
        root: The folder.
        step: The page.
        chosen: Names of files and public numbers.
    """

    root: Path
    step: str
    chosen: dict[str, str]

    def get(self, name: str, default: str = "") -> str:
        """What was chosen."""
        return self.chosen.get(name, default)

    def path(self, name: str) -> Path:
        """The path of the data, the schema or the release.

        Raises:
            UsageError: If none was chosen.
        """
        if name not in self.chosen:
            raise UsageError(
                f"this step needs the {name}.", hint="Go to the first page and choose it there."
            )
        return inside(self.root, self.chosen[name], folder=name == "release")

    def argument(self, name: str) -> str:
        """How a command names the same."""
        return argument(self.root, self.path(name))

    def options(self, *names: str) -> list[str]:
        """What was said about how the file is written, as options of a command."""
        given = [name for name in names if name in self.chosen]
        return [f"--{name.replace('_', '-')}={self.chosen[name]}" for name in given]

    def go(self, page: str, **more: str) -> Response:
        """Leads to another page after something was done."""
        return go(f"/{page}", **(self.chosen | more))

    def to(self, page: str, **more: str) -> str:
        """The address of another page with what was chosen."""
        return link(f"/{page}", **(self.chosen | more))

    @property
    def steps(self) -> list[tuple[str, str, str | None]]:
        """Every step: its page, its name, and its address if it can be gone to."""
        needs = {"data": "data", "release": "release"}
        return [
            (page, name, self.to(page) if needs.get(page, "schema") in self.chosen else None)
            for page, name in STEPS.items()
        ]

    def fields(self, places: Iterable[Sequence[str]]) -> dict[str, str]:
        """The fields of forms that an error is about: their titles, and their addresses.

        Args:
            places: The places of the error.
        """
        try:
            numbers = {name: n for n, name in enumerate(self.text().columns)}
        except HedgerowError:
            numbers = {}
        links = {}
        for place in places:
            name = place[1] if place[0] == "attributes" and len(place) > 1 else ""
            usual = "type" if name in numbers else ""
            key = next((key for key in place[2 if name else 0 :] if key in _FIELDS), usual)
            page, field, title = _FIELDS.get(key, ("", "", ""))
            if (
                not page
                or (name and name not in numbers)
                or (page == "data" and page not in self.chosen)
            ):
                continue
            more = {"form": "all"} if name and key in _OF_ALL else {}
            if name and page == "columns":
                field = f"{field}-{numbers[name]}"
            elif name and page == "taxonomies":
                more["column"] = name
            links[f"{name}: {title}" if name else title] = f"{self.to(page, **more)}#{field}"
        return links

    def text(self) -> SchemaText:
        """The schema file as it is now."""
        from hedgerow.studio.schema_text import SchemaText  # slow to import

        return SchemaText.load(self.path("schema"))


def _show(value: Any) -> Any:
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value)
    return "" if value is None else value


class Pages:
    """The templates, with what all pages share.

    Args:
        root: The folder, from which messages name paths.
        shared: Values that every template knows.
    """

    def __init__(self, root: Path, **shared: Any) -> None:
        self._templates = Environment(
            loader=FileSystemLoader(HERE / "templates"), autoescape=True, finalize=_show,
            undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        )  # fmt: skip
        self._templates.globals.update(shared, CHANGING=CHANGING)
        folder = str(root).rstrip(os.sep) + os.sep
        filters = {"zipped": zip, "brief": lambda message: message.replace(folder, "")}
        self._templates.filters.update(filters)

    def show(self, name: str, status: int = 200, /, **values: Any) -> HTMLResponse:
        """A page, or a part of one.

        Args:
            name: The template, without its ending.
            status: The status of the answer.
            values: What it shows.
        """
        return HTMLResponse(self.part(name, **values), status_code=status)

    def part(self, name: str, /, **values: Any) -> str:
        """The text of a template."""
        return self._templates.get_template(f"{name}.html").render(**values)


@dataclass(frozen=True, kw_only=True)
class Studio:
    """What all views share.

    Args:
        root: The folder, resolved.
        keys: The secrets of this run.
        jobs: Long work.
        pages: The templates.
        drafts: Bounds and values of drafts as they were made, in memory alone.
        guided: What was read off data for questions, and the answers, in memory alone: for each
            schema, by the marks of its texts.
        releases: Releases that were opened.
        sent: Forms that publish, by their one-time numbers: the folder of the release and the job.
    """

    root: Path
    keys: Keys
    jobs: Jobs
    pages: Pages
    drafts: dict[Path, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    guided: dict[Path, dict[str, Guided]] = field(default_factory=dict)
    releases: Releases = field(default_factory=Releases)
    sent: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request as views see it: the address for what is public, the form for the rest.

    Args:
        studio: What all views share.
        step: The step of the path that is asked for, by its page.
        query: The parameters of the address.
        form: The fields of the form, if one was sent.
        fault: Why a form was not taken; its page is then shown again with what was entered.
    """

    studio: Studio
    step: str
    query: Mapping[str, str]
    form: Mapping[str, list[str]] = field(default_factory=dict)
    fault: HedgerowError | None = None

    def get(self, name: str, default: str = "") -> str:
        """A field of the form, or else a parameter of the address."""
        values = self.form.get(name)
        return values[0] if values else self.query.get(name, default)

    def every(self, name: str) -> list[str]:
        """All values of a field."""
        return self.form.get(name, [])

    @cached_property
    def way(self) -> Way:
        """What was chosen so far.

        Raises:
            Outside: If a name leads out of the folder.
        """
        root = self.studio.root
        chosen = {name: self.get(name).strip() for name in _KEPT if self.get(name).strip()}
        for name in ("data", "schema", "release"):
            if name in chosen:
                path = inside(root, chosen[name], folder=name == "release")
                chosen[name] = str(path.relative_to(root))
        return Way(root=root, step=self.step, chosen=chosen)

    @cached_property
    def text(self) -> SchemaText:
        """The schema file as it was when it was asked for."""
        return self.way.text()

    @cached_property
    def schema(self) -> Schema:
        """The schema that it describes."""
        return self.text.schema()

    def find_fields(self, error: HedgerowError | None) -> dict[str, str]:
        """The fields that an error is about."""
        try:
            return {} if error is None else self.way.fields(error.places)
        except HedgerowError:  # what was chosen cannot be found either
            return {}

    def show(self, page: str, status: int = 200, /, **values: Any) -> Response:
        """A page."""
        if self.fault is not None and status == 200:
            status = status_of(self.fault)
        return self.studio.pages.show(page, status, asked=self, **values)

    def page(
        self, name: str, status: int = 200, /, command: Sequence[str] = (), **values: Any
    ) -> Response:
        """A page on the path from data to a release, with the command that does the same."""
        words = command_text(command) if command else ""
        return self.show(name, status, way=self.way, command=words, **values)

    def done(self, name: str) -> Job | None:
        """The work of this step that a parameter names, if it is done."""
        job = self.studio.jobs.find(self.get(name)) if self.get(name) else None
        return job if job and job.step == self.step and job.state == "done" else None

    def begin(
        self, command: Sequence[str], title: str, then: Callable[[str], str], *,
        back: str = "", clear: Callable[[], None] = lambda: None,
    ) -> Response:  # fmt: skip
        """Starts a command of this step, and leads to the page that shows how far it is.

        Args:
            command: The command without `hedgerow`.
            title: What it does, in words.
            then: The page to go to when it is done, by the name of the work.
            back: The page that it is begun on, if it is not that of the step.
            clear: Removes what a command that was killed may have left.
        """
        back = self.way.to(back or self.step)
        job = self.studio.jobs.start(
            command, step=self.step, title=title, then=then, back=back, clear=clear
        )
        return go("/job", job=job.name)


def status_of(error: HedgerowError) -> int:
    """The status of a page that tells of an error."""
    return 404 if isinstance(error, Outside) else 409 if isinstance(error, Conflict) else 400
