"""Writes the golden folders, and what they hold, anew.

    python tests/golden/write.py           # cases that have no folder yet
    python tests/golden/write.py --all     # every one

A folder that was released stays as it is for ever: a later version must read and verify it. So
`--all` is for a format that nobody has published with yet.
"""

from __future__ import annotations

import json
import shutil
import sys

from cases import CASES, HERE, VALUES, publish, values_of


def main(everything: bool) -> None:
    values = json.loads(VALUES.read_text("utf-8")) if VALUES.exists() else {}
    for name in CASES:
        if everything or name not in values or not (HERE / name).is_dir():
            release = publish(name)
            shutil.rmtree(HERE / name, ignore_errors=True)
            release.save(HERE / name)
            values[name] = values_of(release)
    lines = [f" {json.dumps(name)}: {json.dumps(values[name])}" for name in CASES]
    VALUES.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main("--all" in sys.argv[1:])
