"""Being told to stop: everything a run has begun is cleared away before it ends."""

from __future__ import annotations

import signal
from types import FrameType
from typing import NoReturn

__all__ = ["INTERRUPTED", "Stopped", "heed_signals"]

INTERRUPTED = 130  # what a shell reports for a command that was stopped with Ctrl-C


class Stopped(KeyboardInterrupt):
    """A signal other than Ctrl-C asked the command to end.

    Args:
        number: The signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.exit_code = 128 + number  # as a shell reports it


def heed_signals() -> None:
    """Treats a closed terminal and a polite kill like Ctrl-C.

    Their own effect would be to end the process on the spot, and a half-written release would stay
    behind. What is ignored on purpose, as under nohup, stays ignored.
    """
    for name in ("SIGTERM", "SIGHUP"):  # not every system has both
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _stop)


def _stop(number: int, _: FrameType | None) -> NoReturn:
    # The second of two signals, as a closing session sends them, must not disturb the clearing.
    for name in ("SIGTERM", "SIGHUP"):
        other = getattr(signal, name, None)
        if other is not None and signal.getsignal(other) is _stop:
            signal.signal(other, signal.SIG_IGN)
    raise Stopped(number)
