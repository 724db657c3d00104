"""What a schema says: whom a release protects, what is public about columns, and who publishes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from hedgerow.errors import HedgerowError, SchemaError, UsageError
from hedgerow.schema.yaml_text import Entries, ListNode, Node, Text
from hedgerow.store.html_text import visible
from hedgerow.studio.folder import Conflict
from hedgerow.studio.schema_text import SchemaText, describe_change, entries_of, plain
from hedgerow.studio.steps import Asked

if TYPE_CHECKING:
    from hedgerow.studio.views.guided import Guided

# The second step: whom a release protects.


def show_unit(asked: Asked) -> Response:
    """Is each row a person, or can a person have several?"""
    text = asked.text
    if guided := find_guided(asked):
        from hedgerow.studio.views.guided import ask_unit

        return ask_unit(asked, guided)
    if text.is_draft and not text.has_unit:  # nobody has changed it yet: no command reads it
        asked.studio.drafts[text.path] = text.domains()
    kind, repeated = bool(text.items), list_repeated(text)
    return asked.page("unit", text=text, person=_person(text), is_items=kind, repeated=repeated)


def save_unit(asked: Asked) -> Response:
    """Writes the unit into the schema."""
    text = asked.text
    if guided := find_guided(asked):
        from hedgerow.studio.views.guided import take_unit

        return take_unit(asked, guided)
    unit = asked.get("unit")
    if unit not in ("row", "person"):
        raise UsageError("the unit was not chosen.", hint="Choose whether each row is a person.")
    if unit == "row":
        doubt(text, asked)
    column = asked.get("column") if unit == "person" else ""
    if text.items:
        changed = _of_items(text, column, asked.get("item"))
    else:
        changed = _of_columns(text, column, asked.get("max_rows").strip() or "1")
    changed = changed.put(plain(unit), "unit")
    return save(asked, changed, "columns")


def save(asked: Asked, changed: SchemaText, page: str, **more: str) -> Response:
    """Writes a changed schema, and leads on; the next page says if a sign-off was withdrawn."""
    withdrawn = changed.save(asked.get("seen"), asked.step)
    return asked.way.go(page, withdrawn="yes" if withdrawn else "", **more)


def find_guided(asked: Asked) -> Guided | None:
    """The questions that the page asks, if the draft was made here."""
    if not (asked.get("drafted") or asked.studio.guided):
        return None
    from hedgerow.studio.views.guided import under_way

    return under_way(asked)


def list_repeated(text: SchemaText) -> list[str]:
    """The columns of which the draft says that they identify people who have several rows."""
    from hedgerow.draft.people import REPEATED

    return [name for name in text.columns if any(one in text.reason(name) for one in REPEATED)]


def doubt(text: SchemaText, asked: Asked) -> None:
    """Refuses that each row is a person where the draft found otherwise, unless that was ticked.

    Raises:
        UsageError: If it was not.
    """
    repeated = list_repeated(text)
    if repeated and not asked.get("each_row"):
        raise UsageError(
            f"people seem to have several rows: {', '.join(repeated)} seems to tell them apart, "
            "and its values repeat. If so, they would be protected less than epsilon says.",
            hint="Choose that a person can have several rows, or tick the box that says that they "
            "have not.",
        )


def _person(text: SchemaText) -> tuple[str, str]:
    """The column that identifies people, and how many rows of each count."""
    for name, settings in text.columns.items():
        role, most = settings.get("role"), settings.get("max_rows")
        if isinstance(role, Text) and role.value == "person":
            return name, most.value if isinstance(most, Text) else "1"
    return "", "1"


def _of_columns(text: SchemaText, column: str, most: str) -> SchemaText:
    """The schema of a table with this column for the person, or with none."""
    before, _ = _person(text)
    if before and before != column:
        text = text.put({"role": plain("identifier")}, "attributes", before)
    if not column:
        return text
    if column not in text.columns:
        raise UsageError(
            "the column was not chosen.", hint="Choose the one that identifies people."
        )
    return text.put({"role": plain("person"), "max_rows": plain(most)}, "attributes", column)


def _of_items(text: SchemaText, column: str, item: str) -> SchemaText:
    """The same for transactions: below `items:`."""
    settings = {key: one for key, one in text.items.items() if key not in ("person", "item")}
    who: dict[str, Node] = {"person": Text(column), "item": Text(item)} if column else {}
    return text.put(settings | who, "items")


# The third step: what is public about every column, with the reasons of the draft.

_NUMBERS = ("low", "high", "step")
_ALIKE = 4  # so many columns that are alike are asked about once
_RULES = ("missing", "outside")
_WRITTEN = ("decimal", "thousands", "format")  # how numbers and dates are written
_LINE = 60  # characters of values on the line of a column
_BLANK = "blank"  # what the form calls one
_OF_ITEMS = ("max_items", "fan_out", "foreign", "empty", "separator")


def brief(values: Sequence[str]) -> str:
    """Values on a line, none of them cut off.

    Example:
        >>> brief(["north", "south"]), brief([f"ward {number}" for number in range(30)])
        ('north, south', '30 values: ward 0, ward 1, ward 2 and so on')
    """
    whole = ", ".join(values)
    if len(whole) <= _LINE:
        return whole
    first = ", ".join(values[:3])
    return f"{len(values)} values" + (f": {first} and so on" if len(first) <= _LINE else "")


def show_columns(asked: Asked) -> Response:
    """The columns, to be completed and corrected."""
    if asked.get("form") != "all" and (guided := find_guided(asked)):
        from hedgerow.studio.views.guided import ask_columns

        return ask_columns(asked, guided)
    return _page(asked, asked.text)


def save_columns(asked: Asked) -> Response:
    """Writes what was entered into the schema; shows it again if that is not a schema."""
    if asked.get("form") != "all" and (guided := find_guided(asked)):
        from hedgerow.studio.views.guided import take_columns

        return take_columns(asked, guided)
    text, action = asked.text, asked.get("action")
    if action == "bulk":
        asked = _bulk(asked, text).apply(asked)
    changed = _with_items(text, asked) if text.items else _with_columns(text, asked)
    if action == "filter":
        return _page(asked, changed)
    try:
        return save(asked, changed, "columns" if action == "bulk" else "taxonomies")
    except (SchemaError, Conflict) as error:
        return _page(replace(asked, fault=error), changed)


def _bulk(asked: Asked, text: SchemaText) -> Bulk:
    return Bulk.of(asked, {n: (name,) for n, name in enumerate(text.columns)})


def _page(asked: Asked, text: SchemaText) -> Response:
    """The columns as `text` has them, which may be what was entered and not saved."""
    now = asked.text if isinstance(asked.fault, Conflict) else None
    return asked.page(
        "columns", command=["check", asked.way.argument("schema")], text=asked.text,
        seen=now.mark if now else asked.get("seen") or text.mark,
        changes=[] if now is None else describe_change(now, text), bulk=_bulk(asked, text),
        columns=_show_columns(text, asked.fault),
        items=_items(text.items) if text.items else None,
    )  # fmt: skip


def _text(node: Node | None) -> str:
    return node.value if isinstance(node, Text) else ""


def _list_lines(node: Node | None) -> str | None:
    """A list with one value a line; None if it is not a list of texts."""
    if not isinstance(node, ListNode) or not all(isinstance(one, Text) for one in node.items):
        return None
    return "\n".join(_text(one) for one in node.items)


def _families(text: SchemaText) -> dict[str, tuple[str, ...]]:
    """Columns that are alike, such as twenty medications with the same four values."""
    return {first: names[1:] for first, names in text.alike().items() if len(names) >= _ALIKE}


def _show_columns(text: SchemaText, error: HedgerowError | None) -> list[SimpleNamespace]:
    """The columns as the form shows them."""
    families = _families(text)
    firsts = {name: first for first, others in families.items() for name in others}
    wrong = {place[1] for place in (error.places if error else ()) if len(place) > 1}
    return [
        SimpleNamespace(
            **_show_column(settings), name=name,
            reason=text.reason(name),  # why the draft describes it like that
            others=families.get(name, ()),  # that are described alike, if this is the first of many
            first=firsts.get(name, ""),  # of these, if this is another
            is_open=name in wrong,
        )
        for name, settings in text.columns.items()
    ]  # fmt: skip


def _show_column(settings: Mapping[str, Node]) -> dict[str, Any]:
    """What a column is, the texts of its form, one value a line, and all that on a line.

    Values are None if they come from a taxonomy.
    """
    role, kind = _text(settings.get("role")), _text(settings.get("type"))
    kind = role if role in ("identifier", "person") else kind
    fields = {key: _text(settings.get(key)) for key in (*_NUMBERS, *_RULES, *_WRITTEN, "taxonomy")}
    fields["scale"] = "log" if _text(settings.get("scale")) == "log" else ""
    fields["thousands"] = _BLANK if fields["thousands"] == " " else fields["thousands"]
    fields["ignore"] = ", ".join((_list_lines(settings.get("ignore")) or "").split())
    whole = not {"values", "taxonomy", "recode"} & settings.keys()
    values, content = "" if whole else _list_lines(settings.get("values")), ""
    if kind == "numeric":
        more = [f"step {fields['step']}" if fields["step"] else "",
                "log scale" if fields["scale"] else ""]  # fmt: skip
        content = ", ".join(filter(None, [f"{fields['low']} to {fields['high']}", *more]))
    elif kind == "categorical":
        content = f"values of {fields['taxonomy'] or 'its taxonomy'}"
        content = brief(values.splitlines()) if values else content
    shown = {"kind": kind, "fields": fields, "values": values, "content": content}
    return shown | {"is_class": role == "class"}


def _items(settings: Mapping[str, Node]) -> dict[str, str | None]:
    """The settings of items as the form shows them."""
    fields: dict[str, str | None] = {key: _text(settings.get(key)) for key in _OF_ITEMS}
    universe = settings.get("universe")
    fields["universe"] = _list_lines(universe)
    if isinstance(universe, Entries) and isinstance(universe.pairs[0][1], ListNode):
        ends = [_text(one) for one in universe.pairs[0][1].items]
        fields["from"], fields["to"] = ends if len(ends) == 2 else ("", "")
    return fields


def _with_columns(text: SchemaText, asked: Asked) -> SchemaText:
    entered, ticked = dict[str, dict[str, Node]](), set[str]()
    for place, (name, before) in enumerate(text.columns.items()):
        entered[name] = _read_form(place, before, asked)
        ticked |= {name} if asked.get(f"alike-{place}") else set()
    for first, others in _families(text).items():
        if first not in ticked:
            continue
        shared = _but_role(entered[first])
        for name in others:
            new = entered[name]
            if _but_role(new) == _but_role(text.columns[name]):  # what was changed itself stays
                role = {"role": new["role"]} if shared and "role" in new else {}
                entered[name] = (shared or entered[first]) | role
    for name, settings in entered.items():
        text = text.put(settings, "attributes", name)
    return text


def _but_role(settings: Mapping[str, Node]) -> dict[str, Node]:
    return {key: node for key, node in settings.items() if key != "role"}


def _read_form(place: int, before: Mapping[str, Node], asked: Asked) -> dict[str, Node]:
    """The settings of a column by the form; what is not in the form stays."""
    kind = asked.get(f"kind-{place}")
    if not kind or kind == "person":
        return dict(before)
    if kind == "identifier":
        same = _text(before.get("role")) == "identifier"
        return dict(before) if same else {"role": plain("identifier")}
    same = _text(before.get("type")) == kind
    settings: dict[str, Node] = dict(before) if same else {"type": plain(kind)}
    names = (*_NUMBERS, *_RULES, *_WRITTEN, "values", "ignore")
    given = {
        key: asked.get(f"{key}-{place}").strip() for key in names if f"{key}-{place}" in asked.form
    }
    if kind == "numeric":
        for key in _NUMBERS:
            _put(settings, key, given.get(key, ""))
    if kind == "categorical" and "values" in given:
        _list(settings, "values", given["values"], before.get("values") if same else None)
    for key in _RULES:
        rule = given.get(key, "")
        clips = rule == "clip" and kind != "numeric"
        usual = rule == "error" and key not in settings
        leave = usual or clips or (kind == "boolean" and key == "outside")
        _put(settings, key, "" if leave else rule)
    _put(settings, "role", "class" if asked.get("class") == str(place) else "")
    for key in _WRITTEN:
        if kind == "numeric" and key in given:
            _put(settings, key, " " if given[key] == _BLANK else given[key])
    if kind == "categorical" and "ignore" in given:
        _list(settings, "ignore", given["ignore"].replace(",", "\n"), before.get("ignore"))
    return settings


def _put(settings: dict[str, Node], key: str, value: str) -> None:
    """Sets a text, takes it out if it is empty, or leaves it if it is the same."""
    if not value:
        settings.pop(key, None)
    elif _text(settings.get(key)) != value:
        settings[key] = plain(value)


def _list(settings: dict[str, Node], key: str, listed: str, before: Node | None) -> None:
    """Sets a list of values; one that was not changed stays as it was written, ranges and all."""
    new = [line.strip() for line in listed.splitlines() if line.strip()]
    old = _list_lines(before)
    if old is not None and [visible(line.strip()) for line in old.split("\n")] == new:
        return
    if new:
        settings[key] = ListNode([Text(value) for value in dict.fromkeys(new)])
    else:
        settings.pop(key, None)


def _with_items(text: SchemaText, asked: Asked) -> SchemaText:
    settings = dict(text.items)
    for key in _OF_ITEMS:
        if key in asked.form:
            _put(settings, key, asked.get(key).strip())
    if "universe" in asked.form:
        _list(settings, "universe", asked.get("universe"), text.items.get("universe"))
    elif "from" in asked.form:
        ends = [asked.get("from").strip(), asked.get("to").strip()]
        if ends != [_items(text.items).get(key) for key in ("from", "to")]:
            pair = ListNode([plain(end) for end in ends])
            settings["universe"] = Entries([(Text("range", plain=True), pair)])
    return text.put(settings, "items")


# Many columns at once, by an ordinary form: which are shown, and what becomes of those ticked.


_BULK = ("kind", "missing", "outside")


@dataclass(frozen=True)
class Bulk:
    """Which columns a page shows, and which were ticked.

    Args:
        filter: What the names of those that are shown hold.
        shown: The numbers of these.
        ticked: The numbers of those that were ticked.
    """

    filter: str
    shown: frozenset[int]
    ticked: frozenset[int]

    @staticmethod
    def of(asked: Asked, names: Mapping[int, Sequence[str]]) -> Bulk:
        """What a form says.

        Args:
            asked: The form.
            names: The names of columns, by the numbers that their fields have.
        """
        words = asked.get("filter").strip()
        fits = frozenset(
            number for number, several in names.items()
            if any(words.casefold() in name.casefold() for name in several)
        )  # fmt: skip
        ticked = frozenset(number for number in names if str(number) in asked.every("pick"))
        return Bulk(words, fits, ticked)

    def apply(self, asked: Asked) -> Asked:
        """The form as if the same had been chosen for each of the columns, and none were ticked.

        Raises:
            UsageError: If no column or nothing to do was chosen.
        """
        key, _, value = asked.get("bulk").partition("=")
        meant = self.shown if asked.get("which") == "shown" else self.ticked
        if not meant or key not in _BULK:
            raise UsageError(
                "no column was ticked, or nothing was chosen for them.",
                hint="Go back, tick columns, and choose what they are.",
            )
        chosen = {f"{key}-{number}": [value] for number in meant}
        return replace(asked, form={**asked.form, **chosen, "pick": []})


# Who publishes, what for, and on which terms: what every release repeats.

FIELDS = {
    "institution": ("Institution", "Who holds the data and publishes it."),
    "contact": ("Contact", "Whom to ask: an office or a mailbox rather than a person."),
    "purpose": ("Purpose", "What the release is published for."),
    "license": ("License", "The terms of use, such as CC BY 4.0."),
    "recipients": ("Recipients", "Who receives the release: everybody, or whom."),
    "period": ("Period", "When the data was collected, as anyone may know."),
}
_UNIT_NAMES = ("one", "many")


def show_publisher(asked: Asked) -> Response:
    """What the schema says about its publisher."""
    way, text = asked.way, asked.text
    known = entries_of(text.keys.get("metadata"))
    unit = known.get("unit_name")
    names = [one.value for one in unit.items if isinstance(one, Text)] if isinstance(
        unit, ListNode) else ["", ""]  # fmt: skip
    values = {key: one.value for key, one in known.items() if isinstance(one, Text)}
    values |= dict(zip(_UNIT_NAMES, names, strict=False))  # whatever a file says
    entered = {key: asked.get(key) for key in (*FIELDS, *_UNIT_NAMES) if key in asked.form}
    return asked.page(
        "about", text=text, fields=FIELDS, values=values | entered,
        command=["check", way.argument("schema")],
    )  # fmt: skip


def save_publisher(asked: Asked) -> Response:
    """Writes it below `metadata:`; a sign-off is about the rest of the schema, and stays."""
    known = entries_of(asked.text.keys.get("metadata"))
    for key in FIELDS:
        known.pop(key, None)
        entered = " ".join(asked.get(key).split())
        known |= {key: Text(entered)} if entered else {}
    names = [Text(asked.get(key).strip()) for key in _UNIT_NAMES]
    known.pop("unit_name", None)
    known |= {"unit_name": ListNode([*names])} if any(one.value for one in names) else {}
    changed = asked.text.put(known or None, "metadata")
    changed.save(asked.get("seen"), "about")
    return asked.way.go("check")
