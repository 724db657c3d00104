"""Reads what a person replies to a question about a column: bounds, values, groups, names."""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hedgerow.errors import UsageError
from hedgerow.schema.attributes import Numeric, attribute_faults, read_numeric
from hedgerow.schema.taxonomy_files import built_in
from hedgerow.schema.yaml_text import label_fault

_BOUNDS = re.compile(
    r"(?P<low>\S+)\s+(?:to|-|until|\.\.)\s+(?P<high>\S+)(?:,?\s+(?:step|by)\s+(?P<step>\S+))?"
)
_FILE = re.compile(r"\S.*\.(csv|txt|ya?ml|json)", re.IGNORECASE)
_LABELED = re.compile(r"(.*\S)\s+=\s+(\S.*)")
_TIGHT = re.compile(r"([^\s=<>!][^=<>!]*?)\s*=\s*([^\s=][^=]*)")  # F=Female, but not <=50K


@dataclass(frozen=True, kw_only=True)
class Values:
    """The values of a column: listed, or those of a taxonomy that is named or written out."""

    labels: Sequence[str] = ()
    recode: Mapping[str, str] = field(default_factory=dict)
    taxonomy: str = ""
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)


def join(texts: Sequence[str]) -> str:
    """Texts in one line, with quotes where they hold a comma.

    Example:
        >>> join(["a", "b, c"]), split('a, "b, c"')
        ('a, "b, c"', ['a', 'b, c'])
    """
    shown = []
    for text in texts:
        line = io.StringIO()
        csv.writer(line).writerow([text])
        shown.append(line.getvalue().rstrip("\r\n"))
    return ", ".join(shown)


def split(line: str) -> list[str]:
    """The texts of a line: the reverse of `join`."""
    row = next(csv.reader([line], skipinitialspace=True), [])
    return [text.strip() for text in row if text.strip()]


def to_lines(reply: str) -> str:
    r"""A reply about values with a line for each of them, or for each group.

    Example:
        >>> to_lines('a, "b, c"'), from_lines("a\nb, c")
        ('a\nb, c', 'a, "b, c"')
        >>> to_lines("North: a, b; South: c"), from_lines("North: a, b\nSouth: c")
        ('North: a, b\nSouth: c', 'North: a, b; South: c')
    """
    groups = _groups(reply)
    return "\n".join(map(str.strip, groups) if groups else split(reply))


