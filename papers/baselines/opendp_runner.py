"""Runs AIM or MST of OpenDP in the environment that has it: `python opendp_runner.py JOB.json`.

It imports nothing of hedgerow. The job names the method with its settings, epsilon or rho, the
number of rows, how many cells each column has, the CSV file with the cells of the private rows,
where the synthetic cells and the CPU seconds are to be written, and after how many CPU seconds the
system is to end it. OpenDP draws its noise itself, so a seed would change nothing of it.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

__all__ = ["run"]


def run(job: dict[str, Any]) -> None:
    """Fits a method and writes its rows."""
    if job["limit"] is not None:
        import resource  # not on Windows

        resource.setrlimit(resource.RLIMIT_CPU, (job["limit"], resource.RLIM_INFINITY))
    import opendp.prelude as dp
    import polars
    from mbi import estimation
    from opendp.extras.mbi import AIM, MST

    dp.enable_features("contrib")
    settings = dict(job["settings"])
    estimator = getattr(estimation, settings.pop("estimator"))
    steps = settings.pop("steps")

    def estimate(domain: Any, loss: Any, *, potentials: Any = None) -> Any:
        return estimator(domain, loss, potentials=potentials, iters=steps)

    algorithm = {"aim": AIM, "mst": MST}[job["method"]](estimator=estimate, **settings)
    kinds = dict.fromkeys(job["cells"], polars.Int32)
    frame = polars.read_csv(job["rows"], schema_overrides=kinds).lazy()
    start = time.process_time()
    for attempt in range(20):
        # OpenDP's shares of a budget may add up to more than it, by rounding: then a little less
        budget = {name: share * (1 - attempt * 1e-6) for name, share in job["budget"].items()}
        context = dp.Context.compositor(
            data=frame, privacy_unit=dp.unit_of(contributions=1), privacy_loss=dp.loss_of(**budget)
        )
        query = context.query(**budget).select(*job["cells"])
        keys = {name: list(range(number)) for name, number in job["cells"].items()}
        try:
            table = query.contingency_table(keys=keys, algorithm=algorithm).release()
            break
        except dp.OpenDPException as error:
            if "insufficient budget" not in str(error) or attempt == 19:
                raise
    # "round", the default, relates columns that have a parent in common (mbi 1.1)
    made = table.synthesize(job["number"], method="sample")
    seconds = time.process_time() - start
    made.write_csv(job["made"])
    Path(job["cost"]).write_text(json.dumps({"cpu_seconds": seconds}), encoding="utf-8")


if __name__ == "__main__":
    run(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
