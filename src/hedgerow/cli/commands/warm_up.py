"""`hedgerow warm-up`: compile what large data need, before somebody waits for it."""

from __future__ import annotations

from hedgerow.cli.display.terminal import print_json, say
from hedgerow.cli.options import AsJson


def warm_up(as_json: AsJson = False) -> None:
    """Compile the loops that large data need, for container images and new installations.

    Without this, each loop is compiled when it is first needed, which takes some seconds; small
    tables need none.
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
