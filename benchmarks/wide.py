"""Wide tables of simulated people, for benchmarks of many attributes: nobody's data.

A person belongs to one of a few hidden groups; numeric values scatter around the group's, and each
categorical attribute has its own frequencies in each group. So attributes depend on each other, as
in real tables, and most records are unique. With several rows for each person, rows of one person
share most of their values.

    python benchmarks/wide.py    # 100 and 300 attributes: CPU seconds and memory of a release
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa

from hedgerow.schema import Schema

__all__ = ["wide_schema", "wide_table"]

GROUPS = 12
# kinds take turns: the number of values, and whether they are numbers
KINDS = [
    (78, True), (12, False), (3, False), (4, False), (2, False), (110, True), (2, False),
    (2, False), (3, False), (31, True), (12, False), (480, True), (40, True), (60, True),
    (20, True), (4, False),
]  # fmt: skip


def _kinds(attributes: int) -> list[tuple[int, bool]]:
    return [KINDS[place % len(KINDS)] for place in range(attributes)]


def wide_schema(attributes: int, *, people: bool = False) -> Schema:
    """Its schema: so many attributes, and a class of two values besides.

    Args:
        attributes: How many, without the class.
        people: Whether there are several rows for each person.
    """
    described: dict[str, object] = {}
    if people:
        described["person"] = {"role": "person", "max_rows": 3}
    for place, (size, numeric) in enumerate(_kinds(attributes)):
        if numeric:
            described[f"n{place}"] = {"type": "numeric", "low": 0, "high": size - 1, "step": 1}
        elif size > 10:
            values = [f"v{value}" for value in range(size)]
            groups = {f"g{start}": values[start : start + 4] for start in range(0, size, 4)}
            described[f"c{place}"] = {"type": "categorical", "taxonomy": groups}
        else:
            values = [f"v{value}" for value in range(size)]
            described[f"c{place}"] = {"type": "categorical", "values": values}
    described["outcome"] = {"type": "categorical", "values": ["no", "yes"], "role": "class"}
    unit = "person" if people else "row"
    return Schema.from_dict({"name": "wide", "unit": unit, "attributes": described})


def wide_table(rows: int, attributes: int, *, seed: int = 0, rows_each: float = 1.0) -> pa.Table:
    """So many rows.

    Args:
        rows: How many.
        attributes: How many, without the class.
        seed: For the same ones again.
        rows_each: How many rows a person has on average; above 1 there is a column `person`.
    """
    random = np.random.default_rng(seed)
    laws = np.random.default_rng(7)  # the same population, whatever rows are drawn from it
    people = max(1, round(rows / rows_each))
    owner = np.arange(rows) if rows_each == 1 else np.sort(random.integers(0, people, rows))
    group = random.choice(GROUPS, people, p=laws.dirichlet(np.full(GROUPS, 2.0)))[owner]
    columns: dict[str, object] = {}
    if rows_each != 1:
        columns["person"] = owner
    risk = np.zeros(rows)
    for place, (size, numeric) in enumerate(_kinds(attributes)):
        own = random.random(people)[owner]  # shared by a person's rows, mostly
        fresh = random.random(rows) < 0.2
        own[fresh] = random.random(int(fresh.sum()))
        if numeric:
            middle, skew = laws.uniform(0.1, 0.7, GROUPS), laws.uniform(1.0, 3.0)
            value = middle[group] + 0.25 * (own**skew - 0.4)
            code = np.clip((value * size).astype(np.int64), 0, size - 1)
            if place % 3 == 1:  # many zeros, as in amounts
                code[own < 0.6] = 0
            columns[f"n{place}"] = code
        else:
            law = np.cumsum(laws.dirichlet(np.full(size, 0.4), GROUPS), axis=1)
            code = (own[:, None] > law[group]).sum(axis=1).clip(0, size - 1)
            columns[f"c{place}"] = pa.DictionaryArray.from_arrays(
                pa.array(code.astype(np.int32)), [f"v{value}" for value in range(size)]
            ).cast(pa.string())
        risk += laws.normal() * (code / size - 0.5)
    yes = random.random(rows) < 1 / (1 + np.exp(1.2 - 1.5 * risk))
    columns["outcome"] = np.where(yes, "yes", "no")
    return pa.table(columns)


def main() -> None:
    """Publishes 30,000 rows by the default method and draws as many, each time in a new process."""
    if len(sys.argv) > 1:
        import hedgerow as hr

        attributes, delta = int(sys.argv[1]), sys.argv[2]
        rows, schema = wide_table(30_000, attributes), wide_schema(attributes)
        hr.publish(rows.slice(0, 500), schema, epsilon=1, delta=delta, seed=1)  # loads kernels
        begin = time.process_time()
        release = hr.publish(rows, schema, epsilon=1, delta=delta, seed=1)
        release.synthesize(len(rows), seed=1)
        seconds = time.process_time() - begin
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{attributes} attributes, delta {delta}: {seconds:.1f} CPU s, {memory:,.0f} MB")
        return
    for attributes in ("100", "300"):
        for delta in ("0", "1e-6"):
            subprocess.run([sys.executable, __file__, attributes, delta], check=True)


if __name__ == "__main__":
    main()
