"""What the library says about a schema file, in the words of the studio's forms."""

from __future__ import annotations

__all__ = ["in_the_form"]

_IN_THE_FORM = {  # what a draft tells somebody to write, and what the form has for it
    "drop it by {role: identifier}": "choose that it is left out",
    "write {role: identifier}": "choose that it is left out",
    "write {role: person, max_rows: 3} with a cap of your choice": "say so on the page Unit",
    "may count (max_rows), and write `unit: person` above": "may count, on the page Unit",
}


def in_the_form(words: str) -> str:
    """The same with what to choose in the form in the place of what to write in a file.

    Example:
        >>> in_the_form("Does it number people? Then write {role: identifier}.")
        'Does it number people? Then choose that it is left out.'
    """
    for written, chosen in _IN_THE_FORM.items():
        words = words.replace(written, chosen)
    return words
