"""The YAML text of columns in a draft."""

from __future__ import annotations

import datetime
import json
import re
import textwrap
from collections.abc import Mapping, Sequence

from hedgerow.schema.attributes import Layout
from hedgerow.schema.lint import RESERVED

__all__ = ["SIGNED", "entry", "file_lines", "head_lines", "key_of", "wrapped"]

_WIDTH = 94  # of comments
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
SIGNED = """\
# Bounds and values were proposed from PRIVATE data, and confirmed as public knowledge by the
# reviewer below: anybody could have written them who never saw the data.
"""
_SHORT = 60  # characters of all values, up to which they stand in one line


def entry(
    name: str,
    settings: Mapping[str, str],
    labels: Sequence[str] = (),
    recode: Mapping[str, str] | None = None,
    comment: str = "",
) -> list[str]:
    r"""The lines of one column.

    Args:
        name: Its name.
        settings: Its keys, whose values are YAML already.
        labels: The values, if they are listed.
        recode: Rules that lead to values.
        comment: What is said above it.

    Example:
        >>> print(*entry("sex", {"type": "categorical"}, ["f", "m"], comment="Two."), sep="\n")
          # Two.
          sex: {type: categorical, values: ["f", "m"]}
    """
    lines = [f"  # {line}" for line in wrapped(comment)]
    if name in RESERVED and "type" in settings:
        settings = {**settings, "column": name}
        name = f"{name}_value"
    inside = [f"{key}: {value}" for key, value in settings.items()]
    quoted = [_quoted(label) for label in labels]
    if len(", ".join(quoted)) <= _SHORT and not recode:
        listed = [f"values: [{', '.join(quoted)}]"] if quoted else []
        return [*lines, f"  {key_of(name)}: {{{', '.join([*inside, *listed])}}}"]
    lines.append(f"  {key_of(name)}:")
    lines.extend(f"    {one}" for one in inside)
    if quoted:
        lines.append("    values:")
        lines.extend(f"      - {label}" for label in quoted)
    if recode:
        lines.append("    recode:")
        lines.extend(f"      {_quoted(rule)}: {_quoted(leaf)}" for rule, leaf in recode.items())
    return lines


def head_lines(title: str, unit: str, reviewer: str, today: datetime.date) -> list[str]:
    """The first lines of a schema that questions led to: signed off, or a draft without a name."""
    lines = [f"name: {title}", f"unit: {unit}", *([] if reviewer else ["draft: true"])]
    lines.append("began_as_draft: true")
    if reviewer:
        lines += ["metadata:", f"  reviewer: {_quoted(reviewer)}"]
        lines.append(f"  reviewed: {today.isoformat()}")
    return lines


def file_lines(written: Layout) -> list[str]:
    """The lines that say how the file is written, if that is unusual."""
    told = [f"  {key}: {_quoted(value)}" for key, value in written.describe().items()]
    return ["file:", *told] if told else []


def wrapped(comment: str) -> list[str]:
    """The lines of a comment; what is to be copied (`...` or {...}) stays in one of them."""
    whole = re.sub(r"`.*?`|\{.*?\}", lambda found: found[0].replace(" ", "\0"), comment)
    return [line.replace("\0", " ") for line in textwrap.wrap(whole, _WIDTH)]


def key_of(text: str) -> str:
    """A YAML key, in quotes if YAML might take it for something else."""
    if _PLAIN.fullmatch(text) and text.casefold() not in _WORDS:
        return text
    return _quoted(text)


def _quoted(text: str | int) -> str:
    return json.dumps(text, ensure_ascii=False)
