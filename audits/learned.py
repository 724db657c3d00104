"""The learned distinguisher at length, on every method and on mutants: `python audits/learned.py`.

The mutants are those of `audits/mutants/by_hand.py`. First (`--list`) it is found out which of them
the distinguisher has to find: those whose true loss on the neighbours that the search chose exceeds
epsilon by a quarter or more, on an event of probability 1% at least. Losses come from likelihood
ratios of replayed transcripts of the mutated code; where the mutant is in a draw itself, the
replayer is told the mutated law (`LAWS`). The list is kept in `audits/learned.json`. Then the
distinguisher runs on all modes of `hedgerow.audit.AUDITED` and on the listed mutants: all bounds
together are wrong with probability 0.1% at most. What is finished is kept in `--keep DIR`, and an
interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

HERE = Path(__file__).resolve().parent
LIST = HERE / "learned.json"
RUNS = 20_000
TRANSCRIPTS = 300  # of each neighbour, for the loss of a mutant
ERROR = 1e-3  # of all bounds together
LEAST = 0.01  # the probability of an event that counts
QUARTER = 1.25
SEED = 7


@dataclass(frozen=True, kw_only=True)
class Job:
    """One thing to attack.

    Args:
        name: What it is called in the table.
        mutant: The mutant's name, or "" for the code as it is.
        method: The method with its settings, as an expression; or the key of a mode.
        delta: The delta of the claim; epsilon is 1.
        rows: How many rows one person has, all of them alike.
        schema: The name of a schema, or "" for random ones that suit the method.
        secure: Whether every release has a secure stream of its own.
    """

    name: str
    mutant: str = ""
    method: str
    delta: str = "0"
    rows: int = 1
    schema: str = ""
    secure: bool = False


SMALL = "DiffGen(specialisations=1)"
TREE = 'DiffPart(variant="tree")'
PAPER = 'DiffPart(schedule="paper", c1=0.01, c2=0.01)'
DETAIL = "DiffMulti(detail=True, pairs=2, specialisations=4, depth=2)"
TINY = "2 values and a class"

# Where each mutant is alive. What is not here changes no law of a release of one of these methods
# to neighbours in memory, or only by rounding, or by an event as unlikely as delta: see `SPARED`.
ALIVE: dict[str, dict[str, Any]] = {
    "nonempty-twice-the-rate": {"method": "LISTED", "delta": "1e-6", "schema": "personal"},
    "keep-one-less": {"method": "SAMPLED", "delta": "1e-6", "schema": "personal"},
    "counts-half-the-noise": {"method": "DiffPart(core=2)"},
    "zero-comes-twice": {"method": "DiffPart(core=2)"},
    "noise-shared-by-siblings": {"method": "DiffPart(core=2)"},
    "empty-cells-listed-later": {"method": PAPER},
    "large-cells-always-listed": {"method": 'DiffPart(schedule="paper", c1=1, c2=0.3)'},
    "constant-key": {"method": SMALL, "schema": TINY, "secure": True},
    "gate-one-level-less": {"method": TREE},
    "gate-without-floor": {"method": TREE},
    "gate-pays-for-one-decision": {"method": TREE},
    "gate-of-short-steps": {"method": TREE},
    "flips-in-zcdp": {"method": "DiffMulti(specialisations=6, depth=3)", "delta": "1e-6"},
    "twice-the-bounded-range": {"method": "DiffMulti(specialisations=6, depth=3)", "delta": "1e-6"},
    "counts-in-rho-too-exact": {"method": "DiffGen(specialisations=4)", "delta": "1e-6"},
    "children-forget-spending": {"method": "DiffMulti(specialisations=8, depth=4)"},
    "leftovers-spent-twice": {"method": "CDiffGen(specialisations=4)"},
    "whole-epsilon-for-each-row": {"method": "DiffGen(specialisations=4)", "rows": 2},
    "discernibility-of-span-one": {
        "method": 'DiffMulti(specialisations=6, depth=3, score="discernibility")'
    },
    "purity-of-range-two": {"method": 'DiffMulti(specialisations=6, depth=3, score="purity")'},
    "gini-of-one-region": {"method": 'DiffGen(specialisations=3, score="gini")'},
    "pairs-of-span-one": {"method": DETAIL},
    "exact-rows-in-a-rule": {"method": "DiffGen()"},
    "exact-records-in-a-rule": {"method": "DiffPart()"},
    "core-by-exact-supports": {"method": "DiffPart(core=2)"},
    "growth-by-exact-sizes": {"method": "DiffMulti(specialisations=8, depth=4)"},
    "empty-leaves-skipped": {"method": "DiffMulti(specialisations=8, depth=4)"},
    "cuts-of-all-attributes-at-once": {
        "method": 'DiffGen(schedule="paper", specialisations=4)', "schema": "two numbers",
    },
    "supports-pay-once": {"method": "DiffPart(cap=3, core=3)"},
    "supports-without-cap": {"method": "DiffPart(core=1, cap=1)"},
    "levels-share-leftovers": {"method": "CDiffGen(specialisations=4)"},
    "one-level-too-deep": {"method": "DiffMulti(specialisations=8, depth=4)"},
    "one-attribute-for-free": {"method": DETAIL},
}  # fmt: skip

_ROUNDING = "rounding: the law changes by less than 1e-6"
_DELTA = "by proof: what changes is an event about as unlikely as delta"
_BOOKS = "by proof: the law of a release stays the same, its books or checks change"
_OUTSIDE = "by proof: neighbours in memory do not meet this code"
SPARED = {
    "every-cell-tried-as-empty": "by proof: where nearly all cells are in use more empty ones are "
    "wanted than there are, and small tables are never published: the run does not end",
    "cells-in-order-of-use": "by proof: transactions are sorted again, and a grid of a million "
    "cells lists a cell of one record with probability 1e-6 or so",
    "words-read-again": "not derived: words drawn under the seal can be neither replayed nor "
    "enumerated, and no mode that is audited draws any",
    "stream-begins-again": "by proof: no release of small tables reads more than one block",
    "seeded-taken-for-secure": _BOOKS,
    "charged-after-the-draw": _BOOKS,
    "anybody-opens-the-seal": _BOOKS,
    "one-use-too-many": _BOOKS,
    "gate-without-payment": _BOOKS,
    "delta-grows-with-rows": _DELTA,
    "roots-rounded-up": _ROUNDING,
    "rates-rounded-up": _ROUNDING,
    "rho-rounded-up": _ROUNDING,
    "conversion-rounded-down": _ROUNDING,
    "threshold-one-lower": _DELTA,
    "group-one-smaller": _DELTA,
    "sampling-at-any-epsilon": "by proof: the modes that are audited are allowed anyway",
    "threshold-for-another-rate": _DELTA,
    "delta-spent-twice": _DELTA,
    "side-table-for-nothing": _BOOKS,
    "centroids-ignore-the-cap": _OUTSIDE,
    "centroids-forget-a-column": _OUTSIDE,
    "cap-one-row-more": _OUTSIDE,
    "streamed-rows-without-cap": _OUTSIDE,
    "overdraft": _BOOKS,
    "crashed-runs-for-nothing": _BOOKS,
    "failed-runs-given-back": _BOOKS,
}


# in a process of its own, where hedgerow may be a mutated copy --------------------------------


def schema_named(name: str) -> Any:
    from hedgerow.audit.neighbours import TINY_TABLES
    from hedgerow.audit.trials import PERSONAL
    from hedgerow.schema import Schema

    number = {"type": "numeric", "low": 0, "high": 3, "step": 1}
    two = {"name": "two", "unit": "row", "attributes": {"a": number, "b": number}}
    known = {**TINY_TABLES, "personal": PERSONAL, "two numbers": Schema.from_dict(two)}
    return known[name]


def setting(job: Job) -> tuple[Any, Any, Callable[..., Any]]:
    """The method, the budget, and what makes schemas."""
    import hedgerow
    from hedgerow.audit import AUDITED
    from hedgerow.privacy.budget import Budget

    personal = AUDITED["supermodular"]
    tiny = personal.tiny_schemas["two attributes"]
    schemas: Callable[..., Any] | None = None
    if ":" in job.method:
        name, _, place = job.method.partition(":")
        entry = AUDITED[name]
        method: Any = (*entry.modes, *entry.tiny)[int(place)]
        schemas = (lambda pick: tiny) if int(place) >= len(entry.modes) else entry.schemas
    elif job.method in ("LISTED", "SAMPLED"):
        method = personal.experiments[job.method == "SAMPLED"].method
    else:
        names = ("DiffMulti", "DiffGen", "CDiffGen", "DiffPart")
        method = eval(job.method, {name: getattr(hedgerow, name) for name in names})
        entry = AUDITED["diffmulti-detail" if "detail" in job.method else method.name]
        schemas = entry.schemas
    if job.schema:
        schema = schema_named(job.schema)
        schemas = lambda pick: schema  # noqa: E731
    assert schemas is not None
    return method, Budget.of(1, job.delta, job.rows), schemas


def neighbours(job: Job) -> Any:
    """The pair that the search chose; a person of several rows has that many of one kind."""
    from hedgerow.audit.neighbours import Pair, pair_of
    from hedgerow.audit.search import search_pair

    method, budget, schemas = setting(job)
    pair = search_pair(method, schemas, budget, SEED)
    assert pair is not None
    if job.rows > 1:
        rows = [*pair.with_it.codes.tolist(), *([list(pair.extra)] * (job.rows - 2))]
        more = pair_of("", pair.without.schema, rows, pair.extra)
        pair = Pair(pair.words, pair.without, more.with_it, pair.extra)
    return pair


def size(table: Any) -> int:
    return len(table.start) - 1 if hasattr(table, "start") else len(table.codes)


def best_event(ratios: Any, delta: float) -> tuple[float, float]:
    """The largest loss on an event of probability 1% or more, and its probability.

    The events are those of Neyman and Pearson, "the ratio is large". What each has of the other
    law is the mean of the inverse ratios in it, exactly.
    """
    ratios = np.sort(ratios)[::-1]
    share = np.arange(1, len(ratios) + 1) / len(ratios)
    with np.errstate(divide="ignore"):
        other = np.cumsum(np.exp(-ratios)) / len(ratios)
        losses = np.log(np.maximum(share - delta, 1e-300) / other)
    losses[share < LEAST] = -np.inf
    most = float(losses.max())
    place = int(np.flatnonzero(losses >= most - 0.02)[-1])
    return float(losses[place]), float(share[place])


def loss_of(job: Job) -> dict[str, Any]:
    """The true loss on the chosen neighbours, by replay."""
    from hedgerow.audit.search import log_ratios

    method, budget, _ = setting(job)
    if job.mutant == "constant-key":
        return {
            "loss": math.inf,
            "probability": 1.0,
            "how": "by proof: there is one release of each table",
        }
    with LAWS.get(job.mutant, nullcontext)():
        pair = neighbours(job)
        ratios = log_ratios(method, pair, budget, SEED + 1, TRANSCRIPTS)
    loss, probability = max(best_event(side, float(job.delta)) for side in ratios)
    how = "replay, with the mutated law" if job.mutant in LAWS else "replay"
    return {
        "loss": loss, "probability": probability, "how": how,
        "records": size(pair.without), "extra": [int(code) for code in pair.extra],
    }  # fmt: skip


def attack(job: Job, runs: int, error: float) -> dict[str, Any]:
    """The learned distinguisher on the chosen neighbours."""
    from hedgerow.audit.learned import distinguish
    from hedgerow.audit.methods import describe
    from hedgerow.publish.api import run

    method, budget, _ = setting(job)
    with LAWS.get(job.mutant, nullcontext)():
        pair = neighbours(job)
    began = time.monotonic()
    found = distinguish(
        pair, lambda table, chance: run(table, method, budget, chance), runs, float(job.delta),
        error, None if job.secure else SEED,
    )  # fmt: skip
    return asdict(found) | {
        "mode": f"{method.name}: {describe(method)}", "seconds": time.monotonic() - began,
        "records": size(pair.without),
    }  # fmt: skip


# laws of mutants that are in the draws themselves ----------------------------------------------


def _law(name: str, change: Callable[[Any], Any]) -> Callable[[], AbstractContextManager[Any]]:
    """A law of the replayer is replaced by what `change` makes of it."""

    def put() -> AbstractContextManager[Any]:
        from hedgerow.privacy import replay

        kind = replay._Replayer
        return patch.object(kind, name, change(getattr(kind, name)))

    return put


def _twice_the_rate(told: Any) -> Any:
    def nonempty(self: Any, cells: Any, counts: Any, rate: Any, *rest: Any) -> Any:
        return told(self, cells, counts, 2 * rate, *rest)

    return nonempty


def _one_less(told: Any) -> Any:
    def keep(self: Any, cells: Any, counts: Any, share: Any, least: int, *rest: Any) -> Any:
        return told(self, cells, counts, share, least - 1, *rest)

    return keep


def _noise(law: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """Another law of noise: from noise by item and column and the rates to log-probabilities."""

    def change(told: Any) -> Any:
        def laplace(self: Any, exact: Any, rates: Any) -> Any:
            forced = told(self, exact, rates)
            step = self.trace[-1]
            noise = np.abs(forced - exact).reshape(len(step.rates), -1)
            signed = (forced - exact).reshape(len(step.rates), -1)
            step.log_p[:] = law(signed if law is _shared else noise, step.rates[:, None])
            return forced

        return laplace

    return change


def _half_the_noise(noise: Any, rate: Any) -> Any:
    return (np.log(np.tanh(rate)) - 2 * rate * noise).sum(axis=1)


def _zero_twice(noise: Any, rate: Any) -> Any:
    whole = 1 / np.tanh(rate / 2) + 1
    return (-rate * noise + np.log1p(noise == 0) - np.log(whole)).sum(axis=1)


def _shared(noise: Any, rate: Any) -> Any:
    first = np.log(np.tanh(rate[:, 0] / 2)) - rate[:, 0] * np.abs(noise[:, 0])
    return np.where((noise == noise[:, :1]).all(axis=1), first, -np.inf)


def _cells(law: Callable[..., float]) -> Callable[[], AbstractContextManager[Any]]:
    """Another law of lists of cells, with or without their values."""

    def put() -> AbstractContextManager[Any]:
        from hedgerow.privacy import replay
        from hedgerow.privacy.replay_trace import Step

        def listing(kind: str) -> Any:
            def told(self: Any, cells: Any, counts: Any, number: int, rate: Any, threshold: int,
                     purpose: str = "") -> Any:  # fmt: skip
                forced = self._next(kind)
                exact = dict(zip(cells.tolist(), counts.tolist(), strict=True))
                if kind == "sparse":
                    shown = dict(zip(forced[0].tolist(), forced[1].tolist(), strict=True))
                else:
                    shown = dict.fromkeys(forced.tolist())
                log_p = law(float(rate), exact, shown, number, threshold)
                self.trace.append(Step(kind, purpose, np.asarray([log_p])))
                return forced

            return told

        return patch.multiple(replay._Replayer, sparse=listing("sparse"), mark=listing("mark"))

    return put


def _log(p: float) -> float:
    return math.log(p) if p > 0 else -math.inf


def _listing(
    e: float, exact: dict[int, int], shown: dict[int, int | None], number: int, threshold: int,
    *, later: int = 0, always: bool = False,
) -> float:  # fmt: skip
    """The log-probability of a list, with one of two flaws or none."""
    from hedgerow.privacy.replay import tail

    log_p = 0.0
    point = math.tanh(e / 2)
    for cell, count in exact.items():
        sure = always and count >= threshold
        if cell not in shown:
            log_p += -math.inf if sure else math.log1p(-tail(e, threshold - count))
            continue
        value = shown[cell]
        if value is None:
            log_p += 0.0 if sure else math.log(tail(e, threshold - count))
        else:
            log_p += _log(point if sure or value >= threshold else 0.0) - e * abs(value - count)
    fresh = [value for cell, value in shown.items() if cell not in exact]
    free, mark = number - len(exact), tail(e, threshold + later)
    log_p += len(fresh) * math.log(mark) + (free - len(fresh)) * math.log1p(-mark)
    for value in fresh:
        if value is not None:
            log_p += math.log(-math.expm1(-e)) - e * (value - threshold)
    return log_p


def _with(**flaw: Any) -> Callable[..., float]:
    return lambda *args: _listing(*args, **flaw)


LAWS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "nonempty-twice-the-rate": _law("nonempty", _twice_the_rate),
    "keep-one-less": _law("keep", _one_less),
    "counts-half-the-noise": _law("laplace", _noise(_half_the_noise)),
    "zero-comes-twice": _law("laplace", _noise(_zero_twice)),
    "noise-shared-by-siblings": _law("laplace", _noise(_shared)),
    "empty-cells-listed-later": _cells(_with(later=1)),
    "large-cells-always-listed": _cells(_with(always=True)),
}


# the list, the runs and the table -----------------------------------------------------------


def mutant_jobs() -> list[Job]:
    return [Job(name=name, mutant=name, **where) for name, where in ALIVE.items()]


def real_jobs() -> list[Job]:
    from hedgerow.audit import AUDITED

    jobs = []
    for name, entry in AUDITED.items():
        modes = (*entry.modes, *entry.tiny) if entry.needs_delta else entry.modes
        for place in range(len(modes)):
            for delta in ("0", "1e-6"):
                if not (entry.needs_delta if delta == "0" else name == "diffpart"):
                    method = f"{name}:{place}"
                    jobs.append(Job(name=f"{method}, delta {delta}", method=method, delta=delta))
    return jobs


def in_its_own_process(job: Job, what: str, asked: argparse.Namespace, *more: float) -> Any:
    """Does one piece of work, on a mutated copy of the source tree if need be."""
    with tempfile.TemporaryDirectory() as folder:
        tree = HERE.parent
        if job.mutant:
            sys.path.insert(0, str(asked.mutants.parent))
            from mutants.by_hand import apply, by_name

            tree = Path(folder)
            shutil.copytree(HERE.parent / "src", tree / "src")
            apply(by_name(job.mutant), tree)
        words = [sys.executable, str(Path(__file__).resolve()), "--work", what,
                 json.dumps(asdict(job)), *map(str, more)]  # fmt: skip
        path = os.pathsep.join([str(tree / "src"), os.environ.get("PYTHONPATH", "")])
        env = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            words, env=env, capture_output=True, text=True, check=False, timeout=asked.minutes * 60
        )
        if done.returncode:
            return {"stopped": (done.stderr.strip() or "killed").splitlines()[-1][:200]}
        return json.loads(done.stdout.splitlines()[-1])


def work(what: str, job: str, *more: str) -> None:
    """Inside such a process."""
    todo = Job(**json.loads(job))
    found = loss_of(todo) if what == "loss" else attack(todo, int(float(more[0])), float(more[1]))
    print(json.dumps(found))


def kept(asked: argparse.Namespace, name: str, find: Callable[[], Any]) -> Any:
    """What was found before under this name, or else is found now and kept."""
    path = asked.keep / ("".join(c if c.isalnum() else "-" for c in name) + ".json")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(find()), encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))


def everything(asked: argparse.Namespace, jobs: list[Job], what: str, *more: float) -> list[Any]:
    def one(job: Job) -> Any:
        try:
            found = kept(
                asked, f"{what}-{job.name}", lambda: in_its_own_process(job, what, asked, *more)
            )
        except subprocess.TimeoutExpired:
            found = {"stopped": "no end"}
        print(f"{time.strftime('%H:%M:%S')}  {what} {job.name}: {found}", file=sys.stderr)
        return found

    with ThreadPoolExecutor(asked.jobs) as pool:
        return list(pool.map(one, jobs))


def write_list(asked: argparse.Namespace) -> None:
    """Which mutants have to be found, before anything is tried."""
    jobs = mutant_jobs()
    rows = {}
    for job, found in zip(jobs, everything(asked, jobs, "loss"), strict=True):
        setting_of = {key: value for key, value in asdict(job).items() if key not in ("name",)}
        loss = found.get("loss")
        listed = loss is not None and loss >= QUARTER
        told = found | {"loss": "infinite" if loss is not None and math.isinf(loss) else loss}
        rows[job.mutant] = {"listed": listed, **told, "setting": setting_of}
    for name, why in SPARED.items():
        rows[name] = {"listed": False, "loss": None, "how": why}
    LIST.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def table(columns: list[str], rows: list[list[str]]) -> list[str]:
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows] + [""]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--list", action="store_true", help="find out which have to be found")
    parser.add_argument("--work", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--runs", type=int, default=RUNS, help="releases of each neighbour")
    parser.add_argument("--keep", type=Path, default=HERE.parent / ".learned", help="finished work")
    parser.add_argument("--mutants", type=Path, default=HERE / "mutants", help="a folder")
    parser.add_argument("--minutes", type=float, default=60, help="the most for one attack")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="part of a name")
    asked = parser.parse_args()
    if asked.work:
        work(*asked.work)
        return 0
    if asked.list:
        write_list(asked)
        return 0
    listed = {name: row for name, row in json.loads(LIST.read_text()).items() if row["listed"]}
    broken = [job for job in mutant_jobs() if job.mutant in listed]
    sound = real_jobs()
    error = ERROR / (len(broken) + len(sound))
    chosen = [job for job in (*broken, *sound) if asked.only in job.name]
    bounds = everything(asked, chosen, "attack", asked.runs, error)
    found = {job.name: bound for job, bound in zip(chosen, bounds, strict=True)}
    print("\n".join(pages(listed, broken, sound, found, asked.runs, error)))
    wrong = [job for job in chosen if (found[job.name].get("bound", 0) > 1) != bool(job.mutant)]
    return 1 if wrong else 0


def pages(
    listed: dict[str, Any], broken: list[Job], sound: list[Job], found: dict[str, Any],
    runs: int, error: float,
) -> list[str]:  # fmt: skip
    """Two tables, for the page of attacks."""
    rows = []
    for job in broken:
        if job.name in found:
            here, row = found[job.name], listed[job.mutant]
            loss = row["loss"] if isinstance(row["loss"], str) else f"{row['loss']:.2f}"
            hits = "{} and {}".format(*here["hits"]) if "hits" in here else here["stopped"]
            bound = here.get("bound", 0)
            rows.append([job.mutant, here.get("mode", job.method), row["how"], loss,
                         f"{row['probability']:.0%}", hits, f"{bound:.3f}",
                         "yes" if bound > 1 else "**NO**"])  # fmt: skip
    columns = ["mutant", "mode", "loss by", "true loss", "of an event of", "hits", "bound", "found"]
    lines = table(columns, rows)
    rows = []
    for job in sound:
        if job.name in found:
            here = found[job.name]
            hits = "{} and {}".format(*here["hits"]) if "hits" in here else here["stopped"]
            bound = here.get("bound", math.inf)
            rows.append([here.get("mode", job.method), job.delta, str(here.get("records")), hits,
                         f"{bound:.3f}", "yes" if bound <= 1 else "**NO**"])  # fmt: skip
    columns = ["method and mode", "delta", "records", "hits", "bound", "holds"]
    return [*lines, *table(columns, rows), f"{runs:,} releases a side; each bound errs with "
            f"probability {error:.2g} at most."]  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
