"""The third step: what is public about every column, with the reasons of the draft."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from starlette.responses import RedirectResponse, Response

from hedgerow.errors import SchemaError
from hedgerow.schema.yaml_reader import Entries, ListNode, Node, Text
from hedgerow.store.markup import visible
from hedgerow.studio.app import Asked
from hedgerow.studio.folder import Conflict
from hedgerow.studio.guided import Bulk
from hedgerow.studio.jobs import command_text
from hedgerow.studio.schema_text import SchemaText, plain
from hedgerow.studio.steps import Way
from hedgerow.studio.views.history import describe_change
from hedgerow.studio.views.unit import find_guided

_NUMBERS = ("low", "high", "step")
_ALIKE = 4  # so many columns that are alike are asked about once
_RULES = ("missing", "outside")
_WRITTEN = ("decimal", "thousands", "format")  # how numbers and dates are written
_LINE = 60  # characters of values on the line of a column
_BLANK = "blank"  # what the form calls one
_OF_ITEMS = ("max_items", "fan_out", "foreign", "empty", "separator")


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A column as the form shows it.

    Args:
        name: Its name.
        kind: numeric, categorical, boolean, identifier or person.
        reason: Why the draft describes it like that.
        fields: Texts of the form by setting.
        values: One value a line; None if they come from a taxonomy.
        is_class: Whether it is the class.
        others: Columns that are described alike, if there are many and this is the first.
        first: The first of them, if this is another.
        is_open: Whether something is wrong with it.
    """

    name: str
    kind: str
    reason: str
    fields: Mapping[str, str]
    values: str | None
    is_class: bool
    others: tuple[str, ...] = ()
    first: str = ""
    is_open: bool = False

    @property
    def content(self) -> str:
        """Its bounds or values, on a line: all of them, or how many there are."""
        if self.kind == "numeric":
            low, high, step = (self.fields[key] for key in _NUMBERS)
            more = [f"step {step}" if step else "", "log scale" if self.fields["scale"] else ""]
            return ", ".join(filter(None, [f"{low} to {high}", *more]))
        if self.kind == "categorical":
            known = f"values of {self.fields['taxonomy'] or 'its taxonomy'}"
            return brief(self.values.splitlines()) if self.values else known
        return ""


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


def show(asked: Asked) -> Response:
    """The columns, to be completed and corrected."""
    way = Way.of(asked, "columns")
    text = way.text()
    if asked.get("form") != "all" and (guided := find_guided(asked, text)):
        from hedgerow.studio.views import asking

        return asking.show_columns(asked, way, text, guided)
    return _page(asked, way, text)


def save(asked: Asked) -> Response:
    """Writes what was entered into the schema; shows it again if that is not a schema."""
    way = Way.of(asked, "columns")
    text = way.text()
    if asked.get("form") != "all" and (guided := find_guided(asked, text)):
        from hedgerow.studio.views import asking

        return asking.save_columns(asked, way, text, guided)
    action = asked.get("action")
    if action == "bulk":
        asked = _bulk(asked, text).apply(asked)
    changed = _with_items(text, asked) if text.items else _with_columns(text, asked)
    if action == "filter":
        return _page(asked, way, changed)
    try:
        withdrawn = changed.save(asked.get("seen"), "columns")
    except (SchemaError, Conflict) as error:
        return _page(asked, way, changed, error)
    page = "columns" if action == "bulk" else "taxonomies"
    return RedirectResponse(way.to(page, withdrawn="yes" if withdrawn else ""), status_code=303)


def _bulk(asked: Asked, text: SchemaText) -> Bulk:
    return Bulk.of(asked, {n: (name,) for n, name in enumerate(text.columns)})


