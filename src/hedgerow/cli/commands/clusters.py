"""`hedgerow clusters`: a table for recipients who look for clusters in it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.display.terminal import (
    data_warnings,
    note,
    print_json,
    print_table,
    progress,
    say,
    telling,
    warned,
)
from hedgerow.cli.options import (
    AllowEmpty,
    AsJson,
    Epsilon,
    Overwrite,
    QueryText,
    RowWise,
    SchemaFile,
    TableName,
    confirm_large,
    source_of,
    warn_of_rounding,
)


def clusters(
    data: Annotated[str, typer.Argument(help="The private data: whatever `publish` takes.")],
    schema: SchemaFile,
    epsilon: Epsilon,
    out: Annotated[Path, typer.Option(help="The folder to write the release to.")],
    clusters: Annotated[int, typer.Option(metavar="N", help="How many clusters.")] = 2,
    share: Annotated[
        int, typer.Option(metavar="PERCENT", help="How much of epsilon finds the centroids.")
    ] = 10,
    overwrite: Overwrite = False,
    table: TableName = None,
    query: QueryText = None,
    row_wise: RowWise = False,
    allow_empty: AllowEmpty = False,
    ledger: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The budget ledger that books centroids and release."),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The data set in the ledger; default: the schema's name."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="For tests: repeatable noise. The release is then NOT private."),
    ] = None,
    yes_epsilon: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER", help="The same epsilon once more, which one above 10 has to be."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Publish a table whose class is the cluster of each record, found privately.

    Finds centroids by private k-means with a share of epsilon, gives each record the number of
    its nearest one, and publishes that table with the rest. Together they cost epsilon. The
    centroids are private too, and are shown.
    """
    from hedgerow.methods.clusters import publish_clusters
    from hedgerow.present import words
    from hedgerow.schema import Schema

    known = Schema.load(schema)
    warn_of_rounding(epsilon, as_json)
    confirm_large(epsilon, yes_epsilon, as_json)
    with progress("Publishing") as bar, data_warnings(as_json):
        centroids, release = publish_clusters(
            source_of(data, table, query, row_wise), known, clusters, epsilon, share=share,
            seed=seed, ledger=ledger, dataset=dataset, progress=bar, out=out, overwrite=overwrite,
            allow_empty=allow_empty,
        )  # fmt: skip
    with telling(out):
        points = centroids.describe()
        if as_json:
            facts = {"release": str(out), **words.summary(release)}
            print_json(
                facts | {"centroids": points, "centroids_epsilon": centroids.epsilon,
                         "warnings": warned()}
            )  # fmt: skip
            return
        say(f"Published to {out}: {words.published(release)}.")
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
