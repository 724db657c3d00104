"""`python -m hedgerow.sample FOLDER` writes the sample, its schema and its taxonomies."""

import argparse
from pathlib import Path

from hedgerow.sample import write


def main() -> None:
    """Parses the command line and writes the files."""
    parser = argparse.ArgumentParser(
        prog="python -m hedgerow.sample",
        description="Write a made-up table about people, with its schema and taxonomies.",
    )
    parser.add_argument("folder", type=Path, help="where to write; made if it is not there")
    parser.add_argument("--rows", type=int, default=8000, help="how many people (default 8000)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other people")
    given = parser.parse_args()
    if given.rows < 0:
        parser.error("--rows must not be negative")
    write(given.folder, rows=given.rows, seed=given.seed)
    print(f"Wrote a made-up table to {given.folder / 'people.csv'} and its schema beside it.")


if __name__ == "__main__":
    main()
