"""Options that several commands share, and the method they describe."""

from __future__ import annotations

from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.errors import UsageError

if TYPE_CHECKING:
    from hedgerow.publish.publisher import Publisher
    from hedgerow.schema import Schema


class Method(StrEnum):
    """The methods by name."""

    diffmulti = "diffmulti"
    diffgen = "diffgen"
    cdiffgen = "cdiffgen"
    diffpart = "diffpart"
    supermodular = "supermodular"


class Schedule(StrEnum):
    """How a method divides its budget."""

    tuned = "tuned"
    paper = "paper"


class Distribution(StrEnum):
    """How DiffMulti shares out its specialisations."""

    fair = "fair"
    even = "even"


class Variant(StrEnum):
    """How DiffPart publishes."""

    core = "core"
    tree = "tree"


class Score(StrEnum):
    """What a method looks for when it specialises."""

    purity = "purity"
    max = "max"
    infogain = "infogain"
    gini = "gini"
    ncp = "ncp"
    discernibility = "discernibility"


class Engine(StrEnum):
    """Who counts."""

    memory = "memory"
    streamed = "streamed"
    dask = "dask"


AsJson = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON, for other programs.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace it if it is there.")]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="CHAR",
        help="What stands between a CSV file's values, if its first line does not tell; or: tab.",
    ),
]
LineBreaks = Annotated[
    bool,
    typer.Option(
        "--line-breaks",
        help="Quoted values of a CSV file may hold line breaks; it must be well formed throughout.",
    ),
]
SchemaFile = Annotated[Path, typer.Option("--schema", help="The schema file.")]
MethodName = Annotated[
    Method | None,
    typer.Option("--method", help="How to publish; by default diffmulti, diffpart for items."),
]
Epsilon = Annotated[
    str,
    typer.Option(
        "--epsilon",
        metavar="NUMBER",
        help="The privacy budget, as a decimal or a fraction (1, 0.5, 1/3). Smaller is safer.",
    ),
]
Delta = Annotated[
    str,
    typer.Option(
        "--delta",
        metavar="NUMBER",
        help="0 for the pure guarantee, or a tiny number such as 1e-9 (see docs/choosing.md).",
    ),
]
ScoreName = Annotated[
    Score | None,
    typer.Option(
        "--score",
        help="What to look for (see docs/choosing.md); without it, a good choice for the schema.",
    ),
]
ScheduleName = Annotated[
    Schedule,
    typer.Option("--schedule", help="Our division of the budget, or the published one."),
]
Specialisations = Annotated[
    int | None,
    typer.Option(
        "--specialisations", metavar="H", help="How many; by default a public rule decides."
    ),
]
Depth = Annotated[
    int | None,
    typer.Option(
        "--depth", metavar="G", help="At most this many on a path; by default a rule decides."
    ),
]
DistributionName = Annotated[
    Distribution | None,
    typer.Option(
        "--distribution", help="diffmulti: more specialisations where more people are, or not."
    ),
]
WithMarginals = Annotated[
    bool,
    typer.Option(
        "--marginals",
        help="diffmulti: also count attributes and pairs of them, for better rows and counts.",
    ),
]
PairsNumber = Annotated[
    int | None,
    typer.Option(
        "--pairs",
        metavar="K",
        help="How many pairs of --marginals there are; by default a rule decides.",
    ),
]
MaxCells = Annotated[
    int | None,
    typer.Option("--max-cells", metavar="N", help="diffgen, cdiffgen: at most this many regions."),
]
VariantName = Annotated[
    Variant | None,
    typer.Option("--variant", help="diffpart: count a core of items, or grow a tree."),
]
Core = Annotated[
    int | None,
    typer.Option("--core", metavar="N", help="diffpart: how many items to count set by set."),
]
Cap = Annotated[
    int | None,
    typer.Option("--cap", metavar="L", help="diffpart: how many items of a record count."),
]
C1 = Annotated[
    float | None, typer.Option("--c1", metavar="C", help="diffpart, paper: drops small leaves.")
]
C2 = Annotated[
    float | None, typer.Option("--c2", metavar="C", help="diffpart, paper: stops small partitions.")
]
MaxPartitions = Annotated[
    int | None,
    typer.Option("--max-partitions", metavar="N", help="diffpart: at most so many partitions."),
]

