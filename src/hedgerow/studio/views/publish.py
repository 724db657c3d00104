"""The seventh step: what will be spent, a confirmation, and the run."""

from __future__ import annotations

import shutil
from pathlib import Path

from starlette.responses import Response

from hedgerow.errors import UsageError
from hedgerow.studio.app import Asked, go, link
from hedgerow.studio.folder import argument, fresh, inside, look
from hedgerow.studio.jobs import command_text
from hedgerow.studio.steps import Way
from hedgerow.studio.views.budget import method_of
from hedgerow.studio.views.project import accounts_of
from hedgerow.studio.views.unit import doubt, repeated

__all__ = ["run", "show"]

_NAMES = 100  # tries for a name that is free


def show(asked: Asked) -> Response:
    """What would be spent on whom, and where the release would go."""
    from hedgerow.privacy.budget import Budget
    from hedgerow.report.promise import factor

    way = Way.of(asked, "publish")
    text = way.text()
    schema = text.schema()
    method = method_of(way, schema.kind)
    budget = Budget.of(way.get("epsilon", "1"), way.get("delta", "0"))
    return asked.show(
        "publish", way=way, text=text, schema=schema, method=method,
        factor=factor(budget.epsilon), repeated=repeated(text) if schema.unit == "row" else [],
        out=_free(way.root),
        accounts=accounts_of(asked, look(way.root).ledgers),
        command=command_text(_command(asked, way, method, _free(way.root))),
    )  # fmt: skip


def run(asked: Asked) -> Response:
    """Publishes, as `hedgerow publish` does."""
    way = Way.of(asked, "publish")
    text = way.text()
    schema = text.schema()
    method = method_of(way, schema.kind)
    if schema.unit == "row":
        doubt(text, asked)
    if not asked.get("confirmed"):
        raise UsageError(
            "spending has to be confirmed.",
            hint="Tick the box: what is spent cannot be taken back.",
        )
    out = fresh(way.root, asked.get("out"))
    job = asked.studio.jobs.start(
        _command(asked, way, method, argument(way.root, out)),
        step="publish",
        title="Publishing",
        then=link("/release", release=out.name),
        back=way.to("publish"),
        clear=lambda: _clear(out),
    )
    return go("/job", job=job.name)


def _command(asked: Asked, way: Way, method: str, out: str) -> list[str]:
    found = ["publish", way.argument("data"), "--schema", way.argument("schema")]
    found += way.options("delimiter")  # the schema says the rest about the file
    found += ["--method", method, f"--epsilon={way.get('epsilon', '1')}"]
    found += [f"--delta={way.get('delta')}"] if way.get("delta", "0") != "0" else []
    found += ["--out", out]
    ledger, _, dataset = asked.get("account").partition("|")
    if ledger:
        path = inside(way.root, ledger)
        found += ["--ledger", argument(way.root, path), f"--dataset={dataset}"]
        for name in ("recipient", "purpose"):
            words = asked.get(name).strip()
            found += [f"--{name}={words}"] if words else []
    return found


def _free(root: Path) -> str:
    """A name for the release that is not taken."""
    names = ["release", *(f"release-{number}" for number in range(2, _NAMES))]
    return next((name for name in names if not (root / name).exists()), "release-new")


def _clear(out: Path) -> None:
    """Removes what a run leaves that had to be killed; one that was stopped leaves nothing."""
    from hedgerow.release.files import leftovers

    for folder in leftovers(out):
        shutil.rmtree(folder, ignore_errors=True)
