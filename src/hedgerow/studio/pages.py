"""Templates. Whatever they show is escaped, and what turns the direction of writing spelt out."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from hedgerow.store.markup import visible
from hedgerow.studio.history import Version, previous

if TYPE_CHECKING:
    from hedgerow.studio.schema_text import SchemaText

HERE = Path(__file__).parent
CHANGING = ("unit", "columns", "taxonomies", "tables", "about", "check")
"""The pages that change a schema, where the last change can be undone."""


def _show(value: Any) -> Any:
    if value is None:
        return ""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _brief(root: str, message: str) -> str:
    """A message with paths as they are seen from the folder of the studio."""
    return message.replace(root.rstrip(os.sep) + os.sep, "") if root else message


def _previous(text: SchemaText) -> Version | None:
    return previous(text.path, text.text)


class Pages:
    """The templates, with what all pages share.

    Args:
        shared: Values that every template knows.
    """

    def __init__(self, **shared: Any) -> None:
        self._templates = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=_show,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals.update(shared, previous=_previous, CHANGING=CHANGING)
        self._templates.filters["zipped"] = zip
        self._templates.filters["brief"] = partial(_brief, str(shared.get("root", "")))

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
