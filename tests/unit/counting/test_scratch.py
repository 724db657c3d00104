from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hedgerow.counting.scratch import Shelf, Spare
from hedgerow.errors import DataError


def block(number: int, size: int = 10) -> np.ndarray:
    return np.full(size, number, dtype=np.uint8)


@pytest.mark.parametrize("allowance", [0, 15, 25, 1000])
def test_blocks_come_back_from_memory_and_disk(allowance: int, tmp_path: Path) -> None:
    shelf = Shelf(allowance, tmp_path)
    for number in range(4):
        shelf.add(block(number))
    assert shelf.bytes_on_disk == 40 - min(4, allowance // 10) * 10
    shelf.save(2, 3, block(9, 2))
    found = np.zeros(10, dtype=np.uint8)
    for number in range(4):
        shelf.load(number, 0, found)
        assert found.tolist() == [9 if number == 2 and i in (3, 4) else number for i in range(10)]
    shelf.load(3, 4, found[:6])
    assert found[:6].tolist() == [3] * 6
    shelf.close()


def test_a_block_that_was_added_is_a_copy() -> None:
    mine = block(1)
    shelf = Shelf(100)
    shelf.add(mine)
    mine[:] = 7
    shelf.load(0, 0, mine)
    assert mine.tolist() == [1] * 10


@pytest.mark.skipif(os.name == "nt", reason="looks at POSIX modes")
def test_a_scratch_file_is_private_and_has_no_name(tmp_path: Path) -> None:
    shelf = Shelf(0, tmp_path)
    shelf.add(block(1))
    assert shelf._file is not None
    about = os.fstat(shelf._file.fileno())
    assert stat.S_IMODE(about.st_mode) == 0o600 and about.st_nlink == 0
    assert list(tmp_path.iterdir()) == []
    shelf.close()


def test_a_full_disk_is_told_in_our_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Shelf, "_write", full)
    with pytest.raises(DataError, match="no room left") as caught:
        Shelf(0).add(block(1))
    assert "--scratch" in str(caught.value)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="no scratch file can be made"):
        Shelf(0, tmp_path / "file").add(block(1))


def test_systems_without_positional_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "preadv", raising=False)
    monkeypatch.delattr(os, "pwrite", raising=False)
    shelf = Shelf(0)
    for number in range(3):
        shelf.add(block(number))
    found = block(0)
    shelf.load(1, 0, found)
    assert found.tolist() == [1] * 10
    shelf.close()


def test_spare_room_is_given_back_to_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spare = Spare(tmp_path)
    spare.keep(1 << 20)
    room, write = spare._room, Shelf._write
    assert room is not None and list(tmp_path.iterdir()) == []

    def crowded(shelf: Shelf, view: Any, offset: int) -> int:
        if room._file is not None:  # as if others had taken all that was not set aside
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(shelf, view, offset)

    monkeypatch.setattr(Shelf, "_write", crowded)
    shelf = Shelf(0, tmp_path, spare)
    shelf.add(block(3))
    found = block(0)
    shelf.load(0, 0, found)
    assert found.tolist() == [3] * 10
    monkeypatch.setattr(Shelf, "_write", lambda *_: os.write(-1, b""))  # neither full nor well
    with pytest.raises(OSError):
        shelf.add(block(1))
    shelf.close()


@pytest.mark.skipif(os.name == "nt", reason="POSIX limits")
def test_room_that_is_not_there(tmp_path: Path) -> None:
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
    try:
        with pytest.raises(DataError, match="no room left"):
            Spare(tmp_path).keep(1 << 21)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="no scratch file can be made"):
        Spare(tmp_path / "file").keep(1)
