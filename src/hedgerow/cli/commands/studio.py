"""`hedgerow studio` and `warm-up`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.display.terminal import note, print_json, say
from hedgerow.cli.options import AsJson, option
from hedgerow.errors import UsageError


def studio(
    folder: Annotated[Path, typer.Argument()] = Path(),
    port: Annotated[int, option("N", min=0, max=65535)] = 0,
    no_browser: bool = False,
    as_json: AsJson = False,
) -> None:
    """Do all steps in a browser: data, schema, budget, check, publish, release.

    It runs on this machine alone. Its link works once and for one browser. It writes the same
    files as the commands, and shows the command for every step. Ctrl-C ends it, and every command
    that it has started.

    Args:
        folder: The folder of your data; nothing outside it is opened.
        port: The port; 0 for any free one.
        no_browser: Open no browser; print the link alone.

    Example:
        hedgerow studio
        hedgerow studio clinic/ --no-browser
    """
    import webbrowser

    try:
        from hedgerow.studio.app import serve
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn", "anyio", "h11"):
            raise
        raise UsageError(
            "The studio needs packages that are not installed.",
            hint="pip install 'hedgerow[studio]'",
        ) from None

    def opened(address: str) -> None:
        if as_json:
            print_json({"studio": address})
        else:
            say(f"The studio of {folder.resolve()} is at\n  {address}")
            note(
                "The link works once, in Firefox, Chromium and the like; each start has a new one. "
                "Ctrl-C ends the studio."
            )

    folder = folder.absolute()
    try:
        serve(folder, port, opened, None if no_browser else webbrowser.open)
    except KeyboardInterrupt:
        note("The studio has ended.")


def warm_up(
    as_json: AsJson = False,
) -> None:
    """Compile the loops that large data need, for container images and new installations.

    Without this, each loop is compiled when it is first needed, which takes some seconds; small
    tables need none.

    Example:
        hedgerow warm-up
    """
    import tempfile
    from pathlib import Path

    import hedgerow
    from hedgerow.compiled import Kernel
    from hedgerow.sample import write

    Kernel.left = 0  # no step is taken in Python
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder)
        write(written)
        for engine in ("memory", "streamed"):
            release = hedgerow.publish(
                written / "people.csv", written / "schema.yaml", engine=engine, epsilon=1
            )
        release.count("everybody")
        release.synthesize(100, kind="arrow")
        hedgerow.publish(written / "baskets.dat", written / "baskets.yaml", epsilon=1).count_all()
    if as_json:
        print_json({"compiled": True})
    else:
        say("The loops that large data need are compiled.")
