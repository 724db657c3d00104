"""The learned distinguisher at length, on every method and on mutants: `python audits/learned.py`.

The mutants are those of `audits/mutants/by_hand.py`. First (`--list`) it is found out which of them
the distinguisher has to find: those whose true loss on the neighbors that the search chose exceeds
epsilon by a quarter or more, on an event of probability 1% at least. Losses come from likelihood
ratios of replayed transcripts of the mutated code; where the mutant is in a draw itself, the
replayer is told the mutated law (`learned_laws.py`). The list is kept in `audits/learned.json`.
Then the distinguisher runs on all modes of `hedgerow.audit.AUDITED` and on the listed mutants: all
bounds together are wrong with probability 0.1% at most. What is finished is kept in `--keep DIR`,
and an interrupted run goes on where it stopped; empty it when the code has changed.
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
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from learned_jobs import SPARED, Job, mutant_jobs, real_jobs
from learned_laws import LAWS
from mutants.by_hand import BY_HAND

HERE = Path(__file__).resolve().parent
LIST = HERE / "learned.json"
RUNS = 20_000
CANDIDATES = 30  # pairs with which the search begins
TRANSCRIPTS = 150  # of each neighbor, for the loss of a mutant
ERROR = 1e-3  # of all bounds together
LEAST = 0.01  # the probability of an event that counts
QUARTER = 1.25
SEED = 7
STEPS, LOOKED_AT = 20, 1000  # of a rough fit, and the rows of a model that are looked at


# in a process of its own, where hedgerow may be a mutated copy --------------------------------


def schema_named(name: str) -> Any:
    from hedgerow.audit.distinguish import PERSONAL
    from hedgerow.audit.neighbors import TINY_TABLES
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
        # where a delta buys something on large universes alone, those are attacked
        schemas = (entry.large if job.delta != "0" else None) or entry.schemas
        schemas = (lambda pick: tiny) if int(place) >= len(entry.modes) else schemas
    elif job.method in ("LISTED", "SAMPLED"):
        method = personal.experiments[job.method == "SAMPLED"].method
    else:
        names = ("Marginals", "DiffMulti", "DiffGen", "CDiffGen", "DiffPart")
        method = eval(job.method, {name: getattr(hedgerow, name) for name in names})
        entry = AUDITED[method.name]
        schemas = entry.schemas
    if job.schema:
        schema = schema_named(job.schema)
        schemas = lambda pick: schema  # noqa: E731
    assert schemas is not None
    return method, Budget.of(1, job.delta, job.rows), schemas


def neighbors(job: Job) -> Any:
    """The pair that the search chose; a person of several rows has that many of one kind."""
    from hedgerow.audit.learned import search_pair
    from hedgerow.audit.neighbors import Pair, pair_of

    if job.records:
        from late_steps import late_pair

        return late_pair(2, rows=job.records)
    method, budget, schemas = setting(job)
    pair = search_pair(method, schemas, budget, SEED, CANDIDATES)
    assert pair is not None
    if job.rows > 1:
        rows = [*pair.with_it.codes.tolist(), *([list(pair.extra)] * (job.rows - 2))]
        more = pair_of("", pair.without.schema, rows, pair.extra)
        pair = Pair(words=pair.words, without=pair.without, with_it=more.with_it, extra=pair.extra)
    return pair


def reached(outcome: Any) -> bool:
    """Whether the last steps were taken, all of them on two tables or attributes at least."""
    from late_steps import tables_of

    seen = tables_of(outcome)
    late = {"named", "by_class", "fine", "relate", "pairs"}
    return late <= seen.keys() and min(n for name, n in seen.items() if name != "rows") > 1


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
    """The true loss on the chosen neighbors, by replay."""
    from hedgerow.audit.learned import log_ratios

    method, budget, _ = setting(job)
    if job.mutant == "constant-key":
        return {
            "loss": math.inf,
            "probability": 1.0,
            "how": "by proof: there is one release of each table",
        }
    with LAWS.get(job.mutant, nullcontext)():
        pair = neighbors(job)
        ratios = log_ratios(method, pair, budget, SEED + 1, TRANSCRIPTS)
    loss, probability = max(best_event(side, float(job.delta)) for side in ratios)
    how = "replay, with the mutated law" if job.mutant in LAWS else "replay"
    return {
        "loss": loss, "probability": probability, "how": how,
        "records": size(pair.without), "extra": [int(code) for code in pair.extra],
    }  # fmt: skip


def once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Calls a function once, and gives the same answer ever after."""
    answers: list[Any] = []

    def answer(*args: Any, **named: Any) -> Any:
        if not answers:
            answers.append(function(*args, **named))
        return answers[0]

    return answer


