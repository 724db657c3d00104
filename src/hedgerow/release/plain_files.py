"""The files of a release that need no hedgerow: tables with intervals, what they mean, a page.

All of it is made of the release's own answers. `tables/` has a table for every attribute, every
attribute by the class, and every table that was measured, as CSV and as Parquet, with the same
columns as `Release.table` and the bounds of numbers besides; `tables-metadata.json` describes the
CSV files (CSV on the Web, W3C 2015); `README.md` says what the release is and what it promises.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Ints
from hedgerow.estimate.partition import bounds_of, csv_blocks
from hedgerow.release.count_tables import Division
from hedgerow.schema import Numeric, Schema

if TYPE_CHECKING:
    from hedgerow.release.base import Release

TABLES, README, METADATA, ROWS = "tables", "README.md", "tables-metadata.json", "rows.parquet"
ROWS_SEED = 1
MOST_TABLES, MOST_CELLS = 400, 100_000  # what a folder holds of a very wide release
MOST_NAME = 60
_TABLE_FILE = re.compile(rf"{TABLES}/[a-z0-9_]{{1,{MOST_NAME + 8}}}\.(csv|parquet)")
_RESERVED = {"con", "prn", "aux", "nul", *(f"{a}{n}" for a in ("com", "lpt") for n in range(10))}
_MEANS = {
    "estimate": "the best estimate of the count: noisy, not rounded",
    "low": "lower end of the 95% interval",
    "high": "upper end of the 95% interval",
    "typical_error": "the estimate is off by less in about 95 of 100 cells, if its model is right",
    "standard_error": "standard error of the estimate, by the noise of what was measured",
    "reliability": "what the estimate is worth, in a word: see README.md",
    "basis": "what the estimate rests on: see README.md",
}


def is_table_file(name: str) -> bool:
    """Whether a name is one that a table of a release may have.

    Example:
        >>> is_table_file("tables/age.csv"), is_table_file("tables/../../key.csv")
        (True, False)
    """
    return _TABLE_FILE.fullmatch(name) is not None


def table_names(tables: list[tuple[str, ...]]) -> list[str]:
    """A name for the files of each table: letters of ASCII, digits and _, none alike.

    Example:
        >>> table_names([("Age",), ("age",), ("home town", "ill"), ("con",)])
        ['age', 'age_2', 'home_town__ill', 'con_']
    """
    names: list[str] = []
    for columns in tables:
        words = (re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_") for column in columns)
        plain = "__".join(word or "x" for word in words)[:MOST_NAME]
        plain = f"{plain}_" if plain in _RESERVED else plain
        name, number = plain, 2
        while name in names:
            name, number = f"{plain}_{number}", number + 1
        names.append(name)
    return names


def weight_name(schema: Schema) -> str:
    """What the column with the weights of rows is called: no attribute is called so.

    Example:
        >>> from hedgerow import sample
        >>> weight_name(sample.schema())
        'weight'
    """
    taken = {one.name.casefold() for one in schema.columns}
    name = "weight"
    while name in taken:
        name += "_"
    return name


def weighted(rows: pa.Table, schema: Schema, weights: float | np.ndarray[Any, Any]) -> pa.Table:
    """Rows with the number of records that each stands for."""
    column = pa.array(np.broadcast_to(weights, rows.num_rows).astype(np.float64))
    return rows.append_column(weight_name(schema), column)


def finite(table: pa.Table) -> pa.Table:
    """A table whose upper ends are missing where none is known: CSV has no word for infinity."""
    high = table["high"].to_numpy()
    place = table.column_names.index("high")
    return table.set_column(place, "high", pa.array(high, mask=~np.isfinite(high)))


def with_bounds(table: pa.Table, schema: Schema, divisions: list[tuple[int, Division]]) -> pa.Table:
    """A table with the bounds of numbers behind their labels, as programs want them."""
    sizes = [len(division) for _, division in divisions]
    taken = {name.casefold() for name in table.column_names}
    at = len(divisions)
    for axis, (place, division) in enumerate(divisions):
        attribute = schema.columns[place]
        if not isinstance(attribute, Numeric):
            continue
        part = np.arange(table.num_rows) // int(np.prod(sizes[axis + 1 :])) % sizes[axis]
        codes: Ints = np.array([[low, high] for _, low, high in division])[part]
        bounds = bounds_of(attribute, codes[:, 0], codes[:, 1])
        for end in ("low", "high"):
            name = f"{attribute.name}_{end}"
            while name.casefold() in taken:
                name += "_"
            taken.add(name.casefold())
            table = table.add_column(at, name, bounds[end])
            at += 1
    return table


def csv_of(table: pa.Table) -> bytes:
    """A table as CSV, in full precision."""
    return b"".join(csv_blocks(table))


def describe_tables(
    release: Release, tables: Mapping[str, tuple[tuple[str, ...], pa.Table]]
) -> dict[str, Any]:
    """What the columns of the CSV files mean, as CSV on the Web has it."""
    called = {one.name: one.title for one in release.schema.columns}

    def column(name: str, kind: pa.DataType, attribute: bool) -> dict[str, Any]:
        number = "integer" if pa.types.is_integer(kind) else "number"
        word = "date" if pa.types.is_date(kind) else number
        text = pa.types.is_string(kind) or pa.types.is_dictionary(kind)
        found = {"name": name, "titles": name, "datatype": "string" if text else word}
        first = name.rstrip("_").endswith("_low")
        bound = "first value of the band" if first else "first value beyond the band, not in it"
        means: str | None = _MEANS.get(name, bound)
        if attribute:
            means = called[name] if called.get(name, name) != name else None
        return found if means is None else found | {"dc:description": means}

    return {
        "@context": "http://www.w3.org/ns/csvw",
        "dc:title": release.schema.name,
        "dc:description": f"Noisy counts with 95% intervals. {_promise(release)}",
        "tables": [
            {
                "url": f"{TABLES}/{file}.csv",
                "dc:title": " by ".join(called.get(name, name) for name in names),
                "tableSchema": {
                    "columns": [
                        column(field.name, field.type, place < len(names))
                        for place, field in enumerate(table.schema)
                    ]
                },
            }
            for file, (names, table) in tables.items()
        ],
    }


def _promise(release: Release) -> str:
    stated = release.guarantee
    epsilon, delta = stated.get("epsilon"), str(stated.get("delta", "0"))
    words = f"Differential privacy protects {release.describe().protected}: epsilon {epsilon}"
    words += "." if delta == "0" else f", delta {delta}."
    if stated.get("private", True) is not True:
        words = f"NOT PRIVATE: a run with a seed, for tests alone. {words}"
    return words


def write_page(release: Release, tables: Mapping[str, tuple[tuple[str, ...], pa.Table]]) -> bytes:
    """What the release is and what it promises, for people."""
    words, weight = release.describe(), weight_name(release.schema)
    about = release.schema.metadata
    limits = []
    if release.unmeasured:
        limits.append(f"Anything about {', '.join(map(_plain, release.unmeasured))}: not measured.")
    if words.suppressed:
        limits.append(words.suppressed)
    lines = [
        f"| `{TABLES}/{file}.csv` | {' by '.join(map(_plain, names))} | {table.num_rows} |"
        for file, (names, table) in tables.items()
    ]
    example = [f"SELECT * FROM '{TABLES}/{file}.parquet';" for file in [*tables][:1]]
    example.append(f"SELECT sum({weight}) FROM '{ROWS}';")
    known = {"Publisher": about.institution, "Contact": about.contact, "License": about.license}
    terms = [f"- {name}: {_plain(text)}" for name, text in known.items() if text]
    if about.license is None:
        terms.append("- Ask whoever gave you this folder.")
    page = (Path(__file__).parent / "README.txt").read_text("utf-8").format(
        name=_plain(release.schema.name), method=release.method, summary=words.summary,
        promise=_promise(release), weight=weight, example="\n".join(example),
        limits="".join(f"- {one}\n" for one in limits), terms="\n".join(terms),
        lines="".join(f"{line}\n" for line in lines),
    )  # fmt: skip
    return page.encode()


def _plain(text: str) -> str:
    """A text that Markdown takes for nothing else, and nobody for a promise of a level."""
    text = re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", text).replace("%", "&#37;")
    return text.replace("epsilon ", "epsilon&#32;")
