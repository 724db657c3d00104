"""`python -m hedgerow.sample FOLDER` writes the sample, its schema and its taxonomies."""

import argparse
import sys
from pathlib import Path
from typing import NoReturn

from hedgerow.errors import UsageError
from hedgerow.sample import write
from hedgerow.surroundings import forget_folder


def main() -> None:
    """Parses the command line and writes the files."""
    forget_folder()
    parser = argparse.ArgumentParser(
        prog="python -m hedgerow.sample",
        description="Write a simulated table of people and simulated transactions, with schemas.",
    )
    parser.add_argument("folder", type=Path, help="where to write; made if it is not there")
    parser.add_argument("--rows", type=int, default=8000, help="how many people (default 8000)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other people")
    parser.add_argument("--overwrite", action="store_true", help="replace files that are there")
    given = parser.parse_args()
    try:
        write(given.folder, rows=given.rows, seed=given.seed, overwrite=given.overwrite)
    except UsageError as error:
        _leave(str(error), error.exit_code)
    except OSError as error:
        reason = error.strerror or "the system refused"
        _leave(f"{given.folder} cannot be written: {reason}\n  Name another folder.", 1)
    except KeyboardInterrupt:
        sys.exit(130)
    print(
        f"Wrote a simulated table to {given.folder / 'people.csv'} and simulated transactions to "
        f"{given.folder / 'baskets.dat'}, with their schemas beside them."
    )


def _leave(words: str, code: int) -> NoReturn:
    print(f"Error: {words}", file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
