"""ARX hierarchy files: one row for each value, from the value itself up to the root.

    Engineer;Professional;*
    Lawyer;Professional;*
    Artist;Artist;*

Rows are of equal length; a label that is repeated on the next level only fills the row up.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

from hedgerow.errors import SchemaError
from hedgerow.schema.files.yaml_reader import read_text
from hedgerow.schema.lint import MAX_DEPTH, Fault, Report, raise_faults, taxonomy_faults
from hedgerow.schema.taxonomies.taxonomy import Taxonomy
from hedgerow.schema.taxonomies.trees import Branch, branch_of, grow

__all__ = ["arx_text", "branch_from_arx", "paths_of", "read_arx", "write_arx"]

_Row = tuple[int, list[str]]


def read_arx(path: str | Path) -> Taxonomy:
    """Reads a taxonomy from an ARX hierarchy file, separated by semicolons or commas.

    Raises:
        SchemaError: With the file and line of what is wrong, and how to mend it.
    """
    report = Report()
    text = read_text(Path(path), report)
    branch = None if text is None else branch_from_arx(text, str(path), report)
    taxonomy = None if branch is None else grow(branch, str(path), report)
    raise_faults(report.faults)
    assert taxonomy is not None  # without a branch there was a fault
    return taxonomy


def write_arx(taxonomy: Taxonomy, path: str | Path) -> None:
    """Writes a taxonomy as an ARX hierarchy file, which `read_arx` reads back unchanged.

    Example:
        >>> import tempfile
        >>> jobs = Taxonomy.from_nested("*", {"Expert": ["Engineer", "Lawyer"], "Artist": None})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_arx(jobs, f"{folder}/jobs.csv")
        ...     print(Path(folder, "jobs.csv").read_text(), read_arx(f"{folder}/jobs.csv") == jobs)
        Engineer;Expert;*
        Lawyer;Expert;*
        Artist;Artist;*
         True
    """
    raise_faults([Fault(what, hint) for what, hint in taxonomy_faults(taxonomy)])
    try:
        Path(path).write_text(arx_text(branch_of(taxonomy)), encoding="utf-8", newline="")
    except OSError as error:
        raise SchemaError(
            f"{path}: the file cannot be written ({error.strerror})",
            hint="Choose a folder that exists and that you may write to.",
        ) from error


def paths_of(root: Branch) -> list[list[str]]:
    """Every leaf of a tree with the groups above it, from the leaf up to the root."""
    paths: list[list[str]] = []
    stack = [(root, [root.label])]
    while stack:
        branch, path = stack.pop()
        if not branch.below:
            paths.append(path)
        stack += [(child, [child.label, *path]) for child in reversed(branch.below)]
    return paths


def arx_text(root: Branch) -> str:
    """A tree as an ARX hierarchy; short rows are filled up with their value."""
    paths = paths_of(root)
    width = max(map(len, paths))
    text = io.StringIO(newline="")
    # A single column has no separator to tell by, so its commas must stand in quotes.
    if width == 1:
        writer = csv.writer(text, delimiter=";", lineterminator="\n", quoting=csv.QUOTE_ALL)
    else:
        writer = csv.writer(text, delimiter=";", lineterminator="\n")
    writer.writerows([path[0]] * (width - len(path)) + path for path in paths)
    return text.getvalue()


def branch_from_arx(text: str, file: str, report: Report) -> Branch | None:
    """The tree of an ARX file's text; None, and faults in the report, if it has none."""
    before = len(report.faults)
    rows = _rows(text, file, report)
    if rows and len(report.faults) == before:
        parents = _parents(rows, file, report)
        if len(report.faults) == before:
            return _tree(rows, parents)
    return None


def _rows(text: str, file: str, report: Report) -> list[_Row]:
    rows: list[_Row] = []
    try:
        semicolons = len(next(csv.reader(io.StringIO(text, newline=""), delimiter=";"))) > 1
        delimiter = ";" if semicolons else ","
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    except csv.Error as error:
        report.fault(f"this is not CSV ({error})", "Look for a stray quote.", file, 1)
        return []
    line = 1
    try:
        for fields in reader:
            if fields:
                rows.append((line, fields))
            line = reader.line_num + 1
    except csv.Error as error:
        hint = "Look for a stray or missing quote on this line."
        report.fault(f"this is not CSV ({error})", hint, file, line)
        return []
    if not rows:
        report.fault("the file is empty", "Write one row for each value.", file)
        return []
    width = max(len(fields) for _, fields in rows)
    if width > MAX_DEPTH + 1:
        what = f"the rows have more than {MAX_DEPTH + 1} levels"
        report.fault(what, "Remove levels.", file, rows[0][0])
        return []
    for line, fields in rows:
        if len(fields) != width:
            what = f"a ragged row: it has {len(fields)} levels where others have {width}"
            hint = f"Repeat {fields[0]!r} at its start until it has {width}."
            report.fault(what, hint, file, line)
        elif not all(label.strip() for label in fields):
            level = next(i for i, label in enumerate(fields) if not label.strip()) + 1
            what = f"the name on level {level} of the row is blank"
            hint = "Fill it with the name before it, and remove a separator at the row's end."
            report.fault(what, hint, file, line)
    return rows


def _parents(rows: list[_Row], file: str, report: Report) -> dict[str, tuple[str, int]]:
    """The parent of each label, and the line that says so."""
    first, root = rows[0][0], rows[0][1][-1]
    for line, fields in rows:
        if fields[-1] != root:
            what = f"the row ends in {fields[-1]!r}, but line {first} in {root!r}"
            hint = "End every row in the same name, such as *; add a last column for it."
            report.fault(what, hint, file, line)
            return {}
    before = len(report.faults)
    parents: dict[str, tuple[str, int]] = {}
    groups: set[str] = set()
    values: dict[str, int] = {}
    for line, fields in rows:
        wrong = False
        for child, parent in reversed(list(zip(fields, fields[1:], strict=False))):
            if child == parent:  # padding
                continue
            groups.add(parent)
            known = parents.get(child)
            if known is not None and known[0] == parent:
                continue
            if child in groups and _is_above(child, parent, parents):
                what = f"a cycle: {child!r} is below {parent!r} here, and above it elsewhere"
                report.fault(what, "Give one of the two another name.", file, line)
                wrong = True
            elif known is not None:
                kind = "group" if child in groups else "leaf"
                what = (
                    f"the {kind} {child!r} is under two parents, {parent!r} here "
                    f"and {known[0]!r} on line {known[1]}"
                )
                report.fault(what, "Keep it under one of them.", file, line)
                wrong = True
            else:
                parents[child] = (parent, line)
        if fields[0] in values and not wrong:
            what = f"the value {fields[0]!r} is repeated (first on line {values[fields[0]]})"
            report.fault(what, "Remove one of the two rows.", file, line)
        values.setdefault(fields[0], line)
    if len(report.faults) == before:
        for value, line in values.items():
            if value in groups:
                what = f"the name {value!r} is repeated: it is a value and also a group"
                report.fault(what, "Give the group another name.", file, line)
    return parents


def _is_above(label: str, below: str, parents: dict[str, tuple[str, int]]) -> bool:
    while True:
        if below == label:
            return True
        if below not in parents:
            return False
        below = parents[below][0]


def _tree(rows: list[_Row], parents: dict[str, tuple[str, int]]) -> Branch:
    root = Branch(rows[0][1][-1], rows[0][0])
    branches = {root.label: root}
    for line, fields in rows:
        for label in reversed(fields):
            if label not in branches:
                branch = branches[label] = Branch(label, line)
                branches[parents[label][0]].below.append(branch)
    return root
