"""A million items, ten million records: CPU seconds and peak memory of a streamed release.

    python benchmarks/many_items.py [--records 10000000] [--items 1000000] [--folder DIR]

Simulated records: one plus a geometric number of items, five on average, drawn from a Zipf law over
the whole universe. They are written as Parquet lists first, about 100 MB, and kept if a folder is
given. Publishing and asking are processes of their own, so that each peak memory is its own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import hedgerow as hr
from results import Results, add_json_option

BLOCK = 500_000  # records that are made at a time
MEAN = 5

_USED = """
import resource, sys
import hedgerow as hr
def used():
    found = resource.getrusage(resource.RUSAGE_SELF)
    print(found.ru_utime + found.ru_stime, found.ru_maxrss / 1024)
"""
STEPS = {
    "publish, streamed": """
release = hr.publish(sys.argv[1], sys.argv[2], hr.DiffPart(), 1, engine="streamed", memory="1GB")
release.save(sys.argv[3])
used()
""",
    "ask": """
release = hr.Release.load(sys.argv[3])
release.count([["1"], ["2"], ["1", "2"], ["1000"]])
used()
""",
}


def make(path: Path, records: int, items: int) -> None:
    """Records of a Zipf law; an item that is drawn twice for a record counts once."""
    source = np.random.default_rng(1)
    edges = np.cumsum(1 / np.arange(1, items + 1))
    column = pa.field("items", pa.list_(pa.int32()))
    half = path.with_suffix(".half")
    with pq.ParquetWriter(half, pa.schema([column])) as writer:
        for first in range(0, records, BLOCK):
            sizes = source.geometric(1 / MEAN, min(BLOCK, records - first))
            start = np.append(0, np.cumsum(sizes)).astype(np.int32)
            drawn = np.searchsorted(edges, source.random(start[-1]) * edges[-1]) + 1
            lists = pa.ListArray.from_arrays(start, pa.array(drawn, pa.int32()))
            writer.write_table(pa.table({"items": lists}), row_group_size=BLOCK // 4)
    half.rename(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="keep the records there")
    add_json_option(parser)
    given = parser.parse_args()
    results = Results("many items")
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        data = folder / f"zipf-{given.records}-{given.items}.parquet"
        if not data.exists():
            make(data, given.records, given.items)
        known = hr.Schema.from_dict(
            {
                "name": "many items",
                "unit": "row",
                "items": {"universe": {"range": [1, given.items]}, "column": "items"},
            }
        )
        schema = Path(temporary) / "schema.yaml"
        schema.write_text(known.to_yaml(), encoding="utf-8")
        print(f"{given.records:,} records, {given.items:,} items")
        for step, code in STEPS.items():
            done = subprocess.run(
                [sys.executable, "-c", _USED + code, data, schema, Path(temporary) / "release"],
                stdout=subprocess.PIPE, text=True, check=True,
            )  # fmt: skip
            seconds, memory = map(float, done.stdout.split())
            print(f"  {step:20}{seconds:8.1f} CPU s{memory:8,.0f} MB", flush=True)
            setting = (f"{given.records} records", f"{given.items} items", step)
            results.add(seconds, "s", *setting, "CPU time")
            results.add(memory, "MB", *setting, "peak memory")
    results.write(given.json)


if __name__ == "__main__":
    main()
