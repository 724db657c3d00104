"""The command `hedgerow`: a thin door. Each command parses, calls the library and prints.

Commands import the library inside their functions: numpy, Arrow and numba would make `--help`
wait. Exit codes are stable: 0 done, 1 a mistake of ours or of the machine, 2 a wrong option,
3 the schema, 4 the data, 5 the budget, 6 the release, 7 a release that cannot be verified here, 130
interrupted (143 and 129: by a signal).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Annotated, NoReturn

import typer

from hedgerow.cli.commands.plan import plan
from hedgerow.cli.commands.publish import clusters, publish
from hedgerow.cli.commands.query import query, table
from hedgerow.cli.commands.report import compare, dossier, evaluate, report, sample, show
from hedgerow.cli.commands.schema import check, init, schema, sign, taxonomy
from hedgerow.cli.commands.studio import studio, warm_up
from hedgerow.cli.commands.verify_audit_ledger import audit, ledger, verify
from hedgerow.cli.display.terminal import INTERRUPTED, Command, CommandGroup, heed_signals
from hedgerow.cli.options import ending, explain, prose
from hedgerow.cli.settings import MethodCommand

__all__ = ["COMMANDS", "app", "main", "name_of"]

# in the order of their use
COMMANDS: tuple[Callable[..., None], ...] = (
    init, check, sign, schema, taxonomy, plan, publish, clusters, ledger, show, query, table,
    sample, verify, evaluate, compare, report, dossier, audit, studio, warm_up,
)  # fmt: skip


def _print_version() -> NoReturn:
    from hedgerow import __version__

    typer.echo(f"hedgerow {__version__}")
    raise typer.Exit


_TellVersion = typer.Option(
    "--version", callback=lambda wanted: wanted and _print_version(), is_eager=True,
    help="Show the version.",
)  # fmt: skip


def hedgerow(version: Annotated[bool, _TellVersion] = False) -> None:
    """Publish tables about people under differential privacy.

    A table goes in; noisy counts and a model of them come out, under a stated guarantee.
    Start with `init` to draft a schema, `check` and `sign` it, look at the `plan`, then `publish`.

    Example:
        hedgerow publish --help
    """


def name_of(function: Callable[..., None]) -> str:
    """What a command is called on the command line."""
    return function.__name__.replace("_", "-")


def _app(functions: Iterable[Callable[..., None]], *, listed: bool = False) -> typer.Typer:
    """The command with some of its commands; working out the options of each takes a while.

    Args:
        functions: The commands.
        listed: Whether they are listed alone, without their options.
    """
    command = typer.Typer(
        name="hedgerow",
        cls=CommandGroup,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,  # plain help: quick, the same everywhere, and it can be read aloud
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    command.callback(help=prose(hedgerow), epilog=ending(hedgerow))(hedgerow)
    for function in functions:
        kind = MethodCommand if function in (plan, publish) else Command
        known = (lambda: None) if listed else explain(function)
        end = None if listed else ending(function)
        command.command(name_of(function), cls=kind, help=prose(function), epilog=end)(known)
    return command


def __getattr__(name: str) -> typer.Typer:
    """`app`, the command with all its commands: not everybody who imports this asks for it."""
    if name != "app":
        raise AttributeError(name)
    return _app(COMMANDS)


def main() -> None:
    """Runs the command line."""
    heed_signals()
    named = [function for function in COMMANDS if sys.argv[1:2] == [name_of(function)]]
    listed = sys.argv[1:] in ([], ["-h"], ["--help"])
    try:
        _app(named or COMMANDS, listed=listed)()
    except KeyboardInterrupt as stop:
        sys.exit(getattr(stop, "exit_code", INTERRUPTED))
