"""What matters: the tables that a release must hold, and how far off each will be.

The expected errors are those of `hedgerow plan`: they follow from the schema and the budget.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse, Response

from hedgerow.errors import HedgerowError, UsageError
from hedgerow.registry import METHODS, load
from hedgerow.schema.attributes import describe_weight
from hedgerow.schema.relations import read_tables
from hedgerow.schema.yaml_reader import Entries, ListNode, Node, Text
from hedgerow.studio.app import Asked
from hedgerow.studio.jobs import command_text
from hedgerow.studio.schema_text import SchemaText, plain
from hedgerow.studio.steps import Way
from hedgerow.studio.views.budget import method_of

if TYPE_CHECKING:
    from hedgerow.evaluation.expected import ExpectedError
    from hedgerow.schema import Schema

_TENTH = 0.01  # smaller shares have a digit more


@dataclass(frozen=True, kw_only=True)
class Line:
    """A table as the page shows it.

    Args:
        words: What it is about, such as "illness by region".
        weight: How much it matters beside the others.
        cells: How many counts it has; 0 if nothing is promised.
        error: The error that 95 of 100 counts stay below.
        share: The same as a share of all rows.
    """

    words: str
    weight: str
    cells: int = 0
    error: str = ""
    share: str = ""


def show(asked: Asked) -> Response:
    """The tables that are named, each with its expected error at the chosen epsilon."""
    way = Way.of(asked, "tables")
    text = way.text()
    schema = text.schema()
    method = method_of(way, schema.kind)
    errors: tuple[ExpectedError, ...] = ()
    fault = None
    try:
        errors = _expected(way, schema, method)
    except HedgerowError as error:
        fault = error
    lines = [
        _line(words, str(describe_weight(table.weight)), errors[n] if errors else None)
        for n, (table, words) in enumerate(zip(schema.tables, _words(schema), strict=True))
    ]
    return asked.show(
        "tables", way=way, text=text, schema=schema, method=method, lines=lines, fault=fault,
        epsilon=way.get("epsilon", "1"), rows=errors[0].rows if errors else 0,
        names=[one.name for one in schema.columns],
        example=_example(schema), command=command_text(_command(way, method)),
    )  # fmt: skip


def change(asked: Asked) -> Response:
    """Adds a table, takes one out, or sets weights."""
    way = Way.of(asked, "tables")
    text = way.text()
    schema = text.schema()
    names = [[schema.columns[place].name for place in one.places] for one in schema.tables]
    weights = [asked.get(f"weight-{n}").strip() or str(describe_weight(one.weight))
               for n, one in enumerate(schema.tables)]  # fmt: skip
    removed = asked.get("remove")
    if removed.isdigit() and int(removed) < len(names):
        del names[int(removed)], weights[int(removed)]
    elif asked.get("action") == "add":
        columns, weight = read_table(asked.get("words"), schema)
        names.append(columns)
        weights.append(weight if weight != "1" else asked.get("weight").strip() or "1")
    withdrawn = with_tables(text, names, weights).save(asked.get("seen"), "tables")
    return RedirectResponse(way.to("tables", withdrawn="yes" if withdrawn else ""), status_code=303)


def read_table(words: str, schema: Schema) -> tuple[list[str], str]:
    """The columns that a table in words is about, and its weight, as commands read them.

    Raises:
        UsageError: If the words name no table.

    Example:
        >>> from hedgerow import sample
        >>> read_table("Readmitted by sex and smoker, weight 2", sample.schema())
        (['readmitted', 'sex', 'smoker'], '2')
    """
    tables, complaints = read_tables([words], schema)
    for _, what, hint in complaints:
        raise UsageError(f"{what[:1].upper()}{what[1:]}.", hint=hint)
    return [schema.columns[place].name for place in tables[0].places], str(
        describe_weight(tables[0].weight)
    )


def with_tables(text: SchemaText, names: list[list[str]], weights: list[str]) -> SchemaText:
    """The schema with these tables in the place of those it names."""
    tables: list[Node] = []
    for columns, weight in zip(names, weights, strict=True):
        among = ListNode([Text(one) for one in columns])
        heavy: list[tuple[Text, Node]] = [
            (plain("attributes"), among), (plain("weight"), plain(weight))
        ]  # fmt: skip
        tables.append(among if weight == "1" else Entries(heavy))
    return text.with_key("tables", ListNode(tables) if tables else None)


def _words(schema: Schema) -> list[str]:
    names = ([schema.columns[place].name for place in one.places] for one in schema.tables)
    return [f"{first} by {' and '.join(rest)}" for first, *rest in names]


def _example(schema: Schema) -> str:
    """A table that the schema could name: the class by an attribute."""
    names = [one.name for one in schema.columns]
    if schema.target is not None:
        names.insert(0, names.pop())
    return " by ".join(names[:2])


def _expected(way: Way, schema: Schema, method: str) -> tuple[ExpectedError, ...]:
    from hedgerow.evaluation.expected import expected_errors

    rows = int(way.get("rows")) if way.get("rows").isdigit() else None
    settings = load(METHODS[method].settings)()
    epsilon, delta = way.get("epsilon", "1"), way.get("delta", "0")
    return expected_errors(schema, settings, epsilon, delta, rows)


def _line(words: str, weight: str, expected: ExpectedError | None) -> Line:
    if expected is None:
        return Line(words=words, weight=weight)
    share = expected.error / expected.rows
    return Line(
        words=words, weight=weight, cells=expected.cells, error=expected.format_error(),
        share=f"{share:.0%}" if share >= _TENTH else f"{share:.2%}",
    )  # fmt: skip


def _command(way: Way, method: str) -> list[str]:
    words = ["plan", "--schema", way.argument("schema"), "--method", method]
    words += [f"--epsilon={way.get('epsilon', '1')}"]
    return words + [f"--{key}={way.get(key)}" for key in ("delta", "rows") if way.get(key)]