def _page(
    asked: Asked, way: Way, text: SchemaText, error: SchemaError | Conflict | None = None
) -> Response:
    """The columns as `text` has them, which may be what was entered and not saved."""
    command = command_text(["check", way.argument("schema")])
    now = way.text() if isinstance(error, Conflict) else None
    return asked.show(
        "columns", 409 if now else 400 if error else 200, way=way, text=way.text(), error=error,
        command=command, seen=now.mark if now else asked.get("seen") or text.mark,
        leads={} if error is None else way.fields(error.places),
        changes=[] if now is None else describe_change(now, text),
        columns=_all_shown(text, error), bulk=_bulk(asked, text),
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


def _all_shown(text: SchemaText, error: SchemaError | Conflict | None = None) -> list[Shown]:
    families = _families(text)
    firsts = {name: first for first, others in families.items() for name in others}
    wrong = {place[1] for place in (error.places if error else ()) if len(place) > 1}
    return [
        replace(_show_column(text, name), others=families.get(name, ()),
                first=firsts.get(name, ""), is_open=name in wrong)
        for name in text.columns
    ]  # fmt: skip


def _show_column(text: SchemaText, name: str) -> Shown:
    settings = text.columns[name]
    role, kind = _text(settings.get("role")), _text(settings.get("type"))
    fields = {key: _text(settings.get(key)) for key in (*_NUMBERS, *_RULES, *_WRITTEN)}
    fields["taxonomy"] = _text(settings.get("taxonomy"))  # its name, if it is none of its own
    fields["scale"] = "log" if _text(settings.get("scale")) == "log" else ""
    fields["thousands"] = _BLANK if fields["thousands"] == " " else fields["thousands"]
    fields["ignore"] = ", ".join((_list_lines(settings.get("ignore")) or "").split())
    whole = not {"values", "taxonomy", "recode"} & settings.keys()
    return Shown(
        name=name,
        kind=role if role in ("identifier", "person") else kind,
        reason=text.reason(name),
        fields=fields,
        values="" if whole else _list_lines(settings.get("values")),
        is_class=role == "class",
    )


def _items(settings: Mapping[str, Node]) -> dict[str, str | None]:
    """The settings of items as the form shows them."""
    found: dict[str, str | None] = {key: _text(settings.get(key)) for key in _OF_ITEMS}
    universe = settings.get("universe")
    found["universe"] = _list_lines(universe)
    if isinstance(universe, Entries) and isinstance(universe.pairs[0][1], ListNode):
        ends = [_text(one) for one in universe.pairs[0][1].items]
        found["from"], found["to"] = ends if len(ends) == 2 else ("", "")
    return found


def _with_columns(text: SchemaText, asked: Asked) -> SchemaText:
    entered = {name: _read_form(place, before, asked)
               for place, (name, before) in enumerate(text.columns.items())}  # fmt: skip
    places = {name: place for place, name in enumerate(text.columns)}
    for first, others in _families(text).items():
        if not asked.get(f"alike-{places[first]}"):
            continue
        shared = _but_role(entered[first])
        for name in others:
            new = entered[name]
            if _but_role(new) == _but_role(text.columns[name]):  # what was changed itself stays
                role = {"role": new["role"]} if shared and "role" in new else {}
                entered[name] = (shared or entered[first]) | role
    for name, settings in entered.items():
        text = text.with_column(name, settings)
    return text


def _but_role(settings: Mapping[str, Node]) -> dict[str, Node]:
    return {key: node for key, node in settings.items() if key != "role"}


def _read_form(place: int, before: Mapping[str, Node], asked: Asked) -> dict[str, Node]:
    """The settings of a column by the form; as they were, if it is not in the form."""
    kind = asked.get(f"kind-{place}")
    if not kind or kind == "person":
        return dict(before)
    given = {key: asked.get(f"{key}-{place}").strip() for key in (*_NUMBERS, *_RULES)}
    listed = asked.get(f"values-{place}") if f"values-{place}" in asked.form else None
    found = _settings(before, kind, given, listed, asked.get("class") == str(place))
    for key in _WRITTEN:
        if kind == "numeric" and f"{key}-{place}" in asked.form:
            entered = asked.get(f"{key}-{place}").strip()
            _put(found, key, " " if entered == _BLANK else entered)
    if kind == "categorical" and f"ignore-{place}" in asked.form:
        lines = asked.get(f"ignore-{place}").replace(",", "\n")
        _list(found, "ignore", lines, before.get("ignore"))
    return found


def _settings(
    before: Mapping[str, Node],
    kind: str,
    entered: Mapping[str, str],
    listed: str | None,
    is_class: bool,
) -> dict[str, Node]:
    """The settings of a column as they were entered; what is not in the form stays."""
    if kind == "identifier":
        same = _text(before.get("role")) == "identifier"
        return dict(before) if same else {"role": plain("identifier")}
    same = _text(before.get("type")) == kind
    found: dict[str, Node] = dict(before) if same else {"type": plain(kind)}
    if kind == "numeric":
        for key in _NUMBERS:
            _put(found, key, entered[key])
    if kind == "categorical" and listed is not None:
        _list(found, "values", listed, before.get("values") if same else None)
    for key in _RULES:
        rule = "" if entered[key] == "error" and key not in found else entered[key]
        clips = rule == "clip" and kind != "numeric"
        _put(found, key, "" if clips or (kind == "boolean" and key == "outside") else rule)
    _put(found, "role", "class" if is_class else "")
    return found


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
    before = text.items
    settings = dict(before)
    for key in _OF_ITEMS:
        if key in asked.form:
            _put(settings, key, asked.get(key).strip())
    if "universe" in asked.form:
        _list(settings, "universe", asked.get("universe"), before.get("universe"))
    elif "from" in asked.form:
        ends = [asked.get("from").strip(), asked.get("to").strip()]
        if ends != list(_items(before).get(key) for key in ("from", "to")):
            pair = ListNode([plain(end) for end in ends])
            settings["universe"] = Entries([(Text("range", plain=True), pair)])
    return text.with_items(settings)
