"""`hedgerow publish` and `clusters`: a private table goes in, a release comes out."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from hedgerow.cli import options
from hedgerow.cli.display import terminal
from hedgerow.cli.display.terminal import note, print_json, print_table, say, warn, warned
from hedgerow.cli.options import option
from hedgerow.cli.settings import method_of
from hedgerow.errors import SchemaError, UsageError

_UNBOOKED = (
    "No ledger was given, so nobody adds up what releases about these people spend together. To "
    "have it done: hedgerow ledger FILE --open NAME --epsilon TOTAL, and --ledger FILE each time."
)


def publish(
    ctx: typer.Context,
    data: str,
    schema: options.SchemaFile,
    epsilon: options.Number,
    out: Annotated[Path, option()],
    delta: options.Number = "0",
    overwrite: bool = False,
    delimiter: options.Delimiter = None,
    line_breaks: bool = False,
    table: options.Columns = None,
    query: options.QueryText = None,
    row_wise: bool = False,
    allow_empty: bool = False,
    engine: options.Engine | None = None,
    memory: Annotated[str, option("SIZE")] = "2GB",
    scratch: Annotated[Path | None, option("FOLDER")] = None,
    scheduler: Annotated[str | None, option("ADDRESS")] = None,
    seed: int | None = None,
    ledger: Annotated[Path | None, option("FILE")] = None,
    dataset: options.Name = None,
    recipient: Annotated[str | None, option("WHO")] = None,
    purpose: Annotated[str | None, option("WHAT")] = None,
    yes_epsilon: options.YesEpsilon = None,
    verbose: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Publish a table, or transactions, under differential privacy.

    All data is checked, the folder locked and disk space reserved before any budget is spent.
    Epsilons of releases about the same people add up, which --ledger counts. An epsilon above 10
    has to be confirmed.

    Args:
        data: The private data: CSV (also .gz, .zip), workbook, items, Parquet (also a folder, a
            pattern or an address), postgresql://... or duckdb:///...
        out: The folder to write the release to.
        table: A table that the release must hold, of two or three columns: "illness by home", or
            "illness by home, weight 2" if it matters twice as much; may be repeated. A single name
            is a table of a database, or schema.table.
        engine: Where rows are counted: in memory, with scratch files or on a cluster; by default
            the size of the input decides. The release is the same.
        memory: About how much memory a streamed run may use.
        scratch: The folder for scratch files, which hold private codes and vanish with the run.
        scheduler: dask: the scheduler of a cluster; without it, processes on this machine.
        ledger: The budget ledger that books the release; see `hedgerow ledger`.
        recipient: For the ledger: whom the release is for.
        purpose: For the ledger: what the release is for.
        verbose: Also say what the budget was spent on.

    Example:
        hedgerow publish people.parquet --schema schema.yaml --epsilon 1 --out release/
    """
    import hedgerow
    from hedgerow.present import words
    from hedgerow.release.files import check_target, leftovers
    from hedgerow.schema import Schema

    if out == Path():
        raise UsageError("--out names no folder.", hint="Name one, such as --out release/.")
    check_target(out, overwrite)  # before the data is read, and long before anything is spent
    for path in leftovers(out):
        warn(
            f"{path} is left of a run that was killed. It may hold noisy counts that nobody was "
            "to see: delete it, unless such a run is still going on.",
        )
    try:
        known = Schema.load(schema)
    except SchemaError as error:
        notation = (".yaml", ".yml")
        if not data.endswith(notation) or schema.suffix in notation:
            raise
        hint = " ".join(filter(None, ("Are data and schema swapped?", error.hint)))
        raise SchemaError(error.message, hint=hint) from None
    source_table, tables = options.split_tables(table) if table else (None, [])
    settings = method_of(ctx.obj.pop("method", None), known, ctx.obj)
    warn(*known.warnings)
    options.check_epsilon(epsilon, yes_epsilon, as_json)
    if delta != "0":
        options.warn_of_delta(settings, known, delta)
    with terminal.progress("Publishing") as bar, terminal.data_warnings():
        release: Any = hedgerow.publish(
            options.source_of(data, source_table, query, row_wise), known, method=settings,
            epsilon=epsilon, delta=delta, seed=seed, delimiter=delimiter,
            line_breaks=line_breaks, engine=engine.value if engine else None, memory=memory,
            scratch=scratch, scheduler=scheduler, progress=bar, stage=bar.stage,
            ledger=ledger, dataset=dataset, allow_empty=allow_empty, recipient=recipient,
            purpose=purpose, tables=tables, out=out, overwrite=overwrite,
        )  # fmt: skip
    with terminal.telling(out):
        booked = None if release.booking is None else release.booking.facts()
        if as_json:
            facts = {"release": str(out), **words.summary(release)}
            print_json(facts | {"ledger": booked, "warnings": warned()})
            return
        say(f"Published to {out}: {words.describe_parts(release)}.")
        if known.kind == "transactions":
            say(release.describe().summary)
        say(*filter(None, (*words.guarantee(release), words.unmeasured(release))))
        if verbose:
            spent = words.list_spent(release)
            print_table(["what for", "budget", words.spent_of(known)], spent)
        if known.kind == "transactions":
            options.tell_of_taxonomy(settings, known)
        if booked is not None:
            say(words.booking(booked))
        elif seed is None:
            note(_UNBOOKED)


