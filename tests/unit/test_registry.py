"""The registry of methods and scores: names first, imports when they are asked for."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

import hedgerow
from hedgerow.audit import AUDITED, audit
from hedgerow.errors import UsageError
from hedgerow.methods.publisher import Publisher
from hedgerow.methods.scores import Score
from hedgerow.registry import METHODS, OURS, SCORES, Method, Registry, _Methods, for_data, load
from hedgerow.verification.rules import Rules


@pytest.mark.parametrize("name", OURS)
def test_every_path_of_an_entry_leads_somewhere(name: str) -> None:
    entry = METHODS[name]
    kind = load(entry.settings)
    assert issubclass(kind, Publisher) and kind.name == name
    assert getattr(hedgerow, kind.__name__) is kind
    rules = load(entry.rules)
    assert all(isinstance(one, Rules) for one in rules.values())
    made = {kind(schedule=word).schedule_name if "schedule" in kind.__dataclass_fields__
            else kind().schedule_name for word in kind.versions}  # fmt: skip
    assert made <= set(rules), "a schedule that publishes has no rules"
    assert load(entry.audited)[0] is AUDITED[name]


@pytest.mark.parametrize("name", ["max", "ncp", "discernibility", "gini", "infogain", "purity"])
def test_every_score_has_its_own_name(name: str) -> None:
    assert isinstance(SCORES[name], Score) and SCORES[name].name == name


def test_names_cost_no_import() -> None:
    code = (
        "import sys\n"
        "from hedgerow.registry import METHODS, SCORES\n"
        "assert list(METHODS) and list(SCORES) and METHODS['diffgen'].words\n"
        "sys.exit(', '.join({'numpy', 'numba', 'hedgerow.methods'} & set(sys.modules)) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", ["DiffMulti", "DiffGen", "CDiffGen"])
def test_an_unknown_score_is_refused_by_settings(kind: str) -> None:
    with pytest.raises(UsageError, match="score cannot be 'beauty'") as found:
        getattr(hedgerow, kind)(score="beauty")
    assert "discernibility" in str(found.value.hint)


def test_what_is_unknown_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="no method 'abacus'") as found:
        METHODS["abacus"]
    assert "marginals, diffmulti" in str(found.value.hint)
    with pytest.raises(UsageError, match="no score 'beauty'") as found:
        SCORES["beauty"]
    assert "max, ncp" in str(found.value.hint)
    with pytest.raises(UsageError, match="no audit of 'abacus'") as found:
        audit("abacus")
    assert "diffpart" in str(found.value.hint)


def registry(monkeypatch: pytest.MonkeyPatch, *points: tuple[str, str]) -> Registry:
    """Our methods, and those of packages that are not there."""
    added = [EntryPoint(name, path, "hedgerow.methods") for name, path in points]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: added)
    return _Methods("method", "hedgerow.methods", OURS)


def test_a_module_will_do_as_an_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    made: Any = type(sys)("made_up_entry")
    for name, value in OURS["diffgen"].__dict__.items():
        setattr(made, name, value)
    monkeypatch.setitem(sys.modules, "made_up_entry", made)
    found = registry(monkeypatch, ("ours too", "made_up_entry"))
    assert isinstance(found["ours too"], Method) and found["ours too"] == OURS["diffgen"]
    assert list(found)[-1] == "ours too" and len(found) == len(OURS) + 1


def test_our_names_cannot_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    found = registry(monkeypatch, ("diffgen", "fractions:Fraction"))
    assert found["diffgen"] is OURS["diffgen"] and len(found) == len(OURS)


def test_what_cannot_be_loaded_is_refused_when_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = registry(
        monkeypatch, ("gone", "no_such_module:METHOD"), ("odd", "fractions:Fraction"),
        ("twice", "one:METHOD"), ("twice", "other:METHOD"),
    )  # fmt: skip
    assert {"gone", "odd", "twice"} <= set(found)
    for name in ("gone", "odd"):
        with pytest.raises(UsageError, match=f"{name!r} of an installed package cannot be loaded"):
            found[name]
    with pytest.raises(UsageError, match="Several installed packages"):
        found["twice"]
    monkeypatch.setattr("hedgerow.registry.METHODS", found)
    assert for_data("table")[0] == "marginals"


def test_a_score_may_be_given_itself() -> None:
    """As in a notebook; it is known by its name for the session, and may be written anew."""
    from dataclasses import replace

    import hedgerow as hr

    mine: Score = replace(SCORES["max"], name="mine")
    people, schema = hr.sample.people(300, seed=1), hr.sample.schema()
    for _ in range(2):
        method = hr.DiffGen(score=mine, specializations=2)  # type: ignore[arg-type]
        release = hr.publish(people, schema, method, epsilon=4, seed=2)
        same = hr.publish(people, schema, hr.DiffGen(score="max", specializations=2), 4, seed=2)
    assert release.settings["score"] == "mine"
    assert release.to_arrow().equals(same.to_arrow())
    failed = {check.name for check in hr.verify(release).checks if not check.ok}
    assert failed == {"private"}
    with pytest.raises(UsageError, match="already"):
        hr.DiffGen(score=replace(mine, name="max"))  # type: ignore[arg-type]


def test_what_authors_need_is_in_one_place() -> None:
    """Each name leads to what a type checker sees."""
    from hedgerow import extend

    text = Path(extend.__file__).read_text("utf-8")
    seen = re.findall(r"^    from (\S+) import (\w+) as ", text, re.M)
    assert sorted(name for _, name in seen) == dir(extend)
    for room, name in seen:
        assert getattr(extend, name) is getattr(import_module(room), name)
    with pytest.raises(AttributeError):
        extend.Nothing  # type: ignore[attr-defined]  # noqa: B018
