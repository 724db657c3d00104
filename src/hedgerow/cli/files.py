"""Single files that commands write: never half of one, never over another unasked."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from hedgerow.errors import ReleaseError, UsageError


def refuse_existing(path: Path, overwrite: bool, option: str = "--out") -> None:
    """Raises if something is there already, so that long work is not begun in vain.

    Args:
        path: The file that would be written.
        overwrite: Whether the user asked for it to be replaced.
        option: The option that names it.
    """
    if path.is_dir():
        raise ReleaseError(f"{path} is a folder, not a file.", hint=f"Name a file with {option}.")
    if not overwrite and (path.exists() or path.is_symlink()):
        raise ReleaseError(
            f"{path} is there already.", hint=f"Choose another {option}, or add --overwrite."
        )


def check_place(
    path: Path | None, overwrite: bool, option: str = "--out", release: Path | None = None
) -> None:
    """Raises if a file must not be written where it would be.

    A release with other files than its own no longer passes `hedgerow verify`. Whoever gives a
    release away would also give away what lies in its folder, or below it.

    Args:
        path: The file that would be written, if one would be.
        overwrite: Whether it may be replaced.
        option: The option that names it.
        release: The release whose folder it must not lie in; without it, that of any release.
    """
    if path is None:
        return
    folder = path.parent.resolve()
    for above in (folder, *folder.parents):
        if _is_release(above) if release is None else is_same(above, release):
            raise UsageError(
                f"{path} lies in the folder of the release, which must hold nothing else.",
                hint=f"Name a file in another folder with {option}.",
            )
    refuse_existing(path, overwrite, option)


def _is_release(folder: Path) -> bool:
    from hedgerow.release.files import MANIFEST, read_manifest

    if os.path.lexists(folder / MANIFEST):
        with suppress(ReleaseError):  # it may be another program's
            read_manifest(folder)
            return True
    return False


def is_same(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file or folder that is there, however they are spelled."""
    try:
        return one.samefile(other)
    except OSError:
        return False


@contextmanager
def whole_file(
    path: Path, overwrite: bool, option: str = "--out", *, private: bool
) -> Iterator[Path]:
    """Gives a temporary path beside the target and moves it there once the block has ended well.

    Args:
        path: The file to write.
        overwrite: Whether to replace it if it is there.
        option: The option that names it.
        private: Whether nobody but its owner may read it, as whatever is marked NOT PRIVATE.
    """
    refuse_existing(path, overwrite, option)
    try:
        handle, name = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix
        )
    except OSError as error:
        raise _unwritable(path, error, option) from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        mask = os.umask(0o077)  # it can only be read by setting it
        os.umask(mask)
        temporary.chmod(0o600 if private else 0o666 & ~mask)
        temporary.replace(path)
    except OSError as error:
        raise _unwritable(path, error, option) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str, overwrite: bool, *, private: bool) -> None:
    """Writes a whole text file or none; a private one is readable for its owner alone."""
    with whole_file(path, overwrite, private=private) as temporary:
        temporary.write_text(text, encoding="utf-8")


def table_writer(out: Path, others: tuple[str, ...] = ()) -> Callable[[Any, Path], None]:
    """The function that writes an Arrow table to a file of this kind.

    Args:
        out: The file; its name says what kind it is.
        others: Other kinds that the caller writes itself.

    Raises:
        UsageError: If the name says nothing.
    """
    name = out.name.lower()
    if name.endswith((".parquet", ".csv", ".csv.gz")):
        return _write_rows
    raise UsageError(
        f"{out} does not say what kind of file to write.",
        hint=f"Let it end in {', '.join(('.csv', '.csv.gz', *others))} or .parquet.",
    )


def _unwritable(path: Path, error: OSError, option: str) -> ReleaseError:
    return ReleaseError(
        f"{path} cannot be written: {error.strerror or 'the disk refused'}.",
        hint=f"Choose another place with {option}, or free some space; nothing was left behind.",
    )


def _write_rows(rows: Any, path: Path) -> None:
    import pyarrow as pa
    from pyarrow import csv, parquet

    if path.name.lower().endswith(".parquet"):
        parquet.write_table(rows, path)
        return
    kind = "gzip" if path.name.endswith(".gz") else None
    with pa.output_stream(str(path), compression=kind) as stream:
        csv.write_csv(rows, stream)
