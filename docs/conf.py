"""The site: `make site` builds it from these pages, without the network.

The source folder is the repository itself, so that links work on the site as they do in a checkout.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from docutils import nodes
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.addnodes import index
from sphinx.application import Sphinx

import hedgerow

sys.path.append(str(Path(__file__).parents[1] / "scripts"))
from diagrams import svg  # noqa: E402
from notebooks import as_markdown  # noqa: E402

project = "hedgerow"
author = "the hedgerow authors"
copyright = author
version = release = hedgerow.__version__

root_doc = "docs/index"
include_patterns = ["*.md", "docs/**", "changelog.d/README.md", "benchmarks/README.md"]
exclude_patterns = ["build/**", "demo/**", ".venv*/**", ".mutants/**", ".matrix/**", ".dist/**"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
suppress_warnings = [
    "myst.header",
    "myst.xref_missing",  # tests/contracts/test_docs.py looks at every link
    "toc.not_included",
]

default_role = "code"  # docstrings mark names like Markdown does
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "inherited-members": True, "show-inheritance": False}
napoleon_numpy_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = "hedgerow"
html_extra_path = ["site"]  # index.html, which leads to the first page
html_show_sphinx = False
html_copy_source = False


class NotebookParser(MystParser):
    """Tutorials, with the outputs that are kept in them: nothing is run while a site is built."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Reads a notebook as the Markdown that it amounts to."""
        super().parse(as_markdown(json.loads(inputstring)), document)


SOUGHT = json.loads(Path(__file__).with_name("search.json").read_text(encoding="utf-8"))


def put_first(app: Sphinx, page: nodes.document) -> None:
    """Makes the words of search.json index entries of their page.

    The search puts those before titles and text, which would name a page by how short its headings
    are. `tests/browser/search.py` looks for each.
    """
    places = {words: place.partition("#") for words, place in SOUGHT.items()}
    entries = [
        ("single", words, anchor, "main", None)
        for words, (path, _, anchor) in places.items()
        if path == app.env.doc2path(app.env.docname, base=False).as_posix()
    ]
    page.insert(0, index(entries=entries))


def draw(app: Sphinx, page: nodes.document) -> None:
    """Puts pictures in place of flowcharts, which on GitHub a script draws."""
    for block in list(page.findall(nodes.literal_block)):
        if block.get("language") == "mermaid":
            block.replace_self(nodes.raw("", svg(block.astext()), format="html"))


def setup(app: Sphinx) -> None:
    """Makes notebooks pages, and pages found."""
    app.connect("doctree-read", put_first)
    app.connect("doctree-read", draw)
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
