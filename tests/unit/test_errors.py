from __future__ import annotations

import pickle

from hedgerow.errors import ReleaseError, UsageError


def test_a_message_writes_out_what_a_terminal_would_obey() -> None:
    error = UsageError("a\x1b[2J\x07\x9b\tb\nc", hint="d\x7f")
    assert error.message == "a\\x1b[2J\\x07\\x9b\\tb\nc"
    assert error.hint == "d\\x7f"
    assert str(error) == f"{error.message}\n  {error.hint}"


def test_a_message_keeps_all_scripts() -> None:
    text = "\u5bb6\u65cf caf\u00e9 \u200d"
    assert str(ReleaseError(text)) == text
    assert ReleaseError(text).hint is None


def test_an_error_survives_the_way_from_another_process() -> None:
    places = [("attributes", "age", "low"), ("epsilon",)]
    error = pickle.loads(pickle.dumps(UsageError("a\x1b", hint="b", places=places)))
    assert (type(error), error.message, error.hint) == (UsageError, "a\\x1b", "b")
    assert list(error.places) == places
