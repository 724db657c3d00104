"""What Private-PGM (mbi 2.0) makes of noisy tables: the oracle of a test, and how long it takes.

    pip install mbi==2.0.0          # in an environment of its own: it brings JAX
    python benchmarks/oracle.py FILE.json          # writes what tests/unit/estimate compares with
    python benchmarks/oracle.py --tables TABLES.npz      # with hedgerow: publishes Adult, and fits
    python benchmarks/oracle.py --time TABLES.npz 2000   # with mbi: fits the same tables of groups

The two are run in environments of their own.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

CASES = (
    # sizes, tables of variables, deviations of their noise, records
    ((2, 3, 2), ((0, 1), (1, 2)), (4.0, 4.0), 800),
    ((3, 3, 2, 2), ((0, 1), (1, 2), (2, 3), (0, 3)), (6.0, 3.0, 6.0, 3.0), 1500),
    ((2, 4, 3, 2), ((0, 1, 2), (1, 3), (0, 3), (2,)), (5.0, 5.0, 9.0, 2.0), 2500),
    ((4, 4, 4), ((0, 1), (0, 2), (1, 2)), (20.0, 20.0, 20.0), 600),
)
STEPS = 20_000


def fit(sizes, tables, total, steps):
    import jax

    jax.config.update("jax_enable_x64", True)
    import mbi
    from mbi.estimation import MirrorDescent

    names = tuple(f"v{number}" for number in range(len(sizes)))
    domain = mbi.Domain(names, tuple(int(size) for size in sizes))
    measured = [
        mbi.LinearMeasurement(values.astype(np.float64).ravel(), tuple(names[c] for c in columns),
                              stddev=float(deviation))
        for columns, values, deviation in tables
    ]  # fmt: skip
    model = MirrorDescent().estimate(domain, measured, known_total=float(total), iters=steps)
    return [
        np.asarray(model.project(tuple(names[c] for c in columns)).datavector())
        for columns, _, _ in tables
    ]


def cases():
    found = []
    for number, (sizes, asked, deviations, records) in enumerate(CASES):
        random = np.random.default_rng(number)
        joint = records * random.dirichlet(np.full(np.prod(sizes), 0.5)).reshape(sizes)
        tables = []
        for columns, deviation in zip(asked, deviations, strict=True):
            others = tuple(axis for axis in range(len(sizes)) if axis not in columns)
            exact = joint.sum(axis=others)
            noisy = np.rint(exact + random.normal(scale=deviation, size=exact.shape))
            tables.append((columns, noisy, deviation))
        expected = fit(sizes, tables, records, STEPS)
        found.append({
            "sizes": sizes, "total": records,
            "tables": [
                {"columns": columns, "values": values.astype(int).ravel().tolist(),
                 "deviation": deviation, "expected": np.round(one, 4).tolist()}
                for (columns, values, deviation), one in zip(tables, expected, strict=True)
            ],
        })  # fmt: skip
    return found


def write_tables(path: str) -> None:
    """The tables of a release of Adult, in groups, and how long our fit of all of them takes."""
    sys.path.insert(0, str(Path(__file__).parent))
    import hedgerow as hr
    from data import ADULT_SCHEMA, adult
    from hedgerow.estimate.graphical import fit_model

    release = hr.publish(adult(None), hr.Schema.load(ADULT_SCHEMA), epsilon=1, delta="1e-6", seed=1)
    known = release.tables
    start = time.process_time()
    model = fit_model(known)
    print(f"ours: {time.process_time() - start:.1f} CPU s for {model.steps} steps")
    held = {"sizes": np.array(known.cells.groups), "total": np.array(known.number)}
    for number, table in enumerate(known.tables):
        values, group = table.values, known.cells.group
        if not table.grouped:
            for axis, column in enumerate(table.columns):
                if column < known.cells.attributes:
                    place = np.eye(known.cells.groups[column])[group[column]]
                    values = np.moveaxis(np.tensordot(values, place, (axis, 0)), -1, axis)
        held |= {f"columns_{number}": np.array(table.columns), f"values_{number}": values,
                 f"deviation_{number}": np.array(table.variance**0.5)}  # fmt: skip
    np.savez(path, **held)


def main() -> None:
    if sys.argv[1] == "--tables":
        write_tables(sys.argv[2])
        return
    if sys.argv[1] == "--time":
        held = np.load(sys.argv[2])
        number = sum(name.startswith("columns_") for name in held.files)
        tables = [
            (tuple(held[f"columns_{i}"].tolist()), held[f"values_{i}"], held[f"deviation_{i}"])
            for i in range(number)
        ]
        start = time.process_time()
        fit(held["sizes"].tolist(), tables, float(held["total"]), int(sys.argv[3]))
        print(f"mbi: {time.process_time() - start:.1f} CPU s for {sys.argv[3]} steps")
        return
    Path(sys.argv[1]).write_text(json.dumps(cases(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
