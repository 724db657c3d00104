from __future__ import annotations

import os
from pathlib import Path

import pytest

from hedgerow.errors import ReleaseError
from hedgerow.release import Release
from hedgerow.release.files import Target


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_one_run_alone_writes_to_a_folder(tree_release, tmp_path):
    target = Target(tmp_path / "r", room=1 << 20)
    (tmp_path / "link").symlink_to(tmp_path / "r")
    for same in (tmp_path / "r", tmp_path / "link", tmp_path / "s" / ".." / "r"):
        with pytest.raises(ReleaseError, match="another run"):
            tree_release.save(same)
    tree_release.save(tmp_path / "other")  # which is nobody's
    tree_release.save(target)
    target.close()
    assert names(tmp_path) == ["link", "other", "r"]
    assert Release.load(tmp_path / "r") == tree_release


def test_a_release_that_came_meanwhile_is_not_replaced(tree_release, grid_release, tmp_path):
    target = Target(tmp_path / "r")
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "thesis.txt").write_text("years of work")
    with pytest.raises(ReleaseError, match="left alone"):
        tree_release.save(target, overwrite=True)
    target.close()
    assert names(tmp_path) == ["r"] and names(tmp_path / "r") == ["thesis.txt"]


def test_what_was_made_for_nothing_is_removed(tmp_path):
    (tmp_path / "there").mkdir()
    target = Target(tmp_path / "there" / "deep" / "down" / "r")
    assert names(tmp_path / "there" / "deep" / "down") == [".r.lock"]
    target.close()
    assert names(tmp_path) == ["there"] and names(tmp_path / "there") == []


@pytest.mark.skipif(os.name == "nt", reason="POSIX limits")
def test_a_disk_without_room_is_told_before_anything_is_spent(tmp_path):
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
    try:
        with pytest.raises(ReleaseError, match="may take 67 MB"):
            Target(tmp_path / "deep" / "r", room=1 << 26)
        assert names(tmp_path) == []
        Target(tmp_path / "r", room=1 << 20).close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that refuses root too")
def test_a_folder_that_cannot_be_written(tmp_path):
    with pytest.raises(ReleaseError, match="cannot write"):
        Target("/proc/self/r")
    (tmp_path / "file").touch()
    with pytest.raises(ReleaseError, match="is a file"):
        Target(tmp_path / "file" / "r")


def test_a_release_does_not_go_into_another_one(tree_release, tmp_path):
    tree_release.save(tmp_path / "r")
    (tmp_path / "link").symlink_to(tmp_path / "r")
    for inside in (tmp_path / "r" / "new", tmp_path / "link" / "deep" / "new"):
        with pytest.raises(ReleaseError, match="folder of another release"):
            Target(inside)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "manifest.json").write_text("{}")  # other programs have such files too
    tree_release.save(tmp_path / "site" / "new")
    assert Release.load(tmp_path / "r") == Release.load(tmp_path / "site" / "new") == tree_release


def test_a_target_knows_whether_a_release_was_put_there(tree_release, grid_release, tmp_path):
    for release in (tree_release, grid_release):
        target = Target(tmp_path / "r", overwrite=True)
        assert not target.is_filled()
        release.save(target)
        assert target.is_filled()
        target.close()
