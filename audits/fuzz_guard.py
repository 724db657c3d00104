"""Runs one case: tells our own errors from foreign ones, hangs, and hands that reach too far."""

from __future__ import annotations

import os
import re
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow.errors import DataWarning, HedgerowError

__all__ = ["Failure", "Guard", "limit_memory"]

_OWN = 5  # characters: shorter texts stand in messages by chance
_WORDS = {"false", "other", "values"}  # words of messages
SECONDS = 20  # no case takes a thousandth of this
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f]")
_WRITES = {
    "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.chmod",
    "os.chown", "os.truncate",
    "os.utime", "shutil.rmtree", "shutil.move", "shutil.copyfile",
}  # fmt: skip
_NEVER = {
    "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "subprocess.Popen",
    "socket.connect",
    "socket.getaddrinfo", "pickle.find_class", "urllib.Request", "ctypes.dlopen",
}  # fmt: skip


class _Hang(BaseException):
    pass


@dataclass(frozen=True)
class Failure:
    """What went wrong in a case; two with the same `kind` are taken for the same mistake."""

    kind: str
    words: str


class Guard:
    """Watches cases that may write into one folder alone.

    Args:
        folder: Where cases may write.
        seconds: How long a case may take.
    """

    _now: Guard | None = None
    _hooked = False

    def __init__(self, folder: Path, seconds: float = SECONDS) -> None:
        self.folder = str(folder.resolve())
        self.seconds = seconds
        self.reached: list[str] = []
        self.stops: list[HedgerowError] = []  # the errors of ours that cases ended with
        if not Guard._hooked:  # a hook cannot be taken away again, so there is one
            sys.addaudithook(_audit)
            Guard._hooked = True

    def attempt(self, run: Callable[[Any], Any], case: Any) -> Failure | None:
        """Runs a case; None if it ended well or with an error of ours."""
        self.reached.clear()
        try:
            with self._watching():
                run(case)
        except HedgerowError as error:
            self.stops.append(error)
            found = _CONTROL.search(str(error))
            if found is not None:
                kind = f"{type(error).__name__} that holds a control character"
                return Failure(f"{kind} {_place(error)}", f"{kind}: {str(error)[:300]!r}")
            if any(text in str(error) for text in _texts(case)):
                kind = f"{type(error).__name__} that quotes a value"
                return Failure(f"{kind} {_place(error)}", f"{kind}: {str(error)[:300]!r}")
        except _Hang as error:
            return Failure(f"hang {_place(error)}", f"hangs {_place(error)}")
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            place = _place(error)
            return Failure(
                f"{type(error).__name__} {place}",
                f"{type(error).__name__} {place}: {str(error)[:300]!r}",
            )
        if self.reached:
            return Failure(
                f"reach {self.reached[0].split()[0]}", f"reaches too far: {self.reached[0]}"
            )
        return None

    @contextmanager
    def _watching(self) -> Iterator[None]:
        def late(*_: Any) -> None:
            raise _Hang

        before = signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)
        Guard._now = self
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)  # numbers that overflow
                warnings.simplefilter("ignore", DataWarning)
                yield
        finally:
            Guard._now = None
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def look(self, event: str, details: tuple[Any, ...]) -> None:
        """Notes what should not happen."""
        if event == "ctypes.dlopen" and "llvmlite" in str(details[0]):
            return  # numba compiles a kernel for the first time
        if event in _NEVER:
            self.reached.append(f"{event} {details[:2]!r}")
        elif event == "open":
            path, mode, flags = details
            written = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
            if written or (isinstance(mode, str) and set(mode) & set("wax+")):
                self._may_write(event, path)
        elif event in _WRITES:
            self._may_write(event, details[0])

    def _may_write(self, event: str, path: Any) -> None:
        if isinstance(path, (str, bytes)):
            name = os.path.realpath(os.fsdecode(path))
            cache = name.endswith((".nbi", ".nbc")) or "__pycache__" in name
            if not cache and not name.startswith((self.folder + os.sep, os.devnull)):
                self.reached.append(f"{event} {name!r}")


def _texts(case: Any) -> Iterator[str]:
    """What a record that was put in says, as far as it is long enough to be its own words."""
    values = getattr(case, "values", ())
    if isinstance(content := getattr(case, "content", None), bytes):
        values = re.split("[,;\t|\r\n]", content.decode("utf-8", "replace"))
    for value in values if isinstance(values, (tuple, list)) else ():
        try:
            text = str(value).strip()
        except Exception:
            continue
        if len(text) >= _OWN and text.isprintable() and text not in _WORDS:
            yield text


def _audit(event: str, details: tuple[Any, ...]) -> None:
    guard = Guard._now
    if guard is None or not (event == "open" or event in _WRITES or event in _NEVER):
        return
    if event == "pickle.find_class" and _loading_a_kernel():
        return
    guard.look(event, details)


def _loading_a_kernel() -> bool:
    """Whether numba is reading its own cache of compiled loops, which no case has written."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename.endswith(os.path.join("numba", "core", "caching.py")):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _place(error: BaseException) -> str:
    """The innermost line of ours that an error came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if f"{os.sep}hedgerow{os.sep}" in frame.filename]
    frame = (ours or frames)[-1]
    return f"in {Path(frame.filename).name}:{frame.lineno} ({frame.name})"


def limit_memory(more: int = 6 << 30) -> None:
    """Makes what would fill the memory a MemoryError in this process instead."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard < 0 else min(limit, hard), hard))
