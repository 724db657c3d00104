from __future__ import annotations

from pathlib import Path

import pytest

import hedgerow as hr
from hedgerow.present.answers import KINDS, describe_answer, how_to_read, list_answers

GOLDEN = Path(__file__).parents[2] / "golden"
FOLDERS = ("marginals-tuned-1", "diffmulti-tuned-1", "diffpart-tuned-3", "supermodular-tuned-1")


@pytest.mark.parametrize("folder", FOLDERS)
def test_an_answer_says_how_many_how_sure_and_on_what_basis(folder: str) -> None:
    release = hr.load(GOLDEN / folder)
    everybody = [] if release.kind == "transactions" else "everybody"
    (answer,) = list_answers(release, ["everybody"], [everybody], 0.9)
    lines = describe_answer(release, answer, 0.9)
    assert lines[0].startswith(("about ", "at least "))
    assert any(release.schema.unit_names[1] in line for line in lines)
    assert any("90%" in line for line in lines) and "basis: " in lines[-1]
    assert how_to_read(release, [answer], 0.9)[0].startswith("from")
    assert {*KINDS[release.kind][2]} & {*answer} >= {"estimate", "low"}


def test_what_was_not_measured_or_is_ruled_out_is_said_so() -> None:
    release = hr.load(GOLDEN / "marginals-tuned-1")
    (answer,) = list_answers(release, ["everybody"], ["everybody"], 0.95)
    (line,) = describe_answer(release, answer | {"basis": "ruled out"}, 0.95)
    assert line == f"0 {release.schema.unit_names[1]}, by a rule of the schema"
    first, second = describe_answer(release, answer | {"basis": "not measured"}, 0.95)
    assert first.startswith("not measured: ") and second.startswith("95% interval: ")
    *_, noisy = describe_answer(release, answer | {"reliability": "mostly noise"}, 0.95)
    assert noisy.startswith("mostly noise: ") and not noisy.endswith(".")