def from_lines(text: str) -> str:
    """The reply that lines stand for: the reverse of `to_lines`. One line is a reply itself."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) < 2:
        return "".join(lines)
    grouped = all(":" in line for line in lines) and any("," in line for line in lines)
    return "; ".join(lines) if grouped else join(lines)


def _groups(text: str) -> list[str]:
    """The groups of a reply such as `North: a, b; South: c`; none if it is another one."""
    parts = text.strip().strip(";").split(";")
    return parts if ";" in text and all(":" in part for part in parts) else []


def read_names(reply: str, default: Sequence[str], known: Sequence[str]) -> list[str]:
    """Some names of columns, in their order: all that are meant, or changes by + and -.

    Raises:
        UsageError: If there is no such column.

    Example:
        >>> read_names("b, c", ["a"], "abc"), read_names("+c, -a", ["a", "b"], "abc")
        (['b', 'c'], ['b', 'c'])
    """
    parts = [] if reply.casefold() == "none" else split(reply)
    changes = [part for part in parts if part not in known and part[:1] in "+-"]
    chosen = {part for part in parts if part not in changes} | (set(default) if changes else set())
    chosen |= {part[1:].strip() for part in changes if part[0] == "+"}
    chosen -= {part[1:].strip() for part in changes if part[0] == "-"}
    for name in [*chosen, *(part[1:].strip() for part in changes)]:
        if name not in known:
            raise UsageError(
                f"There is no column {name!r}.",
                hint='Separate names by commas, and put quotes around one with a comma: a, "b, c".',
            )
    return [name for name in known if name in chosen]


def read_bounds(reply: str, dates: bool) -> dict[str, str]:
    """The keys `low`, `high` and `step` of a reply such as `0 to 120 step 1`.

    Raises:
        UsageError: If it does not say that, or no grid has such bounds.

    Example:
        >>> read_bounds("0 to 120", dates=False)
        {'low': '0', 'high': '120', 'step': '1'}
    """
    match = _BOUNDS.fullmatch(reply.strip())
    example = "2000-01-01 to 2029-12-31 step 7" if dates else "0 to 120 step 1"
    hint = f"Write, for example, {example}."
    if match is None:
        raise UsageError("These are not bounds.", hint=hint)
    numeric = read_numeric("", match.groupdict())
    for _, what, way in (
        attribute_faults(numeric, False) if isinstance(numeric, Numeric) else numeric
    ):
        raise UsageError(f"{what[:1].upper()}{what[1:]}.", hint=way)
    if dates != (isinstance(numeric, Numeric) and numeric.kind == "date"):
        raise UsageError(f"These are not {'dates' if dates else 'numbers'}.", hint=hint)
    return {"low": match["low"], "high": match["high"], "step": match["step"] or "1"}


def read_values(reply: str) -> Values:
    """Values in a list, codes with labels, groups of values, or the name of a taxonomy.

    Raises:
        UsageError: If it is none of these.

    Example:
        >>> read_values("a, b").labels, read_values("1 = home, 2 = ward").recode
        (['a', 'b'], {'1': 'home', '2': 'ward'})
        >>> read_values("F=Female, f=Female").recode
        {'F': 'Female', 'f': 'Female'}
        >>> read_values("icd-9-cm").taxonomy, read_values("North: a, b; South: c").groups
        ('icd-9-cm', {'North': ['a', 'b'], 'South': ['c']})
    """
    text = reply.strip()
    if text in built_in() or _FILE.fullmatch(text):
        return Values(taxonomy=text)
    pairs = [part.partition(":") for part in _groups(text)]
    if pairs:
        groups = {name.strip(): split(below) for name, _, below in pairs}
        _check([*groups, *(label for below in groups.values() for label in below)])
        return Values(groups=groups)
    labels = split(text)
    matches = [_LABELED.fullmatch(label) or _TIGHT.fullmatch(label) for label in labels]
    if any(matches) and not all(matches):
        alone = labels[matches.index(None)]
        raise UsageError(
            f"Some values have labels, and {alone!r} has none.",
            hint=f"Write {alone} = {alone}, or a label for it after the sign.",
        )
    if labels and all(matches):
        recode = {match[1]: match[2] for match in matches if match}
        _check([match[1] for match in matches if match])
        labels = list(dict.fromkeys(recode.values()))
        rules = {rule: leaf for rule, leaf in recode.items() if rule != leaf}
        return Values(labels=labels, recode=rules)
    _check(labels)
    return Values(labels=labels)


def revise(reply: str, default: str) -> str:
    """A reply about values in full, if it only says what changes in the proposal.

    Args:
        reply: What a person wrote: `+x` adds a value or a code with its label, `-x` takes one away.
        default: The proposal. Its own values that begin with a sign are no changes.

    Example:
        >>> revise("+c, -a", "a, b"), revise("+2 = ward", "1 = home"), revise("-1, 1", "-1, 0")
        ('b, c', '1 = home, 2 = ward', '-1, 1')
    """
    known, parts = split(default), split(reply)
    names = [label.partition(" = ")[0] for label in known]
    added = [part[1:].strip() for part in parts if part[0] == "+" and part not in names]
    gone = [part[1:].strip() for part in parts if part[0] == "-" and part[1:].strip() in names]
    if not parts or not known or len(added) + len(gone) < len(parts) or "" in added:
        return reply
    kept = [label for label, name in zip(known, names, strict=True) if name not in gone]
    return join([*kept, *(one for one in added if one not in kept)])


def complete_groups(reply: str, values: Sequence[str]) -> str:
    """A reply about groups in full: each value is in one of them, and `*` means all others.

    Args:
        reply: What a person wrote; a list or a file by name stays what it is.
        values: The values that there are.

    Raises:
        UsageError: If a value is in no group, or something in a group is not a value.

    Example:
        >>> complete_groups("Vowels: a; Others: *", ["a", "b", "c"])
        'Vowels: a; Others: b, c'
    """
    groups = read_values(reply).groups
    if not groups:
        if read_values(reply).taxonomy:
            return reply
        raise UsageError("These are not groups.", hint="Write North: a, b; South: *, or none.")
    listed = [label for below in groups.values() for label in below]
    strange = [label for label in listed if label not in (*values, "*")]
    if strange:
        close = difflib.get_close_matches(strange[0], values, 1)
        meant = f"Did you mean {close[0]!r}? " if close else ""
        raise UsageError(
            f"{strange[0]!r} is not one of the values.",
            hint=f"{meant}Write the values as they were listed; back returns to the list.",
        )
    others = [label for label in values if label not in listed]
    if others and "*" not in listed:
        raise UsageError(
            f"In no group: {join(others)}.",
            hint="Put them into one; * means all others: North: a, b; South: *.",
        )
    complete = {
        name: [one for label in below for one in (others if label == "*" else [label])]
        for name, below in groups.items()
    }
    return "; ".join(f"{name}: {join(below)}" for name, below in complete.items() if below)


def omissions(reply: str, seen: Sequence[str]) -> list[str]:
    """Values of the data that a reply about values does not name; none if it names a taxonomy.

    Example:
        >>> omissions("a, b", ["a", "c"]), omissions("1 = home", ["1"])
        (['c'], [])
    """
    said = read_values(reply)
    if said.taxonomy:
        return []
    grouped = [label for below in said.groups.values() for label in below]
    return [one for one in seen if one not in (*said.labels, *said.recode, *grouped)]


def is_labeled(text: str) -> bool:
    """Whether a reply of this text would be a code and its label, such as `F=Female`."""
    return bool(_LABELED.fullmatch(text) or _TIGHT.fullmatch(text))


def _check(labels: Sequence[str]) -> None:
    repeated = next((label for label in labels if labels.count(label) > 1), None)
    wrong = next((fault for label in labels if (fault := label_fault(label)) is not None), None)
    if not labels or repeated is not None or wrong is not None:
        what = "There are no values." if not labels else f"{repeated!r} is there twice."
        raise UsageError(
            what if wrong is None else f"A value is not fit: {wrong[0]}.",
            hint="Write all values there could be, separated by commas; or codes with labels "
            "(1 = home, 2 = ward), groups (North: a, b; South: c), or a list or file by name.",
        )
