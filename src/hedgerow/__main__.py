"""`python -m hedgerow` and the command `hedgerow` begin here."""

import contextlib
import gc
import os
import sys

from hedgerow.surroundings import forget_folder


def main() -> None:
    """Runs the command line."""
    forget_folder()
    gc.set_threshold(500_000)  # modules are no garbage, and looking through them takes a while
    # pydantic would read the files of every installed package, to look for plugins
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Loading takes a moment, in which somebody may think better of it.
    try:
        from hedgerow.cli import main as run
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        sys.exit(130)
    try:
        run()
    except SystemExit as end:
        if isinstance(end.code, int) and end.code:
            _leave(end.code)
        raise
    finally:
        gc.freeze()  # nor are they at the end, when Python would look through all of them


def _leave(code: int) -> None:
    """Ends at once after an error.

    Reading may have been broken off while threads of Arrow were still at it, and waiting for them
    in the ordinary way sometimes aborts the process with another exit code.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):  # nobody may listen any more
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
