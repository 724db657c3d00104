"""Runs one method of dpmm 0.1.9 in the environment that has it: `python dpmm_runner.py JOB.json`.

It imports nothing of hedgerow, since dpmm needs other versions of NumPy and pandas. The job names
the method with its settings, epsilon, delta, a seed, the number of rows, the public domain, the CSV
file with the private rows, where the synthetic rows and the CPU seconds are to be written, and
after how many CPU seconds the system is to end it.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

__all__ = ["run"]

PROCESSING = 0.1  # of epsilon, for finding the bins of numeric attributes: the pipelines' default


def run(job: dict[str, Any]) -> None:
    """Fits a method and writes its rows."""
    if job["limit"] is not None:
        import resource  # not on Windows

        resource.setrlimit(resource.RLIMIT_CPU, (job["limit"], resource.RLIM_INFINITY))
    import pandas
    from dpmm import pipelines

    frame = pandas.read_csv(job["rows"], dtype=dict.fromkeys(job["categorical"], str))
    for column in job["categorical"]:
        frame[column] = frame[column].astype("category")
    kind = {"aim": "AIMPipeline", "mst": "MSTPipeline", "privbayes": "PrivBayesPipeline"}
    start = time.process_time()
    model = getattr(pipelines, kind[job["method"]])(
        epsilon=job["epsilon"] * (1 - PROCESSING),
        delta=job["delta"],
        proc_epsilon=job["epsilon"] * PROCESSING,
        n_jobs=1,
        **job["settings"],
    )
    model.fit(frame, job["domain"], random_state=job["seed"])
    made = model.generate(n_records=job["number"], random_state=job["seed"])
    seconds = time.process_time() - start
    made.to_csv(job["made"], index=False)
    Path(job["cost"]).write_text(json.dumps({"cpu_seconds": seconds}), encoding="utf-8")


if __name__ == "__main__":
    run(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
