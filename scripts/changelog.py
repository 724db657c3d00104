"""Moves the fragments in changelog.d into CHANGELOG.md: `make changelog VERSION=0.2.0`.

They are added to the end of the section of that version, which is begun at the top if there is
none, and are then removed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import indent

ROOT = Path(__file__).resolve().parents[1]


def as_item(text: str) -> str:
    """A fragment as an item of a list, its lines indented below the first."""
    return "- " + indent(text.strip(), "  ").lstrip() + "\n"


def collected(changelog: str, version: str, fragments: list[str]) -> str:
    r"""The changelog with the fragments in the section of a version.

    Examples:
        >>> before = "# Changelog\n\n## 0.1\n\n- First.\n"
        >>> print(collected(before, "0.2", ["Faster."]), end="")
        # Changelog
        <BLANKLINE>
        ## 0.2
        <BLANKLINE>
        - Faster.
        <BLANKLINE>
        ## 0.1
        <BLANKLINE>
        - First.
        >>> print(collected(before, "0.1", ["Faster.\n\nAnd smaller."])[13:], end="")
        ## 0.1
        <BLANKLINE>
        - First.
        - Faster.
        <BLANKLINE>
          And smaller.
    """
    introduction, *sections = changelog.split("\n## ")
    if not any(section.split(maxsplit=1)[0] == version for section in sections):
        sections.insert(0, f"{version}\n")
    items = "".join(map(as_item, fragments))
    for place, section in enumerate(sections):
        if section.split(maxsplit=1)[0] == version:
            body = section.rstrip("\n")
            gap = "\n" if "\n" in body else "\n\n"  # below an item, or below the heading
            sections[place] = body + gap + items
    return "\n## ".join([introduction, *sections])


def main() -> None:
    """Collects the fragments of this checkout."""
    if len(sys.argv) != 2 or not sys.argv[1][:1].isdigit():
        sys.exit("Which version? make changelog VERSION=0.2.0")
    paths = sorted(path for path in (ROOT / "changelog.d").glob("*.md") if path.stem != "README")
    if not paths:
        sys.exit("There are no fragments in changelog.d.")
    changelog = ROOT / "CHANGELOG.md"
    fragments = [path.read_text(encoding="utf-8") for path in paths]
    text = collected(changelog.read_text(encoding="utf-8"), sys.argv[1], fragments)
    changelog.write_text(text, encoding="utf-8")
    for path in paths:
        path.unlink()
    print(f"Fragments moved into CHANGELOG.md: {len(paths)}")


if __name__ == "__main__":
    main()
