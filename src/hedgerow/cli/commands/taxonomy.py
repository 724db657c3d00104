"""`hedgerow taxonomy`: shows a taxonomy, lints it and converts it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hedgerow.cli.display.terminal import note, print_json, say, telling, warn, warned
from hedgerow.cli.options import AsJson, Overwrite
from hedgerow.errors import SchemaError, UsageError
from hedgerow.present.words import many

if TYPE_CHECKING:
    from hedgerow.schema.trees import Branch, Tree


class Format(StrEnum):
    """How a taxonomy is written."""

    YAML = "yaml"
    ARX = "arx"
    CODES = "codes"
    MAPPING = "mapping"


def taxonomy(
    source: Annotated[
        str,
        typer.Argument(
            help="A taxonomy file (YAML, ARX hierarchy, code list or mapping), the name of a list "
            "that comes with hedgerow, or with --attribute a schema or a .hchy file."
        ),
    ],
    attribute: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The attribute whose taxonomy is meant."),
    ] = None,
    depth: Annotated[
        int, typer.Option(metavar="N", min=0, help="How many levels of the tree to show.")
    ] = 2,
    to: Annotated[
        Format | None, typer.Option(metavar="FORMAT", help="Write the taxonomy in this form.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write it to this file; without it the text is printed."),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Show a taxonomy, count its leaves, lint it, or convert it.

    Opens no private data. Forms are nested YAML, ARX hierarchies (value;group;...;*), code lists
    (code,parent,label) and mappings (rule,value,group,...). Only mappings keep rules.
    """
    from hedgerow.schema.lint import Report, raise_faults
    from hedgerow.schema.taxonomy import Reading
    from hedgerow.schema.trees import FORMATS, KEEP_RULES, grow, lint_tree, outline, to_nested

    if out is not None and to is None:
        raise UsageError("--out needs a form", hint="Add, for example, --to yaml.")
    tree, root = _read(source, attribute)
    report = Report()
    whole = grow(root, tree.file, report)
    raise_faults(report.faults)
    reading = Reading(tuple({rule.rule: rule.leaf for rule in tree.rules}.items()))
    for line in lint_tree(root, reading):
        warn(line, as_json)
    groups = sum(1 for below in whole.children if below) - 1
    if to is not None:
        if reading.rules and to.value not in KEEP_RULES:
            warn(f"{many(len(reading.rules), 'rule')} left out; --to mapping keeps them.", as_json)
        text = FORMATS[to.value](tree, root)
        if out is None and not as_json:
            say(text.rstrip("\n"))
        if out is not None:
            from hedgerow.cli.files import write_text

            write_text(out, text, overwrite, private=False)
            with telling(out):
                note(f"{out} was written.")
        if not as_json:
            return
    if as_json:
        print_json(
            {
                "source": source, "leaves": len(whole.leaves), "groups": max(groups, 0),
                "levels": whole.height, "rules": dict(reading.rules), "root": root.label,
                "tree": to_nested(root), "warnings": warned(),
            }
        )  # fmt: skip
        return
    for line in outline(root, depth):
        say(line)
    say(
        f"{many(len(whole.leaves), 'value')}, {many(max(groups, 0), 'group')}, "
        f"{many(whole.height, 'level')}, {many(len(reading.rules), 'rule')}"
    )


def _read(source: str, attribute: str | None) -> tuple[Tree, Branch]:
    """The tree of a file, of a list by name, or of an attribute."""
    from hedgerow.schema import Categorical, Schema
    from hedgerow.schema.lint import Report, raise_faults
    from hedgerow.schema.trees import RuleLine, Tree, branch_of, built_in, read_taxonomy_file
    from hedgerow.schema.yaml_reader import Text

    several = attribute is not None and Path(source).suffix.lower() == ".hchy"
    if attribute is not None and not several:
        columns = {
            column.name: column
            for column in Schema.load(source).columns
            if isinstance(column, Categorical)
        }
        if attribute not in columns:
            raise SchemaError(
                f"{source} has no categorical attribute {attribute!r}",
                hint=f"Choose one of {', '.join(columns)}." if columns else "Choose another file.",
            )
        column = columns[attribute]
        rules = [RuleLine(rule, leaf) for rule, leaf in column.reading.rules]
        return Tree(source, branch_of(column.taxonomy), rules), branch_of(column.taxonomy)
    report = Report()
    written = Text(f"{source}#{attribute}" if several else source)
    tree = read_taxonomy_file(written, None, None, Path(), report)
    if tree.branch is None and not Path(tree.file or source).is_file():
        raise SchemaError(
            f"there is no taxonomy file {source!r}",
            hint=f"Check the path, or choose one of {', '.join(built_in())}.",
        )
    raise_faults(report.faults)
    assert tree.branch is not None  # or there was a fault
    return tree, tree.branch
