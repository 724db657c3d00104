"""`python -m hedgerow` and the command `hedgerow` begin here."""

import os
import sys

from hedgerow.surroundings import forget_folder


def main() -> None:
    """Runs the command line."""
    forget_folder()
    # pydantic would read the files of every installed package, to look for plugins
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Loading takes a moment, in which somebody may think better of it.
    try:
        from hedgerow.cli import main as run
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
