"""The models behind the embedded samples, and their files: people, and a village shop."""

from __future__ import annotations

import datetime
import os
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.errors import UsageError
from hedgerow.suggestions import answer_mistakes, whole

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from hedgerow.arrays import Floats, Ints
    from hedgerow.schema import Schema

__all__ = ["people", "schema", "shop_schema", "transactions", "write"]


# The embedded sample of transactions: transactions of a village shop that does not exist.


# What people come for, how often, and what they then take.
_ERRANDS = (
    (0.30, {"bread": 0.9, "butter": 0.6, "jam": 0.4, "milk": 0.5, "eggs": 0.3, "honey": 0.1}),
    (0.20, {"tea": 0.7, "biscuits": 0.6, "sugar": 0.4, "milk": 0.4, "coffee": 0.2, "cream": 0.2}),
    (0.20, {"potatoes": 0.7, "carrots": 0.5, "leeks": 0.4, "onions": 0.5, "fish": 0.3}),
    (0.12, {"apples": 0.7, "pears": 0.4, "plums": 0.3, "cheese": 0.3, "bread": 0.3}),
    (0.10, {"soap": 0.5, "candles": 0.5, "matches": 0.5, "stamps": 0.2}),
    (0.08, {"stamps": 0.9, "coffee": 0.3, "biscuits": 0.2}),
)


def shop_schema() -> Schema:
    """The schema of the transactions.

    Example:
        >>> shop_schema().items.size
        24
    """
    from hedgerow.schema import Schema

    with resources.as_file(resources.files("hedgerow.sample") / "data") as folder:
        return Schema.load(folder / "baskets.yaml")


def transactions(records: int = 20_000, seed: int = 1) -> list[list[str]]:
    """Makes up what people bought; some came for two things at once.

    Args:
        records: How many people.
        seed: The same seed gives the same transactions.

    Example:
        >>> transactions(2)[0]
        ['bread', 'butter', 'eggs', 'potatoes', 'leeks', 'onions']
    """
    import numpy as np

    draw = np.random.default_rng(seed)
    items = shop_schema().transaction_items
    wanted = np.zeros((len(_ERRANDS), items.size))
    for errand, (_, goods) in enumerate(_ERRANDS):
        wanted[errand, items.codes_of(goods)] = list(goods.values())
    often = np.array([share for share, _ in _ERRANDS])
    first, second = (draw.choice(len(often), records, p=often / often.sum()) for _ in range(2))
    taken = draw.random((records, items.size)) < wanted[first]
    again = draw.random(records) < 0.25
    taken |= again[:, None] & (draw.random((records, items.size)) < wanted[second])
    labels = np.array(items.labels)
    return [labels[row].tolist() for row in taken]


# The model behind the embedded sample, and its files.


_FILES = ("schema.yaml", "baskets.yaml", "taxonomies/home.yaml", "taxonomies/occupation.csv")
# How many people live in each part of the country, compared with the others.
_CROWDED = {"Middlewood": 4.0, "Kestrel Coast": 2.0, "River Plain": 1.5}
_NOT_AT_WORK = ("Learning or looking", "At home or retired")
_HEAVY_WORK = {"Trades and transport": 0.7, "Land and sea": 0.9, "Shops and kitchens": 0.3}


def schema() -> Schema:
    """The schema of the sample.

    Example:
        >>> schema().name
        'clinic discharges'
    """
    from hedgerow.schema import Schema

    with resources.as_file(resources.files("hedgerow.sample") / "data") as folder:
        return Schema.load(folder / "schema.yaml")


@answer_mistakes
def people(rows: int = 8000, seed: int = 1) -> pa.Table:
    """Makes up people who left a clinic.

    Args:
        rows: How many people.
        seed: The same seed gives the same people.

    Returns:
        An Arrow table with the columns of the sample's schema.

    Example:
        >>> people(3).column_names[:4]
        ['patient', 'age', 'sex', 'home']
    """
    import numpy as np
    import pyarrow as pa

    rows = whole("rows", rows)
    draw = np.random.default_rng(seed)
    age = np.clip(
        np.where(draw.random(rows) < 0.6, draw.normal(68, 13, rows), draw.normal(38, 12, rows)),
        18,
        99,
    ).astype(np.int64)
    sex = draw.choice(["female", "male"], rows, p=[0.53, 0.47])
    home, province = _homes(draw, rows)
    job, heavy = _jobs(draw, age)
    smoker = draw.random(rows) < 0.14 + 0.12 * (heavy > 0) + 0.08 * (sex == "male")
    alone = draw.random(rows) < np.where(age > 72, 0.48, 0.2)
    bmi = np.clip(draw.normal(26.5 + 0.03 * (age - 50), 4.2, rows), 12, 55)
    visits = draw.poisson(0.4 + 0.9 * (age > 65) + 0.8 * smoker + 0.4 * (heavy > 0))
    stay = 1 + draw.poisson(draw.gamma(2.0, 1.2 + 0.03 * np.maximum(age - 40, 0) + 0.3 * visits))
    season = draw.beta(1, 1, rows) * 2 * np.pi
    day = ((season + 0.5 * np.cos(season)) / (2 * np.pi) * 366).astype(np.int64) % 366

    odds = (
        -2.3
        + 1.9 * (visits >= 2)
        + 1.4 * ((age >= 70) & alone)
        + 0.5 * (age >= 60)
        + 1.5 * (stay >= 12)
        + 1.3 * (heavy > 0.5) * (stay <= 3)  # back at heavy work too early
        + 0.9 * ((bmi > 33) & smoker)
        + 0.6 * (province == "Thornland")  # the next clinic is far away
    )
    readmitted = draw.random(rows) < 1 / (1 + np.exp(-1.6 * odds))
    first = datetime.date(2024, 1, 1)
    return pa.table(
        {
            "patient": [f"P{number:06d}" for number in draw.permutation(rows)],
            "age": age,
            "sex": _forget(draw, sex, 0.01),
            "home": home.tolist(),
            "occupation": _forget(draw, job, 0.02),
            "admitted": [first + datetime.timedelta(days=int(n)) for n in day],
            "stay": stay,
            "visits": visits,
            "bmi": _forget(draw, np.round(bmi, 1), 0.05),
            "smoker": smoker,
            "alone": alone,
            "readmitted": np.where(readmitted, "yes", "no").tolist(),
        }
    )


