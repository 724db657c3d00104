"""Who publishes, what for, and on which terms: what every release repeats."""

from __future__ import annotations

from starlette.responses import RedirectResponse, Response

from hedgerow.schema.yaml_reader import Entries, ListNode, Node, Text
from hedgerow.studio.app import Asked
from hedgerow.studio.jobs import command_text
from hedgerow.studio.schema_text import SchemaText
from hedgerow.studio.steps import Way

FIELDS = {
    "institution": ("Institution", "Who holds the data and publishes it."),
    "contact": ("Contact", "Whom to ask: an office or a mailbox rather than a person."),
    "purpose": ("Purpose", "What the release is published for."),
    "license": ("License", "The terms of use, such as CC BY 4.0."),
    "recipients": ("Recipients", "Who receives the release: everybody, or whom."),
    "period": ("Period", "When the data was collected, as anyone may know."),
}
_UNIT = ("one", "many")


def show(asked: Asked) -> Response:
    """What the schema says about its publisher."""
    way = Way.of(asked, "about")
    text = way.text()
    known = _known(text)
    unit = known.get("unit_name")
    names = [one.value for one in unit.items if isinstance(one, Text)] if isinstance(
        unit, ListNode) else ["", ""]  # fmt: skip
    values = {key: one.value for key, one in known.items() if isinstance(one, Text)}
    values |= dict(zip(_UNIT, names, strict=False))  # whatever a file says
    entered = {key: asked.get(key) for key in (*FIELDS, *_UNIT) if key in asked.form}
    return asked.show(
        "about", way=way, text=text, fields=FIELDS, values=values | entered,
        command=command_text(["check", way.argument("schema")]),
    )  # fmt: skip


def save(asked: Asked) -> Response:
    """Writes it below `metadata:`; a sign-off is about the rest of the schema, and stays."""
    way = Way.of(asked, "about")
    text = way.text()
    known = _known(text)
    for key in FIELDS:
        known.pop(key, None)
        entered = " ".join(asked.get(key).split())
        known |= {key: Text(entered)} if entered else {}
    names: list[Node] = [Text(asked.get(key).strip()) for key in _UNIT]
    known.pop("unit_name", None)
    known |= {"unit_name": ListNode(names)} if any(asked.get(key).strip() for key in _UNIT) else {}
    pairs = [(Text(key, plain=True), node) for key, node in known.items()]
    text.with_key("metadata", Entries(pairs) if pairs else None).save(asked.get("seen"), "about")
    return RedirectResponse(way.to("check"), status_code=303)


def _known(text: SchemaText) -> dict[str, Node]:
    node = text.keys.get("metadata")
    return {key.value: one for key, one in node.pairs} if isinstance(node, Entries) else {}
