"""Commands about schemas: `init`, `check`, `sign`, `schema diff`, `taxonomy`. None publishes."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli import options
from hedgerow.cli.asking import ask, ask_for_schema, on_terminal, print_published
from hedgerow.cli.display import terminal
from hedgerow.cli.display.terminal import note, print_json, print_table, say, warn, warned
from hedgerow.cli.files import refuse_existing, write_text
from hedgerow.cli.options import option
from hedgerow.errors import SchemaError, UsageError
from hedgerow.present.words import many

if TYPE_CHECKING:
    from hedgerow.schema import Attribute, Schema
    from hedgerow.schema.taxonomy_files import Branch, Tree


def init(
    data: str,
    out: Path = Path("schema.yaml"),
    overwrite: bool = False,
    delimiter: options.Delimiter = None,
    line_breaks: bool = False,
    sheet: Annotated[str | None, option("NAME")] = None,
    header_row: Annotated[int | None, option("NUMBER")] = None,
    encoding: Annotated[str | None, option("NAME")] = None,
    table: options.Columns = None,
    query: options.QueryText = None,
    trust_header: bool = False,
    person: str | None = None,
    no_questions: bool = False,
    proposals: bool = False,
    no_file: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Draft a schema from a table or transactions, for a person to finish.

    On a terminal it asks one question at a time: Enter accepts a proposal, ? explains, back
    returns; after Ctrl-C the same command continues. Proposals are read off PRIVATE data: a
    draft is refused until a person has replaced them with public knowledge and signed it.

    Args:
        data: The private data: CSV (also .gz, .zip), workbook, lines of items, Parquet,
            postgresql://... or duckdb:///...
        out: The schema file to write.
        sheet: A workbook: the sheet to read.
        header_row: The line or row with the column names, if it is not the first that is not blank.
        encoding: A text file's encoding, if not UTF-8: cp1252, latin-1, utf-16-le, utf-16-be.
        table: A table that the release must hold, of two or three columns: "illness by home", or
            "illness by home, weight 2" if it matters twice as much; may be repeated. A single name
            is a table of a database, or schema.table.
        trust_header: The first line holds names, even if it looks like a record.
        person: The column that tells people apart, if they have several rows.
        no_questions: Ask nothing, as without a terminal, and write a draft.
        proposals: With --json, also print what the questions are made from, as PRIVATE as the data.
        no_file: With --proposals, write no draft.

    Example:
        hedgerow init people.csv --out schema.yaml
    """
    from hedgerow.draft.draft import ItemSketch, Sketch, draft_text, sketch_table

    if no_file and not (proposals and as_json):
        raise UsageError("--no-file is for --proposals with --json.", hint="Omit it.")
    source_table, tables = options.split_tables(table or [])
    source = options.source_of(data, source_table, query)
    if not no_file:
        refuse_existing(out, overwrite)

    def draft(who: str | None) -> Sketch | ItemSketch:
        sketch = sketch_table(
            source, delimiter=delimiter, line_breaks=line_breaks, trust_header=trust_header,
            written=options.layout_of(encoding, header_row, sheet), person=who or person,
        )  # fmt: skip
        if isinstance(sketch, Sketch):
            return sketch.with_tables(tables)
        for name, given in (("--table", tables), ("--person", person)):
            if given:
                what = f"{name} names columns, and these are records of items."
                raise UsageError(what, hint="Omit it.")
        return sketch

    if not (no_questions or as_json) and on_terminal():
        ask_for_schema(draft, out, overwrite, "..." if "://" in data else data)
        return
    drafted = draft(None)
    text = draft_text(drafted)
    if not no_file:
        write_text(out, text, overwrite, private=True)
    with terminal.telling(out):
        if as_json:
            file = None if no_file else out
            facts: dict[str, Any] = {"schema": file, "draft": True, "read_private_data": True}
            if proposals and isinstance(drafted, Sketch):
                facts["proposals"] = drafted.to_dict()
            print_json(facts)
            return
        say(f"Wrote a draft to {out}.")
        what = "bounds and values" if isinstance(drafted, Sketch) else "the universe"
        note(
            "This draft was read off PRIVATE data. Before you use it, go through the steps at its "
            f"top: replace {what} by public knowledge, say whom a release protects (`unit:`), run "
            "`hedgerow check`, then `hedgerow sign`, which takes `draft: true` away."
        )


