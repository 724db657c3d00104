"""The second step: whom a release protects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response

from hedgerow.errors import UsageError
from hedgerow.schema.yaml_reader import Node, Text
from hedgerow.studio.app import Asked
from hedgerow.studio.schema_text import SchemaText, plain
from hedgerow.studio.steps import Way

if TYPE_CHECKING:
    from hedgerow.studio.guided import Guided


def show(asked: Asked) -> Response:
    """Is each row a person, or can a person have several?"""
    way = Way.of(asked, "unit")
    text = way.text()
    if guided := find_guided(asked, text):
        from hedgerow.studio.views import asking

        return asking.show_unit(asked, way, text, guided)
    if text.is_draft and not text.has_unit:  # nobody has changed it yet: no command reads it
        asked.studio.drafts[text.path] = text.domains()
    return asked.show(
        "unit", way=way, text=text, person=_person(text), is_items=bool(text.items),
        repeated=list_repeated(text),
    )  # fmt: skip


def save(asked: Asked) -> Response:
    """Writes the unit into the schema."""
    from starlette.responses import RedirectResponse

    way = Way.of(asked, "unit")
    text = way.text()
    if guided := find_guided(asked, text):
        from hedgerow.studio.views import asking

        return asking.save_unit(asked, way, text, guided)
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
    changed = changed.with_key("unit", plain(unit))
    withdrawn = changed.save(asked.get("seen"), "unit")
    return RedirectResponse(
        way.to("columns", withdrawn="yes" if withdrawn else ""), status_code=303
    )


def find_guided(asked: Asked, text: SchemaText) -> Guided | None:
    """The questions that the page asks, if the draft was made here."""
    if not (asked.get("drafted") or asked.studio.guided):
        return None
    from hedgerow.studio.guided import under_way

    return under_way(asked, text)


def list_repeated(text: SchemaText) -> list[str]:
    """The columns of which the draft says that they identify people who have several rows."""
    from hedgerow.draft.people import REPEATED

    return [name for name in text.columns if any(one in text.reason(name) for one in REPEATED)]


def doubt(text: SchemaText, asked: Asked) -> None:
    """Refuses that each row is a person where the draft found otherwise, unless that was ticked.

    Raises:
        UsageError: If it was not.
    """
    found = list_repeated(text)
    if found and not asked.get("each_row"):
        raise UsageError(
            f"people seem to have several rows: {', '.join(found)} seems to tell them apart, and "
            "its values repeat. If so, they would be protected less than epsilon says.",
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
        text = text.with_column(before, {"role": plain("identifier")})
    if not column:
        return text
    if column not in text.columns:
        raise UsageError(
            "the column was not chosen.", hint="Choose the one that identifies people."
        )
    return text.with_column(column, {"role": plain("person"), "max_rows": plain(most)})


def _of_items(text: SchemaText, column: str, item: str) -> SchemaText:
    """The same for transactions: below `items:`."""
    settings = {key: one for key, one in text.items.items() if key not in ("person", "item")}
    who: dict[str, Node] = {"person": Text(column), "item": Text(item)} if column else {}
    return text.with_items(settings | who)