def clusters(
    data: str,
    schema: options.SchemaFile,
    epsilon: options.Number,
    out: Annotated[Path, option()],
    clusters: Annotated[int, option("N")] = 2,
    share: Annotated[int, option("PERCENT")] = 10,
    overwrite: bool = False,
    table: options.Name = None,
    query: options.QueryText = None,
    row_wise: bool = False,
    allow_empty: bool = False,
    ledger: Annotated[Path | None, option("FILE")] = None,
    dataset: options.Name = None,
    seed: int | None = None,
    yes_epsilon: options.YesEpsilon = None,
    as_json: options.AsJson = False,
) -> None:
    """Publish a table whose class is the cluster of each record, found privately.

    Finds centroids by private k-means with a share of epsilon, gives each record the number of
    its nearest one, and publishes that table with the rest. Together they cost epsilon. The
    centroids are private too, and are shown.

    Args:
        data: The private data: whatever `publish` takes.
        out: The folder to write the release to.
        clusters: How many clusters.
        share: How much of epsilon finds the centroids.
        ledger: The budget ledger that books centroids and release.

    Example:
        hedgerow clusters people.csv --schema schema.yaml --epsilon 1 --out release/
    """
    from hedgerow.methods.clusters import publish_clusters
    from hedgerow.present import words
    from hedgerow.schema import Schema

    known = Schema.load(schema)
    options.check_epsilon(epsilon, yes_epsilon, as_json)
    with terminal.progress("Publishing") as bar, terminal.data_warnings():
        centroids, release = publish_clusters(
            options.source_of(data, table, query, row_wise), known, clusters, epsilon, share=share,
            seed=seed, ledger=ledger, dataset=dataset, progress=bar, out=out, overwrite=overwrite,
            allow_empty=allow_empty,
        )  # fmt: skip
    with terminal.telling(out):
        points = centroids.describe()
        if as_json:
            facts = {"release": str(out), **words.summary(release)}
            print_json(
                facts | {"centroids": points, "centroids_epsilon": centroids.epsilon,
                         "warnings": warned()}
            )  # fmt: skip
            return
        say(f"Published to {out}: {words.describe_parts(release)}.")
        first, rest = Fraction(centroids.epsilon), Fraction(release.guarantee["epsilon"])
        say(
            f"Epsilon {float(first + rest):g} per person: {float(first):g} for the centroids, "
            f"{float(rest):g} for the release."
        )
        print_table(
            ["centroid", *(f"{place + 1}" for place in range(len(points)))],
            [[name, *(point[name] for point in points)] for name in points[0]],
        )
        if ledger is None and seed is None:
            note("No ledger was given, so nobody adds up what releases about these people spend.")
