"""`python -m hedgerow` and the command `hedgerow` begin here."""

import sys


def main() -> None:
    """Runs the command line."""
    # Loading takes a moment, in which somebody may think better of it.
    try:
        from hedgerow.cli import main as run
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
