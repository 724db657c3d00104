"""Taxonomies that lie in a file of their own: nested YAML or an ARX hierarchy."""

from __future__ import annotations

import os
from pathlib import Path

from hedgerow.schema.arx import branch_from_arx
from hedgerow.schema.lint import Report
from hedgerow.schema.nodes import Text
from hedgerow.schema.trees import Branch, branch_from_node
from hedgerow.schema.yaml_reader import parse_yaml, read_text

__all__ = ["read_taxonomy_file"]


def read_taxonomy_file(
    written: Text, root: str | None, file: str | None, folder: Path | None, found: Report
) -> tuple[str | None, Branch | None]:
    """The name of the file and the tree in it, if it has one.

    Args:
        written: The path, as the schema has it.
        root: The label of the root, if the schema gives one.
        file: The schema file, for messages.
        folder: Where to look for the taxonomy.
        found: Takes the faults.
    """
    if written.is_nothing or not written.value.strip():
        hint = "Name a file, or write the tree itself."
        found.fault("taxonomy is blank", hint, file, written.line)
        return None, None
    if folder is None:
        what = "taxonomy names a file, but no folder to look in was given"
        hint = "Pass folder=, or put the taxonomy itself there as nested dictionaries."
        found.fault(what, hint, file, written.line)
        return None, None
    path = folder / written.value
    suffix, name = path.suffix.lower(), str(path)
    if not os.path.isfile(path):  # which knows no errors, whatever the path
        hint = "Check the path; it is looked for beside the schema file."
        found.fault(f"there is no taxonomy file {name!r}", hint, file, written.line)
        return name, None
    if suffix not in (".yaml", ".yml", ".json", ".csv", ".txt"):
        what = f"the kind of the taxonomy file {name!r} is unknown"
        hint = "Name it .yaml if it is nested, or .csv if it is an ARX hierarchy."
        found.fault(what, hint, file, written.line)
        return name, None
    text = read_text(path, found)
    if text is None:
        return name, None
    if suffix in (".csv", ".txt"):
        branch = branch_from_arx(text, name, found)
        if branch is not None and root is not None and branch.below:
            branch.label = root
        return name, branch
    node = parse_yaml(text, name, found)
    return name, None if node is None else branch_from_node(node, root, name, found)
