"""Answers that are taken up again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hedgerow.cli.asking import answers_file, ask_for_schema
from hedgerow.draft.draft import ItemSketch
from hedgerow.errors import ReleaseError
from hedgerow.schema import Schema


def sketch(label: str) -> ItemSketch:
    labels = [f"{label}{n}" for n in range(60)]  # more than a proposal writes out
    return ItemSketch(title="shop", labels=labels, what="shop.parquet", column="items")


def test_a_sign_off_is_not_taken_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was given for items that were seen then; there may be others in the data now."""
    out = tmp_path / "shop.yaml"
    kept = answers_file(out)

    def fail(*_: object, **__: object) -> None:
        raise ReleaseError("the disk is full")

    replies = iter(["no", "", "", "", "", "", "Ann"])  # the unit, the proposals, and a name
    with monkeypatch.context() as broken, pytest.raises(ReleaseError):
        broken.setattr("builtins.input", lambda: next(replies))
        broken.setattr("hedgerow.cli.asking.write_text", fail)
        ask_for_schema(lambda person: sketch("tea"), out, overwrite=False, data="shop.parquet")
    assert not list(replies) and kept.stat().st_mode & 0o777 == 0o600
    assert "universe" in json.loads(kept.read_text(encoding="utf-8"))["answers"]
    replies = iter([""])  # to sign or not, once more
    monkeypatch.setattr("builtins.input", lambda: next(replies))
    ask_for_schema(lambda person: sketch("secret"), out, overwrite=False, data="shop.parquet")
    assert not list(replies) and not kept.exists()
    assert Schema.load(out).is_draft
