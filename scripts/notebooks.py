"""Runs tutorials and keeps what they show: `python scripts/notebooks.py docs/tutorials/*.ipynb`.

Code cells run in this process, one after another, as in a notebook: what is printed, the value of
the last line and figures of matplotlib become outputs. Tests run them too. nbclient would start a
kernel for each, and bring IPython, Jupyter's client and ZeroMQ along.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

__all__ = ["as_markdown", "run"]

_WIDTH = 110  # pixels per inch that keep a figure within a page


def run(book: dict[str, Any], name: str) -> dict[str, Any]:
    """Executes the code cells of a notebook in the current folder; gives it with fresh outputs.

    Example:
        >>> cell = {"cell_type": "code", "source": ["x = 2; x + 1"], "metadata": {}}
        >>> run({"cells": [cell]}, "sums")["cells"][0]["outputs"][0]["data"]["text/plain"]
        ['3']
    """
    import matplotlib
    from matplotlib import pyplot

    matplotlib.use("Agg")
    pyplot.close("all")  # what a program before it left open is no output of it
    space: dict[str, Any] = {"__name__": "__main__"}
    cells, count = [], 0
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            outputs = _outputs("".join(cell["source"]), f"{name}, cell {count}", space)
            cell = cell | {"execution_count": count, "outputs": outputs}
        cells.append(cell)
    return book | {"cells": cells}


def _outputs(source: str, name: str, space: dict[str, Any]) -> list[dict[str, Any]]:
    from matplotlib import pyplot

    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), space)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval"), space)
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        lines = printed.getvalue().splitlines(keepends=True)
        found.append({"output_type": "stream", "name": "stdout", "text": lines})
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    if hasattr(value, "savefig") and value not in figures:
        figures.append(value)
    for figure in figures:
        picture = io.BytesIO()
        figure.savefig(picture, dpi=_WIDTH, metadata={"Software": None})
        data = {"image/png": base64.b64encode(picture.getvalue()).decode("ascii")}
        found.append({"output_type": "display_data", "metadata": {}, "data": data})
    pyplot.close("all")
    hidden = source.rstrip().endswith(";")  # as Jupyter has it
    if value is not None and not hidden and not hasattr(value, "savefig"):
        shown: dict[str, Any] = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_") and (html := value._repr_html_()):
            shown["text/html"] = html.splitlines(keepends=True)
        head = {"output_type": "execute_result", "metadata": {}, "execution_count": None}
        found.append(head | {"data": shown})
    return found


def as_markdown(book: dict[str, Any]) -> str:
    """A notebook as the text of a page, with its outputs, for the site.

    Example:
        >>> print(as_markdown({"cells": [{"cell_type": "markdown", "source": ["# Sums"]}]}))
        # Sums
        <BLANKLINE>
    """
    parts = []
    for cell in book["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text + "\n")
            continue
        parts.append(f"```python\n{text}\n```\n")
        for output in cell.get("outputs", ()):
            data = output.get("data", {"text/plain": output.get("text", [])})
            if "image/png" in data:
                picture = f'<img alt="" src="data:image/png;base64,{data["image/png"].strip()}">'
                parts.append(f"```{{raw}} html\n{picture}\n```\n")
            elif "text/html" in data:
                table = f'<div style="overflow-x:auto">{"".join(data["text/html"])}</div>'
                parts.append(f"```{{raw}} html\n{table}\n```\n")
            else:
                parts.append(f"```text\n{''.join(data['text/plain'])}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    for path in [Path(word).resolve() for word in sys.argv[1:]]:
        book = json.loads(path.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            done = run(book, path.stem)
            os.chdir(path.parent)
        path.write_text(json.dumps(done, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
