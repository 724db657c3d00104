"""Hierarchy files of several attributes (`.hchy`), as the DiffGen authors' program reads them.

    education:discrete:generalization
    {Any {Secondary {9th} {10th}} {University {Bachelors} {Masters}}}

A line with a name and a kind, then the tree in nested braces: each pair holds a label and what is
below it. A bar begins a comment. What is neither discrete nor continuous is left out.
"""

from __future__ import annotations

import re

from hedgerow.schema.lint import MAX_DEPTH, Report
from hedgerow.schema.taxonomies.trees import Branch

__all__ = ["read_hchy"]

_HEAD = re.compile(r"([^{}|:]+):\s*(?:discrete|continuous)\b[^{}]*")
_TOKEN = re.compile(r"[{}]|[^{}]+")


def read_hchy(text: str, file: str, report: Report) -> dict[str, Branch]:
    r"""The trees of a file by the names of their attributes; faults go to the report.

    Example:
        >>> text = "| sexes\nsex:discrete:generalization\n{Any {Female} {Male}}\n"
        >>> trees = read_hchy(text, "adult.hchy", Report())
        >>> [branch.label for branch in trees["sex"].below]
        ['Female', 'Male']
    """
    trees: dict[str, Branch] = {}
    name, first, body = "", 0, list[tuple[int, str]]()
    lines = [line.partition("|")[0].strip() for line in text.splitlines()]
    for number, line in enumerate([*lines, ":"], start=1):
        if line[:1] not in ("{", "}", "") and (":" in line or not name):
            if name and name in trees:
                hint = "Give every tree a name of its own."
                report.fault(f"the name {name!r} is repeated", hint, file, first)
            elif name:
                tree = _tree(body, name, first, file, report)
                if tree is not None:
                    trees[name] = tree
            head = _HEAD.fullmatch(line)
            name, first, body = head[1].strip() if head else "", number, []
        elif name:
            body.append((number, line))
    if not trees and not report.faults:
        hint = "Write a line such as sex:discrete, and below it {Any {Female} {Male}}."
        report.fault("the file has no tree", hint, file)
    return trees


def _tree(
    body: list[tuple[int, str]], name: str, first: int, file: str, report: Report
) -> Branch | None:
    """The tree in nested braces."""
    roots: list[Branch] = []
    above: list[Branch] = []  # open braces
    what, line = "", first
    for number, text in body:
        for token in (found.strip() for found in _TOKEN.findall(text)):
            if what or not token:
                continue
            line = number
            if token == "{":
                branch = Branch("", number)
                (above[-1].below if above else roots).append(branch)
                above.append(branch)
                if len(above) > MAX_DEPTH + 1:
                    what = f"is deeper than {MAX_DEPTH} levels"
            elif not above:
                what = (
                    "has text outside its braces" if token != "}" else "closes one brace too many"
                )
            elif token == "}":
                if not above.pop().label:
                    what = "has braces without a name"
            elif above[-1].label or above[-1].below:
                what = "has two names in one pair of braces"
            else:
                above[-1].label = token
    if not what and (above or len(roots) != 1):
        what = "lacks a closing brace" if above else "is not one pair of braces"
    if what:
        hint = "Each pair of braces holds a name and the pairs below it: {Any {Female} {Male}}."
        report.fault(f"the tree {name!r} {what}", hint, file, line)
        return None
    return roots[0]