def check(
    schema: Path,
    data: str | None = None,
    delimiter: options.Delimiter = None,
    line_breaks: bool = False,
    table: options.Name = None,
    query: options.QueryText = None,
    row_wise: bool = False,
    allow_empty: bool = False,
    unused: bool = False,
    show_values: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Check a schema and, with --data, whether data follows it.

    Lists all that a release publishes, and marks what looks like somebody's own words. With
    --data errors name rows and columns; warnings and counts are NOT PRIVATE.

    Args:
        schema: The schema file.
        data: Also check whether this private data follows it.
        unused: With --data, also name values that no row has. NOT PRIVATE.
        show_values: With --data, also quote values that differ from the schema's only in case or
            spaces. NOT PRIVATE.

    Example:
        hedgerow check schema.yaml
        hedgerow check schema.yaml --data people.csv
    """
    from hedgerow.present.report import facts
    from hedgerow.schema import Schema, refuse_no_unit
    from hedgerow.schema.diff import published_columns

    known = Schema.load(schema)
    refuse_no_unit(known)
    for name, given in (("--unused", unused), ("--show-values", show_values)):
        if given and (data is None or known.kind != "table"):
            raise UsageError(
                f"{name} is about the data of a table.",
                hint=f"Give --data with a table, or leave {name} out.",
            )
    if known.is_draft and not as_json:
        note("This is a draft: sign it (`hedgerow sign`) when all of it is public knowledge.")
    warn(*known.warnings)
    preparation: Any = None
    if data is not None:
        from hedgerow.data import refuse_mixing

        source = options.source_of(data, table, query, row_wise)
        refuse_mixing(source)
        more = {"quote": show_values, "unused": unused} if known.kind == "table" else {}
        preparation = _check_data(
            source, known, delimiter=delimiter, line_breaks=line_breaks, allow_empty=allow_empty,
            **more,
        )  # fmt: skip
    contents = _describe_schema(known)
    if as_json:
        about: dict[str, Any] = {"preparation": None}
        if preparation is not None:
            warn("NOT PRIVATE: `preparation` holds exact counts, for the holder of the data alone.")
            warn(*preparation.warnings())
            about = {"private": False, "preparation": asdict(preparation)}
        follows = {"data_follows_schema": True if data is not None else None}
        print_json({**contents, "warnings": warned(), **follows, **about})
        return
    say(f"{known.name}: the schema is right{', but a draft' if known.is_draft else ''}.")
    if known.kind == "table":
        rows = [list(attribute.values()) for attribute in contents["attributes"]]
        print_table(["attribute", "kind", "domain", "missing", "outside"], rows)
    else:
        items = [[key, str(value)] for key, value in contents["items"].items()]
        print_table(["setting", "value"], items)
    if known.target is not None:
        say(f"class: {known.target.name} ({', '.join(known.classes)})")
    if known.identifiers:
        say(f"dropped: {', '.join(known.identifiers)}")
    say(contents["unit_of_protection"])
    for named in known.tables:
        names = " by ".join(known.columns[place].name for place in named.places)
        weight = f" (weight {float(named.weight):g})" if named.weight != 1 else ""
        say(f"the release should hold: {names}{weight}")
    say(*(f"rule: {rule}" for rule in contents["rules"]))
    print_published(published_columns(known, getattr(preparation, "rare", None)), say)
    if known.is_draft or known.metadata.signed is None:
        say(f"Sign it when all of that is public knowledge: hedgerow sign {schema} --name ...")
    say(*(f"{name}: {value}" for name, value in facts(known)))
    if data is not None:
        say(f"{getattr(source, 'shown', data)} follows the schema.")  # without a password
    if preparation is not None:
        terminal.tell_preparation(preparation)


def _check_data(source: Any, schema: Schema, **more: Any) -> Any:
    """What became of rows or records; the steward hears what is odd about them."""
    from hedgerow.data import check_transactions
    from hedgerow.draft.check import check_rows

    look: Any = check_rows if schema.kind == "table" else check_transactions
    with terminal.progress("Checking the data") as bar, terminal.data_warnings():
        preparation = look(source, schema, progress=bar, **more)
    items = preparation.rare.get("items") if schema.kind == "transactions" else ()
    if items:
        warn(
            f"NOT PRIVATE: fewer than 10 records have each of {many(len(items), 'item')}, which "
            "the schema publishes. Keep those that anybody could list who never saw the data; "
            "take out what somebody wrote."
        )
    return preparation


def _describe_schema(schema: Schema) -> dict[str, Any]:
    """What a schema says, for people and programs alike."""
    from hedgerow.schema.diff import published_columns

    return {
        "name": schema.name, "unit": schema.unit, "hash": schema.hash,
        "fingerprint": schema.fingerprint, "draft": schema.is_draft,
        "began_as_draft": schema.began_as_draft, "metadata": schema.metadata.describe(),
        "attributes": list(map(_describe_attribute, schema.attributes)),
        "class": schema.target.name if schema.target else None,
        "classes": schema.classes, "identifiers": schema.identifiers,
        "unit_of_protection": _describe_unit(schema),
        "tables": schema.to_dict().get("tables", []),
        "rules": [rule.text for rule in schema.rules],
        "items": _describe_items(schema) if schema.kind == "transactions" else None,
        "published": list(map(asdict, published_columns(schema))),
    }  # fmt: skip


def _describe_attribute(attribute: Attribute) -> dict[str, str]:
    from hedgerow.schema import Numeric

    if isinstance(attribute, Numeric):
        kind: str = attribute.kind
        step = many(int(attribute.step), "day") if kind == "date" else f"{float(attribute.step):g}"
        domain = f"{attribute.edge(0)} to {attribute.edge(attribute.grid)} by {step}"
    else:
        kind = "boolean" if attribute.boolean else "categorical"
        levels = many(attribute.taxonomy.height, "level")
        domain = f"{many(attribute.size, 'value')}, {levels}"
    rules = {"missing": attribute.missing, "outside": attribute.outside}
    return {"name": attribute.name, "kind": kind, "domain": domain, **rules}


def _describe_items(schema: Schema) -> dict[str, object]:
    items = schema.transaction_items
    tree = "a taxonomy" if items.semantic else f"groups of {items.fan_out} neighbors"
    places = {"column": items.column, "person": items.person, "item": items.item}
    return {
        "universe": f"{many(items.size, 'item')}, from {items.labels[0]} to {items.labels[-1]}",
        "tree": f"{tree}, {many(items.taxonomy.height, 'level')}",
        "foreign": items.foreign,
        "empty": items.empty,
        "max_items": items.max_items or "no cap",
        **{key: name for key, name in places.items() if name is not None},
    }


def _describe_unit(schema: Schema) -> str:
    if schema.kind == "transactions":
        column = schema.transaction_items.person
        return f"one {'record' if column is None else f'value of {column}'} is one person"
    if schema.person is None:
        return "one row is one person"
    most = schema.person.max_rows
    return (
        f"people are identified by {schema.person.column}; at most {many(most, 'row')} of each "
        f"{'counts' if most == 1 else 'count'}"
    )


def sign(
    schema: Path,
    name: Annotated[str, option()],
    data: str | None = None,
    delimiter: options.Delimiter = None,
    line_breaks: bool = False,
    table: options.Name = None,
    query: options.QueryText = None,
    yes: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Sign a schema off, or sign it again after a change.

    Shows all that a release of it publishes, with what is long or odd marked (with --data what
    is rare), asks whether anybody could have written that who never saw the data, and writes
    name, date and a fingerprint into the file; a draft's mark and comments are taken out. After a
    change `hedgerow publish` refuses it.

    Args:
        schema: The schema file.
        name: Who has looked at all of it; every release states the name.
        data: Also look at this private table, and mark values that fewer than 10 people have. NOT
            PRIVATE.
        yes: It was looked at before; ask nothing.

    Example:
        hedgerow sign schema.yaml --name "Ada Brown"
    """
    import datetime

    from hedgerow.schema import refuse_no_unit
    from hedgerow.schema.diff import published_columns
    from hedgerow.studio.schema_text import SchemaText

    text = SchemaText.load(schema)
    known = text.schema()
    refuse_no_unit(known)
    reviewer = name.strip()
    if not reviewer:
        raise UsageError("a person signs a schema by name.", hint='Write --name "Ada Brown".')
    warn(*known.warnings)
    rare: Any = {}
    if data is not None:
        source = options.source_of(data, table, query)
        rare = _check_data(source, known, delimiter=delimiter, line_breaks=line_breaks).rare
    published = published_columns(known, rare)
    if not as_json:
        print_published(published, say)
    if not yes:
        if as_json or not on_terminal():
            raise UsageError(
                "nobody is there who could look at the schema.",
                hint="Run it on a terminal, or write --yes after a person has looked at all that "
                f"`hedgerow check {schema}` lists.",
            )
        note("Could anybody have written all of this who never saw the data? (yes or no)")
        if ask("> ").casefold() != "yes":
            note("Nothing was signed. Change what should not be published, and sign then.")
            raise typer.Exit(1)
    today = datetime.date.today().isoformat()
    text.sign(reviewer, today, known.fingerprint).save(text.mark)
    if as_json:
        print_json({
            "schema": schema, "reviewer": reviewer, "signed": today,
            "fingerprint": known.fingerprint, "published": list(map(asdict, published)),
            "warnings": warned(),
        } | ({} if data is None else {"private": False}))  # fmt: skip
        return
    say(f"{reviewer} signed {schema} on {today}.")


_COMPARED = 2


def schema(
    task: Annotated[str, typer.Argument(metavar="diff")],
    files: Annotated[list[Path], typer.Argument(metavar="OLD NEW")],
    as_json: options.AsJson = False,
) -> None:
    """List the differences between two schemas, such as last year's and this year's.

    Compares what they mean, not how they are written. Opens no private data.

    Args:
        task: What to do: compare.
        files: The first and the second schema file.

    Example:
        hedgerow schema diff schema-2025.yaml schema-2026.yaml
    """
    from hedgerow.schema import Schema
    from hedgerow.schema.diff import schema_diff

    if task != "diff" or len(files) != _COMPARED:
        named = [str(file) for file in files] if task == "diff" else [task, *map(str, files)]
        shown = " ".join(map(quote, named)) if len(named) == _COMPARED else "OLD NEW"
        raise UsageError(
            "hedgerow schema compares two schema files.", hint=f"Write hedgerow schema diff {shown}"
        )
    first, second = (Schema.load(file) for file in files)
    changes = schema_diff(first, second)
    if as_json:
        differences = [{"about": about, "what": what} for about, what in changes]
        hashes = [first.hash, second.hash]
        print_json(
            {"same": first.hash == second.hash, "hashes": hashes, "differences": differences}
        )
    elif not changes:
        say("The two schemas say the same.")
    else:
        print_table(["about", "difference"], [list(pair) for pair in changes])


Format = StrEnum("Format", ["yaml", "arx", "codes", "mapping"])  # how a taxonomy is written


def taxonomy(
    source: str,
    attribute: Annotated[str | None, option("NAME")] = None,
    depth: Annotated[int, option("N", min=0)] = 2,
    to: Annotated[Format | None, option("FORMAT")] = None,
    out: Annotated[Path | None, option("FILE")] = None,
    overwrite: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Show a taxonomy, count its leaves, lint it, or convert it.

    Opens no private data. Forms are nested YAML, ARX hierarchies (value;group;...;*), code lists
    (code,parent,label) and mappings (rule,value,group,...). Only mappings keep rules.

    Args:
        source: A taxonomy file (YAML, ARX hierarchy, code list or mapping), the name of a list that
            comes with hedgerow, or with --attribute a schema or a .hchy file.
        attribute: The attribute whose taxonomy is meant.
        depth: How many levels of the tree to show.
        to: Write the taxonomy in this form.
        out: Write it to this file; without it the text is printed.

    Example:
        hedgerow taxonomy icd-9-cm
        hedgerow taxonomy jobs.csv --to yaml --out jobs.yaml
    """
    from hedgerow.schema import taxonomy_files as forms
    from hedgerow.schema.taxonomy import Reading
    from hedgerow.schema.yaml_text import Report, raise_faults

    if out is not None and to is None:
        raise UsageError("--out needs a form", hint="Add, for example, --to yaml.")
    tree, root = _read(source, attribute)
    report = Report(tree.file)
    whole = forms.grow(root, report)
    raise_faults(report.faults)
    reading = Reading(tuple({rule.rule: rule.leaf for rule in tree.rules}.items()))
    warn(*forms.lint_tree(root, reading))
    groups = max(sum(1 for below in whole.children if below) - 1, 0)
    if to is not None:
        if reading.rules and to.value not in forms.KEEP_RULES:
            warn(f"{many(len(reading.rules), 'rule')} left out; --to mapping keeps them.")
        text = forms.FORMATS[to.value](tree, root)
        if out is None and not as_json:
            say(text.rstrip("\n"))
        if out is not None:
            write_text(out, text, overwrite, private=False)
            with terminal.telling(out):
                note(f"{out} was written.")
        if not as_json:
            return
    if as_json:
        print_json(
            {
                "source": source, "leaves": len(whole.leaves), "groups": groups,
                "levels": whole.height, "rules": dict(reading.rules), "root": root.label,
                "tree": forms.to_nested(root), "warnings": warned(),
            }
        )  # fmt: skip
        return
    say(
        *forms.outline(root, depth),
        f"{many(len(whole.leaves), 'value')}, {many(groups, 'group')}, "
        f"{many(whole.height, 'level')}, {many(len(reading.rules), 'rule')}",
    )


def _read(source: str, attribute: str | None) -> tuple[Tree, Branch]:
    """The tree of a file, of a list by name, or of an attribute."""
    from hedgerow.schema import Categorical, Schema
    from hedgerow.schema import taxonomy_files as forms
    from hedgerow.schema.yaml_text import Report, Text, raise_faults

    several = attribute is not None and Path(source).suffix.lower() == ".hchy"
    if attribute is not None and not several:
        columns = {
            column.name: column
            for column in Schema.load(source).columns
            if isinstance(column, Categorical)
        }
        if attribute not in columns:
            raise SchemaError(
                f"{source} has no categorical attribute {attribute!r}",
                hint=f"Choose one of {', '.join(columns)}." if columns else "Choose another file.",
            )
        column = columns[attribute]
        rules = [forms.RuleLine(rule, leaf) for rule, leaf in column.reading.rules]
        branch = forms.branch_of(column.taxonomy)
        return forms.Tree(source, branch, rules), branch
    file = source.rpartition("#")[0] if ".hchy#" in source.lower() else source
    if source not in forms.built_in() and not Path(file).is_file():
        raise SchemaError(
            f"there is no taxonomy file {source!r}",
            hint=f"Check the path, or choose one of {', '.join(forms.built_in())}.",
        )
    report = Report(folder=Path())
    tree = forms.read_tree(Text(f"{source}#{attribute}" if several else source), None, report)
    raise_faults(report.faults)
    return tree, tree.branch