def write(folder: str | Path, rows: int = 8000, seed: int = 1, *, overwrite: bool = False) -> None:
    """Writes both samples and their schemas into a folder.

    A table is in `people.csv`, with `schema.yaml` and `taxonomies/`; transactions are in
    `baskets.dat`, with `baskets.yaml`.

    Args:
        folder: Made if it is not there.
        rows: How many people; two and a half times as many transactions.
        seed: The same seed gives the same people.
        overwrite: Whether to replace files that are there already.

    Raises:
        UsageError: If a file is there already, or there cannot be so many people.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write(folder, rows=5)
        ...     sorted(path.name for path in Path(folder).iterdir())
        ['baskets.dat', 'baskets.yaml', 'people.csv', 'schema.yaml', 'taxonomies']
    """
    from pyarrow import csv

    if rows < 0 or seed < 0:
        raise UsageError("rows and seed must not be negative", hint="Give 0 or more.")
    folder = Path(folder)
    there = [
        name for name in ("people.csv", "baskets.dat", *_FILES) if os.path.lexists(folder / name)
    ]
    if there and not overwrite:
        raise UsageError(
            f"{folder / there[0]} is there already, and may be yours",
            hint="Name another folder, or add --overwrite (overwrite=True) to replace it.",
        )
    for name in _FILES:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((resources.files("hedgerow.sample") / "data" / name).read_bytes())
    csv.write_csv(people(rows, seed), folder / "people.csv")
    lines = (" ".join(items) + "\n" for items in transactions(rows * 5 // 2, seed))
    (folder / "baskets.dat").write_text("".join(lines), encoding="utf-8")


def _homes(draw: np.random.Generator, rows: int) -> tuple[NDArray[np.str_], NDArray[np.str_]]:
    import numpy as np

    pairs = _leaves_and_parents("home")
    weights = np.array([_CROWDED.get(province, 1.0) for _, province in pairs])
    chosen = draw.choice(len(pairs), rows, p=weights / weights.sum())
    homes, provinces = np.array(pairs).T
    return homes[chosen], provinces[chosen]


def _jobs(draw: np.random.Generator, age: Ints) -> tuple[NDArray[np.str_], Floats]:
    """An occupation that fits the age, and how heavy the work is."""
    import numpy as np

    pairs = [pair for pair in _leaves_and_parents("occupation") if pair[0] != "other"]
    names = np.array([name for name, _ in pairs])
    working = np.array([parent not in _NOT_AT_WORK for _, parent in pairs])
    chosen = draw.choice(np.flatnonzero(working), len(age))
    idle = draw.random(len(age))
    chosen[idle < 0.08] = names.tolist().index("looking for work")
    chosen[idle > 0.91] = names.tolist().index("at home")
    chosen[(age < 25) & (draw.random(len(age)) < 0.6)] = names.tolist().index("student")
    chosen[age > draw.normal(66, 2, len(age))] = names.tolist().index("retired")
    heavy = np.array([_HEAVY_WORK.get(parent, 0.0) for _, parent in pairs])
    return names[chosen], heavy[chosen]


def _leaves_and_parents(name: str) -> list[tuple[str, str]]:
    """The leaves of a taxonomy of the sample, each with the label above it."""
    from hedgerow.schema import Categorical

    (attribute,) = (a for a in schema().attributes if a.name == name)
    assert isinstance(attribute, Categorical)
    tree = attribute.taxonomy
    return [
        (label, tree.labels[max(parent, 0)])
        for label, parent, below in zip(tree.labels, tree.parents, tree.children, strict=True)
        if not below
    ]


def _forget(draw: np.random.Generator, values: NDArray[Any], share: float) -> list[Any]:
    """The values as a list, with some of them left out."""
    gone = draw.random(len(values)) < share
    return [None if lost else value for value, lost in zip(values.tolist(), gone, strict=True)]
