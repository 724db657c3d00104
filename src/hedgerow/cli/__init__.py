"""The command `hedgerow`: a thin door. Each command parses, calls the library and prints.

Commands import the library inside their functions: numpy, Arrow and numba would make `--help`
wait. Exit codes are stable: 0 done, 1 a mistake of ours or of the machine, 2 a wrong option,
3 the schema, 4 the data, 5 the budget, 6 the release, 7 a release that cannot be verified here, 130
interrupted (143 and 129: by a signal).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Annotated

import typer

from hedgerow.cli.commands.plan import plan
from hedgerow.cli.commands.publish import clusters, publish
from hedgerow.cli.commands.query import query, table
from hedgerow.cli.commands.report import compare, dossier, evaluate, report, sample, show
from hedgerow.cli.commands.schema import check, init, schema, sign, taxonomy
from hedgerow.cli.commands.studio import studio, warm_up
from hedgerow.cli.commands.verify_audit_ledger import audit, ledger, verify
from hedgerow.cli.display.terminal import INTERRUPTED, Command, CommandGroup, example, heed_signals
from hedgerow.cli.options import explain, prose
from hedgerow.cli.settings import MethodCommand

__all__ = ["COMMANDS", "app", "main", "name_of"]

# The commands in the order of their use, each with an example.
COMMANDS: dict[Callable[..., None], list[str]] = {
    init: ["hedgerow init people.csv --out schema.yaml"],
    check: ["hedgerow check schema.yaml", "hedgerow check schema.yaml --data people.csv"],
    sign: ['hedgerow sign schema.yaml --name "Ada Brown"'],
    schema: ["hedgerow schema diff schema-2025.yaml schema-2026.yaml"],
    taxonomy: [
        "hedgerow taxonomy icd-9-cm",
        "hedgerow taxonomy jobs.csv --to yaml --out jobs.yaml",
    ],
    plan: [
        "hedgerow plan --schema schema.yaml --epsilon 1 --rows 30000",
        "hedgerow plan --schema schema.yaml --simulate --rows 30000",
        'hedgerow plan --schema schema.yaml --epsilon 1 --table "illness by home"',
        'hedgerow plan --schema schema.yaml --rows 30000 --accuracy "count of 500 within 60"',
    ],
    publish: [
        "hedgerow publish people.parquet --schema schema.yaml --epsilon 1 --out release/",
    ],
    clusters: ["hedgerow clusters people.csv --schema schema.yaml --epsilon 1 --out release/"],
    ledger: [
        "hedgerow ledger clinic.ledger --open clinic --epsilon 3",
        "hedgerow publish people.csv --schema schema.yaml --epsilon 1 --out release/ \\",
        "    --ledger clinic.ledger --dataset clinic",
        "hedgerow ledger clinic.ledger",
    ],
    show: ["hedgerow show release/ --top 20 --plot release.png"],
    query: ['hedgerow query release/ "age in [30, 50] and smoker = yes"'],
    table: [
        "hedgerow table release/ occupation age --bins age=18,40,65",
        "hedgerow table release/ --out release.xlsx",
    ],
    sample: ["hedgerow sample release/ --out rows.csv"],
    verify: ["hedgerow verify release/"],
    evaluate: ["hedgerow evaluate people.csv release/"],
    compare: [
        "hedgerow compare first/ second/ --simulate",
        "hedgerow compare first/ second/ --raw people.csv --out not-private.html",
    ],
    report: [
        "hedgerow report release/ --out report.html",
        "hedgerow report release/ --raw people.csv --out not-private.html",
    ],
    dossier: [
        "hedgerow dossier release/ --ledger clinic.ledger --out dossier.html",
        "hedgerow dossier release/ --record deployment.yaml --published 2026-01-31",
    ],
    audit: ["hedgerow audit --method marginals --schema schema.yaml --epsilon 1"],
    studio: ["hedgerow studio", "hedgerow studio clinic/ --no-browser"],
    warm_up: ["hedgerow warm-up"],
}


def _print_version(wanted: bool) -> None:
    if not wanted:
        return
    from hedgerow import __version__

    typer.echo(f"hedgerow {__version__}")
    raise typer.Exit


_TellVersion = typer.Option(
    "--version", callback=_print_version, is_eager=True, help="Show the version."
)


def hedgerow(version: Annotated[bool, _TellVersion] = False) -> None:
    """Publish tables about people under differential privacy.

    A table goes in; noisy counts and a model of them come out, under a stated guarantee.
    Start with `init` to draft a schema, `check` and `sign` it, look at the `plan`, then `publish`.
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
    command.callback(epilog=example("hedgerow publish --help"))(hedgerow)
    for function in functions:
        kind = MethodCommand if function in (plan, publish) else Command
        known = (lambda: None) if listed else explain(function)
        ending = None if listed else example(*COMMANDS[function])
        name = name_of(function)
        command.command(name, cls=kind, help=prose(function), epilog=ending)(known)
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
