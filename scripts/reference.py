"""Writes what the documentation takes from the code: `python scripts/reference.py docs`.

That is the page of the command line, and the tables of settings on the pages of methods.
"""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Any, NamedTuple, get_args

import typer

from hedgerow.cli.options import examples, explain, prose
from hedgerow.cli.settings import Setting, kind_of, method_options, settings_of
from hedgerow.registry import METHODS

_BEGIN, _END = "<!-- settings: made by `make docs` -->", "<!-- end of settings -->"

_HEAD = """\
# The command line

*Made from the commands by `make docs`; a test fails when it is out of date.*

Results go to standard output, everything else to standard error. With `--json` a command prints
one JSON object; an error is `{"error": {"kind", "message", "hint", "exit_code"}}` on standard
error, with `warnings` and `places` (keys of the schema, options) if there are any. Progress is
shown on a terminal; `HEDGEROW_PROGRESS=lines` writes it as lines of JSON to standard error.
Warnings and errors about private data are for the steward alone. `HEDGEROW_DEBUG=1` shows
tracebacks, which may quote private data.

| exit code | meaning |
| --- | --- |
| 0 | done |
| 1 | a mistake in hedgerow, or the machine failed (memory, disk) |
| 2 | an option or setting is wrong |
| 3 | the schema or a taxonomy is wrong, still a draft, or states no unit |
| 4 | the data cannot be read, or breaks a rule of the schema |
| 5 | the run asks for more budget than is left |
| 6 | a file or release cannot be written, read or trusted |
| 7 | a release cannot be verified here: its method, schedule or score is not installed |
| 130 | interrupted with Ctrl-C |
| 143, 129 | stopped by a signal (SIGTERM), or the terminal was closed (SIGHUP) |

A command that is stopped leaves nothing half-written. Once a file or release is written, a command
ends with 0 even if its output cannot be printed.
"""


class _Parameter(NamedTuple):
    """An argument or option as the page shows it, read from the command's own signature.

    The parser's objects know all this too, but their shape changes between its versions.
    """

    name: str
    kind: Any
    info: Any
    default: Any

    @property
    def is_argument(self) -> bool:
        return isinstance(self.info, typer.models.ArgumentInfo)

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def shown(self) -> str:
        if self.is_argument:
            return str(self.info.metavar or self.name.upper())
        # In an annotation the first name stands where a default would.
        names = (self.info.default, *(self.info.param_decls or ()))
        given = [name for name in names if str(name).startswith("--")]
        option = given[0] if given else "--" + self.name.replace("_", "-")
        value = "" if self.kind is bool else " " + (self.info.metavar or self.name.upper())
        return option + value

    @property
    def meaning(self) -> str:
        words = [self.info.help]
        if isinstance(self.kind, type) and issubclass(self.kind, Enum):
            words.append(f"One of {', '.join(member.value for member in self.kind)}.")
        if self.required:
            words.append("Required.")
        elif self.default not in (None, "") and self.kind is not bool:
            words.append(f"Default: {getattr(self.default, 'value', self.default)}.")
        return " ".join(words)


def _parameters(function: Callable[..., Any]) -> list[_Parameter]:
    parameters = []
    for name, parameter in inspect.signature(explain(function)).parameters.items():
        if name == "ctx":  # which brings the settings of methods
            continue
        kind, info = get_args(parameter.annotation)
        kinds = [part for part in get_args(kind) if part is not NoneType] or [kind]
        parameters.append(
            _Parameter(name=name, kind=kinds[0], info=info, default=parameter.default)
        )
    return parameters


def _row(parameter: _Parameter) -> str:
    shown = parameter.shown.replace("|", "\\|")  # a bar would end the cell
    return f"| `{shown}` | {parameter.meaning} |"


def _names(setting: Setting) -> tuple[str, ...]:
    return setting.names if setting.is_flag else (setting.option,)


def _shown(setting: Setting) -> str:
    metavar = setting.metavar.replace("|", "\\|")  # a bar would end the cell
    return "`, `".join(_names(setting)) if setting.is_flag else f"{setting.option} {metavar}"


def settings_table(name: str) -> str:
    """The settings of a method as a table of Markdown.

    Args:
        name: The method.
    """
    lines = ["| setting | option | default | meaning |", "| --- | --- | --- | --- |"]
    for setting in settings_of(kind_of(name)).values():
        shown = _shown(setting)
        words = {"None": "-", "False": "no", "True": "yes"}
        default = words.get(str(setting.default), str(setting.default))
        lines.append(f"| `{setting.name}` | `{shown}` | {default} | {setting.help} |")
    return "\n".join(lines)


def with_settings(page: str, name: str) -> str:
    """The page of a method with its table of settings anew, between two marks."""
    before, _, rest = page.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not end:
        raise ValueError(f"the page of {name} has no place for its settings")
    return f"{before}{_BEGIN}\n{settings_table(name)}\n{_END}{after}"


def reference() -> str:
    """The whole page.

    Example:
        >>> "## hedgerow publish" in reference()
        True
    """
    from hedgerow.cli import COMMANDS, hedgerow, name_of

    rows = Counter(row for function in COMMANDS for row in map(_row, _parameters(function)))
    shared = [row for row, times in rows.items() if times > 1 and row.startswith("| `--")]
    parts = [_HEAD, prose(hedgerow), ""]
    parts += ["## Options of several commands", "", "| option | meaning |", "| --- | --- |"]
    parts += [*shared, ""]
    for function in COMMANDS:
        name, parameters = name_of(function), _parameters(function)
        parts += [f"## hedgerow {name}", "", prose(function), ""]
        own = [row for row in map(_row, parameters) if row not in shared]
        if own:
            parts += ["| argument or option | meaning |", "| --- | --- |", *own, ""]
        also = [f"`{parameter.shown}`" for parameter in parameters if _row(parameter) in shared]
        if also:
            parts += ["[Also](#options-of-several-commands): " + ", ".join(also) + ".", ""]
        if "ctx" in inspect.signature(function).parameters:
            settings = [f"`{name}`" for option in method_options() for name in _names(option)]
            parts += ["Settings of [methods](choosing.md#which-method), which their pages explain: "
                      + ", ".join(settings) + ".", ""]  # fmt: skip
        parts += ["```sh", *examples(function), "```", ""]
    return "\n".join(str(part) for part in parts)


if __name__ == "__main__":
    docs = Path(sys.argv[1])
    (docs / "cli.md").write_text(reference(), encoding="utf-8")
    for method in METHODS:
        page = docs / "algorithms" / f"{method}.md"
        if page.exists():  # a method of another package has its page there
            text = with_settings(page.read_text(encoding="utf-8"), method)
            page.write_text(text, encoding="utf-8")
