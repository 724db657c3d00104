"""The one door for randomness."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from hedgerow.privacy import keystream
from hedgerow.privacy.keystream import Keystream


def test_a_stream_without_a_seed_is_secure_and_never_the_same() -> None:
    one, other = Keystream(), Keystream()
    assert one.secure
    assert other.secure
    assert one.bits(256) != other.bits(256)


def test_secure_streams_are_keyed_by_the_operating_system(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def urandom(number: int) -> bytes:
        asked.append(number)
        return bytes(number)

    monkeypatch.setattr(keystream.os, "urandom", urandom)
    zero_key = Keystream()
    assert asked == [32]
    # with a known key the words are those of AES-256 in counter mode
    block = Cipher(algorithms.AES(bytes(32)), modes.CTR(bytes(16))).encryptor().update(bytes(16))
    assert zero_key.bits(64) == int.from_bytes(block[:8], "little")
    assert zero_key.bits(64) == int.from_bytes(block[8:], "little")


def test_a_seed_repeats_and_is_not_called_secure() -> None:
    assert not Keystream(seed=0).secure
    assert Keystream(seed=5).bits(999) == Keystream(seed=5).bits(999)
    assert Keystream(seed=5).bits(999) != Keystream(seed=6).bits(999)


@pytest.mark.parametrize("block", [1, 3, 100])
def test_words_do_not_depend_on_refills(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [Keystream(seed=7).bits(n) for n in (1, 64, 65, 5000)]
    monkeypatch.setattr(keystream, "_BLOCK", block)
    assert [Keystream(seed=7).bits(n) for n in (1, 64, 65, 5000)] == whole


def test_a_refill_keeps_what_is_unread_and_at_least_doubles_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(keystream, "_BLOCK", 4)
    stream = Keystream(seed=8)
    stream.refill()
    stream.at[:] = (1, 1)
    rest = stream.words[1:].tolist()
    stream.refill()
    assert stream.words[:3].tolist() == rest
    assert len(stream.words) == 7
    assert stream.at.tolist() == [0, 0]
    stream.refill()
    assert len(stream.words) == 14


def test_no_word_comes_twice() -> None:
    stream = Keystream(seed=9)
    words = [stream.bits(64) for _ in range(3 * keystream._BLOCK // 2)]
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("bound", [1, 2, 3, 10, 2**64 + 1, 10**30])
def test_below_stays_below_and_reaches_everything(bound: int) -> None:
    stream = Keystream(seed=10)
    drawn = [stream.below(bound) for _ in range(2_000)]
    assert all(0 <= value < bound for value in drawn)
    thirds = Counter(3 * value // bound for value in drawn)
    exact = Counter(3 * value // bound for value in range(bound)) if bound < 100 else None
    for third in range(3):
        share = exact[third] / bound if exact else 1 / 3
        slack = 6 * math.sqrt(2_000 * share * (1 - share))
        assert abs(thirds[third] - 2_000 * share) <= slack


def test_bits_are_even() -> None:
    stream = Keystream(seed=11)
    stream.refill()
    ones = np.unpackbits(stream.words.view(np.uint8)).mean()
    assert abs(ones - 0.5) < 6 * math.sqrt(0.25 / (64 * len(stream.words)))


def test_the_first_words_wait_for_leave_to_be_used() -> None:
    seen: list[tuple[bool, int]] = []
    stream = Keystream(
        seed=1, before_use=lambda: seen.append((stream.untouched, len(stream.words)))
    )
    plain = Keystream(seed=1)
    assert [stream.bits(64) for _ in range(3)] == [plain.bits(64) for _ in range(3)]
    while len(seen) < 1 or stream.at[0] < len(stream.words):
        stream.bits(64)
    stream.bits(64)
    assert seen == [(True, 0)]  # once, before there was a word to use


def test_without_leave_nothing_is_drawn() -> None:
    def refuse() -> None:
        raise KeyboardInterrupt

    stream = Keystream(before_use=refuse)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            stream.bits(1)
        assert stream.untouched


def test_a_block_is_a_quarter_of_a_megabyte() -> None:
    stream = Keystream(seed=1)
    stream.refill()
    assert stream.words.nbytes == 1 << 18