@contextmanager
def rough_fits() -> Iterator[None]:
    """Fits a model roughly, by which pairs are chosen: it follows from what was released.

    So the guarantee is the same for any fit, and an adversary sees all the same draws: a release of
    many records then takes an eighth of the time.
    """
    from hedgerow.estimate import graphical
    from hedgerow.methods import marginals

    with (
        patch.object(graphical, "MOST_STEPS", STEPS),
        patch.object(marginals, "LOOKED_AT", LOOKED_AT),
    ):
        yield


@contextmanager
def public_work_once(method: Any) -> Iterator[None]:
    """What follows from a public side table alone is the same in every release: once is enough."""
    from hedgerow.methods import supermodular as module

    with ExitStack() as stack:
        if getattr(method, "side", None) is not None:
            for name in ("frontier", "read_public", "check_possible"):
                stack.enter_context(patch.object(module, name, once(getattr(module, name))))
            stack.enter_context(patch.object(module.Side, "of", once(module.Side.of)))
            kind = module.Supermodular
            stack.enter_context(patch.object(kind, "terms", once(kind.terms)))
        yield


def attack(job: Job, runs: int, error: float) -> dict[str, Any]:
    """The learned distinguisher on the chosen neighbors."""
    from hedgerow.audit.learned import distinguish
    from hedgerow.audit.methods import describe
    from hedgerow.methods.api import run
    from hedgerow.privacy.keystream import Keystream
    from hedgerow.privacy.sampler import SecureSampler

    method, budget, _ = setting(job)
    with LAWS.get(job.mutant, nullcontext)():
        pair = neighbors(job)
    began = time.monotonic()
    with public_work_once(method), rough_fits() if job.records else nullcontext():
        if job.records:
            # which pairs are chosen is chance: among a few releases is one with all steps
            trials = (SecureSampler(Keystream(seed=SEED + trial)) for trial in range(5))
            assert any(reached(run(pair.without, method, budget, sampler)) for sampler in trials)
        found = distinguish(
            pair, lambda table, sampler: run(table, method, budget, sampler), runs,
            float(job.delta), error, None if job.secure else SEED + 2,
        )  # fmt: skip
    return asdict(found) | {
        "mode": f"{method.name}: {describe(method)}", "seconds": time.monotonic() - began,
        "records": size(pair.without),
    }  # fmt: skip


# the list, the runs and the section ----------------------------------------------------------


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


def place_of(asked: argparse.Namespace, name: str) -> Path:
    """The file in which finished work is kept."""
    words = "".join(c if c.isalnum() else "-" for c in name)
    return Path(asked.keep / f"{words}.json")


