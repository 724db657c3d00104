"""What is tried by `hedgerow plan --simulate` and `--want`: the data, the methods, how often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.cli.display.terminal import note
from hedgerow.cli.settings import kind_of, method_of
from hedgerow.errors import UsageError
from hedgerow.methods import for_data

if TYPE_CHECKING:
    from hedgerow.publish.publisher import Publisher
    from hedgerow.schema import Schema

__all__ = ["Trials", "settings_of"]

_COMPARED = ("marginals", "diffmulti", "diffgen")  # if nothing is said
_NO_SETTINGS = ("side", "weights", "weight_columns")  # files and columns, with their own options


@dataclass(frozen=True, kw_only=True)
class Trials:
    """Releases to be tried, and how to show what came of them.

    Args:
        schema: The public schema.
        settings: Methods, each with what to call it.
        delta: The same for all.
        rows: How many rows, as anyone may know.
        runs: How often each is tried.
        dependence: How strongly simulated columns depend on each other.
        public: The public table that was named, if any.
        plot: Where to draw errors against epsilon, if anywhere.
        overwrite: Whether to replace that file.
        as_json: Whether to print JSON.
    """

    schema: Schema
    settings: list[tuple[str, Publisher]]
    delta: str
    rows: int | None
    runs: int
    dependence: float
    public: str | None
    plot: Path | None
    overwrite: bool
    as_json: bool

    def check(self) -> None:
        """Refuses what cannot be read or drawn, and says what a public table must be."""
        from hedgerow.cli.display.picture import check_picture
        from hedgerow.cli.files import refuse_existing
        from hedgerow.data.database import is_database

        if self.plot is not None:
            check_picture(self.plot)
            refuse_existing(self.plot, self.overwrite, "--plot")
        if self.public is not None and is_database(self.public):
            raise UsageError(
                "--public takes a file, not a database.",
                hint="Write the public table to a CSV or Parquet file and name that.",
            )
        if self.public is not None and not self.as_json:
            note(f"{self.public} must really be public: what is shown about it is NOT PRIVATE.")


def settings_of(
    schema: Schema, method: str | None, given: Mapping[str, Any], tried: list[str]
) -> list[tuple[str, Publisher]]:
    """Every combination of what is to be tried, each with what to call it.

    Args:
        schema: What is to be published.
        method: The method that was named, if any.
        given: Options that are the same for all, as for `method_of`.
        tried: Assignments of several values, such as "depth=3,5".
    """
    choices: dict[str, list[str]] = {}
    for text in tried:
        name, equals, values = text.partition("=")
        name = name.strip().replace("-", "_")
        parts = [value.strip() for value in values.split(",")]
        if not equals or not name or not all(parts):
            raise UsageError(f"--try {text!r} names no values.", hint="Write --try depth=3,5,8.")
        if name in choices:
            raise UsageError(f"--try names {name!r} twice.", hint="Name all its values at once.")
        choices[name] = list(dict.fromkeys(parts))
    methods: list[str | None] = [*choices.pop("method", [])] or [method]
    if methods == [None] and not choices and not given and schema.kind == "table":
        methods = list(_COMPARED)
    for one in methods:
        _check_names(list(choices), kind_of(one or for_data(schema.kind)[0]))
    found = []
    for one, combination in product(methods, product(*choices.values())):
        here = dict(zip(choices, combination, strict=True))
        settings = method_of(one, schema, {**given, **here})
        words = [f"{name} {value}" for name, value in here.items()]
        found.append((", ".join([settings.name, *words]), settings))
    return found


def _check_names(names: list[str], kind: Any) -> None:
    """Refuses what is no setting of a method."""
    known = [field.name for field in fields(kind) if field.name not in _NO_SETTINGS]
    for name in names:
        if name not in known:
            raise UsageError(
                f"--try: {name} is not a setting of {kind.name}.",
                hint=f"Settings: {', '.join(known)}.",
            )
