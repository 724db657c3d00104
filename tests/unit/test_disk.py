from __future__ import annotations

import copy
import errno
import os
import pickle
import shutil
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest

from hedgerow import disk
from hedgerow.disk import Hold, Room


def test_one_holder_at_a_time(tmp_path: Path) -> None:
    hold = Hold.take(tmp_path / "lock")
    assert hold is not None and Hold.take(tmp_path / "lock") is None
    hold.close()
    hold.close()
    assert list(tmp_path.iterdir()) == []
    again = Hold.take(tmp_path / "lock")
    assert again is not None
    del again
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_was_removed_and_made_anew_is_not_the_one_we_hold(tmp_path: Path) -> None:
    hold = Hold.take(tmp_path / "lock")
    assert hold is not None
    (tmp_path / "lock").unlink()
    other = Hold.take(tmp_path / "lock")
    assert other is not None and Hold.is_held(tmp_path / "lock")
    assert not disk._is_at(hold._handle, tmp_path / "lock")  # type: ignore[arg-type]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_dead_process_holds_nothing_and_a_fork_does_not_let_go(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    if not (pid := os.fork()):
        held = Hold.take(path)
        os.kill(os.getpid() if held else 0, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert path.exists() and not Hold.is_held(path) and not path.exists()
    hold = Hold.take(path)
    if not (pid := os.fork()):
        assert hold is not None
        hold.close()
        os._exit(0)
    os.waitpid(pid, 0)
    assert Hold.is_held(path)


def test_a_copy_of_a_hold_is_none(tmp_path: Path) -> None:
    hold = Hold.take(tmp_path / "lock")
    assert copy.deepcopy(hold) is None and pickle.loads(pickle.dumps(hold)) is None
    assert Hold.is_held(tmp_path / "lock")


def test_room_leaves_no_name_and_is_given_back(tmp_path: Path) -> None:
    room = Room(tmp_path, 1 << 20)
    assert list(tmp_path.iterdir()) == []
    assert room.give_back() and not room.give_back()


@pytest.mark.skipif(os.name == "nt", reason="POSIX limits")
def test_more_than_there_is(tmp_path: Path) -> None:
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
    try:
        Room(tmp_path, 1 << 20)
        with pytest.raises(OSError) as caught:
            Room(tmp_path, (1 << 20) + 1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.errno in disk.FULL


def test_where_nothing_can_be_set_aside_free_space_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: int) -> None:
        raise OSError(errno.EOPNOTSUPP, "no")

    monkeypatch.setattr(os, "posix_fallocate", unknown, raising=False)
    Room(tmp_path, 1 << 20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=(1 << 20) - 1))
    with pytest.raises(OSError) as caught:
        Room(tmp_path, 1 << 20)
    assert caught.value.errno == errno.ENOSPC