def kept(asked: argparse.Namespace, name: str, find: Callable[[], Any]) -> Any:
    """What was found before under this name, or else is found now and kept."""
    path = place_of(asked, name)
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
    parser.add_argument("--runs", type=int, default=RUNS, help="releases of each neighbor")
    parser.add_argument("--keep", type=Path, help="a directory for what is finished, to go on from")
    parser.add_argument("--mutants", type=Path, default=HERE / "mutants", help="a folder")
    parser.add_argument("--minutes", type=float, default=60, help="the most for one attack")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--only", action="append", help='part of a name; "mutant:" for all; can be repeated'
    )
    parser.add_argument("--kept", action="store_true", help="tell of finished work alone")
    asked = parser.parse_args()
    if asked.work:
        work(*asked.work)
        return 0
    asked.keep = asked.keep or Path(tempfile.mkdtemp(prefix="learned-"))
    if asked.list:
        write_list(asked)
        return 0
    listed = json.loads(LIST.read_text(encoding="utf-8"))
    broken = [job for job in mutant_jobs() if listed[job.mutant]["listed"]]
    sound = real_jobs()
    error = ERROR / (len(mutant_jobs()) + len(sound))  # as many as there might be tests
    named = [(f"mutant: {job.name}", job) for job in broken]
    named += [(f"method: {job.name}", job) for job in sound]
    parts = asked.only or [""]
    chosen = [job for name, job in named if any(part in name for part in parts)]
    if not chosen:
        parser.error(f"no name has that part: {', '.join(name for name, _ in named)}")
    chosen.sort(key=lambda job: job.slow)  # should time run out
    wanted = len(chosen)
    if asked.kept:
        chosen = [job for job in chosen if place_of(asked, f"attack-{job.name}").exists()]
    bounds = everything(asked, chosen, "attack", asked.runs, error)
    found = {job.name: bound for job, bound in zip(chosen, bounds, strict=True)}
    print("\n".join(pages(listed, chosen, found, asked.runs, error)).rstrip())
    if len(chosen) < wanted:
        print(f"\nSo far {len(chosen)} of these {wanted} attacks were run.")
    wrong = [
        job
        for job in chosen
        if "bound" not in found[job.name] or (found[job.name]["bound"] > 1) != bool(job.mutant)
    ]
    return 1 if wrong else 0


_REASONS = {
    "replay": "their loss by replay is smaller",
    "stopped": "the ledger stops the run",
    "by proof": "their losses are smaller, or elsewhere, by proof",
    "rounding": "they change roundings alone",
    "not derived": "no loss can be derived",
}


def why_spared(row: dict[str, Any]) -> str:
    """The kind of reason for which a mutant need not be found."""
    if "stopped" in row:
        return "stopped"
    return next(kind for kind in _REASONS if row["how"].startswith(kind))


def pages(
    rows_of_list: dict[str, Any], jobs: list[Job], found: dict[str, Any], runs: int, error: float
) -> list[str]:
    """The section of the page of attacks."""
    kinds = Counter(_REASONS[why_spared(row)] for row in rows_of_list.values() if not row["listed"])
    kinds["they were written later and have not been tried"] = len(BY_HAND) - len(rows_of_list)
    reasons = "; ".join(f"{words} ({number})" for words, number in kinds.items() if number)
    rows: dict[bool, list[list[str]]] = {True: [], False: []}
    for job in jobs:
        here = found[job.name]
        hits = "{:,} and {:,}".format(*here["hits"]) if "hits" in here else here["stopped"]
        mode, bound = here.get("mode", job.method), here.get("bound")
        shown = "-" if bound is None else f"{bound:.3f}"
        if job.mutant:
            row = rows_of_list[job.mutant]
            loss = row["loss"] if isinstance(row["loss"], str) else f"{row['loss']:.2f}"
            verdict = "yes" if bound is not None and bound > 1 else "**NO**"
            rows[True].append([job.mutant, mode, loss, f"{row['probability']:.0%}", hits, shown,
                               verdict])  # fmt: skip
        else:
            shown += "" if bound is not None and bound <= 1 else " **BROKEN**"
            rows[False].append([mode, job.delta, str(here.get("records")), hits, shown])
    head = (HERE / "learned.md.txt").read_text(encoding="utf-8").format(
        runs=runs, error=error, tests=round(ERROR / error), spared=sum(kinds.values()),
        reasons=reasons,
    )  # fmt: skip
    mutants = ["mutant", "mode", "true loss", "of an event of", "hits", "bound", "found"]
    sound = ["method and mode", "delta", "records", "hits", "bound"]
    attacked = table(mutants, rows[True]) if rows[True] else []
    return [head, *attacked, "The code as it is:", "", *table(sound, rows[False])]


if __name__ == "__main__":
    sys.exit(main())
