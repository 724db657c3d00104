"""Mapping files and code lists: trees and rules from tables."""

from __future__ import annotations

from typing import Any

import pytest

from hedgerow.errors import SchemaError
from hedgerow.schema.taxonomy_files import grow, parse_taxonomy
from hedgerow.schema.yaml_text import Report


def read(text: str, root: str | None = None) -> tuple[Any, dict[str, str], Report]:
    report = Report("f.csv")
    try:
        tree = parse_taxonomy(text, ".csv", root, report)
    except SchemaError:
        return None, {}, report
    nested = None if report.faults else grow(tree.branch, report).nested()
    return nested, {rule.rule: rule.leaf for rule in tree.rules}, report


def test_a_mapping_of_values_to_groups() -> None:
    nested, rules, _ = read(
        "# source\nvalue;group;group\na;G;H\nb;G;H\nc;;\n\n'd;K\ne;K\nf;F;H\ng;F;H"
    )
    assert nested == {"H": {"G": ["a", "b"], "F": ["f", "g"]}, "c": None, "K": ["'d", "e"]}
    assert rules == {}


def test_a_mapping_with_rules() -> None:
    nested, rules, _ = read(
        'rule,rule,value,group\n"E*",,External,\n0-4,x,0-4,Young\n5-9,,5-9,Young\n'
    )
    assert nested == {"External": None, "Young": ["0-4", "5-9"]}
    assert rules == {"E*": "External", "0-4": "0-4", "x": "0-4", "5-9": "5-9"}


def test_a_code_list() -> None:
    text = "label,code,parent,x\nGoods,G,\nFood,10,G,x\nDrinks,11,G,\nGoods,12,G,\nServices,S,,\n"
    nested, rules, _ = read(text)
    assert nested == {"G Goods": ["Food", "Drinks", "12 Goods"], "Services": None}
    assert rules == {"10": "Food", "11": "Drinks", "12": "12 Goods", "S": "Services"}


def test_a_code_list_may_name_its_root() -> None:
    text = "code,parent\nall,\na,all\nb,all\n"
    assert read(text)[0] == ["a", "b"]
    assert read(text, "Top")[0] == ["a", "b"]


def test_other_tables_are_arx_hierarchies() -> None:
    assert read("#a;G;*\nb;G;*\nc;c;*\n")[0] == {"G": ["#a", "b"], "c": None}
    assert read("value;G;*\nb;G;*\nc;c;*\n")[0] == {"G": ["value", "b"], "c": None}


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("value,group\na,G,H\n", 2, "3 fields"),
        ("value,group\n,G\n", 2, "value is blank"),
        ("value,group,group\na,,G\n", 2, "between two others is blank"),
        ('value,group\n"a,G\n', 2, "not CSV"),
        ("code,parent\na,b\n", 2, "'b' is not a code"),
        ("code,parent\na,\na,\n", 3, "'a' is repeated"),
        ("code,parent\n,a\n", 2, "blank"),
        ("code,parent\na,b\nb,a\nc,\n", 2, "cycle"),
        ("value,group\na,G\na,H\nb,G\nc,H\n", 3, "under two parents"),
    ],
)
def test_faults_name_the_line(text: str, line: int, what: str) -> None:
    faults = read(text)[2].faults
    assert [fault.line for fault in faults[:1]] == [line]
    assert what in faults[0].what


def test_a_file_without_values() -> None:
    assert read("value,group\n")[2].faults[0].what == "the file has no values"