EngineName = Annotated[
    Engine | None,
    typer.Option(
        "--engine",
        help="Who counts: memory, scratch files (streamed) or a cluster (dask); by default the "
        "size of the input decides. The release is the same.",
    ),
]
MemoryAmount = Annotated[
    str,
    typer.Option("--memory", metavar="SIZE", help="How much a streamed run may take, about."),
]
ScratchFolder = Annotated[
    Path | None,
    typer.Option(
        "--scratch",
        metavar="FOLDER",
        help="Where scratch files lie while a run lasts; they hold private codes and no name.",
    ),
]
SchedulerAddress = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="dask: the scheduler of a cluster; without it, processes on this machine.",
    ),
]
TableName = Annotated[
    str | None,
    typer.Option("--table", metavar="NAME", help="A database: the table, or schema.table."),
]
QueryText = Annotated[
    str | None,
    typer.Option("--query", metavar="SELECT", help="A database: a query instead of a table."),
]


RowWise = Annotated[
    bool,
    typer.Option(
        "--row-wise",
        help="I know that each row of the query depends on one person alone (see "
        "docs/scale.md); the release says so.",
    ),
]
AllowEmpty = Annotated[
    bool, typer.Option("--allow-empty", help="Take an input without any record as it is.")
]


def source_of(data: str, table: str | None, query: str | None, row_wise: bool = False) -> Any:
    """What to read: a database's table or query, or a path or address as it was given."""
    from hedgerow.table.database import Database, is_database

    if is_database(data):
        if row_wise and query is None:
            raise UsageError("--row-wise is about a --query.", hint="Leave it out.")
        return Database(data, table, query, row_wise)
    if table is not None or query is not None or row_wise:
        raise UsageError(
            "--table, --query and --row-wise are for databases.",
            hint=f"Write duckdb:///{data.lstrip('/')} for a DuckDB file, or leave them out."
            if data.endswith((".duckdb", ".db"))
            else "Give the address of one, postgresql://... or duckdb:///..., or leave them out.",
        )
    return data


def words_for(data: str) -> str:
    """How messages call the data: an address of a database without its password."""
    from hedgerow.table.database import Database, is_database

    return Database(data).shown if is_database(data) else data


def delimiter_of(given: str | None) -> str | None:
    r"""The delimiter that was meant: a tab is hard to type.

    Example:
        >>> delimiter_of("tab"), delimiter_of(";")
        ('\t', ';')
    """
    return "\t" if given in ("tab", "TAB", "\\t") else given


Personal = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="SETTING=VALUE",
        help="supermodular: a setting, such as risk=0.1 or mode=sampled; once for each "
        "(see docs/algorithms/supermodular.md).",
    ),
]
SideFile = Annotated[
    Path | None,
    typer.Option(
        "--side", metavar="FILE", help="supermodular: a PUBLIC table that the schema describes."
    ),
]
WeightsFile = Annotated[
    Path | None,
    typer.Option(
        "--weights", metavar="FILE", help="supermodular: public weights of attributes and values."
    ),
]
WeightColumn = Annotated[
    list[str] | None,
    typer.Option(
        "--weight-column",
        metavar="ATTRIBUTE=COLUMN",
        help="supermodular: a column with people's own weights; once for each.",
    ),
]


def method_of(name: Method | None, schema: Schema, **given: Any) -> Publisher:
    """The settings of a method from the options a user gave; options left out keep defaults.

    Args:
        name: The method, or None for the usual one.
        schema: What is to be published.
        given: The options by the names of the settings; None for what was left out. `personal`
            and `weight_columns` are lists of assignments.
    """
    kind = kind_of(name, schema)
    name = Method(kind.name)
    known = {field.name for field in fields(kind)}
    chosen: dict[str, Any] = {
        key: getattr(value, "value", value) for key, value in given.items() if value is not None
    }
    if "schedule" not in known and chosen.get("schedule") == Schedule.tuned.value:
        del chosen["schedule"]  # nobody asked for it
    assigned = _assignments("--set", "SETTING=VALUE", chosen.pop("personal", []))
    if assigned and name is not Method.supermodular:
        raise UsageError(f"--set is not a setting of {name.value}.", hint="Leave --set out.")
    if "weight_columns" in chosen:
        chosen["weight_columns"] = _assignments(
            "--weight-column", "ATTRIBUTE=COLUMN", chosen["weight_columns"]
        )
    for key in chosen:
        if key not in known:
            option = "--" + key.replace("_", "-").removesuffix("s" * (key == "weight_columns"))
            raise UsageError(
                f"{option} is not a setting of {name.value}.",
                hint=f"Leave {option} out{_or_another(key, schema)}.",
            )
    if chosen.get("pairs") and not chosen.get("marginals"):
        raise UsageError("--pairs is a part of --marginals.", hint="Add --marginals.")
    method: Publisher = kind(**chosen | _typed(assigned))
    return method


