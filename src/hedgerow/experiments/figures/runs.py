"""Results of single runs, kept in a folder so that long experiments can be stopped and resumed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

__all__ = ["Runs"]


class Runs:
    """One file of results: each run is one line, written as soon as it is done.

    Args:
        path: The file; it is made when the first run is done.

    Example:
        >>> import tempfile
        >>> runs = Runs(Path(tempfile.mkdtemp()) / "runs.jsonl")
        >>> runs.get({"epsilon": "1", "run": 0}, lambda: {"accuracy": 82.1})
        {'accuracy': 82.1}
        >>> Runs(runs.path).get({"run": 0, "epsilon": "1"}, lambda: {"accuracy": 0.0})
        {'accuracy': 82.1}
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[str, dict[str, float]] = {}
        if path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    entry = json.loads(line)
                    self._known[_key(entry["run"])] = entry["result"]
                except (ValueError, KeyError):
                    continue  # the last line of a run that was stopped in the middle

    def get(
        self, run: dict[str, object], compute: Callable[[], dict[str, float]]
    ) -> dict[str, float]:
        """The result of a run: the one that is known, or a new one, which is then kept.

        Args:
            run: What tells this run apart from others: settings and number.
            compute: Runs it.
        """
        key = _key(run)
        if key not in self._known:
            result = {name: float(value) for name, value in compute().items()}
            self.path.parent.mkdir(parents=True, exist_ok=True)
            torn = self.path.is_file() and not self.path.read_bytes().endswith(b"\n")
            with self.path.open("a", encoding="utf-8") as file:
                line = json.dumps({"run": run, "result": result})
                file.write(("\n" if torn else "") + line + "\n")
            self._known[key] = json.loads(line)["result"]
        return self._known[key]

    def knows(self, run: dict[str, object]) -> bool:
        """Whether a run is done."""
        return _key(run) in self._known


def _key(run: dict[str, object]) -> str:
    return json.dumps(run, sort_keys=True)
