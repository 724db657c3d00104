"""Draws the flowcharts of pages as SVG, for the site, which has no script to do it in a browser.

Of Mermaid it reads what our pages use: nodes, labels in brackets, arrows with or without words, and
groups. Whatever the direction, arrows go down. sphinxcontrib-mermaid would have the browser of each
reader fetch a script, or need Node and a browser to build the site.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape
from textwrap import wrap

_NODE = r'(\w+)(?:\["?([^"\]]*)"?\])?'
_EDGE = re.compile(rf'{_NODE} --(?: "([^"]*)" --)?> {_NODE}')
_GROUP = re.compile(r"subgraph \w+ \[(.*)\]")
_COLORS = ("#8fc4a6", "#e0a37a", "#9db7e0", "#cfcfcf")
_STEP, _LINE, _CHARACTER = 78, 16, 7.4  # between rows, between lines, and the width of a letter
_BROAD = 27  # letters, before a label goes on in a new line


@dataclass
class Chart:
    """A flowchart.

    Args:
        labels: What is written on each node.
        edges: From where to where, with what is written beside the arrow.
        groups: The group of a node that is in one.
    """

    labels: dict[str, str] = field(default_factory=dict)
    edges: list[tuple[str, str, str]] = field(default_factory=list)
    groups: dict[str, str] = field(default_factory=dict)


def read(text: str) -> Chart:
    r"""Reads a flowchart.

    Raises:
        ValueError: If a line is of a kind that is not drawn.

    Example:
        >>> read('flowchart TB\n  a --> b[two]\n').labels
        {'a': 'a', 'b': 'two'}
    """
    chart, group = Chart(), ""
    for line in map(str.strip, text.strip().splitlines()[1:]):
        if found := _GROUP.fullmatch(line):
            group = found[1]
        elif line == "end":
            group = ""
        elif found := _EDGE.fullmatch(line):
            _add(chart, found[1], found[2], "")
            _add(chart, found[4], found[5], "")
            chart.edges.append((found[1], found[4], found[3] or ""))
        elif found := re.fullmatch(_NODE, line):
            _add(chart, found[1], found[2], group)
        else:
            raise ValueError(f"this line of a flowchart is not drawn: {line}")
    return chart


def _add(chart: Chart, name: str, label: str | None, group: str) -> None:
    if label or name not in chart.labels:
        chart.labels[name] = label or name
    if group:
        chart.groups[name] = group


def rows_of(chart: Chart) -> dict[str, int]:
    r"""The row of each node: below all that lead to it, and near to what it leads to.

    Example:
        >>> rows_of(read("flowchart TB\n  a --> b\n  b --> c\n  d --> c"))
        {'a': 0, 'b': 1, 'c': 2, 'd': 1}
    """
    rows = dict.fromkeys(chart.labels, 0)
    for _ in rows:
        for above, below, _ in chart.edges:
            rows[below] = max(rows[below], rows[above] + 1)
    for name in rows:
        follow = [rows[below] for above, below, _ in chart.edges if above == name]
        if follow and not any(below == name for _, below, _ in chart.edges):
            rows[name] = min(follow) - 1
    return rows


def svg(text: str) -> str:
    r"""A flowchart as a picture.

    Example:
        >>> svg("flowchart TB\n  a --> b").count("<rect")
        2
    """
    chart = read(text)
    rows = rows_of(chart)
    # an arrow that goes past rows has a place of its own in each of them
    paths = [
        [above, *((above, below, row) for row in range(rows[above] + 1, rows[below])), below]
        for above, below, _ in chart.edges
    ]
    places: list[list[object]] = [[] for _ in range(max(rows.values()) + 1)]
    for name, row in rows.items():
        places[row].append(name)
    for path in paths:
        for row, point in enumerate(path[1:-1], rows[str(path[0])] + 1):
            places[row].append(point)
    _order(places, paths)
    room = {name: _size(label)[0] + 22 for name, label in chart.labels.items()}
    broad = [sum(room.get(str(point), 26) for point in row) for row in places]
    words = max(len(edge[2]) for edge in chart.edges) * _CHARACTER + 20
    width = max(*broad, 2 * words, 0)
    at: dict[object, tuple[float, float]] = {}
    for number, row in enumerate(places):
        gap = (width - broad[number]) / len(row)
        x = 0.0
        for point in row:
            wide = room.get(str(point), 26) + gap
            at[point] = (x + wide / 2, _STEP * number + _LINE * 2)
            x += wide
    shown = [_box(chart, name, at[name]) for name in chart.labels]
    for path, (above, below, told) in zip(paths, chart.edges, strict=True):
        ends = _size(chart.labels[above])[1] / 2, _size(chart.labels[below])[1] / 2
        shown.append(_arrow([at[one] for one in path], ends, told))
    groups = list(dict.fromkeys(chart.groups.values()))
    deep = _STEP * (len(places) - 1) + 4 * _LINE
    for number, group in enumerate(groups):
        y = deep + 14 + 24 * number
        shown.append(f'<rect x="2" y="{y}" width="16" height="16" rx="3" {_filled(number)}/>')
        shown.append(f'<text x="26" y="{y + 13}">{escape(group)}</text>')
    height = deep + (24 * len(groups) + 14 if groups else 0)
    told = "; ".join(f"{chart.labels[a]} to {chart.labels[b]}" for a, b, _ in chart.edges)
    return (
        f'<div style="overflow-x: auto"><svg role="img" aria-label="{escape(told)}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" fill="currentColor" '
        f'style="max-width: {width:.0f}px; min-width: 24rem; width: 100%; font: 13px sans-serif">'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>'
        f"{''.join(shown)}</svg></div>"
    )


def _order(places: list[list[object]], paths: list[list[object]]) -> None:
    """Puts each point near the middle of those it is joined to, a few times over."""
    joined: dict[object, list[object]] = {}
    for path in paths:
        for one, other in zip(path, path[1:], strict=False):
            joined.setdefault(one, []).append(other)
            joined.setdefault(other, []).append(one)
    for _ in range(12):
        where = {one: (n + 0.5) / len(row) for row in places for n, one in enumerate(row)}
        for row in places:
            middle = {
                one: sum(where[other] for other in joined[one]) / len(joined[one]) for one in row
            }
            row.sort(key=middle.__getitem__)


def _filled(number: int) -> str:
    color = _COLORS[min(number, len(_COLORS) - 1)]
    return f'fill="{color}" fill-opacity="0.35" stroke="{color}"'


def _box(chart: Chart, name: str, at: tuple[float, float]) -> str:
    label, groups = chart.labels[name], list(dict.fromkeys(chart.groups.values()))
    number = groups.index(chart.groups[name]) if name in chart.groups else len(_COLORS)
    (wide, high), lines = _size(label), wrap(label, _BROAD, break_long_words=False)
    box = (
        f'<rect x="{at[0] - wide / 2:.0f}" y="{at[1] - high / 2:.0f}" width="{wide:.0f}" '
        f'height="{high:.0f}" rx="5" {_filled(number)}/>'
    )
    first = at[1] + 5 - _LINE * (len(lines) - 1) / 2
    for number, line in enumerate(map(escape, lines)):
        y = first + _LINE * number
        box += f'<text x="{at[0]:.0f}" y="{y:.0f}" text-anchor="middle">{line}</text>'
    return box


def _size(label: str) -> tuple[float, float]:
    lines = wrap(label, _BROAD, break_long_words=False)
    return max(map(len, lines)) * _CHARACTER + 14, _LINE * len(lines) + 14


def _arrow(points: list[tuple[float, float]], halves: tuple[float, float], words: str) -> str:
    (x, top), (end, last) = points[0], points[-1]
    y = top + halves[0]
    drawn = f"M{x:.0f} {y:.0f}"
    past = [(at, down + half) for at, down in points[1:-1] for half in (-_LINE - 6, _LINE + 6)]
    for at, down in [*past, (end, last - halves[1] - 2)]:
        middle = (y + down) / 2
        drawn += f"C{x:.0f} {middle:.0f} {at:.0f} {middle:.0f} {at:.0f} {down:.0f}"
        x, y = at, down
    line = f'<path d="{drawn}" fill="none" stroke="currentColor" marker-end="url(#tip)"/>'
    if not words:
        return line
    beside, height = points[0][0] + 10, (top + last) / 2 + 4
    told = escape(words)
    return f'{line}<text x="{beside:.0f}" y="{height:.0f}" font-style="italic">{told}</text>'
