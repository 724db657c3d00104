"""How long one waits for the studio's first page, and what the extra adds to an installation.

    python benchmarks/studio.py [--times N] [--sizes] [--json FILE]

Each time `hedgerow studio` is started on a folder with the sample, and the clock runs from the
start of the process to the first byte of the page that lists the folder, by way of the one-time
link. CPU time is that of the process until then, and memory its resident size. The median is shown
with the best and the worst; one start before them is not counted. With --sizes pip installs what
the extra `studio` names into an empty folder; what the core has anyway is counted too.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parent))

from hedgerow.sample import write
from results import Results, add_json_option
from speed import show

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def start(folder: str) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and resident MB up to the first byte of the first page."""
    begun = time.perf_counter()
    words = [sys.executable, "-m", "hedgerow", "studio", folder, "--no-browser", "--json"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        told = ""
        while not told.rstrip().endswith("}"):
            told += process.stdout.readline()
        address = urlsplit(json.loads(told)["studio"])
        # only browsers know that names which end in .localhost are this machine's
        link = http.client.HTTPConnection("127.0.0.1", address.port, timeout=60)
        link.request("GET", f"{address.path}?{address.query}", headers={"Host": address.netloc})
        answer = link.getresponse()
        answer.read()
        cookie = str(answer.getheader("Set-Cookie")).partition(";")[0]
        link.request("GET", "/", headers={"Host": address.netloc, "Cookie": cookie})
        page = link.getresponse()
        first = page.read(1)
        wall = time.perf_counter() - begun
        assert page.status == 200 and first, page.status
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        used = (int(fields[11]) + int(fields[12])) / TICKS
        resident = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * PAGE / 1e6
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()
    return wall, used, resident


def size() -> float:
    """MB of everything that the extra asks for, and what that needs."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
    named = project["project"]["optional-dependencies"]["studio"]
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile"]
        subprocess.run([*pip, "--target", folder, *named], check=True, capture_output=True)
        return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--sizes", action="store_true", help="also install the extra and weigh it")
    add_json_option(parser)
    arguments = parser.parse_args()
    results = Results("studio")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "sample")
        start(folder)
        found = [start(folder) for _ in range(arguments.times)]
    walls, used, resident = zip(*found, strict=True)
    show(results, "the first page, wall", statistics.median(walls), ".2f s", "under 0.5 s")
    show(results, "  the fastest start", min(walls), ".2f s")
    show(results, "  the slowest start", max(walls), ".2f s")
    show(results, "the first page, CPU of the server", statistics.median(used), ".2f s")
    show(results, "memory of the server", statistics.median(resident), ".0f MB")
    if arguments.sizes:
        show(results, "packages of the extra", size(), ".1f MB", "at most 10 MB")
    if arguments.json is not None:
        results.write(arguments.json)


if __name__ == "__main__":
    main()
