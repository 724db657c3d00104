"""A schema: what the public already knows about a private table, or about transactions."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hedgerow.errors import SchemaError, UsageError
from hedgerow.registry import load
from hedgerow.schema.attributes import (
    OTHER,
    Attribute,
    Categorical,
    Complaint,
    Layout,
    Numeric,
    attribute_faults,
    column_fault,
    describe,
    layout_faults,
    read_number,
)
from hedgerow.schema.conditions import suggest
from hedgerow.schema.items import Items, items_faults
from hedgerow.schema.relations import (
    NamedTable,
    Rule,
    describe_tables,
    end_codes,
    read_tables,
    relation_faults,
)
from hedgerow.schema.taxonomy_files import DEFAULT_ROOT
from hedgerow.schema.yaml_text import Fault, label_fault, raise_faults
from hedgerow.suggestions import SCHEMA, Checked, Suggestions, answer_mistakes, as_text

if TYPE_CHECKING:
    from hedgerow.arrays import Bools, Ints

# Metadata of a schema: whose data it is, what for, and who signed the schema off. All public.


LONGEST = 500  # characters of one entry


@dataclass(frozen=True, kw_only=True)
class Metadata(Checked):
    """Facts about data and schema that a release repeats; each may be missing.

    Args:
        institution: Who holds the data and publishes the release.
        contact: Whom to ask.
        period: When the data was collected.
        license: Under which terms the release may be used.
        purpose: What it is published for.
        recipients: Who receives it.
        unit_name: What one record is called, singular and plural.
        reviewer: Who has seen that everything in the schema is public knowledge.
        reviewed: When that was, as YYYY-MM-DD.
        signed: What was seen: the fingerprint of the schema (`Schema.fingerprint`).

    Example:
        >>> about = Metadata(institution="St Anne", unit_name=("encounter", "encounters"))
        >>> about.describe()
        {'institution': 'St Anne', 'unit_name': ['encounter', 'encounters']}
    """

    institution: str | None = None
    contact: str | None = None
    period: str | None = None
    license: str | None = None
    purpose: str | None = None
    recipients: str | None = None
    unit_name: tuple[str, str] | None = None
    reviewer: str | None = None
    reviewed: str | None = None
    signed: str | None = None

    def __post_init__(self) -> None:
        """Refuses what could not be shown or read back."""
        super().__post_init__()
        wrong = faults_of(self.describe())
        raise_faults([Fault(f"metadata: {what}", hint) for _, what, hint in wrong])

    @property
    def unsigned(self) -> Metadata:
        """The same without a sign-off."""
        return replace(self, reviewer=None, reviewed=None, signed=None)

    def describe(self) -> dict[str, Any]:
        """What is known, as JSON would hold it."""
        known = {key: value for key, value in asdict(self).items() if value is not None}
        return {key: list(v) if isinstance(v, tuple) else v for key, v in known.items()}


def faults_of(entries: Mapping[str, Any]) -> Iterator[Complaint]:
    """What is wrong with metadata."""
    for key, value in entries.items():
        for text in [value] if isinstance(value, str) else value:
            wrong = label_fault(text)
            if wrong is not None:
                yield key, f"{key} is blank or holds a control character", wrong[1]
            elif len(text) > LONGEST:
                hint = "Say it shortly, and link to the rest."
                yield key, f"{key} has more than {LONGEST} characters", hint
    signed = "reviewer" in entries
    day = read_number(entries.get("reviewed", "2026-01-31"))
    if signed != ("reviewed" in entries) or ("signed" in entries and not signed):
        hint = "Write both: reviewer: a name, and reviewed: a date such as 2026-01-31."
        yield "reviewer", "a sign-off needs a reviewer and a date", hint
    elif day is None or day[1] != "date":
        yield "reviewed", "reviewed is not a date", "Write it as 2026-01-31."


Unit = Literal["row", "person"]

_NAMED = 20  # attributes, when a schema is shown

BOTH = (
    "the schema has both attributes and items",
    "Describe a table by its attributes or transactions by their items, in two schemas.",
)


@dataclass(frozen=True)
class Person(Checked):
    """The column that identifies people, and the most rows that count for one of them."""

    column: str
    max_rows: int


@answer_mistakes
@dataclass(frozen=True, repr=False)
class Schema(Suggestions, Checked):
    """The public description of a table, by its attributes, or of transactions, by their items.

    Args:
        name: What the table is called in releases.
        attributes: The predictors, in the order of the file; none for transactions.
        target: The class attribute, if there is one.
        identifiers: Columns that are dropped.
        person: The column that identifies people, if the unit is a person.
        is_draft: Whether the schema is still a draft, which must not be used for publishing.
        began_as_draft: Whether the schema was drafted from private data by `hedgerow init`.
        items: The items of transactions; a schema has attributes or items, never both.
        unit: Whom the guarantee protects: "row" if each row, line or record is one person,
            "person" if a column identifies people. Nothing is published while it is None.
        metadata: Whose data it is, what for, and who signed the schema off.
        file: Where the table stands in its file.
        tables: Tables that the release should hold.
        rules: What cannot be, as everybody knows.
        warnings: What the reader found odd, though not wrong.

    Example:
        >>> schema = Schema.from_dict({
        ...     "name": "people",
        ...     "unit": "row",
        ...     "attributes": {
        ...         "age": {"type": "numeric", "low": 17, "high": 90},
        ...         "sex": {"type": "categorical", "values": ["Female", "Male"]},
        ...         "salary": {"type": "categorical", "values": ["low", "high"], "role": "class"},
        ...     },
        ... })
        >>> [attribute.name for attribute in schema.attributes], schema.classes
        (['age', 'sex'], ('low', 'high'))
        >>> Schema.from_dict(schema.to_dict()) == schema
        True
    """

    _suggestions = SCHEMA

    name: str
    attributes: tuple[Attribute, ...] = ()
    _: KW_ONLY
    target: Categorical | None = None
    identifiers: tuple[str, ...] = ()
    person: Person | None = None
    is_draft: bool = False
    began_as_draft: bool = False
    items: Items | None = None
    unit: Unit | None = None
    metadata: Metadata = Metadata()
    file: Layout = Layout()
    tables: tuple[NamedTable, ...] = ()
    rules: tuple[Rule, ...] = ()
    warnings: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuses what could not be published or read back."""
        if isinstance(self.name, Mapping):
            hint = "Write hedgerow.Schema.from_dict({...}), or hedgerow.Schema.load(path)."
            raise UsageError("a schema is not made of a mapping by itself", hint=hint)
        super().__post_init__()
        wrong = label_fault(self.name)
        if wrong is not None:
            raise SchemaError(f"the schema's name: {wrong[0]}", wrong[1])
        transactions = self.items is not None
        layout = layout_faults(self.file, items=transactions)
        raise_faults([Fault(f"file: {what}", hint) for _, what, hint in layout])
        wrong = unit_fault(self.unit, self.person_column, items=transactions)
        unit_faults = [] if wrong is None else [Fault(*wrong)]
        if self.items is not None:
            faults = [Fault(f"items: {what}", hint) for _, what, hint in items_faults(self.items)]
            if self.attributes or self.target or self.identifiers or self.person:
                faults.append(Fault(*BOTH))
            raise_faults([*faults, *relation_faults(self), *unit_faults])
            return
        if self.file.decimal or self.file.thousands:
            self._take_notation()
        raise_faults([*schema_faults(self), *unit_faults])
        if self.tables or self.rules:
            raise_faults(relation_faults(self))

    def __repr__(self) -> str:
        """Its name, its unit and the names of its columns, or how many items there are."""
        known = [f"Schema({self.name!r}", f"unit={self.unit!r}"]
        if self.items is not None:
            return f"{', '.join(known)}, items={self.items.size})"
        names = [attribute.name for attribute in self.attributes]
        more = ", ..." if len(names) > _NAMED else ""
        known.append(f"attributes=[{', '.join(map(repr, names[:_NAMED]))}{more}]")
        if self.target is not None:
            known.append(f"target={self.target.name!r}")
        return f"{', '.join(known)})"

    def __getitem__(self, name: str) -> Attribute:
        """The attribute of a name, or the class.

        Example:
            >>> Schema.of({"name": "s", "unit": "row", "attributes": {
            ...     "ill": {"type": "boolean"}}})["ill"].size
            2
        """
        if self.items is not None:
            raise UsageError(
                "a schema of transactions has items, not attributes",
                hint=f"Write schema.items, or {as_text(self.items.given[0])} in schema.",
            )
        for attribute in self.columns:
            if attribute.name == name:
                return attribute
        if not isinstance(name, str):
            raise UsageError(
                f"a schema is asked by names, not by type {type(name).__name__}",
                hint=f"Write schema[{self._examples()['one']}], or schema.columns[0] by place.",
            )
        hint = suggest(name, list(self), "Its attributes")
        raise UsageError(f"the schema has no attribute {name!r}", hint)

    def __iter__(self) -> Iterator[str]:
        """The names of the attributes and of the class, or of all items."""
        return iter([one.name for one in self.columns] if self.items is None else self.items.given)

    def __contains__(self, name: object) -> bool:
        """Whether it is the name of an attribute, of the class, or of an item."""
        return any(name == one for one in self)

    def __len__(self) -> int:
        """How many attributes there are, with the class, or how many items."""
        return len(self.columns) if self.items is None else len(self.items.given)

    def __bool__(self) -> bool:
        return True

    def _suggest(self, name: str) -> str | None:
        known = "attributes" in vars(self) and name in self  # which a copy does not have yet
        return f"schema[{as_text(name)}]" if known else super()._suggest(name)

    def _examples(self) -> Mapping[str, str]:
        return {"one": as_text(next(iter(self), "..."))}

    def _take_notation(self) -> None:
        """Numbers whose columns do not say how they are written are written as the file says."""

        def write(one: Any) -> Any:
            if not isinstance(one, Numeric) or one.kind == "date" or one.decimal or one.thousands:
                return one
            return replace(one, decimal=self.file.decimal, thousands=self.file.thousands)

        object.__setattr__(self, "attributes", tuple(map(write, self.attributes)))
        if self.target is not None:
            object.__setattr__(self, "target", replace(self.target, bands=write(self.target.bands)))

    @staticmethod
    @answer_mistakes
    def load(path: str | Path) -> Schema:
        """Reads a schema from a YAML file; taxonomy files are looked for beside it.

        Raises:
            SchemaError: With the file and line of what is wrong, and how to mend it.
            UsageError: If it is not a path.

        Example:
            >>> import tempfile
            >>> document = {"name": "s", "unit": "row", "attributes": {"ill": {"type": "boolean"}}}
            >>> path = Path(tempfile.mkdtemp()) / "schema.yaml"
            >>> path.write_text(Schema.of(document).to_yaml()) > 0
            True
            >>> Schema.load(path)
            Schema('s', unit='row', attributes=['ill'])
        """
        if not isinstance(path, str | os.PathLike):
            raise UsageError(
                f"a schema is loaded from a file, not from type {type(path).__name__}.",
                'Write Schema.load("schema.yaml"), or Schema.of(dictionary).',
            )
        from hedgerow.schema.build import load_schema  # slow to import, so only when needed

        return load_schema(Path(path))

    @staticmethod
    @answer_mistakes
    def of(schema: Schema | Mapping[str, Any] | str | os.PathLike[str] | None) -> Schema:
        """A schema as a script names it: itself, the path of its file, or a dictionary.

        Args:
            schema: What was given. A dictionary may not name files; `from_dict` tells it a folder.

        Raises:
            SchemaError: If it breaks a rule.
            UsageError: If it is nothing of these.

        Example:
            >>> Schema.of({"name": "s", "unit": "row", "attributes": {
            ...     "ill": {"type": "boolean"}}}).attributes[0].name
            'ill'
        """
        if isinstance(schema, Schema):
            return schema
        if isinstance(schema, Mapping):
            return Schema.from_dict(schema)
        if isinstance(schema, str | os.PathLike):
            return Schema.load(Path(schema))
        raise UsageError(
            "schema is missing."
            if schema is None
            else f"schema cannot be of type {type(schema).__name__}.",
            hint='Write schema="schema.yaml", or give a hedgerow.Schema or a dictionary. It says '
            "what is publicly known of each column; `hedgerow init` drafts one from the data.",
        )

    @staticmethod
    @answer_mistakes
    def draft(data: object, *, unit: Unit | None = None, delimiter: str | None = None) -> Schema:
        """A draft made from private data, as `hedgerow init` writes it: not for publishing yet.

        `publish` refuses it until bounds and values come from public knowledge and somebody has
        signed it: write `to_yaml()` to a file, go through it, and run `hedgerow sign`. A release
        says that its schema began as a draft.

        Args:
            data: Whatever `hedgerow.publish` takes.
            unit: Whom a release is to protect, "row" or "person", if that is known.
            delimiter: The delimiter of a CSV file, if its first line is not to tell it.

        Raises:
            DataError: If nothing can be drafted from the data.

        Example:
            >>> import pyarrow as pa
            >>> schema = Schema.draft(pa.table({"smoker": ["yes", "no", "no"]}), unit="row")
            >>> schema.is_draft, schema.attributes[0].name
            (True, 'smoker')
        """
        made: Schema = load("hedgerow.draft.draft:draft_schema")(data, unit, delimiter)
        return made

    from_pandas = from_dataframe = from_csv = infer = draft  # what other libraries call it
    from_yaml = load

    @staticmethod
    @answer_mistakes
    def from_dict(document: Mapping[str, Any], folder: str | Path | None = None) -> Schema:
        """Builds a schema from the dictionary form of a schema file.

        Args:
            document: What the YAML file would hold.
            folder: Where taxonomy files lie. Without it the document may not name files, so
                that a release from a stranger cannot make us open any.

        Raises:
            SchemaError: If the document breaks a rule.

        Example:
            >>> document = {"name": "s", "unit": "row", "attributes": {"ill": {"type": "boolean"}}}
            >>> Schema.from_dict(document)
            Schema('s', unit='row', attributes=['ill'])
        """
        from hedgerow.schema.build import schema_from_dict

        return schema_from_dict(document, None if folder is None else Path(folder))

    @property
    def kind(self) -> Literal["table", "transactions"]:
        """What the schema describes: a table by its attributes, or transactions by their items."""
        return "table" if self.items is None else "transactions"

    @property
    def transaction_items(self) -> Items:
        """The items of transactions.

        Raises:
            SchemaError: If the schema describes a table.
        """
        if self.items is None:
            raise SchemaError(
                f"the schema {self.name!r} describes a table, not transactions",
                hint="Describe the items that records hold by `items:`.",
            )
        return self.items

    @property
    def person_column(self) -> str | None:
        """The column that identifies people, of a table or of transactions; None without one."""
        if self.items is not None:
            return self.items.person
        return None if self.person is None else self.person.column

    @property
    def columns(self) -> tuple[Attribute, ...]:
        """The attributes, and the class as the last of them if there is one."""
        return (*self.attributes, *(() if self.target is None else (self.target,)))

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels of the class; none if there is no class."""
        return () if self.target is None else self.target.taxonomy.leaves

    @property
    def unit_names(self) -> tuple[str, str]:
        """What one counted record is called, and several of them.

        A row is a person only if no person may have several.
        """
        if self.metadata.unit_name is not None:
            return self.metadata.unit_name
        if self.items is not None:
            return "record", "records"
        several = self.unit is None or (self.person is not None and self.person.max_rows > 1)
        return ("row", "rows") if several else ("person", "people")

    def with_tables(self, tables: Sequence[str | Sequence[str] | Mapping[str, Any]]) -> Schema:
        """The same with more tables that the release should hold.

        Args:
            tables: Each as a schema file names it: a text, a list of names, or a mapping of
                `attributes` and `weight`.

        Raises:
            SchemaError: If one cannot be, or is there already.

        Example:
            >>> from hedgerow import sample
            >>> sample.schema().with_tables(["sex smoker", ["readmitted", "sex"]]).tables[1].places
            (-1, 1)
        """
        given = [tables] if isinstance(tables, str) else [*tables]
        if not given:
            return self
        if self.items is not None:
            what = "tables are about columns, and the schema has items"
            raise SchemaError(what, "Name none.")
        made, wrong = read_tables(given, self)
        raise_faults([Fault(f"table {given[n]!r}: {what}", hint) for n, what, hint in wrong])
        return replace(self, tables=(*self.tables, *made))

    def cuts(self, place: int) -> set[int]:
        """The codes of a column at which rules cut it, so that cells can follow them.

        Args:
            place: Its place among the attributes, or `CLASS`.

        Example:
            >>> schema = Schema.of({"name": "s", "unit": "row", "attributes": {
            ...     "age": {"type": "numeric", "low": 0, "high": 99},
            ...     "works": {"type": "boolean"}}, "rules": ["age < 15 implies works = false"]})
            >>> schema.cuts(0), schema.cuts(1)
            ({15}, {1})
        """
        queries = [query for rule in self.rules for query in rule.impossible]
        ends = {int(end) for query in queries for end in end_codes(query, place)}
        return ends - {0, self.columns[place].size}

    def breaks_rules(self, codes: Ints, classes: Ints | None = None) -> Bools:
        """Which rows break a rule.

        Args:
            codes: The codes of rows, [rows, attributes].
            classes: Their classes, if there is one.

        Example:
            >>> schema = Schema.of({"name": "s", "unit": "row", "attributes": {
            ...     "age": {"type": "numeric", "low": 0, "high": 99},
            ...     "works": {"type": "boolean"}}, "rules": ["age < 15 implies works = false"]})
            >>> import numpy as np
            >>> schema.breaks_rules(np.array([[14, 1], [15, 1], [14, 0]])).tolist()
            [True, False, False]
        """
        import numpy as np  # slow to import, so only where there is data

        broken = np.zeros(len(codes), bool)
        for rule in self.rules:
            broken |= rule.breaks([*codes.T], classes)
        return broken

    def to_dict(self) -> dict[str, Any]:
        """The canonical dictionary form: fit for JSON, taxonomies inline, nothing omitted.

        Example:
            >>> document = {"name": "s", "unit": "row", "attributes": {"ill": {"type": "boolean"}}}
            >>> Schema.from_dict(document).to_dict()["unit"]
            'row'
        """
        columns: dict[str, Any] = {a.name: describe(a) for a in self.attributes}
        if self.target is not None:
            columns[self.target.name] = describe(self.target) | {"role": "class"}
        if self.person is not None:
            columns[self.person.column] = {"role": "person", "max_rows": self.person.max_rows}
        columns |= {name: {"role": "identifier"} for name in self.identifiers}
        document = {
            "name": self.name, "unit": self.unit, "draft": self.is_draft,
            "began_as_draft": self.began_as_draft, "metadata": self.metadata.describe(),
            "file": self.file.describe(), "items": self.items and self.items.describe(),
            "attributes": columns, "tables": self.tables and describe_tables(self),
            "rules": [rule.text for rule in self.rules],
        }  # fmt: skip
        return {key: said for key, said in document.items() if said not in (None, (), [], {})}

    @answer_mistakes
    def to_yaml(self, path: str | os.PathLike[str] | None = None) -> str:
        """The schema as the text of a schema file, without what is default anyway.

        Args:
            path: Where to write it, too; a file that is there is replaced.

        Example:
            >>> print(Schema.from_dict({"name": "x", "unit": "row", "attributes": {
            ...     "owner": {"type": "categorical", "values": ["No", "Yes"]}}}).to_yaml())
            name: x
            unit: row
            attributes:
              owner:
                type: categorical
                values:
                - 'No'
                - 'Yes'
            <BLANKLINE>
        """
        from hedgerow.schema.yaml_text import dump

        def shorten(part: dict[str, Any], usual: dict[str, Any]) -> dict[str, Any]:
            return {key: said for key, said in part.items() if said != usual.get(key, ...)}

        document = shorten(self.to_dict(), {"draft": False, "began_as_draft": False})
        usual: dict[str, Any] = {"missing": "error", "outside": "error", "root": DEFAULT_ROOT}
        if self.items is not None:
            usual |= Items(("a",)).describe() | {"universe": ...}
            document["items"] = shorten(document["items"], usual)
        else:
            columns = document["attributes"].items()
            document["attributes"] = {name: shorten(one, usual) for name, one in columns}
        text = dump(document)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    @cached_property
    def hash(self) -> str:
        """The SHA-256 of the canonical form, in hexadecimal."""
        return self._hash()

    @cached_property
    def fingerprint(self) -> str:
        """What a reviewer signs: a hash of everything but metadata and the marks of a draft.

        Taxonomies are in it, whichever file they come from, so it changes with them.
        """
        return self._hash("draft", "began_as_draft", "metadata")[:32]

    def _hash(self, *without: str) -> str:
        document = {key: said for key, said in self.to_dict().items() if key not in without}
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8")).hexdigest()

    @property
    def changed_since_signed(self) -> bool:
        """Whether a reviewer signed another schema than this one; never without a fingerprint."""
        return self.metadata.signed is not None and self.metadata.signed != self.fingerprint

    @property
    def is_signed_off(self) -> bool:
        """Whether a reviewer is named who signed this very schema, as far as that can be told."""
        return self.metadata.reviewer is not None and not self.changed_since_signed


def schema_faults(schema: Schema) -> Iterator[Fault]:
    """What is wrong with the columns of a schema that was built in Python."""
    if not schema.attributes:
        hint = "Describe at least one column that is not the class, the person or an identifier."
        yield Fault("the schema has no attribute to publish", hint)
    if schema.target is not None and schema.target.taxonomy.height > 1:
        what = f"the class {schema.target.name!r} has a taxonomy of several levels"
        yield Fault(what, "Give the class a flat list of values.")
    for attribute in schema.attributes:
        if isinstance(attribute, Categorical) and attribute.bands is not None:
            what = f"attribute {attribute.name!r}: bands are for the class alone"
            yield Fault(what, "Use the numeric attribute itself.")
    for attribute in schema.columns:
        wrong = [fault[1:] for fault in attribute_faults(attribute, attribute is schema.target)]
        for what, hint in filter(None, [column_fault(attribute.name, True), *wrong]):
            yield Fault(f"attribute {attribute.name!r}: {what}", hint)
    others = [*schema.identifiers, *([] if schema.person is None else [schema.person.column])]
    for name in others:
        if (fault := column_fault(name, False)) is not None:
            yield Fault(f"column {name!r}: {fault[0]}", fault[1])
    names = Counter([*(one.name for one in schema.columns), *others])
    columns = Counter([*(one.column or one.name for one in schema.columns), *others])
    for name in sorted(name for name in names | columns if max(names[name], columns[name]) > 1):
        yield Fault(f"the column {name!r} is described twice", "Keep one of the two.")
    if schema.person is not None and schema.person.max_rows < 1:
        yield Fault("max_rows is below 1", "Say how many rows one person may have.")


def unit_fault(unit: str | None, person: str | None, items: bool) -> tuple[str, str] | None:
    """What is wrong with a statement of the unit of protection, and the way out.

    Args:
        unit: What is stated, if anything.
        person: The column that identifies people, if there is one.
        items: Whether the schema describes transactions.
    """
    if unit == "person" and person is None:
        column = "`person:` below `items:`" if items else "with `role: person` and `max_rows`"
        hint = f"Name the column that does, {column}, or write `unit: row` if each row is one "
        return "the unit is a person, and no column identifies people", f"{hint}person."
    if unit == "row" and person is not None:
        way = "take out `person:` below `items:`" if items else "give it `role: identifier`"
        hint = f"Write `unit: person`; or, only if each row is a different person, {way}."
        return f"the unit is a row, and column {person!r} identifies people", hint
    return None


NO_UNIT = (
    "the unit of protection is missing: whom epsilon is for",
    "Write `unit: row` if every row or record is a different person, else `unit: person`.",
)


def refuse_no_unit(schema: Schema) -> None:
    """Refuses a schema that does not state whom the guarantee protects."""
    if schema.unit is not None:
        return
    row, column = "row", "a column with `role: person` and `max_rows`"
    if schema.items is not None:
        row, column = "record", "`person:` below `items:`"
    raise SchemaError(
        f"The schema {schema.name!r} does not state its unit of protection: whom epsilon is for.",
        hint=f"Write `unit: row` at the top of the schema if every {row} is a different person, or "
        f"`unit: person` if a person may have several {row}s: {column} then identifies people. If "
        f"`unit: row` is stated wrongly, someone with k {row}s is protected k times less than "
        "epsilon says.",
        places=[("unit",)],
    )


# What people see instead of a label that could be taken for another.


def other_of(attribute: Attribute) -> str:
    """What the value `other` is called, if rules of the schema put values there.

    A schema may have a value of this name itself, or one that differs in a capital letter alone.
    """
    outside = "not listed" if isinstance(attribute, Categorical) else "out of bounds"
    rules = (attribute.missing, "missing"), (attribute.outside, outside)
    why = [word for rule, word in rules if rule == OTHER]
    return f"{OTHER} (incl. {' and '.join(why)})" if why else OTHER


TO = "\u00a0to\u00a0"  # a line must not end inside an interval
_BAND = re.compile(r"\[(.+), (.+)([)\]])( or other)?")


def part_of(attribute: Attribute, low: int | Fraction, high: int | Fraction) -> str:
    """The generalized value for the codes from low to high, in words.

    Example:
        >>> from fractions import Fraction
        >>> age = Numeric("age", low=Fraction(17), high=Fraction(90), step=Fraction(1),
        ...     kind="integer", missing="other")
        >>> [part_of(age, *codes).replace("\u00a0", " ") for codes in ((1, 23), (3, 4), (74, 75))]
        ['18 to 39', '20', 'other (incl. missing)']
        >>> bmi = Numeric("bmi", low=Fraction(14), high=Fraction(48), step=Fraction(1, 2),
        ...     kind="decimal")
        >>> [part_of(bmi, *codes).replace("\u00a0", " ") for codes in ((0, 2), (2, 69))]
        ['14 to under 15', '15 to 48']
    """
    if isinstance(attribute, Categorical):
        low, high = int(low), int(high)
        if attribute.bands is not None and high <= len(attribute.edges):
            ends = (*attribute.edges, attribute.bands.grid)
            return part_of(attribute.bands, ends[low], ends[high])
        label = attribute.label(low, high)
        return other_of(attribute) if label == OTHER else label
    if low >= attribute.grid:
        return other_of(attribute)
    other = f" or {other_of(attribute)}" if high > attribute.grid else ""
    first, end, under = attribute.edge(low), attribute.edge(min(high, attribute.grid)), ""
    if high < attribute.grid:
        if isinstance(end, datetime.date):
            end -= datetime.timedelta(days=1)
        elif isinstance(end, int):
            end -= 1
        else:
            under = "under\u00a0"
    to = " to\u00a0" if attribute.kind == "date" else TO  # two dates are too long for a phone
    return f"{first}{other}" if first == end else f"{first}{to}{under}{end}{other}"


def display_label(schema: Schema, name: str, label: str) -> str:
    """A label of a table as people see it: `other` says what is in it, and numbers are in words.

    Example:
        >>> from hedgerow import sample
        >>> display_label(sample.schema(), "age", "[20, 30)").replace("\u00a0", " ")
        '20 to 29'
    """
    attribute = next((one for one in schema.columns if one.name == name), None)
    if attribute is None:
        return label
    number = attribute.bands if isinstance(attribute, Categorical) else attribute
    part = _BAND.fullmatch(label)
    if label == OTHER:
        return other_of(attribute)
    if number is None or part is None:
        return label
    first, end = (read_number(part[place]) for place in (1, 2))
    if first is None or end is None:
        return label
    low, high = ((value - number.low) / number.step for value, _ in (first, end))
    last = high if part[3] == ")" else number.grid
    return part_of(number, low, number.size if part[4] else last)
