"""Writes the dictionary form of a schema as YAML that other tools read alike."""

from __future__ import annotations

from typing import Any

import yaml

from hedgerow.schema.yaml_reader import is_range


class _Bare(str):
    """A decimal number or a date, which needs no quotes."""


class _Dumper(yaml.SafeDumper):  # type: ignore[misc,unused-ignore]
    def ignore_aliases(self, data: Any) -> bool:
        """Never writes anchors, since our reader refuses them."""
        return True


def _bare(dumper: Any, value: _Bare) -> Any:
    kind = "timestamp" if "-" in value[1:] else "float"
    return dumper.represent_scalar(f"tag:yaml.org,2002:{kind}", str(value))


def _text(dumper: Any, value: str) -> Any:
    quoted = "'" if is_range(value) else None  # without quotes it would stand for many leaves
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=quoted)


_Dumper.add_representer(_Bare, _bare)
_Dumper.add_representer(str, _text)


def dump(document: dict[str, Any]) -> str:
    """The YAML text of a schema's dictionary form.

    Example:
        >>> print(dump({"name": "x", "unit": "row", "attributes": {"day": {
        ...     "type": "numeric", "low": "2020-01-01", "high": "2020-12-31", "step": 7}}}), end="")
        name: x
        unit: row
        attributes:
          day:
            type: numeric
            low: 2020-01-01
            high: 2020-12-31
            step: 7
    """
    columns = {}
    for name, column in document.get("attributes", {}).items():
        numbers: dict[str, Any] = {
            key: _Bare(column[key])
            for key in ("low", "high", "step")
            if isinstance(column.get(key), str)
        }
        for key in {"common", "bands"} & set(column):
            numbers[key] = [_Bare(one) if isinstance(one, str) else one for one in column[key]]
        columns[name] = column | numbers
    return dump_tree(document | ({"attributes": columns} if columns else {}))


def dump_tree(document: Any) -> str:
    """The YAML text of mappings, lists and texts.

    Example:
        >>> print(dump_tree({"Any": ["No", "1..3"]}), end="")
        Any:
        - 'No'
        - '1..3'
    """
    text: str = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text
