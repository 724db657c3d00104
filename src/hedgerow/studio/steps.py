"""The path from data to a release, and where on it somebody is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hedgerow.errors import HedgerowError, UsageError
from hedgerow.studio.app import Asked, link
from hedgerow.studio.folder import argument, inside

if TYPE_CHECKING:
    from hedgerow.studio.schema_text import SchemaText

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

    @staticmethod
    def of(asked: Asked, step: str) -> Way:
        """What a request says was chosen.

        Raises:
            Outside: If a name leads out of the folder.
        """
        root = asked.studio.root
        chosen = {name: asked.get(name).strip() for name in _KEPT if asked.get(name).strip()}
        for name in ("data", "schema", "release"):
            if name in chosen:
                found = inside(root, chosen[name], folder=name == "release")
                chosen[name] = str(found.relative_to(root))
        return Way(root=root, step=step, chosen=chosen)

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
        return [f"--{name.replace('_', '-')}={self.chosen[name]}"
                for name in names if name in self.chosen]  # fmt: skip

    def to(self, page: str, **more: str) -> str:
        """The address of another page with what was chosen."""
        return link(f"/{page}", **(self.chosen | more))

    @property
    def steps(self) -> list[tuple[str, str, str | None]]:
        """Every step: its page, its name, and its address if it can be gone to."""
        needs = {"data": ("data",), "release": ("release",)}
        return [
            (page, name, self.to(page)
             if all(one in self.chosen for one in needs.get(page, ("schema",))) else None)
            for page, name in STEPS.items()
        ]  # fmt: skip

    def fields(self, places: Iterable[Sequence[str]]) -> dict[str, str]:
        """The fields of forms that an error is about: their titles, and their addresses.

        Args:
            places: The places of the error.
        """
        try:
            numbers = {name: n for n, name in enumerate(self.text().columns)}
        except HedgerowError:
            numbers = {}
        found = {}
        for place in places:
            name = place[1] if place[0] == "attributes" and len(place) > 1 else ""
            keys = [key for key in place[2 if name else 0 :] if key in _FIELDS]
            if not (keys or name) or (name and name not in numbers):
                continue
            key = keys[0] if keys else "type"
            page, field, title = _FIELDS[key]
            if page == "data" and "data" not in self.chosen:
                continue
            more = {"form": "all"} if name and key in _OF_ALL else {}
            if name and page == "columns":
                field = f"{field}-{numbers[name]}"
            elif name and page == "taxonomies":
                more["column"] = name
            found[f"{name}: {title}" if name else title] = f"{self.to(page, **more)}#{field}"
        return found

    def text(self) -> SchemaText:
        """The schema file as it is now."""
        from hedgerow.studio.schema_text import SchemaText  # slow to import

        return SchemaText.load(self.path("schema"))
