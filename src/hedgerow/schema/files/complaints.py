"""Turns pydantic's complaints into faults that a person can mend: line, key, rule and hint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError

from hedgerow.schema.files.model import (
    ATTRIBUTE_MODELS,
    FileModel,
    ItemsModel,
    MetadataModel,
    SchemaModel,
)
from hedgerow.schema.lint import Fault, Report

__all__ = ["Lines", "report_complaints"]

Lines = Mapping[tuple[str, ...], int | None]

_TYPES = ("numeric", "categorical", "boolean")
_ROLES = ("predictor", "class", "identifier", "person")
_PARTS: dict[str, type[BaseModel]] = {
    "items": ItemsModel, "metadata": MetadataModel, "file": FileModel
}  # fmt: skip
_ARTICLES = {"identifier": "an identifier"}


def report_complaints(
    error: ValidationError, lines: Lines, file: str | None, report: Report
) -> None:
    """Adds one fault for each of pydantic's complaints.

    Args:
        error: What pydantic found.
        lines: The line of each key, by its path.
        file: The file, for messages.
        report: Takes the faults.
    """
    found: list[Fault] = []
    complaints = error.errors(include_url=False)
    misspelt = _misspelt([dict(complaint) for complaint in complaints])
    for complaint in complaints:
        if complaint["type"] == "missing" and complaint["loc"] in misspelt:
            continue  # the fault about the wrong spelling says it better
        place = tuple(str(part) for part in complaint["loc"])
        kind = None
        if place[:1] == ("attributes",) and len(place) > 2:
            kind = place[2]  # the tag of the union's member, which is no key of the file
            place = (*place[:2], *place[3:])
        subject = f"attribute {place[1]!r}: " if place[:1] == ("attributes",) and place[1:] else ""
        if place[1:] and place[0] in _PARTS:
            kind, subject = place[0], f"{place[0]}: "
        what, hint = _explain(dict(complaint), place, kind)
        known = [place[:n] for n in range(len(place), 0, -1) if place[:n] in lines]
        line = lines[known[0]] if known else None
        found.append(Fault(subject + what, hint, file=file, line=line))
    report.faults += sorted(found, key=lambda fault: fault.line or 0)


def _misspelt(complaints: list[dict[str, Any]]) -> set[tuple[int | str, ...]]:
    """The places of keys that are there under another spelling."""
    found = set()
    for complaint in complaints:
        if complaint["type"] == "extra_forbidden":
            *above, key = complaint["loc"]
            missing = [
                str(other["loc"][-1])
                for other in complaints
                if other["type"] == "missing" and list(other["loc"][:-1]) == above
            ]
            found |= {(*above, near) for near in get_close_matches(str(key), missing, 1)}
    return found


def _explain(
    complaint: dict[str, Any], place: tuple[str, ...], kind: str | None
) -> tuple[str, str]:
    rule, value, key = complaint["type"], complaint["input"], place[-1] if place else ""
    if rule in ("union_tag_not_found", "union_tag_invalid"):
        return _no_kind(value)
    if rule == "extra_forbidden":
        return _unknown_key(key, kind)
    if rule == "missing":
        return f"the key {key!r} is missing", _EXAMPLES.get(key, f"Add a line {key}: ...")
    if "ignore" in place:
        return (
            "ignore does not name differences between values",
            "Write, for example, ignore: [case]; it can be case, spaces, zeros.",
        )
    if rule == "literal_error":
        if key == "outside" and value == "clip":
            return "only numbers can be clipped to their bounds", "Use error, other or drop."
        if key == "separator":
            return "items cannot be separated by this", 'Write " ", ",", ";", "|" or "\\t".'
        if key in ("decimal", "thousands"):
            signs = " or ".join(f'"{sign}"' for sign in _allowed(kind, key))
            return f"{key} is {_shown(value)}", f"Write {signs}, with the quotes."
        if key == "role":
            return f"role is {_shown(value)}", _choose(value, _ROLES)
        if key == "unit":
            return f"unit is {_shown(value)}", _EXAMPLES["unit"]
        return f"{key} is {_shown(value)}", _choose(value, _allowed(kind, key))
    if rule.startswith(("int", "greater_than")):
        least, usual = (2, 10) if key == "fan_out" else (1, 1)
        return (
            f"{key} is not a whole number of at least {least}",
            f"Write, for example, {key}: {usual}.",
        )
    if rule.startswith(("list", "too_")) and "unit_name" in place:
        return "unit_name is not two names", "Write unit_name: [encounter, encounters]."
    if rule.startswith(("list", "tuple")):
        told = "..." if value is None else value
        return f"{key} is not a list", f"Write {key}: [{told}]."
    if rule.startswith("bool"):
        return f"{key} is neither true nor false", f"Write {key}: true, or remove the line."
    if rule.startswith(("dict", "model")):
        return (
            f"{key or 'the schema'} is not a mapping of keys to values",
            "Write, for example, items: {universe: {range: [1, 99]}}."
            if key == "items"
            else "Write, for example, metadata: {institution: St Anne, contact: data@example.org}."
            if key == "metadata"
            else "Write, for example, file: {header_row: 3}."
            if key == "file"
            else "Write one column a line, such as  age: {type: numeric, low: 0, high: 120}.",
        )
    return f"{key} is not a single text or number", f"Write one value after {key}:."


_EXAMPLES = {
    "unit": "Write `unit: row` if each row, line or record is one person, or `unit: person` if a "
    "column identifies people. If `unit: row` is stated wrongly, someone with k rows is protected "
    "k times less than epsilon says.",
    "name": "Add a line such as  name: people.",
    "attributes": "Add the columns below a line  attributes:.",
    "low": "Give the smallest value that can occur, from public knowledge and not from the data.",
    "high": "Give the largest value that can occur, from public knowledge and not from the data.",
    "max_rows": "Say how many rows may count for one person, such as max_rows: 3.",
}


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else "not a single text"


def _choose(value: Any, allowed: Iterable[str]) -> str:
    options = list(allowed)
    close = get_close_matches(str(value), options, 1)
    start = f"Did you mean {close[0]}? " if close else ""
    return f"{start}It can be {', '.join(options)}." if len(options) > 1 else f"Use {options[0]}."


def _no_kind(value: Any) -> tuple[str, str]:
    if not isinstance(value, dict):
        return (
            "there is no description of the column",
            "Write one, such as {type: numeric, low: 0, high: 120} or {role: identifier}.",
        )
    if "type" in value:
        return f"type is {_shown(value['type'])}", _choose(value["type"], _TYPES)
    if "role" in value and value["role"] not in _ROLES:
        return f"role is {_shown(value['role'])}", _choose(value["role"], _ROLES)
    for key in value:
        near = get_close_matches(str(key), ("type", "role"), 1)
        if near:
            return f"unknown key {key!r}", f"Did you mean {near[0]!r}?"
    return "the key 'type' is missing", f"Add one: type can be {', '.join(_TYPES)}."


def _model(kind: str | None) -> type[BaseModel]:
    if kind is None:
        return SchemaModel
    return _PARTS.get(kind) or ATTRIBUTE_MODELS[kind]


def _allowed(kind: str | None, key: str) -> list[str]:
    annotation: Any = _model(kind).model_fields[key].annotation
    parts = [part for part in annotation.__args__ if part is not type(None)]
    return [text for part in parts for text in getattr(part, "__args__", (part,))]


def _unknown_key(key: str, kind: str | None) -> tuple[str, str]:
    keys = list(_model(kind).model_fields)
    close = get_close_matches(key, keys, 1)
    if close:
        return f"unknown key {key!r}", f"Did you mean {close[0]!r}?"
    if kind is None:
        return f"unknown key {key!r}", f"The keys at the top are {', '.join(keys)}."
    if kind not in _PARTS and any(key in other.model_fields for other in ATTRIBUTE_MODELS.values()):
        owner = _ARTICLES.get(kind, f"a {kind} column")
        return f"the key {key!r} is not for {owner}", f"Remove it; the keys are {', '.join(keys)}."
    return f"unknown key {key!r}", f"The keys here are {', '.join(keys)}."
