"""The one door for randomness: an AES-256-CTR keystream, handed out as 64-bit words.

Secure streams are keyed by the operating system. A seeded stream exists for tests alone; a release
drawn from it says that it is not private.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from hedgerow.arrays import Ints, Words

_BLOCK = 1 << 15  # words per refill


def unique_id() -> str:
    """128 random bits that name something; they hide nothing and no noise is made of them.

    Example:
        >>> len(unique_id())
        32
    """
    return os.urandom(16).hex()


class Keystream:
    """A buffer of random words that kernels read and this class refills.

    Kernels take `words` and `at`: `at[0]` is the next unread word and `at[1]` is set once a kernel
    wanted more than there was. The kernel then rewinds to the last whole draw, and `refill` keeps
    what is unread, so that what is drawn does not depend on how work was cut into batches.

    Args:
        seed: None for a secure stream; a number for a repeatable, NOT private one.
        before_use: Called once, when the first words have been made and nobody has seen them. If
            it raises, they are dropped and the stream is untouched.

    Example:
        >>> Keystream(seed=1).below(10) == Keystream(seed=1).below(10)
        True
    """

    def __init__(
        self, seed: int | None = None, before_use: Callable[[], None] | None = None
    ) -> None:
        self.secure = seed is None
        key = os.urandom(32) if seed is None else hashlib.sha256(b"test seed %d" % seed).digest()
        # a fresh key never meets a second nonce, so a constant one is sound
        self._encryptor = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
        self._before_use = before_use
        self.words: Words = np.empty(0, dtype=np.uint64)
        self.at: Ints = np.zeros(2, dtype=np.int64)

    @property
    def untouched(self) -> bool:
        """Whether nothing was ever drawn: no word was handed out yet."""
        return len(self.words) == 0

    def refill(self) -> None:
        """Drops what was read, keeps the rest, and at least doubles the rest."""
        rest = self.words[self.at[0] :]
        fresh = self._make(max(_BLOCK, len(rest)))
        if self._before_use is not None:
            self._before_use()
            self._before_use = None
        self.words = np.concatenate([rest, np.frombuffer(fresh, dtype="<u8").astype(np.uint64)])
        self.at[:] = 0

    def _make(self, number: int) -> bytes:
        """So many fresh words."""
        return self._encryptor.update(bytes(8 * number))

    def bits(self, number: int) -> int:
        """A uniform integer of so many bits."""
        value = 0
        for _ in range(-(-number // 64)):
            if self.at[0] >= len(self.words):
                self.refill()
            value = value << 64 | int(self.words[self.at[0]])
            self.at[0] += 1
        return value >> (-number % 64)

    def below(self, bound: int) -> int:
        """A uniform integer in [0, bound), of any size."""
        while True:
            value = self.bits((bound - 1).bit_length())
            if value < bound:
                return value