def kind_of(name: Method | None, schema: Schema) -> Any:
    """The class of a method's settings.

    Args:
        name: The method, or None for the usual one.
        schema: What is to be published.
    """
    usual = Method.diffmulti if schema.items is None else Method.diffpart
    wanted = usual if name is None else name
    return next(kind for kind in _kinds() if kind.name == wanted.value)


def _kinds() -> tuple[Any, ...]:
    from hedgerow.publish.cdiffgen import CDiffGen
    from hedgerow.publish.diffgen import DiffGen
    from hedgerow.publish.diffmulti import DiffMulti
    from hedgerow.publish.diffpart import DiffPart
    from hedgerow.publish.supermodular import Supermodular

    return DiffMulti, DiffGen, CDiffGen, DiffPart, Supermodular


def _or_another(setting: str, schema: Schema) -> str:
    """Which methods for such data do have a setting, as the end of a hint."""
    names = [
        kind.name
        for kind in _kinds()
        if (kind.name == Method.diffpart) == (schema.items is not None)
        and any(field.name == setting for field in fields(kind))
    ]
    return f", or take --method {' or '.join(names)}" if names else ""


def warn_of_delta(method: Publisher, delta: str, as_json: bool) -> None:
    """Says so if a delta was asked for that the method has no use for."""
    from hedgerow.cli.display.terminal import warn
    from hedgerow.privacy.budget import read_number

    if method.name == Method.diffpart and read_number("delta", delta) > 0:
        warn("diffpart has no use for a delta: it buys nothing, and none is spent.", as_json)


def _assignments(option: str, form: str, texts: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise UsageError(f"{option} {text!r} is no assignment.", hint=f"Write {option} {form}.")
        if name in found:
            raise UsageError(f"{option} names {name!r} twice.", hint="Name it once.")
        found[name] = value
    return found


_NUMBERS = ("risk", "trade", "floor", "sharpness")
_WHOLE = ("kappa", "fan", "side_share")
_RULES = {"weight_missing": ("drop", "error"), "weight_outside": ("clip", "drop", "error")}
_WORDS = ("mode", "model", "utility", "rule", "keep")


def _typed(assigned: dict[str, str]) -> dict[str, Any]:
    """Settings of Supermodular from their texts."""
    found: dict[str, Any] = {}
    for name, text in assigned.items():
        name = {"lambda": "trade"}.get(name, name)
        try:
            if name in _NUMBERS:
                found[name] = float(text)
            elif name in _WHOLE:
                found[name] = int(text)
            elif name == "weight_bounds":
                low, high = text.split(",")
                found[name] = float(low), float(high)
            elif name in _RULES:
                found[name] = text if text in _RULES[name] else float(text)
            elif name == "thorough":
                found[name] = {"yes": True, "no": False}[text]
            elif name in _WORDS:
                found[name] = text
            else:
                known = ", ".join(
                    (*_NUMBERS, *_WHOLE, *_WORDS, "weight_bounds", *_RULES, "thorough")
                )
                raise UsageError(f"There is no setting {name!r}.", hint=f"There are: {known}.")
        except (ValueError, KeyError):
            kind = "a whole number" if name in _WHOLE else "a number"
            kind = {"weight_bounds": "two numbers, as in 0,10", "thorough": "yes or no"}.get(
                name, kind
            )
            if name in _RULES:
                kind = f"{', '.join(_RULES[name])} or a number"
            raise UsageError(f"{name} must be {kind}.", hint="Correct the --set option.") from None
    return found
