"""What every column becomes by the answers to the questions of a draft."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from hedgerow.table.drafting.questions import (
    Answers,
    asked_together,
    kind_of,
    published_columns,
    questions,
)
from hedgerow.table.drafting.replies import (
    Values,
    read_bounds,
    read_values,
)
from hedgerow.table.drafting.sketch import Column, Sketch, families

__all__ = ["Settled", "settle"]


@dataclass(frozen=True, kw_only=True)
class Settled:
    """What a column becomes: its keys, or a role alone; its values."""

    name: str
    settings: Mapping[str, str]
    values: Values = Values()


def settle(sketch: Sketch, answers: Answers) -> list[Settled]:
    """What every column becomes by the answers; proposals stand for those that are not there."""
    said = {one.key: answers.get(one.key, one.default) for one in questions(sketch, answers)}
    found: dict[str, Settled] = {}
    for family in families(published_columns(sketch, answers)):
        for group in asked_together(family, answers):
            keys = _column_settings(group[0], said)
            found |= {column.name: replace(keys, name=column.name) for column in group}
    person = said.get("person")
    for column in sketch.columns:
        if column.name == person and said["unit"] == "yes":
            settings = {"role": "person", "max_rows": said["max_rows"]}
            found[column.name] = Settled(name=column.name, settings=settings)
        found.setdefault(column.name, Settled(name=column.name, settings={"role": "identifier"}))
    return [found[column.name] for column in sketch.columns]


def _column_settings(column: Column, said: Answers) -> Settled:
    """The keys of a column, by the answers."""
    guess, name, settings = column.guess, column.name, dict(column.guess.settings or {})
    kind = said.get(f"kind of {name}", "values")
    if kind == "drop" or not said.get(f"{kind if kind == 'values' else kind + 's'} of {name}"):
        return Settled(name=name, settings={"role": "identifier"})
    values = Values()
    if kind == "values":
        values = read_values(said[f"values of {name}"])
        groups = said.get(f"groups of {name}", "none")
        if groups != "none":
            grouped = read_values(groups)
            values = replace(values, labels=(), taxonomy=grouped.taxonomy, groups=grouped.groups)
        boolean = settings.get("type") == "boolean" and list(values.labels) == ["false", "true"]
        kept = {"type": "boolean" if boolean else "categorical"}
        if "root" in settings and "Any" in values.labels:
            kept["root"] = settings["root"]
        folded = {label.casefold() for label in values.labels}
        if "ignore" in settings and len(folded) == len(values.labels) > 0:
            kept["ignore"] = settings["ignore"]
        if values.taxonomy or values.groups:
            tree = values.taxonomy or values.groups
            kept["taxonomy"] = json.dumps(tree, ensure_ascii=False)
        if boolean:
            values = Values()
    else:
        dates = kind == "date"
        kept = {"type": "numeric", **read_bounds(said[f"{kind}s of {name}"], dates)}
        if kind == kind_of(guess):
            signs = ("scale", "decimal", "thousands")
            kept |= {key: settings[key] for key in signs if key in settings}
        if f"format of {name}" in said:
            kept["format"] = json.dumps(said[f"format of {name}"])
    if kind == "values" and guess.partial and guess.labels:
        settings["outside"] = "other"
    kept |= _rules(kind, name, settings, said)
    if said.get(f"split of {name}") == "no":
        kept["split"] = "never"
    if f"group of {name}" in said:
        kept["group"] = json.dumps(said[f"group of {name}"], ensure_ascii=False)
    if column.role == "class":
        kept["role"] = "class"
    return Settled(name=name, settings=kept, values=values)


def _rules(kind: str, name: str, settings: Mapping[str, str], said: Answers) -> dict[str, str]:
    """What happens to missing values and to others outside the domain."""
    missing, outside = said["missing"], said["outside"]
    if missing == "each":
        missing = said[f"missing of {name}"]
    elif missing == "everywhere":
        missing = "other"
    elif missing in ("other", "drop") and "missing" not in settings:
        missing = "error"
    if outside == "each":
        outside = said[f"outside of {name}"]
    elif outside == "clip" and (kind == "values" or settings.get("outside") == "other"):
        outside = "other" if settings.get("outside") == "other" else "error"
    return {key: rule for key, rule in (("missing", missing), ("outside", outside))
            if rule != "error"}  # fmt: skip
