"""A document as a page in one file: no scripts, nothing from elsewhere, and all text escaped.

Names and values come from schemas and releases of anybody. Jinja2 escapes whatever a template
shows, and characters that turn the direction of writing are spelt out (`hedgerow.store.markup`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from hedgerow.present.charts import draw
from hedgerow.present.document import Document, Part, Scale
from hedgerow.store.markup import Safe, join, tag, visible

if TYPE_CHECKING:
    from jinja2 import Environment

# nothing may be loaded and no script run, even if a mistake of ours let one in
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

_DATE = re.compile(r"(\d{4}-\d\d-\d\d|--\w+)")
_LONGEST = 1000  # characters of one text: more nobody reads


def page(document: Document) -> str:
    """The document as a whole page.

    Args:
        document: What to show.

    Example:
        >>> from hedgerow.present.document import Section, Text
        >>> text = page(Document(title="a", sections=(Section("b", (Text("<c>"),)),)))
        >>> text.startswith("<!DOCTYPE html>"), "&lt;c&gt;" in text
        (True, True)
    """
    template = _templates().get_template("page.html")
    return template.render(document=document, policy=POLICY, style=Safe(style()))


def fragment(parts: Iterable[Part]) -> Safe:
    """Parts of a document, to stand in a page that has the same style.

    Args:
        parts: The parts.
    """
    show: Any = _templates().get_template("parts.html").module
    return Safe(show.all(tuple(parts)))


@cache
def style() -> str:
    """How pages look: on a screen light or dark, on a phone, and on paper."""
    return resources.files("hedgerow.present").joinpath("templates/style.css").read_text("utf-8")


@cache
def _templates() -> Environment:
    # loaded when a page is made: commands that print do without
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    folder = resources.files("hedgerow.present").joinpath("templates")
    made = Environment(
        loader=FunctionLoader(lambda name: folder.joinpath(name).read_text("utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(form=lambda part: type(part).__name__, draw=draw, keep=_keep)
    made.tests.update(scale=lambda head: isinstance(head, Scale))
    return made


def _shown(value: Any) -> Any:
    """What a template shows of a value; Jinja2 escapes it afterwards."""
    if value is None:
        return ""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return visible(value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…")


def _keep(text: str) -> Safe:
    """Text in which no line ends inside a date or an option."""
    pieces = _DATE.split(text)
    return join(tag("span", one, class_="keep") if i % 2 else one for i, one in enumerate(pieces))
