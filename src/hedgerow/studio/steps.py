"""The path from data to a release, and where on it somebody is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hedgerow.errors import UsageError
from hedgerow.studio.app import Asked, link
from hedgerow.studio.folder import argument, inside
from hedgerow.studio.schema_text import SchemaText

__all__ = ["STEPS", "Way"]

STEPS: dict[str, str] = {
    "data": "Data",
    "unit": "Unit",
    "columns": "Columns",
    "taxonomies": "Taxonomies",
    "budget": "Budget",
    "check": "Check",
    "publish": "Publish",
    "release": "Release",
}
"""The page of each step, and what it is called."""

_WRITTEN = ("header_row", "delimiter", "encoding", "sheet", "trust_header")  # about the file
_KEPT = ("data", "schema", "epsilon", "delta", "method", "rows", "release", *_WRITTEN)


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

    def text(self) -> SchemaText:
        """The schema file as it is now."""
        return SchemaText.load(self.path("schema"))
